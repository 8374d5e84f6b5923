"""What a seat can't know is in no text and no picture that it sees.

The test of observations and masks is in `test_properties.py`. Here all texts are compared between two games that a seat
can't tell apart.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from petrichor_env import GAME, Config
from petrichor_env.config import MODULES
from petrichor_env.drawing import events, facts, render_svg, render_text, story, told_action
from petrichor_env.state import NOBODY, Decision
from tabletop_agents import RandomAgent
from tabletop_engine.errors import StateError
from tabletop_engine.play.batch import Batch
from tabletop_engine.replays.page import page_data
from tabletop_engine.replays.replay import Replay
from tabletop_engine.replays.viewer import Viewer
from tabletop_play.session import PERSON
from tabletop_play.typed import TypedSession
from tests.support.effort import games
from tests.support.hidden import exchanged, swapped

CONFIGS = [
    Config(players=2),
    Config(players=2, drafting=True, modules=("forecasts",)),
    Config(players=3),
    Config(players=3, drafting=True),
    Config(players=5, modules=MODULES),
]
EVERY = games(80, 20)  # one in so many actions, because pages take longer
LOOKING = 2  # players who look, before each action
SHARE = games(32, 4)  # one in so many positions is looked at, because pictures take milliseconds


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_texts_and_pictures_of_a_position(config: Config) -> None:
    generator = np.random.default_rng(1)
    batch = Batch(config, 1, seed=1, autoreset="disabled")
    while batch.actors[0] != NOBODY:
        if generator.integers(SHARE) == 0:
            for seat in range(config.players):
                state, other = batch.states[0], swapped(batch.states, seat, generator)[0]
                assert render_text(state, seat) == render_text(other, seat)
                assert render_svg(state, seat) == render_svg(other, seat)
                assert facts(state, seat, None) == facts(other, seat, None)
        batch.step(batch.random_actions())


@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(1, 8), marks=pytest.mark.slow)], ids=str)
@pytest.mark.parametrize("config", CONFIGS[2:], ids=lambda config: config.name)
def test_what_an_action_does(config: Config, seeds: range, tmp_path: Path) -> None:
    """Others' hidden cards, and actions with them, differ in two games. A seat that sees no difference is told none.

    A new round deals other cards to all at once; `test_render_text.test_cards_of_others` tests that.
    """
    generator = np.random.default_rng(2)
    compared, told = 0, 0
    for seed in seeds:
        batch = Batch(config, 1, seed=seed, autoreset="disabled")
        while batch.actors[0] != NOBODY:
            action = batch.random_actions()
            for seat in generator.permutation(config.players)[:LOOKING].tolist():
                games = exchanged(batch, seat, generator)
                actions = np.repeat(action, 2)
                if batch.states[0]["decision"] == Decision.DRAFT and batch.actors[0] != seat:
                    actions[1] = games.random_actions()[1]  # nobody sees which card another player keeps
                if not games.action_masks[[0, 1], actions].all():
                    continue
                before = games.states.copy()
                games.step(actions)
                if _are_equal(games.observe(seat)) and (games.actors[0] != seat or _are_equal(games.action_masks)):
                    pairs = list(zip(before, actions.tolist(), strict=True))
                    first, second = (events(state, taken, seat, games.tables) for state, taken in pairs)
                    assert first == second
                    assert len({told_action(state, taken, seat) for state, taken in pairs}) == 1
                    compared, told = compared + 1, told + bool(first)
                    if compared % EVERY == 0 and is_sound(before):
                        moments = zip(*(story(*pair, seat, games.tables) for pair in pairs), strict=True)
                        for (_, one), (_, other) in moments:
                            assert render_svg(one, seat) == render_svg(other, seat)
                        pages, screens = zip(*(shown(config, *pair, seat, tmp_path) for pair in pairs), strict=True)
                        for one, other in zip(*screens, strict=True):
                            assert one.splitlines() == other.splitlines()
                        assert pages[0] == pages[1]
            batch.step(action)
    assert compared > 200 and told > 100


def is_sound(states: np.ndarray) -> bool:
    """Whether the cards of both games fit the pending decision, so that a replay can begin there."""
    try:
        GAME.check(states, GAME.load_tables(None))
    except StateError:
        return False
    return True


def shown(config: Config, state: Any, action: int, seat: int, folder: Path) -> tuple[Any, list[str]]:
    """A game of one action as the seat sees it: its replay page, and the lines of the replay viewer and of `play`."""
    names = [PERSON if one == seat else "random" for one in range(config.players)]
    replay = Replay.of(config, state, [action], names=tuple(names))
    viewer = Viewer(replay, seat, colour=False)
    screens = []
    for step in range(viewer.last + 1):
        viewer.go(step)
        screens.append(viewer.text())
    if replay.winners is None:
        replay.save(folder / "game.json")
        session = TypedSession.resume(folder / "game.json", GAME, RandomAgent())
        if not session.waits_for_agent:  # otherwise nothing is shown yet
            screens += [session.screen(), session.answer("h").text]
    return page_data(replay, seat), screens


def _are_equal(pair: Any) -> bool:
    return bool((pair[0] == pair[1]).all())
