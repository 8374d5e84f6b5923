"""Games as environments: a seat of one game or of many for Gymnasium, and all seats for PettingZoo."""

from tabletop.envs.masks import MaskInObservation, VectorMaskInObservation
from tabletop.envs.single import SeatEnv
from tabletop.envs.vector import SeatVectorEnv

__all__ = ["MaskInObservation", "SeatEnv", "SeatVectorEnv", "VectorMaskInObservation"]
