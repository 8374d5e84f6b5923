"""Advice: what an agent says about one decision, and about a whole game that it reviews."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError, IllegalAction
from tabletop_engine.game import Config
from tabletop_engine.play.agents import CHANCE_TO_WIN, POINTS, POINTS_AHEAD, Agent, Decisions, ask, assess
from tabletop_engine.play.batch import Batch, legal_actions
from tabletop_engine.play.names import agents_of
from tabletop_engine.record import FORFEIT
from tabletop_engine.replays.replay import Replay
from tabletop_engine.replays.reviews import Moment, Point, Review
from tabletop_engine.seeds import Stream, generator
from tabletop_play.preview import Preview, preview
from tabletop_play.session import PERSON


@dataclass(frozen=True)
class Advice:
    """What an agent says about a decision. Results are those of the actor."""

    agent: str
    shares: Mapping[int, float]  # by legal action, with a sum of 1; {} from an agent that only names an action
    meaning: str  # what a share is, such as "share of its simulations"; "" without shares
    best: int  # the action that it would play
    estimates: Mapping[int, float]  # what it expects after an action, as far as it can tell
    estimate: float | None  # what it expects with best play
    estimated: str  # what the estimates are, such as "chance to win"; "" without estimates


@checked
def advise(agent: Agent, decisions: Decisions, generator: np.random.Generator) -> Advice:
    """What the agent says about one decision. It looks at the decision once: a search searches once.

    Raises IllegalAction for a wrong answer of the agent (`tabletop_engine.play.agents.assess`), and what the agent
    raises.
    """
    assert len(decisions) == 1
    assessment = assess(agent, decisions, generator)
    legal = np.flatnonzero(decisions.action_masks[0]).tolist()
    values = {} if assessment.values is None else {one: float(assessment.values[0, one]) for one in legal}
    value = np.nan if assessment.value is None else float(assessment.value[0])
    return Advice(
        agent=agent.name,
        shares={} if assessment.shares is None else {one: float(assessment.shares[0, one]) for one in legal},
        meaning=assessment.meaning,
        best=int(assessment.actions[0]),
        estimates={one: given for one, given in values.items() if not np.isnan(given)},
        estimate=None if np.isnan(value) else value,
        estimated=assessment.estimated,
    )


MOST_ANSWERS = 12
"""The most answers of a continuation."""


@checked
def continued(
    agent: Agent, config: Config, state: Any, actions: Sequence[int], generator: np.random.Generator
) -> Preview:
    """How an agent would go on after some answers: as long as the same player is asked, and nothing unknown happens.

    It is a preview of all these answers (`tabletop_play.preview`), so it shows nothing that the player can't know.

    Arguments:
        agent: it answers each question once.
        state: one record.
        actions: the first answers, at least one.

    Raises IllegalAction for what the rules don't take and for a wrong answer of the agent, and what the agent raises.
    """
    batch, given = Batch(config, 1, autoreset="disabled"), list(actions)
    redraws = generator.spawn(1)[0]
    while True:
        found = preview(config.game, state, given, batch.tables, copy.deepcopy(redraws))  # each time the same
        if not found.is_whole or len(given) >= MOST_ANSWERS:
            return found
        batch.set_states(np.array([found.state]))
        given.append(int(ask(agent, Decisions.of(batch), generator)[0]))


def estimate_text(estimate: float, estimated: str) -> str:
    """An estimate in readable form: a chance as "83.1%", points ahead as "+4.2"."""
    if estimated == CHANCE_TO_WIN:
        return f"{estimate:.1%}"
    if estimated == POINTS_AHEAD:
        return f"{estimate:+.1f}"
    return f"{estimate:.1f}" if estimated == POINTS else f"{estimate:.3g}"


# --- A game in review ------------------------------------------------------------------------------------------------


@checked
def review(
    replay: Replay,
    agent: Agent | str,
    seats: Collection[int] | None = None,
    *,
    seed: int = 0,
    on_part: Callable[[Review], None] = lambda part: None,
) -> Review:
    """Let an agent look back at a game, finished or not, and say where other answers would have been better.

    The agent looks at each decision with at least two legal answers, as its actor saw it. The first look says what the
    agent itself would play. If that differs from what was played, the agent judges each of the two answers in a
    separate look, as if there were no other answer (`Decisions.only`), with the same random numbers. Each answer thus
    gets all simulations of a search, even if the first look hardly tried it. It also means that the agent's choice is
    not overrated because of the luck that made it look best. A drop is what one answer cost; the chance that followed
    does not count. If the second looks find the agent's choice no better, nothing was given away.

    Arguments:
        agent: an object, or a name for `tabletop_agents.make_agent`.
        seats: whose decisions; None: those of all people in the replay, or of everybody if there are no people.
        seed: of the agent's own randomness, separate for each decision.
        on_part: called with the review so far: first with no decision, then after each one. It may raise to end the
            review.

    Raises ConfigError for a seat that does not exist, for an agent that cannot play this game, and for an agent that
    has no estimates for single answers; also whatever the agent raises.
    """
    (judge,) = agents_of([agent], replay.config, "agent")
    if seats is None:
        people = [seat for seat, name in enumerate(replay.names) if name == PERSON]
        seats = people or range(replay.config.players)
    for seat in seats:
        replay.check_seat(seat)
    batch = Batch(replay.config, 1, autoreset="disabled")
    curve: list[Point] = []
    moments: list[Moment] = []
    estimated = ""
    steps = [step for step, action in enumerate(replay.actions) if _is_choice(replay, step, action, seats)]

    def so_far() -> Review:
        dearest = sorted(moments, key=lambda moment: -moment.drop)
        return Review(judge.name, estimated, tuple(seats), len(steps), tuple(curve), tuple(dearest))

    on_part(so_far())
    for step in steps:
        batch.set_states(replay.states[step : step + 1])
        decisions, played, actor = Decisions.of(batch), replay.actions[step], int(replay.states[step]["actor"])
        advice = advise(judge, decisions, generator(seed, Stream.AGENTS, step))
        estimate = _estimate(advice, advice.best)  # also raises if it has none
        estimated = advice.estimated
        if advice.best != played:
            best, estimate = (judged(judge, decisions, one, step, seed=seed) for one in (advice.best, played))
            if best > estimate:
                moments.append(Moment(step, actor, played, advice.best, estimate, best))
        curve.append(Point(step, actor, estimate))
        on_part(so_far())
    return so_far()


@checked
def judged(agent: Agent, decisions: Decisions, action: int, step: int, *, seed: int = 0) -> float:
    """What an agent expects after one answer to a decision, as in a review: as if there were no other answer.

    Answers to the same decision are judged with the same random numbers, so their estimates can be compared with each
    other and with those of `review`.

    Arguments:
        decisions: the one decision.
        action: a legal answer.
        step: how many actions were before the decision.
        seed: as for `review`.

    Raises ConfigError for an agent that has no estimates for single answers, IllegalAction for an answer that is not
    legal; also whatever the agent raises.
    """
    if not 0 <= action < decisions.action_masks.shape[1] or not decisions.action_masks[0, action]:
        raise IllegalAction(f"action {action}: not a legal answer to this decision")
    only = decisions.only(np.array([action]))
    return _estimate(advise(agent, only, generator(seed, Stream.AGENTS, step, 1)), action)


def _is_choice(replay: Replay, step: int, action: int, seats: Collection[int]) -> bool:
    """Whether one of these seats had a choice of several legal answers at that decision."""
    state = replay.states[step]
    return action != FORFEIT and int(state["actor"]) in seats and len(legal_actions(state)) > 1


def _estimate(advice: Advice, action: int) -> float:
    if action not in advice.estimates:
        raise ConfigError(f"agent {advice.agent!r}: it has no estimates for single answers; use a search")
    return advice.estimates[action]
