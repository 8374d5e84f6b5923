"""What an agent is: it is asked for the actions of many games at once, and sees only what the actors may know."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from tabletop.batch import Batch, illegal_action_text
from tabletop.errors import ConfigError, IllegalAction
from tabletop.game import Config, Game

CHANCE_TO_WIN = "chance to win"
POINTS_AHEAD, POINTS = "points ahead as it values positions", "points as it values positions"
RESULT = "result from 0 for lost to 1 for won"
"""What agents' values are, in words (`Assessment.estimated`). Those in points are by the game's own evaluation, which
is made for comparing positions: they tell one answer from another, and need not come true."""


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

    @property
    def players(self) -> np.ndarray:
        """(N,) ints: how many play each game."""
        return np.asarray(self._states["players"])

    @property
    def owners(self) -> np.ndarray:
        """(N,) ints: how many have points there, the players and an opponent whom the rules play."""
        return np.asarray(self._states["owners"])

    def only(self, actions: np.ndarray) -> Decisions:
        """The same decisions as if these (N,) legal actions were the only ones, for an agent to judge them alone."""
        states, masks, each = self._states.copy(), np.zeros_like(self.action_masks), np.arange(len(self))
        states["legal"] = 0
        states["legal"][each, actions // 64] = np.uint64(1) << (actions % 64).astype(np.uint64)
        masks[each, actions] = 1
        return replace(self, _states=states, action_masks=masks)

    def sample_states(self, generator: np.random.Generator) -> np.ndarray:
        """(N,) records: copies with all that the actors can't see redrawn, as `rules.sample_hidden` says."""
        states = self._states.copy()
        randoms = generator.integers(0, 2**64, len(states), dtype=np.uint64)
        self.game.kernels.sample_hidden_games(states, self.tables, states["actor"].astype(np.int64), randoms)
        states["legal"] = self._states["legal"]  # the actors know it; rules that find it anew would undo `only`
        return states


@runtime_checkable
class Agent(Protocol):
    """Anything that has a name and answers decisions.

    `act` returns (N,) int64 legal actions, one a decision. All its randomness comes from `generator`: the same
    decisions and the same generator state give the same actions.

    An agent that can't play every configuration may also have `check(config: Config) -> None`, which raises
    ConfigError for those; `check_agents` calls it before a game.

    An agent that can explain itself may also have `assess(decisions, generator) -> Assessment`; people who ask for
    advice get what it says. One whose values are of single actions judges each of `Decisions.only`, too.
    """

    name: str

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64: a legal action for each of the decisions."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Assessment:
    """What an agent thinks of N decisions, from one look at each; values are the actors' own.

    Attributes:
        actions: (N,) int64, what it would play: what `act` plays with the same generator, unless that draws lots.
        shares: (N, A) float64, what part of its favour each action has: a sum of 1, 0 for illegal ones. None from an
            agent that only names an action.
        meaning: what a share is, in words such as "share of its simulations".
        values: (N, A) float64, what it expects after each action; NaN for illegal ones, and where it can't tell.
            None from an agent that values no single actions.
        value: (N,) float64, what it expects with best play, NaN where it can't tell. None from one that never can.
        estimated: what the values are, in words such as CHANCE_TO_WIN.
    """

    actions: np.ndarray
    shares: np.ndarray | None = None
    meaning: str = ""
    values: np.ndarray | None = None
    value: np.ndarray | None = None
    estimated: str = ""


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


def assess(agent: Agent, decisions: Decisions, generator: np.random.Generator) -> Assessment:
    """What an agent says of decisions: as much as it can, from one look at each.

    Raises IllegalAction, which names the agent, where it names an illegal action or its numbers are none of such.
    """
    if hasattr(agent, "assess"):
        told: Assessment = agent.assess(decisions, generator)
    elif hasattr(agent, "probabilities"):
        shares = np.asarray(agent.probabilities(decisions, generator))
        told = Assessment(actions=shares.argmax(axis=-1), shares=shares, meaning="its probability")
    else:
        return Assessment(actions=ask(agent, decisions, generator))
    wrong = f"agent {agent.name!r}: what it assesses is wrong:"
    legal = decisions.action_masks == 1
    for name, given, shape in (
        ("shares", told.shares, legal.shape),
        ("values", told.values, legal.shape),
        ("value", told.value, legal.shape[:1]),
    ):
        if given is not None and (given.shape != shape or given.dtype.kind != "f"):
            raise IllegalAction(f"{wrong} {name} are {given.dtype} {given.shape}, not floats {shape}")
        if given is not None and name != "shares" and np.isinf(given).any():
            raise IllegalAction(f"{wrong} {name} are infinite")
    if told.shares is not None:
        sound = ((told.shares >= 0) & (legal | (told.shares == 0))).all()
        if not (sound and np.allclose(told.shares.sum(axis=1), 1.0, atol=1e-3)):
            raise IllegalAction(f"{wrong} shares are not from 0 to 1, with a sum of 1, of the legal actions alone")
    if told.values is not None and not np.isnan(told.values[~legal]).all():
        raise IllegalAction(f"{wrong} values of illegal actions are not NaN")
    decisions.check(agent.name, told.actions)
    return told


def check_agents(agents: Iterable[Agent], config: Config) -> None:
    """Ask those agents that have a `check` for it. Raises ConfigError, theirs, where one can't play `config`."""
    for agent in agents:
        if hasattr(agent, "check"):
            agent.check(config)
