"""The Draft: cards are dealt, each player takes one, and the leftover changes the fertility."""

from __future__ import annotations

from evergreen_env.actions import DRAFT
from evergreen_env.rules.cards import draw_card
from evergreen_env.rules.fertility import place_leftover
from evergreen_env.state import MAX_MARKET, MAX_PLAYERS, NO_CARD, NO_SLOT, NOBODY, Decision, State
from evergreen_env.tables import Tables
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import allow, ask, ask_nothing
from tabletop_engine.parts.slots import first_filled, take_card
from tabletop_engine.parts.turns import next_with


@rule
def deal(s: State) -> None:
    """Deal one card more than there are players. The first one lies leftmost, nearest to the draw pile."""
    for slot in range(s.players + 1):
        s.market[slot] = draw_card(s)
    for seat in range(MAX_PLAYERS):
        s.card[seat] = NO_CARD
    s.marker = NO_SLOT
    s.next_first = NOBODY


@rule
def continue_draft(s: State, t: Tables) -> bool:
    """Ask the next player for a card; once all have one, place the leftover. Returns whether somebody is asked."""
    seat = next_with(s, s.first_player, s.card, NO_CARD)
    if seat != NOBODY:
        ask(s, Decision.DRAFT, seat)
        return True
    while is_drafting(s):
        place_leftover(s, t, take_card(s.market, first_filled(s.market)))
    s.marker = NO_SLOT
    return False


@rule
def is_drafting(s: State) -> bool:
    """Whether cards lie in the market."""
    return first_filled(s.market) != NO_SLOT


@rule
def allow_draft(s: State) -> None:
    """Any card in the market."""
    for slot in range(MAX_MARKET):
        if s.market[slot] != NO_CARD:
            allow(s, DRAFT + slot)


@rule
def draft(s: State, action: int) -> None:
    """Answers DRAFT. The first player puts the marker on the leftmost remaining card; its taker is the next first."""
    slot = action - DRAFT
    s.card[s.actor] = take_card(s.market, slot)
    if slot == s.marker:
        s.next_first = s.actor
        s.marker = NO_SLOT
    if s.players > 1 and s.actor == s.first_player:
        s.marker = first_filled(s.market)
    ask_nothing(s)
