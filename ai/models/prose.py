"""Sentences of prose that may answer, for a reader to judge; and the answer that it makes of them.

How many of a question's words a sentence has is the reader's to weigh. What the question names (a place, a year) and
the kind of thing that it wants (a date, a number) are not: a sentence of another place or time is never an answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ai.model import PromptSource, SentenceChance, SourceReading
from ai.models.candidates import (
    HANGING,
    Candidate,
    Parameters,
    ReadQuestion,
    ReadSource,
    is_whole,
    lead_of,
)
from ai.models.reader.lazy import SentenceReader
from ai.models.reader.told import Told
from ai.text.question_type import first_word, offers
from retrieval.model import Intent

MOST_PROSPECTS = 24
_WORD = re.compile(r"[^\W\d_]{4,}")
_LEADERS = re.compile(r"(?:\. ?){4}")
_PROSE_PERCENT = 40


Place = tuple[int, int]
"""A sentence by the number of its source and where it starts there."""


def prospects(
    question: str,
    intent: Intent,
    sources: Sequence[PromptSource],
    parameters: Parameters,
) -> list[Candidate]:
    """The sentences that a reader is shown, those with most of the question's words first; no row, cell, heading, line
    of contents or running head is among them."""
    reads = [ReadSource.of(source) for source in sources if source.statement is None]
    asked = ReadQuestion.of(question, intent, reads)
    found = [each for read in reads for each in _of_source(read, asked, parameters)]
    return sorted(found, key=lambda c: (-c.score, c.index, c.start))[:MOST_PROSPECTS]


def _of_source(within: ReadSource, asked: ReadQuestion, parameters: Parameters) -> list[Candidate]:
    """Each whole sentence of prose that has the kind of thing that is wanted and, with its title or the one before it
    on which it leans, names what the question names and says one of its other words."""
    found = []
    for place, read in enumerate(within.sentences):
        words = read.text.count(" ") + 1
        hangs = first_word(read.text) in HANGING
        if (
            parameters.min_words <= words <= parameters.max_words
            and is_whole(read.text, within.source)
            and is_prose(read.text)
            and asked.agrees(read.text)
            and asked.is_timely(read, within.source)
            and offers(read.text, asked.wanted, asked.question, loosely=True)
        ):
            lead = lead_of(within, place, parameters) if hangs else None
            said = read.tokens | within.title | (lead.tokens if lead else frozenset())
            if not asked.concerns(said) or (asked.weights and not asked.coverage(said)):
                continue
            near = (asked.coverage(read.tokens) + asked.coverage(read.around)) // 2
            score = near - parameters.rank_slope * (within.source.index - 1)
            found.append(Candidate(score, within.source.index, read.start, read.text, lead.text if lead else ""))
    return found


def is_prose(text: str) -> bool:
    """True for a sentence; false for a heading, a line of contents or a running head that ends with a stop."""
    words = _WORD.findall(text)
    small = sum(word[0].islower() for word in words)
    return bool(words) and 100 * small >= _PROSE_PERCENT * len(words) and not _LEADERS.search(text)


async def read_prospects(
    question: str,
    found: Sequence[Candidate],
    sources: Sequence[PromptSource],
    reader: SentenceReader,
) -> tuple[list[Candidate], SourceReading]:
    """The prospects with their chances for scores, best first, none where it is not likely enough that any answers;
    and the reading, for the record. Raises `ReaderUnavailable`."""
    by_start = {(each.index, each.start): each for each in found}
    told, places = _told(found, sources)
    reading = await reader.read(question, told)
    chances = tuple(SentenceChance(*places[each.passage, each.place], each.milli) for each in reading.sentences)
    record = SourceReading(reader.digest, reading.answered_milli, await reader.least_milli(), chances)
    if record.answered_milli < record.least_milli:
        return [], record
    kept = [by_start[each.index, each.start] for each in chances]
    return [
        Candidate(chance.milli, each.index, each.start, each.text, each.lead)
        for each, chance in zip(kept, chances, strict=True)
    ], record


def _told(found: Sequence[Candidate], sources: Sequence[PromptSource]) -> tuple[list[Told], dict[Place, Place]]:
    """The passages of the prospects, and where in the sources each of their sentences is."""
    told: list[Told] = []
    where: dict[Place, Place] = {}
    for source in sources:
        starts = {each.start for each in found if each.index == source.index}
        if starts:
            read = ReadSource.of(source)
            places = tuple(place for place, each in enumerate(read.sentences) if each.start in starts)
            where |= {(len(told), place): (source.index, read.sentences[place].start) for place in places}
            told.append(Told(source.title, tuple(each.text for each in read.sentences), places))
    return told, where
