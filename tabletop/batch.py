"""N games stepped together on NumPy arrays, on all cores: the engine under every environment."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabletop import kernels
from tabletop.errors import ConfigError, GameOver, IllegalAction, StateError
from tabletop.game import NOBODY, Config, Game, switches_of
from tabletop.legal import NO_WAY_ON
from tabletop.starts import Starts, check_records, records_of
from tabletop.warm_up import warm_up

AUTORESETS = {"same_step": kernels.SAME_STEP, "next_step": kernels.NEXT_STEP, "disabled": kernels.DISABLED}
ILLEGAL_ACTIONS = {"raise": kernels.RAISE, "lose": kernels.LOSE, "random": kernels.RANDOM}
REWARDS = {"win": kernels.WIN, "margin": kernels.MARGIN, "points": kernels.POINTS}

OBSERVATION_DTYPES: dict[str, type[np.float32 | np.int8]] = {"float32": np.float32, "int8": np.int8}

Seed = int | Sequence[int] | np.ndarray | None
T = TypeVar("T")

_GAMES_A_THREAD = 128
"""Fewer games than this a thread cost more to hand over than they save (about 30 µs)."""
_MOST_THREADS = 256
_MAGIC = b"tabletop-games\n"


def game_seed(seed: int) -> np.uint64:
    """The random stream that a seed (any non-negative int) starts a game with. Raises ConfigError for others."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ConfigError(f"seed={seed!r}: an int of at least 0, or None")
    return np.random.SeedSequence(int(seed)).generate_state(1, np.uint64)[0]


_most_cores = sys.maxsize


def usable_cores() -> int:
    """How many cores this process may use: those that the system gives it, no more than `use_cores` has said."""
    given = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(given, _most_cores)


def use_cores(most: int) -> None:
    """Let games and agents of this process share no more cores than these, where others want the rest."""
    global _most_cores
    _most_cores = most


def _check_memory(games: int, bytes_a_game: int) -> None:
    """Raise ConfigError for more games than this machine has memory for, before any of it is taken."""
    needed = games * bytes_a_game
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else sys.maxsize
    if needed > there:
        text = f"num_games={games:,}: they need {needed / 2**30:,.1f} GiB of memory"
        raise ConfigError(f"{text}, this machine has {there / 2**30:,.1f}")


def legal_actions(state: Any) -> NDArray[np.int64]:
    """The legal actions of one state, ascending, int64."""
    return np.flatnonzero(np.unpackbits(np.ascontiguousarray(state["legal"]).view(np.uint8), bitorder="little"))


def check_config(config: Any) -> Game:
    """The game that is configured. Raises ConfigError for anything but a game's configuration."""
    game = getattr(config, "game", None)
    if not isinstance(game, Game) or not isinstance(config, game.config):
        raise ConfigError(f"config={config!r:.200}: a game's configuration")
    return game


def choice(name: str, value: Any, allowed: Mapping[str, T]) -> T:
    """What the value stands for. Raises ConfigError, which lists the values that are allowed, for others."""
    if not isinstance(value, str) or value not in allowed:
        raise ConfigError(f"{name}={value!r:.80}: one of {', '.join(map(repr, allowed))}")
    return allowed[value]


class Listener(Protocol):
    """What is told of everything that happens in a batch (`Batch.listeners`)."""

    def on_reset(self, batch: Batch, which: np.ndarray, seed: Seed) -> None:
        """After the games `which`, (N,) bool, were started anew; `seed` as it was given."""

    def before_step(self, batch: Batch, actions: np.ndarray, which: np.ndarray) -> None:
        """Before the games `which`, (N,) bool, are stepped with these actions, (N,) int64, which have been checked."""

    def after_step(self, batch: Batch, actions: np.ndarray, which: np.ndarray) -> None:
        """After that step."""


class Batch:
    """`num_games` games, of one configuration at first. Arrays are buffers that every `step` writes anew.

    Arguments:
        config: what is played, a game's configuration. `reset` can give games another one.
        num_games: N, at least 1.
        seed: int → game i starts from seed + i; a sequence of N ints; None → from the operating system's entropy.
        autoreset: "same_step": a game that ends starts anew within the step, its end is in `final_states` and
            `final_observations`; "next_step": its next step ignores the action and starts it anew; "disabled":
            it stays over until `reset(mask=...)`.
        illegal_action: "raise" IllegalAction, nothing is changed; "lose": the seat loses and its game ends;
            "random": a random legal action is taken instead. `illegal` tells which.
        reward: "win": at the end, k winners of n share +1, the others share -1, 0 if all win; solo +1 or -1.
            "margin": change of (own points - mean of the others' points). "points": change of own points. Who scores
            before the first decision does so outside every return. An illegal action that loses brings the loser's
            return to -1, the margin to -100 points, the points to 0.
        num_threads: threads that step the games; None → the cores there are, fewer for few games. The games are the
            same for any number.
        observation_dtype: "float32": counts divided by their block's divisor; "int8": the counts as they are, those
            above 127 as 127, which takes a quarter of the room and less time.
        starts: positions that games start from, instead of the game's own beginning: descriptions (docs/scenarios.md),
            or (n,) records that `scenario` or a batch made, of which each new game draws one, all as likely; or a
            function, which is given the indices, (n,) int64, of games that start, and returns n records for them,
            which nobody checks. Each game goes on with its own random stream.
        new_observations: True: every step writes `observations` into a new array, so that older ones stay as they are;
            False: into the same one.

    Attributes (N games, P players, A actions, D numbers in an observation):
        game: what is played.
        states: (N,) records of `game.state`. Writable: `batch.states[i] = scenario(...)`, then `refresh()`. To step
            nonsense that it has not seen may crash Python.
        actors: (N,) int8, seat asked; -1 when the game is over.
        action_masks: (N, A) int8, the actors' legal actions; all ones when over.
        observations: (N, D) float32 or int8, the actors' views; seat 0's when over.
        rewards: (N, P) float64 of the last step. terminations: (N,) bool, ended by the last step.
        illegal: (N,) bool, the last action was not legal.
        final_states: (N,) records and final_observations: (N, D) of seat 0; valid where `terminations`.
        config: what was given first. configs: what each game plays, N of them.
        tables: (1,) of `game.tables`, the numbers on the pieces. generator: NumPy generator of `random_actions`.
        listeners: told of every reset and step, in this order. A copy has none.

    Raises ConfigError for bad arguments, ComponentsError for bad numbers, ScenarioError and StateError for bad starts.
    """

    def __init__(
        self,
        config: Config,
        num_games: int = 1,
        seed: Seed = None,
        *,
        autoreset: str = "same_step",
        illegal_action: str = "raise",
        reward: str = "win",
        num_threads: int | None = None,
        observation_dtype: str = "float32",
        starts: Starts | None = None,
        new_observations: bool = False,
    ) -> None:
        self.config: Config = config
        self.game: Game = check_config(config)
        game = self.game
        if isinstance(num_games, bool) or not isinstance(num_games, int | np.integer) or num_games < 1:
            raise ConfigError(f"num_games={num_games!r}: an int of at least 1")
        if num_threads is not None and (type(num_threads) is not int or not 1 <= num_threads <= _MOST_THREADS):
            raise ConfigError(f"num_threads={num_threads!r}: an int from 1 to {_MOST_THREADS}, or None")
        self.num_games: int = int(num_games)
        self.autoreset: str = autoreset
        self.illegal_action: str = illegal_action
        self.reward: str = reward
        self.observation_dtype: str = observation_dtype
        self.new_observations: bool = new_observations
        self.listeners: list[Listener] = []
        dtype = choice("observation_dtype", observation_dtype, OBSERVATION_DTYPES)
        self._modes = np.array(
            [
                choice("autoreset", autoreset, AUTORESETS),
                choice("illegal_action", illegal_action, ILLEGAL_ACTIONS),
                choice("reward", reward, REWARDS),
            ],
            np.int64,
        )
        self.tables: np.ndarray = game.load_tables(config.components)
        self.starts = starts if starts is None or callable(starts) else records_of(starts, config, self.tables)
        if self.starts is not None:
            self._modes[0] = kernels.DISABLED  # a game that is over waits until it is given its position
        self.num_threads: int = num_threads or max(1, min(usable_cores(), self.num_games // _GAMES_A_THREAD))
        self._pool: ThreadPoolExecutor | None = None

        n, size = self.num_games, game.observation.size
        views = 3 if new_observations else 2
        _check_memory(n, 2 * game.state.itemsize + views * size * np.dtype(dtype).itemsize + game.num_actions)
        self.states: np.ndarray = np.zeros(n, game.state)
        self.actors: NDArray[np.int8] = np.zeros(n, np.int8)
        self.action_masks: NDArray[np.int8] = np.zeros((n, game.num_actions), np.int8)
        self.observations: np.ndarray = np.zeros((n, size), dtype)
        self.rewards: NDArray[np.float64] = np.zeros((n, config.players), np.float64)
        self.terminations: NDArray[np.bool_] = np.zeros(n, np.bool_)
        self.illegal: NDArray[np.bool_] = np.zeros(n, np.bool_)
        self.final_states: np.ndarray = np.zeros(n, game.state)
        self.final_observations: np.ndarray = np.zeros((n, size), dtype)
        self._actions = np.zeros(n, np.int64)
        self._all = np.ones(n, np.bool_)
        self._which = self._all.copy()
        self._chunk()

        self.configs: list[Config] = [self.config] * n
        self.config.write_switches(self.states)
        self._switches = {name: self.states[name].copy() for name in config.SWITCHES}
        warm_up(game)
        if seed is None:
            seed = np.random.SeedSequence().generate_state(n, np.uint32)
        self.reset(seed)

    # --- playing ---

    def reset(
        self, seed: Seed = None, mask: np.ndarray | None = None, config: Config | Sequence[Config] | None = None
    ) -> None:
        """Start games anew.

        Arguments:
            seed: as in the constructor; None → each game goes on with its own random stream.
            mask: (N,) bool, which games; None → all.
            config: what these games play from now on: one for all, or one for each of them, with the same number of
                players and the same components as the batch's; None → what they played before.
        """
        which = self._games(mask, "mask")
        streams = None if seed is None else self._streams(seed)
        if config is not None:
            if self.starts is not None:
                raise ConfigError("config: not with starts, which are all of one configuration")
            self._change_configs(which, config)
        if streams is not None:
            self.states["rng"][which] = streams[which]
            if mask is None:
                self.generator: np.random.Generator = np.random.default_rng(streams)
        if self.starts is None:
            self.game.kernels.reset_games(self.states, self.tables, which)
            self._refuse_stuck_games()
        else:
            self._start_games(np.flatnonzero(which))
        self._forget_step(which)
        self._view()
        for listener in self.listeners:
            listener.on_reset(self, which, seed)

    def step(self, actions: np.ndarray | Sequence[int], which: np.ndarray | None = None) -> None:
        """Apply one action a game, (N,) ints, and write all arrays anew.

        Arguments:
            which: (N,) bool, the games that are stepped; None → all. The others' actions are not looked at, their
                rewards are 0, and nothing of them changes.

        Raises IllegalAction (with illegal_action="raise") or GameOver (autoreset="disabled") before anything changes.
        """
        self._which[:] = self._games(which, "which")
        try:
            given = np.asarray(actions)
        except ValueError:
            raise IllegalAction(f"actions: {self.num_games} ints, one a game, not lists of several lengths") from None
        if given.shape != (self.num_games,) or given.dtype.kind not in "iu":
            raise IllegalAction(f"actions: an int array of shape ({self.num_games},), not {given.dtype} {given.shape}")
        self._actions[:] = given
        self._check(self._actions)
        for listener in self.listeners:
            listener.before_step(self, self._actions, self._which)
        self._renew_observations(keep=which is not None)
        if max(self._in_threads(self._step_chunks)) >= 0:
            self._refuse_stuck_games()
        if self.starts is not None and self.autoreset != "disabled":
            over = self._which & (self.actors == NOBODY)
            starting = np.flatnonzero(over if self.autoreset == "same_step" else over & ~self.terminations)
            if len(starting):
                self._start_games(starting)
                self._view_games(starting)
        for listener in self.listeners:
            listener.after_step(self, self._actions, self._which)

    def refresh(self, check: bool = True) -> None:
        """Write actors, masks and observations anew after `states` was changed by hand.

        Raises StateError, and shows nothing, if a state there is of another configuration and, with `check`, if it
        breaks a count or a rule: such a game need not end. The check takes 20 to 60 ms; leave it out for states that
        come from a `Batch` or a `scenario`.
        """
        self._check_switches(self.states, self._switches)
        if check:
            self.game.check(self.states, self.tables)
        self._view()

    def _view(self) -> None:
        """Write actors, masks and observations anew."""
        self._renew_observations()
        self._in_threads(self._view_chunks)

    def _start_games(self, games: np.ndarray) -> None:
        """Give the games (indices) their positions."""
        begun, starts = self.states.take(games), self.starts
        if isinstance(starts, np.ndarray):
            numbers = np.empty(len(games), np.int64)
            self.game.kernels.draw_numbers(begun, len(starts), numbers)
            records = starts.take(numbers)
        else:
            assert starts is not None
            records = starts(games)
            check_records(records, len(games), self.config)
            records = np.ascontiguousarray(records)
        _raw(self.states)[games] = _raw(records)
        self.states["rng"][games] = begun["rng"]

    def _view_games(self, games: np.ndarray) -> None:
        """Write actors, masks and observations of some games (indices) anew."""
        actors, masks = self.actors[games], self.action_masks[games]
        seen = np.empty((len(games), self.observations.shape[1]), self.observations.dtype)
        self.game.kernels.view_games(
            self.states.take(games), self.tables, self.game.observation.divisors, actors, masks, *_wide_and_narrow(seen)
        )
        self.actors[games], self.action_masks[games], self.observations[games] = actors, masks, seen

    def observe(self, seats: int | np.ndarray | Sequence[int]) -> np.ndarray:
        """Every game as the given seats (one, or (N,) ints) see it: a new (N, D) array."""
        wanted = np.asarray(seats)
        if wanted.dtype.kind not in "iu" or wanted.shape not in ((), (self.num_games,)):
            raise ConfigError(f"seats={seats!r:.80}: one int, or one for each of {self.num_games} games")
        if wanted.min() < 0 or wanted.max() >= self.config.players:
            raise ConfigError(f"seats={seats!r:.80}: 0 to {self.config.players - 1}")
        given = np.ascontiguousarray(np.broadcast_to(wanted.astype(np.int64), (self.num_games,)))
        return self.views_of(self.states, given)

    def views_of(self, states: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Any records (n,) of this game as the seats (n,) int64 see them: a new (n, D) array."""
        out = np.empty((len(states), self.game.observation.size), self.observations.dtype)
        divisors = self.game.observation.divisors
        self.game.kernels.observe_games(states, self.tables, seats, divisors, *_wide_and_narrow(out))
        return out

    def random_actions(self) -> NDArray[np.int64]:
        """A uniformly random legal action of every game, (N,) int64, from `generator`; 0 for games that are over."""
        actions = np.empty(self.num_games, np.int64)
        self.game.kernels.random_legal_actions(self.states, self.generator.random(self.num_games), actions)
        return actions

    def places(self, states: np.ndarray | None = None) -> NDArray[np.int8]:
        """Everybody's place in finished games: (N, owners) int8 of `states`, by default the `final_states`.

        1 is the first, equal ones share it.
        """
        ended = self.final_states if states is None else np.atleast_1d(states)
        if ended.dtype != self.game.state:
            raise StateError(f"states: an array of records of {self.game.name}, not {ended.dtype!s:.80}")
        places = np.zeros((len(ended), self.game.max_owners), np.int8)
        self.game.kernels.places_of_games(ended, places)
        return places[:, : self.config.owners]

    def winners(self, states: np.ndarray | None = None) -> NDArray[np.bool_]:
        """Who won finished games: (N, P) bool of `states`, by default the `final_states`. Shared victories count."""
        return self.places(states)[:, : self.config.players] == 1

    # --- copying and saving ---

    def copy(self) -> Batch:
        """An independent batch in the same state, random streams included."""
        return copy.deepcopy(self)

    def save(self) -> bytes:
        """The states as bytes, for `load`: with version, configuration and a checksum. (`generator` is not in them.)"""
        header = json.dumps(self._header(), sort_keys=True).encode()
        body = _MAGIC + len(header).to_bytes(4, "little") + header + self.states.tobytes()
        return body + hashlib.sha256(body).digest()

    def load(self, data: bytes) -> None:
        """Take over the states that `save` of an equal batch wrote. Raises StateError; nothing is changed then."""
        states = self._read(data)
        self.states[:] = states
        self._switches = {name: states[name].copy() for name in self.config.SWITCHES}
        known: dict[bytes, Config] = {}
        for game in range(self.num_games):
            switches = b"".join(states[name][game].tobytes() for name in self.config.SWITCHES)
            if switches not in known:
                known[switches] = self.game.config.of(states[game], self.config.components)
            self.configs[game] = known[switches]
        self._forget_step(self._all)
        self._view()

    def set_states(self, states: np.ndarray) -> None:
        """Take over records (N,) of the same configurations, as `save` and `load` do without checking them."""
        self.states[:] = states
        self._forget_step(self._all)
        self._view()

    def _forget_step(self, which: np.ndarray) -> None:
        self.rewards[which] = 0.0
        self.terminations[which] = False
        self.illegal[which] = False

    def _header(self) -> dict[str, Any]:
        game = self.game
        return {
            "game": game.name,
            "state_version": game.state_version,
            "state_layout": game.layout_hash,
            "components": hashlib.sha256(self.tables.tobytes()).hexdigest()[:16],
            "num_games": self.num_games,
            **{key: value for key, value in asdict(self.config).items() if key != "components"},
            "mixed": any(one != self.config for one in self.configs),
        }

    def _read(self, data: bytes) -> np.ndarray:
        if not isinstance(data, bytes | bytearray | memoryview):
            raise StateError(f"saved games are bytes, not {type(data).__name__}")
        data = bytes(data)
        body, digest = data[:-32], data[-32:]
        if not body.startswith(_MAGIC):
            raise StateError("these bytes are no games that Batch.save wrote")
        if hashlib.sha256(body).digest() != digest:
            raise StateError("the saved games are damaged: their checksum does not match (cut off, or changed)")
        start = len(_MAGIC) + 4
        length = int.from_bytes(body[len(_MAGIC) : start], "little")
        try:
            header = json.loads(body[start : start + length])
        except (ValueError, RecursionError):
            raise StateError("the saved games are damaged: their header is no JSON") from None
        expected = json.loads(json.dumps(self._header()))
        if not isinstance(header, dict) or header.keys() != expected.keys():
            raise StateError(f"the saved games are of another version: their header is not {sorted(expected)}")
        for key, value in expected.items():
            if key != "mixed" and header[key] != value:
                raise StateError(f"the saved games have {key} {header[key]!r}; this batch has {value!r}")
        raw = body[start + length :]
        if len(raw) != self.states.nbytes:
            raise StateError(f"the saved games are damaged: {len(raw)} bytes of states, not {self.states.nbytes}")
        states = np.frombuffer(raw, self.game.state).copy()
        if header["mixed"] is not True:
            self._check_switches(states, switches_of(self.config))
        elif (states["players"] != self.config.players).any():
            raise StateError(f"some of the saved games don't have {self.config.players} players")
        self.game.check(states, self.tables)
        return states

    def _check_switches(self, states: np.ndarray, switches: dict[str, np.ndarray]) -> None:
        for name, value in switches.items():
            wrong = (states[name] != value).reshape(len(states), -1).any(axis=1)
            if wrong.any():
                game = int(wrong.argmax())
                played = self.configs[game].name
                raise StateError(f"game {game} has {name} {states[name][game]}; this batch plays {played}")

    def __getstate__(self) -> dict[str, Any]:
        kept = self.__dict__.copy()
        for name in ("_pool", "_step_chunks", "_view_chunks"):
            del kept[name]
        kept["listeners"] = []
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._pool = None
        self.tables.flags.writeable = False  # as `load_tables` gives them: Numba compiles for read-only tables
        self._chunk()

    # --- inside ---

    def _games(self, mask: np.ndarray | None, name: str) -> np.ndarray:
        if mask is None:
            return self._all
        try:
            which = np.asarray(mask)
        except ValueError:
            raise ConfigError(f"{name}: a bool array of shape ({self.num_games},), not {mask!r:.80}") from None
        if which.shape != (self.num_games,) or which.dtype != np.bool_:
            raise ConfigError(f"{name}: a bool array of shape ({self.num_games},), not {which.dtype} {which.shape}")
        return which

    def _change_configs(self, which: np.ndarray, config: Config | Sequence[Config]) -> None:
        games = np.flatnonzero(which)
        kind = self.game.config
        if not isinstance(config, kind | Sequence):
            raise ConfigError(f"config={config!r}: a Config, or a sequence with one for each of the games")
        given: list[Config] = list(config) if isinstance(config, Sequence) else [config] * len(games)
        if len(given) != len(games):
            raise ConfigError(f"config: {len(given)} configurations for {len(games)} games")
        for one in given:
            if not isinstance(one, kind) or (one.players, one.components) != (
                self.config.players,
                self.config.components,
            ):
                raise ConfigError(f"config={one!r}: a Config with the batch's number of players and components")
        for one in dict.fromkeys(given):
            chosen = games[[other == one for other in given]]
            for name, value in switches_of(one).items():
                self.states[name][chosen] = value
                self._switches[name][chosen] = value
        for game, one in zip(games, given, strict=True):
            self.configs[game] = one

    def _streams(self, seed: Seed) -> np.ndarray:
        if isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str | bytes) and np.ndim(seed) == 1:
            if len(seed) != self.num_games:
                raise ConfigError(f"seed: {len(seed)} seeds for {self.num_games} games")
            return np.array([game_seed(one) for one in seed], np.uint64)
        one: Any = seed
        first = game_seed(one)  # says what is wrong with anything but an int
        rest = [game_seed(one + i) for i in range(1, self.num_games)]
        return np.array([first, *rest], np.uint64)

    def _check(self, actions: np.ndarray) -> None:
        if self.autoreset == "disabled" and (over := self._which & (self.actors == NOBODY)).any():
            game = int(over.argmax())
            raise GameOver(f"game {game} is over: reset it before it is stepped again")
        if self.illegal_action == "raise":
            game, _ = self.game.kernels.check_actions(self.states, actions, self._which, self.game.num_actions, True)
            if game >= 0:
                wrong = illegal_action_text(self.game, self.states[game], int(actions[game]), f"game {game}")
                raise IllegalAction(wrong)

    def _refuse_stuck_games(self) -> None:
        stuck = np.flatnonzero(self.states["decision"] == NO_WAY_ON)
        if len(stuck):
            text = "it was changed by hand, and the rules find no next decision"
            raise StateError(f"game {stuck[0]}: {text}; `refresh` checks such states")

    def _renew_observations(self, keep: bool = False) -> None:
        """A new array costs less than a copy of the old one: it is written once, unless some rows are to be kept."""
        if self.new_observations:
            self.observations = self.observations.copy() if keep else np.empty_like(self.observations)
            self._chunk()

    def _chunk(self) -> None:
        """The views of the arrays that each thread works on."""
        bounds = [self.num_games * i // self.num_threads for i in range(self.num_threads + 1)]
        self._step_chunks: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        self._view_chunks: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        kernels = self.game.kernels
        for start, end in itertools.pairwise(bounds):
            part = slice(start, end)
            states = self.states[part]
            views = (
                self.game.observation.divisors,
                self.actors[part],
                self.action_masks[part],
                *_wide_and_narrow(self.observations[part]),
            )
            self._view_chunks.append((kernels.view_games, (states, self.tables, *views)))
            step_arguments = (
                states,
                self.tables,
                self._actions[part],
                self._which[part],
                self._modes,
                *views,
                self.rewards[part],
                self.terminations[part],
                self.illegal[part],
                self.final_states[part],
                *_wide_and_narrow(self.final_observations[part]),
            )
            self._step_chunks.append((kernels.step_games, step_arguments))

    def _in_threads(self, chunks: list[tuple[Callable[..., T], tuple[Any, ...]]]) -> list[T]:
        """What each chunk returns. The kernels release the GIL; the calling thread takes the first one itself."""
        waiting = []
        if len(chunks) > 1:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(len(chunks) - 1, self.game.name)
            waiting = [self._pool.submit(run, *arguments) for run, arguments in chunks[1:]]
        run, arguments = chunks[0]
        return [run(*arguments), *(future.result() for future in waiting)]


def _raw(states: np.ndarray) -> np.ndarray:
    """(n, bytes) of records, which NumPy copies faster than their fields."""
    return states.view(np.uint8).reshape(len(states), -1)


def _wide_and_narrow(observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The array as the kernels take it: a float32 and an int8 one, of which one has no columns."""
    n = len(observations)
    if observations.dtype == np.float32:
        return observations, np.empty((n, 0), np.int8)
    return np.empty((n, 0), np.float32), observations


def illegal_action_text(game: Game, state: Any, action: int, where: str = "") -> str:
    """What is wrong with an action, and what the pending decision allows."""
    allowed = ", ".join(f"{a} ({game.actions[a]})" for a in legal_actions(state) if a < game.num_actions)
    name = f" ({game.actions[action]})" if 0 <= action < game.num_actions else ""
    asked = dict(enumerate(game.decisions)).get(int(state["decision"]), "nothing")
    prefix = f"{where}: " if where else ""
    return f"{prefix}action {action}{name} does not answer {asked!r} of player_{state['actor']}; legal are {allowed}"
