"""The table of limits in docs/api.md is what the code holds requests to: settings by their defaults, the rest by the
constants and schemas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from annotated_types import Le, MaxLen
from pydantic import TypeAdapter

from api.home.configuration import load
from api.http.admission.connections import HEAD_BYTES
from api.http.witness import MAX_BODY_BYTES
from api.problems import MEANINGS
from api.schemas.ledger.search import EntryFilters
from api.schemas.query import GEOMETRY_VERTICES, QUESTION_CHARS, QueryRequest
from api.schemas.registry.requests import MOST_ITEMS
from retrieval.ingest.formats.load import MAX_BYTES

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "s": 1_000, "ms": 1}
_SETTING = re.compile(r"`([a-z_]+(?:\.[a-z_]+)+)` \(([^)]+)\)")


def most(model: Any, name: str) -> int:
    """The bound that a field of a model states."""
    field = model.model_fields[name]
    return next(
        int(each.le if isinstance(each, Le) else each.max_length)
        for each in field.metadata
        if isinstance(each, Le | MaxLen)
    )


CONSTANTS: dict[str, tuple[int, ...]] = {
    "request line and headers": (HEAD_BYTES,),
    "body for a witness": (MAX_BODY_BYTES,),
    "a question": (QUESTION_CHARS,),
    "a name or an id": (most(QueryRequest, "purpose"),),
    "a geometry": (GEOMETRY_VERTICES,),
    "a page of ledger entries; of the registry": (most(EntryFilters, "limit"), MOST_ITEMS),
    "a file that is ingested": (MAX_BYTES,),
}


def rows() -> Iterator[tuple[str, str, str]]:
    table = PAGE.read_text("utf-8").split("## Limits of a request")[1].split("\n## ")[0]
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[0] != "limit":
            yield cells[0], cells[1], cells[2]


def amount(told: str) -> int | str:
    """A number in the least unit, or a rate as it is."""
    number, _, unit = told.partition(" ")
    return told if "/" in told else int(number.replace(",", "")) * _UNITS.get(unit, 1)


@pytest.mark.parametrize("row", tuple(rows()), ids=lambda row: row[0])
def test_a_limit_is_told_as_it_is(row: tuple[str, str, str]) -> None:
    name, value, answer = row
    settings = {s.name: s.value if isinstance(s.value, int) else str(s.value) for s in load({}).shown()}
    named = _SETTING.findall(value)
    if named:
        assert [amount(told) for _, told in named] == [settings[setting] for setting, _ in named]
    else:
        assert tuple(amount(told) for told in value.split("; ")) == CONSTANTS[name]
    for status, code in re.findall(r"(\d{3}) `([A-Z_]+)`", answer):
        assert MEANINGS[code].status == int(status)


def test_every_limit_of_the_code_is_told() -> None:
    told = {name for name, _, _ in rows()}
    assert set(CONSTANTS) <= told


def test_the_limits_hold() -> None:
    """One more is refused, that many are taken."""
    adapter = TypeAdapter(QueryRequest)
    adapter.validate_python({"question": "q" * QUESTION_CHARS})
    for wrong in ({"question": "q" * (QUESTION_CHARS + 1)}, {"question": "q", "purpose": "p" * 201}):
        with pytest.raises(ValueError, match="at most"):
            adapter.validate_python(wrong)
