"""A page of another origin, as the documentation shows it to developers of maps: written with the elements alone, served
elsewhere, in a real browser; and the client that is made from the description of the API."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.page_server import PageServer, page_server
from tests.browser.test_ask_page import AXE, QUESTION, violations

pytestmark = pytest.mark.services
ROOT = Path(__file__).parents[2]
EXAMPLE = re.search(r"```html\n(<!doctype html>.*?)```", (ROOT / "docs" / "map-ui.md").read_text("utf-8"), re.S)
SHOWN_ORIGIN = "http://127.0.0.1:8484"


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder, and says nothing."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript"}

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def elsewhere(folder: Path) -> Iterator[str]:
    """The origin of a server of that folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    folder = tmp_path_factory.mktemp("elsewhere")
    for name in ("maplibre-gl.mjs", "maplibre-gl-worker.mjs", "maplibre-gl.css"):
        (folder / name).write_bytes((ROOT / "api" / "web" / "vendor" / name).read_bytes())
    with elsewhere(folder) as origin:
        yield folder, origin


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, site: tuple[Path, str]) -> Iterator[PageServer]:
    with page_server(
        tmp_path_factory.mktemp("pages"), environment={"EXHIBIT_SERVER__CORS_ORIGINS": site[1]}
    ) as running:
        yield running


@pytest.fixture
def page(chromium: Browser, server: PageServer, site: tuple[Path, str]) -> Iterator[Page]:
    assert EXAMPLE is not None
    (site[0] / "index.html").write_text(EXAMPLE[1].replace(SHOWN_ORIGIN, server.origin), "utf-8")
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True)
    opened, faults, asked = context.new_page(), list[str](), list[str]()
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(f"{site[1]}/index.html")
    yield opened
    context.close()
    assert faults == []
    assert [url for url in asked if not url.startswith((site[1], server.origin, "blob:", "data:"))] == []


def test_the_example_is_short() -> None:
    assert EXAMPLE is not None
    assert len(EXAMPLE[1].splitlines()) < 60


def test_the_page_of_a_stranger_asks_and_shows_the_evidence(page: Page) -> None:
    page.fill("#question", QUESTION)
    page.press("#question", "Enter")
    page.wait_for_selector("exhibit-answer .chip", timeout=60_000)
    assert "85,200" in page.inner_text("exhibit-answer #sentences")
    page.click("exhibit-answer .chip")
    page.wait_for_selector("exhibit-evidence mark", timeout=30_000)
    assert "Shawnee County" in page.inner_text("exhibit-evidence #slice")
    page.wait_for_function("() => window.drawn > 0", timeout=30_000)
    page.keyboard.press("Escape")
    assert not page.is_visible("exhibit-evidence h2")
    page.add_script_tag(path=str(AXE))
    assert violations(page) == []


def test_an_abstention_says_why(page: Page) -> None:
    page.fill("#question", "Who invented the cheese wheel of Mars?")
    page.press("#question", "Enter")
    page.wait_for_selector("exhibit-answer .why", timeout=60_000)
    assert "INSUFFICIENT_EVIDENCE" in page.inner_text("exhibit-answer .why")


def test_the_client_asks_and_raises(page: Page, server: PageServer) -> None:
    asked = page.evaluate(
        """async ([origin, question]) => {
          const { ExhibitClient, ExhibitError } = await import(`${origin}/client.js`);
          const client = new ExhibitClient({ origin });
          const body = await client.askQuestion({ question });
          const features = await client.listFeatures("counties", { limit: 2 });
          const refused = await client.listEntries().catch(error => error);
          return [body.outcome, features.features.length, refused instanceof ExhibitError, refused.status, refused.code];
        }""",
        [server.origin, QUESTION],
    )
    assert asked == ["ANSWER", 2, True, 403, "FORBIDDEN"]


FETCHES = """async ([origin, question]) => {
  const read = async (path, options) => {
    try { const reply = await fetch(origin + path, options); return [reply.status, await reply.json()]; } catch (error) { return error.name; }
  };
  const headers = { "content-type": "application/json" }, body = JSON.stringify({ question });
  const asked = await read("/api/v1/ai/query", { method: "POST", headers, body });
  return [asked, await read("/api/v1/layers"), await read("/api/v1/ledger/entries")];
}"""
"""What a page without any library reads of the API: an answer, a list, and a refusal."""


def test_plain_fetch_works_where_the_origin_is_listed_and_fails_elsewhere(
    chromium: Browser, server: PageServer, site: tuple[Path, str]
) -> None:
    (site[0] / "plain.html").write_text("<!doctype html><title>Plain</title>", "utf-8")
    with elsewhere(site[0]) as unlisted:
        read: dict[str, Any] = {}
        for origin in (site[1], unlisted):
            page = chromium.new_page()
            page.goto(f"{origin}/plain.html")
            read[origin] = page.evaluate(FETCHES, [server.origin, QUESTION])
            page.close()
    asked, layers, refused = read[site[1]]
    assert (asked[0], asked[1]["outcome"]) == (200, "ANSWER")
    assert "85,200" in asked[1]["answer"]
    assert {each["id"] for each in layers[1]["layers"]} >= {"counties"}
    assert (refused[0], refused[1]["error"]["code"]) == (403, "FORBIDDEN")
    assert read[unlisted] == ["TypeError", "TypeError", "TypeError"]


def test_an_origin_that_is_not_listed_gets_nothing(chromium: Browser, server: PageServer, tmp_path: Path) -> None:
    assert EXAMPLE is not None
    (tmp_path / "index.html").write_text(EXAMPLE[1].replace(SHOWN_ORIGIN, server.origin), "utf-8")
    with elsewhere(tmp_path) as origin:
        page = chromium.new_page()
        page.goto(f"{origin}/index.html")
        blocked = page.evaluate("origin => import(`${origin}/embed.js`).then(() => false, () => true)", server.origin)
        page.close()
    assert blocked
