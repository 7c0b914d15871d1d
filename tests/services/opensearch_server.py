"""A real OpenSearch server for tests: the one that the environment names, a container, or the pinned one on loopback.

`EXHIBIT_TEST_OPENSEARCH_URL` names a server whose indexes of these tests may be written. Without it `opensearch.sh`
prepares one; where that cannot be done the tests are skipped, and fail when CI is set.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from tests.services import containers
from tests.services.run_folders import free_port, named_in_command, new_run

RECIPE = Path(__file__).with_name("opensearch.sh")
CACHE = Path(os.environ.get("EXHIBIT_CACHE") or Path(__file__).parents[2] / ".cache")
# In memory where the machine has such a folder: every change of an index is forced to disk many times.
RUNS = (Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else CACHE.absolute()) / "exhibit-opensearch-runs"
READY_S = 480
END_S = 30
MISSING = 8
Build = Literal["plain", "secure"]


class OpenSearchServer:
    """A pinned server over one folder, as one process group of its own. `secure` has TLS and a user `exhibit`."""

    def __init__(self, folder: Path, build: Build = "plain") -> None:
        self.folder = folder
        self.build = build
        self.port = free_port()
        self.password = secrets.token_urlsafe(18)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its address, with user and password where it asks for them."""
        if self.build == "secure":
            return f"https://exhibit:{self.password}@localhost:{self.port}"
        return f"http://127.0.0.1:{self.port}"

    @property
    def ca_file(self) -> Path:
        """The authority that signed the certificate of the secure build: itself."""
        return self.folder / "config/cert.pem"

    def start(self) -> None:
        """Serves, from the same folder and port as before. Raises RuntimeError when it is not ready in time."""
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / "server.log"
        log.write_bytes(b"")
        with log.open("ab") as said_by_recipe:
            self._process = subprocess.Popen(
                [RECIPE, "run", self.folder, str(self.port), self.build],
                env={**os.environ, "OPENSEARCH_PASSWORD": self.password, "EXHIBIT_CACHE": str(CACHE.absolute())},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said_by_recipe,
                start_new_session=True,
            )
        (self.folder / "pid").write_text(str(self._process.pid), encoding="ascii")
        deadline_s = time.monotonic() + READY_S
        while not self._ready(log.read_bytes()):
            if self._process.poll() is not None or time.monotonic() > deadline_s:
                said = log.read_text(encoding="utf-8", errors="replace")[-2_000:]
                self.stop()
                raise RuntimeError(f"OpenSearch did not start: {said}")
            time.sleep(0.1)

    def _ready(self, log: bytes) -> bool:
        users_known = self.build == "plain" or b"' initialized" in log
        return b"\nStarted.\n" in log and b"recovered [" in log and users_known

    def kill(self) -> None:
        """As a crash."""
        self._send(signal.SIGKILL)

    def pause(self) -> None:
        """Answers nothing until `resume`."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        """Ends it cleanly, or by force when that takes too long."""
        self._send(signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, number)

    def _send(self, number: signal.Signals) -> None:
        self._signal(number)
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def new_server(build: Build = "plain") -> OpenSearchServer:
    """A server of its own, not started, over a fresh folder; skips the test where it cannot be prepared."""
    prepared = subprocess.run([RECIPE, "prepare", build], capture_output=True, text=True, check=False)
    if prepared.returncode:
        told = prepared.stderr.strip()[-500:]
        if prepared.returncode == MISSING and not os.environ.get("CI"):
            pytest.skip(told)
        pytest.fail(told)
    return OpenSearchServer(new_run(RUNS, ours=named_in_command), build)


@pytest.fixture(scope="session")
def opensearch_url() -> Iterator[str]:
    """One server for all tests that share one; each test takes index names of its own on it."""
    if url := os.environ.get("EXHIBIT_TEST_OPENSEARCH_URL"):
        yield url
        return
    if image := containers.image_of("opensearch"):
        with containers.opensearch(image) as url:
            yield url
        return
    server = new_server()
    try:
        server.start()
        yield server.url
    finally:
        discard(server)


def discard(server: OpenSearchServer) -> None:
    """Stops it and removes its folder."""
    server.stop()
    shutil.rmtree(server.folder, ignore_errors=True)
