"""A trained network as an agent."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from tabletop_agents.checkpoint import read_checkpoint
from tabletop_agents.networks import Network
from tabletop_agents.search.shortfalls import shortfalls
from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.agents import CHANCE_TO_WIN, POINTS, Assessment, Decisions
from tabletop_engine.text.words import either


@dataclass(eq=False)
class PolicyAgent:
    """Plays the policy of a network, also while it learns."""

    network: Network
    _: KW_ONLY
    sample: bool = False  # draw actions from the policy; otherwise take the likeliest one
    name: str = "policy"
    temperature: float = 1.0  # the logits are divided by it
    players: tuple[int, ...] | None = None  # the numbers that it was trained for; None if it may play with any number

    @classmethod
    def of(cls, model: Any, *, sample: bool = False, name: str = "policy") -> Self:
        """The policy of a `sb3_contrib.MaskablePPO` as it is now, and as it goes on learning."""
        return cls(Network.of(model.policy), sample=sample, name=name)

    @classmethod
    @checked
    def load(
        cls, path: str | Path, game: Game, *, sample: bool = False, name: str = "policy", temperature: float = 1.0
    ) -> Self:
        """The policy of a checkpoint. Raises CheckpointError where it is missing, damaged or doesn't fit this game."""
        network, notes = read_checkpoint(game, path)
        training = notes.get("training", {})
        players = training.get("players") if isinstance(training, dict) else None
        if players is not None:
            players = tuple(players) if isinstance(players, list) else (players,)
        return cls(network, sample=sample, name=name, temperature=temperature, players=players)

    def check(self, config: Config) -> None:
        """Raises ConfigError for another number of players than it was trained for."""
        if self.players is not None and config.players not in self.players:
            numbers = [number for number in self.players if number != 1]
            trained = ["the solo game"] * (1 in self.players)
            trained += [f"{either(numbers)} players"] if numbers else []
            here = "the solo game" if config.players == 1 else f"a game of {config.players}"
            raise ConfigError(f"{self.name} was trained for {' and '.join(trained)}, and this is {here}")

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64 legal actions."""
        logits = self._log_probabilities(decisions, generator)
        if self.sample:  # the Gumbel trick, by the caller's generator rather than torch's global one
            logits = logits + generator.gumbel(size=logits.shape)
        return np.asarray(logits.argmax(axis=1), np.int64)

    def probabilities(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N, A) float64: the policy's probability of each action.

        The generator is used only if the network weighs shortfalls, to draw what is hidden.
        """
        logits = self._log_probabilities(decisions, generator).astype(np.float64)
        shares = np.exp(logits - logits.max(axis=1, keepdims=True)) * (decisions.action_masks == 1)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def assess(self, decisions: Decisions, generator: np.random.Generator) -> Assessment:
        """The policy's probabilities, the likeliest action, and what the win and margin heads, if any, predict.

        The heads value the position only, so single actions have no values. The generator is used as in
        `probabilities`.
        """
        shares = self.probabilities(decisions, generator)
        assessment = Assessment(actions=shares.argmax(axis=1), shares=shares, meaning="probability of its policy")
        if self.network.win_margin_heads is None:
            return assessment
        wins, margins = self.network.win_and_margin(inputs_of(self.network, decisions), decisions.teams)
        if (decisions.owners == 1).all():
            return replace(assessment, value=margins, estimated=POINTS)
        return replace(assessment, value=wins, estimated=CHANCE_TO_WIN)

    def _log_probabilities(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        weighed = shortfalls(decisions, generator) if self.network.weighs else None
        logits = self.network.log_probabilities(inputs_of(self.network, decisions), decisions.action_masks, weighed)
        return logits if self.temperature == 1.0 else logits / self.temperature


def inputs_of(network: Network, decisions: Decisions) -> np.ndarray:
    """(N, inputs) float32: the network's inputs at these decisions, with the printed numbers if it reads them."""
    if network.inputs == decisions.game.observation.size:
        return decisions.observations
    return np.concatenate((decisions.observations, decisions.numbers), axis=1)
