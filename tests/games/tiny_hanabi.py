"""Tiny Hanabi: two players with a card each give one answer each, and both get what the table says."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_engine.chance import random_below
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.defaults import GameRecord, begin_game, end_game
from tabletop_engine.game import NOBODY, Game, Limits, Rules
from tabletop_engine.legal import allow, ask, forbid_all
from tabletop_engine.observation import Layout
from tabletop_engine.record import array, dtype_of, number
from tabletop_engine.text.plain import PlainConfig, PlainDrawing, PlainPositions, PlainWords

CARDS, ANSWERS, NO_ANSWER = 2, 3, -1
POINTS = np.array(
    [
        [[[10, 0, 0], [4, 8, 4], [10, 0, 0]], [[0, 0, 10], [4, 8, 4], [0, 0, 10]]],
        [[[0, 0, 10], [4, 8, 4], [0, 0, 0]], [[10, 0, 0], [4, 8, 4], [10, 0, 0]]],
    ]
)
"""By both cards, then both answers."""


class State(GameRecord):
    legal = array(np.uint64, 1, "the set of legal actions")
    points = array(np.int16, 1, "what both get")
    cards = array(np.int8, 2, "each player's card")
    answer = number(np.int8, "player_0's answer, or NO_ANSWER")


STATE = dtype_of(State)


class Config(PlainConfig):
    """Two players, nothing to choose."""

    @property
    def owners(self) -> int:
        return 1


@rule
def team(s: State, seat: int) -> int:
    return 0


@rule
def reset(s: State, t: Any) -> None:
    begin_game(s)
    s.cards[0], s.cards[1] = random_below(s, CARDS), random_below(s, CARDS)
    s.answer = NO_ANSWER
    legal(s, t)


@rule
def step(s: State, t: Any, action: int) -> None:
    if s.actor == 0:
        s.answer = action
        ask(s, 0, 1)
        legal(s, t)
    else:
        s.points[0] = POINTS[s.cards[0], s.cards[1], s.answer, action]
        end_game(s)


@rule
def legal(s: State, t: Any) -> None:
    forbid_all(s)
    for answer in range(ANSWERS):
        allow(s, answer)


@rule
def sample_hidden(s: State, t: Any, seat: int, rng: np.uint64) -> None:
    s.rng = rng
    s.cards[1 - seat] = random_below(s, CARDS)


LAYOUT = Layout.of(
    [
        ("seat", (2,), "one-hot", "the viewer's"),
        ("card", (CARDS,), "one-hot", "the viewer's"),
        ("answer", (ANSWERS,), "one-hot", "player_0's; all 0 before it"),
    ]
)
CARD, ANSWER = LAYOUT["card"].start, LAYOUT["answer"].start


@rule
def observe(s: State, t: Any, viewer: int, out: np.ndarray) -> None:
    out[viewer] = 1
    out[CARD + s.cards[viewer]] = 1
    if s.answer != NO_ANSWER:
        out[ANSWER + s.answer] = 1


def table(state: State, viewer: int | None) -> str:
    hidden = [viewer is not None and seat != viewer and state.actor != NOBODY for seat in (0, 1)]
    cards = ["a hidden card" if hides else f"card {card + 1}" for hides, card in zip(hidden, state.cards, strict=True)]
    return f"{cards[0]}, answer {state.answer + 1 or 'to come'}; {cards[1]}"


RULES = """# Tiny Hanabi: rules

- Two players get a card each, 1 or 2, and see only their own. player_0 answers 1, 2 or 3, then player_1 does.
- Both together get the points that a table has for the cards and the answers.
"""
words = PlainWords(("an_answer",), ("one", "two", "three"), RULES)
ranges = {"points": (0, 10), "cards": (0, CARDS - 1), "answer": (NO_ANSWER, ANSWERS - 1)}
positions = PlainPositions(lambda: GAME, ranges)
GAME: Game = Game(
    name="tiny_hanabi",
    title="Tiny Hanabi",
    home=__name__,
    version="1",
    state=STATE,
    config=Config,
    players=(2,),
    decisions=("an_answer",),
    actions=("one", "two", "three"),
    observation=LAYOUT,
    rules=Rules(reset=reset, step=step, legal=legal, observe=observe, team=team, sample_hidden=sample_hidden),
    limits=lambda config: Limits(decisions=2, draws=2, outcomes=CARDS, points=(0, 10)),
    search_settings={"scale": 2.0},
    words=words,
    drawing=PlainDrawing(words, table, team),
    check=positions.check,
    scenario=positions.scenario,
    described=positions.described,
)
