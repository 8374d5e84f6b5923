"""The events of an action in sentences: a story for each rule that changes something on the table."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from evergreen_env.component_files import load_tables
from evergreen_env.rules import card_actions, draft, fertility, game_flow, powers, seasons
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
from tabletop_engine.text.telling import Story, Teller
from tabletop_engine.text.words import counted, player_names

_IMPORTANT = (" scores ", " ends.", " over.")


def events(before: State, action: int | None, viewer: int | None = None, tables: np.ndarray | None = None) -> list[str]:
    """Sentences about the events of an action, up to the next decision, in the order in which they happen.

    Arguments:
        before: the record of dtype STATE that it is played on.
        action: a legal action; FORFEIT; or None for a random action that was played in place of an illegal one.
        viewer: the seat that looks on. It learns the others' turns when all are finished. None learns everything.
        tables: (1,) TABLES that the game is played with; None for the shipped numbers.
    """
    return _teller().events(before, action, viewer, load_tables() if tables is None else tables)


def story(
    before: State, action: int | None, viewer: int | None = None, tables: np.ndarray | None = None
) -> list[tuple[str, Any]]:
    """The sentences of `events`, each with the record at that moment. Nobody is asked in these records."""
    return _teller().story(before, action, viewer, load_tables() if tables is None else tables)


def in_brief(sentences: Iterable[str]) -> str:
    """The sentences that fit into the last line of a picture. Those about points are left out last."""
    return words.in_brief(sentences, _IMPORTANT)


@functools.cache
def _teller() -> _Stories:
    return _Stories()


def _name(s: State, seat: int) -> str:
    return player_names(s.players)[seat]


def _names_of(places: Iterable[int]) -> str:
    return ", ".join(PLACE_NAMES[place] for place in places)


class _Stories(Teller):
    """The stories: methods with the arguments of the rules."""

    def __init__(self) -> None:
        stories: dict[Any, Callable[..., Story]] = {
            draft.draft: self.drafted,
            fertility.place_leftover: self.left_over,
            card_actions.plant: self.planted,
            card_actions.grow: self.grown,
            powers.use_power: self.power_used,
            powers.place_bush: self.bush_placed,
            powers.place_lake: self.lake_placed,
            seasons.show: self.shown,
            seasons.score: self.scored,
            seasons.end_season: self.season_ended,
            seasons.begin_round: self.round_begun,
            seasons.score_fertility: self.game_ended,
            game_flow.forfeit: self.forfeited,
        }
        super().__init__(game_flow.step, game_flow.forfeit, stories)

    def sees(self, s: State) -> bool:
        """Whether the viewer sees the turn of the actor."""
        return self.viewer in (None, s.actor)

    # --- The draft ---

    def drafted(self, s: State, action: int) -> Story:
        seat, marked = s.actor, s.marker
        yield None
        card = card_word(int(s.card[seat]))
        if marked != NO_SLOT and s.marker == NO_SLOT:
            yield f"{_name(s, seat)} takes the marked card {card} and is first in the next round."
            return
        yield f"{_name(s, seat)} takes the card {card}."
        if marked != s.marker:
            yield f"The first player marker goes on {card_word(int(s.market[s.marker]))}."

    def left_over(self, s: State, t: Tables, card: int) -> Story:
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

    def planted(self, s: State, place: int) -> Story:
        yield None
        if self.sees(s):
            yield f"{_name(s, s.actor)} plants a sprout on {PLACE_NAMES[place]}."

    def grown(self, s: State, place: int) -> Story:
        was_sprout = int(s.sprouts[s.actor]) >> place & 1
        yield None
        if self.sees(s):
            change = "sprout becomes a small tree" if was_sprout else "small tree becomes a big tree"
            yield f"On {PLACE_NAMES[place]} {_name(s, s.actor)}'s {change}."

    def power_used(self, s: State, t: Tables) -> Story:
        seat, power = s.actor, int(s.card[s.actor]) % NUM_POWERS
        yield None
        if self.sees(s):
            buds = f" and gets {counted(int(s.earned[seat]), 'point')}" if power == Power.BUDS else ""
            yield f"{_name(s, seat)} has the power {POWER_WORDS[power]} at level {s.level[seat, power]}{buds}."

    def bush_placed(self, s: State, place: int) -> Story:
        yield None
        if self.sees(s):
            yield f"{_name(s, s.actor)} places a bush on {PLACE_NAMES[place]}."

    def lake_placed(self, s: State, t: Tables, place: int) -> Story:
        yield None
        if self.sees(s):
            yield f"{_name(s, s.actor)} places a lake on {PLACE_NAMES[place]}."

    # --- The end of a round, which shows the turns ---

    def shown(self, s: State, seat: int) -> Story:
        is_news = self.viewer not in (None, seat)
        parts = [*_changes_of_planet(s, seat), *_changes_of_levels(s, seat)] if is_news else []
        yield None
        if is_news:
            yield f"{_name(s, seat)} {'; '.join(parts)}." if parts else f"{_name(s, seat)} does nothing."

    def scored(self, s: State, seat: int, source: int, points: int) -> Story:
        yield None
        if points:
            yield f"{_name(s, seat)} scores {counted(points, 'point')} for {SOURCE_NAMES[source]}."

    def season_ended(self, s: State, t: Tables) -> Story:
        season, sun = s.season, s.sun
        yield f"{SEASON_NAMES[season].capitalize()} ends."
        yield from (yield None) or ()
        if s.sun != sun:
            yield f"The sun moves to the {SUN_NAMES[s.sun]}."

    def round_begun(self, s: State, t: Tables) -> Story:
        first = s.first_player
        yield None
        changed = f"; {_name(s, s.first_player)} is first" if s.first_player != first else ""
        yield f"Round {s.round} begins{changed}."

    def game_ended(self, s: State, t: Tables) -> Story:
        yield from (yield None) or ()
        yield "The game is over."

    def forfeited(self, s: State, seat: int) -> Story:
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
