"""The part of the difficulty report that says what each number of an overlay file does, alone and with the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from petrichor_env.component_files import KEYS
from tabletop_training.files.plots import agent_title
from tabletop_training.files.tables import flat, markdown_code, markdown_table, percentage_points, signed
from tabletop_training.measure.results import Results, difference_estimate, mean_estimate
from tabletop_training.measure.shapley import MOST_GROUPS, WAYS, Effects, Set, effects_of
from tabletop_training.petrichor.study import Study, by_set
from tabletop_training.petrichor.summaries import ALL_VARIANTS


@dataclass(frozen=True)
class ChangeEffects:
    """What each change does when one agent plays, averaged over the 16 sets, by seed.

    Attributes:
        groups: the keys of each change.
        won, margin: the effects on the win rate and on the margin.
    """

    agent: str
    groups: Sequence[tuple[str, ...]]
    won: Sequence[Effects]
    margin: Sequence[Effects]

    def rows(self) -> list[dict[str, Any]]:
        """Lines of `changes.csv`: one for each change and measure."""
        rows = []
        for keys, won, margin in zip(self.groups, self.won, self.margin, strict=True):
            for measure, effects, estimate in (
                ("win_rate", won, difference_estimate),
                ("margin", margin, mean_estimate),
            ):
                told = {way: estimate(getattr(effects, way)) for way in WAYS}
                rows.append(flat({"agent": self.agent, "keys": " ".join(keys), "measure": measure, **told}))
        return rows


def change_effects(study: Study, played: Sequence[Results]) -> list[ChangeEffects]:
    """The effects for each agent that has played all sets with all sets of changes that are needed."""
    plan, found = study.plan, []
    if plan is None:
        return []
    whole = frozenset(range(plan.number))
    configs = {frozenset[int](): None, whole: study.components}
    configs |= {chosen: config.components for chosen, config in study.effect_configs.items()}
    games = {chosen: by_set(played, components) for chosen, components in configs.items()}
    for agent in study.agents:
        if not all((agent, variants) in of for of in games.values() for variants in ALL_VARIANTS):
            continue
        number = min(study.effect_games, study.agents[agent])
        won: dict[Set, np.ndarray] = {}
        margin: dict[Set, np.ndarray] = {}
        for chosen, of in games.items():
            parts = [of[agent, variants] for variants in ALL_VARIANTS]
            won[chosen] = np.mean([part.won[:number, 0] for part in parts], axis=0)
            margin[chosen] = np.mean([part.margins[:number] for part in parts], axis=0)
        effects = (effects_of(plan, won.__getitem__), effects_of(plan, margin.__getitem__))
        found.append(ChangeEffects(agent, study.groups, *effects))
    return found


def change_section(study: Study, found: Sequence[ChangeEffects]) -> list[str]:
    """What the report says of each change; why it says nothing where there are too many."""
    number = len(study.groups)
    if study.effect_games and number > MOST_GROUPS:
        return [f"The file changes {number} numbers. What each of them does is told for at most {MOST_GROUPS}."]
    if not found:
        return []
    blocks = [
        "### What each change does",
        "*Alone* is the change of one number, all others as shipped. *Last* is the same change when all others of the"
        " file are made already. *Its part* is the mean over all orders in which the changes can be made (the Shapley"
        " value): the parts of all changes sum to what the whole file does.",
    ]
    if study.plan is not None and study.plan.orders is not None:
        orders = len(study.plan.orders)
        blocks.append(f"With so many changes, *its part* is the mean over {orders} random orders, not all.")
    for one in found:
        rows = []
        for keys, won, margin in zip(one.groups, one.won, one.margin, strict=True):
            name = ", ".join(f"{markdown_code(key)} ({KEYS[key].meaning})" for key in keys)
            points = [percentage_points(difference_estimate(getattr(won, way))) for way in WAYS]
            margins = [signed(mean_estimate(getattr(margin, way))) for way in WAYS]
            rows.append((name, *points, *margins))
        games = len(one.won[0].alone)
        blocks.append(
            f"{markdown_code(agent_title(one.agent))}, averaged over the 16 sets, {games:,} seeds; the win rate in"
            " percentage points, the margin in points:"
        )
        head = ("won: alone", "last", "its part", "margin: alone", "last", "its part")
        blocks.append(markdown_table(("change", *head), rows))
    return blocks
