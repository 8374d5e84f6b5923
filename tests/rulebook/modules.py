"""What the tests of promos, five players and Flowers share, beside `base_game.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from petrichor_env import Batch, Config
from petrichor_env.config import POWERS
from petrichor_env.observation import LAYOUT
from petrichor_env.state import TILE_NAMES, Crop, State
from tests.rulebook.base_game import FIELDS, asked, end_round, final_round, game, legal_names, over, tile
from tests.rulebook.southern_winds import solo
from tests.support.play import play

OTHERS = ("1st to the left", "2nd to the left", "3rd to the left", "4th to the left")
"""What drops' owners are called, clockwise from the actor's left neighbour."""


def harvest(players: int, field: Mapping[str, dict[str, Any]], weather: str = "rain", **changes: Any) -> State:
    """The next round's start, after Frost and `weather` (rain or sun) and a Harvest in round 1."""
    votes = {"frost": (0, 1), weather: (0, 1)}
    return end_round(players, field=field, votes=votes, dice=["harvest"] * 3, **changes)


def neighbours(players: int, name: str) -> dict[str, str]:
    """Direction → tile, for the orthogonally adjacent tiles of the Fields of 2 to 5 players."""
    column, row = ord(name[0]), int(name[1])
    steps = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
    around = {direction: f"{chr(column + right)}{row + down}" for direction, (right, down) in steps.items()}
    return {direction: there for direction, there in around.items() if there in FIELDS[players]}


def frequency(batch: Batch, crop: Crop) -> float:
    """The share of a batch's games that have the tile on their field; no game has it twice."""
    copies = (batch.states["crop"] == crop).sum(axis=1)
    assert int(copies.max()) <= 1
    return float(copies.mean())


def with_crop(batch: Batch, crop: Crop) -> tuple[State, str]:
    """A batch's first game that has the tile on its field, and where."""
    number, position = np.argwhere(batch.states["crop"] == crop)[0]
    return batch.states.copy()[number], TILE_NAMES[position]


# --- the flower tiles and powers -----------------------------------------------------------------------------------


def relative(owner: int, seat: int, players: int) -> str:
    """How the actions of `seat` name the owner of a drop."""
    return ("own", *OTHERS)[(owner - seat) % players]


def resolving(*kinds: str, players: int = 2, **changes: Any) -> State:
    """The Weather Phase in which these two kinds of weather resolve (the final round: one or more), and what follows.

    player_0 is First Player; nobody is asked before.
    """
    return end_round(players, votes=dict.fromkeys(kinds, (1,)), **changes)


def harvested(players: int, field: Mapping[str, dict[str, Any]], **changes: Any) -> State:
    """The next round's start, after Sun and Rain weather (so no Frost) and a Harvest in round 1."""
    return resolving("sun", "rain", players=players, field=field, dice=["harvest"] * 3, **changes)


def wind_blows(state: State, west: str, owner: int = 0) -> State:
    """Wind weather in which everybody moves the same drop of `owner` to and fro, from `west` or its eastern tile."""
    east = chr(ord(west[0]) + 1) + west[1]
    players = int(state["players"])
    here, there = (west, east) if state["drops"][TILE_NAMES.index(west)][owner] else (east, west)
    while asked(state)[0] == "wind_weather_drop":
        state = play(state, f"drop {here} {relative(owner, asked(state)[1], players)}")
        if asked(state)[0] == "wind_weather_direction":
            state = play(state, "move east" if here == west else "move west")
        here, there = there, here
    return state


def random_play(config: Config, games: int, steps: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The states before and after each step of random games; after its end a game starts again."""
    batch = Batch(config, games, seed=seed)
    after = batch.states.copy()
    for _ in range(steps):
        before = after
        batch.step(batch.random_actions())
        after = batch.states.copy()
        yield before, after


def with_pods(state: State) -> set[str]:
    """The tiles that hold one of the Dandelion's pods."""
    return {name for name, pod in zip(TILE_NAMES, state["pods"], strict=True) if pod}


def blooms(state: State, name: str) -> int:
    """The bloom tokens on a Snowdrop or Primrose."""
    return int(state["blooms"][TILE_NAMES.index(name)])


def controller(state: State) -> int:
    """The seat that controls the Primrose, or NOBODY."""
    return int(state["controller"])


# --- the forecast cards --------------------------------------------------------------------------------------------


def forecasts(*held: Sequence[int], modules: tuple[str, ...] = ()) -> dict[str, Any]:
    """Keys of a scenario with forecast cards and other modules. A seat holds three cards, or two after its first.

    Players who are not named have played theirs.
    """
    cards = {f"player_{seat}": list(numbers) for seat, numbers in enumerate(held) if numbers}
    return {"modules": ["forecasts", *modules], "forecasts": cards}


def forecasts_of(state: State, holder: int) -> list[int]:
    """The numbers of the forecast cards of a seat, of the box (NOBODY), or out of the game (PLAYED)."""
    return [number for number, seat in enumerate(state["forecast_holder"], start=1) if int(seat) == holder]


def playable(numbers: Sequence[int]) -> set[str]:
    """The actions that play these forecast cards."""
    return {f"forecast {number}" for number in numbers}


def offer(*numbers: int) -> set[str]:
    """The legal actions where one of these forecast cards may be played outside the player's own turn."""
    return playable(numbers) | {"decline"}


def view(state: State, seat: int) -> np.ndarray:
    """What the seat observes."""
    batch = Batch(Config.of(state), 1, seed=0)
    batch.states[0] = state
    batch.refresh(check=False)
    return batch.observe(seat)[0]


def block(state: State, seat: int, name: str) -> list[float]:
    """One block of what the seat observes."""
    return [float(number) for number in view(state, seat)[LAYOUT[name].slice]]


FORECAST_FIELD = {
    "b1": tile("grass", (5, 1), cloud=(1, 1)),
    "c1": tile("wheat", (1, 1), cloud=(1,)),
    "b2": tile("coffee", (0, 1)),
    "c2": tile("cotton", (1,)),
}
"""A field on which each of the cards 1 to 9 has something to do in any weather, for player_0."""


def final_rain(held: dict[str, Any], field: dict[str, Any], players: int = 2, **changes: Any) -> State:
    """The final round's Rain weather, with player_0 as First Player."""
    return final_round(players, votes={"rain": (1,)}, field=field, **held, **changes)


def asked_for(state: State) -> list[tuple[int, str]]:
    """Which forecast cards are offered to whom until the end of the round, if nobody plays any."""
    found, round_ = [], int(state["round"])
    while not over(state) and state["round"] == round_:
        decision, seat = asked(state)
        legal = legal_names(state)
        if decision == "forecast":
            assert "decline" in legal
            found.append((seat, " ".join(sorted(name.split()[1] for name in legal - {"decline"}))))
        state = play(state, "decline" if decision == "forecast" else min(legal))
    return found


# --- powers ---------------------------------------------------------------------------------------------------------


def powers(first: str, players: int = 2, modules: tuple[str, ...] = (), others: tuple[str, ...] = ()) -> dict[str, Any]:
    """A scenario's keys: player_0 has the power, the other players others."""
    rest = others or tuple(power for power in POWERS if power != first)[: players - 1]
    return {"modules": ["powers", *modules], "powers": [first, *rest]}


def holding(power: str, hand: str, field: dict[str, Any] | None = None, players: int = 2, **changes: Any) -> State:
    """player_0's turn with these cards and this power."""
    modules = changes.pop("modules", ())
    hands = (hand, *("frost frost",) * 4)
    return game(players, hands=hands, field=field, **powers(power, players, modules), **changes)


def alone(power: str, clouds: dict[int, tuple[int, int]] | None = None, **changes: Any) -> State:
    """Your turn in a solo game with this power; clouds as in `solo`."""
    return solo(clouds, decision="turn", modules=["powers"], powers=[power], **changes)
