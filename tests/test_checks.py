"""Arguments of all functions that people call: what people try first works, or an error says what is needed."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any, TypedDict, Unpack

import gymnasium
import numpy as np
import pytest

from evergreen_env import GAME as EVERGREEN
from evergreen_env import evergreen_v0
from petrichor_env import GAME, Config, describe, picture, scenario
from tabletop_agents import (
    GreedyAgent,
    IsmctsAgent,
    RandomAgent,
    RolloutAgent,
    agent_file,
    check_trusted,
    checkpoint_path,
    make_agent,
    own_agents,
    shipped_policies,
)
from tabletop_agents.checkpoint import save_network
from tabletop_agents.networks import Network
from tabletop_agents.policy import PolicyAgent
from tabletop_agents.search.guided_search import GuidedSearchAgent
from tabletop_engine.checks import checked, coerced, is_whole
from tabletop_engine.drawing.picture import Picture
from tabletop_engine.drawing.raster import save_png
from tabletop_engine.envs import SeatEnv
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.play.agents import Agent, Decisions, check_agents
from tabletop_engine.play.batch import Batch, game_seed, use_cores
from tabletop_engine.play.learner_games import learner_games
from tabletop_engine.positions.position import positions_of
from tabletop_engine.replays.page import write_page
from tabletop_engine.replays.pictures import write_gif, write_pngs
from tabletop_engine.replays.recorder import Recorder
from tabletop_engine.replays.replay import Replay, frames, replays_of
from tabletop_engine.replays.viewer import Viewer
from tabletop_play.advice import advise, review
from tabletop_play.session import Session, started
from tabletop_play.typed import TypedSession
from tabletop_training import dataset
from tabletop_training.files.plots import plot_learning_curve
from tabletop_training.files.settings import Settings
from tabletop_training.files.tables import slug
from tabletop_training.learn import train
from tabletop_training.learn.learner import Learner, learn
from tabletop_training.learn.opponents import OpponentSettings
from tabletop_training.learn.plan import Plan
from tabletop_training.learn.ppo import new_network
from tabletop_training.learn.task import Budget, EvaluationSettings, GamesSettings
from tabletop_training.learn.vec_env import SeatsVecEnv
from tabletop_training.measure import benchmark, ladder, matches, tournament
from tabletop_training.measure.cluster import workers
from tabletop_training.measure.evaluation import HERE, play_games, play_lineups
from tabletop_training.measure.matches import evaluate, play_match
from tabletop_training.measure.ratings import Ratings, rate_games
from tabletop_training.measure.tournament import play_tournament
from tabletop_training.measure.workers import Processes
from tabletop_training.petrichor.benchmark import PLAN
from tests.support.effort import THOROUGH
from tests.support.results import assert_same

TWO = Config(players=2)
AGENTS: list[Agent | str] = [RandomAgent(), "greedy"]

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
    [None],
    (1, 2),
    {"x": 1},
    {1: "x"},
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

OTHERS = "no such file"
"""A value of the right kind that does not exist. A call with it ends early, so its other arguments can be right."""


def a_network() -> Network:
    return new_network(GAME, Settings(layers=(4,)))


def defaults(kind: type[Any]) -> dict[str, Any]:
    return {field.name: getattr(kind(), field.name) for field in fields(kind)}


def gym(**given: Any) -> Any:
    return gymnasium.make("Petrichor/Versus-v0", **{"opponents": ["random"], "disable_env_checker": True, **given})


def gym_vec(**given: Any) -> Any:
    return gymnasium.make_vec("Petrichor/Versus-v0", **{"opponents": ["random"], **given})


def aec(**given: Any) -> Any:
    return evergreen_v0.env(**{"num_players": 2, **given})


def learner(**given: Any) -> Learner:
    settings = Settings(num_envs=2, steps=2, minibatch=2, layers=(4,), threads=1)
    plan = Plan(settings, GamesSettings(players=(2,)), budget=Budget(steps=1))
    base: dict[str, Any] = {"game": GAME, "plan": plan, "folder": Path("run")}
    return Learner(**{**base, "evaluate": False, **given})


@cache
def calls() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Functions that people call, with arguments that fit."""
    replay = Replay.of(TWO, 1, [], names=("a", "b"))
    batch = Batch(TWO, 1, 0)
    state, svg = batch.states[0], GAME.drawing.cover()
    return {
        # the games and the engine
        "Config": (Config, defaults(Config)),
        "the other Config": (EVERGREEN.config, defaults(EVERGREEN.config)),
        "scenario": (scenario, {"description": {"players": 2}, "components": None}),
        "describe": (describe, {"state": state, "components": None}),
        "picture": (picture, {"shown": state, "viewer": None}),
        "game_seed": (game_seed, {"seed": 1}),
        "use_cores": (use_cores, {"most": 1}),
        "positions_of": (positions_of, {"config": TWO}),
        "Batch": (
            Batch,
            {
                "config": TWO,
                "num_games": 1,
                "seed": 0,
                "autoreset": "same_step",
                "illegal_action": "raise",
                "reward": "win",
                "num_threads": 1,
                "observation_dtype": "int8",
                "starts": None,
                "new_observations": False,
            },
        ),
        "Batch.reset": (lambda **k: Batch(TWO, 1, 0).reset(**k), {"seed": 0, "mask": None, "config": None}),
        "Batch.set_states": (lambda **k: Batch(TWO, 1, 0).set_states(**k), {"states": batch.states}),
        "Batch.load": (lambda **k: Batch(TWO, 1, 0).load(**k), {"data": batch.save()}),
        "Batch.observe": (lambda **k: Batch(TWO, 1, 0).observe(**k), {"seats": 0}),
        "Batch.places": (lambda **k: Batch(TWO, 1, 0).places(**k), {"states": None}),
        "learner_games": (
            learner_games,
            {"config": TWO, "num_games": 1, "opponents": ["random"], "seat": 0, "assign": None, "choose_config": None},
        ),
        "LearnerGames.reset": (lambda **k: learner_games(TWO, 1, ["random"]).reset(**k), {"seed": 0, "prepare": None}),
        "LearnerGames.set_state": (lambda **k: learner_games(TWO, 1, ["random"]).set_state(**k), {"saved": {}}),
        "gymnasium.make": (
            gym,
            {
                "players": 2,
                "opponents": ["random"],
                "seat": 0,
                "reward": "win",
                "illegal_action": "lose",
                "observation_dtype": "int8",
                "starts": None,
                "render_size": 64,
            },
        ),
        "reset": (lambda **k: gym().unwrapped.reset(**k), {"options": None}),
        "reset's options": (lambda **k: gym().reset(options=k), {"scenario": None, "seat": 0, "replies": []}),
        "gymnasium.make_vec": (
            gym_vec,
            {"num_envs": 1, "opponents": ["random"], "autoreset_mode": "NextStep", "num_threads": 1, "copy": True},
        ),
        "make_vec's reset": (lambda **k: gym_vec().reset(**k), {"seed": 1, "options": None}),
        "evergreen_v0.env": (
            aec,
            {"num_players": 2, "components": None, "reward": "win", "illegal_action": "lose", "action_mask": "info"},
        ),
        "evergreen_v0's reset": (lambda **k: aec().reset(**k), {"seed": 1, "options": None}),
        "SeatEnv": (SeatEnv, {"game": GAME, "render_mode": None}),
        "Recorder": (Recorder, {"games": batch, "names": None}),
        "Replay.of": (Replay.of, {"config": TWO, "start": 1, "actions": [], "names": ("a", "b"), "probabilities": ()}),
        "replays_of": (replays_of, {"config": TWO, "starts": [1], "actions": [[]], "names": [("a", "b")]}),
        "Replay.load": (Replay.load, {"path": OTHERS, "game": GAME}),
        "Replay.parse": (Replay.parse, {"data": replay.text.encode(), "game": GAME}),
        "Replay.save": (replay.save, {"path": "x.json"}),
        "frames": (lambda **k: list(frames(**k)), {"replay": replay, "viewer": None}),
        "Viewer": (Viewer, {"replay": replay, "seat": None}),
        "write_page": (write_page, {"replay": replay, "path": "x.html", "viewer": None}),
        "write_gif": (write_gif, {"replay": replay, "path": "x.gif", "width": 64, "milliseconds": 100}),
        "write_pngs": (write_pngs, {"replay": replay, "folder": "pngs", "width": 64}),
        "Picture.save": (Picture(svg).save, {"path": "x.svg", "width": 64}),
        "save_png": (save_png, {"svg": svg, "path": "x.png", "width": 64}),
        # agents
        "make_agent": (make_agent, {"name": "random", "game": GAME}),
        "agent_file": (agent_file, {"name": "random", "game": GAME}),
        "own_agents": (own_agents, {"names": ["random"]}),
        "check_trusted": (check_trusted, {"path": "x", "names": ["random"], "trusted": []}),
        "check_agents": (check_agents, {"agents": [RandomAgent()], "config": TWO}),
        "shipped_policies": (shipped_policies, {"game": GAME}),
        "checkpoint_path": (checkpoint_path, {"path": "solo", "game": GAME}),
        "GreedyAgent": (GreedyAgent, {"weights": None, "max_nodes": 1, "num_threads": 1}),
        "RolloutAgent": (
            RolloutAgent,
            {"playouts": 2, "settings": None, "weights": None, "num_threads": 1, "name": None},
        ),
        "IsmctsAgent": (IsmctsAgent, {"milliseconds": 2.0, "settings": None, "weights": None, "num_threads": 1}),
        "IsmctsAgent's simulations": (IsmctsAgent, {"simulations": 2}),
        "PolicyAgent.load": (PolicyAgent.load, {"path": OTHERS, "game": GAME, "sample": False, "name": "x"}),
        "GuidedSearchAgent": (
            GuidedSearchAgent,
            {"policy": PolicyAgent(a_network()), "simulations": 2, "settings": None, "num_threads": 1, "name": ""},
        ),
        "GuidedSearchAgent.load": (GuidedSearchAgent.load, {"path": OTHERS, "game": GAME}),
        "save_network": (save_network, {"game": GAME, "network": a_network(), "path": "x.zip", "notes": None}),
        "Session": (Session, {"config": TWO, "agents": {0: "random"}, "seed": 0, "start": None, "hints": None}),
        "Session.resume": (Session.resume, {"path": OTHERS, "game": GAME, "hints": None, "trusted": ()}),
        "TypedSession": (TypedSession, {"config": TWO, "agents": None, "seed": 0, "hints": None}),
        "started": (
            lambda **k: started(Session, **k),
            {"game": GAME, "opponents": ["random"], "people": (0,), "seed": 1, "hints": "", "trust": ()},
        ),
        "review": (review, {"replay": replay, "agent": "ismcts-2", "seats": None, "seed": 0}),
        "advise": (
            advise,
            {"agent": RandomAgent(), "decisions": Decisions.of(batch), "generator": np.random.default_rng()},
        ),
        # training
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
        "workers": (workers, {"number": 1, "address": None}),
        "rate_games": (rate_games, {"games": [(("a", "b"), (1, 2))], "seed": None}),
        "Ratings": (Ratings, {"fixed": None, "drifting": ()}),
        "the command evaluate": (
            matches.main,
            {"names": ["random", "greedy"], "config": TWO, "games": 2, "seed": 0, "workers": HERE, "output": "out"},
        ),
        "the command tournament": (
            tournament.main,
            {"names": ["random", "greedy"], "config": TWO, "games": 2, "seed": 0, "replays": None, "output": "out"},
        ),
        "the command ladder": (
            ladder.main,
            {
                "configs": [TWO],
                "players": [2],
                "agents": ["random", OTHERS],
                "games": 2,
                "seed": 0,
                "output": "out/x.json",
            },
        ),
        "the command benchmark": (
            benchmark.main,
            # agents whose games are in the published table: without `agents` nothing is played
            {"plan": replace(PLAN, agents=("random", "greedy")), "agents": [OTHERS], "games": 2, "components": None},
        ),
        "the command dataset": (
            dataset.main,
            {"agents": AGENTS, "config": TWO, "games": 2, "seed": 0, "reward": None, "name": "", "output": "out"},
        ),
        "config_for": (matches.config_for, {"game": GAME, "agents": 2, "alone": False}),
        "the command train": (
            train.main,
            {
                "game": GAME,
                "settings": None,
                "minutes": 1.0,
                "seed": 0,
                "output": "out",
                "device": "cpu",
                "start": OTHERS,
                "rival": OTHERS,
                "resume": None,
                "trust": (),
                "evaluate": True,
            },
        ),
        "Learner": (learner, {"game": GAME, "plan": Plan(), "folder": "run", "start": None, "device": "cpu"}),
        "Plan": (Plan, defaults(Plan)),
        "learn": (learn, {"config": Config(), "minutes": 0.0, "folder": Path("run"), "seed": 0, "settings": None}),
        "Settings": (Settings, defaults(Settings)),
        "Budget": (Budget, {"steps": 1}),
        "GamesSettings": (GamesSettings, defaults(GamesSettings)),
        "EvaluationSettings": (EvaluationSettings, defaults(EvaluationSettings)),
        "OpponentSettings": (OpponentSettings, defaults(OpponentSettings)),
        "SeatsVecEnv": (SeatsVecEnv, {"games": learner_games(Config(), 1), "reward_scale": 1.0, "win_bonus": 0.0}),
        "SeatsVecEnv.set_options": (SeatsVecEnv(learner_games(Config(), 1)).set_options, {"options": None}),
        "plot_learning_curve": (plot_learning_curve, {"path": "x.png", "curve": [], "references": None, "title": ""}),
    }


SLOW = {"workers", "number", "games", "num_envs", "num_games", "steps", "simulations", "playouts"}
"""Arguments whose size decides how much is started, played or allocated."""


@pytest.mark.parametrize("part", range(16))
def test_any_argument_works_or_says_what_it_takes(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is never an internal error, such as an int without an attribute. The message names the argument.

    `make test` tries a third of the values for each argument, another third for the next.
    """
    monkeypatch.setattr("tabletop_engine.play.batch._most_cores", 2)
    monkeypatch.setattr("tabletop_training.measure.tournament._ORDERS", 1)  # each takes half a second
    problems: list[str] = []
    pairs = [(call, argument) for call, (_, given) in calls().items() for argument in given]
    for call, argument in pairs[part::16]:
        some = WRONG if THOROUGH else WRONG[zlib.crc32(f"{call} {argument}".encode()) % 3 :: 3]
        for number, wrong in enumerate(some):
            folder = tmp_path / slug(call) / argument / str(number)
            folder.mkdir(parents=True)
            monkeypatch.chdir(folder)
            problems += problem_with(call, argument, wrong)
    assert not problems, "\n".join(problems)


def problem_with(call: str, argument: str, wrong: Any) -> list[str]:
    """What is wrong with a call that has this value in place of one that fits: nothing, or one sentence."""
    if argument in SLOW and is_whole(wrong) and wrong > 5 and call != "workers":
        return []
    if argument == "minutes" and isinstance(wrong, int | float | np.integer):
        return []
    if argument == "workers" and is_whole(wrong) and 1 < wrong < 1000:
        return []
    function, given = calls()[call]
    where = f"{call}({argument}={wrong!r:.60})"
    try:
        function(**{**given, argument: wrong})
    except TabletopError as error:
        return [] if is_told(str(error), argument, wrong) else [f"{where}: {error}"]
    except Exception as error:
        return [f"{where}: {type(error).__name__}: {error}"]
    return []


def is_told(message: str, argument: str, wrong: Any) -> bool:
    """Whether a message names the argument, or what is wrong in it."""
    if wrong is TWO or isinstance(wrong, bytes) or (isinstance(wrong, str | list) and not wrong):
        return True  # it fits, or there is nothing in it to name
    inside = [*wrong] if isinstance(wrong, list | dict) else []
    name = "scenario" if argument == "description" else argument.removesuffix("s")
    return any(one in message for one in (name, *map(repr, inside), str(wrong), OTHERS))


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
    folder: Path | None = None,
    seeds: Sequence[int] | np.ndarray = (),
    agents: Sequence[Agent] = (),
    config: Any = None,
    **options: Unpack[Options],
) -> tuple[Any, ...]:
    return number, share, names, path, folder, seeds, agents, config, options


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
        ({"path": None}, "path=None: must be a text or a path"),
        ({"folder": ""}, "folder='': must be a path or None"),
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
    """NumPy's numbers become Python's, and the function keeps its signature."""
    names, seeds, agents = ["a"], np.arange(3), [RandomAgent()]
    number, share, *rest, options = called(
        np.int64(3),  # type: ignore[arg-type]
        np.float32(0.5),  # type: ignore[arg-type]
        names,
        Path("x"),
        None,
        seeds,
        agents,
        None,
        loud=np.bool_(True),  # type: ignore[arg-type]
        told=print,
    )
    assert (type(number), type(share), type(options["loud"])) == (int, float, bool)
    assert rest[0] is names and rest[3] is seeds and rest[4] is agents and options["told"] is print
    assert called(1, 2, ("a",)) == (1, 2, ("a",), "x", None, (), (), None, {})
    assert [type(one) for one in called(1, seeds=[np.uint8(255)])[5]] == [int]  # type: ignore[list-item]
    assert called.__name__ == "called" and "share" in inspect.signature(called).parameters
    with pytest.raises(TypeError, match="missing a required argument"):
        called()  # type: ignore[call-arg]


def test_a_class_is_not_one_of_its_objects() -> None:
    coerced("agent", RandomAgent(), Agent)
    with pytest.raises(ConfigError, match=r"agent=<class .*>: must be an Agent"):
        coerced("agent", RandomAgent, Agent)


def test_an_unknown_option_is_not_ignored() -> None:
    with pytest.raises(ConfigError, match=r"unknown argument 'shoud_stop'; there are .*should_stop"):
        evaluate(AGENTS, TWO, 2, shoud_stop=lambda: True)  # type: ignore[call-arg]


# --- What people try first --------------------------------------------------------------------------------------------


def test_agents_by_name_lists_and_numpys_numbers(tmp_path: Path) -> None:
    """Where an object, a tuple, a Path or an int is wanted, a name, a list, a string or NumPy's int works as well."""
    by_name = evaluate(["random", "greedy"], TWO, np.int64(4), np.int32(50)).results[0]  # type: ignore[arg-type]
    assert_same(by_name, evaluate([RandomAgent(), GreedyAgent()], TWO, 4, 50).results[0])
    assert play_games(("random", "random"), TWO, 2, 0).agents == ("random", "random")
    assert play_match(["random", "greedy"], TWO, range(2)).agents == ("random", "greedy")
    assert play_tournament(["random", "greedy"], TWO, 2).labels
    assert Session(TWO, {np.int64(1): "greedy"}, hints="random").hints.name == "random"  # type: ignore[dict-item]
    assert review(Replay.of(TWO, 1, []), "ismcts-2").agent == "ismcts-2"
    assert Settings(layers=[4, 4]).layers == (4, 4)  # type: ignore[arg-type]
    assert type(Settings(steps=np.int64(4), minibatch=8).steps) is int  # type: ignore[arg-type]
    assert learner(folder=str(tmp_path / "run")).folder == tmp_path / "run"
    assert RolloutAgent(np.int64(2)).name == "rollout-2" and IsmctsAgent(np.int64(2)).name == "ismcts-2"  # type: ignore[arg-type]
    assert Batch(TWO, np.int64(2), num_threads=np.int64(1)).num_games == 2  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_number_of_workers() -> None:
    """A number of workers starts processes and ends them; so does `Processes` that is not opened."""
    here, other = evaluate(AGENTS, TWO, 80, 50), EVERGREEN.config(players=2)
    assert_same(here.results[0], evaluate(AGENTS, TWO, 80, 50, workers=2).results[0])
    one = Processes(1)
    assert_same(
        play_tournament(AGENTS, other, 20, 50).results, play_tournament(AGENTS, other, 20, 50, workers=one).results
    )
    assert not one.is_open
    for wrong in (0, -1, True, 10_001):
        with pytest.raises(ConfigError, match="workers="):
            evaluate(AGENTS, TWO, 10, workers=wrong)
