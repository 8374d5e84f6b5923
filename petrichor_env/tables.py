"""The numbers printed on the pieces, as one NumPy record that the compiled rules read.

`component_files.load_tables` fills it from `components/base.toml` and the user's overlay file.
"""

from __future__ import annotations

import numpy as np

from petrichor_env.state import MAX_PLAYERS, NUM_KINDS, Crop

NUM_CROPS = len(Crop)
MAX_COPIES = 4
TRACK_SPACES = 17

TABLES = np.dtype(
    [
        ("copies", np.int8, (NUM_CROPS,)),  # tiles of each crop in the box
        ("drops_to_grow", np.int8, (NUM_CROPS,)),
        # [crop, 0 sprouting / 1 developed, place - 1]; Corn by players present, Rice a drop; 0 where it never sprouts
        ("scores", np.int8, (NUM_CROPS, 2, MAX_PLAYERS)),
        # solo priorities of a crop's tiles in tenths (Maltese Cactus will be 55), 0 for a tile without a compass
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
    ]
)
