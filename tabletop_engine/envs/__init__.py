"""Games as environments: one seat of one or many games for Gymnasium, all seats for PettingZoo."""

from tabletop_engine.envs.masks import MaskInObservation, VectorMaskInObservation
from tabletop_engine.envs.single import SeatEnv
from tabletop_engine.envs.vector import SeatVectorEnv

__all__ = ["MaskInObservation", "SeatEnv", "SeatVectorEnv", "VectorMaskInObservation"]
