"""The part of the difficulty report that says what each number of an overlay file does, alone and with the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tabletop_training.files.tables import agent_code, format_estimate, markdown_table
from tabletop_training.measure.changes import ChangeEffect
from tabletop_training.measure.results import Results
from tabletop_training.measure.shapley import WAYS
from tabletop_training.petrichor.study import Study, by_set
from tabletop_training.petrichor.summaries import ALL_VARIANTS

WON, MARGIN = "win_rate", "margin"
_FACTORS = {WON: 100, MARGIN: 1}


def change_effects(study: Study, played: Sequence[Results]) -> dict[str, list[ChangeEffect]]:
    """What each change does to `WON` and `MARGIN`, averaged over the sets of variants, by agent.

    Agents are left out that have not played all sets of variants with all needed sets of changes.
    """
    changes, found = study.changes, dict[str, list[ChangeEffect]]()
    if changes.plan is None:
        return {}
    configs = {frozenset[int](): None, changes.whole: study.components}
    configs |= {chosen: config.components for chosen, config in study.effect_configs.items()}
    games = {chosen: by_set(played, components) for chosen, components in configs.items()}
    for agent in study.agents:
        if not all((agent, variants) in of for of in games.values() for variants in ALL_VARIANTS):
            continue
        number = min(study.effect_games, study.agents[agent])
        figures = {
            chosen: {
                WON: np.mean([of[agent, variants].won[:number, 0] for variants in ALL_VARIANTS], axis=0),
                MARGIN: np.mean([of[agent, variants].margins[:number] for variants in ALL_VARIANTS], axis=0),
            }
            for chosen, of in games.items()
        }
        found[agent] = changes.effects(figures, [WON])
    return found


def change_section(study: Study, found: Mapping[str, Sequence[ChangeEffect]]) -> list[str]:
    """What the report says of each change, or that there are too many to tell."""
    changes = study.changes
    if changes.too_many:
        return [changes.too_many]
    if not found:
        return []
    blocks = ["### What each change does", *changes.explained]
    for agent, effects in found.items():
        by_change = {(keys, measure): ways for keys, measure, ways in effects}
        rows = []
        for keys in changes.groups:
            both = [(by_change[keys, measure][way], factor) for measure, factor in _FACTORS.items() for way in WAYS]
            cells = (format_estimate(one, factor=factor, sign="+", interval="to") for one, factor in both)
            rows.append((changes.title(keys), *cells))
        seeds = min(study.effect_games, study.agents[agent])
        blocks.append(
            f"{agent_code(agent)}, averaged over the {len(ALL_VARIANTS)} sets, {seeds:,} seeds;"
            " the win rate in percentage points, the margin in points:"
        )
        head = ("won: alone", "last", "its part", "margin: alone", "last", "its part")
        blocks.append(markdown_table(("change", *head), rows))
    return blocks
