"""`petrichor difficulty`: how hard is each set of the solo variants, for agents of graded strength?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from petrichor_env.component_files import COMPONENTS
from petrichor_env.config import VARIANTS
from petrichor_env.game import GAME
from tabletop_agents import check_trusted
from tabletop_engine.checks import checked, whole
from tabletop_engine.editions import MOST_EDITIONS
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.play.tables import editions_of
from tabletop_engine.text.screen import Screen
from tabletop_engine.text.words import shown
from tabletop_training.files.job import Stopped, refuse_with_resume
from tabletop_training.files.settings import check_at_least_one
from tabletop_training.files.tables import (
    MARGIN,
    Column,
    OnResult,
    ReplayFiles,
    Table,
    format_estimate,
    ignore,
    slug,
)
from tabletop_training.measure.evaluation import EVALUATION_SEED, HERE, Workers
from tabletop_training.measure.matches import make_agents
from tabletop_training.measure.spread import FEW
from tabletop_training.petrichor.difficulty_report import changed_numbers, write_report
from tabletop_training.petrichor.report_plots import set_title
from tabletop_training.petrichor.study import (
    EFFECT_GAMES,
    Study,
    read_study,
    study_summaries,
    usual_edition_games,
    write_games,
)
from tabletop_training.petrichor.summaries import (
    ALL_VARIANTS,
    Summary,
    games_each,
    variants_of,
    write_summaries,
)
from tabletop_training.study.cells import is_search
from tabletop_training.study.play import play_cells, played
from tabletop_training.study.settings import job_of

DEFAULT_AGENTS = ("random", "greedy", "policy:solo")
GAMES = 1000
SEARCH_GAMES = 200
"""The default numbers of games of each set, for most agents and for searches."""

_VARIANTS_WIDTH = 1 + sum(3 + max(map(len, name.split("_"))) for name in VARIANTS)
"""The width of the variants' columns in `difficulty_tables`."""


@checked
def main(
    agents: Sequence[str] = (),
    games: int | None = None,
    search_games: int | None = None,
    seed: int | None = None,
    modules: Sequence[str] = (),
    components: str | Path | None = None,
    editions: int | None = None,
    edition_games: int | None = None,
    effect_games: int | None = None,
    output: str | Path | None = None,
    resume: str | Path | None = None,
    replays: ReplayFiles | None = None,
    workers: Workers | int = HERE,
    on_result: OnResult = ignore,
) -> Path:
    """Play a difficulty study and write its report, pictures and tables; returns their folder.

    An agent's table is printed when it has played all sets. With an overlay file that changes numbers, all games are
    also played with the shipped numbers. After Ctrl-C the report covers everything that is complete.

    Arguments:
        agents: names of agents (`make_agent`); none means `DEFAULT_AGENTS`, or those of the resumed study.
        games, search_games: for each agent and set; None means `GAMES`, and `SEARCH_GAMES` for `SEARCH_AGENTS`.
        seed: of the first game of each set; None means `EVALUATION_SEED`.
        modules, components: as in `Config`.
        editions: how many editions are drawn; None for none. With each edition every agent also plays every set, and
            the report says what holds across editions.
        effect_games: games of each agent and set of variants with each set of an overlay file's changes, so that the
            report says what each change does; 0 for none. None means `EFFECT_GAMES`.
        edition_games: games of each agent, set and edition; None means `EDITION_GAMES`, but no games of
            `SEARCH_AGENTS`.
        resume: the folder of a study to resume. It keeps its settings; new `agents` are added to it.
        replays: the folder for replays of the games played now, with a folder for each agent and set. Games with the
            shipped numbers, for comparison with an overlay file, are in a folder `shipped` of the agent.

    All else is as in `tabletop_training.measure`.
    """
    replays = replays or ReplayFiles(None)
    if resume is None:
        names = list(agents) or list(DEFAULT_AGENTS)
        overlay = COMPONENTS.config_value(components)
        first = EVALUATION_SEED if seed is None else seed
        if editions is None and edition_games is not None:
            raise ConfigError(f"edition_games={edition_games}: only with editions, the number of editions to draw")
        number = 0 if editions is None else whole("editions", editions, 2, MOST_EDITIONS)
        wanted = whole("effect_games", EFFECT_GAMES if effect_games is None else effect_games, 0)
        if effect_games is not None and overlay is None:
            raise ConfigError(f"effect_games={effect_games}: only with components, a file that changes numbers")
        more: dict[str, Any] = {"editions": number, "effect_games": 0 if overlay is None else wanted}
        study = Study({}, first, tuple(modules), overlay, **more)
    else:
        allowed = "agents to add, and their numbers of games"
        given = {"seed": seed, "modules": modules or None, "components": components, "editions": editions}
        given |= {"effect_games": effect_games, "output": output}
        refuse_with_resume(allowed, **given)
        study = read_study(resume)
        check_trusted(resume, list(study.agents), agents, option="the agents ")
        names = [name for name in agents if name not in study.agents]
        searching = [is_search(name) for name in names]
        refuse_with_resume(
            allowed, games=games if all(searching) else None, search_games=search_games if not any(searching) else None
        )
    games, search_games = GAMES if games is None else games, SEARCH_GAMES if search_games is None else search_games
    if len(set(names)) < len(names):
        raise TabletopError(f"agents {', '.join(names)}: give each only once")
    check_at_least_one(
        games=games, search_games=search_games, edition_games=1 if edition_games is None else edition_games
    )
    number_of = {name: search_games if is_search(name) else games for name in names}
    in_edition = {name: edition_games or usual_edition_games(name) for name in names if study.editions}
    with Screen().status("loading the agents"):
        players = make_agents((*study.agents, *names), study.config)
    study = replace(study, agents={**study.agents, **number_of}, edition_games={**study.edition_games, **in_edition})
    editions_of(study.config, study.edition_seeds or None)  # refuses ranges that never fit before there is a folder
    folder, resumed = resume or output or "runs/difficulty", resume is not None
    with job_of("difficulty", GAME, folder, asdict(study), resumed=resumed, replays=replays) as (job, store):
        cells = study.cells(players)
        finished = [results for cell in cells if (results := played(cell, store)) is not None]
        _tell_numbers(job.console, study)
        known_sets = {replace(config, variants=variants) for config in study.configs for variants in ALL_VARIANTS}
        printed: set[str] = set()
        with job.until_stopped():
            for _, result, left in play_cells(job, cells, store, workers, **replays.recording):
                (agent,), config = result.agents, result.config
                finished.append(replace(result, probabilities=None))
                whose = "editions" if result.editions else "" if config.components == study.components else "shipped"
                if config.components not in (None, study.components):
                    whose = slug("+".join(key for key, _ in config.components))
                replays.add(result, result.agents, Path(slug(agent), whose, config.name))
                if result.editions or config not in known_sets:
                    continue
                summaries = study_summaries(study, finished)
                write_summaries(job.folder, summaries)
                own_games = [
                    one for one in finished if one.agents == (agent,) and not one.editions and one.config in known_sets
                ]
                if len(own_games) == len(known_sets):
                    own = [one for one in summaries if one.agent == agent]
                    for _, table in difficulty_tables(own, job.console.width):
                        job.console.print(table)
                    job.console.print(f"{left}.")
                    printed.add(agent)
        if not finished:
            raise Stopped
        write_games(job.folder, study, finished)
        for agents_of, table in difficulty_tables(study_summaries(study, finished), job.console.width):
            if len(agents_of) > 1 or not agents_of <= printed:
                job.console.print(table)
        with job.console.status("writing the report"):
            content = write_report(job.folder, study, finished)
        if study.editions and content.get("over_editions"):
            job.console.print(editions_table(content["over_editions"]).screen())
        on_result(content)
    return job.folder


def editions_table(over_editions: Sequence[dict[str, Any]]) -> Table:
    """What the games over many editions say of each set, for each agent: win rates in per cent."""
    editions, few = over_editions[0]["editions"], over_editions[0]["editions"] < FEW
    note = "Median of the editions' own win rates; in brackets, between what nine tenths of the editions surely lie."
    keys = ("median", "nine_tenths_low_low", "nine_tenths_high_high")  # the outer ends of their intervals
    if few:
        note = f"Mean of all editions; in brackets, its 95 % interval. {editions} editions are too few to say more."
        keys = ("win_rate", "win_rate_low", "win_rate_high")
    sets: dict[str, dict[str, Any]] = {}
    for row in over_editions:
        title = set_title(variants_of(row["set"]))
        sets.setdefault(title, {"set": title})[f"won by {row['agent']}"] = [row[key] for key in keys]
    write = partial(format_estimate, factor=100, form=".0f")
    agents = [
        Column(shown(one), f"won by {one}", write) for one in dict.fromkeys(row["agent"] for row in over_editions)
    ]
    columns = [Column("set", "set", words=True), *agents]
    return Table(columns, list(sets.values()), f"Over {editions} editions: games won, %", note)


def _tell_numbers(console: Console, study: Study) -> None:
    """Print the numbers that an overlay file changes, if there is one."""
    if len(study.configs) > 1:
        console.print(changed_numbers(study.components).screen())
    elif study.components is not None:
        text = "The overlay file changes no number: this is the game as it is shipped."
        if not study.editions and _ranges(study.components) != _ranges(None):
            text += " Its ranges count only with --editions."
        console.print(text)


def _ranges(components: str | None) -> dict[str, Any]:
    return {key: one.range for key, one in COMPONENTS.load(components).items()}


def difficulty_tables(summaries: Sequence[Summary], width: int, note: str = "") -> Iterator[tuple[set[str], RichTable]]:
    """Tables with a row for each set of variants and a column for each agent; several if the screen is narrow.

    With an overlay file, the change that it makes stands beside each agent.
    """
    columns: dict[tuple[str, str], dict[str, str]] = {}
    for one in summaries:
        rate = f"{one.win_rate.value:.0%} ({100 * one.win_rate.low:.0f}–{100 * one.win_rate.high:.0f})"
        cells = columns.setdefault((one.agent, ""), {})
        cells[one.variants] = f"{rate:>13} {MARGIN.write(one.margin):>11}"
        if one.win_rate_change is not None and one.margin_change is not None:
            rate = MARGIN.write([100 * end for end in one.win_rate_change])
            cells = columns.setdefault((one.agent, ": change"), {})
            cells[one.variants] = f"{rate:>13} {MARGIN.write(one.margin_change):>11}"
    caption = f"Margin: points ahead of the neutral player. {note}"
    changes = " Change: from the shipped numbers to these, the win rate in percentage points."
    widest = max(len(cell) for cells in columns.values() for cell in cells.values())
    at_once = max(1, (width - _VARIANTS_WIDTH) // (widest + 3))
    for first in range(0, len(columns), at_once):
        heads = list(columns)[first : first + at_once]
        table = RichTable(
            title=f"Southern Winds: win rate and mean margin with 95 % intervals, {games_each(summaries)} each",
            title_justify="left",
            caption=(caption + changes * any(changed for _, changed in heads)).strip(),
            caption_justify="left",
        )
        for name in VARIANTS:
            table.add_column(name.replace("_", "\n"), justify="center", no_wrap=True)
        for agent, changed in heads:
            table.add_column(shown(agent) + changed, justify="right", width=widest, overflow="fold")
        for variants in dict.fromkeys(summary.variants for summary in summaries):
            dots = ("●" if name in variants.split("+") else "" for name in VARIANTS)
            table.add_row(*dots, *(columns[head].get(variants, "") for head in heads))
        yield {agent for agent, _ in heads}, table
