"""Dice, and the top card of the deck."""

from __future__ import annotations

from petrichor_env.state import State
from petrichor_env.tables import Tables
from tabletop_engine.chance import random_below
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.parts.decks import draw_or_reshuffle


@rule
def roll_numeric_die(s: State) -> int:
    """A number from 1 to 6."""
    return random_below(s, 6) + 1


@rule
def roll_harvest_die(s: State, t: Tables) -> int:
    """The votes on the side that comes up, 0 for Harvest."""
    return int(t.harvest_die[random_below(s, 6)])


@rule
def draw_card(s: State) -> int:
    """The top card of the deck; an empty deck is made anew from the discards (Clean-up Phase). -1 if both are empty."""
    return draw_or_reshuffle(s, s.deck, s.discards)
