"""The frame around long jobs: its folder, which one process holds at a time, and a full disk."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tabletop_engine.errors import TabletopError
from tabletop_engine.files import make_folder
from tabletop_training.files.job import Job
from tabletop_training.files.tables import write_json, write_log

LOCKED = """
import sys, time
from tabletop_training.files.job import Job
with Job(sys.argv[1], resume=True):
    print("here", flush=True)
    time.sleep(600)
"""


def test_two_processes_do_not_write_into_one_folder(tmp_path: Path) -> None:
    """A process that was killed does not keep the folder locked."""
    with subprocess.Popen([sys.executable, "-c", LOCKED, str(tmp_path)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"here\n"
        with pytest.raises(TabletopError, match="another process is writing there"), Job(tmp_path, resume=True):
            pass
        other.kill()
    with Job(tmp_path, resume=True), Job(tmp_path, resume=True):  # a job within a job is one process's
        pass
    with Job(tmp_path, resume=True):
        pass


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TabletopError, match="the folder cannot be created"):
        make_folder(tmp_path / "file" / "demo", new=True)


@pytest.mark.parametrize("wanted", ["", ".", "../here", "inner/.."])
def test_a_folder_that_is_the_current_one(wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder has files, so a new one is made beside it. It is not hidden."""
    (tmp_path / "here" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    assert make_folder(wanted, new=True).resolve() == tmp_path / "here-2"


def test_a_file_that_cannot_be_written_anew_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rows() -> Iterator[dict[str, int]]:
        yield {"steps": 3}
        raise OSError(errno.ENOSPC, "No space left on device")

    def half_written(path: Path, text: str, **how: Any) -> None:
        path.write_bytes(text.encode()[: len(text) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    write_log(tmp_path / "log.csv", ["steps"], [{"steps": 1}, {"steps": 2}])
    write_json(tmp_path / "results.json", {"games": 8})
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(OSError, match="No space left"):
        write_log(tmp_path / "log.csv", ["steps"], rows())
    monkeypatch.setattr(Path, "write_text", half_written)
    with pytest.raises(OSError, match="No space left"):
        write_json(tmp_path / "results.json", {"games": 16})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
