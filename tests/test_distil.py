"""Learning from targets: the games that give them, the buffer, the losses, the three sources, and the command."""

from __future__ import annotations

import csv
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from petrichor_env.config import VARIANTS, Config
from petrichor_env.game import GAME
from tabletop_agents import GreedyAgent, checkpoint_path, make_agent
from tabletop_agents.checkpoint import read_checkpoint, read_notes, save_network
from tabletop_agents.networks import Network
from tabletop_agents.policy import PolicyAgent
from tabletop_agents.search.forward import MARGIN_UNIT
from tabletop_agents.search.guided_search import GuidedSearchAgent
from tabletop_cli.petrichor import main as command
from tabletop_engine import seeds
from tabletop_engine.errors import CheckpointError, ConfigError
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_training.learn import distil
from tabletop_training.learn.distil import Distiller, FromOutcomes, FromSearch, OutcomeSettings, SearchSettings
from tabletop_training.learn.outcomes import heads_loss
from tabletop_training.learn.targets import Buffer, Columns, Targets, play_out, policy_targets
from tabletop_training.learn.task import Budget
from tests.games import connect_four
from tests.support.networks import network_for


def by_greedy(decisions: Decisions, generator: np.random.Generator) -> tuple[np.ndarray, Columns]:
    return GreedyAgent().act(decisions, generator), {}


# --- Targets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [1, 3])
def test_decisions_know_how_their_games_ended(players: int) -> None:
    config = Config(players=players)
    played = play_out(by_greedy, [config] * 6, 11)
    assert played is not None
    targets, won, margins = played
    assert won.shape == margins.shape == (6, players)
    assert targets["won"].shape == targets["margins"].shape == (len(targets["players"]), 5)
    assert (targets["players"] == players).all()
    assert (targets["won"][:, players:] == 0).all()
    assert (targets["masks"].sum(axis=1) > 1).all()
    # the same games again: each decision's seats clockwise from who was asked
    batch, generator, row = Batch(config, 6, 11, autoreset="disabled"), seeds.generator(11, seeds.Stream.TARGETS), 0
    while len(playing := np.flatnonzero(batch.actors >= 0)):
        decisions = Decisions.of(batch, playing)
        actions = np.zeros(6, np.int64)
        actions[playing], _ = by_greedy(decisions, generator)
        generator.random(len(playing))
        for number, game in enumerate(playing):
            if decisions.action_masks[number].sum() > 1:
                clockwise = [(batch.actors[game] + i) % players for i in range(players)]
                counts = targets["observations"][row]
                assert np.array_equal(counts / GAME.observation.divisors, decisions.observations[number])
                assert np.allclose(targets["won"][row, :players], won[game, clockwise])
                assert np.allclose(targets["margins"][row, :players], margins[game, clockwise] / MARGIN_UNIT)
                row += 1
        batch.step(actions, batch.actors >= 0)
    assert row == len(targets["players"])


def test_a_share_of_the_decisions_and_a_stop() -> None:
    everything, some = (play_out(by_greedy, [Config()] * 8, 5, share) for share in (1.0, 0.25))
    assert everything is not None
    assert some is not None
    assert 0.15 < len(some[0]["players"]) / len(everything[0]["players"]) < 0.35
    assert play_out(by_greedy, [Config()], 5, 1.0, lambda: True) is None


def numbered(first: int, count: int) -> Targets:
    numbers = torch.arange(first, first + count)
    return {"players": numbers, "won": numbers[:, None].float()}


def test_a_buffer_keeps_the_newest() -> None:
    buffer = Buffer(10)
    for first, count, kept in ((0, 4, range(4)), (4, 5, range(9)), (9, 5, range(4, 14)), (14, 25, range(29, 39))):
        buffer.add(numbered(first, count))
        assert len(buffer) == len(kept)
        drawn = buffer.draw(500)
        assert set(drawn["players"].tolist()) == set(kept)
        assert torch.equal(drawn["won"][:, 0], drawn["players"].float())


def test_the_loss_of_the_heads_by_hand() -> None:
    """One game for one. One for three, in which the second and the third from the actor share the victory."""
    won, margins = torch.zeros(2, 4), torch.zeros(2, 4)
    won[0, 0], won[1, 1:3] = 1.0, 0.5
    margins[0, 0], margins[1, :3] = 2.0, torch.tensor([-1.0, 0.5, 0.5])
    outputs = torch.zeros(2, 8)
    outputs[:, 0], outputs[0, 4] = 1.0, 1.5
    targets = {"won": won, "margins": margins, "teams": torch.tensor([1, 3])}
    alone, together = np.log(1 + np.exp(-1.0)), np.log(np.exp(1.0) + 2)
    squares = (0.25 + (1 + 0.25 + 0.25) / 3) / 2
    loss = heads_loss(outputs, targets)
    assert float(loss) == pytest.approx((alone + together) / 2 + 0.25 * squares)


def test_policy_targets_go_to_what_was_found_better() -> None:
    logits = np.log(np.array([[0.5, 0.3, 0.2, 1e-9]]))
    visits, utilities = np.array([[10.0, 8.0, 2.0, 0.0]]), np.array([[0.4, 0.6, 0.4, 0.0]])
    mean = (10 * 0.4 + 8 * 0.6 + 2 * 0.4) / 20
    expected = logits[0] + 20 * np.array([(0.4 - mean) * 10 / 12, (0.6 - mean) * 8 / 10, (0.4 - mean) * 2 / 4, 0.0])
    expected = np.exp(expected) / np.exp(expected).sum()
    assert np.allclose(policy_targets(logits, visits, utilities, 20.0, 2.0)[0], expected)
    unchanged = np.exp(logits) / np.exp(logits).sum()
    assert np.allclose(policy_targets(logits, np.eye(4)[:1], np.zeros((1, 4)), 20.0, 2.0), unchanged)


# --- Sources ---------------------------------------------------------------------------------------------------------


def test_outcomes_teach_who_wins() -> None:
    """The base game is nearly always won, the game with all variants rarely. At the start the heads say so."""
    network = read_checkpoint(GAME, checkpoint_path("solo", GAME))[0]
    network.win_margin_heads = None
    configs = [Config(), Config(variants=VARIANTS)]
    distiller = FromOutcomes(network, configs, Budget(), 3, OutcomeSettings(games=128, minibatch=512))
    rows = [distiller.iterate() for _ in range(6)]
    assert rows[-1] and rows[0] and rows[-1]["heads_loss"] < rows[0]["heads_loss"] - 0.2
    learned = distiller.playable()
    for part in ("trunk", "policy", "value"):
        assert same(getattr(network, part), getattr(learned, part))
    easy, hard = (Batch(config, 1, 0).observations for config in configs)
    assert learned.win_margin_heads is not None
    with torch.no_grad():
        hidden = [learned.trunk(torch.from_numpy(seen)) for seen in (easy, hard)]
        chances = [torch.sigmoid(learned.win_margin_heads(one)[0, 0]) for one in hidden]
    assert chances[0] > 0.8 > 0.6 > chances[1]


def same(one: Any, other: Any) -> bool:
    """Whether two modules have the same weights."""
    before, after = one.state_dict(), other.state_dict()
    return before.keys() == after.keys() and all(torch.equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("source", ["outcomes", "search"])
def test_equal_seeds_give_equal_weights(source: str) -> None:
    kind, game = distil.SOURCES[source], connect_four.GAME
    few: dict[str, Any] = {"games": 8, "minibatch": 64, "first": 1}
    few |= {"simulations": 4} if source == "search" else {}
    settings = kind.settings_type(**few)

    def learned(seed: int) -> Distiller:
        made = kind(network_for(game, seed=1), [game.config()], Budget(), seed, settings)
        for _ in range(2):
            made.iterate()
        return made

    assert same(learned(5).network, learned(5).network)
    assert not same(learned(5).network, learned(6).network)


def test_games_that_are_lost_are_played_more() -> None:
    """A search whose network knows nothing loses more often with all variants than without any."""
    configs = [Config(), Config(variants=VARIANTS)]
    made = FromOutcomes(network_for(GAME), configs, Budget(), 0, OutcomeSettings(games=64))
    curriculum = made.curricula[1]
    curriculum.update([configs[0]] * 60, np.ones(60), 0.0)
    made.iterate()
    assert curriculum.games.sum() == 60 + 64
    assert curriculum.shares[1] > curriculum.shares[0]


@pytest.mark.slow
def test_searching_makes_it_better() -> None:
    """A network that knows nothing of Connect Four learns, and the same search wins more against random play."""
    game = connect_four.GAME
    settings = SearchSettings(simulations=50, games=64, first=500, minibatch=512, passes=8, learning_rate=2e-3)
    start = network_for(game, seed=1)
    learning = FromSearch(start, [game.config()], Budget(steps=8_000), 0, settings)
    rows = []
    while learning.fraction < 1:
        row = learning.iterate()
        assert row is not None
        rows.append(row)
    # not the policy's loss: what it is to learn changes with what the search finds
    assert rows[-1]["heads_loss"] < rows[0]["heads_loss"]
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


# --- The command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A checkpoint of a small network for Petrichor's game for one with all variants, without win and margin heads."""
    path, network = tmp_path / "small.zip", network_for(GAME)
    network.win_margin_heads = None
    training = {"players": 1, "config": {"players": 1, "variants": list(VARIANTS)}, "curriculum": False}
    save_network(GAME, network, path, training)
    return path


def run(*words: Any) -> int:
    with pytest.raises(SystemExit) as ended:
        command([str(word) for word in words])
    return int(ended.value.code or 0)


def log_of(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "distil.csv").read_text(encoding="utf-8").splitlines()))


def test_outcomes(checkpoint: Path, tmp_path: Path) -> None:
    folder = tmp_path / "heads"
    words = ("distil", "outcomes", checkpoint, "--steps", 300, "--games", 64, "--output", folder, "--half")
    assert run(*words) == 0
    before, _ = read_checkpoint(GAME, checkpoint)
    after, notes = read_checkpoint(GAME, folder / "policy.zip")
    assert before.win_margin_heads is None
    assert after.win_margin_heads is not None
    assert notes["training"]["distil"]["outcomes"]["from"] == "small.zip"
    assert notes["training"]["players"] == 1
    assert int(log_of(folder)[-1]["decisions"]) >= 300
    make_agent(f"search-5:{folder / 'policy.zip'}", GAME)


def test_search(checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = SearchSettings(games=8, first=100, minibatch=64, evaluate_every=300, evaluation_games=4)
    monkeypatch.setattr(FromSearch, "default_settings", classmethod(lambda cls, device: few))
    folder = tmp_path / "search"
    assert run("distil", "search", checkpoint, "--steps", 900, "--simulations", 6, "--output", folder) == 0
    rows = log_of(folder)
    assert int(rows[-1]["decisions"]) >= 900
    assert any(row["score"] for row in rows)
    for name in ("policy.zip", "best.zip"):
        notes = read_notes(GAME, folder / name)
        assert notes["training"]["distil"]["search"]["settings"]["simulations"] == 6
        assert notes["training"]["players"] == 1
    make_agent(f"search-5:{folder / 'best.zip'}", GAME)


def test_ctrl_c_keeps_what_was_learned(checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learn, rounds = Distiller._learn, []

    def interrupted(self: Distiller, new: int, used: float) -> dict[str, float]:
        rounds.append(new)
        if len(rounds) == after:
            os.kill(os.getpid(), signal.SIGINT)
        return learn(self, new, used)

    monkeypatch.setattr(Distiller, "_learn", interrupted)
    after = 2
    assert run("distil", "outcomes", checkpoint, "--games", 16, "--output", tmp_path / "some") == 0
    assert len(log_of(tmp_path / "some")) == len(rounds) == 2
    make_agent(f"search-5:{tmp_path / 'some' / 'policy.zip'}", GAME)

    def choose_and_stop(*args: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return choose(*args)

    monkeypatch.setattr(FromOutcomes, "choose", choose_and_stop)
    assert run("distil", "outcomes", checkpoint, "--games", 16, "--output", tmp_path / "none") == 130
    assert not (tmp_path / "none").exists()


choose = FromOutcomes.choose


def test_what_cannot_be_learned_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "foreign.zip"
    save_network(GAME, network_for(GAME), path)
    for source in ("outcomes", "search"):
        with pytest.raises(CheckpointError, match=r"foreign\.zip: it does not say what it was trained for"):
            distil.main(GAME, source, str(path), output=tmp_path / "out")
    for given, text in (
        ({"source": "outlook"}, "source='outlook': must be one of 'outcomes', 'images', 'search'"),
        ({"source": "search", "device": "nowhere"}, "device='nowhere': torch has no such device here"),
        ({"source": "outcomes", "simulations": 5}, "simulations=5: not with outcomes"),
        ({"source": "search", "simulations": 0}, "simulations=0: must be at least 1"),
        ({"source": "search", "sampled": 2.0}, "sampled=2.0: must be from 0 to 1"),
        ({"source": "search", "passes": 0.0}, "passes=0.0: must be a finite number above 0"),
        ({"source": "search", "minutes": 0.0}, "minutes=0.0: must be more than 0"),
    ):
        with pytest.raises(ConfigError, match=text):
            distil.main(GAME, policy="solo", output=tmp_path / "out", **given)
    assert not (tmp_path / "out").exists()
