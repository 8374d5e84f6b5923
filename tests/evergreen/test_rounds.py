"""The game's rounds and seasons, and what happens in a round in which order."""

from __future__ import annotations

import pytest

from tests.evergreen.play import (
    all_done,
    asked,
    draft,
    levels,
    look,
    planet,
    play,
    points,
    scenario,
    scored,
    turn,
    view,
)

PLAYERS = pytest.mark.parametrize("players", [1, 2, 3, 4])


@PLAYERS
def test_fourteen_rounds_in_four_seasons(players: int) -> None:
    """Case 1, case 2; first sentence, The Draft, End of Round: 14 rounds, seasons of 5, 4, 3 and 2 of them.

    Everybody has one big tree: 2 points of light and 1 of forest whenever a season is scored.
    """
    planets = {f"player_{seat}": {"a3": "big_tree"} for seat in range(players)}
    state = scenario({"players": players, "planets": planets})
    seasons = {}
    for number in range(1, 15):
        assert look(state, "round") == number
        for picked in range(players):
            assert asked(state)[0] == "draft"
            assert [card is not None for card in look(state, "market")].count(True) == players + 1 - picked
            slot = next(slot for slot, card in enumerate(look(state, "market"), 1) if card is not None)
            state = play(state, f"draft {slot}")
        assert asked(state)[0] == "turn"
        assert look(state, "market") == []
        before = scored(state, "light")
        state = all_done(state)
        if scored(state, "light") != before:
            seasons[number] = scored(state, "light"), scored(state, "forest")
        assert (scored(state, "fertility") != (0,) * players) <= (number == 14)
    assert seasons == {
        number: ((2 * season,) * players, (season,) * players) for season, number in enumerate((5, 9, 12, 14), start=1)
    }
    assert asked(state) == ("game_over", None)


@pytest.mark.parametrize("number", [1, 4, 6, 8, 10, 11, 13])
def test_no_scoring_inside_a_season(number: int) -> None:
    """Case 1; End of Round: after any other round the next draft begins at once."""
    state = all_done(turn("swamp bush", {"a3": "big_tree"}, round=number))
    assert points(state) == (0, 0)
    assert look(state, "scored") == {}
    assert (look(state, "round"), asked(state)) == (number + 1, ("draft", 0))


@pytest.mark.parametrize(("players", "first"), [(2, 1), (3, 2), (4, 0), (4, 2)])
def test_clockwise_from_the_first_player(players: int, first: int) -> None:
    """The Draft; specification b3: the first player picks first, then the others clockwise; turns go the same way."""
    state = draft([f"wild {power}" for power in WILD[: players + 1]], first_player=f"player_{first}")
    order = [(first + step) % players for step in range(players)]
    seats = []
    for slot in range(1, players + 1):
        decision, seat = asked(state)
        assert decision == "draft"
        seats.append(seat)
        state = play(state, f"draft {slot}")
    assert seats == order
    seats = []
    for _ in range(players):
        decision, seat = asked(state)
        assert decision == "turn"
        seats.append(seat)
        state = play(state, "done")
    assert seats == order


WILD = ("sprout", "small_tree", "big_tree", "bush", "lake")


def test_a_round_from_draft_to_draft() -> None:
    """The Draft, actions, End of Round: pick, leftover, everybody's turn, then the draft of the next round."""
    state = draft(["swamp sprout", "snow buds", "rock small_tree"])
    state = play(state, "draft 1", "draft 3")
    assert look(state, "cards") == {"player_0": "swamp sprout", "player_1": "rock small_tree"}
    assert look(state, "zone") == ["snow buds"]
    state = play(state, "power", "space c1", "anywhere", "space e7")
    assert planet(state) == {"c1": "sprout", "e7": "sprout"}
    assert (asked(state), look(state, "finished")) == (("turn", 1), ["player_0"])
    state = play(state, "plant three", "space e1", "space g3")
    assert asked(state) == ("turn", 1)
    state = play(state, "done")
    assert planet(state, 1) == {"e1": "sprout", "g3": "sprout"}
    assert levels(state) == {"sprout": 1} and levels(state, 1) == {}
    assert (look(state, "round"), look(state, "cards"), look(state, "finished")) == (2, {}, [])
    assert look(state, "collected") == ["rock small_tree", "swamp sprout"]


def test_simultaneous_turns() -> None:
    """After the draft: all act at the same time, so nobody sees what another does before everybody is done."""
    start = turn("swamp buds", {"a5": "sprout"}, cards={"player_0": "swamp buds", "player_1": "snow lake"})
    passed, busy = play(start, "done"), play(start, "power", "grow two")
    assert planet(busy) == {"a5": "small_tree"}
    assert look(busy, "shown") == {"planets": look(start, "planets"), "levels": {}}
    assert (points(busy), look(busy, "earned")) == ((0, 0), {"player_0": 1})
    assert asked(passed) == asked(busy) == ("turn", 1)
    assert view(passed, 1) == view(busy, 1)
    assert view(passed, 0) != view(busy, 0)
    after = play(busy, "done")
    assert look(after, "shown") == {"planets": look(after, "planets"), "levels": {"player_0": {"buds": 1}}}
    assert (points(after), scored(after, "buds"), look(after, "earned")) == ((1, 0), (1, 0), {})


def test_planets_are_separate() -> None:
    """Actions: what one player plants, grows and places is on their own planet only."""
    state = turn("swamp bush", planets={"player_0": {"a5": "sprout"}, "player_1": {"a5": "lake"}})
    state = play(state, "grow two", "power", "space b5")
    assert planet(state, 0) == {"a5": "small_tree", "b5": "bush"}
    assert planet(state, 1) == {"a5": "lake"}
