"""Games by text as a task of Inspect (the extra `inspect`); see docs/language-models.md.

The installed file is the task: `inspect eval …/tabletop_text/inspect_task.py -T game=MODULE`, where MODULE is
the dotted name of a module with a `GAME`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anyio.to_thread import run_sync
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tabletop_text.seated_episodes import SeatedEpisodes, outcome
from tabletop_text.turn import Turn

CUT_OFF = ("max_tokens", "model_length")
"""Inspect's reasons to stop in the middle of a reply."""
OUTCOME = "tabletop_outcome"
"""The key under which a sample stores how its game ended."""


@task  # type: ignore[untyped-decorator]
def text_game(
    game: str,
    players: int = 2,
    options: Mapping[str, Any] | None = None,
    seeds: int = 10,
    first_seed: int = 0,
    opponents: str | Sequence[str] | None = None,
    memory: str = "none",
    answers: str = "numbered",
    board: str = "compact",
    lessons: bool = False,
    tries: int = 3,
    on_failure: str = "lose",
) -> Task:
    """Whole games against agents: a sample is a seed and the model's seat.

    Arguments: those of `SeatedEpisodes`.

    Every score is a mean with a standard error. The games of one seed, with the model on each seat in turn, count as
    one observation (`stderr(cluster="seed")`). Raises ConfigError for bad arguments.
    """
    episodes = SeatedEpisodes(
        game,
        players,
        options,
        seeds=seeds,
        first_seed=first_seed,
        opponents=opponents,
        memory=memory,
        answers=answers,
        board=board,
        lessons=lessons,
        tries=tries,
        on_failure=on_failure,
    )
    title = episodes.config.game.title
    samples = [
        Sample(
            input=f"A game of {title}: seed {seed}, seat {seat}.",
            id=episodes.name(seed, seat),
            metadata={"seed": seed, "seat": seat},
        )
        for seed, seat in episodes.all
    ]
    return Task(
        dataset=MemoryDataset(samples, name=f"{episodes.config.game.name}-{episodes.config.name}"),
        solver=plays(episodes),
        scorer=result(),
        version=episodes.config.game.rules_version,
    )


@solver  # type: ignore[untyped-decorator]
def plays(episodes: SeatedEpisodes) -> Solver:
    """Plays a sample's game to its end.

    At a limit of Inspect on tokens, messages or time, the game is left and its result is unfinished. With
    on_failure="raise" a failed decision is an error of the sample.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        seed, seat = state.metadata["seed"], state.metadata["seat"]
        game = await run_sync(episodes.start, seat)
        turn: Turn = await run_sync(game.reset, seed)
        system = ChatMessageSystem(content=episodes.system(seat))
        asked: list[ChatMessage] = [system]
        state.messages = [system]  # the whole conversation; `asked` is what the model reads
        decision = turn.number
        try:
            while not turn.done:
                if episodes.memory == "none" and turn.number != decision:
                    asked = [system]
                decision = turn.number
                question = ChatMessageUser(content=turn.text)
                asked.append(question)
                state.messages.append(question)
                state.output = await get_model().generate(asked)
                asked.append(state.output.message)
                state.messages.append(state.output.message)
                turn = await run_sync(game.step, state.output.completion, state.output.stop_reason in CUT_OFF)
        finally:
            state.store.set(OUTCOME, outcome(game, turn))
        state.messages.append(ChatMessageUser(content=turn.text))
        state.completed = True
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr(cluster="seed")]})  # type: ignore[untyped-decorator]
def result() -> Scorer:
    """How the game ended, as `outcome` has it. A sample whose game never started is not scored."""

    async def score(state: TaskState, target: Target) -> Score:
        found: dict[str, float] | None = state.store.get(OUTCOME)
        if found is None:
            return Score.unscored(explanation="The game was never set up.")
        return Score(value=dict(found), explanation=ending(found))

    return score


def ending(found: Mapping[str, float]) -> str:
    """A sentence about how a game ended."""
    if found["unfinished"]:
        return "The game was left before its end."
    if found["invalid"]:
        return "Replies without a legal answer lost the game."
    points = f"{found['points']:g} points"
    return points if "win" not in found else f"{points}, {found['margin']:+g} on the others; win {found['win']:g}"
