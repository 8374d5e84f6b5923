"""The loop that plays the cells of a study, with the time left, and keeps their games."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from typing import NamedTuple, Unpack

import numpy as np

from tabletop_agents import Agent, Decisions, RandomAgent
from tabletop_engine.errors import TabletopError
from tabletop_engine.game import Config
from tabletop_engine.play.batch import Batch
from tabletop_engine.text.words import counted
from tabletop_training.files.job import Job
from tabletop_training.measure.cluster import opened
from tabletop_training.measure.evaluation import HERE, MAX_GAMES_AT_ONCE, GameBlock, Recording, Workers, play_games
from tabletop_training.measure.results import Results, concatenate
from tabletop_training.study.cells import ANEW, Cell
from tabletop_training.study.store import Store

_BAR_WIDTH = 40
"""The columns of a progress bar without the words beside it."""
_SAMPLE = 64
"""The number of random games that estimate the decisions of a game."""
_MOMENT = 0.3
"""The seconds that an agent must have played before its speed is trusted."""


def played(cell: Cell, store: Store) -> Results | None:
    """All games of a cell, by ascending seed; None if the store lacks some. Raises TabletopError for other games."""
    results, missing = _begun(cell, store)
    return None if results is None or missing else results.in_order()


def _begun(cell: Cell, store: Store | None) -> tuple[Results | None, list[GameBlock]]:
    """The games of a cell that are kept, and the blocks that are missing."""
    results, blocks = None if store is None else store.results(cell), cell.blocks
    if results is None:
        return None, blocks
    ends = np.cumsum([len(block) for block in blocks]).tolist()
    seeds = np.concatenate([block.seeds for block in blocks])
    if len(results) not in ends or not np.array_equal(results.seeds, seeds[: len(results)]):
        raise TabletopError(f"{cell.key}: the kept games are not those of this study; {ANEW}")
    return results, blocks[ends.index(len(results)) + 1 :]


def _seconds_a_game(agent: Agent, config: Config, games: int, decisions: float) -> float:
    """Seconds for a game of this many decisions, from the agent's first decisions in more and more games."""
    number, taken = 0, 0.0
    while taken < _MOMENT and number < min(games, MAX_GAMES_AT_ONCE):
        number = min(4 * number + 1, games, MAX_GAMES_AT_ONCE)
        asked = Decisions.of(Batch(config, number, 0))
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


def play_cells(
    job: Job,
    cells: Sequence[Cell],
    store: Store | None = None,
    workers: Workers | int = HERE,
    **recording: Unpack[Recording],
) -> Iterator[tuple[Cell, Results, str]]:
    """Play what the store lacks of the cells, in this order. Yields each cell, its games and the time left in words.

    The store gets the games after each block, so a stop or a kill loses at most one. Cells that it has completely are
    left out. The total time is printed before the first game, and the time left beside a progress bar. They are
    estimated first from a few timed decisions of each agent, then from its games. `workers` play, as in
    `tabletop_training.measure.matches.evaluate`. Raises Stopped after Ctrl-C.
    """
    parts: list[_Part] = []
    for cell in cells:
        results, blocks = _begun(cell, store)
        if blocks and recording.get("record_actions"):  # replays need the actions of all games, and these are not kept
            results, blocks = None, cell.blocks
        if blocks:
            parts.append(_Part(cell, results, blocks))
    if parts:
        with opened(workers) as players:
            yield from _play_parts(job, parts, store, players, **recording)


class _Part(NamedTuple):
    """What is missing of a cell."""

    cell: Cell
    before: Results | None
    blocks: list[GameBlock]

    @property
    def games(self) -> int:
        return sum(map(len, self.blocks))


def _play_parts(
    job: Job, parts: Sequence[_Part], store: Store | None, workers: Workers, **recording: Unpack[Recording]
) -> Iterator[tuple[Cell, Results, str]]:
    lengths: dict[int, np.ndarray] = {}  # decisions of some games, by number of players
    paces: dict[tuple[str, int], float] = {}  # seconds a game, by agent and number of players

    def seconds(some: Iterable[_Part]) -> float:
        own = sum(one.games * paces[agent.name, one.cell.config.players] for one in some for agent in one.cell.agents)
        return own / workers.number

    def watching(part: _Part, later: Sequence[_Part]) -> Callable[[], bool]:
        """A function to call again and again during this cell: it shows the time left and returns whether to stop.

        A single worker calls it at each step. The progress of several workers is known less exactly.
        """
        start, own, rest, steps = time.perf_counter(), seconds([part]), seconds(later), itertools.count(1)
        all_steps = int(lengths[part.cell.config.players].max()) * math.ceil(part.games / MAX_GAMES_AT_ONCE)
        who = " against ".join(dict.fromkeys(agent.name for agent in part.cell.agents))

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
        for part in parts:
            config = part.cell.config
            if config.players not in lengths:
                random = [RandomAgent()] * config.players
                lengths[config.players] = play_games(random, config, _SAMPLE, 0).lengths
            for agent in part.cell.agents:
                if (agent.name, config.players) not in paces:
                    decisions = lengths[config.players].mean() / config.players
                    paces[agent.name, config.players] = _seconds_a_game(agent, config, part.games, decisions)
    number = counted(sum(part.games for part in parts), "game")
    job.console.print(f"{number}: this takes {about(seconds(parts))} in all.")
    began = time.perf_counter()
    watch: Callable[[], bool] = job.should_stop
    blocks = itertools.chain.from_iterable(part.blocks for part in parts)
    playing = workers.play(blocks, should_stop=lambda: watch(), **recording)
    with job.bar("playing", 1.0) as bar, closing(playing):
        for index, part in enumerate(parts):
            later, start, results = parts[index + 1 :], time.perf_counter(), part.before
            watch = watching(part, later)
            thought = np.zeros(len(part.cell.agents))
            for _ in part.blocks:
                block = next(playing)
                thought += block.seconds
                results = block if results is None else concatenate([results, block])
                if store is not None:
                    store.keep(part.cell, results)
            assert results is not None
            # several workers overlap: what the agents thought is the best measure of a cell's own time
            taken = time.perf_counter() - start if workers.number == 1 else max(thought.sum(), 1e-9)
            for agent, own in zip(part.cell.agents, thought, strict=True):
                pace = taken / part.games / max(thought.sum(), 1e-9) * float(own)
                paces[agent.name, part.cell.config.players] = pace
            yield part.cell, results.in_order(), f"{about(seconds(later))} left in all".capitalize()
