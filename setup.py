"""What pyproject.toml has no words for: the published tables of agents go into the wheel, for `benchmark` to read."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

TABLES = {"petrichor": Path("docs/benchmark.json"), "evergreen": Path("docs/evergreen/benchmark.json")}


class BuildWithTables(build_py):
    """Copies them beside `tabletop_training.benchmark`; a clone that is installed in place reads them in docs/."""

    def run(self) -> None:
        super().run()
        folder = Path(self.build_lib, "tabletop_training", "tables")
        for game, table in TABLES.items():
            if table.exists() and not self.editable_mode:
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(table, folder / f"{game}.json")


setup(cmdclass={"build_py": BuildWithTables})
