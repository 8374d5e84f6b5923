"""The learner: it plays games, improves its network, evaluates it, and saves the results."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

from tabletop_agents.checkpoint import save_network, versions
from tabletop_agents.networks import Network, new_heads, with_more_inputs, with_shortfall_weight
from tabletop_agents.policy import PolicyAgent
from tabletop_engine import seeds
from tabletop_engine.checks import checked
from tabletop_engine.errors import CheckpointError, ConfigError
from tabletop_engine.game import Config, Game
from tabletop_training.files.settings import Settings, with_tuples
from tabletop_training.files.trees import arrays_of, load_tree, moments_of, save_tree, set_moments, tensors_of
from tabletop_training.learn.devices import (
    check_device,
    fastest_threads,
    matmul_precision,
    random_state,
    set_random_state,
    torch_settings,
)
from tabletop_training.learn.games import FinishedGames, SeatGames
from tabletop_training.learn.group import ALONE, Group
from tabletop_training.learn.logs import CurvePoint, Logs
from tabletop_training.learn.opponents import Opponents, read_snapshots
from tabletop_training.learn.plan import Plan
from tabletop_training.learn.ppo import new_network, update
from tabletop_training.learn.task import Budget, Evaluator, GamesSettings, PolicyEvaluation

SECONDS_BETWEEN_CHECKPOINTS = 30.0
SECONDS_BETWEEN_PROGRESS = 0.2
CHOOSING_SEED = seeds.CHOOSING.first
"""Added to a run's seed for the games that choose `best.zip`. Reports use other seeds, from `EVALUATION_SEED` on."""
POLICY, BEST, RESUME, LEAGUE = "policy.zip", "best.zip", "resume.zip", "league"


class Learner:
    """A run of learning.

    It writes into `folder`: `policy.zip` (at the start, then every half minute and at the end), `best.zip` (the policy
    with the highest evaluation), `learning_curve.csv`, `evaluations.csv`, with a league `league.csv`, `tensorboard/`
    and `resume.zip`. On the same machine and with the same number of threads, a resumed run with a budget of steps ends
    with exactly the weights of a run that was never interrupted.

    Arguments:
        game: the game that is learned.
        plan: the network, the games, the other seats, the evaluations, the budget and the seed.
        folder: of the run; it is made if it does not exist.
        start: a network to start from; None for a new one. `plan.start` only tells its name.
        device: torch's device of the network while it learns; the games run on processors.
        resumable: False leaves out `resume.zip`, which takes about a second to write for a large network.
        tensorboard: False leaves out that log; so does an installation without TensorBoard.
        evaluate: False leaves out evaluations and `best.zip`.
        notes: JSON-able; saved in the checkpoints beside settings, seed and steps.
        group: the processes that learn together. Games and minibatches are shared out among them, so several processes
            learn as much from a decision as one. Only the leading process evaluates and writes files.

    Attributes, beside the arguments:
        network: as it is now; it goes on learning.
        table: the games that are played, of all seats.
        steps: the learner's decisions so far, of the whole group.
        curve, evaluations: as in `Logs`.
        threads: of torch; None before they are chosen.
        saved_steps: the steps of the last saved state; 0 until a state after an update was saved.
        should_stop: asked after every update; what was learned by then is saved.
        on_progress: called a few times a second.
    """

    @checked
    def __init__(
        self,
        game: Game,
        plan: Plan,
        folder: Path,
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
        torch.manual_seed(plan.seed)
        settings = plan.learning
        self.game, self.plan, self.folder, self.device, self.group = game, plan, folder, device, group
        self.resumable, self.notes = resumable, dict(notes or {})
        self.network = new_network(game, settings) if start is None else copy.deepcopy(start)
        if settings.numbers and self.network.inputs == game.observation.size:
            self.network = with_more_inputs(self.network, game.numbers.size)
        if settings.shortfall_weight > 0 and not self.network.weighs:
            self.network = with_shortfall_weight(self.network, settings.shortfall_weight, settings.logit_scale)
        if self.network.win_margin_heads is None:
            self.network.win_margin_heads = new_heads(self.network, game.players[-1])
        self.network.to(device)
        heads = list(self.network.win_margin_heads.parameters())
        others = list(self.network.parameters())[: -len(heads)]
        groups: list[Any] = [{"params": others}, {"params": heads}]  # gradients are clipped by group
        self.optimizer = torch.optim.Adam(groups, settings.learning_rate, eps=1e-5, fused=True)
        num_games = -(-settings.num_envs // group.size)
        own = plan.seed + group.rank * num_games
        if group.rank:
            torch.manual_seed(own)  # all processes begin with the same network, but draw different numbers
        self.curricula = plan.games.curricula(game, own)
        self.configs = [config for curriculum in self.curricula.values() for config in curriculum.configs]
        if settings.reward == "win" and all(config.owners == 1 < config.players for config in self.configs):
            raise ConfigError("reward='win': here all play together, so nobody wins against another; take 'points'")
        self.opponents = Opponents(plan.opponents, self.configs, folder / LEAGUE if group.leads else None, own, device)
        made = (num_games, settings, own, self.opponents, device, self.network.weighs, plan.games.editions)
        self.table = SeatGames(self.curricula, *made)
        self.evaluator = (
            Evaluator(self.configs, plan.evaluation, plan.seed + CHOOSING_SEED) if evaluate and group.leads else None
        )
        self.logs = Logs(folder, tensorboard)
        self.curve, self.evaluations = self.logs.curve, self.logs.evaluations
        self.steps = self.saved_steps = 0
        self.earlier_seconds = 0.0  # of the parts of the run before this one
        self.threads = settings.threads
        self.should_stop: Callable[[], bool] = lambda: False
        self.on_progress: Callable[[Learner], None] = lambda learner: None
        self._start: float | None = None  # of the part that runs
        self._began = 0, 0.0  # steps and seconds at its start
        self._saved = self._shown = 0.0
        self._used = 0.0  # the part of the budget that was used up before this rollout

    # --- how far it is ---

    @property
    def seconds(self) -> float:
        """The time of all parts of the run so far, in seconds."""
        return self.earlier_seconds + (0.0 if self._start is None else time.monotonic() - self._start)

    @property
    def fraction(self) -> float:
        """The part of the budget that is used up, 0 to 1."""
        return self.plan.budget.fraction(self.steps, self.seconds)

    @property
    def steps_per_second(self) -> float:
        """Steps per second since it was started or resumed."""
        steps, seconds = self._began
        return (self.steps - steps) / max(self.seconds - seconds, 1e-9)

    @property
    def text(self) -> str:
        """The progress as a text beside a bar."""
        text = f"{self.steps / 1e6:.2f}M steps, {self.steps_per_second / 1e3:.1f}k/s"
        recent, best = self.logs.recent, self.logs.best
        if recent is not None:
            alone = self.configs[0].owners == 1
            text += f", {recent[1]:.1f} points" if alone else f", won {recent[0]:.0%}, {recent[1]:+.1f}"
        return text if best is None else f"{text}; best evaluation {best[1].score:.3f}"

    @property
    def is_evaluated(self) -> bool:
        """Whether the newest evaluation is of the present policy, or this run has no evaluations."""
        return self.evaluator is None or (bool(self.evaluations) and self.evaluations[-1][0] >= self.steps)

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
        logs = self.logs.opened(self.steps, self.opponents.has_league) if self.group.leads else nullcontext()
        try:
            with torch_settings(self.plan.learning), logs:
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
            self.earlier_seconds, self._start = self.seconds, None
        return self

    def _goes_on(self) -> bool:
        """Whether there is another rollout; saves if it is time. The leading process decides for the whole group."""
        due = self.seconds - self._saved > SECONDS_BETWEEN_CHECKPOINTS
        from_all = self.group.shared((self.fraction, due, self.should_stop()))
        self._used, due, stops = from_all[0][0], from_all[0][1], any(one[2] for one in from_all)
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
            self.threads = settings.threads or 1
        fixed = settings.threads is not None or (self.threads is not None and self.plan.budget.steps is not None)
        if not fixed and self.device == "cpu":
            decisions = settings.num_envs * settings.steps
            self.threads = fastest_threads(copy.deepcopy(self.network), min(settings.minibatch, decisions))
        torch.set_num_threads(self.threads or 1)

    def _iterate(self) -> None:
        """One rollout and one update."""
        settings, before = self.plan.learning, self.steps
        left = 1.0 - self._used * (1.0 - settings.final)
        rate, entropy = settings.learning_rate * left, settings.entropy * left
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = rate
        rollout, played = self.table.play(self.network, settings.steps, self._on_step)
        losses = update(self.network, self.optimizer, rollout, self.table.inputs, settings, entropy, self.group)
        self._check_finite()
        from_all = self.group.shared((int(rollout.deciding.sum()), played, np.unique(self.table.players)))
        decisions, ends, playing = zip(*from_all, strict=True)
        self.steps += sum(decisions)
        everybody = FinishedGames.join(list(ends), self.table.seats)
        self._record_finished_games(everybody)
        self._log(CurvePoint.of(self.seconds, self.steps, everybody, losses, rate))
        self.opponents.take_snapshot(self.network, self.steps, np.concatenate(playing))
        self.on_progress(self)
        if self.steps // settings.evaluate_every > before // settings.evaluate_every:
            self._evaluate()

    def _on_step(self) -> None:
        now = time.monotonic()
        if now - self._shown > SECONDS_BETWEEN_PROGRESS:
            self._shown = now
            self.on_progress(self)

    def _record_finished_games(self, ends: FinishedGames) -> None:
        """Tell the league, the curricula of games for one, and those with levels, how the learner fared."""
        if self.opponents.has_league:
            for first, players, places in zip(ends.first_seats(), ends.players, ends.places, strict=True):
                self.opponents.record(players[first], places[first])
        games, seats = ends.of_learner()
        for players, curriculum in self.curricula.items():
            if players == 1 or curriculum.level < curriculum.levels.max():
                mine = [i for i, game in enumerate(games) if ends.configs[game].players == players]
                won = ends.won[games[mine], seats[mine]]
                curriculum.update([ends.configs[game] for game in games[mine]], won, self._used)

    def _log(self, point: CurvePoint) -> None:
        numbers = {"time/steps_per_second": self.steps_per_second, **self.opponents.numbers()}
        if self.plan.games.curriculum:
            for curriculum in self.curricula.values():
                numbers |= curriculum.numbers()
        self.logs.add_point(point, numbers, self.opponents.rows(self.steps) if self.opponents.has_league else [])

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
        """Evaluate the policy, and keep it as `best.zip` if no earlier one was as good."""
        if self.evaluator is None:
            return
        state = random_state(self.device)
        with matmul_precision("highest"):  # the precision with which the policy is played later
            evaluated = self.evaluator.evaluate(self.agent())
        set_random_state(state, self.device)
        row = self.logs.add_evaluation(self.seconds, self.steps, evaluated)
        if self.logs.best == self.evaluations[-1]:
            self.save_policy(self.folder / BEST, evaluation=row)

    # --- saving ---

    def save_policy(self, path: Path, **notes: Any) -> None:
        """Write the present policy as a checkpoint with the run's notes and `notes`."""
        numbers = list(self.curricula)
        run: dict[str, Any] = {
            "start": self.plan.start,
            "rival": self.plan.rival,
            "players": numbers if len(numbers) > 1 else numbers[0],
            "config": asdict(self.configs[0]),
            "general": self.plan.games.variety or len(numbers) > 1,
            "curriculum": self.plan.games.curriculum,
            "seed": self.plan.seed,
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
        parts = self.group.collected(self.own_state())
        if self.group.leads:
            self.save_policy(self.folder / POLICY)
            if self.resumable:
                save_tree(self.folder / RESUME, self.whole_state(parts))
                self.opponents.remove_unused_files()
        self._saved, self.saved_steps = self.seconds, self.steps

    def own_state(self) -> dict[str, Any]:
        """The part of the state that differs between the processes of a group."""
        return {
            "random": arrays_of(random_state(self.device)),
            "games": self.table.get_state(),
            "seats": self.opponents.generator.bit_generator.state,
            "curricula": {str(players): curriculum.get_state() for players, curriculum in self.curricula.items()},
        }

    def whole_state(self, parts: list[dict[str, Any]]) -> dict[str, Any]:
        """All that the rest of the run depends on; `parts` are the `own_state` of all processes of the group."""
        return {
            "versions": {**versions(self.game), "state_version": self.game.state_version},
            "settings": asdict(self.plan.learning),
            "tables": self.table.batches[0].tables,
            "steps": self.steps,
            "seconds": self.seconds,
            "threads": self.threads,
            "weights": arrays_of(self.network.state_dict()),
            "optimizer": moments_of(self.optimizer),
            "opponents": self.opponents.get_state(),
            "curve": [list(point) for point in self.curve],
            "evaluations": [[steps, one.score, one.numbers] for steps, one in self.evaluations],
            "parts": parts,
        }

    def resume(self) -> None:
        """Restore the run that left `resume.zip` in the folder; the next `run` continues it.

        If the group has another size than before, or the device is of another kind, all games begin anew. Only the
        process that leads reads the folder. Raises CheckpointError, in every process, if a file is missing or damaged,
        if versions, settings or components differ, or for a state of another run.
        """
        path = self.folder / RESUME

        def read() -> tuple[dict[str, Any], dict[int, dict[str, np.ndarray]]]:
            state = load_tree(path)
            try:
                return state, read_snapshots(self.folder / LEAGUE, state["opponents"])
            except (KeyError, TypeError, IndexError) as error:
                raise CheckpointError(f"{path}: is damaged or of another run ({error!r})") from error

        state, snapshots = self.group.led(read)
        try:
            self._check_same_run(state)
            self._set_state(state, snapshots)
        except CheckpointError as error:
            raise CheckpointError(f"{path}: {error}") from None
        except (KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
            raise CheckpointError(f"{path}: is damaged or of another run ({error!r})") from error

    def _check_same_run(self, state: dict[str, Any]) -> None:
        here = {**versions(self.game), "state_version": self.game.state_version}
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

    def _set_state(self, state: dict[str, Any], snapshots: dict[int, dict[str, np.ndarray]]) -> None:
        """Take over a `whole_state`, and the weights of earlier selves by the steps after which they were copied."""
        self.network.load_state_dict(tensors_of(state["weights"]))
        set_moments(self.optimizer, state["optimizer"])
        self.opponents.set_state(state["opponents"], self.network, snapshots)
        same_games = len(state["parts"]) == self.group.size
        part = state["parts"][self.group.rank if same_games else 0]
        same_games = same_games and len(part["games"]["batches"]) == len(self.table.batches)
        for players, curriculum in self.curricula.items():
            fresh = curriculum.generator.bit_generator.state
            curriculum.set_state(part["curricula"][str(players)])
            if not same_games:  # levels go on, but no two processes may draw the same games
                curriculum.generator.bit_generator.state = fresh
        if same_games:
            self.table.set_state(part["games"])
            self.opponents.generator.bit_generator.state = part["seats"]
            set_random_state(tensors_of(part["random"]), self.device)
        self.steps = self.saved_steps = state["steps"]
        self.earlier_seconds, self.threads = state["seconds"], state["threads"]
        self.curve[:] = [CurvePoint(*row) for row in state["curve"]]
        self.evaluations[:] = [
            (steps, PolicyEvaluation(score, numbers)) for steps, score, numbers in state["evaluations"]
        ]


@checked
def learn(
    config: Config,
    minutes: float,
    folder: str | Path,
    seed: int = 0,
    settings: Settings | None = None,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[Learner], None] = lambda learner: None,
) -> Learner:
    """Learn one configuration for this many minutes, in every seat of its games. Returns the learner.

    Writes only `policy.zip` and `learning_curve.csv`, and shows nothing while it learns.

    Arguments:
        config: what is played.
        minutes: how long to learn.
        folder: for the two files; it is made if it does not exist.
        seed: of the network and the games.
        settings: the hyper-parameters; None for their defaults.
        should_stop: asked after every update; what was learned by then is saved.
        on_progress: called a few times a second; `learner.text` says how far it is.
    """
    games = GamesSettings.of_table(config.game, asdict(config))
    plan = Plan(settings or Settings(), games, budget=Budget(minutes=minutes), seed=seed)
    options: dict[str, Any] = {"resumable": False, "tensorboard": False, "evaluate": False}
    learner = Learner(config.game, plan, Path(folder), **options)
    learner.should_stop, learner.on_progress = should_stop, on_progress
    return learner.run()
