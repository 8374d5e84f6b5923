"""Positions one by one: chance given outcome by outcome is the chance of ordinary games; nothing else differs."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import evergreen_env
from petrichor_env import VARIANTS, describe, scenario
from petrichor_env import Config as PetrichorConfig
from petrichor_env.config import MODULES
from tabletop_engine.errors import ConfigError, GameOver, IllegalAction, StateError
from tabletop_engine.game import NOBODY, Config
from tabletop_engine.play.batch import REWARDS, Batch, game_seed
from tabletop_engine.positions import position as position_module
from tabletop_engine.positions.position import CHANCE, Position, Positions, positions_of
from tabletop_engine.positions.scripted import BEGIN
from tests.games import connect_four, leduc_poker
from tests.support.configurations import SOLO_MODULES
from tests.support.draws import Overheard
from tests.support.effort import games
from tests.support.processes import in_python

ROOT = Path(__file__).parents[1]
CONFIGS: list[Any] = [
    PetrichorConfig(),
    PetrichorConfig(variants=VARIANTS, modules=SOLO_MODULES),
    PetrichorConfig(players=2),
    PetrichorConfig(players=3, drafting=True, modules=MODULES),
    PetrichorConfig(players=5, rounds=6, modules=("powers", "forecasts")),
    evergreen_env.Config(),
    evergreen_env.Config(players=2),
    evergreen_env.Config(players=4),
    leduc_poker.Config(),
    connect_four.Config(),
]
over_games = pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.game.name}-{config.name[:24]}")


def played(config: Config, seed: int = 0) -> Iterator[Position]:
    """A random game, node by node."""
    generator = np.random.default_rng(seed)
    position = positions_of(config).first
    while True:
        yield position
        if position.is_over:
            return
        if position.is_chance:
            outcomes, chances = zip(*position.chance_outcomes, strict=True)
            position = position.after(int(generator.choice(outcomes, p=chances)))
        else:
            position = position.after(int(generator.choice(position.legal_actions)))


def without_stream(states: np.ndarray) -> bytes:
    states = states.copy()
    states["rng"] = 0
    return states.tobytes()


# --- Chance ----------------------------------------------------------------------------------------------------------


@over_games
def test_the_draws_of_a_game_give_the_same_game(config: Config) -> None:
    """The draws of a batch's game are recorded. Given as outcomes, they lead through the same records."""
    positions, overheard = positions_of(config), Overheard(config.game)
    for seed in range(games(1, 2)):
        batch = Batch(config, 1, seed, autoreset="disabled")
        plain, position = positions.blank.copy(), positions.first
        plain["rng"] = game_seed(seed)
        drawn = overheard.reset(plain, batch.tables)
        while True:
            for outcome in drawn:
                assert position.actor == CHANCE
                position = position.after(outcome)
            assert plain.tobytes() == batch.states.tobytes()
            assert position.states.tobytes() == without_stream(batch.states)
            assert position.actor == batch.actors[0]
            if position.is_over:
                break
            assert position.legal_actions == np.flatnonzero(batch.action_masks[0]).tolist()
            np.testing.assert_array_equal(position.legal_mask, batch.action_masks[0])
            np.testing.assert_array_equal(position.observe(position.actor), batch.observations[0])
            action = int(batch.random_actions()[0])
            batch.step([action])
            drawn = overheard.step(plain, batch.tables, action)
            position = position.after(action)


@over_games
def test_outcomes_are_possible_and_their_chances_sum_up(config: Config) -> None:
    for position in played(config):
        outcomes = position.chance_outcomes
        assert bool(outcomes) == position.is_chance
        if position.is_chance:
            assert len(outcomes) > 1 and all(chance > 0 for _, chance in outcomes)
            assert sum(chance for _, chance in outcomes) == pytest.approx(1)
            assert [outcome for outcome, _ in outcomes] == sorted({outcome for outcome, _ in outcomes})
            assert position.legal_actions == [] and not position.legal_mask.any()
            impossible = set(range(-1, 300)) - {outcome for outcome, _ in outcomes}
            for outcome in sorted(impossible)[:4]:
                with pytest.raises(IllegalAction, match="outcome"):
                    position.after(outcome)


def test_chance_has_the_distribution_of_ordinary_games() -> None:
    """On set-ups of the solo game, whose draws depend on each other: sorted tiles, and dice that are rolled again."""
    number, config = 3000, PetrichorConfig()
    generator = np.random.default_rng(0)
    first = positions_of(config).first
    told = np.concatenate([first.settled(generator).states for _ in range(number)])
    usual = Batch(config, number, seed=0).states
    features: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "first tile": lambda s: s["crop"][:, 0],
        "third tile": lambda s: s["crop"][:, 4],
        "dice": lambda s: s["dice"].astype(int) @ [1, 10, 100],
        "own cloud": lambda s: s["cloud_drops"][:, :, 0].argmax(axis=1),
        "frost cards": lambda s: s["hand"][:, 0, 0],
        "first card": lambda s: s["winds_card"][:, 0],
    }
    for name, feature in features.items():
        one: Counter[int] = Counter(feature(told).tolist())
        other: Counter[int] = Counter(feature(usual).tolist())
        kinds = [kind for kind in one | other if one[kind] + other[kind] >= 20]
        assert len(kinds) > 2
        table = [[one[kind] for kind in kinds], [other[kind] for kind in kinds]]
        assert chi2_contingency(table).pvalue > 1e-3, name


def test_a_draw_of_kinds_has_their_shares() -> None:
    """Leduc has six cards of three ranks. The second card is one of five."""
    first = positions_of(leduc_poker.Config()).first
    assert first.pending == BEGIN and not first.has_begun
    assert dict(first.chance_outcomes) == pytest.approx({0: 1 / 3, 1: 1 / 3, 2: 1 / 3})
    second = first.after(1)
    assert dict(second.chance_outcomes) == pytest.approx({0: 0.4, 1: 0.2, 2: 0.4})
    assert second.outcomes == (1,) and second.actor == CHANCE
    begun = second.after(2)
    assert begun.state.cards.tolist() == [1, 2] and begun.actor == 0
    open_card = begun.after(leduc_poker.CALL).after(leduc_poker.CALL)
    assert dict(open_card.chance_outcomes) == pytest.approx({0: 0.5, 1: 0.25, 2: 0.25})
    assert open_card.pending == leduc_poker.CALL
    assert open_card.after(0).state.open_card == 0


def test_a_game_without_chance_has_no_draws() -> None:
    assert all(not position.is_chance for position in played(connect_four.Config()))


MODES = """
import hashlib
from tabletop_engine.positions.position import Positions
from tests.games import leduc_poker

def tree(position, found):
    known = [position.knowledge(seat).hex() for seat in (0, 1)]
    returns = position.returns("points").tolist()
    found.update(repr((position.states.tobytes(), position.actor, position.chance_outcomes, returns, known)).encode())
    for action in [outcome for outcome, _ in position.chance_outcomes] or position.legal_actions:
        tree(position.after(action), found)

found = hashlib.sha256()
tree(Positions(leduc_poker.Config()).first, found)
print(found.hexdigest())
"""


@pytest.mark.parametrize("mode", ["NUMBA_DISABLE_JIT", pytest.param("TABLETOP_PLAIN_NJIT", marks=pytest.mark.slow)])
def test_every_way_to_run_rules_finds_the_same_tree(mode: str) -> None:
    """All histories of Leduc poker, with rules compiled as usual, not compiled, and compiled by plain Numba."""
    printed = set()
    for switched in ({}, {mode: "1"}):
        printed.add(in_python(MODES, env={"PYTHONWARNINGS": "error", **switched}).stdout)
    assert len(printed) == 1


def test_bits_that_are_no_draw_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chance that can't be scripted raises an error; it is not ignored."""
    positions = Positions(connect_four.Config())

    def play(*arguments: Any) -> None:
        arguments[-1][:] = 0, 0, 0, 0, 0, 1  # the facts say: no draw, but the random stream changed

    monkeypatch.setattr(positions.kernels, "play_scripted", play)
    with pytest.raises(StateError, match=r"no draw of tabletop_engine\.chance, or Numba"):
        positions.first  # noqa: B018


# --- Rewards ---------------------------------------------------------------------------------------------------------


@pytest.mark.one_in(4)
@over_games
@pytest.mark.parametrize("reward", REWARDS)
def test_returns_are_the_sum_of_rewards_and_those_of_the_batch(config: Config, reward: str) -> None:
    for seed in range(2):
        total, last = np.zeros(config.players), None
        for position in played(config, seed):
            total += position.rewards(reward)
            np.testing.assert_allclose(position.returns(reward), total, atol=1e-9)
            if position.is_chance:
                assert not position.rewards(reward).any()
            last = position
        assert last is not None and last.is_over
    batch = Batch(config, 1, 0, autoreset="disabled", reward=reward)
    paid, total = np.zeros(config.players), np.zeros(config.players)
    while batch.actors[0] != NOBODY:
        before = positions_of(config).at(batch.states[0], check=False)
        action = batch.random_actions()
        batch.step(action)
        total += batch.rewards[0]
        after = before.after(int(action[0]))
        if not after.is_chance:  # `before` has no history, so this reward counts all points so far
            np.testing.assert_allclose(after.rewards(reward), paid + batch.rewards[0], atol=1e-9)
        paid = total.copy()
    np.testing.assert_allclose(after.returns(reward), total, atol=1e-9)


def test_a_game_played_out() -> None:
    position = positions_of(PetrichorConfig(players=3)).first
    returns = position.played_out(np.random.default_rng(0), games=20)
    assert returns.shape == (3,) and returns.sum() == pytest.approx(0) and np.abs(returns).max() <= 1
    again = position.played_out(np.random.default_rng(0), games=20)
    np.testing.assert_array_equal(returns, again)


# --- What is not possible --------------------------------------------------------------------------------------------


def test_slips_are_told() -> None:
    config = PetrichorConfig(players=2)
    position = positions_of(config).first.settled(np.random.default_rng(0))
    with pytest.raises(IllegalAction, match="does not answer 'setup_cloud'"):
        position.after(142)
    with pytest.raises(IllegalAction):
        position.after(-1)
    resampled = partial(position.resampled, generator=np.random.default_rng(0))
    asking: list[Callable[[Any], Any]] = [position.observe, position.knowledge, resampled]
    for wrong in (2, -1, 10**6, True, "0"):
        for ask in asking:
            with pytest.raises(ConfigError, match=r"seat=.*: must be an int from 0 to 1"):
                ask(wrong)
    with pytest.raises(ConfigError, match="one of 'win'"):
        position.returns("wins")
    *_, last = played(config)
    with pytest.raises(GameOver):
        last.after(0)
    with pytest.raises(StateError, match="players"):
        positions_of(config).at(Batch(PetrichorConfig(players=3), 1, 0).states[0])
    with pytest.raises(StateError, match="not a record of petrichor"):
        positions_of(config).at("a record")
    with pytest.raises(ConfigError):
        Positions("2p")  # type: ignore[arg-type]


def test_a_described_position() -> None:
    state = scenario({"players": 2, "hands": {"player_0": {"sun": 2}}})
    position = positions_of(PetrichorConfig(players=2)).at(state)
    assert describe(position.state)["hands"] == describe(state)["hands"]
    assert position.legal_actions and position.rewards().tolist() == [0, 0]


# --- What stays ------------------------------------------------------------------------------------------------------


@over_games
def test_a_position_never_changes(config: Config) -> None:
    nodes = list(played(config))
    kept = [node.states.tobytes() for node in nodes]
    for node in nodes[:: max(1, len(nodes) // 20)]:
        assert copy.deepcopy(node) is node and copy.copy(node) is node
        if not node.is_over:
            actions = [outcome for outcome, _ in node.chance_outcomes] or node.legal_actions
            for action in actions[:3]:
                assert node.after(action).states.tobytes() == node.after(action).states.tobytes()
        if not node.is_chance:
            node.resampled(0, np.random.default_rng(1))
    assert [node.states.tobytes() for node in nodes] == kept


# --- Bytes -----------------------------------------------------------------------------------------------------------


@over_games
def test_saved_and_loaded(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of this process and of another one, and pickles, at decisions and draws."""
    positions = positions_of(config)
    nodes = list(played(config))
    for node in [*nodes[:3], *nodes[3 :: max(1, len(nodes) // 12)], nodes[-1]]:
        data = node.save()
        with monkeypatch.context() as patch:
            loaded = [positions.load(data), pickle.loads(pickle.dumps(node))]
            patch.setattr(position_module, "_KEY", b"another process")
            loaded += [positions.load(data), positions.load(bytearray(data))]
        for one in loaded:
            assert one.positions is positions
            assert one.save()[:-16] == data[:-16], "all but the signature"
            assert (one.actor, one.pending, one.outcomes) == (
                node.actor,
                node.pending if node.is_chance else None,
                node.outcomes,
            )
            assert one.chance_outcomes == node.chance_outcomes and one.legal_actions == node.legal_actions
            for seat in range(config.players):
                assert one.knowledge(seat) == node.knowledge(seat)
            for reward in REWARDS:
                np.testing.assert_array_equal(one.rewards(reward), node.rewards(reward))
                np.testing.assert_array_equal(one.returns(reward), node.returns(reward))


def signed_anew(body: bytes) -> bytes:
    """A save with a correct checksum, as somebody could write it from this code without the process's key."""
    digest = position_module._digest(body)
    return body + digest + bytes(16)


def test_bytes_that_are_no_position() -> None:
    config = PetrichorConfig(players=2)
    positions = positions_of(config)
    position = positions.first.settled(np.random.default_rng(0))
    data, draw = position.save(), positions.first.save()
    body, start = data[:-32], len(positions.header.text)
    end = start + config.game.state.itemsize
    for wrong in ("text", None, 3):
        with pytest.raises(StateError, match="is bytes, not"):
            positions.load(wrong)  # type: ignore[arg-type]
    for length in (0, 1, 17, 30, start, start + 100, len(data) - 1):
        with pytest.raises(StateError):
            positions.load(data[:length])
        if length < len(body):
            with pytest.raises(StateError):
                positions.load(signed_anew(body[:length]))
    for place in range(0, len(data) - 16, 7):
        with pytest.raises(StateError):
            positions.load(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    with pytest.raises(StateError, match="has players 3; here it is 2"):
        positions.load(positions_of(PetrichorConfig(players=3)).first.save())
    with pytest.raises(StateError, match="has game"):
        Positions(leduc_poker.Config()).load(Positions(connect_four.Config()).first.save())

    def forged(field: str, at: Any, value: int) -> bytes:
        record = np.frombuffer(body[start:end], config.game.state).copy()
        record[field][at] = value
        return signed_anew(body[:start] + record.tobytes() + body[end:])

    def with_draws(saved: bytes, *numbers: int) -> bytes:
        return signed_anew(saved[:-40] + np.array(numbers, "<i4").tobytes())

    for saved, message in (
        (signed_anew(body[:60] + b"\xff" + body[61:]), "header is not JSON"),
        (forged("hand", (0, 0, 0), 99), "card"),
        (forged("rounds", 0, 6), "rounds"),
        (forged("rng", 0, 1), "random stream"),
        (with_draws(draw, BEGIN, 1, 77), "not a possible outcome"),
        (with_draws(draw, BEGIN, 9, 1), "number of its draws is wrong"),
        (with_draws(data, BEGIN, 0), "number of its draws is wrong"),
        (with_draws(data, position.legal_actions[0], 0), "nothing is drawn"),
        (with_draws(data, 142, 0), "action 142 is not legal"),
        (with_draws(draw, BEGIN, 5000, *[0] * 5000), "not a position of"),
    ):
        with pytest.raises(StateError, match=message):
            positions.load(saved)


# --- Knowledge -------------------------------------------------------------------------------------------------------


def test_knowledge_is_what_a_seat_has_seen_and_done() -> None:
    """In the whole tree of Leduc poker, digests are equal exactly if everything seen and done is equal."""
    told: dict[tuple[int, Any], set[bytes]] = {}
    nodes = 0

    def walk(position: Position, memories: tuple[tuple[Any, ...], ...]) -> None:
        nonlocal nodes
        nodes += 1
        if not position.is_chance:
            seen = [position.observe(seat).tobytes() for seat in (0, 1)]
            memories = tuple(
                memory if memory[-1:] == (now,) else (*memory, now) for memory, now in zip(memories, seen, strict=True)
            )
        for seat in (0, 1):
            told.setdefault((seat, memories[seat]), set()).add(position.knowledge(seat))
        for action in [outcome for outcome, _ in position.chance_outcomes] or position.legal_actions:
            after = memories
            if not position.is_chance:
                after = tuple(
                    (*memory, action) if seat == position.actor else memory for seat, memory in enumerate(memories)
                )
            walk(position.after(action), after)

    walk(positions_of(leduc_poker.Config()).first, ((), ()))
    assert nodes > 1000
    assert all(len(digests) == 1 for digests in told.values())
    assert len({digest for digests in told.values() for digest in digests}) == len({memory for _, memory in told}) > 500


@over_games
def test_resampling_keeps_what_the_seat_knows(config: Config) -> None:
    """For every seat, asked or not, also afterwards as long as the seat sees the same."""
    generator = np.random.default_rng(3)
    changed = 0
    nodes = [node for node in played(config, seed=1) if not node.is_chance]
    for node in nodes[:: max(1, len(nodes) // 40)]:
        for seat in range(config.players):
            other = node.resampled(seat, generator)
            changed += other.states.tobytes() != node.states.tobytes()
            assert other.knowledge(seat) == node.knowledge(seat)
            np.testing.assert_array_equal(other.observe(seat), node.observe(seat))
            np.testing.assert_array_equal(other.returns(), node.returns())
            if node.actor == seat:
                assert other.actor == seat and other.legal_actions == node.legal_actions
                for action in node.legal_actions[:2]:
                    one, same = node.after(action), other.after(action)
                    if not one.is_chance and not same.is_chance:
                        alike = np.array_equal(one.observe(seat), same.observe(seat))
                        assert (one.knowledge(seat) == same.knowledge(seat)) == alike
            if config.players > 1 and not node.is_over:
                unlike = (seat + 1) % config.players
                assert other.knowledge(unlike) != node.knowledge(unlike), "others' memories are made up"
    assert bool(changed) == (config.players > 1 and config.game is not connect_four.GAME)


def test_resampling_is_repeatable_and_tells_nothing() -> None:
    """Two positions that a seat can't tell apart give the same resampled positions, also in what the others know."""
    config = PetrichorConfig(players=3)
    for node in [node for node in played(config) if not node.is_chance][30:33]:
        seat = node.actor
        twin = node.resampled(seat, np.random.default_rng(5))
        ones, others = (one.resampled(seat, np.random.default_rng(6)) for one in (node, twin))
        assert ones.states.tobytes() == others.states.tobytes()
        assert [ones.knowledge(each) for each in range(3)] == [others.knowledge(each) for each in range(3)]


def test_resampling_at_a_draw() -> None:
    config = leduc_poker.Config()
    first = positions_of(config).first
    assert first.resampled(0, np.random.default_rng(0)) is first
    draw = first.after(0).after(1).after(leduc_poker.CALL).after(leduc_poker.CALL)
    assert draw.is_chance
    cards = {int(draw.resampled(1, np.random.default_rng(seed)).state.cards[0]) for seed in range(30)}
    assert cards == {0, 1, 2}
    again = draw.resampled(1, np.random.default_rng(0))
    assert again.is_chance and again.knowledge(1) == draw.knowledge(1)
    with pytest.raises(ConfigError, match="only player_1"):
        draw.resampled(0, np.random.default_rng(0))
