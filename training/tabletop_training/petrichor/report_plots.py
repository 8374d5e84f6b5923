"""Pictures of the difficulty report, drawn without a display and told apart without colour vision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
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
from tabletop_training.plots import GREY, INK, STYLE, agent_title, looks

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


# --- The 16 sets -----------------------------------------------------------------------------------------------------


def plot_difficulty(path: Path, summaries: Sequence[Summary]) -> None:
    """Win rate and margin of every agent with every set of variants, with 95 % intervals.

    Rows are sets of variants, a filled dot for each variant played with, in the order of their first summary.
    """
    sets = list(dict.fromkeys(summary.variants for summary in summaries))
    agents = list(dict.fromkeys(summary.agent for summary in summaries))
    rows = {name: row for row, name in enumerate(sets)}
    with plt.rc_context(STYLE):
        figure, (key, left, right) = plt.subplots(
            1,
            3,
            figsize=(11, 2.1 + max(0.36, 0.12 * len(agents)) * max(len(sets), 4)),
            sharey=True,
            width_ratios=(0.9, 3, 3),
            layout="constrained",
        )
        for i, agent in enumerate(agents):
            colour, marker = looks(agents)[agent]
            own = [summary for summary in summaries if summary.agent == agent]
            offset = (i - (len(agents) - 1) / 2) * min(0.24, 0.8 / len(agents))
            y = np.array([rows[summary.variants] for summary in own]) + offset
            for axes, values in (
                (left, [(s.win_rate, s.win_rate_low, s.win_rate_high) for s in own]),
                (right, [(s.margin, s.margin_low, s.margin_high) for s in own]),
            ):
                mean, low, high = np.array(values).T
                axes.errorbar(
                    mean,
                    y,
                    xerr=np.clip([mean - low, high - mean], 0, None),
                    fmt=marker,
                    color=colour,
                    markersize=5.5,
                    elinewidth=1.4,
                    label=agent,
                )
        draw_key(key, sets)
        left.set_title("Win rate")
        left.set_xlim(-0.02, 1.02)
        left.xaxis.set_major_formatter(PercentFormatter(1.0))
        right.set_title("Margin: points ahead of the neutral player")
        right.axvline(0, color=GREY, linewidth=1)
        for axes in (left, right):
            axes.tick_params(axis="y", length=0, labelleft=False)
            axes.grid(axis="y", visible=False)
            for row in range(0, len(sets), 2):
                axes.axhspan(row - 0.5, row + 0.5, color="#F4F4F4", zorder=0, linewidth=0)
        left.set_ylim(len(sets) - 0.5, -0.5)
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=len(agents), frameon=False)
        games = sorted({summary.games for summary in summaries})
        number = counted(games[0], "game") if len(games) == 1 else f"{games[0]:,} to {games[-1]:,} games"
        figure.suptitle(
            f"How hard are the Southern Winds? {number} a dot, 95 % intervals",
            x=0.01,
            ha="left",
            fontsize=13,
            fontweight="bold",
        )
        figure.savefig(path, dpi=150)
        plt.close(figure)


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
    axes.tick_params(axis="both", length=0, labelleft=False)
    axes.set_xlim(-0.6, len(VARIANTS) - 0.4)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def plot_heat_map(path: Path, summaries: Sequence[Summary]) -> None:
    """Win rates and margins, sets by agents, the sets from the easiest to the hardest (mean win rate of the agents).

    What has not been played stays white.
    """
    agents = list(dict.fromkeys(summary.agent for summary in summaries))
    cells = {(summary.variants, summary.agent): summary for summary in summaries}
    names = [
        name for name in dict.fromkeys(s.variants for s in summaries) if any((name, agent) in cells for agent in agents)
    ]

    def values(attribute: str) -> np.ndarray:
        return np.array(
            [
                [getattr(cells[name, agent], attribute) if (name, agent) in cells else np.nan for agent in agents]
                for name in names
            ]
        )

    order = np.lexsort((-np.nanmean(values("margin"), axis=1), -np.nanmean(values("win_rate"), axis=1)))
    names = [names[index] for index in order]
    rates, margins = values("win_rate"), values("margin")
    with plt.rc_context(STYLE):
        width = 0.62 + 0.72 * len(agents)
        figure, (key, left, right) = plt.subplots(
            1,
            3,
            figsize=(1.9 + 2 * width, 2.1 + 0.36 * len(names)),
            sharey=True,
            width_ratios=(1.5, width, width),
            layout="constrained",
        )
        draw_key(key, names)
        furthest = max(1.0, float(np.nanmax(np.abs(margins))))
        for axes, data, title, form, look in (
            (left, 100 * rates, "Games won, %", "{:.0f}", {"cmap": "cividis", "vmin": 0, "vmax": 100}),
            (
                right,
                margins,
                "Points ahead",
                "{:+.0f}",
                {"cmap": "PuOr", "norm": TwoSlopeNorm(0, -furthest, furthest)},
            ),
        ):
            image = axes.imshow(data, aspect="auto", **look)
            for (row, column), value in np.ndenumerate(data):
                if not np.isnan(value):
                    red, green, blue, _ = image.cmap(image.norm(value))
                    dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
                    text = (
                        form.format(value).replace("-0", "0").replace("+0", "0")
                        if abs(value) < 0.5
                        else form.format(value)
                    )
                    axes.text(column, row, text, ha="center", va="center", color="white" if dark else INK, fontsize=9)
            axes.set_title(title)
            axes.set_xticks(range(len(agents)), [agent_title(agent) for agent in agents], rotation=45, ha="right")
            axes.tick_params(length=0, labelleft=False)
            axes.grid(visible=False)
            for spine in axes.spines.values():
                spine.set_visible(False)
        _save(figure, path, "Each set of variants, from the easiest down")


def plot_ranking(path: Path, sets: Sets, levels: np.ndarray, wins: Pairs, margins: Pairs) -> None:
    """One agent's sets from the easiest to the hardest: win rates, how games end, and which differences are real."""
    order = sets.order
    names = [set_name(ALL_VARIANTS[index]) for index in order]
    rows = np.arange(len(order))
    with plt.rc_context(STYLE):
        figure, (key, left, middle, right) = plt.subplots(
            1, 4, figsize=(14, 7.4), sharey=True, width_ratios=(0.9, 2.2, 2.6, 3.3), layout="constrained"
        )
        draw_key(key, names)
        for axes in (left, middle):
            for row, index in enumerate(order):
                if levels[index] % 2:
                    axes.axhspan(row - 0.5, row + 0.5, color="#F0F0F0", zorder=0, linewidth=0)
            axes.grid(axis="y", visible=False)
        rates = sets.win_rates[order]
        ends = np.array([wilson_interval(int(sets.won[index].sum()), sets.games) for index in order]).T
        left.errorbar(rates, rows, xerr=np.clip([rates - ends[0], ends[1] - rates], 0, None), fmt="o", color=_PLAYER)
        left.set_xlim(-0.02, 1.02)
        left.xaxis.set_major_formatter(PercentFormatter(1.0))
        left.set_title("Games won\n(95 % intervals)")
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
            axes.tick_params(axis="y", length=0, labelleft=False)
        _save(
            figure,
            path,
            f"{agent_title(sets.agent)}: the 16 sets from the easiest to the hardest; grey and white: levels",
        )


# --- Effects ---------------------------------------------------------------------------------------------------------


def plot_effects(path: Path, agents: Sequence[Sets]) -> None:
    """What each variant changes the margin by, and each two beyond their sum, for every agent, with 95 % intervals."""
    look = looks([sets.agent for sets in agents])
    with plt.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.3), layout="constrained", width_ratios=(1, 1.15))
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
            axes.grid(axis="y", visible=False)
            axes.tick_params(axis="y", length=0)
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=min(len(agents), 6), frameon=False)
        _save(figure, path, "What the variants cost the player (hollow: could be chance)")


def plot_costs(path: Path, sets: Sets) -> None:
    """Where the points go that each variant costs: change of both sides' points, source by source."""
    sources = sources_of([sets])
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(
            1, len(VARIANTS), figsize=(13, 1.7 + 0.42 * len(sources)), sharey=True, sharex=True, layout="constrained"
        )
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
                    xerr=np.clip([mean - ends[0], ends[1] - mean], 0, None),
                    error_kw={"elinewidth": 1, "ecolor": INK},
                )
                totals.append(by_seed.sum(axis=1).mean())
            axes.set_title(f"{VARIANT_TITLES[name]}\nplayer {totals[0]:+.1f}, neutral {totals[1]:+.1f}")
            axes.axvline(0, color=GREY, linewidth=1)
            axes.grid(axis="y", visible=False)
            axes.set_axisbelow(True)
            axes.tick_params(axis="y", length=0)
        panels[0].set_yticks(range(len(sources)), [source_title(SOURCE_NAMES[source]) for source in sources])
        panels[0].set_ylim(len(sources) - 0.5, -0.5)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=2, frameon=False)
        figure.supxlabel("change of the points a game", fontsize=10)
        _save(figure, path, f"Who gains and who loses where ({agent_title(sets.agent)} plays)")


def plot_sources(path: Path, sets: Sets, chosen: Sequence[tuple[str, ...]]) -> None:
    """Both sides' mean points by source, as stacked bars, for some sets."""
    sources = sources_of([sets])
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(12, 1.8 + 0.78 * len(chosen)), layout="constrained")
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
                        axes.text(left + value / 2, y, f"{value:.1f}", color=_on(colour), fontsize=8, **centred)
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
        _save(figure, path, f"Where the points come from ({agent_title(sets.agent)} plays)")


def _on(colour: str) -> str:
    """White or dark ink, whichever is read better on it."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else INK


def _save(figure: Figure, path: Path, title: str) -> None:
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
    figure.savefig(path, dpi=130)
    plt.close(figure)
