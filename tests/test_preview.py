"""What answers would do, shown before they are given: true, and nothing that the actor can't know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from evergreen_env import Config as EvergreenConfig
from evergreen_env import drawing as evergreen
from evergreen_env.rules import seasons
from evergreen_env.state import Source
from petrichor_env import Config as PetrichorConfig
from petrichor_env import drawing as petrichor
from petrichor_env import scenario
from petrichor_env.actions import ACTIONS
from petrichor_env.rules.scoring import score_tile
from petrichor_env.state import NOBODY
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.names import make_agent
from tabletop_play.advice import MOST_ANSWERS, continued
from tabletop_play.combinations import combinations
from tabletop_play.preview import Preview, gains, preview
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


@pytest.mark.parametrize("config", OF_SEVERAL_GAMES, ids=lambda config: f"{config.game.name}-{config.name}")
def test_an_agent_goes_on(config: Any) -> None:
    """A continuation begins with the given answers, and ends where another is asked, chance decides, or it is long."""
    agent, longest = make_agent("random", config.game), 0
    for batch, given, generator in some(config, 8 if config.game.name in BIG else 1):
        found = continued(agent, config, batch.states[0], given[:1], generator)
        actions = found.given.actions
        assert actions[0] == given[0] and len(actions) <= MOST_ANSWERS
        assert not found.is_whole or len(actions) == MOST_ANSWERS
        seen = preview(config.game, batch.states[0], actions, batch.tables, np.random.default_rng(0))
        assert seen.given.actions == actions and seen.told == found.told
        longest = max(longest, len(actions))
    assert longest > 1 or config.game.name not in BIG


def test_a_preview_ends_before_chance() -> None:
    """Where an answer draws and nothing of it can be told, the record is the one before it, not a redraw after it."""
    names = ["substitute wind", "card sun", "card rain", "move north", "vote rain", "decline"]
    config, answers = PetrichorConfig(), [ACTIONS[name] for name in names]
    batch = Batch(config, 1, 1, autoreset="disabled")
    start = batch.states[0].copy()
    for action in answers[:-1]:
        batch.step([action])
    expected = config.game.drawing.render_svg(batch.states[0], 0, tables=batch.tables)
    for seed in range(8):
        found = preview(config.game, start, answers, batch.tables, np.random.default_rng(seed))
        assert not found.is_whole
        assert config.game.drawing.render_svg(found.state, 0, tables=batch.tables) == expected


def test_a_harvest_pays_what_was_projected() -> None:
    """What a Harvest would pay now, and once a tile grows; Wheat tokens are counted by themselves."""
    now = total = later = 0
    batch = Batch(PetrichorConfig(players=3, modules=("flower_tiles", "cactus")), 1, 5, autoreset="disabled")
    while batch.actors[0] != NOBODY:
        state, t = batch.states[0].copy(), batch.tables[0]
        rows = dict(petrichor.projected(state, 0, batch.tables))
        pays = {name: numbers for name, numbers in rows.items() if "grows" not in name}
        before = state.copy()
        for tile in np.flatnonzero(state["growing"]):
            score_tile(state, t, int(tile))
        paid = (state["points"] - before["points"])[:3]
        tokens = (state["wheat_tokens"] - before["wheat_tokens"])[:3]
        assert np.sum([pays[name] for name in pays if "token" not in name], axis=0).tolist() == paid.tolist()
        assert np.sum([pays[name] for name in pays if "token" in name], axis=0).tolist() == tokens.tolist()
        now, total, later = now + bool(paid.any()), total + 1, later + any(any(rows[one]) for one in rows.keys() - pays)
        batch.step(batch.random_actions())
    assert 0 < now < total and later


def test_a_season_pays_what_was_projected() -> None:
    """Light and the largest forest of a season that ends, fertility at the end, buds when the round ends."""
    paid = np.zeros(4, int)
    batch = Batch(EvergreenConfig(players=2), 1, 5, autoreset="disabled")
    while batch.actors[0] != NOBODY:
        state, t, before = batch.states[0].copy(), batch.tables[0], batch.states[0].copy()
        rows = [numbers for _, numbers in evergreen.projected(state, None, batch.tables)]
        seasons.end_round(state)
        seasons.end_season(state, t)
        seasons.score_fertility(state, t)
        scored = (state["scored"] - before["scored"])[:2]
        sources = (Source.LIGHT, Source.FOREST, Source.FERTILITY, Source.BUDS)
        assert np.array(rows).tolist() == [scored[:, source].tolist() for source in sources]
        paid += np.array(rows).any(axis=1)
        batch.step(batch.random_actions())
    assert (paid > 0).all()


def test_gains() -> None:
    """By source and owner: of a drop with which a tile grows, what a Harvest would pay then."""
    config = PetrichorConfig(players=2)
    grass = {"crop": "grass", "drops": {"player_0": 1, "player_1": 2}, "cloud": {"drops": {"player_0": 1}}}
    cards = {"player_0": {"rain": 1}, "player_1": {"sun": 1}}
    batch = Batch(config, 1, 0, autoreset="disabled")
    batch.set_states(np.array([scenario({"players": 2, "hands": cards, "field": {"b1": grass}})]))
    rain = [ACTIONS["play rain"]]  # there is only one drop that it can let fall
    found = preview(config.game, batch.states[0], rain, batch.tables, np.random.default_rng(0))
    before, after = batch.states[0], found.state
    tied = [3, 3]  # for the second place
    assert gains(config.game, before, after, 0, batch.tables) == [("Grass on b1 at a Harvest", tied)]
    assert gains(config.game, after, before, 0, batch.tables) == [
        ("Grass on b1 at a Harvest", [-3, -3]),
        ("Grass on b1 at a Harvest, once it grows", [3, 4]),
    ]
    assert gains(config.game, before, before, 0, batch.tables) == []
