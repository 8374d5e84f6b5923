"""A plain PyTorch loop: REINFORCE with a learned baseline on the batch, without a learning library.

    python -m tabletop_training.petrichor.examples.pytorch_loop --steps 300000

It plays some solo games to the end, side by side. Then it makes every action likelier that was followed by more points
than expected, and starts again. The command above takes less than a minute on one core, and the trained network wins
about 60 % of its games.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import torch
import typer
from torch import nn
from torch.distributions import Categorical

from petrichor_env import Batch, Config
from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.observation import OBSERVATION_SIZE

GAMES = 16  # played side by side before each step of the optimizer


def masked_policy(logits: torch.Tensor, masks: np.ndarray) -> Categorical:
    """The distribution over the legal actions: all others get probability 0."""
    return Categorical(logits=torch.where(torch.as_tensor(masks) == 1, logits, -1e8))


def play(batch: Batch, network: nn.Module, seed: int | None = None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Play all games of the batch from the beginning to the end.

    Returns, for all decisions together: the log-probabilities of the actions, the values that the network expected, and
    how much the margin really changed from there to the end.
    """
    batch.reset(seed)
    log_probs, values, rewards, games = [], [], [], []
    while len(playing := np.flatnonzero(batch.actors == 0)):
        output = network(torch.as_tensor(batch.observations[playing]))
        policy = masked_policy(output[:, 1:], batch.action_masks[playing])
        chosen = policy.sample()
        actions, which = np.zeros(len(batch.actors), np.int64), np.zeros(len(batch.actors), bool)
        actions[playing], which[playing] = chosen.numpy(), True
        batch.step(actions, which)
        log_probs.append(policy.log_prob(chosen))
        values.append(output[:, 0])
        rewards.append(batch.rewards[playing, 0])
        games.append(playing)
    to_come = np.zeros(len(batch.actors))
    returns = []
    for reward, playing in zip(reversed(rewards), reversed(games), strict=True):
        to_come[playing] += reward
        returns.append(torch.as_tensor(to_come[playing], dtype=torch.float32))
    return torch.cat(log_probs), torch.cat(values), torch.cat(returns[::-1])


def main(
    steps: int = 300_000,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    games: Annotated[int, typer.Option(min=1, help="To evaluate with.")] = 1000,
) -> float:
    """Learn from about this many decisions. Returns the win rate, with actions sampled from the policy."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # more threads are slower with a small network
    batch = Batch(Config(), GAMES, seed, reward="margin", autoreset="disabled")
    network = nn.Sequential(nn.Linear(OBSERVATION_SIZE, 128), nn.ReLU(), nn.Linear(128, 1 + NUM_ACTIONS))
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)

    done = 0
    margins: list[float] = []
    while done < steps:
        log_probs, values, returns = play(batch, network)
        returns /= 10  # to the order of 1
        advantages = returns - values.detach()
        advantages /= advantages.std()
        loss = (values - returns).square().mean() - (advantages * log_probs).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        done += len(returns)
        points = batch.states["points"].astype(int)
        margins += (points[:, 0] - points[:, 1]).tolist()
        if len(margins) >= 500 or done >= steps:
            print(f"{done:>9,} decisions, mean margin of the last {len(margins)} games {np.mean(margins):+.1f}")
            margins.clear()

    fresh = Batch(Config(), games, reward="margin", autoreset="disabled")
    with torch.no_grad():
        play(fresh, network, seed=1_000_000)
    rate = float(fresh.winners(fresh.states)[:, 0].mean())
    print(f"won {rate:.1%} of {games:,} games; random play wins 1.7 %")
    return rate


if __name__ == "__main__":
    typer.run(main)
