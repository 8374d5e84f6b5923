"""The Draft: picking cards, the first player's marker, and who begins the next round."""

from __future__ import annotations

import pytest

from tests.evergreen.play import all_done, asked, draft, fresh, legal, look, play

MARKET = ("wild sprout", "wild small_tree", "wild big_tree", "wild bush", "wild lake")


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_one_card_more_than_players(players: int) -> None:
    """Case 2; The Draft, market: players + 1 cards, any of them can be picked, and each only once."""
    state = fresh(players)
    market = look(state, "market")
    for slot in range(players + 1, 1, -1):
        assert look(state, "market") == [*market[:slot], *[None] * (players + 1 - slot)]
        assert legal(state) == {f"draft {free}" for free in range(1, slot + 1)}
        seat = asked(state)[1]
        state = play(state, f"draft {slot}")
        assert look(state, "cards")[f"player_{seat}"] == market[slot - 1]
    assert (asked(state)[0], len(look(state, "cards"))) == ("turn", players)
    assert market[0] in [*look(state, "zone"), *look(state, "discards")]


@pytest.mark.parametrize(("slot", "marked"), [(1, 2), (2, 1), (3, 1), (4, 1)])
def test_the_marker_goes_on_the_leftmost_card_left(slot: int, marked: int) -> None:
    """Case 3; The Draft, marker: after the first player's pick, not before it; later picks don't move it."""
    state = draft(MARKET[:4])
    assert look(state, "marked") is None
    state = play(state, f"draft {slot}")
    assert (look(state, "marked"), look(state, "next_first")) == (marked, None)
    other = 3 if slot != 3 else 4
    assert look(play(state, f"draft {other}"), "marked") == marked


@pytest.mark.parametrize(
    ("first", "picks", "taker"),
    [
        *[(0, (1, 3, 2), 2), (0, (1, 3, 4), None), (1, (1, 2, 3), 2), (1, (1, 3, 2), 0), (1, (4, 3, 1), 0)],
        *[(2, (2, 1, 4), 0), (2, (3, 2, 4), None)],
    ],
)
def test_who_takes_the_marked_card_is_first_next_round(first: int, picks: tuple[int, ...], taker: int | None) -> None:
    """Case 4; The Draft, marker; End of Round: this round's order stays; the next draft begins with the taker.

    If the marked card is left over, the first player stays first (found in public material).
    """
    state = play(draft(MARKET[:4], first_player=f"player_{first}"), *(f"draft {slot}" for slot in picks))
    name = None if taker is None else f"player_{taker}"
    assert [look(state, key) for key in ("next_first", "first_player", "marked")] == [name, f"player_{first}", None]
    for step in range(3):
        assert asked(state) == ("turn", (first + step) % 3)
        state = play(state, "done")
    begins = first if taker is None else taker
    assert (look(state, "first_player"), look(state, "next_first")) == (f"player_{begins}", None)
    for step in range(3):
        assert asked(state) == ("draft", (begins + step) % 3)
        state = play(state, f"draft {step + 1}")


def test_a_single_player_needs_no_marker() -> None:
    """E24: one player drafts 1 of 2 cards and is always first."""
    state = play(draft(MARKET[:2]), "draft 2")
    assert (look(state, "marked"), look(state, "next_first"), asked(state)) == (None, None, ("turn", 0))
    assert look(state, "cards") == {"player_0": "wild small_tree"}
    assert asked(all_done(state)) == ("draft", 0)
