"""The deal, the draft, and the card that nobody took (The Draft)."""

from __future__ import annotations

from tests.reference_evergreen.table import Player, Question, Steps, Table


def draft(table: Table) -> Steps[None]:
    """Deal one card more than there are players; everybody takes one, and the one that is left is placed."""
    table.market = []
    for _ in range(len(table.players) + 1):
        table.market.append(table.draw())
    for player in table.order():
        yield from take_card(table, player)
        if player is table.first and len(table.players) > 1:
            table.marked = remaining(table)[0]
    (left,) = remaining(table)
    place_leftover(table, table.market[left])
    table.market = []
    table.marked = None


def remaining(table: Table) -> list[int]:
    """The slots in which a card still lies."""
    return [slot for slot, card in enumerate(table.market) if card is not None]


def take_card(table: Table, player: Player) -> Steps[None]:
    """Ask for a slot. Whoever takes the marked card starts the next round."""
    answer = yield Question("draft", player.seat, tuple(f"draft {slot + 1}" for slot in remaining(table)))
    slot = int(answer.split()[1]) - 1
    player.card = table.market[slot]
    table.market[slot] = None
    if slot == table.marked:
        table.next_first = player
        table.marked = None


def place_leftover(table: Table, card: str | None) -> None:
    """Its icons decide whether it goes into the zone or to the discards."""
    assert card is not None
    printed = table.printed
    if printed.joins_zone(card) and (printed.flowers(card) or printed.skulls(card)):
        table.zone.add(card)
    else:
        table.discards.add(card)
