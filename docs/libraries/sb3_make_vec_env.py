"""Stable-Baselines3: MaskablePPO on eight single environments, made by its make_vec_env."""

import os

from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize

STEPS = int(os.environ.get("STEPS", 204_800))

envs = make_vec_env(
    "petrichor_env:Petrichor/Solo-v0",
    n_envs=8,
    seed=0,
    env_kwargs={"reward": "margin", "illegal_action": "raise"},
)
model = MaskablePPO(  # asks each environment for its action_masks()
    "MlpPolicy",
    VecNormalize(envs, norm_obs=False, gamma=1.0),  # margins are tens of points
    n_steps=1024,
    batch_size=1024,
    n_epochs=4,
    learning_rate=1e-3,
    gamma=1.0,
    gae_lambda=0.98,
    ent_coef=0.01,
    seed=0,
)
model.learn(STEPS)


def act(observations, masks):
    return model.predict(observations, action_masks=masks, deterministic=True)[0]
