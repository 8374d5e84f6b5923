"""One network for several numbers of players, learned from every seat: its games, its advantages, its command."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evergreen_env.game import GAME as EVERGREEN
from petrichor_env.config import MODULES, VARIANTS, Config
from petrichor_env.game import GAME
from tabletop.batch import Batch
from tabletop.errors import ConfigError
from tabletop_agents import make_agent
from tabletop_agents.checkpoint import configs_of, read_checkpoint, read_notes, save_network, variety
from tabletop_agents.policy import PolicyAgent
from tabletop_cli.evergreen import main as evergreen
from tabletop_cli.petrichor import main as petrichor
from tabletop_training.curriculum import Curriculum, by_players
from tabletop_training.learn.games import Rollout, SeatGames
from tabletop_training.learn.opponents import Opponents, OpponentSettings
from tabletop_training.learn.ppo import advantages, drawn, masked_log_probabilities, new_network
from tabletop_training.learn.task import EvaluationSettings, Judge
from tabletop_training.settings import Settings

SMALL = Settings(num_envs=12, steps=200, trunk=(16,), layers=(16,), threads=1)


def plain_games(configs: list[Config], settings: Settings = SMALL) -> SeatGames:
    """Games of these configurations, all seats the learner's."""
    curricula = {players: Curriculum([ways], 0.0, 0.0, 5) for players, ways in by_players(configs).items()}
    return SeatGames(curricula, settings.num_envs, settings, 5, Opponents(OpponentSettings(), configs, Path(), 5))


# --- Games -----------------------------------------------------------------------------------------------------------


def test_rollouts_are_the_games_of_batches() -> None:
    """The actions of a rollout, played again: observations, masks, who was asked, rewards and ends are the batch's."""
    configs = [Config(players=2), Config(players=5, modules=MODULES)]
    settings = Settings(num_envs=6, steps=150, trunk=(16,), layers=(16,), reward_scale=0.5, win_bonus=2.0)
    torch.manual_seed(0)
    games = plain_games(configs, settings)
    rollouts = [games.play(new_network(GAME, settings), 150) for _ in range(3)]
    for number, config in enumerate(configs):
        batch = Batch(config, 3, 5 + 3 * number, reward="margin")
        batch.reset(config=[config] * 3)
        part, steps = slice(3 * number, 3 * number + 3), 0
        for rollout, ends in rollouts:
            for t in range(150):
                steps += 1
                seen = games.scaled(rollout.observations[t, part]).numpy()
                assert np.array_equal(seen, batch.observations)
                assert np.array_equal(rollout.masks[t, part].numpy(), batch.action_masks == 1)
                assert np.array_equal(rollout.actors[t, part].numpy(), batch.actors)
                assert np.array_equal(rollout.deciding[t, part].numpy(), batch.action_masks.sum(axis=1) > 1)
                batch.step(rollout.actions[t, part].numpy())
                assert np.array_equal(rollout.dones[t, part].numpy(), batch.terminations)
                expected = np.zeros((3, 5))
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
                if steps % 8 == 0 and batch.terminations.any():  # these are given what is chosen then
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


# --- Advantages ------------------------------------------------------------------------------------------------------


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
    """Random decisions of 3 seats against sums made seat by seat."""
    generator = torch.Generator().manual_seed(3)
    steps, games, seats = 40, 30, 3

    def some(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    rollout = Rollout(
        *(torch.empty(0),) * 5,
        values=some(steps, games),
        actors=torch.randint(seats, (steps, games), generator=generator),
        deciding=torch.rand(steps, games, generator=generator) < 0.7,
        rewards=some(steps, games, seats),
        dones=torch.rand(steps, games, generator=generator) < 0.07,
    )
    found, known = advantages(rollout, 0.95, 0.9)
    expected = by_hand(rollout, 0.95, 0.9)
    assert {(int(t), int(g)) for t, g in known.nonzero()} == set(expected)
    assert len(expected) > 500
    for (t, game), advantage in expected.items():
        assert float(found[t, game]) == pytest.approx(advantage, abs=1e-4)


# --- Evaluations ------------------------------------------------------------------------------------------------------


def test_a_score_is_relative_to_an_even_share() -> None:
    class First:
        """Plays the first legal action."""

        name = "first"

        def act(self, decisions: Any, generator: np.random.Generator) -> np.ndarray:
            return np.asarray(decisions.action_masks.argmax(axis=1))

    configs = [Config(), Config(variants=VARIANTS), Config(players=2), Config(players=3)]
    judged = Judge(configs, EvaluationSettings(("random",), 12), 0).judge(First())
    rates = [judged.numbers[f"{players}p_win_rate"] for players in (1, 2, 3)]
    assert judged.score == pytest.approx((rates[0] + 2 * rates[1] + 3 * rates[2]) / 3, abs=1e-3)


# --- Commands --------------------------------------------------------------------------------------------------------


def run(command: Any, *words: Any) -> int:
    with pytest.raises(SystemExit) as ended:
        command([str(word) for word in words])
    return int(str(ended.value.code or 0))


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(
        "[learning]\nnum_envs = 24\nsteps = 16\nminibatch = 128\ntrunk = [16]\nlayers = [16]\nthreads = 1\n"
        "[games]\nvariety = true\n[opponents]\nleague = 0.25\n[evaluation]\ngames = 2\nagainst = ['random']\n"
    )
    return path


def test_train_general(tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "general"
    assert run(petrichor, "train", "general", "--config", tiny, "--steps", 1500, "--output", folder) == 0
    rows = list(csv.DictReader((folder / "learning_curve.csv").read_text(encoding="utf-8").splitlines()))
    assert int(rows[-1]["steps"]) >= 1500
    assert (folder / "evaluations.csv").is_file()
    for name in ("policy.zip", "best.zip"):
        training = read_notes(GAME, folder / name)["training"]
        assert training["players"] == [2, 3, 4, 5] and training["general"]
        assert json.loads(json.dumps(training))["games"]["variety"]
    configs = configs_of(GAME, training, folder)
    assert by_players(configs).keys() == {2, 3, 4, 5}
    assert all(by_players(configs)[number] == list(variety(Config(players=number))) for number in (2, 3, 4, 5))
    agent = make_agent(f"policy:{folder / 'policy.zip'}", GAME)
    assert isinstance(agent, PolicyAgent) and agent.players == (2, 3, 4, 5)
    agent.check(Config(players=3))
    with pytest.raises(ConfigError, match="trained for 2, 3, 4 or 5 players, and this is the solo game"):
        agent.check(Config())


def test_train_general_goes_on_and_against_a_rival(tiny: Path, tmp_path: Path) -> None:
    start, folder = tmp_path / "start.zip", tmp_path / "rival"
    network = new_network(GAME, SMALL)
    save_network(GAME, network, start, {"players": 2, "config": {"players": 2, "modules": ["cactus"]}})
    words = ("--players", "2", "--start", start, "--rival", start, "--steps", 400, "--output", folder)
    assert run(petrichor, "train", "general", "--config", tiny, *words) == 0
    learned, notes = read_checkpoint(GAME, folder / "policy.zip")
    assert [layer.weight.shape for layer in learned.policy if hasattr(layer, "weight")] == [(16, 16), (143, 16)]
    assert notes["training"]["rival"] == str(start) and notes["training"]["players"] == 2
    assert configs_of(GAME, notes["training"], folder) == [
        Config(players=2, modules=("cactus",))
    ]  # what its rival knew
    assert not torch.equal(next(learned.parameters()), next(network.parameters()))


def test_train_general_of_the_other_game(tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "evergreen"
    assert run(evergreen, "train", "general", "--config", tiny, "--steps", 600, "--output", folder) == 0
    game = make_agent(f"policy:{folder / 'policy.zip'}", EVERGREEN)
    assert isinstance(game, PolicyAgent) and game.players == (2, 3, 4)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--players", "7"), "players=7"),
        (("--players", "two"), "numbers of players, separated by commas"),
        (("--players", "2,2"), "each number once"),
        (("--rival", "solo"), "rival='solo': it was not trained for these numbers of players, or for no other seat"),
        (("--players", "1", "--rival", "versus"), "it was not trained for these numbers"),
        (("--device", "nowhere"), "device='nowhere'"),
        (("--start", "missing.zip"), "missing.zip: there is no such file"),
    ],
)
def test_slips_on_the_command_line(
    words: tuple[str, ...], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(petrichor, "train", "general", *words, "--output", tmp_path / "none") == 2
    assert text in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
