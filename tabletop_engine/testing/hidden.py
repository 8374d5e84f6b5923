"""What a seat can't know: `sample_hidden` redraws it, and nothing that the seat is shown depends on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from tabletop_engine.game import Game
from tabletop_engine.legal import is_legal
from tabletop_engine.play.batch import Batch, legal_actions
from tabletop_engine.record import copied
from tabletop_engine.seeds import Stream, generator
from tabletop_engine.testing.played import first_refused
from tabletop_engine.testing.problems import Problem
from tabletop_engine.testing.strict import positions

DRAWS = 6
"""Redraws of each state that is looked at."""
LOOKS = 120
"""States and seats that are looked at, for each number of players."""
STARTS = 2000
"""Starts that are compared with redraws, by frequency."""
_LEAST = 5.0
"""The expected number of a kind of start from which on it is compared."""


def problems(game: Game, players: int, seeds: range) -> Iterator[Problem]:
    """The mistakes with hidden information that random games of these seeds meet; at most one of each kind."""
    config = game.config(players=players)
    met: set[str] = set()
    varies, alike = False, False
    same: dict[tuple[int, int, bytes], bytes] = {}
    looks = 0
    redrawn: list[tuple[int, int, int, Any]] = []  # seed, step, seat, record
    for seed in seeds:
        batch = Batch(config, 1, seed, autoreset="disabled", num_threads=1)
        chosen = generator(seed, Stream.CHECK)
        for step in positions(batch, chosen):
            for seat in range(players):
                key = (seat, step, _seen(batch, batch.states, seat))
                kept = _known(game, batch.states[0])
                alike |= same.setdefault(key, kept) != kept
                if looks >= LOOKS or chosen.random() > 0.3:
                    continue
                looks += 1
                drawn: list[np.ndarray] = []
                for message, vary in _redraws(game, batch, seat, chosen, drawn):
                    varies |= vary
                    if message and message not in met:
                        met.add(message)
                        yield Problem("hidden information", message, players, seed, step, seat)
                redrawn += [(seed, step, seat, states[0]) for states in drawn]
        if len(met) > 3:
            return
    unsound = _unsound(game, config, redrawn)
    if unsound is not None:
        met.add(unsound.message)
        yield unsound
    if alike and not varies:
        message = "two games that a seat can't tell apart differ, but sample_hidden redraws nothing"
        yield Problem("hidden information", message, players)
    elif not met:
        yield from _frequencies(game, config, players)


def _unsound(game: Game, config: Any, redrawn: list[tuple[int, int, int, Any]]) -> Problem | None:
    """The first redraw that `Game.check` refuses."""
    states = np.array([state for _, _, _, state in redrawn], game.state)
    refused = first_refused(game, states, game.load_tables(config.components))
    if refused is None:
        return None
    message = f"sample_hidden makes a record that no game reaches: {refused[1]}"
    return Problem("hidden information", message, config.players, *redrawn[refused[0]][:3])


def _known(game: Game, state: Any) -> bytes:
    """The record without its random stream."""
    changed = copied(state)
    changed["rng"] = 0
    return bytes(changed.tobytes())


def _seen(batch: Batch, states: np.ndarray, seat: int) -> bytes:
    """What a seat sees: its observation, and its legal actions if it is asked."""
    asked = states["legal"].tobytes() if int(states["actor"][0]) == seat else b""
    return batch.views_of(states, np.array([seat])).tobytes() + asked


def _redraws(
    game: Game, batch: Batch, seat: int, chosen: np.random.Generator, drawn: list[np.ndarray]
) -> Iterator[tuple[str, bool]]:
    """Redraws of a state for a seat, which `drawn` gets: what is wrong, and whether the redraw changed the record."""
    true = batch.states.copy()
    seen, text = _seen(batch, true, seat), game.drawing.render_text(true[0], seat, tables=batch.tables)
    facts = game.words.facts(true[0], seat, None)
    streams = set()
    for _ in range(DRAWS):
        states = true.copy()
        random = chosen.integers(0, 2**64, 1, np.uint64)
        game.kernels.sample_hidden_games(states, batch.tables, np.array([seat]), random)
        varies = _known(game, states[0]) != _known(game, true[0])
        streams.add(states["rng"].tobytes())
        if len(streams) == 1 and len(drawn) == DRAWS - 1:
            yield "sample_hidden keeps the random stream: it must take the one that it is given, s.rng = rng", varies
        if _seen(batch, states, seat) != seen:
            changed = _changed_blocks(game, batch, true, states, seat)
            what = f"block {changed} of its observation" if changed else "its legal actions"
            yield f"sample_hidden changes what the seat sees: {what}", varies
        elif game.drawing.render_text(states[0], seat, tables=batch.tables) != text:
            yield "the drawing as text shows the seat what it can't know", varies
        elif game.words.facts(states[0], seat, None) != facts:
            yield "words.facts tells the seat what it can't know", varies
        yield "", varies
        drawn.append(states)
    yield from _events(game, batch, drawn, seat, chosen)


def _changed_blocks(game: Game, batch: Batch, one: np.ndarray, other: np.ndarray, seat: int) -> str:
    seats = np.array([seat])
    first, second = batch.views_of(one, seats)[0], batch.views_of(other, seats)[0]
    return ", ".join(
        repr(block.name) for block in game.observation if (first[block.slice] != second[block.slice]).any()
    )


def _events(
    game: Game, batch: Batch, drawn: list[np.ndarray], seat: int, chosen: np.random.Generator
) -> Iterator[tuple[str, bool]]:
    """An action of another seat is told alike in positions that this seat can't tell apart, before and after it."""
    first, second = drawn[0][0], drawn[1][0]
    actor = int(first["actor"])
    if actor == seat or int(second["actor"]) != actor:
        return
    action = int(chosen.choice(legal_actions(first)))
    if not is_legal(second, action):
        return
    after = [Batch(batch.config, 1, 0, autoreset="disabled", num_threads=1) for _ in range(2)]
    for one, state in zip(after, (first, second), strict=True):
        one.states[0] = state
        one.states["rng"] = first["rng"]
        one.refresh(check=False)
        one.step([action])
    if _seen(after[0], after[0].states, seat) != _seen(after[1], after[1].states, seat):
        return
    told = [game.words.told_action(state, action, seat) for state in (first, second)]
    if told[0] != told[1]:
        yield f"words.told_action tells the seat what it can't know: {told[0]!r} or {told[1]!r}", False
    same = [copied(state) for state in (first, second)]
    same[1]["rng"] = same[0]["rng"]
    events = [list(game.words.events(state, action, seat, batch.tables)) for state in same]
    if events[0] != events[1]:
        yield f"words.events tells the seat what it can't know: {events[0]} or {events[1]}", False


def _frequencies(game: Game, config: Any, players: int) -> Iterator[Problem]:
    """At the first decision: what `sample_hidden` draws is as frequent as in starts that the seat can't tell apart."""
    starts = Batch(config, STARTS, 0, autoreset="disabled")
    redraws = generator(1, Stream.CHECK, 1)
    for seat in range(players):
        groups: dict[bytes, list[int]] = defaultdict(list)
        views = starts.views_of(starts.states, np.full(STARTS, seat))
        for i in range(STARTS):
            asked = starts.states["legal"][i].tobytes() if int(starts.actors[i]) == seat else b""
            groups[views[i].tobytes() + asked].append(i)
        largest = max(groups.values(), key=len)
        true = _kinds(game, starts.states[largest])
        if len(largest) < 50 or not 1 < len(true) <= len(largest) / 10:
            continue  # too few, or too many kinds, to compare
        states = np.repeat(starts.states[largest[:1]], len(largest))
        randoms = redraws.integers(0, 2**64, len(states), np.uint64)
        game.kernels.sample_hidden_games(states, starts.tables, np.full(len(states), seat), randoms)
        drawn = _kinds(game, states)
        problem = _differ(true, drawn, len(largest))
        if problem:
            yield Problem("hidden information", problem, players, step=0, seat=seat)
            return


def _kinds(game: Game, states: np.ndarray) -> dict[bytes, int]:
    counts: dict[bytes, int] = defaultdict(int)
    for state in states:
        counts[_known(game, state)] += 1
    return counts


def _differ(true: dict[bytes, int], drawn: dict[bytes, int], number: int) -> str:
    """A sentence if two samples of the same size are of different distributions (chi-squared, beyond 6 sigma)."""
    never = [kind for kind, count in true.items() if count >= 4 * _LEAST and kind not in drawn]
    if never:
        return "sample_hidden never draws what occurs in games"
    new = [kind for kind, count in drawn.items() if count >= 4 * _LEAST and kind not in true]
    if new:
        return "sample_hidden draws what never occurs in games"
    kinds = [kind for kind in true if true[kind] + drawn.get(kind, 0) >= 2 * _LEAST]
    statistic = sum((true[kind] - drawn.get(kind, 0)) ** 2 / (true[kind] + drawn.get(kind, 0)) for kind in kinds)
    freedom = max(1, len(kinds) - 1)
    if statistic > freedom + 6 * np.sqrt(2 * freedom) + 6:
        return f"sample_hidden draws with other frequencies than games have: chi-squared {statistic:.0f} of {freedom}"
    return ""
