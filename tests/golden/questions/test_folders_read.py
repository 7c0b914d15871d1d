"""The same folders with the reader: more is found, and near misses are answered no more often."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.golden.questions.folders.run import HERE, asked_of
from tests.golden.questions.prose.run import verdict
from tests.golden.questions.test_folders import ANSWERED

READ = {"eighteenth": (78, 11), "nineteenth": (31, 11), "twentyfirst": (27, 12), "twentysecond": (21, 10)}
"""With the reader: answered, and near misses answered. None of these sets trained or calibrated it; by the first two the factor was set by which
words are confirmed, and by the twenty-first what the answer point asks for. 8-bit arithmetic differs between processors."""
APART = 4


@pytest.mark.parametrize("which", READ)
async def test_a_reader_finds_more_and_is_not_fooled_more_often(which: str, tmp_path: Path) -> None:
    told: Counter[str] = Counter()
    for folder in sorted((HERE / which).iterdir()):
        answers = await asked_of(folder, tmp_path / folder.name, reader=True)
        told.update(verdict(question, said) for question, said in answers)
    answered, false = READ[which]
    assert told["right"] + told["partly"] >= answered - APART > ANSWERED[which]
    assert told["false"] <= false + APART
