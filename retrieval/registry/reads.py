"""Reads inside a scope, as jobs on one session."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import parse_qsl

from retrieval.algebra.domain import Domain, FigureKind, RelationKind
from retrieval.errors import RecordNotFound, StoreDamaged
from retrieval.filters import Metadata
from retrieval.index import GazetteerEntry
from retrieval.model import LISTED, EntityRef, Lifecycle, Locator, SourcedRecord, SourceFacts
from retrieval.registry import fields
from retrieval.registry.aggregates import aggregable_kinds, largest_groups
from retrieval.registry.sql import rows
from retrieval.registry.sql.engine import Row, Session, marks, parsing, text
from retrieval.registry.sql.validity import VISIBLE, next_change_ms, visible
from retrieval.registry.store import Coverage, Document, Holdings, KnowledgeBase, Slice
from retrieval.scope import Scope, VisibilityClass
from retrieval.withheld import whole_words

# Not as a join: SQLite would begin with the documents and look at every passage of theirs for the few records that
# have a measure.
_OF_VISIBLE = f"EXISTS (SELECT 1 FROM document d WHERE d.document_id = r.document_id AND {VISIBLE})"  # noqa: S608
_ABSENT = "no such document or place in it"
_STANDING = (
    f"SELECT {rows.columns_of('r', rows.RECORD)}, substr(d.text, r.start_byte + 1, r.end_byte - r.start_byte)"  # noqa: S608
    " FROM record r JOIN document d ON d.document_id = r.document_id"
)
"""Records with the text that stands at their place in the document."""


def digest_of_text(text: bytes) -> str:
    """`sha256:<hex>` of the stored text's UTF-8."""
    return "sha256:" + hashlib.sha256(text).hexdigest()


def holdings(session: Session, tenant: str) -> Holdings:
    """The tenant's holdings; kept until the store changes."""
    key = ("holdings", tenant)
    if key not in session.cache:
        held = classes(session, tenant)
        session.cache[key] = Holdings(
            classes=held,
            collections=collections(session, tenant),
            corpus_version=corpus_version(session, tenant),
            places=largest_groups(session, tenant, held),
        )
    known: Holdings = session.cache[key]
    return known


def classes(session: Session, tenant: str) -> tuple[VisibilityClass, ...]:
    """Every class of the tenant that holds an active document."""
    columns = rows.columns_of("c", rows.CLASS)
    found = session.rows(
        f"SELECT DISTINCT {columns}, d.valid_from_ms, d.valid_until_ms FROM document d"  # noqa: S608
        " JOIN visibility_class c ON c.class_id = d.class_id WHERE d.lifecycle = 'active' AND d.tenant = ?"
        " ORDER BY c.class_id, d.valid_from_ms, d.valid_until_ms",
        (tenant,),
    )
    return tuple({row[0]: rows.class_value(row, *row[-2:]) for row in found}.values())


def collections(session: Session, tenant: str) -> tuple[KnowledgeBase, ...]:
    """The tenant's collections by name."""
    found = session.rows(
        "SELECT collection_id, tenant, name, title FROM collection WHERE tenant = ? ORDER BY name", (tenant,)
    )
    return tuple(KnowledgeBase(*row) for row in found)


def corpus_version(session: Session, tenant: str) -> int:
    """0 before the first change."""
    found = session.rows("SELECT version FROM corpus WHERE tenant = ?", (tenant,))
    return int(found[0][0]) if found else 0


def facts(session: Session, document_id: str) -> SourceFacts | None:
    """The facts of a document, with the digest of its text as it stands now; kept until the store changes."""
    return _known(session, document_id)[0]


def _known(session: Session, document_id: str) -> tuple[SourceFacts | None, int]:
    """(facts, the millisecond from which readers may see the document)."""
    key = ("facts", document_id)
    if key not in session.cache:
        session.cache[key] = _read_facts(session, document_id)
    known: tuple[SourceFacts | None, int] = session.cache[key]
    return known


def _read_facts(session: Session, document_id: str) -> tuple[SourceFacts | None, int]:
    found = session.rows(f"SELECT {rows.FACTS} FROM document WHERE document_id = ?", (document_id,))  # noqa: S608
    if not found:
        return None, 0
    row = found[0]
    visibility = session.rows(f"SELECT {rows.CLASS} FROM visibility_class WHERE class_id = ?", (row[2],))  # noqa: S608
    if not visibility:
        raise StoreDamaged(f"the store of record holds no access facts of {document_id}")
    held = rows.class_value(visibility[0], row[11], row[8])
    return rows.facts_value(row, held, digest_of_text(row[10])), row[11] or 0


def admitted(session: Session, document_id: str, scope: Scope, now_ms: int) -> SourceFacts | None:
    """The facts of a document that the scope may see: active, begun and not expired, of its tenant, of one of its
    classes."""
    known, begins_ms = _known(session, document_id)
    if known is None or known.lifecycle is not Lifecycle.ACTIVE or known.visibility.tenant != scope.tenant:
        return None
    ended = known.valid_until_ms is not None and known.valid_until_ms <= now_ms
    return known if known.visibility.class_id in scope.class_ids and begins_ms <= now_ms and not ended else None


def fetch(session: Session, record_ids: Collection[str], scope: Scope, now_ms: int) -> Mapping[str, SourcedRecord]:
    """The admitted ones among `record_ids`, in the order asked for."""
    wanted, allowed = list(dict.fromkeys(record_ids)), sorted(scope.class_ids)
    if not wanted or not allowed:
        return {}
    found: dict[str, SourcedRecord] = {}
    sources: dict[str, SourceFacts | None] = {}
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        statement = f"{_STANDING} WHERE r.record_id IN ({marks(len(part))}) AND r.class_id IN ({marks(len(allowed))})"
        for *row, standing in session.rows(statement, (*part, *allowed)):
            document_id = row[1]
            if document_id not in sources:
                sources[document_id] = admitted(session, document_id, scope, now_ms)
            source = sources[document_id]
            if source is not None and row[4] == source.visibility.class_id:
                # A text that is changed as a whole is for the evidence point to refuse, which records why.
                if source.document_sha256 == source.indexed_sha256 and bytes(standing) != row[5].encode():
                    raise StoreDamaged(f"the store of record holds another text of {row[0]} than its document")
                found[row[0]] = SourcedRecord(rows.record_value(tuple(row), source.source_id), source)
    return {record_id: found[record_id] for record_id in wanted if record_id in found}


def metadata(session: Session, document_ids: Collection[str], scope: Scope, now_ms: int) -> Mapping[str, Metadata]:
    """The metadata of the admitted ones among the documents."""
    return fields.read(session, [d for d in document_ids if admitted(session, d, scope, now_ms) is not None])


def document(session: Session, document_id: str, scope: Scope, now_ms: int) -> Document:
    """The whole document, or `RecordNotFound`."""
    source = admitted(session, document_id, scope, now_ms)
    if source is None:
        raise RecordNotFound(_ABSENT)
    media_type, text, pages = session.rows(
        "SELECT media_type, text, pages FROM document WHERE document_id = ?", (document_id,)
    )[0]
    with parsing(document_id):
        spans = tuple((int(start), int(end)) for start, end in json.loads(pages))
        return Document(facts=source, media_type=media_type, text=bytes(text).decode(), pages=spans)


def passages(session: Session, document_id: str, scope: Scope, now_ms: int) -> tuple[str, ...]:
    """The ids of the document's passages and features, in order; none where it is not admitted."""
    source = admitted(session, document_id, scope, now_ms)
    if source is None:
        return ()
    found = session.rows(
        "SELECT record_id FROM record WHERE document_id = ? AND class_id = ? AND kind <> 'observation'"
        " ORDER BY ordinal, record_id",
        (document_id, source.visibility.class_id),
    )
    return tuple(record_id for (record_id,) in found)


def shaped(session: Session, scope: Scope, now_ms: int) -> Mapping[str, tuple[str, ...]]:
    """The features with a geometry, by document."""
    return _shapes(session, scope, now_ms)[0]


def drawn(session: Session, place_ids: Collection[str], scope: Scope, now_ms: int) -> Mapping[str, tuple[str, ...]]:
    """The features with a geometry that are about these places."""
    by_place = _shapes(session, scope, now_ms)[1] if place_ids else {}
    return {place_id: by_place[place_id] for place_id in place_ids if place_id in by_place}


def _shapes(
    session: Session, scope: Scope, now_ms: int
) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
    """Features by document and by place; kept until the store changes or a document begins to be valid."""
    key = ("shapes", scope.digest)
    if key not in session.cache or session.cache[key][0] <= now_ms:
        session.cache[key] = next_change_ms(session, now_ms), *_read_shapes(session, scope, now_ms)
    _, by_document, by_place = session.cache[key]
    return by_document, by_place


def _read_shapes(
    session: Session, scope: Scope, now_ms: int
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    allowed = sorted(scope.class_ids)
    found = session.rows(
        "SELECT r.document_id, r.record_id, r.entities FROM record r JOIN document d"  # noqa: S608
        f" ON d.document_id = r.document_id WHERE {VISIBLE} AND r.class_id = d.class_id"
        f" AND r.class_id IN ({marks(len(allowed))}) AND r.kind = 'feature' AND r.geometry IS NOT NULL"
        " ORDER BY r.document_id, r.ordinal, r.record_id",
        (*visible(scope.tenant, now_ms), *allowed),
    )
    by_document: dict[str, list[str]] = {}
    by_place: dict[str, list[str]] = {}
    for document_id, record_id, entities in found:
        by_document.setdefault(document_id, []).append(record_id)
        with parsing(record_id):
            about = json.loads(entities) if entities else []
            if about:
                by_place.setdefault(about[0][0], []).append(record_id)
    return {key: tuple(ids) for key, ids in by_document.items()}, {key: tuple(ids) for key, ids in by_place.items()}


def resolve(session: Session, document_id: str, locator: str, scope: Scope, now_ms: int) -> Slice:
    """The exact text at a locator, or `RecordNotFound`."""
    whole = document(session, document_id, scope, now_ms)
    try:
        pairs = parse_qsl(locator, keep_blank_values=True, strict_parsing=True)
    except ValueError as exc:
        raise RecordNotFound(_ABSENT) from exc
    asked = dict(pairs)
    if len(asked) != len(pairs):
        raise RecordNotFound(_ABSENT)
    match sorted(asked):
        case ["c"]:
            start, _, end = asked["c"].partition("-")
            return _characters(whole, _number(start), _number(end))
        case ["p"]:
            page = _number(asked["p"])
            if not 1 <= page <= len(whole.pages):
                raise RecordNotFound(_ABSENT)
            return _characters(whole, *whole.pages[page - 1], page=page)
        case ["row"]:
            return _stored(session, whole, "row_number = ? AND column_name IS NULL", (_number(asked["row"]),))
        case ["col", "row"]:
            cell = (_number(asked["row"]), asked["col"])
            return _stored(session, whole, "row_number = ? AND column_name = ?", cell)
        case ["feature"]:
            return _stored(session, whole, "feature = ? AND kind = 'feature'", (asked["feature"],))
        case _:
            raise RecordNotFound(_ABSENT)


def _number(digits: str) -> int:
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 12):
        raise RecordNotFound(_ABSENT)
    return int(digits)


def _characters(whole: Document, start: int, end: int, *, page: int | None = None) -> Slice:
    """The text there, widened where it would cut a word that not everyone may read."""
    if not 0 <= start < end <= len(whole.text):
        raise RecordNotFound(_ABSENT)
    start, end = whole_words(whole.text, start, end, places=bool(whole.facts.visibility.handling))
    text = whole.text[start:end]
    before = len(whole.text[:start].encode())
    locator = Locator(start, end, before, before + len(text.encode()), page=page)
    return Slice(facts=whole.facts, locator=locator, text=text)


def _stored(session: Session, whole: Document, where: str, parameters: tuple[Any, ...]) -> Slice:
    found: list[Row] = session.rows(
        f"SELECT {rows.RECORD} FROM record WHERE document_id = ? AND {where} ORDER BY ordinal",  # noqa: S608
        (whole.facts.document_id, *parameters),
    )
    if not found:
        raise RecordNotFound(_ABSENT)
    record = rows.record_value(found[0], whole.facts.source_id)
    at, measured = record.locator, record.measurement
    return Slice(
        facts=whole.facts,
        locator=at,
        text=whole.text[at.start_char : at.end_char],
        cell=measured.value if measured else None,
        measurement=measured,
    )


def gazetteer_entries(session: Session, scope: Scope, now_ms: int) -> tuple[GazetteerEntry, ...]:
    """The names that the scope's active documents state; kept until the store changes or a document begins to be
    valid."""
    key = ("gazetteer", scope.digest)
    if key not in session.cache or session.cache[key][0] <= now_ms:
        session.cache[key] = next_change_ms(session, now_ms), _gazetteer_entries(session, scope, now_ms)
    known: tuple[GazetteerEntry, ...] = session.cache[key][1]
    return known


def _gazetteer_entries(session: Session, scope: Scope, now_ms: int) -> tuple[GazetteerEntry, ...]:
    allowed = sorted(scope.class_ids)
    columns = rows.columns_of("g", rows.GAZETTEER)
    found = session.rows(
        f"SELECT {columns} FROM gazetteer_entry g JOIN document d ON d.document_id = g.document_id"  # noqa: S608
        f" WHERE {VISIBLE} AND g.class_id IN ({marks(len(allowed))}) ORDER BY g.document_id, g.position",
        (*visible(scope.tenant, now_ms), *allowed),
    )
    return tuple(rows.gazetteer_value(row) for row in found)


def domain(session: Session, scope: Scope, now_ms: int) -> Domain:
    """The kinds of figures and of relations in the scope, but for relations of what only a table without times
    lists."""
    allowed = sorted(scope.class_ids)
    parameters = [*allowed, *visible(scope.tenant, now_ms)]
    figures = session.rows(
        "SELECT DISTINCT r.measure, r.unit, r.place_type, r.undated FROM (SELECT DISTINCT measure, unit, place_type,"  # noqa: S608
        " CASE WHEN measured_start IS NULL THEN 1 ELSE 0 END AS undated, document_id"
        f" FROM record WHERE measure IS NOT NULL AND class_id IN ({marks(len(allowed))})) r"
        f" WHERE {_OF_VISIBLE} ORDER BY r.measure, r.unit, r.place_type, r.undated",
        parameters,
    )
    grouped = {(*kind, 0) for kind in aggregable_kinds(session, scope, now_ms)}
    figures = sorted({*figures, *grouped}, key=lambda row: [str(each or "") for each in row])
    relations = session.rows(
        "SELECT DISTINCT r.subject_type, r.predicate, r.object_type FROM (SELECT DISTINCT subject_type, predicate,"  # noqa: S608
        f" object_type, document_id FROM relationship WHERE class_id IN ({marks(len(allowed))})"
        f" AND substr(subject_id, 1, {len(LISTED)}) <> '{LISTED}') r"
        f" WHERE {_OF_VISIBLE} ORDER BY r.subject_type, r.predicate, r.object_type",
        parameters,
    )
    with parsing("a kind of figures"):
        kinds = tuple(
            FigureKind(text(measure), unit or "", text(kind), bool(undated)) for measure, unit, kind, undated in figures
        )
    return Domain(kinds, tuple(RelationKind(*row) for row in relations))


def coverage(
    session: Session, scope: Scope, measures: Collection[str], place_ids: Collection[str], now_ms: int
) -> tuple[Coverage, ...]:
    """Years per measure and place, by measure and place id; an empty collection does not narrow."""
    allowed = sorted(scope.class_ids)
    where = [f"r.class_id IN ({marks(len(allowed))})"]
    parameters: list[object] = [*visible(scope.tenant, now_ms), *allowed]
    for column, values in (("measure", sorted(set(measures))), ("place_id", sorted(set(place_ids)))):
        if values:
            where.append(f"r.{column} IN ({marks(len(values))})")
            parameters += values
    found = session.rows(
        "SELECT DISTINCT r.measure, r.place_id, r.place_name, r.place_type, r.measured_start,"  # noqa: S608
        f" r.measured_end FROM record r WHERE r.measure IS NOT NULL AND {_OF_VISIBLE} AND {' AND '.join(where)}"
        " ORDER BY r.measure, r.place_id, r.measured_start",
        parameters,
    )
    years: dict[tuple[str, str], tuple[EntityRef, set[int]]] = {}
    for measure, place_id, name, kind, start, end in found:
        _, seen = years.setdefault((measure, place_id), (EntityRef(place_id, name, kind), set()))
        with parsing(f"a figure of {place_id}"):
            seen.update(range(int(start[:4]), int(end[:4]) + 1) if start and end else ())
    return tuple(Coverage(measure, place, tuple(sorted(seen))) for (measure, _), (place, seen) in years.items())
