"""The exceptions for mistakes of users. Each message says what is wrong, where, and what is allowed."""

from __future__ import annotations


class TabletopError(ValueError):
    """Base class of all errors of this package. It is a `ValueError`, so that generic handlers catch it."""


class ConfigError(TabletopError):
    """A bad argument or setting, such as a number of players or a combination of variants that the rules don't have."""


class ComponentsError(ConfigError):
    """Bad printed numbers, such as an overlay file with an unknown key. The message names file, key, allowed values."""


class ScenarioError(TabletopError):
    """A scenario that breaks the game's counts or rules. The message gives the reason.

    Attributes:
        where: the place in the description, such as `field.b1.drops`; "" if the error concerns the whole position.
    """

    def __init__(self, text: str, where: str = "") -> None:
        super().__init__(text)
        self.where = where


class IllegalAction(TabletopError):
    """An action that the pending decision does not allow. Nothing has changed."""


class GameOver(IllegalAction):
    """An action for a game that is over. Nothing has changed; reset the game first."""


class StateError(TabletopError):
    """A state that no game can reach, or saved bytes that are damaged, of another version or of other components."""


class RuleError(TabletopError):
    """A compiled rule of a game that Numba can't compile. The message names the rule, its file and line, and why.

    Attributes:
        rule: the name of the rule; "" if it is not known.
        file, line: where the mistake is; "" and 0 if that is not known.
        numba: all that Numba says.
    """

    def __init__(self, text: str, rule: str = "", file: str = "", line: int = 0, numba: str = "") -> None:
        super().__init__(text)
        self.rule: str = rule
        self.file: str = file
        self.line: int = line
        self.numba: str = numba


class CheckpointError(TabletopError):
    """A file of a trained policy that is damaged, or made for another version, observation layout or action space."""


class ReplayError(TabletopError):
    """A file that is not a replay, or a replay that differs from the game that its start and actions lead to.

    Attributes:
        step: the first step at which it differs, 0 for the start; None if it can't be played at all.
    """

    def __init__(self, text: str, step: int | None = None) -> None:
        super().__init__(text)
        self.step = step
