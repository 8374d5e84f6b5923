"""Learning a network's outlook: what positions of its own games come to, for each seat (`Network.outlook`)."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from tabletop.errors import CheckpointError, ConfigError
from tabletop.game import Config, Game
from tabletop_agents import Agent, checkpoint_path
from tabletop_agents.checkpoint import read_checkpoint, save_network
from tabletop_agents.policy import PolicyAgent
from tabletop_training.curriculum import Curriculum
from tabletop_training.job import Job
from tabletop_training.learning import POLICY, Budget
from tabletop_training.positions import Positions, Replay, play_positions
from tabletop_training.runs import run_budget
from tabletop_training.settings import from_table

LAYERS = (256, 128)
"""Widths of the layers between observation and outlook."""
GAMES_AT_ONCE = 512
SHARE = 0.25
"""Of the decisions that is learned from: neighbours in one game say nearly the same."""
MOST_KEPT = 300_000
MINIBATCH = 2048
PASSES = 4
"""How often a decision is learned from, in the mean."""
MINUTES = 5.0
LEARNING_RATE = 1e-3
LAST_RATE = 0.02
"""What the learning rate falls to, as a part of what it begins with."""
POINTS = 10.0
"""A margin that counts as one, while learning."""
_MARGIN_WEIGHT = 0.25
_FIRST_SEED = 10_000_000
_NEVER = -1e8


def new_outlook(inputs: int, seats: int, layers: Sequence[int] = LAYERS) -> nn.Sequential:
    """A fresh one, for so many numbers of an observation and so many seats; its margins are in units of POINTS."""
    parts: list[nn.Module] = []
    for a, b in pairwise([inputs, *layers]):
        parts += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*parts, nn.Linear(layers[-1], 2 * seats))


def in_points(outlook: nn.Sequential, units: float = POINTS) -> nn.Sequential:
    """A copy of one that is being learned, with margins in points, as `Network` wants it."""
    copied = copy.deepcopy(outlook)
    last: nn.Linear = copied[-1]  # type: ignore[assignment]
    seats = last.out_features // 2
    with torch.no_grad():
        last.weight[seats:] *= units
        last.bias[seats:] *= units
    return copied


def in_units(outlook: nn.Sequential) -> nn.Sequential:
    """A copy of a network's outlook for learning on: what `in_points` undoes."""
    return in_points(outlook, 1.0 / POINTS)


def outlook_losses(said: torch.Tensor, positions: Positions) -> tuple[torch.Tensor, torch.Tensor]:
    """The cross-entropy of who wins, and the squared error of margins in units of POINTS: means over (n,) positions.

    `said` (n, 2 K) float32, what an outlook says of them.
    """
    known = (positions.won, positions.margins, positions.players)
    won, margins, players = (torch.from_numpy(part).to(said.device) for part in known)
    seats = won.shape[1]
    logits, points = said[:, :seats], said[:, seats:]
    there = torch.arange(seats, device=said.device) < players[:, None]
    together = torch.where(there, torch.where(there, logits, _NEVER).log_softmax(dim=1), 0.0)
    several = -(won * together).sum(dim=1) / won.sum(dim=1).clamp(min=1e-6)
    alone = functional.binary_cross_entropy_with_logits(logits[:, 0], won[:, 0], reduction="none")
    squares = torch.where(there, (points - margins / POINTS) ** 2, 0.0).sum(dim=1) / players
    return torch.where(players == 1, alone, several).mean(), squares.mean()


def outlook_loss(outlook: nn.Module, positions: Positions, device: str = "cpu") -> torch.Tensor:
    """What learning makes small: both losses in one."""
    seen = torch.from_numpy(positions.observations).to(device, torch.float32)
    win, margin = outlook_losses(outlook(seen), positions)
    return win + _MARGIN_WEIGHT * margin


def learn_outlook(
    agent: Agent,
    configs: Sequence[Config],
    budget: Budget,
    seed: int = 0,
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[float, int, float], None] = lambda fraction, games, loss: None,
) -> nn.Sequential:
    """An outlook that says how games end which the agent plays.

    Half of them are of each of these configurations evenly, the other half of those where more is lost. The budget's
    steps are games.

    `on_progress` is told after every block of games how much of the time is used, how many games were played, and the
    loss on the newest ones before they were learned from.
    """
    game = configs[0].game
    torch.manual_seed(seed)
    outlook = new_outlook(game.observation.size, game.players[-1])
    optimizer = torch.optim.Adam(outlook.parameters(), LEARNING_RATE)
    generator = np.random.default_rng([seed, 4])
    replay, curriculum = Replay(MOST_KEPT), Curriculum([configs], threshold=0.0, latest=0.0, seed=seed)
    start, games = time.monotonic(), 0
    while (used := budget.fraction(games, time.monotonic() - start)) < 1.0 and not should_stop():
        chosen = curriculum.choose(np.arange(GAMES_AT_ONCE))
        played = play_positions(
            lambda decisions, chance: (agent.act(decisions, chance), None),
            chosen,
            seed + _FIRST_SEED + games,
            SHARE,
            should_stop,
        )
        if played is None:
            break
        new, results = played
        curriculum.update(chosen, results.won[:, 0], used)
        games += len(chosen)
        with torch.inference_mode():
            loss = float(outlook_loss(outlook, new))
        replay.add(new)
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * max(LAST_RATE, 1.0 - used)
        for _ in range(1 + PASSES * len(new.players) // MINIBATCH):
            optimizer.zero_grad()
            outlook_loss(outlook, replay.draw(generator, MINIBATCH)).backward()
            optimizer.step()
        on_progress(used, games, loss)
    return in_points(outlook)


def configs_of(game: Game, training: Mapping[str, Any], path: Path) -> list[Config]:
    """What a checkpoint at `path` was trained for, by its notes. Raises CheckpointError where they don't say it."""
    try:
        config: Config = from_table(game.config, training["config"])
        levels = config.curriculum() if training.get("curriculum") else [[config]]  # type: ignore[attr-defined]
    except (KeyError, TypeError, ConfigError) as error:
        raise CheckpointError(f"{path}: it does not say what it was trained for ({error!r})") from None
    return [config for level in levels for config in level]


def main(
    game: Game,
    policy: str,
    *,
    minutes: float | None = None,
    games: int | None = None,
    seed: int = 0,
    output: str | Path = "runs/outlook",
) -> Path:
    """Teach a checkpoint (a file, or a shipped policy's name) how its games end; returns the folder with the new one.

    It takes so many minutes, or games; MINUTES if neither is given.

    Raises CheckpointError for a checkpoint that is missing, damaged or does not say what it was trained for.
    """
    path = checkpoint_path(policy, game)
    network, notes = read_checkpoint(game, path)
    training = notes.get("training", {})
    configs = configs_of(game, training, path)
    budget = run_budget(Budget(minutes=MINUTES), games, minutes)
    torch.set_num_threads(1)
    with Job(output) as job:
        agent = PolicyAgent(network, sample=True, name=path.stem)
        with job.bar("learning", 1.0) as bar:

            def show(fraction: float, played: int, loss: float) -> None:
                bar.show(f"{played:,} games, loss {loss:.3f}", fraction)

            network.outlook = learn_outlook(agent, configs, budget, seed, job.should_stop, show)
        learned = {"minutes": budget.minutes, "games": budget.steps, "seed": seed}
        save_network(game, network, job.folder / POLICY, {**training, "outlook": learned})
    return job.folder
