"""Recorded games whose names would break a careless page, and reviews of them."""

from __future__ import annotations

import numpy as np

from petrichor_env import Batch, Config
from petrichor_env.state import Decision
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.replays.replay import Replay
from tabletop_engine.replays.reviews import Moment, Point, Review

SEED = 5
NASTY = "</script><script>document.title='broken'</script><!-- {{data}} &amp;"
QUOTES = "\"'><img src=x onerror=alert(1)>"


def badly_named() -> Replay:
    """Two players with names that would break a careless page, and probabilities of the first one's actions."""
    return replay_of(Config(players=2), (NASTY, QUOTES), shares=True)


def replay_of(config: Config, names: tuple[str, ...] | None = None, shares: bool = False, most: int = 10_000) -> Replay:
    """A game of random actions. With `shares` seat 0's have probabilities: 0.5 for the action, the rest shared."""
    batch = Batch(config, seed=SEED, autoreset="disabled", illegal_action="raise")
    generator = np.random.default_rng(SEED)
    actions: list[int] = []
    given: list[dict[int, float]] = []
    while len(actions) < most and batch.states[0]["decision"] != Decision.GAME_OVER:
        legal = legal_actions(batch.states[0])
        actions.append(int(generator.choice(legal)))
        others = [action for action in legal if action != actions[-1]]
        known = shares and batch.states[0]["actor"] == 0
        given.append({actions[-1]: 0.5, **{action: 0.5 / len(others) for action in others}} if known else {})
        batch.step([actions[-1]])
    return Replay.of(config, SEED, actions, names=names, probabilities=given if shares else ())


def review_of(replay: Replay, estimated: str = "chance to win") -> Review:
    """A made-up review: the chance falls, and at every second decision of player_0 another answer was better."""
    actors = replay.states["actor"][:-1].tolist()
    steps = [step for step, state in enumerate(replay.states[:-1]) if len(legal_actions(state)) > 1]
    curve = tuple(Point(step, actors[step], 1 - step / len(actors)) for step in steps)
    moments = []
    for one in [point for point in curve if point.seat == 0][::2]:
        better = next(a for a in legal_actions(replay.states[one.step]).tolist() if a != replay.actions[one.step])
        moments.append(Moment(one.step, 0, replay.actions[one.step], better, one.estimate, one.estimate + 0.1))
    return Review(NASTY, estimated, (0, 1), len(steps), curve, tuple(moments))
