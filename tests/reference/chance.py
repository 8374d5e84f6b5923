"""Everything in the game that is up to chance, asked one by one from whoever runs the game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from itertools import combinations, product
from typing import Protocol

from tests.reference.words import WEATHERS


class Chance(Protocol):
    """What chance decides. The game draws nothing itself: it asks, and checks that the answers are possible.

    The questions, in the order of a game:

    1. Setup with Fertilizer tokens: `first_player`; after all tokens are placed, `tile` for every position. Setup
       without: `tile` for every position, then `first_player` (never in solo).
    2. Setup, solo: `numeric_die` for two neutral clouds (again while it shows a position that is taken), then for the
       player's cloud.
    3. Setup, cards: `card` for all that are dealt (into packs when drafting). Then `harvest_dice(3)`. When drafting
       with two players, after the last pick one `card` into the second player's hand.
    4. After the setup's clouds: `power` for every player from the first player clockwise, unless the configuration
       chooses the powers; then `forecast_cards` in the same order.
    5. Each neutral turn in solo: `southern_winds_card` until it is no 9, then `numeric_die`, unless targets are not
    random or no target is valid; the same again with two cards a turn. 6. Clean-up: `harvest_dice` (not called if no
    die is rolled), then `card` for all that are dealt.
    """

    def tile(self, position: str) -> str:
        """The crop of the tile that is turned up on a position, such as "wheat" on "b1".

        Called for every position in reading order. In solo the six crops come in ascending order of priority.
        """

    def first_player(self) -> int:
        """The seat that gets the First Player marker at setup. Not called in solo."""

    def card(self, seat: int, where: str) -> str:
        """The kind of the next action card, which is dealt to a seat.

        Called card by card, round by round, from the first player clockwise. The card comes from the deck; when that is
        empty, the discards have become the deck before this call.

        Arguments:
            where: "hand", or "pack" when drafting.
        """

    def harvest_dice(self, number: int) -> Sequence[int | str]:
        """The sides of that many rolled Harvest dice, in any order: votes, 1 to 4, or "harvest"."""

    def numeric_die(self) -> int:
        """A roll of solo's numeric die, 1 to 6."""

    def southern_winds_card(self) -> int:
        """The number of the Southern Winds card that is revealed, 1 to 9. After a 9 all nine are shuffled, and the next
        call asks for another one."""

    def power(self, seat: int) -> str:
        """The power that a seat takes, such as "frost". Called from the first player clockwise."""

    def forecast_cards(self, seat: int) -> Sequence[int]:
        """The numbers of the three forecast cards dealt to a seat. Called from the first player clockwise."""


def dealing_order(
    deck: Counter[str], discards: Counter[str], seats: Sequence[int], dealt: dict[int, Counter[str]]
) -> list[str]:
    """An order that deals each seat its cards, and uses up the deck before the discards.

    A help for a `Chance` that knows only what everybody held after the deal.

    Arguments:
        deck, discards: the cards before the deal.
        seats: who gets the first card, the second, ...
        dealt: what each of them gets in all.

    Returns:
        The kind of each card. Raises ValueError if there is no such order.
    """
    from_deck = Counter(seats[: deck.total()])
    if deck.total() > len(seats):
        first = {seat: dealt[seat] for seat in from_deck}
        if any(sum((cards[kind] for cards in first.values()), 0) > deck[kind] for kind in WEATHERS):
            raise ValueError("more cards of a kind were dealt than the deck holds")
    else:
        first = _first_parts(deck, list(from_deck.items()), dealt)
    later = {seat: dealt[seat] - first.get(seat, Counter()) for seat in dealt}
    stacks = {seat: [*first.get(seat, Counter()).elements(), *later[seat].elements()] for seat in dealt}
    try:
        order = [stacks[seat].pop(0) for seat in seats]
    except IndexError:
        raise ValueError("a seat was dealt fewer cards than that") from None
    if any(stacks.values()):
        raise ValueError("a seat was dealt more cards than that")
    return order


def _first_parts(
    deck: Counter[str], seats: list[tuple[int, int]], dealt: dict[int, Counter[str]]
) -> dict[int, Counter[str]]:
    """Who gets which cards of a deck that is dealt completely; each seat gets a given number of them."""
    if not seats:
        if deck.total():
            raise ValueError("the deck is not dealt out")
        return {}
    (seat, number), *others = seats
    for part in sorted(set(combinations(sorted(dealt[seat].elements()), number))):
        cards = Counter(part)
        if cards <= deck:
            try:
                return {seat: cards} | _first_parts(deck - cards, others, dealt)
            except ValueError:
                continue
    raise ValueError("these cards can't have been dealt from this deck")


def southern_winds_order(deck: Set[int], revealed: Sequence[int], deck_after: Set[int]) -> list[int]:
    """The cards that came up, each 9 (Reshuffle & Redraw) included, if only the others are known.

    A help for a `Chance` that knows only what was performed and the decks before and after. Several 9 in a row count as
    one, which makes no difference to the game.

    Raises ValueError if these cards can't have been revealed.
    """
    for reshuffles in product((False, True), repeat=len(revealed)):
        left, order = set(deck), []
        for card, reshuffle in zip(revealed, reshuffles, strict=True):
            if reshuffle:
                order.append(9)
                left = set(range(1, 10))
            if card not in left:
                break
            order.append(card)
            left.remove(card)
        else:
            if left == deck_after:
                return order
    raise ValueError("these cards can't have been revealed from this deck")
