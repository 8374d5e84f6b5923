"""Learning on a Ray cluster: two nodes on this machine, and one is lost. Needs the extra `ray`: `make test-ray`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray.train")

from petrichor_env import GAME
from tabletop_agents.policy import PolicyAgent
from tabletop_cli import petrichor as cli
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_training.learn import parallel
from tabletop_training.learn.learner import BEST, POLICY
from tabletop_training.learn.parallel import Progress, on_ray
from tabletop_training.learn.train import main
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

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
]


@pytest.fixture(autouse=True)
def no_cluster_stays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ray's processes get pytest's path, and end with the test."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    yield
    import ray

    assert not ray.is_initialized()


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head without cores for workers, and two nodes with one each."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    made.others = [made.add_node(num_cpus=1) for _ in range(2)]
    yield made
    made.shutdown()


def test_a_run_goes_on_when_a_node_is_lost_and_when_another_comes(cluster: Any, tmp_path: Path) -> None:
    """It goes on with one worker while there is no other node, and after another loss with two, when a node has come.

    Ray looks for new nodes once a minute, so there may be one worker for a while. The run ends soon after the change.
    """
    lost: list[int] = []
    two_from: list[int] = []

    def restarts() -> list[int]:
        return [int(text.split()[4]) for text in watcher.told if text.startswith("The workers start again: ")]

    def lose_one(progress: Progress) -> None:
        if progress.saved_steps > 1500 and not lost:
            lost.append(progress.saved_steps)
            cluster.remove_node(cluster.others.pop(), allow_graceful=False)
        if len(lost) == 1 and restarts() and progress.saved_steps > lost[0] + 1500:
            lost.append(progress.saved_steps)
            cluster.add_node(num_cpus=1)
            cluster.add_node(num_cpus=1)
            cluster.remove_node(cluster.others.pop(), allow_graceful=False)
        if len(lost) == 2 and restarts()[-1] == 2:
            two_from.append(progress.saved_steps)
            watcher.stopping = progress.saved_steps > two_from[0] + 1500

    watcher = Telling(lose_one)
    folder = tmp_path / "run"
    work = partial(learn_and_save, small_plan(tmp_path, 500_000), folder)
    end = on_ray(work, folder, cluster.address, 2, "cpu", **watcher.screen)
    assert restarts()[0] == 1 and restarts()[-1] == 2 and len(restarts()) <= 3, watcher.told
    assert 1500 < lost[0] < lost[1] < two_from[0] < end.saved_steps and end.fraction < 1
    assert_continuous(tmp_path / "run", two_from[0] + 1500)
    assert PolicyAgent.load(tmp_path / "run" / POLICY, GAME)


def test_a_run_leaves_what_one_without_a_cluster_leaves_and_goes_on_without(tmp_path: Path) -> None:
    words = ["train", str(settings_file(tmp_path)), "--output", str(tmp_path / "run")]
    with pytest.raises(SystemExit) as ended:
        cli.main([*words, "--steps", "2000", "--ray", "--workers", "2"])
    assert ended.value.code == 0
    folder = tmp_path / "run"
    assert_continuous(folder, 2000)
    assert PolicyAgent.load(folder / BEST, GAME)
    before = curve_steps(folder)
    for more in ({"ray": "local", "workers": 1}, {}):
        main(GAME, resume=folder, steps=curve_steps(folder)[-1] + 600, **more)  # type: ignore[arg-type]
    assert curve_steps(folder)[: len(before)] == before
    assert_continuous(folder, before[-1] + 1200)


def test_what_ends_all_workers(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "TRIES", 2)
    with pytest.raises(ConfigError, match="such a setting cannot be"):
        on_ray(refuse, tmp_path, cluster.address, 2, "cpu", **Telling().screen)
    with pytest.raises(TabletopError, match="without saving in between: RuntimeError: a fault in the program"):
        on_ray(fail, tmp_path, cluster.address, 1, "cpu", **Telling().screen)
    with pytest.raises(TabletopError, match="failed 2 times without saving in between: is there memory enough"):
        on_ray(die, tmp_path, cluster.address, 1, "cpu", **Telling().screen)


def test_what_cannot_be_is_said(cluster: Any, tmp_path: Path) -> None:
    run: dict[str, Any] = {"settings": settings_file(tmp_path), "steps": 300, "output": tmp_path / "run"}
    with pytest.raises(ConfigError, match="start training on a machine of the cluster"):
        main(GAME, **run, ray="ray://127.0.0.1:1")
    with pytest.raises(TabletopError, match="no cluster there"):
        main(GAME, **run, ray="127.0.0.1:1")
    with pytest.raises(ConfigError, match="no machine of the cluster has a GPU"):
        main(GAME, **run, ray=cluster.address, device="cuda")
