"""The part of the difficulty report that holds across editions: games over many editions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from petrichor_env.component_files import COMPONENTS, KEYS
from petrichor_env.config import VARIANTS
from tabletop_engine.seeds import Stream, generator
from tabletop_training.files.plots import BLUE, GREY, INK, error_bars, legend, looks, picture
from tabletop_training.files.tables import (
    agent_code,
    agent_title,
    flat,
    format_estimate,
    markdown_code,
    markdown_table,
    write_rows,
)
from tabletop_training.measure.results import Estimate, Results
from tabletop_training.measure.spread import (
    FEW,
    LookUp,
    Spread,
    by_edition,
    few_editions,
    look_up_first,
    share_holding,
    spread_of,
)
from tabletop_training.petrichor.report_plots import VARIANT_TITLES, draw_key, title_at
from tabletop_training.petrichor.study import Key, Study, over_editions
from tabletop_training.petrichor.summaries import ALL_VARIANTS, set_name
from tabletop_training.petrichor.variant_effects import contrast

_percent = partial(format_estimate, factor=100, interval="to")
_SHOWN = 12
"""Numbers in the table and the picture of what to look up first."""


@dataclass(frozen=True)
class OverEditions:
    """One agent's games of all sets over many editions.

    Attributes:
        won, margins: (sets, editions, games), in the order of `ALL_VARIANTS`; game i of each set has its seed and
            edition.
        rates, leads: the spread of each set's win rate, and of its margin.
        conclusions: sentences about the variants, each with the share of editions in which it holds.
        look_up: which numbers the mean margin over the sets depends on.
    """

    agent: str
    won: np.ndarray
    margins: np.ndarray
    rates: tuple[Spread, ...]
    leads: tuple[Spread, ...]
    conclusions: Mapping[str, Estimate]
    look_up: LookUp

    @property
    def order(self) -> np.ndarray:
        """(sets,) indices from the easiest set to the hardest: by the mean win rate over editions, then by margin."""
        return _easiest_first(self.won, self.margins)


def _easiest_first(won: np.ndarray, margins: np.ndarray) -> np.ndarray:
    return np.lexsort((-margins.mean(axis=(1, 2)), -won.mean(axis=(1, 2))))


def over_editions_of(
    agent: str, won: np.ndarray, margins: np.ndarray, editions: Sequence[Any], study: Study
) -> OverEditions:
    """The results of an agent's games; the arrays are as in `OverEditions`; `editions` are the components of each."""
    chance = generator(study.seed, Stream.RANKS, 1)
    return OverEditions(
        agent,
        won,
        margins,
        tuple(spread_of(one, chance, shares=True) for one in won),
        tuple(spread_of(one, chance, shares=False) for one in margins),
        _conclusions(won, margins, chance),
        look_up_first(
            margins.mean(axis=0),
            list(map(dict, editions)),
            COMPONENTS.load(study.components),
            COMPONENTS.stated,
            chance,
            configs=[replace(study.config, variants=variants) for variants in ((), VARIANTS)],
        ),
    )


def all_over_editions(study: Study, played: Sequence[Results]) -> list[OverEditions]:
    """The games over editions of each agent that has played all sets, in the study's order."""
    games: dict[Key, Results] = over_editions(played)
    found = []
    for agent in study.agents:
        parts = [games[agent, variants] for variants in ALL_VARIANTS if (agent, variants) in games]
        if len(parts) == len(ALL_VARIANTS):
            won = np.array([by_edition(one, one.won[:, 0].astype(float)) for one in parts])
            margins = np.array([by_edition(one, one.margins) for one in parts])
            found.append(over_editions_of(agent, won, margins, parts[0].editions, study))
    return found


def _conclusions(won: np.ndarray, margins: np.ndarray, chance: np.random.Generator) -> dict[str, Estimate]:
    """Conclusions about each variant, each pair, and neighbours in the ranking, put so that most editions agree."""
    cost = {name: -np.einsum("v,vbg->bg", contrast((name,)), margins) for name in VARIANTS}
    found: dict[str, Estimate] = {}
    for name in VARIANTS:
        verb, sign = ("costs", 1) if cost[name].mean() >= 0 else ("gives", -1)
        found[f"{VARIANT_TITLES[name]} {verb} points"] = share_holding(sign * cost[name], chance)
    for pair in combinations(VARIANTS, 2):
        more, less = sorted(pair, key=lambda name: -cost[name].mean())
        text = f"{VARIANT_TITLES[more]} costs more points than {VARIANT_TITLES[less]}"
        found[text] = share_holding(cost[more] - cost[less], chance)
    for easier, harder in pairwise(_easiest_first(won, margins)):
        text = f"{title_at(harder)}: won less often than {title_at(easier)}"
        found[text] = share_holding(won[easier] - won[harder], chance)
    return found


def key_title(keys: Sequence[str]) -> str:
    """Keys of the component file in words: `coffee: points for places 1 to 4, developed`."""
    if len(keys) > 1:
        return f"{KEYS[keys[0]].meaning} of all tiles"
    (key,) = keys
    table, _, name = key.partition(".")
    what = name.rpartition(".")[0] or (f"card {name}" if table == "southern_winds_cards" else table)
    return f"{what.replace('_', ' ')}: {KEYS[key].meaning}"


# --- Rows, pictures and words ----------------------------------------------------------------------------------------


def rows_over_editions(found: Sequence[OverEditions]) -> list[dict[str, Any]]:
    """A line for each agent and set: of `editions.csv` and `difficulty.json`."""
    rows = []
    for one in found:
        for index, variants in enumerate(ALL_VARIANTS):
            rate, lead = one.rates[index], one.leads[index]
            row: dict[str, Any] = {"agent": one.agent, "set": set_name(variants), "editions": rate.editions}
            row |= {"games_an_edition": rate.games}
            row |= {"win_rate": rate.mean, **_quantiles("", rate)}
            row |= {"margin": lead.mean, **_quantiles("margin_", lead)}
            rows.append(flat(row))
    return rows


def _quantiles(prefix: str, spread: Spread) -> dict[str, Estimate]:
    quantiles = {"median": spread.median, "half_low": spread.half[0], "half_high": spread.half[1]}
    quantiles |= {"nine_tenths_low": spread.nine_tenths[0], "nine_tenths_high": spread.nine_tenths[1]}
    return {prefix + name: one for name, one in {**quantiles, "share_of_editions": spread.share}.items()}


def as_json(found: Sequence[OverEditions]) -> dict[str, Any]:
    """What `difficulty.json` holds of the games over editions."""
    return {
        "over_editions": rows_over_editions(found),
        "conclusions": [
            {"agent": one.agent, "text": text, "share": share}
            for one in found
            for text, share in one.conclusions.items()
        ],
        "look_up": [
            {"agent": one.agent, "together": one.look_up.together, "numbers": list(map(asdict, one.look_up.numbers))}
            for one in found
            if one.look_up.numbers
        ],
    }


def write_tables(folder: Path, found: Sequence[OverEditions]) -> None:
    """Write `editions.csv`, `conclusions.csv` and `look_up.csv`."""
    write_rows(folder / "editions.csv", rows_over_editions(found), form=".5g")
    conclusions = [
        {"agent": one.agent, "conclusion": text, "editions": share}
        for one in found
        for text, share in one.conclusions.items()
    ]
    write_rows(folder / "conclusions.csv", conclusions, form=".4g")
    look_up = [
        {"agent": one.agent, "keys": " ".join(number.keys), "share": number.index}
        for one in found
        for number in one.look_up.numbers
    ]
    if look_up:
        write_rows(folder / "look_up.csv", look_up, form=".4g")


def plot_editions(path: Path, found: Sequence[OverEditions], shipped: Mapping[Key, float]) -> None:
    """Win rates of each set over the editions: half and nine tenths of the editions, the median, and the study's
    numbers.

    With too few editions the mean and its interval instead. The sets are in the order of the strongest agent, the
    easiest at the top.
    """
    order = max(found, key=lambda one: one.won.mean()).order
    names = [set_name(ALL_VARIANTS[index]) for index in order]
    agents = [one.agent for one in found]
    number = found[0].rates[0].editions
    few = number < FEW
    what = "mean and 95 % interval" if few else "half and nine tenths of them, and the median"
    title = f"Win rates over {number} editions: {what}; ×: the numbers of this study"
    size = (10, 2.1 + max(0.36, 0.16 * len(agents)) * len(names))
    shape: Any = {"figsize": size, "sharey": True, "width_ratios": (0.9, 4), "title_size": 11}
    with picture(path, title, 1, 2, **shape) as (figure, panels):
        key, axes = panels
        draw_key(key, names)
        for i, one in enumerate(found):
            colour, marker = looks(agents)[one.agent]
            y = np.arange(len(names)) + (i - (len(agents) - 1) / 2) * min(0.26, 0.8 / len(agents))
            rates = [one.rates[index] for index in order]
            ends = (
                [(1.4, [rate.mean[1:] for rate in rates])]
                if few
                else [
                    (1.4, [[end.value for end in rate.nine_tenths] for rate in rates]),
                    (4.5, [[end.value for end in rate.half] for rate in rates]),
                ]
            )
            for width, spans in ends:
                axes.hlines(y, *(100 * np.array(spans).T), color=colour, linewidth=width)
            middle = [100 * (rate.mean if few else rate.median).value for rate in rates]
            axes.plot(middle, y, marker, color=colour, markersize=5, label=agent_title(one.agent))
            known = [100 * shipped.get((one.agent, ALL_VARIANTS[index]), np.nan) for index in order]
            axes.plot(known, y, "x", color=INK, markersize=6)
        axes.set_xlim(-2, 102)
        axes.set_xlabel("games won, %")
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_yticks(range(len(names)), [])
        legend(figure, axes, 4)


def plot_look_up(path: Path, one: OverEditions) -> None:
    """Bars: how much of the spread between editions each number explains, with intervals. None for too few editions."""
    numbers = one.look_up.numbers[:_SHOWN]
    if not numbers:
        return
    rows = np.arange(len(numbers))
    title = f"What to look up first, when {agent_title(one.agent)} plays"
    with picture(path, title, 1, 1, figsize=(9, 1.6 + 0.32 * len(numbers))) as (_, axes):
        values, *ends = 100 * np.array([number.index for number in numbers]).T
        look: Any = {"color": BLUE, "height": 0.62, "error_kw": {"ecolor": GREY, "elinewidth": 1.2}}
        axes.barh(rows, values, xerr=error_bars(values, *ends), **look)
        axes.set_yticks(rows, [key_title(number.keys) for number in numbers])
        axes.set_ylim(len(numbers) - 0.5, -0.5)
        axes.set_xlim(left=0)
        axes.set_xlabel("share of the spread between editions that goes if it is known, %")


def section(study: Study, found: Sequence[OverEditions], shipped: Mapping[Key, float]) -> list[str]:
    """The report's section; empty without games over editions."""
    if not found:
        return []
    first = max(found, key=lambda one: one.won.mean())
    rates, order, name = first.rates, first.order, agent_code(first.agent)
    few = rates[0].editions < FEW
    start = (
        f"Some numbers on the pieces are unknown. So {rates[0].editions} editions were drawn: whole sets of numbers,"
        " each unknown one drawn from what it may be (`petrichor components --draw`). Every agent played every set of"
        f" variants with each edition, {rates[0].games} games an edition. "
    )
    if few:
        start += few_editions(rates[0].editions)
    else:
        widths = [rate.nine_tenths[1].value - rate.nine_tenths[0].value for rate in rates]
        hardest, widest = int(order[-1]), int(np.argmax(widths))
        between = [100 * rate.share.value for rate in rates]
        extremes = f"{name} wins {_range(rates[hardest])} with {title_at(hardest)}. No set is harder on average,"
        if hardest == widest:
            extremes += " and no other differs so much from edition to edition."
        else:
            most = f"{title_at(widest)}: {_range(rates[widest])}"
            extremes += f" and the set that differs most from edition to edition is {most}."
        start += (
            "Luck alone makes so few games differ from edition to edition. That part is estimated and left out: the"
            f" win rates of the editions are what many more games would show. {extremes} Of the variance of a single"
            f" game's result, {min(between):.0f} to {max(between):.0f} % comes from the edition; the rest is luck."
        )
    rows = []
    for one in found:
        for index in one.order:
            rate, own = one.rates[index], shipped.get((one.agent, ALL_VARIANTS[index]))
            cells = ["–" if own is None else f"{100 * own:.1f}", _percent(rate.mean)]
            if not few:
                quantiles = (_percent(rate.median), _ends(rate.half), _ends(rate.nine_tenths))
                cells += [*quantiles, f"{100 * rate.share.value:.0f}"]
            rows.append((title_at(index), agent_code(one.agent), *cells))
    numbers = "shipped" if study.components is None else "overlay's"
    head = ["set", "agent", f"won, %: {numbers} numbers", "mean of all editions"]
    head += (
        [] if few else ["median edition", "half of the editions", "nine tenths of them", "variance between editions, %"]
    )
    parts = [
        "## Across editions",
        start,
        "![Win rates over the editions](editions.png)",
        "In brackets are 95 % intervals.",
        markdown_table(head, rows, left=2),
        f"What holds in how many editions, when {name} plays (in brackets 95 % intervals; a wide one says that these"
        " games cannot tell):",
        markdown_table(
            ("conclusion", "editions, %"),
            [(text, _percent(share, form=".0f")) for text, share in first.conclusions.items()],
        ),
    ]
    look_up = [
        (key_title(number.keys), _code(number.keys), _percent(number.index))
        for number in first.look_up.numbers[:_SHOWN]
    ]
    if not look_up:
        return parts
    return [
        *parts,
        "### What to look up first",
        f"Which number should you read first, if you own the game? The points by which {name} is ahead differ from"
        " edition to edition. The table says what share of this spread (of its variance) a number explains by"
        " itself: how well a curve in this number predicts editions that it was not fitted to. All numbers together"
        f" predict {_percent(first.look_up.together)} % of the spread. The rest is how numbers act on each other, or"
        " noise.",
        "![What to look up first](look_up.png)",
        markdown_table(("number", "key", "share of the spread, %"), look_up, left=2),
    ]


def _code(keys: Sequence[str]) -> str:
    listed = ", ".join(markdown_code(key) for key in keys[:3])
    return f"{listed} …" if len(keys) > 3 else listed


def _range(rate: Spread) -> str:
    return f"{_ends(rate.nine_tenths)} % in nine tenths of the editions"


def _ends(ends: tuple[Estimate, Estimate]) -> str:
    return " to ".join(_percent(end, form=".0f") for end in ends)
