"""Minari: a data set of greedy's games, and a network that learns to act like greedy."""

import os
import tempfile

import numpy as np
import torch
from minari import MinariDataset

from petrichor_env import GAME, Config
from tabletop_agents import make_agent
from tabletop_training import dataset

STEPS = int(os.environ.get("STEPS", 204_800))
# greedy decides 70 times a game; as a command: petrichor dataset greedy --games 3000 --observation-dtype float32
options = {"games": -(-STEPS // 70), "observation_dtype": "float32", "output": tempfile.mkdtemp()}
episodes = list(MinariDataset(dataset.main([make_agent("greedy", GAME)], Config(), **options)))
# an episode has one observation more than actions: the last one
observations = np.concatenate([one.observations["observation"][:-1] for one in episodes])
masks = np.concatenate([one.observations["action_mask"][:-1] for one in episodes])
actions = torch.as_tensor(np.concatenate([one.actions for one in episodes]))

torch.manual_seed(0)
network = torch.nn.Sequential(torch.nn.Linear(807, 256), torch.nn.ReLU(), torch.nn.Linear(256, 143))
optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)


def logits(observations, masks):
    return network(torch.as_tensor(observations)).masked_fill(torch.as_tensor(masks) == 0, -1e8)


for rows in torch.cat([torch.randperm(len(actions)) for _ in range(5)]).split(1024):
    loss = torch.nn.functional.cross_entropy(logits(observations[rows], masks[rows]), actions[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def act(observations, masks):
    return logits(observations, masks).argmax(1).numpy()
