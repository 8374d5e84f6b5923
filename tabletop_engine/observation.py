"""The layout of what a player sees, and of the printed numbers: a flat vector made of named blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

_PER = " / "
"""The separator between the unit of a block and its divisor."""


@dataclass(frozen=True)
class Block:
    """A named part of the observation: `observation[start:start + size].reshape(shape)`.

    Attributes:
        name: its name.
        start: the index of its first number.
        shape: its shape.
        unit: `one-hot`, `0/1`, or the things that are counted. `things / n` are counts that are divided by n in float32
            observations.
        meaning: what its numbers are.
    """

    name: str
    start: int
    shape: tuple[int, ...]
    unit: str
    meaning: str

    @property
    def size(self) -> int:
        """The number of numbers in the block."""
        return int(np.prod(self.shape))

    @property
    def slice(self) -> slice:
        """The place of the block in an observation."""
        return slice(self.start, self.start + self.size)

    @property
    def divisor(self) -> int:
        """The divisor of the counts in float32 observations."""
        return int(self.unit.partition(_PER)[2] or 1)


@dataclass(frozen=True)
class Layout:
    """The blocks of an observation, in order and without gaps. `layout["name"]` is a block, and iteration gives all.

    Attributes:
        blocks: the blocks.
        low: the lower bound of every float32 value. Values beyond the bounds are cut off there.
        high: the upper bound of every float32 value.
    """

    blocks: tuple[Block, ...]
    low: float
    high: float

    @classmethod
    def of(
        cls, declared: Sequence[tuple[str, tuple[int, ...], str, str]], low: float = 0.0, high: float = 1.0
    ) -> Layout:
        """The layout of blocks that are declared as tuples (name, shape, unit, meaning)."""
        blocks: list[Block] = []
        for name, shape, unit, meaning in declared:
            start = blocks[-1].slice.stop if blocks else 0
            blocks.append(Block(name, start, shape, unit, meaning))
        return cls(tuple(blocks), low, high)

    def __getitem__(self, name: str) -> Block:
        return self._by_name[name]

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    def most(self, name: str) -> int:
        """The largest count of a block that lies within the bounds."""
        return int(self.high * self[name].divisor)

    @cached_property
    def size(self) -> int:
        """The number of numbers in an observation, D."""
        return self.blocks[-1].slice.stop if self.blocks else 0

    @cached_property
    def divisors(self) -> np.ndarray:
        """(size,) float32: the divisor of each count."""
        each = [np.full(block.size, block.divisor, np.float32) for block in self.blocks]
        return np.concatenate(each) if each else np.zeros(0, np.float32)

    def joined(self, values: Mapping[str, np.ndarray], rows: int) -> np.ndarray:
        """(rows, size) int16: counts by block, each (rows, …), as rows of this layout."""
        out = np.empty((rows, self.size), np.int16)
        for block in self.blocks:
            out[:, block.slice] = values[block.name].reshape(rows, block.size)
        return out

    def scaled(self, counts: np.ndarray) -> np.ndarray:
        """Counts as float32 values: divided by their divisors, and cut off at the bounds."""
        return np.clip(np.asarray(counts, np.float32) / self.divisors, self.low, self.high, dtype=np.float32)

    @cached_property
    def _by_name(self) -> dict[str, Block]:
        return {block.name: block for block in self.blocks}
