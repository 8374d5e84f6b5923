"""`python -m benchmarks.cluster`: games a second here, in processes, and on clusters of one and two nodes.

All contenders play the same blocks in turns, on the cores that their names tell. Blocks of two short games take almost
no time to play, so they show the cost of handing out a block and fetching its results. Clusters need the extra `ray`.
`docs/cluster.md` shows the results, which are in `docs/cluster.json`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np

from benchmarks.measure import options, write_figures
from petrichor_env import Config
from tabletop_agents import Agent, GreedyAgent, RandomAgent
from tabletop_engine.play.batch import use_cores
from tabletop_training.measure.cluster import RayWorkers
from tabletop_training.measure.evaluation import HERE, GameBlock, Workers, blocks_of, get_ready, rotations
from tabletop_training.measure.workers import Processes

LONG, SHORT = "long blocks", "short blocks"
THIS_PROCESS = "this process"
CROWD = "nodes, 2, 500 workers wanted"
"""Two nodes that get the blocks of 500, to measure the cost of managing many nodes."""
_SEED = 1_000_000


def blocks(kind: str, number: int) -> list[GameBlock]:
    """LONG: 1,024 games of `greedy` against itself; SHORT: two random games."""
    config = Config(players=2)
    agents: list[Agent] = [GreedyAgent(), GreedyAgent()] if kind == LONG else [RandomAgent(), RandomAgent()]
    get_ready(agents, config)
    seeds = 512 if kind == LONG else 1
    made = (np.arange(_SEED + first, _SEED + first + seeds) for first in range(0, number * seeds, seeds))
    return [block for chosen in made for block in blocks_of(agents, config, chosen, rotations(2))]


@contextmanager
def nodes(number: int, workers: int | None = None) -> Iterator[RayWorkers]:
    """A cluster of this many nodes with one core each; its head plays nothing."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        for _ in range(number):
            cluster.add_node(num_cpus=1)
        with RayWorkers(cluster.address, workers) as players:
            yield players
    finally:
        cluster.shutdown()


@contextmanager
def contender(name: str) -> Iterator[Workers]:
    """The workers of that name: this process, or a number of `processes` or `nodes`."""
    kind, *numbers = name.split(", ")
    with ExitStack() as stack:
        if kind == "processes":
            yield stack.enter_context(Processes(int(numbers[0])))
        elif kind == "nodes":
            yield stack.enter_context(nodes(int(numbers[0]), 500 if name == CROWD else None))
        else:
            yield HERE


def play(workers: Workers, given: list[GameBlock]) -> dict[str, float]:
    """Play these blocks; returns games, decisions and blocks a second, and this process's own time for a block."""
    start, busy = time.perf_counter(), time.process_time()
    results = list(workers.play(given))
    seconds = time.perf_counter() - start
    return {
        "games_per_second": sum(map(len, results)) / seconds,
        "decisions_per_second": sum(int(result.lengths.sum()) for result in results) / seconds,
        "blocks_per_second": len(given) / seconds,
        "own_milliseconds_a_block": 1000 * (time.process_time() - busy) / len(given),
    }


def measure(rounds: int, long: int, short: int) -> list[dict[str, Any]]:
    """A row for each contender and kind of blocks: medians of the rounds."""
    names = [THIS_PROCESS, "processes, 1", "processes, 2"]
    if find_spec("ray") is not None:
        names += ["nodes, 1", "nodes, 2", CROWD]
    given = {LONG: blocks(LONG, long), SHORT: blocks(SHORT, short)}
    runs: dict[tuple[str, str], list[dict[str, float]]] = {}
    for number in range(rounds):
        for name in names:
            with ExitStack() as stack:
                workers = stack.enter_context(contender(name))
                for kind, own in {SHORT: blocks(SHORT, 4 * short)}.items() if name == CROWD else given.items():
                    list(workers.play(own[:4]))  # so that every worker is ready
                    runs.setdefault((name, kind), []).append(play(workers, own))
            print(f"{number + 1}/{rounds} {name}", flush=True)
    return [
        {"who": name, "blocks": kind} | {key: float(f"{median(run[key] for run in own):.4g}") for key in own[0]}
        for (name, kind), own in runs.items()
    ]


def main() -> None:
    given = options(
        __doc__,
        rounds=(5, "each contender plays so often"),
        long=(8, "blocks of 1,024 games in a round"),
        short=(400, "blocks of two games in a round"),
    )
    use_cores(1)  # like one of several workers
    rows = measure(given.rounds, given.long, given.short)
    for row in rows:
        print(row)
    write_figures(given.json, rounds=given.rounds, rows=rows)


if __name__ == "__main__":
    main()
