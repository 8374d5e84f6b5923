"""`… benchmark`: a game's reference table of agents, and any agent's place in it.

What has been measured stays in `benchmark.json` and is not played again: an agent that joins plays its own solo games
and one match against each agent that is there. What a game's table has is its `Plan`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tabletop.errors import ConfigError, TabletopError
from tabletop.files import read_limited, shipped
from tabletop.game import Config, Game
from tabletop_agents import Agent
from tabletop_training.evaluation import (
    EVALUATION_SEED,
    HERE,
    NO_ESTIMATE,
    Estimate,
    Results,
    Workers,
    mean_estimate,
    share_estimate,
)
from tabletop_training.evaluation_files import (
    OnResult,
    new_table,
    percent,
    plain,
    plus_minus,
    unheard,
    write_json,
    write_rows,
)
from tabletop_training.job import Job, Stopped
from tabletop_training.ladder import LADDER
from tabletop_training.matches import make_agents
from tabletop_training.plays import Play, agent_hash, is_search, play_all, tables_hash
from tabletop_training.ratings import Game as Rated
from tabletop_training.ratings import Rating, Z
from tabletop_training.settings import check_at_least_one
from tabletop_training.tournament import rate

_ROOT = Path(__file__).parents[2]
_FILE = "benchmark.json"
_RESULTS = "-=+"
"""Of a game in a pair's `games`: lost, shared, won by the first agent."""

QUICK = {"games": 50, "search_games": 5, "duel_games": 8}
"""The most games that are played with `quick`."""
_ROUGH = "These numbers are rough: --quick plays few games, so the intervals are wide."

# --- What a table has ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measure:
    """What solo games are measured by.

    Attributes:
        of: takes results, returns a number of each game, (games,).
        estimate: their mean with its interval.
        long, short: the estimate as the page shows it, and as a screen does, without its interval.
    """

    of: Callable[[Results], np.ndarray]
    estimate: Callable[[np.ndarray], Estimate]
    long: Callable[[Estimate], str]
    short: Callable[[Estimate], str]


def _in_per_cent(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.1f}"


WIN_RATE = Measure(lambda results: results.win_shares[:, 0], share_estimate, percent, _in_per_cent)
MARGIN = Measure(
    lambda results: results.margins, mean_estimate, partial(plus_minus, signed=True), lambda one: f"{one.value:+.1f}"
)
POINTS = Measure(lambda results: results.points[:, 0], mean_estimate, plus_minus, lambda one: f"{one.value:.1f}")


@dataclass(frozen=True)
class Column:
    """A column of the solo games.

    Attributes:
        key: its name in the files. measure: of which it is the mean.
        head, short_head: above it on the page, and on a screen.
        sets: how many of the plan's configurations, from the first on; None for all.
    """

    key: str
    measure: Measure
    head: str
    short_head: str
    sets: int | None = None

    def estimate(self, sets: Sequence[Results]) -> Estimate:
        """From an agent's games of all configurations: a seed's mean over them is one observation."""
        return self.measure.estimate(np.mean([self.measure.of(result) for result in sets[: self.sets]], axis=0))


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a game's reference table has; the game is one that two can play.

    Attributes:
        agents: names of those that are measured if none are named.
        docs: the folder, within the repository, of the published table: an agent of one's own is placed among these.
        solo: what is set in each configuration of the game for one; none of a game that nobody plays alone.
        columns: of the solo games. ranked_by: the key of that which orders the agents without a rating.
        solo_title: of the solo games' table on a screen.
        about_solo: lines of the page that explain the columns.
        about_numbers: a sentence without its end about the numbers on the pieces, where something is to be said.
        title: of the page.
    """

    game: Game
    agents: tuple[str, ...]
    docs: str
    solo: tuple[Mapping[str, Any], ...] = ()
    columns: tuple[Column, ...] = ()
    ranked_by: str = ""
    solo_title: str = ""
    about_solo: tuple[str, ...] = ()
    about_numbers: str = ""
    title: str = "The agents, measured"

    @property
    def reference(self) -> Path:
        """What the published table was written from: in a clone that of its docs, else the copy in the wheel."""
        return shipped(Path(__file__).parent / "tables" / f"{self.game.name}.json", _ROOT / self.docs / _FILE)

    @property
    def solo_games(self) -> str:
        """What the files call the number of solo games."""
        return "solo_games_a_set" if len(self.solo) > 1 else "solo_games"


# --- What is measured ------------------------------------------------------------------------------------------------


@dataclass
class Benchmark:
    """Everything measured so far.

    Attributes:
        game: its name; empty in files of the time when there was but one game.
        solo: by agent: `games` of each set, and estimates [value, low, high] by the keys of the plan's columns;
            `decisions_per_second`.
        pairs: `first` and `second` agent, and their 2-player `games` as a text: two characters of `_RESULTS` a seed,
            with the first agent in seat 0 and in seat 1.
        checkpoints: SHA-256 of the file of each agent that has one.
        tables: SHA-256 of the numbers on the pieces. components: the overlay file that they come from, if there is one.
        quick: whether some of it was measured with few games.
    """

    plan: Plan
    game: str = ""
    seed: int = EVALUATION_SEED
    solo: dict[str, dict[str, Any]] = field(default_factory=dict)
    pairs: list[dict[str, str]] = field(default_factory=list)
    checkpoints: dict[str, str] = field(default_factory=dict)
    tables: str = ""
    components: str | None = None
    quick: bool = False
    package_version: str = ""
    state_version: int = 0

    @classmethod
    def new(cls, plan: Plan, components: str | None = None, quick: bool = False) -> Benchmark:
        """One without any agent, of these numbers and this version of the game."""
        versions: dict[str, Any] = {"package_version": plan.game.version, "state_version": plan.game.rules_version}
        tables = tables_hash(plan.game, components)
        return cls(plan, plan.game.name, tables=tables, components=components, quick=quick, **versions)

    @property
    def content(self) -> dict[str, Any]:
        """As a file keeps it."""
        content = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "plan"}
        return content if self.game else {key: value for key, value in content.items() if key != "game"}

    @property
    def solo_configs(self) -> list[Config]:
        """What one plays."""
        return [self._config(1, switches) for switches in self.plan.solo]

    @property
    def duel(self) -> Config:
        """What two play."""
        return self._config(2, {})

    def _config(self, players: int, switches: Mapping[str, Any]) -> Config:
        numbers = {} if self.components is None else {"components": self.components}
        config: Config = self.plan.game.config(players=players, **switches, **numbers)
        return config

    @property
    def agents(self) -> list[str]:
        """All there are, the ladder first, then in the order in which they came."""
        met = dict.fromkeys([*self.solo, *(pair[who] for pair in self.pairs for who in ("first", "second"))])
        return [*(name for name in LADDER if name in met), *(name for name in met if name not in LADDER)]

    def forget(self, agent: str) -> None:
        """Drop all that an agent played."""
        self.solo.pop(agent, None)
        self.checkpoints.pop(agent, None)
        self.pairs = [pair for pair in self.pairs if agent not in (pair["first"], pair["second"])]

    def add_solo(self, sets: Sequence[Results]) -> None:
        """An agent's games of all sets, in the order of the plan's configurations."""
        decisions = sum(int(result.lengths.sum()) for result in sets)
        seconds = sum(float(result.seconds.sum()) for result in sets)
        self.solo[sets[0].agents[0]] = {
            "games": len(sets[0]),
            **{column.key: list(column.estimate(sets)) for column in self.plan.columns},
            "decisions_per_second": round(decisions / seconds, 1) if seconds > 0 else None,
        }

    def add_pair(self, result: Results) -> None:
        """A match of two agents."""
        shares = result.by_agent(result.win_shares)[:, 0]
        first, second = result.agents
        self.pairs.append(
            {"first": first, "second": second, "games": "".join(_RESULTS[round(2 * share)] for share in shares)}
        )

    def score(self, one: str, other: str) -> Estimate | None:
        """The first agent's win rate against the other one, seeds as the unit; None if they have not met."""
        for pair in self.pairs:
            if {pair["first"], pair["second"]} == {one, other}:
                shares = np.array([_RESULTS.index(game) / 2 for game in pair["games"]]).reshape(-1, 2).mean(axis=1)
                return share_estimate(shares if pair["first"] == one else 1 - shares)
        return None

    def ratings(self) -> dict[str, Rating]:
        """openskill ratings of all 2-player games, every pair having played as many."""
        games: list[Rated] = []
        for pair in self.pairs:
            for number, game in enumerate(pair["games"]):
                names = (pair["first"], pair["second"])
                places = {"-": (2, 1), "=": (1, 1), "+": (1, 2)}[game]
                games.append((names, places) if number % 2 == 0 else (names[::-1], places[::-1]))
        met = {name for names, _ in games for name in names}
        return rate(games, [name for name in self.agents if name in met], self.seed)


# --- The command -----------------------------------------------------------------------------------------------------


def main(
    plan: Plan,
    agents: Sequence[str] = (),
    games: int = 1000,
    search_games: int = 100,
    duel_games: int = 200,
    components: str | Path | None = None,
    output: str | Path | None = None,
    reference: str | Path | None = None,
    quick: bool = False,
    workers: Workers = HERE,
    on_result: OnResult = unheard,
) -> Path:
    """Play what is missing, print tables of what is finished, and write them; returns the folder.

    Arguments:
        plan: what the game's table has.
        agents: names for `make_agent` that are to be in the table; none → those of the plan.
        games, search_games: of each agent with each configuration of the game for one, and of agents that search.
        duel_games: of each two agents, half of them in each seat.
        components: overlay file; its own `benchmark.json` begins with nobody.
        output: folder of `benchmark.json`, which is gone on with if there is one, `benchmark.md` and `benchmark.csv`;
            None → `runs/benchmark`, or `runs/benchmark-quick`.
        reference: `benchmark.json` to begin with where the output has none; None → that of the plan if it is there.
        quick: play no more games than `QUICK` says.
        workers: who plays; the games are the same.
        on_result: told the rows of all agents with their intervals, and what they were measured with.

    Ctrl-C keeps every match that is finished, and the solo games of every agent that has played all sets. Raises
    ConfigError, CheckpointError, ComponentsError, TabletopError.
    """
    names = list(dict.fromkeys(agents or plan.agents))
    wanted = {"games": games, "search_games": search_games, "duel_games": duel_games}
    check_at_least_one(**wanted)
    if quick:
        wanted = {name: min(number, QUICK[name]) for name, number in wanted.items()}
    folder = Path(output or ("runs/benchmark-quick" if quick else "runs/benchmark"))
    overlay = None if components is None else str(Path(components).resolve())
    new = Benchmark.new(plan, overlay, quick)
    benchmark = _start(folder / _FILE, plan.reference if reference is None else Path(reference), new)
    for name in [name for name in names if agent_hash(name, plan.game) != benchmark.checkpoints.get(name)]:
        benchmark.forget(name)  # measured with another file of that name
    solo, duel = _players(Console(), [*dict.fromkeys([*benchmark.agents, *names])], names, benchmark)
    solo_games = {agent.name: wanted["search_games" if is_search(agent.name) else "games"] for agent in solo}
    plays = [Play([agent], config, solo_games[agent.name]) for agent in solo for config in benchmark.solo_configs]
    plays += [
        Play(pair, benchmark.duel, wanted["duel_games"])
        for pair in combinations(duel, 2)
        if benchmark.score(pair[0].name, pair[1].name) is None and {pair[0].name, pair[1].name} & {*names}
    ]
    with Job(folder, resume=True) as job:
        if not plays:
            job.console.print("All of this is measured already.")
        try:
            sets: list[Results] = []
            for result, left in play_all(job, plays, benchmark.seed, workers):
                if result.config.players > 1:
                    benchmark.add_pair(result)
                else:
                    sets.append(result)
                    if len(sets) < len(plan.solo):
                        continue
                    benchmark.add_solo(sets)
                    sets = []
                _write(folder, benchmark)
                own = [row for row in _rows(benchmark) if row["agent"] in result.agents]
                job.console.print(_duel_table(plan, own) if result.config.players > 1 else _solo_table(plan, own))
                job.console.print(f"{left}.")
        except (Stopped, KeyboardInterrupt):
            job.console.print("Stopped early. The same command continues.")
        rows = _write(folder, benchmark)
        for table in _tables(plan, rows) if rows else ():
            job.console.print(table)
        if quick:
            job.console.print(_ROUGH)
        kept = benchmark.content
        measured = {key: kept[key] for key in ("package_version", "state_version", "seed", "components", "quick")}
        on_result(plain({"game": plan.game.name, **measured, "agents": rows}))
    return folder


def _start(own: Path, reference: Path, new: Benchmark) -> Benchmark:
    """What is there already, or `new`. Raises TabletopError for a file of the output that can't be gone on with."""
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
        same = (read.tables, read.state_version) == (new.tables, new.state_version)
        if same and (path != own or read.quick == new.quick):
            return replace(read, components=new.components, quick=new.quick)
        if path == own:
            played = "the shipped numbers" if read.components is None else f"the numbers of {read.components}"
            quick = "with --quick" if read.quick else "without --quick"
            problem = f"measured {quick}; continue {quick}, or give another --output"
            if not same:
                problem = f"measured with other rules or numbers (state version {read.state_version}, {played}); give"
                problem += " the same --components, or move it away to start again"
            raise TabletopError(f"{path}: {problem}")
    return new


def _players(
    console: Console, everybody: Sequence[str], wanted: Sequence[str], benchmark: Benchmark
) -> tuple[list[Agent], list[Agent]]:
    """The agents that have solo games to play, and those that have matches to play or to be played against.

    An agent that refuses a configuration is left out of it; so is one that is not wanted where its file is gone or has
    changed. Raises ConfigError if a wanted one refuses all of them, CheckpointError for its file.
    """
    game = benchmark.plan.game
    solo: list[Agent] = []
    duel: list[Agent] = []
    kinds = [*((config, solo) for config in benchmark.solo_configs[:1]), (benchmark.duel, duel)]
    with console.status("loading the agents"):
        for name in everybody:
            if name not in wanted and agent_hash(name, game) not in (None, benchmark.checkpoints.get(name)):
                console.print(f"{name} is left out: its file has changed. Name it to measure it again.")
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
    """A line of the CSV file for each agent, by rating, then those without one by their solo games.

    `NO_ESTIMATE` or None is what an agent does not play, or has not.
    """
    plan, ratings = benchmark.plan, benchmark.ratings()
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
            **({"decisions_per_second": solo["decisions_per_second"] if solo else None} if plan.solo else {}),
        }
        rows.append(row)

    def strength(row: dict[str, Any]) -> list[float]:
        both = (row["rating"], row[plan.ranked_by].value if plan.ranked_by else None)
        return [-np.inf if value is None or np.isnan(value) else value for value in both]

    return sorted(rows, key=strength, reverse=True)


def _write(folder: Path, benchmark: Benchmark) -> list[dict[str, Any]]:
    """All that is measured, and as a table and as a page, if there is any; its rows."""
    write_json(folder / _FILE, benchmark.content)
    rows = _rows(benchmark)
    if rows:
        write_rows(folder / "benchmark.csv", rows)
        (folder / "benchmark.md").write_text(_page(benchmark, rows), encoding="utf-8")
    return rows


def _cell(plan: Plan, row: dict[str, Any], key: str, short: bool = False) -> str:
    """As the page shows it; `short` without an interval, rates in per cent."""
    value = row[key]
    if key == f"against_{row['agent']}":
        return ""
    if not value or value is NO_ESTIMATE:
        return "–"
    if key == "rating":
        return f"{value:.1f}" if short else f"{value:.1f} ± {Z * row['rating_sigma']:.1f}"
    if not isinstance(value, Estimate):
        return format(value, ",.0f")
    measure = next((column.measure for column in plan.columns if column.key == key), WIN_RATE)
    return measure.short(value) if short else measure.long(value)


def _rungs(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The columns of the ladder's agents that there are, with the agents."""
    return {key: key.removeprefix("against_") for key in rows[0] if key.startswith("against_")}


def _tables(plan: Plan, rows: Sequence[dict[str, Any]]) -> Iterator[Table]:
    """For a screen, without intervals: solo games, and those of two players."""
    if plan.solo:
        yield _solo_table(plan, rows)
    yield _duel_table(plan, rows)


def _solo_table(plan: Plan, rows: Sequence[dict[str, Any]]) -> Table:
    return _table(plan, rows, plan.solo_title, {column.key: column.short_head for column in plan.columns})


def _duel_table(plan: Plan, rows: Sequence[dict[str, Any]]) -> Table:
    heads = {"rating": "rating", **{key: "v.\n" + rung.replace("-", "-\n") for key, rung in _rungs(rows).items()}}
    return _table(plan, rows, "Two players: games won in per cent", heads)


def _table(plan: Plan, rows: Sequence[dict[str, Any]], title: str, heads: Mapping[str, str]) -> Table:
    table = new_table(title, ["agent"], list(heads.values()), "Intervals are in benchmark.md.")
    for row in rows:
        table.add_row(Text(row["agent"]), *(_cell(plan, row, key, short=True) for key in heads))
    return table


def _page(benchmark: Benchmark, rows: Sequence[dict[str, Any]]) -> str:
    plan, own = benchmark.plan, benchmark.components is not None
    command = f"{plan.game.name} benchmark"
    again, folder = (f"{command} --components FILE", "FOLDER") if own else (command, plan.docs)
    columns = {"rating": "2p rating", **{key: f"2p against {rung}" for key, rung in _rungs(rows).items()}}
    if plan.solo:
        solo = {plan.solo_games: "solo games", **{column.key: column.head for column in plan.columns}}
        columns = {**solo, **columns, "decisions_per_second": "decisions/s"}
    about_speed = "in the solo games, on the machine where that row was measured, beside what else ran there."
    replaced = ", some of them replaced by an overlay file" if own else ""
    numbers = [f" {plan.about_numbers}{replaced}: all", "  figures are of this package's games."]
    first, *others = numbers if plan.about_numbers else [""]
    package = plan.game.home.partition(".")[0].replace("_", "-")
    duels = [f"{number:,}" for number in sorted({len(pair["games"]) for pair in benchmark.pairs})]
    lines = [
        f"# {plan.title}",
        "",
        *([_ROUGH, ""] if benchmark.quick else []),
        f"| agent | {' | '.join(columns.values())} |",
        "|---|" + "---:|" * len(columns),
        *(f"| `{row['agent']}` | {' | '.join(_cell(plan, row, key) for key in columns)} |" for row in rows),
        "",
        *plan.about_solo,
        f"- **2p**: two players, {' or '.join(duels) or 'no'} games of each two agents; every seed is played with",
        "  either in the first seat. A shared victory counts half. The seed is the unit of the intervals. Ratings are",
        "  openskill's (Plackett-Luce), means over several orders of the games; only differences mean something, and a",
        "  new agent moves the others a little. What they may be off (±) is the model's own belief; who is better than",
        "  whom with 95 % is in the columns beside.",
        *([f"- **decisions/s**: {about_speed}"] if plan.solo else []),
        f"- Intervals are 95 %. Seeds from {benchmark.seed}; {package} {benchmark.package_version}, state version",
        f"  {benchmark.state_version}.{first}",
        *others,
        "",
        "The last command below writes this page from what `benchmark.json` keeps. The first one places an agent of",
        "your own in it: only its own games are played, and the table with it is written into `runs/benchmark`.",
        "",
        "```sh",
        f"{again} policy:runs/mine/best.zip   # your agent among those above; or my_module:MyAgent",
        f"{again} --quick my_module:MyAgent  # the same with few games: rough numbers, soon",
        f"{again} --output {folder:<19}# this page, anew where something is missing",
        "```",
    ]
    return "\n".join(lines) + "\n"
