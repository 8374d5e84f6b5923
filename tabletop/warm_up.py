"""The first start compiles the rules, once, and says so; every later one loads them from the cache."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.component_files import load_tables
from petrichor_env.observation import OBSERVATION_SIZE
from petrichor_env.state import MAX_PLAYERS, STATE
from tabletop import kernels
from tabletop.compiled import JIT

_warm = False


def _calls() -> list[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    """Every kernel with arguments of its types, on a game that the calls play: the order matters."""
    state, final = np.zeros(1, STATE), np.zeros(1, STATE)
    state["players"], state["owners"], state["rounds"] = 1, 2, 4
    tables = load_tables()
    actors, flag, which = np.zeros(1, np.int8), np.zeros(1, np.bool_), np.ones(1, np.bool_)
    masks = np.zeros((1, NUM_ACTIONS), np.int8)
    observations, final_observations = np.zeros((2, 1, OBSERVATION_SIZE), np.float32)
    actions, modes, seats = np.zeros(1, np.int64), np.array([0, 2, 0], np.int64), np.zeros(1, np.int64)
    views = (actors, masks, observations)
    ends = (np.zeros((1, 1)), flag, flag.copy(), final, final_observations)
    return [
        ("setting up games", kernels.reset_games, (state, tables, which)),
        ("playing them", kernels.step_games, (state, tables, actions, which, modes, *views, *ends)),
        ("seeing them", kernels.view_games, (state, tables, *views)),
        ("seeing them from a seat", kernels.observe_games, (state, tables, seats, observations)),
        ("checking actions", kernels.check_actions, (state, actions, which, NUM_ACTIONS, True)),
        ("listing legal actions", kernels.refresh_legal, (state, tables)),
        ("choosing legal actions", kernels.random_legal_actions, (state, np.zeros(1), actions)),
        ("choosing by mask", kernels.masked_random_actions, (masks, np.zeros(1), actions)),
        ("naming winners", kernels.winners_of_games, (final, np.zeros((1, MAX_PLAYERS), np.int8))),
        ("redrawing hidden cards", kernels.sample_hidden_games, (state, tables, seats, np.zeros(1, np.uint64))),
        ("playing to the end", kernels.playout, (state, tables)),
    ]


def is_cached(last: Any) -> bool:
    """Whether an earlier start of this very installation left machine code of this kernel, the last one compiled.

    Numba keeps an index beside it that says whether it fits the source file and the processor; it has no public way
    to ask.
    """
    try:
        return len(last._cache._cache_file._load_index()) > 0
    except (AttributeError, OSError):
        return False


def warm_up() -> None:
    """Compile every kernel that is not in the cache, with a line of progress on stderr. Does nothing the second time.

    Later starts only load what they call, so this returns at once where the cache is filled.
    """
    global _warm
    if _warm or not JIT:
        return
    _warm = True
    if not is_cached(kernels.playout):
        compile_all("the rules, once, a minute or two", _calls())


def compile_all(what: str, calls: list[tuple[str, Callable[..., Any], tuple[Any, ...]]]) -> None:
    """Make these calls (what they are for, function, arguments), saying on stderr how far it is."""
    start = time.monotonic()
    for done, (part, call, arguments) in enumerate(calls):
        _say(f"petrichor_env: compiling {what}: {done + 1}/{len(calls)} {part}")
        call(*arguments)
    _say(f"petrichor_env: compiled in {time.monotonic() - start:.0f} s; later starts take it from the cache")
    if sys.stderr is not None:
        print(file=sys.stderr)


def _say(text: str) -> None:
    """One line, written over itself on a terminal, in a log line by line."""
    if sys.stderr is None:
        return
    if sys.stderr.isatty():
        print(f"\r{text:<100}", end="", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)
