"""Every stream of random numbers outside the games, and every range of seeds. No two uses share one.

A game draws from its own stream, which is in its record. All other randomness comes from `generator`: the same seed
gives independent numbers to each `Stream`. `Seeds` lists the ranges of seeds: each purpose has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import chain, repeat
from typing import NamedTuple, TypeVar

import numpy as np

_T = TypeVar("_T")


class Stream(IntEnum):
    """What random numbers are for.

    The values are part of every result with seeds: never give one to another use. 2, 7, 8 and 11 to 14 had uses once.
    """

    AGENTS = 0
    """What agents draw in games that are evaluated; the further index is the agent's.

    Reviews of replays and the order in which games are rated draw from it too, so that published figures stay.
    """
    PLAY = 1
    """What agents draw in games with people; the further indices are the number of the action and the purpose."""
    DATA_SET = 3
    DEMO = 4
    TARGETS = 5
    """What is drawn in games whose ends are learned: by agents, by searches, and for which decisions are kept."""
    CURRICULUM = 6
    """Which configurations are played next; the further index is the number of players."""
    SEATS = 9
    """Who sits where in games to learn from."""
    LEARNING_GAMES = 10
    """What agents draw in games to learn from."""
    RANKS = 15
    """The bootstrap of the ranks of difficulties."""
    TEXT_SEATS = 17
    """Which seat a player by text has."""
    CHECK = 18
    """Which answers are given in the check of a game and beside a slow one, and how what is hidden is redrawn."""
    RUNS = 19
    """The bootstrap of training runs, and of ratings."""
    LUCK = 20
    """What chance could have brought instead, in games that are played again."""
    EDITIONS = 16
    """Numbers on the pieces that are drawn from their ranges; the further indices are in `described.draws`."""


class Seeds(NamedTuple):
    """A range of games' seeds, `first` to `last`."""

    first: int
    last: int


LEARNING = Seeds(0, 499_999)
"""Games to learn from: the run's seed, and one more for each game."""
CHOOSING = Seeds(500_000, 999_999)
"""Games that choose the best of a run's policies."""
EVALUATION = Seeds(1_000_000, 9_999_999)
"""Games of reports."""
OUTCOMES = Seeds(10_000_000, 19_999_999)
SEARCH = Seeds(20_000_000, 29_999_999)
DATA_SETS = Seeds(30_000_000, 49_999_999)
IMAGES = Seeds(50_000_000, 89_999_999)
TEXT = Seeds(100_000_000, 109_999_999)
"""Games that measure language models."""
TUNING = Seeds(90_000_000, 99_999_999)
"""Games by which something was chosen by hand; no report uses them."""
SUITE = Seeds(110_000_000, 119_999_999)
"""New editions of the suite's tasks, on which nothing is learned or chosen."""


def edition_seeds(seeds: Seeds, number: int) -> list[int]:
    """The first `number` seeds of this range, one for each edition."""
    return list(range(seeds.first, seeds.first + number))


def generator(seed: int, stream: Stream, *more: int) -> np.random.Generator:
    """A generator for one use. `more` are further indices, such as an agent's.

    Streams differ from each other for the same seed, and for the same seed and further indices.
    """
    if stream is Stream.AGENTS:  # as the first version drew them, so that published games can be played again
        return np.random.default_rng([seed, *more])
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(stream), *more)))


def _raw_numbers(source: np.random.PCG64) -> Iterator[int]:
    """The raw numbers of a generator, fetched in blocks: a call of NumPy costs as much as many numbers."""
    for size in chain((4, 16), repeat(256)):
        yield from source.random_raw(size).tolist()


class Chance:
    """Random numbers that are the same for ever: only the raw numbers of PCG64 are used, which NumPy keeps as they are.

    Arguments:
        seed: not negative.
        more: further indices, as for `generator`.
    """

    def __init__(self, seed: int, stream: Stream, *more: int) -> None:
        self._raw: Callable[[], int] = _raw_numbers(
            np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(int(stream), *more)))
        ).__next__

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound` - 1, all equally likely."""
        bits = (bound - 1).bit_length()
        if bits == 0:
            return 0
        raw, unused = self._raw, -bits % 64
        while True:
            number = raw()
            if bits > 64:  # an empty loop takes a fifth of the time of a drawn edition
                for _ in range(64, bits, 64):
                    number = number << 64 | raw()
            number >>= unused
            if number < bound:
                return number

    def one_of(self, things: Sequence[_T]) -> _T:
        """One of them, all equally likely."""
        return things[self.below(len(things))]

    def shuffled(self, things: Iterable[_T]) -> list[_T]:
        """All of them in a random order, all orders equally likely."""
        mixed = list(things)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed
