"""Scenarios: `scenario` and `describe` are inverse; broken counts or rules are refused with reasons."""

from __future__ import annotations

import doctest
import json
from collections import Counter
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from petrichor_env import Batch, Config, describe, scenario
from petrichor_env.actions import ACTION_NAMES
from petrichor_env.game import check
from petrichor_env.scenarios import described
from petrichor_env.state import DECISION_NAMES, STATE, Decision, State
from tabletop_engine.errors import ScenarioError, StateError
from tabletop_engine.play.batch import legal_actions
from tests.support.configurations import BASE, RANDOM, SOLO, TOGETHER
from tests.support.effort import games
from tests.support.play import play
from tests.support.scenarios import SHORT

DOCUMENTATION = Path(__file__).parent.parent / "docs" / "scenarios.md"


def again(state: State) -> State:
    """The state, through a description and JSON."""
    return scenario(json.loads(json.dumps(describe(state))))


@lru_cache(maxsize=64)
def batch_of(config: Config) -> Batch:
    return Batch(config, 1, seed=0, autoreset="disabled")


# ---- inverse


@pytest.mark.one_in(3)
@pytest.mark.parametrize("config", [*BASE, *SOLO, *TOGETHER, *RANDOM], ids=lambda config: config.name)
def test_describing_random_games(config: Config) -> None:
    """All states of random games, up to their ends, come back from their descriptions byte for byte."""
    batch, seen = Batch(config, games(1, 2), seed=11, autoreset="next_step"), []
    for step in range(80 * config.rounds):
        if step % 25 == 0 or batch.terminations.any():
            seen.append(batch.states.copy())
        batch.step(batch.random_actions())
    states = np.stack(seen).ravel()
    check(states)  # `describe` would check them one by one
    for state in states:
        assert scenario(json.loads(json.dumps(described(state)))).tobytes() == state.tobytes()
    for state in states[::9]:
        assert describe(state) == described(state)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("config", [BASE[0], BASE[-1], SOLO[-1], *TOGETHER[::2]], ids=lambda config: config.name)
def test_describing_forfeited_games(config: Config) -> None:
    """A forfeited game keeps its pending effect."""
    batch = Batch(config, 1, seed=3, autoreset="next_step", illegal_action="lose")
    decisions: Counter[int] = Counter()
    for step in range(150):
        if step % games(20, 10) and decisions[int(batch.states["decision"][0])] > 2:  # rare ones are always looked at
            batch.step(batch.random_actions())
            continue
        forfeits = batch.copy()
        forfeits.step([-1])
        for before, state in zip(batch.states[forfeits.illegal], forfeits.states[forfeits.illegal], strict=True):
            decisions[int(before["decision"])] += 1
            description = json.loads(json.dumps(describe(state)))
            assert description["forfeited"] == described(before)["actor"]
            assert scenario(description).tobytes() == state.tobytes()
        batch.step(batch.random_actions())
    assert len(decisions) > 8


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", SHORT)
def test_short_scenarios(name: str) -> None:
    """Every decision has a short description. From there the game goes on to its end without breaking a count."""
    state = scenario(SHORT[name])
    full = json.loads(json.dumps(describe(state)))
    assert full["decision"] == SHORT[name].get("decision", "game_over" if "over" in name else "turn")
    assert scenario(full).tobytes() == state.tobytes()
    generator = np.random.default_rng(5)
    for step in count():
        if state["decision"] == Decision.GAME_OVER:
            break
        state = play(state, ACTION_NAMES[generator.choice(legal_actions(state))])
        if step < 3 or step % games(20, 10) == 0:
            assert again(state).tobytes() == state.tobytes()


def test_short_scenarios_are_of_every_decision() -> None:
    assert {described(scenario(short))["decision"] for short in SHORT.values()} == set(DECISION_NAMES)


def test_what_is_left_out() -> None:
    """The documented defaults."""
    full = describe(scenario({"players": 3, "hands": {"player_0": {"sun": 1}}}))
    assert (full["rounds"], full["round"], full["phase"], full["decision"], full["actor"]) == (
        *(4, 1, "action", "turn"),
        "player_0",
    )
    assert (full["turns"], full["passed"], full["first_player"], full["random"]) == (3, None, "player_0", 0)
    assert full["dice"] == [1, 1, 1] and full["pending"] == {} and full["harvested"] is False
    assert full["deck"] == {"frost": 10, "sun": 9, "wind": 10, "rain": 10}
    assert [tile["crop"] for tile in full["field"].values()] == ["wheat"] * 3 + ["cotton"] * 3 + ["grass"] * 3


def test_sources_of_points() -> None:
    """Sources may be unknown, all or some. Only those that brought points are described."""
    assert describe(scenario({"players": 3, "points": {"player_1": 7}}))["scored"] == {}
    state = scenario({**SHORT["sources of points"], "hands": {"player_0": {"wind": 1}}, "dice": [1, 4, 4]})
    assert describe(state)["scored"] == SHORT["sources of points"]["scored"]
    assert state["scored"].sum() == 10
    after = describe(play(state, "play wind", "die 1"))
    assert after["points"] == {"player_0": 9 + 2, "player_1": 0, "player_2": 4}
    assert after["scored"] == {
        **{"rice": {"player_0": 4}, "dice": {"player_0": 4, "player_2": 3}},
        "cards": {"player_2": 1},
    }
    neutral = {"players": 1, "points": {"neutral": 2}, "scored": {"wheat_tokens": {"neutral": 2}}}
    assert describe(scenario(neutral))["scored"] == neutral["scored"]


def test_tiles_that_are_left_out() -> None:
    """The field is filled with the tiles that are left; solo's stays in ascending order of priority."""
    field = {"a1": {"crop": "cotton"}, "c3": {"crop": "wheat"}, "b2": {"drops": {"player_0": 1}}}
    crops = [tile["crop"] for tile in describe(scenario({"players": 3, "field": field}))["field"].values()]
    assert crops == ["cotton", "wheat", "wheat", "cotton", "cotton", "grass", "grass", "grass", "wheat"]
    solo = describe(scenario({"players": 1, "field": {"b1": {"crop": "wheat"}, "P5": {"crop": "coffee"}}}))["field"]
    assert [tile["crop"] for tile in solo.values()] == ["cotton", "wheat", "grass", "wheat", "coffee", "coffee"]
    assert list(solo) == ["P1", "P2", "P3", "P4", "P5", "P6"]


def test_growing_tokens_that_are_left_out() -> None:
    """They follow from the drops. Only Coffee and Rice sprout, and may be given as developed."""
    four, three = {"drops": {"player_0": 4}}, {"drops": {"player_0": 3}}
    field = {
        "b1": {"crop": "coffee", **four},
        "c1": {"crop": "coffee", "growing": "developed", **four},
        "a2": {"crop": "rice", **three},
        "b2": {"crop": "wheat", **three},
    }
    full = describe(scenario({"players": 2, "field": field}))["field"]
    assert [full[name].get("growing") for name in field] == ["sprouting", "developed", None, "developed"]


def test_what_modules_leave_out() -> None:
    """Keys of modules that are off are not in a description. Other keys have the documented defaults."""
    keys = set(describe(scenario({"players": 2})))
    assert not keys & {"modules", "powers", "controller", "power", "forecasts", "forecasts_played"}
    full = describe(scenario({"players": 3, "modules": ["powers", "forecasts"], "power": {"player_1": "frost"}}))
    assert full["modules"] == ["powers", "forecasts"]
    assert full["power"] == {"player_0": "sun", "player_1": "frost", "player_2": "wind"}
    assert full["forecasts"] == {"player_0": [], "player_1": [], "player_2": []}
    assert full["forecasts_played"] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    held = {"player_2": [16, 2, 1], "player_0": [3, 5]}
    full = describe(scenario({"players": 3, "modules": ["forecasts"], "forecasts": held}))
    assert full["forecasts"] == {"player_0": [3, 5], "player_1": [], "player_2": [1, 2, 16]}
    assert full["forecasts_played"] == [4, 6, 7, 8]
    in_setup = {"players": 3, "modules": ["powers", "forecasts"], "decision": "setup_cloud"}
    full = describe(scenario(in_setup))
    assert set(full["power"].values()) == {"none"} and full["forecasts_played"] == []
    full = describe(scenario({**in_setup, "powers": ["rain", "sun", "wind"]}))
    assert full["powers"] == list(full["power"].values()) == ["rain", "sun", "wind"]


def test_tokens_that_are_left_out() -> None:
    """Fertilizer tokens are filled up to three; a Primrose has a bloom, and is controlled by its sole leader."""

    def fertilized(tiles: list[str], free: list[str] | None = None, players: int = 3) -> list[str]:
        field = {
            **{name: {"fertilizer": True} for name in tiles},
            **{name: {"fertilizer": False} for name in free or []},
        }
        full = describe(scenario({"players": players, "modules": ["fertilizer"], "field": field}))["field"]
        return [name for name, tile in full.items() if tile.get("fertilizer")]

    assert fertilized([]) == ["a1", "c1", "b2"]
    assert fertilized(["b1"]) == ["b1", "a2", "c2"]
    assert fertilized(["b1"], free=["a2"]) == ["b1", "c2", "a3"]
    assert fertilized(["c3", "a3", "c1"]) == ["c1", "a3", "c3"]
    assert fertilized(["P3"], players=1) == ["P2", "P3", "P6"]
    drops = {"player_1": 2, "player_2": 1}
    field = {
        "a1": {"crop": "primrose", "drops": drops},
        "b1": {"crop": "snowdrop", "blooms": 1, "drops": drops},
        "c1": {"crop": "cactus", "drops": drops},
        "a2": {"crop": "cotton", "drops": drops},
    }
    full = describe(scenario({"players": 3, "modules": ["cactus", "flower_tiles"], "field": field}))
    assert full["controller"] == "player_1"
    assert full["field"]["a1"] == {"crop": "primrose", "drops": drops, "blooms": 1}
    assert full["field"]["b1"] == {"crop": "snowdrop", "growing": "developed", "drops": drops, "blooms": 1}
    assert full["field"]["c1"]["growing"] == "developed"
    field["c1"] = {"crop": "cactus", "drops": {"player_0": 4}}
    full = describe(scenario({"players": 3, "modules": ["cactus", "flower_tiles"], "field": field}))
    assert full["field"]["c1"]["growing"] == "drowned"


def test_what_a_pending_effect_leaves_out() -> None:
    """Timing and who is asked follow from the decision, the forecast card and each other."""
    full = describe(scenario(SHORT["forecast in a Sun turn"]))["pending"]
    assert full == {
        **{"selected": ["sun", "rain"], "weather": "sun", "turn_index": 1},
        **{"timing": "sun_turn", "timing_index": 1},
    }
    full = describe(scenario(SHORT["forecast_drop for card 11"]))["pending"]
    assert full == {
        **{"target": "b2", "target_owner": "player_0", "forecast": 11, "choices_left": 1},
        "chosen_drops": {"player_0": 1, "player_2": 1},
    }
    full = describe(scenario(SHORT["forecast before the Harvest"]))
    assert full["phase"] == "harvest" and full["dice"] == ["harvest"] * 3 and full["harvested"]
    assert full["pending"] == {"timing": "before_harvest", "counts_clouds": ["player_1"]}
    asked = {"players": 3, "modules": ["forecasts"], "decision": "forecast", "first_player": "player_2"}
    asked |= {"forecasts": {"player_0": [5, 6], "player_1": [7, 8]}}
    assert describe(scenario({**asked, "pending": {"timing_index": 1}}))["actor"] == "player_0"
    assert describe(scenario({**asked, "actor": "player_0"}))["pending"] == {
        "timing": "start_of_weather",
        "timing_index": 1,
    }


# ---- refused


def with_tile(**tile: Any) -> dict[str, Any]:
    return {"players": 2, "field": {"b1": tile}}


def decision(name: str, pending: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return {"players": 3, "decision": name, "pending": pending or {}, **changes}


REFUSED: list[tuple[dict[str, Any], str]] = [
    # counts
    (with_tile(drops={"player_0": 21}), "player_0 has 21 drops on tiles and in clouds; a player has 20"),
    (
        with_tile(drops={"player_1": 17}, cloud={"drops": {"player_1": 4}}),
        "player_1 has 21 drops on tiles and in clouds; a player has 20",
    ),
    (
        {"players": 1, "votes": {"sun": {"neutral": 7}, "rain": {"neutral": 6}}},
        "neutral has 13 votes on weather spaces; a player has 12",
    ),
    (
        {"players": 2, "hands": {"player_0": {"sun": 6}}, "discards": {"sun": 5}},
        "11 sun cards in hands, packs and discards; there are 10",
    ),
    ({"players": 2, "deck": {"sun": 10, "wind": 10, "rain": 9}}, "0 frost cards in hands, packs, deck and discards"),
    ({"players": 2, "hands": {"player_1": {"sun": 9}}}, "player_1 holds 9 cards; a hand has at most 8 here"),
    ({"players": 4, "round": 2, "hands": {"player_1": {"sun": 6, "rain": 5}}}, "holds 11 cards; a hand has at most 10"),
    ({"players": 2, "voting_wins": {"player_0": 3}}, "3 Voting Wins; by round 1 there are at most 2"),
    ({"players": 2, "wheat_tokens": {"player_0": 2, "player_1": 2}}, "4 wheat_tokens; the field's wheat tiles give at"),
    # the Fields
    ({"players": 2, "field": {"a1": {}}}, "field: 'a1' is not a position of this field; allowed are b1, c1, a2"),
    ({"players": 3, "field": {"d1": {}}}, "field: 'd1' is not a position of this field"),
    ({"players": 1, "field": {"c1": {}}}, "field: 'c1' is not a position of this field; allowed are P1, P2, P3"),
    ({"players": 2, "field": {"P1": {}}}, "field: 'P1' is not a position"),
    ({"players": 2, "field": {None: {}}}, "field: null is not a position"),
    ({"players": 1, "field": {"P3": {}, "a2": {}}}, "field.a2: this position is given twice"),
    (with_tile(crop="maize"), "field.b1.crop: 'maize'; allowed are wheat, cotton"),
    (with_tile(crop="corn"), "both are removed in the 2 player game"),
    (
        {"players": 3, "field": {name: {"crop": "rice"} for name in ("a1", "b1")}},
        "2 rice tiles in the field; there are 1",
    ),
    ({"players": 1, "field": {"P1": {"crop": "corn"}}}, "solo uses only tiles with a compass"),
    ({"players": 1, "field": {"P1": {"crop": "coffee"}}}, "coffee at P1 can't be laid in ascending order of priority"),
    (
        {"players": 1, "variants": ["no_more_tricks"], "field": {"P4": {"crop": "potato"}}},
        '"No More Tricks" removes wheat and potato',
    ),
    (
        with_tile(crop="rice", growing="sprouting"),
        "rice on b1 has 0 drops of the 4 it needs, so it has no growing token",
    ),
    (with_tile(crop="wheat", drops={"player_0": 3}, growing="none"), "has 3 drops, and 3 make it grow"),
    (with_tile(crop="wheat", drops={"player_0": 3}, growing="sprouting"), "only coffee and rice sprout"),
    # clouds
    (with_tile(cloud={}), "the cloud on b1 is empty; empty clouds are removed"),
    (with_tile(cloud={"kind": "light", "drops": {"player_0": 4}}), "the light cloud on b1 has 4 drops; with 4 it is a"),
    (with_tile(cloud={"drops": {"player_0": 4, "player_1": 4}}), "the cloud on b1 has 8 drops; with 8 it overflows"),
    # keys and types
    ({"players": 2, "tiles": {}}, "scenario: unknown key 'tiles'; allowed are players, rounds"),
    (with_tile(drop=1), "field.b1: unknown key 'drop'; allowed are crop, growing, drops, cloud"),
    (with_tile(cloud={"size": 1}), "field.b1.cloud: unknown key 'size'; allowed are kind, drops"),
    (with_tile(drops={"neutral": 1}), "field.b1.drops: unknown key 'neutral'; allowed are player_0, player_1"),
    (with_tile(drops={"player_0": -1}), "field.b1.drops.player_0: -1; allowed are 0 to"),
    (with_tile(drops={"player_0": 1.0}), "field.b1.drops.player_0: 1.0 is not a whole number"),
    (with_tile(drops={"player_0": True}), "field.b1.drops.player_0: True is not a whole number"),
    (with_tile(drops=3), "field.b1.drops: 3 is not a table"),
    ({"players": 2, "field": ["b1"]}, "field: .* is not a table of tiles"),
    ({"players": 2, "hands": {"player_0": {"snow": 1}}}, "hands.player_0: unknown key 'snow'; allowed are frost, sun"),
    ({"players": 1, "hands": {"neutral": {"sun": 1}}}, "hands: unknown key 'neutral'; allowed are player_0"),
    ({"players": 2, "votes": {"snow": {}}}, "votes: unknown key 'snow'"),
    ({"players": 2, "scored": {"maize": {}}}, "scored: unknown key 'maize'; allowed are wheat, .*, dice, voting_wins"),
    ({"players": 2, "scored": {"rice": {"neutral": 1}}}, "scored.rice: unknown key 'neutral'; allowed are player_0"),
    ({"players": 2, "scored": {"dice": {"player_0": -1}}}, "scored.dice.player_0: -1; allowed are 0 to 1000"),
    ({"players": 2, "scored": {"dice": 2}}, "scored.dice: 2 is not a table"),
    ({"players": 2, "scored": 2}, "scored: 2 is not a table"),
    ({"players": 2, "scored": {"dice": {"player_1": 2}}}, "scored adds up to 2, more than the 0 points"),
    (
        {"players": 2, "points": {"player_1": 3}, "scored": {"dice": {"player_1": 2}, "cards": {"player_1": 2}}},
        "scored adds up to 4, more than the 3 points",
    ),
    ({"players": 2, "pending": {"tile": "b1"}}, "pending: unknown key 'tile'; allowed are card, optional"),
    ({"players": 2, "dice": [1, 2]}, "dice: .* there are 3 Harvest dice"),
    ({"players": 2, "dice": [1, 2, 5]}, r"dice\[2\]: 5; a Harvest die shows 1, 2, 3, 4 or 'harvest'"),
    ({"players": 2, "dice": "harvest"}, "dice: 'harvest' is not a list"),
    ({"players": 2, "random": -1}, "random: -1; allowed are 0 to 18446744073709551615"),
    ({"players": 2, "harvested": 1}, "harvested: 1; allowed are true and false"),
    # the configuration
    ({"rounds": 4}, "players: missing"),
    ({"players": 6}, "players=6"),
    ({"players": 2, "modules": ["lakes"]}, "modules: unknown 'lakes'; allowed are fertilizer"),
    ({"players": 1, "modules": ["lake"]}, "the Lake is not used in solo play"),
    ({"players": 2, "powers": ["sun", "rain"]}, "player powers are played only with modules"),
    ({"players": 2, "controller": None}, "controller: only with the module 'flower_tiles'"),
    ({"players": 2, "power": {}}, "power: only with the module 'powers'"),
    ({"players": 2, "forecasts": {}}, "forecasts: only with the module 'forecasts'"),
    ({"players": 2, "rounds": 5}, "rounds=5"),
    ({"players": 1, "rounds": 6}, "the Southern Winds are played over 4 rounds"),
    ({"players": 1, "drafting": True}, "there is no draft in solo"),
    ({"players": 2, "variants": ["double_card"]}, "these are the solo game's"),
    ({"players": 2, "southern_winds": {}}, "southern_winds: only in solo"),
    # progress
    ({"players": 2, "round": 5}, "round: 5; allowed are 1 to 4"),
    ({"players": 2, "round": 0}, "round: 0; allowed are 1 to 4"),
    ({"players": 2, "actor": "player_2"}, "actor: 'player_2'; allowed are player_0, player_1"),
    ({"players": 1, "actor": "neutral"}, "actor: 'neutral'; allowed are player_0"),
    ({"players": 2, "actor": None}, "decision 'turn' of nobody"),
    ({"players": 2, "phase": "weather"}, "decision 'turn' in phase 'weather'; it belongs to 'action'"),
    ({"players": 2, "decision": "draft"}, "decision 'draft' without drafting"),
    ({"players": 1, "decision": "setup_cloud"}, "decision 'setup_cloud' is never asked in solo"),
    ({"players": 3, "turns": 1, "actor": "player_2"}, "the actor is player_2, but it is player_1's turn to be asked"),
    ({"players": 3, "turns": 1, "passed": "player_0"}, "player_0 has passed; nobody can have yet"),
    ({"players": 1, "passed": "player_0"}, "player_0 has passed; nobody can have yet"),
    (
        {"players": 3, "passed": "player_0", "first_player": "player_1"},
        "player_0 has passed and player_1 is first player; who passes takes the marker",
    ),
    ({"players": 3, "passed": "player_0", "actor": "player_2", "last_turns": 2}, "it is player_1's turn to be asked"),
    ({"players": 2, "last_turns": 1}, "last_turns is 1 when nobody has passed"),
    (
        {"players": 3, "passed": "player_0", "hands": {"player_0": {"sun": 1}}},
        "player_0 has passed first and holds cards; that player discards the hand",
    ),
    ({"players": 2, "phase": "over", "round": 3}, "over in round 3 of 4"),
    ({"players": 2, "phase": "over", "votes": {"sun": {"player_0": 1}}}, "over, but there are votes on weather spaces"),
    ({"players": 2, "harvested": True}, "harvested in phase 'action'"),
    # decisions that don't fit
    (decision("vote"), "pending.card is None for decision 'vote'"),
    (decision("turn", {"card": "sun"}), "pending.card is 'sun' for decision 'turn'"),
    (decision("sun_cloud"), "decision 'sun_cloud' doesn't fit: no action would be legal"),
    (decision("wind_cloud", {"card": "sun"}), "pending.card is 'sun' for decision 'wind_cloud'"),
    (decision("wind_direction"), "pending.target is missing for decision 'wind_direction'"),
    (decision("wind_direction", {"target": "b2"}), "pending.target b2 has no cloud with an own drop"),
    (decision("turn", {"target": "b2"}), "pending.target is given for decision 'turn'"),
    (decision("turn", {"cards_left": 1}), "names no cards"),
    (decision("turn", {"optional": True}), "pending.optional, but no action is being carried out"),
    (decision("pay", {"card": "sun"}), "decision 'pay' doesn't fit: no action would be legal"),
    (decision("pay", {"card": "sun", "cards_left": 3}), "pending.cards_left is 3; 1 to 2 cards pay for this action"),
    (decision("optional_action", hands={"player_0": {"sun": 1}}), "is asked only with 2 cards in hand"),
    (decision("discard", players=2, hands={"player_0": {"sun": 4}}), "pending.cards_left is 0 with 4 cards in hand"),
    (decision("take_drop", {"card": "frost", "target": "b2"}), "the supply of 20 drops is enough"),
    (
        decision(
            "take_drop",
            {"card": "frost", "target": "b2"},
            field={
                "a1": {"cloud": {"drops": {"player_0": 7}}},
                "b1": {"cloud": {"drops": {"player_0": 7}}},
                "c1": {"cloud": {"drops": {"player_0": 6}}},
            },
        ),
        "1 drops are needed, 0 are in reach",
    ),
    (
        decision("move_vote", {"card": "sun", "target": "wind"}, votes={"sun": {"player_0": 11}}),
        "a vote is moved only with an empty supply; it holds 1",
    ),
    (
        decision("move_vote", {"card": "sun", "target": "wind"}, votes={"wind": {"player_0": 12}}),
        "there is no vote on another weather space",
    ),
    (
        decision("move_vote", {"card": "sun", "target": "rain"}, votes={"wind": {"player_0": 12}}),
        "the vote goes to the action's weather or the next one clockwise",
    ),
    (decision("choose_weather", votes={"sun": {"player_0": 2}, "rain": {"player_1": 1}}), "there is no tie to break"),
    (decision("choose_weather", round=4), "there is no tie to break"),
    (decision("wind_weather_drop", {"selected": ["sun", "rain"]}), "wind is being resolved, but it is not selected"),
    (decision("wind_weather_drop", {"selected": ["wind"]}), "pending.selected names 1 spaces; 2 are selected"),
    (decision("wind_weather_drop", {"selected": ["wind", "sun"]}), "'wind_weather_drop' doesn't fit"),
    (
        decision("wind_weather_drop", {"selected": ["wind", "sun"]}, votes={"sun": {"player_0": 1}}),
        "votes on sun, which has been resolved",
    ),
    (
        decision("wind_weather_drop", {"selected": ["wind", "rain"]}, votes={"sun": {"player_0": 1}}),
        "wind is selected, but another weather space has more votes",
    ),
    # drafting
    ({"players": 2, "drafting": True, "packs": {"player_0": {"sun": 1}}}, "packs of cards outside a draft"),
    (decision("draft", drafting=True), "the pack of player_0 has 0 cards; at this point of the draft 7"),
    (
        {**SHORT["draft"], "pending": {"draft_step": 3}},
        "pending.draft_step: 3; allowed are 0 to 2",
    ),
    ({**SHORT["draft"], "hands": {"player_1": {"sun": 1}}}, "player_1 holds 1 cards; with 0 picked and up to 0 kept"),
    ({**SHORT["draft"], "pending": {"cards_left": 2}}, "pending.cards_left is 2; 1 cards are picked from this pack"),
    # Southern Winds
    ({"players": 1, "southern_winds": {"deck": [1, 2]}}, "card 9 is not in the Southern Winds deck"),
    ({"players": 1, "southern_winds": {"deck": [9, 9]}}, "names a card twice"),
    ({"players": 1, "southern_winds": {"deck": [0, 9]}}, r"southern_winds.deck\[0\]: 0; allowed are 1 to 9"),
    (
        {"players": 1, "southern_winds": {"deck": [4, 9], "revealed": [{"card": 4, "roll": 1}]}},
        "card 4 was revealed last, but is in the deck",
    ),
    ({"players": 1, "southern_winds": {"revealed": [{"card": 9, "roll": 1}]}}, "card: 9; allowed are 1 to 8"),
    ({"players": 1, "southern_winds": {"revealed": [{"card": 4}]}}, "a revealed card without its numeric die"),
    (
        {"players": 1, "southern_winds": {"revealed": [{"card": 4, "roll": 1}, {"card": 5, "roll": 1}]}},
        "2 Southern Winds cards revealed",
    ),
    (
        {
            "players": 1,
            "variants": ["non_random_targets"],
            "southern_winds": {"revealed": [{"card": 4, "roll": 1}]},
        },
        "targets are not random in this variant",
    ),
]


def with_module(module: str, key: str = "field", value: Any = None, players: int = 2, **changes: Any) -> dict[str, Any]:
    return {"players": players, "modules": [module], key: value or {}, **changes}


def window(timing: str, cards: list[int], **changes: Any) -> dict[str, Any]:
    """Whether player_0 plays one of these forecast cards."""
    return with_module(
        "forecasts", "forecasts", {"player_0": cards}, decision="forecast", pending={"timing": timing}, **changes
    )


def changed(name: str, pending: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """One of the short scenarios with other keys, and other keys of the pending effect."""
    return {**SHORT[name], "pending": {**SHORT[name].get("pending", {}), **(pending or {})}, **changes}


OF_MODULES: list[tuple[dict[str, Any], str]] = [
    # promos
    (with_tile(fertilizer=True), "1 Fertilizer tokens lie on tiles; there are 0"),
    (
        with_module("fertilizer", value={name: {"fertilizer": True} for name in ("b1", "a2", "c2", "b3")}),
        "4 Fertilizer tokens lie on tiles; there are 3",
    ),
    (
        with_module("fertilizer", value={name: {"fertilizer": True} for name in ("b1", "c1", "a2")}),
        "the Fertilizer token on b1 is adjacent to another one",
    ),
    (
        with_module("fertilizer", value={name: {"fertilizer": False} for name in ("b1", "c1", "b2", "c2", "b3")}),
        "Fertilizer tokens lie on tiles; there are 3",
    ),
    (changed("fertilizer_tile", field={"b1": {"crop": "rice"}}), "rice on b1 lies face up, but other tiles lie face"),
    (
        changed("fertilizer_tile", field={"b1": {"drops": {"player_0": 1}}}),
        "drops is set, but the tiles still lie face",
    ),
    (changed("fertilizer_tile", dice=["harvest", "harvest", 1]), "dice is set, but the tiles still lie face down"),
    (changed("fertilizer_tile", deck={"sun": 10}), "10 sun cards in hands, packs, deck and discards; there are 0"),
    (changed("fertilizer_tile", pending={"turn_index": 2}), "turn_index is 2 with 1 Fertilizer tokens placed"),
    (
        changed("fertilizer_tile", field={name: {"fertilizer": True} for name in ("b1", "a2", "c2")}),
        "3 Fertilizer tokens lie on tiles; there are 3",
    ),
    (
        changed("fertilizer_tile in solo", field={"P1": {"fertilizer": True}, "P6": {"fertilizer": True}}),
        "'fertilizer_tile' doesn't fit",
    ),
    (with_module("fertilizer", value={"b1": {"crop": "face_down"}}), "the tiles lie face down, but decision 'turn' is"),
    (with_tile(crop="cactus"), "a cactus tile in the field; it comes with the module 'cactus'"),
    (with_module("cactus", value={"b1": {"crop": "cactus"}, "c1": {"crop": "cactus"}}), "2 cactus tiles in the field"),
    (
        with_module("cactus", value={"b1": {"crop": "cactus", "growing": "developed", "drops": {"player_0": 4}}}),
        "cactus on b1 has 4 drops, so it is drowned",
    ),
    (with_tile(crop="wheat", growing="drowned", drops={"player_0": 3}), "only the cactus drowns"),
    (
        with_module("cactus", players=1, value={"P1": {"crop": "cactus"}, "P2": {"crop": "potato"}}),
        "cactus at P1, potato at P2 can't be laid in ascending order of priority .*potato 5, cactus 5.5, wheat 6",
    ),
    (with_module("lake", value={"b1": {"crop": "lake", "drops": {"player_0": 1}}}), "drops on the lake"),
    (with_module("lake", value={"b1": {"crop": "lake", "growing": "developed"}}), "so it has no growing token"),
    # flower tiles
    (with_tile(blooms=1), "1 bloom tokens on b1; the snowdrop has at most 1, the primrose 1 to 4"),
    (with_module("flower_tiles", value={"b1": {"crop": "primrose", "blooms": 5}}), "5 bloom tokens on b1"),
    (with_module("flower_tiles", value={"b1": {"crop": "primrose", "blooms": 0}}), "0 bloom tokens on b1"),
    (
        with_module("flower_tiles", value={"b1": {"crop": "snowdrop", "drops": {"player_0": 2}}}),
        "2 drops on the closed snowdrop; a Harvest leaves at most 1 there",
    ),
    (
        with_module("flower_tiles", value={"b1": {"crop": "snowdrop", "growing": "developed"}}),
        "snowdrop on b1 has a growing token, but it is closed",
    ),
    (with_module("flower_tiles", value={"b1": {"pod": True}}), "pods lie on tiles, but no dandelion is in the field"),
    (with_module("flower_tiles", value={"b1": {"crop": "dandelion", "pod": True}}), "a pod on b1; none is placed on"),
    (
        with_module("flower_tiles", value={"b1": {"crop": "dandelion"}, "c1": {"crop": "snowdrop", "pod": True}}),
        "a pod on c1; none is placed on dandelion, primrose, lake and a closed snowdrop",
    ),
    (
        with_module(
            "flower_tiles",
            players=5,
            value={"d4": {"crop": "dandelion"}, **{f"{x}{y}": {"pod": True} for x in "abc" for y in "123"}},
        ),
        "9 pods lie on tiles; there are 8",
    ),
    (
        with_module("flower_tiles", "controller", "player_0"),
        "player_0 controls the primrose, which is not in the field",
    ),
    (
        with_module("flower_tiles", value={"b1": {"crop": "primrose", "drops": {"player_0": 1, "player_1": 1}}}),
        "player_0 has 1 drops on the primrose, but nobody controls it",
    ),
    (
        with_module(
            "flower_tiles", controller="player_1", value={"b1": {"crop": "primrose", "drops": {"player_0": 1}}}
        ),
        "player_0 has 1 drops on the primrose, but its controller player_1 has 0",
    ),
    (changed("pod_tile", field={"a1": {"crop": "dandelion"}}), "player_3 has no drop on a grown dandelion"),
    (changed("pod_tile", {"target": "b2"}), "the first pod is not on pending.target b2"),
    (changed("pod_tile", {"choices_left": 2}), "pending.target is given for decision 'pod_tile'"),
    (changed("pod_tile", {"turn_index": 3}), "turn_index is 3 for decision 'pod_tile'"),
    # powers
    (with_module("powers", "power", {"player_0": "sun", "player_1": "sun"}), "has the same power as another player"),
    (with_module("powers", "power", {"player_0": "none"}), "player_0 has no power; allowed are frost, sun"),
    (with_module("powers", "power", {"player_0": "snow"}), "power.player_0: 'snow'; allowed are none, frost"),
    (
        with_module("powers", "power", {"player_0": "frost"}, powers=["rain", "sun"]),
        "player_0 has the power 'frost'; 'rain' was chosen",
    ),
    (
        with_module("powers", "power", {"player_0": "sun"}, decision="setup_cloud"),
        "player_0 has the power 'sun', but powers are dealt at the end of the setup",
    ),
    (changed("frost_power", power={"player_0": "rain"}), "'frost_power' of a player without the power 'frost'"),
    (changed("frost_power", modules=[]), "decision 'frost_power' without the module 'powers'"),
    (changed("frost_power", {"target": "b1"}), "pending.target b1 has no new cloud with one own drop"),
    (changed("wind_tile", power={"player_0": "rain"}), "a cloud goes further than to a neighbour with the Wind power"),
    (changed("wind_tile", decision="wind_direction"), "a cloud goes further than to a neighbour with the Wind power"),
    (changed("pay for the Sun power", {"cards_left": 2}), "pending.cards_left is 2; 1 to 1 cards pay"),
    (changed("keep_drop", {"target": "c2"}), "no drop was kept on pending.target c2"),
    (changed("keep_drop", {"choices_left": 3}), "pending.target is given for decision 'keep_drop'"),
    (changed("keep_drop", {"timing": "after_harvest"}), "pending.timing is 'after_harvest' for decision 'keep_drop'"),
    (changed("keep_drop", harvested=False), "'keep_drop' in a Harvest Phase without a Harvest"),
    (changed("keep_drop", dice=[1, "harvest", "harvest"]), "but the Harvest dice don't all show Harvest"),
    (
        changed("keep_drop", field={"b2": {"crop": "wheat", "drops": {"player_1": 1, "player_0": 1}}}),
        "drops of player_0 on b2, which has been harvested",
    ),
    (
        changed("keep_drop", field={**SHORT["keep_drop"]["field"], "a3": {"crop": "cotton", "drops": {"player_1": 2}}}),
        "a growing token on a3 after a Harvest",
    ),
    (changed("keep_drop", {"scored_drops": {"b2": {"player_1": 2}}}), "b2, which can't have been harvested"),
    (with_module("powers", pending={"scored_drops": {"b2": {"player_0": 5}}}), "no Harvest has just been scored"),
    # five players
    (changed("frost_cloud", field={"a1": {"cloud": {"drops": {"player_1": 1}}}}), "there is no cloud left|no cloud is"),
    (
        changed("take_drop for Frost into a cloud", {"target": "d4"}),
        "pending.target d4 has no cloud without an own drop",
    ),
    ({"players": 5, "voting_wins": {"player_0": 5}}, "5 Voting Wins; by round 1 there are at most 4"),
    ({"players": 5, "hands": {"player_0": {"sun": 6}}, "discards": {"sun": 7}}, "13 sun cards in hands, .* are 12"),
    # forecast cards
    (with_module("forecasts", "forecasts", {"player_0": [1]}), "player_0 holds 1 forecast cards; 3, 2 after the first"),
    (with_module("forecasts", "forecasts", {"player_0": [1, 17]}), r"forecasts.player_0\[1\]: 17; allowed are 1 to 16"),
    (
        with_module("forecasts", "forecasts", {"player_0": [1, 1]}),
        "forecast card 1 is named twice; there is one of each",
    ),
    (with_module("forecasts", "forecasts_played", [1, 2]), "2 forecast cards were dealt; each of 2 players gets 3"),
    (
        with_module("forecasts", "forecasts", {"player_0": [1, 2]}, decision="setup_cloud"),
        "forecast cards in players' hands; they are dealt after the setup",
    ),
    (window("start_of_weather", [6, 7]), "player_0 holds no forecast card for 'start_of_weather'"),
    (window("scored", [1, 2]), "pending.timing is 'scored' for decision 'forecast'"),
    (window("start_of_weather", [5, 7], phase="harvest"), "is not asked in phase 'harvest'"),
    (window("before_wind", [8, 9]), "pending.selected names 0 spaces; 2 are selected"),
    (changed("forecast", {"timing_index": 0}), "the actor is player_1, but it is player_0's turn to be asked"),
    (changed("forecast", {"selected": ["sun"]}), "at the start of the weather, but spaces are selected"),
    (
        changed("forecast", modules=[], forecasts_played=[]),
        "forecasts_played: only with|forecasts: only with the module",
    ),
    (changed("forecast_vote", {"forecast": 6}), "pending.forecast is 6 for decision 'forecast_vote'"),
    (
        changed("forecast_vote", {"timing": "before_wind"}),
        "pending.timing is 'before_wind' for decision 'forecast_vote'",
    ),
    (
        changed("forecast_vote", forecasts_played=list(range(6, 15))),
        "forecast card 5 has its effect, but it has not been",
    ),
    (
        changed("forecast_vote", forecasts={"player_0": [1, 2, 3]}),
        "player_0 has played a forecast card, but still holds all 3",
    ),
    (with_module("forecasts", pending={"forecast": 10}), "pending.forecast is 10 for decision 'turn'"),
    (with_module("forecasts", pending={"timing_index": 1}), "pending.timing_index is 1 for decision 'turn'"),
    (with_module("forecasts", decision="forecast", pending={"timing_index": "x"}), "pending.timing_index"),
    (with_module("forecasts", pending={"choices_left": 1}), "pending.choices_left is 1 for decision 'turn'"),
    (
        with_module("forecasts", pending={"counts_clouds": ["player_0"]}),
        "pending.counts_clouds, but there is no Harvest",
    ),
    (changed("forecast_drop for card 11", {"chosen_drops": {"player_2": 2}}), "2 drops of player_2 are chosen; fewer"),
    (changed("forecast_drop for card 11", {"choices_left": 2}), "pending.chosen_drops are 2; 1 have been chosen"),
    (
        changed("forecast_drop for card 11", {"target_owner": "player_2"}),
        "pending.target_owner is player_2; it is the last owner, clockwise from the player",
    ),
    (changed("forecast_drop for card 15", {"target": "b2"}), "forecast card 15 can't be used on pending.target b2"),
    (
        changed("forecast_drop for card 15", {"target": "c3"}),
        "forecast card 15: there is no cloud left for it to rain from",
    ),
    (window("before_harvest", [1, 2]), "decision 'forecast' doesn't fit: there is no choice"),
    (changed("keep_drop", {"target": "c2"}, field={"c2": {"drops": {"player_1": 1}}}), "there is no choice"),
    (changed("forecast_direction", {"target_owner": "player_0"}), "the card moves an own drop"),
    (
        changed(
            "forecast_tile instead of a turn",
            field={"b2": {"cloud": {"drops": {"player_2": 5}}}, "c3": {"drops": {"player_1": 20}}},
        ),
        "forecast card 10 needs 1 drops in the supply",
    ),
]


@pytest.mark.parametrize(("description", "reason"), [*REFUSED, *OF_MODULES])
def test_refused(description: dict[str, Any], reason: str) -> None:
    """Descriptions that break the game's counts or rules are refused with the reason."""
    with pytest.raises(ScenarioError, match=reason):
        scenario(description)


def test_no_more_clouds_than_there_are(tmp_path: Path) -> None:
    """The limit is that of the components that are played with."""
    overlay = tmp_path / "few.toml"
    overlay.write_text("[pieces]\nclouds = 6\ndrops = 10\n")
    cloud = {"cloud": {"drops": {"player_0": 1}}}
    field = dict.fromkeys(("b1", "c1", "a2", "b2", "c2", "a3"), cloud)
    six = {"players": 2, "field": field}
    assert scenario(six, str(overlay))["supply"].tolist() == [4, 10, 0, 0, 0]
    with pytest.raises(ScenarioError, match="7 clouds; there are 6"):
        scenario({"players": 2, "field": {**field, "b3": cloud}}, str(overlay))
    with pytest.raises(StateError, match=r"player_0 has 10 drops on .*; a player has 20"):
        describe(scenario(six, str(overlay)))
    with pytest.raises(ScenarioError, match=r"'frost_tile': there is no cloud left"):
        scenario({**six, "decision": "frost_tile"}, str(overlay))


def test_no_state() -> None:
    things: tuple[Any, ...] = (None, {}, np.zeros(1), np.zeros(2, STATE), np.zeros((), np.int64))
    for nothing in things:
        with pytest.raises(StateError, match="a state is one record"):
            describe(nothing)
    with pytest.raises(StateError, match="players is 0; allowed are 1 to 5"):
        describe(np.zeros(1, STATE)[0])
    with pytest.raises(StateError, match="a state is a record"):
        check(np.zeros(3))


def test_check_names_the_game() -> None:
    batch = Batch(Config(players=2), 5, seed=1)
    batch.states["supply"][3, 0] += 1
    with pytest.raises(StateError, match=r"game 3: player_\d has 21 drops on tiles, in clouds and in supply"):
        check(batch.states)
    with pytest.raises(StateError, match=r"^player_0 has 21 drops"):
        check(batch.states[3])
    batch.states["supply"][3, 0] -= 1
    batch.states["legal"][4, 0] ^= np.uint64(1 << 20)
    with pytest.raises(StateError, match="game 4: the set of legal actions isn't that of the pending decision"):
        check(batch.states)


DAMAGED: list[tuple[str, str, Any, int, str]] = [
    ("nothing given", "modules", 4, 2, "the switch powers is 2; allowed are 0 and 1"),
    ("fertilizer_tile in solo", "modules", 2, 1, "the module lake in solo; there it is not used"),
    ("fertilizer_tile in solo", "winds_deck", 8, 1, "Southern Winds cards, but the tiles still lie face down"),
    ("fertilizer_tile", "crop", 6, 0, "wheat on c2 lies face up, but other tiles lie face down"),
    ("fertilizer_tile", "round", (), 2, "the tiles lie face down after the first round"),
    ("promos", "fertilizer", 12, 1, "4 Fertilizer tokens lie on tiles"),
    ("promos", "crop", 4, -2, "lies face up, but other tiles lie face down"),
    ("promos", "crop", 4, -3, "crop is -3; allowed are -2 to 11"),
    ("nothing given", "blooms", 1, -1, "blooms is -1"),
    ("nothing given", "pods", 1, 1, "pods lie on tiles, but no dandelion is in the field"),
    ("nothing given", "controller", (), 0, "player_0 controls the primrose, which is not in the field"),
    ("flower tiles", "controller", (), -1, "player_1 has 2 drops on the primrose, but nobody controls it"),
    ("flower tiles", "controller", (), 5, "controller is 5; allowed are -1 to 4"),
    ("nothing given", "chosen_power", 0, 1, "a power of seat 0; only players have one, with the module 'powers'"),
    ("pay for the Sun power", "chosen_power", 1, 0, "powers are chosen for some players only"),
    ("frost_power", "power", 3, 5, "power holds something of seat 3, who isn't there"),
    ("frost_power", "power", 1, 6, "power is 6; allowed are 0 to 5"),
    ("nothing given", "forecast_holder", 0, 1, "forecast cards without the module 'forecasts'"),
    ("forecast", "forecast_holder", 15, 1, "7 forecast cards were dealt; each of 2 players gets 3"),
    ("forecast", "forecast_holder", 0, 0, "player_0 holds 1 forecast cards; 3, 2 after the first"),
    ("nothing given", "scored", (1, 12), 1, "scored adds up to 1, more than the 0 points"),
    ("nothing given", "scored", (4, 12), 1, "scored holds something of seat 4, who isn't there"),
    ("sources of points", "scored", (0, 15), -4, "scored is -4; allowed are 0 to 1000"),
    ("nothing given", "timing", (), 3, "pending.timing is 'before_wind' for decision 'turn'"),
    ("nothing given", "timing_index", (), 2, "pending.timing_index is 2 for decision 'turn'"),
    ("forecast", "timing_index", (), 2, "pending.timing_index is 2 for decision 'forecast'|it is player_0's turn"),
    ("nothing given", "forecast", (), 10, "forecast card 10 has its effect, but it has not been played"),
    ("nothing given", "choices_left", (), 1, "pending.choices_left is 1 for decision 'turn'"),
    ("nothing given", "chosen_drops", 0, 1, "pending.chosen_drops are 1; 0 have been chosen"),
    ("nothing given", "counts_clouds", 0, 1, "forecast card 3 has its effect, but it has not been played"),
    ("forecast before the Harvest", "counts_clouds", 0, 1, "two players count their clouds"),
    ("nothing given", "scored_drops", (5, 0), 5, "no Harvest has just been scored that anything remembers"),
    ("keep_drop", "scored_drops", (5, 2), 1, "scored_drops holds something of seat 2, who isn't there"),
    ("keep_drop", "scored_drops", (0, 1), 5, "pending.scored_drops on a1, which can't have been harvested"),
    ("keep_drop", "scored_drops", (5, 1), 19, "pending.scored_drops hold more drops of player_1 than there are"),
]


@pytest.mark.parametrize(("name", "field", "at", "value", "reason"), DAMAGED)
def test_check_of_what_modules_add(name: str, field: str, at: Any, value: int, reason: str) -> None:
    """A record with another value in one place is refused."""
    states = np.array([scenario(SHORT[name])])
    check(states)
    states[field][(0, *at) if isinstance(at, tuple) else (0, at)] = value
    with pytest.raises(StateError, match=reason):
        check(states)


def test_the_first_player_is_known_before_the_actor() -> None:
    """Who has passed is the first player, and the first player breaks ties."""
    described = describe(scenario({"players": 3, "decision": "choose_weather", "passed": "player_1"}))
    assert (described["first_player"], described["actor"]) == ("player_1", "player_1")


# ---- whatever comes


@settings(max_examples=games(50, 400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from([*BASE, SOLO[0], SOLO[-1], *TOGETHER, *RANDOM]),
    st.integers(0, 2**32),
    st.integers(0, 120),
    st.integers(0, STATE.itemsize - 1),
    st.integers(1, 255),
)
def test_damaged_states(config: Config, seed: int, steps: int, place: int, change: int) -> None:
    """A state with one changed byte is refused, or it is a state like any other."""
    batch = batch_of(config)
    batch.reset(seed)
    for _ in range(steps):
        if batch.actors[0] >= 0:
            batch.step(batch.random_actions())
    damaged = batch.states.copy()
    damaged.view(np.uint8)[place] ^= np.uint8(change)
    try:
        described = describe(damaged[0])
    except StateError:
        return
    damaged["edition"] = 0  # which is not in a description
    assert scenario(described).tobytes() == damaged.tobytes()


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 30),
    st.sampled_from(["player_0", "neutral", "harvest", "frost", "b1", "P3", "turn", "wheat", "action", "light", ""]),
    st.sampled_from(["face_down", "lake", "primrose", "powers", "sun_turn", "none"]),
    st.floats(),
    st.lists(st.integers(-1, 9), max_size=3),
    st.dictionaries(st.sampled_from(["player_0", "b1", "frost", "crop"]), st.integers(-1, 5), max_size=2),
)


@st.composite
def changed_descriptions(draw: st.DrawFn) -> dict[str, Any]:
    """A description with some values replaced by any others."""
    full: dict[str, Any] = json.loads(json.dumps(describe(scenario(SHORT[draw(st.sampled_from(sorted(SHORT)))]))))
    for _ in range(draw(st.integers(1, 3))):
        inner: Any = full
        while True:
            key = draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner))))
            if isinstance(inner[key], dict | list) and inner[key] and draw(st.booleans()):
                inner = inner[key]
                continue
            inner[key] = draw(VALUES)
            break
    return full


@settings(max_examples=games(50, 400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(changed_descriptions())
def test_odd_descriptions(description: dict[str, Any]) -> None:
    """Any description is refused with a reason, or makes a state that can be described again."""
    try:
        state = scenario(description)
    except ScenarioError:
        return
    assert again(state).tobytes() == state.tobytes()


def test_documentation() -> None:
    """The examples of docs/scenarios.md."""
    results = doctest.testfile(str(DOCUMENTATION), module_relative=False)
    assert results.attempted > 10 and results.failed == 0
