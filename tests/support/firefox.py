"""Headless Firefox, driven by WebDriver BiDi, which it speaks itself: a part of selenium's interface without a driver.

Debian has no package of geckodriver, without which selenium can't start Firefox.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browser import wait
from tests.support.web import SECONDS

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

_SETTINGS = {
    "app.normandy.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "services.settings.server": "data:,#",
}
"""What keeps it from asking the network."""
_ASYNC = "(...given) => new Promise((done) => (function () { SCRIPT }).apply(null, [...given, done]))"
_MIDDLE = """
const one = arguments[0];
one.scrollIntoView({ block: "nearest", behavior: "instant" });
const box = one.getBoundingClientRect();
return [box.left + box.width / 2, box.top + box.height / 2];
"""


class Element:
    """An element of a page, as selenium's `WebElement`."""

    def __init__(self, browser: Firefox, key: str) -> None:
        self.browser, self.key = browser, key

    def click(self) -> None:
        """A click of the mouse in its middle."""
        x, y = self.browser.execute_script(_MIDDLE, self)
        pressed = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        moved = {"type": "pointerMove", "x": round(x), "y": round(y)}
        self.browser.execute("actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [moved, *pressed]}]})


class Firefox:
    """A browser with one page, for `Visitor`.

    Attributes:
        errors: what its console told as an error.
    """

    def __init__(self, connection: ClientConnection) -> None:
        self._connection, self._sent = connection, 0
        self.errors: list[str] = []
        self._send("session.new", capabilities={})
        self._send("session.subscribe", events=["log.entryAdded"])
        self._page = self._send("browsingContext.getTree")["contexts"][0]["context"]

    def _send(self, method: str, **parameters: Any) -> Any:
        self._sent += 1
        self._connection.send(json.dumps({"id": self._sent, "method": method, "params": parameters}))
        while (message := json.loads(self._connection.recv(timeout=SECONDS))).get("id") != self._sent:
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self.errors.append(message["params"]["text"])
        assert message["type"] == "success", message
        return message["result"]

    def set_window_size(self, width: int, height: int) -> None:
        self._send("browsingContext.setViewport", context=self._page, viewport={"width": width, "height": height})

    def get(self, address: str) -> None:
        self._send("browsingContext.navigate", context=self._page, url=address, wait="complete")

    def execute(self, _: str, parameters: dict[str, Any]) -> None:
        """What `ActionChains` asks for. It has the form that BiDi wants."""
        self._send("input.performActions", context=self._page, **parameters)

    def execute_script(self, script: str, *given: Any) -> Any:
        return self._call(f"function () {{ {script} }}", given)

    def execute_async_script(self, script: str, *given: Any) -> Any:
        return self._call(_ASYNC.replace("SCRIPT", script), given)

    def find_elements(self, by: str, selector: str) -> list[Element]:
        return list(self.execute_script(f"return [...document.querySelectorAll({json.dumps(selector)})]"))

    def find_element(self, by: str, name: str) -> Element:
        return self.find_elements(by, f"#{name}" if by == "id" else name)[0]

    def _call(self, function: str, given: tuple[Any, ...]) -> Any:
        target = {"context": self._page}
        arguments = [_to_remote(one) for one in given]
        said = self._send(
            "script.callFunction", functionDeclaration=function, arguments=arguments, target=target, awaitPromise=True
        )
        assert said["type"] == "success", said["exceptionDetails"]["text"]
        return self._from_remote(said["result"])

    def _from_remote(self, given: dict[str, Any]) -> Any:
        kind, value = given["type"], given.get("value")
        if kind == "array":
            return [self._from_remote(one) for one in value or ()]
        if kind == "object":
            return {name: self._from_remote(one) for name, one in value or ()}
        return Element(self, given["sharedId"]) if kind == "node" else value


def _to_remote(value: Any) -> dict[str, Any]:
    if isinstance(value, Element):
        return {"sharedId": value.key}
    if isinstance(value, dict):
        return {"type": "object", "value": [[name, _to_remote(one)] for name, one in value.items()]}
    if isinstance(value, list | tuple):
        return {"type": "array", "value": [_to_remote(one) for one in value]}
    if value is None:
        return {"type": "null"}
    return {"type": {bool: "boolean", str: "string"}.get(type(value), "number"), "value": value}


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """A browser with a profile of its own in this folder; skips the test where there is none."""
    connect = pytest.importorskip("websockets.sync.client").connect
    binary = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
    if binary is None:
        pytest.skip("needs firefox-esr on the PATH")
    profile, log = folder / "profile", folder / "firefox.log"
    profile.mkdir()
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in _SETTINGS.items()]
    (profile / "user.js").write_text("".join(lines), encoding="utf-8")
    with log.open("wb") as written:
        command = [binary, "--headless", "--profile", str(profile), "--remote-debugging-port", "0"]
        process = subprocess.Popen(command, stdout=written, stderr=written)
    try:
        listens = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
        wait(lambda: listens.search(log.read_text(errors="replace")), SECONDS)
        found = listens.search(log.read_text(errors="replace"))
        assert found is not None
        with connect(f"{found[1]}/session", max_size=2**26) as connection:
            yield Firefox(connection)
    finally:
        process.terminate()
        process.wait(SECONDS)
