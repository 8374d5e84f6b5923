"""Replays: a game as its configuration, its start and its actions, in a small JSON file that is checked step by step.

    replay = Replay.of(config, seed, actions, names=("greedy", "random"))
    replay.save("game.json")
    for frame in frames(Replay.load("game.json", config.game)):
        print(frame.last_action)

`tabletop_engine.replays.files` describes the file. `tabletop_engine.replays.recorder` records environments and batches.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_engine.checks import checked, is_whole
from tabletop_engine.errors import ComponentsError, ConfigError, ReplayError, ScenarioError, StateError
from tabletop_engine.game import NOBODY, Config, Game
from tabletop_engine.play.batch import check_config, game_seed, refusal
from tabletop_engine.play.warm_up import warm_up
from tabletop_engine.record import FORFEIT, told_points
from tabletop_engine.replays import files
from tabletop_engine.replays.files import Probabilities


@dataclass(frozen=True)
class Replay:
    """One game of P players and n actions, finished or not, that can be played again anywhere.

    It is made by `of` or `load`, which check it, or by a `Recorder`.

    Attributes:
        config: the configuration. Its `components` are numbers, not the path of a file.
        actions: the n actions, in the order of play; `FORFEIT` may be the last one.
        names: the names of the P players, from seat 0.
        points: the points of each owner after the last action.
        winners: who won, as `Game.winners` has it; None for an unfinished game.
        checksums: n + 1 checksums in hexadecimal digits; the first is that of the start.
        package_version: the version of the game's package that recorded it.
        state_version: the version of the record's layout in that package.
        seed: the seed of the game, as in `Batch(config, 1, seed)`; None with a `scenario`.
        scenario: the first state, as the game's `described` writes it; None with a seed.
        probabilities: the actor's probabilities for each of the n actions; () if not recorded.
    """

    config: Config
    actions: tuple[int, ...]
    names: tuple[str, ...]
    points: tuple[int | float, ...]
    winners: tuple[int, ...] | None
    checksums: tuple[str, ...]
    package_version: str
    state_version: int
    seed: int | None = None
    scenario: Mapping[str, Any] | None = None
    probabilities: tuple[Probabilities, ...] = ()

    @classmethod
    @checked
    def of(
        cls,
        config: Config,
        start: Any,
        actions: Sequence[int],
        *,
        names: Sequence[str] | None = None,
        probabilities: Sequence[Probabilities] = (),
    ) -> Replay:
        """The replay of a game that the user's own loop has played.

        Arguments:
            config: the configuration of the game.
            start: the seed, as in `Batch(config, 1, seed)` or `env.reset(seed=…)`, or the first state, one record.
            actions: the actions of all players, in the order of play. The game may be unfinished.
            names: the names of the players; None: `player_0` and so on.
            probabilities: for each action a dictionary of probabilities by action, {} if there are none; () if there
                are none at all.

        Raises ReplayError, with the step, for the first illegal action, StateError for a first state that breaks the
        rules, and ConfigError for other bad arguments.
        """
        given = [] if names is None else [names]
        return replays_of(config, [start], [actions], names=given, probabilities=[probabilities])[0]

    @classmethod
    @checked
    def load(cls, path: str | Path, game: Game) -> Replay:
        """Read a replay from a file, play it and check it to its end.

        Raises ReplayError for a file that can't be read or is not a replay of this game, and for a replay that differs;
        the error then has the first step at which it does.
        """
        try:
            return cls.parse(files.read(path), game)
        except ReplayError as error:
            raise ReplayError(f"{path}: {error}", error.step) from None

    @classmethod
    @checked
    def parse(cls, data: bytes, game: Game) -> Replay:
        """The replay of the content of a file, played and checked to its end. Raises ReplayError as `load` does."""
        try:
            replay = cls(**files.parsed(data, game))
        except ConfigError as error:
            raise ReplayError(str(error)) from None
        _ = replay.states
        return replay

    @property
    def text(self) -> str:
        """The content of its file."""
        return files.text_of(self)

    @checked
    def save(self, path: str | Path) -> None:
        """Write the replay to a file, completely or not at all. Raises ReplayError if it can't be written."""
        files.write(Path(path), self.text)

    @property
    def game(self) -> Game:
        """The game that is played."""
        return self.config.game

    @cached_property
    def tables(self) -> np.ndarray:
        """(1,) of the game's `tables`, the printed numbers it is played with. Raises ReplayError for bad numbers."""
        try:
            return self.game.load_tables(self.config.components)
        except ComponentsError as error:
            raise ReplayError(f"components: {str(error).removeprefix('components: ')}") from None

    @cached_property
    def states(self) -> np.ndarray:
        """(n + 1,) records, from the start to the end. The game is played once, and the records are kept.

        Raises ReplayError, with the step, if the checksums differ from those of the game as it is played here.
        """
        played = np.zeros(len(self.actions) + 1, self.game.state)
        try:
            start = self.seed if self.scenario is None else self.game.scenario(self.scenario, self.config.components)
            played[:1] = _first_states(self.config, [start], self.tables)
        except (ConfigError, ScenarioError, StateError) as error:
            raise ReplayError(f"scenario: {error}") from None
        now = played[:1].copy()
        chain = _Chain(self, self.tables, now[0])
        try:
            _compare(self, chain)
            for step, _ in enumerate(_played(self.game, now, self.tables, [self.actions]), 1):
                chain.add(now[0])
                _compare(self, chain)
                played[step] = now[0]
            _compare_result(self, now[0])
        except ReplayError as error:
            raise ReplayError(f"{error} ({_origin(self)})", error.step) from None
        return played

    @property
    def owner_labels(self) -> tuple[str, ...]:
        """A name for each owner of points: the players' names, and that of an opponent that the rules play."""
        return (*self.names, *self.game.words.owner_names(self.config.players)[len(self.names) :])

    def label(self, seat: int) -> str:
        """The seat and the name of a player: `player_0 (greedy)`, or `player_0` if it has no other name."""
        owner, name = self.game.words.owner_names(self.config.players)[seat], self.owner_labels[seat]
        return owner if name == owner else f"{owner} ({name})"

    def check_seat(self, seat: int | None) -> None:
        """Raise ConfigError for a seat that this game does not have. None, for all hands, is allowed."""
        if seat is not None and (not is_whole(seat) or not 0 <= seat < self.config.players):
            raise ConfigError(
                f"seat={seat}: must be 0 to {self.config.players - 1} in this replay, or none for all hands"
            )


@checked
def replays_of(
    config: Config,
    starts: Sequence[Any],
    actions: Sequence[Sequence[int]],
    *,
    names: Sequence[Sequence[str]] = (),
    probabilities: Sequence[Sequence[Probabilities]] = (),
) -> list[Replay]:
    """Replays of many games with one configuration. They are played together, which is much faster than one by one.

    Arguments:
        config: the configuration of all games.
        starts: for each game its seed or first state, as in `Replay.of`.
        actions: for each game its actions.
        names: for each game the names of the players; () for `player_0` and so on in all games.
        probabilities: for each game its probabilities; () if there are none.

    Raises the errors of `Replay.of`.
    """
    game = check_config(config)
    number = len(starts)
    seating = [tuple(one) for one in names] or [config.agents] * number
    shares = [tuple(files.rounded(game, one) for one in given) for given in probabilities] or [()] * number
    taken = [files.checked_actions(game, one) for one in actions]
    for what, given in (("actions", taken), ("names", seating), ("probabilities", shares)):
        if len(given) != number:
            raise ConfigError(f"{what}: for {len(given)} games, but there are starts for {number}")
    for i in range(number):
        files.check_names(seating[i], config)
        if shares[i] and len(shares[i]) != len(taken[i]):
            raise ConfigError(f"probabilities: for {len(shares[i])} decisions, but there are {len(taken[i])} actions")
    config = dataclasses.replace(config, components=game.own_numbers(config.components))
    tables = game.load_tables(config.components)
    seeds = [int(one) if isinstance(one, int | np.integer) else None for one in starts]
    states = _first_states(config, starts, tables)
    replays = [
        Replay(
            config=config,
            actions=tuple(taken[i]),
            names=seating[i],
            points=(),
            winners=None,
            checksums=(),
            package_version=game.version,
            state_version=game.state_version,
            seed=seeds[i],
            scenario=game.described(states[i]) if seeds[i] is None else None,
            probabilities=shares[i] if any(shares[i]) else (),
        )
        for i in range(number)
    ]
    chains = [_Chain(replay, tables, states[i]) for i, replay in enumerate(replays)]
    for stepped in _played(game, states, tables, taken):
        for i in np.flatnonzero(stepped).tolist():
            chains[i].add(states[i])
    return [
        dataclasses.replace(replay, checksums=tuple(chains[i].checksums), **_result(game, states[i]))
        for i, replay in enumerate(replays)
    ]


# --- Playing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Frame:
    """One state of a replay.

    Attributes:
        step: the number of frames before it.
        number: the number of actions before it.
        state: a copy of the record.
        actor: the seat that takes the pending decision; NOBODY after the end.
        action: the action that the actor then played; None in the last frame.
        probabilities: the actor's probabilities of the actions in this decision.
        last_actor: the seat whose action led here; NOBODY at the start.
        last_action: that action in words; "" at the start.
        played: the states and the actions in them that led here from the previous frame.
    """

    step: int
    number: int
    state: Any
    actor: int
    action: int | None
    probabilities: Probabilities
    last_actor: int
    last_action: str
    played: tuple[tuple[Any, int], ...]


@checked
def frames(replay: Replay, viewer: int | None = None) -> Iterator[Frame]:
    """The frames of a replay as a seat sees them, from the start to the end.

    A decision of another seat is left out if the viewer may not even know that it was taken (the game's `told_action`
    then has no words for the action).

    Arguments:
        replay: the replay.
        viewer: the seat that looks on; None sees every state, one more than there are actions. The states in the frames
            are whole; rendering hides what the viewer may not see.

    Raises the errors of `Replay.states`.
    """
    step, last_actor, last_action = 0, NOBODY, ""
    played: tuple[tuple[Any, int], ...] = ()
    for number, state in enumerate(replay.states.copy()):
        actor = int(state["actor"])
        action = replay.actions[number] if number < len(replay.actions) else None
        done = "" if action is None else words_for(replay.game, state, action, viewer)
        if action is None or done:
            shares = replay.probabilities[number] if number < len(replay.probabilities) else {}
            yield Frame(step, number, state, actor, action, shares, last_actor, last_action, played)
            step, last_actor, last_action, played = step + 1, actor, done, ()
        if action is not None:
            played += ((state, action),)


def events_for(replay: Replay, frame: Frame, viewer: int | None) -> list[str]:
    """Sentences about the events since the previous frame, as far as the viewer may know them."""
    events = replay.game.words.events
    return [one for state, action in frame.played for one in events(state, action, viewer, replay.tables)]


def words_for(game: Game, state: Any, action: int, viewer: int | None = None) -> str:
    """The actor's action in words; "" if it is completely hidden from the viewer."""
    if action == FORFEIT:
        return "an illegal action, which loses the game"
    return game.words.told_action(state, action, viewer)


def told_steps(
    game: Game,
    steps: Iterable[tuple[Any, int]],
    viewer: int | None,
    tables: np.ndarray,
    label: Callable[[int], str],
) -> Iterator[tuple[str, Sequence[str]]]:
    """What happened in steps, each a record and the action that was played on it, as a viewer may know it.

    Yields pairs of who answered what ("" if that is hidden), and sentences about what it did. `label` names a seat.
    """
    for before, action in steps:
        done = words_for(game, before, action, viewer)
        answer = f"{label(int(before['actor']))}: {done}" if done else ""
        yield answer, game.words.events(before, action, viewer, tables)


def _first_states(config: Config, starts: Sequence[Any], tables: np.ndarray) -> np.ndarray:
    """(N,) records: games that are set up from their seeds as in `Batch`, or the states that are given."""
    game = config.game
    warm_up(game)
    states = np.zeros(len(starts), game.state)
    config.write_switches(states)
    seeded = np.array([isinstance(start, int | np.integer) for start in starts], np.bool_)
    states["rng"][seeded] = [game_seed(starts[i]) for i in np.flatnonzero(seeded).tolist()]
    game.kernels.reset_games(states, tables, seeded, np.zeros(len(states), np.int64))
    for i in np.flatnonzero(~seeded).tolist():
        start = starts[i]
        if getattr(start, "dtype", None) != game.state or np.size(start) != 1:
            raise ConfigError(f"start={start!r:.80}: must be a seed, or one record of {game.title}")
        states[i] = np.reshape(start, ())
        states["edition"][i] = 0  # the only one here
        described = game.config.of(states[i], config.components)
        if described != config:
            raise ConfigError(f"start: it is a state of {described.name}, but the configuration is {config.name}")
    if not seeded.all():
        game.check(states, tables)  # all together, which takes hardly longer than one
    return states


def _played(
    game: Game, states: np.ndarray, tables: np.ndarray, actions: Sequence[Sequence[int]]
) -> Iterator[np.ndarray]:
    """Play games together, and change `states` (N,). After every step it yields the games that it stepped, (N,) bool.

    Raises ReplayError for an illegal action; no game makes that step then.
    """
    lengths = np.array([len(one) for one in actions], np.int64)
    chosen = np.zeros((int(lengths.max(initial=0)), len(states)), np.int64)
    for i, one in enumerate(actions):
        chosen[: len(one), i] = one
    for step, taken in enumerate(chosen, 1):
        stepped = lengths >= step
        over = stepped & (states["actor"] == NOBODY)
        if over.any():
            after = f"the game was over after {step - 1} actions, but there are {lengths[over.argmax()]}"
            raise ReplayError(f"step {step}: {after}", step)
        checked = stepped & (taken != FORFEIT)
        wrong = game.kernels.first_illegal(states, taken, checked, game.num_actions)
        if wrong >= 0:
            text = refusal(game, states[wrong], int(taken[wrong]))
            raise ReplayError(f"step {step} of {lengths[wrong]}: {text}", step)
        game.kernels.play_actions(states, tables, taken, stepped)
        yield stepped


def _result(game: Game, state: Any) -> dict[str, Any]:
    """`points` and `winners` after the last action."""
    points = tuple(told_points(state["points"][: state["owners"]]))
    return {"points": points, "winners": tuple(game.winners(state)) if state["actor"] == NOBODY else None}


# --- Checksums -------------------------------------------------------------------------------------------------------


class _Chain:
    """The checksums of a game so far: each depends on all before it."""

    def __init__(self, replay: Replay, tables: np.ndarray, state: Any) -> None:
        head = json.dumps([replay.game.name, replay.package_version, replay.state_version, *replay.names])
        self._replay = replay
        self._digest = b""
        self.checksums: list[str] = []
        self._append(head.encode(), tables.tobytes(), replay.game.bytes_of(state))

    def add(self, state: Any) -> None:
        """Add the next step, which led to `state`."""
        step = len(self.checksums) - 1
        recorded = [self._replay.actions[step]]
        if self._replay.probabilities:
            for action, share in self._replay.probabilities[step].items():
                recorded += [action, round(share * files.THOUSANDTHS)]
        self._append(np.array(recorded, "<i4").tobytes(), self._replay.game.bytes_of(state))

    def _append(self, *parts: bytes) -> None:
        self._digest = hashlib.blake2b(b"".join((self._digest, *parts)), digest_size=8).digest()
        self.checksums.append(self._digest.hex()[: files.DIGITS])


def _compare(replay: Replay, chain: _Chain) -> None:
    step = len(chain.checksums) - 1
    if replay.checksums[step] == chain.checksums[step]:
        return
    where = f"step {step} of {len(replay.actions)}" if step else "step 0, the start"
    what = "position or probabilities" if step else "set-up, numbers on the pieces, names or versions"
    raise ReplayError(f"it differs at {where}: its checksum is of another {what}", step)


def _compare_result(replay: Replay, state: Any) -> None:
    step, played = len(replay.actions), _result(replay.game, state)
    for key, value in played.items():
        if getattr(replay, key) != value:
            given = f"its {key} are {_shown(getattr(replay, key))}, but the game gives {_shown(value)}"
            raise ReplayError(f"it differs at step {step}, the last one: {given}", step)


def _shown(value: tuple[int, ...] | None) -> str:
    return "of an unfinished game" if value is None else ", ".join(map(str, value))


def _origin(replay: Replay) -> str:
    """The possible reason of a difference."""
    game = replay.game
    if (replay.package_version, replay.state_version) == (game.version, game.state_version):
        return "it was changed, or recorded with other numbers or rules"
    recorded = f"{game.name} {replay.package_version} with state version {replay.state_version}"
    return f"recorded by {recorded}; this is {game.version} with {game.state_version}"
