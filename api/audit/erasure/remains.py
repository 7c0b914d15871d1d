"""Copies that an erasure cannot reach by itself: where bytes are left, of what, and until when or by which command they
go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from api.home.backends import Backends
from api.home.stores import Neo4j, Postgres
from ledger.erasure.redaction import Target


@dataclass(frozen=True, slots=True)
class Remainder:
    """A place that is not ours to empty."""

    where: str
    what: str
    until: str


_TEXT = "names and text of the source"
_SCRUB = "the server reuses its files; at once: exhibit ledger scrub --dsn ADMIN"
_NEW_GRAPH = (
    "its space is reused, and two days for the transaction logs; at once: stop Neo4j, remove the folders of the"
    " database under data/databases and data/transactions, start it, exhibit index rebuild"
)


def remains_of(chosen: Backends, target: Target) -> tuple[Remainder, ...]:
    """For these backends and this order, backups last."""
    return (*_of_ledger(chosen), *(_of_source(chosen) if target is Target.SOURCE else ()), _BACKUPS)


_BACKUPS = Remainder(
    "backups and snapshots",
    "what they held when they were made; so do the copies beside migrated files, such as ledger.sqlite.v1",
    "they are deleted; for one that is restored: exhibit ledger redact --again",
)


def _of_ledger(chosen: Backends) -> Iterator[Remainder]:
    if isinstance(chosen.ledger.store, Postgres):
        yield Remainder("write-ahead log of the ledger's server", "ciphertext, salts and wrapped keys, no text", _SCRUB)


def _of_source(chosen: Backends) -> Iterator[Remainder]:
    on_postgres = {"store of record": chosen.records, "spatial channel": chosen.spatial, "vectors": chosen.vector}
    for name in (name for name, store in on_postgres.items() if isinstance(store, Postgres)):
        yield Remainder(f"write-ahead log of the server of the {name}", _TEXT, _SCRUB)
    if isinstance(chosen.graph, Neo4j):
        yield Remainder("files of the graph's server", "names that the source's passages carry, and ids", _NEW_GRAPH)
