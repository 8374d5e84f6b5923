"""Randomness outside the games: every use has its own stream, and each purpose its own range of games' seeds."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tabletop_engine import seeds
from tabletop_engine.seeds import Seeds, Stream, generator

ROOT = Path(__file__).parent.parent
SOURCES = ("tabletop_engine", "petrichor_env", "evergreen_env", "agents", "training", "apps", "tabletop_cli")
RANGES = {name: one for name, one in vars(seeds).items() if isinstance(one, Seeds)}
MADE_ELSEWHERE = {
    "tabletop_engine/seeds.py",
    "tabletop_engine/play/batch.py",  # the games' own streams, and the generator of random actions
    "tabletop_engine/play/learner_games.py",  # only the form of its state is read
    "tabletop_engine/envs/openspiel.py",  # with the seed that the user gives OpenSpiel's parts
    "agents/tabletop_agents/openspiel.py",  # OpenSpiel's bots want a RandomState, which is drawn from an agent's stream
    "apps/tabletop_text/scripted.py",  # with a seed of the messages, which are all that a model gets
    "apps/tabletop_play/session.py",  # a seed for a game of people that was started without one
}
"""Files that make generators themselves."""


def numbers(made: np.random.Generator) -> tuple[int, ...]:
    return tuple(made.integers(0, 2**63, 4).tolist())


@pytest.mark.parametrize("seed", [0, 1, 7, 1_000_000, 2**32 - 1])
def test_all_streams_differ(seed: int) -> None:
    """They differ also with further indices, and from NumPy's generators of the seed alone or with another number."""
    indices: list[tuple[int, ...]] = [(), (1,), (2,), (3, 1), (2, 3)]
    found = {(stream, more): numbers(generator(seed, stream, *more)) for stream in Stream for more in indices}
    for tag in range(1, 20):
        found[Stream.AGENTS, (tag,)] = numbers(np.random.default_rng([seed, tag]))  # as NumPy draws them
    assert len(set(found.values())) == len(found)
    assert (
        found[Stream.AGENTS, ()] == numbers(np.random.default_rng(seed)) == numbers(generator(seed, Stream.AGENTS, 0))
    )


def test_a_stream_is_the_same_again() -> None:
    for stream in Stream:
        assert numbers(generator(5, stream, 2)) == numbers(generator(5, stream, 2)) != numbers(generator(6, stream, 2))


def test_streams_have_different_numbers() -> None:
    """An `IntEnum` merges two names with the same number into one member."""
    assert len(Stream.__members__) == len(set(map(int, Stream)))


def test_ranges_do_not_overlap() -> None:
    ordered = sorted(RANGES.values())
    assert len(ordered) == len(set(RANGES.values())) >= 8
    assert ordered[0].first == 0 and all(one.first < one.last for one in ordered)
    assert all(before.last < after.first for before, after in itertools.pairwise(ordered))


def calls(path: Path) -> Iterator[tuple[int, str]]:
    """The line and the name of every call that makes or seeds a generator."""
    names = ("default_rng", "SeedSequence", "PCG64", "RandomState", "Random", "Philox", "seed_all")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            constant = len(node.args) == 1 and isinstance(node.args[0], ast.Constant)
            if name in names and not (name == "default_rng" and constant):  # a fixed one, to warm agents up
                yield node.lineno, name


def test_no_other_file_makes_a_generator_of_a_seed() -> None:
    """Otherwise two files could use the same tag, and so share a stream."""
    files = [path for folder in SOURCES for path in (ROOT / folder).rglob("*.py") if "examples" not in path.parts]
    assert len(files) > 150
    found = {f"{path.relative_to(ROOT)}:{line} {name}" for path in files for line, name in calls(path)}
    there = {text.split(":")[0] for text in found}
    assert there == MADE_ELSEWHERE, sorted(text for text in found if text.split(":")[0] not in MADE_ELSEWHERE)


def test_every_stream_is_used() -> None:
    text = "".join(path.read_text(encoding="utf-8") for folder in SOURCES for path in (ROOT / folder).rglob("*.py"))
    assert [stream.name for stream in Stream if f"Stream.{stream.name}" not in text] == []
