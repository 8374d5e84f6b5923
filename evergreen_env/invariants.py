"""Checks of what is true in every state of a game: the places of cards and pieces, and fields that belong together.

`check` tests saved states and scenarios; the tests use it on every state of random games. The checks work on arrays of
records, so that a thousand games are checked together.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from evergreen_env.drawing.decisions import ASKED
from evergreen_env.keys import KEYS, PENDING
from evergreen_env.rules.planet import PLANET
from evergreen_env.state import (
    CARD_NAMES,
    DECISION_NAMES,
    MAX_MARKET,
    MAX_PLAYERS,
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
    PLACES,
    SEASON_NAMES,
    WILD,
    Decision,
    Piece,
    Power,
)
from evergreen_env.tables import WildFertility
from evergreen_env.words import PLANET_FIELDS, SHOWN_FIELDS
from tabletop_engine.described.fields import out_of_range
from tabletop_engine.described.invariants import Check, among, breaks, write_legal
from tabletop_engine.game import Game
from tabletop_engine.parts.boards import beside

_BITS = np.uint64(1) << np.arange(NUM_CARDS, dtype=np.uint64)
_SEATS = np.arange(MAX_PLAYERS)
_BIOMES = np.arange(NUM_CARDS) // NUM_POWERS
_ALL = np.uint64((1 << PLACES) - 1)
_COUNTERS = ("plants_left", "growths_left", "uses_left")


def all_checks(game: Game, s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """The checks of states, (N,), in order: each may rely on those before it. They recompute the legal actions."""
    t = tables[0]
    yield from _broken_switches(s, t)
    yield from _broken_progress(s, t)
    yield from _broken_cards(s, t)
    yield from _broken_draft(s)
    yield from _broken_zone(s, t)
    yield from _broken_planets(s, t)
    yield from _broken_points(s)
    yield from _broken_turns(s, t)
    yield from _broken_effect(s)
    write_legal(game, s, tables)
    choices = np.bitwise_count(s["legal"]).sum(axis=1)
    fewest = np.where(s["decision"] == Decision.GAME_OVER, 0, 2)
    yield breaks(choices < fewest, lambda i: f"{_asked(s, i)} doesn't fit: there is no choice")


def _asked(s: np.ndarray, i: int) -> str:
    """The pending decision in words, such as `decision 'turn'`."""
    return f"decision {DECISION_NAMES[s['decision'][i]]!r}"


def _is_drafting(s: np.ndarray) -> np.ndarray:
    return np.asarray(s["decision"] == Decision.DRAFT)


def _is_over(s: np.ndarray) -> np.ndarray:
    return np.asarray(s["decision"] == Decision.GAME_OVER)


def _in_turns(s: np.ndarray) -> np.ndarray:
    return ~_is_drafting(s) & ~_is_over(s)


def _is_finished(s: np.ndarray) -> np.ndarray:
    """Whether the game is over, and not by a forfeit, which stops a game anywhere."""
    return _is_over(s) & (s["forfeited"] == NOBODY)


def _plays(s: np.ndarray) -> np.ndarray:
    """(N, MAX_PLAYERS) bool: whether the seat has a player."""
    return s["players"][:, None] > _SEATS


# --- Switches and progress -------------------------------------------------------------------------------------------


def _broken_switches(s: np.ndarray, t: Any) -> Iterator[Check]:
    players = s["players"]
    yield breaks((players < 1) | (players > MAX_PLAYERS), lambda i: f"players is {players[i]}; allowed are 1 to 4")
    yield breaks(s["owners"] != players, lambda i: f"owners is {s['owners'][i]} with {players[i]} players")
    rounds = int(t["season_rounds"].sum())
    yield breaks(s["rounds"] != rounds, lambda i: f"rounds is {s['rounds'][i]}, the flags say {rounds}")
    yield breaks(s["outline"] != t["outline"], "the planets don't have the spaces of the board")


def _broken_progress(s: np.ndarray, t: Any) -> Iterator[Check]:
    scope = SimpleNamespace(players=s["players"], rounds=s["rounds"], number_of={"agents": s["players"]})
    yield from KEYS.check(s, scope)
    yield from PENDING.check(s, scope)
    over = _is_over(s)
    yield breaks(
        over != (s["actor"] == NOBODY), lambda i: f"{_asked(s, i)} of {'nobody' if s['actor'][i] < 0 else 'somebody'}"
    )
    yield breaks(~over & (s["forfeited"] != NOBODY), lambda i: f"{_asked(s, i)} in a game that was forfeited")
    bad = _is_finished(s) & (s["round"] != s["rounds"])
    yield breaks(bad, lambda i: f"over in round {s['round'][i]} of {s['rounds'][i]}")
    season = np.searchsorted(np.cumsum(t["season_rounds"]), s["round"])
    bad = s["season"] != season
    yield breaks(bad, lambda i: f"round {s['round'][i]} is in {SEASON_NAMES[season[i]]}, season is {s['season'][i]}")
    sun = (t["sun_start"] + season) % NUM_SUNS
    yield breaks(s["sun"] != sun, lambda i: f"sun is {s['sun'][i]} in {SEASON_NAMES[season[i]]}, not {sun[i]}")


# --- Cards -----------------------------------------------------------------------------------------------------------


def _broken_cards(s: np.ndarray, t: Any) -> Iterator[Check]:
    """Every card of the deck is in exactly one place."""
    n = len(s)
    for name in ("market", "zone"):
        bad = (s[name] < NO_CARD) | (s[name] >= NUM_CARDS)
        yield breaks(bad, lambda i, j, name=name: f"{name} has {s[name][i, j]}; a card is 0 to {NUM_CARDS - 1}")
    size = s["zone_size"]
    yield breaks((size < 0) | (size > NUM_CARDS), lambda i: f"zone_size is {size[i]}")
    filled = np.arange(NUM_CARDS) < size[:, None]
    yield breaks(filled != (s["zone"] != NO_CARD), lambda i, j: f"zone_size is {size[i]}, zone[{j}] doesn't fit")
    where = np.zeros((n, NUM_CARDS), np.int64)
    games = np.arange(n)
    for name in ("market", "card", "zone"):
        for column in range(s[name].shape[1]):
            cards = s[name][:, column]
            there = cards != NO_CARD
            np.add.at(where, (games[there], cards[there]), 1)
    for name in ("deck", "discards", "collected"):
        where += (s[name][:, None] & _BITS != 0).astype(np.int64)
        yield breaks(s[name] >> np.uint64(NUM_CARDS) != 0, f"{name} has a card that does not exist")
    owned = (np.uint64(t["cards"]) & _BITS != 0).astype(np.int64)

    def misplaced(i: int, card: int) -> str:
        return f"the card {CARD_NAMES[card]} is in {where[i, card]} places; there is {'one' if owned[card] else 'none'}"

    yield breaks(where != owned, misplaced)


def _broken_draft(s: np.ndarray) -> Iterator[Check]:
    """The cards of players, the cards in the market, and the place of the marker."""
    players, first = s["players"].astype(np.int64), s["first_player"].astype(np.int64)
    drafting, held, lies = _is_drafting(s), s["card"] != NO_CARD, s["market"] != NO_CARD
    yield breaks(~_plays(s) & held, lambda i, seat: f"player_{seat} has a card and does not play")
    order = (_SEATS - first[:, None]) % players[:, None]
    turn = (s["actor"] - first) % players
    expected = _plays(s) & np.where(drafting[:, None], order < turn[:, None], _in_turns(s)[:, None])
    stopped = _is_over(s) & ~_is_finished(s)
    yield breaks(
        ~stopped[:, None] & (held != expected),
        lambda i, seat: f"player_{seat} has {'a' if held[i, seat] else 'no'} card in {_asked(s, i)}",
    )
    number = np.where(drafting, players + 1 - held.sum(axis=1), 0)
    yield breaks(
        ~stopped & (lies.sum(axis=1) != number), lambda i: f"the market has {lies[i].sum()} cards, not {number[i]}"
    )
    yield breaks(lies & (np.arange(MAX_MARKET) > players[:, None]), lambda i, slot: f"a card in slot {slot + 1}")
    marker, next_first = s["marker"], s["next_first"]
    yield breaks((marker < NO_SLOT) | (marker >= MAX_MARKET), lambda i: f"marker is {marker[i]}: no such slot")
    leftmost = np.where(lies.any(axis=1), lies.argmax(axis=1), NO_SLOT)
    begun = held.any(axis=1) & (players > 1)
    taken = next_first != NOBODY
    wanted = np.where(drafting & begun & ~taken, leftmost, NO_SLOT)
    yield breaks(~stopped & (marker != wanted), lambda i: f"the marker is in slot {marker[i] + 1}, not {wanted[i] + 1}")
    taker = np.where(taken, next_first, 0)
    bad = taken & ((players == 1) | (next_first == first) | (~held[np.arange(len(s)), taker] & ~_is_over(s)))
    yield breaks(bad, lambda i: f"player_{next_first[i]} can't have taken the marked card")


def _broken_zone(s: np.ndarray, t: Any) -> Iterator[Check]:
    in_zone = (s["zone"][:, :, None] == np.arange(NUM_CARDS)).any(axis=1)
    has_pile = (_BIOMES != WILD) | (t["wild_fertility"] != WildFertility.DISCARD)
    fits = ((t["flowers"] > 0) | (t["skulls"] > 0)) & has_pile
    yield breaks(in_zone & ~fits, lambda i, card: f"the card {CARD_NAMES[card]} can't be in the fertility zone")
    flipped = s["face_down"][:, None] & _BITS != 0
    bad = flipped & ~(in_zone & (t["flowers"] > 0))
    yield breaks(bad, lambda i, card: f"the card {CARD_NAMES[card]} can't lie face down in the zone")
    yield breaks(s["face_down"] >> np.uint64(NUM_CARDS) != 0, "face_down has a card that does not exist")
    flowers = np.where(in_zone & ~flipped, t["flowers"], 0)
    piles = np.stack([flowers[:, pile == _BIOMES].sum(axis=1) for pile in range(NUM_PILES)], axis=1)
    shared = piles[:, WILD:] if t["wild_fertility"] == WildFertility.ALL_BIOMES else 0
    fertility = piles[:, :NUM_BIOMES] + shared
    yield breaks(
        s["fertility"] != fertility, lambda i, b: f"fertility is {s['fertility'][i, b]}, the zone has {fertility[i, b]}"
    )
    waiting = waiting_flips(s, t)
    wrong = (s["waiting_flips"] != waiting) | (waiting < 0)
    yield breaks(wrong, lambda i, pile: f"waiting_flips is {s['waiting_flips'][i, pile]}, not {waiting[i, pile]}")


def waiting_flips(s: np.ndarray, t: Any) -> np.ndarray:
    """(N, NUM_PILES): the flips of all aridities in a pile, minus the number of cards that lie face down there."""
    if not t["aridity_waits"]:
        return np.zeros((len(s), NUM_PILES), np.int64)
    in_zone = (s["zone"][:, :, None] == np.arange(NUM_CARDS)).any(axis=1)
    flips = np.where(in_zone, t["skulls"] if t["skulls_count"] else np.minimum(t["skulls"], 1), 0)
    open_flips = flips - (s["face_down"][:, None] & _BITS != 0)
    return np.stack([open_flips[:, pile == _BIOMES].sum(axis=1) for pile in range(NUM_PILES)], axis=1)


# --- Planets and points ----------------------------------------------------------------------------------------------


def _broken_planets(s: np.ndarray, t: Any) -> Iterator[Check]:
    ground = t["outline"] & ~t["ravines"]
    allowed = (ground, ground, ground, t["bush_ground"], t["lake_ground"])
    for fields in (PLANET_FIELDS, SHOWN_FIELDS):
        occupied = np.zeros((len(s), MAX_PLAYERS), np.uint64)
        for piece, name in enumerate(fields):
            there, word = s[name], PIECE_NAMES[piece].replace("_", " ")
            wrong = there & ~np.uint64(allowed[piece])
            yield breaks(wrong != 0, lambda i, seat, w=wrong, word=word: f"no {word} can stand on {_first(w[i, seat])}")
            wrong = there & occupied
            yield breaks(wrong != 0, lambda i, seat, w=wrong: f"{_first(w[i, seat])} of player_{seat} has two things")
            occupied |= there
            many = np.bitwise_count(there) > t["supply"][piece]
            words = name.removeprefix("shown_").replace("_", " ")
            yield breaks(many, lambda i, seat, words=words: f"player_{seat} has more {words} than the supply")
        yield breaks(~_plays(s) & (occupied != 0), lambda i, seat: f"player_{seat} has a planet and does not play")


def _first(spaces: np.uint64) -> str:
    """The name of the first space of a set. Bits outside the grid have no name."""
    place = (int(spaces) & -int(spaces)).bit_length() - 1
    return PLACE_NAMES[place] if place < PLACES else f"place {place}"


def _broken_points(s: np.ndarray) -> Iterator[Check]:
    total = s["scored"].astype(np.int64).sum(axis=2)
    bad = s["points"] != total
    yield breaks(bad, lambda i, seat: f"points of player_{seat} are {s['points'][i, seat]}, by source {total[i, seat]}")
    yield breaks(~_plays(s) & (s["points"] != 0), lambda i, seat: f"player_{seat} has points and does not play")


# --- Turns -----------------------------------------------------------------------------------------------------------


def _broken_turns(s: np.ndarray, t: Any) -> Iterator[Check]:
    """The turns of players that are not shown yet."""
    turns, actor = _in_turns(s), s["actor"]
    stopped = _is_over(s) & ~_is_finished(s)
    finished = s["finished"]
    acts = actor[:, None] == _SEATS
    bad = (finished == 1) & ~(_plays(s) & (turns | stopped)[:, None] & ~acts)
    yield breaks(bad, lambda i, seat: f"player_{seat} can't have finished a turn in {_asked(s, i)}")
    may_differ = (acts & turns[:, None]) | (finished == 1) | stopped[:, None]
    for own, shown in zip(PLANET_FIELDS, SHOWN_FIELDS, strict=True):
        differs = ~may_differ & (s[own] != s[shown])
        yield breaks(differs, lambda i, seat, own=own: f"{own} of player_{seat} should be shown already")
    for piece in (Piece.BUSH, Piece.LAKE):
        gone = s[SHOWN_FIELDS[piece]] & ~s[PLANET_FIELDS[piece]]
        yield breaks(
            gone != 0, lambda i, seat, g=gone: f"{_first(g[i, seat])} of player_{seat} has lost what stood there"
        )
    level, shown_level = s["level"].astype(np.int64), s["shown_level"].astype(np.int64)
    most = np.minimum(s["rounds"].astype(np.int64), t["power_cap"])  # a level rises once in a round at most
    bad = (level < 0) | (level > most[:, None, None])
    yield breaks(bad, lambda i, seat, p: f"level {level[i, seat, p]} of a power; allowed are 0 to {most[i]}")
    raised = level - shown_level
    power = np.where(s["card"] == NO_CARD, -1, s["card"] % NUM_POWERS)
    is_power = np.arange(NUM_POWERS) == power[:, :, None]
    bad = (raised != 0) & ~((raised == 1) & is_power & may_differ[:, :, None])
    yield breaks(bad, lambda i, seat, p: f"player_{seat} can't have raised a power from {shown_level[i, seat, p]}")
    earned, buds = s["earned"], level[:, :, Power.BUDS]
    by_buds = buds * buds if t["buds_score_each_use"] else buds
    allowed = (earned == 0) | ((power == Power.BUDS) & (earned == by_buds) & may_differ)
    yield breaks(~allowed, lambda i, seat: f"player_{seat} can't have earned {earned[i, seat]} points in this round")


def _broken_effect(s: np.ndarray) -> Iterator[Check]:
    """The turn of the actor: the parts that are still open, and what is left of the current one."""
    decision = s["decision"]
    yield out_of_range(s, "begun", 0, 1)
    stopped = _is_over(s) & ~_is_finished(s)
    idle = ~_in_turns(s) & ~stopped
    for name in ("action_open", "power_open", "begun", *_COUNTERS, "open_spaces"):
        bad = (idle | (decision == Decision.TURN) & (name not in ("action_open", "power_open"))) & (s[name] != 0)
        yield breaks(bad, lambda i, name=name: f"{name} is not 0 in {_asked(s, i)}")
    yield breaks(s["open_spaces"] & ~_ALL != 0, "open_spaces has a space that does not exist")
    bad = (decision == Decision.TURN) & (s["action_open"] + s["power_open"] == 0)
    yield breaks(bad, "a turn in which nothing is open")
    in_power, in_action = (
        among(decision, [one for one, row in ASKED.items() if row.part == part]) for part in ("power", "action")
    )
    yield breaks(in_action & (s["action_open"] == 1), lambda i: f"the action is open in {_asked(s, i)}")
    yield breaks(in_power & (s["power_open"] == 1), lambda i: f"the power is open in {_asked(s, i)}")
    yield breaks((s["begun"] == 1) & ~(in_action | stopped), lambda i: f"begun in {_asked(s, i)}")
    plants, growths, uses = (s[name].astype(np.int64) for name in _COUNTERS)
    for one, row in ASKED.items():
        asked, (most_plants, most_growths) = (decision == one) & (row.part != ""), row.left
        bad = (plants > most_plants) | (growths > most_growths)
        yield breaks(asked & bad, lambda i: f"{plants[i]} sprouts and {growths[i]} growths left in {_asked(s, i)}")
        if row.left != (0, 0):
            yield breaks(asked & (plants + growths == 0), lambda i: f"nothing left to do in {_asked(s, i)}")
            whole = plants + growths == most_plants + most_growths
            bad = asked & (one != Decision.LAKE) & (whole == (s["begun"] == 1))
            yield breaks(bad, lambda i: f"begun is {s['begun'][i]} with {plants[i]} sprouts, {growths[i]} growths left")
    actor = np.maximum(s["actor"], 0)
    games = np.arange(len(s))
    card = s["card"][games, actor].astype(np.int64)
    power = np.where(card == NO_CARD, Power.BUDS, card % NUM_POWERS)
    level = s["level"][games, actor, power]
    bad = in_power & ((power == Power.BUDS) | ((decision == Decision.LAKE) & (power != Power.LAKE)))
    yield breaks(bad, lambda i: f"{_asked(s, i)} with the card {CARD_NAMES[card[i]]}")
    at_lake = decision == Decision.LAKE
    by_lake = _beside(np.where(at_lake, s["lakes"][games, actor], 0))
    bad = at_lake & (s["open_spaces"] & ~by_lake != 0)
    yield breaks(bad, lambda i: f"{_first(s['open_spaces'][i] & ~by_lake[i])} is beside no lake")
    fewest = np.where(decision == Decision.POWER, 1, 0)
    most = np.where(decision == Decision.LAKE, level - 1, np.where(decision == Decision.POWER, level, 0))
    bad = ~stopped & ((uses < fewest) | (uses > most))
    yield breaks(bad, lambda i: f"{uses[i]} uses left of a power at level {level[i]} in {_asked(s, i)}")


def _beside(spaces: np.ndarray) -> np.ndarray:
    """The spaces that are orthogonally adjacent to one of the spaces, for an array of sets."""
    different, where = np.unique(spaces, return_inverse=True)
    return np.array([int(beside(one, PLANET)) for one in different], np.uint64)[where]
