"""The rule text, chapter by chapter, on one record of `state.STATE`, compiled by Numba.

Nothing here depends on Gymnasium, PettingZoo or torch. `s` is always the game's record, `t` the printed numbers.
"""

from evergreen_env.rules.game_flow import forfeit, legal, reset, step
from evergreen_env.rules.hidden import sample_hidden
from evergreen_env.rules.seasons import ranks

__all__ = ["forfeit", "legal", "ranks", "reset", "sample_hidden", "step"]
