"""What an agent says of one decision, for a person who asks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tabletop.agents import CHANCE_TO_WIN, POINTS, POINTS_AHEAD, Agent, Decisions, assess


@dataclass(frozen=True)
class Advice:
    """What an agent says of a decision; results are the actor's own."""

    agent: str
    shares: Mapping[int, float]  # by legal action, with a sum of 1; {} from an agent that only names an action
    meaning: str  # what a share is, such as "share of its simulations"; "" without
    best: int  # the action that it would play
    estimates: Mapping[int, float]  # what it expects after an action; {} or some only, where it can't tell
    estimate: float | None  # what it expects with best play
    estimated: str  # what the estimates are, such as "chance to win"; "" without


def advise(agent: Agent, decisions: Decisions, generator: np.random.Generator) -> Advice:
    """What the agent says of one decision, from one look at it: a search searches once.

    Raises IllegalAction where it answers wrongly (`tabletop.agents.assess`), and what it raises itself.
    """
    assert len(decisions) == 1
    told = assess(agent, decisions, generator)
    legal = np.flatnonzero(decisions.action_masks[0]).tolist()
    values = {} if told.values is None else {one: float(told.values[0, one]) for one in legal}
    value = np.nan if told.value is None else float(told.value[0])
    return Advice(
        agent=agent.name,
        shares={} if told.shares is None else {one: float(told.shares[0, one]) for one in legal},
        meaning=told.meaning,
        best=int(told.actions[0]),
        estimates={one: given for one, given in values.items() if not np.isnan(given)},
        estimate=None if np.isnan(value) else value,
        estimated=told.estimated,
    )


def estimate_text(estimate: float, estimated: str, change: bool = False) -> str:
    """An estimate as people read it: "83.1 %", "+4.2" points ahead; `change` of the difference of two."""
    if estimated == CHANCE_TO_WIN:
        return f"{100 * estimate:.1f} %"
    if estimated in (POINTS, POINTS_AHEAD):
        return f"{estimate:+.1f}" if estimated == POINTS_AHEAD and not change else f"{estimate:.1f}"
    return f"{estimate:.3g}"
