"""The page of an author of policy in a real browser: who sees what, an entry explained, an input tried, a change drafted, tried,
accepted by name and published with a reason, and rolled back. And the page of a curator."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.page_server import PageServer, page_server
from tests.browser.test_ask_page import AXE, Opened, entry_of, violations, watch, with_key

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    with page_server(tmp_path_factory.mktemp("policy")) as running:
        yield running


@pytest.fixture
def opened(chromium: Browser, server: PageServer) -> Iterator[Opened]:
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    found = Opened(context.new_page())
    yield found
    context.close()
    assert [url for url in found.asked if not url.startswith((server.origin, "blob:"))] == []
    assert found.faults == []


def test_without_a_key_nothing_is_told(opened: Opened, server: PageServer) -> None:
    for path in ("/policy", "/corpus"):
        watch(opened, server, path)
        assert "FORBIDDEN" in opened.page.inner_text("#fault")
        assert opened.page.locator("table").count() == 0


def test_who_sees_what_and_why(chromium: Browser, opened: Opened, server: PageServer) -> None:
    entry, page = entry_of(chromium, server), opened.page
    with_key(page, server)
    watch(opened, server, f"/policy?entry={entry}")
    row = page.locator("#matrix tr:has(th:text-is('public_viewer')) td")
    assert row.all_inner_texts()[:2] == ["sees it", "–"]
    page.wait_for_selector("#explanation table", timeout=30_000)
    assert "kept" in page.inner_text("#explanation")
    asked = json.loads(page.input_value("#input"))
    page.click("#evaluate-form button")
    page.wait_for_selector("#decision dl", timeout=30_000)
    assert "allow" in page.inner_text("#decision")
    page.fill("#input", json.dumps(asked | {"subject": {}}))
    page.click("#evaluate-form button")
    page.wait_for_selector("#decision table", timeout=30_000)
    assert "deny" in page.inner_text("#decision")
    page.fill("#input", "{")
    page.click("#evaluate-form button")
    page.wait_for_selector("#decision .fault", timeout=30_000)


def data_of(page: Page) -> dict[str, Any]:
    """The data in force, as the page offers them for a change."""
    data: dict[str, Any] = json.loads(page.input_value("#data"))
    return data


def tried(page: Page, name: str, data: Mapping[str, object]) -> None:
    """The data drafted and tried."""
    page.fill("#name", name)
    page.eval_on_selector("#data-details", "each => { each.open = true }")
    page.fill("#data", json.dumps({**data}))
    page.click("#draft")
    page.wait_for_function("() => document.getElementById('candidate-state').textContent.includes('sha256:')")
    page.click("#trial")
    page.wait_for_function(
        "() => document.querySelector('#candidate-state')?.textContent.match(/^(Every|A gate|The trial)/)",
        timeout=400_000,
    )


def test_a_change_is_tried_published_with_a_reason_and_rolled_back(opened: Opened, server: PageServer) -> None:
    page = opened.page
    with_key(page, server)
    watch(opened, server, "/policy")
    before = page.inner_text("#force code")
    data = data_of(page)
    tried(
        page,
        "closed",
        data | {"roles": data["roles"] | {"public_viewer": {**data["roles"]["public_viewer"], "permissions": []}}},
    )
    assert page.locator("#found li[data-state=failed]").count() >= 1
    assert not page.is_visible("#publish-form")
    tried(page, "wider", data | {"purposes": data["purposes"] | {"teaching": {"clearance": "public"}}})
    assert page.locator("#found li[data-state=failed]").count() == 0
    page.fill("#why", "Teachers ask too")
    for box in page.locator("input[name=widening]").all():
        box.check()
    page.click("#publish-form button")
    page.wait_for_function(
        "before => document.querySelector('#force code').textContent !== before", arg=before, timeout=60_000
    )
    page.wait_for_selector("#changes td:text-is('Teachers ask too')")
    assert "key:" in page.inner_text("#changes")
    page.select_option("#archived", before)
    page.fill("#rollback-why", "It was a trial")
    page.click("#rollback-form button")
    page.wait_for_function(
        "before => document.querySelector('#force code').textContent === before", arg=before, timeout=60_000
    )
    page.wait_for_selector("#changes td:text-is('It was a trial')")


def test_a_curator_sees_what_is_held_and_what_ingest_did(opened: Opened, server: PageServer) -> None:
    page = opened.page
    with_key(page, server, "curator")
    watch(opened, server, "/corpus")
    rows = page.locator("#versions tbody tr")
    assert rows.count() == 2
    page.fill("#filter", "boundaries")
    assert rows.count() == 1
    assert "public_viewer" in page.inner_text("#classes")
    assert page.locator("#runs [data-state=done]").count() == 2
    with page.expect_download() as download:
        page.click("#csv")
    assert "county-population" in download.value.path().read_text("utf-8")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1440])
def test_nothing_keeps_anyone_out(chromium: Browser, server: PageServer, theme: str, width: int) -> None:
    for name, path in (("auditor", "/policy"), ("curator", "/corpus")):
        context = chromium.new_context(color_scheme=theme, viewport={"width": width, "height": 900}, bypass_csp=True)  # type: ignore[arg-type]
        page = context.new_page()
        with_key(page, server, name)
        watch(Opened(page), server, path)
        page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true })")
        page.add_script_tag(path=str(AXE))
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        context.close()
