"""Geometry and features as GeoJSON (RFC 7946)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ai.answer.links import evidence_href
from ai.canonical import coordinate
from ai.model import AdmittedItem
from retrieval.spatial.facts import Box

GEOJSON = "application/geo+json"
JsonObject = dict[str, Any]
_PIXELS = 512
"""Of the world's width at zoom 0, so that what simplification moves is less than half a pixel of a screen."""


def tolerance_of(zoom: int | None) -> float:
    """Degrees by which a line may move at a zoom level; 0 without one."""
    return 0.0 if zoom is None else 360 / (_PIXELS * 2**zoom)


def drawn(geometry: str | None, tolerance: float = 0.0) -> JsonObject | None:
    """GeoJSON text as an object, simplified, its numbers such that they are recorded exactly."""
    if geometry is None:
        return None
    if tolerance > 0:
        import shapely  # noqa: PLC0415  0.1 s to import

        geometry = shapely.to_geojson(shapely.from_geojson(geometry).simplify(tolerance, preserve_topology=True))
    found: JsonObject = json.loads(geometry, parse_float=coordinate)
    return found


def feature_json(item: AdmittedItem, *, bounds: Box | None, zoom: int | None = None) -> JsonObject:
    """A feature as it may be shown: its geometry after obligations, its own fields, and where to read it."""
    feature: JsonObject = {
        "type": "Feature",
        "id": item.evidence.record_id,
        "geometry": drawn(item.geometry, tolerance_of(zoom)),
        "properties": feature_properties(item),
    }
    return feature if bounds is None else feature | {"bbox": list(bounds)}


def feature_properties(item: AdmittedItem) -> JsonObject:
    """The properties of a feature, beside its geometry."""
    record, source = item.evidence.first.record, item.evidence.first.source
    place = next(iter(record.entities), None)
    return {
        "layer": source.source_id,
        "name": source.title if place is None else place.name,
        "place_id": None if place is None else place.entity_id,
        "place_type": None if place is None else place.type,
        "statement": item.statement,
        "start": None if record.time is None else record.time.start.isoformat(),
        "end": None if record.time is None else record.time.end.isoformat(),
        "href": evidence_href(record),
        "fields": _fields(item),
    }


def _fields(item: AdmittedItem) -> JsonObject:
    """The source's own fields, as far as they may be shown: of a GeoJSON feature its properties. A row of a table has
    none here; `href` leads to it."""
    try:
        fields = json.loads(item.text)
    except ValueError:  # a row, or something withheld that is not text
        return {}
    return fields if isinstance(fields, dict) else {}


def answer_collection(body: Mapping[str, Any]) -> JsonObject:
    """The body of an answer as a FeatureCollection: a feature for each place of each citation, with the citation's
    number, its role and the numbers of the sentences; the answer in words stands beside `features`."""
    sentences: dict[str, list[int]] = {}
    for sentence in body["sentences"]:
        for quoted in sentence["citations"]:
            numbers = sentences.setdefault(str(quoted["n"]), [])
            if sentence["i"] not in numbers:
                numbers.append(sentence["i"])
    features = [
        feature
        for number, citation in body["citations"].items()
        for feature in _features(citation, sentences.get(number, []))
    ]
    collection: JsonObject = {"type": "FeatureCollection", "features": features}
    if body.get("bbox") is not None:
        collection["bbox"] = body["bbox"]
    told = ("request_id", "outcome", "reason_codes", "answer", "sentences", "limitations", "provenance")
    return collection | {name: body[name] for name in told}


def _features(citation: Mapping[str, Any], sentences: list[int]) -> Iterator[JsonObject]:
    """The places of a citation; where it has a geometry of its own and no place, that. One without a geometry is a
    feature too (RFC 7946: unlocated), so that no citation is missing."""
    shared = {
        "citation": citation["index"],
        "sentences": sentences,
        "kind": citation["kind"],
        "title": citation["title"],
        "href": citation["href"],
        "license": citation["license"],
    }
    places = citation.get("places") or [_unplaced(citation)]
    for number, place in enumerate(places):
        feature: JsonObject = {
            "type": "Feature",
            "id": f"{citation['index']}.{number}",
            "geometry": place["geometry"],
            "properties": {
                **shared,
                "role": place["role"],
                "place_id": place["place_id"],
                "name": place["name"],
                "place_type": place["type"],
                "attribution": place["attribution"] or citation["attribution"],
            },
        }
        yield feature if place["bbox"] is None else feature | {"bbox": place["bbox"]}


def _unplaced(citation: Mapping[str, Any]) -> JsonObject:
    nameless = dict.fromkeys(("place_id", "name", "type", "attribution"))
    return {"geometry": citation["geometry"], "bbox": citation.get("bbox"), "role": "subject", **nameless}
