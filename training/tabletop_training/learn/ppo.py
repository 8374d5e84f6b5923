"""PPO (Schulman and others 2017) for games in which the decisions of several seats alternate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from tabletop_agents.networks import Network, new_convolutions, new_heads, new_layers
from tabletop_agents.search.forward import MARGIN_UNIT
from tabletop_engine.game import Game
from tabletop_training.files.settings import Settings
from tabletop_training.learn.group import ALONE, Group
from tabletop_training.learn.outcomes import heads_loss, outcome_targets

_NEVER = -1e30
"""The logit of an illegal action: below those of any network, even one that diverges."""

_ROUNDED = 128
"""Sizes of large minibatches are multiples of this."""


class Rollout(NamedTuple):
    """T steps of N games, on the device; P seats, D numbers in an observation, A actions.

    `shortfalls` have an empty last axis if no network needs them.
    """

    observations: torch.Tensor  # (T, N, D) int8, counts
    editions: torch.Tensor  # (T, N) int64, the edition that a game is played with
    masks: torch.Tensor  # (T, N, A) bool
    shortfalls: torch.Tensor  # (T, N, A) float16, in points; or (T, N, 0)
    actions: torch.Tensor  # (T, N) int64
    log_probabilities: torch.Tensor  # (T, N)
    values: torch.Tensor  # (T, N)
    actors: torch.Tensor  # (T, N) int64
    deciding: torch.Tensor  # (T, N) bool: the learner was asked, and had a choice
    rewards: torch.Tensor  # (T, N, P)
    dones: torch.Tensor  # (T, N) bool
    outputs: torch.Tensor  # (T, N, 2K), of the win and margin heads
    won: torch.Tensor  # (T, N, P), by team the shares of the win in games that ended then
    margins: torch.Tensor  # (T, N, P), the same games' margins in points
    teams: torch.Tensor  # (N, P) int64, the team of each seat (`Game.teams`), 0 for seats that a game does not have


def new_network(game: Game, settings: Settings) -> Network:
    """A new network with the channels, trunk and layers of the settings. It draws from torch's global generator.

    Raises ConfigError for channels in a game whose observation has no board.
    """
    inputs = game.observation.size + (game.numbers.size if settings.numbers else 0)
    convolutions: Any = new_convolutions(game.observation, settings.channels, inputs) if settings.channels else ()
    trunk = [convolutions[-2].out_features if convolutions else inputs, *settings.trunk]
    network = Network(
        nn.Sequential(*convolutions, *new_layers(trunk)),
        new_layers([trunk[-1], *settings.layers, game.num_actions], 0.01),
        new_layers([trunk[-1], *settings.layers, 1], 1.0),
    )
    network.win_margin_heads = new_heads(network, game.players[-1])
    return network


def masked_logits(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """(N, A) float32 logits; -1e30 where the masks (bool) are False."""
    return torch.where(masks, logits.float(), _NEVER)


def masked_log_probabilities(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """(N, A) float32 log-probabilities; about -1e30 for what is not legal."""
    return functional.log_softmax(masked_logits(logits, masks), dim=1)


def drawn(log_probabilities: torch.Tensor) -> torch.Tensor:
    """(N,) int64 actions, drawn from torch's generator of the device."""
    sums = functional.softmax(log_probabilities, dim=1).double().cumsum(dim=1)
    point = torch.rand(len(sums), 1, dtype=torch.float64, device=sums.device) * sums[:, -1:]
    return (sums <= point).sum(dim=1)  # illegal actions add nothing to the sums, so the count skips them


@torch.no_grad()
def advantages(rollout: Rollout, discount: float, gae_lambda: float) -> tuple[torch.Tensor, torch.Tensor]:
    """PPO's generalized advantages (T, N), each along the decisions of one seat, and which of them are known, (T, N).

    A seat's rewards between two of its decisions belong to the first one. What follows its last decision in the rollout
    is unknown, unless the game ended. That decision's value stands for the rest, and it is not learned from.
    """
    steps, games = rollout.values.shape
    device = rollout.values.device
    result = torch.zeros(steps, games, device=device)
    known = torch.zeros(steps, games, dtype=torch.bool, device=device)
    value, advantage, pending = torch.zeros(3, games, rollout.rewards.shape[2], device=device)
    sure = torch.zeros_like(value, dtype=torch.bool)
    for t in range(steps - 1, -1, -1):
        over = rollout.dones[t][:, None]
        for array in (value, advantage, pending):
            array.masked_fill_(over, 0.0)
        sure |= over
        pending += rollout.rewards[t]
        seat, deciding = rollout.actors[t][:, None], rollout.deciding[t][:, None]
        here = rollout.values[t][:, None]
        following, later, gained, certain = (x.gather(1, seat) for x in (value, advantage, pending, sure))
        new = gained + discount * following - here + discount * gae_lambda * later
        new = torch.where(certain, new, 0.0)
        result[t], known[t] = new[:, 0], (certain & deciding)[:, 0]
        value.scatter_(1, seat, torch.where(deciding, here, following))
        advantage.scatter_(1, seat, torch.where(deciding, new, later))
        pending.scatter_(1, seat, torch.where(deciding, 0.0, gained))
        sure.scatter_(1, seat, deciding | certain)
    return result, known


def shuffled(rows: torch.Tensor, parts: int) -> tuple[torch.Tensor, ...]:
    """The rows (n,) in a random order, in parts of sizes as equal as possible.

    Large parts are cut down to a multiple of `_ROUNDED` rows: on processors PyTorch compiles code for every size that
    it meets, and keeps it. The rows that one epoch leaves out, fewer than `_ROUNDED` a part, are in the next one.
    """
    mixed = rows[torch.randperm(len(rows), device=rows.device)]
    size = len(rows) // parts
    if size < 8 * _ROUNDED:
        return mixed.tensor_split(parts)
    size -= size % _ROUNDED
    return mixed[: parts * size].split(size)


class Losses(NamedTuple):
    """Means of an update over the learner's decisions, in nats where it applies."""

    entropy: float
    kl: float
    clipped: float
    value_loss: float
    heads_loss: float
    explained_variance: float


def update(
    network: Network,
    optimizer: torch.optim.Optimizer,
    rollout: Rollout,
    inputs: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    settings: Settings,
    entropy_weight: float,
    group: Group = ALONE,
) -> Losses:
    """PPO's epochs on one rollout, as `settings` say. `inputs` makes the network's inputs from counts and editions.

    In a group every process learns from its own rollout, and the gradients of each minibatch are averaged. A minibatch
    has about `settings.minibatch` decisions of all processes together.
    """
    advantage, known = advantages(rollout, settings.discount, settings.gae_lambda)
    rows = known.reshape(-1).nonzero()[:, 0]
    flat: dict[str, torch.Tensor] = {
        name: getattr(rollout, name).flatten(0, 1)
        for name in ("observations", "editions", "shortfalls", "actions", "log_probabilities", "values")
    }
    teams, ends = rollout.teams.max(dim=1).values + 1, (rollout.won, rollout.margins / MARGIN_UNIT)
    acting = rollout.teams.expand(len(rollout.actors), -1, -1).gather(2, rollout.actors[..., None])[..., 0]
    won, ahead = outcome_targets(rollout.outputs, *ends, rollout.dones, acting, teams)
    teams = teams.expand_as(rollout.actors).reshape(-1)
    flat |= {"won": won.flatten(0, 1), "margins": ahead.flatten(0, 1), "teams": teams}
    # Adding 0 or -1e30 costs a fraction of `torch.where`, whose gradient is another one.
    penalties = masked_logits(rollout.values.new_zeros(1), rollout.masks.flatten(0, 1))
    advantage = advantage.reshape(-1)
    returns = advantage + flat["values"]
    sums = torch.zeros(5, device=returns.device)
    learning = group.averaging(network)
    decisions = group.shared(len(rows))
    # Equally many for every process, and at least two decisions in each, so that their advantages have a spread.
    minibatches = min(-(-sum(decisions) // settings.minibatch), min(decisions) // 2)
    for _ in range(settings.epochs if minibatches else 0):
        for chosen in shuffled(rows, minibatches):
            # index_select copies whole rows, several times as fast as an index in brackets
            own = {name: array.index_select(0, chosen) for name, array in flat.items()}
            seen = inputs(own["observations"], own["editions"])[:, : network.inputs]
            logits, values, outputs = learning(seen, own["shortfalls"].float())
            logits = logits.float() + penalties.index_select(0, chosen)
            log_probabilities = functional.log_softmax(logits, dim=1)
            # softmax is several times as fast as exp, which is slow at the logarithms of what is not legal
            entropy = -(functional.softmax(logits, dim=1) * log_probabilities).sum(dim=1).mean()
            taken = log_probabilities.gather(1, own["actions"][:, None])[:, 0]
            difference = taken - own["log_probabilities"]
            ratio = difference.exp()
            better = advantage[chosen]
            better = (better - better.mean()) / (better.std() + 1e-8)
            bounded = ratio.clamp(1 - settings.clip, 1 + settings.clip)
            policy_loss = -torch.minimum(better * ratio, better * bounded).mean()
            value_loss = functional.mse_loss(values, returns[chosen])
            outcome_loss = heads_loss(outputs, own)
            loss = policy_loss + settings.value_weight * value_loss - entropy_weight * entropy + outcome_loss
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            for group_of_parameters in optimizer.param_groups:
                nn.utils.clip_grad_norm_(group_of_parameters["params"], settings.max_gradient)
            optimizer.step()
            with torch.no_grad():
                clipped = ((ratio - 1).abs() > settings.clip).float().mean()
                sums += torch.stack([entropy, ((ratio - 1) - difference).mean(), clipped, value_loss, outcome_loss])
    means = (sums / max(1, settings.epochs * minibatches)).tolist()
    aims = returns[rows]
    explained = 1.0 - float((aims - flat["values"][rows]).var() / (aims.var() + 1e-8)) if len(rows) > 1 else 0.0
    return Losses(*np.mean(group.shared((*means, explained)), axis=0).tolist())
