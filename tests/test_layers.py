"""The order of the packages: tabletop_engine, a game, agents, training, command line. Each imports only those before.

Tests import from `tests/support`, never from each other.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FLOORS = {
    "tabletop_engine": ROOT / "tabletop_engine",
    "petrichor_env": ROOT / "petrichor_env",
    "evergreen_env": ROOT / "evergreen_env",
    "tabletop_agents": ROOT / "agents" / "tabletop_agents",
    "tabletop_training": ROOT / "training" / "tabletop_training",
    "tabletop_cli": ROOT / "tabletop_cli",
}
"""From the ground up. A game is a floor of its own; games never import each other."""
GAMES = ("petrichor_env", "evergreen_env")
FILES = sorted((floor, path) for floor, folder in FLOORS.items() for path in folder.rglob("*.py"))


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
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            first = node.args[0] if node.args else None
            by_name = called in ("import_module", "__import__", "_import", "find_spec")
            if by_name and isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


@pytest.mark.parametrize(("floor", "path"), FILES, ids=[str(path.relative_to(ROOT)) for _, path in FILES])
def test_imports_go_down(floor: str, path: Path) -> None:
    floors = list(FLOORS)
    above = set(floors[floors.index(floor) + 1 :])
    if floor in GAMES:
        above |= set(GAMES) - {floor}
    found = {name.split(".")[0] for name in imported_by(path)} & above
    if path.name == "__main__.py":
        found -= {"tabletop_cli"}  # how `python -m` reaches the command
    assert not found, f"{path.relative_to(ROOT)} is on the floor {floor} and imports {', '.join(sorted(found))}"


ENGINE_FILES = [path for floor, path in FILES if floor == "tabletop_engine"]
ENGINE = (
    *("errors", "extras", "files", "seeds", "observation", "record", "registration"),
    *("compiling", "chance", "legal", "decisions", "boxes", "defaults", "parts"),
    *("checks", "drawing", "presentation", "game"),
    *("play", "described", "positions", "text", "envs", "replays", "testing"),
)
"""The engine's files and folders from the ground up: tools, what rules use, what a game is, what is done with games."""
A_GAME_MAKES_ITS_KERNELS = ("game", "tabletop_engine.play.kernels")
"""The only look upward."""


def test_imports_inside_the_engine_go_down() -> None:
    looks_up = set()
    for path in ENGINE_FILES:
        place = path.relative_to(FLOORS["tabletop_engine"]).with_suffix("").parts[0]
        inside = (name for name in imported_by(path) if name.startswith("tabletop_engine."))
        looks_up |= {
            (place, name.rpartition(".")[0])
            for name in inside
            if ENGINE.index(name.split(".")[1]) > ENGINE.index(place)
        }
    assert looks_up == {A_GAME_MAKES_ITS_KERNELS}


GAMES_BY_NAME = re.compile("petrichor|evergreen|southern winds|neutral player", re.IGNORECASE)


@pytest.mark.parametrize("path", ENGINE_FILES, ids=[str(path.relative_to(ROOT)) for path in ENGINE_FILES])
def test_the_engine_names_no_game(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    named = [f"{number}: {line.strip()}" for number, line in enumerate(lines, 1) if GAMES_BY_NAME.search(line)]
    assert not named, named


ABOVE = [path for floor, path in FILES if floor in ("tabletop_agents", "tabletop_training")]


@pytest.mark.parametrize("path", ABOVE, ids=[str(path.relative_to(ROOT)) for path in ABOVE])
def test_what_is_about_a_game_says_so(path: Path) -> None:
    """In agents and training, only files whose path has the game's name are about one game."""
    if not re.search("petrichor|evergreen", str(path.relative_to(ROOT))):
        assert not GAMES_BY_NAME.search(path.read_text(encoding="utf-8"))


CLOSES_A_CIRCLE = {
    ("tabletop_training.learn.ppo", "tabletop_training.learn.games"): "the types of what it learns from",
}
"""The only imports that may close a circle, and the reason for each."""


def modules() -> dict[str, Path]:
    """The files of all packages by the names of their modules."""
    named = {}
    for floor, path in FILES:
        inside = path.relative_to(FLOORS[floor]).with_suffix("").parts
        named[".".join([floor, *inside]).removesuffix(".__init__")] = path
    return named


def test_imports_close_no_circle() -> None:
    """All imports count, also in functions, by name and for type checkers: readers have to know what a file names.

    Only one kind doesn't count: a package's `__init__.py` names, for type checkers, what it loads on demand.
    """
    files = modules()
    imports = {name: set[str]() for name in files}
    for name, path in files.items():
        at_run_time = path.name == "__init__.py"
        for other in imported(without_type_checking(path)) if at_run_time else imported_by(path):
            module = other if other in files else other.rpartition(".")[0]
            if module in files and module != name:
                imports[name].add(module)
    assert circles(imports, without=set(CLOSES_A_CIRCLE)) == []
    for left_out in CLOSES_A_CIRCLE:
        assert circles(imports, without=set(CLOSES_A_CIRCLE) - {left_out}), f"{left_out} closes no circle any more"


def without_type_checking(path: Path) -> ast.AST:
    whole: ast.AST = WithoutTypeChecking().visit(deepcopy(parsed(path)))
    return whole


class WithoutTypeChecking(ast.NodeTransformer):
    """Removes what is there for type checkers only."""

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if ast.unparse(node.test) == "TYPE_CHECKING" else node


def circles(imports: dict[str, set[str]], without: set[tuple[str, str]]) -> list[set[str]]:
    """The largest sets of modules that all import each other, directly or through others, by size."""
    reached = {name: {other for other in found if (name, other) not in without} for name, found in imports.items()}
    for middle in reached:  # Warshall's algorithm
        for others in reached.values():
            if middle in others:
                others |= reached[middle]
    found = {frozenset(other for other in others if name in reached[other]) for name, others in reached.items()}
    return sorted(map(set, found - {frozenset()}), key=len)


def test_circles_are_found() -> None:
    imports = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"d1"}, "d1": {"d"}, "e": {"a"}}
    assert circles(imports, set()) == [{"d", "d1"}, {"a", "b", "c"}]
    assert circles(imports, {("c", "a"), ("d", "d1")}) == []


HEAVY = {"torch", "stable_baselines3", "sb3_contrib", "ray", "matplotlib"}
BELOW = [(floor, path) for floor, path in FILES if floor in ("tabletop_engine", *GAMES)]


@pytest.mark.parametrize("path", [path for _, path in BELOW], ids=[str(path.relative_to(ROOT)) for _, path in BELOW])
def test_engine_and_games_need_no_trainer(path: Path) -> None:
    tree = parsed(path)
    assert not {name.split(".")[0] for name in imported_by(path)} & HEAVY - {"matplotlib"}
    at_its_top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not {name.split(".")[0] for node in at_its_top for name in imported(node)} & HEAVY


RULES = [path for game in GAMES for path in sorted((FLOORS[game] / "rules").glob("*.py"))]


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_rules_know_only_rules(path: Path) -> None:
    names = set(imported_by(path))
    game = path.parents[1].name
    assert {name.split(".")[0] for name in names} <= {"__future__", "numpy", "typing", "tabletop_engine", game}
    ours = {name.split(".")[1] for name in names if name.startswith(f"{game}.")}
    engine = {name.split(".")[1] for name in names if name.startswith("tabletop_engine.")}
    assert ours <= {"actions", "state", "tables", "rules"}
    assert engine <= {"chance", "compiling", "decisions", "defaults", "legal", "parts", "record"}


@pytest.mark.parametrize("path", sorted((FLOORS["tabletop_engine"] / "parts").glob("*.py")), ids=lambda path: path.name)
def test_parts_of_games_know_only_rules(path: Path) -> None:
    names = set(imported_by(path))
    engine = {name.split(".")[1] for name in names if name.startswith("tabletop_engine.")}
    assert engine <= {"chance", "compiling", "legal", "parts", "record"}
    assert {name.split(".")[0] for name in names} <= {"__future__", "numpy", "typing", "tabletop_engine"}


ENVIRONMENTS = [*sorted((ROOT / "tabletop_engine" / "envs").glob("*.py")), *(ROOT / game / "envs.py" for game in GAMES)]


@pytest.mark.parametrize("path", ENVIRONMENTS, ids=lambda path: path.name)
def test_environments_know_no_rule(path: Path) -> None:
    assert not any(".rules" in name for name in imported_by(path))


def test_no_test_is_imported() -> None:
    """What several tests share is in `tests/support`: a test file can be changed, split or deleted alone."""
    found = {
        str(path.relative_to(ROOT)): name
        for path in (ROOT / "tests").rglob("*.py")
        for name in imported_by(path)
        if re.match(r"tests\.(\w+\.)*test_", name)
    }
    assert not found


def test_the_pages_modules_import_in_no_circle() -> None:
    modules = (FLOORS["tabletop_agents"] / "web" / "page").glob("*.js")
    imports = {one.name: re.findall(r'from "\./([\w.]+)"', one.read_text(encoding="utf-8")) for one in modules}
    assert "table.js" in imports["main.js"]
    TopologicalSorter(imports).prepare()  # raises CycleError
