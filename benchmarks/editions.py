"""`python -m benchmarks.editions`: how much slower agents are if games have different printed numbers.

Petrichor's solo game on one core, by processor time. A study over 200 editions is compared with as many games with the
shipped numbers. Games of 16 editions together are compared with games of each of these editions by itself, because
agents play some editions faster than others. The contenders take turns in one process, and ratios of each round are
compared. `docs/performance.md` shows the results, which are in `docs/editions.json`.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np
import torch

from benchmarks.measure import on_cores, options, write_figures
from petrichor_env import Config
from petrichor_env.config import VARIANTS
from tabletop_engine.play.names import agents_of
from tabletop_engine.play.tables import Editions, editions_of
from tabletop_training.measure.evaluation import get_ready, play_rounds, seeds_from

MANY, FEW = 200, 16
EACH = 20
"""Games of each edition, where editions are played together."""
ONE_BY_ONE = 320
"""Games of each edition, where it is played by itself."""
_PART, _TURNS = 1000, 4
BASE, VARIED = Config(), Config(variants=VARIANTS)


def seconds(agent: Any, config: Config, first: int, games: int, editions: Editions | None) -> float:
    """The processor time of so many games, from this seed on."""
    start = time.process_time()
    play_rounds([agent], config, seeds_from(first, games), np.zeros((1, 1), np.int64), editions)
    return time.process_time() - start


def study(agent: Any, config: Config) -> tuple[float, float]:
    """Games a second over many editions, and with the shipped numbers, in turns of `_PART` games."""
    games = MANY * EACH
    drawn = list(editions_of(config, MANY))
    taken = [
        [seconds(agent, config, first, _PART, editions) for editions in (drawn, None)]
        for first in range(0, games, _PART)
    ]
    many, shipped = np.sum(taken, axis=0).tolist()
    return games / many, games / shipped


def together(agent: Any, config: Config) -> tuple[float, float]:
    """Games a second of a few editions together, and on average if each is played by itself, in turns."""
    alone, joined, games = 0.0, 0.0, FEW * EACH
    for turn in range(_TURNS):
        for edition in range(turn, FEW, _TURNS):
            alone += seconds(agent, config, 0, ONE_BY_ONE, [edition])
        joined += seconds(agent, config, turn * games, games, FEW)
    return _TURNS * games / joined, FEW * ONE_BY_ONE / alone


CONTENDERS = {
    f"`greedy`, base game, {MANY} editions with {EACH} games each": ("greedy", BASE, study),
    f"`policy:solo`, base game, {MANY} editions with {EACH} games each": ("policy:solo", BASE, study),
    f"`greedy`, base game, {FEW} editions with {EACH} games each": ("greedy", BASE, together),
    f"`greedy`, four variants, {FEW} editions with {EACH} games each": ("greedy", VARIED, together),
    f"`policy:solo`, base game, {FEW} editions with {EACH} games each": ("policy:solo", BASE, together),
}
BESIDE = {
    study: f"{MANY * EACH:,} games with the shipped numbers",
    together: f"{ONE_BY_ONE} games of each edition by itself",
}


def measure(rounds: int) -> list[dict[str, Any]]:
    """A row for each contender: the two speeds, and the median, smallest and largest ratio of them."""
    found: dict[str, list[tuple[float, float]]] = {what: [] for what in CONTENDERS}
    agents = {name: agents_of([name], BASE)[0] for name, _, _ in CONTENDERS.values()}
    for name, config, _ in CONTENDERS.values():
        get_ready([agents[name]], config)
        seconds(agents[name], config, 0, 64, 2)
    for _ in range(rounds):
        for what, (name, config, compared) in CONTENDERS.items():
            found[what].append(compared(agents[name], config))
    rows = []
    for what, (_, _, compared) in CONTENDERS.items():
        ratios = sorted(editions / one for editions, one in found[what])
        speeds = [round(median(one[which] for one in found[what])) for which in (0, 1)]
        figures = [round(number, 2) for number in (median(ratios), ratios[0], ratios[-1])]
        rows.append({"what": what, "beside": BESIDE[compared], "speeds": speeds, "ratio": figures})
    return rows


def main() -> None:
    given = options(__doc__, rounds=(3, "turns of each contender; one takes two minutes"))
    torch.set_num_threads(1)
    with on_cores(1):
        rows = measure(given.rounds)
    for row in rows:
        print(row)
    write_figures(given.json, rounds=given.rounds, rows=rows)


if __name__ == "__main__":
    main()
