"""RLlib, self-play: a policy learns against a copy of itself, renewed every five iterations."""

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
OPTIONS = {"num_players": 2, "reward": "win", "illegal_action": "raise", "action_mask": "info"}
FORM = {"key": "observations", "dtype": "float32"}
register_env("petrichor", lambda _: PettingZooEnv(AgentMaskInObservation(petrichor_v0.env(**OPTIONS), **FORM)))


def who_plays(agent, episode, **_):  # the learner's seat changes from game to game
    return ("learner", "earlier")[(hash(episode.id_) + int(agent[-1])) % 2]


config = PPOConfig().environment("petrichor", disable_env_checking=True)  # the check plays any actions
config.env_runners(num_env_runners=0, num_envs_per_env_runner=16)
config.multi_agent(policies={"learner", "earlier"}, policies_to_train=["learner"], policy_mapping_fn=who_plays)
config.rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
config.training(lr=1e-3, gamma=1.0, lambda_=0.98, train_batch_size=8192, minibatch_size=1024, num_epochs=4)
algorithm = config.build_algo()
for iteration in range(-(-STEPS // 8192)):
    if iteration % 5 == 0:
        algorithm.set_weights({"earlier": algorithm.get_weights(["learner"])["learner"]})
    algorithm.train()


def act(observations, masks):
    seen = {"observations": torch.as_tensor(observations), "action_mask": torch.as_tensor(masks).float()}
    with torch.no_grad():
        return algorithm.get_module("learner").forward_inference({"obs": seen})["action_dist_inputs"].argmax(1).numpy()
