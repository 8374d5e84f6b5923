"""Evaluation of agents: against each other in every seat, or each alone in a game for one.

The unit of all statistics is the seed, because games of the same seed start alike. A match plays every seed once for
each rotation of the seats, and the mean of these games is one observation. In a game for one, all agents play the same
seeds and are compared seed by seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from rich.console import Console

from tabletop_agents import Agent, make_agent
from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.agents import USAGE
from tabletop_engine.play.names import agents_of
from tabletop_engine.play.scores import others_points
from tabletop_engine.play.tables import Editions
from tabletop_engine.text.screen import Screen
from tabletop_engine.text.words import counted, either, shown
from tabletop_training.files import tables as files
from tabletop_training.files.job import Stopped
from tabletop_training.files.provenance import provenance
from tabletop_training.files.settings import check_at_least_one
from tabletop_training.files.tables import format_estimate
from tabletop_training.measure.evaluation import (
    EVALUATION_SEED,
    HERE,
    EvaluationStopped,
    Playing,
    Seeds,
    Workers,
    get_ready,
    number_of_teams,
    play_rounds,
    seating,
)
from tabletop_training.measure.results import (
    Estimate,
    Results,
    difference_estimate,
    mean_estimate,
    share_estimate,
)
from tabletop_training.study.cells import Cell
from tabletop_training.study.play import Played, begun, play_blocks
from tabletop_training.study.settings import arguments, job_of

FIRST_LOOK = 64
"""Seeds played before `until_width` may stop."""
GAMES = 1000
MOST_GAMES = 20_000
"""Default numbers of games, without and with `until_width`."""

# --- Playing ---------------------------------------------------------------------------------------------------------


@checked
def play_match(
    agents: Sequence[Agent | str],
    config: Config,
    seeds: Seeds,
    editions: Editions | None = None,
    **playing: Unpack[Playing],
) -> Results:
    """`play_rounds` with the line-ups of `seating`. Raises what it raises."""
    return play_rounds(agents, config, seeds, seating(config, len(agents)), editions, **playing)


def labels_of(names: Sequence[str]) -> tuple[str, ...]:
    """The names, numbered if one occurs more than once: `greedy`, `greedy #2`."""
    return tuple(
        name if (before := list(names[:i]).count(name)) == 0 else f"{name} #{before + 1}"
        for i, name in enumerate(names)
    )


def make_agents(names: Sequence[str], config: Config) -> list[Agent]:
    """The agents of these names, ready to play.

    Raises ConfigError and CheckpointError like `make_agent`, and ConfigError for an agent that cannot play this.
    """
    agents = [make_agent(name, config.game) for name in names]
    get_ready(agents, config)
    return agents


# --- What the games say ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AgentReport:
    """One agent's games.

    Attributes:
        estimates: `win_rate` (a victory shared by k teams counts 1/k), `margin`, `points`, `decisions` (the agent's
            own in a game) and `length` (all decisions of a game). With several teams also `place` and `advantage`, the
            win rate less an even share. If the rules play an opponent, `others_points` are its points. For agents
            that ask language models, `invalid` is the share of games that they lost by giving no legal answer.
        usage: what such an agent used in a game, by `tabletop_engine.play.agents.USAGE`; None for other agents.
    """

    agent: str
    games: int
    seeds: int
    estimates: dict[str, Estimate]
    decisions_per_second: float | None
    usage: dict[str, float] | None = None

    def row(self) -> dict[str, Any]:
        """As a line of a CSV file."""
        columns = {"agent": self.agent, "games": self.games, "seeds": self.seeds, **self.estimates}
        return files.flat({**columns, "decisions_per_second": self.decisions_per_second, **(self.usage or {})})


@dataclass(frozen=True)
class Comparison:
    """The difference between the first and the second agent, paired by seed."""

    first: str
    second: str
    win_rate: Estimate
    margin: Estimate


@dataclass(frozen=True)
class Evaluation:
    """Finished games and their statistics."""

    config: Config
    results: tuple[
        Results, ...
    ]  # one for all agents together; where all seats are one team, one each, of the same seeds
    reports: tuple[AgentReport, ...]
    comparisons: tuple[Comparison, ...]  # of every two agents
    seats: tuple[Estimate, ...]  # win rate of each seat, whoever sits there, if there are several
    stopped: str  # what ended it: "games", "width" or "interrupted"

    @property
    def width(self) -> float:
        """The width of the widest interval of all win rates."""
        return max(report.estimates["win_rate"].width for report in self.reports)


def report_agents(results: Results, labels: Sequence[str]) -> tuple[AgentReport, ...]:
    """A report for each agent."""
    players, number = results.config.players, number_of_teams(results.config)
    by_seat = {
        "win_rate": results.win_shares,
        "margin": results.margins_by_seat,
        "place": results.places,
        "points": results.points[:, results.teams],
        "others_points": others_points(results.points)[:, results.teams],
        "decisions": results.decisions,
        "length": np.repeat(results.lengths[:, None], players, 1),
        "invalid": results.invalid,
    }
    if number == 1:
        del by_seat["place"]
    if results.config.owners == number:  # the rules play nobody
        del by_seat["others_points"]
    by_seed = {
        name: results.by_seed(results.by_agent(values, add=name == "decisions")) for name, values in by_seat.items()
    }
    plays = ~np.isnan(results.by_agent(results.won))
    decisions = np.nansum(results.by_agent(results.decisions, add=True), axis=0)
    reports = []
    for index, label in enumerate(labels):
        own = {name: values[~np.isnan(values[:, index]), index] for name, values in by_seed.items()}
        estimates = {name: mean_estimate(values) for name, values in own.items()}
        estimates["win_rate"] = share_estimate(own["win_rate"])
        usage = None
        if len(results.usage) and results.usage[index].any():
            usage = dict(zip(USAGE, (results.usage[index] / plays[:, index].sum()).tolist(), strict=True))
            estimates["invalid"] = share_estimate(own["invalid"])
        else:
            del estimates["invalid"]
        if number > 1:
            # places as numbers from 0 to 1 have an interval even if an agent was always first
            last = results.config.owners
            share = share_estimate((own["place"] - 1) / (last - 1))
            estimates["place"] = Estimate(*(1 + (last - 1) * end for end in share))
            estimates["advantage"] = Estimate(*(end - 1 / number for end in estimates["win_rate"]))
        seconds = float(results.seconds[index]) if len(results.seconds) else 0.0
        speed = round(float(decisions[index]) / seconds, 1) if seconds > 0 else None
        reports.append(AgentReport(label, int(plays[:, index].sum()), len(own["margin"]), estimates, speed, usage))
    return tuple(reports)


def evaluation_of(results: Sequence[Results], labels: Sequence[str], stopped: str) -> Evaluation:
    """Compute all statistics of a match (one result), or of several agents' games for one (one result each)."""
    config = results[0].config
    wins: list[np.ndarray] = []
    margins: list[np.ndarray] = []
    reports: tuple[AgentReport, ...] = ()
    for one in results:
        reports += report_agents(one, labels[len(reports) : len(reports) + len(one.agents)])
        wins += list(one.by_seed(one.by_agent(one.win_shares)).T)
        margins += list(one.by_seed(one.by_agent(one.margins_by_seat)).T)
    seats = [share_estimate(values) for values in results[0].by_seed(results[0].win_shares).T]
    comparisons = tuple(
        Comparison(labels[i], labels[j], difference_estimate(wins[i] - wins[j]), mean_estimate(margins[i] - margins[j]))
        for i, j in combinations(range(len(labels)), 2)
    )
    return Evaluation(config, tuple(results), reports, comparisons, tuple(seats) if config.players > 1 else (), stopped)


@checked
def evaluate(
    agents: Sequence[Agent | str],
    config: Config,
    games: int = GAMES,
    seed: int = EVALUATION_SEED,
    *,
    until_width: float | None = None,
    on_block: Callable[[Sequence[Results], Evaluation], None] = lambda block, evaluation: None,
    workers: Workers | int = HERE,
    editions: Editions | None = None,
    **playing: Unpack[Playing],
) -> Evaluation:
    """Play a match, or every agent's own games on the same seeds where all seats are one team, block by block.

    Arguments:
        agents: objects, or names for `tabletop_agents.make_agent`. In a game with teams one for each team, which has
            all its seats, or one for each seat: then every two are partners equally often. Any number where all seats
            are one team.
        games: the most games of each agent. A match rounds up, so that every seed is played in all line-ups.
        seed: of the first game; the following seeds count up.
        until_width: stop as soon as no interval of a win rate is wider. This is checked after every block, from
            `FIRST_LOOK` seeds on. docs/evaluation.md says what this does to the coverage of the intervals.
        on_block: called with the results of a block and the evaluation of all games so far.
        workers: who plays the blocks, as in `tabletop_training.measure`.
        editions: as in `tabletop_training.measure.evaluation.play_lineups`.
        playing: see `Playing`. If it is stopped, the unfinished block is dropped.

    Raises EvaluationStopped if it is stopped before the first block is done, ConfigError for bad arguments.
    """
    check_numbers(games, until_width)
    cells, evaluation = match_cells(agents_of(agents, config), config, games, seed, editions), None
    try:
        with closing(play_blocks(cells, None, workers, in_turns=True, **playing)) as blocks:
            for block, evaluation in _evaluations(cells, {}, blocks, until_width):
                on_block([one.block for one in block], evaluation)
    except EvaluationStopped:
        if evaluation is None:
            raise
        evaluation = replace(evaluation, stopped="interrupted")
    assert evaluation is not None
    return evaluation


def match_cells(
    agents: Sequence[Agent], config: Config, games: int, seed: int, editions: Editions | None = None
) -> list[Cell]:
    """The games that `evaluate` plays: a match, or those of each agent by itself."""
    labels = labels_of([agent.name for agent in agents])
    if number_of_teams(config) > 1:
        return [Cell(" ".join(labels), agents, config, games, seed, editions, growing=True)]
    return [
        Cell(label, [agent], config, games, seed, editions, growing=True)
        for label, agent in zip(labels, agents, strict=True)
    ]


def _evaluations(
    cells: Sequence[Cell], kept: Mapping[Cell, Results], blocks: Iterable[Played], until_width: float | None
) -> Iterator[tuple[list[Played], Evaluation]]:
    """Evaluate what is kept, and then after each block of all cells; yields the blocks since then, too.

    It ends as soon as no interval is wider than `until_width`.
    """
    labels = labels_of([agent.name for cell in cells for agent in cell.agents])
    done, block = dict(kept), list[Played]()
    for one in chain([None], blocks):
        if one is not None:
            done[one.cell] = one.results
            block.append(one)
        if len(done) < len(cells) or len({len(results) for results in done.values()}) > 1:
            continue  # the other agents' games of the same seeds follow
        evaluation = evaluation_of([done[cell] for cell in cells], labels, "games")
        narrow = until_width is not None and evaluation.width <= until_width
        if narrow and evaluation.reports[0].seeds >= FIRST_LOOK:
            yield block, replace(evaluation, stopped="width")
            return
        yield block, evaluation
        block = []


def check_numbers(games: int, until_width: float | None) -> None:
    """Raise ConfigError for numbers that `evaluate` does not accept."""
    check_at_least_one(games=games)
    if until_width is not None and not 0 < until_width < 1:
        raise ConfigError(
            f"until_width={until_width}: must be between 0 and 1, such as 0.05 for five percentage points"
        )


def _content(evaluation: Evaluation, seed: int, until_width: float | None) -> dict[str, Any]:
    """What `evaluation.json` holds."""
    return {
        **provenance(evaluation.config, seed, [report.agent for report in evaluation.reports]),
        "seeds": evaluation.reports[0].seeds,
        "stopped_by": evaluation.stopped,
        "until_width": until_width,
        "reports": [asdict(report) for report in evaluation.reports],
        "differences": [asdict(one) for one in evaluation.comparisons],
        "win_rate_by_seat": evaluation.seats,
    }


@checked
def config_for(game: Game, agents: int, *, alone: bool = False, **switches: Any) -> Config:
    """The configuration for this number of agents, together or each alone. Raises ConfigError if nobody can play it.

    In a game with teams the agents are these or the players. Where all seats are one team, there may be any number.
    """
    if game.has_teams:
        usual = game.config(**switches)
        if number_of_teams(usual) == 1:
            return usual
        for players in (agents, usual.players, *game.players):
            if players in game.players and not alone:
                config: Config = game.config(players=players, **switches)
                if agents in (number_of_teams(config), players):
                    return config
    alone = alone or agents == 1 or game.players[-1] == 1
    if alone and 1 not in game.players:
        span = " to ".join(map(str, dict.fromkeys((game.players[0], game.players[-1]))))
        asked = "--solo" if agents > 1 else "1 agent"
        raise ConfigError(f"{asked}: {game.title} has no game for one; it is for {span} players")
    if not alone and agents > game.players[-1]:
        more = f"`{game.command} tournament` takes more" + (", --solo too" if 1 in game.players else "")
        raise ConfigError(f"{agents} agents: at most {game.players[-1]} play one game; {more}")
    if not alone and agents not in game.players:
        seats = either([number for number in game.players if number > 1])
        wanted = "name an agent for each, as in `greedy random random`"
        raise ConfigError(f"{agents} agents: {game.title} is for {seats} players; {wanted}")
    return game.config(players=1 if alone else agents, **switches)


@checked
def main(
    names: Sequence[str],
    config: Config,
    *,
    games: int | None = None,
    seed: int = EVALUATION_SEED,
    until_width: float | None = None,
    replays: files.ReplayFiles | None = None,
    workers: Workers | int = HERE,
    output: str | Path = "runs/evaluate",
    resumed: bool = False,
    on_result: files.OnResult = files.ignore,
) -> Path:
    """Run `evaluate` with agents by name and print the tables; returns the folder with `evaluation.json` and CSV files.

    `games` None means 1000, or at most 20 000 with `until_width`. With `resumed` the games of the folder `output` are
    gone on with. All else is as in `tabletop_training.measure`.
    """
    if not names:
        raise ConfigError("agents: name at least one")
    most = games if games is not None else GAMES if until_width is None else MOST_GAMES
    check_numbers(most, until_width)
    replays = replays or files.ReplayFiles(None)
    with Screen().status("loading the agents"):
        agents = make_agents(names, config)
    cells = match_cells(agents, config, most, seed)
    evaluation: Evaluation | None = None
    alone = number_of_teams(config) == 1
    labels = dict(zip(cells, [[cell.key] if alone else labels_of(names) for cell in cells], strict=True))
    asked = {"names": names, "config": asdict(config), "games": most, "seed": seed, "until_width": until_width}
    with job_of("evaluate", config.game, output, asked, resumed=resumed, replays=replays) as (job, store):
        kept = {cell: results for cell in cells if (results := begun(cell, store)[0]) is not None}

        def rate() -> str:
            first = evaluation and evaluation.reports[0]
            return f"{first.agent}: {files.WIN_RATE.write(first.estimates['win_rate'])}" if first else ""

        playing = play_blocks(cells, store, workers, in_turns=True, job=job, note=rate, **replays.recording)
        with job.until_stopped(), closing(playing):
            for _, so_far in _evaluations(cells, kept, playing, until_width):
                evaluation = so_far
        if evaluation is None:
            raise Stopped
        if job.stopped:
            evaluation = replace(evaluation, stopped="interrupted")
        own = [(results, labels[cell]) for cell, results in zip(cells, evaluation.results, strict=True)]
        files.write_games(job.folder / "games.csv", own)
        for results, seated in own:
            if results.actions is not None:  # games of the store have none
                replays.add(results, seated)
        files.write_rows(job.folder / "agents.csv", [report.row() for report in evaluation.reports])
        if evaluation.comparisons:
            files.write_rows(job.folder / "differences.csv", [asdict(one) for one in evaluation.comparisons])
        content = files.plain(_content(evaluation, seed, until_width))
        files.write_json(job.folder / "evaluation.json", content)
        _print(job.console, evaluation, until_width)
        on_result(content)
    return job.folder


def resume(folder: str | Path, game: Game, trusted: Sequence[str] = (), **how: Any) -> Path:
    """Go on with the evaluation of a folder; `how` are further arguments of `main`.

    `trusted` names the agents of one's own whose code may run.
    """
    names = ("names", "config", "games", "seed", "until_width")
    asked = arguments(folder, "evaluate", game, *names, trusted=trusted, agents={"names": "the agents "})
    return main(**asked, output=folder, resumed=True, **how)


def table_of(evaluation: Evaluation) -> files.Table:
    """The agents' estimates."""
    config, seeds = evaluation.config, counted(evaluation.reports[0].seeds, "seed")
    seats, alone = len(seating(config, len(evaluation.results[0].agents))), number_of_teams(config) == 1
    rotated = "" if alone else f", {seats} {'rotations of the seats' if seats <= config.players else 'line-ups'} each"
    plus_minus = partial(format_estimate, interval="±")
    columns = [files.AGENT, files.WIN_RATE, files.MARGIN]
    if config.owners == 1 and config.players > 1:
        columns = columns[:1]  # nobody to win against
    if not alone:  # that numbers may wrap leaves room for names
        columns.append(files.Column("place", "place", partial(format_estimate, form=".2f"), wraps=True))
    columns.append(files.Column("points", "points", plus_minus))
    if config.owners > number_of_teams(config):
        other = config.game.words.owner_names(config.players)[config.players]
        columns.append(files.Column(other, "others_points", plus_minus))
    rows = [{**report.row(), **report.estimates} for report in evaluation.reports]
    return files.Table(columns, rows, f"{config.name}: {seeds}{rotated}, 95 % intervals")


def _print(console: Console, evaluation: Evaluation, until_width: float | None) -> None:
    first, alone = evaluation.reports[0], number_of_teams(evaluation.config) == 1
    together = alone and evaluation.config.owners == 1 and evaluation.config.players > 1
    console.print(table_of(evaluation).screen())
    if len(evaluation.reports) == 2 and not alone:
        more = first.estimates["advantage"]
        distance = f"{abs(100 * more.value):.1f} percentage points {'below' if more.value < 0 else 'above'} one half"
        ends = f"({100 * more.low:+.1f} to {100 * more.high:+.1f})"
        console.print(f"The win rate of {shown(first.agent)} is {distance} {ends}: {_verdict(more)}.")
    else:
        for one in evaluation.comparisons:
            margin = format_estimate(one.margin, sign="+", interval="to")
            compared = f"{shown(one.first)} less {shown(one.second)}, paired by seed: "
            if together:
                console.print(f"{compared}points {margin}: {_verdict(one.margin, 'points')}.")
                continue
            compared += f"margin {margin}"
            points = format_estimate(one.win_rate, "percentage points", factor=100, sign="+", interval="to")
            console.print(f"{compared}; win rate {points}: {_verdict(one.win_rate)}.")
    for report in evaluation.reports:
        if report.usage is not None:
            console.print(f"{shown(report.agent)}: {usage_text(report)}.")
    for report in evaluation.reports if alone else evaluation.reports[:1]:
        length = format_estimate(report.estimates["length"], interval="±")
        console.print(f"A game {f'of {shown(report.agent)} ' if alone else ''}takes {length} decisions.")
    if evaluation.seats and not together:
        seats = ", ".join(f"{seat}: {files.WIN_RATE.write(value)}" for seat, value in enumerate(evaluation.seats))
        console.print(f"Win rate by seat, whoever sits there: {seats}.")
    if until_width is not None and evaluation.stopped == "width":
        console.print(f"Stopped as soon as no interval of a win rate was wider than {100 * until_width:g} points.")
    elif until_width is not None and evaluation.stopped == "games":
        console.print(
            f"All games are played; the widest interval is {100 * evaluation.width:.1f} points wide. More: --games."
        )


def usage_text(report: AgentReport) -> str:
    """What a language model used, and how often it gave no legal answer, in words."""
    used = report.usage or {}
    numbers = {name: f"{used[name]:,.1f}".removesuffix(".0") for name in USAGE}
    return (
        f"{files.WIN_RATE.write(report.estimates['invalid'])} of its games ended by no legal answer; in a game "
        f"{numbers['calls']} calls, {numbers['input_tokens']} tokens read and {numbers['output_tokens']} written, "
        f"{numbers['problems']} replies without a legal answer"
    )


def _verdict(difference: Estimate, of: str = "win rates") -> str:
    """What the interval of a difference between win rates, or points, shows."""
    return "ahead" if difference.low > 0 else "behind" if difference.high < 0 else f"no difference of {of} shown"
