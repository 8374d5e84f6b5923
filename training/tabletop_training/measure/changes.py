"""What each number of an overlay file does, alone and with the others: which games are played, and what they tell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tabletop_engine.described.overlays import ComponentFile, Overlay
from tabletop_engine.errors import ComponentsError
from tabletop_engine.game import Config
from tabletop_engine.seeds import Stream, generator
from tabletop_training.files.tables import flat, markdown_code
from tabletop_training.measure.results import Estimate, difference_estimate, mean_estimate
from tabletop_training.measure.shapley import MOST_GROUPS, Plan, Set, effects_of, groups_of, overlay_of


def is_played(configs: Sequence[Config], overlays: Iterable[Overlay]) -> bool:
    """Whether any of the overlays changes a game of any of the configurations, or none of them is allowed.

    The rules in words tell: they hold all that a configuration plays, with its numbers, and no more.
    """
    some_allowed = False
    for overlay in overlays:
        try:
            tables = configs[0].game.load_tables(overlay)
        except ComponentsError:
            continue
        some_allowed = True
        if any(one.game.words.rules(one, tables) != one.game.words.rules(one) for one in configs):
            return True
    return not some_allowed


class ChangeEffect(NamedTuple):
    """What a change, of these keys, does to a figure: an estimate for each of `WAYS`."""

    keys: tuple[str, ...]
    figure: str
    ways: dict[str, Estimate]

    def row(self, column: str, **about: Any) -> dict[str, Any]:
        """As a line of `changes.csv`, with the name of the figure in this column."""
        return flat({**about, "keys": " ".join(self.keys), column: self.figure, **self.ways})


@dataclass(frozen=True)
class Changes:
    """The changes that an overlay file makes, and with which sets of them games are played.

    Attributes:
        file: the game's numbers.
        changed: the changed keys and their values.
        groups: the keys of each change; those that are allowed only together are one.
        plan: which sets are played; None if there is nothing to tell apart, or more than `MOST_GROUPS` changes.
    """

    file: ComponentFile
    changed: Mapping[str, Any]
    groups: tuple[tuple[str, ...], ...]
    plan: Plan | None

    @classmethod
    def of(cls, file: ComponentFile, overlay: Overlay | None, seed: int, fewest: int = 1) -> Changes:
        """The changes of an overlay file; `seed` draws orders if there are too many changes for all orders.

        With fewer than `fewest` changes no games are played to tell them apart.
        """
        changed = file.own_numbers(overlay) or {}
        groups = tuple(groups_of(file, changed))
        apart = fewest <= len(groups) <= MOST_GROUPS
        return cls(file, changed, groups, Plan.of(len(groups), generator(seed, Stream.RANKS, 2)) if apart else None)

    @property
    def whole(self) -> Set:
        """All changes."""
        return frozenset(range(len(self.groups)))

    @property
    def parts(self) -> dict[Set, dict[str, Any]]:
        """The overlays of the sets that are played, without the empty one and that of all changes."""
        sets = () if self.plan is None else self.plan.sets
        return {chosen: self.overlay(chosen) for chosen in sets}

    def overlay(self, chosen: Set) -> dict[str, Any]:
        """The overlay that makes some of the changes."""
        return overlay_of(self.changed, self.groups, chosen)

    def effects(self, played: Mapping[Set, Mapping[str, np.ndarray]], shares: Collection[str]) -> list[ChangeEffect]:
        """What each change does, from figures (games,) by name, of games with no change, with all, and with `parts`.

        The games of all sets have the same seeds. `shares` are the figures that are shares of games.
        """
        assert self.plan is not None
        by_figure = {name: {chosen: of[name] for chosen, of in played.items()} for name in played[frozenset()]}
        effects = {name: effects_of(self.plan, values.__getitem__) for name, values in by_figure.items()}
        return [
            ChangeEffect(keys, name, {way: estimate(values) for way, values in own[one]._asdict().items()})
            for one, keys in enumerate(self.groups)
            for name, own in effects.items()
            for estimate in [difference_estimate if name in shares else mean_estimate]
        ]

    def title(self, keys: Sequence[str]) -> str:
        """The keys of a change in Markdown, each with its meaning."""
        return ", ".join(f"{markdown_code(key)} ({self.file.keys[key].meaning})" for key in keys)

    @property
    def too_many(self) -> str:
        """Why nothing is told of the single changes, if there are too many; otherwise empty."""
        number = len(self.groups)
        if number <= MOST_GROUPS:
            return ""
        return f"The file changes {number} numbers. What each of them does is told for at most {MOST_GROUPS}."

    @property
    def explained(self) -> list[str]:
        """How a report explains its columns `WAYS`."""
        blocks = [
            "*Alone* is the change of one number, all others as shipped. *Last* is the same change when all others of"
            " the file are made already. *Its part* is the mean over all orders in which the changes can be made (the"
            " Shapley value): the parts of all changes sum to what the whole file does."
        ]
        if self.plan is not None and self.plan.orders is not None:
            orders = len(self.plan.orders)
            blocks.append(f"With so many changes, *its part* is the mean over {orders} random orders, not all.")
        return blocks
