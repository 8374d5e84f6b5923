"""Headless Chromium, driven by selenium, with its console and its requests recorded."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

STEP_SECONDS = 60.0
"""How many seconds a browser may take for a step that usually takes a moment."""


@contextmanager
def chromium(*arguments: str, **experimental: Any) -> Iterator[Any]:
    """A browser with a profile of its own; skips the test where there is none.

    `arguments` are Chromium's own; `experimental` are options of its driver, such as `mobileEmulation`.
    """
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    from selenium.webdriver.chrome.service import Service

    binary = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("needs chromium and chromedriver on the PATH")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", *arguments):
        options.add_argument(argument)
    for name, value in experimental.items():
        options.add_experimental_option(name, value)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(driver))  # given a path, selenium downloads none
    try:
        yield opened
    finally:
        opened.quit()


_TWO_FRAMES = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));"


def resize(browser: Any, width: int, height: int) -> None:
    """Give the window another size, and wait until the page is arranged for it.

    Observers of sizes run once a frame: the board is drawn anew in the first, and has its own new shape in the second.
    """
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_async_script(_TWO_FRAMES)


def prefer(browser: Any, scheme: str) -> None:
    """Let the browser's user prefer "light" or "dark" colours."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def by_id(browser: Any, name: str) -> Any:
    return browser.find_element("id", name)


def press(browser: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    for key in keys:
        ActionChains(browser).send_keys(key).perform()


def wait(until: Callable[[], Any], seconds: float = STEP_SECONDS) -> None:
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, "it didn't happen"
        time.sleep(0.02)


def clear_logs(browser: Any) -> None:
    for log in ("browser", "performance"):
        browser.get_log(log)


def events_of(browser: Any, *methods: str) -> list[dict[str, Any]]:
    """The parameters of the browser's network events of these names, since the log was last read."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [message["params"] for message in messages if message["method"] in methods]
