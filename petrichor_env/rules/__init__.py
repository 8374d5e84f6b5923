"""The rulebook, chapter by chapter, on one record of `state.STATE`, compiled by Numba.

Nothing here depends on Gymnasium, PettingZoo or torch. `s` is always the game's record, `t` the printed numbers.
"""

from petrichor_env.rules.game_flow import forfeit, legal, reset, step
from petrichor_env.rules.hidden import sample_hidden
from petrichor_env.rules.scoring import ranks

__all__ = ["forfeit", "legal", "ranks", "reset", "sample_hidden", "step"]
