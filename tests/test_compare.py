"""A slow, plain game is played beside the fast one, and a difference is told."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from tabletop_engine.errors import ConfigError
from tabletop_engine.testing import Difference, compare
from tests.games import connect_four, leduc_poker
from tests.games.slow_games import SlowConnectFour, SlowLeducPoker


def test_the_small_games_are_as_their_slow_ones() -> None:
    assert compare(connect_four.GAME, SlowConnectFour, seeds=range(300)) > 300 * 7
    assert compare(leduc_poker.GAME, SlowLeducPoker, seeds=range(1000)) > 1000 * 2


class NoDownhill(SlowConnectFour):
    """Four downhill do not win."""

    def _in_line(self, column: int, across: int, up: int) -> int:
        return 0 if up < 0 else super()._in_line(column, across, up)


class AlwaysFold(SlowLeducPoker):
    """One may fold what nobody raised."""

    def legal(self) -> list[str]:
        return sorted({"fold", *super().legal()}) if not self.over else []


class SecondRaiseOfTwo(SlowLeducPoker):
    """A chip too few in the second round."""

    def answer(self, name: str) -> None:
        super().answer(name)
        if name == "raise" and len(self.rounds) == 2:
            self.paid[1 - self.seat] -= 1


class Raises(SlowConnectFour):
    """An error of its own."""

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


def test_an_error_of_the_slow_game_is_told() -> None:
    with pytest.raises(Difference, match="LookupError: no such column") as found:
        compare(connect_four.GAME, Raises)
    assert found.value.step == 1
    assert "after player_0 answered 'a_column' with" in str(found.value)


def test_players_that_the_game_does_not_have() -> None:
    with pytest.raises(ConfigError):
        compare(connect_four.GAME, SlowConnectFour, players=(3,), seeds=(0,))
