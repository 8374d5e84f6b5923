"""Settings for all tests, and for the processes that they start.

Windows open on SDL's dummy screen, even where there is a real one. Torch has one thread: several wait for each other by
spinning, which is many times slower if another process needs the cores.
"""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.support.effort import THOROUGH

if TYPE_CHECKING:
    from pathlib import Path

    from tabletop_engine.replays.replay import Frame, Replay
    from tests.support.web import Server

os.environ["SDL_VIDEODRIVER"] = "dummy"
os.environ["OMP_NUM_THREADS"] = "1"


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "with the machine code of `make machine-code`: a kernel that Numba would have to compile after all fails"
    parser.addoption("--no-misfits", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    if not THOROUGH:  # `make test` tries the same examples each time, `make test-slow` others
        settings.register_profile("repeated", derandomize=True)
        settings.load_profile("repeated")
    gc.disable()  # collecting tests makes a million objects that stay, and looking through them takes time
    if config.getoption("--no-misfits"):
        from tests.support.misfits import refuse_misfits

        refuse_misfits()


@pytest.hookimpl(trylast=True)  # cases that -k or -m leave out do not count
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out cases of tests marked `one_in(n)`: the first runs, and then one in n; `make test-slow` runs all."""
    seen: Counter[str] = Counter()
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        mark, name = item.get_closest_marker("one_in"), item.nodeid.partition("[")[0]
        is_left_out = mark is not None and not THOROUGH and seen[name] % mark.args[0] > 0
        (left_out if is_left_out else kept).append(item)
        seen[name] += 1
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def pytest_collection_finish() -> None:
    gc.enable()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of web pages, in this process."""
    from tests.support.web import serving  # most tests do not need it

    with serving(tmp_path_factory.mktemp("games")) as one:
        yield one


@pytest.fixture(scope="module")
def replay() -> Replay:
    """A game whose names would break a careless page."""
    from tests.support.recorded import badly_named

    return badly_named()


@pytest.fixture(scope="module")
def shown(replay: Replay) -> list[Frame]:
    """What the page of `replay` shows, step by step."""
    from tabletop_engine.replays.replay import frames

    return list(frames(replay))


@pytest.fixture(scope="module")
def replay_file(replay: Replay, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of `replay`."""
    from tabletop_engine.replays.page import write_page

    written = tmp_path_factory.mktemp("page") / "game.html"
    write_page(replay, written)
    return written
