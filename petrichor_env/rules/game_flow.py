"""From one decision to the next: the functions that answer decisions, and the phases of a round (Game Flow).

`step` passes the action to the function of its chapter, then goes on through the phases to the next decision with more
than one answer. This is the only place that knows all chapters.

The first word of a function says what it does. `ask_…` asks and does nothing else. `continue_…` goes on with a part of
the game until a player is asked or the part is over, and says whether a player is asked. `allow_…` writes the legal
actions. `is_…`, `has_…`, `can_…` and `next_…` only look.
"""

from __future__ import annotations

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
from petrichor_env.state import NOBODY, Decision, Phase, State
from petrichor_env.tables import Tables
from tabletop_engine.compiling.compiled import rule, shared_rule
from tabletop_engine.decisions import by_decision
from tabletop_engine.legal import NOTHING_ASKED, ask, count_legal, forbid_all, give_up, nth_legal

DECISIONS = {
    Decision.DRAFT: (drafting.allow_draft, drafting.draft),
    Decision.SETUP_CLOUD: (setup.allow_setup_cloud, setup.place_setup_cloud),
    Decision.FERTILIZER_TILE: (promos.allow_fertilizer_tile, promos.place_fertilizer),
    Decision.TURN: (action_phase.allow_turn, action_phase.take_turn),
    Decision.OPTIONAL_ACTION: (action_phase.allow_optional_action, action_phase.choose_optional_action),
    Decision.PAY: (action_phase.allow_pay, action_phase.pay),
    Decision.DISCARD: (action_phase.allow_discard, action_phase.discard_down),
    Decision.FROST_TILE: (card_actions.allow_frost_tile, card_actions.choose_frost_tile),
    Decision.FROST_CLOUD: (card_actions.allow_frost_cloud, card_actions.choose_frost_tile),
    Decision.FROST_POWER: (powers.allow_frost_power, powers.use_frost_power),
    Decision.SUN_CLOUD: (card_actions.allow_sun_cloud, card_actions.choose_sun_cloud),
    Decision.WIND_CLOUD: (card_actions.allow_own_clouds, card_actions.choose_wind_cloud),
    Decision.WIND_DIRECTION: (card_actions.allow_direction, card_actions.choose_wind_direction),
    Decision.WIND_TILE: (powers.allow_wind_tile, card_actions.choose_wind_tile),
    Decision.RAIN_DROP: (card_actions.allow_rain_drop, card_actions.choose_rain_drop),
    Decision.RAIN_SECOND_DROP: (card_actions.allow_rain_drop, card_actions.choose_rain_drop),
    Decision.TAKE_DROP: (card_actions.allow_take_drop, weather.take_missing_drop),
    Decision.VOTE: (voting.allow_vote, voting.vote),
    Decision.MOVE_VOTE: (voting.allow_move_vote, voting.move_vote),
    Decision.CHOOSE_WEATHER: (weather.allow_choose_weather, weather.choose_weather),
    Decision.SUN_WEATHER_CLOUD: (weather.allow_sun_weather_cloud, weather.choose_sun_weather_cloud),
    Decision.WIND_WEATHER_DROP: (weather.allow_wind_weather_drop, weather.choose_wind_weather_drop),
    Decision.WIND_WEATHER_DIRECTION: (weather.allow_wind_weather_direction, weather.choose_wind_weather_direction),
    Decision.POD_TILE: (flower_tiles.allow_pod_tile, flower_tiles.place_pod),
    Decision.KEEP_DROP: (powers.allow_keep_drop, powers.keep_drop),
    Decision.FORECAST: (forecasts.allow_forecast, forecasts.choose_forecast),
    Decision.FORECAST_TILE: (forecasts.allow_forecast_tile, forecasts.choose_forecast_tile),
    Decision.FORECAST_DROP: (forecasts.allow_forecast_drop, forecasts.choose_forecast_drop),
    Decision.FORECAST_DIRECTION: (forecasts.allow_forecast_direction, forecasts.choose_forecast_direction),
    Decision.FORECAST_VOTE: (forecasts.allow_forecast_vote, forecasts.choose_forecast_vote),
}
"""For each decision, the rule that writes its legal actions, and the rule that applies the chosen action."""

_ASKED = [decision for decision in Decision if decision != Decision.GAME_OVER]
allow_answers = by_decision(_ASKED, {decision: allow for decision, (allow, _) in DECISIONS.items()}, "s", "t")
apply_answer = by_decision(
    _ASKED, {decision: answer for decision, (_, answer) in DECISIONS.items()}, "s", "t", "action"
)

_MOST_PARTS = 10_000
"""The most parts of a game between two decisions. Only records that were changed by hand reach it."""


@shared_rule
def reset(s: State, t: Tables) -> None:
    """Set a game up to its first decision. The switches and `rng` have been set before."""
    setup.set_up(s, t)
    go_on(s, t)


@rule
def step(s: State, t: Tables, action: int) -> None:
    """Apply one legal action (not checked here) and go on to the next decision, or the end."""
    answer(s, t, action)
    go_on(s, t)


@shared_rule
def legal(s: State, t: Tables) -> None:
    """Write the set of actions that answer the pending decision into the record."""
    forbid_all(s)
    allow_answers(s, t)


@shared_rule
def answer(s: State, t: Tables, action: int) -> None:
    """Apply the answer to the pending decision, and end the effect that it completes."""
    answered = s.decision
    apply_answer(s, t, action)
    if s.decision == NOTHING_ASKED:
        end_effect(s, t, answered)


@rule
def end_effect(s: State, t: Tables, answered: int) -> None:
    """After an action comes its vote, then the rest of the turn; a forecast card has neither."""
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


@shared_rule
def go_on(s: State, t: Tables) -> None:
    """Run until a decision is open. One legal answer is given at once, unless that would show hidden cards."""
    for _ in range(_MOST_PARTS):
        if s.decision == NOTHING_ASKED:
            continue_phase(s, t)
            continue
        legal(s, t)
        if s.decision == Decision.GAME_OVER:
            s.actor = NOBODY
            return
        choices = count_legal(s)
        if choices == 0:
            break
        if choices > 1 or is_about_hidden_cards(s):
            return
        answer(s, t, nth_legal(s, 0))
    give_up(s)


@rule
def continue_phase(s: State, t: Tables) -> bool:
    """Go on with the current phase."""
    if s.phase == Phase.WEATHER:
        return weather.continue_weather_phase(s, t)
    if s.phase == Phase.HARVEST:
        return harvest.continue_harvest_phase(s, t)
    if s.phase == Phase.CLEANUP:
        return cleanup.continue_cleanup_phase(s, t)
    return setup.continue_setup(s, t)


@rule
def is_about_hidden_cards(s: State) -> bool:
    """Whether the number of answers depends on cards that other players cannot see.

    Without action cards a turn is a pass, unless a forecast card can be played.
    """
    d = s.decision
    if s.players == 1:
        return False
    if d == Decision.TURN:
        return forecasts.forecasts_held(s, s.actor) > 0
    return d in (Decision.DRAFT, Decision.PAY, Decision.OPTIONAL_ACTION, Decision.DISCARD)


@rule
def forfeit(s: State, seat: int) -> None:
    """The seat loses and the game ends, after an illegal action in an environment that treats it so."""
    s.forfeited = seat
    s.phase = Phase.OVER
    s.decision = Decision.GAME_OVER
    s.actor = NOBODY
    forbid_all(s)
