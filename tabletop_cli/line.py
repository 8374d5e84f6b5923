"""What a game says of its command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tabletop_engine.game import Game

PLAY, MEASURE, TRAIN, GAME = "Play and watch", "Measure", "Train", "Game and machine"
"""The groups of commands in the help."""


@dataclass(frozen=True)
class CommandLine:
    """What a game's command line is made of. Nothing in it is slow to import.

    Attributes:
        name: of the game. command: the words that begin its commands. home: the module with the game's `GAME`, loaded
            when it is needed.
        version: of the game's package. help: of the whole command.
        config: the type of configurations, whose fields become options (`tabletop_cli.switches`).
        players: the possible numbers of players, ascending.
        opponent: the opponent of a player who plays alone; empty if there is none.
        curriculum: what `config.curriculum` has; empty where there is none.
        ladder: by number of players, the fields of the configuration with which the ladder of agents is measured.
        table: the module whose `PLAN` says what the game's reference table of agents has; empty where there is none.
        tasks: the module whose `TASKS` are the game's tasks of the suite; empty where there are none.
        benchmarks: the module of the repository that measures the game's speed; empty where there is none.
        images: whether turned or mirrored boards are the same game (`Game.images`).
        rules: whether the game has its rules as text.
    """

    name: str
    command: str
    home: str
    version: str
    help: str
    config: type[Any]
    players: tuple[int, ...]
    opponent: str = ""
    curriculum: str = ""
    ladder: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    table: str = ""
    tasks: str = ""
    benchmarks: str = ""
    images: bool = False
    rules: bool = True

    @property
    def alone(self) -> bool:
        """Whether there is a game for one."""
        return 1 in self.players

    @property
    def several(self) -> bool:
        """Whether there is a game of several players."""
        return self.players[-1] > 1

    @property
    def players_vary(self) -> bool:
        """Whether there are several numbers of players to choose from."""
        return len(self.players) > 1

    @property
    def least_several(self) -> int:
        """The smallest number of players that is not one."""
        return next(number for number in self.players if number > 1)

    @property
    def game(self) -> Game:
        """The game itself."""
        return import_module("tabletop_engine.game").game_of(self.home)

    @property
    def against(self) -> str:
        """The words after "the game for one" that name its opponent."""
        return f" against {self.opponent}" if self.opponent else ""

    def examples(self, *commands: str) -> str:
        """The examples at the end of a command's help.

        `commands` are without the game's name, such as `evaluate random greedy`.
        """
        return "\n\n".join(f"Example: {self.command} {words}" for words in commands)
