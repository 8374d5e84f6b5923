"""The printed numbers of a game as a flat vector with a named layout, for networks that read them.

They are public, the same for all seats and for the whole game. What never differs between editions, and what the rules
only compare, is left out: of the solo priorities there is the order.
"""

from __future__ import annotations

import numpy as np

from petrichor_env.state import CROP_NAMES, MAX_PLAYERS, NUM_KINDS, Crop, Growing
from petrichor_env.tables import MAX_COPIES, RESHUFFLE, TRACK_SPACES
from tabletop_engine.observation import Layout

_COUNTED = tuple(crop for crop in Crop if crop <= Crop.CORN)
_GROWING = tuple(crop for crop in Crop if crop not in (Crop.LAKE, Crop.PRIMROSE))
_WITH_PRIORITY = (*_COUNTED, Crop.CACTUS)
_SCORING = (
    *((crop, Growing.DEVELOPED) for crop in (Crop.WHEAT, Crop.COTTON, Crop.GRASS, Crop.POTATO)),
    (Crop.COFFEE, Growing.SPROUTING),
    (Crop.COFFEE, Growing.DEVELOPED),
    (Crop.CORN, Growing.DEVELOPED),
    (Crop.CACTUS, Growing.DEVELOPED),
    (Crop.CACTUS, Growing.DROWNED),
    (Crop.SNOWDROP, Growing.DEVELOPED),
)


def _names(crops: tuple[Crop, ...]) -> str:
    return ", ".join(CROP_NAMES[crop] for crop in crops)


_BLOCKS: tuple[tuple[str, tuple[int, ...], str, str], ...] = (
    ("copies", (len(_COUNTED),), "tiles / 4", f"tiles in the box: {_names(_COUNTED)}"),
    ("drops_to_grow", (len(_GROWING),), "drops / 10", f"drops to grow: {_names(_GROWING)}"),
    ("drops_to_drown", (1,), "drops / 10", "drops at which the Maltese Cactus drowns"),
    (
        "scores",
        (len(_SCORING), MAX_PLAYERS),
        "points / 10",
        "points by place - 1, Corn's by players present - 1: wheat, cotton, grass, potato, sprouting and developed "
        "coffee, corn, cactus, drowned cactus, snowdrop",
    ),
    ("rice_points", (1,), "points / 5", "points for each own drop on developed Rice"),
    ("primrose_points", (1,), "points / 5", "points for each bloom token on the Primrose"),
    (
        "solo_order",
        (len(_WITH_PRIORITY), MAX_COPIES),
        "places / 20",
        f"place of each tile by its solo priority, from 1; 0 without a compass: {_names(_WITH_PRIORITY)}",
    ),
    ("voting_wins", (TRACK_SPACES,), "points / 50", "points at 0, 1, 2 … Voting Wins"),
    ("wheat_bonus", (1,), "points / 20", "points for the most Wheat tokens"),
    ("harvest_die", (6,), "votes / 4", "votes on each side of a Harvest die, in rising order; 0 for Harvest"),
    ("winds_votes", (RESHUFFLE - 1, NUM_KINDS), "votes / 2", "neutral votes by Southern Winds card - 1 and weather"),
    ("winds_harvest", (RESHUFFLE - 1,), "0/1", "Southern Winds cards with a Harvest icon"),
    ("drops", (1,), "drops / 20", "drops of each player"),
    ("votes", (1,), "votes / 12", "votes of each player"),
    ("clouds", (1,), "clouds / 16", "clouds in all"),
    ("cards_of_a_kind", (2,), "cards / 12", "action cards of a kind, and with five players"),
    ("pods", (1,), "pods / 16", "pods in all"),
    ("primrose_blooms", (1,), "tokens / 8", "the most bloom tokens on the Primrose"),
)

NUMBERS = Layout.of(_BLOCKS, 0.0, 8.0)
"""The layout of the numbers."""


def write_numbers(tables: np.ndarray) -> np.ndarray:
    """(K, M) int16: the numbers of `NUMBERS` for each of K tables, as plain counts."""
    priorities = tables["solo_priority"][:, list(_WITH_PRIORITY)]
    flat = priorities.reshape(len(tables), -1)
    lower = ((flat[:, None] > 0) & (flat[:, None] < flat[:, :, None])).sum(axis=2)
    values = {
        "copies": tables["copies"][:, list(_COUNTED)],
        "drops_to_grow": tables["drops_to_grow"][:, list(_GROWING)],
        "scores": np.stack([tables["scores"][:, crop, side - 1] for crop, side in _SCORING], axis=1),
        "rice_points": tables["scores"][:, Crop.RICE, Growing.DEVELOPED - 1, 0],
        "solo_order": np.where(flat > 0, lower + 1, 0),
        "harvest_die": np.sort(tables["harvest_die"], axis=1),
        "winds_votes": tables["winds_votes"][:, : RESHUFFLE - 1],
        "winds_harvest": tables["winds_harvest"][:, : RESHUFFLE - 1],
        "cards_of_a_kind": np.stack([tables["cards_of_a_kind"], tables["cards_of_a_kind_five_players"]], axis=1),
    }
    same = {block.name: tables[block.name] for block in NUMBERS if block.name not in values}
    return NUMBERS.joined({**same, **values}, len(tables))
