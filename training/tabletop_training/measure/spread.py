"""How editions differ: estimates from games of many editions, and which numbers the differences come from.

An edition is one of many possible sets of printed numbers. Its games tell its own win rate only roughly. So editions
and games are estimated together: editions as a random effect, games within an edition as the residual.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from tabletop_engine.described.draws import blocks_of_keys
from tabletop_engine.described.overlays import Numbers
from tabletop_engine.described.ranges import Permuted
from tabletop_engine.game import Config
from tabletop_training.measure.changes import is_played
from tabletop_training.measure.ratings import CONFIDENCE
from tabletop_training.measure.results import (
    NO_ESTIMATE,
    Estimate,
    Results,
    mean_estimate,
    score_interval,
    share_estimate,
)

HALF, NINE_TENTHS = (0.25, 0.75), (0.05, 0.95)
"""Between which quantiles lie half of the editions, and nine tenths of them."""

FEW = 50
"""With fewer editions neither quantiles are told nor what to look up first: the ends of nine tenths would be one or two
editions, and there are nearly as many unknown numbers as editions."""


def few_editions(editions: int) -> str:
    """What can't be said with so few editions, in words; "" with enough of them."""
    if editions >= FEW:
        return ""
    return (
        f"{editions} editions are too few to say between what half or nine tenths of all lie, how much of the spread"
        f" comes from the edition, and which number to look up first. Draw at least {FEW} (`--editions {FEW}`)."
    )


_RESAMPLES = 1000
_TRIED = 20
"""Editions whose numbers say whether a number is played."""
_RIDGES = np.logspace(-3, 4, 29)


def by_edition(results: Results, values: np.ndarray) -> np.ndarray:
    """(games, …) numbers as (editions, games of each, …). Raises ValueError unless each has equally many games."""
    order = np.argsort(results.edition_of_games, kind="stable")
    counts = np.bincount(results.edition_of_games, minlength=len(results.editions))
    if len(set(counts.tolist())) > 1:
        raise ValueError(
            f"games of editions: from {counts.min()} to {counts.max()}; each edition must have equally many"
        )
    return np.asarray(values[order].reshape(len(counts), -1, *values.shape[1:]))


# --- How far editions differ ------------------------------------------------------------------------------------------


class Parts(NamedTuple):
    """The mean of all editions, and the variances of a game's result between the editions' means and within one."""

    mean: Any
    between: Any
    within: Any

    @property
    def share(self) -> Any:
        """The share of the variance that is between editions, 0 to 1."""
        whole = self.between + self.within
        return np.where(whole > 0, self.between / np.where(whole > 0, whole, 1.0), 0.0)


def parts_of(values: np.ndarray) -> Parts:
    """The parts of (…, editions, games) numbers, by the analysis of variance of one random effect.

    With one game for each edition the two variances cannot be told apart, and all of it counts as within.
    """
    editions, games = values.shape[-2:]
    means = values.mean(axis=-1)
    spread = means.var(axis=-1, ddof=1) if editions > 1 else np.zeros(means.shape[:-1])
    if games == 1:
        return Parts(means.mean(axis=-1), np.zeros_like(spread), spread)
    within = values.var(axis=-1, ddof=1).mean(axis=-1)
    return Parts(means.mean(axis=-1), np.maximum(spread - within / games, 0.0), within)


@dataclass(frozen=True)
class Spread:
    """A figure over editions, such as a win rate.

    Attributes:
        mean: over all editions. Its interval holds for the editions that could be drawn, not only for those that were.
        median, half, nine_tenths: quantiles of the editions' own figures, without the chance of their games: the
            median, and the ends between which half and nine tenths of all editions lie; each with the interval of a
            bootstrap, which is at least as wide as that of the mean.
        share: the share of the variance of a game's result that is between editions.
        editions, games: how many editions, and games of each.
    """

    mean: Estimate
    median: Estimate
    half: tuple[Estimate, Estimate]
    nine_tenths: tuple[Estimate, Estimate]
    share: Estimate
    editions: int
    games: int


def spread_of(values: np.ndarray, generator: np.random.Generator, *, shares: bool) -> Spread:
    """The spread of (editions, games) results; `shares`: they are from 0 to 1, such as victories.

    Win rates of editions follow a beta distribution with the estimated mean and variance. For other figures the
    editions' means are moved towards each other until they have the estimated variance.
    """
    editions, games = values.shape
    resampled = values[generator.integers(editions, size=(_RESAMPLES, editions))]
    levels = np.array([0.5, *HALF, *NINE_TENTHS])
    again = _quantiles(resampled, levels, shares)
    means = values.mean(axis=1)
    mean = share_estimate(means) if shares else mean_estimate(means)
    quantiles = [
        _as_wide_as(mean, _bootstrapped(*pair), shares)
        for pair in zip(_quantiles(values, levels, shares), again.T, strict=True)
    ]
    return Spread(
        mean,
        quantiles[0],
        (quantiles[1], quantiles[2]),
        (quantiles[3], quantiles[4]),
        _bootstrapped(float(parts_of(values).share), parts_of(resampled).share),
        editions,
        games,
    )


def _as_wide_as(mean: Estimate, quantile: Estimate, shares: bool) -> Estimate:
    """The quantile with an interval at least as wide as the mean's: a bootstrap of equal editions has no width."""
    low = min(quantile.low, quantile.value - (mean.value - mean.low))
    high = max(quantile.high, quantile.value + (mean.high - mean.value))
    return Estimate(quantile.value, max(0.0, low), min(1.0, high)) if shares else Estimate(quantile.value, low, high)


def _quantiles(values: np.ndarray, levels: np.ndarray, shares: bool) -> np.ndarray:
    """(…, levels) quantiles of the editions' own figures, from (…, editions, games) results."""
    mean, between, _ = (part[..., None] for part in parts_of(values))
    if shares:
        greatest = mean * (1 - mean)
        differ = (between > 0) & (greatest > 0)
        size = np.maximum(greatest / np.where(differ, between, 1.0) - 1, 1e-6)
        found = stats.beta.ppf(levels, np.where(differ, mean, 0.5) * size, np.where(differ, 1 - mean, 0.5) * size)
        return np.where(differ, found, mean)
    means = values.mean(axis=-1)
    observed = means.var(axis=-1, ddof=1)[..., None] if means.shape[-1] > 1 else np.zeros_like(mean)
    factor = np.sqrt(between / np.where(observed > 0, observed, 1.0))
    return np.moveaxis(np.quantile(mean + factor * (means - mean), levels, axis=-1), 0, -1)


def _bootstrapped(value: float, again: np.ndarray) -> Estimate:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(again, [tail, 1 - tail])
    return Estimate(value, float(min(low, value)), float(max(high, value)))


def share_holding(differences: np.ndarray, generator: np.random.Generator) -> Estimate:
    """The share of all editions in which a difference is above 0, from (editions, games) differences of single games.

    The editions' own differences are assumed to be normal, with the estimated mean and variance. So the chance of the
    games does not count. The interval is that of a bootstrap of the editions, or Wilson's for so many editions if that
    is wider: also where it holds in each edition that was drawn, it may fail in others.
    """
    editions = len(differences)
    resampled = differences[generator.integers(editions, size=(_RESAMPLES, editions))]
    value, low, high = _bootstrapped(float(_share_above(differences)), _share_above(resampled))
    least, most = score_interval(value, editions)
    return Estimate(value, max(0.0, min(low, least)), min(1.0, max(high, most)))


def _share_above(differences: np.ndarray) -> Any:
    mean, between, _ = parts_of(differences)
    certain = np.where(mean > 0, 1.0, np.where(mean < 0, 0.0, 0.5))
    deviation = np.sqrt(between)
    return np.where(deviation > 0, stats.norm.cdf(mean / np.where(deviation > 0, deviation, 1.0)), certain)


# --- What to look up first -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FirstOrder:
    """How much of the spread between editions some numbers explain: their first-order sensitivity index.

    Attributes:
        keys: of the component file, drawn together.
        index: the share of the variance between editions that these numbers explain by themselves. A model of them
            alone predicts each edition from all others, so chance explains nothing. The interval is that of a
            bootstrap.
    """

    keys: tuple[str, ...]
    index: Estimate


@dataclass(frozen=True)
class LookUp:
    """What to look up first.

    Attributes:
        numbers: by their index, the greatest first; none with too few editions to tell.
        together: the share of the variance between editions that all numbers explain together, predicted in the same
            way. The rest is noise, or numbers that act on each other, which the models leave out.
    """

    numbers: tuple[FirstOrder, ...]
    together: Estimate


def look_up_first(
    values: np.ndarray,
    editions: Sequence[Mapping[str, Any]],
    components: Mapping[str, Numbers],
    constraints: Sequence[Any],
    generator: np.random.Generator,
    texts: Collection[str] = (),
    configs: Sequence[Config] = (),
) -> LookUp:
    """Which unknown numbers decide (editions, games) results; empty with fewer than `FEW` editions.

    Arguments:
        values: results of games; their means by edition are explained.
        editions: the numbers that were drawn for each edition.
        components: all numbers, of which those with a range are unknown.
        constraints: `ComponentFile.stated`; keys that it or a permutation links are looked up together.
        generator: of the bootstrap.
        texts: keys whose words are texts to be compared letter by letter, such as the rows of a map.
        configs: what was played; numbers that do not count there are left out. () for all numbers.
    """
    if len(values) < FEW:
        return LookUp((), NO_ESTIMATE)
    between = float(parts_of(values).between)
    means = values.mean(axis=1)
    ranges = {key: one.range for key, one in components.items() if one.range is not None}
    values_of = {key: [edition[key] for edition in editions] for key in ranges}
    values_of |= {key: [list("\n".join(value)) for value in values_of[key]] for key in texts if key in values_of}
    features = {key: _features(one) for key, one in values_of.items()}
    groups: list[list[str]] = []
    for block in blocks_of_keys(ranges, constraints):
        dealt_out = any(isinstance(ranges[key], Permuted) for key in block)  # a single one of these keys says nothing
        groups += [block] if dealt_out else [[key] for key in block]
    if configs:
        own = dict(configs[0].components or ())
        groups = [
            keys
            for keys in groups
            if is_played(configs, ({**own, **{key: edition[key] for key in keys}} for edition in editions[:_TRIED]))
        ]
    found = []
    for keys in groups:
        columns = np.concatenate([features[key] for key in keys], axis=1)
        if columns.shape[1]:
            found.append(FirstOrder(tuple(keys), _explained(columns, means, between, generator)))
    everything = np.concatenate([features[key] for keys in groups for key in keys], axis=1)
    together = _explained(everything, means, between, generator)
    return LookUp(tuple(sorted(found, key=lambda one: -one.index.value)), together)


def _features(values: Sequence[Any]) -> np.ndarray:
    """(editions, features) float64 of one key's values: numbers as they are, words as one number a word."""
    listed = [list(value) if isinstance(value, list | tuple) else [value] for value in values]
    if all(isinstance(one, int | float) and not isinstance(one, bool) for value in listed for one in value):
        width = max(map(len, listed))
        table = np.array([[*value, *[value[-1] if value else 0] * (width - len(value))] for value in listed], float)
        table = np.concatenate([table, (table - table.mean(axis=0)) ** 2], axis=1)  # squares, for curved effects
    else:
        words = sorted({(place, str(one)) for value in listed for place, one in enumerate(value)})
        placed = [{(place, str(one)) for place, one in enumerate(value)} for value in listed]
        table = np.array([[word in value for word in words] for value in placed], float)
        counts = [
            [sum(str(one) == word for one in value) for word in sorted({w for _, w in words})] for value in listed
        ]
        table = np.concatenate([table, np.array(counts, float)], axis=1)
    return table[:, table.std(axis=0) > 0]


def _explained(features: np.ndarray, means: np.ndarray, between: float, generator: np.random.Generator) -> Estimate:
    """The share of the variance between editions that a ridge regression predicts, each edition from all others."""
    editions = len(means)
    centred = means - means.mean()
    whole = float((centred**2).mean())
    if editions < 3 or between <= 0 or whole <= 0:
        return Estimate(0.0, 0.0, 1.0)
    errors = _errors(features, means)
    base = centred * editions / (editions - 1)  # the errors of the mean of all others
    gained = base**2 - errors**2
    chosen = generator.integers(editions, size=(_RESAMPLES, editions))
    index = float(gained.mean()) / between
    again = gained[chosen].mean(axis=1) / between
    estimate = _bootstrapped(index, again)
    return Estimate(*(min(max(one, 0.0), 1.0) for one in estimate))


def _errors(features: np.ndarray, means: np.ndarray) -> np.ndarray:
    """The errors with which each edition is predicted from all others, with the ridge that predicts best."""
    scaled = (features - features.mean(axis=0)) / features.std(axis=0)
    left, sizes, _ = np.linalg.svd(scaled, full_matrices=False)
    centred = means - means.mean()
    best = None
    for ridge in _RIDGES * len(means):
        kept = sizes**2 / (sizes**2 + ridge)
        fitted = left @ (kept * (left.T @ centred))
        leverage = 1 / len(means) + (left**2) @ kept
        errors = (centred - fitted) / np.maximum(1 - leverage, 1e-9)
        if best is None or (errors**2).sum() < (best**2).sum():
            best = errors
    assert best is not None
    return best
