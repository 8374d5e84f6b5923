"""Rules that can be read in two ways (docs/rules.md): the second way, by the switch `readings`."""

from __future__ import annotations

from typing import Any

import pytest

from petrichor_env import Batch, Config, describe, scenario
from petrichor_env.config import MODULES, READINGS
from petrichor_env.state import State
from tabletop_engine.errors import ConfigError, ScenarioError
from tests.rulebook.base_game import asked, by_seat, game, legal_names, on_tile, tile
from tests.rulebook.modules import controller, forecasts, resolving
from tests.support.play import play

ENDS_ACTIONS = ["forecasts_end_actions"]
HANDS = {"hands": ("frost sun sun rain rain wind wind",) * 5}
DICE = 13
"""A forecast card that is played in place of a turn: all dice show Harvest, and three points."""


def turn(readings: list[str], numbers: tuple[int, ...] = (DICE, 7, 8), players: int = 2, **changes: Any) -> State:
    """player_0's turn, with forecast cards and a full hand."""
    changes = {**forecasts(numbers), **HANDS, **changes}
    return game(players, readings=readings, **changes)


def until_the_next_turn(state: State) -> State:
    """Play until player_0's next turn; the others play whatever comes first."""
    while asked(state) != ("turn", 0):
        names = legal_names(state)
        state = play(state, "decline" if "decline" in names else min(names - {"pass"}))
    return state


# --- Carte Previsione: "Se un giocatore gioca una carta Previsione non vota in quel turno e non puo giocare azioni in
# future azioni di quel round" -----------------------------------------------------------------------------------------


def test_later_turns_are_free_as_a_rule() -> None:
    state = play(turn([]), f"forecast {DICE}", "play frost")
    state = until_the_next_turn(state)
    assert "play sun" in legal_names(state)


def test_who_plays_a_forecast_card_plays_no_action_cards_any_more_this_round() -> None:
    state = play(turn(ENDS_ACTIONS), f"forecast {DICE}")
    assert asked(state) == ("turn", 1) and "play sun" in legal_names(state)  # the others do
    state = until_the_next_turn(state)
    assert set(legal_names(state)) <= {"pass", "forecast 7", "forecast 8"}
    assert "pass" in legal_names(state)


def test_forecast_cards_may_still_be_played() -> None:
    """A second forecast card is still possible; no third."""
    state = play(turn(ENDS_ACTIONS, (DICE, 14, 8), field={"b1": tile(cloud=(0, 1))}), f"forecast {DICE}")
    state = until_the_next_turn(state)
    assert set(legal_names(state)) == {"pass", "forecast 14"}


def test_cards_at_other_points_of_the_timeline_end_no_actions() -> None:
    """The rule is about cards that are played instead of a turn, at no point of the timeline."""
    assert not Batch(Config(players=3, modules=("forecasts",), readings=READINGS[:1]), 4).states["no_actions"].any()


def test_the_next_round_is_free_again() -> None:
    games = Batch(Config(players=3, modules=("forecasts",), readings=READINGS[:1]), 200, seed=1, autoreset="disabled")
    barred = 0
    while (games.actors >= 0).any():
        before = games.states.copy()
        games.step(games.random_actions(), which=games.actors >= 0)
        begun = (games.states["round"] > before["round"]) & (games.states["phase"] == 1)
        assert not games.states["no_actions"][begun & (before["phase"] != 1)].any()
        barred += int(games.states["no_actions"].any())
    assert barred > 100


# --- Primula: "the nearest clockwise of several" ----------------------------------------------------------------------


@pytest.mark.parametrize(("readings", "gains", "last"), [([], (0, 2, 2), 2), (["primrose_passes_once"], (0, 2, 0), 1)])
def test_how_often_the_primrose_passes(readings: list[str], gains: tuple[int, ...], last: int) -> None:
    """player_0 controls it with a drop; rain brings player_1 two and player_2 three.

    Usually control is checked again, so two players gain in turn; in the other reading only the nearest gains.
    """
    field = {"b2": tile("primrose", (1, 0, 0), blooms=1, cloud=(0, 2, 3), thunder=True)}
    given = {"field": field, "modules": ["flower_tiles"], "controller": "player_0", "readings": readings}
    state = resolving("frost", "rain", players=3, **given)
    assert by_seat(state, "points") == gains and controller(state) == last
    assert on_tile(state, "b2")[0] == 0


# --- The switch -------------------------------------------------------------------------------------------------------


def test_each_needs_its_module() -> None:
    assert Config(players=2, modules=MODULES, readings=READINGS).name.endswith("+".join(READINGS))
    for name in READINGS:
        with pytest.raises(ConfigError, match=f"readings: '{name}' reads a rule of the module"):
            Config(players=2, readings=(name,))
    with pytest.raises(ConfigError, match="readings: unknown 'loud'"):
        Config(readings=("loud",))


def test_in_scenarios() -> None:
    state = play(turn(ENDS_ACTIONS), f"forecast {DICE}")
    described = describe(state)
    assert described["readings"] == ENDS_ACTIONS and described["pending"]["no_actions"] == ["player_0"]
    assert scenario(described).tobytes() == state.tobytes()
    with pytest.raises(ScenarioError, match="player_0 may play no action cards, but has played no forecast card"):
        scenario({"players": 2, "modules": ["forecasts"], "pending": {"no_actions": ["player_0"]}})
