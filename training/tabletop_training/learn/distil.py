"""`distil`: a network learns by supervised learning from targets that games give it.

There are three sources of targets: how the network's own games end, what it thinks of turned and mirrored images of a
position, and what a search with it finds.
"""

from __future__ import annotations

import copy
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, isfinite
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from tabletop_agents import checkpoint_path
from tabletop_agents.checkpoint import configs_of, read_checkpoint, save_network
from tabletop_agents.networks import Network, new_heads
from tabletop_agents.policy import PolicyAgent
from tabletop_agents.search.guided_search import GuidedSearchAgent
from tabletop_agents.search.shortfalls import shortfalls
from tabletop_engine import seeds
from tabletop_engine.checks import checked, fit_fields
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import choice
from tabletop_training.files.job import Job, Stopped
from tabletop_training.files.settings import check_at_least_one
from tabletop_training.files.tables import write_log
from tabletop_training.learn.curriculum import curricula
from tabletop_training.learn.devices import check_device, matmul_precision
from tabletop_training.learn.learner import BEST, CHOOSING_SEED, POLICY, SECONDS_BETWEEN_CHECKPOINTS
from tabletop_training.learn.outcomes import heads_loss
from tabletop_training.learn.ppo import drawn, masked_log_probabilities, masked_logits
from tabletop_training.learn.targets import (
    Buffer,
    Columns,
    Images,
    Targets,
    divergence,
    play_out,
    policy_targets,
)
from tabletop_training.learn.task import Budget, EvaluationSettings, Evaluator, PolicyEvaluation, run_budget

LOG = "distil.csv"
COLUMNS = ("seconds", "decisions", "games", "wins", "margin", "policy_loss", "heads_loss", "score")
HEADS = "win_margin_heads"
"""The part of a network that has the win and margin heads."""


@dataclass(frozen=True)
class DistilSettings:
    """How targets are made and learned. Raises ConfigError.

    The learning rate falls linearly to `final` times its first value over the budget.
    """

    games: int  # played side by side, and then learned from
    minibatch: int  # decisions for each step of the optimizer
    passes: float  # how often a decision is learned from, on average
    learning_rate: float
    final: float
    kept: int  # newest decisions, from which minibatches are drawn
    share: float = 1.0  # of the decisions, to learn from
    first: int = 1  # decisions before anything is learned
    max_gradient: float = inf  # the norm to which gradients are clipped
    bfloat16: bool = False  # multiply matrices in bfloat16 if the processor can
    evaluate_every: int | None = None  # decisions between two evaluations, which choose `best.zip`; None for none
    evaluation_games: int = 1600  # of one evaluation, all configurations together

    def __post_init__(self) -> None:
        fit_fields(self)
        check_at_least_one(**{name: value for name, value in vars(self).items() if type(value) is int})
        for name in ("final", "share", "sampled", "greedy"):
            if not 0 <= getattr(self, name, 0) <= 1:
                raise ConfigError(f"{name}={getattr(self, name)}: must be from 0 to 1")
        for name in ("passes", "learning_rate", "value_scale", "visit_discount"):
            if not 0 < getattr(self, name, 1) < inf:
                raise ConfigError(f"{name}={getattr(self, name)}: must be a finite number above 0")
        if not self.max_gradient > 0:
            raise ConfigError(f"max_gradient={self.max_gradient}: must be more than 0")
        if not isfinite(getattr(self, "more_weight", 0)):
            raise ConfigError("more_weight: must be a finite number")


class Distiller(ABC):
    """A copy of a network that learns, and the source of its targets.

    Each number of players is played equally often. Half of its games are spread evenly over its configurations, the
    other half go to those with more losses.

    Arguments:
        budget: decisions to learn from, or minutes.
        settings: of the source; None for those of `default_settings`.
        device: torch's, of the network; games and searches run on processors.

    Attributes, beside the arguments: buffer; decisions and games, how many there were so far.
    """

    settings_type: ClassVar[type[DistilSettings]]
    on_gpu: ClassVar[dict[str, Any]] = {}  # settings in place of the defaults
    minutes: ClassVar[float | None] = None  # how long to learn if nothing is given; None: until it is stopped
    seed_range: ClassVar[seeds.Seeds]  # of the games
    learns: ClassVar[tuple[str, ...]]  # parts of the network

    def __init__(
        self,
        network: Network,
        configs: Sequence[Config],
        budget: Budget,
        seed: int = 0,
        settings: Any = None,
        device: str = "cpu",
    ) -> None:
        torch.manual_seed(seed)
        self.game, self.configs, self.budget, self.seed, self.device = configs[0].game, configs, budget, seed, device
        self.settings: Any = settings or self.default_settings(device)  # of `settings_type`
        self.network = copy.deepcopy(network)
        if HEADS in self.learns and self.network.win_margin_heads is None:
            self.network.win_margin_heads = new_heads(self.network, self.game.players[-1])
        self.network.to(device)
        self.learned = [one for part in self.learns for one in getattr(self.network, part).parameters()]
        self.optimizer = torch.optim.Adam(self.learned, self.settings.learning_rate)
        self.curricula = curricula(configs, seed)
        self.buffer = Buffer(self.settings.kept)
        self.decisions = self.games = 0
        self._divisors = torch.as_tensor(self.game.observation.divisors, dtype=torch.float32, device=device)
        self._start = time.monotonic()

    @classmethod
    def default_settings(cls, device: str) -> DistilSettings:
        """The settings of this source on a device."""
        return cls.settings_type(**({} if device == "cpu" else cls.on_gpu))

    @abstractmethod
    def choose(self, decisions: Decisions, generator: np.random.Generator) -> tuple[np.ndarray, Columns]:
        """Actions and targets, as `learn.targets.Choose`."""

    @abstractmethod
    def losses(self, inputs: torch.Tensor, targets: Targets) -> dict[str, torch.Tensor]:
        """The losses of a minibatch; their sum is minimised. `inputs` are its observations, (n, D) float32, scaled."""

    @property
    def seconds(self) -> float:
        """The time since it was made, in seconds."""
        return time.monotonic() - self._start

    @property
    def fraction(self) -> float:
        """The part of the budget that is used up, 0 to 1."""
        return self.budget.fraction(self.decisions, self.seconds)

    def playable(self) -> Network:
        """A copy of the network as it is now, on a processor."""
        return copy.deepcopy(self.network).cpu()

    def iterate(self, should_stop: Callable[[], bool] = lambda: False) -> dict[str, float] | None:
        """Play games and learn from them. Returns a row of the log, or None if `should_stop` asked to stop."""
        settings, used, new, results = self.settings, self.fraction, 0, []
        for curriculum in self.curricula.values():
            configs = curriculum.choose(np.arange(-(-settings.games // len(self.curricula))))
            seed = self.seed + self.seed_range.first + self.games
            played = play_out(self.choose, configs, seed, settings.share, should_stop)
            if played is None:
                return None
            targets, won, margins = played
            self.buffer.add({name: torch.from_numpy(column).to(self.device) for name, column in targets.items()})
            self.games += len(configs)
            new += len(targets["players"])
            curriculum.update(configs, won[:, 0], used)
            results.append((won[:, 0], margins[:, 0]))
        self.decisions += new
        wins, margin = (float(np.concatenate(one).mean()) for one in zip(*results, strict=True))
        row = {"seconds": round(self.seconds, 1), "decisions": self.decisions, "games": self.games}
        return row | {"wins": round(wins, 4), "margin": round(margin, 2)} | self._learn(new, used)

    def _learn(self, new: int, used: float) -> dict[str, float]:
        """Learn after so many new decisions and this part of the budget; returns the mean losses."""
        settings, sums = self.settings, dict[str, torch.Tensor]()
        if self.decisions < settings.first:
            return {}
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * (1.0 - (1.0 - settings.final) * used)
        steps = 1 + int(settings.passes * new / settings.minibatch)
        for _ in range(steps):
            targets = self.buffer.draw(settings.minibatch)
            losses = self.losses(targets["observations"].float() / self._divisors, targets)
            self.optimizer.zero_grad()
            torch.stack([*losses.values()]).sum().backward()
            torch.nn.utils.clip_grad_norm_(self.learned, settings.max_gradient)
            self.optimizer.step()
            sums = {name: sums.get(name, 0.0) + loss.detach() for name, loss in losses.items()}
        return {name: round(float(one) / steps, 4) for name, one in sums.items()}

    def evaluate(self) -> PolicyEvaluation:
        """Evaluate the policy alone (against `greedy` with several players) in games that choose `best.zip`."""
        games = -(-self.settings.evaluation_games // len(self.configs))
        evaluator = Evaluator(self.configs, EvaluationSettings(games=games), self.seed + CHOOSING_SEED)
        return evaluator.evaluate(PolicyAgent(self.playable()))

    def seen(self, decisions: Decisions, generator: np.random.Generator) -> list[Any]:
        """Scaled observations, masks, and shortfalls (None if the network does not weigh them), on the device."""
        missed = shortfalls(decisions, generator) if self.network.weighs else None
        arrays = (decisions.observations, decisions.action_masks == 1, missed)
        return [None if one is None else torch.from_numpy(one).to(self.device) for one in arrays]

    def drawn(self, inputs: torch.Tensor, masks: torch.Tensor, missed: torch.Tensor | None) -> np.ndarray:
        """(n,) actions, drawn from the policy."""
        logits = self.network.logits(self.network.trunk(inputs), missed)
        return drawn(masked_log_probabilities(logits, masks)).cpu().numpy()


# --- Outcomes --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OutcomeSettings(DistilSettings):
    """The settings of `FromOutcomes`."""

    games: int = 256
    minibatch: int = 2048
    passes: float = 4.0
    learning_rate: float = 1e-3
    final: float = 0.02
    kept: int = 300_000
    share: float = 0.25  # neighbouring decisions of a game say nearly the same


class FromOutcomes(Distiller):
    """The win and margin heads learn how the network's own games end. The games' actions are drawn from its policy."""

    settings_type = OutcomeSettings
    on_gpu: ClassVar = {"games": 4096, "minibatch": 16_384, "kept": 3_000_000}
    minutes = 5.0
    seed_range = seeds.OUTCOMES
    learns = (HEADS,)

    @torch.no_grad()
    def choose(self, decisions: Decisions, generator: np.random.Generator) -> tuple[np.ndarray, Columns]:
        """Draw the actions from the policy."""
        return self.drawn(*self.seen(decisions, generator)), {}

    def losses(self, inputs: torch.Tensor, targets: Targets) -> dict[str, torch.Tensor]:
        """The heads' loss."""
        network = self.network
        assert network.win_margin_heads is not None
        with torch.no_grad():
            hidden = network.trunk(inputs)
        return {"heads_loss": heads_loss(network.win_margin_heads(hidden), targets)}


# --- Images ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ImageSettings(DistilSettings):
    """The settings of `FromImages`."""

    games: int = 256
    minibatch: int = 1024
    passes: float = 2.0
    learning_rate: float = 3e-4
    final: float = 0.05
    kept: int = 100_000
    max_gradient: float = 1.0
    bfloat16: bool = True
    greedy: float = 0.2  # share of decisions that `greedy` takes, if the network weighs shortfalls
    more_weight: float = 0.0  # nats by which a point of shortfall counts more afterwards


class FromImages(Distiller):
    """The policy learns the mean of what it thinks of a position and of its turned and mirrored images.

    A network that has learned from positions does not know that a mirrored position is the same one: it errs about each
    image in its own way. In the mean these errors are smaller. The mean is that of the log-probabilities of the network
    as it was at first. The actions are drawn from the network; its value and its heads stay as they are.

    Raises ConfigError for a game without images, and for `more_weight` in a network that does not weigh shortfalls.
    """

    settings_type = ImageSettings
    on_gpu: ClassVar = {"games": 1024, "minibatch": 8192, "kept": 400_000}
    minutes = 12.0
    seed_range = seeds.IMAGES
    learns = ("trunk", "policy")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.settings.more_weight and not self.network.weighs:
            raise ConfigError(f"more_weight={self.settings.more_weight:g}: the network does not weigh shortfalls")
        self.images = Images(self.game, list(self.curricula), self.device)
        if len(self.images.actions) == len(self.curricula):
            raise ConfigError(f"{self.game.title}: with these numbers of players it has no images to learn from")
        self._teacher = copy.deepcopy(self.network)

    @torch.no_grad()
    def choose(self, decisions: Decisions, generator: np.random.Generator) -> tuple[np.ndarray, Columns]:
        """Draw the actions from the policy; the targets are the mean policy."""
        inputs, masks, missed = self.seen(decisions, generator)
        actions = self.drawn(inputs, masks, missed)
        images = self.images.of[int(decisions.players[0])]
        which = torch.arange(images.start, images.stop, device=self.device).repeat_interleave(len(actions))
        all_missed = None if missed is None else missed.repeat(len(images), 1)
        logits = self.images.logits(self._teacher, which, inputs.repeat(len(images), 1), all_missed)
        every = masked_log_probabilities(logits, masks.repeat(len(images), 1))
        mean = every.view(len(images), *masks.shape).mean(dim=0)
        columns = {"policy": masked_logits(mean, masks).softmax(dim=1).cpu().numpy()}
        if missed is not None:
            columns["shortfalls"] = missed.cpu().numpy().astype(np.float16)
            best = torch.where(masks, missed, inf).argmin(dim=1).cpu().numpy()
            actions = np.where(generator.random(len(actions)) < self.settings.greedy, best, actions)
        return actions, columns

    def losses(self, inputs: torch.Tensor, targets: Targets) -> dict[str, torch.Tensor]:
        """The divergence between the target and the policy of an image, drawn for each position."""
        missed = targets["shortfalls"].float() if self.network.weighs else None
        logits = self.images.logits(self.network, self.images.draw(targets["players"]), inputs, missed)
        return {"policy_loss": divergence(logits, targets["policy"], targets["masks"])}

    def playable(self) -> Network:
        """A copy of the network as it is now, on a processor, with `more_weight`."""
        copied = super().playable()
        if self.settings.more_weight:
            last: Any = copied.policy[-1]
            with torch.no_grad():
                last.bias[-1] += self.settings.more_weight
        return copied


# --- Search ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SearchSettings(DistilSettings):
    """The settings of `FromSearch`."""

    games: int = 256
    minibatch: int = 2048
    passes: float = 3.0
    learning_rate: float = 5e-4
    final: float = 0.1
    kept: int = 400_000
    first: int = 60_000
    evaluate_every: int | None = 250_000
    simulations: int = 64  # of each decision
    sampled: float = 0.25  # share of decisions that are drawn by their simulations, instead of the most tried action
    value_scale: float = 25.0  # added to an action's logit for each victory it gains, before the visit discount
    visit_discount: float = 25.0  # the value of an action tried n times counts n / (n + visit_discount)


class FromSearch(Distiller):
    """Expert iteration: a search with the network plays games, the network learns from them, and so on.

    The policy learns what the search found better (Anthony, Tian and Barber 2017) from completed action values
    (Danihelka and others 2022). The win and margin heads learn how the games ended.
    """

    settings_type = SearchSettings
    seed_range = seeds.SEARCH
    learns = ("trunk", "policy", HEADS)

    def iterate(self, should_stop: Callable[[], bool] = lambda: False) -> dict[str, float] | None:
        """As `Distiller.iterate`, by a search with the network as it is now."""
        self._agent = GuidedSearchAgent(PolicyAgent(self.playable()), self.settings.simulations)
        return super().iterate(should_stop)

    def choose(self, decisions: Decisions, generator: np.random.Generator) -> tuple[np.ndarray, Columns]:
        """Search, and take the most tried action or draw one; the targets are the completed action values."""
        settings, network = self.settings, self._agent.network
        visits, utilities = self._agent.search(decisions, generator)
        missed = shortfalls(decisions, generator) if network.weighs else None
        logits = network.log_probabilities(decisions.observations, decisions.action_masks, missed)
        policy = policy_targets(logits, visits, utilities, settings.value_scale, settings.visit_discount)
        columns = {"policy": policy.astype(np.float16)}
        if missed is not None:
            columns["shortfalls"] = missed.astype(np.float16)
        sampled = generator.random(len(visits)) < settings.sampled
        sums = visits.cumsum(axis=1)
        by_visits = (sums <= generator.random((len(visits), 1)) * sums[:, -1:]).sum(axis=1)
        return np.where(sampled, by_visits, visits.argmax(axis=1)), columns

    def losses(self, inputs: torch.Tensor, targets: Targets) -> dict[str, torch.Tensor]:
        """The cross-entropy between the policy targets and the policy, and the heads' loss."""
        missed = targets["shortfalls"].float() if self.network.weighs else None
        logits, _, outputs = self.network(inputs, missed)
        given = masked_log_probabilities(logits, targets["masks"])
        policy = -(targets["policy"].float() * given).sum(dim=1).mean()
        return {"policy_loss": policy, "heads_loss": heads_loss(outputs, targets)}


# --- The command -----------------------------------------------------------------------------------------------------

SOURCES: dict[str, type[Distiller]] = {"outcomes": FromOutcomes, "images": FromImages, "search": FromSearch}


@checked
def main(
    game: Game,
    source: str,
    policy: str,
    *,
    minutes: float | None = None,
    steps: int | None = None,
    seed: int = 0,
    output: str | Path | None = None,
    device: str = "cpu",
    half: bool = False,
    **changes: Any,
) -> Path:
    """Teach a checkpoint (a file, or a shipped policy's name) by targets from a source; returns the new one's folder.

    The folder has `policy.zip` and the log `distil.csv`, and `best.zip` if the policy is evaluated.

    Arguments:
        source: a key of SOURCES.
        minutes, steps: the budget; `steps` are decisions to learn from. Without both it is `Distiller.minutes`.
        output: as in `Job`; None means `runs/` and the source.
        half: store the weights as float16.
        changes: settings in place of the source's defaults; None keeps the default.

    Raises CheckpointError for a checkpoint that is missing, damaged or does not say what it was trained for,
    ConfigError for settings that the source does not have, and as the source does.
    """
    kind = choice("source", source, SOURCES)
    path = checkpoint_path(policy, game)
    network, notes = read_checkpoint(game, path, start=source == "outcomes")
    training = notes.get("training", {})
    configs = configs_of(game, training, path)
    defaults = kind.default_settings(device)
    given = {name: value for name, value in changes.items() if value is not None}
    for name in given.keys() - asdict(defaults).keys():
        raise ConfigError(f"{name}={given[name]}: not with {source}")
    settings: Any = replace(defaults, **given)
    budget = run_budget(Budget(minutes=kind.minutes), steps, minutes)
    check_device(device)
    torch.set_num_threads(1)
    distiller = kind(network, configs, budget, seed, settings, device)
    precision = matmul_precision("medium" if settings.bfloat16 else "highest")
    best: PolicyEvaluation | None = None
    evaluated, saved = 0, time.monotonic()
    with Job(output or f"runs/{source}") as job, precision, job.bar("learning", 1.0) as bar:

        def save(name: str, **more: Any) -> None:
            about = {"from": path.name, "decisions": distiller.decisions, "seconds": round(distiller.seconds, 1)}
            about |= {"settings": asdict(settings), "device": device, "seed": seed}
            learned = {**training, "distil": {**training.get("distil", {}), source: about}, **more}
            save_network(game, distiller.playable(), job.folder / name, learned, half)

        while distiller.fraction < 1 and (row := distiller.iterate(job.should_stop)) is not None:
            due = distiller.fraction == 1 or distiller.decisions - evaluated >= (settings.evaluate_every or inf)
            if settings.evaluate_every and due:
                evaluated, evaluation = distiller.decisions, distiller.evaluate()
                row["score"] = round(evaluation.score, 4)
                if best is None or evaluation.score > best.score:
                    best = evaluation
                    save(BEST, evaluation=best.numbers)
            write_log(job.folder / LOG, COLUMNS, [row], new=not (job.folder / LOG).exists())
            if time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS:
                save(POLICY)
                saved = time.monotonic()
            words = [f"{distiller.decisions:,} decisions", f"won {row['wins']:.1%}"]
            words += [f"{name.replace('_', ' ')} {row[name]:.3f}" for name in row if name.endswith("loss")]
            words += [] if best is None else [f"best policy {best.score:.1%}"]
            bar.show(", ".join(words), distiller.fraction)
        if not distiller.decisions:
            raise Stopped
        save(POLICY)
    return job.folder
