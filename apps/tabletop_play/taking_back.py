"""Which answers may be taken back where several people play: those that drew no chance and showed nothing hidden."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_engine.game import Game
from tabletop_engine.record import FORFEIT

_REDRAWS = 32
"""How often what the actor can't know is redrawn. An answer that shows something hardly shows the same each time."""


def may_be_taken_back(
    game: Game, before: Any, action: int, after: Any, tables: np.ndarray, generator: np.random.Generator
) -> bool:
    """Whether nobody has learned more from an answer than the answer itself, so that it may be taken back.

    That is so if the random stream did not move, and if each seat sees the same change whatever is hidden from the
    actor. To test this, all that the actor can't know is redrawn (`Rules.sample_hidden`), and the same action is
    played. The actor's own cards that it played are part of the answer.

    A seat that is not told of the answer must see no change either. Otherwise taking the answer back would tell it.

    Arguments:
        before, after: the records before and after the answer.
        tables: (1,) printed numbers that the game is played with.
    """
    if action == FORFEIT or (before["rng"] != after["rng"]).any():
        return False
    states = np.repeat(np.array([before], game.state), _REDRAWS + 1)
    actor, players = int(before["actor"]), int(before["players"])
    seats = np.full(_REDRAWS, actor, np.int64)
    redrawn = states[1:]
    game.kernels.sample_hidden_games(redrawn, tables, seats, generator.integers(0, 2**64, _REDRAWS, np.uint64))
    seen = [seen_by(game, states, tables, seat) for seat in range(players)]
    game.kernels.play_actions(states, tables, np.full(len(states), action), np.ones(len(states), np.bool_))
    for seat in range(players):
        now = seen_by(game, states, tables, seat)
        if seat == actor and not ((now == now[0]).all() and ask_the_same(states, actor)):
            return False
        change = now - seen[seat]
        if not (change == change[0]).all():
            return False
        if seat != actor and change[0].any() and not game.words.told_action(before, action, seat):
            return False
    return True


def seen_by(game: Game, states: np.ndarray, tables: np.ndarray, seat: int) -> np.ndarray:
    """(N, D) int16: all that a seat sees of N games."""
    counts = np.zeros((len(states), game.observation.size), np.int16)
    game.kernels.count_games(states, tables, np.full(len(states), seat, np.int64), counts)
    return counts


def ask_the_same(states: np.ndarray, seat: int) -> bool:
    """Whether a seat is asked the same question, with the same answers, in all records."""
    asked = states["actor"] == seat
    return bool((asked == asked[0]).all() and (not asked[0] or (states["legal"] == states["legal"][0]).all()))
