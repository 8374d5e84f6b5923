"""A league for self-play: earlier snapshots of the learner and scripted agents, the draw of opponents, and ratings."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tabletop import seeds
from tabletop.agents import Decisions
from tabletop.checks import fit_fields
from tabletop.errors import CheckpointError, ConfigError
from tabletop.game import Game
from tabletop_agents import Agent, make_agent
from tabletop_agents.networks import ACTIVATIONS, Network
from tabletop_training.learn.devices import matmul_precision
from tabletop_training.ratings import START_MU, Ratings
from tabletop_training.resume import load_tree, save_tree
from tabletop_training.settings import check_at_least_one

LEARNER = "learner"
"""The learner's name among the ratings: the network as it is now, which drifts while it learns."""

ANCHOR = "random"
"""The player whose rating stays at 25, so that ratings show how far the others are from random play."""


@dataclass(frozen=True)
class LeagueSettings:
    """The members of the league and how often each is drawn. Raises ConfigError for impossible values.

    The first, the newest and the highest rated snapshots are always kept. Of the others, the one that leaves the
    smallest gap is dropped, so the rest are spread evenly over the learner's past.

    Seats that do not go to the newest snapshot go to member i in proportion to (1 - w)^power + floor, where w is the
    share of its games in which the learner finished ahead of it. A higher power gives more seats to members that still
    win.
    """

    snapshot_steps: int = 100_000  # of learning between two snapshots
    snapshots: int = 10  # how many are kept
    scripted: tuple[str, ...] = ("random", "greedy")  # names of agents that are always in the league
    newest: float = 0.4  # share of the seats that go to the newest snapshot, whatever the results
    power: float = 1.5
    floor: float = 0.05  # keeps a member that the learner always beats from being forgotten
    memory: int = 200  # of about how many games of a member w is the mean; older ones fade, because the learner changes

    def __post_init__(self) -> None:
        fit_fields(self)
        check_at_least_one(snapshot_steps=self.snapshot_steps)
        if self.snapshots < 3:
            raise ConfigError(
                f"snapshots={self.snapshots}: must be at least 3 (the first, the newest, the highest rated)"
            )
        if not self.scripted or len(set(self.scripted)) < len(self.scripted):
            raise ConfigError(f"scripted={list(self.scripted)}: must be one or more different agents")
        if not 0 <= self.newest <= 1:
            raise ConfigError(f"newest={self.newest}: must be a share from 0 to 1")
        if self.power < 0 or self.floor <= 0 or self.memory < 1:
            raise ConfigError(
                f"power={self.power}, floor={self.floor}, memory={self.memory}: must have power at least 0, "
                "floor above 0, memory at least 1"
            )


class Snapshot:
    """The policy of a network at one moment, as plain layers: an agent that draws its actions from the policy.

    Arguments:
        layers: (weights (outputs, inputs), biases (outputs,)) float32, from the observation to the actions' logits.
        activation: "ReLU" or "Tanh", between the layers.

    Raises CheckpointError for layers that do not lead from an observation to the actions.
    """

    def __init__(self, name: str, game: Game, layers: Sequence[tuple[np.ndarray, np.ndarray]], activation: str) -> None:
        inputs, actions = game.observation.size, game.num_actions
        sizes = [inputs, *(len(biases) for _, biases in layers)]
        shapes = [weights.shape for weights, _ in layers]
        joined = shapes == [(after, before) for before, after in itertools.pairwise(sizes)]
        if activation not in ACTIVATIONS or sizes[-1] != actions or not joined:
            raise CheckpointError(
                f"snapshot {name!r}: layers {shapes} with {activation!r} do not lead from {inputs} "
                f"observed numbers to {actions} actions"
            )
        self.name = name
        self.layers = [(np.array(weights, np.float32), np.array(biases, np.float32)) for weights, biases in layers]
        self.activation = activation
        self._activate = ACTIVATIONS[activation]()
        # transposed, they are multiplied up to twice as fast for the few decisions of a call
        self._tensors = [
            (torch.from_numpy(np.ascontiguousarray(weights.T)), torch.from_numpy(biases))
            for weights, biases in self.layers
        ]

    @classmethod
    def of(cls, policy: Any, name: str, game: Game) -> Snapshot:
        """A copy of a MaskablePPO policy as it is now. Raises ConfigError for a policy of another architecture."""
        network = Network.of(policy)
        chain: list[Any] = [*network.trunk, *network.policy]
        between = {type(layer).__name__ for layer in chain[1::2]}
        if len(between) > 1 or not all(isinstance(layer, torch.nn.Linear) for layer in chain[::2]):
            kinds = ", ".join(type(layer).__name__ for layer in chain)
            raise ConfigError(f"self-play copies layers with one kind of activation between them, not {kinds}")
        layers = [(layer.weight.detach().cpu().numpy(), layer.bias.detach().cpu().numpy()) for layer in chain[::2]]
        return cls(name, game, layers, next(iter(between), "ReLU"))

    def save(self, path: Path) -> None:
        """Write the layers to a file, which is replaced as a whole."""
        save_tree(path, {"activation": self.activation, "layers": [list(layer) for layer in self.layers]})

    @classmethod
    def load(cls, path: Path, name: str, game: Game) -> Snapshot:
        """Load a file of `save`. Raises CheckpointError if it is missing, damaged or has another version."""
        tree = load_tree(path)
        try:
            return cls(name, game, [tuple(layer) for layer in tree["layers"]], tree["activation"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CheckpointError(f"{path}: holds no snapshot ({error})") from None

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64 legal actions, drawn from the policy: one pass for all decisions."""
        # bfloat16 would convert all weights anew in each call: four times as long for a few decisions
        with torch.inference_mode(), matmul_precision("highest"):
            values = torch.from_numpy(np.ascontiguousarray(decisions.observations, np.float32))
            for weights, biases in self._tensors[:-1]:
                values = self._activate(torch.addmm(biases, values, weights))
            weights, biases = self._tensors[-1]
            logits = torch.addmm(biases, values, weights).numpy()
        logits = np.where(decisions.action_masks == 1, logits, -np.inf)
        chances = np.exp(logits - logits.max(axis=1, keepdims=True)).cumsum(axis=1, dtype=np.float64)
        # float32 draws end far enough below 1 that the product stays below the sum of the chances
        drawn = generator.random((len(chances), 1), np.float32) * chances[:, -1:]
        return np.asarray((chances <= drawn).sum(axis=1), np.int64)


_KEPT = ("steps", "ahead", "games", "active")


@dataclass(eq=False)
class Member:
    """A member of the league."""

    agent: Agent
    steps: int = -1  # of learning when the snapshot was taken; -1 for a scripted agent
    ahead: float = 0.0  # in how many of the games the learner finished ahead of it (half for a tie); it fades with time
    games: float = 0.0  # fading, too
    active: bool = True  # False once dropped: games that run against it end, no new ones begin

    @property
    def name(self) -> str:
        return self.agent.name

    @property
    def learner_ahead(self) -> float:
        """The rate at which the learner finishes ahead, as if two even games had been played before the first."""
        return (self.ahead + 1) / (self.games + 2)


@dataclass(eq=False)
class League:
    """The members with their results, and the draws of opponents.

    `agents` are the `VersusBatch.opponents`. A member keeps its place there as long as any game against it runs, so the
    opponent of a running game never changes.

    Arguments:
        opponents: the number of seats of a game that members play.
        folder: snapshots are saved here, each in a file.
        seed: of the draws.
    """

    settings: LeagueSettings
    game: Game
    opponents: int
    folder: Path
    seed: int

    def __post_init__(self) -> None:
        self.members = [Member(make_agent(name, self.game)) for name in self.settings.scripted]
        self.ratings = Ratings(fixed={ANCHOR: START_MU}, drifting=(LEARNER,))
        self.generator = seeds.generator(self.seed, seeds.Stream.LEAGUE, self.opponents)

    @property
    def agents(self) -> list[Agent]:
        """The members as agents, in the order of the indices that `assign` gives."""
        return [member.agent for member in self.members]

    @property
    def snapshots(self) -> list[Member]:
        """The snapshots that take part in new games, oldest first."""
        chosen = [member for member in self.members if member.active and member.steps >= 0]
        return sorted(chosen, key=lambda member: member.steps)

    def shares(self) -> np.ndarray:
        """(members,) float64: each member's chance to get a seat; 0 for dropped members."""
        settings = self.settings
        losing = np.array([1.0 - member.learner_ahead for member in self.members])
        weights = losing**settings.power + settings.floor
        weights[[not member.active for member in self.members]] = 0.0
        shares = weights / weights.sum()
        if self.snapshots:
            shares *= 1.0 - settings.newest
            shares[self.members.index(self.snapshots[-1])] += settings.newest
        return shares

    def assign(self, games: np.ndarray) -> np.ndarray:
        """Draw the players of the seats beside the learner: (len(games), opponents) int64 indices into `agents`."""
        shares = self.shares()
        drawn = self.generator.choice(len(shares), size=(len(games), self.opponents), p=shares / shares.sum())
        return np.asarray(drawn, np.int64)

    def record(self, lineups: np.ndarray, places: np.ndarray) -> None:
        """Count finished games.

        Arguments:
            lineups: (games, opponents) int, indices as `assign` gave them.
            places: (games, 1 + opponents) int, the learner's place first, then the opponents' in the line-up's order.
        """
        fading = 1.0 - 1.0 / self.settings.memory
        for lineup, own in zip(lineups.tolist(), places.tolist(), strict=True):
            for index, place in zip(lineup, own[1:], strict=True):
                member = self.members[index]
                member.ahead = member.ahead * fading + (1.0 if own[0] < place else 0.5 if own[0] == place else 0.0)
                member.games = member.games * fading + 1.0
            self.ratings.add([LEARNER, *(self.members[index].name for index in lineup)], own)

    def numbers(self) -> dict[str, float]:
        """Numbers for a log: the learner's rating, and how often it finishes ahead of the members."""
        numbers = {"league/rating": self.ratings[LEARNER].mu, "league/snapshots": float(len(self.snapshots))}
        for member in self.members:
            if member.steps < 0:
                numbers[f"league/ahead_of_{member.name}"] = member.learner_ahead
                numbers[f"league/rating_of_{member.name}"] = self.ratings[member.name].mu
        numbers["league/ahead_of_newest"] = self.snapshots[-1].learner_ahead
        numbers["league/ahead_of_snapshots"] = float(np.mean([member.learner_ahead for member in self.snapshots]))
        return numbers

    def due(self, steps: int) -> bool:
        """Whether a snapshot is due after this many steps of learning."""
        snapshots = self.snapshots
        return not snapshots or steps - snapshots[-1].steps >= self.settings.snapshot_steps

    def add(self, policy: Any, steps: int, playing: Collection[int] = ()) -> Snapshot:
        """Add a snapshot of a MaskablePPO policy to the league. It starts with the learner's rating.

        If there are too many snapshots, one is dropped. `playing` are the indices of members in running games; the new
        snapshot does not take their places.
        """
        snapshot = Snapshot.of(policy, f"snapshot-{steps}", self.game)
        self.folder.mkdir(parents=True, exist_ok=True)
        snapshot.save(self._file(steps))
        self.ratings.start(snapshot.name, self.ratings[LEARNER])
        member = Member(snapshot, steps)
        free = [i for i, old in enumerate(self.members) if not old.active and i not in playing]
        if free:
            self.ratings.forget(self.members[free[0]].name)
            self.members[free[0]] = member
        else:
            self.members.append(member)
        if len(self.snapshots) > self.settings.snapshots:
            self._dispensable().active = False
        return snapshot

    def _dispensable(self) -> Member:
        snapshots = self.snapshots
        strongest = max(snapshots, key=lambda member: self.ratings[member.name].mu)
        inner = [i for i in range(1, len(snapshots) - 1) if snapshots[i] is not strongest]
        return snapshots[min(inner, key=lambda i: snapshots[i + 1].steps - snapshots[i - 1].steps)]

    def _file(self, steps: int) -> Path:
        return self.folder / f"snapshot-{steps}.zip"

    def get_state(self) -> dict[str, Any]:
        """The state as exact JSON values, without the settings and the snapshots' weights, which are in files."""
        return {
            "members": [{key: getattr(member, key) for key in ("name", *_KEPT)} for member in self.members],
            "ratings": self.ratings.get_state(),
            "generator": self.generator.bit_generator.state,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state from `get_state`; snapshots are read from the folder.

        Raises CheckpointError if one is missing or damaged, ConfigError for scripted agents that do not exist.
        """

        def agent(name: str, steps: int) -> Agent:
            return make_agent(name, self.game) if steps < 0 else Snapshot.load(self._file(steps), name, self.game)

        self.members = [
            Member(agent(one["name"], one["steps"]), *(one[key] for key in _KEPT)) for one in state["members"]
        ]
        self.ratings.set_state(state["ratings"])
        self.generator.bit_generator.state = state["generator"]

    def remove_unused_files(self) -> None:
        """Delete the files of snapshots that are no longer used. Call it after a state without them was saved."""
        used = {self._file(member.steps) for member in self.members if member.steps >= 0}
        for path in self.folder.glob("snapshot-*.zip"):
            if path not in used:
                path.unlink()
