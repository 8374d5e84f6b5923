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
on the board, as in `tabletop_engine.presentation.Drawing.places`; `"also"` has more of them, and `"places"` has those
of the entries of a list.

For people, all of it optional:

    "words"              what the value is called; without it, its key
    "labels"             what its `names` are called, in their order; without it, the names
    "blank"              what it means if the value is left out
    "usual"              the number that is meant if it is left out
    "follows": true      left out, the value follows from the rest of the position
    "groups"             of the form of a whole description: [{"words": …, "keys": […], "rare": false}]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tabletop_engine.described.scenarios import ROOT, a_list, integer, mapping, names_listed, wrong
from tabletop_engine.described.scenarios import switch as read_switch
from tabletop_engine.drawing.svg import Place
from tabletop_engine.errors import ScenarioError

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


def listing(of: Form, longest: int, shortest: int = 0, places: Sequence[Place] = ()) -> Form:
    """The form of a list with `shortest` to `longest` entries, all of the form `of`. `places` are those of entries."""
    more: Form = {"shortest": shortest} if shortest else {}
    if places:
        more["places"] = [_as_data(place) for place in places]
    return {"kind": "list", "of": of, "longest": longest, **more}


def table(keys: Mapping[str, Form]) -> Form:
    """The form of a table with any of these keys."""
    return {"kind": "table", "keys": dict(keys)}


def fixed(value: Any) -> Form:
    """The form of a value that can't be changed."""
    return {"kind": "fixed", "value": value}


def at(form: Form, *place: tuple[str, str]) -> Form:
    """The form with its place on the board: names and values of elements, the outermost first."""
    return {**form, "place": _as_data(place)}


def also_at(form: Form, places: Sequence[Place]) -> Form:
    """The form of a value that stands at several places of the board."""
    first, *others = map(_as_data, places)
    return {**form, "place": first, "also": others}


def _as_data(place: Place) -> list[list[str]]:
    return [list(element) for element in place]


def said(
    form: Form, words: str | None = None, *, labels: Sequence[str] | None = None, blank: str | None = None
) -> Form:
    """The form in words for people: what the value, its names and its absence are called."""
    given = {"words": words, "labels": None if labels is None else list(labels), "blank": blank}
    return {**form, **{key: value for key, value in given.items() if value is not None}}


def grouped(form: Form, *groups: tuple[str, Sequence[str], bool]) -> Form:
    """The form of a description with its keys in groups: words, keys, and whether they are rarely needed.

    Keys that the form does not have are left out.
    """
    there = [(words, [key for key in keys if key in form["keys"]], rare) for words, keys, rare in groups]
    return {**form, "groups": [{"words": words, "keys": keys, "rare": rare} for words, keys, rare in there if keys]}


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


def shortest(
    form: Form, description: Mapping[str, Any], scenario: Callable[[Mapping[str, Any]], Any]
) -> dict[str, Any]:
    """The description without what follows from the rest, so that it goes along with changes of the rest.

    Arguments:
        form: of the description.
        description: of a position.
        scenario: takes a description, returns its record, or raises ScenarioError.

    Raises ScenarioError for a description of no position.
    """
    whole = scenario(description).tobytes()

    def left(now: dict[str, Any], places: Sequence[tuple[str, ...]]) -> dict[str, Any]:
        """Without as many of the values at these places as can be left out; by halves, since most can be."""
        if not places:
            return now
        less = now
        for place in places:
            less = _without(form, less, place)
        try:
            if scenario(less).tobytes() == whole:
                return less
        except ScenarioError:
            pass  # something is needed
        middle = len(places) // 2
        return left(left(now, places[:middle]), places[middle:]) if middle else now

    return left(dict(description), [*_following_in(form, description)])


def _following_in(form: Form, description: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The places of what is given although it may follow from the rest; not in lists."""
    for key, inner in form.get("keys", {}).items():
        if key in description:
            if inner.get("follows"):
                yield (key,)
            elif isinstance(description[key], Mapping):
                yield from ((key, *place) for place in _following_in(inner, description[key]))


def _without(form: Form, description: Mapping[str, Any], place: Sequence[str]) -> dict[str, Any]:
    """A description without the value at this place, and without tables that are empty then."""
    key, *inner = place
    less = dict(description)
    if inner:
        less[key] = _without(form["keys"][key], description[key], inner)
    if not inner or not less[key]:
        del less[key]
    return less
