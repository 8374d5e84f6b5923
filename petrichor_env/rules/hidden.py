"""What a player cannot know, drawn anew: for search that must not peek."""

from __future__ import annotations

import numpy as np

from petrichor_env.compiled import rule
from petrichor_env.rules.asking import count_legal
from petrichor_env.rules.chance import draw_from
from petrichor_env.rules.game_flow import legal
from petrichor_env.state import NUM_KINDS, State

_TRIES = 64


@rule
def sample_hidden(s: State, t: State, seat: int, rng: np.uint64) -> None:
    """Redraw, in place, all that this seat cannot know: the random stream, the others' hands and packs, the deck.

    The sizes of hands and packs are public and stay. Which cards a pack held when it was passed on is not in the
    record, so it is not remembered here either.
    """
    s.rng = rng
    if s.players > 1:
        for _ in range(_TRIES):
            redeal(s, seat)
            legal(s, t)
            # others who are in the middle of naming cards must still be able to
            if s.actor == seat or count_legal(s) > 0:
                break


@rule
def redeal(s: State, seat: int) -> None:
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
