"""GeoJSON: a record per feature, whose text is the exact slice of its properties and whose geometry is WKB in WGS
84."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import shapely

from retrieval.algebra.wording import counted
from retrieval.errors import LoadError
from retrieval.ingest.records.kinds import (
    UNTOLD,
    kind_column,
    kind_of_file,
    kind_of_header,
    may_tell_kinds,
    named_places,
    type_of,
)
from retrieval.ingest.records.rows import NAME_COLUMN, Fields, Speaker
from retrieval.ingest.records.templates import slug
from retrieval.ingest.values import LoadedFile, Owner, Parts, TableSpec
from retrieval.model import Locator, Record, RecordKind

_ROUNDING = 1e-6
"""Degrees, a tenth of a metre: what a change of coordinates may add to the edge of the world."""
_SPACE = re.compile(r"[ \t\r\n]*")


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


_DECODER = JSONDecoder(parse_constant=_no_constant)


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature: the characters of its properties object, the object, its geometry and its own id."""

    number: int
    start_char: int
    end_char: int
    properties: dict[str, Any]
    geometry: Any
    id: str | None
    text: str


def split_features(name: str, text: str) -> Iterator[Feature]:
    """The features of a FeatureCollection (RFC 7946). Raises `LoadError` naming the feature or the character."""
    try:
        members = dict(_members(text, _SPACE.match(text).end()))  # type: ignore[union-attr]
        kind = _value(text, members["type"]) if "type" in members else None
    except (ValueError, IndexError, RecursionError) as exc:
        raise LoadError(f"{name}: not valid JSON ({_reason(exc)})") from exc
    if kind != "FeatureCollection" or "features" not in members:
        raise LoadError(f"{name}: not a GeoJSON FeatureCollection")
    number = 0
    try:
        for position in _items(text, members["features"]):
            yield _feature(name, text, number, position)
            number += 1
    except (ValueError, IndexError, RecursionError) as exc:
        raise LoadError(f"{name}: feature {number}: not valid JSON ({_reason(exc)})") from exc


def _reason(exc: Exception) -> str:
    return f"{exc.msg} at character {exc.pos}" if isinstance(exc, json.JSONDecodeError) else str(exc)[:80]


def _feature(name: str, text: str, number: int, position: int) -> Feature:
    members = dict(_members(text, position))
    if _value(text, members.get("type", position)) != "Feature" or "properties" not in members:
        raise LoadError(f"{name}: feature {number}: not a Feature with properties")
    start = members["properties"]
    properties, end = _DECODER.raw_decode(text, start)
    if not isinstance(properties, dict):
        raise LoadError(f"{name}: feature {number}: its properties are not an object")
    own = _value(text, members["id"]) if "id" in members else None
    geometry = _value(text, members["geometry"]) if "geometry" in members else None
    return Feature(number, start, end, properties, geometry, None if own is None else str(own), text[start:end])


def _value(text: str, position: int) -> Any:
    return _DECODER.raw_decode(text, position)[0]


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _members(text: str, position: int) -> Iterator[tuple[str, int]]:
    """(key, position of the value) of an object, without building what is not asked for."""
    if text[position] != "{":
        raise ValueError(f"an object is expected at character {position}")
    position = _skip(text, position + 1)
    while text[position] != "}":
        if text[position] != '"':
            raise ValueError(f"a name is expected at character {position}")
        key, position = scanstring(text, position + 1)
        position = _skip(text, position)
        if text[position] != ":":
            raise ValueError(f"a colon is expected at character {position}")
        position = _skip(text, position + 1)
        yield key, position
        position = _next(text, _end(text, position), "}")


def _items(text: str, position: int) -> Iterator[int]:
    if text[position] != "[":
        raise ValueError(f"a list is expected at character {position}")
    position = _skip(text, position + 1)
    while text[position] != "]":
        yield position
        position = _next(text, _end(text, position), "]")


def _end(text: str, position: int) -> int:
    end: int = _DECODER.raw_decode(text, position)[1]
    return end


def _next(text: str, position: int, closing: str) -> int:
    position = _skip(text, position)
    if text[position] == closing:
        return position
    if text[position] != ",":
        raise ValueError(f"a comma is expected at character {position}")
    return _skip(text, position + 1)


def inferred_spec(features: Sequence[Feature], stem: str = "") -> TableSpec:
    """The features that their properties describe without a manifest: named by the first property that reads like a
    name and tells all of one kind apart, else, of several areas, by one that says their kind (`district`); without one,
    they have no names. `stem` is the name of their file."""
    keys = dict.fromkeys(key for feature in features for key in feature.properties)
    names = [key for key in keys if NAME_COLUMN.fullmatch(key)]
    if len(features) > 1 and all(_is_area(feature.geometry) for feature in features):
        names += [key for key in keys if key not in names and kind_of_header(key) is not None]
    words = _words_by_property(features)
    for name in names:
        kinds = kind_column(words, apart=name)
        said = [feature.properties.get(kinds) or "" if kinds else "" for feature in features]
        told = {
            (type_of(kind) if kind.strip() else UNTOLD, slug(value))
            for kind, value in zip(said, (feature.properties.get(name) for feature in features), strict=True)
            if isinstance(value, str) and slug(value)
        }
        if len(told) == len(features):
            return TableSpec(entities=named_places(name, kinds, said, kind_of_file(stem) or kind_of_header(name)))
    return TableSpec()


def _is_area(geometry: Any) -> bool:
    return isinstance(geometry, dict) and geometry.get("type") in ("Polygon", "MultiPolygon")


def _words_by_property(features: Sequence[Feature]) -> dict[str, list[str]]:
    """The values of each property that may tell kinds and holds words alone, in every feature."""
    keys = dict.fromkeys(key for feature in features for key in feature.properties if may_tell_kinds(key))
    found = {key: [feature.properties.get(key) for feature in features] for key in keys}
    return {
        key: [each or "" for each in values]
        for key, values in found.items()
        if all(each is None or isinstance(each, str) for each in values)
    }


def read_features(
    name: str,
    loaded: LoadedFile,
    owner: Owner,
    spec: TableSpec | None,
    lookups: Mapping[str, Mapping[str, str]],
    *,
    kinds: Mapping[str, str] = MappingProxyType({}),
) -> Parts:
    """Everything that a feature collection states; without a spec, as its properties are named. A feature whose
    geometry cannot be is left out and told. Raises `LoadError` where those are more than the others."""
    text = loaded.text
    features: Iterable[Feature] = split_features(name, text)
    if spec is None:
        features = list(features)
        spec = inferred_spec(features, Path(name).stem)
    speaker = Speaker(spec, owner, lookups, kinds)
    records: list[Record] = []
    left_out: list[str] = []
    clamped: list[str] = []
    seen: set[str] = set()
    at_char = at_byte = 0
    for feature in features:
        at_byte += len(text[at_char : feature.start_char].encode())
        end_byte = at_byte + len(text[feature.start_char : feature.end_char].encode())
        at_char = feature.end_char
        fields = speaker.complete({key: _plain(value) for key, value in feature.properties.items()})
        label = _label(feature, fields, spec)
        if label in seen:
            raise LoadError(f"{name}: feature {feature.number}: the id {label!r} occurs twice")
        seen.add(label)
        locator = Locator(feature.start_char, feature.end_char, at_byte, end_byte, feature=label)
        at_byte = end_byte
        try:
            placed = placed_geometry(f"{name}: feature {label}", feature.geometry)
            records.append(_record(feature, locator, fields, speaker, placed.wkb))
        except LoadError as exc:
            left_out.append(str(exc))
            continue
        if placed.clamped:
            clamped.append(f"feature {label}")
    if not records and not left_out:
        raise LoadError(f"{name}: the file holds no feature")
    if len(left_out) > len(records):
        raise LoadError(left_out[0])
    told = tuple(each.removeprefix(f"{name}: ") for each in left_out)
    return Parts(tuple(records), tuple(speaker.seen.values()), tuple(speaker.edges), told, clamped_note(clamped))


def clamped_note(clamped: Sequence[str]) -> tuple[str, ...]:
    """The remark on what reached beyond the world, if anything did."""
    if not clamped:
        return ()
    return (f"{counted(len(clamped), 'geometry')} reached beyond the world by rounding ({clamped[0]})",)


def _label(feature: Feature, fields: Fields, spec: TableSpec) -> str:
    declared = fields.get(spec.feature_id, "") if spec.feature_id else ""
    return declared or feature.id or str(feature.number)


def _record(feature: Feature, at: Locator, fields: Fields, speaker: Speaker, geometry: bytes | None) -> Record:
    entities = speaker.entities(fields)
    record = Record(
        record_id=f"{speaker.owner.document_id}#f{feature.number}",
        kind=RecordKind.FEATURE,
        document_id=speaker.owner.document_id,
        source_id=speaker.owner.source_id,
        class_id=speaker.owner.class_id,
        ordinal=feature.number,
        text=feature.text,
        locator=at,
        statement=speaker.statement(fields, tuple(fields)),
        time=speaker.time(fields),
        entities=tuple(named.entity for named in entities.values()),
        geometry=geometry,
    )
    for named in entities.values():
        speaker.note(named)
    speaker.relate(record.record_id, fields, entities)
    return record


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Placed:
    """A geometry as WKB, None where there is none; `clamped` if it reached beyond the world by rounding."""

    wkb: bytes | None
    clamped: bool = False


def placed_geometry(where: str, geometry: Any) -> Placed:
    """A GeoJSON geometry. Raises `LoadError` if it is no geometry, invalid or off the earth."""
    if geometry is None:
        return Placed(None)
    try:
        shape = shapely.from_geojson(json.dumps(geometry))
    except (shapely.errors.GEOSException, TypeError, ValueError) as exc:
        raise LoadError(f"{where}: the geometry cannot be read") from exc
    if shape is None or shape.is_empty:
        raise LoadError(f"{where}: the geometry is empty")
    return _on_earth(where, shape, "geometry")


def placed_point(where: str, longitude: str, latitude: str) -> Placed:
    """A point in degrees; none where both are empty. Raises `LoadError`."""
    if not longitude and not latitude:
        return Placed(None)
    try:
        x, y = float(longitude), float(latitude)
    except ValueError as exc:
        raise LoadError(f"{where}: longitude and latitude are not numbers") from exc
    if not (math.isfinite(x) and math.isfinite(y)):
        raise LoadError(f"{where}: the point lies outside the world")
    return _on_earth(where, shapely.Point(x, y), "point")


def _on_earth(where: str, shape: Any, word: str) -> Placed:
    """The shape as WKB; what misses the world by rounding ends at its edge."""
    west, south, east, north = shape.bounds
    beyond = max(abs(west), abs(east)) - 180, max(abs(south), abs(north)) - 90
    clamped = max(beyond) > 0
    if not max(beyond) <= _ROUNDING:
        raise LoadError(f"{where}: the {word} lies outside the world")
    if clamped:
        shape = shapely.transform(shape, lambda points: points.clip((-180, -90), (180, 90)))
    if not shape.is_valid:
        raise LoadError(f"{where}: the {word} is not valid ({shapely.is_valid_reason(shape)})")
    return Placed(shapely.to_wkb(shape), clamped)
