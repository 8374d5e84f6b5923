"""The part of the difficulty report about who plays: what a variant costs depends on it, and so does what time brings.

All measures come from the study's games:

- **Doubling of simulations.** For searches that differ in their simulations only: the slope of a seed's mean margin
  over the sets by the base-2 logarithm of the simulations, by least squares. The seed is the unit.
- **Soft players.** `soft-T:PATH` draws its actions with the policy's logits divided by T: a fixed, weaker player.
- **What the seed decides.** The correlation of two agents' margins over the seeds that both played: the share of the
  variance that they have in common, by the set-up and by chance, which is the same as long as both play alike. The
  interval is R. A. Fisher's ("On the probable error of a coefficient of correlation", Metron 1, 1921).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from petrichor_env.config import VARIANTS
from tabletop_training.files.tables import agent_code, format_estimate, markdown_table
from tabletop_training.measure.ratings import Z
from tabletop_training.measure.results import Estimate, mean_estimate
from tabletop_training.petrichor.report_plots import VARIANT_TITLES, title_at
from tabletop_training.petrichor.variant_effects import Sets, effects

_SEARCH = re.compile(r"(search|ismcts|rollout)-([0-9]+)(:.*)?")
_signed = partial(format_estimate, sign="+", interval="to")
_percent = partial(format_estimate, unit="%", interval="to")


def section(sets: Sequence[Sets]) -> list[str]:
    """The blocks of the section; none for a single agent."""
    if len(sets) < 2:
        return []
    points = [*_disagreements(sets), *_ladders(sets), *_soft(sets), *_seeds(sets)]
    return ["## Who plays", "\n".join(f"- {point}" for point in points)] if points else []


def _disagreements(sets: Sequence[Sets]) -> list[str]:
    """A sentence for each variant that makes the game harder for one agent and easier for another one."""
    found = []
    for name in VARIANTS:
        own = [(one.agent, effect) for one in sets for effect in effects(one.margins) if effect.variants == (name,)]
        sure = [(agent, effect) for agent, effect in own if effect.significant]
        if {effect.value > 0 for _, effect in sure} == {True, False}:
            parts = ", ".join(f"{_signed(effect.estimate)} for {agent_code(agent)}" for agent, effect in sure)
            found.append(f"**{VARIANT_TITLES[name]}** depends on who plays. It changes the margin by {parts}.")
    return found


def ladders(sets: Iterable[Sets]) -> dict[str, list[tuple[int, Sets]]]:
    """The searches that differ only in their simulations, by what they have in common, with ascending simulations."""
    families: dict[str, list[tuple[int, Sets]]] = {}
    for one in sets:
        if (found := _SEARCH.fullmatch(one.agent)) is not None:
            kind, simulations, rest = found.groups()
            families.setdefault(f"{kind}-N{rest or ''}", []).append((int(simulations), one))
    return {name: sorted(own, key=lambda pair: pair[0]) for name, own in families.items() if len(own) > 1}


def slope(ladder: Sequence[tuple[int, Sets]]) -> tuple[Estimate, Estimate]:
    """What a doubling of the simulations brings, averaged over the sets: points, and the share of games won."""
    games = min(one.games for _, one in ladder)
    steps = np.log2([simulations for simulations, _ in ladder])
    weights = (steps - steps.mean()) / np.square(steps - steps.mean()).sum()
    measured = ([one.margins for _, one in ladder], [one.won for _, one in ladder])
    points, won = (
        mean_estimate(weights @ np.array([values[:, :games].mean(axis=0) for values in of])) for of in measured
    )
    return points, won


def _ladders(sets: Sequence[Sets]) -> list[str]:
    texts = []
    for name, ladder in ladders(sets).items():
        points, won = slope(ladder)
        span = f"{ladder[0][0]} to {ladder[-1][0]}"
        more = f"{_signed(points)} points and {_signed(won, factor=100)} percentage points of the games"
        texts.append(
            f"**Thinking time**: each doubling of {agent_code(name)}'s simulations, from {span}, brings {more}."
        )
    return texts


def _soft(sets: Sequence[Sets]) -> list[str]:
    """A table of soft players beside the strongest agent, in the base game and its hardest set; none without any."""
    soft = sorted((one for one in sets if one.agent.startswith("soft-")), key=lambda one: -one.win_rates.mean())
    strongest = max(sets, key=lambda one: one.win_rates.mean())
    if not soft or strongest in soft:
        return []
    hardest = int(strongest.order[-1])
    rows = [
        (agent_code(one.agent), *(_percent(one.rate(index)) for index in (0, hardest))) for one in (strongest, *soft)
    ]
    table = markdown_table(("agent", title_at(0), title_at(hardest)), rows).replace("\n", "\n  ")
    return [f"**Weaker players**: what soft players win beside the strongest agent.\n\n  {table}"]


def correlation(one: np.ndarray, other: np.ndarray) -> Estimate:
    """The correlation of two samples, (n,), with its 95 % interval; without one for fewer than four or equal values."""
    with np.errstate(invalid="ignore", divide="ignore"):
        value = float(np.corrcoef(one, other)[0, 1]) if len(one) > 1 else math.nan
    if len(one) < 4 or not abs(value) < 1:
        return Estimate(value, -math.inf, math.inf)
    half = Z / math.sqrt(len(one) - 3)
    return Estimate(value, *(math.tanh(math.atanh(value) + end) for end in (-half, half)))


def _seeds(sets: Sequence[Sets]) -> list[str]:
    rows = []
    for one, other in combinations(sets, 2):
        games, row = min(one.games, other.games), [f"{agent_code(one.agent)}, {agent_code(other.agent)}"]
        for index in (0, len(one.margins) - 1):
            found = correlation(one.margins[index, :games], other.margins[index, :games])
            row.append("–" if math.isnan(found.value) else format_estimate(found, interval="to", form=".2f"))
        rows.append(row)
    table = markdown_table(("agents", title_at(0), title_at(len(sets[0].margins) - 1)), rows)
    text = "**What the seed decides**: how two agents' margins on the same seeds correlate, by the set-up and by chance"
    indented = table.replace("\n", "\n  ")
    return [f"{text} that comes alike.\n\n  {indented}"]
