"""The setup (EVERGREEN.md, b2)."""

from __future__ import annotations

from tests.reference_evergreen.table import Table


def set_up(table: Table) -> None:
    """Choose who starts, give the start points, and reveal the first fertile cards."""
    table.first = table.players[table.chance.first_player(len(table.players))]
    for place, player in enumerate(table.order()):
        player.scored["start"] += table.printed.flag("start_points")[place]
    reveal(table)


def reveal(table: Table) -> None:
    """Draw cards until they show enough flowers. Those with flowers stay in the zone, the others go back."""
    printed = table.printed
    flowers = 0
    going_back = set()
    while flowers < printed.flag("setup_flowers"):
        card = table.draw()
        if printed.flowers(card) and printed.joins_zone(card):
            table.zone.add(card)
            flowers += printed.flowers(card)
        else:
            going_back.add(card)
    table.deck |= going_back
