"""What may stand in a described position, as plain data: for pages and programs that ask for one value at a time.

A game's `form(state)` is made of these, one for each key of a description (`tabletop.scenarios` reads such values):

    {"kind": "number", "low": 0, "high": 20}             a whole number
    {"kind": "switch"}                                   true or false
    {"kind": "choice", "names": ["frost", "sun"], "none": false}
    {"kind": "names", "names": ["player_0"]}             a list of some of the names, each at most once
    {"kind": "list", "of": form, "longest": 5}
    {"kind": "table", "keys": {"frost": form}}           any of the keys may be left out
    {"kind": "fixed", "value": 2}                        only this: a switch of the game that the form is for

`"none": true` allows null. A list with `"shortest"` has at least so many. `"place"` is where on the board the value is,
as in `tabletop.game.Drawing.places`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tabletop.scenarios import ROOT, a_list, integer, mapping, names_listed, wrong
from tabletop.scenarios import switch as read_switch

Form = dict[str, Any]


def number(low: int, high: int, none: bool = False) -> Form:
    return {"kind": "number", "low": low, "high": high, **({"none": True} if none else {})}


def switch() -> Form:
    return {"kind": "switch"}


def choice(names: Sequence[str | int], none: bool = False) -> Form:
    return {"kind": "choice", "names": list(names), "none": none}


def names(names: Sequence[str]) -> Form:
    return {"kind": "names", "names": list(names)}


def listing(of: Form, longest: int, shortest: int = 0) -> Form:
    return {"kind": "list", "of": of, "longest": longest, **({"shortest": shortest} if shortest else {})}


def table(keys: Mapping[str, Form]) -> Form:
    return {"kind": "table", "keys": dict(keys)}


def fixed(value: Any) -> Form:
    return {"kind": "fixed", "value": value}


def at(form: Form, *place: tuple[str, str]) -> Form:
    """The same with its place on the board: names and values of elements, the outermost first."""
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
            raise wrong(where, f"{value!r} is not a list of at least {form['shortest']}")
    elif kind == "table":
        for key, entry in mapping(value, where, list(form["keys"])).items():
            check(form["keys"][key], entry, key if where == ROOT else f"{where}.{key}")
    elif value != form["value"]:
        raise wrong(where, f"{value!r}; this game has {form['value']!r}")
