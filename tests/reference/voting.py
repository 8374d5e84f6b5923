"""Voting (Phase 1, step 1b), and winning the weather vote (Phase 2)."""

from __future__ import annotations

from tests.reference.table import Player, Question, Steps, Table
from tests.reference.words import HARVEST, WEATHERS, next_weather


def vote(table: Table, player: Player, kind: str) -> Steps[None]:
    """After an action, vote: on the weather of the action, on the next one in the sequence, or decrease a Harvest die.

    It is mandatory. It counts as the action that was resolved, whichever cards were played (Playing Cards).
    """
    options = [f"vote {weather}" for weather in (kind, next_weather(kind)) if can_vote(table, player, weather)]
    options += [f"die {votes}" for votes in sorted(die for die in set(table.dice) if isinstance(die, int))]
    answer = yield Question("vote", player.seat, tuple(options))
    verb, choice = answer.split()
    if verb == "die":
        decrease_die(table, player, int(choice))
    else:
        yield from place_vote(table, player, choice)


def can_vote(table: Table, player: Player, weather: str) -> bool:
    """There is a vote in the supply, or one on another Weather space that can be moved."""
    return player.votes > 0 or bool(spaces_to_move_from(table, player, weather))


def spaces_to_move_from(table: Table, player: Player, weather: str) -> list[str]:
    """Weather spaces with own votes, other than the one the vote goes to."""
    return [space for space in WEATHERS if space != weather and table.votes[space][player.seat]]


def place_vote(table: Table, player: Player, weather: str) -> Steps[None]:
    """Place a vote from the supply; with an empty one take an own vote from another Weather space."""
    if player.votes:
        player.votes -= 1
    else:
        spaces = spaces_to_move_from(table, player, weather)
        answer = yield Question("move_vote", player.seat, tuple(f"weather {space}" for space in spaces))
        table.votes[answer.removeprefix("weather ")][player.seat] -= 1
    table.votes[weather][player.seat] += 1


def decrease_die(table: Table, player: Player, votes: int) -> None:
    """Decrease a Harvest die by one vote for 1 point. A die showing 1 is turned to a Harvest side, for 2 points."""
    table.dice[table.dice.index(votes)] = votes - 1 if votes > 1 else HARVEST
    player.gain(1 if votes > 1 else 2, "dice")


# --- Winning the Weather Vote ----------------------------------------------------------------------------------------


def total_votes(table: Table, weather: str) -> int:
    return table.votes[weather].total()


def win_vote(table: Table, weather: str) -> None:
    """The player with the most votes on a resolved space advances on the Voting Wins track; nobody wins without a vote.

    All tied players advance; with two players and in solo none of them does. With five players a sole leader advances
    by two, and all in second place by one. Tied leaders advance by one, and second place doesn't advance (Flowers, five
    players).
    """
    votes = {player.seat: table.votes[weather][player.seat] for player in table.owners}
    ranks = sorted({number for number in votes.values() if number}, reverse=True)
    if not ranks:
        return
    leaders = [player for player in table.owners if votes[player.seat] == ranks[0]]
    if len(table.owners) == 2 and len(leaders) == 2:
        return
    if len(table.owners) == 5 and len(leaders) == 1:
        leaders[0].voting_wins += 1
        if len(ranks) > 1:
            leaders += [player for player in table.owners if votes[player.seat] == ranks[1]]
    for player in leaders:
        player.voting_wins += 1


def return_votes(table: Table, weather: str) -> None:
    """After a Weather space is resolved its votes return to their owners."""
    for player in table.owners:
        player.votes += table.votes[weather][player.seat]
    table.votes[weather].clear()


def change_first_player_of_two(table: Table) -> None:
    """With two players, after the Weather Phase: the First Player keeps the marker only with more votes left on the
    board than the opponent (Changing the First Player)."""
    first, second = table.turn_order()
    left = [sum(table.votes[weather][player.seat] for weather in WEATHERS) for player in (first, second)]
    if left[0] <= left[1]:
        table.first_player = second
