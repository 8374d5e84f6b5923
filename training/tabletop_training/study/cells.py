"""Many games one after the other, with the time left; and hashes that show whether saved games had other rules."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from tabletop_agents import Agent, Decisions, RandomAgent
from tabletop_engine.game import Config
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.tables import Boxes
from tabletop_engine.text.words import counted
from tabletop_training.files.job import Job
from tabletop_training.measure.cluster import opened
from tabletop_training.measure.evaluation import (
    HERE,
    MAX_GAMES_AT_ONCE,
    GameBlock,
    Recording,
    Workers,
    blocks_of,
    play_games,
)
from tabletop_training.measure.matches import rotations, seeds_for
from tabletop_training.measure.results import Results, concatenate

SEARCH_AGENTS = ("rollout", "ismcts", "openspiel", "search")
"""The first words of agents' names that should play fewer games: their decisions take thousands of times longer."""

_BAR_WIDTH = 40
"""The columns of a progress bar without the words beside it."""
_SAMPLE = 64
"""The number of random games that estimate the decisions of a game."""
_MOMENT = 0.3
"""The seconds that an agent must have played before its speed is trusted."""


@dataclass(frozen=True)
class Match:
    """Games to be played on consecutive seeds, with the agents in every rotation of the seats.

    Without `rotate` each seed is played once, with agent i in seat i.
    """

    agents: Sequence[Agent]
    config: Config
    games: int
    boxes: Boxes | None = None
    rotate: bool = True

    def blocks(self, seed: int) -> list[GameBlock]:
        """The games from this seed on, in blocks, as `play_rounds` plays them.

        Games of one box stand together, because agents reuse what they computed from the same numbers.
        """
        lineups = rotations(self.config.players)[: None if self.rotate else 1]
        seeds = np.arange(seed, seed + seeds_for(self.games, len(lineups)))
        if self.boxes is not None:
            number = self.boxes if isinstance(self.boxes, int) else len(self.boxes)
            seeds = seeds[np.argsort(seeds % number, kind="stable")]
        return blocks_of(self.agents, self.config, seeds, lineups, self.boxes)


def _seconds_a_game(agent: Agent, match: Match, decisions: float) -> float:
    """Seconds for a game of this many decisions, from the agent's first decisions in more and more games."""
    number, taken = 0, 0.0
    while taken < _MOMENT and number < min(match.games, MAX_GAMES_AT_ONCE):
        number = min(4 * number + 1, match.games, MAX_GAMES_AT_ONCE)
        asked = Decisions.of(Batch(match.config, number, 0))
        start = time.perf_counter()
        agent.act(asked, np.random.default_rng(0))
        taken = time.perf_counter() - start
    return decisions * taken / number


def about(seconds: float) -> str:
    """`about 12 minutes`, `less than a minute`."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    return f"about {counted(minutes, 'minute')}" if minutes < 120 else f"about {minutes / 60:.0f} hours"


def play_all(
    job: Job, matches: Sequence[Match], seed: int, workers: Workers | int = HERE, **recording: Unpack[Recording]
) -> Iterator[tuple[Results, str]]:
    """Play all matches in this order, each from `seed` on. Yields the results one by one, with the time left in words.

    The total time is printed before the first game, and the time left beside a progress bar. They are estimated first
    from a few timed decisions of each agent, then from its games. `workers` play, as in
    `tabletop_training.measure.matches.evaluate`. Raises Stopped after Ctrl-C.
    """
    if matches:
        with opened(workers) as players:
            yield from _play_all(job, matches, seed, players, **recording)


def _play_all(
    job: Job, matches: Sequence[Match], seed: int, workers: Workers, **recording: Unpack[Recording]
) -> Iterator[tuple[Results, str]]:
    lengths: dict[int, np.ndarray] = {}  # decisions of some games, by number of players
    paces: dict[tuple[str, int], float] = {}  # seconds a game, by agent and number of players

    def seconds(some: Iterable[Match]) -> float:
        own = sum(match.games * paces[agent.name, match.config.players] for match in some for agent in match.agents)
        return own / workers.number

    def watching(match: Match, later: Sequence[Match]) -> Callable[[], bool]:
        """A function to call again and again during this match: it shows the time left and returns whether to stop.

        A single worker calls it at each step. The progress of several workers is known less exactly.
        """
        start, own, rest, steps = time.perf_counter(), seconds([match]), seconds(later), itertools.count(1)
        all_steps = int(lengths[match.config.players].max()) * math.ceil(match.games / MAX_GAMES_AT_ONCE)
        who = " against ".join(dict.fromkeys(agent.name for agent in match.agents))

        def step() -> bool:
            now, done = time.perf_counter(), min(next(steps) / all_steps, 0.99)
            taken = now - start
            steady = workers.number == 1 and done > 0.1
            left = rest + (taken * (1 - done) / done if steady else max(own - taken, 0.0))
            status = f"{about(left)} left in all; {who}"[: job.console.width - _BAR_WIDTH]
            bar.show(status, (now - began) / max(now - began + left, 1e-9))
            return job.should_stop()

        return step

    with job.console.status("estimating how long this takes"):
        for match in matches:
            players = match.config.players
            if players not in lengths:
                lengths[players] = play_games([RandomAgent()] * players, match.config, _SAMPLE, 0).lengths
            for agent in match.agents:
                if (agent.name, players) not in paces:
                    paces[agent.name, players] = _seconds_a_game(agent, match, lengths[players].mean() / players)
    number = counted(sum(match.games for match in matches), "game")
    job.console.print(f"{number}: this takes {about(seconds(matches))} in all.")
    began = time.perf_counter()
    parts = [match.blocks(seed) for match in matches]
    watch: Callable[[], bool] = job.should_stop
    played = workers.play(itertools.chain(*parts), should_stop=lambda: watch(), **recording)
    with job.bar("playing", 1.0) as bar, closing(played):
        for index, match in enumerate(matches):
            later, start = matches[index + 1 :], time.perf_counter()
            watch = watching(match, later)
            result = concatenate([next(played) for _ in parts[index]]).in_order()
            thought = max(result.seconds.sum(), 1e-9)
            taken = time.perf_counter() - start if workers.number == 1 else thought
            for agent, part in zip(match.agents, result.seconds, strict=True):
                paces[agent.name, match.config.players] = taken / match.games / thought * float(part)
            yield result, f"{about(seconds(later))} left in all".capitalize()


def is_search(agent: str) -> bool:
    """Whether an agent of this name is a search, which should play fewer games."""
    return agent.startswith(SEARCH_AGENTS)
