"""`exhibit serve` in a process of its own: where it listens, how it stops, and what it says of an address that cannot be had."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.cli.main import run


@pytest.fixture
def own_home(home: Path, tmp_path: Path) -> Path:
    """A copy of the home, with its API keys."""
    shutil.copytree(home, tmp_path / "home")
    return tmp_path / "home"


@pytest.mark.parametrize("signalled", [signal.SIGTERM, signal.SIGINT])
def test_it_names_the_port_that_it_took_answers_there_and_stops(own_home: Path, signalled: signal.Signals) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("EXHIBIT_") or k == "EXHIBIT_CACHE"}
    command = [sys.executable, "-m", "api.cli.main", "serve", "--port", "0", "--home", str(own_home)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            told = re.search(r"exhibit on (http://127\.0\.0\.1:[1-9]\d+),", process.stderr.readline())
            assert told is not None
            try:
                assert httpx.get(f"{told[1]}/livez", timeout=60).json() == {"status": "alive"}
            except httpx.TransportError:
                process.kill()
                pytest.fail(process.stderr.read())
            process.send_signal(signalled)
            rest = process.stderr.read()
            assert process.wait(60) in (0, -signal.SIGTERM)
        finally:
            process.kill()
    assert "Traceback" not in rest


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--port", "{taken}"), "in use"),
        (("--host", "192.0.2.1"), "assign"),
        (("--host", "no..address"), "no address"),
        (("--host", "exhibit.invalid"), "cannot be listened at"),
    ],
)
def test_an_address_that_cannot_be_had_is_told_in_one_line(
    own_home: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], reason: str
) -> None:
    monkeypatch.delenv("EXHIBIT_HOME", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        given = [each.format(taken=taken.getsockname()[1]) for each in arguments]
        capsys.readouterr()
        code = run(["serve", "--home", str(own_home), *given])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert re.fullmatch(r"exhibit: VALIDATION_FAILED: [^\n]+\n", err), err
    assert reason in err.lower()
