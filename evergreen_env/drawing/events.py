"""The events of an action in sentences: a story for each rule that changes something on the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from evergreen_env import rules
from evergreen_env.component_files import load_tables
from evergreen_env.state import (
    BIOME_NAMES,
    NO_SLOT,
    NUM_BIOMES,
    NUM_POWERS,
    PLACE_NAMES,
    SEASON_NAMES,
    SOURCE_NAMES,
    SUN_NAMES,
    Piece,
    Power,
    State,
)
from evergreen_env.tables import Tables
from evergreen_env.words import (
    PLANET_FIELDS,
    POWER_WORDS,
    SHOWN_FIELDS,
    card_word,
    icons_word,
    places_in,
)
from tabletop_engine.text import words
from tabletop_engine.text.telling import Story, Teller, stories_of
from tabletop_engine.text.words import counted, player_names

_IMPORTANT = (" scores ", " ends.", " over.")


def events(before: State, action: int | None, viewer: int | None = None, tables: np.ndarray | None = None) -> list[str]:
    """`Words.events`. A viewer learns the others' turns when all are finished."""
    return _teller().events(before, action, viewer, load_tables() if tables is None else tables)


def story(
    before: State, action: int | None, viewer: int | None = None, tables: np.ndarray | None = None
) -> list[tuple[str, Any]]:
    """`Words.story`."""
    return _teller().story(before, action, viewer, load_tables() if tables is None else tables)


def in_brief(sentences: Iterable[str]) -> str:
    """`Words.in_brief`. Sentences about points are left out last."""
    return words.in_brief(sentences, _IMPORTANT)


def _name(s: State, seat: int) -> str:
    return player_names(s.players)[seat]


def _names_of(places: Iterable[int]) -> str:
    return ", ".join(PLACE_NAMES[place] for place in places)


class _Stories(Teller):
    """The stories: methods with the names and arguments of the rules."""

    def __init__(self) -> None:
        super().__init__(rules.step, rules.forfeit, stories_of(self, rules))

    def _sees(self, s: State) -> bool:
        """Whether the viewer sees the turn of the actor."""
        return self.viewer in (None, s.actor)

    # --- The draft ---

    def draft(self, s: State, action: int) -> Story:
        seat, marked = s.actor, s.marker
        yield None
        card = card_word(int(s.card[seat]))
        if marked != NO_SLOT and s.marker == NO_SLOT:
            yield f"{_name(s, seat)} takes the marked card {card} and is first in the next round."
            return
        yield f"{_name(s, seat)} takes the card {card}."
        if marked != s.marker:
            yield f"The first player marker goes on {card_word(int(s.market[s.marker]))}."

    def place_leftover(self, s: State, t: Tables, card: int) -> Story:
        before, discarded = s.fertility.copy(), int(s.discards)
        yield None
        icons = icons_word(t, card)
        if int(s.discards) != discarded:
            yield f"The card {card_word(card)} ({icons}) is left over and discarded."
            return
        yield f"The card {card_word(card)} ({icons}) is left over."
        for biome in range(NUM_BIOMES):
            if s.fertility[biome] != before[biome]:
                verb = "rises" if s.fertility[biome] > before[biome] else "falls"
                yield f"The fertility of {BIOME_NAMES[biome]} {verb} from {before[biome]} to {s.fertility[biome]}."

    # --- Turns ---

    def plant(self, s: State, place: int) -> Story:
        yield None
        if self._sees(s):
            yield f"{_name(s, s.actor)} plants a sprout on {PLACE_NAMES[place]}."

    def grow(self, s: State, place: int) -> Story:
        was_sprout = int(s.sprouts[s.actor]) >> place & 1
        yield None
        if self._sees(s):
            change = "sprout becomes a small tree" if was_sprout else "small tree becomes a big tree"
            yield f"On {PLACE_NAMES[place]} {_name(s, s.actor)}'s {change}."

    def use_power(self, s: State, t: Tables) -> Story:
        seat, power = s.actor, int(s.card[s.actor]) % NUM_POWERS
        yield None
        if self._sees(s):
            buds = f" and gets {counted(int(s.earned[seat]), 'point')}" if power == Power.BUDS else ""
            yield f"{_name(s, seat)} has the power {POWER_WORDS[power]} at level {s.level[seat, power]}{buds}."

    def place_bush(self, s: State, place: int) -> Story:
        yield None
        if self._sees(s):
            yield f"{_name(s, s.actor)} places a bush on {PLACE_NAMES[place]}."

    def place_lake(self, s: State, t: Tables, place: int) -> Story:
        yield None
        if self._sees(s):
            yield f"{_name(s, s.actor)} places a lake on {PLACE_NAMES[place]}."

    # --- The end of a round, which shows the turns ---

    def show(self, s: State, seat: int) -> Story:
        is_news = self.viewer not in (None, seat)
        parts = [*_changes_of_planet(s, seat), *_changes_of_levels(s, seat)] if is_news else []
        yield None
        if is_news:
            yield f"{_name(s, seat)} {'; '.join(parts)}." if parts else f"{_name(s, seat)} does nothing."

    def score(self, s: State, seat: int, source: int, points: int) -> Story:
        yield None
        if points:
            yield f"{_name(s, seat)} scores {counted(points, 'point')} for {SOURCE_NAMES[source]}."

    def end_season(self, s: State, t: Tables) -> Story:
        season, sun = s.season, s.sun
        yield f"{SEASON_NAMES[season].capitalize()} ends."
        yield from (yield None) or ()
        if s.sun != sun:
            yield f"The sun moves to the {SUN_NAMES[s.sun]}."

    def begin_round(self, s: State, t: Tables) -> Story:
        first = s.first_player
        yield None
        changed = f"; {_name(s, s.first_player)} is first" if s.first_player != first else ""
        yield f"Round {s.round} begins{changed}."

    def score_fertility(self, s: State, t: Tables) -> Story:
        yield from (yield None) or ()
        yield "The game is over."

    def forfeit(self, s: State, seat: int) -> Story:
        yield None
        yield f"{_name(s, seat)} forfeits the game."


def _changes_of_planet(s: State, seat: int) -> Iterator[str]:
    """Sentences about the new pieces on a planet."""
    for piece in Piece:
        new = int(s[PLANET_FIELDS[piece]][seat]) & ~int(s[SHOWN_FIELDS[piece]][seat])
        if new:
            yield f"has new {PLANET_FIELDS[piece].replace('_', ' ')} on {_names_of(places_in(new))}"


def _changes_of_levels(s: State, seat: int) -> Iterator[str]:
    for power in np.flatnonzero(s.level[seat] != s.shown_level[seat]).tolist():
        yield f"has the power {POWER_WORDS[power]} at level {s.level[seat, power]}"


_teller = cache(_Stories)
