"""Phase 3: whether there is a Harvest, and what it takes off the Fields."""

from __future__ import annotations

from petrichor_env.compiled import rule
from petrichor_env.rules.scoring import end_game, score_tile
from petrichor_env.rules.weather import is_final_round
from petrichor_env.state import HARVEST, NUM_TILES, Growing, Phase, State

_NONE = int(Growing.NONE)
_CLEANUP = int(Phase.CLEANUP)


@rule
def is_harvest(s: State) -> bool:
    """In the final round, with all three dice on Harvest, and in solo when the neutral player's supply is empty."""
    if is_final_round(s) or (s.players == 1 and s.supply[1] == 0):
        return True
    for die in range(3):
        if s.dice[die] != HARVEST:
            return False
    return True


@rule
def harvest_phase(s: State, t: State) -> None:
    if is_harvest(s):
        s.harvested = 1
        for tile in range(NUM_TILES):
            if s.growing[tile] != _NONE:
                score_tile(s, t, tile)
                clear_tile(s, tile)
    if is_final_round(s):
        end_game(s, t)
    else:
        s.phase = _CLEANUP


@rule
def clear_tile(s: State, tile: int) -> None:
    """The drops go back to their owners, the growing token to the supply."""
    s.growing[tile] = _NONE
    for owner in range(s.owners):
        s.supply[owner] += s.drops[tile, owner]
        s.drops[tile, owner] = 0
