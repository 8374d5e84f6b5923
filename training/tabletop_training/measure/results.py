"""Results of games: the finished games themselves, and what is estimated from them, with its uncertainty."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tabletop_engine.game import NOBODY, Config
from tabletop_engine.play.agents import USAGE
from tabletop_engine.play.scores import margins, win_shares
from tabletop_training.measure.ratings import CONFIDENCE, Z

BY_GAME = ("points", "places", "lengths", "decisions", "scored", "seeds", "lineups", "forfeited")
BY_AGENT = ("usage", "seconds", "thinking")
"""The arrays with a row for each game, and for each agent."""


@dataclass(frozen=True)
class Results:
    """Finished games of one configuration.

    A game can be played again from its seed, its line-up and its actions, if these were recorded.

    P is the number of players. Owners are those who have points: the teams first, which are the players where everybody
    plays alone. An agent in several seats of a game is a whole team, and has one result.
    """

    config: Config
    agents: tuple[str, ...]  # names, by seat if there is no `lineups`
    seed: int  # of the first game; game i has `seeds[i]`
    points: np.ndarray  # (games, owners) int64, or float64 if points have halves, final points
    places: np.ndarray  # (games, P) int64, the team's among all owners: 1 the first, ties share the better place
    lengths: np.ndarray  # (games,) int64, decisions taken
    # (games, P) int64, decisions of each seat; no games if that was not recorded
    decisions: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.int64))
    # (games, owners, sources) int64, the points by `Game.scored`; no games if that was not recorded
    scored: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 0), np.int64))
    # (games,) int64; by default seed, seed + 1 …
    seeds: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    # (games, P) int64, who sat where: indices into `agents`; by default agent i in seat i
    lineups: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.int64))
    # (games,) int64, the seat that lost by an answer that is not legal, or NOBODY
    forfeited: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    # (agents, 5) int64, what each agent used (`tabletop_engine.play.agents.USAGE`); no agents if none counts it
    usage: np.ndarray = field(default_factory=lambda: np.empty((0, len(USAGE)), np.int64))
    # (agents,) float64, how long each agent thought in all of these games; empty if not measured
    seconds: np.ndarray = field(default_factory=lambda: np.empty(0))
    # (agents, 2) float64: each agent's processor time in seconds, and how many of its decisions had more than one legal
    # action; no agents if that was not recorded
    thinking: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))
    # for each game its actions in the order of play, (length,) int16; None if they were not recorded
    actions: tuple[np.ndarray, ...] | None = None
    # for each game the probabilities of actions, from agents that offer them, (n, 3) int16: the decision's number, an
    # action, its probability in thousandths; None if they were not recorded
    probabilities: tuple[np.ndarray, ...] | None = None
    # the fields of the games' records that were recorded, as they were at the end, by name; each begins with (games,)
    fields: dict[str, np.ndarray] = field(default_factory=dict)
    # the `components` of each of K editions, where game i had edition `seeds[i]` mod K; () for those of `config`
    editions: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        games, players = self.places.shape
        if not len(self.seeds):
            object.__setattr__(self, "seeds", self.seed + np.arange(games))
        if not len(self.forfeited):
            object.__setattr__(self, "forfeited", np.full(games, NOBODY, np.int64))
        if not len(self.lineups):
            object.__setattr__(self, "lineups", np.tile(np.arange(players), (games, 1)))

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def edition_of_games(self) -> np.ndarray:
        """(games,) int64: the edition of each game; 0 without editions."""
        return self.seeds % max(1, len(self.editions))

    @property
    def invalid(self) -> np.ndarray:
        """(games, P) bool: whether the seat's agent lost the game by an answer that is not legal."""
        loser = np.take_along_axis(self.lineups, self.forfeited[:, None], axis=1)
        return np.asarray((self.lineups == loser) & (self.forfeited[:, None] != NOBODY))

    def in_order(self) -> Results:
        """The same games by ascending seed."""
        return self.chosen(np.argsort(self.seeds, kind="stable"))

    def chosen(self, order: np.ndarray) -> Results:
        """These games, (n,) indices, in their order."""
        arrays = [name for name in BY_GAME if len(getattr(self, name))]
        changed: dict[str, Any] = {name: getattr(self, name)[order] for name in arrays}
        for name in ("actions", "probabilities"):
            recorded = getattr(self, name)
            changed[name] = None if recorded is None else tuple(recorded[game] for game in order)
        changed["fields"] = {name: values[order] for name, values in self.fields.items()}
        return replace(self, seed=int(self.seeds[order[0]]), **changed)

    @property
    def won(self) -> np.ndarray:
        """(games, P) bool; True for several players if they share the victory, or are a team."""
        return np.asarray(self.places == 1)

    @property
    def margins(self) -> np.ndarray:
        """(games,) float64: the points of seat 0's team less the mean of the others'."""
        return self.margins_by_seat[:, 0]

    @property
    def margins_by_seat(self) -> np.ndarray:
        """(games, P) float64: each team's points less the mean of all the others', by seat."""
        return margins(self.points)[:, self.teams]

    @property
    def win_shares(self) -> np.ndarray:
        """(games, P) float64: 1 for a victory, 1/k for one that k teams share."""
        return win_shares(self.places, self.teams)

    @property
    def teams(self) -> list[int]:
        """The owner of each seat's points, as `Game.teams` has it."""
        return list(self.config.game.teams(self.config))

    def by_agent(self, values: np.ndarray, *, add: bool = False) -> np.ndarray:
        """Rearrange (games, P) numbers by seat into (games, agents) float64; NaN where an agent does not play.

        The numbers of an agent's seats in a game are alike, or are to be added.
        """
        sorted_out = np.full((len(self), len(self.agents)), np.nan)
        np.put_along_axis(sorted_out, self.lineups, values.astype(np.float64), axis=1)
        if add:
            sorted_out[~np.isnan(sorted_out)] = 0.0
            np.add.at(sorted_out, (np.arange(len(self))[:, None], self.lineups), values)
        return sorted_out

    def by_seed(self, values: np.ndarray) -> np.ndarray:
        """Means over the games of each seed, without NaN: (games, n) → (seeds, n) float64, by ascending seed.

        Games of one seed start alike, so they are not independent observations. Their mean counts as one observation.
        """
        seeds, number = np.unique(self.seeds, return_inverse=True)
        sums = np.zeros((len(seeds), values.shape[1]))
        counts = np.zeros_like(sums)
        np.add.at(sums, number, np.nan_to_num(values))
        np.add.at(counts, number, ~np.isnan(values))
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def concatenate(parts: Sequence[Results]) -> Results:
    """Join results of the same agents, configuration and editions. Raises ValueError if these differ or are none."""
    if not parts or len({(part.config, part.agents, part.editions) for part in parts}) > 1:
        raise ValueError(
            "results to join: there must be at least one, all of the same agents, configuration and editions"
        )
    together: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in BY_GAME}
    for name in ("actions", "probabilities"):
        recorded = [getattr(part, name) for part in parts]
        together[name] = None if None in recorded else tuple(itertools.chain(*recorded))
    first = parts[0]
    for name in BY_AGENT:
        together[name] = np.sum([getattr(part, name) for part in parts], axis=0)
    together["fields"] = {name: np.concatenate([part.fields[name] for part in parts]) for name in first.fields}
    return Results(first.config, first.agents, first.seed, **together, editions=first.editions)


# --- Estimates -------------------------------------------------------------------------------------------------------


class Estimate(NamedTuple):
    """A mean with the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """From the lower to the upper end."""
        return self.high - self.low

    @property
    def has_interval(self) -> bool:
        """False for the mean of a single number, whose interval has infinite ends (null in JSON files)."""
        return self.low is not None and math.isfinite(self.low)

    def excludes(self, value: float) -> bool:
        """Whether the interval excludes this value."""
        return self.low > value or self.high < value


NO_ESTIMATE = Estimate(math.nan, math.nan, math.nan)
"""The estimate of something that was not measured: empty in a CSV file, null in a JSON file."""


def wilson_interval(wins: int, games: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a win rate. Raises ValueError unless 0 <= wins <= games and games >= 1."""
    if games < 1 or not 0 <= wins <= games:
        raise ValueError(f"{wins} wins of {games} games: must be 0 to games, with at least 1 game")
    from scipy import stats  # which takes half a second, and processes that only play need no intervals

    interval = stats.binomtest(wins, games).proportion_ci(CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)


def score_interval(rate: float, games: float) -> tuple[float, float]:
    """Wilson's formula for any number of games above 0. Rounding errors may put its ends slightly outside 0 to 1."""
    centre = (rate + Z**2 / (2 * games)) / (1 + Z**2 / games)
    half = Z * math.sqrt(rate * (1 - rate) / games + Z**2 / (4 * games**2)) / (1 + Z**2 / games)
    return centre - half, centre + half


def standard_error(values: np.ndarray) -> float:
    """The standard error of the mean of at least two numbers, (n,)."""
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))


def mean_interval(values: np.ndarray) -> tuple[float, float]:
    """The 95 % Student interval of a mean. Equal values give an interval of width 0, a single value infinite ends."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return -math.inf, math.inf
    from scipy import special  # as in `wilson_interval`

    # Of scipy's functions with all checks, each would take a millisecond.
    half = float(standard_error(values) * special.stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2))
    return mean - half, mean + half


def share_estimate(shares: np.ndarray) -> Estimate:
    """The mean of independent numbers from 0 to 1, (n,) float, such as an agent's share of the victories for each seed.

    The interval is Wilson's score interval, corrected by the design effect of the sample. The design effect is the
    variance of the numbers divided by that of zeros and ones with the same mean. One number of the greatest variance is
    added to it, so that equal numbers, such as only victories, still have an honest interval. For zeros and ones the
    result is Wilson's own interval. Raises ValueError for an empty array, or for other numbers.
    """
    shares = np.asarray(shares, np.float64)
    n = len(shares)
    if n < 1 or shares.min() < 0 or shares.max() > 1:
        raise ValueError(f"{n} shares: there must be at least one, all from 0 to 1")
    mean = float(shares.mean())
    greatest = mean * (1 - mean)
    effect = min(1.0, float(shares.var()) / greatest + 1 / n) if greatest > 0 else 1.0
    low, high = score_interval(mean, n / effect)
    return Estimate(mean, max(0.0, min(mean, low)), min(1.0, max(mean, high)))


def mean_estimate(values: np.ndarray) -> Estimate:
    """The mean of independent numbers, (n,), with `mean_interval`."""
    return Estimate(float(np.mean(values)), *mean_interval(values))


def difference_estimate(differences: np.ndarray) -> Estimate:
    """The mean of independent differences from -1 to 1, (n,) float, between shares paired by seed.

    This is `share_estimate` on that scale, so pairs without any difference have an honest interval, too. Raises
    ValueError for an empty array, or for other numbers.
    """
    differences = np.asarray(differences, np.float64)
    if len(differences) < 1 or np.abs(differences).max() > 1:
        raise ValueError(f"{len(differences)} differences: there must be at least one, all from -1 to 1")
    return Estimate(*(2 * end - 1 for end in share_estimate((differences + 1) / 2)))
