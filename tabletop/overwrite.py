"""One assignment that makes a whole record equal to another, for rules."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

from tabletop.compiled import JIT
from tabletop.record import Record


def _compiled(_: Any, target: Any, source: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size = context.get_constant(types.intp, signature.args[0].size)
        cgutils.raw_memcpy(builder, arguments[0], arguments[1], size, 1)  # type: ignore[no-untyped-call]
        return context.get_dummy_value()

    return types.void(target, source), code


def _plain(target: Record, source: Record) -> None:
    for name in source.dtype.names or ():
        target[name] = source[name]


overwrite: Any = intrinsic(_compiled) if JIT else _plain
"""`overwrite(target, source)`: two records of the same dtype."""
