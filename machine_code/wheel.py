"""Build the wheel with the machine code that is in the package's folder, for this kind of machine.

    python -m machine_code.wheel FOLDER

Needs git and the extra `release`. On Linux, auditwheel names the oldest system that the wheel runs on.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tabletop_engine.compiling.shipped import CONTENTS, FOLDER

ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    if not (FOLDER / CONTENTS).exists():
        sys.exit(f"There is no machine code in {FOLDER}: run `make machine-code`.")
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary, "source")
        copy_clone(source)
        python("build", "--wheel", "--outdir", temporary, str(source))
        (wheel,) = Path(temporary).glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        if sys.platform == "linux":
            python("auditwheel", "repair", "--wheel-dir", str(folder), str(wheel))
        else:
            shutil.copy(wheel, folder)


def copy_clone(folder: Path) -> None:
    """Copy the files that git knows, and the machine code, but nothing that an earlier build left in the clone."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    shutil.copytree(FOLDER, folder / FOLDER.relative_to(ROOT))


def python(*words: str) -> None:
    """Run a module of this environment, with its programs on the path."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    subprocess.run([sys.executable, "-m", *words], check=True, env={**os.environ, "PATH": programs})


if __name__ == "__main__":
    main()
