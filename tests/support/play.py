"""Getting into a position: by named actions on a copy of a state, or by random ones.

state = play(scenario({...}), "play frost", "tile b1", "vote frost")
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from petrichor_env import Batch, Config
from petrichor_env.actions import ACTION_NAMES, ACTIONS
from petrichor_env.state import DECISION_NAMES, TILE_NAMES, State
from petrichor_env.words import SOLO_NAMES
from tabletop_engine.errors import IllegalAction
from tabletop_engine.play.batch import legal_actions


def play(state: State, *names: str, components: str | None = None) -> State:
    """The state after the named actions, one after another; `state` itself stays as it is.

    Arguments:
        state: one record of dtype STATE.
        names: as in `petrichor_env.actions.ACTIONS`; in solo tiles may be called P1 to P6 ("tile P3").
        components: the overlay file that is played with; None for the shipped numbers.

    Raises `IllegalAction` that names the decision and its legal actions, `GameOver` after the end.
    """
    batch = _batch_for(state, components)
    batch.states[0] = state
    batch.refresh(check=False)
    for name in names:
        batch.step([action_of(batch.states[0], name)])
    return batch.states.copy()[0]


def _batch_for(state: State, components: str | None) -> Batch:
    return _batch(Config.of(state, components))


@lru_cache(maxsize=32)
def _batch(config: Config) -> Batch:
    return Batch(config, seed=0, autoreset="disabled", illegal_action="raise")


def action_of(state: State, name: str) -> int:
    """The action of that name, as `play` takes it."""
    words = name.split(" ")
    if state["players"] == 1 and len(words) > 1 and words[1] in SOLO_NAMES:
        words[1] = TILE_NAMES[SOLO_NAMES[words[1]]]
    action = ACTIONS.get(" ".join(words))
    if action is None:
        legal = ", ".join(ACTION_NAMES[a] for a in legal_actions(state))
        raise IllegalAction(f"{name!r} is no action; legal for {DECISION_NAMES[state['decision']]!r} are {legal}")
    return action


def in_the_middle(config: Any, games: int, steps: int, seed: int = 0, **options: Any) -> Batch:
    """Games after some random decisions, with decisions of many kinds pending; `options` are those of the batch."""
    batch = Batch(config, games, seed, **options)
    for _ in range(steps):
        batch.step(batch.random_actions())
    return batch


def legal_masks(states: np.ndarray, actions: int) -> np.ndarray:
    """(N, actions) the sets of legal actions in the records, 0 or 1."""
    words = np.ascontiguousarray(states["legal"]).view(np.uint8)
    return np.unpackbits(words, axis=1, bitorder="little")[:, :actions]
