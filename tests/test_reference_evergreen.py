"""The reference implementation of Evergreen plays whole games by itself, and the cases of the rule text hold."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from tests.reference_evergreen import Game, ScriptedChance, SeededChance
from tests.reference_evergreen.draft import place_leftover
from tests.reference_evergreen.planet import Board, Planet
from tests.reference_evergreen.printed import Printed
from tests.reference_evergreen.scoring import forest, light, lit_trees
from tests.reference_evergreen.table import Steps, Table
from tests.reference_evergreen.turn import take_turn
from tests.reference_evergreen.words import SUNS

LETTERS = {"T": "big_tree", "t": "small_tree", "s": "sprout", "u": "bush", "l": "lake"}

GOLDEN = {
    **dict.fromkeys(("c1", "c3", "a4", "e5", "e7"), "big_tree"),
    **dict.fromkeys(("d1", "c2", "e3", "b4", "e6", "d6"), "small_tree"),
    **{"d3": "bush", "c4": "sprout", "d5": "lake"},
}
"""EVERGREEN.md, c1."""

READINGS: list[dict[str, Any]] = [
    {},
    {"flags.partial_actions": False, "flags.lake_growth": "mandatory"},
    {"flags.partial_actions": False, "flags.lake_growth": "mandatory", "flags.canonical_sets": False},
    {"flags.canonical_sets": False, "flags.wild_biome": "anywhere", "flags.voluntary_pass": False},
    {"flags.wild_biome": "anywhere", "flags.partial_actions": False, "flags.supply": [4, 2, 3, 2, 2]},
    {"flags.supply": [1, 1, 1, 1, 1], "flags.partial_actions": False, "flags.canonical_sets": False},
    {"flags.supply": [1, 1, 2, 2, 2], "flags.buds_points": "each_use", "flags.marked_card_left": "next_player"},
    {"flags.ravine_allows": ["bush", "lake"], "flags.power_cap": 1, "flags.sun_start": "west"},
    {"flags.aridity_empty": "pending", "flags.skull_count_matters": True, "deck.snow": ["two skulls"] * 5 + [2]},
    {"flags.aridity_target": "top_card", "flags.aridity_empty": "pending", "flags.reshuffle": "each_season"},
    {"flags.wild_fertility": "all_biomes", "deck.wild": [3, "skull", 1, 0, "two skulls", 1]},
    {"flags.wild_fertility": "own_pile", "deck.wild": [3, "missing", 1, 0, "skull", 1]},
    {"board.rows": ["MFGRWN", "M.GR.N", "#FG##N"], "flags.season_rounds": [2, 1, 1, 1], "flags.setup_flowers": 3},
]


def check(game: Game, cards: int) -> None:
    """Check that every card is in exactly one place, and that pieces stand only where they can."""
    said = game.describe()
    zone = [card.removesuffix(" (face down)") for card in said["zone"]]
    market = [card for card in said["market"] if card]
    places = [*said["deck"], *said["discards"], *said["collected"], *zone, *market, *said["cards"].values()]
    assert len(places) == len(set(places)) == cards
    assert all(game.table.zone.fertility(biome) >= 0 for biome in ("meadow", "snow"))
    allowed = game.table.printed.flag("ravine_allows")
    for planet in said["planets"].values():
        ravines = {piece for space, piece in planet.items() if game.table.board.spaces[space] == "ravine"}
        assert ravines <= set(allowed)


def play(players: int, numbers: Mapping[str, Any] | None, seed: int) -> tuple[Game, int]:
    """Play a random game; returns it and the number of rounds in which somebody was asked."""
    draw = random.Random(seed)
    game = Game(players, numbers, SeededChance(seed))
    rounds = set()
    while game.question:
        assert len(game.question.options) > 1
        check(game, len(game.table.printed.icons))
        rounds.add(game.table.round)
        options = [name for name in game.question.options if name != "done" or draw.random() < 0.3]
        game.answer(draw.choice(options or list(game.question.options)))
    check(game, len(game.table.printed.icons))
    return game, len(rounds)


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_games_end_after_14_rounds(players: int) -> None:
    for seed in range(3):
        game, rounds = play(players, None, seed)
        said = game.describe()
        assert rounds == said["round"] == 14 and len(game.table.printed.icons) == 42
        assert said["decision"] == "game_over" and not said["collected"] and not said["cards"]
        (winner,) = game.winners()
        scores = game.final_scores()
        assert scores[winner] == max(scores.values())
        assert scores == {name: sum(part.get(name, 0) for part in said["scored"].values()) for name in scores}


@pytest.mark.parametrize("numbers", READINGS)
def test_all_readings(numbers: dict[str, Any]) -> None:
    for players in (1, 3):
        play(players, numbers, players)


def line(pieces: str, sun: str = "west") -> int:
    """Light of a row of pieces on a board that is long enough; the line starts at the west."""
    printed = Printed(1, {"board.rows": ["MFGRWN", "MFGRWN"]})
    planet = Planet(Board(printed), printed)
    planet.pieces = {f"{'abcdef'[place]}1": LETTERS[piece] for place, piece in enumerate(pieces) if piece != "."}
    return light(planet, sun)


@pytest.mark.parametrize(
    ("pieces", "points"),
    [
        *[("tt", 1), ("tT", 3), ("TtT", 2)],  # the rule text's examples
        *[("T.T", 2), ("T..T", 4), ("t.t", 2), ("T.t", 2), ("Tt.T", 4)],  # case 25
        *[("TuT", 2), ("st", 1), ("ut", 1), ("lt", 1), ("tuT", 3), ("sul", 0), ("ttt", 1)],  # case 26
    ],
)
def test_light(pieces: str, points: int) -> None:
    assert line(pieces) == points


def test_the_sun_moves() -> None:
    """Case 27."""
    assert line("Tt", "west") == 2 and line("Tt", "east") == 3
    game, _ = play(1, None, 0)
    suns = []
    for game.table.season in range(4):
        suns.append(game.table.sun)
    assert suns == list(SUNS)


def planet_with(pieces: dict[str, str]) -> Planet:
    printed = Printed(1)
    return Planet(Board(printed), printed, pieces)


def test_golden_position() -> None:
    planet = planet_with(GOLDEN)
    assert [light(planet, sun) for sun in SUNS] == [10, 15, 9, 12] and forest(planet) == 6
    assert list(planet.board.spaces)[8] == "e2" and len(planet.board.spaces) == 41
    assert lit_trees(planet_with({"e2": "lake"}), "north") == set()


def test_forests() -> None:
    """Case 28."""
    for between, size in ((None, 1), ("bush", 3), ("sprout", 1), ("lake", 1)):
        pieces = {"a4": "small_tree", "c4": "big_tree"} | ({"b4": between} if between else {})
        assert forest(planet_with(pieces)) == size
    assert forest(planet_with({"c2": "big_tree", "d3": "big_tree"})) == 1
    four, three = dict.fromkeys(("a5", "b5", "c5", "d5"), "bush"), dict.fromkeys(("c2", "d2", "c3"), "big_tree")
    assert forest(planet_with(four | three)) == 4


def turn(table: Table, card: str, answers: str) -> list[tuple[str, ...]]:
    """Take a turn with these answers, forced ones included; returns the options of each question."""
    player = table.players[0]
    player.card = card
    steps: Steps[None] = take_turn(table, player)
    asked = [next(steps).options]
    for answer in answers.split(", "):
        assert answer in asked[-1]
        try:
            asked.append(steps.send(answer).options)
        except StopIteration:
            break
    return asked


def test_turns() -> None:
    """Cases 11, 13, 15, 18, 20 and 22, and sets in reading order."""
    table = Table(1, None, SeededChance(0))
    player, planet = table.players[0], table.players[0].planet
    asked = turn(table, "swamp sprout", "power, space a5, plant and grow, space c5")
    assert asked[-1] == ("space a5", "done") and "grow two" in asked[2]
    turn(table, "swamp sprout", "plant three, space b6, space c7, power, done")
    assert planet.pieces == dict.fromkeys(("a5", "c5", "b6", "c7"), "sprout") and player.levels["sprout"] == 2
    planet.pieces = {"d2": "sprout", "e3": "small_tree", "d4": "lake", "c3": "big_tree", "c2": "sprout"}
    asked = turn(table, "wild lake", "power, space d3, space d2, space e3, grow two, space c2")
    assert asked[2] == ("space d2", "space e3", "done")
    assert planet.pieces["d2"] == "small_tree" and planet.pieces["e3"] == "big_tree"
    assert planet.pieces["c2"] == "small_tree"
    turn(table, "wild buds", "power, done")
    turn(table, "snow buds", "power, anywhere, space g5")
    assert player.earned == 3 and planet.pieces["g5"] == "sprout"


def test_a_piece_that_comes_back() -> None:
    """With one small tree in supply, a5 can grow only after b6. So only that order is offered."""
    table = Table(1, {"flags.supply": [9, 1, 9, 9, 9]}, SeededChance(0))
    planet = table.players[0].planet
    planet.pieces = {"a5": "sprout", "b6": "small_tree", "c7": "sprout"}
    asked = turn(table, "swamp buds", "grow two, space b6, space a5, done")
    assert asked[1:3] == [("space b6",), ("space a5", "space c7", "done")]
    assert planet.pieces == {"a5": "small_tree", "b6": "big_tree", "c7": "sprout"}
    table = Table(1, {"flags.supply": [1, 9, 9, 9, 9]}, SeededChance(0))
    planet = table.players[0].planet
    planet.pieces = {"a5": "sprout"}
    turn(table, "swamp buds", "plant and grow, space a5, space c7, done")
    assert planet.pieces == {"a5": "small_tree", "c7": "sprout"}


def test_buds_at_each_use() -> None:
    """Power 6 literally: level 3 brings 3 points, three times."""
    table = Table(1, {"flags.buds_points": "each_use"}, SeededChance(0))
    earned = []
    for _ in range(3):
        turn(table, "swamp buds", "power, done")
        earned.append(table.players[0].earned)
    assert earned == [1, 1 + 4, 1 + 4 + 9]


def test_leftovers() -> None:
    """Cases 5 to 8, E14, E15; and that the marker decides who starts (3 and 4)."""
    table = Table(2, {"deck.grain": [1, 2, "skull", "skull", "skull", 2]}, SeededChance(0))
    seen = []
    for card in ("grain sprout", "grain small_tree", "grain big_tree", "grain bush", "grain lake", "grain buds"):
        place_leftover(table, card)
        seen.append(table.zone.fertility("grain"))
    assert seen == [1, 3, 1, 0, 0, 2]
    place_leftover(table, "wild lake")
    assert table.discards == {"wild lake"}
    game = Game(2, None, ScriptedChance(1, ["meadow sprout", "rock bush", "snow sprout"], SeededChance(1)))
    assert game.describe()["actor"] == "player_1" and game.describe()["scored"] == {"start": {"player_0": 1}}
    game.answer("draft 1")
    assert game.describe()["marked"] == 2
    game.answer("draft 2")
    assert game.describe()["next_first"] == "player_0" and game.describe()["market"] == []
