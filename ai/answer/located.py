"""A cited item with its places, and how they stand in the body."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ai.answer.links import feature_href
from ai.answer.shapes import PlaceRole, WireCitation, WireNoGeometry, WirePlace, WireSource
from ai.canonical import coordinate
from ai.model import AdmittedItem
from retrieval.model import EntityRef, SourcedRecord

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlaceShown:
    """A place, its role, its geometry as GeoJSON text after obligations, and the record that draws it."""

    place: EntityRef
    role: PlaceRole
    geometry: str | None
    drawn_by: SourcedRecord | None


@dataclass(frozen=True, slots=True)
class PlacedItem:
    """An item and its places, subjects first; `omitted` are those beyond the first few."""

    item: AdmittedItem
    places: tuple[PlaceShown, ...]
    omitted: int = 0


def located_json(source: WireSource, placed: PlacedItem) -> WireCitation:
    """The source as a citation, with where it is: one geometry to draw, a box around all of it, every place with its
    role, or why there is none."""
    places = [_place(place) for place in placed.places]
    own = read_geometry(placed.item.geometry)
    geometry = own or next((place["geometry"] for place in places if place["geometry"] is not None), None)
    boxes: list[list[float] | None] = [place["bbox"] for place in places if place["bbox"] is not None]
    if own is not None:
        boxes.append(bbox_of(own))
    return {
        **source,
        "geometry": geometry,
        "bbox": around(boxes),
        "places": places,
        "places_omitted": placed.omitted,
        "no_geometry": None if geometry is not None else _reason(placed.places),
    }


def _place(place: PlaceShown) -> WirePlace:
    geometry = read_geometry(place.geometry)
    drawn = place.drawn_by if geometry is not None else None
    return {
        "place_id": place.place.entity_id,
        "name": place.place.name,
        "type": place.place.type,
        "role": place.role,
        "geometry": geometry,
        "bbox": None if geometry is None else bbox_of(geometry),
        "chunk_id": None if drawn is None else drawn.record.record_id,
        "layer": None if drawn is None else drawn.source.source_id,
        "href": None if drawn is None else feature_href(drawn.record.record_id),
        "attribution": None if drawn is None else drawn.source.attribution,
    }


def _reason(places: Sequence[PlaceShown]) -> WireNoGeometry:
    if not places:
        return {"code": "NO_PLACE", "message": "The source names no place that is known here."}
    names = ", ".join(place.place.name for place in places[:3])
    return {"code": "NO_GEOMETRY", "message": f"No position or outline is recorded for {names}."}


def read_geometry(text: str | None) -> Body | None:
    """GeoJSON text as an object, its numbers such that they are recorded exactly."""
    geometry: Body | None = None if text is None else json.loads(text, parse_float=coordinate)
    return geometry


def bbox_of(geometry: Body) -> list[float] | None:
    """West, south, east, north of a GeoJSON geometry; None for an empty one."""
    points = list(_points(geometry))
    lons, lats = [lon for lon, _ in points], [lat for _, lat in points]
    return [min(lons), min(lats), max(lons), max(lats)] if points else None


def around(boxes: Sequence[list[float] | None]) -> list[float] | None:
    """The box around boxes; None where there is none."""
    known = [box for box in boxes if box is not None]
    if not known:
        return None
    west, south, east, north = zip(*known, strict=True)
    return [min(west), min(south), max(east), max(north)]


def _points(geometry: Any) -> Iterator[tuple[float, float]]:
    """Every position of a GeoJSON geometry."""
    if isinstance(geometry, dict):
        for part in geometry.get("geometries", [geometry.get("coordinates", [])]):
            yield from _points(part)
    elif geometry and not isinstance(geometry[0], list | dict):
        yield geometry[0], geometry[1]
    else:
        for part in geometry:
            yield from _points(part)
