"""Redrawing all that a player cannot know, for searches that must not use hidden information."""

from __future__ import annotations

import numpy as np

from petrichor_env.rules.game_flow import legal
from petrichor_env.state import NOBODY, NUM_FORECASTS, NUM_KINDS, PLAYED, Decision, Module, State
from petrichor_env.tables import Tables
from tabletop_engine.chance import draw_from, random_below
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import count_legal

_TRIES = 4096


@rule
def sample_hidden(s: State, t: Tables, seat: int, rng: np.uint64) -> None:
    """Redraw, in place, all that this seat cannot know: the random stream, the others' cards and packs, the deck.

    The sizes of hands and packs are public and stay. The record does not have what only the memory of a player has, so
    this is not kept: the cards of a pack when it was passed on, and the cards that were already dealt when the discards
    became the deck again. If another player is just naming cards, the sampled hand allows that player to continue. A
    player who is asked for a forecast card gets one that can be played.
    """
    s.rng = rng
    if s.players == 1:
        return
    hands, packs, deck, holders = s.hand.copy(), s.pack.copy(), s.deck.copy(), s.forecast_holder.copy()
    if s.actor != seat and s.decision == Decision.DRAFT:
        s.lowest_card = 0  # it would tell which card was picked first
    for _ in range(_TRIES):
        redeal(s, seat)
        redeal_forecasts(s, seat)
        legal(s, t)
        needed = 2 if s.decision == Decision.FORECAST else 1  # an action besides declining
        if s.actor == seat or s.actor == NOBODY or count_legal(s) >= needed:
            return
    for other in range(s.players):  # very rare: keep the true cards, so that there is a legal action
        copy_cards(hands[other], s.hand[other])
        copy_cards(packs[other], s.pack[other])
    copy_cards(deck, s.deck)
    copy_cards(holders, s.forecast_holder)
    legal(s, t)


@rule
def copy_cards(cards: np.ndarray, to: np.ndarray) -> None:
    """`to[:] = cards` as a loop: the assignment takes a second to compile, because of its error message."""
    for i in range(cards.shape[0]):
        to[i] = cards[i]


@rule
def redeal(s: State, seat: int) -> None:
    """Deal anew what this seat has not seen: to the others' hands and packs, the rest to the deck."""
    unseen = s.deck.copy()
    for other in range(s.players):
        if other != seat:
            for kind in range(NUM_KINDS):
                unseen[kind] += s.hand[other, kind] + s.pack[other, kind]
    for other in range(s.players):
        if other != seat:
            deal_as_many(s, s.hand[other], unseen)
            deal_as_many(s, s.pack[other], unseen)
    for kind in range(NUM_KINDS):
        s.deck[kind] = unseen[kind]


@rule
def deal_as_many(s: State, cards: np.ndarray, unseen: np.ndarray) -> None:
    """Replace the cards by as many of the unseen ones."""
    number = 0
    for kind in range(NUM_KINDS):
        number += int(cards[kind])
        cards[kind] = 0
    for _ in range(number):
        cards[draw_from(s, unseen)] += 1


@rule
def redeal_forecasts(s: State, seat: int) -> None:
    """The forecast cards that this seat has not seen change places among the others' hands and the box."""
    if s.modules[Module.FORECASTS] == 0:
        return
    unseen = s.forecast_holder.copy()
    number = 0
    for holder in range(NOBODY, s.players):  # in an order that doesn't tell who holds which
        for card in range(NUM_FORECASTS):
            if holder != seat and s.forecast_holder[card] == holder:
                unseen[number] = holder
                number += 1
    for card in range(NUM_FORECASTS):
        if s.forecast_holder[card] != seat and s.forecast_holder[card] != PLAYED:
            i = random_below(s, number)
            s.forecast_holder[card] = unseen[i]
            number -= 1
            unseen[i] = unseen[number]
