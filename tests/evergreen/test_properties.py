"""What holds in every state of random games, in every configuration and with random overlays."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from evergreen_env import GAME, Config, describe, scenario
from evergreen_env.component_files import load_tables
from evergreen_env.observation import HIGH, LAYOUT, LOW
from evergreen_env.rules.planet import largest_forest, light_points
from evergreen_env.state import CARD_NAMES, COLUMNS, NO_CARD, NOBODY, PLACES, ROWS, STATE, Decision, Source, Sun
from evergreen_env.words import places_in
from tabletop_engine.play.batch import Batch
from tests.evergreen.random_games import random_overlay
from tests.support.effort import games

PLAYERS = (1, 2, 3, 4)
OVERLAYS = games(6, 12)
AT_ONCE = 16
"""Steps whose states are checked together, because checking few states takes as long as checking many."""


def random_configs() -> Iterator[Config]:
    for seed, players in product(range(OVERLAYS), PLAYERS):
        yield Config(players, components=random_overlay(random.Random(seed)))


CONFIGS = [*(Config(players) for players in PLAYERS), *random_configs()]


def random_game(config: Config, number: int, seed: int = 0) -> Iterator[Batch]:
    """A batch before each step of random games."""
    batch = Batch(config, number, seed, autoreset="disabled")
    while (batch.actors != NOBODY).any():
        yield batch
        batch.step(batch.random_actions(), which=batch.actors != NOBODY)
    yield batch


@pytest.mark.one_in(3)
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_every_state_is_sound(config: Config) -> None:
    """All of `invariants`, and views within their bounds; a description gives the same state again."""
    number = games(12, 40)
    states = np.empty((AT_ONCE, number), STATE)
    for step, batch in enumerate(random_game(config, number)):
        states[step % AT_ONCE] = batch.states
        if step % AT_ONCE == AT_ONCE - 1 or (batch.actors == NOBODY).all():
            GAME.check(states[: step % AT_ONCE + 1].ravel(), batch.tables)
        assert batch.action_masks.any(axis=1).all()
        assert batch.observations.min() >= LOW and batch.observations.max() <= HIGH
        if step % 29 == 0:
            for state in batch.states[:4]:
                assert scenario(describe(state, config.components), config.components).tobytes() == state.tobytes()


@pytest.mark.parametrize("players", PLAYERS)
def test_cards_rounds_and_seasons(players: int) -> None:
    """42 cards in one place each; 14 rounds; light and forest score after rounds 5, 9, 12 and 14 and never else."""
    scored: dict[int, set[int]] = {source: set() for source in (Source.LIGHT, Source.FOREST, Source.FERTILITY)}
    before = None
    for batch in random_game(Config(players), 60):
        states = batch.states
        for name in ("deck", "discards", "collected"):
            assert (states[name] >> np.uint64(42) == 0).all()
        in_sets = sum(np.bitwise_count(states[name]).astype(int) for name in ("deck", "discards", "collected"))
        in_lists = sum((states[name] != NO_CARD).sum(axis=1) for name in ("market", "card", "zone"))
        assert (in_sets + in_lists == len(CARD_NAMES)).all()
        assert (states["fertility"] >= 0).all()
        if before is not None:
            for source, rounds in scored.items():
                more = (states["scored"][:, :, source] != before["scored"][:, :, source]).any(axis=1)
                rounds |= set(before["round"][more].tolist())
        before = states.copy()
    assert before is not None
    assert (before["round"] == 14).all() and (before["decision"] == Decision.GAME_OVER).all()
    assert scored[Source.LIGHT] == scored[Source.FOREST] == {5, 9, 12, 14}
    assert scored[Source.FERTILITY] == {14}


def slow_light(small: int, big: int, sun: int) -> int:
    """Cell by cell, with the words of the rule."""
    away = {Sun.NORTH: (1, 0), Sun.EAST: (0, -1), Sun.SOUTH: (-1, 0), Sun.WEST: (0, 1)}[Sun(sun)]
    height = dict.fromkeys(places_in(big), 2) | dict.fromkeys(places_in(small), 1)
    dark = set()
    for place, length in height.items():
        row, column = divmod(place, COLUMNS)
        for step in range(1, length + 1):
            at = (row + step * away[0], column + step * away[1])
            if 0 <= at[0] < ROWS and 0 <= at[1] < COLUMNS:
                shaded = COLUMNS * at[0] + at[1]
                if height.get(shaded, 3) <= length:
                    dark.add(shaded)
    return sum(length for place, length in height.items() if place not in dark)


def slow_forest(wood: int) -> int:
    places = set(places_in(wood))
    largest = 0
    while places:
        found = [places.pop()]
        for place in found:
            row, column = divmod(place, COLUMNS)
            for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if 0 <= r < ROWS and 0 <= c < COLUMNS and COLUMNS * r + c in places:
                    places.remove(COLUMNS * r + c)
                    found.append(COLUMNS * r + c)
        largest = max(largest, len(found))
    return largest


def test_light_and_forest_of_random_planets() -> None:
    generator = np.random.default_rng(0)
    for _ in range(2000):
        kinds = generator.choice(4, PLACES, p=(0.5, 0.2, 0.2, 0.1))
        small, big, bushes = (sum(1 << int(place) for place in np.flatnonzero(kinds == kind)) for kind in (1, 2, 3))
        wood = small | big | bushes
        for sun in Sun:
            assert light_points(np.uint64(small), np.uint64(big), int(sun)) == slow_light(small, big, sun)
        assert int(largest_forest(np.uint64(wood))).bit_count() == slow_forest(wood)


@pytest.mark.parametrize("players", [1, 2])
def test_plain_python_plays_the_same_game(players: int) -> None:
    """The rules run as they are written, for a debugger. `tests/test_rule_compiler.py` tests this for Petrichor."""
    from tabletop_engine.text.telling import Teller

    teller = Teller(GAME.rules.step, GAME.rules.forfeit, {})
    step = teller.plain(GAME.rules.step)
    state = np.zeros(1, STATE)
    for batch in random_game(Config(players), 1, seed=3):
        if state[0]["players"]:
            assert state.tobytes() == batch.states.tobytes()
        state[:] = batch.states
        if batch.actors[0] != NOBODY:
            action = int(batch.copy().random_actions()[0])
            with np.errstate(over="ignore"):
                step(state[0], batch.tables[0], action)


def test_planes_are_the_planets() -> None:
    """As docs/evergreen/observation.md says: a block is reshaped, and `space k` is the k-th place of a space."""
    batch = Batch(Config(2), 1, seed=5, autoreset="disabled")
    for _ in range(90):
        batch.step(batch.random_actions())
    state, viewer = batch.states[0], int(batch.actors[0])
    planes = batch.observations[0][LAYOUT["planets"].slice].reshape(4, 5, ROWS, COLUMNS)
    for piece, name in enumerate(("sprouts", "small_trees", "big_trees", "bushes", "lakes")):
        own = np.flatnonzero(planes[0, piece].ravel()).tolist()
        assert own == list(places_in(state[name][viewer]))
        other = np.flatnonzero(planes[1, piece].ravel()).tolist()
        assert other == list(places_in(state[f"shown_{name}"][1 - viewer]))
    assert load_tables()[0]["place_of"].tolist() == list(places_in(state["outline"]))


@pytest.mark.slow
def test_ten_thousand_games_end() -> None:
    for players in PLAYERS:
        *_, last = random_game(Config(players), 10_000)
        assert (last.states["round"] == 14).all()
