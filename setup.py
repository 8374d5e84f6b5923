"""What pyproject.toml has no words for.

Pages and tables of docs/ that programs read go into the wheel. A wheel with machine code (`make machine-code`) is for
one kind of machine, and for every Python from 3.11 on.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import Distribution, setup
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


class OfThisMachine(Distribution):
    """The packages with machine code in them."""

    def has_ext_modules(self) -> bool:
        return True


more = {}
if Path("tabletop_engine/compiling/machine_code/contents.txt").exists():
    more = {"distclass": OfThisMachine, "options": {"bdist_wheel": {"py_limited_api": "cp311"}}}
setup(cmdclass={"build_py": BuildWithCopies}, **more)
