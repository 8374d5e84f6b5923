"""Who plays the other seats while a network learns: itself, a league of its earlier selves, or agents by name."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from tabletop_agents import make_agent
from tabletop_agents.networks import Network
from tabletop_agents.policy import PolicyAgent
from tabletop_engine.checks import fit_fields
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Config
from tabletop_engine.play.agents import Agent, check_agents
from tabletop_engine.seeds import Stream, generator
from tabletop_training.files.settings import check_at_least_one
from tabletop_training.files.trees import arrays_of, load_tree, save_tree, tensors_of
from tabletop_training.learn.ppo import masked_log_probabilities
from tabletop_training.measure.ratings import START_MU, Ratings

LEARNER = -1
"""The player of a seat in which the network plays and learns; other players are indices of members."""
LEARNER_NAME = "learner"
"""The learner's name among the ratings: the network as it is now, which drifts while it learns."""
ANCHOR = "random"
"""The player whose rating stays at 25, so that ratings show how far the others are from random play."""
LEAGUE_COLUMNS = ("steps", "player", "rating", "low", "high", "games", "learner_ahead", "share")
_KEPT = ("name", "in_league", "steps", "ahead", "games", "active")


@dataclass(frozen=True)
class OpponentSettings:
    """Who plays the other seats: the table `[opponents]` of a settings file. Raises ConfigError.

    The shares are of games. In these games the network has one seat; in all others it has every seat, and learns in
    each.

    The league holds earlier selves of the network, which draw their actions from its policy, and the agents `scripted`.
    The first, the newest and the highest rated earlier self always stay. Of the others, the one that leaves the
    smallest gap is dropped, so the rest are spread evenly over the past. Each seat of a league's game goes to the
    newest self with probability `newest`; otherwise to member i in proportion to (1 - w)^power + floor, where w is the
    share of its games in which the learner finished ahead of it.
    """

    league: float = 0.0  # share of the games against the league
    agents: dict[str, float] = field(default_factory=dict)  # shares of the games in which an agent has all other seats
    scripted: tuple[str, ...] = ()  # agents in the league
    snapshots: int = 8  # earlier selves in the league
    snapshot_steps: int = 1_000_000  # the learner's decisions between two of them
    newest: float = 0.0
    power: float = 0.0  # more: members that still win get more seats; 0: all get the same
    floor: float = 0.05  # keeps a member that the learner always beats from being forgotten
    memory: int = 200  # w is the mean of about so many of a member's games; older ones fade

    def __post_init__(self) -> None:
        fit_fields(self)
        check_at_least_one(snapshot_steps=self.snapshot_steps, memory=self.memory)
        if self.snapshots < 3:
            raise ConfigError(
                f"snapshots={self.snapshots}: must be at least 3: the first, newest and highest rated one"
            )
        if len(set(self.scripted)) < len(self.scripted):
            raise ConfigError(f"scripted={list(self.scripted)}: must be different agents")
        shares = {"league": self.league, **self.agents}
        for name, share in (*shares.items(), ("newest", self.newest)):
            if not 0 <= share <= 1:
                raise ConfigError(f"{name}={share}: must be a share from 0 to 1")
        if sum(shares.values()) > 1 + 1e-9:
            given = ", ".join(f"{name}={share}" for name, share in shares.items())
            raise ConfigError(f"{given}: the shares must be at most 1 together")
        if not 0 <= self.power < float("inf") or not 0 < self.floor < float("inf"):
            must_be = "must be finite numbers of at least 0, and above 0"
            raise ConfigError(f"power={self.power}, floor={self.floor}: {must_be}")


@dataclass(eq=False)
class Member:
    """Somebody who can have a seat: a network on the device, or an agent."""

    name: str
    network: Network | None = None
    agent: Agent | None = None
    sample: bool = True  # whether actions are drawn from the network's policy; otherwise it takes the likeliest one
    in_league: bool = True
    steps: int = -1  # of learning when this earlier self was copied; -1 for others
    ahead: float = 0.0  # the games in which the learner finished ahead of it, half for a tie; it fades with time
    games: float = 0.0  # fading, too
    active: bool = True  # False once it was dropped: games that run against it end, and no new ones begin

    @property
    def learner_ahead(self) -> float:
        """The share of games in which the learner finishes ahead, with two ties added."""
        return (self.ahead + 1) / (self.games + 2)

    def log_probabilities(
        self, seen: torch.Tensor, shortfalls: torch.Tensor | None, masks: torch.Tensor
    ) -> torch.Tensor:
        """(n, A) log-probabilities of its network, for the learner's inputs (n, ·) and masks (n, A)."""
        assert self.network is not None
        own = seen[:, : self.network.inputs]  # a network that does not read the printed numbers gets none
        own_policy = masked_log_probabilities(self.network.logits(self.network.trunk(own), shortfalls), masks)
        if self.sample:
            return own_policy
        likeliest = functional.one_hot(own_policy.argmax(dim=1), own_policy.shape[1])
        return masked_log_probabilities(torch.zeros_like(own_policy), likeliest == 1)


class Opponents:
    """The members, who sits where, and how the learner fares against them.

    Arguments:
        configs: what is played; every agent must be able to play them.
        folder: earlier selves are saved here; None keeps them in memory only.
        device: torch's; networks play on it.

    Attributes:
        members: a list; a game holds indices of it. A member keeps its place as long as a game against it runs.
        ratings: of the league's members and the learner.
    """

    def __init__(
        self,
        settings: OpponentSettings,
        configs: Sequence[Config],
        folder: Path | None,
        seed: int,
        device: str = "cpu",
    ) -> None:
        self.settings, self.folder, self.device = settings, folder, device
        self._game = configs[0].game
        several = [config for config in configs if config.players > 1]
        league = settings.scripted if settings.league > 0 else ()
        named = [name for name, share in settings.agents.items() if share > 0]
        self.members = [self._member(name, several, True) for name in league if several]
        self.members += [self._member(name, several, False) for name in named if several]
        self.ratings = Ratings(fixed={ANCHOR: START_MU}, drifting=(LEARNER_NAME,))
        self.generator = generator(seed, Stream.SEATS)

    def _member(self, name: str, configs: Sequence[Config], in_league: bool) -> Member:
        agent = make_agent(name, self._game)
        for config in configs:
            check_agents([agent], config)
        if isinstance(agent, PolicyAgent):
            network = copy.deepcopy(agent.network).to(self.device)
            return Member(name, network=network, sample=agent.sample, in_league=in_league)
        return Member(name, agent=agent, in_league=in_league)

    @property
    def has_league(self) -> bool:
        """Whether some games are played against the league."""
        return self.settings.league > 0

    @property
    def weighs(self) -> bool:
        """Whether a member needs the actions' shortfalls."""
        return any(member.network is not None and member.network.weighs for member in self.members)

    @property
    def snapshots(self) -> list[Member]:
        """The earlier selves that take part in new games, oldest first."""
        chosen = [member for member in self.members if member.active and member.steps >= 0]
        return sorted(chosen, key=lambda member: member.steps)

    # --- who sits where ---

    def shares(self) -> np.ndarray:
        """(members,) float64: each member's chance to get a seat of a league's game; 0 for all in an empty league."""
        settings = self.settings
        losing = np.array([1.0 - member.learner_ahead for member in self.members])
        weights = losing**settings.power + settings.floor
        weights[[not (member.active and member.in_league) for member in self.members]] = 0.0
        if not weights.any():
            return weights
        shares = weights / weights.sum()
        if self.snapshots:
            shares *= 1.0 - settings.newest
            shares[self.members.index(self.snapshots[-1])] += settings.newest
        return np.asarray(shares / shares.sum())

    def seat(self, games: int, players: int) -> np.ndarray:
        """The players of the seats of games that start now: (games, players) int64."""
        seated = np.full((games, players), LEARNER, np.int64)
        if players == 1 or not self.members:
            return seated
        mine = np.arange(players) == self.generator.integers(players, size=(games, 1))
        kind = self.generator.random(games)
        if self.has_league and (shares := self.shares()).any():
            rows = kind < self.settings.league
            seated[rows] = self.generator.choice(len(self.members), size=(int(rows.sum()), players), p=shares)
        bound = self.settings.league
        for index, member in enumerate(self.members):
            if not member.in_league:
                seated[(kind >= bound) & (kind < bound + self.settings.agents[member.name])] = index
                bound += self.settings.agents[member.name]
        seated[mine] = LEARNER
        return seated

    # --- how the learner fares ---

    def record(self, players: np.ndarray, places: np.ndarray) -> None:
        """Count an ended game: who had its seats, (P,) int64, and their places, (P,) ints, with 1 the first."""
        others = [(self.members[one], int(place)) for one, place in zip(players, places, strict=True) if one != LEARNER]
        if not others or len(others) != len(players) - 1 or not all(member.in_league for member, _ in others):
            return
        own = int(places[players == LEARNER][0])
        fading = 1.0 - 1.0 / self.settings.memory
        for member, place in others:
            member.ahead = member.ahead * fading + (1.0 if own < place else 0.5 if own == place else 0.0)
            member.games = member.games * fading + 1.0
        names = [LEARNER_NAME, *(member.name for member, _ in others)]
        self.ratings.add(names, [own, *(place for _, place in others)])

    def numbers(self) -> dict[str, float]:
        """Numbers for a log: the learner's rating, and how often it finishes ahead of the league's members."""
        if not self.has_league or not self.snapshots:
            return {}
        numbers = {"league/rating": self.ratings[LEARNER_NAME].mu, "league/snapshots": float(len(self.snapshots))}
        for member in self.members:
            if member.steps < 0 and member.in_league:
                numbers[f"league/ahead_of_{member.name}"] = member.learner_ahead
                numbers[f"league/rating_of_{member.name}"] = self.ratings[member.name].mu
        numbers["league/ahead_of_newest"] = self.snapshots[-1].learner_ahead
        numbers["league/ahead_of_snapshots"] = float(np.mean([member.learner_ahead for member in self.snapshots]))
        return numbers

    def rows(self, steps: int) -> list[dict[str, Any]]:
        """Rows of a log of the league: the learner first, then its members.

        `rating` has the ends `low` and `high` of its interval; `games` are those rated; `learner_ahead` is the share of
        its last games in which the learner finished ahead; `share` is its chance to get a seat.
        """

        def row(name: str, ahead: float | str = "", share: float | str = "") -> dict[str, Any]:
            one = self.ratings[name]
            values = (round(one.mu, 3), round(one.low, 3), round(one.high, 3), one.games)
            return dict(zip(LEAGUE_COLUMNS, (steps, name, *values, ahead, share), strict=True))

        rows = [row(LEARNER_NAME)]
        for member, share in zip(self.members, self.shares(), strict=True):
            if member.active and member.in_league:
                rows.append(row(member.name, round(member.learner_ahead, 4), round(float(share), 4)))
        return rows

    # --- earlier selves ---

    def take_snapshot(self, network: Network, steps: int, playing: np.ndarray) -> None:
        """Copy the network into the league if it is time. `playing` are the members that running games have."""
        snapshots = self.snapshots
        if not self.has_league or (snapshots and steps - snapshots[-1].steps < self.settings.snapshot_steps):
            return
        member = Member(f"snapshot-{steps}", network=copy.deepcopy(network), steps=steps)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            save_tree(snapshot_file(self.folder, steps), arrays_of(network.state_dict()))
        self.ratings.start(member.name, self.ratings[LEARNER_NAME])
        free = [i for i, old in enumerate(self.members) if not old.active and i not in playing]
        if free:
            self.ratings.forget(self.members[free[0]].name)
            self.members[free[0]] = member
        else:
            self.members.append(member)
        if len(self.snapshots) > self.settings.snapshots:
            self._dispensable().active = False

    def _dispensable(self) -> Member:
        snapshots = self.snapshots
        strongest = max(snapshots, key=lambda member: self.ratings[member.name].mu)
        inner = [i for i in range(1, len(snapshots) - 1) if snapshots[i] is not strongest]
        return snapshots[min(inner, key=lambda i: snapshots[i + 1].steps - snapshots[i - 1].steps)]

    def remove_unused_files(self) -> None:
        """Delete the files of earlier selves that are no longer used. Call it after a state without them was saved."""
        if self.folder is None:
            return
        used = {snapshot_file(self.folder, member.steps) for member in self.members if member.steps >= 0}
        for path in self.folder.glob("snapshot-*.zip"):
            if path not in used:
                path.unlink()

    # --- saving ---

    def get_state(self) -> dict[str, Any]:
        """The state that a resumed run needs, without settings, agents and weights, which are in files."""
        return {
            "members": [{key: getattr(member, key) for key in _KEPT} for member in self.members],
            "ratings": self.ratings.get_state(),
        }

    def set_state(self, state: dict[str, Any], network: Network, weights: Mapping[int, dict[str, np.ndarray]]) -> None:
        """Restore a state from `get_state`. Earlier selves have the network's layers, and `weights` by their steps."""
        others = {(member.name, member.in_league): member for member in self.members if member.steps < 0}
        self.members = []
        for saved in state["members"]:
            if saved["steps"] < 0:
                member = others[saved["name"], saved["in_league"]]
            else:
                copied = copy.deepcopy(network)
                copied.load_state_dict(tensors_of(weights[saved["steps"]]))
                member = Member(saved["name"], network=copied, steps=saved["steps"])
            member.ahead, member.games, member.active = saved["ahead"], saved["games"], saved["active"]
            self.members.append(member)
        self.ratings.set_state(state["ratings"])


def snapshot_file(folder: Path, steps: int) -> Path:
    """The file of the earlier self after this many steps."""
    return folder / f"snapshot-{steps}.zip"


def read_snapshots(folder: Path, state: dict[str, Any]) -> dict[int, dict[str, np.ndarray]]:
    """The weights of all earlier selves in a state of `Opponents.get_state`, by their steps.

    Raises CheckpointError if a file is missing or damaged.
    """
    steps = [one["steps"] for one in state["members"] if one["steps"] >= 0]
    return {one: load_tree(snapshot_file(folder, one)) for one in steps}
