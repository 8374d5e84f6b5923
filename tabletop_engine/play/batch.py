"""N games stepped together on NumPy arrays, on all cores. Every environment is built on it."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import itertools
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabletop_engine.checks import coerced, whole
from tabletop_engine.errors import ConfigError, GameOver, IllegalAction, ScenarioError, StateError, TabletopError
from tabletop_engine.game import NOBODY, Config, Game, is_config, switches_of
from tabletop_engine.legal import NO_WAY_ON
from tabletop_engine.play import kernels
from tabletop_engine.play.saved import Format, Header, as_bytes
from tabletop_engine.play.starts import Starts, check_records, records_of
from tabletop_engine.play.tables import (
    Editions,
    check_states,
    edition_in,
    editions_in,
    editions_of,
    own_tables,
    tables_of,
)
from tabletop_engine.play.warm_up import warm_up
from tabletop_engine.record import FORFEIT, exact_points

AUTORESETS = {"same_step": kernels.SAME_STEP, "next_step": kernels.NEXT_STEP, "disabled": kernels.DISABLED}
ILLEGAL_ACTIONS = {"raise": kernels.RAISE, "lose": kernels.LOSE, "random": kernels.RANDOM}
REWARDS = {"win": kernels.WIN, "margin": kernels.MARGIN, "points": kernels.POINTS}

OBSERVATION_DTYPES: dict[str, type[np.float32 | np.int8]] = {"float32": np.float32, "int8": np.int8}

Seed = int | Sequence[int] | np.ndarray | None
T = TypeVar("T")

_DRAWN = -1
"""For the kernels: the edition of a game that starts is drawn."""
_GAMES_A_THREAD = 128
"""The smallest number of games that is worth a thread: handing over work costs about 30 µs."""
_MOST_THREADS = 256
_SAVED = Format(b"tabletop-games\n", "games that Batch.save", lambda body: hashlib.sha256(body).digest(), 32)


def game_seed(seed: int) -> np.uint64:
    """The random stream at the start of a game with this seed, an int of at least 0. Raises ConfigError for others."""
    return _stream(whole("seed", seed, 0))


@lru_cache(maxsize=4096)  # games that choose their editions start twice, and agents are compared on the same seeds
def _stream(seed: int) -> np.uint64:
    return np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]


_most_cores = sys.maxsize


def usable_cores() -> int:
    """The number of cores that this process may use: those the system gives it, limited by `use_cores`.

    A container's share of the cores is rounded down: a thread too many would make all others wait for it.
    """
    given = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(min(given, _most_cores, _quota())))


@lru_cache(maxsize=1)
def _quota(groups: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> float:
    """The cores' worth of time that Linux' control groups, of either version, leave this process."""
    least = math.inf
    try:
        for line in groups.read_text().splitlines():
            _, controllers, name = line.split(":", 2)
            if controllers and "cpu" not in controllers.split(","):
                continue
            own = root / (controllers and "cpu") / name.lstrip("/")
            for folder in (own, *own.parents):  # a container may see its own group as the root
                with suppress(OSError, ValueError):
                    files = ("cpu.cfs_quota_us", "cpu.cfs_period_us") if controllers else ("cpu.max",)
                    quota, period = " ".join((folder / file).read_text() for file in files).split()
                    if quota != "max" and int(quota) > 0:
                        least = min(least, int(quota) / int(period))
    except (OSError, ValueError):  # no Linux, or none of these files
        pass
    return least


def use_cores(most: int) -> None:
    """Limit the number of cores that games and agents of this process use together, to leave the rest to others.

    Raises ConfigError for a number below 1.
    """
    global _most_cores
    _most_cores = whole("most", most, 1)


def _check_memory(games: int, bytes_a_game: int) -> None:
    """Raise ConfigError if this machine has not enough memory for the games. Nothing is allocated before."""
    needed = games * bytes_a_game
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else sys.maxsize
    if needed > there:
        text = f"num_games={games:,}: they need {needed / 2**30:,.1f} GiB of memory"
        raise ConfigError(f"{text}, this machine has {there / 2**30:,.1f}")


def legal_actions(state: Any) -> NDArray[np.int64]:
    """The legal actions of one state, ascending, int64."""
    return np.flatnonzero(np.unpackbits(np.ascontiguousarray(state["legal"]).view(np.uint8), bitorder="little"))


def check_config(config: Any) -> Game:
    """The game of a configuration. Raises ConfigError for anything else."""
    if not is_config(config):
        raise ConfigError(f"config={config!r:.200}: must be a game's configuration")
    game: Game = config.game
    return game


def choice(name: str, value: Any, allowed: Mapping[str, T]) -> T:
    """The entry of `allowed` for this value. For another value it raises ConfigError, which lists the allowed ones."""
    if not isinstance(value, str) or value not in allowed:
        raise ConfigError(f"{name}={value!r:.80}: must be one of {', '.join(map(repr, allowed))}")
    return allowed[value]


class Listener(Protocol):
    """An object that a batch calls at every reset and step (`Batch.listeners`)."""

    def on_reset(self, batch: Batch, which: np.ndarray, seed: Seed) -> None:
        """Called after the games `which`, (N,) bool, were started. `seed` is the argument of `reset`."""

    def before_step(self, batch: Batch, actions: np.ndarray, which: np.ndarray) -> None:
        """Called before the games `which`, (N,) bool, are stepped. The actions, (N,) int64, have been checked."""

    def after_step(self, batch: Batch, actions: np.ndarray, which: np.ndarray) -> None:
        """Called after the step, with the same arguments."""


class Batch:
    """N games that are stepped together.

    All games have the same configuration at first; `reset` can change that. The arrays are buffers: every `step`
    overwrites them.

    Arguments:
        config: the configuration of a game.
        num_games: N, at least 1.
        seed: an int: game i starts from seed + i. A sequence of N ints: one for each game. None: the operating system's
            entropy.
        autoreset: what happens to a game that ends. "same_step": it starts again within the step, and its end is in
            `final_states` and `final_observations`. "next_step": its next step ignores the action and starts it again.
            "disabled": it stays over until `reset(mask=...)`.
        illegal_action: "raise": IllegalAction is raised and nothing changes. "lose": the seat loses and its game ends.
            "random": a random legal action is played instead. The attribute `illegal` marks these games.
        reward: "win": at the end of a game with n players and k winners, the winners share +1 and the others share -1;
            0 if all win; +1 or -1 in a solo game. "margin": the change of own points minus the mean of the others'
            points. "points": the change of own points. The first reward of a game also counts the points that there
            are at its first decision, so all rewards of a game sum to its final margin or points. After an illegal
            action that loses, the loser's rewards sum to -1, to a margin of -100 points, or to 0 points.
        num_threads: the number of threads that step the games; None for all available cores, fewer for few games. The
            games are the same for any number of threads.
        observation_dtype: "float32": counts divided by the divisor of their block. "int8": the counts themselves, at
            most 127; they take a quarter of the memory and less time.
        starts: positions that games start from, in place of the game's set-up: descriptions (docs/scenarios.md) or (n,)
            records, of which each new game draws one with equal probability. Or a function: it takes the indices,
            (n,) int64, of the games that start, and returns n records. Of these only the type and the configuration are
            checked. Each game keeps its own random stream.
        new_observations: True: every step writes `observations` into a new array, so that older arrays stay valid.
            False: every step overwrites the same array.
        editions: editions to play with, in place of the one with the numbers of `config`: their number K, which stands
            for the seeds 0 to K - 1, or a list with a seed for `Game.draw_components` or with `components` for each
            edition. Each new game draws its edition, all equally likely, from its random stream, which stays where it
            is; so a game from a seed goes on as it would with its own edition alone. Positions in `starts` must be
            records then, with their editions in the field `edition`.

    In the shapes below N is the number of games, P of players, A of actions, D of numbers in an observation.

    Attributes:
        game: the game that is played.
        states: (N,) records of `game.state`. After a change by hand, such as `batch.states[i] = scenario(...)`, call
            `refresh()`. Stepping an impossible state that `refresh` has not checked may crash Python.
        actors: (N,) int8, the seat that takes the pending decision; -1 when the game is over.
        action_masks: (N, A) int8, 1 for each legal action of the actor; all ones when the game is over.
        observations: (N, D) float32 or int8, the actors' views; seat 0's view when the game is over.
        rewards: (N, P) float64, the rewards of the last step.
        paid: (N, owners) int64 (float64 for halves), the points that rewards of the running games have counted so far.
        terminations: (N,) bool, whether the last step ended the game.
        illegal: (N,) bool, whether the last action was illegal.
        final_states: (N,) records, the ends of games; valid where `terminations`.
        final_observations: (N, D), seat 0's views of the ends; valid where `terminations`.
        config: the configuration that was given first.
        configs: the configuration of each game, a list of N; its `components` are those of the game's edition.
        plain_configs: the same with the `components` of `config`.
        editions: the `components` of each edition, K; those of `config` alone without the argument `editions`.
        tables: (K,) of `game.tables`, the printed numbers of each edition.
        generator: the NumPy generator that `random_actions` uses.
        listeners: objects that are called at every reset and step, in this order. A copy of the batch has none.

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
        editions: Editions | None = None,
    ) -> None:
        self.config: Config = config
        self.game: Game = check_config(config)
        game = self.game
        self.num_games: int = whole("num_games", num_games, 1)
        if num_threads is not None:
            num_threads = whole("num_threads", num_threads, 1, _MOST_THREADS)
        self.autoreset: str = autoreset
        self.illegal_action: str = illegal_action
        self.reward: str = reward
        self.observation_dtype: str = observation_dtype
        self.new_observations: bool = coerced("new_observations", new_observations, bool)
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
        self.editions: tuple[Any, ...] = editions_of(config, editions)
        self.tables: np.ndarray = tables_of(game, self.editions)
        if isinstance(starts, type):
            raise ScenarioError(f"starts={starts!r:.80}: must be positions or a function, not a class")
        self.starts: np.ndarray | Callable[[np.ndarray], np.ndarray] | None = (
            starts if starts is None or callable(starts) else records_of(starts, config, self.tables)
        )
        if self.starts is not None:
            self._modes[0] = kernels.DISABLED  # a game that is over waits until it is given its position
        self.num_threads: int = num_threads or max(1, min(usable_cores(), self.num_games // _GAMES_A_THREAD))
        self._pools: dict[int, ThreadPoolExecutor] = {}  # by process: a forked child has none of its parent's threads

        n, size = self.num_games, game.observation.size
        views = 3 if new_observations else 2
        _check_memory(n, 2 * game.state.itemsize + views * size * np.dtype(dtype).itemsize + game.num_actions)
        self.states: np.ndarray = np.zeros(n, game.state)
        self.actors: NDArray[np.int8] = np.zeros(n, np.int8)
        self.action_masks: NDArray[np.int8] = np.zeros((n, game.num_actions), np.int8)
        self.observations: np.ndarray = np.zeros((n, size), dtype)
        self.rewards: NDArray[np.float64] = np.zeros((n, config.players), np.float64)
        self.paid: NDArray[Any] = exact_points(np.zeros_like(self.states["points"]))
        self.terminations: NDArray[np.bool_] = np.zeros(n, np.bool_)
        self.illegal: NDArray[np.bool_] = np.zeros(n, np.bool_)
        self.final_states: np.ndarray = np.zeros(n, game.state)
        self.final_observations: np.ndarray = np.zeros((n, size), dtype)
        self._actions = np.zeros(n, np.int64)
        self._next_editions = np.full(n, _DRAWN, np.int64)
        self._all = np.ones(n, np.bool_)
        self._which = self._all.copy()
        self._chunk()

        self.plain_configs: list[Config] = [self.config] * n
        self._with_edition: dict[tuple[Config, int], Config] = {}
        self.config.write_switches(self.states)
        self._switches = {name: self.states[name].copy() for name in config.SWITCHES}
        warm_up(game)
        if seed is None:
            seed = np.random.SeedSequence().generate_state(n, np.uint32)
        self.reset(seed)

    @property
    def configs(self) -> list[Config]:
        """The configuration of each game, a list of N."""
        return (
            list(self.plain_configs) if len(self.editions) == 1 else [self.config_of(i) for i in range(self.num_games)]
        )

    def config_of(self, game: int, state: Any = None) -> Config:
        """The configuration of one game, whose `components` are those of its edition.

        `state` is a record with the same switches, such as `final_states[game]`; None for the game's own.
        """
        own = self.plain_configs[game]
        if len(self.editions) == 1:
            return own
        edition = edition_in(self.states[game] if state is None else state, self.tables)
        if (own, edition) not in self._with_edition:
            components = self.editions[edition]
            self._with_edition[own, edition] = dataclasses.replace(own, components=components)
        return self._with_edition[own, edition]

    @property
    def numbers(self) -> np.ndarray:
        """(N, M) the numbers of each game's edition in the layout `Game.numbers`, as `observation_dtype` says."""
        return self.numbers_of(self.states)

    def numbers_of(self, states: np.ndarray) -> np.ndarray:
        """(n, M) `numbers` for any records of this game, (n,): a new array."""
        return self._numbers[editions_in(states, self.tables)]

    @cached_property
    def _numbers(self) -> np.ndarray:
        """(K, M) `numbers` of each edition."""
        counts = self.game.write_numbers(self.tables)
        if self.observation_dtype == "int8":
            return np.clip(counts, -128, 127).astype(np.int8)
        return self.game.numbers.scaled(counts)

    def tables_of(self, game: int) -> np.ndarray:
        """(1,) of `game.tables`: the printed numbers of one game's edition."""
        return own_tables(self.states[game], self.tables)

    # --- playing ---

    def reset(
        self,
        seed: Seed = None,
        mask: np.ndarray | None = None,
        config: Config | Sequence[Config] | None = None,
        editions: np.ndarray | Sequence[int] | None = None,
    ) -> None:
        """Start games.

        Arguments:
            seed: as in the constructor; None: each game continues its own random stream.
            mask: (N,) bool, the games to start; None for all.
            config: the new configuration: one for all of these games, or a sequence with one for each of them. The
                number of players and the components must be those of the batch. None: as before.
            editions: (N,) ints, the edition of each of these games, which later games in its place keep; -1: each game
                draws its edition. None: as before.
        """
        which = self._games(mask, "mask")
        streams = None if seed is None else self._streams(seed)
        if config is not None:
            if self.starts is not None:
                raise ConfigError("config: not allowed with starts, since all are of one configuration")
            self._change_configs(which, config)
        if editions is not None:
            self._choose_editions(which, editions)
        if streams is not None:
            self.states["rng"][which] = streams[which]
            if mask is None:
                self.generator: np.random.Generator = np.random.default_rng(streams)
        if self.starts is None:
            self.game.kernels.reset_games(self.states, self.tables, which, self._next_editions)
            self._refuse_stuck_games()
        else:
            self._start_games(np.flatnonzero(which))
        self.paid[which] = 0
        self._clear_step_results(which)
        self._view()
        for listener in self.listeners:
            listener.on_reset(self, which, seed)

    def step(self, actions: np.ndarray | Sequence[int], which: np.ndarray | None = None) -> None:
        """Play one action in every game, and write all arrays.

        Arguments:
            actions: (N,) ints.
            which: (N,) bool, the games to step; None for all. In the other games nothing changes, their actions are
                ignored, and their rewards are 0.

        Raises IllegalAction (with illegal_action="raise") or GameOver (autoreset="disabled"). Nothing changes then.
        Raises StateError for a game that can't go on, such as one without a legal action.
        """
        self._which[:] = self._games(which, "which")
        try:
            given = np.asarray(actions)
        except ValueError:
            raise IllegalAction(
                f"actions: must be {self.num_games} ints, one for each game, not lists of different lengths"
            ) from None
        if given.shape != (self.num_games,) or given.dtype.kind not in "iu":
            raise IllegalAction(
                f"actions: must be an int array of shape ({self.num_games},), not {given.dtype} {given.shape}"
            )
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

    def forfeit(self, which: np.ndarray) -> None:
        """Let the actors of the games `which`, (N,) bool, lose by an illegal action, whatever `illegal_action` is.

        All arrays are written as `step` does. Raises GameOver as `step` does.
        """
        mode, illegal_action = int(self._modes[1]), self.illegal_action
        self._modes[1], self.illegal_action = ILLEGAL_ACTIONS["lose"], "lose"
        try:
            self.step(np.full(self.num_games, FORFEIT), which)
        finally:
            self._modes[1], self.illegal_action = mode, illegal_action

    def refresh(self, check: bool = True) -> None:
        """Update actors, masks and observations after `states` was changed by hand.

        `check=False` saves 20 to 60 ms, for states that come from a `Batch` or a `scenario`.

        Raises StateError for a state of another configuration and, with `check`, for one that breaks a count or a rule.
        The arrays stay as they were then.
        """
        self._check_switches(self.states, self._switches)
        if check:
            check_states(self.game, self.states, self.tables)
        self._view()

    def _view(self) -> None:
        """Write actors, masks and observations anew."""
        self._renew_observations()
        self._in_threads(self._view_chunks)

    def _start_games(self, games: np.ndarray) -> None:
        """Put the games (indices) into positions from `starts`."""
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
            self.states.take(games),
            self.tables,
            self.game.observation.divisors,
            actors,
            masks,
            *_as_float32_and_int8(seen),
        )
        self.actors[games], self.action_masks[games], self.observations[games] = actors, masks, seen

    def observe(self, seats: int | np.ndarray | Sequence[int]) -> np.ndarray:
        """The views of the given seats: a new (N, D) array. `seats` is one seat for all games, or (N,) ints."""
        wanted = np.asarray(seats)
        if wanted.dtype.kind not in "iu" or wanted.shape not in ((), (self.num_games,)):
            raise ConfigError(f"seats={seats!r:.80}: must be one int, or one for each of {self.num_games} games")
        if wanted.min() < 0 or wanted.max() >= self.config.players:
            raise ConfigError(f"seats={seats!r:.80}: must be 0 to {self.config.players - 1}")
        return self.views_of(self.states, np.array(np.broadcast_to(wanted, (self.num_games,)), np.int64))

    def views_of(self, states: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """The views of seats, (n,) int64, on any records of this game, (n,): a new (n, D) array."""
        out = np.empty((len(states), self.game.observation.size), self.observations.dtype)
        divisors = self.game.observation.divisors
        self.game.kernels.observe_games(states, self.tables, seats, divisors, *_as_float32_and_int8(out))
        return out

    def random_actions(self) -> NDArray[np.int64]:
        """A uniformly random legal action for every game, (N,) int64, from `generator`; 0 for games that are over."""
        actions = np.empty(self.num_games, np.int64)
        self.game.kernels.random_legal_actions(self.states, self.generator.random(self.num_games), actions)
        return actions

    def places(self, states: np.ndarray | None = None) -> NDArray[np.int8]:
        """The place of every owner in finished games, (N, owners) int8: 1 is the first, equal owners share a place.

        `states` are records of finished games; None for `final_states`.
        """
        ended = self.final_states if states is None else np.atleast_1d(states)
        if ended.dtype != self.game.state:
            raise StateError(f"states: must be an array of records of {self.game.name}, not {ended.dtype!s:.80}")
        places = np.zeros((len(ended), self.game.max_owners), np.int8)
        self.game.kernels.places_of_games(ended, places)
        return places[:, : self.config.owners]

    def winners(self, states: np.ndarray | None = None) -> NDArray[np.bool_]:
        """Whether each player won, (N, P) bool, with its team or by a shared victory. `states` as in `places`."""
        places = self.places(states)
        if not self.game.has_teams:  # as fast as can be: environments ask at each end
            return places[:, : self.config.players] == 1
        ended = self.final_states if states is None else np.atleast_1d(states)
        return np.take_along_axis(places, self.game.teams_of(ended, self.config.players), axis=1) == 1

    # --- copying and saving ---

    def copy(self) -> Batch:
        """An independent batch in the same state, random streams included."""
        return copy.deepcopy(self)

    def save(self) -> bytes:
        """The games as bytes for `load`, with version, configuration and a checksum, but without `generator`."""
        parts = [self._header().text, self.states.tobytes(), self.paid.astype("<i8").tobytes()]
        if len(self.editions) > 1:
            parts.append(self._next_editions.astype("<i2").tobytes())
        return _SAVED.sealed(b"".join(parts))

    def load(self, data: bytes) -> None:
        """Restore games that `save` of an equal batch wrote. Raises StateError for others; nothing changes then."""
        states, self.paid[:], self._next_editions[:] = self._read(data)
        self.states[:] = states
        self._switches = {name: states[name].copy() for name in self.config.SWITCHES}
        known: dict[bytes, Config] = {}
        for game in range(self.num_games):
            switches = b"".join(states[name][game].tobytes() for name in self.config.SWITCHES)
            if switches not in known:
                known[switches] = self.game.config.of(states[game], self.config.components)
            self.plain_configs[game] = known[switches]
        self._clear_step_results(self._all)
        self._view()

    def set_states(self, states: np.ndarray) -> None:
        """Replace all states by records (N,) of the same configurations, which are not checked.

        Games start there: their next rewards count the points that there are.

        Raises StateError for anything but records of the game.
        """
        given = np.asarray(states)
        if given.dtype != self.game.state or given.shape != self.states.shape:
            wanted = f"records ({self.num_games},) of {self.game.title}"
            raise StateError(f"states: must be {wanted}, not {given.dtype.name} {given.shape}")
        self.states[:] = given
        self.paid[:] = 0
        self._clear_step_results(self._all)
        self._view()

    def _clear_step_results(self, which: np.ndarray) -> None:
        self.rewards[which] = 0.0
        self.terminations[which] = False
        self.illegal[which] = False

    def _header(self) -> Header:
        mixed = any(one != self.config for one in self.plain_configs)
        return _SAVED.header(self.config, self.tables, num_games=self.num_games, mixed=mixed)

    def _read(self, data: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The saved states, `paid`, and editions of the games that start next."""
        facts, raw = _SAVED.unpack(as_bytes(data), self._header(), free=("mixed",))
        many, n = len(self.editions) > 1, self.num_games
        after_states = self.states.nbytes
        after_paid = after_states + self.paid.nbytes
        size = after_paid + 2 * n * many
        if len(raw) != size:
            raise StateError(f"the saved data is damaged: {len(raw)} bytes, not {size}")
        states = np.frombuffer(raw[:after_states], self.game.state).copy()
        paid = np.frombuffer(raw[after_states:after_paid], "<i8").reshape(self.paid.shape)
        editions = np.frombuffer(raw[after_paid:], "<i2") if many else np.full(n, _DRAWN, np.int16)
        if (editions < _DRAWN).any() or (editions >= len(self.editions)).any():
            raise StateError(
                f"some of the saved games are to start with an edition beyond the {len(self.editions)} there are"
            )
        if facts["mixed"] is not True:
            self._check_switches(states, switches_of(self.config))
        elif (states["players"] != self.config.players).any():
            raise StateError(f"some of the saved games don't have {self.config.players} players")
        check_states(self.game, states, self.tables)
        return states, paid, editions

    def _check_switches(self, states: np.ndarray, switches: dict[str, np.ndarray]) -> None:
        for name, value in switches.items():
            wrong = (states[name] != value).reshape(len(states), -1).any(axis=1)
            if wrong.any():
                game = int(wrong.argmax())
                played = self.plain_configs[game].name
                raise StateError(f"game {game} has {name} {states[name][game]}; this batch plays {played}")

    def __getstate__(self) -> dict[str, Any]:
        without = ("_pools", "_step_chunks", "_view_chunks")
        return {name: value for name, value in self.__dict__.items() if name not in without} | {"listeners": []}

    def __setstate__(self, content: dict[str, Any]) -> None:
        self.__dict__.update(content)
        self._pools = {}
        self.tables.flags.writeable = False  # as from `load_tables`: the machine code is for read-only tables
        self._chunk()

    # --- inside ---

    def _games(self, mask: np.ndarray | None, name: str) -> np.ndarray:
        if mask is None:
            return self._all
        try:
            which = np.asarray(mask)
        except ValueError:
            raise ConfigError(f"{name}: must be a bool array of shape ({self.num_games},), not {mask!r:.80}") from None
        if which.shape != (self.num_games,) or which.dtype != np.bool_:
            raise ConfigError(
                f"{name}: must be a bool array of shape ({self.num_games},), not {which.dtype} {which.shape}"
            )
        return which

    def _change_configs(self, which: np.ndarray, config: Config | Sequence[Config]) -> None:
        games = np.flatnonzero(which)
        kind = self.game.config
        if not isinstance(config, kind | Sequence):
            raise ConfigError(f"config={config!r}: must be a Config, or a sequence with one for each of the games")
        given: list[Config] = list(config) if isinstance(config, Sequence) else [config] * len(games)
        if len(given) != len(games):
            raise ConfigError(f"config: {len(given)} configurations for {len(games)} games")
        for one in given:
            if not isinstance(one, kind) or (one.players, one.components) != (
                self.config.players,
                self.config.components,
            ):
                raise ConfigError(f"config={one!r}: must be a Config with the batch's number of players and components")
        for one in dict.fromkeys(given):
            chosen = games[[other == one for other in given]]
            for name, value in switches_of(one).items():
                self.states[name][chosen] = value
                self._switches[name][chosen] = value
        for game, one in zip(games, given, strict=True):
            self.plain_configs[game] = one

    def _choose_editions(self, which: np.ndarray, editions: np.ndarray | Sequence[int]) -> None:
        given = np.asarray(editions)
        if given.shape != (self.num_games,) or given.dtype.kind not in "iu":
            raise ConfigError(f"editions={editions!r:.80}: must be {self.num_games} ints, one for each game")
        if given.min() < _DRAWN or given.max() >= len(self.editions):
            raise ConfigError(f"editions={editions!r:.80}: must be -1 to {len(self.editions) - 1}")
        if self.starts is not None:
            raise ConfigError("editions: not allowed with starts, whose records say their editions")
        self._next_editions[which] = given[which]

    def _streams(self, seed: Seed) -> np.ndarray:
        if isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str | bytes) and np.ndim(seed) == 1:
            if len(seed) != self.num_games:
                raise ConfigError(f"seed: {len(seed)} seeds for {self.num_games} games")
            seeds: Iterable[int] = seed
        else:
            first = whole("seed", seed, 0)
            seeds = range(first, first + self.num_games)
        return np.array([game_seed(one) for one in seeds], np.uint64)

    def _check(self, actions: np.ndarray) -> None:
        if (
            self.autoreset == "disabled"
            and np.minimum.reduce(self.actors) == NOBODY  # twice as fast as `min` for one game
            and (over := self._which & (self.actors == NOBODY)).any()
        ):
            game = int(over.argmax())
            raise GameOver(f"game {game} is over: reset it before it is stepped again")
        if self.illegal_action == "raise":
            game = self.game.kernels.first_illegal(self.states, actions, self._which, self.game.num_actions)
            if game >= 0:
                raise refusal(self.game, self.states[game], int(actions[game]), f"game {game}: ")

    def _refuse_stuck_games(self) -> None:
        states = self.states
        stuck = (states["decision"] == NO_WAY_ON) | ((states["actor"] != NOBODY) & ~states["legal"].any(axis=1))
        if stuck.any():
            game = int(stuck.argmax())
            raise StateError(f"game {game}: {stuck_text(self.game, states[game])}")

    def _renew_observations(self, keep: bool = False) -> None:
        """Make a new array if the user wants one. It is a copy, which costs more, only if some rows must stay."""
        if self.new_observations:
            self.observations = self.observations.copy() if keep else np.empty_like(self.observations)
            self._chunk()

    def _chunk(self) -> None:
        """Divide the arrays into parts, one for each thread."""
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
                *_as_float32_and_int8(self.observations[part]),
            )
            self._view_chunks.append((kernels.view_games, (states, self.tables, *views)))
            step_arguments = (
                states,
                self.tables,
                self._actions[part],
                self._which[part],
                self._next_editions[part],
                self._modes,
                *views,
                self.rewards[part],
                self.paid[part],
                self.terminations[part],
                self.illegal[part],
                self.final_states[part],
                *_as_float32_and_int8(self.final_observations[part]),
            )
            self._step_chunks.append((kernels.step_games, step_arguments))

    def _in_threads(self, chunks: list[tuple[Callable[..., T], tuple[Any, ...]]]) -> list[T]:
        """What each chunk returns. The kernels release the GIL. The calling thread runs the first chunk itself."""
        run, arguments = chunks[0]
        if len(chunks) == 1:
            return [run(*arguments)]
        process = os.getpid()
        if process not in self._pools:
            self._pools[process] = ThreadPoolExecutor(len(chunks) - 1, self.game.name)
        waiting = [self._pools[process].submit(run, *arguments) for run, arguments in chunks[1:]]
        return [run(*arguments), *(future.result() for future in waiting)]


def _raw(states: np.ndarray) -> np.ndarray:
    """Records as (n, bytes): NumPy copies these faster than fields."""
    return states.view(np.uint8).reshape(len(states), -1)


def _as_float32_and_int8(observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The array as the kernels take it: as a pair of a float32 and an int8 array. One of the two has no columns."""
    n = len(observations)
    if observations.dtype == np.float32:
        return observations, np.empty((n, 0), np.int8)
    return np.empty((n, 0), np.float32), observations


def refusal(game: Game, state: Any, action: int, where: str = "") -> TabletopError:
    """The error for an action that is not legal: IllegalAction; StateError if no action is, so that none is to blame.

    The message names the pending decision, its actor and the legal actions. `where` is put before it.
    """
    actions = legal_actions(state).tolist()
    if not actions:
        return StateError(f"{where}{stuck_text(game, state)}")
    allowed = ", ".join(f"{a} ({game.actions[a]})" for a in actions if a < game.num_actions)
    name = f" ({game.actions[action]})" if 0 <= action < game.num_actions else ""
    return IllegalAction(f"{where}action {action}{name} does not answer {_asked(game, state)}; legal are {allowed}")


def stuck_text(game: Game, state: Any) -> str:
    """The message for a game that can't go on: there is no next decision, or no action to answer it."""
    if state["decision"] != NO_WAY_ON:
        return f"{_asked(game, state)} has no legal action: was `legal` called?"
    checks = "if the record was changed by hand, `Batch.refresh` and `Positions.at` tell what is wrong with it"
    return f"the rules find no next decision that has an answer; {checks}"


def _asked(game: Game, state: Any) -> str:
    """The pending decision and its actor: `'a_bet' of player_1`."""
    decision = int(state["decision"])
    name = repr(game.decisions[decision]) if 0 <= decision < len(game.decisions) else f"decision {decision}"
    return f"{name} of player_{state['actor']}"
