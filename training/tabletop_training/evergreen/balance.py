"""`evergreen balance`: equal seats, lengths of games, and what powers and boards are worth, over many editions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from evergreen_env.component_files import COMPONENTS, KEYS
from evergreen_env.game import GAME
from evergreen_env.state import POWER_NAMES, SOURCE_NAMES
from tabletop_agents import check_trusted
from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.tables import editions_of
from tabletop_engine.seeds import EVALUATION, Stream, edition_seeds, generator
from tabletop_engine.text.words import counted
from tabletop_training.evergreen.balance_games import (
    FIELDS,
    ORDINALS,
    SIZES,
    Study,
    figures,
    places,
)
from tabletop_training.files.job import Stopped, refuse_with_resume
from tabletop_training.files.plots import BLUE, GREY, error_bars, picture
from tabletop_training.files.provenance import agent_hashes, software
from tabletop_training.files.tables import (
    OnResult,
    format_estimate,
    ignore,
    markdown_code,
    markdown_table,
    plain,
    write_json,
    write_rows,
)
from tabletop_training.measure.changes import ChangeEffect, Changes
from tabletop_training.measure.course import rows_of, section
from tabletop_training.measure.evaluation import EVALUATION_SEED, HERE, Workers
from tabletop_training.measure.matches import make_agents
from tabletop_training.measure.results import Estimate, Results
from tabletop_training.measure.shapley import WAYS
from tabletop_training.measure.spread import LookUp, Spread, by_edition, few_editions, look_up_first, spread_of
from tabletop_training.study.play import finished_cells
from tabletop_training.study.settings import job_of, kept_settings

USUAL: Mapping[str, Any] = {
    "agent": "policy:versus",
    "players": (2, 3, 4),
    "editions": 100,
    "edition_games": 20,
    "effect_games": 400,
    "seed": EVALUATION_SEED,
}
"""What a study plays unless it is told otherwise."""

_written = partial(format_estimate, interval="to")
_percent = partial(_written, factor=100)
_RESAMPLES = 400
_SHOWN = 8
_SIZE_WORDS = {
    "decisions": "decisions in a game",
    "points": "points of a player",
    "lead": "points between the best and the next",
    "spread": "points between the best and the last",
}


@dataclass(frozen=True)
class Balance:
    """What the games with one number of players show, over all editions.

    Attributes:
        figures: by name: the win rate of each place in the first round's order (`places`), decisions of a game, mean
            points of a player, how far the best is ahead of the next, and ahead of the last (`SIZES`).
        sources: mean points of a player by source.
        powers: how many points come with a level of a power, compared with the mean of the powers.
        look_up: which numbers the mean points depend on.
        changes: what each number of an overlay file does; none without an overlay file.
    """

    players: int
    figures: dict[str, Spread]
    sources: dict[str, float]
    powers: dict[str, Estimate]
    look_up: LookUp
    changes: Sequence[ChangeEffect] = ()

    @property
    def seats(self) -> list[Spread]:
        """The win rate of each place."""
        return [self.figures[name] for name in places(self.players)]

    @classmethod
    def of(cls, results: Results, study: Study, changes: Sequence[ChangeEffect] = ()) -> Balance:
        """From games of the study over editions. The study's seed is also the seed of the bootstraps."""
        players, values = results.config.players, figures(results)
        chance = generator(study.seed, Stream.RANKS, players)
        levels = by_edition(results, results.fields["level"][:, :players].astype(np.int64))
        return cls(
            players,
            {name: spread_of(one, chance, shares=name in places(players)) for name, one in values.items()},
            dict(zip(SOURCE_NAMES, results.scored[:, :players].mean(axis=(0, 1)).tolist(), strict=True)),
            powers_of(levels, by_edition(results, results.margins_by_seat), chance),
            look_up_first(
                values["points"],
                list(map(dict, results.editions)),
                COMPONENTS.load(study.components),
                COMPONENTS.stated,
                chance,
                texts=("board.rows",),
                configs=[GAME.config(players, study.components)],
            ),
            changes,
        )


def powers_of(levels: np.ndarray, margins: np.ndarray, chance: np.random.Generator) -> dict[str, Estimate]:
    """Points for one more level of each power than the others have, compared with the mean of the powers.

    Fitted by least squares within games. All players take the same number of levels in each round, so only their
    distribution over the powers counts: the six values sum to 0. The intervals come from a bootstrap of the editions.
    The values tell what comes with a level, not what a level causes: players who play well also choose well.

    `levels` are (editions, games, players, powers) int64, `margins` (editions, games, players) float64, by seat.
    """
    ahead = levels - (levels.sum(axis=2, keepdims=True) - levels) / (levels.shape[2] - 1)
    total = ahead.sum(axis=-1, keepdims=True)
    columns = np.concatenate((ahead - total / ahead.shape[-1], total), axis=-1)
    editions = len(columns)
    x, y = columns.reshape(editions, -1, columns.shape[-1]), margins.reshape(editions, -1)
    squares, products = np.einsum("bij,bik->bjk", x, x), np.einsum("bij,bi->bj", x, y)

    def fitted(chosen: np.ndarray) -> np.ndarray:
        """The shortest of the solutions: in it the values of the powers sum to 0."""
        found = np.linalg.lstsq(squares[chosen].sum(axis=0), products[chosen].sum(axis=0), rcond=1e-9)[0]
        return np.asarray(found[:-1])

    value = fitted(np.arange(editions))
    again = np.array([fitted(chance.integers(editions, size=editions)) for _ in range(_RESAMPLES)])
    low, high = np.quantile(again, [0.025, 0.975], axis=0)
    ends = zip(POWER_NAMES, value, np.minimum(low, value), np.maximum(high, value), strict=True)
    return {name: Estimate(float(one), float(least), float(most)) for name, one, least, most in ends}


@checked
def main(
    agent: str | None = None,
    players: Sequence[int] | None = None,
    editions: int | None = None,
    edition_games: int | None = None,
    seed: int | None = None,
    components: str | Path | None = None,
    effect_games: int | None = None,
    output: str | Path | None = None,
    *,
    resume: str | Path | None = None,
    workers: Workers | int = HERE,
    on_result: OnResult = ignore,
) -> Path:
    """Play games over many editions, the same agent in every seat, and write a report, a picture and tables.

    Arguments:
        agent, players, editions, edition_games, seed: who plays; the numbers of players; how many editions are drawn;
            games of each edition and number of players; the first seed. None means those of `USUAL`.
        components: an overlay file; its numbers are not drawn. effect_games: how many games tell what each change of
            the file does, for each number of players and set of changes, with all other numbers as shipped; None
            means those of `USUAL`, 0 none.
        resume: the folder of a study to go on with; it keeps its settings.

    After Ctrl-C the report covers the numbers of players that are finished. All else is as in
    `tabletop_training.measure`.
    """
    given: dict[str, Any] = {"agent": agent, "players": players, "editions": editions, "edition_games": edition_games}
    given |= {"seed": seed, "effect_games": effect_games}
    if resume is not None:
        refuse_with_resume("nothing else", **given, components=components, output=output)
        study = kept_settings(resume, "balance", GAME, Study)
        check_trusted(resume, [study.agent], [], option="the agent ")
    else:
        if effect_games is not None and components is None:
            raise ConfigError(f"effect_games={effect_games}: only with components, a file that changes numbers")
        overlay = COMPONENTS.config_value(components)
        asked = {**USUAL, **{name: value for name, value in given.items() if value is not None}}
        asked["players"] = tuple(dict.fromkeys(asked["players"]))
        study = Study(**{**asked, "effect_games": 0 if overlay is None else asked["effect_games"]}, components=overlay)
    configs = study.configs
    player, *_ = [make_agents([study.agent], config)[0] for config in configs]
    editions_of(configs[0], edition_seeds(EVALUATION, study.editions))  # refuses ranges that never fit
    changes = Changes.of(COMPONENTS, study.components if study.effect_games else None, study.seed)
    cells = [study.cells(player, config, changes) for config in configs]
    folder, resumed = resume or output or "runs/balance", resume is not None
    with job_of("balance", GAME, folder, asdict(study), resumed=resumed) as (job, store):
        every = [cell for own in cells for cell in own.values()]
        finished = finished_cells(job, every, store, workers, record_fields=FIELDS)
        found: list[Balance] = []
        for own in cells:
            if not all(cell in finished for cell in own.values()):
                continue
            by_set = {
                chosen: {name: values for name, (values,) in figures(finished[cell]).items()}
                for chosen, cell in own.items()
                if chosen is not None
            }
            effects = changes.effects(by_set, places(own[None].config.players)) if by_set else ()
            found.append(Balance.of(finished[own[None]], study, effects))
        if not found:
            raise Stopped
        played = (finished[own[None]] for own in cells if own[None] in finished)
        courses = rows_of((study.agent, counted(one.config.players, "player"), one) for one in played)
        content = _write(job.folder, found, study, changes, courses)
        job.console.print("\n".join(_seat_lines(found)))
        on_result(content)
    return job.folder


def _write(
    folder: Path, found: Sequence[Balance], study: Study, changes: Changes, courses: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    rows = [row for one in found for row in _rows(one)]
    write_rows(folder / "balance.csv", rows, form=".5g")
    _plot(folder / "seats.png", found)
    (folder / "report.md").write_text(_report(found, study, changes, courses), encoding="utf-8")
    content: dict[str, Any] = plain(
        {
            **software(GAME),
            "checkpoints": agent_hashes([study.agent], GAME),
            **asdict(study),
            "rows": rows,
            "powers": [{"players": one.players, **one.powers} for one in found],
            "look_up": [{"players": one.players, **asdict(it)} for one in found for it in one.look_up.numbers],
            "courses": courses,
        }
    )
    if changed := [
        effect.row("figure", players=one.players, games=study.effect_games) for one in found for effect in one.changes
    ]:
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
            "mean": spread.mean.value,
            "low": spread.mean.low,
            "high": spread.mean.high,
            "median": spread.median.value,
            "nine_tenths_low": spread.nine_tenths[0].value,
            "nine_tenths_high": spread.nine_tenths[1].value,
            "share_of_editions": spread.share.value,
        }
        for name, spread in one.figures.items()
    ]


def _seat_lines(found: Sequence[Balance]) -> list[str]:
    lines = []
    for one in found:
        first, *others = (f"{100 * seat.mean.value:.1f} %" for seat in one.seats)
        rest = "".join(f", the {name} {rate}" for name, rate in zip(ORDINALS[1:], others, strict=False))
        order = "the first in the first round's order"
        lines.append(f"{counted(one.players, 'player')}: {order} won {first} of the games{rest}.")
    return lines


def _report(found: Sequence[Balance], study: Study, changes: Changes, courses: Sequence[Mapping[str, Any]]) -> str:
    name, editions, edition_games = markdown_code(study.agent), study.editions, study.edition_games
    seats = [
        (
            counted(one.players, "player"),
            f"{ORDINALS[place]}",
            f"{100 / one.players:.1f}",
            _percent(seat.mean),
            *_ends(seat, 100),
        )
        for one in found
        for place, seat in enumerate(one.seats)
    ]
    sizes = [
        (
            counted(one.players, "player"),
            _SIZE_WORDS[which],
            _written(spread.mean),
            *_ends(spread),
            f"{100 * spread.share.value:.0f}",
        )
        for one in found
        for which in SIZES
        for spread in [one.figures[which]]
    ]
    powers = [
        (power.replace("_", " "), *(_written(one.powers[power], form=".2f") for one in found)) for power in POWER_NAMES
    ]
    sources = [(source, *(f"{one.sources[source]:.1f}" for one in found)) for source in SOURCE_NAMES]
    heads = [counted(one.players, "player") for one in found]
    look_up = [
        (counted(one.players, "player"), _key(number.keys), _percent(number.index))
        for one in found
        for number in one.look_up.numbers[:_SHOWN]
        if number.index.value > 0
    ]
    together = ", ".join(f"{counted(one.players, 'player')} {100 * one.look_up.together.value:.0f} %" for one in found)
    seat_heads = ("players", "place", "even share, %", "won, %", "median edition", "nine tenths of the editions")
    size_heads = (
        "players",
        "what",
        "mean",
        "median edition",
        "nine tenths of the editions",
        "variance between editions, %",
    )
    nothing = "No number explains any of it by itself."
    few = few_editions(editions)
    board = [
        "## Board, deck and flags",
        "How much of the spread of the mean points between editions is explained by the board, the deck or a flag"
        f" alone. All of them together explain: {together}.",
        markdown_table(("players", "what", "share of the spread, %"), look_up, left=2) if look_up else nothing,
    ]
    parts = [
        "# Evergreen: is it balanced?",
        f"{name} plays all seats of {editions * edition_games:,} games with each number of players: {edition_games}"
        f" with each of {editions} editions. In each edition the map, the deck and every number that nobody has read"
        " are drawn from their ranges (`evergreen components --draw`). Differences between editions do not include"
        f" the chance of single games. Intervals are 95 %; seeds begin at {study.seed}.",
        *([few] if few else []),
        *_seat_lines(found),
        "## Seats",
        "Win rates by place in the first round's order. In a balanced game every place wins its even share.",
        "![Win rates by place in the first round's order](seats.png)",
        markdown_table(seat_heads, seats, left=2),
        "## Length and points",
        markdown_table(size_heads, sizes, left=2),
        "## Where the points come from",
        markdown_table(("source", *heads), sources),
        "## What comes with a power",
        "How many points further ahead a player ends with one more level of this power than the others have, compared"
        " with one more level of an average power in the same game. The figures tell what comes with a level, not what"
        " a level causes: players who play well also choose well.",
        markdown_table(("power", *heads), powers),
        *section(courses),
        *([] if few else board),
        *_change_section(found, study, changes),
    ]
    return "\n\n".join(parts) + "\n"


def _change_section(found: Sequence[Balance], study: Study, changes: Changes) -> list[str]:
    """What each number of an overlay file does, or that there are too many to tell."""
    if changes.too_many:
        return [changes.too_many]
    rows = [
        (
            changes.title(keys),
            counted(one.players, "player"),
            _SIZE_WORDS.get(figure, figure),
            *(_written(ways[way], factor=1 if figure in SIZES else 100, sign="+") for way in WAYS),
        )
        for one in found
        for keys, figure, ways in one.changes
        if (one.players, figure) != (2, "spread")  # the next is the last
    ]
    if not rows:
        return []
    games = study.effect_games
    start = (
        f"For each number of players, {games:,} games were played with each set of changes, always with the same seeds."
        " All other numbers are as shipped. Wins are in percentage points."
    )
    heads = ("change", "players", "what", "alone", "last", "its part")
    return ["## What each change does", start, *changes.explained, markdown_table(heads, rows, left=3)]


def _key(keys: Sequence[str]) -> str:
    return "the icons of the deck" if len(keys) > 1 else f"{markdown_code(keys[0])} ({KEYS[keys[0]].meaning})"


def _ends(spread: Spread, factor: float = 1.0) -> tuple[str, str]:
    if few_editions(spread.editions):
        return "–", "–"
    median, *ends = (_written(one, factor=factor) for one in (spread.median, *spread.nine_tenths))
    return median, " to ".join(ends)


def _plot(path: Path, found: Sequence[Balance]) -> None:
    """Win rates by place in the first round's order: means with intervals, and nine tenths of the editions."""
    shape: Any = {"figsize": (3.2 * len(found) + 1, 3.2), "sharey": True, "squeeze": False}
    with picture(path, "Won, by place in the first round's order", 1, len(found), **shape) as (_, panels):
        for axes, one in zip(panels[0], found, strict=True):
            places = np.arange(one.players)
            low, high = ([100 * seat.nine_tenths[end].value for seat in one.seats] for end in (0, 1))
            if not few_editions(one.seats[0].editions):
                axes.vlines(places, low, high, color=GREY, linewidth=5, alpha=0.5)
            value, *ends = 100 * np.array([seat.mean for seat in one.seats]).T
            axes.errorbar(places, value, yerr=error_bars(value, *ends), fmt="o", color=BLUE)
            axes.axhline(100 / one.players, color=GREY, linewidth=1, linestyle="--")
            axes.set_xticks(places, ORDINALS[: one.players])
            axes.set_xlim(-0.5, one.players - 0.5)
            axes.set_title(counted(one.players, "player"))
        panels[0][0].set_ylabel("%; grey: nine tenths of the editions")
