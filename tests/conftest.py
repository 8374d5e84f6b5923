"""Settings for all tests, and for the processes that they start.

Windows open on SDL's dummy screen, even where there is a real one. Torch has one thread: several wait for each other by
spinning, which is many times slower if another process needs the cores.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.web import Server

os.environ["SDL_VIDEODRIVER"] = "dummy"
os.environ["OMP_NUM_THREADS"] = "1"


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "with the machine code of `make machine-code`: a kernel that Numba would have to compile after all fails"
    parser.addoption("--no-misfits", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--no-misfits"):
        from tests.support.misfits import refuse_misfits

        refuse_misfits()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of web pages, in this process."""
    from tests.support.web import serving  # most tests do not need it

    with serving(tmp_path_factory.mktemp("games")) as one:
        yield one
