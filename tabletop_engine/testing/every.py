"""All checks of a game, in the order in which their mistakes are best understood."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tabletop_engine.checks import checked
from tabletop_engine.compiling.compiled import JIT
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Game
from tabletop_engine.testing import declared, hidden, official, played
from tabletop_engine.testing.problems import CheckFailed, Problem
from tabletop_engine.testing.strict import games

CHECKS = ("declarations", "plain Python", "two processes", "every state", "hidden information", "official checks")
"""What is checked, in this order."""
GAMES = 20
"""Games for each number of players."""
_PLAIN = 6
"""Of these are played in plain Python, which is slow."""
_SECONDS = 600

Heard = Callable[[str, int, int], None]
"""Called before each check: its name, how many are done, and how many there are in all."""


def _unheard(name: str, done: int, of: int) -> None:
    pass


@checked
def check_game(game: Game, *, games: int = GAMES, players: Sequence[int] = (), on_check: Heard = _unheard) -> None:
    """Check a game for every number of players, or for those that are given. Raises CheckFailed with what is wrong.

    For a test of your own: `def test_my_game(): check_game(GAME)`.
    """
    found = list(problems_of(game, games=games, players=players, on_check=on_check))
    if found:
        raise CheckFailed(found)


def problems_of(
    game: Game, *, games: int = GAMES, players: Sequence[int] = (), on_check: Heard = _unheard
) -> Iterator[Problem]:
    """The mistakes of a game. A check that finds some ends the check of this number of players.

    Arguments:
        games: random games for each number of players.
        players: numbers of players; (): all that the game has.
        on_check: called before each check.

    Raises ConfigError for a number of players that the game does not have.
    """
    numbers = tuple(players) or game.players
    unknown = [number for number in numbers if number not in game.players]
    if unknown:
        raise ConfigError(f"players={unknown[0]}: there can be {', '.join(map(str, game.players))}")
    total = 1 + (len(CHECKS) - 1) * len(numbers)
    on_check(CHECKS[0], 0, total)
    found = list(declared.problems(game))
    yield from found
    if found:
        return
    for i, number in enumerate(numbers):
        done = 1 + i * (len(CHECKS) - 1)
        for j, check in enumerate(_checks(game, number, range(games))):
            on_check(f"{CHECKS[1 + j]}, {number} players", done + j, total)
            found = list(check())
            yield from found
            if found:
                break


def _checks(game: Game, players: int, seeds: range) -> Iterator[Callable[[], Iterator[Problem]]]:
    number = min(_PLAIN, len(seeds))
    kept: list[dict[str, Any]] = []
    yield lambda: _plain(game, players, number, kept)
    yield lambda: _two_processes(game, players, number, kept)
    yield lambda: played.problems(game, players, seeds)
    yield lambda: hidden.problems(game, players, seeds)
    yield lambda: official.problems(game, players)


def _plain(game: Game, players: int, number: int, kept: list[dict[str, Any]]) -> Iterator[Problem]:
    """Plain Python, where a number that does not fit and an index past the end are errors."""
    lines, error = _in_a_process(game, players, number, hash_seed="1")
    if error:
        yield Problem("plain Python", error, players)
        return
    failed = list(_first_error("plain Python", lines, players))
    yield from failed
    if not failed:
        kept += lines


def _two_processes(game: Game, players: int, number: int, kept: list[dict[str, Any]]) -> Iterator[Problem]:
    """The same bytes in a second process of plain Python, and compiled in this one."""
    lines, error = _in_a_process(game, players, number, hash_seed="2")
    if error:
        yield Problem("two processes", error, players)
        return
    found = list(_first_difference("two processes of plain Python", kept, lines, players))
    yield from found
    if JIT and not found:
        compiled = list(games(game.home, players, number))
        failed = list(_first_error("compiled", compiled, players))
        yield from failed or _first_difference("plain Python and compiled code", kept, compiled, players)


def _first_error(check: str, lines: list[dict[str, Any]], players: int) -> Iterator[Problem]:
    for line in lines:
        if "error" in line:
            at = f" at {line['where']}" if line["where"] else ""
            yield Problem(check, f"{line['error']}{at}", players, line["seed"], line["step"], line["seat"])
            return


def _first_difference(
    what: str, one: list[dict[str, Any]], other: list[dict[str, Any]], players: int
) -> Iterator[Problem]:
    for first, second in zip(one, other, strict=False):
        pairs = zip(first["digests"], second.get("digests", ()), strict=False)
        step = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
        if step is None and len(first["digests"]) != len(second.get("digests", ())):
            step = min(len(first["digests"]), len(second["digests"]))
        if step is not None:
            reason = "chance comes from the record alone, and no global value may change"
            yield Problem(
                "the same bytes", f"{what} play the same seed differently: {reason}", players, first["seed"], step
            )
            return
        if first["ranks"] != second["ranks"]:
            yield Problem("the same bytes", f"{what} rank the same game differently", players, first["seed"])
            return


def _in_a_process(game: Game, players: int, number: int, hash_seed: str) -> tuple[list[dict[str, Any]], str]:
    """What `strict` prints, and what went wrong with the process itself."""
    paths = [str(Path(path or ".").resolve()) for path in sys.path]
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONHASHSEED": hash_seed,
        "PYTHONPATH": os.pathsep.join(paths),
    }
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "tabletop_engine.testing.strict", game.home, str(players), str(number)],
            env=environment,
            capture_output=True,
            check=False,
            encoding="utf-8",
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return [], f"{number} games in plain Python take more than {_SECONDS} seconds"
    if ran.returncode != 0:
        return [], f"a process of plain Python ends with status {ran.returncode}: {ran.stderr.strip()[-500:]}"
    return [json.loads(line) for line in ran.stdout.splitlines()], ""
