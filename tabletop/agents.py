"""What an agent is: it is asked for the actions of many games at once, and sees only what the actors may know."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from tabletop.batch import Batch, illegal_action_text
from tabletop.errors import ConfigError, IllegalAction
from tabletop.game import Config, Game


@dataclass(eq=False, repr=False)
class Decisions:
    """The pending decisions of N games, each as its actor sees it.

    The games' true states stay inside: `sample_states` gives copies in which everything that the actor cannot know
    is drawn anew, so that an agent that looks ahead can neither peek nor disturb a game's random stream.
    """

    game: Game
    _states: np.ndarray
    tables: np.ndarray  # (1,) of `game.tables`, the numbers on the pieces
    observations: np.ndarray  # (N, D) float32, the actors' views
    action_masks: np.ndarray  # (N, A) int8, 1 for each legal action

    @classmethod
    def of(cls, batch: Batch, games: np.ndarray | None = None) -> Decisions:
        """The pending decisions of a batch, or of some of its games (indices; none of them may be over)."""
        chosen: slice | np.ndarray = slice(None) if games is None else games
        observations = batch.observations[chosen]
        if observations.dtype != np.float32:
            observations = observations / batch.game.observation.divisors
        return cls(batch.game, batch.states[chosen], batch.tables, observations, batch.action_masks[chosen])

    def __len__(self) -> int:
        return len(self._states)

    def check(self, agent: str, actions: np.ndarray) -> None:
        """Raise IllegalAction, which names the agent, unless these are (N,) ints, a legal one for each decision."""
        if actions.shape != (len(self),) or actions.dtype.kind not in "iu":
            wanted = f"ints of shape ({len(self)},)"
            raise IllegalAction(f"agent {agent!r}: act gives {actions.dtype} {actions.shape}, not {wanted}")
        legal = (actions >= 0) & (actions < self.game.num_actions)
        legal[legal] = self.action_masks[legal, actions[legal]] == 1
        if not legal.all():
            first = int(legal.argmin())
            wrong = illegal_action_text(self.game, self._states[first], int(actions[first]))
            raise IllegalAction(f"agent {agent!r}: {wrong}")

    def sample_states(self, generator: np.random.Generator) -> np.ndarray:
        """(N,) records: copies with all that the actors can't see redrawn, as `rules.sample_hidden` says."""
        states = self._states.copy()
        randoms = generator.integers(0, 2**64, len(states), dtype=np.uint64)
        self.game.kernels.sample_hidden_games(states, self.tables, states["actor"].astype(np.int64), randoms)
        return states


@runtime_checkable
class Agent(Protocol):
    """Anything that has a name and answers decisions.

    `act` returns (N,) int64 legal actions, one a decision. All its randomness comes from `generator`: the same
    decisions and the same generator state give the same actions.

    An agent that can't play every configuration may also have `check(config: Config) -> None`, which raises
    ConfigError for those; `check_agents` calls it before a game.
    """

    name: str

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64: a legal action for each of the decisions."""
        ...


def agent_of_name(name: str, game: Game) -> Agent:
    """What `tabletop_agents.make_agent` gives. Raises ConfigError as it does, and where that package is not there."""
    try:  # the one thing that this package looks for above it
        above = importlib.import_module("tabletop_agents")
    except ImportError as error:
        raise ConfigError(f"agent {name!r}: agents by name need the package tabletop_agents ({error})") from None
    agent: Agent = above.make_agent(name, game)
    return agent


def ask(agent: Agent, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
    """The agent's actions, (N,) ints. Raises IllegalAction, which names the agent, where one of them is not legal."""
    actions = np.asarray(agent.act(decisions, generator))
    decisions.check(agent.name, actions)
    return actions


def check_agents(agents: Iterable[Agent], config: Config) -> None:
    """Ask those agents that have a `check` for it. Raises ConfigError, theirs, where one can't play `config`."""
    for agent in agents:
        if hasattr(agent, "check"):
            agent.check(config)
