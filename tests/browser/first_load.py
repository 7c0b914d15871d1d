"""The first load of the page that asks on a map, over a layer of 20,000 areas and 100,000 passages in five tenants:
`python -m tests.browser.first_load [PASSAGES]`.

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

from api.measure.bench.workload.corpus import write_corpus
from api.measure.bench.workload.texts import read_texts
from tests.api_world import EXAMPLES
from tests.browser.conftest import FLAGS
from tests.browser.page_server import PageServer, page_server
from tests.browser.test_ask_page import transferred

ACROSS, DOWN = 200, 100
PASSAGES, SEED = 100_000, 1
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


def fill(home: Path, folder: Path, passages: int) -> None:
    """Take in the areas and so many passages."""
    (folder / "sections.geojson").write_text(areas(), "utf-8")
    taken = [[str(folder / "sections.geojson"), "--label", "public"]]
    texts = read_texts(EXAMPLES)
    manifests = write_corpus(folder / "passages", sample=EXAMPLES, texts=texts, total=passages, seed=SEED)
    taken += [["--manifest", str(path), "--tenant", tenant] for tenant, path in manifests.items()]
    for arguments in taken:
        command = [sys.executable, "-m", "api.cli.main", "ingest", *arguments, "--home", str(home)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main() -> None:
    """The rounds, one line each."""
    passages = int(sys.argv[1]) if len(sys.argv) > 1 else PASSAGES
    with tempfile.TemporaryDirectory() as name, page_server(Path(name)) as server, sync_playwright() as playwright:
        folder = Path(name)
        fill(folder / "home", folder, passages)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        for number in range(ROUNDS):
            typed, drawn, size = load_once(browser, server)
            print(f"round {number}: typed after {typed} ms, map drawn after {drawn} ms, {size:,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
