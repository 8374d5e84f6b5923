"""What goes through the contract of tests/contract: both games and the small ones, every kind of environment.

The small games have Gymnasium IDs here, so that their environments are made as those of the shipped games are.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest

import evergreen_env
import petrichor_env
from evergreen_env import evergreen_v0
from petrichor_env import petrichor_v0
from petrichor_env.config import MODULES, VARIANTS
from tabletop_engine.envs.aec import SeatsAEC
from tabletop_engine.game import Config
from tabletop_engine.play.agents import Decisions
from tests.games import connect_four, gem_market, hex, leduc_poker, row_houses, tiny_hanabi, tricks
from tests.support.configurations import SOLO_MODULES

SMALL = [module.GAME for module in (connect_four, leduc_poker, hex, gem_market, row_houses)]
for _game in SMALL:
    gymnasium.register(
        f"Small/{_game.name}-v0",
        "tabletop_engine.envs:SeatEnv",
        vector_entry_point="tabletop_engine.envs:SeatVectorEnv",
        kwargs={"game": _game.home},
    )

PETRICHOR, EVERGREEN = "petrichor_env:Petrichor", "evergreen_env:Evergreen"
RANDOM: dict[str, Any] = {"opponents": ("random",)}
ONE_SEAT: list[tuple[str, dict[str, Any]]] = [
    (f"{PETRICHOR}/Solo-v0", {}),
    (f"{PETRICHOR}/Solo-v0", {"variants": VARIANTS, "reward": "margin", "observation_dtype": "int8"}),
    (f"{PETRICHOR}/Solo-v0", {"modules": SOLO_MODULES, "reward": "points", "illegal_action": "random"}),
    (f"{PETRICHOR}/Solo-v0", {"variants": VARIANTS[:1], "modules": ("powers",), "powers": ("harvest",)}),
    (f"{PETRICHOR}/Versus-v0", {}),
    (f"{PETRICHOR}/Versus-v0", {**RANDOM, "seat": 1, "reward": "margin", "modules": ("powers",)}),
    (f"{PETRICHOR}/Versus-v0", {"opponents": ("random", "greedy"), "players": 3, "drafting": True}),
    (f"{PETRICHOR}/Versus-v0", {**RANDOM, "players": 5, "rounds": 6, "modules": MODULES, "illegal_action": "random"}),
    (f"{EVERGREEN}/Solo-v0", {}),
    (f"{EVERGREEN}/Solo-v0", {"observation_dtype": "int8", "components": {"flags.sun_start": "east"}}),
    (f"{EVERGREEN}/Versus-v0", {"opponents": ("greedy",), "players": 3}),
    (f"{EVERGREEN}/Versus-v0", {**RANDOM, "players": 4, "reward": "margin", "seat": 2, "illegal_action": "random"}),
    ("Small/connect_four-v0", RANDOM),
    ("Small/leduc_poker-v0", {**RANDOM, "reward": "points", "seat": 1}),
    ("Small/hex-v0", {**RANDOM, "observation_dtype": "int8"}),
    ("Small/gem_market-v0", {**RANDOM, "players": 4, "illegal_action": "random"}),
    ("Small/row_houses-v0", {**RANDOM, "reward": "margin"}),
]
"""Gymnasium IDs with arguments: one seat of a game."""

ALL_SEATS: list[tuple[Any, dict[str, Any]]] = [
    (petrichor_v0.raw_env, {}),
    (petrichor_v0.raw_env, {"num_players": 3, "drafting": True, "reward": "margin"}),
    (petrichor_v0.raw_env, {"num_players": 4, "rounds": 6, "modules": ("powers",), "illegal_action": "random"}),
    (petrichor_v0.raw_env, {"num_players": 5, "modules": MODULES, "reward": "points"}),
    (evergreen_v0.raw_env, {}),
    (evergreen_v0.raw_env, {"num_players": 3, "reward": "margin"}),
    (evergreen_v0.raw_env, {"num_players": 4, "illegal_action": "random"}),
    (connect_four.raw_env, {"observation_dtype": "int8"}),
    (hex.raw_env, {}),
    (gem_market.raw_env, {"num_players": 3, "reward": "points"}),
    (partial(SeatsAEC, "leduc_poker_v0", leduc_poker.Config()), {"reward": "margin"}),
    (partial(SeatsAEC, "row_houses_v0", row_houses.Config(players=4)), {}),
]
"""Classes of PettingZoo environments with arguments."""

WITHOUT_CHANCE = ("Small/connect_four-v0", "Small/hex-v0")
"""Games whose random stream stays as it is."""

CONFIGS: list[Config] = [
    petrichor_env.Config(),
    petrichor_env.Config(players=3, drafting=True, modules=MODULES),
    evergreen_env.Config(players=1),
    evergreen_env.Config(players=3),
    *(connect_four.Config(), leduc_poker.Config(), hex.Config()),
    *(gem_market.Config(players=3), row_houses.Config(players=5), tricks.Config(), tiny_hanabi.Config()),
]
"""A few configurations of each game."""


def _name(case: tuple[Any, dict[str, Any]]) -> str:
    made, arguments = case
    named = made if isinstance(made, str) else getattr(made, "__module__", None) or made.args[0]
    told = ",".join(f"{key}={value}" for key, value in arguments.items() if key != "opponents")
    return f"{named.partition(':')[2] or named.rpartition('.')[2]} {told}".strip()


over_one_seat = pytest.mark.parametrize(("name", "arguments"), ONE_SEAT, ids=map(_name, ONE_SEAT))
over_all_seats = pytest.mark.parametrize(("made", "arguments"), ALL_SEATS, ids=map(_name, ALL_SEATS))
over_configs = pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.game.name}-{config.name}")


class First:
    """Takes the legal action of a fixed rank, draws nothing, and records how many decisions each call had."""

    def __init__(self, name: str = "first", skip: int = 0) -> None:
        self.name = name
        self.skip = skip
        self.calls: list[int] = []
        self.seats: set[int] = set()

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        self.calls.append(len(decisions))
        self.seats |= set(decisions.sample_states(np.random.default_rng(0))["actor"].tolist())
        return np.array([np.flatnonzero(mask)[self.skip % mask.sum()] for mask in decisions.action_masks], np.int64)


def with_fixed_opponents(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with a seat and opponents that draw nothing: games of a vector share their generator."""
    fixed: dict[str, Any] = {"opponents": (First(),), "seat": arguments.get("seat", 1)}
    return arguments if "Solo" in name else {**arguments, **fixed}
