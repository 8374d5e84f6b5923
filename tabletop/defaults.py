"""What a game need not say itself: the parts of a `Game` that are the same wherever nothing special is wanted.

Rules for games without secrets whose points decide, a configuration without variants, numbers without an overlay, and
the fields of `tabletop.game.RECORD` with the rules that begin and end a game in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tabletop.compiled import rule
from tabletop.errors import ComponentsError, ConfigError, StateError
from tabletop.legal import ask, forbid_all

if TYPE_CHECKING:
    from tabletop.game import Game

_NOBODY = -1

# --- The record ------------------------------------------------------------------------------------------------------


def record(owners: int, actions: int, *own: tuple[Any, ...]) -> np.dtype[Any]:
    """The dtype of a record: the fields of `RECORD`, and the game's own ones, declared as NumPy takes them.

    Large numbers come first, so that all are aligned. A last field fills the record up to whole words: without padding
    equal games are equal bytes.

    Arguments:
        owners: at most so many have points.
        actions: how many there are.
    """
    fields = [
        ("rng", np.uint64),
        ("legal", np.uint64, ((actions + 63) // 64,)),
        ("points", np.int16, (owners,)),
        *((name, np.int8) for name in ("decision", "actor", "players", "owners", "round", "rounds", "forfeited")),
        *own,
    ]
    fields.sort(key=lambda field: -np.dtype(field[1]).itemsize)
    rest = -np.dtype(fields).itemsize % 8
    return np.dtype([*fields, ("filler", np.uint8, (rest,))] if rest else fields)


@rule
def begin_game(s: Any) -> None:
    """Nobody has points, it is round 1, and seat 0 is asked the first decision; what is legal is still to be said."""
    s["round"] = 1
    s.points[:] = 0
    s.forfeited = _NOBODY
    ask(s, 0, 0)


@rule
def end_game(s: Any) -> None:
    """Nobody is asked any more."""
    s.actor = _NOBODY
    forbid_all(s)


# --- Rules -----------------------------------------------------------------------------------------------------------


@rule
def ranks_by_points(s: Any, out: np.ndarray) -> None:
    """The most points are the first place."""
    for owner in range(s.owners):
        out[owner] = 1
        for other in range(s.owners):
            out[owner] += s.points[other] > s.points[owner]


@rule
def forfeit(s: Any, seat: int) -> None:
    """The game ends here, and this seat has lost it."""
    s.forfeited = seat
    end_game(s)


@rule
def hide_nothing(s: Any, t: Any, seat: int, rng: np.uint64) -> None:
    """Only what chance will bring is unknown."""
    s.rng = rng


@rule
def points_ahead(s: Any, t: Any, w: Any, seat: int, memo: np.ndarray) -> float:
    """Own points less the mean of the others'; own points where there is nobody else."""
    own = float(s.points[seat])
    others = -own
    for owner in range(s.owners):
        others += s.points[owner]
    return own if s.owners == 1 else own - others / (s.owners - 1)


@rule
def is_others_turn(s: Any, seat: int) -> bool:
    """What a seat does is done when somebody else is asked, or nobody."""
    return s.actor != seat


# --- The configuration and the numbers -------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlainConfig:
    """What is played where nothing can be chosen but the number of players.

    A game's own class of this kind stands in the module that has its `GAME`.

    Arguments:
        players: how many.
        components: None: there are no numbers to replace.

    Raises ConfigError for others.
    """

    SWITCHES: ClassVar[tuple[str, ...]] = ("players", "owners", "rounds")
    ROUNDS: ClassVar[int] = 1

    players: int = 2
    components: None = None

    def __post_init__(self) -> None:
        allowed = self.game.players
        if isinstance(self.players, bool) or self.players not in allowed:
            raise ConfigError(f"players={self.players!r}: {' or '.join(map(str, allowed))}")
        if self.components is not None:
            raise ConfigError(f"components={self.components!r}: None, as {self.game.title} has no numbers to replace")
        object.__setattr__(self, "players", int(self.players))

    @property
    def game(self) -> Game:
        from tabletop.game import game_of  # it has these defaults

        return game_of(type(self).__module__)

    @property
    def owners(self) -> int:
        return self.players

    @property
    def name(self) -> str:
        return f"{self.players}p"

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(f"player_{seat}" for seat in range(self.players))

    def write_switches(self, states: np.ndarray) -> None:
        """Write the switches into records, (N,)."""
        states["players"], states["owners"], states["rounds"] = self.players, self.owners, self.ROUNDS

    @classmethod
    def of(cls, state: Any, components: None = None) -> Self:
        """The configuration that a record is played with."""
        return cls(players=int(state["players"]), components=components)


NO_TABLES = np.dtype([("nothing", np.int8)])
"""For games without printed numbers."""


def no_tables(components: Any) -> np.ndarray:
    """(1,) NO_TABLES, read-only. Raises ComponentsError for numbers that should replace them."""
    if components is not None:
        raise ComponentsError(f"components={components!r:.80}: this game has no numbers to replace")
    tables = np.zeros(1, NO_TABLES)
    tables.flags.writeable = False
    return tables


def no_memo() -> np.ndarray:
    """Scratch space for a valuation that needs none."""
    return np.zeros(1)


# --- Checking records ------------------------------------------------------------------------------------------------


def check_records(game: Game, states: np.ndarray, tables: np.ndarray) -> None:
    """Raise StateError where a common field of a record (N,) has no value of the game's, or what is legal is not it.

    What else cannot be in a game only the game itself knows: its own `check` says that.
    """
    again = states.copy()
    for field, allowed in (
        ("players", game.players),
        ("decision", range(len(game.decisions))),
        ("forfeited", range(_NOBODY, max(game.players))),
    ):
        _check_each(np.isin(states[field], allowed), f"has {field} {{}}", states[field])
    _check_each((states["actor"] >= _NOBODY) & (states["actor"] < states["players"]), "asks seat {}", states["actor"])
    over = states["actor"] == _NOBODY
    game.kernels.refresh_legal(again, tables)
    same = (again["legal"] == states["legal"]).all(axis=1)
    _check_each(np.where(over, ~states["legal"].any(axis=1), same), "has other legal actions than it allows", over)
    _check_each(over | (states["forfeited"] == _NOBODY), "goes on though player_{} has lost it", states["forfeited"])


def _check_each(sound: np.ndarray, what: str, values: np.ndarray) -> None:
    if not sound.all():
        first = int(sound.argmin())
        raise StateError(f"game {first} {what.format(values[first])}")
