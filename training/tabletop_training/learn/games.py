"""Games in which every seat can learn: a network on a device plays many of them side by side, and they are recorded.

Games with different numbers of players run together. Observations stay on the device as int8 counts. On a GPU the games
are in two halves: one is played on the processors while the network looks at the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch

from tabletop_agents.networks import Network
from tabletop_agents.search.lookahead import search_for
from tabletop_agents.search.shortfalls import shortfalls
from tabletop_engine.game import Config
from tabletop_engine.play.agents import Decisions, ask
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.scores import first_seats, margins, win_shares
from tabletop_engine.record import exact_points
from tabletop_engine.seeds import Stream, generator
from tabletop_training.files.settings import Settings
from tabletop_training.learn.curriculum import Curriculum
from tabletop_training.learn.opponents import LEARNER, Opponents
from tabletop_training.learn.ppo import Rollout, drawn, masked_log_probabilities

_CHOOSE_EVERY = 8
"""Steps between two times at which new games may get another configuration, because this checks all games."""


class FinishedGames(NamedTuple):
    """K ended games. P is the largest number of players; seats that a game does not have are 0."""

    configs: list[Config]  # what was played
    steps: np.ndarray  # (K,) int64, the step of the rollout that ended it
    games: np.ndarray  # (K,) int64, which of the N games
    lengths: np.ndarray  # (K,) int64, the decisions of all seats
    places: np.ndarray  # (K, P) int64, 1 for the first
    won: np.ndarray  # (K, P) float64, the share of the victory of each seat's team
    points: np.ndarray  # (K, P) int64, or float64 if points have halves
    margins: np.ndarray  # (K, P) float64, the team's points less the mean of the others'
    players: np.ndarray  # (K, P) int64, LEARNER or the index of a member

    @classmethod
    def join(cls, parts: list[FinishedGames], seats: int) -> FinishedGames:
        """All parts in their order. `seats` is P, in case there are no parts."""
        none, by_seat = np.zeros(0, np.int64), np.zeros((0, seats))
        whole = by_seat.astype(np.int64)
        empty = cls([], none, none, none, whole, by_seat, whole, by_seat, whole)
        joined = [np.concatenate(part) for part in list(zip(empty, *parts, strict=True))[1:]]
        return cls([config for part in parts for config in part.configs], *joined)

    def of_learner(self) -> tuple[np.ndarray, np.ndarray]:
        """The games in which the learner had one team, and its first seat: two (n,) int64."""
        learner = np.zeros(self.players.shape, np.bool_)
        for row, first in enumerate(self.first_seats()):
            learner[row, first] = self.players[row, first] == LEARNER
        games = np.flatnonzero(learner.sum(axis=1) == 1)
        return games, learner[games].argmax(axis=1)

    def first_seats(self) -> list[np.ndarray]:
        """For each game the first seat of each team, (teams,) int64."""
        of = {id(config): config for config in self.configs}
        first = {one: first_seats(config.game.teams(config)) for one, config in of.items()}
        return [first[id(config)] for config in self.configs]


class SeatGames:
    """Games with different numbers of players, played by a network and by `opponents`.

    Arguments:
        curricula: choose the configurations of new games, one for each number of players.
        num_games: of all together; each number of players gets an equal part.
        opponents: who else plays.
        device: torch's.
        halves: in how many parts the games are played in turns; None means 2 on a GPU and 1 on a processor.
        weighs: whether the network needs the actions' shortfalls.
        editions: how many editions are drawn for these games; None for the numbers of the configurations.
    """

    def __init__(
        self,
        curricula: Mapping[int, Curriculum],
        num_games: int,
        settings: Settings,
        seed: int,
        opponents: Opponents,
        device: str = "cpu",
        weighs: bool = False,
        editions: int | None = None,
        halves: int | None = None,
    ) -> None:
        number = halves or (1 if device == "cpu" else 2)
        configs = number * [curriculum.configs[0] for curriculum in curricula.values()]
        game = configs[0].game
        self.game, self.settings, self.device = game, settings, device
        self.curricula, self.opponents = curricula, opponents
        each = -(-num_games // len(configs))
        made: dict[str, Any] = {"reward": settings.reward, "observation_dtype": "int8", "new_observations": False}
        made["editions"] = editions
        self.batches = [Batch(config, each, seed + i * each, **made) for i, config in enumerate(configs)]
        self.seats = max(config.players for config in configs)
        self.num_games = each * len(configs)
        self.parts = [slice(i * each, (i + 1) * each) for i in range(len(configs))]
        self.halves = [range(i * len(curricula), (i + 1) * len(curricula)) for i in range(number)]  # of the batches
        self.players = np.full((self.num_games, self.seats), LEARNER, np.int64)
        self.teams = np.zeros((self.num_games, self.seats), np.int64)
        self.lengths = np.zeros(self.num_games, np.int64)
        for batch, part in zip(self.batches, self.parts, strict=True):
            batch.reset(config=list(self._choose(batch, np.arange(each))))
            self.teams[part, : batch.config.players] = game.teams(batch.config)
            self.players[part, : batch.config.players] = self._seated(batch, each)
        self.divisors = torch.as_tensor(np.array(game.observation.divisors, np.float32), device=device)
        numbers = game.numbers.scaled(game.write_numbers(self.batches[0].tables))  # all batches have the same editions
        self._numbers = torch.as_tensor(numbers, device=device)
        pinned = device != "cpu"
        self._weighs = weighs or opponents.weighs
        if self._weighs:
            search_for(game)  # compiles before the time of learning begins
        self._seen = torch.zeros((self.num_games, game.observation.size), dtype=torch.int8, pin_memory=pinned)
        self._legal = torch.zeros((self.num_games, game.num_actions), dtype=torch.int8, pin_memory=pinned)
        actions = game.num_actions if self._weighs else 0
        self._shortfalls = torch.zeros((self.num_games, actions), pin_memory=pinned)
        self._generator = generator(seed, Stream.LEARNING_GAMES)
        self._steps = 0
        self._reads = False  # whether a network reads the printed numbers

    def _choose(self, batch: Batch, games: np.ndarray) -> list[Config]:
        return self.curricula[batch.config.players].choose(games)

    def _seated(self, batch: Batch, games: int) -> np.ndarray:
        """The players of the seats of games that start now, (games, P) int64: partners are the same one."""
        teams = list(self.game.teams(batch.config))
        return self.opponents.seat(games, max(teams) + 1)[:, teams]

    def inputs(self, counts: torch.Tensor, editions: torch.Tensor) -> torch.Tensor:
        """(n, ·) float32, for observations (n, D) as counts, and editions (n,); scaled as environments do it.

        The printed numbers follow the observation if the learner's network or one of the others reads them.
        """
        seen = counts.to(torch.float32).div_(self.divisors)
        return torch.cat((seen, self._numbers[editions]), dim=1) if self._reads else seen

    @torch.no_grad()
    def play(
        self, network: Network, steps: int, on_step: Callable[[], None] = lambda: None
    ) -> tuple[Rollout, FinishedGames]:
        """Play this many steps of each game. Returns the rollout and the games that ended."""
        n, device = self.num_games, self.device
        playing = [network, *(one.network for one in self.opponents.members if one.network is not None)]
        self._reads = max(one.inputs for one in playing) > self.game.observation.size
        shape = (steps, n)
        out = Rollout(
            torch.empty((*shape, self.game.observation.size), dtype=torch.int8, device=device),
            torch.zeros(shape, dtype=torch.int64, device=device),
            torch.empty((*shape, self.game.num_actions), dtype=torch.bool, device=device),
            torch.empty((*shape, self._shortfalls.shape[1]), dtype=torch.float16, device=device),
            torch.empty(shape, dtype=torch.int64, device=device),
            torch.empty(shape, device=device),
            torch.empty(shape, device=device),
            *(torch.empty(0),) * 4,
            torch.empty((*shape, 2 * self.game.players[-1]), device=device),
            *(torch.empty(0),) * 3,
        )
        actors, deciding, dones = np.zeros(shape, np.int64), np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        rewards = np.zeros((*shape, self.seats), np.float32)
        ends: list[FinishedGames] = []

        def ask_for(t: int, half: range) -> Callable[[], np.ndarray]:
            """Let the network look at these batches at step t; the result waits for the actions."""
            rows = slice(self.parts[half[0]].start, self.parts[half[-1]].stop)
            choices = self._look(half, rows, actors[t])
            out.observations[t, rows] = self._seen[rows].to(device, non_blocking=True)
            out.masks[t, rows] = self._legal[rows].to(device, non_blocking=True) == 1
            out.shortfalls[t, rows] = self._shortfalls[rows].to(device, non_blocking=True)
            if self._reads:
                editions = np.concatenate([self.batches[i].states["edition"] for i in half]).astype(np.int64)
                out.editions[t, rows] = torch.from_numpy(editions).to(device)
            seen, masks = self.inputs(out.observations[t, rows], out.editions[t, rows]), out.masks[t, rows]
            missed = out.shortfalls[t, rows].float() if self._weighs else None
            logits, out.values[t, rows], out.outputs[t, rows] = network(seen[:, : network.inputs], missed)
            log_probabilities = masked_log_probabilities(logits, masks)
            playing = self.players[rows][np.arange(len(choices)), actors[t, rows]]
            actions = drawn(self._with_networks(log_probabilities, seen, missed, masks, playing))
            self._ask_agents(half, actions, playing, choices)
            out.actions[t, rows] = actions
            out.log_probabilities[t, rows] = log_probabilities.gather(1, actions[:, None])[:, 0]
            deciding[t, rows] = (playing == LEARNER) & (choices > 1)
            if device == "cpu":
                return actions.numpy
            copied, done = torch.empty(actions.shape, dtype=actions.dtype, pin_memory=True), torch.cuda.Event()
            copied.copy_(actions, non_blocking=True)
            done.record()

            def wait() -> np.ndarray:
                done.synchronize()
                return copied.numpy()

            return wait

        answers = [ask_for(0, half) for half in self.halves]
        for t in range(steps):
            self._steps += 1
            self.lengths += 1
            for number, half in enumerate(self.halves):
                ends += self._step(half, t, answers[number](), rewards[t], dones[t])
                if t + 1 < steps:
                    answers[number] = ask_for(t + 1, half)
            on_step()
        finished = FinishedGames.join(ends, self.seats)
        won, ahead = np.zeros((2, *rewards.shape), np.float32)
        first = (self.teams[:, None] == np.arange(self.seats)[:, None]).argmax(axis=2)  # (N, P), a seat of each team
        for by_team, by_seat in ((won, finished.won), (ahead, finished.margins)):
            by_team[finished.steps, finished.games] = np.take_along_axis(by_seat, first[finished.games], axis=1)
        arrays = {"actors": actors, "deciding": deciding, "rewards": rewards, "dones": dones}
        arrays |= {"won": won, "margins": ahead, "teams": self.teams}
        moved = {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
        return out._replace(**moved), finished

    def _look(self, half: range, rows: slice, actors: np.ndarray) -> np.ndarray:
        """Read the n games of these batches: writes their `actors`, (N,). Returns how many actions are legal, (n,)."""
        for batch, part in self._of(half):
            self._seen[part] = torch.from_numpy(batch.observations)
            self._legal[part] = torch.from_numpy(batch.action_masks)
            actors[part] = batch.actors
            if self._weighs:
                several = np.flatnonzero(batch.action_masks.sum(axis=1) > 1)
                found = torch.from_numpy(shortfalls(Decisions.of(batch, several), self._generator))
                self._shortfalls[part][torch.from_numpy(several)] = found
        return self._legal[rows].sum(dim=1, dtype=torch.int64).numpy()

    def _with_networks(
        self,
        log_probabilities: torch.Tensor,
        seen: torch.Tensor,
        missed: torch.Tensor | None,
        masks: torch.Tensor,
        playing: np.ndarray,
    ) -> torch.Tensor:
        """Log-probabilities (N, A): the learner's, or those of the member whose network has to decide."""
        members = self.opponents.members
        others = [one for one in np.unique(playing).tolist() if one != LEARNER and members[one].network is not None]
        if not others:
            return log_probabilities
        result = log_probabilities.clone()
        for one in others:
            rows = torch.from_numpy(np.flatnonzero(playing == one)).to(self.device)
            their_missed = None if missed is None else missed[rows]
            result[rows] = members[one].log_probabilities(seen[rows], their_missed, masks[rows])
        return result

    def _of(self, half: range) -> list[tuple[Batch, slice]]:
        """These batches, each with the games that it has."""
        return [(self.batches[i], self.parts[i]) for i in half]

    def _ask_agents(self, half: range, actions: torch.Tensor, playing: np.ndarray, choices: np.ndarray) -> None:
        """Overwrite the actions (n,) of these batches where an agent among the members is to move and has a choice."""
        start = self.parts[half[0]].start
        for one in np.unique(playing).tolist():
            agent = None if one == LEARNER else self.opponents.members[one].agent
            if agent is None:
                continue
            for batch, part in self._of(half):
                here = slice(part.start - start, part.stop - start)
                games = np.flatnonzero((playing[here] == one) & (choices[here] > 1))
                if len(games):
                    answers = ask(agent, Decisions.of(batch, games), self._generator).astype(np.int64)
                    actions[torch.from_numpy(here.start + games)] = torch.from_numpy(answers).to(self.device)

    def _step(
        self, half: range, t: int, actions: np.ndarray, rewards: np.ndarray, dones: np.ndarray
    ) -> list[FinishedGames]:
        """Step these batches, write their scaled rewards (N, P) and ends (N,), and give new games their players."""
        settings, ends, start = self.settings, [], self.parts[half[0]].start
        for batch, part in self._of(half):
            players = batch.config.players
            batch.step(actions[part.start - start : part.stop - start])
            rewards[part, :players] = batch.rewards[:, :players] * settings.reward_scale
            dones[part] = batch.terminations
            over = np.flatnonzero(batch.terminations)
            if not len(over):
                continue
            final, rows = batch.final_states[over], over + part.start
            won, ahead = np.zeros((2, len(over), self.seats))
            places = np.zeros((len(over), self.seats), np.int64)
            by_owner, teams = batch.places(final), self.teams[part.start, :players]
            places[:, :players], won[:, :players] = by_owner[:, teams], win_shares(by_owner)[:, teams]
            everybody = exact_points(final["points"][:, : batch.config.owners])
            points = np.zeros(places.shape, everybody.dtype)
            points[:, :players], ahead[:, :players] = everybody[:, teams], margins(everybody)[:, teams]
            rewards[rows, :players] += settings.win_bonus * (2 * won[:, :players] - 1)
            played = [batch.plain_configs[game] for game in over]
            when, lengths, seated = np.full(len(over), t), self.lengths[rows], self.players[rows].copy()
            ends.append(FinishedGames(played, when, rows, lengths, places, won, points, ahead, seated))
            self.lengths[rows] = 0
            self.players[rows, :players] = self._seated(batch, len(over))
            if self._steps % _CHOOSE_EVERY == 0:
                batch.reset(mask=batch.terminations.copy(), config=self._choose(batch, over))
        return ends

    # --- saving ---

    def get_state(self) -> dict[str, Any]:
        """All that decides how the games go on, except the opponents, the curricula and torch's generators."""
        return {
            "batches": [{"states": batch.states.copy(), "paid": batch.paid.copy()} for batch in self.batches],
            "players": self.players,
            "lengths": self.lengths,
            "steps": self._steps,
            "generator": self._generator.bit_generator.state,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state from `get_state` of games that were made in the same way."""
        for batch, saved in zip(self.batches, state["batches"], strict=True):
            batch.reset(config=[self.game.config.of(one, batch.config.components) for one in saved["states"]])
            batch.set_states(saved["states"])
            batch.paid[:] = saved["paid"]
        self.players[:] = state["players"]
        self.lengths[:] = state["lengths"]
        self._steps = state["steps"]
        self._generator.bit_generator.state = state["generator"]
