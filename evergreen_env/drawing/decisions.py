"""The pending decision in words, and the meaning of each answer."""

from __future__ import annotations

from collections.abc import Sequence

from evergreen_env.actions import ANYWHERE, DONE, DRAFT, GROW_TWO, NUM_ACTIONS, PLANT_AND_GROW, PLANT_THREE, POWER
from evergreen_env.state import (
    BIOME_NAMES,
    MAX_MARKET,
    NO_CARD,
    NOBODY,
    NUM_POWERS,
    PLACE_NAMES,
    Decision,
    Piece,
    Power,
    State,
)
from evergreen_env.words import PIECE_WORDS, POWER_WORDS, answer_name, card_word, piece_on, place_of_action
from tabletop.legal import NOTHING_ASKED
from tabletop.words import counted, win_text

_POWER_QUESTIONS = {
    Power.SPROUT: "where to plant a sprout",
    Power.SMALL_TREE: "which sprout becomes a small tree",
    Power.BIG_TREE: "which small tree becomes a big tree",
    Power.BUSH: "where to place a bush",
    Power.LAKE: "where to place a lake",
}


def is_taking_turns(s: State) -> bool:
    """Whether players take their turns, which the others see only when all are finished."""
    return s.decision not in (Decision.GAME_OVER, Decision.DRAFT)


def hides_actor(s: State, viewer: int | None) -> bool:
    """Whether the viewer may not know the pending decision and its actor."""
    return is_taking_turns(s) and viewer not in (None, s.actor)


def power_of(s: State) -> int:
    """The Power of the actor's card."""
    return int(s.card[s.actor]) % NUM_POWERS


def question(state: State) -> str:
    """The pending decision, as words that follow "player_0 is asked"."""
    decision = state.decision
    if decision == Decision.DRAFT:
        return "which card to take"
    if decision == Decision.TURN:
        return f"what to do with the card {card_word(int(state.card[state.actor]))}"
    if decision == Decision.PLANT:
        return f"where to plant a sprout ({counted(state.plants_left, 'sprout')} left)"
    if decision == Decision.GROW:
        return f"what to grow ({counted(state.growths_left, 'growth')} left)"
    if decision == Decision.PLANT_AND_GROW:
        return "what to plant or grow" if state.plants_left and state.growths_left else _one_left(state)
    if decision == Decision.ANYWHERE:
        return "what to plant or grow, in any biome"
    if decision == Decision.LAKE:
        return f"what to grow beside the lake ({counted(state.growths_left, 'growth')} left)"
    left = counted(state.uses_left, "use")
    return f"{_POWER_QUESTIONS[Power(power_of(state))]} ({left} left)"


def _one_left(s: State) -> str:
    return "where to plant a sprout" if s.plants_left else "what to grow"


def asked_text(state: State, viewer: int | None, names: Sequence[str]) -> str:
    """A sentence about the pending decision and its actor, as far as the viewer may know; None may know everything.

    It is "" while no decision is pending.
    """
    if state.decision == NOTHING_ASKED:
        return ""
    if state.decision == Decision.GAME_OVER:
        return f"Game over: {result_text(state, names)}."
    if hides_actor(state, viewer):
        return "All players take their turns."
    return f"{names[state.actor]} is asked {question(state)}."


def winners(s: State) -> list[int]:
    """The seats that have won; none before the end of the game."""
    from evergreen_env.config import Config

    return Config().game.winners(s) if s.decision == Decision.GAME_OVER else []


def result_text(s: State, names: Sequence[str]) -> str:
    """The result in words, with the names of the seats: `player_1 forfeited, player_0 wins`; in solo the points."""
    if s.players == 1:
        points = counted(int(s.points[0]), "point")
        return f"{names[0]} {'forfeited with' if s.forfeited != NOBODY else 'has'} {points}"
    who = win_text([names[seat] for seat in winners(s)])
    return who if s.forfeited == NOBODY else f"{names[s.forfeited]} forfeited, {who}"


def action_text(state: State, action: int) -> str:
    """The meaning of an action as an answer to the pending decision, as an imperative: "plant on c1".

    For an action that does not answer this decision it is the plain name. Raises IndexError outside 0 to
    NUM_ACTIONS - 1.
    """
    if not 0 <= action < NUM_ACTIONS:
        raise IndexError(f"action {action}: 0 to {NUM_ACTIONS - 1}")
    if state.decision == Decision.DRAFT and action - DRAFT < MAX_MARKET:
        card = int(state.market[action - DRAFT])
        if card != NO_CARD:
            marked = ", the marked card" if action - DRAFT == state.marker else ""
            return f"take the card {card_word(card)}{marked}"
    if state.decision == Decision.TURN:
        return _turn_text(state, action)
    if is_taking_turns(state):
        place = place_of_action(state, action)
        if place is not None:
            return _space_text(state, place)
        if action == DONE:
            return "stop here"
    return answer_name(state, action)


def _turn_text(s: State, action: int) -> str:
    card = int(s.card[s.actor])
    biome = BIOME_NAMES[card // NUM_POWERS] if card // NUM_POWERS < len(BIOME_NAMES) - 1 else "one biome"
    level = int(s.level[s.actor, power_of(s)]) + 1
    texts = {
        PLANT_THREE: f"plant up to 3 sprouts in {biome}",
        GROW_TWO: f"grow up to 2 spaces in {biome}",
        PLANT_AND_GROW: f"plant a sprout and grow another space in {biome}",
        ANYWHERE: "plant or grow once, in any biome",
        POWER: f"use the power {POWER_WORDS[power_of(s)]} at level {level}",
        DONE: f"end the turn without {_still_open(s)}",
    }
    return texts.get(action) or answer_name(s, action)


def _still_open(s: State) -> str:
    return " and ".join(word for word, open_ in (("an action", s.action_open), ("the power", s.power_open)) if open_)


def _space_text(s: State, place: int) -> str:
    name, there = PLACE_NAMES[place], piece_on(s, s.actor, place)
    if there is None:
        if s.decision == Decision.POWER and power_of(s) in (Power.BUSH, Power.LAKE):
            return f"place a {POWER_WORDS[power_of(s)]} on {name}"
        return f"plant a sprout on {name}"
    return f"grow the {PIECE_WORDS[there]} on {name}" if there in (Piece.SPROUT, Piece.SMALL_TREE) else name


def told_action(state: State, action: int, viewer: int | None) -> str:
    """`action_text` as the viewer may know it; "" in the turn of another player, which is shown only at the end."""
    return "" if hides_actor(state, viewer) else action_text(state, action)
