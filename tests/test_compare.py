"""A slow, plain game is played beside the fast one, and a difference is reported."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from petrichor_env.game import GAME as PETRICHOR
from tabletop_engine.errors import ComponentsError, ConfigError
from tabletop_engine.game import Config
from tabletop_engine.testing import Difference, RandomStream, compare
from tests.games import connect_four, gem_market, leduc_poker, row_houses
from tests.games.slow_games import SlowConnectFour, SlowGemMarket, SlowLeducPoker, SlowRowHouses
from tests.support.effort import games

OTHER_NUMBERS = {
    "tier_1.card_1": [1, 0, 0, 0, 0, 1],
    "tier_2.card_6": [5, 0, 1, 0, 2, 0],
    "guests.guest_1": [2, 1, 1, 0, 0, 0],
    "guests.guest_2": [4, 1, 0, 1, 0, 0],
    "setup.supply": [3, 4, 9],
    "setup.gold": 2,
    "limits.gems": 6,
    "limits.goal": 12,
}
"""Numbers of Gem Market with little room for gems, and with guests who come early and several at a time."""


def test_the_small_games_are_as_their_slow_ones() -> None:
    assert compare(connect_four.GAME, SlowConnectFour, seeds=range(games(60, 300))) > games(60, 300) * 7
    assert compare(leduc_poker.GAME, SlowLeducPoker, seeds=range(games(200, 1000))) > games(200, 1000) * 2
    assert compare(row_houses.GAME, SlowRowHouses, seeds=range(games(30, 150))) > 3 * games(30, 150) * 30


def test_gem_market_is_as_its_slow_one() -> None:
    seeds = range(games(4, 50))
    assert compare(gem_market.GAME, SlowGemMarket, seeds=seeds) > 3 * len(seeds) * 60
    assert compare(gem_market.GAME, SlowGemMarket, seeds=seeds, components=OTHER_NUMBERS) > 3 * len(seeds) * 60


class NoDownhill(SlowConnectFour):
    """A line downhill does not win."""

    def _in_line(self, column: int, across: int, up: int) -> int:
        return 0 if up < 0 else super()._in_line(column, across, up)


class AlwaysFold(SlowLeducPoker):
    """Lets players fold although nobody raised."""

    def legal(self) -> list[str]:
        return sorted({"fold", *super().legal()}) if not self.over else []


class SecondRaiseOfTwo(SlowLeducPoker):
    """A raise in the second round costs too little."""

    def answer(self, name: str) -> None:
        super().answer(name)
        if name == "raise" and len(self.rounds) == 2:
            self.paid[1 - self.seat] -= 1


class Raises(SlowConnectFour):
    """Raises an error of its own."""

    def answer(self, name: str) -> None:
        raise LookupError("no such column")


def test_a_difference_is_told() -> None:
    with pytest.raises(Difference) as found:
        compare(connect_four.GAME, NoDownhill, seeds=range(300))
    assert found.value.keys == ["actor", "legal", "points"]
    report = str(found.value)
    assert "fast: points" in report and "reference: points" in report
    seed = found.value.seed
    assert report.endswith(f"Both again: compare(GAME, slow_game, players=(2,), seeds=({seed},))")
    with pytest.raises(Difference):
        compare(connect_four.GAME, NoDownhill, players=(2,), seeds=(seed,))
    if seed:
        compare(connect_four.GAME, NoDownhill, seeds=range(seed))  # it was the first


@pytest.mark.parametrize(("slow", "keys"), [(AlwaysFold, ["legal"]), (SecondRaiseOfTwo, ["chips"])])
def test_what_differs(slow: type[SlowLeducPoker], keys: Collection[str]) -> None:
    with pytest.raises(Difference) as found:
        compare(leduc_poker.GAME, slow)
    assert found.value.keys == keys


class ShippedGoal(SlowGemMarket):
    """Too many points to win."""

    def __init__(self, config: Config, chance: RandomStream) -> None:
        super().__init__(config, chance)
        self.goal = 15


def test_a_difference_with_other_numbers_is_told() -> None:
    with pytest.raises(Difference) as found:
        compare(gem_market.GAME, ShippedGoal, components={"limits.goal": 1})
    assert {"ending"} <= set(found.value.keys)
    seed = found.value.seed
    again = f"compare(GAME, slow_game, players=(2,), seeds=({seed},), components=(('limits.goal', 1),))"
    assert str(found.value).endswith(again)
    with pytest.raises(Difference):
        compare(gem_market.GAME, ShippedGoal, players=(2,), seeds=(seed,), components=(("limits.goal", 1),))


def test_a_difference_with_an_option_is_told() -> None:
    class Nothing:
        def __init__(self, config: Config, chance: RandomStream) -> None:
            assert config == PETRICHOR.config(players=2, rounds=6)

        def legal(self) -> list[str]:
            return []

        def answer(self, name: str) -> None: ...

        def facts(self) -> dict[str, Any]:
            return {}

    with pytest.raises(Difference, match=r"compare\(GAME, slow_game, players=\(2,\), seeds=\(7,\), rounds=6\)$"):
        compare(PETRICHOR, Nothing, players=(2,), seeds=(7,), rounds=6)


def test_an_error_of_the_slow_game_is_told() -> None:
    with pytest.raises(Difference, match="LookupError: no such column") as found:
        compare(connect_four.GAME, Raises)
    assert found.value.step == 1
    assert "after player_0 answered 'a_column' with" in str(found.value)


def test_players_that_the_game_does_not_have() -> None:
    with pytest.raises(ConfigError):
        compare(connect_four.GAME, SlowConnectFour, players=(3,), seeds=(0,))


def test_numbers_that_the_game_does_not_have() -> None:
    with pytest.raises(ComponentsError):
        compare(gem_market.GAME, SlowGemMarket, players=(2,), seeds=(0,), components={"limits.goal": 31})
    with pytest.raises(ConfigError):
        compare(connect_four.GAME, SlowConnectFour, seeds=(0,), components={"limits.goal": 1})
