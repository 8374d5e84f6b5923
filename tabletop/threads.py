"""Sharing the games of one call among threads; the compiled code releases Python's lock."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tabletop.batch import usable_cores


def in_threads(work: Callable[[slice], None], games: int, min_games: int, num_threads: int | None) -> None:
    """Call `work` with slices that make up all games, each of at least `min_games`, at the same time.

    `num_threads` None is as many as there are cores to use. What `work` does must not depend on how games are split.
    """
    parts = max(1, min(num_threads or usable_cores(), games // min_games))
    edges = [games * part // parts for part in range(parts + 1)]
    slices = [slice(edges[part], edges[part + 1]) for part in range(parts)]
    if parts == 1:
        work(slices[0])
        return
    with ThreadPoolExecutor(parts) as pool:
        list(pool.map(work, slices))
