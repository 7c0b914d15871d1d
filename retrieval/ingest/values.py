"""Values that pass between the stages of ingest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from retrieval.filters import Metadata
from retrieval.index import GazetteerEntry
from retrieval.model import Record, Relationship

DEFAULT_STATEMENT = "{place} had a {measure} of {value|number} in {year}."
BlockKind = Literal["heading", "prose", "code"]


@dataclass(frozen=True, slots=True)
class Block:
    """A run of characters with one role. What no block covers (long code, badges, markup) is in the text but in no
    passage. A row of a table whose header is known has a `statement`, and is a passage of its own."""

    start_char: int
    end_char: int
    kind: BlockKind
    level: int = 0
    title: str = ""
    statement: str | None = None


@dataclass(frozen=True, slots=True)
class About:
    """A document's description of itself; None where it says nothing. `date` is ISO 8601, as far as it is stated."""

    title: str | None = None
    author: str | None = None
    date: str | None = None
    license: str | None = None


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text that a file holds, with its pages as (start_char, end_char); `blocks` are None where `chunk` has still
    to find them; `form` is CSV or GeoJSON where the kind of the file does not tell; `slips` say what of the file is not
    in the text as it was: bytes that were not UTF-8, other sheets or layers, geometries that cannot be read; `notes`
    what is not in it because it is no part of a text or table."""

    text: str
    pages: tuple[tuple[int, int], ...] = ()
    blocks: tuple[Block, ...] | None = None
    slips: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    about: About = About()
    form: str | None = None


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A file as checked text; `media_type` is what the text is read as, `sha256` is of its bytes (`sha256:<hex>`), the
    other fields are those of `Extracted`."""

    text: str
    media_type: str
    sha256: str
    pages: tuple[tuple[int, int], ...] = ()
    blocks: tuple[Block, ...] | None = None
    slips: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    about: About = About()


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose records are made: the three ids that every record carries."""

    document_id: str
    source_id: str
    class_id: str


@dataclass(frozen=True, slots=True)
class Parts:
    """The contribution of one document; `left_out` says which rows or features could not be taken in, and why;
    `notes` what was passed over as it should be."""

    records: tuple[Record, ...] = ()
    entries: tuple[GazetteerEntry, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntitySpec:
    """How a row or feature names an entity. `role` is what relations and observations call it; of several specs with
    one role the first whose `when` holds and whose id is not empty is taken."""

    role: str
    type: str
    id: str
    name: str
    names: tuple[str, ...] = ()
    when: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class RelationSpec:
    """An edge between two roles, or from a role to the date in the field `time`."""

    subject: str
    predicate: str
    object: str | None = None
    time: str | None = None


@dataclass(frozen=True, slots=True)
class DeriveSpec:
    """A further field of a row: `source` rendered, then cut by `pattern`, replaced by `values`, looked up in
    `lookup`."""

    name: str
    source: str
    pattern: str | None = None
    values: Mapping[str, str] | None = None
    lookup: Mapping[str, str] | None = None
    when: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ObservationSpec:
    """Which cells are figures: columns (by default those whose header is a year), and the codes that mean "no
    figure". Any other cell that is no figure is an error if `strict`, else no observation. `statement` sees the row's
    fields too."""

    place: str
    measure: str
    unit: str
    columns: tuple[str, ...] = ()
    no_figure: tuple[str, ...] = ()
    statement: str = DEFAULT_STATEMENT
    strict: bool = True


@dataclass(frozen=True, slots=True)
class TableSpec:
    """How a table's rows (or a collection's features) speak. `point` names the longitude and latitude columns."""

    statement: str | None = None
    time: str | None = None
    feature_id: str | None = None
    point: tuple[str, str] | None = None
    entities: tuple[EntitySpec, ...] = ()
    relations: tuple[RelationSpec, ...] = ()
    derive: tuple[DeriveSpec, ...] = ()
    observation: ObservationSpec | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """Access facts as the manifest states them; `label` None means that it must come from elsewhere."""

    label: str | None = None
    handling: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    owner_group: str | None = None
    allow_list: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """One source to take in. Times are UTC milliseconds. `kinds` are those of places, by the slug of the name, that
    other files tell and this one does not."""

    path: Path
    source_id: str
    title: str
    license: str = "unstated"
    attribution: str | None = None
    uri: str | None = None
    collection: str | None = None
    access: Access = Access()
    valid_from_ms: int | None = None
    valid_until_ms: int | None = None
    media_type: str | None = None
    skip: tuple[str, ...] = ()
    table: TableSpec | None = None
    declared: bool = False
    kinds: Mapping[str, str] = field(default_factory=dict)
    metadata: Metadata = field(default_factory=dict)
