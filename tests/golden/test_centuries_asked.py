"""Centuries in questions and texts: what was told of one is not of another, and a year lies in its century."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from api import wiring
from tests.harness import ask, ingest, opened

TEXT = """# Corley

In the 17th century the town of Corley lived on glass. In the 18th century the people of Corley made lace.
The tannery of Corley opened in 1853. In the early 20th century the people of Corley built bicycles.
"""


@pytest_asyncio.fixture
async def system(tmp_path: Path) -> AsyncIterator[wiring.System]:
    (tmp_path / "corley.md").write_text(TEXT, encoding="utf-8")
    await ingest(tmp_path / "home", paths=[tmp_path / "corley.md"], label="public")
    async with opened(tmp_path / "home") as opened_system:
        yield opened_system


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What did the people of Corley make in the 18th century?", "lace"),
        ("What did the people of Corley make in the eighteenth century?", "lace"),
        ("What did the people of Corley make in the 1700s?", "lace"),
        ("What did the people of Corley make in the late 18th century?", "lace"),
        ("What did the people of Corley build in the 20th century?", "bicycles"),
        ("What did the people of Corley build in the first half of the 20th century?", "bicycles"),
        ("What opened in Corley in the 19th century?", "tannery"),
        ("What opened in Corley in the second half of the 19th century?", "tannery"),
    ],
)
async def test_a_century_that_is_asked_for_is_told(system: wiring.System, question: str, wanted: str) -> None:
    body = await ask(system, question)
    assert (body["outcome"], wanted in body["answer"]) == ("ANSWER", True), body["answer"]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What did the people of Corley make in the 16th century?", "lace"),
        ("What did the people of Corley make in the nineteenth century?", "lace"),
        ("What did the people of Corley make in the 1800s?", "lace"),
        ("What did the people of Corley build in the late 20th century?", "bicycles"),
        ("What did the people of Corley build in the second half of the 20th century?", "bicycles"),
        ("What opened in Corley in the 18th century?", "tannery"),
        ("What opened in Corley in the first half of the 19th century?", "tannery"),
        ("What opened in Corley in the late 19th century?", "tannery"),
    ],
)
async def test_what_is_told_of_another_century_is_no_answer(system: wiring.System, question: str, told: str) -> None:
    body = await ask(system, question)
    assert told not in body["answer"]
