"""A preview of what would be made of files, without ingesting them, so that a manifest is written in one go.

It is what ingest makes, by the same functions, told in counts and examples. The store is not asked: whether a source is
there already, or under another name, only a run says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from retrieval.errors import IngestError
from retrieval.ingest.identity import places_of, plain_name
from retrieval.ingest.label import DEFAULT_COLLECTION, AccessTerms, visibility_of
from retrieval.ingest.prepare import PreparedDocument, identify, prepare
from retrieval.ingest.reading import Reader, read_file
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.ingest.records.searchable import is_suspect
from retrieval.ingest.values import SourceSpec
from retrieval.model import EntityRef, RecordKind
from retrieval.scope import VisibilityClass

_EXAMPLES = 3
_EXAMPLE_CHARS = 100


@dataclass(frozen=True, slots=True)
class Listing:
    """Things of one kind: how many, and the first of them in words."""

    count: int = 0
    examples: tuple[str, ...] = ()

    @classmethod
    def of(cls, told: Iterable[str]) -> Listing:
        """The things that are told."""
        every = list(told)
        return cls(len(every), tuple(_short(each) for each in every[:_EXAMPLES]))


@dataclass(frozen=True, slots=True)
class Explanation:
    """One file: what would be made of it, or why it would be refused (`error_code`, `error_message`; it may still be
    told what it holds). `outside` is text that no record holds (of GeoJSON nothing, as geometry is no text);
    `unsearchable` are records that read like instructions; `left_out` are rows, features and bytes, each with its
    reason; `notes` are remarks, such as on titles above a table."""

    path: str
    source_id: str
    title: str
    collection: str
    label: str | None
    media_type: str | None = None
    passages: Listing = Listing()
    observations: Listing = Listing()
    features: Listing = Listing()
    entities: Listing = Listing()
    relationships: Listing = Listing()
    outside: Listing = Listing()
    unsearchable: Listing = Listing()
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error_code: str | None = None
    error_message: str | None = None

    @property
    def is_whole(self) -> bool:
        """True if the file would be taken in with nothing left out."""
        return self.error_code is None and not self.left_out


def explain(
    sources: Sequence[SourceSpec],
    *,
    tenant: str,
    collection: str | None,
    label: str | None,
    terms: AccessTerms,
    size: ChunkSize,
    read: Reader = read_file,
) -> Iterator[Explanation]:
    """An explanation of each source, in order. Reads the files, writes nothing, raises nothing that a row can say."""
    for source, place in zip(sources, places_of(sources), strict=True):
        refusal: IngestError | None = None
        try:
            visibility = visibility_of(source, tenant=tenant, collection=collection, label=label, terms=terms)
        except IngestError as exc:
            refusal, visibility = exc, VisibilityClass(tenant, DEFAULT_COLLECTION, terms.labels[0])
        prepared = None
        try:
            identified = identify(source, visibility, size)
            prepared = prepare(source, visibility, identified, size, read=read, suspect=terms.suspect)
        except IngestError as exc:
            refusal = refusal or exc
        yield _told(source, place=place, visibility=visibility, prepared=prepared, refusal=refusal, terms=terms)


def _told(
    source: SourceSpec,
    *,
    place: str,
    visibility: VisibilityClass,
    prepared: PreparedDocument | None,
    refusal: IngestError | None,
    terms: AccessTerms,
) -> Explanation:
    parts = prepared.parts if prepared else None
    records = parts.records if parts else ()

    def of_kind(kind: RecordKind) -> Listing:
        return Listing.of(record.statement or record.text for record in records if record.kind is kind)

    edges = parts.relationships if parts else ()
    return Explanation(
        path=place,
        source_id=source.source_id,
        title=prepared.document.facts.title if prepared else plain_name(source.title),
        collection=visibility.collection,
        label=visibility.label if refusal is None else None,
        media_type=prepared.document.media_type if prepared else None,
        passages=of_kind(RecordKind.PASSAGE),
        observations=of_kind(RecordKind.OBSERVATION),
        features=of_kind(RecordKind.FEATURE),
        entities=Listing.of(f"{each.name} ({each.type})" for each in _entities(prepared)),
        relationships=Listing.of(f"{edge.subject.name} {edge.predicate} {edge.object.name}" for edge in edges),
        outside=Listing.of(_outside(prepared) if prepared else ()),
        unsearchable=Listing.of(record.text for record in records if is_suspect(record, terms.suspect)),
        left_out=parts.left_out if parts else (),
        notes=parts.notes if parts else (),
        error_code=refusal.code if refusal else None,
        error_message=plain_name(str(refusal)) if refusal else None,
    )


def _entities(prepared: PreparedDocument | None) -> Sequence[EntityRef]:
    """Every entity that the document names, in order, once."""
    found: dict[str, EntityRef] = {}
    if prepared:
        named = [entry.entity for entry in prepared.parts.entries]
        declared = [entity for record in prepared.parts.records for entity in record.entities]
        found = {each.entity_id: each for each in (*named, *declared)}
    return list(found.values())


def _outside(prepared: PreparedDocument) -> Iterator[str]:
    """The stretches of the text, blanks apart, that no record holds."""
    text, end = prepared.document.text, 0
    if all(record.kind is RecordKind.FEATURE for record in prepared.parts.records):
        return
    held = sorted((each.locator.start_char, each.locator.end_char) for each in prepared.parts.records)
    for start, stop in (*held, (len(text), len(text))):
        if text[end:start].strip():
            yield text[end:start].strip()
        end = max(end, stop)


def _short(text: str) -> str:
    words = " ".join(plain_name(text).split())
    return words if len(words) <= _EXAMPLE_CHARS else words[: _EXAMPLE_CHARS - 1] + "…"
