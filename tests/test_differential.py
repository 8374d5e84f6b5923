"""The fast rules and the rules by the book (tests/reference) play the same games and agree after every decision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from petrichor_env import Config, describe, scenario
from petrichor_env.config import MODULES
from tests.fuzz import play
from tests.reference import cards, voting
from tests.reference.table import Player, Table
from tests.reference.words import HARVEST
from tests.support.configurations import BASE, EVERY_CONFIGURATION, SOLO_MODULES, TOGETHER
from tests.support.differential import Comparison, Difference, compare_game
from tests.support.effort import games
from tests.support.play import play as play_fast

GAMES = games(1, 5)
"""Of each configuration."""
RANDOM_GAMES = 8
"""Of each of the groups of random configurations."""
PLAYED = games(2, RANDOM_GAMES)
"""The first ones of each group."""
MANY = 3000
"""Random games among the slow tests; `make fuzz` plays on and on."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("config", dict.fromkeys(EVERY_CONFIGURATION), ids=lambda config: config.name)
def test_both_play_the_same_games(config: Config) -> None:
    for seed in range(GAMES):
        compare_game(config, seed)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("group", range(50))
def test_both_play_the_same_games_of_random_configurations(group: int) -> None:
    for seed in range(PLAYED):
        play(RANDOM_GAMES * group + seed)


@pytest.mark.slow
def test_both_play_many_random_games() -> None:
    for seed in range(50 * RANDOM_GAMES, MANY):
        play(seed)


OVERLAYS = {
    "few pieces": """
[pieces]
drops = 7
votes = 2
clouds = 6
pods = 3
""",
    "fertile": """
harvest_die.sides = [1, 2, "harvest", "harvest", "harvest", "harvest"]
[tiles]
wheat.drops_to_grow = 1
cotton.drops_to_grow = 1
grass.drops_to_grow = 1
potato.drops_to_grow = 1
coffee.drops_to_grow = 1
rice.drops_to_grow = 1
corn.drops_to_grow = 1
cactus.drops_to_grow = 1
dandelion.drops_to_grow = 1
""",
}
"""Component files that make events frequent that are rare with the printed numbers."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("modules", [False, True])
@pytest.mark.parametrize("players", [1, 2, 3, 4, 5])
def test_both_play_the_same_games_with_other_pieces(players: int, modules: bool, overlay: str, tmp_path: Path) -> None:
    file = tmp_path / "overlay.toml"
    file.write_text(OVERLAYS[overlay])
    every = SOLO_MODULES if players == 1 else MODULES
    config = Config(players=players, modules=every if modules else (), components=str(file))
    for seed in range(GAMES):
        compare_game(config, seed)


# --- Differences that were found -------------------------------------------------------------------------------------


def tables_of(config: Config, seeds: range) -> list[dict[str, Any]]:
    """The tables after each decision of these games. Both implementations agree on them."""
    tables = []
    for seed in seeds:
        comparison = Comparison(config, seed)
        while comparison.next_step():
            comparison.compare()
            tables.append(comparison.fast)
    return tables


def test_a_holder_of_forecast_cards_is_asked_for_a_turn_that_can_only_be_a_pass() -> None:
    """Skipping the question would show that no forecast card can be played."""
    asked = [table for table in tables_of(TOGETHER[3], range(6)) if table["decision"] == "turn"]
    assert any(table["legal"] == ["pass"] and table["forecasts"][table["actor"]] for table in asked)


def test_the_own_card_of_an_optional_action_is_named_first() -> None:
    """Then the cards that stand for the second one, in ascending order of kinds."""
    asked = [table for table in tables_of(BASE[0], range(6)) if table["decision"] == "pay"]
    assert any("card rain" in table["legal"] and len(table["legal"]) > 1 for table in asked)


# --- A difference is found and told ----------------------------------------------------------------------------------


def test_a_difference_tells_how_to_see_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a mistake in the reference: the last vote of a die scores like the others."""

    def decrease_die(table: Table, player: Player, votes: int) -> None:
        table.dice[table.dice.index(votes)] = votes - 1 if votes > 1 else HARVEST
        player.gain(1, "dice")

    monkeypatch.setattr(voting, "decrease_die", decrease_die)
    with pytest.raises(Difference) as caught:
        compare_game(BASE[0], seed=1)
    difference = caught.value
    assert difference.keys == ["points", "scored"]
    assert difference.decision == "vote" and difference.action == "die 1"
    lines = str(difference).splitlines()
    assert lines[0] == f"2p, seed 1, step {difference.step}"
    assert "--- fast: points" in lines and "+++ reference: points" in lines
    before = scenario(json.loads(lines[-2]))
    after = describe(play_fast(before, difference.action))
    assert all(after[key] == difference.fast[key] for key in after if key in difference.fast)


def test_points_of_another_source_are_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    def decrease_die(table: Table, player: Player, votes: int) -> None:
        table.dice[table.dice.index(votes)] = votes - 1 if votes > 1 else HARVEST
        player.gain(1 if votes > 1 else 2, "cards")

    monkeypatch.setattr(voting, "decrease_die", decrease_die)
    with pytest.raises(Difference) as caught:
        compare_game(BASE[0], seed=1)
    assert caught.value.keys == ["scored"]


def test_a_difference_at_setup_and_an_error_are_told_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cards, "cards_to_deal", lambda table: 5)
    with pytest.raises(Difference) as caught:
        compare_game(BASE[0], seed=1)
    assert caught.value.step == 0 and "hands" in caught.value.keys and "after setup" in str(caught.value)
    overlay = tmp_path / "few.toml"
    overlay.write_text(OVERLAYS["few pieces"])
    with pytest.raises(Difference) as caught:
        compare_game(Config(players=2, components=str(overlay)), seed=1)
    assert "('pieces.votes', 2)" in str(caught.value)
    monkeypatch.setattr(cards, "cards_to_deal", lambda table: [][1])
    with pytest.raises(Difference, match="IndexError"):
        compare_game(BASE[0], seed=1)
