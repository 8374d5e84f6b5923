"""`petrichor difficulty`: how hard are the 16 combinations of the solo variants, for agents of graded strength?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Unpack

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from petrichor_env.config import VARIANTS, Config
from tabletop.errors import TabletopError
from tabletop_agents import Agent, check_trusted
from tabletop_training.evaluation import EVALUATION_SEED, EvaluationStopped, Playing, Recording, Results, play_games
from tabletop_training.evaluation_files import ReplayFiles, plus_minus, slug, write_json
from tabletop_training.job import Job, refuse_with_resume
from tabletop_training.matches import make_agents
from tabletop_training.petrichor import difficulty_report
from tabletop_training.petrichor.study import (
    SETTINGS_FILE,
    Key,
    Study,
    complete_sets,
    is_search,
    read_games,
    read_study,
    summaries_of,
    tables_hash,
    with_agents,
    write_games,
)
from tabletop_training.petrichor.summaries import ALL_VARIANTS, Summary, write_summaries

DEFAULT_AGENTS = ("random", "greedy", "policy:solo")
GAMES = 1000
SEARCH_GAMES = 200
"""Default numbers of games of each set, for other agents and for those that search."""

WIDE = 120
"""Columns of a screen that shows a cell of `difficulty_table` in one line."""


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

    Every finished set of games is kept at once. After Ctrl-C the report is of what is complete by then.

    Arguments:
        agents: names for `make_agent`; none → `DEFAULT_AGENTS`, or those of the study that is resumed.
        games, search_games: of each agent with each set; None → `GAMES`, and `SEARCH_GAMES` of `SEARCH_AGENTS`.
        seed: of the first game of each set, `EVALUATION_SEED` if None.
        modules, components: as in `Config`.
        output: as in `Job`, `runs/difficulty` if None.
        resume: folder of a study to be gone on with, as it was set; `agents` that it lacks are added to it.
        replays: where the games that are played now are kept, with a folder in it for each agent and set.

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
    for number in (games, search_games):
        if number < 1:
            raise TabletopError(f"{number} games: at least 1")
    number_of = {name: search_games if is_search(name) else games for name in names}
    with Console().status("loading the agents"):
        players = make_agents((*study.agents, *names), study.config)
    study = with_agents(study, number_of)
    results: dict[Key, Results] = {}

    def keep(result: Results) -> None:
        write_games(job.folder, [result])
        replays.add(result, result.agents, Path(slug(result.agents[0]), result.config.name))

    with Job(resume or output or "runs/difficulty", resume=resume is not None, closing=replays.tell) as job:
        replays.open(job.folder)
        write_json(job.folder / SETTINGS_FILE, asdict(study))
        results |= read_games(job.folder, study)
        write_games(job.folder, results.values(), new=True)
        try:
            order = [(player, variants) for player in players for variants in ALL_VARIANTS]
            told: dict[str, Any] = {"on_result": keep, **replays.recording}
            finished = measure(job, order, study.config, study.agents, study.seed, results, **told)
            job.interruptions.clear()
            if results:
                wide = job.console.width >= WIDE
                job.console.print(difficulty_table(summaries_of(results, list(study.agents)), wide))
                with job.console.status("writing the report"):
                    write_report(job.folder, study, results)
        except KeyboardInterrupt:
            finished = False
        if not finished:
            kept = "" if results else " before a set of games was finished: nothing was kept"
            again = f"petrichor difficulty --resume {escape(str(job.folder))}"
            job.console.print(f"Stopped early{kept}. To go on: {again}", soft_wrap=True)
    return job.folder


def measure(
    job: Job,
    order: Iterable[tuple[Agent, tuple[str, ...]]],
    config: Config,
    games: Mapping[str, int],
    seed: int,
    results: dict[Key, Results],
    *,
    on_result: Callable[[Results], None] | None = None,
    **recording: Unpack[Recording],
) -> bool:
    """Let agents play sets of variants, in this order, and add what `results` lacks; False if Ctrl-C stopped them.

    Arguments:
        config: what is played, but for the variants.
        games: of each set, by the agent's name; game i of a set starts from `seed` + i.
        on_result: told each set's results as soon as it is finished, with what `recording` says.
    """
    missing = [(agent, variants) for agent, variants in order if (agent.name, variants) not in results]
    with job.bar("playing", sum(games[agent.name] for agent, _ in missing)) as bar:
        for agent, variants in missing:
            bar.show(f"{agent.name}, set {ALL_VARIANTS.index(variants) + 1} of {len(ALL_VARIANTS)}")
            playing: Playing = {"should_stop": job.should_stop, "on_finished": bar.advance, **recording}
            try:
                result = play_games([agent], replace(config, variants=variants), games[agent.name], seed, **playing)
            except EvaluationStopped:
                return False
            results[agent.name, variants] = replace(result, actions=None, probabilities=None)
            if on_result is not None:
                on_result(result)
    return True


def write_report(folder: Path, study: Study, results: Mapping[Key, Results]) -> None:
    """`difficulty.csv`, `difficulty.json`, `report.md` and its pictures, of all games that there are."""
    summaries = summaries_of(results, list(study.agents))
    write_summaries(folder, summaries)
    difficulty_report.write_report(folder, study, summaries, complete_sets(results, study.agents))


def difficulty_table(summaries: Sequence[Summary], wide: bool, note: str = "") -> Table:
    """One row a set of variants, one column an agent; narrow, the win rate stands above the margin."""
    agents = list(dict.fromkeys(summary.agent for summary in summaries))
    games = sorted({summary.games for summary in summaries})
    number = f"{games[0]:,}" if len(games) == 1 else f"{games[0]:,} to {games[-1]:,}"
    table = Table(
        title=f"Southern Winds: win rate and mean margin with 95 % intervals, {number} games each",
        title_justify="left",
        caption=f"Margin: points ahead of the neutral player. {note}".strip(),
        caption_justify="left",
        show_lines=not wide,
    )
    for name in VARIANTS:
        table.add_column(name.replace("_", "\n"), justify="center", vertical="middle", no_wrap=True)
    for agent in agents:
        table.add_column(agent, justify="right", no_wrap=True)
    for variants in dict.fromkeys(summary.variants for summary in summaries):
        row = {summary.agent: summary for summary in summaries if summary.variants == variants}
        chosen = next(iter(row.values())).variant_names
        table.add_row(
            *("●" if name in chosen else "" for name in VARIANTS),
            *(_cell(row[agent], wide) if agent in row else "" for agent in agents),
        )
    return table


def _cell(summary: Summary, wide: bool) -> str:
    low, high = (round(100 * rate) for rate in (summary.win_rate_low, summary.win_rate_high))
    rate = f"{summary.win_rate:.0%} ({low}–{high})"
    margin = plus_minus(summary.ahead, signed=True)
    return f"[bold]{rate:>12}[/bold]  {margin:>11}" if wide else f"[bold]{rate}[/bold]\n{margin}"
