"""The places in the picture where a click gives an answer: tiles, clouds, drops, cards, dice."""

from __future__ import annotations

from collections.abc import Callable

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
    RANGES,
    SUBSTITUTE,
    TILE,
    VOTE,
    WEATHER,
    range_of,
)
from petrichor_env.rules.fields import NEIGHBOURS
from petrichor_env.state import MAX_PLAYERS, NO_TILE, POWER_NAMES, WEATHER_NAMES, Decision, State
from petrichor_env.words import owner_names, tile_name
from tabletop_engine.decisions import check_table
from tabletop_engine.drawing.svg import Place

_Places = tuple[Place, ...]

_OF_CLOUDS = (
    Decision.SUN_CLOUD,
    Decision.WIND_CLOUD,
    Decision.SUN_WEATHER_CLOUD,
    Decision.FROST_CLOUD,
)
"""Decisions in which a tile stands for the cloud above it."""
_CARDS_OF_CLOUDS = (6, 10, 12)
"""Forecast cards that choose a cloud. Card 10 then chooses the tile to which it goes."""
_CARDS_OF_DROPS = (8, 11)
"""Forecast cards that choose drops on tiles. Card 15 chooses drops in a cloud."""


def places(state: State, action: int) -> tuple[Place, ...]:
    """`Drawing.places`: () for actions without a piece, such as to pass or to decline."""
    first, index = range_of(action)
    return _PLACES[first](state, index) if first in _PLACES else ()


# --- the Fields -------------------------------------------------------------------------------------------------------


def _tile(s: State, tile: int) -> Place:
    return (("tile", tile_name(s.players, tile)),)


def _cloud(s: State, tile: int) -> Place:
    return (("cloud-on", tile_name(s.players, tile)),)


def _tiles(s: State, tile: int) -> _Places:
    if s.decision in _OF_CLOUDS or (
        s.decision == Decision.FORECAST_TILE and s.forecast in _CARDS_OF_CLOUDS and s.target == NO_TILE
    ):
        return _cloud(s, tile), _tile(s, tile)
    if s.decision == Decision.TAKE_DROP:
        return _drop_on_tile(s, tile, s.actor)
    return (_tile(s, tile),)


def _drop_on_tile(s: State, tile: int, owner: int) -> _Places:
    return (*_tile(s, tile), ("drop", owner_names(s.players)[owner])), _tile(s, tile)


def _drops(s: State, drop: int) -> _Places:
    tile, owner = drop // MAX_PLAYERS, (s.actor + drop % MAX_PLAYERS) % s.owners
    if s.decision == Decision.WIND_WEATHER_DROP or (
        s.decision == Decision.FORECAST_DROP and s.forecast in _CARDS_OF_DROPS
    ):
        return _drop_on_tile(s, tile, owner)
    cloud = _cloud(s, tile)
    return (*cloud, ("cloud-drop", owner_names(s.players)[owner])), cloud, _tile(s, tile)


def _direction(s: State, direction: int) -> _Places:
    to = NO_TILE if s.target == NO_TILE else int(NEIGHBOURS[s.target, direction])
    return () if to == NO_TILE else (_tile(s, to),)


# --- weather and dice -------------------------------------------------------------------------------------------------


def _space(s: State, kind: int) -> _Places:
    return ((("weather", WEATHER_NAMES[kind]),),)


def _dice(s: State, votes_left: int) -> _Places:
    return tuple((("die", str(i)),) for i, side in enumerate(s.dice.tolist()) if side == votes_left + 1)


# --- what the actor has -----------------------------------------------------------------------------------------------


def _row(s: State) -> Place:
    return (("owner", owner_names(s.players)[s.actor]),)


def _cards(s: State, kind: int) -> _Places:
    where = "pack-card" if s.decision == Decision.DRAFT else "hand-card"
    return (*_row(s), (where, WEATHER_NAMES[kind])), _row(s)


def _substitute(s: State, kind: int) -> _Places:
    """The cards of the kind that others stand for; its weather space if the hand has none."""
    return _cards(s, kind) if s.hand[s.actor, kind] else (*_space(s, kind), _row(s))


def _forecast(s: State, card: int) -> _Places:
    return (("forecast", str(card + 1)),), _row(s)


def _power(s: State, _: int) -> _Places:
    """The power, and the cloud to which it adds a drop."""
    badge = (*_row(s), ("badge", POWER_NAMES[s.power[s.actor]]))
    return badge, _row(s), _cloud(s, s.target), _tile(s, s.target)


_PLACES: dict[int, Callable[[State, int], _Places]] = {
    PLAY: _cards,
    SUBSTITUTE: _substitute,
    CARD: _cards,
    TILE: _tiles,
    DROP: _drops,
    DIRECTION: _direction,
    VOTE: _space,
    DIE: _dice,
    WEATHER: _space,
    FORECAST: _forecast,
    POWER: _power,
}
"""For the first action of each range, a function of the state and the index in the range that gives the places."""
check_table(_PLACES, set(RANGES) - {PASS, DECLINE})
