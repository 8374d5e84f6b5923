"""The one learner: every seat can learn; who else plays; logs, checkpoints and exact resume."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import evergreen_env
import petrichor_env
from petrichor_env.config import MODULES, VARIANTS, Config
from tabletop.agents import Decisions
from tabletop.errors import CheckpointError, ConfigError
from tabletop_agents import RandomAgent
from tabletop_agents.checkpoint import configs_of, read_notes, save_network, variety
from tabletop_training.learn.games import SeatGames
from tabletop_training.learn.learner import BEST, CURVE, EVALUATIONS, LEAGUE_LOG, POLICY, RESUME, Learner, Plan
from tabletop_training.learn.opponents import LEARNER, Opponents, OpponentSettings
from tabletop_training.learn.ppo import masked_log_probabilities, new_network
from tabletop_training.learn.task import Budget, EvaluationSettings, GamesSettings
from tabletop_training.learn.train import main, read_run
from tabletop_training.matches import play_match
from tabletop_training.settings import Settings
from tests.games import connect_four
from tests.support.networks import network_for

PETRICHOR, EVERGREEN = petrichor_env.GAME, evergreen_env.GAME
SMALL = Settings(num_envs=16, steps=32, minibatch=128, epochs=1, layers=(16,), threads=1, evaluate_every=2000)
FEW = EvaluationSettings(games=6)
LEAGUE = OpponentSettings(
    league=0.5, scripted=("random", "greedy"), agents={"random": 0.2}, snapshots=3, snapshot_steps=400, newest=0.4
)

PLANS = {
    "alone, level by level": (PETRICHOR, Plan(SMALL, GamesSettings((1,), curriculum=True), evaluation=FEW)),
    "against a league": (EVERGREEN, Plan(SMALL, GamesSettings((2,)), LEAGUE, FEW)),
    "with 2 and 3 players": (PETRICHOR, Plan(SMALL, GamesSettings((2, 3), {"modules": ("cactus",)}), LEAGUE, FEW)),
    "weighing shortfalls": (
        PETRICHOR,
        Plan(Settings(**{**vars(SMALL), "shortfall_weight": 2.0}), GamesSettings((1,), variety=True), evaluation=FEW),
    ),
}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def stops_after(updates: int) -> Any:
    left = iter([False] * updates)
    return lambda: next(left, True)


# --- A run -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLANS)
def test_a_resumed_run_ends_with_the_same_weights(name: str, tmp_path: Path) -> None:
    """It is stopped twice. The second part begins in another object, which draws other numbers first."""
    game, plan = PLANS[name]
    whole = Learner(game, plan, Budget(steps=5000), tmp_path / "whole", 3, tensorboard=False).run()
    folder = tmp_path / "parts"
    for updates in (3, 4, 10**9):
        part = Learner(game, plan, Budget(steps=5000), folder, 3, tensorboard=False)
        if (folder / RESUME).exists():
            part.table.play(part.network, 5)
            part.resume()
        part.should_stop = stops_after(updates) if updates < 10**9 else lambda: False
        part.run()
    assert part.steps == whole.steps >= 5000
    for one, other in zip(part.network.parameters(), whole.network.parameters(), strict=True):
        assert torch.equal(one, other)
    rows = [
        [{key: row[key] for key in row if key != "seconds"} for row in rows_of(path)]
        for path in (folder / CURVE, whole.folder / CURVE)
    ]
    assert rows[0] == rows[1] and len(rows[0]) > 7
    assert [steps for steps, _ in part.evaluations] == [steps for steps, _ in whole.evaluations]
    assert {POLICY, BEST, RESUME, CURVE, EVALUATIONS} <= {path.name for path in folder.iterdir()}
    if plan.opponents.league:
        assert (folder / LEAGUE_LOG).read_text(encoding="utf-8") == (whole.folder / LEAGUE_LOG).read_text("utf-8")
        kept = {f"snapshot-{member.steps}.zip" for member in part.opponents.members if member.steps >= 0}
        assert {path.name for path in (folder / "league").iterdir()} == kept


def test_it_learns_connect_four_from_both_seats(tmp_path: Path) -> None:
    """From nothing to four of five games against random play, in seconds."""
    settings = Settings(
        num_envs=128, steps=32, minibatch=1024, layers=(64,), learning_rate=3e-3, reward="win", threads=1
    )
    opponents = OpponentSettings(league=0.25, snapshots=3, snapshot_steps=20_000)
    plan = Plan(settings, GamesSettings((2,)), opponents, EvaluationSettings(("random",), 200))
    learner = Learner(connect_four.GAME, plan, Budget(steps=120_000), tmp_path, 4, tensorboard=False).run()
    results = play_match([learner.agent(), RandomAgent()], connect_four.GAME.config(), np.arange(200))
    assert np.nanmean(results.by_agent(results.win_shares)[:, 0]) > 0.8
    assert learner.evaluations[-1][1].numbers["win_rate_random"] > 0.75
    snapshots = learner.opponents.snapshots
    assert snapshots[0].steps == 0 and len(snapshots) == 3 and learner.steps - snapshots[-1].steps < 40_000
    last = rows_of(tmp_path / LEAGUE_LOG)[-3:]
    assert [row["player"] for row in last] == [
        f"snapshot-{one.steps}" for one in learner.opponents.members if one.active
    ]


def test_a_network_that_is_not_finite_any_more(tmp_path: Path) -> None:
    plan = Plan(SMALL, GamesSettings((2,)), evaluation=FEW)
    learner = Learner(connect_four.GAME, plan, Budget(steps=3000), tmp_path, 0, tensorboard=False)
    with torch.no_grad():
        next(iter(learner.network.value.parameters())).fill_(float("nan"))
    with pytest.raises(CheckpointError, match="not finite any more"):
        learner.run()


def test_states_of_other_runs_are_refused(tmp_path: Path) -> None:
    game, plan = PLANS["against a league"]
    Learner(game, plan, Budget(steps=600), tmp_path, 3, tensorboard=False, evaluate=False).run()
    other = Plan(Settings(**{**vars(SMALL), "epochs": 2}), plan.games, plan.opponents, plan.evaluation)
    with pytest.raises(CheckpointError, match="has other settings: epochs=1"):
        Learner(game, other, Budget(steps=600), tmp_path, 3).resume()
    with pytest.raises(CheckpointError, match=r"damaged or of another|differ in game"):
        Learner(connect_four.GAME, Plan(SMALL, plan.games), Budget(), tmp_path, 3).resume()
    whole = (tmp_path / RESUME).read_bytes()
    (tmp_path / RESUME).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match="damaged"):
        Learner(game, plan, Budget(steps=600), tmp_path, 3).resume()


# --- Who plays the other seats ---------------------------------------------------------------------------------------


def seated(opponents: Opponents, players: int) -> np.ndarray:
    return np.concatenate([opponents.seat(500, players) for _ in range(4)])


def test_shares_are_of_games(tmp_path: Path) -> None:
    settings = OpponentSettings(league=0.3, scripted=("random",), agents={"greedy": 0.4, "random": 0.1})
    opponents = Opponents(settings, [Config(players=3)], tmp_path, 0)
    opponents.take_snapshot(network_for(PETRICHOR), 0, np.zeros(0))
    seats = seated(opponents, 3)
    own = seats == LEARNER
    assert set(own.sum(axis=1).tolist()) == {1, 3}
    assert abs(own.all(axis=1).mean() - 0.2) < 0.04
    names = np.array([member.name for member in opponents.members])
    assert names.tolist() == ["random", "greedy", "random", "snapshot-0"]
    for index, share in ((1, 0.4), (2, 0.1)):
        there = (seats == index).any(axis=1)
        assert abs(there.mean() - share) < 0.04 and ((seats[there] == index).sum(axis=1) == 2).all()
    league = np.isin(seats, (0, 3)).any(axis=1)
    assert abs(league.mean() - 0.3) < 0.04 and set(seats[league].ravel().tolist()) == {LEARNER, 0, 3}
    assert (opponents.seat(5, 1) == LEARNER).all()


def remembering(act: Any, said: list[np.ndarray], decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
    said.append(act(decisions, generator))
    return said[-1]


def test_members_play_their_seats_and_nobody_learns_there(tmp_path: Path) -> None:
    """An agent is asked, and a rival's likeliest action is taken."""
    rival = network_for(PETRICHOR, seed=2)
    path = tmp_path / "rival.zip"
    save_network(PETRICHOR, rival, path, {"players": 3, "config": {"players": 3}})
    config = Config(players=3, modules=MODULES)
    for name in (f"policy:{path}", "greedy"):
        opponents = Opponents(OpponentSettings(agents={name: 1.0}), [config], tmp_path, 0)
        games = SeatGames(GamesSettings((3,), {"modules": MODULES}).curricula(PETRICHOR, 0), 8, SMALL, 5, opponents)
        asked: list[np.ndarray] = []
        member = opponents.members[0]
        if member.agent is not None:
            act = member.agent.act

            member.agent.act = partial(remembering, act, asked)  # type: ignore[method-assign]
        rollout, ends = games.play(new_network(PETRICHOR, SMALL), 400)
        mine = rollout.deciding
        theirs = (rollout.masks.sum(dim=2) > 1) & ~mine
        assert mine.any() and theirs.sum() > 100
        if asked:
            assert rollout.actions[theirs].tolist() == np.concatenate(asked).tolist()
        else:
            seen = games.scaled(rollout.observations[theirs])
            likeliest = masked_log_probabilities(rival.policy(rival.trunk(seen)), rollout.masks[theirs]).argmax(dim=1)
            assert (rollout.actions[theirs] == likeliest).all()
        found, seats = ends.of_learner()
        assert len(found) == len(ends.configs) > 0
        assert (ends.players[found, seats] == LEARNER).all() and (ends.lengths > 20).all()


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"league": 1.5}, "league=1.5: must be a share from 0 to 1"),
        ({"league": 0.7, "agents": {"greedy": 0.5}}, "league=0.7, greedy=0.5: the shares must be at most 1 together"),
        ({"agents": {"greedy": -0.5}}, "greedy=-0.5: must be a share"),
        ({"agents": {"greedy": "much"}}, "agents="),
        ({"snapshots": 2}, "snapshots=2: must be at least 3"),
        ({"scripted": ("random", "random")}, "different agents"),
        ({"floor": 0.0}, "floor=0.0"),
    ],
)
def test_wrong_opponents(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        OpponentSettings(**settings)


def test_agents_that_cannot_play_are_refused(tmp_path: Path) -> None:
    for name, text in (("nobody", "agent 'nobody': must be one of"), ("policy:solo", "policy:solo was trained for ")):
        with pytest.raises(ConfigError, match=text):
            Opponents(OpponentSettings(agents={name: 0.1}), [Config(players=3)], tmp_path, 0)


# --- What is learned -------------------------------------------------------------------------------------------------


def test_games_of_a_table() -> None:
    made = GamesSettings.of_table(PETRICHOR, {"players": 1, "variants": ["double_card"]})
    assert made.levels(PETRICHOR) == {1: [[Config(variants=("double_card",))]]}
    assert GamesSettings.of_table(PETRICHOR, made.table()) == made
    curriculum = made.changed(PETRICHOR, {"curriculum": True})
    assert [len(level) for level in curriculum.levels(PETRICHOR)[1]] == [len(one) for one in Config().curriculum()]
    assert not curriculum.changed(PETRICHOR, {"variants": VARIANTS}).curriculum
    everything = GamesSettings(variety=True).levels(PETRICHOR)
    assert everything.keys() == {2, 3, 4, 5} and everything[4] == [list(variety(Config(players=4)))]
    for wrong, text in (
        ({"players": [2, 2]}, "each number once"),
        ({"players": [9]}, "players=9"),
        ({"weather": 1}, "unknown key weather"),
        ({"curriculum": True, "players": [2]}, "curriculum"),
        ({"curriculum": True, "variety": True}, "give one of them"),
    ):
        with pytest.raises(ConfigError, match=text):
            GamesSettings.of_table(EVERGREEN if "curriculum" in wrong and "players" in wrong else PETRICHOR, wrong)


# --- The command's function ------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(
        "[learning]\nnum_envs = 24\nsteps = 16\nminibatch = 128\ntrunk = [16]\nlayers = [16]\nthreads = 1\n"
        "[games]\nvariety = true\n[opponents]\nleague = 0.3\nagents = { greedy = 0.2 }\n"
        "[evaluation]\ngames = 2\nagainst = ['random']\n",
        encoding="utf-8",
    )
    return path


def test_a_run_of_everything(tiny: Path, tmp_path: Path) -> None:
    told: list[Any] = []
    folder = main(PETRICHOR, tiny, steps=1500, output=tmp_path / "run", on_result=told.append)
    for name in (POLICY, BEST):
        training = read_notes(PETRICHOR, folder / name)["training"]
        assert training["players"] == [2, 3, 4, 5] and training["general"]
    assert {config.players for config in configs_of(PETRICHOR, training, folder)} == {2, 3, 4, 5}
    assert json.loads(json.dumps(told[0]))["steps"] >= 1500 and told[0]["league"][0]["player"] == "learner"
    plan, budget, _ = read_run(folder, PETRICHOR)
    assert budget == Budget(steps=1500) and plan.opponents.agents == {"greedy": 0.2}
    with pytest.raises(ConfigError, match="already finished"):
        main(PETRICHOR, resume=folder)
    assert main(PETRICHOR, resume=folder, steps=2500) == folder
    assert int(rows_of(folder / CURVE)[-1]["steps"]) >= 2500


def test_a_run_against_a_rival(tiny: Path, tmp_path: Path) -> None:
    start = tmp_path / "start.zip"
    network = new_network(PETRICHOR, Settings(trunk=(16,), layers=(16,)))
    save_network(PETRICHOR, network, start, {"players": 2, "config": {"players": 2, "modules": ["cactus"]}})
    options: Any = {"start": str(start), "rival": str(start), "steps": 400}
    folder = main(PETRICHOR, tiny, output=tmp_path / "run", **options)
    training = read_notes(PETRICHOR, folder / POLICY)["training"]
    assert training["rival"] == str(start) and configs_of(PETRICHOR, training, folder) == [
        Config(players=2, modules=("cactus",))
    ]
    rows = rows_of(folder / CURVE)
    assert all(row["games"] == row["all_games"] for row in rows)
    assert main(PETRICHOR, resume=folder, steps=800) == folder
