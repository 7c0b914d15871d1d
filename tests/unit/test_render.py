"""The wire body's small pieces: links, markers, shapes."""

from __future__ import annotations

from dataclasses import replace

import pytest
import rfc8785

from ai.answer.render import evidence_href, evidence_json, locator_query
from ai.canonical import canonical
from retrieval.model import Locator, RecordKind
from tests.fakes_ai import a_record, an_item


@pytest.mark.parametrize(
    ("locator", "query"),
    [
        (Locator(120, 480, 121, 490), "c=120-480"),
        (Locator(0, 9, 0, 9, row=5), "row=5"),
        (Locator(0, 9, 0, 9, row=89, column="1930"), "row=89&col=1930"),
        (Locator(0, 9, 0, 9, row=0, column="a&b=c d/é"), "row=0&col=a%26b%3Dc%20d%2F%C3%A9"),
        (Locator(0, 9, 0, 9, feature="20177#1"), "feature=20177%231"),
    ],
)
def test_a_locator_is_a_query(locator: Locator, query: str) -> None:
    assert locator_query(a_record("text", locator=locator)) == query


def test_a_document_id_cannot_leave_its_path() -> None:
    record = a_record("text", document_id="../a?b#c")
    assert evidence_href(record).startswith("/api/v1/evidence/..%2Fa%3Fb%23c?c=")


@pytest.mark.parametrize(
    ("geometry", "bbox"),
    [
        ('{"type":"Point","coordinates":[-95.67804,39.04833]}', [-95.67804, 39.04833, -95.67804, 39.04833]),
        ('{"type":"LineString","coordinates":[[-96,39.5],[-95.5,38]]}', [-96, 38, -95.5, 39.5]),
        ('{"type":"Polygon","coordinates":[[[0,0],[1e-7,0],[0,2.5],[0,0]]]}', [0, 0, 0, 2.5]),
        (
            '{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[3,4]},{"type":"Point","coordinates":[1,9]}]}',
            [1, 4, 3, 9],
        ),
        ('{"type":"MultiPolygon","coordinates":[]}', None),
        (None, None),
    ],
)
def test_a_geometry_is_an_object_with_its_box(geometry: str | None, bbox: list[float] | None) -> None:
    item = replace(an_item("Topeka", kind=RecordKind.FEATURE), geometry=geometry)
    shown = evidence_json(item)
    assert shown["metadata"]["bbox"] == bbox
    assert (shown["geometry"] is None) == (geometry is None)
    assert canonical(shown) == rfc8785.dumps(shown)
