"""Pictures of the difficulty report, drawn without a display and told apart without colour vision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter

from petrichor_env import words
from petrichor_env.config import VARIANTS
from petrichor_env.state import SOURCE_NAMES
from tabletop.words import counted
from tabletop_training.evaluation import mean_interval, wilson_interval
from tabletop_training.petrichor.summaries import ALL_VARIANTS, Summary, set_name
from tabletop_training.petrichor.variant_effects import Pairs, Sets, contrast, effects
from tabletop_training.plots import GREY, INK, agent_title, looks, picture, without_frame

VARIANT_TITLES = dict(
    zip(VARIANTS, ("Double card", "Non-random targeting", "No More Tricks", "One More Turn"), strict=True)
)
"""The variants as the rulebook calls them."""

_PLAYER, _NEUTRAL = "#0072B2", "#D55E00"
# Paul Tol's "muted" scheme, with two of "light" for the seldom ones
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
    """How reports call a `state.Source`: without the forecasts module only idle cards score."""
    return "idle cards" if source == "cards" else words.source_title(source)


def set_title(variants: Iterable[str]) -> str:
    """`Double card + One More Turn`, `base game`, `all four variants`."""
    names = tuple(variants)
    if len(names) == len(VARIANTS):
        return "all four variants"
    return " + ".join(VARIANT_TITLES[name] for name in names) or "base game"


def sources_of(sets: Iterable[Sets]) -> list[int]:
    """Which of `state.Source` brought anybody any point, harvests first, in the order of their colours."""
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
    games = sorted({summary.games for summary in summaries})
    number = counted(games[0], "game") if len(games) == 1 else f"{games[0]:,} to {games[-1]:,} games"
    title = f"How hard are the Southern Winds? {number} a dot, 95 % intervals"
    size = (11, 2.1 + max(0.36, 0.12 * len(agents)) * max(len(sets), 4))
    with picture(path, title, 1, 3, figsize=size, sharey=True, width_ratios=(0.9, 3, 3)) as (figure, panels):
        key, left, right = panels
        for i, agent in enumerate(agents):
            colour, marker = looks(agents)[agent]
            own = [summary for summary in summaries if summary.agent == agent]
            offset = (i - (len(agents) - 1) / 2) * min(0.24, 0.8 / len(agents))
            y = np.array([rows[summary.variants] for summary in own]) + offset
            look = {"fmt": marker, "color": colour, "markersize": 5.5, "elinewidth": 1.4, "label": agent}
            for axes, values in ((left, [one.won for one in own]), (right, [one.ahead for one in own])):
                mean, low, high = np.array(values).T
                axes.errorbar(mean, y, xerr=_bars(mean, low, high), **look)
        draw_key(key, sets)
        _win_rates(left, "Win rate")
        right.set_title("Margin: points ahead of the neutral player")
        right.axvline(0, color=GREY, linewidth=1)
        for axes in (left, right):
            axes.tick_params(axis="y", labelleft=False)
            _plain_rows(axes)
            for row in range(0, len(sets), 2):
                axes.axhspan(row - 0.5, row + 0.5, color="#F4F4F4", zorder=0, linewidth=0)
        left.set_ylim(len(sets) - 0.5, -0.5)
        _legend(figure, left, len(agents))


def _bars(value: Any, low: Any, high: Any) -> np.ndarray:
    """The lengths of an interval's halves, below 0 never: (2, n)."""
    return np.clip([value - low, high - value], 0, None)


def _win_rates(axes: Axes, title: str) -> None:
    axes.set_title(title)
    axes.set_xlim(-0.02, 1.02)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))


def _plain_rows(axes: Axes) -> None:
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


def _legend(figure: Figure, axes: Axes, columns: int) -> None:
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower left", ncols=columns, frameon=False)


def draw_key(axes: Axes, sets: Sequence[str]) -> None:
    """Which variants each row has."""
    for row, name in enumerate(sets):
        chosen = [column for column, variant in enumerate(VARIANTS) if variant in name.split("+")]
        axes.scatter(range(len(VARIANTS)), [row] * len(VARIANTS), s=34, color="#D9D9D9", zorder=2)
        axes.scatter(chosen, [row] * len(chosen), s=34, color=INK, zorder=3)
    axes.set_xticks(
        range(len(VARIANTS)),
        [name.replace("non_", "non-").replace("_", " ") for name in VARIANTS],
        rotation=45,
        ha="left",
    )
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
        return np.array([[getattr(cells.get((name, agent)), attribute, np.nan) for agent in agents] for name in names])

    order = np.lexsort((-np.nanmean(values("margin"), axis=1), -np.nanmean(values("win_rate"), axis=1)))
    names = [names[index] for index in order]
    rates, margins = values("win_rate"), values("margin")
    width = 0.62 + 0.72 * len(agents)
    shape: Any = {"figsize": (1.9 + 2 * width, 2.1 + 0.36 * len(names)), "width_ratios": (1.5, width, width)}
    furthest = max(1.0, float(np.nanmax(np.abs(margins))))
    in_per_cent = {"cmap": "cividis", "vmin": 0, "vmax": 100}
    in_points = {"cmap": "PuOr", "norm": TwoSlopeNorm(0, -furthest, furthest)}
    with picture(path, "Each set of variants, from the easiest down", 1, 3, dpi=130, sharey=True, **shape) as (
        _,
        panels,
    ):
        draw_key(panels[0], names)
        for axes, data, title, form, look in (
            (panels[1], 100 * rates, "Games won, %", ".0f", in_per_cent),
            (panels[2], margins, "Points ahead", "+.0f", in_points),
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
    title = f"{agent_title(sets.agent)}: the 16 sets from the easiest to the hardest; grey and white: levels"
    shape: Any = {"figsize": (14, 7.4), "width_ratios": (0.9, 2.2, 2.6, 3.3)}
    with picture(path, title, 1, 4, dpi=130, sharey=True, **shape) as (_, (key, left, middle, right)):
        draw_key(key, names)
        for axes in (left, middle):
            for row, index in enumerate(order):
                if levels[index] % 2:
                    axes.axhspan(row - 0.5, row + 0.5, color="#F0F0F0", zorder=0, linewidth=0)
        rates = sets.win_rates[order]
        ends = np.array([wilson_interval(int(sets.won[index].sum()), sets.games) for index in order]).T
        left.errorbar(rates, rows, xerr=_bars(rates, *ends), fmt="o", color=_PLAYER)
        _win_rates(left, "Games won\n(95 % intervals)")
        five = np.percentile(sets.margins[order], (5, 25, 50, 75, 95), axis=1)
        middle.hlines(rows, five[0], five[4], color=_PLAYER, linewidth=1.5)
        middle.hlines(rows, five[1], five[3], color=_PLAYER, linewidth=7, alpha=0.45)
        middle.plot(five[2], rows, "|", color=INK, markersize=11, markeredgewidth=2)
        middle.axvline(0, color=GREY, linewidth=1)
        middle.set_title("Points ahead at the end\n(middle game, half of the games, nine of ten)")
        seen = np.full((len(order), len(order)), 0.0)
        upper = np.triu(np.ones_like(seen, bool), 1)
        seen[upper] = wins.significant[np.ix_(order, order)][upper]
        seen[upper.T] = margins.significant[np.ix_(order, order)][upper.T]
        shown = np.ma.masked_array(seen, np.eye(len(order), dtype=bool))
        right.imshow(shown, cmap="Blues", vmin=0, vmax=1.5, aspect="auto")
        for row, column in np.argwhere((seen == 0) & ~np.eye(len(order), dtype=bool)):
            right.text(column, row, "=", ha="center", va="center", color=INK)
        right.set_xticks(rows, [str(row + 1) for row in rows])
        right.set_yticks(rows, [str(row + 1) for row in rows])
        right.tick_params(length=0, labelright=True, labelleft=False)
        right.grid(visible=False)
        right.set_title("Blue: more than chance; =: not\n(above the diagonal by wins, below by margin)")
        left.set_ylim(len(order) - 0.5, -0.5)
        for axes in (left, middle):
            axes.tick_params(axis="y", labelleft=False)
            _plain_rows(axes)


def plot_effects(path: Path, agents: Sequence[Sets]) -> None:
    """What each variant changes the margin by, and each two beyond their sum, for every agent, with 95 % intervals."""
    look = looks([sets.agent for sets in agents])
    title = "What the variants cost the player (hollow: could be chance)"
    with picture(path, title, 1, 2, dpi=130, figsize=(12, 5.3), width_ratios=(1, 1.15)) as (figure, (left, right)):
        for number, sets in enumerate(agents):
            colour, marker = look[sets.agent]
            found = effects(sets.margins)
            for axes, size in ((left, 1), (right, 2)):
                own = [effect for effect in found if len(effect.variants) == size]
                offset = (number - (len(agents) - 1) / 2) * 0.7 / max(3, len(agents))
                for row, effect in enumerate(own):
                    axes.errorbar(
                        effect.value,
                        row + offset,
                        xerr=[[effect.value - effect.low], [effect.high - effect.value]],
                        fmt=marker,
                        color=colour,
                        markerfacecolor=colour if effect.significant else "white",
                        markersize=6,
                        elinewidth=1.4,
                        label=agent_title(sets.agent) if not row else None,
                    )
                titles = [" and\n".join(VARIANT_TITLES[name] for name in effect.variants) for effect in own]
                axes.set_yticks(range(len(own)), titles)
                axes.set_ylim(len(own) - 0.5, -0.5)
        left.set_title("Alone: change of the margin, in points")
        right.set_title("Together: change beyond the sum of both, in points")
        for axes in (left, right):
            axes.axvline(0, color=GREY, linewidth=1)
            _plain_rows(axes)
        _legend(figure, left, min(len(agents), 6))


def plot_costs(path: Path, sets: Sets) -> None:
    """Where the points go that each variant costs: change of both sides' points, source by source."""
    sources = sources_of([sets])
    title = f"Who gains and who loses where ({agent_title(sets.agent)} plays)"
    shape: Any = {"figsize": (13, 1.7 + 0.42 * len(sources)), "sharex": True, "sharey": True}
    with picture(path, title, 1, len(VARIANTS), dpi=130, **shape) as (figure, panels):
        for axes, name in zip(panels, VARIANTS, strict=True):
            totals = []
            for side, (colour, shift, label, hatch) in enumerate(
                ((_PLAYER, -0.2, "player", None), (_NEUTRAL, 0.2, "neutral player", "///"))
            ):
                by_seed = np.einsum("v,vgs->gs", contrast((name,)), sets.scored[:, :, side].astype(float))[:, sources]
                ends = np.array([mean_interval(column) for column in by_seed.T]).T
                mean = by_seed.mean(axis=0)
                axes.barh(
                    np.arange(len(sources)) + shift,
                    mean,
                    0.38,
                    color=colour,
                    edgecolor="white",
                    hatch=hatch,
                    linewidth=0,
                    label=label,
                    xerr=_bars(mean, *ends),
                    error_kw={"elinewidth": 1, "ecolor": INK},
                )
                totals.append(by_seed.sum(axis=1).mean())
            axes.set_title(f"{VARIANT_TITLES[name]}\nplayer {totals[0]:+.1f}, neutral {totals[1]:+.1f}")
            axes.axvline(0, color=GREY, linewidth=1)
            axes.set_axisbelow(True)
            _plain_rows(axes)
        panels[0].set_yticks(range(len(sources)), [source_title(SOURCE_NAMES[source]) for source in sources])
        panels[0].set_ylim(len(sources) - 0.5, -0.5)
        _legend(figure, panels[0], 2)
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
        _plain_rows(axes)
        axes.set_axisbelow(True)
        axes.set_xlabel("mean points a game")
        handles = [Rectangle((0, 0), 1, 1, color=_SOURCE_COLOURS.get(SOURCE_NAMES[s], "#DDDDDD")) for s in sources]
        titles = [source_title(SOURCE_NAMES[source]) for source in sources]
        figure.legend(handles, titles, loc="outside lower center", ncols=len(sources), frameon=False, columnspacing=1.3)


def _ink_on(colour: Any, dark: float = 140 / 255) -> str:
    """White or dark ink, whichever is read better on it: white where its brightness is less than `dark`, 0 to 1."""
    return "white" if np.dot((0.299, 0.587, 0.114), to_rgb(colour)) < dark else INK
