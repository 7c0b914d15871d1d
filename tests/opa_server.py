"""A real OPA server for tests: bundles by digest, a token, killed with whoever started it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from policy.authoring.opa import OPA_VERSION, Opa, OpaMissing, find_opa

TOKEN = "token-of-the-tests"
READY_S = 60
AUTHZ = Path(__file__).parents[1] / "examples" / "opa" / "authz"  # the very policy that the guide recommends


def pinned_opa(config: pytest.Config) -> Opa:
    """The pinned program: EXHIBIT_OPA_BIN, what `tests/services/opa.sh` built, or the PATH.

    Missing: skipped, or failed where CI is set.
    """
    cached = config.rootpath / os.environ.get("EXHIBIT_CACHE", ".cache") / f"opa-{OPA_VERSION}" / "opa"
    if "EXHIBIT_OPA_BIN" not in os.environ and cached.is_file():
        return Opa(cached)
    try:
        return find_opa()
    except OpaMissing as exc:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(exc))


def free_port() -> int:
    """A port of loopback that is free now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@dataclass
class OpaServer:
    """`opa run --server` in `folder` on one address, for as many lives as a test wants.

    The address is a free port of loopback, or `socket`; `tls` is a certificate and its key.
    """

    opa: Opa
    folder: Path
    socket: Path | None = None
    tls: tuple[Path, Path] | None = None
    port: int = field(default_factory=free_port)
    token: str = TOKEN
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        if self.socket is not None:
            return f"unix://{self.socket}"
        return f"{'http' if self.tls is None else 'https'}://127.0.0.1:{self.port}"

    def start(self, bundle: bytes) -> None:
        """Start with this bundle and wait until it serves. The server dies with the thread that started it."""
        (self.folder / "bundle.tar.gz").write_bytes(bundle)
        address = self.url if self.socket is not None else f"127.0.0.1:{self.port}"
        command = [str(self.opa.path), "run", "--server", "--addr", address, "--log-level", "error"]
        command += ["--authentication=token", "--authorization=basic", "--disable-telemetry"]
        if self.socket is not None:
            command += ["--unix-socket-perm", "600"]
        if self.tls is not None:
            command += ["--tls-cert-file", str(self.tls[0]), "--tls-private-key-file", str(self.tls[1])]
        command += ["-b", "bundle.tar.gz", str(AUTHZ)]
        with (self.folder / "opa.log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                env={**os.environ, "OPA_TOKEN": self.token},
                preexec_fn=_die_with_parent,  # noqa: PLW1509
            )
        self._wait()

    def kill(self) -> None:
        """End it at once, and wait until it is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """End it in order, and wait until it is gone."""
        self._send(signal.SIGTERM)
        assert self._process is not None
        self._process.wait(READY_S)
        self._process = None

    def pause(self) -> None:
        """Stop it where it stands: connections stay open and nothing answers, once every thread has stopped."""
        self._send(signal.SIGSTOP)
        assert self._process is not None
        while not _stopped(self._process.pid):
            time.sleep(0.005)

    def go_on(self) -> None:
        """Let a paused one run."""
        self._send(signal.SIGCONT)

    def _send(self, sent: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(sent)

    def _wait(self) -> None:
        ends = time.monotonic() + READY_S
        while time.monotonic() < ends:
            assert self._process is not None
            if self._process.poll() is not None:
                break
            if self._ready():
                return
            time.sleep(0.02)
        self.kill()
        raise AssertionError("opa does not serve: " + (self.folder / "opa.log").read_text()[-2_000:])

    def _ready(self) -> bool:
        if self.socket is not None:  # the client leaks a socket that cannot be connected
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
                probe.connect(str(self.socket))
                return True
            return False
        context = None if self.tls is None else ssl.create_default_context(cafile=self.tls[0])
        with contextlib.suppress(httpx.TransportError), httpx.Client(verify=context or False) as client:
            return client.get(f"{self.url}/health", params={"bundles": "true"}).status_code == 200
        return False


@contextlib.contextmanager
def serving(server: OpaServer, bundle: bytes) -> Iterator[OpaServer]:
    """The server while it serves `bundle`; gone afterwards."""
    try:
        server.start(bundle)
        yield server
    finally:
        server.kill()


def _die_with_parent() -> None:
    """A test run that is killed leaves no server behind (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _stopped(pid: int) -> bool:
    states = [(task / "stat").read_text().rpartition(")")[2].split()[0] for task in Path(f"/proc/{pid}/task").iterdir()]
    return set(states) == {"T"}
