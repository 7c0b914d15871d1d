"""A writer of an index in a process of its own, killed in the middle of its work."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from retrieval.index import ChannelIndex

ROOT = str(Path(__file__).parents[1])


async def write_and_kill(
    program: str,
    *words: object,
    after_s: float,
    watching: ChannelIndex | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Runs the Python `program` with `words` until it has printed `ready`, until `watching` (where given) holds a
    document, and for so many seconds more; then kills it with SIGKILL."""
    writer = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, *map(str, words)),
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, **(environment or {}), "PYTHONPATH": ROOT},
    )
    assert writer.stdout is not None
    assert await writer.stdout.readline() == b"ready\n"
    if watching is not None:
        for _ in range(3_000):
            if await watching.documents():
                break
            await asyncio.sleep(0.02)
    await asyncio.sleep(after_s)
    writer.kill()
    await writer.wait()
