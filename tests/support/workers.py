"""Workers that report what they play, and agents whose process dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Unpack

import numpy as np

from tabletop_agents import RandomAgent
from tabletop_engine.play.agents import Decisions
from tabletop_training.measure.evaluation import EvaluationStopped, GameBlock, Playing, Workers
from tabletop_training.measure.results import Results

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has no SIGKILL, and its SIGTERM kills

Look = Callable[[tuple[str, ...]], None]


class Watched(Workers):
    """`look` is told the agents of each block before it is played; what it raises ends the play."""

    def __init__(self, look: Look) -> None:
        self._look = look

    def play(self, blocks: Iterable[GameBlock], **playing: Unpack[Playing]) -> Generator[Results, None, None]:
        def looked_at() -> Iterator[GameBlock]:
            for block in blocks:
                self._look(tuple(agent.name for agent in block.agents))
                yield block

        return super().play(looked_at(), **playing)


def stopping_after(blocks: int) -> Workers:
    """Workers that play so many blocks, and are then stopped."""
    left = iter(range(blocks))

    def look(agents: tuple[str, ...]) -> None:
        if next(left, None) is None:
            raise EvaluationStopped

    return Watched(look)


class Noting(RandomAgent):
    """Notes in a file which process it plays in."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        with self.file.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return super().act(decisions, generator)


class Dying(Noting):
    """Kills its process in the middle of a game: only the first time, or always."""

    def __init__(self, file: Path, always: bool = False) -> None:
        super().__init__(file)
        self.always = always
        self._asked = 0

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        self._asked += 1
        if self._asked > 20 and self._digs_grave():
            os.kill(os.getpid(), KILL)
        return super().act(decisions, generator)

    def _digs_grave(self) -> bool:
        """Whether its own process dies: of several that come here at once, the one that makes the file."""
        try:
            self.file.with_suffix(".dead").touch(exist_ok=self.always)
        except FileExistsError:
            return False
        return True
