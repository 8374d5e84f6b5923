"""The weakest agent: any legal action, all equally likely."""

from __future__ import annotations

import numpy as np

from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.kernels import sample_actions


class RandomAgent:
    """Uniformly random legal actions."""

    name = "random"

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64 legal actions."""
        return np.asarray(sample_actions(decisions.action_masks, generator), np.int64)
