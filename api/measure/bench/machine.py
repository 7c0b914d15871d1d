"""Where a report was taken: without it a figure says nothing."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

PACKAGES = (
    "tantivy",
    "numpy",
    "simsimd",
    "apsw-sqlite3mc",
    "shapely",
    "wasmtime",
    "wordllama",
    "fastapi",
    "haystack-ai",
)


def machine_facts(folder: Path) -> dict[str, object]:
    """Cores, memory, disk, versions, date and commit."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "processor": _processor(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "fsync_ms": fsync_ms(folder),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def fsync_ms(folder: Path, times: int = 50) -> float:
    """Median milliseconds to make 4 KiB durable where the corpora lie: the floor of a durable ledger entry."""
    path = folder / "fsync.probe"
    taken = []
    with path.open("wb", buffering=0) as file:
        for _ in range(times):
            file.write(bytes(4096))
            started = time.perf_counter()
            os.fsync(file.fileno())
            taken.append((time.perf_counter() - started) * 1000)
    path.unlink()
    return round(median(taken), 3)


def peak_memory_mib() -> int | None:
    """The most memory that this process has held, in MiB; None where the system does not say. Not `ru_maxrss`, which a
    child takes over from its parent."""
    try:
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:
        return None
    return next((int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM:")), None)


def disk_mib(folder: Path) -> dict[str, float]:
    """MiB on disk of each thing in a home folder."""
    sizes: dict[str, int] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            part = path.relative_to(folder).parts[0].split(".sqlite")[0]
            sizes[part] = sizes.get(part, 0) + path.stat().st_size
    return {name: round(size / 2**20, 1) for name, size in sorted(sizes.items())}


def _commit() -> str | None:
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603 - fixed words
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or sys.platform
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
