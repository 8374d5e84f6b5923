"""Every kernel of a game as LLVM IR that is not optimised yet, with a function that C can call."""
# mypy: allow-untyped-calls

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as ll
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.np import numpy_support
from numba.np.arrayobj import populate_array

from tabletop_agents.search.guided_search import guided_search_for
from tabletop_agents.search.lookahead import search_for
from tabletop_engine.compiling import rule_compiler
from tabletop_engine.compiling.compiled import Kernel, kernels
from tabletop_engine.compiling.shipped import description
from tabletop_engine.game import Game
from tabletop_engine.play.batch import Batch
from tabletop_engine.positions.position import positions_of

_INT, _BYTE = ir.IntType(64), ir.IntType(8)
RESULTS = 2
"""The slots in front of the arguments, for what a kernel returns."""


@dataclass(frozen=True)
class Module:
    """The LLVM IR of a kernel, or of a shared rule, with all rules that it reaches.

    Attributes:
        symbol: the function that other modules and C call.
        bitcode: the module.
        told: what `shipped` must know of a kernel; None for a shared rule.
        key: of a kernel.
    """

    symbol: str
    bitcode: bytes
    told: Mapping[str, Any] | None = None
    key: str = ""


def modules_of(games: list[Game]) -> list[Module]:
    """Every kernel of these games, compiled with Numba.

    Nothing may come from Numba's cache, because that has only machine code.
    """
    with unoptimised() as kept:
        for game in games:
            config = game.config(players=game.players[0])
            Batch(config, 1, 0)
            positions_of(config)
            search_for(game)
            guided_search_for(game)
    return compiled_modules(kept)


def compiled_modules(kept: Mapping[Any, bytes]) -> list[Module]:
    """The kernels and shared rules that Numba has compiled, from what `unoptimised` kept."""
    compiled = {one.key: one for one in kernels if one.is_compiled and _library(one) in kept}
    found = [_kernel_module(compiled[key], kept) for key in sorted(compiled)]
    shared = [library for library in kept if library in rule_compiler.shared_rules]
    return found + [_shared_module(rule_compiler.shared_rules[library][3], kept[library]) for library in shared]


def _library(kernel: Kernel) -> Any:
    """The code library of a kernel; None if Numba was only asked for it."""
    return next((one.library for one in kernel.compiled.overloads.values()), None)


@contextmanager
def unoptimised() -> Iterator[dict[Any, bytes]]:
    """Keep the unoptimised module of each kernel that Numba compiles, by its code library."""
    kept: dict[Any, bytes] = {}
    optimise = rule_compiler.KernelLibrary._optimize_final_module

    def keep_and_optimise(library: Any) -> None:
        kept[library] = library._final_module.as_bitcode()
        optimise(library)

    library_class: Any = rule_compiler.KernelLibrary
    library_class._optimize_final_module = keep_and_optimise
    try:
        yield kept
    finally:
        library_class._optimize_final_module = optimise


def _kernel_module(kernel: Kernel, kept: Mapping[Any, bytes]) -> Module:
    """A kernel's module, with a function `int32 kernel_…(int64 *slots)`."""
    (compiled,) = kernel.compiled.overloads.values()
    symbol = "kernel_" + "".join(letter if letter.isalnum() else "_" for letter in kernel.key)
    call = _Call(compiled, symbol)
    module = _portable(kept[compiled.library])
    text = str(call.module).replace('target triple = "unknown-unknown-unknown"', f'target triple = "{module.triple}"')
    own = ll.parse_assembly(text)
    own.data_layout = module.data_layout
    module.link_in(own)
    _hide_all_but(module, symbol)
    told = {"symbol": symbol, "sources": kernel.sources.digest, "arguments": call.told, "results": call.results}
    return Module(symbol, module.as_bitcode(), told, kernel.key)


def _shared_module(symbol: str, bitcode: bytes) -> Module:
    module = _portable(bitcode)
    _hide_all_but(module, symbol)
    return Module(symbol, module.as_bitcode())


_COUNT_DOWN = re.compile(r"(%\S+) = (?:tail )?call i8 @llvm\.x86\.atomic\.sub\.cc\.i64\(ptr (.*?), i64 1, i32 4\)(.*)")


def _portable(bitcode: bytes) -> Any:
    """The module without what only LLVM for x86 knows.

    That is one function, which decrements a reference count and tells whether it reached 0. Numba's runtime is compiled
    for this machine before it becomes part of a kernel.
    """
    text = str(ll.parse_bitcode(bitcode))
    numbers = itertools.count()

    def counted(found: re.Match[str]) -> str:
        result, address, _ = found.groups()
        old, last = f"%old_count_{next(numbers)}", f"%last_count_{next(numbers)}"
        return (
            f"{old} = atomicrmw sub ptr {address}, i64 1 monotonic\n"
            f"  {last} = icmp eq i64 {old}, 1\n"
            f"  {result} = zext i1 {last} to i8"
        )

    return ll.parse_assembly(_COUNT_DOWN.sub(counted, text))


def _hide_all_but(module: Any, symbol: str) -> None:
    """Hide all other functions from other modules. Outside the library this one is visible only if it is for C."""
    for one in [*module.functions, *module.global_variables]:
        if not one.is_declaration and one.name != symbol:
            one.linkage = "internal"
        elif one.name.startswith("_ZN"):  # a shared rule
            one.visibility = "hidden"


class _Call:
    """A function of C's types that calls a kernel. It takes one array of slots of 64 bits.

    The slots for results come first. Then an array has its address and its shape, a number its value, and a tuple the
    slots of its members. The function returns the kernel's status, 0 for success.
    """

    def __init__(self, compiled: Any, symbol: str) -> None:
        self.context, signature = compiled.target_context, compiled.signature
        self.module = ir.Module(symbol)
        convention = self.context.call_conv
        kind = convention.get_function_type(signature.return_type, signature.args)
        kernel = ir.Function(self.module, kind, compiled.fndesc.llvm_func_name)
        self.function = ir.Function(self.module, ir.FunctionType(ir.IntType(32), [_INT.as_pointer()]), symbol)
        self.builder = ir.IRBuilder(self.function.append_basic_block())
        self.at = RESULTS
        self.told: list[Any] = []
        arguments = []
        for one in signature.args:
            value, told = self._argument(one)
            arguments.append(value)
            self.told.append(told)
        returned = signature.return_type
        status, result = convention.call_function(self.builder, kernel, returned, signature.args, arguments)
        members = [] if returned == types.none else [result]
        if isinstance(returned, types.BaseTuple):
            members = [self.builder.extract_value(result, number) for number in range(len(returned))]
        for number, member in enumerate(members):
            whole = member if member.type == _INT else self.builder.sext(member, _INT)
            self.builder.store(whole, self._slot(number))
        self.results = len(members)
        self.builder.ret(status.code)

    def _slot(self, number: int) -> Any:
        return self.builder.gep(self.function.args[0], [_INT(number)])

    def _next(self) -> Any:
        self.at += 1
        return self.builder.load(self._slot(self.at - 1))

    def _argument(self, kind: Any) -> tuple[Any, Any]:
        """The value that the kernel takes, read from the slots; and its description for `told`."""
        if isinstance(kind, types.BaseTuple):
            members: Any = kind
            values, told = zip(*map(self._argument, members), strict=True)
            return self.context.make_tuple(self.builder, kind, values), list(told)
        if isinstance(kind, types.Array):
            return self._array(kind)
        value = self._next()
        if isinstance(kind, types.Boolean):
            return self.builder.trunc(value, self.context.get_value_type(kind)), "bool"
        if kind == types.float64:
            return self.builder.bitcast(value, ir.DoubleType()), "float"
        if kind == types.int64:
            return value, "int"
        raise TypeError(f"no kernel of machine code takes {kind}")

    def _array(self, kind: Any) -> tuple[Any, Any]:
        if kind.layout != "C":
            raise TypeError(f"no kernel of machine code takes {kind}")
        made = self.context.make_array(kind)(self.context, self.builder)
        element = self.context.get_data_type(kind.dtype)
        size = _INT(self.context.get_abi_sizeof(element))
        data = self.builder.inttoptr(self._next(), element.as_pointer())
        shape = [self._next() for _ in range(kind.ndim)]
        strides: list[Any] = []
        step = size
        for length in reversed(shape):
            strides.insert(0, step)
            step = self.builder.mul(step, length)
        populate_array(made, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
        dtype = np.dtype(numpy_support.as_dtype(kind.dtype))
        told = {
            "dtype": description(dtype),
            "itemsize": dtype.itemsize,
            "alignment": dtype.alignment if kind.aligned else 1,
            "dimensions": kind.ndim,
            "written": bool(kind.mutable),
        }
        return made._getvalue(), told
