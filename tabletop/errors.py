"""Every exception this package raises for a user's slip. Each text says what was wrong and what is allowed."""

from __future__ import annotations


class TabletopError(ValueError):
    """Base of all errors of this package; a `ValueError`, so that generic handlers catch it."""


class ConfigError(TabletopError):
    """A configuration that no rule text describes (player count, rounds, variants, a combination of them)."""


class ComponentsError(TabletopError):
    """An overlay file with an unknown tile, a missing place, a negative score …: names file, key, allowed values."""


class ScenarioError(TabletopError):
    """A scenario that breaks the game's counts or rules; the text gives the reason.

    Attributes:
        where: the place in the description, such as `field.b1.drops`; "" where it is about the whole position.
    """

    def __init__(self, text: str, where: str = "") -> None:
        super().__init__(text)
        self.where = where


class IllegalAction(TabletopError):
    """An action that the pending decision does not allow. Nothing was changed."""


class GameOver(IllegalAction):
    """An action for a game that has ended. Nothing was changed; reset it first."""


class StateError(TabletopError):
    """Saved bytes that are corrupted, of another version, or of other components."""


class CheckpointError(TabletopError):
    """A trained policy made for another version, observation layout or action space."""


class ReplayError(TabletopError):
    """A file that is no replay, or a replay that differs from the game that its configuration, start and actions give.

    Attributes:
        step: the first step at which it differs, 0 for the start; None where it can't be played at all.
    """

    def __init__(self, text: str, step: int | None = None) -> None:
        super().__init__(text)
        self.step = step
