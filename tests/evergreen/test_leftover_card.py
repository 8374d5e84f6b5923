"""The Draft, the remaining card: fertility, aridity, no icon."""

from __future__ import annotations

import pytest

from tests.evergreen.play import CARDS, POWERS, all_done, draft, fertile, fertility, leave, look, play, scored

ICONS = {"meadow": "21110A", "flowers": "A21110", "grain": "0A2111", "rock": "10A211", "swamp": "110A21"}
ICONS |= {"snow": "1110A2", "wild": "000000"}
"""Flowers by power, A for aridity (specification c2)."""


@pytest.mark.parametrize("card", CARDS)
def test_every_card_as_the_leftover(card: str) -> None:
    """Case 5, case 8, E14; leftover: by its icons into its own biome's zone, or away; at once, before any action."""
    kind, power = card.split()
    icon = ICONS[kind][POWERS.index(power)]
    state = leave(card)
    assert (look(state, "decision"), len(look(state, "cards"))) == ("turn", 1)
    assert (look(state, "zone"), look(state, "discards")) == (([], [card]) if icon == "0" else ([card], []))
    assert fertility([], card) == fertile(**({kind: int(icon)} if icon in "12" else {}))


FLIPPED = " (face down)"


@pytest.mark.parametrize(
    ("zone", "card", "flips", "values"),
    [
        ("swamp sprout, snow buds", "swamp lake", None, {"swamp": 3, "snow": 2}),
        ("swamp lake, swamp sprout, swamp small_tree", "swamp buds", None, {"swamp": 5}),
        ("swamp lake, swamp sprout", "swamp bush", 1, {"swamp": 2}),
        ("grain bush, grain big_tree", "grain small_tree", 1, {"grain": 1}),
        ("snow sprout", "snow lake", 0, {}),
        ("swamp sprout, grain big_tree, swamp lake, snow buds", "swamp bush", 2, {"swamp": 1, "grain": 2, "snow": 2}),
        ("swamp sprout, grain big_tree", "meadow buds", None, {"swamp": 1, "grain": 2}),
        (f"swamp lake{FLIPPED}, swamp bush, swamp buds", "swamp sprout", None, {"swamp": 2}),
        ("swamp bush", "swamp lake", None, {"swamp": 2}),
    ],
)
def test_fertility_and_aridity(zone: str, card: str, flips: int | None, values: dict[str, int]) -> None:
    """Case 5, case 6, case 7, E13, E14; leftover: flowers add up; aridity flips the biome's most recent flowers.

    All icons of that card go, the aridity is added, other biomes stay; aridity is never subtracted from later flowers.
    """
    before = zone.split(", ")
    after = [name + FLIPPED if place == flips else name for place, name in enumerate(before)]
    assert look(leave(card, before), "zone") == [*after, card]
    assert fertility(before, card) == fertile(**values)


@pytest.mark.parametrize("card", ["meadow lake", "wild lake", "snow bush"])
def test_no_icon(card: str) -> None:
    """Case 8; leftover without icon: it is discarded, no fertility changes."""
    zone = ["meadow sprout", "snow buds"]
    assert (look(leave(card, zone), "zone"), look(leave(card, zone), "discards")) == (zone, [card])
    assert fertility(zone, card) == fertile(meadow=2, snow=2)


def test_a_second_aridity() -> None:
    """E15: it flips the next older card that still shows flowers; a third finds nothing."""
    overlay = {"deck.swamp": [1, "skull", 0, "skull", 2, 1]}
    zone = ["swamp sprout", f"swamp lake{FLIPPED}", "swamp bush"]
    flipped = [f"swamp sprout{FLIPPED}", *zone[1:]]
    for before in (zone, flipped):
        assert look(leave("swamp small_tree", before, components=overlay), "zone") == [*flipped, "swamp small_tree"]
    assert fertility(zone, components=overlay) == fertile(swamp=1)
    assert fertility(zone, "swamp small_tree", overlay) == fertile()


@pytest.mark.parametrize("card", ["swamp lake", "swamp bush"])
def test_picked_cards_change_no_fertility(card: str) -> None:
    """Case 9, E18: only the card that nobody picked is placed. One zone is for everybody (case 5)."""
    trees = {"player_0": {"a5": "big_tree"}, "player_1": {"c7": "big_tree", "b6": "big_tree"}}
    state = draft([card, "wild bush", "wild lake"], zone=["swamp sprout"], round=14, planets=trees)
    state = all_done(play(state, "draft 1", "draft 2"))
    assert (look(state, "zone"), scored(state, "fertility")) == (["swamp sprout"], (1, 2))
