"""The configuration of a game. It is checked once, and frozen after that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evergreen_env.component_files import COMPONENTS
from evergreen_env.state import MAX_PLAYERS, State
from tabletop_engine.checks import is_whole
from tabletop_engine.errors import ConfigError
from tabletop_engine.text.words import player_names

if TYPE_CHECKING:
    from tabletop_engine.game import Game


@dataclass(frozen=True)
class Config:
    """What is played: the number of players and the options. Raises `ConfigError` for what cannot be played.

    The metadata of the fields describe the options of the command line (`tabletop_cli.switches`).

    Arguments:
        players: 1 to 4. One player plays for points alone.
        components: a board, a deck and flags that replace the shipped ones: the path of an overlay TOML file, or a
            mapping of its keys to values, such as {"flags.sun_start": "east"}. None, or an empty mapping, stands for
            the shipped ones.

    Components are kept as a sorted tuple of (key, value) pairs with tuples in place of lists. A file is read at once,
    so a configuration stays the same when the file changes.
    """

    SWITCHES: ClassVar[tuple[str, ...]] = ("players", "owners")
    """The fields of a record that a configuration sets."""

    players: int = 1
    components: Any = field(
        default=None, metadata={"help": "A TOML file with another board, deck or flags.", "metavar": "FILE"}
    )

    def __post_init__(self) -> None:
        if not is_whole(self.players) or not 1 <= self.players <= MAX_PLAYERS:
            raise ConfigError(f"players={self.players!r}: 1 (for points alone), 2, 3 or 4")
        components = COMPONENTS.config_value(self.components)
        object.__setattr__(self, "players", int(self.players))
        object.__setattr__(self, "components", components)

    @classmethod
    def of(cls, state: State, components: Any = None) -> Config:
        """The configuration that a record of `state.STATE` is played with."""
        return cls(players=int(state["players"]), components=components)

    def write_switches(self, states: np.ndarray) -> None:
        """Set the switches of records of `state.STATE`, an array (N,); everything else in them stays."""
        states["players"], states["owners"] = self.players, self.players

    @property
    def game(self) -> Game:
        """Evergreen."""
        from tabletop_engine.game import game_of  # loads the compiler, which nobody needs before the first game

        return game_of("evergreen_env.game")

    @property
    def solo(self) -> bool:
        """Whether one player plays for points alone."""
        return self.players == 1

    @property
    def owners(self) -> int:
        """The number of those who have points: the players."""
        return self.players

    @property
    def agents(self) -> tuple[str, ...]:
        """The players' names, in clockwise order from seat 0."""
        return player_names(self.players)

    @property
    def name(self) -> str:
        """A short name for tables and file names: `solo`, `2p` …"""
        return "solo" if self.solo else f"{self.players}p"
