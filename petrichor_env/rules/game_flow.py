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
from tabletop.compiled import rule
from tabletop.legal import NOTHING_ASKED, ask, count_legal, nth_legal

_FIRST_OF_MODULES = Decision.FERTILIZER_TILE


@rule
def reset(s: State, t: State) -> None:
    """Set a game up to its first decision. The switches and `rng` have been set before."""
    setup.set_up(s, t)
    go_on(s, t)


@rule
def step(s: State, t: State, action: int) -> None:
    """Apply one legal action (not checked here) and go on to the next decision, or the end."""
    answer(s, t, action)
    go_on(s, t)


@rule
def legal(s: State, t: State) -> None:
    """Write the set of actions that answer the pending decision into the record."""
    for i in range(LEGAL_WORDS):
        s.legal[i] = 0
    d = s.decision
    if d == Decision.TURN:
        action_phase.allow_turn(s, t)
    elif d == Decision.VOTE:
        voting.allow_vote(s)
    elif d == Decision.OPTIONAL_ACTION:
        action_phase.allow_optional_action(s)
    elif d == Decision.PAY:
        action_phase.allow_pay(s)
    elif d == Decision.FROST_TILE:
        card_actions.allow_frost_tile(s)
    elif d == Decision.SUN_CLOUD:
        card_actions.allow_sun_cloud(s)
    elif d == Decision.WIND_CLOUD:
        card_actions.allow_own_clouds(s)
    elif d in (Decision.RAIN_DROP, Decision.RAIN_SECOND_DROP):
        card_actions.allow_rain_drop(s)
    elif d == Decision.TAKE_DROP:
        card_actions.allow_take_drop(s)
    elif d == Decision.MOVE_VOTE:
        voting.allow_move_vote(s)
    elif d == Decision.DISCARD:
        action_phase.allow_discard(s)
    elif d == Decision.CHOOSE_WEATHER:
        weather.allow_choose_weather(s)
    elif d == Decision.SUN_WEATHER_CLOUD:
        weather.allow_sun_weather_cloud(s)
    elif d == Decision.WIND_WEATHER_DROP:
        weather.allow_wind_weather_drop(s)
    elif d == Decision.SETUP_CLOUD:
        setup.allow_setup_cloud(s)
    elif d == Decision.DRAFT:
        drafting.allow_draft(s)
    elif d == Decision.WIND_DIRECTION:
        card_actions.allow_direction(s)
    elif d == Decision.WIND_WEATHER_DIRECTION:
        weather.allow_wind_weather_direction(s)
    elif d >= _FIRST_OF_MODULES:
        legal_in_modules(s, t)


@rule
def legal_in_modules(s: State, t: State) -> None:
    """`legal` for the decisions of promos, Flowers and five players."""
    d = s.decision
    if d == Decision.FORECAST:
        forecasts.allow_forecast(s, t)
    elif d == Decision.FORECAST_TILE:
        forecasts.allow_forecast_tile(s)
    elif d == Decision.FORECAST_DROP:
        forecasts.allow_forecast_drop(s)
    elif d == Decision.FORECAST_DIRECTION:
        forecasts.allow_forecast_direction(s)
    elif d == Decision.FORECAST_VOTE:
        forecasts.allow_forecast_vote(s)
    elif d == Decision.WIND_TILE:
        powers.allow_wind_tile(s)
    elif d == Decision.FROST_POWER:
        powers.allow_frost_power(s)
    elif d == Decision.KEEP_DROP:
        powers.allow_keep_drop(s)
    elif d == Decision.POD_TILE:
        flower_tiles.allow_pod_tile(s)
    elif d == Decision.FROST_CLOUD:
        card_actions.allow_frost_cloud(s)
    else:
        promos.allow_fertilizer_tile(s, t)


@rule
def answer(s: State, t: State, action: int) -> None:
    """Hand the action to the function that the pending decision belongs to."""
    d = s.decision
    if d == Decision.TURN:
        action_phase.take_turn(s, t, action)
    elif d == Decision.VOTE:
        voting.vote(s, action)
    elif d == Decision.OPTIONAL_ACTION:
        action_phase.choose_optional_action(s, t, action)
    elif d == Decision.PAY:
        action_phase.pay(s, t, action)
    elif d == Decision.FROST_TILE:
        card_actions.choose_frost_tile(s, t, action)
    elif d == Decision.SUN_CLOUD:
        card_actions.choose_sun_cloud(s, t, action)
    elif d == Decision.WIND_CLOUD:
        card_actions.choose_wind_cloud(s, action)
    elif d == Decision.WIND_DIRECTION:
        card_actions.choose_wind_direction(s, t, action)
    elif d in (Decision.RAIN_DROP, Decision.RAIN_SECOND_DROP):
        card_actions.choose_rain_drop(s, t, action)
    elif d == Decision.TAKE_DROP and s.phase == Phase.ACTION:
        card_actions.take_drop_for_action(s, t, action - TILE)
    elif d == Decision.TAKE_DROP:
        weather.take_drop_for_weather(s, t, action - TILE)
    elif d == Decision.MOVE_VOTE:
        voting.move_vote(s, action - WEATHER)
    elif d == Decision.DISCARD:
        action_phase.discard_down(s, action)
    elif d == Decision.CHOOSE_WEATHER:
        weather.choose_weather(s, action)
    elif d == Decision.SUN_WEATHER_CLOUD:
        weather.choose_sun_weather_cloud(s, t, action)
    elif d == Decision.WIND_WEATHER_DROP:
        weather.choose_wind_weather_drop(s, action)
    elif d == Decision.SETUP_CLOUD:
        setup.place_setup_cloud(s, action)
    elif d == Decision.DRAFT:
        drafting.draft(s, action)
    elif d == Decision.WIND_WEATHER_DIRECTION:
        weather.choose_wind_weather_direction(s, t, action)
    else:
        answer_in_modules(s, t, action)
    if s.decision == NOTHING_ASKED:
        end_effect(s, t, d)


@rule
def answer_in_modules(s: State, t: State, action: int) -> None:
    """`answer` for the decisions of promos, Flowers and five players."""
    d = s.decision
    if d == Decision.FORECAST:
        forecasts.choose_forecast(s, t, action)
    elif d == Decision.FORECAST_TILE:
        forecasts.choose_forecast_tile(s, t, action)
    elif d == Decision.FORECAST_DROP:
        forecasts.choose_forecast_drop(s, t, action)
    elif d == Decision.FORECAST_DIRECTION:
        forecasts.choose_forecast_direction(s, t, action)
    elif d == Decision.FORECAST_VOTE:
        forecasts.choose_forecast_vote(s, action)
    elif d == Decision.WIND_TILE:
        card_actions.choose_wind_tile(s, t, action)
    elif d == Decision.FROST_POWER:
        powers.use_frost_power(s, action)
    elif d == Decision.KEEP_DROP:
        powers.keep_drop(s, t, action)
    elif d == Decision.POD_TILE:
        flower_tiles.place_pod(s, action)
    elif d == Decision.FROST_CLOUD:
        card_actions.choose_frost_tile(s, t, action)
    else:
        promos.place_fertilizer(s, action)


@rule
def end_effect(s: State, t: State, answered: int) -> None:
    """An action's effect is followed by its vote, the vote by whatever the turn still holds, a forecast by neither."""
    forecast = s.forecast
    if forecast > 0:
        forecasts.end_forecast(s)
    if s.phase != Phase.ACTION:
        return
    if forecast > 0:
        action_phase.end_turn(s, t)
    elif answered in (Decision.VOTE, Decision.MOVE_VOTE):
        action_phase.end_action(s, t)
    else:
        ask(s, Decision.VOTE, s.actor)


@rule
def go_on(s: State, t: State) -> None:
    """Run until a decision is open. One legal answer is given at once, unless that would show hidden cards."""
    while True:
        while s.decision == NOTHING_ASKED:
            go_on_with_phase(s, t)
        legal(s, t)
        if s.decision == Decision.GAME_OVER:
            s.actor = NOBODY
            return
        if count_legal(s) != 1 or is_about_hidden_cards(s):
            return
        answer(s, t, nth_legal(s, 0))


@rule
def go_on_with_phase(s: State, t: State) -> None:
    if s.phase == Phase.WEATHER:
        weather.continue_weather_phase(s, t)
    elif s.phase == Phase.HARVEST:
        harvest.continue_harvest_phase(s, t)
    elif s.phase == Phase.CLEANUP:
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
    if d == Decision.TURN:
        return forecasts.forecasts_held(s, int(s.actor)) > 0
    return d in (Decision.DRAFT, Decision.PAY, Decision.OPTIONAL_ACTION, Decision.DISCARD)


@rule
def forfeit(s: State, seat: int) -> None:
    """The seat loses and the game ends here (an illegal action where the environment is set to that)."""
    s.forfeited = seat
    s.phase = Phase.OVER
    s.decision = Decision.GAME_OVER
    s.actor = NOBODY
    for i in range(LEGAL_WORDS):
        s.legal[i] = 0
