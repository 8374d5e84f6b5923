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

from tabletop_agents.search.guided_search import guided_search_for
from tabletop_agents.search.lookahead import search_for
from tabletop_engine.compiling import rule_compiler, xla
from tabletop_engine.compiling.compiled import Kernel, kernels
from tabletop_engine.compiling.slots import SlotsFunction
from tabletop_engine.game import Game
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.plans import plans_of
from tabletop_engine.positions.position import positions_of


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
    """Every kernel of these games, and the handler for JAX, compiled with Numba.

    Nothing may come from Numba's cache, because that has only machine code.
    """
    with unoptimised() as kept:
        for game in games:
            config = game.config(players=game.players[0])
            Batch(config, 1, 0)
            positions_of(config)
            search_for(game)
            guided_search_for(game)
            plans_of(config, game.load_tables(None), np.zeros(3, np.int64), np.float32, 0)
        xla.handler()
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
    call = SlotsFunction(compiled, symbol)
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
