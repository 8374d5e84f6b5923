"""`Petrichor/Versus-v0` as a native batch: one seat of N games, as a Gymnasium vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from tabletop.agents import Agent
from tabletop.batch import Batch, Seed
from tabletop.drawing.raster import WIDTH
from tabletop.envs.arguments import Prepare
from tabletop.envs.vector import GamesVectorEnv, autoreset_mode_of
from tabletop.versus import VersusBatch
from tabletop_agents.versus_env import versus_config


class VersusVectorEnv(GamesVectorEnv):
    """N games of `Petrichor/Versus-v0` in one process. Each opponent answers for all games in one call.

    ```python
    import gymnasium
    from tabletop.kernels import sample_actions

    envs = gymnasium.make_vec("petrichor_env:Petrichor/Versus-v0", num_envs=256, opponents=("greedy",))
    observations, infos = envs.reset(seed=1)
    for _ in range(100):
        actions = sample_actions(infos["action_mask"], envs.np_random)
        observations, rewards, terminations, truncations, infos = envs.step(actions)
    ```

    Game i is set up as in the single environment reset with `seed + i`. What is drawn besides (seats, opponents'
    moves) comes from one generator for all games, seeded when they all are: the same seed and the same actions give
    the same games, but not those of N single environments. `infos` are as in `petrichor_env.envs.SoloVectorEnv`, with
    the single environment's results. `action_masks()` is (num_envs, 143) bool.

    Arguments, beyond those of `VersusEnv`:

    - `num_envs`: number of games;
    - `autoreset_mode`: a `gymnasium.vector.AutoresetMode` or its name. `NEXT_STEP` (default): the step after the end
      ignores the action and starts the next game, with reward 0. `SAME_STEP`: the next game starts within the step;
      `infos["final_obs"]` and `infos["final_info"]` have the end of the one before. `DISABLED`: finished games are
      reset with `reset(options={"reset_mask": mask})`, and stepping them raises `GameOver`;
    - `num_threads`: threads to step on, None for as many as there are cores to use;
    - `copy`: True (default) returns new observations and masks at every step. False returns the batch's own arrays,
      which the next `step` or `reset` writes over.

    Raises what `VersusEnv` does, and `ConfigError` for a bad list of seeds or mask.
    """

    batch: VersusBatch

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Sequence[Agent | str] = ("greedy",),
        players: int = 2,
        seat: int | str = "random",
        rounds: int = 4,
        drafting: bool = False,
        modules: Sequence[str] = (),
        powers: Sequence[str] = (),
        reward: str = "win",
        illegal_action: str = "lose",
        components: str | None = None,
        render_mode: str | None = None,
        render_size: int = WIDTH,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        num_threads: int | None = None,
        copy: bool = True,
    ):
        mode = autoreset_mode_of(autoreset_mode)
        batch = VersusBatch(
            versus_config(players, rounds, drafting, modules, powers, components),
            num_envs,
            opponents,
            seat=seat,
            reward=reward,
            illegal_action=illegal_action,
            autoreset=mode.name.lower(),
            num_threads=num_threads,
            new_observations=copy,
        )
        super().__init__(batch, num_envs, render_mode, render_size, mode, copy)

    def _start(self, seed: Seed, which: NDArray[np.bool_], prepare: Prepare | None) -> None:
        self.batch.reset(seed, None if which.all() else which, prepare)

    def _over(self) -> NDArray[np.bool_]:
        return self.batch.over

    def _results(self) -> dict[str, NDArray[Any]]:
        return self.batch.results()

    def _all_seats(self) -> Batch:
        return self.batch.batch

    def _viewers(self) -> NDArray[np.int64]:
        return self.batch.seats
