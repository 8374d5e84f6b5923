"""`… runs`: what several training runs say of a learner, in the tasks of the suite or any other ones.

It reads `scores.csv`, which anybody's learner can write, with a line for each run (or a line for each of its looks):

| column | content |
|---|---|
| task | what was learned, such as `GAME/editions-100-v1` |
| version | of the package that has the game, such as `0.4.0` |
| learner | a name |
| seed | the training seed |
| steps | the learner's decisions so far; the row with the most is the run's score, the others are its curve |
| part | the games that were played: `new`, `learned`; what is known only while learning has a name of its own |
| score | 0 to 1: the share of the victories |
| games, margin | the number of these games, and the points ahead; these columns may be missing |
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import EngFormatter, PercentFormatter

from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.files import read_limited
from tabletop_engine.game import Game
from tabletop_engine.seeds import Stream, generator
from tabletop_engine.text.words import counted, shown
from tabletop_training.files.job import Job
from tabletop_training.files.plots import legend, looks, picture
from tabletop_training.files.provenance import software
from tabletop_training.files.tables import (
    Column,
    OnResult,
    Table,
    agent_title,
    format_estimate,
    ignore,
    plain,
    write_json,
    write_rows,
)
from tabletop_training.measure.results import NO_ESTIMATE, Estimate
from tabletop_training.suite import statistics
from tabletop_training.suite.tasks import LEARNED, NEW

SCORES = "scores.csv"
CHOSEN = "chosen"
"""The part of the games that choose `best.zip` while a run learns."""
LEARNING = "learning"
"""The part of the games that are learned from, with actions drawn from the policy."""
_MOST_ROWS = 200_000
_MOST_NAME = 200
_CURVE_POINTS = 30
_MOST_PANELS = 12
_MANY_RUNS = 5
_THRESHOLDS = np.linspace(0, 1, 101)


@dataclass(frozen=True, order=True)
class Row:
    """A line of `scores.csv`. Raises ConfigError for values that make no sense."""

    task: str
    version: str
    learner: str
    seed: int
    part: str
    steps: int
    score: float
    games: int = 0
    margin: float = math.nan

    def __post_init__(self) -> None:
        for name in ("task", "version", "learner", "part"):
            text = getattr(self, name)
            if not text or len(text) > _MOST_NAME or text != shown(text):
                raise ConfigError(f"{name}={text!r:.60}: must be 1 to {_MOST_NAME} printable characters")
        if not 0 <= self.score <= 1:
            raise ConfigError(f"score={self.score}: must be the share of the victories, 0 to 1")
        if min(self.seed, self.steps, self.games) < 0 or max(self.seed, self.steps, self.games) >= 2**63:
            raise ConfigError(f"seed={self.seed:.0f}, steps={self.steps:.0f}: must be whole numbers of at least 0")

    @property
    def run(self) -> tuple[str, str, int, str]:
        """What rows of one run in one part have in common."""
        return self.task, self.learner, self.seed, self.part


def write_scores(path: Path, rows: Iterable[Row]) -> None:
    """Write `scores.csv`."""
    write_rows(path, [asdict(row) for row in rows])


def read_scores(path: Path) -> list[Row]:
    """The lines of a `scores.csv`. Raises TabletopError, which names the line, for anything else."""
    rows: list[Row] = []
    kinds = {"seed": int, "steps": int, "games": int, "score": float, "margin": float}
    may_miss = {"games": 0, "margin": math.nan}
    try:
        lines = read_limited(path).decode("utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise TabletopError(f"{path}: can't be read ({getattr(error, 'strerror', None) or error})") from None
    for number, line in enumerate(csv.DictReader(lines), 2):
        try:
            if number > _MOST_ROWS:
                raise ValueError(f"at most {_MOST_ROWS:,} lines are read")
            missing = [name for name in Row.__dataclass_fields__ if name not in may_miss and not line.get(name)]
            if missing:
                raise ValueError(f"{', '.join(missing)} missing")
            known = {name: line[name] for name in Row.__dataclass_fields__ if line.get(name)}
            values: dict[str, Any] = {
                name: kinds[name](text[:40]) if name in kinds else text for name, text in known.items()
            }
            rows.append(Row(**{**may_miss, **values}))
        except ValueError as error:
            raise TabletopError(f"{path}, line {number}: {error}") from None
    if not rows:
        raise TabletopError(f"{path}: has no scores")
    return rows


def rows_of_run(folder: Path, game: Game, learner: str, task: str = "") -> list[Row]:
    """What the folder of a run of `train` says: its curve, and the games that choose `best.zip`, if there are any.

    The task is the given one, or named after the settings, with a checksum of the games and the budget.
    """
    try:
        told = json.loads(read_limited(folder / "run.json"))
        if told["game"] != game.name:
            raise TabletopError(f"{folder}: a run of {told['game']!s:.40}, not of {game.name}")
        decides = {name: told[name] for name in ("games", "evaluation", "budget")}
        digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:6]
        usual: dict[str, Any] = {"version": str(told["package"]), "learner": learner, "seed": told["seed"]}
        usual["task"] = task or f"{game.name} train {told['settings']} {digest}"
        rows = [
            Row(**usual, part=LEARNING, steps=int(steps), score=won, games=int(games), margin=margin)
            for steps, won, games, margin in _binned(numbers_of(folder / "learning_curve.csv"))
        ]
        for one in numbers_of(folder / "evaluations.csv"):
            if "win_rate" in one:
                steps, won = int(one["steps"]), one["win_rate"]
                rows.append(Row(**usual, part=CHOSEN, steps=steps, score=won, margin=one.get("margin", math.nan)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, TabletopError):
            raise
        raise TabletopError(f"{folder}: not a run of this version ({error})") from None
    return rows


def numbers_of(path: Path) -> list[dict[str, float]]:
    """The lines of a run's log; none if there is no file."""
    if not path.is_file():
        return []
    lines = csv.DictReader(read_limited(path).decode().splitlines())
    return [{key: float(value) for key, value in line.items() if value} for line in lines]


def _binned(points: Sequence[Mapping[str, float]]) -> list[tuple[float, float, float, float]]:
    """At most `_CURVE_POINTS` points of a curve: steps, share won, games, mean margin."""
    played = [point for point in points if point["games"]]
    parts = np.array_split(np.arange(len(played)), min(len(played), _CURVE_POINTS)) if played else []
    binned = []
    for part in parts:
        own = [played[int(index)] for index in part]
        games = sum(point["games"] for point in own)
        margin = sum(point["margin"] * point["games"] for point in own) / games
        binned.append((own[-1]["steps"], sum(point["wins"] for point in own) / games, games, margin))
    return binned


def read_runs(places: Sequence[str | Path], game: Game) -> list[Row]:
    """The rows of files and folders. A folder has a `scores.csv`, or is a run of `train`, or has such folders.

    Raises TabletopError for a place without runs.
    """
    rows: set[Row] = set()
    for place in map(Path, places):
        found = read_scores(place) if place.is_file() else _of_folder(place, game, place.name, depth=2)
        if not found:
            raise TabletopError(f"{place}: there is no {SCORES} and no run of `{game.command} train`")
        rows.update(found)
    return sorted(rows)


def _of_folder(folder: Path, game: Game, learner: str, depth: int) -> list[Row]:
    if (folder / SCORES).is_file():
        return read_scores(folder / SCORES)
    if (folder / "run.json").is_file():
        return rows_of_run(folder, game, learner)
    if depth == 0 or not folder.is_dir():
        return []
    inside = [one for one in sorted(folder.iterdir()) if one.is_dir()]
    settings = {_settings_of(one): one.name for one in inside if (one / "run.json").is_file()}
    if len(settings) > 1:
        which = " and ".join(list(settings.values())[:2])
        raise ConfigError(f"{folder}: {which} have different settings, so they are not runs of one learner")
    return [row for one in inside for row in _of_folder(one, game, learner, depth - 1)]


def _settings_of(folder: Path) -> str:
    """How a run learns, as a text."""
    try:
        told = json.loads(read_limited(folder / "run.json"))
        return json.dumps([told[name] for name in ("learning", "opponents", "start", "rival")])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TabletopError(f"{folder}: not a run of this version ({error})") from None


# --- What they say ---------------------------------------------------------------------------------------------------

Final = dict[tuple[str, str, str], dict[int, Row]]
"""The last row of each run, by task, learner and part, then by seed."""
Looks = Mapping[str, tuple[str, str]]
"""Colour and marker of each learner."""


def final_rows(rows: Sequence[Row]) -> Final:
    """The last row of each run. Raises ConfigError for runs that must not be averaged.

    These are runs of one task that different versions played, seeds that a learner has in one task and not in another
    one, and two scores of one run.
    """
    versions: dict[str, Row] = {}
    last: dict[tuple[str, str, int, str], Row] = {}
    for row in rows:
        first = versions.setdefault(row.task, row)
        if row.version != first.version:
            which = f"{first.learner} with version {first.version}, {row.learner} with {row.version}"
            raise ConfigError(f"{row.task}: {which}; runs of different versions are not compared")
        before = last.get(row.run)
        if before is not None and before.steps == row.steps and before != row:
            raise ConfigError(f"{row.learner}, {row.task}, seed {row.seed}: two scores of the part {row.part}")
        if before is None or row.steps >= before.steps:
            last[row.run] = row
    final: Final = {}
    for row in last.values():
        final.setdefault((row.task, row.learner, row.part), {})[row.seed] = row
    seeds: dict[str, set[int]] = {}
    for (_, learner, _), runs in final.items():
        seeds.setdefault(learner, set()).update(runs)
    for (task, learner, part), runs in final.items():
        if missing := sorted(seeds[learner] - set(runs)):
            wanted = ", ".join(map(str, missing))
            others = "a learner's mean over the seeds that are there would hide the runs that failed"
            raise ConfigError(f"{learner}, {task}, {part}: seed {wanted} is missing; {others}")
    return final


def scored_part(final: Final) -> str:
    """The part whose scores count: `new` if there is one."""
    parts = {part for _, _, part in final}
    return next((part for part in (NEW, CHOSEN, LEARNED) if part in parts), min(parts))


def by_task(final: Final, part: str) -> list[dict[str, Any]]:
    """A line for each task and learner: the number of runs, the score, what was learned, and the gap between both."""
    rows = []
    for task, learner, of in sorted(final):
        if of != part:
            continue
        runs = final[task, learner, of]
        scores = _scores(runs)
        draws = partial(generator, 0, Stream.RUNS)
        row: dict[str, Any] = {"task": task, "learner": learner, "version": next(iter(runs.values())).version}
        row |= {"runs": len(runs), "seeds": " ".join(map(str, sorted(runs)))}
        row["score"] = statistics.estimate(statistics.interquartile_mean, [scores], generator=draws())
        row |= {"lowest": float(scores.min()), "highest": float(scores.max())}
        learned = final.get((task, learner, LEARNED))
        if learned is not None and part != LEARNED:
            gaps = _scores(learned) - scores
            row["learned"] = statistics.estimate(statistics.interquartile_mean, [_scores(learned)], generator=draws())
            row["gap"] = statistics.estimate(statistics.mean, [gaps], generator=draws())
        rows.append(row)
    keys = dict.fromkeys(key for row in rows for key in row)
    return [{key: row.get(key, NO_ESTIMATE) for key in keys} for row in rows]


def over_tasks(final: Final, part: str) -> tuple[list[str], list[dict[str, Any]], list[dict[str, Any]]]:
    """What all runs of a learner say together, of the tasks that all learners have: those tasks; a line for each
    learner; and for each two learners how probably a run of the first one scores more than one of the second."""
    learners = sorted({learner for _, learner, of in final if of == part})
    tasks = [{task for task, learner, of in final if (learner, of) == (one, part)} for one in learners]
    shared = sorted(set.intersection(*tasks))
    if not shared:
        return [], [], []
    scores = {one: [_scores(final[task, one, part]) for task in shared] for one in learners}

    def estimated(name: str, *of: str) -> Estimate:
        drawn = generator(0, Stream.RUNS)
        return statistics.estimate(getattr(statistics, name), *(scores[one] for one in of), generator=drawn)

    names = ("interquartile_mean", "mean", "optimality_gap")
    rows = [
        {"learner": one, "runs": sum(map(len, scores[one])), **{name: estimated(name, one) for name in names}}
        for one in learners
    ]
    pairs = [
        {"learner": one, "other": other, "above": estimated("improvement", one, other)}
        for one, other in combinations(learners, 2)
    ]
    return shared, rows, pairs


def _scores(runs: Mapping[int, Row]) -> np.ndarray:
    """(runs,) the scores, by ascending seed."""
    return np.array([runs[seed].score for seed in sorted(runs)])


# --- The command -----------------------------------------------------------------------------------------------------


@checked
def main(
    game: Game,
    places: Sequence[str],
    *,
    output: str | Path = "runs/runs",
    on_result: OnResult = ignore,
) -> Path:
    """Read runs from files and folders (`read_runs`), print what they say, and write tables and pictures.

    Returns the folder. Raises TabletopError for files without scores, ConfigError for runs that must not be averaged.
    """
    if not places:
        raise ConfigError("runs: name files or folders, each of a learner")
    rows = read_runs(places, game)
    with Job(output) as job:
        content = tell(job, rows, game)
        on_result(content)
    return job.folder


def tell(job: Job, rows: Sequence[Row], game: Game) -> dict[str, Any]:
    """Print what runs say and write it into the job's folder; returns the content of `runs.json`."""
    final = final_rows(rows)
    part = scored_part(final)
    each, (shared, together, pairs) = by_task(final, part), over_tasks(final, part)
    brief = [{**row, "task": row["task"].removeprefix(f"{game.name}/")} for row in each]
    for table in _tables(brief, shared, together, pairs, part):
        job.console.print(table.screen())
    for learner in sorted({learner for _, learner, _ in final} - {row["learner"] for row in each}):
        known = ", ".join(sorted({of for _, one, of in final if one == learner}))
        job.console.print(f"Left out: {learner}, which has no games of the part {part} (it has {known}).", markup=False)
    write_scores(job.folder / SCORES, rows)
    for name, lines in (("tasks", each), ("learners", together), ("pairs", pairs)):
        if lines:
            write_rows(job.folder / f"{name}.csv", lines)
    styles = looks(sorted({row.learner for row in rows}))  # in both pictures
    plot_curves(job.folder / "curves.png", rows, styles)
    plot_profiles(job.folder / "profiles.png", final, shared, part, styles)
    found = {"part": part, "tasks": each, "shared": shared, "learners": together, "pairs": pairs}
    content: dict[str, Any] = plain({**software(game), **found})
    write_json(job.folder / "runs.json", content)
    return content


def _tables(
    each: Sequence[Mapping[str, Any]],
    shared: Sequence[str],
    together: Sequence[Mapping[str, Any]],
    pairs: Sequence[Mapping[str, Any]],
    part: str,
) -> list[Table]:
    rate = partial(format_estimate, factor=100)
    words = partial(Column, words=True)
    learner, runs = words("learner", "learner", code=True), Column("runs", "runs")
    share = partial(Column, write=rate, wraps=True)
    columns = [words("task", "task"), learner, runs, share("won", "score")]
    if "gap" in each[0]:
        columns += [share("learned", "learned"), share("gap", "gap")]
    told = {
        CHOSEN: "in the games by which best.zip was chosen, so rather too many",
        LEARNING: "while learning, with actions that are drawn, so rather too few",
    }
    note = "Interquartile mean of the runs, with 95 % intervals of a bootstrap over the seeds."
    if min(row["runs"] for row in each) < _MANY_RUNS:
        note += f" With fewer than {_MANY_RUNS} runs, an interval seems more certain than it is."
    title = f"Games won, %, {told.get(part, f'part {part}')}"
    tables = [Table(columns, each, title, note, blank="–")]
    of = f"{counted(len(shared), 'task')} that all have, %"
    if len(shared) > 1:
        measures = (("IQM", "interquartile_mean"), ("mean", "mean"), ("optimality gap", "optimality_gap"))
        tables.append(Table([learner, runs, *(share(*one) for one in measures)], together, f"Over {of}"))
    if pairs:
        columns = [learner, words("other", "other", code=True), share("above", "above")]
        tables.append(Table(columns, pairs, f"How probably a run scores more than one of the other, {of}"))
    return tables


def plot_curves(path: Path, rows: Sequence[Row], styles: Looks) -> None:
    """A panel for each task: the runs as thin lines, and the mean of each learner's runs."""
    parts = {row.part for row in rows}
    part = next((one for one in (LEARNING, NEW, CHOSEN) if one in parts and _has_curve(rows, one)), "")
    shown_rows = [row for row in rows if row.part == part]
    tasks = sorted({row.task for row in shown_rows})[:_MOST_PANELS]
    if not tasks:
        return
    across = min(3, len(tasks))
    down = math.ceil(len(tasks) / across)
    with picture(path, "Curves", down, across, figsize=(5 * across, 3.4 * down + 0.6), squeeze=False) as (
        figure,
        panels,
    ):
        for panel, task in zip(panels.flat, tasks, strict=False):
            own = [row for row in shown_rows if row.task == task]
            for learner in sorted({row.learner for row in own}):
                colour = styles[learner][0]
                runs = [
                    np.array(
                        sorted((row.steps, row.score) for row in own if (row.learner, row.seed) == (learner, seed))
                    )
                    for seed in sorted({row.seed for row in own if row.learner == learner})
                ]
                for run in runs:
                    panel.plot(*run.T, color=colour, alpha=0.35, linewidth=0.9)
                last = min(run[-1, 0] for run in runs)
                steps = np.linspace(max(run[0, 0] for run in runs), last, 100)
                middle = np.mean([np.interp(steps, *run.T) for run in runs], axis=0)
                panel.plot(steps, middle, color=colour, linewidth=2, label=f"{agent_title(learner)}, {len(runs)} runs")
            panel.set_title(task)
            panel.set_ylim(0, 1)
            panel.yaxis.set_major_formatter(PercentFormatter(1.0))
            panel.xaxis.set_major_formatter(EngFormatter(sep=""))
        for panel in panels.flat[len(tasks) :]:
            panel.set_visible(False)
        panels[-1, 0].set_xlabel(f"decisions; games won, part {part}")
        legend(figure, panels[0, 0], 3)


def _has_curve(rows: Sequence[Row], part: str) -> bool:
    runs = [row.run for row in rows if row.part == part]
    return len(set(runs)) < len(runs)


def plot_profiles(path: Path, final: Final, shared: Sequence[str], part: str, styles: Looks) -> None:
    """Performance profiles over the tasks that all learners have, with pointwise 95 % intervals."""
    learners = sorted({learner for task, learner, of in final if task in shared and of == part})
    if not learners:
        return
    with picture(path, "Performance profiles", 1, 1, figsize=(7, 4.6)) as (figure, panel):
        for learner in learners:
            scores = [_scores(final[task, learner, part]) for task in shared]
            measure = partial(statistics.profile, least=_THRESHOLDS)
            samples = measure(statistics.resampled(scores, generator(0, Stream.RUNS), 1000))
            low, high = np.quantile(samples, (0.025, 0.975), axis=0)
            colour = styles[learner][0]
            panel.fill_between(_THRESHOLDS, low, high, color=colour, alpha=0.2, linewidth=0)
            panel.plot(_THRESHOLDS, measure(scores), color=colour, linewidth=2, label=agent_title(learner))
        panel.set_xlabel(f"games won, part {part}, {counted(len(shared), 'task')}")
        panel.set_ylabel("share of the runs that win more")
        panel.xaxis.set_major_formatter(PercentFormatter(1.0))
        panel.yaxis.set_major_formatter(PercentFormatter(1.0))
        legend(figure, panel, 3)
