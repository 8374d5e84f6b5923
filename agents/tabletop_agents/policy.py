"""A trained network as an agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from tabletop.agents import Decisions
from tabletop.errors import CheckpointError, ConfigError
from tabletop.game import Config, Game
from tabletop_agents.checkpoint import read_notes


class PolicyAgent:
    """Plays a MaskablePPO policy.

    Arguments:
        model: a `sb3_contrib.MaskablePPO`.
        sample: draw actions from the policy; otherwise take the likeliest one.
        players: for how many players it was trained; None if it may play with any number.
    """

    def __init__(self, model: Any, *, sample: bool = False, name: str = "policy", players: int | None = None) -> None:
        self.policy = model.policy
        self.sample = sample
        self.name = name
        self.players = players

    @classmethod
    def load(cls, path: str | Path, game: Game, *, sample: bool = False, name: str = "policy") -> PolicyAgent:
        """The policy of a checkpoint. Raises CheckpointError where it is missing, damaged or doesn't fit this game."""
        from sb3_contrib import MaskablePPO

        training = read_notes(game, path).get("training", {})
        players = training.get("players") if isinstance(training, dict) else None
        try:
            model = MaskablePPO.load(path, device="cpu")
        except Exception as error:  # damaged files raise anything; torch's advice to load them unsafely is left out
            raise CheckpointError(f"{path}: is damaged: its network can't be read ({type(error).__name__})") from error
        return cls(model, sample=sample, name=name, players=players)

    def check(self, config: Config) -> None:
        """Raises ConfigError for another number of players than it was trained for."""
        if self.players is not None and config.players != self.players:
            names = {1: "the solo game"}
            raise ConfigError(
                f"{self.name} was trained for {names.get(self.players, f'{self.players} players')}, "
                f"and this is {names.get(config.players, f'a game of {config.players}')}"
            )

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64 legal actions."""
        logits = self._logits(decisions)
        if self.sample:  # the Gumbel trick, by the caller's generator rather than torch's global one
            logits = logits + generator.gumbel(size=logits.shape)
        return np.asarray(logits.argmax(axis=1), np.int64)

    def probabilities(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N, A) float64: what the policy gives each action; nothing is drawn from the generator."""
        logits = self._logits(decisions).astype(np.float64)
        shares = np.exp(logits - logits.max(axis=1, keepdims=True)) * (decisions.action_masks == 1)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _logits(self, decisions: Decisions) -> np.ndarray:
        self.policy.set_training_mode(False)
        observations = torch.as_tensor(decisions.observations, device=self.policy.device)
        with torch.no_grad():
            distribution = self.policy.get_distribution(observations, decisions.action_masks.astype(bool))
            logits: np.ndarray = distribution.distribution.logits.cpu().numpy()
        return logits
