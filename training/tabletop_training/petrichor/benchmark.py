"""`petrichor benchmark`: the reference table of agents (docs/benchmark.md), and any agent's place in it.

What has been measured stays in `benchmark.json` and is not played again: an agent that joins plays its own solo games
and one match against each agent that is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

import petrichor_env
from petrichor_env.config import Config
from petrichor_env.state import RULES_VERSION
from tabletop.errors import ConfigError, TabletopError
from tabletop.files import read_limited
from tabletop_agents import Agent
from tabletop_training.evaluation import EVALUATION_SEED, Estimate, Results, mean_estimate, share_estimate
from tabletop_training.evaluation_files import new_table, percent, plus_minus, write_json, write_rows
from tabletop_training.job import Job, Stopped
from tabletop_training.ladder import LADDER
from tabletop_training.matches import make_agents
from tabletop_training.petrichor.difficulty import Play, play_all
from tabletop_training.petrichor.study import agent_hash, is_search, tables_hash
from tabletop_training.petrichor.summaries import ALL_VARIANTS, NO_ESTIMATE
from tabletop_training.ratings import Game, Rating
from tabletop_training.settings import check_at_least_one
from tabletop_training.tournament import rate

DEFAULT_AGENTS = (*LADDER, "policy:solo", "policy:versus")

REFERENCE = Path(__file__).parents[3] / "docs" / "benchmark.json"
"""What `docs/benchmark.md` was written from: an agent of one's own is placed among these."""

_FILE = "benchmark.json"
_RESULTS = "-=+"
"""Of a game in a pair's `games`: lost, shared, won by the first agent."""

_SOLO = ("base_win_rate", "base_margin", "mean_win_rate", "mean_margin")

QUICK = {"games": 50, "search_games": 5, "duel_games": 8}
"""The most games that are played with `quick`."""
_ROUGH = "These numbers are rough: --quick plays few games, so the intervals are wide."


@dataclass
class Benchmark:
    """Everything measured so far.

    Attributes:
        solo: by agent: `games` of each set, and estimates [value, low, high] of the base game and of the mean over the
            16 sets: `base_win_rate`, `base_margin`, `mean_win_rate`, `mean_margin`; `decisions_per_second`.
        pairs: `first` and `second` agent, and their 2-player `games` as a text: two characters of `_RESULTS` a seed,
            with the first agent in seat 0 and in seat 1.
        checkpoints: SHA-256 of the file of each agent that has one.
        tables: SHA-256 of the numbers on the pieces. components: the overlay file that they come from, if there is one.
        quick: whether some of it was measured with few games.
    """

    seed: int = EVALUATION_SEED
    solo: dict[str, dict[str, Any]] = field(default_factory=dict)
    pairs: list[dict[str, str]] = field(default_factory=list)
    checkpoints: dict[str, str] = field(default_factory=dict)
    tables: str = ""
    components: str | None = None
    quick: bool = False
    package_version: str = petrichor_env.__version__
    state_version: int = RULES_VERSION

    @property
    def solo_game(self) -> Config:
        """What one plays, without variants."""
        return Config(components=self.components)

    @property
    def duel(self) -> Config:
        """What two play."""
        return Config(players=2, components=self.components)

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
        """An agent's games of all sets, in the order of `ALL_VARIANTS`."""
        decisions = sum(int(result.lengths.sum()) for result in sets)
        seconds = sum(float(result.seconds.sum()) for result in sets)
        self.solo[sets[0].agents[0]] = {
            "games": len(sets[0]),
            "base_win_rate": list(share_estimate(sets[0].win_shares[:, 0])),
            "base_margin": list(mean_estimate(sets[0].margins)),
            # a seed's mean over the sets is one observation
            "mean_win_rate": list(share_estimate(np.mean([result.win_shares[:, 0] for result in sets], axis=0))),
            "mean_margin": list(mean_estimate(np.mean([result.margins for result in sets], axis=0))),
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
        games: list[Game] = []
        for pair in self.pairs:
            for number, game in enumerate(pair["games"]):
                names = (pair["first"], pair["second"])
                places = {"-": (2, 1), "=": (1, 1), "+": (1, 2)}[game]
                games.append((names, places) if number % 2 == 0 else (names[::-1], places[::-1]))
        met = {name for names, _ in games for name in names}
        return rate(games, [name for name in self.agents if name in met], self.seed)


def main(
    agents: Sequence[str] = (),
    games: int = 1000,
    search_games: int = 100,
    duel_games: int = 200,
    components: str | Path | None = None,
    output: str | Path | None = None,
    reference: str | Path | None = None,
    quick: bool = False,
) -> Path:
    """Play what is missing, print tables of what is finished, and write them; returns the folder.

    Arguments:
        agents: names for `make_agent` that are to be in the table; none → `DEFAULT_AGENTS`.
        games, search_games: of each agent with each of the 16 sets of solo variants, and of agents that search.
        duel_games: of each two agents, half of them in each seat.
        components: overlay file; its own `benchmark.json` begins with nobody.
        output: folder of `benchmark.json`, which is gone on with if there is one, `benchmark.md` and `benchmark.csv`;
            None → `runs/benchmark`, or `runs/benchmark-quick`.
        reference: `benchmark.json` to begin with where the output has none; None → `REFERENCE` if it is there.
        quick: play no more games than `QUICK` says.

    Ctrl-C keeps every match that is finished, and the solo games of every agent that has played all sets. Raises
    ConfigError, CheckpointError, ComponentsError, TabletopError.
    """
    names = list(dict.fromkeys(agents or DEFAULT_AGENTS))
    wanted = {"games": games, "search_games": search_games, "duel_games": duel_games}
    check_at_least_one(**wanted)
    if quick:
        wanted = {name: min(number, QUICK[name]) for name, number in wanted.items()}
    folder = Path(output or ("runs/benchmark-quick" if quick else "runs/benchmark"))
    overlay = None if components is None else str(Path(components).resolve())
    new = Benchmark(tables=tables_hash(overlay), components=overlay, quick=quick)
    benchmark = _start(folder / _FILE, REFERENCE if reference is None else Path(reference), new)
    for name in [name for name in names if agent_hash(name) != benchmark.checkpoints.get(name)]:
        benchmark.forget(name)  # measured with another file of that name
    solo, duel = _players(Console(), [*dict.fromkeys([*benchmark.agents, *names])], names, benchmark)
    solo_games = {agent.name: wanted["search_games" if is_search(agent.name) else "games"] for agent in solo}
    plays = [
        Play([agent], replace(benchmark.solo_game, variants=variants), solo_games[agent.name])
        for agent in solo
        for variants in ALL_VARIANTS
    ]
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
            for result, left in play_all(job, plays, benchmark.seed):
                if result.config.players > 1:
                    benchmark.add_pair(result)
                else:
                    sets.append(result)
                    if len(sets) < len(ALL_VARIANTS):
                        continue
                    benchmark.add_solo(sets)
                    sets = []
                _write(folder, benchmark)
                solo_table, duel_table = _tables([row for row in _rows(benchmark) if row["agent"] in result.agents])
                job.console.print(duel_table if result.config.players > 1 else solo_table)
                job.console.print(f"{left}.")
        except (Stopped, KeyboardInterrupt):
            job.console.print("Stopped early: the same command goes on.")
        rows = _write(folder, benchmark)
        for table in _tables(rows) if rows else ():
            job.console.print(table)
        if quick:
            job.console.print(_ROUGH)
    return folder


def _start(own: Path, reference: Path, new: Benchmark) -> Benchmark:
    """What is there already, or `new`. Raises TabletopError for a file of the output that can't be gone on with."""
    for path in (own, reference):
        if not path.exists():
            continue
        try:
            read = Benchmark(**json.loads(read_limited(path)))
            _rows(read)
            if not read.tables:
                raise ValueError("no numbers of pieces")
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            raise TabletopError(f"{path}: no benchmark of this version; move it away to begin anew") from None
        same = (read.tables, read.state_version) == (new.tables, RULES_VERSION)
        if same and (path != own or read.quick == new.quick):
            return replace(read, components=new.components, quick=new.quick)
        if path == own:
            played = "the shipped numbers" if read.components is None else f"the numbers of {read.components}"
            quick = "with --quick" if read.quick else "without --quick"
            problem = f"measured {quick}; go on {quick}, or give another --output"
            if not same:
                problem = f"measured with other rules or numbers (state version {read.state_version}, {played}); give"
                problem += " the same --components, or move it away to begin anew"
            raise TabletopError(f"{path}: {problem}")
    return new


def _players(
    console: Console, everybody: Sequence[str], wanted: Sequence[str], benchmark: Benchmark
) -> tuple[list[Agent], list[Agent]]:
    """The agents that have solo games to play, and those that have matches to play or to be played against.

    An agent that refuses a configuration is left out of it; so is one that is not wanted where its file is gone or has
    changed. Raises ConfigError if a wanted one refuses both configurations, CheckpointError for its file.
    """
    solo: list[Agent] = []
    duel: list[Agent] = []
    with console.status("loading the agents"):
        for name in everybody:
            if name not in wanted and agent_hash(name) not in (None, benchmark.checkpoints.get(name)):
                console.print(f"{name} is not played against: its file is another one now. Name it to measure it anew.")
                continue
            refusals = []
            for config, players in ((benchmark.solo_game, solo), (benchmark.duel, duel)):
                if config.solo and (name in benchmark.solo or name not in wanted):
                    continue
                try:
                    players += make_agents([name], config)
                except TabletopError as error:
                    if name in wanted and not isinstance(error, ConfigError):
                        raise
                    refusals.append(error)
            if name in wanted and len(refusals) == 2:
                raise refusals[0]
    benchmark.checkpoints |= {name: digest for name in wanted if (digest := agent_hash(name)) is not None}
    return solo, duel


def _rows(benchmark: Benchmark) -> list[dict[str, Any]]:
    """A line of the CSV file for each agent, by rating, then those without one by their solo games.

    `NO_ESTIMATE` or None is what an agent does not play, or has not.
    """
    ratings = benchmark.ratings()
    rungs = [rung for rung in LADDER if rung in benchmark.agents]
    rows = []
    for agent in benchmark.agents:
        solo, rating = benchmark.solo.get(agent), ratings.get(agent)
        row = {
            "agent": agent,
            "solo_games_a_set": solo["games"] if solo else 0,
            **{key: Estimate(*solo[key]) if solo else NO_ESTIMATE for key in _SOLO},
            **{f"against_{rung}": benchmark.score(agent, rung) or NO_ESTIMATE for rung in rungs},
            "rating": rating.mu if rating else None,
            "rating_sigma": rating.sigma if rating else None,
            "decisions_per_second": solo["decisions_per_second"] if solo else None,
        }
        rows.append(row)

    def strength(row: dict[str, Any]) -> list[float]:
        both = (row["rating"], row["mean_win_rate"].value)
        return [-np.inf if value is None or np.isnan(value) else value for value in both]

    return sorted(rows, key=strength, reverse=True)


def _write(folder: Path, benchmark: Benchmark) -> list[dict[str, Any]]:
    """All that is measured, and as a table and as a page, if there is any; its rows."""
    write_json(folder / _FILE, asdict(benchmark))
    rows = _rows(benchmark)
    if rows:
        write_rows(folder / "benchmark.csv", rows)
        (folder / "benchmark.md").write_text(_page(benchmark, rows), encoding="utf-8")
    return rows


def _cell(row: dict[str, Any], key: str, short: bool = False) -> str:
    """As the page shows it; `short` without an interval, rates in per cent."""
    value = row[key]
    if key == f"against_{row['agent']}":
        return ""
    if not value or value is NO_ESTIMATE:
        return "–"
    if not isinstance(value, Estimate):
        return format(value, ".1f" if key == "rating" else ",.0f")
    if key.endswith("margin"):
        return f"{value.value:+.1f}" if short else plus_minus(value, signed=True)
    return f"{100 * value.value:.1f}" if short else percent(value)


def _rungs(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The columns of the ladder's agents that there are, with the agents."""
    return {key: key.removeprefix("against_") for key in rows[0] if key.startswith("against_")}


def _tables(rows: Sequence[dict[str, Any]]) -> Iterator[Table]:
    """For a screen, without intervals: solo games, and those of two players."""
    solo = dict(zip(_SOLO, ("base:\nwon", "points\nahead", "16 sets:\nwon", "points\nahead"), strict=True))
    duels = {"rating": "rating", **{key: "v.\n" + rung.replace("-", "-\n") for key, rung in _rungs(rows).items()}}
    for title, columns in (("Solo: games won in per cent", solo), ("Two players: games won in per cent", duels)):
        table = new_table(title, ["agent"], list(columns.values()), "Intervals are in benchmark.md.")
        for row in rows:
            table.add_row(Text(row["agent"]), *(_cell(row, key, short=True) for key in columns))
        yield table


def _page(benchmark: Benchmark, rows: Sequence[dict[str, Any]]) -> str:
    own = benchmark.components is not None
    again, folder = ("petrichor benchmark --components FILE", "FOLDER") if own else ("petrichor benchmark", "docs")
    heads = ("solo base: won", "points ahead", "16 sets: won", "points ahead")
    columns = {"solo_games_a_set": "solo games", **dict(zip(_SOLO, heads, strict=True))}
    columns |= {"rating": "2p rating", **{key: f"2p against {rung}" for key, rung in _rungs(rows).items()}}
    columns["decisions_per_second"] = "decisions/s"
    duels = [f"{number:,}" for number in sorted({len(pair["games"]) for pair in benchmark.pairs})]
    lines = [
        "# The agents, measured",
        "",
        *([_ROUGH, ""] if benchmark.quick else []),
        f"| agent | {' | '.join(columns.values())} |",
        "|---|" + "---:|" * len(columns),
        *(f"| `{row['agent']}` | {' | '.join(_cell(row, key) for key in columns)} |" for row in rows),
        "",
        "- **solo**: the game against the Southern Winds; *base* without variants, *16 sets* the mean over all sets of",
        "  the variants. Points ahead: of the neutral player. Games: of each set.",
        f"- **2p**: two players, {' or '.join(duels) or 'no'} games of each two agents; every seed is played with",
        "  either in the first seat. A shared victory counts half. The seed is the unit of the intervals. Ratings are",
        "  openskill's (Plackett-Luce), means over several orders of the games; only differences mean something, and a",
        "  new agent moves the others a little.",
        "- **decisions/s**: in the solo games, on the machine where that row was measured, beside what else ran there.",
        f"- Intervals are 95 %. Seeds from {benchmark.seed}; petrichor-env {benchmark.package_version}, state version",
        f"  {benchmark.state_version}. Numbers that the rule texts lack are assumed (`petrichor components`)"
        f"{', some of them replaced by an overlay file' if own else ''}: all",
        "  figures are of this package's games.",
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
