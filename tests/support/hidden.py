"""Games in which everything that a player can't know is different."""

from __future__ import annotations

import numpy as np

from petrichor_env import GAME, Config
from petrichor_env.state import PLAYED, Decision
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tests.support.play import in_the_middle


def swapped(states: np.ndarray, seat: int, generator: np.random.Generator) -> np.ndarray:
    """The states with other cards wherever this seat can't see them. Another player may be asked for a forecast card.

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
    """The game twice. In the second one the others' hidden cards are in other hands; deck and chance are equal."""
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


def what_is_hidden_changed(config: Config, games: int, steps: int) -> tuple[Decisions, Decisions]:
    """The same decisions twice: as they are, and with other hands, packs, decks, forecast cards and chance."""
    batch = in_the_middle(config, games, steps, seed=steps)
    true, generator = batch.states.copy(), np.random.default_rng(steps)
    original = Decisions(GAME, true, batch.tables, batch.observations.copy(), batch.action_masks.copy())
    for seat in range(config.players):
        asked = batch.actors == seat
        batch.states[asked] = swapped(batch.states[asked], seat, generator)
    assert (true["rng"] != batch.states["rng"]).all()
    if config.players > 1 and true["hand"].any():  # Fertilizer comes before the cards
        assert (true["hand"] != batch.states["hand"]).any() or config.drafting
        assert (true["pack"] != batch.states["pack"]).any() or not true["pack"].any()
    if "forecasts" in config.modules and config.players > 1 and (true["forecast_holder"] >= 0).any():
        assert (true["forecast_holder"] != batch.states["forecast_holder"]).any()
    batch.refresh(check=False)
    assert np.array_equal(batch.observations, original.observations)
    return original, Decisions.of(batch)
