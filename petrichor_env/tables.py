"""The printed numbers, as one NumPy record for the compiled rules.

`component_files.load_tables` fills it from `components/base.toml` and the user's overlay file.
"""

from __future__ import annotations

import numpy as np

from petrichor_env.state import MAX_PLAYERS, NUM_KINDS, Crop, Growing
from tabletop_engine.record import Array, Number, Record, array, dtype_of, number

NUM_CROPS = len(Crop)
MAX_COPIES = 4
NEVER = 127
"""The `drops_to_grow` of a tile that never gets a growing token: more drops than a tile can hold."""
TRACK_SPACES = 17
RESHUFFLE = 9
"""The number of the last Southern Winds card, Reshuffle & Redraw."""


class Tables(Record):
    """The printed numbers that a game is played with."""

    copies: Array = array(np.int8, NUM_CROPS, "tiles of each crop in the box")
    drops_to_grow: Array = array(np.int8, NUM_CROPS, "by crop; NEVER for what gets no growing token: Lake, Primrose")
    drops_to_drown: Number = number(np.int8, "drops at which the Maltese Cactus drowns")
    scores: Array = array(
        np.int8,
        (NUM_CROPS, len(Growing) - 1, MAX_PLAYERS),
        "points by crop, Growing - 1 and place - 1; Corn's by players present, Rice's a drop; 0 where a side is never "
        "used, and for the Dandelion, whose pods are counted",
    )
    solo_priority: Array = array(
        np.int16,
        (NUM_CROPS, MAX_COPIES),
        "solo priorities of a crop's tiles in tenths (Maltese Cactus 55); 0 for a tile without a compass",
    )
    voting_wins: Array = array(np.int16, TRACK_SPACES, "points at 0, 1, 2 … Voting Wins; the last holds beyond")
    wheat_bonus: Number = number(np.int16, "points for the most Wheat tokens")
    harvest_die: Array = array(np.int8, 6, "votes on each side of a Harvest die, 0 for Harvest")
    winds_votes: Array = array(np.int8, (9, NUM_KINDS), "neutral votes by Southern Winds card - 1 and weather space")
    winds_harvest: Array = array(np.int8, 9, "1 for each Southern Winds card with a Harvest icon")
    drops: Number = number(np.int8, "drops of each owner")
    votes: Number = number(np.int8, "votes of each owner")
    clouds: Number = number(np.int8, "clouds in all")
    cards_of_a_kind: Number = number(np.int8, "action cards of a kind")
    cards_of_a_kind_five_players: Number = number(np.int8, "the same with five players")
    fertilizer_tokens: Number = number(np.int8, "Fertilizer tokens")
    pods: Number = number(np.int8, "pods of the Dandelion")
    primrose_blooms: Number = number(np.int8, "the most bloom tokens on the Primrose")
    primrose_points: Number = number(np.int16, "points a bloom token, at a change of control")


TABLES = dtype_of(Tables)
"""The dtype of the numbers on the pieces."""
