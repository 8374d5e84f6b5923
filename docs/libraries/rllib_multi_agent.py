"""RLlib, multi-agent: one policy learns from both seats of the game for two."""

import os

import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from petrichor_env import petrichor_v0
from tabletop_engine.envs.aec import AgentMaskInObservation

STEPS = int(os.environ.get("STEPS", 204_800))


def game(options):
    env = petrichor_v0.env(num_players=2, reward="win", illegal_action="raise", action_mask="info")
    return PettingZooEnv(AgentMaskInObservation(env, key="observations", dtype="float32"))


register_env("petrichor", game)
config = PPOConfig().environment("petrichor", disable_env_checking=True)  # the check plays any actions
config.env_runners(num_env_runners=0, num_envs_per_env_runner=16)
# policies={"player_0", "player_1"}, policy_mapping_fn=lambda agent, *_, **__: agent: one for each seat
config.multi_agent(policies={"every_seat"}, policy_mapping_fn=lambda *_, **__: "every_seat")
config.rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
config.training(lr=1e-3, gamma=1.0, lambda_=0.98, train_batch_size=8192, minibatch_size=1024, num_epochs=4)
algorithm = config.build_algo()
for _ in range(-(-STEPS // 8192)):
    algorithm.train()
module = algorithm.get_module("every_seat")


def act(observations, masks):
    seen = {"observations": torch.as_tensor(observations), "action_mask": torch.as_tensor(masks).float()}
    with torch.no_grad():
        return module.forward_inference({"obs": seen})["action_dist_inputs"].argmax(1).numpy()
