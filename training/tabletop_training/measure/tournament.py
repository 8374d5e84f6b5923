"""Tournaments: all agents against all others, with a cross table and ratings.

Every group of agents that fills a game plays the same seeds, each once for every rotation of the seats. In a game with
teams an agent has all seats of its team. All groups are in one batch, so an agent answers for all its games at once.
Every seed is complete: it is one observation of each pairing and of each agent's mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations, permutations
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from tabletop_agents import Agent
from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.names import agents_of
from tabletop_engine.play.scores import first_seats
from tabletop_engine.text.screen import Screen
from tabletop_engine.text.words import counted, shown
from tabletop_training.files import tables as files
from tabletop_training.files.job import Stopped
from tabletop_training.files.plots import plot_cross_table
from tabletop_training.files.provenance import provenance
from tabletop_training.files.settings import check_at_least_one
from tabletop_training.measure.bradley_terry import Misfit, elo_ratings
from tabletop_training.measure.evaluation import (
    EVALUATION_SEED,
    HERE,
    EvaluationStopped,
    Playing,
    Workers,
    number_of_teams,
    rotations,
    seeds_for,
)
from tabletop_training.measure.matches import AgentReport, make_agents, report_agents
from tabletop_training.measure.ratings import Game as Rated
from tabletop_training.measure.ratings import Rating, rate_games
from tabletop_training.measure.results import Estimate, Results, share_estimate
from tabletop_training.study.cells import Cell
from tabletop_training.study.play import begun, play_blocks
from tabletop_training.study.settings import arguments, job_of

GAMES = 200
"""Default number of games of each group of agents."""

_ORDERS = 10  # in which all games are rated: ratings depend on the order, which means nothing here


def lineups_of(agents: int, teams: int) -> np.ndarray:
    """The agents of all games of one seed by team: every group of as many as there are teams, in every rotation.

    (groups x teams, teams) int64, indices of agents.
    """
    groups = np.array(list(combinations(range(agents), teams)))
    return np.concatenate([group[rotations(teams)] for group in groups])


def _between_its_ends(rating: Rating) -> Estimate:
    return Estimate(rating.mu, rating.low, rating.high)


@dataclass(frozen=True)
class Standing:
    """One agent: its rating, with two teams its rating by Bradley and Terry, and the statistics of all its games."""

    rating: Rating
    report: AgentReport
    elo: Estimate | None = None

    def row(self) -> dict[str, Any]:
        """As a line of `standings.csv`."""
        own = {"agent": self.report.agent, "rating": _between_its_ends(self.rating), "rating_sigma": self.rating.sigma}
        elo = {} if self.elo is None else {"elo": self.elo}
        return files.flat({**own, **elo}) | self.report.row()


@dataclass(frozen=True)
class Tournament:
    """Finished games and their statistics. The agents are sorted by rating, the highest first.

    `scores[i][j]` is agent i's score against j: how often it finished ahead in the games that both played, where a tie
    counts one half. With two teams it is its share of the victories. The diagonal is None. `misfit` says how well
    `Standing.elo` explains them.
    """

    config: Config
    results: Results
    labels: tuple[str, ...]
    standings: tuple[Standing, ...]
    scores: tuple[tuple[Estimate | None, ...], ...]
    finished: bool  # False if it was stopped early
    misfit: Misfit | None = None

    @property
    def games(self) -> str:
        """The number of games, such as `1,200`."""
        return f"{len(self.results):,}"

    @property
    def seeds(self) -> int:
        """The number of seeds that each group of agents has played."""
        return len(np.unique(self.results.seeds))


def head_to_head(results: Results, first: int, second: int) -> np.ndarray:
    """How often the first agent (an index) finished ahead of the second one on each seed, (seeds,); a tie is a half."""
    places = results.by_agent(results.places)
    ahead = (places[:, second] - places[:, first])[:, None]
    by_seed = results.by_seed(np.where(np.isnan(ahead), np.nan, (np.sign(ahead) + 1) / 2))[:, 0]
    return np.asarray(by_seed[~np.isnan(by_seed)])


def rated_games(results: Results, labels: Sequence[str]) -> list[Rated]:
    """The games in the form that `rate_games` takes: a name and a place for each team."""
    first = first_seats(results.teams)
    return [
        ([labels[agent] for agent in lineup], places)
        for lineup, places in zip(results.lineups[:, first].tolist(), results.places[:, first].tolist(), strict=True)
    ]


def rate(games: Sequence[Rated], labels: Sequence[str], seed: int) -> dict[str, Rating]:
    """Each agent's rating: the mean over several random orders of the games, drawn from the seed."""
    rated = [rate_games(games, seed=seed + order) for order in range(_ORDERS)]
    ratings = {}
    for label in labels:
        own = [one[label] for one in rated]
        mu, sigma = (float(np.mean(values)) for values in ([r.mu for r in own], [r.sigma for r in own]))
        ratings[label] = Rating(label, mu, sigma, own[0].games)
    return ratings


def tournament_of(results: Results, labels: Sequence[str], seed: int, finished: bool = True) -> Tournament:
    """Ratings, cross table and means of all games."""
    ratings = rate(rated_games(results, labels), labels, seed)
    order = sorted(range(len(labels)), key=lambda index: -ratings[labels[index]].mu)
    reports = report_agents(results, labels)
    ahead = {pair: head_to_head(results, *pair) for pair in permutations(order, 2)}
    scores = tuple(
        tuple(None if first == second else share_estimate(ahead[first, second]) for second in order) for first in order
    )
    elo, misfit = dict[str, Estimate](), None
    if number_of_teams(results.config) == 2:
        elo, misfit = elo_ratings(
            {(labels[one], labels[other]): ahead[one, other] for one, other in combinations(order, 2)}
        )
    standings = tuple(Standing(ratings[labels[index]], reports[index], elo.get(labels[index])) for index in order)
    ranked = tuple(labels[index] for index in order)
    return Tournament(results.config, results, ranked, standings, scores, finished, misfit)


@checked
def play_tournament(
    agents: Sequence[Agent | str],
    config: Config,
    games: int = GAMES,
    seed: int = EVALUATION_SEED,
    *,
    workers: Workers | int = HERE,
    **playing: Unpack[Playing],
) -> Tournament:
    """All groups of as many agents as there are teams play `games` games each, rounded up to whole seeds.

    Without teams there is one agent for each player.

    The agents, objects or names for `tabletop_agents.make_agent`, have different names. `seed` is that of the first
    game, and of the orders in which games are rated. `workers` play the blocks, as in `tabletop_training.measure`.

    Raises EvaluationStopped if it is stopped before the end of the first block, ConfigError for bad arguments.
    """
    players = agents_of(agents, config)
    cell, results = _games_of(players, _labels(players, config, games), config, games, seed), None
    with suppress(EvaluationStopped):
        for one in play_blocks([cell], None, workers, **playing):
            results = one.results
    if results is None:
        raise EvaluationStopped
    return tournament_of(results, _labels(players, config, games), seed, len(results) == cell.games)


def _games_of(agents: Sequence[Agent], labels: Sequence[str], config: Config, games: int, seed: int) -> Cell:
    """The games of a tournament."""
    teams = number_of_teams(config)
    lineups = lineups_of(len(agents), teams)[:, list(config.game.teams(config))]
    number = seeds_for(games, teams) * len(lineups)
    return Cell(" ".join(labels), agents, config, number, seed, lineups=lineups, growing=True)


def _labels(agents: Sequence[Agent], config: Config, games: int) -> tuple[str, ...]:
    labels, teams = tuple(agent.name for agent in agents), number_of_teams(config)
    if teams == 1:
        solo = " --solo" * (config.players == 1 and config.game.players[-1] > 1)
        compares = f"`{config.game.command} evaluate{solo}` compares"
        several = (
            "two or more players" if config.players == 1 else "agents against each other, and here all play together"
        )
        raise ConfigError(f"players={config.players}: a tournament is of {several}; {compares}")
    if len(agents) < teams:
        number, of = counted(len(agents), "agent"), "players" if teams == config.players else "teams"
        raise ConfigError(f"{number} for games of {teams} {of}: there must be at least {teams}")
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise ConfigError(f"agents: {', '.join(twice)} more than once; the agents of a tournament must be different")
    check_at_least_one(games=games)
    return labels


@checked
def main(
    names: Sequence[str],
    config: Config,
    *,
    games: int = GAMES,
    seed: int = EVALUATION_SEED,
    replays: files.ReplayFiles | None = None,
    workers: Workers | int = HERE,
    output: str | Path = "runs/tournament",
    resumed: bool = False,
    on_result: files.OnResult = files.ignore,
) -> Path:
    """Run `play_tournament` with agents by name and print the tables; returns the folder with the results.

    With `resumed` the games of the folder `output` are gone on with. All else is as in `tabletop_training.measure`.
    """
    replays = replays or files.ReplayFiles(None)
    with Screen().status("loading the agents"):
        agents = make_agents(names, config)
        labels = _labels(agents, config, games)
    cell = _games_of(agents, labels, config, games, seed)
    asked = {"names": names, "config": asdict(config), "games": games, "seed": seed}
    with job_of("tournament", config.game, output, asked, resumed=resumed, replays=replays) as (job, store):
        results, _ = begun(cell, store)
        with job.until_stopped():
            for one in play_blocks([cell], store, workers, job=job, **replays.recording):
                results = one.results
        if results is None:
            raise Stopped
        tournament = tournament_of(results, labels, seed, finished=len(results) == cell.games)
        files.write_games(job.folder / "games.csv", [(results, labels)])
        if results.actions is not None:  # games of the store have none
            replays.add(results, labels)
        content = write(job.folder, tournament, seed)
        for table in tables_of(tournament):
            job.console.print(table.screen())
        on_result(content)
    return job.folder


def resume(folder: str | Path, game: Game, trusted: Sequence[str] = (), **how: Any) -> Path:
    """Go on with the tournament of a folder, as `tabletop_training.measure.matches.resume` does."""
    names = ("names", "config", "games", "seed")
    asked = arguments(folder, "tournament", game, *names, trusted=trusted, agents={"names": "the agents "})
    return main(**asked, output=folder, resumed=True, **how)


def write(folder: Path, tournament: Tournament, seed: int) -> dict[str, Any]:
    """Write `tournament.json`, whose content it returns, `standings.csv`, `cross_table.csv` and `cross_table.png`."""
    scores = [
        files.flat({"agent": first, "against": second, "score": score})
        for first, scores in zip(tournament.labels, tournament.scores, strict=True)
        for second, score in zip(tournament.labels, scores, strict=True)
        if score is not None
    ]
    ratings = [standing.rating for standing in tournament.standings]
    standings = [
        {
            **asdict(standing.report),
            "rating": {"mu": standing.rating.mu, "sigma": standing.rating.sigma},
            **({} if standing.elo is None else {"elo": standing.elo}),
        }
        for standing in tournament.standings
    ]
    content: dict[str, Any] = files.plain(
        {
            **provenance(tournament.config, seed, tournament.labels),
            "seeds": tournament.seeds,
            "games": len(tournament.results),
            "finished": tournament.finished,
            "standings": standings,
            "scores": scores,
            **({} if tournament.misfit is None else {"elo_misfit": asdict(tournament.misfit)}),
        }
    )
    files.write_rows(folder / "standings.csv", [standing.row() for standing in tournament.standings])
    files.write_rows(folder / "cross_table.csv", scores)
    files.write_json(folder / "tournament.json", content)
    meaning = (
        "of the victories" if number_of_teams(tournament.config) == 2 else "of the games in which it finished ahead"
    )
    title = (
        f"Row against column: per cent {meaning}, with 95 % intervals\n"
        f"{tournament.config.name}, {tournament.games} games of {counted(tournament.seeds, 'seed')}, seats rotated"
    )
    plot_cross_table(folder / "cross_table.png", tournament.scores, ratings, title)
    return content


def tables_of(tournament: Tournament) -> tuple[files.Table, files.Table]:
    """The standings, and the cross table."""
    teams, seeds = number_of_teams(tournament.config), counted(tournament.seeds, "seed")
    numbered = files.Column("", "number", words=True)
    standings = [
        {"number": number, **one.row(), "rating": _between_its_ends(one.rating), "elo": one.elo, **one.report.estimates}
        for number, one in enumerate(tournament.standings, 1)
    ]
    rating = files.Column("rating", "rating", partial(files.format_estimate, interval="±"))
    speed = files.Column("decisions/s", "decisions_per_second", "{:,.0f}".format)
    title = f"{tournament.config.name}: {tournament.games} games, {seeds}, 95 % intervals"
    caption = f"Even is a win rate of {100 / teams:.0f} %."
    columns = [numbered, files.AGENT, rating, files.WIN_RATE, files.MARGIN, speed]
    if tournament.misfit is not None:
        write = partial(files.format_estimate, form=".0f")
        elo = (f"{shown(one.report.agent)} {write(one.elo)}" for one in tournament.standings if one.elo is not None)
        caption += f"\nElo by Bradley and Terry: {', '.join(elo)}."
        caption += f"\n{tournament.misfit.text}"
    numbers = [str(number) for number in range(1, len(tournament.labels) + 1)]
    scores = [
        {"number": number, "agent": label, **dict(zip(numbers, own, strict=True))}
        for number, label, own in zip(numbers, tournament.labels, tournament.scores, strict=True)
    ]

    def bold(opponent: str, row: Mapping[str, Any]) -> str:
        return "bold" if row[opponent] is not None and row[opponent].excludes(0.5) else ""

    write = partial(files.format_estimate, factor=100, form=".0f")
    cross = [files.Column(number, number, write, style=partial(bold, number)) for number in numbers]
    meaning = "" if teams == 2 else ": games in which it finished ahead"
    return files.Table(columns, standings, title, caption), files.Table(
        [numbered, files.AGENT, *cross],
        scores,
        f"Score of the row against the column in per cent{meaning}",
        "Bold: the interval of that pairing leaves out 50.",
        blank="–",
    )
