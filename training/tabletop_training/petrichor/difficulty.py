"""`petrichor difficulty`: how hard are the 16 combinations of the solo variants, for agents of graded strength?"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from tabletop_agents import Agent, agent_file

import petrichor_env
from petrichor_env.component_files import load_tables
from petrichor_env.config import VARIANTS, Config
from petrichor_env.state import SOURCE_NAMES, STATE_VERSION
from tabletop.errors import CheckpointError, TabletopError
from tabletop_training.evaluation import (
    ALL_VARIANTS,
    EVALUATION_SEED,
    Estimate,
    EvaluationStopped,
    Results,
    Summary,
    play_games,
    summarize,
    write_csv,
)
from tabletop_training.evaluation_files import ReplayFiles, plus_minus, slug, write_json
from tabletop_training.matches import make_agents
from tabletop_training.petrichor.variant_effects import Sets
from tabletop_training.progress import Interruptions, new_folder, progress_bar, refuse_with_resume

DEFAULT_AGENTS = ("random", "greedy", "policy:solo")
GAMES = 1000
SEARCH_GAMES = 200
"""Default numbers of games of each set, for other agents and for those that search."""
SEARCH_AGENTS = ("rollout", "ismcts")
"""Agents whose names begin so play `search_games`: a decision costs them thousands of times another agent's."""

SETTINGS_FILE = "settings.json"
GAMES_FILE = "games.csv"

WIDE = 120
"""Columns of a screen that shows a cell of `difficulty_table` in one line."""
_SIDES = ("player", "neutral")
_COLUMNS = (
    *("agent", "variants", "seed", "won", "points", "neutral_points", "decisions"),
    *(f"{side}_{source}" for side in _SIDES for source in SOURCE_NAMES),
)

Key = tuple[str, tuple[str, ...]]
"""An agent's name and a set of variants."""


@dataclass(frozen=True)
class Study:
    """Which games are to be played: what `settings.json` holds, and what resuming checks.

    Attributes:
        agents: how many games of each set each agent plays, by name, in the report's order.
        seed: of the first game of each set.
        modules, components: as in `Config`.
        files: SHA-256 of each agent's checkpoint, for agents that have one.
        tables: SHA-256 of the numbers on the pieces.
    """

    agents: dict[str, int]
    seed: int
    modules: tuple[str, ...] = ()
    components: str | None = None
    files: dict[str, str] = field(default_factory=dict)
    tables: str = ""
    package_version: str = petrichor_env.__version__
    state_version: int = STATE_VERSION

    @property
    def config(self) -> Config:
        """Of the base game of this study, without variants."""
        return Config(modules=self.modules, components=self.components)

    @property
    def commands(self) -> list[str]:
        """What plays the same games again; those after the first are of agents with other numbers of games."""
        together: list[dict[str, int]] = []
        for agent, number in self.agents.items():
            for agents in together:
                if all(agents[other] == number for other in agents if is_search(other) == is_search(agent)):
                    agents[agent] = number
                    break
            else:
                together.append({agent: number})
        return [self._command(agents, first=agents is together[0]) for agents in together]

    def _command(self, agents: Mapping[str, int], first: bool) -> str:
        words = ["petrichor difficulty", *agents]
        games = {is_search(agent): number for agent, number in agents.items()}
        words += [f"--{'search-' if search else ''}games {number}" for search, number in sorted(games.items())]
        if not first:
            return " ".join([*words, "--resume FOLDER"])
        words.append(f"--seed {self.seed}")
        words += [f"--modules {','.join(self.modules)}"] if self.modules else []
        words += ["--components FILE"] if self.components is not None else []
        return " ".join(words)


def main(
    agents: Sequence[str] = (),
    games: int | None = None,
    search_games: int | None = None,
    seed: int | None = None,
    modules: Sequence[str] = (),
    components: str | Path | None = None,
    output: str | Path | None = None,
    resume: str | Path | None = None,
    save_replays: str | Path | None = None,
    replay_games: int | None = None,
    replay_probabilities: bool = False,
) -> Path:
    """Play, and write report, pictures and tables; returns their folder.

    Every finished set of games is kept at once. After Ctrl-C the report is of what is complete by then.

    Arguments:
        agents: names for `make_agent`; none → `DEFAULT_AGENTS`, or those of the study that is resumed.
        games: of each agent with each set of variants, `GAMES` if None; when resuming, of the agents that are added.
        search_games: the same for `SEARCH_AGENTS`, `SEARCH_GAMES` if None.
        seed: of the first game of each set, `EVALUATION_SEED` if None.
        modules, components: as in `Config`.
        output: folder for the files, `runs/difficulty` if None; if it has some already, a new one beside it.
        resume: folder of a study to be gone on with, as it was set; `agents` that it lacks are added to it.
        save_replays: folder for replays of the games that are played now, with a folder in it for each agent and set.
        replay_games, replay_probabilities: as `ReplayFiles` takes them, of each set.

    Raises ConfigError, CheckpointError, ComponentsError for bad arguments, TabletopError for a folder that can't be
    resumed.
    """
    replays = ReplayFiles(save_replays, replay_games, replay_probabilities)
    console = Console()
    if resume is None:
        names = list(agents) or list(DEFAULT_AGENTS)
        study = Study(
            {},
            EVALUATION_SEED if seed is None else seed,
            tuple(modules),
            None if components is None else str(Path(components).resolve()),
        )
        study = replace(study, tables=sha256(load_tables(study.components).tobytes()))
    else:
        allowed = "agents to add, and their numbers of games"
        refuse_with_resume(allowed, seed=seed, modules=modules or None, components=components, output=output)
        study = read_study(Path(resume))
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
    with console.status("loading the agents"):
        players = make_agents((*study.agents, *names), study.config)
    study = _with_agents(study, number_of)
    folder = new_folder("runs/difficulty" if output is None else output) if resume is None else Path(resume)
    replays.open(folder)
    write_json(folder / SETTINGS_FILE, asdict(study))
    results = read_games(folder, study)
    write_games(folder, results.values(), new=True)

    def keep(result: Results) -> None:
        write_games(folder, [result])
        replays.add(result, result.agents, Path(slug(result.agents[0]), result.config.name))

    with Interruptions() as interruptions:
        try:
            finished = measure(
                console,
                [(player, variants) for player in players for variants in ALL_VARIANTS],
                study.config,
                study.agents,
                study.seed,
                results,
                should_stop=interruptions.wanted,
                on_result=keep,
                **replays.recording,
            )
            interruptions.clear()
            if results:
                console.print(difficulty_table(summaries_of(results, list(study.agents)), console.width >= WIDE))
                with console.status("writing the report"):
                    write_report(folder, study, results)
            stopped = not finished
        except KeyboardInterrupt:
            stopped = True
    if stopped:
        kept = "" if results else " before a set of games was finished: nothing was kept"
        console.print(
            f"Stopped early{kept}. To go on: petrichor difficulty --resume {escape(str(folder))}", soft_wrap=True
        )
    console.print(f"In [bold]{escape(str(folder))}[/bold]: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    replays.tell(console)
    return folder


def measure(
    console: Console,
    order: Iterable[tuple[Agent, tuple[str, ...]]],
    config: Config,
    games: Mapping[str, int],
    seed: int,
    results: dict[Key, Results],
    *,
    should_stop: Callable[[], bool] | None = None,
    on_result: Callable[[Results], None] | None = None,
    record_actions: bool = False,
    record_probabilities: bool = False,
) -> bool:
    """Let agents play sets of variants and add what `results` lacks; False if `should_stop` said so.

    Arguments:
        order: which agent plays which set, in this order.
        config: what is played, but for the variants.
        games: of each set, by the agent's name; game i of a set starts from `seed` + i.
        on_result: called with each set's results as soon as it is finished.
        record_actions, record_probabilities: as in `play_games`, in the results that `on_result` gets.
    """
    missing = [(agent, variants) for agent, variants in order if (agent.name, variants) not in results]
    with progress_bar(console) as bar:
        task = bar.add_task("playing", total=sum(games[agent.name] for agent, _ in missing), status="")
        for agent, variants in missing:
            bar.update(task, status=f"{agent.name}, set {ALL_VARIANTS.index(variants) + 1} of {len(ALL_VARIANTS)}")
            try:
                result = play_games(
                    [agent],
                    replace(config, variants=variants),
                    games[agent.name],
                    seed,
                    should_stop=should_stop,
                    on_finished=lambda finished: bar.advance(task, finished),
                    record_actions=record_actions,
                    record_probabilities=record_probabilities,
                )
            except EvaluationStopped:
                return False
            results[agent.name, variants] = replace(result, actions=None, probabilities=None)
            if on_result is not None:
                on_result(result)
    return True


def complete_sets(results: Mapping[Key, Results], agents: Iterable[str]) -> list[Sets]:
    """Of each agent that has played all 16 sets, in the order given."""
    return [
        Sets.of({variants: results[agent, variants] for variants in ALL_VARIANTS})
        for agent in agents
        if all((agent, variants) in results for variants in ALL_VARIANTS)
    ]


def summaries_of(results: Mapping[Key, Results], agents: Sequence[str]) -> list[Summary]:
    """Set by set, the agents in the order given."""
    return [
        summarize(results[agent, variants])
        for variants in ALL_VARIANTS
        for agent in agents
        if (agent, variants) in results
    ]


def write_report(folder: Path, study: Study, results: Mapping[Key, Results]) -> None:
    """`difficulty.csv`, `difficulty.json`, `report.md` and its pictures, of all games that there are."""
    from tabletop_training.petrichor import difficulty_report

    summaries = summaries_of(results, list(study.agents))
    write_csv(folder / "difficulty.csv", summaries)
    difficulty_report.write_report(folder, study, summaries, complete_sets(results, study.agents))


# --- Keeping games ---------------------------------------------------------------------------------------------------


def write_games(folder: Path, results: Iterable[Results], new: bool = False) -> None:
    """Append one line a game to `games.csv`; with `new` the file begins anew."""
    try:
        with (folder / GAMES_FILE).open("w" if new else "a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(_COLUMNS)
            for result in results:
                variants = "+".join(result.config.variants) or "base"
                games = len(result.lengths)
                numbers = np.column_stack(
                    [
                        result.seed + np.arange(games),
                        result.won[:, 0],
                        result.points,
                        result.lengths,
                        result.scored.reshape(games, -1),
                    ]
                )
                writer.writerows((result.agents[0], variants, *row) for row in numbers.tolist())
    except OSError as error:
        raise TabletopError(f"{folder / GAMES_FILE}: can't be written ({error.strerror})") from None


def read_games(folder: Path, study: Study) -> dict[Key, Results]:
    """The study's finished sets of games in `games.csv`; none where there is no such file.

    A set that lacks games (the program was killed while writing) is left out. Raises TabletopError for a file that
    is not such a table.
    """
    path = folder / GAMES_FILE
    if not path.exists():
        return {}
    rows: dict[Key, list[list[int]]] = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TabletopError(f"{path}: can't be read ({error})") from None
    if not lines or tuple(lines[0]) != _COLUMNS:
        raise TabletopError(f"{path}: its columns are not those of this version: {', '.join(_COLUMNS)}")
    for line, row in enumerate(lines[1:], 2):
        try:
            agent, variants, *numbers = row
            names = tuple(variants.split("+")) if variants != "base" else ()
            rows.setdefault((agent, names), []).append([int(number) for number in numbers])
        except ValueError:
            raise TabletopError(f"{path}, line {line}: no game ({', '.join(row)[:80]})") from None
    results = {}
    for (agent, names), games in rows.items():
        wanted = range(study.seed, study.seed + study.agents.get(agent, 0))
        if not wanted or names not in ALL_VARIANTS or any(len(game) != len(_COLUMNS) - 2 for game in games):
            continue
        table = np.array(games, np.int64)
        seeds, won, points, lengths = table[:, 0], table[:, 1:2] == 1, table[:, 2:4], table[:, 4]
        scored = table[:, 5:].reshape(len(table), len(_SIDES), len(SOURCE_NAMES))
        # a line cut off within its last number is as long as the others
        if seeds.tolist() == list(wanted) and np.array_equal(scored.sum(axis=2), points):
            config = replace(study.config, variants=names)
            results[agent, names] = Results(
                config, (agent,), study.seed, points, won, lengths, decisions=lengths[:, None], scored=scored
            )
    return results


def read_study(folder: Path) -> Study:
    """What a folder's games are. Raises TabletopError where there are none, or of other rules or numbers."""
    path = folder / SETTINGS_FILE
    try:
        read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        study = Study(**{**read, "modules": tuple(read["modules"])})
    except OSError as error:
        raise TabletopError(f"{path}: no study to go on with ({error.strerror})") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise TabletopError(f"{path}: not the settings of a study of this version") from None
    for what, now in (("package_version", petrichor_env.__version__), ("state_version", STATE_VERSION)):
        if getattr(study, what) != now:
            raise TabletopError(f"{folder}: its games are of {what} {getattr(study, what)}, this is {now}")
    if study.tables != sha256(load_tables(study.components).tobytes()):
        raise TabletopError(f"{folder}: its games were played with other numbers on the pieces")
    for agent, digest in study.files.items():
        if agent_hash(agent) != digest:
            raise TabletopError(f"{folder}: the checkpoint of {agent} is another one than its games were played with")
    return study


def _with_agents(study: Study, games: Mapping[str, int]) -> Study:
    digests = {agent: agent_hash(agent) for agent in games}
    files = {agent: digest for agent, digest in digests.items() if digest is not None}
    return replace(study, agents={**study.agents, **games}, files={**study.files, **files})


def is_search(agent: str) -> bool:
    """Whether an agent of this name looks ahead with many playouts, so that it should play fewer games."""
    return agent.startswith(SEARCH_AGENTS)


def agent_hash(agent: str) -> str | None:
    """SHA-256 of the file that decides how an agent of this name plays, None for an agent without one."""
    try:
        path = agent_file(agent)
    except CheckpointError:
        return None
    return None if path is None else sha256(path.read_bytes())


def sha256(data: bytes) -> str:
    """Of any bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


# --- The table on the screen -----------------------------------------------------------------------------------------


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
    margin = plus_minus(Estimate(summary.margin, summary.margin_low, summary.margin_high), signed=True)
    return f"[bold]{rate:>12}[/bold]  {margin:>11}" if wide else f"[bold]{rate}[/bold]\n{margin}"
