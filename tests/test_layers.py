"""The order of the packages: engine, a game, agents, training, apps, command line. Each imports only those before.

Each test lists everything that is wrong, not only the first.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
FLOORS = {
    "tabletop_engine": ROOT / "tabletop_engine",
    "petrichor_env": ROOT / "petrichor_env",
    "evergreen_env": ROOT / "evergreen_env",
    "tabletop_agents": ROOT / "agents" / "tabletop_agents",
    "tabletop_training": ROOT / "training" / "tabletop_training",
    "tabletop_play": ROOT / "apps" / "tabletop_play",
    "tabletop_text": ROOT / "apps" / "tabletop_text",
    "tabletop_cli": ROOT / "tabletop_cli",
}
"""From the ground up. A game is a floor of its own; games never import each other."""
GAMES = ("petrichor_env", "evergreen_env")
FILES = {path: floor for floor, folder in FLOORS.items() for path in sorted(folder.rglob("*.py"))}
ENGINE = (
    *("errors", "extras", "files", "seeds", "observation", "record", "registration"),
    *("compiling", "chance", "legal", "decisions", "editions", "defaults", "parts"),
    *("checks", "drawing", "first_game", "presentation", "game"),
    *("play", "described", "positions", "text", "envs", "replays", "testing"),
)
"""The engine's files and folders from the ground up: tools, what rules use, what a game is, what is done with games."""
A_GAME_MAKES_ITS_KERNELS = ("game", "tabletop_engine.play.kernels")
"""The engine's only look upward."""
RULES_KNOW = ("chance", "compiling", "decisions", "defaults", "legal", "parts", "record")
PARTS_KNOW = ("chance", "compiling", "legal", "parts", "record")
PLAY_OFFERS = {"advice", "catalogue", "listening", "session"}
"""What games by text take from the other app: the session that people play in, what it knows, and how servers run."""
HEAVY = {"torch", "stable_baselines3", "sb3_contrib", "ray", "matplotlib"}
GAMES_BY_NAME = re.compile("petrichor|evergreen|southern winds|neutral player", re.IGNORECASE)


@cache
def parsed(path: Path) -> ast.Module:
    """The file's syntax tree, which several tests read."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported_by(path: Path) -> tuple[str, ...]:
    return tuple(imported(parsed(path)))


def imported(tree: ast.AST) -> Iterator[str]:
    """What a file imports anywhere: at its top, in functions, for type checkers, and by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            first = node.args[0] if node.args else None
            by_name = called in ("import_module", "__import__", "_import", "find_spec")
            if by_name and isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def packages(names: tuple[str, ...] | Iterator[str]) -> set[str]:
    return {name.split(".")[0] for name in names}


def inside(package: str, path: Path) -> set[str]:
    """The files and folders at the top of a package that a file imports."""
    return {name.split(".")[1] for name in imported_by(path) if name.startswith(f"{package}.")}


def listed(violations: dict[Path, set[str]]) -> str:
    return "\n".join(
        f"{path.relative_to(ROOT)}: {', '.join(sorted(found))}" for path, found in violations.items() if found
    )


def test_imports_go_down() -> None:
    floors = list(FLOORS)
    violations, looks_up = {}, set()
    for path, floor in FILES.items():
        above = {*floors[floors.index(floor) + 1 :], *(GAMES if floor in GAMES else ())} - {floor}
        if path.name == "__main__.py":
            above -= {"tabletop_cli"}  # how `python -m` reaches the command
        relative = {name for name in imported_by(path) if name.startswith(".")}
        violations[path] = packages(imported_by(path)) & above | relative
        if floor == "tabletop_engine":
            place = path.relative_to(FLOORS[floor]).with_suffix("").parts[0]
            for name in imported_by(path):
                if name.startswith("tabletop_engine.") and ENGINE.index(name.split(".")[1]) > ENGINE.index(place):
                    looks_up.add((place, name.rpartition(".")[0]))
        if floor == "tabletop_play":  # only who measures models measures
            violations[path] |= packages(imported_by(path)) & {"tabletop_training"}
        if floor == "tabletop_text":
            violations[path] |= inside("tabletop_play", path) - PLAY_OFFERS
    assert not listed(violations)
    assert looks_up == {A_GAME_MAKES_ITS_KERNELS}


def test_engine_and_games_need_no_trainer() -> None:
    """Matplotlib is imported where something is drawn, never at the top of a file."""
    violations = {}
    for path, floor in FILES.items():
        if floor in ("tabletop_engine", *GAMES):
            at_its_top = (node for node in parsed(path).body if isinstance(node, ast.Import | ast.ImportFrom))
            violations[path] = packages(imported_by(path)) & HEAVY - {"matplotlib"}
            violations[path] |= packages(name for node in at_its_top for name in imported(node)) & HEAVY
    assert not listed(violations)


def test_rules_know_only_rules_and_environments_no_rule() -> None:
    """Rules and the engine's parts of games use little of the engine, and nothing else but NumPy."""
    violations = {}
    for game in GAMES:
        for path in (FLOORS[game] / "rules").glob("*.py"):
            violations[path] = inside(game, path) - {"actions", "state", "tables", "rules"}
            violations[path] |= inside("tabletop_engine", path) - {*RULES_KNOW}
            violations[path] |= packages(imported_by(path)) - {"__future__", "numpy", "typing", "tabletop_engine", game}
    for path in (FLOORS["tabletop_engine"] / "parts").glob("*.py"):
        violations[path] = inside("tabletop_engine", path) - {*PARTS_KNOW}
        violations[path] |= packages(imported_by(path)) - {"__future__", "numpy", "typing", "tabletop_engine"}
    environments = (FLOORS["tabletop_engine"] / "envs").glob("*.py")
    for path in (*environments, *(FLOORS[game] / "envs.py" for game in GAMES)):
        violations[path] = {name for name in imported_by(path) if ".rules" in name}
    assert not listed(violations)


def test_what_is_about_a_game_says_so() -> None:
    """The engine names no game. In agents, training and apps, only files whose path has its name are about one."""
    violations = {}
    for path, floor in FILES.items():
        if floor == "tabletop_engine" or (
            floor in ("tabletop_agents", "tabletop_training", "tabletop_play", "tabletop_text")
            and not re.search("petrichor|evergreen", str(path.relative_to(ROOT)))
        ):
            lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            violations[path] = {f"{number}: {line.strip()}" for number, line in lines if GAMES_BY_NAME.search(line)}
    assert not listed(violations)


def test_imports_close_no_circle() -> None:
    """All imports count, also in functions, by name and for type checkers: readers have to know what a file names.

    Only one kind doesn't count: a package's `__init__.py` names, for type checkers, what it loads on demand.
    """
    known = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"d1"}, "d1": {"d"}, "e": {"a"}}
    assert circles(known) == [{"d", "d1"}, {"a", "b", "c"}]

    files = {}
    for path, floor in FILES.items():
        named = path.relative_to(FLOORS[floor]).with_suffix("").parts
        files[".".join([floor, *named]).removesuffix(".__init__")] = path
    imports = {name: set[str]() for name in files}
    for name, path in files.items():
        at_run_time = path.name == "__init__.py"
        for other in imported(without_type_checking(path)) if at_run_time else imported_by(path):
            module = other if other in files else other.rpartition(".")[0]
            if module in files and module != name:
                imports[name].add(module)
    page = {path.name: path.read_text(encoding="utf-8") for path in FLOORS["tabletop_play"].glob("web/page/*.js")}
    imports |= {name: {*re.findall(r'from "\./([\w.]+)"', text)} & {*page} for name, text in page.items()}
    assert "table.js" in imports["main.js"]

    assert circles(imports) == []


def without_type_checking(path: Path) -> ast.AST:
    whole: ast.AST = WithoutTypeChecking().visit(deepcopy(parsed(path)))
    return whole


class WithoutTypeChecking(ast.NodeTransformer):
    """Removes what is there for type checkers only."""

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if ast.unparse(node.test) == "TYPE_CHECKING" else node


def circles(imports: dict[str, set[str]]) -> list[set[str]]:
    """The largest sets of modules that all import each other, directly or through others, by size."""
    reached = {name: set(found) for name, found in imports.items()}
    for middle in reached:  # Warshall's algorithm
        for others in reached.values():
            if middle in others:
                others |= reached[middle]
    found = {frozenset(other for other in others if name in reached[other]) for name, others in reached.items()}
    return sorted(map(set, found - {frozenset()}), key=len)


def test_no_test_is_imported() -> None:
    """What several tests share is in `tests/support`: a test file can be changed, split or deleted alone."""
    paths = (ROOT / "tests").rglob("*.py")
    is_test = re.compile(r"tests\.(\w+\.)*test_")
    assert not listed({path: {name for name in imported_by(path) if is_test.match(name)} for path in paths})
