"""The rules as text: every configuration, all numbers of the tables, and answers to a newcomer's questions.

Readers who had never seen the games answered the questions below from the text alone. What they answered wrongly, or
had to guess, was rewritten. Each question has the sentence that answers it, and the program plays the answer.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from evergreen_env.component_files import load_tables as evergreen_tables
from evergreen_env.config import Config as Evergreen
from petrichor_env.component_files import load_tables
from petrichor_env.config import MODULES, VARIANTS, Config
from petrichor_env.drawing import rules_text
from petrichor_env.state import Crop
from petrichor_env.tables import NEVER, RESHUFFLE, TABLES
from tabletop_agents.random_agent import RandomAgent
from tabletop_cli import evergreen, petrichor
from tabletop_engine.errors import ConfigError, IllegalAction
from tabletop_engine.text.tokens import estimated_tokens
from tabletop_engine.text.words import plain_rules
from tabletop_play.typed import TypedSession
from tests.evergreen import play as eg
from tests.games import connect_four, leduc_poker
from tests.rulebook.base_game import (
    asked,
    by_seat,
    clouds,
    end_round,
    final_round,
    game,
    growing,
    legal_names,
    on_tile,
    tile,
)
from tests.rulebook.southern_winds import neutral_turn, solo, tile_drops
from tests.support.configurations import EVERY_CONFIGURATION
from tests.support.play import play

MOST_TOKENS = 2500
"""Tokens in the encoding o200k, which counts up to 4 % more than the estimate."""
ENCODED = 1.035

FLAGS: list[dict[str, Any]] = [
    {"flags.partial_actions": False, "flags.canonical_sets": False, "flags.wild_biome": "anywhere"},
    {"flags.wild_fertility": "all_biomes", "flags.power_cap": 5, "flags.ravine_allows": ["bush", "lake"]},
    {"flags.wild_fertility": "own_pile", "flags.aridity_empty": "pending", "flags.aridity_target": "top_card"},
    {"flags.supply": [11, 13, 15, 5, 5], "flags.buds_points": "each_use", "flags.marked_card_left": "next_player"},
    {"flags.lake_growth": "mandatory", "flags.reshuffle": "each_season", "flags.skull_count_matters": True},
    {"flags.season_rounds": [2, 1, 2, 1], "flags.start_points": [4, 5, 6, 7], "flags.voluntary_pass": False},
]
EVERGREEN = [Evergreen(players) for players in (1, 2, 3, 4)]
EVERGREEN += [Evergreen(players, components=flags) for players in (1, 3) for flags in FLAGS]


def rules(config: Any) -> str:
    return str(config.game.words.rules(config))


# --- the form --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [*EVERY_CONFIGURATION, *EVERGREEN], ids=str)
def test_the_form(config: Any) -> None:
    text = rules(config)
    assert estimated_tokens(text) * ENCODED <= MOST_TOKENS
    first, *lines = text.split("\n")
    assert first.startswith(f"# {config.game.title}: rules for ")
    for line in lines:
        point = re.fullmatch(r"- ([A-Z0-9\"a-z].*[.:])", line)
        assert point or re.fullmatch(r"## [A-Z].*|  ```|  \d [MFGRWN#.]{7}|", line), line
        assert line.startswith("  ") or not re.search(r"None|  |\.\.|[{}\\_]| ,", line), line
    assert len(re.findall("^## ", text, re.MULTILINE)) >= 9


@pytest.mark.parametrize("game", [connect_four.GAME, leduc_poker.GAME], ids=str)
def test_small_games(game: Any) -> None:
    text = game.words.rules(game.config())
    assert text.startswith(f"# {game.title}: rules\n\n- ") and estimated_tokens(text) < 300


def test_only_what_is_played() -> None:
    """Modules, variants and kinds of games that are not played are not mentioned."""
    base = rules(Config(players=3))
    for word in ("Lake", "Cactus", "Fertilizer", "Snowdrop", "ower", "orecast", "neutral", "draft", "Southern"):
        assert word not in base
    alone = rules(Config())
    for word in ("First Player", "each player must", "last player", "Corn", "Lake", "marker"):
        assert word not in alone
    assert "Corn" not in rules(Config(players=2)) and "Corn" in base
    assert not re.search("Wheat \\(|Potato", rules(Config(variants=("no_more_tricks",))))
    assert rules(Config(variants=("one_more_turn",))) != alone != rules(Config(variants=("double_card",)))
    assert "marker" not in rules(Evergreen(1)) and "In turn order" not in rules(Evergreen(1))


# --- the numbers -----------------------------------------------------------------------------------------------------


def test_every_number_of_petrichors_tables() -> None:
    """If a number changes, the text of some configuration changes."""
    shipped = load_tables()
    chosen = Config(modules=("cactus", "fertilizer")), Config(players=5, modules=MODULES), Config(players=4)
    texts = {config: rules(config) for config in chosen}
    unread = []
    for name in TABLES.names or ():
        for index in np.ndindex(shipped[name][0].shape):
            if counts(shipped[0], name, index):
                changed = shipped.copy()
                changed[name][(0, *index)] += 1
                if all(config.game.words.rules(config, changed) == text for config, text in texts.items()):
                    unread.append((name, index))
    assert not unread


def counts(t: Any, name: str, index: tuple[int, ...]) -> bool:
    """Whether a number of the tables is ever used."""
    if name == "copies":
        return index[0] <= Crop.CORN  # there is one tile of each other crop
    if name == "drops_to_grow":
        return bool(t[name][index] != NEVER)
    if name == "scores":
        crop, side, place = index
        if crop in (Crop.LAKE, Crop.DANDELION, Crop.PRIMROSE) or (crop == Crop.RICE and (side, place) != (1, 0)):
            return False
        sides = {Crop.COFFEE: (0, 1), Crop.CACTUS: (1, 2)}
        return side in sides.get(Crop(crop), (1,))
    if name in ("winds_votes", "winds_harvest"):
        return index[0] < RESHUFFLE - 1
    return not (name == "solo_priority" and t[name][index] == 0)


def test_numbers_of_evergreens_tables() -> None:
    """The board, the deck and every flag."""
    before = rules(Evergreen(2))
    changes: list[dict[str, Any]] = [{"deck.meadow": [1, 1, 1, 1, 0, "skull"]}, {"flags.setup_flowers": 6}]
    changes += [{"flags.sun_start": "east"}, {"board.rows": ["MFGRWN#"]}, {"flags.start_points": [0, 2, 0, 0]}]
    changes += [{key: value} for flags in FLAGS for key, value in flags.items()]
    for change in changes:
        assert rules(Evergreen(2, components=change)) != before, change


def test_the_numbers_of_an_edition() -> None:
    """The text uses the tables of the game, not those of the configuration."""
    numbers = {"tiles.wheat.drops_to_grow": 4}
    config = Config(players=2)
    assert config.game.words.rules(config, load_tables(numbers)) == rules(Config(players=2, components=numbers))
    assert rules(Evergreen(2)) == Evergreen(2).game.words.rules(Evergreen(2), evergreen_tables())


# --- where they are shown --------------------------------------------------------------------------------------------


def test_the_command() -> None:
    for main, words, config in (
        (
            petrichor.app,
            ["--players", "4", "--modules", "lake,powers"],
            Config(players=4, modules=("lake", "powers")),
        ),
        (petrichor.app, ["--variants", ",".join(VARIANTS)], Config(variants=VARIANTS)),
        (evergreen.app, [], Evergreen()),
    ):
        assert CliRunner().invoke(main, ["rules", *words]).output == rules(config) + "\n"


def test_in_the_terminal() -> None:
    session = TypedSession(Evergreen(2), {1: RandomAgent()}, seed=1)
    told = session.answer("rules").text
    assert told == plain_rules(rules(Evergreen(2))) and "#" not in told.split("\n")[0] and "```" not in told
    assert "rules " in session.answer("h").text


# --- questions of newcomers: Petrichor -------------------------------------------------------------------------------

TWO, ALONE, FIVE = Config(players=2), Config(), Config(players=5, modules=MODULES)


def says(config: Any, sentence: str) -> bool:
    """Whether the rules say this (a regular expression)."""
    return re.search(sentence, rules(config)) is not None


@pytest.mark.parametrize(
    ("sentence", "crop", "drops", "points"),
    [
        ("Grass .*: 4/3", "grass", (3, 2), (4, 3)),
        ("two tied for most are both second", "cotton", (2, 2), (2, 2)),
        ("Wheat .*: 2/3; who is first alone also", "wheat", (3, 3), (3, 3)),
        ("Potato .*: 3/5", "potato", (4, 1), (3, 5)),
        (r"same, by their number \(1/2/…\): 10/8", "corn", (4, 1), (8, 8)),
        ("Rice .*: sprouting 0", "rice", (4, 1), (0, 0)),
    ],
    ids=str,
)
def test_what_does_a_harvest_pay(sentence: str, crop: str, drops: tuple[int, int], points: tuple[int, int]) -> None:
    assert says(Config(players=2) if crop != "corn" else Config(players=3), sentence.replace("/3;", "/3.*;"))
    players = 3 if crop == "corn" else 2
    state = end_round(
        players,
        field={"b2": tile(crop, drops)},
        votes={"frost": (0, 1), "sun": (0, 1)},
        dice=["harvest"] * 3,
    )
    assert by_seat(state, "points")[:2] == points and on_tile(state, "b2")[:2] == (0, 0)


def test_what_becomes_of_a_cloud_that_gets_two_drops() -> None:
    assert says(TWO, "A light cloud with 4 or more drops becomes a thundercloud, and never turns back")
    assert says(TWO, "With 8 or more drops a cloud overflows: all its drops fall on the tile and it is gone")
    hands = ("sun frost", "frost")
    grown = play(game(hands=hands, field={"a2": tile(cloud=(2, 1))}), "play sun")
    assert clouds(grown) == {"a2": ("thunder", 4, 1)}
    poured = play(game(hands=hands, field={"a2": tile(cloud=(3, 3))}), "play sun")
    assert clouds(poured) == {} and on_tile(poured, "a2") == (5, 3)


def test_which_actions_a_hand_pays_for() -> None:
    assert says(TWO, "Any two cards, neither of kind K, can stand for one card of kind K")
    assert says(TWO, "costs two cards of its kind; for each of them two other cards can stand")
    state = game(hands=("frost rain wind wind", "frost"), field={"a2": tile(cloud=(1, 0))})
    everything = {f"substitute {kind}" for kind in ("frost", "sun", "wind", "rain")}
    assert legal_names(state) == {"pass", "play frost", "play wind", "play rain", *everything}
    optional = play(state, "play frost", "tile b2", "vote frost")
    assert legal_names(optional) >= {"decline", "play wind", "substitute rain"}
    with pytest.raises(IllegalAction):
        play(optional, "play rain")


def test_how_to_vote() -> None:
    assert says(TWO, "on the card's weather space, or on the next one in the circle, or turn one Harvest die down by 1")
    state = game(hands=("wind frost", "frost"), field={"a2": tile(cloud=(1, 0))}, dice=[1, 3, "harvest"])
    state = play(state, "play wind", "move east")
    assert legal_names(state) == {"vote wind", "vote rain", "die 1", "die 3"}
    assert [by_seat(play(state, f"die {side}"), "points")[0] for side in (1, 3)] == [2, 1]


def test_who_wins_a_vote_and_who_is_first() -> None:
    assert says(TWO, "who has more votes there than the other advances by 1")
    assert says(TWO, "the First Player keeps the marker if they have more votes left on the spaces than the other")
    field = {"b1": tile(cloud=(1, 0)), "c1": tile(cloud=(0, 1))}
    votes = {"frost": (1, 0), "rain": (2, 1), "sun": (2, 2)}
    seats = {"first_player": "player_1", "passed": "player_1", "actor": "player_0", "hands": ("frost", "")}
    state = end_round(2, field=field, votes=votes, **seats)
    assert by_seat(state, "voting_wins") == (1, 0) and state["first_player"] == 0


def test_which_clouds_rain_weather_pours() -> None:
    assert says(TWO, "all drops of all thunderclouds fall, and these clouds are gone")
    field = {"b1": tile(cloud=(3, 0)), "c1": tile(cloud=(1, 1), thunder=True)}
    state = final_round(2, votes={"rain": (1,)}, field=field | {"a3": tile("cotton")})
    assert clouds(state) == {"b1": ("light", 3, 0)}


def test_coffee_that_sprouts_in_sun_weather() -> None:
    assert says(TWO, "Then all sprouting Coffee develops") and says(TWO, "Coffee .*developed 10/6")
    field = {"b1": tile("coffee", cloud=(4, 0))}
    votes = {"sun": (0, 1), "frost": (0, 1)}
    state = end_round(2, field=field, votes=votes, dice=["harvest", "harvest", "harvest"])
    assert by_seat(state, "points") == (10, 0)


def test_a_crop_that_loses_a_drop() -> None:
    assert says(TWO, "grows as soon as its tile holds its number of drops .* and dries out at once with fewer")
    field = {"b1": tile("wheat", (2, 1)), "c1": tile("grass")}
    state = end_round(2, field=field, votes={"wind": (0, 1), "frost": (0, 1)})
    state = play(state, "drop b1 own", "move east")
    assert growing(state, "b1") == "none" and on_tile(state, "b1") == (2, 0)


def test_how_many_cards_are_kept() -> None:
    assert says(TWO, "whoever holds more than 4 cards discards down to 4")
    state = end_round(2, hands=("frost frost frost frost frost sun", "frost"))
    assert asked(state) == ("discard", 0) and int(state["cards_left"]) == 2


def test_who_takes_the_marker() -> None:
    three = Config(players=3)
    assert says(three, "who has it already gives it to the player before them")
    assert not says(TWO, "marker at once")
    state = play(game(3, hands=("frost", "frost", "frost"), first_player="player_0", actor="player_0"), "pass")
    assert state["first_player"] == 2 and state["actor"] == 1


def test_the_target_of_a_card_of_the_southern_winds() -> None:
    assert says(ALONE, "a die names the tile; if it is not valid the next one is tried")
    targets = Config(variants=("non_random_targets",))
    assert says(targets, "it is the valid tile with the highest number")
    assert says(targets, "cards 1 to 3 ignore tiles with at least 2 neutral drops more than yours")
    state = solo(drops={6: (1, 3), 5: (1, 1)}, winds=(2,), variants=["non_random_targets"])
    state = neutral_turn(state)
    assert tile_drops(state, 6) == (1, 3) and tile_drops(state, 5) == (1, 3)


def test_the_southern_wind_blows_drops_north() -> None:
    assert says(ALONE, "from each of P3, P4, P5, P6 in this order one drop of yours moves one tile north")
    votes = {"wind": (3, 0), "frost": (2, 0)}
    state = play(solo({}, {3: (1, 0), 5: (1, 0)}, votes=votes, decision="turn", winds=(4,)), "pass")
    state = play(state, "drop a3 own", "move east")
    assert np.flatnonzero(state["drops"][:, 0]).tolist() == [0, 5]  # P1 and P4


def test_equal_points_lose_alone() -> None:
    assert says(ALONE, "equal points lose")
    state = play(solo(points=(31, 31), decision="turn", round=4), "pass")
    assert state["points"][:2].tolist() == [31, 31] and Config().game.winners(state) == [1]


def test_the_closed_snowdrop_and_the_lake() -> None:
    assert says(FIVE, "While closed nobody can put a drop there; those that pour there go back to their owners")
    assert says(FIVE, "must add 3 own drops")
    field = {"b1": tile("snowdrop", cloud=(3, 2))}
    state = end_round(field=field, votes={"rain": (0, 1), "sun": (0, 1)}, modules=["flower_tiles"])
    assert on_tile(state, "b1") == (0, 0)
    state = game(hands=("wind frost", "frost"), field={"a2": tile(cloud=(2, 3)), "b2": tile("lake")}, modules=["lake"])
    state = play(state, "play wind", "move east")
    assert clouds(state) == {} and by_seat(state, "supply") == (20, 20)


# --- questions of newcomers: Evergreen -------------------------------------------------------------------------------

PLANTS = Evergreen(2)


@pytest.mark.parametrize(
    ("line", "light"),
    [("tT", 3), ("TtT", 2), ("T.T", 2), ("T..t", 3), ("t.t", 2), ("Tut", 2)],
)
def test_what_is_lit(line: str, light: int) -> None:
    assert says(PLANTS, "dark if it stands in the shadow of a tree of its size or larger")
    assert says(PLANTS, "Behind a small tree the next space is in shadow, behind a big tree the next two, whatever is")
    spaces = eg.LINES["north"].split()
    planet = {space: eg.PIECES[piece] for space, piece in zip(spaces, line, strict=False) if piece != "."}
    state = eg.season(planet)
    forest = 3 if "u" in line else 2 if line == "tT" else 3 if line == "TtT" else 1
    assert int(state["points"][0]) == light + forest


def test_the_level_of_a_power() -> None:
    assert says(PLANTS, "raises your level of it by 1, even if it can do nothing")
    assert says(PLANTS, "up to as many times as the new level, each time in any biome")
    assert says(PLANTS, "brings points equal to the new level, at once and only once a turn")
    state = eg.play(eg.turn("swamp bush", levels={"player_0": {"bush": 2}}), "power", "space c1", "space d1")
    assert eg.look(state, "decision") == "power"
    state = eg.play(state, "space c2")
    assert eg.look(state, "decision") == "turn" and eg.look(state, "levels")["player_0"]["bush"] == 3


def test_plant_and_grow() -> None:
    assert says(PLANTS, "then another space of this biome grows by one step, or only one of the two")
    state = eg.play(eg.turn("swamp bush"), "plant and grow", "space a5")
    assert eg.look(state, "planets")["player_0"] == {"a5": "sprout"}
    assert eg.look(state, "decision") == "turn"  # nothing else can grow


def test_a_variant_without_a_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_text, "_TOLD_VARIANTS", ("double_card",))
    assert rules(Config(variants=("double_card",)))
    with pytest.raises(ConfigError, match=r"'one_more_turn' yet; write .* into petrichor_env/drawing/rules_text\.py"):
        rules(Config(variants=VARIANTS[-1:]))
    assert "rules_text.py" in TypedSession(Config(variants=VARIANTS[-1:]), {}, seed=0).answer("rules").text  # plays on


def test_a_skull_turns_the_most_recent_flowers() -> None:
    assert says(PLANTS, "the most recent face-up card with flower icons of that pile face down")
    zone = ["swamp lake", "swamp sprout"]  # 2 flowers, then 1
    assert eg.fertility(zone, "swamp bush")["swamp"] == 2


def test_fertility_of_cards_that_are_taken() -> None:
    assert says(PLANTS, "The icons of cards that are taken do nothing")
    state = eg.draft(["meadow sprout", "snow buds", "wild lake"])  # 2 flowers each
    state = eg.pick(eg.pick(state, "meadow sprout"), "snow buds")
    assert eg.look(state, "zone") == []


def test_what_big_trees_bring() -> None:
    assert says(PLANTS, "each of your big trees scores the fertility of its biome, lit or not")
    planet = dict.fromkeys(("a5", "b7", "c7"), "big_tree")
    zone = ["swamp lake", "swamp sprout", "swamp small_tree", "swamp buds"]
    state = eg.all_done(eg.turn("wild sprout", planet, round=14, zone=zone))
    assert eg.scored(state, "fertility")[0] == 3 * 5
