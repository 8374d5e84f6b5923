"""What the tests of games with 2 to 5 players share: short scenarios, and how to look at a state in words.

Drops, votes and points are given and read as tuples by seat, hands as words: `game(hands=("frost sun", "rain"))`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from petrichor_env import scenario
from petrichor_env.actions import ACTION_NAMES
from petrichor_env.state import (
    CROP_NAMES,
    DECISION_NAMES,
    PHASE_NAMES,
    TILE_NAMES,
    WEATHER_NAMES,
    Cloud,
    Decision,
    Growing,
    State,
)
from tests.support.play import play

Numbers = tuple[int, ...]

FIELDS = {
    2: ("b1", "c1", "a2", "b2", "c2", "a3", "b3"),
    3: ("a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"),
    4: ("a1", "b1", "c1", "d1", "a2", "b2", "c2", "d2", "a3", "b3", "c3", "d3"),
    5: tuple(TILE_NAMES),
}
"""The positions of the tiles by number of players (Setup; ruling 2.1)."""

NEXT = {"frost": "sun", "sun": "wind", "wind": "rain", "rain": "frost"}
"""The weather sequence."""


def owned(numbers: Sequence[int]) -> dict[str, int]:
    return {f"player_{seat}": number for seat, number in enumerate(numbers) if number}


def tile(
    crop: str | None = None,
    drops: Numbers = (),
    *,
    cloud: Numbers = (),
    thunder: bool = False,
    growing: str | None = None,
    **tokens: Any,
) -> dict[str, Any]:
    """A tile. A cloud of 4 or more drops is a thundercloud; a smaller one is, if `thunder`.

    `tokens` are those of the promos and flowers: fertilizer=True, pod=True, blooms=1.
    """
    described: dict[str, Any] = {"drops": owned(drops), **tokens}
    if crop is not None:
        described["crop"] = crop
    if growing is not None:
        described["growing"] = growing
    if cloud:
        kind = "thunder" if thunder or sum(cloud) >= 4 else "light"
        described["cloud"] = {"kind": kind, "drops": owned(cloud)}
    return described


def game(
    players: int = 2,
    *,
    hands: Sequence[str] = ("frost",) * 5,
    field: Mapping[str, dict[str, Any]] | None = None,
    votes: Mapping[str, Numbers] | None = None,
    **changes: Any,
) -> State:
    """A state in the Action Phase: player_0's turn, after everybody's first one; dice 4 4 4, no drops.

    Tiles without a named crop get one of the crops that are left.
    """
    for key in ("points", "voting_wins", "wheat_tokens"):
        if key in changes:
            changes[key] = owned(changes[key])
    return scenario(
        {
            "players": players,
            "dice": [4, 4, 4],
            "hands": {f"player_{seat}": Counter(hands[seat].split()) for seat in range(players)},
            "field": field or {},
            "votes": {weather: owned(numbers) for weather, numbers in (votes or {}).items()},
            **changes,
        }
    )


def last_turn(players: int = 2, **changes: Any) -> State:
    """A state in which the Action Phase ends with the next turn, of the last player; player_0 passed and is first.

    Everybody else holds one Frost card, so the last player has a choice.
    """
    last = f"player_{players - 1}"
    hands = ("", *("frost",) * 4)
    return game(players, **{"hands": hands, "first_player": "player_0", "passed": "player_0", "actor": last, **changes})


def end_round(players: int = 2, *actions: str, **changes: Any) -> State:
    """Pass in `last_turn`, then `actions`: the Weather Phase and what follows."""
    return play(last_turn(players, **changes), "pass", *actions)


def final_round(players: int = 2, *actions: str, **changes: Any) -> State:
    """The end of a short game's 4th round."""
    return end_round(players, *actions, round=4, **changes)


def with_seeds(state: State, number: int, *actions: str) -> list[State]:
    """The states after `actions`, with `number` different random streams."""
    outcomes = []
    for seed in range(number):
        other = state.copy()
        other["rng"] = seed
        outcomes.append(play(other, *actions))
    return outcomes


# --- looking at a state --------------------------------------------------------------------------------------------


def legal_names(state: State) -> set[str]:
    """The names of all legal actions."""
    words = [int(word) for word in state["legal"]]
    return {name for action, name in enumerate(ACTION_NAMES) if words[action // 64] >> (action % 64) & 1}


def tiles(*names: str) -> set[str]:
    return {f"tile {name}" for name in names}


def cards(*kinds: str) -> set[str]:
    return {f"card {kind}" for kind in kinds}


def weathers(*kinds: str) -> set[str]:
    return {f"weather {kind}" for kind in kinds}


def moves(*directions: str) -> set[str]:
    return {f"move {direction}" for direction in directions}


def asked(state: State) -> tuple[str, int]:
    """(decision, seat)."""
    return DECISION_NAMES[int(state["decision"])], int(state["actor"])


def over(state: State) -> bool:
    return int(state["decision"]) == Decision.GAME_OVER


def phase(state: State) -> str:
    return PHASE_NAMES[int(state["phase"])]


def by_seat(state: State, name: str) -> Numbers:
    """A field of all players, such as points, supply or voting_wins."""
    return tuple(int(number) for number in state[name][: int(state["players"])])


def on_tile(state: State, name: str) -> Numbers:
    """Drops on the tile, by seat."""
    return tuple(int(number) for number in state["drops"][TILE_NAMES.index(name)][: int(state["players"])])


def cloud(state: State, name: str) -> tuple[str | int, ...] | None:
    """("light" or "thunder", drops by seat) of the cloud above the tile, or None."""
    position = TILE_NAMES.index(name)
    kind = Cloud(int(state["cloud"][position]))
    drops = tuple(int(number) for number in state["cloud_drops"][position][: int(state["players"])])
    if kind is Cloud.NONE:
        assert not any(drops)
        return None
    return kind.name.lower(), *drops


def clouds(state: State) -> dict[str, tuple[str | int, ...]]:
    """All clouds by tile."""
    found = {name: cloud(state, name) for name in FIELDS[int(state["players"])]}
    return {name: value for name, value in found.items() if value is not None}


def growing(state: State, name: str) -> str:
    """The growing token: none, sprouting or developed."""
    return Growing(int(state["growing"][TILE_NAMES.index(name)])).name.lower()


def crop(state: State, name: str) -> str:
    return CROP_NAMES[int(state["crop"][TILE_NAMES.index(name)])]


def votes_on(state: State, weather: str) -> Numbers:
    """Votes by seat."""
    row = state["votes"][WEATHER_NAMES.index(weather)]
    return tuple(int(number) for number in row[: int(state["players"])])


def hand(state: State, seat: int) -> list[str]:
    """The cards in hand, in the order of the weather sequence."""
    return words(state["hand"][seat])


def words(counts: Iterable[int]) -> list[str]:
    """Counts by kind as a list of kinds."""
    return [kind for kind, count in zip(WEATHER_NAMES, counts, strict=True) for _ in range(int(count))]


def dice(state: State) -> list[int]:
    """The Harvest dice, ascending; 0 is Harvest."""
    return sorted(int(side) for side in state["dice"])
