"""The statements of a row or a feature by its spec: fields, entities, edges, a statement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from retrieval.english.dates import long_date
from retrieval.index import GazetteerEntry, surface_key
from retrieval.ingest.records.kinds import is_untold
from retrieval.ingest.records.link import times_in
from retrieval.ingest.records.templates import compile_template, slug
from retrieval.ingest.values import DeriveSpec, EntitySpec, Owner, RelationSpec, TableSpec
from retrieval.model import EntityRef, Relationship, TimeRange

Fields = dict[str, str]
NAME_COLUMN = re.compile(
    r"(?:place|county|city|town|state|area|region)?[ _]?name|place|county|city|town", re.IGNORECASE
)
"""The columns and properties that name the place of a row or feature, where no manifest says which do."""


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity that a row names, with the names that answer to it."""

    entity: EntityRef
    names: tuple[str, ...]


def date_entity(key: str) -> EntityRef:
    """The entity of a time in ISO form: `1854-05-30` is `date:1854-05-30`, named May 30, 1854."""
    return EntityRef(f"date:{key.replace('/', '..')}", long_date(key).replace("/", "–"), "date")


@dataclass(slots=True)
class Speaker:
    """Reads the spec once; then tells for each row what it says. `kinds` are those that other files tell of the places
    whose kind this one does not, by the slug of the name."""

    spec: TableSpec
    owner: Owner
    lookups: Mapping[str, Mapping[str, str]]
    kinds: Mapping[str, str] = field(default_factory=dict)
    seen: dict[tuple[str, tuple[str, ...]], GazetteerEntry] = field(default_factory=dict)
    edges: list[Relationship] = field(default_factory=list)

    def complete(self, fields: Fields) -> Fields:
        """The row's fields with the derived ones."""
        for derive in self.spec.derive:
            fields[derive.name] = self._derived(derive, fields)
        return fields

    def _derived(self, derive: DeriveSpec, fields: Fields) -> str:
        if not _holds(derive.when, fields):
            return ""
        value = compile_template(derive.source)(fields)
        if value and derive.pattern:
            match = re.search(derive.pattern, value)
            value = match[match.lastindex or 0].strip() if match else ""
        if value and derive.values is not None:
            value = derive.values.get(value, "")
        if value and derive.lookup is not None:
            value = self.lookups[derive.name].get(surface_key(value), "")
        return value

    def entities(self, fields: Fields) -> dict[str, NamedEntity]:
        """Role -> entity, in the order of the spec."""
        found: dict[str, NamedEntity] = {}
        for spec in self.spec.entities:
            if spec.role not in found and _holds(spec.when, fields):
                named = _named(spec, fields, self.kinds)
                if named:
                    found[spec.role] = named
        return found

    def note(self, named: NamedEntity) -> None:
        """Puts an entity's names into the document's gazetteer, once."""
        key = (named.entity.entity_id, named.names)
        if key not in self.seen:
            self.seen[key] = GazetteerEntry(named.entity, named.names, self.owner.class_id, self.owner.document_id)

    def relate(self, record_id: str, fields: Fields, entities: Mapping[str, NamedEntity]) -> None:
        """Adds the row's edges; one whose end the row does not name is no edge."""
        for relation in self.spec.relations:
            subject, other, time = self._ends(relation, fields, entities)
            if subject is not None and other is not None:
                self.edges.append(
                    Relationship(
                        subject=subject,
                        predicate=relation.predicate,
                        object=other,
                        class_id=self.owner.class_id,
                        document_id=self.owner.document_id,
                        record_id=record_id,
                        time=time,
                    )
                )

    def _ends(
        self, relation: RelationSpec, fields: Fields, entities: Mapping[str, NamedEntity]
    ) -> tuple[EntityRef | None, EntityRef | None, TimeRange | None]:
        subject = entities[relation.subject].entity if relation.subject in entities else None
        when = next(times_in(fields.get(relation.time, "")), None) if relation.time else None
        time = when[1] if when else None
        if relation.object is None:
            return subject, date_entity(when[0]) if when else None, time
        return subject, entities[relation.object].entity if relation.object in entities else None, time

    def time(self, fields: Fields) -> TimeRange | None:
        """The time that the row as a whole is of."""
        found = next(times_in(fields.get(self.spec.time, "")), None) if self.spec.time else None
        return found[1] if found else None

    def statement(self, fields: Fields, columns: Iterator[str] | tuple[str, ...]) -> str:
        """The spec's sentence, or `header: value` pairs."""
        said = compile_template(self.spec.statement)(fields) if self.spec.statement else ""
        return said or "; ".join(f"{column}: {fields[column]}" for column in columns if fields.get(column)) + "."


def _holds(when: Mapping[str, str] | None, fields: Fields) -> bool:
    return when is None or all(fields.get(name, "") == value for name, value in when.items())


def _named(spec: EntitySpec, fields: Fields, kinds: Mapping[str, str]) -> NamedEntity | None:
    entity_id, name = compile_template(spec.id)(fields), compile_template(spec.name)(fields)
    if not entity_id or not name:
        return None
    names = (name, *(compile_template(template)(fields) for template in spec.names))
    kind = kinds.get(slug(name)) if kinds and is_untold(entity_id, name) else None
    entity = EntityRef(f"{kind}:{slug(name)}", name, kind) if kind else EntityRef(entity_id, name, spec.type)
    return NamedEntity(entity, tuple(dict.fromkeys(n for n in names if n)))


def year_of(header: str) -> int | None:
    """The year that a column header is, from 1500 to 2099."""
    return int(header) if re.fullmatch(r"1[5-9]\d\d|20\d\d", header, re.ASCII) else None
