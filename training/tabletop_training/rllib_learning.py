"""Learning on a cluster with RLlib's PPO: env runners play the games on all cores, and this process learns.

It is the second learner beside `Learner`, with the same settings, logs, evaluations and checkpoints. A run resumes from
`resume.zip` in our own format, because RLlib's checkpoints are pickles, and loading a pickle can run any program.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from tabletop.batch import Batch
from tabletop.errors import ConfigError, TabletopError
from tabletop.game import Config, Game
from tabletop_agents.networks import Network
from tabletop_training import cluster
from tabletop_training.curriculum import Curriculum
from tabletop_training.league import League, LeagueSettings
from tabletop_training.learn.devices import fastest_threads
from tabletop_training.learn.ppo import new_network
from tabletop_training.learning import BaseLearner, Budget, check_tables
from tabletop_training.resume import arrays_of, moments_of, set_moments, tensors_of
from tabletop_training.rllib import ENVIRONMENT, MaskedNetwork, News, Report, Told, Update, versions_here
from tabletop_training.selfplay import SNAPSHOTS, Task, TaskHook
from tabletop_training.settings import Settings
from tabletop_training.vec_env import Ended

MOST_SECONDS_ALONE = 300.0
"""Seconds that a run waits for env runners after it has lost all of them."""
_SECONDS_TO_ANSWER = 1.0
"""Seconds before each rollout in which a lost env runner may report that it is back."""


@contextmanager
def joined(address: str) -> Iterator[None]:
    """`cluster.joined` with fewer messages from Ray. Raises ConfigError for the address of a Ray client."""
    if address.startswith("ray://"):
        raise ConfigError(f"--ray {address}: the learner must run on a machine of the cluster; give HOST:PORT there")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)
    with cluster.joined(address):
        yield


class ClusterGames:
    """The learner's view of the games that env runners play: the task, the league and the curriculum.

    The env runners hold the league's opponents; the ratings and the shares of the draws are here.
    """

    def __init__(self, task: Task, settings: Settings, league: LeagueSettings | None, folder: Path, seed: int) -> None:
        self.config: Config = task.configs()[0]
        self.game: Game = self.config.game
        self.curriculum = Curriculum(task.levels, task.threshold, task.latest, seed) if task.curriculum else None
        self.league: League | None = None
        if self.config.players > 1:
            made = league or LeagueSettings()
            self.league = League(made, self.game, self.config.players - 1, folder / SNAPSHOTS, seed)
        self.tables = Batch(self.config, 1, 0).tables
        self._playing: set[int] = set()
        self._sent: dict[str, Any] = {}

    def grow(self, policy: Any, steps: int) -> None:
        """Add a snapshot of the learner to the league."""
        assert self.league is not None
        self.league.add(policy, steps, playing=self._playing)

    def take(self, reports: list[Report]) -> Ended:
        """Count the results that env runners reported; returns the ended games."""
        self._playing = set().union(*(report.playing for report in reports))
        if self.league is not None:
            for report in reports:
                for lineups, places in report.results:
                    self.league.record(lineups, places)
        return Ended.join([report.ended for report in reports], self.config.players)

    def news(self) -> News:
        """The message to env runners before the next rollout. Each snapshot is put into Ray's store once."""
        if self.curriculum is not None:
            return News(self.curriculum.level, self.curriculum.win_rates)
        if self.league is None:
            return News()
        names = {member.name for member in self.league.members}
        self._sent = {name: sent for name, sent in self._sent.items() if name in names}
        for member in self.league.members:
            if member.steps >= 0 and member.name not in self._sent:
                self._sent[member.name] = ray.put(member.agent)
        return News(
            members=tuple(
                Told(one.name, one.steps, one.ahead, one.games, one.active, self._sent.get(one.name))
                for one in self.league.members
            )
        )


@dataclass(eq=False, repr=False)
class ClusterLearner(BaseLearner):
    """Learns with RLlib's PPO in this process, from games that env runners play on a cluster.

    A lost env runner is started again where there is a free core. Until then the others also play its share. Its games
    are lost. A resumed run starts all games anew, so no two runs are the same.

    Attributes, beside those of `BaseLearner`:
        games: the learner's view of the games.
        hook: it has the task, which is sent to the env runners.
        workers: the number of RLlib's env runners. Each has one core and plays the same number of games. With 0 this
            process plays them. None means the number of the cluster's cores, or the next smaller number that divides
            the games.
    """

    ON_RAY = True

    games: ClusterGames
    hook: TaskHook = field(kw_only=True)
    workers: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        settings = self.settings
        cores = int(ray.cluster_resources().get("CPU", 0))
        fitting = [number for number in range(1, cores + 1) if settings.num_envs % number == 0]
        self.runners = max(fitting, default=0) if self.workers is None else self.workers
        if self.runners and settings.num_envs % self.runners:
            raise ConfigError(f"workers={self.runners}: it must divide the games, num_envs={settings.num_envs}")
        if self.runners > cores:
            raise ConfigError(f"workers={self.runners}: each needs a core of its own, and the cluster has {cores}")
        if settings.minibatch > settings.num_envs * settings.steps:
            raise ConfigError(
                f"minibatch={settings.minibatch}: RLlib wants at most what an update learns from, num_envs * steps = "
                f"{settings.num_envs * settings.steps}"
            )
        torch.manual_seed(self.seed)
        self._network = new_network(self.games.game, self.settings)
        self._moments: dict[str, Any] = {}
        self._steps = 0
        self._algorithm: Any = None
        self._playing = self.runners  # env runners that are not lost

    @property
    def steps(self) -> int:
        return self._steps

    @property
    def network(self) -> Network:
        return self._network

    @property
    def text(self) -> str:
        lost = f"; {self._playing} of {self.runners} env runners" if self._playing < self.runners else ""
        return super().text + lost

    def run(self) -> Self:
        try:
            return super().run()
        finally:
            if self._algorithm is not None:
                self._algorithm.stop()
                self._algorithm = None

    def _prepare(self) -> None:
        torch.set_num_threads(self.settings.threads or fastest_threads(self._network, self.settings.minibatch))
        try:
            self._algorithm = self._config().build_algo()
        except (ray.exceptions.RayError, IndexError) as error:  # this is what RLlib raises where no env runner answers
            needs = "every machine of the cluster needs this package, in the same versions"
            raise TabletopError(f"no env runner could be started; {needs}") from error
        module = self._update.module[DEFAULT_MODULE_ID].unwrapped()
        module.network.load_state_dict(self._network.state_dict())
        self._network = module.network
        if self._moments:
            set_moments(self._update.get_optimizer(), self._moments)
        self._algorithm.env_runner_group.sync_weights(
            from_worker_or_learner_group=self._algorithm.learner_group, inference_only=True
        )

    def _config(self) -> PPOConfig:
        settings, games = self.settings, self.games
        task, league = self.hook.task, None if games.league is None else games.league.settings
        made = {"task": task, "settings": settings, "league": league, "num_threads": 1 if self.runners else None}
        made["made_by"] = versions_here(games.game)
        return (
            PPOConfig()
            .environment(ENVIRONMENT, env_config=made, normalize_actions=False)  # numbers of actions stay as they are
            .env_runners(
                num_env_runners=self.runners,
                num_envs_per_env_runner=settings.num_envs // max(self.runners, 1),
                gym_env_vectorize_mode="vector_entry_point",
                rollout_fragment_length=settings.steps,
                sample_timeout_s=None,
            )
            .learners(num_learners=0)
            .training(
                learner_class=Update,
                train_batch_size_per_learner=settings.num_envs * settings.steps,
                minibatch_size=settings.minibatch,
                num_epochs=settings.epochs,
                lr=settings.learning_rate,
                entropy_coeff=settings.entropy,
                gamma=settings.discount,
                lambda_=settings.gae_lambda,
                clip_param=settings.clip,
                vf_loss_coeff=settings.value_weight,
                vf_clip_param=float("inf"),
                grad_clip=settings.max_gradient,
                grad_clip_by="global_norm",
                use_kl_loss=False,
            )
            .rl_module(
                rl_module_spec=RLModuleSpec(
                    module_class=MaskedNetwork, model_config={"config": games.config, "settings": settings}
                )
            )
            .fault_tolerance(
                restart_failed_env_runners=True,
                delay_between_env_runner_restarts_s=1.0,
                env_runner_health_probe_timeout_s=_SECONDS_TO_ANSWER,
            )
            .debugging(seed=(self.seed + self._steps) % 2**31, log_level="ERROR")
        )

    @property
    def _update(self) -> Any:
        (found,) = self._algorithm.learner_group.foreach_learner(lambda learner: learner)
        return found.get()

    def _learn_once(self, left: float) -> tuple[Ended, dict[str, float]]:
        self._update.fade(left)
        self._each_runner(partial(_hear, news=self.games.news()))
        result = self._train()
        self._steps += int(result["env_runners"]["num_env_steps_sampled"])
        numbers = self.hook.on_rollout_end(self, ended := self.games.take(self._each_runner(_report)))
        told = result["learners"][DEFAULT_MODULE_ID]
        numbers |= {
            "train/entropy_loss": -float(told["entropy"]),
            "train/approx_kl": float(told["approx_kl"]),
            "train/clip_fraction": float(told["clip_fraction"]),
            "train/value_loss": float(told["vf_loss"]),
            "train/explained_variance": float(told["vf_explained_var"]),
            "train/learning_rate": self.settings.learning_rate * left,
            "ray/env_runners": float(self._playing),
        }
        return ended, numbers

    def _count_runners(self) -> None:
        """Tell the user when env runners are lost or back."""
        playing = self._algorithm.env_runner_group.num_healthy_remote_workers()
        if playing != self._playing:
            what = "lost" if playing < self._playing else "back"
            self._playing = playing
            self.on_event(f"{self.steps:,} steps: env runners are {what}; {playing} of {self.runners} play all games")

    def _train(self) -> dict[str, Any]:
        """Do one rollout and one update. Raises TabletopError if all env runners stay lost."""
        start, before = time.monotonic(), self._update.updates
        while True:
            result: dict[str, Any] = self._algorithm.train()
            self._count_runners()
            if self._update.updates > before:  # else there was nobody to play
                return result
            if time.monotonic() - start > MOST_SECONDS_ALONE:
                raise TabletopError(f"all {self.runners} env runners are lost; what was saved last is kept")

    def _each_runner(self, function: Any) -> list[Any]:
        group = self._algorithm.env_runner_group
        return list(group.foreach_env_runner(function, local_env_runner=self.runners == 0))

    def _learning_state(self) -> dict[str, Any]:
        return {
            "tables": self.games.tables,
            "weights": arrays_of(self._network.state_dict()),
            "optimizer": moments_of(self._update.get_optimizer()),
            "league": None if self.games.league is None else self.games.league.get_state(),
        }

    def _set_learning_state(self, state: dict[str, Any]) -> None:
        check_tables(state["tables"], self.games.tables)
        self._network.load_state_dict(tensors_of(state["weights"]))
        self._moments = state["optimizer"]
        self._steps = state["steps"]
        if self.games.league is not None:
            self.games.league.set_state(state["league"])


def _hear(runner: Any, news: News) -> None:
    runner.env.unwrapped.hear(news)


def _report(runner: Any) -> Report:
    report: Report = runner.env.unwrapped.report()
    return report


def new_cluster_learner(
    budget: Budget,
    folder: Path,
    seed: int,
    settings: Settings,
    task: Task,
    league: LeagueSettings | None = None,
    **options: Any,
) -> ClusterLearner:
    """A learner of a task on a cluster, as `selfplay.new_learner`; `options` are those of `ClusterLearner`."""
    games = ClusterGames(task, settings, league, folder, seed)
    hook = TaskHook(task, seed, games.curriculum)
    notes = {"config": asdict(games.config), "curriculum": task.curriculum}
    return ClusterLearner(games, budget, folder, seed, settings, hook=hook, notes=notes, **options)
