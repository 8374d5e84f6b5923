"""Levels: opponents for people, whose steps were measured for each number of players."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.levels import ahead, candidates
from evergreen_env.game import GAME as EVERGREEN
from petrichor_env.game import GAME as PETRICHOR
from tabletop_agents import agent_file, make_agent
from tabletop_agents.levels import FILE, LEVELS, levels_of
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Game
from tabletop_engine.play.agents import Decisions, ask
from tabletop_engine.play.batch import Batch
from tabletop_training.files.provenance import agent_hash
from tabletop_training.measure.results import Results
from tests.games.leduc_poker import GAME as LEDUC

GAMES = (PETRICHOR, EVERGREEN)
SEVERAL = [(game, players) for game in GAMES for players in game.players if players > 1]


@pytest.mark.parametrize(("game", "players"), SEVERAL)
def test_each_level_is_a_step_above_the_one_below(game: Game, players: int) -> None:
    levels = levels_of(game, players)
    assert [one.number for one in levels] == list(range(1, LEVELS + 1))
    assert levels[0].won is None
    names = candidates(100)
    places = [names.index(one.agent) for one in levels]
    assert all(low < high for low, high in pairwise(places)), "weaker agents are behind lower levels"
    for one in levels[1:]:
        assert one.won is not None and one.games >= 400
        won, low, high = one.won
        assert low <= won <= high
        assert low < 0.65 and high > 0.6, "its interval meets 60 to 65 %"


@pytest.mark.parametrize("game", GAMES)
def test_levels_were_measured_with_the_shipped_policy(game: Game) -> None:
    assert json.loads(FILE.read_text(encoding="utf-8"))[game.name]["checkpoint"] == agent_hash("policy:versus", game)


def test_nobody_plays_levels_where_none_were_measured() -> None:
    assert levels_of(PETRICHOR, 1) == () == levels_of(LEDUC, 2)
    with pytest.raises(ConfigError, match=r"^agent 'level-9': Petrichor has no such level$"):
        make_agent("level-9", PETRICHOR)
    with pytest.raises(ConfigError, match=r"has no such level"):
        make_agent("level-1", LEDUC)
    with pytest.raises(ConfigError, match=r"^level-3 is for 2, 3, 4 or 5 players, and this is 1$"):
        make_agent("level-3", PETRICHOR).check(PETRICHOR.config(players=1))
    assert agent_file("level-3", PETRICHOR) == FILE


@pytest.mark.parametrize("players", [2, 3])
def test_a_level_plays_as_its_agent_for_this_number_of_players(players: int) -> None:
    level, behind = make_agent("level-2", EVERGREEN), levels_of(EVERGREEN, players)[1].agent
    assert level.name == "level-2"
    batch = Batch(EVERGREEN.config(players=players), 12, 5)
    for _ in range(6):
        batch.step(batch.random_actions())
    decisions = Decisions.of(batch)
    actions = ask(level, decisions, np.random.default_rng(3))
    assert (actions == make_agent(behind, EVERGREEN).act(decisions, np.random.default_rng(3))).all()
    nothing = Decisions.of(batch, np.empty(0, np.int64))
    assert ask(level, nothing, np.random.default_rng(3)).shape == (0,)


def test_pairs_are_counted_by_seed() -> None:
    """Seed 7: once ahead of both, once a tie and a loss; seed 8: ahead of one, behind the other, whoever sits where."""
    results = Results(
        PETRICHOR.config(players=3),
        ("upper", "lower", "lower"),
        7,
        points=np.zeros((4, 3), np.int64),
        places=np.array([[1, 2, 3], [1, 2, 2], [2, 1, 3], [3, 1, 2]]),
        lengths=np.ones(4, np.int64),
        seeds=np.array([7, 7, 8, 8]),
        lineups=np.array([[0, 1, 2], [1, 2, 0], [0, 1, 2], [1, 2, 0]]),
    )
    assert ahead(results).tolist() == [0.5 * (1.0 + 0.25), 0.5 * (0.5 + 0.5)]
