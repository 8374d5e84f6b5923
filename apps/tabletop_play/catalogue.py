"""What can be chosen on the page: games with their options, and agents. A client can choose nothing else."""

from __future__ import annotations

import gc
import json
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from tabletop_agents.checkpoint import read_notes
from tabletop_agents.levels import Level, levels_of
from tabletop_agents.names import checkpoint_path, shipped_policies
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Config, Game, game_of
from tabletop_engine.play.agents import Agent
from tabletop_engine.play.names import make_agent
from tabletop_engine.play.warm_up import warm_up
from tabletop_play.opponents import LEVEL_NAMES, level_of
from tabletop_play.session import hints_name
from tabletop_play.web.messages import Refused
from tabletop_play.web.reviews import Reviews

_PLAIN = re.compile(r"random|greedy|rollout(-[1-9][0-9]{0,2})?|ismcts(-[1-9][0-9]{0,3}|-[1-9][0-9]{0,3}ms)?")
_LEARNED = re.compile(r"(?:policy|policy-sample|search(?:-[1-9][0-9]{0,3}|-[1-9][0-9]{0,3}ms)?):(?P<policy>[\w-]+)")
"""Searches may have up to 9,999 simulations or milliseconds for a decision, because others want to play, too."""
_SUGGESTED = ("random", "greedy", "ismcts-200", "ismcts-2000")
_SUGGESTED_WITH_NETWORK = ("policy", "search-200", "search-800")
_ABOUT = {
    "random": "Plays anything that is allowed.",
    "greedy": "Plays what looks best at the end of its own action. Answers at once.",
    "rollout": "Plays each answer to the end of the round many times.",
    "ismcts": "Searches ahead; what it can't see it guesses anew each time.",
    "policy": "A trained network. Answers at once.",
    "policy-sample": "A trained network that varies its play. Answers at once.",
    "search": "Searches ahead, and a trained network says where.",
}
"""A sentence about each kind of agent."""
_STRENGTHS = Path(__file__).with_name("strengths.json")
"""What was measured, by game (`docs.generate` writes it).

How strong agents are, by whether one player plays or several; what a beginner's agent reaches alone; and how often it
and a strong one win with each set of names of an option.
"""
_LISTED = ", separated by commas"
"""Words of a command's options that a page does not need, because it has boxes to tick."""
_MOST_AGENTS = 32
"""Agents that are kept in memory; a network takes seconds to load."""


class Catalogue:
    """The games of one server, and the agents that may play and advise there.

    Arguments:
        homes: the games' modules by their names with dots.
        own: names of further agents that the server's owner allows, such as checkpoints and classes of their own.
    """

    def __init__(self, homes: Iterable[str], own: Sequence[str] = ()) -> None:
        self.games: dict[str, Game] = {}
        for home in homes:
            game = game_of(home)
            self.games.setdefault(game.name, game)
        self.own = tuple(own)
        self.reviews = Reviews()
        self._make = lru_cache(_MOST_AGENTS)(make_agent)
        self._compiled: set[str] = set()
        self._lock = threading.Lock()

    def game(self, name: str) -> Game:
        """The game of that name. Raises Refused for a game that is not here."""
        if name not in self.games:
            raise Refused(f"game: one of {', '.join(self.games)}")
        return self.games[name]

    def compiled(self, name: str) -> Game:
        """The game with its rules compiled. The very first time this takes a minute or two, and others wait here."""
        game = self.game(name)
        with self._lock:
            if name not in self._compiled:
                warm_up(game)
                self._compiled.add(name)
                gc.collect()
                gc.freeze()  # looking for garbage in all that is loaded would stop every page for a tenth of a second
        return game

    def config(self, game: Game, players: int, options: Mapping[str, Any]) -> Config:
        """The configuration. Raises Refused for impossible values, ConfigError for those that do not go together."""
        if players not in game.players:
            raise Refused(f"players: {players}; there can be {', '.join(map(str, game.players))}")
        known = {one["name"]: one for one in options_of(game)}
        chosen: dict[str, Any] = {}
        for name, value in options.items():
            if name not in known:
                raise Refused(f"options: unknown {name:.40}; there are {', '.join(known) or 'none'}")
            chosen[name] = _chosen(known[name], value)
        config: Config = game.config(players=players, **chosen)
        return config

    def agent(self, name: str, game: Game) -> Agent:
        """The agent of that name, created once. Raises Refused for an agent that is not allowed here.

        Otherwise raises as `make_agent` does.
        """
        if not self.allows(name, game):
            raise Refused(
                f"agent {name:.60}: not available here; there are, for example, {', '.join(self.suggested(game))}"
            )
        return self._make(name, game)

    def allows(self, name: str, game: Game) -> bool:
        """Whether a client may choose this agent. No such name leads to a file, or to code that is not ours."""
        if name in self.own or _PLAIN.fullmatch(name) is not None or level_of(name) is not None:
            return True
        found = _LEARNED.fullmatch(name)
        return found is not None and found["policy"] in _policies(game)

    def suggested(self, game: Game, players: int | None = None) -> list[str]:
        """Names of agents, from weak to strong; with `players`, those that play with that number."""
        fitting = [name for name, numbers in _policies(game).items() if players is None or players in numbers]
        learned = [f"{kind}:{policy}" for policy in fitting for kind in _SUGGESTED_WITH_NETWORK]
        return [*_SUGGESTED, *learned, *self.own]

    def advisers(self, config: Config) -> list[str]:
        """Names of agents to ask for advice in such a game, the best one first."""
        best = hints_name(config)
        others = self.suggested(config.game, config.players)
        return [best, *(name for name in reversed(others) if name not in ("random", best))]

    def _about(self, game: Game, players: int) -> dict[str, str]:
        """Sentences about the suggested agents: what they do, and how strong they are where that was measured."""
        strengths = _strengths().get(game.name, {}).get("one" if players == 1 else "several", {})
        sentences = {
            name: (_ABOUT.get(_kind(name), ""), strengths.get(name, "")) for name in self.suggested(game, players)
        }
        return {name: " ".join(filter(None, both)) for name, both in sentences.items()}

    def _levels(self, game: Game, players: int) -> list[dict[str, Any]]:
        """The opponents by level that can be used here, the weakest first, each with a sentence of how strong it is."""
        rows = [one for one in levels_of(game, players) if ":" not in one.agent or _policies(game)]
        return [
            {"agent": f"level-{one.number}", "name": LEVEL_NAMES[one.number - 1], "about": _about_level(one)}
            for one in rows
        ]

    def described(self) -> list[dict[str, Any]]:
        """The games as the start page shows them."""
        return [
            {
                "name": game.name,
                "title": game.title,
                "alone": _about_alone(game),
                "first": None if game.words.first_game is None else list(game.words.first_game.opponents),
                "players": list(game.players),
                "options": [one | {"sets": _sets(game, one["name"])} for one in options_of(game)],
                "levels": {players: self._levels(game, players) for players in game.players},
                "agents": {players: self.suggested(game, players) for players in game.players},
                "about": {players: self._about(game, players) for players in game.players},
            }
            for game in self.games.values()
        ]


def _about_level(one: Level) -> str:
    """`Level 3: wins 62 % against level 2.`"""
    if one.won is None:
        return f"Level {one.number}, the weakest."
    return f"Level {one.number}: wins {100 * one.won[0]:.0f} % against level {one.number - 1}."


@cache
def _strengths() -> dict[str, dict[str, Any]]:
    return dict(json.loads(_STRENGTHS.read_text(encoding="utf-8")))


def _about_alone(game: Game) -> str:
    """Against whom one plays alone; where it is for points, how many are good."""
    points = _strengths().get(game.name, {}).get("points")
    good = f" A beginner does well with {points}, what a simple agent has on average." if points else ""
    return f"Alone, against {game.words.opponent}." if game.words.opponent else f"Alone, for points.{good}"


def _sets(game: Game, option: str) -> list[dict[str, Any]]:
    """Sets of names of an option by measured difficulty, the easiest first, each with a sentence.

    Of those about which the same would be said, the first.
    """
    measured = _strengths().get(game.name, {}).get("sets", {}).get(option, {})
    sets: dict[str, list[str]] = {}
    for names, (beginner, strong) in sorted(measured.items(), key=lambda one: (-one[1][0], -one[1][1])):
        also = f", a strong one {_wins(strong)}" if _wins(strong) != _wins(1.0) else ""
        words = f"A beginner's agent {_wins(beginner)}{also}."
        sets.setdefault(words, names.split("+") if names else [])
    return [{"names": names, "about": words} for words, names in sets.items()]


def _wins(share: float) -> str:
    """A share of won games in words."""
    number = round(10 * share)
    return {0: "hardly ever wins", 10: "nearly always wins"}.get(number, f"wins {number} in 10")


def _kind(name: str) -> str:
    """`search` of `search-800:solo`."""
    found = re.match(r"(policy-sample|[a-z]+)(-[0-9]+(ms)?)?(:[\w-]+)?$", name)
    return found[1] if found else ""


@cache
def _policies(game: Game) -> dict[str, tuple[int, ...]]:
    """The shipped networks that can be used here, each with its numbers of players."""
    if find_spec("torch") is None:
        return {}
    trained = {name: read_notes(game, checkpoint_path(name, game))["training"] for name in shipped_policies(game)}
    return {name: tuple(np.atleast_1d(notes["players"]).tolist()) for name, notes in trained.items()}


@cache
def options_of(game: Game) -> list[dict[str, Any]]:
    """The fields of a game's configuration that can be chosen on a page, with their possible values.

    Of several names, `refused` has those that the game refuses, by the number of players.
    """
    hints = get_type_hints(game.config)
    options = []
    for one in fields(game.config):
        names, values = one.metadata.get("names"), one.metadata.get("values")
        kind = "names" if names else "choice" if values else "switch" if hints[one.name] is bool else ""
        if one.name != "players" and kind:
            option = {"name": one.name, "help": one.metadata.get("help", "").replace(_LISTED, ""), "kind": kind}
            option |= {"names": list(names or values or ()), "for": one.metadata.get("for", "")}
            option |= {"about": one.metadata["about"]} if "about" in one.metadata else {}
            if names:
                option["refused"] = {
                    number: [name for name in names if _refuses(game, players=number, **{one.name: (name,)})]
                    for number in game.players
                }
            options.append(option)
    return options


def _refuses(game: Game, **settings: Any) -> bool:
    try:
        game.config(**settings)
    except ConfigError:
        return True
    return False


def _chosen(option: Mapping[str, Any], value: Any) -> Any:
    names, kind = option["names"], option["kind"]
    if kind == "switch" and isinstance(value, bool):
        return value
    if kind == "choice" and any(type(value) is type(name) and value == name for name in names):
        return value
    if kind == "names" and isinstance(value, list) and len(value) <= 20 and all(name in names for name in value):
        return tuple(value)
    wanted = "true or false" if kind == "switch" else ", ".join(map(str, names))
    raise Refused(f"{option['name']}: {'some' if kind == 'names' else 'one'} of {wanted}")
