"""Positions that games start from, in place of the game's set-up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from tabletop_engine.errors import ScenarioError
from tabletop_engine.game import NOBODY, Config, switches_of
from tabletop_engine.play.tables import check_states

Starts = Sequence[Mapping[str, Any]] | np.ndarray | Callable[[np.ndarray], np.ndarray]
"""Descriptions of positions, or (n,) records; or a function from indices of games, (n,) int64, to n records."""


def record_of(description: Mapping[str, Any], config: Config) -> Any:
    """The record of a described position. Settings that the description leaves out are as in `config`.

    Raises ScenarioError for another configuration, a finished game, and everything that `Game.scenario` refuses.
    """
    if not isinstance(description, Mapping):
        raise ScenarioError(f"scenario: {description!r:.80} is not a dictionary as docs/scenarios.md describes it")
    own = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(config).items()}
    del own["components"]
    state = config.game.scenario({**own, **description}, config.components)
    described = config.game.config.of(state, config.components)
    if described != config:
        raise ScenarioError(f"scenario: it describes {described.name!r}, this environment plays {config.name!r}")
    if state["actor"] == NOBODY:
        raise ScenarioError("scenario: this game is over; an episode starts at a decision")
    return state


def records_of(starts: Starts, config: Config, tables: np.ndarray) -> np.ndarray:
    """The descriptions or records in `starts` as (n,) records. Raises ScenarioError and StateError for bad ones."""
    if (
        not isinstance(starts, Sequence | np.ndarray)
        or isinstance(starts, str | bytes)
        or getattr(starts, "shape", None) == ()
        or not len(starts)
    ):
        wanted = "a list of descriptions (docs/scenarios.md), an array (n,) of records, or a function"
        raise ScenarioError(f"starts={starts!r:.80}: must be {wanted}")
    if isinstance(starts, np.ndarray):
        check_records(starts, len(starts), config)
        check_states(config.game, starts, tables)
        return starts.copy()
    if any(isinstance(one, np.void | np.ndarray) for one in starts):
        raise ScenarioError("starts: a list of records; give them as one array (n,), as np.array makes it of the list")
    if len(tables) > 1:
        raise ScenarioError("starts: a description does not say which of several editions it is of; give records")
    records = np.zeros(len(starts), config.game.state)
    for number, description in enumerate(starts):
        try:
            records[number] = record_of(description, config)
        except ScenarioError as error:
            raise ScenarioError(f"starts[{number}]: {error}") from None
    return records


def check_records(records: Any, number: int, config: Config) -> None:
    """Raise ScenarioError unless these are `number` records of unfinished games of this configuration."""
    game = config.game
    if not isinstance(records, np.ndarray) or records.dtype != game.state or records.shape != (number,):
        kind = f"{records.dtype!s:.40} {records.shape}" if isinstance(records, np.ndarray) else f"{records!r:.80}"
        raise ScenarioError(f"starts: must be an array of {number} records of {game.name}, not {kind}")
    for name, wanted in switches_of(config).items():
        if (records[name] != wanted).any():
            raise ScenarioError(f"starts: records whose {name} differs from that of {config.name!r}")
    if (records["actor"] == NOBODY).any():
        raise ScenarioError("starts: a game among them is over; an episode starts at a decision")
