"""AgileRL: PPO on the native vector environment. The masks are in its infos."""

import os

import gymnasium
from agilerl.algorithms import PPO
from agilerl.rollouts import collect_rollouts
from gymnasium.wrappers.vector import TransformReward

STEPS = int(os.environ.get("STEPS", 204_800))
OPTIONS = {"reward": "margin", "illegal_action": "raise", "autoreset_mode": "SAME_STEP"}

envs = gymnasium.make_vec("petrichor_env:Petrichor/Solo-v0", num_envs=64, **OPTIONS)
envs = TransformReward(envs, lambda rewards: rewards / 10)  # margins are tens of points
agent = PPO(
    envs.single_observation_space,
    envs.single_action_space,
    num_envs=64,
    use_rollout_buffer=True,
    learn_step=8192,
    batch_size=1024,
    update_epochs=4,
    lr=1e-3,
    gamma=1.0,
    gae_lambda=0.98,
)
state = {}
for _ in range(-(-STEPS // 8192)):
    names = ("last_obs", "last_done", "last_scores", "last_info")
    state = dict(zip(names, collect_rollouts(agent, envs, **state)[1:], strict=True))
    agent.learn()


def act(observations, masks):
    agent.get_action(observations, action_mask=masks)  # it samples; the likeliest is below
    return agent.actor.head_net.dist.logits.argmax(1).numpy()
