"""Images of a position: the rules treat them alike, and policies learn to do so."""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.config import MODULES, Config
from petrichor_env.game import GAME
from petrichor_env.images import image_of, ways_to_lay
from petrichor_env.state import NO_TILE, NUM_TILES
from tabletop_agents import make_agent
from tabletop_agents.checkpoint import read_checkpoint, save_network
from tabletop_agents.networks import Network, with_shortfall_weight
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Image
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_training.learn.distil import FromImages, main
from tabletop_training.learn.ppo import masked_log_probabilities
from tabletop_training.learn.targets import Images
from tabletop_training.learn.task import Budget
from tests.games import connect_four
from tests.support.networks import network_for
from tests.support.play import legal_masks

IN_ORDER = [GAME.decisions.index(name) for name in ("fertilizer_tile", "pod_tile", "keep_drop", "forecast_drop")]
"""Decisions about several tiles, which follow each other in the order of the tiles' numbers."""


# --- The rules -------------------------------------------------------------------------------------------------------


def laid(states: np.ndarray, tiles: np.ndarray, image: Image) -> np.ndarray:
    """Records of the same games on a turned or mirrored field."""
    moved = states.copy()
    for name, kind in GAME.state.fields.items():  # type: ignore[union-attr]
        if kind[0].shape[:1] == (NUM_TILES,) and name != "forecast_holder":  # there are also 16 of these cards
            moved[name][:, tiles] = states[name]
    target = states["target"]
    moved["target"] = np.where(target == NO_TILE, NO_TILE, tiles[target])
    return with_legal(moved, legal_masks(states, NUM_ACTIONS)[:, np.argsort(image.actions)])


def with_legal(states: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """The records with other legal actions, (N, A) bool."""
    words = states["legal"].shape[1]
    wide = np.zeros((len(states), 64 * words), np.uint64)
    wide[:, : masks.shape[1]] = masks
    states["legal"] = (wide.reshape(len(states), words, 64) << np.arange(64, dtype=np.uint64)).sum(axis=2)
    return states


@pytest.mark.one_in(3)
@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("modules", [(), MODULES], ids=["base", "modules"])
def test_the_rules_treat_images_alike(players: int, modules: tuple[str, ...]) -> None:
    """The image's action in the image leads to the image of the next position, in every field."""
    generator = np.random.default_rng(players)
    batch = Batch(Config(players=players, modules=modules), 24, 7)
    divisors, everything, steps = GAME.observation.divisors, np.ones(24, np.bool_), 0
    ways = ways_to_lay(players)
    for tiles, directions in ways * 30:
        image = image_of(tiles, directions)
        here = batch.states.copy()
        there = laid(here, tiles, image)
        seen = np.zeros((2, 24, GAME.observation.size), np.float32)
        for states, out in zip((here, there), seen, strict=True):
            seats = here["actor"].astype(np.int64)
            GAME.kernels.observe_games(states, batch.tables, seats, divisors, out, np.zeros((24, 0), np.int8))
        assert np.array_equal(seen[1][:, image.observation], seen[0])
        masks = legal_masks(here, NUM_ACTIONS)
        actions = (generator.random(masks.shape) * masks).argmax(axis=1)
        GAME.kernels.play_actions(here, batch.tables, actions, everything)
        GAME.kernels.play_actions(there, batch.tables, image.actions[actions], everything)
        in_order = np.isin(batch.states["decision"], IN_ORDER) | np.isin(here["decision"], IN_ORDER)
        expected, alike = laid(here, tiles, image), (here["actor"] >= 0) & ~in_order
        for name in GAME.state.names or ():
            assert np.array_equal(there[name][alike], expected[name][alike]), name
        steps += int(alike.sum())
        batch.step(actions)
    assert steps > 2000


def test_there_are_as_many_as_the_field_allows() -> None:
    """A square has eight images, a rectangle four. The field of two players lacks two opposite corners."""
    assert {players: len(GAME.images(players)) for players in GAME.players} == {1: 0, 2: 3, 3: 7, 4: 3, 5: 7}
    for players in GAME.players:
        for image in GAME.images(players):
            assert sorted(image.observation) == list(range(GAME.observation.size))
            assert sorted(image.actions) == list(range(NUM_ACTIONS))
            assert (image.actions != np.arange(NUM_ACTIONS)).any()


# --- Learning --------------------------------------------------------------------------------------------------------


def weights_changed(network: Network, seed: int) -> Network:
    """A network whose weight of shortfalls differs between positions."""
    torch.manual_seed(seed)
    last: Any = network.policy[-1]
    with torch.no_grad():
        last.weight[-1].normal_(0, 0.3)
    return network


def test_logits_are_in_the_order_of_the_original() -> None:
    """A network that sees an image's observation gives the images of actions the logits that `logits` reports."""
    network = weights_changed(with_shortfall_weight(network_for(GAME), 1.0), 0)
    inputs, missed = torch.rand(5, GAME.observation.size), torch.rand(5, GAME.num_actions) * 9
    images = Images(GAME, [2, 5])
    assert images.of == {2: range(4), 5: range(4, 12)}
    assert torch.equal(
        images.logits(network, torch.tensor([0, 4, 0, 4, 0]), inputs, missed),
        network.logits(network.trunk(inputs), missed),
    )
    for number, image in enumerate(GAME.images(5), start=5):
        theirs, their_missed = torch.empty_like(inputs), torch.empty_like(missed)
        theirs[:, image.observation] = inputs
        their_missed[:, image.actions] = missed
        expected = network.logits(network.trunk(theirs), their_missed)[:, image.actions]
        which = torch.full((5,), number)
        assert torch.allclose(images.logits(network, which, inputs, missed), expected, atol=1e-5)
    drawn = images.draw(torch.tensor([2, 5]).repeat(300)).numpy()
    assert set(drawn[::2]) == set(images.of[2]) and set(drawn[1::2]) == set(images.of[5])


def test_the_target_is_the_mean_of_all_images() -> None:
    network = network_for(GAME, seed=5)
    source = FromImages(network, [Config(players=3)], Budget(), 0)
    batch = Batch(Config(players=3), 4, 3)
    actions, columns = source.choose(Decisions.of(batch), np.random.default_rng(0))
    masks = batch.action_masks == 1
    assert masks[np.arange(4), actions].all()
    inputs, legal = torch.from_numpy(batch.observations), torch.from_numpy(masks)
    with torch.no_grad():
        which = [torch.full((4,), image) for image in range(8)]
        each = [masked_log_probabilities(source.images.logits(network, one, inputs, None), legal) for one in which]
    mean = np.where(masks, np.exp(sum(each).numpy() / 8), 0)  # type: ignore[union-attr]
    assert np.allclose(columns["policy"], mean / mean.sum(axis=1, keepdims=True), atol=1e-5)


def spread(network: Network, players: int) -> float:
    """How much the policies of a position's images differ, in nats: a mean over positions in the middle of games."""
    batch = Batch(Config(players=players), 64, 3)
    generator, images = np.random.default_rng(0), Images(GAME, [players])
    for _ in range(20):
        batch.step((generator.random(batch.action_masks.shape) * batch.action_masks).argmax(axis=1))
    seen, masks = torch.from_numpy(batch.observations), torch.from_numpy(batch.action_masks) == 1
    with torch.no_grad():
        logits = [images.logits(network, torch.full((64,), one), seen, None) for one in images.of[players]]
        each = [masked_log_probabilities(one, masks) for one in logits]
        return float(torch.stack(each).std(dim=0)[masks].mean())


@pytest.mark.slow
def test_a_policy_learns_that_they_are_alike() -> None:
    """The network's policies of images differ at first. Its value and its heads stay as they are."""
    network = network_for(GAME, seed=5)
    last: Any = network.policy[-1]
    with torch.no_grad():
        last.weight *= 8
    configs = [Config(players=2), Config(players=5)]
    torch.set_num_threads(1)  # more than one costs time for so small a network
    distiller = FromImages(network, configs, Budget(steps=90_000), 1)
    while distiller.fraction < 1:
        distiller.iterate()
    learned = distiller.playable()
    for players in (2, 5):
        assert spread(learned, players) < 0.6 * spread(network, players)
    for part in ("value", "win_margin_heads"):
        before, after = (getattr(one, part).state_dict() for one in (network, learned))
        assert all(torch.equal(before[name], after[name]) for name in before)


def test_the_command_keeps_what_it_is_for(tmp_path: Path) -> None:
    network = with_shortfall_weight(network_for(GAME), 3.0)
    notes = {"players": [2, 3], "config": dataclasses.asdict(Config(players=2)), "general": True}
    save_network(GAME, copy.deepcopy(network), tmp_path / "policy.zip", notes)
    folder = main(
        GAME, "images", str(tmp_path / "policy.zip"), steps=2000, games=16, more_weight=2.0, output=tmp_path / "out"
    )
    learned, told = read_checkpoint(GAME, folder / "policy.zip")
    assert told["training"]["players"] == [2, 3]
    assert told["training"]["distil"]["images"]["decisions"] >= 2000
    assert abs(learned.policy[-1].bias[-1].item() - network.policy[-1].bias[-1].item() - 2.0) < 0.1  # type: ignore[index]
    assert make_agent(f"policy:{folder / 'policy.zip'}", GAME).name.startswith("policy:")
    assert (folder / "distil.csv").read_text(encoding="utf-8").count("\n") >= 2


def test_games_without_images_are_refused(tmp_path: Path) -> None:
    for game, config in ((GAME, Config()), (connect_four.GAME, connect_four.GAME.config())):
        with pytest.raises(ConfigError, match="it has no images to learn from"):
            FromImages(network_for(game), [config], Budget(steps=100))
    notes = {"players": 2, "config": dataclasses.asdict(Config(players=2))}
    save_network(GAME, network_for(GAME), tmp_path / "policy.zip", notes)
    for weight, text in ((1.0, "more_weight=1: the network does not weigh shortfalls"), (float("nan"), "more_weight")):
        with pytest.raises(ConfigError, match=text):
            main(GAME, "images", str(tmp_path / "policy.zip"), more_weight=weight, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()
