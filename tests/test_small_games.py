"""What is particular to the small games of tests/games; tests/contract has what all games keep to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sb3_contrib import MaskablePPO

from tabletop_agents import make_agent
from tabletop_engine.errors import ComponentsError, ConfigError
from tabletop_engine.game import Game
from tabletop_engine.play.agents import Decisions, ask
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.learner_games import learner_games
from tabletop_training.learn.vec_env import SeatsVecEnv
from tests.games import leduc_poker
from tests.games.playthroughs import FOLDER, GAMES, told

pytestmark = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)


def test_playthrough(game: Game) -> None:
    """After a change of the rules: `python -m tests.games.playthroughs`, then read what has changed."""
    assert told(game) == (FOLDER / f"{game.name}.txt").read_text(encoding="utf-8")


def test_bad_configurations(game: Game) -> None:
    for players in (1, 3, True, "2"):
        with pytest.raises(ConfigError, match="players="):
            game.config(players=players)
    with pytest.raises(ConfigError, match="no numbers to replace"):
        game.config(components="numbers.toml")
    with pytest.raises(ComponentsError, match="no numbers to replace"):
        game.load_tables("numbers.toml")


def test_text_shows_that_a_card_is_hidden(game: Game) -> None:
    text = game.drawing.render_text(Batch(game.config(), 1, 1).states[0], viewer=0)
    assert ("a hidden card" in text) == (game is leduc_poker.GAME)


@pytest.mark.parametrize("name", ["greedy", "rollout-4", "ismcts-50"])
def test_agents_beat_random_ones(game: Game, name: str) -> None:
    """They win from either seat, and do not disturb the games' own chance."""
    games = learner_games(game.config(), 50, ("random",), seed=1)
    agent, generator = make_agent(name, game), np.random.default_rng(0)
    gained: list[int] = []
    while len(gained) < 400:
        before = games.batch.states.tobytes()
        actions = ask(agent, Decisions.of(games.batch), generator)
        assert games.batch.states.tobytes() == before
        games.step(actions)
        gained += games.results()["points"].tolist()
    assert np.mean(gained) > 2 * np.std(gained) / np.sqrt(len(gained))


def test_maskable_ppo(game: Game) -> None:
    """MaskablePPO learns for 5,000 steps on the VecEnv, where an illegal action would be an error."""
    games = learner_games(game.config(), 50, ("random",), seed=1, illegal_action="raise")
    env = SeatsVecEnv(games)
    model = MaskablePPO("MlpPolicy", env, n_steps=20, batch_size=250, n_epochs=1, seed=1, device="cpu")
    won: list[float] = []

    def note(told: dict[str, Any], _: dict[str, Any]) -> bool:
        won.extend(info["won"] for info in told["infos"] if info)
        return True

    model.learn(5000, callback=note)
    assert model.num_timesteps == 5000 and len(won) > 300
    assert set(won) <= {0.0, 0.5, 1.0} and 0.3 < np.mean(won) < 0.9
