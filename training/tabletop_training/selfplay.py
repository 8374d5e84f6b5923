"""Learning a game: alone in a game for one; otherwise against a league of earlier selves and scripted agents.

A game for one is self-play without other seats: the same learner, the same evaluation, no league.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from rich.console import Console
from rich.table import Table

from tabletop.checks import fit_fields
from tabletop.errors import ConfigError
from tabletop.game import Config, Game
from tabletop.versus import VersusBatch
from tabletop.words import shown
from tabletop_training.curriculum import Curriculum
from tabletop_training.evaluation_files import new_table, read_log, write_log
from tabletop_training.league import LEARNER, League, LeagueSettings
from tabletop_training.learn.learner import BEST, CHOOSING_SEED
from tabletop_training.learn.task import EvaluationSettings, Judge
from tabletop_training.learning import BaseLearner, Budget, Hook, Judgement, Learner
from tabletop_training.settings import Settings, check_at_least_one, check_keys, with_tuples
from tabletop_training.vec_env import Ended

LEAGUE_LOG = "league.csv"
SNAPSHOTS = "league"

_PLACES = ("steps", "player", "rating", "low", "high", "games", "learner_ahead", "share")


@dataclass(frozen=True)
class Task:
    """What is learned and how it is evaluated: a table of a settings file, which includes the configuration's fields.

    `best.zip` is the policy with the highest mean win rate against the agents of `against`. In each game, one of these
    agents plays all other seats.
    """

    config: Any  # what is played
    curriculum: bool = False  # learn what `config.curriculum()` gives instead, level by level, as `Curriculum` says
    threshold: float = 0.5  # win rate over the open configurations at which the curriculum opens the next level
    latest: float = 0.1  # part of the budget at whose end all levels are open in any case
    against: tuple[str, ...] = ()  # agents' names; () where nobody else plays
    games: int = 400  # of each configuration and against each of them for an evaluation, in every seat equally many

    def __post_init__(self) -> None:
        fit_fields(self)
        if not 0 <= self.threshold <= 1 or not 0 <= self.latest <= 1:
            raise ConfigError(f"threshold={self.threshold}, latest={self.latest}: must be from 0 to 1")
        check_at_least_one(games=self.games)
        if self.curriculum and not hasattr(self.config, "curriculum"):
            raise ConfigError(f"curriculum: {self.config.game.title} has none")
        for name, default in self._chosen_by_curriculum().items() if self.curriculum else ():
            if getattr(self.config, name) != default:
                given = list(getattr(self.config, name))
                raise ConfigError(f"{name}={given}: the curriculum plays all of them; give one of the two")

    def _chosen_by_curriculum(self) -> dict[str, Any]:
        """The fields of the configuration that the curriculum chooses, with their defaults."""
        if not hasattr(self.config, "curriculum"):
            return {}
        every = [one for level in self.config.curriculum() for one in level]
        chosen = [one for one in fields(self.config) if len({getattr(config, one.name) for config in every}) > 1]
        return {one.name: one.default for one in chosen}

    @classmethod
    def of_table(cls, game: Game, table: dict[str, Any]) -> Self:
        """Create a task from a table of TOML or JSON. Raises ConfigError for unknown keys and wrong values."""
        switches = [one.name for one in fields(game.config)]
        own = [one.name for one in fields(cls) if one.name != "config"]
        check_keys(table, [*switches, *own])
        rest = with_tuples(table)
        chosen = {key: rest.pop(key) for key in switches if key in rest}
        return cls(game.config(**{"players": cls.least_players(game), **chosen}), **rest)

    @classmethod
    def least_players(cls, game: Game) -> int:
        """The number of players of a table that does not say it."""
        return next((number for number in game.players if number > 1), 2)

    def table(self) -> dict[str, Any]:
        """The table that `of_table` takes."""
        return asdict(self.config) | {one.name: getattr(self, one.name) for one in fields(self) if one.name != "config"}

    def changed(self, given: dict[str, Any]) -> Self:
        """A copy with other values of some of the table's keys.

        Giving a field that the curriculum chooses turns the curriculum off. Turning it on resets these fields. Paths of
        overlay files become absolute. Raises ConfigError for wrong values, ComponentsError for a wrong file.
        """
        chosen = self._chosen_by_curriculum()
        if given.get("curriculum"):
            given = chosen | given
        elif given.keys() & chosen.keys():
            given = {"curriculum": False, **given}
        game = self.config.game
        table = self.table() | given
        if isinstance(table.get("components"), str | Path):
            game.load_tables(table["components"])
            table["components"] = str(Path(table["components"]).resolve())
        return self.of_table(game, table)

    @property
    def levels(self) -> tuple[tuple[Config, ...], ...]:
        """The configurations to learn, level by level; without a curriculum a single one."""
        return tuple(self.config.curriculum()) if self.curriculum else ((self.config,),)

    def configs(self) -> list[Config]:
        """All configurations that the policy is meant for."""
        return [config for level in self.levels for config in level]


@dataclass(frozen=True)
class SoloSettings(Task):
    """A game for one: the table `[solo]` of a settings file."""

    games: int = 500

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.config.players != 1 or self.against:
            raise ConfigError(f"players={self.config.players}: this is for one; for more it is `train selfplay`")

    @classmethod
    def least_players(cls, game: Game) -> int:
        return 1


@dataclass(frozen=True)
class SelfPlaySettings(Task):
    """A game for two players or more: the table `[selfplay]` of a settings file."""

    against: tuple[str, ...] = ("greedy",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.config.players == 1:
            command = f"`{self.config.game.name} train solo`"
            raise ConfigError(f"players=1: self-play is for two players or more; for one it is {command}")
        if not self.against:
            raise ConfigError(f"against={list(self.against)}: must have at least one agent")


class LeagueGames(VersusBatch):
    """A `VersusBatch` whose opponents come from a league. It reports the result of every ended game to the league.

    Its state includes that of the league.
    """

    def __init__(self, league: League, config: Config, num_games: int, **options: Any) -> None:
        self.league = league
        super().__init__(config, num_games, league.agents, assign=league.assign, **options)

    def step(self, actions: Any) -> None:
        super().step(actions)
        ended = np.flatnonzero(self.terminations)
        if len(ended):
            by_seat = self.batch.places(self.final_states[ended])
            clockwise = (self.final_seats[ended, None] + np.arange(self.players)) % self.players
            self.league.record(self.final_lineups[ended], np.take_along_axis(by_seat, clockwise, axis=1))

    def grow(self, policy: Any, steps: int) -> None:
        """Add a snapshot of the learner to the league. Running games keep their opponents."""
        self.league.add(policy, steps, playing=set(self.lineups.ravel().tolist()))
        self.opponents = self.league.agents

    def get_state(self) -> dict[str, Any]:
        return {**super().get_state(), "league": self.league.get_state()}

    def set_state(self, saved: dict[str, Any]) -> None:
        super().set_state(saved)
        self.league.set_state(saved["league"])
        self.opponents = self.league.agents


def league_of(learner: BaseLearner) -> League | None:
    """The league of its games; None in a game for one."""
    league: League | None = getattr(learner.games, "league", None)
    return league


def grow(learner: BaseLearner) -> None:
    """Take a snapshot of the learner into its league."""
    games: Any = learner.games
    games.grow(learner.network, learner.steps)


class TaskHook(Hook):
    """Evaluates on fixed seeds, advances the curriculum, takes the league's snapshots and logs the league.

    `league.csv` has a row for each member and the learner after every rollout: the rating with the ends of its
    interval, the rated games, `learner_ahead` (the share of its last games in which the learner finished ahead of it)
    and `share` (its chance to get a seat).
    """

    def __init__(self, task: Task, seed: int, curriculum: Curriculum | None = None) -> None:
        self.task = task
        self.curriculum = curriculum
        evaluation = EvaluationSettings(task.against, task.games)
        self.judge = Judge(task.configs(), evaluation, seed + CHOOSING_SEED)

    def on_start(self, learner: BaseLearner) -> None:
        league = league_of(learner)
        if league is not None:
            path = learner.folder / LEAGUE_LOG
            write_log(path, _PLACES, read_log(path, learner.steps))
            if not league.snapshots:
                grow(learner)

    def on_rollout_end(self, learner: BaseLearner, ended: Ended) -> dict[str, float]:
        numbers: dict[str, float] = {}
        if self.curriculum is not None:
            self.curriculum.update(ended.configs, ended.won, learner.fraction)
            numbers |= self.curriculum.numbers()
        league = league_of(learner)
        if league is not None:
            write_log(learner.folder / LEAGUE_LOG, _PLACES, league_rows(league, learner.steps), new=False)
            numbers |= league.numbers()
            if league.due(learner.steps):
                grow(learner)
        return numbers

    def evaluate(self, learner: BaseLearner) -> Judgement:
        return self.judge.judge(learner.agent())

    def on_save(self, learner: BaseLearner) -> None:
        league = league_of(learner)
        if league is not None:
            league.remove_unused_files()

    def get_state(self) -> dict[str, Any]:
        return {"curriculum": None if self.curriculum is None else self.curriculum.get_state()}

    def set_state(self, state: dict[str, Any]) -> None:
        if self.curriculum is not None:
            self.curriculum.set_state(state["curriculum"])


def new_learner(
    budget: Budget,
    folder: Path,
    seed: int,
    settings: Settings,
    task: Task,
    league: LeagueSettings | None = None,
    **options: Any,
) -> Learner:
    """A learner of a task; `options` are those of `Learner`.

    With several players it plays against a league, which is saved in the folder `league` within its own.
    """
    curriculum = Curriculum(task.levels, task.threshold, task.latest, seed) if task.curriculum else None
    config = task.configs()[0]
    made: dict[str, Any] = {"seed": seed, "reward": settings.reward, "new_observations": True}
    made["choose_config"] = None if curriculum is None else curriculum.choose
    games: VersusBatch
    if config.players == 1:
        games = VersusBatch(config, settings.num_envs, **made)
    else:
        members = League(league or LeagueSettings(), config.game, config.players - 1, folder / SNAPSHOTS, seed)
        games = LeagueGames(members, config, settings.num_envs, **made)
    hook = TaskHook(task, seed, curriculum)
    notes = {"config": asdict(config), "curriculum": task.curriculum}
    return Learner(games, budget, folder, seed, settings, hook=hook, notes=notes, **options)


def say_how_good(console: Console, learner: BaseLearner, task: Task) -> None:
    """Print what the learner of a task has come to: the league, and its best evaluation."""
    league = league_of(learner)
    if league is not None:
        console.print(league_table(league_rows(league, learner.steps)))
    if not learner.evaluations:
        return
    steps, best = max(learner.evaluations, key=lambda pair: pair[1].score)
    told = f"won {best.numbers['win_rate']:.1%}"
    if task.config.owners == 1:
        told = f"{best.numbers['margin']:.1f} points"
    elif task.against:
        told += f" against {', '.join(task.against)}, an even share being {1 / task.config.players:.1%}"
    else:
        told += f", margin {best.numbers['margin']:+.1f}"
    console.print(
        f"Best policy ({BEST}): after {steps:,} steps, {told} "
        "(in the games that chose it; for a figure to publish play other games)"
    )


def how_good(learner: BaseLearner) -> dict[str, Any]:
    """What the learner of a task has come to: steps, all evaluations and the rows of the league, if there is one."""
    league = league_of(learner)
    return {
        "steps": learner.steps,
        "seconds": round(learner.seconds, 1),
        "evaluations": [{"steps": steps, "score": one.score, **one.numbers} for steps, one in learner.evaluations],
        "league": [] if league is None else league_rows(league, learner.steps),
    }


def league_rows(league: League, steps: int) -> list[dict[str, Any]]:
    """The rows of `league.csv` for now, the learner first, then the active members."""

    def row(name: str, ahead: float | str, share: float | str) -> dict[str, Any]:
        rating = league.ratings[name]
        values = (round(rating.mu, 3), round(rating.low, 3), round(rating.high, 3), rating.games)
        return dict(zip(_PLACES, (steps, name, *values, ahead, share), strict=True))

    rows = [row(LEARNER, "", "")]
    for member, share in zip(league.members, league.shares(), strict=True):
        if member.active:
            rows.append(row(member.name, round(member.learner_ahead, 4), round(float(share), 4)))
    return rows


def league_table(rows: list[dict[str, Any]]) -> Table:
    """The league by rating."""
    caption = "Rating: mu ± 1.96 sigma, random is 25.\nLearner ahead: share of its last games."
    table = new_table("The league", ["player"], ["rating", "games", "learner ahead", "share of seats"], caption)
    for row in sorted(rows, key=lambda row: -row["rating"]):
        table.add_row(
            shown(row["player"]),
            f"{row['rating']:.1f} ± {row['high'] - row['rating']:.1f}",
            f"{row['games']:,}",
            *("" if row[key] == "" else f"{row[key]:.0%}" for key in ("learner_ahead", "share")),
        )
    return table
