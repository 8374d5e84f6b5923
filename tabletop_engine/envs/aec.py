"""All seats of a game as a PettingZoo AEC environment."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, TypeAlias

import gymnasium
import numpy as np
from numpy.typing import DTypeLike, NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from tabletop_engine.drawing.raster import WIDTH
from tabletop_engine.envs.arguments import check_action, check_options, observation_box, preparation
from tabletop_engine.envs.masks import Entries
from tabletop_engine.envs.rendering import Frame, Rendering, Shown
from tabletop_engine.errors import ConfigError, GameOver
from tabletop_engine.game import Config
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.learner_games import check_numbers
from tabletop_engine.play.tables import Editions
from tabletop_engine.record import told_points

Observation: TypeAlias = dict[str, NDArray[Any]]


class SeatsAEC(AECEnv[str, Observation, int | None]):  # type: ignore[misc]
    """All seats of a game as a PettingZoo AEC environment.

    `SeatsAEC(name, config)` plays any game: `name` is that of the environment, `config` a configuration of the game.
    The environments of a game derive from it, and what stands here holds for all of them.

    ## Description

    The agents are `player_0`, `player_1` and so on, in clockwise order. An agent that has several decisions in a row
    stays selected.

    ## Observation Space

    `Dict(observation=Box(low, high, (size,), float32), action_mask=Box(0, 1, (actions,), int8))`. The first is what
    this agent may know, seen from its seat, in the named blocks of `game.observation`, the same for every
    configuration. The mask has ones for the legal actions of the selected agent, zeros for the other agents, and ones
    for all when the game is over. `infos[agent]["action_mask"]` is the same.

    ## Action Space

    `Discrete(game.num_actions)`, with the names of `game.actions`.

    ## Rewards

    - `win` (default): at the end of a game with n players and k winners, the winners share 1 and the others share -1;
      0 if all win.
    - `margin`: the change of the agent's points minus the mean of the others' points.
    - `points`: the change of the agent's points.

    All rewards of a game sum to its result: the first ones also count the points at the first decision.

    ## Starting State

    A random set-up. `reset(seed=n)` sets up the same game as `Batch(config, 1, seed=n)`. `reset()` continues the random
    stream of the previous game. `reset(options={"scenario": {...}})` starts from a described position
    (`game.scenario`).

    ## Episode End

    The end of the game terminates all agents, and so does an illegal action with `illegal_action="lose"`. The latter
    also sets their truncations, as PettingZoo's `TerminateIllegalWrapper` does. Nothing else truncates. The last infos
    have `points` (int), `won` (bool) and `illegal` (bool, whether the game ended by an illegal action of this agent).

    ## Arguments

    - `reward`: `"win"`, `"margin"` or `"points"`.
    - `illegal_action`: the effect of an action that the mask forbids. `"lose"` (default): the agent loses and the game
      ends. Its reward is then -1 with `win`; with `margin` or `points` it brings the sum of its rewards to -100 or 0.
      `"raise"`: `IllegalAction` is raised and nothing changes. `"random"`: a random legal action is played instead, and
      the agent's `info["illegal"]` is true until its next action.
    - `action_mask`: `"observation"` (default), or `"info"` for libraries that don't support dictionaries: observations
      are then the plain arrays of a `Box`, and masks are only in the infos.
    - `observation_dtype`, `render_mode` and `render_size`: as in `tabletop_engine.envs.SeatEnv`. Text and pictures
      show all hands.
    - `editions` and `observe_numbers`: as in `tabletop_engine.envs.SeatEnv`.

    ## Errors

    Those of `tabletop_engine.envs.SeatEnv`, `IllegalAction` for a value outside the action space, and `GameOver` from
    `step` when no agent is left.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": ["human", "ansi", "rgb_array"],
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        name: str,
        config: Config,
        *,
        illegal_action: str = "lose",
        action_mask: str = "observation",
        observe_numbers: bool = False,
        render_mode: str | None = None,
        render_size: int = WIDTH,
        reward: str = "win",
        observation_dtype: str = "float32",
        editions: Editions | None = None,
        **unknown: Any,
    ):
        super().__init__()
        if unknown:
            raise ConfigError(
                f"unknown argument {next(iter(unknown))!r}; there are {', '.join(arguments_of(type(self)))}"
            )
        self.metadata = {**type(self).metadata, "name": name}  # type: ignore[misc]
        self.batch: Batch = Batch(
            config,
            autoreset="disabled",
            illegal_action=illegal_action,
            reward=reward,
            observation_dtype=observation_dtype,
            editions=editions,
        )
        game = self.batch.game
        self._rendering = Rendering(self.batch, render_mode, render_size, self.metadata["render_modes"])
        self.render_mode: str | None = render_mode
        self.possible_agents: list[str] = list(config.agents)
        self.agents: list[str] = []
        self._num_actions = game.num_actions
        if not isinstance(action_mask, str) or action_mask not in ("observation", "info"):
            raise ConfigError(f'action_mask={action_mask!r}: must be "observation" or "info"')
        self._plain = action_mask == "info"
        self._with_numbers = check_numbers(game, observe_numbers)
        box = observation_box(game, self.batch.observations.dtype, observe_numbers)
        mask = gymnasium.spaces.Box(0, 1, (game.num_actions,), np.int8)
        self.observation_spaces: dict[str, gymnasium.spaces.Space[Any]] = {
            agent: box if self._plain else gymnasium.spaces.Dict({"observation": box, "action_mask": mask})
            for agent in self.possible_agents
        }
        self.action_spaces: dict[str, gymnasium.spaces.Space[Any]] = {
            agent: gymnasium.spaces.Discrete(game.num_actions) for agent in self.possible_agents
        }
        low, high = (np.tile(bound, len(self.possible_agents)) for bound in (box.low, box.high))
        self.state_space: gymnasium.spaces.Box = gymnasium.spaces.Box(low, high, dtype=box.dtype.type)
        self._actions = np.zeros(1, np.int64)
        self._nothing = np.zeros(game.num_actions, np.int8)
        self._nothing.flags.writeable = False  # all infos share it

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """The space of this agent's observations, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """The space of this agent's actions, `Discrete(A)`."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a random game, or the position `options["scenario"]`."""
        # PettingZoo's api_test passes the key "options", which has no meaning
        given = check_options(options, ("scenario", "options"))
        prepare = preparation([given.get("scenario")], self.batch.config)
        self.batch.reset(seed)
        if prepare is not None:
            prepare(self.batch, np.ones(1, np.bool_))
        self.agents = self.possible_agents[:]
        self.rewards: dict[str, float] = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations: dict[str, bool] = dict.fromkeys(self.agents, False)
        self.truncations: dict[str, bool] = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {"action_mask": self._nothing} for agent in self.agents}
        self._skip_agent_selection = None
        self.agent_selection: str = self.possible_agents[self.batch.actors.item()]
        self.infos[self.agent_selection] = {"action_mask": self.batch.action_masks[0].copy()}
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Play one action of the selected agent; None for an agent that is done."""
        if not self.agents:
            raise GameOver("no agent is left, or no game has been started; call reset first")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._actions[0] = check_action(action, self._num_actions)
        self.batch.step(self._actions)
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict(zip(self.agents, self.batch.rewards[0].tolist(), strict=True))
        self._accumulate_rewards()
        illegal = self.batch.illegal.item()
        if self.batch.terminations.item():
            self._end(agent, illegal)
        else:
            asked = self.agent_selection = self.possible_agents[self.batch.actors.item()]
            if asked != agent:
                self.infos[agent] = {"action_mask": self._nothing}
            self.infos[asked] = {"action_mask": self.batch.action_masks[0].copy()}
            if illegal:
                self.infos[agent]["illegal"] = True
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation | NDArray[Any]:
        """The observation of this agent, in new arrays."""
        batch = self.batch
        seat, actor = self.possible_agents.index(agent), batch.actors.item()
        if seat == actor:
            seen, mask = batch.observations[0].copy(), batch.action_masks[0].copy()
        else:
            seen, mask = batch.observe(seat)[0], np.full(self._num_actions, actor < 0, np.int8)
        if self._with_numbers:
            seen = np.concatenate((seen, batch.numbers[0]))
        return seen if self._plain else {"observation": seen, "action_mask": mask}

    def state(self) -> NDArray[Any]:
        """The observations of all agents one after another, for centralised training."""
        seen = [self.batch.observe(seat)[0] for seat in range(len(self.possible_agents))]
        if self._with_numbers:
            seen = [part for one in seen for part in (one, self.batch.numbers[0])]
        return np.concatenate(seen)

    @property
    def game(self) -> Any:
        """A copy of the whole game, one record."""
        return self.batch.states[0].copy()

    def render(self) -> Frame | None:
        """The game with all hands shown: text with `render_mode="ansi"`, pixels with `"rgb_array"`.

        Pixels are (render_size, render_size, 3) uint8. With `"human"` a window shows them, and None is returned.
        """
        return self._rendering.frame(self._shown(), self.metadata["render_fps"])

    def _shown(self) -> Shown:
        return Shown(self.batch.states[0], None, self.batch.tables_of(0))

    def close(self) -> None:
        """Close the window, if there is one."""
        self._rendering.close()

    def _end(self, last: str, illegal: bool) -> None:
        lost_by_it = illegal and self.batch.illegal_action == "lose"
        if lost_by_it:
            EnvLogger.warn_on_illegal_move()
        points, won = told_points(self.batch.states["points"][0]), self.batch.winners()[0]
        teams = self.batch.game.teams(self.batch.config)
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, lost_by_it)
        self.infos = {
            agent: {
                "action_mask": np.ones(self._num_actions, np.int8),
                "points": points[teams[seat]],
                "won": bool(won[seat]),
                "illegal": illegal and agent == last,
            }
            for seat, agent in enumerate(self.agents)
        }
        self._deads_step_first()


def arguments_of(kind: type[SeatsAEC]) -> list[str]:
    """The names of the arguments of an environment."""
    several = [*inspect.signature(kind).parameters.values(), *inspect.signature(SeatsAEC).parameters.values()]
    named = [one.name for one in several if one.kind is not inspect.Parameter.VAR_KEYWORD]
    return [one for one in dict.fromkeys(named) if kind is SeatsAEC or one not in ("name", "config")]


class AgentMaskInObservation(wrappers.BaseWrapper):  # type: ignore[misc]
    """`tabletop_engine.envs.masks.MaskInObservation` for all agents: `{key: observation, mask_key: action mask}`.

    `env` is made with `action_mask="info"`, so that its observations are plain arrays. For RLlib's masking module, use
    `key="observations", dtype=np.float32` and RLlib's `PettingZooEnv`.
    """

    def __init__(
        self,
        env: AECEnv[str, NDArray[Any], int | None],
        key: str = "observation",
        mask_key: str = "action_mask",
        dtype: DTypeLike = np.int8,
    ):
        super().__init__(env)
        self.entries = Entries.of(key, mask_key, dtype)
        self.observation_spaces = {
            agent: self.entries.space(env.observation_space(agent), env.action_space(agent))
            for agent in env.possible_agents
        }

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        """The space of this agent's dictionaries, the same object at every call."""
        return self.observation_spaces[agent]

    def observe(self, agent: str) -> Observation:
        """The dictionary of this agent's observation and mask."""
        return self.entries.both(self.env.observe(agent), self.env.infos[agent]["action_mask"])


def wrapped(env: AECEnv[str, Observation, int | None]) -> AECEnv[str, Observation, int | None]:
    """The environment in PettingZoo's wrappers, which refuse actions outside the space and out of turn.

    `TerminateIllegalWrapper` is not among them: `SeatsAEC` does its work (`illegal_action="lose"`). It ends the game in
    the same way, but gives the loser's loss to the others, so that the rewards of `"win"` and `"margin"` sum to 0.
    """
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))
