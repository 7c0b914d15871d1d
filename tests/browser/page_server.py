"""A server over the counties of Kansas and their figures, in a process of its own, for tests that open its pages."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from api.home.configuration import load
from api.wiring import key_store, open_ingest
from tests.api_world import EXAMPLES

START_S = 90
SOURCES = ("county-population.csv", "counties.geojson")


@dataclass(frozen=True, slots=True)
class PageServer:
    """Where it listens, a key for each name, the number of its process, and its home."""

    origin: str
    keys: Mapping[str, str]
    process_id: int
    home: Path


def signed_in(page: Page, server: PageServer, key: str) -> None:
    """Sign in, in the context of a page that was not opened yet."""
    reply = page.context.request.post(f"{server.origin}/api/v1/session", data={"credential": key})
    assert reply.ok, reply.text()


def _corpus(folder: Path, sources: Sequence[str]) -> Path:
    """Some sources of the sample corpus, with their blocks of its manifest."""
    folder.mkdir()
    start, *blocks = (EXAMPLES / "manifest.toml").read_text("utf-8").split("[[source]]\n")
    chosen = [start]
    for name in sources:
        shutil.copy2(EXAMPLES / name, folder)
        chosen += [block for block in blocks if f'path = "{name}"' in block.split("\n")[0]]
    manifest = folder / "manifest.toml"
    manifest.write_text("[[source]]\n".join(chosen), "utf-8")
    return manifest


async def _home(folder: Path, sources: Sequence[str]) -> tuple[Path, dict[str, str]]:
    configuration = load({"EXHIBIT_LEDGER__CHECKPOINT_MS": "50"}, home=folder / "home")
    manifest = _corpus(folder / "corpus", sources)
    async with open_ingest(configuration) as ingest:
        report = await ingest.run([], tenant="default", manifest=manifest)
        assert not report.failed, report.failed
    keys = key_store(configuration)
    roles = {
        "auditor": ("public_viewer", "auditor", "policy_author"),
        "viewer": ("public_viewer",),
        "curator": ("maintainer",),
        "publisher": ("policy_author",),
    }
    made = {name: keys.create(name=name, tenant="default", roles=held, groups=())[1] for name, held in roles.items()}
    return configuration.home, made


@contextmanager
def page_server(
    folder: Path,
    *,
    environment: Mapping[str, str] | None = None,
    more: Sequence[str] = (),
    before: Callable[[Path], Coroutine[Any, Any, object]] | None = None,
) -> Iterator[PageServer]:
    """The server, running, with these settings in its environment and more sources than two; it is stopped at the end.
    What is to be done in its home before it starts is given by `before`."""

    async def made() -> tuple[Path, dict[str, str]]:
        home, keys = await _home(folder, (*SOURCES, *more))
        if before is not None:
            await before(home)
        return home, keys

    with ThreadPoolExecutor(1) as thread:  # the browser's driver has this thread's event loop
        home, keys = thread.submit(lambda: asyncio.run(made())).result()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "api.cli.main", "serve", "--port", str(port)]
    settings = {**os.environ, "EXHIBIT_HOME": str(home), "EXHIBIT_LEDGER__CHECKPOINT_MS": "50", **(environment or {})}
    with subprocess.Popen(command, env=settings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            origin = f"http://127.0.0.1:{port}"
            _await(origin, process)
            yield PageServer(origin, keys, process.pid, home)
        finally:
            process.terminate()


def _await(origin: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{origin}/livez", timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"the server did not start within {START_S} s (exit code {process.poll()})")
