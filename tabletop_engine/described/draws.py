"""Editions: every number that nobody has read is drawn from its range, by a seed.

An edition is uniform over all that the ranges allow together:

- Numbers that no constraint links are drawn independently, each of its values equally often.
- Keys that a constraint links are drawn together, again and again until it holds; so all combinations that it allows
  are equally likely. A list that must never fall is drawn at once, by counting the lists.
- An edition that the game cannot be played with (`ComponentFile.check_together`) is drawn again as a whole.

What a key's maker makes (`Key.makers`) is as its own docstring says.

The same seed gives the same edition on every machine and with every version of NumPy, as long as `DRAWS_VERSION` and
the ranges stay. Each group of linked keys has a stream of its own, so another range of one key leaves the others'
numbers.
"""

from __future__ import annotations

import functools
import itertools
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple
from zlib import crc32

from tabletop_engine.described.keys import Key, Value
from tabletop_engine.described.ranges import Each, Made, OneOf, Permuted, Range
from tabletop_engine.seeds import Chance, Stream

DRAWS_VERSION = 1
"""The version of how editions are drawn."""

MOST_TRIES, MOST_TRIES_IN_ALL = 10_000, 200_000
"""Tries to draw keys that a constraint links, of one edition and of all editions of a seed. It is given up after them:
the ranges contradict the constraint, or nearly so."""

Values = Mapping[str, tuple[Value, ...]]
"""Values by the dotted names of their keys."""


class Stated(NamedTuple):
    """What the rules state of several numbers together. Every drawn edition keeps it; the numbers of an overlay need
    not.

    `holds` takes the values of `keys` by their names.
    """

    text: str
    keys: tuple[str, ...]
    holds: Callable[[Values], bool]


class Impossible(Exception):
    """No values of these keys were found that fit together. Its arguments are a key and the constraint."""


def draw(
    keys: Mapping[str, Key],
    ranges: Mapping[str, Range],
    values: Values,
    constraints: Sequence[Stated],
    seed: int,
    attempt: int = 0,
    tries: Iterator[int] | None = None,
) -> dict[str, tuple[Value, ...]]:
    """Values for every key that has a range.

    Arguments:
        keys: the declarations.
        ranges: of the keys that are drawn.
        values: of all keys; those without a range stay as they are.
        constraints: one that links no drawn key is left out.
        seed: of the edition.
        attempt: 0, 1, …: the editions of one seed in their order.
        tries: one is taken for each try; none is left after the last. None: as many as one edition may need.

    Raises Impossible.
    """
    drawn: dict[str, tuple[Value, ...]] = {}
    for block in blocks_of_keys(ranges, constraints):
        linked = [one for one in constraints if not set(block).isdisjoint(one.keys)]
        chance = Chance(seed, Stream.EDITIONS, DRAWS_VERSION, attempt, crc32(block[0].encode()))
        wrong = broken = None
        for _ in zip(range(MOST_TRIES), itertools.repeat(0) if tries is None else tries, strict=False):
            found = _drawn_once(block, keys, ranges, values, chance)
            known = {**values, **found}
            wrong = next((key for key in block if keys[key].wrong_together(found[key]) is not None), None)
            broken = next((one.text for one in linked if not one.holds(known)), None)
            if wrong is None and broken is None:
                break
        else:
            raise Impossible(block[0], broken or f"what {wrong or block[0]} allows")
        drawn.update(found)
    return {key: drawn[key] for key in ranges}


def blocks_of_keys(ranges: Mapping[str, Range], constraints: Sequence[Stated]) -> list[list[str]]:
    """The drawn keys, those that are linked by a constraint or a permutation together, each block in their order."""
    groups = [
        *([key for key in one.keys if key in ranges] for one in constraints),
        *(
            [key for key, found in ranges.items() if found == wanted]
            for wanted in dict.fromkeys(ranges.values())
            if isinstance(wanted, Permuted)
        ),
    ]
    block_of = {key: {key} for key in ranges}
    for group in groups:
        joined = set().union(*(block_of[key] for key in group))
        for key in joined:
            block_of[key] = joined
    order = list(ranges)
    blocks = {min(map(order.index, block)): block for block in block_of.values()}
    return [sorted(blocks[first], key=order.index) for first in sorted(blocks)]


def _drawn_once(
    block: Sequence[str], keys: Mapping[str, Key], ranges: Mapping[str, Range], values: Values, chance: Chance
) -> dict[str, tuple[Value, ...]]:
    dealt: dict[str, list[Value]] = {}
    for found in dict.fromkeys(ranges[key] for key in block):
        if isinstance(found, Permuted):
            members = [key for key in block if ranges[key] == found]
            dealt[found.group] = chance.shuffled(value for key in members for value in values[key])
    result: dict[str, tuple[Value, ...]] = {}
    for key in block:
        match ranges[key]:
            case Each(choices):
                never_falls = keys[key].never_falls is not None
                result[key] = _rising(choices, chance) if never_falls else tuple(map(chance.one_of, choices))
            case OneOf(lists):
                result[key] = chance.one_of(lists)
            case Permuted(group):
                number = len(values[key])
                result[key], dealt[group] = tuple(dealt[group][:number]), dealt[group][number:]
            case Made(maker):
                result[key] = keys[key].makers[maker](chance)
    return result


def _rising(choices: Sequence[tuple[Value, ...]], chance: Chance) -> tuple[Value, ...]:
    """One of all lists that never fall, with a value of each choice; all equally likely."""
    result: list[Value] = []
    for values, counts in zip(choices, _ways_to_rise(choices), strict=True):
        least = float(result[-1]) if result else float("-inf")
        open_ways = [way if float(value) >= least else 0 for value, way in zip(values, counts, strict=True)]
        sums = list(accumulate(open_ways))
        if not sums[-1]:
            return tuple(one[0] for one in choices)  # there is none: the check of the key says so
        result.append(values[bisect_right(sums, chance.below(sums[-1]))])
    return tuple(result)


@functools.lru_cache(maxsize=256)  # a key is drawn for each edition
def _ways_to_rise(choices: tuple[tuple[Value, ...], ...]) -> list[list[int]]:
    """How many lists go on from each value of each place without a fall."""
    numbers = [[float(value) for value in values] for values in choices]
    ways = [[1] * len(numbers[-1])]
    for here, after in zip(numbers[-2::-1], numbers[:0:-1], strict=True):
        ways.append([sum(way for way, later in zip(ways[-1], after, strict=True) if later >= value) for value in here])
    return ways[::-1]
