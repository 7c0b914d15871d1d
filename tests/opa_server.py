"""A real OPA server for tests: bundles by digest, a token, killed with whoever started it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from policy.authoring.opa import OPA_VERSION, Opa, OpaMissing, find_opa
from policy.authoring.server_bundle import archive

TOKEN = "token-of-the-tests"
READY_S = 60
# Who holds the token may ask for exact entry points, and for nothing else; everyone may see that the server lives.
AUTHZ = f"""package system.authz

default allow := false

allow if input.path == ["health"]

allow if {{
	input.identity == "{TOKEN}"
	input.method == "POST"
	["v1", "data", "kfm", "ai", point] = input.path
	point in {{"query", "evidence", "answer", "allow_answer"}}
}}
"""


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


class OpaServer:
    """`opa run --server` in `folder` on one address, for as many lives as a test wants."""

    def __init__(
        self, opa: Opa, folder: Path, *, socket_path: Path | None = None, options: tuple[str, ...] = ()
    ) -> None:
        self._opa = opa
        self._folder = folder
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._address = f"127.0.0.1:{free_port()}" if socket_path is None else f"unix://{socket_path}"
        self._socket = socket_path
        self.url = f"http://{self._address}" if socket_path is None else self._address
        (folder / "authz.tar.gz").write_bytes(
            archive(
                {".manifest": b'{"roots":["system/authz"],"rego_version":1}', "system/authz/authz.rego": AUTHZ.encode()}
            )
        )

    def start(self, bundle: bytes) -> None:
        """Start with this bundle and wait until it serves."""
        (self._folder / "bundle.tar.gz").write_bytes(bundle)
        command = [str(self._opa.path), "run", "--server", "--addr", self._address, "--log-level", "error"]
        command += ["--authentication=token", "--authorization=basic", "--shutdown-grace-period", "1", *self._options]
        command += ["--disable-telemetry", "-b", "bundle.tar.gz", "authz.tar.gz"]
        with (self._folder / "opa.log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=self._folder,
                stdout=log,
                stderr=log,
                preexec_fn=_die_with_parent,  # noqa: PLW1509
            )
        self._wait()

    def kill(self) -> None:
        """End it at once, and wait until it is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """Stop it where it stands: connections stay open and nothing answers."""
        self._send(signal.SIGSTOP)

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
        raise AssertionError("opa does not serve: " + (self._folder / "opa.log").read_text()[-2_000:])

    def _ready(self) -> bool:
        if self._socket is not None:
            return self._socket.exists()
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.url}/health?bundles", timeout=2) as reply:
            return bool(reply.status == 200)
        return False


@contextlib.contextmanager
def opa_server(
    opa: Opa, folder: Path, bundle: bytes, *, socket_path: Path | None = None, options: tuple[str, ...] = ()
) -> Iterator[OpaServer]:
    """A server that serves `bundle`; gone afterwards."""
    server = OpaServer(opa, folder, socket_path=socket_path, options=options)
    try:
        server.start(bundle)
        yield server
    finally:
        server.kill()


def _die_with_parent() -> None:
    """A test run that is killed leaves no server behind (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
