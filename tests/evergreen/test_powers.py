"""Powers: when they are used, their level, and what each of the six does. Lines are as `check` reads them."""

from __future__ import annotations

import pytest

from tests.evergreen import play as e
from tests.evergreen.play import POWERS, TYPES, all_done, asked, check, levels, look, play, points, rows, scored, turn


@rows("""
    # Case 17; powers before or after actions: what was begun is finished first.
    swamp bush | | | plant3, a5 | W-a5 done | s:a5
    swamp bush | | | plant3, a5, done | power done | s:a5
    swamp bush | | | plant3, a5, done, power, c1 | over | s:a5 u:c1
    swamp bush | bush=1 | s:a5 | power | *-a5 done |
    swamp bush | bush=1 | s:a5 | power, c1 | *-a5,c1 done | u:c1
    swamp bush | bush=1 | s:a5 | power, c1, d1 | plant3 grow2 both any done | u:c1,d1
    swamp bush | bush=1 | s:a5 | power, c1, done | plant3 grow2 both any done | u:c1
    swamp bush | bush=1 | s:a5 | power, c1, d1, plant3, b5, done | over | u:c1,d1 s:b5
    # Case 21, E3: what grew is no longer what the power grows.
    swamp small_tree | small_tree=4 | s:a5 | power, a5 | plant3 grow2 both any done | t:a5
    swamp big_tree | big_tree=4 | t:a5 | power, a5 | plant3 both any done | T:a5
    # Case 22, E4, E5, E6, E7; power 5: two orthogonal neighbours, of any biome, grow one step; none grows twice.
    # Diagonal neighbours, big trees, bushes, lakes, empty spaces and ravines are not offered; declining is assumed.
    wild lake | | s:b4,a5,c4,a3 t:c5,a4 | power, b5 | b4 a5 c5 done | l:b5
    wild lake | | s:b4,a5,c4,a3 t:c5,a4 | power, b5, b4 | a5 c5 done | l:b5 t:b4
    wild lake | | s:b4,a5,c4,a3 t:c5,a4 | power, b5, b4, c5 | plant3 grow2 both any done | l:b5 t:b4 T:c5
    wild lake | | s:b4,a5,c4,a3 t:c5,a4 | power, b5, b4, a5 | plant3 grow2 both any done | l:b5 t:b4,a5
    wild lake | | s:b4,a5,c4,a3 t:c5,a4 | power, b5, a5 | c5 done | l:b5 t:a5
    wild lake | | s:b4,a5 | power, b5, b4, done | plant3 grow2 both any done | l:b5 t:b4
    wild lake | | s:b4,a5 | power, b5, done | plant3 grow2 both any done | l:b5
    swamp lake | | T:b4 u:a5 l:c5 | power, b5 | plant3 both any done | l:b5
    swamp lake | | T:b4 s:a5 | power, b5 | a5 done | l:b5
    grain lake | | | power, e6 | plant3 both any done | l:e6
    # Power 5, E3: each lake's growth comes before the next lake; a tree beside two lakes may grow twice.
    snow lake | lake=1 | s:b5 | power, c5 | b5 done | l:c5
    snow lake | lake=1 | s:b5 | power, c5, b5 | *-c5,b5 done | l:c5 t:b5
    snow lake | lake=1 | s:b5 | power, c5, b5, a5 | b5 done | l:c5,a5 t:b5
    snow lake | lake=1 | s:b5 | power, c5, b5, a5, b5 | plant3 both any done | l:c5,a5 T:b5
""")
def test_powers_in_positions(row: str) -> None:
    """Case 17, 21, 22, E3, E4, E5, E6, E7: each line of the table is about the sentence above it."""
    check(row)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("power", POWERS)
def test_every_card_has_its_power(kind: str, power: str) -> None:
    """Each card's power can be used, once in a turn; only its own level rises. Or it is left unused."""
    start = turn(f"{kind} {power}", {"a5": "sprout", "b5": "small_tree"}, levels={"player_0": {"bush": 3}})
    state = play(start, "power", *(["done"] if power != "buds" else []))
    assert levels(state) == ({"bush": 3, power: 1} if power != "bush" else {"bush": 4})
    assert asked(state) == ("turn", 0)
    assert asked(play(state, "anywhere", "space c1")) == ("turn", 1)
    assert levels(all_done(start)) == {"bush": 3}


@pytest.mark.parametrize("uses", [0, 1, 2, 3])
def test_the_level_rises_first(uses: int) -> None:
    """Case 18; when a power is played: level 2 becomes 3, then at most 3 uses; using fewer changes no level."""
    used = ["c1", "d1", "e1"][:uses]
    stop = ["done"] if uses < 3 else []
    change = f"u:{','.join(used)}" if used else ""
    state = check(f"swamp bush | bush=2 | | {', '.join(['power', *used, *stop])} | plant3 both any done | {change}")
    assert levels(state) == {"bush": 3}


@rows("""
    swamp sprout | sprout=1 | | power, c1, g6 | plant3 both any done | s:c1,g6
    swamp small_tree | small_tree=1 | s:c1,g6,e7 | power, c1, g6 | plant3 both any done | t:c1,g6
    swamp big_tree | big_tree=1 | t:c1,g6,e7 | power, c1, g6 | plant3 both any done | T:c1,g6
    swamp bush | bush=1 | | power, c1, g6 | plant3 both any done | u:c1,g6
    swamp lake | lake=1 | | power, g6, c1 | plant3 both any done | l:c1,g6
    swamp sprout | sprout=1 | l:* | power | over |
    swamp small_tree | | t:* | power | grow2 both any done |
    swamp big_tree | big_tree=1 | s:* | power | grow2 both any done |
    swamp bush | bush=1 | T:* | power | over |
    swamp lake | lake=1 | u:* | power | over |
""")
def test_as_many_uses_as_the_level(row: str) -> None:
    """Case 18, E10; when a power is played: level 1 becomes 2, so two uses, or none; the level rises all the same."""
    power = row.split()[1]
    assert levels(check(row)) == {power: 2 if "=1" in row else 1}


@pytest.mark.parametrize("kind", ["swamp", "rock", "wild"])
@pytest.mark.parametrize(
    ("power", "places", "changed"),
    [
        ("sprout", "*-a5,b5,c5,b6,b7,c1,d1,f2", "s:f4"),
        ("bush", "*-a5,b5,c5,b6,b7,c1,d1,f2", "u:f4"),
        ("lake", "*-a5,b5,c5,b6,b7,c1,d1,f2", "l:f4"),
        ("small_tree", "a5 c1", "t:c1"),
        ("big_tree", "b5 d1", "T:d1"),
    ],
)
def test_in_any_space(kind: str, power: str, places: str, changed: str) -> None:
    """Case 19, case 21, E8; powers in any space: all biomes but no ravines. Powers 1 to 5: what they work on."""
    before = "s:a5,c1 t:b5,d1 T:c5 u:b6 l:b7,f2"
    check(f"{kind} {power} | | {before} | power | {places} done |")
    menu = "plant3 grow2 both any" if kind != "rock" else "plant3 both any"
    check(f"{kind} {power} | | {before} | power, {changed[2:]} | {menu} done | {changed}")


@pytest.mark.parametrize("before", [0, 1, 2, 13])
def test_buds(before: int) -> None:
    """Power 6, E11: as many points as the level of buds, and no other level; no level is the highest."""
    known = {"buds": before} if before else {}
    state = play(turn("swamp buds", levels={"player_0": {**known, "bush": 5}}), "power")
    assert (look(state, "earned"), levels(state)) == ({"player_0": before + 1}, {"buds": before + 1, "bush": 5})
    state = all_done(state)
    assert (points(state), scored(state, "buds"), look(state, "earned")) == ((before + 1, 0), (before + 1, 0), {})


def test_buds_in_three_rounds() -> None:
    """Case 23: levels 1, 2 and 3 give 1 + 2 + 3 points."""
    buds = [f"{kind} buds" for kind in TYPES]
    state = e.draft(buds[:2], deck=buds[2:], discards=e.rest(*buds))
    for total in (1, 3, 6):
        state = all_done(play(e.pick(state, next(card for card in look(state, "market") if card)), "power"))
        assert (points(state), scored(state, "buds")) == ((total,), (total,))
