"""A real Ollama server for tests: the one that the environment names, a container, or the pinned one on loopback.

`EXHIBIT_TEST_OLLAMA_URL` names a server on which these tests may make the models `exhibit-tiny` and
`exhibit-tiny-embed`. Without it `ollama.sh` prepares one; where that cannot be done the tests are skipped, and fail when
CI is set. The models are made by construction (`tiny_chat.py`, `tiny_embedder.py`); nothing is downloaded for them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.services import containers
from tests.services.run_folders import free_port, new_run
from tests.services.tiny_chat import TEMPLATE, write_chat
from tests.services.tiny_embedder import write_embedder

RECIPE = Path(__file__).with_name("ollama.sh")
CACHE = Path(os.environ.get("EXHIBIT_CACHE") or Path(__file__).parents[2] / ".cache").absolute()
RUNS = CACHE / "ollama-runs"
CHAT, EMBED = "exhibit-tiny", "exhibit-tiny-embed"
THREADS = {"num_thread": 1}  # two threads on busy cores wait for each other
READY_S = 60
END_S = 20
MISSING = 8


@dataclass(frozen=True)
class Models:
    """Where a server listens that serves both models."""

    url: str
    chat: str = CHAT
    embed: str = EMBED


class OllamaServer:
    """The pinned server over one folder, as one process group of its own with its runners."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program = program
        self.folder = folder
        self.url = f"http://127.0.0.1:{free_port()}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Serves, from the same folder and port as before. Raises RuntimeError when it is not ready in time."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OLLAMA_")}
        environment |= {
            "HOME": str(self.folder),
            "OLLAMA_HOST": self.url,
            "OLLAMA_MODELS": str(self.folder / "models"),
            "OLLAMA_KEEP_ALIVE": "30m",
            "OLLAMA_NUM_PARALLEL": "1",
            "OLLAMA_LOAD_TIMEOUT": "2m",
        }
        with (self.folder / "server.log").open("wb") as log:
            self._process = subprocess.Popen(
                [self._program, "serve"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        (self.folder / "pid").write_text(str(self._process.pid), encoding="ascii")
        until = time.monotonic() + READY_S
        while not _answers(self.url):
            if self._process.poll() is not None or time.monotonic() > until:
                said = (self.folder / "server.log").read_text("utf-8", "replace")[-2_000:]
                self.stop()
                raise RuntimeError(f"Ollama did not start: {said}")
            time.sleep(0.05)

    def kill(self) -> None:
        """As a crash, with its runners."""
        self._send(signal.SIGKILL)

    def stop(self) -> None:
        """Ends it cleanly, or by force when that takes too long. Safe to call twice."""
        self._send(signal.SIGTERM)

    def pause(self) -> None:
        """Neither it nor its runners answer anything until `resume`."""
        os.killpg(self._pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.killpg(self._pid, signal.SIGCONT)

    def kill_runners(self) -> int:
        """Kills the processes that hold the models, and says how many there were. The server stays."""
        told = subprocess.run(["pgrep", "-g", str(self._pid), "-f", "ollama runner"], capture_output=True, check=False)
        pids = [int(line) for line in told.stdout.split()]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return len(pids)

    @property
    def _pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def _send(self, number: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, signal.SIGCONT)  # one that is paused cannot end
            os.killpg(process.pid, number)
            process.wait(END_S)
        with suppress(ProcessLookupError):  # runners that outlived it
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def new_server() -> OllamaServer:
    """A server of its own, not started, over a fresh folder; skips the test where it cannot be prepared."""
    prepared = subprocess.run(
        [RECIPE, "prepare"],
        env={**os.environ, "EXHIBIT_CACHE": str(CACHE), "EXHIBIT_TEST_OLLAMA_URL": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    if prepared.returncode:
        told = prepared.stderr.strip()[-500:]
        if prepared.returncode == MISSING and not os.environ.get("CI"):
            pytest.skip(told)
        pytest.fail(told)
    program = Path(prepared.stdout.strip())
    return OllamaServer(program, new_run(RUNS, ours=is_of))


def make_models(url: str) -> Models:
    """Makes both models on a server."""
    with tempfile.TemporaryDirectory() as scratch, httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
        file = Path(scratch) / "model.gguf"
        write_chat(file)
        create(client, CHAT, file.read_bytes(), template=TEMPLATE)
        write_embedder(file)
        create(client, EMBED, file.read_bytes())
    return Models(url)


def create(client: httpx.Client, name: str, gguf: bytes, **more: object) -> None:
    """Makes a model of that file."""
    digest = f"sha256:{hashlib.sha256(gguf).hexdigest()}"
    client.post(f"/api/blobs/{digest}", content=gguf).raise_for_status()
    body = {"model": name, "files": {"model.gguf": digest}, "stream": False, **more}
    client.post("/api/create", json=body).raise_for_status()


@pytest.fixture(scope="session")
def ollama() -> Iterator[Models]:
    """One server with both models, for all tests that only ask."""
    if url := os.environ.get("EXHIBIT_TEST_OLLAMA_URL"):
        yield make_models(url)
        return
    if image := containers.image_of("ollama"):
        with containers.ollama(image) as url:
            yield make_models(url)
        return
    server = new_server()
    try:
        server.start()
        yield make_models(server.url)
    finally:
        discard(server)


@pytest.fixture
def own_ollama() -> Iterator[OllamaServer]:
    """A server with both models for one test, which may kill it."""
    server = new_server()
    try:
        server.start()
        make_models(server.url)
        yield server
    finally:
        discard(server)


def discard(server: OllamaServer) -> None:
    """Stops it and removes its folder."""
    server.stop()
    shutil.rmtree(server.folder, ignore_errors=True)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/version", timeout=5, trust_env=False).is_success
    except httpx.HTTPError:
        return False


def is_of(pid: int, folder: Path) -> bool:
    """Whether the process, or the runner that it has started, is of the server with that folder."""
    return os.fsencode(f"OLLAMA_MODELS={folder}") in Path(f"/proc/{pid}/environ").read_bytes()
