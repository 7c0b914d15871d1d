"""The obligations on one item of evidence, each as a function from its projection to its projection, or to None where
it cannot be met."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ai.gate import find_sensitive
from ai.governance.hidden import hidden_kinds
from ai.model import AdmittedItem, TextSpan, blocked
from policy.model import Obligation
from policy.obligations import DROP
from retrieval.coarse import coarse_point, on_grid
from retrieval.model import Evidence, SourcedRecord
from retrieval.withheld import coordinates
from retrieval.wkb import shape_of

_SAFE_AGGREGATES = frozenset({"sum", "mean", "median"})


@dataclass(frozen=True, slots=True)
class Projection:
    """An item on its way to being admitted: what of it may be shown so far. `geometry` is GeoJSON text, made at the
    end if still None."""

    evidence: Evidence
    text: str
    statement: str | None
    redacted: tuple[TextSpan, ...] = ()
    geometry: str | None = None
    datamarked: bool = False


def carry_out(item: Projection, obligations: Sequence[Obligation], *, index: int, label: str) -> AdmittedItem | None:
    """The admitted item with all obligations carried out, or None when one of them drops it, is not known or cannot be
    met."""
    shown: Projection | None = replace(item, geometry=_geojson(item.evidence))
    for obligation in sorted(obligations, key=lambda o: (_PLACE.get(o.op, -1), o.rule)):
        act = _ACTS.get(obligation.op)
        shown = None if act is None or shown is None else act(shown, obligation.params)
        if shown is None:
            return None
    assert shown is not None  # noqa: S101  the loop returns
    return AdmittedItem(
        index=index,
        evidence=shown.evidence,
        text=shown.text,
        statement=shown.statement,
        redacted=shown.redacted,
        geometry=shown.geometry,
        datamarked=shown.datamarked,
        label=label,
    )


def _drop(_item: Projection, _params: Mapping[str, Any]) -> Projection | None:
    return None


def _datamark(item: Projection, _params: Mapping[str, Any]) -> Projection | None:
    return replace(item, datamarked=True)


def _redact(item: Projection, params: Mapping[str, Any]) -> Projection | None:
    kinds = params.get("kinds")
    if not isinstance(kinds, list | tuple) or not kinds:
        return None

    def meant(kind: str) -> bool:
        return any(kind == k or kind.startswith(f"{k}.") for k in kinds)

    def spans(text: str) -> tuple[TextSpan, ...]:
        return tuple(TextSpan(f.start, f.end, f.kind) for f in find_sensitive(text) if meant(f.kind))

    if any(map(meant, hidden_kinds(item.evidence))):
        return None
    if item.evidence.computed is not None and spans(item.statement or ""):
        return None
    return _withhold(item, spans)


def _withhold(item: Projection, spans: Callable[[str], tuple[TextSpan, ...]]) -> Projection:
    """Blocks out spans in every text that a reader could meet: text, statement, heading, title, attribution,
    names."""

    def clean(text: str | None) -> str | None:
        return None if text is None else blocked(text, spans(text))

    def sourced(each: SourcedRecord) -> SourcedRecord:
        record = replace(
            each.record,
            heading=clean(each.record.heading),
            statement=clean(each.record.statement),
            entities=tuple(replace(entity, name=clean(entity.name) or "") for entity in each.record.entities),
        )
        source = replace(each.source, title=clean(each.source.title) or "", attribution=clean(each.source.attribution))
        return SourcedRecord(record, source)

    found = spans(item.text)
    return replace(
        item,
        evidence=replace(item.evidence, records=tuple(sourced(each) for each in item.evidence.records)),
        text=blocked(item.text, found),
        statement=clean(item.statement),
        redacted=tuple(sorted({*item.redacted, *found}, key=lambda s: (s.start, s.end, s.kind))),
    )


def _aggregate_only(item: Projection, params: Mapping[str, Any]) -> Projection | None:
    """A figure over enough places, all there are: a sum, a mean or a median. Single observations and extremes, which
    are single observations, do not pass, nor do counts above a threshold and figures of an area, which tell single
    ones by their differences. What the figure was made from is not shown."""
    computed, minimum = item.evidence.computed, params.get("minimum")
    if (
        computed is None
        or not isinstance(minimum, int)
        or isinstance(minimum, bool)
        or len(set(computed.inputs)) < minimum
    ):
        return None
    function = computed.parameters.get("function")
    if computed.operation != "aggregate" or function not in _SAFE_AGGREGATES or "within" in computed.parameters:
        return None
    return replace(item, evidence=replace(item.evidence, records=tuple(map(_unsaid, item.evidence.records))))


def _unsaid(each: SourcedRecord) -> SourcedRecord:
    """The record without what it says."""
    silent = replace(
        each.record,
        text="",
        heading=None,
        statement=None,
        entities=(),
        measurement=None,
        geometry=None,
        attribute=None,
    )
    return replace(each, record=silent)


def _generalise_geometry(item: Projection, params: Mapping[str, Any]) -> Projection | None:
    """Geometry snapped to a grid and rounded; coordinates in text blocked out. A computed item would give the place
    away by its result, unless none of what it was made from is drawn."""
    metres, decimals = params.get("metres"), params.get("decimals")
    drawn = any(each.record.geometry is not None for each in item.evidence.records)
    if (
        (item.evidence.computed is not None and drawn)
        or not isinstance(metres, int)
        or not isinstance(decimals, int)
        or metres <= 0
        or decimals < 0
    ):
        return None

    def places(text: str) -> tuple[TextSpan, ...]:
        return tuple(TextSpan(s.start, s.end, s.kind) for s in coordinates(text, decimals=decimals))

    hidden = _withhold(item, places)
    geometry = _generalised(item.evidence, metres=metres, decimals=decimals)
    records = tuple(replace(s, record=replace(s.record, geometry=None)) for s in hidden.evidence.records)
    return replace(hidden, evidence=replace(hidden.evidence, records=records), geometry=geometry)


_ACTS: Mapping[str, Callable[[Projection, Mapping[str, Any]], Projection | None]] = {
    DROP: _drop,
    "aggregate_only": _aggregate_only,
    "redact": _redact,
    "generalise_geometry": _generalise_geometry,
    "datamark": _datamark,
}
"""How each obligation of the policy on evidence (`policy.obligations`) is carried out, in this order."""
_PLACE = {op: place for place, op in enumerate(_ACTS)}


def _geojson(item: Evidence) -> str | None:
    """The item's geometry as GeoJSON text; a computed item has none of its own."""
    wkb = item.first.record.geometry if item.computed is None else None
    if wkb is None:
        return None
    if len(wkb) == 21 and wkb[:5] == b"\x01\x01\x00\x00\x00":
        return _point(*struct.unpack("<dd", wkb[5:]))
    import shapely  # noqa: PLC0415  0.1 s to import, and points need none of it

    return str(shapely.to_geojson(shape_of(wkb)))


def _generalised(item: Evidence, *, metres: int, decimals: int) -> str | None:
    """The centre of the geometry, on a grid of `metres` and to `decimals` places: no shape, which could be
    recognised."""
    wkb = item.first.record.geometry
    point = None if wkb is None else coarse_point(wkb, metres, decimals)
    return None if point is None else _point(*point)


def generalised(geometry: str, *, metres: int, decimals: int) -> str | None:
    """The point that is shown in place of a geometry (GeoJSON text)."""
    import shapely  # noqa: PLC0415

    centre = shapely.from_geojson(geometry).centroid
    return None if centre.is_empty else _point(*on_grid(centre.x, centre.y, metres=metres, decimals=decimals))


def _point(x: float, y: float) -> str:
    return json.dumps({"type": "Point", "coordinates": [x, y]}, separators=(",", ":"))
