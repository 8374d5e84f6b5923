"""Southern Winds, the solo game: the neutral turn and the differences in the Weather Phase.

Positions are P1 to P6, here numbered 0 to 5 from the top left in rows of two:

    P1 P2          0 1
    P3 P4          2 3
    P5 P6          4 5
"""

from __future__ import annotations

from petrichor_env.rules.chance import roll_numeric_die
from petrichor_env.rules.clouds import add_to_cloud, move_cloud, new_cloud, settle_clouds
from petrichor_env.rules.fields import has_cloud
from petrichor_env.rules.growing import move_drop, put_drop, take_drop
from petrichor_env.rules.points import gain
from petrichor_env.rules.voting import decrease_die
from petrichor_env.state import NO_TILE, NUM_KINDS, Source, State, Variant
from petrichor_env.tables import RESHUFFLE, Tables
from tabletop_engine.chance import random_below
from tabletop_engine.compiling.compiled import rule

YOU = 0
NEUTRAL = 1
POSITIONS = 6
COLUMNS = 2

PLACE_1_DROP = 1
PLACE_2_DROPS = 2
REMOVE_PLAYER_DROP = 3
CREATE_CLOUD = 4
ADD_TO_CLOUD = 5
ADD_TO_CLOUD_AGAIN = 6
MOVE_MIXED_CLOUD = 7
MOVE_PURE_CLOUD = 8
NUM_CARDS = RESHUFFLE


@rule
def tile_at(position: int) -> int:
    """The tile of a position."""
    return position // COLUMNS * 4 + position % COLUMNS


@rule
def position_of(tile: int) -> int:
    """The position of a tile."""
    return tile // 4 * COLUMNS + tile % 4


# --- Neutral Turn ----------------------------------------------------------------------------------------------------


@rule
def neutral_turn(s: State, t: Tables) -> None:
    """Reveal a card and resolve its ability and its icons."""
    if s.variants[Variant.DOUBLE_CARD] == 1:  # a card more, whose icons are ignored
        resolve_card(s, t, reveal_card(s))
    card = reveal_card(s)
    resolve_card(s, t, card)
    resolve_icons(s, t, card)


@rule
def shuffle_winds_deck(s: State) -> None:
    """All cards go back into the deck."""
    for i in range(NUM_CARDS):
        s.winds_deck[i] = 1


@rule
def reveal_card(s: State) -> int:
    """The top card; Reshuffle & Redraw as often as it comes up."""
    while True:
        left = 0
        for i in range(NUM_CARDS):
            left += int(s.winds_deck[i])
        skip = random_below(s, left)
        card = 0
        for i in range(NUM_CARDS):
            if s.winds_deck[i] == 1:
                if skip == 0:
                    card = i + 1
                    break
                skip -= 1
        s.winds_deck[card - 1] = 0
        if card != RESHUFFLE:
            return card
        shuffle_winds_deck(s)


@rule
def resolve_card(s: State, t: Tables, card: int) -> None:
    """The card's ability on its target; without one the neutral player gains a point instead."""
    roll = 0
    if s.variants[Variant.NON_RANDOM_TARGETS] == 1:
        position = non_random_target(s, card)
    else:
        roll = roll_numeric_die(s)
        position = next_valid_target(s, card, roll - 1)
    tile = NO_TILE
    if position < 0:
        gain(s, NEUTRAL, 1, Source.CARDS)
    else:
        tile = tile_at(position)
        perform(s, t, card, tile)
    log_card(s, card, roll, tile)


@rule
def is_valid_target(s: State, card: int, position: int) -> bool:
    """Whether the card has an effect there. A card that places drops has none if the neutral supply is empty."""
    tile = tile_at(position)
    if card == REMOVE_PLAYER_DROP:
        return bool(s.drops[tile, YOU] > 0)
    if card == MOVE_MIXED_CLOUD:
        return bool(position > 0 and s.cloud_drops[tile, YOU] > 0 and s.cloud_drops[tile, NEUTRAL] > 0)
    if card == MOVE_PURE_CLOUD:
        return bool(position < POSITIONS - 1 and s.cloud_drops[tile, YOU] == 0 and s.cloud_drops[tile, NEUTRAL] > 0)
    if s.supply[NEUTRAL] == 0:
        return False
    if card == CREATE_CLOUD:
        return not has_cloud(s, tile)
    if card in (ADD_TO_CLOUD, ADD_TO_CLOUD_AGAIN):
        return has_cloud(s, tile)
    return True


@rule
def next_valid_target(s: State, card: int, rolled: int) -> int:
    """From the rolled position on, circling around; -1 if there is none."""
    for i in range(POSITIONS):
        position = (rolled + i) % POSITIONS
        if is_valid_target(s, card, position):
            return position
    return -1


@rule
def perform(s: State, t: Tables, card: int, tile: int) -> None:
    """Southern Winds Card Reference. If the supply has only one drop, one is placed in place of two."""
    if card == PLACE_1_DROP:
        put_drop(s, t, tile, NEUTRAL)
    elif card == PLACE_2_DROPS:
        put_drop(s, t, tile, NEUTRAL)
        if s.supply[NEUTRAL] > 0:
            put_drop(s, t, tile, NEUTRAL)
    elif card == REMOVE_PLAYER_DROP:
        take_drop(s, t, tile, YOU)
    elif card == CREATE_CLOUD:
        new_cloud(s, tile, NEUTRAL, min(2, int(s.supply[NEUTRAL])))
    elif card in (ADD_TO_CLOUD, ADD_TO_CLOUD_AGAIN):
        add_to_cloud(s, tile, NEUTRAL, 1)
    elif card == MOVE_MIXED_CLOUD:
        move_cloud(s, tile, tile_at(north_west_of(position_of(tile))))
    else:
        move_cloud(s, tile, tile_at(south_east_of(position_of(tile))))
    settle_clouds(s, t)


@rule
def north_west_of(position: int) -> int:
    """North in the first column, west from P2. Not for P1."""
    if position % COLUMNS == 0:
        return position - COLUMNS
    if position < COLUMNS:
        return position - 1
    return position - COLUMNS - 1


@rule
def south_east_of(position: int) -> int:
    """South in the second column, east from P5. Not for P6."""
    if position % COLUMNS == 1:
        return position + COLUMNS
    if position >= POSITIONS - COLUMNS:
        return position + 1
    return position + COLUMNS + 1


@rule
def resolve_icons(s: State, t: Tables, card: int) -> None:
    """The card's votes, a point for each vote that the supply lacks, and its Harvest icon."""
    for space in range(NUM_KINDS):
        for _ in range(t.winds_votes[card - 1, space]):
            if s.vote_supply[NEUTRAL] > 0:
                s.vote_supply[NEUTRAL] -= 1
                s.votes[space, NEUTRAL] += 1
            else:
                gain(s, NEUTRAL, 1, Source.CARDS)
    if t.winds_harvest[card - 1] == 1:
        # the die for the Harvest icon: one with 1 vote first, then the one with the most votes
        for shown in (1, 4, 3, 2):
            if s.dice[0] == shown or s.dice[1] == shown or s.dice[2] == shown:
                decrease_die(s, NEUTRAL, shown)
                break


@rule
def log_card(s: State, card: int, roll: int, tile: int) -> None:
    """Add to the list of cards that were revealed since the player's last turn, which views show."""
    i = s.winds_revealed
    if i == s.winds_card.shape[0]:  # only in a described position, never in play
        clear_winds_log(s)
        i = 0
    s.winds_card[i] = card
    s.winds_roll[i] = roll
    s.winds_target[i] = tile
    s.winds_revealed = i + 1


@rule
def clear_winds_log(s: State) -> None:
    """Forget the cards that were revealed."""
    for i in range(s.winds_revealed):
        s.winds_card[i] = 0
        s.winds_roll[i] = 0
        s.winds_target[i] = NO_TILE
    s.winds_revealed = 0


# --- Non-random targeting variant ------------------------------------------------------------------------------------


@rule
def non_random_target(s: State, card: int) -> int:
    """The highest position that is valid and preferred; for a drop on a cloud, else the highest valid one. -1: none."""
    for position in range(POSITIONS - 1, -1, -1):
        if is_valid_target(s, card, position) and is_preferred_target(s, card, position):
            return position
    if card in (ADD_TO_CLOUD, ADD_TO_CLOUD_AGAIN):
        for position in range(POSITIONS - 1, -1, -1):
            if is_valid_target(s, card, position):
                return position
    return -1


@rule
def is_preferred_target(s: State, card: int, position: int) -> bool:
    """Whether the variant prefers this position for the card."""
    tile = tile_at(position)
    lead = int(s.drops[tile, NEUTRAL]) - int(s.drops[tile, YOU])
    if card in (ADD_TO_CLOUD, ADD_TO_CLOUD_AGAIN):  # where the neutral player has fewer drops than you
        return lead + int(s.cloud_drops[tile, NEUTRAL]) - int(s.cloud_drops[tile, YOU]) < 0
    if card <= REMOVE_PLAYER_DROP:  # not where it already leads by two on the tile
        return lead < 2
    return True


# --- Weather phase differences ---------------------------------------------------------------------------------------


@rule
def neutral_sun_weather(s: State, t: Tables) -> None:
    """The neutral player doubles its drops in every cloud its supply covers, from P6 to P1, as one effect."""
    for position in range(POSITIONS - 1, -1, -1):
        tile = tile_at(position)
        own = int(s.cloud_drops[tile, NEUTRAL])
        if own <= s.supply[NEUTRAL]:
            add_to_cloud(s, tile, NEUTRAL, own)
    settle_clouds(s, t)


@rule
def southern_wind_weather(s: State, t: Tables) -> None:
    """From P3 to P6, one of the player's drops on each goes to the tile north of it."""
    for position in range(COLUMNS, POSITIONS):
        tile = tile_at(position)
        if s.drops[tile, YOU] > 0:
            move_drop(s, t, tile, YOU, tile_at(position - COLUMNS))
