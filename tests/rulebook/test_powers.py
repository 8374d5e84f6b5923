"""Flowers, Poteri dei giocatori: their setup, and random games with all of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from petrichor_env import Batch, Config, scenario
from petrichor_env.config import POWERS
from petrichor_env.observation import LAYOUT
from petrichor_env.state import POWER_NAMES, TILE_NAMES, Crop, Phase, Power, State
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.batch import legal_actions
from tests.rulebook.base_game import (
    FIELDS,
    NEXT,
    asked,
    cloud,
    end_round,
    hand,
    legal_names,
    moves,
    tiles,
)
from tests.rulebook.modules import (
    block,
    blooms,
    neighbours,
    powers,
    random_play,
    relative,
)
from tests.rulebook.southern_winds import NEUTRAL

POWERS_MODULE = ("powers",)


def begun(config: Config, games: int, seed: int = 0) -> np.ndarray:
    """States of games whose setup is over: everybody has taken the first legal action."""
    batch = Batch(config, games, seed=seed)
    while (batch.states["phase"] == Phase.SETUP).any():
        batch.step([int(legal_actions(state)[0]) for state in batch.states])
    return batch.states.copy()


# --- Setup ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_everybody_gets_a_different_random_power(players: int) -> None:
    """Setup: after the base game's setup each player gets a random power, all different; before it nobody has one."""
    config = Config(players=players, modules=POWERS_MODULE)
    assert not Batch(config, 1).states["power"].any()
    states = begun(config, 300, seed=1)
    dealt = states["power"][:, :players]
    assert (np.sort(dealt, axis=1)[:, 1:] > np.sort(dealt, axis=1)[:, :-1]).all()
    for seat in range(players):
        counts = Counter(dealt[:, seat].tolist())
        assert set(counts) == {Power.FROST, Power.SUN, Power.WIND, Power.RAIN, Power.HARVEST}
        assert min(counts.values()) > 30
    assert not states["power"][:, players:].any()


def test_five_players_have_all_five_powers() -> None:
    """Componenti: there are five power cards."""
    states = begun(Config(players=5, modules=POWERS_MODULE), 20)
    assert (np.sort(states["power"], axis=1) == [1, 2, 3, 4, 5]).all()


@pytest.mark.parametrize("chosen", [("wind", "harvest"), ("sun", "frost", "rain"), POWERS[::-1]])
def test_chosen_powers(chosen: tuple[str, ...]) -> None:
    """Config(powers=...) gives each seat its power in every game, from the start."""
    batch = Batch(Config(players=len(chosen), modules=POWERS_MODULE, powers=chosen), 20, seed=2)
    wanted = [POWER_NAMES.index(name) for name in chosen]
    assert (batch.states["power"][:, : len(chosen)] == wanted).all()
    states = begun(Config(players=len(chosen), modules=POWERS_MODULE, powers=chosen), 20, seed=2)
    assert (states["power"][:, : len(chosen)] == wanted).all()


@pytest.mark.parametrize("modules", [(), ("flower_tiles",), ("forecasts",)])
def test_no_powers_without_the_module(modules: tuple[str, ...]) -> None:
    """Flowers; ruling 5.9: powers are a module of their own."""
    assert not begun(Config(players=3, modules=modules), 20)["power"].any()


def test_solo_powers() -> None:
    """Ruling 3.8: powers are allowed in solo; the neutral player has none."""
    states = begun(Config(players=1, modules=POWERS_MODULE), 200, seed=3)
    assert set(states["power"][:, 0]) == {Power.FROST, Power.SUN, Power.WIND, Power.RAIN, Power.HARVEST}
    assert (states["power"][:, NEUTRAL] == Power.NONE).all()
    chosen = Batch(Config(players=1, modules=POWERS_MODULE, powers=("rain",)), 5).states["power"]
    assert (chosen[:, :2] == [Power.RAIN, Power.NONE]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"players": 2, "powers": ("sun", "wind")}, "modules"),
        ({"players": 2, "modules": ("flower_tiles",), "powers": ("sun", "wind")}, "modules"),
        ({"players": 3, "modules": POWERS_MODULE, "powers": ("sun", "wind")}, "one for each of 3"),
        ({"players": 2, "modules": POWERS_MODULE, "powers": ("sun", "wind", "rain")}, "one for each of 2"),
        ({"players": 1, "modules": POWERS_MODULE, "powers": ("sun", "wind")}, "one for each of 1"),
        ({"players": 2, "modules": POWERS_MODULE, "powers": ("sun", "sun")}, "at most once"),
        ({"players": 2, "modules": POWERS_MODULE, "powers": ("sun", "fog")}, "'fog'"),
        ({"players": 2, "modules": POWERS_MODULE, "powers": ("sun", "none")}, "'none'"),
        ({"players": 2, "modules": POWERS_MODULE, "powers": ("sun", 3)}, "3"),
        ({"players": 1, "modules": POWERS_MODULE, "powers": "sun"}, "sequence"),
        ({"players": 2, "modules": POWERS_MODULE, "powers": 5}, "sequence"),
        ({"players": 2, "modules": "powers"}, "sequence"),
        ({"players": 2, "modules": ("power",)}, "'power'"),
        ({"players": 2, "modules": ("powers", "powers")}, "at most once"),
    ],
)
def test_chosen_powers_are_checked(arguments: dict[str, Any], message: str) -> None:
    """Config: chosen powers need their module; there is one for each player, all different."""
    with pytest.raises(ConfigError, match=message):
        Config(**arguments)


def test_powers_are_visible_to_all() -> None:
    """Setup: everybody sees which power each player has; views differ only in the order of seats."""
    chosen = ("rain", "frost", "harvest", "sun")
    batch = Batch(Config(players=4, modules=POWERS_MODULE, powers=chosen), 1, seed=4)
    block = LAYOUT["powers"]
    views = [batch.observe(seat)[0][block.slice].reshape(block.shape) for seat in range(4)]
    assert views[0].any()
    for seat, view in enumerate(views):
        seats = [(seat + distance) % 4 for distance in range(4)]
        own = np.array([views[0][other] for other in seats])
        assert np.array_equal(view[:4], own)
    assert len({row.tobytes() for row in views[0][:4]}) == 4
    other = Batch(Config(players=4, modules=POWERS_MODULE, powers=("rain", "frost", "sun", "harvest")), 1, seed=4)
    assert not np.array_equal(other.observe(0)[0][block.slice], batch.observe(0)[0][block.slice])


def test_powers_stay_for_the_whole_game() -> None:
    """Setup: players keep their powers for the whole game."""
    votes = {"frost": (1, 1), "rain": (1, 1)}
    state = end_round(votes=votes, round=2, **powers("wind"))
    assert state["round"] == 3
    assert state["power"][:2].tolist() == [Power.WIND, Power.FROST]


@pytest.mark.parametrize("changes", [{"drafting": True}, {"rounds": 6}, {"modules": ("fertilizer", "powers")}])
def test_powers_are_dealt_whatever_else_is_played(changes: dict[str, Any]) -> None:
    """Flowers: modules combine freely; powers come last in the setup."""
    states = begun(Config(**{"players": 3, "modules": POWERS_MODULE, **changes}), 30)
    assert (np.sort(states["power"][:, :3], axis=1)[:, 0] > 0).all()


def test_dealt_powers_are_visible_to_all() -> None:
    """Setup: powers dealt at random are visible as well; the neutral player has none."""
    for players in (1, 5):
        state = begun(Config(players=players, modules=POWERS_MODULE), 1, seed=5)[0]
        for seat in range(players):
            seen = np.reshape(block(state, seat, "powers"), LAYOUT["powers"].shape)
            for distance in range(5):
                power = int(state["power"][(seat + distance) % players]) if distance < players else 0
                assert seen[distance].tolist() == [float(power == 1 + column) for column in range(5)]


def test_powers_that_were_dealt() -> None:
    """A scenario: powers that were dealt at random, not chosen."""
    state = scenario({"players": 2, "modules": ["powers"], "power": {"player_0": "harvest", "player_1": "sun"}})
    assert state["power"].tolist()[:2] == [Power.HARVEST, Power.SUN]
    assert not state["chosen_power"].any()


# --- random games --------------------------------------------------------------------------------------------------


class Referee:
    """What is legal in a state of 4 or 5 players with powers, the Lake and flower tiles, by the texts.

    None for decisions that powers do not change.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.decision, self.seat = asked(state)
        self.players = int(state["players"])
        self.power = POWER_NAMES[int(state["power"][self.seat])] if self.seat >= 0 else "none"
        self.field = FIELDS[self.players]
        self.supply = int(state["supply"][self.seat])

    def legal(self) -> set[str] | None:
        return getattr(self, self.decision, lambda: None)()

    def crop(self, name: str) -> Crop:
        return Crop(self.state["crop"][TILE_NAMES.index(name)])

    def watered(self, name: str) -> bool:
        """Whether a player may choose to put drops there; the Lake is left out."""
        return self.crop(name) is not Crop.SNOWDROP or blooms(self.state, name) > 0

    def own_clouds(self) -> list[str]:
        return [name for name in self.field if (cloud(self.state, name) or (0,) * 9)[1 + self.seat]]

    def substitutes(self, kind: str, optional: bool) -> bool:
        """Whether cards in hand pay for a substituted action."""
        held = hand(self.state, self.seat)
        same, others = held.count(kind), len(held) - held.count(kind)
        if kind == "sun" and self.power == "sun":
            return others >= 1 and (not optional or len(held) >= 2)
        if not optional:
            return others >= 2
        return (same >= 1 and others >= 2) or others >= 4

    def turn(self) -> set[str]:
        held = hand(self.state, self.seat)
        found = {f"play {kind}" for kind in held}
        if int(self.state["turns"]) >= self.players:
            found.add("pass")
        return found | {f"substitute {kind}" for kind in NEXT if self.substitutes(kind, optional=False)}

    def optional_action(self) -> set[str]:
        held = hand(self.state, self.seat)
        found = {f"play {kind}" for kind in NEXT if held.count(kind) >= 2} | {"decline"}
        return found | {f"substitute {kind}" for kind in NEXT if self.substitutes(kind, optional=True)}

    def frost_power(self) -> set[str]:
        assert self.power == "frost"
        assert self.supply >= 1
        return {"power", "decline"}

    def wind_tile(self) -> set[str] | None:
        moved = TILE_NAMES[int(self.state["target"])]
        if self.power == "wind":
            return tiles(*self.field) - tiles(moved)
        assert self.crop(moved) is Crop.LAKE
        return None

    def wind_direction(self) -> None:
        assert self.power != "wind"

    def rain_drop(self) -> set[str]:
        normal = {
            f"drop {name} {relative(owner, self.seat, self.players)}"
            for name in self.own_clouds()
            if self.watered(name)
            for owner, number in enumerate((cloud(self.state, name) or ())[1:])
            if number
        }
        if self.power != "rain" or not self.supply:
            return normal
        free = [name for name in self.field if cloud(self.state, name) is None]
        own = tiles(*(name for name in free if self.watered(name) and self.crop(name) is not Crop.LAKE))
        return normal | own | (set() if normal else {"decline"})

    def rain_second_drop(self) -> set[str]:
        first = f"drop {TILE_NAMES[int(self.state['target'])]} "
        drops = {name for name in self.rain_drop() if name.startswith("drop ")}
        return {name for name in drops if not name.startswith(first)} | {"decline"}

    def wind_weather_direction(self) -> set[str]:
        around = neighbours(self.players, TILE_NAMES[int(self.state["target"])])
        return moves(*(direction for direction, there in around.items() if self.watered(there)))

    def keep_drop(self) -> set[str]:
        assert self.power == "harvest"
        kept = int(self.state["target"])
        lay = [name for name in self.field if self.state["scored_drops"][TILE_NAMES.index(name)][self.seat]]
        return tiles(*(name for name in lay if TILE_NAMES.index(name) > kept)) | {"decline"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("players", [4, 5])
def test_legal_actions_in_random_games(players: int) -> None:
    """Spiegazione dei poteri: the exact legal actions where powers change them, for owners and others."""
    seen: Counter[str] = Counter()
    config = Config(players=players, modules=("lake", "flower_tiles", "powers"))
    for _, states in random_play(config, 80, 600, seed=14):
        for state in states:
            referee = Referee(state)
            expected = referee.legal()
            if expected is not None:
                assert legal_names(state) == expected, (referee.decision, referee.power)
                seen[referee.decision] += 1
                seen[f"{referee.decision} with {referee.power}"] += 1
    for name in (
        *("turn with sun", "optional_action with sun", "frost_power", "wind_tile with wind", "rain_drop with rain"),
        *("rain_second_drop", "wind_weather_direction", "keep_drop", "rain_drop with frost", "turn with wind"),
    ):
        assert seen[name] >= 20, name
