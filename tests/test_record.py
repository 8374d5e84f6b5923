"""Records declared field by field: their dtype, blank values and tables, and what compiled code does with them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from petrichor_env.state import BLANK, STATE, State
from petrichor_env.tables import Tables
from tabletop_engine.compiling.compiled import kernel
from tabletop_engine.compiling.overwrite import overwrite
from tabletop_engine.record import FILLER, Record, array, blank_record, dtype_of, fields_of, number, record_table


class Game(Record):
    """A small record. `round` and `item` are also methods of NumPy's scalars."""

    passed = number(np.int8, "who passed, or -1", -1)
    item = number(np.int8, "what lies there")
    points = array(np.int16, (2,), "of both players")
    round = number(np.int16, "from 1", 1)
    rng = number(np.uint64, "the random stream")


GAME = dtype_of(Game)


def values(games: np.ndarray) -> list[list[Any]]:
    return [[np.asarray(value).tolist() for value in game] for game in games]


def test_large_numbers_come_first_so_that_no_byte_is_padding() -> None:
    assert GAME.names == ("rng", "points", "round", "passed", "item")
    assert GAME.itemsize == 16 == np.dtype(GAME.descr, align=True).itemsize
    assert np.dtype(GAME.descr) == GAME
    for record in (State, Tables):
        packed = dtype_of(record)
        assert (
            np.dtype(packed.descr, align=True).itemsize
            == packed.itemsize
            == sum(field.dtype.itemsize * int(np.prod(field.shape)) for field in fields_of(record))
        )
    assert STATE.itemsize % 8 == 0


def test_a_size_that_leaves_numbers_unaligned_in_an_array_is_filled_up() -> None:
    class Odd(Record):
        rng = number(np.uint64, "the random stream")
        points = array(np.int8, 5, "of each player")

    odd = dtype_of(Odd)
    assert odd.itemsize == 16 and odd.names == ("rng", "points", FILLER) and odd[FILLER].shape == (3,)


def test_fields_of_the_class_that_a_record_derives_from_come_first() -> None:
    class More(Game):
        stones = array(np.int64, 2, "of each player")

    assert [field.name for field in fields_of(More)] == [*(field.name for field in fields_of(Game)), "stones"]
    assert np.zeros(1, dtype_of(More))[0].stones.tolist() == [0, 0]


def test_blank_records_hold_what_was_declared() -> None:
    blank = blank_record(Game)
    assert blank.dtype == GAME and values(blank) == [[0, [0, 0], 1, -1, 0]]
    assert all((BLANK[field.name] == field.blank).all() for field in fields_of(State))


def test_fields_are_attributes() -> None:
    games = np.zeros(2, GAME)
    game = games[1]
    assert type(game) is Game
    game.round += 3
    game.points[0] = 7
    game.passed = -1
    assert values(games) == [[0, [0, 0], 0, 0, 0], [0, [7, 0], 3, -1, 0]]
    assert type(game.round) is int and type(game.rng) is np.uint64 and game.item == 0
    with pytest.raises(AttributeError):
        game.rounds = 2


@pytest.mark.parametrize("copied", [copy.deepcopy, np.copy, lambda games: pickle.loads(pickle.dumps(games))])
def test_copies_stay_records(copied: Any) -> None:
    games = blank_record(Game)
    other = copied(games)
    assert type(other[0]) is Game and other.tobytes() == games.tobytes()


@kernel
def _begin_anew(games: np.ndarray, blank: np.ndarray) -> None:
    for i in range(games.shape[0]):
        start = blank.copy()[0]
        start.rng = games[i].rng
        start.points = games[i].points
        overwrite(games[i], start)


def test_one_assignment_overwrites_a_record() -> None:
    games = np.zeros(3, GAME)
    games["rng"], games["item"], games["points"] = [1, 2, 2**64 - 1], 4, [5, -6]
    _begin_anew(games[:2], blank_record(Game))
    assert values(games) == [[1, [5, -6], 1, -1, 0], [2, [5, -6], 1, -1, 0], [2**64 - 1, [5, -6], 0, 0, 4]]


def test_the_table_of_a_record() -> None:
    assert record_table(Game) == [
        "| field | type | shape | blank | meaning |",
        "|---|---|---|---:|---|",
        "| `passed` | int8 |  | -1 | who passed, or -1 |",
        "| `item` | int8 |  | 0 | what lies there |",
        "| `points` | int16 | 2 | 0 | of both players |",
        "| `round` | int16 |  | 1 | from 1 |",
        "| `rng` | uint64 |  | 0 | the random stream |",
    ]
