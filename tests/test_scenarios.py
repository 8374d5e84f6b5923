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


# ---- refused: tests/texts/petrichor-refused.txt has what is wrong with some 160 descriptions


def test_a_name_that_is_no_text() -> None:
    """JSON has no such keys."""
    with pytest.raises(ScenarioError, match="field: null is not a position"):
        scenario({"players": 2, "field": {None: {}}})


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
