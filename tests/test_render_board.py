"""The picture of the board: its facts are read back from the document."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from evergreen_env.game import GAME as EVERGREEN
from petrichor_env import Batch, Config, scenario
from petrichor_env.component_files import load_tables
from petrichor_env.config import MODULES, VARIANTS
from petrichor_env.drawing import question, render_svg
from petrichor_env.game import GAME as PETRICHOR
from petrichor_env.state import (
    CROP_NAMES,
    DECISION_NAMES,
    FACE_DOWN,
    NO_TILE,
    NOBODY,
    PHASE_NAMES,
    PLAYED,
    POWER_NAMES,
    WEATHER_NAMES,
    Crop,
    Decision,
    Phase,
    State,
)
from petrichor_env.words import FIELDS, owner_names, tile_name
from tabletop_engine.drawing import raster
from tabletop_engine.drawing.frame import SIZE
from tabletop_engine.drawing.letters import letter
from tabletop_engine.drawing.panels import STRONG
from tabletop_engine.drawing.picture import Picture
from tabletop_engine.drawing.raster import rgb_array, save_png
from tabletop_engine.drawing.svg import cut, text, width_of, wrapped
from tabletop_engine.errors import TabletopError
from tabletop_engine.game import Game
from tabletop_engine.text.words import joined
from tests.support.configurations import SOLO_MODULES

CONFIGS = [
    *(Config(players=players) for players in (2, 3, 4)),
    Config(players=5, rounds=4, drafting=True),
    Config(players=2, rounds=6, drafting=True, modules=MODULES),
    *(Config(players=players, modules=MODULES) for players in (2, 3, 4, 5)),
    Config(variants=("double_card",)),
    Config(variants=VARIANTS, modules=SOLO_MODULES),
]


@lru_cache(maxsize=16)
def states_of(config: Config) -> np.ndarray:
    """Some states of two random games: the first of every decision, one now and then, the last."""
    batch = Batch(config, 2, seed=5, autoreset="next_step")
    kept, decisions = [], set()
    for step in range(80 * config.rounds):
        for state in batch.states:
            if step % 50 == 0 or state["decision"] not in decisions or state["decision"] == Decision.GAME_OVER:
                kept.append(state.copy())
                decisions.add(int(state["decision"]))
        batch.step(batch.random_actions())
    return np.array(kept)


def document(svg: str) -> Element:
    return ElementTree.fromstring(svg)


def all_with(root: Element, attribute: str) -> list[dict[str, str]]:
    """The attributes of every element that has this one."""
    return [found.attrib for found in root.iter() if attribute in found.attrib]


def the_one_with(root: Element, attribute: str) -> dict[str, str]:
    (found,) = all_with(root, attribute)
    return found


def numbers(words: str | None) -> list[int]:
    return [int(word) for word in words.split(",")] if words else []


# ---- facts


def check_tile(state: State, tile: int, said: dict[str, str]) -> None:
    owners = state["owners"]
    crop = state["crop"][tile]
    assert said["data-crop"] == ("face_down" if crop == FACE_DOWN else CROP_NAMES[crop])
    assert numbers(said["data-drops"]) == state["drops"][tile, :owners].tolist()
    assert said["data-growing"] == ("none", "sprouting", "developed", "drowned")[state["growing"][tile]]
    assert said["data-cloud"] == ("none", "light", "thunder")[state["cloud"][tile]]
    assert numbers(said["data-cloud-drops"]) == state["cloud_drops"][tile, :owners].tolist()
    assert (int(said["data-fertilizer"]), int(said["data-pods"])) == (state["fertilizer"][tile], state["pods"][tile])
    assert int(said.get("data-blooms", 0)) == state["blooms"][tile]
    if crop == Crop.PRIMROSE and state["controller"] != NOBODY:
        assert said["data-controller"] == f"player_{state['controller']}"
    else:
        assert "data-controller" not in said
    nothing = joined([0] * owners)
    assert numbers(said.get("data-scored-drops", nothing)) == state["scored_drops"][tile, :owners].tolist()
    chosen = state["chosen_drops"][:owners] * (state["target"] == tile)
    assert numbers(said.get("data-chosen-drops", nothing)) == chosen.tolist()


def check_owner(state: State, seat: int, said: dict[str, str]) -> None:
    assert said["data-owner"] == owner_names(int(state["players"]))[seat]
    for name in ("points", "supply", "vote_supply", "voting_wins", "wheat_tokens"):
        assert int(said["data-" + name.replace("_", "-")]) == state[name][seat], name
    assert numbers(said["data-votes"]) == state["votes"][:, seat].tolist()
    if seat >= state["players"]:
        assert "data-hand" not in said
        return
    assert numbers(said["data-hand"]) == state["hand"][seat].tolist()
    assert numbers(said.get("data-pack", "0,0,0,0")) == state["pack"][seat].tolist()
    assert said.get("data-power", "none") == POWER_NAMES[state["power"][seat]]
    assert numbers(said.get("data-forecasts")) == (np.flatnonzero(state["forecast_holder"] == seat) + 1).tolist()


def check_progress(state: State, said: dict[str, str]) -> None:
    names = owner_names(int(state["players"]))
    for name in ("players", "round", "rounds"):
        assert int(said[f"data-{name}"]) == state[name]
    assert said["data-phase"] == PHASE_NAMES[state["phase"]]
    assert said["data-decision"] == DECISION_NAMES[state["decision"]]
    assert said["data-first-player"] == names[state["first_player"]]
    for name in ("actor", "passed"):
        assert said.get(f"data-{name}") == (None if state[name] == NOBODY else names[state[name]])
    if state["decision"] == Decision.GAME_OVER:
        assert said["data-winners"] and said["data-asked"].startswith("Game over: ")
    else:
        assert said["data-asked"] == f"{names[state['actor']]} is asked {question(state)}."


def check_solo(state: State, root: Element) -> None:
    assert numbers(the_one_with(root, "data-winds-deck")["data-winds-deck"]) == [
        number + 1 for number in np.flatnonzero(state["winds_deck"])
    ]
    cards = all_with(root, "data-winds-card")
    assert len(cards) == state["winds_revealed"]
    for i, said in enumerate(cards):
        target = state["winds_target"][i]
        assert int(said["data-winds-card"]) == state["winds_card"][i]
        assert int(said["data-roll"]) == state["winds_roll"][i]
        assert said["data-target"] == ("" if target == NO_TILE else tile_name(1, int(target)))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_facts(config: Config) -> None:
    """Everything of random games is read back from the document."""
    clouds = int(load_tables()["clouds"][0])
    for state in states_of(config):
        root = document(render_svg(state))
        check_progress(state, root.attrib)
        tiles = all_with(root, "data-tile")
        assert [said["data-tile"] for said in tiles] == [
            tile_name(config.players, tile) for tile in FIELDS[config.players]
        ]
        for tile, said in zip(FIELDS[config.players], tiles, strict=True):
            check_tile(state, tile, said)
        for seat, said in enumerate(all_with(root, "data-owner")):
            check_owner(state, seat, said)
        for said in all_with(root, "data-weather"):
            kind = WEATHER_NAMES.index(said["data-weather"])
            assert numbers(said["data-votes"]) == state["votes"][kind, : config.owners].tolist()
            assert int(said["data-selected"]) == state["selected"][kind]
            assert int(said["data-resolving"]) == (state["weather"] == kind)
        dice = the_one_with(root, "data-dice")["data-dice"]
        rolled = [] if (state["crop"] == FACE_DOWN).any() else state["dice"].tolist()
        assert numbers(dice.replace("harvest", "0")) == rolled
        stocks = the_one_with(root, "data-deck")
        assert numbers(stocks["data-deck-kinds"]) == state["deck"].tolist()
        assert numbers(stocks["data-discards"]) == state["discards"].tolist()
        assert int(stocks["data-clouds-left"]) == clouds - np.count_nonzero(state["cloud"])
        if "forecasts" in config.modules:
            cards = the_one_with(root, "data-forecasts-out")
            for name, holder in (("out", PLAYED), ("not-dealt", NOBODY)):
                assert numbers(cards[f"data-forecasts-{name}"]) == [
                    number + 1 for number in np.flatnonzero(state["forecast_holder"] == holder)
                ]
        if config.solo:
            check_solo(state, root)


def test_what_is_said_is_drawn() -> None:
    """Numbers and sentences are in the picture as words, too."""
    field = {"b2": {"crop": "wheat", "drops": {"player_0": 2, "player_1": 4}, "cloud": {"drops": {"player_1": 3}}}}
    state = scenario({"players": 2, "field": field, "points": {"player_0": 17}, "hands": {"player_0": {"rain": 5}}})
    root = document(render_svg(state, last_action="It rains."))
    words = [found["aria-label"] for found in all_with(root, "aria-label")]
    for said in ("b2", "Wheat", "6/3", "3/4", "17", "It rains.", root.attrib["data-asked"], "5"):
        assert said in words
    tile = next(found for found in root.iter() if found.attrib.get("data-tile") == "b2")
    drawn = [found.attrib["href"] for found in tile.iter() if "href" in found.attrib]
    for piece in ("crop-wheat", "owner-0", "owner-1", "cloud-light", "developed", "drop"):
        assert f"#tabletop-{piece}" in drawn


def test_other_numbers_on_the_pieces() -> None:
    tables = load_tables().copy()
    tables["drops_to_grow"][0, :] = 9
    state = scenario({"players": 2, "field": {"b2": {"crop": "cotton", "drops": {"player_0": 1}}}})
    assert 'aria-label="1/9"' in render_svg(state, tables=tables)
    assert 'aria-label="1/2"' in render_svg(state)


def piece(root: Element, attribute: str, value: str) -> Element:
    """The group with this value of the attribute."""
    (found,) = (one for one in root.iter() if one.attrib.get(attribute) == value)
    return found


def struck() -> State:
    """Solo: three Southern Winds cards have hit one tile with a growing crop, and one card found no target."""
    field = {"P4": {"crop": "rice", "drops": {"neutral": 4}, "cloud": {"drops": {"neutral": 2}}}}
    state = scenario({"players": 1, "field": field})
    state["winds_revealed"] = 4
    state["winds_card"][:4], state["winds_roll"][:4] = (5, 2, 1, 8), 4
    state["winds_target"][:4] = (*[FIELDS[1][3]] * 3, NO_TILE)
    return state


def test_tiles_that_southern_winds_hit() -> None:
    """The cards' numbers stand from left to right under the title and cover nothing; a red frame is around the tile."""
    tile = piece(document(render_svg(struck())), "data-tile", "P4")
    badges = [found.attrib for found in tile.iter() if found.attrib.get("r") == "9.5"]
    places = [(float(badge["cx"]), float(badge["cy"])) for badge in badges]
    assert places == sorted(places) and len(places) == 3 and {y for _, y in places} == {31.5}
    shown = [one.attrib["aria-label"] for one in tile.iter() if "aria-label" in one.attrib]
    assert shown[-3:] == ["5", "2", "1"] and {badge["fill"] for badge in badges} == {STRONG}
    editions = [found.attrib for found in tile.iter() if found.tag.endswith("rect")]
    frame, ground = editions[:2]
    assert frame["fill"] == STRONG and float(frame["x"]) < -2 and float(frame["width"]) > float(ground["width"]) + 4
    assert ground["stroke"] == "#8a9a3a"  # it sprouts
    without = struck()
    without["winds_revealed"] = 0
    plain = piece(document(render_svg(without)), "data-tile", "P4")
    for root, top in ((tile, 42), (plain, 21)):
        cloud = next(
            part.attrib["transform"]
            for part in root.iter()
            if any(found.attrib.get("href") == "#tabletop-cloud-shadow" for found in part)
        )
        x, y, scale = (float(one) for one in re.findall(r"[\d.]+", cloud))
        assert x == 84 and top <= y - 34 * scale <= top + 20


def test_southern_winds_are_news_in_the_action_phase_only() -> None:
    state = struck()
    for phase, new in ((Phase.ACTION, True), (Phase.WEATHER, False), (Phase.HARVEST, False), (Phase.OVER, False)):
        state["phase"] = phase
        root = document(render_svg(state))
        drawn = [piece(root, "data-tile", "P4"), *(piece(root, "data-winds-card", str(card)) for card in (5, 2, 1))]
        for found in drawn:
            assert (STRONG in ElementTree.tostring(found, encoding="unicode")) == new
        assert STRONG not in ElementTree.tostring(piece(root, "data-winds-card", "8"), encoding="unicode")


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_what_is_scored_is_never_cut(players: int) -> None:
    """Scores are never cut, even long ones: half of the tiles have drops of everybody."""
    state = Batch(Config(players=players, modules=MODULES), 1, seed=2).states[0].copy()
    state["scored_drops"] = 0
    tiles = FIELDS[players][::2]
    for tile in tiles:
        state["scored_drops"][tile, :players] = range(1, players + 1)
    words = [found["aria-label"] for found in all_with(document(render_svg(state)), "aria-label")]
    (start,) = (i for i, one in enumerate(words) if one.startswith("Scored in this Harvest: "))
    told = " ".join(words[start:])
    for tile in tiles:
        counts = " ".join(f"p{seat} {seat + 1}" for seat in range(players))
        assert f"{tile_name(players, tile)} {counts}" in told
    assert not any(one.endswith("…") for one in words)


# ---- what a seat sees; that nothing hidden is drawn, `test_hidden_in_words.py` tests


def test_a_viewer_sees_numbers_of_cards() -> None:
    state = scenario({"players": 2, "hands": {"player_0": {"sun": 3}, "player_1": {"rain": 2, "frost": 1}}})
    root = document(render_svg(state, viewer=0))
    mine, other = all_with(root, "data-owner")
    assert mine["data-hand"] == "0,3,0,0" and mine["data-hand-size"] == "3"
    assert "data-hand" not in other and other["data-hand-size"] == "3"
    assert "data-deck-kinds" not in the_one_with(root, "data-deck") and root.attrib["data-viewer"] == "player_0"


# ---- the document


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_self_contained(config: Config) -> None:
    """Nothing from outside, every reference defined. However long a sentence is, nothing is drawn outside the page."""
    around = f'viewBox="-40 -40 {SIZE + 80} {SIZE + 80}"'
    for state in states_of(config)[3::8]:
        svg = render_svg(state, last_action="many words " * 60, names=["n" * 60] * config.players)
        root = document(svg)
        tags = {found.tag.removeprefix("{http://www.w3.org/2000/svg}") for found in root.iter()}
        assert tags <= {"svg", "defs", "g", "path", "rect", "circle", "ellipse", "use", "title"}
        ids = {found["id"] for found in all_with(root, "id")}
        assert {found["href"] for found in all_with(root, "href")} <= {f"#{name}" for name in ids}
        assert re.findall(r"\w+://[^\"]+", svg) == ["http://www.w3.org/2000/svg"]
        assert root.attrib["viewBox"] == f"0 0 {SIZE} {SIZE}"
        pixels = rgb_array(svg.replace(f'viewBox="0 0 {SIZE} {SIZE}"', around), 520)
        assert pixels.any(axis=2).mean() > 0.8
        for edge in (pixels[:19], pixels[501:], pixels[:, :19], pixels[:, 501:]):
            assert not edge.any()


def test_text_is_escaped() -> None:
    """Whatever players are called and whatever happened, the document stays well-formed and has these texts."""
    state = scenario({"players": 2})
    names = ["<b>&\"'", "a\x00\ud800\x1b[31mb" + "x" * 300]
    happened = 'He said "1 < 2 & 3 > 2"\t☃\n' + "long " * 400
    root = document(render_svg(state, names=names, last_action=happened))
    assert root.attrib["data-last-action"] == happened.replace("\n", " ").replace("\t", " ")
    first, second = (row["data-name"] for row in all_with(root, "data-owner"))
    assert first == names[0] and second == "a���[31mb" + "x" * 300
    render_svg(state, names=names, last_action=happened).encode()
    assert rgb_array(render_svg(state, names=names, last_action=happened)).any()


def test_names() -> None:
    solo, two = scenario({"players": 1}), scenario({"players": 2})
    for names in (["me"], ["me", "the wind"]):
        rows = all_with(document(render_svg(solo, names=names)), "data-owner")
        assert [row["data-owner"] for row in rows] == ["player_0", "neutral"] and rows[0]["data-name"] == "me"
    assert document(render_svg(two, names=["ann", "bob"])).attrib["data-asked"].startswith("ann is asked")
    for names in ([], ["me"], ["a", "b", "c"]):
        with pytest.raises(TabletopError, match="one for each of 2 seats"):
            render_svg(two, names=names)


def test_what_cannot_be_drawn() -> None:
    state = scenario({"players": 2})
    viewers: tuple[Any, ...] = (2, -1, "player_0")
    for viewer in viewers:
        with pytest.raises(TabletopError, match="must be a seat from 0 to 1, or None"):
            render_svg(state, viewer=viewer)
    widths: tuple[Any, ...] = (0, -1, 1.5, True, 100_000, "640")
    for width in widths:
        with pytest.raises(TabletopError, match="whole number of pixels"):
            rgb_array(render_svg(state), width)
    for svg in ("", "no picture", "<svg", "<html></html>"):
        with pytest.raises(TabletopError, match="this SVG can't be drawn"):
            rgb_array(svg)


# ---- words as outlines


def test_words_fit() -> None:
    """Long words are first made smaller, then cut. The document keeps the whole text."""
    words = "a very long label that does not fit"
    whole = width_of(words, 20)
    drawn = [document(text(words, 0, 0, 20, fit=fit)) for fit in (whole + 1, 0.9 * whole, 0.4 * whole)]
    scales = [float(one.attrib["transform"].removeprefix("translate(0 0)scale(")[:-1]) for one in drawn]
    assert scales[0] > scales[1] > scales[2] and [one.attrib["aria-label"] for one in drawn] == [words] * 3
    first, second, third = ([part.attrib["d"] for part in one] for one in drawn)
    assert first == second and 1 < len(third) < len(first) == len(words.split())
    lines = list(wrapped(words, 20, 100))
    assert " ".join(lines) == words and all(width_of(line, 20) <= 100 for line in lines)


def test_names_are_cut_in_the_middle() -> None:
    """So two names that differ only at their ends look different."""
    names = [f"policy:runs/long/and/longer/{name}.zip" for name in ("one", "two")]
    first, second = (cut(name, 16, 134, bold=True, keep_end=True) for name in names)
    assert first.startswith("policy:") and first.endswith("e.zip") and first != second
    assert first.count("…") == 1 and width_of(first, 16, True) <= 134 < width_of(names[0], 16, True)
    assert cut(names[0], 16, 134).endswith("…") and cut("short", 16, 134, keep_end=True) == "short"
    root = document(render_svg(scenario({"players": 2}), names=names))
    rows = [found for found in root.iter() if "data-owner" in found.attrib]
    labels = [[part.attrib.get("d") for part in row.iter() if part.get("aria-label") in names] for row in rows]
    assert labels[0] and labels[0] != labels[1]


def pixels_of(svg: str, attribute: str, values: Sequence[str]) -> np.ndarray:
    """The pixels of the elements with one of these values, (720, 720) bool."""
    root = document(svg)
    for parent in list(root.iter()):
        for child in [one for one in parent if one.attrib.get(attribute) in values]:
            parent.remove(child)
    without = ElementTree.tostring(root, encoding="unicode").replace("ns0:", "").replace(":ns0", "")
    return np.asarray((rgb_array(svg, 720) != rgb_array(without, 720)).any(axis=2))


@pytest.mark.parametrize(("game", "marker"), [(PETRICHOR, "umbrella"), (EVERGREEN, "first")])
def test_a_name_keeps_away_from_the_marker(game: Game, marker: str) -> None:
    """However long the first player's name is, and whatever text is below it."""
    batch = Batch(game.config(players=2), 1, seed=4)
    while not batch.terminations[0]:
        batch.step(batch.random_actions())
    state = batch.final_states[0].copy()
    state["first_player"] = seat = game.winners(state)[0]
    if game is PETRICHOR:
        state["passed"] = seat
    names = ["policy:runs/long/and/longer/MW.zip" * 2] * 2
    svg = game.drawing.render_svg(state, None, names=names)
    labels = [found["aria-label"] for found in all_with(document(svg), "aria-label")]
    own = [one for one in labels if one in (names[0], f"First: {names[0]}") or one.startswith(f"player_{seat} · wins")]
    assert len(own) == 4  # both names, equal ones, the first player's in the heading, and what is said of it
    words, marked = pixels_of(svg, "aria-label", own), pixels_of(svg, "href", [f"#tabletop-{marker}"])
    assert words.sum() > 500 and marked.sum() > 100
    near = np.zeros_like(words)
    for down in range(-3, 4):
        for right in range(-3, 4):
            near |= np.roll(words, (down, right), (0, 1))
    assert not (near & marked).any()


def test_letters() -> None:
    """Outlines end where the next letter starts. Letters that the font lacks are drawn as �."""
    advance, outline = letter("i")
    assert outline.startswith("m") and outline.count("z") == 2, "a stem and a dot"
    steps = [part for part in re.split("(?=[a-z])", outline) if part]
    assert sum_of(steps) == (advance, 0)
    assert letter("i", bold=True)[0] > advance and letter("W")[0] > 2 * advance
    assert letter("\U00020000") == letter("\ufffd") != letter("i")


def sum_of(steps: Sequence[str]) -> tuple[int, int]:
    """Where a relative path ends."""
    x = y = 0
    start = (0, 0)
    for step in steps:
        numbers = [int(one) for one in re.findall(r"-?\d+", step)]
        if step[0] == "z":
            x, y = start
        elif step[0] == "h":
            x += numbers[0]
        elif step[0] == "v":
            y += numbers[0]
        else:
            size = 4 if step[0] == "q" else 2
            for first in range(0, len(numbers), size):
                x, y = x + numbers[first + size - 2], y + numbers[first + size - 1]
        if step[0] == "m":
            start = x, y
    return x, y


# ---- pixels and files


def test_pixels() -> None:
    first, other = states_of(CONFIGS[0])[[3, 9]]
    pixels = rgb_array(render_svg(first))
    assert pixels.shape == (640, 640, 3) and pixels.dtype == np.uint8 and pixels.flags.c_contiguous
    assert (pixels == rgb_array(render_svg(first))).all()
    assert (pixels != rgb_array(render_svg(other))).any()
    assert rgb_array(render_svg(first), 96).shape == (96, 96, 3)
    half = '<rect width="10" height="10" fill="#f80"/>'
    wide = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10" width="20" height="10">{half}</svg>'
    assert rgb_array(wide, 4).tolist() == [[[255, 136, 0]] * 2 + [[0, 0, 0]] * 2] * 2


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "thorvg_python", None)
    raster._thorvg.cache_clear()
    with pytest.raises(TabletopError, match=r"petrichor-env\[render\]"):
        rgb_array("<svg/>")
    raster._thorvg.cache_clear()


def test_files(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    svg = render_svg(scenario({"players": 3}))
    picture = Picture(svg)
    assert len(repr(picture)) < 100  # what a terminal prints, and a notebook keeps beside the drawing
    assert picture._repr_svg_() == svg
    picture.save(tmp_path / "board.svg")
    picture.save(tmp_path / "board.PNG", width=200)
    save_png(svg, str(tmp_path / "other.png"))
    assert (tmp_path / "board.svg").read_text(encoding="utf-8") == svg
    with image.open(tmp_path / "board.PNG") as small, image.open(tmp_path / "other.png") as other:
        assert (np.asarray(small) == rgb_array(svg, 200)).all() and other.size == (640, 640)
    with pytest.raises(TabletopError, match=r"\.svg or \.png"):
        picture.save(tmp_path / "board.gif")
    for name in ("board.svg", "board.png"):
        with pytest.raises(TabletopError, match="no picture can be written there"):
            picture.save(tmp_path / "nowhere" / name)
