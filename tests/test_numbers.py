"""The printed numbers as inputs of networks: their layout, environments that deliver them, networks that read them."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

from evergreen_env import Config as Evergreen
from evergreen_env.component_files import COMPONENTS as EVERGREEN
from petrichor_env import Config as Petrichor
from petrichor_env import petrichor_v0
from petrichor_env.component_files import COMPONENTS as PETRICHOR
from tabletop_agents.checkpoint import read_checkpoint, save_network
from tabletop_agents.networks import Network, flat_network, with_more_inputs
from tabletop_agents.policy import PolicyAgent, inputs_of
from tabletop_agents.search.guided_search import GuidedSearchAgent
from tabletop_engine.described.overlays import ComponentFile
from tabletop_engine.errors import CheckpointError, ConfigError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.learner_games import learner_games
from tabletop_training.files.settings import Settings
from tabletop_training.learn.learner import Learner
from tabletop_training.learn.plan import Plan
from tabletop_training.learn.task import Budget, EvaluationSettings, GamesSettings
from tabletop_training.learn.vec_env import SeatsVecEnv
from tests.games.connect_four import GAME as CONNECT_FOUR
from tests.support.networks import network_for
from tests.support.play import in_the_middle

CONFIGS: dict[str, Config] = {"petrichor": Petrichor(players=2), "evergreen": Evergreen(players=2)}
FILES = {"petrichor": PETRICHOR, "evergreen": EVERGREEN}
every_game = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)


def numbers_of(config: Config, components: Any = None) -> np.ndarray:
    return np.asarray(config.game.write_numbers(config.game.load_tables(components))[0])


# --- The layout ------------------------------------------------------------------------------------------------------


def test_the_layout_says_what_is_printed() -> None:
    numbers, layout = numbers_of(Petrichor()), Petrichor().game.numbers
    loaded = {key: one.values for key, one in PETRICHOR.load().items()}
    scores = numbers[layout["scores"].slice].reshape(layout["scores"].shape)
    assert scores[0, :4].tolist() == list(loaded["tiles.wheat.scores"])
    assert scores[3, :4].tolist() == list(loaded["tiles.potato.scores"])
    assert scores[5, :4].tolist() == list(loaded["tiles.coffee.developed_scores"])
    assert scores[6].tolist() == list(loaded["tiles.corn.scores"])
    assert scores[8, :4].tolist() == list(loaded["tiles.cactus.drowned_scores"])
    assert numbers[layout["wheat_bonus"].start] == loaded["pieces.wheat_bonus"][0]
    track = loaded["voting_wins_track.points"]
    assert numbers[layout["voting_wins"].slice][: len(track)].tolist() == list(track)
    assert sorted(one for one in numbers[layout["solo_order"].slice].tolist() if one) == list(
        range(1, 1 + sum(one != 0 for key in loaded if key.endswith("priorities") for one in loaded[key]))
    )
    board = Evergreen().game.numbers
    planes = numbers_of(Evergreen())[board["biomes"].slice].reshape(board["biomes"].shape)
    rows = EVERGREEN.load()["board.rows"].values
    spaces = sum(letter not in "._#" and letter.isalpha() for row in rows for letter in str(row))
    assert planes.sum() == spaces and planes.max() == 1


@pytest.mark.parametrize("name", FILES)
def test_every_assumed_number_is_read(name: str) -> None:
    """If two editions differ in one key, their numbers differ."""
    file: ComponentFile = FILES[name]
    shipped = {key: one.values for key, one in file.load().items()}
    open_keys = {key for key, one in file.load().items() if one.range is not None} - {"flags.canonical_sets"}
    seen: set[str] = set()
    for seed in range(60):
        edition = file.draw(seed)
        for key in open_keys - seen:
            plain: Any = edition[key]
            values = tuple(plain) if isinstance(plain, list) else (plain,)
            if values == shipped[key]:
                continue
            try:
                told = numbers_of(CONFIGS[name], {key: edition[key]})
            except ValueError:  # alone this value contradicts other keys
                continue
            if sorted(map(str, values)) == sorted(map(str, shipped[key])) and key.endswith("sides"):
                continue
            assert (told != numbers_of(CONFIGS[name])).any(), key
            seen.add(key)
    left = open_keys - seen
    together = ("priorities", "copies", "deck.")  # these change only together
    assert all(any(word in key for word in together) for key in left), left


@every_game
def test_numbers_stay_within_their_bounds(config: Config) -> None:
    layout = config.game.numbers
    batch = Batch(config, 1, 0, editions=80)
    counts = config.game.write_numbers(batch.tables)
    assert counts.shape == (80, layout.size) and counts.dtype == np.int16
    scaled = counts / layout.divisors
    assert scaled.min() >= layout.low and scaled.max() <= layout.high
    assert np.abs(counts).max() <= 127, "int8 holds them"
    assert len({one.name for one in layout}) == len(layout.blocks)


def test_a_game_without_numbers_has_none() -> None:
    batch = Batch(CONNECT_FOUR.config(), 3, 0)
    assert batch.numbers.shape == (3, 0) and Decisions.of(batch).numbers.shape == (3, 0)
    with pytest.raises(ConfigError, match="no printed numbers"):
        learner_games(CONNECT_FOUR.config(), 1, ["random"], observe_numbers=True)


@every_game
def test_each_game_has_the_numbers_of_its_edition(config: Config) -> None:
    batch = Batch(config, 16, 0, editions=4)
    for game, told in enumerate(batch.numbers):
        own = Batch(batch.config_of(game), 1, 0)
        assert np.array_equal(told, own.numbers[0]) and np.array_equal(own.numbers, Decisions.of(own).numbers)
    assert np.array_equal(Decisions.of(batch).numbers, batch.numbers)
    small = Batch(config, 16, 0, editions=4, observation_dtype="int8")
    assert np.array_equal(small.numbers, config.game.write_numbers(batch.tables)[batch.states["edition"]])


# --- Environments ----------------------------------------------------------------------------------------------------


@pytest.mark.one_in(5)
@every_game
@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_games_of_one_seat_deliver_them(config: Config, dtype: str, mode: str) -> None:
    options: dict[str, Any] = {"seed": 3, "editions": 5, "observation_dtype": dtype, "autoreset": mode}
    with_numbers = learner_games(config, 12, ["random"], observe_numbers=True, **options)
    without = learner_games(config, 12, ["random"], **options)
    size, ended = config.game.observation.size, 0
    for _ in range(150):
        assert np.array_equal(with_numbers.observations[:, :size], without.observations)
        assert np.array_equal(with_numbers.observations[:, size:], without.batch.numbers)
        assert with_numbers.observations.dtype == np.dtype(dtype)
        actions = without.batch.random_actions()
        with_numbers.step(actions)
        without.step(actions)
        over = without.terminations
        ended += int(over.sum())
        assert np.array_equal(with_numbers.final_observations[over][:, :size], without.final_observations[over])
        final = without.batch.numbers_of(without.final_states[over])
        assert np.array_equal(with_numbers.final_observations[over][:, size:], final)
        if mode == "disabled" and without.over.any():
            with_numbers.reset(mask=without.over.copy())
            without.reset(mask=without.over.copy())
    assert ended


@pytest.mark.filterwarnings("ignore")
def test_gymnasium_and_pettingzoo_deliver_them() -> None:
    games: dict[str, dict[str, Any]] = {
        "petrichor_env:Petrichor/Solo-v0": {},
        "evergreen_env:Evergreen/Versus-v0": {"players": 3},
    }
    for game, extra in games.items():
        env = gymnasium.make(game, editions=4, observe_numbers=True, **extra)
        check_env(env.unwrapped, skip_render_check=True)
        inner: Any = env.unwrapped.batch
        seen, _ = env.reset(seed=5)
        assert env.observation_space.contains(seen)
        assert np.array_equal(seen[-inner.game.numbers.size :], inner.batch.numbers[0])
        envs = gymnasium.make_vec(game, num_envs=5, editions=4, observe_numbers=True, **extra)
        rows, _ = envs.reset(seed=5)
        assert envs.observation_space.contains(rows) and rows.shape == (5, seen.size)
    aec = petrichor_v0.env(num_players=3, editions=4, observe_numbers=True)
    aec.reset(seed=1)
    layout = aec.unwrapped.batch.game
    own = aec.unwrapped.batch.numbers[0]
    for agent in aec.agents:
        told = aec.observe(agent)["observation"]
        assert aec.observation_space(agent)["observation"].contains(told)
        assert told.size == layout.observation.size + layout.numbers.size
        assert np.array_equal(told[-own.size :], own)
    assert aec.unwrapped.state_space.contains(aec.unwrapped.state())
    with pytest.raises(ConfigError, match="observe_numbers"):
        gymnasium.make("petrichor_env:Petrichor/Solo-v0", observe_numbers="yes")


def test_the_vec_env_delivers_them() -> None:
    games = learner_games(Petrichor(), 6, seed=0, editions=3, observe_numbers=True)
    env = SeatsVecEnv(games)
    seen: Any = env.reset()
    assert env.observation_space.contains(seen[0]) and seen.shape[1] == games.observations.shape[1]
    for _ in range(200):
        seen, _, dones, infos = env.step(games.batch.random_actions())
        for game in np.flatnonzero(dones).tolist():
            assert env.observation_space.contains(infos[game]["terminal_observation"])


# --- Networks --------------------------------------------------------------------------------------------------------


def with_random_numbers(network: Network, game: Game, seed: int = 0) -> Network:
    """The network with inputs for the numbers, whose weights are not 0."""
    reading = with_more_inputs(network, game.numbers.size)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        first: Any = reading.trunk[0]
        own = first.weight[:, game.observation.size :]
        own += 0.3 * torch.randn(own.shape, generator=generator)
    return reading


@every_game
def test_a_network_of_today_becomes_one_that_reads_and_plays_as_before(config: Config) -> None:
    network = network_for(config.game)
    reading = with_more_inputs(network, config.game.numbers.size)
    decisions = Decisions.of(in_the_middle(config, 12, 25, editions=4))
    before, after = PolicyAgent(network), PolicyAgent(reading)
    generator = np.random.default_rng
    shares = before.probabilities(decisions, generator(0)), after.probabilities(decisions, generator(0))
    assert np.allclose(*shares, atol=1e-6)
    assert (before.act(decisions, generator(0)) == after.act(decisions, generator(0))).all()
    values = before.assess(decisions, generator(0)).value, after.assess(decisions, generator(0)).value
    assert values[0] is not None and values[1] is not None and np.allclose(values[0], values[1], atol=1e-5)
    other = PolicyAgent(with_random_numbers(network, config.game))
    assert not np.allclose(shares[0], other.probabilities(decisions, generator(0)), atol=1e-3)


@every_game
def test_the_numbers_in_the_biases_are_the_numbers_as_inputs(config: Config) -> None:
    network = with_random_numbers(network_for(config.game), config.game)
    decisions = Decisions.of(in_the_middle(config, 6, 25, editions=3))
    inputs = inputs_of(network, decisions)
    assert inputs.shape == (6, network.inputs)
    hidden = torch.as_tensor(inputs)
    assert network.win_margin_heads is not None
    with torch.no_grad():
        hidden = network.trunk(hidden)
        expected = hidden.numpy(), network.policy(hidden).numpy(), network.win_margin_heads(hidden).numpy()
    for one in range(6):
        flat = flat_network(network, decisions.numbers[one])
        given = torch.as_tensor(decisions.observations[one])
        for part in range(3):
            given = torch.as_tensor(expected[0][one] if part else decisions.observations[one])
            for layer in flat.layers[slice(*flat.parts[part])]:
                inputs_here, outputs = int(layer["inputs"]), int(layer["outputs"])
                weights = flat.weights[layer["weights"] : layer["weights"] + inputs_here * outputs]
                biases = torch.as_tensor(flat.weights[layer["biases"] : layer["biases"] + outputs])
                given = given @ torch.as_tensor(weights.reshape(inputs_here, outputs)) + biases
                if layer["activation"] == 1:
                    given = given.relu()
                elif layer["activation"] == 2:
                    given = given.tanh()
            assert np.allclose(given.numpy(), expected[part][one], atol=1e-3)


@every_game
def test_a_search_uses_the_numbers_of_each_edition(config: Config) -> None:
    network = with_random_numbers(network_for(config.game), config.game)
    agent = GuidedSearchAgent(PolicyAgent(network, name="reads"), simulations=12)
    batch = in_the_middle(config, 8, 25, editions=4)
    together = Decisions.of(batch)
    visits, _ = agent.search(together, np.random.default_rng(0))
    again, _ = agent.search(together, np.random.default_rng(0))
    assert (visits == again).all()
    for game in range(8):
        one = Decisions.of(batch, np.array([game]))
        own = replace(one, tables=batch.tables_of(game))
        fresh = GuidedSearchAgent(PolicyAgent(network, name="reads"), simulations=12)
        expected = fresh.search(own, np.random.default_rng(1))
        assert all(map(np.array_equal, agent.search(one, np.random.default_rng(1)), expected))


@every_game
def test_checkpoints_say_that_a_network_reads_numbers(config: Config, tmp_path: Path) -> None:
    game = config.game
    network = with_random_numbers(network_for(game), game)
    save_network(game, network, tmp_path / "reads.zip")
    read, notes = read_checkpoint(game, tmp_path / "reads.zip")
    assert read.inputs == game.observation.size + game.numbers.size and notes["numbers"]
    decisions = Decisions.of(in_the_middle(config, 4, 25, editions=2))
    generator = np.random.default_rng
    told = PolicyAgent(network).probabilities(decisions, generator(0))
    assert np.array_equal(told, PolicyAgent.load(tmp_path / "reads.zip", game).probabilities(decisions, generator(0)))
    save_network(game, network_for(game), tmp_path / "blind.zip")
    assert "numbers" not in read_checkpoint(game, tmp_path / "blind.zip")[1]
    with zipfile.ZipFile(tmp_path / "reads.zip") as old, zipfile.ZipFile(tmp_path / "other.zip", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "tabletop.json":
                content = json.dumps({**json.loads(content), "numbers": "0" * 16}).encode()
            new.writestr(name, content)
    with pytest.raises(CheckpointError, match="layout of the printed numbers"):
        read_checkpoint(game, tmp_path / "other.zip")


# --- Learning --------------------------------------------------------------------------------------------------------


def learned(tmp_path: Path, name: str, game: Game, games: dict[str, Any], **settings: Any) -> Learner:
    plan = Plan(
        replace(Settings(num_envs=16, steps=16, minibatch=64, layers=(8,), threads=1), **settings),
        GamesSettings.of_table(game, games),
        evaluation=EvaluationSettings(games=8, editions=3, against=("random",)),
        budget=Budget(steps=600),
    )
    learner = Learner(game, plan, tmp_path / name, tensorboard=False)
    return learner.run()


def test_a_network_learns_on_editions_whose_numbers_it_reads(tmp_path: Path) -> None:
    game = Petrichor().game
    learner = learned(tmp_path, "reads", game, {"players": [1, 2], "editions": 6}, numbers=True)
    assert [batch.tables.shape for batch in learner.table.batches] == [(6,), (6,)]
    network, notes = read_checkpoint(game, tmp_path / "reads" / "policy.zip")
    assert network.inputs == game.observation.size + game.numbers.size
    assert notes["training"]["games"]["editions"] == 6 and notes["training"]["settings"]["numbers"] is True
    first: Any = network.policy[0]
    moved = first.weight[:, game.observation.size :].std(dim=0)
    varies = learner.table._numbers.numpy().std(axis=0) > 0
    assert (moved[torch.as_tensor(varies)] > 0).all()
    rollout, _ = learner.table.play(learner.network, 20)
    states = np.concatenate([batch.states for batch in learner.table.batches])
    assert set(rollout.editions.unique().tolist()) == set(range(6))
    seen = learner.table.inputs(rollout.observations[-1], rollout.editions[-1])
    assert seen.shape == (16, network.inputs)
    assert len(states) == 16


def test_each_decision_has_the_numbers_of_its_game(tmp_path: Path) -> None:
    learner = learned(tmp_path, "reads", Petrichor().game, {"players": [2], "editions": 4}, numbers=True)
    table = learner.table
    told: list[np.ndarray] = []
    editions: list[np.ndarray] = []
    look = table._look

    def watched(half: range, rows: slice, actors: np.ndarray) -> np.ndarray:
        editions.append(table.batches[0].states["edition"].copy())
        told.append(table.batches[0].numbers_of(table.batches[0].states))
        return look(half, rows, actors)

    table._look = watched  # type: ignore[method-assign]
    rollout, _ = table.play(learner.network, 30)
    assert (rollout.editions.numpy() == np.stack(editions)).all()
    size, layout = table.game.observation.size, table.game.numbers
    for step in range(30):
        inputs = table.inputs(rollout.observations[step], rollout.editions[step]).numpy()
        counts = np.clip(inputs[:, size:] * layout.divisors, -128, 127)
        assert np.allclose(counts, told[step], atol=1e-3)


def test_a_blind_network_goes_on_as_one_that_reads(tmp_path: Path) -> None:
    game = Petrichor().game
    blind = learned(tmp_path, "blind", game, {"players": [1]})
    assert blind.network.inputs == game.observation.size
    plan = replace(blind.plan, learning=replace(blind.plan.learning, numbers=True))
    plan = replace(plan, games=GamesSettings.of_table(game, {"players": [1], "editions": 5}), budget=Budget(steps=400))
    seeing = Learner(game, plan, tmp_path / "seeing", start=blind.network, tensorboard=False)
    decisions = Decisions.of(in_the_middle(Petrichor(), 12, 25, editions=4))
    generator = np.random.default_rng
    assert np.allclose(
        blind.agent().probabilities(decisions, generator(0)),
        seeing.agent().probabilities(decisions, generator(0)),
        atol=1e-6,
    )
    seeing.run()
    agent = PolicyAgent.load(tmp_path / "seeing" / "policy.zip", game)
    assert agent.network.inputs == game.observation.size + game.numbers.size


def test_a_run_over_editions_resumes_exactly(tmp_path: Path) -> None:
    game = Petrichor().game
    whole = learned(tmp_path, "whole", game, {"players": [2], "editions": 4}, numbers=True)
    part = Learner(game, whole.plan, tmp_path / "part", tensorboard=False)
    part.should_stop = lambda: part.steps > 250
    part.run()
    rest = Learner(game, whole.plan, tmp_path / "part", tensorboard=False)
    rest.resume()
    rest.run()
    weights = rest.network.state_dict()
    assert all(torch.equal(value, weights[name]) for name, value in whole.network.state_dict().items())
    fewer = replace(whole.plan, games=GamesSettings.of_table(game, {"players": [2], "editions": 3}))
    other = Learner(game, fewer, tmp_path / "part", tensorboard=False)
    with pytest.raises(CheckpointError, match="other numbers on the pieces"):
        other.resume()


@pytest.mark.parametrize("editions", [0, -1, "many", 2.5, True, 40_000])
def test_bad_numbers_of_editions_are_refused(editions: Any) -> None:
    with pytest.raises(ConfigError, match="editions"):
        GamesSettings.of_table(Petrichor().game, {"players": [1], "editions": editions})
    if editions != 40_000:
        with pytest.raises(ConfigError, match="editions"):
            EvaluationSettings(editions=editions)
