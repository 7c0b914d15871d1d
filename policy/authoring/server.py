"""An OPA server of our own for as long as a command runs, so that a bundle is tried on the engine that production uses.

It listens on a socket in a private folder, or on loopback where that is to be measured, serves one bundle, and is gone
when the block ends.
"""

from __future__ import annotations

import asyncio
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from policy.authoring.opa import Opa, OpaFailed
from policy.authoring.server_bundle import archive_of

READY_S = 60.0


@asynccontextmanager
async def own_server(opa: Opa, bundle: Path, *, loopback: bool = False) -> AsyncIterator[str]:
    """The address of a server of the bundle below `bundle`. On loopback any user of the machine can ask it. Raises
    OpaFailed where it does not come up."""
    with tempfile.TemporaryDirectory(prefix="exhibit-opa-") as name:
        folder = Path(name)
        await asyncio.to_thread((folder / "bundle.tar.gz").write_bytes, archive_of(bundle))
        place = _free_port() if loopback else folder / "opa.sock"
        address = f"http://127.0.0.1:{place}" if loopback else f"unix://{place}"
        process = await asyncio.create_subprocess_exec(
            str(opa.path),
            *("run", "--server", "--addr", address.removeprefix("http://"), "--unix-socket-perm", "600"),
            *("--log-level", "error", "--disable-telemetry", "-b", "bundle.tar.gz"),
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            await _ready(process, place)
            yield address
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()


async def _ready(process: asyncio.subprocess.Process, place: Path | int) -> None:
    try:
        async with asyncio.timeout(READY_S):
            while not await _answers(place):
                if process.returncode is not None:
                    _, said = await process.communicate()
                    raise OpaFailed(said.decode("utf-8", "replace").strip()[-2_000:] or "the OPA server ended")
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise OpaFailed(f"the OPA server did not come up within {READY_S:g} s") from None


async def _answers(place: Path | int) -> bool:
    try:
        if isinstance(place, Path):
            _, writer = await asyncio.open_unix_connection(place)
        else:
            _, writer = await asyncio.open_connection("127.0.0.1", place)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
