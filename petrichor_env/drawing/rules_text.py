"""The complete rules of one configuration as text: all that is played, with the numbers of the tables, and no more."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from petrichor_env.component_files import load_tables
from petrichor_env.config import Config
from petrichor_env.drawing.card_texts import FORECASTS, POWER_TEXTS, TIMING_TEXTS
from petrichor_env.drawing.text import winds_icons
from petrichor_env.rules.action_phase import HAND_LIMIT
from petrichor_env.rules.card_actions import SUN_DROPS
from petrichor_env.rules.clouds import GROWS_AT, OVERFLOWS_AT
from petrichor_env.rules.drafting import CARDS_DEALT, PACKS_PASSED, PICKS
from petrichor_env.rules.flower_tiles import PODS_A_PLAYER
from petrichor_env.rules.forecasts import DEALT
from petrichor_env.rules.promos import LAKE_DROPS
from petrichor_env.rules.weather import RESOLVED_SPACES
from petrichor_env.state import CROP_NAMES, HARVEST, MODULE_NAMES, Crop, Growing, Power, Timing
from petrichor_env.tables import RESHUFFLE, Tables
from petrichor_env.tiles import tiles_of_each_crop
from petrichor_env.words import FIELDS
from tabletop_engine.errors import ConfigError
from tabletop_engine.text.words import Section, counted, rules_page

_TOLD_VARIANTS = ("double_card", "non_random_targets", "no_more_tricks", "one_more_turn")
"""The variants that these texts tell of."""

_BRIEF = (
    "Points: a Harvest pays for each tile with a growing token. 6/4/2 is 6 for the most drops, 4 for the second most, "
    "2 for the third; who ties takes the lower place. Corn pays by how many have drops there, Rice for each own drop "
    "once it is developed. A vote less on a Harvest die is a point, the last one two. At the end the Voting Wins pay, "
    "and the most Wheat tokens bring a bonus.",
    "A Harvest comes when all three dice show Harvest, and in the last round.",
    "The board: p0 3 is three drops of player_0 (n: of the neutral player), 2/4 behind a crop the drops that are there "
    "and that it needs to grow. Behind a cloud it is its drops, and how many make it a thundercloud, or overflow.",
    "In a small terminal, p0:2 ~3/4 p1:3 is two drops on the tile and a light cloud with three of 4; * is a "
    "thundercloud. s, d, w: sprouting, developed, drowned; f fertilizer, p pod; o, c: an open or closed Snowdrop; "
    "after the Primrose its blooms and who controls it.",
)
"""Paragraphs for players at a terminal: what scores points, and what the abbreviations mean."""


def rules(config: Config, tables: np.ndarray | None = None, *, brief: bool = False) -> str:
    """`Words.rules`, in our own words. Raises ConfigError for a variant that they do not tell of."""
    if brief:
        return "\n\n".join(_BRIEF)
    for name in config.variants:
        if name not in _TOLD_VARIANTS:
            where = "write what it changes into petrichor_env/drawing/rules_text.py, and its name into _TOLD_VARIANTS"
            raise ConfigError(f"variants: the rules' text does not tell of {name!r} yet; {where} there")
    t = (load_tables(config.components) if tables is None else tables)[0]
    sections = [
        Section("Goal", _goal(config)),
        Section("On the table", _table(config, t)),
        Section("Setup", _setup(config, t)),
        Section("Action Phase", _action_phase(config)),
        Section("Card actions", _card_actions(config)),
        Section("Clouds, after every effect", _CLOUDS),
        *([Section("Turn of the Southern Winds", _southern_winds(config, t))] if config.solo else []),
        Section("Weather Phase", _weather(config)),
        Section("Crops and Harvest", _harvest(config, t)),
        Section("Clean-up and end", _end(config, t)),
        *(Section(title, points) for title, points in _modules(config, t)),
        Section("How you are asked", _ASKED),
    ]
    who = "you against the Southern Winds" if config.solo else counted(config.players, "player")
    return rules_page(f"Petrichor: rules for {who}, {config.rounds} rounds", sections)


# --- The base game ---------------------------------------------------------------------------------------------------


def _goal(c: Config) -> Iterator[str]:
    yield (
        "Drops travel in clouds and fall on crops. A Harvest pays for each growing crop, mostly by who has most drops "
        "there. Votes on weather and turning Harvest dice pay, too."
    )
    if c.solo:
        yield (
            "You play against the Southern Winds, also called the neutral player. It scores as a player does, also at "
            "the end. You win with more points than it has; equal points lose."
        )
    else:
        yield "Most points win; among equals more Voting Wins; else the victory is shared."


def _table(c: Config, t: Tables) -> Iterator[str]:
    if c.solo:
        yield "Fields: rows P1 P2 (north), P3 P4, P5 P6. Neighbours share a side."
    else:
        size = {2: "3x3 without a1 and c3", 3: "3x3", 4: "4 columns, 3 rows", 5: "4x4"}[c.players]
        yield (
            f"Fields: {len(FIELDS[c.players])} tiles ({size}); letters are columns, numbers rows, a1 is north-west. "
            "Neighbours share a side."
        )
    each = "You and the neutral player have" if c.solo else "Each player has"
    yield (
        f"{each} {counted(int(t.drops), 'drop')} and {counted(int(t.votes), 'vote')}; the rest is the supply. "
        f"{counted(int(t.clouds), 'cloud')} in all, at most one above a tile. A cloud is light or a thundercloud and "
        "holds "
        'drops of anybody; an "own" cloud holds a drop of yours.'
    )
    kinds = int(t.cards_of_a_kind_five_players if c.players == 5 else t.cards_of_a_kind)
    yield (
        f"Action cards: {kinds} each of Frost, Sun, Wind, Rain. Hands are secret, discards open. Discards refill an "
        "empty deck."
    )
    yield "Weather spaces form a circle: Frost, Sun, Wind, Rain, Frost."
    sides = ", ".join("Harvest" if side == HARVEST else str(side) for side in t.harvest_die.tolist())
    yield f"Three Harvest dice with the sides {sides}."


def _setup(c: Config, t: Tables) -> Iterator[str]:
    dealt = int(CARDS_DEALT[c.players])
    if c.solo:
        yield (
            "Six of the crop tiles below are drawn; they lie in ascending order of priority. On different tiles a die "
            f"places two light clouds with a neutral drop each, and one with a drop of yours. {counted(dealt, 'card')} "
            "are dealt to you. The dice are rolled."
        )
        return
    extra = "; with the first deal, the player who is not First Player gets one more" if c.players == 2 else ""
    yield (
        "The tiles are drawn from the crop tiles below, the First Player at random. Turn order is clockwise; the last "
        f"player is the one before the First Player. {counted(dealt, 'card')} are dealt to each player every "
        f"round{extra}. The dice are rolled."
    )
    if c.drafting:
        passes = int(PACKS_PASSED[c.players])
        picks = PICKS[:passes].tolist()
        yield (
            f"Cards are drafted: each player gets a pack, keeps {', then '.join(map(str, picks))} of the pack at hand, "
            f"passes the rest clockwise each time, and keeps the last {dealt - sum(picks)} whole. Kept cards are "
            "secret."
        )
    yield (
        "Then, anticlockwise from the last player to the First Player, each puts a light cloud with an own drop above "
        "a tile without a cloud."
    )


def _action_phase(c: Config) -> Iterator[str]:
    if c.solo:
        yield "Turns alternate, the Southern Winds first. On yours play a card or pass; you can't pass your first turn."
    else:
        yield (
            "Turns go round from the First Player. On yours play a card or pass; nobody passes the first turn of a "
            "round."
        )
    yield (
        "A card: 1. its action, which must be done if possible and is skipped if not; 2. a vote, always: on the "
        "card's weather space, or on the next one in the circle, or turn one Harvest die down by 1 for 1 point (from "
        "1 to Harvest for 2 points; never a die at Harvest). A vote for a space is moved from another one if your "
        "supply has none."
    )
    yield "Any two cards, neither of kind K, can stand for one card of kind K. Action and vote are K's."
    no_pass = "" if c.solo else ", if nobody has passed yet"
    yield (
        f"After the vote{no_pass}, you may do one optional action, of any kind, with its own vote. It costs two cards "
        "of its kind; for each of them two other cards can stand, as above (so 2, 3 or 4 cards)."
    )
    if c.solo:
        more = " after one more turn of the Southern Winds" if "one_more_turn" in c.variants else ""
        yield f"Passing discards your hand and ends the phase{more}. Without cards on your turn you must pass."
        return
    if c.players == 2:
        yield "When a player passes, the other has one last turn, without an optional action. Passing discards nothing."
    else:
        yield (
            "The first to pass discards the hand and takes the First Player marker at once (who has it already gives "
            "it to the player before them). Each other player, clockwise from the passer, has one last turn, without "
            "an optional action; passing it discards nothing."
        )
    yield (
        f"Without cards on your turn you must pass. After the last turn whoever holds more than {HAND_LIMIT} cards "
        f"discards down to {HAND_LIMIT}."
    )


def _card_actions(c: Config) -> Iterator[str]:
    five = (
        " If all clouds are in use: a drop from supply into a cloud that holds none of yours." if c.players == 5 else ""
    )
    yield f"Frost: a new light cloud with one drop from supply above a tile without a cloud.{five}"
    yield f"Sun: exactly {SUN_DROPS} drops from supply into one own cloud."
    yield "Wind: one own cloud moves to a neighbouring tile."
    yield (
        "Rain: one drop falls from one own cloud, or one from each of two, onto the tile below. Each may be anybody's."
    )
    yield (
        "If the supply is too small for Frost or Sun, you may take the missing drops from your drops on tiles (not "
        "from clouds), or skip the action."
    )


_CLOUDS = (
    "Clouds on one tile merge into one thundercloud.",
    f"A light cloud with {GROWS_AT} or more drops becomes a thundercloud, and never turns back.",
    f"With {OVERFLOWS_AT} or more drops a cloud overflows: all its drops fall on the tile and it is gone. A cloud "
    "without drops is gone.",
)


def _weather(c: Config) -> Iterator[str]:
    first = "You break ties, also at 0" if c.solo else "The First Player breaks ties, also at 0"
    yield (
        f"The {RESOLVED_SPACES} spaces with most votes happen, in the order Frost, Sun, Wind, Rain. "
        f"{first}. In the last round every space with a vote happens, but 2 count below."
    )
    yield "Frost: every light cloud becomes a thundercloud."
    if c.solo:
        yield (
            "Sun: first the neutral player, from P6 to P1, doubles its drops in every cloud for which its supply "
            "suffices. Then you must double your drops in one own cloud; missing drops come from your drops on tiles. "
            "Only if your supply alone can double none, you may decline. Then all sprouting Coffee develops."
        )
    else:
        yield (
            "Sun: clockwise from the First Player, each player must double the own drops in one own cloud; missing "
            "drops come from own drops on tiles. Only who can double none from supply alone may decline. Then all "
            "sprouting Coffee develops."
        )
    if c.solo:
        yield (
            "Wind: you must move one drop on a tile, anybody's, to a neighbouring tile. Then from each of P3, P4, P5, "
            "P6 in this order one drop of yours moves one tile north."
        )
    else:
        yield (
            "Wind: anticlockwise from the last player, each player must move one drop on a tile, anybody's, to a "
            "neighbouring tile."
        )
    yield "Rain: all drops of all thunderclouds fall, and these clouds are gone. Then all sprouting Rice develops."
    wins = {
        1: "who has more votes there than the other advances by 1",
        2: "who has more votes there than the other advances by 1",
        5: "an untied leader advances by 2 and all who are second (with a vote) by 1; tied leaders by 1, nobody else",
    }.get(c.players, "the player, or all tied players, with most votes there (at least one) advance by 1")
    yield (
        f"Voting Wins: on each of the {RESOLVED_SPACES} spaces with most votes, {wins}. Votes on spaces that happened "
        "go back to supply; others stay."
    )
    if c.players == 2:
        yield (
            "Then the First Player keeps the marker if they have more votes left on the spaces than the other; "
            "otherwise it changes hands."
        )


def _scores(t: Tables, crop: Crop, growing: Growing) -> np.ndarray:
    """The points of a crop by place, with this side of its growing token."""
    scores: np.ndarray = t.scores[crop, growing - 1]
    return scores


def _places(c: Config, scores: np.ndarray) -> str:
    """Points by place: `5/2/0`."""
    return "/".join(map(str, scores[: c.owners].tolist()))


def _harvest(c: Config, t: Tables) -> Iterator[str]:
    yield (
        "A crop grows as soon as its tile holds its number of drops (of all together), and dries out at once with "
        "fewer. Coffee and Rice first sprout; Sun and Rain weather develop them. Dried out, they must sprout anew."
    )
    supply = " or the neutral supply has no drop" if c.solo else ""
    yield (
        f"After the weather comes a Harvest if all three dice show Harvest{supply}, and always in the last round. Each "
        "growing tile pays; then its drops go back to their owners. Other tiles keep theirs."
    )
    yield (
        "Your place on a tile is the number of players, you included, with at least as many drops there as you: two "
        "tied for most are both second. No drop, no place. Pay by place (first/second/…):"
    )
    modules = [MODULE_NAMES.index(name) for name in c.modules]
    tiles = tiles_of_each_crop(c.players, "no_more_tricks" in c.variants, modules, t)
    for crop in Crop:
        pays = _pays(c, t, crop)
        if tiles[crop] and pays:
            yield f"{_tiles(c, t, crop)}: {pays}"


def _tiles(c: Config, t: Tables, crop: Crop) -> str:
    """A crop, its number of tiles, in solo their priorities, and the drops that it needs."""
    name = CROP_NAMES[crop].capitalize()
    drops = counted(int(t.drops_to_grow[crop]), "drop")
    if c.solo:
        numbers = sorted(int(priority) for priority in t.solo_priority[crop] if priority > 0)
        which = f"priority {', '.join(f'{priority / 10:g}' for priority in numbers)}"
    else:
        which = f"{counted(int(t.copies[crop]), 'tile')}"
    return f"{name} ({which}; {drops})"


def _pays(c: Config, t: Tables, crop: Crop) -> str:
    """What a crop pays; "" for the flower tiles, which have a section of their own."""
    if crop in (Crop.CACTUS, Crop.LAKE, Crop.SNOWDROP, Crop.DANDELION, Crop.PRIMROSE):
        return ""
    developed = _scores(t, crop, Growing.DEVELOPED)
    if crop == Crop.WHEAT:
        return f"{_places(c, developed)}; who is first alone also takes a Wheat token."
    if crop == Crop.COFFEE:
        return f"sprouting {_places(c, _scores(t, crop, Growing.SPROUTING))}, developed {_places(c, developed)}."
    if crop == Crop.RICE:
        return f"sprouting 0, developed {int(developed[0])} for each own drop."
    if crop == Crop.CORN:
        numbers = "/".join(map(str, developed[: c.owners].tolist()))
        return f"each player with a drop there gets the same, by their number (1/2/…): {numbers}."
    return f"{_places(c, developed)}."


def _end(c: Config, t: Tables) -> Iterator[str]:
    dealt = counted(int(CARDS_DEALT[c.players]), "card")
    kept = dealt if c.solo else f"{dealt} to each player, on top of those kept"
    yield f"After each round but the last, dice not showing Harvest (after a Harvest all) are rolled; deal {kept}."
    track = " ".join(map(str, t.voting_wins.tolist()))
    yield f"After the last Harvest, 0, 1, 2, … Voting Wins pay {track}."
    yield f"Most Wheat tokens (at least one) pay {int(t.wheat_bonus)}; all who are tied get it."


def _southern_winds(c: Config, t: Tables) -> Iterator[str]:
    if "double_card" in c.variants:
        yield "Two cards are turned up and resolved, one after the other; the icons of the first are ignored."
    else:
        yield "A card is turned up and resolved."
    target = (
        "it is the valid tile with the highest number (P6 first). Cards 5 and 6 prefer one where the neutral drops on "
        "tile and cloud together are fewer than yours; cards 1 to 3 ignore tiles with at least 2 neutral drops more "
        "than yours on the tile"
        if "non_random_targets" in c.variants
        else "a die names the tile; if it is not valid the next one is tried (P1 follows P6)"
    )
    yield (
        f"Its target: a tile is valid if the card does something there; {target}. Without a valid tile, as when the "
        "neutral supply lacks drops to place, the neutral player scores 1 point instead."
    )
    yield (
        "Then its icons: a neutral vote on each weather shown (or 1 point for each that its supply lacks); for "
        "Harvest it turns a die down, if one can be, and scores as you would. It takes a die at 1, else 4, else 3, "
        "else 2."
    )
    effects = (
        "a neutral drop on the tile",
        "two neutral drops on the tile (or the one that the supply has)",
        "one of your drops on the tile goes back to you",
        "a new light cloud with two neutral drops (as card 2) above a tile without a cloud",
        "a neutral drop into the cloud above the tile",
        "the same",
        "a cloud with drops of both moves diagonally, north-west (from P3, P5 north; P2 west; not P1)",
        "a cloud with only neutral drops moves diagonally, south-east (from P2, P4 south; P5 east; not P6)",
    )
    for number, effect in enumerate(effects, 1):
        yield f"{number}: {effect}; {_icons(t, number)}."
    yield f"{RESHUFFLE}: shuffle all {RESHUFFLE} cards and turn up another. Only this shuffles them."


def _icons(t: Tables, card: int) -> str:
    return "+".join(name.capitalize() for name in winds_icons(t, card)) or "no icon"


# --- Promos and Flowers ----------------------------------------------------------------------------------------------


def _modules(c: Config, t: Tables) -> Iterator[tuple[str, Iterator[str]]]:
    if "fertilizer" in c.modules:
        yield "Fertilizer", _fertilizer(c, t)
    if {"cactus", "lake", "flower_tiles"} & set(c.modules):
        yield "Special tiles, one of each", _special_tiles(c, t)
    if "powers" in c.modules:
        yield "Powers", _powers(c)
    if "forecasts" in c.modules:
        yield "Forecast cards", _forecasts(c)


def _fertilizer(c: Config, t: Tables) -> Iterator[str]:
    who = "you place" if c.solo else "players place in turn order, one at a time,"
    yield (
        f"Before the tiles are turned up {who} {counted(int(t.fertilizer_tokens), 'token')} in all, on tiles that are "
        "not neighbours. They stay. A Harvest of such a tile pays each player with a drop there 1 more (not sprouting "
        "Rice)."
    )


def _special_tiles(c: Config, t: Tables) -> Iterator[str]:
    if "cactus" in c.modules:
        developed, drowned = (_scores(t, Crop.CACTUS, side) for side in (Growing.DEVELOPED, Growing.DROWNED))
        yield (
            f"{_tiles(c, t, Crop.CACTUS)}: {_places(c, developed)}. With {int(t.drops_to_drown)} drops it drowns, "
            f"until it is harvested or dries out: {_places(c, drowned)}."
        )
    if "lake" in c.modules:
        yield (
            "Lake: no crop. Drops that fall there go back to their owners. Who moves a cloud onto it by a Wind action "
            f"must add {LAKE_DROPS} own drops (or what the supply has). A cloud that a Wind action moves off it may go "
            "on over tiles without clouds, as far as its mover likes; it stops at a cloud. Not back to the Lake."
        )
    if "flower_tiles" in c.modules:
        snow, lion = int(t.drops_to_grow[Crop.SNOWDROP]), int(t.drops_to_grow[Crop.DANDELION])
        yield (
            f"Snowdrop ({snow} drops): {_places(c, _scores(t, Crop.SNOWDROP, Growing.DEVELOPED))}. Closed until Frost "
            "weather opens it; every Harvest closes it. While closed nobody can put a drop there; those that pour "
            "there go back to their owners."
        )
        yield (
            f"Dandelion ({counted(lion, 'drop')}): after Wind weather, if it grows, each player with a drop there, in "
            f"turn order, puts {PODS_A_PLAYER} of the {int(t.pods)} pods on two tiles without a pod (not Dandelion, "
            f"Primrose, Lake, closed Snowdrop); none with fewer than {PODS_A_PLAYER} left. A pod lowers each score of "
            "its tile by 1 (not below 0). The Dandelion pays its first 1 for every pod lying elsewhere, its second "
            "half of that, rounded down. A Harvest takes all pods back."
        )
        more = ", and 1 for Fertilizer," if "fertilizer" in c.modules else ""
        once = " Only one player for each change." if "primrose_passes_once" in c.readings else ""
        yield (
            "Primrose: never grows, is never harvested. At first who has most drops there takes control (ties: "
            "clockwise from the First Player); later who has more than the controller (nearest clockwise from them). "
            f"Taking control pays {int(t.primrose_points)} for each bloom{more} and sends the old controller's drops "
            f"there back.{once} It has 1 bloom, and one more after each Harvest, up to {int(t.primrose_blooms)}."
        )


def _powers(c: Config) -> Iterator[str]:
    yield "Each player has one power all game; using it is optional. Drops come from supply."
    more = {Power.SUN: "; an optional Sun action costs any two cards", Power.WIND: ", and merges only where it ends"}
    for power, text in POWER_TEXTS.items():
        yield f"{power.name.capitalize()}: {text}{more.get(power, '')}."


def _forecasts(c: Config) -> Iterator[str]:
    lake = ", and never on the Lake or its cloud" if "lake" in c.modules else ""
    ends = (
        " After it you play no action cards in this round."
        if "forecasts_end_actions" in c.readings
        else " Your later turns are not affected."
    )
    yield (
        f"Each player holds {DEALT} secret cards and may play two in the game; the third is then discarded. A card is "
        f"played only at its moment, if it changes something and the supply has the drops{lake}."
    )
    yield (
        "A card instead of a turn has no vote and no optional action; it may be the first or last turn of a round and "
        f"is no pass.{ends}"
    )
    for timing in Timing:
        cards = [f"{number}: {card.text}" for number, card in FORECASTS.items() if card.timing == timing]
        if cards:
            when = TIMING_TEXTS[timing]
            yield f"{when[0].upper()}{when[1:]}: {'; '.join(cards)}."


_ASKED = ("One small decision at a time. Several cards are named one by one, in the order Frost, Sun, Wind, Rain.",)
