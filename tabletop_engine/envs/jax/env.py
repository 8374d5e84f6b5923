"""A game as pure functions for JAX, in the names of pgx: `init`, `step`, `observe`, and a `State` of arrays.

    env = Env(Config(players=2))
    state = env.init(key)                       # one game; `jax.vmap(env.init)(keys)`: many
    state = env.step(state, action)             # in jit, vmap, scan, while_loop; chance is in the state
    state = env.step(state, action, key)        # chance follows from the key

A state carries its own future: stepped twice with the same actions, it brings the same draws. A search must not know
them, nor what is hidden: `sample_hidden` draws all that anew, and `SearchModel` searches so. The rules run on the CPU.
"""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any, Self

import numpy as np

from tabletop_engine.compiling import xla
from tabletop_engine.compiling.compiled import JIT
from tabletop_engine.errors import ConfigError, StateError, TabletopError
from tabletop_engine.extras import needed
from tabletop_engine.game import Config, Game, switches_of
from tabletop_engine.play.batch import AUTORESETS, ILLEGAL_ACTIONS, OBSERVATION_DTYPES, REWARDS, check_config, choice
from tabletop_engine.play.plans import plans_of, seal
from tabletop_engine.play.tables import Editions, check_states, editions_of, tables_of
from tabletop_engine.play.warm_up import warm_up

jax: Any = needed("jax", "tabletop_engine.envs.jax", "jax")
jnp: Any = jax.numpy

Array = Any
"""An array of JAX."""


@dataclasses.dataclass(frozen=True)
class State:
    """A position, and what the last step brought. The arrays of many games have a first axis more.

    Attributes (P players, A actions, D numbers in an observation):
        current_player: int32, the seat that takes the pending decision; -1 when the game is over.
        observation: (D,) float32 or int8, what this seat sees; seat 0's view when the game is over.
        rewards: (P,) float32, those of the last step.
        terminated: bool, the game is over; with autoreset="same_step": the last step ended a game, and this is the
            beginning of the next one.
        truncated: bool, False.
        legal_action_mask: (A,) bool; all True when the game is over.
        illegal: bool, the last action was not legal.
        record: (B,) uint8, the engine's record, with the random stream and all that is hidden.
        paid: uint8, the points of each owner that rewards have counted so far, as int64.
        seal: (8,) uint8, a checksum: a record that was changed by hand is refused.
        made_by: what is played, in words. It is no array; states of different games can't be mixed.
    """

    current_player: Array
    observation: Array
    rewards: Array
    terminated: Array
    truncated: Array
    legal_action_mask: Array
    illegal: Array
    record: Array
    paid: Array
    seal: Array
    made_by: str

    def replace(self, **changes: Any) -> Self:
        """A copy with other values."""
        return dataclasses.replace(self, **changes)


jax.tree_util.register_dataclass(
    State, [field.name for field in dataclasses.fields(State) if field.name != "made_by"], ["made_by"]
)


class Env:
    """A game for JAX. All methods but `from_records` and `to_records` can be parts of programs.

    They are for one game; `jax.vmap` makes them for many. A state that one environment made can be given to another one
    with the same configuration and editions, whatever the other arguments.

    What goes wrong when a program runs is an error of JAX (`JaxRuntimeError` or `ValueError`), raised where a result is
    used, whose text begins with "tabletop:".

    Arguments:
        config: the configuration of a game.
        autoreset: "disabled": a step of a game that is over changes nothing and brings the reward 0. "same_step": the
            next game starts within the step that ends one.
        illegal_action: "lose": the seat loses and its game ends. "random": a random legal action is played instead.
            "raise": the program ends with an error.
        reward, observation_dtype, editions: as of `Batch`.

    Attributes:
        config: the configuration.
        game: the game that is played.
        id, version: the game's name, and the version of its package.
        num_players, num_actions: P and A.
        observation_shape: (D,).
        autoreset, reward: the arguments.

    Raises ConfigError for bad arguments, ComponentsError for bad numbers, and TabletopError where jax is missing, or is
    a version that this can't work with.
    """

    def __init__(
        self,
        config: Config,
        *,
        autoreset: str = "disabled",
        illegal_action: str = "lose",
        reward: str = "win",
        observation_dtype: str = "float32",
        editions: Editions | None = None,
    ) -> None:
        if not JIT:
            raise TabletopError("games for JAX are machine code: unset NUMBA_DISABLE_JIT")
        self.config: Config = config
        self.game: Game = check_config(config)
        game = self.game
        if game.state["points"].base.kind == "f":
            raise TabletopError(f"{game.title}: its points have halves, and games for JAX have whole points")
        modes = [
            choice("autoreset", autoreset, {name: AUTORESETS[name] for name in ("disabled", "same_step")}),
            choice("illegal_action", illegal_action, ILLEGAL_ACTIONS),
            choice("reward", reward, REWARDS),
        ]
        dtype = choice("observation_dtype", observation_dtype, OBSERVATION_DTYPES)
        self.id: str = game.name
        self.version: str = game.version
        self.num_players: int = config.players
        self.num_actions: int = game.num_actions
        self.observation_shape: tuple[int, ...] = (game.observation.size,)
        self.autoreset: str = autoreset
        self.reward: str = reward
        if game.state.itemsize % 8:
            raise TabletopError(f"the record of {game.name} has no whole words: declare it with tabletop_engine.record")
        self._tables = tables_of(game, editions_of(config, editions))
        versions = repr((game.name, game.state_version, game.rules_version, game.layout_hash))
        switches = {name: value.tolist() for name, value in switches_of(config).items()}
        digest = hashlib.sha256(f"{versions} {switches}".encode() + self._tables.tobytes()).digest()
        self._kind = int.from_bytes(digest[:8], "little", signed=True)
        self._made_by = f"{game.name} for {config.players} ({config.name}, {digest[:4].hex()})"
        warm_up(game)
        xla.register_handler(jax.ffi)
        self._plans = plans_of(config, self._tables, np.array(modes, np.int64), dtype, self._kind)

    # --- pgx's interface ---

    def init(self, key: Array) -> State:
        """A new game, whose random stream follows from the key."""
        record, seal, *view = self._call("init", _stream(key))
        return self._state(record, seal, jnp.zeros(8 * self.game.max_owners, jnp.uint8), *view)

    def step(self, state: State, action: Array, key: Array | None = None) -> State:
        """Play an action, one integer.

        With a key, the draws of chance from here on follow from the key; without one, from the state. What was drawn
        before and is hidden, such as the order of a shuffled deck, stays: `sample_hidden` draws that anew, too.
        """
        if key is not None:
            state = self.reseed(state, key)
        self._check("step", state)
        record, seal, paid, *view, rewards, ended, illegal = self._call(
            "step", state.record, state.seal, state.paid, _int32("action", action)
        )
        after = self._state(record, seal, paid, *view)
        terminated = ended if self.autoreset == "same_step" else after.terminated
        return after.replace(rewards=rewards, terminated=terminated, illegal=illegal)

    def observe(self, state: State, player_id: Array | None = None) -> Array:
        """(D,) what a seat sees; None: the one that decides. In a game that is over -1 stands for seat 0."""
        if player_id is None:
            return state.observation
        self._check("observe", state)
        return self._call("observe", state.record, state.seal, _seat(player_id))[0]

    # --- chance and hidden information ---

    def reseed(self, state: State, key: Array) -> State:
        """The same position with another random stream: the draws of chance from here on follow from the key."""
        self._check("reseed", state)
        record, seal = self._call("reseed", state.record, state.seal, _stream(key))
        return state.replace(record=record, seal=seal)

    def sample_hidden(self, state: State, player_id: Array, key: Array) -> State:
        """A position that this seat can't tell from the given one: all that it can't know, and the future, are drawn
        anew.
        """
        self._check("sample_hidden", state)
        record, seal, observation, mask, actor = self._call(
            "sample_hidden", state.record, state.seal, _seat(player_id), _stream(key)
        )
        return state.replace(
            record=record,
            seal=seal,
            observation=observation,
            legal_action_mask=mask,
            current_player=actor.astype(jnp.int32),
        )

    # --- results and records ---

    def places(self, state: State) -> Array:
        """(owners,) int8: each owner's place in a finished game; 1 is the first, equal owners share a place."""
        self._check("places", state)
        return self._call("places", state.record, state.seal)[0][: self.config.owners]

    def from_records(self, records: np.ndarray, paid: np.ndarray | None = None) -> State:
        """The state of N games whose records are given, such as `Batch.states`, which are copied. Not in programs.

        Arguments:
            records: (N,) records of games with this configuration.
            paid: (N, owners) int64, the points that rewards have counted, such as `Batch.paid`; None: no points.

        Raises StateError for records of another game or configuration, and for those that no game can reach.
        """
        game = self.game
        if not isinstance(records, np.ndarray) or records.dtype != game.state or records.ndim != 1:
            kind = f"{records.dtype!s:.40} {records.shape}" if isinstance(records, np.ndarray) else f"{records!r:.80}"
            raise StateError(f"records: must be an array (N,) of records of {game.name}, not {kind}")
        for name, wanted in switches_of(self.config).items():
            if (records[name] != wanted).any():
                raise StateError(f"records: {name} of some of them differs from that of {self.config.name!r}")
        check_states(game, records, self._tables)
        shape = (len(records), game.max_owners)
        paid = np.zeros(shape, np.int64) if paid is None else np.asarray(paid)
        if paid.dtype != np.int64 or paid.shape != shape:
            raise StateError(f"paid: must be int64 {shape}, not {paid.dtype} {paid.shape}")
        given, seals = np.array(records), np.zeros(len(records), np.uint64)
        seal(given.view(np.uint64).reshape(len(given), -1), self._kind, seals)
        raw = [one.view(np.uint8).reshape(len(given), -1) for one in (given, seals, np.array(paid))]
        return jax.jit(jax.vmap(self._viewed))(*jax.device_put(raw, jax.devices("cpu")[0]))

    def to_records(self, state: State) -> np.ndarray:
        """The records of N games, (N,), or of one, (), as `Batch.set_states` takes them. Not in programs."""
        self._check("to_records", state)
        raw = np.array(state.record)
        return raw.reshape(-1).view(self.game.state).reshape(raw.shape[:-1])

    # --- inside ---

    def _check(self, name: str, state: State) -> None:
        """Raise StateError for what is no state of such games."""
        if not isinstance(state, State):
            raise StateError(f"{name}: must be given a State, not {type(state).__name__}")
        if state.made_by != self._made_by:
            raise StateError(f"{name}: the state is of {state.made_by}, this environment plays {self._made_by}")

    def _call(self, name: str, *arguments: Array) -> Any:
        plan = self._plans[name]
        for given, wanted in zip(arguments, plan.arguments, strict=True):
            if given.shape != wanted.shape or given.dtype != wanted.dtype:
                kind = f"{given.dtype} {given.shape}, not {np.dtype(wanted.dtype)} {wanted.shape}"
                raise StateError(f"{name}: one of its arrays is {kind}; for many games use jax.vmap(env.{name})")
        results = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in (*plan.results, plan.scratch)]
        pairs = enumerate(zip(plan.arguments, plan.results, strict=False))
        in_place = {number: number for number, (one, other) in pairs if one == other}
        call = jax.ffi.ffi_call(xla.TARGET, results, vmap_method="broadcast_all", input_output_aliases=in_place)
        return call(*arguments, plan=plan.key)[:-1]

    def _viewed(self, record: Array, seal: Array, paid: Array) -> State:
        return self._state(record, seal, paid, *self._call("look", record, seal))

    def _state(self, record: Array, seal: Array, paid: Array, observation: Array, mask: Array, actor: Array) -> State:
        """A state in which nothing has happened yet."""
        player = actor.astype(jnp.int32)
        over, rewards = player < 0, jnp.zeros(self.num_players, jnp.float32)
        no = jnp.zeros_like(over)
        return State(player, observation, rewards, over, no, mask, no, record, paid, seal, self._made_by)


def _stream(key: Array) -> Array:
    """(8,) uint8: a random stream for a record."""
    return jax.random.bits(key, (8,), jnp.uint8)


def _seat(player_id: Array) -> Array:
    """A seat as int32; -1, the current player of a game that is over, stands for seat 0."""
    seat = _int32("player_id", player_id)
    return jnp.where(seat == -1, 0, seat)


def _int32(name: str, value: Array) -> Array:
    """One integer as int32; one that does not fit as the lowest, which is neither an action nor a seat."""
    value = jnp.asarray(value)
    if not jnp.issubdtype(value.dtype, jnp.integer):
        raise ConfigError(f"{name}: must be an integer, not {value.dtype}")
    narrow = value.astype(jnp.int32)
    return jnp.where(narrow.astype(value.dtype) == value, narrow, jnp.int32(-(2**31)))
