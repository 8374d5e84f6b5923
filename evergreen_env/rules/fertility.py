"""The fertility zone: placing flowers, and turning them face down by an aridity (The Draft)."""

from __future__ import annotations

from evergreen_env.rules.cards import biome_of, is_wild
from evergreen_env.state import NO_CARD, NUM_BIOMES, NUM_CARDS, WILD, State
from evergreen_env.tables import Tables, WildFertility
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.parts.sets import only


@rule
def place_leftover(s: State, t: Tables, card: int) -> None:
    """Place the card that nobody took: flowers and aridity go into the zone, a card without icons is discarded."""
    if t.flowers[card] > 0 and has_pile(t, card):
        add_flowers(s, t, card)
    elif t.skulls[card] > 0 and has_pile(t, card):
        add_aridity(s, t, card)
    else:
        s.discards |= only(card)


@rule
def has_pile(t: Tables, card: int) -> bool:
    """Whether the zone has a place for this type of card: for wild cards only with a flag."""
    return not is_wild(card) or t.wild_fertility != WildFertility.DISCARD


@rule
def add_flowers(s: State, t: Tables, card: int) -> None:
    """Add the card's flowers to its biome. If an aridity waits for flowers there, the card lies face down."""
    add_to_zone(s, card)
    pile = biome_of(card)
    if s.waiting_flips[pile] > 0:
        s.waiting_flips[pile] -= 1
        flip(s, t, card)
    count_fertility(s, t)


@rule
def add_aridity(s: State, t: Tables, card: int) -> None:
    """Turn the most recent flowers of the biome face down, then put the aridity on top."""
    pile = biome_of(card)
    for _ in range(t.skulls[card] if t.skulls_count == 1 else 1):
        flipped = card_to_flip(s, t, pile)
        if flipped != NO_CARD:
            flip(s, t, flipped)
        elif t.aridity_waits == 1:
            s.waiting_flips[pile] += 1
    add_to_zone(s, card)
    count_fertility(s, t)


@rule
def card_to_flip(s: State, t: Tables, pile: int) -> int:
    """The pile's most recent card with flowers that lies face up, or NO_CARD; with a flag only if it is on top."""
    for i in range(s.zone_size - 1, -1, -1):
        card = int(s.zone[i])
        if biome_of(card) != pile:
            continue
        if t.flowers[card] > 0 and not is_face_down(s, card):
            return card
        if t.top_card_only == 1:
            return NO_CARD
    return NO_CARD


@rule
def is_face_down(s: State, card: int) -> bool:
    """Whether this card of the zone lies face down."""
    return bool(s.face_down & only(card))


@rule
def flip(s: State, t: Tables, card: int) -> None:
    """Turn the card face down, which removes all its flowers."""
    s.face_down |= only(card)


@rule
def add_to_zone(s: State, card: int) -> None:
    """Put the card on top of its pile."""
    if 0 <= s.zone_size < NUM_CARDS:  # always, unless a record was changed by hand
        s.zone[s.zone_size] = card
        s.zone_size += 1


@rule
def count_fertility(s: State, t: Tables) -> None:
    """The fertility of a biome is the number of flowers that lie face up in its pile."""
    for biome in range(NUM_BIOMES):
        s.fertility[biome] = flowers_in_pile(s, t, biome)
        if t.wild_fertility == WildFertility.ALL_BIOMES:
            s.fertility[biome] += flowers_in_pile(s, t, WILD)


@rule
def flowers_in_pile(s: State, t: Tables, pile: int) -> int:
    """Flowers on the cards of a pile that lie face up."""
    flowers = 0
    for i in range(s.zone_size):
        card = int(s.zone[i])
        if biome_of(card) == pile and not is_face_down(s, card):
            flowers += int(t.flowers[card])
    return flowers
