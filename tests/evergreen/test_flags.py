"""Overlays: the other values of each flag, other planets and other cards. Defaults are tested by the rule's chapter."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evergreen_env import Config, describe, drawing, scenario
from evergreen_env.actions import ACTIONS
from evergreen_env.component_files import load_tables
from tabletop_engine.errors import ScenarioError
from tests.evergreen import play as e
from tests.evergreen.play import BIOMES, all_done, fertile, fertility, fresh, leave, legal, look, play, scored, turn


def flags(**values: Any) -> dict[str, Any]:
    return {f"flags.{name}": value for name, value in values.items()}


def test_season_rounds() -> None:
    """Two rounds a season: scored after 2, 4, 6, 8, the sun going round; then the game is over."""
    overlay = flags(season_rounds=[2, 2, 2, 2])
    trees: e.Planet = {"c4": "big_tree", "c5": "small_tree"}
    state = e.draft(["wild sprout", "wild bush"], components=overlay, planets={"player_0": trees})
    found = []
    while look(state, "decision") != "game_over":
        number = look(state, "round")
        state = all_done(play(state, "draft 1", components=overlay), overlay)
        found.append((number, scored(state, "light")[0], scored(state, "forest")[0]))
    assert found == [(1, 0, 0), (2, 2, 2), (3, 2, 2), (4, 5, 4), (5, 5, 4), (6, 8, 6), (7, 8, 6), (8, 11, 8)]


@pytest.mark.parametrize("start_points", [[0, 1, 2, 3], [5, 3, 1, 0]])
@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_start_points(players: int, start_points: list[int]) -> None:
    """Points at the start, from the first player clockwise."""
    for seed in range(4):
        state = fresh(players, seed, flags(start_points=start_points))
        first = int(look(state, "first_player").removeprefix("player_"))
        expected = tuple(start_points[(seat - first) % players] for seat in range(players))
        assert e.points(state) == scored(state, "start") == expected


@pytest.mark.parametrize("wanted", [1, 2, 5, 9])
def test_setup_flowers(wanted: int) -> None:
    """Cards are revealed until so many flowers are there, and no longer."""
    for seed in range(10):
        zone = look(fresh(2, seed, flags(setup_flowers=wanted)), "zone")
        assert e.flowers_of(zone) >= wanted > e.flowers_of(zone[:-1])


@pytest.mark.parametrize(("start", "turned"), [("north", 0), ("east", 1), ("south", 2), ("west", 3)])
def test_sun_start(start: str, turned: int) -> None:
    """Where the sun is in spring; it moves clockwise from there. The golden position's light by season."""
    found = [scored(e.season(e.GOLDEN, usual, components=flags(sun_start=start)), "light")[0] for usual in e.LINES]
    assert found == [*[10, 15, 9, 12][turned:], *[10, 15, 9, 12][:turned]]


@pytest.mark.parametrize(("reshuffle", "gone"), [("when_empty", ["grain sprout", "rock bush"]), ("each_season", [])])
def test_reshuffle(reshuffle: str, gone: list[str]) -> None:
    """With each_season the discards, the season's cards among them, are in the deck again before the next deal."""
    given: dict[str, Any] = {"components": flags(reshuffle=reshuffle), "players": 1, "discards": ["grain sprout"]}
    state = all_done(turn("rock bush", round=5, zone=["swamp lake"], **given), given["components"])
    assert look(state, "discards") == gone
    assert sorted([*look(state, "deck"), *look(state, "market")]) == sorted(e.rest("swamp lake", *gone))
    assert look(all_done(turn("rock bush", round=4, **given), given["components"]), "discards") == ["grain sprout"]


@e.rows("""
    partial_actions=false | swamp bush | | | plant3 | a5 b5 c5 b6 |
    partial_actions=false | swamp bush | | | plant3, b5 | c5 b6 b7 | s:b5
    partial_actions=false | swamp bush | | | plant3, b5, b7 | power done | s:b5,b7,c7
    partial_actions=false | swamp bush | | l:W-b7,c7 | plant3 | power done | s:b7,c7
    partial_actions=false | swamp bush | | s:a5 | grow2 | power done | t:a5
    partial_actions=false | swamp bush | | s:a5,b6,c7 | grow2 | a5 b6 |
    partial_actions=false | swamp bush | | s:a5,b6,c7 | grow2, a5 | b6 c7 | t:a5
    partial_actions=false | swamp bush | | s:a5,b6,c7 | grow2, a5, c7 | power done | t:a5,c7
    partial_actions=false | swamp bush | | s:a5,b6 | both | b5 c5 b7 c7 |
    partial_actions=false | swamp bush | | s:a5,b6 | both, c7 | a5 b6 | s:c7
    partial_actions=false | swamp bush | | s:W | both | W |
    partial_actions=false | swamp bush | | s:W | both, b6 | power done | t:b6
    partial_actions=false | swamp bush | | | both, b6 | power done | s:b6
    partial_actions=false | swamp bush | | | power | * done |
    voluntary_pass=false | swamp bush | | | | plant3 both any power |
    voluntary_pass=false | swamp bush | | | any, c1 | power done | s:c1
    voluntary_pass=false | swamp bush | | | power, done | plant3 both any |
    voluntary_pass=false | swamp bush | | l:* | | power done |
    voluntary_pass=false | swamp bush | | l:* | power | over |
    canonical_sets=false | swamp bush | | | plant3, c7 | W-c7 done | s:c7
    canonical_sets=false | swamp bush | | s:a5,b5,c7 | grow2, c7 | a5 b5 done | t:c7
    canonical_sets=false | swamp bush | | s:a5,c7 | both, b6 | a5 c7 done | s:b6
    canonical_sets=false | swamp bush | | s:a5,c7 | both, c7 | b5 c5 b6 b7 done | t:c7
    canonical_sets=false | swamp bush | | t:b5 | both, b5, a5 | power done | T:b5 s:a5
    canonical_sets=false | swamp sprout | sprout=1 | | power, c7 | *-c7 done | s:c7
    canonical_sets=false | swamp bush | bush=1 | | power, c7 | *-c7 done | u:c7
    canonical_sets=false | swamp small_tree | small_tree=1 | s:a5,b5,c7 | power, c7 | a5 b5 done | t:c7
    canonical_sets=false | swamp lake | | s:b4,a5,c5 | power, b5, c5 | b4 a5 done | l:b5 t:c5
    canonical_sets=true | swamp bush | | | plant3, c5 | b6 b7 c7 done | s:c5
    canonical_sets=true | swamp bush | | s:a5,b5,c7 | grow2, b5 | c7 done | t:b5
    canonical_sets=true | swamp sprout | sprout=1 | | power, c5 | d5,e5,g5,b6,d6,e6,f6,g6,b7,c7,d7,e7 done | s:c5
    canonical_sets=true | swamp bush | bush=1 | | power, g6 | b7 c7 d7 e7 done | u:g6
    canonical_sets=true | swamp small_tree | small_tree=1 | s:a5,b5,c7 | power, b5 | c7 done | t:b5
    canonical_sets=true | swamp big_tree | big_tree=1 | t:a5,b5,c7 | power, b5 | c7 done | T:b5
    wild_biome="anywhere" | wild bush | | | plant3, c1 | *-c1 done | s:c1
    wild_biome="anywhere" | wild bush | | s:c1,a5 | grow2, c1 | a5 done | t:c1
    wild_biome="anywhere" | wild bush | | s:c1,a5 | both, e1 | c1 a5 done | s:e1
    wild_biome="anywhere" | swamp bush | | | plant3 | W |
    lake_growth="mandatory" | swamp lake | | s:b4,a5,c5 | power, b5 | b4 a5 | l:b5
    lake_growth="mandatory" | swamp lake | | s:b4,a5,c5 | power, b5, b4 | a5 c5 | l:b5 t:b4
    lake_growth="mandatory" | swamp lake | | s:b4 t:c5 T:a5 | power, b5 | plant3 both any done | l:b5 t:b4 T:c5
    lake_growth="mandatory" | swamp lake | | t:c5 | power, b5 | plant3 both any done | l:b5 T:c5
    lake_growth="mandatory" | swamp lake | | u:a5 | power, b5 | plant3 both any done | l:b5
    ravine_allows=["bush"] | swamp bush | | | power | * # done |
    ravine_allows=["bush"] | swamp bush | | | power, d4 | plant3 both any done | u:d4
    ravine_allows=["bush"] | swamp lake | | | power | * done |
    ravine_allows=["lake"] | swamp bush | | | power | * done |
    ravine_allows=["lake"] | swamp lake | | | power | * # done |
    ravine_allows=["lake"] | swamp lake | | | power, d4 | plant3 both any done | l:d4
    ravine_allows=["bush","lake"] | swamp bush | | | power | * # done |
    ravine_allows=["bush","lake"] | swamp lake | | | power | * # done |
    ravine_allows=["bush","lake"] | swamp sprout | | | power | * done |
    ravine_allows=["bush","lake"] | swamp bush | | | any | * |
    supply=[1,9,9,9,9] | swamp bush | | | plant3, a5 | power done | s:a5
    supply=[1,9,9,9,9] | swamp bush | | s:c1 | | any power done |
    supply=[1,9,9,9,9] | swamp bush | | s:c1 | any | power done | t:c1
    supply=[9,1,9,9,9] | swamp bush | | s:a5,b5 t:c1 | | plant3 both any power done |
    supply=[9,1,9,9,9] | swamp bush | | s:a5,b5 | grow2, a5 | power done | t:a5
    supply=[9,9,1,9,9] | swamp big_tree | | t:a5,b5 T:c1 | power | plant3 both any done |
    supply=[9,9,9,2,9] | swamp bush | | u:c1 | power | *-c1 done |
    supply=[9,9,9,1,9] | swamp bush | | u:c1 | power | plant3 both any done |
    supply=[9,9,9,9,1] | swamp lake | | l:c1 | power | plant3 both any done |
    # b6 gives back the one small tree, so a5 may follow it; without that it could not grow in this action at all
    supply=[9,1,9,9,9] | swamp buds | | s:a5,c7 t:b6 | grow2 | a5 c7 done | T:b6
    supply=[9,1,9,9,9] | swamp buds | | s:a5,c7 t:b6 | grow2, a5 | power done | T:b6 t:a5
    supply=[9,2,9,9,9] | swamp buds | | s:a5,c7 t:b6 | grow2, b6 | c7 done | T:b6
    supply=[9,1,9,9,9] | swamp lake | | s:b4 t:a5 | power, b5 | a5 done | l:b5
    supply=[9,1,9,9,9] | swamp lake | | s:b4 t:a5 | power, b5, a5 | b4 done | l:b5 T:a5
    supply=[9,1,9,9,9] | swamp lake | | s:b4 t:a5 | power, b5, a5, b4 | plant3 both any done | l:b5 T:a5 t:b4
    supply=[1,9,9,9,9] | swamp buds | | s:a5 | both | b5 c5 b6 b7 c7 done | t:a5
    supply=[1,9,9,9,9] | swamp buds | | s:a5 | both, c7 | power done | t:a5 s:c7
    supply=[2,9,9,9,9] | swamp buds | | s:a5 | both, a5 | power done | t:a5
""")
def test_in_a_turn(row: str) -> None:
    """E4, E5, E8, E12, E15: what each flag makes legal.

    partial_actions=false: the whole action, or as much as the biome allows; powers may still be stopped.
    voluntary_pass=false: no end of the turn while an action is possible; the power stays free.
    canonical_sets=false: any order, but no space twice and no growth of action 3's own sprout; true: reading order.
    wild_biome: "anywhere" mixes biomes, for wild cards only. lake_growth="mandatory": as many as can grow, up to two.
    ravine_allows: what is placed there; nothing is ever planted there. supply: pieces of each kind on the planet; a
    space that becomes possible only by an earlier answer may follow it against the reading order.
    """
    flag, case = row.split(" | ", 1)
    name, value = flag.split("=", 1)
    e.check(case, flags(**{name: json.loads(value)}))


@pytest.mark.parametrize(("cap", "before", "after"), [(2, 1, 2), (2, 2, 2), (1, 1, 1), (14, 2, 3), ("none", 2, 3)])
def test_power_cap(cap: int | str, before: int, after: int) -> None:
    """E11: the level never rises above the cap; the power is used that many times."""
    state = e.check(f"swamp buds | buds={before} | | power | plant3 both any done |", flags(power_cap=cap))
    assert (e.levels(state), look(state, "earned")) == ({"buds": after}, {"player_0": after})


@pytest.mark.parametrize("cap", ["none", 2])
@pytest.mark.parametrize(("value", "points"), [("once", (1, 3, 6)), ("each_use", (1, 5, 14))])
def test_buds_points(value: str, points: tuple[int, ...], cap: int | str) -> None:
    """Power 6 brings the level once (1 + 2 + 3), or at each use; a power of level 3 is used three times, so 3 x 3.

    The observation, the story and the lesson say the same. With a cap of 2 the third time brings what the second did.
    """
    overlay = flags(buds_points=value, power_cap=cap)
    if cap == 2:
        points = (*points[:2], 2 * points[1] - points[0])
    buds = [f"{kind} buds" for kind in e.TYPES]
    state = e.draft(buds[:2], components=overlay, deck=buds[2:], discards=e.rest(*buds))
    tables = load_tables(overlay)
    for before, after in zip((0, *points[:2]), points, strict=True):
        state = e.pick(state, next(card for card in look(state, "market") if card), overlay)
        level = min(e.levels(state).get("buds", 0) + 1, 2 if cap == 2 else 14)
        word = "point" if after - before == 1 else "points"
        lesson = " ".join(drawing.lesson(Config(1, overlay), state, tables).text)
        assert f"reach level {level} and bring {after - before} {word}." in lesson
        told = drawing.events(state, ACTIONS["power"], 0, tables)
        assert told[0] == f"player_0 has the power buds at level {level} and gets {after - before} {word}."
        state = play(state, "power", components=overlay)
        assert look(state, "earned") == {"player_0": after - before}
        assert scenario(describe(state, overlay), overlay).tobytes() == state.tobytes()
        state = all_done(state, overlay)
        assert (e.points(state), scored(state, "buds")) == ((after,), (after,))


def test_earned_points_that_no_buds_bring() -> None:
    """A level of 3 brings 3 points once, or 9 in three uses."""
    given: dict[str, Any] = {"levels": {"player_0": {"buds": 3}}, "shown": {"levels": {"player_0": {"buds": 2}}}}
    for value, right, wrong in (("once", 3, 9), ("each_use", 9, 3)):
        given |= {"components": flags(buds_points=value), "pending": {"power_open": False}}
        assert look(turn("swamp buds", earned={"player_0": right}, **given), "earned") == {"player_0": right}
        with pytest.raises(ScenarioError, match=f"can't have earned {wrong} points"):
            turn("swamp buds", earned={"player_0": wrong}, **given)


@pytest.mark.parametrize(("value", "nobody"), [("first_stays", 1), ("next_player", 2)])
def test_marked_card_left(value: str, nobody: int) -> None:
    """P11: who is first after a round in which nobody took the marked card.

    Whoever takes it is first in either case.
    """
    overlay = flags(marked_card_left=value)
    market = ("wild sprout", "wild small_tree", "wild big_tree", "wild bush")
    start = e.draft(market, first_player="player_1", components=overlay)
    assert [start.round, start.first_player] == [1, 1]
    for picks, begins in (((1, 3, 4), nobody), ((1, 2, 3), 2), ((1, 3, 2), 0)):
        state = play(start, *(f"draft {slot}" for slot in picks), components=overlay)
        assert (look(state, "first_player"), e.asked(state)) == ("player_1", ("turn", 1)), "this round's order stays"
        state = all_done(state, overlay)
        assert (look(state, "first_player"), e.asked(state)) == (f"player_{begins}", ("draft", begins))
    state = e.draft(market, first_player="player_2", components=overlay)
    state = all_done(play(state, "draft 2", "draft 3", "draft 4", components=overlay), overlay)
    assert look(state, "first_player") == ("player_2" if value == "first_stays" else "player_0"), "round the table"


@pytest.mark.parametrize("value", ["first_stays", "next_player"])
def test_marked_card_left_elsewhere(value: str) -> None:
    """Round 1 has the player that was drawn; one player is always first; the last round's order decides ties."""
    overlay = flags(marked_card_left=value)
    for players in (1, 2, 3, 4):
        assert look(fresh(players, 5, overlay), "first_player") == look(fresh(players, 5), "first_player")
    state = all_done(play(fresh(1, 0, overlay), "draft 1", components=overlay), overlay)
    assert look(state, "first_player") == "player_0"
    given = {"round": 14, "first_player": "player_1", **e.points_before(7, 7)}
    state = e.draft(["wild sprout", "wild bush", "wild lake"], components=overlay, **given)
    state = all_done(play(state, "draft 1", "draft 3", components=overlay), overlay)
    assert (e.points(state), e.places(state, overlay), look(state, "first_player")) == ((7, 7), (2, 1), "player_1")


def test_supply_of_each_player() -> None:
    """E12: what others have on their planets takes nothing away."""
    overlay = flags(supply=[1, 9, 9, 9, 9])
    state = turn("swamp bush", components=overlay, planets={"player_1": {"a5": "sprout"}})
    assert legal(play(state, "plant three", components=overlay)) == e.spaces(BIOMES["swamp"])


WILD_ICONS = {"deck.wild": [2, 0, 1, "skull", 0, 0]}


@pytest.mark.parametrize(("value", "worth"), [("discard", 0), ("all_biomes", 2), ("own_pile", 0)])
def test_wild_icons(value: str, worth: int) -> None:
    """E17: where a wild leftover goes, for which biomes its flowers count, and what a wild aridity flips."""
    overlay = {**flags(wild_fertility=value), **WILD_ICONS}
    state = leave("wild sprout", components=overlay)
    kept = ["wild sprout"] if value != "discard" else []
    assert (look(state, "zone"), look(state, "discards")) == (kept, [] if kept else ["wild sprout"])
    assert fertility([], "wild sprout", overlay) == dict.fromkeys(BIOMES, worth)
    assert look(leave("wild buds", components=overlay), "discards") == ["wild buds"]
    aridity = ["wild bush"] if kept else []
    assert look(leave("wild bush", ["swamp lake"], components=overlay), "zone") == ["swamp lake", *aridity]
    if kept:
        zone = ["wild sprout", "wild big_tree", "swamp lake"]
        after = ["wild sprout", "wild big_tree (face down)", "swamp lake", "wild bush"]
        assert look(leave("wild bush", zone, components=overlay), "zone") == after
        assert fertility(zone, "wild bush", overlay) == {**dict.fromkeys(BIOMES, worth), "swamp": 2 + worth}
        assert look(leave("swamp bush", kept, components=overlay), "zone") == ["wild sprout", "swamp bush"]


@pytest.mark.parametrize("value", ["discard", "all_biomes", "own_pile"])
def test_wild_flowers_at_setup(value: str) -> None:
    """Wild cards with flowers that setup reveals count towards the five only if they stay in the zone."""
    overlay = {**flags(wild_fertility=value), "deck.wild": [2] * 6}
    zones = [look(fresh(1, seed, overlay), "zone") for seed in range(12)]
    for zone in zones:
        values = [2 if card.startswith("wild") else e.flowers_of([card]) for card in zone]
        assert sum(values) >= 5 > sum(values[:-1])
    assert any(card.startswith("wild") for zone in zones for card in zone) == (value != "discard")


MORE_SKULLS = {"deck.swamp": [1, 1, "skull", "two skulls", 2, "skull"]}


@pytest.mark.parametrize(("target", "face"), [("last_flower", " (face down)"), ("top_card", "")])
def test_aridity_target(target: str, face: str) -> None:
    """E15: after a first aridity the second flips the next older flowers, or nothing if only the top card can flip."""
    overlay = {**flags(aridity_target=target), **MORE_SKULLS}
    first = ["swamp sprout", "swamp lake (face down)", "swamp buds"]
    assert look(leave("swamp buds", ["swamp sprout", "swamp lake"], components=overlay), "zone") == first
    after = [f"swamp sprout{face}", *first[1:], "swamp big_tree"]
    assert look(leave("swamp big_tree", first, components=overlay), "zone") == after


@pytest.mark.parametrize(("counts", "value", "face"), [(False, 3, ""), (True, 1, " (face down)")])
def test_two_skulls(counts: bool, value: int, face: str) -> None:
    """E16: a card with two skulls flips one card, or two if the number matters."""
    overlay = {**flags(skull_count_matters=counts), **MORE_SKULLS}
    zone = ["swamp sprout", "swamp lake", "swamp small_tree"]
    assert fertility(zone, "swamp bush", overlay) == fertile(swamp=value)
    after = ["swamp sprout", f"swamp lake{face}", "swamp small_tree (face down)", "swamp bush"]
    assert look(leave("swamp bush", zone, components=overlay), "zone") == after


@pytest.mark.parametrize(("value", "face"), [("no_effect", ""), ("pending", " (face down)")])
def test_aridity_empty(value: str, face: str) -> None:
    """E14: an aridity that finds no flowers does nothing, or waits for the next flowers of its biome, once."""
    overlay = flags(aridity_empty=value)
    used = ["wild sprout", "swamp bush", "swamp lake", "wild bush", "snow buds"]
    given: dict[str, Any] = {"deck": used[2:4], "discards": e.rest(*used), "zone": ["snow buds"]}
    state = e.draft(used[:2], components=overlay, **given)
    state = all_done(e.pick(state, "wild sprout", overlay), overlay)
    assert look(state, "zone") == ["snow buds", "swamp bush"]
    zone = ["snow buds", "swamp bush", f"swamp lake{face}"]
    assert look(e.pick(state, "wild bush", overlay), "zone") == zone
    assert look(leave("swamp sprout", zone, components=overlay), "zone") == [*zone, "swamp sprout"]
    assert fertility(zone, "swamp sprout", overlay) == fertile(snow=2, swamp=1 if face else 3)


def test_another_planet() -> None:
    """board.rows: the biomes, ravines and lines of another planet; the names of spaces follow."""
    overlay = {"board.rows": ["MMF.", "M##F", "GWWR", "NNRR"]}
    state = turn("meadow bush", components=overlay)
    assert legal(play(state, "plant three", components=overlay)) == e.spaces("a1 b1 a2")
    everywhere = e.spaces("a1 b1 c1 a2 d2 a3 b3 c3 d3 a4 b4 c4 d4")
    assert legal(play(state, "anywhere", components=overlay)) == everywhere
    for sun in ("north", "east"):
        state = e.season(e.standing("T:b1,b3,c1,c3,a4"), sun, components=overlay)
        assert (scored(state, "light"), scored(state, "forest")) == ((6,), (2,))


def test_another_deck() -> None:
    """deck.*: other icons and missing cards, which are nowhere in the game."""
    overlay = {"deck.meadow": [0, 3, 1, 1, "skull", "missing"]}
    assert fertility([], "meadow small_tree", overlay) == fertile(meadow=3)
    assert look(leave("meadow sprout", components=overlay), "discards") == ["meadow sprout"]
    state = fresh(2, components=overlay)
    cards = [card for pile in ("deck", "market", "zone", "discards") for card in look(state, pile)]
    assert sorted(cards) == sorted(e.rest("meadow buds"))
