"""Southern Winds Card Reference: what each card does to its target."""

from __future__ import annotations

import pytest

from petrichor_env.state import Cloud, Growing
from tests.rulebook.southern_winds import (
    NEUTRAL,
    YOU,
    Pair,
    by_die,
    changed,
    circling,
    cloud,
    growing,
    neutral_turn,
    sample,
    solo,
    target,
    tile_drops,
)

LIGHT, THUNDER = Cloud.LIGHT, Cloud.THUNDER


@pytest.mark.parametrize(("card", "number"), [(1, 1), (2, 2)])
def test_cards_1_and_2_place_drops_on_a_tile(card: int, number: int) -> None:
    """Cards 1 and 2: neutral drops from the supply go directly onto the tile, past the cloud above it."""
    state = solo({1: (1, 0), 4: (0, 3)}, {3: (1, 0)}, winds=(card,))
    before = int(state["supply"][NEUTRAL])
    for die, after in by_die(state).items():
        yours, neutral = tile_drops(state, die)
        assert tile_drops(after, die) == (yours, neutral + number)
        assert changed(state, after) == [die]
        assert cloud(after, die) == cloud(state, die)
        assert after["supply"][NEUTRAL] == before - number


@pytest.mark.parametrize(("card", "number"), [(1, 1), (2, 2)])
def test_cards_1_and_2_start_growth(card: int, number: int) -> None:
    """Cards 1 and 2: the crop grows if it now has enough drops; Coffee only sprouts."""
    needs = dict(zip(range(1, 7), (2, 4, 2, 3, 3, 4), strict=True))
    state = solo(drops={position: (0, needed - number) for position, needed in needs.items()}, winds=(card,))
    assert not state["growing"].any()
    for die, after in by_die(state).items():
        assert growing(after, die) == (Growing.SPROUTING if die == 6 else Growing.DEVELOPED)
        assert int((after["growing"] > 0).sum()) == 1


def test_card_3_removes_one_of_your_drops() -> None:
    """Card 3: one of your drops returns from the tile to your supply; the crop may dry out."""
    state = solo(drops={1: (1, 1), 2: (3, 2), 4: (2, 0), 5: (0, 3)}, winds=(3,))
    assert [growing(state, position) for position in (1, 2, 4)] == [Growing.DEVELOPED, Growing.DEVELOPED, Growing.NONE]
    outcomes = by_die(state)
    assert {die: target(after) for die, after in outcomes.items()} == circling(1, 2, 4)
    for after in outcomes.values():
        position = target(after)
        assert position is not None
        assert changed(state, after) == [position]
        yours, neutral = tile_drops(state, position)
        assert tile_drops(after, position) == (yours - 1, neutral)
        assert after["supply"][YOU] == state["supply"][YOU] + 1
    assert growing(outcomes[1], 1) == Growing.NONE  # Cotton with 1 of 2 drops has dried out
    assert growing(outcomes[2], 2) == Growing.DEVELOPED  # Grass with 4 of 4 has not


def test_card_3_dries_out_a_sprouting_coffee() -> None:
    """Card 3, Growing Crops: the token is removed, whichever side shows."""
    state = solo(drops={6: (1, 3)}, winds=(3,))
    assert growing(state, 6) == Growing.SPROUTING
    after = neutral_turn(state)
    assert tile_drops(after, 6) == (0, 3)
    assert growing(after, 6) == Growing.NONE


def test_card_4_creates_a_light_cloud_with_two_drops() -> None:
    """Card 4: a new cloud with 2 neutral drops on a tile without one."""
    state = solo({2: (1, 0), 5: (0, 5)}, {1: (0, 1)}, winds=(4,))
    outcomes = by_die(state)
    assert {die: target(after) for die, after in outcomes.items()} == circling(1, 3, 4, 6)
    for after in outcomes.values():
        position = target(after)
        assert position is not None
        assert changed(state, after) == [position]
        assert cloud(after, position) == (LIGHT, 0, 2)
        assert tile_drops(after, position) == tile_drops(state, position)
        assert after["supply"][NEUTRAL] == state["supply"][NEUTRAL] - 2


@pytest.mark.parametrize("card", [5, 6])
def test_cards_5_and_6_add_a_drop_to_any_cloud(card: int) -> None:
    """Cards 5 and 6: any cloud there gets a neutral drop; then it may grow or overflow."""
    state = solo({1: (1, 0), 3: (1, 2), 4: (0, 1), 6: (2, 5)}, winds=(card,))
    outcomes = by_die(state)
    assert {die: target(after) for die, after in outcomes.items()} == circling(1, 3, 4, 6)
    for after in outcomes.values():
        assert after["supply"][NEUTRAL] == state["supply"][NEUTRAL] - 1
    assert cloud(outcomes[1], 1) == (LIGHT, 1, 1)
    assert cloud(outcomes[3], 3) == (THUNDER, 1, 3)  # grows with its fourth drop
    assert cloud(outcomes[4], 4) == (LIGHT, 0, 2)
    assert cloud(outcomes[6], 6) is None  # overflows with its eighth
    assert tile_drops(outcomes[6], 6) == (2, 6)
    assert growing(outcomes[6], 6) == Growing.SPROUTING


def test_cards_5_and_6_keep_a_small_thundercloud() -> None:
    """Cards 5 and 6, Merging and Overflowing, note: a thundercloud with fewer than 4 drops stays one."""
    after = neutral_turn(solo({3: (1, 1)}, thunder=(3,), winds=(5,)))
    assert cloud(after, 3) == (THUNDER, 1, 2)


@pytest.mark.parametrize(("start", "end"), [(6, 3), (5, 3), (4, 1), (3, 1), (2, 1)])
def test_card_7_moves_a_mixed_cloud_north_west(start: int, end: int) -> None:
    """Card 7: P4 to P1; from the first column north, P3 to P1; from P2 west to P1. Its kind stays."""
    for thunder in ((), (start,)):
        state = solo({start: (2, 1)}, thunder=thunder, winds=(7,))
        after = neutral_turn(state)
        assert changed(state, after) == sorted((start, end))
        assert cloud(after, start) is None
        assert cloud(after, end) == (THUNDER if thunder else LIGHT, 2, 1)


@pytest.mark.parametrize(("start", "end"), [(1, 4), (2, 4), (3, 6), (4, 6), (5, 6)])
def test_card_8_moves_a_pure_cloud_south_east(start: int, end: int) -> None:
    """Card 8: P3 to P6; from the second column south, P2 to P4; from P5 east to P6. Its kind stays."""
    for thunder in ((), (start,)):
        state = solo({start: (0, 3)}, thunder=thunder, winds=(8,))
        after = neutral_turn(state)
        assert changed(state, after) == sorted((start, end))
        assert cloud(after, start) is None
        assert cloud(after, end) == (THUNDER if thunder else LIGHT, 0, 3)


@pytest.mark.parametrize(
    ("card", "start", "end", "moved"), [(7, 4, 1, (1, 1)), (7, 6, 3, (1, 1)), (8, 1, 4, (0, 2)), (8, 3, 6, (0, 2))]
)
def test_diagonal_moves_pass_no_tile_on_the_way(card: int, start: int, end: int, moved: Pair) -> None:
    """Cards 7 and 8: the cloud merges with none on the way; clouds with only your drops are no targets."""
    between = {position: (1, 0) for position in range(1, 7) if position not in (start, end)}
    state = solo({start: moved, **between}, winds=(card,))
    after = neutral_turn(state)
    assert changed(state, after) == sorted((start, end))
    assert cloud(after, end) == (LIGHT, *moved)


@pytest.mark.parametrize(
    ("card", "clouds", "merged"),
    [(7, {4: (1, 1), 1: (1, 0)}, (1, (2, 1))), (8, {3: (0, 1), 6: (2, 0)}, (6, (2, 1)))],
)
def test_cards_7_and_8_merge(card: int, clouds: dict[int, Pair], merged: tuple[int, Pair]) -> None:
    """Cards 7 and 8, Merging: two clouds on one tile become one thundercloud, even of 3 drops."""
    position, drops = merged
    after = neutral_turn(solo(clouds, winds=(card,)))
    assert cloud(after, position) == (THUNDER, *drops)
    assert int((after["cloud"] != Cloud.NONE).sum()) == 1


@pytest.mark.parametrize(
    ("card", "clouds", "end", "poured"),
    [(7, {4: (2, 2), 1: (4, 0)}, 1, (6, 2)), (8, {3: (0, 3), 6: (5, 1)}, 6, (5, 4))],
)
def test_cards_7_and_8_overflow_after_a_merge(card: int, clouds: dict[int, Pair], end: int, poured: Pair) -> None:
    """Cards 7 and 8, Overflowing: 8 or more drops after a merge pour onto the tile, which then grows."""
    after = neutral_turn(solo(clouds, winds=(card,)))
    assert not after["cloud"].any()
    assert tile_drops(after, end) == poured
    assert growing(after, end) == (Growing.SPROUTING if end == 6 else Growing.DEVELOPED)


def test_mixed_and_pure_clouds() -> None:
    """Cards 7 and 8: a mixed cloud has drops of both, a pure one only neutral drops."""
    clouds: dict[int, Pair] = {2: (1, 0), 3: (0, 2), 5: (1, 1)}
    for card, valid in ((7, 5), (8, 3)):
        assert {target(after) for after in by_die(solo(clouds, winds=(card,))).values()} == {valid}


def test_card_9_performs_the_card_drawn_instead() -> None:
    """Card 9: the new card's action and icons count, once."""
    after = sample(solo(winds=(), dice=["harvest"] * 3), 1, "vote frost", reshuffled=True)[0]
    assert after["winds_card"][0] in range(1, 9)
    assert 1 <= int(after["votes"][:, NEUTRAL].sum()) <= 2
