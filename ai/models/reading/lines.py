"""Answers that a text gives by how it is set: an entry under the label that is asked for, and the sentences of a
section that is asked for by its number or name."""

from __future__ import annotations

from collections.abc import Iterator

from ai.models.reading.source import ReadSentence, ReadSource
from ai.text.entries import EntryQuestion
from ai.text.leaning import leans_back
from ai.text.lines import Entry, Heading, lines_of
from ai.text.question_type import denies
from ai.text.sections import SectionQuestion
from ai.text.sentences import MARKER

_MOST_TOLD, _FEWEST_WORDS = 3, 3
_MOST_BEFORE = 200
"""Characters before the first entry of a text that may name it."""


def told_by_lines(question: str, read: ReadSource) -> tuple[ReadSentence, ...]:
    """The sentences of a source that answer by how they are set, in order; of a row, what it states of the term that is
    asked for. None where the question denies something."""
    if denies(question):
        return ()
    if read.source.statement is not None:
        defines = read.row is not None and EntryQuestion.of(question).defined_by(read.row.cells)
        return read.sentences if defines else ()
    lines = lines_of(read.source.text)
    return tuple(each for each in _entries(question, read, lines) if MARKER.search(each.text) is None)


def section_told(question: str, read: ReadSource) -> tuple[ReadSentence, ...]:
    """The first sentences of a section that is asked for as a whole: whole ones, each of which stands on its own or
    behind the one before it. None of a row."""
    asked = None if read.source.statement is not None else SectionQuestion.of(question)
    part = None if asked is None else asked.part_of(read.source.text, read.source.title)
    found: list[ReadSentence] = []
    if part is None:
        return ()
    for each in read.sentences:
        if not part.start <= each.start < part.end or len(found) == _MOST_TOLD:
            continue
        if (found or not leans_back(each.text)) and _is_sentence(each.text):
            found.append(each)
        elif found:
            break
    return tuple(found)


def _is_sentence(text: str) -> bool:
    """True for a whole sentence that states something."""
    words = text.count(" ") + 1
    stated = text[:1].isupper() and text.rstrip("\"'”’)")[-1:] in {".", "!"}
    return stated and words >= _FEWEST_WORDS and MARKER.search(text) is None


def _entries(question: str, read: ReadSource, lines: tuple[Entry | Heading, ...]) -> Iterator[ReadSentence]:
    entries = [each for each in lines if isinstance(each, Entry)]
    if not entries:
        return
    named = f"{read.source.title} {read.source.text[: min(entries[0].start, _MOST_BEFORE)]}"
    for entry in EntryQuestion.of(question).answered_by(entries, named):
        said = next((each for each in read.sentences if entry.start <= each.start < entry.end), None)
        if said is not None:
            yield said
