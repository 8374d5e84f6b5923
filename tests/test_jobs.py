"""The frame around long jobs: its folder, which one process holds at a time, and a full disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tabletop_engine.errors import TabletopError
from tabletop_engine.files import make_folder
from tabletop_training.files.job import Job

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
