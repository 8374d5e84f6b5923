"""The events of an action in sentences: a story for each rule that changes something on the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from petrichor_env import rules
from petrichor_env.actions import DECLINE, TILE, WEATHER
from petrichor_env.component_files import load_tables
from petrichor_env.drawing.card_texts import forecast_cards_text, forecast_text, power_text
from petrichor_env.drawing.text import cards_seen, cards_text, cloud_words, dice_text, forecasts_held, winds_card_text
from petrichor_env.rules import fields
from petrichor_env.state import (
    CROP_NAMES,
    NOBODY,
    SOURCE_NAMES,
    WEATHER_NAMES,
    Cloud,
    Crop,
    Growing,
    Phase,
    Source,
    State,
)
from petrichor_env.tables import Tables
from petrichor_env.words import WEATHER_WORDS, owner_names, source_title, tile_name
from tabletop_engine.decisions import check_table
from tabletop_engine.text import words
from tabletop_engine.text.telling import Story, Teller, stories_of
from tabletop_engine.text.words import counted

_IMPORTANT = (" scores ", " harvested", " begins.", " over.")

_GROWTH = {
    Growing.NONE: "dries out",
    Growing.SPROUTING: "sprouts",
    Growing.DEVELOPED: "grows",
    Growing.DROWNED: "drowns",
}
"""The words for a change of a growing token."""
check_table(_GROWTH, Growing)
_WINDS_LOG = ("winds_card", "winds_roll", "winds_target", "winds_revealed")
"""The fields that `southern_winds.log_card` writes."""


def events(before: State, action: int | None, viewer: int | None = None, tables: np.ndarray | None = None) -> list[str]:
    """`Words.events`. A viewer learns only the number of cards that others take."""
    return _teller().events(before, action, viewer, load_tables() if tables is None else tables)


def story(
    before: State, action: int | None, viewer: int | None = None, tables: np.ndarray | None = None
) -> list[tuple[str, Any]]:
    """`Words.story`."""
    return _teller().story(before, action, viewer, load_tables() if tables is None else tables)


def in_brief(sentences: Iterable[str]) -> str:
    """`Words.in_brief`. Sentences about points and Harvests are left out last."""
    return words.in_brief(sentences, _IMPORTANT)


def _name(s: State, seat: int) -> str:
    return owner_names(s.players)[seat]


def _place(s: State, tile: int) -> str:
    return tile_name(s.players, tile)


def _crop(s: State, tile: int) -> str:
    return f"{CROP_NAMES[s.crop[tile]].capitalize()} on {_place(s, tile)}"


def _drops(s: State, drops: np.ndarray) -> str:
    amounts = [f"{counted(drops[seat], 'drop')} of {_name(s, seat)}" for seat in np.flatnonzero(drops).tolist()]
    return ", ".join(amounts) or "nothing"


def _tile_change(s: State, tile: int, before: np.ndarray) -> Iterator[str]:
    """Sentences about the changes of the drops on a tile, from `before` to now."""
    parts = [f"{_gets(s, seat, change)}, now {s.drops[tile, seat]}" for seat, change in _changed(s.drops[tile], before)]
    if parts:
        yield f"{_crop(s, tile)} {'; '.join(parts)}."


def _cloud_change(s: State, tile: int, before: np.ndarray) -> Iterator[str]:
    for seat, change in _changed(s.cloud_drops[tile], before):
        yield f"The cloud on {_place(s, tile)} {_gets(s, seat, change)}, now {s.cloud_drops[tile, seat]}."


def _grown_clouds(s: State, before: np.ndarray) -> Iterator[str]:
    for tile in np.flatnonzero((before == Cloud.LIGHT) & (s.cloud == Cloud.THUNDER)).tolist():
        yield f"The cloud on {_place(s, tile)} becomes a thundercloud."


def _changed(after: np.ndarray, before: np.ndarray) -> Iterator[tuple[int, int]]:
    for seat in np.flatnonzero(after != before).tolist():
        yield seat, int(after[seat]) - int(before[seat])


def _gets(s: State, seat: int, change: int) -> str:
    return f"{'gets' if change > 0 else 'loses'} {counted(abs(change), 'drop')} of {_name(s, seat)}"


class _Stories(Teller):
    """The stories: methods with the names and arguments of the rules."""

    def __init__(self) -> None:
        super().__init__(rules.step, rules.forfeit, stories_of(self, rules))

    def _sees(self, seat: int) -> bool:
        return self.viewer in (None, seat)

    # --- cards ---

    def discard(self, s: State, seat: int, kind: int, cards: int) -> Story:
        yield None
        if cards:
            yield f"{_name(s, seat)} discards {cards} {WEATHER_NAMES[kind]}."

    def discard_hand(self, s: State, seat: int) -> Story:
        hand = s.hand[seat].copy()
        yield None
        if hand.any():
            yield f"{_name(s, seat)} discards {cards_text(hand)}."

    def draw_card(self, s: State) -> Story:
        is_new_deck = s.discards.any() and not s.deck.any()
        yield None
        if is_new_deck:
            yield "The discards are shuffled into a new deck."

    def deal(self, s: State) -> Story:
        yield from self._gained("gets", s)
        for seat in range(s.players):
            if s.pack[seat].any():
                yield f"{_name(s, seat)} is dealt a pack of {cards_seen(s.pack[seat], self._sees(seat))}."

    def deal_extra_card(self, s: State, *_: int) -> Story:
        return self._gained("gets", s)

    def draft(self, s: State, *_: int) -> Story:
        return self._gained("keeps", s)

    continue_draft = draft

    def _gained(self, verb: str, s: State) -> Story:
        hands = s.hand.copy()
        yield from (yield None)
        for seat in np.flatnonzero((s.hand != hands).any(axis=1)).tolist():
            yield f"{_name(s, seat)} {verb} {cards_seen(s.hand[seat] - hands[seat], self._sees(seat))}."

    def deal_powers(self, s: State) -> Story:
        had = s.power.copy()
        yield None
        for seat in np.flatnonzero(s.power != had).tolist():
            yield f"{_name(s, seat)} has the {power_text(s.power[seat])}."

    def deal_forecasts(self, s: State) -> Story:
        """The viewer does not learn the cards that others are dealt."""
        yield None
        for seat in range(s.players):
            held = forecasts_held(s, seat)
            if held:
                number = forecast_cards_text(held) if self._sees(seat) else counted(len(held), "forecast card")
                yield f"{_name(s, seat)} gets {number}."

    def play_forecast(self, s: State, t: Tables, number: int) -> Story:
        """Everybody sees the card, and also the last one, which is discarded with the second."""
        dice, others = s.dice.copy(), [card for card in forecasts_held(s, s.actor) if card != number]
        discarded = f" and discards {forecast_cards_text(others)}" if len(others) == 1 else ""
        yield f"{_name(s, s.actor)} plays {forecast_text(number)}{discarded}."
        yield from (yield None)
        yield from self._dice(s, dice)

    # --- turns ---

    def pass_turn(self, s: State, t: Tables) -> Story:
        if s.passed == NOBODY:
            yield f"{_name(s, s.actor)} has passed first."
        yield from (yield None)

    def take_first_player_marker(self, s: State) -> Story:
        before = int(s.first_player)
        yield None
        if s.first_player != before:
            yield f"{_name(s, s.first_player)} is now first player."

    change_first_player = take_first_player_marker

    def continue_cleanup_phase(self, s: State, t: Tables) -> Story:
        before = int(s.round)
        inside = yield None
        if s.round != before:
            yield f"Round {s.round} begins."
        yield from inside

    def end_game(self, s: State, t: Tables) -> Story:
        yield from (yield None)
        yield "The game is over."

    def forfeit(self, s: State, seat: int) -> Story:
        yield None
        yield f"{_name(s, seat)} forfeits the game."
        yield "The game is over."

    def shuffle_winds_deck(self, s: State) -> Story:
        yield None
        if s.phase != Phase.SETUP:
            yield "Southern Winds card 9 came up: all nine cards are shuffled into a new deck."

    def resolve_card(self, s: State, t: Tables, card: int) -> Story:
        """The record has the card only after its effect, but the story shows it before."""
        revealed = self.sentence("")
        inside = yield None
        sentences = [revealed._replace(text=winds_card_text(s, t, s.winds_revealed - 1)), *inside]
        for sentence in sentences:
            if sentence.state is not None:
                for name in _WINDS_LOG:
                    sentence.state[name] = s[name]
        yield from sentences

    def resolve_icons(self, s: State, t: Tables, card: int) -> Story:
        votes = s.votes.copy()
        inside = yield None
        for kind, seat in np.argwhere(s.votes != votes).tolist():
            yield self._placed(s, kind, seat, int(s.votes[kind, seat]) - int(votes[kind, seat]))
        yield from inside

    # --- the Fields ---

    def place_pod(self, s: State, action: int) -> Story:
        yield None
        yield f"A pod is placed on {_place(s, action - TILE)}."

    def place_fertilizer(self, s: State, action: int) -> Story:
        yield None
        yield f"A Fertilizer token is placed on {_place(s, action - TILE)}."

    def lay_fields(self, s: State, t: Tables) -> Story:
        yield "The tiles are turned face up."
        yield from (yield None)

    def new_cloud(self, s: State, tile: int, owner: int, drops: int) -> Story:
        yield None
        yield f"A new {cloud_words(s, tile)} on {_place(s, tile)}: {_drops(s, s.cloud_drops[tile])}."

    def add_to_cloud(self, s: State, tile: int, *_: int) -> Story:
        before = s.cloud_drops[tile].copy()
        yield None
        yield from _cloud_change(s, tile, before)

    draw_from_lake = add_to_cloud

    def move_cloud(self, s: State, tile: int, to: int) -> Story:
        clouds_before, drops = s.cloud.copy(), s.cloud_drops[to].copy()
        yield None
        merges = " and merges with the cloud there" if clouds_before[to] else ""
        yield f"The cloud on {_place(s, tile)} moves to {_place(s, to)}{merges}."
        if merges:
            yield from _cloud_change(s, to, drops)
            yield from _grown_clouds(s, clouds_before)

    def pour(self, s: State, t: Tables, tile: int) -> Story:
        drops, there = s.cloud_drops[tile].copy(), s.drops[tile].copy()
        back = "" if self.plain(fields.takes_drops)(s, tile) else ", back to their owners"
        inside = yield None
        yield f"The cloud on {_place(s, tile)} pours out: {_drops(s, drops)}{back}."
        yield from _tile_change(s, tile, there)
        yield from inside

    def settle_clouds(self, s: State, *_: Tables) -> Story:
        before, is_empty = s.cloud.copy(), ~s.cloud_drops.any(axis=1)
        inside = yield None
        yield from _grown_clouds(s, before)
        for tile in np.flatnonzero((before != Cloud.NONE) & is_empty).tolist():
            yield f"The empty cloud on {_place(s, tile)} goes."
        yield from inside

    frost_weather = settle_clouds

    def fall(self, s: State, tile: int, owner: int) -> Story:
        there = s.drops[tile].copy()
        back = "" if self.plain(fields.takes_drops)(s, tile) else ", back to the owner"
        yield None
        drop, left = f"1 drop of {_name(s, owner)}{back}", s.cloud_drops[tile, owner]
        yield f"The cloud on {_place(s, tile)} loses {drop}, now {left}."
        yield from _tile_change(s, tile, there)

    def put_drop(self, s: State, t: Tables, tile: int, owner: int) -> Story:
        before = s.drops[tile].copy()
        inside = yield None
        yield from _tile_change(s, tile, before)
        yield from inside

    take_drop = put_drop

    def move_drop(self, s: State, t: Tables, tile: int, owner: int, to: int) -> Story:
        takes_it = self.plain(fields.takes_drops)(s, to)
        where = _place(s, to) if takes_it else f"the {_crop(s, to)}, back to the owner"
        inside = yield None
        yield f"A drop of {_name(s, owner)} moves from {_place(s, tile)} to {where}."
        yield from inside

    def move_up(self, s: State, t: Tables, tile: int) -> Story:
        risen = s.chosen_drops.copy()
        inside = yield None
        yield f"{_drops(s, risen)} rise from {_place(s, tile)} into the cloud above."
        yield from inside

    def keep_drop(self, s: State, t: Tables, action: int) -> Story:
        seat = int(s.actor)
        inside = yield None
        if action != DECLINE:
            yield f"{_name(s, seat)} keeps a drop on {_place(s, action - TILE)}."
        yield from inside

    def check_growing(self, s: State, t: Tables, tile: int) -> Story:
        had = s.growing[tile]
        inside = yield None
        if s.growing[tile] != had:
            yield f"{_crop(s, tile)} {_GROWTH[Growing(s.growing[tile])]}."
        yield from inside

    def develop(self, s: State, crop: int) -> Story:
        before = s.growing.copy()
        yield None
        for tile in np.flatnonzero(s.growing != before).tolist():
            yield f"{_crop(s, tile)} develops."

    def lower_cloud_drops(self, s: State, t: Tables, tile: int) -> Story:
        yield None  # no sentence: the drops only count as if they were there

    # --- Harvest ---

    def score_tile(self, s: State, t: Tables, tile: int) -> Story:
        tokens = s.wheat_tokens.copy()
        yield f"{_crop(s, tile)} is harvested."
        yield from (yield None)
        for seat in np.flatnonzero(s.wheat_tokens != tokens).tolist():
            yield f"{_name(s, seat)} takes a Wheat token, now {s.wheat_tokens[seat]}."

    def gain(self, s: State, seat: int, points: int, source: int) -> Story:
        yield None
        if points:
            reason = "" if source in (Source.CARDS, Source.DICE) else f" for {source_title(SOURCE_NAMES[source])}"
            yield f"{_name(s, seat)} scores {counted(points, 'point')}{reason}, now {s.points[seat]}."

    def close_snowdrop(self, s: State, *_: Tables) -> Story:
        before = s.blooms.copy()
        yield None
        for tile in np.flatnonzero(s.blooms != before).tolist():
            if s.crop[tile] == Crop.SNOWDROP:
                yield f"{_crop(s, tile)} {'opens' if s.blooms[tile] else 'closes'}."
            else:
                yield f"{_crop(s, tile)} has {counted(s.blooms[tile], 'bloom')} now."

    open_snowdrop = end_harvest_of_flowers = close_snowdrop

    def take_pods_back(self, s: State) -> Story:
        tiles = np.flatnonzero(s.pods).tolist()
        yield None
        if tiles:
            yield f"Pods go back from {', '.join(_place(s, tile) for tile in tiles)}."

    def settle_control(self, s: State, t: Tables, tile: int) -> Story:
        before = int(s.controller)
        inside = yield None
        if s.controller != before:
            yield f"{_name(s, s.controller)} takes control of the Primrose."
        yield from inside

    # --- votes and dice ---

    def cast_vote(self, s: State, space: int) -> Story:
        before = int(s.votes[space, s.actor])
        seat = int(s.actor)
        yield None
        if s.votes[space, seat] > before:
            yield self._placed(s, space, seat, 1)

    def move_vote(self, s: State, action: int) -> Story:
        start, to = WEATHER_WORDS[action - WEATHER], WEATHER_WORDS[s.target_space]
        seat = int(s.actor)
        yield None
        yield f"{_name(s, seat)} moves a vote from {start} to {to}."

    def _placed(self, s: State, kind: int, seat: int, number: int) -> str:
        votes = "a vote" if number == 1 else f"{number} votes"
        return f"{_name(s, seat)} places {votes} on {WEATHER_WORDS[kind]}, now {s.votes[kind, seat]}."

    def return_votes(self, s: State, space: int) -> Story:
        votes = s.votes[space].tolist()
        yield None
        for seat, number in enumerate(votes):
            if number:
                what = "a vote" if number == 1 else f"{number} votes"
                yield f"{_name(s, seat)} gets {what} back from {WEATHER_WORDS[space]}."

    def win_vote(self, s: State, space: int) -> Story:
        before = s.voting_wins.copy()
        yield None
        for seat in np.flatnonzero(s.voting_wins != before).tolist():
            yield f"{_name(s, seat)} advances to {s.voting_wins[seat]} on the Voting Wins track."

    def roll_dice_again(self, s: State, *_: Any) -> Story:
        before = s.dice.copy()
        inside = yield None
        yield from self._dice(s, before)
        yield from inside

    decrease_die = roll_dice_again

    def deal_and_roll(self, s: State, t: Tables) -> Story:
        yield from (yield None)
        yield f"Harvest dice: {dice_text(s.dice)}."

    def _dice(self, s: State, before: np.ndarray) -> Iterator[str]:
        if (s.dice != before).any():
            yield f"Harvest dice: {dice_text(before)} become {dice_text(s.dice)}."

    def choose_weather(self, s: State, *_: int) -> Story:
        before = s.selected.copy()
        yield None
        for kind in np.flatnonzero(s.selected != before).tolist():
            yield f"{WEATHER_WORDS[kind]} is selected."

    continue_selection = choose_weather


_teller = cache(_Stories)
