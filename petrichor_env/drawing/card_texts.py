"""Short texts of the forecast cards and the player powers, for pictures, messages and documentation."""

from __future__ import annotations

from typing import NamedTuple

from petrichor_env.rules.forecasts import TIMINGS
from petrichor_env.state import NUM_FORECASTS, Power, Timing
from tabletop_engine.decisions import check_table

TIMING_TEXTS = {
    Timing.ACTION_PHASE: "instead of a turn",
    Timing.START_OF_WEATHER: "at the start of the Weather Phase",
    Timing.SUN_TURN: "in the own Sun weather turn",
    Timing.BEFORE_WIND: "before Wind weather",
    Timing.BEFORE_RAIN: "before Rain weather",
    Timing.BEFORE_HARVEST: "before the Harvest",
    Timing.AFTER_HARVEST: "after the Harvest",
}
"""The points of the timeline at which forecast cards are played, in words."""
check_table(TIMING_TEXTS, set(Timing) - {Timing.SCORED})


class Forecast(NamedTuple):
    """A forecast card.

    Attributes:
        timing: the point of the timeline at which it is played.
        text: its effect.
    """

    timing: Timing
    text: str

    @property
    def when(self) -> str:
        """The point of the timeline in words."""
        return TIMING_TEXTS[self.timing]


_FORECAST_TEXTS = (
    "a point for each tile with an own drop on it",
    "a point for each own drop beyond three on a scored tile",
    "own drops in clouds also count for the tiles below",
    "a new light cloud with two own drops",
    "a vote on any weather space",
    "all drops of any one cloud fall",
    "two drops into each own cloud, no doubling",
    "an own drop moves to a neighbouring tile",
    "an own drop from the supply onto any tile",
    "a cloud moves to any tile and gets an own drop",
    "three drops rise from a tile into the cloud above it",
    "three own drops into a cloud that holds at most four",
    "all dice turn to Harvest, and three points",
    "an own drop into each cloud that holds none",
    "a drop falls from every cloud",
    "a new cloud with three own drops",
)
FORECASTS = {number: Forecast(Timing(TIMINGS[number]), text) for number, text in enumerate(_FORECAST_TEXTS, 1)}
"""The forecast cards by number."""
check_table(FORECASTS, range(1, NUM_FORECASTS + 1))

POWER_TEXTS = {
    Power.FROST: "the new cloud of a Frost action may get a second own drop",
    Power.SUN: "any card may be played as a Sun card",
    Power.WIND: "a Wind action may move the cloud to any tile",
    Power.RAIN: "a Rain action may put an own drop on a tile without a cloud instead",
    Power.HARVEST: "after a Harvest an own drop may stay on up to three tiles",
}
"""The effects of the player powers."""
check_table(POWER_TEXTS, set(Power) - {Power.NONE})


def forecast_text(number: int) -> str:
    """A forecast card in words: `forecast card 5 (a vote on any weather space)`."""
    return f"forecast card {number} ({FORECASTS[number].text})"


def forecast_cards_text(numbers: list[int]) -> str:
    """Forecast cards in words: `forecast card 3`, `forecast cards 1, 5 and 10`."""
    if len(numbers) == 1:
        return f"forecast card {numbers[0]}"
    return f"forecast cards {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def power_text(power: int) -> str:
    """A power in words: `Sun power: any card may be played as a Sun card`."""
    return f"{Power(power).name.capitalize()} power: {POWER_TEXTS[Power(power)]}"
