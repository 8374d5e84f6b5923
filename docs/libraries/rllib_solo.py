"""RLlib: PPO on the solo game, with RLlib's masking module."""

import os

import gymnasium
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from tabletop_engine.envs import MaskInObservation

STEPS = int(os.environ.get("STEPS", 204_800))


def game(options):
    env = gymnasium.make("petrichor_env:Petrichor/Solo-v0", reward="margin", illegal_action="raise")
    env = gymnasium.wrappers.TransformReward(env, lambda reward: reward / 10)  # margins are tens of points
    return MaskInObservation(env, key="observations", dtype="float32")


register_env("petrichor", game)
config = PPOConfig().environment("petrichor").env_runners(num_env_runners=0, num_envs_per_env_runner=16)
config.rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
config.training(
    lr=1e-3, gamma=1.0, lambda_=0.98, entropy_coeff=0.01, train_batch_size=8192, minibatch_size=1024, num_epochs=4
)
algorithm = config.build_algo()
for _ in range(-(-STEPS // 8192)):
    algorithm.train()
module = algorithm.get_module()


def act(observations, masks):
    seen = {"observations": torch.as_tensor(observations), "action_mask": torch.as_tensor(masks).float()}
    with torch.no_grad():
        return module.forward_inference({"obs": seen})["action_dist_inputs"].argmax(1).numpy()
