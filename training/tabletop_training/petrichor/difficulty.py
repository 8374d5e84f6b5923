"""`petrichor difficulty`: how hard are the 16 combinations of the solo variants, for agents of graded strength?"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Unpack

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from petrichor_env.config import VARIANTS, Config
from tabletop.batch import Batch
from tabletop.errors import TabletopError
from tabletop.words import counted
from tabletop_agents import Agent, Decisions, check_trusted
from tabletop_training.evaluation import EVALUATION_SEED, MAX_GAMES_AT_ONCE, Recording, Results
from tabletop_training.evaluation_files import ReplayFiles, new_table, plus_minus, slug, write_json
from tabletop_training.job import Job, Stopped, refuse_with_resume
from tabletop_training.matches import make_agents, play_match, seeds_for
from tabletop_training.petrichor.difficulty_report import changed_numbers, write_report
from tabletop_training.petrichor.study import (
    SETTINGS_FILE,
    Study,
    is_search,
    read_games,
    read_study,
    study_summaries,
    tables_hash,
    with_agents,
    write_games,
)
from tabletop_training.petrichor.summaries import ALL_VARIANTS, Summary, games_each, in_points, write_summaries
from tabletop_training.settings import check_at_least_one

DEFAULT_AGENTS = ("random", "greedy", "policy:solo")
GAMES = 1000
SEARCH_GAMES = 200
"""Default numbers of games of each set, for other agents and for those that search."""

_VARIANTS_WIDTH = 36
_BAR_WIDTH = 40
"""Columns of a screen that the variants take in `difficulty_tables`, and a progress bar without the words beside it."""

_DECISIONS = 65
_STEPS = 80
"""About how many decisions a game asks each player for, and the longest of many games."""
_MOMENT = 0.3
"""Seconds that an agent's decisions take before their time is trusted."""


@dataclass(frozen=True)
class Play:
    """Games to be played on consecutive seeds, with several agents in every rotation of the seats."""

    agents: Sequence[Agent]
    config: Config
    games: int


def _seconds_a_game(agent: Agent, play: Play) -> float:
    """By its first decision in some of the games, in more and more until that takes a moment."""
    number, taken = 0, 0.0
    while taken < _MOMENT and number < min(play.games, MAX_GAMES_AT_ONCE):
        number = min(4 * number + 1, play.games, MAX_GAMES_AT_ONCE)
        decisions = Decisions.of(Batch(play.config, number, 0))
        start = time.perf_counter()
        agent.act(decisions, np.random.default_rng(0))
        taken = time.perf_counter() - start
    return _DECISIONS * taken / number


def about(seconds: float) -> str:
    """`about 12 minutes`, `less than a minute`."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    return f"about {counted(minutes, 'minute')}" if minutes < 120 else f"about {minutes / 60:.0f} hours"


def play_all(
    job: Job, plays: Sequence[Play], seed: int, **recording: Unpack[Recording]
) -> Iterator[tuple[Results, str]]:
    """Play them in this order, each from `seed` on: their results one by one, with how long the rest takes, in words.

    Says how long it takes in all, before the first and beside a progress bar: at first by a few timed decisions of each
    agent, then by its games. Raises Stopped after Ctrl-C.
    """
    paces: dict[tuple[str, int], float] = {}  # seconds a game, by agent and number of players

    def seconds(some: Iterable[Play]) -> float:
        return sum(play.games * paces[agent.name, play.config.players] for play in some for agent in play.agents)

    def watching(play: Play, later: Sequence[Play]) -> Callable[[], bool]:
        """To be called at each step of a play: shows how long the rest takes, and says whether to stop."""
        start, own, rest, steps = time.perf_counter(), seconds([play]), seconds(later), itertools.count(1)
        all_steps = _STEPS * play.config.players * math.ceil(play.games / MAX_GAMES_AT_ONCE)
        who = " against ".join(agent.name for agent in play.agents)

        def step() -> bool:
            now, done = time.perf_counter(), min(next(steps) / all_steps, 0.99)
            taken = now - start
            left = rest + (taken * (1 - done) / done if done > 0.1 else max(own - taken, 0.0))
            status = f"{about(left)} left in all; {who}"[: job.console.width - _BAR_WIDTH]
            bar.show(status, (now - began) / max(now - began + left, 1e-9))
            return job.should_stop()

        return step

    if not plays:
        return
    with job.console.status("estimating how long this takes"):
        for play in plays:
            for agent in play.agents:
                if (agent.name, play.config.players) not in paces:
                    paces[agent.name, play.config.players] = _seconds_a_game(agent, play)
    number = counted(sum(play.games for play in plays), "game")
    job.console.print(f"{number}: this takes {about(seconds(plays))} in all.")
    began = time.perf_counter()
    with job.bar("playing", 1.0) as bar:
        for index, play in enumerate(plays):
            later, start = plays[index + 1 :], time.perf_counter()
            seeds = range(seed, seed + seeds_for(play.games, play.config.players))
            result = play_match(play.agents, play.config, seeds, should_stop=watching(play, later), **recording)
            pace = (time.perf_counter() - start) / play.games / max(result.seconds.sum(), 1e-9)
            for agent, part in zip(play.agents, result.seconds, strict=True):
                paces[agent.name, play.config.players] = pace * float(part)
            yield result, f"{about(seconds(later))} left in all".capitalize()


def main(
    agents: Sequence[str] = (),
    games: int | None = None,
    search_games: int | None = None,
    seed: int | None = None,
    modules: Sequence[str] = (),
    components: str | Path | None = None,
    output: str | Path | None = None,
    resume: str | Path | None = None,
    replays: ReplayFiles | None = None,
) -> Path:
    """Play, and write report, pictures and tables; returns their folder.

    Every finished set of games is kept at once, and an agent's table is shown when it has played all of them. With an
    overlay file that changes numbers, all is played with the shipped ones, too. After Ctrl-C the report is of what is
    complete by then.

    Arguments:
        agents: names for `make_agent`; none → `DEFAULT_AGENTS`, or those of the study that is resumed.
        games, search_games: of each agent with each set; None → `GAMES`, and `SEARCH_GAMES` of `SEARCH_AGENTS`.
        seed: of the first game of each set, `EVALUATION_SEED` if None.
        modules, components: as in `Config`.
        output: as in `Job`, `runs/difficulty` if None.
        resume: folder of a study to be gone on with, as it was set; `agents` that it lacks are added to it.
        replays: where the games that are played now are kept, with a folder in it for each agent and set; those
            with the shipped numbers, for comparison with those of an overlay file, in a folder `shipped` of the agent.

    Raises ConfigError, CheckpointError, ComponentsError, and TabletopError for a folder that can't be resumed.
    """
    replays = replays or ReplayFiles(None)
    if resume is None:
        names = list(agents) or list(DEFAULT_AGENTS)
        overlay = None if components is None else str(Path(components).resolve())
        first = EVALUATION_SEED if seed is None else seed
        study = Study({}, first, tuple(modules), overlay, tables=tables_hash(overlay))
    else:
        allowed = "agents to add, and their numbers of games"
        refuse_with_resume(allowed, seed=seed, modules=modules or None, components=components, output=output)
        study = read_study(Path(resume))
        check_trusted(resume, study.agents, agents, option="the agents ")
        names = [name for name in agents if name not in study.agents]
        searching = [is_search(name) for name in names]
        refuse_with_resume(
            allowed, games=games if all(searching) else None, search_games=search_games if not any(searching) else None
        )
    games, search_games = GAMES if games is None else games, SEARCH_GAMES if search_games is None else search_games
    if len(set(names)) < len(names):
        raise TabletopError(f"agents {', '.join(names)}: each at most once")
    check_at_least_one(games=games, search_games=search_games)
    number_of = {name: search_games if is_search(name) else games for name in names}
    with Console().status("loading the agents"):
        players = make_agents((*study.agents, *names), study.config)
    study = with_agents(study, number_of)
    with Job(resume or output or "runs/difficulty", resume=resume is not None, closing=replays.tell) as job:
        replays.open(job.folder)
        write_json(job.folder / SETTINGS_FILE, asdict(study))
        played = read_games(job.folder, study)
        write_games(job.folder, played, new=True)
        _tell_numbers(job.console, study)
        known = {(one.agents[0], one.config) for one in played}
        games_of = [(variants, config) for variants in ALL_VARIANTS for config in study.configs]
        plays = [
            Play([player], replace(config, variants=variants), study.agents[player.name])
            for player in players
            for variants, config in games_of
            if (player.name, replace(config, variants=variants)) not in known
        ]
        shown: set[str] = set()
        stopped = True
        try:
            with suppress(Stopped):
                for result, left in play_all(job, plays, study.seed, **replays.recording):
                    (agent,), config = result.agents, result.config
                    played.append(replace(result, actions=None, probabilities=None))
                    write_games(job.folder, [result])
                    kept = Path(slug(agent), "" if config.components == study.components else "shipped", config.name)
                    replays.add(result, result.agents, kept)
                    summaries = study_summaries(study, played)
                    write_summaries(job.folder, summaries)
                    if len([one for one in played if one.agents == (agent,)]) == len(games_of):
                        own = [one for one in summaries if one.agent == agent]
                        for _, table in difficulty_tables(own, job.console.width):
                            job.console.print(table)
                        job.console.print(f"{left}.")
                        shown.add(agent)
                stopped = False
            job.interruptions.clear()
            if played:
                for agents_of, table in difficulty_tables(study_summaries(study, played), job.console.width):
                    if len(agents_of) > 1 or not agents_of <= shown:
                        job.console.print(table)
                with job.console.status("writing the report"):
                    write_report(job.folder, study, played)
        except KeyboardInterrupt:
            stopped = True
        if stopped:
            kept_nothing = "" if played else " before a set of games was finished: nothing was kept"
            again = f"petrichor difficulty --resume {escape(str(job.folder))}"
            job.console.print(f"Stopped early{kept_nothing}. To go on: {again}", soft_wrap=True)
    return job.folder


def _tell_numbers(console: Console, study: Study) -> None:
    """Which numbers an overlay file changes, where there is one."""
    if len(study.configs) > 1:
        title, head = "Numbers that the overlay file changes", ["number", "what", "shipped", "here"]
        table = new_table(title, head, [], "All games are played with the shipped numbers, too, and compared.")
        for row in changed_numbers(study.components):
            table.add_row(*row)
        console.print(table)
    elif study.components is not None:
        console.print("The overlay file changes no number: this is the game as it is shipped.")


def difficulty_tables(summaries: Sequence[Summary], width: int, note: str = "") -> Iterator[tuple[set[str], Table]]:
    """One row a set of variants, one column an agent; as many tables as the width needs, with the agents in each.

    Beside an agent is what an overlay file changes of it, where there is one.
    """
    columns: dict[tuple[str, str], dict[str, str]] = {}
    for one in summaries:
        rate = f"{one.win_rate:.0%} ({100 * one.win_rate_low:.0f}–{100 * one.win_rate_high:.0f})"
        cells = columns.setdefault((one.agent, ""), {})
        cells[one.variants] = f"{rate:>13} {plus_minus(one.ahead, signed=True):>11}"
        if one.win_rate_change is not None and one.margin_change is not None:
            points = in_points(one.win_rate_change)
            cells = columns.setdefault((one.agent, ": change"), {})
            cells[one.variants] = (
                f"{plus_minus(points, signed=True):>13} {plus_minus(one.margin_change, signed=True):>11}"
            )
    caption = f"Margin: points ahead of the neutral player. {note}"
    changes = " Change: from the shipped numbers to these, the win rate in percentage points."
    widest = max(len(cell) for cells in columns.values() for cell in cells.values())
    at_once = max(1, (width - _VARIANTS_WIDTH) // (widest + 3))
    for first in range(0, len(columns), at_once):
        heads = list(columns)[first : first + at_once]
        table = Table(
            title=f"Southern Winds: win rate and mean margin with 95 % intervals, {games_each(summaries)} each",
            title_justify="left",
            caption=(caption + changes * any(changed for _, changed in heads)).strip(),
            caption_justify="left",
        )
        for name in VARIANTS:
            table.add_column(name.replace("_", "\n"), justify="center", no_wrap=True)
        for agent, changed in heads:
            table.add_column(escape(agent) + changed, justify="right", width=widest, overflow="fold")
        for variants in dict.fromkeys(summary.variants for summary in summaries):
            dots = ("●" if name in variants.split("+") else "" for name in VARIANTS)
            table.add_row(*dots, *(columns[head].get(variants, "") for head in heads))
        yield {agent for agent, _ in heads}, table
