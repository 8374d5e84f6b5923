"""The games of `evergreen balance`: of many boxes and of changed numbers, kept so that a study can go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from evergreen_env.config import Config
from evergreen_env.game import GAME
from evergreen_env.state import POWER_NAMES, SOURCE_NAMES
from tabletop_agents import Agent
from tabletop_engine.boxes import MOST_BOXES
from tabletop_engine.checks import whole
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.play import PlayListener, play
from tabletop_engine.play.scores import margins, win_shares
from tabletop_engine.seeds import EVALUATION, Stream, box_seeds, generator
from tabletop_training.files.job import Stopped, kept_settings
from tabletop_training.files.trees import load_tree, save_tree
from tabletop_training.measure.evaluation import MAX_GAMES_AT_ONCE
from tabletop_training.measure.plays import agent_hash, tables_hash

ORDINALS = ("first", "second", "third", "fourth")
GAMES_FILE = "games.zip"


SIZES = ("decisions", "points", "lead", "spread")


def places(players: int) -> list[str]:
    """The names of the figures that are shares of games: one for each place in the first round's order."""
    return [f"won, {name} in order" for name in ORDINALS[:players]]


def figures(games: Games) -> dict[str, np.ndarray]:
    """The figures of each game by name, (K, G) float64: `places`, then `SIZES`."""
    ordered = np.sort(games.points, axis=-1)
    sizes = (
        games.decisions.astype(float),
        games.points.mean(axis=-1),
        (ordered[..., -1] - ordered[..., -2]).astype(float),
        (ordered[..., -1] - ordered[..., 0]).astype(float),
    )
    won = {name: games.won[..., place] for place, name in enumerate(places(games.players))}
    return won | dict(zip(SIZES, sizes, strict=True))


@dataclass(frozen=True)
class Games:
    """Finished games of K boxes, G games each, with the same agent in all P seats. All arrays begin with (K, G).

    Attributes:
        won: (…, P) float64, shares of the victory by place in the first round's order.
        points: (…, P) int64, by seat.
        margins: (…, P) float64, own points less the mean of the others', by seat.
        levels: (…, P, powers) int64, by seat.
        scored: (…, P, sources) int64, by seat.
        decisions: (…,) int64.
        boxes: the numbers of each box.
    """

    players: int
    won: np.ndarray
    points: np.ndarray
    margins: np.ndarray
    levels: np.ndarray
    scored: np.ndarray
    decisions: np.ndarray
    boxes: tuple[dict[str, Any], ...]


class _Counting(PlayListener):
    """Counts the decisions of each game."""

    def __init__(self, games: int) -> None:
        self.decisions = np.zeros(games, np.int64)

    def on_step(self, which: np.ndarray) -> None:
        self.decisions += which


def play_boxes(
    agent: Agent, config: Config, boxes: int | None, games: int, seed: int, should_stop: Callable[[], bool]
) -> Games:
    """Play so many games of each box, whose seeds are those of reports; None plays one box, the configuration's own.

    Raises Stopped.
    """
    players, number = config.players, (boxes or 1) * games
    drawn_from = None if boxes is None else box_seeds(EVALUATION, boxes)
    parts: list[tuple[np.ndarray, ...]] = []
    drawn: tuple[Any, ...] = ()
    for start in range(0, number, MAX_GAMES_AT_ONCE):
        mine = np.arange(start, min(start + MAX_GAMES_AT_ONCE, number))
        batch = Batch(config, len(mine), seed + mine, autoreset="disabled", boxes=drawn_from)
        if boxes is not None:
            batch.reset(seed + mine, boxes=mine // games)
            drawn = batch.boxes
        counting = _Counting(len(mine))
        first = batch.states["first_player"].astype(np.int64)
        chance = [generator(seed + start, Stream.AGENTS, seat) for seat in range(players)]
        lineups = np.tile(np.arange(players), (len(mine), 1))
        if not play([agent] * players, batch, lineups, chance, listeners=[counting], should_stop=should_stop):
            raise Stopped
        states = batch.states
        order = (first[:, None] + np.arange(players)) % players
        won = np.take_along_axis(win_shares(batch.places(states))[:, :players], order, axis=1)
        points = states["points"][:, :players].astype(np.int64)
        levels = states["level"][:, :players].astype(np.int64)
        scored = states["scored"][:, :players].astype(np.int64)
        parts.append((won, points, margins(points), levels, scored, counting.decisions))
    joined = [np.concatenate(part) for part in zip(*parts, strict=True)]
    won, points, ahead, levels, scored, decisions = (one.reshape(-1, games, *one.shape[1:]) for one in joined)
    return Games(players, won, points, ahead, levels, scored, decisions, tuple(map(dict, drawn)))


@dataclass(frozen=True)
class Study:
    """What is played. `settings.json` holds it, and resuming checks it.

    Attributes:
        agent: it has every seat.
        players: the numbers of players.
        boxes, box_games: how many boxes are drawn, and the games of each box and number of players.
        effect_games: of each number of players and set of the changes of an overlay file; 0 for none.
        seed: of the first game.
        components: as in `Config`.
        file: SHA-256 of the agent's checkpoint, if it has one.
        tables: SHA-256 of the numbers on the pieces, and of those of all boxes.

    Raises ConfigError for other values.
    """

    agent: str
    players: tuple[int, ...]
    boxes: int
    box_games: int
    effect_games: int
    seed: int
    components: str | None
    file: str | None = None
    tables: str = ""
    package_version: str = GAME.version
    state_version: int = GAME.rules_version

    def __post_init__(self) -> None:
        whole("boxes", self.boxes, 2, MOST_BOXES)
        whole("box_games", self.box_games, 1)
        whole("effect_games", self.effect_games, 0)
        whole("seed", self.seed, 0, 2**32 - 1)
        for name, value in (("agent", self.agent), ("components", self.components or "")):
            if not isinstance(value, str):
                raise ConfigError(f"{name}={value!r:.80}: must be a text")
        if not self.players or any(config.players < 2 for config in self.configs):
            raise ConfigError(f"players={list(self.players)!r:.80}: must be numbers of at least 2")

    @property
    def configs(self) -> list[Config]:
        """The configurations that are played over boxes, by numbers of players."""
        return [Config(number, self.components) for number in self.players]

    @property
    def tables_now(self) -> str:
        """What `tables` must be, with the files and ranges as they are now."""
        return tables_hash(self.configs[0], box_seeds(EVALUATION, self.boxes))

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The study of a folder.

        Raises TabletopError if there is none, or if its rules, numbers or checkpoint differ from today's.
        """
        today = {"package_version": GAME.version, "state_version": GAME.rules_version}
        study = kept_settings(folder, "study", lambda read: cls(**{**read, "players": tuple(read["players"])}), **today)
        if study.tables != study.tables_now:
            raise TabletopError(f"{folder}: its games were played with other numbers on the pieces")
        if study.file != agent_hash(study.agent, GAME):
            raise TabletopError(f"{folder}: the checkpoint of {study.agent} is another one than its games used")
        return study


class KeptGames:
    """The games of a study by name; those that are in its folder's `games.zip` are not played again.

    Raises TabletopError for a file that has no such games.
    """

    def __init__(self, folder: Path, study: Study, agent: Agent, should_stop: Callable[[], bool]) -> None:
        self._path, self._study, self._agent, self._should_stop = folder / GAMES_FILE, study, agent, should_stop
        tree: Any = load_tree(self._path) if self._path.exists() else {}
        if not isinstance(tree, dict):
            raise self._strange()
        self._arrays: dict[str, Any] = tree

    def __len__(self) -> int:
        return len(self._arrays)

    def _strange(self) -> TabletopError:
        return TabletopError(f"{self._path}: not the games of this study; start anew, with another --output")

    def games(self, name: str, config: Config, boxes: int | None, games: int) -> Games:
        """Games as `play_boxes` plays them, and keeps them under this name. Raises Stopped."""
        if name not in self._arrays:
            played = play_boxes(self._agent, config, boxes, games, self._study.seed, self._should_stop)
            self._arrays[name] = {one: getattr(played, one) for one in _kinds(config.players)}
            save_tree(self._path, self._arrays)
            return played
        kept, kinds = self._arrays[name], _kinds(config.players)
        if not isinstance(kept, dict) or kept.keys() != kinds.keys():
            raise self._strange()
        for field, (dtype, shape) in kinds.items():
            array = kept[field]
            fits = isinstance(array, np.ndarray) and array.dtype == dtype
            if not fits or array.shape != (boxes or 1, games, *shape):
                raise self._strange()
        drawn = () if boxes is None else Batch(config, 1, boxes=box_seeds(EVALUATION, boxes)).boxes
        return Games(config.players, **kept, boxes=tuple(map(dict, drawn)))


def _kinds(players: int) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
    """The arrays of `Games`: dtypes, and shapes after (K, G)."""
    real, number = np.dtype(np.float64), np.dtype(np.int64)
    return {
        "won": (real, (players,)),
        "points": (number, (players,)),
        "margins": (real, (players,)),
        "levels": (number, (players, len(POWER_NAMES))),
        "scored": (number, (players, len(SOURCE_NAMES))),
        "decisions": (number, ()),
    }
