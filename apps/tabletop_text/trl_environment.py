"""Text games as an environment of TRL's trainers (`environment_factory`). Needs the extra `trl`.

    factory = functools.partial(GameTool, GAME, {"players": 2})
    trainer = GRPOTrainer(model, train_dataset=rows, environment_factory=factory, args=GRPOConfig(...))

A row of the data set has a `prompt` and a `seed`. The first message of the game is appended to the prompt's last
message. TRL repeats a row for its whole group, so all games of a group start the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tabletop_engine.errors import ConfigError, GameOver
from tabletop_text.games import TextGame
from tabletop_text.turn import Turn

OVER = "The game is over. Call no tool any more."


class GameTool:
    """One text game at a time, which a model plays by calling `answer`.

    TRL calls `reset` before an episode, the public methods as tools while it lasts, and `get_reward` after it. An
    episode is over when the model calls no tool, or when it has used up `max_completion_length`.

    Arguments and what is raised are those of `TextGame.of`, with `opponents`, `seat`, `tries` and `reward` as
    `game_options`.
    """

    def __init__(
        self,
        game: str,
        config: Mapping[str, Any] | None = None,
        form: Mapping[str, Any] | None = None,
        **game_options: Any,
    ) -> None:
        self._game = TextGame.of(game, config, form, game_options, on_failure="lose")
        self._turn: Turn | None = None

    def reset(self, seed: int | None = None, **row: Any) -> str:
        """Start the game of a seed; the other columns of the row have no effect.

        Returns the first message. Raises ConfigError without a seed: all games would be the same one.
        """
        if seed is None:
            raise ConfigError("seed: the rows of the data set need a column `seed`")
        self._turn = self._game.reset(seed)
        return self._turn.text

    def answer(self, text: str) -> str:
        """Answer the question of the last message in the game.

        Args:
            text: The words of one answer, or its number. Or JSON as the messages explain it, for several decisions
                of your turn in a row.

        Returns:
            The next message: what happened since, the board, and the next question; or how the game has ended.
        """
        if self._begun.done:
            return OVER
        # A model may also send a number or a list, although the tool asks for a text.
        self._turn = self._game.step(text if isinstance(text, str) else json.dumps({"answer": text}))
        return f"{self._turn.text}\n\n{OVER}" if self._turn.done else self._turn.text

    def get_reward(self) -> float:
        """What the game brought. A game that the model has not finished counts as lost, as after illegal answers.

        Raises GameOver before the first reset.
        """
        while not self._begun.done:
            self._turn = self._game.step("")
        return self._begun.reward

    @property
    def _begun(self) -> Turn:
        if self._turn is None:
            raise GameOver("there is no game yet: call reset")
        return self._turn
