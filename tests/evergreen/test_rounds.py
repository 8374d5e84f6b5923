"""The game's rounds and seasons, and the order of events in a round."""

from __future__ import annotations

import pytest

from tests.evergreen import play as e
from tests.evergreen.play import all_done, asked, draft, levels, look, planet, play, points, scenario, scored, view


@pytest.mark.one_in(3)
@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_fourteen_rounds_in_four_seasons(players: int) -> None:
    """Case 1, case 2; first sentence, The Draft, End of Round: 14 rounds, seasons of 5, 4, 3 and 2 of them.

    Everybody has one big tree: 2 points of light and 1 of forest whenever a season is scored.
    """
    state = scenario({"players": players, "planets": {f"player_{seat}": {"a3": "big_tree"} for seat in range(players)}})
    for number in range(1, 15):
        assert (look(state, "round"), len(look(state, "market"))) == (number, players + 1)
        for left in range(players + 1, 1, -1):
            free = [slot for slot, card in enumerate(look(state, "market"), 1) if card is not None]
            assert (asked(state)[0], len(free)) == ("draft", left)
            state = play(state, f"draft {free[0]}")
        assert (asked(state)[0], look(state, "market")) == ("turn", [])
        state = all_done(state)
        seasons = [end <= number for end in (5, 9, 12, 14)].count(True)
        assert (scored(state, "light"), scored(state, "forest")) == ((2 * seasons,) * players, (seasons,) * players)
        assert number == 14 or look(state, "scored").get("fertility") is None
    assert asked(state) == ("game_over", None)


def test_a_round_from_draft_to_draft() -> None:
    """The Draft, actions, End of Round: pick, leftover, everybody's turn, then the draft of the next round."""
    state = play(draft(["swamp sprout", "snow buds", "rock small_tree"], first_player="player_1"), "draft 3", "draft 1")
    assert look(state, "cards") == {"player_0": "swamp sprout", "player_1": "rock small_tree"}
    assert (asked(state), look(state, "zone")) == (("turn", 1), ["snow buds"])
    state = play(state, "plant three", "space e1", "space g3", "done")
    assert (asked(state), look(state, "finished")) == (("turn", 0), ["player_1"])
    state = play(state, "power", "space c1", "anywhere", "space e7")
    assert (planet(state), planet(state, 1)) == ({"c1": "sprout", "e7": "sprout"}, {"e1": "sprout", "g3": "sprout"})
    assert (levels(state), levels(state, 1)) == ({"sprout": 1}, {})
    assert (look(state, "round"), look(state, "cards"), look(state, "finished")) == (2, {}, [])
    assert look(state, "collected") == ["rock small_tree", "swamp sprout"]


@pytest.mark.parametrize(("players", "first"), [(2, 1), (3, 2), (4, 0), (4, 2)])
def test_clockwise_from_the_first_player(players: int, first: int) -> None:
    """The Draft; specification b3: the first player picks first, then the others clockwise; turns go the same way."""
    market = ["snow bush", "rock bush", "wild bush", "grain bush", "meadow bush"][: players + 1]
    state = draft(market, first_player=f"player_{first}")
    for decision in ("draft", "turn"):
        for step in range(players):
            assert asked(state) == (decision, (first + step) % players)
            state = play(state, f"draft {step + 1}" if decision == "draft" else "done")


def test_simultaneous_turns() -> None:
    """After the draft: all act at the same time, so nobody sees what another does before everybody is done."""
    start = e.turn("swamp buds", {"a5": "sprout"}, cards={"player_0": "swamp buds", "player_1": "snow lake"})
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
