"""Learning from finished games: positions and what they came to, outlooks, expert iteration, their commands."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from petrichor_env.config import VARIANTS, Config
from petrichor_env.game import GAME
from tabletop import seeds
from tabletop.agents import Decisions
from tabletop.batch import Batch
from tabletop.errors import CheckpointError, ConfigError
from tabletop_agents import GreedyAgent, checkpoint_path, make_agent
from tabletop_agents.checkpoint import read_checkpoint, read_notes, save_network
from tabletop_agents.networks import Network
from tabletop_agents.policy import PolicyAgent
from tabletop_agents.search.guided_search import GuidedSearchAgent
from tabletop_cli.petrichor import main as command
from tabletop_training import expert, outlook
from tabletop_training.expert import Expert, ExpertSettings, wishes_of
from tabletop_training.learn.task import Budget
from tabletop_training.outlook import (
    POINTS,
    Outcomes,
    in_points,
    in_units,
    learn_outlook,
    new_outlook,
    outlook_losses,
)
from tabletop_training.positions import Chosen, Positions, Replay, play_positions
from tests.games import connect_four
from tests.support.networks import network_for


def by_greedy(decisions: Decisions, generator: np.random.Generator) -> Chosen:
    return Chosen(GreedyAgent().act(decisions, generator))


# --- Positions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [1, 3])
def test_positions_say_what_their_games_came_to(players: int) -> None:
    config = Config(players=players)
    played = play_positions(by_greedy, [config] * 6, 11, 1.0)
    assert played is not None
    positions, games = played
    assert games.won.shape == games.margins.shape == (6, players)
    assert positions.won.shape == positions.margins.shape == (len(positions.players), 5)
    assert (positions.players == players).all()
    assert (positions.won[:, players:] == 0).all()
    assert (positions.masks.sum(axis=1) > 1).all()
    assert (positions.wishes == 0).all() and (positions.shortfalls == 0).all()
    # the same games again: each position's seats clockwise from who was asked
    batch, generator, row = Batch(config, 6, 11, autoreset="disabled"), seeds.generator(11, seeds.Stream.POSITIONS), 0
    while len(playing := np.flatnonzero(batch.actors >= 0)):
        decisions = Decisions.of(batch, playing)
        actions = np.zeros(6, np.int64)
        actions[playing] = by_greedy(decisions, generator).actions
        generator.random(len(playing))
        for number, game in enumerate(playing):
            if decisions.action_masks[number].sum() > 1:
                actor = batch.actors[game]
                assert np.array_equal(positions.observations[row], decisions.observations[number].astype(np.float16))
                clockwise = [(actor + i) % players for i in range(players)]
                assert np.allclose(positions.won[row, :players], games.won[game, clockwise])
                assert np.allclose(positions.margins[row, :players], games.margins[game, clockwise])
                row += 1
        batch.step(actions, batch.actors >= 0)
    assert row == len(positions.players)


def test_a_share_of_the_positions_and_a_stop() -> None:
    everything, some = (play_positions(by_greedy, [Config()] * 8, 5, share) for share in (1.0, 0.25))
    assert everything is not None
    assert some is not None
    assert 0.15 < len(some[0].players) / len(everything[0].players) < 0.35
    assert play_positions(by_greedy, [Config()], 5, 1.0, lambda: True) is None


def numbered(first: int, count: int) -> Positions:
    numbers = np.arange(first, first + count)
    columns = numbers[:, None].astype(np.float32)
    small = columns.astype(np.float16)
    return Positions(small, columns > 0, small, small, columns, columns, numbers)


def test_a_replay_keeps_the_newest() -> None:
    replay, generator = Replay(10), np.random.default_rng(0)
    for first, count, kept in ((0, 4, range(4)), (4, 5, range(9)), (9, 5, range(4, 14)), (14, 25, range(29, 39))):
        replay.add(numbered(first, count))
        assert len(replay) == len(kept)
        drawn = replay.draw(generator, 500)
        assert set(drawn.players.tolist()) == set(kept)
        assert np.array_equal(drawn.won[:, 0], drawn.players)


# --- Outlooks --------------------------------------------------------------------------------------------------------


def test_losses_of_an_outlook_by_hand() -> None:
    """One game for one, one for three of whom the second and third from the asked one share the victory."""
    nothing = np.zeros((2, 4), np.float32)
    won, margins = nothing.copy(), nothing.copy()
    won[0, 0], won[1, 1:3] = 1.0, 0.5
    margins[0, 0], margins[1, :3] = 20.0, (-10.0, 5.0, 5.0)
    outcomes = Outcomes(torch.from_numpy(won), torch.from_numpy(margins), torch.tensor([1, 3]))
    said = torch.zeros(2, 8)
    said[:, 0], said[0, 4] = 1.0, 1.5
    win, margin = outlook_losses(said, outcomes)
    alone, together = np.log(1 + np.exp(-1.0)), np.log(np.exp(1.0) + 2)
    assert float(win) == pytest.approx((alone + together) / 2)
    assert float(margin) == pytest.approx((0.25 + (1 + 0.25 + 0.25) / 3) / 2)


def test_margins_are_learned_in_units_and_told_in_points() -> None:
    learned = new_outlook(7, 2)
    told, back = in_points(learned), in_units(in_points(learned))
    seen = torch.rand(3, 7)
    assert torch.allclose(told(seen)[:, :2], learned(seen)[:, :2])
    assert torch.allclose(told(seen)[:, 2:], POINTS * learned(seen)[:, 2:])
    assert torch.allclose(back(seen), learned(seen))


def test_an_outlook_learns_who_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The base game is won nearly always and the one with all variants seldom, and the outlook says so at the start."""
    monkeypatch.setattr(outlook, "MINIBATCH", {"cpu": 512})
    monkeypatch.setattr(outlook, "GAMES_AT_ONCE", {"cpu": 128})
    network, losses = read_checkpoint(GAME, checkpoint_path("solo", GAME))[0], []
    configs = [Config(), Config(variants=VARIANTS)]
    learned = learn_outlook(
        network, configs, Budget(steps=700), 3, on_progress=lambda used, games, loss: losses.append(loss)
    )
    assert losses[-1] < losses[0] - 0.2
    easy, hard = (Batch(config, 1, 0).observations for config in configs)
    with torch.no_grad():
        chances = [torch.sigmoid(learned(torch.from_numpy(seen))[0, 0]) for seen in (easy, hard)]
    assert chances[0] > 0.8 > 0.6 > chances[1]


# --- Expert iteration ------------------------------------------------------------------------------------------------


def test_wishes_go_to_what_was_found_better() -> None:
    logits = np.log(np.array([[0.5, 0.3, 0.2, 1e-9]]))
    visits, utilities = np.array([[10.0, 8.0, 2.0, 0.0]]), np.array([[0.4, 0.6, 0.4, 0.0]])
    mean = (10 * 0.4 + 8 * 0.6 + 2 * 0.4) / 20
    expected = logits[0] + 20 * np.array([(0.4 - mean) * 10 / 12, (0.6 - mean) * 8 / 10, (0.4 - mean) * 2 / 4, 0.0])
    expected = np.exp(expected) / np.exp(expected).sum()
    assert np.allclose(wishes_of(logits, visits, utilities, 20.0, 2.0)[0], expected)
    assert np.allclose(
        wishes_of(logits, np.eye(4)[:1], np.zeros((1, 4)), 20.0, 2.0), np.exp(logits) / np.exp(logits).sum()
    )


def test_an_expert_gets_better() -> None:
    """From knowing nothing of connect four: what it learns makes the same search win more against random play."""
    game = connect_four.GAME
    settings = ExpertSettings(simulations=50, games=64, first=500, minibatch=512, passes=8, learning_rate=2e-3)
    start = network_for(game, seed=1)
    learning = Expert(start, [game.config()], Budget(steps=8_000), 0, settings)
    rows = []
    while learning.fraction < 1:
        row = learning.iterate(lambda: False)
        assert row is not None
        rows.append(row)
    assert rows[-1]["policy_loss"] < rows[1]["policy_loss"]
    assert learning.iterate(lambda: True) is None
    numbers = learning.evaluate().numbers
    assert numbers["win_rate"] == numbers["win_rate_greedy"]
    assert 0 < numbers["win_rate"] < 1

    def wins(network: Network) -> float:
        agent = GuidedSearchAgent(PolicyAgent(network), 50)
        batch, generator = Batch(game.config(), 400, 77, autoreset="disabled"), np.random.default_rng(0)
        while (playing := batch.actors >= 0).any():
            actions = batch.random_actions()
            asked = np.flatnonzero(batch.actors == np.arange(400) % 2)
            if len(asked):
                actions[asked] = agent.act(Decisions.of(batch, asked), generator)
            batch.step(actions, playing)
        return float(batch.winners(batch.states)[np.arange(400), np.arange(400) % 2].mean())

    assert wins(learning.playable()) > wins(start) + 0.05


# --- Commands --------------------------------------------------------------------------------------------------------


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Of a small network for Petrichor's game for one with all variants, without an outlook."""
    path, network = tmp_path / "small.zip", network_for(GAME)
    network.win_margin_heads = None
    training = {"players": 1, "config": {"players": 1, "variants": list(VARIANTS)}, "curriculum": False}
    save_network(GAME, network, path, training)
    return path


def run(*words: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        command([str(word) for word in words])
    assert ended.value.code == 0


def test_train_outlook(checkpoint: Path, tmp_path: Path) -> None:
    folder = tmp_path / "outlook"
    run("train", "outlook", checkpoint, "--games", 512, "--output", folder)
    before, _ = read_checkpoint(GAME, checkpoint)
    after, notes = read_checkpoint(GAME, folder / "policy.zip")
    assert before.win_margin_heads is None
    assert after.win_margin_heads is not None
    assert notes["training"]["outlook"] == {"minutes": None, "games": 512, "seed": 0, "device": "cpu"}
    assert notes["training"]["players"] == 1
    assert torch.equal(before.policy[0].weight, after.policy[0].weight)  # type: ignore[arg-type]
    make_agent(f"search-5:{folder / 'policy.zip'}", GAME)


def test_train_expert(checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"games": 8, "first": 100, "minibatch": 64, "evaluate_every": 300, "evaluation_games": 4}
    monkeypatch.setattr(expert, "ExpertSettings", lambda: ExpertSettings(**few))
    monkeypatch.setattr(ExpertSettings, "simulations", 64)
    folder = tmp_path / "expert"
    run("train", "expert", checkpoint, "--steps", 900, "--simulations", 6, "--output", folder)
    rows = list(csv.DictReader((folder / "expert.csv").read_text(encoding="utf-8").splitlines()))
    assert int(rows[-1]["decisions"]) >= 900
    assert any(row["score"] for row in rows)
    for name in ("policy.zip", "best.zip"):
        notes = read_notes(GAME, folder / name)
        assert notes["training"]["expert"]["settings"]["simulations"] == 6
        assert notes["training"]["players"] == 1
    make_agent(f"search-5:{folder / 'best.zip'}", GAME)


def test_what_was_not_trained_here_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "foreign.zip"
    save_network(GAME, network_for(GAME), path)
    for teach in (outlook.main, expert.main):
        with pytest.raises(CheckpointError, match=r"foreign\.zip: it does not say what it was trained for"):
            teach(GAME, str(path), output=tmp_path / "out")
    with pytest.raises(ConfigError, match="device='nowhere': torch has no such device here"):
        expert.main(GAME, "solo", device="nowhere", output=tmp_path / "out")
    with pytest.raises(ConfigError, match="simulations=0: must be at least 1"):
        ExpertSettings(simulations=0)
    with pytest.raises(ConfigError, match=r"sampled=2\.0: must be from 0 to 1"):
        ExpertSettings(sampled=2.0)
    with pytest.raises(ConfigError, match=r"passes=0\.0: must be more than 0"):
        ExpertSettings(passes=0.0)
