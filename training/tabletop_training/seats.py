"""PPO on a device for all seats at once: a network plays all seats of many games and learns from each of them.

Stable-Baselines3 knows one player per game, whose decisions follow each other. Here the decisions of a game belong to
several seats, games with different numbers of players run side by side, and observations stay on the device as int8
counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from tabletop.agents import Agent, Decisions, ask
from tabletop.batch import Batch
from tabletop.game import Config, Game
from tabletop.scores import margins, win_shares
from tabletop.seeds import Stream, generator
from tabletop_agents.networks import Network
from tabletop_agents.shortfalls import shortfalls
from tabletop_training.curriculum import Curriculum
from tabletop_training.settings import Settings

LEARNER = -1
"""The player of a seat that the learning network plays; other players have numbers."""
GREEDY = -2
"""The player of a seat that takes an action without a shortfall, as the agent `greedy` does."""
OPPONENT = -3
"""The player of a seat that an agent plays, the `opponent`."""
_NEVER = -1e8
"""The logit of an illegal action, as in sb3-contrib."""
_SURE = 1e4
"""What logits are multiplied by to take the likeliest action."""
_CHOOSE_EVERY = 8
"""Steps between two times at which new games may get another configuration, because this checks all games."""

Player = Callable[[torch.Tensor, torch.Tensor | None], torch.Tensor]
"""Takes (n, D) float32 observations and (n, A) float32 shortfalls or None; returns (n, A) logits."""
Choose = Callable[[np.ndarray, int], Sequence[Config]]
"""Takes (n,) int64 games that start now and their number of players; returns the configuration of each."""
Seat = Callable[[int, int], np.ndarray]
"""Takes a number of games and of players; returns (n, players) int64, the player of each seat."""


def new_network(game: Game, settings: Settings) -> Network:
    """A new network with the trunk and layers of the settings. It draws from torch's global generator."""

    def layers(widths: Sequence[int], last: float | None) -> nn.Sequential:
        """Linear layers with ReLU between them, with PPO's orthogonal weights; the last one has this scale."""
        parts: list[nn.Module] = []
        for number, (inputs, outputs) in enumerate(pairwise(widths)):
            final = last is not None and number == len(widths) - 2
            layer = nn.Linear(inputs, outputs)
            nn.init.orthogonal_(layer.weight, gain=last if final and last is not None else 2**0.5)
            nn.init.zeros_(layer.bias)
            parts += [layer] if final else [layer, nn.ReLU()]
        return nn.Sequential(*parts)

    trunk = [game.observation.size, *settings.trunk]
    return Network(
        layers(trunk, None),
        layers([trunk[-1], *settings.layers, game.num_actions], 0.01),
        layers([trunk[-1], *settings.layers, 1], 1.0),
    )


class Ends(NamedTuple):
    """K ended games. P is the largest number of players; seats that a game does not have are 0."""

    configs: list[Config]  # what was played
    steps: np.ndarray  # (K,) int64, the step of the rollout that ended it
    games: np.ndarray  # (K,) int64, which of the N games
    won: np.ndarray  # (K, P) float64, each seat's share of the victory
    margins: np.ndarray  # (K, P) float64, own points less the mean of the others'
    players: np.ndarray  # (K, P) int64, LEARNER or a number


class Rollout(NamedTuple):
    """T steps of N games, on the device; P seats, D numbers in an observation, A actions.

    `shortfalls` have an empty last axis if no network weighs them.
    """

    observations: torch.Tensor  # (T, N, D) int8, counts
    masks: torch.Tensor  # (T, N, A) bool
    shortfalls: torch.Tensor  # (T, N, A) float16, in points; (T, N, 0) where no network weighs them
    actions: torch.Tensor  # (T, N) int64
    log_probabilities: torch.Tensor  # (T, N)
    values: torch.Tensor  # (T, N)
    actors: torch.Tensor  # (T, N) int64
    deciding: torch.Tensor  # (T, N) bool: the learner was asked, and had a choice
    rewards: torch.Tensor  # (T, N, P)
    dones: torch.Tensor  # (T, N) bool


class SeatGames:
    """Games with different numbers of players, played by a network on a device.

    Arguments:
        configs: one for each number of players, the first configuration of its games.
        num_games: of all together; each number of players gets an equal part.
        choose, seat: choose the configurations of new games, and the players of their seats.
        others: policies by number; the list may grow and change.
        device: torch's.
        weighs: whether the network or any of the others weighs shortfalls (`Network`), or is GREEDY.
        opponent: the agent that plays the seats of OPPONENT.
    """

    def __init__(
        self,
        configs: Sequence[Config],
        num_games: int,
        settings: Settings,
        seed: int,
        device: str,
        choose: Choose,
        seat: Seat,
        others: Sequence[Player] = (),
        weighs: bool = False,
        opponent: Agent | None = None,
    ) -> None:
        game = configs[0].game
        self.game, self.settings, self.device = game, settings, device
        self.choose, self.seat, self.others = choose, seat, others
        each = -(-num_games // len(configs))
        self.batches = [
            Batch(
                config, each, seed + i * each, reward=settings.reward, observation_dtype="int8", new_observations=False
            )
            for i, config in enumerate(configs)
        ]
        self.seats = max(config.players for config in configs)
        self.num_games = each * len(configs)
        self.parts = [slice(i * each, (i + 1) * each) for i in range(len(configs))]
        self.players = np.full((self.num_games, self.seats), LEARNER, np.int64)
        for batch, part in zip(self.batches, self.parts, strict=True):
            batch.reset(config=list(choose(np.arange(each), batch.config.players)))
            self.players[part, : batch.config.players] = seat(each, batch.config.players)
        self.divisors = torch.as_tensor(np.array(game.observation.divisors, np.float32), device=device)
        pinned = device != "cpu"
        size = (self.num_games, game.observation.size)
        self._seen = torch.zeros(size, dtype=torch.int8, pin_memory=pinned)
        self._legal = torch.zeros((self.num_games, game.num_actions), dtype=torch.int8, pin_memory=pinned)
        self._shortfalls = torch.zeros((self.num_games, game.num_actions if weighs else 0), pin_memory=pinned)
        self._weighs = weighs
        self._generator = generator(seed, Stream.LEARNING_GAMES)
        self._opponent = opponent
        self._steps = 0

    @classmethod
    def of(
        cls,
        curricula: Mapping[int, Curriculum],
        num_games: int,
        settings: Settings,
        seed: int,
        device: str,
        seat: Seat,
        others: Sequence[Player] = (),
        weighs: bool = False,
        opponent: Agent | None = None,
    ) -> Self:
        """Games whose configurations are chosen by the curricula, one for each number of players."""
        first = [curriculum.configs[0] for curriculum in curricula.values()]

        def choose(games: np.ndarray, players: int) -> Sequence[Config]:
            return curricula[players].choose(games)

        return cls(first, num_games, settings, seed, device, choose, seat, others, weighs, opponent)

    def scaled(self, counts: torch.Tensor) -> torch.Tensor:
        """Counts as inputs of a network: float32, scaled like the environments' observations."""
        return counts.to(torch.float32) / self.divisors

    @torch.no_grad()
    def play(self, network: Network, steps: int) -> tuple[Rollout, Ends]:
        """Play this many steps of each game. Returns the rollout and the games that ended."""
        n, device = self.num_games, self.device
        shape = (steps, n)
        out = Rollout(
            torch.empty((*shape, self.game.observation.size), dtype=torch.int8, device=device),
            torch.empty((*shape, self.game.num_actions), dtype=torch.bool, device=device),
            torch.empty((*shape, self._shortfalls.shape[1]), dtype=torch.float16, device=device),
            torch.empty(shape, dtype=torch.int64, device=device),
            torch.empty(shape, device=device),
            torch.empty(shape, device=device),
            *(torch.empty(0),) * 4,
        )
        actors, deciding, dones = np.zeros(shape, np.int64), np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        rewards = np.zeros((*shape, self.seats), np.float32)
        ends: list[Ends] = []
        games = np.arange(n)
        for t in range(steps):
            for batch, part in zip(self.batches, self.parts, strict=True):
                self._seen[part] = torch.from_numpy(batch.observations)
                self._legal[part] = torch.from_numpy(batch.action_masks)
                actors[t, part] = batch.actors
                if self._weighs:
                    rows = np.flatnonzero(batch.action_masks.sum(axis=1) > 1)
                    found = torch.from_numpy(shortfalls(Decisions.of(batch, rows), self._generator))
                    self._shortfalls[part][torch.from_numpy(rows)] = found
            out.observations[t] = self._seen.to(device, non_blocking=True)
            out.masks[t] = self._legal.to(device, non_blocking=True) == 1
            seen = self.scaled(out.observations[t])
            out.shortfalls[t] = self._shortfalls.to(device, non_blocking=True)
            fallen = out.shortfalls[t].float() if self._weighs else None
            hidden = network.trunk(seen)
            log_probabilities = masked_log_probabilities(network.logits(hidden, fallen), out.masks[t])
            playing = self.players[games, actors[t]]
            out.actions[t] = drawn(self._with_others(log_probabilities, seen, fallen, out.masks[t], playing))
            if self._opponent is not None:
                self._put_answers(self._opponent, out.actions[t], playing)
            out.log_probabilities[t] = log_probabilities.gather(1, out.actions[t][:, None])[:, 0]
            out.values[t] = network.value(hidden)[:, 0]
            deciding[t] = (playing == LEARNER) & (self._legal.sum(dim=1, dtype=torch.int64).numpy() > 1)
            actions = out.actions[t].cpu().numpy()
            ends += self._step(t, actions, rewards[t], dones[t])
        moved = (torch.from_numpy(array).to(device) for array in (actors, deciding, rewards, dones))
        names = ("actors", "deciding", "rewards", "dones")
        nothing, by_seat = np.zeros(0, np.int64), np.zeros((0, self.seats))
        ends.append(Ends([], nothing, nothing, by_seat, by_seat, by_seat.astype(np.int64)))
        configs = [config for end in ends for config in end.configs]
        joined = Ends(configs, *(np.concatenate(part) for part in list(zip(*ends, strict=True))[1:]))
        return out._replace(**dict(zip(names, moved, strict=True))), joined

    def _with_others(
        self,
        log_probabilities: torch.Tensor,
        seen: torch.Tensor,
        fallen: torch.Tensor | None,
        masks: torch.Tensor,
        playing: np.ndarray,
    ) -> torch.Tensor:
        """Log-probabilities (N, A): the learner's, or those of another player where it has to decide."""
        if (playing == LEARNER).all():
            return log_probabilities
        result = log_probabilities.clone()
        for number in np.setdiff1d(playing, (LEARNER, OPPONENT)):
            rows = torch.from_numpy(np.flatnonzero(playing == number)).to(self.device)
            their_fallen = None if fallen is None else fallen[rows]
            play = greedy if number == GREEDY else self.others[number]
            result[rows] = masked_log_probabilities(play(seen[rows], their_fallen), masks[rows])
        return result

    def _put_answers(self, opponent: Agent, actions: torch.Tensor, playing: np.ndarray) -> None:
        """Put the opponent's actions into these (N,), where it has to decide."""
        for batch, part in zip(self.batches, self.parts, strict=True):
            games = np.flatnonzero((playing[part] == OPPONENT) & (batch.action_masks.sum(axis=1) > 1))
            if len(games) > 0:
                answers = ask(opponent, Decisions.of(batch, games), self._generator)
                found = torch.from_numpy(answers.astype(np.int64))
                actions[torch.from_numpy(part.start + games).to(self.device)] = found.to(self.device)

    def _step(self, t: int, actions: np.ndarray, rewards: np.ndarray, dones: np.ndarray) -> list[Ends]:
        """Step all games, write their scaled rewards (N, P) and ends (N,), and give new games their players."""
        settings, ends = self.settings, []
        self._steps += 1
        for batch, part in zip(self.batches, self.parts, strict=True):
            players = batch.config.players
            batch.step(actions[part])
            rewards[part, :players] = batch.rewards[:, :players] * settings.reward_scale
            dones[part] = batch.terminations
            over = np.flatnonzero(batch.terminations)
            if not len(over):
                continue
            final, rows = batch.final_states[over], over + part.start
            won, ahead = np.zeros((2, len(over), self.seats))
            won[:, :players] = win_shares(batch.places(final))[:, :players]
            points = final["points"][:, : batch.config.owners].astype(np.int64)
            ahead[:, :players] = margins(points)[:, :players]
            rewards[rows, :players] += settings.win_bonus * (2 * won[:, :players] - 1)
            played, step = [batch.configs[game] for game in over], np.full(len(over), t)
            ends.append(Ends(played, step, rows, won, ahead, self.players[rows].copy()))
            self.players[rows, :players] = self.seat(len(over), players)
            if self._steps % _CHOOSE_EVERY == 0:
                batch.reset(mask=batch.terminations.copy(), config=list(self.choose(over, players)))
        return ends


def masked_logits(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """(N, A) logits; -1e8 where the masks (bool) are False."""
    return torch.where(masks, logits, _NEVER)


def masked_log_probabilities(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """(N, A) float32 log-probabilities; about -1e8 for what is not legal."""
    return functional.log_softmax(masked_logits(logits.float(), masks), dim=1)


def drawn(log_probabilities: torch.Tensor) -> torch.Tensor:
    """(N,) int64 actions, drawn from torch's generator of the device (the Gumbel trick)."""
    noise = torch.empty_like(log_probabilities).exponential_().log_()
    return (log_probabilities - noise).argmax(dim=1)


@torch.no_grad()
def advantages(rollout: Rollout, discount: float, gae_lambda: float) -> tuple[torch.Tensor, torch.Tensor]:
    """PPO's generalized advantages (T, N), each along the decisions of one seat, and which of them are known, (T, N).

    A seat's rewards between two of its decisions belong to the first one. What follows its last decision in the rollout
    is unknown, unless the game ended. That decision's value stands for the rest, and it is not learned from.
    """
    steps, games = rollout.values.shape
    device = rollout.values.device
    result = torch.zeros(steps, games, device=device)
    known = torch.zeros(steps, games, dtype=torch.bool, device=device)
    value, advantage, pending = torch.zeros(3, games, rollout.rewards.shape[2], device=device)
    sure = torch.zeros_like(value, dtype=torch.bool)
    for t in range(steps - 1, -1, -1):
        over = rollout.dones[t][:, None]
        for array in (value, advantage, pending):
            array.masked_fill_(over, 0.0)
        sure |= over
        pending += rollout.rewards[t]
        seat, deciding = rollout.actors[t][:, None], rollout.deciding[t][:, None]
        here = rollout.values[t][:, None]
        following, later, gained, certain = (x.gather(1, seat) for x in (value, advantage, pending, sure))
        new = gained + discount * following - here + discount * gae_lambda * later
        new = torch.where(certain, new, 0.0)
        result[t], known[t] = new[:, 0], (certain & deciding)[:, 0]
        value.scatter_(1, seat, torch.where(deciding, here, following))
        advantage.scatter_(1, seat, torch.where(deciding, new, later))
        pending.scatter_(1, seat, torch.where(deciding, 0.0, gained))
        sure.scatter_(1, seat, deciding | certain)
    return result, known


class Losses(NamedTuple):
    """Means of an update over the learner's decisions, in nats where it applies."""

    entropy: float
    kl: float
    clipped: float
    value_loss: float
    explained_variance: float


def update(
    network: Network,
    optimizer: torch.optim.Optimizer,
    games: SeatGames,
    rollout: Rollout,
    settings: Settings,
    entropy_weight: float,
) -> Losses:
    """PPO's epochs on one rollout (Schulman and others 2017), as `settings` say."""
    advantage, known = advantages(rollout, settings.discount, settings.gae_lambda)
    rows = known.reshape(-1).nonzero()[:, 0]
    flat: dict[str, torch.Tensor] = {
        name: getattr(rollout, name).flatten(0, 1)
        for name in ("observations", "masks", "shortfalls", "actions", "log_probabilities", "values")
    }
    advantage = advantage.reshape(-1)
    returns = advantage + flat["values"]
    sums = torch.zeros(4, device=returns.device)
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    minibatches = 0
    for _ in range(settings.epochs):
        for chosen in rows[torch.randperm(len(rows), device=rows.device)].split(settings.minibatch):
            if len(chosen) < 2:
                continue  # one decision has no spread of advantages
            hidden = network.trunk(games.scaled(flat["observations"][chosen]))
            masks, actions = flat["masks"][chosen], flat["actions"][chosen]
            fallen = flat["shortfalls"][chosen].float()
            log_probabilities = masked_log_probabilities(network.logits(hidden, fallen), masks)
            entropy = -(log_probabilities.exp() * log_probabilities).sum(dim=1).mean()
            difference = log_probabilities.gather(1, actions[:, None])[:, 0] - flat["log_probabilities"][chosen]
            ratio = difference.exp()
            better = advantage[chosen]
            better = (better - better.mean()) / (better.std() + 1e-8)
            bounded = ratio.clamp(1 - settings.clip, 1 + settings.clip)
            policy_loss = -torch.minimum(better * ratio, better * bounded).mean()
            value_loss = functional.mse_loss(network.value(hidden)[:, 0], returns[chosen])
            loss = policy_loss + settings.value_weight * value_loss - entropy_weight * entropy
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, settings.max_gradient)
            optimizer.step()
            with torch.no_grad():
                clipped = ((ratio - 1).abs() > settings.clip).float().mean()
                sums += torch.stack([entropy, ((ratio - 1) - difference).mean(), clipped, value_loss])
            minibatches += 1
    entropy_mean, kl, clipped_mean, value_mean = (sums / max(1, minibatches)).tolist()
    aims = returns[rows]
    explained = 1.0 - float((aims - flat["values"][rows]).var() / (aims.var() + 1e-8)) if len(rows) > 1 else 0.0
    return Losses(entropy_mean, kl, clipped_mean, value_mean, explained)


def greedy(seen: torch.Tensor, fallen: torch.Tensor | None) -> torch.Tensor:
    """The player GREEDY: any of the actions without a shortfall."""
    assert fallen is not None
    return _SURE * -fallen


def policy_of(network: Network, sample: bool = True) -> Player:
    """A policy for `SeatGames.others`, which draws its actions, or takes the likeliest as `policy:PATH` does."""
    sureness = 1.0 if sample else _SURE

    def logits(seen: torch.Tensor, fallen: torch.Tensor | None) -> torch.Tensor:
        return sureness * network.logits(network.trunk(seen), fallen)

    return logits
