"""What the table of decisions says, as arrays, and what follows from it: turn orders and the timeline."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from petrichor_env.drawing.decisions import ASKED, CLOCKWISE
from petrichor_env.rules.forecasts import TIMINGS
from petrichor_env.state import NUM_FORECASTS, Decision, Module, Phase, Timing, Weather
from tabletop_engine.described.invariants import among

_ROWS = [ASKED[decision] for decision in Decision]


def _numbers(values: Iterable[int | None]) -> np.ndarray:
    """One number for each decision, (D,) int64; -1 for None."""
    return np.array([-1 if value is None else int(value) for value in values])


CARD_OF = _numbers(row.card for row in _ROWS)
"""(D,) the Weather of the action that asks each decision, or -1. Like the next ones it is indexed by the Decision."""
WEATHER_OF = _numbers(row.weather for row in _ROWS)
MODULE_OF = _numbers(row.module for row in _ROWS)
CHOICES_OF = _numbers(row.choices for row in _ROWS)
PHASES_OF = np.array([[phase in row.phases for phase in Phase] for row in _ROWS])
"""(D, P) bool: the phases in which each decision is asked."""
FORECASTS_OF = np.array([[card in row.forecasts for card in range(NUM_FORECASTS + 1)] for row in _ROWS])
"""(D, 17) bool: the forecast cards whose effect asks each decision, by card number."""
_ORDER_OF, _AFTER = _numbers(row.order for row in _ROWS), _numbers(row.after for row in _ROWS)
CARD_TO_COUNT_CLOUDS, CARD_TO_VOTE, CARD_TO_MOVE_CLOUD, CARD_TO_MOVE_UP, CARD_TO_RAIN = 3, 5, 10, 11, 15
"""The numbers of the forecast cards whose choices are kept in the record."""
FORECAST_WINDOWS = (
    Timing.START_OF_WEATHER,
    *(Timing.SUN_TURN, Timing.BEFORE_WIND, Timing.BEFORE_RAIN),
    *(Timing.BEFORE_HARVEST, Timing.AFTER_HARVEST),
)
"""The points of the timeline at which the holders of forecast cards are asked for one."""
WEATHER_OF_TIMING = {
    Timing.SUN_TURN: Weather.SUN,
    Timing.BEFORE_WIND: Weather.WIND,
    Timing.BEFORE_RAIN: Weather.RAIN,
}
PHASE_OF_TIMING = np.full(len(Timing), Phase.WEATHER, np.int8)
"""The phase in which the holders of forecast cards are asked, by point of the timeline."""
PHASE_OF_TIMING[Timing.ACTION_PHASE], PHASE_OF_TIMING[Timing.BEFORE_HARVEST :] = Phase.ACTION, Phase.HARVEST


def turn_order(s: np.ndarray) -> np.ndarray:
    """If players are asked in turn, CLOCKWISE from the first player or ANTICLOCKWISE from the last one; otherwise 0."""
    decision = s["decision"]
    taking = (decision == Decision.TAKE_DROP) & (s["phase"] == Phase.WEATHER)
    in_sun_turn = taking | ((decision == Decision.FORECAST) & (s["timing"] == Timing.SUN_TURN))
    return np.where(in_sun_turn, CLOCKWISE, _ORDER_OF[decision])


def is_window(decision: np.ndarray, forecast: np.ndarray) -> np.ndarray:
    """Whether holders of forecast cards are asked, or such a card has its effect now. The shape is that of both."""
    carried_out = (FORECASTS_OF[decision].any(axis=-1) | (decision == Decision.MOVE_VOTE)) & (TIMINGS[forecast] > 0)
    return np.asarray((decision == Decision.FORECAST) | carried_out)


def usual_timing(s: np.ndarray) -> np.ndarray:
    """The Timing of the pending decisions, (N,). For FORECAST it is the first one that is possible."""
    decision, on = s["decision"], s["modules"][:, Module.FORECASTS] == 1
    timing: np.ndarray = np.where(decision == Decision.GAME_OVER, 0, TIMINGS[s["forecast"]])
    timing = np.where(on & (_AFTER[decision] >= 0), _AFTER[decision], timing)
    timing[on & (decision == Decision.FORECAST)] = Timing.START_OF_WEATHER
    taking = (decision == Decision.TAKE_DROP) & (s["phase"] == Phase.WEATHER)
    timing[on & ((decision == Decision.SUN_WEATHER_CLOUD) | taking)] = Timing.SUN_TURN
    timing[decision == Decision.KEEP_DROP] = Timing.SCORED
    return timing


def usual_timing_index(s: np.ndarray) -> np.ndarray:
    """The number of players that have been asked at this point of the timeline, (N,)."""
    decision, timing, players = s["decision"], s["timing"], s["players"].astype(np.int64)
    index = (s["actor"] - s["first_player"]) % players
    index = np.where(timing == Timing.SUN_TURN, s["turn_index"] + (decision != Decision.FORECAST), index)
    index = np.where(_AFTER[decision] >= 0, players, index)
    outside = (decision == Decision.GAME_OVER) | among(timing, (Timing.ACTION_PHASE, Timing.SCORED))
    return np.asarray(np.where(outside, 0, index))
