"""The actions, weathers and turn orders that belong to each kind of decision."""

from __future__ import annotations

import numpy as np

from petrichor_env.rules.flower_tiles import PODS_A_PLAYER
from petrichor_env.rules.forecasts import MOVED_UP, TIMINGS
from petrichor_env.rules.powers import KEPT_DROPS
from petrichor_env.state import Decision, Module, Phase, Timing, Weather
from tabletop_engine.described.invariants import among

CARD_OF_DECISION = {
    Decision.FROST_TILE: Weather.FROST,
    Decision.SUN_CLOUD: Weather.SUN,
    Decision.WIND_CLOUD: Weather.WIND,
    Decision.WIND_DIRECTION: Weather.WIND,
    Decision.RAIN_DROP: Weather.RAIN,
    Decision.RAIN_SECOND_DROP: Weather.RAIN,
    Decision.FROST_CLOUD: Weather.FROST,
    Decision.FROST_POWER: Weather.FROST,
    Decision.WIND_TILE: Weather.WIND,
}
WEATHER_OF_DECISION = {
    Decision.SUN_WEATHER_CLOUD: Weather.SUN,
    Decision.WIND_WEATHER_DROP: Weather.WIND,
    Decision.WIND_WEATHER_DIRECTION: Weather.WIND,
    Decision.POD_TILE: Weather.WIND,
}
WEATHER_DECISIONS = (Decision.CHOOSE_WEATHER, *WEATHER_OF_DECISION)
ACTION_DECISIONS = (
    *(Decision.TURN, Decision.OPTIONAL_ACTION, Decision.PAY),
    *CARD_OF_DECISION,
    *(Decision.TAKE_DROP, Decision.VOTE, Decision.MOVE_VOTE),
)
FORECASTS_OF_DECISION = {
    Decision.FORECAST_TILE: (2, 4, 6, 9, 10, 12, 16),
    Decision.FORECAST_DROP: (8, 11, 15),
    Decision.FORECAST_DIRECTION: (8,),
    Decision.FORECAST_VOTE: (5,),
}
"""The forecast cards whose effect asks for this decision."""
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
MOST_CHOICES = {Decision.POD_TILE: PODS_A_PLAYER, Decision.KEEP_DROP: KEPT_DROPS, Decision.FORECAST_DROP: MOVED_UP}
"""The number of tiles or drops that these decisions choose one after another; for `forecast_drop` only with card 11."""
PHASE_OF_TIMING = np.full(len(Timing), Phase.WEATHER, np.int8)
"""The phase in which the holders of forecast cards are asked, by point of the timeline."""
PHASE_OF_TIMING[Timing.ACTION_PHASE], PHASE_OF_TIMING[Timing.BEFORE_HARVEST :] = Phase.ACTION, Phase.HARVEST
CLOCKWISE, ANTICLOCKWISE = 1, -1
_ASKED_CLOCKWISE = (
    *(Decision.DRAFT, Decision.DISCARD, Decision.SUN_WEATHER_CLOUD, Decision.FERTILIZER_TILE, Decision.POD_TILE),
)
_ASKED_ANTICLOCKWISE = (Decision.SETUP_CLOUD, Decision.WIND_WEATHER_DROP, Decision.WIND_WEATHER_DIRECTION)
_AFTER_FORECASTS = {
    Decision.CHOOSE_WEATHER: Timing.START_OF_WEATHER,
    Decision.WIND_WEATHER_DROP: Timing.BEFORE_WIND,
    Decision.WIND_WEATHER_DIRECTION: Timing.BEFORE_WIND,
    Decision.POD_TILE: Timing.BEFORE_WIND,
}
"""The decisions that come after the holders of forecast cards were asked at that point of the timeline."""


def turn_order(s: np.ndarray) -> np.ndarray:
    """If players are asked in turn, CLOCKWISE from the first player or ANTICLOCKWISE from the last one; otherwise 0."""
    decision = s["decision"]
    taking = (decision == Decision.TAKE_DROP) & (s["phase"] == Phase.WEATHER)
    in_sun_turn = taking | ((decision == Decision.FORECAST) & (s["timing"] == Timing.SUN_TURN))
    clockwise = among(decision, _ASKED_CLOCKWISE) | in_sun_turn
    anticlockwise = among(decision, _ASKED_ANTICLOCKWISE)
    return np.where(clockwise, CLOCKWISE, np.where(anticlockwise, ANTICLOCKWISE, 0))


def is_window(decision: np.ndarray, forecast: np.ndarray) -> np.ndarray:
    """Whether holders of forecast cards are asked, or such a card has its effect now. The shape is that of both."""
    carried_out = among(decision, (*FORECASTS_OF_DECISION, Decision.MOVE_VOTE)) & (TIMINGS[forecast] > 0)
    return np.asarray((decision == Decision.FORECAST) | carried_out)


def usual_timing(s: np.ndarray) -> np.ndarray:
    """The Timing of the pending decisions, (N,). For FORECAST it is the first one that is possible."""
    decision, on = s["decision"], s["modules"][:, Module.FORECASTS] == 1
    timing: np.ndarray = np.where(decision == Decision.GAME_OVER, 0, TIMINGS[s["forecast"]])
    for asked_for, after in _AFTER_FORECASTS.items():
        timing[on & (decision == asked_for)] = after
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
    index = np.where(among(decision, _AFTER_FORECASTS), players, index)
    outside = (decision == Decision.GAME_OVER) | among(timing, (Timing.ACTION_PHASE, Timing.SCORED))
    return np.asarray(np.where(outside, 0, index))
