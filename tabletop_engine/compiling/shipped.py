"""Machine code that came with the package, in place of Numba's work at the first start.

A wheel for one kind of machine has a library with the kernels of both games for each level of its processors, and a
small extension that calls them. A kernel of the library runs only if it was made from the sources that are installed,
if the library is whole, and on arguments of the right types. Otherwise Numba compiles the kernel, as in a clone.

`machine_code/` in the repository makes these files.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.util
import json
import os
from collections.abc import Callable, Iterator, Mapping
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_engine.compiling.sources import CHECKED

SWITCH = "TABLETOP_COMPILE"
"""The environment variable that turns shipped machine code off: Numba compiles everything."""

FOLDER = Path(__file__).parent / "machine_code"
CONTENTS = "contents.txt"
"""What is in the folder: the files' hashes, and the kernels with their arguments. Its first line is its own hash."""

_KINDS = {"array": 0, "int": 1, "float": 2, "bool": 3, "tuple": 4}


def shipped_kernel(key: str, digest: Callable[[], str], otherwise: Callable[..., Any]) -> Callable[..., Any] | None:
    """A function that runs the shipped machine code of a kernel; None if there is none that fits.

    Arguments:
        key: of the kernel.
        digest: returns the hash of what its machine code must have been made from.
        otherwise: is called in its place if the arguments have other types.
    """
    if os.environ.get(SWITCH, "") not in ("", "0") or os.environ.get("TABLETOP_PLAIN_NJIT") or CHECKED:
        return None
    kernels, library, call = _loaded(FOLDER)
    try:
        kernel = kernels[key]
        if kernel["sources"] != digest():
            return None
        address = _address(library, kernel)
        arguments = [part for one in kernel["arguments"] for part in _parts(one)]
        return call.bind(address, arguments, kernel["results"], description, otherwise)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def shipped_address(key: str) -> int:
    """The address of the shipped machine code of a kernel, which must be there and fit (`shipped_kernel`)."""
    kernels, library, _ = _loaded(FOLDER)
    return _address(library, kernels[key])


def _address(library: Any, kernel: Mapping[str, Any]) -> int:
    address = ctypes.cast(library[kernel["symbol"]], ctypes.c_void_p).value
    assert address is not None  # a symbol that is not there is an AttributeError
    return address


@functools.cache
def _loaded(folder: Path) -> tuple[Mapping[str, Any], Any, Any]:
    """The kernels by key, the library for this processor, and the extension; nothing if any of it is not whole."""
    try:
        contents = _read_with_hash((folder / CONTENTS).read_bytes())
        call = _extension(_whole(folder, contents["call"]))
        level = call.level()
        fitting = [one for one in contents["libraries"] if one["level"] <= level]
        best = max(fitting, key=lambda one: one["level"])
        return contents["kernels"], ctypes.CDLL(str(_whole(folder, best))), call
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ImportError):
        return {}, None, None


def with_hash(contents: Mapping[str, Any]) -> bytes:
    """The file of these contents."""
    text = json.dumps(contents, indent=1).encode()
    return hashlib.sha256(text).hexdigest().encode() + b"\n" + text


def _read_with_hash(file: bytes) -> Any:
    digest, _, text = file.partition(b"\n")
    if hashlib.sha256(text).hexdigest().encode() != digest:
        raise ValueError("the list of machine code is not the one that was shipped")
    return json.loads(text)


def _whole(folder: Path, file: Mapping[str, Any]) -> Path:
    """The path of a file with the right hash: to load a library that is cut off would end the process."""
    path = folder / file["file"]
    if hashlib.sha256(path.read_bytes()).hexdigest() != file["sha256"]:
        raise ValueError(f"{path}: not the file that was shipped")
    return path


def _extension(path: Path) -> Any:
    loader = ExtensionFileLoader("call", str(path))
    specification = importlib.util.spec_from_file_location("call", path, loader=loader)
    assert specification is not None
    module = importlib.util.module_from_spec(specification)
    loader.exec_module(module)
    return module


def _parts(argument: Any) -> Iterator[tuple[int, int, int, int, int, str]]:
    """An argument, as the extension reads it. The members of a tuple come after it."""
    if isinstance(argument, str):
        yield _KINDS[argument], 0, 0, 0, 1, ""
    elif isinstance(argument, list):
        yield _KINDS["tuple"], len(argument), 0, 0, 1, ""
        for member in argument:
            yield from _parts(member)
    else:
        dimensions, written = int(argument["dimensions"]), int(argument["written"])
        itemsize, alignment = int(argument["itemsize"]), int(argument["alignment"])
        yield _KINDS["array"], dimensions, written, itemsize, alignment, str(argument["dtype"])


def description(dtype: np.dtype[Any]) -> str:
    """A dtype as text, with all names, formats and offsets: equal only for equal dtypes. Long ones are hashed."""
    text = dtype.str if dtype.names is None and dtype.subdtype is None else json.dumps(_as_data(dtype))
    return text if len(text) < 16 else hashlib.sha256(text.encode()).hexdigest()


def _as_data(dtype: np.dtype[Any]) -> Any:
    if dtype.subdtype is not None:
        element, shape = dtype.subdtype
        return [_as_data(element), list(shape)]
    if dtype.names is None or dtype.fields is None:
        return dtype.str
    fields = [(name, _as_data(dtype.fields[name][0]), dtype.fields[name][1]) for name in dtype.names]
    return {"fields": fields, "itemsize": dtype.itemsize}
