"""`petrichor benchmark`: the reference table of agents (docs/benchmark.md), and any agent's place in it.

What has been measured stays in `benchmark.json` and is not played again: an agent that joins plays its own solo games
and one match against each agent that is there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
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
from tabletop_training.evaluation import (
    EVALUATION_SEED,
    Estimate,
    EvaluationStopped,
    Playing,
    Results,
    mean_estimate,
    share_estimate,
)
from tabletop_training.evaluation_files import new_table, percent, plus_minus, write_json, write_rows
from tabletop_training.job import Job
from tabletop_training.matches import make_agents, play_match, seeds_for
from tabletop_training.petrichor.difficulty import measure
from tabletop_training.petrichor.study import Key, agent_hash, is_search, tables_hash
from tabletop_training.petrichor.summaries import ALL_VARIANTS
from tabletop_training.ratings import Game, Rating
from tabletop_training.tournament import rate

LADDER = ("random", "greedy", "rollout", "ismcts-200", "ismcts-2000")
"""Each step is stronger than the one before; an agent's place is told by its games against them."""
DEFAULT_AGENTS = (*LADDER, "policy:solo", "policy:versus")

REFERENCE = Path(__file__).parents[3] / "docs" / "benchmark.json"
"""What `docs/benchmark.md` was written from: an agent of one's own is placed among these."""

_FILE = "benchmark.json"
_RESULTS = "-=+"
"""Of a game in a pair's `games`: lost, shared, won by the first agent."""

_SOLO = ("base_win_rate", "base_margin", "mean_win_rate", "mean_margin")


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
    """

    seed: int = EVALUATION_SEED
    solo: dict[str, dict[str, Any]] = field(default_factory=dict)
    pairs: list[dict[str, str]] = field(default_factory=list)
    checkpoints: dict[str, str] = field(default_factory=dict)
    tables: str = ""
    components: str | None = None
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
    output: str | Path = "runs/benchmark",
    reference: str | Path | None = None,
) -> Path:
    """Play what is missing, print the table, and write it; returns the folder.

    Arguments:
        agents: names for `make_agent` that are to be in the table; none → `DEFAULT_AGENTS`.
        games, search_games: of each agent with each of the 16 sets of solo variants, and of agents that search.
        duel_games: of each two agents, half of them in each seat.
        components: overlay file; its own `benchmark.json` begins with nobody.
        output: folder of `benchmark.json`, which is gone on with if there is one, `benchmark.md` and `benchmark.csv`.
        reference: `benchmark.json` to begin with where the output has none; None → `REFERENCE` if it is there.

    Ctrl-C keeps every match that is finished, and the solo games of every agent that has played all sets. Raises
    ConfigError, CheckpointError, ComponentsError, TabletopError.
    """
    names = list(dict.fromkeys(agents or DEFAULT_AGENTS))
    for number in (games, search_games, duel_games):
        if number < 1:
            raise TabletopError(f"{number} games: at least 1")
    folder = Path(output)
    overlay = None if components is None else str(Path(components).resolve())
    benchmark = _start(folder / _FILE, REFERENCE if reference is None else Path(reference), overlay)
    for name in [name for name in names if agent_hash(name) != benchmark.checkpoints.get(name)]:
        benchmark.forget(name)  # measured with another file of that name
    solo, duel = _players(Console(), [*dict.fromkeys([*benchmark.agents, *names])], names, benchmark)

    def save() -> None:
        write_json(folder / _FILE, asdict(benchmark))

    missing = [
        (first, second)
        for first, second in combinations(duel, 2)
        if benchmark.score(first.name, second.name) is None and {first.name, second.name} & {*names}
    ]
    with Job(folder, resume=True) as job:
        if not solo and not missing:
            job.console.print("All of this is measured already.")
        try:
            for agent in solo:
                _play_solo(job, benchmark, agent, search_games if is_search(agent.name) else games)
                save()
            for first, second in missing:
                _play_pair(job, benchmark, first, second, duel_games)
                save()
        except (EvaluationStopped, KeyboardInterrupt):
            job.console.print("Stopped early: the same command goes on.")
        save()
        if benchmark.agents:
            rows = _rows(benchmark)
            job.console.print(_table(rows))
            write_rows(folder / "benchmark.csv", [_flat(row) for row in rows])
            (folder / "benchmark.md").write_text(_page(benchmark, rows), encoding="utf-8")
    return folder


def _start(own: Path, reference: Path, components: str | None) -> Benchmark:
    """What is there already. Raises TabletopError for a file of the output that can't be gone on with."""
    tables = tables_hash(components)
    for path in (own, reference):
        if not path.exists():
            continue
        try:
            read = Benchmark(**json.loads(read_limited(path)))
            for pair in read.pairs:
                read.score(pair["first"], pair["second"])
            for solo in read.solo.values():
                _estimates(solo)
            if not read.tables:
                raise ValueError("no numbers of pieces")
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            raise TabletopError(f"{path}: no benchmark of this version; move it away to begin anew") from None
        if (read.tables, read.state_version) == (tables, RULES_VERSION):
            return replace(read, components=components)
        if path == own:
            played = "the shipped numbers" if read.components is None else f"the numbers of {read.components}"
            raise TabletopError(
                f"{path}: measured with other rules or numbers (state version {read.state_version}, {played}); "
                "give the same --components, or move it away to begin anew"
            )
    return Benchmark(tables=tables, components=components)


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
    for name in wanted:
        if (digest := agent_hash(name)) is not None:
            benchmark.checkpoints[name] = digest
    return solo, duel


def _play_solo(job: Job, benchmark: Benchmark, agent: Agent, games: int) -> None:
    results: dict[Key, Results] = {}
    order = [(agent, variants) for variants in ALL_VARIANTS]
    if not measure(job, order, benchmark.solo_game, {agent.name: games}, benchmark.seed, results):
        raise EvaluationStopped
    every = [results[agent.name, variants] for variants in ALL_VARIANTS]
    decisions = sum(int(result.lengths.sum()) for result in every)
    seconds = sum(float(result.seconds.sum()) for result in every)
    benchmark.solo[agent.name] = {
        "games": games,
        "base_win_rate": list(share_estimate(every[0].win_shares[:, 0])),
        "base_margin": list(mean_estimate(every[0].margins)),
        # a seed's mean over the sets is one observation
        "mean_win_rate": list(share_estimate(np.mean([result.win_shares[:, 0] for result in every], axis=0))),
        "mean_margin": list(mean_estimate(np.mean([result.margins for result in every], axis=0))),
        "decisions_per_second": round(decisions / seconds, 1) if seconds > 0 else None,
    }


def _play_pair(job: Job, benchmark: Benchmark, first: Agent, second: Agent, games: int) -> None:
    seeds = np.arange(benchmark.seed, benchmark.seed + seeds_for(games, 2))
    with job.bar("matches", 2 * len(seeds), f"{first.name} against {second.name}") as bar:
        told: Playing = {"should_stop": job.should_stop, "on_finished": bar.advance}
        result = play_match([first, second], benchmark.duel, seeds, **told)
    shares = result.by_agent(result.win_shares)[:, 0]
    benchmark.pairs.append(
        {"first": first.name, "second": second.name, "games": "".join(_RESULTS[round(2 * share)] for share in shares)}
    )


@dataclass(frozen=True)
class _Row:
    """One agent; None where it does not play that, or has not. `estimates` are `_SOLO` and `against_` each rung."""

    agent: str
    solo_games: int
    estimates: dict[str, Estimate | None]
    rating: float | None
    sigma: float | None
    speed: float | None

    @property
    def rungs(self) -> list[str]:
        """The agents of the ladder that there are."""
        return [name.removeprefix("against_") for name in self.estimates if name not in _SOLO]


def _rows(benchmark: Benchmark) -> list[_Row]:
    """By rating, then those without one by their solo games."""
    ratings = benchmark.ratings()
    rows = []
    for agent in benchmark.agents:
        own = benchmark.solo.get(agent, {})
        estimates: dict[str, Estimate | None] = {**(_estimates(own) if own else dict.fromkeys(_SOLO))}
        estimates |= {f"against_{rung}": benchmark.score(agent, rung) for rung in LADDER if rung in benchmark.agents}
        mu, sigma = (ratings[agent].mu, ratings[agent].sigma) if agent in ratings else (None, None)
        rows.append(_Row(agent, own.get("games", 0), estimates, mu, sigma, own.get("decisions_per_second")))

    def strength(row: _Row) -> tuple[float, float]:
        solo = row.estimates["mean_win_rate"]
        return (-np.inf if row.rating is None else row.rating, -np.inf if solo is None else solo.value)

    return sorted(rows, key=strength, reverse=True)


def _estimates(solo: dict[str, Any]) -> dict[str, Estimate]:
    return {key: Estimate(*solo[key]) for key in _SOLO}


def _cells(row: _Row) -> list[str]:
    """As the page shows them."""
    cells = []
    for name, value in row.estimates.items():
        if value is None:
            cells.append("" if name == f"against_{row.agent}" else "–")
        else:
            cells.append(plus_minus(value, signed=True) if name.endswith("margin") else percent(value))
    cells.insert(len(_SOLO), _number(row.rating, ".1f"))
    return [*cells, _number(row.speed, ",.0f")]


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def _table(rows: Sequence[_Row]) -> Table:
    """For a screen: rates in per cent, without their intervals."""
    heads = ("solo\nbase", "16\nsets", "2p\nrating", *(f"2p v.\n{rung}" for rung in rows[0].rungs))
    title, caption = "Games won in per cent, and 2-player ratings", "Intervals and margins are in benchmark.md."
    table = new_table(title, ["agent"], heads, caption)
    for row in rows:
        rates = [value for name, value in row.estimates.items() if not name.endswith("margin")]
        won = [_number(rate and 100 * rate.value, ".1f") for rate in rates]
        table.add_row(Text(row.agent), *won[:2], _number(row.rating, ".1f"), *won[2:])
    return table


def _flat(row: _Row) -> dict[str, Any]:
    """A line of the CSV file; empty where there is nothing."""
    nothing = Estimate(np.nan, np.nan, np.nan)
    return {
        "agent": row.agent,
        "solo_games_a_set": row.solo_games,
        **{name: value or nothing for name, value in row.estimates.items()},
        "rating": row.rating,
        "rating_sigma": row.sigma,
        "decisions_per_second": row.speed,
    }


def _page(benchmark: Benchmark, rows: Sequence[_Row]) -> str:
    own = benchmark.components is not None
    again, folder = ("petrichor benchmark --components FILE", "FOLDER") if own else ("petrichor benchmark", "docs")
    heads = ["solo base: won", "points ahead", "16 sets: won", "points ahead", "2p rating"]
    heads += [*(f"2p against {rung}" for rung in rows[0].rungs), "decisions/s"]
    duels = sorted({len(pair["games"]) for pair in benchmark.pairs})
    lines = [
        "# The agents, measured",
        "",
        f"| agent | {' | '.join(heads)} |",
        "|---|" + "---:|" * len(heads),
        *(f"| `{row.agent}` | {' | '.join(_cells(row))} |" for row in rows),
        "",
        "- **solo**: the game against the Southern Winds; *base* without variants, *16 sets* the mean over all sets of",
        "  the variants. Points ahead: of the neutral player. Games of each set:",
        f"  {_solo_games(rows)}.",
        f"- **2p**: two players, {_span(duels)} games of each two agents; every seed is played with either in the",
        "  first seat. A shared victory counts half. The seed is the unit of the intervals. Ratings are openskill's",
        "  (Plackett-Luce), means over several orders of the games; only differences mean something, and a new agent",
        "  moves the others a little.",
        "- **decisions/s**: in the solo games, on the machine where that row was measured, beside what else ran there.",
        f"- Intervals are 95 %. Seeds from {benchmark.seed}; petrichor-env {benchmark.package_version}, state version",
        f"  {benchmark.state_version}. Numbers that the rule texts lack are assumed (`petrichor components`)"
        f"{', some of them replaced by an overlay file' if own else ''}: all",
        "  figures are of this package's games.",
        "",
        "The second command below writes this page from what `benchmark.json` keeps. The first one places an agent of",
        "your own in it: only its own games are played, and the table with it is written into `runs/benchmark`.",
        "",
        "```sh",
        f"{again} policy:runs/mine/best.zip   # your agent among those above; or my_module:MyAgent",
        f"{again} --output {folder:<19}# this page, anew where something is missing",
        "```",
    ]
    return "\n".join(lines) + "\n"


def _solo_games(rows: Sequence[_Row]) -> str:
    """`1,000, 12 of ismcts-2000`: the most common number first, without the agents that have it."""
    played = [row.solo_games for row in rows if row.solo_games]
    if not played:
        return "none"
    usual = max(played, key=lambda games: (played.count(games), games))
    others = [f"{row.solo_games:,} of `{row.agent}`" for row in rows if row.solo_games not in (0, usual)]
    return ", ".join([f"{usual:,}", *others])


def _span(numbers: Sequence[int]) -> str:
    if not numbers:
        return "no"
    return f"{numbers[0]:,}" if numbers[0] == numbers[-1] else f"{numbers[0]:,} to {numbers[-1]:,}"
