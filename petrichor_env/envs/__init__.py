"""The games as Gymnasium environments: one game, and a native batch of games."""

from petrichor_env.envs.solo import SoloEnv
from petrichor_env.envs.solo_vector import SoloVectorEnv

__all__ = ["SoloEnv", "SoloVectorEnv"]
