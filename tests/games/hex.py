"""Hex: two players place stones on a board of hexagons; who connects the own two sides wins. No chance, no draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tabletop_engine import envs
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.defaults import GameRecord, begin_game, end_game
from tabletop_engine.envs.aec import SeatsAEC, wrapped
from tabletop_engine.game import Game, Image, Rules
from tabletop_engine.legal import ask, forbid_all
from tabletop_engine.observation import Layout
from tabletop_engine.parts.boards import connected, hex_board
from tabletop_engine.parts.sets import EMPTY, allow_each, only, write_ones
from tabletop_engine.parts.turns import next_seat
from tabletop_engine.play.agents import Agent
from tabletop_engine.record import array, dtype_of
from tabletop_engine.text.plain import PlainConfig, PlainDrawing, PlainPositions, PlainWords

SIZE = 8
SPACES = SIZE * SIZE
BOARD = hex_board(SIZE, SIZE)
_ROW = (1 << SIZE) - 1
_COLUMN = sum(1 << SIZE * row for row in range(SIZE))
STARTS = (np.uint64(_ROW), np.uint64(_COLUMN))
"""The side where each player's line begins: player_0's at the top, player_1's on the left."""
ENDS = (np.uint64(_ROW << SIZE * (SIZE - 1)), np.uint64(_COLUMN << SIZE - 1))
"""The side that it has to reach."""


class State(GameRecord):
    legal = array(np.uint64, 1, "the set of legal actions")
    points = array(np.int16, 2, "1 for the winner, -1 for the loser")
    stones = array(np.uint64, 2, "the spaces that each player's stones are in")


STATE = dtype_of(State)


class Config(PlainConfig):
    """Two players, nothing to choose."""


# --- Rules -----------------------------------------------------------------------------------------------------------


@rule
def reset(s: State, t: Any) -> None:
    begin_game(s)
    s.stones[:] = EMPTY
    legal(s, t)


@rule
def step(s: State, t: Any, action: int) -> None:
    seat = int(s.actor)
    s.stones[seat] |= only(action)
    if connected(STARTS[seat], s.stones[seat], BOARD) & ENDS[seat] != EMPTY:
        s.points[seat], s.points[1 - seat] = 1, -1
        end_game(s)
    else:
        ask(s, 0, next_seat(s))
        legal(s, t)


@rule
def legal(s: State, t: Any) -> None:
    """Every empty space. The board is never full: before that somebody has won."""
    forbid_all(s)
    allow_each(s, 0, BOARD.spaces & ~(s.stones[0] | s.stones[1]))


# --- What a player sees ----------------------------------------------------------------------------------------------

LAYOUT = Layout.of(
    [
        ("stones", (2, SIZE, SIZE), "0/1", "planes: the viewer's stones, and the other's"),
        ("seat", (2,), "one-hot", "the viewer's"),
    ]
)
SEAT = LAYOUT["seat"].start


@rule
def observe(s: State, t: Any, viewer: int, out: np.ndarray) -> None:
    write_ones(s.stones[viewer], out, 0)
    write_ones(s.stones[1 - viewer], out, SPACES)
    out[SEAT + viewer] = 1


def images(players: int) -> tuple[Image, ...]:
    """The board turned by half a circle."""
    turned = np.arange(SPACES)[::-1]
    return (Image(np.concatenate([turned, SPACES + turned, [SEAT, SEAT + 1]]), turned.copy()),)


# --- The game --------------------------------------------------------------------------------------------------------

DECISIONS = ("a_space",)
ACTIONS = tuple(f"{chr(ord('a') + space % SIZE)}{space // SIZE + 1}" for space in range(SPACES))


def board(state: State, viewer: int | None) -> str:
    """`X` are player_0's stones, `O` player_1's."""
    stones = ["".join("XO."[_owner(state, SIZE * row + column)] for column in range(SIZE)) for row in range(SIZE)]
    heading = "   " + " ".join(name[0] for name in ACTIONS[:SIZE])
    return "\n".join([heading, *(f"{' ' * row}{row + 1}  {' '.join(line)}" for row, line in enumerate(stones))])


def _owner(state: State, space: int) -> int:
    return next((seat for seat in (0, 1) if int(state.stones[seat]) >> space & 1), 2)


RULES = """# Hex: rules

- Two players in turn place a stone of theirs on any empty space of a board of 8 rows and 8 columns of hexagons.
  player_0 begins. Stones stay where they are, and nobody may take over the first stone.
- A space touches up to six others: the ones to its left and right; in the row above, the one in its column and the one
  to the right of that; in the row below, the one in its column and the one to the left of that.
- player_0 wins with a connected line of own stones from the top row to the bottom row, player_1 with one from column a
  to column h. One of them always does. The winner has 1 point, the loser -1.
"""
words = PlainWords(DECISIONS, ACTIONS, RULES)
positions = PlainPositions(lambda: GAME, {"stones": (0, int(BOARD.spaces))})
GAME: Game = Game(
    name="hex",
    title="Hex",
    home=__name__,
    version="1",
    state=STATE,
    config=Config,
    players=(2,),
    decisions=DECISIONS,
    actions=ACTIONS,
    observation=LAYOUT,
    rules=Rules(reset=reset, step=step, legal=legal, observe=observe),
    images=images,
    search_settings={"win": 1.0},
    words=words,
    drawing=PlainDrawing(words, board),
    check=positions.check,
    scenario=positions.scenario,
    described=positions.described,
)


class VersusEnv(envs.SeatEnv):
    """Hex, seen from one seat."""

    def __init__(self, opponents: Sequence[Agent | str] = ("greedy",), **arguments: Any):
        super().__init__(GAME, opponents=opponents, **arguments)


class VersusVectorEnv(envs.SeatVectorEnv):
    """Many games of Hex, each seen from one seat."""

    def __init__(self, num_envs: int = 1, opponents: Sequence[Agent | str] = ("greedy",), **arguments: Any):
        super().__init__(GAME, num_envs, opponents=opponents, **arguments)


class raw_env(SeatsAEC):  # noqa: N801
    """Hex with both seats."""

    def __init__(self, num_players: int = 2, **arguments: Any):
        super().__init__(f"{GAME.name}_v0", Config(players=num_players), **arguments)


def env(**arguments: Any) -> Any:
    """`raw_env` in PettingZoo's wrappers."""
    return wrapped(raw_env(**arguments))
