"""One source to one document with its records: load, chunk or read, link. Pure but for reading the files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import orjson
import rfc8785

from retrieval.errors import LoadError, ManifestError
from retrieval.index import surface_key
from retrieval.ingest.chunk import ChunkSize, chunk
from retrieval.ingest.events import with_events
from retrieval.ingest.load import decode, load, media_type_of, read_bytes
from retrieval.ingest.searchable import Suspicion
from retrieval.ingest.storable import require_storable
from retrieval.ingest.tables import read_table, split_rows
from retrieval.ingest.values import LoadedFile, Owner, Parts, SourceSpec
from retrieval.media_types import DELIMITERS, FEATURES
from retrieval.model import Lifecycle, SourceFacts
from retrieval.registry.store import Document
from retrieval.scope import VisibilityClass

RECIPE_VERSION = 3
Lookups = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document ready to be stored and indexed."""

    document: Document
    parts: Parts


@dataclass(frozen=True, slots=True)
class IdentifiedText:
    """A file's text and the id of the version that it is: equal bytes, class and recipe give an equal id."""

    loaded: LoadedFile
    document_id: str
    lookups: Lookups

    def called(self, source_id: str) -> IdentifiedText:
        """The same text as a version of that source."""
        return replace(self, document_id=f"{source_id}@{self.document_id.rpartition('@')[2]}")


def identify(source: SourceSpec, visibility: VisibilityClass, size: ChunkSize) -> IdentifiedText:
    """Loads the file and names its version `<source_id>@<12 hex>`. Raises `LoadError` or `ManifestError`."""
    if source.path.is_symlink() and not source.declared:
        raise LoadError(f"{source.path.name}: a link; name the file that it leads to")
    media_type = media_type_of(source.path, source.media_type)
    loaded = load(source.path.name, read_bytes(source.path), media_type)
    lookups = lookups_of(source)
    return IdentifiedText(loaded, document_id_of(source, visibility, size, loaded.sha256, lookups), lookups)


def document_id_of(
    source: SourceSpec, visibility: VisibilityClass, size: ChunkSize, sha256: str, lookups: Lookups
) -> str:
    """`<source_id>@<12 hex>` of the version whose file has this digest. Raises `LoadError` for a kind of file that is
    not read."""
    media_type = media_type_of(source.path, source.media_type)
    recipe = asdict(source.table) if source.table else {}
    recipe["derive"] = [
        {**asdict(derive), "lookup": lookups.get(derive.name)}
        for derive in (source.table.derive if source.table else ())
    ]
    named = None
    if source.table is None:  # a measure is called as the table is; features are named by their own properties
        named = source.title if media_type in DELIMITERS else "names" if media_type in FEATURES else None
    identity = {
        "sha256": sha256,
        "class": visibility.class_id,
        "recipe": [
            RECIPE_VERSION,
            media_type,
            asdict(size),
            list(source.skip),
            recipe,
            named,
        ],
    }
    version = hashlib.sha256(_canonical(identity, words_only=source.table is None)).hexdigest()
    return f"{source.source_id}@{version[:12]}"


def _canonical(value: object, *, words_only: bool) -> bytes:
    """RFC 8785. Of texts and small whole numbers under ASCII keys another, faster writer makes the same bytes."""
    if words_only:
        with suppress(orjson.JSONEncodeError):
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return rfc8785.dumps(_plain(value))  # type: ignore[arg-type]


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def lookups_of(source: SourceSpec) -> Lookups:
    """The tables that its rows look words up in, by derived field. Raises `LoadError` or `ManifestError`."""
    found: dict[str, dict[str, str]] = {}
    for derive in source.table.derive if source.table else ():
        if derive.lookup is not None:
            found[derive.name] = _lookup(source, derive.lookup)
    return found


def _lookup(source: SourceSpec, lookup: Mapping[str, str]) -> dict[str, str]:
    path = Path(lookup["path"])
    text = decode(path.name, read_bytes(path))
    rows = split_rows(path.name, text, "\t" if path.suffix == ".tsv" else ",")
    header = next(rows).cells
    for wanted in (lookup["key"], lookup["value"]):
        if wanted not in header:
            raise ManifestError(f"source {source.source_id}: {path.name} has no column {wanted}")
    key, value = header.index(lookup["key"]), header.index(lookup["value"])
    return {surface_key(row.cells[key]): row.cells[value] for row in rows}


def prepare(
    source: SourceSpec,
    visibility: VisibilityClass,
    identified: IdentifiedText,
    size: ChunkSize,
    suspect: Suspicion = lambda _: False,
) -> PreparedDocument:
    """Everything that the document contributes; a sentence that is `suspect` is a passage of its own. Raises
    `LoadError`."""
    loaded = identified.loaded
    owner = Owner(identified.document_id, source.source_id, visibility.class_id)
    parts = _parts(source, identified, owner, size, suspect)
    if not parts.records:
        raise LoadError(f"{source.path.name}: it holds nothing to retrieve")
    facts = facts_of(source, visibility, identified.document_id, loaded.sha256)
    document = Document(facts, loaded.media_type, loaded.text, loaded.pages, source.valid_from_ms, source.metadata)
    require_storable(source.path.name, document, parts)
    return PreparedDocument(document, replace(parts, left_out=(*loaded.slips, *parts.left_out)))


def _parts(source: SourceSpec, identified: IdentifiedText, owner: Owner, size: ChunkSize, suspect: Suspicion) -> Parts:
    name, loaded, lookups = source.path.name, identified.loaded, identified.lookups
    match loaded.media_type:
        case kind if kind in DELIMITERS:
            return read_table(source, loaded, owner, lookups)
        case kind if kind in FEATURES:
            from retrieval.ingest.features import read_features  # noqa: PLC0415  geometry is loaded for features only

            return read_features(name, loaded, owner, source.table, lookups)
        case _:
            return with_events(chunk(loaded, owner, size, source.skip, suspect))


def facts_of(source: SourceSpec, visibility: VisibilityClass, document_id: str, sha256: str) -> SourceFacts:
    """Registry facts about the document to come; its digest is that of the file until the store tells its text's."""
    return SourceFacts(
        source_id=source.source_id,
        document_id=document_id,
        title=source.title,
        license=source.license,
        attribution=source.attribution,
        uri=source.uri,
        collection=visibility.collection,
        document_sha256=sha256,
        indexed_sha256=sha256,
        lifecycle=Lifecycle.DRAFT,
        valid_until_ms=source.valid_until_ms,
        visibility=visibility,
    )
