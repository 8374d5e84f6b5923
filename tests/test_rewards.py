"""The rewards of a game sum to its result, in every environment, for every reward and every way to lose."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import evergreen_env
import petrichor_env
from tabletop_agents import RandomAgent
from tabletop_engine.envs import SeatEnv, SeatVectorEnv
from tabletop_engine.envs.aec import SeatsAEC, wrapped
from tabletop_engine.game import NOBODY, Config
from tabletop_engine.play.batch import AUTORESETS, REWARDS, Batch
from tabletop_engine.play.kernels import sample_actions
from tabletop_engine.play.learner_games import learner_games
from tabletop_engine.positions.position import positions_of
from tabletop_training.dataset import episodes
from tabletop_training.learn.vec_env import SeatsVecEnv
from tests.games import connect_four, leduc_poker

CONFIGS: list[Config] = [
    petrichor_env.GAME.config(players=1),  # the neutral player has points at the first decision of some games
    petrichor_env.GAME.config(players=3, modules=("fertilizer", "powers")),
    evergreen_env.GAME.config(players=1),
    evergreen_env.GAME.config(players=2),  # all but the first player start with points
    evergreen_env.GAME.config(players=4),
    leduc_poker.GAME.config(),
    connect_four.GAME.config(),
]
SEVERAL = [config for config in CONFIGS if config.players > 1]
SLIPS = {"no illegal action": 0.0, "one in thirty": 1 / 30, "the first action": 1.0}
"""The probability of an illegal action, which loses the game."""

pytestmark = [pytest.mark.parametrize("reward", REWARDS)]
over_configs = pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.game.name}-{config.name}")
over_several = pytest.mark.parametrize("config", SEVERAL, ids=lambda config: f"{config.game.name}-{config.name}")
over_slips = pytest.mark.parametrize("slips", SLIPS.values(), ids=SLIPS)


def one_of(modes: Any, slips: float, reward: str) -> Any:
    """One of three autoreset modes: each comes up with every reward and with all slips, but not with all pairs."""
    return [*modes][([*SLIPS.values()].index(slips) + [*REWARDS].index(reward)) % 3]


def result(config: Config, state: Any, reward: str) -> list[float]:
    """What docs/environments.md promises each player of a finished game, from its record alone."""
    points = state["points"][: config.owners].astype(float).tolist()
    loser, players, owners = int(state["forfeited"]), range(config.players), config.owners
    if reward == "points":
        return [0.0 if seat == loser else points[seat] for seat in players]
    if reward == "margin":
        if loser != NOBODY:
            return [-100.0 if seat == loser else 100.0 / (owners - 1) for seat in players]
        return [points[seat] - (sum(points) - points[seat]) / max(1, owners - 1) for seat in players]
    if loser != NOBODY:
        return [-1.0 if seat == loser else 1.0 / (owners - 1) for seat in players]
    won = Batch(config, 1, 0).places(state)[0] == 1
    if won.all():
        return [0.0 for _ in players]
    return [1.0 / won.sum() if won[seat] else -1.0 / (~won).sum() for seat in players]


def slipping(masks: np.ndarray, generator: np.random.Generator, slips: float) -> np.ndarray:
    """Random legal actions, and illegal ones with the probability `slips`."""
    actions = sample_actions(masks, generator)
    for game in np.flatnonzero(generator.random(len(actions)) < slips):
        if not masks[game].all():
            actions[game] = masks[game].argmin()
    return actions


def close(total: Any, wanted: Any) -> None:
    np.testing.assert_allclose(total, wanted, atol=1e-6)


# --- All seats -------------------------------------------------------------------------------------------------------


@over_configs
@over_slips
def test_a_batch(config: Config, slips: float, reward: str) -> None:
    autoreset = one_of(AUTORESETS, slips, reward)
    batch = Batch(config, 20, 1, reward=reward, autoreset=autoreset, illegal_action="lose")
    generator, totals, ended = np.random.default_rng(0), np.zeros_like(batch.rewards), 0
    while ended < 25:
        batch.step(slipping(batch.action_masks, generator, slips))
        totals += batch.rewards
        for game in np.flatnonzero(batch.terminations):
            close(totals[game], result(config, batch.final_states[game], reward))
            totals[game], ended = 0.0, ended + 1
        if autoreset == "disabled" and (over := batch.actors == NOBODY).any():
            batch.reset(mask=over)


@over_several
@over_slips
def test_all_seats_in_pettingzoo(config: Config, slips: float, reward: str) -> None:
    env: Any = wrapped(SeatsAEC("game", config, reward=reward))
    generator, ends = np.random.default_rng(0), 0
    for seed in range(3):
        env.reset(seed=seed)
        received = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            observation, gained, terminated, truncated, _ = env.last()
            received[agent] += gained
            done = terminated or truncated
            env.step(None if done else int(slipping(observation["action_mask"][None], generator, slips)[0]))
        close(list(received.values()), result(config, env.unwrapped.game, reward))
        ends += 1
    assert ends == 3


# --- One seat --------------------------------------------------------------------------------------------------------


def seats_of(config: Config) -> dict[str, Any]:
    """The arguments of an environment of one seat of this configuration."""
    chosen = {name: getattr(config, name) for name in ("players", "modules") if hasattr(config, name)}
    return {**chosen, "opponents": ("random",) if config.players > 1 else (), "illegal_action": "lose"}


@pytest.mark.one_in(4)
@over_configs
@over_slips
def test_one_seat_in_gymnasium(config: Config, slips: float, reward: str) -> None:
    env = SeatEnv(config.game, reward=reward, **seats_of(config))
    generator = np.random.default_rng(0)
    for seed in range(6):
        _, info = env.reset(seed=seed)
        total, ended = 0.0, False
        while not ended:
            action = int(slipping(info["action_mask"][None], generator, slips)[0])
            _, gained, ended, _, info = env.step(action)
            total += gained
        close(total, result(config, env.state, reward)[env.seat])


@pytest.mark.one_in(4)
@over_configs
@over_slips
def test_one_seat_of_many_games(config: Config, slips: float, reward: str) -> None:
    mode = one_of(AutoresetMode, slips, reward)
    envs = SeatVectorEnv(config.game, 12, autoreset_mode=mode, reward=reward, **seats_of(config))
    _, infos = envs.reset(seed=1)
    generator, totals, ended = np.random.default_rng(0), np.zeros(12), 0
    while ended < 15:
        _, rewards, terminations, _, infos = envs.step(slipping(infos["action_mask"], generator, slips))
        totals += rewards
        for game in np.flatnonzero(terminations):
            games = envs.batch
            seat = games.final_seats[game]
            close(totals[game], result(config, games.final_states[game], reward)[seat])
            totals[game], ended = 0.0, ended + 1
        if mode is AutoresetMode.DISABLED and terminations.any():
            _, infos = envs.reset(options={"reset_mask": terminations})


@pytest.mark.one_in(4)
@over_configs
@over_slips
def test_one_seat_for_stable_baselines3(config: Config, slips: float, reward: str) -> None:
    arguments = seats_of(config)
    games = learner_games(config, 12, arguments["opponents"], seed=1, reward=reward, illegal_action="lose")
    env = SeatsVecEnv(games)
    env.reset()
    generator, totals, ended = np.random.default_rng(0), np.zeros(12), 0
    while ended < 15:
        _, rewards, dones, infos = env.step(slipping(env.action_masks().view(np.int8), generator, slips))
        totals += rewards
        for game in np.flatnonzero(dones):
            wanted = result(config, games.final_states[game], reward)[games.final_seats[game]]
            np.testing.assert_allclose([totals[game], infos[game]["episode"]["r"]], wanted, atol=1e-3)
            totals[game], ended = 0.0, ended + 1


# --- Positions, OpenSpiel and data sets ------------------------------------------------------------------------------


def to_the_end(position: Any, generator: np.random.Generator) -> Iterator[Any]:
    """The position, and all decisions up to the end with random actions and draws."""
    position = position.settled(generator)
    yield position
    while not position.is_over:
        position = position.after(int(generator.choice(position.legal_actions))).settled(generator)
        yield position


@over_configs
def test_positions(config: Config, reward: str) -> None:
    generator = np.random.default_rng(0)
    for _ in range(3):
        total = np.zeros(config.players)
        for position in to_the_end(positions_of(config).first, generator):
            total += position.rewards(reward)
            close(position.returns(reward), total)
        close(total, result(config, position.state, reward))


@over_configs
def test_positions_in_the_middle(config: Config, reward: str) -> None:
    """A game's middle leads to the game's result also if it was saved, resampled, or given as a record alone."""
    generator = np.random.default_rng(0)
    positions = positions_of(config)
    whole = list(to_the_end(positions.first, generator))
    for middle in (whole[0], whole[len(whole) // 2]):
        saved = positions.load(middle.save())
        for kind in (type(middle).returns, type(middle).rewards):
            assert kind(saved, reward).tolist() == kind(middle, reward).tolist()
        for start in (middle, saved, positions.at(middle.state), middle.resampled(middle.actor, generator)):
            total = start.returns(reward) - start.rewards(reward)
            for position in to_the_end(start, generator):
                total += position.rewards(reward)
            close(total, result(config, position.state, reward))
            close(position.returns(reward), total)


@pytest.mark.parametrize("at_the_end", [False, True])
@over_configs
def test_openspiel(config: Config, reward: str, at_the_end: bool) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    from tabletop_engine.envs.openspiel import parameters_of, register

    game = pyspiel.load_game(register(config.game), parameters_of(config, reward, at_the_end))
    generator = np.random.default_rng(0)
    state, total = game.new_initial_state(), np.zeros(config.players)
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, shares = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(generator.choice(outcomes, p=shares)))
        else:
            state.apply_action(int(generator.choice(state.legal_actions())))
        rewards = np.array(state.rewards())
        total += rewards
        close(state.returns(), total)
        assert state.is_terminal() or not at_the_end or not rewards.any()
    close(total, result(config, state.position.state, reward))
    assert game.min_utility() <= total.min() <= total.max() <= game.max_utility()
    if game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM:
        close(total.sum(), game.utility_sum())


@pytest.mark.one_in(4)
@over_configs
def test_data_sets(config: Config, reward: str) -> None:
    episode: Any
    found = 0
    for episode in itertools.chain(*episodes([RandomAgent()] * config.players, config, 6, 1, reward, "int8")):
        batch = Batch(config, 1, episode.seed, autoreset="disabled")
        own, replies, seat = list(episode.actions), list(episode.options["replies"]), episode.options["seat"]
        while batch.actors[0] != NOBODY:
            batch.step([int((own if batch.actors[0] == seat else replies).pop(0))])
        close(sum(episode.rewards), result(config, batch.states[0], reward)[seat])
        found += 1
    assert found > 3


# --- Games that do not start at their beginning ----------------------------------------------------------------------


@over_configs
def test_a_position_put_in(config: Config, reward: str) -> None:
    """If a game starts from a position with points, these count towards the first reward."""
    batch = Batch(config, 8, 1, autoreset="disabled", reward=reward)
    decisions = {"leduc_poker": 1, "connect_four": 6}.get(config.game.name, 25)  # no game ends before that
    for _ in range(decisions):
        batch.step(batch.random_actions())
    middle = batch.states.copy()
    saved = batch.save()
    runs: dict[str, Batch] = {
        "starts": Batch(config, 8, 2, autoreset="disabled", reward=reward, starts=middle),
        "set_states": Batch(config, 8, 2, autoreset="disabled", reward=reward),
        "loaded": Batch(config, 8, 2, autoreset="disabled", reward=reward),
        "copied": batch.copy(),
    }
    runs["set_states"].set_states(middle)
    runs["loaded"].load(saved)
    before = Batch(config, 8, 1, autoreset="disabled", reward=reward)
    so_far = np.zeros_like(before.rewards)
    for _ in range(decisions):
        before.step(before.random_actions())
        so_far += before.rewards
    for name, games in runs.items():
        totals = so_far.copy() if name in ("loaded", "copied") else np.zeros_like(games.rewards)
        while (playing := games.actors != NOBODY).any():
            games.step(games.random_actions(), which=playing)
            totals += games.rewards
        for total, state in zip(totals, games.states, strict=True):
            close(total, result(config, state, reward))
