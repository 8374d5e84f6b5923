"""`petrichor evaluate`: agents against each other in every seat, or each alone against the Southern Winds.

The unit of all statistics is the seed. Games that start from one seed share their tiles and first cards, so a match
plays every seed once for each rotation of the seats and takes their mean as one observation; in solo all agents play
the same seeds, and are compared seed by seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text
from tabletop_agents import Agent, make_agent

from petrichor_env.config import Config
from petrichor_env.state import MAX_PLAYERS
from tabletop.agents import Decisions, check_agents
from tabletop.batch import Batch
from tabletop.errors import ConfigError
from tabletop.words import counted
from tabletop_training.evaluation import (
    EVALUATION_SEED,
    MAX_GAMES_AT_ONCE,
    Estimate,
    EvaluationStopped,
    Results,
    concatenate,
    difference_estimate,
    mean_estimate,
    names_of,
    play_games,
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
    signed,
    write_json,
    write_rows,
)
from tabletop_training.progress import Interruptions, new_folder, progress_bar

BLOCK_GAMES = 64
"""About how many games are played at once at first. Later an eighth of those played is: so much Ctrl-C may lose."""
FIRST_LOOK = 64
"""Seeds played before `until_width` may stop."""
GAMES = 1000
MOST_GAMES = 20_000
"""Default numbers of games, without and with `until_width`."""

_COLUMNS = ("win_rate", "margin", "place", "points", "neutral_points")

Progress = Callable[[int], None]


# --- Playing ---------------------------------------------------------------------------------------------------------


def rotations(players: int) -> np.ndarray:
    """(players, players) int64: row r seats agent (s + r) mod players in seat s, so that neighbours stay neighbours."""
    seats = np.arange(players)
    return (seats[None, :] + seats[:, None]) % players


def play_match(
    agents: Sequence[Agent],
    config: Config,
    seeds: Sequence[int] | np.ndarray,
    *,
    should_stop: Callable[[], bool] | None = None,
    on_finished: Progress | None = None,
    record_actions: bool = False,
    record_probabilities: bool = False,
) -> Results:
    """Play every seed once for each rotation of the seats: games 0 to n - 1 are those of the first seed.

    Raises EvaluationStopped; ConfigError unless there is one agent for each of two or more players.
    """
    if len(agents) != config.players or config.solo:
        seats = counted(config.players, "player")
        raise ConfigError(f"{counted(len(agents), 'agent')} for {seats}: a match is of two or more, one a seat")
    if len(seeds) < 1:
        raise ConfigError("seeds: at least one")
    at_once = max(1, MAX_GAMES_AT_ONCE // len(agents))
    turns = rotations(len(agents))
    parts = []
    for start in range(0, len(seeds), at_once):
        chosen = np.asarray(seeds[start : start + at_once])
        parts.append(
            play_lineups(
                agents,
                config,
                np.repeat(chosen, len(turns)),
                np.tile(turns, (len(chosen), 1)),
                should_stop=should_stop,
                on_finished=on_finished,
                record_actions=record_actions,
                record_probabilities=record_probabilities,
            )
        )
    return concatenate(parts)


def labels_of(names: Sequence[str]) -> tuple[str, ...]:
    """The names, with a number where one occurs again: `greedy`, `greedy #2`."""
    return tuple(
        name if (before := list(names[:i]).count(name)) == 0 else f"{name} #{before + 1}"
        for i, name in enumerate(names)
    )


def make_agents(names: Sequence[str], config: Config) -> list[Agent]:
    """The agents of these names. Each one answers a decision first, so that none compiles when it is timed.

    Torch is left one thread: its threads wait by spinning, and networks of this size gain nothing from a second one.
    Raises ConfigError and CheckpointError as `make_agent` does, ConfigError where one can't play this.
    """
    agents = [make_agent(name) for name in names]
    if any(name.startswith("policy") for name in names):
        import torch

        torch.set_num_threads(1)
    check_agents(agents, config)
    batch = Batch(config, 1, 0)
    for agent in agents:
        agent.act(Decisions.of(batch), np.random.default_rng(0))
    return agents


# --- What the games say ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AgentReport:
    """One agent's games, each number with its 95 % interval.

    Attributes:
        estimates: `win_rate` (a victory shared by k counts 1/k), `margin`, `place`, `points`, `decisions` the agent's
            own in a game, `length` all of a game; in a match `advantage`, the win rate above an even share; in solo
            `neutral_points` and no `place`.
        decisions_per_second: how fast it thought.
    """

    agent: str
    games: int
    seeds: int
    estimates: dict[str, Estimate]
    decisions_per_second: float | None

    def row(self) -> dict[str, Any]:
        """As a line of a CSV file: for each estimate its value, `_low` and `_high`."""
        row: dict[str, Any] = {"agent": self.agent, "games": self.games, "seeds": self.seeds}
        return row | flat(**self.estimates) | {"decisions_per_second": self.decisions_per_second}

    def as_json(self) -> dict[str, Any]:
        """Everything, for `evaluation.json`."""
        return asdict(self) | {"estimates": {name: value._asdict() for name, value in self.estimates.items()}}


@dataclass(frozen=True)
class Comparison:
    """The first agent less the second one, paired by seed, with 95 % intervals."""

    first: str
    second: str
    win_rate: Estimate
    margin: Estimate

    def as_json(self) -> dict[str, Any]:
        """Everything, for `evaluation.json`."""
        return asdict(self) | {"win_rate": self.win_rate._asdict(), "margin": self.margin._asdict()}


@dataclass(frozen=True)
class Evaluation:
    """Finished games with what they say.

    Attributes:
        results: of a match one, of solo games one for each agent, all with the same seeds.
        reports: one for each agent.
        comparisons: of every two agents.
        seats: win rate of each seat, whoever sits there (rotation makes it comparable); of a match.
        stopped: what ended it: "games", "width" or "interrupted".
    """

    config: Config
    results: tuple[Results, ...]
    reports: tuple[AgentReport, ...]
    comparisons: tuple[Comparison, ...]
    seats: tuple[Estimate, ...]
    stopped: str

    @property
    def width(self) -> float:
        """The width of the widest interval of a win rate."""
        return max(report.estimates["win_rate"].width for report in self.reports)


def report_agents(results: Results, labels: Sequence[str]) -> tuple[AgentReport, ...]:
    """A report for each agent of games with two or more players, or of the one agent of solo games."""
    solo = results.config.solo
    by_seed = {
        "win_rate": results.by_seed(results.by_agent(results.win_shares)),
        "margin": results.by_seed(results.by_agent(results.margins_by_seat)),
        "place": results.by_seed(results.by_agent(results.places)),
        "points": results.by_seed(results.by_agent(results.points[:, : results.config.players])),
        "neutral_points": results.by_seed(results.points[:, 1:].astype(np.float64)),
        "decisions": results.by_seed(results.by_agent(results.decisions)),
        "length": results.by_seed(results.by_agent(np.repeat(results.lengths[:, None], results.won.shape[1], 1))),
    }
    del by_seed["place" if solo else "neutral_points"]
    plays = ~np.isnan(results.by_agent(results.won))
    decisions = np.nansum(results.by_agent(results.decisions), axis=0)
    reports = []
    for index, label in enumerate(labels):
        own = {name: values[~np.isnan(values[:, index]), index] for name, values in by_seed.items()}
        estimates = {name: mean_estimate(values) for name, values in own.items()}
        estimates["win_rate"] = share_estimate(own["win_rate"])
        if not solo:
            players = results.config.players
            # places 1 to n as numbers from 0 to 1: an interval even where an agent was always the first
            share = share_estimate((own["place"] - 1) / (players - 1))
            estimates["place"] = Estimate(*(1 + (players - 1) * end for end in share))
            estimates["advantage"] = Estimate(*(end - 1 / players for end in estimates["win_rate"]))
        seconds = float(results.seconds[index]) if len(results.seconds) else 0.0
        speed = round(float(decisions[index]) / seconds, 1) if seconds > 0 else None
        reports.append(AgentReport(label, int(plays[:, index].sum()), len(own["margin"]), estimates, speed))
    return tuple(reports)


def compare(
    labels: tuple[str, str], win_shares: tuple[np.ndarray, np.ndarray], margins: tuple[np.ndarray, np.ndarray]
) -> Comparison:
    """The difference of two agents from each one's (seeds,) mean victories and margins, of the same seeds in order."""
    return Comparison(
        *labels, difference_estimate(win_shares[0] - win_shares[1]), mean_estimate(margins[0] - margins[1])
    )


def assess(results: Sequence[Results], labels: Sequence[str], stopped: str) -> Evaluation:
    """All statistics of a match (one result) or of several agents' solo games (one result each)."""
    config = results[0].config
    if config.solo:
        reports = tuple(report_agents(one, [label])[0] for one, label in zip(results, labels, strict=True))
        wins = [one.by_seed(one.win_shares)[:, 0] for one in results]
        margins = [one.by_seed(one.margins_by_seat)[:, 0] for one in results]
        seats: tuple[Estimate, ...] = ()
    else:
        (match,) = results
        reports = report_agents(match, labels)
        wins = list(match.by_seed(match.by_agent(match.win_shares)).T)
        margins = list(match.by_seed(match.by_agent(match.margins_by_seat)).T)
        seats = tuple(share_estimate(values) for values in match.by_seed(match.win_shares).T)
    comparisons = tuple(
        compare((labels[i], labels[j]), (wins[i], wins[j]), (margins[i], margins[j]))
        for i, j in combinations(range(len(labels)), 2)
    )
    return Evaluation(config, tuple(results), reports, comparisons, seats, stopped)


def evaluate(
    agents: Sequence[Agent],
    config: Config,
    games: int = GAMES,
    seed: int = EVALUATION_SEED,
    *,
    until_width: float | None = None,
    should_stop: Callable[[], bool] | None = None,
    on_finished: Progress | None = None,
    on_block: Callable[[Sequence[Results], Evaluation], None] | None = None,
    record_actions: bool = False,
    record_probabilities: bool = False,
) -> Evaluation:
    """Play a match, or in solo every agent on the same seeds, block by block.

    Arguments:
        games: that each agent plays, at most; a match rounds up so that every seed is played in all rotations.
        seed: of the first game; the following seeds count up.
        until_width: stop as soon as all intervals of win rates are no wider, looking after every block from
            `FIRST_LOOK` seeds on. Only the width stops it, never who is ahead: over 50 to 99 % of victories the
            intervals' coverage stayed between 94 and 98 % in simulations (docs/evaluation.md).
        should_stop: asked at every step; the unfinished block is dropped, whole seeds are reported.
        on_finished: told how many games have just ended.
        on_block: told the results of the block just played and the evaluation of all so far.
        record_actions, record_probabilities: keep all actions and what agents gave them, for replays, as
            `play_lineups` does.

    Raises EvaluationStopped if it is stopped before the first block is done, ConfigError for bad arguments.
    """
    check_numbers(games, until_width)
    solo = config.solo
    if not agents or (not solo and len(agents) != config.players):
        raise ConfigError(f"{counted(len(agents), 'agent')} for {counted(config.players, 'player')}: one a seat")
    labels = labels_of(names_of(agents))
    seeds_left = seeds_for(games, config.players)
    done: list[Results] = []
    evaluation = None
    while seeds_left and not (evaluation is not None and evaluation.stopped == "width"):
        seeds = min(seeds_left, block_seeds(0 if evaluation is None else evaluation.reports[0].seeds, config.players))
        told: dict[str, Any] = {
            "should_stop": should_stop,
            "on_finished": on_finished,
            "record_actions": record_actions,
            "record_probabilities": record_probabilities,
        }
        try:
            if solo:
                block = [play_games([agent], config, seeds, seed, **told) for agent in agents]
            else:
                block = [play_match(agents, config, np.arange(seed, seed + seeds), **told)]
        except EvaluationStopped:
            if evaluation is None:
                raise
            return assess(done, labels, "interrupted")
        seed, seeds_left = seed + seeds, seeds_left - seeds
        done = [concatenate(both) for both in zip(done, block, strict=True)] if done else block
        evaluation = assess(done, labels, "games")
        played = evaluation.reports[0].seeds
        if until_width is not None and played >= FIRST_LOOK and evaluation.width <= until_width:
            evaluation = assess(done, labels, "width")
        if on_block is not None:
            on_block(block, evaluation)
    assert evaluation is not None
    return evaluation


def block_seeds(played: int, games_a_seed: int) -> int:
    """How many seeds to play next, after so many: the same whoever plays, so that the same arguments replay them."""
    first = seeds_for(BLOCK_GAMES, games_a_seed)
    return max(first, min(played // 8, MAX_GAMES_AT_ONCE // games_a_seed))


def check_numbers(games: int, until_width: float | None) -> None:
    """Raises ConfigError for numbers that `evaluate` does not take."""
    if games < 1:
        raise ConfigError(f"games={games}: at least 1")
    if until_width is not None and not 0 < until_width < 1:
        raise ConfigError(f"until_width={until_width}: between 0 and 1, such as 0.05 for five percentage points")


def seeds_for(games: int, players: int) -> int:
    """How many seeds make at least so many games, one a rotation."""
    return -(-games // players)


# --- Files -----------------------------------------------------------------------------------------------------------


def _write(folder: Path, evaluation: Evaluation, seed: int, until_width: float | None) -> None:
    labels = [report.agent for report in evaluation.reports]
    write_rows(folder / "agents.csv", [report.row() for report in evaluation.reports])
    if evaluation.comparisons:
        write_rows(
            folder / "differences.csv",
            [
                {"first": one.first, "second": one.second, **flat(win_rate=one.win_rate, margin=one.margin)}
                for one in evaluation.comparisons
            ],
        )
    write_json(
        folder / "evaluation.json",
        {
            **provenance(evaluation.config, seed, labels),
            "seeds": evaluation.reports[0].seeds,
            "stopped_by": evaluation.stopped,
            "until_width": until_width,
            "reports": [report.as_json() for report in evaluation.reports],
            "differences": [comparison.as_json() for comparison in evaluation.comparisons],
            "win_rate_by_seat": [seat._asdict() for seat in evaluation.seats],
        },
    )


# --- The command -----------------------------------------------------------------------------------------------------


def main(
    names: Sequence[str],
    *,
    solo: bool = False,
    rounds: int = 4,
    drafting: bool = False,
    modules: Sequence[str] = (),
    variants: Sequence[str] = (),
    components: str | Path | None = None,
    games: int | None = None,
    seed: int = EVALUATION_SEED,
    until_width: float | None = None,
    save_replays: str | Path | None = None,
    replay_games: int | None = None,
    replay_probabilities: bool = False,
    output: str | Path = "runs/evaluate",
) -> Path:
    """Play, print the tables, and return the folder with `evaluation.json`, `agents.csv`, `games.csv` and so on.

    Arguments:
        names: of the agents, as `make_agent` knows them: two to five play each other, one plays solo.
        solo: each one plays the Southern Winds, and they are compared.
        games: that each agent plays, as in `evaluate`; None → 1000, or at most 20 000 with `until_width`.
        save_replays, replay_games, replay_probabilities: as `evaluation_files.ReplayFiles` takes them.
        others: as in `Config` and `evaluate`.

    Ctrl-C keeps the blocks that are done. Raises ConfigError, CheckpointError and TabletopError.
    """
    if not names:
        raise ConfigError("agents: at least one name")
    alone = solo or len(names) == 1
    if not alone and len(names) > MAX_PLAYERS:
        raise ConfigError(
            f"{len(names)} agents: at most {MAX_PLAYERS} play one game; `petrichor tournament` takes more, --solo too"
        )
    config = Config(
        players=1 if alone else len(names),
        rounds=rounds,
        drafting=drafting,
        modules=tuple(modules),
        variants=tuple(variants),
        components=None if components is None else str(components),
    )
    most = games if games is not None else GAMES if until_width is None else MOST_GAMES
    check_numbers(most, until_width)
    replays = ReplayFiles(save_replays, replay_games, replay_probabilities)
    console = Console()
    with console.status("loading the agents"):
        agents = make_agents(names, config)
    labels = labels_of([agent.name for agent in agents])
    folder = new_folder(output)
    replays.open(folder)
    file = GamesFile(folder / "games.csv")

    with Interruptions() as interruptions, progress_bar(console) as bar:
        total = seeds_for(most, config.players) * config.players * (len(agents) if alone else 1)
        task = bar.add_task("evaluating", total=total, status="")

        def keep(block: Sequence[Results], evaluation: Evaluation) -> None:
            for i, results in enumerate(block):
                file.add(results, [labels[i]] if alone else labels)
                replays.add(results, [labels[i]] if alone else labels)
            _write(folder, evaluation, seed, until_width)
            bar.update(task, status=f"{labels[0]}: {percent(evaluation.reports[0].estimates['win_rate'])}")

        try:
            evaluation = evaluate(
                agents,
                config,
                most,
                seed,
                until_width=until_width,
                should_stop=interruptions.wanted,
                on_finished=lambda finished: bar.advance(task, finished),
                on_block=keep,
                **replays.recording,
            )
        except EvaluationStopped:
            folder.rmdir()
            console.print("Stopped before the first games were finished: nothing was kept.")
            raise KeyboardInterrupt from None
        if evaluation.stopped == "width":
            bar.update(task, completed=total)
    _write(folder, evaluation, seed, until_width)
    _print(console, evaluation, until_width)
    console.print(f"In [bold]{escape(str(folder))}[/bold]: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    replays.tell(console)
    return folder


def _print(console: Console, evaluation: Evaluation, until_width: float | None) -> None:
    solo = evaluation.config.solo
    first = evaluation.reports[0]
    rotated = "" if solo else f", {evaluation.config.players} rotations of the seats each"
    table = Table(
        title=f"{evaluation.config.name}: {counted(first.seeds, 'seed')}{rotated}, 95 % intervals",
        title_justify="left",
    )
    table.add_column("agent", overflow="fold")
    columns = [name for name in _COLUMNS if name in first.estimates]
    for name in columns:
        heading = name.replace("_points", "").replace("_", " ")
        table.add_column(heading, justify="right", no_wrap=name != "place")  # that leaves room for names
    for report in evaluation.reports:
        cells = [
            percent(report.estimates[name])
            if name == "win_rate"
            else between(report.estimates[name], digits=2)
            if name == "place"
            else plus_minus(report.estimates[name], signed=name == "margin")
            for name in columns
        ]
        table.add_row(Text(report.agent), *cells)
    console.print(table)
    if len(evaluation.reports) == 2 and not solo:
        advantage = first.estimates["advantage"]
        console.print(
            Text(
                f"{first.agent} wins {100 * advantage.value:+.1f} percentage points more than half the games "
                f"({100 * advantage.low:+.1f} to {100 * advantage.high:+.1f}): {_verdict(advantage)}."
            )
        )
    else:
        for one in evaluation.comparisons:
            rate = one.win_rate
            console.print(
                Text(
                    f"{one.first} less {one.second}, paired by seed: margin {signed(one.margin)}; win rate "
                    f"{100 * rate.value:+.1f} percentage points ({100 * rate.low:+.1f} to {100 * rate.high:+.1f}): "
                    f"{_verdict(rate)}."
                )
            )
    for report in evaluation.reports if solo else evaluation.reports[:1]:
        length = plus_minus(report.estimates["length"])
        console.print(Text(f"A game {f'of {report.agent} ' if solo else ''}takes {length} decisions."))
    if evaluation.seats:
        seats = ", ".join(f"{seat}: {percent(value)}" for seat, value in enumerate(evaluation.seats))
        console.print(Text(f"Win rate by seat, whoever sits there: {seats}."))
    if evaluation.stopped == "interrupted":
        console.print("Stopped early; the table is of the seeds that were done.")
    elif until_width is not None and evaluation.stopped == "width":
        console.print(f"Stopped as soon as no interval of a win rate was wider than {100 * until_width:g} points.")
    elif until_width is not None:
        console.print(
            f"All games are played; the widest interval is {100 * evaluation.width:.1f} points wide. More: --games."
        )


def _verdict(difference: Estimate) -> str:
    """Of win rates."""
    if difference.low > 0:
        return "ahead"
    return "behind" if difference.high < 0 else "no difference of win rates shown"
