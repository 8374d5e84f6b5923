"""The benchmarks of each game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import evergreen_env.config
import petrichor_env.config
from evergreen_env import evergreen_v0
from petrichor_env import petrichor_v0
from petrichor_env.config import MODULES, VARIANTS
from tabletop_engine.game import Config


@dataclass(frozen=True)
class Measured:
    """What is measured of a game.

    Attributes:
        solo: the Gymnasium id of the game for one, with its module. aec: creates the AEC environment for two.
        aec_name: its name in the report.
        playouts, search: configurations by name. search_target: the targets in simulations a second, with one player
            and with two.
        int8_times: the target of the vector environment with plain counts, as a multiple of EnvPool's CartPole.
        pictures: by name, arguments of AEC environments whose pictures are drawn.
        with_small_games: whether the small games of the tests are measured, too.
    """

    solo: str
    aec: Callable[..., Any]
    aec_name: str
    playouts: Mapping[str, Config]
    search: Mapping[str, Config]
    search_target: int
    int8_times: float
    pictures: Mapping[str, dict[str, Any]]
    with_small_games: bool = False

    @property
    def solo_name(self) -> str:
        """The id without its module."""
        return self.solo.partition(":")[2]


_PETRICHOR = petrichor_env.config.Config
_EVERGREEN = evergreen_env.config.Config

GAMES = {
    "petrichor": Measured(
        solo="petrichor_env:Petrichor/Solo-v0",
        aec=petrichor_v0.env,
        aec_name="petrichor_v0",
        playouts={
            "solo": _PETRICHOR(),
            "solo, all variants": _PETRICHOR(variants=VARIANTS),
            "solo, all its modules": _PETRICHOR(modules=("fertilizer", "cactus", "powers", "forecasts")),
            **{f"{players}p": _PETRICHOR(players=players) for players in (2, 3, 4, 5)},
            **{f"{players}p, all modules": _PETRICHOR(players=players, modules=MODULES) for players in (2, 5)},
        },
        search={"solo": _PETRICHOR(), **{f"{players}p": _PETRICHOR(players=players) for players in (2, 3, 4)}},
        search_target=20_000,
        int8_times=3.0,
        pictures={
            "2p": {"num_players": 2},
            "5p": {"num_players": 5},
            "5p, all modules": {"num_players": 5, "modules": MODULES},
        },
        with_small_games=True,
    ),
    "evergreen": Measured(
        solo="evergreen_env:Evergreen/Solo-v0",
        aec=evergreen_v0.env,
        aec_name="evergreen_v0",
        playouts={"solo": _EVERGREEN(), **{f"{players}p": _EVERGREEN(players=players) for players in (2, 3, 4)}},
        search={"solo": _EVERGREEN(), **{f"{players}p": _EVERGREEN(players=players) for players in (2, 3, 4)}},
        search_target=10_000,
        int8_times=1.0,
        pictures={f"{players}p": {"num_players": players} for players in (2, 4)},
    ),
}
