"""Southern Winds, Increasing the Difficulty: the four variants, alone and where they meet."""

from __future__ import annotations

from typing import Any

import pytest

from petrichor_env import Batch, Config
from petrichor_env.state import CROP_NAMES, Cloud, Decision, Phase
from tests.rulebook.southern_winds import (
    NEUTRAL,
    TILES,
    YOU,
    Pair,
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

LIGHT = Cloud.LIGHT
DOUBLE, NON_RANDOM, NO_TRICKS, ONE_MORE = "double_card", "non_random_targets", "no_more_tricks", "one_more_turn"
PLAIN_CROPS = ("cotton", "grass", "cotton", "grass", "rice", "coffee")
"""A field without Wheat and Potato; growing from 2, 4, 2, 4, 4 and 4 drops."""


def cards(state: Any) -> tuple[int, ...]:
    return tuple(int(card) for card in state["winds_card"][: state["winds_revealed"]])


# ---- Double card


def test_double_card_resolves_two_and_votes_with_the_second() -> None:
    """Double card; ruling 3.3: both abilities take effect, but only the second card's icons, also for Harvest."""
    state = solo({2: (1, 0)}, {3: (2, 0)}, winds=(1, 3), variants=[DOUBLE])
    outcomes = {cards(after): after for after in sample(state, 20, "vote frost")}
    assert set(outcomes) == {(1, 3), (3, 1)}
    for after in outcomes.values():
        assert tile_drops(after, 3)[YOU] == 1  # card 3 took one of your drops
        assert int(after["drops"][:, NEUTRAL].sum()) == 1  # card 1 placed one
    assert votes(outcomes[1, 3], NEUTRAL) == (1, 0, 1, 0)
    assert dice(outcomes[1, 3]) == [4, 4, 4]
    assert pair(outcomes[1, 3], "points") == (0, 0)
    assert votes(outcomes[3, 1], NEUTRAL) == (0, 0, 0, 1)
    assert dice(outcomes[3, 1]) == [3, 4, 4]
    assert pair(outcomes[3, 1], "points") == (0, 1)


def test_double_card_without_targets_scores_for_each() -> None:
    """Double card, Neutral Turn 1: the first card, too, scores a point if it has no valid target."""
    after = neutral_turn(solo(winds=(3, 6), variants=[DOUBLE]))
    assert pair(after, "points") == (0, 2)


def test_double_card_ignores_missing_votes_of_the_first() -> None:
    """Double card: ignored icons place no votes, so none can be missing."""
    state = solo({2: (0, 1)}, {3: (2, 0)}, winds=(2, 3), votes={"sun": (0, 12)}, variants=[DOUBLE])
    for after in sample(state, 10, "vote frost"):
        assert pair(after, "points") == (0, 2 if cards(after) == (2, 3) else 1)


def test_second_card_meets_what_the_first_did() -> None:
    """Double card: the first card is resolved before the second is drawn; each has its own roll of the die."""
    state = solo(winds=(4, 5), variants=[DOUBLE])
    rolls = set()
    for after in sample(state, 60, "vote frost"):
        first, second = target(after, 0), target(after, 1)
        if cards(after) == (4, 5):
            assert first is not None
            assert first == second
            assert cloud(after, first) == (LIGHT, 0, 3)
            rolls.add((int(after["winds_roll"][0]), int(after["winds_roll"][1])))
        else:
            assert first is None
            assert second is not None
            assert cloud(after, second) == (LIGHT, 0, 2)
    assert len({one - other for one, other in rolls}) > 3


def test_double_card_with_a_reshuffle() -> None:
    """Double card and card 9: a Reshuffle as second card includes the first one, which may come again."""
    outcomes = [
        cards(after) for after in sample(solo(winds=(4,), variants=[DOUBLE]), 150, "vote frost", reshuffled=True)
    ]
    assert all(len(drawn) == 2 and 9 not in drawn for drawn in outcomes)
    assert (4, 4) in outcomes
    assert {second for first, second in outcomes if first == 4} == set(range(1, 9))


# ---- Non-random targeting


def highest(card: int, clouds: dict[int, Pair], drops: dict[int, Pair] | None = None, **changes: Any) -> int | None:
    """The target of the card. It is the same for every random stream, since no die is rolled."""
    state = solo(clouds, drops, winds=(card,), variants=[NON_RANDOM], **changes)
    outcomes = sample(state, 5, "vote frost")
    assert len({target(after) for after in outcomes}) == 1
    assert all(after["winds_roll"][0] == 0 for after in outcomes)
    found = target(outcomes[0])
    if found is None:
        assert fields(outcomes[0]) == fields(state)
    else:
        assert found in changed(state, outcomes[0])
    return found


@pytest.mark.parametrize(
    ("card", "clouds", "expected"),
    [
        (4, {}, 6),
        (4, {6: (1, 0), 5: (0, 1)}, 4),
        (7, {2: (1, 1), 5: (1, 1)}, 5),
        (7, {2: (1, 1), 6: (0, 2), 5: (2, 0), 1: (3, 1)}, 2),
        (7, {1: (1, 1)}, None),
        (8, {1: (0, 1), 4: (0, 2), 6: (0, 1)}, 4),
        (8, {6: (0, 1)}, None),
    ],
)
def test_cards_4_7_8_take_the_highest_available_tile(card: int, clouds: dict[int, Pair], expected: int | None) -> None:
    """Non-random targeting: cards that move or create a cloud check P6 first, then P5 and so on."""
    assert highest(card, clouds) == expected


@pytest.mark.parametrize("card", [5, 6])
@pytest.mark.parametrize(
    ("clouds", "drops", "expected"),
    [
        ({5: (2, 1), 6: (0, 1)}, {}, 5),  # the example: leading in P6, behind in P5
        ({5: (0, 1), 6: (0, 1)}, {}, 6),  # the example: leading in both
        ({5: (1, 1), 6: (0, 2)}, {}, 6),  # level in P5 is not fewer
        ({2: (1, 0), 5: (0, 1), 6: (0, 1)}, {}, 2),
        ({2: (1, 0), 3: (2, 0), 6: (1, 1)}, {}, 3),  # the highest where it is behind
        ({5: (1, 0), 6: (0, 1)}, {6: (2, 0)}, 6),  # drops on the tile count: 2 against 1
        ({5: (1, 0), 6: (0, 1)}, {5: (0, 1)}, 6),  # … and even out P5
        ({4: (2, 1)}, {4: (0, 2), 6: (4, 0)}, 4),  # no cloud, no target
        ({}, {6: (2, 0)}, None),
    ],
)
def test_cards_5_6_prefer_where_the_neutral_player_is_behind(
    card: int, clouds: dict[int, Pair], drops: dict[int, Pair], expected: int | None
) -> None:
    """Non-random targeting: the highest cloud where it has fewer drops (tile and cloud), otherwise the highest."""
    assert highest(card, clouds, drops) == expected


@pytest.mark.parametrize("card", [1, 2])
@pytest.mark.parametrize(
    ("drops", "expected"),
    [
        ({}, 6),
        ({6: (0, 1)}, 6),
        ({6: (0, 2)}, 5),
        ({6: (1, 3), 5: (2, 3)}, 5),
        ({6: (0, 2), 5: (1, 4), 4: (0, 2), 3: (0, 2)}, 2),
    ],
)
def test_cards_1_2_ignore_tiles_where_it_leads_by_two(card: int, drops: dict[int, Pair], expected: int) -> None:
    """Non-random targeting: the highest tile except those where the neutral player is 2 or more drops ahead."""
    assert highest(card, {}, drops) == expected
    assert highest(card, {6: (0, 3), 5: (3, 0)}, drops) == expected  # clouds are ignored


@pytest.mark.parametrize(
    ("drops", "expected"),
    [
        ({2: (1, 0), 5: (1, 2)}, 5),
        ({2: (1, 0), 5: (1, 3)}, 2),
        ({6: (0, 1), 3: (2, 1), 4: (1, 3)}, 3),
        ({5: (1, 3)}, None),
    ],
)
def test_card_3_ignores_tiles_where_it_leads_by_two(drops: dict[int, Pair], expected: int | None) -> None:
    """Non-random targeting, card 3: only tiles with a drop of yours; if all are ignored, no target is valid."""
    assert highest(3, {6: (0, 3), 2: (0, 3)}, drops) == expected


@pytest.mark.parametrize("card", [1, 2, 3])
def test_every_tile_ignored_is_no_valid_target(card: int) -> None:
    """Ruling 3.6: the neutral player scores the point instead."""
    drops: dict[int, Pair] = {position: (1, 3) if position == 1 else (0, 2) for position in range(1, 7)}
    state = solo(drops=drops, winds=(card,), variants=[NON_RANDOM], dice=["harvest"] * 3)
    after = neutral_turn(state)
    assert fields(after) == fields(state)
    assert target(after) is None
    assert pair(after, "points") == (0, 1)


# ---- No More Tricks


def test_no_more_tricks_removes_wheat_and_potato() -> None:
    """No More Tricks: Wheat and Potato leave the pile; the 6 tiles are drawn from the other 9."""
    fields_ = Batch(Config(variants=(NO_TRICKS,)), 500, seed=2).states["crop"][:, TILES]
    names = [[CROP_NAMES[crop] for crop in row] for row in fields_]
    assert {name for row in names for name in row} == {"cotton", "grass", "rice", "coffee"}
    order = ("cotton", "grass", "cotton", "grass", "cotton", "grass", "rice", "coffee", "coffee")
    for row in names:
        remaining = iter(order)
        assert all(name in remaining for name in row)
    assert sum(row.count("rice") for row in names) / 500 == pytest.approx(6 / 9, abs=0.1)


def test_no_more_tricks_changes_no_other_rule() -> None:
    """No More Tricks: the neutral turn goes as usual."""
    outcomes = by_die(solo({2: (1, 0), 3: (0, 1)}, crops=PLAIN_CROPS, winds=(5,), variants=[NO_TRICKS]))
    assert {die: target(after) for die, after in outcomes.items()} == circling(2, 3)


# ---- One More Turn


def test_one_more_turn_after_your_pass() -> None:
    """One More Turn: after you pass the neutral player takes one more turn, before the Weather Phase."""
    state = solo(decision="turn", round=4, votes={"sun": (2, 0)}, winds=(1,), variants=[ONE_MORE], dice=[1, 4, 4])
    after = act(state, "pass")
    assert after["phase"] == Phase.OVER
    assert cards(after) == (1,)
    assert after["winds_deck"][0] == 0
    # Sun and its vote for Rain count: one Voting Win each; and its die for 2 points
    assert pair(after, "voting_wins") == (1, 1)
    assert pair(after, "points") == (1, 2 + 1)


def test_one_more_turn_may_settle_the_weather() -> None:
    """One More Turn: the votes of this turn count when weather spaces are selected."""
    state = solo(decision="turn", votes={"frost": (1, 0), "sun": (2, 0)}, winds=(4, 8), variants=[ONE_MORE])
    for after in sample(state, 10, "pass"):
        if cards(after)[0] == 4:  # a second vote on Frost: it ties, neither wins
            assert pair(after, "voting_wins") == (1, 0)
        else:  # Frost, Wind and Rain tie for second with a vote each: you choose
            assert after["decision"] == Decision.CHOOSE_WEATHER


def test_one_more_turn_when_out_of_cards() -> None:
    """One More Turn, ruling 3.1: running out of cards is a pass too, so two neutral turns follow your last card."""
    state = solo(hands={}, round=4, winds=(2, 4), variants=[ONE_MORE])
    assert act(state, "vote frost")["winds_deck"].sum() == 1
    plain = act(solo(hands={}, round=4, winds=(2, 4)), "vote frost")
    assert plain["winds_deck"].sum() == 2


def test_no_extra_turn_while_you_play() -> None:
    """One More Turn: the extra turn comes only after your pass."""
    after = neutral_turn(solo(winds=(3, 4), variants=[ONE_MORE]))
    assert after["winds_revealed"] == 1
    assert after["winds_deck"].sum() == 2


# ---- together


def test_one_more_turn_with_double_card() -> None:
    """Double card with One More Turn: the extra turn resolves two cards; the votes of the second count."""
    state = solo(decision="turn", round=4, winds=(2, 4), variants=[DOUBLE, ONE_MORE])
    for after in sample(state, 10, "pass"):
        assert sorted(cards(after)) == [2, 4]
        assert pair(after, "voting_wins") == (0, 1)  # one vote in all, so one space to win


def test_round_change_with_double_card_and_one_more_turn() -> None:
    """Double card with One More Turn: two cards after your pass, two at the start of the next round."""
    state = solo(
        decision="turn", winds=(1, 2, 4, 5), votes={"frost": (4, 0), "sun": (4, 0)}, variants=[DOUBLE, ONE_MORE]
    )
    after = act(state, "pass")
    assert after["round"] == 2
    assert sorted(cards(after)) == [1, 2, 4, 5]
    assert after["winds_deck"].sum() == 1


def test_double_card_with_non_random_targets() -> None:
    """Double card with Non-random targeting: the second card looks at the field after the first."""
    state = solo({6: (1, 0)}, winds=(4, 5), variants=[DOUBLE, NON_RANDOM])
    outcomes = {cards(after): after for after in sample(state, 20, "vote frost")}
    one, other = outcomes[4, 5], outcomes[5, 4]
    assert cloud(one, 5) == cloud(other, 5) == (LIGHT, 0, 2)
    assert cloud(one, 6) == cloud(other, 6) == (LIGHT, 1, 1)
    assert (target(one, 0), target(one, 1)) == (5, 6)
    assert (target(other, 0), target(other, 1)) == (6, 5)


def test_all_four() -> None:
    """All variants: no Wheat and Potato, two cards by criteria a turn, and one more turn after the pass."""
    every = [DOUBLE, NON_RANDOM, NO_TRICKS, ONE_MORE]
    state = solo(decision="turn", crops=PLAIN_CROPS, round=4, winds=(1, 2), dice=["harvest"] * 3, variants=every)
    for after in sample(state, 5, "pass"):
        assert after["phase"] == Phase.OVER
        assert sorted(cards(after)) == [1, 2]
        assert not after["winds_roll"].any()
        # P6 takes the first card; the second follows there after card 1, and goes to P5 after card 2
        expected = (6, 6) if cards(after) == (1, 2) else (6, 5)
        assert (target(after, 0), target(after, 1)) == expected
