"""`Petrichor/Solo-v0` as a native batch: N games stepped together, as a Gymnasium vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from petrichor_env.state import NOBODY
from tabletop.batch import Batch, Seed
from tabletop.drawing.raster import WIDTH
from tabletop.envs.arguments import Prepare, solo_config
from tabletop.envs.vector import GamesVectorEnv, autoreset_mode_of


class SoloVectorEnv(GamesVectorEnv):
    """N games of `Petrichor/Solo-v0` in one process, stepped by compiled code on `num_threads` threads.

    ```python
    import gymnasium
    from tabletop.kernels import sample_actions

    envs = gymnasium.make_vec("petrichor_env:Petrichor/Solo-v0", num_envs=1024)
    observations, infos = envs.reset(seed=1)
    for _ in range(1000):
        actions = sample_actions(infos["action_mask"], envs.np_random)
        observations, rewards, terminations, truncations, infos = envs.step(actions)
    ```

    Game i equals the single environment reset with `seed + i`, in each autoreset mode, and `infos` is what
    `gymnasium.vector.SyncVectorEnv` would put together, except that `infos["action_mask"]`, (num_envs, 143) int8, has
    every game's row after a `reset` of some games too. `action_masks()` is the same as bool.

    Arguments, beyond those of `SoloEnv`:

    - `num_envs`: number of games;
    - `autoreset_mode`: a `gymnasium.vector.AutoresetMode` or its name. `NEXT_STEP` (default): the step after the end
      ignores the action and starts the next game, with reward 0. `SAME_STEP`: the next game starts within the step;
      `infos["final_obs"]` and `infos["final_info"]` have the end of the one before. `DISABLED`: finished games are
      reset with `reset(options={"reset_mask": mask})`, and stepping them raises `GameOver`;
    - `num_threads`: threads to step on, None for as many as there are cores to use;
    - `copy`: True (default) returns new observations and masks at every step. False returns the batch's own arrays,
      which the next `step` or `reset` writes over, for learners that copy them into a rollout buffer
      of their own.

    Raises `ConfigError` for a bad argument, option or seed, `IllegalAction` (nothing has changed) for a bad action.
    """

    batch: Batch

    def __init__(
        self,
        num_envs: int = 1,
        variants: Sequence[str] = (),
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
        batch = Batch(
            solo_config(variants, modules, powers, components),
            num_envs,
            autoreset=mode.name.lower(),
            illegal_action=illegal_action,
            reward=reward,
            num_threads=num_threads,
            new_observations=copy,
        )
        super().__init__(batch, num_envs, render_mode, render_size, mode, copy)

    def _start(self, seed: Seed, which: NDArray[np.bool_], prepare: Prepare | None) -> None:
        self.batch.reset(seed, which)
        if prepare is not None:
            prepare(self.batch, which)

    def _over(self) -> NDArray[np.bool_]:
        return np.asarray(self.batch.actors == NOBODY)

    def _results(self) -> dict[str, NDArray[Any]]:
        final = self.batch.final_states[self.batch.terminations]
        points = final["points"].astype(np.int64)
        return {"points": points[:, 0], "neutral_points": points[:, 1], "won": self.batch.winners(final)[:, 0]}

    def _all_seats(self) -> Batch:
        return self.batch

    def _viewers(self) -> NDArray[np.int64]:
        return np.zeros(self.num_envs, np.int64)
