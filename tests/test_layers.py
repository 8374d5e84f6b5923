"""The order of the packages: tabletop, a game, agents, training, command line; each imports only what is below it.

Tests import from `tests/support`, never from each other.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FLOORS = {
    "tabletop": ROOT / "tabletop",
    "petrichor_env": ROOT / "petrichor_env",
    "evergreen_env": ROOT / "evergreen_env",
    "tabletop_agents": ROOT / "agents" / "tabletop_agents",
    "tabletop_training": ROOT / "training" / "tabletop_training",
    "tabletop_cli": ROOT / "tabletop_cli",
}
"""From the ground up. A game is a floor of its own; games never import each other."""
GAMES = ("petrichor_env", "evergreen_env")
FILES = sorted((floor, path) for floor, folder in FLOORS.items() for path in folder.rglob("*.py"))
THE_ONE_LOOK_UPWARD = ("tabletop", "agents.py", "tabletop_agents")
"""Opponents by name are looked up when they are used."""


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules that a file imports anywhere: at its top, in functions, for type checkers, and by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func).rpartition(".")[2]
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
    found = {name.split(".")[0] for name in imported(ast.parse(path.read_text(encoding="utf-8")))} & above
    if (floor, path.name, *found) == THE_ONE_LOOK_UPWARD:
        return
    if path.name == "__main__.py":
        found -= {"tabletop_cli"}  # how `python -m` reaches the command
    assert not found, f"{path.relative_to(ROOT)} is on the floor {floor} and imports {', '.join(sorted(found))}"


ENGINE_FILES = [path for floor, path in FILES if floor == "tabletop"]
GAMES_BY_NAME = re.compile("petrichor|evergreen|southern winds|neutral player", re.IGNORECASE)


@pytest.mark.parametrize("path", ENGINE_FILES, ids=[str(path.relative_to(ROOT)) for path in ENGINE_FILES])
def test_the_engine_names_no_game(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    named = [f"{number}: {line.strip()}" for number, line in enumerate(lines, 1) if GAMES_BY_NAME.search(line)]
    assert not named, named


ABOVE = [path for floor, path in FILES if floor in ("tabletop_agents", "tabletop_training")]


@pytest.mark.parametrize("path", ABOVE, ids=[str(path.relative_to(ROOT)) for path in ABOVE])
def test_what_is_about_a_game_says_so(path: Path) -> None:
    """In agents and training only a folder or a file with the game's name in it is about a game."""
    if not re.search("petrichor|evergreen", str(path.relative_to(ROOT))):
        assert not GAMES_BY_NAME.search(path.read_text(encoding="utf-8"))


HEAVY = {"torch", "stable_baselines3", "sb3_contrib", "ray", "matplotlib"}
BELOW = [(floor, path) for floor, path in FILES if floor in ("tabletop", *GAMES)]


@pytest.mark.parametrize("path", [path for _, path in BELOW], ids=[str(path.relative_to(ROOT)) for _, path in BELOW])
def test_engine_and_games_need_no_trainer(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not {name.split(".")[0] for name in imported(tree)} & HEAVY - {"matplotlib"}
    at_its_top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not {name.split(".")[0] for node in at_its_top for name in imported(node)} & HEAVY


RULES = [path for game in GAMES for path in sorted((FLOORS[game] / "rules").glob("*.py"))]


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_rules_know_only_rules(path: Path) -> None:
    names = set(imported(ast.parse(path.read_text(encoding="utf-8"))))
    game = path.parents[1].name
    assert {name.split(".")[0] for name in names} <= {"__future__", "numpy", "typing", "tabletop", game}
    ours = {name.split(".")[1] for name in names if name.startswith(f"{game}.")}
    engine = {name.split(".")[1] for name in names if name.startswith("tabletop.")}
    assert ours <= {"actions", "state", "tables", "rules"}
    assert engine <= {"chance", "compiled", "decisions", "defaults", "legal", "overwrite", "record"}


ENVIRONMENTS = [*sorted((ROOT / "tabletop" / "envs").glob("*.py")), *(ROOT / game / "envs.py" for game in GAMES)]


@pytest.mark.parametrize("path", ENVIRONMENTS, ids=lambda path: path.name)
def test_environments_know_no_rule(path: Path) -> None:
    assert not any(".rules" in name for name in imported(ast.parse(path.read_text(encoding="utf-8"))))


def test_no_test_is_imported() -> None:
    """What several tests share is in `tests/support`: a test file can be changed, split or deleted alone."""
    found = {
        str(path.relative_to(ROOT)): name
        for path in (ROOT / "tests").rglob("*.py")
        for name in imported(ast.parse(path.read_text(encoding="utf-8")))
        if re.match(r"tests\.(\w+\.)*test_", name)
    }
    assert not found
