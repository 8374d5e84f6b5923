"""Go, a long game of many actions: captures, no suicide, a komi, no ko but an end after so many moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_engine.compiling.compiled import rule
from tabletop_engine.defaults import GameRecord, begin_game, end_game
from tabletop_engine.game import Game, Limits, Rules
from tabletop_engine.legal import allow, ask, forbid_all
from tabletop_engine.observation import Layout
from tabletop_engine.parts.boards import NO_SPACE, count_beside, mark_area, square_neighbours
from tabletop_engine.record import array, dtype_of, number
from tabletop_engine.text.plain import PlainConfig, PlainDrawing, PlainPositions, PlainWords

SIZE = 9
SPACES = SIZE * SIZE
NEIGHBOURS = square_neighbours(SIZE, SIZE)
MOST_MOVES, KOMI = SPACES * 3 // 2, 6.5
EMPTY, PASS = 2, SPACES


class State(GameRecord):
    legal = array(np.uint64, SPACES // 64 + 1, "the set of legal actions")
    points = array(np.float32, 2, "at the end stones, surrounded spaces, and player_1's komi")
    stones = array(np.int8, SPACES, "whose stone is in each space, or EMPTY", blank=EMPTY)
    moves = number(np.int16, "moves so far")
    passes = number(np.int8, "passes since the last stone")


class Config(PlainConfig):
    """Two players."""


@rule
def reset(s: State, t: Any) -> None:
    begin_game(s)
    s.stones[:] = EMPTY
    s.moves, s.passes = 0, 0
    legal(s, t)


@rule
def step(s: State, t: Any, action: int) -> None:
    seat = int(s.actor)
    s.moves += 1
    s.passes += 1
    if action != PASS:
        s.passes = 0
        s.stones[action] = seat
        for way in range(4):
            other = int(NEIGHBOURS[action, way])
            if other != NO_SPACE and s.stones[other] == 1 - seat:
                remove_if_captured(s, other)
    if s.passes == 2 or s.moves == MOST_MOVES:
        count_areas(s)
        end_game(s)
    else:
        ask(s, 0, 1 - seat)
        legal(s, t)


@rule
def count_liberties(s: State, space: int) -> int:
    group = np.zeros(SPACES, np.int8)
    mark_area(s.stones, space, NEIGHBOURS, group)
    return count_beside(s.stones, group, EMPTY, NEIGHBOURS)


@rule
def remove_if_captured(s: State, space: int) -> None:
    group = np.zeros(SPACES, np.int8)
    mark_area(s.stones, space, NEIGHBOURS, group)
    if count_beside(s.stones, group, EMPTY, NEIGHBOURS) == 0:
        for one in range(SPACES):
            if group[one] == 1:
                s.stones[one] = EMPTY


@rule
def is_alive(s: State, space: int) -> bool:
    """Whether a stone of the actor's in this empty space would have a liberty, or capture."""
    for way in range(4):
        other = int(NEIGHBOURS[space, way])
        if other != NO_SPACE and s.stones[other] == EMPTY:
            return True
    for way in range(4):
        other = int(NEIGHBOURS[space, way])
        if other != NO_SPACE and (count_liberties(s, other) > 1) == (s.stones[other] == s.actor):
            return True
    return False


@rule
def legal(s: State, t: Any) -> None:
    forbid_all(s)
    allow(s, PASS)
    for space in range(SPACES):
        if s.stones[space] == EMPTY and is_alive(s, space):
            allow(s, space)


@rule
def count_areas(s: State) -> None:
    """Stones, and empty areas that only one player's stones are next to."""
    s.points[1] = KOMI
    counted = np.zeros(SPACES, np.int8)
    for space in range(SPACES):
        if s.stones[space] != EMPTY:
            s.points[s.stones[space]] += 1
        elif counted[space] == 0:
            area = np.zeros(SPACES, np.int8)
            size = mark_area(s.stones, space, NEIGHBOURS, area)
            for one in range(SPACES):
                counted[one] |= area[one]
            for seat in range(2):
                if count_beside(s.stones, area, 1 - seat, NEIGHBOURS) == 0:
                    s.points[seat] += size


LAYOUT = Layout.of([("stones", (2, SIZE, SIZE), "0/1", "own and other"), ("passes", (1,), "0/1", "one has passed")])


@rule
def observe(s: State, t: Any, viewer: int, out: np.ndarray) -> None:
    for space in range(SPACES):
        if s.stones[space] != EMPTY:
            out[space if s.stones[space] == viewer else SPACES + space] = 1
    out[2 * SPACES] = s.passes == 1


ACTIONS = (*(f"{column}{row}" for row in range(1, SIZE + 1) for column in "abcdefghjklmnopqrst"[:SIZE]), "pass")


def board(state: State, viewer: int | None) -> str:
    """`X` are player_0's stones, `O` player_1's."""
    cells = ["XO."[stone] for stone in state.stones]
    return "\n".join("".join(cells[SIZE * row : SIZE * (row + 1)]) for row in range(SIZE))


words = PlainWords(("a_move",), ACTIONS, "# Go")
positions = PlainPositions(lambda: GAME, {"stones": (0, EMPTY), "moves": (0, MOST_MOVES), "passes": (0, 2)})
GAME: Game = Game(
    name="go",
    title="Go",
    home=__name__,
    version="1",
    state=dtype_of(State),
    config=Config,
    players=(2,),
    decisions=("a_move",),
    actions=ACTIONS,
    observation=LAYOUT,
    rules=Rules(reset=reset, step=step, legal=legal, observe=observe),
    limits=lambda config: Limits(decisions=MOST_MOVES, draws=0, outcomes=0, points=(0, SPACES + KOMI)),
    words=words,
    drawing=PlainDrawing(words, board),
    check=positions.check,
    scenario=positions.scenario,
    described=positions.described,
)
