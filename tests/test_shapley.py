"""What each of several changes does, on made-up figures with known answers."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from evergreen_env.component_files import COMPONENTS as EVERGREEN
from petrichor_env.component_files import COMPONENTS as PETRICHOR
from tabletop_training.measure.shapley import EXACT_GROUPS, Plan, Set, effects_of, groups_of, overlay_of


def game(number: int, seed: int = 0) -> Any:
    """A made-up figure for each set of changes, by 5 seeds."""
    values: dict[Set, np.ndarray] = {}

    def value(chosen: Set) -> np.ndarray:
        if chosen not in values:
            values[chosen] = np.random.default_rng([seed, *sorted(chosen)]).normal(size=5)
        return values[chosen]

    return value


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_shapley_values_are_the_mean_over_all_orders(number: int) -> None:
    value, plan = game(number), Plan.of(number, np.random.default_rng(0))
    told = effects_of(plan, value)
    for one in range(number):
        gains = [
            value(frozenset(order[: order.index(one) + 1])) - value(frozenset(order[: order.index(one)]))
            for order in permutations(range(number))
        ]
        assert np.allclose(told[one].shapley, np.mean(gains, axis=0))
        whole = frozenset(range(number))
        assert np.allclose(told[one].alone, value(frozenset([one])) - value(frozenset()))
        assert np.allclose(told[one].last, value(whole) - value(whole - {one}))


@pytest.mark.parametrize("number", [1, 3, 5, 8])
def test_they_add_up_and_need_only_the_sets_that_are_played(number: int) -> None:
    plan, value = Plan.of(number, np.random.default_rng(1)), game(number, seed=1)
    played = {frozenset(), frozenset(range(number)), *plan.sets}
    assert len(plan.sets) == len(set(plan.sets))

    def known(chosen: Set) -> np.ndarray:
        assert chosen in played
        return np.asarray(value(chosen))

    told = effects_of(plan, known)
    assert np.allclose(sum(one.shapley for one in told), value(frozenset(range(number))) - value(frozenset()))
    if number <= EXACT_GROUPS:
        assert len(plan.sets) == 2**number - 2 or number == 1
    else:
        assert len(plan.sets) <= 8 * (number - 1) + 2 * number


def test_changes_that_add_up_are_found_from_few_orders() -> None:
    effects = np.arange(8.0)
    told = effects_of(
        Plan.of(8, np.random.default_rng(2)), lambda chosen: np.full(3, sum(effects[one] for one in chosen))
    )
    for one, effect in zip(told, effects, strict=True):
        assert np.allclose([one.alone, one.last, one.shapley], effect)


def test_keys_that_go_only_together_are_one_group() -> None:
    changes: dict[str, Any] = {
        "tiles.coffee.copies": 1,
        "tiles.coffee.solo_priorities": [13],
        "tiles.rice.copies": 2,
        "tiles.rice.solo_priorities": [12, 14],
        "pieces.drops": 9,
        "tiles.cactus.drops_to_grow": 9,
        "tiles.cactus.drops_to_drown": 12,
    }
    PETRICHOR.load(changes)
    groups = groups_of(PETRICHOR, changes)
    assert ("pieces.drops",) in groups and len(groups) >= 3
    of_coffee = next(group for group in groups if "tiles.coffee.copies" in group)
    assert "tiles.coffee.solo_priorities" in of_coffee and "pieces.drops" not in of_coffee
    assert sorted(key for group in groups for key in group) == sorted(changes)
    for number in range(2 ** len(groups)):
        chosen = [one for one in range(len(groups)) if number >> one & 1]
        PETRICHOR.load(overlay_of(changes, groups, chosen))


def test_exchanged_priorities_are_one_group() -> None:
    wheat = PETRICHOR.load()["tiles.wheat.solo_priorities"].values
    grass = PETRICHOR.load()["tiles.grass.solo_priorities"].values
    changes: dict[str, Any] = {
        "tiles.wheat.solo_priorities": [grass[0], *wheat[1:]],
        "tiles.grass.solo_priorities": [wheat[0], *grass[1:]],
        "pieces.votes": 4,
    }
    assert sorted(map(len, groups_of(PETRICHOR, changes))) == [1, 2]


def test_groups_of_evergreen() -> None:
    changes: dict[str, Any] = {
        "flags.supply": [4, 4, 4, 4, 4],
        "flags.lake_growth": "optional",
        "flags.sun_start": "east",
    }
    groups = groups_of(EVERGREEN, changes)
    assert ("flags.sun_start",) in groups
    EVERGREEN.load(changes)
