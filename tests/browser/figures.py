"""Screenshots of the pages for the documents: `make figures` writes them into docs/figures/."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import FLAGS
from tests.browser.page_server import PageServer, page_server, signed_in

FIGURES = Path(__file__).parents[2] / "docs" / "figures"
QUESTION = "Which counties border Shawnee County?"
Theme = Literal["light", "dark"]


def open_page(browser: Browser, server: PageServer, path: str, *, theme: Theme, width: int, key: str = "") -> Page:
    """The page, loaded, signed in with a key if one is given."""
    page = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 900}).new_page()
    if key:
        signed_in(page, server, key)
    page.goto(server.origin + path)
    page.wait_for_selector("html[data-state=ready]", timeout=60_000)
    return page


def asked(page: Page) -> str:
    """Ask, open the evidence, wait for the map; the id of the entry."""
    page.fill("#question", QUESTION)
    page.press("#question", "Enter")
    page.wait_for_selector(".chip", timeout=60_000)
    page.click(".chip")
    page.wait_for_timeout(3_000)
    return page.inner_text("#entry-id")


def main() -> None:
    """All of them."""
    with (
        tempfile.TemporaryDirectory() as folder,
        page_server(Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        sizes: tuple[tuple[str, Theme, int], ...] = (
            ("ask", "light", 1440),
            ("ask-dark", "dark", 1440),
            ("ask-768", "light", 768),
            ("ask-360", "dark", 360),
        )
        entry = ""
        for name, theme, width in sizes:
            page = open_page(browser, server, "/", theme=theme, width=width)
            entry = asked(page)
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=FIGURES / f"{name}.png", full_page=width < 1000)
        key = server.keys["auditor"]
        page = open_page(browser, server, "/audit", theme="light", width=1440, key=key)
        page.screenshot(path=FIGURES / "audit.png")
        page = open_page(browser, server, f"/audit/{entry}", theme="light", width=1440, key=key)
        page.click("#verify")
        page.wait_for_selector("#result[data-state=verified]", timeout=60_000)
        page.click("#replay-form button")
        page.wait_for_selector("#replayed table", timeout=60_000)
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=FIGURES / "entry.png", full_page=True)
        page = open_page(browser, server, f"/policy?entry={entry}", theme="light", width=1440, key=key)
        page.wait_for_selector("#explanation table", timeout=60_000)
        page.screenshot(path=FIGURES / "policy.png")
        page = open_page(browser, server, "/corpus", theme="light", width=1440, key=server.keys["curator"])
        page.screenshot(path=FIGURES / "corpus.png")
        browser.close()


if __name__ == "__main__":
    main()
