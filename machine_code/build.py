"""Write the machine code of both games, as a wheel has it.

    python -m machine_code.build FOLDER

Needs a C compiler. FOLDER then has `contents.txt`, the extension that calls kernels, and a library with all kernels for
each target of this machine.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabletop_engine.compiling.shipped import CONTENTS, SWITCH, with_hash

if TYPE_CHECKING:
    from machine_code.modules import Module
    from machine_code.targets import Target

HERE = Path(__file__).parent
GAMES = ("petrichor_env.game", "evergreen_env.game")
X86_64_LEVELS = (2, 3)
"""The levels that libraries are made for. Level 2 has no AVX: processors before about 2013."""
_COMPILE = ("-O2", "-fPIC", "-Wall", "-Wextra", "-Werror")
_LINK = (
    ("-bundle", "-undefined", "dynamic_lookup")
    if sys.platform == "darwin"
    else ("-shared", "-s", "-Wl,-z,now,--no-as-needed")
)

_CLOSED = () if sys.platform == "darwin" else ("-Wl,--no-undefined",)
"""Linking fails if a library of kernels lacks a symbol."""


def targets() -> list[Target]:
    """The kinds of processors that this machine builds for."""
    from machine_code.targets import Target

    if platform.machine().lower() in ("x86_64", "amd64"):
        return [Target(f"x86-64-v{level}", level=level) for level in X86_64_LEVELS]
    return [Target("generic")]


def build(folder: Path, modules: Sequence[Module]) -> dict[str, Any]:
    """Write the files, and return what `contents.txt` says."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    libraries = []
    for target in targets():
        file = folder / f"{target.name}.so"
        with tempfile.TemporaryDirectory() as objects:
            for number, module in enumerate(modules):
                Path(objects, f"{number}.o").write_bytes(target.object_of(module.bitcode))
            compiler(
                *_COMPILE, *_LINK, *_CLOSED, "-o", file, *sorted(Path(objects).glob("*.o")), HERE / "runtime.c", "-lm"
            )
        libraries.append({**told_of(file), "level": target.level})
    call = folder / "call.abi3.so"
    include = f"-I{sysconfig.get_path('include')}"
    compiler(*_COMPILE, *_LINK, include, "-o", call, HERE / "call.c", "-lc")  # auditwheel reads which C library is used
    kernels = {one.key: one.told for one in modules if one.told is not None}
    contents = {"call": told_of(call), "libraries": libraries, "kernels": kernels}
    (folder / CONTENTS).write_bytes(with_hash(contents))
    return contents


def compiler(*words: str | Path) -> None:
    """Run the C compiler."""
    name = os.environ.get("CC") or (sysconfig.get_config_var("CC") or "cc").split()[0]
    subprocess.run([name, *map(str, words)], check=True)


def told_of(file: Path) -> dict[str, Any]:
    """A file's name and hash."""
    return {"file": file.name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as cache:  # Numba's cache has no IR
        os.environ.update({"TABLETOP_CACHE_DIR": cache, SWITCH: "1"})
        from machine_code.modules import modules_of
        from tabletop_engine.game import game_of

        contents = build(folder, modules_of([game_of(home) for home in GAMES]))
    size = sum((folder / one["file"]).stat().st_size for one in contents["libraries"])
    number, libraries = len(contents["kernels"]), len(contents["libraries"])
    print(f"{number} kernels, {libraries} libraries, {size / 1e6:.1f} MB, {time.monotonic() - start:.0f} s: {folder}")


if __name__ == "__main__":
    main()
