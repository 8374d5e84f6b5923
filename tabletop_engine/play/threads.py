"""Sharing the games of one call among threads. The compiled code releases the GIL."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tabletop_engine.play.batch import usable_cores


def in_threads(work: Callable[[slice], None], games: int, min_games: int, num_threads: int | None) -> None:
    """Call `work` in threads, with slices that together are all games. The results must not depend on the slices.

    Arguments:
        work: takes a slice of the games.
        games: the number of games.
        min_games: the least number of games in a slice.
        num_threads: the most threads; None for the number of usable cores.
    """
    parts = max(1, min(num_threads or usable_cores(), games // min_games))
    edges = [games * part // parts for part in range(parts + 1)]
    slices = [slice(edges[part], edges[part + 1]) for part in range(parts)]
    if parts == 1:
        work(slices[0])
        return
    with ThreadPoolExecutor(parts) as pool:
        list(pool.map(work, slices))
