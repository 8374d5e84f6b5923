"""The curriculum: which levels are open, and which configurations are preferred."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from petrichor_env.config import Config
from tabletop_training.learn.curriculum import Curriculum


def _ended(curriculum: Curriculum, won: float, games: int = 60) -> tuple[list[Any], np.ndarray]:
    """End this many games of every open set; the share `won` was won."""
    configs = [config for config, on in zip(curriculum.configs, curriculum.open, strict=True) if on]
    wins = np.tile(np.arange(games) < won * games, len(configs)) * 1.0
    return [config for config in configs for _ in range(games)], wins


def test_the_curriculum_opens_levels_by_win_rate() -> None:
    curriculum = Curriculum(Config().curriculum(), threshold=0.5, latest=0.4, seed=0)
    assert curriculum.shares.tolist() == [1.0] + [0.0] * 15
    assert set(curriculum.choose(np.arange(30))) == {Config()}
    curriculum.update(*_ended(curriculum, 0.75, games=40), 0.0)
    assert curriculum.level == 0  # too few games for a decision
    curriculum.update(*_ended(curriculum, 0.4, games=400), 0.0)
    assert curriculum.level == 0
    for level in range(1, 5):
        curriculum.update(*_ended(curriculum, 0.9, games=400), 0.0)
        assert curriculum.level == level
    assert curriculum.open.all()
    curriculum.update(*_ended(curriculum, 0.9), 0.0)
    assert curriculum.level == 4


def test_win_rates_are_those_of_the_latest_games() -> None:
    """Each game moves a win rate by one part in 200 of the difference, however many games there were before."""
    curriculum = Curriculum([[Config()]], threshold=1.0, latest=1.0, seed=0)
    curriculum.update([Config()] * 5000, np.zeros(5000), 0.0)
    curriculum.update([Config()] * 200, np.ones(200), 0.0)
    assert curriculum.win_rates[0] == pytest.approx(1 - (1 - 1 / 200) ** 200)


def test_the_curriculum_opens_levels_in_time_without_wins() -> None:
    curriculum = Curriculum(Config().curriculum(), threshold=0.5, latest=0.4, seed=0)
    levels = []
    for fraction in (0.05, 0.099, 0.1, 0.15, 0.2, 0.301, 0.4):
        curriculum.update(*_ended(curriculum, 0.0), fraction)
        levels.append(curriculum.level)
    assert levels == [0, 0, 1, 1, 2, 3, 4]


def test_the_curriculum_prefers_what_is_lost() -> None:
    curriculum = Curriculum(Config().curriculum(), threshold=0.5, latest=0.1, seed=0)
    curriculum.level = 1
    curriculum.win_rates[:5] = 1.0, 0.8, 0.8, 0.8, 0.6
    assert curriculum.shares == pytest.approx([0.1, 0.2, 0.2, 0.2, 0.3] + [0.0] * 11)
    chosen = curriculum.choose(np.arange(4000))
    counts = [chosen.count(config) for config in curriculum.configs[:5]]
    assert np.abs(np.array(counts) / 4000 - curriculum.shares[:5]).max() < 0.03
    curriculum.win_rates[:] = 1.0
    assert curriculum.shares[:5] == pytest.approx([0.2] * 5)
