"""Flowers, Poteri dei giocatori: Gelo and Sole. player_0 has the power that is tested."""

from __future__ import annotations

import pytest

from petrichor_env.state import Cloud
from tests.rulebook.base_game import (
    FIELDS,
    asked,
    by_seat,
    cards,
    cloud,
    clouds,
    end_round,
    game,
    hand,
    last_turn,
    legal_names,
    on_tile,
    tile,
    tiles,
    votes_on,
    words,
)
from tests.rulebook.modules import (
    alone,
    holding,
    powers,
)
from tests.rulebook.southern_winds import cloud as solo_cloud
from tests.support.play import play

# --- Frost ---------------------------------------------------------------------------------------------------------


def test_frost_power_adds_a_second_drop() -> None:
    """Gelo: the player may add one more drop to the cloud created by a Frost action."""
    state = play(holding("frost", "frost"), "play frost", "tile b2")
    assert asked(state) == ("frost_power", 0)
    assert legal_names(state) == {"power", "decline"}
    both, one = play(state, "power"), play(state, "decline")
    assert clouds(both) == {"b2": ("light", 2, 0)}
    assert clouds(one) == {"b2": ("light", 1, 0)}
    assert (by_seat(both, "supply"), by_seat(one, "supply")) == ((18, 20), (19, 20))
    assert asked(both) == asked(one) == ("vote", 0)
    assert legal_names(both) == {"vote frost", "vote sun", "die 4"}


def test_frost_power_of_somebody_else() -> None:
    """Gelo: only its owner has it."""
    state = play(holding("sun", "frost", players=3), "play frost", "tile b2")
    assert asked(state) == ("vote", 0)
    assert clouds(state) == {"b2": ("light", 1, 0, 0)}
    state = play(last_turn(**powers("sun")), "play frost", "tile b2")
    assert asked(state) == ("frost_power", 1)


NINETEEN_OUT = {"b1": tile("wheat", (3, 1)), "b2": tile("grass", (9,)), "c1": tile(cloud=(7,))}
"""19 of player_0's drops: 3 on the growing wheat, 9 on grass, 7 in a cloud."""


def test_frost_power_with_two_drops_left() -> None:
    """Gelo: with two drops in the supply both may be placed."""
    field = {**NINETEEN_OUT, "b2": tile("grass", (8,))}
    state = play(holding("frost", "frost", field), "play frost", "tile a3", "power")
    assert cloud(state, "a3") == ("light", 2, 0)
    assert by_seat(state, "supply")[0] == 0


def test_frost_power_needs_a_second_drop_in_the_supply() -> None:
    """Gelo: the second drop comes only from the supply, so with one left the player isn't asked."""
    state = play(holding("frost", "frost", NINETEEN_OUT), "play frost", "tile a3")
    assert asked(state) == ("vote", 0)
    assert cloud(state, "a3") == ("light", 1, 0)
    assert (on_tile(state, "b1"), on_tile(state, "b2")) == ((3, 1), (9, 0))


def test_frost_power_with_an_empty_supply() -> None:
    """Gelo: with an empty supply one drop may come from a tile, as usual, but no second one."""
    state = play(holding("frost", "frost", {**NINETEEN_OUT, "b2": tile("grass", (10,))}), "play frost")
    assert "decline" in legal_names(state)
    state = play(state, "tile a3", "tile b2")
    assert asked(state) == ("vote", 0)
    assert cloud(state, "a3") == ("light", 1, 0)
    assert on_tile(state, "b2") == (9, 0)


def test_frost_power_in_the_optional_action_too() -> None:
    """Setup: powers can be used any number of times: in both actions of a turn, also for substituted cards."""
    state = holding("frost", "frost frost sun wind rain")
    state = play(state, "substitute frost", "card sun", "card wind", "tile b2", "power", "vote frost")
    state = play(state, "play frost", "tile b1", "power", "vote sun")
    assert clouds(state) == {"b2": ("light", 2, 0), "b1": ("light", 2, 0)}
    assert hand(state, 0) == ["rain"]


def test_frost_power_needs_a_new_cloud() -> None:
    """Gelo: without a free tile no cloud is created."""
    state = play(holding("frost", "frost", {name: tile(cloud=(0, 1)) for name in FIELDS[2]}), "play frost")
    assert asked(state) == ("vote", 0)


def test_frost_power_with_all_clouds_out() -> None:
    """Gioco in 5 giocatori: the drop goes into an existing cloud; Gelo: only a new cloud gets one more."""
    twelve = {name: tile(cloud=(0, 1)) for name in FIELDS[5][:12]}
    state = play(holding("frost", "frost", twelve, players=5), "play frost")
    assert asked(state) == ("frost_cloud", 0)
    state = play(state, "tile b2")
    assert asked(state) == ("vote", 0)
    assert cloud(state, "b2") == ("light", 1, 1, 0, 0, 0)


def test_frost_power_does_nothing_in_frost_weather() -> None:
    """Gelo: the power is for the Frost action only."""
    field = {"b2": tile(cloud=(1,))}
    state = end_round(votes={"frost": (1,), "rain": (1,)}, field=field, **powers("frost"))
    assert (on_tile(state, "b2"), clouds(state)) == ((1, 0), {})


def test_frost_power_in_solo() -> None:
    """Ruling 3.8: powers in solo."""
    state = alone("frost", hands={"player_0": {"frost": 2}})
    state = play(state, "play frost", "tile P2")
    assert asked(state) == ("frost_power", 0)
    assert solo_cloud(play(state, "power"), 2) == (Cloud.LIGHT, 2, 0)


# --- Sun -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("held", "options"),
    [
        ("frost", {"play frost", "substitute sun"}),
        ("sun", {"play sun"}),
        ("frost frost", {"play frost", "substitute sun", "substitute wind", "substitute rain"}),
        ("frost wind", {"play frost", "play wind", "substitute sun", "substitute rain"}),
        ("sun sun", {"play sun", "substitute frost", "substitute wind", "substitute rain"}),
        ("sun rain", {"play sun", "play rain", "substitute sun", "substitute frost", "substitute wind"}),
    ],
)
def test_sun_power_turn_options(held: str, options: set[str]) -> None:
    """Sole: any one card may be played as a Sun; other actions cost as much as usual."""
    assert legal_names(holding("sun", held)) == options | {"pass"}


@pytest.mark.parametrize("held", ["frost wind rain sun", "wind", "rain rain"])
def test_sun_power_plays_any_one_card_as_sun(held: str) -> None:
    """Sole: one card of any kind instead of two; the vote goes by the Sun action (Playing Cards)."""
    kinds = [kind for kind in ("frost", "wind", "rain") if kind in held.split()]
    state = play(holding("sun", held, {"b2": tile(cloud=(1, 1))}), "substitute sun")
    assert asked(state) == ("pay", 0)
    assert legal_names(state) == cards(*kinds)
    for kind in kinds:
        after = play(state, f"card {kind}")
        assert asked(after) == ("vote", 0), "the action had one cloud to go to"
        assert cloud(after, "b2") == ("thunder", 3, 1)
        assert legal_names(after) == {"vote sun", "vote wind", "die 4"}
        after = play(after, "vote wind")
        assert words(after["discards"]) == [kind]
        assert votes_on(after, "wind") == (1, 0)
        left = held.split()
        left.remove(kind)
        assert sorted(hand(after, 0)) == sorted(left)


def test_sun_power_is_not_needed_for_a_sun() -> None:
    """Sole: a Sun card needs no power."""
    state = play(holding("sun", "sun frost", {"b2": tile(cloud=(1,))}), "play sun")
    assert asked(state) == ("vote", 0)
    assert cloud(state, "b2") == ("light", 3, 0)
    assert hand(play(state, "vote sun"), 0) == ["frost"]


@pytest.mark.parametrize(
    ("held", "options"),
    [
        ("frost wind", {"substitute sun"}),
        ("frost frost", {"play frost", "substitute sun"}),
        ("sun frost", {"substitute sun"}),
        ("sun sun", {"play sun"}),
        ("frost frost wind", {"play frost", "substitute sun", "substitute wind"}),
        ("sun sun rain", {"play sun", "substitute sun", "substitute rain"}),
        ("frost wind rain", {f"substitute {kind}" for kind in ("frost", "sun", "wind", "rain")}),
    ],
)
def test_sun_power_optional_action(held: str, options: set[str]) -> None:
    """Sole; ruling 5.5: any two cards are two Suns for the optional action too; other kinds cost as usual."""
    state = play(holding("sun", f"wind {held}"), "play wind", "vote wind")
    assert asked(state) == ("optional_action", 0)
    assert legal_names(state) == options | {"decline"}


def test_sun_power_optional_action_with_any_two_cards() -> None:
    """Sole, optional action: two cards, one of which may be a Sun, are named one by one."""
    field = {"b2": tile(cloud=(1, 1))}
    state = play(holding("sun", "rain frost sun wind", field), "play rain", "drop b2 1st to the left", "vote rain")
    state = play(state, "substitute sun")
    assert asked(state) == ("pay", 0)
    assert legal_names(state) == cards("sun", "frost")
    two_others = play(state, "card frost")
    assert asked(two_others) == ("pay", 0)
    assert legal_names(two_others) == cards("wind")
    two_others = play(two_others, "card wind")
    assert cloud(two_others, "b2") == ("light", 3, 0)
    assert legal_names(two_others) == {"vote sun", "vote wind", "die 4"}
    assert hand(play(two_others, "vote sun"), 0) == ["sun"]
    with_a_sun = play(state, "card sun")
    assert asked(with_a_sun) == ("pay", 0)
    assert legal_names(with_a_sun) == cards("frost", "wind")
    with_a_sun = play(with_a_sun, "card wind", "vote sun")
    assert hand(with_a_sun, 0) == ["frost"]
    assert votes_on(with_a_sun, "sun") == (1, 0)


def test_sun_power_in_both_actions_of_a_turn() -> None:
    """Setup: powers can be used any number of times: three cards pay for two Sun actions."""
    state = play(
        holding("sun", "frost wind rain", {"b2": tile(cloud=(1,))}), "substitute sun", "card frost", "vote sun"
    )
    state = play(state, "substitute sun", "card wind", "card rain", "vote sun")
    assert cloud(state, "b2") == ("thunder", 5, 0)
    assert hand(state, 0) == []
    assert votes_on(state, "sun") == (2, 0)
    assert asked(state) == ("turn", 1)


def test_sun_power_in_the_last_turn() -> None:
    """Sole; Passing: the last turn after a pass is like any other, but without the optional action."""
    start = powers("wind", others=("sun",))
    state = last_turn(hands=("", "rain frost"), field={"b2": tile(cloud=(0, 1))}, **start)
    state = play(state, "substitute sun", "card rain")
    assert cloud(state, "b2") == ("light", 0, 3)
    assert asked(state) == ("vote", 1)


def test_sun_power_of_somebody_else() -> None:
    """Sole: only its owner has it."""
    assert legal_names(holding("frost", "frost")) == {"play frost", "pass"}
    assert legal_names(holding("frost", "frost sun")) == {
        *("play frost", "play sun", "substitute wind", "substitute rain", "pass")
    }


def test_sun_power_with_a_short_supply() -> None:
    """Sole; Sun action: it is a Sun action like any other: with a short supply drops may come from tiles."""
    state = play(
        holding("sun", "rain frost", {**NINETEEN_OUT, "a3": tile(cloud=(0, 1))}), "substitute sun", "card rain"
    )
    assert asked(state) == ("sun_cloud", 0)
    assert legal_names(state) == tiles("c1") | {"decline"}
    declined = play(state, "decline")
    assert asked(declined) == ("vote", 0)
    state = play(state, "tile c1", "tile b2")
    assert clouds(state) == {"a3": ("light", 0, 1)}, "7 + 2 drops overflow"
    assert on_tile(state, "c1") == (9, 0)


def test_sun_power_not_with_forecast_cards() -> None:
    """Uso delle carte Previsione: forecast cards can't be used for powers, so none can be played as a Sun."""
    start = powers("sun", modules=("forecasts",))
    state = game(hands=("sun", "frost"), forecasts={"player_0": [1, 2, 3]}, **start)
    assert legal_names(state) == {"play sun", "pass"}
    state = game(hands=("rain", "frost"), forecasts={"player_0": [1, 2, 3]}, **start)
    state = play(state, "substitute sun")
    assert legal_names(state) == cards("rain")
    state = play(
        game(hands=("wind rain", "frost"), forecasts={"player_0": [1, 2, 3]}, **start), "play wind", "vote wind"
    )
    assert asked(state) == ("turn", 1), "no optional action with one card and three forecast cards"


def test_sun_power_does_nothing_in_sun_weather() -> None:
    """Sole: the power is for cards; Sun weather doubles as usual."""
    state = end_round(votes={"sun": (1,), "wind": (1,)}, field={"b2": tile(cloud=(1,))}, **powers("sun"))
    assert clouds(state) == {"b2": ("light", 2, 0)}


def test_sun_power_in_solo() -> None:
    """Ruling 3.8: powers in solo."""
    state = alone("sun", {3: (1, 1)}, hands={"player_0": {"rain": 1}})
    state = play(state, "substitute sun")
    assert asked(state) == ("vote", 0), "the one card is no secret in solo, so it isn't asked for"
    assert solo_cloud(state, 3) == (Cloud.THUNDER, 3, 1)
