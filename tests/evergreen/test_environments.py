"""What is particular to Evergreen's environments; tests/contract has what all games keep to."""

from __future__ import annotations

import gymnasium
import pettingzoo
import pytest

import evergreen_env
from evergreen_env import evergreen_v0
from tabletop_engine.errors import ComponentsError, ConfigError

SOLO = "evergreen_env:Evergreen/Solo-v0"
VERSUS = "evergreen_env:Evergreen/Versus-v0"


def test_the_game_for_one_is_for_points() -> None:
    for reward in ("win", "margin"):
        with pytest.raises(ConfigError, match="alone there is nobody to win against"):
            gymnasium.make(SOLO, reward=reward)
    for arguments in ({"players": 2}, {"opponents": ("greedy",)}, {"seat": 0}):
        with pytest.raises(ConfigError, match="use it with Evergreen/Versus-v0"):
            gymnasium.make(SOLO, **arguments)
    with pytest.raises(ConfigError, match="the solo game is Evergreen/Solo-v0"):
        gymnasium.make(VERSUS, players=1)
    with pytest.raises(ConfigError, match="2, 3 or 4"):
        evergreen_v0.env(num_players=5)
    with pytest.raises(ComponentsError, match=r"flags\.sun_start: 'up'; allowed: \"north\" or"):
        gymnasium.make(SOLO, components={"flags.sun_start": "up"})
    with pytest.raises(ConfigError, match="unknown argument 'rounds'"):
        gymnasium.make(SOLO, rounds=4)


@pytest.mark.skipif(not hasattr(pettingzoo, "aec_registry"), reason="PettingZoo has a registry from 1.27 on")
def test_registry() -> None:
    assert evergreen_env.AEC_ID in pettingzoo.aec_registry
    made = pettingzoo.make("aec", evergreen_env.AEC_ID, num_players=3)
    assert made.possible_agents == ["player_0", "player_1", "player_2"]
