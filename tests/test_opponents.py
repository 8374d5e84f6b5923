"""Who plays the other seats: the league of earlier selves, agents by name, and how the learner fares against them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from petrichor_env import GAME
from petrichor_env.config import MODULES, Config
from tabletop_agents.checkpoint import save_network
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.agents import Decisions
from tabletop_training.files.settings import Settings
from tabletop_training.learn.games import SeatGames
from tabletop_training.learn.learner import Learner
from tabletop_training.learn.opponents import ANCHOR, LEARNER, LEARNER_NAME, Opponents, OpponentSettings, read_snapshots
from tabletop_training.learn.plan import Plan
from tabletop_training.learn.ppo import masked_log_probabilities, new_network
from tabletop_training.learn.task import Budget, GamesSettings
from tabletop_training.measure.ratings import START_MU
from tests.support.networks import network_for

SMALL = Settings(num_envs=16, steps=32, minibatch=128, epochs=1, layers=(16,), threads=1)
NOBODY = np.zeros(0, int)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def league_in(folder: Path, players: int = 2, **settings: Any) -> Opponents:
    """A league with `random` and `greedy`, whose earlier selves are in the folder."""
    told = OpponentSettings(**{"league": 1.0, "scripted": ("random", "greedy"), "snapshot_steps": 1, **settings})
    return Opponents(told, [Config(players=players)], folder, 0)


def record(opponents: Opponents, member: int, *places: tuple[int, int]) -> None:
    """Count games for two against a member, with the learner's place and the member's."""
    for place in places:
        opponents.record(np.array([LEARNER, member]), np.array(place))


WON, LOST, EVEN = (1, 2), (2, 1), (1, 1)


def seated(opponents: Opponents, players: int) -> np.ndarray:
    return np.concatenate([opponents.seat(500, players) for _ in range(4)])


def test_shares_are_of_games(tmp_path: Path) -> None:
    settings = OpponentSettings(league=0.3, scripted=("random",), agents={"greedy": 0.4, "random": 0.1})
    opponents = Opponents(settings, [Config(players=3)], tmp_path, 0)
    opponents.take_snapshot(network_for(GAME), 0, np.zeros(0))
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


def test_harder_members_are_drawn_more_often(tmp_path: Path) -> None:
    opponents = league_in(tmp_path, 3, newest=0.3, power=1.5)
    assert opponents.shares().tolist() == [0.5, 0.5]
    network = network_for(GAME)
    for steps in (0, 100, 200):
        opponents.take_snapshot(network, steps, NOBODY)
    names = [member.name for member in opponents.members]
    assert names == ["random", "greedy", "snapshot-0", "snapshot-100", "snapshot-200"]
    for index, chance in enumerate((1.0, 0.2, 0.9, 0.6, 0.5)):  # the chances that the learner finishes ahead
        for ahead in np.random.default_rng(index).random(100) < chance:
            places = np.array([1, 2, 2] if ahead else [3, 1, 1])
            opponents.record(np.array([LEARNER, index, index]), places)
    shares = opponents.shares()
    assert shares.sum() == pytest.approx(1)
    assert shares[4] > 0.3
    rest = dict(zip(names, shares, strict=True))
    assert 0 < rest["random"] < rest["snapshot-0"] < rest["snapshot-100"] < rest["greedy"]
    seats = opponents.seat(20_000, 3)
    assert ((seats == LEARNER).sum(axis=1) == 1).all()
    others = seats[seats != LEARNER].reshape(-1, 2)
    assert np.abs(np.bincount(others.ravel(), minlength=5) / 40_000 - shares).max() < 0.01
    assert abs(np.corrcoef(others[:, 0], others[:, 1])[0, 1]) < 0.03  # seats are drawn one by one


def test_old_results_fade(tmp_path: Path) -> None:
    opponents = league_in(tmp_path, memory=50)
    member = opponents.members[0]
    record(opponents, 0, *[LOST] * 500)
    assert member.learner_ahead < 0.05
    record(opponents, 0, *[WON] * 200)
    assert member.learner_ahead > 0.9
    assert member.games == pytest.approx(50, abs=1)
    record(opponents, 0, *[EVEN] * 300)
    assert member.learner_ahead == pytest.approx(0.5, abs=0.01)


def test_which_snapshots_are_kept(tmp_path: Path) -> None:
    opponents, network = league_in(tmp_path, snapshots=5), network_for(GAME)
    for steps in range(0, 2100, 100):
        opponents.take_snapshot(network, steps, NOBODY)
        if steps == 700:  # this one is the strongest, though not the newest
            index = [member.name for member in opponents.members].index("snapshot-700")
            record(opponents, index, *[LOST] * 300)
    kept = [member.steps for member in opponents.snapshots]
    assert len(kept) == 5
    assert {0, 700, 2000} <= set(kept)
    assert max(np.diff(kept)) <= 1000  # none of the rest are close together
    assert len(opponents.members) == 2 + 6  # free places in the list are used again
    assert len(list(tmp_path.iterdir())) == 21
    opponents.remove_unused_files()
    named = {f"snapshot-{member.steps}.zip" for member in opponents.members if member.steps >= 0}
    assert {path.name for path in tmp_path.iterdir()} == named
    assert {rating.name for rating in opponents.ratings} <= {LEARNER_NAME, *(one.name for one in opponents.members)}


def test_a_dropped_member_keeps_its_place_while_it_plays(tmp_path: Path) -> None:
    opponents, network = league_in(tmp_path, snapshots=3), network_for(GAME)
    for steps in (0, 100, 200):
        opponents.take_snapshot(network, steps, NOBODY)
    opponents.take_snapshot(network, 300, np.array([2, 3, 4]))
    dropped = next(i for i, member in enumerate(opponents.members) if not member.active)
    assert opponents.shares()[dropped] == 0
    assert dropped not in opponents.seat(2000, 2)
    resumed = league_in(tmp_path, snapshots=3)
    state = opponents.get_state()
    resumed.set_state(state, network, read_snapshots(tmp_path, state))
    assert [member.active for member in resumed.members] == [member.active for member in opponents.members]
    assert resumed.shares().tolist() == opponents.shares().tolist()
    name = opponents.members[dropped].name
    record(opponents, dropped, WON)  # its last game
    opponents.take_snapshot(network, 400, np.array([dropped]))
    assert opponents.members[dropped].name == name and len(opponents.members) == 7
    opponents.take_snapshot(network, 500, NOBODY)
    assert opponents.members[dropped].name == "snapshot-500" and len(opponents.members) == 7


def test_when_a_snapshot_is_due(tmp_path: Path) -> None:
    opponents, network = league_in(tmp_path, snapshot_steps=1000), network_for(GAME)
    for steps in (0, 999, 1000):
        opponents.take_snapshot(network, steps, NOBODY)
    assert [member.steps for member in opponents.snapshots] == [0, 1000]
    with torch.no_grad():
        next(network.parameters()).zero_()
    copied = opponents.snapshots[0].network
    assert copied is not None and next(copied.parameters()).any()  # the copy has its own weights


def test_a_snapshot_starts_with_the_learners_rating(tmp_path: Path) -> None:
    opponents = league_in(tmp_path)
    record(opponents, 0, *[WON] * 50)
    learner = opponents.ratings[LEARNER_NAME]
    assert learner.mu > START_MU == opponents.ratings[ANCHOR].mu
    opponents.take_snapshot(network_for(GAME), 100, NOBODY)
    rating = opponents.ratings["snapshot-100"]
    assert (rating.mu, rating.sigma) == (learner.mu, learner.sigma)


@pytest.mark.parametrize("players", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_results_reach_the_league(players: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only results of games in which the league has all other seats."""
    league = OpponentSettings(
        league=0.6, agents={"random": 0.2}, scripted=("random", "greedy"), snapshots=3, snapshot_steps=300
    )
    plan = Plan(SMALL, GamesSettings((players,)), league, budget=Budget(steps=4000), seed=3)
    learner = Learner(GAME, plan, tmp_path, tensorboard=False, evaluate=False)
    play, add = learner.table.play, learner.opponents.ratings.add
    expected: list[tuple[str, ...]] = []
    recorded: list[tuple[tuple[str, ...], tuple[int, ...]]] = []

    def played(*given: Any) -> Any:
        rollout, ends = play(*given)
        for game in range(len(ends.configs)):
            others = [learner.opponents.members[one] for one in ends.players[game, :players] if one != LEARNER]
            if len(others) == players - 1 and all(member.in_league for member in others):
                mine = int(np.flatnonzero(ends.players[game, :players] == LEARNER)[0])
                order = [mine, *(seat for seat in range(players) if seat != mine)]
                names = (LEARNER_NAME, *(member.name for member in others))
                expected.append((*names, *(str(ends.points[game, seat]) for seat in order)))
        return rollout, ends

    def added(names: Any, places: Any) -> None:
        recorded.append((tuple(names), tuple(places)))
        add(names, places)

    monkeypatch.setattr(learner.table, "play", played)
    monkeypatch.setattr(learner.opponents.ratings, "add", added)
    learner.run()
    assert len(expected) == len(recorded) > 25
    for told, (names, places) in zip(expected, recorded, strict=True):
        points = [int(one) for one in told[players:]]
        assert told[:players] == names
        assert all(places[i] < places[j] for i in range(players) for j in range(players) if points[i] > points[j])
    rows = learner.opponents.rows(learner.steps)
    assert [row["games"] for row in rows if row["player"] == LEARNER_NAME] == [len(recorded)]
    assert sum(row["share"] or 0 for row in rows) == pytest.approx(1, abs=0.001)
    assert [row["rating"] for row in rows if row["player"] == ANCHOR] == [START_MU]


def test_running_games_keep_their_players(tmp_path: Path) -> None:
    opponents = league_in(tmp_path, 3, snapshots=3, newest=0.5)
    games = SeatGames(GamesSettings((3,)).curricula(GAME, 0), 12, SMALL, 5, opponents)
    network, seen = new_network(GAME, SMALL), []

    def names() -> list[list[str]]:
        members = [*(member.name for member in opponents.members), LEARNER_NAME]
        return [[members[one] for one in seats] for seats in games.players]

    for steps in range(0, 300, 20):
        opponents.take_snapshot(network, steps, games.players)
        before = names()
        rollout, _ = games.play(network, 20, lambda: seen.append(names()))
        for t, now in enumerate(seen):
            for game, (then, there) in enumerate(zip(before, now, strict=True)):
                assert then == there or rollout.dones[t, game]
            before = now
        seen.clear()
    assert len(opponents.snapshots) == 3 and len(opponents.members) < 12


def test_an_agent_is_asked_for_all_its_games_in_one_call(tmp_path: Path) -> None:
    opponents = Opponents(OpponentSettings(agents={"random": 1.0}), [Config(players=2)], tmp_path, 0)
    games = SeatGames(GamesSettings((2,)).curricula(GAME, 0), 40, SMALL, 5, opponents)
    asked: list[np.ndarray] = []
    agent: Any = opponents.members[0].agent
    agent.act = partial(remembering, agent.act, asked)
    games.play(new_network(GAME, SMALL), 30)
    assert len(asked) <= 30 and max(map(len, asked)) > 10


def remembering(act: Any, said: list[np.ndarray], decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
    said.append(act(decisions, generator))
    return said[-1]


def test_members_play_their_seats_and_nobody_learns_there(tmp_path: Path) -> None:
    """An agent is asked for its action; a rival plays its likeliest action."""
    rival = network_for(GAME, seed=2)
    path = tmp_path / "rival.zip"
    save_network(GAME, rival, path, {"players": 3, "config": {"players": 3}})
    config = Config(players=3, modules=MODULES)
    for name in (f"policy:{path}", "greedy"):
        opponents = Opponents(OpponentSettings(agents={name: 1.0}), [config], tmp_path, 0)
        games = SeatGames(GamesSettings((3,), {"modules": MODULES}).curricula(GAME, 0), 8, SMALL, 5, opponents)
        asked: list[np.ndarray] = []
        member = opponents.members[0]
        if member.agent is not None:
            act = member.agent.act

            member.agent.act = partial(remembering, act, asked)  # type: ignore[method-assign]
        rollout, ends = games.play(new_network(GAME, SMALL), 400)
        mine = rollout.deciding
        theirs = (rollout.masks.sum(dim=2) > 1) & ~mine
        assert mine.any() and theirs.sum() > 100
        if asked:
            assert rollout.actions[theirs].tolist() == np.concatenate(asked).tolist()
        else:
            seen = games.inputs(rollout.observations[theirs], rollout.editions[theirs])
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
        ({"snapshot_steps": 0}, "snapshot_steps=0: must be at least 1"),
        ({"newest": 1.5}, "newest=1.5: must be a share"),
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
