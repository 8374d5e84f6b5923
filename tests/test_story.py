"""What an action did, sentence by sentence, each with the record as it was then."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import cycle, pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from evergreen_env import Config as EvergreenConfig
from evergreen_env.game import GAME as EVERGREEN
from evergreen_env.state import BIOME_NAMES
from evergreen_env.words import POWER_WORDS
from petrichor_env import GAME as PETRICHOR
from petrichor_env import Config
from petrichor_env.actions import ACTIONS
from petrichor_env.config import MODULES, VARIANTS
from petrichor_env.state import NO_TILE
from petrichor_env.words import FIELDS, WEATHER_WORDS, owner_names, tile_name
from tabletop_engine.game import NOBODY, Game
from tabletop_engine.play.batch import Batch
from tabletop_engine.record import FORFEIT
from tabletop_engine.text.plain import PlainWords
from tests.games import connect_four
from tests.rulebook.southern_winds import solo
from tests.support.configurations import SOLO_MODULES

CONFIGS: list[Any] = [
    Config(players=2),
    Config(players=3, drafting=True, modules=("flower_tiles",)),
    *(Config(players=players, modules=MODULES) for players in (2, 5)),
    Config(),
    Config(variants=VARIANTS, modules=SOLO_MODULES),
    *(EvergreenConfig(players) for players in EVERGREEN.players),
]
EVERY_CONFIG = pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.game.name}-{config.name}")
SHARE = 6
"""One in so many stories is drawn."""

Story = list[tuple[str, Any]]


@cache
def stories(config: Any, viewer: int | None, seed: int = 3) -> list[tuple[Any, int, Story, Any]]:
    """For each step of a random game: the record before, the action, the story, the record after."""
    batch, found = Batch(config, 1, seed=seed, autoreset="disabled"), []
    while batch.actors[0] != NOBODY:
        before, action = batch.states[0].copy(), int(batch.random_actions()[0])
        story = list(config.game.words.story(before, action, viewer, batch.tables))
        batch.step([action])
        found.append((before, action, story, batch.states[0].copy()))
    return found


@pytest.mark.one_in(3)
@EVERY_CONFIG
def test_the_same_sentences(config: Any) -> None:
    game, batch = config.game, Batch(config, 1, seed=5, autoreset="disabled")
    viewers = cycle((None, config.players - 1))
    while batch.actors[0] != NOBODY:
        before, action, viewer = batch.states[0].copy(), int(batch.random_actions()[0]), next(viewers)
        kept = before.tobytes()
        for played in (action, None, FORFEIT):
            story = game.words.story(before, played, viewer, batch.tables)
            assert [sentence for sentence, _ in story] == game.words.events(before, played, viewer, batch.tables)
        assert before.tobytes() == kept
        batch.step([action])


@pytest.mark.one_in(3)
@EVERY_CONFIG
@pytest.mark.parametrize("viewer", [None, 0])
def test_pictures_of_every_moment(config: Any, viewer: int | None) -> None:
    """In these pictures nobody is asked, and nothing can be chosen."""
    generator, drawn = np.random.default_rng(1), 0
    for _, _, story, _ in stories(config, viewer):
        for _, state in story:
            assert state["actor"] == NOBODY and not state["legal"].any()
        if generator.integers(SHARE) == 0:
            for _, state in story:
                root = ElementTree.fromstring(config.game.drawing.render_svg(state, viewer))
                assert root.get("data-asked") == "" and root.get("data-actor") is root.get("data-decision") is None
                assert config.game.drawing.render_text(state, viewer)
                drawn += 1
    assert drawn > 10


@EVERY_CONFIG
def test_records_come_in_their_order(config: Any) -> None:
    """Numbers that only grow in a game never fall from one sentence to the next."""
    for before, _, story, after in stories(config, None):
        line = [before, *(state for _, state in story), after]
        for one, next_one in pairwise(line):
            assert next_one["round"] >= one["round"]
            assert (next_one["points"] >= one["points"]).all() and (next_one["scored"] >= one["scored"]).all()


# --- numbers that are told are the record's ---------------------------------------------------------------------------


def _owner(s: Any, name: str) -> int:
    return owner_names(int(s["players"])).index(name)


def _tile(s: Any, place: str) -> int:
    players = int(s["players"])
    return next(tile for tile in FIELDS[players] if tile_name(players, tile) == place)


def _points(s: Any, name: str, points: str) -> bool:
    return bool(s["points"][_owner(s, name)] == int(points))


def _votes(s: Any, name: str, weather: str, votes: str) -> bool:
    return bool(s["votes"][WEATHER_WORDS.index(weather), _owner(s, name)] == int(votes))


def _cloud_drops(s: Any, place: str, name: str, drops: str) -> bool:
    return bool(s["cloud_drops"][_tile(s, place), _owner(s, name)] == int(drops))


def _drops(s: Any, place: str, changes: str) -> bool:
    told = re.findall(r"of (\w+), now (\d+)", changes)
    return all(s["drops"][_tile(s, place), _owner(s, name)] == int(drops) for name, drops in told)


TOLD: list[tuple[str, Callable[..., bool], Game]] = [
    (r"(\w+) scores .* now (\d+)\.", _points, PETRICHOR),
    (r"(\w+) places .* on (\w+), now (\d+)\.", _votes, PETRICHOR),
    (r"The cloud on (\w+) (?:gets|loses) \d+ drops? of (\w+), now (\d+)\.", _cloud_drops, PETRICHOR),
    (r"[A-Z]\w+ on (\w+) ((?:gets|loses) \d+ .*)\.", _drops, PETRICHOR),
    (r"Round (\d+) begins.*", lambda s, number: bool(s["round"] == int(number)), PETRICHOR),
    (r"Round (\d+) begins.*", lambda s, number: bool(s["round"] == int(number)), EVERGREEN),
    (
        r"The fertility of (\w+) .* to (-?\d+)\.",
        lambda s, biome, number: bool(s["fertility"][BIOME_NAMES.index(biome)] == int(number)),
        EVERGREEN,
    ),
    (
        r"player_(\d) has the power ([a-z ]+) at level (\d)\b.*",
        lambda s, seat, power, level: bool(s["level"][int(seat), POWER_WORDS.index(power)] == int(level)),
        EVERGREEN,
    ),
]


@pytest.mark.parametrize(("pattern", "holds", "game"), TOLD)
def test_numbers_that_are_told(pattern: str, holds: Callable[..., bool], game: Game) -> None:
    checked = 0
    for config in (config for config in CONFIGS if config.game is game):
        for _, _, story, _ in stories(config, None):
            for sentence, state in story:
                found = re.fullmatch(pattern, sentence)
                if found:
                    assert holds(state, *found.groups()), sentence
                    checked += 1
    assert checked > 10


def test_points_add_up() -> None:
    """Evergreen tells how many points are scored, not the new total."""
    scored = 0
    for before, _, story, _ in stories(EvergreenConfig(3), None):
        points = before["points"].copy()
        for sentence, state in story:
            found = re.fullmatch(r"player_(\d) scores (\d+) points? .*", sentence)
            if found:
                points[int(found[1])] += int(found[2])
                scored += 1
            assert (state["points"] == points).all(), sentence
    assert scored > 20


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_southern_winds_step_by_step() -> None:
    """First the card is told, then its effect, then its votes."""
    before, action = solo({1: (0, 2)}, winds=(5,), random=3), ACTIONS["vote frost"]
    story = PETRICHOR.words.story(before, action, None, PETRICHOR.load_tables(None))
    (first, card), (second, filled) = ((text, s) for text, s in story if "card 5" in text or "The cloud on P1" in text)
    assert first.startswith("Southern Winds card 5") and second == "The cloud on P1 gets 1 drop of neutral, now 3."
    assert card["cloud_drops"][0].tolist()[:2] == [0, 2] and filled["cloud_drops"][0].tolist()[:2] == [0, 3]
    for state in (card, filled):
        assert state["winds_revealed"] == 1 and state["winds_card"][0] == 5
        assert state["winds_target"][0] == 0 and state["winds_target"][1] == NO_TILE
    assert not filled["votes"][:, 1].any() and story[-1][1]["votes"][:, 1].any()


def test_words_that_tell_no_story() -> None:
    """Then the sentences tell everything as one event."""

    class Terse(PlainWords):
        def events(self, before: Any, action: int | None, viewer: int | None, tables: np.ndarray) -> list[str]:
            return ["A stone falls.", "It lands."]

    state = Batch(connect_four.GAME.config(), 1, seed=1).states[0]
    tables = connect_four.GAME.load_tables(None)
    assert Terse((), ()).story(state, 0, None, tables) == [("A stone falls.", None), ("It lands.", None)]
    assert connect_four.GAME.words.story(state, 0, None, tables) == []
