"""The compiled functions that Python calls: loops over arrays of records.

Few and coarse, since each of them holds a compiled copy of the rules. All release the GIL.
"""

from __future__ import annotations

import numpy as np

from petrichor_env import rules
from petrichor_env.observation import observe
from petrichor_env.state import LEGAL_WORDS, MAX_PLAYERS, NOBODY, State
from petrichor_env.tables import Tables
from tabletop.chance import random_below
from tabletop.compiled import kernel, rule

# Autoreset modes and answers to illegal actions, as the kernels take them
SAME_STEP, NEXT_STEP, DISABLED = 0, 1, 2
RAISE, LOSE, RANDOM = 0, 1, 2
WIN, MARGIN, POINTS = 0, 1, 2
FORFEIT_MARGIN = -100.0
"""Margin that a forfeited game ends with under the `margin` reward, in points: worse than any played game."""

_1 = np.uint64(1)

OK, ILLEGAL, OVER = 0, 1, 2
"""What `check_actions` finds."""


@rule
def write_mask(s: State, mask: np.ndarray) -> None:
    """The set of legal actions, from a bit to an int8 each; word by word, so that processors do many at once."""
    for i in range(LEGAL_WORDS):
        word = s.legal[i]
        first = 64 * i
        for bit in range(min(64, mask.shape[0] - first)):
            mask[first + bit] = (word >> np.uint64(bit)) & _1


@rule
def view(s: State, t: Tables, actors: np.ndarray, masks: np.ndarray, observations: np.ndarray, i: int) -> None:
    """Who is asked, what is legal and what they see. When the game is over: nobody, everything, seat 0's view."""
    actors[i] = s.actor
    if s.actor == NOBODY:
        masks[i, :] = 1
        observe(s, t, 0, observations[i])
    else:
        write_mask(s, masks[i])
        observe(s, t, int(s.actor), observations[i])


@rule
def write_rewards(s: State, reward: int, before: np.ndarray, won: np.ndarray, out: np.ndarray) -> None:
    """The rewards of one step for every player, by the points `before` it."""
    players = out.shape[0]
    owners = int(s.owners)
    if reward == WIN:
        if s.actor == NOBODY:
            rules.winners(s, won)
            number = 0
            for seat in range(owners):
                number += int(won[seat])
            if number < owners:
                for seat in range(players):
                    out[seat] = 1.0 / number if won[seat] == 1 else -1.0 / (owners - number)
        return
    for seat in range(players):
        out[seat] = float(s.points[seat] - before[seat])
    if reward == MARGIN:
        total = 0.0
        for seat in range(owners):
            total += float(s.points[seat] - before[seat])
        for seat in range(players):
            out[seat] -= (total - out[seat]) / (owners - 1)
    if s.forfeited != NOBODY:
        write_forfeit_rewards(s, reward, out)


@rule
def write_forfeit_rewards(s: State, reward: int, out: np.ndarray) -> None:
    """Bring the margin to FORFEIT_MARGIN, or the points to nothing, for who forfeits."""
    loser = int(s.forfeited)
    if reward == POINTS:
        if loser < out.shape[0]:
            out[loser] = -float(s.points[loser])
        return
    owners = int(s.owners)
    total = 0.0
    for seat in range(owners):
        total += float(s.points[seat])
    for seat in range(out.shape[0]):
        own = float(s.points[seat])
        so_far = own - (total - own) / (owners - 1)
        wanted = FORFEIT_MARGIN if seat == loser else -FORFEIT_MARGIN / (owners - 1)
        out[seat] = wanted - so_far


@kernel
def check_actions(
    states: np.ndarray, actions: np.ndarray, which: np.ndarray, num_actions: int, allow_over: bool
) -> tuple[int, int]:
    """The first of the games `which` whose action is not legal, and what is wrong with it (OK, ILLEGAL, OVER)."""
    for i in range(states.shape[0]):
        s = states[i]
        if not which[i]:
            continue
        if s.actor == NOBODY:
            if not allow_over:
                return i, OVER
        elif actions[i] < 0 or actions[i] >= num_actions or not rules.is_legal(s, actions[i]):
            return i, ILLEGAL
    return -1, OK


@kernel
def reset_games(states: np.ndarray, tables: np.ndarray, which: np.ndarray) -> None:
    """Start the games anew where `which` is true; each goes on with its own random stream."""
    for i in range(states.shape[0]):
        if which[i]:
            rules.reset(states[i], tables[0])


@kernel
def step_games(
    states: np.ndarray,
    tables: np.ndarray,
    actions: np.ndarray,
    which: np.ndarray,
    modes: np.ndarray,
    actors: np.ndarray,
    masks: np.ndarray,
    observations: np.ndarray,
    rewards: np.ndarray,
    terminations: np.ndarray,
    illegal: np.ndarray,
    final_states: np.ndarray,
    final_observations: np.ndarray,
) -> int:
    """Step the games `which` (bool) and view them. Returns how many ended.

    `modes`: autoreset, illegal action, reward (int64). The actions have been checked where illegal ones are to raise.
    """
    autoreset, on_illegal, reward = modes[0], modes[1], modes[2]
    num_actions = masks.shape[1]
    ended = 0
    before = np.zeros(MAX_PLAYERS, np.int64)
    won = np.zeros(MAX_PLAYERS, np.int8)
    for i in range(states.shape[0]):
        s = states[i]
        t = tables[0]
        terminations[i] = False
        illegal[i] = False
        for seat in range(rewards.shape[1]):
            rewards[i, seat] = 0.0
        if not which[i]:
            continue
        if s.actor == NOBODY:  # it ended in the step before, or came so by `load` or by hand
            if autoreset != DISABLED:
                rules.reset(s, t)
        else:
            for seat in range(s.owners):
                before[seat] = s.points[seat]
            action = actions[i]
            if action < 0 or action >= num_actions or not rules.is_legal(s, action):
                illegal[i] = True
                if on_illegal == RANDOM:
                    action = rules.nth_legal(s, random_below(s, rules.count_legal(s)))
            if illegal[i] and on_illegal == LOSE:
                rules.forfeit(s, int(s.actor))
            else:
                rules.step(s, t, action)
            write_rewards(s, reward, before, won, rewards[i])
            if s.actor == NOBODY:
                ended += 1
                terminations[i] = True
                final_states[i] = s
                observe(s, t, 0, final_observations[i])
                if autoreset == SAME_STEP:
                    rules.reset(s, t)
        view(s, t, actors, masks, observations, i)
    return ended


@kernel
def view_games(
    states: np.ndarray, tables: np.ndarray, actors: np.ndarray, masks: np.ndarray, observations: np.ndarray
) -> None:
    """Actors, masks and the actors' observations of every game."""
    for i in range(states.shape[0]):
        view(states[i], tables[0], actors, masks, observations, i)


@kernel
def observe_games(states: np.ndarray, tables: np.ndarray, seats: np.ndarray, observations: np.ndarray) -> None:
    """Every game as the given seat (int64) sees it."""
    for i in range(states.shape[0]):
        observe(states[i], tables[0], seats[i], observations[i])


@kernel
def refresh_legal(states: np.ndarray, tables: np.ndarray) -> None:
    """Recompute the set of legal actions of every record."""
    for i in range(states.shape[0]):
        rules.legal(states[i], tables[0])


@kernel
def sample_hidden_games(states: np.ndarray, tables: np.ndarray, seats: np.ndarray, randoms: np.ndarray) -> None:
    """`rules.sample_hidden` for every record, seen from `seats` (int64), with new streams `randoms` (uint64)."""
    for i in range(states.shape[0]):
        rules.sample_hidden(states[i], tables[0], seats[i], randoms[i])


@kernel
def winners_of_games(states: np.ndarray, won: np.ndarray) -> None:
    """Write 1 for each winner of every finished game into `won`, (N, MAX_PLAYERS) int8."""
    for i in range(states.shape[0]):
        rules.winners(states[i], won[i])


@kernel
def random_legal_actions(states: np.ndarray, randoms: np.ndarray, actions: np.ndarray) -> None:
    """A random legal action of every game, 0 if it is over, into `actions` (int64), by `randoms` in [0, 1)."""
    for i in range(states.shape[0]):
        count = rules.count_legal(states[i])
        actions[i] = rules.nth_legal(states[i], int(randoms[i] * count)) if count > 0 else 0


@kernel
def masked_random_actions(masks: np.ndarray, randoms: np.ndarray, actions: np.ndarray) -> None:
    """A uniformly random allowed action of every row of `masks` into `actions` (int64), by `randoms` in [0, 1)."""
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


@kernel
def playout(states: np.ndarray, tables: np.ndarray) -> int:
    """Play every game on with uniformly random legal actions, drawn from its own stream, to its end.

    Returns the number of decisions taken. No observations, no masks: what search does inside.
    """
    decisions = 0
    for i in range(states.shape[0]):
        s = states[i]
        while s.actor != NOBODY:
            rules.step(s, tables[0], rules.nth_legal(s, random_below(s, rules.count_legal(s))))
            decisions += 1
    return decisions


def sample_actions(masks: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Uniformly random legal actions, (N,) int64, for int8 or bool masks (N, NUM_ACTIONS). All-zero rows give 0."""
    actions = np.empty(masks.shape[0], np.int64)
    masked_random_actions(masks.view(np.int8), np.asarray(generator.random(masks.shape[0])), actions)
    return actions
