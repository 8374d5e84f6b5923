"""Whole games by text for other frameworks: what is played, what a model is shown, and how a game ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tabletop_engine.checks import checked, whole
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Config, game_of
from tabletop_engine.play.batch import choice
from tabletop_engine.play.scores import margins
from tabletop_text.games import TextGame
from tabletop_text.model import MEMORIES, system_message
from tabletop_text.turn import Form, Turn


class SeatedEpisodes:
    """Games of fixed seeds in which a model takes each seat once; agents play the other seats.

    Arguments:
        game: the dotted name of a module with a `GAME`.
        players: the number of players.
        options: further fields of the game's configuration.
        seeds: how many seeds are played, each from every seat.
        first_seed: the first of them; the others follow it.
        opponents: names of agents, one for all other seats or players - 1; a string has them separated by commas.
            None: greedy.
        memory: "none": each decision is a conversation of its own, with the complete rules and the whole board.
            "game": one conversation goes on through the game, which costs the square of its length.
        answers: as in `Form`.
        board: as in `Form`; "turn" and "none" need the memory "game".
        lessons: as in `Form`.
        tries: after so many replies in a row without a legal answer `on_failure` happens.
        on_failure: as in `TextGame`.

    Raises ConfigError for bad arguments.
    """

    @checked
    def __init__(
        self,
        game: str,
        players: int = 2,
        options: Mapping[str, Any] | None = None,
        *,
        seeds: int = 10,
        first_seed: int = 0,
        opponents: str | Sequence[str] | None = None,
        memory: str = "none",
        answers: str = "numbered",
        board: str = "compact",
        lessons: bool = False,
        tries: int = 3,
        on_failure: str = "lose",
    ) -> None:
        self.config = _config(game, players, options or {})
        self.memory = choice("memory", memory, MEMORIES)
        self.form = Form(answers=answers, board=board, rules=False, lessons=lessons)  # the rules are in `system`
        if self.memory == "none" and board in ("turn", "none"):
            raise ConfigError(f"board={board!r}: needs memory='game'; without a memory each message needs the board")
        if isinstance(opponents, str):
            opponents = [name.strip() for name in opponents.split(",") if name.strip()]
        self.opponents = None if opponents is None else tuple(opponents)
        self.tries, self.on_failure = tries, on_failure
        number, first = whole("seeds", seeds, 1, 2**32), whole("first_seed", first_seed, 0, 2**32 - 1)
        if first + number > 2**32:
            raise ConfigError(f"seeds={number}: the last seed must be below 2**32")
        self.seeds = range(first, first + number)
        self.start(0)  # raises for what cannot be played, before a model is asked

    @property
    def all(self) -> list[tuple[int, int]]:
        """The pairs of a seed and the model's seat."""
        return [(seed, seat) for seed in self.seeds for seat in range(self.config.players)]

    def start(self, seat: int) -> TextGame:
        """A game for the model on this seat, not yet set up."""
        return TextGame(
            self.config, self.opponents, seat=seat, form=self.form, tries=self.tries, on_failure=self.on_failure
        )

    def name(self, seed: int, seat: int) -> str:
        """A short name of one of `all`."""
        return f"{self.config.game.name}-{seed}-{seat}"

    def system(self, seat: int) -> str:
        """The first message of each conversation: the task, which seat is the model's, and the complete rules."""
        return system_message(self.config, None, seat)["content"]


def _config(home: str, players: int, options: Mapping[str, Any]) -> Config:
    game = game_of(home)
    if players not in game.players:
        raise ConfigError(f"players={players!r}: {', '.join(map(str, game.players))}")
    unknown = sorted({*options} - {*game.config.__dataclass_fields__} | ({*options} & {"players"}))
    if unknown:
        raise ConfigError(f"options: unknown {', '.join(unknown)}")
    config: Config = game.config(players=players, **options)
    return config


def outcome(game: TextGame, turn: Turn) -> dict[str, float]:
    """How a game ended for the model's seat, as numbers.

    Arguments:
        game: the game; it may have been left before its end.
        turn: its last message.

    Returns `win`: 1, or 1/k for a victory shared by k, or 0; `margin`: points less the mean of the others'; `points`;
    `invalid`: 1 if replies without a legal answer lost the game; `unfinished`: 1 if the game was left; `answers` and
    `problems`: how many answers were played, and how many replies had something wrong. `win` and `margin` are missing
    in games that are played for points alone, by one or by all together. An invalid or unfinished game is never a win:
    its win is 0, its margin at most 0, and its points are 0.
    """
    state, owners = game.session.state, game.config.owners
    invalid, unfinished = bool(turn.info.get("invalid")), not game.done
    good = not invalid and not unfinished
    points, teams = state["points"][None, :owners].astype(float), game.game.teams(game.config)
    own = teams[game.seat]
    result: dict[str, float] = {}
    if owners > 1:
        winners = {game.game.named_owners(state)[one] for one in game.game.winners(state)} if good else set()
        margin = float(margins(points)[0, own])
        result["win"] = 1.0 / len(winners) if own in winners else 0.0
        result["margin"] = margin if good else min(0.0, margin)
    result |= {"points": float(points[0, own]) if good else 0.0}
    result |= {"invalid": float(invalid), "unfinished": float(unfinished)}
    return result | {name: float(turn.info[name]) for name in ("answers", "problems")}
