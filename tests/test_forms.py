"""The forms of described positions: what the games describe fits them, and `scenario` takes what they allow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path as File
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import evergreen_env.keys
import petrichor_env.keys
from evergreen_env.config import Config as Evergreen
from petrichor_env.config import MODULES
from petrichor_env.config import Config as Petrichor
from tabletop_engine.described import forms
from tabletop_engine.described.fields import Table
from tabletop_engine.described.forms import Form
from tabletop_engine.errors import ScenarioError
from tabletop_engine.play.batch import Batch
from tests.games import connect_four
from tests.support.configurations import EVERY_CONFIGURATION, SOLO_MODULES
from tests.support.effort import games

Path = tuple[str, ...]
DOCS = File(__file__).parents[1] / "docs"

SMALL_PLANET = {"board.rows": ["MF", "GR", "WN", "#."]}
EVERGREEN = [*(Evergreen(players) for players in (1, 2, 3, 4)), Evergreen(2, SMALL_PLANET)]
EACH_KEY = [
    *(Petrichor(modules=SOLO_MODULES), Petrichor(players=2), Petrichor(players=5, rounds=6, modules=MODULES)),
    *(Petrichor(players=3, drafting=True, modules=("forecasts",)), EVERGREEN[0], EVERGREEN[-1]),
]


@cache
def first_state(config: Any) -> Any:
    return Batch(config, 1, seed=1).states[0]


@cache
def first_form(config: Any) -> Form:
    form: Form = config.game.form(first_state(config))
    return form


def leaves(form: Form, at: Path = ()) -> Iterator[tuple[Path, Form]]:
    """The parts of a form without keys of their own, and their paths."""
    if form["kind"] != "table":
        yield at, form
        return
    for key, inner in form["keys"].items():
        yield from leaves(inner, (*at, key))


def lowest(form: Form) -> Any:
    kind = form["kind"]
    if kind == "table":
        return {key: lowest(inner) for key, inner in form["keys"].items()}
    if kind == "list":
        return [lowest(form["of"])] * max(1, form.get("shortest", 0))
    by_kind = {"number": "low", "fixed": "value"}
    if kind in by_kind:
        return form[by_kind[kind]]
    return form["names"][0] if kind == "choice" else form["names"][:1] if kind == "names" else False


def with_value(config: Any, at: Path, value: Any) -> dict[str, Any]:
    """A description with the configuration's switches and one more value."""
    form = first_form(config)
    whole = {key: inner["value"] for key, inner in form["keys"].items() if inner["kind"] == "fixed"}
    inner: Any = whole
    for key in at[:-1]:
        inner = inner.setdefault(key, {})
    inner[at[-1]] = value
    return whole


def refusal(config: Any, at: Path, value: Any) -> ScenarioError | None:
    try:
        config.game.scenario(with_value(config, at, value), config.components)
    except ScenarioError as error:
        return error
    return None


@pytest.mark.one_in(5)
@pytest.mark.parametrize("config", [*EVERY_CONFIGURATION, *EVERGREEN], ids=lambda config: config.name)
def test_what_is_described_fits(config: Any) -> None:
    """All states of random games fit, up to their ends, after a round trip through JSON."""
    batch = Batch(config, games(1, 2), seed=5, autoreset="next_step")
    for step in range(60 * int(batch.states[0]["rounds"])):
        if step % 25 == 0 or batch.terminations.any():
            for state in batch.states:
                form = json.loads(json.dumps(config.game.form(state)))
                assert form == config.game.form(state)
                forms.check(form, json.loads(json.dumps(config.game.described(state))))
        batch.step(batch.random_actions())


@pytest.mark.parametrize(
    ("page", "first_cell", "table"),
    [
        ("scenarios.md", "key", petrichor_env.keys.KEYS),
        ("scenarios.md", "key of a tile", petrichor_env.keys.TILE),
        ("scenarios.md", "key of `pending`", petrichor_env.keys.PENDING),
        ("evergreen/scenarios.md", "key", evergreen_env.keys.KEYS),
        ("evergreen/scenarios.md", "key of `pending`", evergreen_env.keys.PENDING),
    ],
)
def test_the_pages_explain_each_key(page: str, first_cell: str, table: Table) -> None:
    """The tables of the pages have all keys that are declared, in the order of their declaration, and no others."""
    _, after = (DOCS / page).read_text(encoding="utf-8").split(f"\n| {first_cell} |", 1)
    _, _, *rows = after.split("\n\n")[0].splitlines()
    assert tuple(name for row in rows for name in re.findall("`(.*?)`", row.split("|")[1])) == table.names


@pytest.mark.one_in(5)
@pytest.mark.parametrize("config", EACH_KEY, ids=lambda config: config.name)
def test_scenario_takes_each_key(config: Any) -> None:
    """The lowest value of each key is accepted or breaks a count, but never for its name or kind."""
    taken = 0
    for at, form in leaves(first_form(config)):
        error = refusal(config, at, lowest(form))
        taken += error is None
        if error is not None and error.where:
            told = str(error)
            assert not any(words in told for words in ("allowed are", "unknown key", "is not a ", "shows")), told
    assert taken > 30


@pytest.mark.one_in(5)
@pytest.mark.parametrize("config", EACH_KEY, ids=lambda config: config.name)
def test_scenario_ends_where_the_form_ends(config: Any) -> None:
    """One more than the highest number, and one less than the lowest, are refused with their place."""
    tried = 0
    for at, form in leaves(first_form(config)):
        listed = form["kind"] == "list" and form["of"]["kind"] == "number"
        number = form["of"] if listed else form
        if number["kind"] != "number":
            continue
        for value in (number["low"] - 1, number["high"] + 1):
            error = refusal(config, at, [value] if listed else value)
            assert error is not None and error.where == ".".join(at) + ("[0]" if listed else "")
            assert f"{value}; allowed are {number['low']} to {number['high']}" in str(error)
            with pytest.raises(ScenarioError, match="allowed are"):
                forms.check(number, value)
            tried += 1
    assert tried > 20


@pytest.mark.one_in(5)
@pytest.mark.parametrize("config", EACH_KEY, ids=lambda config: config.name)
def test_the_shortest_description(config: Any) -> None:
    """It gives the same state without entries that follow from others. If a card is added by hand, the deck follows."""
    batch = Batch(config, 1, seed=2)
    game, shorter = config.game, 0
    for _ in range(4):
        for _ in range(15):
            batch.step(batch.random_actions())
        state = batch.states[0]
        form, whole = game.form(state), game.described(state)
        scenario = partial(game.scenario, components=config.components)
        given = forms.shortest(form, whole, scenario)
        assert scenario(given).tobytes() == state.tobytes()
        assert forms.shortest(form, given, scenario) == given
        assert "deck" not in given
        shorter += len(json.dumps(given)) < len(json.dumps(whole))
    assert shorter == 4
    with pytest.raises(ScenarioError):
        forms.shortest(form, {**whole, "round": 99}, scenario)


@pytest.mark.parametrize("config", EACH_KEY, ids=lambda config: config.name)
def test_what_people_read(config: Any) -> None:
    """If one name of a choice has words, each has. Groups have keys of the form, each once."""
    form = config.game.form(first_state(config))
    grouped = [key for group in form["groups"] for key in group["keys"]]
    assert set(grouped) <= set(form["keys"]) and len(set(grouped)) == len(grouped)
    named = [inner for _, inner in leaves(form) if "labels" in inner]
    assert named and all(len(inner["labels"]) == len(inner["names"]) for inner in named)

    def unplaced(inner: Form) -> bool:
        """Whether a value has no place on the board."""
        if "place" in inner or "places" in inner or inner["kind"] == "fixed":
            return False
        return inner["kind"] != "table" or any(map(unplaced, inner["keys"].values()))

    assert {key for key, inner in form["keys"].items() if unplaced(inner)} <= set(grouped)


@pytest.mark.parametrize("config", EACH_KEY, ids=lambda config: config.name)
def test_places_are_on_the_board(config: Any) -> None:
    """Each place is a path of elements of the picture, the outermost first."""
    state = first_state(config)
    svg = config.game.drawing.render_svg(state, tables=config.game.load_tables(config.components))
    paths: set[tuple[Path, ...]] = set()

    def walk(element: ElementTree.Element, above: frozenset[tuple[str, str]]) -> None:
        here = above | {(key.removeprefix("data-"), value) for key, value in element.attrib.items()}
        everywhere.append(here)
        for inner in element:
            walk(inner, here)

    everywhere: list[frozenset[tuple[str, str]]] = []
    walk(ElementTree.fromstring(svg), frozenset())

    def gather(form: Form) -> None:
        places = [form["place"]] if "place" in form else []
        for place in (*places, *form.get("also", ()), *form.get("places", ())):
            paths.add(tuple(map(tuple, place)))
        for inner in form.get("keys", {}).values():
            gather(inner)

    gather(config.game.form(state))
    assert len(paths) > 5
    for path in paths:
        assert any(set(path) <= here for here in everywhere), path


@pytest.mark.parametrize(
    ("form", "value", "reason"),
    [
        (forms.number(0, 3), True, "whole number"),
        (forms.number(0, 3), None, "whole number"),
        (forms.switch(), 1, "true and false"),
        (forms.choice(["a"]), None, "allowed are a"),
        (forms.choice([1, "b"]), True, "allowed are 1, b"),
        (forms.choice([1, "b"]), "1", "allowed are 1, b"),
        (forms.names(["a", "b"]), ["a", "a"], "has a name twice"),
        (forms.listing(forms.switch(), 2, shortest=2), [True], "at least 2"),
        (forms.listing(forms.switch(), 2), [True] * 3, "at most 2"),
        (forms.table({"a": forms.switch()}), {"b": True}, "unknown key 'b'"),
        (forms.fixed(2), 3, "this game has 2"),
    ],
)
def test_what_does_not_fit(form: Form, value: Any, reason: str) -> None:
    with pytest.raises(ScenarioError, match=reason):
        forms.check(form, value)
    whole = forms.table({"outer": forms.table({"inner": form})})
    with pytest.raises(ScenarioError) as refused:
        forms.check(whole, {"outer": {"inner": value}})
    assert refused.value.where.startswith("outer.inner")


def test_a_game_without_a_form() -> None:
    assert connect_four.GAME.form(first_state(connect_four.GAME.config())) is None


def test_a_plain_game_says_where() -> None:
    """What Petrichor and Evergreen say is in `tests/texts`."""
    game = connect_four.GAME
    described = game.described(first_state(game.config()))
    for name, value in (("points", [1]), ("players", 3), ("stones", [-1, 0])):
        with pytest.raises(ScenarioError, match=f"^{name}: ") as refused:
            game.scenario({**described, name: value}, None)
        assert refused.value.where == name
    assert np.array(game.scenario(described, None)).size == 1
    no_table: Any = []
    for config in (Evergreen(), Petrichor()):
        with pytest.raises(ScenarioError):
            config.game.scenario(no_table, None)
