"""All checks of a game, in the order in which their mistakes are best understood."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tabletop_engine.checks import checked
from tabletop_engine.compiling.compiled import JIT
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.batch import check_config
from tabletop_engine.testing import declared, hidden, official, options, played, shielded
from tabletop_engine.testing.lines import told
from tabletop_engine.testing.problems import CheckFailed, Problem
from tabletop_engine.testing.strict import config_of, games, overflow, parts, settings_of

CHECKS = ("declarations", "plain Python", "two processes", "every state", "hidden information", "official checks")
"""What is checked, in this order."""
GAMES = 20
"""Games of each configuration."""
_PLAIN = 6
"""Of these are played in plain Python, which is slow."""
_SECONDS = 600
_MOST_PARTS = 4
"""So many of the parts in which two games differ are named."""

OnProgress = Callable[[str, int, int], None]
"""Called before each check: its name, how many are done, and how many there are in all."""

OnNote = Callable[[str], None]
"""Called with what could not be checked, in a sentence."""


def _ignore(*_: object) -> None:
    pass


@checked
def check_game(
    game: Game,
    *,
    games: int = GAMES,
    players: Sequence[int] = (),
    configs: Sequence[Config] = (),
    on_check: OnProgress = _ignore,
    on_note: OnNote = _ignore,
) -> None:
    """Check a game, as `problems_of` does. Raises CheckFailed with what is wrong.

    For a test of your own: `def test_my_game(): check_game(GAME)`.
    """
    found = list(problems_of(game, games=games, players=players, configs=configs, on_check=on_check, on_note=on_note))
    if found:
        raise CheckFailed(found)


def problems_of(
    game: Game,
    *,
    games: int = GAMES,
    players: Sequence[int] = (),
    configs: Sequence[Config] = (),
    on_check: OnProgress = _ignore,
    on_note: OnNote = _ignore,
) -> Iterator[Problem]:
    """The mistakes of a game. A check that finds some ends the check of this configuration.

    Arguments:
        games: random games of each configuration.
        players: numbers of players, each with the defaults of the configuration; (): all that the game has.
        configs: configurations, in place of those of `players`.
        on_check: called before each check.
        on_note: called with each thing that could not be checked, in a sentence.

    The checks run in a process of their own (`shielded`), which imports the game by its `home`.

    Raises ConfigError for a number of players that the game does not have, for a configuration of another game, and
    for configurations together with numbers of players.
    """
    if configs and players:
        raise ConfigError("configs and players: one of them, as a configuration has its number of players")
    numbers = tuple(players) or game.players
    unknown = [number for number in numbers if number not in game.players]
    if unknown:
        raise ConfigError(f"players={unknown[0]}: there can be {', '.join(map(str, game.players))}")
    for config in configs:
        if check_config(config) is not game:
            raise ConfigError(f"configs: {config!r:.200} is not one of {game.title}")
    asked: dict[str, Any] = {"games": games, "numbers": numbers, "configs": configs}
    if shielded.is_possible(game):
        yield from shielded.problems(game, asked, on_check, on_note)
    else:
        yield from problems_here(game, **asked, on_check=on_check, on_note=on_note)


def problems_here(
    game: Game, games: int, numbers: Sequence[int], configs: Sequence[Config], on_check: OnProgress, on_note: OnNote
) -> Iterator[Problem]:
    """`problems_of` in this process: compiled code that crashes ends it. `numbers` are those of players."""
    total = 1 + (len(CHECKS) - 1) * len(configs or numbers)
    on_check(CHECKS[0], 0, total)
    found = list(declared.problems(game))
    yield from found
    if found:
        return
    never: list[set[tuple[str, str, int]]] = []
    all_found: list[Problem] = []
    for i, config in enumerate(configs or [game.config(players=number) for number in numbers]):
        done = 1 + i * (len(CHECKS) - 1)
        name = config.name if configs else f"{config.players} players"
        for j, check in enumerate(_checks(config, range(games), on_note, never)):
            on_check(f"{CHECKS[1 + j]}, {name}", done + j, total)
            found = [replace(problem, config=config.name) if configs else problem for problem in check()]
            yield from found
            all_found += found
            if found:
                break
    if all_found:
        return
    for note in options.notes(game, numbers) if not configs else ():
        on_note(note)
    left = set.intersection(*never) if never else set()
    if left:
        on_note(f"rule lines that never ran in random games in plain Python: {told(left)}")


def tell_problems(home: str) -> None:
    """Check the game of a module as the JSON in stdin says; print each thing that is told as JSON: kind and content.

    This is what the process of `shielded` does.
    """
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # which ends what it has started
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process hears it, too
    stdout, check = sys.stdout, [""]

    def tell(kind: str, *content: Any) -> None:
        if kind == "check":
            check[0] = content[0].partition(",")[0]
        print(json.dumps([kind, *content]), file=stdout, flush=True)

    with redirect_stdout(sys.stderr):
        game, asked = importlib.import_module(home).GAME, json.load(sys.stdin)
        asked["configs"] = [config_of(game, one) for one in asked["configs"]]
        asked |= {"on_check": lambda *told: tell("check", *told), "on_note": lambda note: tell("note", note)}
        try:
            for problem in problems_here(game, **asked):
                tell("problem", *asdict(problem).values())
        except TabletopError as error:
            tell("problem", check[0], str(error))


def _checks(
    config: Config, seeds: range, on_note: OnNote, never: list[set[tuple[str, str, int]]]
) -> Iterator[Callable[[], Iterator[Problem]]]:
    number = min(_PLAIN, len(seeds))
    plain: list[dict[str, Any]] = []
    yield lambda: _plain(config, number, plain, never)
    yield lambda: _two_processes(config, number, plain)
    yield lambda: played.problems(config, seeds, on_note)
    yield lambda: hidden.problems(config, seeds, on_note)
    yield lambda: official.problems(config)


def _plain(
    config: Config, number: int, plain: list[dict[str, Any]], never: list[set[tuple[str, str, int]]]
) -> Iterator[Problem]:
    """Plain Python, where a number that does not fit and an index past the end are errors.

    `plain` gets its games, `never` a set of the rules' lines that never ran.
    """
    lines, left, wrong = _plain_games("plain Python", config, number, hash_seed="1")
    yield from wrong
    if not wrong:
        plain += lines
        never.append(left)


def _two_processes(config: Config, number: int, plain: list[dict[str, Any]]) -> Iterator[Problem]:
    """The same bytes in a second process of plain Python, and compiled in this one."""
    lines, _, wrong = _plain_games("two processes", config, number, hash_seed="2")
    found = wrong or list(_first_difference("two processes of plain Python", plain, lines, config))
    yield from found
    if JIT and not found:
        compiled = list(games(config, number))
        failed = list(_first_error("compiled", compiled, config.players))
        yield from failed or _first_difference("plain Python and compiled code", plain, compiled, config)


def _first_error(check: str, lines: list[dict[str, Any]], players: int) -> Iterator[Problem]:
    for line in lines:
        if "error" in line:
            at = f" at {line['where']}" if line["where"] else ""
            yield Problem(check, f"{line['error']}{at}", players, line["seed"], line["step"], line["seat"])
            return


def _first_difference(
    what: str, one: list[dict[str, Any]], other: list[dict[str, Any]], config: Config
) -> Iterator[Problem]:
    """The first step at which two lists of games differ, in what, and a likely reason.

    A game that differs in its length differs before in whose turn it is.
    """
    players = config.players
    for first, second in zip(one, other, strict=False):
        pairs = zip(first["checksums"], second.get("checksums", ()), strict=False)
        step = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
        if step is not None:
            names = zip(parts(config.game), first["checksums"][step], second["checksums"][step], strict=True)
            differing = [name for name, a, b in names if a != b]
            more = len(differing) - _MOST_PARTS
            named = ", ".join(differing[:_MOST_PARTS]) + (f" and {more} more" if more > 0 else "")
            place = first["overflows"].get(str(step))
            reason = overflow(place) if place else "chance comes from the record alone, and no global value may change"
            message = f"{what} play the same seed differently, in {named}: {reason}"
            yield Problem("two processes", message, players, first["seed"], step)
            return
        ranks = first["ranks"], second["ranks"]
        if None not in ranks and ranks[0] != ranks[1]:
            yield Problem("two processes", f"{what} rank the same game differently", players, first["seed"])
            return


def _plain_games(
    check: str, config: Config, number: int, hash_seed: str
) -> tuple[list[dict[str, Any]], set[tuple[str, str, int]], list[Problem]]:
    """Games in plain Python, the lines that never ran, and the first thing that goes wrong, also with the process."""
    lines, error = _in_a_process(config, number, hash_seed)
    left = {(file, rule, line) for one in lines for file, rule, line in one.get("left", ())}
    whole = [line for line in lines if "left" not in line]
    return (
        whole,
        left,
        [Problem(check, error, config.players)] if error else list(_first_error(check, whole, config.players)),
    )


def _in_a_process(config: Config, number: int, hash_seed: str) -> tuple[list[dict[str, Any]], str]:
    """What `strict` prints, and what went wrong with the process itself."""
    paths = [str(Path(path or ".").resolve()) for path in sys.path]
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONHASHSEED": hash_seed,
        "PYTHONPATH": os.pathsep.join(paths),
    }
    more = ["lines"] if hash_seed == "1" else []  # the other process only has to play the same
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "tabletop_engine.testing.strict", config.game.home, str(number), *more],
            env=environment,
            input=json.dumps(settings_of(config)),
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
