"""What answers would do, shown before they are given: true, and nothing that the actor can't know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from petrichor_env.state import NOBODY
from tabletop_engine.play.batch import Batch
from tabletop_play.combinations import combinations
from tabletop_play.preview import Preview, preview
from tests.support.configurations import OF_SEVERAL_GAMES

REDRAWN = 4
BIG = ("petrichor", "evergreen")


def some(config: Any, one_in: int) -> Iterator[tuple[Batch, list[int], np.random.Generator]]:
    """Some positions of a random game, each with answers: one that is offered, and at times more that can follow it."""
    generator, batch = np.random.default_rng(3), Batch(config, 1, 7, autoreset="disabled")
    while batch.actors[0] != NOBODY:
        if generator.integers(one_in) == 0:
            state, given = batch.states[0].copy(), list[int]()
            while not given or generator.integers(4):
                found = combinations(config.game, state, batch.tables)
                given += found[generator.integers(len(found))].actions
                seen = preview(config.game, batch.states[0], given, batch.tables, np.random.default_rng(0))
                if not seen.is_whole:
                    break
                state = seen.state
            yield batch, given, generator
        batch.step(batch.random_actions())


def shown(config: Any, found: Preview, tables: np.ndarray, actor: int) -> tuple[list[str], bool, str]:
    """All that the actor gets of a preview."""
    drawn = "" if found.state is None else config.game.drawing.render_svg(found.state, actor, tables=tables)
    return found.told, found.is_whole, drawn


@pytest.mark.parametrize("config", OF_SEVERAL_GAMES, ids=lambda config: f"{config.game.name}-{config.name}")
def test_a_preview_tells_nothing(config: Any) -> None:
    """It is equal for every outcome of what the actor can't know: hidden things are redrawn, and so is chance."""
    game, boards = config.game, set()
    for batch, given, generator in some(config, 6 if config.game.name in BIG else 1):
        actor = int(batch.actors[0])
        previews = []
        for _ in range(REDRAWN):
            other = batch.states.copy()
            randoms = generator.integers(0, 2**64, 1, np.uint64)
            game.kernels.sample_hidden_games(other, batch.tables, np.array([actor]), randoms)
            other["rng"] = generator.integers(0, 2**64, other["rng"].shape, np.uint64)
            found = preview(game, other[0], given, batch.tables, np.random.default_rng(0))
            previews.append(shown(config, found, batch.tables, actor))
        assert all(one == previews[0] for one in previews)
        boards.add(previews[0][2])
    assert len(boards) > 2  # one of them may be none


@pytest.mark.parametrize("config", OF_SEVERAL_GAMES, ids=lambda config: f"{config.game.name}-{config.name}")
def test_a_preview_comes_true(config: Any) -> None:
    """A whole one is the board and the sentences after the answer; another one is how these begin."""
    whole = begun = several = 0
    for batch, given, _ in some(config, 4 if config.game.name in BIG else 1):
        actor, copy = int(batch.actors[0]), batch.copy()
        found = preview(config.game, batch.states[0], given, batch.tables, np.random.default_rng(0))
        told: list[str] = []
        for action in found.given.actions:
            told += config.game.words.events(copy.states[0].copy(), action, actor, batch.tables)
            copy.step([action])
        assert found.told == told[: len(found.told)]
        if found.is_whole:
            assert shown(config, found, batch.tables, actor) == (
                told,
                True,
                config.game.drawing.render_svg(copy.states[0], actor, tables=batch.tables),
            )
        several += found.is_whole and len({int(state["decision"]) for state in found.given.states}) > 1
        whole += found.is_whole
        begun += not found.is_whole and bool(found.told)
    assert (whole and several) or config.game.name not in BIG
    assert begun or config.game.name not in BIG
