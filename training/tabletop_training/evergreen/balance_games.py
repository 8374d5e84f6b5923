"""The games of `evergreen balance`: of many editions and of changed numbers, kept so that a study can go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from evergreen_env.config import Config
from tabletop_agents import Agent
from tabletop_engine.checks import whole
from tabletop_engine.editions import MOST_EDITIONS
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.batch import Batch
from tabletop_engine.seeds import EVALUATION, edition_seeds
from tabletop_training.measure.changes import Changes
from tabletop_training.measure.evaluation import MAX_GAMES_AT_ONCE
from tabletop_training.measure.results import Results
from tabletop_training.measure.shapley import Set
from tabletop_training.measure.spread import by_edition
from tabletop_training.study.cells import Cell

ORDINALS = ("first", "second", "third", "fourth")
FIELDS = ("level",)
"""What is recorded of the games beside their results."""

SIZES = ("decisions", "points", "lead", "spread")


def places(players: int) -> list[str]:
    """The names of the figures that are shares of games: one for each place in the first round's order."""
    return [f"won, {name} in order" for name in ORDINALS[:players]]


def figures(games: Games) -> dict[str, np.ndarray]:
    """The figures of each game by name, (K, G) float64: `places`, then `SIZES`."""
    ordered = np.sort(games.points, axis=-1)
    sizes = (
        games.decisions.astype(float),
        games.points.mean(axis=-1),
        (ordered[..., -1] - ordered[..., -2]).astype(float),
        (ordered[..., -1] - ordered[..., 0]).astype(float),
    )
    won = {name: games.won[..., place] for place, name in enumerate(places(games.players))}
    return won | dict(zip(SIZES, sizes, strict=True))


@dataclass(frozen=True)
class Games:
    """Finished games of K editions, G games each, with the same agent in all P seats. All arrays begin with (K, G).

    Attributes:
        won: (…, P) float64, shares of the victory by place in the first round's order.
        points: (…, P) int64, by seat.
        margins: (…, P) float64, own points less the mean of the others', by seat.
        levels: (…, P, powers) int64, by seat.
        scored: (…, P, sources) int64, by seat.
        decisions: (…,) int64.
        editions: the numbers of each edition.
    """

    players: int
    won: np.ndarray
    points: np.ndarray
    margins: np.ndarray
    levels: np.ndarray
    scored: np.ndarray
    decisions: np.ndarray
    editions: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, results: Results) -> Self:
        """From the results of a `Part`, whose games have recorded `FIELDS`."""
        players = results.config.players
        order = (_first_players(results)[:, None] + np.arange(players)) % players
        return cls(
            players,
            won=by_edition(results, np.take_along_axis(results.win_shares, order, axis=1)),
            points=by_edition(results, results.points[:, :players]),
            margins=by_edition(results, results.margins_by_seat),
            levels=by_edition(results, results.fields["level"][:, :players].astype(np.int64)),
            scored=by_edition(results, results.scored[:, :players]),
            decisions=by_edition(results, results.lengths),
            editions=tuple(map(dict, results.editions)),
        )


def _first_players(results: Results) -> np.ndarray:
    """(games,) int64: the seat that was first in the first round."""
    found = []
    for start in range(0, len(results), MAX_GAMES_AT_ONCE):
        seeds = results.seeds[start : start + MAX_GAMES_AT_ONCE]
        batch = Batch(results.config, len(seeds), seeds, editions=results.editions or None)
        if results.editions:
            batch.reset(seeds, editions=results.edition_of_games[start : start + MAX_GAMES_AT_ONCE])
        found.append(batch.states["first_player"].astype(np.int64))
    return np.concatenate(found)


@dataclass(frozen=True)
class Study:
    """What is played. `settings.json` holds it, and resuming checks it.

    Attributes:
        agent: it has every seat.
        players: the numbers of players.
        editions, edition_games: how many editions are drawn, and the games of each edition and number of players.
        effect_games: how many games with each number of players and each set of an overlay file's changes; 0 for none.
        seed: of the first game.
        components: as in `Config`.

    Raises ConfigError for other values.
    """

    agent: str
    players: tuple[int, ...]
    editions: int
    edition_games: int
    effect_games: int
    seed: int
    components: Any

    def __post_init__(self) -> None:
        whole("editions", self.editions, 2, MOST_EDITIONS)
        whole("edition_games", self.edition_games, 1)
        whole("effect_games", self.effect_games, 0)
        whole("seed", self.seed, 0, 2**32 - 1)
        if not isinstance(self.agent, str):
            raise ConfigError(f"agent={self.agent!r:.80}: must be a text")
        if not self.players or any(config.players < 2 for config in self.configs):
            raise ConfigError(f"players={list(self.players)!r:.80}: must be numbers of at least 2")

    @property
    def configs(self) -> list[Config]:
        """The configurations that are played over editions, by numbers of players."""
        return [Config(number, self.components) for number in self.players]

    def parts(self, config: Config, changes: Changes) -> list[Part]:
        """The parts of one configuration: games over editions, and games with each set of the changes."""
        seeds = edition_seeds(EVALUATION, self.editions)
        found = [Part(f"{config.players} editions", config, seeds, self.editions * self.edition_games)]
        if changes.plan is not None:
            for chosen in (frozenset[int](), changes.whole, *changes.parts):
                overlay = changes.overlay(chosen)
                name = f"{config.players} {'+'.join(overlay) or 'shipped'}"
                found.append(Part(name, Config(config.players, overlay or None), None, self.effect_games, chosen))
        return found


class Part(NamedTuple):
    """Games that are played and kept together.

    Attributes:
        name: of the cell.
        editions: the seeds of the editions that are drawn, those of reports; None for the configuration's own numbers.
        games: in all. Game i has edition i mod the number of editions.
        changes: which of an overlay file's changes its games have; None for games over editions.
    """

    name: str
    config: Config
    editions: list[int] | None
    games: int
    changes: Set | None = None

    def cell(self, agent: Agent, seed: int) -> Cell:
        """Its games, with this agent in every seat."""
        everybody = [agent] * self.config.players
        return Cell(
            self.name, everybody, self.config, self.games, seed, self.editions, np.arange(self.config.players)[None]
        )
