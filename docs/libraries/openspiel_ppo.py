"""OpenSpiel: its PPO on its own environments, which sample the chance nodes."""

import os

import torch
from open_spiel.python.pytorch.ppo import PPO, PPOAgent
from open_spiel.python.rl_environment import Environment
from open_spiel.python.vector_env import SyncVectorEnv

import petrichor_env.openspiel

STEPS = int(os.environ.get("STEPS", 204_800))
NUM_ENVS, LENGTH = 16, 256

envs = SyncVectorEnv([Environment(petrichor_env.openspiel.NAME, players=1, reward="margin") for _ in range(NUM_ENVS)])
torch.manual_seed(0)
agent = PPO(
    (envs.observation_spec()["info_state"][0],),
    num_actions=envs.envs[0].action_spec()["num_actions"],
    num_players=1,
    num_envs=NUM_ENVS,
    steps_per_batch=LENGTH,
    learning_rate=1e-3,
    gamma=1.0,
    gae_lambda=0.98,
    agent_fn=PPOAgent,
)
steps = envs.reset()
for _ in range(-(-STEPS // (NUM_ENVS * LENGTH))):
    for _ in range(LENGTH):  # an illegal action would be an error
        steps, rewards, ended, _ = envs.step(agent.step(steps), reset_if_done=True)
        agent.post_step([[0.1 * reward for reward in one] for one in rewards], ended)
    agent.learn(steps)


def act(observations, masks):
    logits = agent.network.actor(torch.as_tensor(observations))
    return logits.masked_fill(torch.as_tensor(masks) == 0, -1e8).argmax(1).numpy()
