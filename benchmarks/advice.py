"""`python -m benchmarks.advice`: how well hints predict results, and how much two reviews of one game differ.

*Hints*: agents play games against themselves. What they expect at each decision is compared with the result. *Reviews*:
games are reviewed twice with different random numbers. `docs/playing.md` shows what this writes into
`docs/advice.json`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import options, write_figures
from evergreen_env.game import GAME as EVERGREEN
from petrichor_env.config import VARIANTS
from petrichor_env.game import GAME as PETRICHOR
from tabletop_agents import make_agent
from tabletop_engine.game import Config
from tabletop_engine.play.agents import CHANCE_TO_WIN, Decisions, assess
from tabletop_engine.play.batch import Batch, use_cores
from tabletop_engine.play.scores import margins, win_shares
from tabletop_engine.replays.replay import Replay
from tabletop_engine.replays.reviews import Review
from tabletop_play.advice import review
from tabletop_training.measure.evaluation import EVALUATION_SEED, play_games

GAMES: dict[str, Config] = {
    "solo, all four variants": PETRICHOR.config(variants=VARIANTS),
    "solo, Double card": PETRICHOR.config(variants=("double_card",)),
    "2 players": PETRICHOR.config(players=2),
    "3 players": PETRICHOR.config(players=3),
    "Evergreen, 2 players": EVERGREEN.config(players=2),
    "Evergreen, solo": EVERGREEN.config(players=1),
}
HINTS = (
    ("solo, all four variants", "search-200:solo", 150),
    ("2 players", "search-200:versus", 80),
    ("3 players", "search-100:versus", 40),
    ("Evergreen, 2 players", "search-100:versus", 40),
    ("solo, Double card", "ismcts-500", 60),
    ("2 players", "ismcts-500", 40),
    ("3 players", "ismcts-200", 40),
    ("Evergreen, 2 players", "ismcts-200", 30),
    ("Evergreen, solo", "ismcts-500", 40),
)
"""Game, agent, number of games."""
REVIEWS = (
    ("solo, Double card", "search-800:solo"),
    ("solo, Double card", "ismcts-2000"),
    ("3 players", "search-800:versus"),
    ("3 players", "ismcts-500"),
    ("Evergreen, 2 players", "search-800:versus"),
    ("Evergreen, solo", "ismcts-2000"),
)
"""Game, and the agent that reviews it."""
REVIEWED = ("greedy", "random")
"""The agents in seat 0, whose decisions are reviewed. `greedy` plays against them."""
CLASSES = 5
"""Equal ranges of the chance to win, from 0 to 1."""
TOP = 3
"""How many of the first decisions of two reviews are compared."""


def hints(title: str, name: str, games: int) -> dict[str, Any]:
    """A row: the agent's estimates in the first and the last round, and by classes of chances, with the results."""
    config = GAMES[title]
    agent = make_agent(name, config.game)
    batch = Batch(config, games, EVALUATION_SEED, autoreset="disabled")
    generator = np.random.default_rng(EVALUATION_SEED)
    of: list[tuple[int, int, int, float]] = []
    estimated = ""
    while (playing := batch.actors >= 0).any():
        asked = np.flatnonzero(playing)
        decisions = Decisions.of(batch, asked)
        advice = assess(agent, decisions, generator)
        assert advice.value is not None
        estimated = advice.estimated
        for line in np.flatnonzero(decisions.action_masks.sum(axis=1) > 1):
            game = asked[line]
            of.append((game, batch.actors[game], batch.states["round"][game], advice.value[line]))
        actions = np.zeros(games, np.int64)
        actions[asked] = advice.actions
        batch.step(actions, playing)
    table = np.array(of)
    game, seat, rounds = table[:, :3].astype(int).T
    said, came = table[:, 3], _results(batch, estimated)[game, seat]
    row: dict[str, Any] = {"game": title, "agent": name, "games": games, "estimated": estimated}
    for which, number in (("first", rounds.min()), ("last", rounds.max())):
        row[which] = [_rounded(values[rounds == number].mean()) for values in (said, came)]
    if estimated == CHANCE_TO_WIN:
        classes = np.minimum((said * CLASSES).astype(int), CLASSES - 1)
        row["classes"] = [
            [_rounded(came[classes == one].mean()), int((classes == one).sum())]
            if (classes == one).any()
            else [None, 0]
            for one in range(CLASSES)
        ]
    return row


def _results(batch: Batch, estimated: str) -> np.ndarray:
    """The results of finished games in the unit of the estimates: (games, players) float64."""
    if estimated == CHANCE_TO_WIN:
        results = win_shares(batch.places(batch.states))
    else:
        results = margins(batch.states["points"][:, : batch.config.owners])
    return results[:, : batch.config.players]


def reviews(title: str, name: str, who: str, games: int) -> dict[str, Any]:
    """A row: how well two reviews of the same games by one agent agree."""
    config = GAMES[title]
    agent = make_agent(name, config.game)
    replays = list(_replays(config, who, games))
    started = time.perf_counter()
    found = [[review(replay, agent, seats=[0], seed=seed) for seed in (1, 2)] for replay in replays]
    seconds = (time.perf_counter() - started) / (2 * games)
    drops = [_drops(*pair) for pair in found]
    first, second = np.concatenate(drops, axis=1)
    return {
        "game": title,
        "played": who,
        "agent": name,
        "games": games,
        "estimated": found[0][0].estimated,
        "decisions": _rounded(len(first) / games),
        "correlation": _rounded(np.corrcoef(first, second)[0, 1]),
        "drop": _rounded(first.mean()),
        "noise": _rounded(np.std(first - second) / np.sqrt(2)),
        "alike": _rounded(np.mean([_share_alike(*pair) for pair in drops])),
        "seconds": _rounded(seconds),
    }


def _replays(config: Config, who: str, games: int) -> Iterator[Replay]:
    agents = [make_agent(name, config.game) for name in (who, *["greedy"] * (config.players - 1))]
    for seed in range(EVALUATION_SEED, EVALUATION_SEED + games):
        played = play_games(agents, config, 1, seed, record_actions=True)
        assert played.actions is not None
        yield Replay.of(config, seed, played.actions[0].tolist())


def _drops(*reviews_of_one_game: Review) -> np.ndarray:
    """(2, decisions) float64: the drop that each review finds at each decision, 0 for none."""
    decisions = reviews_of_one_game[0].decisions
    steps = sorted({moment.step for one in reviews_of_one_game for moment in one.moments})
    drops = np.zeros((2, decisions))
    for row, one in enumerate(reviews_of_one_game):
        for moment in one.moments:
            drops[row, steps.index(moment.step)] = moment.drop
    return drops


def _share_alike(first: np.ndarray, second: np.ndarray) -> float:
    """The share of one review's first decisions that are among the other's first."""
    tops = [set(np.argsort(-drops, kind="stable")[:TOP].tolist()) for drops in (first, second)]
    return len(tops[0] & tops[1]) / TOP


def _rounded(number: float | np.floating[Any]) -> float:
    return float(f"{number:.4g}")


def main() -> None:
    given = options(
        __doc__,
        games=(8, "games of each line that are reviewed"),
        share=(1.0, "of the games that hints are compared in"),
    )
    content: dict[str, Any] = {"seed": EVALUATION_SEED, "hints": [], "reviews": []}
    use_cores(1)
    for title, name, games in HINTS:
        content["hints"].append(hints(title, name, max(1, round(given.share * games))))
        print(content["hints"][-1], flush=True)
    for title, name in REVIEWS:
        for who in REVIEWED:
            content["reviews"].append(reviews(title, name, who, given.games))
            print(content["reviews"][-1], flush=True)
    write_figures(given.json, **content)


if __name__ == "__main__":
    main()
