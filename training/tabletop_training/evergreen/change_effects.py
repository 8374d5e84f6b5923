"""What each number of an overlay file does to Evergreen's balance, alone and with the others, by seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evergreen_env.component_files import COMPONENTS
from evergreen_env.config import Config
from tabletop_engine.seeds import Stream, generator
from tabletop_training.measure.results import Estimate, difference_estimate, mean_estimate
from tabletop_training.measure.shapley import MOST_GROUPS, WAYS, Effects, Plan, Set, effects_of, groups_of, overlay_of

Figures = Mapping[str, np.ndarray]
"""Figures of games by name, each (games,) float64."""


@dataclass(frozen=True)
class Changes:
    """The changes that an overlay file makes, and with which sets of them games are played.

    Attributes:
        groups: the keys of each change; those that are allowed only together are one.
        plan: the sets; None if the file changes nothing, or more than `MOST_GROUPS`.
    """

    groups: tuple[tuple[str, ...], ...]
    plan: Plan | None

    @classmethod
    def of(cls, overlay: str | Path | None, seed: int) -> Changes:
        """The changes of a file; `seed` is for the orders if there are too many changes for all."""
        groups = tuple(groups_of(COMPONENTS, COMPONENTS.own_numbers(overlay) or {}))
        few = 1 <= len(groups) <= MOST_GROUPS
        return cls(groups, Plan.of(len(groups), generator(seed, Stream.RANKS, 2)) if few else None)

    def name(self, chosen: Set) -> str:
        """The keys of some changes, for a file."""
        return "+".join(key for one in sorted(chosen) for key in self.groups[one]) or "shipped"

    def configs(self, config: Config) -> dict[Set, Config]:
        """The configurations that are played, by the changes in them: first none, then all."""
        if self.plan is None:
            return {}
        changes = COMPONENTS.own_numbers(config.components) or {}
        sets = [frozenset[int](), frozenset(range(self.plan.number)), *self.plan.sets]
        return {one: Config(config.players, overlay_of(changes, self.groups, one) or None) for one in sets}


@dataclass(frozen=True)
class ChangeEffects:
    """What each change does with one number of players.

    Attributes:
        effects: by figure, those of each change.
        shares: the figures that are shares of games.
    """

    groups: tuple[tuple[str, ...], ...]
    games: int
    effects: Mapping[str, list[Effects]]
    shares: frozenset[str]

    @classmethod
    def of(
        cls, changes: Changes, config: Config, play: Callable[[str, Config], Figures], shares: frozenset[str]
    ) -> ChangeEffects | None:
        """From games of all sets of changes; None if there is nothing to tell.

        `play` gives the figures of a set's games by its name and configuration, always with the same seeds.
        """
        if changes.plan is None:
            return None
        played = {chosen: play(changes.name(chosen), one) for chosen, one in changes.configs(config).items()}
        figures = played[frozenset()]
        effects = {
            name: effects_of(changes.plan, lambda chosen, name=name: played[chosen][name])  # type: ignore[misc]
            for name in figures
        }
        return cls(changes.groups, len(next(iter(figures.values()))), effects, shares)

    def told(self) -> Iterator[tuple[tuple[str, ...], str, dict[str, Estimate]]]:
        """The keys of each change, a figure, and what the change does to it in each of `WAYS`."""
        for one, keys in enumerate(self.groups):
            for figure, effects in self.effects.items():
                estimate = difference_estimate if figure in self.shares else mean_estimate
                yield keys, figure, {way: estimate(getattr(effects[one], way)) for way in WAYS}
