"""Merging and Overflowing."""

from __future__ import annotations

import pytest

from petrichor_env.state import State
from tests.rulebook.base_game import asked, by_seat, cloud, clouds, end_round, game, growing, legal_names, on_tile, tile
from tests.support.play import play


def wind(source: State, direction: str) -> State:
    """player_0's only cloud moves."""
    return play(source, "play wind", f"move {direction}")


def meeting(moving: dict[str, object], there: dict[str, object]) -> State:
    """player_0's cloud on a2 moves onto b2."""
    return wind(game(hands=("wind", "frost"), field={"a2": moving, "b2": there}), "east")


def test_new_clouds_are_light() -> None:
    """Merging and Overflowing: all new clouds start as light clouds."""
    state = play(game(hands=("frost", "frost")), "play frost", "tile a3")
    assert clouds(state) == {"a3": ("light", 1, 0)}


@pytest.mark.parametrize(
    ("moving", "there", "merged"),
    [
        (tile(cloud=(1,)), tile(cloud=(0, 1)), ("thunder", 1, 1)),
        (tile(cloud=(2, 1)), tile(cloud=(0, 2)), ("thunder", 2, 3)),
        (tile(cloud=(3,)), tile(cloud=(0, 4)), ("thunder", 3, 4)),
        (tile(cloud=(1,), thunder=True), tile(cloud=(0, 1)), ("thunder", 1, 1)),
        (tile(cloud=(4,)), tile(cloud=(0, 3)), ("thunder", 4, 3)),
    ],
)
def test_two_clouds_merge_into_a_thundercloud(
    moving: dict[str, object], there: dict[str, object], merged: tuple[object, ...]
) -> None:
    """Merging: any two clouds in one space become one thundercloud with all drops; the emptied cloud goes."""
    assert clouds(meeting(moving, there)) == {"b2": merged}


@pytest.mark.parametrize(("moving", "there"), [((4, 0), (0, 4)), ((3, 2), (0, 3)), ((1, 6), (0, 7))])
def test_a_merge_can_overflow_at_once(moving: tuple[int, ...], there: tuple[int, ...]) -> None:
    """Overflowing: two clouds that hold 8 or more together pour everything on the tile below."""
    state = meeting(tile(cloud=moving), tile("rice", (1, 0), cloud=there))
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (moving[0] + there[0] + 1, moving[1] + there[1])
    assert growing(state, "b2") == "sprouting"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (tile(cloud=(1,)), ("light", 3, 0)),
        (tile(cloud=(1, 1)), ("thunder", 3, 1)),
        (tile(cloud=(2,)), ("thunder", 4, 0)),
        (tile(cloud=(1, 2)), ("thunder", 3, 2)),
        (tile(cloud=(1,), thunder=True), ("thunder", 3, 0)),
        (tile(cloud=(1, 4)), ("thunder", 3, 4)),
    ],
)
def test_growing_into_a_thundercloud(before: dict[str, object], after: tuple[object, ...]) -> None:
    """Growing: a light cloud of 4 or more drops becomes a thundercloud; a thundercloud overflows only from 8 on."""
    state = play(game(hands=("sun", "frost"), field={"b2": before}), "play sun")
    assert cloud(state, "b2") == after


@pytest.mark.parametrize("drops", [(6, 0), (1, 5), (3, 4), (1, 6)])
def test_overflow(drops: tuple[int, int]) -> None:
    """Overflowing: from 8 drops on, all players' drops pour onto the tile; the empty cloud is removed."""
    state = play(
        game(hands=("sun", "frost"), field={"b2": tile("potato", cloud=drops), "c1": tile("rice")}), "play sun"
    )
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (drops[0] + 2, drops[1])
    assert growing(state, "b2") == "developed"
    assert by_seat(state, "supply") == (18 - drops[0], 20 - drops[1])


@pytest.mark.parametrize("taken", ["own", "1st to the left"])
def test_a_thundercloud_never_becomes_light_again(taken: str) -> None:
    """Merging and Overflowing, note: with fewer than 4 drops it stays a thundercloud."""
    state = play(game(hands=("rain", "frost"), field={"b2": tile(cloud=(2, 2))}), "play rain", f"drop b2 {taken}")
    assert cloud(state, "b2") in (("thunder", 1, 2), ("thunder", 2, 1))


def test_example_three_drops_into_a_thundercloud_of_seven() -> None:
    """Merging and Overflowing, example: Sun weather adds 3 drops to 7, so all 10 land on the tile."""
    votes = {"frost": (1,), "sun": (1,)}
    state = end_round(3, field={"b2": tile("wheat", cloud=(3, 2, 2))}, votes=votes, hands=("", "frost", "frost"))
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (6, 2, 2)
    assert by_seat(state, "supply") == (14, 18, 18)


def test_two_actions_are_two_effects() -> None:
    """Merging and Overflowing, note: a cloud overflows after the first action, so the second action finds it gone."""
    state = game(hands=("sun wind wind", "frost"), field={"b2": tile("potato", cloud=(6,))})
    state = play(state, "play sun", "vote sun")
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (8, 0)
    assert asked(state) == ("optional_action", 0)
    state = play(state, "play wind")
    assert asked(state) == ("vote", 0)


def test_growth_between_two_actions() -> None:
    """Merging and Overflowing, note: the light cloud of 2 drops has already grown after the first Sun action."""
    state = game(hands=("sun sun sun", "frost"), field={"b2": tile(cloud=(2,))})
    state = play(state, "play sun", "vote sun")
    assert cloud(state, "b2") == ("thunder", 4, 0)
    state = play(state, "play sun", "vote sun")
    assert cloud(state, "b2") == ("thunder", 6, 0)


@pytest.mark.parametrize("thunder", [False, True])
def test_empty_clouds_are_removed(thunder: bool) -> None:
    """Merging and Overflowing: empty clouds are always removed, and their tile is free again."""
    field = {"b2": tile(cloud=(1,), thunder=thunder)}
    state = play(game(hands=("rain frost frost", "frost"), field=field), "play rain")
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (1, 0)
    state = play(state, "vote rain", "play frost")
    assert "tile b2" in legal_names(state)


def test_abilities_affect_both_kinds_of_clouds() -> None:
    """Merging and Overflowing: light clouds and thunderclouds alike can be chosen for Sun, Rain and Wind."""
    field = {"b1": tile(cloud=(1,)), "b3": tile(cloud=(1,), thunder=True)}
    for kind, options in (
        ("sun", {"tile b1", "tile b3"}),
        ("wind", {"tile b1", "tile b3"}),
        ("rain", {"drop b1 own", "drop b3 own"}),
    ):
        assert legal_names(play(game(hands=(kind, "frost"), field=field), f"play {kind}")) == options
