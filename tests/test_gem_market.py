"""Gem Market: who wins, and what a redraw of the hidden cards keeps. tests/test_compare.py tests the rules."""

from __future__ import annotations

import numpy as np
import pytest

from tabletop_engine.game import NOBODY
from tabletop_engine.play.batch import Batch
from tabletop_engine.seeds import Stream, generator
from tests.games.gem_market import FIRST_CARD, GAME, MOST_RESERVED, TIERS, Config


@pytest.mark.parametrize(
    ("points", "cards", "places"),
    [
        ([15, 14, 3], [9, 2, 1], [1, 2, 3]),
        ([16, 17, 17], [5, 12, 11], [3, 2, 1]),
        ([15, 15, 15], [8, 7, 7], [3, 1, 1]),
        ([2, 0, 2], [3, 0, 3], [1, 3, 1]),
    ],
)
def test_most_points_win_then_fewer_cards(points: list[int], cards: list[int], places: list[int]) -> None:
    batch = Batch(Config(players=3), 1)
    states = batch.states.copy()
    states["actor"], states["points"][0, :3], states["cards"][0, :3, 1] = NOBODY, points, cards
    assert batch.places(states).tolist() == [places]


@pytest.mark.parametrize("players", [2, *(pytest.param(one, marks=pytest.mark.slow) for one in (3, 4))])
def test_a_redraw_keeps_what_is_known(players: int) -> None:
    """No card is added or lost. Only the decks' order and the cards that others reserved in secret can change."""
    batch = Batch(Config(players=players), 8, players, autoreset="disabled")
    chance = generator(players, Stream.CHECK)
    redrawn = 0
    while (running := batch.actors != NOBODY).any():
        for seat in range(players):
            states = batch.states.copy()
            streams = chance.integers(0, 2**63, len(states)).astype(np.uint64)
            GAME.kernels.sample_hidden_games(states, batch.tables, np.full(len(states), seat), streams)
            GAME.check(states, batch.tables)
            for name in GAME.state.names or ():
                if name not in ("rng", "legal", "deck", "reserved"):
                    np.testing.assert_array_equal(states[name], batch.states[name], name)
            np.testing.assert_array_equal(states["deck"][..., 0], batch.states["deck"][..., 0])
            hidden = batch.states["secret"] == 1
            hidden[:, seat] = False
            np.testing.assert_array_equal(states["reserved"][~hidden], batch.states["reserved"][~hidden])
            redrawn += int((states["reserved"] != batch.states["reserved"]).sum())
            for after, before in zip(states, batch.states, strict=True):
                assert unseen(after, seat) == unseen(before, seat)
        batch.step(batch.random_actions(), which=running)
    assert redrawn > 100


def unseen(state: np.void, seat: int) -> list[list[int]]:
    """The cards of each tier that this seat does not know, ascending."""
    cards = [int(card) for deck in state["deck"] for card in deck[1 : 1 + deck[0]]]
    for other in range(int(state["players"])):
        for slot in range(MOST_RESERVED):
            if other != seat and state["secret"][other, slot]:
                cards.append(int(state["reserved"][other, slot]))
    tiers = np.searchsorted(FIRST_CARD, cards, side="right") - 1
    return [sorted(card for card, of in zip(cards, tiers, strict=True) if of == tier) for tier in range(TIERS)]
