"""Playing many games at once, and results that carry their uncertainty, their seeds and their version."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import stats

import petrichor_env
from agents.base import Agent, Decisions
from petrichor_env.batch import Batch
from petrichor_env.config import VARIANTS, Config
from petrichor_env.errors import ConfigError
from petrichor_env.state import STATE_VERSION

ALL_VARIANTS: tuple[tuple[str, ...], ...] = tuple(
    chosen for number in range(len(VARIANTS) + 1) for chosen in combinations(VARIANTS, number)
)
"""The 16 combinations of the difficulty variants, the base game first, then by how many there are."""

CONFIDENCE = 0.95
MAX_GAMES_AT_ONCE = 1024


class EvaluationStopped(Exception):
    """`should_stop` said so. Nothing of the unfinished games is kept: short games would be over-represented."""


@dataclass(frozen=True)
class Results:
    """Finished games of one configuration; game i had seed `seed + i`.

    Attributes:
        agents: names by seat.
        points: (games, owners) int64, final points; in solo column 1 is the neutral player.
        won: (games, players) bool; several where a victory is shared.
        lengths: (games,) int64, decisions taken.
    """

    config: Config
    agents: tuple[str, ...]
    seed: int
    points: np.ndarray
    won: np.ndarray
    lengths: np.ndarray

    @property
    def margins(self) -> np.ndarray:
        """(games,) float64: seat 0's points less the mean of the others'."""
        return np.asarray(self.points[:, 0] - self.points[:, 1:].mean(axis=1), np.float64)


def play_games(
    agents: Sequence[Agent],
    config: Config,
    games: int,
    seed: int,
    *,
    should_stop: Callable[[], bool] | None = None,
    on_finished: Callable[[int], None] | None = None,
) -> Results:
    """Play `games` games, one agent a seat.

    Game i starts from seed + i whoever plays, so that results of different agents are paired. The same arguments
    give the same results. `on_finished` is told how many games have just ended. Raises EvaluationStopped, and
    ConfigError for a number of agents that is not the number of players.
    """
    if len(agents) != config.players:
        raise ConfigError(f"{len(agents)} agents for {config.players} players: one a seat")
    if games < 1:
        raise ConfigError(f"games={games}: at least 1")
    parts = [
        _play_at_once(agents, config, min(MAX_GAMES_AT_ONCE, games - start), seed + start, should_stop, on_finished)
        for start in range(0, games, MAX_GAMES_AT_ONCE)
    ]
    points, won, lengths = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Results(config, tuple(agent.name for agent in agents), seed, points, won, lengths)


def _play_at_once(
    agents: Sequence[Agent],
    config: Config,
    games: int,
    seed: int,
    should_stop: Callable[[], bool] | None,
    on_finished: Callable[[int], None] | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    batch = Batch(config, games, seed, autoreset="same_step", illegal_action="raise", reward="win")
    generators = [np.random.default_rng([seed, seat]) for seat in range(len(agents))]
    points = np.zeros((games, config.owners), np.int64)
    won = np.zeros((games, config.players), bool)
    lengths = np.zeros(games, np.int64)
    playing = np.ones(games, bool)
    while playing.any():
        if should_stop is not None and should_stop():
            raise EvaluationStopped
        # games that are over have begun anew and go on at random, unwatched
        actions = batch.random_actions()
        for seat, agent in enumerate(agents):
            asked = np.flatnonzero(playing & (batch.actors == seat))
            if len(asked):
                actions[asked] = agent.act(Decisions.of(batch, asked), generators[seat])
        batch.step(actions)
        lengths[playing] += 1
        ended = playing & batch.terminations
        if ended.any():
            points[ended] = batch.final_states["points"][ended, : config.owners]
            # only losers' rewards are negative: a victory shared by all gives 0
            won[ended] = batch.rewards[ended] >= 0
            playing &= ~ended
            if on_finished is not None:
                on_finished(int(ended.sum()))
    return points, won, lengths


# --- Summaries -------------------------------------------------------------------------------------------------------


def wilson_interval(wins: int, games: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a win rate. Raises ValueError unless 0 <= wins <= games and games >= 1."""
    if games < 1 or not 0 <= wins <= games:
        raise ValueError(f"{wins} wins of {games} games: 0 to games, of at least 1 game")
    interval = stats.binomtest(wins, games).proportion_ci(CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)


def mean_interval(values: np.ndarray) -> tuple[float, float]:
    """The 95 % Student interval of a mean; a single value or equal values give an interval without width."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, mean
    half = float(stats.sem(values) * stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1))
    return mean - half, mean + half


@dataclass(frozen=True)
class Summary:
    """One agent against the Southern Winds with one set of variants and modules: a row of `difficulty.csv`."""

    variants: str
    modules: str
    agent: str
    games: int
    seed: int
    wins: int
    win_rate: float
    win_rate_low: float
    win_rate_high: float
    margin: float
    margin_low: float
    margin_high: float
    points: float
    neutral_points: float
    decisions: float
    package_version: str
    state_version: int

    @property
    def variant_names(self) -> tuple[str, ...]:
        return tuple(self.variants.split("+")) if self.variants != "base" else ()


def summarize(results: Results) -> Summary:
    """Win rate, margin, scores and length of solo games, with 95 % intervals."""
    games = len(results.lengths)
    wins = int(results.won[:, 0].sum())
    win_rate_low, win_rate_high = wilson_interval(wins, games)
    margin_low, margin_high = mean_interval(results.margins)
    added, number = results.config.name.split("+")[1:], len(results.config.variants)
    return Summary(
        variants="+".join(added[:number]) or "base",
        modules="+".join(added[number:]),
        agent=results.agents[0],
        games=games,
        seed=results.seed,
        wins=wins,
        win_rate=wins / games,
        win_rate_low=win_rate_low,
        win_rate_high=win_rate_high,
        margin=float(results.margins.mean()),
        margin_low=margin_low,
        margin_high=margin_high,
        points=float(results.points[:, 0].mean()),
        neutral_points=float(results.points[:, 1].mean()),
        decisions=float(results.lengths.mean()),
        package_version=petrichor_env.__version__,
        state_version=STATE_VERSION,
    )


def write_csv(path: Path, summaries: Iterable[Summary]) -> None:
    """One line a summary, numbers to four decimals."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Summary)])
        writer.writeheader()
        for summary in summaries:
            row = asdict(summary)
            writer.writerow({key: f"{v:.4f}" if isinstance(v, float) else v for key, v in row.items()})
