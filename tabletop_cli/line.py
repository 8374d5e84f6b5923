"""What a game says of its command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tabletop.words import either
from tabletop_cli.shared import NOTHING_MORE

if TYPE_CHECKING:
    from tabletop.game import Game

_COUNTS = {"2": "two", "3": "three", "4": "four", "5": "five", "6": "six"}


@dataclass(frozen=True)
class CommandLine:
    """What a game's command line is made of. Nothing in it is slow to import.

    Attributes:
        name: the command's. home: the module with the game's `GAME`, loaded when it is needed.
        version: of the game's package. help: of the whole command.
        config: the type of configurations, whose fields become options (`tabletop_cli.options`).
        players: the numbers of players there can be, ascending.
        opponent: whom one plays against who plays alone; empty where there is nobody.
        curriculum: what `config.curriculum` has; empty where there is none.
        ladder: by number of players the fields of the configuration that the agents' ladder is measured with.
        table: the module whose `PLAN` says what the game's reference table of agents has; empty where there is none.
        benchmarks: the module of the repository that measures the game's speed; empty where there is none.
        images: whether turned or mirrored boards are the same game (`Game.images`).
    """

    name: str
    home: str
    version: str
    help: str
    config: type[Any]
    players: tuple[int, ...]
    opponent: str = ""
    curriculum: str = ""
    ladder: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    table: str = ""
    benchmarks: str = ""
    images: bool = False

    @property
    def alone(self) -> bool:
        """Whether there is a game for one."""
        return 1 in self.players

    @property
    def several(self) -> bool:
        """Whether there is a game of several players."""
        return self.players[-1] > 1

    @property
    def least_several(self) -> int:
        """The smallest number of players that is not one."""
        return next(number for number in self.players if number > 1)

    @property
    def game(self) -> Game:
        """The game itself."""
        return import_module("tabletop.game").game_of(self.home)

    @property
    def texts(self) -> dict[str, str]:
        """What stands in the commands' help for names in braces."""
        several = [str(number) for number in self.players if number > 1] or ["1"]
        span = " to ".join(dict.fromkeys(_COUNTS.get(number, number) for number in (several[0], several[-1])))
        against = f" against {self.opponent}" if self.opponent else ""
        return {
            "name": self.name,
            "alone": self.opponent or "alone",
            "compared": ", or ".join(
                (f"{span} agents play against each other, with seats rotated",) * self.several
                + (f"{'each of them' if self.several else 'agents play'} alone{against}",) * self.alone
            ),
            "played": either(
                ("alone",) * self.alone + ("against agents", "with others at the same keyboard") * self.several
            ),
            "game_for_one": self.opponent or "the game for one",
            "the_game_for_one": f"the game{against}" if against else "the game for one",
            "players": either(several),
            **NOTHING_MORE,
            "curriculum": self.curriculum,
            "ladder": ",".join(map(str, self.ladder)),
        }
