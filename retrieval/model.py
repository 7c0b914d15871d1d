"""Values of retrieval: what is stored (records), what is asked (query, intent) and what is found (runs, evidence)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from retrieval.algebra.operations import Operation
from retrieval.scope import Scope, VisibilityClass


class ChannelName(StrEnum):
    """A channel's role on the wire (requirement 003); which product answers is the `store`."""

    GRAPH = "neo4j"
    SPATIAL = "postgis"
    FULLTEXT = "fulltext"
    VECTOR = "vector"


class RecordKind(StrEnum):
    """The kind of slice that a record is. On the wire a feature is an `observation`."""

    PASSAGE = "passage"
    OBSERVATION = "observation"
    FEATURE = "feature"


class Lifecycle(StrEnum):
    """State of an asset or document; only `active` is retrievable."""

    DRAFT = "draft"
    ACTIVE = "active"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"
    ERASED = "erased"


@dataclass(frozen=True, slots=True)
class TimeRange:
    """Days, both inclusive; a year is its first to its last day."""

    start: date
    end: date

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise ValueError(f"time range ends before it starts: {self.start}..{self.end}")

    @classmethod
    def year(cls, year: int, until: int | None = None) -> TimeRange:
        """1 January of `year` to 31 December of `until` (or of `year`)."""
        return cls(date(year, 1, 1), date(year if until is None else until, 12, 31))

    def overlaps(self, other: TimeRange) -> bool:
        """True if the two share a day."""
        return self.start <= other.end and other.start <= self.end


@dataclass(frozen=True, slots=True)
class Locator:
    """Where a record stands in its document. Character and byte offsets are into the stored text (UTF-8), end
    exclusive; `row` counts data rows from 0."""

    start_char: int
    end_char: int
    start_byte: int
    end_byte: int
    page: int | None = None
    row: int | None = None
    column: str | None = None
    feature: str | None = None


LISTED = "listed:"
"""How the ids of things begin that only a table without times lists."""


@dataclass(frozen=True, slots=True)
class EntityRef:
    """An entity by its stable id (`county:20177`), with the name and type that readers see."""

    entity_id: str
    name: str
    type: str

    @property
    def listed(self) -> bool:
        """True for a thing that only a table without times lists: it lies nowhere, and texts do not mean it."""
        return self.entity_id.startswith(LISTED)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One observed number: `value` as the decimal text of the source, without separators."""

    place: EntityRef
    measure: str
    value: str
    unit: str
    time: TimeRange


@dataclass(frozen=True, slots=True)
class Attribute:
    """One number of a thing that has no time: its height, its price. It is no measurement, so that nothing takes it for
    the figure of a year; `value` as of a measurement."""

    place: EntityRef
    measure: str
    value: str
    unit: str


TOLD_BY = "told by "
"""Before the narrator at the end of a heading."""
MEANS = ("he is ", "she is ")
"""Before the person whom a passage means by its pronoun, at the end of a heading."""


def headings_above(heading: str | None) -> tuple[str, ...]:
    """The headings of a record's path, without who tells it or is meant in it."""
    path = tuple(heading.split(" > ")) if heading else ()
    return path[:-1] if path and path[-1].startswith((TOLD_BY, *MEANS)) else path


@dataclass(frozen=True, slots=True)
class Record:
    """The unit that is indexed, retrieved and cited: a slice of one version of one document, in one visibility class.

    `text` is exactly `document.text[start_char:end_char]`. `statement` says in a sentence what a table row, cell or
    feature states (None for prose, which speaks for itself). `entities` are those the record is about by declaration
    (columns, properties), not by guess. `heading` is the path of headings above it, and last who tells it, where it is
    told in the first person and that is said elsewhere, or whom its `he` or `she` means. `geometry` is WKB in WGS 84. A
    record holds a measurement or an attribute, never both.
    """

    record_id: str
    kind: RecordKind
    document_id: str
    source_id: str
    class_id: str
    ordinal: int
    text: str
    locator: Locator
    heading: str | None = None
    statement: str | None = None
    time: TimeRange | None = None
    entities: tuple[EntityRef, ...] = ()
    measurement: Measurement | None = None
    geometry: bytes | None = None
    attribute: Attribute | None = None


@dataclass(frozen=True, slots=True)
class Relationship:
    """A typed edge and the record that states it."""

    subject: EntityRef
    predicate: str
    object: EntityRef
    class_id: str
    document_id: str
    record_id: str
    time: TimeRange | None = None


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """Registry facts about the document that a record belongs to."""

    source_id: str
    document_id: str
    title: str
    license: str
    attribution: str | None
    uri: str | None
    collection: str
    document_sha256: str
    indexed_sha256: str
    lifecycle: Lifecycle
    valid_until_ms: int | None
    visibility: VisibilityClass


@dataclass(frozen=True, slots=True)
class SourcedRecord:
    """A record together with the facts of its source."""

    record: Record
    source: SourceFacts


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of the question that name entities. `candidates` is empty when they look like a name that the admitted
    gazetteer does not hold."""

    surface: str
    start_char: int
    end_char: int
    candidates: tuple[EntityRef, ...]


@dataclass(frozen=True, slots=True)
class Intent:
    """The intent of the question with its map context; read with the scope's gazetteer only. `reading` says its
    operations in words. Of a question of figures, places or rows that could not be read in full `unread` are the words
    that were not understood, and `nearest` says what would be answered without them. `map_time`:
    the times are those of the map, which shows how things lie now where nothing is dated."""

    mentions: tuple[Mention, ...] = ()
    times: tuple[TimeRange, ...] = ()
    measures: tuple[str, ...] = ()
    operations: tuple[Operation, ...] = ()
    terms: tuple[str, ...] = ()
    reading: str = ""
    unread: tuple[str, ...] = ()
    nearest: str = ""
    map_time: bool = False

    @property
    def entities(self) -> tuple[EntityRef, ...]:
        """All candidates, in order of mention."""
        return tuple(dict.fromkeys(c for m in self.mentions for c in m.candidates))

    @property
    def unknown_names(self) -> tuple[str, ...]:
        """Names that nothing admitted answers to."""
        return tuple(m.surface for m in self.mentions if not m.candidates)


@dataclass(frozen=True, slots=True)
class Query:
    """One search. `text` is the sanitized question; `bbox` is (west, south, east, north) in degrees, west > east across
    the antimeridian; `geometry` is GeoJSON text; `layers` are source ids that narrow spatial evidence (empty: no
    narrowing). `documents` narrows the search to these (None: no narrowing); `embedding` is a vector of the caller's
    own in place of that of the text."""

    text: str
    scope: Scope
    top_k: int
    intent: Intent = Intent()
    bbox: tuple[float, float, float, float] | None = None
    geometry: str | None = None
    layers: tuple[str, ...] = ()
    documents: frozenset[str] | None = None
    embedding: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Computation:
    """A named operation over records, recomputed on replay by `retrieval.spatial.computing.compute`."""

    operation: str
    parameters: Mapping[str, object]
    inputs: tuple[str, ...]
    input_digest: str
    result: Mapping[str, object]
    statement: str

    @property
    def record_id(self) -> str:
        """Identity by content: operation, parameters and input digest."""
        from retrieval.scope import digest  # noqa: PLC0415

        body = {"operation": self.operation, "parameters": dict(self.parameters), "inputs": self.input_digest}
        return "computed:" + digest(body).removeprefix("sha256:")[:32]


@dataclass(frozen=True, slots=True)
class Hit:
    """One place in a run. `score` is the store's own and comparable within the run only; `path` names the relations
    that a graph hit followed."""

    rank: int
    record_id: str
    score: float
    computed: Computation | None = None
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limitation:
    """Something the reader must know about what was not found or not asked. Never derived from records outside the
    scope."""

    code: str
    message: str
    channel: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One channel's answer: hits best first, ranks 1..n without gaps. `ceiling` is the most that a record could score
    for this query, where the store's scores have no bound of their own (0: not known). `weight_milli` is how much it
    counts in fusion beside other runs of its channel: one run answers the question itself, others only a part."""

    channel: ChannelName
    store: str
    hits: tuple[Hit, ...] = ()
    limitations: tuple[Limitation, ...] = ()
    ceiling: float = 0.0
    weight_milli: int = 1000


@dataclass(frozen=True, slots=True)
class ChannelRank:
    """Where and with which score a channel returned an item."""

    channel: ChannelName
    store: str
    rank: int
    score: float
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A numbered item of the bundle. For a computed item `records` are its inputs, else it is the one record;
    `duplicates` lists the provenance of near-equal records that were folded into this one."""

    index: int
    record_id: str
    records: tuple[SourcedRecord, ...]
    ranks: tuple[ChannelRank, ...]
    fused_score: float
    computed: Computation | None = None
    duplicates: tuple[SourcedRecord, ...] = ()

    @property
    def first(self) -> SourcedRecord:
        """The record that stands for the item where one is needed (title, licence, link)."""
        return self.records[0]


@dataclass(frozen=True, slots=True)
class EvidenceBundle:
    """The result of retrieval: items numbered 1..n in order, its limitations, and the runs behind it for the ledger."""

    items: tuple[Evidence, ...]
    limitations: tuple[Limitation, ...] = ()
    runs: tuple[Run, ...] = ()
    candidates: int = 0
    timings_ms: Mapping[str, float] = field(default_factory=dict)
