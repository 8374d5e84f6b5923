"""A difficulty study: its games, and the table of all of them."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from petrichor_env.component_files import COMPONENTS, own_numbers
from petrichor_env.config import Config
from petrichor_env.game import GAME
from petrichor_env.state import SOURCE_NAMES
from tabletop_agents import Agent
from tabletop_engine.checks import whole
from tabletop_engine.editions import MOST_EDITIONS
from tabletop_engine.seeds import EVALUATION, edition_seeds
from tabletop_training.files.tables import csv_file
from tabletop_training.measure.changes import Changes
from tabletop_training.measure.results import Results
from tabletop_training.measure.shapley import Set
from tabletop_training.petrichor.summaries import ALL_VARIANTS, Summary, set_name, summarize
from tabletop_training.petrichor.variant_effects import Sets
from tabletop_training.study.cells import Cell, is_search
from tabletop_training.study.settings import kept_settings

EFFECT_GAMES = 200
"""The default number of games of each set of variants and of changes."""
EDITION_GAMES = 20
"""The default number of games of each set and edition; searches play none."""

GAMES_FILE = "games.csv"

_SIDES = ("player", "neutral")
_COLUMNS = (
    *("agent", "variants", "numbers", "seed", "won", "points", "neutral_points", "decisions"),
    *(f"{side}_{source}" for side in _SIDES for source in SOURCE_NAMES),
)

Key = tuple[str, tuple[str, ...]]
"""An agent's name and a set of variants."""


@dataclass(frozen=True)
class Study:
    """The games of a study. `settings.json` holds it, and resuming checks it.

    Attributes:
        agents: the number of games that each agent plays of each set, by name, in the report's order.
        seed: of the first game of each set.
        modules, components: as in `Config`.
        editions: how many editions are drawn for further games of each set; 0 for none.
        edition_games: the number of games that each agent plays of each set and edition, by name.
        effect_games: games of each agent and set of variants with each set of an overlay file's changes, to tell the
            changes apart; 0 for none.
    """

    agents: dict[str, int]
    seed: int
    modules: tuple[str, ...] = ()
    components: Any = None
    editions: int = 0
    edition_games: dict[str, int] = field(default_factory=dict)
    effect_games: int = 0

    def __post_init__(self) -> None:
        for name, most in (("editions", MOST_EDITIONS), ("effect_games", None), ("seed", 2**32 - 1)):
            whole(name, getattr(self, name), 0, most)
        for agent, number in self.agents.items():
            whole(f"agents: {agent}", number, 1)
        object.__setattr__(self, "components", COMPONENTS.config_value(self.components))

    @property
    def config(self) -> Config:
        """The configuration of the study's base game, without variants."""
        return Config(modules=self.modules, components=self.components)

    @property
    def configs(self) -> list[Config]:
        """The configurations: `config`, and with an overlay file also the same game with the shipped numbers."""
        return [self.config, replace(self.config, components=None)][: 2 if own_numbers(self.components) else 1]

    @cached_property
    def changes(self) -> Changes:
        """The overlay file's changes, if several are to be told apart; a single one is compared as a whole."""
        return Changes.of(COMPONENTS, self.components if self.effect_games else None, self.seed, fewest=2)

    @cached_property
    def effect_configs(self) -> dict[Set, Config]:
        """The configurations with some of the changes, by the set of changes."""
        return {chosen: replace(self.config, components=overlay) for chosen, overlay in self.changes.parts.items()}

    @property
    def edition_seeds(self) -> list[int]:
        """The seeds of the editions. Nothing is learned or chosen on these editions."""
        return edition_seeds(EVALUATION, self.editions)

    def cells(self, players: Sequence[Agent]) -> list[Cell]:
        """All games of these agents: every set with the study's numbers and with the shipped ones, with some of the
        changes, and over editions."""
        sets, some = ALL_VARIANTS, self.effect_configs.values()
        cells = [self._cell(player, config, one) for player in players for one in sets for config in self.configs]
        cells += (self._cell(player, config, one) for player in players for config in some for one in sets)
        for player in players:
            if games := self.editions * self.edition_games.get(player.name, 0):
                cells += (self._cell(player, self.config, one, games) for one in sets)
        return cells

    def _cell(self, player: Agent, base: Config, variants: tuple[str, ...], over_editions: int = 0) -> Cell:
        config = replace(base, variants=variants)
        key = " ".join(_names(player.name, config, self, bool(over_editions)))
        if over_editions:
            return Cell(key, [player], config, over_editions, self.seed, self.edition_seeds, actions=True)
        games = self.agents[player.name]
        if base.components not in (None, self.components):  # with only some changes of the overlay file
            games = min(games, self.effect_games)
        return Cell(key, [player], config, games, self.seed, actions=True)

    @property
    def commands(self) -> list[str]:
        """The commands that play the same games again; one for each number of games."""
        commands: list[str] = []
        kinds = ([n for agent, n in self.agents.items() if is_search(agent) is search] for search in (False, True))
        for numbers in zip_longest(*map(dict.fromkeys, kinds)):
            agents = [agent for agent, number in self.agents.items() if number == numbers[is_search(agent)]]
            options = zip(("--games", "--search-games"), numbers, strict=True)
            words = ["petrichor difficulty", *map(shlex.quote, agents)]
            words += [f"{option} {number}" for option, number in options if number]
            own = {self.edition_games[one] for one in agents if self.editions} - set(map(usual_edition_games, agents))
            words += [f"--edition-games {n}" for n in own]
            if commands:
                words.append("--resume FOLDER")
            else:
                words.append(f"--seed {self.seed}")
                words += [f"--editions {self.editions}"] if self.editions else []
                words += [f"--modules {','.join(self.modules)}"] if self.modules else []
                words += ["--components FILE"] if self.components is not None else []
                unusual = self.components is not None and self.effect_games != EFFECT_GAMES
                words += [f"--effect-games {self.effect_games}"] if unusual else []
            commands.append(" ".join(words))
        return commands


def usual_edition_games(agent: str) -> int:
    """The default number of games of each set and edition: none for a search, which would play for hours."""
    return 0 if is_search(agent) else EDITION_GAMES


def by_set(games: Iterable[Results], components: Any) -> dict[Key, Results]:
    """The results of games with these `Config.components`, by agent and set."""
    with_these = [one for one in games if not one.editions and _config(one).components == components]
    return {(one.agents[0], _config(one).variants): one for one in with_these}


def over_editions(games: Iterable[Results]) -> dict[Key, Results]:
    """The results of games over many editions, by agent and set."""
    return {(one.agents[0], _config(one).variants): one for one in games if one.editions}


def _config(results: Results) -> Config:
    assert isinstance(results.config, Config)
    return results.config


def complete_sets(results: Mapping[Key, Results], agents: Iterable[str]) -> list[Sets]:
    """The sets of each agent that has played all, in the given order."""
    return [
        Sets.of({variants: results[agent, variants] for variants in ALL_VARIANTS})
        for agent in agents
        if all((agent, variants) in results for variants in ALL_VARIANTS)
    ]


def summaries_of(
    results: Mapping[Key, Results], agents: Sequence[str], shipped: Mapping[Key, Results] | None = None
) -> list[Summary]:
    """Summaries set by set, with the agents in the given order, compared with games of the `shipped` numbers."""
    keys = [(agent, variants) for variants in ALL_VARIANTS for agent in agents if (agent, variants) in results]
    return [summarize(results[key], (shipped or {}).get(key)) for key in keys]


def study_summaries(study: Study, played: Iterable[Results]) -> list[Summary]:
    """Summaries of the study's own games, compared with those of the shipped numbers if it has both."""
    own, *shipped = (by_set(played, config.components) for config in study.configs)
    return summaries_of(own, list(study.agents), *shipped)


def write_games(folder: Path, study: Study, results: Iterable[Results]) -> None:
    """Write `games.csv`: a line for each game."""
    with csv_file(folder / GAMES_FILE) as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        for result in results:
            names = _names(result.agents[0], _config(result), study, bool(result.editions))
            scored = result.scored.reshape(len(result), -1)
            numbers = np.column_stack([result.seeds, result.won[:, 0], result.points, result.lengths, scored])
            writer.writerows((*names, *row) for row in numbers.tolist())


def _names(agent: str, config: Config, study: Study, editions: bool = False) -> tuple[str, str, str]:
    """The names of these games in `games.csv`: the agent, the set of variants, whose numbers."""
    written = agent.encode(errors="backslashreplace").decode()  # as `csv_file` does
    given = config.components
    own = "shipped" if given is None else "overlay" if given == study.components else "+".join(key for key, _ in given)
    return written, set_name(config.variants), "editions" if editions else own


def read_study(folder: str | Path) -> Study:
    """The study of a folder. Raises TabletopError if there is none."""
    return kept_settings(folder, "difficulty", GAME, Study)
