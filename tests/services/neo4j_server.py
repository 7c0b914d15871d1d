"""A real Neo4j server for tests: the one that the environment names, a container, or the pinned one on loopback.

`EXHIBIT_TEST_NEO4J_URI`, `_USER` and `_PASSWORD` name a server whose graphs of these tests may be written. Without them
`neo4j.sh` prepares one; where that cannot be done the tests are skipped, and fail when CI is set.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.services import containers
from tests.services.run_folders import free_port, named_in_command, new_run

RECIPE = Path(__file__).with_name("neo4j.sh")
CACHE = Path(os.environ.get("EXHIBIT_CACHE") or Path(__file__).parents[2] / ".cache")
RUNS = CACHE / "neo4j-runs"
READY_S = 120
END_S = 30
MISSING = 8


@dataclass(frozen=True)
class Address:
    """Where a server listens and who may enter."""

    uri: str
    user: str = "neo4j"
    password: str = field(default="", repr=False)


class Neo4jServer:
    """The pinned server over one folder, as one process group of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = Address(f"bolt://127.0.0.1:{free_port()}", password=secrets.token_hex(18))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Serves, from the same folder and port as before. Raises RuntimeError when it is not ready in time."""
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / "server.log"
        log.write_bytes(b"")
        port = self.address.uri.rpartition(":")[2]
        self._process = subprocess.Popen(
            [RECIPE, "run", self.folder, port],
            env={**os.environ, "NEO4J_PASSWORD": self.address.password, "EXHIBIT_CACHE": str(CACHE.absolute())},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        (self.folder / "pid").write_text(str(self._process.pid), encoding="ascii")
        deadline_s = time.monotonic() + READY_S
        while b" Started.\n" not in log.read_bytes():
            if self._process.poll() is not None or time.monotonic() > deadline_s:
                said = log.read_text(encoding="utf-8", errors="replace")[-2_000:]
                self.stop()
                raise RuntimeError(f"Neo4j did not start: {said}")
            time.sleep(0.1)

    def kill(self) -> None:
        """As a crash."""
        self._send(signal.SIGKILL)

    def pause(self) -> None:
        """Answers nothing until `resume`."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGCONT)

    def stop(self) -> None:
        """Ends it cleanly, or by force when that takes too long."""
        self._send(signal.SIGTERM)

    def _send(self, number: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            os.killpg(process.pid, number)
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def new_server() -> Neo4jServer:
    """A server of its own, not started, over a fresh folder; skips the test where it cannot be prepared."""
    prepared = subprocess.run([RECIPE, "prepare"], capture_output=True, text=True, check=False)
    if prepared.returncode:
        told = prepared.stderr.strip()[-500:]
        if prepared.returncode == MISSING and not os.environ.get("CI"):
            pytest.skip(told)
        pytest.fail(told)
    return Neo4jServer(new_run(RUNS, ours=named_in_command))


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Address]:
    """One server for all tests that share one; each test takes a graph of its own on it."""
    if uri := os.environ.get("EXHIBIT_TEST_NEO4J_URI"):
        user = os.environ.get("EXHIBIT_TEST_NEO4J_USER", "neo4j")
        yield Address(uri, user, os.environ.get("EXHIBIT_TEST_NEO4J_PASSWORD", ""))
        return
    if image := containers.image_of("neo4j"):
        with containers.neo4j(image) as (uri, password):
            yield Address(uri, password=password)
        return
    server = new_server()
    try:
        server.start()
        yield server.address
    finally:
        discard(server)


def discard(server: Neo4jServer) -> None:
    """Stops it and removes its folder."""
    server.stop()
    shutil.rmtree(server.folder, ignore_errors=True)
