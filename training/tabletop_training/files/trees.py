"""Trees of plain values and arrays in one file, without pickle: the state of a run, and the games of a study."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tabletop_engine.errors import CheckpointError
from tabletop_engine.files import check_unpacked, whole_file

if TYPE_CHECKING:
    import torch

_TREE = "tree.json"
MOST_UNPACKED = 4_000_000_000
"""The most bytes of a run's state: weights, their moments, and the running games."""
_ARRAY, _BYTES, _TUPLE = "$array", "$bytes", "$tuple"


def save_tree(path: Path, tree: Any) -> None:
    """Write dicts with string keys, lists, tuples, JSON's scalars, NumPy arrays (records, too) and bytes.

    The file is replaced as a whole. Raises TypeError for anything else.
    """
    members: list[bytes] = []

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            buffer = io.BytesIO()
            np.save(buffer, np.asarray(value, order="C"), allow_pickle=False)
            members.append(buffer.getvalue())
            return {_ARRAY: len(members) - 1}
        if isinstance(value, bytes):
            members.append(value)
            return {_BYTES: len(members) - 1}
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, dict):
            if not all(isinstance(key, str) for key in value):
                raise TypeError(f"keys must be strings: {list(value)!r:.80}")
            return {key: plain(one) for key, one in value.items()}
        if isinstance(value, tuple):
            return {_TUPLE: [plain(one) for one in value]}
        if isinstance(value, list):
            return [plain(one) for one in value]
        if value is None or isinstance(value, bool | int | float | str):
            return value
        raise TypeError(f"{type(value).__name__} can't be saved")

    text = json.dumps(plain(tree))
    with (
        whole_file(path) as unfinished,
        zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        archive.writestr(_TREE, text)
        for number, member in enumerate(members):
            archive.writestr(str(number), member)


def load_tree(path: Path) -> Any:
    """Load a file of `save_tree`. Raises CheckpointError if it is missing or damaged."""
    if not path.is_file():
        raise CheckpointError(f"{path}: there is no such file; a run writes it when it saves for the first time")
    try:
        with zipfile.ZipFile(path) as archive:
            check_unpacked(archive, MOST_UNPACKED)

            def value(plain: Any) -> Any:
                if isinstance(plain, list):
                    return [value(one) for one in plain]
                if not isinstance(plain, dict):
                    return plain
                if plain.keys() == {_ARRAY}:
                    return np.load(io.BytesIO(archive.read(str(plain[_ARRAY]))), allow_pickle=False)
                if plain.keys() == {_BYTES}:
                    return archive.read(str(plain[_BYTES]))
                if plain.keys() == {_TUPLE}:
                    return tuple(value(one) for one in plain[_TUPLE])
                return {key: value(one) for key, one in plain.items()}

            return value(json.loads(archive.read(_TREE)))
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError, KeyError) as error:
        raise CheckpointError(f"{path}: is damaged, or not the file of a run ({error})") from None


def arrays_of(tensors: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """Weights in the form that `save_tree` takes."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}


def tensors_of(arrays: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    """The tensors of the result of `arrays_of`."""
    import torch  # it takes a second, and games are kept without it

    return {name: torch.as_tensor(array) for name, array in arrays.items()}


def moments_of(optimizer: torch.optim.Optimizer) -> dict[str, dict[str, np.ndarray]]:
    """The optimizer's moments of each parameter, in the form that `save_tree` takes."""
    return {str(number): arrays_of(state) for number, state in optimizer.state_dict()["state"].items()}


def set_moments(optimizer: torch.optim.Optimizer, moments: dict[str, dict[str, np.ndarray]]) -> None:
    """Restore the result of `moments_of`."""
    state = {int(number): tensors_of(one) for number, one in moments.items()}
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
