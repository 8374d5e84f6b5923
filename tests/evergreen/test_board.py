"""The picture of Evergreen: its facts are read back from the document, and what is hidden is not in it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from evergreen_env import Batch, Config, scenario
from evergreen_env.actions import DONE, DRAFT, SPACE
from evergreen_env.component_files import load_tables
from evergreen_env.drawing.board import marks, render_svg
from evergreen_env.drawing.view import Planet
from evergreen_env.rules import planet as rules
from evergreen_env.state import (
    BIOME_NAMES,
    CARD_NAMES,
    DECISION_NAMES,
    NO_CARD,
    NOBODY,
    PIECE_NAMES,
    PLACE_NAMES,
    POWER_NAMES,
    SEASON_NAMES,
    SUN_NAMES,
    Decision,
    Piece,
    State,
    Sun,
)
from evergreen_env.words import PLANET_FIELDS, SHOWN_FIELDS
from tabletop_engine.drawing.frame import SIZE
from tabletop_engine.drawing.raster import rgb_array
from tabletop_engine.errors import TabletopError

PLAYERS = pytest.mark.parametrize("players", [1, 2, 3, 4])
CORNERS = {"board.rows": ["MM...NN", "MMFFFNN", ".WGGGR.", "..W#R..", ".WGGGR.", "MMFFFNN", "MM...NN"]}
"""A board with spaces in the grid's corners."""


@lru_cache(maxsize=8)
def states_of(players: int, corners: bool = False) -> np.ndarray:
    """States of a random game in which nobody stops early: the first of every decision, one now and then, the last."""
    batch = Batch(Config(players, CORNERS if corners else None), 1, seed=3, autoreset="disabled")
    generator, kept, decisions = np.random.default_rng(players), [], set()
    for step in range(1000):
        state = batch.states[0]
        if step % 9 == 0 or state["decision"] not in decisions or state["actor"] == NOBODY:
            kept.append(state.copy())
            decisions.add(int(state["decision"]))
        if state["actor"] == NOBODY:
            return np.array(kept)
        legal = [action for action in bits(int(state["legal"][0])) if action != DONE] or [DONE]
        batch.step(generator.choice(legal, 1))
    raise AssertionError("the game goes on")


def bits(word: int) -> list[int]:
    return [bit for bit in range(64) if word >> bit & 1]


def at(spaces: Any) -> list[str]:
    """The spaces of a set, by name."""
    return [PLACE_NAMES[place] for place in bits(int(spaces))]


def document(svg: str) -> Element:
    return ElementTree.fromstring(svg)


def all_with(root: Element, attribute: str) -> list[dict[str, str]]:
    """The attributes of every element that has this one."""
    return [found.attrib for found in root.iter() if attribute in found.attrib]


def names_in(words: str) -> list[str]:
    return words.split(",") if words else []


# ---- facts


def check_player(state: State, seat: int, said: Element, live: bool, choices: set[str]) -> None:
    fields = PLANET_FIELDS if live else SHOWN_FIELDS
    spaces = all_with(said, "data-space")
    assert [one["data-space"] for one in spaces] == at(state["outline"])
    for piece, field in zip(PIECE_NAMES, fields, strict=True):
        drawn = [one["data-space"] for one in spaces if one.get("data-piece") == piece]
        assert drawn == at(state[field][seat])
        pictures = [found["href"].removesuffix("-dark") for found in all_with(said, "href")]
        assert pictures.count(f"#tabletop-piece-{piece}") == len(drawn)
    small, big, bushes = (state[fields[piece]][seat] for piece in (Piece.SMALL_TREE, Piece.BIG_TREE, Piece.BUSH))
    lit = rules.lit_small_trees(small, big, state["sun"]) | rules.lit_big_trees(big, state["sun"])
    forest = rules.largest_forest(small | big | bushes)
    assert [one["data-space"] for one in spaces if one.get("data-lit") == "1"] == at(lit)
    assert [one["data-space"] for one in spaces if "data-lit" in one] == at(small | big)
    assert {one["data-space"] for one in spaces if "data-choice" in one} == choices
    (world,) = all_with(said, "data-planet")
    assert names_in(world["data-forest"]) == at(forest)
    assert world["data-sun"] == SUN_NAMES[state["sun"]]
    facts = said.attrib
    assert int(facts["data-light"]) == rules.light_points(small, big, state["sun"])
    assert int(facts["data-forest-points"]) == len(names_in(world["data-forest"]))
    levels = (state["level"] if live else state["shown_level"])[seat].tolist()
    assert facts["data-levels"] == ",".join(map(str, levels))
    powers = [(one["data-power"], int(one["data-level"])) for one in all_with(said, "data-power")]
    assert powers == list(zip(POWER_NAMES, levels, strict=True))
    assert int(facts["data-points"]) == state["points"][seat] + (state["earned"][seat] if live else 0)
    (card,) = all_with(said, "data-card")
    assert card["data-card"] == ("" if state["card"][seat] == NO_CARD else CARD_NAMES[state["card"][seat]])
    assert ("data-first" in facts) == (state["first_player"] == seat)


@pytest.mark.one_in(3)
@PLAYERS
@pytest.mark.parametrize("seat", [None, 0])
def test_facts(players: int, seat: int | None) -> None:
    """Everything that is drawn can be read from the document."""
    tables = load_tables()[0]
    for state in states_of(players):
        root = document(render_svg(state, seat))
        hidden = state["decision"] not in (Decision.DRAFT, Decision.GAME_OVER) and seat not in (None, state["actor"])
        said = root.attrib
        assert said["data-round"] == str(state["round"]) and said["data-season"] == SEASON_NAMES[state["season"]]
        assert said.get("data-decision") == (None if hidden else DECISION_NAMES[state["decision"]])
        asked = "" if hidden or state["actor"] == NOBODY else f"player_{state['actor']}"
        assert said.get("data-actor", "") == asked and said["data-asked"] in (
            one["aria-label"] for one in all_with(root, "aria-label")
        )
        answers = [] if hidden else bits(int(state["legal"][0]))
        chosen = {PLACE_NAMES[tables["place_of"][action - SPACE]] for action in answers if action >= SPACE}
        panels = [found for found in root.iter() if "data-player" in found.attrib]
        assert [found.attrib["data-player"] for found in panels] == [f"player_{i}" for i in range(players)]
        for i, panel in enumerate(panels):
            check_player(state, i, panel, seat in (None, i), chosen if state["actor"] == i else set())
        slots = all_with(root, "data-market")
        market = state["market"][: players + 1].tolist()
        assert [one["data-card"] for one in slots] == ["" if card < 0 else CARD_NAMES[card] for card in market]
        assert [i for i, one in enumerate(slots) if "data-marker" in one] == [i for i in [state["marker"]] if i >= 0]
        taken = [i + DRAFT for i, one in enumerate(slots) if "data-choice" in one]
        assert taken == (answers if state["decision"] == Decision.DRAFT else [])
        zone = all_with(root, "data-fertility")
        assert [int(one["data-fertility"]) for one in zone] == state["fertility"].tolist()
        there = [CARD_NAMES[card] for card in state["zone"][: state["zone_size"]]]
        for one, name in zip(zone, BIOME_NAMES, strict=False):
            mine = [card for card in there if card.startswith(f"{name} ")]
            assert one["data-biome"] == name and names_in(one["data-zone"]) == mine
        down = {name for one in zone for name in names_in(one["data-face-down"])}
        assert down == {CARD_NAMES[card] for card in bits(int(state["face_down"]))}
        (piles,) = all_with(root, "data-deck")
        for name, field in (("deck", "deck"), ("discards", "discards"), ("collected", "collected")):
            assert int(piles[f"data-{name}"]) == int(state[field]).bit_count()


def test_light_and_forest_as_the_rules_have_it() -> None:
    """The picture of random planets shows them, under every sun."""
    generator, outline = np.random.default_rng(8), int(load_tables()[0]["outline"])
    for _ in range(60):
        kinds = generator.integers(0, 6, 49)
        pieces = [sum(1 << i for i in range(49) if kinds[i] == kind) & outline for kind in range(5)]
        small, big, bushes = (np.uint64(pieces[kind]) for kind in (Piece.SMALL_TREE, Piece.BIG_TREE, Piece.BUSH))
        for sun in Sun:
            drawn = Planet(tuple(pieces), sun, 0)
            assert drawn.lit == rules.lit_small_trees(small, big, sun) | rules.lit_big_trees(big, sun)
            assert drawn.light_points == rules.light_points(small, big, sun)
            assert drawn.forest == rules.largest_forest(small | big | bushes)


def test_shadows() -> None:
    """A big tree's shadow is two spaces long, a small tree's one. Trees in it are dark or not, as the rules say."""
    planet = {"d1": "big_tree", "d2": "small_tree", "c3": "small_tree", "c4": "big_tree"}
    state = scenario({"players": 2, "planets": {"player_0": planet}})
    spaces = all_with(document(render_svg(state)), "data-space")[:41]
    shadows = {one["data-space"]: one["data-shadow"] for one in spaces if "data-shadow" in one}
    assert shadows == {"d2": "big", "d3": "big", "c4": "small", "c5": "big", "c6": "big"}
    lit = {one["data-space"]: one["data-lit"] for one in spaces if "data-lit" in one}
    assert lit == {"d1": "1", "d2": "0", "c3": "1", "c4": "1"}


# ---- what is hidden


@pytest.mark.parametrize("players", [2, 3, 4])
def test_hidden(players: int) -> None:
    """The picture has the same bytes, whatever others did in their turns and whoever of them is asked something."""
    seen = 0
    for state in states_of(players):
        for seat in range(players):
            if state["decision"] in (Decision.DRAFT, Decision.GAME_OVER) or seat == state["actor"]:
                continue
            other = state.copy()
            rivals = [i for i in range(players) if i != seat]
            for field in (*PLANET_FIELDS, "level", "earned"):
                other[field][rivals] = 0
            other["decision"], other["actor"], other["legal"] = Decision.TURN, rivals[-1], 2**64 - 1
            other["finished"][rivals], other["uses_left"], other["open_spaces"] = 0, 2, other["outline"]
            other["rng"] += np.uint64(1)
            assert render_svg(state, seat) == render_svg(other, seat)
            seen += render_svg(state) != render_svg(other)
    assert seen > 20


# ---- the document


@PLAYERS
def test_self_contained(players: int) -> None:
    """Nothing from outside, every reference defined, the same drawings in every picture."""
    defs = document(render_svg(states_of(1)[0]))
    for state in states_of(players)[::8]:
        svg = render_svg(state, last_action="A sprout.")
        root = document(svg)
        tags = {found.tag.removeprefix("{http://www.w3.org/2000/svg}") for found in root.iter()}
        assert tags <= {"svg", "defs", "g", "path", "rect", "circle", "use", "title"}
        ids = [found["id"] for found in all_with(root, "id")]
        assert len(ids) == len(set(ids)) and ids == [found["id"] for found in all_with(defs, "id")]
        assert {found["href"] for found in all_with(root, "href")} <= {f"#{name}" for name in ids}
        assert {mark.shape for mark in marks(players)} <= set(ids)
        assert re.findall(r"\w+://[^\"]+", svg) == ["http://www.w3.org/2000/svg"]
        assert root.attrib["viewBox"] == f"0 0 {SIZE} {SIZE}" and root.attrib["data-last-action"] == "A sprout."


@PLAYERS
def test_nothing_leaves_the_page(players: int) -> None:
    """Nothing is drawn outside the page, however long the sentence and the names are."""
    around = f'viewBox="-40 -40 {SIZE + 80} {SIZE + 80}"'
    for corners in (False, True):
        tables = load_tables(CORNERS if corners else None)
        for state in states_of(players, corners)[3::16]:
            svg = render_svg(state, tables=tables, last_action="many words " * 60, names=["n" * 60] * players)
            pixels = rgb_array(svg.replace(f'viewBox="0 0 {SIZE} {SIZE}"', around), 520)
            assert pixels.any(axis=2).mean() > 0.8
            for edge in (pixels[:19], pixels[501:], pixels[:, :19], pixels[:, 501:]):
                assert not edge.any()


def test_names_and_viewers() -> None:
    state = scenario({"players": 2})
    root = document(render_svg(state, 1, names=["<ann>", "b\x00b"]))
    assert [one["data-name"] for one in all_with(root, "data-player")] == ["<ann>", "b�b"]
    assert root.attrib["data-viewer"] == "player_1" and root.attrib["data-asked"].startswith("<ann> is asked")
    for names in (["me"], ["a", "b", "c"]):
        with pytest.raises(TabletopError, match="one for each of 2 seats"):
            render_svg(state, names=names)
    for wrong in (2, -1):
        with pytest.raises(TabletopError, match="must be a seat from 0 to 1, or None"):
            render_svg(state, wrong)
