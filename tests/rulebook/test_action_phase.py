"""Phase 1: Action Phase — turns, Playing Cards, Passing, Hand limit.

Without clouds a Sun, Wind or Rain action does nothing. So a turn is a card and a vote.
"""

from __future__ import annotations

from typing import Any

import pytest

from petrichor_env import Batch, Config
from petrichor_env.state import NOBODY, State
from tests.rulebook.base_game import (
    asked,
    by_seat,
    cards,
    cloud,
    game,
    hand,
    last_turn,
    legal_names,
    phase,
    tile,
    votes_on,
    weathers,
    words,
)
from tests.support.play import play


def turn_options(cards_in_hand: str, **changes: Any) -> set[str]:
    return legal_names(game(hands=(cards_in_hand, "frost"), **changes))


def optional_action(cards_in_hand: str, **changes: Any) -> State:
    """player_0 has done a Wind action and holds these cards."""
    return play(game(hands=(f"wind {cards_in_hand}", "frost frost"), **changes), "play wind", "vote wind")


# --- Phase 1: Action Phase -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("first", [0, 1])
def test_turns_go_clockwise_from_the_first_player(players: int, first: int) -> None:
    """Phase 1: play begins with the First Player and proceeds clockwise."""
    state = game(players, hands=["wind wind rain"] * players, first_player=f"player_{first}")
    for turn in range(2 * players):
        assert asked(state) == ("turn", (first + turn) % players)
        state = play(state, "play wind", "vote wind")
        if asked(state)[0] == "optional_action":
            state = play(state, "decline")


@pytest.mark.parametrize("players", [2, 3, 4])
def test_no_pass_on_the_first_turn_of_the_round(players: int) -> None:
    """Phase 1, note: a player may not pass on their first turn of the round, but on every later one (ruling 2.3)."""
    batch = Batch(Config(players=players), 5, seed=7)
    for state in batch.states.copy():
        for _ in range(players):
            state = play(state, sorted(legal_names(state))[0])
        for turn in range(3 * players):
            assert asked(state) == ("turn", (int(state["first_player"]) + turn) % players)
            assert ("pass" in legal_names(state)) == (turn >= players)
            seat = int(state["actor"])
            while asked(state)[1] == seat:
                names = legal_names(state)
                state = play(state, "decline" if "decline" in names else min(names - {"pass"}))


# --- Playing Cards -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("held", "options"),
    [
        ("frost", {"play frost"}),
        ("frost frost", {"play frost", "substitute sun", "substitute wind", "substitute rain"}),
        ("frost sun", {"play frost", "play sun", "substitute wind", "substitute rain"}),
        (
            "frost sun sun",
            {"play frost", "play sun", "substitute frost", "substitute wind", "substitute rain"},
        ),
        (
            "frost sun wind",
            {
                *("play frost", "play sun", "play wind"),
                *("substitute frost", "substitute sun", "substitute wind", "substitute rain"),
            },
        ),
    ],
)
def test_turn_options(held: str, options: set[str]) -> None:
    """Playing Cards 1: play a card in hand, play any two cards as another one, or pass."""
    assert turn_options(held) == options | {"pass"}


def test_play_one_card_for_an_action_and_a_vote() -> None:
    """Playing Cards 1: the card is discarded for (a) its action and (b) a vote."""
    state = play(game(hands=("frost wind", "sun")), "play frost")
    assert asked(state) == ("frost_tile", 0)
    state = play(state, "tile b2")
    assert cloud(state, "b2") == ("light", 1, 0)
    assert asked(state) == ("vote", 0)
    state = play(state, "vote frost")
    assert votes_on(state, "frost") == (1, 0)
    assert hand(state, 0) == ["wind"]
    assert words(state["discards"]) == ["frost"]
    assert asked(state) == ("turn", 1)


@pytest.mark.parametrize("kind", ["sun", "wind", "rain"])
def test_a_card_that_cannot_be_resolved(kind: str) -> None:
    """Playing Cards: the card may be played; its action is skipped, and the vote is mandatory."""
    state = play(game(hands=(kind, "frost")), f"play {kind}")
    assert asked(state) == ("vote", 0)
    assert not {"decline", "pass"} & legal_names(state)
    state = play(state, f"vote {kind}")
    assert votes_on(state, kind) == (1, 0)


@pytest.mark.parametrize(
    ("kind", "decision"), [("frost", "frost_tile"), ("sun", "sun_cloud"), ("wind", "wind_cloud"), ("rain", "rain_drop")]
)
def test_a_card_must_be_resolved_if_possible(kind: str, decision: str) -> None:
    """Playing Cards; ruling 2.5: an action must be resolved if possible, so it cannot be declined."""
    field = {"b1": tile(cloud=(1,)), "b3": tile(cloud=(1, 1))}
    state = play(game(hands=(kind, "frost"), field=field), f"play {kind}")
    assert asked(state) == (decision, 0)
    assert "decline" not in legal_names(state)


def test_example_sun_and_frost_as_rain() -> None:
    """Playing Cards: a Sun and a Frost card perform a Rain action; the vote goes by Rain, too."""
    state = game(hands=("frost sun", "frost"), field={"b2": tile("wheat", cloud=(2,))})
    state = play(state, "substitute rain")
    assert asked(state) == ("pay", 0)
    assert legal_names(state) == cards("frost")
    state = play(state, "card frost")
    assert asked(state) == ("pay", 0)
    assert legal_names(state) == cards("sun")
    state = play(state, "card sun")
    assert cloud(state, "b2") == ("light", 1, 0)
    assert asked(state) == ("vote", 0)
    assert legal_names(state) == {"vote rain", "vote frost", "die 4"}
    state = play(state, "vote frost")
    assert hand(state, 0) == []
    assert words(state["discards"]) == ["frost", "sun"]
    assert votes_on(state, "frost") == (1, 0)


@pytest.mark.parametrize(
    ("held", "kind", "first", "then"),
    [
        ("frost frost wind", "sun", ("frost",), {"frost": ("frost", "wind")}),
        ("frost sun sun", "wind", ("frost", "sun"), {"frost": ("sun",), "sun": ("sun",)}),
        ("frost wind wind rain", "sun", ("frost", "wind"), {"frost": ("wind", "rain"), "wind": ("wind", "rain")}),
        ("frost wind wind rain", "wind", ("frost",), {"frost": ("rain",)}),
    ],
)
def test_which_cards_pay_is_chosen(
    held: str, kind: str, first: tuple[str, ...], then: dict[str, tuple[str, ...]]
) -> None:
    """Ruling 2.2: any two cards of other kinds than the action pay for it. They are named in ascending order."""
    state = play(game(hands=(held, "frost")), f"substitute {kind}")
    assert asked(state) == ("pay", 0)
    assert legal_names(state) == cards(*first)
    for one, two in then.items():
        after = play(state, f"card {one}")
        assert asked(after) == ("pay", 0)
        assert legal_names(after) == cards(*two)
        for last in two:
            assert sorted(words(play(after, f"card {last}")["discards"])) == sorted([one, last])


# --- the optional action -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("held", "options"),
    [
        ("frost frost", {"play frost"}),
        ("frost sun", set()),
        ("frost frost sun", {"play frost", "substitute sun"}),
        ("frost frost frost", {"play frost"}),
        ("frost sun rain", {"substitute frost", "substitute sun", "substitute rain"}),
        ("frost frost frost frost", {"play frost", "substitute sun", "substitute wind", "substitute rain"}),
        ("frost frost sun rain", {"play frost", *(f"substitute {kind}" for kind in ("frost", "sun", "wind", "rain"))}),
        (
            "frost frost sun sun",
            {"play frost", "play sun", *(f"substitute {kind}" for kind in ("frost", "sun", "wind", "rain"))},
        ),
    ],
)
def test_optional_action_options(held: str, options: set[str]) -> None:
    """Playing Cards 2; ruling 2.2: two matching cards, or none. Two other cards may stand for each of them."""
    state = optional_action(held)
    assert asked(state) == ("optional_action", 0)
    assert legal_names(state) == options | {"decline"}


def test_optional_action_with_one_card_left_is_not_asked() -> None:
    """Playing Cards 2: an optional action takes at least two cards."""
    assert asked(optional_action("frost")) == ("turn", 1)


def test_optional_action_is_optional() -> None:
    """Playing Cards 2: declining keeps the cards and ends the turn."""
    state = play(optional_action("rain rain"), "decline")
    assert asked(state) == ("turn", 1)
    assert hand(state, 0) == ["rain", "rain"]


def test_optional_action_repeats_both_action_and_vote() -> None:
    """Playing Cards 2: two matching cards repeat 1a and 1b, once a turn."""
    state = play(optional_action("frost frost sun sun"), "play frost", "tile b2")
    assert cloud(state, "b2") == ("light", 1, 0)
    assert asked(state) == ("vote", 0)
    assert legal_names(state) == {"vote frost", "vote sun", "die 4"}
    state = play(state, "vote sun")
    assert hand(state, 0) == ["sun", "sun"]
    assert words(state["discards"]) == ["frost", "frost", "wind"]
    assert votes_on(state, "wind") == votes_on(state, "sun") == (1, 0)
    assert asked(state) == ("turn", 1)


def test_example_wind_and_sun_with_one_card_each() -> None:
    """Playing Cards, example: a Wind card, then Sun, Frost and Rain cards as an optional Sun action."""
    state = game(hands=("frost sun wind rain", "frost"), field={"b2": tile(cloud=(1,))})
    state = play(state, "play wind", "move north", "vote wind")
    state = play(state, "substitute sun")
    assert legal_names(state) == cards("sun")
    state = play(state, "card sun")
    assert legal_names(state) == cards("frost")
    state = play(state, "card frost")
    assert legal_names(state) == cards("rain")
    state = play(state, "card rain")
    assert cloud(state, "b1") == ("light", 3, 0)
    state = play(state, "vote sun")
    assert votes_on(state, "wind") == votes_on(state, "sun") == (1, 0)
    assert hand(state, 0) == []
    assert words(state["discards"]) == ["frost", "sun", "wind", "rain"]


def test_optional_action_for_any_four_other_cards() -> None:
    """Playing Cards: an optional Sun action may discard any four cards; ruling 2.2: of other kinds."""
    state = play(optional_action("frost frost wind rain"), "substitute sun")
    for kind in ("frost", "frost", "wind", "rain"):
        assert asked(state) == ("pay", 0)
        assert legal_names(state) == cards(kind)
        state = play(state, f"card {kind}")
    assert asked(state) == ("vote", 0)
    assert legal_names(state) == {"vote sun", "vote wind", "die 4"}
    assert words(state["discards"]) == ["frost", "frost", "wind", "wind", "rain"]


def test_optional_payment_is_chosen() -> None:
    """Playing Cards: either one Sun and any two others or four others; every such set can be named."""
    state = play(optional_action("frost frost sun wind rain"), "substitute sun")
    assert legal_names(state) == cards("sun", "frost")
    with_sun = play(state, "card sun")
    assert legal_names(with_sun) == cards("frost", "wind")
    assert legal_names(play(with_sun, "card frost")) == cards("frost", "wind", "rain")
    assert legal_names(play(with_sun, "card wind")) == cards("rain")
    without = state
    for kind in ("frost", "frost", "wind", "rain"):
        assert legal_names(without) - cards("sun") == cards(kind)
        without = play(without, f"card {kind}")
    assert hand(without, 0) == ["sun"]


def test_two_matching_cards_are_not_needed_when_others_can_pay() -> None:
    """Playing Cards: with two Suns in hand, one Sun and two others may still pay; the second Sun is no "other" card."""
    state = play(optional_action("frost sun sun rain"), "substitute sun")
    assert legal_names(state) == cards("sun")
    state = play(state, "card sun")
    assert legal_names(state) == cards("frost")
    state = play(state, "card frost", "card rain")
    assert hand(state, 0) == ["sun"]


@pytest.mark.parametrize("players", [2, 3])
def test_no_optional_action_after_somebody_passed(players: int) -> None:
    """Playing Cards 2; Passing: an optional action is possible only while nobody has passed."""
    state = game(
        players,
        hands=("", "wind rain rain", "wind rain rain"),
        passed="player_0",
        actor="player_1",
        last_turns=players - 1,
    )
    state = play(state, "play wind", "vote wind")
    assert asked(state)[0] != "optional_action"
    assert hand(state, 1)[:3].count("rain") >= 2


def test_last_turn_may_be_a_substituted_action() -> None:
    """Playing Cards: any two cards as another one, also in the last turn after somebody passed."""
    state = last_turn(hands=("", "frost sun sun sun"))
    options = {"play frost", "play sun", *(f"substitute {kind}" for kind in ("frost", "wind", "rain")), "pass"}
    assert legal_names(state) == options


# --- Passing - 3 and 4 player games --------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("passer", [1, 2])
def test_first_to_pass_discards_and_takes_the_marker(players: int, passer: int) -> None:
    """Passing, 3 and 4 players: discard all cards, take the First Player marker immediately."""
    state = game(players, hands=["frost sun sun"] * players, actor=f"player_{passer}")
    state = play(state, "pass")
    assert hand(state, passer) == []
    assert words(state["discards"]) == ["frost", "sun", "sun"]
    assert (state["first_player"], state["passed"]) == (passer, passer)
    assert asked(state) == ("turn", (passer + 1) % players)


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("first", [0, 1])
def test_marker_moves_anticlockwise_if_the_first_player_passes(players: int, first: int) -> None:
    """Passing, 3 and 4 players: the marker must move, so the passing player becomes the second in turn order."""
    state = game(players, hands=["frost sun"] * players, first_player=f"player_{first}")
    state = play(state, "pass")
    assert state["first_player"] == (first - 1) % players
    assert asked(state) == ("turn", (first + 1) % players)


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("passer", range(3))
def test_all_others_take_one_more_turn(players: int, passer: int) -> None:
    """Passing, 3 and 4 players; ruling 2.4: one more turn each, clockwise from the passer, then the phase ends."""
    votes = {"frost": (2,), "sun": (2,), "wind": (1,), "rain": (1,)}
    state = play(game(players, hands=["wind wind"] * players, actor=f"player_{passer}", votes=votes), "pass")
    for turn in range(1, players):
        assert phase(state) == "action"
        assert asked(state) == ("turn", (passer + turn) % players)
        state = play(state, "play wind", "die 4" if turn == 1 else "vote rain")
    assert asked(state)[0] == "choose_weather"


def test_passing_after_the_first_does_nothing() -> None:
    """Passing, 3 and 4 players: any other player passing keeps hand and marker as they are."""
    hands = ("", "frost sun sun", "frost wind")
    state = game(3, hands=hands, passed="player_0", first_player="player_0", actor="player_1", last_turns=2)
    state = play(state, "pass")
    assert hand(state, 1) == ["frost", "sun", "sun"]
    assert (state["first_player"], state["passed"]) == (0, 0)
    assert asked(state) == ("turn", 2)


def test_new_first_player_has_the_privileges_at_once() -> None:
    """Passing, 3 and 4 players: the new First Player breaks ties in the Weather Phase of the same round."""
    votes = {"frost": (2,), "sun": (2,), "wind": (2,)}
    state = game(3, hands=("frost", "frost", "frost"), first_player="player_0", actor="player_1", votes=votes)
    state = play(state, "pass", "pass", "pass")
    assert asked(state) == ("choose_weather", 1)
    assert legal_names(state) == weathers("frost", "sun", "wind")


def test_without_cards_one_must_pass() -> None:
    """Phase 1; ruling 2.3: a player without cards must pass, even as the first to do so."""
    state = play(game(3, hands=("wind", "", "frost")), "play wind", "vote wind")
    assert (state["passed"], state["first_player"]) == (1, 1)
    assert asked(state) == ("turn", 2)


# --- Passing - 2 player games --------------------------------------------------------------------------------------


@pytest.mark.parametrize("passer", [0, 1])
def test_two_players_pass_keeps_hand_and_marker(passer: int) -> None:
    """Passing, 2 players: nothing is discarded, the marker stays, the other player takes one more turn."""
    state = play(game(hands=("frost sun", "wind rain"), actor=f"player_{passer}"), "pass")
    assert (hand(state, 0), hand(state, 1)) == (["frost", "sun"], ["wind", "rain"])
    assert (state["passed"], state["first_player"]) == (passer, 0)
    assert asked(state) == ("turn", 1 - passer)


def test_two_players_exactly_one_more_turn() -> None:
    """Passing, 2 players; ruling 2.4: after the one turn, without an optional action, the phase ends."""
    votes = {"frost": (2,), "sun": (2,), "wind": (2,)}
    state = play(game(hands=("frost", "wind wind wind"), votes=votes), "pass", "play wind", "die 4")
    assert phase(state) == "weather"
    assert asked(state) == ("choose_weather", 0)
    assert hand(state, 1) == ["wind", "wind"]


def test_two_players_both_pass() -> None:
    """Passing, 2 players: the last turn may be a pass too, which discards nothing either."""
    votes = {"frost": (2,), "sun": (2,), "wind": (2,)}
    state = play(game(hands=("frost sun", "wind rain"), votes=votes), "pass", "pass")
    assert asked(state) == ("choose_weather", 0)
    assert (hand(state, 0), hand(state, 1)) == (["frost", "sun"], ["wind", "rain"])


# --- Hand limit ----------------------------------------------------------------------------------------------------

TIE = {"frost": (2,), "sun": (2,), "wind": (2,)}
"""Keeps the Weather Phase at its first decision."""


def test_hand_limit_discards_down_to_4() -> None:
    """Hand limit: a player with 5 or more cards chooses which to discard, down to 4."""
    state = last_turn(hands=("", "frost frost frost sun sun rain"), votes=TIE)
    state = play(state, "pass")
    assert asked(state) == ("discard", 1)
    assert legal_names(state) == cards("frost", "sun")
    assert legal_names(play(state, "card frost")) == cards("frost", "sun", "rain")
    state = play(state, "card sun")
    assert asked(state) == ("discard", 1)
    assert legal_names(state) == cards("sun", "rain")
    state = play(state, "card rain")
    assert hand(state, 1) == ["frost", "frost", "frost", "sun"]
    assert words(state["discards"]) == ["sun", "rain"]
    assert phase(state) == "weather"


@pytest.mark.parametrize("kept", ["", "frost", "frost sun wind rain", "sun sun sun sun"])
def test_hand_limit_leaves_up_to_4_alone(kept: str) -> None:
    """Hand limit: nothing to discard with 4 cards or fewer."""
    state = play(last_turn(hands=(kept, "frost frost"), votes=TIE), "pass")
    assert asked(state) == ("choose_weather", 0)
    assert hand(state, 0) == kept.split()


@pytest.mark.parametrize(("first", "order"), [(0, (0, 1)), (1, (1, 0))])
def test_hand_limit_goes_from_the_first_player(first: int, order: tuple[int, int]) -> None:
    """Hand limit; ruling 2.9: players discard one after another from the first player."""
    hands = ("frost sun wind rain rain", "frost sun wind rain rain")
    state = play(last_turn(hands=hands, first_player=f"player_{first}", votes=TIE), "pass")
    for seat in order:
        assert asked(state) == ("discard", seat)
        assert legal_names(state) == cards("frost", "sun", "wind", "rain")
        state = play(state, "card wind")
    assert asked(state) == ("choose_weather", first)


def test_hand_limit_with_three_players() -> None:
    """Hand limit; ruling 2.9: clockwise; the first to pass holds nothing."""
    hands = ("frost", "sun sun sun sun sun", "rain rain rain rain rain rain")
    state = play(game(3, hands=hands, votes=TIE, actor="player_0", first_player="player_1"), "pass", "pass", "pass")
    assert state["first_player"] == 0
    assert asked(state) == ("discard", 1)
    assert legal_names(state) == cards("sun")
    state = play(state, "card sun")
    assert asked(state) == ("discard", 2)
    assert legal_names(state) == cards("rain")
    state = play(state, "card rain", "card rain")
    assert asked(state) == ("choose_weather", 0)
    assert [len(hand(state, seat)) for seat in range(3)] == [0, 4, 4]


def test_nobody_has_passed_at_the_start_of_a_round() -> None:
    """Phase 1: the passing of a round ends with it; the next one begins with its First Player, who may not pass."""
    state = play(last_turn(3, votes={"frost": (1,), "sun": (1,)}), "pass")
    assert (state["round"], int(state["passed"])) == (2, NOBODY)
    assert asked(state) == ("turn", 0)
    assert "pass" not in legal_names(state)
    assert by_seat(state, "points") == (0, 0, 0)
