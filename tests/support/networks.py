"""Small networks with random weights, and the search that uses them."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from tabletop_agents.networks import Network
from tabletop_agents.policy import PolicyAgent
from tabletop_agents.search.guided_search import GuidedSearchAgent
from tabletop_engine.game import Game


def network_for(game: Game, *, seed: int = 0, trunk: bool = True, tanh: bool = False, size: float = 1.0) -> Network:
    """A small network with random weights; `size` 0: all its outputs are 0."""
    torch.manual_seed(seed)
    inputs, actions, seats = game.observation.size, game.num_actions, game.players[-1]
    between: type[nn.Module] = nn.Tanh if tanh else nn.ReLU
    shared = [nn.Linear(inputs, 24), between()] if trunk else []
    width = 24 if trunk else inputs
    network = Network(
        nn.Sequential(*shared),
        nn.Sequential(nn.Linear(width, 17), between(), nn.Linear(17, actions)),
        nn.Sequential(nn.Linear(width, 1)),
        nn.Sequential(nn.Linear(width, 9), between(), nn.Linear(9, 5), between(), nn.Linear(5, 2 * seats)),
    )
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(size)
    return network


def guided(game: Game, simulations: int = 40, network: Network | None = None, **options: Any) -> GuidedSearchAgent:
    return GuidedSearchAgent(PolicyAgent(network or network_for(game)), simulations, **options)
