"""Kernels inside programs of XLA, and so of JAX: one handler of XLA's foreign function interface (FFI) for all of them.

XLA calls the handler on a thread of its own, without Python. The attribute `plan` of the call is a hash that stands for
a *plan*: instructions that say which kernels run, and on which of the call's buffers. The handler finds the plan in a
table of this process. So no program contains an address, and a program that another process made, or that comes from
a cache on disk, ends with an error until this process has made the same plan.

The handler, `answer`, is a kernel as all others: its machine code is kept on disk, and wheels can ship it. A few
instructions around it, made at the start, give it the type that XLA wants and the address of the table.
"""
# mypy: allow-untyped-calls

from __future__ import annotations

import ctypes
import hashlib
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.numpy_support import carray

from tabletop_engine.compiling.compiled import kernel, rule
from tabletop_engine.compiling.slots import RESULTS, machine_code, slots_function
from tabletop_engine.errors import TabletopError

TARGET = "tabletop_engine_v1"
"""The name that the handler has in programs."""

_TEXTS = (
    "this program was made for a game, numbers or options that this process has not set up: create the same Env first",
    "the buffers of this call are not those of its plan: the program was changed",
    "a record is not one of this Env's: it was changed by hand, or is of another game, number of players or numbers; "
    "from_records takes every record that a game can reach",
    "there is no such player: they are 0 to the number of players - 1",
    "an action is not legal (illegal_action='raise')",
    "a game can't go on: its rules find no next decision that has an answer",
    "a kernel ended with an error",
)
NO_PLAN, OTHER_BUFFERS, CHANGED, NO_PLAYER, ILLEGAL, STUCK, FAILED = range(1, len(_TEXTS) + 1)
"""How a call can end, other than well: the place of its text."""

_MOST_PLANS = 1 << 14
_FIRST_PLAN = len(_TEXTS) + 1
_table = np.zeros(_FIRST_PLAN + 2 * _MOST_PLANS, np.int64)
"""What the handler is told. It never moves. XLA's minor version and the addresses of the texts; then the plans, each
with its hash and its address, at a place that follows from the hash."""
_texts = [ctypes.create_string_buffer(f"tabletop: {text}".encode()) for text in _TEXTS]
_table[1:_FIRST_PLAN] = [ctypes.addressof(text) for text in _texts]
_plans: dict[int, Any] = {}
"""What the plans of the table refer to, by hash. A compiled program may ask for any of them, so they stay."""
_lock = threading.Lock()


# --- Plans -----------------------------------------------------------------------------------------------------------

_ADDRESSES, _ARGUMENTS, _RESULTS, _CALLS, _BUFFERS = range(5)
"""The places of a plan's first words. Then come the buffers, the calls and, from a place that the first word says, all
addresses."""
_MOST_WORDS = 4096
_PLAIN, _GAMES, _ARGUMENT, _RESULT, _SCRATCH, _CONSTANT = range(6)
"""What a slot of a call holds, said by two words: a number, or what has this number."""
_DTYPES = {"bool": 1, "int8": 2, "int32": 4, "uint8": 6, "float32": 11}
"""XLA's numbers of dtypes."""


class Buffer(NamedTuple):
    """An argument or a result of a call: its dtype, and its shape for one game."""

    dtype: Any
    shape: tuple[int, ...] = ()


class Place(NamedTuple):
    """An array that kernels of a plan take: where it is, and such an array for one game."""

    kind: int
    number: int
    example: np.ndarray


class Plan:
    """What the handler does: kernels that it runs, one after another, on arrays of as many games as the call has.

    Arguments:
        arguments, results: the buffers of the call.

    Attributes:
        key: the hash of a plan that is registered.
        scratch: the last result of the call, which is only there for `memory`.
    """

    key = np.int64(0)
    scratch = Buffer(np.uint8, (0,))

    def __init__(self, arguments: Sequence[Buffer], results: Sequence[Buffer]) -> None:
        self.arguments, self.results = tuple(arguments), tuple(results)
        self._calls: list[int] = []
        self._number_of_calls = 0
        self._addresses: list[int] = []
        self._alive: list[np.ndarray] = []

    def argument(self, number: int, dtype: Any = None, *shape: int) -> Place:
        """An argument; with a dtype, its bytes as an array of that type, whose shape for one game is given."""
        return _place(_ARGUMENT, number, self.arguments[number], dtype, shape)

    def result(self, number: int, dtype: Any = None, *shape: int) -> Place:
        """A result, as `argument`."""
        return _place(_RESULT, number, self.results[number], dtype, shape)

    def memory(self, dtype: Any, *shape: int) -> Place:
        """An array that only this call has, with anything in it."""
        made = Place(_SCRATCH, self.scratch.shape[0], np.zeros((1, *shape), dtype))
        self.scratch = Buffer(np.uint8, (made.number + -(-made.example.nbytes // 8) * 8,))
        return made

    def call(self, kernel: Any, *given: Place | np.ndarray | int, problem: int = 0) -> None:
        """Run a kernel on places, on arrays that never change, and on ints.

        If it returns a number from 0 on, the whole call ends with this problem; 0 if it returns nothing.
        """
        slots: list[int] = []
        for one in given:
            if isinstance(one, Place):
                slots += [one.kind, one.number, _GAMES, 0, *_plain(one.example.shape[1:])]
            elif isinstance(one, np.ndarray):
                self._alive.append(one)
                slots += [_CONSTANT, self._address(one.ctypes.data), *_plain(one.shape)]
            else:
                slots += _plain((one,))
        function = slots_function(kernel, *(one.example if isinstance(one, Place) else one for one in given))
        self._calls += [self._address(function), problem, len(slots) // 2, *slots]
        self._number_of_calls += 1

    def register(self, *told: bytes) -> None:
        """Make the plan known to the handler, under a hash that is the same in every process.

        `told` are bytes that tell apart what is not hashed: kernels and arrays, of which there are only addresses.
        """
        sizes = [len(self.arguments), len(self.results) + 1, self._number_of_calls]
        for one in (*self.arguments, *self.results, self.scratch):
            sizes += [_DTYPES[np.dtype(one.dtype).name], int(np.prod(one.shape, dtype=np.int64))]
        hashed = np.array([1 + len(sizes) + len(self._calls), *sizes, *self._calls], np.int64)
        digest = hashlib.sha256(b"\0".join([hashed.tobytes(), *told])).digest()
        key = int.from_bytes(digest[:8], "little", signed=True) or 1
        self.key = np.int64(key)
        with _lock:
            if key in _plans:
                return
            if len(_plans) > _MOST_PLANS // 2:
                raise TabletopError("this process has set up too many games for JAX: go on in a new one")
            words = np.concatenate([hashed, np.array(self._addresses, np.int64)])
            _plans[key] = (words, self._alive)
            place = key % _MOST_PLANS
            while _table[_FIRST_PLAN + 2 * place]:
                place = (place + 1) % _MOST_PLANS
            _table[_FIRST_PLAN + 2 * place + 1] = words.ctypes.data
            _table[_FIRST_PLAN + 2 * place] = key  # last: a handler that runs now finds the plan whole

    def _address(self, address: int) -> int:
        self._addresses.append(address)
        return len(self._addresses) - 1


def _place(kind: int, number: int, buffer: Buffer, dtype: Any, shape: tuple[int, ...]) -> Place:
    return Place(kind, number, np.zeros((1, *(buffer.shape if dtype is None else shape)), dtype or buffer.dtype))


def _plain(numbers: Sequence[int]) -> list[int]:
    return [word for number in numbers for word in (_PLAIN, number)]


# --- The handler -----------------------------------------------------------------------------------------------------

# Offsets in XLA's structures (jaxlib's include/xla/ffi/api/c_api.h), in bytes
_EXTENSION, _API, _NUM_ARGUMENTS, _ARGUMENT_LIST, _NUM_RESULTS, _RESULT_LIST = 8, 16, 56, 72, 96, 112  # a call
_NUM_ATTRIBUTES, _ATTRIBUTE_TYPES, _ATTRIBUTE_LIST = 136, 144, 160
_DTYPE, _DATA, _RANK, _DIMENSIONS = 16, 24, 32, 40  # a buffer
_CREATE_ERROR = 48  # the interface
_IS_METADATA, _METADATA, _VERSION = 1, 24, 24  # what XLA asks when the handler is registered
_SCALAR, _INT64, _INVALID_ARGUMENT = 3, 5, 3


def _as_pointer(typing: Any, address: Any) -> Any:
    """An address as a pointer."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), code


def _caller(bits: int) -> Any:
    """A function that calls the C function at an address with one pointer, and returns its result of so many bits."""

    def call(typing: Any, function: Any, argument: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(ir.IntType(bits), [ir.IntType(8).as_pointer()])
            pointer = builder.inttoptr(args[1], ir.IntType(8).as_pointer())
            result = builder.call(builder.inttoptr(args[0], kind.as_pointer()), [pointer])
            return result if bits == 64 else builder.sext(result, ir.IntType(64))

        return types.int64(types.int64, types.int64), code

    return intrinsic(call)


_pointer: Any = intrinsic(_as_pointer)
_run, _create = _caller(32), _caller(64)


@rule
def _words(address: int, number: int) -> np.ndarray:
    return carray(_pointer(address), number, np.int64)


@rule
def _load(address: int) -> int:
    return _words(address, 1)[0]


@rule
def _small(address: int) -> np.ndarray:
    return carray(_pointer(address), 3, np.int32)


@rule
def _error(frame: int, table: np.ndarray, problem: int) -> int:
    """The address of an XLA_FFI_Error with the text of the problem, which XLA copies."""
    given = np.zeros(4, np.int64)
    given[0], given[2], given[3] = 28, table[problem], _INVALID_ARGUMENT
    error = _create(_load(_load(frame + _API) + _CREATE_ERROR), given.ctypes.data)
    return error + given[1]  # so that the array lives until here, Numba frees it after its last use


@rule
def _plan_of(frame: int, table: np.ndarray) -> int:
    """The address of the plan that the call's only attribute names, or 0."""
    if _load(frame + _NUM_ATTRIBUTES) != 1 or _small(_load(frame + _ATTRIBUTE_TYPES))[0] != _SCALAR:
        return 0
    scalar = _load(_load(frame + _ATTRIBUTE_LIST))
    if _small(scalar)[0] != _INT64:
        return 0
    key = _load(_load(scalar + 8))
    place = key % _MOST_PLANS
    while table[_FIRST_PLAN + 2 * place] != 0:
        if table[_FIRST_PLAN + 2 * place] == key:
            return table[_FIRST_PLAN + 2 * place + 1]
        place = (place + 1) % _MOST_PLANS
    return 0


@rule
def _elements(buffer: int) -> int:
    total = 1
    for length in _words(_load(buffer + _DIMENSIONS), _load(buffer + _RANK)):
        total *= length
    return total


@rule
def _games(frame: int, plan: np.ndarray) -> int:
    """The number of games in the buffers of a call; -1 if they are not those of the plan."""
    arguments, results = plan[_ARGUMENTS], plan[_RESULTS]
    if _load(frame + _NUM_ARGUMENTS) != arguments or _load(frame + _NUM_RESULTS) != results:
        return -1
    games = _elements(_load(_load(frame + _ARGUMENT_LIST))) // plan[_BUFFERS + 1]
    for i in range(arguments + results):
        listed = _load(frame + _ARGUMENT_LIST) + 8 * i
        if i >= arguments:
            listed = _load(frame + _RESULT_LIST) + 8 * (i - arguments)
        dtype, size = plan[_BUFFERS + 2 * i], plan[_BUFFERS + 1 + 2 * i]
        if _small(_load(listed) + _DTYPE)[0] != dtype or _elements(_load(listed)) != games * size:
            return -1
    return games


@rule
def _data(buffers: int, number: int) -> int:
    return _load(_load(_load(buffers) + 8 * number) + _DATA)


@rule
def _slot(frame: int, plan: np.ndarray, games: int, at: int) -> int:
    """What the slot holds that two words of a plan describe."""
    kind, value = plan[at], plan[at + 1]
    if kind == _GAMES:
        return games
    if kind == _ARGUMENT:
        return _data(frame + _ARGUMENT_LIST, value)
    if kind == _RESULT:
        return _data(frame + _RESULT_LIST, value)
    if kind == _SCRATCH:
        return _data(frame + _RESULT_LIST, plan[_RESULTS] - 1) + games * value
    if kind == _CONSTANT:
        return plan[plan[_ADDRESSES] + value]
    return value


@rule
def _follow(frame: int, plan: np.ndarray, games: int) -> int:
    """Run the kernels of a plan. Returns 0, or the problem."""
    slots, at, problem = np.empty(64, np.int64), _BUFFERS + 2 * (plan[_ARGUMENTS] + plan[_RESULTS]), 0
    for _ in range(plan[_CALLS]):
        function, own_problem, number = plan[plan[_ADDRESSES] + plan[at]], plan[at + 1], plan[at + 2]
        for i in range(number):
            slots[RESULTS + i] = _slot(frame, plan, games, at + 3 + 2 * i)
        at += 3 + 2 * number
        if _run(function, slots.ctypes.data) != 0:
            problem = FAILED
        elif own_problem != 0 and slots[0] >= 0:
            problem = own_problem
        if problem != 0:
            break
    slots[0] = problem  # so that the array lives until here: Numba frees it after its last use
    return slots[0]


@kernel
def answer(frame: int, table: np.ndarray) -> int:
    """What XLA calls, with the address of an XLA_FFI_CallFrame. Returns 0, or the address of an XLA_FFI_Error."""
    extension = _load(frame + _EXTENSION)
    if extension != 0:
        if _small(extension + 8)[0] == _IS_METADATA:
            version = _small(_load(extension + _METADATA) + _VERSION)
            version[0], version[1], version[2] = 0, table[0], 0  # major, minor, no traits
        return 0
    address = _plan_of(frame, table)
    if address == 0:
        return _error(frame, table, NO_PLAN)
    plan = _words(address, _MOST_WORDS)
    games = _games(frame, plan)
    if games < 0:
        return _error(frame, table, OTHER_BUFFERS)
    problem = _follow(frame, plan, games) if games > 0 else 0
    return 0 if problem == 0 else _error(frame, table, problem)


def handler() -> int:
    """The address of `XLA_FFI_Error *handler(XLA_FFI_CallFrame *)`, which calls `answer` with the table."""
    int64, pointer = ir.IntType(64), ir.IntType(8).as_pointer()
    module = ir.Module(TARGET)
    function = ir.Function(module, ir.FunctionType(pointer, [pointer]), TARGET)
    builder = ir.IRBuilder(function.append_basic_block())
    slots = builder.alloca(int64, RESULTS + 3)
    given = [builder.ptrtoint(function.args[0], int64), int64(_table.ctypes.data), int64(len(_table))]
    for number, one in enumerate(given):
        builder.store(one, builder.gep(slots, [int64(RESULTS + number)]))
    kind = ir.FunctionType(ir.IntType(32), [int64.as_pointer()])
    builder.call(builder.inttoptr(int64(slots_function(answer, 0, _table)), kind.as_pointer()), [slots])
    builder.ret(builder.inttoptr(builder.load(slots), pointer))
    return machine_code(module, TARGET)


def register_handler(ffi: Any) -> None:
    """Make the handler known to JAX, whose module `jax.ffi` this is. A second call does nothing.

    Raises TabletopError for an XLA with another interface: JAX would lose its CPU if XLA refused the handler.
    """
    with _lock:
        if _table[0]:
            return
        header = Path(ffi.include_dir(), "xla", "ffi", "api", "c_api.h").read_text(encoding="utf-8")
        version = dict(re.findall(r"#define XLA_FFI_API_(MAJOR|MINOR) (\d+)", header))
        if version.get("MAJOR") != "0" or version.get("MINOR", "0") == "0":
            raise TabletopError(f"jaxlib's interface for foreign functions must be 0.1 or a later 0.x, not {version}")
        made = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(handler())
        _table[0] = int(version["MINOR"])
        ffi.register_ffi_target(TARGET, ffi.pycapsule(made), platform="cpu")
