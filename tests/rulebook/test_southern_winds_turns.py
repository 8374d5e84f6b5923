"""Southern Winds, One Round of Play and the Neutral Turn: order of turns, the solo deck, targets, icons."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from petrichor_env.game import check
from petrichor_env.scenarios import scenario
from petrichor_env.state import Cloud, Decision, Phase
from tabletop_engine.errors import IllegalAction
from tests.rulebook.southern_winds import (
    NEUTRAL,
    YOU,
    act,
    by_die,
    changed,
    circling,
    cloud,
    dice,
    fields,
    neutral_turn,
    pair,
    sample,
    solo,
    target,
    tile_drops,
    votes,
)
from tests.support.play import play

# ---- One Round of Play

VOTES = {"frost": (2, 0), "wind": (1, 0)}
"""Two weathers that resolve without a tie and change nothing without clouds and drops."""


def test_neutral_turn_follows_each_of_your_turns() -> None:
    """One Round of Play 1 to 3: neutral, you, neutral, you …; one card each time."""
    state = solo(winds=(2, 3, 4), hands={"player_0": {"rain": 2}})
    state = act(state, "vote frost", "decline")
    assert sum(state["winds_deck"]) == 3
    assert state["winds_revealed"] == 1
    assert state["decision"] == Decision.TURN
    assert state["actor"] == YOU
    state = act(state, "play rain", "vote rain")  # no cloud of yours: nothing but the vote
    assert sum(state["winds_deck"]) == 2
    assert state["winds_revealed"] == 1
    assert state["decision"] == Decision.TURN
    assert state["actor"] == YOU
    assert state["round"] == 1


def test_optional_action_comes_before_the_neutral_turn() -> None:
    """One Round of Play 2: your turn follows the multiplayer game's rules, with the optional action."""
    state = solo(winds=(4,), hands={"player_0": {"sun": 2, "rain": 1}})
    asked = neutral_turn(state)
    assert asked["decision"] == Decision.OPTIONAL_ACTION
    assert sum(votes(asked, NEUTRAL)) == 0
    assert asked["winds_deck"][3] == 1
    acted = act(asked, "play sun")  # no cloud of yours: the action is skipped, the vote is not
    assert acted["decision"] == Decision.VOTE
    assert acted["winds_deck"][3] == 1
    after = act(acted, "vote sun")
    assert after["winds_card"][0] == 4
    assert votes(after, NEUTRAL) == (1, 0, 0, 0)


def test_first_turn_of_a_round_is_no_pass() -> None:
    """One Round of Play 2, Action Phase, note: you may not pass on your first turn of the round."""
    first = solo(decision="turn", turns=0, hands={"player_0": {"frost": 1, "sun": 1}})
    with pytest.raises(IllegalAction):
        act(first, "pass")
    later = solo(decision="turn", turns=1, hands={"player_0": {"frost": 1, "sun": 1}}, votes=VOTES)
    assert act(later, "pass")["round"] == 2


def test_pass_discards_all_your_cards_and_ends_the_round() -> None:
    """One Round of Play 2 and 3, ruling 3.1: a pass discards all cards; the next round deals 8."""
    state = solo(decision="turn", hands={"player_0": {"frost": 3, "rain": 3}}, winds=(4,), votes=VOTES)
    after = act(state, "pass")
    assert after["round"] == 2
    assert after["decision"] == Decision.TURN
    assert sum(after["hand"][YOU]) == 8
    assert after["discards"].tolist() == [3, 0, 0, 3]
    assert sum(after["deck"]) == 40 - 6 - 8


def test_no_neutral_turn_follows_your_pass() -> None:
    """One Round of Play 3: only if you did not pass is there another neutral turn."""
    after = act(solo(decision="turn", round=4, winds=(4,)), "pass")
    assert after["phase"] == Phase.OVER
    assert after["winds_deck"][3] == 1
    assert pair(after, "points") == (0, 0)


def test_being_out_of_cards_is_a_pass() -> None:
    """Ruling 3.1: after your last card one more neutral turn follows, then the round ends."""
    after = neutral_turn(solo(hands={}, winds=(3, 4), votes=VOTES))
    assert after["round"] == 2
    assert sum(after["hand"][YOU]) == 8
    assert sum(after["winds_deck"]) == 1  # card 9; one card each at the end of round 1 and the start of round 2


def test_round_starts_with_a_neutral_turn_and_no_shuffle() -> None:
    """Round End, note: the solo cards are not shuffled between rounds."""
    state = solo(decision="turn", winds=(1, 2, 3), votes=VOTES)
    for after in sample(state, 20, "pass"):
        assert after["round"] == 2
        assert after["winds_revealed"] == 1
        card = int(after["winds_card"][0])
        assert card in (1, 2, 3)
        left = {number + 1 for number in range(9) if after["winds_deck"][number]}
        assert left == {1, 2, 3, 9} - {card}


# ---- the solo deck


def test_any_card_of_the_deck_may_be_next() -> None:
    """Neutral Turn: the top card of a shuffled deck; every card left is equally likely."""
    cards = Counter(int(after["winds_card"][0]) for after in sample(solo(winds=(2, 4, 6)), 300, "vote frost"))
    assert set(cards) == {2, 4, 6}
    assert all(abs(count - 100) < 45 for count in cards.values())


def test_reshuffle_takes_all_nine_cards() -> None:
    """Neutral Turn and card 9: all 9 are shuffled, and cards drawn until another one than 9 comes."""
    cards: Counter[int] = Counter()
    for after in sample(solo(winds=()), 400, "vote frost", reshuffled=True):
        card = int(after["winds_card"][0])
        cards[card] += 1
        assert after["winds_revealed"] == 1
        assert [number + 1 for number in range(9) if not after["winds_deck"][number]] == [card]
    assert set(cards) == {1, 2, 3, 4, 5, 6, 7, 8}
    assert all(abs(count - 50) < 37 for count in cards.values())


# ---- 1. targets


VALID_P2_P3: dict[int, dict[str, Any]] = {
    3: {"drops": {2: (1, 0), 3: (1, 2), 4: (0, 2)}},
    4: {"clouds": {1: (1, 0), 4: (0, 1), 5: (1, 1), 6: (0, 5)}},
    5: {"clouds": {2: (1, 0), 3: (0, 1)}},
    6: {"clouds": {2: (1, 1), 3: (0, 4)}},
    7: {"clouds": {1: (1, 1), 2: (1, 1), 3: (1, 2), 5: (0, 2), 6: (2, 0)}},
    8: {"clouds": {1: (1, 0), 2: (0, 1), 3: (0, 2), 5: (1, 1), 6: (0, 2)}},
}


@pytest.mark.parametrize("card", VALID_P2_P3)
def test_next_valid_position_circling(card: int) -> None:
    """Neutral Turn 1, example: with valid targets P2 and P3 a roll of 4 checks P4, P5, P6, P1 and takes P2."""
    outcomes = by_die(solo(**VALID_P2_P3[card], winds=(card,)))
    assert target(outcomes[4]) == 2
    assert {die: target(after) for die, after in outcomes.items()} == circling(2, 3)
    assert circling(2, 3) == {1: 2, 2: 2, 3: 3, 4: 2, 5: 2, 6: 2}


@pytest.mark.parametrize("card", [1, 2])
def test_every_tile_is_valid_for_drops(card: int) -> None:
    """Neutral Turn 1: the target is the rolled tile itself, if the card changes anything there."""
    state = solo({2: (1, 0)}, {3: (3, 0)}, winds=(card,))
    for die, after in by_die(state).items():
        assert target(after) == die
        assert changed(state, after) == [die]


NO_TARGET: dict[str, tuple[int, dict[str, Any]]] = {
    "no drop of yours on a tile": (3, {"drops": {2: (0, 3)}, "clouds": {3: (2, 0)}}),
    "a cloud everywhere": (4, {"clouds": dict.fromkeys(range(1, 7), (1, 0))}),
    "no cloud (5)": (5, {"drops": {2: (1, 1)}}),
    "no cloud (6)": (6, {"drops": {2: (1, 1)}}),
    "no mixed cloud": (7, {"clouds": {2: (2, 0), 4: (0, 2)}}),
    "mixed cloud only on P1": (7, {"clouds": {1: (1, 1), 3: (1, 0)}}),
    "no pure cloud": (8, {"clouds": {2: (2, 0), 4: (1, 3)}}),
    "pure cloud only on P6": (8, {"clouds": {6: (0, 2), 1: (1, 0)}}),
}


@pytest.mark.parametrize("case", NO_TARGET)
def test_without_a_valid_target_the_neutral_player_scores_a_point(case: str) -> None:
    """Neutral Turn 1: without a valid target the Fields stay as they are; 1 point; the votes are still placed."""
    card, description = NO_TARGET[case]
    state = solo(**description, winds=(card,), dice=["harvest"] * 3)
    for after in sample(state, 10, "vote frost"):
        assert fields(after) == fields(state)
        assert target(after) is None
        assert pair(after, "points") == (0, 1)
        assert sum(votes(after, NEUTRAL)) >= 1


@pytest.mark.parametrize("card", [1, 2, 4, 5, 6])
def test_without_neutral_water_there_is_no_valid_target(card: int) -> None:
    """Neutral Turn 1: without the water that it needs, an action has no valid target."""
    state = solo({2: (1, 1)}, {1: (0, 19)}, winds=(card,), dice=["harvest"] * 3)
    assert state["supply"][NEUTRAL] == 0
    after = neutral_turn(state)
    assert fields(after) == fields(state)
    assert pair(after, "points") == (0, 1)
    assert target(after) is None


@pytest.mark.parametrize("card", [3, 7, 8])
def test_other_cards_need_no_water(card: int) -> None:
    """Neutral Turn 1: removing a drop and moving a cloud need no neutral water."""
    state = solo({4: (1, 1), 2: (0, 1)}, {1: (1, 18)}, winds=(card,), dice=["harvest"] * 3)
    assert state["supply"][NEUTRAL] == 0
    after = neutral_turn(state)
    assert changed(state, after)
    assert pair(after, "points") == (0, 0)


@pytest.mark.parametrize("card", [2, 4])
def test_two_drops_with_one_in_supply(card: int) -> None:
    """Ruling 3.2: a card that places two drops places the one that is left."""
    state = solo(drops={1: (0, 19)}, winds=(card,))
    for die, after in by_die(state).items():
        assert after["supply"][NEUTRAL] == 0
        assert pair(after, "points") == (0, 0)
        if card == 2:
            assert tile_drops(after, die) == (0, 20 if die == 1 else 1)
        else:
            assert cloud(after, die) == (Cloud.LIGHT, 0, 1)


# ---- 2. votes, 3. Harvest icons (which card shows which is assumed in RULINGS 1)

ICONS = {  # votes on Frost, Sun, Wind, Rain; whether it shows a Harvest icon
    1: ((0, 0, 0, 1), True),
    2: ((0, 0, 0, 1), False),
    3: ((1, 0, 1, 0), False),
    4: ((1, 0, 0, 0), False),
    5: ((0, 1, 0, 0), True),
    6: ((1, 1, 0, 0), False),
    7: ((0, 0, 1, 0), True),
    8: ((0, 0, 1, 1), False),
}


@pytest.mark.parametrize("card", ICONS)
def test_icons(card: int) -> None:
    """Neutral Turn 2 and 3: a neutral vote on each weather shown; a Harvest icon decreases a die for 1 point."""
    expected, harvest = ICONS[card]
    state = solo({2: (0, 1), 5: (1, 1)}, {3: (1, 0)}, winds=(card,), dice=[2, 3, 4])
    after = neutral_turn(state)
    assert votes(after, NEUTRAL) == expected
    assert votes(after, YOU) == (1, 0, 0, 0)
    assert after["vote_supply"][NEUTRAL] == 12 - sum(expected)
    assert dice(after) == ([2, 3, 3] if harvest else [2, 3, 4])
    assert pair(after, "points") == (0, 1 if harvest else 0)


@pytest.mark.parametrize(
    ("card", "left", "missing"), [(2, 0, 1), (4, 0, 1), (3, 1, 1), (3, 0, 2), (8, 1, 1), (8, 0, 2)]
)
def test_missing_votes_score_a_point_each(card: int, left: int, missing: int) -> None:
    """Neutral Turn 2: as many votes as possible, then 1 point a missing vote; no vote is moved."""
    state = solo({2: (0, 1)}, {3: (1, 0)}, winds=(card,), votes={"sun": (0, 12 - left)})
    after = neutral_turn(state)
    assert pair(after, "points") == (0, missing)
    assert after["votes"][1, NEUTRAL] == 12 - left
    assert sum(votes(after, NEUTRAL)) == 12
    placed = [number for number, icon in zip(votes(after, NEUTRAL), ICONS[card][0], strict=True) if icon]
    assert sum(placed) == left


@pytest.mark.parametrize(
    ("before", "after_", "scored"),
    [
        ([1, 2, 4], [0, 2, 4], 2),
        ([1, 3, 3], [0, 3, 3], 2),
        ([1, 1, 4], [0, 1, 4], 2),
        ([2, 3, 4], [2, 3, 3], 1),
        ([2, 2, 3], [2, 2, 2], 1),
        ([2, 2, 2], [1, 2, 2], 1),
        (["harvest", 2, 4], [0, 2, 3], 1),
        (["harvest", "harvest", 3], [0, 0, 2], 1),
        (["harvest", "harvest", 1], [0, 0, 0], 2),
        (["harvest", "harvest", "harvest"], [0, 0, 0], 0),
    ],
)
def test_die_priority(before: list[int | str], after_: list[int], scored: int) -> None:
    """Neutral Turn 3: a die showing 1 first (2 points), else 4, 3, 2 (1 point); dice showing Harvest never."""
    after = neutral_turn(solo(winds=(1,), dice=before))
    assert dice(after) == after_
    assert pair(after, "points") == (0, scored)


def test_the_neutral_turn_after_the_last_card_stays_to_be_seen() -> None:
    """One Round of Play: nobody chooses this pass, so the state still shows what the neutral turn revealed."""
    state = scenario(
        {
            "players": 1,
            "variants": ["double_card", "one_more_turn"],
            "round": 2,
            "field": {"P1": {"crop": "cotton"}},
            "hands": {"player_0": {"frost": 1}},
        }
    )
    before = play(state, "play frost", "tile P1")
    assert before["winds_revealed"] == 0
    after = play(before, "vote frost")
    # two cards of the turn after the last card, two of the extra turn; two more if the next round has begun
    assert after["winds_revealed"] == (6 if after["round"] == 3 else 4)
    assert (after["winds_card"][: after["winds_revealed"]] > 0).all()
    check(after)
