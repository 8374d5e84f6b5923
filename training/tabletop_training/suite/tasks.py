"""Tasks of the suite: what is learned, for how long, and which games are scored. A game's own list is its `TASKS`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from tabletop_agents import Agent
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Config, Game, changed_fields
from tabletop_engine.seeds import SUITE, edition_seeds
from tabletop_engine.text.words import counted
from tabletop_training.files.provenance import agent_hash, tables_hash
from tabletop_training.files.tables import Column, Table
from tabletop_training.measure.evaluation import number_of_teams, seating
from tabletop_training.measure.matches import make_agents
from tabletop_training.study.cells import Cell

GAMES = 10_000
"""The games of each part of a task."""
MANY_EDITIONS = 4_000
"""The editions that stand for all of them: what a process draws in less than half a minute."""
NEW_EDITIONS = 1_000
"""The editions of a part, if there are not fewer."""
NEW, LEARNED = "new", "learned"
"""The parts of a task: games that the score counts, and games like those that were learned."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task: what is learned, for how long, and which games are scored.

    The score is the share of the games of the part `new` that the learner wins; of a victory that k players share it
    gets 1/k. If these games are of another kind than those that are learned, there is a part `learned`, too.

    Attributes:
        name: with its version, such as `editions-100-v1`. Any change of a task needs another version.
        about: what it asks, in a few words.
        learn: the configurations that are learned, all equally allowed.
        editions: the number K of editions that are learned, those of the seeds 0 to K - 1; 0 for the shipped numbers.
        play: the configurations that are scored; () for those that are learned.
        rival: the agent in all other seats of the scored games; empty in a game for one.
        steps: the learner's decisions; None if minutes count.
        minutes: of two processor cores.
    """

    name: str
    about: str
    learn: tuple[Config, ...]
    editions: int = 0
    play: tuple[Config, ...] = ()
    rival: str = ""
    steps: int | None = 10_000_000
    minutes: float | None = None

    @property
    def game(self) -> Game:
        """The game."""
        game: Game = self.learn[0].game
        return game

    @property
    def id(self) -> str:
        """The name with that of the game, such as `GAME/editions-100-v1`."""
        return f"{self.game.name}/{self.name}"

    @property
    def parts(self) -> dict[str, tuple[tuple[Config, ...], list[int] | None]]:
        """The configurations of each part, and the seeds of its editions (None for the shipped numbers)."""
        if self.editions:
            learned = list(range(min(self.editions, NEW_EDITIONS)))
            return {NEW: (self.play or self.learn, edition_seeds(SUITE, NEW_EDITIONS)), LEARNED: (self.learn, learned)}
        return {NEW: (self.play, None), LEARNED: (self.learn, None)} if self.play else {NEW: (self.learn, None)}

    @property
    def environments(self) -> list[tuple[str, dict[str, Any]]]:
        """What may be learned: for each configuration the id of a Gymnasium environment, and its arguments.

        `observe_numbers` may be added. Other rewards and opponents may be chosen, but no other seeds for evaluations
        than the suite's: what is chosen by games of the task was learned by them, too.
        """
        made = []
        package = self.game.home.partition(".")[0]
        for config in self.learn:
            changed = changed_fields(config)
            if self.editions:
                changed["editions"] = self.editions
            kind = "Solo" if config.players == 1 else "Versus"
            if config.players > 1:
                changed |= {"players": config.players, "opponents": (self.rival,)}
            made.append((f"{package}:{self.game.title}/{kind}-v0", changed))
        return made

    def cells(
        self,
        agent: str,
        first_seed: Callable[[str, int], int],
        games: int = GAMES,
        make: Callable[[Sequence[str], Config], list[Agent]] = make_agents,
    ) -> dict[str, list[Cell]]:
        """The games of an agent in each part, with the same number of seeds for each configuration; actions are kept.

        `first_seed` is called with the part and the configuration's number, `make` makes the agents of these names.
        """
        cells: dict[str, list[Cell]] = {}
        for part, (configs, editions) in self.parts.items():
            seeds = max(1, games // sum(number_of_teams(config) for config in configs))
            for number, config in enumerate(configs):
                teams = number_of_teams(config)
                agents = make([agent] + [self.rival] * (teams - 1), config)
                about: dict[str, Any] = {"editions": editions, "lineups": seating(config, teams), "actions": True}
                key = f"{agent} {part} {config.name}"
                cells.setdefault(part, []).append(
                    Cell(key, agents, config, seeds * teams, first_seed(part, number), **about)
                )
        return cells

    @property
    def facts(self) -> dict[str, Any]:
        """All that decides the games of the task, as JSON values: also the rules, the numbers and the rival's file."""
        parts = {
            part: [[asdict(config) for config in configs], tables_hash(configs[0], editions or ())]
            for part, (configs, editions) in self.parts.items()
        }
        rival = agent_hash(self.rival, self.game) if self.rival else None
        facts = {
            "task": self.id,
            "rules_version": self.game.rules_version,
            "parts": parts,
            "rival": [self.rival, rival],
        }
        learned = {"learn": [asdict(config) for config in self.learn], "editions": self.editions}
        text = json.dumps({**facts, **learned, "steps": self.steps, "minutes": self.minutes})
        return dict(json.loads(text))

    @property
    def digest(self) -> str:
        """SHA-256 of the facts."""
        return hashlib.sha256(json.dumps(self.facts, sort_keys=True).encode()).hexdigest()


def by_name(tasks: Sequence[Task]) -> dict[str, Task]:
    """The tasks by their names."""
    return {task.name: task for task in tasks}


def task_of(tasks: Mapping[str, Task], name: str) -> Task:
    """The task of this name, with or without that of the game. Raises ConfigError for any other name."""
    found = tasks.get(name.rpartition("/")[2])
    if found is None or name not in (found.name, found.id):
        raise ConfigError(f"task={name!r:.80}: there is no such task; there are {', '.join(tasks)}")
    return found


def task_table(tasks: Sequence[Task]) -> Table:
    """The tasks: what each asks, what is learned, and who has the other seats of the scored games."""
    words, code = partial(Column, words=True), partial(Column, words=True, code=True)
    columns = (code("task", "task"), words("what", "about"), words("learned", "learned"), code("against", "rival"))
    rows = [
        {"task": task.name, "about": task.about, "learned": _learned(task), "rival": task.rival or None}
        for task in tasks
    ]
    budgets = dict.fromkeys(_budget(task) for task in tasks)
    usual, *others = (f"{budget}{_of(tasks, budget) if number else ''}" for number, budget in enumerate(budgets))
    return Table(columns, rows, caption=f"Learned for {'; '.join((usual, *others))}.")


def _learned(task: Task) -> str:
    numbers = sorted({config.players for config in task.learn})
    if len(numbers) > 1:
        return f"{' and '.join(map(str, numbers))} players"
    if task.editions:
        return "all editions" if task.editions == MANY_EDITIONS else counted(task.editions, "edition")
    return f"{len(task.learn)} sets" if len(task.learn) > 1 else "the same"


def _budget(task: Task) -> str:
    return f"{task.steps:,} decisions" if task.steps is not None else f"{task.minutes:g} minutes of two cores"


def _of(tasks: Sequence[Task], budget: str) -> str:
    return f" ({', '.join(task.name for task in tasks if _budget(task) == budget)})"
