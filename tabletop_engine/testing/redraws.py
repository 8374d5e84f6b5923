"""What `sample_hidden` leaves, and how often it draws what.

A search of a seat begins with `sample_hidden` for it. What that leaves as it is, the search knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tabletop_engine.game import NOBODY, Config
from tabletop_engine.legal import is_legal
from tabletop_engine.play.batch import Batch, legal_actions
from tabletop_engine.seeds import Stream, generator
from tabletop_engine.testing.numbers import Numbers
from tabletop_engine.testing.problems import Problem
from tabletop_engine.testing.strict import MOST_STEPS, pick, positions

STARTS = 4_000
"""Games that start, to compare what is hidden in them with redraws."""
REDRAWS = 4_000
"""Redraws of a position, in which the same actions are played."""
LINES = 8
"""Sequences of actions for each seat."""
LONGEST_LINE = 8
"""The most decisions of such a sequence."""
FEWEST, MOST = 200, 1_500
"""Positions alike that are enough to compare, and the most that are compared."""
ASKED = 400
"""Decisions of one seat that are looked at in them."""
_DRAWS = 10
"""Redraws at each of them."""
_FORKS, _CARRIED = 12, 24
"""Outcomes of an action with other chance, and other actions; records that a seat can't tell from the true one."""
_OTHERS = 8
"""Other games, whose numbers are put into a record in turn."""
_EXPECTED = 25
"""A secret that redraws should have changed so often was changed at least once."""
_TWINS = 500
"""For each other seat, positions that the seat can tell apart. If they look the same after the same actions, it has to
remember them."""
_TRIED = 200
"""Numbers that are put into one record."""
_NAMED = 6
_VALUES = 8
"""What redraws change is counted for each value of a number, modulo this: the holder of a card may be known only while
it is one player."""


def views_of(batch: Batch, states: np.ndarray, seat: int) -> np.ndarray:
    """What a seat sees in each record: a number for each different observation, with its legal actions if it is asked.

    Returns (N,) int64, equal for equal views.
    """
    views = batch.views_of(states, np.full(len(states), seat))
    asked = np.where((states["actor"] == seat)[:, None], states["legal"], 0)
    seen = np.concatenate([views.view(np.uint8).reshape(len(states), -1), asked.view(np.uint8)], axis=1)
    rows = np.ascontiguousarray(seen).view(np.dtype((np.void, seen.shape[1]))).ravel()
    return np.unique(rows, return_inverse=True)[1].reshape(-1)


def redrawn(batch: Batch, state: Any, seat: int, count: int, chosen: np.random.Generator) -> np.ndarray:
    """(count,) redraws of a record for a seat."""
    drawn = np.repeat(np.array([state], batch.game.state), count)
    randoms = chosen.integers(0, 2**64, count, np.uint64)
    batch.game.kernels.sample_hidden_games(drawn, batch.tables, np.full(count, seat), randoms)
    return drawn


def play(batch: Batch, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """Copies of records (N,) in which these actions were played."""
    after = states.copy()
    batch.game.kernels.play_actions(after, batch.tables, actions, np.ones(len(after), np.bool_))
    return after


# --- What is never redrawn -------------------------------------------------------------------------------------------


class Secrets:
    """The numbers that seats can't know, in random games, and whether redraws change them.

    Chance and the others' choices make secrets. A number is one for a seat in two cases:

    - Games start with different ones, and the seat would see the same with the number of another game, until it
      changes.
    - With other chance in an action, or another choice of another seat, it would be different, and this seat would have
      seen the same in all that has followed.
    """

    def __init__(self, config: Config) -> None:
        self.config, self.game = config, config.game
        self.numbers = Numbers(config.game)
        self.starts = Batch(config, STARTS, 0, autoreset="disabled")
        start = self.numbers.of(self.starts.states)
        self.varying = (start != start[0]).any(axis=0)
        self.some = start[:100].copy()
        shape = (config.players, len(self.varying), _VALUES)
        # by seat, number and value: how often redraws had to change it where this seat was asked, if it were as free as
        # in other games; whether one did; the value. By seat and number: whether it was a secret from the start
        self.expected, self.changed, self.met = np.zeros(shape), np.zeros(shape, np.bool_), np.zeros(shape, np.int64)
        self.from_start = np.zeros(shape[:2], np.bool_)
        self.asked = np.zeros(config.players, np.int64)

    def play(self, seed: int) -> None:
        """Play a random game, and look at each of its decisions."""
        batch = Batch(self.config, 1, seed, autoreset="disabled", num_threads=1)
        chosen = generator(seed, Stream.CHECK, 1)
        now, same = self.numbers.of(batch.states)[0], self.varying.copy()
        alike = [batch.states[:0].copy()] * self.config.players  # records that a seat can't tell from the true one
        for _ in range(MOST_STEPS):
            actor, before, action = int(batch.actors[0]), batch.states.copy(), pick(batch, chosen)
            if self.asked[actor] < ASKED:
                self._look(batch, now, same, alike[actor], chosen)
            batch.step([action])
            if batch.actors[0] == NOBODY:
                return
            after = self.numbers.of(batch.states)[0]
            same &= after == now
            now = after
            forks = self._forks(before, action, chosen)
            for seat in range(self.config.players):
                records, actions = (forks[0][:_FORKS], forks[1][:_FORKS]) if seat == actor else forks
                earlier = alike[seat][[is_legal(one, action) for one in alike[seat]]]
                earlier["rng"] = before["rng"]
                records = np.concatenate([earlier, records])
                actions = np.append(np.full(len(earlier), action), actions)
                every = np.concatenate([batch.states, play(batch, records, actions)])
                views = views_of(batch, every, seat)
                others = every[1:][(views[1:] == views[0]) & (every[1:]["actor"] == batch.actors[0])]
                alike[seat] = chosen.permutation(others)[:_CARRIED]

    def _forks(self, before: np.ndarray, action: int, chosen: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Records and their actions: first _FORKS with other chance and this action, then ones with other actions."""
        others = legal_actions(before[0])
        others = chosen.permutation(others[others != action])[:_FORKS]
        forks = np.repeat(before, _FORKS + len(others))
        forks["rng"][:_FORKS] = chosen.integers(0, 2**64, _FORKS, np.uint64)
        return forks, np.append(np.full(_FORKS, action), others)

    def _look(
        self, batch: Batch, now: np.ndarray, same: np.ndarray, alike: np.ndarray, chosen: np.random.Generator
    ) -> None:
        """Note which numbers redraws change at a decision, and how likely the others are to be different.

        `same` are the numbers that have not changed since the start, (M,), `alike` records that the actor can't tell
        from the true one. Of a set of bits, all count as changed if one is.
        """
        seat = int(batch.actors[0])
        self.asked[seat] += 1
        every, value = np.arange(len(now)), np.where(self.numbers.are_bits, 0, now % _VALUES)
        self.met[seat, every, value] = now
        drawn = redrawn(batch, batch.states[0], seat, _DRAWS, chosen)
        changed = (self.numbers.of(drawn) != now).any(axis=0)
        self.changed[seat, every, value] |= np.isin(self.numbers.sets, self.numbers.sets[changed])
        if len(alike):
            self.expected[seat, every, value] += (self.numbers.of(alike) != now).mean(axis=0)
        is_open = ~self.changed[seat, every, value] & (self.expected[seat, every, value] < _EXPECTED)
        left = np.flatnonzero(same & is_open)
        left = chosen.permutation(left)[:_TRIED]
        values = self.some[chosen.choice(len(self.some), _OTHERS)][:, left]
        row, column = np.nonzero(values != now[left])
        if not len(row):
            return
        swapped = np.repeat(batch.states, 1 + len(row))
        self.numbers.put(swapped[1:], left[column], values[row, column])
        self.game.kernels.refresh_legal(swapped, batch.tables)
        views = views_of(batch, swapped, seat)
        unseen = left[column[views[1:] == views[0]]]
        np.add.at(self.expected[seat], (unseen, value[unseen]), _DRAWS / _OTHERS)
        self.from_start[seat, unseen] = True

    def left(self, seat: int) -> list[str]:
        """The secrets that no redraw changes, although it should have, by far; with a value if others are changed."""
        is_left = (self.expected[seat] >= _EXPECTED) & ~self.changed[seat]
        left = np.flatnonzero(is_left.any(axis=1) & ~self.numbers.are_known)
        names = []
        for one in left[~(self.from_start[seat, left] & self._follow(seat, left))].tolist():
            values = ", ".join(map(str, self.met[seat, one, is_left[one]].tolist()))
            where = f" (where it is {values})" if self.changed[seat, one].any() else ""
            names.append(self.numbers.names[one].partition(" bit")[0] + where)
        return list(dict.fromkeys(names))

    def _follow(self, seat: int, numbers: np.ndarray) -> np.ndarray:
        """Whether each number follows from what the seat sees at the start, as a sum of what it sees with factors."""
        if not len(numbers):
            return np.zeros(0, np.bool_)
        states, half = self.starts.states, STARTS // 2
        views = self.starts.views_of(states, np.full(STARTS, seat)).astype(np.float64)
        views = np.column_stack([np.ones(STARTS), views[:, (views != views[0]).any(axis=0)]])
        values = self.numbers.of(states)[:, numbers].astype(np.float64)
        factors = np.linalg.lstsq(views[:half], values[:half], rcond=None)[0]
        return np.asarray(np.abs(views[half:] @ factors - values[half:]).max(axis=0) < 0.01)

    def problem(self) -> Problem | None:
        """The first seat with secrets that are left."""
        for seat in range(self.config.players):
            names = self.left(seat)
            if names:
                more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
                message = (
                    f"the seat is not shown {', '.join(names[:_NAMED])}{more}, but sample_hidden never redraws it, so "
                    f"its searches know it: redraw it, or show it, or name its field in Game.known if all may know "
                    f"it"
                )
                return Problem("hidden information", message, self.config.players, seat=seat)
        return None


# --- Frequencies -----------------------------------------------------------------------------------------------------


def frequencies(config: Config, secrets: Secrets, on_note: Callable[[str], None]) -> Iterator[Problem]:
    """What `sample_hidden` draws is as frequent as it is in games. At most one mistake.

    When games start, what is true and what is drawn are compared. Later the draws of a position are positions of games
    themselves: the same actions are played in all of them, those stay in which the seat sees the same, and these are
    compared with draws of then (`_Line`).
    """
    starts, chosen = secrets.starts, generator(0, Stream.CHECK, 2)
    for seat in range(config.players):
        drawn, randoms = starts.states.copy(), chosen.integers(0, 2**64, STARTS, np.uint64)
        config.game.kernels.sample_hidden_games(drawn, starts.tables, np.full(STARTS, seat), randoms)
        found = secrets.numbers.difference(starts.states, drawn, chosen)
        if found:
            yield Problem("hidden information", found, config.players, step=0, seat=seat)
            return
    ends: dict[str, list[int]] = {}
    for seat in range(config.players):
        lines = [_Line(config, secrets.numbers, seat, number) for number in range(LINES)]
        for line in lines:
            found = line.problem()
            if found:
                yield Problem("hidden information", found, config.players, line.number, line.step, seat)
                return
        if all(line.compared < 2 for line in lines):
            ends.setdefault(lines[0].end, []).append(seat)
    for why, seats in ends.items():
        on_note(
            f"not compared with {config.players} players: the frequencies of sample_hidden after further decisions for "
            f"seat{'s' * (len(seats) > 1)} {', '.join(map(str, seats))}, as {why}. Test this rule yourself"
        )


class _Line:
    """Redraws of a decision of a seat, in which the same actions are played as long as the seat sees the same.

    Their frequencies are those that the seat must expect, whatever the others think, until another seat's legal actions
    depend on what is hidden: then they only tell what is possible. A line ends at an answer that the seat does not see,
    where a redraw takes back what others did, and where the seat would have to remember what it saw: a record need not
    keep that.

    Attributes:
        number, step: the seed of the game, and the number of the decision.
        compared: positions that were compared.
        end: why there were no more.
    """

    def __init__(self, config: Config, numbers: Numbers, seat: int, number: int) -> None:
        self.config, self.numbers, self.seat, self.number = config, numbers, seat, number
        self.chosen = generator(number, Stream.CHECK, 3, seat)
        self.compared, self.exact, self.end = 0, True, "the seat is never asked"
        self.batch = Batch(config, 1, number, autoreset="disabled", num_threads=1)
        asked = [
            (step, self.batch.states[0].copy())
            for step in positions(self.batch, self.chosen)
            if self.batch.actors[0] == seat
        ]
        if not asked:
            self.step, self.states = 0, self.batch.states[:0].copy()
            return
        self.step, start = asked[int(self.chosen.integers(len(asked))) if number else 0]
        others = [other for other in range(config.players) if other != seat]
        twins = [redrawn(self.batch, start, other, _TWINS, self.chosen) for other in others]
        self.states = np.concatenate([redrawn(self.batch, start, seat, REDRAWS, self.chosen), *twins])
        self.alike = np.arange(REDRAWS)
        self.views = views_of(self.batch, self.states, seat)

    def problem(self) -> str:
        """Play on and compare, up to the first mistake: a sentence, or "" without one."""
        while len(self.states) and self.compared <= LONGEST_LINE:
            alike = self.states[self.alike[:MOST]]
            one = alike[int(self.chosen.integers(len(alike)))]
            drawn = redrawn(self.batch, one, self.seat, len(alike), self.chosen)
            if (drawn["actor"] != one["actor"]).any():
                self.end = "it takes back there what others did"
                break
            found = self.numbers.difference(alike, drawn, self.chosen, only_never=not self.exact)
            if found:
                return found
            self.compared += 1
            self.end = self._play_on()
            self.step += 1
            if self.end:
                break
        return ""

    def _play_on(self) -> str:
        """Play a random action in all positions. Why the line ends there, or ""."""
        first, alike = self.states[self.alike[0]], self.states[self.alike]
        actor, actions = int(first["actor"]), legal_actions(first)
        if actor == NOBODY:
            return "the game ends there"
        if (alike["actor"] != actor).any():
            return "who is asked next is hidden"
        action = int(self.chosen.choice(actions))
        if actor != self.seat:
            self.exact &= bool((alike["legal"] == first["legal"]).all())
            one = self.states[self.alike[:1]]
            after = play(self.batch, np.repeat(one, len(actions)), actions)
            seen = views_of(self.batch, np.concatenate([after, one]), self.seat)
            if (seen == seen[:-1][actions == action]).sum() > 1:
                return "what another seat answers is hidden, or whether it does"
        allowed = self.states["legal"][:, action // 64] >> np.uint64(action % 64) & np.uint64(1)
        follow = (self.states["actor"] == actor) & (allowed == 1)
        is_alike = np.zeros(len(self.states), np.bool_)
        is_alike[self.alike] = True
        before, is_alike = self.views[follow], is_alike[follow]
        self.states = play(self.batch, self.states[follow], np.full(int(follow.sum()), action))
        self.views = views_of(self.batch, self.states, self.seat)
        if len(np.unique(np.stack([before, self.views]), axis=1).T) > len(np.unique(self.views)):
            return "a player must remember there what is seen no more"
        if (self.states["actor"] == NOBODY).any():
            return "the game ends there"
        most = np.bincount(self.views[is_alike]).argmax()
        self.alike, others = (np.flatnonzero(is_alike & one) for one in (self.views == most, self.views != most))
        looks = others[np.unique(self.views[others], return_index=True)[1]]
        if any(self.config.game.words.facts(one, self.seat, None).is_secret for one in self.states[looks]):
            return "it is hidden whether another seat is asked"  # the game goes on there and may look the same again
        if len(self.alike) < FEWEST:
            return f"fewer than {FEWEST} of {REDRAWS:,} redraws agree with what the seat sees next"
        return ""
