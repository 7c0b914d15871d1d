"""Every page that the application serves, found by a walk over its routes and not from a list: nothing on it keeps anyone
out, in both themes and at three widths, with what is folded unfolded, and it fits."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, Page

from api.home.configuration import load
from api.http.app import create_app
from tests.api.test_page_twins import routes
from tests.browser.page_server import PageServer, page_server
from tests.browser.test_ask_page import AXE, violations, with_key

pytestmark = pytest.mark.services
QUESTION = "Which counties border Shawnee County?"
DATA = (".json", ".csv")
ASKED = {
    "/audit/compare": "?a={entry_id}&b={entry_id}",
    "/audit/changes": "?entry={entry_id}",
    "/evidence/{document_id}": "?{row}",
    "/api/v1/evidence/{document_id}": "?{row}",
}
"""What an address asks for, where its page shows nothing without."""
FOLDED = ":not(.is-open) .opblock-summary-control"
"""What the viewer of `/docs` unfolds; the other pages have `<details>`."""
CUT = """[...document.querySelectorAll(".table:has(.rows)")].filter(each => each.scrollWidth > each.clientWidth)
    .map(each => each.getAttribute("aria-label"))"""
"""Tables whose columns cannot all be seen at once."""
OVERLAID = """[...document.querySelectorAll(".rows td:not(:empty)")].filter(each => {
    const name = getComputedStyle(each, "::before"), shown = name.content !== "none" && each.offsetParent;
    const room = parseFloat(getComputedStyle(each).paddingLeft);
    return shown && (room < parseFloat(name.width) || each.clientHeight < parseFloat(name.height));
}).map(each => each.textContent)"""
"""Cells whose words lie over the name of their column."""
NOWHERE = "/nowhere"
"""An address without a page: the page of a problem is one too."""


def pages_of(app: FastAPI) -> set[str]:
    """The paths that answer a browser with a page: those outside of the API, and those of the API that say so."""
    described: Mapping[str, Mapping[str, Any]] = app.openapi()["paths"]
    replies = {path: told["get"]["responses"].get("200", {}) for path, told in described.items() if "get" in told}
    said = {path for path, reply in replies.items() if "text/html" in reply.get("content", {})}
    return {each for each in routes(app) if not each.endswith(DATA)} | said


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    with page_server(tmp_path_factory.mktemp("pages")) as running:
        yield running


@pytest.fixture(scope="module")
def addresses(server: PageServer) -> dict[str, str]:
    """Where each page is, filled in from an answer that was computed."""
    asked = urllib.request.Request(
        f"{server.origin}/api/v1/ai/query",
        json.dumps({"question": QUESTION}).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(asked, timeout=60) as response:
        body = json.loads(response.read())
    [(n, computed)] = [(n, each["computed"]) for n, each in body["citations"].items() if each["computed"]]
    row = urlsplit(computed["inputs"][0]["href"])
    named = {"entry_id": body["provenance"]["entry_id"], "n": n, "row": row.query}
    named["document_id"] = row.path.rpartition("/")[2]
    pages = pages_of(create_app(load({}, home=server.home)))
    assert {"/", "/docs", "/audit/{entry_id}", "/api/v1/evidence/{document_id}"} <= pages
    return {each: (each + ASKED.get(each, "")).format_map(named) for each in sorted(pages)} | {NOWHERE: NOWHERE}


def opened(page: Page, address: str) -> None:
    """Open it, and wait until it has shown what it shows: scripts say so, a page without any is whole at once."""
    reply = page.goto(address)
    assert reply is not None
    assert "text/html" in (reply.header_value("content-type") or ""), address
    if page.locator("#main ~ script[type=module]").count():
        page.wait_for_selector("html[data-state=ready]", timeout=60_000)
    page.wait_for_load_state("networkidle")


def unfold(page: Page) -> None:
    """Open what is folded: of the operations one of each method."""
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    for method in ("get", "post", "patch", "put", "delete"):
        if (folded := page.locator(f".opblock-{method}{FOLDED}")).count():
            folded.first.click()
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize(("theme", "width"), [("light", 360), ("dark", 360), ("light", 768), ("dark", 1440)])
def test_no_page_keeps_anyone_out(
    chromium: Browser, server: PageServer, addresses: dict[str, str], theme: str, width: int
) -> None:
    context = chromium.new_context(color_scheme=theme, viewport={"width": width, "height": 900}, bypass_csp=True)  # type: ignore[arg-type]
    page = context.new_page()
    with_key(page, server)
    found: dict[str, object] = {}
    for path, address in addresses.items():
        opened(page, server.origin + address)
        unfold(page)
        page.add_script_tag(path=str(AXE))
        wide = page.evaluate("document.documentElement.scrollWidth")
        cut = page.evaluate(CUT) + page.evaluate(OVERLAID)
        if (kept := violations(page)) or wide > width or cut:
            found[path] = (kept, wide, cut)
    context.close()
    assert found == {}
