"""Games on a Ray cluster: two nodes on this machine, one of which is lost. Needs the extra `ray`: `make test-ray`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray")

from petrichor_env import Config
from tabletop_agents import GreedyAgent, RandomAgent
from tabletop_cli import petrichor, run
from tabletop_engine.errors import IllegalAction, TabletopError
from tabletop_engine.play.agents import Agent, Decisions
from tabletop_training.measure import matches, workers
from tabletop_training.measure.cluster import RayWorkers
from tabletop_training.measure.evaluation import HERE
from tabletop_training.measure.matches import evaluate
from tabletop_training.measure.results import Results
from tabletop_training.petrichor import difficulty
from tests.support.results import assert_same, bytes_of, files_of
from tests.support.workers import Dying

SEED = 50

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning:ray")


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head without cores for games, and a node with two."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    made.node = made.add_node(num_cpus=2)
    yield made
    made.shutdown()


class Slow(RandomAgent):
    """Plays slowly, so that a node is lost in the middle of a game."""

    name = "random"

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        threading.Event().wait(0.02)
        return super().act(decisions, generator)


def test_a_node_is_lost_in_the_middle(cluster: Any, tmp_path: Path) -> None:
    """Its blocks are played once more by the node that joins; the files are those of one process."""
    config, finished = Config(players=2), []
    agents: list[Agent] = [Slow(), GreedyAgent()]
    here = evaluate([RandomAgent(), GreedyAgent()], config, 1500, SEED)
    lost = threading.Event()

    def lose(games: int) -> None:
        finished.append(games)
        if len(finished) == 3:
            cluster.add_node(num_cpus=2)
            cluster.remove_node(cluster.node, allow_graceful=False)
            lost.set()

    with RayWorkers(cluster.address) as players:
        assert players.number == 2
        there = evaluate(agents, config, 1500, SEED, workers=players, on_finished=lose)
    assert lost.is_set() and sum(finished) == 1500
    assert_same(here.results[0], there.results[0])


def test_the_files_of_an_evaluation_and_a_study(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difficulty, "write_report", lambda *arguments: None)
    left = []
    for name, players in (("here", HERE), ("there", RayWorkers(cluster.address))):
        with players:
            told: dict[str, Any] = {"seed": SEED, "workers": players}
            match = matches.main(
                ["greedy", "random"], Config(players=2), games=200, output=tmp_path / name / "match", **told
            )
            study = difficulty.main(["random"], 3, output=tmp_path / name / "study", **told)
        left.append((files_of(match), bytes_of(study)))
    assert left[0] == left[1]


def test_a_block_whose_worker_always_dies(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "TRIES", 2)
    agents: list[Agent] = [Dying(tmp_path / "pids", always=True), RandomAgent()]
    with RayWorkers(cluster.address) as players, pytest.raises(TabletopError, match="2 workers died"):
        evaluate(agents, Config(players=2), 10, SEED, workers=players)
    assert len(set((tmp_path / "pids").read_text().split())) == 2


class Wrong(RandomAgent):
    name = "wrong"

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        return np.full(len(decisions), -1)


def test_a_cluster_of_ones_own_beside_a_stale_one(
    cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without an address no other cluster is joined. An agent's mistake is reported as without a cluster."""
    words = ["evaluate", "greedy", "--games", "80", "--seed", str(SEED), "--output", str(tmp_path / "ray"), "--ray"]
    petrichor.app(run.with_values(words), standalone_mode=False)
    there = files_of(tmp_path / "ray")
    here = matches.main(["greedy"], Config(), games=80, seed=SEED, output=tmp_path / "here")
    assert there == files_of(here)
    with RayWorkers(number=1) as players:
        import ray

        assert players.number == 1
        assert ray.get_runtime_context().gcs_address != cluster.address
        with pytest.raises(IllegalAction, match="agent 'wrong'"):
            evaluate([RandomAgent(), Wrong()], Config(players=2), 10, SEED, workers=players)
        stopped: list[Results] = []
        evaluation = evaluate(
            [RandomAgent()],
            Config(),
            5000,
            SEED,
            workers=players,
            should_stop=lambda: bool(stopped),
            on_block=lambda block, so_far: stopped.extend(block),
        )
        assert evaluation.stopped == "interrupted"


def test_no_cluster_there() -> None:
    with pytest.raises(TabletopError, match=r"--ray 127.0.0.1:1: no cluster there"), RayWorkers("127.0.0.1:1"):
        pass
