"""Whether each option of a configuration reaches the rules, and changes games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import Field, fields
from typing import Any

from tabletop_engine.game import Config, Game
from tabletop_engine.play.batch import Batch
from tabletop_engine.text.words import shown

GAMES = 100
"""Random games that are compared with those of the same seeds without the option."""


def notes(game: Game, players: Sequence[int]) -> Iterator[str]:
    """A sentence for each option that changes nothing, and one with those that could not be tried."""
    left = []
    for option in fields(game.config):
        if option.name in ("players", "components"):
            continue
        values = _values(option)
        tried = {
            value: [pair for number in players for pair in _pair(game, number, option.name, value)] for value in values
        }
        if not any(tried.values()):
            left.append(option.name)
        for value, pairs in tried.items():
            if pairs and not any(_differ(*pair) for pair in pairs):
                yield f"the option {option.name}={value!r} changes nothing in {GAMES} random games"
    if left:
        yield f"not compared: games with other values of the options {', '.join(map(shown, left))}"


def _values(option: Field[Any]) -> list[Any]:
    """Other values than the default that the option may have: one of its names, or another number."""
    if "names" in option.metadata:
        return [(name,) for name in option.metadata["names"]]
    if isinstance(option.default, bool):
        return [not option.default]
    if isinstance(option.default, int | float):
        return [option.default + more for more in (1, -1, 2, -2)]
    return []


def _pair(game: Game, players: int, name: str, value: Any) -> Iterator[tuple[Config, Config]]:
    """A configuration with the option and one without it, if the game takes it with so many players."""
    try:
        yield game.config(players=players, **{name: value}), game.config(players=players)
    except (TypeError, ValueError):
        return


def _differ(one: Config, other: Config) -> bool:
    """Whether random games of the same seeds end differently, apart from what configurations write."""
    ends = []
    for config in (one, other):
        batch = Batch(config, GAMES, 0, autoreset="disabled")
        states = batch.states.copy()
        config.game.kernels.playout(states, batch.tables)
        for switch in config.SWITCHES:
            states[switch] = 0
        ends.append(states.tobytes())
    return ends[0] != ends[1]
