"""Runs the command line in a folder that is hindered (its disk is full, it may not be written) and then is not, and
prints the exit code, stdout and stderr of each command as JSON.

    python -m tests.small_disk KIND FOLDER MANIFEST

A process of its own, because of what it does to itself: `full` mounts a small disk that nobody else sees and so needs
`unshare --map-root-user --mount`, `limit` caps the size of the files that it writes, `mode` takes away the right to
write in the folder.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
from asgi_lifespan import LifespanManager

from api.cli.main import run
from api.home.configuration import load
from api.http.app import create_app
from tests.api_world import POPULATION

ROOMS_KIB = (60, 400)
"""What is left while documents are taken in: too little for the store of record, or for the indexes."""

Hinder = Callable[[int], AbstractContextManager[None]]


def main(kind: str, folder: Path, manifest: Path) -> dict[str, tuple[int, str, str]]:
    hinder = {"full": full, "limit": limit, "mode": mode}[kind](folder)
    told = {}
    for room_kib in (0,) if kind == "mode" else ROOMS_KIB:
        home = folder / f"home-{room_kib}"
        ingest = ("ingest", "--manifest", manifest, "--home", home)
        with hinder(room_kib):
            told[f"ingest in {room_kib}"] = command(*ingest)
        told[f"resume after {room_kib}"] = command(*ingest, "--resume", "--json")
    ask = ("ask", POPULATION, "--home", home, "--json")
    told["ask"] = command(*ask)
    told["list"] = command("ledger", "list", "--home", home, "--json")
    with hinder(1):
        told["ask hindered"] = command(*ask)
        told["key hindered"] = command("key", "create", "--name", "x", "--role", "contributor", "--home", home)
        told["remove hindered"] = command("index", "remove", "county-population", "--home", home)
        if kind != "limit":  # its scratch folder lies elsewhere, and is limited too
            told["demo hindered"] = command("demo", "--home", folder / "demo")
    told["readiness"] = readiness(home, hinder)
    told["list again"] = command("ledger", "list", "--home", home, "--json")
    told["keys"] = command("key", "list", "--home", home, "--json")
    told["ask again"] = command(*ask)
    told["status"] = command("index", "status", "--home", home)
    told["verify"] = command("ledger", "verify", "--home", home)
    return told


def readiness(home: Path, hinder: Hinder) -> tuple[int, str, str]:
    """The states of `/readyz` before, while and after the home is hindered."""

    async def look() -> list[tuple[int, Any]]:
        app = create_app(load({}, home=home))
        async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                seen = [await client.get("/readyz")]
                with hinder(1):
                    seen.append(await client.get("/readyz"))
                seen.append(await client.get("/readyz"))
        return [(response.status_code, response.json()["parts"]["ledger"]["state"]) for response in seen]

    with redirect_stdout(StringIO()):
        return 0, json.dumps(asyncio.run(look())), ""


def command(*arguments: object) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


def full(folder: Path) -> Hinder:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)], check=True)

    @contextmanager
    def hinder(room_kib: int) -> Iterator[None]:
        filler = folder / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)) == 4096:
                    pass
            except OSError:
                file.truncate(max(0, file.tell() - room_kib * 1024))
        yield
        filler.unlink()

    return hinder


def limit(_: Path) -> Hinder:
    @contextmanager
    def hinder(room_kib: int) -> Iterator[None]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room_kib * 1024, resource.RLIM_INFINITY))
        yield
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    return hinder


def mode(folder: Path) -> Hinder:
    @contextmanager
    def hinder(_: int) -> Iterator[None]:
        modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*"))}
        for path, was in modes.items():
            path.chmod(was & 0o555)
        assert not os.access(folder, os.W_OK), "the mode of a folder binds nobody here"
        yield
        for path, was in modes.items():
            path.chmod(was)

    return hinder


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))))
