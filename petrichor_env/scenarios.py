"""Scenarios: any legal state from a short readable description, and back.

    state = scenario({"players": 2, "field": {"b1": {"crop": "wheat", "drops": {"player_0": 2}}},
                      "hands": {"player_0": {"frost": 1}}})
    describe(state)                                   # the whole state, as JSON-able plain data
    scenario(describe(state)).tobytes() == state.tobytes()

`docs/scenarios.md` has the table of keys. `check` is the other half: it says which count a record breaks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from petrichor_env.component_files import load_tables
from petrichor_env.config import MODULES, Config
from petrichor_env.invariants import broken_counts, broken_legal, check
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
    turn_order,
)
from petrichor_env.invariants.effect import full_price
from petrichor_env.invariants.pieces import cards_of_a_kind, no_such_tile, tiles_of_each_crop
from petrichor_env.rules.action_phase import HAND_LIMIT
from petrichor_env.rules.clouds import GROWS_AT
from petrichor_env.rules.drafting import PICKS
from petrichor_env.rules.fields import NEIGHBOURS
from petrichor_env.rules.forecasts import DEALT, TIMINGS
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
    PHASE_NAMES,
    PLAYED,
    POWER_NAMES,
    SOURCE_NAMES,
    STATE,
    TILE_NAMES,
    TIMING_NAMES,
    WEATHER_NAMES,
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
from tabletop.errors import ConfigError, ScenarioError, StateError
from tabletop.warm_up import warm_up
from tabletop.words import name_or_none

__all__ = ["check", "describe", "scenario"]


def _one(state: State) -> np.ndarray:
    """A copy of the state as an array of shape (1,); raises `StateError` for what is no state."""
    array = np.asarray(state)
    if array.dtype != STATE or array.size != 1:
        raise StateError(
            f"a state is one record of petrichor_env.state.STATE, not {type(state).__name__}: {state!r:.80}"
        )
    return array.reshape(1).astype(STATE, copy=True)


# --- reading a description ----------------------------------------------------------------------------------------


def _mapping(value: Any, where: str, allowed: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ScenarioError(f"{where}: {value!r} is not a table; allowed are the keys {', '.join(allowed)}")
    for key in value:
        if key not in allowed:
            raise ScenarioError(f"{where}: unknown key {key!r}; allowed are {', '.join(allowed)}")
    return value


def _integer(value: Any, where: str, low: int, high: int) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ScenarioError(f"{where}: {value!r} is not a whole number; allowed are {low} to {high}")
    if not low <= value <= high:
        raise ScenarioError(f"{where}: {value}; allowed are {low} to {high}")
    return int(value)


def _flag(value: Any, where: str) -> int:
    if not isinstance(value, (bool, np.bool_)):
        raise ScenarioError(f"{where}: {value!r}; allowed are true and false")
    return int(value)


def _choice(value: Any, where: str, names: Sequence[str]) -> int:
    if not isinstance(value, str) or value not in names:
        raise ScenarioError(f"{where}: {value!r}; allowed are {', '.join(names)}")
    return names.index(value)


def _choice_or_none(value: Any, where: str, names: Sequence[str]) -> int:
    """Index of the name, or -1 for None."""
    if value is None:
        return -1
    if not isinstance(value, str) or value not in names:
        raise ScenarioError(f"{where}: {value!r}; allowed are {', '.join(names)} and null")
    return names.index(value)


def _list(value: Any, where: str, longest: int) -> Sequence[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) > longest:
        raise ScenarioError(f"{where}: {value!r} is not a list of at most {longest}")
    return value


def _names_of(value: Any, where: str, names: Sequence[str]) -> list[int]:
    chosen = [_choice(name, f"{where}[{i}]", names) for i, name in enumerate(_list(value, where, len(names)))]
    if len(set(chosen)) != len(chosen):
        raise ScenarioError(f"{where}: {list(value)!r} names one twice")
    return chosen


_SWITCHES = ("players", "rounds", "drafting", "variants", "modules", "powers")
_PROGRESS = ("round", "phase", "first_player", "passed", "turns", "last_turns", "harvested", "forfeited")
_PIECES = ("field", "hands", "packs", "deck", "discards", "votes", "dice")
_SCORE = ("points", "scored", "voting_wins", "wheat_tokens")
_MODULE_PIECES = ("controller", "power", "forecasts", "forecasts_played")
_KEYS = (
    *(*_SWITCHES, *_PROGRESS, "decision", "actor", *_PIECES, *_SCORE, *_MODULE_PIECES),
    *("pending", "southern_winds", "random"),
)
_NAMED_CARDS = ("optional", "cards_left", "lowest_card", "draft_step")
_MODULE_EFFECTS = (
    *("forecast", "choices_left", "timing", "timing_index"),
    *("counts_clouds", "chosen_drops", "scored_drops"),
)
_PENDING_KEYS = (
    *("card", *_NAMED_CARDS, "target", "target_owner", "selected", "weather", "turn_index"),
    *_MODULE_EFFECTS,
)
_TILE_KEYS = ("crop", "growing", "drops", "cloud", "fertilizer", "pod", "blooms")
_CLOUD_KEYS = ("kind", "drops")
_MODULE_OF_KEY = {
    "controller": Module.FLOWER_TILES,
    "power": Module.POWERS,
    "forecasts": Module.FORECASTS,
    "forecasts_played": Module.FORECASTS,
}


def _without_a_tie(votes: np.ndarray) -> np.ndarray:
    """The spaces, (NUM_KINDS,) of 0 and 1, selected before the first player has to choose among tied ones."""
    selected = np.zeros(NUM_KINDS, np.int8)
    while selected.sum() < RESOLVED_SPACES:
        tied = (votes == votes[selected == 0].max()) & (selected == 0)
        if tied.sum() > RESOLVED_SPACES - selected.sum():
            break
        selected[tied] = 1
    return selected


_AFTER_FORECASTS = (Decision.WIND_WEATHER_DROP, Decision.WIND_WEATHER_DIRECTION, Decision.POD_TILE)
"""What is asked in the Wind weather, after the forecast cards that come before it."""


def scenario(description: Mapping[str, Any], components: str | Path | None = None) -> State:
    """The state that a description means, as the only element (`numpy.void`) of a new array of shape (1,), dtype STATE.

    Arguments:
        description: a dictionary as in `docs/scenarios.md`; only `players` must be given. Plain JSON will do.
        components: path of an overlay TOML file whose numbers are played with; None for the shipped ones.

    To play on from it, put it into a batch of the same configuration: `batch.states[0] = state; batch.refresh()`.
    Raises `ScenarioError` with the reason for a description that is malformed or breaks the game's counts or rules.
    """
    warm_up(Config().game)
    try:
        return _Reader(description, load_tables(components)).state()
    except RecursionError:
        raise ScenarioError("the description is nested too deeply; docs/scenarios.md shows what it may hold") from None


class _Reader:
    """One description on its way into a record."""

    def __init__(self, description: Mapping[str, Any], tables: np.ndarray):
        self.given = _mapping(description, "scenario", _KEYS)
        if "players" not in self.given:
            raise ScenarioError("players: missing; 1 (solo against the Southern Winds), 2, 3, 4 or 5")
        try:
            self.config = Config(
                players=self.given["players"],
                rounds=self.given.get("rounds", 4),
                drafting=self.given.get("drafting", False),
                variants=self.given.get("variants", ()),
                modules=self.given.get("modules", ()),
                powers=self.given.get("powers", ()),
            )
        except ConfigError as error:
            raise ScenarioError(str(error)) from None
        if not self.config.solo and "southern_winds" in self.given:
            raise ScenarioError(f"southern_winds: only in solo (players 1), not with players {self.config.players}")
        for key, module in _MODULE_OF_KEY.items():
            if key in self.given and MODULES[module] not in self.config.modules:
                raise ScenarioError(f"{key}: only with the module {MODULES[module]!r}")
        self.modules = [MODULES.index(name) for name in self.config.modules]
        self.tables = tables
        self.owners = owner_names(self.config.players)
        self.array = BLANK.copy()
        self.record = self.array[0]

    def state(self) -> State:
        self.switches()
        self.fields()
        self.progress()
        self.personal()
        self.cards()
        self.powers()
        self.forecasts()
        self.pending()
        self.southern_winds()
        for broken, reason in broken_counts(self.array, self.tables):
            if broken[0]:
                raise ScenarioError(reason(0))
        self.config.game.kernels.refresh_legal(self.array, self.tables)  # safe only once all else fits
        for broken, reason in broken_legal(self.array, self.array["legal"]):
            if broken[0]:
                raise ScenarioError(reason(0))
        return self.record

    def get(self, key: str, default: Any) -> Any:
        return self.given.get(key, default)

    def seat(self, value: Any, where: str) -> int:
        return _choice(value, where, self.config.agents)

    def by_owner(self, value: Any, where: str, high: int) -> np.ndarray:
        """Counts by owner, (MAX_PLAYERS,), of a table such as {"player_0": 2}."""
        counts = np.zeros(MAX_PLAYERS, np.int64)
        for name, count in _mapping(value, where, self.owners).items():
            counts[self.owners.index(name)] = _integer(count, f"{where}.{name}", 0, high)
        return counts

    def by_kind(self, value: Any, where: str) -> np.ndarray:
        """Counts by kind of card, (NUM_KINDS,), of a table such as {"frost": 2}."""
        counts = np.zeros(NUM_KINDS, np.int64)
        for name, count in _mapping(value, where, WEATHER_NAMES).items():
            counts[WEATHER_NAMES.index(name)] = _integer(count, f"{where}.{name}", 0, 127)
        return counts

    def switches(self) -> None:
        s = self.record
        self.config.write_switches(self.array)
        self.effect = dict(_mapping(self.get("pending", {}), "pending", _PENDING_KEYS))
        s.rng = _integer(self.get("random", 0), "random", 0, 2**64 - 1)

    def progress(self) -> None:
        """The round, and whose decision it is. What is left out follows from what is given."""
        s, agents, players = self.record, self.config.agents, self.config.players
        over = self.get("phase", None) == "over"
        decision = _choice(self.get("decision", "game_over" if over else "turn"), "decision", DECISION_NAMES)
        s.decision = decision
        s.round = _integer(self.get("round", self.config.rounds if over else 1), "round", 1, self.config.rounds)
        s.phase = _choice(self.get("phase", PHASE_NAMES[self.usual_phase(decision)]), "phase", PHASE_NAMES)
        s.forfeited = _choice_or_none(self.get("forfeited", None), "forfeited", agents)
        finished = decision == Decision.GAME_OVER and s.forfeited == NOBODY
        has_harvest = bool(finished or s.phase == Phase.HARVEST)
        s.harvested = _flag(self.get("harvested", has_harvest), "harvested")
        passer = self.get("passed", None)
        s.first_player = self.seat(self.get("first_player", (players > 2 and passer) or "player_0"), "first_player")
        later = (Phase.WEATHER, Phase.HARVEST, Phase.CLEANUP)
        has_ended = finished or decision == Decision.DISCARD or s.phase in later
        passer = self.get("passed", agents[s.first_player] if has_ended else None)
        s.passed = _choice_or_none(passer, "passed", agents)
        begun = 0 if s.phase == Phase.SETUP else players
        s.turns = _integer(self.get("turns", begun), "turns", 0, players)
        if "last_turns" in self.given:
            s.last_turns = _integer(self.given["last_turns"], "last_turns", 0, players - 1)
        if "turn_index" in self.effect:
            turns = _integer(self.effect.pop("turn_index"), "pending.turn_index", 0, 2 * players)
            # pods come after every player's turn with the Wind
            s.pod_turns = max(0, turns - players) if self.is_on(Module.FLOWER_TILES) else 0
            s.turn_index = turns - s.pod_turns
        self.who_is_asked()

    def who_is_asked(self) -> None:
        """The actor and its place in the turn order, each from the other where only one is given."""
        s, agents, players = self.record, self.config.agents, self.config.players
        decision, first = s.decision, s.first_player
        given = "actor" in self.given
        actor = _choice_or_none(self.get("actor", None), "actor", agents)
        order = turn_order(decision, s.phase, self.timing())
        in_weather = order == CLOCKWISE and s.phase == Phase.WEATHER
        offset = 1 if self.config.solo and in_weather else 0  # the neutral player comes first
        counted = "pod_turns" if decision == Decision.POD_TILE else "turn_index"
        if "turn_index" not in self.get("pending", {}):
            if decision == Decision.FERTILIZER_TILE:
                s.turn_index = s.fertilizer.sum()
            elif decision == Decision.POD_TILE:
                s.turn_index = players
        if decision == Decision.GAME_OVER:
            actor = actor if given else NOBODY
        elif not order and self.is_window():
            if not given:
                actor = (first + int(self.effect.get("timing_index", 0))) % players
        elif order:
            start = first if order == CLOCKWISE else first - 1
            if not given:
                s[counted] = max(int(s[counted]), offset)
                actor = (start + order * (int(s[counted]) - offset)) % players
            elif s[counted] == 0:
                s[counted] = (order * (actor - start)) % players + offset
        elif s.phase == Phase.ACTION and s.passed != NOBODY and players > 1:
            if not given:
                s.last_turns = s.last_turns or players - 1
                actor = (s.passed - s.last_turns) % players
            elif s.last_turns == 0:
                s.last_turns = (s.passed - actor) % players
        elif not given:
            begun = s.turns if s.phase == Phase.ACTION else 0
            actor = (first + begun) % players
        s.actor = actor

    def usual_phase(self, decision: int) -> int:
        if decision == Decision.GAME_OVER:
            return int(Phase.OVER)
        if decision in (Decision.FERTILIZER_TILE, Decision.SETUP_CLOUD):
            return int(Phase.SETUP)
        if decision == Decision.DRAFT:
            return int(Phase.SETUP if self.record.round == 1 else Phase.CLEANUP)
        if decision == Decision.KEEP_DROP:
            return int(Phase.HARVEST)
        if decision == Decision.FORECAST or self.forecast():
            return int(PHASE_OF_TIMING[self.timing()])
        if decision in WEATHER_DECISIONS or self.effect.get("weather") is not None:
            return int(Phase.WEATHER)
        return int(Phase.ACTION)

    def forecast(self) -> int:
        """The number of the forecast card being carried out, 0 for none."""
        cards = FORECASTS_OF_DECISION.get(Decision(self.record.decision), ())
        usual = cards[0] if len(cards) == 1 else 0
        return _integer(self.effect.get("forecast", usual), "pending.forecast", 0, NUM_FORECASTS)

    def timing(self) -> int:
        """The point of the timeline; what is left out follows from the decision."""
        if "timing" in self.effect:
            return _choice(self.effect["timing"], "pending.timing", TIMING_NAMES)
        decision = Decision(self.record.decision)
        if decision == Decision.KEEP_DROP:
            return int(Timing.SCORED)
        if not self.is_on(Module.FORECASTS) or decision == Decision.GAME_OVER:
            return int(Timing.ACTION_PHASE)
        if decision in (Decision.CHOOSE_WEATHER, Decision.FORECAST):
            return int(Timing.START_OF_WEATHER)
        if decision in _AFTER_FORECASTS:
            return int(Timing.BEFORE_WIND)
        in_weather = self.record.phase == Phase.WEATHER
        if decision == Decision.SUN_WEATHER_CLOUD or (decision == Decision.TAKE_DROP and in_weather):
            return int(Timing.SUN_TURN)
        return int(TIMINGS[self.forecast()])

    def timing_index(self) -> int:
        """How many players are done at this point of the timeline, where that is left out."""
        s, decision, players = self.record, self.record.decision, self.config.players
        if decision == Decision.GAME_OVER or s.timing in (Timing.ACTION_PHASE, Timing.SCORED):
            return 0
        if decision == Decision.CHOOSE_WEATHER or decision in _AFTER_FORECASTS:
            return players
        if s.timing == Timing.SUN_TURN:
            return s.turn_index + (decision != Decision.FORECAST)
        return (s.actor - s.first_player) % players

    def is_window(self) -> bool:
        """Whether a holder of forecast cards is asked by the timeline, or carries such a card out."""
        decision = self.record.decision
        carried_out = decision != Decision.GAME_OVER and TIMINGS[self.forecast()] > 0
        return bool(decision == Decision.FORECAST or carried_out)

    def is_on(self, module: Module) -> bool:
        return MODULES[module] in self.config.modules

    # the Fields

    def tile(self, value: Any, where: str) -> int:
        """The position of `b2` (or `P4`); -1 for None."""
        if value is None:
            return NO_TILE
        field = FIELDS[self.config.players]
        tile = SOLO_NAMES.get(value) if self.config.solo and isinstance(value, str) else None
        if tile is None and isinstance(value, str) and value in TILE_NAMES and TILE_NAMES.index(value) in field:
            tile = TILE_NAMES.index(value)
        if tile is None:
            names = ", ".join(tile_name(self.config.players, position) for position in field)
            raise ScenarioError(f"{where}: {value!r} is not a position of this field; allowed are {names}")
        return tile

    def fields(self) -> None:
        s = self.record
        described: dict[int, Mapping[str, Any]] = {}
        field = self.get("field", {})
        if not isinstance(field, Mapping):
            raise ScenarioError(f"field: {field!r} is not a table of tiles such as {{'b1': {{'crop': 'wheat'}}}}")
        for name, tile in field.items():
            position = self.tile(name, "field")
            if position == NO_TILE:
                raise ScenarioError("field: null is not a position")
            if position in described:
                raise ScenarioError(f"field.{name}: this position is given twice")
            described[position] = _mapping(tile, f"field.{name}", _TILE_KEYS)
        crops = {
            position: self.crop(tile["crop"], f"field.{tile_name(self.config.players, position)}.crop")
            for position, tile in described.items()
            if "crop" in tile
        }
        if FACE_DOWN in crops.values() or self.get("decision", None) == "fertilizer_tile":
            laid = {position: crops.get(position, FACE_DOWN) for position in FIELDS[self.config.players]}
        else:
            laid = (self.lay_solo if self.config.solo else self.lay)(crops)
        for position, crop in laid.items():
            s.crop[position] = crop
        for position in FIELDS[self.config.players]:
            tile = described.get(position, {})
            where = f"field.{tile_name(self.config.players, position)}"
            s.drops[position] = self.by_owner(tile.get("drops", {}), f"{where}.drops", 127)
            self.cloud(position, tile.get("cloud"), f"{where}.cloud")
            self.tokens(position, tile, where)
            self.growing(position, tile.get("growing"), f"{where}.growing")
        if self.is_on(Module.FERTILIZER) and FACE_DOWN not in laid.values():
            self.fertilize([position for position in laid if "fertilizer" not in described.get(position, {})])
        self.control()

    def crop(self, value: Any, where: str) -> int:
        crop = _choice(value, where, (*CROP_NAMES, FACE_DOWN_NAME))
        return crop if crop < len(CROP_NAMES) else FACE_DOWN

    def tokens(self, position: int, tile: Mapping[str, Any], where: str) -> None:
        """Fertilizer, pod and bloom tokens on the tile."""
        s = self.record
        s.fertilizer[position] = _flag(tile.get("fertilizer", False), f"{where}.fertilizer")
        s.pods[position] = _flag(tile.get("pod", False), f"{where}.pod")
        usual = 1 if s.crop[position] == Crop.PRIMROSE else 0
        s.blooms[position] = _integer(tile.get("blooms", usual), f"{where}.blooms", 0, 127)

    def fertilize(self, free: Sequence[int]) -> None:
        """Place the tokens that no tile is said to have: on the first free positions that leave room for all."""
        s = self.record
        given = np.flatnonzero(s.fertilizer).tolist()
        placed = _apart(given, free, int(self.tables["fertilizer_tokens"][0]) - len(given))
        s.fertilizer[placed or []] = 1

    def control(self) -> None:
        """Who controls the Primrose; left out, whoever has the most drops there."""
        s = self.record
        there = s.drops[s.crop == Crop.PRIMROSE].sum(axis=0)
        leaders = np.flatnonzero((there > 0) & (there == there.max()))
        leader = self.owners[leaders[0]] if len(leaders) == 1 else None
        s.controller = _choice_or_none(self.get("controller", leader), "controller", self.config.agents)

    def copies(self) -> np.ndarray:
        """Tiles of each crop that the field is drawn from, (number of crops,)."""
        return tiles_of_each_crop(
            self.config.players, "no_more_tricks" in self.config.variants, self.modules, self.tables
        )

    def lay(self, crops: Mapping[int, int]) -> dict[int, int]:
        """Fill up with the tiles that are left, in the order of `Crop`, in reading order."""
        left = self.copies()
        for crop in crops.values():
            left[crop] -= 1
        rest = iter([crop for crop in range(len(left)) for _ in range(max(0, left[crop]))])
        laid = {}
        for position in FIELDS[self.config.players]:
            crop = crops[position] if position in crops else next(rest, NO_TILE)
            if crop == NO_TILE:
                raise ScenarioError("field: there are not enough tiles left to fill it")
            laid[position] = crop
        return laid

    def lay_solo(self, crops: Mapping[int, int]) -> dict[int, int]:
        """Solo tiles lie in ascending order of priority: fill up with the lowest that leave this possible."""
        left = self.copies()
        for crop in crops.values():
            if left[crop] == 0:
                raise ScenarioError(no_such_tile(1, crop, "no_more_tricks" in self.config.variants, self.modules))
        priorities = self.tables["solo_priority"][0]
        tiles = sorted(
            (int(priorities[crop, copy]), crop)
            for crop in range(priorities.shape[0])
            for copy in range(self.tables["copies"][0, crop])
            if left[crop] and priorities[crop, copy] > 0
        )
        laid = _ascending(tiles, [crops.get(position) for position in FIELDS[1]])
        if laid is None:
            named = ", ".join(f"{CROP_NAMES[crop]} at {tile_name(1, tile)}" for tile, crop in sorted(crops.items()))
            order = ", ".join(f"{CROP_NAMES[crop]} {priority / 10:g}" for priority, crop in tiles)
            raise ScenarioError(
                f"field: {named} can't be laid in ascending order of priority (Southern Winds, Setup 3): {order}"
            )
        return dict(zip(FIELDS[1], laid, strict=True))

    def cloud(self, position: int, cloud: Any, where: str) -> None:
        s = self.record
        if cloud is None:
            return
        cloud = _mapping(cloud, where, _CLOUD_KEYS)
        s.cloud_drops[position] = self.by_owner(cloud.get("drops", {}), f"{where}.drops", 127)
        usual = "light" if s.cloud_drops[position].sum() < GROWS_AT else "thunder"
        s.cloud[position] = 1 + _choice(cloud.get("kind", usual), f"{where}.kind", CLOUD_NAMES[1:])

    def growing(self, position: int, growing: Any, where: str) -> None:
        s = self.record
        if growing is not None:
            s.growing[position] = _choice(growing, where, GROWING_NAMES)
            return
        crop, drops, t = s.crop[position], s.drops[position].sum(), self.tables[0]
        closed = crop == Crop.SNOWDROP and s.blooms[position] == 0
        if drops < t["drops_to_grow"][max(0, crop)] or closed:
            return
        drowns = crop == Crop.CACTUS and drops >= t["drops_to_drown"]
        s.growing[position] = Growing.DROWNED if drowns else FIRST_SIDE[crop]

    # what players have

    def personal(self) -> None:
        s, t, n = self.record, self.tables[0], self.config.owners
        for weather, votes in _mapping(self.get("votes", {}), "votes", WEATHER_NAMES).items():
            s.votes[WEATHER_NAMES.index(weather)] = self.by_owner(votes, f"votes.{weather}", 127)
        most = np.iinfo(np.int16).max
        s.points = self.by_owner(self.get("points", {}), "points", most)
        for source, points in _mapping(self.get("scored", {}), "scored", SOURCE_NAMES).items():
            s.scored[:, SOURCE_NAMES.index(source)] = self.by_owner(points, f"scored.{source}", most)
        s.voting_wins = self.by_owner(self.get("voting_wins", {}), "voting_wins", 127)
        s.wheat_tokens = self.by_owner(self.get("wheat_tokens", {}), "wheat_tokens", 127)
        on_field = (s.drops.astype(np.int64) + s.cloud_drops).sum(axis=0)
        on_board = s.votes.astype(np.int64).sum(axis=0)
        for seat in range(n):
            for what, there, total in (("drops", on_field, t["drops"]), ("votes", on_board, t["votes"])):
                if there[seat] > total:
                    place = "on tiles and in clouds" if what == "drops" else "on weather spaces"
                    raise ScenarioError(f"{self.owners[seat]} has {there[seat]} {what} {place}; a player has {total}")
        s.supply[:n] = t["drops"] - on_field[:n]
        s.vote_supply[:n] = t["votes"] - on_board[:n]
        all_harvest = s.phase == Phase.HARVEST or self.is_face_down()
        usual = ["harvest"] * 3 if all_harvest else [1, 1, 1]
        dice = self.get("dice", usual)
        if len(_list(dice, "dice", 3)) != 3:
            raise ScenarioError(f"dice: {list(dice)!r}; there are 3 Harvest dice")
        s.dice = sorted(self.die(side, f"dice[{i}]") for i, side in enumerate(dice))

    def is_face_down(self) -> bool:
        return bool((self.record.crop == FACE_DOWN).any())

    def die(self, side: Any, where: str) -> int:
        if side == "harvest":
            return HARVEST
        if isinstance(side, (bool, np.bool_)) or not isinstance(side, (int, np.integer)) or not 1 <= side <= 4:
            raise ScenarioError(f"{where}: {side!r}; a Harvest die shows 1, 2, 3, 4 or 'harvest'")
        return int(side)

    def cards(self) -> None:
        s, agents = self.record, self.config.agents
        known = np.zeros(NUM_KINDS, np.int64)
        for key, field in (("hands", "hand"), ("packs", "pack")):
            for name, cards in _mapping(self.get(key, {}), key, agents).items():
                counts = self.by_kind(cards, f"{key}.{name}")
                s[field][agents.index(name)] = counts
                known += counts
        s.discards = self.by_kind(self.get("discards", {}), "discards")
        known += s.discards
        if "deck" in self.given:
            s.deck = self.by_kind(self.given["deck"], "deck")
            return
        if self.is_face_down():
            return
        total = int(cards_of_a_kind(s.players, self.tables))
        for kind, count in enumerate(known):
            if count > total:
                raise ScenarioError(
                    f"{count} {WEATHER_NAMES[kind]} cards in hands, packs and discards; there are {total}"
                )
        s.deck = total - known

    def powers(self) -> None:
        """Each player's power: as chosen; else, once they have been dealt, the first of those that are left."""
        s, agents = self.record, self.config.agents
        named = {
            agents.index(name): _choice(power, f"power.{name}", POWER_NAMES)
            for name, power in _mapping(self.get("power", {}), "power", agents).items()
        }
        s.power = s.chosen_power
        if self.is_on(Module.POWERS) and not self.config.powers and s.phase != Phase.SETUP:
            left = (power for power in range(1, len(POWER_NAMES)) if power not in named.values())
            for seat in range(self.config.players):
                s.power[seat] = named[seat] if seat in named else next(left, 0)
        for seat, power in named.items():
            s.power[seat] = power

    def forecasts(self) -> None:
        """Who holds which forecast card; those that players lack of three have been played."""
        s, agents = self.record, self.config.agents
        if not self.is_on(Module.FORECASTS):
            return
        for name, cards in _mapping(self.get("forecasts", {}), "forecasts", agents).items():
            self.place_forecasts(cards, f"forecasts.{name}", agents.index(name))
        free = [card for card in range(1, NUM_FORECASTS + 1) if s.forecast_holder[card - 1] == NOBODY]
        at_work = (self.forecast(), CARD_TO_COUNT_CLOUDS if self.effect.get("counts_clouds") else 0)
        free.sort(key=lambda card: card not in at_work)
        played = 0 if s.phase == Phase.SETUP else DEALT * len(agents) - (NUM_FORECASTS - len(free))
        self.place_forecasts(self.get("forecasts_played", free[: max(0, played)]), "forecasts_played", PLAYED)

    def place_forecasts(self, cards: Any, where: str, holder: int) -> None:
        s = self.record
        for i, number in enumerate(_list(cards, where, NUM_FORECASTS)):
            card = _integer(number, f"{where}[{i}]", 1, NUM_FORECASTS) - 1
            if s.forecast_holder[card] != NOBODY:
                raise ScenarioError(f"{where}: forecast card {number} is named twice; there is one of each")
            s.forecast_holder[card] = holder

    def pending(self) -> None:
        """The effect being carried out: what the decision implies, then what is given."""
        s = self.record
        decision = Decision(s.decision)
        s.card = CARD_OF_DECISION.get(decision, -1)
        s.forecast, s.timing = self.forecast(), self.timing()
        weather_of_window = WEATHER_OF_TIMING.get(Timing(s.timing), -1) if self.is_window() else -1
        s.weather = WEATHER_OF_DECISION.get(decision, weather_of_window)
        for key, value in self.effect.items():
            where = f"pending.{key}"
            if key in ("card", "weather"):
                s[key] = _choice_or_none(value, where, WEATHER_NAMES)
            elif key == "lowest_card":
                s[key] = _choice(value, where, WEATHER_NAMES)
            elif key == "optional":
                s[key] = _flag(value, where)
            elif key == "target" and (decision == Decision.MOVE_VOTE or value in WEATHER_NAMES):
                s.target_space = _choice_or_none(value, where, WEATHER_NAMES)
            elif key == "target":
                s[key] = self.tile(value, where)
            elif key == "target_owner":
                s[key] = _choice_or_none(value, where, self.owners)
            elif key == "selected":
                s[key][_names_of(value, where, WEATHER_NAMES)] = 1
            elif key == "draft_step":
                s[key] = NOT_DRAFTING if value is None else _integer(value, where, 0, 2)
            elif key in _MODULE_EFFECTS:
                self.module_effect(key, value, where)
            else:
                s[key] = _integer(value, where, 0, 12)
        if decision == Decision.DRAFT and "draft_step" not in self.effect:
            s.draft_step = 0
        if decision == Decision.CHOOSE_WEATHER and "selected" not in self.effect:
            s.selected = _without_a_tie(s.votes.astype(np.int64).sum(axis=1))
        if "cards_left" not in self.effect:
            if decision == Decision.DRAFT:
                s.cards_left = PICKS[s.draft_step]
            elif decision == Decision.PAY:
                s.cards_left = int(full_price(self.array)[0])
            elif decision == Decision.DISCARD and s.actor != NOBODY:
                s.cards_left = max(0, int(s.hand[s.actor].sum()) - HAND_LIMIT)
        self.choices(decision)

    def module_effect(self, key: str, value: Any, where: str) -> None:
        s, agents = self.record, self.config.agents
        if key == "counts_clouds":
            s[key][_names_of(value, where, agents)] = 1
        elif key == "chosen_drops":
            s[key] = self.by_owner(value, where, 127)
        elif key == "scored_drops":
            tiles = [tile_name(self.config.players, tile) for tile in FIELDS[self.config.players]]
            for name, drops in _mapping(value, where, tiles).items():
                s[key][self.tile(name, where)] = self.by_owner(drops, f"{where}.{name}", 127)
        elif key in ("timing_index", "choices_left"):
            s[key] = _integer(value, where, 0, 2 * MAX_PLAYERS)

    def choices(self, decision: Decision) -> None:
        """Where the module's choices stand, as far as that is left out: at the first one, or after the target."""
        s = self.record
        moves_up = decision == Decision.FORECAST_DROP and s.forecast == CARD_TO_MOVE_UP
        if "timing_index" not in self.effect:
            s.timing_index = self.timing_index()
        if "choices_left" not in self.effect and moves_up:
            s.choices_left = max(0, MOST_CHOICES[decision] - int(s.chosen_drops.sum()))
        elif "choices_left" not in self.effect and decision in (Decision.POD_TILE, Decision.KEEP_DROP):
            s.choices_left = MOST_CHOICES[decision] - (s.target != NO_TILE)
        if "target_owner" not in self.effect and decision == Decision.FORECAST_DIRECTION:
            s.target_owner = s.actor
        elif "target_owner" not in self.effect and moves_up and s.chosen_drops.any():
            clockwise = (np.arange(MAX_PLAYERS) - s.actor) % s.owners
            s.target_owner = np.where(s.chosen_drops > 0, clockwise, -1).argmax()

    def southern_winds(self) -> None:
        s = self.record
        if not self.config.solo:
            return
        winds = _mapping(self.get("southern_winds", {}), "southern_winds", ("deck", "revealed"))
        revealed = _list(winds.get("revealed", []), "southern_winds.revealed", STATE["winds_card"].shape[0])
        s.winds_revealed = len(revealed)
        s.winds_deck = 0 if self.is_face_down() else 1
        for i, card in enumerate(revealed):
            where = f"southern_winds.revealed[{i}]"
            card = _mapping(card, where, ("card", "roll", "target"))
            s.winds_card[i] = _integer(card.get("card", 0), f"{where}.card", 1, RESHUFFLE - 1)
            s.winds_deck[s.winds_card[i] - 1] = 0
            roll = card.get("roll")
            s.winds_roll[i] = 0 if roll is None else _integer(roll, f"{where}.roll", 1, 6)
            s.winds_target[i] = self.tile(card.get("target"), f"{where}.target")
        if "deck" in winds:
            where, deck = "southern_winds.deck", winds["deck"]
            numbers = [_integer(n, f"{where}[{i}]", 1, 9) for i, n in enumerate(_list(deck, where, 9))]
            if len(set(numbers)) != len(numbers):
                raise ScenarioError(f"{where}: {list(deck)!r} names a card twice; there is one of each of 1 to 9")
            s.winds_deck = [number in numbers for number in range(1, 10)]


def _apart(taken: Sequence[int], free: Sequence[int], number: int) -> list[int] | None:
    """The first `number` of the free positions no two of which, nor of those taken, are adjacent; None if none fit."""
    if number <= 0:
        return []
    for i, position in enumerate(free):
        if position not in taken and not np.isin(NEIGHBOURS[position], taken).any():
            rest = _apart([*taken, position], free[i + 1 :], number - 1)
            if rest is not None:
                return [position, *rest]
    return None


def _ascending(tiles: Sequence[tuple[int, int]], wanted: Sequence[int | None]) -> list[int] | None:
    """The first choice of tiles, ascending, whose crops are those wanted (None: any crop); None if there is none."""
    if not wanted:
        return []
    for i, (_, crop) in enumerate(tiles):
        if wanted[0] in (None, crop):
            rest = _ascending(tiles[i + 1 :], wanted[1:])
            if rest is not None:
                return [crop, *rest]
    return None


# --- describing a state -------------------------------------------------------------------------------------------


def describe(state: State, components: str | Path | None = None) -> dict[str, Any]:
    """The whole state as plain, JSON-able data; `scenario(describe(state))` is the same state, byte for byte.

    Arguments:
        state: one record of dtype STATE: an element of `Batch.states`, or what `scenario` returned.
        components: the overlay TOML file that the game is played with; None for the shipped numbers.

    Raises `StateError` with the reason for what is no state of this game.
    """
    array = _one(state)
    check(array, load_tables(components))
    return described(array[0])


def described(s: State) -> dict[str, Any]:
    """What `describe` returns, of a record that was checked already."""
    players, decision, config = s.players, s.decision, Config.of(s)
    owners = owner_names(players)
    agents = owners[:players]
    described: dict[str, Any] = {
        "players": players,
        "rounds": s.rounds,
        "drafting": bool(s.drafting),
        "variants": list(config.variants),
        **({"modules": list(config.modules)} if config.modules else {}),
        **({"powers": list(config.powers)} if config.powers else {}),
        "round": s.round,
        "phase": PHASE_NAMES[s.phase],
        "first_player": agents[s.first_player],
        "passed": name_or_none(agents, s.passed),
        "turns": s.turns,
        "last_turns": s.last_turns,
        "harvested": bool(s.harvested),
        "forfeited": name_or_none(agents, s.forfeited),
        "decision": DECISION_NAMES[decision],
        "actor": name_or_none(agents, s.actor),
        "field": {tile_name(players, tile): _describe_tile(s, tile, owners) for tile in FIELDS[players]},
        "hands": {agent: _kinds(s.hand[seat]) for seat, agent in enumerate(agents)},
        "packs": {agent: _kinds(s.pack[seat]) for seat, agent in enumerate(agents)},
        "deck": _kinds(s.deck),
        "discards": _kinds(s.discards),
        "votes": {weather: _owned(s.votes[kind], owners) for kind, weather in enumerate(WEATHER_NAMES)},
        "dice": ["harvest" if side == HARVEST else int(side) for side in s.dice],
        "points": {owner: int(s.points[seat]) for seat, owner in enumerate(owners)},
        "scored": {
            name: _owned(s.scored[:, source], owners)
            for source, name in enumerate(SOURCE_NAMES)
            if s.scored[:, source].any()
        },
        "voting_wins": {owner: int(s.voting_wins[seat]) for seat, owner in enumerate(owners)},
        "wheat_tokens": {owner: int(s.wheat_tokens[seat]) for seat, owner in enumerate(owners)},
        **_describe_modules(s, agents),
        "pending": _describe_effect(s, owners),
    }
    if players == 1:
        described["southern_winds"] = {
            "deck": [number for number in range(1, 10) if s.winds_deck[number - 1]],
            "revealed": [
                {
                    "card": int(s.winds_card[i]),
                    "roll": int(s.winds_roll[i]) or None,
                    "target": _tile_or_none(players, s.winds_target[i]),
                }
                for i in range(s.winds_revealed)
            ],
        }
    described["random"] = int(s.rng)
    return described


def _describe_modules(s: State, agents: Sequence[str]) -> dict[str, Any]:
    """What the modules that are played with add."""
    described: dict[str, Any] = {}
    if s.modules[Module.FLOWER_TILES]:
        described["controller"] = name_or_none(agents, s.controller)
    if s.modules[Module.POWERS]:
        described["power"] = {agent: POWER_NAMES[s.power[seat]] for seat, agent in enumerate(agents)}
    if s.modules[Module.FORECASTS]:
        described["forecasts"] = {agent: _forecasts_of(s, seat) for seat, agent in enumerate(agents)}
        described["forecasts_played"] = _forecasts_of(s, PLAYED)
    return described


def _forecasts_of(s: State, holder: int) -> list[int]:
    return [number for number in range(1, NUM_FORECASTS + 1) if s.forecast_holder[number - 1] == holder]


def _describe_tile(s: State, tile: int, owners: Sequence[str]) -> dict[str, Any]:
    described: dict[str, Any] = {"crop": crop_name(s.crop[tile])}
    if s.growing[tile]:
        described["growing"] = GROWING_NAMES[s.growing[tile]]
    if s.drops[tile].any():
        described["drops"] = _owned(s.drops[tile], owners)
    if s.cloud[tile]:
        described["cloud"] = {
            "kind": CLOUD_NAMES[s.cloud[tile]],
            "drops": _owned(s.cloud_drops[tile], owners),
        }
    if s.fertilizer[tile]:
        described["fertilizer"] = True
    if s.pods[tile]:
        described["pod"] = True
    if s.blooms[tile]:
        described["blooms"] = int(s.blooms[tile])
    return described


def _describe_effect(s: State, owners: Sequence[str]) -> dict[str, Any]:
    """What differs from an effect that has not begun."""
    blank = _effect(BLANK[0], s.players, owners)
    return {key: word for key, word in _effect(s, s.players, owners).items() if word != blank[key]}


def _effect(s: State, players: int, owners: Sequence[str]) -> dict[str, Any]:
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
        "chosen_drops": _owned(s.chosen_drops, owners),
        "scored_drops": {
            tile_name(players, tile): _owned(s.scored_drops[tile], owners)
            for tile in FIELDS[players]
            if s.scored_drops[tile].any()
        },
    }


def _tile_or_none(players: int, tile: int) -> str | None:
    return None if tile == NO_TILE else tile_name(players, int(tile))


def _owned(counts: np.ndarray, owners: Sequence[str]) -> dict[str, int]:
    return {owner: int(counts[seat]) for seat, owner in enumerate(owners) if counts[seat]}


def _kinds(counts: np.ndarray) -> dict[str, int]:
    return {name: int(counts[kind]) for kind, name in enumerate(WEATHER_NAMES) if counts[kind]}
