"""Text games as an OpenEnv environment, served at a port of this machine. Needs the extra `openenv`.

    python -m tabletop_text.openenv_server GAME --config '{"players": 2}' --opponents greedy --port 8000

Clients keep a connection (`/ws`, as all of OpenEnv's clients do): each connection is a game of its own. A single HTTP
request gets an environment of its own, so `/step` without a connection finds no game.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

import uvicorn
from fastapi import FastAPI
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, ConcurrencyConfig, EnvironmentMetadata, Observation, State
from pydantic import Field

from tabletop_engine.checks import whole
from tabletop_engine.errors import ConfigError
from tabletop_text.games import TextGame
from tabletop_text.turn import Turn

APP_VARIABLE = "TABLETOP_TEXT_GAME"
"""The environment variable that tells `app` what is played: the arguments of `make_app`, as JSON."""


class GameAction(Action):  # type: ignore[misc] # Any where OpenEnv is not installed
    """One reply of the player."""

    reply: str = Field(description="The reply, which declares an answer as the first message explains.")
    truncated: bool = Field(default=False, description="Whether the reply was cut off, such as by a limit of tokens.")


class GameObservation(Observation):  # type: ignore[misc] # Any where OpenEnv is not installed
    """One message to the player. `metadata` is the `info` of `Turn`."""

    text: str = Field(description="The whole message: what happened, the board, the question and its answers.")
    question: str = Field(description="The decision as a sentence, or the result of a finished game.")
    answers: list[str] = Field(description="The possible answers in words; empty if the messages hide them.")
    problem: str = Field(description='What was wrong with the last reply; "" if nothing.')
    message: str = Field(description='A sentence about the last reply; "" if there is none.')


class GameState(State):  # type: ignore[misc] # Any where OpenEnv is not installed
    """What is played, without anything that is hidden from a seat. `step_count` counts replies."""

    game: str = Field(description="The home module of the game.")
    config: dict[str, Any] = Field(description="The settings of the game that were given.")
    seed: int | None = Field(default=None, description="The seed of the game; none before its end.")
    seat: int | None = Field(default=None, description="The seat of the player; none before the first reset.")


class GameEnvironment(Environment[GameAction, GameObservation, GameState]):  # type: ignore[misc] # Any where OpenEnv is not installed
    """One text game at a time: the client plays one seat, agents play the others.

    Arguments and what is raised are those of `TextGame.of`, with the arguments of `TextGame` as `game_options`.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self,
        game: str,
        config: Mapping[str, Any] | None = None,
        form: Mapping[str, Any] | None = None,
        **game_options: Any,
    ) -> None:
        super().__init__()
        self._game = TextGame.of(game, config, form, game_options)
        self._state = GameState(game=game, config=dict(config or {}))

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> GameObservation:
        """Start the game of a seed; None draws one. At the end `state` names it. Other arguments have no effect.

        Returns the first message. Raises ConfigError for an invalid seed.
        """
        turn, played = self._game.reset(seed), {"game": self._state.game, "config": self._state.config}
        self._state = GameState(episode_id=episode_id or str(uuid4()), seat=self._game.seat, **played)
        return self._observed(turn)

    def step(self, action: GameAction, timeout_s: float | None = None, **kwargs: Any) -> GameObservation:
        """Read a reply, and let the agents answer until the player is asked again.

        Returns the next message. Raises GameOver before the first reset and after the end, and InvalidReply with
        on_failure="raise".
        """
        turn = self._game.step(action.reply, action.truncated)
        self._state.step_count += 1
        return self._observed(turn)

    @property
    def state(self) -> GameState:
        """What is played."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """The name of the game, and what a client does."""
        title = self._game.game.title
        return EnvironmentMetadata(
            name=title, description=f"{title} by text: each message asks for one decision.", version="1"
        )

    def _observed(self, turn: Turn) -> GameObservation:
        self._state.seed = self._game.session.seed if turn.done else None
        return GameObservation(
            text=turn.text,
            question=turn.question,
            answers=[] if self._game.form.answers == "hidden" else list(turn.answers),
            problem=turn.problem,
            message=turn.message,
            reward=turn.reward,
            done=turn.done,
            metadata=dict(turn.info),
        )


def make_app(
    game: str, config: Mapping[str, Any] | None = None, *, sessions: int = 64, idle: int = 900, **options: Any
) -> FastAPI:
    """The server of a game.

    Arguments:
        game: the home module of the game.
        config: settings of the game's configuration, by their names.
        sessions: how many clients may play at the same time.
        idle: the seconds after which a client that does nothing loses its place to others. Over a connection that is
            still open it can go on with its game.
        options: further arguments of `GameEnvironment`.

    Raises ConfigError for what cannot be played.
    """
    made = partial(GameEnvironment, game, config, **options)
    made()  # so that a mistake stops the server and not its first client
    places = ConcurrencyConfig(
        max_concurrent_envs=whole("sessions", sessions, 1), session_timeout=whole("idle", idle, 1)
    )
    return create_app(made, GameAction, GameObservation, env_name=game, concurrency_config=places, state_cls=GameState)


def app() -> FastAPI:
    """The server that `APP_VARIABLE` describes, for `openenv.yaml` and other tools that start `module:app`.

    Raises ConfigError if it describes none.
    """
    try:
        arguments = dict(json.loads(os.environ.get(APP_VARIABLE, "")))
        return make_app(**arguments)
    except (TypeError, ValueError) as error:
        raise ConfigError(f'{APP_VARIABLE} must be JSON such as {{"game": "…", "config": {{…}}}} ({error})') from None


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve a game until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m tabletop_text.openenv_server", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("game", help="the home module of a game")
    parser.add_argument("--config", type=json.loads, default={}, metavar="JSON", help="settings of the game")
    parser.add_argument("--opponents", metavar="NAMES", help="names of agents, separated by commas; greedy by default")
    parser.add_argument("--form", type=json.loads, default={}, metavar="JSON", help="what the messages show")
    parser.add_argument("--reward", default="win", help="win, margin or points")
    parser.add_argument("--sessions", type=int, default=64, help="how many clients may play at the same time")
    parser.add_argument(
        "--idle", type=int, default=900, help="seconds until a client that does nothing loses its place"
    )
    parser.add_argument("--host", default="127.0.0.1", help="by default only this machine is served")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args(arguments)
    try:
        served = make_app(
            given.game,
            given.config,
            sessions=given.sessions,
            idle=given.idle,
            form=given.form,
            opponents=given.opponents.split(",") if given.opponents else None,
            reward=given.reward,
        )
    except ConfigError as error:
        parser.error(str(error))
    uvicorn.run(served, host=given.host, port=given.port, log_level="warning")


if __name__ == "__main__":
    main()
