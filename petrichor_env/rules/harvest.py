"""Phase 3: the Harvest, and what it takes off the Fields."""

from __future__ import annotations

from petrichor_env.rules.flower_tiles import close_snowdrop, end_harvest_of_flowers, take_pods_back
from petrichor_env.rules.forecasts import continue_forecasts, forget_harvest, lower_cloud_drops, raise_cloud_drops
from petrichor_env.rules.powers import continue_keeping_drops, start_keeping_drops
from petrichor_env.rules.scoring import end_game, score_tile
from petrichor_env.rules.weather import is_final_round
from petrichor_env.state import HARVEST, NUM_TILES, Growing, Module, Phase, State, Timing
from petrichor_env.tables import Tables
from tabletop_engine.compiling.compiled import rule


@rule
def is_harvest(s: State) -> bool:
    """In the final round, with all three dice on Harvest, or in solo with an empty supply of the neutral player."""
    if is_final_round(s) or (s.players == 1 and s.supply[1] == 0):
        return True
    for die in range(3):
        if s.dice[die] != HARVEST:
            return False
    return True


@rule
def continue_harvest_phase(s: State, t: Tables) -> bool:
    """The Harvest, if there is one; then the next round or the end of the game."""
    if is_harvest(s):  # kept, so that effects of the Harvest don't end it
        s.harvested = 1
    if s.harvested == 1 and continue_harvest(s, t):
        return True
    s.timing = Timing.ACTION_PHASE
    s.timing_index = 0
    if is_final_round(s):
        end_game(s, t)
    else:
        s.phase = Phase.CLEANUP
    return False


@rule
def continue_harvest(s: State, t: Tables) -> bool:
    """Score and clear the tiles; forecast cards are played before and after."""
    if s.timing < Timing.SCORED:
        if continue_forecasts(s, t, Timing.BEFORE_HARVEST):
            return True
        harvest_tiles(s, t)
        s.timing = Timing.SCORED
        s.timing_index = 0
        start_keeping_drops(s)
    if s.timing == Timing.SCORED and continue_keeping_drops(s):
        return True
    if continue_forecasts(s, t, Timing.AFTER_HARVEST):
        return True
    end_harvest_of_flowers(s, t)
    forget_harvest(s)
    return False


@rule
def harvest_tiles(s: State, t: Tables) -> None:
    """Score and clear every tile that has grown."""
    for tile in range(NUM_TILES):
        lower_cloud_drops(s, t, tile)
        grows = s.growing[tile] != Growing.NONE
        if grows:
            score_tile(s, t, tile)
            remember_drops(s, tile)
        raise_cloud_drops(s, tile)
        if grows:
            clear_tile(s, tile)
    close_snowdrop(s)
    take_pods_back(s)


@rule
def remember_drops(s: State, tile: int) -> None:
    """Keep the drops of a scored tile for the powers and forecast cards that come after scoring."""
    if s.modules[Module.POWERS] == 1 or s.modules[Module.FORECASTS] == 1:
        for owner in range(s.owners):
            s.scored_drops[tile, owner] = s.drops[tile, owner]


@rule
def clear_tile(s: State, tile: int) -> None:
    """The drops go back to their owners, the growing token to the supply."""
    s.growing[tile] = Growing.NONE
    for owner in range(s.owners):
        s.supply[owner] += s.drops[tile, owner]
        s.drops[tile, owner] = 0
