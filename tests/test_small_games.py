"""What is particular to the small games of tests/games; tests/contract has what all games keep to."""

from __future__ import annotations

import numpy as np
import pytest

from tabletop_agents import make_agent
from tabletop_engine.errors import ComponentsError, ConfigError
from tabletop_engine.game import Game
from tabletop_engine.play.agents import Decisions, ask
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.learner_games import learner_games
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
