"""Fully connected networks with a policy, a value and an outlook, which plain PyTorch runs."""

from __future__ import annotations

import copy
import math
from typing import Any, Self

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from tabletop.errors import CheckpointError, ConfigError
from tabletop_agents.search import forward

ACTIVATIONS: dict[str, type[nn.Module]] = {"ReLU": nn.ReLU, "Tanh": nn.Tanh}
_ACTIVATION_CODES = {"ReLU": forward.RELU, "Tanh": forward.TANH}
_PARTS = ("trunk", "policy", "value")
OUTLOOK = "outlook"
"""The part of a network that searches need. Not every network has it."""
_LINEAR = "Linear"
_STORED = (np.float32, np.float16)
_NEVER = -1e8
"""The logit of an illegal action, as in sb3-contrib."""


class Network(nn.Module):
    """A trunk, which may be empty, and two heads after it, policy and value: `nn.Linear` and `ACTIVATIONS`.

    A network may also have an outlook. It too starts from the observation, and predicts the end of the game for each
    seat: 2 K numbers, where K is the largest number of players of the game. The first K are logits of winning, the
    others margins in points, both clockwise from the acting seat. For several players a softmax turns the logits into
    chances to win; in a game for one the single logit stands alone.

    A network may weigh what the agent `greedy` looks at. Then `weighs` is true, and its policy has one number more than
    there are actions. Its softplus is how much a point of an action's shortfall lowers the action's logit
    (`tabletop_agents.search.shortfalls`).
    """

    def __init__(
        self,
        trunk: nn.Sequential,
        policy: nn.Sequential,
        value: nn.Sequential,
        outlook: nn.Sequential | None = None,
        weighs: bool = False,
    ) -> None:
        super().__init__()
        self.trunk, self.policy, self.value, self.outlook, self.weighs = trunk, policy, value, outlook, weighs

    @classmethod
    def of(cls, policy: Any) -> Self:
        """The network of a MaskablePPO policy: its own layers, so that it goes on learning with them.

        A network is taken as it is. Raises ConfigError for a policy that is anything but fully connected.
        """
        if isinstance(policy, cls):
            return policy
        features = policy.pi_features_extractor
        parts = (
            [*getattr(features, "net", ())],
            [*policy.mlp_extractor.policy_net, policy.action_net],
            [*policy.mlp_extractor.value_net, policy.value_net],
        )
        trunk, head, value = (nn.Sequential(*part) for part in parts)
        network = cls(trunk, head, value)
        known = all(type(layer).__name__ in (_LINEAR, *ACTIVATIONS) for layer in network.layers)
        if not known or _size(network) != _size(policy):
            layers = ", ".join(type(layer).__name__ for layer in [features, *network.layers])
            between = " or ".join(ACTIVATIONS)
            raise ConfigError(
                f"fully connected networks with {between} between the layers are kept and copied, not {layers}"
            )
        return network

    @classmethod
    def of_arrays(
        cls, described: dict[str, list[str]], arrays: dict[str, np.ndarray], inputs: int, actions: int, players: int
    ) -> Self:
        """The network that `described` and `arrays` (float32 or float16) gave; its weights are float32.

        Raises CheckpointError for what is no such network.
        """
        made = {}
        widths = {"trunk": inputs, OUTLOOK: inputs}
        for part in [*_PARTS, *([OUTLOOK] if OUTLOOK in described else [])]:
            width, layers = widths.get(part, widths["trunk"]), []
            for number, kind in enumerate(described[part]):
                if kind in ACTIVATIONS:
                    layers.append(ACTIVATIONS[kind]())
                    continue
                weight, bias = (arrays[f"{part}.{number}.{name}"] for name in ("weight", "bias"))
                shape, known = (len(bias), width), weight.dtype in _STORED and bias.dtype in _STORED
                if kind != _LINEAR or weight.shape != shape or bias.ndim != 1 or not known:
                    raise CheckpointError(f"its {part} has a layer {number} of {kind} {weight.shape}, not {shape}")
                if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
                    raise CheckpointError(f"its {part} has a layer {number} with numbers that are not finite")
                layer = nn.Linear(*weight.shape[::-1], device="meta")
                layer.weight, layer.bias = (
                    nn.Parameter(torch.from_numpy(array.astype(np.float32, copy=False))) for array in (weight, bias)
                )
                layers.append(layer)
                width = len(bias)
            widths[part], made[part] = width, nn.Sequential(*layers)
        weighs = widths["policy"] == actions + 1
        if (widths["policy"] - weighs, widths["value"]) != (actions, 1):
            raise CheckpointError(f"its heads give {widths['policy']} and {widths['value']} numbers, not {actions}, 1")
        if OUTLOOK in made and (widths[OUTLOOK] % 2 == 1 or widths[OUTLOOK] < 2 * players):
            raise CheckpointError(f"its outlook gives {widths[OUTLOOK]} numbers, not {2 * players}, two a player")
        return cls(**made, weighs=weighs)

    @property
    def layers(self) -> list[nn.Module]:
        """All of them, one part after the other."""
        return [*self.trunk, *self.policy, *self.value, *(self.outlook or ())]

    @property
    def described(self) -> dict[str, list[str]]:
        """The kinds of layers of each part, JSON-able."""
        parts = [*_PARTS, *([] if self.outlook is None else [OUTLOOK])]
        return {part: [type(layer).__name__ for layer in getattr(self, part)] for part in parts}

    def logits(self, hidden: torch.Tensor, shortfalls: torch.Tensor | None) -> torch.Tensor:
        """(N, A) logits of all actions, from what the trunk gives; a network that weighs needs `shortfalls`, (N, A)."""
        said: torch.Tensor = self.policy(hidden)
        if not self.weighs:
            return said
        assert shortfalls is not None
        return said[:, :-1] - functional.softplus(said[:, -1:]) * shortfalls

    def forward(self, seen: torch.Tensor, shortfalls: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        """(N, A) logits of all actions and (N,) values, for observations (N, D) float32 and `shortfalls` as above."""
        hidden = self.trunk(seen)
        return self.logits(hidden, shortfalls), self.value(hidden)[:, 0]

    def log_probabilities(
        self, observations: np.ndarray, action_masks: np.ndarray, shortfalls: np.ndarray | None = None
    ) -> np.ndarray:
        """(N, A) float32 of the actions, about -1e8 for those that are masked out.

        A network that weighs needs the actions' `shortfalls`, (N, A) float32 in points.

        Raises CheckpointError where the network gives numbers that are not finite.
        """
        with torch.no_grad():
            fallen = None if shortfalls is None else torch.as_tensor(shortfalls)
            logits = self.logits(self.trunk(torch.as_tensor(observations)), fallen)
            logits = logits - logits.logsumexp(dim=1, keepdim=True)
            logits = torch.where(torch.as_tensor(action_masks, dtype=torch.bool), logits, _NEVER)
            logits = logits - logits.logsumexp(dim=1, keepdim=True)
            if not torch.isfinite(logits).all():
                raise CheckpointError("the network's outputs are not finite, so it cannot play")
            return np.asarray(logits.numpy())

    def prospects(self, observations: np.ndarray, players: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the outlook promises those who are asked in games of so many `players`, (N,): both (N,) float64.

        Their chances to win, and their margins in points. Raises CheckpointError where these are not finite.
        """
        assert self.outlook is not None
        with torch.no_grad():
            said = self.outlook(torch.as_tensor(observations)).double().numpy()
        if not np.isfinite(said).all():
            raise CheckpointError("the outlook's numbers are not finite, so it has no estimates")
        seats = said.shape[1] // 2
        there = np.arange(1, seats) < players[:, None]
        with np.errstate(over="ignore"):
            others = np.exp(said[:, 1:seats] - said[:, :1]).sum(axis=1, where=there)
            rivals = np.where(players == 1, np.exp(-said[:, 0]), others)  # alone it is a logit of its own
        return 1.0 / (1.0 + rivals), said[:, seats]


def flat_network(network: Network) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Copies of trunk, policy and outlook as `search.forward` takes them: layers, parts, and all weights float32."""
    layers: list[tuple[int, int, int, int, int]] = []
    parts, weights, size = [], [], 0
    for part in (network.trunk, network.policy, network.outlook or ()):
        first = len(layers)
        for layer in part:
            if isinstance(layer, nn.Linear):
                matrix = layer.weight.detach().cpu().numpy().T
                bias = layer.bias.detach().cpu().numpy()
                layers.append((size, size + matrix.size, *matrix.shape, forward.NONE))
                weights += [np.ravel(matrix), bias]
                size += matrix.size + bias.size
            else:
                layers[-1] = (*layers[-1][:-1], _ACTIVATION_CODES[type(layer).__name__])
        parts.append((first, len(layers)))
    return np.array(layers, forward.LAYER), np.array(parts, np.int64), np.concatenate(weights).astype(np.float32)


def weighing(network: Network, weight: float, sureness: float = 1.0) -> Network:
    """A copy of a network that does not weigh shortfalls, and from here on weighs them.

    The weight of a point is `weight` nats everywhere, more than 0; it changes only by training. The network's own
    logits are multiplied by `sureness`.
    """
    copied = copy.deepcopy(network)
    last: Any = copied.policy[-1]
    wider = nn.Linear(last.in_features, last.out_features + 1)
    with torch.no_grad():
        wider.weight.zero_()
        wider.weight[:-1] = sureness * last.weight
        wider.bias[:-1] = sureness * last.bias
        wider.bias[-1] = math.log(math.expm1(weight))
    copied.policy[-1] = wider
    copied.weighs = True
    return copied


def _size(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
