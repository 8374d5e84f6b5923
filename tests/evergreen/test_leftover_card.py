"""The Draft, the remaining card: fertility, aridity, no icon."""

from __future__ import annotations

import pytest

from tests.evergreen.play import (
    BIOMES,
    CARDS,
    POWERS,
    TYPES,
    all_done,
    draft,
    fertile,
    fertility,
    leave,
    look,
    play,
    scored,
)

SKULL = -1
ICONS = {
    "meadow": (2, 1, 1, 1, 0, SKULL),
    "flowers": (SKULL, 2, 1, 1, 1, 0),
    "grain": (0, SKULL, 2, 1, 1, 1),
    "rock": (1, 0, SKULL, 2, 1, 1),
    "swamp": (1, 1, 0, SKULL, 2, 1),
    "snow": (1, 1, 1, 0, SKULL, 2),
    "wild": (0,) * 6,
}
"""Flowers by power (specification c2)."""


@pytest.mark.parametrize("card", CARDS)
def test_every_card_as_the_leftover(card: str) -> None:
    """Case 5, case 8; leftover: by the icons at the top into its own biome's zone, or away. Others gain nothing."""
    kind, power = card.split()
    icons = ICONS[kind][POWERS.index(power)]
    state = leave(card)
    assert look(state, "zone") == ([card] if icons else [])
    assert look(state, "discards") == ([] if icons else [card])
    assert fertility([], card) == fertile(**({kind: icons} if icons > 0 else {}))


@pytest.mark.parametrize("card", ["meadow lake", "wild lake", "snow bush"])
def test_no_icon(card: str) -> None:
    """Case 8; leftover without icon: it is discarded, no fertility changes."""
    zone = ["meadow sprout", "snow buds"]
    state = leave(card, zone)
    assert (look(state, "zone"), look(state, "discards")) == (zone, [card])
    assert fertility(zone, card) == fertility(zone) == fertile(meadow=2, snow=2)


def test_flowers_raise_the_fertility_of_their_biome() -> None:
    """Case 5; leftover with flowers: swamp 1 and 2 flowers make 3; the other biomes stay."""
    zone = ["snow buds", "swamp sprout"]
    assert fertility(zone) == fertile(snow=2, swamp=1)
    assert fertility(zone, "swamp lake") == fertile(snow=2, swamp=3)
    assert look(leave("swamp lake", zone), "zone") == [*zone, "swamp lake"]


def test_fertility_is_the_same_for_everybody() -> None:
    """Case 5: one common zone; both players' big trees score by it."""
    trees = {"player_0": {"a5": "big_tree"}, "player_1": {"c7": "big_tree", "b6": "big_tree"}}
    state = draft(["wild bush", "wild lake", "swamp lake"], round=14, zone=["swamp sprout"], planets=trees)
    assert scored(all_done(play(state, "draft 1", "draft 2")), "fertility") == (3, 6)


def test_fertility_is_the_sum_of_all_flowers() -> None:
    """Leftover with flowers: all cards of the biome add up, 2 + 1 + 1 + 1 = 5."""
    assert fertility(["swamp lake", "swamp sprout", "swamp small_tree", "swamp buds"]) == fertile(swamp=5)


@pytest.mark.parametrize(
    ("zone", "skull", "after", "biome", "value"),
    [
        (["swamp lake", "swamp sprout"], "swamp bush", ["swamp lake", "swamp sprout (face down)"], "swamp", 2),
        (["swamp sprout", "swamp lake"], "swamp bush", ["swamp sprout", "swamp lake (face down)"], "swamp", 1),
        (
            ["grain bush", "grain big_tree"],
            "grain small_tree",
            ["grain bush", "grain big_tree (face down)"],
            "grain",
            1,
        ),
        (["snow sprout"], "snow lake", ["snow sprout (face down)"], "snow", 0),
    ],
)
def test_aridity_flips_the_most_recent_card(
    zone: list[str], skull: str, after: list[str], biome: str, value: int
) -> None:
    """Case 6, case 7, E13; leftover with aridity: all icons of one card go, then the aridity is added."""
    assert look(leave(skull, zone), "zone") == [*after, skull]
    assert fertility(zone, skull) == fertile(**{biome: value})


def test_aridity_leaves_other_biomes_alone() -> None:
    """Case 6; leftover with aridity: the most recent card of its own biome, not of the whole zone."""
    zone = ["swamp sprout", "grain big_tree", "swamp lake", "snow buds"]
    after = ["swamp sprout", "grain big_tree", "swamp lake (face down)", "snow buds", "swamp bush"]
    assert look(leave("swamp bush", zone), "zone") == after
    assert fertility(zone, "swamp bush") == fertile(swamp=1, grain=2, snow=2)


def test_a_flipped_card_counts_nothing_from_then_on() -> None:
    """Case 6: fertility is the flowers that are seen; later flowers add to it, the aridity is never subtracted."""
    zone = ["swamp lake (face down)", "swamp bush", "swamp buds"]
    assert fertility(zone) == fertile(swamp=1)
    assert fertility(zone, "swamp sprout") == fertile(swamp=2)


@pytest.mark.parametrize("biome", BIOMES)
def test_aridity_without_flowers(biome: str) -> None:
    """E14: nothing is flipped, the aridity is added; the next flowers count fully."""
    skull = f"{biome} {POWERS[ICONS[biome].index(SKULL)]}"
    flowers = f"{biome} {POWERS[ICONS[biome].index(2)]}"
    assert look(leave(skull), "zone") == [skull]
    assert fertility([], skull) == fertile()
    assert look(leave(flowers, [skull]), "zone") == [skull, flowers]
    assert fertility([skull], flowers) == fertile(**{biome: 2})


TWO_SKULLS = {"deck.swamp": [1, "skull", 0, "skull", 2, 1]}


def test_a_second_aridity() -> None:
    """E15: it flips the next older card that still shows flowers; on 1 and 2 flowers two of them leave nothing."""
    zone = ["swamp sprout", "swamp lake (face down)", "swamp bush"]
    state = leave("swamp small_tree", zone, components=TWO_SKULLS)
    after = ["swamp sprout (face down)", "swamp lake (face down)", "swamp bush", "swamp small_tree"]
    assert look(state, "zone") == after
    assert fertility(zone, components=TWO_SKULLS) == fertile(swamp=1)
    assert fertility(zone, "swamp small_tree", TWO_SKULLS) == fertile()
    third = leave("swamp small_tree", [*after[:3]], components=TWO_SKULLS)
    assert look(third, "zone") == after


def test_picked_cards_change_no_fertility() -> None:
    """Case 9, E18: only the card that nobody picked is placed."""
    state = play(draft(["swamp lake", "wild bush"], zone=["swamp sprout"]), "draft 1")
    assert look(state, "zone") == ["swamp sprout"]
    assert look(all_done(state), "zone") == ["swamp sprout"]
    aridity = play(draft(["swamp bush", "wild bush"], zone=["swamp sprout"]), "draft 1")
    assert look(aridity, "zone") == ["swamp sprout"]


@pytest.mark.parametrize("kind", TYPES)
def test_placed_before_the_turns(kind: str) -> None:
    """Leftover: it is placed as soon as the last player picked, before any action, and not kept by anybody."""
    state = leave(f"{kind} small_tree")
    assert look(state, "decision") == "turn"
    assert look(state, "cards") == {"player_0": "wild lake"}
    assert [*look(state, "zone"), *look(state, "discards")] == [f"{kind} small_tree"]
    assert look(state, "collected") == []
