"""Expert iteration: a search with the network plays games, the network learns from them, and so on in turns.

The policy learns what the search found better (Anthony, Tian and Barber 2017) from completed action values (Danihelka
and others 2022): each legal action's logit is raised by how much better than the mean the search found the action. The
outlook learns how the games ended.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tabletop import seeds
from tabletop.agents import Decisions
from tabletop.checks import checked, fit_fields
from tabletop.errors import ConfigError
from tabletop.game import Config, Game
from tabletop_agents import checkpoint_path
from tabletop_agents.checkpoint import configs_of, read_checkpoint, save_network
from tabletop_agents.networks import Network
from tabletop_agents.policy import PolicyAgent
from tabletop_agents.search.guided_search import GuidedSearchAgent
from tabletop_agents.search.shortfalls import shortfalls
from tabletop_training.curriculum import curricula
from tabletop_training.evaluation_files import write_log
from tabletop_training.job import Job
from tabletop_training.learn.devices import check_device
from tabletop_training.learn.learner import BEST, CHOOSING_SEED, POLICY
from tabletop_training.learn.ppo import masked_log_probabilities
from tabletop_training.learn.task import Budget, EvaluationSettings, Judge, Judgement
from tabletop_training.outlook import Outcomes, in_points, in_units, new_outlook, outlook_loss
from tabletop_training.positions import Chosen, Positions, Replay, play_positions
from tabletop_training.settings import check_at_least_one

LOG = "expert.csv"
_COLUMNS = ("seconds", "decisions", "games", "wins", "margin", "policy_loss", "outlook_loss", "score")


@dataclass(frozen=True)
class ExpertSettings:
    """How the search's games are played and learned from: the table `[expert]` of a settings file."""

    simulations: int = 64  # of each decision
    games: int = 256  # played side by side, between two times of learning
    sampled: float = 0.25  # share of decisions that are drawn by their simulations, instead of the most tried action
    sharpness: float = 25.0  # what a victory more adds to an action's logit, as far as it is believed
    doubt: float = 25.0  # an action tried n times is believed by n / (n + doubt)
    minibatch: int = 2048
    passes: float = 3.0  # how often a decision is learned from, in the mean
    learning_rate: float = 5e-4
    final: float = 0.1  # what the learning rate falls to, as a part of what it begins with
    kept: int = 400_000  # newest decisions that are learned from
    first: int = 60_000  # decisions before anything is learned
    evaluate_every: int = 250_000  # decisions between two evaluations of the bare network, which choose `best.zip`
    evaluation_games: int = 1600  # of one evaluation, all configurations together

    def __post_init__(self) -> None:
        fit_fields(self)
        counts = ("simulations", "games", "minibatch", "kept", "first", "evaluate_every", "evaluation_games")
        check_at_least_one(**{name: getattr(self, name) for name in counts})
        for name in ("sampled", "final"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name}={getattr(self, name)}: must be from 0 to 1")
        for name in ("sharpness", "doubt", "passes", "learning_rate"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ConfigError(f"{name}={getattr(self, name)}: must be more than 0")


def wishes_of(
    logits: np.ndarray, visits: np.ndarray, utilities: np.ndarray, sharpness: float, doubt: float
) -> np.ndarray:
    """(N, A) target probabilities: the policy's `logits`, raised by how much better than the mean each action was.

    The gain of an action tried n times counts with weight n / (n + doubt). With little doubt or much sharpness a few
    lucky simulations raise bad actions, and the policy becomes flatter with every round. Illegal actions have logits
    far below all others.
    """
    tried = visits.sum(axis=1, keepdims=True)
    mean = (visits * utilities).sum(axis=1, keepdims=True) / np.maximum(tried, 1)
    better = np.where(visits > 0, utilities - mean, 0.0) * visits / (visits + doubt)
    raised = logits + sharpness * better
    shares = np.exp(raised - raised.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def policy_loss(network: Network, seen: torch.Tensor, positions: Positions) -> torch.Tensor:
    """Cross-entropy between the search's targets and the policy over legal actions, averaged over (n,) positions.

    `seen` are the observations, (n, D) float32 on the network's device.
    """
    device = seen.device
    fallen = torch.from_numpy(positions.shortfalls).to(device, torch.float32) if network.weighs else None
    logits = network.logits(network.trunk(seen), fallen)
    told = masked_log_probabilities(logits, torch.from_numpy(positions.masks).to(device))
    wishes = torch.from_numpy(positions.wishes).to(device, torch.float32)
    return -(wishes * told).sum(dim=1).mean()


class Expert:
    """The network that learns, and the search with it.

    Arguments:
        network: it learns from here on; without an outlook it gets a new one.
        configs: each number of players is played equally often. Half of its games are spread evenly over its
            configurations, the other half go to those with more losses.
        budget: decisions of the search, or minutes.
        device: the torch device of the network while it learns; the search runs on processors.
    """

    def __init__(
        self,
        network: Network,
        configs: Sequence[Config],
        budget: Budget,
        seed: int,
        settings: ExpertSettings,
        device: str = "cpu",
    ) -> None:
        game = configs[0].game
        torch.manual_seed(seed)
        self.configs, self.budget, self.seed, self.settings = list(configs), budget, seed, settings
        self.network = copy.deepcopy(network)
        if self.network.win_margin_heads is None:
            self.network.win_margin_heads = new_outlook(game.observation.size, game.players[-1])
        else:
            self.network.win_margin_heads = in_units(self.network.win_margin_heads)
        self.network.to(device)
        self.device = device
        self.generator = seeds.generator(seed, seeds.Stream.EXPERT)
        self.curricula = curricula(configs, seed)
        self.replay = Replay(settings.kept)
        learned = [*self.network.trunk.parameters(), *self.network.policy.parameters()]
        learned += self.network.win_margin_heads.parameters()
        self.optimizer = torch.optim.Adam(learned, settings.learning_rate)
        self.games = self.decisions = 0
        self._start = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    @property
    def fraction(self) -> float:
        """The part of the budget that is used up, 0 to 1."""
        return self.budget.fraction(self.decisions, self.seconds)

    def playable(self) -> Network:
        """A copy of the network as it is now."""
        copied = copy.deepcopy(self.network).cpu()
        assert copied.win_margin_heads is not None
        copied.win_margin_heads = in_points(copied.win_margin_heads)
        return copied

    def iterate(self, should_stop: Callable[[], bool]) -> dict[str, float] | None:
        """Play a block of games and learn from it. Returns a row of the log, or None if `should_stop` asked to stop."""
        settings, policy = self.settings, PolicyAgent(self.playable())
        agent = GuidedSearchAgent(policy, settings.simulations)

        def choose(decisions: Decisions, chance: np.random.Generator) -> Chosen:
            visits, utilities = agent.search(decisions, chance)
            fallen = shortfalls(decisions, chance) if policy.network.weighs else None
            logits = policy.network.log_probabilities(decisions.observations, decisions.action_masks, fallen)
            wishes = wishes_of(logits, visits, utilities, settings.sharpness, settings.doubt)
            actions = visits.argmax(axis=1)
            drawn = chance.random(len(actions)) < settings.sampled
            sums = visits.cumsum(axis=1)
            thrown = chance.random((len(actions), 1)) * sums[:, -1:]
            return Chosen(np.where(drawn, (sums <= thrown).sum(axis=1), actions), wishes, fallen)

        won: list[float] = []
        margins: list[float] = []
        new = 0
        for curriculum in self.curricula.values():
            chosen = curriculum.choose(np.arange(-(-settings.games // len(self.curricula))))
            played = play_positions(choose, chosen, self.seed + seeds.EXPERT.first + self.games, 1.0, should_stop)
            if played is None:
                return None
            positions, results = played
            self.games += len(chosen)
            new += len(positions.players)
            self.replay.add(positions)
            curriculum.update(chosen, results.won[:, 0], self.fraction)
            won += results.won[:, 0].tolist()
            margins += results.margins[:, 0].tolist()
        self.decisions += new
        row = {"seconds": round(self.seconds, 1), "decisions": self.decisions, "games": self.games}
        row |= {"wins": round(float(np.mean(won)), 4), "margin": round(float(np.mean(margins)), 2)}
        return row | self._learn(new)

    def _learn(self, new: int) -> dict[str, float]:
        settings = self.settings
        if self.decisions < settings.first:
            return {}
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * (1.0 - (1.0 - settings.final) * self.fraction)
        assert self.network.win_margin_heads is not None
        losses = []
        for _ in range(1 + int(settings.passes * new / settings.minibatch)):
            positions = self.replay.draw(self.generator, settings.minibatch)
            seen = torch.from_numpy(positions.observations).to(self.device, torch.float32)
            policy = policy_loss(self.network, seen, positions)
            known = (positions.won, positions.margins, positions.players)
            outcomes = Outcomes(*(torch.from_numpy(part).to(self.device) for part in known))
            outlook = outlook_loss(self.network.win_margin_heads, seen, outcomes)
            self.optimizer.zero_grad()
            (policy + outlook).backward()
            self.optimizer.step()
            losses.append((float(policy.detach()), float(outlook.detach())))
        policy_mean, outlook_mean = np.mean(losses, axis=0)
        return {"policy_loss": round(float(policy_mean), 4), "outlook_loss": round(float(outlook_mean), 4)}

    def evaluate(self) -> Judgement:
        """Evaluate the bare network (against `greedy` with several players) in games that choose `best.zip`."""
        games = -(-self.settings.evaluation_games // len(self.configs))
        judge = Judge(self.configs, EvaluationSettings(games=games), self.seed + CHOOSING_SEED)
        return judge.judge(PolicyAgent(self.playable()))


@checked
def main(
    game: Game,
    policy: str,
    *,
    minutes: float | None = None,
    steps: int | None = None,
    simulations: int = ExpertSettings.simulations,
    games: int = ExpertSettings.games,
    device: str = "cpu",
    seed: int = 0,
    output: str | Path = "runs/expert",
) -> Path:
    """Train a checkpoint (a file, or a shipped policy's name) by expert iteration; returns the folder.

    The folder has `policy.zip`, `best.zip` and the log `expert.csv`. `steps` counts the search's decisions. Without
    `steps` and `minutes` it runs until it is stopped.

    Raises CheckpointError for a checkpoint that is missing, damaged or does not say what it was trained for,
    ConfigError for a device that does not exist.
    """
    path = checkpoint_path(policy, game)
    network, notes = read_checkpoint(game, path)
    training = notes.get("training", {})
    configs = configs_of(game, training, path)
    settings = replace(ExpertSettings(), simulations=simulations, games=games)
    check_device(device)
    torch.set_num_threads(1)
    with Job(output) as job, job.bar("learning", 1.0) as bar:
        expert = Expert(network, configs, Budget(steps, minutes), seed, settings, device)
        write_log(job.folder / LOG, _COLUMNS, [])
        best: Judgement | None = None
        evaluated = 0

        def save(name: str, **more: Any) -> None:
            expertise = {"from": path.name, "decisions": expert.decisions, "seconds": round(expert.seconds, 1)}
            expertise |= {"settings": asdict(settings), "device": device, "seed": seed}
            save_network(game, expert.playable(), job.folder / name, {**training, "expert": expertise, **more})

        while expert.fraction < 1:
            row = expert.iterate(job.should_stop)
            if row is None:
                break
            if expert.decisions - evaluated >= settings.evaluate_every or expert.fraction >= 1:
                evaluated = expert.decisions
                judgement = expert.evaluate()
                row["score"] = round(judgement.score, 4)
                if best is None or judgement.score > best.score:
                    best = judgement
                    save(BEST, evaluation=judgement.numbers)
            write_log(job.folder / LOG, _COLUMNS, [row], new=False)
            save(POLICY)
            alone = "" if best is None else f"; the network alone {best.score:.1%}"
            bar.show(f"{expert.decisions:,} decisions, searching won {row['wins']:.1%}{alone}", expert.fraction)
    return job.folder
