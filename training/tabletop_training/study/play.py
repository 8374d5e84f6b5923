"""The loop that plays the cells of a study block by block, keeps their games and tells the time left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from typing import NamedTuple, Self, Unpack

import numpy as np

from tabletop_agents import Agent, Decisions, RandomAgent
from tabletop_engine.errors import TabletopError
from tabletop_engine.game import Config
from tabletop_engine.play.batch import Batch
from tabletop_engine.text.words import counted
from tabletop_training.files.job import Job
from tabletop_training.measure.cluster import opened
from tabletop_training.measure.evaluation import (
    HERE,
    MAX_GAMES_AT_ONCE,
    GameBlock,
    Playing,
    Recording,
    Workers,
    play_games,
)
from tabletop_training.measure.results import Results, concatenate
from tabletop_training.study.cells import ANEW, Cell
from tabletop_training.study.store import Store

_BAR_WIDTH = 40
"""The columns of a progress bar without the words beside it."""
_SAMPLE = 64
"""The number of random games that estimate the decisions of a game."""
_MOMENT = 0.1
"""The seconds that an agent must have played before its speed is trusted."""


class Played(NamedTuple):
    """A block of a cell that was just played.

    Attributes:
        block: its games. results: all games of the cell so far, in the order in which they were played.
        complete: whether these are all.
        left: the time left for all blocks, in words; "" without a job.
    """

    cell: Cell
    block: Results
    results: Results
    complete: bool
    left: str


class _Step(NamedTuple):
    """A block that is to be played: the `number`th of its cell."""

    cell: Cell
    number: int
    block: GameBlock


def played(cell: Cell, store: Store) -> Results | None:
    """All games of a cell, by ascending seed; None if the store lacks some. Raises TabletopError for other games."""
    results, missing = begun(cell, store)
    return None if results is None or missing else results.in_order()


def begun(cell: Cell, store: Store | None) -> tuple[Results | None, list[GameBlock]]:
    """The games of a cell that are kept, None for none, and the blocks that are missing.

    Raises TabletopError for other games.
    """
    results, blocks = None if store is None else store.results(cell), cell.blocks
    if results is None:
        return None, blocks
    ends = np.cumsum([len(block) for block in blocks]).tolist()
    seeds = np.concatenate([block.seeds for block in blocks])
    if len(results) not in ends or not np.array_equal(results.seeds, seeds[: len(results)]):
        raise TabletopError(f"{cell.key}: the kept games are not those of this study; {ANEW}")
    return results, blocks[ends.index(len(results)) + 1 :]


def play_blocks(
    cells: Sequence[Cell],
    store: Store | None = None,
    workers: Workers | int = HERE,
    *,
    in_turns: bool = False,
    job: Job | None = None,
    note: Callable[[], str] | None = None,
    **playing: Unpack[Playing],
) -> Generator[Played, None, None]:
    """Play what the store lacks of the cells, block by block: cell after cell, or `in_turns` a block of each.

    The store gets the games after each block, so a stop or a kill loses at most one. Cells that it has completely are
    left out. A cell that was begun is played anew if replays are recorded and it does not keep actions. `workers` play
    the blocks, as in `tabletop_training.measure`.

    In a job the total time is printed before the first game, and the time left beside a progress bar, with `note` or
    the agents' names; Ctrl-C stops the games. Raises EvaluationStopped.
    """
    steps: list[_Step] = []
    so_far: dict[Cell, Results] = {}
    for cell in cells:
        results, blocks = begun(cell, store)
        if blocks and playing.get("record_actions") and not cell.actions:
            results, blocks = None, cell.blocks
        if blocks and results is not None:
            so_far[cell] = results
        steps += (_Step(cell, number, block) for number, block in enumerate(blocks, len(cell.blocks) - len(blocks)))
    if not steps:
        return
    if any(step.cell.actions for step in steps):
        playing["record_actions"] = True
    if in_turns:
        steps.sort(key=lambda step: step.number)
    last = {step.cell: step for step in steps}
    with ExitStack() as stack:
        players = stack.enter_context(opened(workers))
        time_left = None
        if job is not None:
            time_left = stack.enter_context(_TimeLeft(job, steps, players.number, note))
            playing["should_stop"] = time_left.step
        stream = stack.enter_context(closing(players.play((step.block for step in steps), **playing)))
        for step in steps:
            block, cell = next(stream), step.cell
            so_far[cell] = results = concatenate([so_far[cell], block]) if cell in so_far else block
            if store is not None:
                store.keep(cell, step.number, block)
            left = "" if time_left is None else time_left.after(block)
            yield Played(cell, block, results, step is last[cell], left)


def play_cells(
    job: Job,
    cells: Sequence[Cell],
    store: Store | None = None,
    workers: Workers | int = HERE,
    **recording: Unpack[Recording],
) -> Generator[tuple[Cell, Results, str], None, None]:
    """Play what the store lacks of the cells in a job, as `play_blocks`.

    Yields each cell with all its games by ascending seed, and the time left in words.
    """
    for one in play_blocks(cells, store, workers, job=job, **recording):
        if one.complete:
            yield one.cell, one.results.in_order(), one.left


def finished_cells(
    job: Job, cells: Sequence[Cell], store: Store, workers: Workers | int = HERE, **recording: Unpack[Recording]
) -> dict[Cell, Results]:
    """The games of the cells that are complete: those of the store, and what `play_cells` plays until it is stopped."""
    done = {cell: results for cell in cells if (results := played(cell, store)) is not None}
    with job.until_stopped():
        for cell, results, _ in play_cells(job, cells, store, workers, **recording):
            done[cell] = results
    return done


def about(seconds: float) -> str:
    """`about 12 minutes`, `less than a minute`."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    return f"about {counted(minutes, 'minute')}" if minutes < 120 else f"about {minutes / 60:.0f} hours"


class _TimeLeft(AbstractContextManager["_TimeLeft"]):
    """The time that blocks still take, in seconds and beside a progress bar.

    It is what each agent needs for a game times the games: at first estimated, then measured.
    """

    def __init__(self, job: Job, steps: Sequence[_Step], workers: int, note: Callable[[], str] | None) -> None:
        self._job, self._steps, self._workers, self._note = job, steps, workers, note
        self._lengths: dict[int, np.ndarray] = {}  # decisions of some games, by number of players
        self._paces: dict[tuple[str, int], float] = {}  # seconds a game, by agent and number of players
        self._taken: Counter[tuple[str, int]] = Counter()  # seconds, by agent and number of players
        self._done: Counter[tuple[str, int]] = Counter()  # games that were played
        self._games = sum((_games_of(step) for step in steps), Counter[tuple[str, int]]())  # to be played
        self._next, self._calls = 0, 0
        self._progress = job.bar("playing", 1.0)

    def __enter__(self) -> Self:
        with self._job.console.status("estimating how long this takes"):
            for step in self._steps:
                self._estimate(step.cell)
        number = counted(sum(len(step.block) for step in self._steps), "game")
        self._job.console.print(f"{number}: this takes {about(self.seconds)} in all.")
        self._bar = self._progress.__enter__()
        self._began = self._start = time.perf_counter()
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        if kind in (None, GeneratorExit):  # all is played, or the caller has seen enough
            self._bar.show("", 1.0)
        self._progress.__exit__(None, None, None)

    @property
    def seconds(self) -> float:
        """What the blocks take that have not been played."""
        return self._seconds_of(self._games)

    def step(self) -> bool:
        """Show the time left; returns whether to stop. Called again and again while a block is played.

        A single worker calls it at each step. The progress of several workers is known less exactly.
        """
        if self._next < len(self._steps):
            self._calls += 1
            now, step = time.perf_counter(), self._steps[self._next]
            taken, done = now - self._start, min(self._calls / self._lengths[step.cell.config.players].max(), 0.99)
            own = self._seconds_of(_games_of(step))
            left = self.seconds - own
            left += taken * (1 - done) / done if self._workers == 1 and done > 0.1 else max(own - taken, 0.0)
            who = " against ".join(dict.fromkeys(agent.name for agent in step.cell.agents))
            status = f"{about(left)} left in all; {(self._note or str)() or who}"[
                : self._job.console.width - _BAR_WIDTH
            ]
            self._bar.show(status, (now - self._began) / max(now - self._began + left, 1e-9))
        return self._job.should_stop()

    def after(self, block: Results) -> str:
        """Measure the agents' paces by the block that was just played; returns the time left in words."""
        step, now = self._steps[self._next], time.perf_counter()
        games = _games_of(step)
        # several workers overlap: what the agents thought is the best measure of a block's own time
        taken = now - self._start if self._workers == 1 else max(block.seconds.sum(), 1e-9)
        for agent, seconds in zip(step.cell.agents, block.seconds, strict=True):
            self._taken[agent.name, step.cell.config.players] += taken * seconds / max(block.seconds.sum(), 1e-9)
        for key, number in games.items():
            self._done[key] += number
            self._paces[key] = self._taken[key] / max(self._done[key], 1)
        self._games -= games
        self._next, self._calls, self._start = self._next + 1, 0, now
        return f"{about(self.seconds)} left in all".capitalize()

    def _seconds_of(self, games: Counter[tuple[str, int]]) -> float:
        return sum(number * self._paces[key] for key, number in games.items()) / self._workers

    def _estimate(self, cell: Cell) -> None:
        """Estimate the paces of a cell's agents from their first decisions."""
        config = cell.config
        if config.players not in self._lengths:
            random = [RandomAgent()] * config.players
            sample = play_games(random, config, _SAMPLE, 0, should_stop=self._job.should_stop)
            self._lengths[config.players] = sample.lengths
        for agent in cell.agents:
            if (agent.name, config.players) not in self._paces:
                decisions = self._lengths[config.players].mean() / config.players
                # a model is not asked for nothing, so its time is known only when it has played
                pace = 0.0 if hasattr(agent, "usage") else _seconds_a_game(agent, config, cell.games, decisions)
                self._paces[agent.name, config.players] = pace


def _games_of(step: _Step) -> Counter[tuple[str, int]]:
    """How many games of a block each agent plays, by its name and the number of players."""
    config, agents = step.cell.config, step.cell.agents
    numbers = np.bincount(step.block.lineups.ravel(), minlength=len(agents)).tolist()
    games: Counter[tuple[str, int]] = Counter()
    for agent, number in zip(agents, numbers, strict=True):
        games[agent.name, config.players] += number
    return games


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
