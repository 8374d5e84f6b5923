"""A language model as an agent: it reads messages, answers in words, and plays in every command.

No provider is built in: a function of yours asks the model (docs/language-models.md has one in a few lines).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_engine.checks import checked, whole
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.play.agents import USAGE, Decisions
from tabletop_engine.play.batch import choice
from tabletop_engine.record import FORFEIT
from tabletop_engine.replays.replay import told_steps
from tabletop_engine.text.answers import declared_answers, legal_options, read_answer
from tabletop_engine.text.tokens import estimated_tokens
from tabletop_text.threads import in_daemon_thread
from tabletop_text.turn import FAILURES, Form, Turn

MEMORIES = {"none": "none", "game": "game"}
LONGEST_REPLY = 100_000
"""Characters of a reply that are kept; the answer stands at its end."""

SYSTEM = (
    "You play {title} as well as you can.{you} Each message shows the game and asks for one decision. Think as long as "
    'you like, then give your answer on the last line, as JSON: {{"answer": "…"}}, with the words or the number of one '
    "of the answers.\n\n{rules}"
)

_lock = threading.Lock()
"""Of all agents together, because an agent that has a lock can't be copied."""

Message = Mapping[str, str]
"""`{"role": "system" | "user" | "assistant", "content": text}`, as chat-completions protocols have it."""


@dataclass(frozen=True)
class Reply:
    """What a model has said.

    Attributes:
        text: its reply.
        input_tokens: tokens of the messages, as the provider counts them; None: they are estimated.
        output_tokens: tokens of the reply, thoughts that are not shown included; None: they are estimated.
        truncated: whether the reply was cut off by a limit.
    """

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    truncated: bool = False


Ask = Callable[[Sequence[Message]], Reply | str]
"""Asks a model. It may be called from several threads at once."""


class ModelFailed(TabletopError):
    """A model could not be asked, took too long, or has used up its tokens."""


class ModelAgent:
    """An agent that asks a function for its answers in words.

    Arguments:
        ask: takes the messages of a conversation, the last of the user, and returns the model's reply.
        name: the agent's name; by default that of the function.
        memory: "none": each decision is a conversation of its own, with the complete rules and the whole board.
            "game": a conversation goes on through the game, which costs the square of its length.
        form: what the messages show; its `rules` are in the first message of a conversation in any case.
        tries: after so many replies without a legal answer to one decision `on_failure` happens; each time the model is
            told why.
        on_failure: "lose": its seat loses the game; "random": a random legal action is played; "raise": ModelFailed.
        parallel: how many games are asked about at the same time.
        attempts: how often a call that raises an exception is made, with growing pauses between them.
        pause: seconds before the second attempt; each further pause is twice as long.
        seconds: the longest time for one call; None for no limit. A call that takes longer ends the games with
            ModelFailed, and its thread is left to itself.
        most_tokens: tokens in all, input and output, after which it refuses to go on.
        log: a file to which every call is appended as a line of JSON; None for none.

    Attributes:
        usage: (5,) int64, what it used so far, as `USAGE` names it.
    """

    remembers = True
    forfeits = True

    @checked
    def __init__(
        self,
        ask: Ask,
        *,
        name: str = "",
        memory: str = "none",
        form: Form | None = None,
        tries: int = 3,
        on_failure: str = "lose",
        parallel: int = 8,
        attempts: int = 3,
        pause: float = 1.0,
        seconds: float | None = 600.0,
        most_tokens: int | None = None,
        log: str | Path | None = None,
    ) -> None:
        if not callable(ask):
            raise ConfigError(f"ask={ask!r:.80}: must be a function of messages")
        self.name = name or f"model:{getattr(ask, '__module__', '')}:{getattr(ask, '__name__', 'ask')}"
        self.memory = choice("memory", memory, MEMORIES)
        self.form = form or Form()
        self.tries, self.parallel = whole("tries", tries, 1, 100), whole("parallel", parallel, 1, 1000)
        self.on_failure = choice("on_failure", on_failure, FAILURES)
        self.attempts, self.pause = whole("attempts", attempts, 1, 100), max(0.0, float(pause))
        self.seconds, self.most_tokens = seconds, most_tokens
        self.log = None if log is None else Path(log)
        self.usage = np.zeros(len(USAGE), np.int64)
        self._ask = ask
        self._conversations: dict[tuple[int, int], list[Message]] = {}  # by game and seat

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64: legal actions, or FORFEIT where `on_failure` is "lose". Raises ModelFailed."""
        instead = [FORFEIT] * len(decisions)
        if self.on_failure == "random":
            instead = [int(generator.choice(np.flatnonzero(mask))) for mask in decisions.action_masks]
        pool = ThreadPoolExecutor(self.parallel)
        try:
            asked = [pool.submit(self._decide, decisions, i, instead[i]) for i in range(len(decisions))]
            return np.array([one.result() for one in asked], np.int64)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _decide(self, decisions: Decisions, i: int, instead: int) -> int:
        """The action for one decision."""
        state, tables, number, steps = decisions.of_each(i)
        game, seat = decisions.game, int(state["actor"])
        config = game.config.of(state)
        names = game.words.owner_names(config.players)
        turn = Turn(
            config,
            tables,
            state,
            seat,
            form=self.form,
            options=legal_options(game, state),
            events=told_steps(game, steps, seat, tables, names.__getitem__),
        )
        messages = self._conversation(config, tables, seat, number)
        messages.append({"role": "user", "content": turn.text})
        for attempt in range(self.tries):
            reply = self._called(messages, number)
            messages.append({"role": "assistant", "content": reply.text})
            declared = declared_answers(reply.text, reply.truncated)
            problem, message = declared.problem, declared.message
            if declared.answers:
                read = read_answer(declared.answers[0], turn.options)
                if read.action is not None:
                    return read.action
                problem, message = read.problem, read.message
            self._count(problems=1, failures=int(attempt == self.tries - 1))
            messages.append({"role": "user", "content": f"{message} {turn.question}"})
        if self.on_failure == "raise":
            raise ModelFailed(f"agent {self.name!r}: no legal answer in {self.tries} replies ({problem}: {message})")
        return instead

    def _conversation(self, config: Any, tables: np.ndarray, seat: int, number: int | None) -> list[Message]:
        """The messages of a game so far; new ones without a memory."""
        start: list[Message] = [system_message(config, tables, seat)]
        if self.memory == "none" or number is None:
            return start
        with _lock:
            if len(self._conversations) > 10_000:  # conversations of games that ended long ago
                self._conversations.clear()
            return self._conversations.setdefault((number, seat), start)

    def _called(self, messages: Sequence[Message], number: int | None) -> Reply:
        """The model's reply, logged and counted. Raises ModelFailed."""
        with _lock:
            used = int(self.usage[1] + self.usage[2])
        if self.most_tokens is not None and used >= self.most_tokens:
            raise ModelFailed(f"agent {self.name!r}: has used {used:,} tokens of {self.most_tokens:,}")
        sent = [dict(message) for message in messages]
        for attempt in range(self.attempts):
            start = time.monotonic()
            try:
                reply = self._timed(sent)
                break
            except TabletopError:
                raise
            except Exception as error:  # a user's function may raise anything
                if attempt == self.attempts - 1:
                    raise ModelFailed(
                        f"agent {self.name!r}: asking failed {self.attempts} times, at last with "
                        f"{type(error).__name__}: {str(error)[:300]}"
                    ) from error
                time.sleep(self.pause * 2**attempt)
        tokens_in, tokens_out = reply.input_tokens, reply.output_tokens
        if tokens_in is None:
            tokens_in = sum(estimated_tokens(message["content"]) for message in sent)
        if tokens_out is None:
            tokens_out = estimated_tokens(reply.text)
        self._count(calls=1, input_tokens=tokens_in, output_tokens=tokens_out)
        if self.log is not None:
            line = {
                "agent": self.name,
                "game": number,
                "messages": sent,
                "reply": reply.text,
                "truncated": reply.truncated,
                "input_tokens": tokens_in,
                "output_tokens": tokens_out,
                "seconds": round(time.monotonic() - start, 3),
            }
            with _lock:
                self.log.parent.mkdir(parents=True, exist_ok=True)
                with self.log.open("ab", buffering=0) as file:  # at once, because other processes may write, too
                    file.write(f"{json.dumps(line, ensure_ascii=True)}\n".encode())
        return reply

    def _timed(self, messages: Sequence[Message]) -> Reply:
        """The reply to one call, within its time."""
        if self.seconds is None:
            return _reply_of(self._ask(messages))
        asking = in_daemon_thread(lambda: self._ask(messages))
        if not wait([asking], self.seconds).done:
            raise ModelFailed(f"agent {self.name!r}: no reply within {self.seconds:g} seconds")
        return _reply_of(asking.result())

    def _count(self, **numbers: int) -> None:
        with _lock:
            for name, number in numbers.items():
                self.usage[USAGE.index(name)] += number


def system_message(config: Any, tables: np.ndarray | None, seat: int) -> Message:
    """The first message of a conversation: the task, which seat it is for, and the complete rules."""
    words = config.game.words
    you = f" You are {words.owner_names(config.players)[seat]}." if config.players > 1 else ""
    rules = words.rules(config, tables)
    return {"role": "system", "content": SYSTEM.format(title=config.game.title, you=you, rules=rules)}


def _reply_of(given: Any) -> Reply:
    if isinstance(given, str):
        given = Reply(given)
    if not isinstance(given, Reply) or not isinstance(given.text, str):
        raise TypeError(f"the function returns {type(given).__name__}, not a Reply or a str")
    if len(given.text) > LONGEST_REPLY:
        return Reply(given.text[-LONGEST_REPLY:], given.input_tokens, given.output_tokens, given.truncated)
    return given
