"""Phase 4: Clean-up Phase."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from petrichor_env.state import State
from tests.rulebook.base_game import (
    asked,
    by_seat,
    clouds,
    dice,
    end_round,
    final_round,
    growing,
    hand,
    last_turn,
    on_tile,
    over,
    phase,
    tile,
    votes_on,
    with_seeds,
    words,
)

QUIET = {"frost": (1, 1), "rain": (1, 1)}
DEALT = {2: 7, 3: 7, 4: 6}


def cleaned_up(number: int, players: int = 2, **changes: Any) -> list[State]:
    return with_seeds(last_turn(players, votes=QUIET, **changes), number, "pass")


@pytest.mark.parametrize(("rounds", "round_"), [(4, 1), (4, 3), (6, 1), (6, 4), (6, 5)])
def test_round_marker_moves(rounds: int, round_: int) -> None:
    """Clean-up 1: one space forward; the next round begins with its First Player."""
    state = end_round(3, votes=QUIET, rounds=rounds, round=round_)
    assert (int(state["round"]), phase(state)) == (round_ + 1, "action")
    assert asked(state) == ("turn", int(state["first_player"]))


@pytest.mark.parametrize("round_", [4, 6])
def test_final_round_has_no_clean_up(round_: int) -> None:
    """Clean-up: skipped in the final round."""
    state = end_round(rounds=round_, round=round_, dice=["harvest", 2, 3], hands=("rain", "frost"))
    assert over(state)
    assert state["round"] == round_
    assert dice(state) == [0, 2, 3]
    assert (hand(state, 0), hand(state, 1)) == (["rain"], ["frost"])


# --- dice ----------------------------------------------------------------------------------------------------------


def test_all_dice_are_rolled_after_a_harvest() -> None:
    """Clean-up 2; ruling 2.15: all three are rolled, so any number of them may show Harvest again."""
    rolled = Counter(tuple(dice(state)) for state in cleaned_up(400, dice=["harvest"] * 3))
    assert {side for sides in rolled for side in sides} == {0, 1, 2, 3, 4}
    assert {sides.count(0) for sides in rolled} == {0, 1, 2, 3}


@pytest.mark.parametrize(("before", "kept"), [(["harvest", "harvest", 3], 2), (["harvest", 4, 4], 1), ([1, 2, 3], 0)])
def test_without_a_harvest_harvest_icons_stay(before: list[Any], kept: int) -> None:
    """Clean-up 2: only dice without the Harvest icon are rolled; note: afterwards all may show Harvest."""
    rolled = [dice(state) for state in cleaned_up(400, dice=before)]
    assert all(sides[:kept] == [0] * kept for sides in rolled)
    assert {side for sides in rolled for side in sides[kept:]} == {0, 1, 2, 3, 4}
    assert {sides.count(0) for sides in rolled} == set(range(kept, 4))


# --- cards ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
def test_new_hands(players: int) -> None:
    """Clean-up 3: each of 2 or 3 players gets 7 cards, each of 4 gets 6, besides up to 4 kept ones."""
    hands = ("", "frost sun wind rain", "rain rain", "frost frost")
    hands = ("frost sun", *hands[1:]) if players == 2 else hands
    before = last_turn(players, votes=QUIET, hands=hands)
    for state in with_seeds(before, 20, "pass"):
        for seat in range(players):
            kept, now = Counter(hands[seat].split()), Counter(hand(state, seat))
            assert kept <= now
            assert now.total() == kept.total() + DEALT[players]
        assert int(state["deck"].sum()) == int(before["deck"].sum()) - players * DEALT[players]
        assert words(state["discards"]) == []


def test_dealt_cards_are_random() -> None:
    """Clean-up 3: cards come from the shuffled draw deck; ruling 2.20: they are a sample of its counts."""
    hands = Counter(tuple(hand(state, 0)) for state in cleaned_up(200, hands=("", "frost")))
    assert len(hands) > 40


SHORT_DECK: dict[str, Any] = {
    "hands": ("", "frost"),
    "deck": {"rain": 3},
    "discards": {"frost": 9, "sun": 10, "wind": 10, "rain": 7},
}


def test_discards_become_the_deck_when_it_runs_out() -> None:
    """Clean-up 3: the last cards of the deck are dealt, then the reshuffled discards; ruling 2.16."""
    for state in cleaned_up(40, **SHORT_DECK):
        assert [len(hand(state, seat)) for seat in range(2)] == [7, 8]
        assert hand(state, 0).count("rain") + hand(state, 1).count("rain") >= 3
        assert words(state["discards"]) == []
        assert int(state["deck"].sum()) == 40 - 15


def test_last_cards_of_the_deck_go_round_from_the_first_player() -> None:
    """Ruling 2.16: dealing goes round, so of three cards left in the deck nobody gets all."""
    for state in cleaned_up(40, hands=("", "frost"), deck={"rain": 10}, discards={"frost": 9, "sun": 10, "wind": 10}):
        rains = [hand(state, seat).count("rain") for seat in range(2)]
        assert rains == [5, 5]


def test_discards_stay_while_the_deck_lasts() -> None:
    """Clean-up 3: discarded cards are reshuffled only when the deck runs out while dealing."""
    discards = {"frost": 9, "sun": 10}
    for state in cleaned_up(10, hands=("", "frost"), discards=discards):
        assert Counter(words(state["discards"])) == discards
        assert set(hand(state, 0)) <= {"wind", "rain"}


def test_an_exactly_empty_deck_needs_no_reshuffle() -> None:
    """Clean-up 3: the deck runs out while dealing only if a card is still to be dealt."""
    discards = {"frost": 9, "sun": 10, "wind": 6}
    for state in cleaned_up(5, hands=("", "frost"), discards=discards, deck={"wind": 4, "rain": 10}):
        assert int(state["deck"].sum()) == 0
        assert Counter(words(state["discards"])) == discards


# --- what stays ----------------------------------------------------------------------------------------------------


def test_everything_else_stays() -> None:
    """Clean-up: drops, clouds, tokens, votes of unresolved spaces, points and tracks stay for the next round."""
    votes = {"frost": (2, 2), "sun": (2, 2), "wind": (0, 1), "rain": (0, 1)}
    field = {"b1": tile("wheat", (2, 1)), "b2": tile("grass", (1, 1)), "b3": tile("wheat", cloud=(1,))}
    state = end_round(votes=votes, field=field, voting_wins=(1, 2), points=(3, 4), wheat_tokens=(1, 0))
    assert by_seat(state, "points") == (3, 4)
    assert by_seat(state, "wheat_tokens") == (1, 0)
    assert clouds(state) == {"b3": ("thunder", 2, 0)}
    assert on_tile(state, "b1") == (2, 1)
    assert on_tile(state, "b2") == (1, 1)
    assert (growing(state, "b1"), growing(state, "b2")) == ("developed", "none")
    assert votes_on(state, "wind") == votes_on(state, "rain") == (0, 1)
    assert by_seat(state, "voting_wins") == (1, 2)


def test_final_round_deals_no_cards() -> None:
    """Clean-up: skipped in the final round."""
    state = final_round(3)
    assert over(state)
    assert [hand(state, seat) for seat in range(3)] == [[], ["frost"], ["frost"]]
