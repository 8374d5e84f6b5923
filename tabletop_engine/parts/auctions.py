"""Auctions with rising bids: in turn order players raise the highest bid or pass, until one is left.

A game keeps `bids` and `passed`, a number for each seat. A bid of `n` is the action `first_action + n`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import allow
from tabletop_engine.parts.turns import next_with


@rule
def begin_auction(s: Any, bids: np.ndarray, passed: np.ndarray) -> None:
    """Set `bids` and `passed` to 0 for each player of the record `s`: nobody has bid or passed."""
    for seat in range(s.players):
        bids[seat] = 0
        passed[seat] = 0


@rule
def highest_bid(s: Any, bids: np.ndarray) -> int:
    """The highest of the `bids` of the players of the record `s`; 0 if there is none."""
    highest = 0
    for seat in range(s.players):
        highest = max(highest, int(bids[seat]))
    return highest


@rule
def allow_bids(s: Any, first_action: int, bids: np.ndarray, most: int) -> None:
    """Allow every bid above the highest of `bids`, up to `most`: the action `first_action` + bid in the record `s`."""
    for amount in range(highest_bid(s, bids) + 1, most + 1):
        allow(s, first_action + amount)


@rule
def next_bidder(s: Any, passed: np.ndarray) -> int:
    """The first seat after the actor of the record `s` that has 0 in `passed`; the actor if all others have passed."""
    return next_with(s, s.actor + 1, passed, 0)


@rule
def count_bidders(s: Any, passed: np.ndarray) -> int:
    """How many players of the record `s` have 0 in `passed`."""
    bidders = 0
    for seat in range(s.players):
        bidders += passed[seat] == 0
    return bidders
