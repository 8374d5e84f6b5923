"""A function for rules that copies a whole record into another one."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from tabletop_engine.compiling.compiled import JIT
from tabletop_engine.record import Record


def _compiled(_: Any, target: Any, source: Any) -> Any:
    from numba.core import cgutils, types

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
    from numba.core import cgutils

    return cgutils.pointer_add(builder, record, offset) if offset else record  # type: ignore[no-untyped-call]


def _plain(target: Record, source: Record) -> None:
    for name in source.dtype.names or ():
        if name in (target.dtype.names or ()):
            target[name] = source[name]


class _Intrinsic:
    """What Numba compiles as `_compiled` says. It is made when Numba asks for it."""

    def __call__(self, target: Record, source: Record) -> None:
        """A call of a rule that runs as written."""
        _plain(target, source)

    @cached_property
    def _numba_type_(self) -> Any:
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic

        made = intrinsic(_compiled)
        context = cpu_target.typing_context
        context.refresh()
        return context.resolve_value_type(made)


overwrite: Any = _Intrinsic() if JIT else _plain
"""`overwrite(target, source)` copies one record into another.

Both have the same dtype, or one of them has all fields of the other in a row."""
