"""Properties of every step of random games in every configuration, and what a batch promises about states. The games of
all configurations are stepped side by side, so that one vectorised check covers them all.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from petrichor_env import Batch, Config
from petrichor_env.actions import ACTION_NAMES, CARD, DECLINE, DIE, NUM_ACTIONS, PASS, SUBSTITUTE, WEATHER, action_name
from petrichor_env.component_files import load_tables
from petrichor_env.game import GAME
from petrichor_env.game import check as check_states
from petrichor_env.observation import HIGH, LAYOUT, LOW, OBSERVATION_SIZE
from petrichor_env.state import (
    FACE_DOWN,
    MAX_PLAYERS,
    NO_TILE,
    NOBODY,
    NUM_FORECASTS,
    PLAYED,
    STATE,
    Cloud,
    Crop,
    Decision,
    Growing,
    Module,
    Phase,
    Reading,
    Source,
)
from tabletop_engine.errors import ConfigError, GameOver, IllegalAction, StateError
from tabletop_engine.play.kernels import sample_actions
from tests.support.configurations import A_FEW, EVERY_CONFIGURATION
from tests.support.effort import games
from tests.support.hidden import swapped
from tests.support.play import legal_masks
from tests.support.processes import in_python

GAMES = games(2, 12)
"""Of each configuration."""
REDRAWS = games(1, 2)
"""Of what is hidden in each position."""
AT_ONCE = 16
"""Steps whose states are checked together, because checking few states takes as long as checking many."""
Check = Callable[[np.ndarray], np.ndarray]

ANSWERED_WITH_ONE = (Decision.DRAFT, Decision.PAY, Decision.OPTIONAL_ACTION, Decision.DISCARD)
"""Decisions that are asked even with one answer left, because the number of answers depends on hidden cards."""


def longest(config: Config) -> int:
    """A number of decisions that no game exceeds. None of 12,000 random games took more than two thirds of it."""
    return 250 * config.players * config.rounds // 4


def eager(batch: Batch) -> np.ndarray:
    """Masks without passing, declining, substituting and dice if other actions are left. So votes and drops run out."""
    kept = batch.action_masks.copy()
    kept[:, [PASS, DECLINE, *range(SUBSTITUTE, CARD), *range(DIE, WEATHER)]] = 0
    kept[batch.states["decision"] == Decision.OPTIONAL_ACTION] = 0  # single cards bring more votes
    kept[:, DECLINE] |= batch.action_masks[:, DECLINE] * (batch.states["decision"] == Decision.OPTIONAL_ACTION)
    return np.where(kept.any(axis=1, keepdims=True), kept, batch.action_masks)


def play_on(batch: Batch, steps: int, generator: np.random.Generator) -> None:
    """Random steps; games that end start anew."""
    for _ in range(steps):
        batch.step(sample_actions(batch.action_masks, generator))
        if batch.terminations.any():
            batch.reset(mask=batch.terminations)


@pytest.fixture(scope="module")
def positions() -> dict[Config, np.ndarray]:
    """States from all parts of random games, at least three for each decision of a configuration."""
    found = {}
    for number, config in enumerate(EVERY_CONFIGURATION):
        if number % games(3, 1) and config not in A_FEW:
            continue
        generator = np.random.default_rng(number)
        batch = Batch(config, games(16, 32), seed=number, autoreset="disabled")
        seen = [batch.states.copy()]
        for _ in range(120):
            play_on(batch, 3, generator)
            seen.append(batch.states.copy())
        states = joined(seen)
        chosen = [np.flatnonzero(states["decision"] == decision)[-3:] for decision in np.unique(states["decision"])]
        found[config] = states[np.concatenate(chosen)]
    return found


@pytest.fixture(scope="module")
def a_few(positions: dict[Config, np.ndarray]) -> dict[Config, np.ndarray]:
    return {config: positions[config] for config in A_FEW}


# ---- every step


def owners_of(states: np.ndarray) -> np.ndarray:
    """(N, MAX_PLAYERS) whether the seat owns drops and votes."""
    return np.arange(states["supply"].shape[1]) < states["owners"][:, None]


def drops_are_kept(s: np.ndarray) -> np.ndarray:
    """20 drops each (Setup), in supply, on tiles, in clouds."""
    total = s["supply"] + s["drops"].sum(axis=1) + s["cloud_drops"].sum(axis=1)
    negative = (
        (s["supply"] < 0).any(axis=1) | (s["drops"] < 0).any(axis=(1, 2)) | (s["cloud_drops"] < 0).any(axis=(1, 2))
    )
    sound: np.ndarray = (total == 20 * owners_of(s)).all(axis=1) & ~negative
    return sound


def votes_are_kept(s: np.ndarray) -> np.ndarray:
    """12 votes each (Setup), in supply or on weather spaces."""
    total = s["vote_supply"] + s["votes"].sum(axis=1)
    sound: np.ndarray = (
        (total == 12 * owners_of(s)).all(axis=1)
        & (s["votes"] >= 0).all(axis=(1, 2))
        & (s["vote_supply"] >= 0).all(axis=1)
    )
    return sound


def cards_are_kept(s: np.ndarray) -> np.ndarray:
    """40 cards, 10 of each kind (five players: 48), dealt when the tiles lie face up; only players hold cards."""
    kind = np.where((s["crop"] == FACE_DOWN).any(axis=1), 0, np.where(s["players"] == 5, 12, 10))
    total = s["deck"] + s["discards"] + s["hand"].sum(axis=1) + s["pack"].sum(axis=1)
    held = (s["hand"] + s["pack"]).sum(axis=2)
    outside = np.arange(held.shape[1]) >= s["players"][:, None]
    positive = (np.minimum(s["hand"], s["pack"]) >= 0).all(axis=(1, 2)) & (
        np.minimum(s["deck"], s["discards"]) >= 0
    ).all(axis=1)
    sound: np.ndarray = (total == kind[:, None]).all(axis=1) & ~(held * outside).any(axis=1) & positive
    return sound


def hands_fit(s: np.ndarray) -> np.ndarray:
    """At most the dealt cards and 4 kept ones (Setup, Hand limit). A turn without cards needs forecast cards."""
    sizes = s["hand"].sum(axis=2)
    dealt = np.select([s["players"] == 1, s["players"] >= 4], [8, 6], 7)
    most = dealt + np.where(s["players"] == 1, 0, 4)
    actor = np.maximum(s["actor"], 0)
    asked = sizes[np.arange(len(s)), actor] + (s["forecast_holder"] == actor[:, None]).sum(axis=1)
    limit = ~np.isin(s["phase"], (Phase.WEATHER, Phase.HARVEST)) | (sizes.max(axis=1) <= 4)
    sound: np.ndarray = (sizes.max(axis=1) <= most) & limit & ((s["decision"] != Decision.TURN) | (asked > 0))
    return sound


def clouds_are_right(s: np.ndarray) -> np.ndarray:
    """At most 12, none empty, no light one of 4 or more, none of 8 or more, all above tiles (Overflowing)."""
    full = s["cloud_drops"].sum(axis=2)
    kind = s["cloud"]
    most = np.select([kind == Cloud.LIGHT, kind == Cloud.THUNDER], [3, 7], 0)
    above = (kind == Cloud.NONE) | (s["crop"] >= 0)
    sound: np.ndarray = ((full <= most) & ((full > 0) == (kind != Cloud.NONE)) & above).all(axis=1) & (
        (kind != Cloud.NONE).sum(axis=1) <= 12
    )
    return sound


def growing_tokens_are_right(s: np.ndarray) -> np.ndarray:
    """Tokens are exactly where drops suffice; only Coffee and Rice sprout; only the Cactus drowns, with 4 drops."""
    needed = np.append(load_tables()["drops_to_grow"][0], (127, 127))[s["crop"]]  # -2: face down, -1: no tile
    drops, token = s["drops"].sum(axis=2), s["growing"]
    cactus = s["crop"] == Crop.CACTUS
    kind = np.where(
        np.isin(s["crop"], (Crop.COFFEE, Crop.RICE)),
        (token == Growing.SPROUTING) | (token == Growing.DEVELOPED),
        (token == Growing.DEVELOPED) | (cactus & (token == Growing.DROWNED)),
    ) & ~(cactus & (drops >= 4) & (token != Growing.DROWNED))
    sound: np.ndarray = np.where(drops >= needed, kind, token == Growing.NONE).all(axis=1)
    return sound


def fields_are_right(s: np.ndarray) -> np.ndarray:
    """As many tiles as the players need, with at most one of each special tile, and none without its module."""
    crop = s["crop"]
    tiles = np.array([0, 6, 7, 9, 12, 16])[s["players"]]
    dry = ~((s["drops"].sum(axis=2) > 0) & ((crop < 0) | (crop == Crop.LAKE))).any(axis=1)
    sound: np.ndarray = ((crop != NO_TILE).sum(axis=1) == tiles) & dry
    for special, module in (
        (Crop.CACTUS, Module.CACTUS),
        (Crop.LAKE, Module.LAKE),
        *((flower, Module.FLOWER_TILES) for flower in (Crop.SNOWDROP, Crop.DANDELION, Crop.PRIMROSE)),
    ):
        sound &= (crop == special).sum(axis=1) <= s["modules"][:, module]
    return sound


def fertilizer_is_right(s: np.ndarray) -> np.ndarray:
    """Three tokens, placed while tiles lie face down, no two orthogonally adjacent (Fertilizer tokens)."""
    there = s["fertilizer"].reshape(len(s), 4, 4)
    adjacent = (there[:, 1:] * there[:, :-1]).any(axis=(1, 2)) | (there[:, :, 1:] * there[:, :, :-1]).any(axis=(1, 2))
    total, number = 3 * s["modules"][:, Module.FERTILIZER], there.sum(axis=(1, 2))
    face_down = (s["crop"] == FACE_DOWN).any(axis=1)
    placed = np.where(s["decision"] == Decision.FERTILIZER_TILE, face_down & (number < total), number == total)
    sound: np.ndarray = placed & ~adjacent & ~((s["fertilizer"] > 0) & (s["crop"] == NO_TILE)).any(axis=1)
    return sound


def flowers_are_right(s: np.ndarray) -> np.ndarray:
    """Bloom tokens; pods only on other crops; nobody ahead of the controller on the Primrose (Flower tiles)."""
    snowdrop, primrose, dandelion = (s["crop"] == crop for crop in (Crop.SNOWDROP, Crop.PRIMROSE, Crop.DANDELION))
    blooms = (s["blooms"] <= np.select([snowdrop, primrose], [1, 4], 0)) & (s["blooms"] >= primrose)
    closed = snowdrop & (s["blooms"] == 0)
    no_pods = (s["crop"] < 0) | (s["crop"] == Crop.LAKE) | primrose | dandelion | closed
    pods = ~((s["pods"] > 0) & no_pods).any(axis=1) & (s["pods"].sum(axis=1) <= 8 * dandelion.any(axis=1))
    there = (s["drops"] * primrose[:, :, None]).sum(axis=1)
    leads = there[np.arange(len(s)), s["controller"]] == there.max(axis=1)
    leads |= s["readings"][:, Reading.PRIMROSE_PASSES_ONCE] == 1
    control = np.where(s["controller"] == NOBODY, ~there.any(axis=1), leads & primrose.any(axis=1))
    few = ~(closed & (s["drops"].sum(axis=2) > 1)).any(axis=1)
    sound: np.ndarray = blooms.all(axis=1) & pods & control & few
    return sound


def powers_are_right(s: np.ndarray) -> np.ndarray:
    """Each player has a different power, chosen ones stay where they were, and there are none without the module."""
    power, chosen = s["power"], s["chosen_power"]
    alike = (power[:, :, None] == power[:, None, :]) & (power[:, :, None] > 0) & ~np.eye(MAX_PLAYERS, dtype=bool)
    there = np.arange(MAX_PLAYERS) < s["players"][:, None]
    dealt = (s["phase"] != Phase.SETUP) | chosen.any(axis=1)
    expected = there & ((s["modules"][:, Module.POWERS] == 1) & dealt)[:, None]
    as_chosen = (chosen == 0) | (power == chosen)
    sound: np.ndarray = ((power > 0) == expected).all(axis=1) & ~alike.any(axis=(1, 2)) & as_chosen.all(axis=1)
    return sound


def forecasts_are_right(s: np.ndarray) -> np.ndarray:
    """Each player has three after the setup, two after playing one, none after the second (Forecast cards)."""
    holder = s["forecast_holder"]
    held = (holder[:, None, :] == np.arange(MAX_PLAYERS)[:, None]).sum(axis=2)
    dealt = 3 * s["players"] * (s["modules"][:, Module.FORECASTS] == 1) * (s["phase"] != Phase.SETUP)
    there = np.arange(MAX_PLAYERS) < s["players"][:, None]
    number = np.where(there, np.isin(held, (0, 2, 3)), held == 0).all(axis=1)
    played = holder[np.arange(len(s)), np.maximum(s["forecast"] - 1, 0)] == PLAYED
    sound: np.ndarray = (
        number & ((holder == NOBODY).sum(axis=1) == NUM_FORECASTS - dealt) & (played | (s["forecast"] == 0))
    )
    return sound


def somebody_is_asked(s: np.ndarray) -> np.ndarray:
    """Unless the game is over, one of its players is asked and has a choice."""
    over = s["phase"] == Phase.OVER
    asked = (s["actor"] >= 0) & (s["actor"] < s["players"]) & (s["decision"] != Decision.GAME_OVER)
    finished = (s["actor"] == NOBODY) & (s["decision"] == Decision.GAME_OVER) & (s["round"] == s["rounds"])
    sound: np.ndarray = np.where(over, finished, asked & has_a_choice(s))
    return sound


def has_a_choice(s: np.ndarray) -> np.ndarray:
    answers = legal_masks(s, NUM_ACTIONS).sum(axis=1)
    holds_forecasts = (s["forecast_holder"] == s["actor"][:, None]).any(axis=1) & (
        s["modules"][:, Module.FORECASTS] == 1
    )
    without_cards = (s["decision"] == Decision.TURN) & holds_forecasts
    hidden = (np.isin(s["decision"], ANSWERED_WITH_ONE) | without_cards) & (s["players"] > 1)
    enough: np.ndarray = answers >= np.where(hidden, 1, 2)
    return enough


def tracks_and_dice_are_right(s: np.ndarray) -> np.ndarray:
    """Sides of dice, Voting Wins of at most two spaces a round, rounds as configured, card 9 in the solo deck."""
    five, solo, face_down = s["players"] == 5, s["players"] == 1, (s["crop"] == FACE_DOWN).any(axis=1)
    wins = s["voting_wins"].max(axis=1) <= np.where(five, 4, 2) * s["round"]
    dice = (s["dice"] >= 0).all(axis=1) & (s["dice"] <= 4).all(axis=1) & (np.diff(s["dice"], axis=1) >= 0).all(axis=1)
    selected = s["selected"].sum(axis=1) <= np.where(s["round"] == s["rounds"], 4, 2)
    winds = s["winds_deck"][:, 8] == (solo & ~face_down)
    sound: np.ndarray = wins & dice & selected & winds & (s["round"] >= 1) & (s["round"] <= s["rounds"])
    return sound


def points_have_sources(s: np.ndarray) -> np.ndarray:
    """All points have a source; tracks and tokens score at the end; the Lake and missing crops bring none."""
    scored = s["scored"]
    there = (s["crop"][:, :, None] == np.arange(Source.DICE)).any(axis=1) & (np.arange(Source.DICE) != Crop.LAKE)
    early = (s["phase"] != Phase.OVER)[:, None] & scored[:, :, [Source.VOTING_WINS, Source.WHEAT_TOKENS]].any(axis=1)
    sound: np.ndarray = (
        (scored.sum(axis=2) == s["points"]).all(axis=1)
        & (scored >= 0).all(axis=(1, 2))
        & ~(scored[:, :, : Source.DICE].any(axis=1) & ~there).any(axis=1)
        & ~early.any(axis=1)
    )
    return sound


CHECKS: tuple[Check, ...] = (
    drops_are_kept,
    votes_are_kept,
    cards_are_kept,
    hands_fit,
    clouds_are_right,
    growing_tokens_are_right,
    fields_are_right,
    fertilizer_is_right,
    flowers_are_right,
    powers_are_right,
    forecasts_are_right,
    somebody_is_asked,
    tracks_and_dice_are_right,
    points_have_sources,
)


def assert_sound(states: np.ndarray) -> None:
    for check in CHECKS:
        sound = check(states)
        if not sound.all():
            pytest.fail(f"{check.__name__}: {check.__doc__}\n{states[np.argmin(sound)]}")


def joined(states: list[np.ndarray]) -> np.ndarray:
    """All of these in one array. They are copied as bytes, because NumPy would copy field by field."""
    return np.concatenate([part.view(f"V{STATE.itemsize}") for part in states]).view(STATE)


def assert_all_sound(states: list[np.ndarray]) -> None:
    """Run every check on all these states, and empty the list."""
    if states:
        whole = joined(states)
        assert_sound(whole)
        check_states(whole)
        states.clear()


def assert_forward(before: np.ndarray, after: np.ndarray) -> None:
    """Points, sources, Voting Wins, Wheat tokens, blooms and rounds never fall; rounds and Wins grow by one step."""
    for name in ("points", "scored", "voting_wins", "wheat_tokens", "round", "fertilizer"):
        assert (after[name] >= before[name]).all(), name
    assert (after["round"] - before["round"] <= 1).all()
    assert (after["voting_wins"] - before["voting_wins"] <= np.where(after["players"] == 5, 4, 2)[:, None]).all()
    assert ((after["crop"] == before["crop"]) | (before["crop"] == FACE_DOWN)).all()
    assert ((after["power"] == before["power"]) | (before["power"] == 0)).all()
    assert ((after["blooms"] >= before["blooms"]) | (after["crop"] == Crop.SNOWDROP)).all()
    had, has = before["forecast_holder"], after["forecast_holder"]
    dealing = (before["phase"] == Phase.SETUP) & (after["phase"] != Phase.SETUP)
    assert ((has == had) | (has == PLAYED) | dealing[:, None]).all()
    assert ((has == PLAYED) | (had != PLAYED)).all()
    played = ((has == PLAYED) & (had >= 0) & (had != before["actor"][:, None])).any(axis=1)
    assert not played.any(), "a forecast card of somebody who was not asked"


@pytest.mark.parametrize(
    ("check", "name", "place", "value"),
    [
        (drops_are_kept, "supply", 0, 21),
        (drops_are_kept, "supply", 2, 1),
        (votes_are_kept, "vote_supply", 1, 13),
        (cards_are_kept, "deck", 0, 11),
        (hands_fit, "hand", (0, 1), 12),
        (clouds_are_right, "cloud_drops", (5, 0), 8),
        (clouds_are_right, "cloud", 0, Cloud.LIGHT),
        (growing_tokens_are_right, "growing", 5, Growing.DEVELOPED),
        (growing_tokens_are_right, "drops", (5, 1), 5),
        (fields_are_right, "crop", 0, Crop.WHEAT),
        (fields_are_right, "crop", 5, Crop.LAKE),
        (fields_are_right, "drops", (0, 0), 1),
        (fertilizer_is_right, "fertilizer", 5, 1),
        (flowers_are_right, "blooms", 5, 1),
        (flowers_are_right, "pods", 5, 1),
        (flowers_are_right, "controller", (), 1),
        (powers_are_right, "power", 1, 3),
        (forecasts_are_right, "forecast_holder", 3, 1),
        (forecasts_are_right, "forecast", (), 1),
        (somebody_is_asked, "legal", slice(None), 0),
        (somebody_is_asked, "legal", slice(None), (4, 0, 0)),
        (somebody_is_asked, "actor", (), 2),
        (tracks_and_dice_are_right, "dice", 2, 5),
        (tracks_and_dice_are_right, "voting_wins", 0, 3),
        (points_have_sources, "points", 1, 2),
        (points_have_sources, "scored", (1, Source.DICE), 2),
        (points_have_sources, "scored", (1, slice(Source.DICE, Source.VOTING_WINS + 1)), (-1, 1)),
        (points_have_sources, "scored", (0, slice(Source.CORN, Source.CORN + 2)), (1, -1)),
    ],
)
def test_checks_find_what_is_broken(check: Check, name: str, place: Any, value: Any) -> None:
    """Each check fails for a state of two players that breaks it."""
    states = Batch(Config(players=2), 1, seed=0).states.copy()
    assert check(states).all()
    states[name][0, ...][place] = value
    assert not check(states).any()


class Seen:
    """What came up in games: decisions, legal actions, played forecast cards, sources of points, and observations."""

    def __init__(self) -> None:
        self.decisions: set[int] = set()
        self.legal = np.zeros(NUM_ACTIONS, bool)
        self.played = np.zeros(NUM_FORECASTS, bool)
        self.scored = np.zeros(len(Source), bool)
        self.observed = np.zeros(OBSERVATION_SIZE, bool)

    def states(self, states: np.ndarray) -> None:
        self.decisions.update(states["decision"].tolist())
        self.legal |= legal_masks(states[states["actor"] != NOBODY], NUM_ACTIONS).any(axis=0)
        self.played |= (states["forecast_holder"] == PLAYED).any(axis=0)
        self.scored |= states["scored"].any(axis=(0, 1))

    def observations(self, observations: np.ndarray) -> None:
        assert observations.min() >= LOW
        assert observations.max() <= HIGH
        self.observed |= observations.any(axis=0)

    def assert_everything(self) -> None:
        assert self.decisions == set(Decision)
        assert [name for name, seen in zip(ACTION_NAMES, self.legal, strict=True) if not seen] == []
        assert self.played.all()
        assert {source for source in Source if not self.scored[source]} == {Source.LAKE}
        assert [
            name for name, block in ((block.name, block) for block in LAYOUT) if not self.observed[block.slice].any()
        ] == []


def play_to_the_end(batches: list[Batch], seen: Seen) -> None:
    """Run every check after every step until each game has ended. Half of the players play as `eager` allows."""
    generator = np.random.default_rng(1)
    lengths = np.zeros((len(batches), batches[0].num_games), np.int64)
    ended = np.zeros(lengths.shape, bool)
    numbers = {id(batch): number for number, batch in enumerate(batches)}
    unchecked: list[np.ndarray] = []
    while batches:
        before = joined([batch.states for batch in batches])
        for batch in batches:
            masks = batch.action_masks.copy()
            masks[::2] = eager(batch)[::2]
            batch.step(sample_actions(masks, generator))
            seen.observations(batch.observations)
        after = joined([batch.states for batch in batches])
        unchecked.append(after)
        if len(unchecked) == AT_ONCE:
            assert_all_sound(unchecked)
        assert_forward(before, after)
        seen.states(after)
        for batch in batches:
            number, over, config = numbers[id(batch)], batch.terminations, batch.config
            assert isinstance(config, Config)
            assert (over == (batch.states["phase"] == Phase.OVER)).all()
            assert (over == (batch.actors == NOBODY)).all()
            lengths[number] += 1
            assert lengths[number].max() <= longest(config), config.name
            lengths[number][over] = 0
            ended[number] |= over
            if over.any():
                assert Config.of(batch.states[int(over.argmax())]) == batch.config
                batch.reset(mask=over)
        batches = [batch for batch in batches if not ended[numbers[id(batch)]].all()]
    assert_all_sound(unchecked)


def test_random_games() -> None:
    """Everything comes up: each decision, action, forecast card, source of points, and block of the observation."""
    seen = Seen()
    batches = [
        Batch(config, GAMES, seed=number, autoreset="disabled") for number, config in enumerate(EVERY_CONFIGURATION)
    ]
    first = joined([batch.states for batch in batches])
    assert_sound(first)
    check_states(first)
    seen.states(first)
    play_to_the_end(batches, seen)
    seen.assert_everything()


def test_masks_are_the_legal_sets(positions: dict[Config, np.ndarray]) -> None:
    """The mask of the actor is the record's own set, and `legal` finds the same set again."""
    for config, states in positions.items():
        again = states.copy()
        again["legal"] = 0
        GAME.kernels.refresh_legal(again, load_tables())
        assert again.tobytes() == states.tobytes()
        batch = loaded(config, states)
        playing = states["actor"] != NOBODY
        assert (batch.action_masks[playing] == legal_masks(states, NUM_ACTIONS)[playing]).all()
        assert (batch.action_masks[~playing] == 1).all()


def loaded(config: Config, states: np.ndarray) -> Batch:
    """A batch that holds these states, which are sound."""
    batch = Batch(config, len(states), seed=0, autoreset="disabled")
    batch.states[:] = states
    batch.refresh(check=False)
    return batch


def test_step_accepts_exactly_what_the_mask_allows(a_few: dict[Config, np.ndarray]) -> None:
    """Every action is tried on a copy. A legal one is applied; any other raises and leaves the bytes unchanged."""
    for config, states in a_few.items():
        _, one_of_each = np.unique(states["decision"], return_index=True)
        for state in states[one_of_each][states["actor"][one_of_each] != NOBODY]:
            mask = loaded(config, state.reshape(1)).action_masks[0].copy()
            legal = np.flatnonzero(mask)
            many = loaded(config, np.repeat(state, len(legal)))
            many.step(legal)
            assert_sound(many.states)
            one = loaded(config, state.reshape(1))
            for action in [*np.flatnonzero(mask == 0), -1, NUM_ACTIONS]:
                with pytest.raises(IllegalAction) as caught:
                    one.step([action])
                assert not isinstance(caught.value, GameOver)
            assert action_name(int(legal[0])) in str(caught.value)
            assert one.states.tobytes() == state.tobytes()
            assert (one.action_masks[0] == mask).all()


# ---- same seed, same bytes


PLAIN = """
import hashlib, sys
import numpy as np
from petrichor_env import Batch, Config
from petrichor_env.config import MODULES
digest = hashlib.sha256()
for number, config in list(enumerate((Config(), Config(variants=("double_card", "non_random_targets", "one_more_turn")),
                                 Config(players=2), Config(players=3, drafting=True), Config(players=4),
                                 Config(modules=("fertilizer", "cactus", "powers", "forecasts")),
                                 Config(players=2, modules=MODULES, powers=("wind", "rain")),
                                 Config(players=3, modules=MODULES, powers=("harvest", "frost", "sun")),
                                 Config(players=5, modules=MODULES, drafting=True))))[::int(sys.argv[1])]:
    batch = Batch(config, 1, seed=number, autoreset="disabled", num_threads=1)
    generator = np.random.default_rng(number)
    while batch.actors[0] >= 0:
        batch.step([generator.choice(np.flatnonzero(batch.action_masks[0]))])
        digest.update(batch.states.tobytes() + batch.observations.tobytes() + batch.rewards.tobytes())
print(digest.hexdigest())
"""


def test_plain_python_gives_the_same_bytes() -> None:
    """NUMBA_DISABLE_JIT=1 plays the same games, for a debugger."""
    outputs = {
        in_python(PLAIN, str(games(3, 1)), env={"PYTHONWARNINGS": "error", "NUMBA_DISABLE_JIT": disable}).stdout
        for disable in ("0", "1")
    }
    assert len(outputs) == 1
    assert len(outputs.pop().strip()) == hashlib.sha256().digest_size * 2


# ---- hidden is hidden


def observe(states: np.ndarray, seat: int) -> np.ndarray:
    batch = Batch(Config.of(states[0]), len(states), 0)
    return batch.views_of(states, np.full(len(states), seat, np.int64))


HIDDEN = ("rng", "legal", "hand", "deck", "pack", "forecast_holder")
"""Fields of a record that a player can see in part or not at all."""


def views(positions: dict[Config, np.ndarray]) -> Iterator[tuple[Config, int, np.ndarray, np.ndarray]]:
    """Configuration, seat, the states, and the states with what the seat can't know drawn anew."""
    for config, states in positions.items():
        for seat in range(config.players):
            repeated = np.repeat(states, REDRAWS)
            drawn = repeated.copy()
            randoms = np.random.default_rng(seat).integers(0, 2**64, len(drawn), np.uint64)
            GAME.kernels.sample_hidden_games(drawn, load_tables(), np.full(len(drawn), seat, np.int64), randoms)
            yield config, seat, repeated, drawn


def test_observations_hide_what_is_hidden(positions: dict[Config, np.ndarray]) -> None:
    """A player's view and own legal actions stay byte for byte when all that is hidden is drawn anew."""
    for config, seat, states, drawn in views(positions):
        assert observe(drawn, seat).tobytes() == observe(states, seat).tobytes(), (config, seat)
        own = states["actor"] == seat
        assert (drawn["legal"][own] == states["legal"][own]).all()
        playing = states["actor"] != NOBODY
        assert (drawn["rng"][playing] != states["rng"][playing]).all()
        if not config.solo:
            others = [other for other in range(config.players) if other != seat]
            for name in ("hand", "deck") + (("pack",) if config.drafting else ()):
                was, now = states[name], drawn[name]
                if name != "deck":
                    was, now = was[:, others], now[:, others]
                assert (was != now).any(), f"{name} is never drawn anew"
            if "forecasts" in config.modules:
                assert (states["forecast_holder"] != drawn["forecast_holder"]).any()


def test_observations_ignore_what_others_hold(positions: dict[Config, np.ndarray]) -> None:
    """No view tells other players' hidden hands, packs or forecast cards, or who is asked for a forecast card."""
    asked: set[int] = set()
    moved = np.zeros(len(HIDDEN), bool)
    for config, states in positions.items():
        for seat in range(config.players):
            changed = swapped(states, seat, np.random.default_rng(seat))
            different = (observe(states, seat) != observe(changed, seat)).any(axis=0)
            told = [block.name for block in LAYOUT if different[block.slice].any()]
            assert told == [], (config.name, seat)
            asked.update(states["decision"][(states["actor"] != seat) & (states["actor"] != NOBODY)].tolist())
            moved |= [(changed[name] != states[name]).any() for name in HIDDEN]
    assert asked >= {Decision.DRAFT, Decision.PAY, Decision.DISCARD, Decision.FORECAST, Decision.FORECAST_TILE}
    assert moved.all()


def test_the_own_forecast_cards_are_seen(positions: dict[Config, np.ndarray]) -> None:
    """The view shows which cards were dealt to the viewer, and which were played."""
    for config, states in positions.items():
        for seat in range(config.players):
            seen, holder = observe(states, seat), states["forecast_holder"]
            assert (seen[:, LAYOUT["forecasts"].slice] == (holder == seat)).all()
            assert (seen[:, LAYOUT["forecasts_played"].slice] == (holder == PLAYED)).all()
            asked = (states["decision"] != Decision.FORECAST) | (states["actor"] == seat)
            assert (seen[:, LAYOUT["decision"].slice].any(axis=1) == asked).all()
            assert seen.min() >= LOW
            assert seen.max() <= HIGH


def test_the_first_of_two_picks_is_hidden_from_the_others() -> None:
    """The redrawn states must not show what another player has picked so far."""
    batch = Batch(Config(players=3, drafting=True), 64, 5)
    found = 0
    for _ in range(30):
        batch.step(batch.random_actions())
        states = batch.states[(batch.states["decision"] == Decision.DRAFT) & (batch.states["lowest_card"] > 0)].copy()
        found += len(states)
        seats = (states["actor"].astype(np.int64) + 1) % 3
        others, randoms = states.copy(), np.arange(len(states), dtype=np.uint64)
        others["lowest_card"] = 0
        for drawn in (states, others):
            GAME.kernels.sample_hidden_games(drawn, batch.tables, seats, randoms)
        assert states.tobytes() == others.tobytes()
    assert found > 20


def test_drawing_what_is_hidden_keeps_the_rest(positions: dict[Config, np.ndarray]) -> None:
    """Public facts, own cards and all numbers of cards stay. The games can be played to their end."""
    unchecked: list[np.ndarray] = []
    unfinished: dict[Config, list[np.ndarray]] = {}
    for config, seat, states, drawn in views(positions):
        assert STATE.names is not None
        for name in STATE.names:
            if name not in HIDDEN:
                kept = drawn[name] == states[name]
                if name == "lowest_card":  # another's first pick is hidden
                    kept |= (states["decision"] == Decision.DRAFT) & (states["actor"] != seat) & (drawn[name] == 0)
                assert kept.all(), name
        for name in ("hand", "pack"):
            assert (drawn[name].sum(axis=2) == states[name].sum(axis=2)).all()
            assert (drawn[name][:, seat] == states[name][:, seat]).all()
        assert (drawn["deck"].sum(axis=1) == states["deck"].sum(axis=1)).all()
        was, now = states["forecast_holder"], drawn["forecast_holder"]
        assert (np.sort(was) == np.sort(now)).all()
        for seen in (seat, PLAYED):
            assert ((was == seen) == (now == seen)).all()
        unchecked.append(drawn)
        unfinished.setdefault(config, []).append(drawn[drawn["actor"] != NOBODY])
    assert_all_sound(unchecked)
    on_the_way: list[np.ndarray] = []
    for config, of_seats in unfinished.items():
        batch = loaded(config, joined(of_seats))
        generator = np.random.default_rng(2)
        for step in range(40):
            batch.step(sample_actions(batch.action_masks, generator))
            if step % 8 == 0:
                on_the_way.append(batch.states.copy())
            if batch.terminations.any():
                batch.reset(mask=batch.terminations)
        unchecked.append(batch.states.copy())
    assert_sound(joined(on_the_way))
    assert_all_sound(unchecked)


@pytest.mark.parametrize(
    "config", [config for config in A_FEW if "forecasts" in config.modules], ids=lambda config: config.name
)
def test_every_unseen_forecast_card_may_be_anywhere(config: Config, positions: dict[Config, np.ndarray]) -> None:
    """In enough redraws each unseen card is sometimes in the box and sometimes in each other player's hand."""
    states = positions[config]
    for state in states[states["decision"] == Decision.TURN][:1]:
        for seat in range(config.players):
            drawn = np.repeat(state, 400)
            randoms = np.random.default_rng(seat).integers(0, 2**64, len(drawn), np.uint64)
            GAME.kernels.sample_hidden_games(drawn, load_tables(), np.full(len(drawn), seat, np.int64), randoms)
            holder = state["forecast_holder"]
            places = {int(place) for place in holder if place not in (seat, PLAYED)}
            for card in np.flatnonzero((holder != seat) & (holder != PLAYED)):
                assert set(drawn["forecast_holder"][:, card].tolist()) == places


def test_observations_show_a_change_of_the_own_hand() -> None:
    """Two different hands give two different observations."""
    batch = Batch(Config(players=2), 50, seed=1)
    hands = {row.tobytes() for row in batch.states["hand"][:, 0]}
    assert len({row.tobytes() for row in batch.observe(0)}) >= len(hands) > 10


# ---- copies and saved states


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_a_finished_game_that_is_loaded_starts_anew(autoreset: str) -> None:
    """A state that was over when it was loaded does not block a batch that resets."""
    batch = Batch(Config(players=2), 2, seed=3, autoreset="disabled")
    while (batch.actors != NOBODY).all():
        batch.step(batch.random_actions())
    other = Batch(Config(players=2), 2, seed=4, autoreset=autoreset)
    other.load(batch.save())
    assert (other.actors == NOBODY).any()
    other.step(other.random_actions())
    assert (other.actors != NOBODY).all()
    assert not other.terminations[batch.actors == NOBODY].any()


def test_states_of_another_configuration_are_refused() -> None:
    batch = Batch(Config(players=2), 2, seed=3)
    batch.states[1] = Batch(Config(players=4), 1, seed=0).states[0]
    with pytest.raises(StateError, match="game 1 has players 4; this batch plays 2p"):
        batch.refresh()
    batch = Batch(Config(players=2, modules=("cactus", "powers"), powers=("sun", "wind")), 2, seed=3)
    for modules, powers in ((("cactus", "lake", "powers"), ("sun", "wind")), (("cactus", "powers"), ("wind", "sun"))):
        batch.states[1] = Batch(Config(players=2, modules=modules, powers=powers), 1, seed=0).states[0]
        with pytest.raises(StateError, match=r"game 1 has (modules|chosen_power) .*; this batch plays 2p"):
            batch.refresh()


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("state_version", 0, "state_version 0"),
        ("components", "0" * 16, "components '0000000000000000'"),
        ("num_games", 7, "num_games 7"),
        ("players", 3, "players 3"),
        ("modules", ["lake"], "modules ['lake']"),
        ("powers", ["sun", "wind"], "powers ['sun', 'wind']"),
        ("state_layout", "0" * 16, "state_layout '0000000000000000'"),
        ("unknown", 1, "of another version"),
    ],
)
def test_saves_of_others_are_refused(key: str, value: object, text: str) -> None:
    """Intact files of another version or configuration are refused."""
    batch = Batch(Config(players=2), 3, seed=1)
    data = batch.save()
    start = data.index(b"{")
    end = data.index(b"}") + 1
    header = json.dumps({**json.loads(data[start:end]), key: value}, sort_keys=True).encode()
    body = data[: start - 4] + len(header).to_bytes(4, "little") + header + data[end:-32]
    with pytest.raises(StateError, match=re.escape(text)):
        batch.load(body + hashlib.sha256(body).digest())
    assert batch.save() == data


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"reward": ["win"]}, "reward=['win']: must be one of 'win', 'margin', 'points'"),
        ({"reward": np.array([1])}, "reward=array([1])"),
        ({"illegal_action": []}, "illegal_action=[]: must be one of 'raise', 'lose', 'random'"),
        ({"autoreset": None}, "autoreset=None: must be one of 'same_step', 'next_step', 'disabled'"),
        ({"num_games": 0}, "num_games=0: must be an int of at least 1"),
        ({"num_threads": True}, "num_threads=True: must be an int from 1 to 256"),
        ({"seed": "x"}, "seed='x': must be an int of at least 0"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": np.array(3.5)}, "seed=array(3.5)"),
        ({"seed": [1, 2]}, "seed: 2 seeds for 1 games"),
        ({"config": "solo"}, "config='solo': must be a game's configuration"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(text)):
        Batch(**{"config": Config(), **arguments})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"players": 6}, "players=6"),
        ({"players": 0}, "players=0"),
        ({"players": 2.0}, "players=2.0"),
        ({"players": np.array([1, 2])}, "players="),
        ({"rounds": 5}, "rounds=5: 4 (short form) or 6 (long form)"),
        ({"rounds": 6}, "rounds=6: the Southern Winds are played over 4 rounds"),
        ({"drafting": True}, "there is no draft in solo"),
        ({"drafting": "yes", "players": 2}, "True or False"),
        ({"drafting": np.array([1, 0]), "players": 2}, "drafting="),
        ({"variants": "double_card"}, "a sequence of names"),
        ({"variants": 3}, "a sequence of"),
        ({"variants": ("double",)}, "unknown 'double'; allowed are double_card, non_random_targets"),
        ({"variants": ("double_card",) * 2}, "each at most once"),
        ({"players": 2, "variants": ("double_card",)}, "with players=2 leave empty"),
        ({"modules": "lake"}, "a sequence of names"),
        ({"modules": ("flowers",)}, "unknown 'flowers'; allowed are fertilizer, cactus, lake, flower_tiles"),
        ({"modules": ("cactus",) * 2}, "each at most once"),
        ({"modules": ("lake",)}, "the Lake is not used in solo play"),
        ({"modules": ("flower_tiles",)}, "the Southern Winds don't support the three flower tiles"),
        ({"powers": ("sun",)}, "only with modules=('powers',)"),
        ({"modules": ("powers",), "powers": ("sun", "rain")}, "one for each of 1 players"),
        ({"modules": ("powers",), "players": 2, "powers": ("sun",)}, "one for each of 2 players"),
        ({"modules": ("powers",), "players": 2, "powers": ("sun", "sun")}, "each at most once"),
        ({"modules": ("powers",), "powers": ("none",)}, "unknown 'none'; allowed are frost, sun, wind, rain, harvest"),
        ({"components": 5}, "components: 5 is neither a path nor a mapping"),
    ],
)
def test_bad_configurations(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(text)):
        Config(**arguments)


@pytest.mark.slow
def test_many_random_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "GAMES", 40)
    test_random_games()


def test_bad_bytes_are_refused() -> None:
    """Cut, changed, foreign or other games' bytes raise StateError, and the batch stays as it was."""
    batch = Batch(Config(players=2), 3, seed=1)
    play_on(batch, 20, np.random.default_rng(1))
    data, before = batch.save(), batch.save()
    bad = [b"", b"petrichor", os.urandom(len(data)), data[:-1], data + b"\0", data[: len(data) // 2], data[1:]]
    others = Config(players=3), Config(), Config(players=2, modules=("powers",))
    bad += [Batch(config, 3, seed=1).save() for config in others]
    for position in np.random.default_rng(0).integers(0, len(data), 300):
        flipped = bytearray(data)
        flipped[position] ^= 1 << int(position % 8)
        bad.append(bytes(flipped))
    for wrong in bad:
        with pytest.raises(StateError):
            batch.load(wrong)
        assert batch.save() == before
    batch.load(data)
