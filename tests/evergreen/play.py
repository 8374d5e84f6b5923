"""Play named answers on Evergreen positions, and look at a position in words: what the tests of its rules share.

state = play(turn("swamp bush", {"a5": "sprout"}), "grow two", "power", "space c1")

Spaces are named by column letter and row number. The planet, read row by row:

      a b c d e f g      M meadow   F flowers   G grain
    1 . . N N R R .      R rock     W swamp     N snow
    2 M M N N # R .      # ravine   . outside
    3 M # N N R R R
    4 M M M # F F F
    5 W W W G G # F
    6 . W # G G F F
    7 . W W G G . .
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from evergreen_env import Batch, Config, scenario
from evergreen_env.actions import ACTIONS
from evergreen_env.scenarios import described
from evergreen_env.words import answer_name, space_action
from tabletop_engine.play.batch import legal_actions

State = Any
"""One record of a game of Evergreen."""

Planet = Mapping[str, str]
"""What stands on each space that isn't empty: {"c1": "sprout"}."""

TYPES = ("meadow", "flowers", "grain", "rock", "swamp", "snow", "wild")
POWERS = ("sprout", "small_tree", "big_tree", "bush", "lake", "buds")
CARDS = tuple(f"{kind} {power}" for kind in TYPES for power in POWERS)
"""All cards, ascending by id."""

BIOMES = {
    "meadow": "a2 b2 a3 a4 b4 c4",
    "flowers": "e4 f4 g4 g5 f6 g6",
    "grain": "d5 e5 d6 e6 d7 e7",
    "rock": "e1 f1 f2 e3 f3 g3",
    "swamp": "a5 b5 c5 b6 b7 c7",
    "snow": "c1 d1 c2 d2 c3 d3",
}
"""The spaces of each biome, in reading order."""
RAVINES = "e2 b3 d4 f5 c6"
EVERYWHERE = " ".join(BIOMES.values())
"""All spaces but ravines."""

SUN_ROUNDS = {"north": 5, "east": 9, "south": 12, "west": 14}
"""The last round with the sun on each side."""


Components = str | Mapping[str, Any] | None


def play(state: State, *names: str, components: Components = None) -> State:
    """The position after the named answers, one after another; `state` itself stays as it is.

    Raises `IllegalAction` for an answer that is not legal, `GameOver` after the end.
    """
    batch = _showing(state, components)
    for name in names:
        batch.step([_number(batch.states[0], name)])
    return batch.states.copy()[0]


def fresh(players: int, seed: int = 0, components: Components = None) -> State:
    """The first decision of a new game."""
    config = Config(players=players, components=components)
    return Batch(config, seed=seed, autoreset="disabled", illegal_action="raise").states.copy()[0]


def pick(state: State, card: str, components: Components = None) -> State:
    """Draft the card of that name."""
    return play(state, f"draft {described(state)['market'].index(card) + 1}", components=components)


def all_done(state: State, components: Components = None) -> State:
    """Nobody does anything else this round: to the next draft, or the end."""
    while described(state)["decision"] == "turn":
        state = play(state, "done", components=components)
    return state


def _showing(state: State, components: Components) -> Any:
    batch = _batch(int(described(state)["players"]), json.dumps(components, sort_keys=True))
    batch.states[0] = state
    batch.refresh(check=False)
    return batch


@lru_cache(maxsize=64)
def _batch(players: int, components: str) -> Any:
    config = Config(players=players, components=json.loads(components))
    return Batch(config, seed=0, autoreset="disabled", illegal_action="raise")


def _number(state: State, name: str) -> int:
    if re.fullmatch("space [a-z][0-9]+", name):
        return int(space_action(state, name.removeprefix("space ")))
    return int(ACTIONS[name])


def turn(card: str, planet: Planet | None = None, *, components: Components = None, **changes: Any) -> State:
    """player_0, of 2 players unless told otherwise, holds the card at the beginning of the turn."""
    given = {"players": 2, "cards": {"player_0": card}, "planets": {"player_0": dict(planet or {})}, **changes}
    return scenario(given, components=components)


def draft(market: Sequence[str], *, components: Components = None, **changes: Any) -> State:
    """The first player picks from the market, which is one card more than there are players."""
    given = {"players": len(market) - 1, "decision": "draft", "market": list(market), **changes}
    return scenario(given, components=components)


def leave(card: str, zone: Sequence[str] = (), *, components: Components = None, **changes: Any) -> State:
    """A single player has picked a wild card, so `card` was placed; the turn begins."""
    picked = "wild small_tree" if card == "wild lake" else "wild lake"
    state = draft([picked, card], components=components, zone=list(zone), **changes)
    return play(state, "draft 1", components=components)


def season(planet: Planet, sun: str = "north", *, components: Components = None, **changes: Any) -> State:
    """A single player's planet after the scoring with the sun on that side; with west that is the game's end."""
    state = turn("wild sprout", planet, components=components, players=1, round=SUN_ROUNDS[sun], **changes)
    return all_done(state, components)


LINES = {"north": "c1 c2 c3 c4 c5", "east": "g3 f3 e3 d3 c3", "south": "e7 e6 e5 e4 e3", "west": "a5 b5 c5 d5 e5"}
"""For each sun five spaces in a row, the nearest to the sun first."""

PIECES = {"T": "big_tree", "t": "small_tree", "s": "sprout", "u": "bush", "l": "lake"}


GOLDEN = {
    **dict.fromkeys(["c1", "c3", "a4", "e5", "e7"], "big_tree"),
    **dict.fromkeys(["d1", "c2", "e3", "b4", "e6", "f6"], "small_tree"),
    **{"d3": "bush", "c4": "sprout", "d5": "lake"},
}
"""The golden position (specification c1)."""


def line(cells: str, sun: str = "north") -> dict[str, str]:
    """A planet with these pieces in a line away from the sun: T big, t small, s sprout, u bush, l lake, . empty."""
    spots = LINES[sun].split()[: len(cells)]
    return {space: PIECES[cell] for space, cell in zip(spots, cells, strict=True) if cell != "."}


def points_before(*numbers: int) -> dict[str, Any]:
    """Changes of a position: the points that the seats have so far, all from light."""
    owned = {f"player_{seat}": number for seat, number in enumerate(numbers) if number}
    return {"points": owned, "scored": {"light": dict(owned)}}


def rest(*used: str) -> list[str]:
    """All cards but these."""
    assert len({*used}) == len(used) and {*used} <= {*CARDS}
    return [card for card in CARDS if card not in used]


def legal(state: State) -> set[str]:
    """The names of all legal answers."""
    return {answer_name(state, int(action)) for action in legal_actions(state)}


def asked(state: State) -> tuple[str, int | None]:
    """(decision, seat)."""
    found = described(state)
    return found["decision"], None if found["actor"] is None else int(found["actor"].removeprefix("player_"))


def planet(state: State, seat: int = 0) -> dict[str, str]:
    return dict(described(state)["planets"].get(f"player_{seat}", {}))


def levels(state: State, seat: int = 0) -> dict[str, int]:
    return dict(described(state)["levels"].get(f"player_{seat}", {}))


def look(state: State, key: str) -> Any:
    """One entry of the description."""
    return described(state)[key]


def by_seat(state: State, numbers: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(numbers.get(f"player_{seat}", 0) for seat in range(look(state, "players")))


def points(state: State) -> tuple[int, ...]:
    """Everybody's points when the last round ended."""
    return by_seat(state, look(state, "points"))


def scored(state: State, source: str) -> tuple[int, ...]:
    """Everybody's points from one source."""
    return by_seat(state, look(state, "scored").get(source, {}))


def places(state: State, components: Components = None) -> tuple[int, ...]:
    """Everybody's place in a finished game."""
    batch = _showing(state, components)
    return tuple(int(place) for place in batch.places(batch.states)[0])


def view(state: State, seat: int) -> bytes:
    """All that the seat's observation holds."""
    observation: np.ndarray = _showing(state, None).observe(seat)[0]
    return observation.tobytes()


def fertility(zone: Sequence[str], left: str = "wild buds", components: Components = None) -> dict[str, int]:
    """What one big tree in each biome scores at the end, with these cards placed and `left` the last leftover."""
    found = {}
    for biome, names in BIOMES.items():
        trees = {"planets": {"player_0": {names.split()[0]: "big_tree"}}}
        state = all_done(leave(left, zone, components=components, round=14, **trees), components)
        assert asked(state) == ("game_over", None)
        found[biome] = scored(state, "fertility")[0]
    return found


def fertile(**values: int) -> dict[str, int]:
    """The fertility of all biomes, 0 where nothing is given."""
    return {biome: values.get(biome, 0) for biome in BIOMES}


def flowers_of(zone: Sequence[str]) -> int:
    """Flowers on these cards of the shipped deck, all of which have some."""
    twos = {"meadow sprout", "flowers small_tree", "grain big_tree", "rock bush", "swamp lake", "snow buds"}
    return sum(2 if card in twos else 1 for card in zone)


def spaces(names: str) -> set[str]:
    return {f"space {name}" for name in names.split()}


GROUPS = {"M": "meadow", "F": "flowers", "G": "grain", "R": "rock", "W": "swamp", "N": "snow"}
MENU = {"plant3": "plant three", "grow2": "grow two", "both": "plant and grow", "any": "anywhere"}


def rows(text: str) -> pytest.MarkDecorator:
    """A test for each line of the text, as `check` reads it; "# " begins a comment."""
    found = [line.strip() for line in text.strip().splitlines()]
    return pytest.mark.parametrize("row", [line for line in found if not line.startswith("# ")])


def check(row: str, components: Components = None) -> State:
    """card | levels | planet | answers | what is legal then | what stands otherwise on the planet then.

    Planet: "s:a5,b5 T:N" (pieces as in `line`; M F G R W N biomes, * all spaces, # ravines, "-" takes spaces out).
    Answers: "grow2, a5". Legal: the same names and spaces; "over" if the turn is over.
    """
    card, level, before, names, expected, changes = (part.strip() for part in row.split("|"))
    known = {"player_0": {word: int(number) for word, number in (pair.split("=") for pair in level.split())}}
    state = turn(card, standing(before), levels=known if level else {}, components=components)
    state = play(state, *(named(name.strip()) for name in names.split(",") if name), components=components)
    assert planet(state) == standing(before) | standing(changes)
    if expected == "over":
        assert asked(state) == ("turn", 1)
    else:
        assert legal(state) == {named(name) for word in expected.split() for name in several(word)}
    return state


def several(word: str) -> list[str]:
    """Spaces of "W-a5,b5", or the word itself."""
    plus, *minus = word.split("-")
    if plus in GROUPS:
        found = BIOMES[GROUPS[plus]].split()
    elif plus in "*#":
        found = (EVERYWHERE if plus == "*" else RAVINES).split()
    else:
        found = plus.split(",")
    return [name for name in found if name not in ",".join(minus).split(",")]


def standing(words: str) -> dict[str, str]:
    pairs = (word.split(":") for word in words.split())
    return {space: PIECES[piece] for piece, names in pairs for space in several(names)}


def named(word: str) -> str:
    return f"space {word}" if re.fullmatch("[a-z][0-9]", word) else MENU.get(word, word)
