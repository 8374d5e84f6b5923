"""`canonical_sets` takes no outcome away: every order of each action and power is tried, with and without it."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from evergreen_env import Batch, Config, describe
from evergreen_env.actions import NUM_ACTIONS
from evergreen_env.component_files import load_tables
from evergreen_env.state import PIECE_NAMES, PLACE_NAMES, POWER_NAMES, Decision, Piece
from evergreen_env.words import places_in
from tabletop_engine.play.batch import legal_actions
from tests.evergreen import play as e
from tests.support.effort import games

ACTIONS = ("plant three", "grow two", "plant and grow", "anywhere")
BETWEEN = (Decision.TURN, Decision.DRAFT, Decision.GAME_OVER)
"""No action and no power is being carried out."""
CHUNK = 64
POSITIONS = games(15, 25)
"""The number of positions for each action, each power and each kind of overlay."""

ROWS = ["WWMW", "WN#W", "RGFW", "NMNN"]
"""A small planet, so that all orders can be tried."""

Overlay = dict[str, Any]


def ends(state: Any, choice: int, overlay: Overlay) -> Counter[bytes]:
    """All records that any answers to an action or a power lead to, with the number of ways to each."""
    batch = Batch(Config(2, components=overlay), CHUNK, seed=0, autoreset="disabled")
    ways, ended = Counter({state.tobytes(): 1}), Counter[bytes]()
    first = True
    while ways:
        states = np.frombuffer(b"".join(ways), batch.game.state)
        is_legal = (states["legal"] >> np.arange(NUM_ACTIONS, dtype=np.uint64)) & np.uint64(1) == 1
        if first:
            is_legal &= np.arange(NUM_ACTIONS) == choice
        origins, actions = np.nonzero(is_legal)
        after = Counter[bytes]()
        counts = np.array(list(ways.values()))[origins]
        for start in range(0, len(origins), CHUNK):
            part = slice(start, start + CHUNK)
            number = len(origins[part])
            again = start + np.arange(CHUNK) % number  # a batch has one size
            batch.set_states(states[origins[again]])
            batch.step(actions[again], which=np.arange(CHUNK) < number)
            for record, count in zip(batch.states[:number], counts[part].tolist(), strict=True):
                (ended if record["decision"] in BETWEEN else after)[record.tobytes()] += count
        ways, first = after, False
    return ended


def position(draw: random.Random, power: str, overlay: Overlay) -> Any:
    """player_0 holds a card with this power and has a random planet, within the supply."""
    t = load_tables(overlay)[0]
    left = {piece: min(int(t["supply"][piece]), 16) for piece in Piece}
    planet = {}
    share = draw.choice([0.3, 0.6, 0.9])
    for place in places_in(int(t["outline"]) & ~int(t["ravines"])):
        piece = draw.choice([0, 0, 0, 1, 1, 1, 2, 3, 4])
        if draw.random() < share and left[Piece(piece)]:
            left[Piece(piece)] -= 1
            planet[PLACE_NAMES[place]] = PIECE_NAMES[piece]
    card = f"{draw.choice(['swamp', 'swamp', 'wild', 'snow'])} {power}"
    return e.turn(card, planet, components=overlay, levels={"player_0": {power: draw.choice([0, 1, 1])}})


def limited(draw: random.Random) -> list[Any]:
    return [draw.choice(["unlimited", draw.randint(0, 4)]) for _ in PIECE_NAMES]


KINDS: dict[str, Any] = {
    "the shipped flags": lambda draw: {},
    "whole actions": lambda draw: {"flags.partial_actions": False, "flags.lake_growth": "mandatory"},
    "a limited supply": lambda draw: {"flags.supply": limited(draw), "flags.ravine_allows": ["bush", "lake"]},
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*ACTIONS, *POWER_NAMES])
def test_reading_order_takes_no_outcome_away(kind: str, name: str) -> None:
    """The same records can be reached with and without it.

    With it there is one way to each, except for lakes, whose order is free.
    """
    draw, compared = random.Random(f"{kind} {name}"), 0
    while compared < (POSITIONS if "supply" not in kind else 4 * POSITIONS):
        wild = draw.choice(["one_biome", "anywhere"])
        overlay = {"board.rows": ROWS, "flags.wild_biome": wild, **KINDS[kind](draw)}
        state = position(draw, "buds" if name in ACTIONS else name, overlay)
        choice = e.ACTIONS[name if name in ACTIONS else "power"]
        if choice not in legal_actions(state):
            continue
        in_order, in_any_order = (ends(state, choice, {**overlay, "flags.canonical_sets": on}) for on in (True, False))
        assert set(in_order) == set(in_any_order), describe(state, overlay)
        assert name == "lake" or max(in_order.values()) == 1, describe(state, overlay)
        compared += 1


@pytest.mark.parametrize("canonical", [True, False])
def test_all_88_outcomes_of_a_turn(canonical: bool) -> None:
    """One small tree is all the supply: b6 must grow before a5 or c7 does, although it is named after a5."""
    overlay = {"flags.supply": [9, 1, 9, 9, 9], "flags.canonical_sets": canonical}
    start = e.turn("swamp buds", e.standing("s:a5,c7 t:b6"), components=overlay)
    found, waiting, known = set(), [start], {start.tobytes()}
    while waiting:
        state = waiting.pop()
        if e.asked(state) == ("turn", 1):
            found.add((tuple(e.planet(state).items()), tuple(e.levels(state).items())))
            continue
        for name in sorted(e.legal(state)):
            after = e.play(state, name, components=overlay)
            if after.tobytes() not in known:
                known.add(after.tobytes())
                waiting.append(after)
    assert len(found) == 88
    grown = e.standing("t:a5 T:b6 s:c7")
    assert {level for planet, level in found if dict(planet) == grown} == {(), (("buds", 1),)}
