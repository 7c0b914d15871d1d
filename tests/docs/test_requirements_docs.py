"""Every row of docs/requirements.md names a test that is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.findall(r"`(tests/[\w/.]+)::(\w+)`", (ROOT / "docs" / "requirements.md").read_text("utf-8"))


def test_the_page_has_rows() -> None:
    assert len(NAMED) > 50


@pytest.mark.parametrize(("file", "test"), sorted(set(NAMED)), ids=lambda x: x.rsplit("/", 1)[-1])
def test_a_row_names_a_test(file: str, test: str) -> None:
    assert re.search(rf"^(?:async )?def {test}\(", (ROOT / file).read_text("utf-8"), re.MULTILINE)
