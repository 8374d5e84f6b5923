"""Names of earlier versions: they lead to their new places, or say what is there instead."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import petrichor_env
from petrichor_env.moved import CHANGED, MOVED
from tabletop_engine.errors import TabletopError
from tests.support.processes import in_python

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    """Old modules are forgotten afterwards: the next test's import is the first one again."""
    before = petrichor_env.errors
    yield
    for name in MOVED:
        sys.modules.pop(f"petrichor_env.{name}", None)
        vars(petrichor_env).pop(name, None)
    petrichor_env.errors = before


@pytest.mark.parametrize("name", MOVED)
def test_moved_names_are_the_new_ones(name: str) -> None:
    with pytest.warns(
        DeprecationWarning, match=rf"petrichor_env\.{name} is .* since 0\.2\.0; .* gone in 0\.3\.0"
    ) as told:
        old = importlib.import_module(f"petrichor_env.{name}")
    for place, names in MOVED[name].items():
        assert place in str(told[0].message)
        for one in names.split():
            assert getattr(old, one) is getattr(importlib.import_module(place), one)


def test_an_error_of_the_old_name_is_caught() -> None:
    with pytest.warns(DeprecationWarning, match=r"tabletop_engine\.errors"):
        from petrichor_env.errors import PetrichorError  # type: ignore[import-not-found, unused-ignore]
    assert PetrichorError is TabletopError


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_interface_says_what_is_there_instead(name: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=rf"petrichor_env\.{name} is gone since 0\.2\.0: .*tabletop"):
        importlib.import_module(f"petrichor_env.{name}")


def test_other_missing_modules_are_missing_as_ever() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'petrichor_env.nothing'$"):
        importlib.import_module("petrichor_env.nothing")


def test_the_warning_names_the_users_line() -> None:
    program = "import petrichor_env\nfrom petrichor_env.kernels import sample_actions\n"
    said = in_python(program).stderr
    assert "<string>:2: DeprecationWarning: petrichor_env.kernels is tabletop_engine.play.kernels" in said


def test_new_names_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importlib.import_module("petrichor_env.observation")


def test_the_old_place_of_the_search_with_a_network() -> None:
    sys.modules.pop("tabletop_agents.guided_search", None)
    with pytest.warns(DeprecationWarning, match=r"is tabletop_agents\.search\.guided_search since 0\.3\.0; .* 0\.4\.0"):
        old = importlib.import_module("tabletop_agents.guided_search")
    assert old.GuidedSearchAgent is importlib.import_module("tabletop_agents.search.guided_search").GuidedSearchAgent
