"""Statistics over training runs, by the definitions of Agarwal et al., "Deep Reinforcement Learning at the Edge of the
Statistical Precipice" (NeurIPS 2021), https://arxiv.org/abs/2108.13264.

A learner's scores are one array for each task, (runs,) float, all tasks with the same number of runs. All intervals are
percentiles of a stratified bootstrap: the runs of each task are drawn again on their own. With five runs of one task
such an interval is too narrow; docs/suite.md says how much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tabletop_training.measure.ratings import CONFIDENCE
from tabletop_training.measure.results import Estimate

Scores = Sequence[np.ndarray]
"""The scores of one learner: for each task those of its runs, (..., runs) float."""

RESAMPLES = 5_000


def interquartile_mean(scores: Scores) -> np.ndarray:
    """The mean of the middle half of all runs of all tasks, (...,): a quarter is left out at either end."""
    from scipy import stats  # which takes half a second

    return np.asarray(stats.trim_mean(_pooled(scores), 0.25, axis=-1))


def mean(scores: Scores) -> np.ndarray:
    """The mean of all runs of all tasks, (...,)."""
    return np.asarray(_pooled(scores).mean(axis=-1))


def optimality_gap(scores: Scores) -> np.ndarray:
    """How far scores are below 1 on average, (...,)."""
    return np.asarray(1 - np.minimum(_pooled(scores), 1).mean(axis=-1))


def profile(scores: Scores, least: np.ndarray) -> np.ndarray:
    """The performance profile: the share of the runs whose score is above each number of `least` (n,), (..., n)."""
    return np.asarray((_pooled(scores)[..., None, :] > least[:, None]).mean(axis=-1))


def improvement(scores: Scores, others: Scores) -> np.ndarray:
    """How probably a run scores more than another learner's run of the same task, the mean over the tasks, (...,).

    An equal score counts one half.
    """
    above = [
        (np.sign(own[..., :, None] - other[..., None, :]) / 2 + 0.5).mean(axis=(-1, -2))
        for own, other in zip(scores, others, strict=True)
    ]
    return np.asarray(np.mean(above, axis=0))


def resampled(scores: Scores, generator: np.random.Generator, number: int = RESAMPLES) -> Scores:
    """Samples of a stratified bootstrap: for each task (number, runs)."""
    return [own[generator.integers(len(own), size=(number, len(own)))] for own in scores]


def estimate(statistic: Callable[..., np.ndarray], *learners: Scores, generator: np.random.Generator) -> Estimate:
    """A statistic of one or two learners with its 95 % interval; without one for a single run of each task."""
    value = float(statistic(*learners))
    if all(len(own) < 2 for scores in learners for own in scores):
        return Estimate(value, -np.inf, np.inf)
    samples = statistic(*(resampled(scores, generator) for scores in learners))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(samples, (tail, 1 - tail))
    return Estimate(value, float(low), float(high))


def _pooled(scores: Scores) -> np.ndarray:
    return np.concatenate(list(scores), axis=-1)
