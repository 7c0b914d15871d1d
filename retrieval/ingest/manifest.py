"""The manifest (TOML): which sources a corpus has, what they are and who may see them. Every key is known, or it is
an error."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, replace
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import cattrs
from cattrs.errors import AttributeValidationNote
from cattrs.gen import make_dict_structure_fn, override

from retrieval.errors import ManifestError
from retrieval.filters import FIELD, Metadata, Scalar, key_of
from retrieval.ingest.records.templates import compile_template
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
from retrieval.web_address import web_address

T = TypeVar("T")
Hook = Callable[[Any, Any], Any]
Versions = Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]]
# The versions of the manifest, and what makes the values of one into today's; one that names none is of the first.
VERSIONS: Versions = {1: lambda values: values}
SOURCE_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
_DAY_MS = 86_400_000
_NO_TABLE = "a table is expected"


@dataclass(frozen=True, slots=True)
class Collection:
    """A named knowledge base."""

    name: str
    title: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """Sources in the order of the file; `collections` are name -> title."""

    path: Path
    collections: Mapping[str, str]
    sources: tuple[SourceSpec, ...]


def read_manifest(path: Path, *, versions: Versions = VERSIONS) -> Manifest:
    """Reads and checks a manifest; paths in it are relative to it. Raises `ManifestError`."""
    try:
        values = tomllib.loads(path.read_bytes().decode())
    except OSError as exc:
        raise ManifestError(f"{path.name}: cannot be read ({exc.strerror or 'I/O error'})") from exc
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise ManifestError(f"{path.name}: {str(exc)[:200]}") from exc
    version = values.pop("version", 1)
    if type(version) is not int or version not in versions:
        raise ManifestError(f"{path.name}: version must be one of {', '.join(map(str, versions))}")
    values = versions[version](values)
    listed = {key: _listed(values.pop(key, []), f"{path.name}: {key}") for key in ("collection", "source")}
    collections = [
        _structured(each, Collection, f"{path.name}.collection[{i}]") for i, each in enumerate(listed["collection"])
    ]
    sources = tuple(_source(each, path, f"{path.name}.source[{i}]") for i, each in enumerate(listed["source"]))
    if values:
        raise ManifestError(f"{path.name}: unknown key {min(values)}")
    if not sources:
        raise ManifestError(f"{path.name}: it lists no source")
    times = Counter(source.source_id for source in sources)
    twice = next((source_id for source_id, count in times.items() if count > 1), None)
    if twice:
        raise ManifestError(f"{path.name}: source_id {twice} occurs twice")
    by_path = {source.path: source for source in reversed(sources)}
    for source in sources:
        _check_lookups(source, by_path)
    return Manifest(path, {each.name: each.title for each in collections}, sources)


def _listed(value: object, where: str) -> Sequence[object]:
    if not isinstance(value, list):
        raise ManifestError(f"{where} must be a list of tables")
    return value


def _source(given: object, path: Path, where: str) -> SourceSpec:
    if not isinstance(given, dict):
        raise ManifestError(f"{where}: {_NO_TABLE}")
    values = dict(given)
    if isinstance(values.get("source_id"), str) and values["source_id"]:
        where = f"source {values['source_id']}"
    access = {each.name: values.pop(each.name) for each in fields(Access) if each.name in values}
    shape = "features" if "table" not in values else "table"
    spec, metadata = values.pop(shape, None), values.pop("metadata", {})
    if not values.get("license"):
        raise ManifestError(f"{where}: license is missing or empty")
    source = replace(
        _structured(values, SourceSpec, where),
        declared=True,
        access=_structured(access, Access, where),
        table=None if spec is None else _table_spec(spec, path.parent, f"{where}.{shape}"),
        metadata=_metadata(metadata, f"{where}.metadata"),
    )
    if not SOURCE_ID.fullmatch(source.source_id):
        raise ManifestError(f"{where}: source_id must be lower-case letters, digits, '.', '_', '-'")
    if source.valid_from_ms and source.valid_until_ms and source.valid_until_ms < source.valid_from_ms:
        raise ManifestError(f"{where}: valid_until is before valid_from")
    return replace(source, path=path.parent / source.path)


def _table_spec(given: object, base: Path, where: str) -> TableSpec:
    spec = _structured(given, TableSpec, where)
    roles = {entity.role for entity in spec.entities}
    used = {role for relation in spec.relations for role in (relation.subject, relation.object) if role}
    used |= {spec.observation.place} if spec.observation else set()
    missing = sorted(used - roles)
    if missing:
        raise ManifestError(f"{where}: no entity has the role {missing[0]}")
    for i, relation in enumerate(spec.relations):
        if relation.object is None and relation.time is None:
            raise ManifestError(f"{where}.relation[{i}]: a relation needs an object or a time")
    derived = (
        replace(each, lookup={**each.lookup, "path": str(base / each.lookup["path"])}) if each.lookup else each
        for each in spec.derive
    )
    return replace(spec, derive=tuple(derived))


def _metadata(given: object, where: str) -> Metadata:
    """Fields for filters: texts, numbers, truth values, dates (as ISO text), and lists of them."""
    if not isinstance(given, dict):
        raise ManifestError(f"{where}: {_NO_TABLE}")
    found: dict[str, Scalar | tuple[Scalar, ...]] = {}
    for name, value in given.items():
        if not FIELD.fullmatch(name) or name in STANDARD:
            raise ManifestError(f"{where}: {name} cannot be the name of a field")
        many = isinstance(value, list)
        values = tuple(_scalar(each, f"{where}.{name}") for each in (value if many else [value]))
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


def _check_lookups(source: SourceSpec, by_path: Mapping[Path, SourceSpec]) -> None:
    """A row may take words of another table only if both are for the same eyes: else a lookup would carry secrets
    across."""
    for derive in source.table.derive if source.table else ():
        if derive.lookup is None:
            continue
        other = by_path.get(Path(derive.lookup["path"]))
        if other is None or (other.collection, other.access) != (source.collection, source.access):
            raise ManifestError(
                f"source {source.source_id}: lookup {derive.name} needs a source of the manifest with the same access"
            )


def _text(value: object, _: object = None) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return value


def _filled(value: object, _: object = None) -> str:
    if not _text(value):
        raise ValueError("is missing or empty")
    return _text(value)


def _texts(value: object, _: object = None) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("must be a list of texts")
    return tuple(value)


def _texts_by_name(value: object, _: object = None) -> Mapping[str, str]:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise ValueError("must be a table of texts")
    return dict(value)


def _address(value: object, _: object = None) -> str:
    """An http or https address: readers click on it, so no other scheme is taken."""
    if web_address(_text(value)) is None:
        raise ValueError("must be an http or https address")
    return _text(value)


def _template(value: object, _: object = None) -> str:
    compile_template(_text(value))
    return _text(value)


def _filled_template(value: object, _: object = None) -> str:
    return _template(_filled(value))


def _pattern(value: object, _: object = None) -> str:
    try:
        re.compile(_text(value))
    except re.error as exc:
        raise ValueError(f"{value!r} is not a regular expression ({exc})") from exc
    return _text(value)


def _first_ms(value: object, _: object = None) -> int:
    """A date as UTC milliseconds of its first millisecond."""
    if isinstance(value, datetime) or not isinstance(value, date):
        raise ValueError("must be a date (2031-12-31, without quotes)")
    return int(datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp()) * 1000


def _lookup(value: object, _: object = None) -> Mapping[str, str]:
    named = _texts_by_name(value)
    if set(named) != {"path", "key", "value"}:
        raise ValueError("needs exactly path, key and value")
    return named


def _point(value: object, _: object = None) -> tuple[str, str] | None:
    named = _texts(value)
    if len(named) not in (0, 2):
        raise ValueError("must name the longitude and the latitude column")
    return (named[0], named[1]) if named else None


_OMITTED = override(omit=True)
_KEYS = {
    "entities": "entity",
    "relations": "relation",
    "source": "from",
    "valid_from_ms": "valid_from",
    "valid_until_ms": "valid_until",
}
"""Keys of the file, by the field that they fill, where the two differ."""
_HOOKS: Mapping[type, Mapping[str, Hook | None]] = {
    Collection: {},
    Access: {},
    RelationSpec: {},
    EntitySpec: {
        "id": _filled_template,
        "name": _filled_template,
        "names": lambda value, _: tuple(map(_template, _texts(value))),
    },
    DeriveSpec: {"source": _filled_template, "pattern": _pattern, "lookup": _lookup},
    ObservationSpec: {"strict": None, "statement": lambda value, _: _template(value) or DEFAULT_STATEMENT},
    TableSpec: {"statement": _template, "point": _point},
    SourceSpec: {
        "path": lambda value, _: Path(_filled(value)),
        "skip": lambda value, _: tuple(map(_pattern, _texts(value))),
        "uri": _address,
        "valid_from_ms": _first_ms,
        "valid_until_ms": lambda value, _: _first_ms(value) + _DAY_MS - 1,
        **dict.fromkeys(("access", "table", "declared", "metadata")),
    },
}
"""How fields are read that their type alone does not describe; None: the file does not fill them by that name."""
_BY_TYPE: Mapping[Any, Hook] = {
    str: _text,
    str | None: _text,
    tuple[str, ...]: _texts,
    Mapping[str, str] | None: _texts_by_name,
}


@cache
def _converter() -> cattrs.Converter:
    made = cattrs.Converter(forbid_extra_keys=True)
    made.register_structure_hook_factory(_is_tables, lambda kind: lambda value, _: _tables(value, kind, made))
    for kind, own in _HOOKS.items():
        overrides: dict[str, Any] = {}
        for each, hint in zip(fields(kind), get_type_hints(kind).values(), strict=True):
            by_type = _filled if hint is str and each.default is MISSING else _BY_TYPE.get(hint)
            hook = own.get(each.name, by_type)
            omitted = each.name in own and hook is None
            overrides[each.name] = override(omit=omitted, rename=_KEYS.get(each.name), struct_hook=hook)
        made.register_structure_hook(kind, _table_hook(make_dict_structure_fn(kind, made, **overrides)))
    return made


def _table_hook(read: Hook) -> Hook:
    def hook(value: object, kind: Any) -> Any:
        if not isinstance(value, dict):
            raise ValueError(_NO_TABLE)
        return read(value, kind)

    return hook


def _is_tables(kind: Any) -> bool:
    return get_origin(kind) is tuple and get_args(kind)[0] in _HOOKS


def _tables(value: object, kind: Any, converter: cattrs.Converter) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise ValueError("must be a list of tables")
    each: Any = list[get_args(kind)[0]]  # type: ignore[misc]
    return tuple(converter.structure(value, each))


def _structured(value: object, kind: type[T], where: str) -> T:
    try:
        return _converter().structure(value, kind)
    except cattrs.BaseValidationError as exc:
        raise ManifestError(next(_complaints(exc, where))) from exc
    except ValueError as exc:
        raise ManifestError(f"{where}: {exc}") from exc


def _complaints(exc: cattrs.BaseValidationError, where: str) -> Iterator[str]:
    """The faults of a table or a list of tables, by place and key."""
    placed, others = exc.group_exceptions()  # type: ignore[attr-defined]
    for error, note in placed:
        inside = isinstance(note, AttributeValidationNote)
        key = _KEYS.get(note.name, note.name) if inside else f"[{note.index}]"
        place = f"{where}.{key}" if inside else f"{where}{key}"
        if isinstance(error, cattrs.BaseValidationError):
            yield from _complaints(error, place)
        elif str(error) == _NO_TABLE:
            yield f"{place}: {error}"
        else:
            yield f"{where}: {key} {'is missing' if isinstance(error, KeyError) else error}"
    for error in others:
        if isinstance(error, cattrs.ForbiddenExtraKeysError):
            yield f"{where}: unknown key {min(error.extra_fields)}"
        else:
            yield f"{where}: {error}"
