"""One learner for all kinds of training: MaskablePPO on a `VersusBatch`, with logs, checkpoints and exact resume.

`selfplay` builds on it: it makes the games, says what is logged and evaluated beside the learning itself (`Hook`), and
leaves the rest to `Learner`. What it shares with the learner on a cluster (`rllib_learning`) is `BaseLearner`.
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

from tabletop.errors import CheckpointError, ConfigError
from tabletop.game import Config, Game
from tabletop.versus import VersusBatch
from tabletop_agents.checkpoint import save_network, versions
from tabletop_agents.networks import Network
from tabletop_agents.policy import PolicyAgent
from tabletop_training.evaluation_files import read_log, write_log
from tabletop_training.ppo import fastest_threads, matmul_precision, new_model, torch_settings
from tabletop_training.resume import load_tree, save_tree
from tabletop_training.settings import Settings, check_types, with_tuples
from tabletop_training.vec_env import Ended, SeatsVecEnv

SECONDS_BETWEEN_CHECKPOINTS = 30.0
CHOOSING_SEED = 500_000
"""Added to a run's seed for the games that choose `best.zip`; reports play others, from `EVALUATION_SEED` on."""
POLICY, BEST, RESUME = "policy.zip", "best.zip", "resume.zip"
CURVE, EVALUATIONS, TENSORBOARD = "learning_curve.csv", "evaluations.csv", "tensorboard"


@dataclass(frozen=True)
class Budget:
    """How long to learn: so many of the learner's decisions, or so many minutes; neither: until it is stopped.

    It ends with a whole rollout. With steps, a run is the same every time on a machine. Raises ConfigError for both or
    less than 0.
    """

    steps: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        check_types(self)
        if self.steps is not None and self.minutes is not None:
            raise ConfigError(f"steps={self.steps}, minutes={self.minutes}: one of them")
        if (self.steps or 0) < 0 or not 0 <= (self.minutes or 0) < float("inf"):
            raise ConfigError(f"steps={self.steps}, minutes={self.minutes}: at least 0")

    def fraction(self, steps: int, seconds: float) -> float:
        """How much of it is used up, 0 to 1."""
        if self.steps is None and self.minutes is None:
            return 0.0
        used, there_is = (seconds, 60 * self.minutes) if self.minutes is not None else (steps, self.steps)
        return min(1.0, used / there_is) if there_is else 1.0


class CurvePoint(NamedTuple):
    """The games that ended while one rollout was collected, and the update after it: a row of `learning_curve.csv`.

    `wins` counts shared victories as their share; `others_points` are the mean of all others who have points;
    `decisions` a game. The rest is PPO's: of the learner's decisions, in nats where it applies.
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


@dataclass(frozen=True)
class Judgement:
    """What a policy was worth: `score` chooses `best.zip`, `numbers` go to the log (the same keys every time)."""

    score: float
    numbers: dict[str, float]


class Hook:
    """What a kind of training adds to the learner. This one adds nothing: override what is needed.

    For exact resume all that it changes and draws from must be in its state, and it must not depend on the time.
    """

    def on_start(self, learner: BaseLearner) -> None:
        """Before the first rollout, after a resumed run's state has been taken over."""

    def on_rollout_end(self, learner: BaseLearner, ended: Ended) -> dict[str, float]:
        """After each rollout, before its update: `ended` are the games that ended in it. Returns numbers to log."""
        return {}

    def evaluate(self, learner: BaseLearner) -> Judgement | None:
        """Every `settings.evaluate_every` steps and at the end; None where there is nothing to evaluate."""
        return None

    def on_save(self, learner: BaseLearner) -> None:
        """After the checkpoints were written, about every half minute and at the end: for files of its own."""

    def get_state(self) -> dict[str, Any]:
        """Plain values, arrays and bytes, as `tabletop_training.resume.save_tree` takes them."""
        return {}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take over what `get_state` gave."""


class Games(Protocol):
    """Where a learner's games are played."""

    @property
    def game(self) -> Game: ...

    @property
    def config(self) -> Config:
        """What is played; of several ways to play the first one."""


@dataclass(eq=False, repr=False)
class BaseLearner:
    """What a run of learning is, whatever learns: its budget, logs, evaluations, checkpoints and the state it resumes.

    In `folder` it leaves `policy.zip` (at once, then every half minute and at the end), `best.zip` (the policy with the
    highest evaluation), `learning_curve.csv`, `evaluations.csv`, `tensorboard/` and `resume.zip`.

    Attributes `curve` with a point for every rollout that saw a game end, `evaluations`, `saved_steps` (0 before a
    state after an update has been saved), and:

        notes: JSON-able, goes into the checkpoints beside settings, seed and steps.
        resumable: False leaves out `resume.zip` (with a big network a second's writing now and then).
        tensorboard: False leaves that log out, as does an installation without it.
        should_stop: asked after every update; what has been learned by then is saved.
        on_progress: told a few times a second, or after every update.
        on_event: told in words what should not be missed.
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
        """One rollout, the hook's turn, and one update, with this much `left` of learning rate and entropy bonus.

        Returns the games that ended and numbers to log, among them those of `CurvePoint` as `train/…`.
        """
        raise NotImplementedError

    def _prepare(self) -> None:
        """Before the first rollout of this part of the run."""

    def _save_regularly(self) -> None:
        """About every half minute."""
        self.save()

    def _learning_state(self) -> dict[str, Any]:
        """What the run depends on besides counts and logs."""
        raise NotImplementedError

    def _set_learning_state(self, state: dict[str, Any]) -> None:
        raise NotImplementedError

    # --- the same for all ---

    @property
    def seconds(self) -> float:
        """Of all parts of the run so far."""
        return self._seconds + (0.0 if self._start is None else time.monotonic() - self._start)

    @property
    def fraction(self) -> float:
        """How much of the budget is used up, 0 to 1."""
        return self.budget.fraction(self.steps, self.seconds)

    @property
    def steps_per_second(self) -> float:
        """Since it was started or resumed."""
        steps, seconds = self._began
        return (self.steps - steps) / max(self.seconds - seconds, 1e-9)

    @property
    def recent(self) -> tuple[float, float] | None:
        """Win rate and mean margin of about the last 500 games; None before the first game's end."""
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
        """How far it is, for a progress bar."""
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
        """Raise CheckpointError once the network is spoilt; what was saved before stays."""
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
        """Begin the learning curve, with what a resumed run had until it was saved, and TensorBoard's log."""
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
        """Write `policy.zip` and `resume.zip`. Raises CheckpointError, and writes nothing, for a spoilt network."""
        self._check_finite()
        self.save_policy(self.folder / POLICY)
        if self.resumable:
            save_tree(self.folder / RESUME, self.get_state())
        self.hook.on_save(self)
        self._saved, self.saved_steps = self.seconds, self.steps

    def get_state(self) -> dict[str, Any]:
        """Everything that the run depends on from here on."""
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
        """Go on, with the next `run`, where the run was that left `resume.zip` in the folder.

        Raises CheckpointError where that is missing, damaged, of another version, of other settings or of other numbers
        on the pieces.
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
    """Learns in the seats that `games` gives it, in this process: MaskablePPO.

    After `resume` a run with a budget of steps ends with the same weights, bit by bit, as one that was never
    interrupted, on the same machine and with the same number of threads.

    Attributes, beside those of `BaseLearner`: `model` (MaskablePPO), `env` (SeatsVecEnv), and:

        games: made with autoreset="same_step", new_observations=True, `reward` and `num_games` of the settings.
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
        """At every step of a rollout, as Stable-Baselines3 calls it."""
        now = time.monotonic()
        if now - self._shown > 0.2:
            self._shown = now
            self.on_progress(self)
        return True

    def _prepare(self) -> None:
        """Choose torch's threads: with a budget of steps once a run, as their number decides how sums are rounded."""
        if self.settings.threads is None and (self._threads is None or self.budget.steps is None):
            decisions = self.settings.num_envs * self.settings.steps
            self._threads = fastest_threads(self.model.policy, min(self.settings.minibatch, decisions))
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


def learn(
    config: Config, minutes: float, folder: Path, seed: int, settings: Settings | None = None, **told: Any
) -> tuple[MaskablePPO, Learner]:
    """Train a policy for a game for one for that many minutes: `policy.zip` and `learning_curve.csv` alone.

    `told` are `should_stop` and `on_progress` of `Learner`.
    """
    settings = settings or Settings()
    games = VersusBatch(config, settings.num_envs, seed=seed, reward=settings.reward)
    own: dict[str, Any] = {"notes": {"config": asdict(config)}, "resumable": False, "tensorboard": False}
    learner = Learner(games, Budget(minutes=minutes), folder, seed, settings, **own, **told)
    return learner.model, learner.run()


def check_tables(saved: np.ndarray, here: np.ndarray) -> None:
    """Raises CheckpointError where a run was saved with other numbers on the pieces."""
    if saved.tobytes() != here.tobytes():
        raise CheckpointError("its games were played with other numbers on the pieces")


def arrays_of(tensors: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """Weights as `save_tree` takes them."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}


def tensors_of(arrays: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    """What `arrays_of` was given."""
    return {name: torch.as_tensor(array) for name, array in arrays.items()}


def moments_of(optimizer: torch.optim.Optimizer) -> dict[str, dict[str, np.ndarray]]:
    """What the optimizer remembers of each parameter, as `save_tree` takes it."""
    return {str(number): arrays_of(state) for number, state in optimizer.state_dict()["state"].items()}


def set_moments(optimizer: torch.optim.Optimizer, moments: dict[str, dict[str, np.ndarray]]) -> None:
    """Put back what `moments_of` gave."""
    state = {int(number): tensors_of(one) for number, one in moments.items()}
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
