"""Programs that run in a Python process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PATHS = os.pathsep.join(str(ROOT / folder) for folder in ("", "agents", "training", "apps"))


def in_python(
    code: str, *arguments: str, env: Mapping[str, str] | None = None, cwd: Path = ROOT, status: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run code in a new process that finds this clone's packages, with `env` in its environment.

    Its exit status must be `status`.
    """
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": _PATHS, **(env or {})},
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=600,
    )
    assert ran.returncode == status, ran.stderr
    return ran
