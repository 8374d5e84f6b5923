"""The decisions: what is known of each in one table, the pending one in words, and the meaning of each answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from petrichor_env.actions import (
    CARD,
    DECLINE,
    DIE,
    DIRECTION,
    DROP,
    FORECAST,
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
from petrichor_env.component_files import load_tables
from petrichor_env.config import Config
from petrichor_env.drawing import lessons
from petrichor_env.drawing.card_texts import FORECASTS, TIMING_TEXTS
from petrichor_env.rules.fields import NEIGHBOURS
from petrichor_env.rules.flower_tiles import PODS_A_PLAYER
from petrichor_env.rules.forecasts import MOVED_UP
from petrichor_env.rules.powers import KEPT_DROPS
from petrichor_env.state import (
    DIRECTION_NAMES,
    MAX_PLAYERS,
    NO_TILE,
    NOBODY,
    NUM_TILES,
    Cloud,
    Crop,
    Decision,
    Module,
    Phase,
    Power,
    State,
    Timing,
    Weather,
)
from petrichor_env.tables import Tables
from petrichor_env.words import WEATHER_WORDS, owner_names, tile_name
from tabletop_engine.decisions import check_table
from tabletop_engine.legal import NOTHING_ASKED
from tabletop_engine.presentation import Lesson, Paragraphs
from tabletop_engine.text.words import counted, win_text

_TAKE_DROP_FOR = {Weather.FROST: "for the new cloud", Weather.SUN: "for the Sun action"}


def question(state: State) -> str:
    """`Words.question`."""
    words = ASKED[Decision(state.decision)].question
    return words if isinstance(words, str) else words(state)


def lesson(config: Config, state: State | None = None, tables: np.ndarray | None = None) -> Lesson:
    """`Words.lesson`. The introduction reads no printed numbers."""
    if state is None:
        return Lesson.of(lessons.introduction(config))
    t = (load_tables() if tables is None else tables)[0]
    return Lesson.of(ASKED[Decision(state.decision)].lesson(state, t))


def continues_answer(before: State, state: State) -> bool:
    """`Words.continues_answer`: how a card is paid for, and what it does."""
    asked = ASKED[Decision(state.decision)]
    return asked.card is not None or asked.continues is True or before.decision in (asked.continues or ())


def gives_up(state: State, action: int) -> str:
    """`Words.gives_up`: the hand of who passes first, but for two players."""
    cards = _discarded(state) if (state.decision, action) == (Decision.TURN, PASS) else 0
    return f"You discard {counted(cards, 'card')}." if cards else ""


def aside(state: State, action: int) -> str:
    """`Words.aside`: to play other cards in place of one."""
    return "pay with other cards" if range_of(action)[0] == SUBSTITUTE else ""


def declines(state: State, action: int) -> bool:
    """`Words.declines`: to take no optional action."""
    return bool((state.decision, action) == (Decision.OPTIONAL_ACTION, DECLINE))


def hides_actor(state: State, viewer: int | None) -> bool:
    """Whether the actor is hidden: only the actor may know who is asked for a forecast card."""
    return state.decision == Decision.FORECAST and viewer not in (None, state.actor)


def asked_text(state: State, viewer: int | None, names: Sequence[str]) -> str:
    """A sentence about the pending decision and its actor, as far as the viewer may know; None may know everything.

    It is "" while no decision is pending.
    """
    if state.decision == NOTHING_ASKED:
        return ""
    if state.decision == Decision.GAME_OVER:
        return f"Game over: {result_text(state, names)}."
    if hides_actor(state, viewer):
        return f"Forecast cards may be played {TIMING_TEXTS[Timing(state.timing)]}."
    return f"{names[state.actor]} is asked {question(state)}."


def winners(s: State) -> list[int]:
    """The seats that have won; none before the end of the game."""
    return Config().game.winners(s) if s.decision == Decision.GAME_OVER else []


def result_text(s: State, names: Sequence[str]) -> str:
    """The result in words, with the names of the seats: `player_1 forfeited, player_0 wins`."""
    who = win_text([names[seat] for seat in winners(s)])
    return who if s.forfeited == NOBODY else f"{names[s.forfeited]} forfeited, {who}"


def action_text(state: State, action: int) -> str:
    """`Words.action_text`, as an imperative: "vote for Sun".

    For an action of a range that does not answer this decision it is the plain name. Raises IndexError outside 0 to
    NUM_ACTIONS - 1.
    """
    name = action_name(action)
    first, index = range_of(action)
    words = ASKED[Decision(state.decision)].answers.get(first)
    if words is None:
        return name
    return words.format(*_things(state, first, index)) if isinstance(words, str) else words(state, index)


def answer_name(state: State, action: int) -> str:
    """`Words.answer_name`, as in `petrichor_env.actions`; in solo with its tile's own name."""
    first, index = range_of(action)
    tiles = {TILE: index, DROP: index // MAX_PLAYERS}
    words = action_name(action).split(" ")
    if first in tiles:
        words[1] = tile_name(state.players, tiles[first])
    return " ".join(words)


def told_action(state: State, action: int, viewer: int | None) -> str:
    """`Words.told_action`. Nobody learns who declined to play a forecast card."""
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


# --- the table of decisions, and those of forecast cards --------------------------------------------------------------

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
check_table(lessons.FORECAST_ADVICE, [*_FORECAST_TILES, *_FORECAST_DROPS])
_ASKS_FOR_A_VOTE = (5,)
_ASK_FOR_NOTHING = (1, 3, 7, 13, 14)
check_table([*_FORECAST_TILES, *_FORECAST_DROPS, *_ASKS_FOR_A_VOTE, *_ASK_FOR_NOTHING], FORECASTS)


CLOCKWISE, ANTICLOCKWISE = 1, -1


@dataclass(frozen=True)
class Asked:
    """What is known of a decision beside its rules. Words are text, with gaps for `_things`, or functions that give it.

    Attributes:
        question: the question; a function takes the state.
        label: what it asks, for people who set a position up.
        answers: for the first action of each range that answers it, the answer; a function takes the state and the
            index in the range.
        lesson: its explanation for new players.
        phases: the phases in which it is asked.
        card: the action that asks it, if only one kind does.
        weather: the weather that asks it, if only one does.
        module: the module without which it is never asked.
        order: CLOCKWISE or ANTICLOCKWISE if all players are asked in turn, from the first or from the last one; else 0.
        after: the point of the timeline at which forecast cards may be played before it.
        forecasts: the numbers of the forecast cards whose effect asks it.
        choices: how many tiles or drops it chooses one after another; for `forecast_drop` only with card 11.
        continues: whether it says more about the answer before it: True if it follows the play of a card in the same
            turn, as all with a `card` do, or the decisions that it goes on with.
    """

    question: str | Callable[[State], str]
    label: str
    answers: Mapping[int, str | Callable[[State, int], str]]
    lesson: Callable[[State, Tables], Paragraphs]
    phases: tuple[Phase, ...] = (Phase.ACTION,)
    card: Weather | None = None
    weather: Weather | None = None
    module: Module | None = None
    order: int = 0
    after: Timing | None = None
    forecasts: tuple[int, ...] = ()
    choices: int = 0
    continues: bool | tuple[Decision, ...] = False


_in_weather = partial(Asked, phases=(Phase.WEATHER,))
_FALL = "let {} fall from the cloud on {}"
ASKED = {
    Decision.GAME_OVER: Asked(
        "nothing: the game is over", "none, the game is over", {}, lessons.game_over, phases=(Phase.OVER,)
    ),
    Decision.DRAFT: Asked(
        lambda s: f"to keep a card of the pack ({s.cards_left} to pick)",
        "which card to keep",
        {CARD: "keep a {} card"},
        lessons.draft,
        phases=(Phase.SETUP, Phase.CLEANUP),
        order=CLOCKWISE,
    ),
    Decision.SETUP_CLOUD: Asked(
        "to choose a tile for the first cloud",
        "where the first cloud goes",
        {TILE: "put a new cloud on {}"},
        lessons.setup_cloud,
        phases=(Phase.SETUP,),
        order=ANTICLOCKWISE,
    ),
    Decision.TURN: Asked(
        _turn_question,
        "the turn: a card, or to pass",
        {PASS: _pass_text, PLAY: "play a {} card", SUBSTITUTE: _substitute_text, FORECAST: _forecast_text},
        lessons.turn,
    ),
    Decision.OPTIONAL_ACTION: Asked(
        "to take an optional second action, or none",
        "whether to play a second card",
        {DECLINE: "take no optional action", PLAY: "play two {} cards", SUBSTITUTE: _substitute_twice_text},
        lessons.optional_action,
    ),
    Decision.PAY: Asked(
        lambda s: f"to pay with a card for {_action_of(s)} ({_more(s.cards_left)})",
        "what to pay with",
        {CARD: "pay with a {} card"},
        lessons.pay,
        continues=True,
    ),
    Decision.FROST_TILE: Asked(
        "to choose a tile for the new cloud",
        "where the new cloud goes",
        {DECLINE: "place no cloud", TILE: "put a new cloud on {}"},
        lessons.frost_tile,
        card=Weather.FROST,
    ),
    Decision.SUN_CLOUD: Asked(
        "to add two own drops to a cloud",
        "which cloud the Sun is for",
        {DECLINE: "add no drops", TILE: "add two drops to the cloud on {}"},
        lessons.sun_cloud,
        card=Weather.SUN,
    ),
    Decision.WIND_CLOUD: Asked(
        "to choose a cloud to move",
        "which cloud the Wind moves",
        {TILE: "move the cloud on {}"},
        lessons.wind_cloud,
        card=Weather.WIND,
    ),
    Decision.WIND_DIRECTION: Asked(
        _where_cloud_goes,
        "where the Wind moves it",
        {DIRECTION: _direction_text},
        lessons.wind_direction,
        card=Weather.WIND,
    ),
    Decision.RAIN_DROP: Asked(
        lambda s: (
            "to let a drop fall, from a cloud or the supply"
            if _has_power(s, Power.RAIN)
            else "to let a drop fall from a cloud"
        ),
        "which drop rains",
        {DECLINE: "let no drop fall", TILE: "put an own drop on {} (Rain power)", DROP: _FALL},
        lessons.rain_drop,
        card=Weather.RAIN,
    ),
    Decision.RAIN_SECOND_DROP: Asked(
        "to let a drop of another cloud fall too, or none",
        "which second drop rains",
        {DECLINE: "let no second drop fall", DROP: _FALL},
        lessons.rain_second_drop,
        card=Weather.RAIN,
    ),
    Decision.TAKE_DROP: Asked(
        _take_drop_question,
        "where a drop comes from",
        {TILE: "take an own drop from {}"},
        lessons.take_drop,
        phases=(Phase.ACTION, Phase.WEATHER),
        continues=True,
    ),
    Decision.VOTE: Asked(
        lambda s: f"to vote after {_action_of(s)}",
        "what to vote for",
        {VOTE: "vote for {}", DIE: _die_text},
        lessons.vote,
    ),
    Decision.MOVE_VOTE: Asked(
        lambda s: f"to move a vote to {WEATHER_WORDS[s.target_space]}, as none is left in supply",
        "which vote to move",
        {WEATHER: "take the vote from {}"},
        lessons.move_vote,
        phases=(Phase.ACTION, Phase.WEATHER),
    ),
    Decision.DISCARD: Asked(
        lambda s: f"to discard a card ({_more(s.cards_left)})",
        "which card to discard",
        {CARD: "discard a {} card"},
        lessons.discard,
        order=CLOCKWISE,
        continues=(Decision.DISCARD,),
    ),
    Decision.CHOOSE_WEATHER: _in_weather(
        "to select one of the tied weather spaces",
        "which of tied weathers comes",
        {WEATHER: "select {}"},
        lessons.choose_weather,
        after=Timing.START_OF_WEATHER,
    ),
    Decision.SUN_WEATHER_CLOUD: _in_weather(
        "to double own drops in a cloud",
        "which cloud grows in the Sun weather",
        {DECLINE: "double no cloud", TILE: _doubled_text},
        lessons.sun_weather_cloud,
        weather=Weather.SUN,
        order=CLOCKWISE,
    ),
    Decision.WIND_WEATHER_DROP: _in_weather(
        "to choose a drop on a tile to move",
        "which drop the Wind weather moves",
        {DROP: "move {} on {}"},
        lessons.wind_weather_drop,
        weather=Weather.WIND,
        order=ANTICLOCKWISE,
        after=Timing.BEFORE_WIND,
    ),
    Decision.WIND_WEATHER_DIRECTION: _in_weather(
        _where_drop_goes,
        "where the Wind weather moves it",
        {DIRECTION: _direction_text},
        lessons.wind_weather_direction,
        weather=Weather.WIND,
        order=ANTICLOCKWISE,
        after=Timing.BEFORE_WIND,
        continues=(Decision.WIND_WEATHER_DROP,),
    ),
    Decision.FERTILIZER_TILE: Asked(
        "to put a Fertilizer token on a face-down tile",
        "where a Fertilizer token goes",
        {TILE: "put a Fertilizer token on {}"},
        lessons.fertilizer_tile,
        phases=(Phase.SETUP,),
        module=Module.FERTILIZER,
        order=CLOCKWISE,
    ),
    Decision.FROST_CLOUD: Asked(
        "to add a drop to a cloud, as no cloud is left",
        "which cloud gets the drops of a Frost action",
        {DECLINE: "add no drop", TILE: "add a drop to the cloud on {}"},
        lessons.frost_cloud,
        card=Weather.FROST,
    ),
    Decision.FROST_POWER: Asked(
        lambda s: f"to add a second drop to the new cloud on {_target(s)}, or not",
        "whether to use the Frost power",
        {DECLINE: "add no second drop", POWER: "add a second drop to the new cloud"},
        lessons.frost_power,
        card=Weather.FROST,
        module=Module.POWERS,
    ),
    Decision.WIND_TILE: Asked(
        _where_cloud_goes,
        "where the Wind power moves the cloud",
        {TILE: "move it to {}"},
        lessons.wind_tile,
        card=Weather.WIND,
    ),
    Decision.FORECAST: Asked(
        lambda s: f"to play a forecast card {TIMING_TEXTS[Timing(s.timing)]}, or none",
        "whether to play a forecast card",
        {DECLINE: "play no forecast card", FORECAST: _forecast_text},
        lessons.forecast,
        phases=(Phase.WEATHER, Phase.HARVEST),
        module=Module.FORECASTS,
    ),
    Decision.FORECAST_TILE: Asked(
        _forecast_tile_question,
        "which tile the forecast card is for",
        {TILE: _forecast_tile_text},
        lessons.forecast_choice,
        phases=(Phase.ACTION, Phase.WEATHER, Phase.HARVEST),
        module=Module.FORECASTS,
        forecasts=tuple(_FORECAST_TILES),
    ),
    Decision.FORECAST_DROP: Asked(
        _forecast_drop_question,
        "which drop the forecast card is for",
        {DROP: lambda s, drop: _FORECAST_DROPS[s.forecast][1].format(*_things(s, DROP, drop))},
        lessons.forecast_choice,
        phases=(Phase.ACTION, Phase.WEATHER),
        module=Module.FORECASTS,
        forecasts=tuple(_FORECAST_DROPS),
        choices=MOVED_UP,
    ),
    Decision.FORECAST_DIRECTION: _in_weather(
        _where_drop_goes,
        "where the forecast card moves it",
        {DIRECTION: _direction_text},
        lessons.forecast_direction,
        module=Module.FORECASTS,
        forecasts=(8,),
        continues=(Decision.FORECAST_DROP,),
    ),
    Decision.FORECAST_VOTE: _in_weather(
        "to add a vote to a weather space (forecast card 5)",
        "which vote the forecast card is for",
        {VOTE: "add a vote on {}"},
        lessons.forecast_vote,
        module=Module.FORECASTS,
        forecasts=_ASKS_FOR_A_VOTE,
    ),
    Decision.POD_TILE: _in_weather(
        lambda s: f"to put a pod on a tile ({_more(s.choices_left)})",
        "where a pod goes",
        {TILE: "put a pod on {}"},
        lessons.pod_tile,
        weather=Weather.WIND,
        module=Module.FLOWER_TILES,
        order=CLOCKWISE,
        after=Timing.BEFORE_WIND,
        choices=PODS_A_PLAYER,
        continues=(Decision.POD_TILE,),
    ),
    Decision.KEEP_DROP: Asked(
        lambda s: f"to keep a drop on a tile, or no more ({_more(s.choices_left)})",
        "where a drop is kept",
        {DECLINE: "keep no more drops", TILE: "keep a drop on {}"},
        lessons.keep_drop,
        phases=(Phase.HARVEST,),
        module=Module.POWERS,
        choices=KEPT_DROPS,
        continues=(Decision.KEEP_DROP,),
    ),
}
"""What is known of each decision, by its number."""
check_table(ASKED, Decision)
