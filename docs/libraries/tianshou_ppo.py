"""Tianshou: PPO with an actor that masks its logits."""

import os

import gymnasium
import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams as Params
from tianshou.utils.net.discrete import dist_fn_categorical_from_logits as chances

from tabletop_engine.envs import MaskInObservation

STEPS = int(os.environ.get("STEPS", 204_800))


def game():
    env = gymnasium.make("petrichor_env:Petrichor/Solo-v0", reward="margin", illegal_action="raise")
    return MaskInObservation(gymnasium.wrappers.TransformReward(env, lambda reward: reward / 10), "obs", "mask", bool)


class Network(torch.nn.Sequential):
    def forward(self, obs, state=None, info=None):
        out = super().forward(torch.as_tensor(obs.obs))  # the critic's values, or the actor's logits
        return out if out.shape[1] == 1 else (out.masked_fill(~torch.as_tensor(obs.mask), -1e8), state)


actor, critic = (Network(torch.nn.Linear(807, 128), torch.nn.Tanh(), torch.nn.Linear(128, n)) for n in (143, 1))
policy = ProbabilisticActorPolicy(actor=actor, dist_fn=chances, action_space=game().action_space, action_scaling=False)
ppo = PPO(policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0, gae_lambda=0.98)
collector = Collector(ppo, DummyVectorEnv([game] * 16), VectorReplayBuffer(8192, 16))
rollouts = {"epoch_num_steps": 8192, "collection_step_num_env_steps": 8192, "max_epochs": -(-STEPS // 8192)}
ppo.run_training(Params(training_collector=collector, batch_size=1024, update_step_num_repetitions=4, **rollouts))


def act(observations, masks):
    return policy(Batch(obs=Batch(obs=observations, mask=masks == 1), info=Batch())).logits.argmax(1).numpy()
