"""`train general`: one network for several numbers of players and all modules, which learns from all seats at once.

In most games the network plays all seats; in the others it plays one seat against its earlier selves. It runs on a
processor, and much faster on a GPU.
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

from tabletop.agents import check_agents
from tabletop.errors import CheckpointError, ConfigError
from tabletop.game import Config, Game
from tabletop.seeds import Stream, generator
from tabletop_agents import Agent, checkpoint_path, make_agent
from tabletop_agents.checkpoint import configs_of, read_checkpoint, save_network, variety
from tabletop_agents.networks import Network, weighing
from tabletop_agents.policy import PolicyAgent
from tabletop_training.curriculum import by_players, curricula
from tabletop_training.evaluation_files import write_log
from tabletop_training.job import Job
from tabletop_training.learning import (
    BEST,
    CHOOSING_SEED,
    CURVE,
    EVALUATIONS,
    POLICY,
    SECONDS_BETWEEN_CHECKPOINTS,
    Budget,
    Judgement,
)
from tabletop_training.ppo import check_device, torch_settings
from tabletop_training.runs import run_budget
from tabletop_training.seats import GREEDY, LEARNER, OPPONENT, Ends, SeatGames, new_network, policy_of, update
from tabletop_training.selfplay import judge
from tabletop_training.settings import Settings, check_at_least_one, check_types, read_settings, shipped_settings

_COLUMNS = (
    *("seconds", "steps", "games", "won", "entropy", "kl", "clipped", "value_loss", "explained_variance"),
    "learning_rate",
)


@dataclass(frozen=True)
class GeneralSettings:
    """Settings of one general network: the table `[general]` of a settings file. Raises ConfigError."""

    players: tuple[int, ...] = ()  # numbers of players, () for every one from 2 on
    components: Any = None  # an overlay file
    earlier: float = 0.25  # share of the games in which all seats but one are earlier selves'
    greedy: float = 0.0  # share of the games in which all seats but one are the agent `greedy`'s
    opponent: float = 0.0  # share of the games in which all seats but one are the agent `opponent_agent`'s
    opponent_agent: str = "ismcts-24"  # any agent's name
    snapshots: int = 8  # earlier selves that are kept, spread evenly over the past
    snapshot_updates: int = 20  # updates between two of them
    against: tuple[str, ...] = ("greedy",)  # whom evaluations are against; in a game for one nobody
    games: int = 100  # of an evaluation, for each number of players and way to play
    weight: float = 0.0  # of shortfalls, nats a point: the first one of a network that has none yet; 0: it gets none
    sureness: float = 1.0  # what the logits of such a network are multiplied by

    def __post_init__(self) -> None:
        check_types(self)
        check_at_least_one(games=self.games, snapshot_updates=self.snapshot_updates)
        if self.snapshots < 3:
            raise ConfigError(f"snapshots={self.snapshots}: must be at least 3")
        for name in ("weight", "sureness"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ConfigError(f"{name}={getattr(self, name)}: must be a finite number of at least 0")
        shares = {name: getattr(self, name) for name in ("earlier", "greedy", "opponent")}
        for name, share in shares.items():
            if not 0 <= share <= 1:
                raise ConfigError(f"{name}={share}: must be a share from 0 to 1")
        if sum(shares.values()) > 1:
            named = ", ".join(f"{name}={share}" for name, share in shares.items())
            raise ConfigError(f"{named}: together they must be at most 1")
        if len(set(self.players)) < len(self.players):
            raise ConfigError(f"players={list(self.players)}: must have each number once")

    def configs(self, game: Game) -> list[Config]:
        """The configurations by number of players. Raises ConfigError for numbers of players that the game lacks."""
        numbers = self.players or tuple(number for number in game.players if number > 1)
        plain = [game.config(players=number, components=self.components) for number in sorted(numbers)]
        return [way for config in plain for way in variety(config)]


class General:
    """The network that learns, and its games.

    Arguments:
        configs: each number of players is played equally often. In a game for one, half of the games are spread evenly
            over the configurations, the other half go to those with more losses.
        start: a network to start from, None for a new one.
        rival: plays all other seats of every game, instead of earlier selves and the network itself.
        device: the torch device of the network while it learns; the games run on processors.
    """

    def __init__(
        self,
        configs: Sequence[Config],
        task: GeneralSettings,
        settings: Settings,
        budget: Budget,
        seed: int,
        device: str = "cpu",
        start: Network | None = None,
        rival: Network | None = None,
    ) -> None:
        torch.manual_seed(seed)
        game = configs[0].game
        self.configs, self.task, self.settings, self.budget, self.seed = list(configs), task, settings, budget, seed
        self.network = new_network(game, settings) if start is None else copy.deepcopy(start)
        self.network.outlook = None
        if task.weight > 0 and not self.network.weighs:
            self.network = weighing(self.network, task.weight, task.sureness)
        self.network.to(device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), settings.learning_rate, eps=1e-5, fused=True)
        self.generator = generator(seed, Stream.SEATS)
        self.rival = rival is not None
        self._others = [] if rival is None else [policy_of(copy.deepcopy(rival).to(device), sample=False)]
        self._taken: list[int] = []  # the update that each earlier self is of
        self.steps = self.games = self.updates = 0
        self._curricula = curricula(configs, seed)
        weighs = self.network.weighs or task.greedy > 0 or (rival is not None and rival.weighs)
        seats = (self._seat, self._others, weighs, self._opponent())
        self.table = SeatGames.of(self._curricula, settings.num_envs, settings, seed, device, *seats)
        self._start = time.monotonic()

    def _opponent(self) -> Agent | None:
        if self.task.opponent == 0:
            return None
        agent = make_agent(self.task.opponent_agent, self.configs[0].game)
        for config in self.configs:
            check_agents([agent], config)
        return agent

    @property
    def seconds(self) -> float:
        """Since its start."""
        return time.monotonic() - self._start

    @property
    def fraction(self) -> float:
        """The part of the budget that is used up, 0 to 1."""
        return self.budget.fraction(self.steps, self.seconds)

    def playable(self) -> Network:
        """A copy of the network as it is now, on a processor."""
        return copy.deepcopy(self.network).cpu()

    def iterate(self) -> dict[str, float]:
        """One rollout and one update; a row of the log."""
        settings = self.settings
        left = 1.0 - self.fraction * (1.0 - settings.final)
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * left
        if not self.rival and self.updates % self.task.snapshot_updates == 0:
            self._take_snapshot()
        rollout, ends = self.table.play(self.network, settings.steps)
        losses = update(self.network, self.optimizer, self.table, rollout, settings, settings.entropy * left)
        if not all(torch.isfinite(parameter).all() for parameter in self.network.parameters()):
            raise CheckpointError(
                f"after {self.steps:,} steps the network's numbers are not finite any more: the learning rate "
                f"({settings.learning_rate:g}) may be too high"
            )
        self.updates += 1
        self.steps += int(rollout.deciding.sum())
        self.games += len(ends.configs)
        won = self._take_in(ends)
        row = {"seconds": round(self.seconds, 1), "steps": self.steps, "games": len(ends.configs), "won": round(won, 4)}
        return (
            row
            | {name: round(value, 5) for name, value in losses._asdict().items()}
            | {"learning_rate": round(settings.learning_rate * left, 7)}
        )

    def _take_in(self, ends: Ends) -> float:
        """Update the curricula with the learner's share of the victories, relative to an even share."""
        shares = []
        for players, curriculum in self._curricula.items():
            games = [i for i, config in enumerate(ends.configs) if config.players == players]
            learner = ends.players[games, :players] == LEARNER
            mine = np.where(learner, ends.won[games, :players], 0.0).sum(axis=1)
            if players == 1:
                curriculum.update([ends.configs[i] for i in games], mine, self.fraction)
                shares += mine.tolist()
            else:
                shares += (mine * players)[learner.sum(axis=1) == 1].tolist()
        return float(np.mean(shares)) if shares else 0.0

    def _seat(self, games: int, players: int) -> np.ndarray:
        seated = np.full((games, players), LEARNER, np.int64)
        if players == 1:
            return seated
        others = seated if not self._others else self.generator.integers(len(self._others), size=seated.shape)
        kind = self.generator.random((games, 1))
        mixed = kind < (1.0 if self.rival else self.task.earlier)
        against_greedy = ~mixed & (kind >= 1.0 - self.task.greedy)
        against_opponent = ~mixed & (kind >= 1.0 - self.task.greedy - self.task.opponent)
        mine = np.arange(players) == self.generator.integers(players, size=(games, 1))
        return np.select([mine, against_greedy, against_opponent, mixed], [LEARNER, GREEDY, OPPONENT, others], LEARNER)

    def _take_snapshot(self) -> None:
        """Keep a copy of the network. If there are enough, it replaces the one that leaves the smallest gap."""
        if self.table.seats == 1:
            return
        snapshot = policy_of(copy.deepcopy(self.network))
        if len(self._taken) < self.task.snapshots:
            self._others.append(snapshot)
            self._taken.append(self.updates)
            return
        order = sorted(range(len(self._taken)), key=self._taken.__getitem__)
        gaps = {b: self._taken[c] - self._taken[a] for a, b, c in zip(order, order[1:], order[2:], strict=False)}
        place = min(gaps, key=gaps.__getitem__)
        self._others[place], self._taken[place] = snapshot, self.updates

    def evaluate(self) -> Judgement:
        """Evaluate the bare network."""
        agent = PolicyAgent(self.playable())
        return judge_everything(agent, self.configs, self.task.against, self.task.games, self.seed)


def judge_everything(
    agent: Agent, configs: Sequence[Config], against: Sequence[str], games: int, seed: int
) -> Judgement:
    """Evaluate an agent that plays with several numbers of players: `judge` with each, on seeds for choosing.

    The score is the mean of its win rates; with several players these are relative to an even share. It plays `games`
    games of each configuration, with several players that many against each of the rivals.
    """
    scores: list[float] = []
    numbers: dict[str, float] = {}
    for players, ways in by_players(configs).items():
        rivals = {name: make_agent(name, ways[0].game) for name in against} if players > 1 else {}
        judged = judge(agent, ways, rivals, seed + CHOOSING_SEED + np.arange(-(-games // players)))
        scores.append(judged.score * players)
        numbers |= {f"{players}p_{name}": value for name, value in judged.numbers.items()}
    return Judgement(float(np.mean(scores)), numbers)


def main(
    game: Game,
    settings: str | Path | None = None,
    *,
    players: Sequence[int] = (),
    minutes: float | None = None,
    steps: int | None = None,
    seed: int = 0,
    output: str | Path = "runs/general",
    device: str = "cpu",
    start: str | None = None,
    rival: str | None = None,
    evaluate: bool = True,
) -> Path:
    """Train a general network; returns the folder with `policy.zip`, `best.zip` and the logs.

    Arguments:
        settings: name or path of a settings file; None means `general`, if there is one.
        players: replaces the file's numbers of players.
        minutes, steps: replace the file's budget; steps are decisions of the learner.
        device: torch's.
        start: a checkpoint, or a shipped policy's name, to start from. Its layers replace the file's.
        rival: a checkpoint, or a shipped policy's name, that plays all other seats of every game. The games are those
            that it was trained for. A learner trained in this way finds the rival's weaknesses.
        evaluate: False leaves out `best.zip` and the evaluations.

    Raises ConfigError, CheckpointError.
    """
    name = settings or ("general" if "general" in shipped_settings(game) else None)
    sections = read_settings(name, game, learning=Settings, general=GeneralSettings, budget=Budget)
    task: GeneralSettings = sections["general"]
    if players:
        task = replace(task, players=tuple(players))
    configs = task.configs(game)
    networks: list[Network | None] = [None, None]
    if start is not None:
        networks[0], _ = read_checkpoint(game, checkpoint_path(start, game))
    if rival is not None:
        path = checkpoint_path(rival, game)
        networks[1], notes = read_checkpoint(game, path)
        known = configs_of(game, notes.get("training", {}), path)
        configs = [
            config for config in known if config.players > 1 and config.players in (players or by_players(known))
        ]
        if not configs:
            raise ConfigError(f"rival={rival!r}: it was not trained for these numbers of players, or for no other seat")
        task = replace(task, against=(f"policy:{rival}",))
    check_device(device)
    budget = run_budget(sections["budget"], steps, minutes)
    learning: Settings = sections["learning"]
    torch.set_num_threads(learning.threads or 1)
    with Job(output) as job, torch_settings(learning), job.bar("learning", 1.0) as bar:
        general = General(configs, task, learning, budget, seed, device, *networks)
        _learn(general, job, bar.show, evaluate, {"start": start, "rival": rival})
    return job.folder


def _learn(
    general: General, job: Job, show: Callable[[str, float], None], evaluate: bool, notes: dict[str, Any]
) -> None:
    """Learn until the budget is used up or the user stops it, and save the result."""
    game, settings = general.configs[0].game, general.settings
    numbers = list(by_players(general.configs))

    def save(name: str, **more: Any) -> None:
        first: Any = general.configs[0]
        run: dict[str, Any] = {"players": numbers if len(numbers) > 1 else numbers[0], "config": asdict(first)}
        run |= {
            "general": notes["rival"] is None,
            "seed": general.seed,
            "steps": general.steps,
            "seconds": round(general.seconds, 1),
        }
        run |= {"settings": asdict(settings), "task": asdict(general.task), "device": general.table.device, **notes}
        save_network(game, general.playable(), job.folder / name, {**run, **more})

    write_log(job.folder / CURVE, _COLUMNS, [])
    saved, best, evaluations = 0.0, -np.inf, []
    save(POLICY)
    while general.fraction < 1 and not job.should_stop():
        before = general.steps
        row = general.iterate()
        write_log(job.folder / CURVE, _COLUMNS, [row], new=False)
        speed = general.steps / max(general.seconds, 1e-9)
        show(f"{general.steps / 1e6:.2f}M steps, {speed / 1e3:.1f}k/s, won {row['won']:.2f}", general.fraction)
        if general.seconds - saved > SECONDS_BETWEEN_CHECKPOINTS:
            save(POLICY)
            saved = general.seconds
        due = general.steps // settings.evaluate_every > before // settings.evaluate_every
        if evaluate and (due or general.fraction >= 1):
            judged = general.evaluate()
            shown = {"seconds": round(general.seconds, 1), "steps": general.steps, "score": round(judged.score, 5)}
            evaluations.append(shown | {name: round(value, 5) for name, value in judged.numbers.items()})
            write_log(job.folder / EVALUATIONS, evaluations[0], evaluations)
            if judged.score > best:
                best = judged.score
                save(BEST, evaluation=judged.numbers)
    save(POLICY)
