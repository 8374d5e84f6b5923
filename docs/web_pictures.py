"""`python -m docs.web_pictures`: pictures of the page for `docs/web.md`, taken in headless Chromium (Debian's)."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import threading
from pathlib import Path
from typing import Any

import httpx
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tabletop_cli.play import SHIPPED
from tabletop_play.web.server import Site

FOLDER = Path(__file__).parent / "pictures"
DESKTOP, PHONE = (1360, 960), (390, 844)
_SECONDS = 120
_OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars")


class Browser:
    """A browser with a window of this size, at a server."""

    def __init__(self, url: str, size: tuple[int, int], phone: bool = False) -> None:
        options = webdriver.ChromeOptions()
        for option in (*_OPTIONS, "--window-size={},{}".format(*size)):
            options.add_argument(option)
        if phone:
            metrics = {"width": size[0], "height": size[1], "pixelRatio": 2.0, "touch": True}
            options.add_experimental_option("mobileEmulation", {"deviceMetrics": metrics})
        options.binary_location = str(shutil.which("chromium"))  # otherwise Selenium looks for one in the network
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        self.url = url
        self.driver.get(url)
        self.run("localStorage.tabletop = JSON.stringify({turns: '0'})")

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def wait(self, script: str) -> None:
        WebDriverWait(self.driver, _SECONDS).until(lambda _: self.run(f"return {script}"))

    def open(self, **order: Any) -> None:
        """Open the first link of a new table."""
        links = httpx.post(f"{self.url}/api/tables", json=order, headers={"origin": self.url}, timeout=600).json()
        self.driver.get(self.url + links["links"][0]["path"])
        self.wait("document.body.dataset.ready")

    def click(self, element: str) -> None:
        self.driver.find_element(By.CSS_SELECTOR, element).click()

    def answer(self, times: int, which: int = 0) -> None:
        """Give one answer after another, and pass only if there is nothing else."""
        for _ in range(times):
            self.wait("document.body.dataset.ready")
            view = self.run("return document.body.dataset.view")
            answers = self.driver.find_elements(By.CSS_SELECTOR, "#answers button")
            # it may be folded away
            self.run("arguments[0].click()", answers[min(which, len(answers) - 1)])
            done = f"document.body.dataset.view !== '{view}' && document.body.dataset.ready"
            self.wait(f"(document.querySelector('#commit:enabled')?.click(), {done})")

    def choose(self) -> None:
        """Choose a card and a place, so that what would happen is seen."""
        while not self.run("return document.querySelector('#commit:enabled')"):
            begun = self.run("return document.body.dataset.begun")
            card = "document.querySelector('#hand:not(.chosen) .card') ?? document.querySelector('.mark:not(.quiet)')"
            self.run(f"({card}).dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
            self.wait(f"document.body.dataset.begun !== '{begun}' && document.body.dataset.ready")

    def save(self, name: str) -> None:
        """Save the window once nothing moves, in 256 colours, which takes a third of the bytes."""
        self.driver.execute_async_script("setTimeout(arguments[0], 1000)")
        with Image.open(io.BytesIO(self.driver.get_screenshot_as_png())) as picture:
            few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
            few.save(FOLDER / f"{name}.png", optimize=True)


def take(url: str) -> None:
    """All pictures."""
    desktop, phone = Browser(url, DESKTOP), Browser(url, PHONE, phone=True)
    seats = ["level-3", "here", "level-5"]
    try:
        desktop.open(game="petrichor", players=3, seats=seats, start={"seed": 12})
        desktop.answer(26, which=1)
        desktop.choose()
        desktop.save("web_table")
        desktop.open(game="evergreen", players=2, seats=["here", "level-3"], start={"seed": 4})
        desktop.answer(9, which=0)
        desktop.click("#advice")
        desktop.wait("document.querySelector('#estimates .plan')")
        desktop.save("web_advice")
        desktop.open(game="petrichor", players=2, kind="analyse", start={"seed": 3})
        desktop.answer(30, which=2)
        desktop.run("document.querySelector('#agent-name').value = 'search-200:versus'")
        desktop.click("#ask-agents")
        desktop.wait("document.querySelector('#estimates .plan')")
        desktop.save("web_analysis")
        phone.open(game="petrichor", players=2, seats=["here", "greedy"], learn=True, start={"first": True})
        phone.click("#lesson button")
        phone.wait("document.querySelector('#hand .card')")
        phone.click("#hand .card")
        phone.save("web_phone")
    finally:
        for browser in (desktop, phone):
            print(json.dumps(browser.driver.get_log("browser")))  # type: ignore[no-untyped-call]
            browser.driver.quit()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        site = Site.at(SHIPPED, port=0, folder=Path(folder))
        thread = threading.Thread(target=site.run, daemon=True)
        thread.start()
        take(site.url_of("").rstrip("/"))
        site.server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main()
