"""One seat in many games. Agents inside play the other seats.

Gymnasium's environments, the VecEnv for Stable-Baselines3 and self-play are built on it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabletop_engine.checks import coerced, is_whole
from tabletop_engine.errors import ConfigError, ScenarioError, StateError, TabletopError
from tabletop_engine.game import NOBODY, Config, Game
from tabletop_engine.play.agents import Agent
from tabletop_engine.play.batch import AUTORESETS, Batch, Seed, check_config, choice
from tabletop_engine.play.names import agents_of
from tabletop_engine.play.play import PlayListener, play
from tabletop_engine.play.scores import others_points
from tabletop_engine.play.starts import Starts
from tabletop_engine.play.tables import Editions
from tabletop_engine.record import exact_points

Prepare = Callable[[Batch, np.ndarray], None]
"""Takes a batch and a mask of games, (N,) bool, that have just been set up. It may put positions into these games."""
Assign = Callable[[np.ndarray], np.ndarray]
"""Takes indices of games, (n,) int64. Returns indices into the opponents, (n, players - 1) int64."""
ChooseConfig = Callable[[np.ndarray], Sequence[Config]]
"""Takes indices of games, (n,) int64. Returns a configuration for each of them."""

_MOST_SKIPPED = 1000
"""Games in a row that may end before the learner's first decision."""


def learner_games(
    config: Config,
    num_games: int = 1,
    opponents: Sequence[Agent | str] = (),
    *,
    seat: int | str = "random",
    seed: Seed = None,
    reward: str = "win",
    illegal_action: str = "raise",
    autoreset: str = "same_step",
    num_threads: int | None = None,
    observation_dtype: str = "float32",
    starts: Starts | None = None,
    new_observations: bool = True,
    assign: Assign | None = None,
    choose_config: ChooseConfig | None = None,
    editions: Editions | None = None,
    observe_numbers: bool = False,
) -> LearnerGames:
    """Make N games in which the caller plays one seat, the learner's. Agents inside play the other seats.

    Arguments:
        config: the configuration of a game. In a solo game there are no other seats, and the learner is the player.
        num_games: N, at least 1.
        opponents: agents, or names for `tabletop_agents.make_agent`. One opponent plays every other seat; players - 1
            opponents sit clockwise from the learner; with `assign` there may be any number. () in a solo game.
        seat: the learner's seat, or "random": drawn for every game.
        seed: as in `Batch`. Seats, line-ups and the opponents' randomness come from one generator made from it. The
            same seed and the same actions give the same games.
        reward: as in `Batch`, for the learner, summed over a step. Rewards while others play before the learner's first
            decision are added to the reward of its first step, so all rewards of a game sum to its result.
        illegal_action: as in `Batch`, for the learner's actions.
        autoreset: as in `Batch`.
        num_threads: as in `Batch`.
        observation_dtype: as in `Batch`; agents inside always see float32.
        starts: as in `Batch`. The others play from there to the learner's first decision.
        new_observations: as in `Batch`.
        assign: chooses who plays the other seats, clockwise from the learner, of games that start.
        choose_config: chooses the configurations of games that start. All have the same number of players, and the
            components that `Batch.reset` allows.
        editions: as in `Batch`.
        observe_numbers: whether the printed numbers of each game's edition (`Game.numbers`) follow the observation in
            its row. D is then the length of both.

    Raises ConfigError for bad arguments and for an opponent that can't play `config`.
    """
    game = check_config(config)
    choice("autoreset", autoreset, AUTORESETS)
    coerced("assign", assign, Assign | None)
    coerced("choose_config", choose_config, ChooseConfig | None)
    coerced("new_observations", new_observations, bool)
    if starts is not None and choose_config is not None:
        raise ConfigError("starts: not allowed with choose_config, since all are of one configuration")
    learners_seat = check_seat(seat, config.players)
    others = _make_opponents(opponents, config, assign)
    # A batch restarts its games by itself, but not with chosen configurations. With others a restart within the step
    # saves writing their views twice; in the other modes `VersusGames` restarts games, to seat their players then.
    alone = config.players == 1 and choose_config is None
    restarts = alone or (choose_config is None and autoreset == "same_step")
    batch = Batch(
        config,
        num_games,
        seed,
        autoreset=autoreset if restarts else "disabled",
        illegal_action=illegal_action,
        reward=reward,
        num_threads=num_threads,
        observation_dtype=observation_dtype,
        starts=starts,
        new_observations=new_observations and alone,  # `VersusGames` copies them after the others' steps
        editions=editions,
    )
    check_numbers(game, observe_numbers)
    shared = (batch, others, learners_seat, autoreset, new_observations, observe_numbers)
    return SoloGames(*shared) if alone else VersusGames(*shared, assign=assign, choose_config=choose_config, seed=seed)


class LearnerGames(ABC):
    """N games in which the caller plays one seat, the learner's. `learner_games` makes them.

    A step plays the learner's action in every game, then the decisions of the others until the learner has a decision
    again or the game is over. Each opponent answers its decisions of all games in one call. After a reset the others
    play first if it is their turn. A game that ends before the learner's first decision is started again, unseen.

    In the shapes below N is the number of games, P of players, A of actions, D of numbers in an observation.

    Attributes:
        observations: (N, D), the learner's views, also when the game is over.
        action_masks: (N, A) int8, 1 for each legal action of the learner; all ones when the game is over.
        rewards: (N,) float64, the learner's rewards of the last step.
        terminations: (N,) bool, whether the last step ended the game.
        illegal: (N,) bool, whether the learner's last action was illegal.
        final_observations: (N, D), the learner's views of the ends of games; valid where `terminations`.
        final_states: (N,) records, the ends of games; valid where `terminations`.
        final_seats: (N,) int64, the learner's seats at the ends; valid where `terminations`.
        final_lineups: (N, P - 1) int64, the line-ups at the ends; valid where `terminations`.
        final_configs: the configurations at the ends, a list of N; valid where `terminations`.
        seats: (N,) int64, the learner's seats.
        lineups: (N, P - 1) int64, the indices of the opponents on the other seats, clockwise from the learner.
        seat: the learner's seat in games that start; -1: drawn for every game.
        opponents: the agents, a list. They may be replaced between steps.
        generator: the NumPy generator of everything that is random outside the games.
        batch: the `Batch` of all seats, for reading.
    """

    observations: np.ndarray
    action_masks: NDArray[np.int8]
    rewards: NDArray[np.float64]
    terminations: NDArray[np.bool_]
    illegal: NDArray[np.bool_]
    final_states: np.ndarray
    final_observations: np.ndarray

    def __init__(
        self,
        batch: Batch,
        opponents: list[Agent],
        seat: int,
        autoreset: str,
        new_observations: bool,
        observe_numbers: bool,
    ) -> None:
        n, config = batch.num_games, batch.config
        self.batch: Batch = batch
        self.game: Game = batch.game
        self.config: Config = config
        self.num_games: int = n
        self.players: int = config.players
        self.opponents: list[Agent] = opponents
        self.seat: int = seat
        self.autoreset: str = autoreset
        self.new_observations: bool = new_observations
        self.observe_numbers: bool = observe_numbers
        self.seats: NDArray[np.int64] = np.zeros(n, np.int64)
        self.lineups: NDArray[np.int64] = np.zeros((n, config.players - 1), np.int64)
        self.final_seats: NDArray[np.int64] = np.zeros(n, np.int64)
        self.final_lineups: NDArray[np.int64] = np.zeros((n, config.players - 1), np.int64)
        self.final_configs: list[Config] = [config] * n
        self.generator: np.random.Generator = self._own_generator()
        self._unseen = np.zeros(n, np.bool_)  # games whose learner has had no decision yet
        self._pending = np.zeros(n)  # the learners' rewards in such games so far

    @property
    def configs(self) -> list[Config]:
        """The configuration of each game, a list of N."""
        return self.batch.configs

    @property
    def states(self) -> np.ndarray:
        """(N,) records: the states of the games, as in `Batch`."""
        return self.batch.states

    @property
    def over(self) -> np.ndarray:
        """(N,) bool: games that are over and wait for a reset."""
        return np.asarray(self.batch.actors == NOBODY)

    @abstractmethod
    def reset(self, seed: Seed = None, mask: np.ndarray | None = None, prepare: Prepare | None = None) -> None:
        """Start games as `Batch.reset` does, and let the others play to the learner's first decision.

        Arguments:
            seed: as in `learner_games`; None: each game continues its own random stream. If all games start with a
                seed, the generator of the opponents is made from it too.
            mask: (N,) bool, the games to start; None for all.
            prepare: puts positions into the games that start, before anybody plays.

        Raises ScenarioError, and changes nothing, if a game that `prepare` changed ends before the learner's first
        decision.
        """

    @abstractmethod
    def step(self, actions: np.ndarray | Sequence[int]) -> None:
        """Play the learner's action in every game, (N,) ints, then the others until the learner has a decision again.

        Raises as `Batch.step` does, and nothing changes then; also IllegalAction for an illegal action of an opponent,
        whatever `illegal_action` is. The games are then unfinished and must be reset.
        """

    def results(self) -> dict[str, np.ndarray]:
        """The results of the n games that the last step ended, in the order of `np.flatnonzero(terminations)`.

        The keys are "points", (n,) int64, the points of the learner or of its team; "others_points", (n,) float64, the
        mean points of all others, 0 if there are none; "won", (n,) bool, true also for a shared victory; "seat", (n,)
        int64, the learner's seat.
        """
        ended = np.flatnonzero(self.terminations)
        final, seats = self.final_states.take(ended), self.final_seats[ended]  # take: faster than a mask for records
        games = np.arange(len(final))
        everybody = exact_points(final["points"][:, : self.config.owners])
        owners = self.game.owners_of_seats(final, seats, self.config.players)
        return {
            "points": everybody[games, owners],
            "others_points": others_points(everybody)[games, owners],
            "won": self.batch.winners(final)[games, seats],
            "seat": seats,
        }

    def get_state(self) -> dict[str, Any]:
        """All that decides how the games continue, as NumPy arrays and plain data, for `set_state` of equal games.

        The opponents and the results of the last step (rewards, terminations, ends of games) are not in it.
        """
        return {
            "states": self.batch.states.copy(),
            "paid": self.batch.paid.copy(),
            "batch_generator": self.batch.generator.bit_generator.state,
            "generator": self.generator.bit_generator.state,
            **{name: array.copy() for name, array in self._own_arrays().items()},
        }

    def set_state(self, saved: dict[str, Any]) -> None:
        """Continue where `get_state` was called. Raises StateError for data that is not from equal games."""
        own = self.get_state()
        if not isinstance(saved, dict) or not own.keys() <= saved.keys():
            raise StateError(f"saved: must be a dictionary with the keys {', '.join(own)}, as get_state gives it")
        arrays = {key: np.asarray(saved[key]) for key, value in own.items() if isinstance(value, np.ndarray)}
        for key, array in arrays.items():
            if (array.shape, array.dtype) != (own[key].shape, own[key].dtype):
                wanted = f"{own[key].shape} of {own[key].dtype!s:.40}"
                raise StateError(f"saved: {key} has shape {array.shape} of {array.dtype!s:.40}, this batch {wanted}")
        for key in ("batch_generator", "generator"):
            try:
                np.random.PCG64().state = saved[key]
            except (KeyError, TypeError, ValueError) as error:
                raise StateError(f"saved: {key} is not the state of a generator ({error})") from None
        # Nothing has changed so far, and nothing fails from here on.
        self._restore_batch(arrays["states"])
        self.batch.paid[:] = arrays["paid"]
        self.batch.generator.bit_generator.state = saved["batch_generator"]
        self.generator.bit_generator.state = saved["generator"]
        for name, array in self._own_arrays().items():
            array[:] = arrays[name]
        self._show()

    def _own_arrays(self) -> dict[str, np.ndarray]:
        """The arrays beside the batch that decide how the games continue. In solo games they are all zeros."""
        return {"seats": self.seats, "lineups": self.lineups, "unseen": self._unseen, "pending": self._pending}

    def _restore_batch(self, states: np.ndarray) -> None:
        self.batch.set_states(states)

    @abstractmethod
    def _show(self) -> None:
        """Bring the arrays that the caller reads up to date with the batch."""

    def _own_generator(self) -> np.random.Generator:
        """A generator from the seeds, independent of the batch's own generator."""
        return self.batch.generator.spawn(1)[0]

    def _with_numbers(self, observations: np.ndarray, states: np.ndarray) -> np.ndarray:
        """The observations, and the printed numbers after them if they are wanted."""
        if not self.observe_numbers:
            return observations
        return np.concatenate((observations, self.batch.numbers_of(states)), axis=1)

    @contextmanager
    def _unchanged_by_errors(self, prepare: Prepare | None) -> Iterator[None]:
        """Put the games back as they were if a prepared position is refused, which shows only as it is played."""
        before = None if prepare is None else self.get_state()
        try:
            yield
        except TabletopError:
            if before is not None:
                self.set_state(before)
            raise


class SoloGames(LearnerGames):
    """Games for one player, all of one configuration. Nobody else plays, so the batch does all the work."""

    def __init__(self, *shared: Any) -> None:
        super().__init__(*shared)
        if self.observe_numbers:
            self.final_observations = self._with_numbers(self.batch.final_observations, self.batch.states)
        self._show()

    def reset(self, seed: Seed = None, mask: np.ndarray | None = None, prepare: Prepare | None = None) -> None:
        coerced("prepare", prepare, Prepare | None)
        with self._unchanged_by_errors(prepare):
            self.batch.reset(seed, mask)
            if prepare is not None:
                prepare(self.batch, np.ones(self.num_games, np.bool_) if mask is None else np.asarray(mask))
        self._show()

    def step(self, actions: np.ndarray | Sequence[int]) -> None:
        self.batch.step(actions)
        self._show()

    def _show(self) -> None:
        # The arrays are the batch's own. They are taken anew each time: a copy of the games has copied the column.
        batch = self.batch
        self.action_masks = batch.action_masks
        self.observations = self._with_numbers(batch.observations, batch.states)
        self.rewards = batch.rewards[:, 0]
        self.terminations = batch.terminations
        self.illegal = batch.illegal
        self.final_states = batch.final_states
        if not self.observe_numbers:
            self.final_observations = batch.final_observations
        elif len(ended := np.flatnonzero(batch.terminations)):
            final = batch.final_states[ended]
            self.final_observations[ended] = self._with_numbers(batch.final_observations[ended], final)


class VersusGames(LearnerGames):
    """Games against agents. Also solo games whose configurations are chosen: nobody else plays in them."""

    def __init__(self, *shared: Any, assign: Assign | None, choose_config: ChooseConfig | None, seed: Seed) -> None:
        super().__init__(*shared)
        n = self.num_games
        self._assign = assign
        self._choose_config = choose_config
        self._seated = np.full((n, self.players), -1)  # `lineups` by seat, with -1 for the learner
        self._skipped_in_a_row = np.zeros(n, np.int64)  # games that ended before the learner's first decision
        self._games = np.arange(n)
        self.rewards = np.zeros(n)
        self.terminations = np.zeros(n, np.bool_)
        self.illegal = np.zeros(n, np.bool_)
        self.final_states = np.zeros(n, self.game.state)
        self.final_observations = np.zeros_like(self._with_numbers(self.batch.observations, self.batch.states))
        self.reset(seed)

    def reset(self, seed: Seed = None, mask: np.ndarray | None = None, prepare: Prepare | None = None) -> None:
        coerced("prepare", prepare, Prepare | None)
        with self._unchanged_by_errors(prepare):
            which = self._reset_batch(seed, mask)
            if prepare is not None:
                prepare(self.batch, which)
            if seed is not None and mask is None:
                self.generator = self._own_generator()
            self._clear_step_results(which)
            self._seat_players(np.flatnonzero(which))
            self._play_others(prepared=prepare is not None)
        self._show()

    def step(self, actions: np.ndarray | Sequence[int]) -> None:
        batch = self.batch
        waiting = self.over
        if self.autoreset == "disabled" or not waiting.any():
            batch.step(actions)  # "disabled": it refuses games that are over
            waiting = waiting[:0]
        else:
            batch.step(actions, which=~waiting)
        self.illegal[:] = batch.illegal
        self.terminations[:] = False
        # What others brought before the learner's first decision belongs to its first step, which this was.
        self.rewards[:] = self._pending
        self._pending[:] = 0.0
        self._unseen[:] = False
        self._collect_step()
        # "next_step": games that were over start in this step. Their rewards are for the next.
        if len(waiting):
            self._start(np.flatnonzero(waiting))
        self._play_others()
        self._show()

    def set_state(self, saved: dict[str, Any]) -> None:
        super().set_state(saved)
        self._seat_opponents(self._games)
        self._clear_step_results(slice(None))

    def _restore_batch(self, states: np.ndarray) -> None:
        if self._choose_config is not None:  # the games may have been of other configurations
            self.batch.reset(config=[self.game.config.of(state, self.config.components) for state in states])
        super()._restore_batch(states)

    # --- starting games ---

    def _start(self, games: np.ndarray) -> None:
        """Start games (indices), unless the batch has started them already, and seat their players."""
        if self.batch.autoreset == "disabled":
            mask = np.zeros(self.num_games, np.bool_)
            mask[games] = True
            self._reset_batch(None, mask)
        self._seat_players(games)

    def _reset_batch(self, seed: Seed, mask: np.ndarray | None) -> np.ndarray:
        """Start games of the batch. Returns which, (N,) bool."""
        which = np.ones(self.num_games, np.bool_) if mask is None else np.asarray(mask)
        configs = None if self._choose_config is None else self._choose_config(np.flatnonzero(which))
        self.batch.reset(seed, mask, configs)
        return which

    def _clear_step_results(self, which: np.ndarray | slice) -> None:
        self.rewards[which] = 0.0
        self.terminations[which] = False
        self.illegal[which] = False

    def _seat_players(self, games: np.ndarray) -> None:
        if self.seat < 0:
            self.seats[games] = self.generator.integers(self.players, size=len(games))
        else:
            self.seats[games] = self.seat
        if self._assign is not None:
            self.lineups[games] = self._check_lineups(self._assign(games), len(games))
        elif len(self.opponents) > 1:
            self.lineups[games] = np.arange(self.players - 1)
        self._seat_opponents(games)
        self._unseen[games] = True
        self._pending[games] = 0.0

    def _seat_opponents(self, games: np.ndarray) -> None:
        # (n, P) from the first seat after the learner's, the learner last; then turned so that column 0 is seat 0
        clockwise = np.pad(self.lineups[games], ((0, 0), (0, 1)), constant_values=-1)
        places = (np.arange(self.players) - self.seats[games, None] - 1) % self.players
        self._seated[games] = np.take_along_axis(clockwise, places, axis=1)

    def _check_lineups(self, lineups: np.ndarray, number: int) -> np.ndarray:
        given = np.asarray(lineups)
        if given.shape != (number, self.players - 1) or given.dtype.kind not in "iu":
            wanted = f"ints of shape ({number}, {self.players - 1})"
            raise ConfigError(f"assign: it returns {given.dtype} {given.shape}, not {wanted}")
        if given.size and (given.min() < 0 or given.max() >= len(self.opponents)):
            raise ConfigError(f"assign: opponents {given.min()} to {given.max()}, but there are {len(self.opponents)}")
        return given

    # --- playing ---

    def _play_others(self, prepared: bool = False) -> None:
        """Play the other seats until in every game the learner has a decision, or the game is over and stays so."""
        generators = [self.generator] * len(self.opponents)
        play(self.opponents, self.batch, self._seated, generators, listeners=[_StepsOfOthers(self, prepared)])

    def _collect_step(self, prepared: bool = False) -> None:
        """Add the rewards of the batch's last step, and record and restart the games that it ended."""
        gained = self.batch.rewards[self._games, self.seats]
        self._pending += np.where(self._unseen, gained, 0.0)
        self.rewards += np.where(self._unseen, 0.0, gained)
        ended = np.flatnonzero(self.batch.terminations)
        if not len(ended):
            return
        unseen = self._unseen[ended]
        if prepared and unseen.any():
            game = int(ended[unseen.argmax()])
            raise ScenarioError(
                f"scenario: game {game} ends before player_{self.seats[game]}, the learner, has a decision"
            )
        # Positions in which the learner never decides would be started again for ever.
        self._skipped_in_a_row[ended] = np.where(unseen, self._skipped_in_a_row[ended] + 1, 0)
        if self._skipped_in_a_row[ended].max() > _MOST_SKIPPED:
            raise ScenarioError(f"starts: {_MOST_SKIPPED} games in a row ended before the learner's first decision")
        shown = ended[~unseen]
        states = self.batch.final_states[shown]
        self.terminations[shown] = True
        self.final_states[shown] = states
        # the batch has seat 0's views of the ends
        self.final_observations[shown] = self._with_numbers(self.batch.views_of(states, self.seats[shown]), states)
        self.final_seats[shown] = self.seats[shown]
        self.final_lineups[shown] = self.lineups[shown]
        for game in shown:
            self.final_configs[game] = self.batch.config_of(game, self.final_states[game])
        # a game that the learner has not seen starts again in every mode
        anew = ended if self.autoreset == "same_step" else ended[unseen]
        if len(anew):
            self._start(anew)

    def _show(self) -> None:
        batch = self.batch
        self.action_masks = batch.action_masks
        over = np.flatnonzero(self.over)
        if len(over):  # the batch has seat 0's view of these
            batch.observations[over] = batch.views_of(batch.states[over], self.seats[over])
        if self.observe_numbers:
            self.observations = self._with_numbers(batch.observations, batch.states)
        else:
            # the batch writes one array at every step of the others too; it is copied once
            self.observations = batch.observations.copy() if self.new_observations else batch.observations


class _StepsOfOthers(PlayListener):
    """Tells the games what each step of the other seats has brought."""

    def __init__(self, games: VersusGames, prepared: bool) -> None:
        self._games, self._prepared = games, prepared

    def on_step(self, which: np.ndarray) -> None:
        self._games._collect_step(self._prepared)


def check_numbers(game: Game, observe_numbers: bool) -> bool:
    """`observe_numbers`. Raises ConfigError for anything but a bool, and for a game that has no numbers to observe."""
    if coerced("observe_numbers", observe_numbers, bool) and not game.numbers.size:
        raise ConfigError(f"observe_numbers=True: {game.title} has no printed numbers to observe")
    return observe_numbers


def check_seat(seat: int | str, players: int) -> int:
    """The seat, -1 for a random one."""
    if isinstance(seat, str) and seat == "random":
        return 0 if players == 1 else -1
    if isinstance(seat, str) or not is_whole(seat) or not 0 <= seat < players:
        raise ConfigError(f"seat={seat!r}: must be 0 to {players - 1} with {players} players, or 'random'")
    return int(seat)


def _make_opponents(given: Sequence[Agent | str], config: Config, assign: Assign | None) -> list[Agent]:
    others, made = config.players - 1, agents_of(given, config, "opponents")
    if others == 0 and (given or assign is not None):
        raise ConfigError("opponents: nobody else has a seat with players=1; leave opponents=() and assign=None")
    if others and assign is None and len(given) not in (1, others):
        wanted = "1 for every other seat" if others == 1 else f"1 for every other seat, or {others} clockwise"
        raise ConfigError(f"opponents: {len(given)} of them with players={config.players}; allowed: {wanted}")
    if assign is not None and not given:
        raise ConfigError("opponents: must be at least 1, for `assign` to choose from")
    return made
