"""From one decision to the next: the functions that answer decisions, and the parts of a round.

`step` passes the action to the function of its chapter, then goes on to the next decision with more than one answer.
This is the only place that knows all chapters.

The first word of a function says what it does. `ask_…` asks and does nothing else. `continue_…` goes on with a part of
the game until a player is asked or the part is over, and says whether a player is asked. `allow_…` writes the legal
actions. `is_…`, `can_…` and `next_…` only look.
"""

from __future__ import annotations

from evergreen_env.rules import card_actions, draft, powers, seasons, setup, turn
from evergreen_env.state import NOBODY, Decision, State
from evergreen_env.tables import Tables
from tabletop_engine.compiling.compiled import rule, shared_rule
from tabletop_engine.decisions import by_decision
from tabletop_engine.legal import NOTHING_ASKED, ask, count_legal, forbid_all, give_up, nth_legal

_ACTION = (card_actions.allow_action, card_actions.act_on_space)

DECISIONS = {
    Decision.DRAFT: (draft.allow_draft, draft.draft),
    Decision.TURN: (turn.allow_turn, turn.take_turn),
    **dict.fromkeys((Decision.PLANT, Decision.GROW, Decision.PLANT_AND_GROW, Decision.ANYWHERE), _ACTION),
    Decision.POWER: (powers.allow_power, powers.use_on_space),
    Decision.LAKE: (powers.allow_lake_growth, powers.grow_beside_lake),
}
"""For each decision, the rule that writes its legal actions, and the rule that applies the chosen action."""

_ASKED = [decision for decision in Decision if decision != Decision.GAME_OVER]
allow_answers = by_decision(_ASKED, {decision: allow for decision, (allow, _) in DECISIONS.items()}, "s", "t")
apply_answer = by_decision(
    _ASKED, {decision: answer for decision, (_, answer) in DECISIONS.items()}, "s", "t", "action"
)

_MOST_PARTS = 10_000
"""The most parts of a game between two decisions. Only records that were changed by hand reach it."""


@shared_rule
def reset(s: State, t: Tables) -> None:
    """Set a game up to its first decision. The switches and `rng` have been set before."""
    setup.set_up(s, t)
    draft.deal(s)
    ask(s, NOTHING_ASKED, NOBODY)
    go_on(s, t)


@rule
def step(s: State, t: Tables, action: int) -> None:
    """Apply one legal action (not checked here) and go on to the next decision, or the end."""
    answer(s, t, action)
    go_on(s, t)


@shared_rule
def legal(s: State, t: Tables) -> None:
    """Write the set of actions that answer the pending decision into the record."""
    forbid_all(s)
    allow_answers(s, t)


@shared_rule
def answer(s: State, t: Tables, action: int) -> None:
    """Apply the answer to the pending decision, and end the action or power that it completes."""
    answered = s.decision
    apply_answer(s, t, action)
    if s.decision == NOTHING_ASKED and answered != Decision.DRAFT and s.finished[s.actor] == 0:
        turn.go_on_with_turn(s)


@shared_rule
def go_on(s: State, t: Tables) -> None:
    """Run until a decision is open. One legal answer is given at once: nobody sees what a turn does before its end."""
    for _ in range(_MOST_PARTS):
        if s.decision == NOTHING_ASKED:
            continue_round(s, t)
            continue
        legal(s, t)
        if s.decision == Decision.GAME_OVER:
            s.actor = NOBODY
            return
        choices = count_legal(s)
        if choices == 0:
            break
        if choices > 1:
            return
        answer(s, t, nth_legal(s, 0))
    give_up(s)


@rule
def continue_round(s: State, t: Tables) -> None:
    """The draft, everybody's turn, and then the next round."""
    if draft.is_drafting(s) and draft.continue_draft(s, t):
        return
    seat = turn.next_to_act(s)
    if seat != NOBODY:
        turn.begin_turn(s, seat)
        return
    seasons.end_round(s)
    if seasons.is_last_round_of_season(s, t):
        seasons.end_season(s, t)
    if s.round == s.rounds:
        seasons.score_fertility(s, t)
        ask(s, Decision.GAME_OVER, NOBODY)
        return
    seasons.begin_round(s, t)
    draft.deal(s)


@rule
def forfeit(s: State, seat: int) -> None:
    """The seat loses and the game ends, after an illegal action in an environment that treats it so."""
    s.forfeited = seat
    ask(s, Decision.GAME_OVER, NOBODY)
    forbid_all(s)
