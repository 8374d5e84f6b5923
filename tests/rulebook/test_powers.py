"""Flowers, Poteri dei giocatori: player powers. player_0 has the power that is tested."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from petrichor_env import Batch, Config, scenario
from petrichor_env.batch import legal_actions
from petrichor_env.config import POWERS
from petrichor_env.errors import ConfigError
from petrichor_env.observation import BLOCKS
from petrichor_env.state import POWER_NAMES, TILE_NAMES, Cloud, Crop, Phase, Power, State
from tests.play import play
from tests.rulebook.base_game import (
    FIELDS,
    NEXT,
    Numbers,
    asked,
    by_seat,
    cards,
    cloud,
    clouds,
    end_round,
    game,
    growing,
    hand,
    last_turn,
    legal_names,
    moves,
    on_tile,
    over,
    tile,
    tiles,
    votes_on,
    words,
)
from tests.rulebook.modules import block, blooms, controller, neighbours, random_play, relative, with_pods
from tests.rulebook.southern_winds import NEUTRAL, act, solo, tile_drops
from tests.rulebook.southern_winds import cloud as solo_cloud

POWERS_MODULE = ("powers",)


def powers(first: str, players: int = 2, modules: tuple[str, ...] = (), others: tuple[str, ...] = ()) -> dict[str, Any]:
    """A scenario's keys: player_0 has the power, the other players others."""
    rest = others or tuple(power for power in POWERS if power != first)[: players - 1]
    return {"modules": ["powers", *modules], "powers": [first, *rest]}


def holding(power: str, hand: str, field: dict[str, Any] | None = None, players: int = 2, **changes: Any) -> State:
    """player_0's turn with these cards and this power."""
    modules = changes.pop("modules", ())
    hands = (hand, *("frost frost",) * 4)
    return game(players, hands=hands, field=field, **powers(power, players, modules), **changes)


def alone(power: str, clouds: dict[int, tuple[int, int]] | None = None, **changes: Any) -> State:
    """Your turn in a solo game with this power; clouds as in `solo`."""
    return solo(clouds, decision="turn", modules=["powers"], powers=[power], **changes)


def begun(config: Config, games: int, seed: int = 0) -> np.ndarray:
    """States of games whose setup is over: everybody has taken the first legal action."""
    batch = Batch(config, games, seed=seed)
    while (batch.states["phase"] == Phase.SETUP).any():
        batch.step([int(legal_actions(state)[0]) for state in batch.states])
    return batch.states.copy()


# --- Setup ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_everybody_gets_a_different_random_power(players: int) -> None:
    """Setup: every player takes one at random after the base game's setup: any, all different; none before."""
    config = Config(players=players, modules=POWERS_MODULE)
    assert not Batch(config, 1).states["power"].any()
    states = begun(config, 300, seed=1)
    dealt = states["power"][:, :players]
    assert (np.sort(dealt, axis=1)[:, 1:] > np.sort(dealt, axis=1)[:, :-1]).all()
    for seat in range(players):
        counts = Counter(dealt[:, seat].tolist())
        assert set(counts) == {Power.FROST, Power.SUN, Power.WIND, Power.RAIN, Power.HARVEST}
        assert min(counts.values()) > 30
    assert not states["power"][:, players:].any()


def test_five_players_have_all_five_powers() -> None:
    """Componenti: five power cards."""
    states = begun(Config(players=5, modules=POWERS_MODULE), 20)
    assert (np.sort(states["power"], axis=1) == [1, 2, 3, 4, 5]).all()


@pytest.mark.parametrize("chosen", [("wind", "harvest"), ("sun", "frost", "rain"), POWERS[::-1]])
def test_chosen_powers(chosen: tuple[str, ...]) -> None:
    """Config(powers=...): one for each seat, in every game, from the start."""
    batch = Batch(Config(players=len(chosen), modules=POWERS_MODULE, powers=chosen), 20, seed=2)
    wanted = [POWER_NAMES.index(name) for name in chosen]
    assert (batch.states["power"][:, : len(chosen)] == wanted).all()
    states = begun(Config(players=len(chosen), modules=POWERS_MODULE, powers=chosen), 20, seed=2)
    assert (states["power"][:, : len(chosen)] == wanted).all()


@pytest.mark.parametrize("modules", [(), ("flower_tiles",), ("forecasts",)])
def test_no_powers_without_the_module(modules: tuple[str, ...]) -> None:
    """Flowers: a module of its own (ruling 5.9)."""
    assert not begun(Config(players=3, modules=modules), 20)["power"].any()


def test_solo_powers() -> None:
    """Ruling 3.8: powers are allowed in solo; the neutral player has none."""
    states = begun(Config(players=1, modules=POWERS_MODULE), 200, seed=3)
    assert set(states["power"][:, 0]) == {Power.FROST, Power.SUN, Power.WIND, Power.RAIN, Power.HARVEST}
    assert (states["power"][:, NEUTRAL] == Power.NONE).all()
    chosen = Batch(Config(players=1, modules=POWERS_MODULE, powers=("rain",)), 5).states["power"]
    assert (chosen[:, :2] == [Power.RAIN, Power.NONE]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"players": 2, "powers": ("sun", "wind")}, "modules"),
        ({"players": 2, "modules": ("flower_tiles",), "powers": ("sun", "wind")}, "modules"),
        ({"players": 3, "modules": POWERS_MODULE, "powers": ("sun", "wind")}, "one for each of 3"),
        ({"players": 2, "modules": POWERS_MODULE, "powers": ("sun", "wind", "rain")}, "one for each of 2"),
        ({"players": 1, "modules": POWERS_MODULE, "powers": ("sun", "wind")}, "one for each of 1"),
        ({"players": 2, "modules": POWERS_MODULE, "powers": ("sun", "sun")}, "at most once"),
        ({"players": 2, "modules": POWERS_MODULE, "powers": ("sun", "fog")}, "'fog'"),
        ({"players": 2, "modules": POWERS_MODULE, "powers": ("sun", "none")}, "'none'"),
        ({"players": 2, "modules": POWERS_MODULE, "powers": ("sun", 3)}, "3"),
        ({"players": 1, "modules": POWERS_MODULE, "powers": "sun"}, "sequence"),
        ({"players": 2, "modules": POWERS_MODULE, "powers": 5}, "sequence"),
        ({"players": 2, "modules": "powers"}, "sequence"),
        ({"players": 2, "modules": ("power",)}, "'power'"),
        ({"players": 2, "modules": ("powers", "powers")}, "at most once"),
    ],
)
def test_chosen_powers_are_checked(arguments: dict[str, Any], message: str) -> None:
    """Config: powers need their module, one for each player, all different."""
    with pytest.raises(ConfigError, match=message):
        Config(**arguments)


def test_powers_are_visible_to_all() -> None:
    """Setup: powers lie in front of their owners for everybody to see: the views differ by seat order only."""
    chosen = ("rain", "frost", "harvest", "sun")
    batch = Batch(Config(players=4, modules=POWERS_MODULE, powers=chosen), 1, seed=4)
    block = BLOCKS["powers"]
    views = [batch.observe(seat)[0][block.slice].reshape(block.shape) for seat in range(4)]
    assert views[0].any()
    for seat, view in enumerate(views):
        seats = [(seat + distance) % 4 for distance in range(4)]
        own = np.array([views[0][other] for other in seats])
        assert np.array_equal(view[:4], own)
    assert len({row.tobytes() for row in views[0][:4]}) == 4
    other = Batch(Config(players=4, modules=POWERS_MODULE, powers=("rain", "frost", "sun", "harvest")), 1, seed=4)
    assert not np.array_equal(other.observe(0)[0][block.slice], batch.observe(0)[0][block.slice])


def test_powers_stay_for_the_whole_game() -> None:
    """Setup: the powers are there for the whole game."""
    votes = {"frost": (1, 1), "rain": (1, 1)}
    state = end_round(votes=votes, round=2, **powers("wind"))
    assert state["round"] == 3
    assert state["power"][:2].tolist() == [Power.WIND, Power.FROST]


@pytest.mark.parametrize("changes", [{"drafting": True}, {"rounds": 6}, {"modules": ("fertilizer", "powers")}])
def test_powers_are_dealt_whatever_else_is_played(changes: dict[str, Any]) -> None:
    """Flowers: in any combination; the powers come last in setup."""
    states = begun(Config(**{"players": 3, "modules": POWERS_MODULE, **changes}), 30)
    assert (np.sort(states["power"][:, :3], axis=1)[:, 0] > 0).all()


def test_dealt_powers_are_visible_to_all() -> None:
    """Setup: those dealt at random too, once they are dealt; the neutral player shows none."""
    for players in (1, 5):
        state = begun(Config(players=players, modules=POWERS_MODULE), 1, seed=5)[0]
        for seat in range(players):
            seen = np.reshape(block(state, seat, "powers"), BLOCKS["powers"].shape)
            for distance in range(5):
                power = int(state["power"][(seat + distance) % players]) if distance < players else 0
                assert seen[distance].tolist() == [float(power == 1 + column) for column in range(5)]


def test_powers_that_were_dealt() -> None:
    """Scenario: powers dealt at random, not chosen."""
    state = scenario({"players": 2, "modules": ["powers"], "power": {"player_0": "harvest", "player_1": "sun"}})
    assert state["power"].tolist()[:2] == [Power.HARVEST, Power.SUN]
    assert not state["chosen_power"].any()


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
    """Gelo: with two drops in the supply both may go."""
    field = {**NINETEEN_OUT, "b2": tile("grass", (8,))}
    state = play(holding("frost", "frost", field), "play frost", "tile a3", "power")
    assert cloud(state, "a3") == ("light", 2, 0)
    assert by_seat(state, "supply")[0] == 0


def test_frost_power_needs_a_second_drop_in_the_supply() -> None:
    """Gelo: the second drop comes from the supply only, so with one left it isn't asked."""
    state = play(holding("frost", "frost", NINETEEN_OUT), "play frost", "tile a3")
    assert asked(state) == ("vote", 0)
    assert cloud(state, "a3") == ("light", 1, 0)
    assert (on_tile(state, "b1"), on_tile(state, "b2")) == ((3, 1), (9, 0))


def test_frost_power_with_an_empty_supply() -> None:
    """Gelo: with an empty supply one drop from a tile, as ever; no second one."""
    state = play(holding("frost", "frost", {**NINETEEN_OUT, "b2": tile("grass", (10,))}), "play frost")
    assert "decline" in legal_names(state)
    state = play(state, "tile a3", "tile b2")
    assert asked(state) == ("vote", 0)
    assert cloud(state, "a3") == ("light", 1, 0)
    assert on_tile(state, "b2") == (9, 0)


def test_frost_power_in_the_optional_action_too() -> None:
    """Setup: powers can be used any number of times: in both actions of a turn, and for substituted cards."""
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
    """Gioco in 5 giocatori: the drop goes into a cloud that is there; Gelo: one more for a created cloud only."""
    twelve = {name: tile(cloud=(0, 1)) for name in FIELDS[5][:12]}
    state = play(holding("frost", "frost", twelve, players=5), "play frost")
    assert asked(state) == ("frost_cloud", 0)
    state = play(state, "tile b2")
    assert asked(state) == ("vote", 0)
    assert cloud(state, "b2") == ("light", 1, 1, 0, 0, 0)


def test_frost_power_does_nothing_in_frost_weather() -> None:
    """Gelo: it is for the Frost action."""
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
    """Sole: any one card may be played as a Sun; other actions cost what they cost."""
    assert legal_names(holding("sun", held)) == options | {"pass"}


@pytest.mark.parametrize("held", ["frost wind rain sun", "wind", "rain rain"])
def test_sun_power_plays_any_one_card_as_sun(held: str) -> None:
    """Sole: one card of any kind instead of two; the vote is the Sun's (Playing Cards)."""
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
    """Sole: a Sun card is a Sun."""
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
    """Sole: usable for the optional action too: any two cards are two Suns (ruling 5.5); other kinds as ever."""
    state = play(holding("sun", f"wind {held}"), "play wind", "vote wind")
    assert asked(state) == ("optional_action", 0)
    assert legal_names(state) == options | {"decline"}


def test_sun_power_optional_action_with_any_two_cards() -> None:
    """Sole, optional action: two cards, of which one may be a Sun; they are named one by one."""
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
    """Setup: any number of times: three cards are two Sun actions."""
    state = play(
        holding("sun", "frost wind rain", {"b2": tile(cloud=(1,))}), "substitute sun", "card frost", "vote sun"
    )
    state = play(state, "substitute sun", "card wind", "card rain", "vote sun")
    assert cloud(state, "b2") == ("thunder", 5, 0)
    assert hand(state, 0) == []
    assert votes_on(state, "sun") == (2, 0)
    assert asked(state) == ("turn", 1)


def test_sun_power_in_the_last_turn() -> None:
    """Sole; Passing: the turn after somebody passed is a turn like any other, without the optional action."""
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
    """Sole; Sun action: it is a Sun action like any other: drops from tiles for a short supply, optionally."""
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
    """Uso delle carte Previsione: forecast cards can't be used for powers: they are no cards to play as a Sun."""
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
    """Sole: it is for cards; Sun weather doubles as ever."""
    state = end_round(votes={"sun": (1,), "wind": (1,)}, field={"b2": tile(cloud=(1,))}, **powers("sun"))
    assert clouds(state) == {"b2": ("light", 2, 0)}


def test_sun_power_in_solo() -> None:
    """Ruling 3.8: powers in solo."""
    state = alone("sun", {3: (1, 1)}, hands={"player_0": {"rain": 1}})
    state = play(state, "substitute sun")
    assert asked(state) == ("vote", 0), "the one card is no secret in solo, so it isn't asked for"
    assert solo_cloud(state, 3) == (Cloud.THUNDER, 3, 1)


# --- Wind ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_wind_power_moves_a_cloud_to_any_tile(players: int) -> None:
    """Vento: a player's clouds may move more than one space, orthogonally: so to any other tile, also the next one."""
    state = play(holding("wind", "wind", {"b2": tile(cloud=(2, 1))}, players), "play wind")
    assert asked(state) == ("wind_tile", 0)
    assert legal_names(state) == tiles(*FIELDS[players]) - {"tile b2"}
    for name in FIELDS[players]:
        if name != "b2":
            after = play(state, f"tile {name}")
            assert clouds(after) == {name: ("light", 2, 1, *(0,) * (players - 2))}
            assert asked(after) == ("vote", 0)
            assert legal_names(after) == {"vote wind", "vote rain", "die 4"}


def test_wind_power_chooses_the_cloud_first() -> None:
    """Vento: one of the clouds with an own drop, as ever."""
    field = {"b1": tile(cloud=(1,)), "a2": tile(cloud=(0, 3)), "b3": tile(cloud=(1, 3))}
    state = play(holding("wind", "wind", field), "play wind")
    assert asked(state) == ("wind_cloud", 0)
    assert legal_names(state) == tiles("b1", "b3")
    state = play(state, "tile b3")
    assert asked(state) == ("wind_tile", 0)
    assert legal_names(state) == tiles("b1", "c1", "a2", "b2", "c2", "a3")


def test_wind_power_passes_over_clouds() -> None:
    """Vento: the cloud may pass through other clouds: with one above every neighbour it merges with none of them."""
    field = {name: tile(cloud=(0, 4)) for name in ("b1", "a2", "c2")} | {"b3": tile(cloud=(0, 2))}
    state = play(holding("wind", "wind", {**field, "b2": tile(cloud=(3, 1))}), "play wind", "tile c1")
    around = dict.fromkeys(("b1", "a2", "c2"), ("thunder", 0, 4))
    assert clouds(state) == {**around, "b3": ("light", 0, 2), "c1": ("thunder", 3, 1)}
    assert not any(any(on_tile(state, name)) for name in FIELDS[2])


def test_wind_power_merges_at_the_end() -> None:
    """Vento: it merges on the tile where the movement ends only."""
    field = {"b1": tile(cloud=(1,)), "b2": tile(cloud=(0, 1)), "b3": tile(cloud=(0, 2))}
    state = play(holding("wind", "wind", field), "play wind", "tile b3")
    assert clouds(state) == {"b2": ("light", 0, 1), "b3": ("thunder", 1, 2)}


def test_wind_power_overflows_at_the_end() -> None:
    """Vento: it overflows on the tile where the movement ends only."""
    field = {"b1": tile(cloud=(4,)), "b2": tile(cloud=(0, 7)), "b3": tile("rice", cloud=(0, 4))}
    state = play(holding("wind", "wind", field), "play wind", "tile b3")
    assert clouds(state) == {"b2": ("thunder", 0, 7)}
    assert on_tile(state, "b3") == (4, 4)
    assert growing(state, "b3") == "sprouting"


def test_wind_power_overflows_onto_flowers() -> None:
    """Vento; Primula, Bucaneve: what pours at the end waters the Primrose, and goes back from the closed Snowdrop."""
    field = {
        "b1": tile(cloud=(5, 1)),
        "b3": tile("primrose", (0, 1), cloud=(0, 2)),
        "c2": tile("snowdrop", blooms=0, cloud=(0, 2)),
        "b2": tile(cloud=(0, 5)),
    }
    start = holding("wind", "wind", field, modules=("flower_tiles",))
    state = play(start, "play wind", "tile b3")
    assert (controller(state), on_tile(state, "b3"), by_seat(state, "points")) == (0, (5, 0), (2, 0))
    assert clouds(state) == {"c2": ("light", 0, 2), "b2": ("thunder", 0, 5)}
    state = play(start, "play wind", "tile c2")
    assert on_tile(state, "c2") == (0, 0)
    assert by_seat(state, "supply") == (20, 20 - 1 - 2 - 5)


def test_wind_power_in_the_optional_action_too() -> None:
    """Setup: any number of times."""
    state = holding("wind", "wind wind wind", {"b1": tile(cloud=(1,))})
    state = play(state, "play wind", "tile b3", "vote wind", "play wind")
    assert asked(state) == ("wind_tile", 0)
    assert clouds(play(state, "tile c1")) == {"c1": ("light", 1, 0)}


def test_wind_power_onto_the_lake() -> None:
    """The Lake: a cloud moved onto it takes three own drops of the mover; ruling 4.3: or what the supply has."""
    field = {"c1": tile("lake"), "b3": tile(cloud=(1, 1)), "c2": tile(cloud=(0, 1))}
    state = play(holding("wind", "wind", field, modules=("lake",)), "play wind", "tile c1")
    assert clouds(state) == {"c1": ("thunder", 4, 1), "c2": ("light", 0, 1)}
    assert by_seat(state, "supply") == (16, 18)
    spent = {**field, "b1": tile("grass", (9,)), "b2": tile("rice", (8,))}
    state = play(holding("wind", "wind", spent, modules=("lake",)), "play wind", "tile c1")
    assert cloud(state, "c1") == ("thunder", 3, 1)
    assert by_seat(state, "supply")[0] == 0


def test_wind_power_from_the_lake_and_across_it() -> None:
    """The Lake, Vento: from there to any other tile; passing it on the way adds nothing."""
    field = {"b2": tile("lake", cloud=(1, 1)), "b1": tile(cloud=(0, 1)), "a2": tile(cloud=(0, 1))}
    state = play(holding("wind", "wind", field, modules=("lake",)), "play wind")
    assert asked(state) == ("wind_tile", 0)
    assert legal_names(state) == tiles("b1", "c1", "a2", "c2", "a3", "b3")
    assert clouds(play(state, "tile c1"))["c1"] == ("light", 1, 1)
    corner = {"b1": tile("lake", cloud=(1, 1)), "c1": tile(cloud=(0, 1)), "b2": tile(cloud=(0, 1))}
    state = play(holding("wind", "wind", corner, modules=("lake",)), "play wind")
    assert legal_names(state) == tiles("c1", "a2", "b2", "c2", "a3", "b3"), "past the clouds that enclose the Lake"
    field = {"b2": tile("lake"), "b1": tile(cloud=(1, 1))}
    state = play(holding("wind", "wind", field, modules=("lake",)), "play wind", "tile b3")
    assert clouds(state) == {"b3": ("light", 1, 1)}


def test_wind_power_of_somebody_else() -> None:
    """Vento: only its owner has it."""
    state = play(holding("sun", "wind", {"b2": tile(cloud=(2, 1))}), "play wind")
    assert asked(state) == ("wind_direction", 0)
    assert legal_names(state) == moves("north", "east", "south", "west")


def test_wind_power_does_nothing_in_wind_weather() -> None:
    """Vento: it moves clouds; Wind weather still moves a drop to a neighbouring tile."""
    field = {"b1": tile("grass", (1,)), "a3": tile("grass", (1,))}
    state = end_round(votes={"sun": (1,), "wind": (1,)}, field=field, **powers("rain", others=("wind",)))
    assert asked(state) == ("wind_weather_drop", 1)
    assert legal_names(play(state, "drop b1 1st to the left")) == moves("east", "south")


def test_wind_power_in_solo() -> None:
    """Ruling 3.8: powers in solo."""
    state = play(alone("wind", {1: (2, 1), 3: (0, 1)}, hands={"player_0": {"wind": 2}}), "play wind")
    assert asked(state) == ("wind_tile", 0)
    assert legal_names(state) == tiles("b1", "a2", "b2", "a3", "b3")
    assert solo_cloud(play(state, "tile P6"), 6) == (Cloud.LIGHT, 2, 1)


# --- Rain ----------------------------------------------------------------------------------------------------------


def test_rain_power_drops_onto_a_tile_without_a_cloud() -> None:
    """Pioggia: instead of the normal Rain action an own drop goes on a crop tile with no cloud; the vote is normal."""
    field = {"b2": tile("cotton", (1,)), "b1": tile(cloud=(1, 2)), "a2": tile(cloud=(0, 1)), "c2": tile(cloud=(1,))}
    state = play(holding("rain", "rain", field), "play rain")
    assert asked(state) == ("rain_drop", 0)
    normal = {"drop b1 own", "drop b1 1st to the left", "drop c2 own"}
    assert legal_names(state) == normal | tiles("c1", "b2", "a3", "b3")
    state = play(state, "tile b2")
    assert asked(state) == ("vote", 0), "instead of the normal action: no drop from a cloud"
    assert legal_names(state) == {"vote rain", "vote frost", "die 4"}
    assert on_tile(state, "b2") == (2, 0)
    assert growing(state, "b2") == "developed"
    assert by_seat(state, "supply") == (16, 17)
    assert clouds(state) == {"b1": ("light", 1, 2), "a2": ("light", 0, 1), "c2": ("light", 1, 0)}
    state = play(state, "vote rain")
    assert votes_on(state, "rain") == (1, 0)


def test_rain_power_or_the_normal_action() -> None:
    """Pioggia: the normal action is possible as ever, with its second drop from another cloud only."""
    state = play(
        holding("rain", "rain", {"b1": tile(cloud=(1, 2)), "c2": tile(cloud=(1,))}), "play rain", "drop c2 own"
    )
    assert asked(state) == ("rain_second_drop", 0)
    assert legal_names(state) == {"drop b1 own", "drop b1 1st to the left", "decline"}
    assert on_tile(play(state, "decline"), "c2") == (1, 0)


def test_rain_power_without_own_cloud_can_be_declined() -> None:
    """Pioggia; ruling 5.5: it is optional; the normal action is impossible without an own cloud."""
    state = play(holding("rain", "rain", {"b1": tile(cloud=(0, 2))}), "play rain")
    assert asked(state) == ("rain_drop", 0)
    assert legal_names(state) == tiles("c1", "a2", "b2", "c2", "a3", "b3") | {"decline"}
    declined = play(state, "decline")
    assert asked(declined) == ("vote", 0)
    assert by_seat(declined, "supply") == (20, 18)
    assert on_tile(play(state, "tile a3"), "a3") == (1, 0)


def test_rain_power_with_an_own_cloud_has_no_declining() -> None:
    """Ruling 2.5, 5.5: with an own cloud at least one drop must fall, one way or the other."""
    state = play(holding("rain", "rain", {"b1": tile(cloud=(2,))}), "play rain")
    assert "decline" not in legal_names(state)


def test_rain_power_needs_a_drop_in_the_supply() -> None:
    """Pioggia: an own drop, which the supply must have; tiles don't give it."""
    spent = {"b1": tile("grass", (9,)), "b2": tile("rice", (9,)), "a3": tile(cloud=(1, 1)), "a2": tile(cloud=(1, 1))}
    state = play(holding("rain", "rain", spent), "play rain")
    assert by_seat(state, "supply")[0] == 0
    assert legal_names(state) == {
        f"drop {name} {owner}" for name in ("a2", "a3") for owner in ("own", "1st to the left")
    }
    spent = {"b1": tile("grass", (10,)), "b2": tile("rice", (10,)), "a3": tile(cloud=(0, 1))}
    assert asked(play(holding("rain", "rain", spent), "play rain")) == ("vote", 0)


def test_rain_power_with_clouds_everywhere() -> None:
    """Pioggia: only on a tile without a cloud."""
    field = {name: tile(cloud=(0, 1)) for name in FIELDS[2]}
    assert asked(play(holding("rain", "rain", field), "play rain")) == ("vote", 0)
    field["b2"] = tile(cloud=(1, 1))
    state = play(holding("rain", "rain", field), "play rain")
    assert legal_names(state) == {"drop b2 own", "drop b2 1st to the left"}


@pytest.mark.parametrize("opened", [0, 1])
def test_rain_power_not_on_the_lake_nor_the_closed_snowdrop(opened: int) -> None:
    """Pioggia: on a crop tile; Bucaneve: no drops by choice while it is closed."""
    field = {"b1": tile("lake"), "b2": tile("snowdrop", blooms=opened), "a2": tile("dandelion"), "c2": tile("primrose")}
    state = play(holding("rain", "rain", field, modules=("lake", "flower_tiles")), "play rain")
    allowed = tiles("c1", "a2", "c2", "a3", "b3") | (tiles("b2") if opened else set())
    assert legal_names(state) == allowed | {"decline"}


def test_rain_power_with_the_only_own_cloud_above_the_closed_snowdrop() -> None:
    """Pioggia, Bucaneve: the normal action is impossible then, so the power may be declined."""
    field = {"b2": tile("snowdrop", blooms=0, cloud=(2, 1))}
    state = play(holding("rain", "rain", field, modules=("flower_tiles",)), "play rain")
    assert legal_names(state) == tiles("b1", "c1", "a2", "c2", "a3", "b3") | {"decline"}


def test_rain_power_makes_the_dandelion_grow() -> None:
    """Pioggia, Dente di Leone: one drop is enough."""
    state = holding("rain", "rain", {"b2": tile("dandelion")}, modules=("flower_tiles",))
    assert growing(play(state, "play rain", "tile b2"), "b2") == "developed"


@pytest.mark.parametrize(("drops", "gains", "lies"), [((), 2, (1, 0)), ((1, 1), 2, (2, 0)), ((0, 1), 0, (1, 1))])
def test_rain_power_on_the_primrose(drops: Numbers, gains: int, lies: Numbers) -> None:
    """Pioggia, Primula: it waters the Primrose, and can take control."""
    owner: dict[str, Any] = {"controller": "player_1"} if drops else {}
    state = holding("rain", "rain", {"b2": tile("primrose", drops)}, modules=("flower_tiles",), **owner)
    state = play(state, "play rain", "tile b2")
    assert by_seat(state, "points") == (gains, 0)
    assert controller(state) == (0 if gains else 1)
    assert on_tile(state, "b2") == lies


@pytest.mark.parametrize("crop", ["wheat", "cotton", "grass", "potato", "coffee", "rice", "corn", "cactus"])
def test_rain_power_on_every_crop(crop: str) -> None:
    """Pioggia: any crop tile without a cloud."""
    state = holding("rain", "rain", {"b2": tile(crop)}, 5, modules=("cactus",))
    state = play(state, "play rain")
    assert legal_names(state) == tiles(*FIELDS[5]) | {"decline"}
    assert on_tile(play(state, "tile b2"), "b2") == (1, 0, 0, 0, 0)


def test_rain_power_in_both_actions_of_a_turn() -> None:
    """Setup: any number of times, for substituted cards too."""
    state = holding("rain", "rain rain frost sun", {"b2": tile("wheat", (0, 1))})
    state = play(state, "substitute rain", "card frost", "card sun", "tile b2", "vote rain")
    state = play(state, "play rain", "tile b2", "vote frost")
    assert on_tile(state, "b2") == (2, 1)
    assert growing(state, "b2") == "developed"
    assert by_seat(state, "supply") == (18, 19)


def test_rain_power_of_somebody_else() -> None:
    """Pioggia: only its owner has it."""
    assert asked(play(holding("wind", "rain"), "play rain")) == ("vote", 0)


def test_rain_power_does_nothing_in_rain_weather() -> None:
    """Pioggia: it is for the Rain action."""
    field = {"b2": tile("grass", cloud=(1,), thunder=True)}
    state = end_round(votes={"frost": (1,), "rain": (1,)}, field=field, **powers("rain"))
    assert asked(state)[0] == "turn"
    assert on_tile(state, "b2") == (1, 0)


def test_rain_power_in_solo() -> None:
    """Ruling 3.8: powers in solo."""
    state = play(alone("rain", {1: (2, 1), 3: (0, 1)}, hands={"player_0": {"rain": 2}}), "play rain")
    assert legal_names(state) == {"drop a1 own", "drop a1 1st to the left", *tiles("b1", "b2", "a3", "b3")}
    assert tile_drops(play(state, "tile P6"), 6) == (1, 0)


# --- Harvest -------------------------------------------------------------------------------------------------------


def harvesting(field: dict[str, Any], players: int = 2, modules: tuple[str, ...] = (), **changes: Any) -> State:
    """The Harvest in which player_0 has the Harvest power, after Sun and Rain weather without clouds."""
    votes = {"sun": (1,), "rain": (1,)}
    start = powers("harvest", players, modules)
    return end_round(players, field=field, votes=votes, dice=["harvest"] * 3, **start, **changes)


FOUR_TILES = {
    "b1": tile("cotton", (2, 1)),
    "a2": tile("wheat", (1, 2)),
    "b2": tile("cotton", (1, 3)),
    "a3": tile("potato", (3,)),
    "c2": tile("grass", (1, 1)),
    "b3": tile("cotton", (0, 2)),
}
"""player_0 has drops on four harvested tiles, and on a grass that isn't growing."""


def test_harvest_power_keeps_a_drop_on_up_to_three_harvested_tiles() -> None:
    """Raccolto: at the end of the Harvest the player may keep one own drop on three different harvested tiles."""
    state = harvesting(FOUR_TILES)
    assert asked(state) == ("keep_drop", 0)
    assert legal_names(state) == tiles("b1", "a2", "b2", "a3") | {"decline"}
    assert by_seat(state, "points") == (5 + 3 + 2 + 3, 2 + 2 + 5 + 5), "scored with all drops before"
    state = play(state, "tile b1")
    assert asked(state) == ("keep_drop", 0)
    assert legal_names(state) == tiles("a2", "b2", "a3") | {"decline"}
    state = play(state, "tile a2")
    assert asked(state) == ("keep_drop", 0)
    assert legal_names(state) == tiles("b2", "a3") | {"decline"}
    state = play(state, "tile a3")
    assert state["round"] == 2
    kept = {name: on_tile(state, name) for name in FOUR_TILES}
    assert kept == {"b1": (1, 0), "a2": (1, 0), "b2": (0, 0), "a3": (1, 0), "c2": (1, 1), "b3": (0, 0)}
    assert by_seat(state, "supply") == (16, 19)
    assert [growing(state, name) for name in FOUR_TILES] == ["none"] * 6


@pytest.mark.parametrize(("kept", "supply"), [((), 19), (("b2",), 18), (("a2", "b2"), 17), (("b1", "a3"), 17)])
def test_harvest_power_is_optional(kept: tuple[str, ...], supply: int) -> None:
    """Ruling 5.5: optional each time: none, one or two are possible."""
    state = play(harvesting(FOUR_TILES), *(f"tile {name}" for name in kept))
    state = play(state, *("decline",) * (asked(state)[0] == "keep_drop"))
    assert state["round"] == 2
    for name in ("b1", "a2", "b2", "a3", "b3"):
        assert on_tile(state, name) == (int(name in kept), 0)
    assert by_seat(state, "supply") == (supply, 19)


def test_harvest_power_needs_drops_on_harvested_tiles() -> None:
    """Raccolto: own drops on harvested tiles only; with none nobody is asked."""
    state = harvesting({"b1": tile("cotton", (0, 2)), "b2": tile("grass", (2, 1))})
    assert asked(state)[0] == "turn"
    assert (on_tile(state, "b1"), on_tile(state, "b2")) == ((0, 0), (2, 1))


def test_harvest_power_without_a_harvest() -> None:
    """Raccolto: no Harvest, nothing to keep."""
    start = powers("harvest")
    state = end_round(votes={"sun": (1,), "rain": (1,)}, field=FOUR_TILES, **start)
    assert asked(state)[0] == "turn"
    assert on_tile(state, "b1") == (2, 1)


def test_harvest_power_of_somebody_else() -> None:
    """Raccolto: only its owner has it, whoever is first player."""
    start: dict[str, Any] = {"votes": {"sun": (1,), "rain": (1,)}, "dice": ["harvest"] * 3, "field": FOUR_TILES}
    state = end_round(**start, **powers("sun", others=("harvest",)))
    assert asked(state) == ("keep_drop", 1)
    assert legal_names(state) == tiles("b1", "a2", "b2", "b3") | {"decline"}
    state = play(state, "tile b3")
    assert on_tile(state, "b3") == (0, 1)
    assert asked(end_round(**start, **powers("sun", others=("rain",))))[0] == "turn"


def test_kept_drop_counts_for_growth_at_once() -> None:
    """Raccolto, Dente di Leone: its one drop makes the Dandelion grow again; its pods have gone back all the same."""
    field = {"b2": tile("dandelion", (2, 1)), "c1": tile(pod=True), "a3": tile(pod=True)}
    state = harvesting(field, modules=("flower_tiles",))
    assert by_seat(state, "points") == (2, 1)
    state = play(state, "tile b2")
    assert state["round"] == 2
    assert on_tile(state, "b2") == (1, 0)
    assert growing(state, "b2") == "developed"
    assert with_pods(state) == set()


def test_harvest_power_on_sprouting_rice() -> None:
    """Raccolto: a sprouting Rice is harvested too, without points."""
    votes = {"frost": (1,), "sun": (1,)}
    field = {"b2": tile("rice", (2, 2))}
    state = end_round(votes=votes, field=field, dice=["harvest"] * 3, **powers("harvest"))
    assert legal_names(state) == tiles("b2") | {"decline"}
    state = play(state, "tile b2")
    assert (on_tile(state, "b2"), growing(state, "b2"), by_seat(state, "points")) == ((1, 0), "none", (0, 0))


def test_harvest_power_on_every_kind_of_tile() -> None:
    """Raccolto: the last drop, one of several, alone or among others; only one for each tile."""
    field = {"b2": tile("cactus", (1, 1)), "c1": tile("coffee", (5, 1)), "a3": tile("grass", (1, 4))}
    state = harvesting(field, modules=("cactus",))
    state = play(state, "tile c1", "tile b2", "tile a3")
    assert [on_tile(state, name) for name in field] == [(1, 0)] * 3
    assert by_seat(state, "supply") == (17, 20)


def test_harvest_power_comes_before_forecast_cards_after_the_harvest() -> None:
    """Raccolto: asked first; a drop that is kept is not in the supply for forecast card 4, which needs two."""
    field = {"b2": tile("cotton", (1, 1)), "a2": tile("grass", (1,)), "c1": tile("primrose", (17,))}
    start: dict[str, Any] = {"modules": ["flower_tiles", "powers", "forecasts"], "powers": ["harvest", "frost"]}
    votes = {"sun": (1,), "rain": (1,)}
    held = {"player_0": [4, 10, 11]}
    state = end_round(votes=votes, field=field, dice=["harvest"] * 3, forecasts=held, **start)
    assert asked(state) == ("keep_drop", 0)
    none_kept = play(state, "decline")
    assert asked(none_kept) == ("forecast", 0)
    assert legal_names(none_kept) == {"forecast 4", "decline"}
    assert asked(play(state, "tile b2"))[0] == "turn"


def test_harvest_power_on_the_snowdrop() -> None:
    """Raccolto, Bucaneve: a drop may be kept on the harvested Snowdrop, whose bloom token goes."""
    state = harvesting({"b2": tile("snowdrop", (2, 1), blooms=1)}, modules=("flower_tiles",))
    assert asked(state) == ("keep_drop", 0)
    assert legal_names(state) == tiles("b2") | {"decline"}
    state = play(state, "tile b2")
    assert on_tile(state, "b2") == (1, 0)
    assert (blooms(state, "b2"), growing(state, "b2")) == (0, "none")


def test_harvest_power_not_on_tiles_that_were_not_harvested() -> None:
    """Raccolto: on harvested tiles; the Primrose never is, a Snowdrop with one drop isn't; their drops stay anyway."""
    field = {
        "b2": tile("primrose", (3, 1)),
        "a2": tile("snowdrop", (1,), blooms=1),
        "b1": tile("cotton", (1, 1)),
    }
    state = harvesting(field, modules=("flower_tiles",))
    assert legal_names(state) == tiles("b1") | {"decline"}
    state = play(state, "decline")
    assert (on_tile(state, "b2"), on_tile(state, "a2"), on_tile(state, "b1")) == ((3, 1), (1, 0), (0, 0))


def test_harvest_power_may_be_used_in_every_harvest() -> None:
    """Setup: any number of times, in the final round's Harvest it may change nothing any more."""
    field = {"b2": tile("cotton", (2, 1))}
    for round_ in (1, 2, 3):
        state = play(harvesting(field, round=round_), "tile b2")
        assert on_tile(state, "b2") == (1, 0)
    state = harvesting(field, round=4)
    state = play(state, *("decline",) * (asked(state)[0] == "keep_drop"))
    assert over(state)


def test_harvest_power_with_five_players() -> None:
    """Raccolto: the same with five players; everybody else's drops go back."""
    state = harvesting({"b2": tile("grass", (1, 1, 1, 1, 1))}, 5)
    state = play(state, "tile b2")
    assert on_tile(state, "b2") == (1, 0, 0, 0, 0)
    assert by_seat(state, "supply") == (19, 20, 20, 20, 20)


def test_harvest_power_in_solo() -> None:
    """Ruling 3.8: powers in solo; the neutral player keeps nothing."""
    votes = {"sun": (1, 0), "rain": (1, 0)}
    state = alone("harvest", drops={1: (1, 1), 3: (2, 3)}, dice=["harvest"] * 3, votes=votes, winds=(4,))
    state = play(state, "pass")
    assert asked(state) == ("keep_drop", 0)
    assert legal_names(state) == tiles("a1", "a2") | {"decline"}
    state = act(state, "tile P1", "decline")
    assert (tile_drops(state, 1), tile_drops(state, 3)) == ((1, 0), (0, 0))


# --- random games --------------------------------------------------------------------------------------------------


class Referee:
    """What is legal in a state of 4 or 5 players with powers, the Lake and flower tiles, by the texts.

    Only decisions that powers touch; the others return None.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.decision, self.seat = asked(state)
        self.players = int(state["players"])
        self.power = POWER_NAMES[int(state["power"][self.seat])] if self.seat >= 0 else "none"
        self.field = FIELDS[self.players]
        self.supply = int(state["supply"][self.seat])

    def legal(self) -> set[str] | None:
        return getattr(self, self.decision, lambda: None)()

    def crop(self, name: str) -> Crop:
        return Crop(self.state["crop"][TILE_NAMES.index(name)])

    def watered(self, name: str) -> bool:
        """Whether drops may be put there by choice, the Lake apart."""
        return self.crop(name) is not Crop.SNOWDROP or blooms(self.state, name) > 0

    def own_clouds(self) -> list[str]:
        return [name for name in self.field if (cloud(self.state, name) or (0,) * 9)[1 + self.seat]]

    def substitutes(self, kind: str, optional: bool) -> bool:
        """Whether cards in hand pay for a substituted action."""
        held = hand(self.state, self.seat)
        same, others = held.count(kind), len(held) - held.count(kind)
        if kind == "sun" and self.power == "sun":
            return others >= 1 and (not optional or len(held) >= 2)
        if not optional:
            return others >= 2
        return (same >= 1 and others >= 2) or others >= 4

    def turn(self) -> set[str]:
        held = hand(self.state, self.seat)
        found = {f"play {kind}" for kind in held}
        if int(self.state["turns"]) >= self.players:
            found.add("pass")
        return found | {f"substitute {kind}" for kind in NEXT if self.substitutes(kind, optional=False)}

    def optional_action(self) -> set[str]:
        held = hand(self.state, self.seat)
        found = {f"play {kind}" for kind in NEXT if held.count(kind) >= 2} | {"decline"}
        return found | {f"substitute {kind}" for kind in NEXT if self.substitutes(kind, optional=True)}

    def frost_power(self) -> set[str]:
        assert self.power == "frost"
        assert self.supply >= 1
        return {"power", "decline"}

    def wind_tile(self) -> set[str] | None:
        moved = TILE_NAMES[int(self.state["target"])]
        if self.power == "wind":
            return tiles(*self.field) - tiles(moved)
        assert self.crop(moved) is Crop.LAKE
        return None

    def wind_direction(self) -> None:
        assert self.power != "wind"

    def rain_drop(self) -> set[str]:
        normal = {
            f"drop {name} {relative(owner, self.seat, self.players)}"
            for name in self.own_clouds()
            if self.watered(name)
            for owner, number in enumerate((cloud(self.state, name) or ())[1:])
            if number
        }
        if self.power != "rain" or not self.supply:
            return normal
        free = [name for name in self.field if cloud(self.state, name) is None]
        own = tiles(*(name for name in free if self.watered(name) and self.crop(name) is not Crop.LAKE))
        return normal | own | (set() if normal else {"decline"})

    def rain_second_drop(self) -> set[str]:
        first = f"drop {TILE_NAMES[int(self.state['target'])]} "
        drops = {name for name in self.rain_drop() if name.startswith("drop ")}
        return {name for name in drops if not name.startswith(first)} | {"decline"}

    def wind_weather_direction(self) -> set[str]:
        around = neighbours(self.players, TILE_NAMES[int(self.state["target"])])
        return moves(*(direction for direction, there in around.items() if self.watered(there)))

    def keep_drop(self) -> set[str]:
        assert self.power == "harvest"
        kept = int(self.state["target"])
        lay = [name for name in self.field if self.state["scored_drops"][TILE_NAMES.index(name)][self.seat]]
        return tiles(*(name for name in lay if TILE_NAMES.index(name) > kept)) | {"decline"}


@pytest.mark.parametrize("players", [4, 5])
def test_legal_actions_in_random_games(players: int) -> None:
    """Spiegazione dei poteri: the exact legal actions of what powers change, for owners and for everybody else."""
    seen: Counter[str] = Counter()
    config = Config(players=players, modules=("lake", "flower_tiles", "powers"))
    for _, states in random_play(config, 80, 600, seed=14):
        for state in states:
            referee = Referee(state)
            expected = referee.legal()
            if expected is not None:
                assert legal_names(state) == expected, (referee.decision, referee.power)
                seen[referee.decision] += 1
                seen[f"{referee.decision} with {referee.power}"] += 1
    for name in (
        *("turn with sun", "optional_action with sun", "frost_power", "wind_tile with wind", "rain_drop with rain"),
        *("rain_second_drop", "wind_weather_direction", "keep_drop", "rain_drop with frost", "turn with wind"),
    ):
        assert seen[name] >= 20, name
