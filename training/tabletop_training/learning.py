"""The learner of all kinds of training: MaskablePPO on a `VersusBatch`, with logs, checkpoints and exact resume.

`selfplay` builds on it: it creates the games, decides what else is logged and evaluated (`Hook`), and leaves the rest
to `Learner`. `BaseLearner` is the part that it shares with the learner on a cluster (`rllib_learning`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import FloatSchedule

from tabletop.checks import checked, whole
from tabletop.errors import CheckpointError
from tabletop.game import Config, Game
from tabletop.versus import VersusBatch
from tabletop_agents.checkpoint import save_network, versions
from tabletop_agents.networks import Network
from tabletop_agents.policy import PolicyAgent
from tabletop_training.evaluation_files import read_log, write_log
from tabletop_training.learn.devices import fastest_threads, matmul_precision, torch_settings
from tabletop_training.learn.learner import (
    BEST,
    CURVE,
    EVALUATIONS,
    POLICY,
    RESUME,
    SECONDS_BETWEEN_CHECKPOINTS,
    TENSORBOARD,
)
from tabletop_training.learn.task import Budget as Budget
from tabletop_training.learn.task import Judgement as Judgement
from tabletop_training.ppo import new_model
from tabletop_training.resume import arrays_of, load_tree, moments_of, save_tree, set_moments, tensors_of
from tabletop_training.settings import Settings, with_tuples
from tabletop_training.vec_env import Ended, SeatsVecEnv


class CurvePoint(NamedTuple):
    """The games that ended during one rollout, and the update after it: a row of `learning_curve.csv`.

    `wins` counts a shared victory by its share. `others_points` are the mean points of all others. `decisions` are
    those of a game. The other numbers are PPO's, averaged over the learner's decisions, in nats where it applies.
    """

    seconds: float
    steps: int
    games: int
    wins: float
    margin: float
    points: float
    others_points: float
    decisions: float
    entropy: float
    kl: float
    clipped: float
    value_loss: float
    explained_variance: float
    learning_rate: float


class Hook:
    """Extends the learner for a kind of training. This class adds nothing: override what is needed.

    For exact resume, everything that it changes or draws from must be in its state, and it must not depend on the time.
    """

    def on_start(self, learner: BaseLearner) -> None:
        """Called before the first rollout, after the state of a resumed run was restored."""

    def on_rollout_end(self, learner: BaseLearner, ended: Ended) -> dict[str, float]:
        """Called after each rollout, before its update, with the games that `ended` in it. Returns numbers to log."""
        return {}

    def evaluate(self, learner: BaseLearner) -> Judgement | None:
        """Called every `settings.evaluate_every` steps and at the end; None if there is nothing to evaluate."""
        return None

    def on_save(self, learner: BaseLearner) -> None:
        """Called after checkpoints were written, about every half minute and at the end, to write further files."""

    def get_state(self) -> dict[str, Any]:
        """The state as plain values, arrays and bytes, for `tabletop_training.resume.save_tree`."""
        return {}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state from `get_state`."""


class Games(Protocol):
    """Where a learner's games are played."""

    @property
    def game(self) -> Game: ...

    @property
    def config(self) -> Config:
        """What is played; of several ways to play the first one."""


@dataclass(eq=False, repr=False)
class BaseLearner:
    """A run of learning, whatever learns: its budget, logs, evaluations, checkpoints and resumable state.

    It writes into `folder`: `policy.zip` (at the start, then every half minute and at the end), `best.zip` (the policy
    with the highest evaluation), `learning_curve.csv`, `evaluations.csv`, `tensorboard/` and `resume.zip`.

    Its attributes are `curve`, with a point for every rollout in which a game ended, `evaluations`, `saved_steps` (0
    until a state after an update has been saved), and:

        notes: JSON-able; saved in the checkpoints with settings, seed and steps.
        resumable: False leaves out `resume.zip`, which takes about a second to write for a large network.
        tensorboard: False leaves out that log; so does an installation without TensorBoard.
        should_stop: asked after every update. What was learned by then is saved.
        on_progress: called a few times a second, or after every update.
        on_event: called with a text about something the user should know.
    """

    ON_RAY: ClassVar[bool] = False

    games: Games
    budget: Budget
    folder: Path
    seed: int
    settings: Settings = field(default_factory=Settings)
    _: KW_ONLY
    hook: Hook = field(default_factory=Hook)
    notes: dict[str, Any] = field(default_factory=dict)
    resumable: bool = True
    tensorboard: bool = True
    should_stop: Callable[[], bool] = lambda: False
    on_progress: Callable[[BaseLearner], None] = lambda learner: None
    on_event: Callable[[str], None] = lambda text: None

    def __post_init__(self) -> None:
        whole("seed", self.seed, 0, 2**32 - 1)  # what Stable-Baselines3 takes
        self.curve: list[CurvePoint] = []
        self.evaluations: list[tuple[int, Judgement]] = []
        self._seconds = 0.0  # of the parts before
        self._start: float | None = None  # of the part that runs
        self._began = 0, 0.0  # steps and seconds at its start
        self._saved = 0.0
        self.saved_steps = 0
        self._board: Any = None

    # --- what a learner is made of ---

    @property
    def steps(self) -> int:
        """Decisions of the learner so far."""
        raise NotImplementedError

    @property
    def network(self) -> Network:
        """The network as it is now, and as it goes on learning."""
        raise NotImplementedError

    def _learn_once(self, left: float) -> tuple[Ended, dict[str, float]]:
        """Collect one rollout, call the hook, and do one update. `left` scales the learning rate and the entropy bonus.

        Returns the ended games and numbers to log, including those of `CurvePoint` as `train/…`.
        """
        raise NotImplementedError

    def _prepare(self) -> None:
        """Called before the first rollout of this part of the run."""

    def _save_regularly(self) -> None:
        """Save if the last time was more than about half a minute ago."""
        self.save()

    def _learning_state(self) -> dict[str, Any]:
        """The state of the learning itself, without counts and logs."""
        raise NotImplementedError

    def _set_learning_state(self, state: dict[str, Any]) -> None:
        raise NotImplementedError

    # --- the same for all ---

    @property
    def seconds(self) -> float:
        """The time of all parts of the run so far, in seconds."""
        return self._seconds + (0.0 if self._start is None else time.monotonic() - self._start)

    @property
    def fraction(self) -> float:
        """How much of the budget is used up, 0 to 1."""
        return self.budget.fraction(self.steps, self.seconds)

    @property
    def steps_per_second(self) -> float:
        """Steps per second since it was started or resumed."""
        steps, seconds = self._began
        return (self.steps - steps) / max(self.seconds - seconds, 1e-9)

    @property
    def recent(self) -> tuple[float, float] | None:
        """Win rate and mean margin of about the last 500 games; None before the first game has ended."""
        games = 0
        wins = margin = 0.0
        for point in reversed(self.curve):
            games += point.games
            wins += point.wins
            margin += point.margin * point.games
            if games >= 500:
                break
        return (wins / games, margin / games) if games else None

    @property
    def text(self) -> str:
        """The progress as a text beside a bar."""
        text = f"{self.steps / 1e6:.2f}M steps, {self.steps_per_second / 1e3:.1f}k/s"
        if self.recent is not None:
            alone = self.games.config.owners == 1
            text += f", {self.recent[1]:.1f} points" if alone else f", won {self.recent[0]:.0%}, {self.recent[1]:+.1f}"
        if self.evaluations:
            text += f"; best evaluation {max(evaluation.score for _, evaluation in self.evaluations):.3f}"
        return text

    @property
    def is_evaluated(self) -> bool:
        """Whether the newest evaluation is of the present policy."""
        return bool(self.evaluations) and self.evaluations[-1][0] >= self.steps

    def agent(self, name: str = "policy", *, sample: bool = False) -> PolicyAgent:
        """The present policy as an agent; it goes on learning."""
        return PolicyAgent(self.network, name=name, sample=sample)

    def run(self) -> Self:
        """Learn until the budget is used up or `should_stop` says so; returns itself."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._began = self.steps, self.seconds
        self._start = time.monotonic()
        try:
            with torch_settings(self.settings), self._logs() as self._board:
                self._prepare()
                self.hook.on_start(self)
                self.save()
                self._learn()
                self.save()
        finally:
            self._seconds, self._start, self._board = self.seconds, None, None
        return self

    def _learn(self) -> None:
        while self.fraction < 1 and not self.should_stop():
            self._iterate()
            if self.seconds - self._saved > SECONDS_BETWEEN_CHECKPOINTS:
                self._save_regularly()
        if self.fraction >= 1 and self.steps and not self.is_evaluated:
            self._evaluate()

    def _iterate(self) -> None:
        settings = self.settings
        before = self.steps
        ended, numbers = self._learn_once(1.0 - self.fraction * (1.0 - settings.final))
        self._check_finite()
        self._log(ended, numbers)
        self.on_progress(self)
        if self.steps // settings.evaluate_every > before // settings.evaluate_every:
            self._evaluate()

    def _check_finite(self) -> None:
        """Raise CheckpointError if the network has numbers that are not finite. Earlier files stay."""
        if all(torch.isfinite(parameter).all() for parameter in self.network.parameters()):
            return
        kept = f"{self.folder / POLICY} is of step {self.saved_steps:,}" if self.saved_steps else "nothing was kept"
        raise CheckpointError(
            f"after {self.steps:,} steps the network's numbers are not finite any more: the learning rate "
            f"({self.settings.learning_rate:g}) may be too high; {kept}"
        )

    def _evaluate(self) -> None:
        state = torch.get_rng_state()
        with matmul_precision("highest"):  # as the policy will be played later
            evaluation = self.hook.evaluate(self)
        torch.set_rng_state(state)
        if evaluation is None:
            return
        best = max((earlier.score for _, earlier in self.evaluations), default=-float("inf"))
        earlier = read_log(self.folder / EVALUATIONS, self.evaluations[-1][0]) if self.evaluations else []
        self.evaluations.append((self.steps, evaluation))
        row = {"seconds": round(self.seconds, 1), "steps": self.steps, "score": round(evaluation.score, 5)}
        rounded = row | {name: round(value, 5) for name, value in evaluation.numbers.items()}
        write_log(self.folder / EVALUATIONS, rounded, [*earlier, rounded])
        numbers = evaluation.numbers | {"score": evaluation.score}
        self._show({f"evaluation/{name}": value for name, value in numbers.items()})
        if evaluation.score > best:
            self.save_policy(self.folder / BEST, evaluation=row | evaluation.numbers)

    def _logs(self) -> AbstractContextManager[Any]:
        """Open the learning curve, with the saved rows of a resumed run, and TensorBoard's log."""
        write_log(self.folder / CURVE, CurvePoint._fields, [point._asdict() for point in self.curve])
        if not self.tensorboard or find_spec("tensorboard") is None:
            return nullcontext()
        from torch.utils.tensorboard import SummaryWriter

        return SummaryWriter(str(self.folder / TENSORBOARD), purge_step=self.steps + 1)

    def _show(self, numbers: dict[str, float]) -> None:
        if self._board is not None:
            for name, value in numbers.items():
                self._board.add_scalar(name, value, self.steps)

    def _log(self, ended: Ended, numbers: dict[str, float]) -> None:
        self._show(numbers)
        if not len(ended):
            return
        point = CurvePoint(
            round(self.seconds, 2),
            self.steps,
            len(ended),
            round(float(ended.won.sum()), 3),
            round(float(ended.margins.mean()), 3),
            round(float(ended.points.mean()), 3),
            round(float(ended.others_points.mean()), 3),
            round(float(ended.lengths.mean()), 2),
            round(-numbers["train/entropy_loss"], 4),
            round(numbers["train/approx_kl"], 5),
            round(numbers["train/clip_fraction"], 4),
            round(numbers["train/value_loss"], 5),
            round(numbers["train/explained_variance"], 4),
            round(numbers["train/learning_rate"], 7),
        )
        self.curve.append(point)
        write_log(self.folder / CURVE, CurvePoint._fields, [point._asdict()], new=False)
        shown = {f"games/{name}": getattr(point, name) for name in ("margin", "points", "others_points", "decisions")}
        shown["games/win_rate"] = float(ended.won.mean())
        self._show(shown | {"time/steps_per_second": self.steps_per_second})

    def save_policy(self, path: Path, **notes: Any) -> None:
        """Write the present policy as a checkpoint with the run's notes and `notes`."""
        run: dict[str, Any] = {"players": self.games.config.players, "seed": self.seed, "steps": self.steps}
        run |= {"seconds": round(self.seconds, 1), "settings": asdict(self.settings)}
        save_network(self.games.game, self.network, path, {**self.notes, **run, **notes})

    def save(self) -> None:
        """Write `policy.zip` and `resume.zip`. A network that is not finite is not saved: raises CheckpointError."""
        self._check_finite()
        self.save_policy(self.folder / POLICY)
        if self.resumable:
            save_tree(self.folder / RESUME, self.get_state())
        self.hook.on_save(self)
        self._saved, self.saved_steps = self.seconds, self.steps

    def get_state(self) -> dict[str, Any]:
        """The whole state that the rest of the run depends on."""
        return {
            "versions": self._versions,
            "ray": self.ON_RAY,
            "settings": asdict(self.settings),
            "steps": self.steps,
            "seconds": self.seconds,
            **self._learning_state(),
            "hook": self.hook.get_state(),
            "curve": [list(point) for point in self.curve],
            "evaluations": [[steps, evaluation.score, evaluation.numbers] for steps, evaluation in self.evaluations],
        }

    def resume(self) -> None:
        """Restore the run that left `resume.zip` in the folder; the next `run` continues it.

        Raises CheckpointError if the file is missing or damaged, or if its version, settings or components differ.
        """
        path = self.folder / RESUME
        state = load_tree(path)
        try:
            self._set_state(state)
        except CheckpointError as error:
            raise CheckpointError(f"{path}: {error}") from None
        except (KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
            raise CheckpointError(f"{path}: is damaged or of another run ({error!r})") from error

    @property
    def _versions(self) -> dict[str, Any]:
        return {**versions(self.games.game), "state_version": self.games.game.state_version}

    def _set_state(self, state: dict[str, Any]) -> None:
        here = self._versions
        different = [name for name in here if name != "package" and state["versions"].get(name) != here[name]]
        if different:
            raise CheckpointError(
                f"made by version {state['versions'].get('package')}, this is {here['package']}, and they differ in "
                f"{', '.join(different)}"
            )
        if state.get("ray", False) != self.ON_RAY:
            how = "without" if self.ON_RAY else "with"
            raise CheckpointError(f"was trained {how} --ray and continues only {how} it")
        mine = asdict(self.settings)
        saved = with_tuples(state["settings"])
        others = sorted(key for key in mine if saved.get(key) != mine[key])
        if others:
            raise CheckpointError(f"has other settings: {', '.join(f'{key}={saved.get(key)}' for key in others)}")
        self._set_learning_state(state)
        self.hook.set_state(state["hook"])
        self._seconds = state["seconds"]
        self.saved_steps = state["steps"]
        self.curve[:] = [CurvePoint(*row) for row in state["curve"]]
        self.evaluations[:] = [(steps, Judgement(score, numbers)) for steps, score, numbers in state["evaluations"]]


@dataclass(eq=False, repr=False)
class Learner(BaseLearner):
    """Learns with MaskablePPO in this process, in the seats that `games` gives it.

    On the same machine and with the same number of threads, a resumed run with a budget of steps ends with exactly the
    weights of a run that was never interrupted.

    Further attributes are `model` (MaskablePPO), `env` (SeatsVecEnv), and:

        games: created with autoreset="same_step", new_observations=True, and the settings' `reward` and `num_games`.
    """

    games: VersusBatch

    def __post_init__(self) -> None:
        super().__post_init__()
        settings = self.settings
        self.env = SeatsVecEnv(self.games, reward_scale=settings.reward_scale, win_bonus=settings.win_bonus)
        self.model = new_model(self.env, settings, self.seed)
        self._shown = 0.0  # when progress was told
        _, self._callback = self.model._setup_learn(10**18, self._tell_progress)
        self.model.set_logger(Logger(None, []))
        self._threads = settings.threads

    @property
    def steps(self) -> int:
        return int(self.model.num_timesteps)

    @property
    def network(self) -> Network:
        return Network.of(self.model.policy)

    def _learn_once(self, left: float) -> tuple[Ended, dict[str, float]]:
        model: Any = self.model
        model.lr_schedule = FloatSchedule(self.settings.learning_rate * left)
        model.ent_coef = self.settings.entropy * left
        model.collect_rollouts(self.env, self._callback, model.rollout_buffer, self.settings.steps)
        ended = self.env.take_ended()
        numbers = self.hook.on_rollout_end(self, ended)
        model.train()
        losses = {name: float(value) for name, value in model.logger.name_to_value.items()}
        model.logger.dump(self.steps)  # forgets them
        return ended, losses | numbers

    def _tell_progress(self, variables: dict[str, Any], module: dict[str, Any]) -> bool:
        """A callback that Stable-Baselines3 calls at every step of a rollout."""
        now = time.monotonic()
        if now - self._shown > 0.2:
            self._shown = now
            self.on_progress(self)
        return True

    def _prepare(self) -> None:
        """Choose the number of torch's threads.

        With a budget of steps it is chosen once for a run, because it decides how sums are rounded.
        """
        if self.settings.threads is None and (self._threads is None or self.budget.steps is None):
            decisions = self.settings.num_envs * self.settings.steps
            self._threads = fastest_threads(self.network, min(self.settings.minibatch, decisions))
        torch.set_num_threads(self._threads or 1)

    def _save_regularly(self) -> None:
        self.save()
        if self.budget.steps is None:
            self._prepare()

    def _learning_state(self) -> dict[str, Any]:
        model: Any = self.model
        return {
            "tables": self.games.batch.tables,
            "threads": self._threads,
            "updates": model._n_updates,
            "weights": arrays_of(model.policy.state_dict()),
            "optimizer": moments_of(model.policy.optimizer),
            "torch": torch.get_rng_state().numpy(),
            "minibatches": model.rollout_buffer.generator.bit_generator.state,
            "episode_starts": np.asarray(model._last_episode_starts),
            "returns": self.env.tally.returns,
            "lengths": self.env.tally.lengths,
            "games": self.games.get_state(),
        }

    def _set_learning_state(self, state: dict[str, Any]) -> None:
        check_tables(state["tables"], self.games.batch.tables)
        model: Any = self.model
        self.games.set_state(state["games"])
        self.env.tally.returns[:] = state["returns"]
        self.env.tally.lengths[:] = state["lengths"]
        model._last_obs = self.games.observations
        model._last_episode_starts = state["episode_starts"]
        model.num_timesteps = state["steps"]
        model._n_updates = state["updates"]
        model.policy.load_state_dict(tensors_of(state["weights"]))
        set_moments(model.policy.optimizer, state["optimizer"])
        model.rollout_buffer.generator.bit_generator.state = state["minibatches"]
        self._threads = state["threads"]
        torch.set_rng_state(torch.as_tensor(state["torch"]))


@checked
def learn(
    config: Config, minutes: float, folder: Path, seed: int, settings: Settings | None = None, **told: Any
) -> tuple[MaskablePPO, Learner]:
    """Train a policy for a game for one for this many minutes. Writes only `policy.zip` and `learning_curve.csv`.

    `told` may be `should_stop` and `on_progress` of `Learner`.
    """
    settings = settings or Settings()
    games = VersusBatch(config, settings.num_envs, seed=seed, reward=settings.reward)
    own: dict[str, Any] = {"notes": {"config": asdict(config)}, "resumable": False, "tensorboard": False}
    learner = Learner(games, Budget(minutes=minutes), folder, seed, settings, **own, **told)
    return learner.model, learner.run()


def check_tables(saved: np.ndarray, here: np.ndarray) -> None:
    """Raise CheckpointError if a run was saved with other components."""
    if saved.tobytes() != here.tobytes():
        raise CheckpointError("its games were played with other numbers on the pieces")
