"""A browser, and somebody who uses it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import resize
from tests.support.visitor import DESK, Visitor, a_browser, visiting
from tests.support.web import Server


@pytest.fixture(scope="module")
def desk() -> Iterator[Any]:
    with a_browser(DESK) as browser:
        yield browser


@pytest.fixture
def visitor(desk: Any, server: Server, tmp_path: Path) -> Iterator[Visitor]:
    with visiting(desk, server.url, tmp_path) as one:
        yield one
    resize(desk, *DESK)  # a test may have changed it
