"""What people try first works, or an error says what it takes: the arguments of all functions that people call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import pytest

from evergreen_env import GAME as EVERGREEN
from petrichor_env import GAME, Config
from tabletop.agents import Agent
from tabletop.batch import Batch
from tabletop.checks import check_argument, checked
from tabletop.drawing.picture import Picture
from tabletop.drawing.raster import save_png
from tabletop.errors import ConfigError, TabletopError
from tabletop.position import positions_of
from tabletop.replays.page import write_page
from tabletop.replays.pictures import write_gif, write_pngs
from tabletop.replays.replay import Replay, frames, replays_of
from tabletop.replays.viewer import Viewer
from tabletop.versus import VersusBatch
from tabletop_agents import (
    GreedyAgent,
    IsmctsAgent,
    RandomAgent,
    RolloutAgent,
    agent_file,
    checkpoint_path,
    make_agent,
    own_agents,
    shipped_policies,
)
from tabletop_agents.play.session import Session
from tabletop_training import matches, tournament
from tabletop_training.cluster import workers
from tabletop_training.evaluation import HERE, play_games, play_lineups
from tabletop_training.matches import evaluate, play_match
from tabletop_training.tournament import play_tournament
from tabletop_training.workers import Processes
from tests.test_workers import assert_same

TWO = Config(players=2)
AGENTS: list[Agent] = [RandomAgent(), GreedyAgent()]
REPLAY = Replay.of(TWO, 1, [], names=("a", "b"))
BATCH = Batch(TWO, 1, 0)
SVG = GAME.drawing.cover()

WRONG: tuple[Any, ...] = (
    None,
    "x",
    "",
    5,
    -1,
    1.5,
    float("nan"),
    True,
    10**30,
    b"x",
    [],
    [1],
    ["x"],
    (1, 2),
    {"x": 1},
    np.int64(3),
    np.array([1.5]),
    np.zeros((2, 2)),
    object(),
    int,
    RandomAgent,
    RandomAgent(),
    GAME,
    TWO,
    Path("nope"),
)

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "make_agent": (make_agent, {"name": "random", "game": GAME}),
    "agent_file": (agent_file, {"name": "random", "game": GAME}),
    "own_agents": (own_agents, {"names": ["random"]}),
    "shipped_policies": (shipped_policies, {"game": GAME}),
    "checkpoint_path": (checkpoint_path, {"path": "solo", "game": GAME}),
    "RolloutAgent": (RolloutAgent, {"playouts": 2}),
    "IsmctsAgent": (IsmctsAgent, {"milliseconds": 2.0}),
    "positions_of": (positions_of, {"config": TWO}),
    "Batch": (
        Batch,
        {"config": TWO, "num_games": 1, "seed": 0, "reward": "win", "num_threads": 1, "observation_dtype": "int8"},
    ),
    "Batch.set_states": (lambda **k: Batch(TWO, 1, 0).set_states(**k), {"states": BATCH.states}),
    "VersusBatch": (
        VersusBatch,
        {"config": TWO, "num_games": 1, "opponents": ["random"], "seat": 0, "assign": None, "choose_config": None},
    ),
    "VersusBatch.reset": (lambda **k: VersusBatch(TWO, 1, ["random"]).reset(**k), {"seed": 0, "prepare": None}),
    "evaluate": (
        evaluate,
        {
            "agents": AGENTS,
            "config": TWO,
            "games": 2,
            "seed": 0,
            "until_width": None,
            "workers": HERE,
            "should_stop": None,
            "on_finished": None,
            "record_actions": False,
        },
    ),
    "play_tournament": (
        play_tournament,
        {"agents": AGENTS, "config": TWO, "games": 2, "seed": 0, "workers": HERE, "should_stop": None},
    ),
    "play_games": (play_games, {"agents": AGENTS, "config": TWO, "games": 2, "seed": 0, "on_finished": None}),
    "play_match": (play_match, {"agents": AGENTS, "config": TWO, "seeds": [1]}),
    "play_lineups": (play_lineups, {"agents": AGENTS, "config": TWO, "seeds": [1], "lineups": np.array([[0, 1]])}),
    "the command evaluate": (
        matches.main,
        {"names": ["random", "greedy"], "config": TWO, "games": 2, "seed": 0, "workers": HERE, "output": "out"},
    ),
    "the command tournament": (
        tournament.main,
        {"names": ["random", "greedy"], "config": TWO, "games": 2, "seed": 0, "replays": None, "output": "out"},
    ),
    "config_for": (matches.config_for, {"game": GAME, "agents": 2, "alone": False}),
    "workers": (workers, {"number": 1, "address": None}),
    "Replay.of": (Replay.of, {"config": TWO, "start": 1, "actions": [], "names": ("a", "b"), "probabilities": ()}),
    "replays_of": (replays_of, {"config": TWO, "starts": [1], "actions": [[]], "names": [("a", "b")]}),
    "Replay.load": (Replay.load, {"path": "x.json", "game": GAME}),
    "Replay.parse": (Replay.parse, {"data": REPLAY.text.encode(), "game": GAME}),
    "Replay.save": (REPLAY.save, {"path": "x.json"}),
    "frames": (lambda **k: list(frames(**k)), {"replay": REPLAY, "viewer": None}),
    "Viewer": (Viewer, {"replay": REPLAY, "seat": None}),
    "write_page": (write_page, {"replay": REPLAY, "path": "x.html", "viewer": None}),
    "write_gif": (write_gif, {"replay": REPLAY, "path": "x.gif", "width": 64, "milliseconds": 100}),
    "write_pngs": (write_pngs, {"replay": REPLAY, "folder": "pngs", "width": 64}),
    "Picture.save": (Picture(SVG).save, {"path": "x.svg", "width": 64}),
    "save_png": (save_png, {"svg": SVG, "path": "x.png", "width": 64}),
    "Session": (Session, {"config": TWO, "agents": {0: RandomAgent()}, "seed": 0, "start": None, "hints": None}),
}


@pytest.mark.parametrize(
    ("call", "argument"), [(call, argument) for call, (_, given) in CALLS.items() for argument in given]
)
def test_any_argument_works_or_says_what_it_takes(
    call: str, argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never an error from within, such as that an int has no attribute."""
    function, given = CALLS[call]
    for number, wrong in enumerate(WRONG):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        if argument == "workers" and type(wrong) in (int, np.int64):
            continue  # so many processes play
        if argument == "games" and isinstance(wrong, int) and wrong > 5:
            continue  # so many games are played
        try:
            function(**{**given, argument: wrong})
        except TabletopError:
            pass
        except Exception as error:
            raise AssertionError(f"{call}({argument}={wrong!r:.60})") from error


# --- What a message says ----------------------------------------------------------------------------------------------


class Options(TypedDict, total=False):
    loud: bool
    told: Callable[[int], None] | None


@checked
def called(
    number: int,
    share: float | None = None,
    names: Sequence[str] = (),
    path: str | Path = "x",
    seeds: Sequence[int] | np.ndarray = (),
    agents: Sequence[Agent] = (),
    config: Any = None,
    **options: Unpack[Options],
) -> tuple[Any, ...]:
    return number, share, names, path, seeds, agents, config, options


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"number": "2"}, "number='2': must be an int"),
        ({"number": True}, "number=True: must be an int"),
        ({"number": 2.0}, "number=2.0: must be an int"),
        ({"share": "x"}, "share='x': must be a number or None"),
        ({"names": "greedy"}, "names='greedy': must be a list of str"),
        ({"names": ["a", 1]}, r"names=\['a', 1\]: must be a list of str"),
        ({"names": {"a": 1}}, "names=.*: must be a list of str"),
        ({"path": None}, "path=None: must be a text or a Path"),
        ({"seeds": 5}, "seeds=5: must be a list of int or an array"),
        ({"agents": RandomAgent()}, "agents=.*: must be a list of Agent"),
        ({"loud": 1}, "loud=1: must be True or False"),
        ({"told": 1}, "told=1: must be a function or None"),
        ({"lout": True}, "unknown argument 'lout'; there are number, .*, loud, told"),
    ],
)
def test_a_message_says_what_can_be_given(given: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        called(**{"number": 1, **given})


def test_what_fits_gets_through() -> None:
    """Also NumPy's numbers; and the function looks as it did."""
    names, seeds = ["a"], np.arange(3)
    given = (np.int64(3), np.float32(0.5), names, Path("x"), seeds, AGENTS, None)
    told = called(*given, loud=np.bool_(True), told=print)  # type: ignore[arg-type]
    assert all(one is other for one, other in zip(told, given, strict=False)) and told[-1]["told"] is print
    assert called(1, 2, ("a",)) == (1, 2, ("a",), "x", (), (), None, {})
    assert called.__name__ == "called" and "share" in inspect.signature(called).parameters
    with pytest.raises(TypeError, match="missing a required argument"):
        called()  # type: ignore[call-arg]


def test_a_class_is_not_one_of_its_objects() -> None:
    check_argument("agent", RandomAgent(), Agent)
    with pytest.raises(ConfigError, match=r"agent=<class .*>: must be an Agent"):
        check_argument("agent", RandomAgent, Agent)


def test_an_unknown_option_is_not_ignored() -> None:
    with pytest.raises(ConfigError, match=r"unknown argument 'shoud_stop'; there are .*should_stop"):
        evaluate(AGENTS, TWO, 2, shoud_stop=lambda: True)  # type: ignore[call-arg]


# --- What people try first --------------------------------------------------------------------------------------------


def test_a_number_of_workers(tmp_path: Path) -> None:
    """It starts processes and ends them; so does `Processes` that is not opened."""
    here = evaluate(AGENTS, TWO, 80, 50)
    two = Processes(2)
    for given in (2, two, 1):
        assert_same(here.results[0], evaluate(AGENTS, TWO, 80, 50, workers=given).results[0])
    assert not two.is_open
    with two:
        evaluate(AGENTS, TWO, 10, 50, workers=two)
        assert two.is_open
    games = EVERGREEN.config(players=2)
    assert_same(
        play_tournament(AGENTS, games, 20, 50).results, play_tournament(AGENTS, games, 20, 50, workers=2).results
    )
    for wrong in (0, -1, True, 10_001):
        with pytest.raises(ConfigError, match="workers="):
            evaluate(AGENTS, TWO, 10, workers=wrong)
