"""For the suite on shipped machine code: that code must take every call of a game's kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from petrichor_env.game import GAME
from tabletop_engine.compiling import compiled
from tabletop_engine.compiling.shipped import shipped_kernel


def refuse_misfits() -> None:
    """From now on, arguments that the machine code of a kernel does not take are an error; Numba is not asked."""

    def strict(key: str, digest: Callable[[], str], otherwise: Callable[..., Any]) -> Callable[..., Any] | None:
        def refuse(*arguments: Any) -> Any:
            raise AssertionError(f"{key} has no machine code for {[told(one) for one in arguments]}")

        return shipped_kernel(key, digest, refuse)

    compiled.shipped_kernel = strict
    if GAME.kernels.playout.shipped is None:
        raise RuntimeError("there is no machine code that fits the rules: run `make machine-code`")


def told(argument: Any) -> Any:
    """The properties that decide whether an argument fits."""
    if isinstance(argument, tuple):
        return [told(member) for member in argument]
    if isinstance(argument, np.ndarray):
        return str(argument.dtype)[:40], argument.shape, argument.strides, str(argument.flags).split()
    return argument
