"""A game as tools that take JSON and return text: what a server for language models offers (`mcp_server`).

A client gets words back, whatever it sends. It can name neither files nor code of its own.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tabletop_engine.errors import ConfigError, GameOver, TabletopError
from tabletop_engine.game import Game
from tabletop_engine.text.answers import MOST_ANSWERS
from tabletop_engine.text.words import either, shown
from tabletop_play.catalogue import Catalogue, options_of
from tabletop_text.games import TextGame
from tabletop_text.turn import ANSWERS, BOARDS, Form, Turn

Schema = dict[str, Any]
"""A part of JSON Schema: what an argument of a tool has to be."""

_HOW_TO_ANSWER = (
    'Answer with the tool act: give the words of one answer{or_number}, such as "{example}". A list of answers, in '
    "words, answers several decisions of your turn in a row, as far as it fits."
)
_MOST_TRIES = 100
"""After so many replies in a row without a legal answer an error says so. They lose no game here."""
_LONGEST_ERROR = 1000
_MOST_NAMES = 20
"""The most entries of a list of names."""
_LARGEST = 2**53 - 1
"""The largest whole number that every client represents exactly."""
_WHOLE: Schema = {"type": "integer"}
_TEXT: Schema = {"type": "string"}
_SWITCH: Schema = {"type": "boolean"}
_TYPES = {"integer": int, "string": str, "boolean": bool, "object": dict}
_KINDS = {"integer": "a whole number", "string": "a text", "boolean": "true or false", "object": "an object"}


class Said(NamedTuple):
    """What a tool returns: a text, and whether the call was refused and changed nothing."""

    text: str
    is_error: bool = False


class Tool(NamedTuple):
    """A tool as a client sees it.

    Attributes:
        name: the tool's. description: what it does.
        arguments: what each argument has to be. required: the arguments that must be given.
        reads: whether a call changes nothing.
    """

    name: str
    description: str
    arguments: Mapping[str, Schema] = {}
    required: tuple[str, ...] = ()
    reads: bool = False

    def schema(self, more: Mapping[str, Schema] | None = None) -> Schema:
        """The arguments as JSON Schema, with `more` required arguments."""
        extra = dict(more or {})
        return {
            "type": "object",
            "properties": {**extra, **self.arguments},
            "required": [*extra, *self.required],
            "additionalProperties": False,
        }


def tools_of(catalogue: Catalogue, game: Game) -> dict[str, Tool]:
    """The tools for a game by their names."""
    default = game.config().players
    agents = ", ".join(catalogue.suggested(game))
    new_game = {
        "players": _described({"type": "integer", "enum": list(game.players)}, f"How many play; without it {default}."),
        "opponents": _described(
            _list_of(_TEXT, _MOST_NAMES),
            f"Agents for the other seats, such as {agents}: one for all, or one for each, clockwise from your seat. "
            "Without it greedy.",
        ),
        "seat": _described(
            {"anyOf": [_WHOLE, {"type": "string", "enum": ["random"]}]}, "Your seat from 0, or random, the default."
        ),
        "seed": _described(_WHOLE, "The seed of the game's chance; without it another one each time, told at the end."),
        "options": _described(_options_schema(game), "What else is played; nothing for the usual game."),
        "answers": _described(
            {"type": "string", "enum": list(ANSWERS)},
            "Whether the possible answers are listed with numbers, the default, in words, or not at all.",
        ),
        "board": _described(
            {"type": "string", "enum": list(BOARDS)},
            "The board in messages: compact, the default; full; only where others or chance have moved; or none.",
        ),
        "rules": _described(_SWITCH, "Whether the first message has the complete rules; without it they are there."),
    }
    answer = {"anyOf": [_TEXT, _WHOLE, _list_of({"anyOf": [_TEXT, _WHOLE]}, MOST_ANSWERS)]}
    tools = (
        Tool("new_game", f"Start a game of {game.title}. It takes the place of the game before.", new_game),
        Tool("rules", "The complete rules of the game that is played.", reads=True),
        Tool("look", "The board as you see it, and the question that you are asked.", reads=True),
        Tool("legal", "The question that you are asked, and all its possible answers with their numbers.", reads=True),
        Tool(
            "act",
            "Answer the question. The others play until you are asked again; you are told what happened.",
            {
                "answer": _described(
                    answer,
                    "The words of one answer, or its number; or a list of answers in words, which are given one after "
                    "another as far as they fit.",
                )
            },
            ("answer",),
        ),
        Tool("undo", "Take your last answer back. Only in a game for one."),
    )
    return {tool.name: tool for tool in tools}


class Player:
    """One client and its game. Calls must come one at a time.

    Arguments:
        catalogue: what can be chosen.
        game: the game of this server.
        tools: those of `tools_of`; None makes them.
    """

    def __init__(self, catalogue: Catalogue, game: Game, tools: Mapping[str, Tool] | None = None) -> None:
        self._catalogue, self._game = catalogue, game
        self._tools = tools_of(catalogue, game) if tools is None else tools
        self._table: TextGame | None = None

    @property
    def has_game(self) -> bool:
        """Whether a game was started."""
        return self._table is not None

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Said:
        """What a tool says to arguments from a client, whatever they are."""
        try:
            if tool not in self._tools:
                raise ConfigError(f"unknown tool {tool:.40}; there are {', '.join(self._tools)}")
            given = _checked(self._tools[tool], arguments)
            said: Said = getattr(self, f"_{tool}")(**given)
            return said
        except TabletopError as error:
            return refused(str(error))

    def _new_game(
        self,
        players: int | None = None,
        opponents: list[str] | None = None,
        seat: int | str = "random",
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
        answers: str = "numbered",
        board: str = "compact",
        rules: bool = True,
    ) -> Said:
        game = self._game
        config = self._catalogue.config(game, game.config().players if players is None else players, options or {})
        self._catalogue.compiled(game.name)  # before agents compile their searches, which need it
        others = None if opponents is None else [self._catalogue.agent(name, game) for name in opponents]
        form = Form(answers=answers, board=board, rules=rules, how_to_answer=_HOW_TO_ANSWER)
        table = TextGame(config, others, seat=seat, form=form, tries=_MOST_TRIES, on_failure="raise")
        turn = table.reset(seed)
        table.form = replace(form, rules=False)  # the first message has them; the tool `rules` tells them again
        self._table = table
        return self._said(turn)

    def _rules(self) -> Said:
        config = self._game.config() if self._table is None else self._table.config
        return Said(self._game.words.rules(config))

    def _look(self) -> Said:
        table = self._playing()
        said = self._said(turn := table.turn())
        if turn.board:
            return said
        state, tables = table.session.state, table.session.tables
        board = self._game.drawing.render_text(state, table.seat, tables=tables, size="compact")
        return Said(f"{board}\n\n{said.text}")

    def _legal(self) -> Said:
        turn = self._playing().turn()
        return Said("\n".join([turn.question, *(f"{i}. {text}" for i, text in enumerate(turn.answers, 1))]))

    def _act(self, answer: str | int | list[str | int]) -> Said:
        table = self._playing()
        if table.done:
            raise GameOver("the game is over: new_game starts another")
        before = table.session.number
        turn = table.step(answer if isinstance(answer, str) else json.dumps({"answer": answer}))
        return self._said(turn, bool(turn.problem) and table.session.number == before)

    def _undo(self) -> Said:
        return self._said(self._playing().undo())

    def _said(self, turn: Turn, is_error: bool = False) -> Said:
        """A message. The seed, which shows all that is hidden to whoever starts the same game, comes after the end."""
        seed = f"\n\nThe seed was {self._playing().session.seed}." if turn.done else ""
        return Said(turn.text + seed, is_error)

    def _playing(self) -> TextGame:
        if self._table is None:
            raise GameOver("there is no game: new_game starts one")
        return self._table


class Players:
    """The clients of a server, each with a game of its own. Keys are secrets: whoever knows a key can play its game.

    Arguments:
        catalogue: what can be chosen.
        game: the game of this server.
        most: games that are kept; a newer one drops the one that was used least recently.

    Attributes:
        tools: those of the game, by their names.
    """

    def __init__(self, catalogue: Catalogue, game: Game, most: int) -> None:
        self._catalogue, self._game, self._most = catalogue, game, most
        self.tools = tools_of(catalogue, game)
        self._kept: OrderedDict[str, Player] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, key: str) -> Player:
        """The client with this key; a new one without a game if it is unknown."""
        if key not in self._kept:
            return Player(self._catalogue, self._game, self.tools)
        self._kept.move_to_end(key)
        return self._kept[key]

    def keep(self, key: str, player: Player) -> None:
        """Keep a client that has started a game."""
        if player.has_game:
            self._kept[key] = player
            self._kept.move_to_end(key)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)


def refused(text: str) -> Said:
    """Why a call was refused, on one line that anything can show."""
    line = shown(" ".join(text[:_LONGEST_ERROR].split()))
    return Said(line if line.endswith(".") else f"{line}.", True)


# --- what a client may give ------------------------------------------------------------------------------------------


def _described(schema: Schema, text: str) -> Schema:
    return {**schema, "description": text}


def _list_of(items: Schema, most: int) -> Schema:
    return {"type": "array", "items": items, "maxItems": most}


def _options_schema(game: Game) -> Schema:
    properties = {}
    for option in options_of(game):
        names = option["names"]
        kinds = {
            "switch": _SWITCH,
            "choice": {"enum": names},
            "names": _list_of({"type": "string", "enum": names}, _MOST_NAMES),
        }
        properties[option["name"]] = _described(kinds[option["kind"]], option["help"])
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _checked(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that were given; null counts as not given. Raises ConfigError for others than the tool takes."""
    given = {name: value for name, value in arguments.items() if value is not None}
    for name, value in given.items():
        if name not in tool.arguments:
            raise ConfigError(f"unknown argument {name:.40}; {tool.name} takes {', '.join(tool.arguments) or 'none'}")
        if not _fits(value, tool.arguments[name]):
            raise ConfigError(f"{name}: must be {_wanted(tool.arguments[name])}")
    for name in tool.required:
        if name not in given:
            raise ConfigError(f"{name}: missing; it must be {_wanted(tool.arguments[name])}")
    return given


def _fits(value: Any, schema: Schema) -> bool:
    """Whether a value fits the schema; the properties of an object are not checked."""
    if "anyOf" in schema:
        return any(_fits(value, one) for one in schema["anyOf"])
    if schema["type"] == "array":
        short = isinstance(value, list) and len(value) <= schema["maxItems"]
        return short and all(_fits(one, schema["items"]) for one in value)
    if type(value) is int and abs(value) > _LARGEST:
        return False
    return type(value) is _TYPES[schema["type"]] and value in schema.get("enum", [value])


def _wanted(schema: Schema) -> str:
    if "anyOf" in schema:
        return either([_wanted(one) for one in schema["anyOf"]])
    if "enum" in schema:
        return either(schema["enum"])
    if schema["type"] == "array":
        return f"a list of up to {schema['maxItems']}, each {_wanted(schema['items'])}"
    return _KINDS[schema["type"]]
