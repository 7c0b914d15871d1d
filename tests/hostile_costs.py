"""What reading files costs, as the kernel counts it: `python -m tests.hostile_costs FOLDER [--cpu SECONDS]`.

Each file of the folder is read by a process of its own, with the limits of the default. They are the only children of
this one, so what the kernel tells of its children is theirs. The peak that it tells of a child includes what this process
held when it began it, so this one holds no file but the one that is read, and the figure is never too small.
A line of JSON for each file: its name, seconds of processor time, the highest peak so far in bytes, the refusal's code.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from retrieval.errors import IngestError
from retrieval.ingest.formats.load import media_type_of
from retrieval.ingest.quarantine.quarantine import Quarantine, ReadLimits
from retrieval.ingest.reading import FileTask
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.ingest.values import Owner, SourceSpec

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Cost:
    """`cpu_s` of one file; `peak` is the most, in bytes, that any process held up to this file."""

    name: str
    cpu_s: float
    peak: int
    code: str | None


def costs_of(files: Mapping[str, bytes], folder: Path, *, cpu_s: int) -> list[Cost]:
    """The costs of reading these files, which are written into the folder."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    command = [sys.executable, "-m", "tests.hostile_costs", str(folder), "--cpu", str(cpu_s)]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [Cost(**json.loads(line)) for line in told.splitlines()]


def _spent_s() -> float:
    told = resource.getrusage(resource.RUSAGE_CHILDREN)
    return told.ru_utime + told.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cpu", type=int, default=ReadLimits().cpu_s)
    chosen = parser.parse_args()
    for path in sorted(chosen.folder.iterdir()):
        before, code = _spent_s(), None
        source = SourceSpec(path, "d", "T")
        try:
            kind = media_type_of(path, None)
            with Quarantine(ReadLimits(cpu_s=chosen.cpu)) as fresh:
                fresh.read(FileTask(source, Owner("d@1", "d", "c"), kind, {}, ChunkSize(), path.read_bytes()))
        except IngestError as exc:
            code = exc.code
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        told = {"name": path.name, "cpu_s": _spent_s() - before, "peak": peak, "code": code}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
