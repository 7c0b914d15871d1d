"""How many places a figure of an access class is recorded for: what may be told of records that are open in aggregates
only. Figures without a time are told of no closed class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from retrieval.registry.sql.engine import Row, Session, marks
from retrieval.registry.sql.validity import VISIBLE, visible
from retrieval.scope import Scope, VisibilityClass

_GROUPED = (
    "FROM record r JOIN document d ON d.document_id = r.document_id"
    " WHERE r.measure IS NOT NULL AND r.measured_start IS NOT NULL"
    " AND r.class_id = d.class_id AND r.class_id IN ({classes}) AND {documents}"
    " GROUP BY r.class_id, r.measure, r.unit, r.place_type, r.measured_start, r.measured_end"
)


def largest_groups(session: Session, tenant: str, classes: Iterable[VisibilityClass]) -> Mapping[str, int]:
    """By class with a handling tag: the most places for which there is a figure of one measure and time."""
    tagged = sorted(each.class_id for each in classes if each.handling)
    if not tagged:
        return {}
    documents = "d.lifecycle = 'active' AND d.tenant = ?"
    found = session.rows(
        "SELECT r.class_id, count(DISTINCT r.place_id) "
        + _GROUPED.format(classes=marks(len(tagged)), documents=documents),
        (*tagged, tenant),
    )
    largest: dict[str, int] = {}
    for class_id, places in found:
        largest[class_id] = max(places, largest.get(class_id, 0))
    return largest


def aggregable_kinds(session: Session, scope: Scope, now_ms: int) -> list[Row]:
    """(measure, unit, kind of place) of the figures that may be told in aggregates over these classes."""
    least = dict(scope.aggregates)
    if not least:
        return []
    classes = sorted(least)
    found = session.rows(
        "SELECT r.class_id, count(DISTINCT r.place_id), r.measure, r.unit, r.place_type "
        + _GROUPED.format(classes=marks(len(classes)), documents=VISIBLE),
        (*classes, *visible(scope.tenant, now_ms)),
    )
    return [tuple(kind) for class_id, places, *kind in found if places >= least[class_id]]
