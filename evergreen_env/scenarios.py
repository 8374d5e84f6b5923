"""Scenarios: any legal state from a short readable description, and back.

    state = scenario({"players": 2, "cards": {"player_0": "swamp bush"}, "planets": {"player_0": {"b6": "sprout"}}})
    describe(state)                                   # the whole state, as JSON-able plain data
    scenario(describe(state)).tobytes() == state.tobytes()

`keys` declares what a description may hold, and `docs/evergreen/scenarios.md` explains it. `check` tells which count a
record breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from evergreen_env.component_files import load_tables, spaces_set
from evergreen_env.config import Config
from evergreen_env.drawing.decisions import ASKED
from evergreen_env.invariants import all_checks, waiting_flips
from evergreen_env.keys import KEYS, PENDING, scope_of
from evergreen_env.rules.planet import ALL, PLANET
from evergreen_env.state import (
    BLANK,
    CARD_NAMES,
    NO_CARD,
    NO_SLOT,
    NOBODY,
    NUM_BIOMES,
    NUM_PILES,
    NUM_POWERS,
    NUM_SUNS,
    WILD,
    Decision,
    State,
)
from evergreen_env.tables import WildFertility
from evergreen_env.words import PLANET_FIELDS, SHOWN_FIELDS
from tabletop_engine.described import descriptions
from tabletop_engine.described.descriptions import Described
from tabletop_engine.described.fields import plain
from tabletop_engine.described.overlays import Overlay
from tabletop_engine.described.scenarios import ROOT, mapping, wrong
from tabletop_engine.parts.boards import beside

__all__ = ["describe", "described", "scenario"]


def scenario(description: Mapping[str, Any], components: Overlay | None = None) -> State:
    """The state of a description: the only element (`numpy.void`) of a new array of shape (1,), dtype STATE.

    To play from it, put it into a batch of the same configuration: `batch.states[0] = state; batch.refresh()`.

    Arguments:
        description: a dictionary as in `docs/evergreen/scenarios.md`, such as parsed JSON. Only `players` is required.
        components: the path of an overlay TOML file, or its keys and values; None for the shipped numbers.

    Raises `ScenarioError`, with the reason, for a malformed description and for one that breaks the game's counts or
    rules.
    """
    begin = partial(_Position, description, components)
    return descriptions.filled(Config().game, begin, _STEPS, all_checks, "docs/evergreen/scenarios.md")


class _Position(Described):
    """A position whose gaps are filled in.

    Attributes:
        config: the configuration that the description names.
        t: the record of printed numbers.
        scope: the names that the description's keys refer to.
        left: the set of cards that have no place yet.
    """

    def __init__(self, description: Mapping[str, Any], components: Overlay | None) -> None:
        given = mapping(description, ROOT, KEYS.names)
        if "players" not in given:
            raise wrong("players", "missing; 1 (for points alone), 2, 3 or 4")
        self.config = Config(given["players"], components)
        super().__init__(BLANK, load_tables(components))
        self.t = self.tables[0]
        self.config.write_switches(self.array)
        self.s.rounds, self.s.outline = int(self.t["season_rounds"].sum()), self.t["outline"]
        self.scope = scope_of(self.config, self.s)
        self.read(given, self.scope, KEYS, PENDING)
        self.left = int(self.t["cards"])

    def take(self, card: int, where: str) -> int:
        """The card, which the description has at this place. It is removed from the cards that are left."""
        if not self.left >> card & 1:
            exists = int(self.t["cards"]) >> card & 1
            name = CARD_NAMES[card]
            raise wrong(where, f"{name!r} {'is in another place, too' if exists else 'is not in the deck'}")
        self.left &= ~(1 << card)
        return card

    def take_lowest(self) -> int:
        """The lowest card that is left; NO_CARD if none is."""
        card = (self.left & -self.left).bit_length() - 1
        self.left &= self.left - 1 if self.left else 0
        return card

    def take_set(self, key: str) -> int:
        """A set of cards."""
        return sum(1 << self.take(card, f"{key}[{i}]") for i, card in enumerate(self.given.get(key, [])))


# --- What fills the gaps ----------------------------------------------------------------------------------------------


def _asked(p: _Position) -> None:
    """The pending decision and the round, whose season and sun follow."""
    s = p.s
    usual = Decision.TURN if p.given.get("cards") and not p.given.get("market") else Decision.DRAFT
    p.fill("decision", usual if p.given.get("forfeited") is None else Decision.GAME_OVER)
    p.fill("round", s.rounds if s.decision == Decision.GAME_OVER and s.forfeited == NOBODY else 1)
    s.season = int(np.searchsorted(np.cumsum(p.t["season_rounds"]), s.round))
    s.sun = (int(p.t["sun_start"]) + s.season) % NUM_SUNS


def _actor(p: _Position) -> None:
    """The first player, in the round's order, without a card, or with an unfinished turn."""
    s, held, players = p.s, p.given.get("cards", {}), p.config.players
    order = [(s.first_player + place) % players for place in range(players)]
    waiting = [seat for seat in order if not (seat in held if s.decision == Decision.DRAFT else s.finished[seat])]
    p.fill("actor", NOBODY if s.decision == Decision.GAME_OVER else [*waiting, s.first_player][0])


def _cards(p: _Position) -> None:
    """The places of all cards. Cards that are given come first: the lowest of the others fill hands and the market."""
    s, given, players = p.s, p.given, p.config.players
    drafting, over = s.decision == Decision.DRAFT, s.decision == Decision.GAME_OVER
    for seat, card in given.get("cards", {}).items():
        s.card[seat] = p.take(card, f"cards.{p.scope.agents[seat]}")
    market = given.get("market", [])
    for slot, card in enumerate(market):
        s.market[slot] = NO_CARD if card == NO_CARD else p.take(card, f"market[{slot}]")
    s.discards, s.collected = np.uint64(p.take_set("discards")), np.uint64(p.take_set("collected"))
    zone = given.get("zone", [])
    for i, (card, flipped) in enumerate(zone):
        s.zone[i] = p.take(card, f"zone[{i}]")
        s.face_down |= np.uint64(flipped << card)
    s.zone_size = len(zone)
    if "deck" in given:
        s.deck = np.uint64(p.take_set("deck"))
    for seat in range(players):
        if s.card[seat] == NO_CARD and not drafting and not over:
            s.card[seat] = p.take_lowest()
    if drafting and not market:
        for slot in range(players + 1 - int((s.card != NO_CARD).sum())):
            s.market[slot] = p.take_lowest()
    if "deck" not in given:
        s.deck = np.uint64(p.left)


def _marker(p: _Position) -> None:
    """The marker lies on the leftmost card once the first player has drafted, until somebody takes that card."""
    s = p.s
    lies = np.flatnonzero(s.market != NO_CARD)
    begun = s.decision == Decision.DRAFT and p.config.players > 1 and (s.card != NO_CARD).any()
    usual = int(lies[0]) if begun and s.next_first == NOBODY and len(lies) else NO_SLOT
    s.marker = p.given.get("marked", usual + 1) - 1


def _zone(p: _Position) -> None:
    """The fertility, and the flips that wait, by the cards of the zone."""
    s = p.s
    s.waiting_flips[:] = waiting_flips(p.array, p.t)[0]
    flowers = [0] * NUM_PILES
    for card in s.zone[: s.zone_size].tolist():
        if not int(s.face_down) >> card & 1:
            flowers[card // NUM_POWERS] += int(p.t["flowers"][card])
    shared = flowers[WILD] if p.t["wild_fertility"] == WildFertility.ALL_BIOMES else 0
    s.fertility[:] = [number + shared for number in flowers[:NUM_BIOMES]]


def _planets(p: _Position) -> None:
    """The planets, and what the others know: without more it is what is there."""
    own, shown = p.given.get("planets", {}), p.given.get("shown", {})
    for planets, fields in ((own, PLANET_FIELDS), (shown.get("planets", own), SHOWN_FIELDS)):
        for seat, planet in planets.items():
            for space, piece in planet.items():
                p.s[fields[piece]][seat] |= spaces_set([p.scope.places[space]])
    p.s.shown_level = shown.get("levels", p.s.level)


def _points(p: _Position) -> None:
    """Points without a source count as points from the start; without points they are the sum of their sources."""
    s, points = p.s, p.given.get("points", {})
    for seat in range(p.config.players):
        s.points[seat] = points.get(seat, int(s.scored[seat].sum()))
        if "scored" not in p.given:
            s.scored[seat, 0] = s.points[seat]


def _turn(p: _Position) -> None:
    """An action or a power is at its beginning, and the part of the turn that is not asked for is still open."""
    s, asked = p.s, ASKED[Decision(p.s.decision)]
    if not asked.part and not p.pending:
        return
    p.fill("action_open", asked.part in ("turn", "power"))
    p.fill("power_open", asked.part in ("turn", "action"))
    plants, growths = asked.left
    p.fill("plants_left", plants)
    p.fill("growths_left", growths)
    p.fill("uses_left", s.level[s.actor, s.card[s.actor] % NUM_POWERS] if s.decision == Decision.POWER else 0)
    s.begun = int(asked.part == "action" and (s.plants_left, s.growths_left) != (plants, growths))
    if "open_spaces" in p.pending:
        s.open_spaces = spaces_set(np.flatnonzero(p.pending["open_spaces"]).tolist())
    elif s.decision == Decision.LAKE:
        s.open_spaces = np.uint64(beside(s.lakes[s.actor], PLANET))
    elif asked.part == "power" or s.decision == Decision.ANYWHERE:
        s.open_spaces = np.uint64(ALL)
    elif asked.part == "action":
        biome = int(s.card[s.actor]) // NUM_POWERS
        s.open_spaces = np.uint64(ALL if biome == WILD else p.t["biome"][biome])


_STEPS: tuple[Callable[[_Position], None], ...] = (
    _asked,  # the decision first: which cards are missing follows from it
    _actor,  # by the decision, the order of the round, and the cards and turns that are given
    _cards,  # by the decision: who has none gets one only during turns
    _marker,  # by the cards in the market and in hands
    _zone,  # by its cards
    _planets,
    _points,
    _turn,  # last: from the decision, and the actor's card, levels and lakes
)
"""What fills the gaps of a description, in this order: each step may use what is given and what those before set."""


# --- describing a state ----------------------------------------------------------------------------------------------


def describe(state: State, components: Overlay | None = None) -> dict[str, Any]:
    """The whole state as plain, JSON-able data. `scenario(describe(state))` is the same state, byte for byte.

    Arguments:
        state: one record of dtype STATE, such as an element of `Batch.states` or a result of `scenario`.
        components: the overlay that the game is played with; None for the shipped numbers.

    Raises `StateError`, with the reason, if it is not a state of this game.
    """
    return descriptions.describe(Config().game, state, load_tables(components))


def described(s: State) -> dict[str, Any]:
    """The result of `describe` for a record that has been checked already."""
    return KEYS.describe(plain(s), scope_of(Config(s.players), s))
