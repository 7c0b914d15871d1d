"""A real headless Chromium: the one that the environment names, or the system's. Without one the tests are skipped, and
with CI set they fail."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.services.conftest import missing

FLAGS = (
    *("--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader"),  # WebGL without a graphics card
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # no other host can be reached
    *("--disable-sync", "--no-first-run", "--disable-default-apps", "--disable-domain-reliability"),
)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """For one module: while the browser is open, its event loop runs in this thread, where other modules need theirs."""
    path = os.environ.get("EXHIBIT_TEST_CHROMIUM") or shutil.which("chromium")
    if path is None:
        missing("there is no chromium; install the system's package, or set EXHIBIT_TEST_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=list(FLAGS))
        yield browser
        browser.close()
