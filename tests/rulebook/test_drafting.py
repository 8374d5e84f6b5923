"""Official Drafting Variant, as the English rules have it (ruling 2.19)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from petrichor_env import Batch, Config
from petrichor_env.state import WEATHER_NAMES, State
from tests.rulebook.base_game import asked, cards, hand, last_turn, legal_names, phase, with_seeds, words
from tests.support.play import play

PICKS = {2: (1, 2, 2), 3: (1, 2, 2), 4: (1, 2)}
"""Cards kept of each pack before the last ones, by number of players."""
PACK = {2: 7, 3: 7, 4: 6}
PLAYERS = pytest.mark.parametrize("players", [2, 3, 4])

Chooser = Callable[[set[str]], str]


def start(players: int, seed: int = 3) -> State:
    return Batch(Config(players=players, drafting=True), 1, seed=seed).states.copy()[0]


def packs(state: State) -> list[list[str]]:
    return [words(state["pack"][seat]) for seat in range(int(state["players"]))]


def hands(state: State) -> list[list[str]]:
    return [hand(state, seat) for seat in range(int(state["players"]))]


def without(cards_held: list[str], taken: list[str]) -> list[str]:
    rest = list(cards_held)
    for card in taken:
        rest.remove(card)
    return rest


def choices(pack: list[str], count: int, lowest: str = "frost") -> set[str]:
    """The kinds that may be named first when `count` cards are named in ascending kinds."""
    kinds = [
        kind for kind in WEATHER_NAMES if kind in pack and WEATHER_NAMES.index(kind) >= WEATHER_NAMES.index(lowest)
    ]
    order = WEATHER_NAMES.index
    return cards(*(kind for kind in kinds if sum(order(card) >= order(kind) for card in pack) >= count))


def draft(state: State, choose: Chooser) -> State:
    """Follow a whole draft, step by step, against the rule text; returns the state after it."""
    players, first = int(state["players"]), int(state["first_player"])
    held = hands(state)
    dealt = packs(state)
    assert [len(pack) for pack in dealt] == [PACK[players]] * players
    for step, count in enumerate(PICKS[players]):
        for turn in range(players):
            seat = (first + turn) % players
            pack, lowest = dealt[seat], "frost"
            for left in range(count, 0, -1):
                assert asked(state) == ("draft", seat)
                assert legal_names(state) == choices(pack, left, lowest)
                action = choose(legal_names(state))
                lowest = action.split()[1]
                pack.remove(lowest)
                held[seat].append(lowest)
                state = play(state, action)
        dealt = [dealt[(seat - 1) % players] for seat in range(players)]
        if step < len(PICKS[players]) - 1:
            assert packs(state) == dealt, "the rest goes to the next player clockwise, once all have kept"
            assert [sorted(cards_held) for cards_held in hands(state)] == [sorted(cards_held) for cards_held in held]
    for seat in range(players):
        rest = without(hand(state, seat), held[seat] + dealt[seat])
        extra = players == 2 and seat != first and state["round"] == 1
        assert len(rest) == int(extra), "the last cards are kept; one more at setup for the second of 2 players"
    assert not state["pack"].any()
    return state


@PLAYERS
@pytest.mark.parametrize("choose", [min, max], ids=["lowest", "highest"])
def test_draft_at_setup(players: int, choose: Chooser) -> None:
    """Steps of the draft: 1, 2 and the last 3 of 6 cards with 4 players; 1, 2, 2 and the last 2 of 7 with 2 or 3."""
    for seed in range(5):
        state = start(players, seed)
        first = int(state["first_player"])
        assert asked(state) == ("draft", first)
        state = draft(state, choose)
        assert (phase(state), asked(state)) == ("setup", ("setup_cloud", (first - 1) % players))
        sizes = [len(cards_held) for cards_held in hands(state)]
        expected = [PACK[players]] * players
        if players == 2:
            expected[1 - first] = 8
        assert sizes == expected
        assert int(state["deck"].sum()) == 40 - sum(expected)


@PLAYERS
def test_draft_between_rounds(players: int) -> None:
    """There is a draft whenever cards are dealt; cards kept from the last round are added back after it."""
    hands_before = ["", "frost sun", "rain", "wind wind"][:players]
    before = last_turn(players, hands=hands_before, drafting=True, votes={"frost": (1, 1), "rain": (1, 1)})
    for state in with_seeds(before, 5, "pass"):
        assert (int(state["round"]), asked(state)) == (2, ("draft", int(state["first_player"])))
        assert hands(state) == [cards_held.split() for cards_held in hands_before]
        state = draft(state, min)
        assert asked(state) == ("turn", int(state["first_player"]))
        assert phase(state) == "action"
        assert [len(now) for now in hands(state)] == [PACK[players] + len(kept.split()) for kept in hands_before]


@PLAYERS
def test_packs_are_dealt_at_random(players: int) -> None:
    """Steps of the draft: the packs come from the shuffled deck."""
    first_packs = {tuple(packs(start(players, seed))[0]) for seed in range(30)}
    assert len(first_packs) > 10


@PLAYERS
def test_every_card_of_the_pack_can_be_kept(players: int) -> None:
    """Steps of the draft: which card is kept is the player's choice."""
    for seed in range(10):
        state = start(players, seed)
        first = int(state["first_player"])
        pack = packs(state)[first]
        assert legal_names(state) == cards(*pack)
        for kind in set(pack):
            after = play(state, f"card {kind}")
            assert hand(after, first) == [kind]
            assert asked(after) == ("draft", (first + 1) % players)


@PLAYERS
def test_kept_cards_are_secret(players: int) -> None:
    """Ruling 2.19: only the player's own view shows which card is kept."""
    batch = Batch(Config(players=players, drafting=True), 1, seed=0)
    dealt = batch.states.copy()
    first = int(dealt[0]["first_player"])
    views = []
    for action in sorted(legal_names(dealt[0])):
        batch.states[0] = play(dealt[0], action)
        batch.refresh()
        views.append([batch.observe(seat)[0].tobytes() for seat in range(players)])
    assert len(views) > 1
    for seat, seen in enumerate(zip(*views, strict=True)):
        assert len(set(seen)) == (len(views) if seat == first else 1)


def test_a_pick_with_one_kind_left_is_still_asked() -> None:
    """Every player is asked in every step: a skipped pick would show what is in a hidden pack."""
    for seed in range(20):
        state = start(3, seed)
        asked_seats = []
        while asked(state)[0] == "draft":
            asked_seats.append(asked(state)[1])
            state = play(state, min(legal_names(state)))
        assert len(asked_seats) == 3 * sum(PICKS[3])


@PLAYERS
def test_without_the_variant_nothing_is_drafted(players: int) -> None:
    """The draft is a variant; without it hands are dealt."""
    state = Batch(Config(players=players), 1, seed=0).states[0]
    assert asked(state)[0] == "setup_cloud"
    assert not state["pack"].any()
