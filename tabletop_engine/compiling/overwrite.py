"""A function for rules that copies a whole record into another one."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

from tabletop_engine.compiling.compiled import JIT
from tabletop_engine.record import Record


def _compiled(_: Any, target: Any, source: Any) -> Any:
    whole = min(target, source, key=lambda record: record.size)
    first = next(iter(whole.fields))

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, start = (
            _place(builder, where, record.offset(first))
            for where, record in zip(arguments, (target, source), strict=True)
        )
        size = context.get_constant(types.intp, whole.size)
        cgutils.raw_memcpy(builder, to, start, size, 1)  # type: ignore[no-untyped-call]
        return context.get_dummy_value()

    return types.void(target, source), code


def _place(builder: Any, record: Any, offset: int) -> Any:
    return cgutils.pointer_add(builder, record, offset) if offset else record  # type: ignore[no-untyped-call]


def _plain(target: Record, source: Record) -> None:
    for name in source.dtype.names or ():
        if name in (target.dtype.names or ()):
            target[name] = source[name]


overwrite: Any = intrinsic(_compiled) if JIT else _plain
"""`overwrite(target, source)` copies one record into another.

Both have the same dtype, or one of them has all fields of the other in a row."""
