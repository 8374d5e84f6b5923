"""Petrichor for 2 to 5 players as a PettingZoo AEC environment: `env()`, or `raw_env()` without wrappers.

`pettingzoo.make("aec", "petrichor/petrichor-v0", num_players=3)` makes it, too, after `import petrichor_env`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from pettingzoo import AECEnv

from petrichor_env.game import GAME
from tabletop_engine.envs.aec import Observation, SeatsAEC, wrapped
from tabletop_engine.envs.arguments import AECArguments, check_num_players

__all__ = ["env", "raw_env"]


class raw_env(SeatsAEC):  # noqa: N801
    """Petrichor for 2 to 5 players, all seats. What holds for every environment of all seats is in
    `tabletop_engine.envs.aec.SeatsAEC`.

    ## Description

    A turn has several small decisions. The agents are `player_0`, `player_1` and so on, in clockwise order. An agent
    that has several decisions in a row stays selected. Promos and modules of the Flowers expansion can be added.

    ```python
    from petrichor_env.petrichor_v0 import env as make_env

    env = make_env(num_players=5)
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        action = None if termination or truncation else env.action_space(agent).sample(observation["action_mask"])
        env.step(action)
    ```

    ## Observation Space

    `Dict(observation=Box(0, 20, (807,), float32), action_mask=Box(0, 1, (143,), int8))`, in the named blocks of
    `petrichor_env.observation.LAYOUT`.

    With the module `forecasts`, only agents who hold a forecast card that can be played now are asked for one. The
    others' observations don't show who that is: their blocks `decision` and `actor` are zeros during this decision.
    But the selected agent can't be hidden. A policy that looks at `agent_selection`, or observes between its own
    decisions, knows more than a player at the table.

    ## Action Space

    `Discrete(143)`, with the names of `petrichor_env.actions.ACTION_NAMES`.

    ## Rewards

    `win` (default), `margin` or `points`: as in `SeatsAEC`.

    ## Starting State

    The tiles and the cards are random, and the first player is drawn. `reset(options={"scenario": {...}})` starts from
    a position that `petrichor_env.scenario` takes.

    ## Episode End

    The end of the last round, or an illegal action. The last infos have `points`, `won` and `illegal`.

    ## Arguments

    - `num_players`: 2, 3, 4 or 5.
    - `rounds`: 4 (short form) or 6 (long form).
    - `drafting`: True for the Official Drafting Variant.
    - `modules`: any of `fertilizer`, `cactus`, `lake`, `flower_tiles`, `powers`, `forecasts` (promos and Flowers).
    - `powers`: with the module `powers`, one for each player from seat 0, all different: `frost`, `sun`, `wind`,
      `rain`, `harvest`; () deals them at random.
    - `readings` and `components`: as in `petrichor_env.Config`.
    - `reward`, `illegal_action`, `action_mask`, `observation_dtype`, `editions`, `observe_numbers` (173 more values),
      `render_mode` and `render_size`: as in `SeatsAEC`.

    ## Errors

    Those of `SeatsAEC`, and `ConfigError` for what can't be played.

    ## Version History

    - v0: first version.
    """

    def __init__(
        self,
        num_players: int = 2,
        *,
        rounds: int = 4,
        drafting: bool = False,
        modules: Sequence[str] = (),
        powers: Sequence[str] = (),
        readings: Sequence[str] = (),
        components: Any = None,
        **arguments: Unpack[AECArguments],
    ):
        config = GAME.config(
            players=check_num_players(GAME, num_players),
            rounds=rounds,
            drafting=drafting,
            modules=modules,
            powers=powers,
            readings=readings,
            components=components,
        )
        super().__init__("petrichor_v0", config, **arguments)


def env(**kwargs: Any) -> AECEnv[str, Observation, int | None]:
    """`raw_env(**kwargs)` in PettingZoo's wrappers, which refuse actions outside the space and out of turn."""
    return wrapped(raw_env(**kwargs))
