"""Steps with given outcomes of chance, so that the caller decides every draw.

A scripted record is a game's record with a list of outcomes before it. `tabletop_engine.chance` takes the outcomes of
draws from this list, and notes the first draw beyond it. To decide all draws of a step, play it again and again, with
one more outcome each time, until no draw is left.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tabletop_engine.chance import MOST_KINDS
from tabletop_engine.compiling.compiled import kernel_template, rules
from tabletop_engine.compiling.overwrite import overwrite
from tabletop_engine.legal import next_legal
from tabletop_engine.play.kernels import write_forfeit_rewards, write_places, write_rewards
from tabletop_engine.record import Array, Number, Record, array, fields_of, number

if TYPE_CHECKING:
    from tabletop_engine.game import Game

MOST_DRAWS = 4096
"""The most draws in one step."""
BEGIN = -1
"""In place of an action: the set-up of the game."""

DRAWN, OUTCOMES, WEIGHTED, ACTOR, DECISION, STREAM_USED = range(6)
"""Indices of the facts that `play_scripted` returns.

DRAWN: the number of draws, without those with one possible outcome. OUTCOMES: the number of outcomes of the first draw
beyond the script. WEIGHTED: 1 if the record's `weights` give the probabilities of these outcomes, 0 if all are equal.
ACTOR, DECISION: those of the position reached. STREAM_USED: whether the rules took random bits that are no draw.
"""
NUM_FACTS = 6


class Script(Record):
    """The additional fields of a scripted record. The field `script` marks it as one."""

    scripted: Number = number(np.int64, "outcomes that the script has")
    drawn: Number = number(np.int64, "draws so far in this step")
    outcomes: Number = number(np.int64, "of the first draw beyond the script: how many outcomes there are")
    weighted: Number = number(np.int64, "1 if `weights` say how likely they are")
    weights: Array = array(np.int32, MOST_KINDS, "how many things of each kind there were to be drawn")
    script: Array = array(np.int32, MOST_DRAWS, "the outcomes: numbers, or kinds")


@cache
def scripted_dtype(game: Game) -> np.dtype[Any]:
    """The dtype of a game's record with the fields of a script before it.

    They are not after it, because Numba would then take the record for one of the game's own.
    """
    script = [(field.name, field.dtype, field.shape) for field in fields_of(Script)]
    fields = np.dtype([*script, *game.state.descr])
    if not issubclass(game.state.type, Record):
        return fields
    both = type("ScriptedState", (game.state.type,), {name: vars(Script)[name] for name, *_ in script})
    return np.dtype((both, fields))


@kernel_template
def play_scripted(
    before: np.ndarray,
    tables: np.ndarray,
    action: int,
    script: np.ndarray,
    length: int,
    work: np.ndarray,
    after: np.ndarray,
    facts: np.ndarray,
) -> None:
    """Play a legal action of the record `before`, or BEGIN, with the first `length` outcomes of the script.

    Arguments:
        before: (1,) record.
        tables: (1,) printed numbers.
        action: a legal action, or BEGIN.
        script: outcomes, int32.
        work: (1,) scripted record, scratch space. Afterwards it has the `weights` of the first draw beyond the script.
        after: (1,) record, the position reached. It is meaningless if there were more draws than outcomes.
        facts: (NUM_FACTS,) int64, written by this function.
    """
    s = work[0]
    overwrite(s, before[0])
    s.scripted, s.drawn = length, 0
    for i in range(length):
        s.script[i] = script[i]
    if action == BEGIN:
        rules.reset(s, tables[0])
    else:
        rules.step(s, tables[0], action)
    facts[DRAWN], facts[OUTCOMES], facts[WEIGHTED] = s.drawn, s.outcomes, s.weighted
    facts[ACTOR], facts[DECISION], facts[STREAM_USED] = s.actor, s.decision, s.rng != before[0].rng
    overwrite(after[0], s)


@kernel_template
def rewards_since(states: np.ndarray, reward: int, points: np.ndarray, out: np.ndarray) -> None:
    """Write the rewards of `states[0]` into `out`, zeros. `points` are the owners' points before (int64)."""
    places = np.zeros(points.shape[0], np.int8)
    write_rewards(states[0], reward, points, places, out)


@kernel_template
def list_legal(states: np.ndarray, actions: np.ndarray) -> int:
    """Write the legal actions of `states[0]`, ascending, into `actions` (int64). Returns their number."""
    s = states[0]
    count, action = 0, next_legal(s, 0)
    while 0 <= action < actions.shape[0]:
        actions[count] = action
        count += 1
        action = next_legal(s, action + 1)
    return count


class ScriptedKernels:
    """The kernels of this file, compiled for one game when they are first called."""

    def __init__(self, game: Game) -> None:
        own = (play_scripted, rewards_since, list_legal)
        self.__dict__.update(game.made((*own, write_rewards, write_forfeit_rewards, write_places)))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
