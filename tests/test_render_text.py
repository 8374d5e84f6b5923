"""The game in words: the drawing, what happened, and what an answer means."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from petrichor_env import Batch, Config, scenario
from petrichor_env.actions import ACTIONS, NUM_ACTIONS
from petrichor_env.config import MODULES, VARIANTS
from petrichor_env.drawing import action_text, events, question, render_text
from petrichor_env.drawing.card_texts import FORECASTS, POWER_TEXTS, TIMING_TEXTS
from petrichor_env.drawing.icons import NEUTRAL_OWNER
from petrichor_env.drawing.text import OWNER_PAINTS, result_text, winners
from petrichor_env.rules.forecasts import TIMINGS
from petrichor_env.state import CROP_NAMES, NOBODY, NUM_FORECASTS, Crop, Decision, Power, State
from tabletop_engine.drawing.owners import OWNER_COLOURS
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.record import FORFEIT
from tabletop_engine.text.words import counted, win_text
from tests.support.play import action_of, play
from tests.support.scenarios import SHORT

SOLO_MODULES = ("fertilizer", "cactus", "powers", "forecasts")
CONFIGS = [
    *(Config(players=players, drafting=drafting) for players in (2, 3, 4) for drafting in (False, True)),
    Config(),
    Config(variants=VARIANTS),
    *(Config(players=players, modules=MODULES) for players in (2, 3, 5)),
    Config(modules=SOLO_MODULES),
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
player_0 is asked to play a card or pass.

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

Harvest pays: P1 P3 Cotton 5/2, P2 Grass 4/3, P4 P5 Potato 3/5, P6 Coffee 5/3.
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
    """A seat sees its own hand and pack. Of other hands and the deck it sees only the numbers of cards."""
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
        assert re.sub(r"\x1b\[[\d;]+m", "", coloured) == render_text(state), name
        assert "\x1b[" in coloured and "\x1b[" not in render_text(state)


def light(red: float, green: float, blue: float) -> float:
    """Relative luminance, as the Web Content Accessibility Guidelines define it."""
    linear = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in (red, green, blue))
    return sum(part * one for part, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_owners_have_the_colours_of_the_pictures() -> None:
    """They are the nearest terminal colours that can be read on any background."""
    pictures = [tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5)) for colour in OWNER_COLOURS]
    levels = (0, 95, 135, 175, 215, 255)
    for owner, paint in enumerate(OWNER_PAINTS):
        number = int(re.fullmatch(r"\x1b\[38;5;(\d+)m", paint)[1])  # type: ignore[index]
        if number < 232:
            colour = tuple(levels[(number - 16) // by % 6] for by in (36, 6, 1))
            distances = [sum((a - b) ** 2 for a, b in zip(colour, one, strict=True)) for one in pictures]
            assert distances[owner] == min(distances)
        else:
            assert owner == NEUTRAL_OWNER
            colour = (8 + 10 * (number - 232),) * 3
        shown = light(*(one / 255 for one in colour))
        assert 1.05 / (shown + 0.05) > 2.2 and (shown + 0.05) / 0.05 > 3
    solo = render_text(scenario({"players": 1}), colour=True)
    assert f"{OWNER_PAINTS[0]}p0 player_0" in solo and f"{OWNER_PAINTS[NEUTRAL_OWNER]}n  neutral" in solo


def test_who_won_in_words() -> None:
    """The result of a finished game, with any names."""
    batch = Batch(Config(players=3), 1, seed=3, autoreset="disabled")
    assert winners(batch.states[0]) == []
    while batch.states["decision"][0] != Decision.GAME_OVER:
        batch.step(batch.random_actions())
    state = batch.states[0].copy()
    names = ("ann", "bob", "eve")
    won = [names[seat] for seat in winners(state)]
    assert won and result_text(state, names) == f"{' and '.join(won)} {'win' if won[1:] else 'wins'}"
    state["forfeited"] = 1
    assert result_text(state, names).startswith("bob forfeited, ")
    assert win_text(names[:1]) == "ann wins" and win_text(names[:2]) == "ann and bob win"
    assert [counted(number, "card") for number in (0, 1, 2)] == ["0 cards", "1 card", "2 cards"]


PIECES = (
    *("drops", "cloud", "cloud_drops", "votes", "points", "growing", "discards", "hand", "round"),
    *("fertilizer", "pods", "blooms", "controller", "power", "forecast_holder"),
)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_random_games_in_words(config: Config) -> None:
    """Texts have at most 100 columns, every legal action has its own words, and every step with an effect is told."""
    batch = Batch(config, seed=4, autoreset="disabled")
    while batch.actors[0] != NOBODY:
        before = batch.states.copy()[0]
        text = render_text(before)
        assert max(map(len, text.split("\n"))) <= 100
        assert f"player_{before['actor']} is asked {question(before)}." in text
        meanings = [action_text(before, int(action)) for action in legal_actions(before)]
        assert len(set(meanings)) == len(meanings)
        actions = batch.random_actions()
        batch.step(actions)
        told = events(before, int(actions[0]))
        changed = any((before[field] != batch.states[0][field]).any() for field in PIECES)
        assert bool(told) or not changed
    assert "game over" in render_text(batch.states[0])


def test_action_text_of_every_action() -> None:
    """At any decision every action has a text, and other numbers have none."""
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


def told(start: dict[str, Any] | State, *actions: str, viewer: int | None = None) -> list[str]:
    """What these actions do, one after another."""
    state = scenario(start) if isinstance(start, dict) else start
    sentences = []
    for action in actions:
        sentences += events(state, action_of(state, action), viewer)
        state = play(state, action)
    return sentences


def test_a_cloud_overflows() -> None:
    field = {
        "b1": {"crop": "wheat", "cloud": {"drops": {"player_0": 6, "player_1": 1}}},
        "c1": {"cloud": {"drops": {"player_0": 1}}},
    }
    assert told({"players": 2, "field": field, "hands": {"player_0": {"sun": 1}}}, "play sun", "tile b1") == [
        "player_0 discards 1 sun.",
        "The cloud on b1 gets 2 drops of player_0, now 8.",
        "The cloud on b1 pours out: 8 drops of player_0, 1 drop of player_1.",
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
        "player_1 is now first player.",
        "Cotton on b1 is harvested.",
        "player_0 scores 5 points for Cotton, now 5.",
        "player_1 scores 2 points for Cotton, now 2.",
        "The game is over.",
    ]


def test_weather_harvest_and_a_new_round_in_one_step() -> None:
    """Everything is told in its order."""
    field = {
        "b1": {"crop": "cotton", "drops": {"player_0": 1}, "cloud": {"kind": "thunder", "drops": {"player_0": 4}}},
        "b2": {"crop": "grass", "drops": {"player_1": 1}},
    }
    short = {
        **{"players": 2, "round": 1, "passed": "player_1", "actor": "player_0", "dice": ["harvest"] * 3},
        **{"field": field, "hands": {"player_0": {"rain": 1}}},
        "votes": {"rain": {"player_0": 2}, "sun": {"player_1": 1}},
    }
    assert told(short, "pass")[:14] == [
        "Sun is selected.",
        "Rain is selected.",
        "The cloud on b1 gets 4 drops of player_0, now 8.",
        "The cloud on b1 pours out: 8 drops of player_0.",
        "Cotton on b1 gets 8 drops of player_0, now 9.",
        "Cotton on b1 grows.",
        "player_1 advances to 1 on the Voting Wins track.",
        "player_1 gets a vote back from Sun.",
        "player_0 advances to 1 on the Voting Wins track.",
        "player_0 gets 2 votes back from Rain.",
        "player_1 is now first player.",
        "Cotton on b1 is harvested.",
        "player_0 scores 5 points for Cotton, now 5.",
        "Round 2 begins.",
    ]


@pytest.mark.parametrize(
    "config",
    [
        Config(),
        Config(variants=("double_card", "one_more_turn")),
        Config(players=3),
        Config(players=5, modules=MODULES),
    ],
    ids=lambda config: config.name,
)
def test_every_crop_that_scores_is_told_as_harvested(config: Config) -> None:
    """The beginning of the next round is told before its first events."""
    harvests = 0
    for seed in range(8):
        batch = Batch(config, seed=seed, autoreset="disabled")
        while batch.actors[0] != NOBODY:
            before = batch.states.copy()[0]
            actions = batch.random_actions()
            batch.step(actions)
            after = batch.states[0]
            lines = events(before, int(actions[0]))
            scored = (after["scored"] - before["scored"])[:, : Crop.PRIMROSE].any(axis=0)
            named = {line.split()[0].lower() for line in lines if " is harvested" in line}
            assert {CROP_NAMES[crop] for crop in np.flatnonzero(scored)} <= named
            harvests += bool(scored.any())
            if config.solo and before["round"] != after["round"]:
                [last] = [i for i, line in enumerate(lines) if line == f"Round {after['round']} begins."]
                assert any(line.startswith("Southern Winds card") for line in lines[last:])
    assert harvests >= 8


HIDDEN = {
    "players": 2,
    "decision": "discard",
    "actor": "player_1",
    "passed": "player_0",
    "hands": {"player_0": {"rain": 2}, "player_1": {"frost": 3, "sun": 2}},
    "votes": {"sun": {"player_0": 1}, "wind": {"player_1": 1}},
}


@pytest.mark.parametrize("seed", range(8))
def test_cards_of_others(seed: int) -> None:
    """A viewer is told which cards others discard, and only how many cards they are dealt."""
    start = {**HIDDEN, "random": seed}
    lines = told(start, "card frost", viewer=0)
    assert lines[0] == "player_1 discards 1 frost."
    assert "player_1 gets 7 cards." in lines and any(re.match(r"player_0 gets \d \w+", line) for line in lines)
    both = [line for line in told(start, "card frost") if " gets " in line and "back" not in line]
    assert [sum(map(int, re.findall(r"(\d+) (?:frost|sun|wind|rain)", line))) for line in both] == [7, 7]


def test_a_new_hand_after_a_pass() -> None:
    """Discarded and dealt cards are told separately, although they are of the same kinds."""
    short = {"players": 1, "hands": {"player_0": {"frost": 2, "sun": 1}}, "votes": {"sun": {"player_0": 1}}}
    for seed in range(8):
        lines = told({**short, "random": seed}, "pass", "weather wind")
        assert lines.index("player_0 discards 2 frost, 1 sun.") < lines.index("Round 2 begins.")
        [dealt] = [line for line in lines if line.startswith("player_0 gets ") and "back" not in line]
        assert sum(map(int, re.findall(r"\d+", dealt.removeprefix("player_0")))) == 8


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
    after = play(scenario(short), "pass", "weather rain")
    told_then = told(short, "pass", "weather rain")
    assert told_then.index("Round 2 begins.") < told_then.index("The discards are shuffled into a new deck.")
    assert after["deck"].sum() == 25 and after["discards"].sum() == 0


def test_a_forfeit() -> None:
    batch = Batch(Config(players=2), seed=1, autoreset="disabled", illegal_action="lose")
    before = batch.states.copy()[0]
    batch.step([ACTIONS["pass"]])
    loser = f"player_{before['actor']}"
    assert events(before, FORFEIT) == [f"{loser} forfeits the game.", "The game is over."]
    winner = f"player_{1 - before['actor']}"
    assert render_text(batch.states[0]).startswith(f"Round 1 of 4, game over: {loser} forfeited, {winner} wins\n")


# ---- promos, five players and Flowers

CLOUD = {"cloud": {"drops": {"player_0": 2}}}
MIXED = {"cloud": {"drops": {"player_0": 2, "player_1": 1}}}
FACE_DOWN = {name: {"crop": "face_down"} for name in ("b1", "c1", "a2", "b2", "c2", "a3", "b3")}
VOTED = {"rain": {"player_0": 1}, "wind": {"player_0": 1}}
SEATS = [f"player_{seat}" for seat in range(5)]

FIVE: dict[str, Any] = {
    "players": 5,
    "modules": list(MODULES),
    "round": 2,
    "hands": {"player_0": {"frost": 1, "rain": 2}, "player_4": {"sun": 2}},
    "power": dict(zip(SEATS, ("rain", "frost", "sun", "wind", "harvest"), strict=True)),
    "field": {
        "a1": {"crop": "primrose", "blooms": 2, "drops": {"player_1": 3}, "fertilizer": True},
        "b1": {"crop": "lake", "cloud": {"drops": {"player_0": 3, "player_2": 1}}},
        "c1": {"crop": "snowdrop", "blooms": 1, "drops": {"player_0": 2}, "fertilizer": True, "pod": True},
        "d1": {"crop": "cactus", "growing": "drowned", "drops": {"player_4": 4}, "pod": True},
        "a2": {"crop": "dandelion", "drops": {"player_3": 1}},
        "b2": {"drops": dict.fromkeys(SEATS, 1), "cloud": {"drops": dict.fromkeys(SEATS, 1)}, "fertilizer": True},
    },
    "controller": "player_1",
    "forecasts": {"player_0": [1, 7, 16], "player_1": [2, 10]},
    "forecasts_played": [3, 4, 5, 6, 8, 9, 11, 12, 13, 14],
}

FIVE_TEXT = """\
Round 2 of 4, action phase, first player player_0
player_0 is asked to play a card or pass.

+-----------------------+-----------------------+-----------------------+-----------------------+
| a1 Primrose       3   | b1 Lake               | c1 Snowdrop     2/2   | d1 Cactus       4/2   |
| p1 3                  |                       | p0 2                  | p4 4                  |
| 2 blooms, p1 controls |                       | open, developed, pod  | drowned, pod          |
| fertilizer            | thundercloud    4/8   | fertilizer            |                       |
|                       | p0 3  p2 1            |                       |                       |
|                       |                       |                       |                       |
+-----------------------+-----------------------+-----------------------+-----------------------+
| a2 Dandelion    1/1   | b2 Wheat        5/3   | c2 Wheat        0/3   | d2 Wheat        0/3   |
| p3 1                  | p0:1 p1:1 p2:1 p3:1   |                       |                       |
| developed             | p4:1                  |                       |                       |
|                       | developed, fertilizer |                       |                       |
|                       | thundercloud    5/8   |                       |                       |
|                       | p0:1 p1:1 p2:1 p3:1   |                       |                       |
|                       | p4:1                  |                       |                       |
+-----------------------+-----------------------+-----------------------+-----------------------+
| a3 Cotton       0/2   | b3 Cotton       0/2   | c3 Cotton       0/2   | d3 Grass        0/4   |
|                       |                       |                       |                       |
|                       |                       |                       |                       |
|                       |                       |                       |                       |
|                       |                       |                       |                       |
+-----------------------+-----------------------+-----------------------+-----------------------+
| a4 Grass        0/4   | b4 Grass        0/4   | c4 Potato       0/3   | d4 Potato       0/3   |
|                       |                       |                       |                       |
|                       |                       |                       |                       |
|                       |                       |                       |                       |
|                       |                       |                       |                       |
+-----------------------+-----------------------+-----------------------+-----------------------+

                     in supply    on weather spaces  voting  wheat
            points  drops votes  frost sun wind rain  wins  tokens  hand
p0 player_0      0     13    12      0   0    0    0     0       0  1 frost, 2 rain
           Rain power: a Rain action may put an own drop on a tile without a cloud instead
           forecast 1, before the Harvest: a point for each tile with an own drop on it
           forecast 7, in the own Sun weather turn: two drops into each own cloud, no doubling
           forecast 16, instead of a turn: a new cloud with three own drops
p1 player_1      0     15    12      0   0    0    0     0       0  none
           Frost power: the new cloud of a Frost action may get a second own drop
           forecast 2, after the Harvest: a point for each own drop beyond three on a scored tile
           forecast 10, instead of a turn: a cloud moves to any tile and gets an own drop
p2 player_2      0     17    12      0   0    0    0     0       0  none
           Sun power: any card may be played as a Sun card
p3 player_3      0     17    12      0   0    0    0     0       0  none
           Wind power: a Wind action may move the cloud to any tile
p4 player_4      0     14    12      0   0    0    0     0       0  2 sun
           Harvest power: after a Harvest an own drop may stay on up to three tiles
all                                  0   0    0    0

Harvest pays: c1 Snowdrop 6, d1 Cactus 2/1/1, a2 Dandelion pods, b2 c2 d2 Wheat 2 + wheat / 3, a3 b3
    c3 Cotton 5/2, d3 a4 b4 Grass 4/3/2/1/1, c4 d4 Potato 3/5/1.
Harvest dice: 1, 1, 1.  Clouds left: 10.
Deck: 43 cards (11 frost, 10 sun, 12 wind, 10 rain).  Discards: none.
Pods left: 6.
Forecast cards out of the game: 3, 4, 5, 6, 8, 9, 11, 12, 13, 14.  Not dealt: 15."""


def test_drawing_of_everything() -> None:
    assert render_text(scenario(FIVE)) == FIVE_TEXT


def test_drawing_shows_only_modules_in_play() -> None:
    """Without promos and Flowers the drawing has no word of them."""
    for short in SHORT.values():
        if not short.get("modules"):
            words = ("orecast", "ower:", "ertilizer", "Pods", "cored", "bloom")
            assert not any(word in render_text(scenario(short)) for word in words)


def test_flowers_at_the_start() -> None:
    """Bucaneve, Primula: closed, one bloom, controlled by nobody; the Lake has no number of drops to grow."""
    field = {"a1": {"crop": "snowdrop"}, "b1": {"crop": "primrose"}, "c1": {"crop": "lake"}}
    text = render_text(scenario({"players": 3, "modules": ["lake", "flower_tiles"], "field": field}))
    assert "| a1 Snowdrop     0/2 | b1 Primrose       0 | c1 Lake             |" in text
    assert "| closed              | 1 bloom, nobody's   |                     |" in text


def test_tiles_face_down() -> None:
    """Fertilizer tokens: the tiles lie face down while they are placed."""
    field = {**FACE_DOWN, "b1": {"crop": "face_down", "fertilizer": True}}
    short = {"players": 2, "modules": ["fertilizer"], "decision": "fertilizer_tile", "field": field}
    text = render_text(scenario(short))
    assert "| b1 face down        | c1 face down        |" in text
    assert "| fertilizer          |                     |" in text
    assert "Fertilizer tokens left: 2." in text
    assert "player_1 is asked to put a Fertilizer token on a face-down tile." in text


def forecasts_of(short: dict[str, Any], **held: list[int]) -> dict[str, Any]:
    """The scenario with forecast cards held, and all others not dealt or out of the game."""
    return {**short, "modules": ["forecasts"], "forecasts": held}


TURN = {"players": 2, "hands": {"player_0": {"sun": 1}, "player_1": {"sun": 1}}}


def test_drawing_hides_forecast_cards() -> None:
    """Setup: forecast cards are held hidden; the others see how many, and which are out of the game."""
    state = scenario(forecasts_of(TURN, player_0=[10, 13], player_1=[5, 11, 16]))
    everything, own, other = (render_text(state, viewer=viewer) for viewer in (None, 0, 1))
    assert "forecast 13, instead of a turn: all dice turn to Harvest, and three points\n" in everything
    assert "forecast 5, at the start of the Weather Phase: a vote on any weather space\n" in everything
    assert "Forecast cards out of the game: 1.  Not dealt: 2, 3, 4, 6, 7, 8, 9, 12, 14, 15." in everything
    assert "forecast 13," in own and "forecast 5," not in own and "           3 forecast cards\n" in own
    assert "forecast 13," not in other and "forecast 5," in other and "           2 forecast cards\n" in other
    assert "Forecast cards out of the game: 1.  Not dealt: 10 cards." in own
    swapped = scenario(forecasts_of(TURN, player_0=[10, 13], player_1=[2, 3, 4]))
    assert render_text(swapped, viewer=0) == own and render_text(swapped, viewer=1) != other


def test_drawing_hides_who_is_asked_for_a_forecast_card() -> None:
    """Only the holder of a playable card is asked, so the name of the asked player would tell what is held."""
    drops = {"drops": {"player_0": 1, "player_1": 1}}
    short = {"players": 2, "decision": "forecast", "pending": {"timing": "before_rain", "selected": ["rain", "sun"]}}
    votes = {"rain": {"player_0": 1}}
    field = {"b1": drops}
    first, second = (
        scenario(
            forecasts_of(
                {**short, "actor": actor, "field": field, "votes": votes},
                player_0=[9, 10, 11] if actor == "player_0" else [10, 11, 12],
                player_1=[9, 13, 14] if actor == "player_1" else [13, 14, 15],
            )
        )
        for actor in ("player_0", "player_1")
    )
    assert "player_0 is asked to play a forecast card before Rain weather, or none." in render_text(first, viewer=0)
    assert "player_1 is asked" not in render_text(second, viewer=0)
    assert "\nForecast cards may be played before Rain weather.\n" in render_text(second, viewer=0)
    assert "player_1 is asked to play" in render_text(second)


def test_what_a_harvest_scores() -> None:
    """Forecast cards 2 and 3 and the Harvest power need the harvested drops."""
    short = {
        **forecasts_of(TURN, player_0=[2, 10, 11], player_1=[12, 13, 14]),
        "dice": ["harvest"] * 3,
        "decision": "forecast",
        "actor": "player_0",
        "pending": {
            "timing": "after_harvest",
            "scored_drops": {"b2": {"player_0": 4, "player_1": 1}, "c2": {"player_1": 3}},
        },
        "harvested": True,
    }
    text = render_text(scenario(short))
    assert "\nScored in this Harvest: b2 p0 4 p1 1; c2 p1 3." in text
    field = {"b1": {"drops": {"player_0": 1}, **CLOUD}}
    short = {**forecasts_of(TURN, player_0=[1, 10, 11], player_1=[12, 13]), "dice": ["harvest"] * 3, "field": field}
    before = {"timing": "before_harvest", "counts_clouds": ["player_1"]}
    short |= {"decision": "forecast", "harvested": True, "forecasts_played": [3], "pending": before}
    text = render_text(scenario(short))
    assert "\nDrops of player_1 in clouds count for the tiles below in this Harvest." in text


def test_cards_have_texts() -> None:
    """Every forecast card and every power has a text of its own, and cards are played when the rules say."""
    assert list(FORECASTS) == list(range(1, NUM_FORECASTS + 1))
    assert [card.timing for card in FORECASTS.values()] == TIMINGS[1:].tolist()
    assert len({card.text for card in FORECASTS.values()}) == NUM_FORECASTS
    assert list(POWER_TEXTS) == list(Power)[1:]
    assert {card.timing for card in FORECASTS.values()} == set(TIMING_TEXTS)


def carried_out(number: int, decision: str, pending: dict[str, Any] | None = None, **short: Any) -> dict[str, Any]:
    """player_0 of two players is in the middle of a forecast card, the first one they play."""
    others = [card for card in range(1, NUM_FORECASTS + 1) if card != number]
    return {
        "players": 2,
        "modules": ["forecasts"],
        "decision": decision,
        "forecasts": {"player_0": others[:2], "player_1": others[2:5]},
        "forecasts_played": [number],
        "pending": {"forecast": number, **(pending or {})},
        **short,
    }


def power(name: str, **short: Any) -> dict[str, Any]:
    """player_0 of two players has this power."""
    return {"players": 2, "modules": ["powers"], "power": {"player_0": name}, **short}


SCORED = {"harvested": True, "dice": ["harvest"] * 3}
TWELVE = {f"{column}{row}": {"cloud": {"drops": {"player_1": 1}}} for column in "abcd" for row in "123"}

ASKED: dict[str, tuple[dict[str, Any], str, dict[str, str]]] = {
    "fertilizer_tile": (
        {"players": 2, "modules": ["fertilizer"], "decision": "fertilizer_tile", "field": FACE_DOWN},
        "to put a Fertilizer token on a face-down tile",
        {"tile b1": "put a Fertilizer token on b1"},
    ),
    "frost_cloud": (
        {"players": 5, "decision": "frost_cloud", "field": TWELVE},
        "to add a drop to a cloud, as no cloud is left",
        {"tile b1": "add a drop to the cloud on b1", "decline": "add no drop"},
    ),
    "Frost power": (
        power(
            "frost",
            decision="frost_power",
            pending={"target": "b2"},
            field={"b2": {"cloud": {"drops": {"player_0": 1}}}},
        ),
        "to add a second drop to the new cloud on b2, or not",
        {"power": "add a second drop to the new cloud", "decline": "add no second drop"},
    ),
    "Sun power": (
        power("sun", hands={"player_0": {"wind": 1, "frost": 1}}),
        "to play a card or pass",
        {"substitute sun": "play another card as Sun (Sun power)"},
    ),
    "Sun power, optional action": (
        power("sun", decision="optional_action", hands={"player_0": {"wind": 1, "frost": 1}}),
        "to take an optional second action, or none",
        {
            "substitute sun": "play two cards, at most one of them Sun, as Sun (Sun power)",
            "play sun": "play two Sun cards",
        },
    ),
    "Wind power": (
        power("wind", decision="wind_tile", pending={"target": "b2"}, field={"b2": CLOUD}),
        "to move the cloud on b2",
        {"tile a3": "move it to a3"},
    ),
    "Rain power": (
        power("rain", decision="rain_drop", field={"b2": CLOUD}),
        "to let a drop fall, from a cloud or the supply",
        {"tile c2": "put an own drop on c2 (Rain power)", "drop b2 own": "let an own drop fall from the cloud on b2"},
    ),
    "Rain power without a cloud": (
        power("rain", decision="rain_drop"),
        "to let a drop fall, from a cloud or the supply",
        {"decline": "let no drop fall"},
    ),
    "Harvest power": (
        power("harvest", decision="keep_drop", pending={"scored_drops": {"b2": {"player_0": 4}}}, **SCORED),
        "to keep a drop on a tile, or no more (3 more)",
        {"tile b2": "keep a drop on b2", "decline": "keep no more drops"},
    ),
    "a forecast card as a turn": (
        forecasts_of(TURN, player_0=[1, 13, 16], player_1=[2, 3, 4]),
        "to play a card or pass",
        {"forecast 16": "play forecast card 16: a new cloud with three own drops"},
    ),
    "a forecast card on the timeline": (
        forecasts_of(
            {"players": 2, "decision": "forecast", "votes": VOTED, "pending": {"timing": "start_of_weather"}},
            player_0=[5, 6, 7],
        ),
        "to play a forecast card at the start of the Weather Phase, or none",
        {"forecast 5": "play forecast card 5: a vote on any weather space", "decline": "play no forecast card"},
    ),
    "2": (
        carried_out(2, "forecast_tile", {"scored_drops": {"b2": {"player_0": 6}, "c2": {"player_0": 4}}}, **SCORED),
        "to count own drops on a scored tile (forecast card 2)",
        {"tile b2": "score 3 points for own drops on b2", "tile c2": "score 1 point for own drops on c2"},
    ),
    "4": (
        carried_out(4, "forecast_tile", {"scored_drops": {"b2": {"player_0": 6}}}, **SCORED),
        "to choose a tile for the new cloud (forecast card 4)",
        {"tile b1": "put a new cloud with two drops on b1"},
    ),
    "5": (
        carried_out(5, "forecast_vote", votes=VOTED),
        "to add a vote to a weather space (forecast card 5)",
        {"vote sun": "add a vote on Sun"},
    ),
    "6": (
        carried_out(6, "forecast_tile", {"selected": ["wind", "rain"]}, field={"b2": MIXED, "c2": CLOUD}),
        "to let all drops of a cloud fall (forecast card 6)",
        {"tile b2": "let all drops of the cloud on b2 fall"},
    ),
    "8": (
        carried_out(
            8, "forecast_drop", {"selected": ["wind", "rain"]}, votes=VOTED, field={"b2": {"drops": {"player_0": 1}}}
        ),
        "to choose an own drop to move (forecast card 8)",
        {"drop b2 own": "move an own drop on b2"},
    ),
    "8, where": (
        carried_out(
            8,
            "forecast_direction",
            {"selected": ["wind", "rain"], "target": "b2", "target_owner": "player_0"},
            votes=VOTED,
            field={"b2": {"drops": {"player_0": 1}}},
        ),
        "to move an own drop on b2",
        {"move west": "move it west to a2"},
    ),
    "9": (
        carried_out(9, "forecast_tile", {"selected": ["wind", "rain"]}),
        "to put an own drop on a tile (forecast card 9)",
        {"tile b2": "put an own drop on b2"},
    ),
    "10": (
        carried_out(10, "forecast_tile", field={"b2": MIXED, "c2": CLOUD}),
        "to choose a cloud to move (forecast card 10)",
        {"tile b2": "move the cloud on b2"},
    ),
    "10, where": (
        carried_out(10, "forecast_tile", {"target": "b2"}, field={"b2": MIXED, "c2": CLOUD}),
        "to move the cloud on b2 (forecast card 10)",
        {"tile c2": "move it to c2"},
    ),
    "11": (
        carried_out(11, "forecast_drop", field={"b2": {"drops": {"player_0": 2, "player_1": 4}, **MIXED}}),
        "to let a drop rise into the cloud above (forecast card 11, 3 more)",
        {"drop b2 1st to the left": "let a drop of player_1 rise from b2 into the cloud above"},
    ),
    "12": (
        carried_out(12, "forecast_tile", field={"b2": MIXED, "c2": CLOUD}),
        "to add three own drops to a cloud (forecast card 12)",
        {"tile b2": "add three drops to the cloud on b2"},
    ),
    "15": (
        carried_out(15, "forecast_drop", {"target": "b2"}, field={"b2": MIXED, "c2": MIXED}),
        "to let a drop fall from the cloud on c2 (forecast card 15)",
        {"drop c2 own": "let an own drop fall from the cloud on c2"},
    ),
    "16": (
        carried_out(16, "forecast_tile"),
        "to choose a tile for the new cloud (forecast card 16)",
        {"tile b2": "put a new cloud with three drops on b2"},
    ),
    "pod_tile": (
        {
            "players": 2,
            "modules": ["flower_tiles"],
            "decision": "pod_tile",
            "pending": {"selected": ["wind", "rain"]},
            "votes": VOTED,
            "field": {"b2": {"crop": "dandelion", "drops": {"player_0": 1}}},
        },
        "to put a pod on a tile (2 more)",
        {"tile b1": "put a pod on b1"},
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_modules_ask(name: str) -> None:
    short, asked, meanings = ASKED[name]
    state = scenario(short)
    assert question(state) == asked
    assert {action: action_text(state, ACTIONS[action]) for action in meanings} == meanings
    assert all(action_text(state, action) for action in range(NUM_ACTIONS))
    for viewer in (None, 0, 1):
        assert max(map(len, render_text(state, viewer=viewer).split("\n"))) <= 100


def test_chosen_drops_are_shown() -> None:
    """Card 11: the drops rise together, when all three are chosen."""
    state = scenario(ASKED["11"][0])
    after = play(state, "drop b2 own")
    assert "\nChosen on b2 p0 1." in render_text(after)
    assert question(after).endswith("(forecast card 11, 2 more)")


# ---- what happened there


def test_a_fertilizer_token() -> None:
    short = ASKED["fertilizer_tile"][0]
    assert told(short, "tile b1") == ["A Fertilizer token is placed on b1."]
    assert "The tiles are turned face up." in told(short, "tile b1", "tile a2", "tile c2")


def test_a_cactus_drowns() -> None:
    """The Maltese Cactus: 2 drops, from 4 on it is drowned."""
    rain = power("rain", hands={"player_0": {"rain": 1}}, modules=["powers", "cactus"])
    three = {"b2": {"crop": "cactus", "drops": {"player_0": 3}}}
    assert told({**rain, "field": three}, "play rain", "tile b2")[-1] == "Cactus on b2 drowns."
    one = {"b2": {"crop": "cactus", "drops": {"player_0": 1}}}
    assert told({**rain, "field": one}, "play rain", "tile b2")[-1] == "Cactus on b2 grows."


def lake(**tiles: Any) -> dict[str, Any]:
    """The Lake on c2, and player_0 with a Wind and a Rain card."""
    field = {"c2": {"crop": "lake", **tiles.pop("c2", {})}, **tiles}
    return {"players": 2, "modules": ["lake"], "field": field, "hands": {"player_0": {"wind": 1, "rain": 1}}}


def test_clouds_and_the_lake() -> None:
    """The Lake: a Wind action adds three drops; what falls goes back."""
    assert told(lake(b2=CLOUD), "play wind", "move east") == [
        "player_0 discards 1 wind.",
        "The cloud on b2 moves to c2.",
        "The cloud on c2 gets 3 drops of player_0, now 5.",
        "The cloud on c2 becomes a thundercloud.",
    ]
    heavy = {"cloud": {"drops": {"player_0": 2, "player_1": 4}}}
    assert told(lake(b2=heavy), "play wind", "move east") == [
        "player_0 discards 1 wind.",
        "The cloud on b2 moves to c2.",
        "The cloud on c2 gets 3 drops of player_0, now 5.",
        "The cloud on c2 pours out: 5 drops of player_0, 4 drops of player_1, back to their owners.",
    ]
    assert told(lake(c2=MIXED), "play rain", "drop c2 own") == [
        "player_0 discards 1 rain.",
        "The cloud on c2 loses 1 drop of player_0, back to the owner, now 1.",
    ]
    assert told(lake(c2={"cloud": {"drops": {"player_0": 1}}}), "play rain") == [
        "player_0 discards 1 rain.",
        "The cloud on c2 loses 1 drop of player_0, back to the owner, now 0.",
        "The empty cloud on c2 goes.",
    ]


def test_wind_weather_blows_a_drop_into_the_lake() -> None:
    short = {
        **lake(b2={"drops": {"player_1": 2}}),
        "decision": "wind_weather_direction",
        "pending": {"selected": ["wind", "rain"], "target": "b2", "target_owner": "player_1"},
        "votes": VOTED,
    }
    short["hands"] = {}
    assert "A drop of player_1 moves from b2 to the Lake on c2, back to the owner." in told(short, "move east")


def test_forecast_cards_played() -> None:
    """The card, and with the second one played the third."""
    clouds = {"b2": MIXED, "c1": {"cloud": {"drops": {"player_1": 1}}}}
    fresh = {**forecasts_of(TURN, player_0=[1, 10, 14], player_1=[2, 3, 4]), "field": clouds}
    assert told(fresh, "forecast 14") == [
        "player_0 plays forecast card 14 (an own drop into each cloud that holds none).",
        "The cloud on c1 gets 1 drop of player_0, now 1.",
    ]
    second = {**forecasts_of(TURN, player_0=[1, 10], player_1=[2, 3, 4]), "field": clouds}
    what = "a cloud moves to any tile and gets an own drop"
    assert told(second, "forecast 10") == [f"player_0 plays forecast card 10 ({what}) and discards forecast card 1."]
    moving = carried_out(10, "forecast_tile", {"target": "b2"}, field=clouds, hands=TURN["hands"])
    assert told(moving, "tile a3") == [
        "The cloud on b2 moves to a3.",
        "The cloud on a3 gets 1 drop of player_0, now 3.",
        "The cloud on a3 becomes a thundercloud.",
    ]
    assert told(moving, "tile c1") == [
        "The cloud on b2 moves to c1 and merges with the cloud there.",
        "The cloud on c1 gets 2 drops of player_0, now 2.",
        "The cloud on c1 gets 1 drop of player_1, now 2.",
        "The cloud on c1 becomes a thundercloud.",
        "The cloud on c1 gets 1 drop of player_0, now 3.",
    ]
    both = {**forecasts_of(TURN, player_0=[13, 14], player_1=[2, 3, 4]), "field": clouds}
    assert told(both, "forecast 13")[0] == (
        "player_0 plays forecast card 13 (all dice turn to Harvest, and three points) and discards forecast card 14."
    )


SETUP = ("tile b1", "tile c1")
"""Both players' first clouds."""


def test_forecast_cards_dealt() -> None:
    """A viewer is told the numbers of their own cards only."""
    start = Batch(Config(players=2, modules=("forecasts",)), seed=1).states.copy()[0]
    lines = [line for line in told(start, *SETUP) if "forecast" in line]
    hidden = [line for line in told(start, *SETUP, viewer=1) if "forecast" in line]
    assert hidden == ["player_0 gets 3 forecast cards.", lines[1]]
    assert re.fullmatch(r"player_1 gets forecast cards \d+, \d+ and \d+\.", lines[1])


def test_powers_dealt() -> None:
    start = Batch(Config(players=2, modules=("powers",)), seed=1).states.copy()[0]
    lines = [line for line in told(start, *SETUP) if "power" in line]
    assert len(lines) == 2 and all(re.match(r"player_\d has the \w+ power: ", line) for line in lines)


def test_flower_tiles() -> None:
    """The Primrose changes hands; the Snowdrop opens; pods are placed."""
    field = {"b2": {"crop": "primrose", "blooms": 2, "drops": {"player_1": 1}}}
    rain = power("rain", modules=["flower_tiles", "powers"], hands={"player_0": {"rain": 1}}, field=field)
    field["b2"]["drops"] = {"player_0": 1, "player_1": 1}
    assert told({**rain, "controller": "player_1"}, "play rain", "tile b2")[1:] == [
        "Primrose on b2 gets 1 drop of player_0, now 2; loses 1 drop of player_1, now 0.",
        "player_0 takes control of the Primrose.",
        "player_0 scores 4 points for Primrose, now 4.",
    ]
    assert told(ASKED["pod_tile"][0], "tile b1") == ["A pod is placed on b1."]


def test_a_drop_is_kept() -> None:
    """The Harvest power."""
    short = power(
        "harvest",
        decision="keep_drop",
        pending={"scored_drops": {"b2": {"player_0": 4}, "c2": {"player_0": 5}}},
        **SCORED,
    )
    assert told(short, "tile b2") == ["player_0 keeps a drop on b2."]


def test_a_closed_snowdrop_gives_drops_back() -> None:
    """Bucaneve: no drops on it before Frost weather."""
    field = {"b2": {"crop": "snowdrop", "cloud": {"drops": {"player_0": 6, "player_1": 1}}}}
    short = {"players": 2, "modules": ["flower_tiles"], "field": field, "hands": {"player_0": {"sun": 1}}}
    assert told(short, "play sun") == [
        "player_0 discards 1 sun.",
        "The cloud on b2 gets 2 drops of player_0, now 8.",
        "The cloud on b2 pours out: 8 drops of player_0, 1 drop of player_1, back to their owners.",
    ]


def test_drops_in_clouds_are_harvested() -> None:
    """Card 3: a tile may be harvested for what is in the cloud above it."""
    field = {
        "b1": {"crop": "wheat", "drops": {"player_0": 1}, "cloud": {"drops": {"player_0": 2}}},
        "c1": {"crop": "wheat", "cloud": {"drops": {"player_0": 3}}},
        "b2": {"crop": "wheat", "drops": {"player_1": 4}},
    }
    short = {**forecasts_of(TURN, player_0=[2, 3, 10], player_1=[4, 11, 12]), "field": field, "harvested": True}
    short |= {"decision": "forecast", "pending": {"timing": "before_harvest"}, "dice": ["harvest"] * 3}
    lines = told(short, "forecast 3")
    assert [line for line in lines if " is harvested" in line] == [
        "Wheat on b1 is harvested.",
        "Wheat on c1 is harvested.",
        "Wheat on b2 is harvested.",
    ]


def test_a_harvest_of_flowers() -> None:
    """Pods go back, the Snowdrop closes, the Primrose blooms once more."""
    field = {
        "b1": {"crop": "snowdrop", "blooms": 1, "drops": {"player_1": 2}},
        "c1": {"crop": "primrose"},
        "a2": {"crop": "dandelion", "drops": {"player_0": 1}},
        "b2": {"pod": True},
        "c2": {"pod": True},
    }
    short = {"players": 2, "modules": ["flower_tiles"], "round": 4, "passed": "player_1", "actor": "player_0"}
    assert told({**short, "field": field, "hands": {"player_0": {"sun": 1}}}, "pass")[1:8] == [
        "Snowdrop on b1 is harvested.",
        "player_1 scores 6 points for Snowdrop, now 6.",
        "Dandelion on a2 is harvested.",
        "player_0 scores 2 points for Dandelion, now 2.",
        "Snowdrop on b1 closes.",
        "Pods go back from b2, c2.",
        "Primrose on c1 has 2 blooms now.",
    ]
