"""The interface of an agent. It answers the decisions of many games at once, and sees only what the actors may know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from tabletop_engine.checks import checked
from tabletop_engine.errors import IllegalAction
from tabletop_engine.game import Config, Game
from tabletop_engine.play.batch import Batch, refusal
from tabletop_engine.play.past import Past, past_of
from tabletop_engine.play.tables import editions_in
from tabletop_engine.record import FORFEIT

CHANCE_TO_WIN = "chance to win"
POINTS_AHEAD, POINTS = "points ahead as it values positions", "points as it values positions"
USAGE = ("calls", "input_tokens", "output_tokens", "problems", "failures")
"""What an agent that asks a language model used, as its attribute `usage` counts it: how often the model was asked,
tokens, replies without a legal answer, and decisions for which it gave none at all."""
RESULT = "result from 0 for lost to 1 for won"
"""Words for what an agent's values mean (`Assessment.estimated`).

Values in points come from the game's own evaluation. It is made to compare positions: the values tell a better answer
from a worse one, and are no forecast of the final points."""


class HasBatch(Protocol):
    """One seat of a batch, such as `LearnerGames`. `batch` has all seats."""

    batch: Batch


@dataclass(eq=False, repr=False)
class Decisions:
    """The pending decisions of N games, each as its actor sees it.

    The true states of the games stay private. `sample_states` gives copies in which everything that the actor cannot
    know is drawn anew. So an agent that searches can neither see hidden information nor disturb a random stream.

    Attributes:
        game: the game that is played.
        tables: (K,) of `game.tables`, the printed numbers of each edition; a record's field `edition` says which are
            its own.
        observations: (N, D) float32, the actors' views.
        action_masks: (N, A) int8, 1 for each legal action.
    """

    game: Game
    _states: np.ndarray
    tables: np.ndarray
    observations: np.ndarray
    action_masks: np.ndarray
    _past: Past | None = None
    _games: np.ndarray | None = None

    @classmethod
    def of(cls, batch: Batch | HasBatch, games: np.ndarray | None = None) -> Decisions:
        """The pending decisions of a batch, or of some of its games (indices; none of them may be over).

        The pending decisions of `LearnerGames` are the learner's.
        """
        batch = batch if isinstance(batch, Batch) else batch.batch
        chosen: slice | np.ndarray = slice(None) if games is None else games
        observations = batch.observations[chosen]
        if observations.dtype != np.float32:
            observations = observations / batch.game.observation.divisors
        past = past_of(batch) if batch.listeners else None
        numbers = None if past is None else np.arange(batch.num_games)[chosen]
        masks = batch.action_masks[chosen]
        return cls(batch.game, batch.states[chosen], batch.tables, observations, masks, past, numbers)

    def __len__(self) -> int:
        return len(self._states)

    def check(self, agent: str, actions: np.ndarray, forfeits: bool = False) -> None:
        """Check an agent's answers. Raises IllegalAction, with its name, unless these are (N,) ints and all legal.

        With `forfeits` FORFEIT counts as legal, too. Raises StateError if a decision has no legal action.
        """
        if actions.shape != (len(self),) or actions.dtype.kind not in "iu":
            wanted = f"ints of shape ({len(self)},)"
            raise IllegalAction(f"agent {agent!r}: act returns {actions.dtype} {actions.shape}, not {wanted}")
        legal = (actions >= 0) & (actions < self.game.num_actions)
        legal[legal] = self.action_masks[legal, actions[legal]] == 1
        if forfeits:
            legal |= actions == FORFEIT
        if not legal.all():
            first = int(legal.argmin())
            raise refusal(self.game, self._states[first], int(actions[first]), f"agent {agent!r}: ")

    @property
    def numbers(self) -> np.ndarray:
        """(N, M) float32: the printed numbers of each game's edition, in the layout `Game.numbers`."""
        used, rows = np.unique(editions_in(self._states, self.tables), return_inverse=True)
        counts = self.game.write_numbers(self.tables[used])
        return self.game.numbers.scaled(counts)[rows]

    @property
    def players(self) -> np.ndarray:
        """(N,) ints: the number of players in each game."""
        return np.asarray(self._states["players"])

    @property
    def owners(self) -> np.ndarray:
        """(N,) ints: the number of owners of points in each game: the teams, and an opponent that the rules play."""
        return np.asarray(self._states["owners"])

    @property
    def teams(self) -> np.ndarray:
        """(N,) ints: the number of teams in each game; where everybody plays alone, of players."""
        if not self.game.has_teams:
            return self.players
        return self.game.teams_of(self._states, self.game.players[-1]).max(axis=1) + 1

    def of_each(self, i: int) -> tuple[Any, np.ndarray, int | None, Sequence[tuple[Any, int]]]:
        """One decision for an agent that reads words, which shows only what `Words` and `Drawing` tell its actor.

        Returns its record; (1,) printed numbers; a number for the game, the same for all of its decisions; and what
        happened in it since the actor's last decision, as pairs of a record and the action that was played on it. The
        number is None, and nothing has happened, unless the batch remembers it (`Agent.remembers`).
        """
        state = self._states[i]
        tables = self.tables[editions_in(self._states[i : i + 1], self.tables)]
        if self._past is None or self._games is None:
            return state, tables, None, ()
        game = int(self._games[i])
        return state, tables, self._past.numbers[game], self._past.steps(game, int(state["actor"]))

    def only(self, actions: np.ndarray) -> Decisions:
        """The same decisions with only these (N,) legal actions allowed, so that an agent judges each action alone."""
        states, masks, each = self._states.copy(), np.zeros_like(self.action_masks), np.arange(len(self))
        states["legal"] = 0
        states["legal"][each, actions // 64] = np.uint64(1) << (actions % 64).astype(np.uint64)
        masks[each, actions] = 1
        return replace(self, _states=states, action_masks=masks)

    def sample_states(self, generator: np.random.Generator) -> np.ndarray:
        """(N,) records: copies in which `rules.sample_hidden` has redrawn all that the actors can't know."""
        states = self._states.copy()
        randoms = generator.integers(0, 2**64, len(states), dtype=np.uint64)
        self.game.kernels.sample_hidden_games(states, self.tables, states["actor"].astype(np.int64), randoms)
        states["legal"] = self._states["legal"]  # the actors know it, and `only` may have changed it
        return states


@runtime_checkable
class Agent(Protocol):
    """Anything that has a name and answers decisions.

    Three attributes are optional: `remembers`, True for an agent that reads what happened before (`Decisions.of_each`);
    `forfeits`, True for one that may answer FORFEIT, by which its seat loses the game; `usage`, (5,) int64, what it
    used so far (`USAGE`), which reports show.

    Two more methods are optional:

    - `check(config: Config) -> None` raises ConfigError for a configuration that the agent can't play. `check_agents`
      calls it before a game.
    - `assess(decisions, generator) -> Assessment` explains the agent's choice. People who ask for advice see it. An
      agent that gives `values` for single actions must also be able to judge `Decisions.only`.
    """

    name: str

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64: a legal action for each of the N decisions.

        All randomness comes from `generator`: the same decisions and the same state of the generator give the same
        actions.
        """
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Assessment:
    """An agent's judgement of N decisions. All values are from the point of view of each decision's actor.

    Attributes:
        actions: (N,) int64, the actions that it would play. They are what `act` plays with the same generator, unless
            `act` draws its action at random.
        shares: (N, A) float64, how strongly it prefers each action. They sum to 1 and are 0 for illegal actions. None
            if the agent only names an action.
        meaning: what a share is, in words such as "share of its simulations".
        values: (N, A) float64, the value that it expects after each action; NaN for illegal actions and unknown
            values. None if the agent does not value single actions.
        value: (N,) float64, the value that it expects with best play; NaN if unknown. None if the agent has no such
            values.
        estimated: what the values are, in words such as CHANCE_TO_WIN.
    """

    actions: np.ndarray
    shares: np.ndarray | None = None
    meaning: str = ""
    values: np.ndarray | None = None
    value: np.ndarray | None = None
    estimated: str = ""


def ask(agent: Agent, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
    """The agent's actions, (N,) ints. Raises IllegalAction, with the agent's name, if one of them is not legal."""
    actions = np.asarray(agent.act(decisions, generator))
    decisions.check(agent.name, actions, getattr(agent, "forfeits", False))
    return actions


def assess(agent: Agent, decisions: Decisions, generator: np.random.Generator) -> Assessment:
    """An agent's judgement of decisions.

    An agent without `assess` gives its action probabilities, or only its actions if it has none.

    Raises IllegalAction, with the agent's name, for an illegal action or for numbers that `Assessment` does not allow.
    """
    if hasattr(agent, "assess"):
        assessed: Assessment = agent.assess(decisions, generator)
    elif hasattr(agent, "probabilities"):
        shares = np.asarray(agent.probabilities(decisions, generator))
        assessed = Assessment(actions=shares.argmax(axis=-1), shares=shares, meaning="its probability")
    else:
        return Assessment(actions=ask(agent, decisions, generator))
    wrong = f"agent {agent.name!r}: its assessment is wrong:"
    legal = decisions.action_masks == 1
    for name, given, shape in (
        ("shares", assessed.shares, legal.shape),
        ("values", assessed.values, legal.shape),
        ("value", assessed.value, legal.shape[:1]),
    ):
        if given is not None and (given.shape != shape or given.dtype.kind != "f"):
            raise IllegalAction(f"{wrong} {name} are {given.dtype} {given.shape}, not floats {shape}")
        if given is not None and name != "shares" and np.isinf(given).any():
            raise IllegalAction(f"{wrong} {name} are infinite")
    if assessed.shares is not None:
        sound = ((assessed.shares >= 0) & (legal | (assessed.shares == 0))).all()
        if not (sound and np.allclose(assessed.shares.sum(axis=1), 1.0, atol=1e-3)):
            raise IllegalAction(f"{wrong} shares are not from 0 to 1, with a sum of 1, of the legal actions alone")
    if assessed.values is not None and not np.isnan(assessed.values[~legal]).all():
        raise IllegalAction(f"{wrong} values of illegal actions are not NaN")
    decisions.check(agent.name, assessed.actions)
    return assessed


@checked
def check_agents(agents: Iterable[Agent], config: Config) -> None:
    """Call `check` of every agent that has one. Raises its ConfigError if an agent can't play `config`."""
    for agent in agents:
        if hasattr(agent, "check"):
            agent.check(config)
