"""A fully connected network in compiled code, for one position at a time.

Most numbers of an observation are 0, and so are about half of the numbers after a ReLU. They are skipped, so a single
position costs less here than it does within a large batch of dense matrix products.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tabletop_engine.compiling.compiled import rule

LAYER = np.dtype(
    [
        ("weights", np.int64),  # where they begin: (inputs, outputs), row by row
        ("biases", np.int64),
        ("inputs", np.int64),
        ("outputs", np.int64),
        ("activation", np.int64),
    ]
)
NONE, RELU, TANH = 0, 1, 2
"""What is done to the outputs of a layer."""

TRUNK, POLICY, WIN_MARGIN = 0, 1, 2
"""Parts of a network; the last one are its win and margin heads."""


class FlatNetwork(NamedTuple):
    """A network of L layers as compiled code takes it (`networks.flat_network`)."""

    layers: np.ndarray  # (L,) LAYER, part after part
    parts: np.ndarray  # (3, 2) int64: the first layer of each part, and the one after its last
    weights: np.ndarray  # float32, of all layers


@rule
def forward(network: FlatNetwork, part: int, inputs: np.ndarray, outputs: np.ndarray) -> None:
    """Write the outputs of each layer of a part into its row of `outputs`, (L, the widest layer) float32.

    `inputs` float32 are those of the part's first layer.
    """
    layers, weights = network.layers, network.weights
    given = inputs
    for number in range(network.parts[part, 0], network.parts[part, 1]):
        apply_layer(layers[number], weights, given, outputs[number])
        given = outputs[number]


@rule
def forward_policy(network: FlatNetwork, inputs: np.ndarray, outputs: np.ndarray) -> None:
    """`forward` through trunk and policy: the logits are in the row of `outputs` of the policy's last layer."""
    forward(network, TRUNK, inputs, outputs)
    first, end = network.parts[TRUNK, 0], network.parts[TRUNK, 1]
    forward(network, POLICY, inputs if first == end else outputs[end - 1], outputs)


@rule
def apply_layer(layer: Any, weights: np.ndarray, given: np.ndarray, out: np.ndarray) -> None:
    """Write the outputs of a layer for the inputs `given` into `out`."""
    outputs = int(layer.outputs)
    biases = weights[layer.biases : layer.biases + outputs]
    for j in range(outputs):
        out[j] = biases[j]
    some = np.empty(layer.inputs + 1, np.int64)  # which inputs are not 0, found without a branch to predict
    held = 0
    for i in range(layer.inputs):
        some[held] = i
        held += given[i] != np.float32(0.0)
    start = layer.weights
    for k in range(0, held - 3, 4):  # four rows at once: the outputs are read and written a quarter as often
        i, ii, iii, iv = some[k], some[k + 1], some[k + 2], some[k + 3]
        a, b, c, d = given[i], given[ii], given[iii], given[iv]
        first = weights[start + i * outputs : start + (i + 1) * outputs]
        second = weights[start + ii * outputs : start + (ii + 1) * outputs]
        third = weights[start + iii * outputs : start + (iii + 1) * outputs]
        fourth = weights[start + iv * outputs : start + (iv + 1) * outputs]
        for j in range(outputs):
            out[j] += a * first[j] + b * second[j] + c * third[j] + d * fourth[j]
    for k in range(held - held % 4, held):
        value, row = given[some[k]], weights[start + some[k] * outputs : start + (some[k] + 1) * outputs]
        for j in range(outputs):
            out[j] += value * row[j]
    if layer.activation == RELU:
        for j in range(outputs):
            out[j] = max(out[j], np.float32(0.0))
    elif layer.activation == TANH:
        for j in range(outputs):
            out[j] = math.tanh(out[j])
