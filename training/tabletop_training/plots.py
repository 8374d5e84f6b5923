"""Pictures of a training run and of the difficulty variants, drawn without a display."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import FuncFormatter, PercentFormatter

from petrichor_env.config import VARIANTS
from tabletop.words import counted
from tabletop_training.evaluation import Summary
from tabletop_training.ratings import Z

if TYPE_CHECKING:
    from tabletop_training.learning import CurvePoint  # it brings torch, which takes seconds
    from tabletop_training.tournament import Tournament

# Okabe and Ito's colours, which people with any colour vision tell apart; the markers do too
_LOOKS = {
    "trained": ("#0072B2", "D"),
    "policy:solo": ("#0072B2", "D"),
    "greedy": ("#D55E00", "s"),
    "random": ("#009E73", "o"),
}
_OTHER_LOOKS = (("#CC79A7", "^"), ("#E69F00", "v"), ("#56B4E9", "P"), ("#000000", "X"), ("#B8A800", "*"))
_BLUE = _LOOKS["trained"][0]
GREY = "#8A8A8A"
INK = "#222222"
STYLE: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.grid": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.8,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def plot_learning_curve(path: Path, curve: Sequence[CurvePoint], references: Sequence[Summary] = ()) -> None:
    """Win rate and margin of the games played while learning, over its steps.

    Lines are means of about the last 1/30 of all games (at least 50), bands their 95 % intervals. `references` are
    other agents' results in the same configuration, as dashed lines. An empty curve says so in the picture.
    """
    with plt.rc_context(STYLE):
        figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 7), sharex=True, layout="constrained")
        figure.suptitle("Learning to beat the Southern Winds", x=0.01, ha="left", fontsize=13, fontweight="bold")
        games = sum(point.games for point in curve)
        steps, win_rates, low, high, margins, band = _smooth(curve)
        if len(steps):
            top.fill_between(steps, low, high, color=_BLUE, alpha=0.2, linewidth=0)
            top.plot(steps, win_rates, color=_BLUE, linewidth=2)
            bottom.fill_between(steps, margins - band, margins + band, color=_BLUE, alpha=0.2, linewidth=0)
            bottom.plot(steps, margins, color=_BLUE, linewidth=2)
            top.set_xlim(0, steps[-1])
        else:
            top.text(0.5, 0.5, "no game had ended yet", transform=top.transAxes, ha="center", color=GREY)
        own_looks = looks([summary.agent for summary in references])
        for summary in references:
            colour, _ = own_looks[summary.agent]
            _reference(top, summary.win_rate, summary.agent, colour)
            _reference(bottom, summary.margin, summary.agent, colour)
        top.set_title("Win rate while learning, with the actions still drawn at random from the policy")
        top.set_ylim(0, 1)
        top.yaxis.set_major_formatter(PercentFormatter(1.0))
        bottom.set_title("Margin: points ahead of the neutral player")
        bottom.axhline(0, color=GREY, linewidth=0.8)
        minutes = curve[-1].seconds / 60 if curve else 0.0
        bottom.set_xlabel(f"decisions ({games:,} games in {minutes:.1f} minutes)")
        bottom.xaxis.set_major_formatter(FuncFormatter(_short_number))
        figure.savefig(path, dpi=150)
        plt.close(figure)


def looks(agents: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each agent, the same in every picture."""
    others = [agent for agent in agents if agent not in _LOOKS]
    return _LOOKS | {agent: _OTHER_LOOKS[i % len(_OTHER_LOOKS)] for i, agent in enumerate(others)}


def _reference(axes: Axes, value: float, name: str, colour: str) -> None:
    axes.axhline(value, color=colour, linewidth=1.4, linestyle=(0, (5, 3)))
    axes.annotate(
        name,
        (1, value),
        xycoords=("axes fraction", "data"),
        xytext=(4, 0),
        textcoords="offset points",
        color=colour,
        va="center",
    )


def _short_number(value: float, position: int | None = None) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def _smooth(curve: Sequence[CurvePoint]) -> np.ndarray:
    """Six rows: steps, win rate, the ends of its Wilson interval, margin, the half width of its interval."""
    games = np.array([point.games for point in curve], float)
    wins = np.array([point.wins for point in curve], float)
    margins = np.array([point.margin for point in curve], float)
    steps = np.array([point.steps for point in curve], float)
    wanted = max(50.0, games.sum() / 30)
    shown: list[tuple[float, ...]] = []
    start = 0
    for end in range(1, len(curve) + 1):
        while start < end - 1 and games[start + 1 : end].sum() >= wanted:
            start += 1
        n, part = games[start:end].sum(), slice(start, end)
        rate = wins[part].sum() / n
        centre = (rate + Z**2 / (2 * n)) / (1 + Z**2 / n)
        half = Z * np.sqrt(rate * (1 - rate) / n + Z**2 / (4 * n**2)) / (1 + Z**2 / n)
        margin = (margins[part] * games[part]).sum() / n
        # a point's margin is a mean of its games, so its square deviations count once a game
        spread = np.sqrt((games[part] * (margins[part] - margin) ** 2).sum() / max(1, end - start - 1))
        shown.append((steps[end - 1], rate, centre - half, centre + half, margin, Z * spread / np.sqrt(n)))
    return np.array(shown).reshape(-1, 6).T


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


def plot_cross_table(path: Path, tournament: Tournament) -> None:
    """Each agent's score against each other one with its 95 % interval, the highest rated first, beside its rating.

    Blue where the row's agent is ahead, orange where it is behind, bold where the interval leaves out one half.
    """
    size = len(tournament.labels)
    values = np.array([[np.nan if s is None else s.value for s in scores] for scores in tournament.scores])
    # missing values, on the diagonal, stay white
    colours = LinearSegmentedColormap.from_list("score", ["#D55E00", "#F6D5BD", "#F7F7F7", "#C3DDF0", "#0072B2"])
    with plt.rc_context(STYLE):
        figure, (table, ratings) = plt.subplots(
            1,
            2,
            figsize=(4.6 + 1.15 * size, 1.9 + 0.8 * size),
            width_ratios=(1.15 * size, 2.6),
            sharey=True,
            layout="constrained",
        )
        table.imshow(values, cmap=colours, vmin=0, vmax=1, aspect="auto")
        for row, scores in enumerate(tournament.scores):
            for column, score in enumerate(scores):
                if score is None:
                    continue
                ink = "#FFFFFF" if abs(score.value - 0.5) > 0.38 else INK
                weight = "bold" if score.low > 0.5 or score.high < 0.5 else "normal"
                table.text(
                    column, row - 0.1, f"{100 * score.value:.1f}", ha="center", va="center", color=ink, weight=weight
                )
                interval = f"{100 * score.low:.1f}–{100 * score.high:.1f}"
                table.text(column, row + 0.22, interval, ha="center", va="center", color=ink, fontsize=7.5)
        table.set_yticks(range(size), tournament.labels)
        table.set_xticks(range(size), tournament.labels, rotation=30, ha="left")
        table.xaxis.tick_top()
        standings = tournament.standings
        ratings.errorbar(
            [standing.rating.mu for standing in standings],
            range(size),
            xerr=[standing.rating.mu - standing.rating.low for standing in standings],
            fmt="o",
            color=_BLUE,
            elinewidth=1.4,
        )
        ratings.set_xlabel("openskill rating")
        for axes in (table, ratings):
            axes.tick_params(axis="both", length=0)
            axes.grid(visible=False)
            for spine in axes.spines.values():
                spine.set_visible(False)
        ratings.grid(visible=True, axis="x")
        ratings.tick_params(axis="y", labelleft=False)
        players = tournament.config.players
        meaning = "of the victories" if players == 2 else "of the games in which it finished ahead"
        seeds = len(np.unique(tournament.results.seeds))
        figure.suptitle(
            f"Row against column: per cent {meaning}, with 95 % intervals\n"
            f"{tournament.config.name}, {len(tournament.results):,} games of {counted(seeds, 'seed')}, seats rotated",
            x=0.01,
            ha="left",
            fontsize=11,
            fontweight="bold",
        )
        figure.savefig(path, dpi=150)
        plt.close(figure)
