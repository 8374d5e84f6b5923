"""Names of earlier versions still work, with a warning that names the new ones."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import tabletop_agents
import tabletop_training
from tests.support.processes import in_python

ROOT = Path(__file__).parents[1]
PACKAGES = ("evergreen_env", "petrichor_env", "tabletop_agents", "tabletop_cli", "tabletop_engine", "tabletop_training")
"""The import names of this distribution. No other project on PyPI has them; `tabletop` is another project's."""
MOVED = {**tabletop_agents.MOVED, **tabletop_training.MOVED}


def test_the_import_names_are_ours() -> None:
    named = subprocess.run(["git", "ls-files", "*/__init__.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    folders = [Path(line).parent for line in named.stdout.splitlines()]
    shipped = {path.name for path in folders if path.parent.name in ("", "agents", "training")}
    assert shipped - {"benchmarks", "machine_code", "tests"} == set(PACKAGES)


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_leads_to_the_new_one(old: str) -> None:
    new = importlib.import_module(MOVED[old])
    with pytest.warns(DeprecationWarning, match=rf"^{old} is {MOVED[old]} since 0\.3\.0; .* gone in 0\.4\.0$"):
        module = importlib.import_module(old)
    sys.modules.pop(old)
    names = {name for name in vars(new) if not name.startswith("__")}
    assert names and all(getattr(module, name) is getattr(new, name) for name in names)


def test_other_missing_modules_are_missing_as_ever() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'tabletop_training.nothing'$"):
        importlib.import_module("tabletop_training.nothing")


def test_the_warning_names_the_users_line() -> None:
    program = "import tabletop_agents\nfrom tabletop_agents.guided_search import GuidedSearchAgent\n"
    said = in_python(program).stderr
    assert "<string>:2: DeprecationWarning: tabletop_agents.guided_search is tabletop_agents.search" in said


def test_new_names_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importlib.import_module("tabletop_training.measure.matches")
