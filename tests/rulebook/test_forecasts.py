"""Flowers, Carte Previsione: Setup, Uso delle carte Previsione, and what stays hidden."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from petrichor_env import Batch, Config
from petrichor_env.config import MODULES
from petrichor_env.state import NOBODY, PLAYED, Decision, State
from tests.rulebook.base_game import (
    NEXT,
    asked,
    by_seat,
    cards,
    end_round,
    final_round,
    game,
    hand,
    last_turn,
    legal_names,
    over,
    phase,
    tile,
    words,
)
from tests.rulebook.modules import (
    FORECAST_FIELD,
    asked_for,
    block,
    final_rain,
    forecasts,
    forecasts_of,
    offer,
    playable,
    view,
)
from tests.support.play import play

TURN_CARDS = (10, 11, 12, 13, 14, 15, 16)
TIE = {"frost": (2,), "sun": (2,), "wind": (2,)}
"""Keeps the Weather Phase at its first decision."""
QUIET = {"frost": (1, 1), "rain": (1, 1)}
"""Frost and Rain, which ask nobody anything."""


def at_first_turn(config: Config, games: int, seed: int = 0) -> np.ndarray:
    """Games played on at random up to their first turn."""
    batch = Batch(config, games, seed=seed, autoreset="disabled")
    while (batch.states["decision"] != Decision.TURN).any():
        batch.step(batch.random_actions())
    return batch.states.copy()


# --- Setup


@pytest.mark.parametrize("players", [1, 2, 3, 4, 5])
def test_three_cards_for_every_player(players: int) -> None:
    """Setup: each player gets three different cards, in solo only the player; the rest stays in the box."""
    states = at_first_turn(Config(players=players, modules=("forecasts",)), 100)
    for state in states:
        assert [len(forecasts_of(state, seat)) for seat in range(players)] == [3] * players
        assert len(forecasts_of(state, NOBODY)) == 16 - 3 * players
    for seat in range(players):
        assert (states["forecast_holder"] == seat).any(axis=0).all(), "any card can come to any player"


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_dealt_when_the_base_setup_is_done(players: int) -> None:
    """Setup: they are dealt after the setup of the base game, including its clouds."""
    batch = Batch(Config(players=players, modules=("forecasts",)), 20, seed=3, autoreset="disabled")
    for _ in range(players):
        assert (batch.states["decision"] == Decision.SETUP_CLOUD).all()
        assert (batch.states["forecast_holder"] == NOBODY).all()
        batch.step(batch.random_actions())
    assert (batch.states["decision"] == Decision.TURN).all()
    assert (np.sort(batch.states["forecast_holder"])[:, -3 * players :] >= 0).all()


@pytest.mark.parametrize("players", [2, 5])
def test_beside_all_other_modules(players: int) -> None:
    """Flowers: the modules can be used in any combination with the base game."""
    for seed in range(5):
        state = at_first_turn(Config(players=players, drafting=seed > 2, modules=MODULES), 1, seed)[0]
        assert [len(forecasts_of(state, seat)) for seat in range(players)] == [3] * players


def test_none_without_the_module() -> None:
    """Flowers: the modules are optional."""
    state = Batch(Config(players=2), 1, seed=0).states[0]
    for seat in range(2):
        assert not any(block(state, seat, "forecasts"))
        assert not any(block(state, seat, "forecasts_held"))


# --- the hand: Le carte Previsione non vengono conteggiate nel numero di carte in mano


@pytest.mark.parametrize(("players", "sizes"), [(1, {8}), (2, {7, 8}), (3, {7}), (4, {6}), (5, {6})])
def test_hands_are_dealt_as_without(players: int, sizes: set[int]) -> None:
    """Uso: hands are as large as without the module; the forecast cards come on top."""
    states = at_first_turn(Config(players=players, modules=("forecasts",)), 5)
    assert set(states["hand"][:, :players].sum(axis=2).flatten()) == sizes


def test_dealing_between_rounds() -> None:
    """Uso: between rounds the usual number of cards is dealt, and no forecast cards."""
    held = ((5, 13, 16), (10, 14))
    state = end_round(hands=("frost frost", "sun"), votes=QUIET, **forecasts(*held))
    state = play(state, "decline")
    assert state["round"] == 2
    assert [len(hand(state, seat)) for seat in range(2)] == [9, 8]
    assert [tuple(forecasts_of(state, seat)) for seat in range(2)] == list(held)
    assert len(forecasts_of(state, NOBODY)) == 10


def test_hand_limit_does_not_count_them() -> None:
    """Uso; Hand limit: four cards and three forecast cards are allowed; no forecast card is discarded."""
    held = forecasts((6, 13, 16), (8, 10, 14))
    state = end_round(hands=("frost sun wind rain", "frost sun wind rain"), votes=TIE, **held)
    assert asked(state) == ("choose_weather", 0)
    state = end_round(hands=("", "frost sun wind rain rain"), votes=TIE, **held)
    assert asked(state) == ("discard", 1)
    assert legal_names(state) == cards("frost", "sun", "wind", "rain")
    state = play(state, "card wind")
    assert asked(state) == ("choose_weather", 0)
    assert forecasts_of(state, 1) == [8, 10, 14]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_passing_keeps_them(players: int) -> None:
    """Uso; Passing: the first to pass discards the hand, but no forecast cards: they are not part of it."""
    state = play(game(players, **forecasts((13, 1, 2)), votes=TIE), "pass")
    assert hand(state, 0) == ([] if players > 2 else ["frost"])
    assert forecasts_of(state, 0) == [1, 2, 13]


def test_they_are_no_cards_for_substituting() -> None:
    """Uso; Playing Cards: two cards stand for another one, but a forecast card is none of them."""
    state = game(hands=("frost", "frost sun"), **forecasts((13, 1, 2)))
    assert legal_names(state) == {"play frost", "pass", "forecast 13"}


def test_they_do_not_count_for_the_optional_action() -> None:
    """Uso; Playing Cards 2: with one card left nobody is asked for the optional action; forecasts are no help."""
    state = game(hands=("frost frost", "frost sun"), **forecasts((13, 14, 15)))
    assert asked(play(state, "play frost", "tile b1", "vote frost")) == ("turn", 1)
    state = game(hands=("frost frost frost", "frost sun"), **forecasts((13, 14, 15)))
    state = play(state, "play frost", "tile b1", "vote frost")
    assert asked(state) == ("optional_action", 0)
    assert legal_names(state) == {"play frost", "decline"}, "a forecast card is no optional action"


# --- two of the three cards


def test_two_of_the_three() -> None:
    """Uso: each player can play two of the three; after the second the third is discarded."""
    state = game(hands=("frost", "frost frost sun"), **forecasts((5, 13, 16)))
    before = set(forecasts_of(state, PLAYED))
    state = play(state, "forecast 13")
    assert forecasts_of(state, 0) == [5, 16]
    assert set(forecasts_of(state, PLAYED)) == before | {13}
    state = play(state, "play sun", "vote sun", "decline")
    assert asked(state) == ("turn", 0)
    assert legal_names(state) == {"play frost", "pass", "forecast 16"}
    state = play(state, "forecast 16", "tile b1")
    assert forecasts_of(state, 0) == []
    assert set(forecasts_of(state, PLAYED)) == before | {5, 13, 16}
    state = play(state, "pass")
    assert asked(state) == ("turn", 0)
    assert legal_names(state) == {"play frost", "pass"}
    assert asked(play(state, "pass"))[0] != "forecast", "card 5 is gone"


def test_the_third_card_goes_in_a_window_too() -> None:
    """Uso: after a second card before Rain weather the third is discarded, though it fits the same moment."""
    field = {"b1": tile("grass", cloud=(1,))}
    three = final_rain(forecasts((6, 9, 13)), field)
    assert legal_names(three) == offer(6, 9)
    after = play(three, "forecast 6")
    assert asked(after) == ("forecast", 0)
    assert legal_names(after) == offer(9)
    after = play(after, "forecast 9", "tile c1")
    assert over(after)
    assert forecasts_of(after, 0) == []
    two = final_rain(forecasts((6, 9)), field)
    assert legal_names(two) == offer(6, 9)
    after = play(two, "forecast 6")
    assert over(after)
    assert forecasts_of(after, 0) == []


def test_played_cards_never_come_back() -> None:
    """Uso: a played card leaves the game: it is in no deck, and nobody draws another for it."""
    state = game(hands=("", "sun"), votes=QUIET, **forecasts((13, 5, 9), (12, 10, 11)))
    state = play(state, "forecast 13", "pass", "pass")
    assert asked(state) == ("forecast", 0), "card 5"
    state = play(state, "decline")
    while asked(state)[0] == "forecast":
        state = play(state, "decline")
    assert state["round"] == 2
    assert forecasts_of(state, PLAYED) == [13]
    assert (forecasts_of(state, 0), forecasts_of(state, 1)) == ([5, 9], [10, 11, 12])
    assert sum(words_in_game(state)) == 40


@pytest.mark.parametrize("players", [1, 3])
def test_nobody_ever_gains_one(players: int) -> None:
    """Uso: in random games players hold three, then two, then none; cards that left never come back."""
    batch = Batch(Config(players=players, modules=("forecasts",)), 10, seed=5, autoreset="disabled")
    before = batch.states.copy()
    while not batch.terminations.any():
        batch.step(batch.random_actions())
        holders, was = batch.states["forecast_holder"], before["forecast_holder"]
        dealt = (before["decision"] != Decision.SETUP_CLOUD)[:, None]
        assert (~dealt | (holders == was) | ((was >= 0) & (holders == PLAYED))).all()
        for seat in range(players):
            assert set((holders == seat).sum(axis=1)) <= {0, 2, 3}
        before = batch.states.copy()


def words_in_game(state: State) -> list[int]:
    return [len(words(state["deck"])), len(words(state["discards"])), *(len(hand(state, seat)) for seat in range(2))]


# --- instead of the turn (ruling 5.6)

CLOUDS = {"b1": tile("rice", (2, 2), cloud=(1, 1)), "c1": tile(cloud=(0, 1))}


@pytest.mark.parametrize("number", TURN_CARDS)
def test_no_vote_and_no_optional_action(number: int) -> None:
    """Ruling 5.6: a turn with a forecast card has no vote and no second action; the hand stays as it is."""
    state = game(hands=("frost frost frost", "frost sun"), field=CLOUDS, **forecasts((number, 1, 2)))
    assert playable([number]) <= legal_names(state)
    state = play(state, f"forecast {number}")
    while asked(state)[1] == 0:
        assert asked(state)[0] in ("forecast_tile", "forecast_drop")
        state = play(state, min(legal_names(state)))
    assert asked(state) == ("turn", 1)
    assert by_seat(state, "vote_supply") == (12, 12)
    assert hand(state, 0) == ["frost", "frost", "frost"]
    assert (int(state["passed"]), int(state["first_player"])) == (NOBODY, 0)


@pytest.mark.parametrize("held", [(1, 2, 3), (4, 5, 6), (7, 8, 9)])
def test_cards_with_a_timeline_are_none_of_the_turn(held: tuple[int, ...]) -> None:
    """Uso: cards with a timeline are played only at its point."""
    state = game(field=CLOUDS, **forecasts(held))
    assert legal_names(state) == {"play frost", "pass"}


def test_cards_without_a_timeline_belong_to_the_turn() -> None:
    """Uso: cards without a timeline belong to the player's own turn; nobody is asked for one later."""
    field = {"a1": tile("corn", (3, 3, 3), cloud=(3, 1, 1)), "b1": tile(cloud=(1,))}
    held = forecasts((10, 13, 16), (11, 12, 15))
    assert asked_for(final_round(3, field=field, votes=dict.fromkeys(NEXT, (1, 1)), **held)) == []


def test_on_the_first_turn_of_a_round() -> None:
    """Ruling 5.6: a forecast card is a turn, not a pass: it may be played where passing isn't allowed."""
    state = game(hands=("frost", "frost sun"), turns=0, **forecasts((13, 1, 2)))
    assert legal_names(state) == {"play frost", "forecast 13"}
    state = play(state, "forecast 13")
    assert asked(state) == ("turn", 1)
    assert "pass" not in legal_names(state)
    state = play(state, "play sun", "vote sun")
    assert asked(state) == ("turn", 0)
    assert legal_names(state) == {"play frost", "pass"}


@pytest.mark.parametrize("players", [2, 3])
def test_with_an_empty_hand(players: int) -> None:
    """Ruling 5.6: a forecast card is a turn even without action cards; a player without either must pass."""
    state = game(
        players,
        hands=("", "frost frost", "frost frost"),
        **forecasts((13, 7, 8)),
        first_player="player_1",
        actor="player_0",
    )
    assert asked(state) == ("turn", 0)
    assert legal_names(state) == {"pass", "forecast 13"}
    state = play(state, "forecast 13")
    assert asked(state) == ("turn", 1)
    assert (int(state["passed"]), int(state["first_player"])) == (NOBODY, 1)
    for _ in range(1, players):
        state = play(state, "play frost", min(legal_names(play(state, "play frost"))), "vote frost")
    assert asked(state) == ("turn", 0), "they hold cards, which nobody else has seen"
    assert legal_names(state) == {"pass"}, "but neither card nor forecast for a turn"
    state = play(state, "pass")
    assert int(state["passed"]) == 0
    assert asked(state) == ("turn", 1)


@pytest.mark.parametrize("held", [(1, 2, 3), (13, 7, 8)])
def test_asked_with_an_empty_hand_whatever_they_hold(held: tuple[int, ...]) -> None:
    """Setup: the cards are hidden, so a player is asked whether or not one of them can be played."""
    state = play(game(2, hands=("frost", ""), **forecasts((), held)), "play frost", "tile b1", "vote frost")
    assert asked(state) == ("turn", 1)
    assert asked(play(game(2, hands=("frost", "")), "play frost", "tile b1", "vote frost")) != ("turn", 1)


def test_as_the_one_turn_left_after_a_pass() -> None:
    """Ruling 5.6: a forecast card can be the last turn; then the next player has theirs."""
    state = last_turn(**forecasts((), (13, 7, 8)), votes=TIE)
    assert legal_names(state) == {"play frost", "pass", "forecast 13"}
    state = play(state, "forecast 13")
    assert asked(state) == ("choose_weather", 0)
    assert hand(state, 1) == ["frost"]
    held = forecasts((), (13, 7, 8), (10, 16))
    turn: dict[str, Any] = {
        "passed": "player_0",
        "first_player": "player_0",
        "actor": "player_1",
        "last_turns": 2,
        "votes": TIE,
    }
    state = game(3, hands=("", "", ""), **turn, **held)
    assert legal_names(state) == {"pass", "forecast 13"}
    state = play(state, "forecast 13")
    assert asked(state) == ("turn", 2)
    assert legal_names(state) == {"pass", "forecast 16"}, "card 10 has no cloud"
    state = play(state, "forecast 16", "tile b2")
    assert phase(state) == "weather"
    assert (int(state["passed"]), int(state["first_player"])) == (0, 0)


def test_cards_can_be_played_in_a_later_turn() -> None:
    """Ruling 5.6: only "that turn" has no second action; in the next turn action cards are played as usual."""
    state = play(game(hands=("frost", "frost sun"), **forecasts((13, 7, 8))), "forecast 13", "play sun", "vote sun")
    assert asked(state) == ("turn", 0)
    assert "play frost" in legal_names(state)


# --- hidden: Tenere queste carte nascoste agli altri giocatori

HANDS = ((1, 5, 10), (2, 6, 11), (3, 7, 12))
FIELD_3 = {"b1": tile("rice", (2, 2), cloud=(1, 1)), "c1": tile(cloud=(0, 1, 1))}


def same(first: State, second: State, seat: int) -> bool:
    return bool((view(first, seat) == view(second, seat)).all())


@pytest.mark.parametrize("viewer", [0, 1, 2])
def test_others_cards_are_not_observed(viewer: int) -> None:
    """Setup: other players' cards are hidden: a view stays the same if they are swapped, also with the box."""
    state = game(3, field=FIELD_3, **forecasts(*HANDS))
    left, right = (viewer + 1) % 3, (viewer + 2) % 3
    exchanged, boxed = list(HANDS), list(HANDS)
    exchanged[left], exchanged[right] = HANDS[right], HANDS[left]
    boxed[left], boxed[right] = (4, 8, 13), (9, 14, 16)
    for other in (exchanged, boxed):
        changed = game(3, field=FIELD_3, **forecasts(*other))
        assert same(state, changed, viewer)
        assert not same(state, changed, left)


def test_own_cards_and_numbers_are_observed() -> None:
    """Setup: a player sees their own cards, how many others hold, and which were played or discarded."""
    state = game(3, **forecasts((1, 5, 10), (2, 6)))
    out = forecasts_of(state, PLAYED)
    for seat, (own, held) in enumerate([((1, 5, 10), (3, 2, 0)), ((2, 6), (2, 0, 3)), ((), (0, 3, 2))]):
        assert [n for n, there in enumerate(block(state, seat, "forecasts"), 1) if there] == list(own)
        assert [n for n, there in enumerate(block(state, seat, "forecasts_played"), 1) if there] == out
        numbers = np.array(block(state, seat, "forecasts_held"))
        assert numbers / numbers.max() == pytest.approx(np.array([*held, 0, 0]) / 3)


def test_whose_decision_it_is_stays_hidden() -> None:
    """Setup: others don't see whose `forecast` decision it is, so it tells nothing about the cards that are kept."""
    field = {"b1": tile("grass", cloud=(1, 1, 1))}
    first = final_rain(forecasts((6, 13, 16), (10, 14, 15), (7, 11, 12)), field, 3)
    second = final_rain(forecasts((10, 14, 15), (6, 13, 16), (7, 11, 12)), field, 3)
    assert (asked(first), asked(second)) == (("forecast", 0), ("forecast", 1))
    assert same(first, second, 2)
    for state, actor in ((first, 0), (second, 1)):
        for seat in range(3):
            assert sum(block(state, seat, "decision")) == sum(block(state, seat, "actor")) == (seat == actor)


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6, 7, 8, 9])
def test_hidden_at_every_point_of_the_timeline(number: int) -> None:
    """Setup: at each point with one decision, others see the same, whichever cards the player holds."""
    votes = {"sun": (1,), "wind": (1,), "rain": (1,)}
    state = final_round(field=FORECAST_FIELD, votes=votes, **forecasts((number, 13, 16)))
    while asked(state)[0] != "forecast":
        state = play(state, min(legal_names(state)))
    assert asked(state) == ("forecast", 0)
    assert not any(block(state, 1, "decision"))
    assert not any(block(state, 1, "actor"))
    other = state.copy()
    holder = other["forecast_holder"]
    others = [n for n in range(1, 17) if int(holder[n - 1]) == NOBODY][:3]
    for kept, swapped in zip((number, 13, 16), others, strict=True):
        holder[kept - 1], holder[swapped - 1] = NOBODY, 0
    assert same(state, other, 1)
    assert not same(state, other, 0)


def test_a_turn_is_no_secret() -> None:
    """Phase 1: everybody sees whose turn it is, even if that player holds forecast cards."""
    state = game(3, **forecasts(*HANDS))
    for seat in range(3):
        assert sum(block(state, seat, "decision")) == 1
        assert np.argmax(block(state, seat, "actor")) == (0 - seat) % 3


def test_a_played_card_is_seen() -> None:
    """Uso: everybody sees which card is played."""
    before = game(3, actor="player_2", **forecasts(*HANDS[:2], (3, 13, 16)))
    assert block(before, 0, "forecasts_played")[12] == 0
    after = play(before, "forecast 13")
    assert block(after, 0, "forecasts_played")[12] == 1
    after = play(game(3, field=FIELD_3, **forecasts(*HANDS)), "forecast 10")
    assert asked(after) == ("forecast_tile", 0)
    assert block(after, 1, "forecasts_played")[9] == 1, "while it takes effect"
    assert sum(block(after, 1, "decision")) == sum(block(after, 1, "actor")) == 1
