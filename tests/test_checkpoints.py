"""Checkpoints, which hold a network alone, and states of runs: saved, loaded, damaged, too large."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from petrichor_env import GAME
from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.config import Config
from tabletop_agents import checkpoint, make_agent
from tabletop_agents.checkpoint import MEMBER, configs_of, read_checkpoint, read_notes, save_checkpoint, versions
from tabletop_agents.names import checkpoint_path
from tabletop_agents.networks import Network
from tabletop_agents.policy import PolicyAgent
from tabletop_engine.errors import CheckpointError, ConfigError
from tabletop_engine.game import Game
from tabletop_engine.observation import Layout
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.learner_games import learner_games
from tabletop_training.files import trees as resume
from tabletop_training.files.settings import Settings
from tabletop_training.files.trees import load_tree, save_tree
from tabletop_training.learn.learner import POLICY, RESUME, learn
from tabletop_training.learn.logs import CURVE
from tabletop_training.learn.vec_env import SeatsVecEnv
from tests.support.configurations import SOLO_MODULES

SMALL = Settings(num_envs=16, steps=32, minibatch=128, epochs=1, layers=(16,), threads=1)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Torch's threads wait for each other by spinning, which is many times slower if other programs use the cores."""
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[MaskablePPO, Path]:
    """A model of sb3-contrib, and its checkpoint."""
    env = SeatsVecEnv(learner_games(Config(), 16, reward="margin", seed=0, new_observations=True), reward_scale=0.1)
    build = {"net_arch": [16], "activation_fn": torch.nn.ReLU}
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=128, policy_kwargs=build, seed=0, device="cpu")
    path = tmp_path_factory.mktemp("trained") / "policy.zip"
    save_checkpoint(GAME, model.learn(512), path, {"players": 1, "config": {"players": 1}, "steps": 512})
    return model, path


@pytest.mark.parametrize("config", [Config(), Config(modules=SOLO_MODULES)], ids=lambda config: config.name)
def test_checkpoint_plays_as_the_model_that_was_saved(trained: tuple[MaskablePPO, Path], config: Config) -> None:
    model, path = trained
    batch = Batch(config, 50, 0)
    loaded, sampling = make_agent(f"policy:{path}", GAME), PolicyAgent.load(path, GAME, sample=True)
    for _ in range(30):
        decisions = Decisions.of(batch)
        actions = loaded.act(decisions, np.random.default_rng(0))
        expected, _ = model.predict(batch.observations, deterministic=True, action_masks=batch.action_masks)
        assert np.array_equal(actions, expected)
        first, second = (sampling.act(decisions, np.random.default_rng(1)) for _ in range(2))
        assert np.array_equal(first, second)
        assert batch.action_masks[np.arange(50), first].all()
        batch.step(actions)
    other = sampling.act(Decisions.of(batch), np.random.default_rng(2))
    assert not np.array_equal(other, sampling.act(Decisions.of(batch), np.random.default_rng(1)))


def test_checkpoint_tells_how_it_was_made(tmp_path: Path) -> None:
    config = Config(modules=SOLO_MODULES, powers=("sun",))
    learner = learn(config, 0.01, tmp_path, 3, SMALL)
    notes = read_notes(GAME, tmp_path / POLICY)
    assert versions(GAME).items() <= notes.items()
    training = notes["training"]
    assert (training["steps"], training["seed"], training["players"]) == (learner.steps, 3, 1)
    assert training["settings"]["num_envs"] == 16
    assert configs_of(GAME, training, tmp_path) == [config]
    assert notes["network"] == {
        "trunk": [],
        "policy": ["Linear", "ReLU", "Linear"],
        "value": ["Linear", "ReLU", "Linear"],
        "win_margin_heads": ["Linear", "ReLU", "Linear"],
    }
    assert {path.name for path in tmp_path.iterdir()} == {POLICY, CURVE}


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("game", "chess", "the game is chess, here petrichor"),
        ("observation", "0123", "the layout of the observation is 0123, here "),
        ("num_actions", 7, f"the number of actions is 7, here {NUM_ACTIONS}"),
        ("format", None, "the checkpoint format is missing, here 2"),
    ],
)
def test_checkpoint_of_another_version(
    trained: tuple[MaskablePPO, Path], tmp_path: Path, key: str, value: object, text: str
) -> None:
    notes = {**read_notes(GAME, trained[1]), key: value, "package": "0.0.1"}
    if value is None:
        del notes[key]
    path = tmp_path / "old.zip"
    with zipfile.ZipFile(trained[1]) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            target.writestr(name, json.dumps(notes) if name == MEMBER else source.read(name))
    with pytest.raises(CheckpointError, match=r"made by version 0\.0\.1") as caught:
        PolicyAgent.load(path, GAME)
    assert text in str(caught.value)


def with_numbers(game: Game, added: dict[str, int]) -> Game:
    """The game with so many more numbers at the end of blocks of its observation; a block that it lacks comes last."""
    blocks = {block.name: (block.shape, block.unit) for block in game.observation}
    for name, number in added.items():
        (length, *others), unit = blocks.get(name, ((0,), "0/1"))
        blocks[name] = (length + number, *others), unit
    layout = Layout.of([(name, *told, "") for name, told in blocks.items()])
    return replace(game, observation=layout)


@pytest.mark.parametrize(("block", "number"), [("variants", 1), ("votes", 2), ("new", 3)])
def test_a_start_gets_the_inputs_that_it_lacks(block: str, number: int) -> None:
    """A variant of one's own adds one, and a shipped policy goes on from there, playing as before."""
    game, path = with_numbers(GAME, {block: number}), checkpoint_path("solo", GAME)
    with pytest.raises(CheckpointError, match="the layout of the observation is"):
        read_checkpoint(game, path)
    before, after = read_checkpoint(GAME, path)[0], read_checkpoint(game, path, start=True)[0]
    new = game.observation[block].slice.stop
    own = np.delete(np.arange(game.observation.size), np.s_[new - game.observation.size + before.inputs : new])
    seen = torch.rand(20, game.observation.size)
    masks = np.ones((20, NUM_ACTIONS), np.int8)
    shortfalls = np.random.default_rng(0).random((20, NUM_ACTIONS), np.float32)
    first, second = (
        one.log_probabilities(x.numpy(), masks, shortfalls) for one, x in ((before, seen[:, own]), (after, seen))
    )
    assert after.inputs == game.observation.size and np.allclose(first, second, atol=1e-5)


def test_a_start_whose_observation_differs_otherwise_is_refused() -> None:
    game = with_numbers(GAME, {"variants": 1, "votes": 1})
    with pytest.raises(CheckpointError, match="the layout of the observation is"):
        read_checkpoint(game, checkpoint_path("solo", GAME), start=True)


def test_checkpoint_of_another_state_version_fits(trained: tuple[MaskablePPO, Path], tmp_path: Path) -> None:
    path = tmp_path / "old.zip"
    with zipfile.ZipFile(trained[1]) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            notes = json.dumps({**read_notes(GAME, trained[1]), "state_version": 0})
            target.writestr(name, notes if name == MEMBER else source.read(name))
    assert read_notes(GAME, path)["state_version"] == 0
    assert PolicyAgent.load(path, GAME)


def test_damaged_checkpoint(trained: tuple[MaskablePPO, Path], tmp_path: Path) -> None:
    whole = trained[1].read_bytes()
    path = tmp_path / "policy.zip"
    for size in (0, 100, len(whole) - 100):
        path.write_bytes(whole[:size])
        with pytest.raises(CheckpointError, match=r"policy\.zip: .*is damaged"):
            PolicyAgent.load(path, GAME)
    with zipfile.ZipFile(path, "w"):
        pass
    with pytest.raises(CheckpointError, match=r"^\S*policy\.zip: has no tabletop\.json: it is damaged, or not a chec"):
        PolicyAgent.load(path, GAME)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(MEMBER, json.dumps(versions(GAME)))
    with pytest.raises(CheckpointError, match=r"policy\.zip: is damaged: its network can't be read"):
        PolicyAgent.load(path, GAME)


def test_a_file_of_stable_baselines_is_converted(trained: tuple[MaskablePPO, Path], tmp_path: Path) -> None:
    """The message says how, for the file's own author: such a file can run code, so nothing else loads it."""
    foreign, converted = tmp_path / "foreign.zip", tmp_path / "converted.zip"
    trained[0].save(foreign)
    with pytest.raises(CheckpointError, match="Stable-Baselines3's own file"):
        PolicyAgent.load(foreign, GAME)
    save_checkpoint(GAME, MaskablePPO.load(foreign), str(converted))
    agent, same = PolicyAgent.load(converted, GAME), PolicyAgent.of(trained[0])
    batch = Batch(Config(), 32, seed=0)
    seen, masks = batch.observations, batch.action_masks
    assert (agent.network.log_probabilities(seen, masks) == same.network.log_probabilities(seen, masks)).all()


def test_saving_leaves_the_old_checkpoint_until_the_new_one_is_whole(
    trained: tuple[MaskablePPO, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "policy.zip"
    save_checkpoint(GAME, trained[0], path, {"which": "first"})

    def fail(source: Path, target: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_checkpoint(GAME, trained[0], path, {"which": "second"})
    assert read_notes(GAME, path)["training"] == {"which": "first"}


def test_checkpoints_are_of_the_network_alone(trained: tuple[MaskablePPO, Path], tmp_path: Path) -> None:
    """They have its weights, bit for bit, and no pickle. They open without any library for learning."""
    trained[0].save(tmp_path / "whole.zip")
    assert trained[1].stat().st_size < 0.5 * (tmp_path / "whole.zip").stat().st_size
    network, _ = read_checkpoint(GAME, trained[1])
    policy: Any = trained[0].policy
    layers = [*policy.mlp_extractor.policy_net, policy.action_net, *policy.mlp_extractor.value_net, policy.value_net]
    for ours, wanted in zip(network.layers, layers, strict=True):
        assert type(ours) is type(wanted)
        for name, weights in wanted.state_dict().items():
            assert torch.equal(ours.state_dict()[name], weights)
    with zipfile.ZipFile(trained[1]) as archive:
        assert {name.rpartition(".")[2] for name in archive.namelist()} == {"json", "npy"}
    program = (
        "import sys; from petrichor_env import GAME; from tabletop_agents import make_agent;"
        f"make_agent('policy:{trained[1]}', GAME);"
        "sys.exit(bool({'stable_baselines3', 'sb3_contrib'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


class Widening(BaseFeaturesExtractor):
    """A layer before those that checkpoints know."""

    def __init__(self, space: spaces.Box) -> None:
        super().__init__(space, 8)
        self.net = torch.nn.Linear(4, 8)


@pytest.mark.parametrize(
    ("build", "layers"),
    [
        ({"activation_fn": torch.nn.ELU}, "FlattenExtractor, Linear, ELU"),
        ({"features_extractor_class": Widening}, "Widening"),
    ],
)
def test_networks_that_cannot_be_kept(build: dict[str, Any], layers: str, tmp_path: Path) -> None:
    """Anything but fully connected layers with ReLU or Tanh."""
    observations, actions = spaces.Box(0, 255, (4,)), spaces.Discrete(3)
    policy = MaskableActorCriticPolicy(observations, actions, lambda _: 1e-3, net_arch=[4], **build)
    with pytest.raises(
        ConfigError, match=rf"connected networks with ReLU or Tanh .* are kept and copied, not {layers}"
    ):
        save_checkpoint(GAME, SimpleNamespace(policy=policy), tmp_path / "policy.zip")


def test_checkpoints_that_hold_too_much_or_something_else(
    trained: tuple[MaskablePPO, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, name = tmp_path / "policy.zip", "policy.0.weight.npy"
    with zipfile.ZipFile(trained[1]) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}

    def refused(text: str, **changed: bytes | None) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            for one, data in (members | changed).items():
                if data is not None:
                    archive.writestr(one, data)
        with pytest.raises(CheckpointError, match=text):
            PolicyAgent.load(path, GAME)

    def saved(array: np.ndarray) -> bytes:
        buffer = io.BytesIO()
        np.save(buffer, array)
        return buffer.getvalue()

    refused(r"policy\.zip: is damaged: its network can't be read", **{name: None})
    refused(r"policy\.zip: is damaged: its network can't be read", **{name: saved(np.array([{}], object))})
    refused(r"policy\.zip: its policy has a layer 0 of Linear \(3, 4\), not \(16, ", **{name: saved(np.ones((3, 4)))})
    line = r"save_checkpoint\(GAME, MaskablePPO\.load\('policy\.zip'\), 'converted\.zip'\)"
    refused(f"is Stable-Baselines3's own file.*{line}", **{MEMBER: None, "policy.pth": b""})
    monkeypatch.setattr(checkpoint, "MOST_BYTES", 3000)
    refused(r"policy\.zip: it unpacks to [\d,]+ bytes; at most 3,000 are read")


def test_damaged_checkpoints_are_refused(tmp_path: Path) -> None:
    """A flipped bit anywhere in the archive gives CheckpointError, or the notes if it is in another member."""
    path = tmp_path / "policy.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MEMBER, json.dumps({**versions(GAME), "training": {}}))
    whole = path.read_bytes()
    read_notes(GAME, path)
    refused = 0
    for bit in range(0, 8 * len(whole), 7):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            read_notes(GAME, path)
        except CheckpointError:
            refused += 1
    assert refused > 100


def test_trees_come_back_as_they_were(tmp_path: Path) -> None:
    batch = Batch(Config(), 3, 0)
    tree = {
        "states": batch.states,
        "generator": batch.generator.bit_generator.state,
        "bytes": bytes(range(256)),
        "tuple": (1, ("two", None), [3.5, True]),
        "nested": {"$": [np.arange(6).reshape(2, 3).T, np.float32(0.1), np.array(5)]},
    }
    save_tree(tmp_path / "tree.zip", tree)
    back = load_tree(tmp_path / "tree.zip")
    assert back["states"].dtype == batch.states.dtype and np.array_equal(back["states"], batch.states)
    assert back["generator"] == tree["generator"]
    assert (back["bytes"], back["tuple"]) == (tree["bytes"], tree["tuple"])
    array, number, scalar = back["nested"]["$"]
    assert np.array_equal(array, np.arange(6).reshape(2, 3).T)
    assert np.float32(number) == np.float32(0.1)
    assert scalar.shape == () and scalar == 5
    for wrong in ({1: 2}, {"set": {1}}, [object()]):
        with pytest.raises(TypeError):
            save_tree(tmp_path / "wrong.zip", wrong)
    assert not (tmp_path / "wrong.zip").exists()


def test_the_state_of_a_run_is_unpacked_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file may unpack to anything."""
    save_tree(tmp_path / RESUME, {"zeros": np.zeros(1_000_000)})
    assert (tmp_path / RESUME).stat().st_size < 100_000
    assert load_tree(tmp_path / RESUME)["zeros"].shape == (1_000_000,)
    monkeypatch.setattr(resume, "MOST_UNPACKED", 1_000_000)
    with pytest.raises(CheckpointError, match=r"resume\.zip: .*it unpacks to 8,\d{3},\d{3} bytes; at most 1,000,000"):
        load_tree(tmp_path / RESUME)


def test_layers_of_another_framework() -> None:
    """Weights are (inputs, outputs), and the last layer has the logits and then the value."""
    generator = np.random.default_rng(0)
    sizes = [(GAME.observation.size, 8), (8, len(GAME.actions) + 1)]
    layers = [
        (generator.normal(size=size).astype(np.float32), generator.normal(size=size[1]).astype(np.float32))
        for size in sizes
    ]
    network = Network.of_layers(layers)
    seen = generator.random((3, sizes[0][0]), np.float32)
    out = np.maximum(seen @ layers[0][0] + layers[0][1], 0) @ layers[1][0] + layers[1][1]
    with torch.no_grad():
        logits, values, _ = network(torch.tensor(seen), None)
    np.testing.assert_allclose(logits, out[:, :-1], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(values, out[:, -1], rtol=1e-4, atol=1e-4)
