"""The leak rule: what a player sees, may do and gains does not depend on what others did in hidden turns.

Each draft is played once, and the turns after it twice: in the two games the others take different turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from evergreen_env import GAME, Config, evergreen_v0
from evergreen_env.drawing import events, facts, render_svg, render_text, story, told_action
from evergreen_env.state import NOBODY, Decision
from tabletop_engine.play.batch import Batch
from tabletop_engine.replays.page import page_data
from tabletop_engine.replays.replay import Replay
from tests.evergreen.rounds import choose, goes_on, turns
from tests.support.effort import games
from tests.support.environments import legal_action

PLAYERS = (2, 3, 4)
GAMES = games(4, 6)
WORDS_IN = games(1, 2)
"""In so many of the games the slow parts are compared too: texts, pictures, pages."""


def seen(batch: Batch, seat: int, in_words: bool) -> tuple[Any, ...]:
    """All that the seat can see of the game, and its legal actions where it is asked."""
    state = batch.states[0]
    asked = batch.actors[0] == seat
    masks = batch.action_masks[0].tobytes() if asked else b""
    words = (render_text(state, seat), render_svg(state, seat), facts(state, seat)) if in_words else ()
    return batch.observe(seat)[0].tobytes(), masks, int(state["points"][seat]), *words


def round_as_seen(batch: Batch, seat: int, own: list[int], chance: np.random.Generator, in_words: bool) -> list[Any]:
    """Play the turns of a round. Returns each view of the seat that differs from the one before it.

    Arguments:
        own: the seat's actions; missing ones are drawn at random and added.
        chance: of the others' actions.
    """
    start, views, decisions = batch.states.copy(), list[Any](), 0
    fresh = np.random.default_rng(int(start[0]["rng"]))
    while goes_on(batch, start):
        view = seen(batch, seat, in_words)
        if not views or views[-1] != view:
            views.append(view)
        if batch.actors[0] != seat:
            batch.step([choose(batch, chance)])
            continue
        if decisions == len(own):
            own.append(choose(batch, fresh))
        batch.step([own[decisions]])
        decisions += 1
    return views


def others_actions(batch: Batch, seat: int, generator: np.random.Generator) -> Iterator[int]:
    """Random actions of the others, as long as the round lasts and this seat is not asked; they are played."""
    start = batch.states.copy()
    while goes_on(batch, start) and batch.actors[0] != seat:
        action = choose(batch, generator)
        yield action
        batch.step([action])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("players", PLAYERS)
def test_views_masks_and_points(players: int) -> None:
    compared = 0
    for seed in range(GAMES):
        for number, batch in enumerate(turns(players, seed)):
            seat, start, own = number % players, batch.states.copy(), list[int]()
            one = round_as_seen(batch, seat, own, np.random.default_rng(number), seed < WORDS_IN)
            batch.states[:] = start
            batch.refresh()
            other = round_as_seen(batch, seat, own, np.random.default_rng(number + 100), seed < WORDS_IN)
            assert one == other
            compared += len(one)
    assert compared > 200


@pytest.mark.parametrize("players", PLAYERS)
def test_others_turns_are_told_when_all_are_done(players: int) -> None:
    hidden, told_at_the_end, chance = 0, 0, np.random.default_rng(1)
    for number, batch in enumerate(turns(players, 3)):
        seat, start = number % players, batch.states.copy()
        while goes_on(batch, start):
            state, action = batch.states[0].copy(), choose(batch, chance)
            sentences = events(state, action, seat)
            batch.step([action])
            assert (told_action(state, action, seat) == "") == (state["actor"] != seat)
            if state["actor"] != seat:
                assert bool(sentences) != goes_on(batch, start)
                hidden, told_at_the_end = hidden + (not sentences), told_at_the_end + bool(sentences)
    assert hidden > 20 and told_at_the_end > 1


@pytest.mark.parametrize("players", PLAYERS)
def test_moments_of_a_turn(players: int) -> None:
    """What the seat sees within an action of its own turn, after different turns of others."""
    compared = 0
    for number, batch in enumerate(turns(players, 4)):
        seat, start, moments = number % players, batch.states.copy(), []
        for chance in (1, 2):
            list(others_actions(batch, seat, np.random.default_rng(chance)))
            if batch.actors[0] == seat and goes_on(batch, start):
                before, action = batch.states[0].copy(), choose(batch, np.random.default_rng(number))
                batch.step([action])
                if goes_on(batch, start):
                    moments.append([(said, render_svg(state, seat)) for said, state in story(before, action, seat)])
            batch.states[:] = start
            batch.refresh()
        if len(moments) == 2:
            assert moments[0] == moments[1]
            compared += len(moments[0])
    assert compared > 3


@pytest.mark.parametrize("players", PLAYERS)
def test_replays(players: int) -> None:
    """Pages show the seat nothing of the others' turns before its own."""
    compared = 0
    for number, batch in enumerate(turns(players, 5)):
        seat, start, pages = number % players, batch.states.copy(), []
        if batch.actors[0] == seat:
            continue
        for chance in (1, 2):
            actions = list(others_actions(batch, seat, np.random.default_rng(chance)))
            pages.append(page_data(Replay.of(batch.config, start[0], actions), seat))
            batch.states[:] = start
            batch.refresh()
        assert pages[0] == pages[1]
        compared += 1
    assert compared > 3


@pytest.mark.parametrize("reward", ["points", "margin"])
def test_everybody_is_paid_when_a_round_ends(reward: str) -> None:
    env: Any = evergreen_v0.env(num_players=3, reward=reward)
    env.reset(seed=2)
    generator = np.random.default_rng(2)
    paid = 0
    batch = env.unwrapped.batch
    for _ in env.agent_iter():
        observation, _, termination, truncation, _ = env.last()
        if termination or truncation:
            break
        number, is_first = int(batch.states[0]["round"]), not batch.paid.any()
        env.step(legal_action(observation, generator))
        if is_first:  # pays the start points
            assert any(env.rewards.values())
        elif batch.states[0]["round"] == number and batch.actors[0] != NOBODY:
            assert not any(env.rewards.values())
        else:
            paid += any(env.rewards.values())
    assert paid > 3


@pytest.mark.parametrize("players", [1, *PLAYERS])
def test_sampled_games_look_the_same(players: int) -> None:
    """`sample_hidden`: the seat sees and may do the same, and what the others have done is taken back."""
    batch = Batch(Config(players), 40, seed=1, autoreset="disabled")
    for step in range(60 * players):
        which = batch.actors != NOBODY
        if step % 5 == 0:
            for seat in range(players):
                sampled = batch.copy()
                seats = np.full(batch.num_games, seat, np.int64)
                randoms = np.random.default_rng(step).integers(0, 2**64, batch.num_games, np.uint64)
                GAME.kernels.sample_hidden_games(sampled.states, sampled.tables, seats, randoms)
                GAME.check(sampled.states, sampled.tables)
                sampled.refresh()
                assert (sampled.observe(seat) == batch.observe(seat)).all()
                asked = (batch.actors == seat) & which
                assert (sampled.action_masks[asked] == batch.action_masks[asked]).all()
                assert (sampled.actors[asked] == seat).all()
                turns = which & (batch.states["decision"] != Decision.DRAFT)
                for other in set(range(players)) - {seat}:
                    for name in ("sprouts", "small_trees", "big_trees", "bushes", "lakes", "level"):
                        assert (
                            sampled.states[name][turns, other] == sampled.states[f"shown_{name}"][turns, other]
                        ).all()
        batch.step(batch.random_actions(), which=which)
