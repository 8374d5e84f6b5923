"""Connect Four: two players drop stones into seven columns; four in a line win. No chance, nothing hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tabletop_engine import envs
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.defaults import GameRecord, begin_game, end_game
from tabletop_engine.envs.aec import SeatsAEC, wrapped
from tabletop_engine.game import Game, Rules
from tabletop_engine.legal import allow, ask, forbid_all
from tabletop_engine.observation import Layout
from tabletop_engine.play.agents import Agent
from tabletop_engine.record import array, dtype_of
from tabletop_engine.text.plain import PlainConfig, PlainDrawing, PlainPositions, PlainWords

# --- The record ------------------------------------------------------------------------------------------------------

ROWS, COLUMNS = 6, 7
HEIGHT = ROWS + 1
"""Bits of a column: its cells from the bottom up, and one that stays empty, so that no line goes on in another column.

     6  13  20  27  34  41  48     stays empty
     5  12  19  26  33  40  47     the top row
     ⋮
     0   7  14  21  28  35  42     the bottom row
"""
BOTTOM_ROW = sum(1 << HEIGHT * column for column in range(COLUMNS))
TOP_ROW = BOTTOM_ROW << ROWS - 1
COLUMN = (1 << ROWS) - 1
BOARD = BOTTOM_ROW * COLUMN
ACROSS, UP, DOWNHILL, UPHILL = HEIGHT, 1, HEIGHT - 1, HEIGHT + 1


class State(GameRecord):
    legal = array(np.uint64, 1, "the set of legal actions")
    points = array(np.int16, 2, "1 for the winner, -1 for the loser")
    stones = array(np.int64, 2, "the cells that each player's stones are in, a bit each")


STATE = dtype_of(State)


class Config(PlainConfig):
    """Two players, nothing to choose."""


# --- Rules -----------------------------------------------------------------------------------------------------------


@rule
def reset(s: State, t: Any) -> None:
    begin_game(s)
    s.stones[:] = 0
    legal(s, t)


@rule
def step(s: State, t: Any, action: int) -> None:
    """Drop a stone into this column."""
    seat = int(s.actor)
    taken = s.stones[0] | s.stones[1]
    lowest = 1 << HEIGHT * action
    s.stones[seat] |= (taken + lowest) & ~taken & (COLUMN << HEIGHT * action)  # the sum carries up to a free cell
    if has_four(s.stones[seat]):
        s.points[seat], s.points[1 - seat] = 1, -1
        end_game(s)
    elif (s.stones[0] | s.stones[1]) & TOP_ROW == TOP_ROW:
        end_game(s)
    else:
        ask(s, 0, 1 - seat)
        legal(s, t)


@rule
def has_four(stones: int) -> bool:
    for direction in (ACROSS, UP, DOWNHILL, UPHILL):
        pairs = stones & (stones >> direction)
        if pairs & (pairs >> 2 * direction) != 0:
            return True
    return False


@rule
def legal(s: State, t: Any) -> None:
    """The columns whose top cell is free."""
    forbid_all(s)
    free = ~(s.stones[0] | s.stones[1]) & TOP_ROW
    for column in range(COLUMNS):
        if free >> (HEIGHT * column + ROWS - 1) & 1:
            allow(s, column)


# --- What a player sees ----------------------------------------------------------------------------------------------

LAYOUT = Layout.of(
    [("stones", (ROWS, COLUMNS, 2), "0/1", "by row from the top and column: the viewer's stones, and the other's")]
)


@rule
def observe(s: State, t: Any, viewer: int, out: np.ndarray) -> None:
    own, others = s.stones[viewer], s.stones[1 - viewer]
    i = 0
    for row in range(ROWS - 1, -1, -1):
        for column in range(COLUMNS):
            out[i] = own >> (HEIGHT * column + row) & 1
            out[i + 1] = others >> (HEIGHT * column + row) & 1
            i += 2


# --- The game --------------------------------------------------------------------------------------------------------

DECISIONS = ("a_column",)
ACTIONS = tuple(f"column_{column + 1}" for column in range(COLUMNS))


def board(state: State, viewer: int | None) -> str:
    """`X` are player_0's stones, `O` player_1's."""
    rows = []
    for row in range(ROWS - 1, -1, -1):
        cells = [1 << HEIGHT * column + row for column in range(COLUMNS)]
        rows.append(" ".join("X" if state.stones[0] & c else "O" if state.stones[1] & c else "." for c in cells))
    return "\n".join([*rows, "1 2 3 4 5 6 7"])


RULES = """# Connect Four: rules

- Two players in turn drop a stone into one of seven columns. It falls onto the lowest free space of six.
- Four own stones in a row, column or diagonal win. A full board without them is shared.
"""
words = PlainWords(DECISIONS, ACTIONS, RULES)
positions = PlainPositions(lambda: GAME, {"stones": (0, BOARD)})
GAME: Game = Game(
    name="connect_four",
    title="Connect Four",
    home=__name__,
    version="1",
    state=STATE,
    config=Config,
    players=(2,),
    decisions=DECISIONS,
    actions=ACTIONS,
    observation=LAYOUT,
    rules=Rules(reset=reset, step=step, legal=legal, observe=observe),
    search_settings={"win": 1.0},
    words=words,
    drawing=PlainDrawing(words, board),
    check=positions.check,
    scenario=positions.scenario,
    described=positions.described,
)


class VersusEnv(envs.SeatEnv):
    """Connect Four, seen from one seat."""

    def __init__(self, opponents: Sequence[Agent | str] = ("greedy",), **arguments: Any):
        super().__init__(GAME, opponents=opponents, **arguments)


class VersusVectorEnv(envs.SeatVectorEnv):
    """Many games of Connect Four, each seen from one seat."""

    def __init__(self, num_envs: int = 1, opponents: Sequence[Agent | str] = ("greedy",), **arguments: Any):
        super().__init__(GAME, num_envs, opponents=opponents, **arguments)


class raw_env(SeatsAEC):  # noqa: N801
    """Connect Four with both seats."""

    def __init__(self, num_players: int = 2, **arguments: Any):
        super().__init__(f"{GAME.name}_v0", Config(players=num_players), **arguments)


def env(**arguments: Any) -> Any:
    """`raw_env` in PettingZoo's wrappers."""
    return wrapped(raw_env(**arguments))
