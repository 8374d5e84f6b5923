"""What an installation may lack: libraries that only the extras of the distribution bring."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import packages_distributions
from typing import Any

from tabletop.errors import TabletopError


def needed(module: str, what: str, extra: str) -> Any:
    """The module. Raises TabletopError where it is missing, which says what it is for and which extra brings it."""
    try:
        return import_module(module)
    except (ImportError, OSError) as error:
        raise TabletopError(f"{what} needs {extra_text(extra)} ({error})") from None


def extra_text(extra: str) -> str:
    """How to install an extra of the distribution that this package came with."""
    (distribution, *_) = packages_distributions().get("tabletop") or ["tabletop"]
    return f'the extra "{extra}": pip install "{distribution}[{extra}]"'
