"""Scoring of harvested tiles (Phase 3) and Game End & Victory."""

from __future__ import annotations

import numpy as np

from petrichor_env.rules.flower_tiles import dandelion_points
from petrichor_env.rules.points import gain, place, players_present
from petrichor_env.state import Crop, Decision, Growing, Phase, Source, State
from petrichor_env.tables import Tables
from tabletop_engine.compiling.compiled import rule


@rule
def tile_points(s: State, t: Tables, tile: int, seat: int, growing: int) -> int:
    """The points of this player for a harvest of this tile, with the growing token on that side."""
    own = int(s.drops[tile, seat])
    if own == 0:
        return 0
    crop = int(s.crop[tile])
    column = place(s, tile, seat) - 1
    if crop == Crop.CORN:
        column = players_present(s, tile) - 1
    points = int(t.scores[crop, growing - 1, column])
    if crop == Crop.RICE:
        if growing == Growing.SPROUTING:
            return 0  # nobody scores, Fertilizer or not
        points *= own
    elif crop == Crop.DANDELION:
        points = dandelion_points(s, column + 1)
    return max(0, points + int(s.fertilizer[tile]) - int(s.pods[tile]))


@rule
def score_tile(s: State, t: Tables, tile: int) -> None:
    """Give everybody the points of a harvested tile, and Wheat tokens."""
    growing = int(s.growing[tile])
    for seat in range(s.owners):
        gain(s, seat, tile_points(s, t, tile, seat, growing), int(s.crop[tile]))
        # the first on Wheat takes a token, but not if tied for first
        if s.crop[tile] == Crop.WHEAT and s.drops[tile, seat] > 0 and place(s, tile, seat) == 1:
            s.wheat_tokens[seat] += 1


@rule
def voting_wins_points(s: State, t: Tables, seat: int) -> int:
    """Points of this player on the Voting Wins track."""
    return int(t.voting_wins[min(int(s.voting_wins[seat]), t.voting_wins.shape[0] - 1)])


@rule
def has_most_wheat(s: State, seat: int) -> bool:
    """Whether nobody has more Wheat tokens; a player without any has not the most."""
    if s.wheat_tokens[seat] == 0:
        return False
    for other in range(s.owners):
        if s.wheat_tokens[other] > s.wheat_tokens[seat]:
            return False
    return True


@rule
def end_game(s: State, t: Tables) -> None:
    """Points for Voting Wins and for the most Wheat tokens."""
    for seat in range(s.owners):
        gain(s, seat, voting_wins_points(s, t, seat), Source.VOTING_WINS)
        if has_most_wheat(s, seat):
            gain(s, seat, t.wheat_bonus, Source.WHEAT_TOKENS)
    s.phase = Phase.OVER
    s.decision = Decision.GAME_OVER


@rule
def is_ahead(s: State, seat: int, other: int) -> bool:
    """Whether a finished game puts one owner before another (Game End): by points, then by Voting Wins.

    In solo the player needs more points than the neutral player.
    """
    if s.players == 1:
        return (s.points[0] > s.points[1]) == (seat == 0)
    if s.points[seat] != s.points[other]:
        return bool(s.points[seat] > s.points[other])
    return bool(s.voting_wins[seat] > s.voting_wins[other])


@rule
def ranks(s: State, out: np.ndarray) -> None:
    """Write each owner's place in a finished game into `out`, int8: 1, and one more for everyone ahead."""
    for seat in range(s.owners):
        out[seat] = 1
        for other in range(s.owners):
            if other != seat and is_ahead(s, other, seat):
                out[seat] += 1
