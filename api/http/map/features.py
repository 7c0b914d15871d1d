"""Features of a layer: found by box, time and page, decided over one by one, recorded before they leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ai.canonical import canonical, to_json
from ai.model import AdmittedItem
from api.audit.listing import record_listing
from api.audit.reauthorise import Reading
from api.errors import NoSuchThing
from api.http.map.geojson import JsonObject, feature_json
from api.http.map.layers import ABSENT, Layer, MapView
from api.http.map.shapes import Shape, feature_evidence
from policy.model import Decision
from retrieval.model import TimeRange
from retrieval.spatial.fact_row import edges
from retrieval.spatial.facts import Box


@dataclass(frozen=True, slots=True)
class Wanted:
    """The features that are asked for: those that meet the box (west > east crosses the antimeridian) and share a day
    with the time (undated ones stand at any time), `limit` of them after the one named `after`; simplified for
    `zoom`."""

    box: Box | None = None
    time: TimeRange | None = None
    after: str | None = None
    limit: int = 100
    zoom: int | None = None

    def asked(self) -> JsonObject:
        """As it is recorded: numbers with a fraction as text."""
        told: JsonObject = to_json(self)
        return told


@dataclass(frozen=True, slots=True)
class Page:
    """Admitted features in the layer's order with the shapes they were found by, every decision over them, and
    whether there are more."""

    items: tuple[AdmittedItem, ...]
    shapes: tuple[Shape, ...]
    decisions: tuple[Decision, ...]
    more: bool


async def read_page(view: MapView, layer: Layer, wanted: Wanted) -> JsonObject:
    """A page as a FeatureCollection with `next`, the id to go on after. Recorded when this returns."""
    page = await admitted_page(view.reading, list(_found(layer, wanted)), wanted.limit)
    features = [
        feature_json(item, bounds=shape.bounds, zoom=wanted.zoom)
        for item, shape in zip(page.items, page.shapes, strict=True)
    ]
    body: JsonObject = {
        "type": "FeatureCollection",
        "features": features,
        "numberReturned": len(features),
        "next": features[-1]["id"] if page.more else None,
    }
    asked = {"surface": "layers.features", "layer": layer.id, **wanted.asked()}
    return body | await record_map(view.reading, page, asked, canonical(body))


async def read_feature(view: MapView, feature_id: str) -> JsonObject:
    """One feature. Recorded when this returns. Raises NoSuchThing, alike for what is absent and what is not
    admitted."""
    shape = next((s for layer in view.layers for s in layer.shapes if s.record_id == feature_id), None)
    page = await admitted_page(view.reading, [] if shape is None else [shape], 1)
    if not page.items:
        raise NoSuchThing(ABSENT)
    body = feature_json(page.items[0], bounds=page.shapes[0].bounds)
    asked = {"surface": "features", "feature": feature_id}
    return body | await record_map(view.reading, page, asked, canonical(body))


def meets(bounds: Box, box: Box) -> bool:
    """True if two boxes share a point; the second may cross the antimeridian."""
    west, south, east, north = bounds
    return any(
        west <= side["east"] and east >= side["west"] and south <= side["north"] and north >= side["south"]
        for side in edges(box)
    )


def _found(layer: Layer, wanted: Wanted) -> Iterator[Shape]:
    """The layer's shapes that are wanted, after the cursor. Raises NoSuchThing for a cursor that names none."""
    shapes = layer.shapes
    if wanted.after is not None:
        place = next((n for n, shape in enumerate(shapes) if shape.record_id == wanted.after), None)
        if place is None:
            raise NoSuchThing(ABSENT)
        shapes = shapes[place + 1 :]
    for shape in shapes:
        in_time = wanted.time is None or shape.time is None or shape.time.overlaps(wanted.time)
        if in_time and (wanted.box is None or meets(shape.bounds, wanted.box)):
            yield shape


async def admitted_page(reading: Reading, found: Sequence[Shape], limit: int) -> Page:
    """The first `limit` admitted ones; what is refused leaves no gap, and whether there are more does not count it."""
    items: list[AdmittedItem] = []
    decisions: list[Decision] = []
    at = 0
    while at < len(found) and len(items) <= limit:
        part = found[at : at + limit + 1]
        at += len(part)
        records = await reading.services.store.fetch([shape.record_id for shape in part], scope=reading.scope)
        evidence = [feature_evidence(n, sourced) for n, sourced in enumerate(records.values(), len(items) + 1)]
        admission = await reading.admit(evidence)
        decisions += admission.decisions
        items += [item for item in admission.items if item.geometry is not None]
    shown = items[:limit]
    shapes = {shape.record_id: shape for shape in found}
    return Page(
        items=tuple(shown),
        shapes=tuple(shapes[item.evidence.record_id] for item in shown),
        decisions=tuple(decisions),
        more=len(items) > limit,
    )


async def record_map(reading: Reading, page: Page, asked: JsonObject, body: bytes) -> JsonObject:
    """Append the `retrieval` entry: what was asked, what was decided, which features left, and the digest of the body;
    the features themselves are in documents that their ids name by content. Gives what the body says of the entry."""
    return await record_listing(reading, page.items, page.decisions, asked=asked, listed="features", body=body)
