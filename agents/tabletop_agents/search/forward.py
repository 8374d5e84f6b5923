"""A network in compiled code, for one position at a time.

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
        # of a convolution: the first number of the board in its inputs, and the board's shape
        ("start", np.int64),
        ("planes", np.int64),  # 0: the layer is fully connected
        ("rows", np.int64),
        ("columns", np.int64),
        ("by_space", np.int64),  # 1: all planes of a space lie together, as in the outputs of all convolutions
    ]
)
NO_BOARD = (0, 0, 0, 0, 0)
NONE, RELU, TANH = 0, 1, 2
"""What is done to the outputs of a layer."""

TRUNK, POLICY, WIN_MARGIN = 0, 1, 2
"""Parts of a network. The others follow the trunk, and the last one are its win and margin heads."""
MARGIN_UNIT = 10.0
"""The margin, in points, that the margin heads call 1."""


class FlatNetwork(NamedTuple):
    """A network of L layers as compiled code takes it (`networks.flat_network`)."""

    layers: np.ndarray  # (L,) LAYER, part after part
    parts: np.ndarray  # (3, 2) int64: the first layer of each part, and the one after its last
    weights: np.ndarray  # float32, of all layers


class Similar(NamedTuple):
    """For each of K seats a position in which it was to move, and what the first layer, with H outputs, gave for it."""

    known: np.ndarray  # (K,) int8, 1 if there is one; zero for another root
    inputs: np.ndarray  # (K, D) float32
    sums: np.ndarray  # (K, H) float32, before the activation
    different: np.ndarray  # (D,) float32, scratch space


def new_similar(network: FlatNetwork, seats: int, inputs: int) -> Similar:
    """None known yet."""
    hidden = int(network.layers[0]["outputs"])
    sums = np.zeros((seats, hidden), np.float32)
    return Similar(np.zeros(seats, np.int8), np.zeros((seats, inputs), np.float32), sums, np.zeros(inputs, np.float32))


@rule
def forward(network: FlatNetwork, part: int, inputs: np.ndarray, outputs: np.ndarray) -> None:
    """Write the outputs of each layer of a part into its row of `outputs`, (L, the widest layer) float32.

    `inputs` float32 are those of the part's first layer.
    """
    forward_layers(network, network.parts[part, 0], network.parts[part, 1], inputs, outputs)


@rule
def forward_layers(network: FlatNetwork, first: int, end: int, inputs: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """`forward` through the layers from `first` up to `end`; returns the outputs of the last one, or `inputs`."""
    given = inputs
    for number in range(first, end):
        layer, out = network.layers[number], outputs[number]
        sum_inputs(layer, network.weights, given, out)
        activate(layer, out)
        given = out
    return given


@rule
def forward_trunk(
    network: FlatNetwork, seat: int, inputs: np.ndarray, similar: Similar, outputs: np.ndarray
) -> np.ndarray:
    """`forward` through the trunk; returns its outputs, which the other parts need. Without layers it is `inputs`.

    The first layer, which is the largest, begins at what it gave for a similar position in which the same seat was to
    move: only inputs that differ are added. If more of them differ than are not 0, this position is the one to begin at
    from now on.
    """
    first, end = network.parts[TRUNK, 0], network.parts[TRUNK, 1]
    if end == 0:
        return inputs
    layer, weights = network.layers[first], network.weights
    earlier, sums, out = similar.inputs[seat], similar.sums[seat], outputs[first]
    different = similar.different
    differing, held = 0, 0
    for i in range(layer.inputs):
        different[i] = inputs[i] - earlier[i]
        differing += different[i] != np.float32(0.0)
        held += inputs[i] != np.float32(0.0)
    begins = similar.known[seat] == 0 or differing > held
    if begins:
        sum_inputs(layer, weights, inputs, sums)
        for i in range(layer.inputs):  # one by one: machine code in wheels can't assign an array to a slice
            earlier[i] = inputs[i]
        similar.known[seat] = 1
    for j in range(layer.outputs):
        out[j] = sums[j]
    if not begins:
        add_rows(layer, weights, different, out)
    activate(layer, out)
    return forward_layers(network, first + 1, end, out, outputs)


@rule
def sum_inputs(layer: Any, weights: np.ndarray, given: np.ndarray, out: np.ndarray) -> None:
    """Write what a layer makes of the inputs `given`, before its activation, into `out`."""
    biases = weights[layer.biases : layer.biases + layer.outputs]
    for j in range(layer.outputs):
        out[j] = biases[j]
    add_rows(layer, weights, given, out)


@rule
def add_rows(layer: Any, weights: np.ndarray, given: np.ndarray, out: np.ndarray) -> None:
    """Add the rows of a layer's weights, times the inputs `given`, to `out`."""
    if layer.planes > 0:
        add_convolved(layer, weights, given, out)
        return
    outputs = int(layer.outputs)
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


@rule
def add_convolved(layer: Any, weights: np.ndarray, given: np.ndarray, out: np.ndarray) -> None:
    """`add_rows` of a convolution: what each space's numbers give to the spaces around it. Other numbers are added.

    Its weights are by plane, by the 9 ways from the space of the input, and by channel.
    """
    start, planes, rows, columns = int(layer.start), int(layer.planes), int(layer.rows), int(layer.columns)
    spaces = rows * columns
    end = start + planes * spaces
    more = int(layer.outputs - layer.inputs)
    channels = planes + more // spaces
    for i in range(start):
        out[i] += given[i]
    for i in range(end, int(layer.inputs)):
        out[i + more] += given[i]
    for i in range(start, end):
        value = given[i]
        if value == np.float32(0.0):
            continue
        at = i - start
        plane, space = (at % planes, at // planes) if layer.by_space == 1 else (at // spaces, at % spaces)
        for way in range(9):
            row, column = space // columns + way // 3 - 1, space % columns + way % 3 - 1
            if 0 <= row < rows and 0 <= column < columns:
                to, first = start + (row * columns + column) * channels, layer.weights + (9 * plane + way) * channels
                own = weights[first : first + channels]
                for j in range(channels):
                    out[to + j] += value * own[j]


@rule
def activate(layer: Any, out: np.ndarray) -> None:
    """Apply a layer's activation to its outputs."""
    outputs = int(layer.outputs)
    if layer.activation == RELU:
        for j in range(outputs):
            out[j] = max(out[j], np.float32(0.0))
    elif layer.activation == TANH:
        for j in range(outputs):
            out[j] = math.tanh(out[j])
