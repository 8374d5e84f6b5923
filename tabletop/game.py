"""What a game offers to the engine, the agents, training and the command line: one `Game`."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from tabletop import defaults
from tabletop.compiled import cache_folder, keep_shared_rules, made_for
from tabletop.drawing.lines import Block
from tabletop.drawing.owners import Mark
from tabletop.drawing.svg import Place
from tabletop.observation import Layout
from tabletop.record import NOBODY as NOBODY
from tabletop.words import Facts, Lesson

if TYPE_CHECKING:
    from tabletop.kernels import Kernels

RECORD = ("rng", "legal", "decision", "actor", "players", "owners", "round", "rounds", "points", "forfeited")
"""The fields that every game's record has, whatever else is in it.

rng: uint64, the random stream (`tabletop.chance`).
legal: uint64 words, the set of legal actions (`tabletop.legal`).
decision: the number of what is asked. actor: the seat that is asked, or NOBODY.
players: how many there are. owners: how many have points: the players, and an opponent whom the rules play.
round, rounds: the present one, from 1, and how many are played; 1 and 1 in a game without rounds.
points: by owner. forfeited: the seat that lost by an illegal action, or NOBODY.
"""


class Config(Protocol):
    """What is played: a frozen dataclass that checks itself; all its fields are JSON-able.

    SWITCHES: the fields of a record that it sets. game: the `Game`. name: a short one for tables and file names.
    components: numbers that replace the shipped ones: a file's path, or the numbers themselves; None for the shipped.
    agents: the players' names by seat.
    """

    SWITCHES: ClassVar[tuple[str, ...]]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def game(self) -> Game:
        """What is played."""
        ...

    @property
    def players(self) -> int:
        """How many play."""
        ...

    @property
    def owners(self) -> int:
        """How many have points: the players, and an opponent whom the rules play."""
        ...

    @property
    def name(self) -> str:
        """A short name for tables and file names."""
        ...

    @property
    def components(self) -> Any:
        """Numbers that replace the shipped ones, or None."""
        ...

    @property
    def agents(self) -> tuple[str, ...]:
        """The players' names by seat."""
        ...

    def write_switches(self, states: np.ndarray) -> None:
        """Write the switches into records, (N,)."""

    @classmethod
    def of(cls, state: Any, components: Any = None) -> Self:
        """The configuration that a record is played with."""
        ...


@dataclass(frozen=True)
class Rules:
    """A game's compiled rules: functions of one record `s` and, mostly, its printed numbers `t`.

    The last five are needed only where a game differs from `tabletop.defaults`: points decide, nothing is hidden.

    reset(s, t): from the switches and the random stream alone to the first decision.
    step(s, t, action): answer the pending decision with a legal action; go on to the next decision or the end.
    legal(s, t): write the set of legal actions into the record.
    observe(s, t, viewer, out): write what that seat may know into `out`, (size,) int16 zeros, as plain counts.
    ranks(s, out): write each owner's place in a finished game into `out` (int8): 1 for the first; equal ones share it.
        Of a game that somebody has forfeited the engine itself says who has won.
    forfeit(s, seat): end the game where a seat loses by an illegal action.
    sample_hidden(s, t, seat, rng): redraw all that this seat cannot know, and give the game another random stream.
    value(s, t, w, seat, memo): points that the seat is ahead, now and by what it may expect (float64), for searches.
    is_settled(s, seat): whether the seat is done with what it was doing, so that a search may value the position.
    """

    reset: Callable[..., None]
    step: Callable[..., None]
    legal: Callable[..., None]
    observe: Callable[..., None]
    ranks: Callable[..., None] = defaults.ranks_by_points
    forfeit: Callable[..., None] = defaults.forfeit
    sample_hidden: Callable[..., None] = defaults.hide_nothing
    value: Callable[..., float] = defaults.points_ahead
    is_settled: Callable[..., bool] = defaults.is_others_turn

    def as_module(self) -> ModuleType:
        """The functions as attributes of a module, which compiled code can name."""
        module = ModuleType("rules")
        for one in fields(self):
            setattr(module, one.name, getattr(self, one.name))
        return module


class Words(Protocol):
    """A game in words. `viewer` is the seat that reads, None for one that may see everything.

    `tabletop.plain.PlainWords` has all of them, for a game to begin with.
    """

    def question(self, state: Any) -> str:
        """What is asked, so that it follows "player_0 is asked"."""
        ...

    def action_text(self, state: Any, action: int) -> str:
        """What an answer to the pending decision means."""
        ...

    def told_action(self, state: Any, action: int, viewer: int | None) -> str:
        """What the actor did, as the viewer may know it; empty where that is hidden altogether."""
        ...

    def events(self, before: Any, action: int | None, viewer: int | None, tables: np.ndarray) -> Sequence[str]:
        """Sentences: what one action did, as the viewer may know it (`tabletop.telling` helps to say it).

        FORFEIT stands for an illegal action that loses the game, None for a random one that was played instead.
        """
        ...

    def story(
        self, before: Any, action: int | None, viewer: int | None, tables: np.ndarray
    ) -> Sequence[tuple[str, Any]]:
        """The sentences of `events`, each with the record as it was when that had happened; None: as after the action.

        In these records nobody is asked anything. They are for `Drawing`, which hides in them what it always hides.
        """
        ...

    def in_brief(self, sentences: Iterable[str]) -> str:
        """What was done, and then `events`, as far as a picture's last line has room."""
        ...

    def facts(self, state: Any, viewer: int | None, names: Sequence[str] | None) -> Facts:
        """Who is asked what, and in which part of the game; `names` of the owners instead of `owner_names`."""
        ...

    def owner_names(self, players: int) -> tuple[str, ...]:
        """`player_0` and so on, and what an opponent is called whom the rules play."""
        ...

    def about(self, config: Any) -> Sequence[str]:
        """What is played, in a few words each, such as "2 players" and "4 rounds"."""
        ...

    def sources(self, state: Any) -> Sequence[tuple[str, Sequence[int]]]:
        """Where points came from: a word, and each owner's points from there. Empty where that isn't told."""
        ...

    def lesson(self, state: Any, tables: np.ndarray | None = None) -> Lesson:
        """The pending decision explained to whoever is asked, by what that player knows; how a game that is over ended.

        `tables` are the numbers that are played with, None for the shipped ones.
        """
        ...

    def introduction(self, config: Any) -> Lesson:
        """What the game is about, what brings points, how a round goes."""
        ...

    @property
    def opponent(self) -> str:
        """Whom one plays against who plays alone; empty in a game that nobody plays alone."""
        ...

    @property
    def examples(self) -> Sequence[str]:
        """Parts of actions' texts that a person may type."""
        ...

    @property
    def guide(self) -> Sequence[str]:
        """Paragraphs for who plays at a terminal: where points come from, and what is abbreviated there."""
        ...


class Drawing(Protocol):
    """A game in pictures and as text. `viewer` as in `Words`; `tables` None for the shipped numbers.

    `tabletop.plain.PlainDrawing` draws any game that can be written as text.
    """

    def render_text(
        self, state: Any, viewer: int | None = None, colour: bool = False, tables: np.ndarray | None = None
    ) -> str:
        """The game as lines of text."""
        ...

    def text_blocks(
        self,
        state: Any,
        viewer: int | None = None,
        colour: bool = False,
        tables: np.ndarray | None = None,
        asked: bool = True,
    ) -> Sequence[Block]:
        """What `render_text` joins, for a terminal of any width; `asked`: with who is asked what."""
        ...

    def render_svg(
        self,
        state: Any,
        viewer: int | None = None,
        *,
        tables: np.ndarray | None = None,
        last_action: str = "",
        names: Sequence[str] | None = None,
    ) -> str:
        """The game as an SVG picture. All that is drawn by `<use>` is in its first `<defs>`, the same in every one.

        Of a record within an action too, as `Words.story` gives them.
        """
        ...

    def cover(self) -> str:
        """A small picture of the game as SVG (`tabletop.drawing.covers`), with all drawings in its first `<defs>`."""
        ...

    def places(self, state: Any, action: int) -> tuple[Place, ...]:
        """Where in the picture that the actor sees a legal answer can be clicked; () where there is nothing for it.

        All of them mean the answer. The closest comes first; what is small is followed by what is around it, for
        fingers. Answers may share a place, and one then asks which is meant.
        """
        ...

    def marks(self, players: int) -> Sequence[Mark]:
        """What the owners are drawn as."""
        ...


def _no_numbers(components: Any) -> None:
    """Of a game whose numbers can't be replaced."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Game:
    """All that a game offers to the rest. What may be left out is in `tabletop.defaults`.

    Attributes:
        name: one lower-case word, for files, caches and the command line. title: as people write it.
        home: the module that has this object as `GAME`; pickles and environments' specs refer to it.
        version: the game's package's. state_version: of the record's layout; what is stored carries it.
        rules_version: of the rules, and of what chance brings for a seed: results with the same one can be compared.
        sources: files and folders whose functions are compiled, or whose constants those use; without them the file
            of `home`.
        state: dtype of a record, with the fields of `RECORD`. tables: dtype of the printed numbers.
        load_tables: takes a configuration's `components`, returns (1,) of `tables`; the array is read-only.
        config: the type of configurations.
        players: the numbers of players there can be, ascending.
        decisions: names of the decisions, by number. actions: one distinct name an action.
        observation: the layout of what a player sees.
        rules: the compiled rules. weights: of `rules.value`, by name. new_memo: makes scratch space for `rules.value`.
        search_settings: what the agents that look ahead need otherwise for this game, such as the "scale" of points.
        words, drawing: the game in words, and in pictures.
        check: takes (N,) records and tables; raises StateError for a record that no game can reach.
        scenario: takes a description and `components`, returns the record; raises ScenarioError.
        described: takes a record, returns its description, JSON-able.
        form: takes a record, returns what a description of a game with its switches may hold, as `tabletop.forms`
            writes it; or None where that isn't known.
        rules_page: a Markdown file that says how the rules are read.
        scored: where points can come from: names for the last axis of the record's field `scored`, which counts each
            owner's points by source; () for a game whose record has no such field.
        own_numbers: takes a configuration's `components`, returns as data, JSON-able, those that aren't the shipped
            ones, or None; so that they can be kept where their file may go.
    """

    name: str
    title: str
    home: str
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
    rules: Rules
    weights: Mapping[str, float] = field(default_factory=dict)
    new_memo: Callable[[], np.ndarray] = defaults.no_memo
    search_settings: Mapping[str, float] = field(default_factory=dict)
    words: Words
    drawing: Drawing
    check: Callable[[np.ndarray, np.ndarray], None]
    scenario: Callable[[Mapping[str, Any], Any], Any]
    described: Callable[[Any], dict[str, Any]]
    form: Callable[[Any], dict[str, Any] | None] = defaults.no_form
    rules_page: Path | None = None
    scored: tuple[str, ...] = ()
    own_numbers: Callable[[Any], Any] = _no_numbers

    def __post_init__(self) -> None:
        if not self.sources:
            object.__setattr__(self, "sources", (Path(str(sys.modules[self.home].__file__)),))
        missing = [name for name in RECORD if name not in (self.state.names or ())]
        if missing:
            raise TypeError(f"the record of {self.name} lacks the fields {', '.join(missing)}")
        words = self.state["legal"].shape[0]
        if len(self.actions) > 64 * words:
            raise TypeError(f"the record of {self.name} has {words} words for {len(self.actions)} actions")

    def __reduce__(self) -> tuple[Callable[[str], Game], tuple[str]]:
        return game_of, (self.home,)

    def __repr__(self) -> str:
        return f"<game {self.name}>"

    @property
    def num_actions(self) -> int:
        """How many actions there are."""
        return len(self.actions)

    @property
    def max_owners(self) -> int:
        """How many owners of points a record has room for."""
        return int(self.state["points"].shape[0])

    @cached_property
    def kernels(self) -> Kernels:
        """The loops over records, compiled for this game when they are first called."""
        from tabletop.kernels import Kernels

        return Kernels(self)

    def winners(self, state: Any) -> list[int]:
        """The owners of points who won a finished game, ascending; several share a victory."""
        places = np.zeros((1, self.max_owners), np.int8)
        self.kernels.places_of_games(np.array([state]), places)
        return np.flatnonzero(places[0] == 1).tolist()

    @cached_property
    def cache_folder(self) -> Path:
        """Where this game's machine code is kept."""
        return cache_folder(self.name, self.sources)

    @cached_property
    def layout_hash(self) -> str:
        """Tells one layout of records from another."""
        return hashlib.sha256(repr(self.state.descr).encode()).hexdigest()[:16]

    def made(self, templates: Iterable[Callable[..., Any]], **names: Any) -> dict[str, Any]:
        """Templates compiled for this game (`tabletop.compiled.made_for`); `names` are further globals of theirs."""
        keep_shared_rules(self.cache_folder, self.sources)
        return made_for(self.cache_folder, templates, {"rules": self._module, **names})

    @cached_property
    def _module(self) -> ModuleType:
        return self.rules.as_module()


def switches_of(config: Config) -> dict[str, np.ndarray]:
    """What records of this configuration have in their switches: arrays (1, …) by the names of the fields."""
    record = np.zeros(1, config.game.state)
    config.write_switches(record)
    return {name: record[name] for name in config.SWITCHES}


def game_of(home: str) -> Game:
    """The game whose module this is, its name with dots. Raises ConfigError where there is none."""
    from tabletop.errors import ConfigError

    try:
        found = importlib.import_module(home).GAME
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"game {home!r}: a module with a GAME in it ({error})") from None
    if not isinstance(found, Game):
        raise ConfigError(f"game {home!r}: its GAME is no tabletop.Game")
    return found
