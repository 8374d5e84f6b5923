"""Voting (Phase 1, step 1b) and Winning the Weather Vote."""

from __future__ import annotations

from petrichor_env.actions import DIE, VOTE, WEATHER
from petrichor_env.rules.points import gain
from petrichor_env.state import HARVEST, MAX_PLAYERS, NO_SPACE, NOBODY, NUM_KINDS, Decision, Source, State
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import allow, ask, ask_nothing


@rule
def votes_on(s: State, space: int) -> int:
    """All votes on this weather space."""
    total = 0
    for owner in range(MAX_PLAYERS):  # all seats: empty ones have no votes
        total += int(s.votes[space, owner])
    return total


@rule
def has_vote_elsewhere(s: State, seat: int, space: int) -> bool:
    """Whether the player has a vote on another weather space."""
    for other in range(NUM_KINDS):
        if other != space and s.votes[other, seat] > 0:
            return True
    return False


@rule
def can_vote_on(s: State, seat: int, space: int) -> bool:
    """A vote comes from the supply, or from another space."""
    return bool(s.vote_supply[seat] > 0 or has_vote_elsewhere(s, seat, space))


@rule
def allow_vote(s: State) -> None:
    """The action's weather space, the next one clockwise, or a Harvest die that still shows votes."""
    for clockwise in range(2):
        space = (s.card + clockwise) % NUM_KINDS
        if can_vote_on(s, s.actor, space):
            allow(s, VOTE + space)
    for die in range(3):
        if s.dice[die] != HARVEST:
            allow(s, DIE + int(s.dice[die]) - 1)


@rule
def vote(s: State, action: int) -> None:
    """Answers VOTE. Nothing is asked once the vote has been cast."""
    ask_nothing(s)
    if action >= DIE:
        decrease_die(s, s.actor, action - DIE + 1)
    else:
        cast_vote(s, action - VOTE)


@rule
def cast_vote(s: State, space: int) -> None:
    """A vote of the actor's from the supply, or, if it is empty, from another space."""
    if s.vote_supply[s.actor] > 0:
        s.vote_supply[s.actor] -= 1
        s.votes[space, s.actor] += 1
    else:
        s.target_space = space
        ask(s, Decision.MOVE_VOTE, s.actor)


@rule
def allow_move_vote(s: State) -> None:
    """Other weather spaces with an own vote."""
    for space in range(NUM_KINDS):
        if space != s.target_space and s.votes[space, s.actor] > 0:
            allow(s, WEATHER + space)


@rule
def move_vote(s: State, action: int) -> None:
    """Answers MOVE_VOTE: with an empty supply a vote comes from another weather space."""
    s.votes[action - WEATHER, s.actor] -= 1
    s.votes[s.target_space, s.actor] += 1
    s.target_space = NO_SPACE
    ask_nothing(s)


@rule
def decrease_die(s: State, seat: int, shown: int) -> None:
    """A point for a vote less on a Harvest die, two for the last one."""
    for die in range(3):
        if s.dice[die] == shown:
            s.dice[die] = shown - 1
            break
    sort_dice(s)
    gain(s, seat, 2 if shown == 1 else 1, Source.DICE)


@rule
def sort_dice(s: State) -> None:
    """The dice are equal, so their order is kept ascending."""
    for i in range(2):
        for j in range(2 - i):
            if s.dice[j] > s.dice[j + 1]:
                shown = s.dice[j]
                s.dice[j] = s.dice[j + 1]
                s.dice[j + 1] = shown


@rule
def win_vote(s: State, space: int) -> None:
    """The player with the most votes advances; tied players do only with three or more players.

    With five a sole leader advances twice and the second, or all tied for it, once (Flowers, Gioco in 5 giocatori).
    """
    most, tied, leader = 0, 0, NOBODY
    for seat in range(s.owners):
        if s.votes[space, seat] > most:
            most, tied, leader = int(s.votes[space, seat]), 1, seat
        elif s.votes[space, seat] == most:
            tied += 1
    if most == 0:
        return
    if s.owners == 2:
        if tied == 1:
            s.voting_wins[leader] += 1
        return
    for seat in range(s.owners):
        if s.votes[space, seat] == most:
            s.voting_wins[seat] += 1
    if s.players == 5 and tied == 1:
        s.voting_wins[leader] += 1
        win_second_place(s, space, leader)


@rule
def win_second_place(s: State, space: int, leader: int) -> None:
    """With five players: those with the most votes after the leader advance once."""
    most = 0
    for seat in range(s.owners):
        if seat != leader:
            most = max(most, int(s.votes[space, seat]))
    for seat in range(s.owners):
        if seat != leader and most > 0 and s.votes[space, seat] == most:
            s.voting_wins[seat] += 1


@rule
def return_votes(s: State, space: int) -> None:
    """All votes go back to their owners."""
    for owner in range(s.owners):
        s.vote_supply[owner] += s.votes[space, owner]
        s.votes[space, owner] = 0
