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
from tabletop.agents import Decisions
from tabletop.batch import Batch
from tabletop.errors import CheckpointError, ConfigError
from tabletop.game import Game
from tabletop_agents import GreedyAgent, make_agent
from tabletop_agents.checkpoint import MEMBER, read_checkpoint, save_network
from tabletop_agents.guided_search import GuidedSearchAgent, GuidedTree, guided_search_for, settings_record
from tabletop_agents.networks import Network, flat_network, weighing
from tabletop_agents.policy import PolicyAgent
from tabletop_agents.search.guided_tree import WALK_NODES
from tabletop_agents.shortfalls import MOST_SHORTFALL, shortfalls
from tabletop_training import general, outlook
from tabletop_training.expert import Expert, ExpertSettings
from tabletop_training.general import General, GeneralSettings
from tabletop_training.learning import Budget
from tabletop_training.outlook import learn_outlook
from tabletop_training.seats import GREEDY, LEARNER, OPPONENT, SeatGames, masked_log_probabilities, policy_of
from tabletop_training.settings import Settings
from tests.games import connect_four
from tests.test_agents import in_the_middle, what_is_hidden_changed
from tests.test_guided_search import network_for

CONFIGS = [Config(variants=VARIANTS), Config(players=2), Config(players=3, modules=MODULES), Config(players=5)]
SMALL = Settings(num_envs=8, steps=60, minibatch=128, trunk=(16,), layers=(16,), threads=1)


def weighing_network(game: Game = GAME, weight: float = 2.0, **options: Any) -> Network:
    return weighing(network_for(game, **options), weight)


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
    assert capped or config.players > 1  # seen with one player


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
    half = weighing(plain, 1.5, 0.5)
    assert torch.allclose(half.logits(hidden, fallen), 0.5 * before - 1.5 * fallen, atol=1e-4)
    with torch.no_grad():  # the weight depends on what is seen
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
    wider = weighing(network, 1.0)  # two numbers more than there are actions
    save_network(GAME, wider, path)
    with pytest.raises(CheckpointError, match="its heads give 145 and 1 numbers, not 143, 1"):
        read_checkpoint(GAME, path)
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read(MEMBER))["num_actions"] == 143


# --- Play ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_a_network_without_wishes_plays_what_greedy_thinks_best(config: Config) -> None:
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
    """At the root, where both look at the same position with the same hidden cards."""
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
            continue  # what the walk finds depends on what is hidden
        tree = GuidedTree(search, 4, closed=config.players == 1)
        tree.clear()
        settings = settings_record({"temperature": 1.0})
        tree.grow(batch.states.copy(), batch.tables, settings, flat_network(network), 2)
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


def test_rollouts_keep_what_was_weighed() -> None:
    """The stored log-probabilities are those of the stored shortfalls, which belong to the stored positions."""
    network = weighing_network()
    configs = [Config(players=2), Config(players=5, modules=MODULES)]
    rival = policy_of(network_for(GAME, seed=3))
    games = SeatGames(
        configs, 8, SMALL, 5, "cpu",
        lambda games, players: [one for one in configs if one.players == players] * len(games),
        lambda games, players: np.tile([LEARNER, *[0] * (players - 1)], (games, 1)),
        [rival], weighs=True,
    )  # fmt: skip
    first = shortfalls(Decisions.of(games.batches[0]), generator())  # nothing hidden matters for the first choice
    rollout, _ = games.play(network, 60)
    assert rollout.shortfalls.shape == rollout.masks.shape
    rows = rollout.deciding
    assert rows.sum() > 50
    hidden = network.trunk(games.scaled(rollout.observations[rows]))
    logits = network.logits(hidden, rollout.shortfalls[rows].float())
    told = masked_log_probabilities(logits, rollout.masks[rows]).gather(1, rollout.actions[rows][:, None])[:, 0]
    assert torch.allclose(told, rollout.log_probabilities[rows], atol=1e-5)
    fallen = torch.where(rollout.masks, rollout.shortfalls.float(), torch.inf)
    assert (fallen[rollout.masks.sum(dim=2) > 1].min(dim=1).values == 0).all()
    assert np.allclose(rollout.shortfalls[0, :4].numpy(), first, atol=1e-2)


def test_greedy_is_a_player_of_other_seats() -> None:
    """It takes actions without a shortfall, also beside a network that weighs nothing; nobody learns from it."""
    config = Config(players=3, modules=MODULES)
    task = GeneralSettings(players=(3,), earlier=0.3, greedy=0.6, games=2)
    learner = General([config], task, SMALL, Budget(steps=900), 0)
    assert not learner.network.weighs
    learner.iterate()
    seated = np.concatenate([learner._seat(400, 3) for _ in range(3)])
    all_mine, with_greedy = (seated == LEARNER).all(axis=1), (seated == GREEDY).any(axis=1)
    assert abs(with_greedy.mean() - 0.6) < 0.06 and abs(all_mine.mean() - 0.1) < 0.04
    assert ((seated[with_greedy] == GREEDY).sum(axis=1) == 2).all()
    assert ((seated[~all_mine] == LEARNER).sum(axis=1) == 1).all()
    learner.table.players[:] = GREEDY
    learner.table.players[:, 0] = LEARNER
    learner.table.seat = lambda games, players: np.tile([LEARNER, GREEDY, GREEDY], (games, 1))
    rollout, _ = learner.table.play(learner.network, 40)
    theirs = (rollout.actors > 0) & (rollout.masks.sum(dim=2) > 1)
    assert theirs.sum() > 50 and not rollout.deciding[theirs].any()
    taken = rollout.shortfalls[theirs].gather(1, rollout.actions[theirs][:, None])
    assert (taken == 0).all()
    for wrong in ({"greedy": 1.5}, {"earlier": 0.7, "greedy": 0.5}):
        with pytest.raises(ConfigError, match="greedy="):
            GeneralSettings(**wrong)  # type: ignore[arg-type]


def test_an_agent_is_a_player_of_other_seats() -> None:
    """It is asked where one of its seats decides, and what it answers is played; nobody learns from it."""
    task = GeneralSettings(players=(3,), earlier=0.2, greedy=0.1, opponent=0.6, opponent_agent="ismcts-5", games=2)
    learner = General([Config(players=3)], task, SMALL, Budget(steps=900), 0)
    seated = np.concatenate([learner._seat(400, 3) for _ in range(3)])
    for player, share in ((OPPONENT, 0.6), (GREEDY, 0.1)):
        there = (seated == player).any(axis=1)
        assert abs(there.mean() - share) < 0.06
        assert ((seated[there] == player).sum(axis=1) == 2).all()
        assert ((seated[there] == LEARNER).sum(axis=1) == 1).all()
    assert abs((seated == LEARNER).all(axis=1).mean() - 0.3) < 0.06  # no earlier self is there yet
    games = learner.table
    games.players[:] = [LEARNER, OPPONENT, OPPONENT]
    games.seat = lambda n, players: np.tile([LEARNER, OPPONENT, OPPONENT], (n, 1))
    opponent = games._opponent
    assert opponent is not None and opponent.name == "ismcts-5"
    before, asked = [], opponent.act

    def act(decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        before.append(asked(decisions, generator))
        return before[-1]

    opponent.act = act  # type: ignore[method-assign]
    rollout, _ = games.play(learner.network, 40)
    theirs = (rollout.actors > 0) & (rollout.masks.sum(dim=2) > 1)
    assert theirs.sum() > 50 and not rollout.deciding[theirs].any()
    assert rollout.actions[theirs].tolist() == np.concatenate(before).tolist()
    assert rollout.masks[theirs].gather(1, rollout.actions[theirs][:, None]).all()
    with pytest.raises(ConfigError, match=r"^earlier=0.25, greedy=0.5, opponent=0.5: together they must be at most 1$"):
        GeneralSettings(greedy=0.5, opponent=0.5)
    with pytest.raises(ConfigError, match=r"^opponent=-1\.0: must be a share from 0 to 1$"):
        GeneralSettings(opponent=-1.0)
    nobody = GeneralSettings(players=(3,), opponent=0.1, opponent_agent="nobody")
    with pytest.raises(ConfigError, match=r"^agent 'nobody': must be one of random, greedy, "):
        General([Config(players=3)], nobody, SMALL, Budget(steps=900), 0)
    for_one = GeneralSettings(players=(3,), opponent=0.1, opponent_agent="policy:solo")
    with pytest.raises(ConfigError, match="policy:solo was trained for "):
        General([Config(players=3)], for_one, SMALL, Budget(steps=900), 0)


def test_a_weight_of_its_own_is_learned(tmp_path: Path) -> None:
    """From a network that does not weigh; the file plays, searches, and learns an outlook and from a search."""
    task = GeneralSettings(players=(2,), weight=0.5, games=2)
    config = connect_four.GAME.config()
    learner = General([config], task, SMALL, Budget(steps=900), 0, start=network_for(connect_four.GAME))
    assert learner.network.weighs
    before = learner.playable().policy[-1].bias[-1].item()  # type: ignore[index]
    while learner.fraction < 1:
        learner.iterate()
    network = learner.playable()
    assert network.policy[-1].bias[-1].item() != before  # type: ignore[index]
    network.outlook = learn_outlook(network, [config], Budget(steps=60), 1)
    expert = Expert(network, [config], Budget(steps=200), 0, ExpertSettings(simulations=8, games=8, first=10))
    row = expert.iterate(lambda: False)
    assert row is not None and np.isfinite(row["policy_loss"])
    positions = expert.replay.draw(generator(), 64)
    assert (positions.shortfalls[positions.masks] >= 0).all()
    again = General([config], task, SMALL, Budget(steps=100), 0, start=network)
    assert again.network.policy[-1].out_features == connect_four.GAME.num_actions + 1


def test_a_rival_may_weigh_where_the_learner_does_not() -> None:
    config = connect_four.GAME.config()
    rival = weighing_network(connect_four.GAME)
    learner = General([config], GeneralSettings(games=2), SMALL, Budget(steps=500), 0, rival=rival)
    assert not learner.network.weighs
    assert 0 <= learner.iterate()["won"] <= 2
    assert learner.table.play(learner.network, 5)[0].shortfalls.shape[2] == connect_four.GAME.num_actions


def test_the_command_takes_the_weight_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(
        "[learning]\nnum_envs = 24\nsteps = 16\nminibatch = 128\ntrunk = [16]\nlayers = [16]\nthreads = 1\n"
        "[general]\ngames = 2\nagainst = ['random']\nweight = 2.0\n",
        encoding="utf-8",
    )
    for game in (GAME, EVERGREEN):
        folder = general.main(game, path, steps=300, output=tmp_path / game.name, evaluate=False)
        agent = make_agent(f"policy:{folder / 'policy.zip'}", game)
        assert isinstance(agent, PolicyAgent) and agent.network.weighs
        batch = Batch(game.config(players=2), 4, 0)
        assert (batch.action_masks[np.arange(4), agent.act(Decisions.of(batch), generator())] == 1).all()
        taught = outlook.main(game, str(folder / "policy.zip"), games=20, output=tmp_path / "taught")
        make_agent(f"search-5:{taught / 'policy.zip'}", game)
    with pytest.raises(ConfigError, match=r"weight=-1\.0: must be a finite number of at least 0"):
        GeneralSettings(weight=-1.0)
