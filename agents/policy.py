"""A trained network as an agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.base import Decisions
from agents.checkpoint import read_notes
from petrichor_env.errors import CheckpointError


class PolicyAgent:
    """Plays a MaskablePPO policy.

    Arguments:
        model: a `sb3_contrib.MaskablePPO`.
        sample: draw actions from the policy; otherwise take the likeliest one.
    """

    name = "policy"

    def __init__(self, model: Any, *, sample: bool = False, name: str = "policy") -> None:
        self.policy = model.policy
        self.sample = sample
        self.name = name

    @classmethod
    def load(cls, path: str | Path, *, sample: bool = False, name: str = "policy") -> PolicyAgent:
        """The policy of a checkpoint. Raises CheckpointError where it is missing, damaged or of another version."""
        from sb3_contrib import MaskablePPO

        read_notes(path)
        try:
            model = MaskablePPO.load(path, device="cpu")
        except Exception as error:  # damaged pickles raise anything
            raise CheckpointError(f"{path}: its network can't be read ({error})") from error
        return cls(model, sample=sample, name=name)

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64 legal actions."""
        self.policy.set_training_mode(False)
        observations = torch.as_tensor(decisions.observations, device=self.policy.device)
        with torch.no_grad():
            distribution = self.policy.get_distribution(observations, decisions.action_masks.astype(bool))
            logits = distribution.distribution.logits.cpu().numpy()
        if self.sample:  # the Gumbel trick, by the caller's generator rather than torch's global one
            logits = logits + generator.gumbel(size=logits.shape)
        return np.asarray(logits.argmax(axis=1), np.int64)
