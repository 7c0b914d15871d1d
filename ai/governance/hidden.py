"""Figures that rest on words which not everyone may read.

A cell that is withheld where it stands must not come back as a figure: in a sentence it is written with separators, and
a sum or a rank tells of it without saying it, so that neither is known for personal data by its form.
"""

from __future__ import annotations

import re
from functools import lru_cache

from retrieval.model import Evidence
from retrieval.withheld import Span, personal_data

_DIGITS = re.compile(r"\d{1,400}", re.ASCII)


def hidden_kinds(item: Evidence) -> tuple[str, ...]:
    """The kinds of personal data among the cells that the item's figures were taken from, in order."""
    found: set[str] = set()
    for sourced in item.records:
        record = sourced.record
        figure = record.attribute or record.measurement
        if figure is not None:
            found.update(span.kind for span in _spans(record.text, figure.value))
    return tuple(sorted(found))


@lru_cache(maxsize=16_384)  # the same rows are computed with again and again
def _spans(text: str, value: str) -> tuple[Span, ...]:
    """The personal data in a row that a figure of it is; or that it is without its separators."""
    plain = _significant(value)
    held = [span for span in personal_data(text) if plain and plain in _cells(text[span.start : span.end])]
    return (*held, *personal_data(value.lstrip("-").partition(".")[0]))


def _cells(words: str) -> set[str]:
    """The digits of each cell in a span, which may reach from one to the next over a tab."""
    return {_significant(cell) for cell in words.split("\t")}


def _significant(number: str) -> str:
    """The digits that tell a number from others, however it is written."""
    return "".join(_DIGITS.findall(number)).strip("0")
