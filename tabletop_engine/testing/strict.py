"""Rules as plain Python with every slip an error, in a process of its own.

Compiled code says nothing about -1 in an unsigned field, about a number that does not fit, about an index past the end.
Here each of them is an error that names the line. `python -m tabletop_engine.testing.strict HOME GAMES` plays random
games of the configuration whose settings stdin has as JSON. It prints a line of JSON for each: digests of the states,
or what went wrong.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import sys
import traceback
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_engine.errors import TabletopError
from tabletop_engine.seeds import Stream, generator

MOST_STEPS = 20_000
"""Steps after which a random game counts as endless."""
NO_END = f"a game of random actions has no end after {MOST_STEPS:,} steps"
ENGINE = Path(__file__).parents[1]


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
    """Let the fields of records be `Strict`. Call it before the game is imported."""
    record = importlib.import_module("tabletop_engine.record")
    chance = importlib.import_module("tabletop_engine.chance")
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

    record.Field.__get__, record.Field.__set__ = strict_get, strict_set
    for name in ("random_bits", "mixed_bits"):
        setattr(chance, name, _modulo(getattr(chance, name)))


def _modulo(function: Any) -> Any:
    """The function with arithmetic modulo 2**64, which the random stream is made of."""

    def modulo(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*arguments)

    return modulo


def settings_of(config: Any) -> dict[str, Any]:
    """The fields of a configuration by name, JSON-able."""
    return {one.name: getattr(config, one.name) for one in fields(config)}


def config_of(game: Any, settings: dict[str, Any]) -> Any:
    """The configuration with these fields, where JSON has lists for tuples."""
    return game.config(**{name: tuple(one) if isinstance(one, list) else one for name, one in settings.items()})


def games(config: Any, number: int, first_seed: int = 0) -> Iterator[dict[str, Any]]:
    """Play random games up to the first error; yields for each its seed and digests, or the error and where it was."""
    batch_of = importlib.import_module("tabletop_engine.play.batch").Batch
    np.seterr(over="raise", invalid="raise", divide="raise")
    for seed in range(first_seed, first_seed + number):
        step, seat = 0, None
        try:
            batch = batch_of(config, 1, seed, autoreset="disabled", num_threads=1)
            chosen = generator(seed, Stream.CHECK)
            digests = []
            for step in positions(batch, chosen):  # noqa: B007 (an error below tells it)
                seat = int(batch.actors[0])
                digests.append(digest(batch))
            digests.append(digest(batch))
            if batch.actors[0] >= 0:
                raise RuntimeError(NO_END)
            yield {"seed": seed, "digests": digests, "ranks": batch.places().tolist()}
        except Exception as error:  # whatever a stranger's rules raise
            yield {"seed": seed, "step": step, "seat": seat, "error": told(error), "where": where(error)}
            return


def positions(batch: Any, chosen: np.random.Generator) -> Iterator[int]:
    """Play a random game, at most `MOST_STEPS`: yields the number of each decision before it is answered."""
    for step in range(MOST_STEPS):
        if batch.actors[0] < 0:
            return
        yield step
        batch.step([pick(batch, chosen)])


def pick(batch: Any, chosen: np.random.Generator) -> int:
    """A random legal action."""
    return int(chosen.choice(np.flatnonzero(batch.action_masks[0])))


def digest(batch: Any) -> str:
    """A digest of a game: its record, and what its actor sees and may do."""
    seen = batch.states.tobytes() + batch.observations.tobytes() + batch.action_masks.tobytes()
    return hashlib.blake2b(seen, digest_size=8).hexdigest()


def told(error: BaseException) -> str:
    """An error in a sentence; one of the engine says by itself what it is."""
    return str(error) if isinstance(error, TabletopError) else f"{type(error).__name__}: {error}"


def where(error: BaseException) -> str:
    """The last line outside the engine that led to the error: file, line, and what stands there."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [
        frame for frame in frames if not Path(frame.filename).is_relative_to(ENGINE) and "numpy" not in frame.filename
    ]
    if not own:
        return ""
    last = own[-1]
    return f"{Path(last.filename).name}, line {last.lineno}: {last.line}"


def main(arguments: list[str]) -> None:
    """Play as the arguments say, and print a line for each game."""
    home, number = arguments[0], int(arguments[1])
    assert os.environ.get("NUMBA_DISABLE_JIT") == "1", "in plain Python only"
    make_strict()
    config = config_of(importlib.import_module(home).GAME, json.load(sys.stdin))
    for line in games(config, number):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
