"""`exhibit serve` in a process of its own: where it listens, how it stops, and what it says of an address that cannot be had."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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


@contextmanager
def serving(home: Path, settings: Mapping[str, str] | None = None) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`exhibit serve` on a free port, with these settings: where it listens, and its process. Whoever asks much must
    read what it writes, or it waits for a pipe that is full."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("EXHIBIT_") or k == "EXHIBIT_CACHE"}
    environment |= settings or {}
    command = [sys.executable, "-m", "api.cli.main", "serve", "--port", "0", "--home", str(home)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            told = re.search(r"exhibit on (http://127\.0\.0\.1:[1-9]\d+),", process.stderr.readline())
            assert told is not None
            yield told[1], process
        finally:
            process.kill()


@pytest.mark.parametrize("signalled", [signal.SIGTERM, signal.SIGINT])
def test_it_names_the_port_that_it_took_answers_there_and_stops(own_home: Path, signalled: signal.Signals) -> None:
    with serving(own_home) as (url, process):
        assert process.stderr is not None
        try:
            assert httpx.get(f"{url}/livez", timeout=60).json() == {"status": "alive"}
        except httpx.TransportError:
            process.kill()
            pytest.fail(process.stderr.read())
        process.send_signal(signalled)
        rest = process.stderr.read()
        assert process.wait(60) in (0, -signal.SIGTERM)
    assert "Traceback" not in rest


RUN_TOGETHER = "ignore" * 60


@pytest.mark.parametrize(
    "question",
    [RUN_TOGETHER, base64.b64encode(RUN_TOGETHER.encode()).decode(), ("ignore" * 667)[:4_000]],
    ids=["plain", "base64", "as long as a question may be"],
)
def test_words_run_together_neither_hold_it_nor_keep_it_from_stopping(own_home: Path, question: str) -> None:
    """The limits of time are those of a hang: such a question once took minutes, and no signal ended it."""
    with serving(own_home) as (url, process):
        assert process.stderr is not None
        response = httpx.post(f"{url}/api/v1/ai/query", json={"question": question}, timeout=60)
        assert response.status_code == 200
        assert response.json()["outcome"] in {"ABSTAIN", "DENY"}
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait(60) in (0, -signal.SIGTERM)
    assert "Traceback" not in rest


def test_a_question_of_words_run_together_is_answered_on_the_command_line(own_home: Path) -> None:
    question = base64.b64encode(RUN_TOGETHER.encode()).decode()
    command = [sys.executable, "-m", "api.cli.main", "ask", question, "--json", "--home", str(own_home)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert json.loads(done.stdout)["outcome"] in {"ABSTAIN", "DENY"}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--port", "{taken}"), "in use"),
        (("--host", "192.0.2.1"), "assign"),
        (("--host", "no..address"), "is not an address"),
        (("--host", "exhibit.invalid"), "cannot listen on exhibit.invalid"),
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
