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
from numba import carray, types
from numba.extending import intrinsic

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

_PLANS = 1 << 14
_FIRST_PLAN = len(_TEXTS) + 1
_table = np.zeros(_FIRST_PLAN + 2 * _PLANS, np.int64)
"""What the handler is told. It never moves. XLA's minor version and the addresses of the texts; then the plans, each
with its hash and its address, at a place that follows from the hash."""
_texts = [ctypes.create_string_buffer(f"tabletop: {text}".encode()) for text in _TEXTS]
_table[1:_FIRST_PLAN] = [ctypes.addressof(text) for text in _texts]
_plans: dict[int, Any] = {}
"""What the plans of the table refer to, by hash. A compiled program may ask for any of them, so they stay."""
_lock = threading.Lock()


# --- Plans -----------------------------------------------------------------------------------------------------------

# Instructions. Each has six numbers: plain ones, or operands that stand for one
_END, _CHECK, _SEAL, _MOVE, _FILL, _WIDEN, _NARROW, _CALL = range(8)
_NUMBERS = 6
_PLAIN, _GAMES, _ARGUMENT, _RESULT, _SCRATCH, _CONSTANT = range(6)
_LENGTH, _SCRATCH_SIZE, _ARGUMENTS, _RESULTS, _BUFFERS = range(5)
"""The places of a plan's first words; then come the buffers."""
_DTYPES = {"bool": 1, "int8": 2, "int32": 4, "uint8": 6, "float32": 11}
"""XLA's numbers of dtypes."""

Operand = tuple[int, int]
"""What a number of an instruction stands for: the address of a buffer, or the number of games."""
GAMES: Operand = (_GAMES, 0)


class Buffer(NamedTuple):
    """An argument or a result of a call: its dtype, and its shape for one game."""

    dtype: Any
    shape: tuple[int, ...] = ()


class Plan:
    """What the handler does in a call, for each of its games: instructions, in their order.

    Arguments:
        arguments, results: the buffers of the call.
        in_place: so many of the first results begin as copies of as many arguments, and XLA may put both in one place.

    Attributes:
        key: the hash of a plan that is registered.
    """

    key = np.int64(0)

    def __init__(self, arguments: Sequence[Buffer], results: Sequence[Buffer], in_place: int = 0) -> None:
        self.arguments, self.results, self.in_place = tuple(arguments), tuple(results), in_place
        self._words = [0, 0, len(arguments), len(results)]
        for one in (*arguments, *results):
            self._words += [_DTYPES[np.dtype(one.dtype).name], int(np.prod(one.shape, dtype=np.int64))]
        self._addresses: list[int] = []
        self._alive: list[np.ndarray] = []
        for number, one in enumerate(self.results[:in_place]):
            size = int(np.prod(one.shape)) * np.dtype(one.dtype).itemsize
            self.move(self.argument(number), size, self.result(number), size, size)

    def argument(self, number: int) -> Operand:
        """The address of an argument."""
        return _ARGUMENT, number

    def result(self, number: int) -> Operand:
        """The address of a result."""
        return _RESULT, number

    def scratch(self, size: int) -> Operand:
        """The address of memory that only this call uses, at least so many bytes for each game."""
        start = self._words[_SCRATCH_SIZE]
        self._words[_SCRATCH_SIZE] = start + -(-size // 8) * 8
        return _SCRATCH, start

    def constant(self, array: np.ndarray) -> Operand:
        """The address of an array, which must not change from now on."""
        self._alive.append(array)
        return self._address(array.ctypes.data)

    def check(self, records: Operand, seals: Operand, size: int, kind: int) -> None:
        """End with CHANGED if a record, of so many bytes, is not what was sealed with this `kind`, a number."""
        self._add(_CHECK, records, seals, size // 8, kind)

    def seal(self, records: Operand, seals: Operand, size: int, kind: int) -> None:
        """Write a checksum of 8 bytes for each record."""
        self._add(_SEAL, records, seals, size // 8, kind)

    def move(self, source: Operand, step: int, target: Operand, target_step: int, size: int, at: int = 0) -> None:
        """Copy so many bytes to place `at` of each game. The steps are bytes from one game to the next."""
        self._add(_MOVE, source, step // 8, target, target_step // 8, size // 8, at // 8)

    def fill(self, target: Operand, value: int) -> None:
        """Write an int64."""
        self._add(_FILL, target, value)

    def widen(self, source: Operand, target: Operand, low: int, high: int) -> None:
        """Copy an int32 as int64. End with NO_PLAYER if it is not `low` to `high`."""
        self._add(_WIDEN, source, target, low, high)

    def narrow(self, source: Operand, target: Operand, number: int) -> None:
        """Copy so many float64 as float32."""
        self._add(_NARROW, source, target, number)

    def call(self, function: Any, examples: Sequence[Any], *arguments: Any, problem: int = 0) -> None:
        """Run a kernel.

        Arguments:
            function: the kernel.
            examples: arguments of its types.
            arguments: numbers; and for each array its address, or its address and lengths. Lengths that are left out,
                which are the first ones, are the number of games.
            problem: how the call ends if the kernel returns a number from 0 on; 0: the kernel returns nothing.
        """
        slots: list[Operand | int] = []
        for example, one in zip(examples, arguments, strict=True):
            if isinstance(example, np.ndarray):
                address, lengths = (one[0], one[1:]) if isinstance(one[0], tuple) else (one, ())
                slots += [address, *[GAMES] * (example.ndim - len(lengths)), *lengths]
            else:
                slots.append(one)
        self._add(_CALL, self._address(slots_function(function, *examples)), problem, len(slots))
        for slot in slots:
            self._words += self._number(slot)

    def register(self, *told: bytes) -> None:
        """Make the plan known to the handler, under a hash that is the same in every process.

        `told` are bytes that tell apart what is not hashed: kernels and constants, of which there are only addresses.
        """
        body = [*self._words, _END]
        digest = hashlib.sha256(b"\0".join([np.array(body, np.int64).tobytes(), *told])).digest()
        key = int.from_bytes(digest[:8], "little", signed=True) or 1
        body[_LENGTH] = len(body)
        words = np.array([*body, *self._addresses], np.int64)
        with _lock:
            if key not in _plans:
                if len(_plans) > _PLANS // 2:
                    raise TabletopError("this process has set up too many games for JAX: go on in a new one")
                _plans[key] = (words, self._alive)
                place = key % _PLANS
                while _table[_FIRST_PLAN + 2 * place]:
                    place = (place + 1) % _PLANS
                _table[_FIRST_PLAN + 2 * place + 1] = words.ctypes.data
                _table[_FIRST_PLAN + 2 * place] = key  # last: a handler that runs now finds the plan whole
        self.key = np.int64(key)

    def _address(self, address: int) -> Operand:
        self._addresses.append(address)
        return _CONSTANT, len(self._addresses) - 1

    def _add(self, instruction: int, *numbers: Operand | int) -> None:
        self._words.append(instruction)
        for one in (*numbers, *[0] * (_NUMBERS - len(numbers))):
            self._words += self._number(one)

    def _number(self, one: Operand | int) -> Operand:
        return one if isinstance(one, tuple) else (_PLAIN, one)


# --- The handler -----------------------------------------------------------------------------------------------------

# Offsets in XLA's structures (jaxlib's include/xla/ffi/api/c_api.h), in bytes
_EXTENSION, _API, _NUM_ARGUMENTS, _ARGUMENT_LIST, _NUM_RESULTS, _RESULT_LIST = 8, 16, 56, 72, 96, 112  # a call
_NUM_ATTRIBUTES, _ATTRIBUTE_TYPES, _ATTRIBUTE_LIST = 136, 144, 160
_DTYPE, _DATA, _RANK, _DIMENSIONS = 16, 24, 32, 40  # a buffer
_CREATE_ERROR = 48  # the interface
_IS_METADATA, _METADATA, _VERSION = 1, 24, 24  # what XLA asks when the handler is registered
_SCALAR, _INT64, _INVALID_ARGUMENT = 3, 5, 3
_LOW, _32 = np.uint64(0xFFFFFFFF), np.uint64(32)
_EVEN, _ODD = np.uint64(0x9E3779B1), np.uint64(0x85EBCA77)


@intrinsic
def _pointer(typing: Any, address: Any) -> Any:
    """An address as a pointer."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), code


def _caller(bits: int) -> Any:
    """A function that calls the C function at an address with one pointer, and returns its result of so many bits."""

    @intrinsic
    def call(typing: Any, function: Any, argument: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(ir.IntType(bits), [ir.IntType(8).as_pointer()])
            pointer = builder.inttoptr(args[1], ir.IntType(8).as_pointer())
            result = builder.call(builder.inttoptr(args[0], kind.as_pointer()), [pointer])
            return result if bits == 64 else builder.sext(result, ir.IntType(64))

        return types.int64(types.int64, types.int64), code

    return call


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
    return error + given[1]  # so that the array lives until here: Numba frees it after its last use


@rule
def _plan_of(frame: int, table: np.ndarray) -> int:
    """The address of the plan that the call's only attribute names, or 0."""
    if _load(frame + _NUM_ATTRIBUTES) != 1 or _small(_load(frame + _ATTRIBUTE_TYPES))[0] != _SCALAR:
        return 0
    scalar = _load(_load(frame + _ATTRIBUTE_LIST))
    if _small(scalar)[0] != _INT64:
        return 0
    key = _load(_load(scalar + 8))
    place = key % _PLANS
    while table[_FIRST_PLAN + 2 * place] != 0:
        if table[_FIRST_PLAN + 2 * place] == key:
            return table[_FIRST_PLAN + 2 * place + 1]
        place = (place + 1) % _PLANS
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
def _number(frame: int, plan: np.ndarray, games: int, scratch: int, at: int) -> int:
    """The number at this place of a plan."""
    kind, value = plan[at], plan[at + 1]
    if kind == _GAMES:
        return games
    if kind == _ARGUMENT:
        return _load(_load(_load(frame + _ARGUMENT_LIST) + 8 * value) + _DATA)
    if kind == _RESULT:
        return _load(_load(_load(frame + _RESULT_LIST) + 8 * value) + _DATA)
    if kind == _SCRATCH:
        return scratch + games * value
    if kind == _CONSTANT:
        return plan[plan[_LENGTH] + value]
    return value


@rule
def _seal(record: int, size: int, kind: int) -> np.uint64:
    """A checksum: each half of a word times an odd number of its own, so that a change of one half is always seen."""
    words = carray(_pointer(record), size, np.uint64)
    total = np.uint64(kind)
    for i in range(size):
        odd = np.uint64(2 * i + 1)
        total += (words[i] & _LOW) * (odd * _EVEN & _LOW) + (words[i] >> _32) * (odd * _ODD & _LOW)
    return total


def sealed(records: np.ndarray, kind: int) -> np.ndarray:
    """(n,) uint64: what `Plan.seal` writes for records, (n,)."""
    words = records.view(np.uint64).reshape(len(records), -1)
    odd = 2 * np.arange(words.shape[1], dtype=np.uint64) + np.uint64(1)
    products = (words & _LOW) * (odd * _EVEN & _LOW) + (words >> _32) * (odd * _ODD & _LOW)
    return np.asarray(products.sum(axis=1, dtype=np.uint64) + np.int64(kind).astype(np.uint64))


@rule
def _copy(target: int, source: int, size: int) -> None:
    to, given = _words(target, size), _words(source, size)
    for i in range(size):
        to[i] = given[i]


@rule
def _follow(frame: int, plan: np.ndarray, games: int) -> int:
    """Follow the instructions of a plan. Returns 0, or the problem."""
    memory = np.empty(games * plan[_SCRATCH_SIZE] // 8 + 1, np.int64)
    slots, scratch = np.empty(64, np.int64), memory.ctypes.data
    at, problem = _BUFFERS + 2 * (plan[_ARGUMENTS] + plan[_RESULTS]), 0
    while problem == 0 and plan[at] != _END:
        instruction = plan[at]
        a = _number(frame, plan, games, scratch, at + 1)
        b = _number(frame, plan, games, scratch, at + 3)
        c = _number(frame, plan, games, scratch, at + 5)
        d = _number(frame, plan, games, scratch, at + 7)
        e = _number(frame, plan, games, scratch, at + 9)
        f = _number(frame, plan, games, scratch, at + 11)
        at += 1 + 2 * _NUMBERS
        if instruction == _CHECK:
            seals = carray(_pointer(b), games, np.uint64)
            for i in range(games):
                if seals[i] != _seal(a + 8 * c * i, c, d):
                    problem = CHANGED
        elif instruction == _SEAL:
            seals = carray(_pointer(b), games, np.uint64)
            for i in range(games):
                seals[i] = _seal(a + 8 * c * i, c, d)
        elif instruction == _MOVE:
            if a != c or b != d:  # XLA may give one buffer for both
                for i in range(games):
                    _copy(c + 8 * (d * i + f), a + 8 * b * i, e)
        elif instruction == _FILL:
            _words(a, games)[:] = b
        elif instruction == _WIDEN:
            small, wide = carray(_pointer(a), games, np.int32), _words(b, games)
            for i in range(games):
                wide[i] = small[i]
                if not c <= wide[i] <= d:
                    problem = NO_PLAYER
        elif instruction == _NARROW:
            double = carray(_pointer(a), games * c, np.float64)
            single = carray(_pointer(b), games * c, np.float32)
            for i in range(games * c):
                single[i] = double[i]
        else:
            for i in range(c):
                slots[RESULTS + i] = _number(frame, plan, games, scratch, at + 2 * i)
            at += 2 * c
            if _run(a, slots.ctypes.data) != 0:
                problem = FAILED
            elif b != 0 and slots[0] >= 0:
                problem = b
    memory[0] = problem  # so that the memory lives until here
    return memory[0]


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
    plan = _words(address, _load(address))
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
