"""The small games of tests/games run through everything that takes a game. So the engine knows no game."""

from __future__ import annotations

import importlib
import json
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from tabletop_agents import make_agent
from tabletop_engine.described.invariants import first_outside
from tabletop_engine.envs import SeatEnv, SeatVectorEnv
from tabletop_engine.envs.aec import SeatsAEC, wrapped
from tabletop_engine.errors import ComponentsError, ConfigError, IllegalAction, ScenarioError, StateError
from tabletop_engine.game import NOBODY, Game
from tabletop_engine.play.agents import Decisions, ask
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.kernels import sample_actions
from tabletop_engine.play.learner_games import learner_games
from tests.games import leduc_poker
from tests.games.playthroughs import FOLDER, GAMES, told

with warnings.catch_warnings():  # PettingZoo's tests import its own games in a deprecated way
    warnings.simplefilter("ignore")
    api, seeding = (importlib.import_module(f"pettingzoo.test.{name}") for name in ("api_test", "seed_test"))

AUTORESETS = ("same_step", "next_step", "disabled")
SEARCHES = ("greedy", "rollout-4", "ismcts-50")

pytestmark = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)


@pytest.fixture
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# --- The game itself -------------------------------------------------------------------------------------------------


def test_a_game_is_found_by_its_name(game: Game) -> None:
    assert pickle.loads(pickle.dumps(game)) is game
    assert game.config.of(Batch(game.config()).states[0]) == game.config()


def test_playthrough(game: Game) -> None:
    """After a change of the rules: `python -m tests.games.playthroughs`, then read what has changed."""
    assert told(game) == (FOLDER / f"{game.name}.txt").read_text(encoding="utf-8")


def test_bad_configurations(game: Game) -> None:
    for players in (1, 3, True, "2"):
        with pytest.raises(ConfigError, match="players="):
            game.config(players=players)
    with pytest.raises(ConfigError, match="no numbers to replace"):
        game.config(components="numbers.toml")
    with pytest.raises(ComponentsError, match="no numbers to replace"):
        game.load_tables("numbers.toml")


def test_every_state_of_random_games_is_sound(game: Game) -> None:
    batch = Batch(game.config(), 500, seed=1, autoreset="disabled")
    while (running := batch.actors != NOBODY).any():
        game.check(batch.states, batch.tables)
        batch.step(batch.random_actions(), which=running)
    game.check(batch.states, batch.tables)
    points = batch.states["points"]
    assert (points.sum(axis=1) == 0).all() and (points != 0).any()
    np.testing.assert_array_equal(batch.winners(batch.states), points == points.max(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("field", "value"),
    [("players", 3), ("decision", 1), ("forfeited", 2), ("actor", 2), ("legal", 1 << 60), ("round", 3)],
)
def test_what_no_game_reaches_is_refused(game: Game, field: str, value: int) -> None:
    batch = Batch(game.config(), 3, seed=1)
    batch.states[field][1] = value
    with pytest.raises(StateError, match=field):
        game.check(batch.states, batch.tables)


def test_save_and_load(game: Game) -> None:
    one, other = (Batch(game.config(), 20, seed=seed) for seed in (1, 2))
    one.step(one.random_actions())
    other.load(one.save())
    assert other.states.tobytes() == one.states.tobytes()
    with pytest.raises(StateError):
        other.load(one.save()[:-1])


def test_described_positions(game: Game) -> None:
    batch = Batch(game.config(), 50, seed=4, autoreset="disabled")
    for _ in range(8):
        batch.step(batch.random_actions(), which=batch.actors != NOBODY)
    for state in batch.states:
        described = json.loads(json.dumps(game.described(state)))
        assert game.scenario(described, None).tobytes() == state.tobytes()
    with pytest.raises(ScenarioError, match="points"):
        game.scenario({**described, "points": [1, 2, 3]}, None)


@pytest.mark.parametrize("autoreset", AUTORESETS)
@pytest.mark.parametrize("reward", ["win", "margin", "points"])
def test_a_batch_is_n_games(game: Game, autoreset: str, reward: str) -> None:
    how: dict[str, Any] = {"autoreset": autoreset, "reward": reward}
    batch = Batch(game.config(), 16, seed=5, num_threads=2, **how)
    singles = [Batch(game.config(), 1, seed=5 + number, **how) for number in range(16)]
    ended = 0
    for _ in range(60):
        if autoreset == "disabled" and (over := batch.actors == NOBODY).any():
            batch.reset(mask=over)
            for number in np.flatnonzero(over).tolist():
                singles[number].reset()
        actions = sample_actions(batch.action_masks, batch.generator)
        batch.step(actions)
        ended += int(batch.terminations.sum())
        for number, single in enumerate(singles):
            single.step(actions[[number]])
            for name in ("states", "action_masks", "observations", "rewards", "terminations", "actors"):
                assert getattr(single, name).tobytes() == getattr(batch, name)[[number]].tobytes(), name
    assert ended > 16


def test_an_illegal_action_loses(game: Game) -> None:
    batch = Batch(game.config(), 4, seed=1, autoreset="disabled", illegal_action="lose")
    batch.step(np.full(4, game.num_actions))
    assert batch.illegal.all() and batch.terminations.all() and (batch.states["forfeited"] == 0).all()
    assert batch.rewards.tolist() == [[-1.0, 1.0]] * 4
    assert batch.places(batch.states).tolist() == [[2, 1]] * 4
    game.check(batch.states, batch.tables)


def test_an_illegal_action_raises(game: Game) -> None:
    batch = Batch(game.config(), 1, seed=1)
    with pytest.raises(IllegalAction, match=f"does not answer {game.decisions[0]!r}"):
        batch.step([game.num_actions])


def test_no_observation_is_cut_off(game: Game) -> None:
    """All numbers that players see are within the bounds of the layout."""
    batch = Batch(game.config(), 64, seed=1)
    for _ in range(20):
        assert first_outside(game, batch.states, batch.tables) is None
        batch.step(batch.random_actions())


# --- Environments ----------------------------------------------------------------------------------------------------


def test_gymnasium(game: Game, no_warnings: None) -> None:
    env = SeatEnv(game, opponents=("random",))
    env.spec = gymnasium.envs.registration.EnvSpec(
        "Small-v0", entry_point=lambda **arguments: SeatEnv(game, **arguments)
    )
    check_env(env, skip_render_check=True, skip_close_check=True)
    _, info = env.reset(seed=1)
    terminated = False
    while not terminated:
        action = int(sample_actions(info["action_mask"][None], env.np_random)[0])
        observation, reward, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(observation) and not truncated
    assert info["won"] == (reward >= 0) and info["points"] == -info["others_points"]


@pytest.mark.parametrize("render_mode", ["ansi", "rgb_array"])
def test_rendering(game: Game, render_mode: str) -> None:
    env = SeatEnv(game, opponents=("random",), seat=0, render_mode=render_mode, render_size=128)
    _, info = env.reset(seed=1)
    first = env.render()
    env.step(int(np.flatnonzero(info["action_mask"])[-1]))
    frames = (first, env.render())
    if render_mode == "ansi":
        assert isinstance(frames[0], str) and frames[0] != frames[1]
        assert ("a hidden card" in frames[0]) == (game is leduc_poker.GAME)
    else:
        assert isinstance(frames[0], np.ndarray) and frames[0].shape == (128, 128, 3)
        assert (frames[0] != frames[1]).any()


@pytest.mark.parametrize("mode", AUTORESETS)
def test_gymnasium_vector(game: Game, mode: str) -> None:
    env = SeatVectorEnv(game, 32, opponents=("random",), autoreset_mode=mode.upper(), reward="points")
    observations, infos = env.reset(seed=3)
    ended, total = 0, 0.0
    for _ in range(60):
        assert env.observation_space.contains(observations)
        observations, rewards, terminations, _, infos = env.step(sample_actions(infos["action_mask"], env.np_random))
        total += float(rewards.sum())
        if terminations.any():
            last = infos["final_info"] if mode == "same_step" else infos
            assert (last["points"][terminations] == rewards[terminations]).all()
            ended += int(terminations.sum())
            if mode == "disabled":
                observations, infos = env.reset(options={"reset_mask": terminations})
    assert ended > 32 and total != 0


def test_pettingzoo(game: Game) -> None:
    def make() -> Any:
        return wrapped(SeatsAEC(f"{game.name}_v0", game.config()))

    with warnings.catch_warnings():  # api_test warns of dictionaries as observations
        warnings.simplefilter("ignore")
        api.api_test(make(), num_cycles=200)
        seeding.seed_test(make, num_cycles=200)


# --- Agents ----------------------------------------------------------------------------------------------------------


def test_nothing_hidden_is_seen(game: Game) -> None:
    """If all that a player cannot know is drawn anew, the player sees and may do the same as before."""
    batch = Batch(game.config(), 2000, seed=1, autoreset="disabled")
    for _ in range(3):
        running = batch.actors != NOBODY
        for seat in (0, 1):
            states = batch.states.copy()
            randoms = np.random.default_rng(seat).integers(0, 2**64, len(states), dtype=np.uint64)
            seats = np.full(len(states), seat)
            game.kernels.sample_hidden_games(states, batch.tables, seats, randoms)
            assert batch.views_of(states, seats).tobytes() == batch.observe(seat).tobytes()
            assert (states["legal"] == batch.states["legal"]).all() and (states["rng"] != batch.states["rng"]).all()
            game.check(states, batch.tables)
            others = batch.views_of(states, 1 - seats) != batch.observe(1 - seat)
            assert others.any() == (game is leduc_poker.GAME)
        batch.step(batch.random_actions(), which=running)


@pytest.mark.parametrize("name", SEARCHES)
def test_agents_beat_random_ones(game: Game, name: str) -> None:
    """They win from either seat, and do not disturb the games' own chance."""
    games = learner_games(game.config(), 50, ("random",), seed=1)
    agent, generator = make_agent(name, game), np.random.default_rng(0)
    gained: list[int] = []
    while len(gained) < 400:
        before = games.batch.states.tobytes()
        actions = ask(agent, Decisions.of(games.batch), generator)
        assert games.batch.states.tobytes() == before
        games.step(actions)
        gained += games.results()["points"].tolist()
    assert np.mean(gained) > 2 * np.std(gained) / np.sqrt(len(gained))
