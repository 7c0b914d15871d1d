"""A change that needs two people, on the page of authors in a real browser: one proposes it, who may not accept it, and another
lets it decide after naming all that it opens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.page_server import PageServer, page_server
from tests.browser.test_ask_page import AXE, Opened, violations, watch, with_key
from tests.browser.test_policy_page import data_of, tried
from tests.edited_bundles import edited
from tests.published import published

pytestmark = pytest.mark.services
OPENS = "purpose teaching: new"


def needs_two(data: dict[str, Any]) -> None:
    data["second_person"] = ["purpose *"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    folder = tmp_path_factory.mktemp("second")

    async def before(home: Path) -> None:
        await published(home, edited(folder / "in-force", needs_two))

    with page_server(folder, before=before) as running:
        yield running


@pytest.fixture
def persons(chromium: Browser, server: PageServer) -> Iterator[dict[str, Opened]]:
    """The page of each of two people, who have keys of their own."""
    contexts = {name: chromium.new_context(bypass_csp=True) for name in ("auditor", "publisher")}
    found = {name: Opened(context.new_page()) for name, context in contexts.items()}
    for name, opened in found.items():
        with_key(opened.page, server, name)
        watch(opened, server, "/policy")
    yield found
    for context in contexts.values():
        context.close()


def accept(page: Page, why: str) -> None:
    """Fill in the second person's form and send it."""
    for box in page.locator("input[name=second]").all():
        box.check()
    page.fill("#accept-why", why)
    page.click("#accept-form button")


def test_one_proposes_and_another_accepts(persons: dict[str, Opened], server: PageServer) -> None:
    one, other = persons["auditor"].page, persons["publisher"].page
    before = one.inner_text("#force code")
    assert not one.is_visible("#accept-form")
    data = data_of(one)
    tried(one, "wider", data | {"purposes": data["purposes"] | {"teaching": {"clearance": "public"}}})
    one.fill("#why", "Teachers ask too")
    for box in one.locator("input[name=widening]").all():
        box.check()
    one.click("#publish-form button")
    one.wait_for_selector("#accept-form", state="visible", timeout=60_000)
    assert one.inner_text("#force code") == before, "what is proposed does not decide"
    assert one.locator("#second label").all_inner_texts() == [OPENS]

    accept(one, "I wish it myself")
    one.wait_for_selector("#change-state .fault", timeout=60_000)
    assert "FORBIDDEN" in one.inner_text("#change-state")

    watch(persons["publisher"], server, "/policy")
    other.add_script_tag(path=str(AXE))
    assert violations(other) == []
    assert other.inner_text("#force code") == before
    other.fill("#accept-why", "Agreed")
    other.click("#accept-form button")  # nothing is named: the form is not sent
    assert other.evaluate("document.querySelector('input[name=second]').validity.valueMissing")
    accept(other, "Agreed")
    other.wait_for_function(
        "before => document.querySelector('#force code').textContent !== before", arg=before, timeout=60_000
    )
    other.wait_for_selector("#accept-form", state="hidden", timeout=60_000)
    other.wait_for_function("() => document.getElementById('data').value.includes('teaching')", timeout=60_000)
