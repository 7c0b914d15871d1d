"""Every row of docs/requirements.md names a test that is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "requirements.md").read_text("utf-8")
NAMED = re.findall(r"`(tests/[\w/.]+)::(\w+)`", PAGE)
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| row")]


def test_every_row_names_its_proof() -> None:
    assert len(ROWS) > 100
    for row in ROWS:
        assert re.search(r"\| `tests/[\w/]+\.py(?:::\w+)?` \|$", row), row


@pytest.mark.parametrize("number", range(5))
def test_every_requirement_has_its_rows(number: int) -> None:
    part = PAGE.split(f"## {number:03d}:")[1].split("\n## ")[0]
    assert part.count("`tests/") > 5


@pytest.mark.parametrize("file", sorted(set(re.findall(r"`(tests/[\w/.]+)`", PAGE))))
def test_a_row_names_a_file_of_tests(file: str) -> None:
    assert "\ndef test_" in (text := (ROOT / file).read_text("utf-8")) or "\nasync def test_" in text


@pytest.mark.parametrize(("file", "test"), sorted(set(NAMED)), ids=lambda x: x.rsplit("/", 1)[-1])
def test_a_row_names_a_test(file: str, test: str) -> None:
    assert re.search(rf"^(?:async )?def {test}\(|^    {test},$", (ROOT / file).read_text("utf-8"), re.MULTILINE)
