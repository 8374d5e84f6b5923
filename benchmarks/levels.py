"""`python -m benchmarks.levels`: the agents behind `level-1` to `level-8`, each a step above the one below.

The top level is a search with the shipped policy. Each next one is looked for below it: fewer simulations, then the
policy alone, then the policy drawing its actions with a higher and higher temperature. Some are tried, each
between one too strong and one too weak, until the upper one ends ahead in about 62.5 % of the pairs. Then new games
measure the step; those are published.

A step is measured at tables with one seat of the upper level and all others of the lower one; the seats rotate. A pair
is the upper agent and one of the others; a tie of the two counts half. The unit of the intervals is the seed.

The results so far are in `measured.json` of the folder; after a stop the same command goes on there.
`agents/tabletop_agents/levels.json` is what this writes, and `docs/agents.md` shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import logit

from benchmarks.exploiters import GAMES, NAME, Kept
from benchmarks.measure import options
from tabletop_agents.levels import LEVELS
from tabletop_engine import seeds
from tabletop_engine.game import Config, Game
from tabletop_engine.text.words import counted
from tabletop_training.files.provenance import agent_hash
from tabletop_training.files.tables import markdown_table, write_json
from tabletop_training.measure.evaluation import seeds_for
from tabletop_training.measure.matches import make_agents, play_match
from tabletop_training.measure.results import Results, share_estimate
from tabletop_training.study.cells import is_search

AIM = 0.625
"""The middle of what a step is to be: 60 to 65 %."""
NEAR, TRIES_A_STEP = 0.015, 6
"""A candidate so near the aim needs no further tries, and there are at most so many."""
TRIES, SEED = seeds.TUNING.first + 500_000, seeds.EVALUATION.first + 8_500_000


def candidates(simulations: int) -> list[str]:
    """Names of agents from weak to strong, in small steps, up to a search of so many simulations."""
    temperatures = [f"soft-{10 ** (step / 50):.3g}:{NAME}" for step in range(75, -1, -1)]
    searches = [f"search-{simulations * 0.8**step:.0f}:{NAME}" for step in range(12, -1, -1)]
    return [*temperatures, f"policy:{NAME}", *dict.fromkeys(searches)]


def ahead(results: Results) -> np.ndarray:
    """(seeds,) float64: the share of pairs in which the first agent ended ahead of another one."""
    first = results.lineups == 0
    place = (results.places * first).sum(axis=1, keepdims=True)
    shares = (place < results.places) + 0.5 * (place == results.places)
    by_game = np.where(first, np.nan, shares)
    return results.by_seed(np.nanmean(by_game, axis=1)[:, None])[:, 0]


def step(upper: str, lower: str, config: Config, games: int, seed: int) -> list[float]:
    """The share of pairs in which the upper agent ends ahead of the lower ones, with the ends of its interval."""
    agents = make_agents([upper] + [lower] * (config.players - 1), config)
    first = range(seed, seed + seeds_for(games, config.players))
    return list(share_estimate(ahead(play_match(agents, config, first))))


def below(upper: str, names: Sequence[str], guess: int, config: Config, given: Any, kept: Kept) -> int:
    """How far from the end of `names`, from weak to strong, the agent is that the upper one beats by about the aim."""
    tried = dict[int, float]()
    near, far = (0, 0.0), (len(names) + 1, np.inf)  # the distances on both sides of the aim, each with its log odds
    while far[0] - near[0] > 1 and len(tried) < TRIES_A_STEP:
        name = names[-guess]
        games = given.search_tries if is_search(upper) or is_search(name) else given.tries
        case = f"{config.game.name} {config.players}: {upper} over {name}, tried with {games}"
        won = tried[guess] = kept.get(case, partial(step, upper, name, config, games, TRIES))[0]
        if abs(won - AIM) < NEAR:
            break
        odds = float(logit(np.clip(won, 0.01, 0.99)))
        near, far = ((guess, max(odds, near[1])), far) if won < AIM else (near, (guess, odds))
        if np.isinf(far[1]):
            guess = min(2 * guess + 2, round(guess * logit(AIM) / max(0.1, odds)))
        else:
            guess = near[0] + round((far[0] - near[0]) * (logit(AIM) - near[1]) / (far[1] - near[1]))
        guess = int(np.clip(guess, near[0] + 1, far[0] - 1))
    return min(tried, key=lambda one: abs(tried[one] - AIM))


def row_of(game: Game, players: int, given: Any, kept: Kept) -> list[dict[str, Any]]:
    """The levels for so many players, the weakest first."""
    config, names = game.config(players=players), candidates(given.simulations)
    levels, distance = [names.pop()], 4
    steps: list[dict[str, Any]] = []
    while len(levels) < LEVELS:
        upper = levels[-1]
        distance = below(upper, names, distance, config, given, kept)
        lower = names[-distance]
        del names[-distance:]
        games = given.searches if is_search(upper) or is_search(lower) else given.games
        case = f"{game.name} {players}: {upper} over {lower}, {games}"
        won = kept.get(case, partial(step, upper, lower, config, games, SEED))
        steps.append({"agent": upper, "won": [round(end, 4) for end in won], "games": games})
        levels.append(lower)
    return [{"agent": levels[-1], "won": None, "games": 0}, *reversed(steps)]


def table(figures: dict[str, Any]) -> str:
    """All levels of all games and numbers of players as a table."""
    heads = ["game", "players", *(f"`level-{number}`" for number in range(1, LEVELS + 1))]
    cells = [
        [game.title, players, *(f"`{row['agent']}`" + _won(row) for row in rows)]
        for game in GAMES
        for players, rows in figures.get(game.name, {}).get("players", {}).items()
    ]
    return markdown_table(heads, cells, left=LEVELS + 2)


def _won(row: dict[str, Any]) -> str:
    if row["won"] is None:
        return ""
    won, low, high = (100 * end for end in row["won"])
    return f" {won:.0f} % ({low:.0f}–{high:.0f}; {counted(row['games'], 'game')})"


def main(given: Any) -> dict[str, Any]:
    """The levels of all games, as `levels.json` has them."""
    kept, found = Kept(Path(given.output) / "measured.json"), dict[str, Any]()
    for game in GAMES:
        chosen = [players for players in game.players[1:] if given.rows in ("", f"{game.name} {players}")]
        rows = {str(players): row_of(game, players, given, kept) for players in chosen}
        found[game.name] = {"checkpoint": agent_hash(f"policy:{NAME}", game), "players": rows}
    return found


if __name__ == "__main__":
    asked = options(
        __doc__,
        rows=("", "only this game and number of players, such as `petrichor 2`"),
        simulations=(100, "of the search that is the top level"),
        games=(1500, "games that measure a step between policies"),
        searches=(480, "games that measure a step with a search"),
        tries=(1200, "games of each try of a policy"),
        search_tries=(320, "games of each try of a search"),
        output=("runs/levels", "folder of what is measured"),
    )
    levels = main(asked)
    print(table(levels))
    if asked.json is not None:
        write_json(asked.json, levels)
