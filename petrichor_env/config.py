"""The configuration of a game: checked once, then frozen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from petrichor_env.errors import ConfigError

VARIANTS = ("double_card", "non_random_targets", "no_more_tricks", "one_more_turn")
"""The Southern Winds' difficulty variants, in the order of the record's `variants` switches."""


def _is_int(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


@dataclass(frozen=True)
class Config:
    """What is played. Raises `ConfigError` for what no rule text describes.

    Arguments:
        players: 1 is the solo game against the Southern Winds, 2 to 4 the base game.
        rounds: 4 (short form) or 6 (long form); solo is always 4 (Southern Winds, Setup 1).
        drafting: the Official Drafting Variant; not in solo.
        variants: any of `VARIANTS`, solo only (Increasing the Difficulty); kept in the order of `VARIANTS`.
        components: path of an overlay TOML file whose numbers replace the shipped ones; None for the shipped ones.
    """

    players: int = 1
    rounds: int = 4
    drafting: bool = False
    variants: tuple[str, ...] = ()
    components: str | None = None

    def __post_init__(self) -> None:
        if not _is_int(self.players) or self.players not in (1, 2, 3, 4):
            raise ConfigError(f"players={self.players!r}: 1 (solo against the Southern Winds), 2, 3 or 4")
        if not _is_int(self.rounds) or self.rounds not in (4, 6):
            raise ConfigError(f"rounds={self.rounds!r}: 4 (short form) or 6 (long form)")
        if not isinstance(self.drafting, bool | np.bool_):
            raise ConfigError(f"drafting={self.drafting!r}: True or False")
        if isinstance(self.variants, str):
            raise ConfigError(f"variants={self.variants!r}: a sequence of names, such as ({self.variants!r},)")
        try:
            given = tuple(self.variants)
        except TypeError:
            raise ConfigError(f"variants={self.variants!r}: a sequence of {', '.join(VARIANTS)}") from None
        for name in given:
            if name not in VARIANTS:
                raise ConfigError(f"variants: unknown {name!r}; allowed are {', '.join(VARIANTS)}")
        if len(set(given)) != len(given):
            raise ConfigError(f"variants={given!r}: each at most once")
        if self.players == 1:
            if self.rounds != 4:
                raise ConfigError("rounds=6: the Southern Winds are played over 4 rounds (solo setup, step 1)")
            if self.drafting:
                raise ConfigError("drafting=True: there is no draft in solo; it needs 2 to 4 players")
        elif given:
            raise ConfigError(f"variants={given!r}: these are the solo game's; with players={self.players} leave empty")
        if self.components is not None and not isinstance(self.components, (str, Path)):
            raise ConfigError(f"components={self.components!r}: the path of an overlay TOML file, or None")
        object.__setattr__(self, "players", int(self.players))
        object.__setattr__(self, "rounds", int(self.rounds))
        object.__setattr__(self, "drafting", bool(self.drafting))
        object.__setattr__(self, "variants", tuple(name for name in VARIANTS if name in given))
        if self.components is not None:
            object.__setattr__(self, "components", str(self.components))

    @property
    def solo(self) -> bool:
        """Whether this is the game against the Southern Winds."""
        return self.players == 1

    @property
    def owners(self) -> int:
        """How many colours of drops and votes there are: the players, in solo also the neutral player."""
        return 2 if self.solo else self.players

    @property
    def agents(self) -> tuple[str, ...]:
        """The players' names, in clockwise order from seat 0."""
        return tuple(f"player_{seat}" for seat in range(self.players))

    @property
    def name(self) -> str:
        """A short name for tables and file names, such as `solo+double_card` or `3p-draft`."""
        if self.solo:
            return "+".join(("solo", *self.variants))
        return f"{self.players}p" + ("-long" if self.rounds == 6 else "") + ("-draft" if self.drafting else "")
