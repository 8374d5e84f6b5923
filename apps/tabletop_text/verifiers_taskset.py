"""Games by text as a taskset of verifiers 0.4 (the extra `verifiers`); see docs/language-models.md.

verifiers finds a taskset by the name of a module at the top level. A file of yours, such as `my_games.py`, makes one:

    from tabletop_text.verifiers_taskset import *
    from tabletop_text.verifiers_taskset import __all__

Then `vf-eval my_games --env.taskset.game MODULE` plays; MODULE is the dotted name of a module with a `GAME`.
"""

# pydantic evaluates the annotations here, so they are not postponed by `from __future__ import annotations`.
import asyncio
from collections.abc import Iterator
from typing import Any, Literal

import openai
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire

from tabletop_engine.errors import ConfigError
from tabletop_text.seated_episodes import SeatedEpisodes, outcome

__all__ = ["TextEnv", "TextHarness", "TextTaskset"]


class TextConfig(vf.TasksetConfig):  # type: ignore[misc]
    """The arguments of `SeatedEpisodes`, and `reward`: which of `outcome`'s numbers is the reward of a game."""

    game: str
    players: int = 2
    options: dict[str, Any] = {}  # noqa: RUF012 - pydantic copies it
    seeds: int = 10
    first_seed: int = 0
    opponents: str | None = None
    memory: Literal["none", "game"] = "game"
    answers: Literal["numbered", "words", "hidden"] = "numbered"
    board: Literal["compact", "full", "turn", "none"] = "compact"
    lessons: bool = False
    tries: int = 3
    on_failure: Literal["lose", "random", "raise"] = "lose"
    reward: Literal["win", "margin", "points"] = "win"


class TextData(vf.TaskData):  # type: ignore[misc]
    """One game: its seed, the model's seat, and whether its decisions are one conversation."""

    seed: int
    seat: int
    memory: Literal["none", "game"]


class TextTask(vf.Task[TextData, vf.State, vf.TaskConfig]):  # type: ignore[misc]
    """A game. The environment gives the rewards, because it knows the result."""


class TextTaskset(vf.Taskset[TextTask, TextConfig]):  # type: ignore[misc]
    """A task for each seed and each seat of the model. Raises ConfigError for bad arguments."""

    def __init__(self, config: TextConfig) -> None:
        super().__init__(config)
        names = [name for name in TextConfig.model_fields if name not in vf.TasksetConfig.model_fields]
        self.seated_episodes = SeatedEpisodes(**{name: getattr(config, name) for name in names if name != "reward"})
        if config.reward != "points" and self.seated_episodes.config.owners == 1:
            raise ConfigError(f"reward={config.reward!r}: nobody else has points in this game; take reward='points'")

    def load(self) -> Iterator[TextTask]:
        """The tasks, by seed and seat."""
        episodes = self.seated_episodes
        for seed, seat in episodes.all:
            data = TextData(
                name=episodes.name(seed, seat),
                system_prompt=episodes.system(seat),
                seed=seed,
                seat=seat,
                memory=episodes.memory,
            )
            yield TextTask(data, self.config.task)


class TextHarness(vf.Harness[vf.HarnessConfig]):  # type: ignore[misc]
    """Asks the model in this process: a game by text has no tools, so it needs neither a sandbox nor `uv`.

    Without a memory it sends only the messages of the decision. Each decision is then a branch of the trace, which
    verifiers trains on as a sample of its own.
    """

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: Any,
    ) -> Any:
        """One reply of the model to the conversation that is `data.prompt`."""
        system, prompt = self.resolve_prompt(data)
        messages = [vf.UserMessage(content=prompt)] if isinstance(prompt, str) else [*prompt]
        if system:
            messages.insert(0, vf.SystemMessage(content=system))
        wire = [message_to_wire(message) for message in messages]
        async with openai.AsyncOpenAI(base_url=endpoint, api_key=secret) as client:
            try:
                await client.chat.completions.create(model=ctx.model, messages=wire)
            except openai.OpenAIError as error:  # verifiers knows whether a limit or the provider is the cause
                return vf.ProgramResult(1, "", str(error))
        return vf.ProgramResult(0, "", "")

    async def resume(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: Any,
        messages: Any,
        tool_interception_url: str | None = None,
    ) -> Any:
        """The next reply. Without a memory it answers these messages alone, otherwise the whole conversation."""
        given = (ctx, trace, runtime, endpoint, secret, mcp_urls)
        if data.memory == "none":
            return await self.launch(*given, data.model_copy(update={"prompt": [*messages]}))
        return await super().resume(*given, data, messages)


class TextEnvConfig(vf.EnvConfig):  # type: ignore[misc]
    """The one agent of verifiers. The other seats are played by agents of this package."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class TextEnv(vf.Env[TextEnvConfig]):  # type: ignore[misc]
    """Plays a task's game to its end, and gives its reward and, as metrics, all of `outcome`.

    At a limit of verifiers on turns or tokens, the game is left: its result is unfinished, and no victory. With
    on_failure="raise" a failed decision is an error of the episode. Without a memory, raises ConfigError for any
    harness but `TextHarness`.
    """

    async def run(self, task: Any, agents: Any) -> None:
        """One game."""
        episodes, data = self.taskset.seated_episodes, task.data
        if data.memory == "none" and not isinstance(agents.player.harness, TextHarness):
            raise ConfigError("memory='none': needs this taskset's own harness; others send all that was said")
        game = await asyncio.to_thread(episodes.start, data.seat)
        turn = await asyncio.to_thread(game.reset, data.seed)
        asked: list[Any] = []
        decision = turn.number
        async with agents.player.interaction(task) as interaction:
            while not turn.done:
                if data.memory == "game" or turn.number != decision:
                    asked = []
                decision = turn.number
                asked.append(vf.UserMessage(content=turn.text))
                segment = await interaction.turn(asked)
                if segment.terminated:
                    break
                asked += segment.messages
                cut_off = interaction.trace.calls[-1].finish_reason == "length"
                turn = await asyncio.to_thread(game.step, segment.last_reply, cut_off)
        found = outcome(game, turn)
        interaction.trace.record_metrics(found)
        reward = self.taskset.config.reward
        interaction.trace.record_reward(reward, found[reward])
