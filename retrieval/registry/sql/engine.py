"""The seam under the store of record: who runs the SQL.

Statements are written once, with `?` marks, in the subset that SQLite (3.35 or newer) and PostgreSQL share: `INSERT
... ON CONFLICT`, joins, expanded `IN` lists. An engine for another product brings its own connection, marks and
isolation; the statements stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from retrieval.errors import UNREADABLE, StoreDamaged
from retrieval.scope import Scope

T = TypeVar("T")
LATER = ("document_field", "ingest_job", "kept_sum")
"""Tables that the first stores of this schema lack."""
EARLIER = "the store of record is of an earlier version: the next `exhibit ingest` brings it up to date"
Row = tuple[Any, ...]


class Session(Protocol):
    """One connection inside one job. `generation` changes whenever another connection has changed the store: caches
    hang on it."""

    cache: dict[object, Any]

    def rows(self, statement: str, parameters: Sequence[object] = ()) -> list[Row]: ...

    def run(self, statement: str, parameters: Sequence[object] = ()) -> None: ...

    def run_many(self, statement: str, parameters: Iterable[Sequence[object]]) -> None: ...


class Engine(Protocol):
    """Runs jobs on worker threads. A job is one transaction; a cancelled caller interrupts its job. Raises
    `StoreUnavailable`."""

    async def read(self, job: Callable[[Session], T], *, scope: Scope | None) -> T:
        """The reads of the job. Its statements name the classes of the scope; an engine that can holds them to it. None
        reads what no scope narrows: which classes and documents there are, and whole documents for the indexes."""
        ...

    async def write(self, job: Callable[[Session], T]) -> T: ...

    async def compact(self) -> None:
        """Rewrite the store, so that no byte of a deleted row stays in its files."""
        ...

    async def aclose(self) -> None: ...


@contextmanager
def parsing(named: object) -> Iterator[None]:
    """Around what makes a value of a row: one that cannot be made raises `StoreDamaged`, which names the row."""
    try:
        yield
    except UNREADABLE as exc:
        raise StoreDamaged(f"the store of record holds a row that cannot have been stored: {named}") from exc


def text(value: object) -> str:
    """The text that a column holds. Raises TypeError for any other value."""
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def marks(count: int) -> str:
    """`?, ?, ?` for an `IN` list; `NULL`, which nothing equals, for an empty one."""
    return ", ".join("?" * count) or "NULL"
