"""The pending decision in words, and the meaning of each answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from petrichor_env.actions import (
    CARD,
    DECLINE,
    DIE,
    DIRECTION,
    DROP,
    FORECAST,
    NUM_ACTIONS,
    PASS,
    PLAY,
    POWER,
    SUBSTITUTE,
    TILE,
    VOTE,
    WEATHER,
    action_name,
)
from petrichor_env.drawing.card_texts import FORECASTS, TIMING_TEXTS
from petrichor_env.rules.fields import NEIGHBOURS
from petrichor_env.state import (
    DIRECTION_NAMES,
    MAX_PLAYERS,
    NO_TILE,
    NUM_TILES,
    WEATHER_NAMES,
    Cloud,
    Crop,
    Decision,
    Phase,
    Power,
    State,
    Timing,
    Weather,
)
from petrichor_env.words import owner_names, tile_name
from tabletop.legal import NOTHING_ASKED
from tabletop.words import counted

WEATHER_WORDS = tuple(name.capitalize() for name in WEATHER_NAMES)

_TAKE_DROP_FOR = {Weather.FROST: "for the new cloud", Weather.SUN: "for the Sun action"}
_FORECAST_TILES = {
    2: ("on which scored tile to count own drops", ""),
    4: ("which tile the new cloud goes to", "put a new cloud with two drops on {}"),
    6: ("which cloud's drops all fall", "let all drops of the cloud on {} fall"),
    9: ("which tile gets a drop", "put an own drop on {}"),
    10: ("which cloud to move", "move the cloud on {}"),
    12: ("which cloud gets three own drops", "add three drops to the cloud on {}"),
    16: ("which tile the new cloud goes to", "put a new cloud with three drops on {}"),
}
"""For each forecast card that chooses a tile: the words of its question, and of the answer."""


def question(state: State) -> str:
    """The pending decision, as words that follow "player_0 is asked"."""
    asked = _QUESTIONS[Decision(state.decision)]
    return asked if isinstance(asked, str) else asked(state)


def hides_actor(state: State, viewer: int | None) -> bool:
    """Whether the actor is hidden: only the actor may know who is asked for a forecast card."""
    return state.decision == Decision.FORECAST and viewer not in (None, state.actor)


def asked_text(state: State, viewer: int | None, names: Sequence[str]) -> str:
    """A sentence about the pending decision and its actor, as far as the viewer may know; None may know everything.

    It is "" while no decision is pending.
    """
    if state.decision == NOTHING_ASKED:
        return ""
    if hides_actor(state, viewer):
        return f"Forecast cards may be played {TIMING_TEXTS[Timing(state.timing)]}."
    return f"{names[state.actor]} is asked {question(state)}."


def action_text(state: State, action: int) -> str:
    """The meaning of an action as an answer to the pending decision, as an imperative: "vote for Sun".

    For an action of a range that does not answer this decision it is the plain name. Raises IndexError outside 0 to
    NUM_ACTIONS - 1.
    """
    if not 0 <= action < NUM_ACTIONS:
        return action_name(action)
    first = max(start for start in _ANSWERS if start <= action)
    return _ANSWERS[first](state, Decision(state.decision), action - first)


def told_action(state: State, action: int, viewer: int | None) -> str:
    """`action_text` as far as the viewer may know it; None may know everything.

    It is "" if the viewer may not even know the decision: nobody learns who declined to play a forecast card.
    """
    if viewer not in (None, state.actor):
        if state.decision == Decision.DRAFT:
            return "keep a card"
        if state.decision == Decision.FORECAST and action == DECLINE:
            return ""
    return action_text(state, action)


_DECLINED = {
    Decision.OPTIONAL_ACTION: "take no optional action",
    Decision.FROST_TILE: "place no cloud",
    Decision.SUN_CLOUD: "add no drops",
    Decision.RAIN_SECOND_DROP: "let no second drop fall",
    Decision.SUN_WEATHER_CLOUD: "double no cloud",
    Decision.RAIN_DROP: "let no drop fall",
    Decision.FROST_CLOUD: "add no drop",
    Decision.FROST_POWER: "add no second drop",
    Decision.FORECAST: "play no forecast card",
    Decision.KEEP_DROP: "keep no more drops",
}
_CARD_VERBS = {Decision.DRAFT: "keep", Decision.DISCARD: "discard"}
_VOTE_VERBS = {Decision.FORECAST_VOTE: "add a vote on"}
_WEATHER_VERBS = {Decision.MOVE_VOTE: "take the vote from"}


def _pass_text(s: State, decision: Decision, _: int) -> str:
    cards = int(s.hand[s.actor].sum())
    if s.passed < 0 and s.players != 2 and cards:
        return f"pass and discard the hand ({counted(cards, 'card')})"
    return "pass"


def _play_text(s: State, decision: Decision, kind: int) -> str:
    word = WEATHER_WORDS[kind]
    return f"play two {word} cards" if decision == Decision.OPTIONAL_ACTION else f"play a {word} card"


def _substitute_text(s: State, decision: Decision, kind: int) -> str:
    optional, word = decision == Decision.OPTIONAL_ACTION, WEATHER_WORDS[kind]
    if kind == Weather.SUN and _has_power(s, Power.SUN):
        return f"play {'two cards, at most one of them Sun,' if optional else 'another card'} as Sun (Sun power)"
    if optional:
        return f"play {word} with other cards standing for one or both {word} cards"
    return f"play two other cards as a {word} card"


_TILE_TEXTS = {
    Decision.SETUP_CLOUD: "put a new cloud on {}",
    Decision.FROST_TILE: "put a new cloud on {}",
    Decision.SUN_CLOUD: "add two drops to the cloud on {}",
    Decision.WIND_CLOUD: "move the cloud on {}",
    Decision.FERTILIZER_TILE: "put a Fertilizer token on {}",
    Decision.FROST_CLOUD: "add a drop to the cloud on {}",
    Decision.WIND_TILE: "move it to {}",
    Decision.RAIN_DROP: "put an own drop on {} (Rain power)",
    Decision.POD_TILE: "put a pod on {}",
    Decision.KEEP_DROP: "keep a drop on {}",
}


def _tile_text(s: State, decision: Decision, tile: int) -> str:
    place = tile_name(s.players, tile)
    if decision == Decision.FORECAST_TILE:
        if s.forecast == 2:
            points = max(0, int(s.scored_drops[tile, s.actor]) - 3)
            return f"score {counted(points, 'point')} for own drops on {place}"
        if s.forecast == 10 and s.target != NO_TILE:
            return f"move it to {place}"
        return _FORECAST_TILES[s.forecast][1].format(place)
    if decision == Decision.SUN_WEATHER_CLOUD:
        own = int(s.cloud_drops[tile, s.actor])
        return f"double the cloud on {place} ({own} to {2 * own} own drops)"
    return _TILE_TEXTS.get(decision, "take an own drop from {}").format(place)


def _drop_text(s: State, decision: Decision, drop: int) -> str:
    owner = (s.actor + drop % MAX_PLAYERS) % s.owners
    whose, place = _drop_of(s, owner), tile_name(s.players, drop // MAX_PLAYERS)
    if decision == Decision.WIND_WEATHER_DROP or (decision == Decision.FORECAST_DROP and s.forecast == 8):
        return f"move {whose} on {place}"
    if decision == Decision.FORECAST_DROP and s.forecast == 11:
        return f"let {whose} rise from {place} into the cloud above"
    return f"let {whose} fall from the cloud on {place}"


def _direction_text(s: State, decision: Decision, direction: int) -> str:
    to = NEIGHBOURS[s.target, direction] if s.target != NO_TILE else NO_TILE
    return f"move it {DIRECTION_NAMES[direction]}" + (f" to {tile_name(s.players, to)}" if to != NO_TILE else "")


def _die_text(s: State, decision: Decision, votes_left: int) -> str:
    to, points = (votes_left, "1 point") if votes_left else ("Harvest", "2 points")
    return f"turn a Harvest die from {votes_left + 1} to {to} for {points}"


_ANSWERS: dict[int, Callable[[State, Decision, int], str]] = {
    PASS: _pass_text,
    DECLINE: lambda s, decision, _: _DECLINED.get(decision, "decline"),
    PLAY: _play_text,
    SUBSTITUTE: _substitute_text,
    CARD: lambda s, decision, kind: f"{_CARD_VERBS.get(decision, 'pay with')} a {WEATHER_WORDS[kind]} card",
    TILE: _tile_text,
    DROP: _drop_text,
    DIRECTION: _direction_text,
    VOTE: lambda s, decision, space: f"{_VOTE_VERBS.get(decision, 'vote for')} {WEATHER_WORDS[space]}",
    DIE: _die_text,
    WEATHER: lambda s, decision, space: f"{_WEATHER_VERBS.get(decision, 'select')} {WEATHER_WORDS[space]}",
    FORECAST: lambda s, decision, card: f"play forecast card {card + 1}: {FORECASTS[card + 1].text}",
    POWER: lambda s, decision, _: "add a second drop to the new cloud",
}
"""For the first action of each range, a function of the decision and the index in the range that gives the words."""


# --- words of the questions -------------------------------------------------------------------------------------------


def _has_power(s: State, power: Power) -> bool:
    return bool(s.power[s.actor] == power)


def _drop_of(s: State, owner: int) -> str:
    """The owner of a drop in words, from the point of view of the actor."""
    return "an own drop" if owner == s.actor else f"a drop of {owner_names(s.players)[owner]}"


def _action_of(s: State) -> str:
    return f"the {'optional ' if s.optional else ''}{WEATHER_WORDS[s.card]} action"


def _target(s: State) -> str:
    return tile_name(s.players, s.target)


def _more(cards: int) -> str:
    return f"{cards} more" if cards > 1 else "the last one"


def _turn_question(s: State) -> str:
    if s.last_turns:
        return "what to do in the last turn of the round"
    return "which card to play" if s.turns < s.players else "which card to play, or to pass"


def _take_drop_question(s: State) -> str:
    in_weather = s.phase == Phase.WEATHER
    purpose = f"to double the cloud on {_target(s)}" if in_weather else _TAKE_DROP_FOR[Weather(s.card)]
    return f"which tile gives a drop up {purpose}"


def _where_cloud_goes(s: State) -> str:
    return f"where the cloud on {_target(s)} goes"


def _where_drop_goes(s: State) -> str:
    return f"where {_drop_of(s, s.target_owner)} on {_target(s)} goes"


def _forecast_tile_question(s: State) -> str:
    moving = s.forecast == 10 and s.target != NO_TILE
    return f"{_where_cloud_goes(s) if moving else _FORECAST_TILES[s.forecast][0]} (forecast card {s.forecast})"


def _forecast_drop_question(s: State) -> str:
    if s.forecast == 11:
        return f"which drop rises into the cloud above (forecast card 11, {_more(s.choices_left)})"
    if s.forecast == 15:
        later = range(s.target + 1, NUM_TILES)
        clouds = [tile for tile in later if s.cloud[tile] != Cloud.NONE and s.crop[tile] != Crop.LAKE]
        cloud = f"the cloud on {tile_name(s.players, clouds[0])}" if clouds else "a cloud"
        return f"which drop falls from {cloud} (forecast card 15)"
    return f"which own drop to move (forecast card {s.forecast})"


_QUESTIONS: dict[Decision, str | Callable[[State], str]] = {
    Decision.GAME_OVER: "nothing: the game is over",
    Decision.DRAFT: lambda s: f"which card to keep of the pack ({s.cards_left} to pick)",
    Decision.SETUP_CLOUD: "which tile the first cloud goes to",
    Decision.TURN: _turn_question,
    Decision.OPTIONAL_ACTION: "whether to take the optional second action, and which",
    Decision.PAY: lambda s: f"which card to pay with for {_action_of(s)} ({_more(s.cards_left)})",
    Decision.FROST_TILE: "which tile the new cloud goes to",
    Decision.SUN_CLOUD: "which cloud gets two own drops",
    Decision.WIND_CLOUD: "which cloud to move",
    Decision.WIND_DIRECTION: _where_cloud_goes,
    Decision.RAIN_DROP: lambda s: (
        "which drop falls, from a cloud or the supply" if _has_power(s, Power.RAIN) else "which drop falls from a cloud"
    ),
    Decision.RAIN_SECOND_DROP: "which drop of another cloud falls too, if any",
    Decision.TAKE_DROP: _take_drop_question,
    Decision.VOTE: lambda s: f"how to vote after {_action_of(s)}",
    Decision.MOVE_VOTE: lambda s: f"which vote moves to {WEATHER_WORDS[s.target_space]}, as none is left in supply",
    Decision.DISCARD: lambda s: f"which card to discard ({_more(s.cards_left)})",
    Decision.CHOOSE_WEATHER: "which of the tied weather spaces to select",
    Decision.SUN_WEATHER_CLOUD: "in which cloud to double own drops",
    Decision.WIND_WEATHER_DROP: "which drop on a tile to move",
    Decision.WIND_WEATHER_DIRECTION: _where_drop_goes,
    Decision.FERTILIZER_TILE: "which face-down tile gets a Fertilizer token",
    Decision.FROST_CLOUD: "which cloud gets a drop, as no cloud is left",
    Decision.FROST_POWER: lambda s: f"whether the new cloud on {_target(s)} gets a second drop",
    Decision.WIND_TILE: _where_cloud_goes,
    Decision.FORECAST: lambda s: f"whether to play a forecast card {TIMING_TEXTS[Timing(s.timing)]}",
    Decision.FORECAST_TILE: _forecast_tile_question,
    Decision.FORECAST_DROP: _forecast_drop_question,
    Decision.FORECAST_DIRECTION: _where_drop_goes,
    Decision.FORECAST_VOTE: "which weather space gets a vote (forecast card 5)",
    Decision.POD_TILE: lambda s: f"which tile gets a pod ({_more(s.choices_left)})",
    Decision.KEEP_DROP: lambda s: f"on which tile a drop stays, if any ({_more(s.choices_left)})",
}
