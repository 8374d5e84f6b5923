"""Names of owners, positions, tokens and clouds, as scenarios, pictures and messages use them."""

from __future__ import annotations

import numpy as np

from petrichor_env.rules.setup import FIELD_POSITIONS
from petrichor_env.state import CROP_NAMES, FACE_DOWN, TILE_NAMES, WEATHER_NAMES, Cloud, Growing
from tabletop_engine.text.words import player_names

FIELDS = {players: tuple(np.flatnonzero(FIELD_POSITIONS[players]).tolist()) for players in (1, 2, 3, 4, 5)}
"""The positions of the Fields by number of players (1 is solo), in reading order."""
SOLO_NAMES = {f"P{number}": tile for number, tile in enumerate(FIELDS[1], 1)}
"""Solo's own names of its six positions."""

WEATHER_WORDS = tuple(name.capitalize() for name in WEATHER_NAMES)
GROWING_NAMES = tuple(growing.name.lower() for growing in Growing)
CLOUD_NAMES = tuple(cloud.name.lower() for cloud in Cloud)
FACE_DOWN_NAME = "face_down"
NEUTRAL = "neutral"
_SOURCE_TITLES = {"wheat_tokens": "Wheat tokens", "voting_wins": "Voting Wins", "dice": "votes on dice"}


def owner_names(players: int) -> tuple[str, ...]:
    """The names of the owners of drops and votes by seat: `player_0` and so on; in solo `player_0` and `neutral`."""
    return ("player_0", NEUTRAL) if players == 1 else player_names(players)


def tile_name(players: int, tile: int) -> str:
    """The name of a position: `b2`, or in solo `P4`."""
    if players == 1 and tile in FIELDS[1]:
        return f"P{FIELDS[1].index(tile) + 1}"
    return TILE_NAMES[tile]


def crop_name(crop: int) -> str:
    """The name of the crop of a tile; `face_down` while the tile lies face down."""
    return FACE_DOWN_NAME if crop == FACE_DOWN else CROP_NAMES[crop]


def source_title(source: str) -> str:
    """The words for a `state.Source`, given by its name."""
    return _SOURCE_TITLES.get(source, source.capitalize() if source in CROP_NAMES else source)
