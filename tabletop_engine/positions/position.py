"""Single positions of a game, with explicit chance: for tree searches, analysis and OpenSpiel.

In a `Batch` chance comes from random streams. Here a step that draws cards or rolls dice stops at each draw. It tells
the possible outcomes and their probabilities, and continues with the outcome that it is given.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import struct
import threading
from collections.abc import Callable
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np

from tabletop_engine.chance import MOST_KINDS
from tabletop_engine.checks import whole
from tabletop_engine.compiling.once import Call, compile_once
from tabletop_engine.compiling.sources import numba_version
from tabletop_engine.errors import ConfigError, GameOver, IllegalAction, StateError
from tabletop_engine.game import NOBODY, Config, Game, switches_of
from tabletop_engine.legal import NO_WAY_ON
from tabletop_engine.play.batch import REWARDS, check_config, choice, refusal, stuck_text
from tabletop_engine.play.saved import Format, Header, as_bytes
from tabletop_engine.play.warm_up import warm_up
from tabletop_engine.positions.scripted import BEGIN, MOST_DRAWS, NUM_FACTS, ScriptedKernels, scripted_dtype
from tabletop_engine.record import exact_points

CHANCE = -2
"""The `actor` of a position with a pending draw."""

_SETTLED = -2
"""The number that `Position.save` writes for a position without a pending action."""
_FIRST, _LATER = b"\0", b"\1"
"""Whether a saved decision is the first of its game, so that no rewards have counted any points."""
_DIGEST = 16
_KEY = secrets.token_bytes(32)
"""The key that signs what this process saves, so that it can load these bytes without checks."""


class Positions:
    """The positions of games with one configuration: the first one, and those of given records.

    Arguments:
        config: the configuration of a game.
        tables: (1,) printed numbers; None for those of the configuration.

    Attributes:
        game: the game that is played.
        config: its configuration.
        tables: (1,) of `game.tables`, the printed numbers.

    Raises ConfigError if `config` is not a configuration.
    """

    def __init__(self, config: Config, tables: np.ndarray | None = None) -> None:
        self.game: Game = check_config(config)
        self.config = config
        usual = self.game.load_tables(config.components)
        self.tables: np.ndarray = usual if tables is None else tables
        self._has_usual_tables = tables is None or tables.tobytes() == usual.tobytes()
        self.blank: np.ndarray = np.zeros(1, self.game.state)
        config.write_switches(self.blank)
        warm_up(self.game)
        self.kernels: ScriptedKernels = _kernels(self.game)
        self._scratch = _Scratch(self.game)

    @cached_property
    def first(self) -> Position:
        """The position at the start of a game: a draw if the set-up draws anything, otherwise the first decision."""
        return self._played(None, self.blank, BEGIN, ())

    def at(self, state: Any, check: bool = True) -> Position:
        """The position of a record, such as `batch.states[0]` or a result of `Game.scenario`. The record is copied.

        The position has no history: it is like the first decision of a game, whose first rewards count the points that
        there are. Raises StateError for a record of another configuration and, with `check`, for one
        that no game can reach.
        """
        states = np.zeros(1, self.game.state)
        try:
            states[0] = state
        except (TypeError, ValueError):
            raise StateError(f"{state!r:.80} is not a record of {self.game.name}") from None
        states["edition"] = 0  # the only one here
        if check:
            self._check(states)
        states["rng"] = 0
        return Position(self, states, int(states["actor"][0]))

    def load(self, data: bytes | bytearray | memoryview) -> Position:
        """The position that `Position.save` wrote, with the same configuration.

        Bytes that this process has saved are trusted; all others are checked. Raises StateError for bytes that are not
        a position of this configuration.
        """
        data = as_bytes(data)
        data, signature = data[:-_DIGEST], data[-_DIGEST:]
        _, body = _SAVED.unpack(data, self.header)
        trusted = hmac.compare_digest(_signature(data[-_DIGEST:]), signature)
        wide, points = self.game.state.itemsize, len(_FIRST) + 8 * self.game.max_owners
        states = _record(self.game, body[:wide].ljust(wide, b"\0"))
        begins = states.tobytes() == self.blank.tobytes()
        between = 0 if begins else points + self.config.players * 2 * _DIGEST
        tail = body[wide + between :]
        number = (len(tail) - 8) // 4
        if len(body) < wide + between + 8 or len(tail) != 8 + 4 * number or number > MOST_DRAWS:
            raise StateError(f"the saved data is damaged: {len(body)} bytes are not a position of {self.game.name}")
        pending, count, *outcomes = struct.unpack(f"<iI{number}i", tail)
        if count != number or (pending == BEGIN) != begins or (pending == _SETTLED and count):
            raise StateError("the saved data is damaged: the number of its draws is wrong")
        position = self.first if begins else self._decided(states, body[wide : wide + between], trusted)
        if pending == _SETTLED:
            return position
        if not begins:
            if pending not in position.legal_actions:
                raise StateError(f"the saved position is impossible: action {pending} is not legal there")
            position = position.after(pending)
        for outcome in outcomes:
            if position.actor != CHANCE or outcome not in dict(position.chance_outcomes):
                raise StateError(f"the saved position is impossible: {outcome} is not a possible outcome of its draw")
            position = position.after(outcome)
        if position.actor != CHANCE:
            raise StateError("the saved position is impossible: nothing is drawn there")
        return position

    def __reduce__(self) -> tuple[Callable[..., Positions], tuple[Any, ...]]:
        return positions_of, (self.config, None if self._has_usual_tables else self.tables.tobytes())

    # --- inside ---

    def _played(self, before: Position | None, states: np.ndarray, action: int, script: tuple[int, ...]) -> Position:
        """The position after an action on a record, (1,), with these outcomes: the next one, or another draw."""
        if len(script) > MOST_DRAWS:
            raise StateError(f"more than {MOST_DRAWS} draws in one step")
        after, scratch = _record(self.game, bytes(self.game.state.itemsize)), self._scratch
        if script:
            scratch.script[: len(script)] = script
        self.kernels.play_scripted(
            states, self.tables, action, scratch.script, len(script), scratch.work, after, scratch.facts
        )
        drawn, outcomes, weighted, actor, decision, stream_used = scratch.facts.tolist()
        if drawn > len(script):
            if weighted and outcomes > MOST_KINDS:
                raise StateError(f"a draw from {outcomes} kinds of things; a script tells {MOST_KINDS} apart")
            weights = tuple(scratch.work["weights"][0, :outcomes].tolist()) if weighted else (1,) * outcomes
            return Position(self, states, CHANCE, before, action, script, weights)
        if stream_used:
            text = f"the rules of {self.game.name} take random bits that are no draw of tabletop_engine.chance"
            raise StateError(f"{text}, or Numba {numba_version()} compiles them in a way that is not known here")
        if decision == NO_WAY_ON:
            raise StateError(stuck_text(self.game, after[0]))
        return Position(self, after, actor, before, None if before is None else action)

    def _check(self, states: np.ndarray) -> None:
        for name, wanted in switches_of(self.config).items():
            if (states[name] != wanted).any():
                raise StateError(f"the position has {name} {states[name][0]}; here {self.config.name} is played")
        self.game.check(states, self.tables)

    def _decided(self, states: np.ndarray, rest: bytes, trusted: bool) -> Position:
        """The saved decision or end."""
        if not trusted:
            self._check(states)
            if states["rng"][0] or states["edition"][0]:
                raise StateError("the saved position has a random stream or an edition; positions have none")
        one = Position(self, states, int(states["actor"][0]))
        start = len(_FIRST) + 8 * self.game.max_owners
        if not rest.startswith(_FIRST):
            one._paid_earlier = np.frombuffer(rest[len(_FIRST) : start], one.points.dtype).copy()
        digests = [rest[i : i + _DIGEST] for i in range(start, len(rest), _DIGEST)]
        one._known = dict(enumerate(zip(digests[::2], digests[1::2], strict=True)))
        return one

    @cached_property
    def header(self) -> Header:
        """The first part of a saved position: its game, versions and configuration."""
        return _SAVED.header(self.config, self.tables, position_version=2, rules_version=self.game.rules_version)


class Position:
    """A decision, a draw, or the end of a game.

    A position never changes, so it needs no copy: `after` returns a new one. `Positions.first`, `Positions.at` and
    `Positions.load` make the others.

    Attributes:
        positions: the `Positions` that it belongs to.
        states: (1,) record; do not change it. At a draw it is the record of the last decision, and before the first
            decision a blank one.
        actor: the seat that takes the pending decision, CHANCE at a draw, or NOBODY when the game is over.
        pending: at a draw, the action that caused it, or BEGIN during the set-up; otherwise the action that led here,
            or None.
        outcomes: at a draw, the outcomes that have been drawn since that action.
    """

    __slots__ = (
        *("positions", "states", "actor", "pending", "outcomes"),
        *("_before", "_weights", "_legal", "_known", "_origin", "_paid_earlier"),
    )

    def __init__(
        self,
        positions: Positions,
        states: np.ndarray,
        actor: int,
        before: Position | None = None,
        pending: int | None = None,
        outcomes: tuple[int, ...] = (),
        weights: tuple[int, ...] = (),
    ) -> None:
        self.positions = positions
        self.states = states
        self.actor = actor
        self.pending = pending
        self.outcomes = outcomes
        self._before = before
        self._weights = weights
        self._legal: list[int] | None = None
        self._known: dict[int, tuple[bytes, bytes]] = {}
        self._origin = b""
        self._paid_earlier: np.ndarray | None = None  # of a position without `_before` that is not the first decision

    def __deepcopy__(self, memo: Any) -> Position:
        return self

    def __copy__(self) -> Position:
        return self

    def __reduce__(self) -> tuple[Callable[..., Position], tuple[Any, ...]]:
        return Positions.load, (self.positions, self.save())

    # --- what it is ---

    @property
    def state(self) -> Any:
        """The record."""
        return self.states[0]

    @property
    def is_chance(self) -> bool:
        """Whether a draw is pending."""
        return self.actor == CHANCE

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return self.actor == NOBODY

    @property
    def has_begun(self) -> bool:
        """Whether there has been a decision. Draws before the first one are part of the set-up, which nobody sees."""
        return self._before is not None or self.actor != CHANCE

    @property
    def points(self) -> np.ndarray:
        """The points of the owners in the record, (owners,) int64, or float64 if points have halves."""
        return exact_points(self.states["points"][0])

    @property
    def legal_actions(self) -> list[int]:
        """The legal actions, ascending; none at a draw and when the game is over. Do not change the list."""
        if self._legal is None:
            if self.actor < 0:
                self._legal = []
            else:
                room = self.positions._scratch.actions
                self._legal = room[: self.positions.kernels.list_legal(self.states, room)].tolist()
        return self._legal

    @property
    def legal_mask(self) -> np.ndarray:
        """(A,) int8, 1 for each legal action."""
        mask = np.zeros(self.positions.game.num_actions, np.int8)
        mask[self.legal_actions] = 1
        return mask

    @property
    def chance_outcomes(self) -> list[tuple[int, float]]:
        """At a draw, the possible outcomes, ascending, with their probabilities. Equal things are one outcome."""
        total = sum(self._weights)
        return [(outcome, weight / total) for outcome, weight in enumerate(self._weights) if weight]

    def observe(self, seat: int) -> np.ndarray:
        """The observation of a seat, (D,) float32. At a draw it is that of the last decision, or zeros if none was.

        Raises ConfigError for a seat that does not play.
        """
        seat = whole("seat", seat, 0, self.positions.config.players - 1)
        seen = np.zeros((1, self.positions.game.observation.size), np.float32)
        if self.has_begun:
            self._write_view(seat, seen)
        return seen[0]

    def rewards(self, reward: str = "win") -> np.ndarray:
        """The reward of each player since the last decision, (P,) float64, as in `Batch`; 0 at a draw."""
        return self._since(reward, None if self.actor == CHANCE else self._paid_before)

    def returns(self, reward: str = "win") -> np.ndarray:
        """The sum of each player's rewards so far, (P,) float64. It is 0 before anybody has decided."""
        decided = self._before if self.actor == CHANCE else self
        paid = None if decided is None else decided._paid_before
        return self._since(reward, None if paid is None else np.zeros_like(paid))

    def knowledge(self, seat: int) -> bytes:
        """A digest, 32 bytes, of all that a seat has seen and done so far, in order.

        Equal histories of a seat have equal digests; different ones practically never do. An observation is added when
        it changes, or after the seat's own action. So the number of decisions that others take unseen does not count.

        Raises ConfigError for a seat that does not play.
        """
        seat = whole("seat", seat, 0, self.positions.config.players - 1)
        if self.actor == CHANCE:
            if self._before is None:
                return bytes(2 * _DIGEST)
            known, seen = self._before._knows(seat)
            return (_digest(known, self._action_digest(seat)) if self._before.actor == seat else known) + seen
        return b"".join(self._knows(seat))

    # --- what can become of it ---

    def after(self, action: int) -> Position:
        """The position after an action or, at a draw, after an outcome.

        Raises IllegalAction for one that is not in `legal_actions` or `chance_outcomes`, and GameOver. Raises
        StateError if the rules find no legal action or no next decision.
        """
        if self.actor == CHANCE:
            if not 0 <= action < len(self._weights) or not self._weights[action]:
                raise IllegalAction(
                    f"outcome {action!r:.80}: must be one of {', '.join(str(one) for one, _ in self.chance_outcomes)}"
                )
            assert self.pending is not None
            return self.positions._played(self._before, self.states, self.pending, (*self.outcomes, int(action)))
        if self.actor == NOBODY:
            raise GameOver("the game is over")
        if action not in self.legal_actions:
            raise refusal(self.positions.game, self.states[0], action)
        return self.positions._played(self, self.states, int(action), ())

    def settled(self, generator: np.random.Generator) -> Position:
        """The next decision or the end, after drawing all outcomes up to it; itself if no draw is pending."""
        position = self
        while position.actor == CHANCE:
            left = int(generator.integers(sum(position._weights)))
            outcome = 0
            while left >= position._weights[outcome]:
                left -= position._weights[outcome]
                outcome += 1
            position = position.after(outcome)
        return position

    def resampled(self, seat: int, generator: np.random.Generator) -> Position:
        """A position that this seat can't tell from this one: all that the seat can't know is drawn anew.

        The knowledge of the seat stays. The knowledge of the others is invented, from nothing but what this seat knows.

        Raises ConfigError for a seat that does not play and, at a draw after the first decision, for any seat but the
        one that has acted.
        """
        seat = whole("seat", seat, 0, self.positions.config.players - 1)
        positions = self.positions
        if self.actor == CHANCE:
            if self._before is None:
                return positions.first
            if self._before.actor != seat:
                asked = f"player_{self._before.actor}"
                raise ConfigError(f"seat={seat}: at a draw after an action of {asked}, only {asked} can ask")
            assert self.pending is not None
            before = self._before.resampled(seat, generator)
            return positions._played(before, before.states, self.pending, ())
        states = _record(positions.game, self.states.tobytes())
        randoms = generator.integers(0, 2**64, 1, dtype=np.uint64)
        positions.game.kernels.sample_hidden_games(states, positions.tables, np.array([seat], np.int64), randoms)
        states["rng"] = 0
        one = Position(positions, states, int(states["actor"][0]))
        one._known[seat] = known, _ = self._knows(seat)
        one._origin = _digest(known, b"others, as they may be")
        one._paid_earlier = self._paid_before
        return one

    def played_out(self, generator: np.random.Generator, reward: str = "win", games: int = 1) -> np.ndarray:
        """The mean returns, (P,) float64, of games that are played from here with uniformly random actions."""
        total = np.zeros(self.positions.config.players)
        for _ in range(games):
            settled = self.settled(generator)
            states = _record(self.positions.game, settled.states.tobytes())
            states["rng"] = generator.integers(0, 2**64, 1, dtype=np.uint64)
            self.positions.game.kernels.playout(states, self.positions.tables)
            total += Position(self.positions, states, NOBODY)._since(reward, np.zeros_like(settled.points))
        return total / games

    def save(self) -> bytes:
        """The position as bytes, for `Positions.load`.

        These are: header, record, points paid before it, knowledge of the seats, draws, and digests of all these.
        """
        at_draw = self.actor == CHANCE
        decided = self._before if at_draw else self
        parts = [self.positions.header.text, self.states.tobytes()]
        if decided is not None:
            paid = decided._paid_before
            parts += [_FIRST, decided.points.tobytes()] if paid is None else [_LATER, paid.tobytes()]
            for seat in range(self.positions.config.players):
                parts += decided._knows(seat)
        pending = self.pending if at_draw else _SETTLED
        parts.append(struct.pack(f"<iI{len(self.outcomes)}i", pending, len(self.outcomes), *self.outcomes))
        data = _SAVED.sealed(b"".join(parts))
        return data + _signature(data[-_DIGEST:])

    # --- inside ---

    @property
    def _paid_before(self) -> np.ndarray | None:
        """The points of the owners that rewards had counted at the last decision; None if there was none."""
        before = self._before
        if before is None:
            return self._paid_earlier
        is_first = before._before is None and before._paid_earlier is None
        return np.zeros_like(before.points) if is_first else before.points

    def _write_view(self, seat: int, out: np.ndarray) -> None:
        game = self.positions.game
        seats, narrow = np.array([seat], np.int64), self.positions._scratch.narrow
        game.kernels.observe_games(self.states, self.positions.tables, seats, game.observation.divisors, out, narrow)

    def _since(self, reward: str, paid: np.ndarray | None) -> np.ndarray:
        """The rewards of this record when these points, (owners,) int64, are paid; 0 for None."""
        out, kind = np.zeros(self.positions.config.players), choice("reward", reward, REWARDS)
        if paid is not None:
            self.positions.kernels.rewards_since(self.states, kind, paid, out)
        return out

    def _action_digest(self, seat: int) -> bytes:
        """The seat's own action that led here, as bytes; empty if another seat has acted."""
        own = self._before is not None and self._before.actor == seat
        return struct.pack("<i", self.pending) if own else b""

    def _knows(self, seat: int) -> tuple[bytes, bytes]:
        """At a decision or the end: digests of all that the seat has seen and done, and of what it sees now."""
        unknown: list[Position] = []
        one: Position | None = self
        while one is not None and seat not in one._known:
            unknown.append(one)
            one = one._before
        room = self.positions._scratch.view
        for one in reversed(unknown):
            one._write_view(seat, room)
            seen = _digest(room.tobytes())
            if one._before is None:
                one._known[seat] = _digest(one._origin, struct.pack("<i", seat), seen), seen
                continue
            known, seen_before = one._before._known[seat]
            action = one._action_digest(seat)
            one._known[seat] = (_digest(known, action, seen) if action or seen != seen_before else known), seen
        return self._known[seat]


# --- Compiling -------------------------------------------------------------------------------------------------------


@cache
def _kernels(game: Game) -> ScriptedKernels:
    """The kernels of scripted steps, compiled or taken from the cache."""
    made = ScriptedKernels(game)
    what = f"the rules of {game.title} for positions one by one"
    compile_once(what, "half a minute", made.rewards_since, lambda: _calls(game, made))
    return made


def _calls(game: Game, made: ScriptedKernels) -> list[Call]:
    """Every kernel with arguments of its types."""
    scratch, states = _Scratch(game), np.zeros(1, game.state)
    points = exact_points(states["points"][0])
    game.config(players=game.players[0]).write_switches(states)
    tables = game.load_tables(None)
    steps = (states, tables, BEGIN, scratch.script, 0, scratch.work, states.copy(), scratch.facts)
    return [
        ("playing", made.play_scripted, steps),
        ("listing actions", made.list_legal, (states, scratch.actions)),
        ("counting rewards", made.rewards_since, (states, 0, points, np.zeros(1))),
    ]


class _Scratch(threading.local):
    """Scratch space of the kernels, separate for each thread."""

    def __init__(self, game: Game) -> None:
        self.work = np.zeros(1, scripted_dtype(game))
        self.script = np.zeros(MOST_DRAWS, np.int32)
        self.facts = np.zeros(NUM_FACTS, np.int64)
        self.actions = np.zeros(game.num_actions, np.int64)
        self.view = np.zeros((1, game.observation.size), np.float32)
        self.narrow = np.zeros((1, 0), np.int8)


def _record(game: Game, content: bytes) -> np.ndarray:
    """A new (1,) record with these bytes. NumPy's `empty` and `copy` go through all fields and take much longer."""
    return np.frombuffer(bytearray(content), game.state)


# --- Bytes -----------------------------------------------------------------------------------------------------------


def _digest(*parts: bytes) -> bytes:
    return hashlib.blake2b(b"".join(parts), digest_size=_DIGEST).digest()


_SAVED = Format(b"tabletop-position\n", "a position that Position.save", _digest, _DIGEST)


def _signature(digest: bytes) -> bytes:
    return hashlib.blake2b(digest, digest_size=_DIGEST, key=_KEY).digest()


def positions_of(config: Config, tables: bytes | None = None) -> Positions:
    """The `Positions` of a configuration; equal arguments give the same object. `tables` are other printed numbers.

    Raises ConfigError for anything but a configuration.
    """
    check_config(config)
    return _positions(config, tables)  # type: ignore[arg-type]  # configurations are frozen dataclasses


@lru_cache(maxsize=64)
def _positions(config: Config, tables: bytes | None) -> Positions:
    if tables is None:
        return Positions(config)
    return Positions(config, np.frombuffer(tables, config.game.tables))  # read-only, as `load_tables` gives them
