"""What XLA's handler does for each method of an environment for JAX: its buffers and its instructions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_engine.compiling.xla import ILLEGAL, STUCK, Buffer, Operand, Plan
from tabletop_engine.game import Game
from tabletop_engine.play.kernels import RAISE
from tabletop_engine.play.warm_up import calls

BYTES = Buffer(np.uint8, (8,))
"""A seal, or a random stream."""
_INT32, _BOOL, _ACTOR = Buffer(np.int32), Buffer(np.bool_), Buffer(np.int8)
_TRUE = 0x0101010101010101
"""An int64 all of whose bytes are True."""


class Played:
    """What an environment plays.

    Attributes:
        game, players: the game, and the number of players.
        blank: (1,) the record that games are set up from.
        tables: (K,) the printed numbers.
        modes: autoreset, illegal action and reward, (3,) as the kernel `step_games` takes them.
        dtype: of observations.
        kind: the number that seals of its records begin with.
    """

    def __init__(
        self, game: Game, players: int, blank: np.ndarray, tables: np.ndarray, modes: np.ndarray, dtype: Any, kind: int
    ) -> None:
        self.game, self.players, self.blank, self.tables, self.modes = game, players, blank, tables, modes
        self.kind, self.size, self.width = kind, game.state.itemsize, game.observation.size
        self.is_float = np.dtype(dtype) == np.float32
        self.divisors = np.ascontiguousarray(game.observation.divisors)
        self.examples = {call.__name__: (call, given) for _, call, given in calls(game)}
        self.record, self.paid = Buffer(np.uint8, (self.size,)), Buffer(np.uint8, (8 * game.max_owners,))
        self.observation = Buffer(dtype, (self.width,))
        self.view = (self.observation, Buffer(np.bool_, (game.num_actions,)), _ACTOR)

    @property
    def told(self) -> bytes:
        """Bytes that tell apart what plans have only the addresses of."""
        parts = (self.game.code_sources.digest.encode(), self.blank, self.tables, self.modes, self.divisors)
        return b"\0".join(part if isinstance(part, bytes) else part.tobytes() for part in parts)


class GamePlan(Plan):
    """A plan with the instructions that several operations have in common.

    If a record and its seal are the first arguments, it begins by checking them.

    Arguments:
        played: what is played.
        arguments, results, in_place: as of `Plan`.
    """

    def __init__(
        self, played: Played, arguments: tuple[Buffer, ...], results: tuple[Buffer, ...], in_place: int = 0
    ) -> None:
        super().__init__(arguments, results, in_place)
        self._played = played
        if arguments[0] == played.record:
            self.check(self.argument(0), self.argument(1), played.size, played.kind)
        self.numbers = (self.constant(played.tables), len(played.tables))
        self.divisors = (self.constant(played.divisors), played.width)

    def run(self, name: str, *arguments: Any, problem: int = 0) -> None:
        """Run a kernel of the game."""
        kernel, examples = self._played.examples[name]
        self.call(kernel, examples, *arguments, problem=problem)

    def new_games(self) -> tuple[Operand, Operand]:
        """What kernels take for games that start: which of them may, all; and their editions, drawn ones."""
        which, editions = self.scratch(8), self.scratch(8)
        self.fill(which, _TRUE)
        self.fill(editions, -1)
        return which, editions

    def seats(self) -> Operand:
        """The argument after record and seal, as seats."""
        seats = self.scratch(8)
        self.widen(self.argument(2), seats, 0, self._played.players - 1)
        return seats

    def views(self, first: int) -> tuple[Any, ...]:
        """What kernels take to write views into the results from `first` on."""
        mask = (self.result(first + 1), self._played.game.num_actions)
        return self.divisors, self.result(first + 2), mask, *self.seen(self.result(first))

    def seen(self, where: Operand) -> tuple[Any, Any]:
        """A place for observations, as the kernels take it: float32 and int8, of which one has no columns."""
        width, is_float = self._played.width, self._played.is_float
        return (where, width if is_float else 0), (where, 0 if is_float else width)

    def set_streams(self, number: int) -> None:
        """Write an argument into the records, the first result, as their random streams."""
        at = int(self._played.game.state.fields["rng"][1])  # type: ignore[index]
        self.move(self.argument(number), 8, self.result(0), self._played.size, 8, at)

    def view_and_seal(self, first: int) -> Plan:
        """Write the views of the records, the first result, from result `first` on; and their seals."""
        self.run("view_games", self.result(0), self.numbers, *self.views(first))
        return self.sealed()

    def sealed(self) -> Plan:
        """Write the seals, the second result, of the records."""
        self.seal(self.result(0), self.result(1), self._played.size, self._played.kind)
        return self


def _init(played: Played) -> Plan:
    """(stream) -> (record, seal, observation, mask, actor): a new game."""
    plan = GamePlan(played, (BYTES,), (played.record, BYTES, *played.view))
    plan.move(plan.constant(played.blank), 0, plan.result(0), played.size, played.size)
    plan.set_streams(0)
    plan.run("reset_games", plan.result(0), plan.numbers, *plan.new_games())
    return plan.view_and_seal(2)


def _view(played: Played) -> Plan:
    """(record, seal) -> (observation, mask, actor)."""
    plan = GamePlan(played, (played.record, BYTES), played.view)
    plan.run("view_games", plan.argument(0), plan.numbers, *plan.views(0))
    return plan


def _step(played: Played) -> Plan:
    """(record, seal, paid, action) -> (record, seal, paid, observation, mask, actor, rewards, ended, illegal)."""
    known = (played.record, BYTES, played.paid)
    more = (Buffer(np.float32, (played.players,)), _BOOL, _BOOL)
    plan = GamePlan(played, (*known, _INT32), (*known, *played.view, *more), in_place=3)
    records, actions, (which, editions) = plan.result(0), plan.scratch(8), plan.new_games()
    plan.widen(plan.argument(3), actions, -(2**31), 2**31 - 1)
    if played.modes[1] == RAISE:
        plan.run("first_illegal", records, actions, which, played.game.num_actions, problem=ILLEGAL)
    rewards, ends = plan.scratch(8 * played.players), plan.scratch(played.size)
    last_views = plan.seen(plan.scratch(4 * played.width))
    plan.run(
        *("step_games", records, plan.numbers, actions, which, editions, (plan.constant(played.modes), 3)),
        *(*plan.views(3), (rewards, played.players), (plan.result(2), played.game.max_owners)),
        *(plan.result(7), plan.result(8), ends, *last_views),
        problem=STUCK,
    )
    plan.narrow(rewards, plan.result(6), played.players)
    return plan.sealed()


def _observe(played: Played) -> Plan:
    """(record, seal, seat) -> (observation)."""
    plan = GamePlan(played, (played.record, BYTES, _INT32), (played.observation,))
    seen = plan.seen(plan.result(0))
    plan.run("observe_games", plan.argument(0), plan.numbers, plan.seats(), plan.divisors, *seen)
    return plan


def _reseed(played: Played) -> Plan:
    """(record, seal, stream) -> (record, seal)."""
    plan = GamePlan(played, (played.record, BYTES, BYTES), (played.record, BYTES), in_place=2)
    plan.set_streams(2)
    return plan.sealed()


def _sample_hidden(played: Played) -> Plan:
    """(record, seal, seat, stream) -> (record, seal, observation, mask, actor)."""
    results = (played.record, BYTES, *played.view)
    plan = GamePlan(played, (played.record, BYTES, _INT32, BYTES), results, in_place=2)
    plan.run("sample_hidden_games", plan.result(0), plan.numbers, plan.seats(), plan.argument(3))
    return plan.view_and_seal(2)


def _places(played: Played) -> Plan:
    """(record, seal) -> (places)."""
    owners = played.game.max_owners
    plan = GamePlan(played, (played.record, BYTES), (Buffer(np.int8, (owners,)),))
    plan.run("places_of_games", plan.argument(0), (plan.result(0), owners))
    return plan


_MADE_BY = {
    "init": _init,
    "view": _view,
    "step": _step,
    "observe": _observe,
    "reseed": _reseed,
    "sample_hidden": _sample_hidden,
    "places": _places,
}


def operations(played: Played) -> dict[str, Plan]:
    """The plans of all operations by name. The handler knows them after this."""
    plans = {name: make(played) for name, make in _MADE_BY.items()}
    for name, plan in plans.items():
        plan.register(name.encode(), played.told)
    return plans
