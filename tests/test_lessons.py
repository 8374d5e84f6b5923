"""Lessons: every decision of every game is explained briefly, from what the player knows, with the right numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergreen_env.config import Config as Evergreen
from evergreen_env.state import Decision as EvergreenDecision
from petrichor_env import scenario as petrichor_scenario
from petrichor_env.config import MODULES
from petrichor_env.config import Config as Petrichor
from petrichor_env.state import Decision
from tabletop_engine.game import NOBODY
from tabletop_engine.play.batch import Batch
from tabletop_engine.presentation import Lesson
from tests.games import connect_four, leduc_poker
from tests.support.configurations import EVERY_CONFIGURATION
from tests.support.hidden import swapped

HEADINGS = {
    # the English rulebook
    "Game Overview",
    "Setup",
    "Playing Cards",
    "Voting",
    "Passing - 3 and 4 player games",
    "Passing - 2 player games",
    "Hand limit",
    "Frost action",
    "Sun action",
    "Rain action",
    "Wind action",
    "Resolving Weather Spaces",
    "Sun Weather",
    "Wind Weather",
    "Game End & Victory",
    "Official Drafting Variant",
    "Southern Winds – the Solo Game",
    "One Round of Play",
    "Game End",
    "Fertilizer tokens",
    "The Lake",
    # the Flowers expansion's, which is Italian
    "Gioco in 5 giocatori",
    "Dente di Leone",
    "Gelo",
    "Vento",
    "Pioggia",
    "Raccolto",
    "Uso delle carte Previsione",
    "Forecast Card Reference",
}
CHAPTERS = Path(__file__).parents[1] / "docs" / "evergreen" / "rules.md"
"""Evergreen's rule text has few headings. This page has its chapters."""

SCARCE = Petrichor(players=5, modules=MODULES, components={"pieces.votes": 2, "pieces.clouds": 6, "pieces.drops": 6})
"""With these numbers votes are moved, clouds run out, and drops are taken from tiles."""
EVERGREEN = [Evergreen(players) for players in (1, 2, 3, 4)]
FLAGS: dict[str, Any] = {
    "flags.partial_actions": False,
    "flags.canonical_sets": False,
    "flags.wild_biome": "anywhere",
    "flags.wild_fertility": "own_pile",
    "flags.season_rounds": [2, 1, 2, 1],
    "flags.power_cap": 2,
    "flags.ravine_allows": ["bush", "lake"],
}
SUPPLY: dict[str, Any] = {
    "flags.supply": [3, 3, 3, 3, 3],
    "flags.buds_points": "each_use",
    "flags.marked_card_left": "next_player",
}


def states_of(config: Any, games: int = 2, every: int = 1) -> Iterator[tuple[Any, Any]]:
    """Random games from the beginning to the end: the states, and their tables."""
    batch = Batch(config, games, seed=7, autoreset="disabled")
    step = 0
    while (batch.actors != NOBODY).any():
        if step % every == 0:
            for state in batch.states[batch.actors != NOBODY]:
                yield state.copy(), batch.tables
        step += 1
        batch.step(batch.random_actions(), which=batch.actors != NOBODY)
    for state in batch.states:
        yield state.copy(), batch.tables


def check_form(lesson: Lesson, headings: set[str]) -> None:
    words = [len(paragraph.split()) for paragraph in lesson.text]
    assert 3 < len(lesson.title) <= 45 and lesson.title[0].isupper(), lesson
    assert 2 <= len(words) <= 4 and 25 <= sum(words) <= 140 and max(words) <= 75, (sum(words), lesson)
    assert lesson.section in headings, lesson
    for paragraph in lesson.text:
        assert paragraph == paragraph.strip() and "  " not in paragraph and paragraph[0].isupper(), paragraph
        assert paragraph[-1] in ".?" and not re.search(r"\.\.|None|nobody's's|<|\b1 (?!is)\w+s left", paragraph), (
            paragraph
        )


def chapters() -> set[str]:
    return set(re.findall("^## (.*)$", CHAPTERS.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("config", [*EVERY_CONFIGURATION, SCARCE], ids=lambda config: config.name)
def test_petrichors_lessons(config: Petrichor) -> None:
    words = config.game.words
    check_form(words.lesson(config), HEADINGS)
    for state, tables in states_of(config, games=1):
        check_form(words.lesson(config, state, tables), HEADINGS)


@pytest.mark.parametrize(
    "config", [*EVERGREEN, Evergreen(2, FLAGS), Evergreen(3, SUPPLY)], ids=lambda config: config.name
)
def test_evergreens_lessons(config: Evergreen) -> None:
    words = config.game.words
    check_form(words.lesson(config), chapters())
    for state, tables in states_of(config, games=4):
        check_form(words.lesson(config, state, tables), chapters())


def test_every_decision_is_met() -> None:
    """The tests above have seen all decisions."""
    met = set()
    for config in (
        *(Petrichor(modules=("fertilizer", "powers", "forecasts")), Petrichor(players=2, drafting=True)),
        *(Petrichor(players=4, modules=MODULES), SCARCE),
    ):
        met |= {int(state["decision"]) for state, _ in states_of(config, games=12)}
    assert met == set(Decision)
    assert {int(state["decision"]) for state, _ in states_of(EVERGREEN[1], games=12)} == set(EvergreenDecision)


# --- What a player can't know ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "config",
    [
        *(Petrichor(), Petrichor(players=2, drafting=True), Petrichor(players=3, modules=("forecasts",))),
        *(Petrichor(players=players, drafting=True, modules=MODULES) for players in (4, 5)),
    ],
    ids=lambda config: config.name,
)
def test_petrichor_tells_nothing_hidden(config: Petrichor) -> None:
    words, generator = config.game.words, np.random.default_rng(1)
    compared = 0
    for state, tables in states_of(config):
        if state["actor"] != NOBODY:
            other = swapped(np.array([state]), int(state["actor"]), generator)[0]
            assert words.lesson(config, other, tables) == words.lesson(config, state, tables)
            compared += other.tobytes() != state.tobytes()
    assert compared > 50


@pytest.mark.parametrize("config", EVERGREEN[1:], ids=lambda config: config.name)
def test_evergreen_tells_nothing_hidden(config: Evergreen) -> None:
    """The lesson is the same if the others' turns of this round are taken back."""
    game, compared = config.game, 0
    for state, tables in states_of(config):
        if state["actor"] != NOBODY:
            others = np.array([state])
            game.kernels.sample_hidden_games(
                others, tables, np.array([state["actor"]], np.int64), np.array([9], np.uint64)
            )
            assert game.words.lesson(config, others[0], tables) == game.words.lesson(config, state, tables)
            compared += others["sprouts"].tobytes() != np.array([state])["sprouts"].tobytes()
    assert compared > 20


# --- Numbers: what lessons say is in `tests/texts` --------------------------------------------------------------------


def told(lesson: Lesson) -> str:
    return " ".join(lesson.text)


def test_numbers_are_those_of_the_game() -> None:
    """A lesson uses the tables that it is given, an introduction those of the configuration."""
    shipped = Petrichor(players=5)
    fewer = Petrichor(players=5, components={"pieces.wheat_bonus": 7, "pieces.clouds": 9})
    over = petrichor_scenario({"players": 5, "phase": "over", "points": {"player_1": 30}})
    full = fewer.game.scenario(
        {
            "players": 5,
            "decision": "frost_cloud",
            "field": {f"{column}{row}": {"cloud": {"drops": {"player_1": 1}}} for row in "123" for column in "abc"},
        },
        fewer.components,
    )
    lesson, tables = fewer.game.words.lesson, fewer.game.load_tables(fewer.components)
    assert "most Wheat tokens 12 more" in told(lesson(shipped, over))
    assert "most Wheat tokens 7 more" in told(lesson(fewer, over, tables))
    assert "All 9 clouds" in told(lesson(fewer, full, tables))
    assert "round 4" in told(lesson(Petrichor())) and "round 6" in told(lesson(Petrichor(players=3, rounds=6)))
    introduction = Evergreen().game.words.lesson
    assert "14 rounds" in told(introduction(Evergreen(2))) and "6 rounds" in told(introduction(Evergreen(2, FLAGS)))


@pytest.mark.parametrize("game", [connect_four.GAME, leduc_poker.GAME], ids=lambda game: game.name)
def test_a_plain_game_has_titles(game: Any) -> None:
    config = game.config()
    assert game.words.lesson(config) == Lesson("2 players")
    for state, tables in states_of(config):
        lesson = game.words.lesson(config, state, tables)
        assert lesson.title[0].isupper() and lesson == Lesson(lesson.title)
