"""The configuration of a game. It is checked once, and frozen after that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from petrichor_env.component_files import COMPONENTS
from petrichor_env.state import MAX_PLAYERS, MODULE_NAMES, POWER_NAMES, READING_NAMES, VARIANT_NAMES, State
from tabletop_engine.checks import is_whole
from tabletop_engine.errors import ConfigError
from tabletop_engine.text.words import player_names

if TYPE_CHECKING:
    from tabletop_engine.game import Game

VARIANTS = VARIANT_NAMES
"""The variants that make the solo game harder, in the order of the record's `variants` switches."""

MODULES = MODULE_NAMES
"""The Kickstarter promos and the modules of the Flowers expansion, in the order of the record's `modules` switches."""
POWERS = POWER_NAMES[1:]
"""The player powers (Flowers)."""
READINGS = READING_NAMES
"""The other readings of unclear rules, in the order of the record's `readings` switches (docs/rules.md)."""
_ABOUT_VARIANTS = {
    "double_card": "The Southern Winds resolve two cards in each turn.",
    "non_random_targets": "No die chooses the tile: the place and the drops there do.",
    "no_more_tricks": "Wheat and Potato are left out.",
    "one_more_turn": "After you pass, the Southern Winds take one more turn.",
}
_ABOUT_MODULES = {
    "fertilizer": "Three tokens; a Harvest pays each player on such a tile 1 point more.",
    "cactus": "A tile that grows with two drops and drowns with four.",
    "lake": "A tile that gives drops back, and from which clouds go further.",
    "flower_tiles": "Three tiles: the Snowdrop, the Dandelion and the Primrose.",
    "powers": "Each player has one of five powers for the whole game.",
    "forecasts": "Each player gets three secret cards and may play two of them.",
}
_ABOUT_READINGS = {
    "forecasts_end_actions": "Whoever plays a forecast card plays no action cards until the round ends.",
    "primrose_passes_once": "When drops on the Primrose change, at most one player takes control.",
}
MODULE_OF_READING = {"forecasts_end_actions": "forecasts", "primrose_passes_once": "flower_tiles"}
"""The module that the rule of each reading belongs to."""
_NOT_IN_SOLO = {
    "lake": 'the Lake is not used in solo play (Promos, The Lake, "Note")',
    "flower_tiles": "the Southern Winds don't support the three flower tiles (Flowers, Le tessere Fiori)",
}


def _names(key: str, value: object, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """The value as a tuple of different names. Raises a `ConfigError` that lists what is allowed."""
    if isinstance(value, str):
        raise ConfigError(f"{key}={value!r}: a sequence of names, such as ({value!r},)")
    try:
        given = tuple(value)  # type: ignore[arg-type, var-annotated]
    except TypeError:
        raise ConfigError(f"{key}={value!r}: a sequence of {', '.join(allowed)}") from None
    for name in given:
        if not isinstance(name, str) or name not in allowed:
            raise ConfigError(f"{key}: unknown {name!r}; allowed are {', '.join(allowed)}")
    if len(set(given)) != len(given):
        raise ConfigError(f"{key}={given!r}: each at most once")
    return given


@dataclass(frozen=True)
class Config:
    """What is played: the number of players and the options. Raises `ConfigError` for what cannot be played.

    The arguments are those of the environments too. The metadata of the fields describe the options of the command line
    (`tabletop_cli.switches`); "for" says who needs one: "one" player, or "several". A page offers a field
    with `names` as several choices, and a field with `values` as one choice; "about" has a sentence for each name.

    Arguments:
        players: 1 is the solo game against the Southern Winds, 2 to 4 the base game, and 5 the game of the Flowers
            expansion.
        rounds: 4 (short form) or 6 (long form). Solo always has 4 (Southern Winds, Setup 1).
        drafting: True for the Official Drafting Variant. Not in solo.
        variants: any of `double_card`, `non_random_targets`, `no_more_tricks`, `one_more_turn` (Increasing the
            Difficulty). Only in solo.
        modules: any of `fertilizer`, `cactus`, `lake`, `flower_tiles`, `powers`, `forecasts` (promos and Flowers). Solo
            has neither `lake` nor `flower_tiles`.
        powers: with the module `powers`, one for each player from seat 0, all different: `frost`, `sun`, `wind`,
            `rain`, `harvest`; () deals them at random.
        readings: unclear rules that are read in the other way (docs/rules.md): any of `forecasts_end_actions`, which
            needs the module `forecasts`, and `primrose_passes_once`, which needs `flower_tiles`.
        components: numbers that replace the shipped ones: the path of an overlay TOML file, or a mapping of its keys to
            numbers, such as {"pieces.clouds": 9}. None, or an empty mapping, stands for the shipped numbers.

    Names are kept in the order of `VARIANTS`, `MODULES` and `READINGS`, a mapping of components as a sorted tuple of
    (key, number) pairs with tuples in place of lists. A file is read at once and kept in the same form, so a
    configuration stays the same when the file changes.
    """

    SWITCHES: ClassVar[tuple[str, ...]] = (
        *("players", "owners", "rounds", "drafting", "variants", "modules", "chosen_power", "readings"),
    )
    """The fields of a record that a configuration sets."""

    players: int = 1
    rounds: int = field(default=4, metadata={"help": "Number of rounds: 4 or 6.", "for": "several", "values": (4, 6)})
    drafting: bool = field(
        default=False, metadata={"help": "Play with the Official Drafting Variant.", "for": "several"}
    )
    variants: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Variants of the solo game, separated by commas.",
            "for": "one",
            "names": VARIANTS,
            "about": _ABOUT_VARIANTS,
        },
    )
    modules: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Modules of the promos and Flowers, separated by commas.",
            "names": MODULES,
            "about": _ABOUT_MODULES,
        },
    )
    powers: tuple[str, ...] = field(default=(), metadata={"help": "The power of each seat, separated by commas."})
    readings: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Other readings of unclear rules, separated by commas.",
            "names": READINGS,
            "about": _ABOUT_READINGS,
        },
    )
    components: Any = field(
        default=None, metadata={"help": "A TOML file whose numbers replace the shipped ones.", "metavar": "FILE"}
    )

    def __post_init__(self) -> None:
        if not is_whole(self.players) or not 1 <= self.players <= MAX_PLAYERS:
            raise ConfigError(f"players={self.players!r}: 1 (solo against the Southern Winds), 2, 3, 4 or 5")
        if not is_whole(self.rounds) or self.rounds not in (4, 6):
            raise ConfigError(f"rounds={self.rounds!r}: 4 (short form) or 6 (long form)")
        if not isinstance(self.drafting, bool | np.bool_):
            raise ConfigError(f"drafting={self.drafting!r}: True or False")
        given = _names("variants", self.variants, VARIANTS)
        modules = _names("modules", self.modules, MODULES)
        powers = _names("powers", self.powers, POWERS)
        readings = _names("readings", self.readings, READINGS)
        if self.players == 1:
            if self.rounds != 4:
                raise ConfigError("rounds=6: the Southern Winds are played over 4 rounds (solo setup, step 1)")
            if self.drafting:
                raise ConfigError("drafting=True: there is no draft in solo; it needs 2 to 5 players")
            for name, reason in _NOT_IN_SOLO.items():
                if name in modules:
                    raise ConfigError(f"modules: {name!r} with players=1: {reason}")
        elif given:
            raise ConfigError(f"variants={given!r}: these are the solo game's; with players={self.players} leave empty")
        for name in readings:
            if MODULE_OF_READING[name] not in modules:
                raise ConfigError(f"readings: {name!r} reads a rule of the module {MODULE_OF_READING[name]!r}")
        if powers and "powers" not in modules:
            raise ConfigError(f"powers={powers!r}: player powers are played only with modules=('powers',)")
        if powers and len(powers) != self.players:
            raise ConfigError(
                f"powers={powers!r}: one for each of {self.players} players from seat 0, or () to deal them at random"
            )
        components = COMPONENTS.config_value(self.components)
        object.__setattr__(self, "players", int(self.players))
        object.__setattr__(self, "rounds", int(self.rounds))
        object.__setattr__(self, "drafting", bool(self.drafting))
        object.__setattr__(self, "variants", tuple(name for name in VARIANTS if name in given))
        object.__setattr__(self, "modules", tuple(name for name in MODULES if name in modules))
        object.__setattr__(self, "powers", powers)
        object.__setattr__(self, "readings", tuple(name for name in READINGS if name in readings))
        object.__setattr__(self, "components", components)

    @classmethod
    def of(cls, state: State, components: Any = None) -> Config:
        """The configuration that a record of `state.STATE` is played with."""

        def names(allowed: tuple[str, ...], switches: Iterable[int]) -> tuple[str, ...]:
            return tuple(name for name, on in zip(allowed, switches, strict=True) if on)

        return cls(
            players=int(state["players"]),
            rounds=int(state["rounds"]),
            drafting=bool(state["drafting"]),
            variants=names(VARIANTS, state["variants"]),
            modules=names(MODULES, state["modules"]),
            powers=tuple(POWER_NAMES[power] for power in state["chosen_power"] if power),
            readings=names(READINGS, state["readings"]),
            components=components,
        )

    def write_switches(self, states: np.ndarray) -> None:
        """Set the switches of records of `state.STATE`, an array (N,); everything else in them stays."""
        states["players"], states["owners"] = self.players, self.owners
        states["rounds"], states["drafting"] = self.rounds, self.drafting
        states["variants"] = [name in self.variants for name in VARIANTS]
        states["modules"] = [name in self.modules for name in MODULES]
        states["readings"] = [name in self.readings for name in READINGS]
        states["chosen_power"] = 0
        states["chosen_power"][:, : len(self.powers)] = [POWER_NAMES.index(name) for name in self.powers]

    @property
    def game(self) -> Game:
        """Petrichor."""
        from tabletop_engine.game import game_of  # loads the compiler, which nobody needs before the first game

        return game_of("petrichor_env.game")

    @property
    def solo(self) -> bool:
        """Whether this is the game against the Southern Winds."""
        return self.players == 1

    @property
    def owners(self) -> int:
        """The number of owners of drops and votes: the players, in solo also the neutral player."""
        return 2 if self.solo else self.players

    @property
    def agents(self) -> tuple[str, ...]:
        """The players' names, in clockwise order from seat 0."""
        return player_names(self.players)

    @property
    def name(self) -> str:
        """A short name for tables and file names, such as `solo+double_card` or `3p-draft+lake+powers`."""
        length = "-long" if self.rounds == 6 else ""
        game = "solo" if self.solo else f"{self.players}p{length}" + ("-draft" if self.drafting else "")
        return "+".join((game, *self.variants, *self.module_names, *self.readings))

    def curriculum(self) -> tuple[tuple[Config, ...], ...]:
        """What to learn, the easy ones first: this configuration with 0, 1, 2 … of the solo variants."""
        return tuple(
            tuple(replace(self, variants=chosen) for chosen in combinations(VARIANTS, number))
            for number in range(len(VARIANTS) + 1 if self.solo else 1)
        )

    def variety(self) -> tuple[Config, ...]:
        """The configurations that a general player for this number of players should know.

        In solo these are all sets of variants. With several players these are no module, all modules, and each module
        alone; the first two also with a draft, in the long form, and with both.
        """
        if self.solo:
            return tuple(config for level in self.curriculum() for config in level)
        forms = [replace(self, drafting=drafting, rounds=rounds) for rounds in (4, 6) for drafting in (False, True)]
        alone = tuple(replace(self, modules=(name,)) for name in MODULES)
        return (*(replace(form, modules=modules) for form in forms for modules in ((), MODULES)), *alone)

    @property
    def module_names(self) -> tuple[str, ...]:
        """The names of the modules, with the powers that were chosen: `cactus`, `powers=rain-sun`."""
        powers = f"powers={'-'.join(self.powers)}" if self.powers else "powers"
        return tuple(powers if name == "powers" else name for name in self.modules)
