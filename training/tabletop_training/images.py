"""`train images`: teach a policy to judge the images of a position (`Game.images`) alike.

A network that has learned from positions does not know that a mirrored position is the same one. It judges each image
anew, with errors of its own. Here it learns the mean of its own judgements, in which these errors are smaller.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from tabletop import seeds
from tabletop.checks import checked
from tabletop.errors import ConfigError
from tabletop.game import Config, Game
from tabletop_agents import checkpoint_path
from tabletop_agents.checkpoint import configs_of, read_checkpoint, save_network
from tabletop_agents.networks import Network
from tabletop_training.curriculum import curricula
from tabletop_training.evaluation_files import write_log
from tabletop_training.job import Job
from tabletop_training.learn.devices import check_device, torch_settings
from tabletop_training.learn.games import SeatGames
from tabletop_training.learn.learner import POLICY
from tabletop_training.learn.opponents import Opponents, OpponentSettings
from tabletop_training.learn.ppo import masked_log_probabilities
from tabletop_training.learn.task import Budget, run_budget
from tabletop_training.settings import Settings

LOG = "images.csv"
_COLUMNS = ("seconds", "positions", "loss")
GAMES_AT_ONCE = {"cpu": 512, "cuda": 4096}
STEPS = 24
MINIBATCH = {"cpu": 1024, "cuda": 8192}
MINUTES = 12.0
LEARNING_RATE = 3e-4
LAST_RATE = 0.05
"""The last learning rate as a fraction of the first."""
WITH_GREEDY = 0.2
"""The share of games in which the agent `greedy` has all seats but one, if the network weighs shortfalls."""
TEMPERATURES = (1.0, 4.0)
"""The policies are compared as they are, and made more even, so that unlikely actions count too."""
IMAGES = 2
"""From how many images of a position the network learns what to answer."""


class Maps(NamedTuple):
    """One image: the numbers of its observation, (D,), and its actions, (A,), in the order of the original's.

    `observation[j]` is where the number j of the image stands in the original; `actions[a]` is what the action a is
    called in the image.
    """

    observation: torch.Tensor
    actions: torch.Tensor


def maps_of(game: Game, players: int, device: str = "cpu") -> list[Maps]:
    """The images of games with so many players, the game itself first."""
    same = (np.arange(game.observation.size), np.arange(game.num_actions))
    there = [same, *((np.argsort(image.observation), image.actions) for image in game.images(players))]
    return [Maps(*(torch.from_numpy(part).to(device) for part in one)) for one in there]


def judged(network: Network, maps: Maps, seen: torch.Tensor, fallen: torch.Tensor | None) -> torch.Tensor:
    """(n, A) logits that the network gives the image of positions, in the order of the original's actions.

    `seen` (n, D) and `fallen` (n, A), the shortfalls, are the original's.
    """
    theirs = None if fallen is None else torch.empty_like(fallen).index_copy_(1, maps.actions, fallen)
    return network.logits(network.trunk(seen[:, maps.observation]), theirs)[:, maps.actions].float()


def mean_judgement(
    network: Network, images: Sequence[Maps], seen: torch.Tensor, fallen: torch.Tensor | None, masks: torch.Tensor
) -> torch.Tensor:
    """(n, A) mean of the log-probabilities over all images; about -1e8 for illegal actions."""
    return torch.stack([masked_log_probabilities(judged(network, one, seen, fallen), masks) for one in images]).mean(0)


def difference(logits: torch.Tensor, wanted: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """The Kullback-Leibler divergence from what is wanted, (n, A) each, averaged; the sum over TEMPERATURES."""
    total = torch.zeros((), device=logits.device)
    for temperature in TEMPERATURES:
        aims = masked_log_probabilities(wanted / temperature, masks)
        told = masked_log_probabilities(logits / temperature, masks)
        total = total + temperature * functional.kl_div(told, aims, reduction="none", log_target=True).sum(1).mean()
    return total


def learn_images(
    network: Network,
    configs: Sequence[Config],
    budget: Budget,
    seed: int = 0,
    device: str = "cpu",
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[float, dict[str, float]], None] = lambda fraction, row: None,
) -> Network:
    """A copy of the network, on a processor, that has learned its own mean judgement of all images.

    It plays the games of these configurations, each number of players equally often, and draws its actions. The
    budget's steps are positions. The value and the outlook stay as they are.

    Raises ConfigError for a game without images.
    """
    game = configs[0].game
    torch.manual_seed(seed)
    generator = seeds.generator(seed, seeds.Stream.IMAGES)
    by_number = curricula(configs, seed)
    images = {players: maps_of(game, players, device) for players in by_number}
    if all(len(there) == 1 for there in images.values()):
        raise ConfigError(f"{game.title}: with these numbers of players it has no images to learn from")
    learner, teacher = copy.deepcopy(network).to(device), copy.deepcopy(network).to(device)
    parameters = [*learner.trunk.parameters(), *learner.policy.parameters()]
    optimizer = torch.optim.Adam(parameters, LEARNING_RATE)
    kind, weighs = "cpu" if device == "cpu" else "cuda", network.weighs
    first = seed + seeds.IMAGES.first
    opponents = Opponents(OpponentSettings(agents={"greedy": WITH_GREEDY} if weighs else {}), configs, None, first)
    table = SeatGames(by_number, GAMES_AT_ONCE[kind], Settings(), first, opponents, device, weighs)
    start, positions = time.monotonic(), 0
    while (used := budget.fraction(positions, time.monotonic() - start)) < 1.0 and not should_stop():
        rollout, _ = table.play(learner, STEPS)
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * max(LAST_RATE, 1.0 - used)
        losses = []
        for part, there in zip(table.parts, images.values(), strict=True):
            shown = (rollout.observations, rollout.shortfalls, rollout.masks)
            counts, shortfalls, masks = (array[:, part].flatten(0, 1) for array in shown)
            rows = (masks.sum(dim=1) > 1).nonzero()[:, 0]
            for chosen in rows[torch.randperm(len(rows), device=rows.device)].split(MINIBATCH[kind]):
                seen = table.scaled(counts[chosen])
                fallen = shortfalls[chosen].float() if weighs else None
                with torch.no_grad():
                    wanted = mean_judgement(teacher, there, seen, fallen, masks[chosen])
                for one in generator.permutation(len(there))[:IMAGES]:
                    loss = difference(judged(learner, there[one], seen, fallen), wanted, masks[chosen])
                    optimizer.zero_grad()
                    loss.backward()
                    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
                    optimizer.step()
                    losses.append(float(loss.detach()))
                positions += len(chosen)
        row = {"seconds": round(time.monotonic() - start, 1), "positions": positions}
        on_progress(used, row | {"loss": round(float(np.mean(losses)), 4)})
    return learner.cpu()


@checked
def main(
    game: Game,
    policy: str,
    *,
    minutes: float | None = None,
    steps: int | None = None,
    more_weight: float = 0.0,
    seed: int = 0,
    output: str | Path = "runs/images",
    device: str = "cpu",
    half: bool = False,
) -> Path:
    """Teach a checkpoint (a file, or a shipped policy's name) that images are alike; returns the new one's folder.

    `steps` are positions; without them and without `minutes` it takes MINUTES. `more_weight`, in nats, is added to what
    stands for the weight of a point of shortfall before its softplus. `half` stores the weights as float16.

    Raises CheckpointError for a checkpoint that is missing, damaged or does not say what it was trained for,
    ConfigError for a game without images, for a weight that is no number, and for one in a network that weighs nothing.
    """
    path = checkpoint_path(policy, game)
    network, notes = read_checkpoint(game, path)
    training = notes.get("training", {})
    configs = configs_of(game, training, path)
    if not math.isfinite(more_weight):
        raise ConfigError(f"more_weight={more_weight}: must be a finite number")
    if more_weight and not network.weighs:
        raise ConfigError(f"more_weight={more_weight:g}: {path.name} does not weigh shortfalls")
    budget = run_budget(Budget(minutes=MINUTES), steps, minutes)
    check_device(device)
    torch.set_num_threads(1)
    with Job(output) as job:
        write_log(job.folder / LOG, _COLUMNS, [])
        learned: dict[str, Any] = {"seed": seed, "device": device, "more_weight": more_weight}
        with torch_settings(Settings(threads=1)), job.bar("learning", 1.0) as bar:

            def show(fraction: float, row: dict[str, float]) -> None:
                learned.update(row)
                write_log(job.folder / LOG, _COLUMNS, [row], new=False)
                bar.show(f"{row['positions']:,} positions, loss {row['loss']:.3f}", fraction)

            network = learn_images(network, configs, budget, seed, device, job.should_stop, show)
        if more_weight:
            last: Any = network.policy[-1]
            with torch.no_grad():
                last.bias[-1] += more_weight
        save_network(game, network, job.folder / POLICY, {**training, "images": learned}, half)
    return job.folder
