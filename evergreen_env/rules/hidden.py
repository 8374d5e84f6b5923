"""Redrawing all that a player cannot know, for searches that must not use hidden information."""

from __future__ import annotations

import numpy as np

from evergreen_env.rules.draft import is_drafting
from evergreen_env.rules.game_flow import legal
from evergreen_env.rules.turn import begin_turn, clear_effect, next_to_act
from evergreen_env.state import NOBODY, NUM_POWERS, State
from evergreen_env.tables import Tables
from tabletop_engine.compiling.compiled import rule


@rule
def sample_hidden(s: State, t: Tables, seat: int, rng: np.uint64) -> None:
    """Take back, in place, what the others have done in this round's turns, and give the game another random stream.

    Their turns then come after this seat's turn. No turn depends on another, so this order is as good as the true one.
    The order of the deck is not in the record.
    """
    s.rng = rng
    if s.actor == NOBODY or s.players == 1 or is_drafting(s):
        return
    for other in range(s.players):
        if other != seat:
            take_back_turn(s, other)
    if s.actor != seat:
        clear_effect(s)
        begin_turn(s, next_to_act(s))
        legal(s, t)


@rule
def take_back_turn(s: State, seat: int) -> None:
    """Restore the planet and the levels as all know them; the turn is still to be taken."""
    s.finished[seat] = 0
    s.earned[seat] = 0
    s.sprouts[seat] = s.shown_sprouts[seat]
    s.small_trees[seat] = s.shown_small_trees[seat]
    s.big_trees[seat] = s.shown_big_trees[seat]
    s.bushes[seat] = s.shown_bushes[seat]
    s.lakes[seat] = s.shown_lakes[seat]
    for power in range(NUM_POWERS):
        s.level[seat, power] = s.shown_level[seat, power]
