"""The parts of RLlib's PPO: our network with action masks, the update, and native games for the env runners.

All of this also runs in the env runners' processes, on any machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
import ray
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.utils.schedules.scheduler import Scheduler
from torch.nn import functional

from tabletop.envs.arguments import observation_box
from tabletop.errors import ConfigError
from tabletop.game import Config, Game
from tabletop.seeds import Stream, generator
from tabletop.versus import VersusBatch
from tabletop_agents.checkpoint import versions
from tabletop_training.curriculum import Curriculum
from tabletop_training.league import League, LeagueSettings, Member
from tabletop_training.learn.ppo import masked_logits, new_network
from tabletop_training.selfplay import LeagueGames, Task
from tabletop_training.settings import Settings
from tabletop_training.vec_env import Ended, Tally

OBSERVATIONS, MASK = "observations", "action_mask"
"""The names of RLlib's own masking example."""


class MaskedNetwork(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]  # mypy runs without Ray
    """The local learner's network as an RLlib module. Observations are `{OBSERVATIONS: …, MASK: …}`.

    `model_config` has `config`, the game's configuration, and `settings`.
    """

    def setup(self) -> None:
        config: Config = self.model_config["config"]
        self.network = new_network(config.game, self.model_config["settings"])

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return self._logits(batch, self.network.trunk(batch[Columns.OBS][OBSERVATIONS]))

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        features = self.network.trunk(batch[Columns.OBS][OBSERVATIONS])
        return self._logits(batch, features) | {Columns.EMBEDDINGS: features}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """(N,) float32."""
        if embeddings is None:
            embeddings = self.network.trunk(batch[Columns.OBS][OBSERVATIONS])
        return self.network.value(embeddings).squeeze(-1)

    def _logits(self, batch: dict[str, Any], features: torch.Tensor) -> dict[str, torch.Tensor]:
        legal = batch[Columns.OBS][MASK] == 1
        return {Columns.ACTION_DIST_INPUTS: masked_logits(self.network.policy(features), legal)}


class Update(PPOTorchLearner):  # type: ignore[misc]
    """RLlib's update with the local learner's optimizer, and its decreasing learning rate and entropy bonus.

    It also logs the numbers of the local learner's curve. `updates` counts the updates.
    """

    updates = 0

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        params = self.get_parameters(self.module[module_id])
        optimizer = torch.optim.Adam(params, lr=config.lr, eps=1e-5, fused=True)  # eps as Stable-Baselines3 has it
        self.register_optimizer(module_id=module_id, optimizer=optimizer, params=params)

    def fade(self, left: float) -> None:
        """Scale the learning rate and the entropy bonus by this factor."""
        self._set_optimizer_lr(self.get_optimizer(), self.config.lr * left)
        bonus = Scheduler(fixed_value_or_schedule=self.config.entropy_coeff * left)
        self.entropy_coeff_schedulers_per_module[DEFAULT_MODULE_ID] = bonus

    def after_gradient_based_update(self, *, timesteps: dict[str, Any]) -> None:
        super().after_gradient_based_update(timesteps=timesteps)
        self.updates += 1

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> torch.Tensor:
        """RLlib's loss, a scalar."""
        loss: torch.Tensor = super().compute_loss_for_module(
            module_id=module_id, config=config, batch=batch, fwd_out=fwd_out
        )
        with torch.no_grad():
            chosen = functional.log_softmax(fwd_out[Columns.ACTION_DIST_INPUTS], dim=1)
            chosen = chosen.gather(1, batch[Columns.ACTIONS].long()[:, None])[:, 0]
            changes = (chosen - batch[Columns.ACTION_LOGP])[batch[Columns.LOSS_MASK]]
            ratios = changes.exp()
            clipped = ((ratios - 1).abs() > config.clip_param).float().mean()
            self.metrics.log_dict(
                {"approx_kl": (ratios - 1 - changes).mean(), "clip_fraction": clipped}, key=module_id, window=1
            )
        return loss


@dataclass(frozen=True)
class Told:
    """A member of the league in messages to env runners; `snapshot` refers to the layers in Ray's store."""

    name: str
    steps: int
    ahead: float
    games: float
    active: bool
    snapshot: Any


@dataclass(frozen=True)
class News:
    """The message to env runners before each rollout: the present state of the curriculum and the league."""

    level: int = 0
    win_rates: np.ndarray | None = None
    members: tuple[Told, ...] = ()


@dataclass(frozen=True)
class Report:
    """The message of an env runner after each rollout."""

    ended: Ended
    results: list[tuple[np.ndarray, np.ndarray]]  # arguments of `League.record`
    playing: set[int]  # members that games run against now


class FollowingLeague(League):
    """An env runner's copy of the league. It draws opponents by the given shares and only collects results."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.results: list[tuple[np.ndarray, np.ndarray]] = []

    def record(self, lineups: np.ndarray, places: np.ndarray) -> None:
        self.results.append((lineups, places))

    def follow(self, members: Sequence[Told]) -> None:
        """Update the members of the league. Running games keep their opponents."""
        known = {member.name: member.agent for member in self.members}
        self.members = [
            Member(known.get(one.name) or ray.get(one.snapshot), one.steps, one.ahead, one.games, one.active)
            for one in members
        ]


def versions_here(game: Game) -> dict[str, Any]:
    """The versions that must be the same on all machines."""
    return {**versions(game), "rules_version": game.rules_version, "state_version": game.state_version}


class RunnerGames(VectorEnv[dict[str, np.ndarray], np.ndarray, np.ndarray]):
    """The games of one env runner: a `VersusBatch` with RLlib's interface, without a loop over games.

    An ended game waits for the next step, which ignores its action and starts a new game (`NEXT_STEP`). RLlib gives
    each runner another seed.

    Arguments:
        task, settings, league: those of the run. num_envs: the number of games. num_threads: threads that step them.
        made_by: `versions_here` of the learner. Raises ConfigError if this machine has other versions.
    """

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # type: ignore[misc]

    def __init__(
        self,
        task: Task,
        settings: Settings,
        league: LeagueSettings | None,
        num_envs: int,
        num_threads: int | None,
        made_by: dict[str, Any],
    ) -> None:
        config: Config = task.configs()[0]
        if made_by != versions_here(config.game):
            raise ConfigError(f"the learner has {made_by}, this machine {versions_here(config.game)}")
        self.curriculum = Curriculum(task.levels, task.threshold, task.latest, 0) if task.curriculum else None
        made: dict[str, Any] = {
            "reward": settings.reward,
            "seed": 0,
            "autoreset": "next_step",
            "num_threads": num_threads,
        }
        made["choose_config"] = None if self.curriculum is None else self.curriculum.choose
        self.league: FollowingLeague | None = None
        if config.players == 1:
            games = VersusBatch(config, num_envs, **made)
        else:
            self.league = FollowingLeague(league or LeagueSettings(), config.game, config.players - 1, Path(), 0)
            games = LeagueGames(self.league, config, num_envs, **made)
        self.tally = Tally(games, settings.reward_scale, settings.win_bonus)
        self.num_envs = num_envs
        mask = spaces.Box(0, 1, (config.game.num_actions,), np.float32)
        box = observation_box(config.game, np.dtype(np.float32))
        self.single_observation_space = spaces.Dict({OBSERVATIONS: box, MASK: mask})
        self.single_action_space = spaces.Discrete(config.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Start all games. An int `seed` also seeds the draws of curriculum and league."""
        if isinstance(seed, int):
            for number, drawing in enumerate((self.curriculum, self.league)):
                if drawing is not None:
                    drawing.generator = generator(seed, Stream.CLUSTER, number)
        self.tally.reset(seed)
        return self._seen(), {}

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Observations, rewards (float64), terminations, truncations (all False), and no infos."""
        rewards, _, _ = self.tally.step(actions)
        return self._seen(), rewards, self.tally.games.terminations.copy(), np.zeros(self.num_envs, np.bool_), {}

    def _seen(self) -> dict[str, np.ndarray]:
        games = self.tally.games
        return {OBSERVATIONS: games.observations, MASK: games.action_masks.astype(np.float32)}

    def hear(self, news: News) -> None:
        """Update curriculum and league from the learner's message."""
        if self.curriculum is not None and news.win_rates is not None:
            self.curriculum.level = news.level
            self.curriculum.win_rates[:] = news.win_rates
        if self.league is not None and news.members:
            games: Any = self.tally.games
            self.league.follow(news.members)
            games.opponents = self.league.agents

    def report(self) -> Report:
        """The results since the last report."""
        results: list[tuple[np.ndarray, np.ndarray]] = []
        if self.league is not None:
            results, self.league.results = self.league.results, []
        return Report(self.tally.take_ended(), results, set(self.tally.games.lineups.ravel().tolist()))


ENVIRONMENT = "tabletop_training.rllib:Tabletop/Runner-v0"
"""The environment's name for RLlib; an env runner finds this module by it on its machine."""

gymnasium.register(ENVIRONMENT.partition(":")[2], vector_entry_point="tabletop_training.rllib:RunnerGames")
