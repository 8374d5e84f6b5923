"""The interface of a game: one `Game` object holds all that the engine, agents, training and command line use."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from tabletop_engine import defaults
from tabletop_engine.chance import MOST_KINDS
from tabletop_engine.checks import OTHER_KINDS
from tabletop_engine.compiling.compiled import keep_shared_rules, made_for
from tabletop_engine.compiling.sources import Sources, files_of
from tabletop_engine.errors import ConfigError
from tabletop_engine.observation import Layout
from tabletop_engine.play.kernels import MOST_DECISIONS, Kernels
from tabletop_engine.presentation import Drawing, Words
from tabletop_engine.record import NOBODY as NOBODY
from tabletop_engine.record import told_points

RECORD = ("rng", "legal", "decision", "actor", "players", "owners", "round", "rounds", "points", "forfeited", "edition")
"""The fields that the record of every game has. A game adds its own.

Attributes:
    rng: uint64, the random stream (`tabletop_engine.chance`).
    legal: uint64 words, the set of legal actions (`tabletop_engine.legal`).
    decision: the number of the pending decision.
    actor: the seat that takes this decision, or NOBODY.
    players: the number of players.
    owners: the number of owners of points: the teams (without any, the players), and an opponent that the rules play.
    round: the current round, from 1; always 1 in a game without rounds.
    rounds: the number of rounds; 1 in a game without rounds.
    points: the points of each owner.
    forfeited: the seat that lost by an illegal action, or NOBODY.
    edition: which of several tables of printed numbers is played with; the engine sets it (`tabletop_engine.editions`).
"""


class Config(Protocol):
    """What is played: the number of players, variants, modules and numbers.

    A configuration is a frozen dataclass that checks its own values. All its fields are JSON-able. The `Arguments:` of
    its docstring describe them in the docstrings of environments too.

    Attributes:
        SWITCHES: names of the fields of a record that the configuration sets.
    """

    SWITCHES: ClassVar[tuple[str, ...]]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def game(self) -> Game:
        """The `Game` that it configures."""
        ...

    @property
    def players(self) -> int:
        """The number of players."""
        ...

    @property
    def owners(self) -> int:
        """The number of owners of points: the teams, and an opponent that the rules play. Alone each is a team."""
        ...

    @property
    def name(self) -> str:
        """A short name for tables and file names."""
        ...

    @property
    def components(self) -> Any:
        """Numbers that replace the shipped ones: the path of a file, or the numbers themselves; None for no changes."""
        ...

    @property
    def agents(self) -> tuple[str, ...]:
        """The names of the players, by seat."""
        ...

    def write_switches(self, states: np.ndarray) -> None:
        """Write this configuration's switches into records, (N,)."""

    @classmethod
    def of(cls, state: Any, components: Any = None) -> Self:
        """The configuration that a record is played with. `components` are not in the record, so they are given."""
        ...


@dataclass(frozen=True)
class Rules:
    """A game's compiled rules: functions of one record `s` and, for most of them, the printed numbers `t`.

    The last six have defaults (`tabletop_engine.defaults`) for games in which everybody plays alone, points decide and
    nothing is hidden.

    Attributes:
        reset: `reset(s, t)` sets the game up to its first decision. It reads only the switches and the random stream.
        step: `step(s, t, action)` answers the pending decision with a legal action, then goes on to the next decision
            or the end.
        legal: `legal(s, t)` writes the set of legal actions into the record.
        observe: `observe(s, t, viewer, out)` writes what that seat may know into `out`, (size,) int16 zeros, as plain
            counts.
        ranks: `ranks(s, out)` writes each owner's place in a finished game into `out` (int8). The first place is 1,
            and equal owners share a place. It is not called for forfeited games: there the engine decides who won.
        team: `team(s, seat)` tells which owner has the points and the result of this seat. It reads only switches.
            Teams are the owners from 0; an opponent that the rules play comes after them. Partners have one owner, and
            in a cooperative game all seats have owner 0.
        forfeit: `forfeit(s, seat)` ends the game because this seat, and so its team, loses by an illegal action.
        sample_hidden: `sample_hidden(s, t, seat, rng)` redraws all that this seat cannot know, and gives the game the
            random stream `rng`.
        value: `value(s, t, w, owner, memo)` estimates for searches how many points this owner, a seat or a team, is
            ahead (float64): points that it has, and points that it can expect. `w` are the weights, `memo` is scratch
            space, which games of different editions share: what is kept there belongs to `s.edition`.
        is_settled: `is_settled(s, seat)` tells whether the seat has completed its current move, so that a search may
            value the position.
    """

    reset: Callable[..., None]
    step: Callable[..., None]
    legal: Callable[..., None]
    observe: Callable[..., None]
    ranks: Callable[..., None] = defaults.ranks_by_points
    team: Callable[..., int] = defaults.own_team
    forfeit: Callable[..., None] = defaults.forfeit
    sample_hidden: Callable[..., None] = defaults.hide_nothing
    value: Callable[..., float] = defaults.points_ahead
    is_settled: Callable[..., bool] = defaults.is_others_turn

    def as_module(self) -> ModuleType:
        """The functions as attributes of a module, so that compiled code can call `rules.step` and the others."""
        module = ModuleType("rules")
        for rule in fields(self):
            setattr(module, rule.name, getattr(self, rule.name))
        return module


class Image(NamedTuple):
    """A turned or mirrored image of a game: where each number of an observation goes, and each action."""

    observation: np.ndarray  # (D,) int64, a permutation
    actions: np.ndarray  # (A,) int64, a permutation


@dataclass(frozen=True)
class Limits:
    """Limits of the games of a configuration, which OpenSpiel asks for. The defaults are those of the engine.

    A random game that breaks them is a problem for `check`.

    Attributes:
        decisions: the most decisions in one game.
        draws: the most draws of chance in one game, those of the set-up included.
        outcomes: the upper bound (exclusive) of the numbers of outcomes of a draw; 0 in a game without chance.
        points: the least and the most points that an owner can have at a decision or at the end; None for the bounds of
            the field `points` in a record.
    """

    decisions: int = MOST_DECISIONS
    draws: int = MOST_DECISIONS
    outcomes: int = MOST_KINDS
    points: tuple[float, float] | None = None


_NO_NUMBERS = Layout((), 0.0, 1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Game:
    """All that a game offers to the engine, the agents, training and the command line.

    Attributes with a default may be left out.

    Attributes:
        name: one lower-case word, for files, caches and the command line.
        title: the name as people write it.
        home: the module that has this object as `GAME`; pickles and the specs of environments refer to it.
        command: the words that begin a command line of this game. Default: `python -m tabletop_cli` and `home`.
        version: the version of the game's package.
        state_version: the version of the record's layout. Everything that is stored carries it.
        rules_version: the version of the rules and of what chance brings for a seed. Results with the same
            `rules_version` can be compared.
        sources: files and folders with compiled functions, or with constants that these use. Default: the file of
            `home`.
        state: the dtype of a record, with the fields of `RECORD`.
        tables: the dtype of the printed numbers.
        load_tables: takes the `components` of a configuration, returns (1,) of `tables`, read-only.
        config: the type of configurations.
        players: the possible numbers of players, ascending.
        decisions: the names of the decisions, by number.
        actions: the names of the actions, by number; all different.
        observation: the layout of what a player sees.
        numbers: the layout of the printed numbers, for networks that read them; empty for a game without.
        write_numbers: takes (K,) of `tables`, returns (K, M) int16, the counts of `numbers` for each of them.
        rules: the compiled rules.
        weights: the weights of `rules.value`, by name.
        new_memo: makes scratch space for `rules.value`.
        images: takes a number of players, returns the images (`Image`) in which the game is the same: what is legal and
            worth doing in a position is legal and worth as much in its image. The game itself is not one of them.
        limits: takes a configuration, returns the `Limits` of its games.
        search_settings: settings of this game for agents that search, such as the "scale" of points.
        words: the game in words.
        drawing: the game in pictures.
        check: takes (N,) records and tables; raises StateError for a record that no game can reach.
        scenario: takes a description and `components`, returns the record; raises ScenarioError.
        described: takes a record, returns its description, JSON-able.
        form: takes a record, returns what a description of a game with the same switches may hold, as in
            `tabletop_engine.described.forms`; None if that isn't known.
        rules_page: a Markdown file that says how the rules are read.
        scored: the sources of points: names for the last axis of the record's field `scored`, which counts each
            owner's points by source; () for a game whose record has no such field.
        own_numbers: takes the `components` of a configuration, returns those that differ from the shipped numbers as
            JSON-able data, or None if none differ. They can then be stored without their file.
        known: fields of the record that all players may know though observations do not show them, because they lie
            open or follow from what is shown. `check` reports others that are neither shown nor redrawn, and compares
            how often redraws draw what.
        draw_components: takes a seed and the `components` of a configuration, returns an edition: `components` in which
            every number that has a range is drawn from it. Raises ComponentsError.
    """

    name: str
    title: str
    home: str
    command: str = ""
    version: str
    state_version: int = 1
    rules_version: int = 1
    sources: tuple[Path, ...] = ()
    state: np.dtype[Any]
    tables: np.dtype[Any] = defaults.NO_TABLES
    load_tables: Callable[[Any], np.ndarray] = defaults.no_tables
    config: type[Any]
    players: tuple[int, ...]
    decisions: tuple[str, ...]
    actions: tuple[str, ...]
    observation: Layout
    numbers: Layout = _NO_NUMBERS
    write_numbers: Callable[[np.ndarray], np.ndarray] = lambda tables: np.zeros((len(tables), 0), np.int16)
    rules: Rules
    weights: Mapping[str, float] = field(default_factory=dict)
    new_memo: Callable[[], np.ndarray] = lambda: np.zeros(1)
    images: Callable[[int], tuple[Image, ...]] = lambda players: ()
    limits: Callable[[Any], Limits] = lambda config: Limits()
    search_settings: Mapping[str, float] = field(default_factory=dict)
    words: Words
    drawing: Drawing
    check: Callable[[np.ndarray, np.ndarray], None]
    scenario: Callable[[Mapping[str, Any], Any], Any]
    described: Callable[[Any], dict[str, Any]]
    form: Callable[[Any], dict[str, Any] | None] = lambda state: None
    rules_page: Path | None = None
    scored: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    own_numbers: Callable[[Any], Any] = lambda components: None
    draw_components: Callable[..., Any] = defaults.no_draws

    def __post_init__(self) -> None:
        if not self.command:
            object.__setattr__(self, "command", f"python -m tabletop_cli {self.home}")
        if not self.sources:
            object.__setattr__(self, "sources", (Path(str(sys.modules[self.home].__file__)),))
        missing = [name for name in RECORD if name not in (self.state.names or ())]
        if missing:
            raise TypeError(f"the record of {self.name} lacks the fields {', '.join(missing)}")
        words = self.state["legal"].shape[0]
        if len(self.actions) > 64 * words:
            raise TypeError(f"the record of {self.name} has {words} words for {len(self.actions)} actions")
        usual = self.config.__dataclass_fields__["players"].default
        if usual not in self.players:
            raise TypeError(
                f"the configuration of {self.name} has players={usual!r} by default, but the game is for "
                f"{' or '.join(map(str, self.players))} players: write @dataclass(frozen=True) above its class and "
                f"players: int = {self.players[0] if self.players else 2} in it"
            )

    def __reduce__(self) -> tuple[Callable[[str], Game], tuple[str]]:
        return game_of, (self.home,)

    def __repr__(self) -> str:
        return f"<game {self.name}>"

    @property
    def num_actions(self) -> int:
        """The number of actions, A."""
        return len(self.actions)

    @property
    def max_owners(self) -> int:
        """The number of owners of points that a record has room for."""
        return int(self.state["points"].shape[0])

    @cached_property
    def kernels(self) -> Kernels:
        """The loops over records for this game (`tabletop_engine.play.kernels`). Each is compiled at its first call."""
        return Kernels(self.made, self.observation.low, self.observation.high)

    @property
    def has_teams(self) -> bool:
        """Whether seats may have a team (the rule `team`). Without it each seat has points of its own."""
        return self.rules.team is not defaults.own_team

    def teams(self, config: Any) -> tuple[int, ...]:
        """The owner of the points of each seat in games of this configuration, by seat; teams are owners from 0."""
        if not self.has_teams:
            return tuple(range(config.players))
        states = np.zeros(1, self.state)
        config.write_switches(states)
        return tuple(self.teams_of(states, config.players)[0].tolist())

    def teams_of(self, states: np.ndarray, players: int) -> np.ndarray:
        """The same for records (N,) of games with at most so many players P: (N, P) int64."""
        if not self.has_teams:
            return np.tile(np.arange(players), (len(states), 1))
        teams = np.zeros((len(states), players), np.int64)
        self.kernels.teams_of_games(states, teams)
        return teams

    def owners_of_seats(self, states: np.ndarray, seats: np.ndarray, players: int) -> np.ndarray:
        """The owner of the points of one seat of each record: (N,) ints, for `states` (N,) and `seats` (N,)."""
        return self.teams_of(states, players)[np.arange(len(seats)), seats] if self.has_teams else seats

    def named_owners(self, state: Any) -> tuple[int, ...]:
        """The owner of the points of each name of `Words.owner_names`: seats, then opponents that the rules play."""
        teams = self.teams_of(np.array([state]), int(state["players"]))[0].tolist()
        return (*teams, *range(max(teams) + 1, int(state["owners"])))

    def named_points(self, state: Any) -> list[int | float]:
        """The points of each name of `Words.owner_names`: those of a seat are its team's."""
        return told_points(state["points"][[*self.named_owners(state)]])

    def winners(self, state: Any) -> list[int]:
        """Who won a finished game, ascending: seats, and after the last seat opponents that the rules play.

        There are several if they share the victory, or if a team has won.
        """
        places = np.zeros((1, self.max_owners), np.int8)
        self.kernels.places_of_games(np.array([state]), places)
        return [name for name, owner in enumerate(self.named_owners(state)) if places[0, owner] == 1]

    @cached_property
    def code_sources(self) -> Sources:
        """What this game's machine code is made from."""
        return Sources(self.name, self.home, files_of(self.sources))

    @cached_property
    def layout_hash(self) -> str:
        """A hash of the record's layout: 16 hexadecimal digits, different for different layouts."""
        return hashlib.sha256(repr(self.state.descr).encode()).hexdigest()[:16]

    def bytes_of(self, state: Any) -> bytes:
        """The bytes of a record that checksums of replays count: all but `edition`, which is a place in one batch."""
        counted = state.copy()
        counted["edition"] = 0
        return bytes(counted.tobytes())

    def made(self, templates: Iterable[Callable[..., Any]], **names: Any) -> dict[str, Any]:
        """Templates compiled for this game (`compiling.compiled.made_for`); `names` become additional globals."""
        keep_shared_rules(self.code_sources)
        return made_for(self.code_sources, templates, {"rules": self.rules.as_module(), **names})


def is_config(value: Any) -> bool:
    """Whether this is a configuration of a game."""
    game = getattr(value, "game", None)
    return isinstance(game, Game) and isinstance(value, game.config)


OTHER_KINDS[Config] = (is_config, "a game's configuration")


def switches_of(config: Config) -> dict[str, np.ndarray]:
    """The values of a configuration's switches in a record: arrays (1, …) by the names of the fields."""
    record = np.zeros(1, config.game.state)
    config.write_switches(record)
    return {name: record[name] for name in config.SWITCHES}


def changed_fields(config: Config) -> dict[str, Any]:
    """The fields of a configuration, but for the number of players, that are not as in a plain one, by their names."""
    plain, own = config.game.config(players=config.players), fields(config.game.config)
    values = {one.name: getattr(config, one.name) for one in own}
    return {name: value for name, value in values.items() if value != getattr(plain, name)}


def game_of(home: str) -> Game:
    """The `GAME` of the module with this dotted name. Raises ConfigError if there is none."""
    try:
        found = importlib.import_module(home).GAME
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"game {home!r}: must be a module with a GAME in it ({error})") from None
    if not isinstance(found, Game):
        raise ConfigError(f"game {home!r}: its GAME is not a tabletop_engine.game.Game")
    return found
