"""What every game must keep to, without an environment: the checks that `check` makes of a stranger's game, and more.

`check` itself, with the mistakes that it finds, is tested in `test_check.py`.
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabletop_agents import make_agent
from tabletop_engine.errors import IllegalAction, ReplayError, ScenarioError, StateError
from tabletop_engine.game import NOBODY, Config
from tabletop_engine.play.agents import Decisions, ask
from tabletop_engine.play.batch import AUTORESETS, Batch
from tabletop_engine.play.kernels import sample_actions
from tabletop_engine.play.learner_games import learner_games
from tabletop_engine.replays.page import page_data
from tabletop_engine.replays.replay import Replay, frames
from tabletop_engine.replays.viewer import Viewer
from tabletop_engine.testing import check_game, declared, official, played
from tests.support.cases import over_configs
from tests.support.effort import games

pytestmark = over_configs
BUFFERS = ("states", "actors", "action_masks", "observations", "rewards", "terminations", "illegal")


def test_the_checks_of_any_game(config: Config) -> None:
    """What is declared; legal sets, words for every action, facts, events and pictures in every state; views within
    their bounds, the end, ranks, resets; a match of searches. The official checks have tests of their own."""
    found = [*declared.problems(config.game), *played.problems(config, range(1))]
    assert not found, "\n".join(map(str, found))
    official.CHECKS["a match"](config)


@pytest.mark.slow
def test_all_checks(config: Config) -> None:
    """Also plain Python, a second process, and the frequencies of what is hidden."""
    check_game(config.game, games=games(1, 3), configs=[config])


def test_a_game_is_found_by_its_name(config: Config) -> None:
    assert pickle.loads(pickle.dumps(config.game)) is config.game
    assert config.game.config.of(Batch(config).states[0]) == config


def test_every_state_of_random_games_is_sound(config: Config) -> None:
    """Also after the end, and a description gives the same record again, all through the game."""
    game = config.game
    batch = Batch(config, 60, 1, autoreset="disabled")
    step = 0
    while (running := batch.actors != NOBODY).any():
        if step % 5 == 0:
            game.check(batch.states, batch.tables)
            state = batch.states[step % 60]
            described = json.loads(json.dumps(game.described(state)))
            again = game.scenario(described, config.components)
            assert again.tobytes() == state.tobytes()
        batch.step(batch.random_actions(), which=running)
        step += 1
    game.check(batch.states, batch.tables)
    assert (batch.places().min(axis=1) == 1).all()
    with pytest.raises(ScenarioError):
        game.scenario({**described, "points": "many"}, config.components)


@pytest.mark.parametrize("autoreset", AUTORESETS)
def test_a_batch_is_n_games(config: Config, autoreset: str) -> None:
    """With every reward, in every mode, and on any number of threads."""
    for reward in ("margin", "points") if config.owners > 1 else ("points",):
        how: dict[str, Any] = {"autoreset": autoreset, "reward": reward}
        batch = Batch(config, 8, 5, num_threads=2, **how)
        singles = [Batch(config, 1, 5 + number, **how) for number in range(8)]
        ended = 0
        while ended < 9:
            if autoreset == "disabled" and (over := batch.actors == NOBODY).any():
                batch.reset(mask=over)
                for number in np.flatnonzero(over).tolist():
                    singles[number].reset()
            actions = sample_actions(batch.action_masks, batch.generator)
            batch.step(actions)
            ended += int(batch.terminations.sum())
            for number, single in enumerate(singles):
                single.step(actions[[number]])
                for name in BUFFERS:
                    assert getattr(single, name).tobytes() == getattr(batch, name)[[number]].tobytes(), name
                if batch.terminations[number]:
                    for name in ("final_states", "final_observations"):
                        assert getattr(single, name).tobytes() == getattr(batch, name)[[number]].tobytes(), name


def test_masks_are_the_rules(config: Config) -> None:
    """A step accepts what the mask allows, and raises for everything else."""
    batch = Batch(config, 1, 3, autoreset="disabled")
    generator = np.random.default_rng(3)
    for step in range(25):
        if batch.actors[0] == NOBODY:
            batch.reset()
        mask = batch.action_masks[0].astype(bool)
        if step % 5 == 0:
            for action in range(config.game.num_actions):
                other = batch.copy()
                if mask[action]:
                    other.step([action])
                else:
                    with pytest.raises(IllegalAction):
                        other.step([action])
                    assert other.states.tobytes() == batch.states.tobytes()
        batch.step([int(generator.choice(np.flatnonzero(mask)))])
    with pytest.raises(IllegalAction):
        batch.step([config.game.num_actions])


def test_an_illegal_action_loses(config: Config) -> None:
    batch = Batch(config, 4, 1, autoreset="disabled", illegal_action="lose")
    actors = batch.actors.copy()
    batch.step(np.full(4, config.game.num_actions))
    assert batch.illegal.all() and batch.terminations.all() and (batch.states["forfeited"] == actors).all()
    places = batch.places(batch.states)
    if config.owners > 1:
        losers = np.array(config.game.teams(config))[actors]
        assert (places[np.arange(4), losers] == config.owners).all() and (places.min(axis=1) == 1).all()
    config.game.check(batch.states, batch.tables)


@pytest.mark.parametrize(
    ("field", "value"),
    [("players", 0), ("decision", 200), ("forfeited", 9), ("actor", 9), ("legal", 1 << 63), ("round", 99)],
)
def test_what_no_game_reaches_is_refused(config: Config, field: str, value: int) -> None:
    batch = Batch(config, 3, 1)
    dtype = batch.states[field].dtype
    batch.states[field][1] = value if dtype.kind == "u" else min(value, np.iinfo(dtype).max)
    with pytest.raises(StateError, match=field):
        config.game.check(batch.states, batch.tables)


def test_save_load_and_copy(config: Config) -> None:
    """A copy or a loaded batch goes on like the original, random actions included, and is independent of it."""
    batch, loaded = (Batch(config, 8, seed) for seed in (5, 99))
    for _ in range(20):
        batch.step(batch.random_actions())
    data, copied = batch.save(), batch.copy()
    loaded.load(data)
    saved = batch.states.tobytes()
    for name in ("states", "actors", "action_masks", "observations"):
        for other in (copied, loaded):
            assert getattr(other, name).tobytes() == getattr(batch, name).tobytes(), name
    for _ in range(30):
        batch.step(batch.random_actions())
    assert copied.states.tobytes() == saved == loaded.states.tobytes()
    loaded.generator = copied.copy().generator
    for other in (copied, loaded):
        for _ in range(30):
            other.step(other.random_actions())
        for name in ("states", "observations", "rewards"):
            assert getattr(other, name).tobytes() == getattr(batch, name).tobytes(), name
    before = loaded.save()
    with pytest.raises(StateError):
        loaded.load(data[:-1])
    assert loaded.save() == before


def test_replays(config: Config, tmp_path: Path) -> None:
    """A file gives every step of a game again, also of one that goes on or that began in a position.

    Pages and screens show it from each seat. A file that was changed is refused."""
    batch = Batch(config, 1, 11, autoreset="disabled")
    states, actions = [batch.states[0].copy()], []
    while batch.actors[0] != NOBODY:
        action = batch.random_actions()
        batch.step(action)
        actions.append(int(action[0]))
        states.append(batch.states[0].copy())
    path, number = tmp_path / "game.json", len(actions)
    names = [f"agent {seat}" for seat in range(config.players)]
    for start, first, last in (
        (11, 0, number),
        (11, 0, 0),
        (11, 0, number // 3),
        (states[number // 2], number // 2, number),
    ):
        replay = Replay.of(config, start, actions[first:last], names=names)
        replay.save(path)
        read = Replay.load(path, config.game)
        assert read == replay and (read.winners is None) == (last < number)
        assert read.seed == (None if first else 11)
        shown, wanted = list(frames(read)), states[first : last + 1]
        assert [frame.state.tobytes() for frame in shown] == [state.tobytes() for state in wanted]
        assert [frame.step for frame in shown] == [*range(last - first + 1)]
        assert [frame.action for frame in shown] == [*actions[first:last], None]
        assert [frame.actor for frame in shown] == [int(state["actor"]) for state in wanted]
        assert [frame.last_actor for frame in shown] == [NOBODY, *(int(state["actor"]) for state in wanted[:-1])]
        assert read.points == tuple(wanted[-1]["points"][: config.owners].tolist())
        shown[0].state["points"] = 99
        assert next(iter(frames(read))).state.tobytes() == wanted[0].tobytes()  # frames are copies
    assert list(tmp_path.iterdir()) == [path]
    page, _ = page_data(read, 0)
    assert 1 < len(page["steps"]) <= len(read.actions) + 1
    for viewer in (*range(config.players), None):
        screen = Viewer(read, viewer, colour=False)
        screen.go(screen.last)
        assert screen.text().strip()
    Replay.of(config, 11, actions).save(path)
    text = json.loads(path.read_text(encoding="utf-8"))
    for change in ({"points": [127] * config.owners}, {"actions": text["actions"][:-1]}, {"game": "chess"}):
        path.write_text(json.dumps({**text, **change}), encoding="utf-8")
        with pytest.raises(ReplayError):
            Replay.load(path, config.game)


def test_redraws_look_the_same_in_words_and_pictures(config: Config) -> None:
    """If all that a seat can't know is drawn anew, it sees the same: observation, actions, text, facts and picture."""
    game, generator = config.game, np.random.default_rng(1)
    batch = Batch(config, 1, 1, autoreset="disabled")
    looks = 0
    while batch.actors[0] != NOBODY:
        if (generator.random() < 0.25 or config.game.limits(config).decisions < 12) and looks < 12:
            looks += 1
            for seat in range(config.players):
                states, seats = batch.states.copy(), np.array([seat])
                game.kernels.sample_hidden_games(
                    states, batch.tables, seats, generator.integers(0, 2**64, 1, np.uint64)
                )
                game.check(states, batch.tables)
                assert states[0]["rng"] != batch.states[0]["rng"]
                assert batch.views_of(states, seats).tobytes() == batch.observe(seat).tobytes()
                for shown in (
                    lambda state, seat=seat: game.drawing.render_text(state, seat, tables=batch.tables),
                    lambda state, seat=seat: game.drawing.render_svg(state, seat, tables=batch.tables),
                    lambda state, seat=seat: game.words.facts(state, seat, None),
                ):
                    assert shown(states[0]) == shown(batch.states[0])
                if batch.actors[0] == seat:
                    assert (states["legal"] == batch.states["legal"]).all()
        batch.step(batch.random_actions())
    assert looks > 0


@pytest.mark.parametrize("name", ["greedy", "rollout-4", "ismcts-20"])
def test_agents_disturb_no_game(config: Config, name: str) -> None:
    """Searches answer with legal actions, and leave the games and their chance as they are."""
    opponents = ("random",) if config.players > 1 else ()
    games = learner_games(config, 4, opponents, seed=1, illegal_action="raise")
    agent, generator = make_agent(name, config.game), np.random.default_rng(0)
    for _ in range(4):
        before = games.batch.states.tobytes()
        actions = ask(agent, Decisions.of(games.batch), generator)
        assert games.batch.states.tobytes() == before
        games.step(actions)
