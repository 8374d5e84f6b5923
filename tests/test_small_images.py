"""The images of the small games: a position and its image have the same rules, legal actions and views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tabletop_engine.game import NOBODY, Game, Image
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.kernels import sample_actions
from tabletop_engine.seeds import Stream, generator
from tests.games import gem_market, hex
from tests.support.play import legal_masks

GAMES = 40
OTHER_NUMBERS = {"setup.supply": [3, 4, 9], "limits.gems": 6, "guests.guest_1": [2, 2, 1, 0, 0, 1]}


def turned(states: np.ndarray, image: Image) -> np.ndarray:
    """Records of Hex with each stone in the image of its space."""
    moved = states.copy()
    moved["stones"] = 0
    for space, there in enumerate(image.actions.tolist()):
        stone = (states["stones"] >> np.uint64(space)) & np.uint64(1)
        moved["stones"] |= stone << np.uint64(there)
    return moved


def recoloured(states: np.ndarray, image: Image) -> np.ndarray:
    """Records of Gem Market whose gems, cards and guests have the image of their colour."""
    gems = image.actions[gem_market.RETURN : gem_market.RETURN + len(gem_market.GEMS)] - gem_market.RETURN
    colours = gems[: gem_market.NUM_COLOURS]
    numbers = np.arange(gem_market.NUM_CARDS)
    cards = numbers - numbers % 5 + colours[numbers % 5]
    moved = states.copy()
    for name, places in (("supply", gems), ("gems", gems), ("cards", colours)):
        moved[name][..., places] = states[name]
    for name in ("market", "reserved", "guests"):
        moved[name] = np.where(states[name] == gem_market.NO_CARD, states[name], cards[states[name]])
    held = np.arange(1, states["deck"].shape[-1]) <= states["deck"][..., :1]  # a deck's first number is its size
    moved["deck"][..., 1:] = np.where(held, cards[states["deck"][..., 1:]], 0)
    return moved


def views(game: Game, states: np.ndarray, tables: np.ndarray, seat: int) -> np.ndarray:
    """(N, D), what this seat sees in each game."""
    out = np.zeros((len(states), game.observation.size), np.float32)
    seats, numbers = np.full(len(states), seat), np.zeros((len(states), 0), np.int8)
    game.kernels.observe_games(states, tables, seats, game.observation.divisors, out, numbers)
    return out


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("game", "players", "components", "laid"),
    [
        (hex.GAME, 2, None, turned),
        *((gem_market.GAME, players, None, recoloured) for players in (2, 3, 4)),
        (gem_market.GAME, 3, OTHER_NUMBERS, recoloured),
    ],
    ids=["hex", *(f"gem_market-{players}p" for players in (2, 3, 4)), "gem_market-other-numbers"],
)
def test_the_rules_treat_images_alike(
    game: Game, players: int, components: Any, laid: Callable[[np.ndarray, Image], np.ndarray]
) -> None:
    """From setup to the end, after the same actions, the image game's record is the image of the game's record."""
    config = game.config(players=players, components=components)
    for number, image in enumerate(game.images(players)):
        batch = Batch(config, GAMES, number, autoreset="disabled")
        chance = generator(number, Stream.CHECK)
        here, tables = batch.states.copy(), batch.tables
        there = laid(here, image)
        game.kernels.refresh_legal(there, tables)
        asked = set()
        while (running := here["actor"] != NOBODY).any():
            masks = legal_masks(here, game.num_actions)
            np.testing.assert_array_equal(legal_masks(there, game.num_actions)[:, image.actions], masks)
            for seat in range(players):
                seen, seen_there = (views(game, states, tables, seat) for states in (here, there))
                np.testing.assert_array_equal(seen_there[:, image.observation], seen)
            asked |= set(here["decision"][running].tolist())
            actions = sample_actions(masks, chance)
            game.kernels.play_actions(here, tables, actions, running)
            game.kernels.play_actions(there, tables, image.actions[actions], running)
            expected = laid(here, image)
            for name in game.state.names or ():
                if name != "legal":
                    np.testing.assert_array_equal(there[name], expected[name], name)
        assert (here["points"] != 0).any()
        assert asked == set(range(len(game.decisions))), "a decision that was never asked"


@pytest.mark.parametrize("game", [hex.GAME, gem_market.GAME], ids=lambda game: game.name)
def test_images_change_places(game: Game) -> None:
    """Images are permutations, without the identity. An image of an image is an image or the identity."""
    for players in game.players:
        images = game.images(players)
        everything = [(np.arange(game.observation.size), np.arange(game.num_actions)), *images]
        told = {(observation.tobytes(), actions.tobytes()) for observation, actions in everything}
        assert len(told) == 1 + len(images)
        for observation, actions in images:
            assert sorted(observation) == list(range(game.observation.size))
            assert sorted(actions) == list(range(game.num_actions))
            after = {(observation[one].tobytes(), actions[other].tobytes()) for one, other in everything}
            assert after == told
