"""Many games of any agents played at once, and the workers that play them."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Self, TypedDict, Unpack

import numpy as np

from tabletop_engine.checks import checked, whole
from tabletop_engine.errors import ConfigError, IllegalAction
from tabletop_engine.game import Config
from tabletop_engine.play.agents import USAGE, Agent, Decisions, check_agents
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.names import agents_of
from tabletop_engine.play.play import PlayListener, play
from tabletop_engine.play.tables import Editions
from tabletop_engine.record import exact_points
from tabletop_engine.replays.files import THOUSANDTHS
from tabletop_engine.seeds import EVALUATION, TEXT, Stream, generator
from tabletop_engine.text.words import counted
from tabletop_training.files.job import Stopped
from tabletop_training.files.settings import check_at_least_one
from tabletop_training.measure.results import Results, concatenate

MAX_GAMES_AT_ONCE = 1024
MOST_SEED = 2**62
EVALUATION_SEED = EVALUATION.first
"""The first seed of reported games, apart from the seeds of training."""
TEXT_SEED = TEXT.first
"""The default seed of the first game that measures a language model."""

Seeds = Sequence[int] | np.ndarray


class EvaluationStopped(Stopped):
    """`should_stop` asked to stop. Unfinished games are dropped, because short games would be over-represented."""


class Recording(TypedDict, total=False):
    """What is recorded of games beside their results.

    record_actions: all actions, for replays. record_probabilities: also the probabilities of agents that have a
    `probabilities` method. The games stay the same; a search takes twice as long, because it is asked twice.
    record_fields: what these fields of a game's record hold at its end. record_thinking: `Results.thinking`.
    """

    record_actions: bool
    record_probabilities: bool
    record_fields: Sequence[str]
    record_thinking: bool


class Playing(Recording, total=False):
    """Further options of all functions that play games.

    should_stop: asked at every step; None for never. on_finished: called with the number of games that just ended.
    """

    should_stop: Callable[[], bool] | None
    on_finished: Callable[[int], None] | None


@dataclass(frozen=True, eq=False)
class GameBlock:
    """Games that are played together in one batch: arguments of `play_lineups`.

    The agents' randomness comes from the first seed of a block, and a network answers for all games of a block at once.
    Games are therefore the same wherever a block is played, but differ in blocks of another size.
    """

    agents: Sequence[Agent]
    config: Config
    seeds: np.ndarray  # (games,) int64
    lineups: np.ndarray  # (games, players) int64
    editions: Editions | None = None

    def __len__(self) -> int:
        return len(self.seeds)


class Workers:
    """Plays blocks of games. This class plays them in this process; `tabletop_training.measure.workers` has others.

    It is a context manager that holds what it needs to play. It plays `number` blocks at once.
    """

    number = 1
    is_open = True
    """Whether it can play now. Some workers can play only in their context."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Release everything."""

    def play(self, blocks: Iterable[GameBlock], **playing: Unpack[Playing]) -> Generator[Results, None, None]:
        """Yield the results of the blocks, in their order. Raises what `play_lineups` raises."""
        for block in blocks:
            yield play_lineups(block.agents, block.config, block.seeds, block.lineups, block.editions, **playing)


HERE = Workers()


def get_ready(agents: Sequence[Agent], config: Config) -> None:
    """Let each agent answer a decision, so that none compiles while it is timed. Raises ConfigError if one cannot."""
    if any(agent.name.startswith(("policy", "soft")) for agent in agents):
        import torch

        torch.set_num_threads(1)  # more would wait by spinning; networks of this size gain nothing from them
    check_agents(agents, config)
    batch = Batch(config, 1, 0)
    for agent in agents:
        if not hasattr(agent, "usage"):  # asking a model costs tokens, and compiles nothing
            agent.act(Decisions.of(batch), np.random.default_rng(0))


@checked
def play_games(
    agents: Sequence[Agent | str], config: Config, games: int, seed: int, **playing: Unpack[Playing]
) -> Results:
    """Play `games` games with one agent in each seat, an object or a name for `tabletop_agents.make_agent`.

    Game i starts from seed + i whoever plays, so results of different agents are paired. Raises EvaluationStopped, and
    ConfigError if the number of agents is not the number of players.
    """
    check_seats(agents, config)
    check_at_least_one(games=games)
    return play_rounds(agents, config, seeds_from(seed, games), np.arange(len(agents))[None, :], **playing)


def rotations(players: int) -> np.ndarray:
    """(players, players) int64: row r puts agent (s + r) mod players in seat s, so neighbours stay neighbours."""
    seats = np.arange(players)
    return (seats[None, :] + seats[:, None]) % players


def number_of_teams(config: Config) -> int:
    """The number of teams in a game; where everybody plays alone, of players."""
    return max(config.game.teams(config)) + 1


def seating(config: Config, agents: int) -> np.ndarray:
    """The line-ups in which every seed is played: (n, players) int64, the number of the agent in each seat.

    With an agent for each team it has all seats of the team, and the teams change places. With an agent for each seat
    every two are partners equally often. Raises ConfigError for other numbers of agents.
    """
    teams, players = np.array(config.game.teams(config)), config.players
    number = int(teams.max()) + 1
    if agents == number:
        return rotations(number)[:, teams]
    if agents != players or number == 1:
        wanted = "one for each seat" if number == players else f"one for each of {counted(number, 'team')}"
        wanted += f", or {players} for the seats" * (1 < number < players)
        raise ConfigError(f"{counted(agents, 'agent')} for {counted(players, 'player')}: there must be {wanted}")
    turned = rotations(players)

    def partners(lineup: np.ndarray) -> frozenset[frozenset[int]]:
        return frozenset(frozenset(lineup[teams == team].tolist()) for team in range(number))

    every = np.array(list(permutations(range(players))))
    if any(partners(one) != partners(turned[0]) for one in turned):  # other seats would make other partners
        return every
    with_others = {partners(one): one for one in every[::-1]}
    return np.concatenate([one[turned] for one in reversed(with_others.values())])


def seeds_for(games: int, games_a_seed: int) -> int:
    """The number of seeds for at least this many games."""
    return -(-games // games_a_seed)


def seeds_from(first: int, number: int) -> np.ndarray:
    """(number,) int64: this seed and those that follow. Raises ConfigError unless it is from 0 to `MOST_SEED`."""
    return np.arange(number) + whole("seed", first, 0, MOST_SEED)


def checked_seeds(seeds: Seeds) -> np.ndarray:
    """(games,) int64. Raises ConfigError for anything but a list of ints from 0 to `MOST_SEED`."""
    given = np.asarray(seeds)
    if given.dtype.kind not in "iu" or given.ndim != 1 or not len(given) or given.min() < 0 or given.max() > MOST_SEED:
        raise ConfigError(f"seeds={seeds!r:.80}: must be a list of at least one int from 0 to {MOST_SEED}")
    return given.astype(np.int64)


def check_seats(agents: Sequence[Agent | str], config: Config) -> None:
    """Raise ConfigError unless there is one agent for each seat."""
    if len(agents) != config.players:
        raise ConfigError(
            f"{counted(len(agents), 'agent')} for {counted(config.players, 'player')}: there must be one for each seat"
        )


@checked
def play_rounds(
    agents: Sequence[Agent | str],
    config: Config,
    seeds: Seeds,
    lineups: np.ndarray,
    editions: Editions | None = None,
    **playing: Unpack[Playing],
) -> Results:
    """Play every seed once with each line-up, (n, players). Games 0 to n - 1 are those of the first seed.

    At most about `MAX_GAMES_AT_ONCE` games are played at once. Raises what `play_lineups` raises, and ConfigError
    without seeds.
    """
    blocks = blocks_of(agents_of(agents, config), config, seeds, lineups, editions)
    return concatenate(list(HERE.play(blocks, **playing)))


def blocks_of(
    agents: Sequence[Agent], config: Config, seeds: Seeds, lineups: np.ndarray, editions: Editions | None = None
) -> list[GameBlock]:
    """The games of `play_rounds`, in blocks. Raises ConfigError without seeds."""
    seeds = checked_seeds(seeds)
    at_once = max(1, MAX_GAMES_AT_ONCE // len(lineups))
    blocks = []
    for start in range(0, len(seeds), at_once):
        chosen = seeds[start : start + at_once]
        games = np.repeat(chosen, len(lineups)), np.tile(lineups, (len(chosen), 1))
        blocks.append(GameBlock(agents, config, *games, editions))
    return blocks


@checked
def play_lineups(
    agents: Sequence[Agent | str],
    config: Config,
    seeds: Seeds,
    lineups: np.ndarray,
    editions: Editions | None = None,
    **playing: Unpack[Playing],
) -> Results:
    """Play games with any of the agents in any seats, all in one batch. An agent answers for all its games at once.

    Arguments:
        agents: objects, or names for `tabletop_agents.make_agent`.
        seeds: (games,) ints, the seed of each game. The agents' own randomness comes from the first one.
        lineups: (games, players) ints, the agent in each seat as an index into `agents`. An agent may sit twice in one
            game only as its own partner.
        editions: as in `Batch`; of K editions, a game with seed s has edition s mod K. None for the numbers of
            `config`.
        playing: see `Playing`.

    Raises EvaluationStopped; ConfigError for line-ups that do not fit, or an agent that cannot play this configuration;
    IllegalAction for an illegal answer.
    """
    lineups, seeds, games = np.asarray(lineups, np.int64), checked_seeds(seeds), len(seeds)
    if games < 1 or lineups.shape != (games, config.players):
        raise ConfigError(
            f"lineups: must be an array ({games}, {config.players}) of at least one game, not {lineups.shape}"
        )
    players = agents_of(agents, config)
    if not players:
        raise ConfigError("agents: there must be at least one")
    teams = np.array(config.game.teams(config))
    against_itself = (lineups[:, :, None] == lineups[:, None, :]) & (teams[:, None] != teams)
    if lineups.min() < 0 or lineups.max() >= len(agents) or against_itself.any():
        raise ConfigError(f"lineups: must be different numbers from 0 to {len(agents) - 1} for the teams of every game")
    batch = Batch(config, games, seeds, autoreset="disabled", illegal_action="raise", reward="win", editions=editions)
    if editions is not None:
        batch.reset(seeds, editions=seeds % len(batch.editions))
    first = int(seeds[0])
    generators = [generator(first, Stream.AGENTS, index) for index in range(len(players))]
    record = _Record(players, batch, generators, playing)
    used = _usage(players)
    if not play(players, batch, lineups, generators, listeners=[record], should_stop=playing.get("should_stop")):
        raise EvaluationStopped
    final, owners = batch.states, config.owners
    return Results(
        config,
        tuple(agent.name for agent in players),
        first,
        exact_points(final["points"][:, :owners]),
        batch.places(final)[:, teams].astype(np.int64),
        record.decisions.sum(axis=1),
        decisions=record.decisions,
        scored=final["scored"][:, :owners].astype(np.int64) if config.game.scored else np.empty((0, 0, 0), np.int64),
        seeds=seeds,
        lineups=lineups,
        forfeited=final["forfeited"].astype(np.int64),
        usage=_usage(players) - used,
        seconds=record.seconds,
        thinking=record.thinking if playing.get("record_thinking") else np.empty((0, 2)),
        actions=_by_game(record.actions, games) if playing.get("record_actions") else None,
        probabilities=_by_game(record.probabilities, games) if playing.get("record_probabilities") else None,
        fields={name: final[name].copy() for name in playing.get("record_fields", ())},
        editions=() if editions is None else batch.editions,
    )


def _usage(agents: Sequence[Agent]) -> np.ndarray:
    """(agents, 5) int64: what each has used so far; no agents if none counts it."""
    if not any(hasattr(agent, "usage") for agent in agents):
        return np.empty((0, len(USAGE)), np.int64)
    return np.array([getattr(agent, "usage", (0,) * len(USAGE)) for agent in agents], np.int64)


class _Record(PlayListener):
    """What is recorded of games beside their ends."""

    def __init__(
        self,
        agents: Sequence[Agent],
        batch: Batch,
        generators: Sequence[np.random.Generator],
        playing: Playing,
    ) -> None:
        self._agents, self._batch, self._generators = agents, batch, generators
        self._playing = playing
        self._start = self._processor_start = 0.0
        self.decisions = np.zeros((batch.num_games, batch.config.players), np.int64)
        self.seconds = np.zeros(len(agents))
        self.thinking = np.zeros((len(agents), 2))
        self.actions: list[tuple[np.ndarray, np.ndarray]] = []  # parts for `_by_game`
        self.probabilities: list[tuple[np.ndarray, np.ndarray]] = []

    def on_decisions(self, agent: int, games: np.ndarray, decisions: Decisions) -> None:
        if self._playing.get("record_probabilities"):
            shares = probabilities_of(self._agents[agent], decisions, self._generators[agent])
            if shares is not None:
                self.probabilities.append(_thousandths(shares, games, self.decisions[games].sum(axis=1)))
        if self._playing.get("record_thinking"):
            self.thinking[agent, 1] += (decisions.action_masks.sum(axis=1) > 1).sum()
        self._start, self._processor_start = time.perf_counter(), time.thread_time()

    def on_actions(self, agent: int, games: np.ndarray, actions: np.ndarray) -> None:
        self.seconds[agent] += time.perf_counter() - self._start
        self.thinking[agent, 0] += time.thread_time() - self._processor_start
        if self._playing.get("record_actions"):
            self.actions.append((games, actions.astype(np.int16)))
        self.decisions[games, self._batch.actors[games]] += 1

    def on_step(self, which: np.ndarray) -> None:
        on_finished = self._playing.get("on_finished")
        if on_finished is not None and (ended := which & self._batch.terminations).any():
            on_finished(int(ended.sum()))


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
