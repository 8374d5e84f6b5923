"""Pictures of the difficulty report, drawn without a display and readable without colour vision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm, to_rgb
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter

from petrichor_env import words
from petrichor_env.config import VARIANTS
from petrichor_env.state import SOURCE_NAMES
from tabletop_engine.text.words import spelled
from tabletop_training.files.plots import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    error_bars,
    legend,
    looks,
    picture,
    without_frame,
)
from tabletop_training.files.tables import agent_title
from tabletop_training.measure.results import NO_ESTIMATE, mean_estimate, wilson_interval
from tabletop_training.petrichor.summaries import ALL_VARIANTS, Summary, games_each, set_name
from tabletop_training.petrichor.variant_effects import Pairs, Sets, contrast, effects

VARIANT_TITLES = {name: name.replace("_", " ").capitalize() for name in VARIANTS} | {
    "non_random_targets": "Non-random targeting",
    "no_more_tricks": "No More Tricks",
    "one_more_turn": "One More Turn",
}
"""The variants as the rulebook calls them."""

_DOT: Any = {"markersize": 5.5, "elinewidth": 1.4}
# Paul Tol's "muted" scheme, with two of "light" for rare sources
_SOURCE_COLOURS = {
    "wheat": "#DDCC77",
    "wheat_tokens": "#999933",
    "potato": "#882255",
    "cotton": "#88CCEE",
    "grass": "#117733",
    "coffee": "#332288",
    "rice": "#44AA99",
    "cactus": "#EE8866",
    "voting_wins": "#CC6677",
    "dice": "#AA4499",
    "cards": "#BBBBBB",
}


def source_title(source: str) -> str:
    """The name of a `state.Source` in reports. Without the forecasts module, its cards score only as idle cards."""
    return "idle cards" if source == "cards" else words.source_title(source)


def set_title(variants: Iterable[str]) -> str:
    """`Double card + One More Turn`, `base game`, `all four variants`."""
    names = tuple(variants)
    if len(names) == len(VARIANTS):
        return f"all {spelled(len(VARIANTS))} variants"
    return " + ".join(VARIANT_TITLES[name] for name in names) or "base game"


def title_at(index: int) -> str:
    """The title of the set with this index in `ALL_VARIANTS`."""
    return set_title(ALL_VARIANTS[index])


def sources_of(sets: Iterable[Sets]) -> list[int]:
    """The sources (`state.Source`) that gave anybody points, harvests first, in the order of their colours."""
    scoring = np.sum([one.scored.sum(axis=(0, 1, 2)) for one in sets], axis=0) > 0
    ordered = [SOURCE_NAMES.index(name) for name in _SOURCE_COLOURS]
    rest = [source for source in range(len(SOURCE_NAMES)) if source not in ordered]
    return [source for source in (*ordered, *rest) if scoring[source]]


def plot_difficulty(path: Path, summaries: Sequence[Summary]) -> None:
    """Win rate and margin of every agent with every set of variants, with 95 % intervals.

    Rows are sets of variants, a filled dot for each variant played with, in the order of their first summary.
    """
    sets = list(dict.fromkeys(summary.variants for summary in summaries))
    agents = list(dict.fromkeys(summary.agent for summary in summaries))
    rows = {name: row for row, name in enumerate(sets)}
    title = f"How hard are the Southern Winds? {games_each(summaries)} a dot, 95 % intervals"
    size = (11, 2.1 + max(0.36, 0.12 * len(agents)) * max(len(sets), 4))
    with picture(path, title, 1, 3, figsize=size, sharey=True, width_ratios=(0.9, 3, 3)) as (figure, panels):
        key, left, right = panels
        for i, agent in enumerate(agents):
            colour, marker = looks(agents)[agent]
            own = [summary for summary in summaries if summary.agent == agent]
            offset = (i - (len(agents) - 1) / 2) * min(0.24, 0.8 / len(agents))
            y = np.array([rows[summary.variants] for summary in own]) + offset
            for axes, values in ((left, [one.win_rate for one in own]), (right, [one.margin for one in own])):
                estimates = np.array(values).T
                bars = error_bars(*estimates)
                axes.errorbar(estimates[0], y, xerr=bars, fmt=marker, color=colour, label=agent_title(agent), **_DOT)
        draw_key(key, sets)
        _win_rates(left, "Win rate")
        right.set_title("Margin: points ahead of the neutral player")
        _zero(right)
        for axes in (left, right):
            _plain_rows(axes, len(sets))
            _stripe(axes, range(0, len(sets), 2))
        legend(figure, left, len(agents))


def _zero(axes: Axes) -> None:
    axes.axvline(0, color=GREY, linewidth=1)


def _stripe(axes: Axes, rows: Iterable[int]) -> None:
    for row in rows:
        axes.axhspan(row - 0.5, row + 0.5, color="#F2F2F2", zorder=0, linewidth=0)


def _win_rates(axes: Axes, title: str) -> None:
    axes.set_title(title)
    axes.set_xlim(-0.02, 1.02)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))


def _plain_rows(axes: Axes, number: int, titles: Sequence[str] | None = None) -> None:
    """Set up this many rows, the first on top, without lines; None leaves out the titles."""
    if titles is not None:
        axes.set_yticks(range(number), titles)
    axes.set_ylim(number - 0.5, -0.5)
    axes.tick_params(axis="y", length=0, labelleft=titles is not None)
    axes.grid(axis="y", visible=False)


def draw_key(axes: Axes, sets: Sequence[str]) -> None:
    """Draw the variants of each row."""
    for row, name in enumerate(sets):
        chosen = [column for column, variant in enumerate(VARIANTS) if variant in name.split("+")]
        axes.scatter(range(len(VARIANTS)), [row] * len(VARIANTS), s=34, color="#D9D9D9", zorder=2)
        axes.scatter(chosen, [row] * len(chosen), s=34, color=INK, zorder=3)
    titles = [name.replace("non_", "non-").replace("_", " ") for name in VARIANTS]
    axes.set_xticks(range(len(VARIANTS)), titles, rotation=45, ha="left")
    axes.xaxis.tick_top()
    axes.tick_params(labelleft=False)
    axes.set_xlim(-0.6, len(VARIANTS) - 0.4)
    without_frame(axes)


def plot_heat_map(path: Path, summaries: Sequence[Summary]) -> None:
    """Win rates and margins, sets by agents, the sets from the easiest to the hardest (mean win rate of the agents).

    What has not been played stays white.
    """
    agents = list(dict.fromkeys(summary.agent for summary in summaries))
    cells = {(summary.variants, summary.agent): summary for summary in summaries}
    names = list(dict.fromkeys(summary.variants for summary in summaries))

    def values(attribute: str) -> np.ndarray:
        estimates = ([getattr(cells.get((name, one)), attribute, NO_ESTIMATE) for one in agents] for name in names)
        return np.array([[estimate.value for estimate in row] for row in estimates])

    rates, margins = values("win_rate"), values("margin")
    order = np.lexsort((-np.nanmean(margins, axis=1), -np.nanmean(rates, axis=1)))
    rates, margins = rates[order], margins[order]
    width = 0.62 + 0.72 * len(agents)
    shape: Any = {"figsize": (1.9 + 2 * width, 2.1 + 0.36 * len(names)), "width_ratios": (1.5, width, width)}
    furthest = max(1.0, float(np.nanmax(np.abs(margins))))
    in_per_cent = {"cmap": "cividis", "vmin": 0, "vmax": 100}
    in_points = {"cmap": "PuOr", "norm": TwoSlopeNorm(0, -furthest, furthest)}
    title = "Each set of variants, from the easiest down"
    with picture(path, title, 1, 3, dpi=130, sharey=True, **shape) as (_, (key, left, right)):
        draw_key(key, [names[index] for index in order])
        for axes, data, title, form, look in (
            (left, 100 * rates, "Games won, %", ".0f", in_per_cent),
            (right, margins, "Points ahead", "+.0f", in_points),
        ):
            image = axes.imshow(data, aspect="auto", **look)
            for (row, column), value in np.ndenumerate(data):
                if not np.isnan(value):
                    text = "0" if abs(value) < 0.5 else format(value, form)
                    ink = _ink_on(image.cmap(image.norm(value)), 0.5)
                    axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=9)
            axes.set_title(title)
            axes.set_xticks(range(len(agents)), [agent_title(agent) for agent in agents], rotation=45, ha="right")
            axes.tick_params(labelleft=False)
            without_frame(axes)


def plot_ranking(path: Path, sets: Sets, levels: np.ndarray, wins: Pairs, margins: Pairs) -> None:
    """One agent's sets from the easiest to the hardest: win rates, how games end, and which differences are real."""
    order = sets.order
    names = [set_name(ALL_VARIANTS[index]) for index in order]
    rows = np.arange(len(order))
    title = f"{agent_title(sets.agent)}: the {len(order)} sets from the easiest to the hardest; grey and white: levels"
    shape: Any = {"figsize": (14, 1.64 + 0.36 * len(order)), "width_ratios": (0.9, 2.2, 2.6, 3.3)}
    with picture(path, title, 1, 4, dpi=130, sharey=True, **shape) as (_, (key, left, middle, right)):
        draw_key(key, names)
        for axes in (left, middle):
            _plain_rows(axes, len(order))
            _stripe(axes, np.flatnonzero(levels[order] % 2))
        rates = sets.win_rates[order]
        ends = np.array([wilson_interval(int(sets.won[index].sum()), sets.games) for index in order]).T
        left.errorbar(rates, rows, xerr=error_bars(rates, *ends), fmt="o", color=BLUE)
        _win_rates(left, "Games won\n(95 % intervals)")
        five = np.percentile(sets.margins[order], (5, 25, 50, 75, 95), axis=1)
        middle.hlines(rows, five[0], five[4], color=BLUE, linewidth=1.5)
        middle.hlines(rows, five[1], five[3], color=BLUE, linewidth=7, alpha=0.45)
        middle.plot(five[2], rows, "|", color=INK, markersize=11, markeredgewidth=2)
        _zero(middle)
        middle.set_title("Points ahead at the end\n(middle game, half of the games, nine of ten)")
        real = np.ix_(order, order)
        seen = np.where(np.triu(np.ones((len(order),) * 2, bool)), wins.significant[real], margins.significant[real])
        others = ~np.eye(len(order), dtype=bool)
        right.imshow(np.ma.masked_array(seen.astype(float), ~others), cmap="Blues", vmin=0, vmax=1.5, aspect="auto")
        for row, column in np.argwhere(~seen & others):
            right.text(column, row, "=", ha="center", va="center", color=INK)
        right.set_xticks(rows, [str(row + 1) for row in rows])
        right.set_yticks(rows, [str(row + 1) for row in rows])
        right.tick_params(length=0, labelright=True, labelleft=False)
        right.grid(visible=False)
        right.set_title("Blue: more than chance; =: not\n(above the diagonal by wins, below by margin)")


def plot_effects(path: Path, agents: Sequence[Sets]) -> None:
    """Draw how each variant, and each pair beyond the sum, changes every agent's margin, with 95 % intervals."""
    look = looks([sets.agent for sets in agents])
    tests, pairs = len(ALL_VARIANTS) - 1, comb(len(VARIANTS), 2)
    title = f"What the variants cost the player (hollow: could be chance, corrected for {tests} tests)"
    shape: Any = {"figsize": (12, 2 + 0.55 * pairs), "width_ratios": (1, 1.15)}
    with picture(path, title, 1, 2, dpi=130, **shape) as (figure, (left, right)):
        for number, sets in enumerate(agents):
            colour, marker = look[sets.agent]
            offset = (number - (len(agents) - 1) / 2) * 0.7 / max(3, len(agents))
            for effect in (one for one in effects(sets.margins) if len(one.variants) <= 2):
                chosen = list(combinations(VARIANTS, len(effect.variants)))
                axes, row = (left, right)[len(effect.variants) - 1], chosen.index(effect.variants)
                bars = error_bars(*effect.estimate)
                fill = colour if effect.significant else "white"
                label = None if row else agent_title(sets.agent)
                dot: Any = {"fmt": marker, "color": colour, "markerfacecolor": fill, "label": label, **_DOT}
                axes.errorbar(effect.value, row + offset, xerr=bars, **dot)
        left.set_title("Alone: change of the margin, in points")
        right.set_title("Together: change beyond the sum of both, in points")
        for axes, size in ((left, 1), (right, 2)):
            titles = [" and\n".join(VARIANT_TITLES[one] for one in names) for names in combinations(VARIANTS, size)]
            _plain_rows(axes, len(titles), titles)
            _zero(axes)
        legend(figure, left, min(len(agents), 6))


def plot_costs(path: Path, sets: Sets) -> None:
    """Draw what each variant costs: the change of both sides' points, source by source."""
    sources = sources_of([sets])
    titles = [source_title(SOURCE_NAMES[source]) for source in sources]
    title = f"Who gains and who loses where ({agent_title(sets.agent)} plays)"
    shape: Any = {"figsize": (13, 1.7 + 0.42 * len(sources)), "sharex": True, "sharey": True}
    with picture(path, title, 1, len(VARIANTS), dpi=130, **shape) as (figure, panels):
        for axes, name in zip(panels, VARIANTS, strict=True):
            totals = []
            for side, (who, colour, hatch) in enumerate((("player", BLUE, None), ("neutral player", ORANGE, "///"))):
                by_seed = np.einsum("v,vgs->gs", contrast((name,)), sets.scored[:, :, side].astype(float))[:, sources]
                mean, *ends = np.array([mean_estimate(column) for column in by_seed.T]).T
                look: Any = {"color": colour, "edgecolor": "white", "hatch": hatch, "linewidth": 0, "label": who}
                look["error_kw"] = {"elinewidth": 1, "ecolor": INK}
                axes.barh(np.arange(len(sources)) + 0.4 * side - 0.2, mean, 0.38, xerr=error_bars(mean, *ends), **look)
                totals.append(by_seed.sum(axis=1).mean())
            axes.set_title(f"{VARIANT_TITLES[name]}\nplayer {totals[0]:+.1f}, neutral {totals[1]:+.1f}")
            _zero(axes)
            axes.set_axisbelow(True)
            _plain_rows(axes, len(sources), titles)
            axes.tick_params(labelleft=axes is panels[0])
        legend(figure, panels[0], 2)
        figure.supxlabel("change of the points a game", fontsize=10)


def plot_sources(path: Path, sets: Sets, chosen: Sequence[tuple[str, ...]]) -> None:
    """Both sides' mean points by source, as stacked bars, for some sets."""
    sources = sources_of([sets])
    title = f"Where the points come from ({agent_title(sets.agent)} plays)"
    with picture(path, title, 1, 1, dpi=130, figsize=(12, 1.8 + 0.78 * len(chosen))) as (figure, axes):
        ticks, labels = [], []
        centred: Any = {"ha": "center", "va": "center"}
        for number, variants in enumerate(chosen):
            means = sets.scored[ALL_VARIANTS.index(variants)].mean(axis=0)
            for side, who in enumerate(("player", "neutral")):
                y, left = number * 2.5 + side * 0.95, 0.0
                for source in sources:
                    name, value = SOURCE_NAMES[source], float(means[side, source])
                    colour = _SOURCE_COLOURS.get(name, "#DDDDDD")
                    axes.barh(y, value, 0.88, left=left, color=colour, edgecolor="white", linewidth=1)
                    if value >= 1.45:
                        axes.text(left + value / 2, y, f"{value:.1f}", color=_ink_on(colour), fontsize=8, **centred)
                    left += value
                axes.text(left + 0.3, y, f"{left:.1f}", va="center", fontweight="bold")
                ticks.append(y)
                labels.append(f"{set_title(variants)}   {who}" if not side else who)
        axes.set_yticks(ticks, labels)
        axes.set_ylim(ticks[-1] + 0.8, -0.8)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        axes.set_axisbelow(True)
        axes.set_xlabel("mean points a game")
        handles = [Rectangle((0, 0), 1, 1, color=_SOURCE_COLOURS.get(SOURCE_NAMES[s], "#DDDDDD")) for s in sources]
        titles = [source_title(SOURCE_NAMES[source]) for source in sources]
        figure.legend(handles, titles, loc="outside lower center", ncols=len(sources), frameon=False, columnspacing=1.3)


def _ink_on(colour: Any, dark: float = 140 / 255) -> str:
    """White or dark ink for a background: white if its brightness is less than `dark`, 0 to 1."""
    return "white" if np.dot((0.299, 0.587, 0.114), to_rgb(colour)) < dark else INK
