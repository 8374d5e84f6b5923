"""Setup, chance, and the edge cases of the specification that no chapter of the rules holds."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.evergreen import play as e
from tests.evergreen.play import CARDS, all_done, asked, check, described, flowers_of, fresh, leave, legal, look, play
from tests.support.effort import games

PLAYERS = pytest.mark.parametrize("players", [1, 2, 3, 4])
SKULLS = {"meadow buds", "flowers sprout", "grain small_tree", "rock big_tree", "swamp bush", "snow lake"}
BLANKS = {"meadow lake", "flowers buds", "grain sprout", "rock small_tree", "swamp big_tree", "snow bush"}


@PLAYERS
def test_setup(players: int) -> None:
    """Specification b2: five flowers or one more in the zone, face up; nothing on planets; a random first player."""
    firsts, markets = set(), set()
    for seed in range(20):
        state = fresh(players, seed)
        zone = look(state, "zone")
        assert flowers_of(zone) in (5, 6) and flowers_of(zone[:-1]) < 5
        assert not {*zone} & (SKULLS | BLANKS) and not any(card.startswith("wild") for card in zone)
        assert (look(state, "round"), look(state, "discards"), look(state, "collected")) == (1, [], [])
        assert not any(e.planet(state, seat) or e.levels(state, seat) for seat in range(players))
        first = int(look(state, "first_player").removeprefix("player_"))
        assert asked(state) == ("draft", first)
        assert e.points(state) == tuple((seat - first) % players for seat in range(players))
        assert sorted([*zone, *look(state, "market"), *look(state, "deck")]) == sorted(CARDS)
        assert described(fresh(players, seed)) == described(state)
        firsts.add(first)
        markets.add(tuple(look(state, "market")))
    assert firsts == set(range(players)) and len(markets) > 1


def test_the_deck_runs_out() -> None:
    """E19, E20: the discards become the deck; cards of this season and of the zone stay where they are."""
    collected = ["meadow bush", "rock bush", "snow bush", "wild buds"]
    zone = ["swamp lake", "swamp sprout (face down)", "swamp bush"]
    cards = {f"player_{seat}": f"flowers {power}" for seat, power in enumerate(("sprout", "bush", "lake", "buds"))}
    last = ["wild bush", "wild lake"]
    given: dict[str, Any] = {"zone": zone, "collected": collected, "deck": last}
    discards = e.rest(*collected, *cards.values(), "swamp lake", "swamp sprout", "swamp bush", *last)
    state = all_done(e.turn("", players=4, round=8, cards=cards, discards=discards, **given))
    drawn = {*look(state, "market")} - {*last}
    assert len(drawn) == 3 and drawn < {*discards}
    assert look(state, "deck") == [card for card in discards if card not in drawn]
    assert (look(state, "discards"), look(state, "zone")) == ([], zone)
    assert {*look(state, "collected")} == {*collected, *cards.values()}


def test_a_leftover_can_come_back() -> None:
    """E17: a discarded leftover is in the next deck."""
    state = leave("wild bush", deck=[], discards=e.rest("wild bush", "wild lake"))
    assert "wild bush" in look(state, "discards")
    state = all_done(state)
    assert "wild bush" in [*look(state, "deck"), *look(state, "market")] and look(state, "discards") == []


@pytest.mark.parametrize("case", ["sprout | s", "small_tree | t", "big_tree | T", "bush | u", "lake | l"])
def test_pieces_stay_and_never_run_out(case: str) -> None:
    """E9, E12: nothing is placed on a piece; with 35 pieces of a kind on the planet, one more can be placed."""
    power, piece = case.split(" | ")
    last = {"t": "s:c7", "T": "t:c7"}.get(piece, "")
    check(f"snow {power} | | {piece}:*-c7 {last} | power | c7 done |")


def test_a_game_alone() -> None:
    """E24: 14 rounds of one player, one of two cards, and a single place."""
    state = fresh(1, 5)
    for number in range(1, 15):
        assert (look(state, "round"), legal(state)) == (number, {"draft 1", "draft 2"})
        state = all_done(play(state, "draft 2"))
    assert (asked(state), e.places(state)) == (("game_over", None), (1,))


@pytest.mark.one_in(3)
@PLAYERS
@pytest.mark.parametrize("seed", range(games(1, 2)))
def test_random_games(players: int, seed: int) -> None:
    """At every decision: two answers or more, 42 cards, points that add up; now and then a description comes back."""
    chance = random.Random(seed)
    state = fresh(players, seed)
    while (found := described(state))["decision"] != "game_over":
        options = legal(state)
        assert len(options) > 1
        cards = [*found["cards"].values(), *found["deck"], *found["discards"], *found["collected"]]
        cards += [card.removesuffix(" (face down)") for card in [*found["zone"], *found["market"]] if card]
        assert sorted(cards) == sorted(CARDS)
        sources = ("start", "buds", "light", "forest", "fertility")
        for seat in (f"player_{seat}" for seat in range(players)):
            points = [found["scored"].get(source, {}).get(seat, 0) for source in sources]
            assert sum(points) == found["points"][seat]
        if chance.random() < 0.1:
            again = e.scenario(found)
            assert (described(again), legal(again)) == (found, options)
        state = play(state, chance.choice(sorted(options)))
    assert (look(state, "round"), look(state, "collected"), look(state, "cards")) == (14, [], {})
