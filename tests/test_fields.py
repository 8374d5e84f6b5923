"""Keys that are declared once: reading, describing, the form and the checks of records agree."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tabletop_engine.described import forms
from tabletop_engine.described.fields import By, Fixed, Key, Listed, Marked, Name, Number, Switch, Table, counts, plain
from tabletop_engine.described.invariants import first_broken
from tabletop_engine.described.scenarios import ROOT
from tabletop_engine.errors import ScenarioError
from tabletop_engine.record import Record, array, blank_record, number

COLOURS, GOODS = ("red", "green"), ("wood", "stone", "gold")


class State(Record):
    players = number(np.int8, "")
    round = number(np.int8, "", 1)
    passed = number(np.int8, "", -1)
    step = number(np.int8, "", -1)
    open = number(np.int8, "")
    asked = array(np.int8, 3, "")
    colour = array(np.int8, 3, "", -1)
    stock = array(np.int8, (3, 3), "")
    paid = array(np.int8, (3, 3), "")


KEYS = Table(
    (
        Key("players", Fixed(lambda scope: scope.players)),
        Key("round", Number(1, lambda scope: 2 * scope.players)),
        Key("last", Number(1, 3, none=0), value=lambda s: s.round - 1, follows=True),
        Key("passed", Name("agents", none=True)),
        Key("step", Number(0, 2, none=-1)),
        Key("open", Switch(), refused=lambda scope: None if scope.players > 2 else "only with three players"),
        Key("asked", Marked("agents", shape=(3,))),
        Key("colours", By("agents", Name(COLOURS, absent=True), (3,), sparse=True), field="colour"),
        Key("stock", By("agents", counts(GOODS, 3), (3, 3), at="player")),
        Key("paid", By(GOODS, counts("agents", 3), (3, 3), axis=1, sparse=True, words=lambda good: f"Paid {good}")),
        Key("rounds", Listed(Number(1, 9), 2), value=lambda s: [s.round]),
    )
)


def scope(players: int) -> Any:
    return SimpleNamespace(players=players, agents=("a", "b", "c")[:players])


def state(players: int, **given: Any) -> np.ndarray:
    states = blank_record(State)
    states["players"] = players
    for name, value in given.items():
        states[name] = value
    return states


def broken(states: np.ndarray) -> str | None:
    """Why a state is refused; None if none is."""
    players = states["players"]
    found = first_broken(KEYS.check(states, SimpleNamespace(players=players, number_of={"agents": players})))
    return None if found is None else found[1]


WHOLE = {
    "players": 3,
    "round": 2,
    "last": 1,
    "passed": "b",
    "step": None,
    "open": True,
    "asked": ["a", "c"],
    "colours": {"b": "green"},
    "stock": {"a": {"gold": 2}, "b": {}, "c": {"wood": 1}},
    "paid": {"stone": {"c": 4}},
    "rounds": [2],
}


def test_what_is_read_is_described() -> None:
    """The values go to their fields and come back, in the order of the keys; the form takes them."""
    names = scope(3)
    given = KEYS.read(WHOLE, ROOT, names)
    assert "players" not in given and given["rounds"] == [2]
    states = state(3)
    KEYS.write(states[0], given)
    assert states["stock"][0].tolist() == [[0, 0, 2], [0, 0, 0], [1, 0, 0]]
    assert states["paid"][0].tolist() == [[0, 0, 0], [0, 0, 0], [0, 4, 0]]
    assert states["colour"][0].tolist() == [-1, 1, -1]
    described = KEYS.describe(plain(states[0]), names)
    assert described == WHOLE and list(described) == list(KEYS.names)
    forms.check(KEYS.form(names), described)
    assert broken(states) is None


def test_a_key_that_a_game_does_not_have() -> None:
    names = scope(2)
    with pytest.raises(ScenarioError, match=r"^open: only with three players$"):
        KEYS.refuse({"open": True}, names)
    assert "open" not in KEYS.form(names)["keys"]
    assert "open" not in KEYS.describe(plain(state(2)[0]), names)


def test_what_is_as_in_a_blank_record_is_left_out() -> None:
    table = Table(KEYS.keys[3:9], blank=plain(blank_record(State)[0]))
    assert table.describe(plain(state(3, passed=0, stock=np.eye(3))[0]), scope(3)) == {
        "passed": "a",
        "stock": {"a": {"wood": 1}, "b": {"stone": 1}, "c": {"gold": 1}},
    }


def test_forms_say_what_people_read() -> None:
    form = KEYS.form(scope(2))["keys"]
    assert form["round"] == {"kind": "number", "low": 1, "high": 4}
    assert form["last"] == {"kind": "number", "low": 1, "high": 3, "none": True, "follows": True}
    assert form["stock"]["keys"]["b"]["place"] == [["player", "b"]]
    assert form["paid"]["keys"]["gold"]["words"] == "Paid gold"
    assert form["paid"]["keys"]["gold"]["keys"]["a"] == {"kind": "number", "low": 0, "high": 127, "usual": 0}


@pytest.mark.parametrize(
    ("description", "reason"),
    [
        ({"round": 7}, "round: 7; allowed are 1 to 6"),
        ({"passed": "d"}, "passed: 'd'; allowed are a, b, c and null"),
        ({"colours": {"a": None}}, "colours.a: None; allowed are red, green"),
        ({"stock": {"a": {"gold": -1}}}, "stock.a.gold: -1; allowed are 0 to 127"),
        ({"paid": {"gold": {"d": 1}}}, "paid.gold: unknown key 'd'"),
        ({"asked": ["a", "a"]}, "asked: .* has a name twice"),
        ({"rounds": [1, 10]}, r"rounds\[1\]: 10; allowed are 1 to 9"),
        ({"else": 1}, "unknown key 'else'"),
    ],
)
def test_what_is_refused(description: dict[str, Any], reason: str) -> None:
    with pytest.raises(ScenarioError, match=reason):
        KEYS.read(description, ROOT, scope(3))


@pytest.mark.parametrize(
    ("field", "at", "value", "reason"),
    [
        ("round", (), 5, "round is 5; allowed are 1 to 4"),
        ("passed", (), 2, "passed is 2; allowed are -1 to 1"),
        ("step", (), -2, "step is -2; allowed are -1 to 2"),
        ("open", (), 2, "open is 2; allowed are 0 to 1"),
        ("asked", 1, 2, "asked is 2; allowed are 0 to 1"),
        ("asked", 2, 1, "asked holds something of seat 2, who isn't there"),
        ("colour", 0, 2, "colour is 2; allowed are -1 to 1"),
        ("colour", 2, 0, "colour holds something of seat 2, who isn't there"),
        ("stock", (0, 1), -1, "stock is -1; allowed are 0 to 127"),
        ("stock", (2, 1), 1, "stock holds something of seat 2, who isn't there"),
        ("paid", (2, 1), 1, "paid holds something of seat 2, who isn't there"),
    ],
)
def test_records_that_no_description_has(field: str, at: Any, value: int, reason: str) -> None:
    """Each is found among others, for which more is allowed."""
    states = np.concatenate([state(3), state(2), state(3)])
    assert broken(states) is None
    states[field][(1, *at) if isinstance(at, tuple) else (1, at)] = value
    assert broken(states) == reason
