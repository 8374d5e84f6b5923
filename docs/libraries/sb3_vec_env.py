"""Stable-Baselines3: MaskablePPO on the native VecEnv, 64 games in one process."""

import os

from sb3_contrib import MaskablePPO

from petrichor_env import GAME, Config
from tabletop_agents.checkpoint import save_checkpoint
from tabletop_engine.play.learner_games import learner_games
from tabletop_training.learn.vec_env import SeatsVecEnv

STEPS = int(os.environ.get("STEPS", 204_800))

# for the game for two against greedy: learner_games(Config(players=2), 64, ("greedy",), …)
games = learner_games(Config(), 64, reward="margin", illegal_action="raise", new_observations=True)
model = MaskablePPO(
    "MlpPolicy",
    SeatsVecEnv(games, reward_scale=0.1),
    n_steps=128,
    batch_size=1024,
    n_epochs=4,
    learning_rate=1e-3,
    gamma=1.0,
    gae_lambda=0.98,
    ent_coef=0.01,
    seed=0,
)
model.learn(STEPS)
save_checkpoint(GAME, model, "runs/sb3.zip")  # an agent for every command: policy:runs/sb3.zip


def act(observations, masks):
    return model.predict(observations, action_masks=masks, deterministic=True)[0]
