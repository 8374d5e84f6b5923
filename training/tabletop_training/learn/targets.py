"""Decisions of finished games with targets to learn from: how they are played, kept, and compared with a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch.nn import functional

from tabletop_agents.networks import Network
from tabletop_agents.search.forward import MARGIN_UNIT
from tabletop_engine import seeds
from tabletop_engine.game import NOBODY, Config, Game
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.scores import margins, win_shares
from tabletop_engine.record import exact_points
from tabletop_training.learn.ppo import masked_log_probabilities, masked_logits

Targets = dict[str, torch.Tensor]
"""Columns of n decisions: what is seen, and what is to be learned. A actions, space for K seats.

observations: (n, D) int8 counts. masks: (n, A) bool, the legal actions. players, teams: (n,) int64, their numbers.
won, margins: (n, K) float32, how the game ended: each team's share of the victory and its margin in units of
    `forward.MARGIN_UNIT` points, from the actor's team on; 0 for teams that the game does not have. Where everybody
    plays alone, these are the seats clockwise from the actor.
policy: (n, A), the policy's target probabilities; only if it learns.
shortfalls: (n, A) float16, in points; only for a network that weighs them.
"""


class Buffer:
    """A ring of the newest `capacity` decisions."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.added = capacity, 0
        self._columns: Targets = {}

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, new: Targets) -> None:
        """Add decisions; they replace the oldest ones. They have the columns, types and device of the first ones."""
        device, count = new["players"].device, len(new["players"])
        if not self._columns:
            for name, column in new.items():
                shape = (self.capacity, *column.shape[1:])
                self._columns[name] = torch.empty(shape, dtype=column.dtype, device=device)
        rows = (self.added + torch.arange(count, device=device)[-self.capacity :]) % self.capacity
        for name, column in self._columns.items():
            column[rows] = new[name][-self.capacity :]
        self.added += count

    def draw(self, number: int) -> Targets:
        """Draw this many of them, with repetition, by torch's generator of the device."""
        rows = torch.randint(len(self), (number,), device=self._columns["players"].device)
        return {name: column[rows] for name, column in self._columns.items()}


# --- Games -----------------------------------------------------------------------------------------------------------

Columns = dict[str, np.ndarray]
Choose = Callable[[Decisions, np.random.Generator], tuple[np.ndarray, Columns]]
"""Answers n decisions: gives the actions, (n,), and columns of targets."""


def play_out(
    choose: Choose,
    configs: Sequence[Config],
    seed: int,
    share: float = 1.0,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[Columns, np.ndarray, np.ndarray] | None:
    """Play one game of each configuration; they have the same number of players and the same components.

    Returns columns of `Targets` for a share of the decisions with more than one answer, and the results of the games by
    seat, (games, players) float64 each: shares of the victory and margins. Returns None if `should_stop`, which is
    asked at every step, asked to stop.
    """
    first, generator = configs[0], seeds.generator(seed, seeds.Stream.TARGETS)
    batch = Batch(first, len(configs), seed, autoreset="disabled", observation_dtype="int8")
    batch.reset(seed, config=list(configs))
    kept: list[Columns] = []
    actions = np.zeros(len(configs), np.int64)
    while len(playing := np.flatnonzero(batch.actors != NOBODY)):
        if should_stop():
            return None
        decisions = Decisions.of(batch, playing)
        actions[playing], columns = choose(decisions, generator)
        masks = decisions.action_masks == 1
        rows = np.flatnonzero((generator.random(len(playing)) < share) & (masks.sum(axis=1) > 1))
        columns |= {"observations": batch.observations[playing], "masks": masks}
        columns |= {"game": playing, "actor": batch.actors[playing].astype(np.int64)}
        kept.append({name: column[rows] for name, column in columns.items()})
        batch.step(actions, which=batch.actors != NOBODY)
    targets = {name: np.concatenate([part[name] for part in kept]) for name in kept[0]}
    teams = first.game.teams_of(batch.states, first.players)
    number = int(teams.max()) + 1
    won = win_shares(batch.places(batch.states))[:, :number]
    ahead = margins(exact_points(batch.states["points"][:, : first.owners]))[:, :number]
    game, actor = targets.pop("game"), targets.pop("actor")
    onwards = (teams[game, actor][:, None] + np.arange(number)) % number
    for name, by_team in (("won", won), ("margins", ahead / MARGIN_UNIT)):
        targets[name] = np.zeros((len(game), first.game.players[-1]), np.float32)
        targets[name][:, :number] = by_team[game[:, None], onwards]
    targets["players"], targets["teams"] = np.full(len(game), first.players), np.full(len(game), number)
    return targets, np.take_along_axis(won, teams, axis=1), np.take_along_axis(ahead, teams, axis=1)


# --- Policies --------------------------------------------------------------------------------------------------------

TEMPERATURES = (1.0, 4.0)
"""Policies of images are compared as they are, and flattened, so that unlikely actions count too."""
_LEAST = 1e-30
"""The least target probability, so that all have a logarithm."""


def policy_targets(
    logits: np.ndarray, visits: np.ndarray, utilities: np.ndarray, value_scale: float, visit_discount: float
) -> np.ndarray:
    """(N, A) probabilities by completed action values: a policy's logits, plus what each action gains.

    The gain is how much better the action was than the mean in a search. With n `visits` it counts n / (n +
    visit_discount). With a small discount or a large scale a few lucky simulations raise bad actions, and the policy
    becomes flatter with every round. Illegal actions have logits far below all others. All arrays are (N, A).
    """
    tried = visits.sum(axis=1, keepdims=True)
    mean = (visits * utilities).sum(axis=1, keepdims=True) / np.maximum(tried, 1)
    better = np.where(visits > 0, utilities - mean, 0.0) * visits / (visits + visit_discount)
    raised = logits + value_scale * better
    shares = np.exp(raised - raised.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def divergence(logits: torch.Tensor, policy: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """The Kullback-Leibler divergence from the target `policy`: a mean over n decisions, summed over TEMPERATURES."""
    total, log_policy = torch.zeros((), device=logits.device), policy.clamp(min=_LEAST).log()
    for temperature in TEMPERATURES:
        wanted = masked_logits(log_policy / temperature, masks)
        missing = functional.log_softmax(wanted, dim=1) - masked_log_probabilities(logits / temperature, masks)
        total = total + temperature * (functional.softmax(wanted, dim=1) * missing).sum(dim=1).mean()
    return total


class Images:
    """The images of a game with these numbers of players (`Game.images`), M in all. The game itself counts as one.

    Attributes:
        observations: (M, D), for each number of an image's observation its place in the original's.
        actions: (M, A), for each action of the original its number in the image.
        of: the images of each number of players; the first one is the game itself.
    """

    def __init__(self, game: Game, numbers: Sequence[int], device: str = "cpu") -> None:
        observations: list[np.ndarray] = []
        actions: list[np.ndarray] = []
        self.of: dict[int, range] = {}
        for players in numbers:
            images = game.images(players)
            self.of[players] = range(len(actions), len(actions) + 1 + len(images))
            observations += [np.arange(game.observation.size), *(np.argsort(image.observation) for image in images)]
            actions += [np.arange(game.num_actions), *(image.actions for image in images)]
        self.observations = torch.from_numpy(np.stack(observations)).to(device)
        self.actions = torch.from_numpy(np.stack(actions)).to(device)
        self._spans = torch.zeros(max(numbers) + 1, 2, dtype=torch.int64, device=device)
        for players, span in self.of.items():
            self._spans[players] = torch.tensor([span.start, len(span)])

    def draw(self, players: torch.Tensor) -> torch.Tensor:
        """(n,) int64: an image for each position of games of so many players, drawn by torch's generator."""
        first, number = self._spans[players].T
        return first + (torch.rand(len(players), device=players.device) * number).long()

    def logits(
        self, network: Network, which: torch.Tensor, inputs: torch.Tensor, shortfalls: torch.Tensor | None
    ) -> torch.Tensor:
        """(n, A) logits of a network for the images `which`, (n,), of positions, by the positions' own actions.

        `inputs` (n, D) and `shortfalls` (n, A) are the positions', too.
        """
        actions = self.actions[which]
        theirs = None if shortfalls is None else torch.empty_like(shortfalls).scatter_(1, actions, shortfalls)
        hidden = network.trunk(inputs.gather(1, self.observations[which]))
        return network.logits(hidden, theirs).gather(1, actions).float()
