"""One source to one document with its records: its bytes name its version, then a reader makes records of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import orjson
import rfc8785

from retrieval.errors import LoadError, ManifestError
from retrieval.index import surface_key
from retrieval.ingest.formats.load import decode, media_type_of, read_bytes, require_file
from retrieval.ingest.parsing.table_rows import delimiter_of, split_rows
from retrieval.ingest.reading import FileTask, Lookups, Reader, read_file
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.ingest.records.kinds import kind_of_file
from retrieval.ingest.records.searchable import Suspicion, nothing_suspect
from retrieval.ingest.records.storable import require_storable
from retrieval.ingest.values import About, Owner, Parts, SourceSpec
from retrieval.media_types import (
    DELIMITERS,
    DOCX,
    EITHER,
    EMAIL,
    EPUB,
    FEATURES,
    HTML,
    MARKDOWN,
    MBOX,
    ODT,
    PPTX,
)
from retrieval.model import Lifecycle, SourceFacts
from retrieval.registry.store import Document
from retrieval.scope import VisibilityClass

RECIPE_VERSION = 4
"""Of how texts are cut: they are read again after a change. 4: a passage did not say whom its pronouns mean."""
TABLES_VERSION = 3
"""The same of tables and features, which have no passages of prose."""
_LONGEST_LINE = 300
RECOGNITION_VERSION = 9
"""Of what a table or map says that nothing describes: such a file is read again after a change."""
_WITH_TABLES = frozenset({MARKDOWN, HTML, DOCX, ODT, PPTX, EPUB, EMAIL, MBOX})
"""Kinds of text whose tables' rows say what they hold, which they did not at first."""


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document ready to be stored and indexed."""

    document: Document
    parts: Parts


@dataclass(frozen=True, slots=True)
class IdentifiedFile:
    """A file's bytes, their digest (`sha256:<hex>`) and the id of the version that they are: equal bytes, class and
    recipe give an equal id."""

    data: bytes = field(repr=False)
    sha256: str
    media_type: str
    document_id: str
    lookups: Lookups

    def called(self, source_id: str) -> IdentifiedFile:
        """The same bytes as a version of that source."""
        return replace(self, document_id=f"{source_id}@{self.document_id.rpartition('@')[2]}")


Opened = Callable[[Path], bytes]
"""Reads a file whole, whatever it is kept as. Raises `LoadError`."""


def identify(
    source: SourceSpec, visibility: VisibilityClass, size: ChunkSize, opened: Opened = read_bytes
) -> IdentifiedFile:
    """Reads the bytes, looks at none of them, and names their version `<source_id>@<12 hex>`. Raises `LoadError` or
    `ManifestError`."""
    if source.path.is_symlink() and not source.declared:
        raise LoadError(f"{source.path.name}: a link; name the file that it leads to")
    try:
        media_type = media_type_of(source.path, source.media_type)
    except LoadError:
        require_file(source.path)  # a file that is not there has no kind
        raise
    data = opened(source.path)
    sha256 = "sha256:" + hashlib.sha256(data).hexdigest()
    lookups = lookups_of(source)
    document_id = document_id_of(source, visibility, size, sha256, lookups)
    return IdentifiedFile(data, sha256, media_type, document_id, lookups)


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
    named: object = None
    tabular = source.table is not None or media_type in (*DELIMITERS, *EITHER, *FEATURES)
    if source.table is None:  # a measure is called as the table is; features are named by their own properties
        told = [RECOGNITION_VERSION, kind_of_file(source.path.stem), *([dict(source.kinds)] if source.kinds else [])]
        if media_type in (*DELIMITERS, *EITHER):
            named = [source.title, *told]
        elif media_type in FEATURES:
            named = ["names", *told]
        elif media_type in _WITH_TABLES:
            named = ["rows", RECOGNITION_VERSION]
    identity = {
        "sha256": sha256,
        "class": visibility.class_id,
        "recipe": [
            TABLES_VERSION if tabular else RECIPE_VERSION,
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
    rows = split_rows(path.name, text, delimiter_of(text, "\t" if path.suffix == ".tsv" else ","))
    header = next(rows).cells
    for wanted in (lookup["key"], lookup["value"]):
        if wanted not in header:
            raise ManifestError(f"source {source.source_id}: {path.name} has no column {wanted}")
    key, value = header.index(lookup["key"]), header.index(lookup["value"])
    return {surface_key(row.cells[key]): row.cells[value] for row in rows}


def prepare(
    source: SourceSpec,
    visibility: VisibilityClass,
    identified: IdentifiedFile,
    size: ChunkSize,
    *,
    read: Reader = read_file,
    suspect: Suspicion = nothing_suspect,
) -> PreparedDocument:
    """Everything that the document contributes; a sentence that is `suspect` is a passage of its own. Title, author,
    date and licence are those that the document states, unless a manifest describes it. Raises `LoadError`, or
    `LimitExceeded` where the reader has limits."""
    owner = Owner(identified.document_id, source.source_id, visibility.class_id)
    media_type, lookups = identified.media_type, identified.lookups
    found = read(FileTask(source, owner, media_type, lookups, size, identified.data, suspect))
    facts = facts_of(source, visibility, identified.document_id, identified.sha256)
    metadata = source.metadata
    if not source.declared:
        about = _told(found.about, suspect)
        facts = replace(
            facts,
            title=about.title or facts.title,
            license=about.license or facts.license,
            attribution=about.author or facts.attribution,
        )
        metadata = {
            **{name: told for name, told in (("author", about.author), ("date", about.date)) if told},
            **metadata,
        }
    document = Document(facts, media_type, found.text, found.pages, source.valid_from_ms, metadata)
    require_storable(source.path.name, facts, document.metadata)
    return PreparedDocument(document, found.parts)


def _told(about: About, suspect: Suspicion) -> About:
    """A document's description of itself, each part in one short line; nothing that reads like an instruction."""

    def plain(words: str | None) -> str | None:
        line = " ".join((words or "").split())[:_LONGEST_LINE].rstrip()
        return None if not line or suspect(line) else line

    return About(plain(about.title), plain(about.author), plain(about.date), plain(about.license))


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
