"""Kernels as functions that C can call, `int32 f(int64 *slots)`, for callers that have addresses in place of arrays.

The first slots are for what the kernel returns. Then an array has its address and its shape, a number its value, and a
tuple the slots of its members. The function returns the kernel's status, 0 for success. Shipped machine code consists
of such functions (`machine_code/modules.py`).
"""
# mypy: allow-untyped-calls

from __future__ import annotations

from typing import Any

import llvmlite.binding as ll
import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import types
from numba.np import numpy_support
from numba.np.arrayobj import populate_array

from tabletop_engine.compiling.compiled import Kernel
from tabletop_engine.compiling.shipped import description, shipped_address

_INT = ir.IntType(64)
RESULTS = 2
"""The slots in front of the arguments, for what a kernel returns."""

_kept: list[Any] = []
"""What owns machine code that was made here."""
_addresses: dict[Kernel, int] = {}


def slots_function(kernel: Any, *arguments: Any) -> int:
    """The address of the function for a kernel, shipped or compiled here. `arguments` are examples for their types."""
    if kernel not in _addresses:
        is_shipped = kernel.shipped is not None
        _addresses[kernel] = shipped_address(kernel.key) if is_shipped else _made_here(kernel, arguments)
    return _addresses[kernel]


def _made_here(kernel: Kernel, arguments: tuple[Any, ...]) -> int:
    kinds = tuple(map(typeof, arguments))
    kernel.compiled.compile(kinds)
    compiled = kernel.compiled.overloads[kinds]
    name = compiled.fndesc.llvm_func_name
    ll.add_symbol(name, compiled.library.get_pointer_to_function(name))
    _kept.append(compiled)
    return machine_code(SlotsFunction(compiled, "slots").module, "slots")


def machine_code(module: ir.Module, name: str) -> int:
    """The address of a function of a module, which is compiled in this process and stays."""
    ll.initialize_native_target()
    ll.initialize_native_asmprinter()
    machine = ll.Target.from_default_triple().create_target_machine(opt=2, jit=True)
    engine = ll.create_mcjit_compiler(ll.parse_assembly(str(module)), machine)
    engine.finalize_object()
    _kept.append(engine)
    address: int = engine.get_function_address(name)
    return address


class SlotsFunction:
    """The function for a kernel, in a module that declares the kernel.

    Attributes:
        module: the LLVM module.
        told: what the kernel takes, for `shipped`.
        results: the number of results.
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
        if isinstance(returned, types.Boolean):  # the caller makes each result an int, so True would come back as -1
            raise TypeError(f"no kernel of machine code returns {returned}")
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
