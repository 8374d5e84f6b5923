"""Comparing the results of two evaluations, without the agents' thinking times."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_training.measure.results import Results


def assert_same(one: Results, other: Results) -> None:
    """Assert that two results are equal, except for the time that the agents took."""
    for name in ("points", "places", "lengths", "decisions", "scored", "seeds", "lineups"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    for name in ("actions", "probabilities"):
        mine, others = getattr(one, name), getattr(other, name)
        assert (mine is None) == (others is None)
        for left, right in zip(mine or (), others or (), strict=True):
            np.testing.assert_array_equal(left, right, name)


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def bytes_of(folder: Path) -> dict[str, bytes]:
    """The files in a folder, without those of its own folders."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def files_of(folder: Path) -> dict[str, Any]:
    """The files that a command has written, without the agents' thinking times."""
    left: dict[str, Any] = {}
    for path in folder.iterdir():
        if path.suffix == ".csv":
            rows = rows_of(path)
            for row in rows:
                row.pop("decisions_per_second", None)
            left[path.name] = rows
    return left
