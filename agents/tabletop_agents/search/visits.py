"""The assessment of a decision from the visits of a finished tree search."""

from __future__ import annotations

import numpy as np

from tabletop_engine.play.agents import Assessment

LEAST = 10
"""The fewest simulations of an action whose mean is shown; the mean of fewer says too little."""


def assessed(actions: np.ndarray, visits: np.ndarray, results: np.ndarray, estimated: str) -> Assessment:
    """The search's assessment of N decisions: `actions` (N,) are those that it plays.

    `visits` and `results`, (N, A) float64, are the simulations through each action and their mean results. Actions
    with fewer than LEAST have no value, unless the search plays them.
    """
    each = np.arange(len(actions))
    shown = visits >= LEAST
    shown[each, actions] = True
    return Assessment(
        actions=actions,
        shares=visits / visits.sum(axis=1, keepdims=True),
        meaning="share of its simulations",
        values=np.where(shown, results, np.nan),
        value=results[each, actions],
        estimated=estimated,
    )
