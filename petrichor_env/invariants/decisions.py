"""What each kind of decision goes with: an action, a weather, a turn order."""

from __future__ import annotations

from petrichor_env.state import Decision, Phase, Weather

CARD_OF_DECISION = {
    Decision.FROST_TILE: Weather.FROST,
    Decision.SUN_CLOUD: Weather.SUN,
    Decision.WIND_CLOUD: Weather.WIND,
    Decision.WIND_DIRECTION: Weather.WIND,
    Decision.RAIN_DROP: Weather.RAIN,
    Decision.RAIN_SECOND_DROP: Weather.RAIN,
}
WEATHER_OF_DECISION = {
    Decision.SUN_WEATHER_CLOUD: Weather.SUN,
    Decision.WIND_WEATHER_DROP: Weather.WIND,
    Decision.WIND_WEATHER_DIRECTION: Weather.WIND,
}
WEATHER_DECISIONS = (Decision.CHOOSE_WEATHER, *WEATHER_OF_DECISION)
ACTION_DECISIONS = (
    *(Decision.TURN, Decision.OPTIONAL_ACTION, Decision.PAY),
    *CARD_OF_DECISION,
    *(Decision.TAKE_DROP, Decision.VOTE, Decision.MOVE_VOTE),
)
CLOCKWISE, ANTICLOCKWISE = 1, -1


def turn_order(decision: int, phase: int) -> int:
    """CLOCKWISE from the first player or ANTICLOCKWISE from the last one, where players are asked in turn; else 0."""
    if decision in (Decision.DRAFT, Decision.DISCARD, Decision.SUN_WEATHER_CLOUD):
        return CLOCKWISE
    if decision == Decision.TAKE_DROP and phase == Phase.WEATHER:
        return CLOCKWISE
    if decision in (Decision.SETUP_CLOUD, Decision.WIND_WEATHER_DROP, Decision.WIND_WEATHER_DIRECTION):
        return ANTICLOCKWISE
    return 0
