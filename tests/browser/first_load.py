"""The first load of the page that asks on a map, over a layer of 20,000 areas: `python -m tests.browser.first_load`.

Prints when the page can be typed into and when the map is drawn, in milliseconds after the navigation, and the bytes of
all responses; each of the rounds in a browser without a cache. A benchmark, not a test: figures go to docs/benchmarks.md.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser.conftest import FLAGS
from tests.browser.page_server import PageServer, page_server
from tests.browser.test_ask_page import transferred

ACROSS, DOWN = 200, 100
ROUNDS = 5
_WAIT_MS = 300_000


def areas() -> str:
    """A grid of areas over Kansas, each with a name of its own, as GeoJSON."""
    features = []
    for n in range(ACROSS * DOWN):
        west, south = -102 + 7.4 * (n % ACROSS) / ACROSS, 37 + 3 * (n // ACROSS) / DOWN
        east, north = west + 0.03, south + 0.025
        ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
        geometry = {"type": "Polygon", "coordinates": [[[round(x, 5), round(y, 5)] for x, y in ring]]}
        features.append({"type": "Feature", "properties": {"name": f"Section {n}"}, "geometry": geometry})
    return json.dumps({"type": "FeatureCollection", "features": features})


def load_once(browser: Browser, server: PageServer) -> tuple[int, int, int]:
    """Milliseconds until the question can be typed, until the map is drawn, and bytes of all responses."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page, sent = context.new_page(), list[int]()
    context.on("requestfinished", lambda request: sent.append(transferred(request)))
    started = time.perf_counter()
    page.goto(server.origin + "/", wait_until="commit")
    page.wait_for_selector("html[data-state=ready]", timeout=_WAIT_MS)
    page.locator("#question").press_sequentially("W")
    typed = time.perf_counter()
    page.wait_for_selector("#map[data-state=ready]", timeout=_WAIT_MS)
    drawn = time.perf_counter()
    page.wait_for_load_state("networkidle")
    context.close()
    return round(1000 * (typed - started)), round(1000 * (drawn - started)), sum(sent)


def main() -> None:
    """The rounds, one line each."""
    with tempfile.TemporaryDirectory() as name, page_server(Path(name)) as server, sync_playwright() as playwright:
        folder = Path(name)
        (folder / "sections.geojson").write_text(areas(), "utf-8")
        ingest = [sys.executable, "-m", "api.cli.main", "ingest", str(folder / "sections.geojson"), "--label", "public"]
        subprocess.run([*ingest, "--home", str(folder / "home")], check=True, stdout=subprocess.DEVNULL)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        for number in range(ROUNDS):
            typed, drawn, size = load_once(browser, server)
            print(f"round {number}: typed after {typed} ms, map drawn after {drawn} ms, {size:,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
