"""Setup, chance, and the edge cases of the specification that no chapter of the rules holds."""

from __future__ import annotations

import random

import pytest

from tests.evergreen.play import (
    BIOMES,
    CARDS,
    EVERYWHERE,
    all_done,
    asked,
    but,
    described,
    draft,
    flowers_of,
    fresh,
    leave,
    legal,
    levels,
    look,
    planet,
    play,
    points,
    rest,
    same,
    scenario,
    scored,
    spaces,
    turn,
)

PLAYERS = pytest.mark.parametrize("players", [1, 2, 3, 4])
SKULLS = {"meadow buds", "flowers sprout", "grain small_tree", "rock big_tree", "swamp bush", "snow lake"}
BLANKS = {"meadow lake", "flowers buds", "grain sprout", "rock small_tree", "swamp big_tree", "snow bush"}


@PLAYERS
def test_setup(players: int) -> None:
    """Specification b2: five flowers or one more in the zone, face up; nothing on planets; a random first player."""
    firsts = set()
    for seed in range(20):
        state = fresh(players, seed)
        zone = look(state, "zone")
        assert flowers_of(zone) in (5, 6) and flowers_of(zone[:-1]) < 5
        assert not {*zone} & (SKULLS | BLANKS) and not any(card.startswith("wild") for card in zone)
        assert (look(state, "round"), look(state, "discards"), look(state, "collected")) == (1, [], [])
        assert not any(planet(state, seat) or levels(state, seat) for seat in range(players))
        assert look(state, "marked") is None
        first = int(look(state, "first_player").removeprefix("player_"))
        assert asked(state) == ("draft", first)
        assert points(state) == tuple((seat - first) % players for seat in range(players))
        assert sorted([*zone, *look(state, "market"), *look(state, "deck")]) == sorted(CARDS)
        firsts.add(first)
    assert firsts == set(range(players))


def test_seeds() -> None:
    """The same seed gives the same game, other seeds other games."""
    markets = [tuple(look(fresh(2, seed), "market")) for seed in range(10)]
    assert markets == [tuple(look(fresh(2, seed), "market")) for seed in range(10)]
    assert len({*markets}) > 1


def test_the_deck_runs_out() -> None:
    """E19, E20: the discards become the deck; cards of this season and of the zone stay where they are."""
    collected = ["meadow bush", "rock bush", "snow bush", "wild buds"]
    zone = ["swamp lake", "swamp sprout (face down)", "swamp bush"]
    cards = {f"player_{seat}": f"flowers {power}" for seat, power in enumerate(("sprout", "bush", "lake", "buds"))}
    discards = rest(*collected, *cards.values(), "swamp lake", "swamp sprout", "swamp bush", "wild lake", "wild bush")
    state = turn(
        "",
        players=4,
        round=8,
        cards=cards,
        collected=collected,
        zone=zone,
        deck=["wild bush", "wild lake"],
        discards=discards,
    )
    state = all_done(state)
    market = look(state, "market")
    assert {"wild lake", "wild bush"} < {*market}
    drawn = {*market} - {"wild lake", "wild bush"}
    assert len(drawn) == 3 and drawn < {*discards}
    assert look(state, "deck") == [card for card in discards if card not in drawn]
    assert (look(state, "discards"), look(state, "zone")) == ([], zone)
    assert {*look(state, "collected")} == {*collected, *cards.values()}


def test_a_leftover_can_come_back() -> None:
    """E17: a discarded leftover is in the next deck."""
    state = leave("wild bush", deck=[], discards=rest("wild bush", "wild lake"))
    assert "wild bush" in look(state, "discards")
    state = all_done(state)
    assert "wild bush" in [*look(state, "deck"), *look(state, "market")]
    assert look(state, "discards") == []


def test_pieces_stay() -> None:
    """E9: with bushes, lakes and big trees everywhere else, nothing is offered on them by any power or action."""
    before = {**same("bush", BIOMES["swamp"]), **same("lake", BIOMES["snow"]), **same("big_tree", BIOMES["grain"])}
    free = but(EVERYWHERE, *before)
    for power in ("sprout", "bush", "lake"):
        state = turn(f"rock {power}", before)
        assert legal(play(state, "anywhere")) == spaces(free)
        assert legal(play(state, "power")) == spaces(free) | {"done"}


@pytest.mark.parametrize("power", ["sprout", "small_tree", "big_tree", "bush", "lake"])
def test_many_pieces(power: str) -> None:
    """E12: with 35 pieces of a kind on the planet there is still one more."""
    target = {"small_tree": {"c7": "sprout"}, "big_tree": {"c7": "small_tree"}}.get(power, {})
    state = play(turn(f"snow {power}", {**same(power, but(EVERYWHERE, "c7")), **target}), "power")
    assert legal(state) == spaces("c7") | {"done"}
    assert planet(play(state, "space c7")) == same(power, EVERYWHERE)


def test_a_game_alone() -> None:
    """E24: 14 rounds of one player, one of two cards, and a single place."""
    state = fresh(1, 5)
    for number in range(1, 15):
        assert (look(state, "round"), legal(state)) == (number, {"draft 1", "draft 2"})
        state = all_done(play(state, "draft 2"))
    assert asked(state) == ("game_over", None)


@PLAYERS
@pytest.mark.parametrize("seed", [0, 1])
def test_random_games(players: int, seed: int) -> None:
    """At every decision of a random game: two answers or more, 42 cards, and points that add up."""
    chance = random.Random(seed)
    state = fresh(players, seed)
    while asked(state)[0] != "game_over":
        found = described(state)
        assert len(legal(state)) > 1
        market = [card for card in found["market"] if card]
        cards = [*market, *found["cards"].values(), *found["deck"], *found["discards"], *found["collected"]]
        cards += [card.removesuffix(" (face down)") for card in found["zone"]]
        assert sorted(cards) == sorted(CARDS)
        sources = [scored(state, source) for source in ("start", "buds", "light", "forest", "fertility")]
        assert points(state) == tuple(map(sum, zip(*sources, strict=True)))
        state = play(state, chance.choice(sorted(legal(state))))
    assert (look(state, "round"), look(state, "collected"), look(state, "cards")) == (14, [], {})


def test_descriptions_come_back() -> None:
    """A scenario's description describes it, in a draft and in a turn."""
    for state in (fresh(3, 2), draft(["wild sprout", "wild bush", "wild lake"]), turn("swamp bush", {"a5": "sprout"})):
        again = scenario(described(state))
        assert described(again) == described(state)
        assert legal(again) == legal(state)
