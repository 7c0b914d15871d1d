"""What an erasure cannot reach by itself: where bytes are left, of what, and until when or by which command they go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from api import backends
from api.backends import Backends
from ledger.redaction import Target


@dataclass(frozen=True, slots=True)
class Remains:
    """A place that is not ours to empty."""

    where: str
    what: str
    until: str


_TEXT = "names and text of the source"
_SCRUB = "the server uses its files anew; at once: exhibit ledger scrub --dsn ADMIN"
_NEW_GRAPH = (
    "its room is used anew, and two days for the transaction logs; at once: stop Neo4j, remove the folders of the"
    " database under data/databases and data/transactions, start it, exhibit index rebuild"
)


def remains_of(chosen: Backends, target: Target) -> tuple[Remains, ...]:
    """For these backends and this order, backups last."""
    return (*_of_ledger(chosen), *(_of_source(chosen) if target is Target.SOURCE else ()), _BACKUPS)


_BACKUPS = Remains(
    "backups and snapshots",
    "what they held when they were made",
    "they are thrown away; one that is put back: exhibit ledger redact --again",
)


def _of_ledger(chosen: Backends) -> Iterator[Remains]:
    if isinstance(chosen.ledger, backends.PostgresLedger):
        yield Remains("write-ahead log of the ledger's server", "ciphertext, salts and wrapped keys, no text", _SCRUB)


def _of_source(chosen: Backends) -> Iterator[Remains]:
    on_postgres = {
        "store of record": isinstance(chosen.records, backends.PostgresRecords),
        "spatial channel": isinstance(chosen.spatial, backends.PostgisSpatial),
        "vectors": isinstance(chosen.vector, backends.PgvectorVector),
    }
    for name in (name for name, there in on_postgres.items() if there):
        yield Remains(f"write-ahead log of the server of the {name}", _TEXT, _SCRUB)
    if isinstance(chosen.graph, backends.Neo4jGraph):
        yield Remains("files of the graph's server", "names that the source's passages carry, and ids", _NEW_GRAPH)
