"""A game for one player alone, with only what a game must have: five times a die is kept for points or passed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tabletop_engine.chance import random_below
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.defaults import GameRecord, begin_game, end_game
from tabletop_engine.game import Game, Rules
from tabletop_engine.legal import allow, ask, forbid_all
from tabletop_engine.observation import Layout
from tabletop_engine.record import array, dtype_of, number
from tabletop_engine.text.plain import PlainConfig, PlainDrawing, PlainPositions, PlainWords

ACTIONS = KEEP, PASS = ("keep", "pass")


class State(GameRecord):
    legal = array(np.uint64, 1, "the set of legal actions")
    points = array(np.int16, 1, "pips that were kept")
    die = number(np.int8, "its pips")


@dataclass(frozen=True)
class Config(PlainConfig):
    """One player, nothing to choose."""

    ROUNDS: ClassVar[int] = 5
    players: int = 1


@rule
def reset(s: State, t: Any) -> None:
    begin_game(s)
    s.die = 1 + random_below(s, 6)
    legal(s, t)


@rule
def step(s: State, t: Any, action: int) -> None:
    if action == 0:
        s.points[0] += s.die
    if s.round == s.rounds:
        end_game(s)
        return
    s.round += 1
    s.die = 1 + random_below(s, 6)
    ask(s, 0, 0)
    legal(s, t)


@rule
def legal(s: State, t: Any) -> None:
    forbid_all(s)
    allow(s, 0)
    allow(s, 1)


@rule
def observe(s: State, t: Any, viewer: int, out: np.ndarray) -> None:
    out[0], out[1], out[2] = s.die, s.round, s.points[0]


words = PlainWords(("a_die",), ACTIONS)
positions = PlainPositions(lambda: GAME, {"die": (1, 6)})
GAME: Game = Game(
    name="one_player",
    title="One Player",
    home=__name__,
    version="1",
    state=dtype_of(State),
    config=Config,
    players=(1,),
    decisions=("a_die",),
    actions=ACTIONS,
    observation=Layout.of(
        [
            ("die", (1,), "pips / 6", "the die's"),
            ("round", (1,), "rounds / 5", "the round"),
            ("points", (1,), "points / 30", "so far"),
        ]
    ),
    rules=Rules(reset=reset, step=step, legal=legal, observe=observe),
    words=words,
    drawing=PlainDrawing(words, lambda state, viewer: f"die: {state.die}"),
    check=positions.check,
    scenario=positions.scenario,
    described=positions.described,
)
