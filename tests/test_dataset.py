"""`… dataset`: Minari reads back what was played, with one seat and with several, and it can be played again."""

from __future__ import annotations

import gc
import itertools
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import minari
import numpy as np
import pytest
from minari import MinariDataset

import evergreen_env
import petrichor_env
from tabletop_agents import make_agent
from tabletop_cli import evergreen, petrichor
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.batch import REWARDS
from tabletop_training import dataset
from tabletop_training.dataset import FIRST_SEED, main
from tests.games import leduc_poker
from tests.support.effort import THOROUGH

BOTH = (petrichor_env.GAME, evergreen_env.GAME)


def written(folder: Path, names: list[str], config: Config, **arguments: Any) -> MinariDataset:
    agents = [make_agent(name, config.game) for name in names]
    return MinariDataset(main(agents, config, output=folder, **arguments))


def played_again(env: Any, episode: Any, seed: int, options: dict[str, Any]) -> None:
    """Check that the environment repeats the episode from this start: observations, rewards, ends, and types."""
    seen, _ = env.reset(seed=seed, options=options)
    assert len(episode.observations["observation"]) == len(episode.actions) + 1
    for step, action in enumerate(episode.actions):
        for key in ("observation", "action_mask"):
            assert np.array_equal(seen[key], episode.observations[key][step])
            assert seen[key].dtype == episode.observations[key].dtype
        assert seen["action_mask"][action] == 1
        seen, got, terminated, truncated, info = env.step(action)
        assert (got, terminated, truncated) == (
            episode.rewards[step],
            episode.terminations[step],
            episode.truncations[step],
        )
    assert terminated and info["seat"] == episode.infos["seat"][0]
    assert np.array_equal(seen["observation"], episode.observations["observation"][-1])
    assert episode.observations["action_mask"][-1].all()


@pytest.mark.parametrize(
    ("game", "reward"), [(BOTH[0], None), (BOTH[0], "win"), (BOTH[0], "margin"), (BOTH[1], None)], ids=str
)
def test_episodes_alone_play_again(game: Game, reward: str | None, tmp_path: Path) -> None:
    """The data set's environment gives the same episodes from their seeds."""
    data = written(tmp_path, ["greedy"], game.config(players=1), games=3, reward=reward)
    assert data.total_episodes == 3
    env = data.recover_environment()
    for number, (episode, told) in enumerate(zip(data, data.storage.get_episode_metadata(range(3)), strict=True)):
        assert told["seed"] == FIRST_SEED + number
        played_again(env, episode, told["seed"], {})
        played_again(env, episode, told["seed"], told["options"])


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("players", "reward"), list(product((2, 3, 4), REWARDS) if THOROUGH else zip((2, 3, 4), REWARDS, strict=True))
)
@pytest.mark.parametrize("game", BOTH, ids=str)
def test_episodes_of_several_agents_play_again(game: Game, players: int, reward: str, tmp_path: Path) -> None:
    """Also against agents that play at random, even if the environment has other agents than those that played."""
    names = ["greedy", "random", "policy-sample:versus", "ismcts-5"][:players]
    number = players  # agents move on by a seat from game to game, so each has had every seat
    data = written(tmp_path, names, game.config(players=players), games=number, seed=11, reward=reward)
    assert data.total_episodes == number * players
    env = data.recover_environment()
    for episode, told in zip(data, data.storage.get_episode_metadata(range(number * players)), strict=True):
        assert told["options"]["seat"] == episode.infos["seat"][0]
        played_again(env, episode, told["seed"], told["options"])


def test_another_action_leaves_the_recorded_game(tmp_path: Path) -> None:
    """From there on the opponents decide. In the next game they decide from the beginning."""
    game = petrichor_env.GAME
    data = written(tmp_path, ["random", "greedy"], game.config(players=2), games=3, seed=11)
    env: Any = data.recover_environment()
    for episode, told in zip(data, data.storage.get_episode_metadata(range(6)), strict=True):
        seen, _ = env.reset(seed=told["seed"], options=told["options"])
        for action in episode.actions[:10]:
            seen, *_ = env.step(action)
        legal = np.flatnonzero(seen["action_mask"])
        others = legal[legal != episode.actions[10]]
        seen, _, ended, *_ = env.step(int(others[0] if len(others) else legal[0]))
        while not ended:
            seen, _, ended, *_ = env.step(int(np.flatnonzero(seen["action_mask"])[-1]))
    first, _ = env.reset(seed=3)
    fresh: Any = data.recover_environment()
    assert np.array_equal(first["observation"], fresh.reset(seed=3)[0]["observation"])


def test_episodes_play_again_after_the_file_of_their_numbers_changed(tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.toml"
    numbers.write_text("[pieces]\ndrops = 5\n", encoding="utf-8")
    config = petrichor_env.Config(players=2, components=numbers)
    data = written(tmp_path, ["greedy", "random"], config, games=3)
    numbers.write_text("[pieces]\ndrops = 12\n", encoding="utf-8")
    env = data.recover_environment()
    for episode, told in zip(data, data.storage.get_episode_metadata(range(6)), strict=True):
        played_again(env, episode, told["seed"], told["options"])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of a file")
@pytest.mark.parametrize("finished", [0, 2])
def test_a_full_disk_keeps_the_finished_blocks(
    finished: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    import resource

    blocks, made, usual = itertools.count(), dataset.play, resource.getrlimit(resource.RLIMIT_FSIZE)

    def fills_the_disk(*arguments: Any, **options: Any) -> Any:
        if next(blocks) == finished:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, usual[1]))
        return made(*arguments, **options)

    monkeypatch.setattr(dataset, "GAMES_AT_ONCE", 2)
    config, options = petrichor_env.Config(players=2), {"games": 8, "name": "full"}
    patched = pytest.MonkeyPatch()
    patched.setattr(dataset, "play", fills_the_disk)
    try:
        with pytest.raises(TabletopError, match=r"can't be written to \(File too large\)"):
            written(tmp_path, ["random", "random"], config, **options)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        patched.undo()
    gc.collect()
    assert "Traceback" not in capfd.readouterr().err
    if finished == 0:  # nothing was kept, so the name is free
        assert written(tmp_path, ["random", "random"], config, **options).total_episodes == 16
        return
    kept = MinariDataset(tmp_path / "full-v0" / "data")
    assert kept.total_episodes == 2 * 2 * finished == len(list(kept))
    with pytest.raises(TabletopError, match="there is a data set of this name already"):
        written(tmp_path, ["random", "random"], config, **options)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("file", ["from_000004.hdf5", "main_data.hdf5", "metadata.json"])
def test_a_killed_process_keeps_the_finished_blocks(file: str, tmp_path: Path) -> None:
    """Killed in the second block, when this file is written but has not replaced the earlier one."""
    program = f"""
import os, signal
from pathlib import Path
import petrichor_env
from tabletop_training import dataset
dataset.GAMES_AT_ONCE = 2
replace = os.replace
def kill(old, new):
    if Path(new).name == {file!r} and (Path(new).parent / "metadata.json").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    replace(old, new)
os.replace = kill
dataset.main(["random", "random"], petrichor_env.Config(players=2), games=8, output={str(tmp_path)!r}, name="killed")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=600)
    assert ended.returncode == -9, ended.stderr.decode()
    kept = MinariDataset(tmp_path / "killed-v0" / "data")
    assert kept.total_episodes == 4 == len(list(kept))


@pytest.mark.parametrize("game", BOTH, ids=str)
def test_every_seat_of_a_game_is_an_episode(game: Game, tmp_path: Path) -> None:
    """Margins sum to 0 over the seats of a game. Agents move on by one seat from game to game."""
    names = ["random", "greedy", "policy-sample:versus"]
    data = written(tmp_path, names, game.config(players=3), games=4, reward="margin", observation_dtype="float32")
    assert data.total_episodes == 12
    games: dict[int, list[Any]] = {}
    for episode, told in zip(data, data.storage.get_episode_metadata(range(12)), strict=True):
        games.setdefault(told["seed"], []).append(episode)
        length = len(episode.actions)
        masks, told_rows = episode.observations["action_mask"], episode.infos["probabilities"]
        assert masks[np.arange(length), episode.actions].all()
        assert list(episode.terminations) == [False] * (length - 1) + [True]
        who = names[episode.infos["agent"][0]]
        if who == "greedy":
            assert np.isnan(told_rows).all()
            continue
        assert np.isnan(told_rows[-1]).all()
        assert np.allclose(told_rows[:-1].sum(axis=1), 1, atol=1e-5)
        assert (told_rows[:-1][masks[:-1] == 0] == 0).all()
        assert (told_rows[np.arange(length), episode.actions] > 0).all()
        if who == "random":
            assert np.allclose(told_rows[:-1], masks[:-1] / masks[:-1].sum(axis=1, keepdims=True))
    assert sorted(games) == list(range(FIRST_SEED, FIRST_SEED + 4))
    for number, seats in enumerate(games[seed] for seed in sorted(games)):
        assert [episode.infos["seat"][0] for episode in seats] == [0, 1, 2]
        assert [episode.infos["agent"][0] for episode in seats] == [(number + seat) % 3 for seat in range(3)]
        assert sum(episode.rewards.sum() for episode in seats) == pytest.approx(0, abs=1e-6)
    env = data.recover_environment()
    seen, _ = env.reset(seed=1)
    assert data.observation_space == env.observation_space and env.observation_space.contains(seen)


def test_a_game_without_environments(tmp_path: Path) -> None:
    data = written(tmp_path, ["random", "random"], leduc_poker.GAME.config(), games=5)
    assert data.total_episodes <= 10 and data.env_spec is None


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"name": "../up"}, "small letters, digits and hyphens"),
        ({"name": "A"}, "small letters, digits and hyphens"),
        ({"games": 0}, "games=0: must be at least 1"),
        ({"reward": "fun"}, "reward='fun'"),
        ({"observation_dtype": "int3"}, "observation_dtype='int3'"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], error: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=error):
        written(tmp_path / "none", ["random"], petrichor_env.Config(), **arguments)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("command", [petrichor.main, evergreen.main], ids=["petrichor", "evergreen"])
def test_on_the_command_line(
    command: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["dataset", "greedy", "random", "--games", "2", "--seed", "7", "--name", "mine", "--output", "data"]
    with pytest.raises(SystemExit) as done:
        command(words)
    assert not done.value.code
    assert "4 episodes" in capsys.readouterr().out
    data = MinariDataset("data/mine-v0/data")
    assert [told["seed"] for told in data.storage.get_episode_metadata(range(4))] == [7, 7, 8, 8]
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "data"))
    assert minari.list_local_datasets()["mine-v0"]["total_episodes"] == 4
    assert minari.load_dataset("mine-v0").total_steps == data.total_steps
    with pytest.raises(SystemExit) as done:
        command(words)
    assert done.value.code == 2
    assert "there is a data set of this name already" in capsys.readouterr().err
