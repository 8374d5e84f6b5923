"""Flowers, Carte Previsione in the solo game (ruling 3.8): the player has them, the neutral player has none."""

from __future__ import annotations

from typing import Any

import pytest

from petrichor_env import Batch, Config
from petrichor_env.config import VARIANTS
from petrichor_env.state import NOBODY, Cloud, Decision, Phase, State
from tests.rulebook.base_game import asked, legal_names
from tests.rulebook.modules import forecasts, forecasts_of, offer
from tests.rulebook.southern_winds import (
    NEUTRAL,
    YOU,
    Pair,
    act,
    cloud,
    dice,
    growing,
    pair,
    solo,
    tile_drops,
    votes,
)

LIGHT, THUNDER = Cloud.LIGHT, Cloud.THUNDER


def holding(
    number: int, clouds: dict[int, Pair] | None = None, drops: dict[int, Pair] | None = None, **changes: Any
) -> State:
    """Your turn; you hold this card and two others that don't fit the same moment."""
    others = (7, 8) if number >= 10 else (13, 16)
    return solo(clouds, drops, **{"decision": "turn", **forecasts((number, *others)), **changes})


@pytest.mark.parametrize("variants", [(), VARIANTS])
def test_you_alone_get_three_cards(variants: tuple[str, ...]) -> None:
    """Setup; ruling 3.8: the player gets three cards, the neutral player none, also with the variants."""
    batch = Batch(Config(modules=("forecasts",), variants=variants), 20, seed=0)
    assert (batch.states["decision"] == Decision.TURN).all()
    for state in batch.states:
        assert (len(forecasts_of(state, YOU)), len(forecasts_of(state, NEUTRAL))) == (3, 0)
        assert len(forecasts_of(state, NOBODY)) == 13


def test_a_forecast_is_a_turn() -> None:
    """Ruling 5.6; One Round of Play: no vote; the neutral turn follows as after any turn."""
    state = holding(13, {2: (1, 0)})
    assert legal_names(state) == {"play frost", "pass", "forecast 13"}
    after = act(state, "forecast 13")
    assert (after["decision"], after["round"]) == (Decision.TURN, state["round"])
    assert dice(after) == [0, 0, 0]
    assert pair(after, "points")[YOU] == 3
    assert votes(after, YOU) == (0, 0, 0, 0)
    assert votes(after, NEUTRAL) == (0, 0, 1, 1), "the neutral turn's card 8"
    assert after["hand"][YOU].sum() == 1


def test_with_an_empty_hand() -> None:
    """Ruling 5.6; ruling 3.1: being out of action cards is a pass, but a forecast card is a turn."""
    state = holding(13, hands={}, winds=(4, 8))
    assert legal_names(state) == {"pass", "forecast 13"}
    after = act(state, "forecast 13")
    assert after["round"] == state["round"] + 1, "then neither card nor forecast for a turn is left: a pass"


def test_passing_keeps_them() -> None:
    """Ruling 3.1: passing discards the hand, of which forecast cards are no part."""
    after = act(holding(13, votes={"frost": (1, 0), "sun": (1, 0)}), "pass")
    assert after["round"] == 2
    assert forecasts_of(after, YOU) == [7, 8, 13]


def test_10_moves_a_neutral_cloud() -> None:
    """Card 10: it moves any cloud, also the neutral player's, to any tile."""
    state = holding(10, {2: (1, 0), 4: (0, 2)})
    assert act(state, "forecast 10")["decision"] == Decision.FORECAST_TILE
    after = act(state, "forecast 10", "tile P4", "tile P2")
    assert cloud(after, 4) is None
    assert cloud(after, 2) == (THUNDER, 2, 2)


def test_11_takes_neutral_drops() -> None:
    """Card 11: drops of any colour."""
    after = act(holding(11, {3: (1, 0)}, {3: (0, 4)}), "forecast 11")
    assert cloud(after, 3) == (THUNDER, 1, 3)
    assert (tile_drops(after, 3), growing(after, 3)) == ((0, 1), 0)


def test_12_fills_a_neutral_cloud() -> None:
    """Card 12: no drop of yours is needed in the cloud."""
    after = act(holding(12, {4: (0, 2), 5: (1, 0)}), "forecast 12", "tile P4")
    assert cloud(after, 4) == (THUNDER, 3, 2)


def test_14_joins_the_neutral_clouds() -> None:
    """Card 14: the clouds without your drops are the neutral player's."""
    after = act(holding(14, {4: (0, 2), 5: (1, 0), 6: (0, 3)}), "forecast 14")
    assert [cloud(after, position) for position in (4, 5, 6)] == [(LIGHT, 1, 2), (LIGHT, 1, 0), (THUNDER, 1, 3)]


def test_15_rains_neutral_drops() -> None:
    """Card 15: a drop falls from all clouds, here a neutral one and a shared one."""
    after = act(holding(15, {4: (0, 2), 5: (1, 1)}), "forecast 15", "drop a3 1st to the left")
    assert (tile_drops(after, 4), tile_drops(after, 5)) == ((0, 1), (0, 1))
    assert cloud(after, 5) == (LIGHT, 1, 0)


def test_16_on_a_free_position() -> None:
    """Card 16: a new cloud with three drops."""
    after = act(holding(16, {4: (1, 1)}), "forecast 16", "tile P6")
    assert cloud(after, 6) == (LIGHT, 3, 0)


def test_5_before_the_spaces_are_selected() -> None:
    """Card 5: the additional vote breaks a tie, so you win Frost."""
    state = act(holding(5, votes={"frost": (2, 2), "sun": (1, 3)}), "pass")
    assert (asked(state), legal_names(state)) == (("forecast", YOU), offer(5))
    assert pair(act(state, "forecast 5", "vote frost"), "voting_wins") == (1, 1)
    assert pair(act(state, "decline"), "voting_wins") == (0, 1)


def test_6_pours_a_neutral_cloud() -> None:
    """Card 6: any cloud."""
    state = holding(6, {2: (0, 1), 3: (1, 0)}, votes={"rain": (1, 0)}, round=4)
    state = act(state, "pass")
    assert (asked(state), legal_names(state)) == (("forecast", YOU), offer(6))
    after = act(state, "forecast 6", "tile P2")
    assert tile_drops(after, 2) == (0, 1)
    assert cloud(after, 2) is None
    assert cloud(after, 3) == (LIGHT, 1, 0)


def test_7_after_the_neutral_player_doubled() -> None:
    """Card 7; Weather phase differences, Sun: the neutral player doubles first; then it is your turn."""
    state = act(holding(7, {1: (1, 1), 3: (2, 0)}, votes={"sun": (1, 0)}, round=4), "pass")
    assert (asked(state), legal_names(state)) == (("forecast", YOU), offer(7))
    assert cloud(state, 1) == (LIGHT, 1, 2)
    after = act(state, "forecast 7")
    assert (cloud(after, 1), cloud(after, 3)) == ((THUNDER, 3, 2), (THUNDER, 4, 0))


def test_8_before_your_move_and_the_south_wind() -> None:
    """Card 8; Weather phase differences, Wind: the card comes before your move; then P3 to P6 are checked."""
    state = act(holding(8, {}, {2: (1, 0), 6: (0, 1)}, votes={"wind": (1, 0)}, round=4), "pass")
    assert (asked(state), legal_names(state)) == (("forecast", YOU), offer(8))
    after = act(state, "forecast 8", "move south")
    assert after["decision"] == Decision.WIND_WEATHER_DROP
    assert tile_drops(after, 4) == (1, 0)
    after = act(after, "drop P6 1st to the left", "move west")
    assert tile_drops(after, 2) == (1, 0), "blown north from P4 again"


def test_harvest_by_the_empty_neutral_supply() -> None:
    """Harvest Phase (solo): cards can also be played at a Harvest that the empty neutral supply brings."""
    drops: dict[int, Pair] = {2: (1, 13), 6: (0, 7)}
    quiet: dict[str, Pair] = {"frost": (1, 0), "sun": (1, 0)}
    state = act(holding(1, {}, drops, votes=quiet), "pass")
    assert (asked(state), legal_names(state)) == (("forecast", YOU), offer(1))
    declined, after = act(state, "decline"), act(state, "forecast 1")
    assert pair(after, "points")[YOU] == pair(declined, "points")[YOU] + 1
    without: dict[int, Pair] = {2: (1, 12), 6: (0, 7)}
    assert act(holding(1, {}, without, votes=quiet), "pass")["round"] == 2


def test_3_and_4_around_the_final_harvest() -> None:
    """Cards 3 and 4 in the fourth round: one before and one after the Harvest, before the game ends."""
    state = solo({1: (2, 1)}, decision="turn", round=4, **forecasts((3, 4, 13)))
    state = act(state, "pass")
    assert (asked(state), legal_names(state)) == (("forecast", YOU), offer(3))
    state = act(state, "forecast 3")
    assert pair(state, "points") == (5, 0), "P1 is Cotton"
    assert (asked(state), legal_names(state)) == (("forecast", YOU), offer(4))
    after = act(state, "forecast 4", "tile P2")
    assert after["phase"] == Phase.OVER
    assert (cloud(after, 1), cloud(after, 2)) == ((LIGHT, 2, 1), (LIGHT, 2, 0))
