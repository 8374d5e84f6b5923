"""Scenarios: any legal state from a short readable description, and back.

    state = scenario({"players": 2, "cards": {"player_0": "swamp bush"}, "planets": {"player_0": {"b6": "sprout"}}})
    describe(state)                                   # the whole state, as JSON-able plain data
    scenario(describe(state)).tobytes() == state.tobytes()

`docs/evergreen/scenarios.md` has the table of keys. `check` tells which count a record breaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evergreen_env.component_files import load_tables, spaces_set
from evergreen_env.config import Config
from evergreen_env.invariants import first_broken, waiting_flips
from evergreen_env.observation import LAYOUT
from evergreen_env.rules.planet import ALL, PLANET
from evergreen_env.state import (
    BLANK,
    CARD_NAMES,
    DECISION_NAMES,
    MAX_MARKET,
    NO_CARD,
    NO_SLOT,
    NOBODY,
    NUM_BIOMES,
    NUM_CARDS,
    NUM_PILES,
    NUM_POWERS,
    NUM_SUNS,
    PIECE_NAMES,
    PLACE_NAMES,
    POWER_NAMES,
    SOURCE_NAMES,
    STATE,
    WILD,
    Decision,
    State,
)
from evergreen_env.tables import WildFertility
from evergreen_env.words import PLANET_FIELDS, SHOWN_FIELDS, cards_in, piece_on, places_in
from tabletop_engine.described.overlays import Overlay
from tabletop_engine.described.scenarios import (
    MOST,
    ROOT,
    a_list,
    choice,
    entries,
    integer,
    mapping,
    names_listed,
    switch,
    wrong,
)
from tabletop_engine.errors import ConfigError, ScenarioError, StateError
from tabletop_engine.parts.boards import beside
from tabletop_engine.play.warm_up import warm_up
from tabletop_engine.text.words import name_or_none

__all__ = ["describe", "described", "scenario"]

FACE_DOWN = " (face down)"
KEYS = (
    *("players", "round", "decision", "actor", "forfeited", "first_player", "next_first", "marked", "market", "cards"),
    *("deck", "discards", "collected", "zone", "points", "earned", "scored", "levels", "planets"),
    *("shown", "finished", "pending", "random"),
)
PENDING_KEYS = ("action_open", "power_open", "plants_left", "growths_left", "uses_left", "open_spaces")
_LEFT = {Decision.PLANT: (3, 0), Decision.GROW: (0, 2), Decision.PLANT_AND_GROW: (1, 1), Decision.ANYWHERE: (1, 1)}
"""The sprouts and growths of an action at its beginning."""
SHOWN_KEYS = ("planets", "levels")


def limits(players: int, rounds: int) -> dict[str, tuple[int, int]]:
    """The smallest and the largest value of each number in a description of such a game, by its key."""
    points = (0, LAYOUT.most("points"))
    return {
        "round": (1, rounds),
        "marked": (1, players + 1),
        **dict.fromkeys(("points", "earned", "scored"), points),
        "levels": (0, MOST),
        "pending.plants_left": (0, 3),
        "pending.growths_left": (0, 2),
        "pending.uses_left": (0, MOST),
        "random": (0, 2**64 - 1),
    }


def scenario(description: Mapping[str, Any], components: Overlay | None = None) -> State:
    """The state of a description: the only element (`numpy.void`) of a new array of shape (1,), dtype STATE.

    To play from it, put it into a batch of the same configuration: `batch.states[0] = state; batch.refresh()`.

    Arguments:
        description: a dictionary as in `docs/evergreen/scenarios.md`, such as parsed JSON. Only `players` is required.
        components: the path of an overlay TOML file, or its keys and values; None for the shipped numbers.

    Raises `ScenarioError`, with the reason, for a malformed description and for one that breaks the game's counts or
    rules.
    """
    warm_up(Config().game)
    try:
        return _Reader(description, components).state()
    except RecursionError:
        raise ScenarioError(
            "the description is nested too deeply; docs/evergreen/scenarios.md shows what it may hold"
        ) from None


class _Reader:
    """Reads one description into a record."""

    def __init__(self, description: Mapping[str, Any], components: Overlay | None) -> None:
        self.given = mapping(description, ROOT, KEYS)
        if "players" not in self.given:
            raise wrong("players", "missing; 1 (for points alone), 2, 3 or 4")
        try:
            self.config = Config(self.given["players"], components)
        except ConfigError as error:
            raise ScenarioError(str(error)) from None
        self.tables = load_tables(components)
        self.t = self.tables[0]
        self.agents = self.config.agents
        self.array = BLANK.copy()
        self.record = self.array[0]
        self.spaces = [PLACE_NAMES[place] for place in places_in(self.t["outline"])]
        self.left = int(self.t["cards"])
        """The cards that have no place yet."""

    def state(self) -> State:
        self.config.write_switches(self.array)
        self.record.rounds, self.record.outline = int(self.t["season_rounds"].sum()), self.t["outline"]
        self.limits = limits(self.config.players, int(self.record.rounds))
        self.record.rng = np.uint64(self.number(self.get("random", 0), "random"))
        self.progress()
        self.cards()
        self.zone()
        self.planets()
        self.points()
        self.turn()
        broken = first_broken(self.config.game, self.array, self.tables)
        if broken is not None:
            raise ScenarioError(broken[1])
        return self.record

    def get(self, key: str, default: Any) -> Any:
        return self.given.get(key, default)

    def number(self, value: Any, where: str) -> int:
        return integer(value, where, *self.limits[where])

    def in_order(self, seat: int) -> int:
        """The place of a seat in this round's order."""
        return (seat - self.record.first_player) % self.config.players

    def progress(self) -> None:
        """The round, the pending decision and its actor."""
        s = self.record
        usual = "turn" if self.get("cards", {}) and not self.get("market", []) else "draft"
        usual = usual if self.get("forfeited", None) is None else "game_over"
        s.decision = choice(self.get("decision", usual), "decision", DECISION_NAMES)
        over = s.decision == Decision.GAME_OVER
        s.forfeited = choice(self.get("forfeited", None), "forfeited", self.agents, or_none=True)
        s.round = self.number(self.get("round", s.rounds if over and s.forfeited == NOBODY else 1), "round")
        s.season = int(np.searchsorted(np.cumsum(self.t["season_rounds"]), s.round))
        s.sun = (int(self.t["sun_start"]) + s.season) % NUM_SUNS
        s.first_player = choice(self.get("first_player", "player_0"), "first_player", self.agents)
        finished = names_listed(self.get("finished", []), "finished", self.agents, len(s.finished))
        s.finished[:] = finished
        given = self.get("actor", None if over else self.usual_actor())
        s.actor = choice(given, "actor", self.agents, or_none=True)

    def usual_actor(self) -> str:
        """The first player, in the round's order, without a card, or with an unfinished turn."""
        s = self.record
        held = self.get("cards", {})
        waiting = [
            seat
            for seat in sorted(range(self.config.players), key=self.in_order)
            if not (
                (isinstance(held, Mapping) and self.agents[seat] in held)
                if s.decision == Decision.DRAFT
                else s.finished[seat]
            )
        ]
        return self.agents[waiting[0] if waiting else s.first_player]

    # --- Cards ---

    def card(self, value: Any, where: str) -> int:
        """The card of this name. It is removed from the cards that are left."""
        card = choice(value, where, CARD_NAMES)
        if not self.left >> card & 1:
            exists = int(self.t["cards"]) >> card & 1
            raise wrong(where, f"{value!r} {'is in another place, too' if exists else 'is not in the deck'}")
        self.left &= ~(1 << card)
        return card

    def next_card(self) -> int:
        """The lowest card that is left."""
        card = (self.left & -self.left).bit_length() - 1
        self.left &= ~(1 << max(card, 0)) if card >= 0 else self.left
        return card

    def card_list(self, key: str) -> int:
        """A set of cards."""
        value = a_list(self.get(key, []), key, NUM_CARDS)
        return sum(1 << self.card(name, f"{key}[{i}]") for i, name in enumerate(value))

    def cards(self) -> None:
        s, players = self.record, self.config.players
        drafting, over = s.decision == Decision.DRAFT, s.decision == Decision.GAME_OVER
        for seat, name, where in entries(self.get("cards", {}), "cards", self.agents):
            s.card[seat] = self.card(name, where)
        market = a_list(self.get("market", []), "market", MAX_MARKET)
        for slot, name in enumerate(market):
            s.market[slot] = NO_CARD if name is None else self.card(name, f"market[{slot}]")
        s.discards, s.collected = np.uint64(self.card_list("discards")), np.uint64(self.card_list("collected"))
        zone = a_list(self.get("zone", []), "zone", NUM_CARDS)
        for i, name in enumerate(zone):
            flipped = isinstance(name, str) and name.endswith(FACE_DOWN)
            card = self.card(name.removesuffix(FACE_DOWN) if flipped else name, f"zone[{i}]")
            s.zone[i] = card
            s.face_down |= np.uint64(flipped << card)
        s.zone_size = len(zone)
        if "deck" in self.given:
            s.deck = np.uint64(self.card_list("deck"))
        for seat in range(players):
            if s.card[seat] == NO_CARD and not drafting and not over:
                s.card[seat] = self.next_card()
        if drafting and not market:
            for slot in range(players + 1 - int((s.card != NO_CARD).sum())):
                s.market[slot] = self.next_card()
        if "deck" not in self.given:
            s.deck = np.uint64(self.left)
        self.marker()

    def marker(self) -> None:
        s, players = self.record, self.config.players
        s.next_first = choice(self.get("next_first", None), "next_first", self.agents, or_none=True)
        lies = np.flatnonzero(s.market != NO_CARD)
        begun = s.decision == Decision.DRAFT and players > 1 and (s.card != NO_CARD).any()
        usual = int(lies[0]) if begun and s.next_first == NOBODY and len(lies) else NO_SLOT
        marked = self.get("marked", usual + 1 if usual != NO_SLOT else None)
        s.marker = NO_SLOT if marked is None else self.number(marked, "marked") - 1

    def zone(self) -> None:
        s = self.record
        s.waiting_flips[:] = waiting_flips(self.array, self.t)[0]
        flowers = [0] * NUM_PILES
        for card in s.zone[: s.zone_size].tolist():
            if not int(s.face_down) >> card & 1:
                flowers[card // NUM_POWERS] += int(self.t["flowers"][card])
        shared = flowers[WILD] if self.t["wild_fertility"] == WildFertility.ALL_BIOMES else 0
        s.fertility[:] = [number + shared for number in flowers[:NUM_BIOMES]]

    # --- Planets and points ---

    def planets(self) -> None:
        shown = mapping(self.get("shown", {}), "shown", SHOWN_KEYS)
        own = self.get("planets", {}), self.get("levels", {})
        self.planet_fields(own[0], "planets", PLANET_FIELDS)
        self.planet_fields(shown.get("planets", own[0]), "shown.planets", SHOWN_FIELDS)
        self.level_field(own[1], "levels", "level")
        self.level_field(shown.get("levels", own[1]), "shown.levels", "shown_level")

    def planet_fields(self, value: Any, where: str, fields: tuple[str, ...]) -> None:
        for seat, planet, place in entries(value, where, self.agents):
            for space, piece, at in entries(planet, place, self.spaces):
                field = fields[choice(piece, at, PIECE_NAMES)]
                self.record[field][seat] |= spaces_set([PLACE_NAMES.index(self.spaces[space])])

    def level_field(self, value: Any, where: str, field: str) -> None:
        for seat, levels, place in entries(value, where, self.agents):
            for power, level, at in entries(levels, place, POWER_NAMES):
                self.record[field][seat, power] = integer(level, at, *self.limits["levels"])

    def points(self) -> None:
        s = self.record
        for source, numbers, where in entries(self.get("scored", {}), "scored", SOURCE_NAMES):
            for seat, number, at in entries(numbers, where, self.agents):
                s.scored[seat, source] = integer(number, at, *self.limits["scored"])
        given = {
            seat: integer(n, at, *self.limits["points"])
            for seat, n, at in entries(self.get("points", {}), "points", self.agents)
        }
        for seat in range(self.config.players):
            by_source = int(s.scored[seat].sum())
            s.points[seat] = given.get(seat, by_source)
            if "scored" not in self.given:
                s.scored[seat, 0] = s.points[seat]  # the source is not given, so they count as points from the start
        for seat, number, at in entries(self.get("earned", {}), "earned", self.agents):
            s.earned[seat] = integer(number, at, *self.limits["earned"])

    # --- The turn ---

    def turn(self) -> None:
        s, decision = self.record, self.record.decision
        pending = mapping(self.get("pending", {}), "pending", PENDING_KEYS)
        if decision in (Decision.GAME_OVER, Decision.DRAFT) and not pending:
            return
        in_power = decision in (Decision.POWER, Decision.LAKE)
        in_turn = decision not in (Decision.GAME_OVER, Decision.DRAFT)
        in_action = in_turn and not in_power and decision != Decision.TURN
        s.action_open = switch(pending.get("action_open", in_turn and not in_action), "pending.action_open")
        s.power_open = switch(pending.get("power_open", in_turn and not in_power), "pending.power_open")
        plants, growths = _LEFT.get(Decision(decision), (0, 2 if decision == Decision.LAKE else 0))
        s.plants_left = self.number(pending.get("plants_left", plants), "pending.plants_left")
        s.growths_left = self.number(pending.get("growths_left", growths), "pending.growths_left")
        level = int(s.level[s.actor, s.card[s.actor] % NUM_POWERS]) if decision == Decision.POWER else 0
        s.uses_left = self.number(pending.get("uses_left", level), "pending.uses_left")
        s.begun = int(in_action and (s.plants_left, s.growths_left) != (plants, growths))
        usual = self.usual_spaces(in_power, in_action)
        if "open_spaces" in pending:
            listed = names_listed(pending["open_spaces"], "pending.open_spaces", PLACE_NAMES, len(PLACE_NAMES))
            usual = spaces_set(np.flatnonzero(listed).tolist())
        s.open_spaces = usual

    def usual_spaces(self, in_power: bool, in_action: bool) -> np.uint64:
        """The spaces where an action or a power can be used at its beginning."""
        s = self.record
        if s.decision == Decision.LAKE:
            return np.uint64(beside(s.lakes[s.actor], PLANET))
        if in_power or s.decision == Decision.ANYWHERE:
            return np.uint64(ALL)
        if not in_action:
            return np.uint64(0)
        biome = int(s.card[s.actor]) // NUM_POWERS
        return np.uint64(ALL if biome == WILD else self.t["biome"][biome])


# --- describing a state ----------------------------------------------------------------------------------------------


def describe(state: State, components: Overlay | None = None) -> dict[str, Any]:
    """The whole state as plain, JSON-able data. `scenario(describe(state))` is the same state, byte for byte.

    Arguments:
        state: one record of dtype STATE, such as an element of `Batch.states` or a result of `scenario`.
        components: the overlay that the game is played with; None for the shipped numbers.

    Raises `StateError`, with the reason, if it is not a state of this game.
    """
    array = np.asarray(state)
    if array.dtype != STATE or array.size != 1:
        given = f"{type(state).__name__}: {state!r:.80}"
        raise StateError(f"a state is one record of evergreen_env.state.STATE, not {given}")
    Config().game.check(array, load_tables(components))
    return described(array.reshape(1).astype(STATE)[0])


def described(s: State) -> dict[str, Any]:
    """The result of `describe` for a record that has been checked already."""
    agents = Config(s.players).agents
    seats = range(s.players)
    market = s.market[: s.players + 1].tolist() if s.decision == Decision.DRAFT else []
    zone = s.zone[: s.zone_size].tolist()
    result: dict[str, Any] = {
        "players": s.players,
        "round": s.round,
        "decision": DECISION_NAMES[s.decision],
        "actor": name_or_none(agents, s.actor),
        "first_player": agents[s.first_player],
        "next_first": name_or_none(agents, s.next_first),
        "marked": None if s.marker == NO_SLOT else s.marker + 1,
        "market": [name_or_none(CARD_NAMES, card) for card in market],
        "cards": {agents[seat]: CARD_NAMES[s.card[seat]] for seat in seats if s.card[seat] != NO_CARD},
        **{key: [CARD_NAMES[card] for card in cards_in(s[key])] for key in ("deck", "discards", "collected")},
        "zone": [CARD_NAMES[card] + (FACE_DOWN if int(s.face_down) >> card & 1 else "") for card in zone],
        "points": {agents[seat]: int(s.points[seat]) for seat in seats},
        "earned": {agents[seat]: int(s.earned[seat]) for seat in seats if s.earned[seat]},
        "scored": {
            name: by_seat
            for i, name in enumerate(SOURCE_NAMES)
            if (by_seat := {agents[seat]: int(s.scored[seat, i]) for seat in seats if s.scored[seat, i]})
        },
        **_planets_and_levels(s, agents, shown=False),
        "shown": _planets_and_levels(s, agents, shown=True),
        "finished": [agents[seat] for seat in seats if s.finished[seat]],
    }
    if s.forfeited != NOBODY:
        result["forfeited"] = agents[s.forfeited]
    if s.decision not in (Decision.GAME_OVER, Decision.DRAFT) or s.action_open or s.power_open or s.open_spaces:
        result["pending"] = _pending(s)
    result["random"] = int(s.rng)
    return result


def _planets_and_levels(s: State, agents: tuple[str, ...], shown: bool) -> dict[str, Any]:
    levels = s.shown_level if shown else s.level
    by_power = {
        name: {POWER_NAMES[power]: int(levels[seat, power]) for power in np.flatnonzero(levels[seat])}
        for seat, name in enumerate(agents)
    }
    planets = {
        name: {
            PLACE_NAMES[place]: PIECE_NAMES[piece]
            for place in places_in(s.outline)
            if (piece := piece_on(s, seat, place, shown)) is not None
        }
        for seat, name in enumerate(agents)
    }
    return {"levels": {name: own for name, own in by_power.items() if own}, "planets": planets}


def _pending(s: State) -> dict[str, Any]:
    return {
        "action_open": bool(s.action_open),
        "power_open": bool(s.power_open),
        "plants_left": s.plants_left,
        "growths_left": s.growths_left,
        "uses_left": s.uses_left,
        "open_spaces": [PLACE_NAMES[place] for place in places_in(s.open_spaces)],
    }
