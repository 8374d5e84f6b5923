"""Petrichor for 2 to 5 as a PettingZoo AEC environment.

```python
from petrichor_env import petrichor_v0

env = petrichor_v0.env(num_players=3)
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    action = None if termination or truncation else env.action_space(agent).sample(observation["action_mask"])
    env.step(action)
```

The same through PettingZoo's registry, once `petrichor_env` has been imported: `pettingzoo.make("aec",
"petrichor/petrichor-v0", num_players=3)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import gymnasium
import numpy as np
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from petrichor_env.config import Config
from petrichor_env.observation import HIGH, LOW
from petrichor_env.state import State
from tabletop.batch import Batch
from tabletop.drawing.raster import WIDTH
from tabletop.envs.arguments import check_action, check_options, scenario_of, start_from
from tabletop.envs.rendering import Frame, Rendering, Shown
from tabletop.errors import ConfigError, GameOver

__all__ = ["env", "raw_env"]

Observation: TypeAlias = dict[str, NDArray[Any]]


def env(**kwargs: Any) -> AECEnv[str, Observation, int | None]:
    """`raw_env(**kwargs)` in PettingZoo's wrappers: an action outside the space, or out of turn, is an error.

    What `TerminateIllegalWrapper` does is in `raw_env` itself (`illegal_action="lose"`): it ends the game the same
    way, but gives what the offender loses to the others, so that the rewards of `"win"` and `"margin"` always sum to
    0.
    """
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(raw_env(**kwargs)))


class raw_env(AECEnv[str, Observation, int | None]):  # type: ignore[misc]  # noqa: N801
    """
    ## Description

    The game for 2 to 5 players, with the promos and modules of the Flowers expansion that are asked for. Agents are
    `player_0`, `player_1` …, in clockwise order. A turn is several small decisions; an agent who has another one to
    take simply stays selected.

    ## Observation Space

    `Dict(observation=Box(0, 20, (OBSERVATION_SIZE,), float32), action_mask=Box(0, 1, (143,), int8))`. The first is
    what this agent may know, seen from its seat, in the named blocks of `petrichor_env.observation.LAYOUT`, the same
    for every configuration. The mask has the legal actions of the agent who is asked, zeros for the others, and ones
    for all when the game is over.

    With the module `forecasts`, only agents who hold a forecast card that can be played now are asked for one. The
    others' observations don't show who that is: their blocks `decision` and `actor` are zeros as long as it is asked.
    Which agent is selected can't be hidden, though. A policy that looks at `agent_selection`, or observes between its
    own decisions, knows more than a player at the table.

    ## Action Space

    `Discrete(143)`, the ranges of `petrichor_env.actions`; `action_name(action)` says in words what one does.

    ## Rewards

    - `win` (default): at the end of the game; k winners of n share 1, the others share -1, and 0 if all n win;
    - `margin`: the change of the agent's points less the mean of the others', at every step;
    - `points`: the change of the agent's points, at every step.

    ## Starting State

    A random set-up. `reset(seed=n)` sets up the same game as `Batch(config, 1, seed=n)`; `reset()` goes on with the
    random stream of the game before. `reset(options={"scenario": {...}})` starts from a described position
    (`petrichor_env.scenario`).

    ## Episode End

    The end of the last round terminates all agents, and so does an illegal action with `illegal_action="lose"`, which
    sets their truncations too, as PettingZoo's `TerminateIllegalWrapper` does. Nothing else truncates. The last infos
    have `points` (int), `won` and `illegal` (bool, whether the game ended by an illegal action of this agent).

    ## Arguments

    - `num_players`: 2, 3, 4 or 5;
    - `rounds`: 4 (short form) or 6 (long form);
    - `drafting`: the Official Drafting Variant;
    - `modules`: any of `fertilizer`, `cactus`, `lake`, `flower_tiles`, `powers`, `forecasts` (promos and Flowers);
    - `powers`: with the module `powers`, one for each agent in their order, all different: `frost`, `sun`, `wind`,
      `rain`, `harvest`; `()` deals them at random;
    - `reward`: `"win"`, `"margin"` or `"points"`;
    - `illegal_action`: `"lose"` (default): the agent loses and the game ends; its reward is -1 with `win`, and with
      `margin` or `points` what brings its margin to -100 or its points to 0; `"raise"`: `IllegalAction`, nothing
      changes; `"random"`: a random legal action is played instead, and the agent's `info["illegal"]` is true until
      its next one;
    - `components`: path of an overlay TOML file with other numbers on the pieces, or None;
    - `render_mode`: `"ansi"` (`render()` returns the game as text, all hands open), `"rgb_array"` (as a picture:
      pixels), `"human"` (a window shows the picture after every step) or None;
    - `render_size`: width and height of the picture in pixels, 16 to 4096.

    Raises `ConfigError` for a bad argument or option, `ComponentsError` for a bad overlay, `ScenarioError` for a bad
    scenario, `PetrichorError` for a picture without the extra `render` and a window without a screen, `IllegalAction`
    for what is no action at all, and `GameOver` from `step` when no agent is left.

    ## Version History

    - v0: first version.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "petrichor_v0",
        "render_modes": ["human", "ansi", "rgb_array"],
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        num_players: int = 2,
        rounds: int = 4,
        drafting: bool = False,
        modules: Sequence[str] = (),
        powers: Sequence[str] = (),
        reward: str = "win",
        illegal_action: str = "lose",
        components: str | None = None,
        render_mode: str | None = None,
        render_size: int = WIDTH,
    ):
        super().__init__()
        if num_players not in (2, 3, 4, 5):
            wanted = "2, 3, 4 or 5; the solo game is Gymnasium's Petrichor/Solo-v0"
            raise ConfigError(f"num_players={num_players!r}: {wanted}")
        self._rendering = Rendering(render_mode, render_size, self.metadata["render_modes"])
        self.render_mode = render_mode
        names: dict[str, Any] = {"modules": modules, "powers": powers}
        config = Config(players=num_players, rounds=rounds, drafting=drafting, components=components, **names)
        self.batch = Batch(config, 1, autoreset="disabled", illegal_action=illegal_action, reward=reward)
        self.possible_agents = list(config.agents)
        self.agents: list[str] = []
        size, num_actions = self.batch.observations.shape[1], self.batch.action_masks.shape[1]
        self.observation_spaces = {agent: _observation_space(size, num_actions) for agent in self.possible_agents}
        self.action_spaces = {agent: gymnasium.spaces.Discrete(num_actions) for agent in self.possible_agents}
        self.state_space = gymnasium.spaces.Box(LOW, HIGH, (len(self.possible_agents) * size,), np.float32)
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._num_actions = num_actions
        self._actions = np.zeros(1, np.int64)

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game: a random one, or `options["scenario"]`."""
        # PettingZoo's api_test passes this key, which means nothing to any environment
        given = check_options(options, ("scenario", "options"))
        state = scenario_of(given, self.batch.config)
        self.batch.reset(seed)
        if state is not None:
            start_from(self.batch, state, given, slice(None))
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._rendering.started()
        self.agent_selection = self.possible_agents[self.batch.actors.item()]
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
        before = self.batch.states.copy() if self._rendering.draws else None
        self.batch.step(self._actions)
        if before is not None:
            self._rendering.stepped(before, self._actions, self.batch.illegal)
        self._cumulative_rewards[agent] = 0.0
        for player, reward in zip(self.agents, self.batch.rewards[0].tolist(), strict=True):
            self.rewards[player] = reward
            self._cumulative_rewards[player] += reward
        illegal = self.batch.illegal.item()
        if self.batch.terminations.item():
            self._end(agent, illegal)
        else:
            self.infos[agent] = {"illegal": True} if illegal else {}
            self.agent_selection = self.possible_agents[self.batch.actors.item()]
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """What this agent may know and what it may do now, in new arrays."""
        batch = self.batch
        seat, actor = self._seats[agent], batch.actors.item()
        if seat == actor:
            return {"observation": batch.observations[0].copy(), "action_mask": batch.action_masks[0].copy()}
        mask = np.full(self._num_actions, actor < 0, np.int8)
        return {"observation": batch.observe(seat)[0], "action_mask": mask}

    def state(self) -> NDArray[np.float32]:
        """What all agents know together, for centralised training: their observations one after another, float32."""
        return np.concatenate([self.batch.observe(seat)[0] for seat in range(len(self.possible_agents))])

    @property
    def game(self) -> State:
        """A copy of the whole game, one record of `petrichor_env.state.STATE`; `petrichor_env.describe` reads it."""
        return self.batch.states[0].copy()

    def render(self) -> Frame | None:
        """The game, all hands open: text with `render_mode="ansi"`, pixels with `"rgb_array"`.

        Pixels are (render_size, render_size, 3) uint8. With `"human"` the window shows it, and None is returned.
        """
        return self._rendering.frame(self._shown(), self.metadata["render_fps"])

    def close(self) -> None:
        """Close the window, if there is one."""
        self._rendering.close()

    def _shown(self) -> Shown:
        return Shown(self.batch.states[0], None, self.batch.tables)

    def _end(self, last: str, illegal: bool) -> None:
        lost_by_it = illegal and self.batch.illegal_action == "lose"
        if lost_by_it:
            EnvLogger.warn_on_illegal_move()
        points, won = self.batch.states["points"][0], self.batch.winners()[0]
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, lost_by_it)
        self.infos = {
            agent: {"points": int(points[seat]), "won": bool(won[seat]), "illegal": illegal and agent == last}
            for seat, agent in enumerate(self.agents)
        }
        self._deads_step_first()


def _observation_space(size: int, num_actions: int) -> gymnasium.spaces.Dict:
    return gymnasium.spaces.Dict(
        {
            "observation": gymnasium.spaces.Box(LOW, HIGH, (size,), np.float32),
            "action_mask": gymnasium.spaces.Box(0, 1, (num_actions,), np.int8),
        }
    )
