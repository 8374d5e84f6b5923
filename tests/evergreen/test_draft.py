"""The Draft: picking cards, the first player's marker, and who begins the next round."""

from __future__ import annotations

import pytest

from tests.evergreen.play import all_done, asked, draft, fresh, legal, look, play

MARKET = ("wild sprout", "wild small_tree", "wild big_tree", "wild bush", "wild lake")


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_one_card_more_than_players(players: int) -> None:
    """Case 2; The Draft, market: players + 1 cards, any of them can be picked, and each only once."""
    state = fresh(players)
    assert legal(state) == {f"draft {slot}" for slot in range(1, players + 2)}
    market = look(state, "market")
    left = set(range(1, players + 2))
    for slot in range(players + 1, 1, -1):
        card, seat = look(state, "market")[slot - 1], asked(state)[1]
        state = play(state, f"draft {slot}")
        left -= {slot}
        assert look(state, "cards")[f"player_{seat}"] == card
        if len(left) > 1:
            assert legal(state) == {f"draft {slot}" for slot in left}
            assert look(state, "market") == [card if slot in left else None for slot, card in enumerate(market, 1)]
    assert asked(state)[0] == "turn"
    assert len(look(state, "cards")) == players
    placed = [*look(state, "zone"), *look(state, "discards")]
    assert market[0] in placed


@pytest.mark.parametrize(("slot", "marked"), [(1, 2), (2, 1), (3, 1)])
def test_the_marker_goes_on_the_leftmost_card_left(slot: int, marked: int) -> None:
    """Case 3; The Draft, marker: after the first player's pick, not before it."""
    state = draft(MARKET[:3])
    assert look(state, "marked") is None
    state = play(state, f"draft {slot}")
    assert (look(state, "marked"), look(state, "next_first")) == (marked, None)


def test_the_marker_stays_on_its_card() -> None:
    """Case 3; The Draft, marker: only the first player's pick places it; later picks of other cards don't move it."""
    state = play(draft(MARKET[:4]), "draft 1", "draft 3")
    assert look(state, "marked") == 2
    assert legal(state) == {"draft 2", "draft 4"}


def test_who_takes_the_marked_card_is_first_next_round() -> None:
    """Case 4; The Draft, marker; End of Round: the third of three takes it; this round's order stays as it was."""
    state = play(draft(MARKET[:4]), "draft 1", "draft 3", "draft 2")
    assert (look(state, "next_first"), look(state, "first_player"), look(state, "marked")) == (
        *("player_2", "player_0"),
        None,
    )
    for seat in range(3):
        assert asked(state) == ("turn", seat)
        state = play(state, "done")
    assert (look(state, "first_player"), look(state, "next_first")) == ("player_2", None)
    seats = []
    for slot in (1, 2, 3):
        seats.append(asked(state))
        state = play(state, f"draft {slot}")
    assert seats == [("draft", 2), ("draft", 0), ("draft", 1)]


@pytest.mark.parametrize(("picks", "first"), [((1, 2, 3), 2), ((1, 3, 2), 0), ((2, 1, 4), 2), ((4, 3, 1), 0)])
def test_any_player_can_take_the_marked_card(picks: tuple[int, int, int], first: int) -> None:
    """Case 4; The Draft, marker: in seat order 1, 2, 0 it is the second or third who takes it."""
    state = draft(MARKET[:4], first_player="player_1")
    state = all_done(play(state, *(f"draft {slot}" for slot in picks)))
    assert (look(state, "first_player"), asked(state)) == (f"player_{first}", ("draft", first))


def test_a_marked_card_that_is_left_over() -> None:
    """Specification b3 (found in public material): the first player then stays first."""
    state = play(draft(MARKET[:4], first_player="player_1"), "draft 1", "draft 3", "draft 4")
    assert (look(state, "next_first"), look(state, "marked")) == (None, None)
    state = all_done(state)
    assert (look(state, "first_player"), asked(state)) == ("player_1", ("draft", 1))


def test_a_single_player_needs_no_marker() -> None:
    """E24: one player drafts 1 of 2 cards and is always first."""
    state = draft(MARKET[:2])
    assert legal(state) == {"draft 1", "draft 2"}
    state = play(state, "draft 2")
    assert (look(state, "marked"), look(state, "next_first"), asked(state)) == (None, None, ("turn", 0))
    assert look(state, "cards") == {"player_0": "wild small_tree"}
    state = all_done(state)
    assert (look(state, "first_player"), look(state, "round"), asked(state)) == ("player_0", 2, ("draft", 0))
