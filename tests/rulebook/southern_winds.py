"""What tests of the Southern Winds share: short solo scenarios, and how to look at a tile by position (P1 to P6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from petrichor_env import scenario
from petrichor_env.state import NO_TILE, Cloud, State
from tests.support.play import play

YOU, NEUTRAL = 0, 1
POSITIONS = (1, 2, 3, 4, 5, 6)
TILES = (0, 1, 4, 5, 8, 9)
"""The tiles of P1 to P6."""
TILE_NAMES = ("a1", "b1", "a2", "b2", "a3", "b3")
CROPS = ("cotton", "grass", "cotton", "potato", "wheat", "coffee")
"""The crops of P1 to P6 unless a test says otherwise; they grow from 2, 4, 2, 3, 3 and 4 drops."""

Pair = tuple[int, int]
"""Drops: (yours, neutral)."""


def solo(
    clouds: Mapping[int, Pair] | None = None,
    drops: Mapping[int, Pair] | None = None,
    *,
    crops: tuple[str, ...] = CROPS,
    thunder: tuple[int, ...] = (),
    winds: tuple[int, ...] = (8,),
    votes: Mapping[str, Pair] | None = None,
    points: Pair = (0, 0),
    **changes: Any,
) -> State:
    """A solo state by positions. Clouds in `thunder` and those of 4 or more drops are thunderclouds.

    The deck is `winds` and card 9.
    Unless `changes` say otherwise, the last vote of your turn is pending and one Frost card is in your hand: see
    `neutral_turn`.
    """

    def owned(pair: Pair) -> dict[str, int]:
        return {owner: number for owner, number in zip(("player_0", "neutral"), pair, strict=True) if number}

    field: dict[str, Any] = {}
    for position, crop in zip(POSITIONS, crops, strict=True):
        tile: dict[str, Any] = {"crop": crop}
        if drops and position in drops:
            tile["drops"] = owned(drops[position])
        if clouds and position in clouds:
            kind = "thunder" if position in thunder or sum(clouds[position]) >= 4 else "light"
            tile["cloud"] = {"kind": kind, "drops": owned(clouds[position])}
        field[f"P{position}"] = tile
    description = {
        "players": 1,
        "field": field,
        "hands": {"player_0": {"frost": 1}},
        "dice": [4, 4, 4],
        "votes": {weather: owned(pair) for weather, pair in (votes or {}).items()},
        "points": owned(points),
        "southern_winds": {"deck": [*winds, 9]},
        "decision": "vote",
        **changes,
    }
    if description["decision"] == "vote":
        description.setdefault("pending", {"card": "frost"})
    return scenario(description)


def sample(state: State, number: int, *actions: str, reshuffled: bool = False) -> list[State]:
    """The states after `actions`, with `number` random streams in which card 9 doesn't come up unless `reshuffled`."""
    found: list[State] = []
    for seed in range(100 * number):
        other = state.copy()
        other["rng"] = seed
        after = play(other, *actions)
        if reshuffled or (after["winds_deck"] <= state["winds_deck"]).all():
            found.append(after)
        if len(found) == number:
            return found
    raise AssertionError(f"{len(found)} of {number} outcomes without card 9")


def act(state: State, *actions: str) -> State:
    """`play`, with a random stream in which card 9 doesn't come up, so another card of the deck does."""
    return sample(state, 1, *actions)[0]


def neutral_turn(state: State) -> State:
    """Vote for Frost, which ends your turn, and let the neutral turn pass."""
    return act(state, "vote frost")


def by_die(state: State) -> dict[int, State]:
    """The state after the neutral turn for each roll of the numeric die."""
    found: dict[int, State] = {}
    for after in sample(state, 80, "vote frost"):
        found.setdefault(int(after["winds_roll"][0]), after)
    assert sorted(found) == list(POSITIONS)
    return {die: found[die] for die in POSITIONS}


def tile_drops(state: State, position: int) -> Pair:
    """(yours, neutral) on the tile itself."""
    yours, neutral = state["drops"][TILES[position - 1]][:2]
    return int(yours), int(neutral)


def cloud(state: State, position: int) -> tuple[Cloud, int, int] | None:
    """(kind, your drops, neutral drops) of the cloud there, or None."""
    tile = TILES[position - 1]
    kind = Cloud(int(state["cloud"][tile]))
    yours, neutral = (int(number) for number in state["cloud_drops"][tile][:2])
    if kind is Cloud.NONE:
        assert yours == neutral == 0
        return None
    return kind, yours, neutral


def growing(state: State, position: int) -> int:
    return int(state["growing"][TILES[position - 1]])


def target(state: State, index: int = 0) -> int | None:
    """The position that the neutral turn's card took effect on."""
    tile = int(state["winds_target"][index])
    return None if tile == NO_TILE else TILES.index(tile) + 1


def fields(state: State) -> list[Any]:
    """Everything that lies on the Fields."""
    return [(tile_drops(state, position), cloud(state, position), growing(state, position)) for position in POSITIONS]


def changed(before: State, after: State) -> list[int]:
    """The positions where something happened."""
    pairs = zip(POSITIONS, fields(before), fields(after), strict=True)
    return [position for position, old, new in pairs if old != new]


def circling(*valid: int) -> dict[int, int]:
    """For each roll, the first valid position from there on: Southern Winds, Neutral Turn 1."""
    rolls = {die: [(die - 1 + step) % 6 + 1 for step in range(6)] for die in POSITIONS}
    return {die: next(position for position in order if position in valid) for die, order in rolls.items()}


def pair(state: State, name: str) -> Pair:
    """(yours, neutral) of a field by seat, such as points, supply, voting_wins."""
    return int(state[name][YOU]), int(state[name][NEUTRAL])


def votes(state: State, owner: int) -> tuple[int, ...]:
    """The owner's votes on Frost, Sun, Wind, Rain."""
    return tuple(int(number) for number in state["votes"][:, owner])


def dice(state: State) -> list[int]:
    return sorted(int(side) for side in state["dice"])
