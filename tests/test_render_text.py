"""The game in words: the drawing, what happened, and what an answer means."""

from __future__ import annotations

import re
from typing import Any

import pytest

from petrichor_env import Batch, Config, scenario
from petrichor_env.actions import ACTIONS, NUM_ACTIONS
from petrichor_env.batch import legal_actions
from petrichor_env.config import VARIANTS
from petrichor_env.render import action_text, changes, question, render_text
from petrichor_env.state import NOBODY
from tests.play import play
from tests.test_scenarios import SHORT

CONFIGS = [
    *(Config(players=players, drafting=drafting) for players in (2, 3, 4) for drafting in (False, True)),
    Config(),
    Config(variants=VARIANTS),
]

SOLO = {
    "players": 1,
    "round": 2,
    "variants": ["double_card"],
    "hands": {"player_0": {"frost": 1, "rain": 2}},
    "field": {
        "P1": {"crop": "cotton", "drops": {"player_0": 3, "neutral": 1}},
        "P2": {"crop": "grass", "cloud": {"drops": {"neutral": 2}}},
        "P6": {"crop": "coffee", "drops": {"player_0": 4}, "cloud": {"drops": {"player_0": 4, "neutral": 1}}},
    },
    "votes": {"wind": {"player_0": 2, "neutral": 3}},
    "points": {"player_0": 12, "neutral": 20},
    "dice": ["harvest", 2, 4],
    "southern_winds": {
        "deck": [1, 9],
        "revealed": [{"card": 4, "roll": 3, "target": "P2"}, {"card": 7, "roll": 1}],
    },
}

SOLO_TEXT = """\
Round 2 of 4, action phase
player_0 is asked which card to play, or to pass.

+---------------------+---------------------+
| P1 Cotton       4/2 | P2 Grass        0/4 |
| p0 3  n 1           |                     |
| developed           |                     |
|                     | light cloud     2/4 |
|                     | n 2                 |
+---------------------+---------------------+
| P3 Cotton       0/2 | P4 Potato       0/3 |
|                     |                     |
|                     |                     |
|                     |                     |
|                     |                     |
+---------------------+---------------------+
| P5 Potato       0/3 | P6 Coffee       4/4 |
|                     | p0 4                |
|                     | sprouting           |
|                     | thundercloud    5/8 |
|                     | p0 4  n 1           |
+---------------------+---------------------+

                     in supply    on weather spaces  voting  wheat
            points  drops votes  frost sun wind rain  wins  tokens  hand
p0 player_0     12      9    10      0   0    2    0     0       0  1 frost, 2 rain
n  neutral      20     16     9      0   0    3    0     0       0
all                                  0   0    5    0

Harvest dice: Harvest, 2, 4.  Clouds left: 10.
Deck: 37 cards (9 frost, 10 sun, 10 wind, 8 rain).  Discards: none.
Southern Winds card 4 (a new cloud, two neutral drops): die 3, on P2. Icons: frost.
Southern Winds card 7 (a mixed cloud north-west): die 1, no target, a point. Icons: wind, harvest.
Southern Winds deck: 1, 9."""


def test_drawing() -> None:
    assert render_text(scenario(SOLO)) == SOLO_TEXT


def test_a_crowded_tile_stays_narrow() -> None:
    drops = {"player_0": 11, "player_1": 2, "player_2": 10, "player_3": 1}
    text = render_text(scenario({"players": 4, "field": {"b2": {"drops": drops}}}))
    assert "| p0:11 p1:2 p2:10 p3:1 |" in text and max(map(len, text.split("\n"))) <= 100


def test_drawing_for_a_viewer() -> None:
    """A seat sees its own hand and pack; of the others' it sees the number of cards, of the deck no kinds."""
    packs = {f"player_{seat}": {"frost": 2, "sun": 2, "wind": 2, "rain": 1} for seat in range(3)}
    state = scenario({"players": 3, "drafting": True, "decision": "draft", "packs": packs})
    everything, own = render_text(state), render_text(state, viewer=1)
    assert everything.count("pack 2 frost, 2 sun, 2 wind, 1 rain") == 3
    assert "Deck: 19 cards (4 frost, 4 sun, 4 wind, 7 rain)." in everything
    assert own.count("pack 2 frost, 2 sun, 2 wind, 1 rain") == 1 and own.count("pack 7 cards") == 2
    assert "Deck: 19 cards." in own
    hands = {"player_0": {"sun": 1}, "player_1": {"rain": 2}}
    assert "p0 player_0      0     20    12      0   0    0    0     0       0  1 card\n" in render_text(
        scenario({"players": 2, "hands": hands}), viewer=1
    )


def test_drawing_hides_what_is_hidden() -> None:
    """What a viewer is shown does not change when others' hands do."""
    first = scenario({"players": 2, "hands": {"player_0": {"sun": 2}, "player_1": {"rain": 2}}})
    other = scenario({"players": 2, "hands": {"player_0": {"sun": 2}, "player_1": {"frost": 1, "wind": 1}}})
    assert render_text(first, viewer=0) == render_text(other, viewer=0)
    assert render_text(first, viewer=1) != render_text(other, viewer=1)
    assert render_text(first) != render_text(other)


def test_colours_change_nothing_else() -> None:
    """Without its escape codes the coloured drawing is the plain one."""
    for name, short in SHORT.items():
        state = scenario(short)
        coloured = render_text(state, colour=True)
        assert re.sub(r"\x1b\[\d+m", "", coloured) == render_text(state), name
        assert "\x1b[" in coloured and "\x1b[" not in render_text(state)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_random_games_in_words(config: Config) -> None:
    """At most 100 columns; every legal action has words of its own; a step that does anything is told."""
    batch = Batch(config, seed=4, autoreset="disabled")
    while batch.actors[0] != NOBODY:
        before = batch.states.copy()[0]
        text = render_text(before)
        assert max(map(len, text.split("\n"))) <= 100
        assert f"player_{before['actor']} is asked {question(before)}." in text
        meanings = [action_text(before, int(action)) for action in legal_actions(before)]
        assert len(set(meanings)) == len(meanings)
        batch.step(batch.random_actions())
        told = changes(before, batch.states[0])
        pieces = ("drops", "cloud", "cloud_drops", "votes", "points", "growing", "discards", "hand", "round")
        changed = any((before[field] != batch.states[0][field]).any() for field in pieces)
        assert bool(told) or not changed
    assert changes(batch.states[0], batch.states[0]) == []
    assert "game over" in render_text(batch.states[0])


def test_action_text_of_every_action() -> None:
    """Whatever is asked, every action has some text, and what is no action has none."""
    for short in SHORT.values():
        state = scenario(short)
        assert all(action_text(state, action) for action in range(NUM_ACTIONS))
    for action in (-1, NUM_ACTIONS):
        with pytest.raises(IndexError):
            action_text(scenario({"players": 2}), action)


MEANINGS = [
    ("nothing given", "play sun", "play a Sun card"),
    ("nothing given", "pass", "pass"),
    ("draft", "card sun", "keep a Sun card"),
    ("setup_cloud", "tile b1", "put a new cloud on b1"),
    ("optional_action", "play sun", "play two Sun cards"),
    ("optional_action", "decline", "take no optional action"),
    ("pay", "card sun", "pay with a Sun card"),
    ("sun_cloud", "tile c3", "add two drops to the cloud on c3"),
    ("wind_direction", "move north", "move it north to P2"),
    ("rain_drop", "drop b2 own", "let an own drop fall from the cloud on b2"),
    ("rain_drop", "drop b2 1st to the left", "let a drop of player_1 fall from the cloud on b2"),
    ("rain_second_drop", "decline", "let no second drop fall"),
    ("take_drop for Frost", "tile b2", "take an own drop from b2"),
    ("vote", "vote frost", "vote for Frost"),
    ("vote", "die 2", "turn a Harvest die from 2 to 1 for 1 point"),
    ("vote", "die 1", "turn a Harvest die from 1 to Harvest for 2 points"),
    ("move_vote", "weather wind", "take the vote from Wind"),
    ("discard", "card sun", "discard a Sun card"),
    ("choose_weather", "weather sun", "select Sun"),
    ("sun_weather_cloud", "tile a2", "double the cloud on P3 (2 to 4 own drops)"),
    ("wind_weather_drop", "drop a1 own", "move an own drop on a1"),
    ("wind_weather_direction", "move east", "move it east to b1"),
]


@pytest.mark.parametrize(("name", "action", "text"), MEANINGS)
def test_action_text(name: str, action: str, text: str) -> None:
    assert action_text(scenario(SHORT[name]), ACTIONS[action]) == text


def test_passing_discards_the_hand() -> None:
    """Passing - 3 and 4 player games, and the solo game; not in a 2 player game."""
    texts = [
        action_text(scenario({"players": players, "hands": {"player_0": {"sun": 3}}}), ACTIONS["pass"])
        for players in (1, 2, 3)
    ]
    assert texts == ["pass and discard the hand (3 cards)", "pass", "pass and discard the hand (3 cards)"]


# ---- what happened


def told(short: dict[str, Any], *actions: str) -> list[str]:
    state = scenario(short)
    return changes(state, play(state, *actions))


def test_a_cloud_overflows() -> None:
    field = {
        "b1": {"crop": "wheat", "cloud": {"drops": {"player_0": 6, "player_1": 1}}},
        "c1": {"cloud": {"drops": {"player_0": 1}}},
    }
    assert told({"players": 2, "field": field, "hands": {"player_0": {"sun": 1}}}, "play sun", "tile b1") == [
        "player_0 discards 1 sun.",
        "The cloud on b1 pours out: 6 drops of player_0, 1 drop of player_1.",
        "Wheat on b1 gets 8 drops of player_0, now 8; gets 1 drop of player_1, now 1.",
        "Wheat on b1 grows.",
    ]


def test_clouds_move_and_merge() -> None:
    field = {
        "b1": {"cloud": {"drops": {"player_0": 1}}},
        "b2": {"cloud": {"drops": {"player_0": 1, "player_1": 2}}},
    }
    short = {"players": 2, "field": field, "hands": {"player_0": {"wind": 1}}}
    assert told(short, "play wind", "tile b1", "move east") == [
        "player_0 discards 1 wind.",
        "The cloud on b1 moves to c1.",
    ]
    assert told(short, "play wind", "tile b1", "move south") == [
        "player_0 discards 1 wind.",
        "The cloud on b1 moves to b2 and merges with the cloud there.",
        "The cloud on b2 gets 1 drop of player_0, now 2.",
        "The cloud on b2 becomes a thundercloud.",
    ]


def test_votes_and_dice() -> None:
    vote = {**SHORT["vote"], "hands": {"player_1": {"sun": 1}}}
    assert told(vote, "vote frost") == ["player_0 places a vote on Frost, now 1."]
    assert told(vote, "die 2") == [
        "Harvest dice: Harvest, 2, 2 become Harvest, 1, 2.",
        "player_0 scores 1 point, now 1.",
    ]
    move = {**SHORT["move_vote"], "hands": {"player_1": {"sun": 1}}}
    assert told(move, "weather wind") == ["player_0 moves a vote from Wind to Frost."]


def test_a_drop_moves_and_a_crop_dries_out() -> None:
    short = {**SHORT["wind_weather_drop"], "field": {"a1": {"crop": "grass", "drops": {"player_2": 4}}}}
    assert told(short, "drop a1 own", "move south") == [
        "A drop of player_2 moves from a1 to a2.",
        "Grass on a1 dries out.",
    ]


def test_a_harvest() -> None:
    """The final round's, and the end of the game."""
    field = {"b1": {"crop": "cotton", "drops": {"player_0": 2, "player_1": 1}}}
    short = {"players": 2, "round": 4, "passed": "player_1", "actor": "player_0", "field": field}
    assert told({**short, "hands": {"player_0": {"sun": 1}}}, "pass") == [
        "Cotton on b1 is harvested; its 3 drops go back to their owners.",
        "player_0 scores 5 points, now 5.",
        "player_1 scores 2 points, now 2.",
        "player_1 is now first player.",
        "The game is over.",
    ]


def test_cards_of_others() -> None:
    """A viewer is told how many cards others take, and which they discard."""
    before = scenario({"players": 2, "hands": {"player_1": {"rain": 3}}})
    after = scenario(
        {"players": 2, "hands": {"player_0": {"sun": 2}, "player_1": {"rain": 2}}, "discards": {"rain": 1}}
    )
    both = ["player_0 gets 2 sun.", "player_1 discards 1 rain."]
    assert changes(before, after) == changes(before, after, viewer=0) == both
    assert changes(before, after, viewer=1) == ["player_0 gets 2 cards.", "player_1 discards 1 rain."]


def test_a_new_deck() -> None:
    """Clean-up Phase: 14 cards are dealt from a deck of 13, so the discards become the deck."""
    short = {
        "players": 2,
        "passed": "player_1",
        "actor": "player_0",
        "votes": {"sun": {"player_0": 1}},
        "hands": {"player_0": {"rain": 1}},
        "deck": {"frost": 10, "sun": 3},
        "discards": {"sun": 7, "wind": 10, "rain": 9},
    }
    assert told(short, "pass") == ["Sun is selected."]
    state = scenario(short)
    after = play(state, "pass", "weather rain")
    assert changes(state, after)[0] == "The discards are shuffled into a new deck."
    assert after["deck"].sum() == 25 and after["discards"].sum() == 0


def test_a_forfeit() -> None:
    batch = Batch(Config(players=2), seed=1, autoreset="disabled", illegal_action="lose")
    before = batch.states.copy()[0]
    batch.step([ACTIONS["pass"]])
    loser = f"player_{before['actor']}"
    assert changes(before, batch.states[0]) == [f"{loser} forfeits the game.", "The game is over."]
    winner = f"player_{1 - before['actor']}"
    assert render_text(batch.states[0]).startswith(f"Round 1 of 4, game over: {loser} forfeited, {winner} wins\n")
