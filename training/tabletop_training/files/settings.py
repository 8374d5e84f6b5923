"""Hyper-parameters: dataclasses, filled by the small TOML files in `tabletop_training/configs/GAME/`."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from tabletop_engine.checks import checked, fit_fields
from tabletop_engine.errors import ConfigError
from tabletop_engine.files import read_limited
from tabletop_engine.game import Game
from tabletop_engine.play.batch import REWARDS

CONFIGS = Path(__file__).parents[1] / "configs"
"""The folder of the shipped settings files; each game has a folder in it."""

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """The hyper-parameters of a learner: the table `[learning]` of a settings file.

    The learning rate and the entropy bonus fall linearly to `final` times their first value over the budget. Each
    update learns from the learner's next `num_envs * steps` decisions. The weights are always float32.
    """

    num_envs: int = 128  # games played side by side
    steps: int = 128  # decisions of each game between two updates
    minibatch: int = 2048  # decisions for each step of the optimizer
    epochs: int = 3  # how often an update goes through its decisions
    learning_rate: float = 2e-3  # of PPO, like all following fields without a comment
    entropy: float = 0.01
    final: float = 0.05  # the last learning rate and entropy bonus, as a fraction of the first
    discount: float = 1.0
    gae_lambda: float = 0.98
    clip: float = 0.2
    value_weight: float = 0.5
    max_gradient: float = 0.5
    channels: tuple[int, ...] = ()  # channels of 3 x 3 convolutions over the board, before the trunk
    trunk: tuple[int, ...] = ()  # widths of the layers that policy and value share
    layers: tuple[int, ...] = (128, 128)  # widths of the layers after them, of policy and value each
    numbers: bool = False  # whether the network reads the printed numbers; one to start from gets them as new inputs
    shortfall_weight: float = 0.0  # nats a point, given to a network that weighs none yet; 0: none is given
    logit_scale: float = 1.0  # factor of the logits of a network that gets this weight
    reward: str = "margin"  # "win", "margin" or "points", as in `Batch`
    reward_scale: float = 0.1  # factor of the reward
    win_bonus: float = 0.0  # after the scaling, added to a won game's last reward, subtracted from a lost game's
    bfloat16: bool = True  # multiply matrices in bfloat16 if the processor can: 2 to 3 times as fast with AMX
    threads: int | None = None  # of torch; None measures which number is fastest
    evaluate_every: int = 500_000  # steps between two evaluations, which choose `best.zip`

    def __post_init__(self) -> None:
        fit_fields(self)
        check_at_least_one(
            **{name: getattr(self, name) for name in ("num_envs", "steps", "minibatch", "epochs", "evaluate_every")}
        )
        for name in ("entropy", "clip", "value_weight", "max_gradient", "win_bonus", "shortfall_weight", "logit_scale"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ConfigError(f"{name}={getattr(self, name)}: must be a finite number of at least 0")
        for name in ("learning_rate", "reward_scale"):
            if not 0 < getattr(self, name) < math.inf:
                raise ConfigError(f"{name}={getattr(self, name)}: must be a finite number above 0")
        for name in ("discount", "gae_lambda", "final"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name}={getattr(self, name)}: must be from 0 to 1")
        if self.reward not in REWARDS:
            raise ConfigError(f"reward={self.reward!r}: must be one of {', '.join(map(repr, REWARDS))}")
        if any(width < 1 for width in (*self.channels, *self.trunk, *self.layers)):
            widths = f"channels={self.channels}, trunk={self.trunk}, layers={self.layers}"
            raise ConfigError(f"{widths}: must be widths of at least 1")
        if self.channels and self.numbers:
            raise ConfigError(f"channels={self.channels}, numbers=True: a network can have one of them")
        check_at_least_one(threads=1 if self.threads is None else self.threads)
        if self.num_envs * self.steps % self.minibatch == 1:  # a single decision's advantage can't be normalized
            raise ConfigError(
                f"minibatch={self.minibatch}: leaves a minibatch of a single decision of num_envs * steps = "
                f"{self.num_envs * self.steps}"
            )


def shipped_settings(game: Game) -> list[str]:
    """The names of the settings files that come with the package."""
    return sorted(file.stem for file in (CONFIGS / game.name).glob("*.toml"))


@checked
def read_settings(name: str | Path | None, game: Game, **sections: type[Any]) -> dict[str, Any]:
    """The tables of a settings file as dataclasses.

    Arguments:
        name: a TOML file, or the name of one shipped for the game, without its ending; None means no file.
        sections: the tables that the file may have, with a dataclass for each. A missing table gives the defaults. A
            class with a method `of_table(game, table)` is created by it.

    Raises ConfigError for a file that is missing or is not TOML, and for unknown tables, unknown keys and wrong values;
    the message lists the known ones.
    """
    path, tables = Path(name or ""), {}
    if name is not None:
        path = path if path.is_file() else CONFIGS / game.name / f"{name}.toml"
        if not path.is_file():
            known = ", ".join(shipped_settings(game)) or "none"
            raise ConfigError(f"{name}: there is no such settings file; shipped ones: {known}")
        try:
            tables = tomllib.loads(read_limited(path).decode())
        except (ValueError, RecursionError, OSError) as error:
            raise ConfigError(f"{path}: is not TOML ({error})") from None
    unknown = sorted(set(tables) - set(sections))
    if unknown:
        raise ConfigError(f"{path}: unknown table or key {', '.join(unknown)}; it has the tables {', '.join(sections)}")
    made = {}
    for section, kind in sections.items():
        table = tables.get(section, {})
        try:
            if not isinstance(table, dict):
                raise ConfigError(f"must be a table, not {table!r}")
            made[section] = section_of(kind, game, table)
        except ConfigError as error:
            raise ConfigError(f"{path}: [{section}]: {error}") from None
    return made


def section_of(kind: type[Any], game: Game, table: dict[str, Any]) -> Any:
    """Create a dataclass from a table, by `of_table` if the class has it, otherwise by `from_table`."""
    return kind.of_table(game, table) if hasattr(kind, "of_table") else from_table(kind, table)


def from_table(kind: type[T], table: dict[str, Any]) -> T:
    """Create a dataclass from a table of TOML or JSON; lists become tuples. Raises ConfigError for unknown keys."""
    check_keys(table, [field.name for field in fields(kind)])  # type: ignore[arg-type]
    return kind(**with_tuples(table))


def check_at_least_one(**numbers: int) -> None:
    """Raise ConfigError for a number below 1."""
    for name, number in numbers.items():
        if number < 1:
            raise ConfigError(f"{name}={number}: must be at least 1")


def check_keys(table: Iterable[str], known: Sequence[str]) -> None:
    """Raise ConfigError for unknown keys."""
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise ConfigError(f"unknown key {', '.join(unknown)}; there are {', '.join(known)}")


def with_tuples(table: dict[str, Any]) -> dict[str, Any]:
    """A table of TOML or JSON with tuples instead of lists."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
