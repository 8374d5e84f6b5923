"""Pictures of a training run and of a tournament, drawn without a display."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter

from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError
from tabletop_training.files.tables import agent_title
from tabletop_training.measure.ratings import Rating, Z
from tabletop_training.measure.results import Estimate, score_interval

if TYPE_CHECKING:
    from tabletop_training.learn.logs import CurvePoint  # it brings torch, which takes seconds

# Okabe and Ito's colours, which people with any colour vision tell apart; the markers do too
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
GREY, INK = "#8A8A8A", "#222222"
_LOOKS = {
    "trained": (BLUE, "D"),
    "policy:solo": (BLUE, "D"),
    "greedy": (ORANGE, "s"),
    "random": (GREEN, "o"),
}
_OTHER_LOOKS = (("#CC79A7", "^"), ("#E69F00", "v"), ("#56B4E9", "P"), ("#000000", "X"), ("#B8A800", "*"))
_STYLE: Any = {
    "text.parse_math": False,  # `$` in an agent's name is a dollar
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


@contextmanager
def picture(
    path: Path, title: str, rows: int, columns: int, *, dpi: int = 150, title_size: int = 13, **options: Any
) -> Iterator[tuple[Figure, Any]]:
    """A figure and its panels, with `options` as in `plt.subplots`; saved with its title at the end of the context."""
    with plt.rc_context(_STYLE):
        figure, panels = plt.subplots(rows, columns, layout="constrained", **options)
        yield figure, panels
        figure.suptitle(title, x=0.01, ha="left", fontsize=title_size, fontweight="bold")
        figure.savefig(path, dpi=dpi)
        plt.close(figure)


def without_frame(axes: Axes) -> None:
    """No ticks, no grid, no lines around it."""
    axes.tick_params(axis="both", length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def error_bars(value: Any, low: Any, high: Any) -> np.ndarray:
    """The lengths of an interval's two halves, never below 0: (2, n)."""
    return np.clip([value - low, high - value], 0, None).reshape(2, -1)


def legend(figure: Figure, axes: Axes, columns: int, loc: Any = "outside lower left") -> None:
    """Name what the panel shows, below all panels."""
    figure.legend(*axes.get_legend_handles_labels(), loc=loc, ncols=columns, frameon=False)


@checked
def plot_learning_curve(
    path: Path,
    curve: Sequence[CurvePoint],
    references: Mapping[str, tuple[float, float]] | None = None,
    *,
    title: str = "Learning",
    margin: str = "Margin: points ahead of the others",
) -> None:
    """Win rate and margin of the games played while learning, over its steps.

    Lines are means of about the last 1/30 of all games (at least 50), bands their 95 % intervals. `references` are
    other agents' win rates and margins in the same configuration, as dashed lines. An empty curve says so in the
    picture. `title` and `margin` stand above the picture and above its second half.
    """
    if not all(hasattr(point, "wins") for point in curve):
        raise ConfigError(f"curve={curve!r:.80}: must be the points of a learner's curve")
    references = references or {}
    with picture(path, title, 2, 1, figsize=(8, 7), sharex=True) as (_, (top, bottom)):
        games = sum(point.games for point in curve)
        steps, win_rates, low, high, margins, band = _smooth(curve)
        if len(steps):
            shown = ((top, win_rates, low, high), (bottom, margins, margins - band, margins + band))
            for axes, mean, *ends in shown:
                axes.fill_between(steps, *ends, color=BLUE, alpha=0.2, linewidth=0)
                axes.plot(steps, mean, color=BLUE, linewidth=2)
            top.set_xlim(0, steps[-1])
            bottom.xaxis.set_major_formatter(EngFormatter(sep=""))
        else:
            top.text(0.5, 0.5, "no game had ended yet", transform=top.transAxes, ha="center", color=GREY)
            bottom.xaxis.set_major_formatter("{x:g}")
        for agent, values in references.items():
            for axes, value in zip((top, bottom), values, strict=True):
                colour = looks(list(references))[agent][0]
                axes.axhline(value, color=colour, linewidth=1.4, linestyle=(0, (5, 3)))
                beside: Any = {"xycoords": ("axes fraction", "data"), "xytext": (4, 0), "textcoords": "offset points"}
                axes.annotate(agent_title(agent), (1, value), color=colour, va="center", **beside)
        top.set_title("Win rate while learning, with the actions still drawn at random from the policy")
        top.set_ylim(0, 1)
        top.yaxis.set_major_formatter(PercentFormatter(1.0))
        bottom.set_title(margin)
        bottom.axhline(0, color=GREY, linewidth=0.8)
        minutes = curve[-1].seconds / 60 if curve else 0.0
        bottom.set_xlabel(f"decisions ({games:,} games in {minutes:.1f} minutes)")


def looks(agents: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each agent, the same in every picture."""
    others = [agent for agent in agents if agent not in _LOOKS]
    return _LOOKS | {agent: _OTHER_LOOKS[i % len(_OTHER_LOOKS)] for i, agent in enumerate(others)}


def _smooth(curve: Sequence[CurvePoint]) -> np.ndarray:
    """Six rows: steps, win rate, the ends of its Wilson interval, margin, the half width of its interval."""
    curve = [point for point in curve if point.games]
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
        margin = (margins[part] * games[part]).sum() / n
        # a point's margin is a mean of its games, so its squared deviation counts once for each game
        spread = np.sqrt((games[part] * (margins[part] - margin) ** 2).sum() / max(1, end - start - 1))
        shown.append((steps[end - 1], rate, *score_interval(rate, n), margin, Z * spread / np.sqrt(n)))
    return np.array(shown).reshape(-1, 6).T


def plot_cross_table(
    path: Path, scores: Sequence[Sequence[Estimate | None]], ratings: Sequence[Rating], title: str
) -> None:
    """Each agent's score against each other one with its 95 % interval, the highest rated first, beside its rating.

    Blue where the row's agent is ahead, orange where it is behind, bold where the interval leaves out one half.
    """
    size, titles = len(ratings), [agent_title(rating.name) for rating in ratings]
    values = np.array([[np.nan if score is None else score.value for score in row] for row in scores])
    # missing values, on the diagonal, stay white
    colours = LinearSegmentedColormap.from_list("score", [ORANGE, "#F6D5BD", "#F7F7F7", "#C3DDF0", BLUE])
    shape: Any = {"figsize": (4.6 + 1.15 * size, 1.9 + 0.8 * size), "width_ratios": (1.15 * size, 2.6)}
    with picture(path, title, 1, 2, title_size=11, sharey=True, **shape) as (_, (table, beside)):
        table.imshow(values, cmap=colours, vmin=0, vmax=1, aspect="auto")
        for row, of_agent in enumerate(scores):
            for column, score in enumerate(of_agent):
                if score is None:
                    continue
                ink = "#FFFFFF" if abs(score.value - 0.5) > 0.38 else INK
                look: Any = {"ha": "center", "va": "center", "color": ink}
                weight = "bold" if score.excludes(0.5) else "normal"
                table.text(column, row - 0.1, f"{100 * score.value:.1f}", weight=weight, **look)
                interval = f"{100 * score.low:.1f}–{100 * score.high:.1f}"
                table.text(column, row + 0.22, interval, fontsize=7.5, **look)
        table.set_yticks(range(size), titles)
        table.set_xticks(range(size), titles, rotation=30, ha="left")
        table.xaxis.tick_top()
        strengths, halves = [rating.mu for rating in ratings], [rating.mu - rating.low for rating in ratings]
        beside.errorbar(strengths, range(size), xerr=halves, fmt="o", color=BLUE, elinewidth=1.4)
        beside.set_xlabel("openskill rating")
        for axes in (table, beside):
            without_frame(axes)
        beside.grid(visible=True, axis="x")
        beside.tick_params(axis="y", labelleft=False)
