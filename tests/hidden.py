"""Games in which everything that a player can't know is different."""

from __future__ import annotations

import numpy as np

from petrichor_env import GAME
from petrichor_env.state import PLAYED, Decision
from tabletop.batch import Batch


def swapped(states: np.ndarray, seat: int, generator: np.random.Generator) -> np.ndarray:
    """The states with other cards wherever this seat can't see them, and where a forecast card is asked for, of whom.

    Written without the rules: a pending decision of somebody else need not fit these cards.
    """
    changed = states.copy()
    changed["rng"] = generator.integers(0, 2**64, len(states), np.uint64)
    for s in changed:
        others = [other for other in range(s["players"]) if other != seat]
        places = [s["deck"], *(s["hand"][other] for other in others), *(s["pack"][other] for other in others)]
        unseen = generator.permutation(np.repeat(np.tile(np.arange(4), len(places)), np.concatenate(places)))
        for place in places if others else []:
            number = int(place.sum())
            place[:] = np.bincount(unseen[:number], minlength=4)
            unseen = unseen[number:]
        open_cards = (s["forecast_holder"] == seat) | (s["forecast_holder"] == PLAYED)
        s["forecast_holder"][~open_cards] = generator.permutation(s["forecast_holder"][~open_cards])
        if s["actor"] in others:
            s["legal"] = generator.integers(0, 2**64, 3, np.uint64)
            if s["decision"] == Decision.DRAFT:
                s["lowest_card"] = generator.integers(4)
            if s["decision"] == Decision.FORECAST:
                s["actor"], s["timing_index"] = generator.choice(others), generator.integers(s["players"])
    return changed


def exchanged(batch: Batch, seat: int, generator: np.random.Generator) -> Batch:
    """The game twice, in the second one with the others' hidden cards in other hands; deck and chance are equal."""
    games = Batch(batch.config, 2, seed=0, autoreset="disabled", illegal_action="lose")
    games.states[:] = batch.states[0]
    s = games.states[1]
    others = [other for other in range(batch.config.players) if other != seat]
    for cards in (s["hand"], s["pack"]):
        sizes = cards[others].sum(axis=1)
        pool = generator.permutation(np.repeat(np.tile(np.arange(4), len(others)), cards[others].ravel()))
        for other, mine in zip(others, np.split(pool, np.cumsum(sizes)[:-1]), strict=True):
            cards[other] = np.bincount(mine, minlength=4)
    hidden = np.isin(s["forecast_holder"], others)
    s["forecast_holder"][hidden] = generator.permutation(s["forecast_holder"][hidden])
    assert not (s["forecast_holder"][hidden] == PLAYED).any()
    GAME.kernels.refresh_legal(games.states, games.tables)
    games.refresh(check=False)
    return games
