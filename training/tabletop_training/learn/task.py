"""What a network learns, and how it is evaluated: tables of a settings file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple, Self, cast

import numpy as np

from tabletop_agents import make_agent
from tabletop_agents.checkpoint import variety
from tabletop_engine.checks import fit_fields
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.agents import Agent, check_agents
from tabletop_engine.play.tables import editions_of
from tabletop_engine.seeds import CHOOSING, edition_seeds
from tabletop_training.files.settings import check_at_least_one, check_keys, with_tuples
from tabletop_training.learn.curriculum import Curriculum, by_players
from tabletop_training.measure.evaluation import number_of_teams
from tabletop_training.measure.matches import play_match


@dataclass(frozen=True)
class Budget:
    """How long to learn: a number of the learner's decisions, or of minutes. Without either, until it is stopped.

    Learning ends after a whole rollout. With steps, a run is reproducible on the same machine. Raises ConfigError for
    both, and for values below 0.
    """

    steps: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        fit_fields(self)
        if self.steps is not None and self.minutes is not None:
            raise ConfigError(f"steps={self.steps}, minutes={self.minutes}: give only one of them")
        if (self.steps or 0) < 0 or not 0 <= (self.minutes or 0) < float("inf"):
            raise ConfigError(f"steps={self.steps}, minutes={self.minutes}: must be a finite number of at least 0")

    def fraction(self, steps: int, seconds: float) -> float:
        """The part of the budget that is used up, 0 to 1."""
        if self.steps is None and self.minutes is None:
            return 0.0
        used, there_is = (seconds, 60 * self.minutes) if self.minutes is not None else (steps, self.steps)
        return min(1.0, used / there_is) if there_is else 1.0


def run_budget(budget: Budget, steps: int | None, minutes: float | None) -> Budget:
    """The budget, replaced by steps or minutes if they are given. Raises ConfigError for both, and for 0."""
    if steps is not None or minutes is not None:
        budget = Budget(steps, minutes)
    for name, value in asdict(budget).items():
        if value == 0:
            raise ConfigError(f"{name}={value}: must be more than 0")
    return budget


@dataclass(frozen=True)
class GamesSettings:
    """The games that are learned: the table `[games]` of a settings file. Raises ConfigError.

    It also holds fields of the game's configuration, such as `variants`. The curriculum opens the levels of
    `config.curriculum()` one after the other, as `Curriculum` says.
    """

    players: tuple[int, ...] = ()  # numbers of players; () for every one from 2 on, or all if there is only 1
    switches: dict[str, Any] = field(default_factory=dict)  # other fields of the configuration
    each: tuple[dict[str, Any], ...] = ()  # several configurations: their fields that differ from these switches
    variety: bool = False  # all that `config.variety()` gives instead of the configuration alone
    editions: int | None = None  # how many editions are drawn from their ranges; a new game is played with any of them
    curriculum: bool = False
    threshold: float = 0.5  # win rate over the open configurations at which the curriculum opens the next level
    latest: float = 0.1  # part of the budget after which all levels are open in any case

    def __post_init__(self) -> None:
        fit_fields(self)
        if len(set(self.players)) < len(self.players):
            raise ConfigError(f"players={list(self.players)}: must have each number once")
        check_at_least_one(editions=1 if self.editions is None else self.editions)
        if not 0 <= self.threshold <= 1 or not 0 <= self.latest <= 1:
            raise ConfigError(f"threshold={self.threshold}, latest={self.latest}: must be from 0 to 1")
        if (self.curriculum, self.variety, bool(self.each)).count(True) > 1:
            raise ConfigError("curriculum, variety, each: give one of them")

    @classmethod
    def of_table(cls, game: Game, table: dict[str, Any]) -> Self:
        """The settings of a table of TOML or JSON. Raises ConfigError for unknown keys and wrong values."""
        own = [field.name for field in fields(cls) if field.name != "switches"]
        switches = [field.name for field in fields(game.config) if field.name != "players"]
        check_keys(table, [*own, *switches])
        given = with_tuples(table)
        if isinstance(given.get("players"), int) and not isinstance(given["players"], bool):
            given["players"] = (given["players"],)
        chosen = {key: given.pop(key) for key in switches if key in given}
        if "components" in chosen:  # the numbers themselves, not the path of a file
            chosen["components"] = game.config(components=chosen["components"]).components
        made = cls(**given, switches=chosen)
        made.levels(game)  # raises if something is wrong
        return made

    def table(self) -> dict[str, Any]:
        """The table that `of_table` takes."""
        rest = asdict(self)
        return {**rest.pop("switches"), **rest}

    def changed(self, game: Game, given: dict[str, Any]) -> Self:
        """A copy with other values of some keys; None leaves a key as it is.

        A value for a field that the curriculum or the variety would choose turns that one off. Turning the curriculum
        on removes such values, and the variety. Raises ConfigError and ComponentsError.
        """
        table, given = self.table(), {key: value for key, value in given.items() if value is not None}
        players = given.get("players", self.players)
        if given.get("curriculum"):
            table["variety"] = False
            for name in chosen_by_curriculum(game, players):
                table.pop(name, None)
        elif self.curriculum and given.keys() & chosen_by_curriculum(game, players):
            table["curriculum"] = False
        elif self.variety and given.keys() & chosen_by_variety(game, players):
            table["variety"] = False
        table |= given
        return self.of_table(game, table)

    def levels(self, game: Game) -> dict[int, list[list[Config]]]:
        """The configurations of each number of players, level by level. Raises ConfigError for what the game lacks."""
        numbers = self.players or _usual(game)
        found: dict[int, list[list[Config]]] = {}
        for number in sorted(numbers):
            config = game.config(players=number, **self.switches)
            editions_of(config, self.editions)
            if not self.curriculum:
                several = [replace(cast(Any, config), **with_tuples(one)) for one in self.each]
                found[number] = [list(variety(config)) if self.variety else several or [config]]
                continue
            levels = [list(level) for level in config.curriculum()] if hasattr(config, "curriculum") else []
            if sum(map(len, levels)) < 2:
                raise ConfigError(f"curriculum: {game.title} has none with players={number}")
            for name in sorted(chosen_by_curriculum(game, (number,))):
                if name in self.switches and self.switches[name] != getattr(game.config(players=number), name):
                    given = list(self.switches[name])
                    raise ConfigError(f"{name}={given}: the curriculum plays all of them; give one of the two")
            found[number] = levels
        return found

    def curricula(self, game: Game, seed: int) -> dict[int, Curriculum]:
        """What chooses the configurations of new games, for each number of players."""
        return {
            number: Curriculum(levels, self.threshold, self.latest, seed)
            for number, levels in self.levels(game).items()
        }


def chosen_by_curriculum(game: Game, players: Sequence[int]) -> set[str]:
    """The fields of the configuration that the curriculum chooses; none in a game without one."""
    config = game.config(players=(*players, *game.players)[0])
    levels = config.curriculum() if hasattr(config, "curriculum") else ()
    return _different_fields([one for level in levels for one in level])


def chosen_by_variety(game: Game, players: Sequence[int]) -> set[str]:
    """The fields of the configuration that differ within its `variety`."""
    numbers = players or _usual(game)
    return set().union(*(_different_fields(variety(game.config(players=number))) for number in numbers))


def _usual(game: Game) -> tuple[int, ...]:
    """The numbers of players if none is given."""
    return tuple(number for number in game.players if number > 1) or game.players


def _different_fields(configs: Sequence[Config]) -> set[str]:
    names = [field.name for field in fields(configs[0])] if configs else []
    return {name for name in names if len({getattr(config, name) for config in configs}) > 1}


@dataclass(frozen=True)
class EvaluationSettings:
    """How a policy is evaluated while it is learned: the table `[evaluation]` of a settings file."""

    against: tuple[str, ...] = ("greedy",)  # each of these agents has all other seats in turn; nobody in a game for one
    games: int = 400  # of each configuration and each of these agents, in every seat equally many
    editions: int | None = None  # how many editions they are played with, none of which is learned on

    def __post_init__(self) -> None:
        fit_fields(self)
        check_at_least_one(games=self.games, editions=1 if self.editions is None else self.editions)


class PolicyEvaluation(NamedTuple):
    """The evaluation of a policy: `score` chooses `best.zip`, `numbers` go to the log, always with the same keys."""

    score: float
    numbers: dict[str, float]


class Evaluator:
    """Evaluates agents on the same games each time.

    The score is the mean win rate; a higher margin decides between equal ones. With several numbers of players a win
    rate counts in relation to an even share. Where there is nobody to win against, the score is the mean points. The
    agent has all seats of its team.
    """

    def __init__(self, configs: Sequence[Config], settings: EvaluationSettings, seed: int) -> None:
        self.configs, self.settings, self.seed = list(configs), settings, seed
        several = [config for config in configs if number_of_teams(config) > 1]
        names = settings.against if several else ()
        if several and not names:
            raise ConfigError("against=[]: must have at least one agent")
        self.rivals: dict[str, Agent] = {name: make_agent(name, configs[0].game) for name in names}
        self._editions = None if settings.editions is None else edition_seeds(CHOOSING, settings.editions)
        for config in several:
            check_agents(self.rivals.values(), config)

    def evaluate(self, agent: Agent) -> PolicyEvaluation:
        """Play the evaluation's games with this agent."""
        numbers: dict[str, float] = {}
        scores: list[float] = []
        ways = by_players(self.configs)
        nobody_else = all(config.owners == 1 for config in self.configs)
        for players, configs in ways.items():
            rates, margins, each = self._play(agent, configs)
            prefix = f"{players}p_" if len(ways) > 1 else ""
            numbers |= {f"{prefix}win_rate": rates, f"{prefix}margin": margins}
            numbers |= {f"{prefix}{name}": value for name, value in each.items()}
            won = (rates + 1e-6 * margins) * (number_of_teams(configs[0]) if len(ways) > 1 else 1)
            scores.append(margins if nobody_else else won)
        return PolicyEvaluation(float(np.mean(scores)), numbers)

    def _play(self, agent: Agent, configs: Sequence[Config]) -> tuple[float, float, dict[str, float]]:
        """The mean win rate and margin over configurations for the same number of players, and those of each."""
        teams = number_of_teams(configs[0])
        seeds = self.seed + np.arange(-(-self.settings.games // teams))
        each: dict[str, float] = {}
        rates, margins = [], []
        for config in configs:
            for name, rival in self.rivals.items() if teams > 1 else [("", None)]:
                others = [] if rival is None else [rival] * (teams - 1)
                results = play_match([agent, *others], config, seeds, self._editions)
                rates.append(float(np.nanmean(results.by_agent(results.win_shares)[:, 0])))
                margins.append(float(np.nanmean(results.by_agent(results.margins_by_seat)[:, 0])))
                if name:
                    of = f"{name}_{config.name}" if len(configs) > 1 else name
                    each |= {f"win_rate_{of}": rates[-1], f"margin_{of}": margins[-1]}
                elif len(configs) > 1:
                    each[config.name] = rates[-1]
        return float(np.mean(rates)), float(np.mean(margins)), each
