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
from petrichor_env.drawing.decisions import result_text, winners
from petrichor_env.drawing.icons import NEUTRAL_OWNER
from petrichor_env.drawing.text import OWNER_PAINTS
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


def test_a_crowded_tile_stays_narrow() -> None:
    drops = {"player_0": 11, "player_1": 2, "player_2": 10, "player_3": 1}
    text = render_text(scenario({"players": 4, "field": {"b2": {"drops": drops}}}))
    assert "| p0:11 p1:2 p2:10 p3:1 |" in text and max(map(len, text.split("\n"))) <= 100


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


def test_no_action_text_of_other_numbers() -> None:
    for action in (-1, NUM_ACTIONS):
        with pytest.raises(IndexError):
            action_text(scenario({"players": 2}), action)


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


def test_cards_of_others() -> None:
    """A viewer is told which cards others discard, and only how many cards they are dealt."""
    for seed in range(8):
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


def test_drawing_shows_only_modules_in_play() -> None:
    """Without promos and Flowers the drawing has no word of them."""
    for short in SHORT.values():
        if not short.get("modules"):
            words = ("orecast", "ower:", "ertilizer", "Pods", "cored", "bloom")
            assert not any(word in render_text(scenario(short)) for word in words)


def test_cards_have_texts() -> None:
    """Every forecast card and every power has a text of its own, and cards are played when the rules say."""
    assert list(FORECASTS) == list(range(1, NUM_FORECASTS + 1))
    assert [card.timing for card in FORECASTS.values()] == TIMINGS[1:].tolist()
    assert len({card.text for card in FORECASTS.values()}) == NUM_FORECASTS
    assert list(POWER_TEXTS) == list(Power)[1:]
    assert {card.timing for card in FORECASTS.values()} == set(TIMING_TEXTS)


SETUP = ("tile b1", "tile c1")
"""Both players' first clouds."""


def test_what_is_dealt_by_modules() -> None:
    """A viewer is told the numbers of their own forecast cards only."""
    start = Batch(Config(players=2, modules=("forecasts",)), seed=1).states.copy()[0]
    lines = [line for line in told(start, *SETUP) if "forecast" in line]
    hidden = [line for line in told(start, *SETUP, viewer=1) if "forecast" in line]
    assert hidden == ["player_0 gets 3 forecast cards.", lines[1]]
    assert re.fullmatch(r"player_1 gets forecast cards \d+, \d+ and \d+\.", lines[1])
    start = Batch(Config(players=2, modules=("powers",)), seed=1).states.copy()[0]
    lines = [line for line in told(start, *SETUP) if "power" in line]
    assert len(lines) == 2 and all(re.match(r"player_\d has the \w+ power: ", line) for line in lines)
