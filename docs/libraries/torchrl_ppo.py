"""TorchRL: PPO on the native vector environment, with a bool mask beside the observation."""

import os

import gymnasium
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper, RewardScaling, TransformedEnv
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss, ValueEstimators

from tabletop_engine.envs import VectorMaskInObservation

STEPS = int(os.environ.get("STEPS", 204_800))
OPTIONS = {"reward": "margin", "illegal_action": "raise", "autoreset_mode": "DISABLED"}
torch.manual_seed(0)
games = gymnasium.make_vec("petrichor_env:Petrichor/Solo-v0", num_envs=64, **OPTIONS)
env = GymWrapper(VectorMaskInObservation(games, dtype=bool), categorical_action_encoding=True)
module = TensorDictModule(MLP(807, 143, num_cells=(128, 128)), ["observation"], ["logits"])
keys = {"logits": "logits", "mask": "action_mask"}
actor = ProbabilisticActor(module, keys, distribution_class=MaskedCategorical, return_log_prob=True)
critic = ValueOperator(MLP(807, 1, num_cells=(128, 128)))
loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, normalize_advantage=True)
loss.make_value_estimator(ValueEstimators.GAE, gamma=1.0, lmbda=0.98)
optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
env = TransformedEnv(env, RewardScaling(loc=0, scale=0.1))
for data in Collector(env, actor, frames_per_batch=8192, total_frames=STEPS):
    loss.value_estimator(data)
    for rows in torch.cat([torch.randperm(8192) for _ in range(4)]).split(1024):
        losses = loss(data.reshape(-1)[rows])
        optimizer.zero_grad()
        (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
        optimizer.step()


def act(observations, masks):
    return actor.get_dist(TensorDict(observation=observations, action_mask=masks == 1)).mode.numpy()
