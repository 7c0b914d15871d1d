"""Folders of the servers that tests start: one a run, named after the process that owns it, removed when that is gone."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path


def new_run(runs: Path, *, ours: Callable[[int, Path], bool]) -> Path:
    """A fresh folder under `runs`. Before, servers whose test run was killed are ended, and their folders removed:
    `ours` says whether a process that still has the number in a folder's `pid` file is the server of that folder."""
    runs.mkdir(parents=True, exist_ok=True)
    for folder in runs.iterdir():
        owner = folder.name.partition("-")[0]
        if not owner.isdigit() or Path(f"/proc/{owner}").exists():
            continue
        try:
            pid = int((folder / "pid").read_text(encoding="ascii"))
            if ours(pid, folder):
                os.killpg(pid, signal.SIGKILL)
        except (OSError, ValueError):
            pass  # it has gone
        shutil.rmtree(folder, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=runs))


def named_in_command(pid: int, folder: Path) -> bool:
    """Whether the folder stands in the command line of the process. Raises OSError where there is none."""
    return os.fsencode(str(folder.absolute())) in Path(f"/proc/{pid}/cmdline").read_bytes()


def free_port() -> int:
    """A port of the loopback address that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
