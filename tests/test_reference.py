"""The reference implementation (tests/reference) plays whole games by itself, and nothing gets lost."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from petrichor_env.actions import ACTION_NAMES
from petrichor_env.config import MODULES, POWERS, Config
from petrichor_env.state import DECISION_NAMES
from tests.reference import Game, dealing_order, southern_winds_order
from tests.reference.setup import pile, solo_pile
from tests.reference.table import Table
from tests.support.configurations import A_FEW, BASE, CHOSEN_POWERS, RANDOM, SOLO, SOLO_MODULES

WEATHERS = ("frost", "sun", "wind", "rain")


class RandomChance:
    """Draws everything that is up to chance from what is really left on the table."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.table: Table | None = None
        self.fields: list[str] = []

    def tile(self, position: str) -> str:
        table = self.known()
        if not self.fields:
            self.fields = self.draw_fields(table)
        return self.fields[list(table.tiles).index(position)]

    def draw_fields(self, table: Table) -> list[str]:
        if table.config.solo:
            tiles = [(priority, crop) for crop, priorities in solo_pile(table).items() for priority in priorities]
            return [crop for _, crop in sorted(self.random.sample(tiles, 6))]
        return self.random.sample(sorted(pile(table).elements()), len(table.tiles))

    def known(self) -> Table:
        assert self.table is not None
        return self.table

    def first_player(self) -> int:
        return self.random.randrange(self.known().config.players)

    def card(self, seat: int, where: str) -> str:
        return self.random.choice(sorted(self.known().deck.elements()))

    def harvest_dice(self, number: int) -> list[int | str]:
        return self.random.choices((1, 2, 3, 4, "harvest", "harvest"), k=number)

    def numeric_die(self) -> int:
        return self.random.randint(1, 6)

    def southern_winds_card(self) -> int:
        return self.random.choice(sorted(self.known().southern_winds))

    def power(self, seat: int) -> str:
        taken = [player.power for player in self.known().players]
        return self.random.choice([power for power in POWERS if power not in taken])

    def forecast_cards(self, seat: int) -> list[int]:
        taken = {card for player in self.known().players for card in player.forecasts}
        return self.random.sample(sorted(set(range(1, 17)) - taken), 3)


class WatchedGame(Game):
    """A game whose `RandomChance` sees its table."""

    def _play_on(self, answer: str | None) -> None:
        assert isinstance(self.table.chance, RandomChance)
        self.table.chance.table = self.table
        super()._play_on(answer)


def check_counts(table: Table, dealt: bool = True) -> None:
    for player in table.owners:
        on_tiles = sum(tile.drops[player.seat] for tile in table.tiles.values())
        in_clouds = sum(tile.cloud.drops[player.seat] for tile in table.tiles.values() if tile.cloud)
        votes = sum(table.votes[weather][player.seat] for weather in WEATHERS)
        assert player.supply + on_tiles + in_clouds == table.printed.pieces("drops")
        assert player.votes + votes == table.printed.pieces("votes")
        assert player.supply >= 0 and player.votes >= 0
    cards: Counter[str] = table.deck + table.discards
    for player in table.players:
        cards += player.hand + player.pack
    number = table.printed.cards_of_a_kind(table.config.players)
    assert cards == Counter(dict.fromkeys(WEATHERS, number if dealt else 0))
    for tile in table.tiles.values():
        assert tile.cloud is None or 0 < tile.cloud.total < 8
        assert min([0, *tile.drops.values()]) == 0
        assert tile.crop != "lake" or not tile.total
        assert not tile.pod or tile.crop not in ("dandelion", "primrose", "lake")
    assert table.clouds_left() >= 0


CONFIGURATIONS = [*BASE, *SOLO, *A_FEW, *CHOSEN_POWERS, *RANDOM]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("config", dict.fromkeys(CONFIGURATIONS), ids=lambda config: config.name)
def test_games_end_and_lose_nothing(config: Config) -> None:
    play(config, seed=1)


OVERLAY = """
[tiles.snowdrop]
drops_to_grow = 2
[pieces]
drops = 9
votes = 3
clouds = 6
pods = 3
"""


@pytest.mark.parametrize("players", [1, 2, 3, 4, 5])
def test_games_with_few_pieces(players: int, tmp_path: Path) -> None:
    overlay = tmp_path / "few.toml"
    overlay.write_text(OVERLAY)
    modules = SOLO_MODULES if players == 1 else MODULES
    for seed in range(3):
        play(Config(players=players, modules=modules, components=str(overlay)), seed)


def play(config: Config, seed: int) -> None:
    """A random game to its end."""
    chance = RandomChance(seed)
    game = WatchedGame(config, chance)
    while game.question is not None:
        check_counts(game.table, dealt=game.question.decision != "fertilizer_tile")
        assert game.question.decision in DECISION_NAMES and set(game.question.options) <= set(ACTION_NAMES)
        assert 0 <= game.question.seat < config.players
        game.answer(chance.random.choice(game.question.options))
    check_counts(game.table)
    assert game.table.round == config.rounds and game.table.harvested
    assert set(game.winners()) <= set(game.final_scores())
    assert game.winners()
    assert game.describe()["phase"] == "over"


def test_illegal_answers_are_refused() -> None:
    game = WatchedGame(Config(players=2), RandomChance(seed=1))
    assert game.question is not None
    with pytest.raises(ValueError, match="does not answer"):
        game.answer("pass")


def test_a_dealing_order_is_found_across_a_reshuffle() -> None:
    deck, discards = Counter(frost=1, rain=2), Counter(frost=1, sun=5)
    dealt = {0: Counter(frost=1, rain=2), 1: Counter(frost=1, sun=2)}
    order = dealing_order(deck, discards, [0, 1, 0, 1, 0, 1], dealt)
    assert Counter(order[:3]) == deck and Counter(order[3:]) <= discards
    assert Counter(order[::2]) == dealt[0] and Counter(order[1::2]) == dealt[1]
    with pytest.raises(ValueError, match="can't have been dealt"):
        dealing_order(Counter(wind=1), discards, [0, 1], {0: Counter(sun=1), 1: Counter(sun=1)})


def test_reshuffles_are_found() -> None:
    every = set(range(1, 10))
    assert southern_winds_order({3, 9}, [3, 4], every - {4}) == [3, 9, 4]
    assert southern_winds_order({3, 4, 9}, [3, 4], {9}) == [3, 4]
    with pytest.raises(ValueError, match="can't have been revealed"):
        southern_winds_order({3, 9}, [3, 4], {9})
