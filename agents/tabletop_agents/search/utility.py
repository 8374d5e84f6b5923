"""The utility of a player's expected margin, between 0 and 1: roughly a chance to win."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tabletop_agents.search.one_turn import Walk
from tabletop_engine.compiling.compiled import kernel_template, rule_template, rules
from tabletop_engine.editions import edition_of
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.kernels import write_places
from tabletop_engine.record import NOBODY

SETTINGS = np.dtype(
    [
        ("scale", np.float64),  # points of margin that make a difference, at the end of the game
        ("scale_a_round", np.float64),  # how much larger it is for every round to come
        ("win", np.float64),  # weight of the win in a finished game's utility; the rest is the margin's
        ("exploration", np.float64),  # of the upper confidence bound
        ("below", np.float64),  # the share of it that is left after the first decision
        ("prior_visits", np.float64),  # how many visits the first look at an action is worth
        ("max_nodes", np.int64),  # positions that the one-turn walk looks at for a prior
        ("rounds", np.int64),  # rounds that a playout goes on to the end of; 0: it only finishes the action
        ("playout_nodes", np.int64),  # positions that the one-turn walk looks at for a decision of a playout
    ]
)
"""The parameters of the searches."""
_NEAR_0 = 1e-9


@rule_template
def par(s: Any, t: Any, w: Any, memo: np.ndarray) -> float:
    """The margin that counts as even: where all have one result the value of the root of the search, otherwise 0."""
    return rules.value(s, t, w, 0, memo) if s.owners == 1 else 0.0


@kernel_template
def pars(roots: np.ndarray, tables: np.ndarray, walk: Walk, out: np.ndarray) -> None:
    """Write the `par` of each of the roots (N,) into `out` (N,)."""
    for i in range(roots.shape[0]):
        out[i] = par(roots[i], tables[edition_of(roots[i], tables)], walk.weights[0], walk.memo)


@rule_template
def expected_utility(s: Any, p: Any, margin: float) -> float:
    """The utility of a margin that is expected while the game goes on."""
    return 1.0 / (1.0 + math.exp(-margin / (p.scale + p.scale_a_round * (s.rounds - s.round))))


@rule_template
def utility(s: Any, p: Any, owner: int, margin: float) -> float:
    """`margin` is what `rules.value` says of this position for the owner, `p` a record of SETTINGS."""
    if s.actor != NOBODY:
        return expected_utility(s, p, margin)
    wins = np.zeros(s.points.shape[0])
    write_win_shares(s, wins)
    return p.win * wins[owner] + (1.0 - p.win) / (1.0 + math.exp(-margin / p.scale))


@rule_template
def count_teams(s: Any) -> int:
    """The number of teams; where everybody plays alone, of players."""
    teams = 0
    for seat in range(s.players):
        teams = max(teams, rules.team(s, seat) + 1)
    return teams


@rule_template
def write_win_shares(s: Any, wins: np.ndarray) -> None:
    """Write each owner's share of the win in a finished game into `wins` (K,)."""
    places = np.zeros(s.points.shape[0], np.int8)
    write_places(s, places)
    winners = 0
    for owner in range(s.owners):
        winners += places[owner] == 1
    for owner in range(s.owners):
        wins[owner] = 1.0 / winners if places[owner] == 1 else 0.0


def points_expected(utilities: np.ndarray, settings: np.ndarray) -> np.ndarray | None:
    """The margins that mean utilities stand for; None if utilities are not margins alone, all squeezed alike.

    Squeezing makes far leads count less, so the margin of a mean utility is nearer to the middle than the mean margin.
    """
    if settings["win"][0] != 0 or settings["scale_a_round"][0] != 0:
        return None
    inside = np.clip(utilities, _NEAR_0, 1.0 - _NEAR_0)
    return np.asarray(settings["scale"][0] * np.log(inside / (1.0 - inside)))


def settings_record(settings: Mapping[str, float]) -> np.ndarray:
    """(1,) SETTINGS of these values, one for each field. Raises ConfigError for an unknown or missing one."""
    if set(settings) != set(SETTINGS.names or ()):
        wrong = sorted(set(settings) ^ set(SETTINGS.names or ()))
        raise ConfigError(f"settings: {', '.join(wrong)}; there are {', '.join(SETTINGS.names or ())}")
    return np.array([tuple(settings[name] for name in SETTINGS.names or ())], SETTINGS)
