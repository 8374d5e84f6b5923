"""What a seat can't know: `sample_hidden` redraws it, and nothing that the seat is shown depends on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from math import erfc, exp, lgamma, log, sqrt
from typing import Any

import numpy as np

from tabletop_engine.defaults import hide_nothing
from tabletop_engine.game import NOBODY, Config, Game
from tabletop_engine.legal import is_legal
from tabletop_engine.play.batch import Batch, legal_actions
from tabletop_engine.record import FILLER
from tabletop_engine.seeds import Stream, generator
from tabletop_engine.testing.played import first_refused
from tabletop_engine.testing.problems import Problem
from tabletop_engine.testing.strict import positions

DRAWS = 6
"""Redraws of each state that is looked at."""
LOOKS = 120
"""States and seats that are looked at, for each number of players."""
OUTCOMES = 6
"""Outcomes of the draws of an action that are compared."""
DEALS = 10_000
"""Games in which the same actions are played, to compare what is hidden with redraws, by frequency."""
LINES = 6
"""Sequences of actions for each seat."""
LONGEST_LINE = 12
"""The most decisions of such a sequence."""
_FEWEST = 200
"""Games alike that are enough to compare."""
_EACH = 10
"""The mean number of games of each kind of record from which on whole records are compared."""
_LEAST = 5
"""The expected number of a kind from which on it is compared."""
_ONE_SIDED_GAMES = 40
"""Games of a kind that one side has by chance and the other one never: a probability of 2**-40."""
_LEAST_CHANCE = 1e-12
"""Frequencies that differ so much by chance have this probability, so that a million comparisons accuse nobody."""


def problems(config: Config, seeds: range, on_note: Callable[[str], None] = lambda note: None) -> Iterator[Problem]:
    """The mistakes with hidden information that random games of these seeds meet; at most one of each kind.

    `on_note` is called with what could not be compared.
    """
    game, players = config.game, config.players
    met: set[str] = set()
    varies, apart = False, ""
    same: dict[tuple[int, int, bytes], bytes] = {}
    looks = 0
    redrawn: list[tuple[int, int, int, Any]] = []  # seed, step, seat, record
    for seed in seeds:
        batch = Batch(config, 1, seed, autoreset="disabled", num_threads=1)
        chosen = generator(seed, Stream.CHECK)
        for step in positions(batch, chosen):
            for seat in range(players):
                key = (seat, step, _views(batch, batch.states, seat)[0])
                now = _bytes_of(game, batch.states)
                apart = apart or _differing(game, same.setdefault(key, now.tobytes()), now.tobytes())
                if looks >= LOOKS or chosen.random() > 0.3:
                    continue
                looks += 1
                drawn = np.repeat(batch.states, DRAWS)
                randoms = chosen.integers(0, 2**64, DRAWS, np.uint64)
                game.kernels.sample_hidden_games(drawn, batch.tables, np.full(DRAWS, seat), randoms)
                varies |= bool((_bytes_of(game, drawn) != now).any())
                for message in (
                    *_redraws(game, batch, drawn, seat),
                    *_events(game, batch, drawn, seat, chosen),
                    *_drawn_unseen(game, batch, seat, chosen),
                ):
                    if message not in met:
                        met.add(message)
                        yield Problem("hidden information", message, players, seed, step, seat)
                redrawn += [(seed, step, seat, state) for state in drawn]
        if len(met) > 3:
            return
    unsound = _unsound(game, config, redrawn)
    if unsound is not None:
        met.add(unsound.message)
        yield unsound
    if apart and not varies:
        message = f"two games that a seat can't tell apart differ in {apart}, but sample_hidden redraws nothing"
        yield Problem("hidden information", message, players)
    elif not met:
        yield from _frequencies(config, on_note)


def _unsound(game: Game, config: Any, redrawn: list[tuple[int, int, int, Any]]) -> Problem | None:
    """The first redraw that `Game.check` refuses."""
    states = np.array([state for _, _, _, state in redrawn], game.state)
    refused = first_refused(game, states, game.load_tables(config.components))
    if refused is None:
        return None
    message = f"sample_hidden makes a record that no game reaches: {refused[1]}"
    return Problem("hidden information", message, config.players, *redrawn[refused[0]][:3])


def _differing(game: Game, one: bytes, other: bytes) -> str:
    """The names of the fields in which two records differ."""
    if one == other:
        return ""
    first, second = (np.frombuffer(record, game.state)[0] for record in (one, other))
    return ", ".join(name for name in game.state.names or () if (first[name] != second[name]).any())


def _views(batch: Batch, states: np.ndarray, seat: int) -> list[bytes]:
    """What a seat sees in each record: its observation, and its legal actions where it is asked."""
    views = batch.views_of(states, np.full(len(states), seat))
    asked = np.where((states["actor"] == seat)[:, None], states["legal"], 0)
    return [view.tobytes() + legal.tobytes() for view, legal in zip(views, asked, strict=True)]


def _redraws(game: Game, batch: Batch, drawn: np.ndarray, seat: int) -> Iterator[str]:
    """What is wrong with redraws of a state for a seat, (DRAWS,) records."""
    true = batch.states
    (seen,), text = _views(batch, true, seat), game.drawing.render_text(true[0], seat, tables=batch.tables)
    facts = game.words.facts(true[0], seat, None)
    for state, view in zip(drawn, _views(batch, drawn, seat), strict=True):
        if view != seen:
            first, second = batch.views_of(np.array([true[0], state]), np.full(2, seat))
            changed = [one for one in game.observation if (first[one.slice] != second[one.slice]).any()]
            blocks = ", ".join(repr(block.name) for block in changed)
            what = f"block {blocks} of its observation" if blocks else "its legal actions"
            yield f"sample_hidden changes what the seat sees: {what}"
        elif game.drawing.render_text(state, seat, tables=batch.tables) != text:
            yield "the drawing as text shows the seat what it can't know"
        elif game.words.facts(state, seat, None) != facts:
            yield "words.facts tells the seat what it can't know"
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
    after = before.copy()
    game.kernels.play_actions(after, batch.tables, np.full(2, action), np.ones(2, np.bool_))
    if len(set(_views(batch, after, seat))) > 1:
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
    before, count = np.repeat(batch.states, OUTCOMES), OUTCOMES
    before["rng"] = chosen.integers(0, 2**64, count, np.uint64)
    action = int(chosen.choice(legal_actions(before[0])))
    after, every = before.copy(), np.ones(count, np.bool_)
    game.kernels.play_actions(after, batch.tables, np.full(count, action), every)
    redrawn = np.repeat(after[:1], OUTCOMES)
    if (after["actor"] == NOBODY).any():
        return  # what was hidden may be shown at the end
    randoms = chosen.integers(0, 2**64, count, np.uint64)
    game.kernels.sample_hidden_games(redrawn, batch.tables, np.full(count, seat), randoms)
    first, hidden = _bytes_of(game, after), _bytes_of(game, redrawn)
    is_hidden = (hidden != first[0]).any(axis=0)
    shown = _views(batch, after, seat)
    for i in range(1, count):
        differ = first[i] != first[0]
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


def _bytes_of(game: Game, states: np.ndarray) -> np.ndarray:
    """The bytes of records without their random streams, (N, size) uint8."""
    copies = states.copy()
    copies["rng"] = 0
    return np.frombuffer(copies.tobytes(), np.uint8).reshape(len(states), -1)


# --- Frequencies -----------------------------------------------------------------------------------------------------


def _frequencies(config: Config, on_note: Callable[[str], None]) -> Iterator[Problem]:
    """What `sample_hidden` draws is as frequent as in games that the seat can't tell apart.

    Many games start with other seeds, and the same actions are played in all of them; those stay in which the seat sees
    the same (`_Line`). At most one mistake.
    """
    hides = config.game.rules.sample_hidden is not hide_nothing
    lines = LINES if hides else 1  # with nothing to redraw all are the same
    left_out = []
    for seat in range(config.players):
        for number in range(lines):
            line = _Line(config, seat, number)
            if len(line.alike) < _FEWEST:
                left_out += [seat] if number == 0 else []
                break  # nor will it in the next line
            for step in range(LONGEST_LINE):
                problem = line.problem()
                if problem and line.says_all_that_is_remembered():
                    yield Problem("hidden information", problem, config.players, step=step, seat=seat)
                    return
                if not line.plays_on():
                    break
    if hides and left_out:
        seats = f"seat{'s' * (len(left_out) > 1)} {', '.join(map(str, left_out))}"
        on_note(
            f"not compared with {config.players} players: the frequencies of sample_hidden for {seats}, as fewer than "
            f"{_FEWEST} of {DEALS:,} games begin alike there. Test this rule yourself"
        )


class _Line:
    """Games in which the same actions were played and a seat has seen the same, from the start on.

    Of such games the frequencies of what is hidden are those that the seat must expect, whatever the others think. So
    a line ends where an action tells more than that it was taken: at a decision of another seat whose legal actions
    depend on what is hidden, and after one that the seat does not see.

    Attributes:
        alike: the indices of these games.
    """

    def __init__(self, config: Config, seat: int, number: int) -> None:
        self.game, self.seat = config.game, seat
        self.batch = Batch(config, DEALS, number, autoreset="disabled")
        self.chosen = generator(number, Stream.CHECK, 1, seat)
        self.followed = np.ones(DEALS, np.bool_)
        self.alike = np.arange(DEALS)
        self._keep_those_that_look_alike()

    def _keep_those_that_look_alike(self) -> None:
        """The largest group."""
        groups: dict[bytes, list[int]] = defaultdict(list)
        views = _views(self.batch, self.batch.states[self.alike], self.seat)
        for one, view in zip(self.alike.tolist(), views, strict=True):
            groups[view].append(one)
        self.view = max(groups, key=lambda view: len(groups[view]), default=b"")
        self.alike = np.array(groups[self.view], np.int64)

    def says_all_that_is_remembered(self) -> bool:
        """Whether the seat sees now all that it has seen before: a record need not keep what a player remembers."""
        others = np.setdiff1d(np.flatnonzero(self.followed), self.alike)
        return self.view not in _views(self.batch, self.batch.states[others], self.seat)

    def problem(self) -> str:
        """A sentence if `sample_hidden` draws otherwise than these games are; "" if nothing is wrong."""
        true = self.batch.states[self.alike]
        drawn = np.repeat(true[:1], len(true))
        randoms = self.chosen.integers(0, 2**64, len(true), np.uint64)
        self.game.kernels.sample_hidden_games(drawn, self.batch.tables, np.full(len(true), self.seat), randoms)
        both = _bytes_of(self.game, np.concatenate([true, drawn]))
        kinds = both.view(np.dtype((np.void, both.shape[1]))).ravel()
        number = len(np.unique(kinds[: len(true)]))
        if number <= len(true) / _EACH:
            return _differ("", kinds)
        names = [name for name in self.game.state.names or () if name not in ("rng", "edition", FILLER)]
        for name in names:  # too many to compare whole: each number by itself
            numbers = np.concatenate([true[name], drawn[name]]).reshape(2 * len(true), -1)
            for i in np.flatnonzero((numbers != numbers[0]).any(axis=0)):
                found = _differ(f"{name}[{i}]" if numbers.shape[1] > 1 else name, numbers[:, i])
                if found:
                    return found
        return ""

    def plays_on(self) -> bool:
        """Play a random action in all these games. False if the line ends."""
        states, first = self.batch.states, int(self.alike[0])
        actor, legal = int(states["actor"][first]), states["legal"][first]
        if actor == NOBODY or (states["actor"][self.alike] != actor).any():
            return False
        if (states["legal"][self.alike] != legal).any():
            return False
        action = int(self.chosen.choice(legal_actions(states[first])))
        if actor != self.seat and not self._is_seen(first, action):
            return False
        allowed = states["legal"][:, action // 64] >> np.uint64(action % 64) & np.uint64(1)
        self.followed &= (states["actor"] == actor) & (allowed == 1)
        self.game.kernels.play_actions(states, self.batch.tables, np.full(DEALS, action), self.followed)
        self._keep_those_that_look_alike()
        return len(self.alike) >= _FEWEST and int(states["actor"][self.alike[0]]) != NOBODY

    def _is_seen(self, game: int, action: int) -> bool:
        """Whether the seat sees which action another seat takes: after each other one it sees something else."""
        actions = legal_actions(self.batch.states[game])
        after = np.repeat(self.batch.states[game : game + 1], len(actions))
        self.game.kernels.play_actions(after, self.batch.tables, actions, np.ones(len(actions), np.bool_))
        views = self.batch.views_of(after, np.full(len(actions), self.seat))
        own = views[np.flatnonzero(actions == action)[0]]
        return int((views == own).all(axis=1).sum()) == 1


def _differ(name: str, values: np.ndarray) -> str:
    """A sentence if the halves of `values`, true and drawn, are of different distributions; "" if they may be alike.

    `name` is that of the number, "" for whole records.
    """
    half = len(values) // 2
    kinds, which = np.unique(values, return_inverse=True)
    true, drawn = (np.bincount(one, minlength=len(kinds)) for one in (which[:half], which[half:]))
    what = f" in {name}" if name else ""
    if ((true >= _ONE_SIDED_GAMES) & (drawn == 0)).any():
        return f"sample_hidden never draws what occurs in games{what}"
    if ((drawn >= _ONE_SIDED_GAMES) & (true == 0)).any():
        return f"sample_hidden draws what never occurs in games{what}"
    both = true + drawn
    enough = both >= 2 * _LEAST
    statistic = (((true - drawn) ** 2)[enough] / both[enough]).sum()
    freedom = max(1, int(enough.sum()) - 1)
    if _chance_of(float(statistic), freedom) < _LEAST_CHANCE:
        return (
            f"sample_hidden draws with other frequencies than games have{what}: "
            f"chi-squared {statistic:.0f} with {freedom} degrees of freedom"
        )
    return ""


def _chance_of(statistic: float, freedom: int) -> float:
    """The probability that chi-squared with so many degrees of freedom is at least `statistic`.

    SciPy has it too, but `check` works without that extra.
    """
    half = statistic / 2
    if half <= 0:
        return 1.0
    chance = erfc(sqrt(half)) if freedom % 2 else exp(-half)
    for before in range(2 - freedom % 2, freedom, 2):  # two degrees more each time
        chance += exp(before / 2 * log(half) - half - lgamma(before / 2 + 1))
    return chance
