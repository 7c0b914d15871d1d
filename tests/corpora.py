"""Random corpora for everyone's tests: documents, classes, tenants, records of every kind, names and relations.

A corpus is a function of its seed. `corpus(seed)` is what a principal may see; `hidden(seed)` is what must change
nothing: the same words, names and places in classes that no probe admits. Offsets are exact: every record's text is the
slice of its document that its locator names.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from retrieval.algebra.operations import Lookup
from retrieval.index import GazetteerEntry, IndexBatch, SurfaceMention, surface_key
from retrieval.model import (
    EntityRef,
    Intent,
    Lifecycle,
    Locator,
    Measurement,
    Mention,
    Query,
    Record,
    RecordKind,
    Relationship,
    SourcedRecord,
    SourceFacts,
    TimeRange,
)
from retrieval.registry.store import Document
from retrieval.scope import Scope, VisibilityClass

TENANT = "default"
MEASURE = "population"
YEARS = (1870, 1880, 1890, 1900)
NAMES = ("Ashfield", "Birchmoor", "Coldwater", "Dunlap", "Élan", "Fairbank", "Greystone", "Harrow")
COUNTIES = tuple(EntityRef(f"county:{n:05d}", f"{name} County", "county") for n, name in enumerate(NAMES, start=1))
SUBJECTS = (
    "The railroad",
    "A dust storm",
    "The land office",
    "An early settler",
    "The river flood",
    "The grain market",
)
VERBS = ("reached", "changed", "divided", "avoided", "surprised", "enriched")
TAILS = (
    "in the spring",
    "after the harvest",
    "before the war",
    "without a warning",
    "for a second time",
    "“as foreseen”",
)


@dataclass(frozen=True)
class Corpus:
    """Documents with everything they contribute, and the classes they lie in."""

    documents: tuple[Document, ...] = ()
    records: tuple[Record, ...] = ()
    entries: tuple[GazetteerEntry, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    mentions: tuple[SurfaceMention, ...] = field(default=())

    def __add__(self, other: Corpus) -> Corpus:
        return Corpus(
            self.documents + other.documents,
            self.records + other.records,
            self.entries + other.entries,
            self.relationships + other.relationships,
            self.mentions + other.mentions,
        )

    @property
    def classes(self) -> tuple[VisibilityClass, ...]:
        """Each class once, in order of appearance."""
        return tuple(dict.fromkeys(d.facts.visibility for d in self.documents))

    @property
    def document_ids(self) -> tuple[str, ...]:
        return tuple(d.facts.document_id for d in self.documents)

    def scope(self, tenant: str = TENANT) -> Scope:
        """Everything of the tenant in this corpus."""
        return Scope.of(tenant, self.classes)

    def batches(self) -> tuple[IndexBatch, ...]:
        """One per tenant."""
        tenants = dict.fromkeys(c.tenant for c in self.classes)
        return tuple(self._of({c.class_id for c in self.classes if c.tenant == t}).batch(t) for t in tenants)

    def batch(self, tenant: str = TENANT) -> IndexBatch:
        return IndexBatch(tenant, self.records, self.entries, self.relationships, self.mentions)

    def without(self, document_ids: Iterable[str]) -> Corpus:
        """The corpus as if these documents had never been."""
        gone = frozenset(document_ids)
        return Corpus(
            tuple(d for d in self.documents if d.facts.document_id not in gone),
            tuple(r for r in self.records if r.document_id not in gone),
            tuple(e for e in self.entries if e.document_id not in gone),
            tuple(r for r in self.relationships if r.document_id not in gone),
            tuple(m for m in self.mentions if m.document_id not in gone),
        )

    def sourced(self) -> Mapping[str, SourcedRecord]:
        """Every record with its source's facts, as the store of record would return them."""
        facts = {d.facts.document_id: d.facts for d in self.documents}
        return {r.record_id: SourcedRecord(r, facts[r.document_id]) for r in self.records}

    def _of(self, class_ids: set[str]) -> Corpus:
        return self.without(d.facts.document_id for d in self.documents if d.facts.visibility.class_id not in class_ids)


def visibility(**facts: object) -> VisibilityClass:
    """A public class of the default tenant unless `facts` say otherwise."""
    base: dict[str, object] = {"tenant": TENANT, "collection": "kansas", "label": "public"}
    return VisibilityClass(**(base | facts))  # type: ignore[arg-type]


ADMITTED = (visibility(), visibility(label="internal"), visibility(collection="letters"))
HIDDEN = (
    visibility(label="restricted"),
    visibility(groups=("curators",)),
    visibility(handling=("sensitive_location",)),
    visibility(tenant="other"),
)


def corpus(
    seed: int, *, documents: int = 8, classes: Sequence[VisibilityClass] = ADMITTED, prefix: str = "d"
) -> Corpus:
    """`documents` documents, prose and tables in turn, each in one of `classes`; equal arguments give equal corpora."""
    chance = random.Random(seed)
    made = Corpus()
    for number in range(documents):
        build = table_document if number % 3 == 2 else prose_document
        made += build(f"{prefix}{number}", chance.choice(list(classes)), chance)
    return made


def hidden(seed: int, *, documents: int = 8) -> Corpus:
    """Documents that no probe may see: other label, group, handling tag, tenant."""
    return corpus(seed, documents=documents, classes=HIDDEN, prefix="h")


def prose_document(document_id: str, visible: VisibilityClass, chance: random.Random) -> Corpus:
    """Two to four passages, each a few sentences that name one or two counties."""
    passages = [_paragraph(chance) for _ in range(chance.randint(2, 4))]
    text = "\n\n".join(words for words, _ in passages)
    document = _document(document_id, visible, text)
    made = Corpus((document,))
    start = 0
    for ordinal, (words, named) in enumerate(passages):
        start = text.index(words, start)
        record = _record(document, f"c{ordinal}", RecordKind.PASSAGE, ordinal, (start, len(words)), heading="Chronicle")
        made += Corpus((), (record,), _entries(record, named), _borders(record, named), _mentions(record, named))
        start += len(words)
    return made


def table_document(document_id: str, visible: VisibilityClass, chance: random.Random) -> Corpus:
    """A table of counties by year: a passage per row and an observation per cell."""
    rows = chance.sample(COUNTIES, chance.randint(2, 4))
    cells = [[f"{chance.randint(100, 99_999):,}" for _ in YEARS] for _ in rows]
    lines = [";".join(["place", *map(str, YEARS)])]
    lines += [";".join([place.name, *figures]) for place, figures in zip(rows, cells, strict=True)]
    document = _document(document_id, visible, "\n".join(lines))
    made = Corpus((document,))
    start = len(lines[0]) + 1
    for number, (place, figures) in enumerate(zip(rows, cells, strict=True)):
        made += _row(document, number, start, place, figures)
        start += len(lines[number + 1]) + 1
    return made


def probes(visible: Corpus, *, top_k: int = 10, scope: Scope | None = None) -> tuple[Query, ...]:
    """Questions of which every channel can answer some: a figure, a name with a relation, free words."""
    inside = visible.scope() if scope is None else scope
    return tuple(probe(place, year, inside, top_k=top_k) for place in COUNTIES[:4] for year in YEARS[:2])


def probe(place: EntityRef, year: int, scope: Scope, *, top_k: int = 10) -> Query:
    """The population of a place in a year, as `ai.intent` would read it."""
    text = f"What was the population of {place.name} in {year}, what borders it, and what did the railroad change?"
    start = text.index(place.name)
    intent = Intent(
        mentions=(Mention(place.name, start, start + len(place.name), (place,)),),
        times=(TimeRange.year(year),),
        measures=(MEASURE,),
        operations=(Lookup(MEASURE, (place.entity_id,), year),),
        terms=("railroad", "change"),
    )
    return Query(text, scope, top_k, intent)


def reworded(query: Query, text: str) -> Query:
    """The same search with another text; the intent's offsets no longer matter to a channel."""
    return replace(query, text=text)


def _paragraph(chance: random.Random) -> tuple[str, tuple[EntityRef, ...]]:
    named = tuple(chance.sample(COUNTIES, 2))
    sentences = [f"{named[0].name} lies next to {named[1].name}."]
    for _ in range(chance.randint(1, 4)):
        words = (chance.choice(SUBJECTS), chance.choice(VERBS), chance.choice(named).name, chance.choice(TAILS))
        sentences.append(" ".join(words) + f" of {chance.choice(YEARS)}.")
    return " ".join(sentences), named


def _row(document: Document, number: int, start: int, place: EntityRef, figures: Sequence[str]) -> Corpus:
    line = ";".join([place.name, *figures])
    about = (place,)
    said = "; ".join(f"{year}: {figure}" for year, figure in zip(YEARS, figures, strict=True))
    passage = _record(document, f"r{number}", RecordKind.PASSAGE, number, (start, len(line)), row=number)
    passage = replace(passage, statement=f"{place.name}, {MEASURE}: {said}.", entities=about)
    made = Corpus((), (passage,), _entries(passage, about), (), _mentions(passage, about))
    at = start + len(place.name) + 1
    for year, figure in zip(YEARS, figures, strict=True):
        cell = _record(document, f"r{number}:{year}", RecordKind.OBSERVATION, number, (at, len(figure)), row=number)
        time = TimeRange.year(year)
        value = Measurement(place, MEASURE, figure.replace(",", ""), "inhabitants", time)
        said = f"{place.name} had {figure} inhabitants in {year}."
        located = replace(cell.locator, column=str(year))
        made += Corpus(
            (),
            (replace(cell, locator=located, statement=said, time=time, entities=about, measurement=value),),
        )
        at += len(figure) + 1
    return made


def _document(document_id: str, visible: VisibilityClass, text: str) -> Document:
    sha256 = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    facts = SourceFacts(
        source_id=f"source-{document_id}",
        document_id=document_id,
        title=f"Title of {document_id}",
        license="CC0-1.0",
        attribution=None,
        uri=None,
        collection=visible.collection,
        document_sha256=sha256,
        indexed_sha256=sha256,
        lifecycle=Lifecycle.ACTIVE,
        valid_until_ms=None,
        visibility=visible,
    )
    return Document(facts, "text/plain", text)


def _record(
    document: Document,
    suffix: str,
    kind: RecordKind,
    ordinal: int,
    place: tuple[int, int],
    *,
    heading: str | None = None,
    row: int | None = None,
) -> Record:
    start, length = place
    before, text = document.text[:start], document.text[start : start + length]
    first_byte = len(before.encode())
    locator = Locator(start, start + length, first_byte, first_byte + len(text.encode()), row=row)
    facts = document.facts
    return Record(
        record_id=f"{facts.document_id}#{suffix}",
        kind=kind,
        document_id=facts.document_id,
        source_id=facts.source_id,
        class_id=facts.visibility.class_id,
        ordinal=ordinal,
        text=text,
        locator=locator,
        heading=heading,
    )


def _entries(record: Record, named: Sequence[EntityRef]) -> tuple[GazetteerEntry, ...]:
    return tuple(GazetteerEntry(e, (e.name, e.name.split()[0]), record.class_id, record.document_id) for e in named)


def _borders(record: Record, named: Sequence[EntityRef]) -> tuple[Relationship, ...]:
    one, other = named
    return (Relationship(one, "borders", other, record.class_id, record.document_id, record.record_id),)


def _mentions(record: Record, named: Sequence[EntityRef]) -> tuple[SurfaceMention, ...]:
    return tuple(
        SurfaceMention(record.record_id, surface_key(e.name), record.class_id, record.document_id) for e in named
    )
