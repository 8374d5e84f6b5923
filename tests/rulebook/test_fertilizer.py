"""Kickstarter Promos, Fertilizer tokens."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from petrichor_env import Batch, Config, scenario
from petrichor_env.observation import LAYOUT
from petrichor_env.state import FACE_DOWN, TILE_NAMES, State
from tabletop_engine.errors import ScenarioError
from tests.rulebook.base_game import (
    FIELDS,
    Numbers,
    asked,
    by_seat,
    end_round,
    final_round,
    game,
    growing,
    legal_names,
    on_tile,
    over,
    phase,
    tile,
    tiles,
    with_seeds,
)
from tests.rulebook.modules import harvest, neighbours
from tests.rulebook.southern_winds import TILE_NAMES as SOLO_TILES
from tests.rulebook.southern_winds import act, pair, solo
from tests.support.play import play

FERTILIZER = ("fertilizer",)
EVERY = pytest.mark.parametrize("players", [1, 2, 3, 4, 5])


def starts(players: int, number: int) -> list[State]:
    return list(Batch(Config(players=players, modules=FERTILIZER), number, seed=1).states.copy())


def start(players: int, **switches: Any) -> State:
    return Batch(Config(players=players, modules=FERTILIZER, **switches), 1, seed=0).states.copy()[0]


def field_of(players: int) -> tuple[str, ...]:
    return SOLO_TILES if players == 1 else FIELDS[players]


def fertilized(state: State) -> set[str]:
    """The tiles with a Fertilizer token."""
    return {name for name, token in zip(TILE_NAMES, state["fertilizer"], strict=True) if token}


def layouts(players: int) -> list[set[str]]:
    """All ways to place three tokens, no two of them on orthogonally adjacent tiles."""
    field = field_of(players)
    beside = {name: {there for there in neighbours(5, name).values() if there in field} for name in field}
    return [
        set(three)
        for three in combinations(field, 3)
        if all(other not in beside[one] for one, other in combinations(three, 2))
    ]


def choices(players: int, placed: set[str]) -> set[str]:
    """The tiles for the next token after which the rest of the three can still be placed."""
    return {name for layout in layouts(players) if placed < layout for name in layout - placed}


# --- setup ---------------------------------------------------------------------------------------------------------


@EVERY
def test_tokens_lie_on_tiles_face_down(players: int) -> None:
    """Fertilizer tokens: tokens are placed when the tiles lie face down, before anything is dealt."""
    state = start(players)
    assert phase(state) == "setup"
    assert asked(state)[0] == "fertilizer_tile"
    field = field_of(players)
    for position, name in enumerate(TILE_NAMES):
        assert (state["crop"][position] == FACE_DOWN) == (name in field)
    assert not state["fertilizer"].any()
    assert not state["cloud"].any()
    assert not state["hand"].any()


@EVERY
def test_no_two_tokens_orthogonally_adjacent(players: int) -> None:
    """Fertilizer tokens: no two are orthogonally adjacent (diagonal is allowed), and all three need a place."""
    state = start(players)
    first_choices = choices(players, set())
    assert legal_names(state) == tiles(*first_choices)
    for one in sorted(first_choices):
        after = play(state, f"tile {one}")
        second_choices = choices(players, {one})
        assert asked(after)[0] == "fertilizer_tile"
        assert fertilized(after) == {one}
        assert legal_names(after) == tiles(*second_choices)
        for two in sorted(second_choices):
            both = play(after, f"tile {two}")
            third_choices = choices(players, {one, two})
            assert third_choices
            if len(third_choices) > 1:
                assert asked(both)[0] == "fertilizer_tile"
                assert fertilized(both) == {one, two}
                assert legal_names(both) == tiles(*third_choices)
                both = play(both, f"tile {min(third_choices)}")
            assert fertilized(both) in layouts(players)


def test_a_token_must_leave_room_for_the_rest() -> None:
    """Fertilizer tokens: solo's 2 x 3 tiles allow two layouts only; after P1 they leave P4 and P5, not P6."""
    state = start(1)
    assert legal_names(state) == tiles(*SOLO_TILES)
    state = play(state, "tile P1")
    assert legal_names(state) == tiles("b2", "a3")
    assert fertilized(play(state, "tile P4")) == fertilized(play(state, "tile P5")) == {"a1", "b2", "a3"}


@EVERY
def test_placed_in_turn_order(players: int) -> None:
    """Fertilizer tokens; ruling 4.1: players place one in turn, from the first player, until all three lie."""
    starters = set()
    for state in starts(players, 40):
        first = int(state["first_player"]) if players > 1 else 0
        starters.add(first)
        seats = []
        while asked(state)[0] == "fertilizer_tile":
            seats.append(asked(state)[1])
            assert len(seats) - 1 == len(fertilized(state))
            state = play(state, min(legal_names(state)))
        assert seats == [(first + turn) % players for turn in range(3)][: len(seats)]
        assert len(seats) == (2 if players == 1 else 3)  # in solo there is one place left for the last
        assert len(fertilized(state)) == 3
    assert starters == set(range(players))


@EVERY
def test_then_the_tiles_are_turned_up(players: int) -> None:
    """Fertilizer tokens: the tiles are flipped, the tokens stay, and the rest of the setup follows."""
    state = start(players)
    while asked(state)[0] == "fertilizer_tile":
        state = play(state, max(legal_names(state)))
    tokens = fertilized(state)
    for position, name in enumerate(TILE_NAMES):
        assert (state["crop"][position] >= 0) == (name in field_of(players))
    if players == 1:
        assert asked(state) == ("turn", 0)
        assert state["hand"][0].sum() == 8
        return
    first = int(state["first_player"])
    assert asked(state) == ("setup_cloud", (first - 1) % players)
    assert legal_names(state) == tiles(*FIELDS[players])
    for seat in range(players):
        expected = {2: 7 if seat == first else 8, 3: 7, 4: 6, 5: 6}[players]
        assert state["hand"][seat].sum() == expected
    while phase(state) == "setup":
        state = play(state, min(legal_names(state)))
    assert fertilized(state) == tokens
    assert asked(state) == ("turn", first)


def test_a_draft_follows_the_tokens() -> None:
    """Fertilizer tokens: the tiles are laid (step 1 of Setup) before cards are dealt or drafted."""
    state = start(3, drafting=True)
    assert asked(state)[0] == "fertilizer_tile"
    assert not state["pack"].any()
    while asked(state)[0] == "fertilizer_tile":
        state = play(state, min(legal_names(state)))
    assert asked(state) == ("draft", int(state["first_player"]))


def test_without_the_module() -> None:
    """Kickstarter Promos: the game is fully playable without them; then nobody is asked and no token lies."""
    state = Batch(Config(players=3), 1, seed=0).states[0]
    assert asked(state)[0] == "setup_cloud"
    assert not fertilized(state)


@pytest.mark.parametrize(("one", "other"), [("b1", "b2"), ("a2", "b2"), ("a3", "b3")])
def test_adjacent_tokens_are_no_position_of_the_game(one: str, other: str) -> None:
    """Fertilizer tokens: no two of them are orthogonally adjacent."""
    with pytest.raises(ScenarioError):
        game(field={one: tile(fertilizer=True), other: tile(fertilizer=True)}, modules=["fertilizer"])


# --- what is hidden ------------------------------------------------------------------------------------------------


@EVERY
def test_nobody_knows_a_tile_before_the_last_token(players: int) -> None:
    """Ruling 4.1: tokens are placed before the tiles are seen; until then all games look alike."""
    batch = Batch(Config(players=players, modules=FERTILIZER), 1, seed=0)
    views: dict[tuple[str, ...], set[bytes]] = {}
    for state in starts(players, 20):
        first = max(int(state["first_player"]), 0)
        played: tuple[str, ...] = ()
        while asked(state)[0] == "fertilizer_tile":
            batch.states[0] = state
            batch.refresh()
            for seat in range(players):
                seen = batch.observe((first + seat) % players)[0]
                assert not seen[LAYOUT["tile_crop"].slice].any()
                assert not seen[LAYOUT["tile_missing"].slice].any()
                views.setdefault((str(seat), *played), set()).add(seen.tobytes())
            assert set(state["crop"].tolist()) <= {FACE_DOWN, -1}
            action = min(legal_names(state))
            played = (*played, action)
            state = play(state, action)
        batch.states[0] = state
        batch.refresh()
        assert batch.observe(0)[0][LAYOUT["tile_crop"].slice].sum() == len(field_of(players))
    assert {len(seen) for seen in views.values()} == {1}


def test_tokens_tell_nothing_of_the_tiles() -> None:
    """Ruling 4.1: the tokens say nothing about the tiles, which are drawn after the last token."""
    state = play(start(3), "tile a1", "tile c1")
    fields = Counter(int(after["crop"][0]) for after in with_seeds(state, 300, "tile b2"))
    assert set(fields) == set(range(7))
    assert fields[0] / 300 == pytest.approx(3 / 16, abs=0.1)


@pytest.mark.parametrize("players", [2, 3])
def test_tiles_come_from_the_same_pile(players: int) -> None:
    """Setup 1: the field is drawn as usual; any crop can lie under a token (2 players: no Corn)."""
    state = start(players)
    while len(fertilized(state)) < 2:
        state = play(state, min(legal_names(state)))
    fields = np.array([after["crop"] for after in with_seeds(state, 200, min(legal_names(state)))])
    crops = fields[fields >= 0]
    assert set(crops.tolist()) == set(range(6 if players == 2 else 7))
    for crop, copies in enumerate((3, 3, 3, 2, 2, 1, 2)):
        assert (fields == crop).sum(axis=1).max() <= copies


def test_scenario_in_the_middle_of_placing() -> None:
    """Ruling 4.1: the second token of two players, after the first player's on b1."""
    face_down = {name: tile("face_down") for name in FIELDS[2]}
    field = {**face_down, "b1": tile("face_down", fertilizer=True)}
    state = scenario({"players": 2, "modules": ["fertilizer"], "decision": "fertilizer_tile", "field": field})
    assert asked(state) == ("fertilizer_tile", 1)
    assert legal_names(state) == tiles(*choices(2, {"b1"}))


# --- during Harvest ------------------------------------------------------------------------------------------------


def scores(crop: str, drops: Numbers, weather: str = "rain", *modules: str, **described: Any) -> Numbers:
    """Points by seat of harvesting one fertilized tile, which keeps its token."""
    players = len(drops)
    field = {"b2": tile(crop, drops, fertilizer=True, **described)}
    state = harvest(players, field, weather, modules=["fertilizer", *modules])
    assert on_tile(state, "b2") == (0,) * players
    assert growing(state, "b2") == "none"
    assert "b2" in fertilized(state)
    return by_seat(state, "points")


def test_example_first_on_developed_coffee() -> None:
    """Fertilizer tokens, example: first place on a developed Coffee scores 11."""
    assert scores("coffee", (5, 0, 0), growing="developed")[0] == 11


def test_example_two_players_on_corn() -> None:
    """Fertilizer tokens, example: two players sharing a Corn score 9 each."""
    assert scores("corn", (4, 1, 0)) == (9, 9, 0)


def test_example_third_on_cotton() -> None:
    """Fertilizer tokens, example: third place on Cotton scores 1 instead of 0."""
    assert scores("cotton", (3, 2, 1))[2] == 1


@pytest.mark.parametrize(
    ("crop", "drops", "points"),
    [
        ("cotton", (4, 3, 2, 1), (6, 3, 1, 1)),
        ("cotton", (2, 0), (6, 0)),
        ("grass", (4, 3, 2, 1), (5, 4, 3, 2)),
        ("grass", (0, 3, 0, 1), (0, 5, 0, 4)),
        ("potato", (4, 3, 2, 1), (4, 6, 2, 1)),
        ("coffee", (4, 3, 2, 1), (6, 4, 2, 1)),
        ("corn", (5, 0, 0), (11, 0, 0)),
        ("corn", (3, 1, 1), (7, 7, 7)),
        ("corn", (2, 1, 1, 1), (5, 5, 5, 5)),
    ],
)
def test_every_value_is_one_more(crop: str, drops: Numbers, points: Numbers) -> None:
    """Fertilizer tokens: each place on the tile scores 1 more, even instead of 0; no drop, no place."""
    assert scores(crop, drops) == points


def test_developed_coffee_places() -> None:
    """Fertilizer tokens: 10/6/2/0 of a developed Coffee become 11/7/3/1."""
    assert scores("coffee", (4, 3, 2, 1), growing="developed") == (11, 7, 3, 1)


@pytest.mark.parametrize(
    ("crop", "drops", "points"),
    [
        ("grass", (2, 2, 1), (4, 4, 3)),
        ("grass", (2, 2, 2, 2), (2, 2, 2, 2)),
        ("cotton", (1, 1, 1), (1, 1, 1)),
        ("potato", (2, 1, 1), (4, 2, 2)),
        ("potato", (2, 2), (6, 6)),
    ],
)
def test_tied_places(crop: str, drops: Numbers, points: Numbers) -> None:
    """Fertilizer tokens, Ties: each tied player scores the value of the lower place, and one more."""
    assert scores(crop, drops) == points


@pytest.mark.parametrize(
    ("drops", "points", "tokens"),
    [
        ((2, 1), (3, 4), (1, 0)),
        ((3, 0, 1, 1), (3, 0, 4, 4), (1, 0, 0, 0)),
        ((2, 2, 1), (4, 4, 4), (0, 0, 0)),
    ],
)
def test_wheat(drops: Numbers, points: Numbers, tokens: Numbers) -> None:
    """Fertilizer tokens on Wheat: first place scores 3 and a Wheat token instead of 2, others 4 instead of 3."""
    state = harvest(len(drops), {"b2": tile("wheat", drops, fertilizer=True)}, modules=["fertilizer"])
    assert by_seat(state, "points") == points
    assert by_seat(state, "wheat_tokens") == tokens


@pytest.mark.parametrize(
    ("drops", "points"),
    [((4, 0), (5, 0)), ((2, 5), (3, 6)), ((2, 2, 1), (3, 3, 2)), ((1, 4, 0, 2), (2, 5, 0, 3))],
)
def test_developed_rice(drops: Numbers, points: Numbers) -> None:
    """Ruling 4.1: on Rice each player scores one more in all, not one more for each drop."""
    assert scores("rice", drops, "sun", growing="developed") == points


@pytest.mark.parametrize("drops", [(4, 0), (2, 5), (2, 2, 1)])
def test_sprouting_rice(drops: Numbers) -> None:
    """Ruling 4.1; Rice: a sprouting Rice scores nothing for anybody, so the token adds nothing."""
    assert scores("rice", drops, "sun", growing="sprouting") == (0,) * len(drops)


@pytest.mark.parametrize(("drops", "points"), [((2, 1), (7, 4)), ((1, 1), (4, 4)), ((3, 1), (3, 2))])
def test_cactus(drops: Numbers, points: Numbers) -> None:
    """Fertilizer tokens on the Maltese Cactus: 6/3 become 7/4, drowned 2/1 become 3/2."""
    assert scores("cactus", drops, "rain", "cactus") == points


def test_tiles_that_are_not_harvested_score_nothing() -> None:
    """Fertilizer tokens: they score only in a Harvest, and only on a growing tile."""
    field = {"b2": tile("wheat", (1, 1), fertilizer=True), "b1": tile("cotton", (2, 1))}
    state = harvest(2, field, modules=["fertilizer"])
    assert by_seat(state, "points") == (5, 2)
    field = {"b2": tile("wheat", (2, 1), fertilizer=True)}
    state = end_round(2, field=field, votes={"frost": (1,), "rain": (1,)}, modules=["fertilizer"])
    assert by_seat(state, "points") == (0, 0)


def test_only_tiles_with_a_token() -> None:
    """Fertilizer tokens: only a tile with a token scores more; the others score as printed."""
    field = {
        "a1": tile("cotton", (2, 1, 0), fertilizer=True),
        "b2": tile("cotton", (0, 2, 1), fertilizer=True),
        "c1": tile("grass", (1, 0, 3), fertilizer=True),
        "b1": tile("potato", (2, 1, 1)),
        "a3": tile("cotton", (1, 0, 2)),
    }
    state = harvest(3, field, modules=["fertilizer"])
    first = (5 + 1, 2 + 1, 0)
    second = (0, 5 + 1, 2 + 1)
    third = (3 + 1, 0, 4 + 1)
    plain = [(3, 1, 1), (2, 0, 5)]
    assert by_seat(state, "points") == tuple(map(sum, zip(first, second, third, *plain, strict=True)))


def test_a_token_on_the_lake() -> None:
    """Ruling 4.1; The Lake: the Lake is never harvested, so a token there adds nothing."""
    field = {"b2": tile("lake", fertilizer=True, cloud=(3, 4)), "b1": tile("cotton", (2, 1))}
    state = harvest(2, field, modules=["fertilizer", "lake"])
    assert by_seat(state, "points") == (5, 2)
    assert "b2" in fertilized(state)


def test_without_a_token_scores_are_as_printed() -> None:
    """Fertilizer tokens: the module alone changes the values of no tile."""
    field = {name: tile(fertilizer=True) for name in ("b1", "a3", "c2")} | {"b2": tile("grass", (3, 1))}
    assert by_seat(harvest(2, field, modules=["fertilizer"]), "points") == (4, 3)


def test_tokens_stay_until_the_end_of_the_game() -> None:
    """Fertilizer tokens: they stay on their tiles through every Harvest, the final one too."""
    tokens = {"a1", "b2", "c3"}
    field = {name: tile(fertilizer=True) for name in tokens} | {"b2": tile("cotton", (2, 1, 0), fertilizer=True)}
    state = harvest(3, field, modules=["fertilizer"])
    assert by_seat(state, "points") == (6, 3, 0)
    assert fertilized(state) == tokens
    state = final_round(3, votes={"frost": (1,)}, field=field, modules=["fertilizer"])
    assert over(state)
    assert fertilized(state) == tokens
    assert by_seat(state, "points") == (6 + 1, 3, 0)  # and a Voting Win


def test_a_second_harvest_scores_one_more_again() -> None:
    """Fertilizer tokens: a token stays to the end of the game, so a later Harvest of its tile counts it again."""
    field = {"b2": tile("cotton", (0, 2), fertilizer=True)}
    before = harvest(2, field, modules=["fertilizer"], points=(0, 6))
    assert by_seat(before, "points") == (0, 12)
    later = final_round(2, field=field, modules=["fertilizer"], points=(0, 12))
    assert by_seat(later, "points") == (0, 18)


def test_a_token_grants_no_drop_and_no_growth() -> None:
    """Fertilizer tokens: they change scoring values only; crops grow from the same number of drops."""
    hands = ("rain", "frost")
    field = {"b2": tile("wheat", (1,), fertilizer=True, cloud=(2,))}
    state = play(game(2, hands=hands, field=field, modules=["fertilizer"]), "play rain")
    assert growing(state, "b2") == "none"
    field = {"b2": tile("wheat", (2,), fertilizer=True, cloud=(2,))}
    state = play(game(2, hands=hands, field=field, modules=["fertilizer"]), "play rain")
    assert growing(state, "b2") == "developed"


# --- Primrose ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blooms", [1, 2, 4])
def test_primrose_at_each_change_of_control(blooms: int) -> None:
    """Fertilizer tokens: a Primrose scores one more point at every change of control."""
    modules = ["fertilizer", "flower_tiles"]
    hands = ("rain", "rain")
    primrose = tile("primrose", fertilizer=True, blooms=blooms, cloud=(2, 1))
    state = game(2, hands=hands, field={"b2": primrose}, modules=modules)
    state = play(state, "play rain", "drop b2 own")
    assert by_seat(state, "points") == (2 * blooms + 1, 0)
    assert int(state["controller"]) == 0
    primrose = tile("primrose", (1, 1), fertilizer=True, blooms=blooms, cloud=(0, 2))
    state = game(2, hands=hands, field={"b2": primrose}, modules=modules, actor="player_1", controller="player_0")
    state = play(state, "play rain")
    assert by_seat(state, "points") == (0, 2 * blooms + 1)
    assert int(state["controller"]) == 1


def test_primrose_without_a_change_of_control() -> None:
    """Fertilizer tokens: a Primrose scores nothing while control stays, nor in a Harvest."""
    modules = ["fertilizer", "flower_tiles"]
    primrose = tile("primrose", (2, 1), fertilizer=True, blooms=1, cloud=(1,))
    state = play(game(2, hands=("rain", "frost"), field={"b2": primrose}, modules=modules), "play rain")
    assert by_seat(state, "points") == (0, 0)
    state = harvest(2, {"b2": tile("primrose", (2, 1), fertilizer=True, blooms=1)}, modules=modules)
    assert by_seat(state, "points") == (0, 0)


# --- solo ----------------------------------------------------------------------------------------------------------


def test_solo_player_places_all_three() -> None:
    """Ruling 3.8: in solo the player places all three, before the neutral player's first turn."""
    state = start(1)
    assert asked(state) == ("fertilizer_tile", 0)
    assert not state["winds_revealed"]
    state = play(state, "tile P3")
    assert asked(state) == ("fertilizer_tile", 0)
    assert legal_names(state) == tiles("b1", "b3")  # P2 and P6
    state = play(state, "tile P6")
    assert fertilized(state) == {"b1", "a2", "b3"}
    assert state["winds_revealed"] == 1
    assert asked(state) == ("turn", 0)


def test_solo_harvest() -> None:
    """Fertilizer tokens, During Harvest: all scoring values rise, also for the neutral player."""
    field = {
        "P1": {"crop": "cotton", "drops": {"player_0": 2, "neutral": 1}, "fertilizer": True},
        "P2": {"crop": "grass", "drops": {"player_0": 1, "neutral": 3}},
        "P3": {"crop": "cotton"},
        "P4": {"crop": "potato", "drops": {"neutral": 3}, "fertilizer": True},
        "P5": {"crop": "wheat", "drops": {"player_0": 1, "neutral": 2}, "fertilizer": True},
        "P6": {"crop": "coffee"},
    }
    state = solo(decision="turn", field=field, round=4, modules=["fertilizer"])
    state = act(state, "pass")
    assert over(state)
    yours, neutral = 6 + 3 + 4, 3 + 4 + 4 + 3
    assert pair(state, "points") == (yours, neutral + 12)  # and the Wheat bonus
