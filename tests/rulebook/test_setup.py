"""Setup, over many games as `Batch` begins them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from petrichor_env import Batch, Config
from petrichor_env.state import NO_TILE, NOBODY, TILE_NAMES, WEATHER_NAMES, Crop
from tests.rulebook.base_game import FIELDS, asked, by_seat, cloud, legal_names, phase, tiles
from tests.support.play import play

GAMES = 400
PLAYERS = (2, 3, 4)
COPIES = {"WHEAT": 3, "COTTON": 3, "GRASS": 3, "POTATO": 2, "COFFEE": 2, "RICE": 1, "CORN": 2}


@pytest.fixture(scope="module", params=PLAYERS)
def states(request: pytest.FixtureRequest) -> np.ndarray:
    return Batch(Config(players=request.param), GAMES, seed=1).states.copy()


def players_of(states: np.ndarray) -> int:
    return int(states["players"][0])


def seats(states: np.ndarray) -> slice:
    return slice(0, players_of(states))


def test_field_has_7_9_or_12_tiles(states: np.ndarray) -> None:
    """Setup 1; ruling 2.1: 12 tiles in 3 x 4, 9 in 3 x 3, 7 in 3 x 3 without the top left and bottom right corners."""
    field = {TILE_NAMES.index(name) for name in FIELDS[players_of(states)]}
    for position in range(len(TILE_NAMES)):
        assert ((states["crop"][:, position] != NO_TILE) == (position in field)).all()


def test_tiles_are_drawn_from_the_box(states: np.ndarray) -> None:
    """Setup 1: the field is a shuffled sample of the tiles (rulings 1), without Corn for 2 players."""
    allowed = {Crop[name] for name in COPIES} - ({Crop.CORN} if players_of(states) == 2 else set())
    for name, copies in COPIES.items():
        assert (states["crop"] == Crop[name]).sum(axis=1).max() <= copies
    for name in FIELDS[players_of(states)]:
        assert set(states["crop"][:, TILE_NAMES.index(name)]) == allowed


def test_drops_and_votes(states: np.ndarray) -> None:
    """Setup 2: 20 drops and 12 votes each."""
    assert (states["supply"][:, seats(states)] == 20).all()
    assert (states["vote_supply"][:, seats(states)] == 12).all()
    assert not states["votes"].any()
    assert not states["drops"].any()


@pytest.mark.parametrize("rounds", [4, 6])
def test_short_and_long_form(rounds: int) -> None:
    """Setup 4 and 11: 4 or 6 rounds, beginning with round 1."""
    state = Batch(Config(players=2, rounds=rounds), 1, seed=0).states[0]
    assert (state["rounds"], state["round"]) == (rounds, 1)


def test_first_player_is_any_player(states: np.ndarray) -> None:
    """Setup 5: any method; here everybody is equally likely."""
    players = players_of(states)
    counts = Counter(states["first_player"].tolist())
    assert set(counts) == set(range(players))
    assert min(counts.values()) > GAMES / players / 2
    assert (states["passed"] == NOBODY).all()


def test_everybody_starts_at_0(states: np.ndarray) -> None:
    """Setup 6: markers start on 0 of both tracks; Setup 9: tokens and clouds are in the general supply."""
    for name in ("points", "voting_wins", "wheat_tokens", "growing", "cloud"):
        assert not states[name].any()


def test_hands(states: np.ndarray) -> None:
    """Setup 7: of 2 players the First Player gets 7 cards, the other 8; each of 3 gets 7, each of 4 gets 6."""
    players = players_of(states)
    for state in states:
        sizes = {int(state["hand"][seat].sum()) for seat in range(players) if seat != state["first_player"]}
        assert sizes == {{2: 8, 3: 7, 4: 6}[players]}
        assert state["hand"][state["first_player"]].sum() == {2: 7, 3: 7, 4: 6}[players]
    assert not states["hand"][:, players:].any()


def test_draw_deck_is_the_rest_of_40_cards(states: np.ndarray) -> None:
    """Setup 7 and 8: of 40 cards (10 of each kind) all that are not dealt are the deck."""
    assert (states["deck"] + states["hand"].sum(axis=1) == 10).all()
    assert not states["discards"].any()


def test_cards_are_shuffled(states: np.ndarray) -> None:
    """Setup 7; ruling 2.20: cards are a sample of the counts; each kind is equally likely."""
    dealt = states["hand"].sum(axis=(0, 1))
    expected = dealt.sum() / 4
    assert (abs(dealt - expected) < 0.06 * expected).all()
    first = states["hand"][np.arange(GAMES), states["first_player"]]
    assert len(np.unique(first, axis=0)) > 50


def test_harvest_dice_are_rolled(states: np.ndarray) -> None:
    """Setup 10; Components, Custom Dice: 1 to 4 votes and two Harvest icons."""
    sides = Counter(states["dice"].ravel().tolist())
    assert set(sides) == {0, 1, 2, 3, 4}
    for side, count in sides.items():
        expected = 3 * GAMES / (3 if side == 0 else 6)
        assert abs(count - expected) < 5 * np.sqrt(expected)


def test_clouds_are_placed_from_the_last_player_anticlockwise(states: np.ndarray) -> None:
    """Setup 12: from the First Player's right on, each player places a cloud with an own drop on a free tile."""
    players = players_of(states)
    for number, state in enumerate(states[:40]):
        first = int(state["first_player"])
        free = list(FIELDS[players])
        for turn in range(1, players + 1):
            seat = (first - turn) % players
            assert phase(state) == "setup"
            assert asked(state) == ("setup_cloud", seat)
            assert legal_names(state) == tiles(*free)
            chosen = free.pop((number * 5 + turn) % len(free))
            state = play(state, f"tile {chosen}")
            assert cloud(state, chosen) == ("light", *(int(owner == seat) for owner in range(players)))
            assert state["supply"][seat] == 19
        assert phase(state) == "action"
        assert asked(state) == ("turn", first)
        assert by_seat(state, "supply") == (19,) * players


def test_first_turn_offers_the_hand_and_no_pass(states: np.ndarray) -> None:
    """Phase 1: play begins with the First Player, who may not pass on the first turn of the round (ruling 2.3)."""
    for state in states[:40]:
        for _ in range(players_of(states)):
            state = play(state, sorted(legal_names(state))[0])
        held = state["hand"][state["first_player"]]
        playable = {f"play {kind}" for kind, count in zip(WEATHER_NAMES, held, strict=True) if count}
        others = {
            f"substitute {kind}" for kind, count in zip(WEATHER_NAMES, held, strict=True) if held.sum() - count >= 2
        }
        assert legal_names(state) == playable | others
