"""`… benchmark`: a game's reference table of agents, and any agent's place in it.

Results stay in `benchmark.json` and are not measured again. An agent that joins plays its own solo games and one match
against each agent that is already there. A game's `Plan` says what its table contains.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from tabletop_agents import Agent
from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.files import read_limited, shipped
from tabletop_engine.game import Config, Game
from tabletop_engine.text.screen import Screen
from tabletop_engine.text.words import shown
from tabletop_training.files.provenance import agent_hash, tables_hash
from tabletop_training.files.settings import check_at_least_one
from tabletop_training.files.tables import (
    AGENT,
    PLAYED,
    Column,
    OnResult,
    Table,
    format_estimate,
    ignore,
    plain,
    write_json,
    write_rows,
)
from tabletop_training.measure.bradley_terry import Misfit, elo_ratings
from tabletop_training.measure.evaluation import EVALUATION_SEED, HERE, Workers
from tabletop_training.measure.ladder import LADDER
from tabletop_training.measure.matches import make_agents
from tabletop_training.measure.ratings import Game as Rated
from tabletop_training.measure.ratings import Rating, Z
from tabletop_training.measure.results import NO_ESTIMATE, Estimate, Results, mean_estimate, share_estimate
from tabletop_training.measure.tournament import rate
from tabletop_training.study.cells import Cell, is_search
from tabletop_training.study.play import play_cells, played
from tabletop_training.study.settings import arguments, job_of

_ROOT = Path(__file__).parents[3]
_FILE = "benchmark.json"
_RESULTS = "-=+"
"""The result of a game in a pair's `games`: lost, shared or won by the first agent."""

QUICK = {"games": 50, "search_games": 5, "duel_games": 8}
"""The largest numbers of games with `quick`."""
_INTERVALS = "Intervals are in benchmark.md."
_EXPLOITED = (
    "\n- **an exploiter won**: the most that one of several opponents, which learned or searched against this agent\n"
    "  alone, won against it. It is a lower bound: a better exploiter may win more. How two agents play against each\n"
    "  other does not follow from it."
)
_ROUGH = "These numbers are rough: --quick plays few games, so the intervals are wide."

# --- What a table has ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measure:
    """A measure of solo games.

    Attributes:
        of: takes results and returns a number for each game, (games,).
        estimate: the mean of these numbers with its interval.
        written: how `format_estimate` writes it.
    """

    of: Callable[[Results], np.ndarray]
    estimate: Callable[[np.ndarray], Estimate]
    written: Mapping[str, Any]

    def column(self, heading: str, key: str, short: bool) -> Column:
        """A column of a table, with intervals for the page or `short` for a screen."""
        only_value = {"unit": "", "interval": ""} if short else {}
        return Column(heading, key, partial(format_estimate, **{**self.written, **only_value}))


WIN_RATE = Measure(lambda results: results.win_shares[:, 0], share_estimate, {"unit": "%", "factor": 100})
MARGIN = Measure(lambda results: results.margins, mean_estimate, {"sign": "+", "interval": "±"})
POINTS = Measure(lambda results: results.points[:, 0], mean_estimate, {"interval": "±"})


@dataclass(frozen=True)
class SoloColumn:
    """A column of the solo games.

    Attributes:
        key: its name in the files. measure: the measure whose mean it shows.
        head, short_head: its heading on the page, and on a screen.
        sets: the number of the plan's configurations it includes, from the first on; None for all.
    """

    key: str
    measure: Measure
    head: str
    short_head: str
    sets: int | None = None

    def estimate(self, sets: Sequence[Results]) -> Estimate:
        """The estimate from an agent's games of all configurations. A seed's mean over them is one observation."""
        return self.measure.estimate(np.mean([self.measure.of(result) for result in sets[: self.sets]], axis=0))


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The contents of a game's reference table. The game must be playable by two.

    Attributes:
        agents: names of the agents that are measured by default.
        docs: the folder in the repository with the published table, among whose agents your own agent is placed.
        solo: the settings of each configuration of the game for one; empty if the game has no solo mode.
        columns: of the solo games. ranked_by: the key of the column that orders agents without a rating.
        solo_title: the title of the solo games' table on a screen.
        about_solo: lines of the page that explain the columns of the solo games.
        about_numbers: a sentence about the numbers on the pieces, without its full stop; empty if there is none.
        title: of the page.
    """

    game: Game
    agents: tuple[str, ...]
    docs: str
    solo: tuple[Mapping[str, Any], ...] = ()
    columns: tuple[SoloColumn, ...] = ()
    ranked_by: str = ""
    solo_title: str = ""
    about_solo: tuple[str, ...] = ()
    about_numbers: str = ""
    title: str = "The agents, measured"

    @property
    def reference(self) -> Path:
        """The file behind the published table: in a clone the one in its docs, otherwise the copy in the wheel."""
        return shipped(Path(__file__).parents[1] / "tables" / f"{self.game.name}.json", _ROOT / self.docs / _FILE)

    @property
    def solo_games(self) -> str:
        """The key of the number of solo games in the files."""
        return "solo_games_a_set" if len(self.solo) > 1 else "solo_games"


# --- What is measured ------------------------------------------------------------------------------------------------


@dataclass
class Benchmark:
    """Everything measured so far.

    Attributes:
        game: its name; empty in files from when there was only one game.
        solo: by agent: `games` of each set, and estimates [value, low, high] by the keys of the plan's columns;
            `decisions_per_second`.
        pairs: `first` and `second` agent, and their 2-player `games` as a text: two characters of `_RESULTS` a seed,
            with the first agent in seat 0 and in seat 1.
        exploited: by agent, for games of two, the largest share of the games that one of several exploiters won
            against it, an estimate [value, low, high]. `python -m benchmarks.exploiters --tables 1` measures it.
        checkpoints: SHA-256 of the file of each agent that has one.
        tables: SHA-256 of the numbers on the pieces. components: the overlay file that they come from, if there is one.
        quick: whether some of it was measured with few games.
    """

    plan: Plan
    game: str = ""
    seed: int = EVALUATION_SEED
    solo: dict[str, dict[str, Any]] = field(default_factory=dict)
    pairs: list[dict[str, str]] = field(default_factory=list)
    exploited: dict[str, list[float]] = field(default_factory=dict)
    checkpoints: dict[str, str] = field(default_factory=dict)
    tables: str = ""
    components: Any = None
    quick: bool = False
    package_version: str = ""
    rules_version: int = 0

    @classmethod
    def new(cls, plan: Plan, components: Any = None, quick: bool = False) -> Benchmark:
        """A benchmark without agents, for these components and this version of the game."""
        versions: dict[str, Any] = {"package_version": plan.game.version, "rules_version": plan.game.rules_version}
        config = plan.game.config(components=components)
        numbers = {"tables": tables_hash(config), "components": config.components}
        return cls(plan, plan.game.name, **numbers, quick=quick, **versions)

    @property
    def content(self) -> dict[str, Any]:
        """The content of its file."""
        content = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "plan"}
        without = {"game": not self.game, "exploited": not self.exploited}
        return {key: value for key, value in content.items() if not without.get(key)}

    @property
    def solo_configs(self) -> list[Config]:
        """The configurations of the game for one."""
        return [self._config(1, switches) for switches in self.plan.solo]

    @property
    def duel(self) -> Config:
        """The configuration of the game for two."""
        return self._config(2, {})

    def _config(self, players: int, switches: Mapping[str, Any]) -> Config:
        numbers = {} if self.components is None else {"components": self.components}
        config: Config = self.plan.game.config(players=players, **switches, **numbers)
        return config

    @property
    def agents(self) -> list[str]:
        """All agents: first those of the ladder, then the others in the order in which they joined."""
        met = dict.fromkeys([*self.solo, *(pair[who] for pair in self.pairs for who in ("first", "second"))])
        return [*(name for name in LADDER if name in met), *(name for name in met if name not in LADDER)]

    def forget(self, agent: str) -> None:
        """Drop all games of an agent."""
        self.solo.pop(agent, None)
        self.exploited.pop(agent, None)
        self.checkpoints.pop(agent, None)
        self.pairs = [pair for pair in self.pairs if agent not in (pair["first"], pair["second"])]

    def add_solo(self, sets: Sequence[Results]) -> None:
        """Add an agent's games of all sets, in the order of the plan's configurations."""
        decisions = sum(int(result.lengths.sum()) for result in sets)
        seconds = sum(float(result.seconds.sum()) for result in sets)
        self.solo[sets[0].agents[0]] = {
            "games": len(sets[0]),
            **{column.key: list(column.estimate(sets)) for column in self.plan.columns},
            "decisions_per_second": round(decisions / seconds, 1) if seconds > 0 else None,
        }

    def add_pair(self, result: Results) -> None:
        """Add a match of two agents."""
        shares = result.by_agent(result.win_shares)[:, 0]
        first, second = result.agents
        self.pairs.append(
            {"first": first, "second": second, "games": "".join(_RESULTS[round(2 * share)] for share in shares)}
        )

    def shares(self) -> dict[tuple[str, str], np.ndarray]:
        """For each two agents that have met the first one's share of the victories on each seed, (seeds,)."""
        return {
            (pair["first"], pair["second"]): np.array([_RESULTS.index(game) / 2 for game in pair["games"]])
            .reshape(-1, 2)
            .mean(axis=1)
            for pair in self.pairs
        }

    def score(self, one: str, other: str) -> Estimate | None:
        """The first agent's win rate against the other one, seeds as the unit; None if they have not met."""
        met = self.shares()
        if (one, other) in met:
            return share_estimate(met[one, other])
        return share_estimate(1 - met[other, one]) if (other, one) in met else None

    def elo(self) -> tuple[dict[str, Estimate], Misfit | None]:
        """Ratings by Bradley and Terry from all 2-player games, and their misfit; none without games."""
        met = self.shares()
        return elo_ratings(met) if met else ({}, None)

    def ratings(self) -> dict[str, Rating]:
        """openskill ratings from all 2-player games. All pairs have played equally many."""
        games: list[Rated] = []
        for pair in self.pairs:
            for number, game in enumerate(pair["games"]):
                names = (pair["first"], pair["second"])
                places = {"-": (2, 1), "=": (1, 1), "+": (1, 2)}[game]
                games.append((names, places) if number % 2 == 0 else (names[::-1], places[::-1]))
        met = {name for names, _ in games for name in names}
        return rate(games, [name for name in self.agents if name in met], self.seed)


# --- The command -----------------------------------------------------------------------------------------------------


@checked
def main(
    plan: Plan,
    agents: Sequence[str] = (),
    games: int = 1000,
    search_games: int = 100,
    duel_games: int = 200,
    components: Any = None,
    output: str | Path | None = None,
    reference: str | Path | None = None,
    quick: bool = False,
    workers: Workers | int = HERE,
    on_result: OnResult = ignore,
) -> Path:
    """Play the missing games, print the tables and write them; returns the folder.

    Arguments:
        plan: the contents of the game's table.
        agents: names of agents (`make_agent`) that the table must have; none means those of the plan.
        games, search_games: for each agent and configuration of the game for one; the latter for searches.
        duel_games: for each pair of agents, half of them in each seat.
        components: an overlay file. Its own `benchmark.json` starts without agents.
        output: the folder of `benchmark.json`, `benchmark.md` and `benchmark.csv`. An existing `benchmark.json` is
            continued. None means `runs/benchmark`, or `runs/benchmark-quick`.
        reference: a `benchmark.json` to start from if the output has none; None means the plan's, if it exists.
        quick: play at most the numbers of games in `QUICK`.
        workers: as in `tabletop_training.measure`.
        on_result: called with the rows of all agents with their intervals, and what they were measured with.

    `benchmark.json` gets every match, and the solo games of an agent when it has played all sets.
    """
    names = list(dict.fromkeys(agents or plan.agents))
    wanted = {"games": games, "search_games": search_games, "duel_games": duel_games}
    check_at_least_one(**wanted)
    if quick:
        wanted = {name: min(number, QUICK[name]) for name, number in wanted.items()}
    folder = Path(output or ("runs/benchmark-quick" if quick else "runs/benchmark"))
    new = Benchmark.new(plan, components, quick)
    benchmark = _start(folder / _FILE, plan.reference if reference is None else Path(reference), new)
    for name in [name for name in names if agent_hash(name, plan.game) != benchmark.checkpoints.get(name)]:
        benchmark.forget(name)  # measured with another file of that name
    solo, duel = _players(Screen(), [*dict.fromkeys([*benchmark.agents, *names])], names, benchmark)
    solo_games = {agent.name: wanted["search_games" if is_search(agent.name) else "games"] for agent in solo}
    cells = [
        Cell(f"{agent.name} {number}", [agent], config, solo_games[agent.name], benchmark.seed)
        for agent in solo
        for number, config in enumerate(benchmark.solo_configs)
    ]
    cells += [
        Cell(f"{one.name} {other.name}", [one, other], benchmark.duel, wanted["duel_games"], benchmark.seed)
        for one, other in combinations(duel, 2)
        if benchmark.score(one.name, other.name) is None and {one.name, other.name} & {*names}
    ]
    asked = {"agents": names, "components": new.components, "quick": quick, **wanted}
    with job_of("benchmark", plan.game, folder, asked, cells=cells) as (job, store):
        _write(folder, benchmark)
        finished = dict[Cell, Results]()

        def add(cell: Cell, results: Results) -> bool:
            """Add a match, or an agent's solo games when all its sets are finished; returns whether it did."""
            finished[cell] = results
            own = [one for one in cells if len(cell.agents) == 1 and one.agents == cell.agents] or [cell]
            if not all(one in finished for one in own):
                return False
            if len(cell.agents) > 1:
                benchmark.add_pair(results)
            else:
                benchmark.add_solo([finished[one] for one in own])
            _write(folder, benchmark)
            for one in own:  # benchmark.json has them now
                store.forget(one)
            return True

        for cell in cells:
            if (results := played(cell, store)) is not None:
                add(cell, results)
        missing = [cell for cell in cells if cell not in finished]
        with job.until_stopped():
            for cell, results, left in play_cells(job, missing, store, workers):
                if add(cell, results):
                    own = [row for row in _rows(benchmark) if row["agent"] in results.agents]
                    table = _duel_table(own) if len(cell.agents) > 1 else _solo_table(plan, own)
                    job.console.print(table.screen())
                    job.console.print(f"{left}.")
        rows = _write(folder, benchmark)
        for table in _tables(plan, rows) if rows else ():
            job.console.print(table.screen())
        if quick:
            job.console.print(_ROUGH)
        kept = benchmark.content
        measured = {key: kept[key] for key in ("package_version", "rules_version", "seed", "components", "quick")}
        on_result(plain({"game": plan.game.name, **measured, "agents": rows}))
    return folder


def resume(folder: str | Path, plan: Plan, trusted: Sequence[str] = (), **how: Any) -> Path:
    """Go on with the games of a folder that were stopped, as `tabletop_training.measure.matches.resume` does."""
    names = ("agents", "components", "quick", "games", "search_games", "duel_games")
    asked = arguments(folder, "benchmark", plan.game, *names, trusted=trusted, agents={"agents": "the agents "})
    return main(plan, **asked, output=folder, **how)


def _start(own: Path, reference: Path, new: Benchmark) -> Benchmark:
    """The existing benchmark, or `new`. Raises TabletopError if the output has a file that cannot be continued."""
    for path in (own, reference):
        if not path.exists():
            continue
        try:
            read = Benchmark(new.plan, **json.loads(read_limited(path)))
            of_another = read.game not in ("", new.game)
            if not of_another:
                _rows(read)
                if not read.tables:
                    raise ValueError("no numbers of pieces")
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            raise TabletopError(f"{path}: no benchmark of this version; move it away to start again") from None
        if of_another:
            raise TabletopError(f"{path}: a benchmark of {read.game}; give another --output")
        same = (read.tables, read.rules_version) == (new.tables, new.rules_version)
        if same and (path != own or read.quick == new.quick):
            return replace(read, components=new.components, quick=new.quick)
        if path == own:
            played = "the shipped numbers" if read.components is None else "an overlay file's numbers"
            quick = "with --quick" if read.quick else "without --quick"
            problem = f"measured {quick}; continue {quick}, or give another --output"
            if not same:
                problem = f"measured with other rules or numbers (rules version {read.rules_version}, {played}); give"
                problem += " the same --components, or move it away to start again"
            raise TabletopError(f"{path}: {problem}")
    return new


def _players(
    console: Console, everybody: Sequence[str], wanted: Sequence[str], benchmark: Benchmark
) -> tuple[list[Agent], list[Agent]]:
    """The agents that have solo games to play, and those that take part in matches.

    An agent that refuses a configuration is left out of it. So is an agent that was not asked for, if its file is gone
    or has changed. Raises ConfigError if a requested agent refuses all configurations, CheckpointError for its file.
    """
    game = benchmark.plan.game
    solo: list[Agent] = []
    duel: list[Agent] = []
    kinds = [*((config, solo) for config in benchmark.solo_configs[:1]), (benchmark.duel, duel)]
    with console.status("loading the agents"):
        for name in everybody:
            if name not in wanted and agent_hash(name, game) not in (None, benchmark.checkpoints.get(name)):
                console.print(f"{shown(name)} is left out: its file has changed. Name it to measure it again.")
                continue
            refusals = []
            for config, players in kinds:
                if config.players == 1 and (name in benchmark.solo or name not in wanted):
                    continue
                try:
                    players += make_agents([name], config)
                except TabletopError as error:
                    if name in wanted and not isinstance(error, ConfigError):
                        raise
                    refusals.append(error)
            if name in wanted and len(refusals) == len(kinds):
                raise refusals[0]
    benchmark.checkpoints |= {name: digest for name in wanted if (digest := agent_hash(name, game)) is not None}
    return solo, duel


def _rows(benchmark: Benchmark) -> list[dict[str, Any]]:
    """A line of the CSV file for each agent: first by rating, then agents without a rating by their solo games.

    `NO_ESTIMATE` or None stands for games that an agent has not played or does not play.
    """
    plan, ratings, (elo, _), exploited = benchmark.plan, benchmark.ratings(), benchmark.elo(), benchmark.exploited
    rungs = [rung for rung in LADDER if rung in benchmark.agents]
    rows = []
    for agent in benchmark.agents:
        solo, rating = benchmark.solo.get(agent), ratings.get(agent)
        estimates = {one.key: Estimate(*solo[one.key]) if solo else NO_ESTIMATE for one in plan.columns}
        row = {
            "agent": agent,
            **({plan.solo_games: solo["games"] if solo else 0} if plan.solo else {}),
            **estimates,
            **{f"against_{rung}": benchmark.score(agent, rung) or NO_ESTIMATE for rung in rungs},
            "rating": rating.mu if rating else None,
            "rating_sigma": rating.sigma if rating else None,
            **({"elo": elo.get(agent, NO_ESTIMATE)} if elo else {}),
            **({"exploited": Estimate(*exploited[agent]) if agent in exploited else NO_ESTIMATE} if exploited else {}),
            **({"decisions_per_second": solo["decisions_per_second"] if solo else None} if plan.solo else {}),
        }
        rows.append(row)

    def strength(row: dict[str, Any]) -> list[float]:
        both = (row["rating"], row[plan.ranked_by].value if plan.ranked_by else None)
        return [-np.inf if value is None or np.isnan(value) else value for value in both]

    return sorted(rows, key=strength, reverse=True)


def _write(folder: Path, benchmark: Benchmark) -> list[dict[str, Any]]:
    """Write all results: JSON, and if there are any agents a table and a page. Returns the table's rows."""
    write_json(folder / _FILE, benchmark.content)
    rows = _rows(benchmark)
    if rows:
        write_rows(folder / "benchmark.csv", rows)
        (folder / "benchmark.md").write_text(_page(benchmark, rows), encoding="utf-8")
    return rows


def _tables(plan: Plan, rows: Sequence[dict[str, Any]]) -> list[Table]:
    """The tables for a screen, without intervals: solo games, and games of two players."""
    return [*([_solo_table(plan, rows)] if plan.solo else []), _duel_table(rows)]


def _solo_table(plan: Plan, rows: Sequence[dict[str, Any]], short: bool = True) -> Table:
    """The solo games: for a screen without intervals, or for the page."""
    columns = [one.measure.column(one.short_head if short else one.head, one.key, short) for one in plan.columns]
    if not short:
        speed = Column("decisions/s", "decisions_per_second", "{:,.0f}".format)
        columns = [replace(PLAYED, key=plan.solo_games), *columns, speed]
    return Table([AGENT, *columns], rows, plan.solo_title, _INTERVALS, blank="–")


def _duel_table(rows: Sequence[dict[str, Any]], short: bool = True) -> Table:
    """The games of two players: a column for each agent of the ladder that the rows have."""
    columns = [Column("rating", "rating", partial(format_estimate, interval="" if short else "±"))]
    if "elo" in rows[0]:
        columns.append(Column("Elo", "elo", partial(format_estimate, form=".0f", interval="" if short else "–")))
    if "exploited" in rows[0]:
        columns.append(WIN_RATE.column("exploiter\nwon" if short else "an exploiter won", "exploited", short))
    for key in rows[0]:
        if key.startswith("against_"):
            rung = key.removeprefix("against_")
            heading = "v.\n" + rung.replace("-", "-\n") if short else f"won against `{rung}`"
            columns.append(WIN_RATE.column(heading, key, short))
    lines = []
    for row in rows:
        half = Z * row["rating_sigma"] if row["rating"] else 0
        rating = Estimate(row["rating"], row["rating"] - half, row["rating"] + half) if row["rating"] else None
        lines.append({**row, "rating": rating, f"against_{row['agent']}": ""})
    return Table([AGENT, *columns], lines, "Two players: games won in per cent", _INTERVALS, blank="–")


def _misfit_text(benchmark: Benchmark) -> str:
    misfit = benchmark.elo()[1]
    return "" if misfit is None else misfit.text


def _page(benchmark: Benchmark, rows: Sequence[dict[str, Any]]) -> str:
    plan, own = benchmark.plan, benchmark.components is not None
    command = f"{plan.game.command} benchmark" + (" --components FILE" if own else "")
    package = plan.game.home.partition(".")[0].replace("_", "-")
    replaced = ", some of them replaced by an overlay file" if own else ""
    blocks = [
        f"# {plan.title}",
        *([_ROUGH] if benchmark.quick else []),
        "How strong each agent is, and how yours compares. To place an agent of your own in these tables, name it:",
        f"```sh\n{command} policy:runs/mine/best.zip    # a checkpoint; or my_module:MyAgent\n"
        f"{command} --quick my_module:MyAgent    # the same with few games: rough numbers, soon\n```",
        "Only the games of your agent are played. The tables, with your agent in them, go to `runs/benchmark`.",
        f"All figures are about the {'numbers of the overlay file' if own else 'shipped numbers on the pieces'}.",
    ]
    if plan.solo:
        alone = sorted((row for row in rows if row[plan.solo_games]), key=lambda row: -row[plan.ranked_by].value)
        speed = "- **decisions/s**: on the machine that measured the row. Other programs ran there, too."
        blocks += ["## Alone", _solo_table(plan, alone, short=False).markdown(), "\n".join([*plan.about_solo, speed])]
    if benchmark.pairs:
        duels = [f"{number:,}" for number in sorted({len(pair["games"]) for pair in benchmark.pairs})]
        blocks += [
            "## Two players",
            _duel_table([row for row in rows if row["rating"] is not None], short=False).markdown(),
            f"- **won against**: {' or '.join(duels)} games for each pair of agents. Every seed is played with either\n"
            "  agent in the first seat. A shared victory counts half. The unit of the intervals is the seed.\n"
            "- **rating**: openskill's (Plackett-Luce), the mean over several orders of the games. Only differences\n"
            "  mean something, and a new agent moves the others a little. The number after ± is the model's own\n"
            "  uncertainty, not a confidence interval. The columns beside it say who is better than whom.\n"
            "- **Elo**: by the Bradley-Terry model, `greedy` 0, with a bootstrap over the seeds. An agent that won\n"
            f"  nothing has only an upper bound. {_misfit_text(benchmark)}" + _EXPLOITED * bool(benchmark.exploited),
        ]
    measured = [
        f"- `{command} --output {'FOLDER' if own else plan.docs}` writes this page from `benchmark.json`,",
        "  and plays the games that are missing there.",
        f"- Intervals are 95 %. Seeds start at {benchmark.seed:,}.",
        f"- The figures are of {package} {benchmark.package_version}, rules version {benchmark.rules_version}.",
        *([f"- {plan.about_numbers}{replaced}. All figures depend on them."] if plan.about_numbers else []),
    ]
    return "\n\n".join([*blocks, "## How this was measured", "\n".join(measured)]) + "\n"
