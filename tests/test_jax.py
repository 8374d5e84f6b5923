"""Environments for JAX beside `Batch`, what JAX's programs do with them, and what they refuse.

Programs of `docs/jax/` and adapters for other libraries are in `test_jax_programs.py`.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evergreen_env
import petrichor_env
from tabletop_engine.compiling.compiled import JIT
from tabletop_engine.errors import ComponentsError, ConfigError, StateError, TabletopError
from tabletop_engine.game import NOBODY, Config
from tabletop_engine.play.batch import Batch
from tests.games import connect_four, leduc_poker
from tests.support.cases import CONFIGS, WITHOUT_CHANCE, over_configs
from tests.support.effort import games
from tests.support.processes import in_python

if not JIT:
    pytest.skip("the rules are plain Python here", allow_module_level=True)
jax = pytest.importorskip("jax", reason="needs the extra jax")
jnp: Any = jax.numpy

from tabletop_engine.envs.jax import Env, State  # noqa: E402 - needs jax

PETRICHOR, SOLO = petrichor_env.Config(players=3), petrichor_env.Config()
OPTIONS: list[dict[str, Any]] = [
    {"autoreset": "same_step", "reward": "win", "observation_dtype": "float32"},
    {"autoreset": "disabled", "reward": "margin", "observation_dtype": "int8"},
    {"autoreset": "same_step", "reward": "points", "observation_dtype": "int8"},
]


made: Any = cache(Env)


def many(env: Env) -> Callable[..., State]:
    return jax.jit(jax.vmap(env.step))


def raw(states: np.ndarray) -> np.ndarray:
    return states.view(np.uint8).reshape(len(states), -1)


def assert_equal(one: Any, other: Any) -> None:
    """Two trees of arrays."""
    jax.tree.map(np.testing.assert_array_equal, one, other)


def assert_same(state: State, batch: Batch) -> None:
    np.testing.assert_array_equal(state.record, raw(batch.states))
    np.testing.assert_array_equal(np.asarray(state.paid).view(np.int64), batch.paid)
    assert np.asarray(state.observation).dtype == batch.observations.dtype
    np.testing.assert_array_equal(state.observation, batch.observations)
    np.testing.assert_array_equal(state.legal_action_mask, batch.action_masks == 1)
    np.testing.assert_array_equal(state.rewards, batch.rewards.astype(np.float32))
    np.testing.assert_array_equal(state.current_player, batch.actors)
    np.testing.assert_array_equal(state.illegal, batch.illegal)


def in_the_middle(config: Any, number: int, steps: int, **options: Any) -> tuple[Env, State, Batch]:
    """Games after some random steps; ended ones go on with the next game."""
    batch = Batch(config, number, 5)
    for _ in range(steps):
        batch.step(batch.random_actions())
    env = made(config, **options)
    return env, env.from_records(batch.states, batch.paid), batch


def first_legal(state: State) -> Any:
    return jnp.argmax(state.legal_action_mask, -1)


# --- The games are those of Batch ------------------------------------------------------------------------------------


@pytest.mark.one_in(2)
@over_configs
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options.values()))
def test_whole_games(config: Config, options: dict[str, Any]) -> None:
    """With slips: an illegal action loses."""
    number = games(12, 200)
    batch = Batch(config, number, 7, illegal_action="lose", **options)
    env, generator = made(config, **options), np.random.default_rng(0)
    step, state = many(env), env.from_records(batch.states, batch.paid)
    assert_same(state, batch)
    ended = np.zeros(number, np.bool_)
    while not ended.all():
        actions, over = batch.random_actions(), batch.actors == NOBODY
        slips = generator.random(number) < 0.002
        actions[slips] = generator.integers(-3, 2 * env.num_actions, int(slips.sum()))
        batch.step(actions, ~over)
        state = step(state, actions)
        assert_same(state, batch)
        done = batch.terminations if env.autoreset == "same_step" else batch.actors == NOBODY
        np.testing.assert_array_equal(state.terminated, done)
        assert not np.asarray(state.truncated).any()
        ended |= done
    if env.autoreset == "disabled":
        np.testing.assert_array_equal(jax.vmap(env.places)(state), batch.places(batch.states))
        again = step(state, np.zeros(number, np.int32))
        assert_equal(again, state.replace(rewards=jnp.zeros_like(state.rewards), illegal=jnp.zeros(number, bool)))
        assert np.asarray(again.terminated).all() and np.asarray(again.legal_action_mask).all()


@pytest.mark.parametrize("illegal_action", ["lose", "random"])
def test_illegal_actions(illegal_action: str) -> None:
    options: dict[str, Any] = {"illegal_action": illegal_action, "autoreset": "same_step"}
    config = petrichor_env.Config(players=2)
    batch, env = Batch(config, 64, 3, **options), made(config, **options)
    step, state, generator = many(env), env.from_records(batch.states), np.random.default_rng(0)
    for _ in range(60):
        actions = np.where(generator.random(64) < 0.2, generator.integers(-5, 999, 64), batch.random_actions())
        batch.step(actions)
        state = step(state, actions)
        assert_same(state, batch)


def test_illegal_actions_are_an_error_if_wanted() -> None:
    env = made(SOLO, illegal_action="raise")
    state = jax.vmap(env.init)(jax.random.split(jax.random.key(0), 4))
    step = many(env)
    with pytest.raises(Exception, match="tabletop: an action is not legal"):
        jax.block_until_ready(step(state, np.array([0, 1, 2, 999])))
    assert not np.asarray(jax.block_until_ready(step(state, first_legal(state))).illegal).any()


def test_a_state_carries_its_edition() -> None:
    """Also from an environment with other options, which is one for the same games."""
    batch = Batch(SOLO, 40, 3, editions=5, reward="margin")
    env = made(SOLO, editions=5, reward="margin", autoreset="same_step")
    assert len({*batch.states["edition"].tolist()}) == 5
    step, state = many(env), env.from_records(batch.states, batch.paid)
    for _ in range(150):
        actions = batch.random_actions()
        batch.step(actions)
        state = step(state, actions)
        assert_same(state, batch)
    new = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(1), 200))
    assert {*env.to_records(new)["edition"].tolist()} == {0, 1, 2, 3, 4}
    other = made(SOLO, editions=5, observation_dtype="int8")
    assert_equal(many(other)(state, actions).record, many(made(SOLO, editions=5))(state, actions).record)
    with pytest.raises(StateError, match=r"the state is of petrichor for 1 \(.*this environment plays petrichor for 1"):
        made(SOLO).step(state, 0)
    with pytest.raises(ComponentsError):
        Env(connect_four.Config(), editions=3)


# --- However it is called --------------------------------------------------------------------------------------------


@pytest.mark.one_in(3)
@over_configs
def test_one_game_and_many_games(config: Config) -> None:
    env, states, _ = in_the_middle(config, 6, 4)
    actions = first_legal(states)
    wanted = many(env)(states, actions)
    single = [jax.tree.map(lambda x, i=i: x[i], states) for i in range(6)]
    apart = jax.tree.map(lambda *x: jnp.stack(x), *[env.step(one, actions[i]) for i, one in enumerate(single)])
    square = jax.tree.map(lambda x: x.reshape(2, 3, *x.shape[1:]), states)
    nested = jax.vmap(jax.vmap(env.step))(square, actions.reshape(2, 3))
    loop = jax.lax.map(lambda given: env.step(*given), (states, actions))
    for other in (apart, jax.tree.map(lambda x: x.reshape(6, *x.shape[2:]), nested), loop):
        assert_equal(other, wanted)
    legal = np.flatnonzero(single[0].legal_action_mask)
    answers = jax.vmap(env.step, in_axes=(None, 0))(single[0], legal)
    for i, action in enumerate(legal):
        assert_equal(jax.tree.map(lambda x, i=i: x[i], answers), env.step(single[0], action))
    assert_equal(jax.vmap(env.step, in_axes=(0, None))(states, 0), many(env)(states, np.zeros(6, np.int32)))
    none = many(env)(jax.tree.map(lambda x: x[:0], states), actions[:0])
    assert none.record.shape == (0, states.record.shape[1])
    assert_equal(pickle.loads(pickle.dumps(jax.device_get(states))).record, states.record)


def rollout(env: Env, steps: int) -> Any:
    def one(state: State, key: Any) -> tuple[State, Any]:
        draws = jax.random.uniform(key, state.legal_action_mask.shape)
        state = jax.vmap(env.step)(state, jnp.argmax(draws * state.legal_action_mask, -1))
        return state, (state.rewards, state.terminated)

    return lambda state, key: jax.lax.scan(one, state, jax.random.split(key, steps))


def test_a_scan_is_deterministic_and_leaves_its_input() -> None:
    env, state, _ = in_the_middle(evergreen_env.Config(players=2), 32, 0, autoreset="same_step")
    before, key, run = np.array(state.record), jax.random.key(0), jax.jit(rollout(env, 300))
    one = run(state, key)
    assert_equal(one, run(state, key))
    assert np.asarray(one[1][1]).any() and np.array_equal(before, state.record)
    donated = jax.jit(rollout(env, 300), donate_argnums=0)(jax.tree.map(jnp.copy, state), key)
    assert_equal(one, donated)


def test_several_threads_run_programs_at_once() -> None:
    env, state, _ = in_the_middle(PETRICHOR, 64, 3, autoreset="same_step")
    run, keys = jax.jit(rollout(env, 60)), jax.random.split(jax.random.key(2), 4)
    wanted = [np.asarray(run(state, key)[0].record) for key in keys]
    found: dict[int, list[np.ndarray]] = {number: [] for number in range(4)}

    def work(number: int) -> None:
        for _ in range(5):
            found[number].append(np.asarray(run(state, keys[number])[0].record))

    threads = [threading.Thread(target=work, args=(number,)) for number in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len(own) == 5 and all(np.array_equal(one, wanted[i]) for one in own) for i, own in found.items())


def test_results_that_nobody_has_awaited_stay_what_they_were() -> None:
    env, state, batch = in_the_middle(SOLO, 64, 0, autoreset="same_step")
    kept, step = [state], many(env)
    for _ in range(150):
        kept.append(step(kept[-1], first_legal(kept[-1])))
    for one in kept[1:]:
        batch.step(batch.action_masks.argmax(1))
        np.testing.assert_array_equal(one.record, raw(batch.states))


def test_gradients() -> None:
    """An action has none. A network's go through the observation, as policy gradients need it."""
    env = made(SOLO, reward="points")
    state = env.init(jax.random.key(0))

    def of_logits(logits: Any) -> Any:
        return env.step(state, jnp.argmax(jnp.where(state.legal_action_mask, logits, -jnp.inf))).rewards[0]

    def of_scale(scale: Any) -> Any:
        return (env.step(state, first_legal(state)).observation * scale).sum()

    assert not np.asarray(jax.grad(of_logits)(jnp.zeros(env.num_actions))).any()
    assert jax.grad(of_scale)(1.0) > 0
    with pytest.raises(ConfigError, match="action: must be an integer, not float32"):
        jax.grad(lambda action: env.step(state, action).rewards[0])(3.0)


# --- Chance and hidden information -----------------------------------------------------------------------------------


@over_configs
def test_what_a_seat_cannot_know_is_drawn_by_a_key(config: Config) -> None:
    """Observation and mask are those of the new position: a state keeps nothing of the true one."""
    env, state, batch = in_the_middle(config, 30, 9)
    seat, keys = config.players - 1, jax.random.split(jax.random.key(5), 30)
    hide = jax.jit(jax.vmap(env.sample_hidden, in_axes=(0, None, 0)))
    drawn = hide(state, seat, keys)
    assert_equal(drawn, hide(state, seat, keys))
    other = hide(state, seat, jax.random.split(jax.random.key(6), 30))
    assert (np.asarray(drawn.record) != np.asarray(other.record)).any(1).all()
    streams = np.array(jax.vmap(lambda key: jax.random.bits(key, (8,), jnp.uint8))(keys)).view(np.uint64)[:, 0]
    records, seats = batch.states.copy(), np.full(30, seat)
    config.game.kernels.sample_hidden_games(records, batch.tables, seats, streams)
    assert_equal(drawn.replace(paid=0), env.from_records(records).replace(paid=0, rewards=drawn.rewards))
    see = jax.vmap(env.observe, in_axes=(0, None))
    np.testing.assert_array_equal(see(drawn, seat), see(state, seat))
    np.testing.assert_array_equal(see(state, seat), batch.observe(seat))
    np.testing.assert_array_equal(state.record, raw(batch.states))


@pytest.mark.parametrize("config", [SOLO, PETRICHOR, leduc_poker.Config()], ids=str)
def test_positions_that_a_seat_cannot_tell_apart_are_redrawn_alike(config: Config) -> None:
    """So a search that begins with a redrawn position knows nothing that its seat does not know."""
    env, state, _ = in_the_middle(config, 40, 11)
    hide = jax.jit(jax.vmap(env.sample_hidden))
    seats, keys = state.current_player, jax.random.split(jax.random.key(1), 40)
    other = hide(state, seats, jax.random.split(jax.random.key(2), 40))
    assert (np.asarray(state.record) != np.asarray(other.record)).any(1).all()
    assert_equal(hide(state, seats, keys), hide(other, seats, keys).replace(rewards=state.rewards))


@pytest.mark.one_in(3)
@over_configs
def test_chance_follows_from_the_state_or_from_a_key(config: Config) -> None:
    env, state, _ = in_the_middle(config, 1, 0)
    first = jax.tree.map(lambda x: x[0], state)
    draws = jax.random.uniform(jax.random.key(4), (80, env.num_actions))

    def one(state: State, draw: Any) -> tuple[State, None]:
        return env.step(state, jnp.argmax(draw * state.legal_action_mask)), None

    def future(state: State, key: Any, how: str) -> Any:
        if how == "step":
            state = env.step(state, first_legal(state), key)
        else:
            state = getattr(env, how)(state, *[0] * (how == "sample_hidden"), key)
        return jax.lax.scan(one, state, draws)[0].record

    keys, name = jax.random.split(jax.random.key(9), 8), config.game.name
    streams = config.game.state.fields["rng"][1] + np.arange(8)  # type: ignore[index]
    for how in ("step", "reseed", "sample_hidden"):
        run = jax.jit(jax.vmap(lambda state, key, how=how: future(state, key, how), in_axes=(None, 0)))
        records = np.asarray(run(first, keys))
        np.testing.assert_array_equal(records, run(env.reseed(first, keys[0]), keys))
        futures = {one.tobytes() for one in np.delete(records, streams, axis=1)}
        has_chance = f"Small/{name}-v0" not in WITHOUT_CHANCE
        # in these games chance came at the set-up
        is_dealt = name in ("gem_market", "tricks", "tiny_hanabi") and how != "sample_hidden"
        assert len(futures) > 1 if has_chance and not is_dealt else len(futures) == 1
    alone = jax.jit(lambda state: jax.lax.scan(one, state, draws)[0])
    assert_equal(alone(first), alone(first))


# --- Bad input -------------------------------------------------------------------------------------------------------


def test_bad_arguments() -> None:
    wrong: dict[str, Any] = {"autoreset": "next_step", "illegal_action": "ignore", "reward": "none", "editions": 0}
    for name, value in {**wrong, "observation_dtype": "float64"}.items():
        with pytest.raises(ConfigError, match=f"{name}="):
            Env(SOLO, **{name: value})
    with pytest.raises(ConfigError, match="config=3: must be a game's configuration"):
        Env(3)  # type: ignore[arg-type]


def test_bad_states_and_actions_are_told_when_a_program_is_traced() -> None:
    env, state = made(PETRICHOR), made(PETRICHOR).init(jax.random.key(0))
    two = jax.tree.map(lambda x: jnp.stack([x, x]), state)
    for action in (1.0, jnp.float16(1), True, np.zeros(1)):
        with pytest.raises(ConfigError, match="action: must be an integer"):
            env.step(state, action)
    for other in (petrichor_env.Config(players=2), petrichor_env.Config(players=3, rounds=6), evergreen_env.Config()):
        with pytest.raises(StateError, match="the state is of petrichor for 3"):
            jax.jit(made(other).step)(state, 0)
    for given, action in (
        (two, jnp.zeros(2, jnp.int32)),
        (state, jnp.zeros(2, jnp.int32)),
        (state.replace(record=state.record[:-8]), 0),
        (state.replace(record=state.record.astype(jnp.int8)), 0),
    ):
        with pytest.raises(StateError, match=r"step: one of its arrays is .*use jax\.vmap\(env\.step\)"):
            env.step(given, action)
    with pytest.raises(StateError, match="must be given a State, not"):
        env.places(state.record)
    with pytest.raises(StateError, match="must be given a State, not"):
        env.step({"record": state.record}, 0)


@pytest.mark.parametrize("action", [2**31 - 1, -(2**31), np.uint8(250), np.uint32(2**32 - 3), np.int16(-7)])
def test_any_integer_is_an_action(action: Any) -> None:
    after = made(SOLO).step(made(SOLO).init(jax.random.key(0)), action)
    assert after.illegal and after.terminated and after.rewards == -1


def test_a_seat_that_is_none_is_an_error() -> None:
    """But in a game that is over -1 stands for seat 0, as in its observation."""
    env, state = made(PETRICHOR), made(PETRICHOR).init(jax.random.key(0))
    key = jax.random.key(1)
    for seat in (3, -2, 2**31 - 1, 127):
        for call, more in ((env.observe, ()), (env.sample_hidden, (key,))):
            with pytest.raises(Exception, match="tabletop: there is no such player"):
                jax.block_until_ready(call(state, seat, *more))
    over = env.step(state, 999)
    assert over.current_player == -1
    assert_equal(env.observe(over, -1), over.observation)
    assert env.sample_hidden(over, -1, key).terminated


@pytest.mark.one_in(3)
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.game.name}-{config.players}")
def test_a_record_that_was_changed_by_hand_is_refused(config: Config) -> None:
    """By any method; whether a bit was changed, or all is noise."""
    env, state, _ = in_the_middle(config, 8, 5)
    size, generator = state.record.shape[1], np.random.default_rng(0)
    key, zeros = jax.random.split(jax.random.key(0), 8), np.zeros(8, np.int32)
    calls: list[tuple[Any, Any]] = [
        (many(env), (zeros,)),
        (jax.jit(jax.vmap(env.observe)), (zeros,)),
        (jax.jit(jax.vmap(env.sample_hidden)), (zeros, key)),
        (jax.jit(jax.vmap(env.reseed)), (key,)),
        (jax.jit(jax.vmap(env.places)), ()),
    ]
    for number in range(games(60, 2000)):
        record, seal = np.array(state.record), np.array(state.seal)
        game, place = generator.integers(8), generator.integers(size)
        if number % 3 == 0:
            record[game, place] ^= 1 << generator.integers(8)
        elif number % 3 == 1:
            record[game] = generator.integers(0, 256, size)
        else:
            record[game] = 0
            seal[game] = generator.integers(0, 256) if number % 2 else 0
        call, more = calls[number % len(calls)]
        with pytest.raises(Exception, match="tabletop: a record is not one of this Env's"):
            jax.block_until_ready(call(state.replace(record=record, seal=seal), *more))
    jax.block_until_ready(many(env)(state, zeros))


def test_records_are_checked() -> None:
    env, state, batch = in_the_middle(PETRICHOR, 4, 9)
    records = batch.states.copy()
    np.testing.assert_array_equal(env.to_records(state), records)
    assert env.to_records(jax.tree.map(lambda x: x[1], state)) == records[1]
    batch.set_states(env.to_records(state))
    for _ in range(5):
        batch.step(batch.random_actions())
    np.testing.assert_array_equal(state.record, raw(records))  # they were copied
    evergreen = Batch(evergreen_env.Config(players=3), 4, 0)
    for wrong in (evergreen.states, records[0], records.reshape(2, 2), records.tolist(), raw(records), None):
        with pytest.raises(StateError, match=r"records: must be an array \(N,\) of records of petrichor"):
            env.from_records(wrong)  # type: ignore[arg-type]
    for players, rounds in ((2, 4), (3, 6)):
        others = Batch(petrichor_env.Config(players=players, rounds=rounds), 4, 0).states
        with pytest.raises(StateError, match=r"records: \w+ of some of them differs"):
            env.from_records(others)
    for paid in (np.zeros((4, 1), np.int64), batch.paid.astype(np.int32), np.zeros((3, 5), np.int64)):
        with pytest.raises(StateError, match="paid: must be int64"):
            env.from_records(records, paid)


@pytest.mark.one_in(3)
@over_configs
def test_records_that_no_game_reaches_are_refused_or_can_be_played(config: Config) -> None:
    """Whatever a hand does to a record, the process goes on."""
    env, _, batch = in_the_middle(config, 1, 7)
    generator, step = np.random.default_rng(0), many(env)
    refused = 0
    for _ in range(games(40, 1000)):
        changed = batch.states.copy()
        content = changed.view(np.uint8)
        content[generator.integers(len(content))] ^= 1 << generator.integers(8)
        try:
            state = env.from_records(changed)
        except StateError:
            refused += 1
            continue
        try:
            for _ in range(3):
                state = step(state, first_legal(state))
            jax.block_until_ready(state)
        except ValueError as error:  # the record is a game's, but no game comes to it
            if "a game can't go on" not in str(error):
                raise
    assert refused


# --- In other processes ----------------------------------------------------------------------------------------------

SET_UP = """
import sys
import jax, jax.numpy as jnp, numpy as np
from petrichor_env import Config
from tabletop_engine.envs.jax import Env
"""
CACHED = (
    SET_UP
    + """
env = Env(Config())
state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), 4))
after = jax.jit(jax.vmap(env.step))(state, jnp.argmax(state.legal_action_mask, 1))
print(bytes(np.asarray(after.record)).hex())
"""
)
DEVICES = (
    SET_UP
    + """
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from tabletop_engine.play.batch import Batch
env = Env(Config(players=2), autoreset="same_step")
state = env.from_records(Batch(Config(players=2), 64, 3).states)
def one(state, _):
    state = jax.vmap(env.step)(state, jnp.argmax(state.legal_action_mask, -1))
    return state, state.rewards
def run(state):
    return jax.lax.scan(one, state, None, length=100)
whole = jax.jit(run)(state)[0]
games, mesh = PartitionSpec("games"), Mesh(np.array(jax.devices()), ("games",))
split = jax.device_put(state, NamedSharding(mesh, games))
mapped = jax.shard_map(run, mesh=mesh, in_specs=games, out_specs=(games, PartitionSpec(None, "games")), check_vma=False)
for program in (run, mapped):
    np.testing.assert_array_equal(jax.jit(program)(split)[0].record, whole.record)
wide = env.step(jax.tree.map(lambda x: x[0], state), np.int64(2**32) + jnp.argmax(state.legal_action_mask[0]))
print(len(jax.devices()), whole.rewards.dtype, bytes(np.asarray(whole.record)).hex()[:9999], bool(wide.illegal))
"""
)
EXPORTED = (
    SET_UP
    + """
given = np.load(sys.argv[1] + "/given.npz")
if sys.argv[2]:
    Env(Config(players=int(sys.argv[2])))
with open(sys.argv[1] + "/step", "rb") as file:
    step = jax.export.deserialize(bytearray(file.read()))
try:
    out = step.call(*(given[name] for name in ("record", "seal", "paid", "action")))
    print(np.array_equal(out, given["after"]))
except Exception as error:
    print(error)
"""
)


def test_an_exported_program_needs_its_environment(tmp_path: Path) -> None:
    env, state, _ = in_the_middle(SOLO, 4, 3)
    action = first_legal(state).astype(jnp.int32)

    def step(record: Any, seal: Any, paid: Any, action: Any) -> Any:
        return jax.vmap(env.step)(state.replace(record=record, seal=seal, paid=paid), action).record

    given = (state.record, state.seal, state.paid, action)
    safe = [jax.export.DisabledSafetyCheck.custom_call("tabletop_engine_v1")]
    exported = jax.export.export(jax.jit(step), disabled_checks=safe)(*given)
    (tmp_path / "step").write_bytes(exported.serialize())
    after = jax.jit(step)(*given)
    named: dict[str, Any] = dict(zip(("record", "seal", "paid", "action"), map(np.asarray, given), strict=True))
    np.savez(tmp_path / "given.npz", after=np.asarray(after), **named)
    assert in_python(EXPORTED, str(tmp_path), "1").stdout == "True\n"
    assert "tabletop: this program was made for a game" in in_python(EXPORTED, str(tmp_path), "2").stdout
    assert "tabletop_engine_v1" in in_python(EXPORTED, str(tmp_path), "").stdout


def test_programs_in_jaxs_cache_on_disk_are_safe(tmp_path: Path) -> None:
    settings = {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    first = in_python(CACHED, env=settings).stdout
    assert list(tmp_path.iterdir())
    assert in_python(CACHED, env=settings).stdout == in_python(CACHED).stdout == first


def test_64_bits_and_several_devices_change_nothing() -> None:
    """Sharded arrays: `jit` gathers them, `shard_map` does not. With 64 bits an action may be a large number."""
    one, wide, two = (
        in_python(DEVICES, env=env).stdout.split()
        for env in ({}, {"JAX_ENABLE_X64": "1"}, {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"})
    )
    assert one[0] == wide[0] == "1" and two[0] == "2"
    assert one[1] == wide[1] == "float32" and one[2] == wide[2] == two[2] and wide[3] == "True"


def test_a_jaxlib_with_another_interface_is_refused_before_it_breaks(tmp_path: Path) -> None:
    header = tmp_path / "xla" / "ffi" / "api" / "c_api.h"
    header.parent.mkdir(parents=True)
    header.write_text("#define XLA_FFI_API_MAJOR 1\n#define XLA_FFI_API_MINOR 0\n", encoding="utf-8")
    program = f"""
import jax
jax.ffi.include_dir = lambda: {str(tmp_path)!r}
from tests.games.connect_four import GAME
from tabletop_engine.envs.jax import Env
try:
    Env(GAME.config())
except ValueError as error:
    print(error)
print(jax.numpy.arange(3).sum())
"""
    told = in_python(program).stdout.splitlines()
    assert "jaxlib's interface for foreign functions must be 0.1 or a later 0.x" in told[0] and told[1] == "3"


def test_without_jax_or_machine_code_the_error_says_what_to_do() -> None:
    missing = "import sys; sys.modules['jax'] = None\nimport tabletop_engine.envs.jax"
    assert 'needs the extra "jax": pip install' in in_python(missing, status=1).stderr
    plain = "from tabletop_engine.envs.jax import Env\nfrom petrichor_env import Config\nEnv(Config())"
    told = in_python(plain, env={"NUMBA_DISABLE_JIT": "1"}, status=1).stderr
    assert f"{TabletopError.__name__}: games for JAX are machine code: unset NUMBA_DISABLE_JIT" in told
