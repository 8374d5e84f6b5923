"""Games as environments: one seat of one or many games for Gymnasium, all seats for PettingZoo."""

from tabletop.envs.masks import MaskInObservation, VectorMaskInObservation
from tabletop.envs.single import SeatEnv
from tabletop.envs.vector import SeatVectorEnv

__all__ = ["MaskInObservation", "SeatEnv", "SeatVectorEnv", "VectorMaskInObservation"]
