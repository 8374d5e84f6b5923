"""`… suite`: the games of a task, played by agents or by the policies of training runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tabletop_agents import agent_file
from tabletop_agents.checkpoint import read_notes
from tabletop_engine.checks import checked, whole
from tabletop_engine.errors import ConfigError
from tabletop_engine.text.screen import Screen
from tabletop_training.files.job import Stopped
from tabletop_training.files.provenance import agent_hashes, software
from tabletop_training.files.tables import (
    AGENT,
    Column,
    OnResult,
    Table,
    format_estimate,
    ignore,
    plain,
    slug,
    write_json,
)
from tabletop_training.measure.evaluation import HERE, Workers
from tabletop_training.study.play import finished_cells
from tabletop_training.study.settings import arguments, job_of
from tabletop_training.suite import results
from tabletop_training.suite.runs import SCORES, Row, write_scores
from tabletop_training.suite.tasks import GAMES, LEARNED, NEW, Task, task_of, task_table

MOST_OVER = 1.05
"""A run may learn by this factor longer than its task says, because it learns by whole rollouts."""


@dataclass(frozen=True)
class Entry:
    """Who plays: an agent's name, whose policy it is, the training seed and its steps; 0 without a training."""

    agent: str
    learner: str
    seed: int = 0
    steps: int = 0


def entry_of(agent: str, task: Task, learner: str | None = None) -> Entry:
    """The entry of an agent; a checkpoint of `train` says what it learned.

    Its learner is the given name, or the folder of the runs. Its seed is what its notes say, or that of its folder
    `seed-N`. Raises ConfigError for a run that learned other games than those of the task, or not as long as it says.
    """
    path = agent_file(agent, task.game)
    if path is None or not agent.startswith("policy") or not Path(agent.partition(":")[2]).is_file():
        return Entry(agent, learner or agent)  # nothing was learned, or a shipped policy, with what it always learned
    from tabletop_training.learn.task import GamesSettings

    notes = read_notes(task.game, path).get("training", {})
    folder = path.resolve().parent
    of_run = re.fullmatch(r"seed-(\d{1,9})", folder.name)
    seed, name = (int(of_run[1]), folder.parent.name) if of_run else (0, folder.name)
    entry = Entry(agent, learner or name, int(notes.get("seed", seed)), int(notes.get("steps", 0)))
    used, there_is = entry.steps, task.steps
    if task.minutes is not None:
        used, there_is = int(notes.get("seconds", 0)), int(60 * task.minutes)
    if "games" in notes and there_is is not None:
        games = GamesSettings.of_table(task.game, notes["games"])
        configs = {one for levels in games.levels(task.game).values() for level in levels for one in level}
        if configs != set(task.learn) or (games.editions or 0) != task.editions:
            raise ConfigError(f"{agent}: it did not learn what {task.name} learns; `train --task` does")
        if not there_is <= used <= MOST_OVER * there_is:
            unit = "decisions" if task.minutes is None else "seconds"
            raise ConfigError(f"{agent}: it learned for {used:,} {unit}; {task.name} is learned for {there_is:,}")
    return entry


@checked
def main(
    tasks: Mapping[str, Any],
    name: str | None,
    agents: Sequence[str] = (),
    *,
    learner: str | None = None,
    games: int | None = None,
    salt: str = results.SALT,
    output: str | Path = "runs/suite",
    resumed: bool = False,
    workers: Workers | int = HERE,
    on_result: OnResult = ignore,
) -> Path | None:
    """Play a task by each of the agents, write a results file for each, and print their scores; returns the folder.

    Without a task, the tasks are printed.

    Arguments:
        tasks: of a game, by name (`by_name`).
        name: of the task.
        agents: names for `make_agent`, such as `policy:runs/mine/seed-0/policy.zip`.
        learner: the name under which they are averaged; None for the folder of the runs, or the agent's own name.
        games: of each part, for slow agents; None for the task's own number.
        salt: the seeds of the games follow from it and from what the results file is about.
    """
    if name is None:
        table = task_table(list(tasks.values()))
        Screen().print(table.screen())
        on_result(plain(table.rows))
        return None
    task = task_of(tasks, name)
    number = whole("games", GAMES if games is None else games, 1, GAMES)
    if not agents:
        raise ConfigError("agents: name at least one, such as greedy or policy:runs/mine/seed-0/policy.zip")
    results.checked_salt(salt)
    with Screen().status("loading the agents"):
        played: dict[Entry, tuple[dict[str, Any], dict[str, Any]]] = {}
        for agent in dict.fromkeys(agents):
            entry = entry_of(agent, task, learner)
            versions = {name: one for name, one in software(task.game).items() if name != "threads"}  # chosen later
            facts = plain({**vars(entry), "task": task.id, "digest": task.digest, "versions": versions})
            facts["checkpoints"] = agent_hashes([agent, task.rival][: 1 + bool(task.rival)], task.game)
            results.check_facts(facts)
            same = [one.agent for one in played if (one.learner, one.seed) == (entry.learner, entry.seed)]
            if same:
                raise ConfigError(
                    f"{same[0]}, {agent}: both are seed {entry.seed} of {entry.learner}; put the policy of another run"
                    ' into a folder seed-N, or save it with notes={"seed": N, "steps": DECISIONS}'
                )
            seeds = results.seeds_of(salt, results.commitment_of(facts))
            played[entry] = facts, task.cells(agent, seeds, number)
    asked = {"name": name, "agents": agents, "learner": learner, "games": games, "salt": salt}
    every = [cell for _, parts in played.values() for cells in parts.values() for cell in cells]
    with job_of("suite", task.game, output, asked, resumed=resumed) as (job, store):
        done = finished_cells(job, every, store, workers, record_actions=True)
        rows, lines = list[Row](), list[dict[str, Any]]()
        for entry, (facts, parts) in played.items():
            if not all(cell in done for cells in parts.values() for cell in cells):
                continue
            own = {part: [done[cell] for cell in cells] for part, cells in parts.items()}
            file = job.folder / f"{task.name}-{slug(entry.learner)}-{entry.seed}{results.ENDING}"
            scores = results.write(file, facts, salt, number, own)
            rows += rows_of(task, entry, scores)
            lines.append({"agent": entry.agent, "file": file.name, "games": scores[NEW].games, **_columns(scores)})
        if not rows:
            raise Stopped
        write_scores(job.folder / SCORES, rows)
        content = plain({**software(task.game), "task": task.id, "salt": salt, "agents": lines})
        write_json(job.folder / "suite.json", content)
        job.console.print(table_of(lines, task).screen())
        on_result(content)
    return job.folder


def resume(folder: str | Path, tasks: Mapping[str, Any], trusted: Sequence[str] = (), **how: Any) -> Path | None:
    """Go on with the games of a folder, as `tabletop_training.measure.matches.resume` does."""
    game = next(iter(tasks.values())).game
    names = ("name", "agents", "learner", "games", "salt")
    asked = arguments(folder, "suite", game, *names, trusted=trusted, agents={"agents": "the agents "})
    return main(tasks, **asked, output=folder, resumed=True, **how)


def rows_of(task: Task, entry: Entry, scores: Mapping[str, results.Score]) -> list[Row]:
    """The lines of `scores.csv`."""
    who: dict[str, Any] = {"task": task.id, "version": task.game.version, "learner": entry.learner, "seed": entry.seed}
    return [
        Row(**who, part=part, steps=entry.steps, score=one.won.value, games=one.games, margin=one.margin.value)
        for part, one in scores.items()
    ]


def _columns(scores: Mapping[str, results.Score]) -> dict[str, Any]:
    learned = scores.get(LEARNED)
    new = scores[NEW]
    gap = None if learned is None else learned.won.value - new.won.value
    return {"won": new.won, "margin": new.margin, "learned": None if learned is None else learned.won, "gap": gap}


def table_of(rows: Sequence[Mapping[str, Any]], task: Task) -> Table:
    """The scores of a task: new games, those like the learned ones, and how much less is won of the new ones."""
    rate = partial(format_estimate, factor=100)
    columns = [AGENT, Column("games", "games", "{:,}".format), Column("won, %", "won", rate)]
    if any(row["learned"] is not None for row in rows):
        columns += [Column("learned, %", "learned", rate), Column("gap", "gap", lambda gap: f"{100 * gap:+.1f}")]
    columns.append(Column("points ahead", "margin", partial(format_estimate, sign="+", interval="±")))
    note = f"To check a results file: {task.game.command} verify FILE"
    return Table(columns, rows, f"{task.id}: {task.about}", note, blank="–")


def verify(path: str | Path, tasks: Mapping[str, Any], on_result: OnResult = ignore) -> results.Checked:
    """Play the games of a results file again (`results.verify`), and print what it is about and its scores."""
    screen = Screen()
    with screen.status("playing the games again"):
        found = results.verify(path, tasks)
    facts, task = found.header["facts"], found.task
    line = {"agent": facts["agent"], "games": found.scores[NEW].games, **_columns(found.scores)}
    screen.print(table_of([line], task).screen())
    every = sum(score.games for score in found.scores.values())
    who = (
        f"Learner {facts['learner']}, training seed {facts['seed']}, {facts['steps']:,} decisions learned, as it says."
    )
    seeds = f"The seeds follow from the salt {found.header['salt']!r} and the commitment {found.commitment}."
    right = f"All {every:,} games were played again: every action is legal, and the table is theirs."
    screen.print(f"{right} {who} {seeds}", markup=False)
    on_result(plain({**facts, "salt": found.header["salt"], "commitment": found.commitment, **_columns(found.scores)}))
    return found
