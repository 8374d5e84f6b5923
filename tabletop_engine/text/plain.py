"""Plain parts for a new game: a configuration, words from names, drawings from text, positions from fields.

docs/adding-a-game.md shows a `Game` that is made of these. For other words or another picture, derive a class and
override the methods that differ.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from tabletop_engine.checks import is_whole
from tabletop_engine.defaults import own_team
from tabletop_engine.described.overlays import ComponentFile
from tabletop_engine.described.scenarios import ROOT, mapping
from tabletop_engine.drawing import lines
from tabletop_engine.drawing.covers import cover_of
from tabletop_engine.drawing.outlines import defs_of
from tabletop_engine.drawing.owners import Mark, mark, owner_marks
from tabletop_engine.drawing.panes import Panes
from tabletop_engine.drawing.svg import (
    INK,
    PREFIX,
    Markup,
    Place,
    box,
    clean,
    document,
    paragraph,
    text,
    title,
    use,
    width_of,
)
from tabletop_engine.errors import ConfigError, ScenarioError, StateError, TabletopError
from tabletop_engine.first_game import FirstGame
from tabletop_engine.game import NOBODY, Game, changed_fields, game_of
from tabletop_engine.legal import NOTHING_ASKED
from tabletop_engine.presentation import Facts, Lesson
from tabletop_engine.record import FILLER, told_points
from tabletop_engine.text.terminal import BOLD, painted
from tabletop_engine.text.words import counted, in_brief, player_names

SIZE = 960
"""Width and height of a picture, in its own units."""
_MARGIN = 28
_TOP, _FOOTER = 140, 890
_LETTER, _LINE = 0.62, 1.3
"""The width and the height of the space for a letter, in units of its size."""
_LARGEST = 56.0
_BACKGROUND = "#ffffff"


@dataclass(frozen=True)
class PlainConfig:
    """A configuration with the number of players, printed numbers if the game has some, and options of the game.

    A game derives a class from it, in the module that has its `GAME`. A game that is not for two players sets
    `players`, with the decorator `@dataclass(frozen=True)` above the class. A field that the class adds is an option:
    the record has a field of the same name, where the rules find its value, a bool, an int or a float.

    Attributes:
        players: the number of players.
        components: numbers that replace the shipped ones: the path of an overlay file, or a mapping of its keys to
            values. None stands for the shipped ones; a game without COMPONENTS allows nothing else.
        ROUNDS: the number of rounds of every game.
        COMPONENTS: the printed numbers of the game; None for a game without.
        SWITCHES: the fields of the record that the configuration writes. A class that derives adds its options.

    Raises ConfigError for other values.
    """

    SWITCHES: ClassVar[tuple[str, ...]] = ("players", "owners", "rounds")
    ROUNDS: ClassVar[int] = 1
    COMPONENTS: ClassVar[ComponentFile | None] = None

    players: int = 2
    components: Any = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "SWITCHES" not in vars(cls):
            added = [name for name, kind in inspect.get_annotations(cls).items() if "ClassVar" not in str(kind)]
            cls.SWITCHES += tuple(name for name in added if name not in (*cls.SWITCHES, "components"))

    def __post_init__(self) -> None:
        allowed = self.game.players
        if isinstance(self.players, bool) or self.players not in allowed:
            raise ConfigError(f"players={self.players!r}: must be {' or '.join(map(str, allowed))}")
        if self.COMPONENTS is not None:
            object.__setattr__(self, "components", self.COMPONENTS.config_value(self.components))
        elif self.components is not None:
            raise ConfigError(
                f"components={self.components!r}: must be None, as {self.game.title} has no numbers to replace"
            )
        object.__setattr__(self, "players", int(self.players))
        for option in self._options():
            object.__setattr__(self, option.name, self._held(option))

    def _options(self) -> list[Any]:
        """The fields of the class that are fields of the record, too."""
        names = self.game.state.names or ()
        return [
            one for one in fields(self) if one.name in self.SWITCHES and one.name in names and one.name != "players"
        ]

    def _held(self, option: Any) -> Any:
        """The value of an option in its type. Raises ConfigError for one that the record can't hold."""
        value, kind, field = getattr(self, option.name), type(option.default), self.game.state[option.name]
        is_kind = kind is float or is_whole(value) or (kind is bool and isinstance(value, bool | np.bool_))
        try:  # descriptions of records have 0 and 1 for a bool
            if is_kind and kind(value) == value and np.array(kind(value)).astype(field) == value:
                return kind(value)
        except (TypeError, ValueError, OverflowError):
            pass
        raise ConfigError(f"{option.name}={value!r:.80}: must be {kind.__name__}, in the record {field}")

    @property
    def game(self) -> Game:
        """The `GAME` of the module that defines the class."""
        return game_of(type(self).__module__)

    @property
    def owners(self) -> int:
        return self.players

    @property
    def name(self) -> str:
        changed = changed_fields(self)
        options = [(one.name, changed[one.name]) for one in self._options() if one.name in changed]
        return "-".join(
            [f"{self.players}p", *(name if value is True else f"{name}_{value}" for name, value in options)]
        )

    @property
    def agents(self) -> tuple[str, ...]:
        return player_names(self.players)

    def write_switches(self, states: np.ndarray) -> None:
        states["players"], states["owners"], states["rounds"] = self.players, self.owners, self.ROUNDS
        for option in self._options():
            states[option.name] = getattr(self, option.name)

    @classmethod
    def of(cls, state: Any, components: Any = None) -> Self:
        plain = cls(players=int(state["players"]), components=components)
        return replace(plain, **{one.name: type(one.default)(state[one.name]) for one in plain._options()})


@dataclass(eq=False)
class PlainWords:
    """Plain `Words` of a game, made from the names of its decisions and actions.

    Nothing is hidden or given up, each decision is a question of its own, and an action has no events.

    Attributes:
        decisions: the names of the decisions, as in `Game`.
        actions: the names of the actions, as in `Game`.
        opponent: "" here: no game is played alone against an opponent.
        rules_text: the rules of the game, as Markdown.
        examples: none here.
        first_game: none here.
    """

    decisions: Sequence[str]
    actions: Sequence[str]
    rules_text: str = ""
    opponent: ClassVar[str] = ""
    examples: ClassVar[Sequence[str]] = ()
    first_game: ClassVar[FirstGame | None] = None

    def question(self, state: Any) -> str:
        return f"for {self.decisions[state['decision']].replace('_', ' ')}"

    def continues_answer(self, before: Any, state: Any) -> bool:
        return False

    def gives_up(self, state: Any, action: int) -> str:
        return ""

    def aside(self, state: Any, action: int) -> str:
        return ""

    def declines(self, state: Any, action: int) -> bool:
        return False

    def action_text(self, state: Any, action: int) -> str:
        return self.actions[action].replace("_", " ")

    def answer_name(self, state: Any, action: int) -> str:
        return self.actions[action]

    def told_action(self, state: Any, action: int, viewer: int | None) -> str:
        return self.action_text(state, action)

    def events(self, before: Any, action: int | None, viewer: int | None, tables: np.ndarray) -> Sequence[str]:
        return []

    def story(
        self, before: Any, action: int | None, viewer: int | None, tables: np.ndarray
    ) -> Sequence[tuple[str, Any]]:
        return [(sentence, None) for sentence in self.events(before, action, viewer, tables)]

    def in_brief(self, sentences: Iterable[str]) -> str:
        return in_brief(sentences)

    def facts(self, state: Any, viewer: int | None, names: Sequence[str] | None) -> Facts:
        """The pending decision and its actor, or that the game is over; nothing in the middle of an action."""
        actor = int(state["actor"])
        if actor == NOBODY:
            return Facts("", "" if state["decision"] == NOTHING_ASKED else "The game is over.", NOBODY)
        name = (self.owner_names(int(state["players"])) if names is None else names)[actor]
        return Facts("", f"{name} is asked {self.question(state)}.", actor)

    def owner_names(self, players: int) -> tuple[str, ...]:
        return player_names(players)

    def about(self, config: Any) -> Sequence[str]:
        return [counted(config.players, "player")]

    def lesson(self, config: Any, state: Any = None, tables: np.ndarray | None = None) -> Lesson:
        """The pending decision, or what is played, without an explanation."""
        if state is None:
            return Lesson(", ".join(self.about(config)))
        question = self.question(state) if state["actor"] != NOBODY else "the game is over"
        return Lesson(question[0].upper() + question[1:])

    def rules(self, config: Any, tables: np.ndarray | None = None, *, brief: bool = False) -> str:
        return "" if brief else self.rules_text

    def sources(self, state: Any) -> Sequence[tuple[str, Sequence[int]]]:
        return []

    def projected(
        self, state: Any, viewer: int | None, tables: np.ndarray | None = None
    ) -> Iterable[tuple[str, Sequence[int]]]:
        return []


@dataclass(eq=False)
class PlainDrawing:
    """A plain `Drawing` of a game: its text, and a picture of that text.

    Attributes:
        words: the words of the game.
        text: takes a record and the seat that looks on (None may see everything), returns the lines that it may see. A
            third parameter takes the printed numbers of the game, (1,), or None for the shipped ones.
        team: the game's `Rules.team`.
    """

    words: PlainWords
    text: Callable[..., str]
    team: Callable[..., int] = own_team

    def render_text(
        self,
        state: Any,
        viewer: int | None = None,
        colour: bool = False,
        tables: np.ndarray | None = None,
        size: lines.Size = "wide",
    ) -> str:
        return lines.joined(self.text_blocks(state, viewer, colour, tables, size))

    def text_blocks(
        self,
        state: Any,
        viewer: int | None = None,
        colour: bool = False,
        tables: np.ndarray | None = None,
        size: lines.Size = "wide",
        asked: bool = True,
    ) -> Sequence[lines.Block]:
        """The round, the points, the pending decision if `asked`, and the text: the same in all sizes."""
        names = self.words.owner_names(int(state["players"]))
        points = [f"{name} {number}" for name, number in zip(names, self._points_of(state), strict=False)]
        place = [f"Round {state['round']} of {state['rounds']}"] if state["rounds"] > 1 else []
        heading = [painted(", ".join([*place, *points]), BOLD, colour and size != "compact")]
        if (asked and size == "wide") or state["actor"] == NOBODY:
            heading.append(self.words.facts(state, viewer, None).asked)
        return [lines.Words([*heading, "", *self._lines(state, viewer, tables)])]

    def render_svg(
        self,
        state: Any,
        viewer: int | None = None,
        *,
        names: Sequence[str] | None = None,
        tables: np.ndarray | None = None,
        last_action: str = "",
    ) -> str:
        """A square picture: the pending decision, the points of the seats, the text, the last action.

        Raises `TabletopError` for a viewer who does not play and for a wrong number of names.
        """
        players = int(state["players"])
        if viewer is not None and viewer not in range(players):
            raise TabletopError(f"viewer={viewer!r}: must be a seat from 0 to {players - 1}, or None")
        own = self.words.owner_names(players)
        labels = own if names is None else (*map(clean, names), *own[len(names) :])
        if len(labels) != len(own):
            raise TabletopError(f"names={names!r}: must be one for each of {players} seats")
        asked = self.words.facts(state, viewer, labels).asked
        happened = clean(last_action)
        return document(
            title(asked),
            defs_of(owner_marks()),
            box(0, 0, SIZE, SIZE, fill=_BACKGROUND),
            text(asked, _MARGIN, 50, 24, bold=True, fit=SIZE - 2 * _MARGIN),
            *self._points(self._points_of(state), labels, players),
            *_letters(self._lines(state, viewer, tables)),
            *paragraph([happened], _MARGIN, _FOOTER, 16, SIZE - 2 * _MARGIN, SIZE - _FOOTER),
            viewBox=f"0 0 {SIZE} {SIZE}",
            width=SIZE,
            height=SIZE,
            fill=INK,
            data_last_action=happened or None,
        )

    def cover(self) -> str:
        shapes = (use(f"owner-{owner}", 120 + 80 * owner, 100, 2) for owner in range(4))
        return cover_of("Who plays", defs_of(owner_marks()), *shapes)

    def places(self, state: Any, action: int) -> tuple[Place, ...]:
        """No places: the picture of a text has no parts to click."""
        return ()

    def marks(self, players: int) -> Sequence[Mark]:
        return [mark(owner) for owner in range(len(self.words.owner_names(players)))]

    def panes(self, state: Any, viewer: int | None = None) -> Panes:
        return Panes()

    def _lines(self, state: Any, viewer: int | None, tables: np.ndarray | None) -> list[str]:
        return self.text(*(state, viewer, tables)[: self._parameters]).split("\n")

    @cached_property
    def _parameters(self) -> int:
        return len(inspect.signature(self.text).parameters)

    def _points_of(self, state: Any) -> list[int | float]:
        """The points of each seat or of its team, then those of opponents that the rules play."""
        teams = [int(self.team(state, seat)) for seat in range(int(state["players"]))]
        owners = [*teams, *range(max(teams) + 1, int(state["owners"]))]
        return told_points(state["points"][owners])

    def _points(self, points: Sequence[int | float], labels: Sequence[str], players: int) -> Iterator[Markup]:
        room = (SIZE - 2 * _MARGIN) / len(labels)
        for owner, (label, (shape, _)) in enumerate(zip(labels, self.marks(players), strict=True)):
            left, number = _MARGIN + owner * room, str(points[owner])
            yield use(shape.removeprefix(PREFIX), left + 14, 96, 0.8)
            yield text(number, left + 34, 103, 20, bold=True)
            after = left + 42 + width_of(number, 20, bold=True)
            yield text(label, after, 103, 18, fit=left + room - after - 8, keep_end=True)


def _letters(rows: Sequence[str]) -> Iterator[Markup]:
    """The text as letters in a grid, as large as there is room."""
    wide, high = max(1, *map(len, rows)), len(rows)
    size = min(_LARGEST, (SIZE - 2 * _MARGIN) / (wide * _LETTER), (_FOOTER - _TOP) / (high * _LINE))
    left = (SIZE - wide * size * _LETTER) / 2
    for i, row in enumerate(rows):
        for j, letter in enumerate(row):
            if letter != " ":
                x, y = left + (j + 0.5) * size * _LETTER, _TOP + (i + 0.8) * size * _LINE
                yield text(letter, x, y, size, anchor="middle")


@dataclass(frozen=True)
class PlainPositions:
    """Positions described by the fields of their records.

    Attributes:
        game: returns the game. It is called late, so that the game can be made with this object.
        ranges: the least and the largest number of each field that the game adds to `game.RECORD`.
        contradiction: takes records (N,) whose numbers are in their ranges, returns what no game reaches in one of
            them, "" if there is nothing. Compiled rules do not check indices: where a number of one field says how much
            of another one is read, a false one must be refused here.
    """

    game: Callable[[], Game]
    ranges: Mapping[str, tuple[float, float]]
    contradiction: Callable[[np.ndarray], str] = lambda states: ""

    def check(self, states: np.ndarray, tables: np.ndarray) -> None:
        """A `Game.check`. Raises StateError for a number out of its range, a contradiction, or wrong legal actions."""
        _, reason = self._refused(states)
        if reason:
            raise StateError(reason)
        if (self._with_legal(states, tables)["legal"] != states["legal"]).any():
            raise StateError("legal: not the actions that the rules allow here")

    def described(self, state: Any) -> dict[str, Any]:
        """A `Game.described`: every field except the legal actions and the edition, JSON-able."""
        return {name: state[name].tolist() for name in self._described}

    def scenario(self, description: Mapping[str, Any], components: Any = None) -> Any:
        """A `Game.scenario`: the record of a description. Raises ScenarioError for a bad one.

        A description has any of the fields that `described` writes, and of the settings of the configuration. Fields
        that it leaves out are as `reset` sets them at the start of a game of this configuration, with 0 as its random
        stream. Settings that it leaves out have their defaults.
        """
        game = self.game()
        settings = [field.name for field in fields(game.config) if field.name != "components"]
        mapping(description, ROOT, list(dict.fromkeys([*self._described, *settings])))
        given = {
            name: _numbers(name, description[name], game.state[name]) for name in self._described if name in description
        }
        chosen = {name: description[name] for name in settings if name in description}
        states = self._switched(given, chosen, components)
        tables = game.load_tables(components)
        game.kernels.reset_games(states, tables, np.ones(1, np.bool_), np.zeros(1, np.int64))
        for name, numbers in given.items():
            states[name] = numbers
        field, reason = self._refused(states)
        if reason:
            raise ScenarioError(reason, field)
        return self._with_legal(states, tables)[0]

    def _switched(self, given: Mapping[str, np.ndarray], chosen: Mapping[str, Any], components: Any) -> np.ndarray:
        """A blank record with the switches of a description. Raises ScenarioError if no configuration has them."""
        game = self.game()
        states, wanted = np.zeros(1, game.state), np.zeros(1, game.state)
        try:
            config = game.config(
                **{name: tuple(value) if isinstance(value, list) else value for name, value in chosen.items()},
                components=components,
            )
            config.write_switches(states)
            for name in set(config.SWITCHES) & set(given):
                states[name] = given[name]
            game.config.of(states[0], components).write_switches(wanted)
        except (TypeError, ValueError) as error:  # whatever a game's configuration raises
            names = ", ".join(chosen)
            where = names if len(chosen) == 1 else ""
            raise ScenarioError(f"{names or ROOT}: no configuration of {game.title} ({error})", where) from None
        for name in config.SWITCHES:
            if (states[name] != wanted[name]).any():
                value, allowed = states[name][0].tolist(), wanted[name][0].tolist()
                raise ScenarioError(f"{name}: no game has {value} there; allowed is {allowed}", name)
        return states

    @property
    def _described(self) -> list[str]:
        return [name for name in self.game().state.names or () if name not in ("legal", "edition", FILLER)]

    def _refused(self, states: np.ndarray) -> tuple[str, str]:
        """The first field with a number out of its range ("" for a contradiction), and what is wrong, "" if nothing."""
        game = self.game()
        players = states["players"].astype(np.int64)
        if not np.isin(players, game.players).all():
            return "players", f"players: {', '.join(map(str, game.players))}, not {players.tolist()}"
        bounds: dict[str, tuple[Any, Any]] = {
            **dict.fromkeys((*game.config.SWITCHES, "rng", "points"), (-np.inf, np.inf)),
            "decision": (0, len(game.decisions) - 1),
            "actor": (NOBODY, players - 1),
            "forfeited": (NOBODY, players - 1),
            "owners": (1, game.max_owners),
            "rounds": (1, np.inf),
            "round": (0, states["rounds"]),
            **self.ranges,
        }
        for name in self._described:
            low, high = (np.reshape(bound, (-1, 1)) for bound in bounds[name])
            numbers = states[name].reshape(len(states), -1)
            wrong = ~((numbers >= low) & (numbers <= high))  # NaN is wrong, too
            if wrong.any():
                least, most = (np.broadcast_to(bound, numbers.shape)[wrong][0] for bound in (low, high))
                allowed = f"{least} to {most}" if np.isfinite(most) else f"{least} and more"
                return name, f"{name}: no game has {numbers[wrong][0]} there; allowed are {allowed}"
        return "", self.contradiction(states)

    def _with_legal(self, states: np.ndarray, tables: np.ndarray) -> np.ndarray:
        """Copies of the states with their legal actions, none if the game is over."""
        copies = states.copy()
        copies["legal"] = 0
        going_on = copies[copies["actor"] != NOBODY]
        self.game().kernels.refresh_legal(going_on, tables)
        copies[copies["actor"] != NOBODY] = going_on
        return copies


def _numbers(name: str, value: Any, field: np.dtype[Any]) -> np.ndarray:
    """A value of a description as an array for the field. Raises ScenarioError for one that the field can't hold."""
    try:
        numbers = np.asarray(value)
        exact = np.asarray(value, object)
        if numbers.dtype.kind == "f" and all(is_whole(one) for one in exact.flat):
            numbers = exact.astype(np.uint64)  # NumPy makes floats of a list of ints on both sides of 2**63
    except (ValueError, OverflowError):
        numbers = np.asarray(None)
    kinds = {"b": "b", "f": "iuf"}.get(field.base.kind, "iu")
    if numbers.shape == field.shape and numbers.dtype.kind in kinds:
        held = numbers.astype(field.base)
        if (held == numbers).all() or field.base.kind == "f":
            return held
    shape = f" in lists of {field.shape}" if field.shape else ""
    raise ScenarioError(f"{name}: {value!r:.80} is not {field.base.name}{shape}", name)
