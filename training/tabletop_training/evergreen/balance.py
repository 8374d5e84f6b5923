"""`evergreen balance`: equal seats, lengths of games, and what powers and boards are worth, over many boxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evergreen_env.component_files import COMPONENTS, KEYS
from evergreen_env.config import Config
from evergreen_env.game import GAME
from evergreen_env.state import POWER_NAMES, SOURCE_NAMES
from tabletop_agents import Agent
from tabletop_engine.boxes import MOST_BOXES
from tabletop_engine.checks import checked, whole
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.play import PlayListener, play
from tabletop_engine.play.scores import margins, win_shares
from tabletop_engine.seeds import EVALUATION, Stream, generator
from tabletop_engine.text.words import counted
from tabletop_training.evergreen.change_effects import ChangeEffects, Changes
from tabletop_training.files.job import Job, Stopped
from tabletop_training.files.plots import GREY, picture
from tabletop_training.files.settings import check_at_least_one
from tabletop_training.files.tables import (
    OnResult,
    flat,
    markdown_code,
    markdown_table,
    percentage_points,
    plain,
    signed,
    unheard,
    write_json,
    write_rows,
)
from tabletop_training.measure.evaluation import EVALUATION_SEED, MAX_GAMES_AT_ONCE
from tabletop_training.measure.matches import make_agents
from tabletop_training.measure.results import Estimate
from tabletop_training.measure.shapley import MOST_GROUPS, WAYS
from tabletop_training.measure.spread import LookUp, Spread, look_up_first, spread_of

PLAYERS = (2, 3, 4)
AGENT, BOXES, BOX_GAMES, EFFECT_GAMES = "policy:versus", 100, 20, 400

_ORDINALS = ("first", "second", "third", "fourth")
_RESAMPLES = 400
_SHOWN = 8
_SIZE_WORDS = {
    "decisions": "decisions of a game",
    "points": "points of a player",
    "lead": "the best ahead of the next",
    "spread": "the best ahead of the last",
}


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
    box_seeds = None if boxes is None else [EVALUATION.first + box for box in range(boxes)]
    which = np.repeat(np.arange(boxes or 1), games)
    parts: list[tuple[np.ndarray, ...]] = []
    drawn: tuple[Any, ...] = ()
    for start in range(0, number, MAX_GAMES_AT_ONCE):
        mine = np.arange(start, min(start + MAX_GAMES_AT_ONCE, number))
        batch = Batch(config, len(mine), seed + mine, autoreset="disabled", boxes=box_seeds)
        if boxes is not None:
            batch.reset(seed + mine, boxes=which[mine])
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


SIZES = ("decisions", "points", "lead", "spread")


def places(players: int) -> list[str]:
    """The names of the figures that are shares of games: one for each place in the first round's order."""
    return [f"won, {name} in order" for name in _ORDINALS[:players]]


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
class Balance:
    """What games with one number of players say, over the boxes.

    Attributes:
        figures: by name: the win rate of each place in the first round's order (`places`), decisions of a game, mean
            points of a player, how far the best is ahead of the next, and ahead of the last (`SIZES`).
        sources: mean points of a player by source.
        powers: how many points come with a level of a power, compared with the mean of the powers.
        look_up: which numbers the mean points depend on.
        changes: what each number of an overlay file does; None without one.
    """

    players: int
    figures: dict[str, Spread]
    sources: dict[str, float]
    powers: dict[str, Estimate]
    look_up: LookUp
    changes: ChangeEffects | None = None

    @property
    def seats(self) -> list[Spread]:
        """The win rate of each place."""
        return [self.figures[name] for name in places(self.players)]

    @classmethod
    def of(cls, games: Games, components: Any, seed: int, changes: ChangeEffects | None = None) -> Balance:
        """From games; `seed` is for the bootstraps."""
        chance = generator(seed, Stream.RANKS, games.players)
        shares = places(games.players)
        return cls(
            games.players,
            {name: spread_of(one, chance, shares=name in shares) for name, one in figures(games).items()},
            dict(zip(SOURCE_NAMES, games.scored.mean(axis=(0, 1, 2)).tolist(), strict=True)),
            powers_of(games, chance),
            look_up_first(
                games.points.mean(axis=-1).astype(float),
                games.boxes,
                COMPONENTS.load(components),
                COMPONENTS.stated,
                chance,
                texts=("board.rows",),
            ),
            changes,
        )


def powers_of(games: Games, chance: np.random.Generator) -> dict[str, Estimate]:
    """Points for a level of each power more than the others have, compared with the mean of the powers.

    By least squares within games. In each round everybody takes as many levels, so only how they are shared out tells
    anything: the six values sum to 0. The intervals are those of a bootstrap of the boxes. It is what comes with a
    level, not what a level would do: who plays well chooses well, too.
    """
    others = games.players - 1
    ahead = games.levels - (games.levels.sum(axis=2, keepdims=True) - games.levels) / others
    total = ahead.sum(axis=-1, keepdims=True)
    columns = np.concatenate((ahead - total / ahead.shape[-1], total), axis=-1)
    boxes = len(columns)
    x, y = columns.reshape(boxes, -1, columns.shape[-1]), games.margins.reshape(boxes, -1)
    squares, products = np.einsum("bij,bik->bjk", x, x), np.einsum("bij,bi->bj", x, y)

    def fitted(chosen: np.ndarray) -> np.ndarray:
        """Of the solutions the shortest, in which the values of the powers sum to 0."""
        found = np.linalg.lstsq(squares[chosen].sum(axis=0), products[chosen].sum(axis=0), rcond=1e-9)[0]
        return np.asarray(found[:-1])

    value = fitted(np.arange(boxes))
    again = np.array([fitted(chance.integers(boxes, size=boxes)) for _ in range(_RESAMPLES)])
    low, high = np.quantile(again, [0.025, 0.975], axis=0)
    ends = zip(POWER_NAMES, value, np.minimum(low, value), np.maximum(high, value), strict=True)
    return {name: Estimate(float(one), float(least), float(most)) for name, one, least, most in ends}


@checked
def main(
    agent: str = AGENT,
    players: Sequence[int] = PLAYERS,
    boxes: int = BOXES,
    box_games: int = BOX_GAMES,
    seed: int = EVALUATION_SEED,
    components: str | Path | None = None,
    effect_games: int | None = None,
    output: str | Path = "runs/balance",
    *,
    on_result: OnResult = unheard,
) -> Path:
    """Play games over many boxes, the same agent in every seat, and write a report, a picture and tables.

    Arguments:
        players: the numbers of players. boxes: how many boxes are drawn. box_games: games of each box and number of
            players. components: an overlay file, whose numbers are not drawn. effect_games: games of each number of
            players with each set of the file's changes, all other numbers as shipped, which tell what each change
            does; None means `EFFECT_GAMES`, 0 none. on_result: called with the content of `balance.json`.

    Returns the folder. Numbers of players that are done are kept after Ctrl-C. Raises ConfigError, CheckpointError and
    ComponentsError.
    """
    boxes = whole("boxes", boxes, 2, MOST_BOXES)
    check_at_least_one(box_games=box_games)
    if effect_games is not None and components is None:
        raise ConfigError(f"effect_games={effect_games}: only with components, a file that changes numbers")
    told_games = whole("effect_games", EFFECT_GAMES if effect_games is None else effect_games, 0)
    overlay = None if components is None else str(Path(components).resolve())
    configs = [Config(number, overlay) for number in dict.fromkeys(players)]
    if not configs or any(config.players < 2 for config in configs):
        raise ConfigError(f"players={list(players)}: must be numbers of at least 2")
    (who,) = make_agents([agent], configs[0])
    for config in configs[1:]:
        make_agents([agent], config)
    changes = Changes.of(overlay if told_games else None, seed)
    found: list[Balance] = []
    with Job(output) as job:
        with suppress(Stopped), job.bar("playing", float(len(configs))) as bar:
            for config in configs:
                bar.show(f"{counted(config.players, 'player')}, {boxes * box_games:,} games", len(found))
                games = play_boxes(who, config, boxes, box_games, seed, job.should_stop)

                def play_one(one: Config) -> dict[str, np.ndarray]:
                    same = play_boxes(who, one, None, told_games, seed, job.should_stop)
                    return {name: values[0] for name, values in figures(same).items()}

                effects = ChangeEffects.of(changes, config, play_one, frozenset(places(config.players)))
                found.append(Balance.of(games, overlay, seed, effects))
        if not found:
            job.console.print("Stopped early: nothing was kept.")
            return job.folder
        content = _write(job.folder, found, changes, agent, boxes, box_games, seed)
        job.console.print("\n".join(_seat_lines(found)))
        on_result(content)
    return job.folder


def _write(
    folder: Path, found: Sequence[Balance], changes: Changes, agent: str, boxes: int, box_games: int, seed: int
) -> dict[str, Any]:
    rows = [row for one in found for row in _rows(one)]
    write_rows(folder / "balance.csv", rows, form=".5g")
    _plot(folder / "seats.png", found)
    (folder / "report.md").write_text(_report(found, changes, agent, boxes, box_games, seed), encoding="utf-8")
    content: dict[str, Any] = plain(
        {
            "game": GAME.name,
            "agent": agent,
            "boxes": boxes,
            "box_games": box_games,
            "seed": seed,
            "package_version": GAME.version,
            "state_version": GAME.rules_version,
            "rows": rows,
            "powers": [{"players": one.players, **one.powers} for one in found],
            "look_up": [{"players": one.players, **asdict(it)} for one in found for it in one.look_up.numbers],
        }
    )
    if changed := [row for one in found for row in _change_rows(one)]:
        content["changes"] = plain(changed)
        write_rows(folder / "changes.csv", changed, form=".5g")
    write_json(folder / "balance.json", content)
    return content


def _rows(one: Balance) -> list[dict[str, Any]]:
    """A line for each figure."""
    return [
        {
            "players": one.players,
            "figure": name,
            "mean": told.mean.value,
            "low": told.mean.low,
            "high": told.mean.high,
            "median": told.median.value,
            "nine_tenths_low": told.nine_tenths[0].value,
            "nine_tenths_high": told.nine_tenths[1].value,
            "share_of_boxes": told.share.value,
        }
        for name, told in one.figures.items()
    ]


def _change_rows(one: Balance) -> list[dict[str, Any]]:
    """A line for each change and figure."""
    if one.changes is None:
        return []
    about = {"players": one.players, "games": one.changes.games}
    return [
        flat({**about, "keys": " ".join(keys), "figure": figure, **ways}) for keys, figure, ways in one.changes.told()
    ]


def _seat_lines(found: Sequence[Balance]) -> list[str]:
    lines = []
    for one in found:
        rates = ", ".join(f"{_ORDINALS[place]} {100 * seat.mean.value:.1f} %" for place, seat in enumerate(one.seats))
        lines.append(f"{counted(one.players, 'player')}: won by the {rates} in the first round's order.")
    return lines


def _report(found: Sequence[Balance], changes: Changes, agent: str, boxes: int, box_games: int, seed: int) -> str:
    name = markdown_code(agent)
    seats = [
        (
            counted(one.players, "player"),
            f"{_ORDINALS[place]}",
            f"{100 / one.players:.1f}",
            _shown(seat.mean, 100),
            *_ends(seat, 100),
        )
        for one in found
        for place, seat in enumerate(one.seats)
    ]
    sizes = [
        (
            counted(one.players, "player"),
            _SIZE_WORDS[which],
            _shown(told.mean),
            *_ends(told),
            f"{100 * told.share.value:.0f}",
        )
        for one in found
        for which in SIZES
        for told in [one.figures[which]]
    ]
    powers = [(power.replace("_", " "), *(_shown(one.powers[power], 1, 2) for one in found)) for power in POWER_NAMES]
    sources = [(source, *(f"{one.sources[source]:.1f}" for one in found)) for source in SOURCE_NAMES]
    heads = [counted(one.players, "player") for one in found]
    look_up = [
        (counted(one.players, "player"), _key(number.keys), _shown(number.index, 100))
        for one in found
        for number in one.look_up.numbers[:_SHOWN]
        if number.index.value > 0
    ]
    together = ", ".join(f"{counted(one.players, 'player')} {100 * one.look_up.together.value:.0f} %" for one in found)
    seat_heads = ("players", "place", "even share, %", "won, %", "median of the boxes", "nine tenths of them")
    size_heads = ("players", "what", "mean", "median of the boxes", "nine tenths of them", "variance between boxes, %")
    nothing = "No number explains any of it by itself."
    parts = [
        "# Evergreen: is it balanced?",
        f"{name} plays all seats of {boxes * box_games:,} games with each number of players: {box_games} with each"
        f" of {boxes} boxes, in which every number that nobody has read, the map and the deck are drawn from their"
        " ranges (`evergreen components --draw`). The chance of the games does not count as a difference between boxes."
        f" 95 % intervals; seeds from {seed}.",
        *_seat_lines(found),
        "## Seats",
        "By place in the first round's order. An even share would be the same for all.",
        "![Win rates by place in the first round's order](seats.png)",
        markdown_table(seat_heads, seats, left=2),
        "## Length and points",
        markdown_table(size_heads, sizes, left=2),
        "## Where the points come from",
        markdown_table(("source", *heads), sources),
        "## What comes with a power",
        "Points that a player is ahead for a level of this power more than the others have, and of another power less:"
        " compared with the mean of all powers, within games. It is what comes with a level and not what a level does:"
        " who plays well chooses well, too.",
        markdown_table(("power", *heads), powers),
        "## Board, deck and flags",
        "How much of the spread of the mean points between boxes goes if the board, the deck or a flag is known, by"
        f" itself; all together predict: {together}.",
        markdown_table(("players", "what", "share of the spread, %"), look_up, left=2) if look_up else nothing,
        *_change_section(found, changes),
    ]
    return "\n\n".join(parts) + "\n"


def _change_section(found: Sequence[Balance], changes: Changes) -> list[str]:
    """What each number of an overlay file does; why nothing is said where there are too many."""
    number = len(changes.groups)
    if number and changes.plan is None:
        return [f"The file changes {number} numbers. What each of them does is told for at most {MOST_GROUPS}."]
    rows = [
        (
            ", ".join(f"{markdown_code(key)} ({KEYS[key].meaning})" for key in keys),
            counted(one.players, "player"),
            _SIZE_WORDS.get(figure, f"{figure}, %"),
            *((signed if figure in SIZES else percentage_points)(told[way]) for way in WAYS),
        )
        for one in found
        if one.changes is not None
        for keys, figure, told in one.changes.told()
    ]
    if not rows:
        return []
    games = max(one.changes.games for one in found if one.changes is not None)
    text = (
        f"From {games:,} games of each number of players with each set of changes, always with the same seeds, and with"
        " all other numbers as shipped. *Alone* is the change by itself. *Last* is the same change when all others of"
        " the file are made already. *Its part* is the mean over the orders in which the changes can be made (the"
        " Shapley value): the parts of all changes sum to what the whole file does."
    )
    heads = ("change", "players", "what", "alone", "last", "its part")
    return ["## What each change does", text, markdown_table(heads, rows, left=3)]


def _key(keys: Sequence[str]) -> str:
    return "the icons of the deck" if len(keys) > 1 else f"{markdown_code(keys[0])} ({KEYS[keys[0]].meaning})"


def _shown(estimate: Estimate, factor: float = 1.0, digits: int = 1) -> str:
    value, low, high = (factor * one for one in estimate)
    return f"{value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def _ends(told: Spread, factor: float = 1.0) -> tuple[str, str]:
    low, high = (factor * end.value for end in told.nine_tenths)
    return f"{factor * told.median.value:.1f}", f"{low:.1f} to {high:.1f}"


def _plot(path: Path, found: Sequence[Balance]) -> None:
    """Win rates by place in the first round's order: means with intervals, and nine tenths of the boxes."""
    shape: Any = {"figsize": (3.2 * len(found) + 1, 3.2), "sharey": True, "squeeze": False}
    with picture(path, "Won, by place in the first round's order", 1, len(found), **shape) as (_, panels):
        for axes, one in zip(panels[0], found, strict=True):
            places = np.arange(one.players)
            low, high = ([100 * seat.nine_tenths[end].value for seat in one.seats] for end in (0, 1))
            axes.vlines(places, low, high, color=GREY, linewidth=5, alpha=0.5)
            value, least, most = np.array([[100 * end for end in seat.mean] for seat in one.seats]).T
            bars = np.clip([value - least, most - value], 0, None)
            axes.errorbar(places, value, yerr=bars, fmt="o", color="#0072B2")
            axes.axhline(100 / one.players, color=GREY, linewidth=1, linestyle="--")
            axes.set_xticks(places, _ORDINALS[: one.players])
            axes.set_xlim(-0.5, one.players - 0.5)
            axes.set_title(counted(one.players, "player"))
        panels[0][0].set_ylabel("%; grey: nine tenths of the boxes")
