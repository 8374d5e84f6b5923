"""Training of a network's win and margin heads: the results of positions of its own games, for each seat."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from tabletop import seeds
from tabletop.checks import checked
from tabletop.game import Config, Game
from tabletop_agents import checkpoint_path
from tabletop_agents.checkpoint import configs_of, read_checkpoint, save_network
from tabletop_agents.networks import Network
from tabletop_training.curriculum import curricula
from tabletop_training.job import Job
from tabletop_training.learn.devices import check_device
from tabletop_training.learn.games import Ends, Rollout, SeatGames
from tabletop_training.learn.learner import POLICY
from tabletop_training.learn.opponents import Opponents, OpponentSettings
from tabletop_training.learn.ppo import masked_log_probabilities
from tabletop_training.learn.task import Budget, run_budget
from tabletop_training.settings import Settings

LAYERS = (256, 128)
"""The widths of the layers between observation and outlook."""
GAMES_AT_ONCE = {"cpu": 512, "cuda": 4096}
STEPS = 32
SHARE = 0.25
"""The share of decisions to learn from; neighbouring decisions of a game say nearly the same."""
MOST_KEPT = {"cpu": 300_000, "cuda": 3_000_000}
MINIBATCH = {"cpu": 2048, "cuda": 16384}
PASSES = 4
"""How often a decision is learned from, on average."""
MINUTES = 5.0
LEARNING_RATE = 1e-3
LAST_RATE = 0.02
"""The last learning rate as a fraction of the first."""
POINTS = 10.0
"""The margin, in points, that is the unit while learning."""
_MARGIN_WEIGHT = 0.25


class Outcomes(NamedTuple):
    """The results of n positions, for K seats clockwise from the actor; 0 for seats that the game does not have."""

    won: torch.Tensor  # (n, K) float32, shares of the victory
    margins: torch.Tensor  # (n, K) float32, in points
    players: torch.Tensor  # (n,) int64


def new_outlook(inputs: int, seats: int, layers: Sequence[int] = LAYERS) -> nn.Sequential:
    """A new outlook for observations of this size and this number of seats; its margins are in units of POINTS."""
    parts: list[nn.Module] = []
    for a, b in pairwise([inputs, *layers]):
        parts += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*parts, nn.Linear(layers[-1], 2 * seats))


def in_points(outlook: nn.Sequential, units: float = POINTS) -> nn.Sequential:
    """A copy of an outlook that is being trained, with margins in points, as `Network` needs it."""
    copied = copy.deepcopy(outlook)
    last: nn.Linear = copied[-1]  # type: ignore[assignment]
    seats = last.out_features // 2
    with torch.no_grad():
        last.weight[seats:] *= units
        last.bias[seats:] *= units
    return copied


def in_units(outlook: nn.Sequential) -> nn.Sequential:
    """A copy of a network's outlook for further training; the inverse of `in_points`."""
    return in_points(outlook, 1.0 / POINTS)


def outlook_losses(said: torch.Tensor, outcomes: Outcomes) -> tuple[torch.Tensor, torch.Tensor]:
    """The cross-entropy of who wins, and the squared error of margins in units of POINTS: means over (n,) positions.

    `said` (n, 2 K) float32 are the outlook's numbers for them.
    """
    won, margins, players = outcomes
    seats = won.shape[1]
    logits, points = said[:, :seats], said[:, seats:]
    there = torch.arange(seats, device=said.device) < players[:, None]
    together = torch.where(there, masked_log_probabilities(logits, there), 0.0)
    several = -(won * together).sum(dim=1) / won.sum(dim=1).clamp(min=1e-6)
    alone = functional.binary_cross_entropy_with_logits(logits[:, 0], won[:, 0], reduction="none")
    squares = torch.where(there, (points - margins / POINTS) ** 2, 0.0).sum(dim=1) / players
    return torch.where(players == 1, alone, several).mean(), squares.mean()


def outlook_loss(outlook: nn.Module, seen: torch.Tensor, outcomes: Outcomes) -> torch.Tensor:
    """The loss of training: the sum of both losses. `seen` are observations, (n, D) float32."""
    win, margin = outlook_losses(outlook(seen), outcomes)
    return win + _MARGIN_WEIGHT * margin


class Waiting:
    """Positions of games that have not ended yet: counts (n, D) int8, the actor, and the game."""

    def __init__(self, seats: int) -> None:
        self.seats = seats
        self._kept: tuple[torch.Tensor, np.ndarray, np.ndarray] | None = None

    def add(self, rollout: Rollout, ends: Ends, share: float, generator: np.random.Generator) -> Any:
        """Add a share of a rollout's decisions; return those whose games have ended, as (counts, Outcomes)."""
        steps, games = rollout.actors.shape
        following = np.full((steps + 1, games), -1)
        following[ends.steps, ends.games] = np.arange(len(ends.steps))
        for t in range(steps - 1, -1, -1):
            following[t] = np.where(following[t] >= 0, following[t], following[t + 1])
        device = rollout.actors.device
        drawn = (generator.random((steps, games)) < share) & rollout.deciding.cpu().numpy()
        at, game = np.nonzero(drawn)
        seen = rollout.observations[torch.from_numpy(at).to(device), torch.from_numpy(game).to(device)]
        actors = rollout.actors.cpu().numpy()[at, game]
        end = following[at, game]
        if self._kept is not None:
            before, their_actors, their_games = self._kept
            seen = torch.cat([before, seen])
            actors, game = np.concatenate([their_actors, actors]), np.concatenate([their_games, game])
            end = np.concatenate([following[0, their_games], end])
        ended, waiting = np.flatnonzero(end >= 0), np.flatnonzero(end < 0)
        self._kept = seen[torch.from_numpy(waiting).to(device)], actors[waiting], game[waiting]
        players = np.array([config.players for config in ends.configs], np.int64)[end[ended]]
        clockwise = (actors[ended, None] + np.arange(self.seats)) % np.maximum(players, 1)[:, None]
        there = np.arange(self.seats) < players[:, None]
        won, ahead = (
            np.where(there, np.take_along_axis(part[end[ended]], clockwise, axis=1), 0.0).astype(np.float32)
            for part in (ends.won, ends.margins)
        )
        outcomes = Outcomes(*(torch.from_numpy(part).to(device) for part in (won, ahead, players)))
        return seen[torch.from_numpy(ended).to(device)], outcomes


class _Newest:
    """The newest positions with their results, on the device."""

    def __init__(self, most: int, numbers: int, seats: int, device: str) -> None:
        self.most, self.added = most, 0
        shapes = [(numbers, torch.int8), (seats, torch.float32), (seats, torch.float32)]
        self._arrays = [torch.zeros(most, width, dtype=kind, device=device) for width, kind in shapes]
        self._arrays.append(torch.ones(most, dtype=torch.int64, device=device))

    def add(self, seen: torch.Tensor, outcomes: Outcomes) -> None:
        rows = (self.added + torch.arange(len(seen), device=seen.device)) % self.most
        for array, part in zip(self._arrays, (seen, *outcomes), strict=True):
            array[rows[-self.most :]] = part[-self.most :]
        self.added += len(seen)

    def draw(self, number: int) -> tuple[torch.Tensor, Outcomes]:
        rows = torch.randint(min(self.added, self.most), (number,), device=self._arrays[0].device)
        seen, *outcomes = (array[rows] for array in self._arrays)
        return seen, Outcomes(*outcomes)


def learn_outlook(
    network: Network,
    configs: Sequence[Config],
    budget: Budget,
    seed: int = 0,
    device: str = "cpu",
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[float, int, float], None] = lambda fraction, games, loss: None,
) -> nn.Sequential:
    """Train an outlook on games that the network plays by drawing its actions.

    Each number of players gets an equal part of the games. Half of these are spread evenly over its configurations; in
    a game for one the other half go to configurations with more losses. The budget's steps are games.

    `on_progress` is called after every rollout with the used part of the budget, the number of ended games, and the
    loss on the newest positions before they were learned from.
    """
    game = configs[0].game
    torch.manual_seed(seed)
    kind = "cpu" if device == "cpu" else "cuda"
    seats = game.players[-1]
    outlook = new_outlook(game.observation.size, seats).to(device)
    playing = copy.deepcopy(network).to(device)
    optimizer = torch.optim.Adam(outlook.parameters(), LEARNING_RATE)
    generator = seeds.generator(seed, seeds.Stream.OUTLOOK)
    by_number = curricula(configs, seed)
    first = seed + seeds.OUTLOOK.first
    itself = Opponents(OpponentSettings(), configs, None, first)
    table = SeatGames(by_number, GAMES_AT_ONCE[kind], Settings(), first, itself, device, network.weighs)
    waiting, newest = Waiting(seats), _Newest(MOST_KEPT[kind], game.observation.size, seats, device)
    start, games = time.monotonic(), 0
    while (used := budget.fraction(games, time.monotonic() - start)) < 1.0 and not should_stop():
        rollout, ends = table.play(playing, STEPS)
        seen, outcomes = waiting.add(rollout, ends, SHARE, generator)
        games += len(ends.configs)
        alone = [i for i, config in enumerate(ends.configs) if config.players == 1]
        if alone:
            by_number[1].update([ends.configs[i] for i in alone], ends.won[alone, 0], used)
        if not len(seen):
            continue
        with torch.no_grad():
            loss = float(outlook_loss(outlook, table.scaled(seen), outcomes))
        newest.add(seen, outcomes)
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * max(LAST_RATE, 1.0 - used)
        for _ in range(1 + PASSES * len(seen) // MINIBATCH[kind]):
            counts, known = newest.draw(MINIBATCH[kind])
            optimizer.zero_grad()
            outlook_loss(outlook, table.scaled(counts), known).backward()
            optimizer.step()
        on_progress(used, games, loss)
    return in_points(outlook.cpu())


@checked
def main(
    game: Game,
    policy: str,
    *,
    minutes: float | None = None,
    games: int | None = None,
    seed: int = 0,
    output: str | Path = "runs/outlook",
    device: str = "cpu",
    half: bool = False,
) -> Path:
    """Train the outlook of a checkpoint (a file, or a shipped policy's name); returns the new checkpoint's folder.

    The budget is minutes or games; MINUTES if neither is given. `half` stores the weights as float16.

    Raises CheckpointError for a checkpoint that is missing, damaged or does not say what it was trained for.
    """
    path = checkpoint_path(policy, game)
    network, notes = read_checkpoint(game, path)
    training = notes.get("training", {})
    configs = configs_of(game, training, path)
    budget = run_budget(Budget(minutes=MINUTES), games, minutes)
    check_device(device)
    torch.set_num_threads(1)
    with Job(output) as job:
        with job.bar("learning", 1.0) as bar:

            def show(fraction: float, played: int, loss: float) -> None:
                bar.show(f"{played:,} games, loss {loss:.3f}", fraction)

            network.win_margin_heads = learn_outlook(network, configs, budget, seed, device, job.should_stop, show)
        learned = {"minutes": budget.minutes, "games": budget.steps, "seed": seed, "device": device}
        save_network(game, network, job.folder / POLICY, {**training, "outlook": learned}, half)
    return job.folder
