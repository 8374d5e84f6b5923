"""Where machine code is kept when neither the home nor the installation can be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tabletop.cache import CACHE_VARIABLE

NOWHERE = "/proc/nowhere"
"""No user can make this folder."""
FOLDERS = """
import subprocess, sys
from tabletop.cache import code_folder
own = code_folder()
assert code_folder() == own and own.is_dir()
child = "from tabletop.cache import code_folder; print(code_folder())"
inherited = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True)
assert not inherited.stderr, inherited.stderr
print(own, inherited.stdout.strip())
"""


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != CACHE_VARIABLE}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env={**kept, **environment}, capture_output=True, text=True, check=True)


def test_a_folder_that_cannot_be_written() -> None:
    """A temporary one takes its place, for children too, and is gone in the end; stderr names the variable."""
    for environment in ({"HOME": NOWHERE, "XDG_CACHE_HOME": ""}, {CACHE_VARIABLE: NOWHERE}):
        made = run(FOLDERS, **environment)
        own, inherited = made.stdout.split()
        assert own == inherited and not Path(own).exists()
        assert NOWHERE in made.stderr and CACHE_VARIABLE in made.stderr
        assert made.stderr.count("can't be written") == 1


def test_compiled_code_goes_there(tmp_path: Path) -> None:
    """With the variable, and without it below the user's cache folder; nothing is said."""
    code = "import tabletop.kernels as k, numpy as n; k.sample_actions(n.ones((1, 2), n.int8), n.random.default_rng(0))"
    for name, variable in (("one", CACHE_VARIABLE), ("two", "XDG_CACHE_HOME")):
        assert run(code, **{variable: str(tmp_path / name)}).stderr == ""
        assert list((tmp_path / name).rglob("*.nbc"))
