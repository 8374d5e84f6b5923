"""The games of a study in its folder: a file for each block of a cell, so that nothing is played twice."""

from __future__ import annotations

import functools
import hashlib
import itertools
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_engine.errors import CheckpointError, TabletopError
from tabletop_engine.play.agents import USAGE
from tabletop_engine.play.tables import editions_of
from tabletop_training.files.provenance import agent_hashes, tables_hash
from tabletop_training.files.tables import plain, slug
from tabletop_training.files.trees import load_tree, save_tree
from tabletop_training.measure.results import BY_AGENT, BY_GAME, Results, concatenate
from tabletop_training.study.cells import ANEW, Cell

FOLDER = "games"
_MEANINGS = {
    "game": "of another game",
    "package_version": "of another version of the package",
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
        if cell not in self._read:
            paths = itertools.takewhile(Path.exists, (self._path(cell, number) for number in itertools.count()))
            blocks = [_block(path, cell) for path in paths]
            if not blocks:
                return None
            try:
                self._read[cell] = concatenate(blocks)
            except (ValueError, KeyError):
                raise TabletopError(f"{self._path(cell, 0)}: its games do not fit to those of others; {ANEW}") from None
        return self._read[cell]

    def keep(self, cell: Cell, number: int, block: Results) -> None:
        """Keep the `number`th block of a cell, from 0."""
        self._read.pop(cell, None)
        self._folder.mkdir(exist_ok=True)
        # not probabilities, which replays hold
        arrays = {name: getattr(block, name) for name in (*BY_GAME, *BY_AGENT)}
        tree: dict[str, Any] = {"about": about_of(cell), "results": {**arrays, "fields": dict(block.fields)}}
        if cell.actions and block.actions is not None:
            tree["results"]["actions"] = np.concatenate(block.actions)
        save_tree(self._path(cell, number), tree)

    def forget(self, cell: Cell) -> None:
        """Delete the games of a cell, and the folder with the last ones."""
        self._read.pop(cell, None)
        for path in itertools.takewhile(Path.exists, (self._path(cell, number) for number in itertools.count())):
            path.unlink()
        with suppress(OSError):  # there is no folder, or it has other games
            self._folder.rmdir()

    def _path(self, cell: Cell, number: int) -> Path:
        digest = hashlib.sha256(cell.key.encode(errors="backslashreplace")).hexdigest()[:8]
        return self._folder / f"{slug(cell.key)}-{digest}-{number}.zip"


def _block(path: Path, cell: Cell) -> Results:
    """A block of a cell from its file."""
    try:
        kept = load_tree(path)
        about, arrays = dict(kept["about"]), dict(kept["results"])
        arrays["fields"] = dict(arrays["fields"])
        if cell.actions:
            arrays["actions"] = tuple(np.split(arrays["actions"], np.cumsum(arrays["lengths"])[:-1]))
    except (CheckpointError, KeyError, TypeError, ValueError, AttributeError):
        raise TabletopError(f"{path}: not games of a study of this version; {ANEW}") from None
    for name, value in about_of(cell).items():
        if about.get(name) != value:
            raise TabletopError(f"{path}: its games are {_MEANINGS.get(name, f'of other {name}')}; {ANEW}")
    editions = () if cell.editions is None else editions_of(cell.config, cell.editions)
    names = tuple(agent.name for agent in cell.agents)
    try:
        results = Results(cell.config, names, cell.seed, **arrays, editions=editions)
        _check_shapes(results)
    except (TypeError, ValueError, AttributeError, IndexError):
        raise TabletopError(f"{path}: its games are damaged; {ANEW}") from None
    return results


def about_of(cell: Cell) -> dict[str, Any]:
    """What decides the games of a cell, as JSON values."""
    config: Any = cell.config
    game = config.game
    names = [agent.name for agent in cell.agents]
    editions = None if cell.editions is None else tuple(cell.editions)
    about: dict[str, Any] = plain(
        {
            "game": game.name,
            "package_version": game.version,
            "rules_version": game.rules_version,
            "config": asdict(config),
            "agents": names,
            "checkpoints": agent_hashes(names, game),
            "tables": _tables_hash(config, editions),
            "seed": cell.seed,
            "games": cell.games,
            "editions": editions,
            "lineups": cell.lineups.tolist(),
            **cell.about,
        }
    )
    return about


@functools.lru_cache(maxsize=256)
def _tables_hash(config: Any, editions: tuple[int, ...] | None) -> str:
    return tables_hash(config, editions or ())


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
        "usage": (agents if len(results.usage) else 0, len(USAGE)),
        "seconds": (agents,),
        "thinking": (agents if len(results.thinking) else 0, 2),
    }
    for name, shape in shapes.items():
        array = getattr(results, name)
        kinds = "f" if name in ("seconds", "thinking") else "i"
        if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype.kind != kinds:
            raise ValueError(name)
    if not games or any(len(values) != games for values in results.fields.values()):
        raise ValueError("fields")
    if results.actions is not None and list(map(len, results.actions)) != results.lengths.tolist():
        raise ValueError("actions")
