"""Games through Inspect's own `eval` with its mock model, in Inspect's environment; prints the results."""

from __future__ import annotations

import json
import sys
import tempfile
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.model import ModelOutput, ModelUsage, StopReason, get_model

from tabletop_text.inspect_task import text_game

asked: list[list[str]] = []


def output(text: str, stop: StopReason = "stop") -> ModelOutput:
    """A reply with its usage, because Inspect would download an encoding to count tokens."""
    given = ModelOutput.from_content("mockllm", text, stop_reason=stop)
    given.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return given


def first_answer(messages: Any, *_: object) -> ModelOutput:
    """Always the first answer of the list."""
    asked.append([one.text for one in messages])
    return output('The first.\n{"answer": "1"}')


def cut_off(messages: Any, *_: object) -> ModelOutput:
    """A reply that is cut off before its answer."""
    asked.append([one.text for one in messages])
    return output("I look at the board.\nThe best answer could", "max_tokens")


def nonsense(messages: Any, *_: object) -> ModelOutput:
    """No answer."""
    asked.append([one.text for one in messages])
    return output("I would rather not.")


PLAYERS = {"first": first_answer, "nonsense": nonsense, "cut off": cut_off}


def evaluated(task: Task, player: str, **limits: Any) -> dict[str, Any]:
    """The scores of all samples, Inspect's metrics of them, and how long the conversations were."""
    asked.clear()
    with tempfile.TemporaryDirectory() as folder:
        model = get_model("mockllm/model", custom_outputs=PLAYERS[player])
        [log] = eval(task, model=model, log_dir=folder, display="none", log_level="error", **limits)
        assert log.status == "success", log.error
        return {
            "samples": [
                {"id": one.id, **one.metadata, **one.scores["result"].value, "limit": one.limit and one.limit.type}
                for one in log.samples
            ],
            "metrics": {one.name: {name: m.value for name, m in one.metrics.items()} for one in log.results.scores},
            "texts": [one.scores["result"].explanation for one in log.samples],
            "longest": max(map(len, asked), default=0),
            "last asked": asked[-1] if asked else [],
        }


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps([evaluated(text_game(**task), player, **limits) for task, player, limits in given]))
