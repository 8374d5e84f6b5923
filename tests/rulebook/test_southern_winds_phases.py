"""Southern Winds, Weather phase differences, Harvest Phase, Round End and Game End."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from petrichor_env import Batch, Config
from petrichor_env.state import Cloud, Decision, Growing, Phase, State
from tests.rulebook.southern_winds import (
    NEUTRAL,
    YOU,
    Pair,
    act,
    cloud,
    dice,
    growing,
    pair,
    sample,
    solo,
    tile_drops,
    votes,
)

LIGHT, THUNDER = Cloud.LIGHT, Cloud.THUNDER


def turn(*args: Mapping[int, Pair], winds: int = 4, **changes: Any) -> State:
    """A solo state in which you may pass; the next round's neutral turn adds a cloud and a Frost vote (card 4)."""
    return solo(*args, decision="turn", winds=(winds,), **changes)


# ---- who wins a vote, ties


@pytest.mark.parametrize(
    ("frost", "wind", "wins"),
    [
        ((3, 2), (1, 2), (1, 1)),
        ((2, 2), (1, 2), (0, 1)),
        ((2, 2), (3, 3), (0, 0)),
        ((4, 0), (2, 1), (2, 0)),
        ((0, 3), (0, 2), (0, 2)),
    ],
)
def test_voting_wins(frost: Pair, wind: Pair, wins: Pair) -> None:
    """Weather phase differences: most votes wins; on a tie neither you nor the neutral player moves up."""
    after = act(turn(votes={"frost": frost, "wind": wind}), "pass")
    assert after["round"] == 2
    assert pair(after, "voting_wins") == wins


def test_resolved_votes_return_and_others_stay() -> None:
    """Winning the Weather Vote: votes on resolved spaces go back to their owners, also the neutral player."""
    after = act(turn(votes={"frost": (3, 1), "sun": (1, 0), "wind": (2, 2), "rain": (0, 2)}), "pass")
    assert votes(after, YOU) == (0, 1, 0, 0)
    assert votes(after, NEUTRAL) == (1, 0, 0, 2)  # the one on Frost is the next round's card 4
    assert pair(after, "vote_supply") == (11, 9)


def test_you_break_ties_between_weather_spaces() -> None:
    """Setup, note, and Weather phase differences: you choose among tied spaces one at a time."""
    state = act(turn(votes={"frost": (0, 2), "wind": (2, 0), "rain": (1, 1), "sun": (1, 0)}), "pass")
    assert state["decision"] == Decision.CHOOSE_WEATHER
    assert state["actor"] == YOU
    after = act(state, "weather frost", "weather wind")
    assert pair(after, "voting_wins") == (1, 1)
    after = act(state, "weather frost", "weather rain")
    assert pair(after, "voting_wins") == (0, 1)


def test_you_choose_the_second_space_if_only_one_has_votes() -> None:
    """Ruling 2.10: with one voted space the other three tie for second; nobody wins a space without votes."""
    state = act(turn({2: (1, 1)}, votes={"frost": (0, 1)}), "pass")
    assert state["decision"] == Decision.CHOOSE_WEATHER
    assert state["actor"] == YOU
    after = act(state, "weather rain")
    assert tile_drops(after, 2) == (1, 1)  # Frost made it a thundercloud, Rain poured it out
    assert pair(after, "voting_wins") == (0, 1)


def test_final_round_resolves_all_but_two_count() -> None:
    """Weather phase differences: the exception of the final round holds as in the multiplayer game."""
    state = turn({3: (1, 2)}, votes={"frost": (3, 0), "wind": (0, 2), "rain": (1, 0)}, round=4)
    after = act(state, "pass")
    assert after["phase"] == Phase.OVER
    assert pair(after, "voting_wins") == (1, 1)
    assert pair(after, "points")[YOU] == 2 + 1  # all three resolved: Frost, Rain, then P3's Cotton: second of 5/2


# ---- weather effects


def test_frost_turns_every_cloud() -> None:
    """Frost: as usual, all light clouds become thunderclouds; Wind without drops on tiles does nothing."""
    state = turn({1: (1, 0), 4: (0, 2), 5: (2, 1)}, votes={"frost": (3, 0), "wind": (2, 0)}, winds=7)
    after = act(state, "pass")
    assert cloud(after, 1) == (THUNDER, 1, 0)
    assert cloud(after, 4) == (THUNDER, 0, 2)
    assert cloud(after, 3) == (THUNDER, 2, 1)  # the next round's card 7 moved it here


def test_wind_blows_your_drops_north_after_your_move() -> None:
    """Wind: after your move one of your drops goes north from each of P3, P4, P5, P6; neutral drops stay."""
    state = turn({}, {3: (2, 0), 4: (2, 1), 5: (2, 0), 6: (2, 3)}, votes={"wind": (3, 0), "frost": (2, 0)})
    after = act(state, "pass", "drop b2 1st to the left", "move west")
    assert [tile_drops(after, position) for position in range(1, 7)] == [(1, 0), (1, 0), (2, 1), (2, 0), (1, 0), (1, 3)]


def test_wind_checks_tiles_in_ascending_order() -> None:
    """Wind: P3 comes before P5, so a drop that moves from P5 to P3 goes no further."""
    state = turn({}, {3: (1, 0), 5: (1, 0), 6: (1, 0), 2: (0, 1)}, votes={"wind": (3, 0), "frost": (2, 0)})
    after = act(state, "pass", "drop b1 1st to the left", "move west")
    assert [tile_drops(after, position) for position in range(1, 7)] == [(1, 1), (0, 0), (1, 0), (1, 0), (0, 0), (0, 0)]


def test_wind_blows_back_what_you_just_moved() -> None:
    """Wind, example: a drop on P3 would move to P1; your own move comes first."""
    state = turn({}, {1: (1, 0)}, votes={"wind": (3, 0), "frost": (2, 0)})
    south, east = act(state, "pass", "move south"), act(state, "pass", "move east")
    assert tile_drops(south, 1) == (1, 0)
    assert tile_drops(south, 3) == (0, 0)
    assert tile_drops(east, 2) == (1, 0)


def test_wind_grows_and_dries_crops() -> None:
    """Wind; ruling 2.7: crops start to grow or lose their token as drops move."""
    state = turn({}, {1: (1, 0), 3: (2, 0), 6: (0, 1)}, votes={"wind": (3, 0), "frost": (2, 0)})
    assert growing(state, 3) == Growing.DEVELOPED
    assert growing(state, 1) == Growing.NONE
    after = act(state, "pass", "drop b3 1st to the left", "move north")
    assert tile_drops(after, 1) == (2, 0)
    assert growing(after, 1) == Growing.DEVELOPED
    assert tile_drops(after, 3) == (1, 0)
    assert growing(after, 3) == Growing.NONE


def test_sun_doubles_all_neutral_clouds_then_one_of_yours() -> None:
    """Sun: the neutral player first, in all clouds; then you double your drops in one that you choose."""
    state = turn({1: (1, 1), 3: (2, 1), 4: (2, 0), 6: (1, 2)}, votes={"sun": (3, 0), "wind": (2, 0)})
    yours = act(state, "pass")
    assert yours["decision"] == Decision.SUN_WEATHER_CLOUD
    assert yours["actor"] == YOU
    doubled = {1: (LIGHT, 1, 2), 3: (THUNDER, 2, 2), 4: (LIGHT, 2, 0), 6: (THUNDER, 1, 4)}
    assert {position: cloud(yours, position) for position in doubled} == doubled
    assert yours["supply"][NEUTRAL] == state["supply"][NEUTRAL] - 4
    after = act(yours, "tile b3")
    doubled[6] = (THUNDER, 2, 4)
    assert {position: cloud(after, position) for position in doubled} == doubled


def test_sun_doubles_from_p6_down_what_the_supply_covers() -> None:
    """Sun, ruling 3.4: higher positions first; clouds beyond the supply are skipped, and no drop comes from tiles."""
    state = turn({6: (1, 2), 3: (1, 2), 1: (0, 1)}, {2: (0, 12)}, votes={"sun": (3, 0), "wind": (2, 0)})
    assert state["supply"][NEUTRAL] == 3
    yours = act(state, "pass")
    assert yours["decision"] == Decision.SUN_WEATHER_CLOUD
    assert [cloud(yours, position) for position in (6, 3, 1)] == [(THUNDER, 1, 4), (LIGHT, 1, 2), (LIGHT, 0, 2)]
    assert yours["supply"][NEUTRAL] == 0
    assert tile_drops(yours, 2) == (0, 12)


def test_neutral_doubling_overflows_before_your_turn() -> None:
    """Sun, ruling 3.4: clouds grow and overflow after the neutral doubling; you may then have no cloud left."""
    state = turn({3: (1, 4)}, votes={"sun": (3, 0), "frost": (2, 0)})
    after = act(state, "pass")
    assert after["round"] == 2
    assert tile_drops(after, 3) == (1, 8)
    assert growing(after, 3) == Growing.DEVELOPED


def test_coffee_develops_after_all_doublings() -> None:
    """Sun weather, Coffee: also if it sprouted through the neutral player's overflow."""
    state = turn({6: (1, 4), 3: (1, 0)}, votes={"sun": (3, 0), "frost": (2, 0)})
    after = act(state, "pass")
    assert tile_drops(after, 6) == (1, 8)
    assert growing(after, 6) == Growing.DEVELOPED
    assert after["cloud_drops"][4, YOU] == 2


def test_rain_pours_thunderclouds_and_develops_rice() -> None:
    """Rain: as usual, thunderclouds pour out, light clouds stay, and sprouting Rice develops."""
    crops = ("cotton", "grass", "cotton", "potato", "rice", "coffee")
    state = turn(
        {2: (1, 1), 4: (1, 0), 5: (2, 2), 6: (2, 2)}, crops=crops, thunder=(2,), votes={"rain": (2, 0), "wind": (1, 0)}
    )
    after = act(state, "pass")
    assert [tile_drops(after, position) for position in (2, 4, 5, 6)] == [(1, 1), (0, 0), (2, 2), (2, 2)]
    assert cloud(after, 4) == (LIGHT, 1, 0)
    assert growing(after, 5) == Growing.DEVELOPED
    assert growing(after, 6) == Growing.SPROUTING


# ---- Harvest Phase

CALM = {"frost": (3, 1), "rain": (1, 1)}
"""Votes for weather that changes nothing without clouds; you win Frost, and nobody Rain."""


def test_no_harvest_without_reason() -> None:
    """Harvest Phase: no Harvest in rounds 1 to 3 if a die shows votes and neutral water is left."""
    state = turn({}, {1: (1, 18)}, votes=CALM, dice=["harvest", "harvest", 4], round=3)
    for after in sample(state, 20, "pass"):
        assert after["round"] == 4
        assert not after["harvested"]
        assert tile_drops(after, 1)[YOU] == 1
        assert pair(after, "points") == (0, 0)
        assert dice(after)[:2] == [0, 0]  # Clean-up: only the die not showing Harvest is rolled


def test_harvest_with_three_dice() -> None:
    """Harvest Phase: all three dice show Harvest; the neutral player scores like you; drops return to supply."""
    state = turn({}, {1: (2, 1), 2: (1, 2), 4: (1, 2)}, votes=CALM, dice=["harvest"] * 3)
    after = act(state, "pass")
    assert pair(after, "points") == (5 + 5, 2 + 3)  # Cotton 5/2, Potato 3/5; Grass with 3 of 4 drops isn't growing
    assert tile_drops(after, 2) == (1, 2)
    assert tile_drops(after, 1) == tile_drops(after, 4) == (0, 0)
    assert not after["growing"].any()


def test_neutral_harvest_icon_may_complete_the_dice() -> None:
    """Neutral Turn 3, Harvest Phase: the last die turned by the neutral player brings the Harvest."""
    state = solo(drops={3: (2, 1)}, dice=["harvest", "harvest", 1], winds=(5, 4), votes=CALM)
    turned = next(after for after in sample(state, 10, "vote frost") if after["winds_card"][0] == 5)
    assert dice(turned) == [0, 0, 0]
    assert tile_drops(turned, 3) == (2, 1)
    after = act(turned, "pass")
    assert after["round"] == 2
    assert tile_drops(after, 3) == (0, 0)
    assert pair(after, "points")[YOU] == 5


def test_harvest_with_an_empty_neutral_supply() -> None:
    """Harvest Phase; ruling 2.15: the neutral player has no drops left; all three dice are rolled again."""
    state = turn({}, {1: (1, 20)}, votes=CALM, dice=["harvest", "harvest", 4])
    assert state["supply"][NEUTRAL] == 0
    outcomes = sample(state, 30, "pass")
    for after in outcomes:
        assert pair(after, "points") == (2, 5)
        assert tile_drops(after, 1) == (0, 0)
        assert after["supply"][NEUTRAL] == 18  # 20, and card 4 placed two
    assert min(dice(after).count(0) for after in outcomes) == 0


def test_neutral_supply_counts_at_the_beginning_of_the_harvest_phase() -> None:
    """Harvest Phase: Sun weather may be what empties the supply."""
    state = turn({2: (0, 2)}, {1: (1, 16)}, votes={"sun": (3, 0), "frost": (2, 0)})
    assert state["supply"][NEUTRAL] == 2
    after = act(state, "pass")
    assert tile_drops(after, 1) == (0, 0)
    assert pair(after, "points") == (2, 5)


@pytest.mark.parametrize(
    ("drops", "tokens", "points"), [((1, 3), (0, 1), (3, 2)), ((2, 1), (1, 0), (2, 3)), ((2, 2), (0, 0), (3, 3))]
)
def test_wheat_against_the_neutral_player(drops: Pair, tokens: Pair, points: Pair) -> None:
    """Harvest Phase, Wheat: most drops score 2 and a Wheat token, the other 3; if tied both score 3 (ruling 2.14)."""
    after = act(turn({}, {5: drops}, votes=CALM, dice=["harvest"] * 3), "pass")
    assert pair(after, "wheat_tokens") == tokens
    assert pair(after, "points") == points


def test_final_harvest_and_no_fifth_round() -> None:
    """Game End: 4 rounds, with a Harvest in the 4th whatever the dice show."""
    state = turn({}, {2: (2, 2), 6: (5, 1)}, votes=CALM, round=4)
    after = act(state, "pass")
    assert after["phase"] == Phase.OVER
    assert after["decision"] == Decision.GAME_OVER
    assert after["round"] == 4
    assert pair(after, "points") == (3 + 5 + 1, 3 + 3)  # Grass tied 3, Coffee 5/3; one Voting Win: 1


# ---- Game End


@pytest.mark.parametrize(
    ("wins", "tokens", "expected"),
    [
        ((2, 3), (0, 0), (5, 5)),
        ((0, 0), (0, 0), (1, 0)),
        ((0, 0), (1, 2), (1, 12)),
        ((0, 0), (2, 2), (13, 12)),
        ((0, 0), (3, 0), (13, 0)),
    ],
)
def test_final_scoring(wins: Pair, tokens: Pair, expected: Pair) -> None:
    """Game End: the Voting Wins track (0 1 3 5 …, assumed) and 12 for most Wheat tokens, for both; CALM adds a win."""
    description: dict[str, Any] = {
        name: dict(zip(("player_0", "neutral"), numbers, strict=True))
        for name, numbers in (("voting_wins", wins), ("wheat_tokens", tokens))
    }
    after = act(turn(votes=CALM, round=4, **description), "pass")
    assert pair(after, "voting_wins") == (wins[YOU] + 1, wins[NEUTRAL])
    assert pair(after, "points") == expected


@pytest.mark.parametrize(("points", "reward"), [((9, 9), 1.0), ((8, 9), -1.0), ((7, 9), -1.0), ((20, 0), 1.0)])
def test_you_win_with_more_points_only(points: Pair, reward: float) -> None:
    """Game End, ruling 3.7: strictly more points than the neutral player, or you lose; CALM's win scores 1 for you."""
    batch = Batch(Config(), 1, seed=0, autoreset="disabled")
    batch.states[0] = turn(votes=CALM, round=4, points=points)
    batch.refresh()
    batch.step([0])  # pass
    assert batch.terminations[0]
    assert batch.rewards[0].tolist() == [reward]
