"""The numbers of records one by one, and whether they are as frequent in some records as in others."""

from __future__ import annotations

import numpy as np

from tabletop_engine.game import Game
from tabletop_engine.record import FILLER

_NO_NUMBERS = ("rng", "legal", "edition", FILLER)
"""Fields that are chance, or that follow from the others."""
_VALUES, _PAIRS = 250, 4_000
"""The most values of numbers that are counted, and the most pairs of them."""
_ROWS = 100
"""Records whose values are counted."""
_LEAST = 56
"""If each of a + b things is equally likely to be on either side, (a - b)² reaches this times a + b with a probability
of at most 2 · exp(-28), or about 10⁻¹² (Hoeffding), so that a million comparisons accuse nobody."""


def _whole(values: np.ndarray) -> np.ndarray:
    return values.view(f"i{values.itemsize}") if values.dtype.kind == "f" else values


class Numbers:
    """The numbers in the records of a game. A uint64 is a set here: each of its bits is a number. A float is its bits.

    Attributes:
        names: of each number, such as `hands[1, 0]` or `hands[1] bit 3`, (M,).
        fields: the field of each number, (M,).
        sets: equal for the bits of one set, and different for all others, (M,).
        are_bits: whether each number is a bit of a set, (M,).
        are_known: whether its field is one of `Game.known`, (M,).
    """

    def __init__(self, game: Game) -> None:
        self.names: list[str] = []
        self.fields: list[str] = []
        self._places: list[tuple[str, int, int]] = []  # field, index, bit or -1
        self._used: list[str] = []
        sets: list[int] = []
        for name in game.state.names or ():
            if name in _NO_NUMBERS:
                continue
            self._used.append(name)
            base, shape = game.state[name].base, game.state[name].shape
            for index in range(int(np.prod(shape, dtype=int))):
                own = sets[-1] + 1 if sets else 0
                at = f"[{', '.join(map(str, np.unravel_index(index, shape)))}]" if shape else ""
                for bit in range(64) if base == np.uint64 else (-1,):
                    self.names.append(f"{name}{at}" + (f" bit {bit}" if bit >= 0 else ""))
                    self.fields.append(name)
                    sets.append(own)
                    self._places.append((name, index, bit))
        self.sets = np.array(sets)
        self.are_bits = np.array([bit >= 0 for _, _, bit in self._places])
        self.are_known = np.isin(self.fields, game.known)

    def of(self, states: np.ndarray) -> np.ndarray:
        """(N, M) the numbers of records (N,)."""
        columns = []
        for name in self._used:
            values = np.ascontiguousarray(_whole(states[name])).reshape(len(states), -1)
            bits = values.dtype == np.uint64
            columns.append(np.unpackbits(values.view(np.uint8), axis=1, bitorder="little") if bits else values)
        return np.concatenate(columns, axis=1)

    def put(self, states: np.ndarray, numbers: np.ndarray, values: np.ndarray) -> None:
        """Write one number (an index) of each record: (N,) records, numbers and values."""
        for i, (number, value) in enumerate(zip(numbers.tolist(), values.tolist(), strict=True)):
            name, index, bit = self._places[number]
            field = _whole(states[name]).reshape(len(states), -1)  # a view
            if bit < 0:
                field[i, index] = value
            else:
                field[i, index] = int(field[i, index]) & ~(1 << bit) | int(value) << bit

    def difference(
        self, true: np.ndarray, drawn: np.ndarray, chosen: np.random.Generator, *, only_never: bool = False
    ) -> str:
        """What is not as frequent in `true` as in redraws, as many records each, in a sentence; "" if all may be.

        Values of numbers that are not known are compared, and pairs of them. `only_never`: only such that one side
        never has.
        """
        both = np.concatenate([self.of(true), self.of(drawn)])
        varying = np.flatnonzero((both != both[0]).any(axis=0) & ~self.are_known)
        both = both[:, varying].astype(np.int64)
        if not len(varying):
            return ""
        rows = both[chosen.choice(len(both), min(len(both), _ROWS), replace=False)]
        which = np.unique(rows - rows.min() + (1 << 32) * np.arange(len(varying)))
        if len(which) > _VALUES:
            which = chosen.choice(which, _VALUES, replace=False)
        number, value = which >> 32, (which & (1 << 32) - 1) + rows.min()
        has = both[:, number] == value
        # each value alone, which is told first, then pairs
        first, second = np.triu_indices(len(which), 1)
        some = chosen.permutation(len(first))[:_PAIRS]
        alone = np.arange(len(which))
        first, second = np.append(alone, first[some]), np.append(alone, second[some])
        one, other = ((side[:, first] & side[:, second]).sum(axis=0) for side in np.split(has, [len(true)]))
        apart = (one - other) ** 2 > _LEAST * (one + other)
        if only_never:
            apart &= (one == 0) | (other == 0)
        if not apart.any():
            return ""
        at = int(apart.argmax())
        values = [f"{self.names[varying[number[i]]]} is {value[i]}" for i in sorted({int(first[at]), int(second[at])})]
        there, here = int(one[at]), int(other[at])
        what = (
            "sample_hidden never draws what occurs in games"
            if here == 0
            else "sample_hidden draws what never occurs in games"
            if there == 0
            else "sample_hidden draws with other frequencies than games have"
        )
        return f"{what}: {' and '.join(values)} in {there:,} of {len(true):,} games, and in {here:,} of as many redraws"
