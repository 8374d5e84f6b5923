"""Networks that weigh the shortfalls of actions: the numbers, the logits, files, play, search and training."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evergreen_env.game import GAME as EVERGREEN
from petrichor_env.config import MODULES, VARIANTS, Config
from petrichor_env.game import GAME
from tabletop_agents import GreedyAgent, make_agent
from tabletop_agents.checkpoint import MEMBER, read_checkpoint, save_network
from tabletop_agents.networks import Network, flat_network, with_shortfall_weight
from tabletop_agents.policy import PolicyAgent
from tabletop_agents.search.guided_search import GuidedSearchAgent, guided_search_for, new_guided_tree, settings_record
from tabletop_agents.search.guided_tree import WALK_NODES
from tabletop_agents.search.shortfalls import MOST_SHORTFALL, shortfalls
from tabletop_engine.errors import CheckpointError, ConfigError
from tabletop_engine.game import Game
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_training.files.settings import Settings
from tabletop_training.learn import distil, train
from tabletop_training.learn.games import SeatGames
from tabletop_training.learn.learner import Learner
from tabletop_training.learn.opponents import Opponents, OpponentSettings
from tabletop_training.learn.plan import Plan
from tabletop_training.learn.ppo import masked_log_probabilities
from tabletop_training.learn.task import Budget, EvaluationSettings, GamesSettings
from tests.games import connect_four
from tests.support.hidden import what_is_hidden_changed
from tests.support.networks import network_for
from tests.support.play import in_the_middle

CONFIGS = [Config(variants=VARIANTS), Config(players=2), Config(players=3, modules=MODULES), Config(players=5)]
SMALL = Settings(num_envs=8, steps=60, minibatch=128, trunk=(16,), layers=(16,), threads=1)


def weighing_network(game: Game = GAME, weight: float = 2.0, **options: Any) -> Network:
    return with_shortfall_weight(network_for(game, **options), weight)


def generator() -> np.random.Generator:
    return np.random.default_rng(7)


# --- The numbers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_shortfalls_are_differences_of_what_greedy_looks_at(config: Config) -> None:
    capped = 0
    for steps in (0, 15, 40):
        decisions = Decisions.of(in_the_middle(config, 40, steps))
        found = shortfalls(decisions, generator())
        values = GreedyAgent().assess(decisions, generator()).values
        assert values is not None
        several = decisions.action_masks.sum(axis=1) > 1
        expected = np.nan_to_num(np.nanmax(values, axis=1, keepdims=True) - values) * several[:, None]
        assert found.shape == decisions.action_masks.shape and found.dtype == np.float32
        assert np.allclose(found, np.minimum(expected, MOST_SHORTFALL), atol=1e-4)
        assert (found[decisions.action_masks == 0] == 0).all()
        assert ((found == 0) & (decisions.action_masks == 1)).any(axis=1).all()
        capped += int((expected > MOST_SHORTFALL).sum())
        assert np.array_equal(found, shortfalls(decisions, generator(), num_threads=1))
    assert capped or config.players > 1  # the limit is reached in the games for one


@pytest.mark.parametrize("config", [Config(players=2, modules=MODULES), Config(players=4, drafting=True)])
def test_shortfalls_do_not_tell_what_is_hidden(config: Config) -> None:
    for steps in (0, 10, 25, 40):
        original, redrawn = what_is_hidden_changed(config, 64, steps)
        assert np.array_equal(shortfalls(original, generator()), shortfalls(redrawn, generator()))


# --- Networks --------------------------------------------------------------------------------------------------------


def test_logits_are_lowered_by_the_weight_times_the_shortfall() -> None:
    plain, network = network_for(GAME), weighing_network(weight=1.5)
    seen, masks = torch.rand(6, GAME.observation.size), np.ones((6, GAME.num_actions), np.int8)
    fallen = torch.rand(6, GAME.num_actions) * 10
    hidden = network.trunk(seen)
    before = plain.logits(plain.trunk(seen), None)
    assert torch.allclose(network.logits(hidden, fallen), before - 1.5 * fallen, atol=1e-4)
    assert not plain.weighs and network.weighs
    half = with_shortfall_weight(plain, 1.5, 0.5)
    assert torch.allclose(half.logits(hidden, fallen), 0.5 * before - 1.5 * fallen, atol=1e-4)
    with torch.no_grad():  # the weight depends on the observation
        network.policy[-1].weight[-1] += 0.3  # type: ignore[operator, index]
    said = network.policy(hidden)
    weights = torch.log1p(torch.exp(said[:, -1:]))
    assert weights.std() > 0
    assert torch.allclose(network.logits(hidden, fallen), said[:, :-1] - weights * fallen, atol=1e-4)
    told = network.log_probabilities(seen.numpy(), masks, fallen.numpy())
    assert np.allclose(np.exp(told).sum(axis=1), 1.0, atol=1e-5)


def test_checkpoints_keep_it(tmp_path: Path) -> None:
    network, path = weighing_network(), tmp_path / "policy.zip"
    save_network(GAME, network, path, {"players": 2})
    read, _ = read_checkpoint(GAME, path)
    assert read.weighs
    seen, masks = np.random.default_rng(0).random((2, 3, GAME.observation.size)).astype(np.float32), np.ones((3, 143))
    fallen = np.full((3, 143), 2.0, np.float32)
    told, before = (one.log_probabilities(seen[0], masks, fallen) for one in (read, network))
    assert np.array_equal(told, before)
    wider = with_shortfall_weight(network, 1.0)  # two numbers more than there are actions
    save_network(GAME, wider, path)
    with pytest.raises(CheckpointError, match="its heads give 145 and 1 numbers, not 143, 1"):
        read_checkpoint(GAME, path)
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read(MEMBER))["num_actions"] == 143


# --- Play ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_a_network_of_zeros_plays_what_greedy_thinks_best(config: Config) -> None:
    agent = PolicyAgent(weighing_network(weight=3.0, size=0.0))
    for steps in (3, 20, 45):
        decisions = Decisions.of(in_the_middle(config, 30, steps))
        fallen = shortfalls(decisions, generator())
        actions = agent.act(decisions, generator())
        assert (fallen[np.arange(30), actions] == 0).all()
        shares = agent.probabilities(decisions, generator())
        expected = np.exp(-3.0 * fallen) * decisions.action_masks
        assert np.allclose(shares, expected / expected.sum(axis=1, keepdims=True), atol=1e-5)
        told = agent.assess(decisions, generator())
        assert told.shares is not None and np.array_equal(told.shares, shares)
        assert np.array_equal(told.actions, actions)


@pytest.mark.parametrize("config", [Config(variants=VARIANTS), Config(players=2), Config(players=4, modules=MODULES)])
def test_the_search_has_the_priors_of_the_policy(config: Config) -> None:
    """Checked at the root, where both see the same position with the same hidden cards."""
    network, checked = weighing_network(weight=0.7), 0
    search = guided_search_for(GAME)
    for steps in range(4, 60, 4):
        batch = in_the_middle(config, 1, steps)
        if (batch.action_masks.sum(axis=1) < 2).any():
            continue
        decisions = Decisions.of(batch)
        fallen = shortfalls(decisions, generator(), WALK_NODES)
        others = (shortfalls(decisions, np.random.default_rng(i), WALK_NODES) for i in range(5))
        if not all(np.array_equal(fallen, other) for other in others):
            continue  # the walk's result depends on hidden cards
        root, flat, settings = batch.states.copy(), flat_network(network), settings_record({"temperature": 1.0})
        tree, guide = new_guided_tree(GAME, flat, 4, closed=config.players == 1)
        search.search_guided_tree(root, batch.tables, settings, flat, tree, guide, 2)
        priors, edge = np.zeros(GAME.num_actions), tree.nodes[0]["edge"]
        while edge:
            priors[tree.edges[edge]["action"]] = tree.edges[edge]["prior"]
            edge = tree.edges[edge]["sibling"]
        told = network.log_probabilities(decisions.observations, decisions.action_masks, fallen)
        assert np.allclose(priors, np.exp(told[0]) * decisions.action_masks[0], atol=1e-4)
        checked += 1
    assert checked > 5


def test_searches_with_it_do_not_tell_what_is_hidden() -> None:
    agent = GuidedSearchAgent(PolicyAgent(weighing_network()), 40)
    original, redrawn = what_is_hidden_changed(Config(players=3, modules=MODULES), 8, 20)
    first, second = (agent.search(decisions, generator()) for decisions in (original, redrawn))
    assert np.array_equal(first, second)


# --- Training --------------------------------------------------------------------------------------------------------


def test_rollouts_keep_what_was_weighed(tmp_path: Path) -> None:
    """The stored log-probabilities fit the stored shortfalls, and these fit the stored positions."""
    network = weighing_network()
    rival = tmp_path / "rival.zip"
    save_network(GAME, network_for(GAME, seed=3), rival, {"players": [2, 5]})
    wanted = GamesSettings((2, 5), {"modules": MODULES})
    curricula = wanted.curricula(GAME, 5)
    configs = [one.configs[0] for one in curricula.values()]
    opponents = Opponents(OpponentSettings(agents={f"policy:{rival}": 1.0}), configs, tmp_path, 5)
    games = SeatGames(curricula, 8, SMALL, 5, opponents, weighs=True)
    first = shortfalls(Decisions.of(games.batches[0]), generator())  # hidden cards do not matter for the first decision
    rollout, _ = games.play(network, 90)
    assert rollout.shortfalls.shape == rollout.masks.shape
    rows = rollout.deciding
    assert rows.sum() > 50
    hidden = network.trunk(games.inputs(rollout.observations[rows], rollout.editions[rows]))
    logits = network.logits(hidden, rollout.shortfalls[rows].float())
    told = masked_log_probabilities(logits, rollout.masks[rows]).gather(1, rollout.actions[rows][:, None])[:, 0]
    assert torch.allclose(told, rollout.log_probabilities[rows], atol=1e-5)
    fallen = torch.where(rollout.masks, rollout.shortfalls.float(), torch.inf)
    assert (fallen[rollout.masks.sum(dim=2) > 1].min(dim=1).values == 0).all()
    assert np.allclose(rollout.shortfalls[0, :4].numpy(), first, atol=1e-2)


WEIGHS = Settings(**{**vars(SMALL), "shortfall_weight": 0.5})
FOR_TWO = GamesSettings((2,))
FEW = EvaluationSettings(games=2)


def test_a_weight_of_its_own_is_learned(tmp_path: Path) -> None:
    """From a network without weights. The file can play, search, and learn from outcomes and from a search."""
    game, plan = connect_four.GAME, Plan(WEIGHS, FOR_TWO, evaluation=FEW, budget=Budget(steps=900))
    learner = Learner(game, plan, tmp_path, start=network_for(game), tensorboard=False)
    assert learner.network.weighs
    before = learner.network.policy[-1].bias[-1].item()  # type: ignore[index]
    network = learner.run().agent().network
    assert network.policy[-1].bias[-1].item() != before  # type: ignore[index]
    own = distil.FromOutcomes(network, [game.config()], Budget(), 1, distil.OutcomeSettings(games=16))
    row = own.iterate()
    assert row is not None and np.isfinite(row["heads_loss"])
    few = distil.SearchSettings(simulations=8, games=8, first=10)
    searching = distil.FromSearch(own.playable(), [game.config()], Budget(), 0, few)
    row = searching.iterate()
    assert row is not None and np.isfinite(row["policy_loss"])
    targets = searching.buffer.draw(64)
    assert (targets["shortfalls"][targets["masks"]] >= 0).all()
    again = Learner(game, plan, tmp_path, start=network)
    assert again.network.policy[-1].out_features == game.num_actions + 1


def test_a_rival_may_weigh_where_the_learner_does_not(tmp_path: Path) -> None:
    game, rival = connect_four.GAME, tmp_path / "rival.zip"
    save_network(game, weighing_network(game), rival, {"players": 2})
    plan = Plan(SMALL, FOR_TWO, OpponentSettings(agents={f"policy:{rival}": 1.0}), FEW, Budget(steps=500))
    learner = Learner(game, plan, tmp_path / "run", tensorboard=False)
    assert not learner.network.weighs
    point = learner.run().curve[-1]
    assert 0 <= point.wins <= point.games == point.all_games > 0
    assert learner.table.play(learner.network, 5)[0].shortfalls.shape[2] == game.num_actions


def test_the_command_takes_the_weight_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(
        "[learning]\nnum_envs = 24\nsteps = 16\nminibatch = 128\ntrunk = [16]\nlayers = [16]\nthreads = 1\n"
        "shortfall_weight = 2.0\n[evaluation]\ngames = 2\nagainst = ['random']\n",
        encoding="utf-8",
    )
    for game in (GAME, EVERGREEN):
        folder = train.main(game, path, steps=300, output=tmp_path / game.name, evaluate=False)
        agent = make_agent(f"policy:{folder / 'policy.zip'}", game)
        assert isinstance(agent, PolicyAgent) and agent.network.weighs
        batch = Batch(game.config(players=2), 4, 0)
        assert (batch.action_masks[np.arange(4), agent.act(Decisions.of(batch), generator())] == 1).all()
        taught = distil.main(
            game, "outcomes", str(folder / "policy.zip"), steps=20, games=8, output=tmp_path / "taught"
        )
        make_agent(f"search-5:{taught / 'policy.zip'}", game)
    with pytest.raises(ConfigError, match=r"shortfall_weight=-1\.0: must be a finite number of at least 0"):
        Settings(shortfall_weight=-1.0)
