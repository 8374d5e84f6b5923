"""What the file of a replay holds: read, written, and checked as far as it can be without playing.

The file is one JSON object, a line for each of its keys:

| key | what it holds |
|---|---|
| replay | the version of this format |
| game | the name of the game |
| package_version, state_version | of the game's package that recorded it |
| config | the configuration's fields; `components` are the numbers that aren't the shipped ones |
| seed | of the game, as `Batch(config, 1, seed)` takes it; instead of it a first state: |
| scenario | the first state as the game's `described` gives it |
| names | who sat where, from seat 0 |
| actions | their numbers, in the order of play; a last -1 for an illegal one that lost the game |
| probabilities | for each action a list: an action, its probability, the next action …; may be missing |
| points, winners | points by owner at the end; the owners who won, null: unfinished |
| checksums | four hexadecimal digits for the start and for each action |

A checksum is of all that came before, of what is recorded of this action, and of the whole state after it. What plays
differently here, and what was changed by hand, is so refused with the first step at which it differs.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from tabletop.batch import game_seed
from tabletop.errors import ConfigError, ReplayError
from tabletop.files import read_limited, whole_file
from tabletop.game import Config, Game
from tabletop.record import FORFEIT

FORMAT = 2
DIGITS = 4
"""Hexadecimal digits of a checksum."""
THOUSANDTHS = 1000
"""In which probabilities are kept."""

_MOST_BYTES = 10_000_000
_LONGEST_NAME = 200

Probabilities = Mapping[int, float]
"""By action, to three digits; those that round to 0 are left out. Empty where an agent offered none."""

# --- What a replay may hold ------------------------------------------------------------------------------------------


def checked_actions(game: Game, actions: Sequence[int]) -> list[int]:
    """As plain ints. Raises ReplayError, with the step, for anything that is no action at all."""
    taken: list[int] = []
    for step, action in enumerate(actions, 1):
        number = isinstance(action, int | np.integer) and not isinstance(action, bool)
        if not number or not FORFEIT <= action < game.num_actions:
            allowed = f"0 to {game.num_actions - 1}, or {FORFEIT} for an illegal one that lost the game"
            raise ReplayError(f"step {step}: action {action!r:.80}: {allowed}", step)
        taken.append(int(action))
    return taken


def check_names(names: tuple[Any, ...], config: Config) -> None:
    """Raises ConfigError. What a terminal would act on is no name."""
    if len(names) != config.players:
        raise ConfigError(f"names: {len(names)} of them for {config.players} players: one a seat")
    for name in names:
        if not isinstance(name, str) or name != printable(name):
            raise ConfigError(f"names: {name!r:.80}: 1 to {_LONGEST_NAME} printable characters")


def printable(name: str) -> str:
    """Any agent's name as one that a replay may hold; the end of one that is too long."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)[-_LONGEST_NAME:] or "?"


def rounded(game: Game, probabilities: Probabilities) -> dict[int, float]:
    """To thousandths, by ascending action, without zeros. Raises ConfigError for what are no probabilities."""
    try:
        given = sorted((int(action), float(share)) for action, share in probabilities.items())
        sound = all(0 <= action < game.num_actions and 0 <= share <= 1 for action, share in given)
    except (AttributeError, TypeError, ValueError, OverflowError):
        sound = False
    if not sound:
        raise ConfigError(f"probabilities: {probabilities!r:.80}: a dictionary of numbers from 0 to 1 by action")
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
"""What the keys hold, in the order of a file."""
_KIND_NAMES = {int: "whole number", str: "text", dict: "object", list: "list"}
_MAY_BE_MISSING = ("seed", "scenario", "probabilities")
_OLD_KEY = "_replay"
"""With the game's name before it: of files before format 2."""


def text_of(replay: Any) -> str:
    """The file's text."""
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
    """Write the file, text in UTF-8; at no time is half of one there. Raises ReplayError where none can be written."""
    try:
        with whole_file(path) as unfinished:
            unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
    except (OSError, ValueError) as error:  # ValueError: a path that cannot be one
        raise ReplayError(f"{path}: can't be written ({_reason(error)})") from None


def read(path: str | Path) -> bytes:
    """The file's content. Raises ReplayError for a file that can't be read, and for one that is too big."""
    try:
        return read_limited(Path(path), _MOST_BYTES)
    except (OSError, ValueError) as error:  # ValueError: too big, or a path that cannot be one
        raise ReplayError(f"can't be read ({_reason(error)})") from None


def parsed(data: bytes, game: Game) -> dict[str, Any]:
    """The arguments of the `Replay` that a file with this content holds; nothing is played yet.

    Raises ReplayError for what is none of this game, and ConfigError.
    """
    try:
        return _arguments(_content(data, game), game)
    except RecursionError:
        raise ReplayError("is no replay: nested too deeply") from None


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _content(data: bytes, game: Game) -> dict[str, Any]:
    """The JSON object, of the right format and with the right keys."""
    try:
        content = json.loads(data.decode("utf-8-sig"), parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise ReplayError("is no replay: not a text in UTF-8") from None
    except ValueError as error:
        raise ReplayError(f"is no replay: not JSON ({error})") from None
    if isinstance(content, dict) and any(key.endswith(_OLD_KEY) for key in content):
        raise ReplayError("was recorded by an older version, whose games this one can't play")
    if not isinstance(content, dict) or "replay" not in content:
        raise ReplayError('is no replay: not a JSON object with the key "replay"')
    if content["replay"] != FORMAT:
        raise ReplayError(f"replay: {content['replay']!r:.40}; this version reads format {FORMAT}")
    for key in _KINDS:
        if key not in content and key not in _MAY_BE_MISSING:
            raise ReplayError(f"{key}: missing")
    for key, value in content.items():
        if key not in _KINDS:
            raise ReplayError(f"{key!r:.40}: unknown; there are {', '.join(_KINDS)}")
        if type(value) is not _KINDS[key] and not (key == "winners" and value is None):
            raise ReplayError(f"{key}: {value!r:.80} is no {_KIND_NAMES[_KINDS[key]]}")
    if content["game"] != game.name:
        raise ReplayError(f"game: a replay of {content['game']!r:.40}, not of {game.name!r}")
    return content


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number there")


def _arguments(content: dict[str, Any], game: Game) -> dict[str, Any]:
    if ("seed" in content) == ("scenario" in content):
        raise ReplayError("seed, scenario: one of them, what the game started from")
    if "seed" in content:
        game_seed(content["seed"])  # a ConfigError for one below 0
    if (version := content["package_version"]) != printable(version):
        raise ReplayError(f"package_version: {version!r:.80}: 1 to {_LONGEST_NAME} printable characters")
    config = _config(content["config"], game)
    check_names(tuple(content["names"]), config)
    actions = tuple(checked_actions(game, content["actions"]))
    arguments = {key: value for key, value in content.items() if key not in ("replay", "game")}
    arguments |= {"config": config, "names": tuple(content["names"]), "actions": actions}
    checksums = content["checksums"]
    if len(checksums) != DIGITS * (len(actions) + 1):
        raise ReplayError(f"checksums: {DIGITS} digits for the start and for each of {len(actions)} actions, in a row")
    arguments["checksums"] = tuple(checksums[i : i + DIGITS] for i in range(0, len(checksums), DIGITS))
    if "probabilities" in content:
        arguments["probabilities"] = _probabilities(content["probabilities"], len(actions), game)
    for key in ("points", "winners"):
        for one in content[key] or ():
            if type(one) is not int:
                raise ReplayError(f"{key}: {one!r:.80} is no whole number")
        arguments[key] = None if content[key] is None else tuple(content[key])
    return arguments


def _config(value: dict[str, Any], game: Game) -> Config:
    fields = [one.name for one in dataclasses.fields(game.config)]
    if sorted(value) != sorted(fields):
        raise ReplayError(f"config: {value!r:.80} has other keys than {', '.join(fields)}")
    if isinstance(value["components"], str):  # lest a replay have any file read
        raise ReplayError("config: components: a replay has numbers, not the path of a file")
    try:
        config: Config = game.config(**value)
    except ConfigError as error:
        raise ReplayError(f"config: {error}") from None
    return config


def _probabilities(given: list[Any], decisions: int, game: Game) -> tuple[Probabilities, ...]:
    if len(given) != decisions:
        raise ReplayError(f"probabilities: of {len(given)} decisions; there are {decisions} actions")
    read: list[Probabilities] = []
    for one in given:
        actions, shares = (one[::2], one[1::2]) if isinstance(one, list) else ([], [one])
        sound = len(actions) == len(shares) and all(type(share) in (int, float) for share in shares)
        if not sound or any(type(action) is not int for action in actions) or len(set(actions)) < len(actions):
            raise ReplayError(f"probabilities: {one!r:.80} is no list of an action, its probability, another action …")
        read.append(rounded(game, dict(zip(actions, shares, strict=True))))
    return tuple(read)
