"""Rules as plain Python with every slip an error, in a process of its own.

Compiled code says nothing about -1 in an unsigned field, about a number that does not fit, about an index past the end.
Here each of them is an error that names the line. `python -m tabletop_engine.testing.strict HOME GAMES` plays random
games of the configuration whose settings stdin has as JSON. It prints a line of JSON for each: checksums of the states,
or what went wrong. With the word `lines`, it also redraws what is hidden, and a last line has the lines of the rules
that never ran, which takes twice as long.
"""

from __future__ import annotations

import importlib
import json
import linecache
import math
import os
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from tabletop_engine.errors import TabletopError
from tabletop_engine.seeds import Stream, generator

MOST_STEPS = 20_000
"""Steps after which a random game counts as endless."""
_SECONDS = 100.0
"""After this time games are broken off: some are long, and slow in plain Python."""
_REDRAWN = 3
"""After so many decisions what is hidden is redrawn, for each seat in turn."""
NO_END = f"a game of random actions has no end after {MOST_STEPS:,} steps"
ENGINE = Path(__file__).parents[1]
_overflows: list[str] = []
"""The lines of the game in which a number has overflowed in this step."""


class Strict(np.ndarray[Any, Any]):
    """An array that refuses negative indices, and numbers that its type does not hold."""

    def __getitem__(self, index: Any) -> Any:
        _check_index(index)
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        _check_index(index)
        _check_value(self.dtype, value)
        super().__setitem__(index, value)


def _check_index(index: Any) -> None:
    for one in index if isinstance(index, tuple) else (index,):
        if isinstance(one, int | np.integer) and one < 0:
            raise IndexError(f"index {int(one)}: below 0, so compiled code takes an element from the end")


def _check_value(dtype: np.dtype[Any], value: Any) -> None:
    if dtype.kind not in "iu" or dtype == np.uint64:
        return
    values = np.asarray(value)
    if values.dtype.kind == "f" and not (values == np.floor(values)).all():
        raise OverflowError(f"{value} is cut off to a whole number, as the field is {dtype}: // divides without a rest")
    limits = np.iinfo(dtype)
    if values.size and (values.min() < limits.min or values.max() > limits.max):
        raise OverflowError(f"{value} does not fit into {dtype} ({limits.min} to {limits.max})")


def make_strict() -> None:
    """Let the fields of records be `Strict`, and what rules write into. Call it before the game is imported."""
    record = importlib.import_module("tabletop_engine.record")
    compiled = importlib.import_module("tabletop_engine.compiling.compiled")
    rules = importlib.import_module("tabletop_engine.game").Rules
    get, put = record.Field.__get__, record.Field.__set__

    def strict_get(self: Any, owner: Any, kind: Any = None) -> Any:
        found = get(self, owner, kind)
        return found.view(Strict) if isinstance(found, np.ndarray) and self.name not in ("legal", "rng") else found

    def strict_set(self: Any, owner: Any, value: Any) -> None:
        try:
            _check_value(self.dtype, value)
        except OverflowError as error:
            raise OverflowError(f"the field {self.name}: {error}") from None
        put(self, owner, value)

    as_module = rules.as_module

    def strict_module(self: Any) -> Any:
        module = as_module(self)
        observe, ranks = module.observe, module.ranks
        module.observe = lambda s, t, viewer, out: observe(s, t, viewer, out.view(Strict))
        module.ranks = lambda s, out: ranks(s, out.view(Strict))
        return module

    record.Field.__get__, record.Field.__set__ = strict_get, strict_set
    rules.as_module = strict_module
    compiled.OVERFLOW.update({"over": "call", "call": _note_overflow})


def _note_overflow(kind: str, flag: int) -> None:
    """NumPy calls it where a number overflows. The engine's own rules mean it: they calculate modulo 2**64."""
    frame = sys._getframe(1)
    path = frame.f_code.co_filename
    if _is_own(path):
        _overflows.append(_place(path, frame.f_lineno, linecache.getline(path, frame.f_lineno).strip()))


def overflow(place: str) -> str:
    """What to do about a number that overflows there."""
    return f"a number overflows in plain Python, but not compiled: write int(...) around its field, at {place}"


def settings_of(config: Any) -> dict[str, Any]:
    """The fields of a configuration by name, JSON-able."""
    return {field.name: getattr(config, field.name) for field in fields(config)}


def config_of(game: Any, settings: dict[str, Any]) -> Any:
    """The configuration with these fields, where JSON has lists for tuples."""
    return game.config(**{name: tuple(one) if isinstance(one, list) else one for name, one in settings.items()})


def games(config: Any, number: int, *, end: float = math.inf, redraws: bool = False) -> Iterator[dict[str, Any]]:
    """Play random games up to the first error; yields for each its seed and checksums, or the error and where it was.

    `redraws`: what is hidden is redrawn in copies now and then, as machine code says nothing about mistakes in that.
    `overflows` has the steps in which a number overflowed, as texts, and a place for each. At the time `end`, by
    `time.monotonic`, the last game is broken off: its `ranks` are None.
    """
    batch_of = importlib.import_module("tabletop_engine.play.batch").Batch
    np.seterr(invalid="raise", divide="raise")
    for seed in range(number):
        step, seat = 0, None
        overflows: dict[str, str] = {}
        _overflows.clear()
        try:
            batch = batch_of(config, 1, seed, autoreset="disabled", num_threads=1)
            chosen, randoms = generator(seed, Stream.CHECK), generator(seed, Stream.CHECK, 5)
            sums = []
            for step in positions(batch, chosen, weighted=seed % 2 == 1):
                seat = int(batch.actors[0])
                sums.append(checksums(batch))
                overflows |= {str(step): place for place in _overflows[:1]}
                _overflows.clear()
                if redraws and step % _REDRAWN == 0:
                    drawn = (batch.states.copy(), batch.tables, np.array([step // _REDRAWN % config.players]))
                    config.game.kernels.sample_hidden_games(*drawn, randoms.integers(0, 2**64, 1, np.uint64))
                    _overflows.clear()
                if time.monotonic() > end:
                    yield {"seed": seed, "checksums": sums, "ranks": None, "overflows": overflows}
                    return
            sums.append(checksums(batch))
            overflows |= {str(len(sums) - 1): place for place in _overflows[:1]}
            if batch.actors[0] >= 0:
                raise RuntimeError(NO_END)
            yield {"seed": seed, "checksums": sums, "ranks": batch.places().tolist(), "overflows": overflows}
        except Exception as error:  # whatever a stranger's rules raise
            place = where(error)
            reason, at = (overflow(place), "") if place in _overflows else (error_text(error), place)
            yield {"seed": seed, "step": step, "seat": seat, "error": reason, "where": at}
            return


def positions(batch: Any, chosen: np.random.Generator, *, weighted: bool = False, agent: Any = None) -> Iterator[int]:
    """Play a game, at most `MOST_STEPS`: yields the number of each decision before it is answered.

    An agent answers, or else chance does. `weighted`: each action has a weight of its own, from 1 / 20 to 20, because
    games of equally likely actions are too much alike: many of them soon end.
    """
    weights = 20.0 ** chosen.uniform(-1, 1, batch.game.num_actions) if weighted else None
    for step in range(MOST_STEPS):
        if batch.actors[0] < 0:
            return
        yield step
        if agent is None:
            batch.step([pick(batch, chosen, weights)])
        else:
            agents = importlib.import_module("tabletop_engine.play.agents")
            batch.step(agents.ask(agent, agents.Decisions.of(batch), chosen))


def pick(batch: Any, chosen: np.random.Generator, weights: np.ndarray | None = None) -> int:
    """A random legal action; `weights` (A,) say how likely each is."""
    legal = np.flatnonzero(batch.action_masks[0])
    return int(chosen.choice(legal, p=None if weights is None else weights[legal] / weights[legal].sum()))


def checksums(batch: Any) -> list[int]:
    """A checksum of each of the `parts` of a game."""
    fields_of = [batch.states[name] for name in batch.game.state.names]
    blocks = [batch.observations[:, block.slice] for block in batch.game.observation]
    return [crc32(one.tobytes()) for one in (*fields_of, *blocks, batch.action_masks)]


def parts(game: Any) -> list[str]:
    """What a game's record has, and what its actor sees and may do, in the order of `checksums`."""
    blocks = [f"block {block.name!r} of the observation" for block in game.observation]
    return [*(f"the field {name}" for name in game.state.names), *blocks, "the action mask"]


def error_text(error: BaseException) -> str:
    """An error in a sentence; one of the engine says by itself what it is."""
    return str(error) if isinstance(error, TabletopError) else f"{type(error).__name__}: {error}"


def where(error: BaseException) -> str:
    """The last line outside the engine that led to the error: file, line, and what stands there."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame.filename)]
    return _place(own[-1].filename, own[-1].lineno, own[-1].line) if own else ""


def _is_own(path: str) -> bool:
    """Whether a file is not the engine's or NumPy's."""
    return not Path(path).is_relative_to(ENGINE) and "numpy" not in path


def _place(path: str, line: int | None, text: str | None) -> str:
    return f"{Path(path).name}, line {line}: {text}"


def main(arguments: list[str]) -> None:
    """Play as the arguments say, and print a line for each game."""
    home, number = arguments[0], int(arguments[1])
    assert os.environ.get("NUMBA_DISABLE_JIT") == "1", "in plain Python only"
    make_strict()
    game = importlib.import_module(home).GAME
    config = config_of(game, json.load(sys.stdin))
    end = time.monotonic() + _SECONDS
    if len(arguments) == 2:
        for line in games(config, number, end=end):
            print(json.dumps(line), flush=True)
        return
    with importlib.import_module("tabletop_engine.testing.lines").Lines(game) as lines:
        for line in games(config, number, end=end, redraws=True):
            print(json.dumps(line), flush=True)
    print(json.dumps({"left": lines.left()}))


if __name__ == "__main__":
    main(sys.argv[1:])
