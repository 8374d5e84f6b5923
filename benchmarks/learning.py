"""`python -m benchmarks.learning`: how long the learner plays and updates for each decision, with several settings.

Petrichor's solo game on one core, by processor time, with one thread of PyTorch. One turn is one rollout and the
update that follows it. The contenders take turns in one process, and medians are shown. sb3-contrib's MaskablePPO plays
on `SeatsVecEnv`. `docs/performance.md` shows the results, which are in `docs/learning.json`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from torch import nn

from benchmarks.measure import on_cores, options, write_figures
from petrichor_env import GAME, Config
from tabletop_engine.play.learner_games import learner_games
from tabletop_training.files.settings import Settings
from tabletop_training.learn.devices import torch_settings
from tabletop_training.learn.learner import Learner
from tabletop_training.learn.plan import Plan
from tabletop_training.learn.ppo import update
from tabletop_training.learn.task import Budget
from tabletop_training.learn.vec_env import SeatsVecEnv

SETTINGS = Settings(threads=1)
"""128 games x 128 steps, minibatches of 2,048, 3 epochs, two networks of 128x128."""
SMALL = replace(SETTINGS, layers=(64, 64))
SHARED = replace(SETTINGS, trunk=(128,), layers=(128,))
LARGE = replace(SHARED, num_envs=512, steps=64, minibatch=4096)


@dataclass
class Turn:
    """What one rollout and its update took, in seconds of processor time."""

    decisions: int
    rollout: float
    update: float


def ours(settings: Settings) -> Callable[[], Turn]:
    """A function that lets the learner do one turn."""
    with tempfile.TemporaryDirectory() as folder:
        options: dict[str, Any] = {"resumable": False, "tensorboard": False, "evaluate": False}
        learner = Learner(GAME, Plan(settings, budget=Budget(minutes=1.0)), Path(folder), **options)

    def turn() -> Turn:
        with torch_settings(settings):
            start = time.process_time()
            rollout, _ = learner.table.play(learner.network, settings.steps)
            middle = time.process_time()
            update(learner.network, learner.optimizer, rollout, learner.table.inputs, settings, settings.entropy)
            end = time.process_time()
        return Turn(int(rollout.deciding.sum()), middle - start, end - middle)

    return turn


class _RolloutEnd(BaseCallback):
    """Notes when the last rollout ended."""

    at = 0.0

    def _on_rollout_end(self) -> None:
        self.at = time.process_time()

    def _on_step(self) -> bool:
        return True


def sb3(settings: Settings) -> Callable[[], Turn]:
    """The same for sb3-contrib's MaskablePPO, exactly as it is, with the same hyper-parameters."""
    games = learner_games(Config(), settings.num_envs, reward=settings.reward, new_observations=True, seed=0)
    model = MaskablePPO(
        "MlpPolicy",
        SeatsVecEnv(games, reward_scale=settings.reward_scale),
        learning_rate=settings.learning_rate,
        n_steps=settings.steps,
        batch_size=settings.minibatch,
        n_epochs=settings.epochs,
        gamma=settings.discount,
        gae_lambda=settings.gae_lambda,
        ent_coef=settings.entropy,
        policy_kwargs={"net_arch": list(settings.layers), "activation_fn": nn.ReLU},
        seed=0,
        device="cpu",
    )
    decisions, middle = settings.num_envs * settings.steps, _RolloutEnd()

    def turn() -> Turn:
        start = time.process_time()
        model.learn(decisions, callback=middle, reset_num_timesteps=False)
        return Turn(decisions, middle.at - start, time.process_time() - middle.at)

    return turn


CONTENDERS: dict[str, tuple[Callable[[Settings], Callable[[], Turn]], Settings]] = {
    "sb3-contrib's MaskablePPO on `SeatsVecEnv`": (sb3, SETTINGS),
    "the learner, `bfloat16 = false`": (ours, replace(SETTINGS, bfloat16=False)),
    "the learner": (ours, SETTINGS),
    "first layer shared: `trunk = [128]`, `layers = [128]`": (ours, SHARED),
    "that with 512 games x 64 steps, minibatches of 4,096": (ours, LARGE),
    "that with `trunk = [256]`": (ours, replace(LARGE, trunk=(256,))),
    "the learner, 2 epochs": (ours, replace(SETTINGS, epochs=2)),
    "the learner, two networks of 64x64": (ours, SMALL),
    "sb3-contrib's MaskablePPO, two networks of 64x64": (sb3, SMALL),
}


def measure(rounds: int) -> list[dict[str, Any]]:
    """A row for each contender: microseconds a decision of the rollout and the update, and decisions a second."""
    contenders = {what: made(settings) for what, (made, settings) in CONTENDERS.items()}
    turns: dict[str, list[Turn]] = {what: [] for what in contenders}
    for number in range(rounds + 1):
        for what, turn in contenders.items():
            done = turn()
            if number:  # the first turn compiles
                turns[what].append(done)
    rows = []
    for what, done_turns in turns.items():
        playing = median(one.rollout / one.decisions for one in done_turns)
        updating = median(one.update / one.decisions for one in done_turns)
        speed = median(one.decisions / (one.rollout + one.update) for one in done_turns)
        figures = {"rollout": round(playing * 1e6, 1), "update": round(updating * 1e6, 1)}
        rows.append({"what": what, **figures, "decisions_per_second": round(speed)})
    return rows


def main() -> None:
    given = options(__doc__, rounds=(9, "turns of each contender"))
    torch.set_num_threads(1)
    with on_cores(1):
        rows = measure(given.rounds)
    for row in rows:
        print(row)
    write_figures(given.json, torch=torch.__version__, rounds=given.rounds, rows=rows)


if __name__ == "__main__":
    main()
