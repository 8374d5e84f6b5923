"""The folder of a command that plays a study: what it was asked for, so that `--resume` can go on, and its games."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from tabletop_agents import check_trusted
from tabletop_engine.errors import TabletopError
from tabletop_engine.files import read_limited
from tabletop_engine.game import Game
from tabletop_training.files.job import SETTINGS_FILE, Job
from tabletop_training.files.tables import ReplayFiles, write_json
from tabletop_training.study.cells import Cell
from tabletop_training.study.store import Store

Kept = TypeVar("Kept")


@contextmanager
def job_of(
    command: str,
    game: Game,
    output: str | Path,
    asked: Mapping[str, Any],
    *,
    cells: Iterable[Cell] = (),
    resumed: bool = True,
    replays: ReplayFiles | None = None,
) -> Iterator[tuple[Job, Store]]:
    """A command's job, whose folder keeps what it was asked for, and the games in a store.

    Arguments:
        output, resumed: the folder, as in `Job`.
        cells: of a command that goes on in any folder. Other games are refused before its settings are replaced.
        replays: the folder for replays; it is made before any game is played, and named at the end.
    """
    replays = replays or ReplayFiles(None)
    with Job(output, resume=resumed, again=f"{game.command} {command}", closing=replays.tell) as job:
        replays.open(job.folder)
        store = Store(job.folder)
        for cell in cells:
            store.results(cell)
        keep_settings(job.folder, command, game, asked)
        yield job, store


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


def arguments(
    folder: str | Path,
    command: str,
    game: Game,
    *names: str,
    trusted: Sequence[str] = (),
    agents: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """The arguments of a command that a folder keeps, exactly these; `config` is a configuration.

    `agents` are those that name agents, with the option by which a user allows the code of their own to run; `trusted`
    are the agents that are allowed. Raises what `kept_settings` and `check_trusted` raise.
    """

    def make(**kept: Any) -> dict[str, Any]:
        if kept.keys() != {*names}:
            raise KeyError
        return {**kept, "config": game.config(**kept["config"])} if "config" in kept else kept

    asked = kept_settings(folder, command, game, make)
    for name, option in agents.items():
        check_trusted(folder, [asked[name]] if isinstance(asked[name], str) else asked[name], trusted, option=option)
    return asked


def _without_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_lists(one) for key, one in value.items()}
    return tuple(map(_without_lists, value)) if isinstance(value, list) else value
