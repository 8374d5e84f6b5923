"""The small games through learning, replays, matches, tournaments, and the command line that is made for a game."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sb3_contrib import MaskablePPO

from tabletop_agents import make_agent
from tabletop_cli.__main__ import main
from tabletop_engine.game import Game
from tabletop_engine.play.learner_games import learner_games
from tabletop_training.learn.vec_env import SeatsVecEnv
from tabletop_training.measure.matches import evaluate
from tabletop_training.measure.tournament import play_tournament
from tests.games import connect_four, leduc_poker

pytestmark = pytest.mark.parametrize("game", [connect_four.GAME, leduc_poker.GAME], ids=lambda game: game.name)


def run(game: Game, *words: str) -> None:
    """The game's command with these words, which must succeed."""
    with pytest.raises(SystemExit) as ended:
        main([game.home, *words])
    assert not ended.value.code


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


def test_evaluate(game: Game) -> None:
    result = evaluate([make_agent("rollout-4", game), make_agent("random", game)], game.config(), games=200)
    strong, weak = result.reports
    assert strong.games == weak.games == 200
    assert strong.estimates["margin"].low > 0 > weak.estimates["margin"].high
    assert strong.estimates["points"].value == -weak.estimates["points"].value


def test_tournament(game: Game) -> None:
    agents = [make_agent(name, game) for name in ("random", "rollout-4", "ismcts-50")]
    tournament = play_tournament(agents, game.config(), games=60)
    assert tournament.labels[-1] == "random" and tournament.finished


def test_command_line(game: Game, tmp_path: Path, capsys: Any) -> None:
    run(game, "--version")
    run(game, "evaluate", "greedy", "random", "--games", "20", "--output", str(tmp_path / "evaluated"))
    run(
        *(game, "tournament", "random", "greedy", "rollout-2", "--games", "8", "--output", str(tmp_path / "played")),
        *("--save-replays", str(tmp_path / "replays")),
    )
    first = sorted((tmp_path / "replays").rglob("*.json"))[0]
    run(game, "replay", str(first), "--html", str(tmp_path / "game.html"))
    assert (tmp_path / "game.html").stat().st_size > 1000
    assert any((tmp_path / "evaluated").rglob("*.csv")) and any((tmp_path / "played").rglob("*.csv"))
    assert f"{game.name} {game.version}" in capsys.readouterr().out


def test_command_line_tells_what_is_wrong(game: Game, capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main([game.home, "evaluate", "nobody", "random"])
    assert ended.value.code == 2 and "agent 'nobody'" in capsys.readouterr().err
