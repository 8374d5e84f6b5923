"""The exact sets of legal actions in thousands of positions of random games, against a second implementation of the
rule text.

The parts of an answer that were named so far (paid cards, a first drop, a vote's target) are remembered here, not read
from the state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from petrichor_env import Batch, Config
from petrichor_env.actions import ACTIONS
from petrichor_env.state import DECISION_NAMES, WEATHER_NAMES, State
from tests.rulebook.base_game import (
    FIELDS,
    NEXT,
    asked,
    by_seat,
    cards,
    cloud,
    dice,
    game,
    hand,
    legal_names,
    moves,
    on_tile,
    tile,
    tiles,
    votes_on,
    weathers,
)
from tests.support.effort import games

OWNERS = ("own", "1st to the left", "2nd to the left", "3rd to the left", "4th to the left")
BASE_GAME = DECISION_NAMES[: DECISION_NAMES.index("fertilizer_tile")]
ALWAYS_ASKED = ("draft", "pay", "optional_action", "discard")
"""Decisions that would show hidden cards if they were skipped with one answer left."""
CLOUDS = 12
"""Components."""
GAMES = {4: 40, 6: games(20, 40)}
"""By the number of rounds. In fewer short games some decision does not come up."""


class Referee:
    """Says what is legal in a game. It follows the game from its first decision."""

    def __init__(self) -> None:
        self.round = 0
        self.had_a_turn: set[int] = set()
        self.named: list[str] = []
        self.sets: list[tuple[str, ...]] = []
        self.last = ""
        self.chosen: set[str] = set()

    def legal(self, state: State) -> set[str]:
        if state["round"] != self.round:
            self.round, self.had_a_turn, self.chosen = int(state["round"]), set(), set()
        decision, seat = asked(state)
        if decision == "discard" and not self.named:
            held = hand(state, seat)
            self.sets = [*combinations(held, len(held) - 4)]
        found: set[str] = getattr(self, decision)(state, seat)
        return found

    def played(self, state: State, name: str) -> None:
        """The action taken in `state`."""
        decision, seat = asked(state)
        self.last = name
        if decision in ("pay", "discard"):
            self.named.append(name.split()[1])
            if len(self.named) == max(map(len, self.continued())):
                self.named = []
        if decision == "turn":
            self.had_a_turn.add(seat)
        if name.startswith("substitute"):
            self.sets = [*payments(hand(state, seat), name.split()[1], decision == "optional_action")]
        if decision == "choose_weather":
            self.chosen.add(name.split()[1])

    # sets of cards, named in order

    def continued(self) -> list[tuple[str, ...]]:
        return [cards_named for cards_named in self.sets if list(cards_named[: len(self.named)]) == self.named]

    def pay(self, state: State, seat: int) -> set[str]:
        return cards(*(cards_named[len(self.named)] for cards_named in self.continued()))

    discard = pay

    # turns

    def setup_cloud(self, state: State, seat: int) -> set[str]:
        return tiles(*free(state))

    def turn(self, state: State, seat: int) -> set[str]:
        held = hand(state, seat)
        options = {f"play {kind}" for kind in held} | substitutes(held, optional=False)
        return options | ({"pass"} if seat in self.had_a_turn else set())

    def optional_action(self, state: State, seat: int) -> set[str]:
        held = hand(state, seat)
        pairs = {f"play {kind}" for kind, count in Counter(held).items() if count >= 2}
        return {"decline"} | pairs | substitutes(held, optional=True)

    # card actions

    def frost_tile(self, state: State, seat: int) -> set[str]:
        assert len(clouds_of(state)) < CLOUDS
        return tiles(*free(state)) | ({"decline"} if supply(state, seat) == 0 else set())

    def frost_cloud(self, state: State, seat: int) -> set[str]:
        """Five players, all clouds in play: a drop goes into a cloud without one of the player's."""
        assert state["players"] == 5
        assert len(clouds_of(state)) == CLOUDS
        others = [name for name in clouds_of(state) if name not in own_clouds(state, seat)]
        return tiles(*others) | ({"decline"} if supply(state, seat) == 0 else set())

    def sun_cloud(self, state: State, seat: int) -> set[str]:
        return tiles(*own_clouds(state, seat)) | ({"decline"} if supply(state, seat) < 2 else set())

    def wind_cloud(self, state: State, seat: int) -> set[str]:
        return tiles(*own_clouds(state, seat))

    def wind_direction(self, state: State, seat: int) -> set[str]:
        clouds = own_clouds(state, seat)
        return directions(state, self.last.split()[1] if len(clouds) > 1 else clouds[0])

    def rain_drop(self, state: State, seat: int) -> set[str]:
        clouds = {name: cloud(state, name) or () for name in own_clouds(state, seat)}
        return drops_by_owner(state, seat, {name: drops[1:] for name, drops in clouds.items()})

    def rain_second_drop(self, state: State, seat: int) -> set[str]:
        first = f"drop {self.last.split()[1]} "
        return {"decline"} | {name for name in self.rain_drop(state, seat) if not name.startswith(first)}

    def take_drop(self, state: State, seat: int) -> set[str]:
        return tiles(*own_tiles(state, seat))

    # votes

    def vote(self, state: State, seat: int) -> set[str]:
        kind = WEATHER_NAMES[int(state["card"])]
        spaces = {space for space in (kind, NEXT[kind]) if sources(state, seat, space)}
        if by_seat(state, "vote_supply")[seat]:
            spaces = {kind, NEXT[kind]}
        return {f"vote {space}" for space in spaces} | {f"die {votes}" for votes in dice(state) if votes}

    def move_vote(self, state: State, seat: int) -> set[str]:
        assert by_seat(state, "vote_supply")[seat] == 0
        return weathers(*sources(state, seat, self.last.split()[1]))

    # weather

    def choose_weather(self, state: State, seat: int) -> set[str]:
        assert seat == state["first_player"]
        totals = {kind: sum(votes_on(state, kind)) for kind in WEATHER_NAMES}
        if state["round"] == state["rounds"]:
            totals = {kind: total for kind, total in totals.items() if total}
        second = sorted(totals.values(), reverse=True)[1]
        return weathers(*(kind for kind, total in totals.items() if total == second and kind not in self.chosen))

    def sun_weather_cloud(self, state: State, seat: int) -> set[str]:
        own = {name: (cloud(state, name) or ())[1 + seat] for name in own_clouds(state, seat)}
        reserve = supply(state, seat)
        reach = reserve + sum(on_tile(state, name)[seat] for name in own_tiles(state, seat))
        may_decline = all(int(drops) > reserve for drops in own.values())
        possible = tiles(*(name for name, drops in own.items() if int(drops) <= reach))
        return possible | ({"decline"} if may_decline else set())

    def wind_weather_drop(self, state: State, seat: int) -> set[str]:
        return drops_by_owner(state, seat, {name: on_tile(state, name) for name in field(state)})

    def wind_weather_direction(self, state: State, seat: int) -> set[str]:
        options = self.wind_weather_drop(state, seat)
        return directions(state, (self.last if len(options) > 1 else options.pop()).split()[1])


def field(state: State) -> tuple[str, ...]:
    return FIELDS[int(state["players"])]


def free(state: State) -> list[str]:
    return [name for name in field(state) if cloud(state, name) is None]


def clouds_of(state: State) -> list[str]:
    return [name for name in field(state) if cloud(state, name) is not None]


def supply(state: State, seat: int) -> int:
    return by_seat(state, "supply")[seat]


def own_clouds(state: State, seat: int) -> list[str]:
    return [name for name in field(state) if (cloud(state, name) or (0,) * 6)[1 + seat]]


def own_tiles(state: State, seat: int) -> list[str]:
    return [name for name in field(state) if on_tile(state, name)[seat]]


def sources(state: State, seat: int, target: str) -> list[str]:
    return [space for space in WEATHER_NAMES if space != target and votes_on(state, space)[seat]]


def directions(state: State, name: str) -> set[str]:
    column, row = ord(name[0]), int(name[1])
    around = {
        "north": (column, row - 1),
        "east": (column + 1, row),
        "south": (column, row + 1),
        "west": (column - 1, row),
    }
    return moves(*(way for way, (c, r) in around.items() if f"{chr(c)}{r}" in field(state)))


def drops_by_owner(state: State, seat: int, drops: dict[str, Iterable[int | str]]) -> set[str]:
    players = int(state["players"])
    return {
        f"drop {name} {OWNERS[(owner - seat) % players]}"
        for name, numbers in drops.items()
        for owner, number in enumerate(numbers)
        if number
    }


def payments(held: list[str], kind: str, optional: bool) -> Iterator[tuple[str, ...]]:
    """The sets of cards that pay for a substituted action, as they are named (ruling 2.2)."""
    others = [card for card in held if card != kind]
    if not optional:
        yield from combinations(others, 2)
        return
    yield from combinations(others, 4)
    if kind in held:
        for two in combinations(others, 2):
            yield (kind, *two)


def substitutes(held: list[str], *, optional: bool) -> set[str]:
    return {f"substitute {kind}" for kind in WEATHER_NAMES if any(True for _ in payments(held, kind, optional))}


def busy(options: set[str]) -> set[str]:
    """Neither passes, declines nor decreases dice, so supplies of drops and votes run out."""
    return {name for name in options if name.split()[0] not in ("pass", "decline", "die")} or options


def start_without_votes(batch: Batch, referee: Referee) -> None:
    """Begin with all votes on the board, after everybody's first turn."""
    players, hand = batch.config.players, "frost frost sun sun wind rain"
    votes = dict.fromkeys(WEATHER_NAMES, (3,) * players)
    start(batch, referee, hands=[hand] * players, votes=votes)


def start_without_clouds(batch: Batch, referee: Referee) -> None:
    """Begin with all clouds over the Fields, with drops of one or two players each, after everybody's first turn."""
    clouded = {}
    for number, name in enumerate(field(batch.states[0])[:CLOUDS]):
        drops = [0] * batch.config.players
        drops[number % batch.config.players] += 1
        drops[number // 3] += 1
        clouded[name] = tile(cloud=tuple(drops))
    start(batch, referee, hands=["frost frost sun wind rain"] * batch.config.players, field=clouded)


def start(batch: Batch, referee: Referee, **changes: Any) -> None:
    players = batch.config.players
    batch.states[0] = game(players, rounds=batch.config.rounds, **changes)
    batch.refresh()
    referee.round, referee.had_a_turn = 1, set(range(players))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("rounds", [4, 6])
def test_exactly_what_the_rules_allow_is_offered(players: int, rounds: int) -> None:
    """Every section with a decision: exactly its options are offered; a single option is not asked for."""
    rng = np.random.default_rng(5)
    met: Counter[str] = Counter()
    for number in range(GAMES[rounds]):
        batch = Batch(Config(players=players, rounds=rounds), 1, seed=number, autoreset="disabled")
        referee = Referee()
        if number % 4 == 3:
            start_without_votes(batch, referee)
        if number % 4 == 2 and players == 5:
            start_without_clouds(batch, referee)
        while batch.actors[0] >= 0:
            state = batch.states.copy()[0]
            decision, _ = asked(state)
            expected = referee.legal(state)
            assert legal_names(state) == expected, decision
            assert len(expected) > 1 or decision in ALWAYS_ASKED
            met[decision] += 1
            options = sorted(busy(expected) if number % 2 else expected)
            name = options[rng.integers(len(options))]
            referee.played(state, name)
            batch.step([ACTIONS[name]])
    assert set(met) == {*BASE_GAME, *(("frost_cloud",) if players == 5 else ())} - {"game_over", "draft"}
