"""Several processes that play, on this machine or on a Ray cluster. The games are the same as those of one process.

A block (`tabletop_training.measure.evaluation`) goes to any free process, and results come back in the order of the
blocks. If a process dies, another one plays its block again.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import signal
import threading
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context, parent_process
from typing import Any, Generic, NamedTuple, Self, TypeVar, Unpack

from tabletop_engine.checks import whole
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.game import Config
from tabletop_engine.play.agents import Agent
from tabletop_engine.play.batch import usable_cores, use_cores
from tabletop_training.measure.evaluation import (
    EvaluationStopped,
    GameBlock,
    Playing,
    Recording,
    Workers,
    get_ready,
    play_lineups,
)
from tabletop_training.measure.results import Results

AHEAD = 8
"""Blocks per worker that are being played, or wait for an earlier block that takes longer."""
TRIES = 5
"""How often a block is tried if its worker dies."""
MOST = 10_000
"""The largest number of workers."""
_LOOK = 0.2
"""Seconds between two checks whether to stop."""

Handle = TypeVar("Handle", bound=Hashable)


class Task(NamedTuple):
    """A block for another process, which may be on another machine.

    agents: the block's agents, pickled. key: identifies them, so that a worker loads them once for many blocks.
    block: without its agents. version: of the game.
    """

    agents: bytes
    key: str
    block: GameBlock
    recording: Recording
    version: tuple[Any, ...]


def version_of(config: Config) -> tuple[Any, ...]:
    """The versions that must be the same on all machines."""
    return (config.game.name, config.game.version, config.game.rules_version, config.game.layout_hash)


_ready: dict[tuple[str, Config], Sequence[Agent]] = {}
"""In a worker: the agents that played last, by `Task.key`, which includes the configuration."""
_MOST_READY = 4


def play_task(task: Task, agents: Callable[[], bytes], should_stop: Callable[[], bool] | None = None) -> Results:
    """Play a task in a worker; `agents` fetches the pickled agents if this worker has not loaded them before.

    Raises what `play_lineups` raises, and ConfigError if another version of the game is installed here.
    """
    block = task.block
    if (own := version_of(block.config)) != task.version:
        raise ConfigError(f"a machine of the cluster has another version of the game: {own} instead of {task.version}")
    key = (task.key, block.config)
    if key not in _ready:
        made: Sequence[Agent] = pickle.loads(agents())
        get_ready(made, block.config)
        while len(_ready) >= _MOST_READY:
            del _ready[next(iter(_ready))]
        _ready[key] = made
    playing: Any = {"should_stop": should_stop, **task.recording}
    return play_lineups(_ready[key], block.config, block.seeds, block.lineups, block.editions, **playing)


def _tasks(blocks: Iterable[GameBlock], recording: Recording) -> Iterator[Task]:
    """The blocks as tasks. Agents of several blocks are pickled once."""
    known: dict[int, tuple[Sequence[Agent], bytes, str]] = {}  # by the identity of the agents
    for block in blocks:
        if id(block.agents) not in known:
            try:
                pickled = pickle.dumps(block.agents)
            except (pickle.PicklingError, TypeError, AttributeError) as error:
                names = ", ".join(agent.name for agent in block.agents)
                raise ConfigError(f"agents {names}: can't be sent to another process ({error})") from None
            known[id(block.agents)] = (block.agents, pickled, hashlib.sha256(pickled).hexdigest())
        _, pickled, key = known[id(block.agents)]
        yield Task(pickled, key, replace(block, agents=()), recording, version_of(block.config))


class SeveralWorkers(Workers, Generic[Handle]):
    """The common part of processes and clusters: it hands out blocks and returns results in order.

    `at_once` is the number of blocks that are handed out at a time.
    """

    def __init__(self, number: int) -> None:
        self.number = self.at_once = whole("workers", number, 1, MOST)
        self.is_open = False

    @abstractmethod
    def start(self, task: Task) -> Handle:
        """Start a task."""

    @abstractmethod
    def finished(self, handles: Collection[Handle], seconds: float) -> Collection[Handle]:
        """The finished tasks. Waits until there is one, for at most this many seconds."""

    @abstractmethod
    def result(self, handle: Handle) -> Results | None:
        """The result of a task, None if its worker died. Raises what `play_task` raises."""

    @abstractmethod
    def stop(self, handles: Collection[Handle]) -> None:
        """Stop these tasks."""

    def play(self, blocks: Iterable[GameBlock], **playing: Unpack[Playing]) -> Generator[Results, None, None]:
        """Yield the results of the blocks, in their order. Raises what `play_lineups` raises.

        `should_stop` is asked a few times a second; `on_finished` is called after whole blocks. Raises TabletopError if
        the worker of a block dies again and again.
        """
        should_stop, on_finished = playing.get("should_stop"), playing.get("on_finished")
        recording: Any = {name: value for name, value in playing.items() if name in Recording.__annotations__}
        tasks = enumerate(_tasks(blocks, recording))
        under_way: dict[Handle, tuple[int, Task]] = {}
        done: dict[int, Results] = {}
        tries: Counter[int] = Counter()
        wanted = 0  # the number of the block whose results are next
        try:
            while True:
                while len(under_way) < self.at_once and len(under_way) + len(done) < AHEAD * self.number:
                    if (task := next(tasks, None)) is None:
                        break
                    under_way[self.start(task[1])] = task
                if wanted in done:
                    yield done.pop(wanted)
                    wanted += 1
                    continue
                if not under_way:
                    return
                if should_stop is not None and should_stop():
                    raise EvaluationStopped
                for handle in self.finished(list(under_way), _LOOK):
                    number, work = under_way.pop(handle)
                    result = self.result(handle)
                    if result is not None:
                        done[number] = result
                        if on_finished is not None:
                            on_finished(len(result))
                        continue
                    tries[number] += 1
                    if tries[number] == TRIES:
                        raise TabletopError(
                            f"games from seed {work.block.seeds[0]}: {TRIES} workers died while they played them; "
                            "is there memory enough? And does the program that starts them stand below "
                            '`if __name__ == "__main__":`?'
                        )
                    under_way[self.start(work)] = (number, work)
        finally:
            self.stop(list(under_way))


# --- Processes of this machine ----------------------------------------------------------------------------------------


class Processes(SeveralWorkers["Future[Results]"]):
    """Processes of this machine, which share its cores.

    Each has a pool of its own, because Python ends all processes of a pool when one dies.
    """

    def __enter__(self) -> Self:
        self._context = get_context("spawn")  # a fork would share locks of threads that it lacks
        try:
            self._stopping = self._context.Event()
        except OSError as error:
            raise TabletopError(f"several processes need a /dev/shm that can be written to: {error.strerror}") from None
        self._pools = [self._new_pool() for _ in range(self.number)]
        self._places: dict[Future[Results], int] = {}
        self.is_open = True
        return self

    def __exit__(self, *error: object) -> None:
        self.is_open = False
        self._stopping.set()
        for pool in self._pools:
            pool.shutdown(cancel_futures=True)

    def _new_pool(self) -> ProcessPoolExecutor:
        cores = max(1, usable_cores() // self.number)
        return ProcessPoolExecutor(1, self._context, _begin, (self._stopping, cores))

    def start(self, task: Task) -> Future[Results]:
        place = min({*range(self.number)} - {*self._places.values()})
        with without_ctrl_c():  # a pool starts its process at the first task
            try:
                future = self._pools[place].submit(_play_until_stopped, task)
            except BrokenProcessPool:  # it died while it had nothing to do
                self._pools[place] = self._new_pool()
                future = self._pools[place].submit(_play_until_stopped, task)
        self._places[future] = place
        return future

    def finished(self, handles: Collection[Future[Results]], seconds: float) -> Collection[Future[Results]]:
        return wait(handles, seconds, FIRST_COMPLETED).done

    def result(self, handle: Future[Results]) -> Results | None:
        place = self._places.pop(handle)
        try:
            return handle.result()
        except BrokenProcessPool:
            self._pools[place] = self._new_pool()
            return None

    def stop(self, handles: Collection[Future[Results]]) -> None:
        if handles:
            self._stopping.set()
            wait(handles)
            self._stopping.clear()
        self._places.clear()


_stopping: Any = None
"""In a process of `Processes`: set when its block is no longer wanted."""


def _begin(stopping: Any, cores: int) -> None:
    global _stopping
    _stopping = stopping
    serve_parent()
    use_cores(cores)


def _play_until_stopped(task: Task) -> Results:
    return play_task(task, lambda: task.agents, should_stop=_stopping.is_set)


@contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Processes that are spawned in this context never see Ctrl-C, from their first moment on.

    Ctrl-C reaches all processes of a terminal, but only the first one decides what to do. Windows cannot do this, so
    there a process sees Ctrl-C until it calls `serve_parent`.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # a new process has its parent's mask
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve_parent() -> None:
    """Make this spawned process ignore Ctrl-C, and end when its parent does, even if that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)  # nobody waits for what this process does
