"""The parts of games. Each is compared with the plain meaning of its docstring."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import pydoc
from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from tabletop_engine import parts
from tabletop_engine.legal import is_legal
from tabletop_engine.parts import auctions, boards, decks, sets, slots, tracks, turns
from tabletop_engine.record import NOBODY
from tests.games.gem_market import STATE


def record(players: int = 4, seed: int = 0) -> Any:
    """A record with players and a random stream."""
    one = np.zeros(1, STATE)[0]
    one.players, one.rng = players, np.uint64(seed)
    return one


def members(things: np.uint64) -> list[int]:
    return [thing for thing in range(64) if int(things) >> thing & 1]


def set_of(*things: int) -> np.uint64:
    return np.uint64(sum(1 << thing for thing in things))


# --- Sets ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("things", [(0,), (63,), (0, 63), (5, 17, 40), tuple(range(64))])
def test_sets(things: tuple[int, ...]) -> None:
    one = set_of(*things)
    assert sets.first_of(one) == things[0]
    assert members(sets.without_first(one)) == list(things[1:])
    assert [sets.nth_of(one, n) for n in range(len(things) + 1)] == [*things, -1]
    assert members(sets.only(things[-1])) == [things[-1]]
    assert members(sets.later_than(things[0])) == list(range(things[0] + 1, 64))
    s, out = record(), np.zeros(70, np.int16)
    sets.allow_each(s, 7, one)
    assert [action for action in range(72) if is_legal(s, action)] == [7 + thing for thing in things]
    sets.write_ones(one, out, 5)
    assert np.flatnonzero(out).tolist() == [5 + thing for thing in things] and out.max() == 1


def test_a_random_thing_of_a_set() -> None:
    s, things = record(), (3, 20, 41, 63)
    drawn = Counter(sets.random_of(s, set_of(*things)) for _ in range(4000))
    assert set(drawn) == set(things) and chisquare(list(drawn.values())).pvalue > 1e-4
    assert sets.random_of(s, sets.EMPTY) == -1


# --- Decks and slots -------------------------------------------------------------------------------------------------


def deck_with(*cards: int, room: int = 6) -> np.ndarray:
    deck = np.full(decks.deck_of(room), 99, np.int8)
    decks.clear_deck(deck)
    for card in cards:
        decks.put_on_top(deck, card)
    return deck


def test_an_ordered_deck() -> None:
    deck = deck_with(4, 8, 6)
    assert decks.cards_left(deck) == 3
    assert [decks.draw_top(deck) for _ in range(4)] == [6, 8, 4, -1]
    decks.put_on_top(deck, 5)
    assert decks.draw_top(deck) == 5 and decks.cards_left(deck) == 0


def test_every_order_of_a_deck_is_as_likely() -> None:
    s = record()
    orders: Counter[tuple[int, ...]] = Counter()
    for _ in range(24 * 200):
        deck = deck_with(1, 2, 3, 4)
        decks.shuffle(s, deck)
        orders[tuple(decks.draw_top(deck) for _ in range(4))] += 1
    assert set(orders) == set(permutations((1, 2, 3, 4)))
    assert chisquare(list(orders.values())).pvalue > 1e-4


def test_an_empty_deck_is_made_of_the_discards() -> None:
    s, deck, discards = record(), np.array([1, 0], np.int8), np.array([0, 2], np.int8)
    assert [decks.draw_or_reshuffle(s, deck, discards) for _ in range(4)] == [0, 1, 1, -1]
    assert not deck.any() and not discards.any()


def test_slots_of_a_market() -> None:
    market, deck = np.array([-1, 7, -1, -1], np.int8), deck_with(2, 3)
    assert (slots.first_filled(market), slots.first_empty(market)) == (1, 0)
    slots.refill(market, deck)
    assert market.tolist() == [3, 7, 2, -1]
    assert slots.take_card(market, 1) == 7 and market.tolist() == [3, -1, 2, -1]
    slots.clear_slots(market)
    assert (slots.first_filled(market), slots.first_empty(market)) == (slots.NO_SLOT, 0)
    assert slots.first_empty(np.zeros(2, np.int8)) == slots.NO_SLOT


# --- Turns, auctions, tracks -----------------------------------------------------------------------------------------


def test_turn_order() -> None:
    s = record(players=3)
    s.actor = 2
    assert (turns.next_seat(s), turns.seat_after(s, 1, 4)) == (0, 2)
    passed = np.array([1, 0, 1, 0], np.int8)  # the fourth seat has no player, so it is not read
    assert [turns.next_with(s, first, passed, 0) for first in (0, 1, 2, 3)] == [1, 1, 1, 1]
    passed[1] = 1
    assert turns.next_with(s, 0, passed, 0) == NOBODY


def test_choices_are_taken_back_and_put_in_order() -> None:
    s, order = record(players=4), np.zeros(4, np.int8)
    turns.write_order(s, np.array([5, 2, 5, 1], np.int8), order)
    assert order.tolist() == [3, 1, 0, 2]
    chosen = np.array([4, 6, turns.NOT_CHOSEN, 2], np.int8)
    turns.take_back_choices(s, chosen, 1)
    assert chosen.tolist() == [-1, 6, -1, -1]


def test_an_auction() -> None:
    s, bids, passed = record(players=3), np.full(4, 9, np.int8), np.ones(4, np.int8)
    auctions.begin_auction(s, bids, passed)
    assert auctions.highest_bid(s, bids) == 0 and auctions.count_bidders(s, passed) == 3
    bids[1] = 3
    s.actor = 1
    auctions.allow_bids(s, 10, bids, 6)
    assert [action for action in range(72) if is_legal(s, action)] == [14, 15, 16]
    passed[2] = 1
    assert auctions.next_bidder(s, passed) == 0 and auctions.count_bidders(s, passed) == 2
    passed[0] = 1
    assert auctions.next_bidder(s, passed) == 1


def test_a_track_ends() -> None:
    track = np.array([3, 0], np.int8)
    assert tracks.advance(track, 0, 4, 9) == 7 and tracks.advance(track, 0, 4, 9) == 9
    assert track.tolist() == [9, 0]


# --- Boards ----------------------------------------------------------------------------------------------------------

SQUARE_WAYS = ((0, 1), (1, 0), (0, -1), (-1, 0))
HEX_WAYS = (*SQUARE_WAYS, (-1, 1), (1, -1))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 9), (9, 1), (3, 4), (8, 8), (7, 7)])
@pytest.mark.parametrize(("make", "ways"), [(boards.square_board, SQUARE_WAYS), (boards.hex_board, HEX_WAYS)])
def test_boards(rows: int, columns: int, make: Any, ways: tuple[tuple[int, int], ...]) -> None:
    """Neighbours, connected areas and the largest area, compared with a plain search."""
    board, random = make(rows, columns), np.random.default_rng(rows * columns)
    assert members(board.spaces) == list(range(rows * columns))

    def neighbours(space: int) -> set[int]:
        row, column = divmod(space, columns)
        there = ((row + down, column + right) for down, right in ways)
        return {columns * y + x for y, x in there if 0 <= y < rows and 0 <= x < columns}

    def area_of(space: int, inside: set[int]) -> set[int]:
        area, left = {space}, [space]
        while left:
            new = (neighbours(left.pop()) & inside) - area
            area |= new
            left += new
        return area

    for density in (0.2, 0.5, 0.7, 1.0):
        inside = {int(space) for space in np.flatnonzero(random.random(rows * columns) < density)}
        chosen = set_of(*inside)
        assert set(members(boards.beside(chosen, board))) == set().union(*map(neighbours, inside))
        areas = [area_of(space, inside) for space in sorted(inside)]
        for space, area in zip(sorted(inside), areas, strict=True):
            assert set(members(boards.connected(sets.only(space), chosen, board))) == area
        largest = set(members(boards.largest_area(chosen, board)))
        assert largest == (max(areas, key=len) if areas else set())  # the first of equal ones, as in `max`
    outside = boards.connected(board.spaces, sets.EMPTY, board)
    assert outside == sets.EMPTY


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (3, 0), (-1, -1), (5, 13), (65, 1)])
def test_boards_that_do_not_fit(rows: int, columns: int) -> None:
    with pytest.raises(ValueError, match="1 to 64 spaces"):
        boards.square_board(rows, columns)


@pytest.mark.parametrize("made", [boards.square_neighbours, boards.hex_neighbours])
def test_areas_on_a_large_board(made: Any) -> None:
    """Each area is what one reaches step by step, and its liberties are the empty spaces next to it."""
    rows, columns = 11, 13
    neighbours = made(rows, columns)
    beside = [{int(other) for other in one if other != boards.NO_SPACE} for one in neighbours]
    assert all(space in beside[other] for space in range(rows * columns) for other in beside[space])
    assert max(map(len, beside)) == neighbours.shape[1]
    small = boards.square_board(5, 6) if made is boards.square_neighbours else boards.hex_board(5, 6)
    for space, others in enumerate(made(5, 6)):
        assert members(boards.beside(set_of(space), small)) == sorted(set(others.tolist()) - {boards.NO_SPACE})
    contents = np.random.default_rng(1).integers(0, 3, rows * columns).astype(np.int8)
    for start in range(rows * columns):
        reached = {start}
        while more := {b for a in reached for b in beside[a] if contents[b] == contents[start]} - reached:
            reached |= more
        area = np.zeros(rows * columns, np.int8)
        assert boards.mark_area(contents, start, neighbours, area) == len(reached)
        assert set(np.flatnonzero(area).tolist()) == reached
        empty = {b for a in reached for b in beside[a] if contents[b] == 2} - reached
        assert boards.count_beside(contents, area, 2, neighbours) == len(empty)


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(parts.__path__)])
def test_help_names_all_arguments(name: str) -> None:
    module = importlib.import_module(f"{parts.__name__}.{name}")
    own = [one for one in vars(module).values() if inspect.isroutine(one) and one.__module__ == module.__name__]
    public = [one for one in own if not one.__name__.startswith("_")]
    assert public
    for part in public:
        told = pydoc.plain(pydoc.render_doc(part))
        assert f"{part.__name__}(" in told
        assert all(f"`{argument}`" in told for argument in inspect.signature(part).parameters), told
