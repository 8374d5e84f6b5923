"""What lies on the table: players, tiles, clouds, cards, votes and dice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from petrichor_env.config import Config
from tests.reference.chance import Chance
from tests.reference.printed import Printed
from tests.reference.words import DIRECTIONS, HARVEST, OWNERS, WEATHERS

Drops: TypeAlias = Counter[int]
"""Water drops by their owner's seat."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class Question:
    """What a player is asked: the decision's name, the player's seat, and the names of the legal actions."""

    decision: str
    seat: int
    options: tuple[str, ...]


Steps: TypeAlias = Generator[Question, str, _T]
"""A stretch of the game: yields questions, is sent the action that was chosen, and returns something at its end."""


@dataclass(eq=False)
class Cloud:
    """A cloud above a tile; a light cloud without the thundercloud token (Merging and Overflowing)."""

    drops: Drops
    thunder: bool = False

    @property
    def total(self) -> int:
        return self.drops.total()


@dataclass(eq=False)
class Tile:
    """A position of the Fields with its tile and everything on and above it."""

    name: str
    column: int
    row: int
    crop: str | None = None
    """None while the tile lies face down."""
    growing: str = "none"
    """The growing token: "none", "sprouting", "developed", or on the Maltese Cactus "drowned"."""
    drops: Drops = field(default_factory=Counter)
    cloud: Cloud | None = None
    fertilizer: bool = False
    pod: bool = False
    blooms: int = 0
    """Bloom tokens on the Snowdrop or the Primrose."""

    @property
    def total(self) -> int:
        return self.drops.total()

    @property
    def closed(self) -> bool:
        """Whether it is a Snowdrop without its bloom token, on which no drop can be placed (Flowers, Bucaneve)."""
        return self.crop == "snowdrop" and not self.blooms


@dataclass(eq=False)
class Player:
    """A player, or solo's neutral player, with personal supply, cards and markers."""

    seat: int
    name: str
    supply: int
    """Water drops in the personal supply."""
    votes: int
    """Votes in the personal supply."""
    scored: Counter[str] = field(default_factory=Counter)
    """The points by what brought them: a harvested crop, "dice", "voting_wins", "wheat_tokens", "cards"."""
    voting_wins: int = 0
    wheat_tokens: int = 0
    hand: Counter[str] = field(default_factory=Counter)
    pack: Counter[str] = field(default_factory=Counter)
    """The cards the player drafts from."""
    power: str = "none"
    forecasts: set[int] = field(default_factory=set)

    @property
    def points(self) -> int:
        return self.scored.total()

    def gain(self, points: int, source: str) -> None:
        self.scored[source] += points


class Table:
    """Everything on the table of one game."""

    def __init__(self, config: Config, chance: Chance) -> None:
        self.config = config
        self.chance = chance
        self.printed = Printed(config.components)
        names = [*config.agents, "neutral"] if config.solo else config.agents
        self.owners = [
            Player(seat, name, self.printed.pieces("drops"), self.printed.pieces("votes"))
            for seat, name in enumerate(names)
        ]
        """All who own drops and votes: the players, in solo also the neutral player."""
        self.players = self.owners[: config.players]
        """All who are asked."""
        self.phase = "setup"
        self.round = 1
        self.first_player = self.players[0]
        self.passed: Player | None = None
        """Who passed first this round."""
        self.no_actions: set[int] = set()
        """Seats that play no action cards any more this round, where forecast cards end their actions."""
        self.harvested = False
        """Whether this round had a Harvest."""
        self.tiles: dict[str, Tile] = {}
        """The Fields in reading order."""
        self.deck: Counter[str] = Counter()
        self.discards: Counter[str] = Counter()
        self.votes: dict[str, Counter[int]] = {weather: Counter() for weather in WEATHERS}
        """Votes on the Weather spaces, by their owner's seat."""
        self.dice: list[int | str] = [HARVEST] * 3
        self.southern_winds: set[int] = set()
        """The cards of the solo deck that are not yet revealed."""
        self.controller: Player | None = None
        """Who controls the Primrose."""
        self.forecasts_played: set[int] = set()
        """Forecast cards that are out of the game: played, or discarded with the second one played."""
        self.counts_clouds: set[int] = set()
        """Seats whose drops in clouds count in this Harvest (forecast card 3)."""
        self.scored: dict[str, Drops] = {}
        """The tiles of this Harvest with the drops that were scored there."""
        self.harvested_drops: dict[str, Drops] = {}
        """The tiles of this Harvest with the drops that lay there."""

    # --- Players ---

    def clockwise(self, start: Player) -> list[Player]:
        """All players in turn order from one of them."""
        return self.players[start.seat :] + self.players[: start.seat]

    def turn_order(self) -> list[Player]:
        """All players, from the First Player clockwise."""
        return self.clockwise(self.first_player)

    def owner_name(self, asked: Player, owner: int) -> str:
        """How an action names the owner of a drop: counted clockwise from the player who is asked."""
        return OWNERS[(owner - asked.seat) % len(self.owners)]

    def owners_from(self, asked: Player) -> list[int]:
        """The seats of all owners, clockwise from the player who is asked."""
        return [(asked.seat + distance) % len(self.owners) for distance in range(len(self.owners))]

    @property
    def neutral(self) -> Player:
        """Solo's neutral player."""
        return self.owners[1]

    @property
    def final_round(self) -> bool:
        """The 4th or 6th round, for short and long form (Game Flow)."""
        return self.round == self.config.rounds

    # --- Fields ---

    def neighbour(self, tile: Tile, direction: str) -> Tile | None:
        """The tile that lies orthogonally next to another one."""
        columns, rows = DIRECTIONS[direction]
        return self.at(tile.column + columns, tile.row + rows)

    def neighbours(self, tile: Tile) -> list[Tile]:
        found = (self.neighbour(tile, direction) for direction in DIRECTIONS)
        return [neighbour for neighbour in found if neighbour is not None]

    def at(self, column: int, row: int) -> Tile | None:
        """The tile on a place of the grid; some fields have gaps."""
        for tile in self.tiles.values():
            if (tile.column, tile.row) == (column, row):
                return tile
        return None

    def clouds_left(self) -> int:
        """Clouds in the general supply."""
        return self.printed.pieces("clouds") - len(self.tiles_with_clouds())

    def tiles_with_clouds(self) -> list[Tile]:
        return [tile for tile in self.tiles.values() if tile.cloud]

    def tiles_with_own_clouds(self, player: Player) -> list[Tile]:
        """Tiles below clouds in which a player has at least one drop."""
        return [tile for tile in self.tiles.values() if tile.cloud and tile.cloud.drops[player.seat]]

    def tiles_without_clouds(self) -> list[Tile]:
        return [tile for tile in self.tiles.values() if not tile.cloud]

    def tiles_with_own_drops(self, player: Player) -> list[Tile]:
        return [tile for tile in self.tiles.values() if tile.drops[player.seat]]

    def drops_on_tiles(self, player: Player) -> int:
        return sum(tile.drops[player.seat] for tile in self.tiles.values())


# --- Asking ----------------------------------------------------------------------------------------------------------


def choose_tile(decision: str, player: Player, tiles: Iterable[Tile], may_decline: bool = False) -> Steps[Tile | None]:
    """Ask for one of these tiles (or the cloud above it). None: declined."""
    named = {f"tile {tile.name}": tile for tile in tiles}
    answer = yield Question(decision, player.seat, (*named, *(["decline"] if may_decline else [])))
    return named.get(answer)


def choose_drop(
    table: Table, decision: str, player: Player, drops: Iterable[tuple[Tile, int]], may_decline: bool = False
) -> Steps[tuple[Tile, int] | None]:
    """Ask for one of these drops, each a tile (or the cloud above it) and the drop's owner. None: declined."""
    named = {f"drop {tile.name} {table.owner_name(player, owner)}": (tile, owner) for tile, owner in drops}
    answer = yield Question(decision, player.seat, (*named, *(["decline"] if may_decline else [])))
    return named.get(answer)


def choose_neighbour(
    decision: str, table: Table, player: Player, start: Tile, allowed: Callable[[Tile], bool] = lambda tile: True
) -> Steps[Tile]:
    """Ask for an orthogonal direction to a tile of the Fields."""
    ends = {direction: table.neighbour(start, direction) for direction in DIRECTIONS}
    named = {f"move {direction}": end for direction, end in ends.items() if end is not None and allowed(end)}
    answer = yield Question(decision, player.seat, tuple(named))
    return named[answer]


def owners_of(drops: Drops) -> list[int]:
    """The seats with at least one of these drops."""
    return [owner for owner in sorted(drops) if drops[owner] > 0]
