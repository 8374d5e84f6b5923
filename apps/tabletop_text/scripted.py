"""Scripted players that answer by text. They test the pipeline, and a model's result is compared with theirs.

They are named like models: `model:tabletop_text.scripted:first`.
"""

from __future__ import annotations

import json
import re
import threading
import zlib
from collections.abc import Sequence

import numpy as np

from tabletop_agents.search.greedy import GreedyAgent
from tabletop_engine.play.agents import Agent, Decisions
from tabletop_engine.record import FORFEIT
from tabletop_text.model import Message, ModelAgent

_saying = threading.local()
_LISTED = re.compile(r"^(\d+)\. ", re.MULTILINE)


def first(messages: Sequence[Message]) -> str:
    """Always the first answer of the list."""
    return '{"answer": 1}'


def random(messages: Sequence[Message]) -> str:
    """Any answer of the list; the same messages bring the same one."""
    asked = messages[-1]["content"]
    numbers = _LISTED.findall(asked)
    drawn = np.random.default_rng(zlib.crc32(asked.encode())).integers(len(numbers))
    return json.dumps({"answer": int(numbers[drawn])})


def silent(messages: Sequence[Message]) -> str:
    """Never an answer: the result of a model that understands nothing."""
    return "I can't tell.\nThere is no answer here."


class ThroughText(ModelAgent):
    """An agent of the program that answers as a model does: in words, which are then read.

    Arguments:
        agent: the agent that decides.
        more: arguments of `ModelAgent` besides the function.
    """

    def __init__(self, agent: Agent, **more: object) -> None:
        super().__init__(self._say, seconds=None, **more)  # type: ignore[arg-type]
        self._agent = agent
        self._wanted = np.zeros(0, np.int64)

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64: what the agent answers, read from words."""
        self._wanted = np.asarray(self._agent.act(decisions, generator))
        return super().act(decisions, generator)

    def _decide(self, decisions: Decisions, i: int, instead: int) -> int:
        state, _, _, _ = decisions.of_each(i)
        wanted = int(self._wanted[i])
        _saying.text = "" if wanted == FORFEIT else decisions.game.words.action_text(state, wanted)
        return super()._decide(decisions, i, instead)

    def _say(self, messages: Sequence[Message]) -> str:
        return f"It looks best to me.\n{json.dumps({'answer': _saying.text}, ensure_ascii=False)}"


greedy = ThroughText(GreedyAgent(), name="greedy through text")
"""The agent `greedy` through text."""
