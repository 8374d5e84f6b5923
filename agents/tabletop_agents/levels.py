"""Opponents for people: `level-1` to `level-8`, each a measured step above the one below.

Each number of players has levels of its own, because its steps were measured in its own games.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.agents import Agent, Decisions
from tabletop_engine.play.names import make_agent
from tabletop_engine.text.words import either

LEVELS = 8
"""The number of levels."""
FILE = Path(__file__).with_name("levels.json")
"""The agents behind the levels; `python -m benchmarks.levels` finds them."""


@dataclass(frozen=True)
class Level:
    """One level in games of one number of players.

    Attributes:
        number: 1 for the weakest.
        agent: the name of the agent that plays it, such as "soft-4:versus".
        won: the share of pairs at one table in which it ends ahead of the level below, ties counting half, with the
            ends of the 95 % interval; None for level 1.
        games: how many games were played to measure it.
    """

    number: int
    agent: str
    won: tuple[float, float, float] | None
    games: int


@cache
@checked
def levels_of(game: Game, players: int) -> tuple[Level, ...]:
    """The levels of a game for so many players, the weakest first; () where none were measured."""
    measured = json.loads(FILE.read_text(encoding="utf-8"))
    rows = measured.get(game.name, {"players": {}})["players"].get(str(players), [])
    return tuple(
        Level(number, row["agent"], row["won"] and tuple(row["won"]), row["games"])
        for number, row in enumerate(rows, start=1)
    )


class LevelAgent:
    """Plays as the agent of a level, by the number of players in each game."""

    def __init__(self, game: Game, number: int) -> None:
        """Raises ConfigError for a level that there isn't in any number of players."""
        self.name = f"level-{number}"
        self._agents: dict[int, Agent] = {}
        for players in game.players:
            for level in levels_of(game, players)[number - 1 : number]:
                self._agents[players] = make_agent(level.agent, game)
        if not self._agents:
            raise ConfigError(f"agent {self.name!r}: {game.title} has no such level")

    def check(self, config: Config) -> None:
        """Raises ConfigError for a number of players without this level."""
        if config.players not in self._agents:
            raise ConfigError(f"{self.name} is for {either(list(self._agents))} players, and this is {config.players}")

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64 legal actions, those of the level's agent for this number of players."""
        players = decisions.players[:1].tolist()  # a batch has one number of players
        return self._agents[players[0]].act(decisions, generator) if players else np.empty(0, np.int64)
