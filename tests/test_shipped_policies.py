"""The policies that come with the package: they fit this version, and play as well as docs/shipped-policies.md says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from petrichor_env import GAME
from petrichor_env.config import MODULES, VARIANTS, Config
from tabletop_agents import POLICIES, Decisions, GreedyAgent, checkpoint_path, make_agent, shipped_policies
from tabletop_agents.checkpoint import read_notes
from tabletop_agents.policy import PolicyAgent
from tabletop_engine.errors import CheckpointError, ConfigError, TabletopError
from tabletop_engine.play.agents import check_agents
from tabletop_engine.play.batch import Batch
from tabletop_training.measure.evaluation import play_games
from tabletop_training.measure.matches import evaluate


def test_there_are_two() -> None:
    assert shipped_policies(GAME) == ("solo", "versus")
    for name, players in (("solo", 1), ("versus", [2, 3, 4, 5])):
        path = POLICIES / "petrichor" / f"{name}.zip"
        assert path.stat().st_size < 4_500_000
        assert read_notes(GAME, path)["training"]["players"] == players


def test_the_solo_policy_wins_where_greedy_rarely_does() -> None:
    """With Double card, on the same games, it wins about nine of ten, and greedy about one of four."""
    config = Config(variants=("double_card",))
    policy, greedy = (
        play_games([agent], config, 150, 77) for agent in (make_agent("policy:solo", GAME), GreedyAgent())
    )
    assert policy.won.mean() > 0.8
    assert greedy.won.mean() < 0.4


def test_the_solo_policy_wins_in_the_hardest_set() -> None:
    """It wins about four of ten games with all four variants. Greedy wins none of a hundred."""
    assert play_games([make_agent("policy:solo", GAME)], Config(variants=VARIANTS), 400, 77).won.mean() > 0.3


@pytest.mark.parametrize(
    ("opponent", "config", "games", "at_least"),
    [
        pytest.param("random", Config(players=2), 100, 0.85, marks=pytest.mark.slow),
        pytest.param("greedy", Config(players=2), 200, 0.8, marks=pytest.mark.slow),
        ("greedy", Config(players=3, modules=MODULES), 150, 0.65),
        pytest.param("greedy", Config(players=5), 200, 0.65, marks=pytest.mark.slow),
    ],
    ids=lambda value: value.name if isinstance(value, Config) else str(value),
)
def test_the_policy_of_several_players_wins_against(opponent: str, config: Config, games: int, at_least: float) -> None:
    others = [make_agent(opponent, GAME) for _ in range(config.players - 1)]
    report = evaluate([make_agent("policy:versus", GAME), *others], config, games, 77).reports[0]
    assert report.estimates["win_rate"].low > at_least


def test_sampling_draws_from_the_probabilities() -> None:
    policy = make_agent("policy-sample:versus", GAME)
    assert isinstance(policy, PolicyAgent)
    assert policy.name == "policy-sample:versus"
    batch = Batch(Config(players=2), 1, seed=3)
    many = Decisions(
        GAME,
        np.repeat(batch.states, 4000),
        batch.tables,
        np.repeat(batch.observations, 4000, 0),
        np.repeat(batch.action_masks, 4000, 0),
    )
    generator = np.random.default_rng(0)
    expected = policy.probabilities(many, generator)[0]
    assert expected.sum() == pytest.approx(1)
    assert (expected[batch.action_masks[0] == 0] == 0).all()
    counts = np.bincount(policy.act(many, generator), minlength=len(expected))
    assert (np.abs(counts - 4000 * expected) <= 5 * np.sqrt(4000 * expected * (1 - expected)) + 1).all()
    likeliest = make_agent("policy:versus", GAME).act(many, generator)
    assert (likeliest == expected.argmax()).all()


def test_policies_refuse_games_that_they_were_not_trained_for() -> None:
    solo, versus = make_agent("policy:solo", GAME), make_agent("policy:versus", GAME)
    check_agents([solo], Config(variants=("one_more_turn",)))
    with pytest.raises(ConfigError, match="policy:solo was trained for the solo game, and this is a game of 2"):
        check_agents([solo, versus], Config(players=2))
    with pytest.raises(ConfigError, match="policy:versus was trained for 2, 3, 4 or 5 players, and this is the solo"):
        check_agents([versus], Config())
    assert isinstance(versus, PolicyAgent)
    two_or_four = PolicyAgent(versus.network, players=(2, 4))
    two_or_four.check(Config(players=4))
    with pytest.raises(ConfigError, match="policy was trained for 2 or 4 players, and this is a game of 3"):
        two_or_four.check(Config(players=3))


@pytest.mark.parametrize("name", ["policy:solo", "policy-sample:versus", "search-10:solo"])
def test_agents_with_a_network_say_what_they_need(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def import_module(module: str) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr("tabletop_engine.extras.import_module", import_module)
    with pytest.raises(TabletopError, match=rf"agent '{name}' needs the extra \"policy\": pip install"):
        make_agent(name, GAME)


def test_a_folder_of_that_name_is_no_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After `train solo` there is a folder `solo` in `runs/`. There, too, `solo` means the shipped policy."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "solo").mkdir()
    assert checkpoint_path("solo", GAME) == POLICIES / "petrichor" / "solo.zip"
    (tmp_path / "versus").write_bytes(b"mine")
    assert checkpoint_path("versus", GAME) == Path("versus")
    with pytest.raises(CheckpointError, match="is no file, nor a shipped policy"):
        checkpoint_path(".", GAME)


def test_unknown_policies_are_refused_with_those_there_are() -> None:
    with pytest.raises(CheckpointError, match=r"nobody: there is no such file, nor a shipped .*solo, versus"):
        make_agent("policy:nobody", GAME)
