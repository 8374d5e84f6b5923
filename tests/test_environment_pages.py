"""The docstrings of environments: pages that the engine and the games write together."""

from __future__ import annotations

import importlib
import inspect
import pickle
import re
from typing import Any

import pytest

import evergreen_env.evergreen_v0
import petrichor_env.petrichor_v0
from petrichor_env.envs import SoloEnv
from tabletop_engine.envs.aec import GameAEC
from tabletop_engine.envs.of_game import SECTIONS, OfGame, ids_of
from tests.games import connect_four

GAMES = ("petrichor_env", "evergreen_env")
OF_SEATS: list[type[OfGame]] = [
    getattr(importlib.import_module(f"{package}.envs"), name)
    for package in GAMES
    for name in ("SoloEnv", "SoloVectorEnv", "VersusEnv", "VersusVectorEnv")
]
OF_TABLES: list[type[OfGame]] = [petrichor_env.petrichor_v0.raw_env, evergreen_env.evergreen_v0.raw_env]
SMALL: list[type[OfGame]] = [connect_four.VersusEnv, connect_four.VersusVectorEnv, connect_four.raw_env]


def name_of(made: type[OfGame]) -> str:
    return f"{made.__module__}.{made.__qualname__}"


def sections_of(made: type[OfGame]) -> dict[str, str]:
    _, *parts = re.split(r"^## (.+)\n", made.__doc__ or "", flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize("made", [*OF_SEATS, *OF_TABLES, *SMALL], ids=name_of)
def test_a_page_has_all_that_there_is(made: type[OfGame]) -> None:
    sections = sections_of(made)
    vector = made.__name__.endswith("VectorEnv")
    wanted = ("Description", "Arguments", "Errors") if vector else SECTIONS
    assert list(sections) == [name for name in SECTIONS if name in wanted]
    described = re.findall(r"`(\w+)`", " ".join(re.findall(r"^- (.*?):", sections["Arguments"], re.MULTILINE)))
    arguments = list(inspect.signature(made).parameters)
    undescribed = {"arguments", *(["components"] if made in SMALL else [])}
    assert {*arguments, "reward", "observation_dtype"} - undescribed <= {*described}
    assert len(described) == len(set(described))
    lines = re.sub("^```.*?^```$", "", made.__doc__ or "", flags=re.MULTILINE | re.DOTALL).splitlines()
    assert max(map(len, lines)) <= 116
    assert not re.search(r"\b(PACKAGE|ID|MODULE|SIZE|ACTIONS|LAST|MOST|PLAYERS)\b", made.__doc__ or "")


def test_what_the_game_says_stands_in_its_sections() -> None:
    sections = sections_of(evergreen_env.evergreen_v0.raw_env)
    assert sections["Description"].startswith("\nThe game for 2 to 4 players.")
    assert sections["Rewards"].endswith("Points change when a round ends, for all agents at once.\n\n")
    assert "`Discrete(52)`" in sections["Action Space"]
    assert sections["Arguments"].startswith("\n- `num_players`: 2, 3 or 4.\n- `components`: a board, a deck and flags")
    assert "double_card" not in sections["Arguments"]


@pytest.mark.parametrize("made", [*OF_SEATS, *OF_TABLES], ids=name_of)
def test_the_example_runs(made: type[OfGame]) -> None:
    [example] = re.findall(r"^```python\n(.*?)^```$", made.__doc__ or "", re.MULTILINE | re.DOTALL)
    named: dict[str, Any] = {}
    exec(example.replace("range(1000)", "range(3)").replace("num_envs=1024", "num_envs=8"), named)
    assert type((named.get("env") or named["envs"]).unwrapped) is made


@pytest.mark.parametrize("made", [*OF_SEATS, *OF_TABLES, *SMALL], ids=name_of)
def test_a_class_is_found_where_it_is_defined(made: type[OfGame]) -> None:
    assert pickle.loads(pickle.dumps(made)) is made
    assert getattr(importlib.import_module(made.__module__), made.__name__) is made


@pytest.mark.parametrize("package", [petrichor_env, evergreen_env], ids=GAMES)
def test_ids_are_those_that_are_registered(package: Any) -> None:
    assert ids_of(package.GAME) == (package.SOLO_ID, package.VERSUS_ID)


def test_signatures() -> None:
    several = list(inspect.signature(petrichor_env.petrichor_v0.raw_env).parameters)
    assert several[:4] == ["num_players", "rounds", "drafting", "modules"] and several[-1] == "arguments"
    alone = list(inspect.signature(SoloEnv).parameters)
    assert "variants" in alone and not {"players", "rounds", "drafting", "opponents"} & {*alone}


def test_classes_that_derive_from_one_of_a_game() -> None:
    class Quiet(SoloEnv):
        """A docstring of its own."""

        def __init__(self, loudness: int = 0, **arguments: Any):
            super().__init__(**arguments)

    assert Quiet.__doc__ == "A docstring of its own."
    assert list(inspect.signature(Quiet).parameters) == ["loudness", "arguments"]
    assert Quiet(variants=("double_card",)).batch.config.name == "solo+double_card"


def test_a_class_without_a_docstring() -> None:
    class raw_env(GameAEC, game=connect_four.GAME):  # noqa: N801
        pass

    assert sections_of(raw_env)["Description"].startswith("\nThe agents are `player_0`")
