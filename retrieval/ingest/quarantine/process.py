"""The process in which files are read: `python -m retrieval.ingest.quarantine.process FD MEMORY_MB CPU_S`.

It reads files from a socket, one after the other, until the other side closes it.
"""

from __future__ import annotations

import gc
import math
import pickle
import resource
import socket
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from retrieval.errors import IngestError, ReaderMissing
from retrieval.ingest.formats.load import MAX_BYTES
from retrieval.ingest.quarantine.frames import receive, send
from retrieval.ingest.quarantine.quarantine import LAST, MISSING, NEXT, READ, REFUSED, TOO_LARGE, ReadLimits, written
from retrieval.ingest.reading import FileTask, read_file

_LARGEST_TASK = 64 * 2**20


def main(descriptor: int, limits: ReadLimits) -> None:
    """Reads files until there are no more. A process that a file has made large is not used again: it ends, and the
    next file gets a new one."""
    gc.set_threshold(50_000)  # values without cycles, and a short life
    memory = limits.memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with socket.socket(fileno=descriptor) as connection:
        while True:
            _limit_time(limits.cpu_s)
            try:
                task: FileTask = pickle.loads(receive(connection, largest=_LARGEST_TASK))  # noqa: S301  from our side
            except EOFError:
                return
            try:
                said, told = _answer(replace(task, data=receive(connection, largest=MAX_BYTES)))
            except MemoryError:
                said, told = TOO_LARGE, b""
            large = said == TOO_LARGE or _held_bytes() > memory // 2
            for message in (said, LAST if large else NEXT, told):
                send(connection, message)
            if large:
                return


def _held_bytes() -> int:
    """The most that it has held. `ru_maxrss` would tell that of the process that started this one, if it held more."""
    with suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("VmHWM:")).split()[1])
    return 0


def _limit_time(cpu_s: int) -> None:
    """So many seconds from now on, and the process is ended."""
    soft = math.ceil(time.process_time()) + cpu_s
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _answer(task: FileTask) -> tuple[bytes, bytes]:
    try:
        return READ, written(read_file(task))
    except IngestError as exc:
        return MISSING if isinstance(exc, ReaderMissing) else REFUSED, str(exc).encode("utf-8", "surrogatepass")


if __name__ == "__main__":
    main(int(sys.argv[1]), ReadLimits(int(sys.argv[2]), int(sys.argv[3])))
