"""The compiled functions that Python calls: loops over arrays of records, made for each game.

There are few of them and each does much, because each holds a compiled copy of the rules. All release the GIL. They are
templates: `rules` stands for the rules of the game that they are compiled for (`Kernels`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tabletop_engine.chance import random_below
from tabletop_engine.compiling.compiled import kernel, kernel_template, rule_template, rules, templates_in
from tabletop_engine.defaults import margin
from tabletop_engine.editions import draw_edition, edition_of
from tabletop_engine.legal import NO_WAY_ON, count_legal, give_up, is_legal, nth_legal
from tabletop_engine.record import NOBODY

# Autoreset modes, and treatments of illegal actions, as numbers for the kernels
SAME_STEP, NEXT_STEP, DISABLED = 0, 1, 2
RAISE, LOSE, RANDOM = 0, 1, 2
WIN, MARGIN, POINTS = 0, 1, 2
FORFEIT_MARGIN = -100.0
"""The loser's margin in a forfeited game with the `margin` reward, in points: worse than after any played game."""

MOST_DECISIONS = 1_000_000
"""The most decisions of one game; a game with more was changed by hand."""

_SMALLEST_COUNT, _LARGEST_COUNT = np.int16(-128), np.int16(127)
_1 = np.uint64(1)

lowest: Any = None
"""In templates this name stands for the lower bound of float32 observations of the game, float32."""
highest: Any = None
"""Their upper bound."""


class Kernels:
    """The kernels of this file, compiled for one game when they are first called."""

    def __init__(self, made: Callable[..., dict[str, Any]], low: float, high: float) -> None:
        """Make them by `Game.made`; `low` and `high` are the bounds of observations."""
        templates = templates_in(sys.modules[__name__])
        self.__dict__.update(made(templates, lowest=np.float32(low), highest=np.float32(high)))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


# --- One game --------------------------------------------------------------------------------------------------------


@rule_template
def begin(s: Any, tables: np.ndarray, edition: int) -> None:
    """Start a game, which continues its random stream, with this edition; -1: with one that its stream chooses."""
    if edition < 0:
        edition = draw_edition(s, tables.shape[0])
    rules.reset(s, tables[edition])
    s.edition = edition


@rule_template
def write_mask(s: Any, mask: np.ndarray) -> None:
    """Write the set of legal actions as int8 values. It goes word by word, which compiles to vector instructions."""
    for i in range(s.legal.shape[0]):
        word = s.legal[i]
        first = 64 * i
        for bit in range(min(64, mask.shape[0] - first)):
            mask[first + bit] = (word >> np.uint64(bit)) & _1


@rule_template
def write_view(
    s: Any, t: Any, seat: int, counts: np.ndarray, divisors: np.ndarray, wide: np.ndarray, narrow: np.ndarray
) -> None:
    """Write what the seat sees, as float32 into `wide` or as int8 into `narrow`; the other one has no columns.

    A number beyond the bounds of the observation space is written as the bound. `counts` is scratch space.
    """
    counts[:] = 0
    rules.observe(s, t, seat, counts)
    for i in range(wide.shape[0]):
        wide[i] = max(lowest, min(highest, np.float32(counts[i]) / divisors[i]))
    for i in range(narrow.shape[0]):
        narrow[i] = max(_SMALLEST_COUNT, min(counts[i], _LARGEST_COUNT))


@rule_template
def view(
    s: Any,
    tables: np.ndarray,
    counts: np.ndarray,
    divisors: np.ndarray,
    actors: np.ndarray,
    masks: np.ndarray,
    wide: np.ndarray,
    narrow: np.ndarray,
    i: int,
) -> None:
    """Write actor, mask and view of game `i`. When the game is over: NOBODY, all ones, seat 0's view."""
    actors[i] = s.actor
    if s.actor == NOBODY:
        masks[i, :] = 1
    else:
        write_mask(s, masks[i])
    write_view(s, tables[edition_of(s, tables)], max(0, int(s.actor)), counts, divisors, wide[i], narrow[i])


@rule_template
def write_places(s: Any, places: np.ndarray) -> None:
    """Write each owner's place in a finished game; 0 after the last owner.

    The team of a seat that has forfeited is last, and second if it has no opponent. All others share the first place.
    """
    places[:] = 0
    if s.forfeited == NOBODY:
        rules.ranks(s, places)
    else:
        loser = rules.team(s, int(s.forfeited))
        for owner in range(min(int(s.owners), places.shape[0])):
            places[owner] = max(2, int(s.owners)) if owner == loser else 1


@rule_template
def write_rewards(s: Any, reward: int, paid: np.ndarray, places: np.ndarray, out: np.ndarray) -> None:
    """Write the rewards of one step for every player. `paid` are the owners' points that rewards have counted before.

    A seat gets what its team gets. All rewards of a game together are its final result, because nothing is counted when
    a game starts.
    """
    owners = min(int(s.owners), paid.shape[0])  # a record changed by hand must not write beyond
    if reward == WIN:
        if s.actor == NOBODY:
            write_places(s, places)
            winners = 0
            for owner in range(owners):
                winners += places[owner] == 1
            if winners < owners:
                for seat in range(out.shape[0]):
                    won = places[rules.team(s, seat)] == 1
                    out[seat] = 1.0 / winners if won else -1.0 / (owners - winners)
        return
    total = 0.0
    for owner in range(owners):
        total += float(s.points[owner] - paid[owner])
    for seat in range(out.shape[0]):
        own = rules.team(s, seat)
        gained = float(s.points[own] - paid[own])
        out[seat] = margin(total, gained, owners) if reward == MARGIN else gained
    if s.forfeited != NOBODY:
        write_forfeit_rewards(s, reward, paid, out)


@rule_template
def write_forfeit_rewards(s: Any, reward: int, paid: np.ndarray, out: np.ndarray) -> None:
    """Write the rewards that bring the margin of the team that forfeits to FORFEIT_MARGIN, or its points to 0."""
    loser = rules.team(s, int(s.forfeited))
    owners = min(int(s.owners), paid.shape[0])
    total = 0.0
    for owner in range(owners):
        total += float(paid[owner])
    for seat in range(out.shape[0]):
        own = rules.team(s, seat)
        if reward == MARGIN:
            wanted = FORFEIT_MARGIN if own == loser else -FORFEIT_MARGIN / (owners - 1)
            out[seat] = wanted - margin(total, float(paid[own]), owners)
        elif own == loser:
            out[seat] = -float(paid[own])


# --- Many games ------------------------------------------------------------------------------------------------------


@kernel_template
def first_illegal(states: np.ndarray, actions: np.ndarray, which: np.ndarray, num_actions: int) -> int:
    """The first of the games `which` that is not over and whose action is not legal; -1 if there is none."""
    for i in range(states.shape[0]):
        s = states[i]
        if not which[i] or s.actor == NOBODY:
            continue
        if actions[i] < 0 or actions[i] >= num_actions or not is_legal(s, actions[i]):
            return i
    return -1


@kernel_template
def reset_games(states: np.ndarray, tables: np.ndarray, which: np.ndarray, editions: np.ndarray) -> None:
    """Start the games for which `which` is true. `editions` (int64) are their tables; -1: the random stream chooses."""
    for i in range(states.shape[0]):
        if which[i]:
            begin(states[i], tables, editions[i])


@kernel_template
def step_games(
    states: np.ndarray,
    tables: np.ndarray,
    actions: np.ndarray,
    which: np.ndarray,
    editions: np.ndarray,
    modes: np.ndarray,
    divisors: np.ndarray,
    actors: np.ndarray,
    masks: np.ndarray,
    wide: np.ndarray,
    narrow: np.ndarray,
    rewards: np.ndarray,
    paid: np.ndarray,
    terminations: np.ndarray,
    illegal: np.ndarray,
    final_states: np.ndarray,
    final_wide: np.ndarray,
    final_narrow: np.ndarray,
) -> int:
    """Step the games `which` (bool) and write their views. Returns a game that can't go on, or -1.

    `modes` are autoreset, illegal action and reward (int64). If illegal actions are to raise an error, the caller has
    checked the actions. Observations go into `wide` (float32) or `narrow` (int8); the other one has no columns. `paid`
    (int64) are the points of the owners that the rewards of the running games have counted. `editions` are for games
    that start, as in `reset_games`.
    """
    autoreset, on_illegal, reward = modes[0], modes[1], modes[2]
    num_actions = masks.shape[1]
    stuck = -1
    places = np.zeros(paid.shape[1], np.int8)
    counts = np.zeros(divisors.shape[0], np.int16)
    for i in range(states.shape[0]):
        s = states[i]
        t = tables[edition_of(s, tables)]
        terminations[i] = False
        illegal[i] = False
        for seat in range(rewards.shape[1]):
            rewards[i, seat] = 0.0
        if not which[i]:
            continue
        if s.actor == NOBODY:  # it ended in the step before, or `load` or the user put in a finished game
            if autoreset != DISABLED:
                begin(s, tables, editions[i])
                paid[i, :] = 0
        else:
            action = actions[i]
            if action < 0 or action >= num_actions or not is_legal(s, action):
                if count_legal(s) == 0:  # no answer is to blame, as the rules allow none: nothing is played
                    stuck = i
                    continue
                illegal[i] = True
                if on_illegal == RANDOM:
                    action = nth_legal(s, random_below(s, count_legal(s)))
            if illegal[i] and on_illegal == LOSE:
                rules.forfeit(s, int(s.actor))
            else:
                rules.step(s, t, action)
            write_rewards(s, reward, paid[i], places, rewards[i])
            for owner in range(paid.shape[1]):
                paid[i, owner] = s.points[owner]
            if s.actor == NOBODY:
                terminations[i] = True
                final_states[i] = s
                write_view(s, t, 0, counts, divisors, final_wide[i], final_narrow[i])
                if autoreset == SAME_STEP and s.decision != NO_WAY_ON:
                    begin(s, tables, editions[i])
                    paid[i, :] = 0
        if s.decision == NO_WAY_ON:
            stuck = i
        view(s, tables, counts, divisors, actors, masks, wide, narrow, i)
    return stuck


@kernel_template
def play_actions(states: np.ndarray, tables: np.ndarray, actions: np.ndarray, which: np.ndarray) -> None:
    """Play one action in each of the games `which`, without rewards or views. An action below 0 forfeits the game."""
    for i in range(states.shape[0]):
        if which[i]:
            if actions[i] < 0:
                rules.forfeit(states[i], int(states[i].actor))
            else:
                rules.step(states[i], tables[edition_of(states[i], tables)], actions[i])


@kernel_template
def view_games(
    states: np.ndarray,
    tables: np.ndarray,
    divisors: np.ndarray,
    actors: np.ndarray,
    masks: np.ndarray,
    wide: np.ndarray,
    narrow: np.ndarray,
) -> None:
    """Write actors, masks and the actors' observations of every game."""
    counts = np.zeros(divisors.shape[0], np.int16)
    for i in range(states.shape[0]):
        view(states[i], tables, counts, divisors, actors, masks, wide, narrow, i)


@kernel_template
def observe_games(
    states: np.ndarray,
    tables: np.ndarray,
    seats: np.ndarray,
    divisors: np.ndarray,
    wide: np.ndarray,
    narrow: np.ndarray,
) -> None:
    """Write the observation of the given seat (int64) in every game."""
    counts = np.zeros(divisors.shape[0], np.int16)
    for i in range(states.shape[0]):
        s = states[i]
        write_view(s, tables[edition_of(s, tables)], seats[i], counts, divisors, wide[i], narrow[i])


@kernel_template
def count_games(states: np.ndarray, tables: np.ndarray, seats: np.ndarray, counts: np.ndarray) -> None:
    """Write the counts that the given seat (int64) sees in every game, whatever their bounds, into int16 `counts`."""
    for i in range(states.shape[0]):
        counts[i, :] = 0
        rules.observe(states[i], tables[edition_of(states[i], tables)], seats[i], counts[i])


@kernel_template
def refresh_legal(states: np.ndarray, tables: np.ndarray) -> None:
    """Recompute the set of legal actions of every record."""
    for i in range(states.shape[0]):
        rules.legal(states[i], tables[edition_of(states[i], tables)])


@kernel_template
def draw_numbers(states: np.ndarray, bound: int, numbers: np.ndarray) -> None:
    """Draw a uniformly random number from 0 to bound - 1 from every game's random stream, into `numbers` (int64)."""
    for i in range(states.shape[0]):
        numbers[i] = random_below(states[i], bound)


@kernel_template
def sample_hidden_games(states: np.ndarray, tables: np.ndarray, seats: np.ndarray, randoms: np.ndarray) -> None:
    """Call `rules.sample_hidden` for every record, for `seats` (int64) and with the streams `randoms` (uint64)."""
    for i in range(states.shape[0]):
        rules.sample_hidden(states[i], tables[edition_of(states[i], tables)], seats[i], randoms[i])


@kernel_template
def places_of_games(states: np.ndarray, places: np.ndarray) -> None:
    """Write each owner's place in every finished game into `places`, (N, owners) int8: 1 for the first, ties equal."""
    for i in range(states.shape[0]):
        write_places(states[i], places[i])


@kernel_template
def teams_of_games(states: np.ndarray, teams: np.ndarray) -> None:
    """Write the owner of each seat's points in every game into `teams`, (N, P) int64 zeros."""
    for i in range(states.shape[0]):
        for seat in range(min(int(states[i].players), teams.shape[1])):
            teams[i, seat] = rules.team(states[i], seat)


@kernel_template
def random_legal_actions(states: np.ndarray, randoms: np.ndarray, actions: np.ndarray) -> None:
    """Write a random legal action of every game into `actions` (int64), 0 if it is over. `randoms` are in [0, 1)."""
    for i in range(states.shape[0]):
        count = count_legal(states[i])
        actions[i] = nth_legal(states[i], int(randoms[i] * count)) if count > 0 else 0


@kernel_template
def playout(states: np.ndarray, tables: np.ndarray) -> int:
    """Play every game to its end with uniformly random legal actions from its own stream.

    Returns the number of decisions. It writes no observations and no masks, like the playouts inside a search.
    """
    decisions = 0
    for i in range(states.shape[0]):
        s = states[i]
        t = tables[edition_of(s, tables)]
        last = decisions + MOST_DECISIONS
        while s.actor != NOBODY:
            rules.step(s, t, nth_legal(s, random_below(s, count_legal(s))))
            decisions += 1
            if decisions == last:
                give_up(s)
    return decisions


@kernel
def masked_random_actions(masks: np.ndarray, randoms: np.ndarray, actions: np.ndarray) -> None:
    """Write a random allowed action of every row of `masks` into `actions` (int64). `randoms` are in [0, 1)."""
    for i in range(masks.shape[0]):
        row = masks[i]
        count = 0
        for a in range(row.shape[0]):
            count += row[a]
        left = int(randoms[i] * count)
        actions[i] = 0
        for a in range(row.shape[0]):
            if row[a] != 0:
                if left == 0:
                    actions[i] = a
                    break
                left -= 1


def sample_actions(masks: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Uniformly random legal actions, (N,) int64, for int8 or bool masks (N, actions). All-zero rows give 0."""
    actions = np.empty(masks.shape[0], np.int64)
    rows = np.ascontiguousarray(masks).view(np.int8)  # a wheel's machine code takes no other masks
    masked_random_actions(rows, np.asarray(generator.random(masks.shape[0])), actions)
    return actions
