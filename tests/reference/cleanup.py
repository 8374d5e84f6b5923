"""Phase 4: Clean-up Phase; Game End & Victory."""

from __future__ import annotations

from tests.reference import cards, southern_winds
from tests.reference.table import Player, Steps, Table
from tests.reference.words import HARVEST


def cleanup_phase(table: Table) -> Steps[None]:
    """Move the round marker, roll the Harvest dice again, deal new cards. Skipped in the final round."""
    table.phase = "cleanup"
    table.round += 1
    roll_dice(table)
    if table.config.drafting:
        cards.deal(table, "pack")
        yield from cards.draft(table)
    else:
        cards.deal(table, "hand")
    table.harvested = False
    table.passed = None


def roll_dice(table: Table) -> None:
    """After a Harvest all three dice are rolled again, otherwise those that don't show Harvest."""
    kept: list[int | str] = [] if table.harvested else [die for die in table.dice if die == HARVEST]
    number = 3 - len(kept)
    rolled = list(table.chance.harvest_dice(number)) if number else []
    assert len(rolled) == number and all(die in table.printed.die_sides for die in rolled)
    table.dice = kept + rolled


def end_game(table: Table) -> None:
    """Points for Voting Wins, and the bonus for the most Wheat tokens, at least one; all tied players score it."""
    table.phase = "over"
    most = max(player.wheat_tokens for player in table.owners)
    for player in table.owners:
        player.gain(table.printed.voting_win_points(player.voting_wins), "voting_wins")
        if most and player.wheat_tokens == most:
            player.gain(table.printed.pieces("wheat_bonus"), "wheat_tokens")


def winners(table: Table) -> list[Player]:
    """Who has the most points; of tied players those highest on the Voting Wins track; then they share the victory."""
    if table.config.solo:
        return [southern_winds.winner(table)]
    best = max((player.points, player.voting_wins) for player in table.players)
    return [player for player in table.players if (player.points, player.voting_wins) == best]
