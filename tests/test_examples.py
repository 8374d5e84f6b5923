"""The example learners: each runs for a few steps, as a program and as a function, and never leaves the mask."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.config import Config
from petrichor_env.observation import OBSERVATION_SIZE
from tabletop_engine.play.batch import Batch
from tabletop_training.petrichor.examples import cleanrl_style, pytorch_loop

OPTIONS = {
    "cleanrl_style": ["--steps", "8000", "--games", "40", "--opponent", "random"],
    "pytorch_loop": ["--steps", "3000", "--games", "40"],
}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", OPTIONS)
def test_example_runs_and_tells_its_win_rate(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each runs as a program, with environments that raise an error for an illegal action."""
    monkeypatch.setattr(sys, "argv", [name, *OPTIONS[name]])
    monkeypatch.delitem(sys.modules, f"tabletop_training.petrichor.examples.{name}")
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"tabletop_training.petrichor.examples.{name}", run_name="__main__")
    assert ended.value.code in (None, 0)
    found = re.search(r"won ([\d.]+)% of 40 games", capsys.readouterr().out)
    assert found
    parts = 80 if name == "cleanrl_style" else 40  # it plays another agent, so a victory may be shared
    won = float(found[1]) / 100 * parts
    assert 0 <= won <= parts
    assert won == pytest.approx(round(won), abs=0.05)  # as exactly as it is printed


def test_an_example_refuses_before_it_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleanrl_style.torch, "set_num_threads", lambda number: pytest.fail("it went on"))
    with pytest.raises(SystemExit, match="--opponent: agent 'nobody': must be one of"):
        cleanrl_style.main(opponent="nobody")


def test_cleanrl_style_tells_how_many_games_were_played(capsys: pytest.CaptureFixture[str]) -> None:
    rate = cleanrl_style.main(steps=1, games=3)
    assert f"won {rate:.1%} of 4 games" in capsys.readouterr().out


@pytest.mark.parametrize(
    "main",
    [
        lambda seed: pytorch_loop.main(steps=2000, games=200, seed=seed),
        pytest.param(
            lambda seed: cleanrl_style.main(steps=1, games=100, opponent="random", seed=seed), marks=pytest.mark.slow
        ),
    ],
    ids=["pytorch_loop", "cleanrl_style"],
)
def test_example_learns_the_same_from_a_seed(main: Callable[[int], float]) -> None:
    assert main(3) == main(3)


@pytest.mark.parametrize("name", ["pytorch_loop", "cleanrl_style"])
def test_policy_draws_legal_actions_alone(name: str) -> None:
    """Even if the network strongly prefers illegal ones: its outputs are large here."""
    torch.manual_seed(0)
    batch = Batch(Config(players=2), 300, 0)
    observations, masks = torch.as_tensor(batch.observations), batch.action_masks
    if name == "pytorch_loop":
        policy = pytorch_loop.masked_policy(100 * torch.randn(300, NUM_ACTIONS), masks)
    else:
        network = cleanrl_style.Network()
        torch.nn.init.normal_(list(network.actor.parameters())[-1], std=100.0)
        policy = network.policy(observations, torch.as_tensor(masks))
    for actions in (policy.sample(), policy.logits.argmax(1)):
        assert masks[np.arange(300), actions.numpy()].all()
    assert (policy.probs[torch.as_tensor(masks) == 0] == 0).all()
    assert torch.isfinite(policy.entropy()).all()


def test_pytorch_loop_gives_every_decision_what_came_after_it() -> None:
    """The return of a game's first decision is the margin, because rewards count all points, also earlier ones."""
    torch.manual_seed(0)
    batch = Batch(Config(), 5, reward="margin", autoreset="disabled")
    network = torch.nn.Linear(OBSERVATION_SIZE, 1 + NUM_ACTIONS)
    batch.reset(7)
    with torch.no_grad():
        log_probs, values, returns = pytorch_loop.play(batch, network, seed=7)
    points = batch.states["points"].astype(int)
    assert len(log_probs) == len(values) == len(returns) > 5 * 30
    assert (log_probs <= 0).all()
    assert returns[:5].tolist() == (points[:, 0] - points[:, 1]).tolist()


@pytest.mark.slow
def test_pytorch_loop_learns() -> None:
    """Random play wins 1 % of the games."""
    assert pytorch_loop.main(steps=150_000, games=500) > 0.1
