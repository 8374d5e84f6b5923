"""The fast rules and the rules by the book (tests/reference_evergreen) agree after every decision."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evergreen_env import Config, describe, scenario
from tabletop_engine.testing.comparing import Difference
from tests.evergreen.differential import compare_game
from tests.evergreen.play import play as play_fast
from tests.evergreen.random_games import play
from tests.reference_evergreen import draft, game, scoring, turn
from tests.reference_evergreen.table import Player, Table
from tests.reference_evergreen.task import Task
from tests.reference_evergreen.zone import Zone
from tests.support.effort import games

GAMES = games(3, 12)
"""Of each number of players."""
RANDOM_GAMES = 10
"""Of each of the groups of random configurations."""
PLAYED = games(2, RANDOM_GAMES)
"""The first ones of each group."""
MANY = 2000
"""Random games among the slow tests; `make fuzz` plays on and on."""


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_both_play_the_same_games(players: int) -> None:
    for seed in range(GAMES):
        compare_game(Config(players), seed)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("group", range(20))
def test_both_play_the_same_games_with_random_overlays(group: int) -> None:
    for seed in range(PLAYED):
        play(RANDOM_GAMES * group + seed)


@pytest.mark.slow
def test_both_play_many_random_games() -> None:
    for seed in range(20 * RANDOM_GAMES, MANY):
        play(seed)


# --- A difference is found and told ----------------------------------------------------------------------------------

TASK, LINES, SCORED, SKULL = turn.action_task, scoring.lines, scoring.fertility, Zone.add


def marker_on_the_last_card(table: Table) -> list[int]:
    """The slots with a card, in the wrong order. The rules use the first, for the marker and for the leftover."""
    return [slot for slot, card in enumerate(table.market) if card is not None][::-1]


def three_growths(table: Table, player: Player, action: str) -> Task:
    task = TASK(table, player, action)
    if action == "grow two":
        task.limit = 3
    return task


def no_discards(table: Table) -> None:
    scoring.score_season(table)


def discarded_skulls(table: Table, card: str | None) -> None:
    assert card is not None
    (table.zone.add if table.printed.flowers(card) else table.discards.add)(card)


MISTAKES: dict[str, tuple[Any, str, Any]] = {
    "the marker on the rightmost card": (draft, "remaining", marker_on_the_last_card),
    "aridities are discarded": (draft, "place_leftover", discarded_skulls),
    "equal trees give each other light": (scoring, "HEIGHT", {"small_tree": 2, "big_tree": 1}),
    "the sun on the wrong side": (scoring, "lines", lambda board, sun: [line[::-1] for line in LINES(board, sun)]),
    "a forest of one tree at most": (scoring, "forest", lambda planet: min(1, len(planet.pieces))),
    "fertility counts double": (scoring, "fertility", lambda table, planet: 2 * SCORED(table, planet)),
    "the fewest points win": (game, "ranking", lambda table: sorted(table.players, key=lambda player: player.points)),
    "collected cards stay": (game, "end_season", no_discards),
    "three spaces grow": (turn, "action_task", three_growths),
    "a wild card has no biome": (turn, "BIOMES", ()),
    "no action is possible twice": (turn, "ACTIONS", {"plant three": "plant", "grow two": "grow"}),
    "nobody may stop": (turn, "DONE", "stop"),
}
"""What is wrong, and the object of the reference that is replaced."""


@pytest.mark.one_in(5)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_planted_mistakes_are_found(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*MISTAKES[mistake])
    with pytest.raises(Difference):
        play_some(60)


def play_some(number: int) -> None:
    for seed in range(number):
        compare_game(Config(2 + seed % 3), seed)


def test_a_difference_tells_how_to_see_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "forest", lambda planet: 0)
    with pytest.raises(Difference) as caught:
        compare_game(Config(2), seed=1)
    difference = caught.value
    assert difference.keys == ["points", "scored"]
    lines = str(difference).splitlines()
    assert lines[0] == f"2p, seed 1, step {difference.step}"
    assert "--- fast: points" in lines and "+++ reference: points" in lines
    after = describe(play_fast(scenario(json.loads(lines[-2])), str(difference.action)))
    assert all(after[key] == difference.fast[key] for key in after if key in difference.fast)
