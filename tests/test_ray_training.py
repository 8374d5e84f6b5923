"""Training on a cluster: RLlib's PPO with our network, games and league. Needs the extra `ray`."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

pytest.importorskip("ray.rllib", exc_type=ImportError)

import ray
from ray.cluster_utils import Cluster
from ray.rllib.core.columns import Columns

from petrichor_env import GAME
from petrichor_env.config import Config
from tabletop.agents import Decisions
from tabletop.batch import Batch
from tabletop.errors import CheckpointError, ConfigError, TabletopError
from tabletop.kernels import sample_actions
from tabletop_agents import make_agent
from tabletop_agents.checkpoint import save_network
from tabletop_agents.policy import PolicyAgent
from tabletop_cli import petrichor as cli
from tabletop_training.evaluation_files import read_log
from tabletop_training.league import LeagueSettings
from tabletop_training.learn.learner import BEST, POLICY
from tabletop_training.learning import BaseLearner, Budget
from tabletop_training.resume import load_tree
from tabletop_training.rllib import MASK, OBSERVATIONS, MaskedNetwork, News, RunnerGames, Told, versions_here
from tabletop_training.rllib_learning import ClusterLearner, joined, new_cluster_learner
from tabletop_training.runs import main
from tabletop_training.selfplay import SelfPlaySettings, SoloSettings
from tabletop_training.settings import Settings

HERE = versions_here(GAME)
SMALL = Settings(num_envs=8, steps=32, minibatch=64, epochs=1, layers=(16,), threads=1)
TINY = """
[learning]
num_envs = 8
steps = 32
minibatch = 64
epochs = 1
layers = [16]
threads = 1
evaluate_every = 100000

[{kind}]
games = 4
"""


@pytest.fixture(autouse=True)
def no_cluster_stays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ray's processes find what pytest's path has, and end with the test."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    yield
    assert not ray.is_initialized()


@contextmanager
def here() -> Iterator[None]:
    """A cluster of one core that is shut down after the test."""
    with joined("local"):
        yield


def solo_task(**options: Any) -> SoloSettings:
    return SoloSettings(Config(), games=4, **options)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


# --- the network -----------------------------------------------------------------------------------------------------


def test_the_module_plays_as_the_checkpoint_of_its_weights(tmp_path: Path) -> None:
    batch = Batch(Config(variants=("double_card",)), 64, 3)
    games = RunnerGames(solo_task(), SMALL, None, 8, 1, HERE)
    module = MaskedNetwork(
        observation_space=games.single_observation_space,
        action_space=games.single_action_space,
        model_config={"config": Config(), "settings": Settings(trunk=(32,), layers=(16, 16))},
    )
    for layer in module.network.policy:  # a fresh network's logits are nearly equal
        if isinstance(layer, torch.nn.Linear):
            torch.nn.init.normal_(layer.weight)
    save_network(GAME, module.network, tmp_path / "policy.zip", {"players": 1})
    agent = PolicyAgent.load(tmp_path / "policy.zip", GAME)
    generator = np.random.default_rng(0)
    categorical = module.get_exploration_action_dist_cls()
    for _ in range(60):
        legal = batch.action_masks == 1
        seen = {
            OBSERVATIONS: torch.as_tensor(batch.observations),
            MASK: torch.as_tensor(batch.action_masks.astype(np.float32)),
        }
        for forward in (module.forward_inference, module.forward_exploration, module.forward_train):
            logits = forward({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS]
            drawn = categorical.from_logits(logits).sample().numpy()
            assert legal[np.arange(64), drawn].all()
            mine = functional.log_softmax(logits.detach(), dim=1).numpy()
            theirs = agent.network.log_probabilities(batch.observations, batch.action_masks)
            assert np.allclose(mine[legal], theirs[legal], rtol=1e-4, atol=1e-4)
            assert np.array_equal(mine.argmax(axis=1), agent.act(Decisions.of(batch, np.arange(64)), generator))
        values = module.compute_values({Columns.OBS: seen})
        assert values.shape == (64,)
        embeddings = module.forward_train({Columns.OBS: seen})[Columns.EMBEDDINGS]
        assert torch.equal(values, module.compute_values({Columns.OBS: seen}, embeddings))
        batch.step(drawn)


# --- the games of an env runner --------------------------------------------------------------------------------------


def test_env_runners_play_whole_games_and_report_each_once() -> None:
    games = RunnerGames(solo_task(), Settings(reward="margin", reward_scale=0.5, win_bonus=2.0), None, 16, 1, HERE)
    seen, infos = games.reset(seed=5)
    assert infos == {} and games.observation_space.contains(seen)
    generator = np.random.default_rng(0)
    lengths, returns = np.zeros(16, int), np.zeros(16)
    waiting = np.zeros(16, np.bool_)
    whole: list[tuple[int, float]] = []
    reported: list[tuple[int, float]] = []
    for _ in range(200):
        actions = sample_actions(seen[MASK] == 1, generator)
        actions[waiting] = 0  # ignored
        seen, rewards, terminations, truncations, _ = games.step(actions)
        assert games.observation_space.contains(seen) and not truncations.any()
        assert (rewards[waiting] == 0).all() and not terminations[waiting].any()
        lengths += ~waiting
        returns += rewards
        for game in np.flatnonzero(terminations):
            whole.append((lengths[game], returns[game]))
        lengths[terminations], returns[terminations] = 0, 0.0
        waiting = terminations
        ended = games.report().ended
        reported += list(zip(ended.lengths.tolist(), ended.returns.tolist(), strict=True))
    assert len(whole) > 16
    assert [length for length, _ in reported] == [length for length, _ in whole]
    assert np.allclose([gain for _, gain in reported], [gain for _, gain in whole])


def test_env_runners_follow_the_curriculum() -> None:
    games = RunnerGames(solo_task(curriculum=True), SMALL, None, 64, 1, HERE)
    games.reset(seed=1)
    assert {config.variants for config in games.tally.games.configs} == {()}
    curriculum: Any = games.curriculum
    games.hear(News(level=1, win_rates=np.full(len(curriculum.configs), 0.5)))
    games.reset(seed=1)
    assert {len(config.variants) for config in games.tally.games.configs} == {0, 1}


def test_env_runners_follow_the_league() -> None:
    """A member's place stays its own, and what is drawn is what the shares say."""
    task = SelfPlaySettings(Config(players=2), games=4)
    games = RunnerGames(task, SMALL, LeagueSettings(newest=0.0, floor=1e-9), 32, 1, HERE)
    games.reset(seed=1)
    with here():
        agent = make_agent("greedy", GAME)
        agent.name = "snapshot-7"  # any agent does for one
        sent = ray.put(agent)
        lost = Told("random", -1, 1e9, 1e9, True, None), Told("greedy", -1, 0.0, 0.0, False, None)
        games.hear(News(members=(*lost, Told("snapshot-7", 7, 0.0, 0.0, True, sent))))
    before: Any = games.tally.games
    assert [opponent.name for opponent in before.opponents] == ["random", "greedy", "snapshot-7"]
    assert set(before.lineups.ravel()) <= {0, 1}
    games.reset(seed=1)
    assert games.report().playing == {2}
    seen, _ = games.reset(seed=2)
    generator = np.random.default_rng(0)
    finished = 0
    for _ in range(150):
        seen, _, terminations, _, _ = games.step(sample_actions(seen[MASK] == 1, generator))
        finished += int(terminations.sum())
    report = games.report()
    assert sum(len(lineups) for lineups, _ in report.results) == len(report.ended) == finished > 0
    assert games.report().results == []


def test_env_runners_of_another_version_refuse() -> None:
    with pytest.raises(ConfigError, match="the learner has"):
        RunnerGames(solo_task(), SMALL, None, 8, 1, HERE | {"rules_version": -1})


# --- runs ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def solo_file(tmp_path: Path) -> Path:
    path = tmp_path / "solo.toml"
    path.write_text(TINY.format(kind="solo"), encoding="utf-8")
    return path


@pytest.mark.parametrize("workers", [0, 1])
def test_a_run_leaves_what_a_local_one_leaves_and_goes_on(workers: int, solo_file: Path, tmp_path: Path) -> None:
    folder = main(GAME, "solo", solo_file, steps=1200, output=tmp_path / "run", ray="local", workers=workers)
    assert {path.name for path in folder.iterdir()} == {
        "best.zip",
        "evaluations.csv",
        "learning_curve.csv",
        "policy.zip",
        "resume.zip",
        "run.json",
        "tensorboard",
    }
    for name in (POLICY, BEST):
        agent = PolicyAgent.load(folder / name, GAME)
        batch = Batch(Config(), 20, 1)
        generator = np.random.default_rng(0)
        while not batch.terminations.any():
            batch.step(agent.act(Decisions.of(batch, np.arange(20)), generator))
    (evaluation,) = read_log(folder / "evaluations.csv", 10**9)
    steps = int(evaluation["steps"])
    assert 1200 <= steps < 1200 + 8 * 32 + 8
    before = load_tree(folder / "resume.zip")
    curve = rows(folder / "learning_curve.csv")
    assert main(GAME, "solo", resume=folder, steps=2400, ray="local", workers=1) == folder
    after = load_tree(folder / "resume.zip")
    assert before["steps"] == steps and 2400 <= after["steps"] < 2400 + 8 * 32 + 8
    assert after["seconds"] > before["seconds"]
    assert rows(folder / "learning_curve.csv")[: len(curve)] == curve
    assert before["optimizer"].keys() == after["optimizer"].keys()
    assert after["optimizer"]["0"]["step"] > before["optimizer"]["0"]["step"] > 0
    assert any((before["weights"][name] != after["weights"][name]).any() for name in before["weights"])
    with pytest.raises(CheckpointError, match="with --ray"):
        main(GAME, "solo", resume=folder, steps=4800)


def test_a_resumed_run_begins_with_the_weights_it_had(tmp_path: Path) -> None:
    def learner(steps: int) -> ClusterLearner:
        return new_cluster_learner(Budget(steps=steps), tmp_path, 0, SMALL, solo_task(), workers=0)

    with here():
        first = learner(500).run()
        again = learner(500)
        again.resume()
        assert again.steps == first.steps
        for name, weights in first.network.state_dict().items():
            assert torch.equal(weights, again.network.state_dict()[name])
        changed = new_cluster_learner(
            Budget(), tmp_path, 0, Settings(num_envs=8, steps=32, minibatch=64, layers=(16,)), solo_task(), workers=0
        )
        with pytest.raises(CheckpointError, match="other settings"):
            changed.resume()


def test_selfplay_is_played_against_snapshots(tmp_path: Path) -> None:
    path = tmp_path / "selfplay.toml"
    league = "[league]\nsnapshot_steps = 600\nsnapshots = 3\n"
    path.write_text(TINY.format(kind="selfplay") + league, encoding="utf-8")
    folder = main(GAME, "selfplay", path, steps=3000, output=tmp_path / "run", ray="local", workers=2)
    log = rows(folder / "league.csv")
    snapshots = {row["player"] for row in log if row["player"].startswith("snapshot-")}
    assert len(snapshots) > 3
    assert max(int(row["games"]) for row in log if row["player"] in snapshots) > 3
    newest = {row["player"] for row in log if row["steps"] == log[-1]["steps"]}
    assert len(newest & snapshots) == 3 and newest >= {"learner", "random", "greedy", "snapshot-0"}
    assert newest & snapshots <= {path.stem for path in (folder / "league").iterdir()}
    main(GAME, "selfplay", resume=folder, steps=4000, ray="local", workers=1)
    assert int(rows(folder / "league.csv")[-1]["steps"]) >= 4000


def test_the_curriculum_moves_on(tmp_path: Path) -> None:
    task = solo_task(curriculum=True, threshold=1.0, latest=0.5)
    with here():
        learner = new_cluster_learner(Budget(steps=4000), tmp_path, 0, SMALL, task, workers=1).run()
    curriculum: Any = learner.games.curriculum
    assert curriculum.level == curriculum.levels.max()
    assert (curriculum.games > 0).sum() > 4


@contextmanager
def machines(number: int) -> Iterator[tuple[Cluster, list[Any]]]:
    """A cluster of so many, with a core each, and those that are not its head."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        yield cluster, [cluster.add_node(num_cpus=1) for _ in range(number - 1)]
    finally:
        cluster.shutdown()


def where_played(learner: ClusterLearner) -> list[str]:
    group = learner._algorithm.env_runner_group
    found: list[str] = group.foreach_env_runner(
        lambda _: ray.get_runtime_context().get_node_id(), local_env_runner=False
    )
    return found


def test_training_goes_on_when_a_machine_is_lost(tmp_path: Path) -> None:
    told: list[str] = []
    playing: list[int] = []

    def lose_one(learner: BaseLearner) -> None:
        playing.append(learner._playing)
        if len(playing) == 3:
            cluster.remove_node(other, allow_graceful=False)

    with machines(2) as (cluster, (other,)), joined(cluster.address):
        learner = new_cluster_learner(
            Budget(steps=3000),
            tmp_path,
            0,
            SMALL,
            solo_task(),
            workers=2,
            on_progress=lose_one,
            on_event=told.append,
        ).run()
    assert learner.steps >= 3000
    assert playing[:3] == [2, 2, 2] and playing[-1] == 1
    assert len(told) == 1 and "env runners are lost; 1 of 2 play all games" in told[0]
    assert learner.is_evaluated and PolicyAgent.load(tmp_path / POLICY, GAME)


def test_what_a_lost_machine_played_is_played_on_another(tmp_path: Path) -> None:
    told: list[str] = []
    places: list[list[str]] = []

    def lose_one(learner: Any) -> None:
        if not places:
            places.append(where_played(learner))
            cluster.remove_node(next(node for node in others if node.node_id in places[0]), allow_graceful=False)
        if len(told) == 2:
            places.append(where_played(learner))

    with machines(3) as (cluster, others), joined(cluster.address):
        new_cluster_learner(
            Budget(minutes=3),
            tmp_path,
            0,
            SMALL,
            solo_task(),
            workers=2,
            on_progress=lose_one,
            on_event=told.append,
            should_stop=lambda: len(places) > 1,
        ).run()
    assert "env runners are lost; 1 of 2" in told[0] and "env runners are back; 2 of 2" in told[1]
    assert len(set(places[0])) == len(set(places[1])) == 2 and set(places[0]) != set(places[1])


def test_a_run_waits_for_machines_when_it_has_lost_all_that_play(tmp_path: Path) -> None:
    told: list[str] = []
    steps: list[int] = []

    def lose_all(learner: BaseLearner) -> None:
        steps.append(learner.steps)
        if len(steps) == 2:
            cluster.remove_node(cluster.list_all_nodes()[1], allow_graceful=False)

    def hear(text: str) -> None:
        told.append(text)
        if "lost" in text:
            cluster.add_node(num_cpus=1)

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        cluster.add_node(num_cpus=1)
        with joined(cluster.address):
            new_cluster_learner(
                Budget(steps=1200),
                tmp_path,
                0,
                SMALL,
                solo_task(),
                workers=1,
                on_progress=lose_all,
                on_event=hear,
            ).run()
    finally:
        cluster.shutdown()
    assert ["0 of 1" in text for text in told] == [True, False]
    assert all(8 * 32 <= after - before < 8 * 33 for before, after in pairwise(steps))
    assert steps[-1] >= 1200


def test_a_cluster_that_others_left_running_is_left_alone() -> None:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "resources": {"left": 1}})
    try:
        with joined("local"):
            assert "left" not in ray.cluster_resources()
        with joined(cluster.address):
            assert "left" in ray.cluster_resources()
    finally:
        cluster.shutdown()


# --- mistakes --------------------------------------------------------------------------------------------------------


def test_what_cant_be_is_said(solo_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run: dict[str, Any] = {"steps": 300, "output": tmp_path / "run"}
    with pytest.raises(ConfigError, match="workers=2: only with --ray"):
        main(GAME, "solo", solo_file, **run, workers=2)
    with pytest.raises(ConfigError, match="must divide the games, num_envs=8"):
        main(GAME, "solo", solo_file, **run, ray="local", workers=3)
    with pytest.raises(ConfigError, match="needs a core of its own"):
        main(GAME, "solo", solo_file, **run, ray="local", workers=8)
    with pytest.raises(ConfigError, match="must run on a machine of the cluster"):
        main(GAME, "solo", solo_file, **run, ray="ray://127.0.0.1:1")
    with pytest.raises(TabletopError, match="no cluster there"):
        main(GAME, "solo", solo_file, **run, ray="127.0.0.1:1")
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", "solo", "--config", str(solo_file), "--ray", "127.0.0.1:1"])
    assert ended.value.code == 2 and "no cluster there" in capsys.readouterr().err
