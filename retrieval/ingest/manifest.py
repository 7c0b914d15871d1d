"""The manifest (TOML): which sources a corpus has, what they are and who may see them. Every key is known, or it is
an error."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from retrieval.errors import ManifestError
from retrieval.filters import FIELD, Metadata, Scalar, key_of
from retrieval.ingest.templates import compile_template
from retrieval.ingest.values import (
    DEFAULT_STATEMENT,
    Access,
    DeriveSpec,
    EntitySpec,
    ObservationSpec,
    RelationSpec,
    SourceSpec,
    TableSpec,
)
from retrieval.registry.fields import STANDARD

SOURCE_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """Sources in the order of the file; `collections` are name -> title."""

    path: Path
    collections: Mapping[str, str]
    sources: tuple[SourceSpec, ...]


class Table:
    """One table of the manifest: typed access by key, and an error for keys that nobody asked for."""

    def __init__(self, values: object, where: str) -> None:
        if not isinstance(values, dict):
            raise ManifestError(f"{where}: a table is expected")
        self._values: dict[str, Any] = dict(values)
        self.where = where

    def text(self, key: str) -> str:
        """A text that must be there."""
        found = self.maybe(key)
        if not found:
            raise ManifestError(f"{self.where}: {key} is missing or empty")
        return found

    def maybe(self, key: str) -> str | None:
        """A text, or None."""
        value = self._values.pop(key, None)
        if value is not None and not isinstance(value, str):
            raise ManifestError(f"{self.where}: {key} must be a text")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, empty where absent."""
        value = self._values.pop(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ManifestError(f"{self.where}: {key} must be a list of texts")
        return tuple(value)

    def mapping(self, key: str) -> Mapping[str, str] | None:
        """A table of texts, or None."""
        value = self._values.pop(key, None)
        if value is None:
            return None
        if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
            raise ManifestError(f"{self.where}: {key} must be a table of texts")
        return dict(value)

    def day_ms(self, key: str, *, end: bool = False) -> int | None:
        """A date as UTC milliseconds of its first (or last) millisecond."""
        value = self._values.pop(key, None)
        if value is None:
            return None
        if isinstance(value, datetime) or not isinstance(value, date):
            raise ManifestError(f"{self.where}: {key} must be a date (2031-12-31, without quotes)")
        start = int(datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp()) * 1000
        return start + 86_400_000 - 1 if end else start

    def table(self, key: str) -> Table | None:
        """A table, or None."""
        value = self._values.pop(key, None)
        return None if value is None else Table(value, f"{self.where}.{key}")

    def tables(self, key: str) -> list[Table]:
        """A list of tables, empty where absent."""
        value = self._values.pop(key, [])
        if not isinstance(value, list):
            raise ManifestError(f"{self.where}: {key} must be a list of tables")
        return [Table(item, f"{self.where}.{key}[{i}]") for i, item in enumerate(value)]

    def rest(self) -> dict[str, Any]:
        """Everything that was not asked for yet; nothing is left after it."""
        left, self._values = self._values, {}
        return left

    def done(self) -> None:
        """Raises `ManifestError` for the first key that is left."""
        if self._values:
            raise ManifestError(f"{self.where}: unknown key {min(self._values)}")


def read_manifest(path: Path) -> Manifest:
    """Reads and checks a manifest; paths in it are relative to it. Raises `ManifestError`."""
    try:
        values = tomllib.loads(path.read_bytes().decode())
    except OSError as exc:
        raise ManifestError(f"{path.name}: cannot be read ({exc.strerror or 'I/O error'})") from exc
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise ManifestError(f"{path.name}: {str(exc)[:200]}") from exc
    root = Table(values, path.name)
    collections = dict(_collection(table) for table in root.tables("collection"))
    sources = tuple(_source(table, path.parent) for table in root.tables("source"))
    root.done()
    if not sources:
        raise ManifestError(f"{path.name}: there is no source")
    ids = [source.source_id for source in sources]
    twice = next((i for i in ids if ids.count(i) > 1), None)
    if twice:
        raise ManifestError(f"{path.name}: source_id {twice} is there twice")
    for source in sources:
        _check_lookups(source, sources)
    return Manifest(path, collections, sources)


def _collection(table: Table) -> tuple[str, str]:
    named = table.text("name"), table.text("title")
    table.done()
    return named


def _source(table: Table, base: Path) -> SourceSpec:
    source_id = table.text("source_id")
    table.where = f"source {source_id}"
    if not SOURCE_ID.fullmatch(source_id):
        raise ManifestError(f"{table.where}: source_id must be lower-case letters, digits, '.', '_', '-'")
    access = Access(
        label=table.maybe("label"),
        handling=table.texts("handling"),
        groups=table.texts("groups"),
        owner_group=table.maybe("owner_group"),
        allow_list=table.texts("allow_list"),
    )
    spec = table.table("table") or table.table("features")
    source = SourceSpec(
        path=base / table.text("path"),
        source_id=source_id,
        title=table.text("title"),
        license=table.text("license"),
        attribution=table.maybe("attribution"),
        uri=table.maybe("uri"),
        collection=table.maybe("collection"),
        access=access,
        valid_from_ms=table.day_ms("valid_from"),
        valid_until_ms=table.day_ms("valid_until", end=True),
        media_type=table.maybe("media_type"),
        skip=_patterns(table, table.texts("skip")),
        table=_table_spec(spec, base) if spec else None,
        declared=True,
        metadata=_metadata(table.table("metadata")),
    )
    table.done()
    if source.valid_from_ms and source.valid_until_ms and source.valid_until_ms < source.valid_from_ms:
        raise ManifestError(f"{table.where}: valid_until is before valid_from")
    return source


def _metadata(table: Table | None) -> Metadata:
    """Fields for filters: texts, numbers, truth values, dates (as ISO text), and lists of them."""
    found: dict[str, Scalar | tuple[Scalar, ...]] = {}
    for name, value in table.rest().items() if table else ():
        if not FIELD.fullmatch(name) or name in STANDARD:
            raise ManifestError(f"{table.where if table else ''}: {name} cannot be the name of a field")
        many = isinstance(value, list)
        values = tuple(_scalar(each, f"{table.where if table else ''}.{name}") for each in (value if many else [value]))
        found[name] = values if many else values[0]
    return found


def _scalar(value: object, where: str) -> Scalar:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str) or (isinstance(value, int | float) and (value == 0 or 1e-4 <= abs(value) < 1e15)):
        with suppress(ValueError):
            key_of(value)
            return value
    raise ManifestError(f"{where}: a text, a number of ordinary size, true, false or a date is expected")


def _check_lookups(source: SourceSpec, sources: tuple[SourceSpec, ...]) -> None:
    """A row may take words of another table only if both are for the same eyes: else a lookup would carry secrets
    across."""
    for derive in source.table.derive if source.table else ():
        if derive.lookup is None:
            continue
        other = next((s for s in sources if s.path == Path(derive.lookup["path"])), None)
        if other is None or (other.collection, other.access) != (source.collection, source.access):
            raise ManifestError(
                f"source {source.source_id}: lookup {derive.name} needs a source of the manifest with the same access"
            )


def _patterns(table: Table, patterns: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as exc:
            raise ManifestError(f"{table.where}: {pattern!r} is no regular expression ({exc})") from exc
    return patterns


def _table_spec(table: Table, base: Path) -> TableSpec:
    point = table.texts("point")
    if len(point) not in (0, 2):
        raise ManifestError(f"{table.where}: point must name the longitude and the latitude column")
    observation = table.table("observation")
    spec = TableSpec(
        statement=_template(table, table.maybe("statement")),
        time=table.maybe("time"),
        feature_id=table.maybe("feature_id"),
        point=(point[0], point[1]) if point else None,
        entities=tuple(_entity(t) for t in table.tables("entity")),
        relations=tuple(_relation(t) for t in table.tables("relation")),
        derive=tuple(_derive(t, base) for t in table.tables("derive")),
        observation=_observation(observation) if observation else None,
    )
    table.done()
    _check_roles(table, spec)
    return spec


def _check_roles(table: Table, spec: TableSpec) -> None:
    roles = {entity.role for entity in spec.entities}
    used = {role for relation in spec.relations for role in (relation.subject, relation.object) if role}
    used |= {spec.observation.place} if spec.observation else set()
    missing = sorted(used - roles)
    if missing:
        raise ManifestError(f"{table.where}: no entity has the role {missing[0]}")


def _template(table: Table, template: str | None) -> str | None:
    if template is not None:
        try:
            compile_template(template)
        except ManifestError as exc:
            raise ManifestError(f"{table.where}: {exc}") from exc
    return template


def _entity(table: Table) -> EntitySpec:
    entity = EntitySpec(
        role=table.text("role"),
        type=table.text("type"),
        id=_template(table, table.text("id")) or "",
        name=_template(table, table.text("name")) or "",
        names=tuple(_template(table, name) or "" for name in table.texts("names")),
        when=table.mapping("when"),
    )
    table.done()
    return entity


def _relation(table: Table) -> RelationSpec:
    relation = RelationSpec(
        subject=table.text("subject"),
        predicate=table.text("predicate"),
        object=table.maybe("object"),
        time=table.maybe("time"),
    )
    table.done()
    if relation.object is None and relation.time is None:
        raise ManifestError(f"{table.where}: a relation needs an object or a time")
    return relation


def _derive(table: Table, base: Path) -> DeriveSpec:
    lookup = table.mapping("lookup")
    if lookup is not None:
        if set(lookup) != {"path", "key", "value"}:
            raise ManifestError(f"{table.where}: lookup needs exactly path, key and value")
        lookup = {**lookup, "path": str(base / lookup["path"])}
    pattern = table.maybe("pattern")
    _patterns(table, (pattern,) if pattern else ())
    derive = DeriveSpec(
        name=table.text("name"),
        source=_template(table, table.text("from")) or "",
        pattern=pattern,
        values=table.mapping("values"),
        lookup=lookup,
        when=table.mapping("when"),
    )
    table.done()
    return derive


def _observation(table: Table) -> ObservationSpec:
    observation = ObservationSpec(
        place=table.text("place"),
        measure=table.text("measure"),
        unit=table.text("unit"),
        columns=table.texts("columns"),
        no_figure=table.texts("no_figure"),
        statement=_template(table, table.maybe("statement")) or DEFAULT_STATEMENT,
    )
    table.done()
    return observation
