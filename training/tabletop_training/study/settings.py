"""What a command that plays a study was asked for, kept in its folder so that `--resume` can go on with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from tabletop_engine.errors import TabletopError
from tabletop_engine.files import read_limited
from tabletop_engine.game import Game
from tabletop_training.files.job import SETTINGS_FILE
from tabletop_training.files.tables import write_json

Kept = TypeVar("Kept")


def keep_settings(folder: Path, command: str, game: Game, settings: Mapping[str, Any]) -> None:
    """Write what a command of a game was asked for."""
    write_json(folder / SETTINGS_FILE, {"command": command, "game": game.name, **settings})


def kept_settings(folder: str | Path, command: str, game: Game, make: Callable[..., Kept]) -> Kept:
    """What `make` makes of a folder's settings, given to it as keywords, with tuples for lists.

    Raises TabletopError if there are none, or if they are of another command or game, or not of this version.
    """
    path = Path(folder) / SETTINGS_FILE
    try:
        kept = _without_lists(json.loads(read_limited(path)))
        made_by, of = kept.pop("command"), kept.pop("game")
        if (made_by, of) == (command, game.name):
            return make(**kept)
    except TabletopError as error:
        raise TabletopError(f"{path}: {error}") from None
    except OSError as error:
        raise TabletopError(f"{path}: there is nothing to continue ({error.strerror})") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise TabletopError(f"{path}: not the settings of `{game.command} {command}` of this version") from None
    raise TabletopError(f"{path}: the settings of {made_by!s:.40} of {of!s:.40}, not of `{game.command} {command}`")


def arguments(game: Game, *names: str) -> Callable[..., dict[str, Any]]:
    """A `make` for `kept_settings` that gives exactly these arguments of a command; `config` is a configuration."""

    def make(**kept: Any) -> dict[str, Any]:
        if kept.keys() != {*names}:
            raise KeyError
        return {**kept, "config": game.config(**kept["config"])} if "config" in kept else kept

    return make


def _without_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_lists(one) for key, one in value.items()}
    return tuple(map(_without_lists, value)) if isinstance(value, list) else value
