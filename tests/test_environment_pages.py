"""The classes of environments: their docstrings are pages. Pages and signatures agree with the game."""

from __future__ import annotations

import importlib
import inspect
import pickle
import re
import typing
from dataclasses import fields
from typing import Any

import pytest

import evergreen_env.evergreen_v0
import petrichor_env.petrichor_v0
from petrichor_env.envs import SoloEnv
from tabletop_engine.envs import SeatEnv, SeatVectorEnv
from tabletop_engine.envs.aec import SeatsAEC
from tabletop_engine.envs.arguments import ids_of
from tests.games import connect_four

GAMES = ("petrichor_env", "evergreen_env")
OF_SEATS: list[type[Any]] = [
    getattr(importlib.import_module(f"{package}.envs"), name)
    for package in GAMES
    for name in ("SoloEnv", "SoloVectorEnv", "VersusEnv", "VersusVectorEnv")
]
OF_TABLES: list[type[Any]] = [petrichor_env.petrichor_v0.raw_env, evergreen_env.evergreen_v0.raw_env]
SMALL: list[type[Any]] = [connect_four.VersusEnv, connect_four.VersusVectorEnv, connect_four.raw_env]
SECTIONS = (
    *("Description", "Observation Space", "Action Space", "Rewards", "Starting State", "Episode End"),
    *("Arguments", "Errors", "Version History"),
)


def name_of(made: type[Any]) -> str:
    return f"{made.__module__}.{made.__qualname__}"


def sections_of(made: type[Any]) -> dict[str, str]:
    _, *parts = re.split(r"^## (.+)\n", inspect.getdoc(made) or "", flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def described(made: type[Any]) -> list[str]:
    """The arguments that a list in the docstring describes."""
    return re.findall(r"`(\w+)`", " ".join(re.findall(r"^- (.*?):", sections_of(made)["Arguments"], re.M | re.S)))


def arguments_of(made: type[Any]) -> list[str]:
    """The arguments of a signature, with those that `**arguments: Unpack[...]` declares."""
    hints = typing.get_type_hints(made.__init__)
    (declared,) = typing.get_args(hints["arguments"])
    own = [name for name in inspect.signature(made).parameters if name != "arguments"]
    return [*own, *typing.get_type_hints(declared)]


@pytest.mark.parametrize("made", [*OF_SEATS, *OF_TABLES], ids=name_of)
def test_a_page_has_all_that_there_is(made: type[Any]) -> None:
    sections = sections_of(made)
    if not issubclass(made, SeatVectorEnv):
        assert tuple(sections) == SECTIONS
        assert set(described(made)) == set(arguments_of(made)) and len(described(made)) == len(arguments_of(made))
        return
    assert tuple(sections) == ("Arguments", "Errors")
    single = getattr(importlib.import_module(made.__module__), made.__name__.replace("Vector", ""))
    assert set(arguments_of(made)) == {*arguments_of(single), "num_envs", "autoreset_mode", "num_threads", "copy"}
    everywhere = set(arguments_of(OF_SEATS[0])) - set(described(OF_SEATS[0])[:5])
    assert set(arguments_of(made)) - everywhere == set(described(made))


@pytest.mark.parametrize("made", [*OF_SEATS, *OF_TABLES], ids=name_of)
def test_a_signature_has_the_fields_of_the_configuration(made: type[Any]) -> None:
    """Those for this number of players, with their defaults. Solo environments refuse the others by name."""
    game = importlib.import_module(made.__module__).GAME
    left_out = "several" if "Solo" in made.__name__ else "one"
    options = [field for field in fields(game.config) if field.name != "players"]
    wanted = {field.name: field.default for field in options if field.metadata.get("for") != left_out}
    others = [field.name for field in options if field.name not in wanted]
    parameters = inspect.signature(made).parameters
    assert {name: parameters[name].default for name in wanted} == wanted
    assert not set(others) & set(parameters)
    if not issubclass(made, SeatsAEC):
        assert made.refused == (("players", "opponents", "seat", *others) if left_out == "several" else (*others,))


@pytest.mark.parametrize("made", [*OF_SEATS, *OF_TABLES], ids=name_of)
def test_a_page_has_the_numbers_of_the_game(made: type[Any]) -> None:
    game = importlib.import_module(made.__module__).GAME
    page, layout = inspect.getdoc(made) or "", game.observation
    if not issubclass(made, SeatVectorEnv):
        assert f"Box({layout.low:g}, {layout.high:g}, ({layout.size},), float32)" in page
        assert f"`Discrete({game.num_actions})`" in page
        assert f"`observe_numbers` ({game.numbers.size} more values)" in page
    several = [str(number) for number in game.players if number > 1]
    for numbers in re.findall(r"`(?:num_)?players`: (.*)\.$", page, re.MULTILINE):
        assert numbers == f"{', '.join(several[:-1])} or {several[-1]}"


@pytest.mark.parametrize("made", [made for made in [*OF_SEATS, *OF_TABLES] if not issubclass(made, SeatVectorEnv)])
def test_the_example_runs(made: type[Any]) -> None:
    [example] = re.findall(r"^```python\n(.*?)^```$", inspect.getdoc(made) or "", re.MULTILINE | re.DOTALL)
    named: dict[str, Any] = {}
    exec(example, named)
    assert type(named["env"].unwrapped) is made


def test_the_example_of_vector_environments_runs() -> None:
    [example] = re.findall(r"^```python\n(.*?)^```$", inspect.getdoc(SeatVectorEnv) or "", re.MULTILINE | re.DOTALL)
    for small, large in (("range(3)", "range(1000)"), ("num_envs=8", "num_envs=1024")):
        example = example.replace(large, small)
    exec(example.replace("my_game:MyGame", "evergreen_env:Evergreen"), {})


@pytest.mark.parametrize("kind", [SeatEnv, SeatVectorEnv, SeatsAEC], ids=name_of)
def test_the_engine_describes_what_all_games_have(kind: type[Any]) -> None:
    parameters = inspect.signature(kind).parameters.values()
    own = {one.name for one in parameters if one.kind is one.KEYWORD_ONLY} - {"render_mode", "render_size"}
    assert own <= set(described(kind))
    if kind is SeatEnv:
        assert {*arguments_of(OF_SEATS[2])} <= {
            *described(kind),
            *(field.name for field in fields(petrichor_env.Config)),
        }


@pytest.mark.parametrize("made", [*OF_SEATS, *OF_TABLES, *SMALL], ids=name_of)
def test_a_class_is_found_where_it_is_defined(made: type[Any]) -> None:
    assert pickle.loads(pickle.dumps(made)) is made
    assert getattr(importlib.import_module(made.__module__), made.__name__) is made


@pytest.mark.parametrize("package", [petrichor_env, evergreen_env], ids=GAMES)
def test_ids_are_those_that_are_registered(package: Any) -> None:
    assert ids_of(package.GAME) == (package.SOLO_ID, package.VERSUS_ID)


def test_classes_that_derive_from_one_of_a_game() -> None:
    class Quiet(SoloEnv):
        """A docstring of its own."""

        def __init__(self, loudness: int = 0, **arguments: Any):
            super().__init__(**arguments)

    assert Quiet(variants=("double_card",)).batch.config.name == "solo+double_card"
