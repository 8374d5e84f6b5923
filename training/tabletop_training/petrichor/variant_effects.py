"""The effects of the solo variants, from one agent's games of all sets, paired by seed.

Game i of every set starts from the same seed. If the pile has the same tiles, it has the same field, hand and dice. Two
sets are therefore compared game by game, and whatever the seeds share cancels. The seeds are independent; they are the
unit of every interval and test.

In shapes S is the number of sets, `len(ALL_VARIANTS)`: 16 of four variants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from scipy import special, stats

from petrichor_env.config import VARIANTS
from tabletop_training.measure.ratings import CONFIDENCE
from tabletop_training.measure.results import (
    Estimate,
    Results,
    difference_estimate,
    mean_estimate,
    mean_interval,
    share_estimate,
    standard_error,
)
from tabletop_training.petrichor.summaries import ALL_VARIANTS

SWITCHED = np.array([[name in variants for name in VARIANTS] for variants in ALL_VARIANTS])
"""(S, variants) bool: which variants each of `ALL_VARIANTS` has."""

SIGNIFICANCE = 1 - CONFIDENCE

_RESAMPLES = 2000


@dataclass(frozen=True)
class Sets:
    """One agent's games of all sets, in the order of `ALL_VARIANTS`; game i of each has the same seed.

    Attributes:
        won: (S, games) bool.
        points: (S, games, 2) int64, the player's and the neutral player's.
        scored: (S, games, 2, sources) int64, the same points by `state.Source`.
        decisions: (S, games) int64.
    """

    agent: str
    won: np.ndarray
    points: np.ndarray
    scored: np.ndarray
    decisions: np.ndarray

    @classmethod
    def of(cls, results: Mapping[tuple[str, ...], Results]) -> Sets:
        """From the results of each set. Raises KeyError if one is missing."""
        parts = [results[variants] for variants in ALL_VARIANTS]
        return cls(
            agent=parts[0].agents[0],
            won=np.array([part.won[:, 0] for part in parts]),
            points=np.array([part.points for part in parts]),
            scored=np.array([part.scored for part in parts]),
            decisions=np.array([part.lengths for part in parts]),
        )

    @property
    def games(self) -> int:
        """The number of games of each set."""
        return self.won.shape[1]

    @property
    def margins(self) -> np.ndarray:
        """(S, games) int64: points ahead of the neutral player."""
        return np.asarray(self.points[:, :, 0] - self.points[:, :, 1])

    @property
    def win_rates(self) -> np.ndarray:
        """(S,) float64."""
        return np.asarray(self.won.mean(axis=1))

    def rate(self, index: int) -> Estimate:
        """A set's win rate with its interval."""
        return share_estimate(self.won[index].astype(float))

    def margin(self, index: int) -> Estimate:
        """A set's mean margin with its interval."""
        return mean_estimate(self.margins[index])

    @property
    def order(self) -> np.ndarray:
        """(S,) indices from the easiest set to the hardest: by win rate, equal ones by mean margin."""
        return np.lexsort((-self.margins.mean(axis=1), -self.win_rates))


def holm(p_values: np.ndarray) -> np.ndarray:
    """Holm's adjustment. It keeps the chance of even one false finding among all tests below the significance level."""
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p)
    adjusted = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return np.asarray(adjusted[np.argsort(order)])


def p_values(samples: Iterable[np.ndarray]) -> np.ndarray:
    """The p values of Student's t tests that each mean is 0, with Holm's adjustment for all of them."""
    return holm(np.array([p_of_mean(one) for one in samples]))


# --- Effects: the sets as a factorial experiment ---------------------------------------------------------------------


@dataclass(frozen=True)
class Effect:
    """The mean effect of a variant over the sets of the others, or that of several beyond the sum of their own.

    `low` and `high` are the ends of the 95 % Student interval over seeds. `p` is that of the t test for no effect, with
    Holm's adjustment for all effects of the same agent and measure.
    """

    variants: tuple[str, ...]
    value: float
    low: float
    high: float
    p: float

    @property
    def significant(self) -> bool:
        return self.p < SIGNIFICANCE

    @property
    def estimate(self) -> Estimate:
        """The value with the ends of its interval."""
        return Estimate(self.value, self.low, self.high)


def contrast(variants: tuple[str, ...]) -> np.ndarray:
    """(S,) float64 weights of the sets. The weighted sum of the sets is the effect of the variants.

    The effect of one variant is the mean of the sets with it less the mean of the sets without it. That of two
    variants is how much more one changes with the other than without it, averaged over the sets of the rest. That of
    three is how much the third changes this, and so on.
    """
    chosen = SWITCHED[:, [VARIANTS.index(name) for name in variants]]
    signs = np.where(chosen, 1.0, -1.0).prod(axis=1)
    return np.asarray(signs / 2 ** (len(VARIANTS) - len(variants)))


def effects(values: np.ndarray, largest: int = len(VARIANTS)) -> list[Effect]:
    """Every effect of up to `largest` variants on `values`, (S, games): the main effects first.

    With fewer than two games the intervals have no ends and no effect is significant.
    """
    names = [chosen for number in range(1, largest + 1) for chosen in combinations(VARIANTS, number)]
    by_seed = [contrast(chosen) @ values for chosen in names]
    return [
        Effect(chosen, float(one.mean()), *mean_interval(one), float(p))
        for chosen, one, p in zip(names, by_seed, p_values(by_seed), strict=True)
    ]


def win_rate_effects(sets: Sets) -> dict[str, Estimate]:
    """Each variant's mean change of the win rate over the sets of the others, with 95 % intervals."""
    won = sets.won.astype(np.float64)
    return {name: difference_estimate(contrast((name,)) @ won) for name in VARIANTS}


def p_of_mean(values: np.ndarray) -> float:
    """The p value of Student's t test that the mean is 0; 1 for a single value."""
    if len(values) < 2:
        return 1.0
    if np.ptp(values) == 0:  # where the test divides by 0
        return 0.0 if values[0] else 1.0
    t = np.mean(values) / standard_error(values)
    return float(2 * special.stdtr(len(values) - 1, -abs(t)))


# --- Comparisons of each two sets ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pairs:
    """All pairs of sets, by their index in `ALL_VARIANTS`; symmetric except for the sign.

    On the diagonal differences are 0, and p is 1.

    Attributes:
        differences: (S, S) float64, the mean of the row's set less that of the column's.
        p: (S, S) float64, adjusted by Holm for all pairs.
    """

    differences: np.ndarray
    p: np.ndarray

    @property
    def significant(self) -> np.ndarray:
        """(S, S) bool."""
        return np.asarray(self.p < SIGNIFICANCE)


def compare_wins(sets: Sets) -> Pairs:
    """Compare wins by McNemar's exact test, on the seeds that are won in only one of two sets."""
    only = sets.won.astype(int) @ ~sets.won.T  # seeds that the row's set wins and the column's loses
    pairs = [(int(only[pair]), int(only[pair] + only[pair[::-1]])) for pair in combinations(range(len(only)), 2)]
    tests = [float(stats.binomtest(*pair).pvalue) if pair[1] else 1.0 for pair in pairs]
    return _pairs(sets.win_rates, holm(np.array(tests)))


def compare_margins(sets: Sets) -> Pairs:
    """Compare margins by the paired t test."""
    margins, pairs = sets.margins, combinations(range(len(ALL_VARIANTS)), 2)
    return _pairs(margins.mean(axis=1), p_values(margins[first] - margins[second] for first, second in pairs))


def _pairs(means: np.ndarray, adjusted: np.ndarray) -> Pairs:
    p = np.ones((len(means), len(means)))
    p[np.triu_indices(len(means), 1)] = adjusted
    return Pairs(means[:, None] - means[None, :], np.minimum(p, p.T))


def levels(order: np.ndarray, pairs: Pairs) -> np.ndarray:
    """The level of each set, (S,) int64 by index in `ALL_VARIANTS`, from 1.

    From the easiest set on, sets have the same level until one is significantly harder than the first set of the level.
    That set starts the next level.
    """
    result = np.zeros(len(order), np.int64)
    level, first = 1, order[0]
    for index in order:
        if pairs.significant[first, index]:
            level, first = level + 1, index
        result[index] = level
    return result


def rank_intervals(sets: Sets, generator: np.random.Generator) -> np.ndarray:
    """(S, 2) int64: the lowest and highest rank of each set (1 is the easiest) in 95 % of resamples of the seeds."""
    weights = generator.multinomial(sets.games, np.full(sets.games, 1 / sets.games), size=_RESAMPLES)
    wins, margins = weights @ sets.won.T, weights @ sets.margins.T
    ranks = 1 + np.argsort(np.lexsort((-margins, -wins), axis=1), axis=1)  # of a permutation: its inverse
    tail = 100 * (1 - CONFIDENCE) / 2
    return np.percentile(ranks, [tail, 100 - tail], axis=0, method="nearest").T.astype(np.int64)


def pairing_gain(sets: Sets) -> float:
    """The fraction by which pairing reduces the variance of the difference of two sets' margins, over all pairs."""
    margins = sets.margins.astype(np.float64)
    paired = sum(float((first - second).var()) for first, second in combinations(margins, 2))
    unpaired = float(margins.var(axis=1).sum()) * (len(margins) - 1)
    return 1 - paired / unpaired if unpaired else 0.0


def smoothest_path(win_rates: np.ndarray) -> list[int]:
    """The gentlest way from the base game to all variants, adding one at a time: indices in `ALL_VARIANTS`.

    No other order of the variants has a smaller largest drop of the win rate. Of several such orders it is the one with
    the smaller second largest drop, and so on.
    """
    index = {frozenset(variants): i for i, variants in enumerate(ALL_VARIANTS)}
    steps = range(len(VARIANTS) + 1)
    paths = [[index[frozenset(order[:number])] for number in steps] for order in permutations(VARIANTS)]
    return min(paths, key=lambda path: sorted(-np.diff(win_rates[path]), reverse=True))
