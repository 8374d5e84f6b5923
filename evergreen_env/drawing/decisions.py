"""The decisions: what is known of each in one table, the pending one in words, and the meaning of each answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evergreen_env.actions import (
    ANYWHERE,
    DONE,
    DRAFT,
    GROW_TWO,
    NUM_ACTIONS,
    PLANT_AND_GROW,
    PLANT_THREE,
    POWER,
    SPACE,
    range_of,
)
from evergreen_env.component_files import load_tables
from evergreen_env.config import Config
from evergreen_env.drawing import lessons
from evergreen_env.state import (
    BIOME_NAMES,
    NO_CARD,
    NOBODY,
    NUM_POWERS,
    PLACE_NAMES,
    WILD,
    Decision,
    Piece,
    Power,
    State,
)
from evergreen_env.tables import Tables
from evergreen_env.words import (
    PIECE_WORDS,
    POWER_WORDS,
    answer_name,
    card_word,
    piece_on,
    place_of_action,
    power_of,
    tables_of,
)
from tabletop_engine.decisions import check_table
from tabletop_engine.legal import NOTHING_ASKED
from tabletop_engine.presentation import Lesson, Paragraphs
from tabletop_engine.text.words import counted, win_text


def is_taking_turns(s: State) -> bool:
    """Whether players take their turns, which the others see only when all are finished."""
    return s.decision not in (Decision.GAME_OVER, Decision.DRAFT)


def hides_actor(s: State, viewer: int | None) -> bool:
    """Whether the viewer may not know the pending decision and its actor."""
    return is_taking_turns(s) and viewer not in (None, s.actor)


def question(state: State) -> str:
    """`Words.question`."""
    words = ASKED[Decision(state.decision)].question
    return words if isinstance(words, str) else words(state)


def lesson(config: Config, state: State | None = None, tables: np.ndarray | None = None) -> Lesson:
    """`Words.lesson`."""
    if state is None:
        t = (load_tables(config.components) if tables is None else tables)[0]
        return Lesson.of(lessons.introduction(config, t))
    return Lesson.of(ASKED[Decision(state.decision)].lesson(state, tables_of(tables)))


def continues_answer(before: State, state: State) -> bool:
    """`Words.continues_answer`: on which spaces an action or a power works."""
    return ASKED[Decision(state.decision)].part in ("action", "power")


def gives_up(state: State, action: int) -> str:
    """`Words.gives_up`: the action or the power of a turn that ends without."""
    if (state.decision, action) != (Decision.TURN, DONE):
        return ""
    return f"Your turn ends without {' and '.join(_still_open(state))}."


def aside(state: State, action: int) -> str:
    """`Words.aside`: every answer is offered at once."""
    return ""


def declines(state: State, action: int) -> bool:
    """`Words.declines`: to stop within an action or a power."""
    return bool(action == DONE and state.decision != Decision.TURN)


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
    return Config().game.winners(s) if s.decision == Decision.GAME_OVER else []


def result_text(s: State, names: Sequence[str]) -> str:
    """The result in words, with the names of the seats: `player_1 forfeited, player_0 wins`; in solo the points."""
    if s.players == 1:
        points = counted(int(s.points[0]), "point")
        return f"{names[0]} {'forfeited with' if s.forfeited != NOBODY else 'has'} {points}"
    who = win_text([names[seat] for seat in winners(s)])
    return who if s.forfeited == NOBODY else f"{names[s.forfeited]} forfeited, {who}"


def action_text(state: State, action: int) -> str:
    """`Words.action_text`, as an imperative: "plant on c1".

    For an action that does not answer this decision it is the plain name. Raises IndexError outside 0 to
    NUM_ACTIONS - 1.
    """
    if not 0 <= action < NUM_ACTIONS:
        raise IndexError(f"action {action}: 0 to {NUM_ACTIONS - 1}")
    first, index = range_of(action)
    words = ASKED[Decision(state.decision)].answers.get(first)
    text = words if words is None or isinstance(words, str) else words(state, index)
    return answer_name(state, action) if text is None else text


def told_action(state: State, action: int, viewer: int | None) -> str:
    """`Words.told_action`: "" in the turn of another player, which is shown only at the end."""
    return "" if hides_actor(state, viewer) else action_text(state, action)


# --- words of the questions -------------------------------------------------------------------------------------------


def _plant_and_grow_question(s: State) -> str:
    if s.plants_left and s.growths_left:
        return "to plant a sprout or grow a space"
    return "to plant a sprout" if s.plants_left else "to grow a space"


# --- words of the answers; None where an action does not answer the decision ------------------------------------------


def _card_text(s: State, slot: int) -> str | None:
    card = int(s.market[slot])
    marked = ", the marked card" if slot == s.marker else ""
    return None if card == NO_CARD else f"take the card {card_word(card)}{marked}"


def _in_biome(words: str) -> Callable[[State, int], str]:
    """The words of an action in the biome of the card."""

    def text(s: State, _: int) -> str:
        biome = int(s.card[s.actor]) // NUM_POWERS
        return f"{words} in {'one biome' if biome == WILD else BIOME_NAMES[biome]}"

    return text


def _use_text(s: State, _: int) -> str:
    power = power_of(s)
    return f"use the power {POWER_WORDS[power]} at level {int(s.level[s.actor, power]) + 1}"


def _still_open(s: State) -> list[str]:
    return [word for word, is_open in (("an action", s.action_open), ("the power", s.power_open)) if is_open]


def _space_text(s: State, index: int) -> str | None:
    """To plant in a free space, to grow what can grow."""
    place = place_of_action(s, SPACE + index)
    if place is None:
        return None
    there = piece_on(s, s.actor, place)
    if there is None:
        return f"plant a sprout on {PLACE_NAMES[place]}"
    return (
        f"grow the {PIECE_WORDS[there]} on {PLACE_NAMES[place]}" if there in (Piece.SPROUT, Piece.SMALL_TREE) else None
    )


def _power_text(s: State, index: int) -> str | None:
    place = place_of_action(s, SPACE + index)
    return None if place is None else _POWERS[Power(power_of(s))][1].format(PLACE_NAMES[place])


# --- the table of decisions, and that of powers -----------------------------------------------------------------------

_POWERS = {
    Power.SPROUT: ("to plant a sprout", "plant a sprout on {}"),
    Power.SMALL_TREE: ("to grow a sprout to a small tree", "grow the sprout on {}"),
    Power.BIG_TREE: ("to grow a small tree to a big tree", "grow the small tree on {}"),
    Power.BUSH: ("to place a bush", "place a bush on {}"),
    Power.LAKE: ("to place a lake", "place a lake on {}"),
}
"""For each power that is used on spaces: the words of its question, and of the answer."""
check_table(_POWERS, set(Power) - {Power.BUDS})


@dataclass(frozen=True)
class Asked:
    """What is known of a decision beside its rules. Words are text, or functions that give it.

    Attributes:
        question: the question; a function takes the state.
        label: what it asks, for people who set a position up.
        answers: for the first action of each range that answers it, the answer; a function takes the state and the
            index in the range.
        lesson: its explanation for new players.
        part: the part of a turn in which it is asked; "turn" before one is chosen, "" outside of turns.
        left: the sprouts and the growths that are left at its beginning.
    """

    question: str | Callable[[State], str]
    label: str
    answers: Mapping[int, str | Callable[[State, int], str | None]]
    lesson: Callable[[State, Tables], Paragraphs]
    part: Literal["", "turn", "action", "power"] = ""
    left: tuple[int, int] = (0, 0)


_STOP = "stop here"
ASKED = {
    Decision.GAME_OVER: Asked("nothing: the game is over", "none, the game is over", {}, lessons.game_over),
    Decision.DRAFT: Asked("to take a card", "which card to take", {DRAFT: _card_text}, lessons.draft),
    Decision.TURN: Asked(
        lambda s: f"to use the card {card_word(int(s.card[s.actor]))}",
        "how to use the card",
        {
            PLANT_THREE: _in_biome("plant up to 3 sprouts"),
            GROW_TWO: _in_biome("grow up to 2 spaces"),
            PLANT_AND_GROW: _in_biome("plant a sprout and grow another space"),
            ANYWHERE: "plant or grow once, in any biome",
            POWER: _use_text,
            DONE: lambda s, _: f"end the turn without {' and '.join(_still_open(s))}",
        },
        lessons.turn,
        part="turn",
    ),
    Decision.PLANT: Asked(
        lambda s: f"to plant a sprout ({counted(s.plants_left, 'sprout')} left)",
        "where to plant",
        {DONE: _STOP, SPACE: _space_text},
        lessons.plant,
        part="action",
        left=(3, 0),
    ),
    Decision.GROW: Asked(
        lambda s: f"to grow a space ({counted(s.growths_left, 'growth')} left)",
        "where to grow",
        {DONE: _STOP, SPACE: _space_text},
        lessons.grow,
        part="action",
        left=(0, 2),
    ),
    Decision.PLANT_AND_GROW: Asked(
        _plant_and_grow_question,
        "where to plant or grow",
        {DONE: _STOP, SPACE: _space_text},
        lessons.plant_and_grow,
        part="action",
        left=(1, 1),
    ),
    Decision.ANYWHERE: Asked(
        "to plant or grow once, in any biome",
        "where to plant and grow, anywhere",
        {SPACE: _space_text},
        lessons.anywhere,
        part="action",
        left=(1, 1),
    ),
    Decision.POWER: Asked(
        lambda s: f"{_POWERS[Power(power_of(s))][0]} ({counted(s.uses_left, 'use')} left)",
        "where to use the power",
        {DONE: _STOP, SPACE: _power_text},
        lessons.power,
        part="power",
    ),
    Decision.LAKE: Asked(
        lambda s: f"to grow a space beside the lake ({counted(s.growths_left, 'growth')} left)",
        "where the lake lets plants grow",
        {DONE: _STOP, SPACE: _space_text},
        lessons.lake,
        part="power",
        left=(0, 2),
    ),
}
"""What is known of each decision, by its number."""
check_table(ASKED, Decision)
