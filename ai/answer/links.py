"""Where what a body names can be read. The links are part of what is recorded; `api` serves them."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from retrieval.model import Record

_ROOT = "/api/v1"
MOST_MARKS = 16
"""Marks of one link."""


def locator_query(record: Record) -> str:
    """The query part of an evidence link: `row=89&col=1930`, `feature=20177` or `c=120-480`."""
    at = record.locator
    if at.feature is not None:
        return f"feature={quote(at.feature, safe='')}"
    if at.row is not None:
        return f"row={at.row}" + ("" if at.column is None else f"&col={quote(at.column, safe='')}")
    return f"c={at.start_char}-{at.end_char}"


def evidence_href(record: Record) -> str:
    """The exact slice, re-authorised at read."""
    return f"{_ROOT}/evidence/{quote(record.document_id, safe='@:')}?{locator_query(record)}"


def marked_href(record: Record, spans: Iterable[tuple[int, int]]) -> str:
    """The exact slice with these parts of it marked: (start, end) in characters of the document."""
    marks = ",".join(f"{start}-{end}" for start, end in sorted(set(spans))[:MOST_MARKS])
    return f"{evidence_href(record)}&mark={marks}" if marks else evidence_href(record)


def computation_href(entry_id: str, n: int) -> str:
    """The computation behind the source `n` of a recorded answer."""
    return f"{_ROOT}/computations/{entry_id}/{n}"


def feature_href(record_id: str) -> str:
    """The feature of the map that draws a record."""
    return f"{_ROOT}/features/{quote(record_id, safe='')}"


def receipt_href(entry_id: str) -> str:
    """The receipt of an entry."""
    return f"{_ROOT}/ledger/entries/{entry_id}/receipt"


def prov_href(entry_id: str) -> str:
    """The provenance document of an entry."""
    return f"{_ROOT}/ledger/entries/{entry_id}/prov"
