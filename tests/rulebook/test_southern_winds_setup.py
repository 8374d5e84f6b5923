"""Southern Winds, Setup: 6,000 games at your first decision, after one neutral turn."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from petrichor_env import Batch, Config
from petrichor_env.state import CROP_NAMES, NOBODY, Cloud, Decision
from tabletop_engine.errors import ConfigError
from tests.rulebook.southern_winds import NEUTRAL, TILES, YOU

GAMES = 6000
PRIORITIES = [
    "cotton",
    "grass",
    "cotton",
    "potato",
    "potato",
    "wheat",
    "grass",
    "wheat",
    "cotton",
    "grass",
    "wheat",
    "rice",
    "coffee",
    "coffee",
]  # ascending, as RULINGS 1 assumes them
NUM_COMPASS = len(PRIORITIES)


def uniform(counts: Counter[int], outcomes: int) -> bool:
    """Whether all counts are within 5.5 standard deviations of a uniform draw."""
    total = sum(counts.values())
    expected = total / outcomes
    deviation = np.sqrt(expected * (1 - 1 / outcomes))
    return len(counts) == outcomes and all(abs(count - expected) < 5.5 * deviation for count in counts.values())


@pytest.fixture(scope="module")
def states() -> np.ndarray:
    return Batch(Config(), GAMES, seed=1).states.copy()


def crops(states: np.ndarray) -> list[tuple[str, ...]]:
    return [tuple(CROP_NAMES[crop] for crop in row) for row in states["crop"][:, TILES]]


def test_four_rounds() -> None:
    """Setup 1: the side of the board with 4 rounds."""
    assert Config().rounds == 4
    with pytest.raises(ConfigError, match="4"):
        Config(rounds=6)


def test_no_draft() -> None:
    """Ruling 3.8: there is no draft in solo; the error says so."""
    with pytest.raises(ConfigError, match="draft"):
        Config(drafting=True)


def test_six_tiles_in_three_rows_of_two(states: np.ndarray) -> None:
    """Setup 2 and 3: 6 tiles, in 3 rows of 2."""
    placed = states["crop"] >= 0
    assert placed[:, TILES].all()
    assert placed.sum(axis=1).max() == 6


def test_tiles_lie_in_ascending_priority(states: np.ndarray) -> None:
    """Setup 3: tiles lie from P1 to P6 in ascending priority."""
    for field in set(crops(states)):
        remaining = iter(PRIORITIES)
        assert all(crop in remaining for crop in field), field


def test_tiles_are_drawn_at_random_from_those_with_a_compass(states: np.ndarray) -> None:
    """Setup 2: Corn has no compass; each of the other 14 tiles is as likely as any."""
    counts = Counter(crop for field in crops(states) for crop in field)
    assert set(counts) == set(PRIORITIES)
    for crop, copies in Counter(PRIORITIES).items():
        assert counts[crop] / GAMES == pytest.approx(6 * copies / NUM_COMPASS, abs=0.06), crop


def test_two_neutral_clouds_and_one_of_yours(states: np.ndarray) -> None:
    """Setup 4 and 5: two clouds with a neutral drop and one with yours, on three positions that the die gives."""
    untouched = states[np.isin(states["winds_card"][:, 0], (1, 2, 3))]  # the cards that move and fill no cloud
    kinds, drops = untouched["cloud"][:, TILES], untouched["cloud_drops"][:, TILES]
    assert ((kinds == Cloud.LIGHT) == (drops.sum(axis=2) == 1)).all()
    assert ((kinds == Cloud.NONE) == (drops.sum(axis=2) == 0)).all()
    assert (drops[:, :, YOU].sum(axis=1) == 1).all()
    assert (drops[:, :, NEUTRAL].sum(axis=1) == 2).all()
    assert (untouched["supply"][:, YOU] == 19).all()
    placed = untouched["drops"][:, :, NEUTRAL].sum(axis=1)
    assert (untouched["supply"][:, NEUTRAL] == 18 - placed).all()
    # a pair of neutral positions in either order, then yours: 60 ways, each as likely
    layouts = {
        (tuple(int(n) for n in row[:, NEUTRAL]), int(row[:, YOU].argmax())): index
        for index, row in enumerate(np.unique(drops, axis=0))
    }
    assert len(layouts) == len({(frozenset(p[:2]), p[2]) for p in permutations(range(6), 3)}) == 60
    counts = Counter(layouts[tuple(int(n) for n in row[:, NEUTRAL]), int(row[:, YOU].argmax())] for row in drops)
    assert uniform(counts, 60)


def test_solo_deck_is_shuffled(states: np.ndarray) -> None:
    """Setup 6: the 9 cards are shuffled; a neutral turn never resolves card 9 itself."""
    assert uniform(Counter(states["winds_card"][:, 0].tolist()), 8)
    assert (states["winds_deck"].sum(axis=1) == 8).all()
    drawn = states["winds_card"][:, 0] - 1
    assert (states["winds_deck"][np.arange(GAMES), drawn] == 0).all()


def test_die_is_fair(states: np.ndarray) -> None:
    """Neutral Turn 1: the numeric die selects the tile; every tile is valid for cards 1 and 2."""
    rolled = states[np.isin(states["winds_card"][:, 0], (1, 2))]
    assert uniform(Counter(rolled["winds_roll"][:, 0].tolist()), 6)
    assert (rolled["winds_target"][:, 0] == np.array(TILES)[rolled["winds_roll"][:, 0] - 1]).all()


def test_eight_cards_are_dealt_to_you(states: np.ndarray) -> None:
    """Setup 7: you get 8 of the 40 cards; the neutral player has none."""
    assert (states["hand"][:, YOU].sum(axis=1) == 8).all()
    assert (states["deck"].sum(axis=1) == 32).all()
    assert not states["discards"].any()
    assert not states["hand"][:, NEUTRAL].any()
    assert np.unique(states["hand"][:, YOU], axis=0).shape[0] > 100  # 165 hands of 8 exist


def test_neutral_player_starts(states: np.ndarray) -> None:
    """Setup, note: the neutral player starts the round, so your first decision follows one neutral turn."""
    assert (states["winds_revealed"] == 1).all()
    assert (states["decision"] == Decision.TURN).all()
    assert (states["actor"] == YOU).all()
    assert (states["round"] == 1).all()
    assert (states["passed"] == NOBODY).all()


def test_the_rest_as_in_the_multiplayer_game(states: np.ndarray) -> None:
    """Setup: supplies of 20 drops and 12 votes, no points but the neutral turn's, three rolled dice."""
    on_board = states["votes"].sum(axis=1)[:, :2]
    assert (states["vote_supply"][:, :2] + on_board == 12).all()
    assert not on_board[:, YOU].any()
    assert not states["points"][:, YOU].any()
    assert not states["voting_wins"].any()
    assert not states["wheat_tokens"].any()
    as_rolled = states["dice"][np.isin(states["winds_card"][:, 0], (2, 3, 4, 6, 8))]  # cards without a Harvest icon
    sides = Counter(as_rolled.ravel().tolist())
    for side, chance in {0: 1 / 3, 1: 1 / 6, 2: 1 / 6, 3: 1 / 6, 4: 1 / 6}.items():
        assert sides[side] / as_rolled.size == pytest.approx(chance, abs=0.025)


def test_same_seed_same_game() -> None:
    """All of it is drawn from the game's own random stream."""
    assert Batch(Config(), 5, seed=3).states.tobytes() == Batch(Config(), 5, seed=3).states.tobytes()
    assert Batch(Config(), 5, seed=3).states.tobytes() != Batch(Config(), 5, seed=4).states.tobytes()
