"""Ratings of finished games by openskill's Plackett-Luce model, for any number of players and with ties.

A rating is a normal distribution of a player's strength, with mean `mu` and standard deviation `sigma`. Only
differences have a meaning: in a game of two, the model expects a player that is 6.5 points ahead to win three games in
four. Games with other numbers of players have other scales. Everybody starts at 25 ± 8.33.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from openskill.models import PlackettLuce

from tabletop_engine.checks import checked, whole
from tabletop_engine.errors import ConfigError
from tabletop_engine.seeds import Stream, generator

CONFIDENCE = 0.95
"""The confidence of every interval, here and in `tabletop_training.measure.evaluation`."""
Z = 1.959963984540054
"""The standard deviations from the mean to either end of a normal interval of this confidence."""

START_MU = 25.0
START_SIGMA = START_MU / 3
DRIFT = START_MU / 300
"""The standard deviation of a drifting player's change of strength from game to game; openskill's default."""

_FIXED_SIGMA = 1e-3

Game = tuple[Sequence[str], Sequence[int]]
"""Names by seat, and each one's place in the same order: 1 the first, equal numbers a tie (`Batch.places`)."""


@dataclass(frozen=True)
class Rating:
    """A player's strength, estimated from its games.

    `low` and `high` are mu ± 1.96 sigma, which holds 95 % of the model's probability if strength is one number that
    does not change. They are not a confidence interval of a win rate, and they are not calibrated: openskill narrows
    sigma by a rule of thumb, and another order of the same games gives slightly other numbers. Use ratings to show who
    is probably stronger. To claim that an agent wins more, use win rates of paired games.
    """

    name: str
    mu: float = START_MU
    sigma: float = START_SIGMA
    games: int = 0

    @property
    def low(self) -> float:
        return self.mu - Z * self.sigma

    @property
    def high(self) -> float:
        return self.mu + Z * self.sigma


class Ratings:
    """Rates players game by game. The same games in the same order give the same ratings.

    A player is known from its first game on. A player in several seats of a game gets the sum of the seats' changes of
    mu (what the seats win from each other cancels) and the largest of their sigmas.

    Arguments:
        fixed: players whose rating never changes, by name with their mu. They anchor the scale. Without any, the mean
            of all players stays about the same.
        drifting: players whose strength changes between games. Their sigma never becomes so small that they stop
            moving.
    """

    @checked
    def __init__(self, fixed: dict[str, float] | None = None, drifting: Iterable[str] = ()) -> None:
        self._model = PlackettLuce(tau=0.0)
        self._drifting = frozenset(drifting)
        self._fixed = {name: Rating(name, float(mu), _FIXED_SIGMA) for name, mu in (fixed or {}).items()}
        self._ratings: dict[str, Rating] = dict(self._fixed)

    def __getitem__(self, name: str) -> Rating:
        """A player's rating; the starting one if it has not played."""
        return self._ratings.get(name, Rating(name))

    def __contains__(self, name: object) -> bool:
        return name in self._ratings

    def __iter__(self) -> Iterator[Rating]:
        return iter(self.table())

    def table(self) -> list[Rating]:
        """All known players by descending mu, then by name."""
        return sorted(self._ratings.values(), key=lambda rating: (-rating.mu, rating.name))

    def start(self, name: str, like: Rating) -> None:
        """Add a player with the rating of another, such as a copy of it. The new player has no games of its own."""
        if name in self._ratings:
            raise ConfigError(f"player {name!r} has been rated already")
        self._ratings[name] = Rating(name, like.mu, like.sigma)

    def forget(self, name: str) -> None:
        """Drop a player that no longer plays. No other rating changes."""
        self._ratings.pop(name, None)

    def add(self, players: Sequence[str], places: Sequence[int]) -> None:
        """Rate one finished game of two or more seats.

        Arguments:
            players: names by seat; a name may occur several times.
            places: each seat's place; lower is better, equal places are ties.

        Raises ConfigError for fewer than two seats or lists of different lengths.
        """
        if len(players) < 2 or len(players) != len(places):
            raise ConfigError(
                f"a game of {len(players)} players with {len(places)} places: must be two or more, with a place each"
            )
        before = {name: self[name] for name in dict.fromkeys(players)}
        if len(before) == 1:  # says nothing about its strength
            (only,) = before.values()
            self._keep(replace(only, games=only.games + 1))
            return
        seats = [[self._model.rating(before[name].mu, self._sigma(before[name]))] for name in players]
        after = self._model.rate(seats, ranks=[float(place) for place in places])
        for name, old in before.items():
            own = [team[0] for seat, team in zip(players, after, strict=True) if seat == name]
            mu = old.mu + sum(rating.mu - old.mu for rating in own)
            self._keep(Rating(name, mu, max(rating.sigma for rating in own), old.games + 1))

    def _sigma(self, rating: Rating) -> float:
        return math.hypot(rating.sigma, DRIFT) if rating.name in self._drifting else rating.sigma

    def _keep(self, rating: Rating) -> None:
        fixed = self._fixed.get(rating.name)
        self._ratings[rating.name] = rating if fixed is None else replace(fixed, games=rating.games)

    def get_state(self) -> list[dict[str, Any]]:
        """All ratings as JSON holds them exactly, for `set_state`."""
        return [asdict(rating) for rating in self._ratings.values()]

    def set_state(self, state: Sequence[dict[str, Any]]) -> None:
        """Restore a state from `get_state` of ratings with the same fixed and drifting players."""
        self._ratings = {one["name"]: Rating(**one) for one in state}


@checked
def rate_games(games: Iterable[Game], *, seed: int | None = None) -> Ratings:
    """Ratings of players that do not change, from all their games.

    The order has a small effect, so `seed` draws one; None keeps the given order.
    """
    if seed is not None:
        whole("seed", seed, 0)
    listed = list(games)
    ratings = Ratings()
    for game in range(len(listed)) if seed is None else generator(seed, Stream.AGENTS).permutation(len(listed)):
        ratings.add(*listed[int(game)])
    return ratings
