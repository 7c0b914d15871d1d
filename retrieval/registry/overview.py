"""The corpus as its curators see it: versions of sources with their counts, and the files of ingest runs, inside a
scope. What lies outside it leaves no trace, not even a gap in a position."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.registry.sql.engine import Session, marks
from retrieval.scope import Scope

_MOST_RUNS = 20
_VERSION = (
    "document_id, source_id, class_id, lifecycle, title, license, attribution, uri, media_type, source_sha256,"
    " stored_ms, valid_from_ms, valid_until_ms"
)
_FILE = (
    "run_id, source_id, document_id, path, state, stage, passages, observations, features, error_code, error_message,"
    " updated_ms"
)


@dataclass(frozen=True, slots=True)
class HeldVersion:
    """One version of a source, in any lifecycle. `records` counts its records by kind; times are UTC milliseconds."""

    document_id: str
    source_id: str
    class_id: str
    lifecycle: str
    title: str
    license: str
    attribution: str | None
    uri: str | None
    media_type: str
    source_sha256: str
    stored_ms: int
    valid_from_ms: int | None
    valid_until_ms: int | None
    records: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class FileFate:
    """The fate of one file in one ingest run. A file that did not become a document has no `document_id`."""

    run_id: str
    source_id: str
    document_id: str | None
    path: str
    state: str
    stage: str
    passages: int
    observations: int
    features: int
    error_code: str | None
    error_message: str | None
    updated_ms: int


@dataclass(frozen=True, slots=True)
class CorpusOverview:
    """Versions by source and time; files by run, the newest run first."""

    versions: tuple[HeldVersion, ...]
    files: tuple[FileFate, ...]


def overview(session: Session, scope: Scope, *, unlabelled: bool) -> CorpusOverview:
    """The part of the corpus that the scope admits. A file that did not become a document has no label: `unlabelled`
    says whether such files are told too."""
    allowed = sorted(scope.class_ids)
    counted: dict[str, list[tuple[str, int]]] = {}
    for document_id, kind, count in session.rows(
        f"SELECT document_id, kind, count(*) FROM record WHERE class_id IN ({marks(len(allowed))})"  # noqa: S608
        " GROUP BY document_id, kind ORDER BY document_id, kind",
        allowed,
    ):
        counted.setdefault(document_id, []).append((kind, count))
    versions = session.rows(
        f"SELECT {_VERSION} FROM document WHERE tenant = ? AND class_id IN ({marks(len(allowed))})"  # noqa: S608
        " ORDER BY source_id, stored_ms, document_id",
        (scope.tenant, *allowed),
    )
    held = tuple(HeldVersion(*(*row, tuple(counted.get(row[0], ())))) for row in versions)
    return CorpusOverview(held, _files(session, scope, allowed, unlabelled=unlabelled))


def _files(session: Session, scope: Scope, allowed: list[str], *, unlabelled: bool) -> tuple[FileFate, ...]:
    """The files of the newest runs that have a file to tell of."""
    told = f"document_id IN (SELECT document_id FROM document WHERE class_id IN ({marks(len(allowed))}))"  # noqa: S608
    where = f"tenant = ? AND (({told}) OR (? = 1 AND document_id IS NULL))"
    given = (scope.tenant, *allowed, int(unlabelled))
    runs = session.rows(
        f"SELECT DISTINCT run_id FROM ingest_file WHERE {where} ORDER BY run_id DESC LIMIT {_MOST_RUNS}",  # noqa: S608
        given,
    )
    names = [row[0] for row in runs]
    found = session.rows(
        f"SELECT {_FILE} FROM ingest_file WHERE {where} AND run_id IN ({marks(len(names))})"  # noqa: S608
        " ORDER BY run_id DESC, position",
        (*given, *names),
    )
    return tuple(FileFate(*row) for row in found)
