"""Parts of networks that Stable-Baselines3 does not have."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn


class Trunk(BaseFeaturesExtractor):
    """Linear layers with ReLU that policy and value share: the widest one, after the observation, is computed once."""

    def __init__(self, observation_space: spaces.Box, layers: Sequence[int]) -> None:
        super().__init__(observation_space, layers[-1])
        widths = [int(observation_space.shape[0]), *layers]
        self.net = nn.Sequential(*(part for a, b in pairwise(widths) for part in (nn.Linear(a, b), nn.ReLU())))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """(N, D) float32 → (N, layers[-1]) float32."""
        return self.net(observations)
