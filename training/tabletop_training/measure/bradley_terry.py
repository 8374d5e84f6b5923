"""Elo ratings of players that do not change, by the Bradley-Terry model, from games of two on seeds that all share.

The model: the share of the victories of one player over another one depends on the difference of their ratings alone.
Ratings are the likeliest ones if each two that met had shared a twentieth of a game more, so that all are finite; of a
player that won nothing or everything only a bound is known. The order of the games does not matter.

R. A. Bradley and M. E. Terry, "Rank analysis of incomplete block designs I", Biometrika 39 (1952).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tabletop_engine.seeds import Stream, generator
from tabletop_engine.text.words import counted
from tabletop_training.measure.ratings import CONFIDENCE
from tabletop_training.measure.results import Estimate

ELO = 400 / math.log(10)
"""The points of Elo's scale in a unit of log odds: a difference of 400 points means odds of 10 to 1."""
GAMES_A_SEED = 2
_RESAMPLES = 1000
_LARGEST_STEP = 2.0
_SHARED = 0.05
"""The part of a game that each two that met have shared in addition."""
_EXPECTED = 5.0
"""The fewest expected victories of either player in a pairing whose misfit counts: the usual rule of the test."""


@dataclass(frozen=True)
class Misfit:
    """How well one number for each player explains the pairings.

    Attributes:
        chi2: the sum over pairings of squared differences between the measured and the expected share, in units of
            its variance, whose seeds are as different as measured; pairings in which either player is expected to win
            fewer than five games are left out.
        degrees: of freedom. p: how likely a sum of at least this size is if the model is true; NaN without any degree.
        worst: the pairing with the largest difference: both names, the measured and the expected share.
    """

    chi2: float
    degrees: int
    p: float
    worst: tuple[str, str, float, float]

    @property
    def text(self) -> str:
        """The misfit in a sentence."""
        first, second, measured, expected = self.worst
        test = f"chi-squared {self.chi2:.0f} on {counted(self.degrees, 'degree')} of freedom, p = {self.p:.2g}"
        pairing = f"{first} won {100 * measured:.0f} % against {second}, {100 * expected:.0f} expected"
        return f"Misfit of one number for each agent: {test}; the largest: {pairing}."


def elo_ratings(
    scores: Mapping[tuple[str, str], np.ndarray], anchor: str | None = None
) -> tuple[dict[str, Estimate], Misfit]:
    """The rating of each player, with its 95 % interval by a bootstrap over the seeds, and the misfit of the model.

    A player that won nothing, or everything, has no interval.

    Arguments:
        scores: for each pairing the first player's share of the victories on each seed, (seeds,), of `GAMES_A_SEED`
            games. The n-th entry of every pairing is the same seed, which a sample has in all pairings or in none.
        anchor: the player whose rating is 0; None for `greedy`, or the first one if that has not played.
    """
    names = list(dict.fromkeys(name for pair in scores for name in pair))
    zero = names.index(anchor or ("greedy" if "greedy" in names else names[0]))
    pairs = np.array([[names.index(name) for name in pair] for pair in scores])
    longest = max(map(len, scores.values()))
    played = np.array([np.arange(longest) < len(one) for one in scores.values()]).T.astype(float)  # (seeds, pairs)
    won = np.array([np.pad(np.asarray(one, float), (0, longest - len(one))) for one in scores.values()]).T
    drawn = generator(0, Stream.RUNS).multinomial(longest, np.full(longest, 1 / longest), _RESAMPLES)
    weights = GAMES_A_SEED * np.concatenate([np.ones((1, longest)), drawn])
    strengths = _fitted(weights @ won, weights @ played, pairs, len(names), zero)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(ELO * strengths[1:], (tail, 1 - tail), axis=0)
    ratings = {}
    for i, name in enumerate(names):
        of = np.concatenate([one if pair[0] == name else 1 - one for pair, one in scores.items() if name in pair])
        ends = (low[i], high[i]) if 0 < of.mean() < 1 else (-np.inf, np.inf)
        ratings[name] = Estimate(float(ELO * strengths[0, i]), *map(float, ends))
    return ratings, _misfit(scores, strengths[0], pairs)


def _fitted(won: np.ndarray, played: np.ndarray, pairs: np.ndarray, players: int, zero: int) -> np.ndarray:
    """The likeliest strengths in log odds, (samples, players), by Newton's method.

    won, played: (samples, pairs), the victories of the pairs' first players, and the games. zero: whose strength is 0.
    """
    design = np.zeros((len(pairs), players))
    design[np.arange(len(pairs)), pairs[:, 0]] = 1
    design[np.arange(len(pairs)), pairs[:, 1]] = -1
    design = np.delete(design, zero, axis=1)
    won, played = won + _SHARED / 2, played + _SHARED
    strengths = np.zeros((len(won), players - 1))
    for _ in range(100):
        expected = 1 / (1 + np.exp(-strengths @ design.T))
        slope = (won - played * expected) @ design
        curvature = design.T @ ((played * expected * (1 - expected))[..., None] * design)
        step = np.linalg.solve(curvature, slope[..., None])[..., 0].clip(-_LARGEST_STEP, _LARGEST_STEP)
        strengths += step
        if np.abs(step).max() < 1e-9:
            break
    return np.insert(strengths, zero, 0.0, axis=1)


def _misfit(scores: Mapping[tuple[str, str], np.ndarray], strengths: np.ndarray, pairs: np.ndarray) -> Misfit:
    from scipy import stats  # which takes half a second

    seeds = np.array([len(one) for one in scores.values()])
    measured = np.array([float(np.mean(one)) for one in scores.values()])
    spread = sum(float(np.square(one - np.mean(one)).sum()) for one in scores.values())
    independent = (seeds * measured * (1 - measured)).sum() / GAMES_A_SEED
    effect = spread / independent if independent > 0 else 1.0
    expected = 1 / (1 + np.exp(strengths[pairs[:, 1]] - strengths[pairs[:, 0]]))
    games = GAMES_A_SEED * seeds
    terms = np.square(measured - expected) / np.maximum(effect * expected * (1 - expected) / games, 1e-12)
    counts = np.minimum(expected, 1 - expected) * games >= _EXPECTED
    degrees = max(0, int(counts.sum()) - max(0, len(np.unique(pairs[counts])) - 1))
    chi2 = float(terms[counts].sum())
    p = float(stats.chi2.sf(chi2, degrees)) if degrees else math.nan
    most = int(np.argmax(np.where(counts, terms, -1)))
    pair: Sequence[tuple[str, str]] = list(scores)
    return Misfit(chi2, degrees, p, (*pair[most], float(measured[most]), float(expected[most])))
