"""What pyproject.toml has no words for: pages and tables of docs/ that programs read go into the wheel."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

COPIES = {
    "tabletop_training/tables/petrichor.json": Path("docs/benchmark.json"),
    "tabletop_training/tables/evergreen.json": Path("docs/evergreen/benchmark.json"),
    "petrichor_env/rules.md": Path("docs/rules.md"),
    "evergreen_env/rules.md": Path("docs/evergreen/rules.md"),
}
"""What `tabletop_engine.files.shipped` finds: the agents' published tables, and how the rules are read."""


class BuildWithCopies(build_py):
    """Copies them into the packages; a clone that is installed in place reads them in docs/."""

    def run(self) -> None:
        super().run()
        for name, original in COPIES.items():
            if original.exists() and not self.editable_mode:
                copy = Path(self.build_lib, name)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(original, copy)


setup(cmdclass={"build_py": BuildWithCopies})
