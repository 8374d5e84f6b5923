"""Modules that a command loads when it needs them."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from tabletop_engine.errors import TabletopError
from tabletop_engine.extras import extra_text

_OWN = re.compile("benchmarks|tabletop_.*|.*_env")


def imported(name: str, extra: str) -> ModuleType:
    """Import a module that the core does not need. Raises TabletopError if it, or a module it needs, is missing."""
    if Path(*name.split(".")).with_suffix(".py").is_file() and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # an installed command does not look in the current folder
    folder = name.split(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name in (folder, name):
            raise TabletopError(f"there is no {folder}/ here: run it from a clone of the repository") from None
        missing = (error.name or "").split(".")[0]
        if _OWN.fullmatch(missing):
            raise
        raise TabletopError(f"{missing} is not installed: {extra_text(extra).partition(': ')[2]}") from None
