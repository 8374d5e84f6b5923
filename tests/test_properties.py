"""What holds at every step of random games, in every configuration; and what a batch promises about states.

The games of all configurations are stepped side by side, so that one vectorised check covers them all.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from petrichor_env import VARIANTS, Batch, Config
from petrichor_env.actions import CARD, DECLINE, DIE, NUM_ACTIONS, PASS, SUBSTITUTE, WEATHER, action_name
from petrichor_env.component_files import load_tables
from petrichor_env.errors import ConfigError, GameOver, IllegalAction, StateError
from petrichor_env.kernels import observe_games, refresh_legal, sample_actions, sample_hidden_games
from petrichor_env.observation import OBSERVATION_SIZE
from petrichor_env.state import NOBODY, STATE, Cloud, Crop, Decision, Growing, Phase
from tests.configurations import EVERY_CONFIGURATION

GAMES = 40
"""Of each configuration."""
Check = Callable[[np.ndarray], np.ndarray]


def longest(config: Config) -> int:
    """Decisions that no game exceeds: in 11,200 random games none took more than two thirds of it."""
    return 250 * config.players * config.rounds // 4


def eager(batch: Batch) -> np.ndarray:
    """Masks without passing, declining, substituting and dice where something else is left: votes and drops run out."""
    kept = batch.action_masks.copy()
    kept[:, [PASS, DECLINE, *range(SUBSTITUTE, CARD), *range(DIE, WEATHER)]] = 0
    kept[batch.states["decision"] == Decision.OPTIONAL_ACTION] = 0  # a vote a card is more
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
    """States from all over random games, at least three of each decision that a configuration asked for."""
    found = {}
    for number, config in enumerate(EVERY_CONFIGURATION):
        generator = np.random.default_rng(number)
        batch = Batch(config, 32, seed=number, autoreset="disabled")
        seen = []
        for _ in range(120):
            play_on(batch, 3, generator)
            seen.append(batch.states.copy())
        states = np.concatenate(seen)
        chosen = [np.flatnonzero(states["decision"] == decision)[-3:] for decision in np.unique(states["decision"])]
        found[config] = states[np.concatenate(chosen)]
    return found


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
    """40 cards, 10 a kind; only players hold any."""
    total = s["deck"] + s["discards"] + s["hand"].sum(axis=1) + s["pack"].sum(axis=1)
    held = (s["hand"] + s["pack"]).sum(axis=2)
    outside = np.arange(held.shape[1]) >= s["players"][:, None]
    positive = (np.minimum(s["hand"], s["pack"]) >= 0).all(axis=(1, 2)) & (
        np.minimum(s["deck"], s["discards"]) >= 0
    ).all(axis=1)
    sound: np.ndarray = (total == 10).all(axis=1) & ~(held * outside).any(axis=1) & positive
    return sound


def hands_fit(s: np.ndarray) -> np.ndarray:
    """What is dealt and 4 kept (Setup, Hand limit); nobody's turn without a card (a player without must pass)."""
    sizes = s["hand"].sum(axis=2)
    dealt = np.select([s["players"] == 1, s["players"] == 4], [8, 6], 7)
    most = dealt + np.where(s["players"] == 1, 0, 4)
    asked = sizes[np.arange(len(s)), np.maximum(s["actor"], 0)]
    limit = (s["phase"] != Phase.WEATHER) | (sizes.max(axis=1) <= np.where(s["players"] == 1, 0, 4))
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
    """A token exactly where the drops suffice; only Coffee and Rice sprout (Growing Crops)."""
    needed = np.append(load_tables()["drops_to_grow"][0], 127)[s["crop"]]  # -1: no tile
    sprouts = np.isin(s["crop"], (Crop.COFFEE, Crop.RICE))
    token = s["growing"]
    enough = s["drops"].sum(axis=2) >= needed
    kind = np.where(sprouts, token >= Growing.SPROUTING, token == Growing.DEVELOPED)
    tiles = np.select([s["players"] == 1, s["players"] == 2, s["players"] == 3], [6, 7, 9], 12)
    sound: np.ndarray = np.where(enough, kind, token == Growing.NONE).all(axis=1) & (
        (s["crop"] >= 0).sum(axis=1) == tiles
    )
    return sound


def somebody_is_asked(s: np.ndarray) -> np.ndarray:
    """A legal action for a player of the game, unless it is over."""
    over = s["phase"] == Phase.OVER
    asked = (s["actor"] >= 0) & (s["actor"] < s["players"]) & (s["decision"] != Decision.GAME_OVER)
    finished = (s["actor"] == NOBODY) & (s["decision"] == Decision.GAME_OVER) & (s["round"] == s["rounds"])
    sound: np.ndarray = np.where(over, finished, asked & s["legal"].any(axis=1))
    return sound


def tracks_and_dice_are_right(s: np.ndarray) -> np.ndarray:
    """Sides of the dice, at most two Voting Wins a round, rounds as configured, card 9 always in the solo deck."""
    wins = s["voting_wins"].max(axis=1) <= 2 * s["round"]
    dice = (s["dice"] >= 0).all(axis=1) & (s["dice"] <= 4).all(axis=1) & (np.diff(s["dice"], axis=1) >= 0).all(axis=1)
    selected = s["selected"].sum(axis=1) <= np.where(s["round"] == s["rounds"], 4, 2)
    winds = (s["players"] > 1) | (s["winds_deck"][:, 8] == 1)
    sound: np.ndarray = (
        wins & dice & selected & winds & (s["round"] >= 1) & (s["round"] <= s["rounds"]) & ~s["reserved"].any(axis=1)
    )
    return sound


CHECKS: tuple[Check, ...] = (
    drops_are_kept,
    votes_are_kept,
    cards_are_kept,
    hands_fit,
    clouds_are_right,
    growing_tokens_are_right,
    somebody_is_asked,
    tracks_and_dice_are_right,
)


def assert_sound(states: np.ndarray) -> None:
    for check in CHECKS:
        sound = check(states)
        if not sound.all():
            pytest.fail(f"{check.__name__}: {check.__doc__}\n{states[np.argmin(sound)]}")


def assert_forward(before: np.ndarray, after: np.ndarray) -> None:
    """Points, Voting Wins, Wheat tokens and rounds only grow, rounds and Wins by what one step can bring."""
    for name in ("points", "voting_wins", "wheat_tokens", "round"):
        assert (after[name] >= before[name]).all(), name
    assert (after["round"] - before["round"] <= 1).all()
    assert (after["voting_wins"] - before["voting_wins"] <= 2).all()
    assert (after["crop"] == before["crop"]).all()


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
        (somebody_is_asked, "legal", slice(None), 0),
        (somebody_is_asked, "actor", (), 2),
        (tracks_and_dice_are_right, "dice", 2, 5),
        (tracks_and_dice_are_right, "voting_wins", 0, 3),
    ],
)
def test_checks_find_what_is_broken(check: Check, name: str, place: Any, value: int) -> None:
    """Each check fails for a state of two players that breaks it."""
    states = Batch(Config(players=2), 1, seed=0).states.copy()
    assert check(states).all()
    states[name][0, ...][place] = value
    assert not check(states).any()


def test_random_games() -> None:
    """Every check after every step, until each game has ended."""
    generator = np.random.default_rng(1)
    batches = [
        Batch(config, GAMES, seed=number, autoreset="disabled") for number, config in enumerate(EVERY_CONFIGURATION)
    ]
    lengths = [np.zeros(GAMES, np.int64) for _ in batches]
    ended = [np.zeros(GAMES, bool) for _ in batches]
    decisions: set[int] = set()
    assert_sound(np.concatenate([batch.states for batch in batches]))
    while not all(flags.all() for flags in ended):
        before = np.concatenate([batch.states for batch in batches])
        for batch in batches:
            masks = batch.action_masks.copy()
            masks[::2] = eager(batch)[::2]
            batch.step(sample_actions(masks, generator))
        after = np.concatenate([batch.states for batch in batches])
        assert_sound(after)
        assert_forward(before, after)
        decisions.update(after["decision"].tolist())
        for number, batch in enumerate(batches):
            over = batch.terminations
            assert (over == (batch.states["phase"] == Phase.OVER)).all()
            assert (over == (batch.actors == NOBODY)).all()
            lengths[number] += 1
            assert lengths[number].max() <= longest(batch.config), batch.config.name
            lengths[number][over] = 0
            ended[number] |= over
            if over.any():
                batch.reset(mask=over)
    assert decisions == {int(decision) for decision in Decision}


def test_masks_are_the_legal_sets(positions: dict[Config, np.ndarray]) -> None:
    """The mask of the actor is the record's own set, and `legal` finds the same set again."""
    for config, states in positions.items():
        again = states.copy()
        again["legal"] = 0
        refresh_legal(again, load_tables())
        assert again.tobytes() == states.tobytes()
        batch = loaded(config, states)
        bits = np.unpackbits(np.ascontiguousarray(states["legal"]).view(np.uint8), axis=1, bitorder="little")
        playing = states["actor"] != NOBODY
        assert (batch.action_masks[playing] == bits[playing, :NUM_ACTIONS]).all()
        assert (batch.action_masks[~playing] == 1).all()


def loaded(config: Config, states: np.ndarray) -> Batch:
    """A batch that holds these states."""
    batch = Batch(config, len(states), seed=0, autoreset="disabled")
    batch.states[:] = states
    batch.refresh()
    return batch


def test_step_accepts_exactly_what_the_mask_allows(positions: dict[Config, np.ndarray]) -> None:
    """Every action on a copy: a legal one is applied, another raises and leaves the bytes as they were."""
    for config, states in positions.items():
        for state in states[states["actor"] != NOBODY]:
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


def test_no_action_once_a_game_is_over(positions: dict[Config, np.ndarray]) -> None:
    over = loaded(EVERY_CONFIGURATION[0], positions[EVERY_CONFIGURATION[0]][-1:].copy())
    while over.actors[0] != NOBODY:
        over.step(over.random_actions())
    before = over.states.tobytes()
    for action in range(NUM_ACTIONS):
        with pytest.raises(GameOver):
            over.step([action])
    assert over.states.tobytes() == before


def test_one_illegal_action_stops_the_whole_step() -> None:
    """A batch in which one action is illegal is left untouched as a whole."""
    batch = Batch(Config(players=3), 5, seed=3, autoreset="disabled")
    before = batch.save()
    actions = batch.random_actions()
    actions[3] = int(np.argmin(batch.action_masks[3]))
    untouched = batch.states.tobytes()
    with pytest.raises(IllegalAction, match="3"):
        batch.step(actions)
    assert batch.states.tobytes() == untouched
    batch.load(before)
    assert batch.states.tobytes() == untouched


# ---- same seed, same bytes


@pytest.mark.parametrize("config", [Config(), Config(players=4, drafting=True)], ids=lambda config: config.name)
def test_same_seed_same_bytes(config: Config) -> None:
    """Also with another number of threads, and if the games are split over batches."""
    whole, threads = Batch(config, 24, seed=9, num_threads=1), Batch(config, 24, seed=9, num_threads=2)
    parts = [Batch(config, 8, seed=9), Batch(config, 16, seed=list(range(17, 33)))]
    generator = np.random.default_rng(0)
    for _ in range(500):
        actions = sample_actions(whole.action_masks, generator)
        whole.step(actions)
        threads.step(actions)
        parts[0].step(actions[:8])
        parts[1].step(actions[8:])
        joined = b"".join(part.states.tobytes() for part in parts)
        assert whole.states.tobytes() == threads.states.tobytes() == joined
        assert whole.observations.tobytes() == threads.observations.tobytes()
    assert whole.states.tobytes() != Batch(config, 24, seed=10).states.tobytes()


PLAIN = """
import hashlib, sys
import numpy as np
from petrichor_env import Batch, Config
digest = hashlib.sha256()
for number, config in enumerate((Config(), Config(variants=("double_card", "non_random_targets", "one_more_turn")),
                                 Config(players=2), Config(players=3, drafting=True), Config(players=4))):
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
        subprocess.run(
            [sys.executable, "-W", "error", "-c", PLAIN],
            env={**os.environ, "NUMBA_DISABLE_JIT": disable},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=300,
        ).stdout
        for disable in ("0", "1")
    }
    assert len(outputs) == 1
    assert len(outputs.pop().strip()) == hashlib.sha256().digest_size * 2


# ---- hidden is hidden


def observe(states: np.ndarray, seat: int) -> np.ndarray:
    out = np.full((len(states), OBSERVATION_SIZE), np.nan, np.float32)
    observe_games(states, load_tables(), np.full(len(states), seat, np.int64), out)
    return out


def views(positions: dict[Config, np.ndarray]) -> Iterator[tuple[Config, int, np.ndarray, np.ndarray]]:
    """Configuration, seat, the states, and the states with what the seat can't know drawn anew."""
    for config, states in positions.items():
        for seat in range(config.players):
            repeated = np.repeat(states, 4)
            drawn = repeated.copy()
            randoms = np.random.default_rng(seat).integers(0, 2**64, len(drawn), np.uint64)
            sample_hidden_games(drawn, load_tables(), np.full(len(drawn), seat, np.int64), randoms)
            yield config, seat, repeated, drawn


def test_observations_hide_what_is_hidden(positions: dict[Config, np.ndarray]) -> None:
    """A player's view and own legal actions stay byte for byte when other hands, packs and the deck are drawn anew."""
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


def test_drawing_what_is_hidden_keeps_the_rest(positions: dict[Config, np.ndarray]) -> None:
    """All that is public, own cards and every number of cards stay; the games go on soundly to their end."""
    for config, seat, states, drawn in views(positions):
        assert STATE.names is not None
        for name in STATE.names:
            if name not in ("rng", "legal", "hand", "deck", "pack"):
                kept = drawn[name] == states[name]
                if name == "lowest_card":  # another's first pick is hidden
                    kept |= (states["decision"] == Decision.DRAFT) & (states["actor"] != seat) & (drawn[name] == 0)
                assert kept.all(), name
        for name in ("hand", "pack"):
            assert (drawn[name].sum(axis=2) == states[name].sum(axis=2)).all()
            assert (drawn[name][:, seat] == states[name][:, seat]).all()
        assert (drawn["deck"].sum(axis=1) == states["deck"].sum(axis=1)).all()
        assert_sound(drawn)
        batch = loaded(config, drawn[drawn["actor"] != NOBODY])
        generator = np.random.default_rng(2)
        for _ in range(40):
            batch.step(sample_actions(batch.action_masks, generator))
            assert_sound(batch.states)
            if batch.terminations.any():
                batch.reset(mask=batch.terminations)


def test_observations_show_a_change_of_the_own_hand() -> None:
    """The view is not blind: two hands give two observations."""
    batch = Batch(Config(players=2), 50, seed=1)
    hands = {row.tobytes() for row in batch.states["hand"][:, 0]}
    assert len({row.tobytes() for row in batch.observe(0)}) >= len(hands) > 10


# ---- copies and saved states


@pytest.mark.parametrize("config", [Config(variants=VARIANTS), Config(players=3)], ids=lambda config: config.name)
def test_copy_save_load(config: Config) -> None:
    """A copy or a loaded batch goes on like the original, random actions included, and is independent of it."""
    batch = Batch(config, 8, seed=5)
    play_on(batch, 60, np.random.default_rng(5))
    data, copy = batch.save(), batch.copy()
    restored = Batch(config, 8, seed=99)
    restored.load(data)
    saved = batch.states.tobytes()
    for name in ("states", "actors", "action_masks", "observations"):
        original = getattr(batch, name).tobytes()
        assert getattr(copy, name).tobytes() == original and getattr(restored, name).tobytes() == original, name
    for _ in range(80):
        actions = batch.random_actions()
        batch.step(actions)
    assert copy.states.tobytes() == saved == restored.states.tobytes()
    restored.generator = copy.copy().generator
    for other in (copy, restored):  # on with the same random actions as the original before
        for _ in range(80):
            other.step(other.random_actions())
        assert other.states.tobytes() == batch.states.tobytes()
        assert other.observations.tobytes() == batch.observations.tobytes()
        assert other.rewards.tobytes() == batch.rewards.tobytes()


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_a_finished_game_that_is_loaded_starts_anew(autoreset: str) -> None:
    """A state that was over when it came in holds up no batch that resets."""
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


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("state_version", 0, "state_version 0"),
        ("components", "0" * 16, "components '0000000000000000'"),
        ("num_games", 7, "num_games 7"),
        ("players", 3, "players 3"),
        ("unknown", 1, "of another version"),
    ],
)
def test_saves_of_others_are_refused(key: str, value: object, text: str) -> None:
    """Whole files, checksum and all, that another version or configuration wrote."""
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
        ({"reward": ["win"]}, "reward=['win']: one of 'win', 'margin', 'points'"),
        ({"reward": np.array([1])}, "reward=array([1])"),
        ({"illegal_action": []}, "illegal_action=[]: one of 'raise', 'lose', 'random'"),
        ({"autoreset": None}, "autoreset=None: one of 'same_step', 'next_step', 'disabled'"),
        ({"num_games": 0}, "num_games=0: an int of at least 1"),
        ({"num_threads": True}, "num_threads=True: an int of at least 1"),
        ({"seed": "x"}, "seed='x': an int of at least 0, or None"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": np.array(3.5)}, "seed=array(3.5)"),
        ({"seed": [1, 2]}, "seed: 2 seeds for 1 games"),
        ({"config": "solo"}, "config='solo': a petrichor_env.Config"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(text)):
        Batch(**arguments)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"players": 5}, "players=5"),
        ({"players": 2.0}, "players=2.0"),
        ({"players": np.array([1, 2])}, "players="),
        ({"rounds": 5}, "rounds=5: 4 (short form) or 6 (long form)"),
        ({"rounds": 6}, "rounds=6: the Southern Winds are played over 4 rounds"),
        ({"drafting": True}, "there is no draft in solo"),
        ({"drafting": np.array([1, 0]), "players": 2}, "drafting="),
        ({"variants": "double_card"}, "a sequence of names"),
        ({"variants": ("double",)}, "unknown 'double'; allowed are double_card, non_random_targets"),
        ({"variants": ("double_card",) * 2}, "each at most once"),
        ({"players": 2, "variants": ("double_card",)}, "with players=2 leave empty"),
        ({"components": 5}, "components=5: the path of an overlay TOML file"),
    ],
)
def test_bad_configurations(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(text)):
        Config(**arguments)


@pytest.mark.slow
def test_many_random_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "GAMES", 400)
    test_random_games()


def test_bad_bytes_are_refused() -> None:
    """Cut, changed, foreign or other games' bytes raise StateError, and the batch stays as it was."""
    batch = Batch(Config(players=2), 3, seed=1)
    play_on(batch, 20, np.random.default_rng(1))
    data, before = batch.save(), batch.save()
    bad = [b"", b"petrichor", os.urandom(len(data)), data[:-1], data + b"\0", data[: len(data) // 2], data[1:]]
    bad += [Batch(Config(players=3), 3, seed=1).save(), Batch(Config(), 3, seed=1).save()]
    for position in np.random.default_rng(0).integers(0, len(data), 300):
        flipped = bytearray(data)
        flipped[position] ^= 1 << int(position % 8)
        bad.append(bytes(flipped))
    for wrong in bad:
        with pytest.raises(StateError):
            batch.load(wrong)
        assert batch.save() == before
    batch.load(data)


# ---- a batch is N games

BUFFERS = ("states", "actors", "action_masks", "observations", "rewards", "terminations", "illegal")


@pytest.mark.parametrize("autoreset", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("config", [Config(), Config(players=3)], ids=lambda config: config.name)
def test_a_batch_equals_single_games(config: Config, autoreset: str) -> None:
    """In every autoreset mode, the ends of games included."""
    number = 5
    batch = Batch(config, number, seed=40, autoreset=autoreset)
    singles = [Batch(config, 1, seed=40 + i, autoreset=autoreset) for i in range(number)]
    generator = np.random.default_rng(8)
    ends = 0
    for _ in range(450):
        actions = sample_actions(batch.action_masks, generator)
        batch.step(actions)
        for i, single in enumerate(singles):
            single.step(actions[i : i + 1])
        for name in BUFFERS:
            joined = b"".join(getattr(single, name).tobytes() for single in singles)
            assert getattr(batch, name).tobytes() == joined, name
        for i in np.flatnonzero(batch.terminations).tolist():
            ends += 1
            assert batch.final_states[i].tobytes() == singles[i].final_states[0].tobytes()
            assert batch.final_states["phase"][i] == Phase.OVER
            assert batch.final_observations[i].tobytes() == singles[i].final_observations[0].tobytes()
            if autoreset == "disabled":
                singles[i].reset()
        over = batch.terminations.copy()
        assert ((batch.actors == NOBODY) == (over if autoreset != "same_step" else False)).all()
        if autoreset == "disabled" and over.any():
            batch.reset(mask=over)
    assert ends >= 2 * number


def test_next_step_resets_without_acting() -> None:
    """next_step: the step after the end ignores its action and rewards nothing."""
    batch = Batch(Config(), 1, seed=2, autoreset="next_step")
    while not batch.terminations[0]:
        batch.step(batch.random_actions())
    batch.step([NUM_ACTIONS - 1])
    assert batch.actors[0] == 0
    assert batch.states["round"][0] == 1
    assert not batch.rewards.any()
    assert not batch.terminations[0]
