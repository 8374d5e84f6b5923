"""Action cards: dealing (Setup; Clean-up Phase), the Official Drafting Variant, naming cards one by one."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TypeAlias

from tests.reference.table import Player, Question, Steps, Table
from tests.reference.words import WEATHERS, in_order

CardSet: TypeAlias = tuple[str, ...]
"""Cards that are named together, in ascending order of kinds; in a payment the action's own card comes first."""


# --- Naming cards ----------------------------------------------------------------------------------------------------


def card_sets(cards: Counter[str], number: int) -> list[CardSet]:
    """All ways to take that many of these cards."""
    return sorted(set(combinations(in_order(cards.elements()), number)))


def name_card(decision: str, player: Player, sets: list[CardSet], named: CardSet) -> Steps[str]:
    """Ask for the next card: `named` are the first cards of one of these sets."""
    fitting = {cards[len(named)] for cards in sets if cards[: len(named)] == named}
    answer = yield Question(decision, player.seat, tuple(f"card {kind}" for kind in in_order(fitting)))
    return answer.removeprefix("card ")


def move_cards(
    decision: str, player: Player, sets: list[CardSet], start: Counter[str], end: Counter[str]
) -> Steps[None]:
    """Ask for one of these sets, card by card, and move each card from one pile to another."""
    named: CardSet = ()
    while named not in sets:
        kind = yield from name_card(decision, player, sets, named)
        move_card(kind, start, end)
        named += (kind,)


def move_card(kind: str, start: Counter[str], end: Counter[str], number: int = 1) -> None:
    assert start[kind] >= number, f"no {kind} card there"
    start[kind] -= number
    end[kind] += number


def discard_hand(table: Table, player: Player) -> None:
    """Discard all cards. Discards are open."""
    table.discards += player.hand
    player.hand.clear()


def discard_down(table: Table, player: Player, limit: int) -> Steps[None]:
    """Discard cards until no more than the limit are left (Hand limit)."""
    too_many = player.hand.total() - limit
    if too_many > 0:
        yield from move_cards("discard", player, card_sets(player.hand, too_many), player.hand, table.discards)


# --- Dealing ---------------------------------------------------------------------------------------------------------


def cards_to_deal(table: Table) -> int:
    """Cards of each player (Setup; Phase 4; Southern Winds, Setup 7; Flowers: five players as four)."""
    return {1: 8, 2: 7, 3: 7, 4: 6, 5: 6}[table.config.players]


def shuffle_new_deck(table: Table) -> None:
    """All action cards form the deck."""
    number = table.printed.cards_of_a_kind(table.config.players)
    table.deck = Counter(dict.fromkeys(WEATHERS, number))


def deal_card(table: Table, player: Player, where: str) -> bool:
    """Deal one card. If the deck has run out, the discards form a new one; if both are empty, dealing stops."""
    if not table.deck.total():
        table.deck, table.discards = table.discards, Counter()
    if not table.deck.total():
        return False
    move_card(table.chance.card(player.seat, where), table.deck, player.hand if where == "hand" else player.pack)
    return True


def deal(table: Table, where: str) -> None:
    """Deal cards one by one from the First Player clockwise."""
    for _ in range(cards_to_deal(table)):
        for player in table.turn_order():
            if not deal_card(table, player, where):
                return


# --- Official Drafting Variant ---------------------------------------------------------------------------------------


def draft(table: Table) -> Steps[None]:
    """Keep cards from packs that are passed on clockwise; cards kept from the round before lie aside, in the hand.

    Four or five players keep 1 of 6 cards, 2 of 5, then the last 3. Two or three players keep 1 of 7, 2 of 6, 2 of 4,
    then the last 2. Players are asked one after another from the First Player, and packs move after all have picked.
    The last cards are not a choice.
    """
    for keeps in (1, 2) if table.config.players >= 4 else (1, 2, 2):
        for player in table.turn_order():
            sets = card_sets(player.pack, min(keeps, player.pack.total()))
            yield from move_cards("draft", player, sets, player.pack, player.hand)
        packs = [player.pack for player in table.players]
        for player in table.players:
            player.pack = packs[player.seat - 1]
    for player in table.players:
        player.hand += player.pack
        player.pack = Counter()
