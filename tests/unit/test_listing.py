"""Tables of entries for spreadsheets."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from api.audit.entries.export import COLUMNS, csv_text

DOCUMENT: dict[str, Any] = {
    "index": 3, "kind": "outcome", "t_ms": 1_700_000_000_123, "entry_id": "e", "request_id": "r", "outcome": "ANSWER",
    "model": "m", "actor": None, "rules": ["E1", "Q2"], "leaf_hash": "ab", "replica": "r1", "rseq": 4,
    "refs": [{"rel": "intent", "entry_id": "i", "leaf_hash": "cd"}],
}  # fmt: skip


def test_a_row_has_every_column() -> None:
    [row] = csv.DictReader(io.StringIO(csv_text([DOCUMENT])))
    assert tuple(row) == (*COLUMNS, "damaged")
    assert row["time"] == "2023-11-14T22:13:20.123+00:00"
    assert (row["rules"], row["refs"], row["actor"]) == ("E1 Q2", "intent:i", "")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_is_a_formula(start: str) -> None:
    [row] = csv.DictReader(io.StringIO(csv_text([{**DOCUMENT, "model": f"{start}cmd()"}]), newline=""))
    assert row["model"].startswith("'")


def test_quotes_and_line_breaks_stay_in_their_cell() -> None:
    [row] = csv.DictReader(io.StringIO(csv_text([{**DOCUMENT, "model": 'a "b",\nc'}]), newline=""))
    assert row["model"] == 'a "b",\nc'
