"""Environments for JAX in other libraries: mctx, gymnax's interface, pgx's wrapper; and programs of `docs/jax`."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evergreen_env
import petrichor_env
from tabletop_engine.compiling.compiled import JIT
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Config
from tabletop_engine.play.batch import Batch
from tests.games import connect_four, leduc_poker

if not JIT:
    pytest.skip("the rules are plain Python here", allow_module_level=True)
jax = pytest.importorskip("jax", reason="needs the extra jax")
jnp: Any = jax.numpy
mctx = pytest.importorskip("mctx", reason="needs the extra jax")

from tabletop_engine.envs.jax import Env, Gymnax, SearchModel, State  # noqa: E402 - needs jax

PROGRAMS = Path(__file__).parents[1] / "docs" / "jax"


def evaluate(params: Any, state: State) -> tuple[Any, Any]:
    """No network: what depends on everything that is seen. Logits of illegal actions are high, which must not count."""
    weights = jax.random.normal(jax.random.key(8), (state.observation.shape[1], state.legal_action_mask.shape[1] + 1))
    outputs = jnp.tanh(state.observation @ weights)
    return jnp.where(state.legal_action_mask, outputs[:, 1:], 9.0), outputs[:, 0]


def no_expectation(params: Any, state: State) -> tuple[Any, Any]:
    return jnp.zeros(state.legal_action_mask.shape), jnp.zeros(len(state.current_player))


def search(env: Env, simulations: int, evaluate: Any = evaluate) -> Any:
    model = SearchModel(env, evaluate)

    def think(key: Any, state: State) -> Any:
        root = model.root(None, key, state)
        illegal = ~state.legal_action_mask
        return mctx.gumbel_muzero_policy(None, key, root, model.recurrent_fn, simulations, illegal, gumbel_scale=0.0)

    return jax.jit(think)


def in_the_middle(env: Env, games: int, steps: int) -> State:
    batch = Batch(env.config, games, 5)
    for _ in range(steps):
        batch.step(batch.random_actions())
    return env.from_records(batch.states, batch.paid)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "config",
    [petrichor_env.Config(), petrichor_env.Config(players=2), evergreen_env.Config(players=2), leduc_poker.Config()],
    ids=str,
)
def test_a_search_knows_nothing_that_its_seat_does_not_know(config: Config) -> None:
    """In positions that the seat can't tell apart it finds the same, and always something legal."""
    env = Env(config)
    state, think, key = in_the_middle(env, 24, 11), search(env, 12), jax.random.key(3)
    keys = jax.random.split(jax.random.key(7), 24)
    other = jax.vmap(env.sample_hidden)(state, state.current_player, keys)
    assert (np.asarray(state.record) != np.asarray(other.record)).any(1).all()
    one, two = think(key, state), think(key, other)
    np.testing.assert_array_equal(one.action_weights, two.action_weights)
    np.testing.assert_array_equal(one.action, two.action)
    assert np.take_along_axis(np.asarray(state.legal_action_mask), np.asarray(one.action)[:, None], 1).all()


def test_a_search_on_true_positions_knows_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the test above would find a search that does not redraw."""
    env = Env(petrichor_env.Config())
    state = in_the_middle(env, 24, 11)
    other = jax.vmap(env.sample_hidden)(state, state.current_player, jax.random.split(jax.random.key(7), 24))
    monkeypatch.setattr(env, "sample_hidden", lambda state, seat, key: state)
    think, key = search(env, 12), jax.random.key(3)
    assert not np.array_equal(think(key, state).action_weights, think(key, other).action_weights)


def test_a_search_for_two_wins_and_stops_the_other_one() -> None:
    """Rewards and values change their sign with the player. After these columns somebody can win in the next one."""
    env, key = Env(connect_four.Config()), jax.random.key(0)
    played = {(0, 6, 1, 6, 2, 5): 3, (0, 6, 1, 6, 2): 3, (0, 1, 0, 1, 6, 1): 1}
    batches = [Batch(env.config, 1, 0) for _ in played]
    for batch, columns in zip(batches, played, strict=True):
        for column in columns:
            batch.step([column])
    state = env.from_records(np.concatenate([batch.states for batch in batches]))
    found = search(env, 200, no_expectation)(key, state)
    assert found.action.tolist() == [*played.values()]
    after = jax.vmap(env.step)(state, found.action)
    assert after.terminated.tolist() == [True, False, False]  # the first one wins, the others stop a victory
    missed = jax.vmap(env.step)(jax.vmap(env.step)(state, np.array([4, 4, 4])), found.action)
    assert missed.terminated.tolist() == [False, True, True]


def test_models_and_adapters_refuse_other_environments() -> None:
    for config, options, match in (
        (petrichor_env.Config(players=3), {}, "one or two players"),
        (petrichor_env.Config(), {"autoreset": "same_step"}, "autoreset='disabled'"),
        (petrichor_env.Config(players=2), {"reward": "points"}, "reward='points': must be 'win' or 'margin'"),
    ):
        with pytest.raises(ConfigError, match=match):
            SearchModel(Env(config, **options), evaluate)
    for config in (petrichor_env.Config(), petrichor_env.Config(players=2)):
        with pytest.raises(ConfigError, match="one player with autoreset='same_step'"):
            Gymnax(Env(config))


@pytest.mark.parametrize("config", [petrichor_env.Config(), evergreen_env.Config(players=1)], ids=str)
def test_gymnaxs_interface(config: Config) -> None:
    """As a wrapper that logs returns uses it, in one program."""
    env = Gymnax(Env(config, autoreset="same_step", reward="points"))

    def one(carry: Any, key: Any) -> Any:
        state, total = carry
        action = jnp.argmax(state.legal_action_mask)
        observation, state, reward, done, info = env.step(key, state, action, env.default_params)
        total = total + reward
        return (state, jnp.where(done, 0.0, total)), (observation, done, total, info)

    key = jax.random.key(0)
    observation, state = jax.jit(env.reset)(key, env.default_params)
    assert observation.shape == env.observation_space(env.default_params).shape
    assert env.action_space(env.default_params).n == env.num_actions == len(state.legal_action_mask)
    run = jax.jit(lambda state, key: jax.lax.scan(one, (state, 0.0), jax.random.split(key, 300)))
    (last, _), (observations, done, totals, info) = run(state, key)
    assert observations.shape == (300, *observation.shape) and np.asarray(done).sum() > 1
    np.testing.assert_array_equal(info["discount"], 1.0 - np.asarray(done))
    assert not np.asarray(info["illegal"]).any() and info["legal_action_mask"].dtype == jnp.bool_
    assert len({*np.asarray(totals)[np.asarray(done)].tolist()}) > 1  # chance follows from the keys
    np.testing.assert_array_equal(last.observation, observations[-1])


def test_pgxs_wrapper() -> None:
    """It works; `autoreset="same_step"` is faster."""
    wrappers = pytest.importorskip("pgx.experimental.wrappers", reason="needs the extra bench")
    env = Env(petrichor_env.Config())
    step = wrappers.auto_reset(env.step, env.init)
    key = jax.random.key(0)

    def one(state: State, key: Any) -> Any:
        state = step(state, jnp.argmax(state.legal_action_mask), key)
        return state, state.terminated

    _, ended = jax.jit(lambda state, key: jax.lax.scan(one, state, jax.random.split(key, 200)))(env.init(key), key)
    assert 0 < np.asarray(ended).sum() < 10


# --- Programs for readers --------------------------------------------------------------------------------------------


def run(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    runpy.run_path(str(PROGRAMS / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out


def test_ppo(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("STEPS", "30000")
    told = run("ppo", capsys).splitlines()
    assert len(told) == 2 and re.search(r"32,768 decisions, +\d+ s: won [\d.]+% of 1,000 games", told[1])
    assert len((PROGRAMS / "ppo.py").read_text(encoding="utf-8").splitlines()) <= 250


def test_search(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The layers that it reads give what the project's network gives."""
    pytest.importorskip("torch")
    from tabletop_agents import POLICIES
    from tabletop_agents.policy import PolicyAgent

    monkeypatch.setenv("GAMES", "4")
    monkeypatch.setenv("SIMULATIONS", "4")
    found = runpy.run_path(str(PROGRAMS / "search.py"))
    file = POLICIES / "petrichor" / "solo.zip"
    parts, state = found["layers_of"](file), in_the_middle(found["env"], 20, 10)
    network = PolicyAgent.load(file, petrichor_env.GAME).network
    views = np.array(state.observation)
    logits, value = found["evaluate"](parts, state)
    wins, _ = network.win_and_margin(views, np.ones(20, np.int64))
    np.testing.assert_allclose(value, 2 * wins - 1, atol=1e-4)
    nothing = np.zeros(logits.shape, np.float32)
    wanted = network.log_probabilities(views, np.array(state.legal_action_mask), nothing)
    log_probabilities = jax.nn.log_softmax(jnp.where(state.legal_action_mask, logits, -1e8))
    legal = np.asarray(state.legal_action_mask)
    np.testing.assert_allclose(np.asarray(log_probabilities)[legal], wanted[legal], atol=1e-3)
    told = run("search", capsys)
    assert re.fullmatch(
        r"the network alone: won .* of 4 games, .*\nwith 4 simulations: won [\d.]+% of 4 games, .* a second\n", told
    )


def test_two_players(capsys: pytest.CaptureFixture[str]) -> None:
    found = re.fullmatch(
        r"1000 games, .* (\d+) decisions; won by seat 0: (\d+), by seat 1: (\d+)\n", run("two_players", capsys)
    )
    assert found
    steps, first, second = map(int, found.groups())
    assert steps > 60 and 1000 <= first + second < 1100  # a victory can be shared
