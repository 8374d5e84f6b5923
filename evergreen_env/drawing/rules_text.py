"""The complete rules of one configuration as text: all that is played, with the numbers of the tables, and no more."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evergreen_env.component_files import LETTERS, OUTSIDE, RAVINE, load_tables
from evergreen_env.config import Config
from evergreen_env.state import (
    BIOME_NAMES,
    COLUMNS,
    MAX_ROUNDS,
    NUM_POWERS,
    ROWS,
    SEASON_NAMES,
    SUN_NAMES,
    Biome,
)
from evergreen_env.tables import UNLIMITED, Tables, WildFertility
from evergreen_env.words import PIECE_WORDS, POWER_WORDS, biome_letters
from tabletop_engine.decisions import check_table
from tabletop_engine.text.words import Section, counted, rules_page

_BRIEF = (
    "Points: at the end of each season every small tree in the light brings 1 point, every big tree 2, and each space "
    "of the largest forest 1: trees and bushes that touch at their sides. At the end of the game each big tree brings "
    "the fertility of its biome. Buds bring their level.",
    "Light comes from the sun's side. A small tree's shadow is 1 space long, a big one's 2; a tree in a shadow is dark "
    "unless it is bigger than the tree that casts it. The sun moves on after each season: north, east, south, west.",
    "The spaces of one action, or of one power, are named in reading order, row by row: after c3 comes d3 or row 4. "
    "Only lakes can be placed in any order.",
    "The card that nobody takes changes the fertility: flowers add to it, a skull takes the latest flowers away.",
    "The board: a letter for the biome (M meadow, F flowers, G grain, R rock, W swamp, N snow, # a ravine), then s "
    "sprout, t small tree, T big tree, b bush, l lake; * a tree that is in the light now. In a small terminal the "
    "others' spaces show the piece or, without one, the biome; light 3 for 2 is their light and their largest forest.",
)
"""Paragraphs for players at a terminal: what scores points, and what the abbreviations mean."""


def rules(config: Config, tables: np.ndarray | None = None, *, brief: bool = False) -> str:
    """`Words.rules`, in our own words."""
    if brief:
        return "\n\n".join(_BRIEF)
    t = (load_tables(config.components) if tables is None else tables)[0]
    sections = [
        Section("Goal", _goal(config)),
        Section("On the table", _table(config, t)),
        Section("Setup", _setup(config, t)),
        Section("A round: draft", _draft(config, t)),
        Section("A round: turns", _turns(config, t)),
        Section("Powers", _powers(t)),
        Section("End of a season", _season(t)),
        Section("End of the game", _END),
        Section("How you are asked", _asked(t)),
    ]
    who = "you alone" if config.solo else counted(config.players, "player")
    return rules_page(f"Evergreen: rules for {who}", sections)


def _goal(c: Config) -> Iterator[str]:
    yield (
        "Sprouts grow into small trees, and these into big trees, on a planet of your own. Light, the largest forest "
        "and buds bring points during the game, big trees in fertile biomes at the end."
    )
    if c.solo:
        yield "Score as many points as you can."
    else:
        yield "Most points win; of equal ones, who was earlier in the draft order of the last round."


def _table(c: Config, t: Tables) -> Iterator[str]:
    letters = ", ".join(f"{letter} {name}" for letter, name in zip(LETTERS, BIOME_NAMES, strict=False))
    whose = "Your planet is" if c.solo else "Every player has the same planet,"
    yield (
        f"{whose} empty at first. Columns a to {'abcdefg'[COLUMNS - 1]} from west to east, rows 1 to {ROWS} from north "
        f"to south. Each space belongs to a biome ({letters}) or is a ravine ({RAVINE}); {OUTSIDE} is no "
        f"space:\n{_map(t)}"
    )
    ground = [name for name, allowed in (("bushes", t.bush_ground), ("lakes", t.lake_ground)) if allowed & t.ravines]
    but = f", but {' and '.join(ground)} can be placed in ravines" if ground else ""
    yield (
        f'A space holds one thing. An "empty space" has nothing on it and is no ravine{but}. Neighbours share a side.'
    )
    cards = [[_icons(t, biome * NUM_POWERS + power) for power in range(NUM_POWERS)] for biome in Biome]
    deck = "; ".join(f"{biome.name.lower()} {', '.join(row)}" for biome, row in zip(Biome, cards, strict=True))
    missing = " (- is no card)" if any("-" in row for row in cards) else ""
    yield (
        f"{counted(int(t.cards).bit_count(), 'card')}: each has a type (a biome, or wild), a power, and icons: "
        f"flowers, a skull, or none (0). Icons by power, in the order {', '.join(POWER_WORDS)}: {deck}{missing}."
    )
    yield (
        "The fertility zone has a pile of cards for each biome. The fertility of a biome is the number of flower "
        "icons on face-up cards of its pile, the same for all players."
    )
    if (t.supply != UNLIMITED).any():
        numbers = zip(PIECE_WORDS, t.supply.tolist(), strict=True)
        limits = ", ".join(f"{name} {number}" for name, number in numbers if number != UNLIMITED)
        yield f"Each player has only so many pieces: {limits}. What grows gives its smaller piece back."


def _map(t: Tables) -> str:
    """The planet, a line for each row, as code inside a point of a list."""
    letters = biome_letters(t)
    rows = ("".join(letters[COLUMNS * row : COLUMNS * (row + 1)]) for row in range(ROWS))
    lines = (f"  {number} {row.replace(' ', OUTSIDE)}" for number, row in enumerate(rows, 1))
    return "\n".join(["  ```", *lines, "  ```"])


def _icons(t: Tables, card: int) -> str:
    if not int(t.cards) >> card & 1:
        return "-"
    skulls = int(t.skulls[card])
    return str(int(t.flowers[card])) if not skulls else "skull" if skulls == 1 else f"{skulls} skulls"


def _setup(c: Config, t: Tables) -> Iterator[str]:
    rounds = t.season_rounds.tolist()
    seasons = ", ".join(f"{name} {number}" for name, number in zip(SEASON_NAMES, rounds, strict=True))
    yield f"{sum(rounds)} rounds: {seasons}. The sun starts in the {SUN_NAMES[t.sun_start]}. All power levels are 0."
    points = t.start_points[: c.players].tolist()
    if not c.solo:
        yield f"The first player is random. In turn order, players start with {', '.join(map(str, points))} points."
    elif points[0]:
        yield f"You start with {counted(points[0], 'point')}."
    yield (
        f"Cards are revealed until they show {int(t.setup_flowers)} or more flower icons in all. Those with flower "
        "icons go face up to the piles of their biomes, in this order; the others are shuffled back."
    )


_WILD_LEFT = {
    WildFertility.DISCARD: "A wild card is discarded.",
    WildFertility.ALL_BIOMES: "A wild card with icons has a pile of its own, whose flowers count for every biome.",
    WildFertility.OWN_PILE: "A wild card with icons has a pile of its own, which counts for no biome.",
}
check_table(_WILD_LEFT, WildFertility)


def _draft(c: Config, t: Tables) -> Iterator[str]:
    deck = "At any time an empty deck is made anew of the shuffled discards."
    if c.solo:
        yield f"Two cards are dealt. You take one, the other is left over. {deck}"
    else:
        yield (
            f"{c.players + 1} cards are dealt in a row. In turn order, clockwise from the first player, each takes "
            f"one; one is left over. {deck}"
        )
        nobody = "the next player clockwise is" if t.next_player_first else "the first player stays first"
        yield (
            "After the first player's pick the first player marker goes on the leftmost card left. Who takes that "
            f"card is first in the next round; if nobody does, {nobody}. The order of this round stays."
        )
    flips = "each of its skulls turns" if t.skulls_count else "it first turns"
    which = (
        "the top card of that pile face down, if that is a face-up card with flower icons"
        if t.top_card_only
        else "the most recent face-up card with flower icons of that pile face down, so that all its flowers are gone"
    )
    waits = (
        "If there is none, the next card with flower icons arrives there face down."
        if t.aridity_waits
        else "If there is none, nothing is turned."
    )
    yield (
        "Before anybody acts, the card left over is placed. With flower icons it goes face up on the pile of its "
        f"biome. With a skull {flips} {which}, then lies on the pile itself. {waits} Without icons it is discarded. "
        f"{_WILD_LEFT[WildFertility(t.wild_fertility)]} The icons of cards that are taken do nothing."
    )


def _turns(c: Config, t: Tables) -> Iterator[str]:
    if not c.solo:
        yield "All act at the same time; what others do is shown when the round ends."
    optional = (
        "each of them optional" if t.voluntary_pass else "the power is optional, the action is not if it is possible"
    )
    yield (
        f"A turn is one action and the power of your card, in either order, not one inside the other; {optional}. One "
        "may use what the other has just made."
    )
    partly = "up to" if t.partial_actions else "as many as possible, at most"
    yield f"Action plant three: plant {partly} three sprouts in empty spaces of the card's biome."
    yield f"Action grow two: {partly} two different spaces of the card's biome grow by one step."
    one = ", or only one of the two" if t.partial_actions else ", both if possible"
    yield (
        "Action plant and grow: plant a sprout in the card's biome, then another space of this biome grows by one step"
        f"{one}."
    )
    yield "Action anywhere: plant one sprout, or let one space grow by one step, in any biome, the card's too."
    yield "Growing turns a sprout into a small tree, and a small tree into a big tree. Nothing else grows."
    yield (
        "A wild card allows all biomes in its action, also mixed."
        if t.wild_anywhere
        else "With a wild card the first space of the action decides which biome is the card's."
    )


def _powers(t: Tables) -> Iterator[str]:
    cap = f", to {int(t.power_cap)} at most" if t.power_cap < MAX_ROUNDS else ""
    yield (
        f"Using the power of your card first raises your level of it by 1{cap}, even if it can do nothing; levels last "
        "all game. Then it does this up to as many times as the new level, each time in any biome:"
    )
    yield (
        "sprout: plants a sprout in an empty space. small tree: turns a sprout into a small tree. big tree: turns a "
        "small tree into a big tree. bush: places a bush in an empty space. In one turn a power can't take a space "
        "twice."
    )
    must = "must, if they can," if t.lake_growth_mandatory else "may"
    yield (
        "lake: places a lake in an empty space; after each lake up to two different neighbours of it, of any biome, "
        f"{must} grow by one step. Beside two new lakes a space may grow once for each."
    )
    each = ", once for each of as many uses" if t.buds_score_each_use else ", at once and only once a turn"
    yield f"buds: brings points equal to the new level{each}."
    yield "Bushes and lakes stay for good."


def _season(t: Tables) -> Iterator[str]:
    ends = np.cumsum(t.season_rounds).tolist()
    yield f"After rounds {', '.join(map(str, ends[:-1]))} and {ends[-1]} light and forest are scored."
    yield (
        "Light comes along columns or rows from the sun's side. Behind a small tree the next space is in shadow, "
        "behind a big tree the next two, whatever is there (ravines count as spaces). A tree is dark if it stands in "
        "the shadow of a tree of its size or larger. Dark trees cast shadow, too; nothing but trees does. A lit small "
        "tree scores 1, a lit big tree 2."
    )
    yield (
        "A forest is a group of small trees, big trees and bushes connected by their sides; a single one is a forest "
        "of 1. Your largest scores 1 for each of them. Sprouts and lakes are in none."
    )
    back = " All discards go back into the deck." if t.reshuffles_each_season else ""
    yield (
        "Then the cards taken in this season are discarded and the sun moves one side clockwise (north, east, south, "
        f"west).{back}"
    )


_END = ("After winter's scoring each of your big trees scores the fertility of its biome, lit or not.",)


def _asked(t: Tables) -> Iterator[str]:
    yield (
        "One small decision at a time; with one possible answer you are not asked. done ends the set of spaces that "
        "is being named; in the choice of action or power it ends the turn, and what is not used is lost."
    )
    if t.canonical_sets:
        yield (
            "The spaces of one action or power, and what grows beside one lake, are named in reading order (row by "
            "row from a1): earlier ones can't follow. But lakes are placed in any order, and plant and grow plants "
            "first wherever it is: growing first ends the action."
        )
