"""Batches in which only some games are stepped, and batches that mix configurations."""

from __future__ import annotations

import hashlib
import json
import math
import multiprocessing
import os
import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from petrichor_env import Batch, Config, scenario
from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.config import MODULES
from petrichor_env.state import NOBODY, Phase
from tabletop_engine.errors import ConfigError, GameOver, IllegalAction, StateError
from tabletop_engine.play import batch as module
from tabletop_engine.play.kernels import sample_actions
from tests.support.configurations import SOLO
from tests.support.play import in_the_middle

BUFFERS = ("states", "actors", "action_masks", "observations", "rewards", "terminations", "illegal")
SHOWN = BUFFERS[:4]
ENDS = ("final_states", "final_observations")
THREE = [
    Config(players=3),
    Config(players=3, rounds=6, drafting=True),
    Config(players=3, modules=MODULES),
    Config(players=3, modules=("powers",), powers=("rain", "sun", "harvest")),
]
"""What a batch of games for three may mix."""


def rows(batch: Batch, games: np.ndarray, names: tuple[str, ...] = BUFFERS) -> dict[str, bytes]:
    """What the batch shows of some games."""
    return {name: getattr(batch, name)[games].tobytes() for name in names}


def everything(batch: Batch) -> dict[str, Any]:
    return {**rows(batch, np.ones(batch.num_games, bool), BUFFERS + ENDS), "configs": list(batch.configs)}


def a_finished_game(**arguments: Any) -> Batch:
    """Games for two, of which at least one is over and at least one is not."""
    batch = Batch(Config(players=2), 2, seed=3, **arguments)
    while not batch.terminations.any():
        batch.step(batch.random_actions())
    assert (batch.actors == NOBODY).sum() == 1
    return batch


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forked processes")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own() -> None:
    """Those of its parent are not there, and the child would wait for them for ever."""
    batch = Batch(Config(), 300, seed=1, num_threads=2)
    batch.step(batch.random_actions())
    child = multiprocessing.get_context("fork").Process(target=batch.step, args=(batch.random_actions(),))
    child.start()
    child.join(60)
    child.kill()  # if it hangs
    child.join()
    assert child.exitcode == 0
    batch.step(batch.random_actions())


# --- Stepping some of the games --------------------------------------------------------------------------------------


@pytest.mark.one_in(5)
@pytest.mark.parametrize("new_observations", [False, True])
@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
@pytest.mark.parametrize("config", [Config(variants=("one_more_turn",)), THREE[2]], ids=lambda config: config.name)
def test_only_those_games_are_stepped(config: Config, autoreset: str, new_observations: bool) -> None:
    """These games go on as if all were stepped. The others stay as they are, whatever action is given for them."""
    batch = Batch(config, 12, seed=1, autoreset=autoreset, new_observations=new_observations, num_threads=2)
    generator = np.random.default_rng(2)
    ends = waited = 0
    for _ in range(400):
        which = generator.random(12) < 0.7
        whole = batch.copy()
        if autoreset == "disabled":
            which &= batch.actors != NOBODY
            whole.reset(mask=batch.actors == NOBODY)
        actions = sample_actions(whole.action_masks, generator)
        before = rows(batch, ~which, SHOWN)
        waited += int((batch.actors[~which] == NOBODY).sum())
        whole.step(actions)
        batch.step(np.where(which, actions, generator.choice([-5, NUM_ACTIONS], 12)), which)
        assert rows(batch, which) == rows(whole, which)
        ended = batch.terminations.copy()
        assert rows(batch, ended, ENDS) == rows(whole, ended, ENDS)
        assert rows(batch, ~which, SHOWN) == before
        assert not (batch.rewards.any(axis=1) | ended | batch.illegal)[~which].any()
        ends += int(ended.sum())
        if autoreset == "disabled" and (batch.actors == NOBODY).sum() > 3:
            batch.reset(mask=batch.actors == NOBODY)
    assert ends > 5
    assert (waited > 0) is (autoreset != "same_step")


def test_stepping_none() -> None:
    batch = in_the_middle(Config(players=2), 3, 20, seed=1, reward="points")
    before = rows(batch, batch.actors != NOBODY, SHOWN)
    batch.step([-1, -1, -1], np.zeros(3, bool))
    assert rows(batch, batch.actors != NOBODY, SHOWN) == before
    assert not batch.rewards.any()


def test_new_observations_keep_the_rows_of_games_that_wait() -> None:
    batch = Batch(Config(players=2), 4, seed=1, new_observations=True)
    earlier, copy = batch.observations, batch.observations.copy()
    which = np.array([True, False, True, False])
    batch.step(batch.random_actions(), which)
    assert batch.observations is not earlier
    assert (earlier == copy).all(), "older arrays stay as they are"
    assert (batch.observations[~which] == copy[~which]).all()
    assert (batch.observations == batch.observe(np.maximum(batch.actors, 0))).all()


def test_old_observations_are_written_over() -> None:
    batch = Batch(Config(players=2), 4, seed=1)
    earlier = batch.observations
    batch.step(batch.random_actions(), np.array([True, False, True, False]))
    assert batch.observations is earlier


@pytest.mark.parametrize("illegal_action", ["lose", "random"])
def test_illegal_actions_of_others_are_not_looked_at(illegal_action: str) -> None:
    batch = Batch(Config(players=2), 2, seed=1, illegal_action=illegal_action, autoreset="disabled")
    illegal = batch.action_masks.argmin(axis=1)
    before = rows(batch, np.array([False, True]), SHOWN)
    batch.step(illegal, np.array([True, False]))
    assert batch.illegal.tolist() == [True, False]
    assert batch.terminations.tolist() == [illegal_action == "lose", False]
    assert rows(batch, np.array([False, True]), SHOWN) == before


def test_an_illegal_action_among_those_that_are_stepped() -> None:
    batch = Batch(Config(players=2), 3, seed=1)
    illegal = batch.action_masks.argmin(axis=1)
    illegal[1] = batch.action_masks[1].argmax()  # this one is legal, and not played either
    before = everything(batch)
    with pytest.raises(IllegalAction, match=rf"game 2: action {illegal[2]} .* legal are"):
        batch.step(illegal, np.array([False, True, True]))
    with pytest.raises(IllegalAction, match=r"an int array of shape \(3,\)"):
        batch.step(illegal[2:], np.array([False, False, True]))
    assert everything(batch) == before
    batch.step(batch.random_actions())  # the mask of the refused step is forgotten
    assert (batch.states.tobytes() != before["states"]) and not batch.illegal.any()


@pytest.mark.parametrize(
    ("which", "found"),
    [
        (np.ones(2, bool), "bool (2,)"),
        (np.ones((3, 1), bool), "bool (3, 1)"),
        (np.ones(3, np.int8), "int8 (3,)"),
        ([0, 2], "int64 (2,)"),
        (True, "bool ()"),
        ("all", "<U3 ()"),
    ],
)
def test_bad_masks(which: Any, found: str) -> None:
    batch = Batch(Config(players=2), 3, seed=1)
    before = everything(batch)
    with pytest.raises(ConfigError, match=re.escape(f"which: must be a bool array of shape (3,), not {found}")):
        batch.step(batch.random_actions(), which)
    with pytest.raises(ConfigError, match=re.escape(f"mask: must be a bool array of shape (3,), not {found}")):
        batch.reset(mask=which)
    assert everything(batch) == before


def test_finished_games_are_left_alone_or_an_error() -> None:
    """autoreset="disabled"."""
    batch = a_finished_game(autoreset="disabled")
    over = batch.actors == NOBODY
    before = everything(batch)
    for which in (None, over):
        with pytest.raises(GameOver, match=f"game {over.argmax()} is over"):
            batch.step(batch.random_actions(), which)
        assert everything(batch) == before
    batch.step(batch.random_actions(), ~over)
    assert (batch.actors[over] == NOBODY).all()


def test_finished_games_begin_anew_when_it_is_their_turn() -> None:
    """autoreset="next_step"."""
    batch = a_finished_game(autoreset="next_step")
    over = batch.actors == NOBODY
    for _ in range(3):
        batch.step(batch.random_actions(), ~over)
        assert (batch.states["phase"][over] == Phase.OVER).all()
        assert (batch.actors[over] == NOBODY).all() and not batch.terminations[over].any()
    playing = rows(batch, ~over, SHOWN)
    batch.step([NUM_ACTIONS] * 2, over)
    assert (batch.actors != NOBODY).all() and (batch.states["round"][over] == 1).all()
    assert rows(batch, ~over, SHOWN) == playing


# --- Batches that mix configurations ---------------------------------------------------------------------------------


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
@pytest.mark.parametrize("configs", [SOLO, THREE], ids=["solo", "three players"])
def test_mixed_games_are_those_of_their_configuration(configs: list[Config], autoreset: str) -> None:
    """Each game, and each that follows it in its place, is played as in a batch of its own."""
    number = len(configs)
    batch = Batch(configs[0], number, seed=0, autoreset=autoreset)
    batch.reset(seed=30, config=configs)
    singles = [Batch(config, 1, seed=30 + i, autoreset=autoreset) for i, config in enumerate(configs)]
    assert batch.configs == configs
    ends = np.zeros(number, np.int64)
    generator = np.random.default_rng(3)
    for _ in range(600):
        for name in BUFFERS:
            joined = b"".join(getattr(single, name).tobytes() for single in singles)
            assert getattr(batch, name).tobytes() == joined, name
        actions = sample_actions(batch.action_masks, generator)
        batch.step(actions)
        for i, single in enumerate(singles):
            single.step(actions[i : i + 1])
        ends += batch.terminations
    assert ends.all() and ends.sum() > number
    assert [Config.of(state) for state in batch.states] == configs


def test_some_games_change_their_configuration() -> None:
    """The games of the mask change it; the others go on as they are. All keep their configuration from then on."""
    batch = in_the_middle(THREE[0], 6, 30, seed=1)
    mask = np.array([False, True, False, True, True, False])
    before = rows(batch, ~mask, SHOWN)
    streams = batch.states["rng"].copy()
    batch.reset(mask=mask, config=[THREE[1], THREE[2], THREE[1]])
    expected = [THREE[0], THREE[1], THREE[0], THREE[2], THREE[1], THREE[0]]
    assert batch.configs == [Config.of(state) for state in batch.states] == expected
    assert rows(batch, ~mask, SHOWN) == before
    assert batch.config == THREE[0], "what was given first"
    assert len(set(streams.tolist()) | set(batch.states["rng"].tolist())) == 9, "each goes on with its own stream"
    batch.reset(seed=5)
    assert batch.configs == [Config.of(state) for state in batch.states] == expected
    batch.reset(mask=mask, config=THREE[3])
    assert [config == THREE[3] for config in batch.configs] == mask.tolist()
    batch.reset(config=THREE[0], seed=9)
    assert batch.configs == [THREE[0]] * 6
    assert batch.states.tobytes() == Batch(THREE[0], 6, seed=9).states.tobytes()


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ([THREE[1]], "config: 1 configurations for 2 games"),
        ([THREE[1]] * 3, "config: 3 configurations for 2 games"),
        ([], "config: 0 configurations for 2 games"),
        (Config(players=2), "players=2"),
        ([THREE[1], Config()], "players=1"),
        (Config(players=3, components={"pieces.clouds": 9}), "components=(('pieces.clouds', 9),)"),
        (["3p", "3p"], "config='3p': must be a Config with the batch's number of players and components"),
        ([THREE[1], None], "config=None: must be a Config with"),
    ],
)
def test_configurations_that_do_not_fit(config: Any, text: str) -> None:
    batch = Batch(THREE[0], 3, seed=1)
    before = everything(batch)
    with pytest.raises(ConfigError, match=re.escape(text)):
        batch.reset(seed=8, mask=np.array([True, False, True]), config=config)
    assert everything(batch) == before


def mixed(autoreset: str = "same_step") -> Batch:
    """Games for three, in the middle."""
    batch = Batch(THREE[0], 4, seed=1, autoreset=autoreset)
    batch.reset(seed=2, config=THREE)
    for _ in range(60):
        batch.step(batch.random_actions())
    return batch


def test_mixed_games_are_copied_saved_and_loaded() -> None:
    """They go on alike, and so do the games after them, also in a batch that was not mixed before."""
    batch = mixed()
    copy, loaded = batch.copy(), Batch(THREE[0], 4, seed=7)
    loaded.load(batch.save())
    assert batch.configs == copy.configs == loaded.configs == THREE
    assert batch.save() == copy.save() == loaded.save()
    generator, ends = np.random.default_rng(1), 0
    for _ in range(500):
        actions = sample_actions(batch.action_masks, generator)
        for one in (batch, copy, loaded):
            one.step(actions)
        ends += int(batch.terminations.sum())
        whole = np.ones(4, bool)
        assert rows(batch, whole) == rows(copy, whole) == rows(loaded, whole)
    assert ends > 4
    copy.reset(config=THREE[1])
    assert batch.configs == THREE, "a copy is independent"


def test_games_of_one_configuration_are_loaded_into_a_mixed_batch() -> None:
    batch, plain = mixed(), Batch(THREE[0], 4, seed=5)
    batch.load(plain.save())
    assert batch.configs == [THREE[0]] * 4
    assert batch.save() == plain.save()
    batch.reset()
    plain.reset()
    assert batch.save() == plain.save()


def with_header(data: bytes, **changes: Any) -> bytes:
    """Saved games with other values in their header, and a checksum that fits."""
    start, end = data.index(b"{"), data.index(b"}") + 1
    header = json.dumps({**json.loads(data[start:end]), **changes}, sort_keys=True).encode()
    body = data[: start - 4] + len(header).to_bytes(4, "little") + header + data[end:-32]
    return body + hashlib.sha256(body).digest()


def test_saved_mixed_games_that_do_not_fit() -> None:
    """Refused: without the header's entry, into a batch of another configuration, and with other players."""
    data = mixed().save()
    batch = Batch(THREE[0], 4, seed=1)
    before = everything(batch)
    for value in (False, None, "yes", 1):
        with pytest.raises(StateError, match="game 1 has rounds 6; this batch plays 3p"):
            batch.load(with_header(data, mixed=value))
    batch.load(with_header(data, mixed=True))
    batch = Batch(THREE[1], 4, seed=1)
    with pytest.raises(StateError, match="the saved data has rounds 4; here it is 6"):
        batch.load(data)
    batch = Batch(THREE[0], 4, seed=1)
    two = Batch(Config(players=2), 4, seed=1).save()
    with pytest.raises(StateError, match="some of the saved games don't have 3 players"):
        batch.load(with_header(two, players=3, mixed=True))
    assert everything(batch) == before


def test_limits_are_told_before_memory_is_taken() -> None:
    with pytest.raises(ConfigError, match="num_threads=1000000: must be an int from 1 to 256"):
        Batch(Config(), 1, num_threads=10**6)
    with pytest.raises(
        ConfigError, match=r"num_games=1,000,000,000: they need [\d,.]+ GiB of memory, this machine has"
    ):
        Batch(Config(), 10**9)
    with pytest.raises(ConfigError, match="GiB of memory"):
        gymnasium.make_vec("petrichor_env:Petrichor/Solo-v0", num_envs=10**9)


def test_a_position_is_put_into_the_game_that_plays_its_configuration() -> None:
    batch = mixed()
    position = scenario({"players": 3, "rounds": 6, "drafting": True, "round": 5})
    batch.states[1] = position
    batch.refresh()
    assert batch.states[1].tobytes() == position.tobytes()
    batch.states[2] = position
    with pytest.raises(StateError, match=r"game 2 has rounds 6; this batch plays 3p\+fertilizer"):
        batch.refresh()


@pytest.mark.parametrize(
    ("groups", "files", "cores"),
    [
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 1.5),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "300000 100000\n"}, 3),
        (
            "4:cpu,cpuacct:/docker/1\n0::/\n",
            {"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"},
            0.5,
        ),
        ("1:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ("0::/\n", {"cpu.max": "nothing\n"}, None),
        ("nothing\n", {}, None),
        (None, {}, None),
    ],
)
def test_a_containers_share_of_the_cores(
    groups: str | None, files: dict[str, str], cores: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As both versions of Linux' control groups write it; the least of a group and of those around it."""
    listed, root = tmp_path / "cgroup", tmp_path / "fs"
    if groups is not None:
        listed.write_text(groups)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    quota = module._quota(listed, root)
    assert quota == (cores or math.inf)
    monkeypatch.setattr(module, "_quota", lambda: quota)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(64)), raising=False)
    assert module.usable_cores() == (64 if cores is None else max(1, int(cores)))
