"""Several processes of this machine learn together; some of them die."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children
from pathlib import Path

import pytest

from petrichor_env import GAME
from tabletop_agents.policy import PolicyAgent
from tabletop_cli import petrichor as cli
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_training.learn import parallel
from tabletop_training.learn.learner import POLICY, RESUME
from tabletop_training.learn.parallel import Progress, in_processes
from tests.support.effort import games
from tests.support.training_workers import (
    Telling,
    assert_continuous,
    curve_steps,
    die,
    fail,
    learn_and_save,
    refuse,
    settings_file,
    small_plan,
)

TRAIN = ["-m", "tabletop_cli", "petrichor_env.game", "train"]


def test_a_run_goes_on_when_a_worker_is_killed(tmp_path: Path) -> None:
    """First a following worker is killed, then the leading one; `make test` kills the leading one alone."""
    lost: list[int] = []
    kills = games(1, 2)
    steps = 1500 * (kills + 2)

    def kill_one(progress: Progress) -> None:
        if progress.saved_steps > 1500 * (1 + len(lost)) and len(lost) < kills:
            ranks = sorted(active_children(), key=lambda process: int(process.name.split("-")[-1]))
            assert len(ranks) == 2
            ranks[kills - 1 - len(lost)].kill()
            lost.append(progress.saved_steps)

    watcher = Telling(kill_one)
    folder = tmp_path / "run"
    end = in_processes(partial(learn_and_save, small_plan(tmp_path, steps), folder), folder, 2, "cpu", **watcher.screen)
    assert end.fraction == 1 and end.saved_steps >= steps
    saved = [int(re.sub(r"\D", "", text.split("step ")[1])) for text in watcher.told]
    assert len(lost) == kills and all(text.startswith("The workers start again: 2 of 2") for text in watcher.told)
    assert all(after >= before for before, after in zip(lost, saved, strict=True))
    assert_continuous(tmp_path / "run", steps)
    assert PolicyAgent.load(tmp_path / "run" / POLICY, GAME)
    assert not active_children()


def test_each_save_gives_new_tries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that fail once more than they may, but save each time, end their work."""
    monkeypatch.setattr(parallel, "TRIES", 2)
    starts: list[int] = []

    @contextmanager
    def start() -> Iterator[Callable[[], bool]]:
        starts.append(len(starts) + 1)

        def have_ended() -> bool:
            done = {"text": "", "fraction": 0.0, "saved_steps": starts[-1], "results": {} if len(starts) == 4 else None}
            told = {"start": starts[-1], "workers": 1, "progress": done}
            (tmp_path / parallel.PROGRESS).write_text(json.dumps(told), encoding="utf-8")
            if len(starts) < 4:
                raise parallel._WorkersFailed
            return True

        yield have_ended

    assert parallel._watch(start, 1, tmp_path, **Telling().screen).saved_steps == 4


@pytest.mark.slow
def test_what_ends_all_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the user ends them at once. Without progress they are not restarted for ever."""
    monkeypatch.setattr(parallel, "TRIES", 2)
    with pytest.raises(ConfigError, match="such a setting cannot be"):
        in_processes(refuse, tmp_path, 2, "cpu", **Telling().screen)
    with pytest.raises(TabletopError, match="failed 2 times without saving in between: is there memory enough"):
        in_processes(die, tmp_path, 1, "cpu", **Telling().screen)
    watcher = Telling()
    with pytest.raises(TabletopError, match="without saving in between: RuntimeError: a fault in the program"):
        in_processes(fail, tmp_path, 2, "cpu", **watcher.screen)
    assert "in fail" in watcher.told[-1]
    assert not active_children() and not any(tmp_path.iterdir())


def start(words: list[str], folder: Path) -> subprocess.Popen[str]:
    """Start a command that trains in `folder/run`, and wait for its first state after an update."""
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    command = [sys.executable, *words, str(settings_file(folder)), "--output", str(folder / "run")]
    started = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    while not (folder / "run" / RESUME).exists() or len(curve_steps(folder / "run")) < 2:
        assert started.poll() is None, started.communicate()[0]
        threading.Event().wait(0.1)
    return started


@pytest.mark.slow
def test_ctrl_c_ends_all_workers_and_one_can_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    started = start([*TRAIN, "--workers", "2"], tmp_path)
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does
    said, _ = started.communicate(timeout=300)
    folder = tmp_path / "run"
    assert started.returncode == 0
    assert f"To continue: petrichor train --workers 2 --resume {folder}" in said
    steps = curve_steps(folder)[-1]
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", "--resume", str(folder), "--steps", str(steps + 1000)])
    assert ended.value.code == 0
    assert_continuous(folder, steps + 1000)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] not in "ZX"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.slow
def test_workers_end_when_their_command_is_killed(tmp_path: Path) -> None:
    started = start([*TRAIN, "--workers", "2"], tmp_path)
    workers = children(started.pid)
    assert len(workers) >= 2
    started.kill()
    started.communicate(timeout=60)  # the workers hold the other end of the pipe until they end
    assert not [worker for worker in workers if is_running(worker)]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.slow
def test_torchrun_starts_the_same_command_again(tmp_path: Path) -> None:
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--max-restarts", "1"]
    started = start([*torchrun, *TRAIN, "--steps", "6000"], tmp_path)
    os.kill(children(started.pid)[-1], signal.SIGKILL)
    said, _ = started.communicate(timeout=300)
    assert started.returncode == 0, said
    assert_continuous(tmp_path / "run", 6000)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["run"]


def test_what_cannot_be_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    command = ["train", str(settings_file(tmp_path)), "--output", str(tmp_path / "run")]
    for options, problem in (
        (["--ray"], '--ray needs the extra "ray"'),
        (["--ray", "auto", "--workers", "2"], '--ray needs the extra "ray"'),
        (["--workers", "17"], "workers=17: must be from 1 to the games that they share, num_envs=16"),
        (["--workers", "0"], "Invalid value for '--workers'"),
    ):
        with pytest.raises(SystemExit) as ended:
            cli.main([*command, *options])
        assert ended.value.code == 2
        assert problem in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
