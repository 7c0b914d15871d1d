"""The form that sends documents, in a real browser: by keyboard, small files and one in parts, each file's fate, another try."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.page_server import PageServer, page_server
from tests.browser.test_ask_page import AXE, Opened, violations, watch, with_key

pytestmark = pytest.mark.services
LARGE = b"The mill of Alma burned in 1871. " * 6_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    limits = {"EXHIBIT_UPLOADS__REQUEST_BYTES": "131072"}  # so that the large file goes in parts
    with page_server(tmp_path_factory.mktemp("upload"), environment=limits) as running:
        yield running


@pytest.fixture
def opened(chromium: Browser, server: PageServer) -> Iterator[Opened]:
    context = chromium.new_context(viewport={"width": 1000, "height": 900}, bypass_csp=True)
    found = Opened(context.new_page())
    yield found
    context.close()
    assert [url for url in found.asked if not url.startswith((server.origin, "blob:"))] == []
    assert found.faults == []


def test_files_are_sent_by_keyboard_and_each_has_its_fate(opened: Opened, server: PageServer, tmp_path: Path) -> None:
    page = opened.page
    with_key(page, server, "curator")
    watch(opened, server, "/corpus")
    assert page.locator("#upload-label option").all_inner_texts()[1:] == ["public", "internal", "confidential"]
    files = {"ferry.md": b"# The ferry\n\nWilliam Nace kept the ferry.\n", "x.bin": b"\0", "large.txt": LARGE}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    page.set_input_files("#upload-files", [tmp_path / name for name in files])
    page.focus("#upload-label")
    page.keyboard.type("pub")
    page.focus("#upload-collection")
    page.keyboard.type("letters")
    page.keyboard.press("Enter")
    page.wait_for_selector("#upload-jobs tr:has-text('large.txt'):has-text('done')", timeout=120_000)
    rows = {cells[0]: cells[1:] for cells in _rows(opened)}
    assert rows["ferry.md"][0] == "done"
    assert rows["x.bin"][0] == "failed" and "VALIDATION_FAILED" in rows["x.bin"][2]
    page.wait_for_function("() => !document.getElementById('upload-send').disabled", timeout=30_000)
    page.focus("#upload-jobs button")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('#upload-jobs table').length === 3", timeout=60_000)
    page.wait_for_selector("#versions tr:has-text('ferry.md.'):has-text('letters')", timeout=60_000)
    page.add_script_tag(path=str(AXE))
    assert violations(page) == []


def _rows(opened: Opened) -> list[list[str]]:
    found: list[list[str]] = opened.page.eval_on_selector_all(
        "#upload-jobs tbody tr", "all => all.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    return found


def test_what_is_refused_is_told_and_the_form_is_of_use_again(
    opened: Opened, server: PageServer, tmp_path: Path
) -> None:
    page = opened.page
    with_key(page, server, "curator")
    watch(opened, server, "/corpus")
    (tmp_path / ".hidden.md").write_text("Words.")
    page.set_input_files("#upload-files", tmp_path / ".hidden.md")
    page.select_option("#upload-label", "public")
    page.click("#upload-send")
    page.wait_for_selector("#upload-state .fault", timeout=30_000)
    assert "VALIDATION_FAILED" in page.inner_text("#upload-state")
    assert page.is_enabled("#upload-send")


@pytest.mark.parametrize("name", ["viewer", "auditor"])
def test_whoever_may_not_send_sees_no_form(opened: Opened, server: PageServer, name: str) -> None:
    with_key(opened.page, server, name)
    watch(opened, server, "/corpus")
    assert not opened.page.is_visible("#upload")
