"""Networks in plain PyTorch, with a policy, a value, and win and margin heads. They may begin with convolutions."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from tabletop_agents.search import forward
from tabletop_engine.errors import CheckpointError, ConfigError
from tabletop_engine.observation import Layout

ACTIVATIONS: dict[str, type[nn.Module]] = {"ReLU": nn.ReLU, "Tanh": nn.Tanh}
_ACTIVATION_CODES = {"ReLU": forward.RELU, "Tanh": forward.TANH}
HEADS_LAYER = 128
"""The width of a new hidden layer of win and margin heads."""
_HEADS = "win_margin_heads"
OLD_HEADS = "outlook"
"""What checkpoints up to version 0.3 called such heads, which began at the observation and gave margins in points."""
_LINEAR, _CONVOLUTION = "Linear", "Convolution"
_STORED = (np.float32, np.float16)
_NEVER = -1e8
"""The logit of an illegal action, as in sb3-contrib."""


class Board(NamedTuple):
    """Where the board is in an observation: its first number, and its shape."""

    start: int
    planes: int
    rows: int
    columns: int


def board_of(layout: Layout) -> Board:
    """The largest block of three axes, (planes, rows, columns). Raises ConfigError without one, and below 0."""
    blocks = [block for block in layout if len(block.shape) == 3]
    if not blocks or layout.low < 0:
        raise ConfigError("channels: an observation needs a block (planes, rows, columns), and no number below 0")
    largest = max(blocks, key=lambda block: block.size)
    return Board(largest.start, *largest.shape)


class Convolution(nn.Module):
    """A convolution of 3 x 3 spaces over the board, which lies between other numbers: these stay as they are.

    Arguments:
        weight, bias: (C, planes, 3, 3) and (C,), float32, for C channels; these are the planes of its outputs' board.
        board: where the board is in its inputs, (N, in_features).
        in_features: the number of inputs.
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor, board: Board, in_features: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(weight), nn.Parameter(bias)
        self.board, self.in_features = board, in_features
        self.out_features = in_features + (len(weight) - board.planes) * board.rows * board.columns

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """(N, out_features)."""
        start, planes, rows, columns = self.board
        before, seen, after = inputs.tensor_split([start, start + planes * rows * columns], dim=1)
        found = functional.conv2d(seen.unflatten(1, (planes, rows, columns)), self.weight, self.bias, padding=1)
        return torch.cat([before, found.flatten(1), after], dim=1)


class Network(nn.Module):
    """A trunk, which may be empty, and two heads after it: policy and value.

    Layers are `nn.Linear` or `ACTIVATIONS`; a trunk may begin with `Convolution`s.

    A network may also have win and margin heads after the trunk, which a search needs. They predict the end of the game
    for each team with 2 K numbers, where K is the largest number of players of the game. The first K are logits of
    winning and the others are margins in units of `forward.MARGIN_UNIT` points, both from the acting seat's team on.
    Where everybody plays alone, teams are seats. For several teams a softmax turns the logits into win probabilities;
    for one the logit stands alone.

    A network may also read the printed numbers (`Game.numbers`), which follow the observation in its inputs. Then
    `inputs` is the length of both.

    A network may weigh the shortfalls of actions (`tabletop_agents.search.shortfalls`). Then `weighs` is true, and its
    policy has one output more than there are actions. The softplus of this output says how much a point of an action's
    shortfall lowers the action's logit.
    """

    def __init__(
        self,
        trunk: nn.Sequential,
        policy: nn.Sequential,
        value: nn.Sequential,
        win_margin_heads: nn.Sequential | None = None,
        weighs: bool = False,
    ) -> None:
        super().__init__()
        self.trunk, self.policy, self.value = trunk, policy, value
        self.win_margin_heads, self.weighs = win_margin_heads, weighs

    @classmethod
    def of(cls, policy: Any) -> Self:
        """The network of a MaskablePPO policy. It shares the policy's layers, so it changes while the policy learns.

        A `Network` is returned as it is. Raises ConfigError for a policy that is not fully connected.
        """
        if isinstance(policy, cls):
            return policy
        head, value = (
            nn.Sequential(*policy.mlp_extractor.policy_net, policy.action_net),
            nn.Sequential(*policy.mlp_extractor.value_net, policy.value_net),
        )
        network = cls(nn.Sequential(), head, value)
        known = all(type(layer).__name__ in (_LINEAR, *ACTIVATIONS) for layer in network.layers)
        if not known or _size(network) != _size(policy):
            layers = ", ".join(type(layer).__name__ for layer in [policy.pi_features_extractor, *network.layers])
            between = " or ".join(ACTIVATIONS)
            raise ConfigError(
                f"fully connected networks with {between} between the layers are kept and copied, not {layers}"
            )
        return network

    @classmethod
    def of_layers(cls, layers: Sequence[tuple[Any, Any]]) -> Self:
        """The network of layers from a program in another framework, with copies of their weights.

        Arguments:
            layers: weights (inputs, outputs) and biases (outputs,), as arrays of any kind; ReLU stands between the
                layers. The last one gives the logits of all actions, and then the value.
        """
        *hidden, (weight, bias) = [
            (torch.tensor(np.asarray(one).T), torch.tensor(np.asarray(other))) for one, other in layers
        ]
        trunk = [part for layer in hidden for part in (_linear(*layer), nn.ReLU())]
        policy, value = _linear(weight[:-1], bias[:-1]), _linear(weight[-1:], bias[-1:])
        return cls(nn.Sequential(*trunk), nn.Sequential(policy), nn.Sequential(value))

    @classmethod
    def of_arrays(
        cls,
        described: dict[str, list[str]],
        arrays: dict[str, np.ndarray],
        allowed: Sequence[int],
        actions: int,
        players: int,
        layout: Layout,
    ) -> Self:
        """The network from what its `described` and `arrays` (float32 or float16) gave. Its weights are float32.

        `allowed` are the possible numbers of inputs; `layout` tells convolutions where the board is. Raises
        CheckpointError if this is no such network.
        """
        made = {}
        board: Board | None = None
        first = arrays["trunk.0.weight" if described["trunk"] else "policy.0.weight"].shape[-1]
        inputs = first if first in allowed else allowed[0]
        widths = {"trunk": inputs, OLD_HEADS: inputs}
        heads = [part for part in (_HEADS, OLD_HEADS) if part in described][:1]
        for part in ["trunk", "policy", "value", *heads]:
            width, layers = widths.get(part, widths["trunk"]), []
            for number, kind in enumerate(described[part]):
                if kind in ACTIVATIONS:
                    layers.append(ACTIVATIONS[kind]())
                    continue
                weight, bias = (arrays[f"{part}.{number}.{name}"] for name in ("weight", "bias"))
                shape: tuple[int, ...] = (len(bias), width)
                known = weight.dtype in _STORED and bias.dtype in _STORED
                convolves = kind == _CONVOLUTION and part == "trunk" and _LINEAR not in described[part][:number]
                if convolves:
                    board = board or board_of(layout)
                    shape = (len(bias), board.planes, 3, 3)
                if (kind != _LINEAR and not convolves) or weight.shape != shape or bias.ndim != 1 or not known:
                    raise CheckpointError(f"its {part} has a layer {number} of {kind} {weight.shape}, not {shape}")
                if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
                    raise CheckpointError(f"its {part} has a layer {number} with numbers that are not finite")
                both = [torch.from_numpy(array.astype(np.float32, copy=False)) for array in (weight, bias)]
                if convolves and board is not None:
                    layers.append(Convolution(both[0], both[1], board, width))
                    board = board._replace(planes=len(bias))
                else:
                    layers.append(_linear(*both))
                width = layers[-1].out_features
            widths[part], made[part] = width, nn.Sequential(*layers)
        weighs = widths["policy"] == actions + 1
        if (widths["policy"] - weighs, widths["value"]) != (actions, 1):
            raise CheckpointError(f"its heads give {widths['policy']} and {widths['value']} numbers, not {actions}, 1")
        for part in heads:
            if widths[part] % 2 == 1 or widths[part] < 2 * players:
                what = f"its win and margin heads give {widths[part]} numbers"
                raise CheckpointError(f"{what}, not {2 * players}, two a player")
        network = cls(made["trunk"], made["policy"], made["value"], made.get(_HEADS), weighs)
        if OLD_HEADS in made:
            _add_old_heads(network, made[OLD_HEADS])
        return network

    @property
    def parts(self) -> dict[str, nn.Sequential]:
        """Its parts by their names in a checkpoint."""
        parts = {"trunk": self.trunk, "policy": self.policy, "value": self.value}
        return parts if self.win_margin_heads is None else {**parts, _HEADS: self.win_margin_heads}

    @property
    def layers(self) -> list[nn.Module]:
        """All layers, one part after the other."""
        return [layer for part in self.parts.values() for layer in part]

    @property
    def inputs(self) -> int:
        """The number of inputs: of an observation, or of an observation and the printed numbers."""
        first: Any = [*self.trunk, *self.policy][0]
        return int(first.in_features)

    @property
    def described(self) -> dict[str, list[str]]:
        """The kinds of layers of each part, JSON-able."""
        return {name: [type(layer).__name__ for layer in part] for name, part in self.parts.items()}

    def logits(self, hidden: torch.Tensor, shortfalls: torch.Tensor | None) -> torch.Tensor:
        """(N, A) logits of all actions, from the trunk's outputs. A network that weighs needs `shortfalls`, (N, A)."""
        outputs: torch.Tensor = self.policy(hidden)
        if not self.weighs:
            return outputs
        assert shortfalls is not None
        return outputs[:, :-1] - functional.softplus(outputs[:, -1:]) * shortfalls

    def forward(
        self, observations: torch.Tensor, shortfalls: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """(N, A) logits of all actions, (N,) values, and (N, 2 K) outputs of the win and margin heads if it has them.

        Its arguments are (N, inputs) float32 and `shortfalls` as above. Gradients of the heads do not reach the trunk:
        they learn what it knows, and the policy learns as it would without them.
        """
        hidden = self.trunk(observations)
        heads = None if self.win_margin_heads is None else self.win_margin_heads(hidden.detach())
        return self.logits(hidden, shortfalls), self.value(hidden)[:, 0], heads

    def log_probabilities(
        self, observations: np.ndarray, action_masks: np.ndarray, shortfalls: np.ndarray | None = None
    ) -> np.ndarray:
        """(N, A) float32 of the actions, about -1e8 for those that are masked out.

        A network that weighs needs the actions' `shortfalls`, (N, A) float32 in points.

        Raises CheckpointError where the network gives numbers that are not finite.
        """
        with torch.no_grad():
            weighed = None if shortfalls is None else torch.as_tensor(shortfalls)
            logits = self.logits(self.trunk(torch.as_tensor(observations)), weighed)
            logits = logits - logits.logsumexp(dim=1, keepdim=True)
            logits = torch.where(torch.as_tensor(action_masks, dtype=torch.bool), logits, _NEVER)
            logits = logits - logits.logsumexp(dim=1, keepdim=True)
            if not torch.isfinite(logits).all():
                raise CheckpointError("the network's outputs are not finite, so it cannot play")
            return np.asarray(logits.numpy())

    def win_and_margin(self, observations: np.ndarray, teams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each actor's predicted win probability, and margin in points, (N,) float64 both.

        `teams` (N,) are the numbers of teams (`Decisions.teams`). Raises CheckpointError where the predictions are not
        finite.
        """
        wins, margins = self.wins_and_margins(observations, teams)
        return wins[:, 0], margins[:, 0]

    def wins_and_margins(self, observations: np.ndarray, teams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same for all teams, from the actor's on, (N, K) float64 both; those that a game lacks have 0 wins."""
        assert self.win_margin_heads is not None
        with torch.no_grad():
            outputs = self.win_margin_heads(self.trunk(torch.as_tensor(observations))).double().numpy()
        if not np.isfinite(outputs).all():
            raise CheckpointError("the outputs of the win and margin heads are not finite, so there are no estimates")
        most = outputs.shape[1] // 2
        logits, margins = outputs[:, :most].copy(), outputs[:, most:] * forward.MARGIN_UNIT
        logits[np.arange(most) >= teams[:, None]] = -np.inf
        alone = np.where(teams == 1, 0.0, -np.inf)[:, None]  # with one team the logit stands alone
        highest = np.maximum(logits.max(axis=1, keepdims=True), alone)
        shares = np.exp(logits - highest)
        return shares / (shares.sum(axis=1, keepdims=True) + np.exp(alone - highest)), margins


def flat_network(network: Network, numbers: np.ndarray | None = None) -> forward.FlatNetwork:
    """Copies of trunk, policy, and win and margin heads for compiled code.

    `numbers` (M,) float32 are the game's printed numbers, for a network that reads them. They are the same in all
    positions of the game, so they become a part of the biases.
    """
    layers: list[Any] = []
    parts, weights, size = [], [], 0
    convolved = [layer for layer in network.trunk if isinstance(layer, Convolution)]
    beginning = network.trunk if any(isinstance(layer, nn.Linear) for layer in network.trunk) else None
    for part in (network.trunk, network.policy, network.win_margin_heads or ()):
        first, begins = len(layers), beginning in (part, None)  # whether its first matrix reads inputs or convolutions
        for layer in part:
            if isinstance(layer, nn.Linear):
                matrix = layer.weight.detach().cpu().numpy().T
                bias = layer.bias.detach().cpu().numpy()
                if numbers is not None and begins:
                    matrix, read = np.split(matrix, [len(matrix) - len(numbers)])
                    bias = bias + numbers @ read
                if convolved and begins:
                    matrix = matrix[_by_space(convolved[-1])]
                begins = False
                layers.append((size, size + matrix.size, *matrix.shape, forward.NONE, *forward.NO_BOARD))
            elif isinstance(layer, Convolution):
                matrix = layer.weight.detach().cpu().flip(2, 3).permute(1, 2, 3, 0).numpy()
                start, _, rows, columns = layer.board
                bias = np.zeros(layer.out_features, np.float32)
                tiled = np.tile(layer.bias.detach().cpu().numpy(), rows * columns)
                bias[start : start + len(tiled)] = tiled
                sizes = (layer.in_features, layer.out_features)
                layers.append((size, size + matrix.size, *sizes, forward.NONE, *layer.board, layer is not convolved[0]))
            else:
                layers[-1] = (*layers[-1][:4], _ACTIVATION_CODES[type(layer).__name__], *layers[-1][5:])
                continue
            weights += [np.ravel(matrix), bias]
            size += matrix.size + bias.size
        parts.append((first, len(layers)))
    return forward.FlatNetwork(
        np.array(layers, forward.LAYER), np.array(parts, np.int64), np.concatenate(weights).astype(np.float32)
    )


def _by_space(layer: Convolution) -> np.ndarray:
    """(out_features,) where each output is that compiled code gives: of the board, all channels of a space together."""
    start, _, rows, columns = layer.board
    order, channels = np.arange(layer.out_features), len(layer.bias)
    board = order[start : start + channels * rows * columns].copy()
    order[start : start + len(board)] = board.reshape(channels, -1).T.ravel()
    return order


def with_more_inputs(network: Network, number: int, at: int | None = None) -> Network:
    """A copy of the network with so many more inputs, from index `at` on; None puts them last.

    Their weights are 0, so it plays as before. Raises ConfigError for one with convolutions.
    """
    if any(isinstance(layer, Convolution) for layer in network.trunk):
        raise ConfigError("a network with convolutions can't be given more inputs")
    copied = copy.deepcopy(network)
    for part in [copied.trunk] if len(copied.trunk) else [*copied.parts.values()][1:]:
        first: Any = part[0]
        wider = nn.Linear(first.in_features + number, first.out_features)
        before, after = first.weight.tensor_split([first.in_features if at is None else at], dim=1)
        with torch.no_grad():
            wider.weight[:] = torch.cat([before, before.new_zeros(len(before), number), after], dim=1)
            wider.bias[:] = first.bias
        part[0] = wider
    return copied


def new_layers(widths: Sequence[int], last: float | None = None) -> nn.Sequential:
    """New linear layers with ReLU between them, and after the last one if that has no scale, with orthogonal weights.

    `last` is the scale of the last layer's weights, as PPO has it (Andrychowicz and others 2021). The weights are drawn
    from torch's global generator.
    """
    parts: list[nn.Module] = []
    for number, (inputs, outputs) in enumerate(pairwise(widths)):
        final = last is not None and number == len(widths) - 2
        layer = nn.Linear(inputs, outputs)
        nn.init.orthogonal_(layer.weight, gain=last if final and last is not None else 2**0.5)
        nn.init.zeros_(layer.bias)
        parts += [layer] if final else [layer, nn.ReLU()]
    return nn.Sequential(*parts)


def new_convolutions(layout: Layout, channels: Sequence[int], inputs: int) -> nn.Sequential:
    """New convolutions with so many channels and ReLU after each, for (N, inputs) that begin with an observation.

    Their weights are drawn as those of `new_layers`. Raises ConfigError as `board_of` does.
    """
    parts: list[nn.Module] = []
    board = board_of(layout)
    for number in channels:
        weight = nn.init.orthogonal_(torch.empty(number, board.planes, 3, 3), gain=2**0.5)
        layer = Convolution(weight, torch.zeros(number), board, inputs)
        board, inputs = board._replace(planes=number), layer.out_features
        parts += [layer, nn.ReLU()]
    return nn.Sequential(*parts)


def new_heads(network: Network, seats: int) -> nn.Sequential:
    """New win and margin heads to stand after a network's trunk, for a game with this largest number of players.

    They begin with a copy of the critic's hidden layer: what a trained critic looks at helps to tell the result. A wide
    layer would slow a search down, so HEADS_LAYER new units stand in place of one with more than twice as many.
    """
    first: Any = network.value[0]
    if len(network.value) == 3 and first.out_features <= 2 * HEADS_LAYER:
        hidden: Any = copy.deepcopy(network.value[:2])
        return nn.Sequential(*hidden, *new_layers([first.out_features, 2 * seats], 0.1))
    return new_layers([first.in_features, HEADS_LAYER, 2 * seats], 0.1)


def with_shortfall_weight(network: Network, weight: float, logit_scale: float = 1.0) -> Network:
    """A copy of the network with an added output that weights shortfalls.

    In every position a point of shortfall weighs `weight` nats, more than 0. Only training changes this. The network's
    own logits are multiplied by `logit_scale`, an inverse temperature.
    """
    copied = copy.deepcopy(network)
    last: Any = copied.policy[-1]
    wider = nn.Linear(last.in_features, last.out_features + 1)
    with torch.no_grad():
        wider.weight.zero_()
        wider.weight[:-1] = logit_scale * last.weight
        wider.bias[:-1] = logit_scale * last.bias
        wider.bias[-1] = math.log(math.expm1(weight))
    copied.policy[-1] = wider
    copied.weighs = True
    return copied


def _linear(weight: torch.Tensor, bias: torch.Tensor) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0], device="meta")
    layer.weight, layer.bias = nn.Parameter(weight), nn.Parameter(bias)
    return layer


@torch.no_grad()
def _add_old_heads(network: Network, heads: nn.Sequential) -> None:
    """Give a network heads of an older version. Their first layer widens the trunk, and the network plays as before.

    Only heads that begin with a ReLU layer fit there, as all that were trained do; others are left out.
    """
    last: Any = heads[-1]
    for margins in (last.weight[last.out_features // 2 :], last.bias[last.out_features // 2 :]):
        margins /= forward.MARGIN_UNIT
    network.win_margin_heads = heads
    if not len(network.trunk):
        return
    between = [layer for layer in [*network.trunk, *list(heads)[1:2]] if not isinstance(layer, nn.Linear)]
    if any(type(layer) is not nn.ReLU for layer in between) or len(heads) < 3:
        network.win_margin_heads = None
        return
    first: Any = heads[0]
    trunk: Any = network.trunk
    width = first.out_features
    for number, layer in enumerate(trunk):
        if number == 0:
            trunk[0] = _linear(torch.cat([layer.weight, first.weight]), torch.cat([layer.bias, first.bias]))
        elif isinstance(layer, nn.Linear):  # what has passed a ReLU passes the next one unchanged
            weight = torch.block_diag(layer.weight, torch.eye(width))
            trunk[number] = _linear(weight, torch.cat([layer.bias, torch.zeros(width)]))
    after: Any = heads[2:]
    network.win_margin_heads = after
    for part in (network.policy, network.value, after):
        start: Any = part[0]
        added = torch.zeros(start.out_features, trunk[-2].out_features - start.in_features)
        part[0] = _linear(
            torch.cat((added, start.weight) if part is after else (start.weight, added), dim=1), start.bias
        )


def _size(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
