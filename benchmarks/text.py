"""How many messages a second a text game writes, with a scripted player that always gives the first answer.

    python -m benchmarks.text

On one core, against random opponents. "Answers" reads the answers of each message, "no board" its whole text without a
board, "compact" and "full" its text with such a board.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

from evergreen_env import Config as Evergreen
from petrichor_env import Config
from petrichor_env.config import MODULES
from tabletop_text import Form, TextGame, Turn
from tabletop_training.files.tables import markdown_table

GAMES: dict[str, Any] = {
    "Petrichor, solo": Config(),
    "Petrichor, 2 players": Config(players=2),
    "Petrichor, 5 players, all modules": Config(players=5, modules=MODULES),
    "Evergreen, 2 players": Evergreen(2),
}
READS: dict[str, tuple[str, Callable[[Turn], object]]] = {
    "answers": ("none", lambda turn: turn.answers),
    "no board": ("none", lambda turn: turn.text),
    "compact board": ("compact", lambda turn: turn.text),
    "full board": ("full", lambda turn: turn.text),
}
SECONDS, ROUNDS = 2.0, 3


def turns_a_second(config: Any, board: str, read: Callable[[Turn], object], seconds: float = SECONDS) -> float:
    """Messages a second of processor time."""
    game = TextGame(config, ("random",) if config.players > 1 else (), form=Form(board=board))
    seed, turns = 0, 0
    turn = game.reset(seed)
    start = time.process_time()
    while time.process_time() - start < seconds:
        read(turn)
        turn = game.step("1")
        turns += 1
        if turn.done:
            seed += 1
            turn = game.reset(seed)
    return turns / (time.process_time() - start)


def main() -> None:
    """Print the table: medians of rounds in turns."""
    found: dict[tuple[str, str], list[float]] = {}
    for round_ in range(ROUNDS + 1):
        for game, config in GAMES.items():
            for name, (board, read) in READS.items():
                speed = turns_a_second(config, board, read, 0.2 if round_ == 0 else SECONDS)
                if round_:  # the first round compiles
                    found.setdefault((game, name), []).append(speed)
    rows = ([game, *(f"{median(found[game, name]):,.0f}" for name in READS)] for game in GAMES)
    print(markdown_table(["messages a second", *READS], rows))


if __name__ == "__main__":
    main()
