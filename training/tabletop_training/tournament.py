"""Tournaments: all against all, a cross table, and ratings.

Every group of as many agents as a game has players plays the same seeds, each once for every rotation of the seats.
All groups are in one batch, so that an agent answers for all its games at once, and every seed is complete: it is
one observation of each pairing and of each agent's mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text
from tabletop_agents import Agent

from tabletop.errors import ConfigError
from tabletop.game import Config
from tabletop.words import counted
from tabletop_training.evaluation import (
    EVALUATION_SEED,
    Estimate,
    EvaluationStopped,
    Playing,
    Results,
    concatenate,
    names_of,
    play_lineups,
    share_estimate,
)
from tabletop_training.evaluation_files import (
    GamesFile,
    ReplayFiles,
    between,
    flat,
    percent,
    plus_minus,
    provenance,
    write_json,
    write_rows,
)
from tabletop_training.job import Job
from tabletop_training.matches import AgentReport, block_seeds, make_agents, report_agents, rotations, seeds_for
from tabletop_training.plots import plot_cross_table
from tabletop_training.ratings import Game, Rating, rate_games

GAMES = 200
"""Default number of games of each group of agents."""

_ORDERS = 10  # in which all games are rated: ratings depend on the order, which means nothing here


def lineups_of(agents: int, players: int) -> np.ndarray:
    """Who sits where in all games of one seed: every group of `players` of the agents, in every rotation.

    (groups x players, players) int64, indices of agents.
    """
    groups = np.array(list(combinations(range(agents), players)))
    return np.concatenate([group[rotations(players)] for group in groups])


@dataclass(frozen=True)
class Standing:
    """One agent: its rating, and what all its games say."""

    rating: Rating
    report: AgentReport

    def row(self) -> dict[str, Any]:
        """As a line of `standings.csv`."""
        rating = {"rating": self.rating.mu, "rating_low": self.rating.low, "rating_high": self.rating.high}
        row = self.report.row()
        return {"agent": row.pop("agent"), **rating, "rating_sigma": self.rating.sigma, **row}


@dataclass(frozen=True)
class Tournament:
    """Finished games with what they say.

    Attributes:
        labels: of the agents, the highest rating first, as in all that follows.
        standings: one for each agent.
        scores: `scores[i][j]` is agent i's score against j: how often it finished ahead in the games that both
            played, a tie as one half; with two players its part of the victories. None on the diagonal.
        finished: False if it was stopped early.
    """

    config: Config
    results: Results
    labels: tuple[str, ...]
    standings: tuple[Standing, ...]
    scores: tuple[tuple[Estimate | None, ...], ...]
    finished: bool


def head_to_head(results: Results, first: int, second: int) -> Estimate:
    """How often the first agent (an index) finished ahead of the second one, a tie as one half; seeds are the unit."""
    places = results.by_agent(results.places)
    ahead = (places[:, second] - places[:, first])[:, None]
    by_seed = results.by_seed(np.where(np.isnan(ahead), np.nan, (np.sign(ahead) + 1) / 2))[:, 0]
    return share_estimate(by_seed[~np.isnan(by_seed)])


def rated_games(results: Results, labels: Sequence[str]) -> list[Game]:
    """The games as `rate_games` takes them."""
    return [
        ([labels[agent] for agent in lineup], places)
        for lineup, places in zip(results.lineups.tolist(), results.places.tolist(), strict=True)
    ]


def rate(games: Sequence[Game], labels: Sequence[str], seed: int) -> dict[str, Rating]:
    """Each agent's rating: the mean over several orders of the games, which the seed draws."""
    rated = [rate_games(games, seed=seed + order) for order in range(_ORDERS)]
    ratings = {}
    for label in labels:
        own = [one[label] for one in rated]
        mu, sigma = (float(np.mean(values)) for values in ([r.mu for r in own], [r.sigma for r in own]))
        ratings[label] = Rating(label, mu, sigma, own[0].games)
    return ratings


def assess(results: Results, labels: Sequence[str], seed: int, finished: bool = True) -> Tournament:
    """Ratings (means over several orders of the games, drawn from the seed), cross table and means of all games."""
    ratings = rate(rated_games(results, labels), labels, seed)
    order = sorted(range(len(labels)), key=lambda index: -ratings[labels[index]].mu)
    reports = report_agents(results, labels)
    scores = tuple(
        tuple(None if first == second else head_to_head(results, first, second) for second in order) for first in order
    )
    return Tournament(
        results.config,
        results,
        tuple(labels[index] for index in order),
        tuple(Standing(ratings[labels[index]], reports[index]) for index in order),
        scores,
        finished,
    )


def play_tournament(
    agents: Sequence[Agent],
    config: Config,
    games: int = GAMES,
    seed: int = EVALUATION_SEED,
    *,
    on_block: Callable[[Results], None] | None = None,
    **playing: Unpack[Playing],
) -> Tournament:
    """All groups of `config.players` agents play `games` games each, rounded up to whole seeds.

    Arguments:
        agents: at least as many as a game has players, all with different names.
        seed: of the first game, and of the orders in which games are rated.
        on_block: told the results of the games just played.
        playing: as in `Playing`.

    Raises EvaluationStopped if it is stopped before the first block is done, ConfigError for bad arguments.
    """
    labels = _labels(agents, config, games)
    seeds_left = seeds_for(games, config.players)
    lineups = lineups_of(len(agents), config.players)
    results: Results | None = None
    start, finished = seed, True
    while seeds_left and finished:
        number = min(seeds_left, block_seeds(start - seed, len(lineups)))
        try:
            seeds = np.repeat(np.arange(start, start + number), len(lineups))
            block = play_lineups(agents, config, seeds, np.tile(lineups, (number, 1)), **playing)
        except EvaluationStopped:
            if results is None:
                raise
            finished = False
            break
        results = block if results is None else concatenate([results, block])
        start, seeds_left = start + number, seeds_left - number
        if on_block is not None:
            on_block(block)
    assert results is not None
    return assess(results, labels, seed, finished)


def _labels(agents: Sequence[Agent], config: Config, games: int) -> tuple[str, ...]:
    labels = names_of(agents)
    if config.players == 1:
        compares = f"`{config.game.name} evaluate --solo` compares"
        raise ConfigError(f"players=1: a tournament is of two or more players; {compares}")
    if len(agents) < config.players:
        number = counted(len(agents), "agent")
        raise ConfigError(f"{number} for games of {config.players} players: at least {config.players}")
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise ConfigError(f"agents: {', '.join(twice)} more than once; a tournament is of different agents")
    if games < 1:
        raise ConfigError(f"games={games}: at least 1")
    return labels


# --- The command -----------------------------------------------------------------------------------------------------


def main(
    names: Sequence[str],
    config: Config,
    *,
    games: int = GAMES,
    seed: int = EVALUATION_SEED,
    replays: ReplayFiles | None = None,
    output: str | Path = "runs/tournament",
) -> Path:
    """Play, print the tables, and return the folder with `tournament.json`, `standings.csv`, `cross_table.png` …

    Arguments:
        names: of the agents, as `make_agent` knows them.
        games: of each group of as many agents as a game has players.
        replays: where the games are kept; None: nowhere.

    Ctrl-C keeps the blocks that are done. Raises ConfigError, CheckpointError and TabletopError.
    """
    replays = replays or ReplayFiles(None)
    with Console().status("loading the agents"):
        agents = make_agents(names, config)
        labels = _labels(agents, config, games)
    total = seeds_for(games, config.players) * len(lineups_of(len(agents), config.players))
    with Job(output, closing=replays.tell) as job:
        replays.open(job.folder)
        file = GamesFile(job.folder / "games.csv")
        with job.bar("tournament", total, f"{total:,} games") as bar:

            def keep(block: Results) -> None:
                file.add(block, labels)
                replays.add(block, labels)

            tournament = play_tournament(
                agents,
                config,
                games,
                seed,
                on_block=keep,
                should_stop=job.should_stop,
                on_finished=bar.advance,
                **replays.recording,
            )
        write(job.folder, tournament, seed)
        _print(job.console, tournament)
    return job.folder


def write(folder: Path, tournament: Tournament, seed: int) -> None:
    """`tournament.json`, `standings.csv`, `cross_table.csv` and `cross_table.png`."""
    write_rows(folder / "standings.csv", [standing.row() for standing in tournament.standings])
    cells = [
        {"agent": first, "against": second, **flat(score=score)}
        for first, scores in zip(tournament.labels, tournament.scores, strict=True)
        for second, score in zip(tournament.labels, scores, strict=True)
        if score is not None
    ]
    write_rows(folder / "cross_table.csv", cells)
    write_json(
        folder / "tournament.json",
        {
            **provenance(tournament.config, seed, tournament.labels),
            "seeds": len(np.unique(tournament.results.seeds)),
            "games": len(tournament.results),
            "finished": tournament.finished,
            "standings": [
                {**standing.report.as_json(), "rating": {"mu": standing.rating.mu, "sigma": standing.rating.sigma}}
                for standing in tournament.standings
            ],
            "scores": cells,
        },
    )
    meaning = "of the victories" if tournament.config.players == 2 else "of the games in which it finished ahead"
    plot_cross_table(
        folder / "cross_table.png",
        tournament.labels,
        tournament.scores,
        [standing.rating for standing in tournament.standings],
        f"Row against column: per cent {meaning}, with 95 % intervals\n{_games(tournament)}, seats rotated",
    )


def _games(tournament: Tournament) -> str:
    seeds = len(np.unique(tournament.results.seeds))
    return f"{tournament.config.name}, {len(tournament.results):,} games of {counted(seeds, 'seed')}"


def _print(console: Console, tournament: Tournament) -> None:
    seeds = len(np.unique(tournament.results.seeds))
    table = Table(
        title=f"{tournament.config.name}: {len(tournament.results):,} games, {counted(seeds, 'seed')}, 95 % intervals",
        title_justify="left",
        caption=f"Even is a win rate of {100 / tournament.config.players:.0f} %.",
        caption_justify="left",
    )
    table.add_column("")
    table.add_column("agent", overflow="fold")
    for name in ("rating", "win rate", "margin", "decisions/s"):
        table.add_column(name, justify="right", no_wrap=True)
    for number, standing in enumerate(tournament.standings, 1):
        estimates = standing.report.estimates
        speed = standing.report.decisions_per_second
        table.add_row(
            str(number),
            Text(standing.report.agent),
            f"{standing.rating.mu:.1f} ± {(standing.rating.high - standing.rating.low) / 2:.1f}",
            percent(estimates["win_rate"]),
            plus_minus(estimates["margin"], signed=True),
            "" if speed is None else f"{speed:,.0f}",
        )
    console.print(table)
    cross = Table(
        title="Score of the row against the column in per cent" + _meaning(tournament.config),
        title_justify="left",
        caption="Bold: the interval of that pairing leaves out 50.",
        caption_justify="left",
    )
    cross.add_column("")
    cross.add_column("agent", overflow="fold")
    for number in range(1, len(tournament.labels) + 1):
        cross.add_column(str(number), justify="right", no_wrap=True)
    for number, (label, scores) in enumerate(zip(tournament.labels, tournament.scores, strict=True), 1):
        cross.add_row(str(number), Text(label), *(_cell(score) for score in scores))
    console.print(cross)
    if not tournament.finished:
        console.print("Stopped early; the tables are of the seeds that were done.")


def _meaning(config: Config) -> str:
    return "" if config.players == 2 else ": games in which it finished ahead"


def _cell(score: Estimate | None) -> Text:
    if score is None:
        return Text("–")
    in_per_cent = Estimate(*(100 * end for end in score))
    return Text(between(in_per_cent, digits=0), "bold" if is_decided(score) else "")


def is_decided(score: Estimate) -> bool:
    """Whether a score's interval leaves out one half."""
    return score.low > 0.5 or score.high < 0.5
