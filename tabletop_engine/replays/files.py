"""The file format of replays: reading, writing, and checks that don't need to play the game.

The file is one JSON object, with a line for each key:

| key | content |
|---|---|
| replay | the version of this format |
| game | the name of the game |
| package_version, state_version | the versions of the game's package that recorded it |
| config | the fields of the configuration; `components` are the numbers that differ from the shipped ones |
| seed | the seed of the game, as in `Batch(config, 1, seed)`; missing with a `scenario` |
| scenario | the first state, as the game's `described` writes it; missing with a `seed` |
| names | the names of the players, from seat 0 |
| actions | the numbers of the actions, in the order of play; a last -1 is an illegal action that lost the game |
| probabilities | for each action a list: an action, its probability, the next action …; this key may be missing |
| points, winners | the points of each owner at the end; who won (`Game.winners`), null in an unfinished game |
| checksums | four hexadecimal digits for the start and for each action |

A checksum depends on everything before it, on all that is recorded of its action, and on the whole state after the
action. So a replay that plays differently here, or was changed by hand, is refused, with the first step at which it
differs.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from tabletop_engine.checks import is_whole
from tabletop_engine.errors import ConfigError, ReplayError
from tabletop_engine.files import read_limited, whole_file
from tabletop_engine.game import Config, Game
from tabletop_engine.play.batch import game_seed
from tabletop_engine.record import FORFEIT
from tabletop_engine.text.words import shown

FORMAT = 3
DIGITS = 4
"""The number of hexadecimal digits of a checksum."""
THOUSANDTHS = 1000
"""Probabilities are kept as multiples of 1 / this number."""

_MOST_BYTES = 10_000_000
LONGEST_NAME = 5000
"""Enough for an agent with the longest path that systems allow, 4,096 characters."""

Probabilities = Mapping[int, float]
"""Probabilities by action, to three digits. Those that round to 0 are left out. Empty if the agent gave none."""

# --- Checks of content -----------------------------------------------------------------------------------------------


def checked_actions(game: Game, actions: Sequence[int]) -> list[int]:
    """The actions as ints. Raises ReplayError, with the step, for a value that is not an action of the game."""
    taken: list[int] = []
    for step, action in enumerate(actions, 1):
        if not is_whole(action) or not FORFEIT <= action < game.num_actions:
            allowed = f"0 to {game.num_actions - 1}, or {FORFEIT} for an illegal one that lost the game"
            raise ReplayError(f"step {step}: action {action!r:.80}: must be {allowed}", step)
        taken.append(int(action))
    return taken


def check_names(names: tuple[Any, ...], config: Config) -> None:
    """Raise ConfigError for a wrong number of names, or a name with characters that a terminal would obey."""
    if len(names) != config.players:
        raise ConfigError(f"names: {len(names)} names for {config.players} players")
    for name in names:
        check_name(name)


def check_name(name: Any) -> None:
    """Raise ConfigError for a name that no replay can hold."""
    if not isinstance(name, str) or name != printable(name):
        raise ConfigError(f"names: {name!r:.80}: must be 1 to {LONGEST_NAME} printable characters")


def printable(name: str) -> str:
    """The name of an agent as a name for a replay: `shown`, and only the end of a long name."""
    return shown(name)[-LONGEST_NAME:] or "?"


def rounded(game: Game, probabilities: Probabilities) -> dict[int, float]:
    """Probabilities in thousandths, by ascending action, without zeros. Raises ConfigError for bad ones."""
    try:
        given = sorted((int(action), float(share)) for action, share in probabilities.items())
        sound = all(0 <= action < game.num_actions and 0 <= share <= 1 for action, share in given)
    except (AttributeError, TypeError, ValueError, OverflowError):
        sound = False
    if not sound:
        raise ConfigError(
            f"probabilities: {probabilities!r:.80}: must be a dictionary of numbers from 0 to 1 by action"
        )
    thousandths = ((action, round(share * THOUSANDTHS)) for action, share in given)
    return {action: share / THOUSANDTHS for action, share in thousandths if share}


# --- Writing and reading ---------------------------------------------------------------------------------------------

_KINDS: dict[str, type] = {
    "replay": int,
    "game": str,
    "package_version": str,
    "state_version": int,
    "config": dict,
    "seed": int,
    "scenario": dict,
    "names": list,
    "actions": list,
    "probabilities": list,
    "points": list,
    "winners": list,
    "checksums": str,
}
"""The types of the values, by the keys in the order of a file."""
_KIND_NAMES = {int: "whole number", str: "text", dict: "object", list: "list"}
_MAY_BE_MISSING = ("seed", "scenario", "probabilities")


def text_of(replay: Any) -> str:
    """The text of a replay's file."""
    written: dict[str, Any] = {
        "replay": FORMAT,
        "game": replay.game.name,
        "config": dataclasses.asdict(replay.config),
        "probabilities": [[number for pair in one.items() for number in pair] for one in replay.probabilities] or None,
        "checksums": "".join(replay.checksums),
    }
    content = {key: written[key] if key in written else getattr(replay, key) for key in _KINDS}
    lines = (
        f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}"
        for key, value in content.items()
        if value is not None or key not in _MAY_BE_MISSING
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write(path: Path, content: str | bytes) -> None:
    """Write a file, completely or not at all; text in UTF-8. Raises ReplayError if it can't be written."""
    try:
        with whole_file(path) as unfinished:
            unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
    except (OSError, ValueError) as error:  # ValueError: a path that cannot be one
        raise ReplayError(f"{path}: can't be written ({_reason(error)})") from None


def read(path: str | Path) -> bytes:
    """The content of a file. Raises ReplayError if it can't be read or is too big."""
    try:
        return read_limited(Path(path), _MOST_BYTES)
    except (OSError, ValueError) as error:  # ValueError: too big, or a path that cannot be one
        raise ReplayError(f"can't be read ({_reason(error)})") from None


def parsed(data: bytes, game: Game) -> dict[str, Any]:
    """The arguments of `Replay` for a file with this content. Nothing is played yet.

    Raises ReplayError, or ConfigError, if it is not a replay of this game.
    """
    try:
        return _arguments(_content(data, game), game)
    except RecursionError:
        raise ReplayError("is not a replay: nested too deeply") from None


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _content(data: bytes, game: Game) -> dict[str, Any]:
    """The JSON object, after checks of its format and its keys."""
    try:
        content = json.loads(data.decode("utf-8-sig"), parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise ReplayError("is not a replay: not a text in UTF-8") from None
    except ValueError as error:
        raise ReplayError(f"is not a replay: not JSON ({error})") from None
    if not isinstance(content, dict) or "replay" not in content:
        raise ReplayError('is not a replay: not a JSON object with the key "replay"')
    if content["replay"] != FORMAT:
        raise ReplayError(f"replay: {content['replay']!r:.40}; this version reads format {FORMAT}")
    for key in _KINDS:
        if key not in content and key not in _MAY_BE_MISSING:
            raise ReplayError(f"{key}: missing")
    for key, value in content.items():
        if key not in _KINDS:
            raise ReplayError(f"{key!r:.40}: unknown key; allowed are {', '.join(_KINDS)}")
        if type(value) is not _KINDS[key] and not (key == "winners" and value is None):
            raise ReplayError(f"{key}: {value!r:.80} has the wrong type; allowed: {_KIND_NAMES[_KINDS[key]]}")
    if content["game"] != game.name:
        raise ReplayError(f"game: a replay of {content['game']!r:.40}, not of {game.name!r}")
    return content


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not allowed as a number")


def _arguments(content: dict[str, Any], game: Game) -> dict[str, Any]:
    if ("seed" in content) == ("scenario" in content):
        raise ReplayError("seed, scenario: exactly one of them must be given, as the start of the game")
    if "seed" in content:
        game_seed(content["seed"])  # raises ConfigError for a bad one
    if (version := content["package_version"]) != printable(version):
        raise ReplayError(f"package_version: {version!r:.80}: must be 1 to {LONGEST_NAME} printable characters")
    config = _config(content["config"], game)
    check_names(tuple(content["names"]), config)
    actions = tuple(checked_actions(game, content["actions"]))
    arguments = {key: value for key, value in content.items() if key not in ("replay", "game")}
    arguments |= {"config": config, "names": tuple(content["names"]), "actions": actions}
    checksums = content["checksums"]
    if len(checksums) != DIGITS * (len(actions) + 1):
        raise ReplayError(f"checksums: must be {DIGITS} digits for the start and for each of {len(actions)} actions")
    arguments["checksums"] = tuple(checksums[i : i + DIGITS] for i in range(0, len(checksums), DIGITS))
    if "probabilities" in content:
        arguments["probabilities"] = _probabilities(content["probabilities"], len(actions), game)
    has_halves = game.state["points"].base.kind == "f"
    for key in ("points", "winners"):
        for one in content[key] or ():
            is_half = key == "points" and has_halves and type(one) is float and math.isfinite(one)
            if type(one) is not int and not is_half:
                raise ReplayError(f"{key}: {one!r:.80} is not a whole number")
        arguments[key] = None if content[key] is None else tuple(content[key])
    return arguments


def _config(value: dict[str, Any], game: Game) -> Config:
    fields = [one.name for one in dataclasses.fields(game.config)]
    if sorted(value) != sorted(fields):
        raise ReplayError(f"config: {value!r:.80}: the keys must be {', '.join(fields)}")
    if isinstance(value["components"], str):  # a replay must not make us read any other file
        raise ReplayError("config: components: must be numbers, not the path of a file")
    try:
        config: Config = game.config(**value)
    except ConfigError as error:
        raise ReplayError(f"config: {error}") from None
    return config


def _probabilities(given: list[Any], decisions: int, game: Game) -> tuple[Probabilities, ...]:
    if len(given) != decisions:
        raise ReplayError(f"probabilities: {len(given)} lists for {decisions} actions")
    read: list[Probabilities] = []
    for one in given:
        actions, shares = (one[::2], one[1::2]) if isinstance(one, list) else ([], [one])
        sound = len(actions) == len(shares) and all(type(share) in (int, float) for share in shares)
        if not sound or any(type(action) is not int for action in actions) or len(set(actions)) < len(actions):
            raise ReplayError(f"probabilities: {one!r:.80} is not a list of an action, its probability, an action …")
        read.append(rounded(game, dict(zip(actions, shares, strict=True))))
    return tuple(read)
