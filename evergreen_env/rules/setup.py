"""Setup: the first player, the start points of later players, the first flowers."""

from __future__ import annotations

import numpy as np

from evergreen_env.rules.cards import draw_card
from evergreen_env.rules.fertility import add_flowers, has_pile
from evergreen_env.state import BLANK, NO_CARD, Source, State
from evergreen_env.tables import Tables
from tabletop_engine.chance import random_below
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.compiling.overwrite import overwrite
from tabletop_engine.parts.sets import only
from tabletop_engine.parts.turns import seat_after

_0 = np.uint64(0)


@rule
def set_up(s: State, t: Tables) -> None:
    """Set the game up to the first draft, from the switches and the random stream alone."""
    clear(s, t)
    s.sun = t.sun_start
    s.deck = t.cards
    s.first_player = random_below(s, s.players)
    for turns in range(s.players):
        seat = seat_after(s, s.first_player, turns)
        s.points[seat] = t.start_points[turns]
        s.scored[seat, Source.START] = t.start_points[turns]
    reveal_flowers(s, t)


@rule
def clear(s: State, t: Tables) -> None:
    """An empty table: the blank record with this game's switches, random stream and board."""
    start = BLANK.copy()[0]
    start.rng = s.rng
    start.players = s.players
    start.owners = s.owners
    for season in range(t.season_rounds.shape[0]):
        start.rounds += t.season_rounds[season]
    start.outline = t.outline
    overwrite(s, start)


@rule
def reveal_flowers(s: State, t: Tables) -> None:
    """Reveal cards until enough flowers lie there; cards without flowers go back into the deck."""
    aside, flowers = _0, 0
    while flowers < t.setup_flowers and s.deck != _0:
        card = draw_card(s)
        if card == NO_CARD:
            return
        if t.flowers[card] > 0 and has_pile(t, card):
            flowers += t.flowers[card]
            add_flowers(s, t, card)
        else:
            aside |= only(card)
    s.deck |= aside
