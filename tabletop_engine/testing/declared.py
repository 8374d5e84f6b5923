"""What a game declares: names, words for actions, layouts, fields, players."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tabletop_engine.game import RECORD, Game, Limits
from tabletop_engine.testing.problems import Problem

_KINDS = {"rng": "u", "legal": "u", "points": "if", "decision": "i", "actor": "i"}
_UNITS = ("one-hot", "0/1")


def problems(game: Game) -> Iterator[Problem]:
    """The mistakes in what is declared."""
    for message in _messages(game):
        yield Problem("declarations", message)


def _messages(game: Game) -> Iterator[str]:
    yield from _names("decisions", game.decisions)
    yield from _names("actions", game.actions)
    yield from _names("blocks of the observation", [block.name for block in game.observation])
    if not game.name.replace("_", "").isalnum() or game.name != game.name.lower():
        yield f"name={game.name!r}: must be one lower-case word"
    if not game.players or list(game.players) != sorted(set(game.players)) or game.players[0] < 1:
        yield f"players={game.players}: must be numbers of at least 1, ascending"
    fields: dict[str, Any] = dict(game.state.fields or {})
    for name, kind in _KINDS.items():
        if fields[name][0].base.kind not in kind:
            yield f"the field {name} of the record has the type {fields[name][0].base}"
    if fields["rng"][0].base != np.uint64 or fields["legal"][0].base != np.uint64:
        yield "the fields rng and legal of the record must be uint64"
    most = fields["points"][0].shape[0] if fields["points"][0].shape else 0
    for players in game.players:
        try:
            config = game.config(players=players)
        except Exception as error:  # a stranger's class raises anything
            yield f"config(players={players}) raises {type(error).__name__}: {error}"
            continue
        if config.owners > most:
            yield f"the field points has room for {most} owners, but {players} players have {config.owners}"
        teams = game.teams(config)
        if sorted(set(teams)) != [*range(len(set(teams)))] or len(set(teams)) > config.owners:
            wanted = f"the {config.owners} owners from 0 without a gap, and an opponent of the rules after them"
            yield f"the seats' teams are {teams} with {players} players: teams are {wanted}"
        if len(config.agents) != players:
            yield f"config(players={players}).agents has {len(config.agents)} names"
        limits = game.limits(config)
        if not isinstance(limits, Limits):
            yield f"limits({config.name}) is {limits!r:.80}, not a Limits"
        elif limits.points is None and fields["points"][0].base.kind == "f":
            yield "points are floats in the record, so limits must say Limits(points=(least, most))"
        elif limits.decisions < 1 or limits.draws < 0 or limits.outcomes < 0:
            yield f"limits({config.name}) is {limits}: a game has decisions, and no fewer than 0 draws"
        unknown = [name for name in config.SWITCHES if name not in fields]
        if unknown:
            yield f"SWITCHES: {', '.join(unknown)}: not in the record, so no rule sees it"
        missing = [name for name in ("players", "owners") if name not in config.SWITCHES]
        if missing:
            yield f"SWITCHES lacks {', '.join(missing)}, which a configuration must set"
    for block in game.observation:
        unit, divided, divisor = block.unit.partition(" / ")
        if divided and not divisor.isdecimal():
            yield f"the unit {block.unit!r} of {block.name!r} in the observation: must be things, or things / a number"
        if unit in _UNITS and divided:
            yield f"the unit {block.unit!r} of {block.name!r} in the observation can't be divided"
        if min(block.shape, default=0) < 1:
            yield f"the block {block.name!r} of the observation has the shape {block.shape}"
    if game.observation.size == 0:
        yield "the observation is empty"
    for name in RECORD:
        if name not in fields:
            yield f"the record lacks the field {name}"
    unknown = [name for name in game.known if name not in fields]
    if unknown:
        yield f"known: {', '.join(unknown)}: not in the record"
    if game.scored and ("scored" not in fields or fields["scored"][0].shape[-1] != len(game.scored)):
        yield f"scored names {len(game.scored)} sources, which the field scored of the record does not have"


def _names(what: str, names: Sequence[str]) -> Iterator[str]:
    several = [name for name, number in Counter(names).items() if number > 1]
    if several:
        yield f"{what}: {', '.join(map(repr, several))} more than once"
    if not names or not all(isinstance(name, str) and name.strip() == name and name for name in names):
        yield f"{what}: must be names without spaces around them, at least one"
