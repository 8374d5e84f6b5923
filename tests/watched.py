"""Games that are played here, with a look at who plays before each block."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Unpack

from tabletop_training.evaluation import GameBlock, Playing, Workers
from tabletop_training.results import Results

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
