"""Environments of one game: their arguments, and their docstrings, which the engine and the game write together."""

from __future__ import annotations

import inspect
import re
import textwrap
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Game

SECTIONS = (
    *("Description", "Observation Space", "Action Space", "Rewards", "Starting State", "Episode End"),
    *("Arguments", "Errors", "Version History"),
)
_WIDTH = 116
_HEADING = re.compile(r"^## (.+)\n", re.MULTILINE)
_CODE = re.compile(r"^(```.*?^```)$", re.MULTILINE | re.DOTALL)
_PARAGRAPH = re.compile(r"^[^#\s].*(?:\n(?!- ).+)*", re.MULTILINE)
_ARGUMENTS = re.compile(r"^Arguments:\n((?: {4}.*\n|\n)+)", re.MULTILINE)
_ARGUMENT = re.compile(r"^ {4}(\w+): (.+(?:\n {5,}.+)*)", re.MULTILINE)


class OfGame:
    """Makes an environment of the engine one of a game: `class VersusEnv(envs.VersusEnv, game=GAME)`.

    Its docstring becomes a page (`page`), and its signature has the fields of the game's configuration.

    Attributes:
        SOLO: whether it is for one player. A field of the configuration whose metadata have "for": "one" is an argument
            only then, and one with "for": "several" only otherwise.
    """

    SOLO: ClassVar[bool] = False
    _game: ClassVar[Game]
    __signature__: ClassVar[inspect.Signature | None]

    def __init_subclass__(cls, *, game: Game | None = None, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        cls.__signature__ = None  # a class that derives from one of a game has that of its own `__init__`
        if game is not None:
            cls._game = game
            cls.__signature__ = _signature(cls)
            cls.__doc__ = page(cls)

    @classmethod
    def _settings(cls) -> list[str]:
        """The fields of the configuration that are arguments, beside the number of players."""
        left_out = "several" if cls.SOLO else "one"
        every = fields(cls._game.config)
        return [one.name for one in every if one.name != "players" and one.metadata.get("for") != left_out]

    @classmethod
    def left_out(cls) -> list[str]:
        """The arguments of games with another number of players, which this environment refuses."""
        others = [one.name for one in fields(cls._game.config) if one.name not in ("players", *cls._settings())]
        return ["players", "opponents", "seat", *others] if cls.SOLO else others

    def _solo(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the solo game. Raises `ConfigError` for those of the game for several players."""
        config = self._game.config
        for name in self.left_out():
            if name in given:
                _, versus = ids_of(self._game)
                raise ConfigError(f"{name}={given[name]!r}: not in the solo game; use it with {versus}")
        if config(players=1).owners > 1:
            return {"players": 1, **given}
        if given.get("reward", "points") != "points":
            raise ConfigError(f"reward={given['reward']!r}: must be 'points'; alone there is nobody to win against")
        return {"players": 1, "reward": "points", **given}

    def _several(self, players: int) -> int:
        """The number of players. Raises `ConfigError` for 1, if that is a game of its own."""
        if isinstance(players, int | np.integer) and players == 1 and 1 in self._game.players:
            solo, _ = ids_of(self._game)
            raise ConfigError(f"players=1: must be {numbers_of_players(self._game)}; the solo game is {solo}")
        return players


def numbers_of_players(game: Game) -> str:
    """The numbers of players of the games for several, such as `2, 3 or 4`."""
    *most, last = [str(number) for number in game.players if number > 1]
    return f"{', '.join(most)} or {last}" if most else last


def ids_of(game: Game) -> tuple[str, str]:
    """The Gymnasium ids of the solo game and of one seat of the game for several."""
    name = game.title.replace(" ", "")
    return f"{name}/Solo-v0", f"{name}/Versus-v0"


def page(cls: type[OfGame]) -> str:
    """The page of an environment: each class adds paragraphs to the sections of the classes from which it derives.

    What the class says in front of its sections begins the description. The texts of settings are those of the
    configuration's docstring. Words in capital letters stand for what the game has.
    """
    sections: dict[str, list[str]] = {name: [] for name in SECTIONS}
    sections["Arguments"] = [_texts_of_settings(cls)]
    for base in reversed(cls.__mro__):
        before, *parts = _HEADING.split(inspect.cleandoc(base.__doc__ or ""))
        if base is cls:
            sections["Description"].insert(0, before)
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            first = name == "Arguments" and issubclass(base, OfGame)  # those of this kind of environment
            sections.setdefault(name, []).insert(0 if first else len(sections[name]), text)
    whole = ""
    for name, texts in sections.items():
        if said := [text.strip() for text in texts if text.strip()]:
            whole += f"## {name}\n\n" + ("\n" if name == "Arguments" else "\n\n").join(said) + "\n\n"
    words = _words(cls)
    whole = re.sub(rf"\b({'|'.join(words)})\b", lambda word: words[word[0]], whole)
    return "".join(one if one.startswith("```") else _PARAGRAPH.sub(_filled, one) for one in _CODE.split(whole)).strip()


def _filled(paragraph: re.Match[str]) -> str:
    """The paragraph in lines that fit."""
    indent = "  " if paragraph[0].startswith("- ") else ""
    words = " ".join(paragraph[0].split())
    return textwrap.fill(words, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _words(cls: type[OfGame]) -> dict[str, str]:
    """What the words in capital letters stand for."""
    game = cls._game
    layout = game.observation
    solo, versus = ids_of(game)
    return {
        "PACKAGE": cls.__module__.removesuffix(".envs"),  # whose import registers the id
        "ID": solo if cls.SOLO else versus,
        "MODULE": cls.__module__,
        "GAME": f"{game.home}.GAME",
        "LOW": f"{layout.low:g}",
        "HIGH": f"{layout.high:g}",
        "SIZE": str(layout.size),
        "NUMBERS": str(game.numbers.size),
        "ACTIONS": str(game.num_actions),
        "LAST": str(game.num_actions - 1),
        "MOST": str(game.players[-1]),
        "PLAYERS": numbers_of_players(game),
    }


def _texts_of_settings(cls: type[OfGame]) -> str:
    """A list of the settings of the configuration, with what its docstring says."""
    listed = _ARGUMENTS.search(f"{inspect.getdoc(cls._game.config)}\n")
    texts = dict(_ARGUMENT.findall(listed[1])) if listed else {}
    return "\n".join(f"- `{name}`: {texts[name]}" for name in cls._settings() if name in texts)


def _signature(cls: type[OfGame]) -> inspect.Signature:
    """The arguments of this kind of environment, of the configuration, and of the engine's class for any game."""
    *own, rest = inspect.signature(cls).parameters.values()  # those of `__init__`
    configured = inspect.signature(cls._game.config).parameters
    named = [configured[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in cls._settings()]
    for constructor in (vars(base)["__init__"] for base in cls.__mro__ if "__init__" in vars(base)):
        given = inspect.signature(constructor).parameters.values()
        named += [one for one in given if one.kind is one.KEYWORD_ONLY]
    return inspect.Signature([*own, *{one.name: one for one in named}.values(), rest])
