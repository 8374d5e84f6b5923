"""A game's kernels inside programs of JAX: a plan (`tabletop_engine.compiling.xla`) for each operation on its states.

A state has the bytes of a record and a *seal*, a checksum of the record. Each operation refuses a record whose seal is
wrong: a program of JAX can change any byte, and rules that meet an impossible record may end the process.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_engine.compiling.compiled import kernel, rule
from tabletop_engine.compiling.xla import CHANGED, ILLEGAL, NO_PLAYER, STUCK, Buffer, Place, Plan
from tabletop_engine.game import Config
from tabletop_engine.play.kernels import RAISE

_LOW, _32 = np.uint64(0xFFFFFFFF), np.uint64(32)
_EVEN, _ODD = np.uint64(0x9E3779B1), np.uint64(0x85EBCA77)


@rule
def seal_of(words: np.ndarray, kind: int) -> np.uint64:
    """A checksum: each half of a word times an odd number of its own, so that no change of one half stays unseen."""
    total = np.uint64(kind)
    for i in range(words.shape[0]):
        odd = np.uint64(2 * i + 1)
        total += (words[i] & _LOW) * (odd * _EVEN & _LOW) + (words[i] >> _32) * (odd * _ODD & _LOW)
    return total


@rule
def copy_row(source: np.ndarray, target: np.ndarray) -> None:
    """Copy numbers. `target[:] = source` would need memory, in case that they overlap."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@kernel
def seal(records: np.ndarray, kind: int, seals: np.ndarray) -> None:
    """Write the seals, (N,) uint64, of records of a kind; records are (N, words) uint64 here."""
    for i in range(records.shape[0]):
        seals[i] = seal_of(records[i], kind)


@kernel
def open_seals(records: np.ndarray, seals: np.ndarray, kind: int, copies: np.ndarray) -> int:
    """Copy records. Returns the number of one whose seal is wrong, or -1. `copies` may be `records`, or (N, 0)."""
    wrong = -1
    for i in range(records.shape[0]):
        if seal_of(records[i], kind) != seals[i]:
            wrong = i
        elif copies.shape[1] > 0 and copies.ctypes.data != records.ctypes.data:
            copy_row(records[i], copies[i])
    return wrong


@kernel
def set_streams(records: np.ndarray, streams: np.ndarray, at: int) -> None:
    """Write random streams, (N,) uint64, into word `at` of the records."""
    for i in range(records.shape[0]):
        records[i, at] = streams[i]


@kernel
def lay_out(blank: np.ndarray, records: np.ndarray, which: np.ndarray, editions: np.ndarray) -> None:
    """Make every record `blank`, (words,). Mark all to be started, with an edition that their streams choose."""
    for i in range(records.shape[0]):
        copy_row(blank, records[i])
        which[i], editions[i] = True, -1


@kernel
def prepare_step(
    small: np.ndarray, actions: np.ndarray, which: np.ndarray, editions: np.ndarray, paid: np.ndarray, out: np.ndarray
) -> None:
    """Write what `step_games` takes: actions (int32) as int64, all games, editions of new ones, a copy of `paid`."""
    for i in range(small.shape[0]):
        actions[i], which[i], editions[i] = small[i], True, -1
        copy_row(paid[i], out[i])


@kernel
def seats_of(small: np.ndarray, players: int, seats: np.ndarray) -> int:
    """Write seats (int32) as int64. Returns the number of one that is none of the players, or -1."""
    wrong = -1
    for i in range(small.shape[0]):
        seats[i] = small[i]
        if not 0 <= seats[i] < players:
            seats[i], wrong = 0, i
    return wrong


@kernel
def to_float32(rewards: np.ndarray, out: np.ndarray) -> None:
    """Write rewards, (N, P) float64, as float32."""
    for i in range(rewards.shape[0]):
        for seat in range(rewards.shape[1]):
            out[i, seat] = rewards[i, seat]


def plans_of(config: Config, tables: np.ndarray, modes: np.ndarray, dtype: Any, kind: int) -> dict[str, Plan]:
    """The plan of each operation, by its name. The handler knows them after this.

    Operations on states take record and seal first; those that change a record have both as the first results.

    Arguments:
        config: what is played.
        tables: (K,) the printed numbers.
        modes: autoreset, illegal action and reward, as the kernel `step_games` takes them.
        dtype: of observations.
        kind: the number that seals begin with.
    """
    game, players = config.game, config.players
    blank = np.zeros(1, game.state)
    config.write_switches(blank)
    kernels, size, width, owners = game.kernels, game.state.itemsize, game.observation.size, game.max_owners
    record, eight, int32 = Buffer(np.uint8, (size,)), Buffer(np.uint8, (8,)), Buffer(np.int32)
    observation, yes = Buffer(dtype, (width,)), Buffer(np.bool_)
    view = (observation, Buffer(np.bool_, (game.num_actions,)), Buffer(np.int8))
    words, divisors = size // 8, game.observation.divisors

    def views(plan: Plan, first: int) -> tuple[Any, ...]:
        """What kernels take to write views into the results from `first` on."""
        masks = plan.result(first + 1, np.int8, game.num_actions)
        return divisors, plan.result(first + 2), masks, *seen(plan.result(first))

    def seen(there: Place) -> tuple[Place, Place]:
        """Places for float32 and for int8 observations, of which one has no columns."""
        other = np.int8 if dtype == np.float32 else np.float32
        nothing = Place(there.kind, there.number, np.zeros((1, 0), other))
        return (there, nothing) if dtype == np.float32 else (nothing, there)

    def opened(arguments: tuple[Buffer, ...], results: tuple[Buffer, ...]) -> tuple[Plan, Place]:
        """A plan that begins with sealed records, and the place where they are changed, or only read."""
        plan = Plan((record, eight, *arguments), results)
        changes = results[0] == record
        copies = plan.result(0, np.uint64, words) if changes else plan.argument(0, np.uint64, 0)
        given, seals = plan.argument(0, np.uint64, words), plan.argument(1, np.uint64)
        plan.call(open_seals, given, seals, kind, copies, problem=CHANGED)
        return plan, plan.result(0, game.state) if changes else plan.argument(0, game.state)

    def closed(plan: Plan) -> Plan:
        plan.call(seal, plan.result(0, np.uint64, words), kind, plan.result(1, np.uint64))
        return plan

    def seats(plan: Plan) -> Place:
        wide = plan.memory(np.int64)
        plan.call(seats_of, plan.argument(2), players, wide, problem=NO_PLAYER)
        return wide

    def streams(plan: Plan, number: int) -> None:
        at = int(game.state.fields["rng"][1]) // 8  # type: ignore[index]
        plan.call(set_streams, plan.result(0, np.uint64, words), plan.argument(number, np.uint64), at)

    def init() -> Plan:
        """(stream) -> (record, seal, observation, mask, actor): a new game."""
        plan = Plan((eight,), (record, eight, *view))
        records, which, editions = plan.result(0, game.state), plan.memory(np.bool_), plan.memory(np.int64)
        plan.call(lay_out, blank.view(np.uint64), plan.result(0, np.uint64, words), which, editions)
        streams(plan, 0)
        plan.call(kernels.reset_games, records, tables, which, editions)
        plan.call(kernels.view_games, records, tables, *views(plan, 2))
        return closed(plan)

    def look() -> Plan:
        """(record, seal) -> (observation, mask, actor)."""
        plan, records = opened((), view)
        plan.call(kernels.view_games, records, tables, *views(plan, 0))
        return plan

    def step() -> Plan:
        """(record, seal, paid, action) -> (record, seal, paid, observation, mask, actor, rewards, ended, illegal)."""
        paid = Buffer(np.uint8, (8 * owners,))
        more = (Buffer(np.float32, (players,)), yes, yes)
        plan, records = opened((paid, int32), (record, eight, paid, *view, *more))
        actions, which, editions = plan.memory(np.int64), plan.memory(np.bool_), plan.memory(np.int64)
        given, counted = plan.argument(2, np.int64, owners), plan.result(2, np.int64, owners)
        plan.call(prepare_step, plan.argument(3), actions, which, editions, given, counted)
        if modes[1] == RAISE:
            plan.call(kernels.first_illegal, records, actions, which, game.num_actions, problem=ILLEGAL)
        rewards, ends = plan.memory(np.float64, players), (plan.memory(game.state), *seen(plan.memory(dtype, width)))
        plan.call(
            *(kernels.step_games, records, tables, actions, which, editions, modes, *views(plan, 3), rewards, counted),
            *(plan.result(7), plan.result(8), *ends),
            problem=STUCK,
        )
        plan.call(to_float32, rewards, plan.result(6))
        return closed(plan)

    def observe() -> Plan:
        """(record, seal, seat) -> (observation)."""
        plan, records = opened((int32,), (observation,))
        plan.call(kernels.observe_games, records, tables, seats(plan), divisors, *seen(plan.result(0)))
        return plan

    def reseed() -> Plan:
        """(record, seal, stream) -> (record, seal)."""
        plan, _ = opened((eight,), (record, eight))
        streams(plan, 2)
        return closed(plan)

    def sample_hidden() -> Plan:
        """(record, seal, seat, stream) -> (record, seal, observation, mask, actor)."""
        plan, records = opened((int32, eight), (record, eight, *view))
        plan.call(kernels.sample_hidden_games, records, tables, seats(plan), plan.argument(3, np.uint64))
        plan.call(kernels.view_games, records, tables, *views(plan, 2))
        return closed(plan)

    def places() -> Plan:
        """(record, seal) -> (places)."""
        plan, records = opened((), (Buffer(np.int8, (owners,)),))
        plan.call(kernels.places_of_games, records, plan.result(0))
        return plan

    told = [game.code_sources.digest.encode(), *(one.tobytes() for one in (blank, tables, modes, divisors))]
    made = {one.__name__: one() for one in (init, look, step, observe, reseed, sample_hidden, places)}
    for name, plan in made.items():
        plan.register(name.encode(), *told)
    return made
