"""The part of the difficulty report that says what each number of an overlay file does, alone and with the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tabletop_training.files.plots import agent_title
from tabletop_training.files.tables import format_estimate, markdown_code, markdown_table
from tabletop_training.measure.changes import ChangeEffects
from tabletop_training.measure.results import Results
from tabletop_training.measure.shapley import WAYS, Set
from tabletop_training.petrichor.study import Study, by_set
from tabletop_training.petrichor.summaries import ALL_VARIANTS

WON, MARGIN = "win_rate", "margin"


@dataclass(frozen=True)
class AgentEffects:
    """What each change does to `WON` and `MARGIN` when one agent plays, averaged over the sets of variants."""

    agent: str
    effects: ChangeEffects

    def rows(self) -> list[dict[str, Any]]:
        """Lines of `changes.csv`: one for each change and measure."""
        return self.effects.rows("measure", agent=self.agent)


def change_effects(study: Study, played: Sequence[Results]) -> list[AgentEffects]:
    """The effects for each agent that has played all sets of variants with all needed sets of changes."""
    changes, found = study.changes, []
    if changes.plan is None:
        return []
    configs = {frozenset[int](): None, changes.whole: study.components}
    configs |= {chosen: config.components for chosen, config in study.effect_configs.items()}
    games = {chosen: by_set(played, components) for chosen, components in configs.items()}
    for agent in study.agents:
        if not all((agent, variants) in of for of in games.values() for variants in ALL_VARIANTS):
            continue
        number = min(study.effect_games, study.agents[agent])
        figures: dict[Set, dict[str, np.ndarray]] = {}
        for chosen, of in games.items():
            parts = [of[agent, variants] for variants in ALL_VARIANTS]
            figures[chosen] = {
                WON: np.mean([part.won[:number, 0] for part in parts], axis=0),
                MARGIN: np.mean([part.margins[:number] for part in parts], axis=0),
            }
        found.append(AgentEffects(agent, ChangeEffects.of(changes, figures, frozenset([WON]))))
    return found


def change_section(study: Study, found: Sequence[AgentEffects]) -> list[str]:
    """What the report says of each change, or that there are too many to tell."""
    changes = study.changes
    if changes.too_many:
        return [changes.too_many]
    if not found:
        return []
    blocks = ["### What each change does", *changes.explained]
    for one in found:
        told = {(keys, measure): ways for keys, measure, ways in one.effects.told()}
        rows = []
        for keys in changes.groups:
            both = [(told[keys, measure][way], factor) for measure, factor in ((WON, 100), (MARGIN, 1)) for way in WAYS]
            cells = (format_estimate(one, factor=factor, sign="+", interval="to") for one, factor in both)
            rows.append((changes.title(keys), *cells))
        blocks.append(
            f"{markdown_code(agent_title(one.agent))}, averaged over the {len(ALL_VARIANTS)} sets,"
            f" {one.effects.games:,} seeds; the win rate in percentage points, the margin in points:"
        )
        head = ("won: alone", "last", "its part", "margin: alone", "last", "its part")
        blocks.append(markdown_table(("change", *head), rows))
    return blocks
