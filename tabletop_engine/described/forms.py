"""Forms: what a description of a position may hold, as plain data, for pages and programs that edit one.

`Game.form(state)` returns one form for each key of a description (`tabletop_engine.described.scenarios` reads such
values):

    {"kind": "number", "low": 0, "high": 20}             a whole number
    {"kind": "switch"}                                   true or false
    {"kind": "choice", "names": ["frost", "sun"], "none": false}
    {"kind": "names", "names": ["player_0"]}             a list of some of the names, each at most once
    {"kind": "list", "of": form, "longest": 5}
    {"kind": "table", "keys": {"frost": form}}           any of the keys may be left out
    {"kind": "fixed", "value": 2}                        only this value: a switch of this game

`"none": true` also allows null. `"shortest"` is the least number of entries of a list. `"place"` is the value's place
on the board, as in `tabletop_engine.game.Drawing.places`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tabletop_engine.described.scenarios import ROOT, a_list, integer, mapping, names_listed, wrong
from tabletop_engine.described.scenarios import switch as read_switch

Form = dict[str, Any]


def number(low: int, high: int, none: bool = False) -> Form:
    """The form of a whole number from `low` to `high`."""
    return {"kind": "number", "low": low, "high": high, **({"none": True} if none else {})}


def switch() -> Form:
    """The form of true or false."""
    return {"kind": "switch"}


def choice(names: Sequence[str | int], none: bool = False) -> Form:
    """The form of one of the names."""
    return {"kind": "choice", "names": list(names), "none": none}


def names(names: Sequence[str]) -> Form:
    """The form of a list of some of the names, each at most once."""
    return {"kind": "names", "names": list(names)}


def listing(of: Form, longest: int, shortest: int = 0) -> Form:
    """The form of a list with `shortest` to `longest` entries, all of the form `of`."""
    return {"kind": "list", "of": of, "longest": longest, **({"shortest": shortest} if shortest else {})}


def table(keys: Mapping[str, Form]) -> Form:
    """The form of a table with any of these keys."""
    return {"kind": "table", "keys": dict(keys)}


def fixed(value: Any) -> Form:
    """The form of a value that can't be changed."""
    return {"kind": "fixed", "value": value}


def at(form: Form, *place: tuple[str, str]) -> Form:
    """The form with its place on the board: names and values of elements, the outermost first."""
    return {**form, "place": [list(element) for element in place]}


def check(form: Form, value: Any, where: str = ROOT) -> None:
    """Raise ScenarioError for the first value that doesn't fit its form."""
    kind = form["kind"]
    if value is None and form.get("none"):
        return
    if kind == "number":
        integer(value, where, form["low"], form["high"])
    elif kind == "switch":
        read_switch(value, where)
    elif kind == "choice":
        if not any(value == name and type(value) is type(name) for name in form["names"]):
            raise wrong(where, f"{value!r}; allowed are {', '.join(map(str, form['names']))}")
    elif kind == "names":
        names_listed(value, where, form["names"], len(form["names"]))
    elif kind == "list":
        for i, entry in enumerate(a_list(value, where, form["longest"])):
            check(form["of"], entry, f"{where}[{i}]")
        if len(value) < form.get("shortest", 0):
            raise wrong(where, f"{value!r} is not a list of at least {form['shortest']} entries")
    elif kind == "table":
        for key, entry in mapping(value, where, list(form["keys"])).items():
            check(form["keys"][key], entry, key if where == ROOT else f"{where}.{key}")
    elif value != form["value"]:
        raise wrong(where, f"{value!r}; this game has {form['value']!r}")
