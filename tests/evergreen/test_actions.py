"""The four actions, and what planting and upgrading mean. Lines are as `check` reads them."""

from __future__ import annotations

import pytest

from tests.evergreen.play import BIOMES, PIECES, check, legal, play, rows, spaces, turn


@rows("""
    # Four actions: one is offered if it can do something; passing on everything is always possible.
    swamp bush | | | | plant3 both any power done |
    swamp bush | | s:c1 t:e1 T:a2 u:e4 l:d5 | | plant3 both any power done |
    swamp bush | | s:a5 | | plant3 grow2 both any power done |
    swamp bush | | t:a5 | | plant3 grow2 both any power done |
    swamp bush | | T:a5 | | plant3 both any power done |
    swamp bush | | s:W | | grow2 both any power done |
    swamp bush | | l:W | | any power done |
    swamp bush | | u:*-c1 t:c1 | | any power done |
    swamp bush | | T:* | | power done |
    swamp bush | | s:a5 | done | over |
    # Case 16; each player takes one action: once it is over, no other is offered.
    swamp bush | | t:b7 | plant3, a5, done | power done | s:a5
    swamp bush | | t:b7 | plant3, a5, b5, c5 | power done | s:a5,b5,c5
    meadow bush | | s:a3,b4 | grow2, a3, done | power done | t:a3
    swamp bush | | t:b7 | both, a5, done | power done | s:a5
    swamp bush | | | any, c1 | power done | s:c1
    swamp bush | | | any, c1, done | over | s:c1
    swamp bush | | | any, c1, power, d1 | over | s:c1 u:d1
    swamp bush | | | power, d1, any, c1 | over | s:c1 u:d1
    # Case 10; action 1: one, two or three sprouts, never four; it ends when the biome is full.
    swamp bush | | | plant3, a5 | W-a5 done | s:a5
    swamp bush | | | plant3, a5, c5 | b6 b7 c7 done | s:a5,c5
    swamp bush | | | plant3, a5, c5, done | power done | s:a5,c5
    swamp bush | | | plant3, a5, c5, b7 | power done | s:a5,c5,b7
    swamp bush | | u:W-b7,c7 | plant3, b7, c7 | power done | s:b7,c7
    swamp bush | | u:W-c7 | plant3 | power done | s:c7
    # Case 11, case 12, E2, E6; action 2; upgrading: one step each, two different spaces; "up to" two is assumed. Big
    # trees, bushes and lakes never grow.
    swamp bush | | s:a5,c1 t:b5,e1 T:c5 u:b6 l:b7 | grow2 | a5 b5 |
    swamp bush | | s:a5,c1 t:b5,e1 T:c5 u:b6 l:b7 | grow2, a5, b5 | power done | t:a5 T:b5
    swamp bush | | s:b5 | grow2 | power done | t:b5
    swamp bush | | t:b5 | grow2 | power done | T:b5
    swamp bush | | s:a5,b5,c7 | grow2, a5 | b5 c7 done | t:a5
    swamp bush | | t:a5,b5,c7 | grow2, a5 | b5 c7 done | T:a5
    swamp bush | | s:a5,b5,c7 | grow2, a5, c7 | power done | t:a5,c7
    swamp bush | | s:a5,b5 | grow2, a5, done | power done | t:a5
    # Case 13, case 14; action 3: a sprout and one upgrade of another, both in the biome; the new sprout stays one. In
    # the canonical order planting comes first, so nothing is planted after an upgrade.
    swamp bush | | s:c1 t:b4 | both | W |
    swamp bush | | s:c1 t:b4 | both, b5 | power done | s:b5
    swamp bush | | s:b5,c1 t:a4 | both | W |
    swamp bush | | s:b5,c1 t:a4 | both, a5 | b5 done | s:a5
    swamp bush | | s:b5,c1 t:a4 | both, c7, b5 | power done | s:c7 t:b5
    swamp bush | | t:b5 | both, c7, b5 | power done | s:c7 T:b5
    swamp bush | | t:b5 | both, a5, b5 | power done | s:a5 T:b5
    swamp bush | | t:b5 | both, a5, done | power done | s:a5
    swamp bush | | s:a5 t:b5 T:c5 u:b6 l:b7 | both, c7 | a5 b5 done | s:c7
    swamp bush | | s:a5,b5 | both, b5 | power done | t:b5
    swamp bush | | T:*-b5,c1 | both | power done | s:b5
    # Case 20, E1: only action 3 bars the sprout just planted, and only its own.
    swamp sprout | | | power, b5, grow2 | over | t:b5
    swamp sprout | | | power, b5, both, a5 | b5 done | s:a5,b5
    swamp sprout | | | power, b5, both, a5, b5 | over | s:a5 t:b5
    swamp small_tree | | | plant3, b5, done, power, b5 | over | t:b5
    swamp small_tree | | | both, b5, power, b5 | over | t:b5
    # Assumed: a wild card's action is in one biome of the player's choice, fixed by the first space.
    wild bush | | | plant3 | * |
    wild bush | | | plant3, a5 | W-a5 done | s:a5
    wild bush | | s:c1,d1,a5,c7 | grow2 | c1 d1 a5 c7 |
    wild bush | | s:c1,d1,a5,c7 | grow2, a5 | c7 done | t:a5
    wild bush | | s:c1,d1,a5,c7 | both, d5 | power done | s:d5
    wild bush | | s:c1,d1,a5,c7 | both, d3 | c1 d1 done | s:d3
""")
def test_actions_in_positions(row: str) -> None:
    """Case 10, 11, 12, 13, 14, 16, 20, E1, E2, E6: each line of the table is about the sentence above it."""
    check(row)


@pytest.mark.parametrize("biome", BIOMES)
def test_actions_in_the_biome_of_the_card(biome: str) -> None:
    """Case 10; actions 1 to 3 only in the card's biome, on its spaces that aren't ravines."""
    own = spaces(BIOMES[biome])
    assert (
        legal(play(turn(f"{biome} bush"), "plant three")) == legal(play(turn(f"{biome} bush"), "plant and grow")) == own
    )
    full = {space: "sprout" for names in BIOMES.values() for space in names.split()}
    assert legal(play(turn(f"{biome} bush", full), "grow two")) == own


@pytest.mark.parametrize("piece", PIECES)
def test_planting_in_empty_spaces(piece: str) -> None:
    """Case 10; planting only in an empty space, whatever stands on the others; never in a ravine."""
    check(f"swamp bush | | {piece}:a5,c7,a4 | plant3 | b5 c5 b6 b7 |")
    check(f"swamp bush | | {piece}:*-a5,c1,e7 u:c5,g6 | power | a5 c1 e7 done |")


@pytest.mark.parametrize("card", ["swamp bush", "wild bush", "snow bush"])
@pytest.mark.parametrize("change", ["t:c1", "T:e1", "t:a5", "T:b5", "s:c7", "s:f4"])
def test_action_4(card: str, change: str) -> None:
    """Case 15; action 4: plant one, upgrade a sprout or upgrade a small tree, in any biome, and no second space."""
    before = "s:a5,c1 t:b5,e1 T:c5,a2 u:b6,e4 l:b7,d5"
    check(f"{card} | | {before} | any | *-c5,a2,b6,e4,b7,d5 |")
    check(f"{card} | | {before} | any, {change[2:]} | power done | {change}")
