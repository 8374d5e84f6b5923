"""Old names of modules: they can still be imported, with a warning that says where the module is now."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class MovedModules(MetaPathFinder, Loader):
    """Finds modules at their old names if nothing else does. A `DeprecationWarning` says the new name.

    Arguments:
        moved: the new dotted names, by the old ones.
        since: the version in which they moved.
        until: the version in which the old names will be gone.
    """

    def __init__(self, moved: Mapping[str, str], since: str, until: str) -> None:
        self.moved: Mapping[str, str] = moved
        self.since: str = since
        self.until: str = until

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in self.moved else None

    def exec_module(self, module: ModuleType) -> None:
        new = self.moved[module.__name__]
        text = f"{module.__name__} is {new} since {self.since}; the old name will be gone in {self.until}"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        names = vars(importlib.import_module(new)).items()
        vars(module).update({name: value for name, value in names if not name.startswith("__")})


def find_moved(moved: Mapping[str, str], since: str, until: str) -> None:
    """Let these old names be found from now on; the arguments are those of `MovedModules`."""
    sys.meta_path.append(MovedModules(moved, since, until))
