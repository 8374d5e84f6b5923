"""Ratings, the league, its games, and learning by self-play."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from scipy import stats
from tabletop_training.league import ANCHOR, LEARNER, League, LeagueSettings, Snapshot
from tabletop_training.learning import Budget, Learner
from tabletop_training.ppo import Trunk
from tabletop_training.runs import main as learn_main
from tabletop_training.runs import write_run
from tabletop_training.selfplay import LeagueGames, SelfPlaySettings, new_learner

from petrichor_env import GAME
from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.config import Config
from petrichor_env.observation import LAYOUT, OBSERVATION_SIZE
from petrichor_env.state import NOBODY, STATE
from tabletop.agents import Decisions
from tabletop.batch import Batch
from tabletop.errors import CheckpointError, ConfigError
from tabletop_agents import RandomAgent, make_agent
from tabletop_agents.checkpoint import read_notes
from tabletop_agents.policy import PolicyAgent
from tabletop_cli import petrichor as cli
from tabletop_training.evaluation import play_games
from tabletop_training.ratings import START_MU, START_SIGMA, Rating, Ratings, rate_games
from tabletop_training.resume import save_tree
from tabletop_training.settings import Settings, read_settings


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Torch's threads wait for each other by spinning: many times slower where other programs use the cores."""
    torch.set_num_threads(1)


def selfplay_main(**options: Any) -> Path:
    return learn_main(GAME, "selfplay", **options)


def places(scores: np.ndarray) -> np.ndarray:
    """Of games with these scores: 1 for the most; equal ones share the better place."""
    return np.asarray(stats.rankdata(-scores, method="min", axis=1), np.int64)


def make_policy(seed: int = 0, layers: tuple[int, ...] = (16,), **build: Any) -> MaskableActorCriticPolicy:
    """An untrained network of MaskablePPO whose moves are far from uniform."""
    torch.manual_seed(seed)
    policy = MaskableActorCriticPolicy(
        spaces.Box(LAYOUT.low, LAYOUT.high, (OBSERVATION_SIZE,), np.float32),
        spaces.Discrete(NUM_ACTIONS),
        lambda _: 1e-3,
        net_arch=list(layers),
        **{"activation_fn": torch.nn.ReLU, **build},
    )
    with torch.no_grad():
        for parameter in policy.action_net.parameters():
            parameter.mul_(200)
    return policy


# --- Ratings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_ratings_find_the_order_and_the_distance(players: int) -> None:
    """Of games drawn from the model itself: who is stronger, and by how much in the model's own unit."""
    generator = np.random.default_rng(players)
    ratings, scale = Ratings(), np.sqrt(players) * 25 / 6
    names = [f"strength {i}" for i in range(players)]
    for _ in range(1500):
        scores = generator.gumbel(size=players) + 0.8 * np.arange(players)
        ratings.add(names, places(scores[None])[0])
    assert [rating.name for rating in ratings.table()] == names[::-1]
    gaps = np.diff([ratings[name].mu for name in names]) / scale
    assert np.allclose(gaps.mean(), 0.8, atol=0.25)
    for name in names:
        rating = ratings[name]
        assert rating.games == 1500
        assert rating.low < rating.mu < rating.high
        assert rating.high - rating.low == pytest.approx(2 * 1.959964 * rating.sigma)
        assert 0 < rating.sigma < START_SIGMA / 3


def test_ratings_do_not_depend_on_seats() -> None:
    players, order = ("a", "b", "c", "d"), (1, 2, 2, 4)
    expected = None
    for seats in permutations(range(4)):
        ratings = Ratings()
        ratings.add(["c", "d"], [1, 2])
        ratings.add([players[i] for i in seats], [order[i] for i in seats])
        got = [(rating.name, rating.mu, rating.sigma) for rating in ratings.table()]
        expected = expected or got
        for (name, mu, sigma), (other, other_mu, other_sigma) in zip(got, expected, strict=True):
            assert name == other
            assert (mu, sigma) == pytest.approx((other_mu, other_sigma), abs=1e-9)


def test_a_tie_brings_ratings_together() -> None:
    ratings = Ratings()
    ratings.add(["a", "b"], [1, 1])
    assert ratings["a"].mu == pytest.approx(ratings["b"].mu) == START_MU
    assert ratings["a"].sigma < START_SIGMA
    for _ in range(5):
        ratings.add(["a", "c"], [1, 2])
    before = ratings["a"].mu - ratings["c"].mu
    assert before > 5
    ratings.add(["a", "c"], [1, 1])
    assert 0 < ratings["a"].mu - ratings["c"].mu < before


def test_fixed_and_drifting_players() -> None:
    ratings = Ratings(fixed={"anchor": 25.0}, drifting=("learner",))
    for game in range(2000):
        order = [1, 2] if game % 4 else [2, 1]
        ratings.add(["learner", "anchor"], order)
        ratings.add(["still", "anchor"], order)
    assert (ratings["anchor"].mu, ratings["anchor"].games) == (25.0, 4000)
    assert ratings["anchor"].sigma < 0.01
    assert 25 < ratings["still"].mu < 35
    assert ratings["learner"].sigma > 1.5 * ratings["still"].sigma
    before = ratings["learner"].mu - ratings["still"].mu
    for _ in range(100):
        ratings.add(["learner", "anchor"], [2, 1])
        ratings.add(["still", "anchor"], [2, 1])
    assert ratings["learner"].mu - ratings["still"].mu < before  # it is believed to have changed


def test_one_player_in_several_seats() -> None:
    ratings = Ratings()
    ratings.add(["a", "a", "a"], [1, 2, 3])
    assert ratings["a"] == Rating("a", games=1)
    ratings.add(["a", "b", "a"], [1, 2, 3])  # as much above as below the other
    assert ratings["a"].mu == pytest.approx(START_MU, abs=1.0)
    above = Ratings()
    above.add(["a", "b", "a"], [1, 3, 2])
    assert above["a"].mu > START_MU > above["b"].mu
    assert above["a"].games == above["b"].games == 1


def test_copies_forgotten_players_and_saved_ratings() -> None:
    ratings = Ratings(fixed={"anchor": 25.0})
    ratings.add(["a", "anchor"], [1, 2])
    ratings.start("copy", ratings["a"])
    assert (ratings["copy"].mu, ratings["copy"].sigma, ratings["copy"].games) == (
        ratings["a"].mu,
        ratings["a"].sigma,
        0,
    )
    with pytest.raises(ConfigError, match="'copy' has been rated already"):
        ratings.start("copy", ratings["a"])
    again = Ratings(fixed={"anchor": 25.0})
    again.set_state(json.loads(json.dumps(ratings.get_state())))
    for one in (ratings, again):
        one.add(["copy", "a", "anchor"], [1, 2, 3])
    assert again.table() == ratings.table()
    ratings.forget("a")
    assert "a" not in ratings and "copy" in ratings
    assert ratings["a"] == Rating("a")


def test_games_in_a_drawn_order() -> None:
    generator = np.random.default_rng(1)
    games = [
        (["a", "b"] if pairing == 0 else ["b", "c"], [1, 2] if generator.random() < 0.7 else [2, 1])
        for pairing in (0, 1)
        for _ in range(200)
    ]
    first, again, other, as_given = (rate_games(games, seed=seed).table() for seed in (1, 1, 2, None))
    assert first == again
    assert first != other != as_given
    for one in (first, other):
        assert [rating.name for rating in one] == ["a", "b", "c"]
        assert [rating.games for rating in one] == [200, 400, 200]
    assert max(abs(a.mu - b.mu) for a, b in zip(first, other, strict=True)) < 3 * first[0].sigma


@pytest.mark.parametrize(("players", "order"), [(["a"], [1]), (["a", "b"], [1]), ([], [])])
def test_games_that_cannot_be_rated(players: list[str], order: list[int]) -> None:
    with pytest.raises(ConfigError, match="must be two or more, with a place each"):
        Ratings().add(players, order)


# --- Snapshots -------------------------------------------------------------------------------------------------------

BUILDS: dict[str, dict[str, Any]] = {
    "one layer": {},
    "two, tanh": {"layers": (16, 8), "activation_fn": torch.nn.Tanh},
    "trunk": {"features_extractor_class": Trunk, "features_extractor_kwargs": {"layers": (16, 12)}},
    "trunk alone": {"layers": (), "features_extractor_class": Trunk, "features_extractor_kwargs": {"layers": (16,)}},
    "none": {"layers": ()},
}


@pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
def test_snapshot_plays_what_the_network_played(build: dict[str, Any], tmp_path: Path) -> None:
    policy = make_policy(**build)
    snapshot = Snapshot.of(policy, "then", GAME)
    batch = Batch(Config(players=2), 300, 0)
    with torch.no_grad():
        likely: Any = policy.get_distribution(torch.from_numpy(batch.observations), batch.action_masks.astype(bool))
        chances = likely.distribution.probs.numpy()
        for parameter in policy.parameters():
            parameter.zero_()  # the copy is its own
    snapshot.save(tmp_path / "then.zip")
    loaded = Snapshot.load(tmp_path / "then.zip", "then", GAME)
    counts = np.zeros_like(chances)
    generator, same = np.random.default_rng(0), np.random.default_rng(0)
    draws, games = 300, np.arange(300)
    for _ in range(draws):
        actions = snapshot.act(Decisions.of(batch), generator)
        assert np.array_equal(actions, loaded.act(Decisions.of(batch), same))
        assert batch.action_masks[games, actions].all()
        counts[games, actions] += 1
    assert np.abs(counts.sum(axis=0) / draws - chances.sum(axis=0)).max() < 300 * 0.02
    assert np.abs(counts / draws - chances).max() < 0.17
    assert np.abs(counts / draws - chances).mean() < 0.02


def test_a_snapshot_plays_alike_whatever_the_learner_computes_in() -> None:
    snapshot = Snapshot.of(make_policy(layers=(64, 64)), "then", GAME)
    batch = Batch(Config(players=2), 200, 0)
    before = torch.get_float32_matmul_precision()
    played = []
    for precision in ("highest", "medium"):
        torch.set_float32_matmul_precision(precision)
        try:
            played.append(snapshot.act(Decisions.of(batch), np.random.default_rng(0)))
            assert torch.get_float32_matmul_precision() == precision
        finally:
            torch.set_float32_matmul_precision(before)
    assert np.array_equal(played[0], played[1])


def test_a_snapshot_is_small_and_has_no_optimizer(tmp_path: Path) -> None:
    Snapshot.of(make_policy(layers=(128, 128)), "then", GAME).save(tmp_path / "then.zip")
    weights = OBSERVATION_SIZE * 128 + 128 + 128 * 128 + 128 + 128 * NUM_ACTIONS + NUM_ACTIONS
    assert (tmp_path / "then.zip").stat().st_size < 4 * weights + 5000


def test_networks_that_cannot_be_copied() -> None:
    with pytest.raises(ConfigError, match=r"connected networks with ReLU or Tanh .* are kept and copied, not .* ELU"):
        Snapshot.of(make_policy(activation_fn=torch.nn.ELU), "then", GAME)


def test_snapshots_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "snapshot-5.zip"
    with pytest.raises(CheckpointError, match=r"snapshot-5\.zip: there is no such file"):
        Snapshot.load(path, "then", GAME)
    Snapshot.of(make_policy(), "then", GAME).save(path)
    whole = path.read_bytes()
    for size in (0, 100, len(whole) // 2):
        path.write_bytes(whole[:size])
        with pytest.raises(CheckpointError, match=r"snapshot-5\.zip: is damaged"):
            Snapshot.load(path, "then", GAME)
    trees: list[Any] = [
        [],
        {},
        {"activation": "ReLU", "layers": [3]},
        {"activation": "ReLU", "layers": [[[1.0], [2.0]]]},
    ]
    for tree in trees:
        save_tree(path, tree)
        with pytest.raises(CheckpointError, match=r"snapshot-5\.zip: holds no snapshot"):
            Snapshot.load(path, "then", GAME)
    narrow = [(np.zeros((16, 10), np.float32), np.zeros(16, np.float32))]
    with pytest.raises(CheckpointError, match=r"do not lead from \d+ observed numbers"):
        Snapshot("then", GAME, narrow, "ReLU")


# --- The league ------------------------------------------------------------------------------------------------------


def make_league(folder: Path, opponents: int = 1, seed: int = 0, **settings: Any) -> League:
    return League(LeagueSettings(**settings), GAME, opponents, folder, seed)


def test_harder_members_are_drawn_more_often(tmp_path: Path) -> None:
    league = make_league(tmp_path, opponents=2, newest=0.3)
    assert league.shares().tolist() == [0.5, 0.5]
    for steps in (0, 100, 200):
        league.add(make_policy(steps), steps)
    names = [agent.name for agent in league.agents]
    assert names == ["random", "greedy", "snapshot-0", "snapshot-100", "snapshot-200"]
    for index, chance in enumerate((1.0, 0.2, 0.9, 0.6, 0.5)):  # of the learner finishing ahead
        ahead = np.random.default_rng(index).random(100) < chance
        league.record(np.full((100, 2), index), np.where(ahead[:, None], [1, 2, 2], [3, 1, 1]))
    shares = league.shares()
    assert shares.sum() == pytest.approx(1)
    assert shares[4] > 0.3
    rest = dict(zip(names, shares, strict=True))
    assert 0 < rest["random"] < rest["snapshot-0"] < rest["snapshot-100"] < rest["greedy"]
    drawn = league.assign(np.arange(20_000))
    assert drawn.shape == (20_000, 2) and drawn.dtype == np.int64
    assert np.abs(np.bincount(drawn.ravel(), minlength=5) / 40_000 - shares).max() < 0.01
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1]) < 0.03  # seats are drawn one by one


def test_old_results_fade(tmp_path: Path) -> None:
    league = make_league(tmp_path, memory=50)
    league.record(np.zeros((500, 1), int), np.tile([2, 1], (500, 1)))
    assert league.members[0].learner_ahead < 0.05
    league.record(np.zeros((200, 1), int), np.tile([1, 2], (200, 1)))
    assert league.members[0].learner_ahead > 0.9
    assert league.members[0].games == pytest.approx(50, abs=1)
    league.record(np.zeros((300, 1), int), np.tile([1, 1], (300, 1)))
    assert league.members[0].learner_ahead == pytest.approx(0.5, abs=0.01)


def test_which_snapshots_are_kept(tmp_path: Path) -> None:
    league = make_league(tmp_path, snapshots=5)
    for steps in range(0, 2100, 100):
        league.add(make_policy(), steps)
        if steps == 700:  # the strongest of all, though not the newest
            index = [agent.name for agent in league.agents].index("snapshot-700")
            league.record(np.full((300, 1), index), np.tile([2, 1], (300, 1)))
    kept = [member.steps for member in league.snapshots]
    assert len(kept) == 5
    assert {0, 700, 2000} <= set(kept)
    assert max(np.diff(kept)) <= 1000  # none of the rest are close together
    assert len(league.members) == 2 + 6  # places are used again
    assert len(list(tmp_path.iterdir())) == 21
    league.remove_unused_files()
    named = {f"snapshot-{member.steps}.zip" for member in league.members if member.steps >= 0}
    assert {path.name for path in tmp_path.iterdir()} == named
    assert {rating.name for rating in league.ratings} <= {LEARNER, *(agent.name for agent in league.agents)}


def test_a_dropped_member_keeps_its_place_while_it_plays(tmp_path: Path) -> None:
    league = make_league(tmp_path, snapshots=3)
    for steps in (0, 100, 200):
        league.add(make_policy(), steps)
    league.add(make_policy(), 300, playing={2, 3, 4})
    dropped = next(i for i, member in enumerate(league.members) if not member.active)
    assert league.shares()[dropped] == 0
    assert dropped not in league.assign(np.arange(2000))
    name = league.agents[dropped].name
    league.record(np.array([[dropped]]), np.array([[1, 2]]))  # its last game
    league.add(make_policy(), 400, playing={dropped})
    assert league.agents[dropped].name == name and len(league.members) == 7
    league.add(make_policy(), 500)
    assert league.agents[dropped].name == "snapshot-500" and len(league.members) == 7


def test_when_a_snapshot_is_due(tmp_path: Path) -> None:
    league = make_league(tmp_path, snapshot_steps=1000)
    assert league.due(0)
    league.add(make_policy(), 0)
    assert not league.due(999)
    assert league.due(1000)


def test_a_snapshot_starts_with_the_learners_rating(tmp_path: Path) -> None:
    league = make_league(tmp_path)
    league.record(np.zeros((50, 1), int), np.tile([1, 2], (50, 1)))
    learner = league.ratings[LEARNER]
    assert learner.mu > START_MU == league.ratings[ANCHOR].mu
    name = league.add(make_policy(), 100).name
    assert (league.ratings[name].mu, league.ratings[name].sigma) == (learner.mu, learner.sigma)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"snapshot_steps": 0}, "snapshot_steps=0: must be at least 1"),
        ({"snapshots": 2}, "snapshots=2: must be at least 3"),
        ({"scripted": ()}, "one or more different agents"),
        ({"scripted": ("random", "random")}, "one or more different agents"),
        ({"newest": 1.5}, "newest=1.5: must be a share"),
        ({"floor": 0.0}, "floor above 0"),
    ],
)
def test_settings_that_make_no_league(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        LeagueSettings(**settings)


def test_an_unknown_scripted_agent(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="gredy"):
        make_league(tmp_path, scripted=("gredy",))


# --- Its games -------------------------------------------------------------------------------------------------------


def test_final_places() -> None:
    states = np.zeros(4, STATE)
    states["forfeited"] = NOBODY
    states["actor"] = NOBODY
    states["players"] = states["owners"] = 3
    states["points"][:, :3] = [[30, 20, 20], [30, 30, 30], [30, 30, 30], [50, 40, 60]]
    states["voting_wins"][:, :3] = [[0, 3, 1], [2, 2, 1], [1, 1, 1], [9, 9, 9]]
    states["forfeited"][3] = 2
    assert Batch(Config(players=3)).places(states).tolist() == [[1, 2, 3], [1, 1, 3], [1, 1, 1], [1, 1, 3]]


class Spy:
    """Plays at random; remembers in which calls it was asked how much."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: list[int] = []

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        self.calls.append(len(decisions))
        return RandomAgent().act(decisions, generator)


def make_games(folder: Path, players: int, num_games: int = 40, seed: int = 0) -> LeagueGames:
    league = make_league(folder, players - 1, seed, snapshots=3, newest=0.2)
    return LeagueGames(league, Config(players=players), num_games, seed=seed, reward="margin", new_observations=True)


def play(games: LeagueGames, steps: int, seed: int = 0) -> list[Any]:
    """Random moves of the learner; everything that can be seen of them."""
    generator, seen = np.random.default_rng(seed), []
    for _ in range(steps):
        games.step(RandomAgent().act(Decisions.of(games.batch), generator))
        seen.append((games.observations.copy(), games.rewards.copy(), games.terminations.copy(), games.lineups.copy()))
    return seen


@pytest.mark.parametrize("players", [2, 3, 4])
def test_results_reach_the_league(players: int, tmp_path: Path) -> None:
    games = make_games(tmp_path, players)
    league = games.league
    games.grow(make_policy(), 0)
    recorded: list[tuple[tuple[str, ...], tuple[int, ...]]] = []
    expected = []
    add = league.ratings.add
    league.ratings.add = lambda who, order: (recorded.append((tuple(who), tuple(order))), add(who, order))[1]  # type: ignore
    generator = np.random.default_rng(0)
    for _ in range(90):
        names = [member.name for member in league.members]
        games.step(RandomAgent().act(Decisions.of(games.batch), generator))
        for game in np.flatnonzero(games.terminations):
            seat, points = games.final_seats[game], games.final_states["points"][game]
            who = [LEARNER, *(names[index] for index in games.final_lineups[game])]
            expected.append((who, [points[(seat + i) % players] for i in range(players)]))
    assert len(expected) == len(recorded) > 25
    for (who, points), (given, order) in zip(expected, recorded, strict=True):
        assert tuple(who) == given
        assert all(order[i] < order[j] for i in range(players) for j in range(players) if points[i] > points[j])
    for member in league.members:
        assert (member.games > 0) == any(member.name in who for who, _ in recorded)
    # greedy beats a learner that plays at random
    assert league.ratings["greedy"].mu > league.ratings[LEARNER].mu + 3


def test_games_of_one_opponent_are_asked_in_one_call(tmp_path: Path) -> None:
    games = make_games(tmp_path, 2, num_games=60)
    spies = [Spy(f"spy {i}") for i in range(2)]
    for member, spy in zip(games.league.members, spies, strict=True):
        member.agent = spy
    games.opponents = games.league.agents
    step, rounds = games.batch.step, []
    games.batch.step = lambda *given, **options: (rounds.append(1), step(*given, **options))[1]  # type: ignore
    play(games, 30)
    for spy in spies:
        assert len(spy.calls) <= len(rounds) - 30  # at most once each time that anybody else moves
        assert max(spy.calls) > 10


def test_running_games_keep_their_opponents(tmp_path: Path) -> None:
    games = make_games(tmp_path, 3)
    generator = np.random.default_rng(0)
    lineups: list[list[str]] = []
    for step in range(150):
        if step % 10 == 0:
            games.grow(make_policy(step), step)
        names = [[games.opponents[i].name for i in lineup] for lineup in games.lineups]
        for now, then, ended in zip(names, lineups, games.terminations, strict=False):
            assert now == then or ended
        lineups = names
        games.step(RandomAgent().act(Decisions.of(games.batch), generator))
    assert len(games.league.snapshots) == 3
    assert len(games.league.members) < 12


@pytest.mark.parametrize("players", [2, 4])
def test_saved_games_go_on_as_they_would_have(players: int, tmp_path: Path) -> None:
    games = make_games(tmp_path, players)
    for steps in range(4):
        games.grow(make_policy(steps), steps)
        play(games, 10, seed=steps)
    saved = games.get_state()
    saved["league"] = json.loads(json.dumps(saved["league"]))
    other = make_games(tmp_path, players, seed=99)
    other.set_state(saved)
    assert [agent.name for agent in other.opponents] == [agent.name for agent in games.opponents]
    for steps in range(10, 14):
        for one, two in zip(play(games, 10, steps), play(other, 10, steps), strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
        for one in (games, other):
            one.grow(make_policy(steps), steps)
    assert json.dumps(games.league.get_state()) == json.dumps(other.league.get_state())


def test_a_missing_snapshot_is_named(tmp_path: Path) -> None:
    games = make_games(tmp_path, 2)
    games.grow(make_policy(), 7)
    saved = games.get_state()
    (tmp_path / "snapshot-7.zip").unlink()
    with pytest.raises(CheckpointError, match=r"snapshot-7\.zip"):
        make_games(tmp_path, 2).set_state(saved)


# --- Learning --------------------------------------------------------------------------------------------------------

SMALL = Settings(num_envs=16, steps=16, minibatch=64, epochs=1, layers=(16,), threads=1, evaluate_every=1000)
ROLLOUT = SMALL.num_envs * SMALL.steps
LEAGUE = LeagueSettings(snapshot_steps=ROLLOUT, snapshots=3)
FILES = {"policy.zip", "best.zip", "resume.zip", "run.json", "learning_curve.csv", "evaluations.csv", "league.csv"}


def learner_in(folder: Path, players: int, updates: int, stop_after: int | None = None) -> Learner:
    folder.mkdir(exist_ok=True)
    asked = iter(range(10**9))
    return new_learner(
        Budget(steps=updates * ROLLOUT),
        folder,
        3,
        SMALL,
        SelfPlaySettings(Config(players=players), games=2 * players),
        LEAGUE,
        tensorboard=False,
        should_stop=lambda: next(asked) == stop_after,
    )


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_resumed_run_imports_nothing_that_its_user_has_not_named(tmp_path: Path) -> None:
    for kind, names in (
        ("selfplay", {"against": ("evil_module:Agent",)}),
        ("league", {"scripted": ("greedy", "evil:A")}),
    ):
        sections: dict[str, Any] = {
            "learning": SMALL,
            "selfplay": SelfPlaySettings(Config(players=2)),
            "league": LEAGUE,
        }
        sections[kind] = replace(sections[kind], **names)
        write_run(tmp_path, GAME, "selfplay", 0, Budget(steps=1), **sections)
        with pytest.raises(ConfigError, match=r"names evil\w*:A.*--trust evil"):
            learn_main(GAME, "selfplay", resume=tmp_path)
    with pytest.raises(ConfigError, match="No module named 'evil'"):
        learn_main(GAME, "selfplay", resume=tmp_path, trust=("evil:A",))


@pytest.mark.parametrize("players", [2, 3])
def test_a_resumed_run_is_the_uninterrupted_one(players: int, tmp_path: Path) -> None:
    whole = learner_in(tmp_path / "whole", players, 7)
    whole.run()
    learner_in(tmp_path / "parts", players, 7, stop_after=2).run()
    for stop in (3, None):  # once more interrupted
        learner = learner_in(tmp_path / "parts", players, 7, stop)
        learner.resume()
        learner.run()
    assert learner.steps == whole.steps == 7 * ROLLOUT
    expected = whole.model.policy.state_dict()
    for name, value in learner.model.policy.state_dict().items():
        assert torch.equal(value, expected[name]), name
    league, other = (one.games.get_state()["league"] for one in (learner, whole))
    assert json.dumps(league) == json.dumps(other)
    for name in ("league.csv", "evaluations.csv"):
        rows, others = (rows_of(tmp_path / folder / name) for folder in ("parts", "whole"))
        for row in (*rows, *others):
            row.pop("seconds", None)
        assert rows == others and len(rows) > 1
    kept = {path.name for path in (tmp_path / "whole" / "league").iterdir()}
    assert kept == {path.name for path in (tmp_path / "parts" / "league").iterdir()}
    assert kept == {f"snapshot-{one['steps']}.zip" for one in league["members"] if one["steps"] >= 0}


def test_a_run_that_died_goes_on_from_where_it_was_saved(tmp_path: Path) -> None:
    """The league had gone on since: snapshots that only the saved state needs are still there."""
    learner = learner_in(tmp_path, 2, 20, stop_after=4)
    learner.run()
    saved = learner.games.get_state()["league"]
    dying = learner_in(tmp_path, 2, 20)
    dying.resume()
    dying.should_stop = lambda: 1 // (10 * ROLLOUT - dying.steps) < 0
    with pytest.raises(ZeroDivisionError):
        dying.run()
    names = [{one["name"] for one in state["members"]} for state in (saved, dying.games.get_state()["league"])]
    assert names[0] - names[1]
    again = learner_in(tmp_path, 2, 20, stop_after=1)
    again.resume()
    assert again.games.get_state()["league"] == saved
    again.run()
    steps = [int(row["steps"]) for row in rows_of(tmp_path / "league.csv") if row["player"] == LEARNER]
    assert steps == [ROLLOUT * i for i in range(1, 6)]


@pytest.fixture
def settings_file(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(
        "[learning]\nnum_envs = 16\nsteps = 16\nminibatch = 64\nepochs = 1\nlayers = [16]\nthreads = 1\n"
        f"[selfplay]\nplayers = 3\ngames = 6\nmodules = ['fertilizer']\n[league]\nsnapshot_steps = {ROLLOUT}\n"
        f"snapshots = 3\nscripted = ['random']\n[budget]\nsteps = {5 * ROLLOUT}\n"
    )
    return path


def test_command(settings_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "run"
    with pytest.raises(SystemExit) as left:
        cli.main(["train", "selfplay", "--config", str(settings_file), "--output", str(output), "--players", "4"])
    assert left.value.code == 0
    assert {path.name for path in output.iterdir()} == FILES | {"league", "tensorboard"}
    printed = " ".join(capsys.readouterr().out.split())
    assert "The league" in printed and "an even share being 25.0%" in printed
    assert "share of seats" in printed
    rows = rows_of(output / "league.csv")
    for steps in range(1, 6):
        now = [row for row in rows if int(row["steps"]) == steps * ROLLOUT]
        members = now[1:]
        assert now[0]["player"] == LEARNER and now[0]["share"] == ""
        assert sum(float(row["share"]) for row in members) == pytest.approx(1, abs=0.001)
        assert [row["rating"] for row in members if row["player"] == ANCHOR] == ["25.0"]
        assert all(float(row["low"]) <= float(row["rating"]) <= float(row["high"]) for row in now)
        assert len(members) == 1 + min(3, steps)
    best = PolicyAgent.load(output / "best.zip", GAME)
    assert len(play_games([best, RandomAgent(), RandomAgent(), RandomAgent()], Config(players=4), 5, 0)) == 5

    with pytest.raises(SystemExit):  # go on, for longer
        cli.main(["train", "selfplay", "--resume", str(output), "--steps", str(7 * ROLLOUT)])
    assert {int(row["steps"]) for row in rows_of(output / "league.csv")} == {i * ROLLOUT for i in range(1, 8)}
    capsys.readouterr()
    for words in ("--seed 0", "--output elsewhere", "--players 4", f"--config {settings_file}"):
        with pytest.raises(SystemExit) as left:
            cli.main(["train", "selfplay", "--resume", str(output), *words.split()])
        assert left.value.code == 2
        name = words.split()[0].removeprefix("--")
        assert f"petrichor: {name}: not with --resume, which keeps its settings" in capsys.readouterr().err


def test_numbers_of_ones_own(settings_file: Path, tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.toml"
    numbers.write_text("[tiles.cotton]\nscores = [0, 0, 0, 0]\n")
    folder = tmp_path / "run"
    words = ["--config", settings_file, "--components", numbers, "--steps", ROLLOUT, "--output", folder]
    with pytest.raises(SystemExit) as left:
        cli.main(["train", "selfplay", *map(str, words)])
    assert left.value.code == 0
    for name in ("policy.zip", "best.zip"):
        assert read_notes(GAME, folder / name)["training"]["config"]["components"] == str(numbers)
    with pytest.raises(ConfigError, match="components: not with --resume"):
        selfplay_main(components=numbers, resume=folder)
    numbers.write_text("[tiles.cotton]\nscores = [1, 0, 0, 0]\n")
    with pytest.raises(CheckpointError, match=r"resume\.zip: its games were played with other numbers on the pieces"):
        selfplay_main(resume=folder, steps=2 * ROLLOUT)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_shipped_settings(players: int) -> None:
    tables = {"learning": Settings, "selfplay": SelfPlaySettings, "league": LeagueSettings, "budget": Budget}
    sections = read_settings(f"selfplay_{players}p", GAME, **tables)
    assert sections["selfplay"].config.players == players


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (["--players", "1"], "players=1: self-play is for two players or more"),
        (["--players", "2", "--config", "no_such"], "no_such: there is no such settings file"),
        (["--resume", "no_such"], "run.json: there is no such file"),
        (["--steps", "0"], "steps=0: must be more than 0"),
        (["--steps", "5", "--minutes", "5"], "one of them"),
    ],
)
def test_slips_on_the_command_line(
    given: list[str], text: str, settings_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = [] if "--config" in given or "--resume" in given else ["--config", str(settings_file)]
    output = [] if "--resume" in given else ["--output", str(tmp_path / "run")]
    with pytest.raises(SystemExit) as left:
        cli.main(["train", "selfplay", *given, *config, *output])
    assert left.value.code == 2
    assert text in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ("[league]\nsnapshot = 3", "unknown key snapshot; there are snapshot_steps, snapshots"),
        ("[league]\nsnapshots = 2.5", "snapshots=2.5: must be an int"),
        ("[league]\nscripted = ['gredy']", "gredy"),
        ("[selfplay]\nplayers = 9", "players=9"),
        ("[selfplay]\nagainst = []", "at least one agent"),
    ],
)
def test_wrong_settings_files(table: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(table)
    with pytest.raises(ConfigError, match=text):
        selfplay_main(settings=path, steps=1, output=tmp_path / "run")
    assert not (tmp_path / "run" / "run.json").exists()


def test_players_whom_no_settings_are_shipped_for(tmp_path: Path) -> None:
    """Five play, with modules, by the settings of the next smaller number; one alone does not."""
    assert SelfPlaySettings.of_table(replace(GAME, players=(3, 4)), {}).config.players == 3
    with pytest.raises(ConfigError, match="players=1: self-play is for two players or more"):
        selfplay_main(players=1, output=tmp_path / "one", steps=1)
    output = tmp_path / "five"
    given = ["--players", "5", "--modules", "powers,forecasts", "--drafting", "--steps", "1", "--output", str(output)]
    with pytest.raises(SystemExit) as left:
        cli.main(["train", "selfplay", *given])
    assert left.value.code == 0
    kept = json.loads((output / "run.json").read_text(encoding="utf-8"))
    assert kept["selfplay"]["players"] == 5 and kept["selfplay"]["drafting"]
    assert kept["selfplay"]["modules"] == ["powers", "forecasts"]
    agent = make_agent(f"policy:{output / 'policy.zip'}", GAME)
    assert len(play_games([agent, *[RandomAgent()] * 4], Config(players=5, modules=("powers",)), 5, 0)) == 5
