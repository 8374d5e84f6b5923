"""The learner: it plays games, improves its network, and keeps logs, checkpoints and a state to resume from."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch

from tabletop import seeds
from tabletop.checks import checked, whole
from tabletop.errors import CheckpointError
from tabletop.game import Game
from tabletop_agents.checkpoint import save_network, versions
from tabletop_agents.networks import Network, weighing
from tabletop_agents.policy import PolicyAgent
from tabletop_training.evaluation import MOST_SEED
from tabletop_training.evaluation_files import read_log, write_log
from tabletop_training.learn.devices import (
    check_device,
    fastest_threads,
    matmul_precision,
    random_state,
    set_random_state,
    torch_settings,
)
from tabletop_training.learn.games import Ends, SeatGames
from tabletop_training.learn.group import ALONE, Group
from tabletop_training.learn.opponents import LEAGUE_COLUMNS, Opponents, OpponentSettings, read_snapshots
from tabletop_training.learn.ppo import Losses, new_network, update
from tabletop_training.learn.task import Budget, EvaluationSettings, GamesSettings, Judge, Judgement
from tabletop_training.resume import arrays_of, load_tree, moments_of, save_tree, set_moments, tensors_of
from tabletop_training.settings import Settings, with_tuples

SECONDS_BETWEEN_CHECKPOINTS = 30.0
CHOOSING_SEED = seeds.CHOOSING.first
"""Added to a run's seed for the games that choose `best.zip`. Reports use other seeds, from `EVALUATION_SEED` on."""
POLICY, BEST, RESUME = "policy.zip", "best.zip", "resume.zip"
CURVE, EVALUATIONS, TENSORBOARD = "learning_curve.csv", "evaluations.csv", "tensorboard"
LEAGUE_LOG, LEAGUE = "league.csv", "league"


class CurvePoint(NamedTuple):
    """The games that ended during one rollout, and the update after it: a row of `learning_curve.csv`.

    `all_games` also counts games in which the network had every seat; the games of the other columns are those in which
    it had one. `wins` counts a shared victory by its share. `others_points` are the mean points of all others.
    `decisions` are those of all seats of a game. The last columns are PPO's, averaged over the learner's decisions, in
    nats where it applies.
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
    all_games: int


@dataclass(frozen=True)
class Plan:
    """All that decides how a run goes, beside its seed and budget: the tables of a settings file."""

    learning: Settings = field(default_factory=Settings)
    games: GamesSettings = field(default_factory=GamesSettings)
    opponents: OpponentSettings = field(default_factory=OpponentSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)


class Learner:
    """A run of learning.

    It writes into `folder`: `policy.zip` (at the start, then every half minute and at the end), `best.zip` (the policy
    with the highest evaluation), `learning_curve.csv`, `evaluations.csv`, with a league `league.csv`, `tensorboard/`
    and `resume.zip`. On the same machine and with the same number of threads, a resumed run with a budget of steps ends
    with exactly the weights of a run that was never interrupted.

    Arguments:
        start: a network to start from; None for a new one.
        device: torch's device of the network while it learns; the games run on processors.
        resumable: False leaves out `resume.zip`, which takes about a second to write for a large network.
        tensorboard: False leaves out that log; so does an installation without TensorBoard.
        evaluate: False leaves out evaluations and `best.zip`.
        notes: JSON-able; saved in the checkpoints beside settings, seed and steps.
        group: the processes that learn together. Games and minibatches are shared out among them, so a run with several
            learns as much from a decision as with one. Only the one that leads evaluates and writes files.

    Attributes, beside the arguments:
        network: as it is now; it goes on learning.
        table: the `SeatGames`.
        steps: the learner's decisions so far, of the whole group.
        curve: a `CurvePoint` for every rollout.
        evaluations: pairs of steps and `Judgement`.
        should_stop: asked after every update; what was learned by then is saved.
        on_progress: called a few times a second.
    """

    @checked
    def __init__(
        self,
        game: Game,
        plan: Plan,
        budget: Budget,
        folder: Path,
        seed: int,
        *,
        start: Network | None = None,
        device: str = "cpu",
        resumable: bool = True,
        tensorboard: bool = True,
        evaluate: bool = True,
        notes: dict[str, Any] | None = None,
        group: Group = ALONE,
    ) -> None:
        check_device(device)
        torch.manual_seed(whole("seed", seed, 0, MOST_SEED))
        settings = plan.learning
        self.game, self.plan, self.budget, self.folder, self.seed, self.device = (
            game,
            plan,
            budget,
            folder,
            seed,
            device,
        )
        self.resumable, self.tensorboard, self.notes, self.group = resumable, tensorboard, dict(notes or {}), group
        self.network = new_network(game, settings) if start is None else copy.deepcopy(start)
        self.network.win_margin_heads = None
        if settings.shortfall_weight > 0 and not self.network.weighs:
            self.network = weighing(self.network, settings.shortfall_weight, settings.logit_scale)
        self.network.to(device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), settings.learning_rate, eps=1e-5, fused=True)
        num_games = -(-settings.num_envs // group.size)
        own = seed + group.rank * num_games
        if group.rank:
            torch.manual_seed(own)  # the network is the same for all, what is drawn is not
        self.curricula = plan.games.curricula(game, own)
        self.configs = [config for curriculum in self.curricula.values() for config in curriculum.configs]
        self.opponents = Opponents(plan.opponents, self.configs, folder / LEAGUE if group.leads else None, own, device)
        self.table = SeatGames(self.curricula, num_games, settings, own, self.opponents, device, self.network.weighs)
        self.judge = Judge(self.configs, plan.evaluation, seed + CHOOSING_SEED) if evaluate and group.leads else None
        self.steps = 0
        self.curve: list[CurvePoint] = []
        self.evaluations: list[tuple[int, Judgement]] = []
        self.saved_steps = 0  # 0 until a state after an update was saved
        self.should_stop: Callable[[], bool] = lambda: False
        self.on_progress: Callable[[Learner], None] = lambda learner: None
        self._threads = settings.threads
        self._seconds = 0.0  # of the parts before
        self._start: float | None = None  # of the part that runs
        self._began = 0, 0.0  # steps and seconds at its start
        self._saved = self._shown = 0.0
        self._used = 0.0  # the part of the budget that was used up before this rollout
        self._board: Any = None

    # --- how far it is ---

    @property
    def seconds(self) -> float:
        """The time of all parts of the run so far, in seconds."""
        return self._seconds + (0.0 if self._start is None else time.monotonic() - self._start)

    @property
    def fraction(self) -> float:
        """The part of the budget that is used up, 0 to 1."""
        return self.budget.fraction(self.steps, self.seconds)

    @property
    def recent(self) -> tuple[float, float] | None:
        """Win rate and mean margin of about the last 500 games; None before the first game has ended."""
        games = 0
        wins = margin = 0.0
        for point in reversed(self.curve):
            games, wins, margin = games + point.games, wins + point.wins, margin + point.margin * point.games
            if games >= 500:
                break
        return (wins / games, margin / games) if games else None

    @property
    def text(self) -> str:
        """The progress as a text beside a bar."""
        steps, seconds = self._began
        text = f"{self.steps / 1e6:.2f}M steps, {(self.steps - steps) / max(self.seconds - seconds, 1e-9) / 1e3:.1f}k/s"
        if self.recent is not None:
            alone = self.configs[0].owners == 1
            text += f", {self.recent[1]:.1f} points" if alone else f", won {self.recent[0]:.0%}, {self.recent[1]:+.1f}"
        if self.evaluations:
            text += f"; best evaluation {max(one.score for _, one in self.evaluations):.3f}"
        return text

    @property
    def is_evaluated(self) -> bool:
        """Whether the newest evaluation is of the present policy, or there are none in this run."""
        return self.judge is None or (bool(self.evaluations) and self.evaluations[-1][0] >= self.steps)

    def agent(self, name: str = "policy", *, sample: bool = False) -> PolicyAgent:
        """A copy of the present policy as an agent, on a processor."""
        return PolicyAgent(copy.deepcopy(self.network).cpu(), name=name, sample=sample)

    # --- learning ---

    def run(self) -> Self:
        """Learn until the budget is used up or `should_stop` says so; returns itself."""
        if self.group.leads:
            self.folder.mkdir(parents=True, exist_ok=True)
        self._began = self.steps, self.seconds
        self._start = time.monotonic()
        try:
            with torch_settings(self.plan.learning), self._logs() as self._board:
                self._choose_threads()
                if not self.steps:
                    self.opponents.take_snapshot(self.network, 0, self.table.players)
                self.save()
                while self._goes_on():
                    self._iterate()
                if self.fraction >= 1 and self.steps and not self.is_evaluated:
                    self._evaluate()
                self.save()
        finally:
            self._seconds, self._start, self._board = self.seconds, None, None
        return self

    def _goes_on(self) -> bool:
        """Whether there is another rollout; saves if it is time. The whole group does as the one that leads."""
        due = self.seconds - self._saved > SECONDS_BETWEEN_CHECKPOINTS
        told = self.group.shared((self.fraction, due, self.should_stop()))
        self._used, due, stops = told[0][0], told[0][1], any(one[2] for one in told)
        if due and self._used < 1 and not stops:
            self.save()
            self._choose_threads()
        return self._used < 1 and not stops

    def _choose_threads(self) -> None:
        """Choose the number of torch's threads.

        With a budget of steps it is chosen once for a run, because it decides how sums are rounded.
        In a group it is one.
        """
        settings = self.plan.learning
        if self.group.size > 1:
            self._threads = settings.threads or 1
        fixed = settings.threads is not None or (self._threads is not None and self.budget.steps is not None)
        if not fixed and self.device == "cpu":
            decisions = settings.num_envs * settings.steps
            self._threads = fastest_threads(copy.deepcopy(self.network), min(settings.minibatch, decisions))
        torch.set_num_threads(self._threads or 1)

    def _iterate(self) -> None:
        """One rollout and one update."""
        settings, before = self.plan.learning, self.steps
        left = 1.0 - self._used * (1.0 - settings.final)
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = settings.learning_rate * left
        rollout, played = self.table.play(self.network, settings.steps, self._on_step)
        scaled, entropy = self.table.scaled, settings.entropy * left
        losses = update(self.network, self.optimizer, rollout, scaled, settings, entropy, self.group)
        self._check_finite()
        told = self.group.shared((int(rollout.deciding.sum()), played, np.unique(self.table.players)))
        decisions, ends, playing = zip(*told, strict=True)
        self.steps += sum(decisions)
        everybody = Ends.join(list(ends), self.table.seats)
        self._take_in(everybody)
        self._log(everybody, losses, settings.learning_rate * left)
        self.opponents.take_snapshot(self.network, self.steps, np.concatenate(playing))
        self.on_progress(self)
        if self.steps // settings.evaluate_every > before // settings.evaluate_every:
            self._evaluate()

    def _on_step(self) -> None:
        now = time.monotonic()
        if now - self._shown > 0.2:
            self._shown = now
            self.on_progress(self)

    def _take_in(self, ends: Ends) -> None:
        """Tell the league, the curricula of games for one, and those with levels, how the learner fared."""
        if self.opponents.has_league:
            for config, players, places in zip(ends.configs, ends.players, ends.places, strict=True):
                self.opponents.record(players[: config.players], places[: config.players])
        games, seats = ends.of_learner()
        for players, curriculum in self.curricula.items():
            if players == 1 or curriculum.level < curriculum.levels.max():
                mine = [i for i, game in enumerate(games) if ends.configs[game].players == players]
                won = ends.won[games[mine], seats[mine]]
                curriculum.update([ends.configs[game] for game in games[mine]], won, self._used)

    def _check_finite(self) -> None:
        """Raise CheckpointError if the network has numbers that are not finite. Earlier files stay."""
        if all(torch.isfinite(parameter).all() for parameter in self.network.parameters()):
            return
        kept = f"{self.folder / POLICY} is of step {self.saved_steps:,}" if self.saved_steps else "nothing was kept"
        raise CheckpointError(
            f"after {self.steps:,} steps the network's numbers are not finite any more: the learning rate "
            f"({self.plan.learning.learning_rate:g}) may be too high; {kept}"
        )

    def _evaluate(self) -> None:
        if self.judge is None:
            return
        state = random_state(self.device)
        with matmul_precision("highest"):  # as the policy will be played later
            judged = self.judge.judge(self.agent())
        set_random_state(state, self.device)
        best = max((earlier.score for _, earlier in self.evaluations), default=-float("inf"))
        earlier = read_log(self.folder / EVALUATIONS, self.evaluations[-1][0]) if self.evaluations else []
        self.evaluations.append((self.steps, judged))
        row = {"seconds": round(self.seconds, 1), "steps": self.steps, "score": round(judged.score, 5)}
        rounded = row | {name: round(value, 5) for name, value in judged.numbers.items()}
        write_log(self.folder / EVALUATIONS, rounded, [*earlier, rounded])
        self._show({f"evaluation/{name}": value for name, value in (*judged.numbers.items(), ("score", judged.score))})
        if judged.score > best:
            self.save_policy(self.folder / BEST, evaluation=row | judged.numbers)

    # --- logs ---

    def _logs(self) -> AbstractContextManager[Any]:
        """Open the logs, with the rows of a resumed run up to its saved state, and TensorBoard's."""
        if not self.group.leads:
            return nullcontext()
        write_log(self.folder / CURVE, CurvePoint._fields, [point._asdict() for point in self.curve])
        if self.opponents.has_league:
            path = self.folder / LEAGUE_LOG
            write_log(path, LEAGUE_COLUMNS, read_log(path, self.steps))
        if not self.tensorboard or find_spec("tensorboard") is None:
            return nullcontext()
        from torch.utils.tensorboard import SummaryWriter

        return SummaryWriter(str(self.folder / TENSORBOARD), purge_step=self.steps + 1)

    def _show(self, numbers: dict[str, float]) -> None:
        if self._board is not None:
            for name, value in numbers.items():
                self._board.add_scalar(name, value, self.steps)

    def _log(self, ends: Ends, losses: Losses, rate: float) -> None:
        games, seats = ends.of_learner()
        mean = {
            name: round(float(array[games, seats].mean()), 3) if len(games) else 0.0
            for name, array in (("margin", ends.margins), ("points", ends.points))
        }
        point = CurvePoint(
            seconds=round(self.seconds, 2),
            steps=self.steps,
            games=len(games),
            wins=round(float(ends.won[games, seats].sum()), 3),
            **mean,
            others_points=round(mean["points"] - mean["margin"], 3) if self.configs[0].owners > 1 else 0.0,
            decisions=round(float(ends.lengths[games].mean()), 2) if len(games) else 0.0,
            learning_rate=round(rate, 7),
            all_games=len(ends.configs),
            **{name: round(value, 5) for name, value in losses._asdict().items()},
        )
        self.curve.append(point)
        if not self.group.leads:
            return
        write_log(self.folder / CURVE, CurvePoint._fields, [point._asdict()], new=False)
        shown = {f"train/{name}": value for name, value in losses._asdict().items()} | {"train/learning_rate": rate}
        if len(games):
            shown |= {f"games/{name}": getattr(point, name) for name in ("margin", "points", "decisions")}
            shown["games/win_rate"] = point.wins / point.games
        for curriculum in self.curricula.values():
            shown |= curriculum.numbers() if self.plan.games.curriculum else {}
        if self.opponents.has_league:
            shown |= self.opponents.numbers()
            write_log(self.folder / LEAGUE_LOG, LEAGUE_COLUMNS, self.opponents.rows(self.steps), new=False)
        self._show(shown)

    # --- saving ---

    def save_policy(self, path: Path, **notes: Any) -> None:
        """Write the present policy as a checkpoint with the run's notes and `notes`."""
        numbers = list(self.curricula)
        run: dict[str, Any] = {
            "players": numbers if len(numbers) > 1 else numbers[0],
            "config": asdict(self.configs[0]),
            "general": self.plan.games.variety or len(numbers) > 1,
            "curriculum": self.plan.games.curriculum,
            "seed": self.seed,
            "steps": self.steps,
            "seconds": round(self.seconds, 1),
            "settings": asdict(self.plan.learning),
            "games": self.plan.games.table(),
            "opponents": asdict(self.plan.opponents),
            "device": self.device,
        }
        save_network(self.game, copy.deepcopy(self.network).cpu(), path, {**self.notes, **run, **notes})

    def save(self) -> None:
        """Write `policy.zip` and `resume.zip`. A network that is not finite is not saved: raises CheckpointError."""
        self._check_finite()
        parts = self.group.collected(self._own_state())
        if self.group.leads:
            self.save_policy(self.folder / POLICY)
            if self.resumable:
                save_tree(self.folder / RESUME, self.get_state(parts))
                self.opponents.remove_unused_files()
        self._saved, self.saved_steps = self.seconds, self.steps

    def get_state(self, parts: list[dict[str, Any]]) -> dict[str, Any]:
        """The whole state that the rest of the run depends on; `parts` are those of all processes of the group."""
        return {
            "versions": self._versions,
            "settings": asdict(self.plan.learning),
            "tables": self.table.batches[0].tables,
            "steps": self.steps,
            "seconds": self.seconds,
            "threads": self._threads,
            "weights": arrays_of(self.network.state_dict()),
            "optimizer": moments_of(self.optimizer),
            "opponents": self.opponents.get_state(),
            "curve": [list(point) for point in self.curve],
            "evaluations": [[steps, one.score, one.numbers] for steps, one in self.evaluations],
            "parts": parts,
        }

    def _own_state(self) -> dict[str, Any]:
        """What the processes of a group do not have in common."""
        return {
            "random": arrays_of(random_state(self.device)),
            "games": self.table.get_state(),
            "seats": self.opponents.generator.bit_generator.state,
            "curricula": {str(players): one.get_state() for players, one in self.curricula.items()},
        }

    def resume(self) -> None:
        """Restore the run that left `resume.zip` in the folder; the next `run` continues it.

        In a group of another size than before all games begin anew. Only the process that leads reads the folder.
        Raises CheckpointError if the file is missing or damaged, or if its version, settings or components differ.
        """
        path = self.folder / RESUME
        read: dict[str, Any] | CheckpointError
        try:
            read = self._read(path) if self.group.leads else {}
        except CheckpointError as error:
            read = error
        read = self.group.of_leader(read)
        if isinstance(read, CheckpointError):
            raise read
        try:
            self._set_state(**read)
        except CheckpointError as error:
            raise CheckpointError(f"{path}: {error}") from None
        except (KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
            raise CheckpointError(f"{path}: is damaged or of another run ({error!r})") from error

    def _read(self, path: Path) -> dict[str, Any]:
        """The saved state, and the weights of earlier selves."""
        state = load_tree(path)
        try:
            return {"state": state, "snapshots": read_snapshots(self.folder / LEAGUE, state["opponents"])}
        except (KeyError, TypeError, IndexError) as error:
            raise CheckpointError(f"{path}: is damaged or of another run ({error!r})") from error

    @property
    def _versions(self) -> dict[str, Any]:
        return {**versions(self.game), "state_version": self.game.state_version}

    def _set_state(self, state: dict[str, Any], snapshots: dict[int, dict[str, np.ndarray]]) -> None:
        here = self._versions
        different = [name for name in here if name != "package" and state["versions"].get(name) != here[name]]
        if different:
            raise CheckpointError(
                f"made by version {state['versions'].get('package')}, this is {here['package']}, and they differ in "
                f"{', '.join(different)}"
            )
        mine, saved = asdict(self.plan.learning), with_tuples(state["settings"])
        others = sorted(key for key in mine if saved.get(key) != mine[key])
        if others:
            raise CheckpointError(f"has other settings: {', '.join(f'{key}={saved.get(key)}' for key in others)}")
        if state["tables"].tobytes() != self.table.batches[0].tables.tobytes():
            raise CheckpointError("its games were played with other numbers on the pieces")
        self.network.load_state_dict(tensors_of(state["weights"]))
        set_moments(self.optimizer, state["optimizer"])
        self.opponents.set_state(state["opponents"], self.network, snapshots)
        same = len(state["parts"]) == self.group.size
        part = state["parts"][self.group.rank if same else 0]
        for players, curriculum in self.curricula.items():
            fresh = curriculum.generator.bit_generator.state
            curriculum.set_state(part["curricula"][str(players)])
            if not same:
                curriculum.generator.bit_generator.state = fresh
        if same:
            self.table.set_state(part["games"])
            self.opponents.generator.bit_generator.state = part["seats"]
            set_random_state(tensors_of(part["random"]), self.device)
        self.steps, self._seconds, self._threads = state["steps"], state["seconds"], state["threads"]
        self.saved_steps = self.steps
        self.curve[:] = [CurvePoint(*row) for row in state["curve"]]
        self.evaluations[:] = [(steps, Judgement(score, numbers)) for steps, score, numbers in state["evaluations"]]
