"""Dealing, and the Official Drafting Variant.

Picks are asked one player after another, but packs move on only after all have picked: nobody sees another's picks.
"""

from __future__ import annotations

from petrichor_env.actions import CARD
from petrichor_env.rules.asking import allow_cards
from petrichor_env.rules.chance import draw_card
from petrichor_env.state import NO_CARD, NOT_DRAFTING, NUM_KINDS, Decision, State
from tabletop.compiled import rule
from tabletop.legal import ask, ask_nothing


@rule
def cards_dealt(s: State) -> int:
    """Cards a player is dealt in every round: 8 in solo, 7 with two or three players, 6 with more."""
    if s.players == 1:
        return 8
    return 7 if s.players <= 3 else 6


@rule
def deal(s: State) -> None:
    """Deal every player's cards one by one, from the first player, into hands or, when drafting, packs."""
    for _ in range(cards_dealt(s)):
        for i in range(s.players):
            seat = (int(s.first_player) + i) % int(s.players)
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
def picks(s: State) -> int:
    """Cards each player keeps of the pack before it is passed on: 1, then 2 until the last pack is kept whole."""
    if s.draft_step == 0:
        return 1
    return 2


@rule
def is_last_pack(s: State) -> bool:
    """Two and three players pass packs on three times, more players twice."""
    return bool(s.draft_step == (3 if s.players <= 3 else 2))


@rule
def continue_draft(s: State) -> bool:
    """Pass the packs on once all have picked; then ask the next player, or end the draft with the last pack."""
    if s.draft_step == NOT_DRAFTING:
        return False
    if s.turn_index == s.players:
        pass_packs(s)
        s.draft_step += 1
        s.turn_index = 0
    if is_last_pack(s):
        for seat in range(s.players):
            for kind in range(NUM_KINDS):
                s.hand[seat, kind] += s.pack[seat, kind]
                s.pack[seat, kind] = 0
        s.draft_step = NOT_DRAFTING
        return False
    s.cards_left = picks(s)
    s.lowest_card = 0
    ask(s, Decision.DRAFT, (int(s.first_player) + int(s.turn_index)) % int(s.players))
    return True


@rule
def pass_packs(s: State) -> None:
    """Every pack goes to the next player clockwise."""
    for kind in range(NUM_KINDS):
        last = s.pack[int(s.players) - 1, kind]
        for seat in range(int(s.players) - 1, 0, -1):
            s.pack[seat, kind] = s.pack[seat - 1, kind]
        s.pack[0, kind] = last


@rule
def allow_draft(s: State) -> None:
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
