"""Games in which every seat can learn: what a rollout holds, PPO's advantages, and its update."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib.common.maskable.distributions import MaskableCategorical
from torch import nn

from petrichor_env.config import MODULES, Config
from petrichor_env.game import GAME
from tabletop_agents.checkpoint import variety
from tabletop_agents.search.forward import MARGIN_UNIT
from tabletop_engine.play.batch import Batch
from tabletop_training.files.settings import Settings
from tabletop_training.learn.curriculum import Curriculum, by_players
from tabletop_training.learn.games import SeatGames
from tabletop_training.learn.group import Group
from tabletop_training.learn.opponents import Opponents, OpponentSettings
from tabletop_training.learn.outcomes import heads_loss, outcome_targets
from tabletop_training.learn.ppo import (
    Rollout,
    advantages,
    drawn,
    masked_log_probabilities,
    new_network,
    shuffled,
    update,
)

SMALL = Settings(num_envs=12, steps=200, trunk=(16,), layers=(16,), threads=1)


def plain_games(configs: list[Config], settings: Settings = SMALL, halves: int | None = None) -> SeatGames:
    """Games of these configurations, all seats the learner's."""
    curricula = {players: Curriculum([ways], 0.0, 0.0, 5) for players, ways in by_players(configs).items()}
    opponents = Opponents(OpponentSettings(), configs, Path(), 5)
    return SeatGames(curricula, settings.num_envs, settings, 5, opponents, halves=halves)


@pytest.mark.parametrize("halves", [1, 2])
def test_rollouts_are_the_games_of_batches(halves: int) -> None:
    """The actions of a rollout are played again. Observations, masks, actors, rewards and ends are the batch's."""
    configs = [Config(players=2), Config(players=5, modules=MODULES)]
    settings = Settings(num_envs=12, steps=150, trunk=(16,), layers=(16,), reward_scale=0.5, win_bonus=2.0)
    torch.manual_seed(0)
    games, each = plain_games(configs, settings, halves), 12 // halves // 2
    rollouts = [games.play(new_network(GAME, settings), 150) for _ in range(3)]
    for number, config in enumerate(halves * configs):
        batch = Batch(config, each, 5 + each * number, reward="margin")
        batch.reset(config=[config] * each)
        part, steps = slice(each * number, each * number + each), 0
        for rollout, ends in rollouts:
            for t in range(150):
                steps += 1
                seen = games.inputs(rollout.observations[t, part], rollout.editions[t, part]).numpy()
                assert np.array_equal(seen, batch.observations)
                assert np.array_equal(rollout.masks[t, part].numpy(), batch.action_masks == 1)
                assert np.array_equal(rollout.actors[t, part].numpy(), batch.actors)
                assert np.array_equal(rollout.deciding[t, part].numpy(), batch.action_masks.sum(axis=1) > 1)
                batch.step(rollout.actions[t, part].numpy())
                assert np.array_equal(rollout.dones[t, part].numpy(), batch.terminations)
                expected = np.zeros((each, 5))
                expected[:, : config.players] = 0.5 * batch.rewards
                for game in np.flatnonzero(batch.terminations):
                    end = np.flatnonzero((ends.steps == t) & (ends.games == part.start + game))[0]
                    winners = batch.winners()[game]
                    assert np.allclose(ends.won[end, : config.players], winners / winners.sum())
                    points = batch.final_states[game]["points"][: config.players].astype(float)
                    ahead = points - (points.sum() - points) / (config.players - 1)
                    assert np.allclose(ends.margins[end, : config.players], ahead)
                    assert (ends.won[end, config.players :] == 0).all() and ends.configs[end] == config
                    expected[game, : config.players] += 2.0 * (2 * winners / winners.sum() - 1)
                assert np.allclose(rollout.rewards[t, part].numpy(), expected, atol=1e-5)
                if steps % 8 == 0 and batch.terminations.any():  # new games get their configuration now
                    batch.reset(mask=batch.terminations.copy(), config=[config] * int(batch.terminations.sum()))
    assert sum(len(ends.configs) for _, ends in rollouts) > 4


def test_games_that_begin_get_the_configuration_that_is_chosen() -> None:
    ways: list[Any] = list(variety(Config()))
    games = plain_games(ways)
    _, ends = games.play(new_network(GAME, SMALL), 300)
    assert len(ways) == 16 and len(ends.configs) >= 12
    assert set(ends.configs) <= set(ways) and len(set(ends.configs)) > 1


@pytest.mark.parametrize("players", [2, 4, 5])
def test_the_ways_to_play_petrichor(players: int) -> None:
    ways = variety(Config(players=players))
    assert len(set(ways)) == len(ways) and all(way.players == players for way in ways)
    assert {way.modules for way in ways} == {(), MODULES, *((name,) for name in MODULES)}
    assert {(way.drafting, way.rounds) for way in ways if not way.modules} == {(a, b) for a in (0, 1) for b in (4, 6)}


def test_actions_are_drawn_with_their_probabilities() -> None:
    torch.manual_seed(1)
    masks = torch.tensor([[True, False, True, True]])
    chances = masked_log_probabilities(torch.tensor([[1.0, 9.0, 0.0, 2.0]]), masks)
    actions = drawn(chances.expand(20_000, -1))
    shares = torch.bincount(actions, minlength=4) / 20_000
    assert shares[1] == 0
    assert torch.allclose(shares, chances.exp()[0], atol=0.015)


def by_hand(rollout: Rollout, discount: float, gae: float) -> dict[tuple[int, int], float]:
    """PPO's advantages as the paper writes them, one seat's decisions after the other."""
    found: dict[tuple[int, int], float] = {}
    steps, games, seats = rollout.rewards.shape
    for game in range(games):
        for seat in range(seats):
            chain: list[tuple[int, float, float, bool]] = []  # step, value, what was gained until the next one, ended
            for t in range(steps):
                if rollout.actors[t, game] == seat and rollout.deciding[t, game]:
                    chain.append((t, float(rollout.values[t, game]), 0.0, False))
                if chain and not chain[-1][3]:
                    step, value, gained, _ = chain[-1]
                    ended = bool(rollout.dones[t, game])
                    chain[-1] = (step, value, gained + float(rollout.rewards[t, game, seat]), ended)
            following, later = 0.0, 0.0
            for number in range(len(chain) - 1, -1, -1):
                step, value, gained, ended = chain[number]
                if number == len(chain) - 1 and not ended:
                    following, later = value, 0.0
                    continue
                if ended:
                    following, later = 0.0, 0.0
                later = gained + discount * following - value + discount * gae * later
                found[step, game], following = later, value
    return found


def test_advantages_follow_each_seat() -> None:
    """With random decisions of 3 seats, compared with sums for each seat."""
    generator = torch.Generator().manual_seed(3)
    steps, games, seats = 40, 30, 3

    def some(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    rollout = Rollout(
        *(torch.empty(0),) * 6,
        values=some(steps, games),
        actors=torch.randint(seats, (steps, games), generator=generator),
        deciding=torch.rand(steps, games, generator=generator) < 0.7,
        rewards=some(steps, games, seats),
        dones=torch.rand(steps, games, generator=generator) < 0.07,
        **dict.fromkeys(("outputs", "won", "margins", "teams"), torch.empty(0)),
    )
    found, known = advantages(rollout, 0.95, 0.9)
    expected = by_hand(rollout, 0.95, 0.9)
    assert {(int(t), int(g)) for t, g in known.nonzero()} == set(expected)
    assert len(expected) > 500
    for (t, game), advantage in expected.items():
        assert float(found[t, game]) == pytest.approx(advantage, abs=1e-4)


def test_targets_of_the_heads_follow_each_game() -> None:
    """Games for 1 and for 3 of at most 4 players, compared with sums for each decision and seat."""
    generator = torch.Generator().manual_seed(4)
    steps, games, mixed = 30, 20, 0.95
    players = torch.tensor([1, 3] * (games // 2))
    actors = torch.randint(3, (steps, games), generator=generator) % players
    dones = torch.rand(steps, games, generator=generator) < 0.1
    outputs = torch.randn(steps, games, 8, generator=generator)
    won, margins = torch.rand(2, steps, games, 3, generator=generator)
    found = outcome_targets(outputs, won, margins, dones, actors, players)
    for game, number in enumerate(players.tolist()):
        logits = outputs[:, game, :number]
        shares = logits.sigmoid() if number == 1 else logits.softmax(dim=1)
        for said, ends, learned in zip((shares, outputs[:, game, 4:]), (won, margins), found, strict=True):
            for t in range(steps):
                for clockwise in range(number):
                    seat, weight, expected = (int(actors[t, game]) + clockwise) % number, 1.0, 0.0
                    for later in range(t, steps):
                        if dones[later, game]:
                            expected += weight * float(ends[later, game, seat])
                            break
                        following = min(later + 1, steps - 1)
                        share = 1.0 if later == steps - 1 else 1 - mixed
                        place = (seat - int(actors[following, game])) % number
                        expected += weight * share * float(said[following, place])
                        weight *= 1 - share
                    assert float(learned[t, game, clockwise]) == pytest.approx(expected, abs=1e-4)


def test_chances_are_those_of_sb3_contrib() -> None:
    torch.manual_seed(2)
    logits, masks = 5 * torch.randn(200, 30), torch.rand(200, 30) < 0.3
    masks[:, 7] = True
    found = masked_log_probabilities(logits, masks)
    theirs: Any = MaskableCategorical(logits=logits, masks=masks)
    actions = theirs.sample()
    torch.testing.assert_close(found.gather(1, actions[:, None])[:, 0], theirs.log_prob(actions), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(-(found.exp() * found).sum(dim=1), theirs.entropy(), rtol=1e-4, atol=1e-5)


class Watched(Group):
    """Remembers the network's inputs in an update."""

    def __init__(self) -> None:
        self.asked: list[torch.Tensor] = []

    def averaging(self, network: nn.Module) -> nn.Module:
        network.register_forward_pre_hook(lambda _, inputs: self.asked.append(inputs[0]))
        return network


def test_an_epoch_learns_from_every_known_decision_once() -> None:
    torch.manual_seed(4)
    games, network = plain_games([Config(players=3)]), new_network(GAME, SMALL)
    rollout, _ = games.play(network, 60)
    _, known = advantages(rollout, 1.0, 0.98)
    settings, group = replace(SMALL, minibatch=100, epochs=2), Watched()
    update(network, torch.optim.Adam(network.parameters()), rollout, games.inputs, settings, 0.0, group)
    wanted = games.inputs(rollout.observations[known], rollout.editions[known])
    half = len(group.asked) // 2
    assert all(len(one) <= 100 for one in group.asked) and half == -(-len(wanted) // 100) > 3
    epochs = [torch.cat(group.asked[:half]), torch.cat(group.asked[half:])]
    for epoch in epochs:
        assert sorted(map(bytes, epoch.numpy())) == sorted(map(bytes, wanted.numpy()))
    assert not torch.equal(*epochs)


def test_large_minibatches_have_a_round_size_and_leave_out_little() -> None:
    rows = torch.arange(20_000, 31_000)
    first, second = (shuffled(rows, 3) for _ in range(2))
    assert [len(part) for part in (*first, *second)] == [3584] * 6  # 3,666 and a third, less what is over 28 * 128
    assert torch.cat(first).unique().numel() == 3 * 3584 and torch.isin(torch.cat(first), rows).all()
    left_out = [set(rows.tolist()) - set(torch.cat(epoch).tolist()) for epoch in (first, second)]
    assert len(left_out[0] & left_out[1]) < 30  # 248 of 11,000 in both epochs: 6 are expected
    assert [len(part) for part in shuffled(rows[:1000], 3)] == [334, 333, 333]


def test_an_update_is_that_of_the_paper() -> None:
    """One optimizer step from an older policy, compared with PPO's loss computed for each decision.

    The loss of the win and margin heads is added; it changes nothing but the heads.
    """
    torch.manual_seed(5)
    games, older = plain_games([Config(players=2)], replace(SMALL, num_envs=5)), new_network(GAME, SMALL)
    rollout, _ = games.play(older, 150)
    network = copy.deepcopy(older)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))  # ratios beyond the clip
    expected = copy.deepcopy(network)
    settings = replace(SMALL, minibatch=10**6, epochs=1, value_weight=0.7, max_gradient=1e9)
    losses = update(network, torch.optim.SGD(network.parameters(), 0.1), rollout, games.inputs, settings, 0.02)

    found, known = advantages(rollout, settings.discount, settings.gae_lambda)
    better = (found[known] - found[known].mean()) / (found[known].std() + 1e-8)
    hidden = expected.trunk(games.inputs(rollout.observations[known], rollout.editions[known]))
    logits, values = expected.policy(hidden), expected.value(hidden)[:, 0]
    about = rollout.dones, rollout.actors, rollout.teams.max(dim=1).values + 1
    won, ahead = outcome_targets(rollout.outputs, rollout.won, rollout.margins / MARGIN_UNIT, *about)
    targets = {"won": won[known], "margins": ahead[known], "teams": torch.full((len(logits),), 2)}
    assert rollout.dones.any() and expected.win_margin_heads is not None
    of_heads = heads_loss(expected.win_margin_heads(hidden.detach()), targets)
    total, clipped = torch.tensor(0.0), 0
    for i in range(len(better)):
        legal = rollout.masks[known][i]
        policy = torch.distributions.Categorical(logits=logits[i][legal])
        action = int(legal[: rollout.actions[known][i]].sum())
        ratio = (policy.log_prob(torch.tensor(action)) - rollout.log_probabilities[known][i]).exp()
        gain = torch.minimum(ratio * better[i], ratio.clamp(0.8, 1.2) * better[i])
        aim = found[known][i] + rollout.values[known][i]
        total = total - gain + 0.7 * (values[i] - aim) ** 2 - 0.02 * policy.entropy()
        clipped += not 0.8 <= float(ratio.detach()) <= 1.2
    (total / len(better) + of_heads).backward()
    assert losses.heads_loss == pytest.approx(float(of_heads.detach()))
    assert losses.clipped == pytest.approx(clipped / len(better)) and 0 < clipped < len(better)
    for one, other in zip(network.parameters(), expected.parameters(), strict=True):
        assert other.grad is not None
        torch.testing.assert_close(one, other - 0.1 * other.grad, rtol=1e-3, atol=1e-5)
