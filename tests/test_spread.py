"""How far editions differ, and which numbers cause it: estimates from made-up games whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from petrichor_env import Config
from petrichor_env import component_files as petrichor
from tabletop_engine.described.overlays import Numbers
from tabletop_engine.described.ranges import Each, OneOf, Permuted, Range
from tabletop_training.measure.results import Results
from tabletop_training.measure.spread import (
    FEW,
    by_edition,
    few_editions,
    look_up_first,
    parts_of,
    share_holding,
    spread_of,
)
from tests.support.effort import games

EDITIONS, GAMES = 200, 20


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def won(rates: np.ndarray, games: int = GAMES, seed: int = 1) -> np.ndarray:
    return (rng(seed).random((len(rates), games)) < rates[:, None]).astype(float)


def test_games_are_sorted_by_edition() -> None:
    def results(seeds: np.ndarray) -> Results:
        ones = np.ones(len(seeds), int)
        return Results(Config(), ("a",), 0, ones[:, None], ones[:, None], ones, seeds=seeds, editions=(1, 2, 3))

    seeds = np.arange(1_000_003, 1_000_003 + 12)
    assert (by_edition(results(seeds), seeds) % 3 == np.arange(3)[:, None]).all()
    with pytest.raises(ValueError, match="equally many"):
        by_edition(results(seeds[:4]), seeds[:4])


def test_the_variance_is_told_apart() -> None:
    values = rng().normal(0, 3, (2000, 1)) + rng(1).normal(5, 4, (2000, 10))
    parts = parts_of(values)
    assert parts.mean == pytest.approx(5, abs=0.3)
    assert parts.between == pytest.approx(9, rel=0.1) and parts.within == pytest.approx(16, rel=0.05)
    assert parts.share == pytest.approx(9 / 25, abs=0.03)
    assert parts_of(rng().normal(0, 1, (300, 10))).share < 0.01


def test_editions_that_do_not_differ_have_no_spread() -> None:
    told = spread_of(won(np.full(EDITIONS, 0.4)), rng(), shares=True)
    assert told.nine_tenths[1].value - told.nine_tenths[0].value < 0.1
    assert told.share.low == 0.0 and told.share.high < 0.03
    certain = spread_of(np.ones((EDITIONS, GAMES)), rng(), shares=True)
    assert certain.median.value == 1.0 and certain.nine_tenths[0].value == 1.0 and certain.mean.low < 1.0


@pytest.mark.parametrize(("alpha", "beta"), [(4.0, 4.0), (0.7, 2.0), (8.0, 1.0)])
def test_the_spread_of_win_rates_is_that_of_the_editions_and_not_of_their_games(alpha: float, beta: float) -> None:
    """Most studies have intervals with the truth in them. With few games an edition the quantiles are not too wide."""
    truth = np.quantile(rng(9).beta(alpha, beta, 200_000), [0.5, 0.05, 0.95])
    held, low, high, studies = 0, [], [], games(8, 24)
    for study in range(studies):
        rates = rng(study).beta(alpha, beta, EDITIONS)
        told = spread_of(won(rates, seed=100 + study), rng(study), shares=True)
        held += told.mean.low <= alpha / (alpha + beta) <= told.mean.high
        held += told.nine_tenths[0].low - 0.01 <= truth[1] <= told.nine_tenths[0].high + 0.01
        held += told.nine_tenths[1].low - 0.01 <= truth[2] <= told.nine_tenths[1].high + 0.01
        low.append(told.nine_tenths[0].value)
        high.append(told.nine_tenths[1].value)
    assert held >= 0.85 * 3 * studies
    assert np.mean(low) == pytest.approx(truth[1], abs=0.02) and np.mean(high) == pytest.approx(truth[2], abs=0.02)


def test_the_spread_of_margins() -> None:
    editions = rng().normal(4, 6, 2000)
    told = spread_of(editions[:, None] + rng(1).normal(0, 20, (2000, 20)), rng(2), shares=False)
    assert told.median.value == pytest.approx(4, abs=0.5)
    assert told.nine_tenths[0].value == pytest.approx(4 - 1.645 * 6, abs=0.8)
    assert told.half[1].value == pytest.approx(4 + 0.674 * 6, abs=0.6)


def test_the_share_of_editions_in_which_something_holds() -> None:
    differences = rng().normal(1, 1, (3000, 1)) + rng(1).normal(0, 5, (3000, 20))
    told = share_holding(differences, rng(2))
    assert told.value == pytest.approx(0.841, abs=0.02) and told.low < 0.841 < told.high
    assert share_holding(rng().normal(2, 0.1, (100, 20)), rng()).value > 0.999
    assert share_holding(-np.ones((5, 3)), rng()).value == 0.0


def numbers(found: Range | None, *values: Any) -> Numbers:
    return Numbers(values or (0,), ("assumed",), True, found)


def test_the_numbers_that_decide_are_found_and_the_others_are_not() -> None:
    """An edition's mean is 3 a + (b)² + [word is x] + noise; c, d and five permuted keys have no effect."""
    draw = rng(5)
    components = {
        **{name: numbers(Each((tuple(range(11)),))) for name in "abcd"},
        "word": numbers(OneOf((("x",), ("y",), ("z",)))),
        **{f"order{i}": numbers(Permuted("all"), i) for i in range(5)},
        "known": numbers(None, 7),
    }
    editions = []
    for _ in range(EDITIONS):
        order = draw.permutation(5)
        editions.append(
            {
                **{name: int(draw.integers(11)) for name in "abcd"},
                "word": str(draw.choice(["x", "y", "z"])),
                **{f"order{i}": int(order[i]) for i in range(5)},
            }
        )
    a, b, word = (np.array([edition[name] for edition in editions]) for name in ("a", "b", "word"))
    means = 3.0 * a + (b - 5.0) ** 2 + 4.0 * (word == "x")
    values = means[:, None] + rng(6).normal(0, 15, (EDITIONS, GAMES))
    told = look_up_first(values, editions, components, (), rng(7))
    index = {one.keys: one.index for one in told.numbers}
    assert set(index) == {("a",), ("b",), ("c",), ("d",), ("word",), tuple(f"order{i}" for i in range(5))}
    whole = (3.0 * a).var() + ((b - 5.0) ** 2).var() + (4.0 * (word == "x")).var()
    assert index["a",].value == pytest.approx((3.0 * a).var() / whole, abs=0.12)
    assert index["b",].value == pytest.approx(((b - 5.0) ** 2).var() / whole, abs=0.12)
    assert all(index[key].value < 0.04 for key in [("c",), ("d",), tuple(f"order{i}" for i in range(5))])
    assert {told.numbers[0].keys, told.numbers[1].keys} == {("a",), ("b",)}
    assert told.together.value > 0.85
    for estimate in (*index.values(), told.together):
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_what_is_not_played_is_not_looked_up() -> None:
    """The cactus by its module, corn by the number of players, however well chance lets them predict the editions."""
    editions: list[dict[str, Any]] = [petrichor.COMPONENTS.draw(seed) for seed in range(EDITIONS)]
    values = np.array([edition["tiles.cactus.scores"][0] for edition in editions])[:, None] + rng().normal(
        0, 1, (EDITIONS, GAMES)
    )
    given = (values, editions, petrichor.COMPONENTS.load(), petrichor.COMPONENTS.stated)
    told = {modules: look_up_first(*given, rng(), configs=[Config(modules=modules)]) for modules in ((), ("cactus",))}
    assert told["cactus",].numbers[0].keys == ("tiles.cactus.scores",)
    looked_up = {key for one in told[()].numbers for key in one.keys}
    assert "tiles.cotton.scores" in looked_up
    assert not looked_up & {"tiles.cactus.scores", "tiles.cactus.drowned_scores", "tiles.corn.drops_to_grow"}
    assert told["cactus",].together.value > 0.6 > 0.3 > told[()].together.value


def test_few_editions_say_little() -> None:
    """What held in each of ten editions may fail in every fifth edition; too few say nothing of what to look up."""
    always = share_holding(1.0 + rng().normal(0, 0.1, (10, 20)), rng())
    assert always.value > 0.999 and 0.6 < always.low < 0.8
    assert share_holding(1.0 + rng().normal(0, 0.1, (200, 20)), rng()).low > 0.97
    never = spread_of(np.zeros((10, 20)), rng(), shares=True)
    assert never.median.high == never.nine_tenths[1].high == never.mean.high > 0.2
    components = {"a": numbers(Each((tuple(range(11)),)))}
    editions = [{"a": int(one)} for one in rng().integers(11, size=FEW - 1)]
    told = look_up_first(rng().normal(0, 1, (FEW - 1, GAMES)), editions, components, (), rng())
    assert told.numbers == () and "at least 50" in few_editions(FEW - 1) and not few_editions(FEW)


def test_editions_that_do_not_differ_leave_nothing_to_look_up() -> None:
    components = {"a": numbers(Each((tuple(range(11)),)))}
    editions = [{"a": int(one)} for one in rng().integers(11, size=EDITIONS)]
    told = look_up_first(np.zeros((EDITIONS, GAMES)), editions, components, (), rng())
    assert told.numbers[0].index.value == 0.0 and told.together.value == 0.0
