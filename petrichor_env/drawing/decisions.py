"""The pending decision in words, and the meaning of each answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

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
    range_of,
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
from tabletop_engine.decisions import check_table
from tabletop_engine.legal import NOTHING_ASKED
from tabletop_engine.text.words import counted

WEATHER_WORDS = tuple(name.capitalize() for name in WEATHER_NAMES)

_TAKE_DROP_FOR = {Weather.FROST: "for the new cloud", Weather.SUN: "for the Sun action"}


def question(state: State) -> str:
    """The pending decision, as words that follow "player_0 is asked"."""
    words = _ASKED[Decision(state.decision)].question
    return words if isinstance(words, str) else words(state)


def goes_on(before: State, state: State) -> bool:
    """Whether the pending decision says more about the answer before it: how a card is paid for, and what it does."""
    decision = Decision(state.decision)
    return decision in _OF_A_CARD or (before.decision, decision) in _IN_A_ROW


def gives_up(state: State, action: int) -> str:
    """What is lost by this answer: the hand of who passes first, but for two players. "" if nothing is."""
    cards = _discarded(state) if (state.decision, action) == (Decision.TURN, PASS) else 0
    return f"You discard {counted(cards, 'card')}." if cards else ""


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
    first, index = range_of(action)
    words = _ASKED[Decision(state.decision)].answers.get(first)
    if words is None:
        return action_name(action)
    return words.format(*_things(state, first, index)) if isinstance(words, str) else words(state, index)


def answer_name(state: State, action: int) -> str:
    """The plain name of an action at this table, as in `petrichor_env.actions`; in solo with its tile's own name."""
    first, index = range_of(action)
    tiles = {TILE: index, DROP: index // MAX_PLAYERS}
    words = action_name(action).split(" ")
    if first in tiles:
        words[1] = tile_name(state.players, tiles[first])
    return " ".join(words)


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


def _things(s: State, first: int, index: int) -> tuple[str, ...]:
    """The things that the action with this index in the range that begins at `first` names, in words."""
    if first == TILE:
        return (tile_name(s.players, index),)
    if first == DROP:
        owner = (s.actor + index % MAX_PLAYERS) % s.owners
        return _drop_of(s, owner), tile_name(s.players, index // MAX_PLAYERS)
    if first in (PLAY, CARD, VOTE, WEATHER):
        return (WEATHER_WORDS[index],)
    return ()


# --- words of the answers ---------------------------------------------------------------------------------------------


def _pass_text(s: State, _: int) -> str:
    cards = _discarded(s)
    return f"pass and discard the hand ({counted(cards, 'card')})" if cards else "pass"


def _discarded(s: State) -> int:
    """The cards that the actor discards by passing."""
    return int(s.hand[s.actor].sum()) if s.passed < 0 and s.players != 2 else 0


def _substitute_text(s: State, kind: int) -> str:
    if kind == Weather.SUN and _has_power(s, Power.SUN):
        return "play another card as Sun (Sun power)"
    return f"play two other cards as a {WEATHER_WORDS[kind]} card"


def _substitute_twice_text(s: State, kind: int) -> str:
    word = WEATHER_WORDS[kind]
    if kind == Weather.SUN and _has_power(s, Power.SUN):
        return "play two cards, at most one of them Sun, as Sun (Sun power)"
    return f"play {word} with other cards standing for one or both {word} cards"


def _forecast_text(s: State, index: int) -> str:
    return f"play forecast card {index + 1}: {FORECASTS[index + 1].text}"


def _forecast_tile_text(s: State, tile: int) -> str:
    place = tile_name(s.players, tile)
    if s.forecast == 2:
        points = max(0, int(s.scored_drops[tile, s.actor]) - 3)
        return f"score {counted(points, 'point')} for own drops on {place}"
    if _is_moving_cloud(s):
        return f"move it to {place}"
    return _FORECAST_TILES[s.forecast][1].format(place)


def _doubled_text(s: State, tile: int) -> str:
    own = int(s.cloud_drops[tile, s.actor])
    return f"double the cloud on {tile_name(s.players, tile)} ({own} to {2 * own} own drops)"


def _forecast_drop_text(s: State, drop: int) -> str:
    return _FORECAST_DROPS[s.forecast][1].format(*_things(s, DROP, drop))


def _direction_text(s: State, direction: int) -> str:
    to = NEIGHBOURS[s.target, direction] if s.target != NO_TILE else NO_TILE
    return f"move it {DIRECTION_NAMES[direction]}" + (f" to {tile_name(s.players, to)}" if to != NO_TILE else "")


def _die_text(s: State, votes_left: int) -> str:
    to, points = (votes_left, "1 point") if votes_left else ("Harvest", "2 points")
    return f"turn a Harvest die from {votes_left + 1} to {to} for {points}"


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
        return "to take the last turn of the round"
    return "to play a card" if s.turns < s.players else "to play a card or pass"


def _take_drop_question(s: State) -> str:
    in_weather = s.phase == Phase.WEATHER
    purpose = f"to double the cloud on {_target(s)}" if in_weather else _TAKE_DROP_FOR[Weather(s.card)]
    return f"to take a drop from a tile {purpose}"


def _where_cloud_goes(s: State) -> str:
    return f"to move the cloud on {_target(s)}"


def _where_drop_goes(s: State) -> str:
    return f"to move {_drop_of(s, s.target_owner)} on {_target(s)}"


def _is_moving_cloud(s: State) -> bool:
    """Whether forecast card 10 has its cloud, which now goes to a tile."""
    return bool(s.forecast == 10 and s.target != NO_TILE)


def _forecast_tile_question(s: State) -> str:
    asked = _where_cloud_goes(s) if _is_moving_cloud(s) else _FORECAST_TILES[s.forecast][0]
    return f"{asked} (forecast card {s.forecast})"


def _forecast_drop_question(s: State) -> str:
    asked = _FORECAST_DROPS[s.forecast][0]
    return asked if isinstance(asked, str) else asked(s)


def _raining_question(s: State) -> str:
    later = range(s.target + 1, NUM_TILES)
    clouds = [tile for tile in later if s.cloud[tile] != Cloud.NONE and s.crop[tile] != Crop.LAKE]
    cloud = f"the cloud on {tile_name(s.players, clouds[0])}" if clouds else "a cloud"
    return f"to let a drop fall from {cloud} (forecast card 15)"


# --- decisions that go on ---------------------------------------------------------------------------------------------

_OF_A_CARD = {
    Decision.PAY,
    Decision.FROST_TILE,
    Decision.FROST_CLOUD,
    Decision.FROST_POWER,
    Decision.SUN_CLOUD,
    Decision.TAKE_DROP,
    Decision.WIND_CLOUD,
    Decision.WIND_DIRECTION,
    Decision.WIND_TILE,
    Decision.RAIN_DROP,
    Decision.RAIN_SECOND_DROP,
}
"""Decisions that follow the play of a card, in the same turn."""
_IN_A_ROW = {
    *((decision, decision) for decision in (Decision.DISCARD, Decision.POD_TILE, Decision.KEEP_DROP)),
    (Decision.WIND_WEATHER_DROP, Decision.WIND_WEATHER_DIRECTION),
    (Decision.FORECAST_DROP, Decision.FORECAST_DIRECTION),
}
"""Pairs of decisions of which the second one goes on with the first one."""


# --- the tables -------------------------------------------------------------------------------------------------------

_FORECAST_TILES = {
    2: ("to count own drops on a scored tile", ""),
    4: ("to choose a tile for the new cloud", "put a new cloud with two drops on {}"),
    6: ("to let all drops of a cloud fall", "let all drops of the cloud on {} fall"),
    9: ("to put an own drop on a tile", "put an own drop on {}"),
    10: ("to choose a cloud to move", "move the cloud on {}"),
    12: ("to add three own drops to a cloud", "add three drops to the cloud on {}"),
    16: ("to choose a tile for the new cloud", "put a new cloud with three drops on {}"),
}
"""For each forecast card that chooses a tile: the words of its question, and of the answer."""
_FORECAST_DROPS: dict[int, tuple[str | Callable[[State], str], str]] = {
    8: ("to choose an own drop to move (forecast card 8)", "move {} on {}"),
    11: (
        lambda s: f"to let a drop rise into the cloud above (forecast card 11, {_more(s.choices_left)})",
        "let {} rise from {} into the cloud above",
    ),
    15: (_raining_question, "let {} fall from the cloud on {}"),
}
"""The same for each forecast card that chooses a drop."""
_ASK_FOR_NOTHING = (1, 3, 7, 13, 14)
_ASK_FOR_A_VOTE = (5,)
CHOOSING_FORECASTS = [card for card in FORECASTS if card not in (*_ASK_FOR_NOTHING, *_ASK_FOR_A_VOTE)]
"""The forecast cards that choose a tile or a drop."""
check_table([*_FORECAST_TILES, *_FORECAST_DROPS], CHOOSING_FORECASTS)


class _Asked(NamedTuple):
    """A decision in words: text, with gaps for `_things`, or functions that give it.

    Attributes:
        question: the question; a function takes the state.
        answers: for the first action of each range that answers it, the answer; a function takes the state and the
            index in the range.
    """

    question: str | Callable[[State], str]
    answers: Mapping[int, str | Callable[[State, int], str]]


_FALL = "let {} fall from the cloud on {}"
_ASKED = {
    Decision.GAME_OVER: _Asked("nothing: the game is over", {}),
    Decision.DRAFT: _Asked(lambda s: f"to keep a card of the pack ({s.cards_left} to pick)", {CARD: "keep a {} card"}),
    Decision.SETUP_CLOUD: _Asked("to choose a tile for the first cloud", {TILE: "put a new cloud on {}"}),
    Decision.TURN: _Asked(
        _turn_question,
        {PASS: _pass_text, PLAY: "play a {} card", SUBSTITUTE: _substitute_text, FORECAST: _forecast_text},
    ),
    Decision.OPTIONAL_ACTION: _Asked(
        "to take an optional second action, or none",
        {DECLINE: "take no optional action", PLAY: "play two {} cards", SUBSTITUTE: _substitute_twice_text},
    ),
    Decision.PAY: _Asked(
        lambda s: f"to pay with a card for {_action_of(s)} ({_more(s.cards_left)})",
        {CARD: "pay with a {} card"},
    ),
    Decision.FROST_TILE: _Asked(
        "to choose a tile for the new cloud", {DECLINE: "place no cloud", TILE: "put a new cloud on {}"}
    ),
    Decision.SUN_CLOUD: _Asked(
        "to add two own drops to a cloud", {DECLINE: "add no drops", TILE: "add two drops to the cloud on {}"}
    ),
    Decision.WIND_CLOUD: _Asked("to choose a cloud to move", {TILE: "move the cloud on {}"}),
    Decision.WIND_DIRECTION: _Asked(_where_cloud_goes, {DIRECTION: _direction_text}),
    Decision.RAIN_DROP: _Asked(
        lambda s: (
            "to let a drop fall, from a cloud or the supply"
            if _has_power(s, Power.RAIN)
            else "to let a drop fall from a cloud"
        ),
        {DECLINE: "let no drop fall", TILE: "put an own drop on {} (Rain power)", DROP: _FALL},
    ),
    Decision.RAIN_SECOND_DROP: _Asked(
        "to let a drop of another cloud fall too, or none", {DECLINE: "let no second drop fall", DROP: _FALL}
    ),
    Decision.TAKE_DROP: _Asked(_take_drop_question, {TILE: "take an own drop from {}"}),
    Decision.VOTE: _Asked(lambda s: f"to vote after {_action_of(s)}", {VOTE: "vote for {}", DIE: _die_text}),
    Decision.MOVE_VOTE: _Asked(
        lambda s: f"to move a vote to {WEATHER_WORDS[s.target_space]}, as none is left in supply",
        {WEATHER: "take the vote from {}"},
    ),
    Decision.DISCARD: _Asked(lambda s: f"to discard a card ({_more(s.cards_left)})", {CARD: "discard a {} card"}),
    Decision.CHOOSE_WEATHER: _Asked("to select one of the tied weather spaces", {WEATHER: "select {}"}),
    Decision.SUN_WEATHER_CLOUD: _Asked(
        "to double own drops in a cloud", {DECLINE: "double no cloud", TILE: _doubled_text}
    ),
    Decision.WIND_WEATHER_DROP: _Asked("to choose a drop on a tile to move", {DROP: "move {} on {}"}),
    Decision.WIND_WEATHER_DIRECTION: _Asked(_where_drop_goes, {DIRECTION: _direction_text}),
    Decision.FERTILIZER_TILE: _Asked(
        "to put a Fertilizer token on a face-down tile", {TILE: "put a Fertilizer token on {}"}
    ),
    Decision.FROST_CLOUD: _Asked(
        "to add a drop to a cloud, as no cloud is left",
        {DECLINE: "add no drop", TILE: "add a drop to the cloud on {}"},
    ),
    Decision.FROST_POWER: _Asked(
        lambda s: f"to add a second drop to the new cloud on {_target(s)}, or not",
        {DECLINE: "add no second drop", POWER: "add a second drop to the new cloud"},
    ),
    Decision.WIND_TILE: _Asked(_where_cloud_goes, {TILE: "move it to {}"}),
    Decision.FORECAST: _Asked(
        lambda s: f"to play a forecast card {TIMING_TEXTS[Timing(s.timing)]}, or none",
        {DECLINE: "play no forecast card", FORECAST: _forecast_text},
    ),
    Decision.FORECAST_TILE: _Asked(_forecast_tile_question, {TILE: _forecast_tile_text}),
    Decision.FORECAST_DROP: _Asked(_forecast_drop_question, {DROP: _forecast_drop_text}),
    Decision.FORECAST_DIRECTION: _Asked(_where_drop_goes, {DIRECTION: _direction_text}),
    Decision.FORECAST_VOTE: _Asked("to add a vote to a weather space (forecast card 5)", {VOTE: "add a vote on {}"}),
    Decision.POD_TILE: _Asked(lambda s: f"to put a pod on a tile ({_more(s.choices_left)})", {TILE: "put a pod on {}"}),
    Decision.KEEP_DROP: _Asked(
        lambda s: f"to keep a drop on a tile, or no more ({_more(s.choices_left)})",
        {DECLINE: "keep no more drops", TILE: "keep a drop on {}"},
    ),
}
check_table(_ASKED, Decision)
