"""Scenarios: any legal state from a short readable description, and back.

    state = scenario({"players": 2, "field": {"b1": {"crop": "wheat", "drops": {"player_0": 2}}},
                      "hands": {"player_0": {"frost": 1}}})
    describe(state)                                   # the whole state, as JSON-able plain data
    scenario(describe(state)).tobytes() == state.tobytes()

`docs/scenarios.md` has the table of keys. `check` tells which count a record breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from petrichor_env.component_files import load_tables
from petrichor_env.config import MODULES, Config
from petrichor_env.invariants import first_broken
from petrichor_env.invariants.decisions import (
    CARD_OF_DECISION,
    CARD_TO_COUNT_CLOUDS,
    CARD_TO_MOVE_UP,
    CLOCKWISE,
    FORECASTS_OF_DECISION,
    MOST_CHOICES,
    PHASE_OF_TIMING,
    WEATHER_DECISIONS,
    WEATHER_OF_DECISION,
    WEATHER_OF_TIMING,
    is_window,
    turn_order,
    usual_timing,
    usual_timing_index,
)
from petrichor_env.invariants.effect import full_price
from petrichor_env.invariants.modules import is_face_down
from petrichor_env.invariants.pieces import cards_of_a_kind, no_such_tile, tiles_of_each_crop
from petrichor_env.observation import LAYOUT
from petrichor_env.rules.action_phase import HAND_LIMIT
from petrichor_env.rules.clouds import GROWS_AT
from petrichor_env.rules.drafting import PICKS
from petrichor_env.rules.fields import NEIGHBOURS
from petrichor_env.rules.forecasts import DEALT
from petrichor_env.rules.growing import FIRST_SIDE
from petrichor_env.rules.weather import RESOLVED_SPACES
from petrichor_env.state import (
    BLANK,
    CROP_NAMES,
    DECISION_NAMES,
    FACE_DOWN,
    HARVEST,
    MAX_PLAYERS,
    NO_TILE,
    NOBODY,
    NOT_DRAFTING,
    NUM_FORECASTS,
    NUM_KINDS,
    NUM_TILES,
    PHASE_NAMES,
    PLAYED,
    POWER_NAMES,
    SOURCE_NAMES,
    STATE,
    TILE_NAMES,
    TIMING_NAMES,
    WEATHER_NAMES,
    WINDS_LOG,
    Crop,
    Decision,
    Growing,
    Module,
    Phase,
    State,
    Timing,
)
from petrichor_env.tables import RESHUFFLE
from petrichor_env.words import (
    CLOUD_NAMES,
    FACE_DOWN_NAME,
    FIELDS,
    GROWING_NAMES,
    SOLO_NAMES,
    crop_name,
    owner_names,
    tile_name,
)
from tabletop_engine.checks import is_whole
from tabletop_engine.described.scenarios import (
    MOST,
    ROOT,
    a_list,
    choice,
    counts_by_name,
    entries,
    integer,
    mapping,
    names_listed,
    switch,
    wrong,
)
from tabletop_engine.errors import ConfigError, ScenarioError, StateError
from tabletop_engine.play.warm_up import warm_up
from tabletop_engine.text.words import name_or_none

__all__ = ["describe", "scenario"]


# --- reading a description ----------------------------------------------------------------------------------------

_cards = partial(counts_by_name, names=WEATHER_NAMES, size=NUM_KINDS)
"""Cards by kind, (NUM_KINDS,)."""


_SWITCHES = ("players", "rounds", "drafting", "variants", "modules", "powers", "readings")
_PROGRESS = ("round", "phase", "first_player", "passed", "turns", "last_turns", "harvested", "forfeited")
_PIECES = ("field", "hands", "packs", "deck", "discards", "votes", "dice")
_SCORE = ("points", "scored", "voting_wins", "wheat_tokens")
_MODULE_PIECES = ("controller", "power", "forecasts", "forecasts_played")
KEYS = (
    *(*_SWITCHES, *_PROGRESS, "decision", "actor", *_PIECES, *_SCORE, *_MODULE_PIECES),
    *("pending", "southern_winds", "random"),
)
PENDING_KEYS = (
    *("card", "optional", "cards_left", "lowest_card", "draft_step", "target", "target_owner", "selected", "weather"),
    *("turn_index", "forecast", "choices_left", "timing", "timing_index"),
    *("counts_clouds", "chosen_drops", "scored_drops", "no_actions"),
)
TILE_KEYS = ("crop", "growing", "drops", "cloud", "fertilizer", "pod", "blooms")
CLOUD_KEYS = ("kind", "drops")
WINDS_KEYS = ("deck", "revealed")
REVEALED_KEYS = ("card", "roll", "target")
DICE = 3
DIE_SIDES: tuple[int | str, ...] = (1, 2, 3, 4, "harvest")
MOST_POINTS = LAYOUT.most("points")
_PHASES = {
    Decision.GAME_OVER: Phase.OVER,
    Decision.FERTILIZER_TILE: Phase.SETUP,
    Decision.SETUP_CLOUD: Phase.SETUP,
    Decision.KEEP_DROP: Phase.HARVEST,
}
"""The phases of decisions that occur in only one phase and don't follow from an action, weather or forecast card."""
MODULE_OF_KEY = {
    "controller": Module.FLOWER_TILES,
    "power": Module.POWERS,
    "forecasts": Module.FORECASTS,
    "forecasts_played": Module.FORECASTS,
}


def limits(config: Config) -> dict[str, tuple[int, int]]:
    """The smallest and the largest value of each number in a description of such a game, by its key.

    Other counts are at most MOST. Keys of tiles begin with `field.`, and keys of the revealed cards of the Southern
    Winds with `southern_winds.revealed.`.
    """
    players = config.players
    return {
        "round": (1, config.rounds),
        "turns": (0, players),
        "last_turns": (0, players - 1),
        "field.blooms": (0, MOST),
        "points": (0, MOST_POINTS),
        "scored": (0, MOST_POINTS),
        "forecasts": (1, NUM_FORECASTS),
        "pending.cards_left": (0, 12),
        "pending.turn_index": (0, 2 * players),
        "pending.draft_step": (0, len(PICKS) - 1),
        "pending.forecast": (0, NUM_FORECASTS),
        "pending.choices_left": (0, 2 * MAX_PLAYERS),
        "pending.timing_index": (0, 2 * MAX_PLAYERS),
        "southern_winds.deck": (1, RESHUFFLE),
        "southern_winds.revealed.card": (1, RESHUFFLE - 1),
        "southern_winds.revealed.roll": (1, 6),
        "random": (0, 2**64 - 1),
    }


def _without_a_tie(votes: np.ndarray) -> np.ndarray:
    """The spaces, (NUM_KINDS,) of 0 and 1, that are selected before the first player must choose among tied ones."""
    selected = np.zeros(NUM_KINDS, np.int8)
    while selected.sum() < RESOLVED_SPACES:
        tied = (votes == votes[selected == 0].max()) & (selected == 0)
        if tied.sum() > RESOLVED_SPACES - selected.sum():
            break
        selected[tied] = 1
    return selected


def scenario(description: Mapping[str, Any], components: str | Path | None = None) -> State:
    """The state of a description: the only element (`numpy.void`) of a new array of shape (1,), dtype STATE.

    To play from it, put it into a batch of the same configuration: `batch.states[0] = state; batch.refresh()`.

    Arguments:
        description: a dictionary as in `docs/scenarios.md`, such as parsed JSON. Only `players` is required.
        components: the path of an overlay TOML file; None for the shipped numbers.

    Raises `ScenarioError`, with the reason, for a malformed description and for one that breaks the game's counts or
    rules.
    """
    warm_up(Config().game)
    try:
        return _Reader(description, load_tables(components)).state()
    except RecursionError:
        raise ScenarioError("the description is nested too deeply; docs/scenarios.md shows what it may hold") from None


class _Reader:
    """Reads one description into a record."""

    def __init__(self, description: Mapping[str, Any], tables: np.ndarray):
        self.given = mapping(description, ROOT, KEYS)
        if "players" not in self.given:
            raise wrong("players", "missing; 1 (solo against the Southern Winds), 2, 3, 4 or 5")
        try:
            self.config = Config(**{switch: self.given[switch] for switch in _SWITCHES if switch in self.given})
        except ConfigError as error:
            raise ScenarioError(str(error)) from None
        if not self.config.solo and "southern_winds" in self.given:
            raise wrong("southern_winds", f"only in solo (players 1), not with players {self.config.players}")
        for key, module in MODULE_OF_KEY.items():
            if key in self.given and MODULES[module] not in self.config.modules:
                raise wrong(key, f"only with the module {MODULES[module]!r}")
        self.limits = limits(self.config)
        self.modules = [MODULES.index(name) for name in self.config.modules]
        self.no_more_tricks = "no_more_tricks" in self.config.variants
        self.tables = tables
        self.owners = owner_names(self.config.players)
        self.by_owner = partial(counts_by_name, names=self.owners, size=MAX_PLAYERS)
        self.field = FIELDS[self.config.players]
        self.places = SOLO_NAMES if self.config.solo else {TILE_NAMES[tile]: tile for tile in self.field}
        self.array = BLANK.copy()
        self.record = self.array[0]

    def state(self) -> State:
        self.config.write_switches(self.array)
        self.effect = dict(mapping(self.get("pending", {}), "pending", PENDING_KEYS))
        self.record.rng = self.number(self.get("random", 0), "random")
        self.fields()
        self.progress()
        self.personal()
        self.cards()
        self.powers()
        self.forecasts()
        self.pending()
        self.southern_winds()
        broken = first_broken(self.config.game, self.array, self.tables)
        if broken is not None:
            raise ScenarioError(broken[1])
        return self.record

    def get(self, key: str, default: Any) -> Any:
        return self.given.get(key, default)

    def number(self, value: Any, where: str) -> int:
        return integer(value, where, *self.limits[where])

    def entries(self, key: str, names: Sequence[str]) -> Iterator[tuple[int, Any, str]]:
        return entries(self.get(key, {}), key, names)

    def progress(self) -> None:
        """The round, the pending decision and its actor. Missing values follow from those that are given."""
        s, agents, players = self.record, self.config.agents, self.config.players
        over = self.get("phase", None) == "over"
        decision = choice(self.get("decision", "game_over" if over else "turn"), "decision", DECISION_NAMES)
        s.decision = decision
        self.timeline()
        s.round = self.number(self.get("round", self.config.rounds if over else 1), "round")
        s.phase = choice(self.get("phase", PHASE_NAMES[self.usual_phase()]), "phase", PHASE_NAMES)
        self.timeline()  # a drop is taken in an action, or for the Sun weather
        s.forfeited = choice(self.get("forfeited", None), "forfeited", agents, or_none=True)
        finished = decision == Decision.GAME_OVER and s.forfeited == NOBODY
        s.harvested = switch(self.get("harvested", finished or s.phase == Phase.HARVEST), "harvested")
        first = (players > 2 and self.get("passed", None)) or "player_0"
        s.first_player = choice(self.get("first_player", first), "first_player", agents)
        has_ended = finished or decision == Decision.DISCARD or s.phase in (Phase.WEATHER, Phase.HARVEST, Phase.CLEANUP)
        passer = self.get("passed", agents[s.first_player] if has_ended else None)
        s.passed = choice(passer, "passed", agents, or_none=True)
        begun = 0 if s.phase == Phase.SETUP else players
        s.turns = self.number(self.get("turns", begun), "turns")
        s.last_turns = self.number(self.get("last_turns", 0), "last_turns")
        if "turn_index" in self.effect:
            turns = self.number(self.effect.pop("turn_index"), "pending.turn_index")
            # pods come after every player's turn with the Wind
            s.pod_turns = max(0, turns - players) if Module.FLOWER_TILES in self.modules else 0
            s.turn_index = turns - s.pod_turns
        self.who_is_asked()

    def who_is_asked(self) -> None:
        """The actor and its place in the turn order. If only one is given, the other follows from it."""
        s, agents, players = self.record, self.config.agents, self.config.players
        decision, first = s.decision, s.first_player
        given = "actor" in self.given
        actor = choice(self.get("actor", None), "actor", agents, or_none=True)
        order = int(turn_order(self.array)[0])
        in_weather = order == CLOCKWISE and s.phase == Phase.WEATHER
        offset = 1 if self.config.solo and in_weather else 0  # the neutral player comes first
        counted = "pod_turns" if decision == Decision.POD_TILE else "turn_index"
        if "turn_index" not in self.get("pending", {}):
            usual = {Decision.FERTILIZER_TILE: s.fertilizer.sum(), Decision.POD_TILE: players}
            s.turn_index = usual.get(Decision(decision), 0)
        if order:
            start = first if order == CLOCKWISE else first - 1
            if not given:
                s[counted] = max(int(s[counted]), offset)
                actor = (start + order * (int(s[counted]) - offset)) % players
            elif s[counted] == 0:
                s[counted] = (order * (actor - start)) % players + offset
        elif is_window(decision, s.forecast):
            if not given:
                done = self.number(self.effect.get("timing_index", 0), "pending.timing_index")
                actor = (first + done) % players
        elif s.phase == Phase.ACTION and s.passed != NOBODY and players > 1:
            if not given:
                s.last_turns = s.last_turns or players - 1
                actor = (s.passed - s.last_turns) % players
            elif s.last_turns == 0:
                s.last_turns = (s.passed - actor) % players
        elif not given and decision != Decision.GAME_OVER:
            begun = s.turns if s.phase == Phase.ACTION else 0
            actor = (first + begun) % players
        s.actor = actor

    def usual_phase(self) -> Phase:
        s, decision = self.record, self.record.decision
        if decision in _PHASES:
            return _PHASES[Decision(decision)]
        if decision == Decision.DRAFT:
            return Phase.SETUP if s.round == 1 else Phase.CLEANUP
        if decision == Decision.FORECAST or s.forecast:
            return Phase(PHASE_OF_TIMING[s.timing])
        in_weather = decision in WEATHER_DECISIONS or self.effect.get("weather") is not None
        return Phase.WEATHER if in_weather else Phase.ACTION

    def timeline(self) -> None:
        """The current forecast card and the point of the timeline. Missing values follow from the decision."""
        s = self.record
        cards = FORECASTS_OF_DECISION.get(Decision(s.decision), ())
        usual = cards[0] if len(cards) == 1 else 0
        s.forecast = self.number(self.effect.get("forecast", usual), "pending.forecast")
        if "timing" in self.effect:
            s.timing = choice(self.effect["timing"], "pending.timing", TIMING_NAMES)
        else:
            s.timing = usual_timing(self.array)[0]

    # the Fields

    def tile(self, value: Any, where: str) -> int:
        """The position of `b2` (or `P4`); -1 for None."""
        if value is None:
            return NO_TILE
        tiles = {TILE_NAMES[tile]: tile for tile in self.field} | self.places
        if isinstance(value, str) and value in tiles:
            return tiles[value]
        raise wrong(where, f"{value!r} is not a position of this field; allowed are {', '.join(self.places)}")

    def fields(self) -> None:
        s = self.record
        described: dict[int, Mapping[str, Any]] = {}
        field = self.get("field", {})
        if not isinstance(field, Mapping):
            raise wrong("field", f"{field!r} is not a table of tiles such as {{'b1': {{'crop': 'wheat'}}}}")
        for name, tile in field.items():
            position = self.tile(name, "field")
            if position == NO_TILE:
                raise wrong("field", "null is not a position")
            if position in described:
                raise wrong(f"field.{name}", "this position is given twice")
            described[position] = mapping(tile, f"field.{name}", TILE_KEYS)
        crops = {}
        for position, tile in described.items():
            if "crop" in tile:
                crops[position] = self.crop(tile["crop"], f"field.{tile_name(self.config.players, position)}.crop")
        if FACE_DOWN in crops.values() or self.get("decision", None) == "fertilizer_tile":
            laid = {position: crops.get(position, FACE_DOWN) for position in self.field}
        else:
            laid = (self.lay_solo if self.config.solo else self.lay)(crops)
        for name, position in self.places.items():
            s.crop[position] = laid[position]
            tile, where = described.get(position, {}), f"field.{name}"
            s.drops[position] = self.by_owner(tile.get("drops", {}), f"{where}.drops")
            self.cloud(position, tile.get("cloud"), f"{where}.cloud")
            self.tokens(position, tile, where)
            self.growing(position, tile.get("growing"), f"{where}.growing")
        if Module.FERTILIZER in self.modules and FACE_DOWN not in laid.values():
            self.fertilize([position for position in sorted(laid) if "fertilizer" not in described.get(position, {})])
        self.control()

    def crop(self, value: Any, where: str) -> int:
        crop = choice(value, where, (*CROP_NAMES, FACE_DOWN_NAME))
        return crop if crop < len(CROP_NAMES) else FACE_DOWN

    def tokens(self, position: int, tile: Mapping[str, Any], where: str) -> None:
        s = self.record
        s.fertilizer[position] = switch(tile.get("fertilizer", False), f"{where}.fertilizer")
        s.pods[position] = switch(tile.get("pod", False), f"{where}.pod")
        usual = 1 if s.crop[position] == Crop.PRIMROSE else 0
        s.blooms[position] = integer(tile.get("blooms", usual), f"{where}.blooms", *self.limits["field.blooms"])

    def fertilize(self, free: Sequence[int]) -> None:
        """Place the tokens that are not described, on the first free positions that leave room for all."""
        s = self.record
        number = int(self.tables["fertilizer_tokens"][0]) - int(s.fertilizer.sum())
        for more in combinations(free, max(0, number)):
            on_tile = s.fertilizer.astype(bool)
            on_tile[list(more)] = True
            beside = [tile for tile in np.flatnonzero(on_tile) for tile in NEIGHBOURS[tile] if tile != NO_TILE]
            if on_tile.sum() - s.fertilizer.sum() == len(more) and not on_tile[beside].any():
                s.fertilizer[list(more)] = 1
                return

    def control(self) -> None:
        """The player who controls the Primrose. By default it is the one with the most drops there."""
        s = self.record
        there = s.drops[s.crop == Crop.PRIMROSE].sum(axis=0)
        leaders = np.flatnonzero((there > 0) & (there == there.max()))
        leader = self.owners[leaders[0]] if len(leaders) == 1 else None
        s.controller = choice(self.get("controller", leader), "controller", self.config.agents, or_none=True)

    def copies(self) -> np.ndarray:
        """The tiles of each crop from which the field is drawn, (number of crops,)."""
        return tiles_of_each_crop(self.config.players, self.no_more_tricks, self.modules, self.tables)

    def lay(self, crops: Mapping[int, int]) -> dict[int, int]:
        """Fill the field in reading order with the tiles that are left, in the order of `Crop`."""
        left = self.copies()
        for crop in crops.values():
            left[crop] -= 1
        rest = np.repeat(np.arange(len(left)), np.maximum(left, 0)).tolist()
        free = [position for position in self.field if position not in crops]
        if len(rest) < len(free):
            raise wrong("field", "there are not enough tiles left to fill it")
        return {**crops, **dict(zip(free, rest, strict=False))}

    def lay_solo(self, crops: Mapping[int, int]) -> dict[int, int]:
        """Fill the solo field, in ascending order of priority, with the lowest tiles that keep this order possible."""
        left = self.copies()
        for crop in crops.values():
            if left[crop] == 0:
                raise ScenarioError(no_such_tile(1, crop, self.no_more_tricks, self.modules))
        priorities = self.tables["solo_priority"][0]
        tiles = sorted(
            (int(priorities[crop, copy]), crop)
            for crop in range(priorities.shape[0])
            for copy in range(self.tables["copies"][0, crop])
            if left[crop] and priorities[crop, copy] > 0
        )
        wanted = [crops.get(position) for position in FIELDS[1]]
        rest = iter(tiles)  # the lowest tile that fits leaves the most for the positions after it
        chosen = [next((tile for tile in rest if crop in (None, tile[1])), None) for crop in wanted]
        if None not in chosen:
            return {position: tile[1] for position, tile in zip(FIELDS[1], chosen, strict=True) if tile}
        named = ", ".join(f"{CROP_NAMES[crop]} at {tile_name(1, tile)}" for tile, crop in sorted(crops.items()))
        order = ", ".join(f"{CROP_NAMES[crop]} {priority / 10:g}" for priority, crop in tiles)
        problem = f"{named} can't be laid in ascending order of priority"
        raise wrong("field", f"{problem} (Southern Winds, Setup 3): {order}")

    def cloud(self, position: int, cloud: Any, where: str) -> None:
        s = self.record
        if cloud is None:
            return
        cloud = mapping(cloud, where, CLOUD_KEYS)
        s.cloud_drops[position] = self.by_owner(cloud.get("drops", {}), f"{where}.drops")
        usual = "light" if s.cloud_drops[position].sum() < GROWS_AT else "thunder"
        s.cloud[position] = 1 + choice(cloud.get("kind", usual), f"{where}.kind", CLOUD_NAMES[1:])

    def growing(self, position: int, growing: Any, where: str) -> None:
        s, t = self.record, self.tables[0]
        crop, drops = s.crop[position], s.drops[position].sum()
        closed = crop == Crop.SNOWDROP and s.blooms[position] == 0
        if growing is not None:
            s.growing[position] = choice(growing, where, GROWING_NAMES)
        elif drops >= t["drops_to_grow"][max(0, crop)] and not closed:
            drowns = crop == Crop.CACTUS and drops >= t["drops_to_drown"]
            s.growing[position] = Growing.DROWNED if drowns else FIRST_SIDE[crop]

    # what players have

    def personal(self) -> None:
        s, t, n = self.record, self.tables[0], self.config.owners
        for kind, votes, where in self.entries("votes", WEATHER_NAMES):
            s.votes[kind] = self.by_owner(votes, where)
        for key, high in (("points", MOST_POINTS), ("voting_wins", MOST), ("wheat_tokens", MOST)):
            s[key] = self.by_owner(self.get(key, {}), key, high=high)
        for source, points, where in self.entries("scored", SOURCE_NAMES):
            s.scored[:, source] = self.by_owner(points, where, high=MOST_POINTS)
        on_field = (s.drops.astype(np.int64) + s.cloud_drops).sum(axis=0)
        on_board = s.votes.astype(np.int64).sum(axis=0)
        for what, place, there, total, supply in (
            ("drops", "on tiles and in clouds", on_field, t["drops"], s.supply),
            ("votes", "on weather spaces", on_board, t["votes"], s.vote_supply),
        ):
            for seat in np.flatnonzero(there > total):
                raise ScenarioError(f"{self.owners[seat]} has {there[seat]} {what} {place}; a player has {total}")
            supply[:n] = total - there[:n]
        all_harvest = s.phase == Phase.HARVEST or is_face_down(self.array)[0]
        usual = ["harvest"] * DICE if all_harvest else [1] * DICE
        dice = self.get("dice", usual)
        if len(a_list(dice, "dice", DICE)) != DICE:
            raise wrong("dice", f"{list(dice)!r}; there are {DICE} Harvest dice")
        s.dice = sorted(self.die(side, f"dice[{i}]") for i, side in enumerate(dice))

    def die(self, side: Any, where: str) -> int:
        if side == "harvest":
            return HARVEST
        if not is_whole(side) or side not in DIE_SIDES:
            raise wrong(where, f"{side!r}; a Harvest die shows 1, 2, 3, 4 or 'harvest'")
        return int(side)

    def cards(self) -> None:
        s = self.record
        known = np.zeros(NUM_KINDS, np.int64)
        for key, field in (("hands", "hand"), ("packs", "pack")):
            for seat, cards, where in self.entries(key, self.config.agents):
                s[field][seat] = _cards(cards, where)
            known += s[field].sum(axis=0)
        s.discards = _cards(self.get("discards", {}), "discards")
        known += s.discards
        if "deck" in self.given:
            s.deck = _cards(self.given["deck"], "deck")
        elif not is_face_down(self.array)[0]:
            total = int(cards_of_a_kind(s.players, self.tables))
            for kind in np.flatnonzero(known > total):
                cards = f"{known[kind]} {WEATHER_NAMES[kind]} cards"
                raise ScenarioError(f"{cards} in hands, packs and discards; there are {total}")
            s.deck = total - known

    def powers(self) -> None:
        """The power of each player: the chosen one or, after they were dealt, the first of those that are left."""
        s = self.record
        given = self.entries("power", self.config.agents)
        named = {seat: choice(power, where, POWER_NAMES) for seat, power, where in given}
        s.power = s.chosen_power
        if Module.POWERS in self.modules and not self.config.powers and s.phase != Phase.SETUP:
            left = (power for power in range(1, len(POWER_NAMES)) if power not in named.values())
            for seat in set(range(self.config.players)) - set(named):
                s.power[seat] = next(left, 0)
        for seat, power in named.items():
            s.power[seat] = power

    def forecasts(self) -> None:
        """The holders of the forecast cards. A player with fewer than three has played the others."""
        s, agents = self.record, self.config.agents
        if Module.FORECASTS not in self.modules:
            return
        for seat, cards, where in self.entries("forecasts", agents):
            self.place_forecasts(cards, where, seat)
        free = [card for card in range(1, NUM_FORECASTS + 1) if s.forecast_holder[card - 1] == NOBODY]
        at_work = (s.forecast, CARD_TO_COUNT_CLOUDS if self.effect.get("counts_clouds") else 0)
        free.sort(key=lambda card: card not in at_work)
        played = 0 if s.phase == Phase.SETUP else DEALT * len(agents) - (NUM_FORECASTS - len(free))
        self.place_forecasts(self.get("forecasts_played", free[: max(0, played)]), "forecasts_played", PLAYED)

    def place_forecasts(self, cards: Any, where: str, holder: int) -> None:
        s = self.record
        for i, number in enumerate(a_list(cards, where, NUM_FORECASTS)):
            card = integer(number, f"{where}[{i}]", *self.limits["forecasts"]) - 1
            if s.forecast_holder[card] != NOBODY:
                raise wrong(where, f"forecast card {number} is named twice; there is one of each")
            s.forecast_holder[card] = holder

    def pending(self) -> None:
        """The current effect: values that follow from the decision, then those that are given."""
        s = self.record
        decision = Decision(s.decision)
        s.card = CARD_OF_DECISION.get(decision, -1)
        window = is_window(s.decision, s.forecast)
        s.weather = WEATHER_OF_DECISION.get(decision, WEATHER_OF_TIMING.get(Timing(s.timing), -1) if window else -1)
        readers = self.effect_readers()
        for key, value in self.effect.items():
            to_space = key == "target" and (decision == Decision.MOVE_VOTE or value in WEATHER_NAMES)
            field = "target_space" if to_space else key
            if field in readers:
                s[field] = readers[field](value, f"pending.{key}")
        for key, usual in self.usual_effect(decision):
            if key not in self.effect:
                s[key] = usual

    def effect_readers(self) -> dict[str, Callable[[Any, str], Any]]:
        """The readers of the values of an effect, by field. Those of the timeline have been read already."""
        weather_or_none = partial(choice, names=WEATHER_NAMES, or_none=True)
        return {
            "card": weather_or_none,
            "optional": switch,
            "cards_left": self.number,
            "lowest_card": partial(choice, names=WEATHER_NAMES),
            "draft_step": lambda value, where: NOT_DRAFTING if value is None else self.number(value, where),
            "target": self.tile,
            "target_space": weather_or_none,
            "target_owner": partial(choice, names=self.owners, or_none=True),
            "selected": partial(names_listed, names=WEATHER_NAMES, size=NUM_KINDS),
            "weather": weather_or_none,
            "choices_left": self.number,
            "timing_index": self.number,
            "counts_clouds": partial(names_listed, names=self.config.agents, size=MAX_PLAYERS),
            "no_actions": partial(names_listed, names=self.config.agents, size=MAX_PLAYERS),
            "chosen_drops": self.by_owner,
            "scored_drops": self.drops_by_tile,
        }

    def drops_by_tile(self, value: Any, where: str) -> np.ndarray:
        """Drops by tile and owner, (NUM_TILES, MAX_PLAYERS)."""
        drops = np.zeros((NUM_TILES, MAX_PLAYERS), np.int64)
        for i, counts, place in entries(value, where, list(self.places)):
            drops[self.field[i]] = self.by_owner(counts, place)
        return drops

    def usual_effect(self, decision: Decision) -> Iterator[tuple[str, Any]]:
        """Default values of an effect: choices are at the first one, or after the target."""
        s = self.record
        yield "timing_index", usual_timing_index(self.array)[0]
        if decision == Decision.DRAFT:
            yield "draft_step", 0
            yield "cards_left", PICKS[s.draft_step]
        elif decision == Decision.CHOOSE_WEATHER:
            yield "selected", _without_a_tie(s.votes.astype(np.int64).sum(axis=1))
        elif decision == Decision.PAY:
            yield "cards_left", full_price(self.array)[0]
        elif decision == Decision.DISCARD and s.actor != NOBODY:
            yield "cards_left", max(0, int(s.hand[s.actor].sum()) - HAND_LIMIT)
        elif decision in (Decision.POD_TILE, Decision.KEEP_DROP):
            yield "choices_left", MOST_CHOICES[decision] - (s.target != NO_TILE)
        elif decision == Decision.FORECAST_DIRECTION:
            yield "target_owner", s.actor
        elif decision == Decision.FORECAST_DROP and s.forecast == CARD_TO_MOVE_UP:
            yield "choices_left", max(0, MOST_CHOICES[decision] - int(s.chosen_drops.sum()))
            if s.chosen_drops.any():
                clockwise = (np.arange(MAX_PLAYERS) - s.actor) % s.owners
                yield "target_owner", np.where(s.chosen_drops > 0, clockwise, -1).argmax()

    def southern_winds(self) -> None:
        if not self.config.solo:
            return
        s = self.record
        winds = mapping(self.get("southern_winds", {}), "southern_winds", WINDS_KEYS)
        revealed = a_list(winds.get("revealed", []), "southern_winds.revealed", WINDS_LOG)
        s.winds_revealed = len(revealed)
        s.winds_deck = 0 if is_face_down(self.array)[0] else 1
        for i, card in enumerate(revealed):
            where = f"southern_winds.revealed[{i}]"
            card = mapping(card, where, REVEALED_KEYS)
            number, die = (self.limits[f"southern_winds.revealed.{key}"] for key in ("card", "roll"))
            s.winds_card[i] = integer(card.get("card", 0), f"{where}.card", *number)
            s.winds_deck[s.winds_card[i] - 1] = 0
            roll = card.get("roll")
            s.winds_roll[i] = 0 if roll is None else integer(roll, f"{where}.roll", *die)
            s.winds_target[i] = self.tile(card.get("target"), f"{where}.target")
        if "deck" in winds:
            where, deck = "southern_winds.deck", winds["deck"]
            listed = a_list(deck, where, RESHUFFLE)
            numbers = [integer(n, f"{where}[{i}]", *self.limits[where]) for i, n in enumerate(listed)]
            if len(set(numbers)) != len(numbers):
                raise wrong(where, f"{list(deck)!r} names a card twice; there is one of each of 1 to {RESHUFFLE}")
            s.winds_deck = [number in numbers for number in range(1, RESHUFFLE + 1)]


# --- describing a state -------------------------------------------------------------------------------------------


def describe(state: State, components: str | Path | None = None) -> dict[str, Any]:
    """The whole state as plain, JSON-able data. `scenario(describe(state))` is the same state, byte for byte.

    Arguments:
        state: one record of dtype STATE, such as an element of `Batch.states` or a result of `scenario`.
        components: the overlay TOML file that the game is played with; None for the shipped numbers.

    Raises `StateError`, with the reason, if it is not a state of this game.
    """
    array = np.asarray(state)
    if array.dtype != STATE or array.size != 1:
        given = f"{type(state).__name__}: {state!r:.80}"
        raise StateError(f"a state is one record of petrichor_env.state.STATE, not {given}")
    Config().game.check(array, load_tables(components))
    return described(array.reshape(1).astype(STATE)[0])


def _plain(s: State) -> Any:
    """A record's fields as plain numbers and lists. They are read far faster than the record itself."""
    return SimpleNamespace(**{name: s[name].tolist() for name in STATE.names or ()})


def described(s: State) -> dict[str, Any]:
    """The result of `describe` for a record that has been checked already."""
    plain, config = _plain(s), Config.of(s)
    players = plain.players
    owners = owner_names(players)
    agents = owners[:players]
    scored = zip(SOURCE_NAMES, zip(*plain.scored, strict=True), strict=True)
    effect, no_effect = _describe_effect(plain, players, owners), _no_effect(players)
    described: dict[str, Any] = {
        "players": players,
        "rounds": plain.rounds,
        "drafting": bool(plain.drafting),
        "variants": list(config.variants),
        **{key: list(names) for key in ("modules", "powers", "readings") if (names := getattr(config, key))},
        "round": plain.round,
        "phase": PHASE_NAMES[plain.phase],
        "first_player": agents[plain.first_player],
        "passed": name_or_none(agents, plain.passed),
        "turns": plain.turns,
        "last_turns": plain.last_turns,
        "harvested": bool(plain.harvested),
        "forfeited": name_or_none(agents, plain.forfeited),
        "decision": DECISION_NAMES[plain.decision],
        "actor": name_or_none(agents, plain.actor),
        "field": {tile_name(players, tile): _describe_tile(plain, tile, owners) for tile in FIELDS[players]},
        "hands": dict(zip(agents, map(_counted, plain.hand), strict=False)),
        "packs": dict(zip(agents, map(_counted, plain.pack), strict=False)),
        "deck": _counted(plain.deck),
        "discards": _counted(plain.discards),
        "votes": {weather: _counted(votes, owners) for weather, votes in zip(WEATHER_NAMES, plain.votes, strict=True)},
        "dice": ["harvest" if side == HARVEST else side for side in plain.dice],
        "points": dict(zip(owners, plain.points, strict=False)),
        "scored": {name: points for name, by_seat in scored if (points := _counted(by_seat, owners))},
        "voting_wins": dict(zip(owners, plain.voting_wins, strict=False)),
        "wheat_tokens": dict(zip(owners, plain.wheat_tokens, strict=False)),
        **_describe_modules(plain, agents),
        "pending": {key: word for key, word in effect.items() if word != no_effect[key]},
    }
    if players == 1:
        log = list(zip(plain.winds_card, plain.winds_roll, plain.winds_target, strict=True))[: plain.winds_revealed]
        cards = [{"card": card, "roll": roll or None, "target": _tile_or_none(1, target)} for card, roll, target in log]
        described["southern_winds"] = {"deck": _numbers(plain.winds_deck, 1), "revealed": cards}
    described["random"] = plain.rng
    return described


def _describe_modules(s: Any, agents: Sequence[str]) -> dict[str, Any]:
    described: dict[str, Any] = {}
    if s.modules[Module.FLOWER_TILES]:
        described["controller"] = name_or_none(agents, s.controller)
    if s.modules[Module.POWERS]:
        described["power"] = {agent: POWER_NAMES[s.power[seat]] for seat, agent in enumerate(agents)}
    if s.modules[Module.FORECASTS]:
        described["forecasts"] = {agent: _numbers(s.forecast_holder, seat) for seat, agent in enumerate(agents)}
        described["forecasts_played"] = _numbers(s.forecast_holder, PLAYED)
    return described


def _numbers(cards: Sequence[int], wanted: int) -> list[int]:
    """The numbers of the cards with this mark; cards are numbered from 1."""
    return [number for number, mark in enumerate(cards, 1) if mark == wanted]


def _describe_tile(s: Any, tile: int, owners: Sequence[str]) -> dict[str, Any]:
    described: dict[str, Any] = {"crop": crop_name(s.crop[tile])}
    if growing := s.growing[tile]:
        described["growing"] = GROWING_NAMES[growing]
    if drops := _counted(s.drops[tile], owners):
        described["drops"] = drops
    if kind := s.cloud[tile]:
        described["cloud"] = {"kind": CLOUD_NAMES[kind], "drops": _counted(s.cloud_drops[tile], owners)}
    if s.fertilizer[tile]:
        described["fertilizer"] = True
    if s.pods[tile]:
        described["pod"] = True
    if blooms := s.blooms[tile]:
        described["blooms"] = blooms
    return described


def _describe_effect(s: Any, players: int, owners: Sequence[str]) -> dict[str, Any]:
    scored = [tile for tile in FIELDS[players] if any(s.scored_drops[tile])]
    return {
        "card": name_or_none(WEATHER_NAMES, s.card),
        "optional": bool(s.optional),
        "cards_left": s.cards_left,
        "lowest_card": WEATHER_NAMES[s.lowest_card],
        "target": name_or_none(WEATHER_NAMES, s.target_space) or _tile_or_none(players, s.target),
        "target_owner": name_or_none(owners, s.target_owner),
        "selected": [name for name, on in zip(WEATHER_NAMES, s.selected, strict=True) if on],
        "weather": name_or_none(WEATHER_NAMES, s.weather),
        "turn_index": s.turn_index + s.pod_turns,
        "draft_step": None if s.draft_step == NOT_DRAFTING else s.draft_step,
        "forecast": s.forecast,
        "choices_left": s.choices_left,
        "timing": TIMING_NAMES[s.timing],
        "timing_index": s.timing_index,
        "counts_clouds": [name for name, on in zip(owners, s.counts_clouds, strict=False) if on],
        "no_actions": [name for name, on in zip(owners, s.no_actions, strict=False) if on],
        "chosen_drops": _counted(s.chosen_drops, owners),
        "scored_drops": {tile_name(players, t): _counted(s.scored_drops[t], owners) for t in scored},
    }


@cache
def _no_effect(players: int) -> dict[str, Any]:
    return _describe_effect(_plain(BLANK[0]), players, owner_names(players))


def _tile_or_none(players: int, tile: int) -> str | None:
    return None if tile == NO_TILE else tile_name(players, int(tile))


def _counted(counts: Iterable[int], names: Sequence[str] = WEATHER_NAMES) -> dict[str, int]:
    """The counts that are not 0, by name."""
    return {name: count for name, count in zip(names, counts, strict=False) if count}
