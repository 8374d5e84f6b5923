"""Replays: a game is its configuration, its start and its actions; a small JSON file that is checked step by step.

    replay = Replay.of(config, seed, actions, names=("greedy", "random"))
    replay.save("game.json")
    for frame in frames(Replay.load("game.json")):
        print(frame.last_action)

`tabletop.replays.files` describes the file. `tabletop.replays.recorder` records environments and batches.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import petrichor_env
from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.component_files import Value, load_components, load_tables
from petrichor_env.config import Config
from petrichor_env.drawing import told_action
from petrichor_env.observation import OBSERVATION_SIZE
from petrichor_env.scenarios import check, described, scenario
from petrichor_env.state import MAX_PLAYERS, NOBODY, STATE, STATE_VERSION, Decision, State
from petrichor_env.words import owner_names
from tabletop import kernels
from tabletop.batch import game_seed, illegal_action_text
from tabletop.errors import ComponentsError, ConfigError, ReplayError, ScenarioError
from tabletop.replays.files import (
    DIGITS,
    FORFEIT,
    THOUSANDTHS,
    Numbers,
    Probabilities,
    check_names,
    checked_actions,
    read,
    rounded,
    text_of,
    write,
)
from tabletop.warm_up import warm_up


@dataclass(frozen=True)
class Replay:
    """One game, finished or not, that can be played again anywhere.

    Attributes (P players, n actions):
        config: what is played, without a component overlay's path.
        actions: n ints, in the order of play; `FORFEIT` may be the last one.
        names: who sat where, P strings from seat 0.
        points: after the last action, by owner: P ints, in solo 2.
        winners: seats that won, in solo 1 is the neutral player; None for an unfinished game.
        checksums: n + 1 strings of hexadecimal digits, the first of the start.
        seed: what the game started from, as in `Batch(config, 1, seed)`; None if it started from `scenario`.
        scenario: the first state as `describe` gives it, None with a seed.
        components: numbers that aren't the shipped ones; {} for the shipped ones.
        probabilities: what the actor gave its actions at each decision, n of them; () if none were recorded.
        package_version, state_version: of what recorded it.

    It is made by `of` or `load`, which check it, or by a `Recorder`.
    """

    config: Config
    actions: tuple[int, ...]
    names: tuple[str, ...]
    points: tuple[int, ...]
    winners: tuple[int, ...] | None
    checksums: tuple[str, ...]
    seed: int | None = None
    scenario: Mapping[str, Any] | None = None
    components: Numbers = field(default_factory=dict)
    probabilities: tuple[Probabilities, ...] = ()
    package_version: str = petrichor_env.__version__
    state_version: int = STATE_VERSION

    @classmethod
    def of(
        cls,
        config: Config,
        start: int | State,
        actions: Sequence[int],
        *,
        names: Sequence[str] | None = None,
        probabilities: Sequence[Probabilities] = (),
    ) -> Replay:
        """The replay of a game that was played in any loop of one's own.

        Arguments:
            config: what was played, with the overlay's path if there was one.
            start: the seed, as in `Batch(config, 1, seed)` or `env.reset(seed=…)`, or the first state.
            actions: all players', in the order of play; the game need not be finished.
            names: who sat where; None → `player_0` …
            probabilities: for each action a dictionary by action, {} where there were none; () without any.

        Raises ReplayError with the first step whose action is not legal, StateError for a first state that breaks the
        rules, ConfigError for the rest.
        """
        given = [] if names is None else [names]
        return replays_of(config, [start], [actions], names=given, probabilities=[probabilities])[0]

    @classmethod
    def load(cls, path: str | Path) -> Replay:
        """The replay of a file, played and checked to its end.

        Raises ReplayError for a file that can't be read or is no replay, and with the first step at which it differs.
        """
        replay = cls(**read(path))
        try:
            for _ in frames(replay):
                pass
        except ReplayError as error:
            raise ReplayError(f"{path}: {error}", error.step) from None
        return replay

    def save(self, path: str | Path) -> None:
        """Write the file; at no time is half of one there. Raises ReplayError where none can be written."""
        write(Path(path), text_of(self))

    @cached_property
    def tables(self) -> np.ndarray:
        """(1,) TABLES: the numbers that it is played with. Raises ReplayError where they aren't possible ones."""
        return self._with_overlay(load_tables)

    @property
    def overlay_text(self) -> str:
        """Its own numbers as an overlay file's text."""
        return "".join(f"{key} = {json.dumps(value)}\n" for key, value in self.components.items())

    @property
    def owner_labels(self) -> tuple[str, ...]:
        """The names with `neutral` in solo: one for each owner of drops."""
        return (*self.names, *owner_names(self.config.players)[len(self.names) :])

    def label(self, seat: int) -> str:
        """`player_0 (greedy)`, or `player_0` for one without another name."""
        owner, name = owner_names(self.config.players)[seat], self.owner_labels[seat]
        return owner if name == owner else f"{owner} ({name})"

    def check_seat(self, seat: int | None) -> None:
        """Raises ConfigError for a seat that there isn't in this game; None, all hands, is one to look from."""
        if seat is not None and (isinstance(seat, bool) or not 0 <= seat < self.config.players):
            raise ConfigError(f"seat={seat}: 0 to {self.config.players - 1} in this replay, or none for all hands")

    def first_state(self) -> State:
        """What the game starts from, one record. Raises ReplayError for a scenario that isn't one of this game."""
        warm_up()
        if self.seed is not None:
            return _set_up(self.config, [self.seed], self.tables)[0]
        assert self.scenario is not None
        description = self.scenario
        state = self._with_overlay(lambda path: scenario(description, path))
        if Config.of(state) != self.config:
            raise ReplayError(f"scenario: it is of {Config.of(state).name}, the configuration is {self.config.name}")
        return state

    def _with_overlay(self, use: Callable[[Path | None], Any]) -> Any:
        """What a function of an overlay's path gives: the numbers are played with from a file only."""
        with overlay_file(self.overlay_text) as path:
            return _refused(use, path)


@contextmanager
def overlay_file(text: str) -> Iterator[Path | None]:
    """An overlay file with this text while the block lasts; None for an empty one, the shipped numbers."""
    if not text:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "components.toml")
        path.write_text(text, encoding="utf-8")
        yield path


def _refused(use: Callable[[Path | None], Any], path: Path | None) -> Any:
    try:
        return use(path)
    except ComponentsError as error:
        raise ReplayError(f"components: {str(error).removeprefix(f'{path}: ')}") from None
    except ScenarioError as error:
        raise ReplayError(f"scenario: {error}") from None


def replays_of(
    config: Config,
    starts: Sequence[int | State],
    actions: Sequence[Sequence[int]],
    *,
    names: Sequence[Sequence[str]] = (),
    probabilities: Sequence[Sequence[Probabilities]] = (),
) -> list[Replay]:
    """Replays of many games of one configuration, which are played side by side: much faster than one by one.

    Arguments, one of each for every game: as in `Replay.of`; without `names` or `probabilities` none have any.

    Raises as `Replay.of` does.
    """
    if not isinstance(config, Config):
        raise ConfigError(f"config={config!r:.80}: a petrichor_env.Config")
    number = len(starts)
    seating = [tuple(one) for one in names] or [config.agents] * number
    shares = [tuple(rounded(one) for one in game) for game in probabilities] or [()] * number
    taken = [checked_actions(game) for game in actions]
    for what, given in (("actions", taken), ("names", seating), ("probabilities", shares)):
        if len(given) != number:
            raise ConfigError(f"{what}: of {len(given)} games, starts: of {number}")
    for game in range(number):
        check_names(seating[game], config)
        if shares[game] and len(shares[game]) != len(taken[game]):
            raise ConfigError(f"probabilities: of {len(shares[game])} decisions, actions: of {len(taken[game])}")
    tables = load_tables(config.components)
    seeds = [one if isinstance(one, int | np.integer) else None for one in starts]
    states = _first_states(config, starts, tables)
    numbers = _own_numbers(config)
    plain = dataclasses.replace(config, components=None)
    replays = [
        Replay(
            config=plain,
            actions=tuple(taken[game]),
            names=seating[game],
            points=(),
            winners=None,
            checksums=(),
            seed=None if (seed := seeds[game]) is None else int(seed),
            scenario=described(states[game]) if seed is None else None,
            components=numbers,
            probabilities=shares[game] if any(shares[game]) else (),
        )
        for game in range(number)
    ]
    chains = [_Chain(replay, tables, states[game]) for game, replay in enumerate(replays)]
    checksums = [[chain.checksum] for chain in chains]
    for stepped in _played(states, tables, taken):
        for game in np.flatnonzero(stepped).tolist():
            checksums[game].append(chains[game].add(states[game]))
    return [
        dataclasses.replace(replay, checksums=tuple(checksums[game]), **_result(states[game]))
        for game, replay in enumerate(replays)
    ]


# --- Playing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Frame:
    """One state of a replay.

    Attributes:
        step: how many actions led here.
        state: a copy of the record.
        actor: seat that is asked, NOBODY after the end.
        action: what the actor then played, None in the last frame.
        probabilities: what the actor gave the actions of this decision.
        last_actor, last_action: whose action led here, NOBODY at the start; what it was in words, "" at the start.
    """

    step: int
    state: State
    actor: int
    action: int | None
    probabilities: Probabilities
    last_actor: int = NOBODY
    last_action: str = ""


def frames(replay: Replay) -> Iterator[Frame]:
    """Every state of the game from its start on: one more than there are actions.

    Raises ReplayError, before the frame is given, at the first step at which the replay differs from what its start
    and its actions give here.
    """
    states = np.array([replay.first_state()])
    chain = _Chain(replay, replay.tables, states[0])
    _compare(replay, 0, chain.checksum)
    frame = _frame(replay, 0, states[0])
    if not replay.actions:
        _compare_result(replay, states[0])
    yield frame
    playing = _played(states, replay.tables, [replay.actions])
    for step, action in enumerate(replay.actions, 1):
        try:
            next(playing)
        except ReplayError as error:
            raise ReplayError(f"{error}{_origin(replay)}", error.step) from None
        _compare(replay, step, chain.add(states[0]))
        if step == len(replay.actions):
            _compare_result(replay, states[0])
        frame = _frame(replay, step, states[0], frame.actor, _words_for(frame.state, action))
        yield frame


def seen_by(shown: Iterable[Frame], viewer: int | None) -> Iterator[Frame]:
    """The frames that a viewer can tell apart, with the last action in the words that it may know.

    Only who holds a forecast card that can be played is asked whether to play it. That others were asked and did not
    is hidden, so those frames are left out, and the steps are numbered without them. None sees all frames as they are.

    Arguments:
        shown: all frames of a replay. Their states are whole: what is in them is the viewer's to see once rendered.
        viewer: seat that looks on, or None.
    """
    if viewer is None:
        yield from shown
        return
    step, last_actor, last_action = 0, NOBODY, ""
    for frame in shown:
        done = "" if frame.action is None else _words_for(frame.state, frame.action, viewer)
        if frame.action is not None and not done:
            continue
        yield dataclasses.replace(frame, step=step, last_actor=last_actor, last_action=last_action)
        step, last_actor, last_action = step + 1, frame.actor, done


def _frame(replay: Replay, step: int, state: State, last_actor: int = NOBODY, last_action: str = "") -> Frame:
    return Frame(
        step,
        state.copy(),
        int(state["actor"]),
        replay.actions[step] if step < len(replay.actions) else None,
        replay.probabilities[step] if step < len(replay.probabilities) else {},
        last_actor,
        last_action,
    )


def _words_for(state: State, action: int, viewer: int | None = None) -> str:
    """ "" for what is hidden from the viewer altogether."""
    return "an illegal action, which loses the game" if action == FORFEIT else told_action(state, action, viewer)


def _set_up(config: Config, seeds: Sequence[int], tables: np.ndarray) -> np.ndarray:
    """(N,) STATE: games set up from their seeds, as `Batch` does it."""
    states = np.zeros(len(seeds), STATE)
    config.write_switches(states)
    states["rng"] = [game_seed(seed) for seed in seeds]
    kernels.reset_games(states, tables, np.ones(len(seeds), np.bool_))
    return states


def _first_states(config: Config, starts: Sequence[Any], tables: np.ndarray) -> np.ndarray:
    warm_up()
    states = np.zeros(len(starts), STATE)
    seeded = [game for game, start in enumerate(starts) if isinstance(start, int | np.integer)]
    if seeded:
        states[seeded] = _set_up(config, [starts[game] for game in seeded], tables)
    for game, start in enumerate(starts):
        if game in seeded:
            continue
        if getattr(start, "dtype", None) != STATE or np.size(start) != 1:
            raise ConfigError(f"start={start!r:.80}: a seed, or one record of petrichor_env.state.STATE")
        states[game] = np.reshape(start, ())
        if Config.of(states[game], config.components) != config:
            raise ConfigError(f"start: a state of {Config.of(states[game]).name}, the configuration is {config.name}")
    if len(seeded) < len(starts):
        check(states, tables)  # all at once, which takes hardly longer than one
    return states


def _played(states: np.ndarray, tables: np.ndarray, actions: Sequence[Sequence[int]]) -> Iterator[np.ndarray]:
    """Play games side by side, `states` (N,) in place; gives after every step which of them it stepped, (N,) bool.

    Raises ReplayError for an action that the pending decision doesn't allow; none of the games makes that step then.
    """
    n = len(states)
    lengths = np.array([len(one) for one in actions], np.int64)
    longest = int(lengths.max(initial=0))
    chosen = np.zeros((longest, n), np.int64)
    for game, one in enumerate(actions):
        chosen[: len(one), game] = one
    views = (np.zeros(n, np.int8), np.zeros((n, NUM_ACTIONS), np.int8), np.zeros((n, OBSERVATION_SIZE), np.float32))
    ends = (np.zeros((n, MAX_PLAYERS)), np.zeros(n, np.bool_), np.zeros(n, np.bool_))
    finals = (np.zeros(n, STATE), np.zeros((n, OBSERVATION_SIZE), np.float32))
    modes = np.array([kernels.DISABLED, kernels.LOSE, kernels.POINTS], np.int64)
    for step in range(longest):
        stepped = lengths > step
        forfeits = chosen[step] == FORFEIT
        over = stepped & (states["actor"] == NOBODY)
        if over.any():
            after = f"the game was over after {step} actions, {lengths[over.argmax()]} are given"
            raise ReplayError(f"step {step + 1}: {after}", step + 1)
        game, problem = kernels.check_actions(states, chosen[step], stepped & ~forfeits, NUM_ACTIONS, False)
        if problem != kernels.OK:
            text = illegal_action_text(states[game], int(chosen[step, game]))
            raise ReplayError(f"step {step + 1} of {lengths[game]}: {text}", step + 1)
        kernels.step_games(states, tables, chosen[step], stepped, modes, *views, *ends, *finals)
        yield stepped


def _result(state: State) -> dict[str, Any]:
    """`points` and `winners` after the last action."""
    points = tuple(state["points"][: state["owners"]].tolist())
    if state["decision"] != Decision.GAME_OVER:
        return {"points": points, "winners": None}
    won = np.zeros((1, MAX_PLAYERS), np.int8)
    kernels.winners_of_games(np.array([state]), won)
    return {"points": points, "winners": tuple(np.flatnonzero(won[0, : state["owners"]]).tolist())}


# --- Checksums -------------------------------------------------------------------------------------------------------


class _Chain:
    """The checksums of a game, one after another: each depends on all before it."""

    def __init__(self, replay: Replay, tables: np.ndarray, state: State) -> None:
        head = json.dumps([replay.package_version, replay.state_version, *replay.names])
        self._replay = replay
        self._digest = b""
        self._steps = 0
        self.checksum = self._next(head.encode(), tables.tobytes(), state.tobytes())

    def add(self, state: State) -> str:
        """The checksum of the next step, which led to `state`."""
        recorded = [self._replay.actions[self._steps]]
        if self._replay.probabilities:
            for action, share in self._replay.probabilities[self._steps].items():
                recorded += [action, round(share * THOUSANDTHS)]
        self._steps += 1
        self.checksum = self._next(np.array(recorded, "<i2").tobytes(), state.tobytes())
        return self.checksum

    def _next(self, *parts: bytes) -> str:
        digest = hashlib.blake2b(self._digest, digest_size=8)
        for part in parts:
            digest.update(part)
        self._digest = digest.digest()
        return self._digest.hex()[:DIGITS]


def _compare(replay: Replay, step: int, checksum: str) -> None:
    if replay.checksums[step] == checksum:
        return
    where = f"step {step} of {len(replay.actions)}" if step else "step 0, the start"
    what = "position or probabilities" if step else "set-up, numbers on the pieces, names or versions"
    raise ReplayError(f"it differs at {where}: not the {what} of which it has the checksum{_origin(replay)}", step)


def _compare_result(replay: Replay, state: State) -> None:
    step, played = len(replay.actions), _result(state)
    for key, value in played.items():
        if getattr(replay, key) != value:
            given = f"{key} {_shown(getattr(replay, key))} are stated, {_shown(value)} are played"
            raise ReplayError(f"it differs at step {step}, the last one: {given}{_origin(replay)}", step)


def _shown(value: tuple[int, ...] | None) -> str:
    return "of an unfinished game" if value is None else ", ".join(map(str, value))


def _origin(replay: Replay) -> str:
    """Why it may differ."""
    ours = (petrichor_env.__version__, STATE_VERSION)
    if (replay.package_version, replay.state_version) == ours:
        return " (it was changed, or recorded with other numbers or rules)"
    recorded = f"petrichor {replay.package_version} with state version {replay.state_version}"
    return f" (recorded by {recorded}; this is {ours[0]} with {ours[1]})"


def _own_numbers(config: Config) -> dict[str, Value | list[Value]]:
    """The overlay's numbers that aren't the shipped ones."""
    if config.components is None:
        return {}
    shipped, own = load_components(), load_components(config.components)
    return {
        key: numbers.values[0] if numbers.single else list(numbers.values)
        for key, numbers in own.items()
        if numbers.values != shipped[key].values
    }
