"""The games of a study in its folder: a file for each cell, so that nothing is played twice."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_engine.errors import CheckpointError, TabletopError
from tabletop_engine.play.tables import boxes_of
from tabletop_training.files.provenance import agent_hashes, tables_hash
from tabletop_training.files.tables import plain, slug
from tabletop_training.files.trees import load_tree, save_tree
from tabletop_training.measure.results import Results
from tabletop_training.study.cells import ANEW, Cell

FOLDER = "games"
_MEANINGS = {
    "game": "of another game",
    "rules_version": "played by other rules",
    "tables": "played with other numbers on the pieces",
    "checkpoints": "played with another checkpoint",
    "agents": "of other agents",
    "config": "of another configuration",
    "seed": "of other seeds",
    "games": "of other seeds",
    "lineups": "of other seats",
}
"""What it means if a cell's description differs from that of the games that are kept."""


class Store:
    """The games that were played of each cell, complete or not, in the folder `games` of a study's folder.

    Beside the games a file has what decides them: agents and their checkpoints, configuration, numbers on the pieces,
    seeds, and the version of the rules. Games for which anything of this differs are refused.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self._read: dict[Cell, Results] = {}  # a command looks for what is complete before it plays what is missing

    def results(self, cell: Cell) -> Results | None:
        """The cell's games so far, in the order in which they were played; None without any.

        Raises TabletopError for a damaged file and for other games; the message says what differs.
        """
        path = self._path(cell)
        if cell in self._read or not path.exists():
            return self._read.get(cell)
        try:
            kept = load_tree(path)
            about, arrays = dict(kept["about"]), dict(kept["results"])
            arrays["fields"] = dict(arrays["fields"])
        except (CheckpointError, KeyError, TypeError, ValueError, AttributeError):
            raise TabletopError(f"{path}: not games of a study of this version; {ANEW}") from None
        _check_about(path, about, about_of(cell))
        boxes = () if cell.boxes is None else boxes_of(cell.config, cell.boxes)
        names = tuple(agent.name for agent in cell.agents)
        try:
            results = Results(cell.config, names, cell.seed, **arrays, boxes=boxes)
            _check_shapes(results)
        except (TypeError, ValueError, AttributeError, IndexError):
            raise TabletopError(f"{path}: its games are damaged; {ANEW}") from None
        self._read[cell] = results
        return results

    def keep(self, cell: Cell, results: Results) -> None:
        """Replace the cell's games."""
        self._read.pop(cell, None)
        self._folder.mkdir(exist_ok=True)
        arrays = {name: getattr(results, name) for name in _ARRAYS}
        save_tree(self._path(cell), {"about": about_of(cell), "results": {**arrays, "fields": dict(results.fields)}})

    def _path(self, cell: Cell) -> Path:
        digest = hashlib.sha256(cell.key.encode(errors="backslashreplace")).hexdigest()[:8]
        return self._folder / f"{slug(cell.key)}-{digest}.zip"


_ARRAYS = ("points", "places", "lengths", "decisions", "scored", "seeds", "lineups", "forfeited", "usage", "seconds")
"""What is kept of `Results`, beside `fields`. Actions and probabilities are not: replays hold them."""


def about_of(cell: Cell) -> dict[str, Any]:
    """What decides the games of a cell, as JSON values."""
    config: Any = cell.config
    game = config.game
    names = [agent.name for agent in cell.agents]
    boxes = None if cell.boxes is None else tuple(cell.boxes)
    about: dict[str, Any] = plain(
        {
            "game": game.name,
            "rules_version": game.rules_version,
            "config": asdict(config),
            "agents": names,
            "checkpoints": agent_hashes(names, game),
            "tables": _tables_hash(config, boxes),
            "seed": cell.seed,
            "games": cell.games,
            "boxes": boxes,
            "lineups": cell.lineups.tolist(),
        }
    )
    return about


@functools.lru_cache(maxsize=256)
def _tables_hash(config: Any, boxes: tuple[int, ...] | None) -> str:
    return tables_hash(config, boxes or ())


def _check_about(path: Path, kept: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    for name, value in now.items():
        if kept.get(name) != value:
            raise TabletopError(f"{path}: its games are {_MEANINGS.get(name, f'of other {name}')}; {ANEW}")


def _check_shapes(results: Results) -> None:
    """Raise ValueError unless the arrays fit together and to the configuration."""
    config, games = results.config, len(results.lengths)
    owners, agents, sources = config.owners, len(results.agents), len(config.game.scored)
    shapes = {
        "points": (games, owners),
        "places": (games, config.players),
        "lengths": (games,),
        "decisions": (games, config.players),
        "scored": (games, owners, sources) if sources else (0, 0, 0),
        "seeds": (games,),
        "lineups": (games, config.players),
        "forfeited": (games,),
        "seconds": (agents,),
    }
    for name, shape in shapes.items():
        array = getattr(results, name)
        kinds = "f" if name == "seconds" else "i"
        if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype.kind != kinds:
            raise ValueError(name)
    if not games or any(len(values) != games for values in results.fields.values()):
        raise ValueError("fields")
