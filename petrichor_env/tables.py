"""The numbers printed on the pieces, as one NumPy record that the compiled rules read.

`component_files.load_tables` fills it from `components/base.toml` and the user's overlay file.
"""

from __future__ import annotations

import numpy as np

from petrichor_env.state import MAX_PLAYERS, NUM_KINDS, Crop, Growing

NUM_CROPS = len(Crop)
MAX_COPIES = 4
NEVER = 127
"""`drops_to_grow` of a tile that never gets a growing token: no tile ever holds as many."""
TRACK_SPACES = 17

TABLES = np.dtype(
    [
        ("copies", np.int8, (NUM_CROPS,)),  # tiles of each crop in the box
        ("drops_to_grow", np.int8, (NUM_CROPS,)),  # NEVER for what gets no growing token: Lake, Primrose
        ("drops_to_drown", np.int8),  # Maltese Cactus
        # [crop, Growing - 1, place - 1]; Corn by players present, Rice a drop; 0 where a side is never used, and for
        # the Dandelion, whose pods are counted
        ("scores", np.int8, (NUM_CROPS, len(Growing) - 1, MAX_PLAYERS)),
        # solo priorities of a crop's tiles in tenths (Maltese Cactus 55), 0 for a tile without a compass
        ("solo_priority", np.int16, (NUM_CROPS, MAX_COPIES)),
        ("voting_wins", np.int16, (TRACK_SPACES,)),  # points at 0, 1, 2 … Voting Wins; the last holds beyond
        ("wheat_bonus", np.int16),
        ("harvest_die", np.int8, (6,)),  # votes on each side, 0 for Harvest
        ("winds_votes", np.int8, (9, NUM_KINDS)),  # neutral votes by Southern Winds card
        ("winds_harvest", np.int8, (9,)),
        ("drops", np.int8),  # a player
        ("votes", np.int8),  # a player
        ("clouds", np.int8),
        ("cards_of_a_kind", np.int8),
        ("cards_of_a_kind_five_players", np.int8),
        ("fertilizer_tokens", np.int8),
        ("pods", np.int8),
        ("primrose_blooms", np.int8),  # the most on the tile
        ("primrose_points", np.int8),  # a bloom token, at a change of control
    ]
)
