"""Phase 1: Action Phase. Turns, playing cards, and the four card actions."""

from __future__ import annotations

from collections.abc import Callable

from tests.reference import cards, forecasts, powers, promos, southern_winds, voting
from tests.reference.clouds import (
    add_drops,
    create_cloud,
    look_at_clouds,
    look_at_tile,
    move_cloud,
    rain_drop,
    take_from_tile,
)
from tests.reference.table import (
    Player,
    Question,
    Steps,
    Table,
    Tile,
    choose_drop,
    choose_neighbour,
    choose_tile,
    owners_of,
)
from tests.reference.words import WEATHERS

HAND_LIMIT = 4


# --- Turns -----------------------------------------------------------------------------------------------------------


def action_phase(table: Table) -> Steps[None]:
    """Players take turns from the First Player clockwise until one passes; all others take one more turn (Phase 1)."""
    table.phase = "action"
    table.passed = None
    table.no_actions = set()
    if table.config.solo:
        yield from southern_winds.action_phase(table)
        return
    turns = 0
    player = table.first_player
    while True:
        passed = yield from turn(table, player, first=turns < len(table.players))
        if passed:
            break
        turns += 1
        player = table.clockwise(player)[1]
    pass_first(table, player)
    for other in table.clockwise(player)[1:]:
        yield from turn(table, other)
    yield from hand_limit(table)


def turn(table: Table, player: Player, first: bool = False) -> Steps[bool]:
    """One turn: play cards, or pass; or play a forecast card instead (Flowers).

    The first turn of a round can't be a pass, but a player without cards must pass. If nobody has passed yet, a player
    who played cards may play a second time.

    Returns:
        Whether the player passed.
    """
    actions = [] if player.seat in table.no_actions else playable(player, optional=False)
    options = [*actions, *forecasts.instead_of_turn(table, player)]
    if not first or not player.hand.total():
        options = ["pass", *options]
    answer = yield Question("turn", player.seat, tuple(options))
    if answer == "pass":
        return True
    if answer.startswith("forecast "):
        if "forecasts_end_actions" in table.config.readings:
            table.no_actions.add(player.seat)
        yield from forecasts.play(table, player, int(answer.removeprefix("forecast ")))
        return False
    yield from play(table, player, answer, optional=False)
    if table.passed is None and player.hand.total() >= 2:
        options = ["decline", *playable(player, optional=True)]
        answer = yield Question("optional_action", player.seat, tuple(options))
        if answer != "decline":
            yield from play(table, player, answer, optional=True)
    return False


def pass_first(table: Table, player: Player) -> None:
    """The first pass of a round (Passing).

    With three or more players the passer discards all cards and takes the First Player marker at once. The marker must
    move, so a passer who already has it gives it to the player on the right. With two players there is no special
    procedure.
    """
    table.passed = player
    if len(table.players) == 2:
        return
    cards.discard_hand(table, player)
    table.first_player = table.clockwise(player)[-1] if table.first_player is player else player


def hand_limit(table: Table) -> Steps[None]:
    """Everybody discards down to 4 cards, one after another from the First Player (Hand limit)."""
    for player in table.turn_order():
        yield from cards.discard_down(table, player, HAND_LIMIT)


# --- Playing Cards ---------------------------------------------------------------------------------------------------


def playable(player: Player, optional: bool) -> list[str]:
    """The ways to play an action: its own card (two for the optional action), or other cards in their place."""
    needed = 2 if optional else 1
    own = [f"play {kind}" for kind in WEATHERS if player.hand[kind] >= needed]
    return own + [f"substitute {kind}" for kind in WEATHERS if substitutes(player, kind, optional)]


def substitutes(player: Player, kind: str, optional: bool) -> list[cards.CardSet]:
    """The sets of cards that can stand for an action's card, or for the two cards of an optional action.

    Any two cards stand for one of a kind that neither of them is. So an optional action costs one card of its kind and
    two others, or four others; its own card is named first. The Sun power makes every card a Sun instead (Flowers,
    Poteri: Sole).
    """
    if kind == "sun" and player.power == "sun":
        return powers.cards_as_suns(player, optional)
    others = player.hand.copy()
    del others[kind]
    if not optional:
        return cards.card_sets(others, 2)
    sets = cards.card_sets(others, 4)
    if player.hand[kind]:
        sets += [(kind, *pair) for pair in cards.card_sets(others, 2)]
    return sets


def play(table: Table, player: Player, answer: str, optional: bool) -> Steps[None]:
    """Discard the cards, perform the action, vote (Playing Cards, steps 1a and 1b)."""
    verb, kind = answer.split()
    if verb == "play":
        cards.move_card(kind, player.hand, table.discards, number=2 if optional else 1)
    else:
        yield from cards.move_cards("pay", player, substitutes(player, kind, optional), player.hand, table.discards)
    yield from ACTIONS[kind](table, player)
    yield from voting.vote(table, player, kind)


# --- Card Actions Explained ------------------------------------------------------------------------------------------


def take_drops(table: Table, player: Player, needed: int) -> Steps[None]:
    """Take own drops from tiles, one by one, until the supply has what is needed."""
    while player.supply < needed:
        tile = yield from choose_tile("take_drop", player, table.tiles_with_own_drops(player))
        assert tile is not None
        player.supply += 1
        take_from_tile(table, tile, player.seat)


def frost_action(table: Table, player: Player) -> Steps[None]:
    """A new light cloud with one drop from the supply on a tile without a cloud. With an empty supply the player may
    take the drop from a tile, or decline.

    With five players and all clouds in play, the drop goes into a cloud where the player is not present (Flowers).
    """
    if table.clouds_left():
        decision, tiles = "frost_tile", table.tiles_without_clouds()
    elif len(table.players) == 5:
        present = table.tiles_with_own_clouds(player)
        decision, tiles = "frost_cloud", [tile for tile in table.tiles_with_clouds() if tile not in present]
    else:
        return
    if not tiles or player.supply + table.drops_on_tiles(player) == 0:
        return
    tile = yield from choose_tile(decision, player, tiles, may_decline=player.supply == 0)
    if tile is None:
        return
    yield from take_drops(table, player, 1)
    if decision == "frost_tile":
        create_cloud(table, tile, player, 1)
        yield from powers.frost(table, player, tile)
    else:
        assert tile.cloud is not None
        add_drops(tile.cloud, player, 1)
    look_at_clouds(table)


def sun_action(table: Table, player: Player) -> Steps[None]:
    """Exactly two drops from the supply into a cloud with an own drop. With fewer the player may take drops from tiles
    to make up two, or decline."""
    tiles = table.tiles_with_own_clouds(player)
    if not tiles or player.supply + table.drops_on_tiles(player) < 2:
        return
    tile = yield from choose_tile("sun_cloud", player, tiles, may_decline=player.supply < 2)
    if tile is None:
        return
    yield from take_drops(table, player, 2)
    assert tile.cloud is not None
    add_drops(tile.cloud, player, 2)
    look_at_clouds(table)


def wind_action(table: Table, player: Player) -> Steps[None]:
    """A cloud with an own drop moves to an orthogonally adjacent tile.

    With the Wind power it moves farther (Flowers, Poteri: Vento), and so does a cloud that leaves the Lake. A cloud
    that comes to the Lake gets drops (Promos, The Lake).
    """
    tiles = table.tiles_with_own_clouds(player)
    if not tiles:
        return
    start = yield from choose_tile("wind_cloud", player, tiles)
    assert start is not None
    if player.power == "wind" or start.crop == "lake":
        ends = powers.wind(table, start) if player.power == "wind" else promos.ways_from_lake(table, start)
        end = yield from choose_tile("wind_tile", player, ends)
    else:
        end = yield from choose_neighbour("wind_direction", table, player, start)
    assert end is not None
    move_cloud(start, end)
    if end.crop == "lake":
        promos.evaporate(player, end)
    look_at_clouds(table)


def rain_action(table: Table, player: Player) -> Steps[None]:
    """One drop of any owner falls from each of one or two clouds with an own drop.

    Both fall together. No drop can be placed on a closed Snowdrop. The Rain power places a drop from the supply instead
    (Flowers, Poteri: Pioggia).
    """
    drops = [
        (tile, owner)
        for tile in table.tiles_with_own_clouds(player)
        if tile.cloud and not tile.closed
        for owner in owners_of(tile.cloud.drops)
    ]
    power_tiles = powers.rain_tiles(table, player)
    if not drops and not power_tiles:
        return
    first = yield from powers.choose_rain(table, player, drops, power_tiles)
    if first is None:
        return
    if isinstance(first, Tile):
        powers.rain(table, player, first)
        return
    others = [(tile, owner) for tile, owner in drops if tile is not first[0]]
    second = yield from choose_drop(table, "rain_second_drop", player, others, may_decline=True)
    fallen = [first, second] if second else [first]
    for tile, owner in fallen:
        rain_drop(table, tile, owner)
    for tile, _ in fallen:
        look_at_tile(table, tile)


ACTIONS: dict[str, Callable[[Table, Player], Steps[None]]] = {
    "frost": frost_action,
    "sun": sun_action,
    "wind": wind_action,
    "rain": rain_action,
}
