"""Results files: all games of an agent in a task, which anybody can play again by the rules, without the agent.

A file is `MAGIC`, the length of a JSON header (4 bytes, little-endian), the header, and zlib-compressed numbers:

| what | numbers | size |
|---|---|---|
| the length of each game, the tasks' cells one after another, each by ascending seed | uint16 | games |
| the final points of each game, of each owner | int16 | owners of all games |
| the actions of each game, in the order of play; one more than the last action is a forfeit | uint8 | lengths |

The header has `facts` (`commitment` is their SHA-256), `salt`, `games` and `scores`. The seeds follow from the salt and
the commitment, so whoever makes a file can't choose them without changing what it is about.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_agents import Agent, RandomAgent
from tabletop_engine.checks import is_whole
from tabletop_engine.errors import TabletopError
from tabletop_engine.files import read_limited, whole_file
from tabletop_engine.game import NOBODY, Config
from tabletop_engine.play.batch import Batch
from tabletop_engine.record import FORFEIT
from tabletop_engine.text.words import shown
from tabletop_training.files.tables import plain
from tabletop_training.measure.evaluation import MAX_GAMES_AT_ONCE, seeds_from
from tabletop_training.measure.results import Estimate, Results, mean_estimate, share_estimate
from tabletop_training.study.cells import Cell
from tabletop_training.suite.tasks import GAMES, Task, task_of

MAGIC = b"tabletop-results-1\n"
ENDING = ".results"
SALT = "tabletop suite 1"
"""The salt that is usual; a contest announces one of its own after the files' commitments are known."""
LONGEST_TEXT = 200
_MOST_BYTES, _MOST_HEADER, _MOST_UNPACKED = 20_000_000, 100_000, 64_000_000
_KEYS = {"facts": dict, "salt": str, "games": int, "scores": dict}
_FACTS = {
    **{"task": str, "digest": str, "agent": str, "learner": str, "seed": int, "steps": int},
    **{"versions": dict, "checkpoints": dict},
}


@dataclass(frozen=True)
class Score:
    """What the games of a part say.

    Attributes:
        won: the share of the victories, the mean over the configurations; its interval has the seed as its unit.
        margin: points ahead of the others, likewise.
        games: how many.
    """

    won: Estimate
    margin: Estimate
    games: int


def score_of(results: Sequence[Results]) -> Score:
    """The score of the first agent in games of several configurations, with equally many seeds of each."""
    won = [one.by_seed(one.by_agent(one.win_shares)[:, :1])[:, 0] for one in results]
    ahead = [one.by_seed(one.by_agent(one.margins_by_seat)[:, :1])[:, 0] for one in results]
    every = share_estimate(np.concatenate(won)), mean_estimate(np.concatenate(ahead))
    return Score(*every, games=sum(map(len, results)))


def commitment_of(facts: Mapping[str, Any]) -> str:
    """SHA-256 of what a file is about."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def seeds_of(salt: str, commitment: str) -> Callable[[str, int], int]:
    """The first seed of each part and configuration, from 2^61 on: nothing else begins there."""

    def first(part: str, number: int) -> int:
        digest = hashlib.sha256("\n".join((salt, commitment, part, str(number))).encode()).digest()
        return 2**61 + int.from_bytes(digest[:8], "big") % 2**60

    return first


def write(
    path: Path, facts: Mapping[str, Any], salt: str, games: int, played: Mapping[str, Sequence[Results]]
) -> dict[str, Score]:
    """Write the games of all parts, of `Task.cells` in their order; returns the scores.

    Raises TabletopError for games without their actions.
    """
    every = [one.in_order() for results in played.values() for one in results]
    if any(one.actions is None for one in every):
        raise TabletopError(f"{path}: games without their actions make no results file")
    forfeit = every[0].config.game.num_actions
    taken = [actions for one in every for actions in one.actions or ()]
    moves = np.concatenate(taken)
    numbers = (
        np.concatenate([one.lengths for one in every]).astype("<u2").tobytes(),
        np.concatenate([one.points.ravel() for one in every]).astype("<i2").tobytes(),
        np.where(moves == FORFEIT, forfeit, moves).astype(np.uint8).tobytes(),
    )
    scores = {part: score_of(results) for part, results in played.items()}
    header = {
        "facts": dict(facts),
        "salt": salt,
        "games": games,
        "scores": plain({k: vars(v) for k, v in scores.items()}),
    }
    text = json.dumps(header).encode()
    with whole_file(path) as unfinished:
        packed = zlib.compress(b"".join(numbers), 9)
        unfinished.write_bytes(MAGIC + len(text).to_bytes(4, "little") + text + packed)
    return scores


@dataclass(frozen=True)
class Checked:
    """A file whose games were played again.

    Attributes:
        header: as the file has it. commitment: of its facts.
        task: whose games they are.
        scores: of each part, from the games themselves.
    """

    header: dict[str, Any]
    commitment: str
    task: Task
    scores: dict[str, Score]


def verify(path: str | Path, tasks: Mapping[str, Task]) -> Checked:
    """Play all games of a file again by the rules and compare. Its agent is not needed, and no code of it is run.

    Raises TabletopError for a file that is damaged, too large, of another version, or says anything else than its
    games; the message names the first game that differs.
    """
    path = Path(path)
    try:
        header, packed = _read(path)
        return _verified(header, packed, tasks)
    except TabletopError as error:
        raise TabletopError(f"{path}: {error}") from None


def read_header(path: str | Path) -> dict[str, Any]:
    """What a file says, unchecked. Raises TabletopError for anything but a results file."""
    return _read(Path(path))[0]


def _read(path: Path) -> tuple[dict[str, Any], bytes]:
    """The header, with the types of all its values checked, and the packed numbers."""
    try:
        data = read_limited(path, _MOST_BYTES)
    except (OSError, ValueError) as error:
        raise TabletopError(f"can't be read ({getattr(error, 'strerror', None) or error})") from None
    start = len(MAGIC) + 4
    if not data.startswith(MAGIC) or len(data) < start:
        raise TabletopError("is no results file; `suite` writes them")
    size = int.from_bytes(data[len(MAGIC) : start], "little")
    if size > _MOST_HEADER or start + size > len(data):
        raise TabletopError(f"its header has {size:,} bytes; it must be complete, and at most {_MOST_HEADER:,}")
    try:
        header = json.loads(data[start : start + size])
    except (ValueError, RecursionError):
        raise TabletopError("its header is not JSON: it is damaged") from None
    _check(header, _KEYS, "header")
    check_facts(header["facts"])
    if not 1 <= header["games"] <= GAMES:
        raise TabletopError(f"games={header['games']}: must be 1 to {GAMES:,}")
    return header, data[start + size :]


def check_facts(facts: Any) -> None:
    """Raise TabletopError for facts that a results file can't have."""
    _check(facts, _FACTS, "facts")
    for key in ("versions", "checkpoints"):
        if not _is_flat(facts[key]):
            raise TabletopError(f"{key}: must have at most 20 names with a text, a number or nothing")


def _check(content: Any, wanted: Mapping[str, type], name: str) -> None:
    if not isinstance(content, dict) or content.keys() != wanted.keys():
        raise TabletopError(f"its {name} must have {', '.join(wanted)}")
    for key, kind in wanted.items():
        value = content[key]
        if not (is_whole(value) if kind is int else isinstance(value, kind)):
            raise TabletopError(f"{key}={value!r:.60}: not what a results file has there")
        if isinstance(value, str) and (len(value) > LONGEST_TEXT or value != shown(value)):
            raise TabletopError(f"{key}: must be at most {LONGEST_TEXT} printable characters")


def _verified(header: dict[str, Any], packed: bytes, tasks: Mapping[str, Task]) -> Checked:
    facts, games = header["facts"], header["games"]
    task = task_of(tasks, facts["task"])
    there, here = facts["versions"].get("rules_version"), task.game.rules_version
    if there != here:
        version = str(facts["versions"].get("package_version"))
        raise TabletopError(f"played by rules version {there!r:.20} (package {version:.20}); this version has {here}")
    if facts["digest"] != task.digest:
        raise TabletopError(f"{task.id} was another task there: other games, numbers on the pieces, or another rival")
    commitment = commitment_of(facts)
    parts = task.cells("", seeds_of(header["salt"], commitment), games, _nobody)
    every = [cell for cells in parts.values() for cell in cells]
    numbers = _unpacked(packed, every)
    played: list[Results] = []
    for cell, (lengths, points, moves) in zip(every, numbers, strict=True):
        where = f"{cell.key.strip()}, "
        played.append(_replayed(cell, lengths, points, moves, where))
    rest = iter(played)
    scores = {part: score_of([next(rest) for _ in cells]) for part, cells in parts.items()}
    _compare(header["scores"], plain({part: vars(score) for part, score in scores.items()}))
    return Checked(header, commitment, task, scores)


def _unpacked(packed: bytes, cells: Sequence[Cell]) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Lengths, points (games, owners) and actions of each cell's games. Nothing larger than allowed is unpacked."""
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(packed, _MOST_UNPACKED)
    except zlib.error as error:
        raise TabletopError(f"its games are damaged ({error})") from None
    if not unpacker.eof or unpacker.unused_data:
        raise TabletopError(f"its games are incomplete, or unpack to more than {_MOST_UNPACKED // 1_000_000} MB")
    games = [len(cell.lineups) * cell.seeds for cell in cells]
    sizes = [number * cell.config.owners for number, cell in zip(games, cells, strict=True)]
    fixed = 2 * (sum(games) + sum(sizes))
    lengths = np.frombuffer(data[: 2 * sum(games)], "<u2").astype(np.int64) if len(data) >= fixed else np.zeros(0)
    if len(data) != fixed + lengths.sum() or len(data) < fixed:
        raise TabletopError(f"it has {len(data):,} bytes of games, not what {sum(games):,} games of these lengths take")
    points = np.frombuffer(data[2 * sum(games) : fixed], "<i2").astype(np.int64)
    by_cell = np.split(lengths, np.cumsum(games)[:-1])
    moves = np.split(np.frombuffer(data[fixed:], np.uint8), np.cumsum([one.sum() for one in by_cell])[:-1])
    owned = np.split(points, np.cumsum(sizes)[:-1])
    return [(own, of.reshape(len(own), -1), taken) for own, of, taken in zip(by_cell, owned, moves, strict=True)]


def _replayed(cell: Cell, lengths: np.ndarray, points: np.ndarray, moves: np.ndarray, where: str) -> Results:
    """Play the games of a cell again, all legal, each to its end. Raises TabletopError, which names the game."""
    rows = len(cell.lineups)
    seeds = np.repeat(seeds_from(cell.seed, cell.seeds), rows)
    starts = np.cumsum(lengths) - lengths
    config, places = cell.config, []
    for first in range(0, len(seeds), MAX_GAMES_AT_ONCE):
        part = slice(first, first + MAX_GAMES_AT_ONCE)
        own, start = lengths[part], starts[part]
        batch = Batch(config, len(own), seeds[part], autoreset="disabled", num_threads=1, editions=cell.editions)
        if cell.editions is not None:
            batch.reset(seeds[part], editions=seeds[part] % len(batch.editions))

        def refuse(games: np.ndarray, problem: str, base: int = first) -> None:
            if games.any():
                game = base + int(games.argmax())
                raise TabletopError(f"{where}game {game} (seed {seeds[game]}): {problem}")

        actions, row = np.zeros(len(own), np.int64), np.arange(len(own))
        for step in range(int(own.max())):
            on = own > step
            refuse(on & (batch.actors == NOBODY), f"is over after {step} actions, but more are recorded")
            actions[on] = moves[start[on] + step]
            lost = on & (actions == config.game.num_actions)
            playing = on & ~lost
            legal = playing & (actions < config.game.num_actions)
            legal[legal] = batch.action_masks[row[legal], actions[legal]] == 1
            refuse(playing & ~legal, f"action {step + 1} is not legal")
            if lost.any():
                batch.forfeit(lost)
            batch.step(np.where(playing, actions, 0), playing)
        refuse(batch.actors != NOBODY, "has not ended after its last action")
        ended = batch.states["points"][:, : config.owners]
        refuse((ended != points[part]).any(axis=1), "ends with other points than the file says")
        places.append(batch.places(batch.states)[:, : config.players].astype(np.int64))
    names = tuple(agent.name for agent in cell.agents)
    lineups = np.tile(cell.lineups, (cell.seeds, 1))
    return Results(config, names, cell.seed, points, np.concatenate(places), lengths, seeds=seeds, lineups=lineups)


def _compare(told: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Raise TabletopError if the table of a file is not that of its games."""
    for part, score in found.items():
        for key, value in score.items():
            said = told[part].get(key) if isinstance(told.get(part), dict) else None
            if not _same(said, value):
                raise TabletopError(f"{part}: its table has {key} {said!r:.80}, its games give {value}")
    if told.keys() != found.keys():
        raise TabletopError(f"its table must have the parts {', '.join(found)}")


def _same(told: Any, found: Any) -> bool:
    """Whether numbers agree to six digits: other processors and libraries may differ in the last ones."""
    if isinstance(found, dict):
        return isinstance(told, dict) and told.keys() == found.keys() and all(_same(told[k], found[k]) for k in found)
    return told == found or (isinstance(told, float) and isinstance(found, float) and abs(told - found) < 1e-6)


def _is_flat(values: dict[str, Any]) -> bool:
    kinds = (str, int, type(None))
    short = all(len(str(part)) <= LONGEST_TEXT for pair in values.items() for part in pair if isinstance(part, kinds))
    return len(values) <= 20 and short and all(isinstance(value, kinds) for value in values.values())


def _nobody(names: Sequence[str], config: Config) -> list[Agent]:
    """Agents that are never asked: the actions are recorded."""
    return [RandomAgent() for _ in names]


def checked_salt(salt: str) -> str:
    """The salt. Raises TabletopError for a text that no file can hold."""
    if not salt or len(salt) > LONGEST_TEXT or salt != shown(salt):
        raise TabletopError(f"salt={salt!r:.60}: must be 1 to {LONGEST_TEXT} printable characters")
    return salt
