"""One assignment that makes a whole record equal to another, for rules."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

from tabletop.compiled import JIT
from tabletop.record import Record


def _compiled(_: Any, target: Any, source: Any) -> Any:
    whole = min(target, source, key=lambda record: record.size)
    first = next(iter(whole.fields))

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size = context.get_constant(types.intp, whole.size)
        places = [
            cgutils.pointer_add(builder, where, record.offset(first)) if record.offset(first) else where  # type: ignore[no-untyped-call]
            for where, record in zip(arguments, (target, source), strict=True)
        ]
        cgutils.raw_memcpy(builder, *places, size, 1)  # type: ignore[no-untyped-call]
        return context.get_dummy_value()

    return types.void(target, source), code


def _plain(target: Record, source: Record) -> None:
    for name in source.dtype.names or ():
        if name in (target.dtype.names or ()):
            target[name] = source[name]


overwrite: Any = intrinsic(_compiled) if JIT else _plain
"""`overwrite(target, source)`: two records of the same dtype, or of one that has all fields of the other in a row."""
