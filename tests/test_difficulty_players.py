"""What the difficulty report says about who plays, on made-up games with known answers; and soft players."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from petrichor_env import GAME, Config
from tabletop_agents import make_agent
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_training.petrichor import player_report
from tabletop_training.petrichor.report_plots import title_at
from tabletop_training.petrichor.variant_effects import SWITCHED, Sets
from tests.support.studies import sets_of

GAMES = 200
TRICKS = SWITCHED[:, 2].astype(float)[:, None]


def played(agent: str, mean: float, tricks: float = 0.0, seed: int = 0, luck: float = 0.0) -> Sets:
    """Made-up games: a mean margin, the effect of No More Tricks, and luck that all agents share on a seed."""
    shared = np.random.default_rng(99).normal(0, 1, GAMES)
    own = np.random.default_rng(seed).normal(0, 3, (16, GAMES))
    margins = np.rint(mean + tricks * TRICKS + luck * shared + own).astype(np.int64)
    return replace(sets_of(margins), agent=agent)


def test_a_variant_that_helps_one_and_hurts_another_is_named() -> None:
    text = "\n".join(player_report.section([played("random", -20, 2.8), played("policy:solo", 10, -3.2, seed=1)]))
    (line,) = [line for line in text.splitlines() if line.startswith("- **No More Tricks** depends on who plays")]
    assert "+2.7 (" in line or "+2.8 (" in line
    assert "for `random`" in line and line.endswith("for `policy:solo`.")
    assert "depends on who plays" not in "\n".join(player_report.section([played("a", 0, 3.0), played("b", 9, 2.0, 1)]))


def test_a_doubling_of_simulations_brings_its_slope() -> None:
    """1.5 points for each doubling, from 50 to 800 simulations, in any order; others are no part of it."""
    ladder = [played(f"search-{50 * 2**i}:solo", 1.5 * i, seed=i) for i in (4, 0, 2, 1, 3)]
    ((name, own),) = player_report.ladders([*ladder, played("search-50:other", 9), played("greedy", 0)]).items()
    assert name == "search-N:solo" and [simulations for simulations, _ in own] == [50, 100, 200, 400, 800]
    points, won = player_report.slope(own)
    assert points.low < 1.5 < points.high and points.value == pytest.approx(1.5, abs=0.05)
    means = [one.margins.mean() for _, one in own]
    assert points.value == pytest.approx(stats.linregress(range(5), means).slope)
    assert won.value == pytest.approx(stats.linregress(range(5), [one.won.mean() for _, one in own]).slope)
    assert "each doubling of `search-N:solo`'s simulations, from 50 to 800" in "\n".join(player_report.section(ladder))


def test_what_the_seed_decides_is_what_agents_share() -> None:
    """Luck with the standard deviation 3 beside an own one of 3: half of the variance is shared."""
    found = player_report.correlation(*(played("a", 0, seed=seed, luck=3.0).margins[0] for seed in (1, 2)))
    assert found.low < 0.5 < found.high
    one, other = np.random.default_rng(0).normal(size=(2, 50))
    wanted = stats.pearsonr(one, other)
    found = player_report.correlation(one, other)
    assert found.value == pytest.approx(wanted.statistic)
    assert (found.low, found.high) == pytest.approx(tuple(wanted.confidence_interval(0.95)))
    assert math.isnan(player_report.correlation(np.ones(9), one[:9]).value)


def test_a_single_agent_has_no_section() -> None:
    assert player_report.section([played("greedy", 0)]) == []


def test_soft_players_stand_beside_the_strongest() -> None:
    """In the hardest set of the strongest one, whatever is hardest for them; the softest last."""
    strong = played("policy:solo", 10, -3.0)
    hardest = title_at(int(strong.order[-1]))
    text = "\n".join(
        player_report.section([played("soft-8:solo", -9, seed=1), played("soft-2:solo", 2, seed=2), strong])
    )
    (heads,) = [line for line in text.splitlines() if line.startswith("  | agent |")]
    assert heads == f"  | agent | base game | {hardest} |"
    names = [line.split("`")[1] for line in text.splitlines() if line.startswith("  | `") and " %" in line]
    assert names == ["policy:solo", "soft-2:solo", "soft-8:solo"]
    assert "Weaker players" not in "\n".join(player_report.section([strong, played("greedy", 0, seed=3)]))


def test_soft_players_divide_the_logits() -> None:
    """`soft-1` is the policy's own probabilities; the higher the number, the more even they are."""
    decisions, draw = Decisions.of(Batch(Config(), 8, 1)), np.random.default_rng(0)
    shares = {
        name: make_agent(name, GAME).probabilities(decisions, draw)
        for name in ("policy:solo", "soft-1:solo", "soft-8:solo")
    }
    assert np.allclose(shares["soft-1:solo"], shares["policy:solo"])
    legal = decisions.action_masks == 1
    ratios = np.log(shares["soft-8:solo"][legal]) - np.log(shares["policy:solo"][legal]) / 8
    by_game = np.repeat(np.arange(8), legal.sum(axis=1))
    assert all(np.ptp(ratios[by_game == game]) < 1e-3 for game in range(8))
    assert (shares["soft-8:solo"][~legal] == 0).all()
    drawn = [make_agent("soft-8:solo", GAME).act(decisions, np.random.default_rng(seed)).tolist() for seed in range(4)]
    assert len(set(map(tuple, drawn))) > 1
