"""The declaration of a game's record: a class with one line for each field. All else about the record follows from it.

    class State(Record):
        rng = number(np.uint64, "the random stream")
        points = array(np.int16, 5, "Victory Points of each seat")
        passed = number(np.int8, "the seat that passed first, or -1", blank=-1)

    STATE = dtype_of(State)          # its NumPy dtype; the elements of such arrays are `State` objects
    BLANK = blank_record(State)      # (1,) STATE: what each field holds when nothing has happened yet

`s.passed` reads and writes a field of such a record. In Python a number is an `int`; in compiled code it has the
declared type. Type checkers know the fields. `s["passed"]` does the same, but only in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Self, TypeAlias, TypeVar, overload

import numpy as np

Value = TypeVar("Value")
Scalar = type[np.generic]

NOBODY = -1
"""The `actor` of a game that is over, and the `forfeited` of a game that nobody has lost by an illegal action."""
FORFEIT = -1
"""The number that stands for an illegal action that loses the game, in replays and `Words.events`."""
FILLER = "filler"
"""The name of a field of unused bytes, which stay 0."""


def exact_points(points: np.ndarray) -> np.ndarray:
    """Points as int64, or as float64 in a game whose points have halves."""
    return points.astype(np.result_type(points, np.int64))


def told_points(points: Any) -> list[int | float]:
    """Points, an array (K,) or a list, as numbers of Python; whole ones are ints in all games."""
    return [int(one) if float(one).is_integer() else one for one in np.asarray(points).tolist()]


class Field(Generic[Value]):
    """One field of a record: name, dtype, shape (() for a number), meaning, and blank value, which it starts with."""

    def __init__(self, scalar: Scalar, shape: tuple[int, ...], meaning: str, blank: int | float) -> None:
        self.dtype: np.dtype[Any] = np.dtype(scalar)
        self.shape: tuple[int, ...] = shape
        self.meaning: str = meaning
        self.blank: int | float = blank
        self.name: str = ""
        self._is_integer = not shape and self.dtype.kind == "i"

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, record: None, owner: Any) -> Self: ...
    @overload
    def __get__(self, record: Record, owner: Any) -> Value: ...
    def __get__(self, record: Record | None, owner: Any) -> Any:
        if record is None:
            return self
        return int(record[self.name]) if self._is_integer else record[self.name]

    def __set__(self, record: Record, value: Value) -> None:
        record[self.name] = value


@overload
def number(scalar: type[np.signedinteger[Any]], meaning: str, blank: int = 0) -> Field[int]: ...
@overload
def number(scalar: type[np.uint64], meaning: str, blank: int = 0) -> Field[np.uint64]: ...
def number(scalar: Scalar, meaning: str, blank: int | float = 0) -> Any:
    """A field of one number."""
    return Field(scalar, (), meaning, blank)


def array(scalar: Scalar, shape: int | tuple[int, ...], meaning: str, blank: int | float = 0) -> Field[np.ndarray]:
    """A field of an array of numbers, all of which start as `blank`."""
    return Field(scalar, (shape,) if isinstance(shape, int) else shape, meaning, blank)


Number: TypeAlias = Field[int]
"""The type of a field of one integer. Annotations of fields are only for packages whose public names all have one."""
Bits: TypeAlias = Field[np.uint64]
"""The type of a field of one `uint64`."""
Array: TypeAlias = Field[np.ndarray]
"""The type of a field of an array."""


if TYPE_CHECKING:

    class Record:  # NumPy's type stubs don't allow the class below, so type checkers see this one
        """One record; a subclass declares the fields."""

        dtype: np.dtype[np.void]

        def __getitem__(self, name: str) -> Any: ...
        def __setitem__(self, name: str, value: Any) -> None: ...
        def copy(self) -> Self:
            """A copy of the record."""
            ...

        def tobytes(self) -> bytes:
            """The record's bytes."""
            ...

else:

    class _WithoutDict(type):
        """The type of classes whose objects have only the declared attributes, so that a misspelt one is an error."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            return super().__new__(cls, name, bases, {"__slots__": (), **body})

    class Record(np.void, metaclass=_WithoutDict):
        """One record; a subclass declares the fields. Like every structured NumPy scalar, it is a view of its array."""


def fields_of(record: type[Record]) -> tuple[Field[Any], ...]:
    """The fields in the order of their declaration. Those of base classes come first."""
    classes = reversed(record.__mro__)
    return tuple(field for one in classes for field in vars(one).values() if isinstance(field, Field))


def dtype_of(record: type[Record]) -> np.dtype[Any]:
    """The record's dtype. Fields with large numbers come first, so that all are aligned without padding.

    Equal records therefore have equal bytes. If the size is not a multiple of the largest number's size, a last field,
    FILLER, fills it up.
    """
    fields = sorted(fields_of(record), key=lambda field: -field.dtype.itemsize)
    declared = [(field.name, field.dtype, field.shape) for field in fields]
    rest = -np.dtype(declared).itemsize % fields[0].dtype.itemsize
    filled = [*declared, (FILLER, np.dtype(np.uint8), (rest,))] if rest else declared
    return np.dtype((record, np.dtype(filled)))


def copied(record: Any) -> Any:
    """A copy of one record. Its own `copy` copies field by field, which takes thirty times as long."""
    return np.frombuffer(bytearray(record.tobytes()), record.dtype)[0]


def blank_record(record: type[Record]) -> np.ndarray:
    """An array (1,) of one record with the blank value in every field."""
    blank = np.zeros(1, dtype_of(record))
    for field in fields_of(record):
        blank[field.name] = field.blank
    return blank


def record_table(record: type[Record]) -> list[str]:
    """The lines of a Markdown table of the fields, in the order of their declaration."""
    lines = ["| field | type | shape | blank | meaning |", "|---|---|---|---:|---|"]
    for field in fields_of(record):
        shape = " x ".join(map(str, field.shape))
        lines.append(f"| `{field.name}` | {field.dtype} | {shape} | {field.blank} | {field.meaning} |")
    return lines
