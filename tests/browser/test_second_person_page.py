"""A change that needs a second person, in a real browser: one proposes it and cannot accept it, another accepts by
name, and the twin of the page tells who did what."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page

from tests.browser.page_server import PageServer, page_server
from tests.browser.test_ask_page import AXE, Opened, violations, watch, with_key
from tests.browser.test_policy_page import tried

pytestmark = pytest.mark.services
OPENS = "purpose teaching: new"
DECIDES = "expected => (document.querySelector('#force code').textContent === expected)"


def author(chromium: Browser, server: PageServer, name: str) -> Opened:
    """The page, opened by that person."""
    found = Opened(chromium.new_context(viewport={"width": 1440, "height": 900}).new_page())
    with_key(found.page, server, name)
    watch(found, server, "/policy")
    return found


def published(page: Page, why: str) -> None:
    """Everything that the tried candidate opens accepted, and the candidate sent off with a reason."""
    page.fill("#why", why)
    for box in page.locator("input[name=widening]").all():
        box.check()
    page.click("#publish-form button")


def accepted(page: Page, why: str) -> None:
    """Every box of the waiting publication checked, and the form sent."""
    page.wait_for_selector("#accept-form", state="visible")
    for box in page.locator("input[name=second]").all():
        box.check()
    page.fill("#accept-why", why)
    page.click("#accept-form button")


def test_one_proposes_and_another_accepts(chromium: Browser, tmp_path: Path) -> None:
    with page_server(tmp_path) as server:
        proposer = author(chromium, server, "auditor")
        page = proposer.page
        shipped = page.inner_text("#force code")
        assert not page.is_visible("#accept-form")
        data = json.loads(page.input_value("#data")) | {"second_person": ["purpose *"]}
        tried(page, "two-people", data)
        published(page, "Purposes need two people")
        page.wait_for_function(f"before => !({DECIDES})(before)", arg=shipped, timeout=60_000)
        page.reload()
        page.wait_for_selector("#force code")
        between = page.inner_text("#force code")

        tried(page, "teaching", data | {"purposes": data["purposes"] | {"teaching": {"clearance": "public"}}})
        published(page, "Teachers ask too")
        page.wait_for_function("() => document.getElementById('change-state').textContent.includes('is proposed')")
        page.wait_for_selector("#accept-form", state="visible")
        assert page.inner_text("#force code") == between, "what is proposed does not decide"
        assert page.locator("#second label").all_inner_texts() == [OPENS]
        accepted(page, "I am my own second person")
        page.wait_for_selector("#change-state [role=alert], #change-state .fault, #change-state .problem")
        page.wait_for_selector("#change-state .fault")
        assert "FORBIDDEN" in page.inner_text("#change-state")
        assert page.inner_text("#force code") == between, "who proposed it accepted it"

        second = author(chromium, server, "publisher")
        page.goto("about:blank")
        page = second.page
        assert page.inner_text("#force code") == between
        assert OPENS in page.inner_text("#second")
        page.evaluate(AXE.read_text("utf-8"))
        assert violations(page) == []
        page.fill("#accept-why", "Agreed")
        page.click("#accept-form button")  # nothing is named: the form is not sent
        assert page.evaluate("document.querySelector('input[name=second]').validity.valueMissing")
        accepted(page, "Agreed")
        page.wait_for_function(f"before => !({DECIDES})(before)", arg=between, timeout=60_000)
        page.wait_for_selector("#accept-form", state="hidden")
        page.wait_for_function("() => document.getElementById('data').value.includes('teaching')", timeout=60_000)
        assert proposer.faults + second.faults == []

        headers = {"authorization": f"Bearer {server.keys['publisher']}"}
        changes = httpx.get(f"{server.origin}/policy.json", headers=headers).json()["releases"]["changes"]
        rows = list(csv.DictReader(io.StringIO(httpx.get(f"{server.origin}/policy/changes.csv", headers=headers).text)))
        assert [each["action"] for each in changes] == [row["action"] for row in rows]
        told = {each["action"]: each for each in changes if each["why"] == "Teachers ask too"}
        assert {"propose", "publish"} <= told.keys()
