"""From one decision to the next: who answers what, and the phases of a round (Game Flow).

`step` hands the action to the function of its chapter, then goes on through the phases until somebody is asked
something with more than one answer. This is the only place that knows all chapters.
"""

from __future__ import annotations

from petrichor_env.actions import TILE, WEATHER
from petrichor_env.rules import (
    action_phase,
    card_actions,
    cleanup,
    drafting,
    flower_tiles,
    forecasts,
    harvest,
    powers,
    promos,
    setup,
    voting,
    weather,
)
from petrichor_env.state import LEGAL_WORDS, NOBODY, Decision, Phase, State
from tabletop.compiled import rule, shared_rule
from tabletop.legal import NOTHING_ASKED, ask, count_legal, nth_legal

_GAME_OVER, _DRAFT, _SETUP_CLOUD = int(Decision.GAME_OVER), int(Decision.DRAFT), int(Decision.SETUP_CLOUD)
_TURN, _OPTIONAL_ACTION, _PAY = int(Decision.TURN), int(Decision.OPTIONAL_ACTION), int(Decision.PAY)
_FROST_TILE, _SUN_CLOUD = int(Decision.FROST_TILE), int(Decision.SUN_CLOUD)
_WIND_CLOUD, _WIND_DIRECTION = int(Decision.WIND_CLOUD), int(Decision.WIND_DIRECTION)
_RAIN_DROP, _RAIN_SECOND_DROP = int(Decision.RAIN_DROP), int(Decision.RAIN_SECOND_DROP)
_TAKE_DROP, _VOTE, _MOVE_VOTE = int(Decision.TAKE_DROP), int(Decision.VOTE), int(Decision.MOVE_VOTE)
_DISCARD, _CHOOSE_WEATHER = int(Decision.DISCARD), int(Decision.CHOOSE_WEATHER)
_SUN_WEATHER_CLOUD = int(Decision.SUN_WEATHER_CLOUD)
_WIND_WEATHER_DROP = int(Decision.WIND_WEATHER_DROP)
_WIND_WEATHER_DIRECTION = int(Decision.WIND_WEATHER_DIRECTION)
_FERTILIZER_TILE, _FROST_CLOUD = int(Decision.FERTILIZER_TILE), int(Decision.FROST_CLOUD)
_FROST_POWER, _WIND_TILE = int(Decision.FROST_POWER), int(Decision.WIND_TILE)
_FORECAST, _FORECAST_TILE = int(Decision.FORECAST), int(Decision.FORECAST_TILE)
_FORECAST_DROP, _FORECAST_DIRECTION = int(Decision.FORECAST_DROP), int(Decision.FORECAST_DIRECTION)
_FORECAST_VOTE = int(Decision.FORECAST_VOTE)
_POD_TILE, _KEEP_DROP = int(Decision.POD_TILE), int(Decision.KEEP_DROP)
_FIRST_OF_MODULES = _FERTILIZER_TILE
_SETUP, _ACTION, _WEATHER_PHASE = int(Phase.SETUP), int(Phase.ACTION), int(Phase.WEATHER)
_HARVEST, _CLEANUP, _OVER = int(Phase.HARVEST), int(Phase.CLEANUP), int(Phase.OVER)


@shared_rule
def reset(s: State, t: State) -> None:
    """Set a game up to its first decision. The switches and `rng` have been set before."""
    setup.set_up(s, t)
    go_on(s, t)


@rule
def step(s: State, t: State, action: int) -> None:
    """Apply one legal action (not checked here) and go on to the next decision, or the end."""
    answer(s, t, action)
    go_on(s, t)


@shared_rule
def legal(s: State, t: State) -> None:
    """Write the set of actions that answer the pending decision into the record."""
    for i in range(LEGAL_WORDS):
        s.legal[i] = 0
    d = s.decision
    if d == _TURN:
        action_phase.allow_turn(s, t)
    elif d == _VOTE:
        voting.allow_vote(s)
    elif d == _OPTIONAL_ACTION:
        action_phase.allow_optional_action(s)
    elif d == _PAY:
        action_phase.allow_pay(s)
    elif d == _FROST_TILE:
        card_actions.allow_frost_tile(s)
    elif d == _SUN_CLOUD:
        card_actions.allow_sun_cloud(s)
    elif d == _WIND_CLOUD:
        card_actions.allow_own_clouds(s)
    elif d in (_RAIN_DROP, _RAIN_SECOND_DROP):
        card_actions.allow_rain_drop(s)
    elif d == _TAKE_DROP:
        card_actions.allow_take_drop(s)
    elif d == _MOVE_VOTE:
        voting.allow_move_vote(s)
    elif d == _DISCARD:
        action_phase.allow_discard(s)
    elif d == _CHOOSE_WEATHER:
        weather.allow_choose_weather(s)
    elif d == _SUN_WEATHER_CLOUD:
        weather.allow_sun_weather_cloud(s)
    elif d == _WIND_WEATHER_DROP:
        weather.allow_wind_weather_drop(s)
    elif d == _SETUP_CLOUD:
        setup.allow_setup_cloud(s)
    elif d == _DRAFT:
        drafting.allow_draft(s)
    elif d == _WIND_DIRECTION:
        card_actions.allow_direction(s)
    elif d == _WIND_WEATHER_DIRECTION:
        weather.allow_wind_weather_direction(s)
    elif d >= _FIRST_OF_MODULES:
        legal_in_modules(s, t)


@rule
def legal_in_modules(s: State, t: State) -> None:
    """`legal` for the decisions of promos, Flowers and five players."""
    d = s.decision
    if d == _FORECAST:
        forecasts.allow_forecast(s, t)
    elif d == _FORECAST_TILE:
        forecasts.allow_forecast_tile(s)
    elif d == _FORECAST_DROP:
        forecasts.allow_forecast_drop(s)
    elif d == _FORECAST_DIRECTION:
        forecasts.allow_forecast_direction(s)
    elif d == _FORECAST_VOTE:
        forecasts.allow_forecast_vote(s)
    elif d == _WIND_TILE:
        powers.allow_wind_tile(s)
    elif d == _FROST_POWER:
        powers.allow_frost_power(s)
    elif d == _KEEP_DROP:
        powers.allow_keep_drop(s)
    elif d == _POD_TILE:
        flower_tiles.allow_pod_tile(s)
    elif d == _FROST_CLOUD:
        card_actions.allow_frost_cloud(s)
    else:
        promos.allow_fertilizer_tile(s, t)


@shared_rule
def answer(s: State, t: State, action: int) -> None:
    """Hand the action to the function that the pending decision belongs to."""
    d = s.decision
    if d == _TURN:
        action_phase.take_turn(s, t, action)
    elif d == _VOTE:
        voting.vote(s, action)
    elif d == _OPTIONAL_ACTION:
        action_phase.choose_optional_action(s, t, action)
    elif d == _PAY:
        action_phase.pay(s, t, action)
    elif d == _FROST_TILE:
        card_actions.choose_frost_tile(s, t, action)
    elif d == _SUN_CLOUD:
        card_actions.choose_sun_cloud(s, t, action)
    elif d == _WIND_CLOUD:
        card_actions.choose_wind_cloud(s, action)
    elif d == _WIND_DIRECTION:
        card_actions.choose_wind_direction(s, t, action)
    elif d in (_RAIN_DROP, _RAIN_SECOND_DROP):
        card_actions.choose_rain_drop(s, t, action)
    elif d == _TAKE_DROP and s.phase == _ACTION:
        card_actions.take_drop_for_action(s, t, action - TILE)
    elif d == _TAKE_DROP:
        weather.take_drop_for_weather(s, t, action - TILE)
    elif d == _MOVE_VOTE:
        voting.move_vote(s, action - WEATHER)
    elif d == _DISCARD:
        action_phase.discard_down(s, action)
    elif d == _CHOOSE_WEATHER:
        weather.choose_weather(s, action)
    elif d == _SUN_WEATHER_CLOUD:
        weather.choose_sun_weather_cloud(s, t, action)
    elif d == _WIND_WEATHER_DROP:
        weather.choose_wind_weather_drop(s, action)
    elif d == _SETUP_CLOUD:
        setup.place_setup_cloud(s, action)
    elif d == _DRAFT:
        drafting.draft(s, action)
    elif d == _WIND_WEATHER_DIRECTION:
        weather.choose_wind_weather_direction(s, t, action)
    else:
        answer_in_modules(s, t, action)
    if s.decision == NOTHING_ASKED:
        end_effect(s, t, d)


@rule
def answer_in_modules(s: State, t: State, action: int) -> None:
    """`answer` for the decisions of promos, Flowers and five players."""
    d = s.decision
    if d == _FORECAST:
        forecasts.choose_forecast(s, t, action)
    elif d == _FORECAST_TILE:
        forecasts.choose_forecast_tile(s, t, action)
    elif d == _FORECAST_DROP:
        forecasts.choose_forecast_drop(s, t, action)
    elif d == _FORECAST_DIRECTION:
        forecasts.choose_forecast_direction(s, t, action)
    elif d == _FORECAST_VOTE:
        forecasts.choose_forecast_vote(s, action)
    elif d == _WIND_TILE:
        card_actions.choose_wind_tile(s, t, action)
    elif d == _FROST_POWER:
        powers.use_frost_power(s, action)
    elif d == _KEEP_DROP:
        powers.keep_drop(s, t, action)
    elif d == _POD_TILE:
        flower_tiles.place_pod(s, action)
    elif d == _FROST_CLOUD:
        card_actions.choose_frost_tile(s, t, action)
    else:
        promos.place_fertilizer(s, action)


@rule
def end_effect(s: State, t: State, answered: int) -> None:
    """An action's effect is followed by its vote, the vote by whatever the turn still holds, a forecast by neither."""
    forecast = s.forecast
    if forecast > 0:
        forecasts.end_forecast(s)
    if s.phase != _ACTION:
        return
    if forecast > 0:
        action_phase.end_turn(s, t)
    elif answered in (_VOTE, _MOVE_VOTE):
        action_phase.end_action(s, t)
    else:
        ask(s, _VOTE, s.actor)


@shared_rule
def go_on(s: State, t: State) -> None:
    """Run until a decision is open. One legal answer is given at once, unless that would show hidden cards."""
    while True:
        while s.decision == NOTHING_ASKED:
            go_on_with_phase(s, t)
        legal(s, t)
        if s.decision == _GAME_OVER:
            s.actor = NOBODY
            return
        if count_legal(s) != 1 or is_about_hidden_cards(s):
            return
        answer(s, t, nth_legal(s, 0))


@rule
def go_on_with_phase(s: State, t: State) -> None:
    if s.phase == _WEATHER_PHASE:
        weather.continue_weather_phase(s, t)
    elif s.phase == _HARVEST:
        harvest.continue_harvest_phase(s, t)
    elif s.phase == _CLEANUP:
        cleanup.continue_cleanup_phase(s, t)
    else:
        setup.continue_setup(s, t)


@rule
def is_about_hidden_cards(s: State) -> bool:
    """Whether the number of answers depends on cards that other players cannot see.

    Without action cards a turn is a pass, unless a forecast card can be played.
    """
    d = s.decision
    if s.players == 1:
        return False
    if d == _TURN:
        return forecasts.forecasts_held(s, int(s.actor)) > 0
    return d in (_DRAFT, _PAY, _OPTIONAL_ACTION, _DISCARD)


@rule
def forfeit(s: State, seat: int) -> None:
    """The seat loses and the game ends here (an illegal action where the environment is set to that)."""
    s.forfeited = seat
    s.phase = _OVER
    s.decision = _GAME_OVER
    s.actor = NOBODY
    for i in range(LEGAL_WORDS):
        s.legal[i] = 0
