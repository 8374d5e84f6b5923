"""Games that start from given positions: in a batch, against agents, and in the environments."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import petrichor_env  # noqa: F401 (its environments)
from petrichor_env import GAME, Batch, Config, scenario
from tabletop_engine.errors import ConfigError, ScenarioError, StateError
from tabletop_engine.game import NOBODY
from tabletop_engine.play.learner_games import learner_games
from tabletop_engine.replays.recorder import Recorder
from tests.games import connect_four
from tests.support.play import in_the_middle

LAST_ROUND: list[dict[str, Any]] = [{"players": 1, "round": 4, "points": {"player_0": points}} for points in (3, 7, 11)]
POINTS = {3, 7, 11}
TWO = [{"players": 2, "round": 4, "points": {"player_1": points}} for points in (3, 7, 11)]
ENDING = {"players": 2, "round": 4, "passed": "player_0", "last_turns": 1, "actor": "player_1"}
"""A position with one decision of player_1 before the end."""


def batch(num_games: int = 64, **options: Any) -> Batch:
    return Batch(Config(), num_games, **{"seed": 0, "starts": LAST_ROUND, **options})


def without_stream(states: np.ndarray) -> np.ndarray:
    copied = states.copy()
    copied["rng"] = 0
    return copied


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
def test_every_game_starts_from_one_of_them(autoreset: str) -> None:
    games = batch(autoreset=autoreset)
    known = {one.tobytes() for one in without_stream(np.array([scenario(one) for one in LAST_ROUND]))}
    started = np.ones(64, np.bool_)
    begun = 0
    for _ in range(200):
        states = games.states[started]
        assert {one.tobytes() for one in without_stream(states)} <= known
        if started.any():
            begun += started.sum()
            assert (games.actors[started] == states["actor"]).all() and (games.actors[started] != NOBODY).all()
            assert (games.views_of(states, games.actors[started].astype(np.int64)) == games.observations[started]).all()
        over = games.actors == NOBODY
        games.step(games.random_actions(), which=~over if autoreset == "disabled" else None)
        if autoreset == "same_step":
            started = games.terminations.copy()
            assert (games.final_states["actor"][started] == NOBODY).all()
        else:
            assert ((games.actors == NOBODY) >= games.terminations).all()
            started = over
        if autoreset == "disabled" and over.any():
            games.reset(mask=over)
    assert begun > 500


def test_all_are_as_likely_and_chance_differs() -> None:
    games = batch(3000)
    points, counts = np.unique(games.states["points"][:, 0], return_counts=True)
    assert set(points.tolist()) == POINTS and (np.abs(counts - 1000) < 100).all()
    assert len(np.unique(games.states["rng"])) == 3000


def test_a_seed_decides_what_its_game_starts_from() -> None:
    """This holds in a batch of any size, and for later games of a batch."""
    many, few = batch(8, seed=5), batch(2, seed=[7, 5])
    for _ in range(100):
        assert (many.states[[2, 0]] == few.states).all()
        actions = many.random_actions()
        many.step(actions)
        few.step(actions[[2, 0]])


def test_a_function_gives_them() -> None:
    asked: list[list[int]] = []
    records = np.array([scenario(one) for one in LAST_ROUND])

    def starts(games: np.ndarray) -> np.ndarray:
        asked.append(games.tolist())
        return records[games % 3]

    games = batch(6, starts=starts)
    assert asked == [[0, 1, 2, 3, 4, 5]]
    assert games.states["points"][:, 0].tolist() == [3, 7, 11, 3, 7, 11]
    games.reset(mask=np.arange(6) == 4)
    assert asked[1:] == [[4]]
    for wrong in (lambda games: records, lambda games: LAST_ROUND, lambda games: np.zeros(6, connect_four.GAME.state)):
        with pytest.raises(ScenarioError, match="starts: must be an array of 6 records of petrichor"):
            batch(6, starts=wrong)


def test_records_of_a_batch() -> None:
    """Positions from games, as for a curriculum that begins near the end."""
    before = in_the_middle(Config(players=3), 16, 40, seed=1, autoreset="disabled")
    games = Batch(Config(players=3), 64, seed=2, starts=before.states)
    assert {one.tobytes() for one in without_stream(games.states)} <= {
        one.tobytes() for one in without_stream(before.states)
    }
    before.states[:] = 0  # the batch has its own copy
    games.reset()
    assert (games.actors != NOBODY).all()


def test_positions_of_any_game() -> None:
    game = connect_four.GAME
    before = Batch(game.config(), 4, seed=0)
    before.step(np.array([0, 1, 2, 3]))
    games = Batch(game.config(), 32, seed=0, starts=before.states)
    begun = {one.tobytes() for one in before.states["stones"]}
    for _ in range(100):
        games.step(games.random_actions())
        assert {one.tobytes() for one in games.states["stones"][games.terminations]} <= begun


NO_LISTS: tuple[Any, ...] = (
    [],
    "last",
    7,
    LAST_ROUND[0],
    np.array(3),
    np.zeros(1, GAME.state)[0],
    np.zeros((), GAME.state),
)


def test_what_is_refused() -> None:
    """The records are made here, as making them loads the rules."""
    for starts, words in (
        *((one, "a list of descriptions .*, an array .* of records, or a function") for one in NO_LISTS),
        (list(np.zeros(2, GAME.state)), "a list of records; give them as one array"),
        ([LAST_ROUND[0], {"round": 9}], r"starts\[1\]: round"),
        ([7], r"starts\[0\]: scenario: 7 is not a dictionary"),
        ([{"players": 2}], "it describes '2p', this environment plays 'solo'"),
        ([{"round": 4, "decision": "game_over"}], "this game is over"),
        (np.zeros(2), "2 records of petrichor"),
        (np.array([scenario({"players": 2})]), "records whose players"),
        (np.array([scenario({"players": 1, "round": 4, "decision": "game_over"})]), "a game among them is over"),
    ):
        with pytest.raises(ScenarioError, match=words):
            batch(starts=starts)


def test_records_that_no_game_can_reach_are_refused() -> None:
    damaged = np.array([scenario(LAST_ROUND[0])])
    damaged["drops"][0, 5, 0] = 99
    with pytest.raises(StateError):
        batch(starts=damaged)


def test_what_does_not_go_together() -> None:
    with pytest.raises(ConfigError, match="config: not allowed with starts"):
        batch().reset(config=Config())
    with pytest.raises(ConfigError, match="starts: not allowed with choose_config"):
        learner_games(Config(), 2, starts=LAST_ROUND, choose_config=lambda games: [Config()] * len(games))


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
def test_against_agents(autoreset: str) -> None:
    """In every game that starts, the others play up to the learner's first decision."""
    games = learner_games(Config(players=2), 32, ("random",), starts=TWO, autoreset=autoreset, seed=3)
    ended = 0
    for _ in range(150):
        asked = ~games.over
        assert (games.batch.actors[asked] == games.seats[asked]).all()
        assert (games.states["round"][asked] == 4).all()
        games.step(np.array([np.flatnonzero(mask)[0] for mask in games.action_masks]))
        ended += games.terminations.sum()
        if autoreset == "disabled" and games.over.any():
            games.reset(mask=games.over)
    assert ended > 100
    assert (games.results()["points"] >= 0).all()


def test_positions_that_end_before_the_learner_is_asked() -> None:
    """Such positions are skipped. If no others remain, it is an error, and does not hang."""
    some = learner_games(Config(players=2), 16, ("random",), seat=0, starts=[ENDING, *TWO], seed=0)
    for _ in range(60):
        some.step(np.array([np.flatnonzero(mask)[0] for mask in some.action_masks]))
        assert (some.batch.actors == 0).all()
    with pytest.raises(ScenarioError, match="starts: 1000 games in a row ended before the learner's first decision"):
        learner_games(Config(players=2), 2, ("random",), seat=0, starts=[ENDING], seed=0)


def test_environments() -> None:
    """`make_vec` gives what single environments with the same positions give."""
    name = "petrichor_env:Petrichor/Solo-v0"
    native = gymnasium.make_vec(name, 3, starts=LAST_ROUND, autoreset_mode="next_step")
    single = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make(name, starts=LAST_ROUND)] * 3)
    (first, info), (other, _) = native.reset(seed=1), single.reset(seed=1)
    assert (first == other).all()
    generator = np.random.default_rng(0)
    for _ in range(120):
        actions = np.array([generator.choice(np.flatnonzero(mask)) for mask in info["action_mask"]])
        first, reward, over, _, info = native.step(actions)
        other, other_reward, other_over, *_ = single.step(actions)
        assert (first == other).all() and (reward == other_reward).all() and (over == other_over).all()


def test_recorded() -> None:
    """Replays begin with the positions, not with seeds."""
    games = batch(4)
    with Recorder(games) as recorder:
        games.reset(seed=9)
        while len(recorder.finished) < 8:
            games.step(games.random_actions())
    for replay in recorder.finished:
        assert replay.seed is None and replay.states[0]["round"] == 4
        assert replay.winners is not None and replay.game is GAME
