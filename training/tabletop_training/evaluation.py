"""Many games played at once, and their results with uncertainty, seeds and versions."""

from __future__ import annotations

import copy
import itertools
import math
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypedDict, Unpack

import numpy as np
from scipy import stats

from tabletop.agents import Agent, Decisions, ask, check_agents
from tabletop.batch import Batch
from tabletop.errors import ConfigError, IllegalAction
from tabletop.game import Config
from tabletop.replays.files import THOUSANDTHS
from tabletop.scores import margins, win_shares
from tabletop.seeds import EVALUATION, Stream, generator
from tabletop.words import counted
from tabletop_training.job import Stopped
from tabletop_training.ratings import CONFIDENCE, Z
from tabletop_training.settings import check_at_least_one

MAX_GAMES_AT_ONCE = 1024
EVALUATION_SEED = EVALUATION.first
"""The first seed of reported games, apart from the seeds of training."""

Seeds = Sequence[int] | np.ndarray


class EvaluationStopped(Stopped):
    """`should_stop` asked for it. Unfinished games are dropped, because short games would be over-represented."""


class Recording(TypedDict, total=False):
    """What is recorded of games beside their results.

    record_actions: all actions, for replays. record_probabilities: also the probabilities of agents that have a
    `probabilities` method. The games stay the same; a search takes twice as long, because it is asked twice.
    """

    record_actions: bool
    record_probabilities: bool


class Playing(Recording, total=False):
    """Further options of all functions that play games.

    should_stop: asked at every step; None for never. on_finished: called with the number of games that just ended.
    """

    should_stop: Callable[[], bool] | None
    on_finished: Callable[[int], None] | None


@dataclass(frozen=True)
class Results:
    """Finished games of one configuration.

    A game can be played again from its seed, its line-up and its actions, if these were recorded.

    P is the number of players. Owners are those who have points, the players first.
    """

    config: Config
    agents: tuple[str, ...]  # names, by seat if there is no `lineups`
    seed: int  # of the first game; game i has `seeds[i]`
    points: np.ndarray  # (games, owners) int64, final points
    places: np.ndarray  # (games, P) int64, among all owners: 1 the first, ties share the better place
    lengths: np.ndarray  # (games,) int64, decisions taken
    # (games, P) int64, decisions of each seat; no games if that was not recorded
    decisions: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.int64))
    # (games, owners, sources) int64, the points by `Game.scored`; no games if that was not recorded
    scored: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 0), np.int64))
    # (games,) int64; by default seed, seed + 1 …
    seeds: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    # (games, P) int64, who sat where: indices into `agents`; by default agent i in seat i
    lineups: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.int64))
    # (agents,) float64, how long each agent thought in all of these games; empty if not measured
    seconds: np.ndarray = field(default_factory=lambda: np.empty(0))
    # for each game its actions in the order of play, (length,) int16; None if they were not recorded
    actions: tuple[np.ndarray, ...] | None = None
    # for each game what agents gave the actions of its decisions, where they offer it, (n, 3) int16: the decision's
    # number, an action, its probability in thousandths; None if they were not recorded
    probabilities: tuple[np.ndarray, ...] | None = None

    def __post_init__(self) -> None:
        games, players = self.places.shape
        if not len(self.seeds):
            object.__setattr__(self, "seeds", self.seed + np.arange(games))
        if not len(self.lineups):
            object.__setattr__(self, "lineups", np.tile(np.arange(players), (games, 1)))

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def won(self) -> np.ndarray:
        """(games, P) bool; True for several players if they share the victory."""
        return np.asarray(self.places == 1)

    @property
    def margins(self) -> np.ndarray:
        """(games,) float64: seat 0's points less the mean of the others'."""
        return self.margins_by_seat[:, 0]

    @property
    def margins_by_seat(self) -> np.ndarray:
        """(games, P) float64: each seat's points less the mean of all the others'."""
        return margins(self.points)[:, : self.places.shape[1]]

    @property
    def win_shares(self) -> np.ndarray:
        """(games, P) float64: 1 for a victory, 1/k for one that k players share."""
        return win_shares(self.places)

    def by_agent(self, values: np.ndarray) -> np.ndarray:
        """Rearrange (games, P) numbers by seat into (games, agents) float64; NaN where an agent does not play."""
        sorted_out = np.full((len(self), len(self.agents)), np.nan)
        np.put_along_axis(sorted_out, self.lineups, values.astype(np.float64), axis=1)
        return sorted_out

    def by_seed(self, values: np.ndarray) -> np.ndarray:
        """Means over the games of each seed, without NaN: (games, n) → (seeds, n) float64, by ascending seed.

        Games of one seed start alike, so they are not independent observations. Their mean counts as one observation.
        """
        seeds, number = np.unique(self.seeds, return_inverse=True)
        sums = np.zeros((len(seeds), values.shape[1]))
        counts = np.zeros_like(sums)
        np.add.at(sums, number, np.nan_to_num(values))
        np.add.at(counts, number, ~np.isnan(values))
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


@dataclass(frozen=True, eq=False)
class Block:
    """Games that are played together in one batch: arguments of `play_lineups`.

    The agents' randomness comes from the first seed of a block, and a network answers for all games of a block at once.
    Games are therefore the same wherever a block is played, but differ in blocks of another size.
    """

    agents: Sequence[Agent]
    config: Config
    seeds: np.ndarray  # (games,) int64
    lineups: np.ndarray  # (games, players) int64

    def __len__(self) -> int:
        return len(self.seeds)


class Workers:
    """Plays blocks of games: this class in this process, one after the other. `tabletop_training.workers` has others.

    It is a context manager that holds what it needs to play. It plays `number` blocks at once.
    """

    number = 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Release everything."""

    def play(self, blocks: Iterable[Block], **playing: Unpack[Playing]) -> Generator[Results, None, None]:
        """Yield the results of the blocks, in their order. Raises what `play_lineups` raises."""
        for block in blocks:
            yield play_lineups(block.agents, block.config, block.seeds, block.lineups, **playing)


HERE = Workers()


def concatenate(parts: Sequence[Results]) -> Results:
    """Join results of the same agents and configuration. Raises ValueError if these differ, or without any results."""
    if not parts or any((part.config, part.agents) != (parts[0].config, parts[0].agents) for part in parts):
        raise ValueError("results to join: there must be at least one, all of the same agents and configuration")
    arrays = ("points", "places", "lengths", "decisions", "scored", "seeds", "lineups")
    together: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in arrays}
    for name in ("actions", "probabilities"):
        recorded = [getattr(part, name) for part in parts]
        together[name] = None if None in recorded else tuple(itertools.chain(*recorded))
    seconds = np.sum([part.seconds for part in parts], axis=0)
    return Results(parts[0].config, parts[0].agents, parts[0].seed, **together, seconds=seconds)


def play_games(agents: Sequence[Agent], config: Config, games: int, seed: int, **playing: Unpack[Playing]) -> Results:
    """Play `games` games with one agent in each seat.

    Game i starts from seed + i whoever plays, so results of different agents are paired. Raises EvaluationStopped, and
    ConfigError if the number of agents is not the number of players.
    """
    check_seats(agents, config)
    check_at_least_one(games=games)
    return play_rounds(agents, config, seed + np.arange(games), np.arange(len(agents))[None, :], **playing)


def check_seats(agents: Sequence[Agent], config: Config) -> None:
    """Raise ConfigError unless there is one agent for each seat."""
    if len(agents) != config.players:
        raise ConfigError(
            f"{counted(len(agents), 'agent')} for {counted(config.players, 'player')}: there must be one for each seat"
        )


def play_rounds(
    agents: Sequence[Agent], config: Config, seeds: Seeds, lineups: np.ndarray, **playing: Unpack[Playing]
) -> Results:
    """Play every seed once with each line-up, (n, players). Games 0 to n - 1 are those of the first seed.

    At most about `MAX_GAMES_AT_ONCE` games are played at once. Raises what `play_lineups` raises, and ConfigError
    without seeds.
    """
    return concatenate(list(HERE.play(blocks_of(agents, config, seeds, lineups), **playing)))


def blocks_of(agents: Sequence[Agent], config: Config, seeds: Seeds, lineups: np.ndarray) -> list[Block]:
    """The games of `play_rounds`, in blocks. Raises ConfigError without seeds."""
    if len(seeds) < 1:
        raise ConfigError("seeds: there must be at least one")
    at_once = max(1, MAX_GAMES_AT_ONCE // len(lineups))
    blocks = []
    for start in range(0, len(seeds), at_once):
        chosen = np.asarray(seeds[start : start + at_once])
        blocks.append(Block(agents, config, np.repeat(chosen, len(lineups)), np.tile(lineups, (len(chosen), 1))))
    return blocks


def play_lineups(
    agents: Sequence[Agent], config: Config, seeds: Seeds, lineups: np.ndarray, **playing: Unpack[Playing]
) -> Results:
    """Play games with any of the agents in any seats, all in one batch. An agent answers for all its games at once.

    Arguments:
        seeds: (games,) ints, the seed of each game. The agents' own randomness comes from the first one.
        lineups: (games, players) ints, the agent in each seat as an index into `agents`. No agent may sit twice in one
            game.
        playing: see `Playing`.

    Raises EvaluationStopped; ConfigError for line-ups that do not fit, or an agent that cannot play this configuration;
    IllegalAction for an illegal answer.
    """
    lineups = np.asarray(lineups, np.int64)
    games = len(seeds)
    if games < 1 or lineups.shape != (games, config.players):
        raise ConfigError(
            f"lineups: must be an array ({games}, {config.players}) of at least one game, not {lineups.shape}"
        )
    ordered = np.sort(lineups, axis=1)
    if ordered[:, 0].min() < 0 or ordered[:, -1].max() >= len(agents) or (np.diff(ordered, axis=1) == 0).any():
        raise ConfigError(f"lineups: must be different numbers from 0 to {len(agents) - 1} in every game")
    names = names_of(agents)
    check_agents(agents, config)
    should_stop, on_finished = playing.get("should_stop"), playing.get("on_finished")
    record_actions, record_probabilities = playing.get("record_actions"), playing.get("record_probabilities")
    batch = Batch(config, games, np.asarray(seeds), autoreset="disabled", illegal_action="raise", reward="win")
    first = int(seeds[0])
    generators = [generator(first, Stream.AGENTS, index) for index in range(len(agents))]
    actions = np.zeros(games, np.int64)
    number = np.zeros(lineups.shape, np.int64)
    seconds = np.zeros(len(agents))
    taken: list[tuple[np.ndarray, np.ndarray]] = []
    given: list[tuple[np.ndarray, np.ndarray]] = []
    rows = np.arange(games)
    left = np.ones(games, bool)
    while left.any():
        if should_stop is not None and should_stop():
            raise EvaluationStopped
        asked = np.where(left, lineups[rows, batch.actors], -1)
        for index, agent in enumerate(agents):
            own = np.flatnonzero(asked == index)
            if len(own):
                decisions = Decisions.of(batch, own)
                shares = probabilities_of(agent, decisions, generators[index]) if record_probabilities else None
                if shares is not None:
                    given.append(_thousandths(shares, own, number.sum(axis=1)[own]))
                start = time.perf_counter()
                actions[own] = ask(agent, decisions, generators[index])
                seconds[index] += time.perf_counter() - start
        if record_actions:
            taken.append((np.flatnonzero(left), actions[left].astype(np.int16)))
        number[rows[left], batch.actors[left]] += 1
        batch.step(actions, left)
        ended = left & batch.terminations
        if ended.any():
            left &= ~ended
            if on_finished is not None:
                on_finished(int(ended.sum()))
    final, owners = batch.states, config.owners
    return Results(
        config,
        names,
        first,
        final["points"][:, :owners].astype(np.int64),
        batch.places(final)[:, : config.players].astype(np.int64),
        number.sum(axis=1),
        decisions=number,
        scored=final["scored"][:, :owners].astype(np.int64) if config.game.scored else np.empty((0, 0, 0), np.int64),
        seeds=np.asarray(seeds, np.int64),
        lineups=lineups,
        seconds=seconds,
        actions=_by_game(taken, games) if record_actions else None,
        probabilities=_by_game(given, games) if record_probabilities else None,
    )


def names_of(agents: Sequence[Agent]) -> tuple[str, ...]:
    """The agents' names. Raises ConfigError for anything that is not an agent, such as an agent's name."""
    for agent in agents:
        if not isinstance(agent, Agent):
            raise ConfigError(f"agents: {agent!r} has no name or no act; agents are objects such as make_agent returns")
    return tuple(agent.name for agent in agents)


def probabilities_of(agent: Agent, decisions: Decisions, generator: np.random.Generator) -> np.ndarray | None:
    """(N, A) floats: the agent's probability of each action, from the same randomness as its act; None if it has none.

    Nothing is drawn from the generator. Raises IllegalAction, which names the agent, for invalid probabilities.
    """
    if not hasattr(agent, "probabilities"):
        return None
    shares = np.asarray(agent.probabilities(decisions, copy.deepcopy(generator)))
    wanted = decisions.action_masks.shape
    if shares.shape != wanted or shares.dtype.kind != "f" or not ((shares >= 0) & (shares < 1.0001)).all():
        raise IllegalAction(f"agent {agent.name!r}: probabilities gives no numbers from 0 to 1 of shape {wanted}")
    return shares


def _thousandths(shares: np.ndarray, games: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Games, and lines of `Results.probabilities` (decision, action, thousandths); probabilities of 0 are left out."""
    thousandths = np.rint(shares * THOUSANDTHS).astype(np.int16)
    rows, actions = np.nonzero(thousandths)
    return games[rows], np.stack([numbers[rows], actions, thousandths[rows, actions]], axis=1).astype(np.int16)


def _by_game(parts: Sequence[tuple[np.ndarray, np.ndarray]], games: int) -> tuple[np.ndarray, ...]:
    """Collect the lines of each game from parts; a part is (games, a line for each of them)."""
    if not parts:
        return (np.empty((0, 3), np.int16),) * games
    who = np.concatenate([which for which, _ in parts])
    lines = np.concatenate([of for _, of in parts])
    order = np.argsort(who, kind="stable")
    ends = np.cumsum(np.bincount(who, minlength=games))
    return tuple(np.split(lines[order], ends[:-1]))


# --- Intervals -------------------------------------------------------------------------------------------------------


class Estimate(NamedTuple):
    """A mean with the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """From the lower to the upper end."""
        return self.high - self.low

    @property
    def has_interval(self) -> bool:
        """False for the mean of a single number, whose interval has infinite ends (null in JSON files)."""
        return self.low is not None and math.isfinite(self.low)

    def excludes(self, value: float) -> bool:
        """Whether the interval excludes this value."""
        return self.low > value or self.high < value


NO_ESTIMATE = Estimate(math.nan, math.nan, math.nan)
"""The estimate of something that was not measured: empty in a CSV file, null in a JSON file."""


def wilson_interval(wins: int, games: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a win rate. Raises ValueError unless 0 <= wins <= games and games >= 1."""
    if games < 1 or not 0 <= wins <= games:
        raise ValueError(f"{wins} wins of {games} games: must be 0 to games, with at least 1 game")
    interval = stats.binomtest(wins, games).proportion_ci(CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)


def score_interval(rate: float, games: float) -> tuple[float, float]:
    """Wilson's formula for any number of games above 0. Rounding errors may put its ends slightly outside 0 to 1."""
    centre = (rate + Z**2 / (2 * games)) / (1 + Z**2 / games)
    half = Z * math.sqrt(rate * (1 - rate) / games + Z**2 / (4 * games**2)) / (1 + Z**2 / games)
    return centre - half, centre + half


def mean_interval(values: np.ndarray) -> tuple[float, float]:
    """The 95 % Student interval of a mean. Equal values give an interval of width 0, a single value infinite ends."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return -math.inf, math.inf
    half = float(stats.sem(values) * stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1))
    return mean - half, mean + half


def share_estimate(shares: np.ndarray) -> Estimate:
    """The mean of independent numbers from 0 to 1, (n,) float, such as an agent's share of the victories for each seed.

    The interval is Wilson's score interval, corrected by the design effect of the sample. The design effect is the
    variance of the numbers divided by that of zeros and ones with the same mean. One number of the greatest variance is
    added to it, so that equal numbers, such as only victories, still have an honest interval. For zeros and ones the
    result is Wilson's own interval. Raises ValueError for an empty array, or for other numbers.
    """
    shares = np.asarray(shares, np.float64)
    n = len(shares)
    if n < 1 or shares.min() < 0 or shares.max() > 1:
        raise ValueError(f"{n} shares: there must be at least one, all from 0 to 1")
    mean = float(shares.mean())
    greatest = mean * (1 - mean)
    effect = min(1.0, float(shares.var()) / greatest + 1 / n) if greatest > 0 else 1.0
    low, high = score_interval(mean, n / effect)
    return Estimate(mean, max(0.0, min(mean, low)), min(1.0, max(mean, high)))


def mean_estimate(values: np.ndarray) -> Estimate:
    """The mean of independent numbers, (n,), with `mean_interval`."""
    return Estimate(float(np.mean(values)), *mean_interval(values))


def difference_estimate(differences: np.ndarray) -> Estimate:
    """The mean of independent differences from -1 to 1, (n,) float, between shares paired by seed.

    This is `share_estimate` on that scale, so pairs without any difference have an honest interval, too. Raises
    ValueError for an empty array, or for other numbers.
    """
    differences = np.asarray(differences, np.float64)
    if len(differences) < 1 or np.abs(differences).max() > 1:
        raise ValueError(f"{len(differences)} differences: there must be at least one, all from -1 to 1")
    return Estimate(*(2 * end - 1 for end in share_estimate((differences + 1) / 2)))
