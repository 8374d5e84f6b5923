"""A turn: an action and a power, in either order, each at most once."""

from __future__ import annotations

from collections.abc import Callable

from tests.reference_evergreen.table import Player, Question, Steps, Table
from tests.reference_evergreen.task import Task
from tests.reference_evergreen.words import ACTIONS, BIOMES, DONE


def take_turn(table: Table, player: Player) -> Steps[None]:
    """Ask for what comes next until both halves are over or declined (b4)."""
    still_open = {"action", "power"}
    while still_open:
        options: list[str] = []
        if "action" in still_open:
            options += [name for name in ACTIONS if action_task(table, player, name).spaces()]
        may_end = table.printed.flag("voluntary_pass") or not options
        if "power" in still_open:
            options.append("power")
        if may_end:
            options.append(DONE)
        answer = yield Question("turn", player.seat, tuple(options))
        if answer == DONE:
            return
        if answer == "power":
            yield from use_power(table, player)
            still_open.remove("power")
        else:
            yield from take_action(table, player, answer)
            still_open.remove("action")


# --- Actions ---


def action_task(table: Table, player: Player, action: str) -> Task:
    """What an action may do: the first three only in the card's biome, the fourth anywhere (The Draft, 1 to 4)."""
    kind = table.printed.kind(card_of(player))
    canonical = bool(table.printed.flag("canonical_sets"))
    if action == "anywhere":
        return Task(player.planet, ("plant", "grow"), 1, table.board.biomes())
    if kind in BIOMES:
        ground, one_biome = table.board.biome(kind), False
    else:
        ground, one_biome = table.board.biomes(), table.printed.flag("wild_biome") == "one_biome"
    if action == "plant three":
        return Task(player.planet, ("plant",), 3, ground, canonical, one_biome=one_biome)
    if action == "grow two":
        return Task(player.planet, ("grow",), 2, ground, canonical, one_biome=one_biome)
    return Task(player.planet, ("plant", "grow"), 2, ground, once=True, verbs_in_order=canonical, one_biome=one_biome)


def take_action(table: Table, player: Player, action: str) -> Steps[None]:
    """The action, space by space. It can end after the first one, unless a flag demands all possible ones."""
    task = action_task(table, player, action)
    partial = bool(table.printed.flag("partial_actions"))
    all_of_it = not partial and action != "anywhere"
    while spaces := task.spaces_for_most() if all_of_it else task.spaces():
        space = yield from choose(ACTIONS[action], player, spaces, may_end=partial and bool(task.used))
        if space is None:
            return
        task.use(space)


# --- Powers ---


def use_power(table: Table, player: Player) -> Steps[None]:
    """The level rises first; then up to that many uses, in any space (Powers)."""
    power = table.printed.power(card_of(player))
    cap = table.printed.flag("power_cap")
    if cap == "none" or player.levels[power] < cap:
        player.levels[power] += 1
    level = player.levels[power]
    if power == "buds":
        uses = level if table.printed.flag("buds_points") == "each_use" else 1
        for _ in range(uses):
            player.earned += level
        return
    canonical = bool(table.printed.flag("canonical_sets")) and power != "lake"
    verb = "plant" if power == "sprout" else power
    task = Task(player.planet, (verb,), level, set(table.board.spaces), canonical)
    while spaces := task.spaces():
        space = yield from choose("power", player, spaces, may_end=True)
        if space is None:
            return
        task.use(space)
        if power == "lake":
            yield from grow_beside_lake(table, player, space)


def grow_beside_lake(table: Table, player: Player, lake: str) -> Steps[None]:
    """Two of the lake's neighbours grow one step each (Place Lake; E4 to E7)."""
    canonical = bool(table.printed.flag("canonical_sets"))
    task = Task(player.planet, ("grow",), 2, set(table.board.neighbours(lake)), canonical)
    mandatory = table.printed.flag("lake_growth") == "mandatory"
    next_spaces: Callable[[], list[str]] = task.spaces_for_most if mandatory else task.spaces
    while spaces := next_spaces():
        space = yield from choose("lake", player, spaces, may_end=not mandatory)
        if space is None:
            return
        task.use(space)


# --- Help ---


def choose(decision: str, player: Player, spaces: list[str], may_end: bool) -> Steps[str | None]:
    """Ask for one of these spaces. None: done."""
    named = {f"space {space}": space for space in spaces}
    answer = yield Question(decision, player.seat, (*named, *([DONE] if may_end else [])))
    return named.get(answer)


def card_of(player: Player) -> str:
    assert player.card is not None
    return player.card
