"""Dealing, and the Official Drafting Variant.

Picks are asked one player after another, but packs move on only after all have picked: nobody sees another's picks.
"""

from __future__ import annotations

import numpy as np

from petrichor_env.actions import CARD
from petrichor_env.rules.asking import allow_cards, clockwise
from petrichor_env.rules.chance import draw_card
from petrichor_env.state import NO_CARD, NOT_DRAFTING, NUM_KINDS, Decision, State
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import ask, ask_nothing

CARDS_DEALT = np.array([0, 8, 7, 7, 6, 6], np.int8)
"""Cards a player is dealt in every round, by number of players (1 is solo)."""
PACKS_PASSED = np.array([0, 0, 3, 3, 2, 2], np.int8)
"""How often packs are passed on in a draft, by number of players; then each player keeps the last pack whole."""
PICKS = np.array([1, 2, 2], np.int8)
"""Cards each player keeps of a pack before it is passed on, by `draft_step`."""


@rule
def deal(s: State) -> None:
    """Deal every player's cards one by one, from the first player, into hands or, when drafting, packs."""
    for _ in range(CARDS_DEALT[s.players]):
        for i in range(s.players):
            seat = clockwise(s, i)
            kind = draw_card(s)
            if kind < 0:
                break  # deck and discards are both empty
            if s.drafting == 1:
                s.pack[seat, kind] += 1
            else:
                s.hand[seat, kind] += 1
    if s.drafting == 1:
        s.draft_step = 0
        s.turn_index = 0
        s.cards_left = 0


@rule
def continue_draft(s: State) -> bool:
    """Pass the packs on once all have picked; then ask the next player, or end the draft with the last pack."""
    if s.draft_step == NOT_DRAFTING:
        return False
    if s.turn_index == s.players:
        pass_packs(s)
        s.draft_step += 1
        s.turn_index = 0
    if s.draft_step == PACKS_PASSED[s.players]:
        for seat in range(s.players):
            for kind in range(NUM_KINDS):
                s.hand[seat, kind] += s.pack[seat, kind]
                s.pack[seat, kind] = 0
        s.draft_step = NOT_DRAFTING
        return False
    s.cards_left = PICKS[s.draft_step]
    s.lowest_card = 0
    ask(s, Decision.DRAFT, clockwise(s, s.turn_index))
    return True


@rule
def pass_packs(s: State) -> None:
    """Every pack goes to the next player clockwise."""
    for kind in range(NUM_KINDS):
        last = s.pack[s.players - 1, kind]
        for seat in range(s.players - 1, 0, -1):
            s.pack[seat, kind] = s.pack[seat - 1, kind]
        s.pack[0, kind] = last


@rule
def allow_draft(s: State) -> None:
    """Any card of the player's pack."""
    allow_cards(s, s.pack[s.actor], NO_CARD)


@rule
def draft(s: State, action: int) -> None:
    """Answers DRAFT."""
    kind = action - CARD
    s.pack[s.actor, kind] -= 1
    s.hand[s.actor, kind] += 1
    s.cards_left -= 1
    s.lowest_card = kind
    if s.cards_left == 0:
        s.lowest_card = 0
        s.turn_index += 1
        ask_nothing(s)
