"""A look back at a game: at which decisions most was given away, as an agent sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tabletop.agents import Agent, Decisions, check_agents
from tabletop.batch import Batch, legal_actions
from tabletop.errors import ConfigError
from tabletop.record import FORFEIT
from tabletop.replays.replay import Replay
from tabletop_agents.play.advice import advise
from tabletop_agents.play.session import PERSON


@dataclass(frozen=True)
class Moment:
    """A decision that something was given away at."""

    step: int  # how many actions were before it
    seat: int
    action: int  # what was played
    better: int  # what the agent would have played
    estimate: float  # what it expects after what was played
    best: float  # what it expects after the better action

    @property
    def drop(self) -> float:
        """How much was given away; above 0."""
        return self.best - self.estimate


@dataclass(frozen=True)
class Review:
    """What an agent says of a game's decisions."""

    agent: str
    estimated: str  # what the estimates are, such as "chance to win"; "" where there was no decision
    seats: tuple[int, ...]  # whose decisions it looked at
    decisions: int  # how many these were
    moments: tuple[Moment, ...]  # the largest drop first


def review(
    replay: Replay,
    agent: Agent,
    seat: int | None = None,
    *,
    seed: int = 0,
    on_finished: Callable[[int, int], None] = lambda done, of: None,
) -> Review:
    """Let an agent look back at a game, finished or not, and say where other answers would have been better.

    It looks at each decision with at least two legal answers, as its actor sees it. A first look says what it would
    play itself. Where that is something else, it judges both answers in looks of their own, each as if there were no
    other answer (`Decisions.only`), with the same random numbers. So both have all of a search's simulations, however
    few of the first look's went through what was played; and what the agent chose is not flattered by the luck it was
    chosen by. A drop says what one answer cost, not what chance then brought. Where the second looks find nothing
    better about the agent's choice, nothing was given away.

    Arguments:
        seat: whose decisions; None: those of all people in the replay, or of everybody where there are none.
        seed: of the agent's own randomness, apart for each decision.
        on_finished: told how many decisions are done, of how many; at the beginning, too. It may raise to end this.

    Raises ConfigError for a seat that there isn't, for an agent that can't play this, and for one that does not say
    what it expects after single answers; else what the agent raises.
    """
    replay.check_seat(seat)
    check_agents([agent], replay.config)
    people = [number for number, name in enumerate(replay.names) if name == PERSON]
    seats = [seat] if seat is not None else people or list(range(replay.config.players))
    batch = Batch(replay.config, 1, autoreset="disabled")
    moments, estimated = [], ""
    steps = [step for step, action in enumerate(replay.actions) if _is_choice(replay, step, action, seats)]
    on_finished(0, len(steps))
    for done, step in enumerate(steps, 1):
        batch.set_states(replay.states[step : step + 1])
        decisions, played = Decisions.of(batch), replay.actions[step]
        advice = advise(agent, decisions, np.random.default_rng([seed, step]))
        if advice.best not in advice.estimates:
            raise ConfigError(f"agent {agent.name!r}: it says nothing of single answers; take one that searches")
        estimated = advice.estimated
        if advice.best != played:
            best, estimate = (_estimate(agent, decisions, one, [seed, step, 1]) for one in (advice.best, played))
            if best > estimate:
                actor = int(replay.states[step]["actor"])
                moments.append(Moment(step, actor, played, advice.best, estimate, best))
        on_finished(done, len(steps))
    moments.sort(key=lambda moment: -moment.drop)
    return Review(agent.name, estimated, tuple(seats), len(steps), tuple(moments))


def _is_choice(replay: Replay, step: int, action: int, seats: list[int]) -> bool:
    """Whether one of these seats chose there among several legal answers."""
    state = replay.states[step]
    return action != FORFEIT and int(state["actor"]) in seats and len(legal_actions(state)) > 1


def _estimate(agent: Agent, decisions: Decisions, action: int, seed: list[int]) -> float:
    """What the agent expects after one answer, as if there were no other."""
    alone = decisions.only(np.array([action]))
    return advise(agent, alone, np.random.default_rng(seed)).estimates[action]
