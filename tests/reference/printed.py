"""The numbers printed on tiles, cards, dice and the board: read from the component files, never written here."""

from __future__ import annotations

from petrichor_env.component_files import load_components
from tabletop_engine.described.overlays import Components

BASE_CROPS = ("wheat", "cotton", "grass", "potato", "coffee", "rice", "corn")
"""The crops of the base game's tiles (Components); of every other tile there is one."""


class Printed:
    """The numbers on the pieces.

    Arguments:
        overlay: path of an overlay component file, None for the shipped numbers.
    """

    def __init__(self, overlay: str | None = None) -> None:
        self._components: Components = load_components(overlay)

    def numbers(self, key: str) -> list[int]:
        return [int(value) for value in self._components[key].values]

    def number(self, key: str) -> int:
        (number,) = self.numbers(key)
        return number

    # --- Tiles ---

    def copies(self, crop: str) -> int:
        """How many tiles of a crop are in the box."""
        return self.number(f"tiles.{crop}.copies") if crop in BASE_CROPS else 1

    def priorities(self, crop: str) -> list[float]:
        """The numbers in the compasses of a crop's tiles, ascending; tiles without a compass have none (Southern Winds,
        Setup 2 and 3)."""
        priorities = (float(value) for value in self._components[f"tiles.{crop}.solo_priorities"].values)
        return sorted(priority for priority in priorities if priority)

    def drops_to_grow(self, crop: str) -> int | None:
        """The number inside the tile's water drop (Growing Crops). The Lake and the Primrose never grow."""
        return None if crop in ("lake", "primrose") else self.number(f"tiles.{crop}.drops_to_grow")

    @property
    def drops_to_drown(self) -> int:
        """The number of drops that overwaters the Maltese Cactus."""
        return self.number("tiles.cactus.drops_to_drown")

    def score(self, crop: str, side: str, place: int) -> int:
        """The points of a place on a tile with a list of places; a fifth player scores as the fourth.

        Arguments:
            side: the growing token's side; only Coffee and the Cactus have two lists.
        """
        name = {("coffee", "sprouting"): "sprouting_scores", ("coffee", "developed"): "developed_scores"}
        name[("cactus", "drowned")] = "drowned_scores"
        scores = self.numbers(f"tiles.{crop}.{name.get((crop, side), 'scores')}")
        return scores[min(place, len(scores)) - 1]

    def corn_score(self, present: int) -> int:
        """What each player on a Corn scores, by the number of players there."""
        return self.numbers("tiles.corn.scores")[present - 1]

    @property
    def rice_points(self) -> int:
        """Points for each own drop on a developed Rice."""
        return self.number("tiles.rice.points_a_drop")

    @property
    def bloom_points(self) -> int:
        """Points for each bloom token on the Primrose."""
        return self.number("tiles.primrose.points_a_bloom")

    # --- Cards, track, dice, pieces ---

    def cards_of_a_kind(self, players: int) -> int:
        """Action cards of each kind; the Flowers add some for the fifth player."""
        return self.number("action_cards.cards_of_a_kind" + ("_five_players" if players == 5 else ""))

    def icons(self, card: int) -> list[str]:
        """The icons at the bottom of a Southern Winds card: weather spaces and "harvest"."""
        return [str(icon) for icon in self._components[f"southern_winds_cards.{card}"].values]

    def voting_win_points(self, wins: int) -> int:
        """The number on a space of the Voting Wins track; wins beyond its end score as the last space."""
        track = self.numbers("voting_wins_track.points")
        return track[min(wins, len(track) - 1)]

    @property
    def die_sides(self) -> set[int | str]:
        """The sides of a Harvest die."""
        return {side if isinstance(side, str) else int(side) for side in self._components["harvest_die.sides"].values}

    def pieces(self, name: str) -> int:
        """How many drops or votes each player has; how many clouds, pods, ... there are in all."""
        return self.number(f"pieces.{name}")
