"""Phase 1: turns, paying with cards, the optional action, passing, and the hand limit."""

from __future__ import annotations

from petrichor_env.actions import CARD, DECLINE, FORECAST, PASS, PLAY, SUBSTITUTE
from petrichor_env.rules.asking import allow_cards, clockwise
from petrichor_env.rules.card_actions import start_action
from petrichor_env.rules.forecasts import allow_forecasts, play_forecast
from petrichor_env.rules.powers import price_of_another_card
from petrichor_env.rules.southern_winds import clear_winds_log, neutral_turn
from petrichor_env.state import (
    NO_CARD,
    NOBODY,
    NUM_KINDS,
    SELECTING,
    Decision,
    Phase,
    Reading,
    State,
    Timing,
    Variant,
)
from petrichor_env.tables import Tables
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import allow, ask, ask_nothing
from tabletop_engine.parts.turns import next_seat

HAND_LIMIT = 4
"""Cards a player may keep at the end of the Action Phase."""


@rule
def cards_in_hand(s: State, seat: int) -> int:
    """Action cards in a player's hand."""
    cards = 0
    for kind in range(NUM_KINDS):
        cards += int(s.hand[seat, kind])
    return cards


@rule
def discard(s: State, seat: int, kind: int, cards: int) -> None:
    """Discard cards of one kind from a hand."""
    s.hand[seat, kind] -= cards
    s.discards[kind] += cards


@rule
def discard_hand(s: State, seat: int) -> None:
    """Discard all cards of a hand."""
    for kind in range(NUM_KINDS):
        discard(s, seat, kind, int(s.hand[seat, kind]))


@rule
def start_action_phase(s: State, t: Tables) -> None:
    """Begin the phase; in solo the neutral player has the first turn."""
    s.phase = Phase.ACTION
    s.turns = 0
    s.turn_index = 0
    s.passed = NOBODY
    s.last_turns = 0
    s.harvested = 0
    s.no_actions[:] = 0
    if s.players == 1:
        neutral_turn(s, t)
    ask(s, Decision.TURN, s.first_player)


# --- A turn ----------------------------------------------------------------------------------------------------------


@rule
def allow_turn(s: State, t: Tables) -> None:
    """Play one card, or two cards as one of another kind, or pass; nobody passes on their first turn of the round."""
    allow_forecasts(s, t, Timing.ACTION_PHASE)
    cards = cards_in_hand(s, s.actor)
    if s.turns >= s.players or cards == 0:
        allow(s, PASS)
    if s.no_actions[s.actor] == 1:
        return
    for kind in range(NUM_KINDS):
        of_kind = int(s.hand[s.actor, kind])
        if of_kind >= 1:
            allow(s, PLAY + kind)
        if cards - of_kind >= price_of_another_card(s, kind):
            allow(s, SUBSTITUTE + kind)


@rule
def take_turn(s: State, t: Tables, action: int) -> None:
    """Answers TURN. A pass without cards is no choice, so the cards revealed before it stay visible."""
    if action != PASS or cards_in_hand(s, s.actor) > 0:
        clear_winds_log(s)
    if action >= FORECAST:
        s.no_actions[s.actor] = s.readings[Reading.FORECASTS_END_ACTIONS]
        play_forecast(s, t, action - FORECAST + 1)
    elif action == PASS:
        pass_turn(s, t)
    else:
        play(s, t, action, 1)


@rule
def allow_optional_action(s: State) -> None:
    """Two cards of a kind; two other cards may stand for each of them."""
    allow(s, DECLINE)
    cards = cards_in_hand(s, s.actor)
    for kind in range(NUM_KINDS):
        of_kind = int(s.hand[s.actor, kind])
        others = cards - of_kind
        price = price_of_another_card(s, kind)
        if of_kind >= 2:
            allow(s, PLAY + kind)
        if others >= 2 * price or (of_kind >= 1 and others >= price):
            allow(s, SUBSTITUTE + kind)


@rule
def choose_optional_action(s: State, t: Tables, action: int) -> None:
    """Answers OPTIONAL_ACTION."""
    if action == DECLINE:
        end_turn(s, t)
    else:
        s.optional = 1
        play(s, t, action, 2)


@rule
def play(s: State, t: Tables, action: int, matching: int) -> None:
    """Perform an action for that many matching cards, or ask which cards stand for them."""
    if action >= SUBSTITUTE:
        s.card = action - SUBSTITUTE
        s.cards_left = matching * price_of_another_card(s, s.card)
        s.lowest_card = 0
        ask(s, Decision.PAY, s.actor)
    else:
        s.card = action - PLAY
        discard(s, s.actor, s.card, matching)
        start_action(s, t)


@rule
def may_pay_with_the_card(s: State) -> bool:
    """Whether one of the two cards of an optional action may be of the kind itself. It is named before the others."""
    if s.optional == 0 or s.hand[s.actor, s.card] == 0:
        return False
    return bool(s.cards_left == 2 * price_of_another_card(s, s.card))


@rule
def allow_pay(s: State) -> None:
    """The next card that pays for the action, or the card itself in an optional action."""
    if may_pay_with_the_card(s):
        others = cards_in_hand(s, s.actor) - int(s.hand[s.actor, s.card])
        if others >= price_of_another_card(s, s.card):
            allow(s, CARD + s.card)
    allow_cards(s, s.hand[s.actor], s.card)


@rule
def pay(s: State, t: Tables, action: int) -> None:
    """Answers PAY: two cards of other kinds, for the Sun power one, for each missing card."""
    kind = action - CARD
    discard(s, s.actor, kind, 1)
    if kind == s.card:
        s.cards_left -= price_of_another_card(s, kind)
    else:
        s.cards_left -= 1
        s.lowest_card = kind
    if s.cards_left == 0:
        s.lowest_card = 0
        start_action(s, t)


@rule
def end_action(s: State, t: Tables) -> None:
    """After the vote: the optional action if nobody has passed yet, else the next turn.

    A player with two cards is asked even if no two fit. Otherwise the others would learn something about the hand.
    """
    s.card = NO_CARD
    if s.optional == 0 and s.passed == NOBODY and cards_in_hand(s, s.actor) >= 2:
        ask(s, Decision.OPTIONAL_ACTION, s.actor)
    else:
        end_turn(s, t)


@rule
def end_turn(s: State, t: Tables) -> None:
    """Go on to the next turn, or to the end of the phase after everybody's last turn."""
    s.optional = 0
    s.turns = min(s.turns + 1, s.players)
    if s.passed != NOBODY:
        s.last_turns -= 1
        if s.last_turns == 0:
            end_action_phase(s)
            return
    elif s.players == 1:
        neutral_turn(s, t)
    ask(s, Decision.TURN, next_seat(s))


# --- Passing ---------------------------------------------------------------------------------------------------------


@rule
def pass_turn(s: State, t: Tables) -> None:
    """The first to pass takes the marker (three players and more); the others have one more turn (Passing)."""
    if s.passed != NOBODY:
        end_turn(s, t)
        return
    s.passed = s.actor
    if s.players != 2:
        discard_hand(s, s.actor)
    if s.players == 1:
        if s.variants[Variant.ONE_MORE_TURN] == 1:
            neutral_turn(s, t)
        end_action_phase(s)
        return
    if s.players > 2:
        take_first_player_marker(s)
    s.last_turns = s.players - 1
    ask(s, Decision.TURN, next_seat(s))


@rule
def take_first_player_marker(s: State) -> None:
    """The marker must move: if the passing player has it already, it goes to the player on their right."""
    if s.first_player == s.actor:
        s.first_player = (s.actor - 1) % s.players
    else:
        s.first_player = s.actor


# --- Hand limit ------------------------------------------------------------------------------------------------------


@rule
def end_action_phase(s: State) -> None:
    """All turns are over: ask for the hand limit."""
    s.turns = s.players
    s.turn_index = 0
    continue_hand_limit(s)


@rule
def continue_hand_limit(s: State) -> bool:
    """Ask the next player with too many cards, from the first player on."""
    while s.turn_index < s.players:
        seat = clockwise(s, s.turn_index)
        too_many = cards_in_hand(s, seat) - HAND_LIMIT
        if too_many > 0:
            s.cards_left = too_many
            s.lowest_card = 0
            ask(s, Decision.DISCARD, seat)
            return True
        s.turn_index += 1
    s.phase = Phase.WEATHER
    s.turn_index = 0
    s.weather = SELECTING
    ask_nothing(s)
    return False


@rule
def allow_discard(s: State) -> None:
    """Any card in hand."""
    allow_cards(s, s.hand[s.actor], NO_CARD)


@rule
def discard_down(s: State, action: int) -> None:
    """Answers DISCARD."""
    kind = action - CARD
    discard(s, s.actor, kind, 1)
    s.cards_left -= 1
    s.lowest_card = kind
    if s.cards_left == 0:
        s.lowest_card = 0
        continue_hand_limit(s)
