"""Build the wheel with the machine code that is in the package's folder, for this kind of machine.

    python -m machine_code.wheel FOLDER

Needs the extra `release`. On Linux, auditwheel names the oldest system that the wheel runs on.
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
        python("build", "--wheel", "--outdir", temporary, str(ROOT))
        (wheel,) = Path(temporary).glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        if sys.platform == "linux":
            python("auditwheel", "repair", "--wheel-dir", str(folder), str(wheel))
        else:
            shutil.copy(wheel, folder)


def python(*words: str) -> None:
    """Run a module of this environment, with its programs on the path."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    subprocess.run([sys.executable, "-m", *words], check=True, env={**os.environ, "PATH": programs})


if __name__ == "__main__":
    main()
