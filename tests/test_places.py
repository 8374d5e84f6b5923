"""Where a picture can be clicked, for every answer to every decision of random games, and in some positions by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from evergreen_env import Config as EvergreenConfig
from evergreen_env.actions import DONE
from evergreen_env.game import GAME as EVERGREEN
from petrichor_env import GAME as PETRICHOR
from petrichor_env import Config, scenario
from petrichor_env.actions import ACTIONS, DECLINE, PASS
from petrichor_env.state import NOBODY
from tabletop_engine.drawing.svg import Place
from tabletop_engine.game import Game
from tabletop_engine.play.batch import Batch, legal_actions
from tests.evergreen.play import draft, turn
from tests.evergreen.play import play as play_evergreen
from tests.games import connect_four
from tests.rulebook.modules import forecasts
from tests.support.configurations import A_FEW
from tests.support.effort import games
from tests.support.hidden import swapped
from tests.support.play import action_of, play

CONFIGS = [*A_FEW, *(EvergreenConfig(players) for players in EVERGREEN.players)]
NOWHERE = {PETRICHOR: {PASS, DECLINE}, EVERGREEN: {DONE}}
"""Answers that no piece stands for."""
EVERY = games(18, 9)
"""One in so many decisions of a game is drawn for all seats."""
MOST = games(3, 12)
"""How many decisions of one kind are looked at in a game."""
HIDDEN = ("hand-card", "pack-card")


class Document:
    """A picture in which elements are looked up by places."""

    def __init__(self, svg: str) -> None:
        self.root = ElementTree.fromstring(svg)
        self._above = {child: parent for parent in self.root.iter() for child in parent}
        self._with: dict[tuple[str, str], list[Element]] = defaultdict(list)
        for element in self.root.iter():
            for name, value in element.attrib.items():
                self._with[name, value].append(element)

    def at(self, place: Place) -> list[Element]:
        *outer, (name, value) = place
        return [found for found in self._with[f"data-{name}", value] if self._is_in(found, outer)]

    def _is_in(self, element: Element, outer: list[tuple[str, str]]) -> bool:
        left = list(outer)
        above = self._above.get(element)
        while left and above is not None:
            name, value = left[-1]
            if above.get(f"data-{name}") == value:
                left.pop()
            above = self._above.get(above)
        return not left

    def lets_clicks_through(self, element: Element) -> bool:
        """Whether a click goes to the element below instead."""
        above: Element | None = element
        while above is not None:
            if above.get("pointer-events") == "none":
                return True
            above = self._above.get(above)
        return False


def decisions(config: Any, seed: int) -> Iterator[np.ndarray]:
    """Records (1,) of a random game."""
    batch = Batch(config, 1, seed=seed, autoreset="disabled")
    while batch.actors[0] != NOBODY:
        yield batch.states.copy()
        batch.step(batch.random_actions())


def redealt(game: Game, states: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """States that look the same to the actor, with other hidden cards, or without the others' hidden turns."""
    if game is PETRICHOR:
        return swapped(states, int(states[0]["actor"]), generator)
    copies = states.copy()
    randoms = generator.integers(0, 2**64, 1, np.uint64)
    game.kernels.sample_hidden_games(copies, game.load_tables(None), states["actor"].astype(np.int64), randoms)
    return copies


@pytest.mark.one_in(3)
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.game.name}-{config.name}")
def test_every_answer_has_places_that_are_drawn(config: Any) -> None:
    game, generator, looked_at, times = config.game, np.random.default_rng(7), 0, Counter[int]()
    for states in decisions(config, seed=11):
        times[int(states[0]["decision"])] += 1
        if times[int(states[0]["decision"])] > MOST:
            continue
        state, other = states[0], redealt(game, states, generator)[0]
        drawn = Document(game.drawing.render_svg(state, int(state["actor"])))
        for action in legal_actions(state).tolist():
            places = game.drawing.places(state, action)
            assert bool(places) == (action not in NOWHERE[game]), game.actions[action]
            assert len(set(places)) == len(places)
            assert game.drawing.places(other, action) == places
            for place in places:
                found = drawn.at(place)
                assert found, f"{game.actions[action]}: {place}"
                for element in found:
                    assert element[0].tag.endswith("title") and element[0].text
                    assert not drawn.lets_clicks_through(element)
            looked_at += len(places)
    assert looked_at > 100


@pytest.mark.one_in(3)
@pytest.mark.parametrize("config", [one for one in CONFIGS if one.players > 1 and one.game is PETRICHOR][:8], ids=str)
def test_places_show_no_cards_of_others(config: Config) -> None:
    own, everybodys = 0, 0
    for states in islice(decisions(config, seed=13), 0, None, EVERY):
        seat = int(states[0]["actor"])
        shown, drawn = (Document(PETRICHOR.drawing.render_svg(states[0], one)) for one in (None, seat))
        (row,) = drawn.at((("owner", f"player_{seat}"),))
        assert cards_in(drawn.root) == cards_in(row)
        own, everybodys = own + len(cards_in(row)), everybodys + len(cards_in(shown.root))
    assert 0 < own < everybodys


def cards_in(element: Element) -> list[Element]:
    return [found for found in element.iter() if any(f"data-{name}" in found.attrib for name in HIDDEN)]


def test_a_text_has_no_places() -> None:
    state = Batch(connect_four.GAME.config(), 1, seed=1).states[0]
    assert [connect_four.GAME.drawing.places(state, action) for action in legal_actions(state)] == [()] * 7


# --- Petrichor --------------------------------------------------------------------------------------------------------


OWN: Place = (("owner", "player_0"),)
B2: Place = (("tile", "b2"),)
B2_CLOUD: Place = (("cloud-on", "b2"),)


def places_of(state: Any, name: str) -> tuple[Place, ...]:
    action = action_of(state, name)
    assert action in legal_actions(state)
    return PETRICHOR.drawing.places(state, action)


def two_players(**changes: Any) -> Any:
    """player_0 is to play with 2 Rain, 2 Sun and a Wind card; drops of both are on b2 and in the cloud there."""
    both = {"player_0": 2, "player_1": 1}
    field = {"b2": {"crop": "wheat", "drops": both, "cloud": {"drops": {"player_0": 1, "player_1": 2}}}}
    hands = {"player_0": {"rain": 2, "sun": 2, "wind": 1}, "player_1": {"frost": 3}}
    return scenario({"players": 2, "field": field, "hands": hands, "dice": [2, 4, 4], **changes})


def test_cards_and_what_they_stand_for() -> None:
    """Other cards can stand for Frost. No Frost card is held, so its weather space is clicked."""
    state = two_players()
    assert places_of(state, "play rain") == ((*OWN, ("hand-card", "rain")), OWN)
    assert places_of(state, "substitute wind") == ((*OWN, ("hand-card", "wind")), OWN)
    assert places_of(state, "substitute frost") == ((("weather", "frost"),), OWN)
    paying = play(state, "substitute frost")
    assert places_of(paying, "card sun") == ((*OWN, ("hand-card", "sun")), OWN)


def test_drops_clouds_and_tiles() -> None:
    rain = play(two_players(), "play rain")
    assert places_of(rain, "drop b2 own") == ((*B2_CLOUD, ("cloud-drop", "player_0")), B2_CLOUD, B2)
    assert places_of(rain, "drop b2 1st to the left")[0] == (*B2_CLOUD, ("cloud-drop", "player_1"))
    wind = two_players(
        field={
            "b2": {"crop": "wheat", "cloud": {"drops": {"player_0": 1}}},
            "b1": {"crop": "grass", "cloud": {"drops": {"player_0": 1}}},
        }
    )
    wind = play(wind, "play wind")
    assert places_of(wind, "tile b2") == (B2_CLOUD, B2)
    wind = play(wind, "tile b2")
    assert places_of(wind, "move north") == ((("tile", "b1"),),)


def test_a_drop_that_is_taken_from_a_tile() -> None:
    """A Sun action whose supply is one drop short."""
    drops = {"b1": {"cloud": {"drops": {"player_0": 3}}}, "a2": {"drops": {"player_0": 10}}}
    pending = {"decision": "take_drop", "pending": {"card": "sun", "target": "b1"}}
    sun = scenario({"players": 2, "field": {**drops, "b2": {"drops": {"player_0": 6}}}, **pending})
    assert places_of(sun, "tile b2") == ((*B2, ("drop", "player_0")), B2)


def test_votes_and_dice() -> None:
    """Two dice show 4: either may be clicked."""
    state = play(two_players(), "play rain", "drop b2 own")
    assert places_of(state, "vote rain") == ((("weather", "rain"),),)
    assert places_of(state, "die 4") == ((("die", "1"),), (("die", "2"),))
    assert places_of(state, "die 2") == ((("die", "0"),),)
    drawn = Document(PETRICHOR.drawing.render_svg(state, 0))
    hrefs = [part.get("href") for part in drawn.at((("die", "0"),))[0]]
    assert "#tabletop-die-2" in hrefs


def test_forecast_cards() -> None:
    """In the actor's row and in the list of all cards. Another player's cards are only in the list."""
    clouds = {tile: {"cloud": {"drops": {"player_0": 1}}} for tile in ("b1", "b2")}
    state = two_players(field=clouds, **forecasts((12, 14, 16), (3, 4, 5)))
    card: Place = (("forecast", "12"),)
    assert places_of(state, "forecast 12") == (card, OWN)
    for viewer, elements in ((0, 2), (1, 1)):
        assert len(Document(PETRICHOR.drawing.render_svg(state, viewer)).at(card)) == elements
    cloud = play(state, "forecast 12")
    assert places_of(cloud, "tile b2") == (B2_CLOUD, B2)


def test_the_frost_power() -> None:
    state = two_players(modules=["powers"], powers=["frost", "sun"], hands={"player_0": {"frost": 2}})
    state = play(state, "play frost", "tile b1")
    power, row, cloud, tile = places_of(state, "power")
    assert power == (*OWN, ("badge", "frost")) and row == OWN
    assert (cloud, tile) == ((("cloud-on", "b1"),), (("tile", "b1"),))
    assert PETRICHOR.drawing.places(state, ACTIONS["decline"]) == ()


# --- Evergreen --------------------------------------------------------------------------------------------------------


def named_places(state: Any, name: str) -> tuple[Place, ...]:
    action = EVERGREEN.actions.index(name)
    assert action in legal_actions(state)
    return EVERGREEN.drawing.places(state, action)


def test_cards_of_the_market() -> None:
    state = draft(["rock bush", "wild lake", "swamp buds"])
    assert named_places(state, "draft 2") == ((("market", "2"),),)
    (card,) = Document(EVERGREEN.drawing.render_svg(state, 0)).at((("market", "2"),))
    assert card.get("data-card") == "wild lake"


def test_a_turn() -> None:
    own: Place = (("player", "player_0"),)
    card: Place = (*own, ("card", "rock bush"))
    state = turn("rock bush")
    assert named_places(state, "plant three") == named_places(state, "anywhere") == (card, own)
    assert named_places(state, "power") == (card, (*own, ("power", "bush")), own)
    assert EVERGREEN.drawing.places(state, DONE) == ()
    state = play_evergreen(state, "plant three")
    assert EVERGREEN.drawing.places(state, legal_actions(state)[0])[1:] == ((("planet", "player_0"),),)
    names = {place[0][1][1] for place in (EVERGREEN.drawing.places(state, a) for a in legal_actions(state)) if place}
    assert names == {"e1", "f1", "f2", "e3", "f3", "g3"}


def test_nothing_lies_over_the_spaces() -> None:
    """Trees, shadows and the line around a forest let clicks through."""
    trees = {"c1": "big_tree", "c2": "small_tree", "d3": "bush"}
    drawn = Document(EVERGREEN.drawing.render_svg(turn("rock bush", trees), 0))
    (planet,) = drawn.at((("planet", "player_0"),))
    (inside,) = (part for part in planet if part.get("transform"))
    last = max(i for i, part in enumerate(inside) if "data-space" in part.attrib)
    assert list(inside)[last + 1 :] and all(drawn.lets_clicks_through(part) for part in list(inside)[last + 1 :])
