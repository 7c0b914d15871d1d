"""Quarantine: files are read in a process of their own, which has limits and nothing that is worth stealing.

The process has an empty environment, no open file but its socket, and may write none; what it may use of memory and of
processor time is limited by the kernel. One process reads many files, one at a time. A file that ends it, by a limit or
by a fault of a parser, costs that file alone: the next one gets a new process. What it says is not trusted: only plain
values of the kinds below are read from it, and records that are not those of the file are refused.
"""

from __future__ import annotations

import io
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from retrieval.errors import LimitExceeded, LoadError, ReaderMissing
from retrieval.index import GazetteerEntry
from retrieval.ingest.quarantine.frames import receive, send
from retrieval.ingest.reading import FileTask, ReadFile, read_file
from retrieval.ingest.values import About, Owner, Parts
from retrieval.model import Attribute, EntityRef, Locator, Measurement, Record, RecordKind, Relationship, TimeRange

READ, REFUSED, MISSING, TOO_LARGE = b"read", b"refused", b"missing", b"too large"
"""The outcome of a file, by the first of three messages of the process; the third is the file's content or the
refusal."""
NEXT, LAST = b"next", b"last"
"""The state of the process, by the second: it can read another file, or it ends."""
_WORD = 16
_LARGEST_REPLY = 256 * 2**20
_PLAIN = ("text/plain", "text/markdown")
_SMALL = 32 * 2**10
"""Bytes of plain text that are read here. Markdown's parser is not linear, but needs no second for so few."""
_STALL = 4
"""Times the limit of processor time that a process is waited for: it may share the machine."""
_TYPES = (
    About,
    Attribute,
    EntityRef,
    GazetteerEntry,
    Locator,
    Measurement,
    Parts,
    ReadFile,
    Record,
    RecordKind,
    Relationship,
    TimeRange,
)
_KNOWN: dict[tuple[str, str], type] = {(kind.__module__, kind.__qualname__): kind for kind in (*_TYPES, date)}
_ROOT = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """The most that reading one file may take: MiB of memory, the interpreter and the file itself included, and
    seconds of processor time."""

    memory_mb: int = 448
    cpu_s: int = 19


class Quarantine:
    """A reader of files in another process, which is started for the first file. Safe to use from several threads;
    they wait for each other."""

    def __init__(self, limits: ReadLimits = ReadLimits()) -> None:
        self._limits = limits
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read(self, task: FileTask) -> ReadFile:
        """Reads the file; a small plain text here, since what that can take is bounded. Raises `LoadError` and
        `LimitExceeded`."""
        if task.media_type in _PLAIN and len(task.data) <= _SMALL and not task.source.skip:
            return read_file(task)
        with self._turn:
            return self._read(task)

    def close(self) -> None:
        """Ends the process."""
        with self._turn:
            self._end()

    def _read(self, task: FileTask) -> ReadFile:
        name = task.source.path.name
        connection = self._connection or self._start()
        until_s = time.monotonic() + _STALL * self._limits.cpu_s
        try:
            send(connection, pickle.dumps(replace(task, data=b""), pickle.HIGHEST_PROTOCOL), until_s=until_s)
            send(connection, task.data, until_s=until_s)
            said = receive(connection, largest=_WORD, until_s=until_s)
            more = receive(connection, largest=_WORD, until_s=until_s)
            told = receive(connection, largest=_LARGEST_REPLY, until_s=until_s)
        except (EOFError, OSError) as exc:
            raise self._why(name, exc) from exc
        if more != NEXT:
            self._end()
        match said:
            case b"read":
                return self._trusted(name, told, task.owner)
            case b"too large":
                raise LimitExceeded(f"{name}: reading it took {self._memory()}")
            case b"missing":
                raise ReaderMissing(told.decode("utf-8", "surrogatepass"))
            case _:
                raise LoadError(told.decode("utf-8", "surrogatepass"))

    def _trusted(self, name: str, told: bytes, owner: Owner) -> ReadFile:
        try:
            return read_back(told, owner)
        except ValueError as exc:
            self._end()
            raise LoadError(f"{name}: its parser answered something that cannot be an answer") from exc

    def _why(self, name: str, exc: Exception) -> LoadError | LimitExceeded:
        """The reason why there is no answer; the process is gone then."""
        late = isinstance(exc, TimeoutError)
        code = self._end(wait=not late)
        if late or code == -signal.SIGXCPU:
            return LimitExceeded(
                f"{name}: reading it took more than {self._limits.cpu_s} s of processor time (ingest.file_cpu_s)"
            )
        ended = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return LimitExceeded(f"{name}: its parser was ended by {ended}; it may have needed {self._memory()}")

    def _memory(self) -> str:
        return f"more than {self._limits.memory_mb} MiB of memory (ingest.file_memory_mb)"

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        limits = (str(self._limits.memory_mb), str(self._limits.cpu_s))
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  our own module
                [sys.executable, "-P", "-m", "retrieval.ingest.quarantine.process", str(theirs.fileno()), *limits],
                env={"PYTHONPATH": str(_ROOT), "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._connection = ours
        return ours

    def _end(self, *, wait: bool = False) -> int:
        """Ends the process, if there is one; its exit code, negative for a signal."""
        process, self._process = self._process, None
        if self._connection:
            self._connection.close()
            self._connection = None
        if process is None:
            return 0
        if wait:
            with suppress(subprocess.TimeoutExpired):
                return process.wait(timeout=self._limits.cpu_s)
        process.kill()
        return process.wait()


def written(value: ReadFile) -> bytes:
    """The value as bytes. Each dataclass is the call of its class with the values of its fields, which is several times
    faster than what pickle does by itself, and checks them when they are read."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _CALLS
    pickler.dump(value)
    return buffer.getvalue()


def _call_of(kind: type[Any]) -> Callable[[Any], tuple[type[Any], tuple[Any, ...]]]:
    names = tuple(each.name for each in fields(kind))
    values = attrgetter(*names)
    return lambda value: (kind, values(value))


_CALLS: dict[type[Any], Callable[[Any], Any]] = {kind: _call_of(kind) for kind in _TYPES if is_dataclass(kind)}


def read_back(told: bytes, owner: Owner) -> ReadFile:
    """The value that `written` made of a file of that owner. Raises ValueError for anything else: another kind of
    value, records of another document or class, or such as are not in the text."""
    try:
        found = _PlainValues(io.BytesIO(told)).load()
        if not isinstance(found, ReadFile):
            raise ValueError("no file")
        _require_own(found, owner)
    except Exception as exc:  # whatever it is instead
        raise ValueError(f"not what was read of a file ({type(exc).__name__})") from exc
    return found


class _PlainValues(pickle.Unpickler):
    """Reads values of the kinds above and no other thing: no function can be named, so none is called."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _KNOWN:
            raise pickle.UnpicklingError(f"{module}.{name}")
        return _KNOWN[module, name]


def _require_own(found: ReadFile, owner: Owner) -> None:
    """Raises ValueError where something is not of that owner, or a record is not a slice of the text."""
    parts, text = found.parts, found.text
    for record in parts.records:
        if Owner(record.document_id, record.source_id, record.class_id) != owner:
            raise ValueError("a record of another document")
        if text[record.locator.start_char : record.locator.end_char] != record.text:
            raise ValueError("a record that is not in the text")
    stated = [(each.document_id, each.class_id) for each in parts.entries]
    stated += [(each.document_id, each.class_id) for each in parts.relationships]
    if any(each != (owner.document_id, owner.class_id) for each in stated):
        raise ValueError("a name or an edge of another document")
