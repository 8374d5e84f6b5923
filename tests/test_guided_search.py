"""The search with a network: compiled networks, the tree's sums, chance, hidden cards, names and files."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from petrichor_env.config import MODULES, VARIANTS, Config
from petrichor_env.game import GAME
from tabletop_agents import POLICIES, agent_file, make_agent
from tabletop_agents.checkpoint import read_checkpoint, save_network
from tabletop_agents.networks import Network, flat_network, new_layers, with_more_inputs
from tabletop_agents.policy import PolicyAgent
from tabletop_agents.search.forward import (
    MARGIN_UNIT,
    POLICY,
    TRUNK,
    WIN_MARGIN,
    FlatNetwork,
    Similar,
    forward,
    forward_layers,
    forward_trunk,
    new_similar,
)
from tabletop_agents.search.guided_search import GuidedSearchAgent, guided_search_for, new_guided_tree, settings_record
from tabletop_agents.search.tree import Tree
from tabletop_agents.search.tree_agent import best_of_visited
from tabletop_engine.compiling.compiled import kernel
from tabletop_engine.errors import CheckpointError, ConfigError
from tabletop_engine.play.agents import Decisions, check_agents
from tabletop_engine.play.batch import Batch
from tabletop_training.files.settings import Settings
from tabletop_training.learn.ppo import new_network
from tests.games import connect_four, hex, leduc_poker, tiny_hanabi
from tests.support.hidden import what_is_hidden_changed
from tests.support.networks import guided, network_for
from tests.support.play import in_the_middle


@kernel
def forward_all(network: FlatNetwork, inputs: np.ndarray, outputs: np.ndarray, through: int) -> None:
    forward(network, TRUNK, inputs, outputs)
    forward(network, POLICY, outputs[through] if through >= 0 else inputs, outputs)
    forward(network, WIN_MARGIN, outputs[through] if through >= 0 else inputs, outputs)


# --- Networks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trunk", [True, False])
@pytest.mark.parametrize("tanh", [True, False])
def test_compiled_networks_say_what_torch_says(trunk: bool, tanh: bool) -> None:
    network = network_for(GAME, trunk=trunk, tanh=tanh)
    assert network.win_margin_heads is not None
    seen = in_the_middle(Config(players=3), 8, 30).observations
    flat = flat_network(network)
    outputs = np.zeros((len(flat.layers), 200), np.float32)
    with torch.no_grad():
        policy = network.policy(network.trunk(torch.from_numpy(seen))).numpy()
        heads = network.win_margin_heads(network.trunk(torch.from_numpy(seen))).numpy()
    for game in range(8):
        forward_all(flat, seen[game], outputs, flat.parts[TRUNK, 1] - 1)
        assert np.allclose(outputs[flat.parts[POLICY, 1] - 1, : GAME.num_actions], policy[game], atol=1e-5)
        assert np.allclose(outputs[flat.parts[WIN_MARGIN, 1] - 1, :10], heads[game], atol=1e-5)


@pytest.mark.parametrize("trunk", [(), (12,)])
def test_compiled_convolutions_say_what_torch_says(trunk: tuple[int, ...], tmp_path: Path) -> None:
    """Also those of a checkpoint, and in a search, which begins at what the first layer gave for a similar position."""
    torch.manual_seed(1)
    made = new_network(hex.GAME, Settings(channels=(3, 4), trunk=trunk, layers=(9,)))
    save_network(hex.GAME, made, tmp_path / "policy.zip")
    network, _ = read_checkpoint(hex.GAME, tmp_path / "policy.zip")
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape))
    batch = Batch(hex.GAME.config(), 8, 1)
    for _ in range(20):
        batch.step(batch.random_actions())
    seen = batch.observations
    flat = flat_network(network)
    outputs = np.zeros((len(flat.layers), flat.layers["outputs"].max()), np.float32)
    similar = new_similar(flat, 2, seen.shape[1])
    assert network.win_margin_heads is not None
    with torch.no_grad():
        hidden = network.trunk(torch.from_numpy(seen))
        policy, heads = network.policy(hidden).numpy(), network.win_margin_heads(hidden).numpy()
    for game in range(8):
        for through_similar in (False, True):
            outputs[:] = np.nan
            forward_convolved(flat, seen[game], similar, outputs, through_similar)
            assert np.allclose(outputs[flat.parts[POLICY, 1] - 1, : hex.GAME.num_actions], policy[game], atol=1e-5)
            assert np.allclose(outputs[flat.parts[WIN_MARGIN, 1] - 1, :4], heads[game], atol=1e-5)
    assert similar.known[0] == 1
    agent = guided(hex.GAME, 20, network)
    visits, _ = agent.search(Decisions.of(batch), np.random.default_rng(0))
    assert (visits.sum(axis=1) == 20).all()


@kernel
def forward_convolved(
    network: FlatNetwork, inputs: np.ndarray, similar: Similar, outputs: np.ndarray, through_similar: bool
) -> None:
    if through_similar:
        hidden = forward_trunk(network, 0, inputs, similar, outputs)
    else:
        hidden = forward_layers(network, network.parts[TRUNK, 0], network.parts[TRUNK, 1], inputs, outputs)
    forward(network, POLICY, hidden, outputs)
    forward(network, WIN_MARGIN, hidden, outputs)


def test_convolutions_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"channels: an observation needs a block \(planes, rows, columns\)"):
        new_network(tiny_hanabi.GAME, Settings(channels=(2,)))
    with pytest.raises(ConfigError, match="a network can have one of them"):
        Settings(channels=(2,), numbers=True)
    network = new_network(hex.GAME, Settings(channels=(2, 3), layers=(4,)))
    with pytest.raises(ConfigError, match="can't be given more inputs"):
        with_more_inputs(network, 1)
    second: Any = network.trunk[2]
    second.weight = nn.Parameter(torch.zeros(3, 5, 3, 3))
    save_network(hex.GAME, network, tmp_path / "policy.zip")
    with pytest.raises(CheckpointError, match=r"has a layer 2 of Convolution \(3, 5, 3, 3\), not \(3, 2, 3, 3\)"):
        read_checkpoint(hex.GAME, tmp_path / "policy.zip")


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_heads_of_older_checkpoints_predict_as_before(tmp_path: Path, layers: int) -> None:
    """They began at the observation and gave margins in points. A search needs them after the trunk."""
    torch.manual_seed(1)
    widths = [GAME.observation.size, 24, 16][: layers + 1]
    policy, value = (new_layers([widths[-1], 8, outputs], 1.0) for outputs in (GAME.num_actions, 1))
    network = Network(new_layers(widths), policy, value)
    old = new_layers([GAME.observation.size, 9, 7, 10], 1.0)
    file, older = tmp_path / "new.zip", tmp_path / "old.zip"
    save_network(GAME, network, file)
    with zipfile.ZipFile(file) as read, zipfile.ZipFile(older, "w") as written:
        notes = json.loads(read.read("tabletop.json"))
        notes["network"]["outlook"] = [type(layer).__name__ for layer in old]
        written.writestr("tabletop.json", json.dumps(notes))
        for name in read.namelist()[1:]:
            written.writestr(name, read.read(name))
        for name, weights in old.state_dict().items():
            with written.open(f"outlook.{name}.npy", "w") as member:
                np.save(member, weights.numpy())
    seen = torch.from_numpy(in_the_middle(Config(players=3), 8, 30).observations)
    again, _ = read_checkpoint(GAME, older)
    assert again.win_margin_heads is not None
    with torch.no_grad():
        hidden = again.trunk(seen)
        torch.testing.assert_close(again.policy(hidden), network.policy(network.trunk(seen)))
        torch.testing.assert_close(again.value(hidden), network.value(network.trunk(seen)))
        expected = old(seen)
        torch.testing.assert_close(again.win_margin_heads(hidden)[:, :5], expected[:, :5])
        torch.testing.assert_close(MARGIN_UNIT * again.win_margin_heads(hidden)[:, 5:], expected[:, 5:])
    started, _ = read_checkpoint(GAME, older, start=True)
    assert started.win_margin_heads is None and started.state_dict().keys() == network.state_dict().keys()


def test_checkpoints_keep_the_heads(tmp_path: Path) -> None:
    network, path = network_for(GAME), tmp_path / "with.zip"
    save_network(GAME, network, path, {"players": 1})
    read, notes = read_checkpoint(GAME, path)
    assert notes["training"] == {"players": 1}
    assert read.win_margin_heads is not None
    for name, weights in network.state_dict().items():
        assert torch.equal(weights, read.state_dict()[name])
    without = network_for(GAME)
    without.win_margin_heads = None
    save_network(GAME, without, tmp_path / "without.zip")
    assert read_checkpoint(GAME, tmp_path / "without.zip")[0].win_margin_heads is None


def test_checkpoints_in_half_precision(tmp_path: Path) -> None:
    """They are half as large, and what is read is float32, rounded to 11 bits."""
    network, whole, half = network_for(GAME), tmp_path / "whole.zip", tmp_path / "half.zip"
    save_network(GAME, network, whole)
    save_network(GAME, network, half, half=True)
    assert half.stat().st_size < 0.6 * whole.stat().st_size
    read, _ = read_checkpoint(GAME, half)
    for name, weights in network.state_dict().items():
        kept = read.state_dict()[name]
        assert kept.dtype == torch.float32
        assert torch.equal(kept, weights.half().float())
        assert torch.allclose(kept, weights, rtol=2**-11, atol=1e-7)


@pytest.mark.parametrize("numbers", [8, 11])
def test_heads_that_do_not_fit_are_refused(tmp_path: Path, numbers: int) -> None:
    """Petrichor has five players: ten numbers."""
    network = network_for(GAME)
    network.win_margin_heads = nn.Sequential(nn.Linear(24, numbers))
    save_network(GAME, network, tmp_path / "policy.zip")
    with pytest.raises(CheckpointError, match=f"its win and margin heads give {numbers} numbers, not 10, two a player"):
        read_checkpoint(GAME, tmp_path / "policy.zip")


# --- What is played --------------------------------------------------------------------------------------------------


def test_the_best_of_those_that_were_visited_often_enough() -> None:
    decisions = Decisions.of(in_the_middle(Config(), 1, 0))
    legal = np.flatnonzero(decisions.action_masks[0])[:4]
    visits, utilities = np.zeros((2, 1, GAME.num_actions))
    visits[0, legal], utilities[0, legal] = (40, 20, 19, 40), (0.5, 0.6, 0.9, 0.4)
    utilities[0, decisions.action_masks[0] == 0] = 2.0
    played = [int(best_of_visited(decisions, visits, utilities, share)[0]) for share in (1.0, 0.5, 0.47)]
    assert played == [legal[0], legal[1], legal[2]]


# --- The tree --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [Config(variants=VARIANTS), Config(players=2), Config(players=5, modules=MODULES)])
def test_the_search_accounts_for_its_simulations(config: Config) -> None:
    batch = in_the_middle(config, 16, 20)
    decisions = Decisions.of(batch)
    agent = guided(GAME, 75)
    visits, utilities = agent.search(decisions, np.random.default_rng(0))
    several = batch.action_masks.sum(axis=1) > 1
    assert several.any()
    assert (visits.sum(axis=1) == np.where(several, 75, 1)).all()
    assert (visits[batch.action_masks == 0] == 0).all()
    assert (utilities[visits == 0] == 0).all()
    assert np.allclose(agent.probabilities(decisions, np.random.default_rng(0)).sum(axis=1), 1)
    actions = agent.act(decisions, np.random.default_rng(0))
    often = visits >= visits.max(axis=1, keepdims=True) / 2
    assert (utilities[np.arange(16), actions] == np.where(often, utilities, -np.inf).max(axis=1)).all()


def grown(config: Config, simulations: int, steps: int, room: int | None = None) -> Tree:
    """The tree of one decision, grown in two portions."""
    batch = in_the_middle(config, 1, steps)
    network = flat_network(network_for(GAME))
    tree, guide = new_guided_tree(GAME, network, room or simulations, closed=config.players == 1)
    for portion in (simulations - simulations // 2, simulations // 2):
        fixed = (batch.states.copy(), batch.tables, settings_record({}), network)
        guided_search_for(GAME).search_guided_tree(*fixed, tree, guide, portion)
    return tree


def edges_of(tree: Tree, node: int) -> list[Any]:
    edges, edge = [], tree.nodes[node]["edge"]
    while edge:
        edges.append(tree.edges[edge])
        edge = tree.edges[edge]["sibling"]
    return edges


def outcomes_of(tree: Tree, edge: Any) -> list[int]:
    nodes, node = [], edge["node"]
    while node:
        nodes.append(int(node))
        node = tree.nodes[node]["sibling"]
    return nodes


def test_positions_of_a_game_for_one_follow_from_each_other() -> None:
    """Without chance an action leads to the one position of the rules, with chance to at most as many as allowed."""
    tree = grown(Config(variants=VARIANTS), 600, 12)
    certain = uncertain = 0
    for node in range(int(tree.size["nodes"][0])):
        for edge in edges_of(tree, node):
            outcomes = outcomes_of(tree, edge)
            assert len(outcomes) == edge["outcomes"] <= 2 * np.sqrt(edge["visits"] + 1) + 1
            assert len({int(tree.nodes[one]["view_hash"]) for one in outcomes}) == len(outcomes)
            if not outcomes:
                continue
            after = Batch(Config(variants=VARIANTS), 1, seed=node, autoreset="disabled")
            after.set_states(tree.states[node : node + 1])
            after.step([int(edge["action"])])
            if edge["certain"]:
                certain += 1
                assert len(outcomes) == 1
                assert np.array_equal(after.states["points"], tree.states[outcomes]["points"])
                assert np.array_equal(after.states["decision"], tree.states[outcomes]["decision"])
                assert after.observations.tobytes() == views_of(after, tree.states[outcomes]).tobytes()
            elif len(outcomes) > 1:
                uncertain += 1
                draws = tree.nodes["draws"][outcomes]
                assert draws.min() >= 1
                assert draws.sum() >= len(outcomes)
    assert certain > 100
    assert uncertain > 5


def views_of(batch: Batch, states: np.ndarray) -> np.ndarray:
    return batch.views_of(states, np.maximum(states["actor"], 0).astype(np.int64))


def test_chance_is_drawn_as_often_as_it_comes() -> None:
    """Each known outcome of an action with chance is drawn as often as in the rules."""
    config, checked = Config(), 0
    for steps in (6, 22, 30, 55):
        tree = grown(config, 2000, steps)
        for node in range(int(tree.size["nodes"][0])):
            for edge in edges_of(tree, node):
                outcomes = outcomes_of(tree, edge)
                draws = tree.nodes["draws"][outcomes]
                if len(outcomes) < 2 or draws.sum() < 90:
                    continue
                many = Batch(config, 3000, seed=1, autoreset="disabled")
                states = np.repeat(tree.states[node : node + 1], 3000)
                states["rng"] = many.states["rng"]
                many.set_states(states)
                many.step(np.full(3000, edge["action"]))
                views = [view.tobytes() for view in views_of(many, tree.states[outcomes])]
                shares = np.array([np.mean([row.tobytes() == view for row in many.observations]) for view in views])
                expected = draws.sum() * shares
                spread = 5 * np.sqrt(expected * (1 - shares)) + 3
                assert (np.abs(draws - expected) < spread).all()
                checked += int((expected > 5).sum())
    assert checked >= 20


def test_a_tree_without_more_room_goes_on() -> None:
    for config in (Config(variants=VARIANTS), Config(players=3)):
        tree = grown(config, 400, 12, room=4)
        assert tree.size["nodes"][0] <= len(tree.nodes)
        assert tree.size["edges"][0] <= len(tree.edges)
        assert sum(int(edge["visits"]) for edge in edges_of(tree, 0)) == 400


@pytest.mark.parametrize("config", [Config(), Config(players=3, drafting=True), Config(players=2, modules=MODULES)])
def test_it_finds_the_same_whatever_is_hidden(config: Config) -> None:
    for steps in (0, 12, 30):
        original, redrawn = what_is_hidden_changed(config, 8, steps)
        agent = guided(GAME, 60)
        first, second = (agent.search(decisions, np.random.default_rng(1)) for decisions in (original, redrawn))
        assert np.array_equal(first, second)


@pytest.mark.parametrize("config", [Config(), Config(players=2)])
def test_it_finds_the_same_with_any_number_of_threads(config: Config) -> None:
    decisions = Decisions.of(in_the_middle(config, 20, 9))
    network = network_for(GAME)
    one, three = (
        guided(GAME, 30, network, num_threads=number).search(decisions, np.random.default_rng(5)) for number in (1, 3)
    )
    assert np.array_equal(one, three)


# --- What it plays ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", [0, 1])
def test_it_wins_and_saves_what_it_can_without_any_advice(seat: int) -> None:
    """The actor makes four in a row in column 3 (from 0), or prevents the other player's."""
    game = connect_four.GAME
    agent = guided(game, 400, network_for(game, size=0.0))
    for moves in ([3, 0, 3, 0, 3, 0], [3, 0, 3, 1, 3]):
        batch = Batch(game.config(), 1, 0)
        for move in [6] * seat + moves:  # a move elsewhere changes who is asked
            batch.step([move])
        if len(moves) % 2 == 0 or seat == 0:
            assert agent.act(Decisions.of(batch), np.random.default_rng(seat))[0] in ((0, 3) if seat else (3,))


@pytest.mark.parametrize("seat", [0, 1])
def test_a_prediction_begins_with_the_player_who_is_asked(seat: int) -> None:
    """A network says that whoever is asked wins. So after each of the actor's actions the other player wins."""
    game = connect_four.GAME
    network = network_for(game, size=0.0)
    assert network.win_margin_heads is not None
    last = network.win_margin_heads[-1]
    assert isinstance(last, nn.Linear)
    with torch.no_grad():
        last.bias[:2] = torch.tensor([8.0, -8.0])
    batch = Batch(game.config(), 1, 0)
    for _ in range(seat):
        batch.step([6])
    visits, utilities = guided(game, 7, network).search(Decisions.of(batch), np.random.default_rng(0))
    assert visits.sum() == 7 and (utilities[visits > 0] < 0.01).all()


def test_it_plays_a_game_of_hidden_cards() -> None:
    """Against random answers in Leduc poker it wins chips, with a network that knows nothing."""
    game = leduc_poker.GAME
    agent, generator = guided(game, 200, network_for(game, size=0.0)), np.random.default_rng(0)
    batch = Batch(game.config(), 400, 1, autoreset="disabled")
    while (playing := batch.actors >= 0).any():
        actions = batch.random_actions()
        asked = np.flatnonzero(batch.actors == 0)
        if len(asked):
            actions[asked] = agent.act(Decisions.of(batch, asked), generator)
        batch.step(actions, playing)
    chips = batch.states["points"][:, 0].astype(float)
    assert chips.mean() > 2 * chips.std() / np.sqrt(len(chips))


# --- Exploiting a policy ---------------------------------------------------------------------------------------------


def best_answer(policy: PolicyAgent, batch: Batch, me: int, known: dict[bytes, float]) -> float:
    """What the player `me` wins from this position of Connect Four, if the other one plays the policy: by all lines."""
    if batch.actors[0] < 0:
        places = batch.places(batch.states)[0]
        return float(places[me] == 1) / (places == 1).sum()
    key = batch.states["stones"].tobytes()
    if key not in known:
        if batch.actors[0] == me:
            moves = np.flatnonzero(batch.action_masks[0])
        else:
            moves = policy.act(Decisions.of(batch), np.random.default_rng(0))
        known[key] = max(best_answer(policy, after(batch, int(move)), me, known) for move in moves)
    return known[key]


def after(batch: Batch, move: int) -> Batch:
    other = batch.copy()
    other.step([move])
    return other


def late_positions(number: int) -> list[Batch]:
    """Positions of Connect Four with eleven or twelve empty cells, in which either player is asked."""
    found = []
    for seed in range(1000):
        batch = Batch(connect_four.GAME.config(), 1, seed, autoreset="disabled")
        for _ in range(30 + seed % 2):
            if batch.actors[0] >= 0:
                batch.step(batch.random_actions())
        if batch.actors[0] >= 0:
            found.append(batch)
        if len(found) == number:
            return found
    raise AssertionError


def test_a_search_that_knows_the_others_finds_the_best_answer() -> None:
    """Against a policy that does not change, all lines tell the best answer. It plays one, and says its value."""
    game, better = connect_four.GAME, 0
    policy = PolicyAgent(network_for(game, seed=3))
    exploiter = GuidedSearchAgent(policy, 4000, exploits=True)
    assert exploiter.name == "exploit-4000:policy"
    for batch in late_positions(8):
        me, known = int(batch.actors[0]), dict[bytes, float]()
        values = {
            int(move): best_answer(policy, after(batch, int(move)), me, known)
            for move in np.flatnonzero(batch.action_masks[0])
        }
        decisions = Decisions.of(batch)
        played = int(exploiter.act(decisions, np.random.default_rng(1))[0])
        assert values[played] == max(values.values())
        said = exploiter.assess(decisions, np.random.default_rng(1)).value
        assert said is not None and said[0] == pytest.approx(values[played], abs=0.1)
        better += max(values.values()) > min(values.values())
    assert better >= 4


def test_others_answer_as_the_policy_does() -> None:
    """In an exploiter's tree every position of the other player has one edge that was tried: the policy's action."""
    game, network = connect_four.GAME, network_for(connect_four.GAME, seed=3)
    policy = PolicyAgent(network)
    (batch,) = late_positions(1)
    tree, guide = new_guided_tree(game, flat_network(network), 500, closed=False)
    fixed = (batch.states.copy(), batch.tables, settings_record({}, exploits=True), flat_network(network))
    guided_search_for(game).search_guided_tree(*fixed, tree, guide, 500)
    theirs, waiting = 0, [(0, batch)]
    while waiting:
        node, here = waiting.pop()
        tried = [edge for edge in edges_of(tree, node) if edge["visits"]]
        if tried and here.actors[0] != batch.actors[0]:
            (only,) = tried
            assert only["action"] == policy.act(Decisions.of(here), np.random.default_rng(0))[0]
            theirs += 1
        waiting += [(int(edge["node"]), after(here, int(edge["action"]))) for edge in tried]
    assert theirs > 5


# --- Names -----------------------------------------------------------------------------------------------------------


def test_names(tmp_path: Path) -> None:
    path = tmp_path / "own.zip"
    save_network(GAME, network_for(GAME), path, {"players": 2})
    for name, simulations, milliseconds in (
        (f"search:{path}", 800, None),
        (f"search-30:{path}", 30, None),
        (f"search-2.5ms:{path}", None, 2.5),
        (f"exploit-30:{path}", 30, None),
    ):
        agent = make_agent(name, GAME)
        assert isinstance(agent, GuidedSearchAgent)
        assert (agent.name, agent.simulations, agent.milliseconds) == (name, simulations, milliseconds)
        assert agent.exploits == name.startswith("exploit")
        assert agent_file(name, GAME) == path
        with pytest.raises(ConfigError, match="was trained for 2 players, and this is the solo game"):
            check_agents([agent], Config())
    batch = in_the_middle(Config(players=2), 3, 5)
    visits, _ = GuidedSearchAgent.load(path, GAME, milliseconds=2.0).search(
        Decisions.of(batch), np.random.default_rng(0)
    )
    assert (visits.sum(axis=1) >= 1).all()


@pytest.mark.parametrize("name", ["search", "search-0:solo", "search-x:solo", "search-:solo", "search-0ms:solo"])
def test_bad_names(name: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"agent {name!r}: must be one of random, greedy, rollout, ")):
        make_agent(name, GAME)


def test_a_network_without_heads_is_refused(tmp_path: Path) -> None:
    network, path = network_for(GAME), tmp_path / "policy.zip"
    network.win_margin_heads = None
    save_network(GAME, network, path)
    missing = r"policy\.zip: its network has no win and margin heads.*`petrichor distil outcomes"
    with pytest.raises(CheckpointError, match=missing):
        make_agent(f"search-10:{path}", GAME)


def test_priors_of_games_of_several_are_less_flat() -> None:
    policy = PolicyAgent(network_for(GAME))
    for settings, alone, together in (({}, 3.0, 2.0), ({"temperature": 1.5}, 1.5, 1.5)):
        agent = GuidedSearchAgent(policy, 5, settings=settings)
        assert agent._settings["temperature"] == alone and agent._settings_of_several["temperature"] == together


def test_budgets_and_settings_are_checked() -> None:
    policy = PolicyAgent(network_for(GAME))
    for simulations, milliseconds in ((None, None), (5, 5.0)):
        with pytest.raises(ConfigError, match="give either simulations or milliseconds"):
            GuidedSearchAgent(policy, simulations, milliseconds)
    with pytest.raises(ConfigError, match="simulations=0: must be an int of at least 1"):
        GuidedSearchAgent(policy, 0)
    with pytest.raises(ConfigError, match="milliseconds=nan: must be a number above 0"):
        GuidedSearchAgent(policy, milliseconds=float("nan"))
    with pytest.raises(ConfigError, match="settings: unknown scale; there are exploration, "):
        GuidedSearchAgent(policy, 5, settings={"scale": 1.0})
    for name, value, least in (("widening", 0.0, "0.1"), ("temperature", float("nan"), "0.1"), ("margin", -1.0, "0")):
        with pytest.raises(ConfigError, match=f"settings: {name}={value}: must be a finite number of at least {least}"):
            GuidedSearchAgent(policy, 5, settings={name: value})


def test_a_network_whose_numbers_overflow_is_refused() -> None:
    network = network_for(GAME, size=1e30)
    decisions = Decisions.of(in_the_middle(Config(), 4, 12))
    with pytest.raises(CheckpointError, match="the network's outputs are not finite"):
        guided(GAME, 20, network).act(decisions, np.random.default_rng(0))


def test_the_shipped_policies_can_search() -> None:
    for name in ("solo", "versus"):
        network, _ = read_checkpoint(GAME, POLICIES / "petrichor" / f"{name}.zip")
        assert network.win_margin_heads is not None
