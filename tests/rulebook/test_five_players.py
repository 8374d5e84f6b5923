"""Flowers, Gioco in 5 giocatori, with rulings 5.1 and 2.19. Where these say nothing, the rules for 4 players apply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from petrichor_env import Batch, Config
from petrichor_env.state import NOBODY, State
from tests.rulebook.base_game import (
    FIELDS,
    Numbers,
    asked,
    by_seat,
    cards,
    cloud,
    clouds,
    end_round,
    final_round,
    game,
    growing,
    hand,
    last_turn,
    legal_names,
    moves,
    on_tile,
    over,
    phase,
    tile,
    tiles,
    votes_on,
    weathers,
    with_seeds,
    words,
)
from tests.rulebook.modules import harvest, neighbours
from tests.support.play import play

GAMES = 300
QUIET = {"frost": (1, 1), "rain": (1, 1)}
TIE = {"frost": (2,), "sun": (2,), "wind": (2,)}
"""Keeps the Weather Phase at its first decision."""
COPIES = (3, 3, 3, 2, 2, 1, 2)
"""Rulings 1: tiles of wheat, cotton, grass, potato, coffee, rice, corn."""


def seat_drops(seat: int, number: int = 1) -> Numbers:
    return tuple(number if owner == seat else 0 for owner in range(5))


# --- setup ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def states() -> np.ndarray:
    return Batch(Config(players=5), GAMES, seed=1).states.copy()


def test_field_of_16_tiles(states: np.ndarray) -> None:
    """Setup: all tiles of the base game, shuffled, make a field of 4 x 4."""
    assert states["crop"].shape == (GAMES, 16)
    assert (states["crop"] >= 0).all()
    for number, copies in enumerate(COPIES):
        assert ((states["crop"] == number).sum(axis=1) == copies).all()
    for position in range(16):
        assert set(states["crop"][:, position].tolist()) == set(range(7))


@pytest.mark.parametrize("rounds", [4, 6])
def test_short_form_is_only_recommended(rounds: int) -> None:
    """The short game of 4 rounds is recommended, not required."""
    state = Batch(Config(players=5, rounds=rounds), 1, seed=0).states[0]
    assert (state["rounds"], state["round"]) == (rounds, 1)


def test_drops_votes_and_cards(states: np.ndarray) -> None:
    """Componenti; ruling 5.1: 20 drops and 12 votes for the fifth player too; 48 cards (12 a kind), 6 a hand."""
    assert (states["supply"] == 20).all()
    assert (states["vote_supply"] == 12).all()
    assert (states["hand"].sum(axis=2) == 6).all()
    assert (states["deck"] + states["hand"].sum(axis=1) == 12).all()
    assert not states["discards"].any()


def test_first_player_is_any_player(states: np.ndarray) -> None:
    """Setup 5: any method; here everybody is equally likely."""
    counts = Counter(states["first_player"].tolist())
    assert set(counts) == set(range(5))
    assert min(counts.values()) > GAMES / 10


def test_setup_clouds(states: np.ndarray) -> None:
    """Setup 12: five clouds from the First Player's right on, then the First Player's turn."""
    for number, state in enumerate(states[:10]):
        first = int(state["first_player"])
        free = list(FIELDS[5])
        for turn in range(1, 6):
            seat = (first - turn) % 5
            assert asked(state) == ("setup_cloud", seat)
            assert legal_names(state) == tiles(*free)
            chosen = free.pop((number * 7 + turn) % len(free))
            state = play(state, f"tile {chosen}")
            assert cloud(state, chosen) == ("light", *seat_drops(seat))
        assert phase(state) == "action"
        assert asked(state) == ("turn", first)
        assert "pass" not in legal_names(state)


# --- drafting ------------------------------------------------------------------------------------------------------

PICKS = (1, 2)


@pytest.mark.parametrize("choose", [min, max], ids=["lowest", "highest"])
@pytest.mark.parametrize("round_", [1, 2])
def test_draft_as_with_four(round_: int, choose: Callable[[set[str]], str]) -> None:
    """Ruling 2.19: 6 cards each; keep 1, pass clockwise; keep 2 of 5, pass; keep the last 3."""
    if round_ == 1:
        drafts = [Batch(Config(players=5, drafting=True), 1, seed=seed).states.copy()[0] for seed in range(3)]
    else:
        kept = ["", "frost sun", "rain", "", "wind wind"]
        drafts = with_seeds(last_turn(5, hands=kept, drafting=True, votes=QUIET), 3, "pass")
    for state in drafts:
        first = int(state["first_player"])
        held = [hand(state, seat) for seat in range(5)]
        dealt = [words(state["pack"][seat]) for seat in range(5)]
        assert [len(pack) for pack in dealt] == [6] * 5
        for step, count in enumerate(PICKS):
            for turn in range(5):
                seat = (first + turn) % 5
                for _ in range(count):
                    assert asked(state) == ("draft", seat)
                    assert legal_names(state) <= cards(*dealt[seat])
                    action = choose(legal_names(state))
                    state = play(state, action)
                    dealt[seat].remove(action.split()[1])
                    held[seat].append(action.split()[1])
            dealt = [dealt[seat - 1] for seat in range(5)]
            if step == 0:
                assert [words(state["pack"][seat]) for seat in range(5)] == dealt
        assert [sorted(hand(state, seat)) for seat in range(5)] == [sorted(held[i] + dealt[i]) for i in range(5)]
        assert not state["pack"].any()
        assert asked(state) == (("setup_cloud", (first - 1) % 5) if round_ == 1 else ("turn", first))


# --- Action Phase --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, 3])
def test_turns_go_clockwise(first: int) -> None:
    """Phase 1: turns go clockwise from the First Player through all five."""
    state = game(5, hands=["wind wind"] * 5, first_player=f"player_{first}", actor=f"player_{first}")
    for turn in range(10):
        assert asked(state) == ("turn", (first + turn) % 5)
        state = play(state, "play wind", "vote wind")
        if asked(state)[0] == "optional_action":
            state = play(state, "decline")


@pytest.mark.parametrize("passer", range(1, 5))
def test_first_to_pass(passer: int) -> None:
    """Ruling 5.1, Passing as with 4: the first to pass discards the hand and takes the marker; four more turns."""
    state = game(5, hands=["wind wind"] * 5, actor=f"player_{passer}", votes=TIE)
    state = play(state, "pass")
    assert hand(state, passer) == []
    assert words(state["discards"]) == ["wind", "wind"]
    assert (state["first_player"], state["passed"]) == (passer, passer)
    for turn in range(1, 5):
        assert phase(state) == "action"
        assert asked(state) == ("turn", (passer + turn) % 5)
        state = play(state, "play wind", "die 4") if turn == 2 else play(state, "pass")
    assert phase(state) == "weather"
    assert asked(state) == ("choose_weather", passer)
    sizes = [len(hand(state, seat)) for seat in range(5)]
    assert sizes == [0 if seat == passer else 1 if seat == (passer + 2) % 5 else 2 for seat in range(5)]


def test_first_player_passes_first() -> None:
    """Ruling 5.1, Passing as with 4: a First Player who passes hands the marker to the right and comes second."""
    state = play(game(5, hands=["wind"] * 5, first_player="player_2", actor="player_2"), "pass")
    assert (state["first_player"], state["passed"]) == (1, 2)
    assert asked(state) == ("turn", 3)


def test_no_optional_action_after_a_pass() -> None:
    """Playing Cards 2: the last turns have no optional action, though the hand would allow it."""
    state = play(game(5, hands=["wind wind wind"] * 4 + ["frost"]), "pass", "play wind", "vote wind")
    assert asked(state) == ("turn", 2)
    assert hand(state, 1) == ["wind", "wind"]


def test_hand_limit() -> None:
    """Hand limit: players discard down to 4, one after another from the First Player."""
    hands = ("", "sun sun sun sun rain", "frost", "", "rain rain rain rain frost sun")
    state = play(last_turn(5, hands=hands, votes=TIE), "pass")
    assert asked(state) == ("discard", 1)
    state = play(state, "card rain")
    assert asked(state) == ("discard", 4)
    state = play(state, "card frost", "card sun")
    assert asked(state) == ("choose_weather", 0)
    assert [len(hand(state, seat)) for seat in range(5)] == [0, 4, 1, 0, 4]


@pytest.mark.parametrize("name", FIELDS[5])
def test_wind_action_on_16_tiles(name: str) -> None:
    """Wind action: a cloud moves to any orthogonally adjacent tile of the 4 x 4 field."""
    state = play(game(5, hands=["wind"] * 5, field={name: tile(cloud=(1, 1))}), "play wind")
    assert legal_names(state) == moves(*neighbours(5, name))
    for direction, there in neighbours(5, name).items():
        assert clouds(play(state, f"move {direction}")) == {there: ("light", 1, 1, 0, 0, 0)}


def test_rain_action_names_all_owners() -> None:
    """Rain action: a drop of any of five players falls; owners are counted clockwise from the actor."""
    state = game(5, hands=["rain"] * 5, actor="player_3", field={"d4": tile("corn", cloud=(2, 1, 1, 1, 1))})
    state = play(state, "play rain")
    owners = ("own", "1st to the left", "2nd to the left", "3rd to the left", "4th to the left")
    assert legal_names(state) == {f"drop d4 {owner}" for owner in owners}
    for distance, owner in enumerate(owners):
        assert on_tile(play(state, f"drop d4 {owner}"), "d4") == seat_drops((3 + distance) % 5)


# --- Frost with all 12 clouds out ----------------------------------------------------------------------------------

TWELVE = FIELDS[5][:12]
FREE = FIELDS[5][12:]


def twelve(**others: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Clouds of one drop each, of players 1 to 4, on the first 12 tiles, unless the arguments say otherwise."""
    field = {name: tile(cloud=seat_drops(1 + number % 4)) for number, name in enumerate(TWELVE)}
    return {**field, **others}


def frost(field: dict[str, dict[str, Any]], hands: str = "frost") -> State:
    """player_0 has played a Frost card."""
    return play(game(5, hands=[hands, *("frost",) * 4], field=field), "play frost")


def test_frost_with_eleven_clouds() -> None:
    """Gioco in 5 giocatori: the rule needs all 12 clouds in play; the 12th is placed as usual."""
    field = twelve()
    del field["b2"]
    state = frost(field)
    assert asked(state) == ("frost_tile", 0)
    assert legal_names(state) == tiles("b2", *FREE)
    state = play(state, "tile d4")
    assert cloud(state, "d4") == ("light", 1, 0, 0, 0, 0)
    assert len(clouds(state)) == 12


def test_frost_with_all_clouds_out() -> None:
    """Gioco in 5 giocatori: with 12 clouds in play, a drop goes into a cloud where the player isn't present."""
    state = frost(twelve())
    assert asked(state) == ("frost_cloud", 0)
    assert legal_names(state) == tiles(*TWELVE)
    for name in TWELVE:
        after = play(state, f"tile {name}")
        before = cloud(state, name)
        assert before is not None
        assert cloud(after, name) == ("light", 1, *before[2:])
        assert by_seat(after, "supply")[0] == 19
        assert len(clouds(after)) == 12
        assert asked(after) == ("vote", 0)
        assert legal_names(after) == {"vote frost", "vote sun", "die 4"}


def test_frost_only_where_the_player_is_not_present() -> None:
    """Gioco in 5 giocatori: clouds with an own drop are left out."""
    field = twelve(a1=tile(cloud=(1,)), c2=tile(cloud=(2, 1)), d3=tile(cloud=(1, 0, 0, 0, 3)))
    state = frost(field)
    assert asked(state) == ("frost_cloud", 0)
    assert legal_names(state) == tiles(*TWELVE) - tiles("a1", "c2", "d3")


def test_frost_with_a_single_cloud_to_choose() -> None:
    """Ruling 2.5: the action is mandatory, so a drop goes into the one cloud without an own drop."""
    own = {name: tile(cloud=(1, 1)) for name in TWELVE}
    state = frost({**own, "b3": tile(cloud=(0, 2))})
    assert asked(state) == ("vote", 0)
    assert cloud(state, "b3") == ("light", 1, 2, 0, 0, 0)


def test_frost_present_everywhere() -> None:
    """Gioco in 5 giocatori: a player present in all 12 clouds can only vote."""
    own = {name: tile(cloud=(1, 0, 1)) for name in TWELVE}
    state = frost(own)
    assert asked(state) == ("vote", 0)
    assert by_seat(state, "supply") == (8, 20, 8, 20, 20)
    state = frost({**own, "d4": tile("grass", (8,))})
    assert asked(state) == ("vote", 0), "nor is there with drops on tiles only"


@pytest.mark.parametrize(
    ("before", "thunder", "after"),
    [
        ((0, 2), False, ("light", 1, 2, 0, 0, 0)),
        ((0, 3), False, ("thunder", 1, 3, 0, 0, 0)),
        ((0, 1, 1, 1), False, ("thunder", 1, 1, 1, 1, 0)),
        ((0, 1), True, ("thunder", 1, 1, 0, 0, 0)),
        ((0, 3, 3), True, ("thunder", 1, 3, 3, 0, 0)),
    ],
)
def test_frost_makes_that_cloud_grow(before: Numbers, thunder: bool, after: tuple[Any, ...]) -> None:
    """Merging and Overflowing: a cloud that gets its 4th drop grows."""
    state = play(frost(twelve(c3=tile(cloud=before, thunder=thunder))), "tile c3")
    assert cloud(state, "c3") == after


def test_frost_makes_that_cloud_overflow() -> None:
    """Merging and Overflowing: a cloud that gets its 8th drop overflows and returns to the supply."""
    state = play(frost(twelve(c3=tile("rice", cloud=(0, 3, 0, 4)))), "tile c3")
    assert cloud(state, "c3") is None
    assert on_tile(state, "c3") == (1, 3, 0, 4, 0)
    assert growing(state, "c3") == "sprouting"
    assert len(clouds(state)) == 11
    assert asked(state) == ("vote", 0)


def test_frost_with_a_drop_in_supply_is_mandatory() -> None:
    """Ruling 2.5: with a drop in supply the action cannot be declined, and takes no drop from a tile."""
    state = frost(twelve(d4=tile("grass", (19,))))
    assert asked(state) == ("frost_cloud", 0)
    assert "decline" not in legal_names(state)
    state = play(state, "tile a1")
    assert asked(state) == ("vote", 0)
    assert by_seat(state, "supply")[0] == 0
    assert on_tile(state, "d4") == (19, 0, 0, 0, 0)


def short_supply() -> State:
    """player_0's 20 drops lie on tiles, and the others have 12 clouds in play."""
    return frost(twelve(d4=tile("grass", (15,)), a1=tile("wheat", (3,), cloud=(0, 1)), b4=tile("cotton", (2,))))


def test_frost_with_an_empty_supply() -> None:
    """Ruling 2.5: with an empty supply the drop may come from a tile, which is chosen after the cloud."""
    state = short_supply()
    assert asked(state) == ("frost_cloud", 0)
    assert legal_names(state) == {"decline"} | tiles(*TWELVE)
    state = play(state, "tile a1")
    assert asked(state) == ("take_drop", 0)
    assert legal_names(state) == tiles("d4", "a1", "b4")
    state = play(state, "tile b4")
    assert asked(state) == ("vote", 0)
    assert cloud(state, "a1") == ("light", 1, 1, 0, 0, 0)
    assert on_tile(state, "b4") == (1, 0, 0, 0, 0)
    assert growing(state, "b4") == "none"


def test_frost_with_an_empty_supply_can_be_declined() -> None:
    """Ruling 2.5: declining skips the action, not the vote."""
    before = short_supply()
    state = play(before, "decline")
    assert asked(state) == ("vote", 0)
    assert clouds(state) == clouds(before)
    assert on_tile(state, "d4") == (15, 0, 0, 0, 0)


def test_frost_without_any_drop_to_place() -> None:
    """Frost action: with all 20 drops in clouds only the vote is left."""
    state = frost(twelve(a1=tile(cloud=(7,)), c1=tile(cloud=(7,)), c3=tile(cloud=(6,))))
    assert asked(state) == ("vote", 0)
    assert len(clouds(state)) == 12


def test_two_frost_actions() -> None:
    """Gioco in 5 giocatori: the first Frost brings the 12th cloud, so the second adds a drop to another's."""
    field = twelve()
    del field["b2"]
    state = play(frost(field, "frost frost frost"), "tile b2", "vote frost", "play frost")
    assert asked(state) == ("frost_cloud", 0)
    assert legal_names(state) == tiles(*TWELVE) - tiles("b2")
    state = play(state, "tile d3")
    assert by_seat(state, "supply")[0] == 18
    assert asked(state) == ("vote", 0)


# --- Winning the Weather Vote --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frost", "wins"),
    [
        ((3, 1, 0, 0, 0), (2, 1, 0, 0, 0)),
        ((0, 0, 0, 1, 4), (0, 0, 0, 1, 2)),
        ((3, 2, 1, 0, 0), (2, 1, 0, 0, 0)),
        ((1, 4, 2, 2, 1), (0, 2, 1, 1, 0)),
        ((2, 1, 1, 1, 1), (2, 1, 1, 1, 1)),
        ((3, 3, 2, 0, 0), (1, 1, 0, 0, 0)),
        ((2, 2, 2, 1, 1), (1, 1, 1, 0, 0)),
        ((1, 1, 1, 1, 1), (1, 1, 1, 1, 1)),
        ((3, 0, 0, 0, 0), (2, 0, 0, 0, 0)),
        ((0, 1, 0, 1, 0), (0, 1, 0, 1, 0)),
    ],
)
def test_voting_wins(frost: Numbers, wins: Numbers) -> None:
    """Ruling 5.1: a sole leader advances two spaces, all tied seconds one. Tied leaders advance one, seconds then none.

    Rulings 2.11 and 5.1: a player without a vote there is never second.
    """
    state = end_round(5, "weather rain", votes={"frost": frost})
    assert by_seat(state, "voting_wins") == wins
    assert by_seat(state, "vote_supply") == (12,) * 5


def test_voting_wins_of_both_spaces_add_up() -> None:
    """Gioco in 5 giocatori: wins come from each resolved space; votes elsewhere do not count, and stay."""
    votes = {"frost": (3, 2, 1), "wind": (0, 3, 0, 3, 1), "sun": (0, 0, 0, 0, 4), "rain": (0, 0, 1, 1, 1)}
    state = end_round(5, votes=votes)
    assert by_seat(state, "voting_wins") == (2, 1 + 1, 0, 1, 0)
    assert votes_on(state, "sun") == (0, 0, 0, 0, 4)
    votes = {"frost": (3, 2, 1), "sun": (3, 1, 1)}
    state = end_round(5, votes=votes, voting_wins=(4, 0, 1, 7, 0), rounds=6, round=5)
    assert by_seat(state, "voting_wins") == (8, 2, 2, 7, 0)


def test_nobody_wins_a_space_without_votes() -> None:
    """Ruling 2.11: a player without a vote is neither first nor second."""
    state = end_round(5, "weather sun", "weather rain")
    assert by_seat(state, "voting_wins") == (0,) * 5


def test_voting_wins_of_the_final_round() -> None:
    """Winning the Weather Vote, exception: all voted spaces resolve, the two with the most votes count."""
    votes = {"frost": (0, 0, 2, 0, 1), "sun": (3, 1), "wind": (0, 3, 1), "rain": (0, 0, 0, 1)}
    state = final_round(5, votes=votes)
    assert over(state)
    assert by_seat(state, "voting_wins") == (2, 1 + 2, 1, 0, 0)
    assert by_seat(state, "points") == (3, 5, 1, 0, 0)


@pytest.mark.parametrize(("wins", "points"), [(16, 80), (18, 80), (20, 80), (15, 71)])
def test_more_wins_than_the_track_has_spaces(wins: int, points: int) -> None:
    """Rulings 1: six rounds can bring 24 wins; for more than 16 the last space of the track scores."""
    state = end_round(5, rounds=6, round=6, voting_wins=(wins,))
    assert over(state)
    assert by_seat(state, "points") == (points, 0, 0, 0, 0)


@pytest.mark.parametrize("players", [3, 4])
def test_fewer_players_as_in_the_base_game(players: int) -> None:
    """Winning the Weather Vote: with 3 or 4 players the winner advances one space, the second none."""
    state = end_round(players, "weather rain", votes={"frost": (3, 2)})
    assert by_seat(state, "voting_wins") == (1, *(0,) * (players - 1))


# --- Weather Phase -------------------------------------------------------------------------------------------------


def test_first_player_breaks_ties() -> None:
    """Resolving Weather Spaces: the First Player chooses one space at a time."""
    state = play(game(5, hands=["frost"] * 5, actor="player_3", votes=TIE), *("pass",) * 5)
    assert asked(state) == ("choose_weather", 3)
    assert legal_names(state) == weathers("frost", "sun", "wind")


def test_sun_weather_clockwise() -> None:
    """Sun Weather goes clockwise from the First Player through all five."""
    both = {"a1": tile(cloud=(1, 1, 0, 1)), "d4": tile(cloud=(1, 0, 1, 1)), "a4": tile(cloud=(0, 1, 1, 0, 1))}
    state = final_round(5, votes={"sun": (1,)}, field={**both, "d1": tile(cloud=(0, 0, 0, 0, 1))})
    for seat, chosen in enumerate(("a1", "a4", "d4", "d4", "d1")):
        assert asked(state) == ("sun_weather_cloud", seat)
        state = play(state, f"tile {chosen}")
    assert over(state)
    assert clouds(state) == {
        **{"a1": ("thunder", 2, 1, 0, 1, 0), "d4": ("thunder", 1, 0, 2, 2, 0)},
        **{"a4": ("thunder", 0, 2, 1, 0, 1), "d1": ("light", 0, 0, 0, 0, 2)},
    }


def test_wind_weather_anticlockwise() -> None:
    """Wind Weather goes anticlockwise from the First Player's right through all five."""
    state = final_round(5, votes={"wind": (1,)}, field={"a1": tile("rice", (1, 1, 0, 0, 0)), "d4": tile("wheat", (1,))})
    for seat in (4, 3, 2, 1, 0):
        assert asked(state) == ("wind_weather_drop", seat)
        state = play(state, min(legal_names(state)))
        assert asked(state) == ("wind_weather_direction", seat)
        state = play(state, min(legal_names(state)))
    assert over(state)


def test_first_player_marker_stays_after_the_weather_phase() -> None:
    """Changing the First Player is for 2 players only."""
    state = end_round(5, votes={"frost": (0, 3), "rain": (0, 4), "wind": (0, 1)})
    assert (state["first_player"], state["round"], int(state["passed"])) == (0, 2, NOBODY)
    assert asked(state) == ("turn", 0)


# --- Harvest Phase -------------------------------------------------------------------------------------------------


def scores(crop: str, drops: Numbers, weather: str = "sun", **described: Any) -> Numbers:
    """Points by seat of harvesting one tile."""
    state = harvest(5, {"b2": tile(crop, drops, **described)}, weather)
    assert on_tile(state, "b2") == (0,) * 5
    return by_seat(state, "points")


@pytest.mark.parametrize(
    ("crop", "drops", "points"),
    [
        ("grass", (5, 4, 3, 2, 1), (4, 3, 2, 1, 1)),
        ("grass", (1, 2, 3, 4, 5), (1, 1, 2, 3, 4)),
        ("cotton", (5, 4, 3, 2, 1), (5, 2, 0, 0, 0)),
        ("potato", (5, 4, 3, 2, 1), (3, 5, 1, 0, 0)),
        ("grass", (0, 4, 3, 2, 1), (0, 4, 3, 2, 1)),
    ],
)
def test_fifth_place_scores_as_fourth(crop: str, drops: Numbers, points: Numbers) -> None:
    """Gioco in 5 giocatori: in the Harvest fifth place scores as fourth; without a drop there is no place."""
    assert scores(crop, drops) == points


@pytest.mark.parametrize(("side", "points"), [("sprouting", (5, 3, 1, 0, 0)), ("developed", (10, 6, 2, 0, 0))])
def test_fifth_place_on_coffee(side: str, points: Numbers) -> None:
    """Gioco in 5 giocatori: fifth place scores as fourth on either side of Coffee."""
    assert scores("coffee", (5, 4, 3, 2, 1), "rain", growing=side) == points


@pytest.mark.parametrize(
    ("drops", "points"),
    [
        ((1, 1, 1, 1, 1), (1, 1, 1, 1, 1)),
        ((2, 2, 2, 2, 1), (1, 1, 1, 1, 1)),
        ((3, 2, 2, 2, 2), (4, 1, 1, 1, 1)),
        ((3, 3, 1, 1, 1), (3, 3, 1, 1, 1)),
        ((4, 3, 3, 1, 2), (4, 2, 2, 1, 1)),
        ((2, 2, 2, 0, 1), (2, 2, 2, 0, 1)),
    ],
)
def test_ties_of_five(drops: Numbers, points: Numbers) -> None:
    """Ties: tied players score a lower place. Five tied for first share fifth place, which scores as fourth."""
    assert scores("grass", drops) == points


@pytest.mark.parametrize(
    ("drops", "points"),
    [
        ((1, 1, 1, 1, 1), (3, 3, 3, 3, 3)),
        ((6, 1, 2, 1, 1), (3, 3, 3, 3, 3)),
        ((2, 1, 0, 1, 1), (4, 4, 0, 4, 4)),
        ((3, 0, 0, 1, 1), (6, 0, 0, 6, 6)),
        ((0, 3, 0, 0, 2), (0, 8, 0, 0, 8)),
        ((0, 0, 0, 0, 5), (0, 0, 0, 0, 10)),
    ],
)
def test_corn(drops: Numbers, points: Numbers) -> None:
    """Gioco in 5 giocatori: if all five players are on Corn, each scores 3; fewer score as usual."""
    assert scores("corn", drops) == points


def test_wheat_and_rice() -> None:
    """Wheat: 3 for every other of the five; Rice: 1 for each own drop."""
    state = harvest(5, {"b2": tile("wheat", (1, 1, 1, 2, 1))})
    assert by_seat(state, "points") == (3, 3, 3, 2, 3)
    assert by_seat(state, "wheat_tokens") == (0, 0, 0, 1, 0)
    assert scores("rice", (1, 2, 1, 3, 1), "rain") == (1, 2, 1, 3, 1)


def test_promos_with_five() -> None:
    """Fertilizer tokens and the Cactus: fifth place scores as fourth; on Corn each of five scores 3 + 1."""
    field = {
        "b2": tile("corn", (1, 1, 1, 1, 1), fertilizer=True),
        "d2": tile("grass", (5, 4, 3, 2, 1), fertilizer=True),
        "a4": tile("cactus", (5, 4, 3, 2, 1), fertilizer=True),
    }
    state = harvest(5, field, modules=["fertilizer", "cactus"])
    rows = ((4,) * 5, (5, 4, 3, 2, 2), (3, 2, 2, 1, 1))
    assert by_seat(state, "points") == tuple(map(sum, zip(*rows, strict=True)))


# --- Clean-up Phase and Game End -----------------------------------------------------------------------------------


def test_new_hands() -> None:
    """Ruling 5.1: 6 new cards each, in addition to up to 4 kept ones."""
    hands = ("", "frost sun wind rain", "rain rain", "", "frost frost")
    before = last_turn(5, votes=QUIET, hands=hands)
    for state in with_seeds(before, 10, "pass"):
        for seat in range(5):
            kept, now = Counter(hands[seat].split()), Counter(hand(state, seat))
            assert kept <= now
            assert now.total() == kept.total() + 6
        assert int(state["deck"].sum()) == 48 - 8 - 30


def test_discards_become_the_deck_when_it_runs_out() -> None:
    """Clean-up 3: the last cards of the deck are dealt, then the reshuffled discards of 48 cards."""
    changes: dict[str, Any] = {"deck": {"rain": 12}, "discards": {"frost": 11, "sun": 12, "wind": 12}}
    for state in with_seeds(last_turn(5, votes=QUIET, hands=["", "", "", "", "frost"], **changes), 10, "pass"):
        hands = [hand(state, seat) for seat in range(5)]
        assert [len(held) for held in hands] == [6, 6, 6, 6, 7]
        assert [held.count("rain") for held in hands] == [3, 3, 2, 2, 2]
        assert words(state["discards"]) == []
        assert int(state["deck"].sum()) == 48 - 1 - 30


def test_game_end() -> None:
    """Game End: Voting Wins and the Wheat bonus for all five, after round 4 of the short form."""
    state = final_round(5, points=(1, 2, 3, 4, 5), voting_wins=(4, 3, 2, 1, 0), wheat_tokens=(0, 2, 1, 0, 2))
    assert over(state)
    assert by_seat(state, "points") == (1 + 8, 2 + 5 + 12, 3 + 3, 4 + 1, 5 + 12)
