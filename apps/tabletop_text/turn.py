"""One message of a text game: what happened, the board, the question and its answers, as one seat may know them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tabletop_engine.drawing.lines import Size
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import NOBODY, Config
from tabletop_engine.play.batch import choice
from tabletop_engine.text.answers import Option
from tabletop_engine.text.words import asked_of

ANSWERS = {"numbered": "numbered", "words": "words", "hidden": "hidden"}
FAILURES = {"lose": "lose", "random": "random", "raise": "raise"}
"""What happens after too many replies without a legal answer."""
BOARDS = {"compact": "compact", "full": "full", "turn": "turn", "none": "none"}

HOW_TO_ANSWER = (
    'Answer on the last line, as JSON, with the words of one answer{or_number}: {{"answer": "{example}"}}. '
    'A list, such as {{"answer": ["…", "…"]}}, answers several decisions of your turn in a row, as far as it fits, in '
    "words. Write no other answer as JSON; all text before that line is for you alone."
)


@dataclass(frozen=True)
class Form:
    """What the messages of a text game show.

    Attributes:
        answers: "numbered": a numbered list of all answers; "words": a list; "hidden": none.
        board: "compact"; "full", as at a terminal; "turn": compact, and only where others or chance have moved since
            the last message; "none".
        rules: whether the first message of a game has the complete rules.
        lessons: whether each question is explained as for beginners.
        how_to_answer: words that say how an answer is given; in them {example} stands for one, and {or_number} for
            ", or its number" where answers have numbers.

    Raises ConfigError for other values.
    """

    answers: str = "numbered"
    board: str = "compact"
    rules: bool = True
    lessons: bool = False
    how_to_answer: str = HOW_TO_ANSWER

    def __post_init__(self) -> None:
        choice("answers", self.answers, ANSWERS)
        choice("board", self.board, BOARDS)
        for name in ("rules", "lessons"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name}={getattr(self, name)!r:.40}: must be True or False")


class Turn:
    """One message. Its parts are texts that are written when they are first read.

    Attributes:
        seat: the seat that reads.
        number: how many answers the seat has given before.
        options: the possible answers; none unless this seat is asked.
        problem: what was wrong with the last reply: "unreadable", "unknown", "several" or "truncated"; "" if nothing.
        message: a sentence about that, or about how far a reply with several answers came; "" if there is none.
        reward: what the last step brought: the result at the end of the game, 0 before.
        done: whether the game is over.
        info: at the end `points`, `won`, `invalid` (whether a reply without a legal answer lost the game); always the
            numbers `answers` and `problems` of this seat in the game so far.
    """

    def __init__(
        self,
        config: Config,
        tables: Any,
        state: Any,
        seat: int,
        *,
        form: Form,
        number: int = 0,
        first: bool = False,
        options: Sequence[Option] = (),
        events: Iterable[tuple[str, Sequence[str]]] = (),
        anew: bool = True,
        problem: str = "",
        message: str = "",
        reward: float = 0.0,
        info: Mapping[str, Any] | None = None,
    ) -> None:
        self.seat, self.number, self.options = seat, number, tuple(options)
        self.problem, self.message, self.reward = problem, message, reward
        self.done = int(state["actor"]) == NOBODY
        self.info: Mapping[str, Any] = dict(info or {})
        self._config, self._tables, self._state, self._form = config, tables, state, form
        self._first, self._events, self._anew = first, events, anew

    @cached_property
    def rules(self) -> str:
        """The complete rules, in the first message of a game; otherwise ""."""
        shown = self._first and self._form.rules
        return self._config.game.words.rules(self._config, self._tables) if shown else ""

    @cached_property
    def events(self) -> tuple[str, ...]:
        """What happened since the seat's last answer, with its effects, in lines."""
        lines: list[str] = []
        for answer, sentences in self._events:
            lines += [answer] * bool(answer)
            lines += [f"- {one}" for one in sentences]
        return tuple(lines)

    @cached_property
    def board(self) -> str:
        """The game as the seat sees it; "" if the form shows none here."""
        drawing, kind = self._config.game.drawing, self._form.board
        if kind == "none" or (kind == "turn" and not self._anew and not self.done):
            return ""
        size: Size = "wide" if kind == "full" else "compact"
        return str(drawing.render_text(self._state, self.seat, tables=self._tables, size=size))

    @cached_property
    def question(self) -> str:
        """The decision as a sentence, or the result of a finished game."""
        words = self._config.game.words
        if not self.options:
            return str(words.facts(self._state, self.seat, None).asked)
        return f"{asked_of(words.question(self._state))}."

    @cached_property
    def lesson(self) -> tuple[str, ...]:
        """Paragraphs that explain the decision; none without lessons."""
        shown = self._form.lessons and self.options
        return tuple(self._config.game.words.lesson(self._config, self._state, self._tables).text) if shown else ()

    @property
    def answers(self) -> tuple[str, ...]:
        """The possible answers in words."""
        return tuple(option.text for option in self.options)

    @cached_property
    def text(self) -> str:
        """All parts as one message."""
        introduction = f"You are {self._names[self.seat]}." if self._first and self._config.players > 1 else ""
        parts = [self.rules, introduction, self.message, "\n".join(self.events), self.board, *self.lesson]
        if self.done:
            parts.append(self._end)
        elif self.options:
            parts.append("\n".join([self.question, *self._listed()]))
            parts.append(self._how_to_answer if self._first or self.problem else "")
        else:
            parts.append(self.question)
        return "\n\n".join(part for part in parts if part)

    @property
    def _names(self) -> tuple[str, ...]:
        return self._config.game.words.owner_names(self._config.players)

    def _listed(self) -> list[str]:
        kind = self._form.answers
        if kind == "hidden":
            return []
        marks = (f"{number}." if kind == "numbered" else "-" for number in range(1, len(self.options) + 1))
        return [f"{mark} {text}" for mark, text in zip(marks, self.answers, strict=True)]

    @property
    def _how_to_answer(self) -> str:
        or_number = ", or its number" if self._form.answers == "numbered" else ""
        return self._form.how_to_answer.format(example=self.answers[0], or_number=or_number)

    @property
    def _end(self) -> str:
        points = zip(self._names, self.info.get("points", ()), strict=False)
        told = ", ".join(f"{name} {number}" for name, number in points)
        return f"The game is over. Points: {told}. {self.question}".strip()

    def __str__(self) -> str:
        return self.text
