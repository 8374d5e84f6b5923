"""Scenarios: any legal state from a short readable description, and back.

    state = scenario({"players": 2, "field": {"b1": {"crop": "wheat", "drops": {"player_0": 2}}},
                      "hands": {"player_0": {"frost": 1}}})
    describe(state)                                   # the whole state, as JSON-able plain data
    scenario(describe(state)).tobytes() == state.tobytes()

`keys` declares what a description may hold, and `docs/scenarios.md` explains it. `check` tells which count a record
breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from petrichor_env.component_files import load_tables
from petrichor_env.config import Config
from petrichor_env.drawing.decisions import ASKED, CLOCKWISE
from petrichor_env.invariants import all_checks
from petrichor_env.invariants.decisions import (
    CARD_OF,
    CARD_TO_COUNT_CLOUDS,
    CARD_TO_MOVE_UP,
    CHOICES_OF,
    PHASE_OF_TIMING,
    WEATHER_OF,
    WEATHER_OF_TIMING,
    is_window,
    turn_order,
    usual_timing,
    usual_timing_index,
)
from petrichor_env.invariants.effect import full_price
from petrichor_env.invariants.modules import is_face_down
from petrichor_env.invariants.pieces import cards_of_a_kind
from petrichor_env.keys import DICE, KEYS, PENDING, TileName, scope_of
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
    FACE_DOWN,
    HARVEST,
    MAX_PLAYERS,
    NO_TILE,
    NOBODY,
    NUM_FORECASTS,
    NUM_KINDS,
    PLAYED,
    POWER_NAMES,
    WEATHER_NAMES,
    Cloud,
    Crop,
    Decision,
    Growing,
    Module,
    Phase,
    State,
    Timing,
)
from petrichor_env.tiles import no_such_tile, tiles_of_each_crop
from petrichor_env.words import FIELDS, tile_name
from tabletop_engine.described import descriptions
from tabletop_engine.described.descriptions import Described
from tabletop_engine.described.fields import plain
from tabletop_engine.described.scenarios import ROOT, choice, mapping, wrong
from tabletop_engine.errors import ScenarioError

__all__ = ["describe", "scenario"]


def scenario(description: Mapping[str, Any], components: str | Path | None = None) -> State:
    """The state of a description: the only element (`numpy.void`) of a new array of shape (1,), dtype STATE.

    To play from it, put it into a batch of the same configuration: `batch.states[0] = state; batch.refresh()`.

    Arguments:
        description: a dictionary as in `docs/scenarios.md`, such as parsed JSON. Only `players` is required.
        components: the path of an overlay TOML file; None for the shipped numbers.

    Raises `ScenarioError`, with the reason, for a malformed description and for one that breaks the game's counts or
    rules.
    """
    begin = partial(_Position, description, load_tables(components))
    return descriptions.filled(Config().game, begin, _STEPS, all_checks, "docs/scenarios.md")


class _Position(Described):
    """A position whose gaps are filled in.

    Attributes:
        config: the configuration that the description names.
        scope: the names that its keys refer to.
        modules: the modules that are played.
    """

    def __init__(self, description: Mapping[str, Any], tables: np.ndarray):
        super().__init__(BLANK, tables)
        given = mapping(description, ROOT, KEYS.names)
        if "players" not in given:
            raise wrong("players", "missing; 1 (solo against the Southern Winds), 2, 3, 4 or 5")
        self.config = Config(**{key: given[key] for key in KEYS.fixed if key in given})
        self.config.write_switches(self.array)
        self.modules = np.flatnonzero(self.s.modules).tolist()
        self.scope = scope_of(self.config)
        KEYS.refuse(given, self.scope)
        self.read(given, self.scope, KEYS, PENDING)


# --- what fills the gaps: the field -----------------------------------------------------------------------------------


def _tiles(p: _Position) -> None:
    """The tiles with their drops, clouds and tokens."""
    s, given = p.s, p.given.get("field", {})
    crops = {position: tile["crop"] for position, tile in given.items() if "crop" in tile}
    if FACE_DOWN in crops.values() or ("decision" in p.given and s.decision == Decision.FERTILIZER_TILE):
        laid = {position: crops.get(position, FACE_DOWN) for position in p.scope.field}
    else:
        laid = _laid_in_solo(p, crops) if p.config.solo else _laid(p, crops)
    for position, crop in laid.items():
        tile = given.get(position, {})
        s.crop[position] = crop
        if "drops" in tile:
            s.drops[position] = tile["drops"]
        s.fertilizer[position], s.pods[position] = tile.get("fertilizer", 0), tile.get("pod", 0)
        s.blooms[position] = tile.get("blooms", 1 if crop == Crop.PRIMROSE else 0)
        if "cloud" in tile:
            s.cloud_drops[position] = tile["cloud"].get("drops", 0)
            kind = Cloud.LIGHT if s.cloud_drops[position].sum() < GROWS_AT else Cloud.THUNDER
            s.cloud[position] = tile["cloud"]["kind"] + 1 if "kind" in tile["cloud"] else kind
        s.growing[position] = tile["growing"] if "growing" in tile else _growing(p, position)
    if Module.FERTILIZER in p.modules and FACE_DOWN not in laid.values():
        _fertilize(p, [position for position in sorted(laid) if "fertilizer" not in given.get(position, {})])


def _copies(p: _Position) -> np.ndarray:
    """The tiles of each crop from which the field is drawn, (number of crops,)."""
    return tiles_of_each_crop(p.config.players, "no_more_tricks" in p.config.variants, p.modules, p.tables[0])


def _laid(p: _Position, crops: Mapping[int, int]) -> dict[int, int]:
    """The crop of each position: the field is filled in reading order with the tiles left, in the order of `Crop`."""
    left = _copies(p)
    for crop in crops.values():
        left[crop] -= 1
    rest = np.repeat(np.arange(len(left)), np.maximum(left, 0)).tolist()
    free = [position for position in p.scope.field if position not in crops]
    if len(rest) < len(free):
        raise wrong("field", "there are not enough tiles left to fill it")
    return {**crops, **dict(zip(free, rest, strict=False))}


def _laid_in_solo(p: _Position, crops: Mapping[int, int]) -> dict[int, int]:
    """The same in solo: in ascending order of priority, with the lowest tiles that keep this order possible."""
    left = _copies(p)
    for crop in crops.values():
        if left[crop] == 0:
            raise ScenarioError(no_such_tile(1, crop, "no_more_tricks" in p.config.variants, p.modules))
    priorities = p.tables["solo_priority"][0]
    tiles = sorted(
        (int(priorities[crop, copy]), crop)
        for crop in range(priorities.shape[0])
        for copy in range(p.tables["copies"][0, crop])
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


def _growing(p: _Position, position: int) -> int:
    """The side of the growing token that the drops on a tile bring."""
    s, t = p.s, p.tables[0]
    crop, drops = s.crop[position], s.drops[position].sum()
    closed = crop == Crop.SNOWDROP and s.blooms[position] == 0
    if closed or drops < t["drops_to_grow"][max(0, crop)]:
        return Growing.NONE
    drowns = crop == Crop.CACTUS and drops >= t["drops_to_drown"]
    return Growing.DROWNED if drowns else int(FIRST_SIDE[crop])


def _fertilize(p: _Position, free: Sequence[int]) -> None:
    """Place the tokens that are not described, on the first free positions that leave room for all."""
    s = p.s
    number = int(p.tables["fertilizer_tokens"][0]) - int(s.fertilizer.sum())
    for more in combinations(free, max(0, number)):
        on_tile = s.fertilizer.astype(bool)
        on_tile[list(more)] = True
        beside = [tile for tile in np.flatnonzero(on_tile) for tile in NEIGHBOURS[tile] if tile != NO_TILE]
        if on_tile.sum() - s.fertilizer.sum() == len(more) and not on_tile[beside].any():
            s.fertilizer[list(more)] = 1
            return


def _control(p: _Position) -> None:
    """The Primrose is controlled by the player who alone has the most drops there."""
    there = p.s.drops[p.s.crop == Crop.PRIMROSE].sum(axis=0)
    leaders = np.flatnonzero((there > 0) & (there == there.max()))
    p.fill("controller", leaders[0] if len(leaders) == 1 else NOBODY)


# --- what fills the gaps: progress ------------------------------------------------------------------------------------


def _asked(p: _Position) -> None:
    """The decision, and the point of the timeline at which it is asked; the round and its phase."""
    s = p.s
    over = "phase" in p.given and s.phase == Phase.OVER
    p.fill("decision", Decision.GAME_OVER if over else Decision.TURN)
    p.fill("round", p.config.rounds if over else 1)
    cards = ASKED[Decision(s.decision)].forecasts
    p.fill("forecast", cards[0] if len(cards) == 1 else 0)
    p.fill("timing", usual_timing(p.array)[0])  # the phase follows from it
    p.fill("phase", _usual_phase(p))
    p.fill("timing", usual_timing(p.array)[0])  # and it from the phase: a drop is taken in an action, or for the Sun


def _usual_phase(p: _Position) -> int:
    s, phases = p.s, ASKED[Decision(p.s.decision)].phases
    if s.decision == Decision.DRAFT:
        return Phase.SETUP if s.round == 1 else Phase.CLEANUP
    if len(phases) == 1 and phases[0] not in (Phase.ACTION, Phase.WEATHER):
        return phases[0]
    if s.decision == Decision.FORECAST or s.forecast:
        return int(PHASE_OF_TIMING[s.timing])
    in_weather = Phase.ACTION not in phases or ("weather" in p.pending and s.weather >= 0)
    return Phase.WEATHER if in_weather else Phase.ACTION


def _round(p: _Position) -> None:
    """How far the round is: the Harvest, the First Player marker, who has passed, and turns."""
    s, players = p.s, p.config.players
    finished = s.decision == Decision.GAME_OVER and s.forfeited == NOBODY
    p.fill("harvested", finished or s.phase == Phase.HARVEST)
    p.fill("first_player", s.passed if players > 2 and s.passed != NOBODY else 0)  # who passes takes the marker
    has_ended = finished or s.decision == Decision.DISCARD or s.phase in (Phase.WEATHER, Phase.HARVEST, Phase.CLEANUP)
    p.fill("passed", s.first_player if has_ended else NOBODY)
    p.fill("turns", 0 if s.phase == Phase.SETUP else players)
    if "turn_index" in p.pending:
        turns = p.pending["turn_index"]
        # pods come after every player's turn with the Wind
        s.pod_turns = max(0, turns - players) if Module.FLOWER_TILES in p.modules else 0
        s.turn_index = turns - s.pod_turns


def _actor(p: _Position) -> None:
    """The actor and its place in the turn order. If only one is given, the other follows from it."""
    s, players, given = p.s, p.config.players, "actor" in p.given
    decision, first, actor = s.decision, s.first_player, s.actor
    order = int(turn_order(p.array)[0])
    in_weather = order == CLOCKWISE and s.phase == Phase.WEATHER
    offset = 1 if p.config.solo and in_weather else 0  # the neutral player comes first
    counted = "pod_turns" if decision == Decision.POD_TILE else "turn_index"
    if "turn_index" not in p.pending:
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
            actor = (first + s.timing_index) % players
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


# --- what fills the gaps: what players have ---------------------------------------------------------------------------


def _supplies(p: _Position) -> None:
    """The drops and votes that lie nowhere else are in their owners' supplies."""
    s, t, n = p.s, p.tables[0], p.config.owners
    on_field = (s.drops.astype(np.int64) + s.cloud_drops).sum(axis=0)
    on_board = s.votes.astype(np.int64).sum(axis=0)
    for what, place, there, total, supply in (
        ("drops", "on tiles and in clouds", on_field, t["drops"], s.supply),
        ("votes", "on weather spaces", on_board, t["votes"], s.vote_supply),
    ):
        for seat in np.flatnonzero(there > total):
            raise ScenarioError(f"{p.scope.owners[seat]} has {there[seat]} {what} {place}; a player has {total}")
        supply[:n] = total - there[:n]


def _dice(p: _Position) -> None:
    all_harvest = p.s.phase == Phase.HARVEST or is_face_down(p.array)[0]
    p.fill("dice", [HARVEST if all_harvest else 1] * DICE)


def _deck(p: _Position) -> None:
    """The cards that are nowhere else are in the deck; none are while the tiles lie face down."""
    s = p.s
    if "deck" in p.given or is_face_down(p.array)[0]:
        return
    known = (s.hand.astype(np.int64) + s.pack).sum(axis=0) + s.discards
    total = int(cards_of_a_kind(s.players, p.tables))
    for kind in np.flatnonzero(known > total):
        cards = f"{known[kind]} {WEATHER_NAMES[kind]} cards"
        raise ScenarioError(f"{cards} in hands, packs and discards; there are {total}")
    s.deck = total - known


def _powers(p: _Position) -> None:
    """The power of each player: the chosen one or, after they were dealt, the first of those that are left."""
    s, named = p.s, p.given.get("power", {})
    s.power = s.chosen_power
    if Module.POWERS in p.modules and not p.config.powers and s.phase != Phase.SETUP:
        left = (power for power in range(1, len(POWER_NAMES)) if power not in named.values())
        for seat in set(range(p.config.players)) - set(named):
            s.power[seat] = next(left, 0)
    for seat, power in named.items():
        s.power[seat] = power


def _forecasts(p: _Position) -> None:
    """The holders of the forecast cards. A player with fewer than three has played the others."""
    s = p.s
    if Module.FORECASTS not in p.modules:
        return

    def place(cards: Sequence[int], where: str, holder: int) -> None:
        for card in cards:
            if s.forecast_holder[card - 1] != NOBODY:
                raise wrong(where, f"forecast card {card} is named twice; there is one of each")
            s.forecast_holder[card - 1] = holder

    for seat, cards in p.given.get("forecasts", {}).items():
        place(cards, f"forecasts.{p.scope.agents[seat]}", seat)
    free = [card for card in range(1, NUM_FORECASTS + 1) if s.forecast_holder[card - 1] == NOBODY]
    at_work = (s.forecast, CARD_TO_COUNT_CLOUDS if s.counts_clouds.any() else 0)
    free.sort(key=lambda card: card not in at_work)
    played = 0 if s.phase == Phase.SETUP else DEALT * p.config.players - (NUM_FORECASTS - len(free))
    place(p.given.get("forecasts_played", free[: max(0, played)]), "forecasts_played", PLAYED)


# --- what fills the gaps: the effect that is carried out --------------------------------------------------------------


def _effect(p: _Position) -> None:
    """The current effect, from the decision: choices are at the first one, or after the target."""
    s, decision = p.s, Decision(p.s.decision)
    p.fill("card", CARD_OF[decision])
    window = is_window(s.decision, s.forecast)
    p.fill("weather", WEATHER_OF_TIMING.get(Timing(s.timing), -1) if window else WEATHER_OF[decision])
    if "target" in p.pending:
        target = p.pending["target"]
        if decision == Decision.MOVE_VOTE or target in WEATHER_NAMES:
            s.target_space = choice(target, "pending.target", WEATHER_NAMES, or_none=True)
        else:
            s.target = TileName().read(target, "pending.target", p.scope)
    for key, usual in _usual_effect(p, decision):
        p.fill(key, usual)


def _usual_effect(p: _Position, decision: Decision) -> Iterator[tuple[str, Any]]:
    s = p.s
    yield "timing_index", usual_timing_index(p.array)[0]
    if decision == Decision.DRAFT:
        yield "draft_step", 0
        yield "cards_left", PICKS[s.draft_step]
    elif decision == Decision.CHOOSE_WEATHER:
        yield "selected", _without_a_tie(s.votes.astype(np.int64).sum(axis=1))
    elif decision == Decision.PAY:
        yield "cards_left", full_price(p.array)[0]
    elif decision == Decision.DISCARD and s.actor != NOBODY:
        yield "cards_left", max(0, int(s.hand[s.actor].sum()) - HAND_LIMIT)
    elif decision in (Decision.POD_TILE, Decision.KEEP_DROP):
        yield "choices_left", CHOICES_OF[decision] - (s.target != NO_TILE)
    elif decision == Decision.FORECAST_DIRECTION:
        yield "target_owner", s.actor
    elif decision == Decision.FORECAST_DROP and s.forecast == CARD_TO_MOVE_UP:
        yield "choices_left", max(0, CHOICES_OF[decision] - int(s.chosen_drops.sum()))
        if s.chosen_drops.any():
            clockwise = (np.arange(MAX_PLAYERS) - s.actor) % s.owners
            yield "target_owner", np.where(s.chosen_drops > 0, clockwise, -1).argmax()


def _without_a_tie(votes: np.ndarray) -> np.ndarray:
    """The spaces, (NUM_KINDS,) of 0 and 1, that are selected before the first player must choose among tied ones."""
    selected = np.zeros(NUM_KINDS, np.int8)
    while selected.sum() < RESOLVED_SPACES:
        tied = (votes == votes[selected == 0].max()) & (selected == 0)
        if tied.sum() > RESOLVED_SPACES - selected.sum():
            break
        selected[tied] = 1
    return selected


def _southern_winds(p: _Position) -> None:
    """The cards that have been revealed, and the deck of all others; none is in it while the tiles lie face down."""
    if not p.config.solo:
        return
    s, winds = p.s, p.given.get("southern_winds", {})
    revealed = winds.get("revealed", [])
    s.winds_revealed = len(revealed)
    s.winds_deck = 0 if is_face_down(p.array)[0] else 1
    for i, card in enumerate(revealed):
        if "card" not in card:
            raise wrong(f"southern_winds.revealed[{i}].card", "missing; the number of a Southern Winds card")
        s.winds_card[i] = card["card"]
        s.winds_deck[s.winds_card[i] - 1] = 0
        s.winds_roll[i], s.winds_target[i] = card.get("roll", 0), card.get("target", NO_TILE)
    if "deck" in winds:
        s.winds_deck = np.isin(np.arange(len(s.winds_deck)) + 1, winds["deck"])


_STEPS: tuple[Callable[[_Position], None], ...] = (
    _tiles,  # first: what is laid needs only what is given; whether tiles lie face down is asked below
    _control,  # by the drops on the tiles
    _asked,  # the decision first: nearly all below follows from it. The timeline and the phase follow from each other
    _round,  # from the decision and the phase
    _actor,  # from the turn order, which needs the phase, the timeline, who is first, who has passed, and tokens
    _supplies,  # from drops on tiles and votes on spaces
    _dice,  # all show Harvest in that phase
    _deck,
    _powers,  # dealt after the setup, so the phase is known
    _forecasts,  # dealt after the setup; the card at work has been played, so the timeline is known
    _effect,  # from the decision and its actor, with the prices of powers, votes, and hands
    _southern_winds,
)
"""What fills the gaps of a description, in this order: each step may use what is given and what those before set."""


# --- describing a state -----------------------------------------------------------------------------------------------


def describe(state: State, components: str | Path | None = None) -> dict[str, Any]:
    """The whole state as plain, JSON-able data. `scenario(describe(state))` is the same state, byte for byte.

    Arguments:
        state: one record of dtype STATE, such as an element of `Batch.states` or a result of `scenario`.
        components: the overlay TOML file that the game is played with; None for the shipped numbers.

    Raises `StateError`, with the reason, if it is not a state of this game.
    """
    return descriptions.describe(Config().game, state, load_tables(components))


def described(s: State) -> dict[str, Any]:
    """The result of `describe` for a record that has been checked already."""
    return KEYS.describe(plain(s), scope_of(Config.of(s)))
