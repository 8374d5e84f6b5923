"""A faster MaskablePPO for processors: the same algorithm without steps that take time and change nothing."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn
from torch.nn import functional

from tabletop.seeds import Stream, generator
from tabletop_training.learn.ppo import masked_logits
from tabletop_training.settings import Settings
from tabletop_training.vec_env import SeatsVecEnv


def new_model(env: SeatsVecEnv, settings: Settings, seed: int) -> MaskablePPO:
    """A MaskablePPO with a new network. Seeds torch's global generator."""
    policy: dict[str, Any] = {
        "net_arch": list(settings.layers),
        "activation_fn": torch.nn.ReLU,
        "optimizer_kwargs": {"eps": 1e-5, "fused": True},  # eps as Stable-Baselines3 has it
    }
    if settings.trunk:
        policy |= {"features_extractor_class": Trunk, "features_extractor_kwargs": {"layers": list(settings.trunk)}}
    model = MaskablePPO(
        Policy,
        env,
        n_steps=settings.steps,
        batch_size=settings.minibatch,
        n_epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        ent_coef=settings.entropy,
        gamma=settings.discount,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip,
        vf_coef=settings.value_weight,
        max_grad_norm=settings.max_gradient,
        rollout_buffer_class=RolloutBuffer,
        policy_kwargs=policy,
        seed=seed,
        device="cpu",
    )
    buffer: Any = model.rollout_buffer
    buffer.generator = generator(seed, Stream.MINIBATCHES)
    return model


class Trunk(BaseFeaturesExtractor):
    """Linear layers with ReLU that policy and value share, so that the widest layer is computed once."""

    def __init__(self, observation_space: spaces.Box, layers: Sequence[int]) -> None:
        super().__init__(observation_space, layers[-1])
        widths = [int(observation_space.shape[0]), *layers]
        self.net = nn.Sequential(*(part for a, b in pairwise(widths) for part in (nn.Linear(a, b), nn.ReLU())))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """(N, D) float32 → (N, layers[-1]) float32."""
        return self.net(observations)


class Policy(MaskableActorCriticPolicy):
    """Computes the same as its base class, with one masked softmax instead of three logsumexps and a multinomial."""

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: np.ndarray | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions (N,) int64, values (N, 1) and log-probabilities (N,)."""
        logits, values = self._logits_and_values(obs, action_masks)
        probabilities = functional.softmax(logits, dim=1)
        if deterministic:
            actions = logits.argmax(dim=1)
        else:  # illegal actions have probability 0: the sums stand still there, and the count goes past them
            sums = probabilities.double().cumsum(dim=1)
            drawn = torch.rand(len(sums), 1, dtype=torch.float64) * sums[:, -1:]
            actions = (sums <= drawn).sum(dim=1)
        log_probabilities = functional.log_softmax(logits, dim=1)
        return actions, values, log_probabilities.gather(1, actions[:, None])[:, 0]

    def evaluate_actions(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values (N, 1), log-probabilities (N,) and entropies (N,)."""
        logits, values = self._logits_and_values(obs, action_masks)
        log_probabilities = functional.log_softmax(logits, dim=1)
        entropy = -(functional.softmax(logits, dim=1) * log_probabilities).sum(dim=1)
        return values, log_probabilities.gather(1, actions[:, None])[:, 0], entropy

    def _logits_and_values(
        self, obs: torch.Tensor, action_masks: np.ndarray | torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        features: Any = self.extract_features(obs)
        latent, latent_of_values = self.mlp_extractor(features)
        logits = self.action_net(latent)
        if action_masks is not None:
            logits = masked_logits(logits, torch.as_tensor(action_masks, dtype=torch.bool))
        return logits, self.value_net(latent_of_values)


class RolloutBuffer(MaskableRolloutBuffer):
    """The buffer of its base class without copies: masks stay bool, arrays are reused, nothing is transposed."""

    generator: np.random.Generator
    _made = False

    def reset(self) -> None:
        if not self._made:
            super().reset()
            self.action_masks = np.ones((self.buffer_size, self.n_envs, self.mask_dims), np.bool_)
            self._made = True
        self.pos = 0
        self.full = False

    def get(  # type: ignore[override]
        self, batch_size: int | None = None
    ) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """Minibatches of all decisions in random order."""
        size = self.buffer_size * self.n_envs
        actions = self.actions[:, :, 0]
        arrays = (self.observations, actions, self.values, self.log_probs, self.advantages, self.returns)
        columns = [torch.from_numpy(array.reshape(size, *array.shape[2:])) for array in (*arrays, self.action_masks)]
        order = torch.from_numpy(self.generator.permutation(size))
        for indices in torch.split(order, batch_size or size):
            yield MaskableRolloutBufferSamples(*(column[indices] for column in columns))
