"""What a seat can't know: `sample_hidden` redraws it, and nothing that the seat is shown depends on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tabletop_engine.defaults import hide_nothing
from tabletop_engine.game import NOBODY, Config, Game
from tabletop_engine.legal import is_legal
from tabletop_engine.play.batch import Batch, legal_actions
from tabletop_engine.seeds import Stream, generator
from tabletop_engine.testing.played import first_refused
from tabletop_engine.testing.problems import Problem
from tabletop_engine.testing.redraws import ASKED, Secrets, frequencies, play, redrawn, views_of
from tabletop_engine.testing.strict import positions

DRAWS = 6
"""Redraws of each state that is looked at."""
LOOKS = 120
"""States and seats that are looked at, for each number of players."""
OUTCOMES = 6
"""Outcomes of the draws of an action that are compared."""
GAMES = 40
"""Random games that are played to learn what is never redrawn."""


def problems(config: Config, seeds: range, on_note: Callable[[str], None] = lambda note: None) -> Iterator[Problem]:
    """The mistakes with hidden information that random games of these seeds meet; at most one of each kind.

    `on_note` is called with what could not be compared.
    """
    game, players = config.game, config.players
    met: set[str] = set()
    looks = 0
    draws: list[tuple[int, int, int, Any]] = []  # seed, step, seat, record
    for seed in seeds:
        batch = Batch(config, 1, seed, autoreset="disabled", num_threads=1)
        chosen = generator(seed, Stream.CHECK)
        for step in positions(batch, chosen, weighted=seed % 2 == 1):
            for seat in range(players):
                if looks >= LOOKS or chosen.random() > 0.3:
                    continue
                looks += 1
                drawn = redrawn(batch, batch.states[0], seat, DRAWS, chosen)
                for message in (
                    *_redraws(game, batch, drawn, seat),
                    *_events(game, batch, drawn, seat, chosen),
                    *_drawn_unseen(game, batch, seat, chosen),
                ):
                    if message not in met:
                        met.add(message)
                        yield Problem("hidden information", message, players, seed, step, seat)
                draws += [(seed, step, seat, state) for state in drawn]
        if len(met) > 3:
            return
    unsound = _unsound(game, config, draws)
    if unsound is not None:
        met.add(unsound.message)
        yield unsound
    if met:
        return
    secrets = Secrets(config)
    for seed in range(GAMES):
        if secrets.asked.min() < ASKED:
            secrets.play(seed)
    left = secrets.problem()
    if left is not None:
        yield left
    elif config.game.rules.sample_hidden is not hide_nothing:
        yield from frequencies(config, secrets, on_note)


def _unsound(game: Game, config: Any, draws: list[tuple[int, int, int, Any]]) -> Problem | None:
    """The first redraw that `Game.check` refuses."""
    states = np.array([state for _, _, _, state in draws], game.state)
    refused = first_refused(game, states, game.load_tables(config.components))
    if refused is None:
        return None
    message = f"sample_hidden makes a record that no game reaches: {refused[1]}"
    return Problem("hidden information", message, config.players, *draws[refused[0]][:3])


def _redraws(game: Game, batch: Batch, drawn: np.ndarray, seat: int) -> Iterator[str]:
    """What is wrong with redraws of a state for a seat, (DRAWS,) records."""
    true = batch.states
    text, facts = game.drawing.render_text(true[0], seat, tables=batch.tables), game.words.facts(true[0], seat, None)
    views = views_of(batch, np.concatenate([true, drawn]), seat)
    for state, view in zip(drawn, views[1:], strict=True):
        if view != views[0]:
            first, second = batch.views_of(np.array([true[0], state]), np.full(2, seat))
            changed = [one for one in game.observation if (first[one.slice] != second[one.slice]).any()]
            blocks = ", ".join(repr(block.name) for block in changed)
            what = f"block {blocks} of its observation" if blocks else "its legal actions"
            yield f"sample_hidden changes what the seat sees: {what}"
        elif game.drawing.render_text(state, seat, tables=batch.tables) != text:
            yield "the drawing as text shows the seat what it can't know"
        elif game.words.facts(state, seat, None) != facts:
            yield "words.facts tells the seat what it can't know"
    again = drawn.copy()
    game.kernels.refresh_legal(again, batch.tables)
    if (again["legal"] != drawn["legal"]).any():
        yield "sample_hidden leaves another set of legal actions than legal(s, t) would write: call it at the end"
    if len(np.unique(drawn["rng"])) == 1:
        yield "sample_hidden keeps the random stream: it must take the one that it is given, s.rng = rng"


def _events(game: Game, batch: Batch, drawn: np.ndarray, seat: int, chosen: np.random.Generator) -> Iterator[str]:
    """An action of another seat is told alike in positions that this seat can't tell apart, before and after it."""
    first, second = drawn[:2]
    actor = int(first["actor"])
    if actor == seat or int(second["actor"]) != actor:
        return
    action = int(chosen.choice(legal_actions(first)))
    if not is_legal(second, action):
        return
    before = drawn[:2].copy()
    before["rng"] = first["rng"]
    after = play(batch, before, np.full(2, action))
    if np.ptp(views_of(batch, after, seat)):
        return
    tell = _telling(game, batch, action, seat)
    for what in ("words.told_action", "words.events"):
        one, other = (tell[what](*states) for states in zip(before, after, strict=True))
        if one != other:
            yield f"{what} tells the seat what it can't know: {one!r} or {other!r}"


# --- Draws -----------------------------------------------------------------------------------------------------------


def _drawn_unseen(game: Game, batch: Batch, seat: int, chosen: np.random.Generator) -> Iterator[str]:
    """Two outcomes of an action's draws that differ only in what the seat can't know are told and drawn alike.

    What it can't know is what `sample_hidden` redraws.
    """
    before = np.repeat(batch.states, OUTCOMES)
    before["rng"] = chosen.integers(0, 2**64, OUTCOMES, np.uint64)
    action = int(chosen.choice(legal_actions(before[0])))
    after = play(batch, before, np.full(OUTCOMES, action))
    if (after["actor"] == NOBODY).any():
        return  # what was hidden may be shown at the end
    outcomes, draws = (_bytes_of(one) for one in (after, redrawn(batch, after[0], seat, OUTCOMES, chosen)))
    is_hidden = (draws != outcomes[0]).any(axis=0)
    shown = views_of(batch, after, seat)
    for i in range(1, OUTCOMES):
        differ = outcomes[i] != outcomes[0]
        if not differ.any() or (differ & ~is_hidden).any() or shown[i] != shown[0]:
            continue
        for what, tell in _telling(game, batch, action, seat).items():
            one, other = tell(before[0], after[0]), tell(before[i], after[i])
            if one != other:
                yield f"{what} tells the seat what was drawn unseen: {one!r:.200} or {other!r:.200}"
                return


def _telling(game: Game, batch: Batch, action: int, seat: int) -> dict[str, Callable[[Any, Any], Any]]:
    """All that a seat is told of an action: by name, functions of the record before it and the one after it."""
    words, tables = game.words, batch.tables
    return {
        "words.told_action": lambda before, after: words.told_action(before, action, seat),
        "words.events": lambda before, after: list(words.events(before, action, seat, tables)),
        "words.story": lambda before, after: [text for text, _ in words.story(before, action, seat, tables)],
        "words.facts": lambda before, after: words.facts(after, seat, None),
        "the drawing as text": lambda before, after: game.drawing.render_text(after, seat, tables=tables),
    }


def _bytes_of(states: np.ndarray) -> np.ndarray:
    """The bytes of records without their random streams, (N, size) uint8."""
    copies = states.copy()
    copies["rng"] = 0
    return np.frombuffer(copies.tobytes(), np.uint8).reshape(len(states), -1)
