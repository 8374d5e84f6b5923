"""Optional libraries, which only the extras of the distribution install."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import packages_distributions
from typing import Any

from tabletop_engine.errors import TabletopError


def needed(module: str, what: str, extra: str) -> Any:
    """Import an optional module. If that fails, TabletopError says what needs it, and if it is missing which extra."""
    try:
        return import_module(module)
    except ImportError as error:
        raise TabletopError(f"{what} needs {extra_text(extra)} ({error})") from None
    except OSError as error:
        raise TabletopError(f"{what} needs {module}, which does not start here ({error})") from None


def extra_text(extra: str) -> str:
    """The name of an extra, and the command that installs it with the distribution of this package."""
    (distribution, *_) = packages_distributions().get("tabletop_engine") or ["tabletop_engine"]
    return f'the extra "{extra}": pip install "{distribution}[{extra}]"'
