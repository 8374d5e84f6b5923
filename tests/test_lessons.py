"""Lessons: every decision of every game is explained briefly, from what the player knows, with the right numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergreen_env import scenario as evergreen_scenario
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
    check_form(words.introduction(config), HEADINGS)
    for state, tables in states_of(config, games=1):
        check_form(words.lesson(state, tables), HEADINGS)


@pytest.mark.parametrize(
    "config", [*EVERGREEN, Evergreen(2, FLAGS), Evergreen(3, SUPPLY)], ids=lambda config: config.name
)
def test_evergreens_lessons(config: Evergreen) -> None:
    words = config.game.words
    check_form(words.introduction(config), chapters())
    for state, tables in states_of(config, games=4):
        check_form(words.lesson(state, tables), chapters())


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


def test_frost_without_a_cloud() -> None:
    field = [f"{column}{row}" for row in "1234" for column in "abcd"][:12]
    state = petrichor_scenario(
        {
            "players": 5,
            "decision": "frost_cloud",
            "field": {tile: {"cloud": {"drops": {"player_1": 1}}} for tile in field},
        }
    )
    lesson = Petrichor().game.words.lesson(state)
    check_form(lesson, HEADINGS)
    assert lesson.text[0].startswith("All 12 clouds")


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
            assert words.lesson(other, tables) == words.lesson(state, tables)
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
            assert game.words.lesson(others[0], tables) == game.words.lesson(state, tables)
            compared += others["sprouts"].tobytes() != np.array([state])["sprouts"].tobytes()
    assert compared > 20


# --- Numbers ---------------------------------------------------------------------------------------------------------


def told(lesson: Lesson) -> str:
    return " ".join(lesson.text)


def test_numbers_of_petrichor() -> None:
    words = Petrichor().game.words
    over = petrichor_scenario({"players": 2, "phase": "over", "points": {"player_1": 30, "player_0": 24}})
    assert "most Wheat tokens 12 more" in told(words.lesson(over))
    assert "Points: player_0 24, player_1 30." in told(words.lesson(over))
    assert told(words.lesson(over)).endswith("So player_1 wins.")
    fewer = Petrichor(players=5, components={"pieces.wheat_bonus": 7, "pieces.clouds": 9})
    tables = fewer.game.load_tables(fewer.components)
    assert "most Wheat tokens 7 more" in told(words.lesson(over, tables))
    assert "always" not in told(words.introduction(Petrichor())) and "round 4" in told(words.introduction(Petrichor()))
    assert "round 6" in told(words.introduction(Petrichor(players=3, rounds=6)))
    field = [f"{column}{row}" for row in "1234" for column in "abcd"][:9]
    state = fewer.game.scenario(
        {
            "players": 5,
            "decision": "frost_cloud",
            "field": {tile: {"cloud": {"drops": {"player_1": 1}}} for tile in field},
        },
        fewer.components,
    )
    assert "All 9 clouds" in told(words.lesson(state, tables))


@pytest.mark.parametrize(
    ("points", "wins", "said"),
    [
        ({"player_0": 9, "player_1": 8}, {}, "The most points win. Equal points would have been"),
        ({"player_0": 9, "player_1": 9}, {"player_1": 1}, "the one with more Voting Wins is first. So player_1 wins."),
        ({"player_0": 9, "player_1": 9}, {}, "they share the victory. So player_0 and player_1 win."),
    ],
)
def test_how_petrichor_was_decided(points: dict[str, int], wins: dict[str, int], said: str) -> None:
    state = petrichor_scenario({"players": 3, "phase": "over", "points": points, "voting_wins": wins})
    assert said in told(Petrichor().game.words.lesson(state))


@pytest.mark.parametrize(("own", "winner"), [(5, "neutral"), (6, "player_0")])
def test_how_solo_was_decided(own: int, winner: str) -> None:
    state = petrichor_scenario({"players": 1, "phase": "over", "points": {"player_0": own, "neutral": 5}})
    assert told(Petrichor().game.words.lesson(state)).endswith(f"So {winner} wins.")


def test_a_forfeited_game() -> None:
    for scenario, config in ((petrichor_scenario, Petrichor()), (evergreen_scenario, Evergreen())):
        state = scenario({"players": 2, "decision": "game_over", "forfeited": "player_0"})
        lesson = config.game.words.lesson(state)
        assert lesson.text[0].startswith("player_0 chose") and lesson.text[-1] == "So player_1 wins."


def turn(**more: Any) -> str:
    state = petrichor_scenario({"hands": {"player_0": {"sun": 2, "rain": 1}}, **more})
    return told(Petrichor().game.words.lesson(state))


def test_what_a_turn_says() -> None:
    assert "To pass is to discard your hand" in turn(players=1)
    assert "one more turn of the Southern Winds" in turn(players=1, variants=["one_more_turn"])
    assert "the other player has one more turn. Each of you may keep 4 cards" in turn(players=2)
    assert "The first to pass discards the hand" in turn(players=3)
    assert "Nobody may pass" in turn(players=3, turns=0)
    assert "this is your last turn" in turn(players=2, passed="player_1")
    assert "second action" in turn(players=2) and "without a second action" in turn(players=2, passed="player_1")
    assert "last round" in turn(players=2, round=4) and "last round" not in turn(players=2, round=3)
    assert "any card may be played as a Sun card" in turn(
        players=2, modules=["powers"], power={"player_0": "sun", "player_1": "rain"}
    )


def test_what_a_vote_says() -> None:
    described = {"players": 2, "decision": "vote", "pending": {"card": "rain"}}
    said = told(Petrichor().game.words.lesson(petrichor_scenario({**described, "dice": [1, 2, "harvest"]})))
    assert "Vote for Rain, or for Frost, the next weather clockwise, or turn a Harvest die" in said
    assert "from 1 to Harvest 2 points" in said and "more votes than the other" in said
    said = told(Petrichor().game.words.lesson(petrichor_scenario({**described, "dice": ["harvest"] * 3})))
    assert "all dice show Harvest already" in said and "A die turned down" not in said


def test_missing_drops() -> None:
    state = petrichor_scenario(
        {
            "players": 2,
            "decision": "take_drop",
            "pending": {"card": "sun", "target": "b1"},
            "field": {
                "b1": {"cloud": {"drops": {"player_0": 3}}},
                "a2": {"drops": {"player_0": 10}},
                "b2": {"drops": {"player_0": 6}},
            },
        }
    )
    assert "has 1 drop too few" in told(Petrichor().game.words.lesson(state))


def test_numbers_of_evergreen() -> None:
    words = Evergreen().game.words
    assert "14 rounds" in told(words.introduction(Evergreen(2)))
    assert "6 rounds" in told(words.introduction(Evergreen(2, FLAGS)))
    described = {"players": 2, "cards": {"player_0": "swamp bush"}, "levels": {"player_0": {"bush": 2}}}
    tables = Evergreen(2, FLAGS)
    capped = tables.game.load_tables(FLAGS)
    said = told(words.lesson(evergreen_scenario(described)))
    assert "in the biome swamp" in said and "The power bush would reach level 3" in said
    assert "from the north, when spring ends after 4 more rounds" in said
    said = told(words.lesson(evergreen_scenario(described, FLAGS), capped))
    assert "The power bush would reach level 2" in said and "after 1 more round." in said
    wild = {"players": 2, "cards": {"player_0": "wild buds"}, "levels": {"player_0": {"buds": 1}}, "round": 5}
    said = told(words.lesson(evergreen_scenario(wild)))
    assert "in one biome, as the card is wild" in said and "reach level 2 and bring 2 points" in said
    assert "when spring ends after this round" in said
    assert "in any biomes, as the card is wild" in told(words.lesson(evergreen_scenario({**wild, "round": 1}), capped))


def test_how_evergreen_was_decided() -> None:
    def said(**points: int) -> str:
        return told(
            Evergreen().game.words.lesson(
                evergreen_scenario(
                    {"players": 2, "decision": "game_over", "points": points, "first_player": "player_1"}
                )
            )
        )

    assert said(player_0=9, player_1=8).endswith("So player_0 wins.")
    assert "first in the last round's order wins. So player_1 wins." in said(player_0=9, player_1=9)


@pytest.mark.parametrize("game", [connect_four.GAME, leduc_poker.GAME], ids=lambda game: game.name)
def test_a_plain_game_has_titles(game: Any) -> None:
    config = game.config()
    assert game.words.introduction(config) == Lesson("2 players")
    for state, tables in states_of(config):
        lesson = game.words.lesson(state, tables)
        assert lesson.title[0].isupper() and lesson == Lesson(lesson.title)
