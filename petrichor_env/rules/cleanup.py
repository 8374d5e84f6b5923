"""Phase 4: the round marker, the Harvest dice, new cards."""

from __future__ import annotations

from petrichor_env.rules.action_phase import start_action_phase
from petrichor_env.rules.chance import roll_harvest_die
from petrichor_env.rules.drafting import continue_draft, deal
from petrichor_env.rules.voting import sort_dice
from petrichor_env.state import HARVEST, NOT_DRAFTING, State
from petrichor_env.tables import Tables
from tabletop_engine.compiling.compiled import rule


@rule
def continue_cleanup_phase(s: State, t: Tables) -> bool:
    """Begin the next round: dice, cards, the draft, then the Action Phase."""
    if s.draft_step == NOT_DRAFTING:
        s.round += 1
        roll_dice_again(s, t)
        deal(s)
    if not continue_draft(s):
        start_action_phase(s, t)
    return True


@rule
def roll_dice_again(s: State, t: Tables) -> None:
    """All three after a Harvest, otherwise those that don't show Harvest."""
    for die in range(3):
        if s.harvested == 1 or s.dice[die] != HARVEST:
            s.dice[die] = roll_harvest_die(s, t)
    sort_dice(s)
