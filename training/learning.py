"""Learning the solo game with MaskablePPO for a given time."""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import FloatSchedule

from agents.checkpoint import save_checkpoint
from petrichor_env.config import Config
from training.vec_env import PetrichorVecEnv

SECONDS_BETWEEN_CHECKPOINTS = 30.0
MAX_THREADS = 4


@dataclass(frozen=True)
class Settings:
    """Hyper-parameters. Learning rate and entropy bonus fall linearly to `final` of themselves as time runs out."""

    num_envs: int = 128
    steps: int = 128  # of each game between updates
    minibatch: int = 2048
    epochs: int = 3
    learning_rate: float = 2e-3
    entropy: float = 0.01
    final: float = 0.05
    discount: float = 1.0
    gae_lambda: float = 0.98
    clip: float = 0.2
    layers: tuple[int, ...] = (128, 128)  # of policy and value network each
    reward: str = "margin"
    reward_scale: float = 0.1
    threads: int | None = None  # of torch; None measures what is fastest, again and again


@dataclass(frozen=True)
class CurvePoint:
    """The games that ended while one rollout was collected: a row of `learning_curve.csv`."""

    seconds: float
    steps: int
    games: int
    wins: int
    margin: float
    points: float
    neutral_points: float


@dataclass
class Progress:
    """How far learning is. `curve` has a point for every rollout that saw a game end."""

    fraction: float
    steps: int
    steps_per_second: float
    curve: list[CurvePoint]

    @property
    def recent(self) -> tuple[float, float] | None:
        """Win rate and mean margin of about the last 500 games; None before the first game's end."""
        games = wins = 0
        margin = 0.0
        for point in reversed(self.curve):
            games += point.games
            wins += point.wins
            margin += point.margin * point.games
            if games >= 500:
                break
        return (wins / games, margin / games) if games else None


def learn(
    config: Config,
    minutes: float,
    folder: Path,
    seed: int,
    settings: Settings | None = None,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> tuple[MaskablePPO, Progress]:
    """Train a policy for that many minutes, or until `should_stop`.

    Leaves `policy.zip` in the folder (first at once, then every half minute and at the end) and writes
    `learning_curve.csv` line by line.
    """
    settings = settings or Settings()
    torch.set_num_threads(settings.threads or 1)
    torch.distributions.Distribution.set_default_validate_args(False)  # a tenth of the time, and masks are right
    env = PetrichorVecEnv(
        settings.num_envs, config, reward=settings.reward, reward_scale=settings.reward_scale, seed=seed
    )
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=settings.steps,
        batch_size=settings.minibatch,
        n_epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        ent_coef=settings.entropy,
        gamma=settings.discount,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip,
        policy_kwargs={"net_arch": list(settings.layers), "activation_fn": torch.nn.ReLU},
        seed=seed,
        device="cpu",
    )
    callback = _Learning(60 * minutes, folder, settings, config, seed, should_stop, on_progress)
    with (folder / "learning_curve.csv").open("w", newline="", encoding="utf-8") as file:
        callback.log_to(file)
        callback.init_callback(model)
        callback.save()
        try:
            model.learn(10**12, callback=callback, log_interval=10**9)
        finally:
            callback.save()
    return model, callback.progress()


class _Learning(BaseCallback):
    """Watches the clock, follows the curve, saves checkpoints."""

    def __init__(
        self,
        seconds: float,
        folder: Path,
        settings: Settings,
        config: Config,
        seed: int,
        should_stop: Callable[[], bool],
        on_progress: Callable[[Progress], None],
    ) -> None:
        super().__init__()
        self.seconds = seconds
        self.folder = folder
        self.settings = settings
        self.config = config
        self.seed = seed
        self.should_stop = should_stop
        self.on_progress = on_progress
        self.curve: list[CurvePoint] = []
        self.start = time.monotonic()
        self._ended: list[tuple[bool, int, int]] = []
        self._saved = self._shown = 0.0

    def log_to(self, file: Any) -> None:
        self._file = file
        self._writer = csv.writer(file)
        self._writer.writerow([field.name for field in fields(CurvePoint)])

    def elapsed(self) -> float:
        return time.monotonic() - self.start

    def progress(self) -> Progress:
        elapsed = self.elapsed()
        fraction = min(1.0, elapsed / self.seconds) if self.seconds > 0 else 1.0
        return Progress(fraction, self.num_timesteps, self.num_timesteps / max(elapsed, 1e-9), self.curve)

    def save(self) -> None:
        notes = {
            "config": asdict(self.config),
            "seed": self.seed,
            "steps": self.num_timesteps,
            "seconds": round(self.elapsed(), 1),
            "settings": asdict(self.settings),
        }
        save_checkpoint(self.model, self.folder / "policy.zip", notes)
        self._saved = self.elapsed()

    def _on_training_start(self) -> None:
        self.start = time.monotonic()
        self._choose_threads()

    def _choose_threads(self) -> None:
        if self.settings.threads is None:
            torch.set_num_threads(fastest_threads(self.model.policy, self.settings.minibatch))

    def _on_step(self) -> bool:
        infos = self.locals["infos"]
        for game in np.flatnonzero(self.locals["dones"]):
            info = infos[game]
            self._ended.append((info["won"], info["points"], info["neutral_points"]))
        elapsed = self.elapsed()
        if elapsed - self._shown > 0.2:
            self._shown = elapsed
            self.on_progress(self.progress())
        return elapsed < self.seconds and not self.should_stop()

    def _on_rollout_end(self) -> None:
        if self._ended:
            won, points, neutral = (np.array(column) for column in zip(*self._ended, strict=True))
            margin = float((points - neutral).mean())
            point = CurvePoint(
                round(self.elapsed(), 2),
                self.num_timesteps,
                len(won),
                int(won.sum()),
                round(margin, 3),
                round(float(points.mean()), 3),
                round(float(neutral.mean()), 3),
            )
            self.curve.append(point)
            self._writer.writerow(asdict(point).values())
            self._file.flush()
            self._ended.clear()
        left = 1.0 - self.progress().fraction * (1.0 - self.settings.final)
        model: Any = self.model
        model.lr_schedule = FloatSchedule(self.settings.learning_rate * left)
        model.ent_coef = self.settings.entropy * left
        if self.elapsed() - self._saved > SECONDS_BETWEEN_CHECKPOINTS:
            self.save()
            self._choose_threads()


def fastest_threads(policy: Any, minibatch: int) -> int:
    """With how many of torch's threads the network is updated fastest, as busy as the machine is right now.

    The threads wait for each other by spinning, so that two are many times slower than one where something else
    needs the cores, and nearly twice as fast where nothing does. It takes a fraction of a second.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    observations = torch.zeros(minibatch, *policy.observation_space.shape)
    actions = torch.zeros(minibatch, dtype=torch.long)
    masks = torch.ones(minibatch, policy.action_space.n)

    def seconds(passes: int) -> float:
        start = time.monotonic()
        for _ in range(passes):
            values, log_probability, entropy = policy.evaluate_actions(observations, actions, masks)
            (values.mean() + log_probability.mean() + entropy.mean()).backward()
            policy.optimizer.zero_grad()
        return (time.monotonic() - start) / passes

    best, shortest = 1, float("inf")
    for threads in range(1, min(cores, MAX_THREADS) + 1):
        torch.set_num_threads(threads)
        if seconds(1) < 2 * shortest:  # the first pass also wakes the threads
            now = seconds(4)
            if now < 0.9 * shortest:
                best, shortest = threads, now
    return best
