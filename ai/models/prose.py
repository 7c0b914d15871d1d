"""Sentences of prose that may answer, for a reader to judge; and the answer that it makes of them.

How many of a question's words a sentence has, and whether it holds the kind of thing that is wanted (a date, a number,
a reason), is the reader's to weigh. What the question names (a place, a year) is not: a sentence of another place or
time is never an answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ai.model import PromptSource, SentenceChance, SourceReading
from ai.models.candidates import PARAMETERS, Candidate, Parameters, is_about, is_code, is_whole, lead_of
from ai.models.coded import shows_code
from ai.models.reader.lazy import SentenceReader
from ai.models.reader.told import Told
from ai.models.reading.headed import under_head
from ai.models.reading.question import ReadQuestion
from ai.models.reading.source import ReadSentence, ReadSource
from ai.models.reading.tokens import tokens_in
from ai.models.reading.versions import RELEASED, VERSION
from ai.text.leaning import HANGING, means_another
from ai.text.lines import is_timed
from ai.text.question_type import WantedKind, first_word, offers, wanted_of
from ai.text.support import WORD, words_of
from retrieval.english.lists import UNWEIGHED_WORDS
from retrieval.english.pronouns import parted
from retrieval.model import TOLD_BY, Intent

MOST_PROSPECTS = 24
_WORD = re.compile(r"[^\W\d_]{4,}")
_DIGIT = re.compile(r"\d")
_LEADERS = re.compile(r"(?:\. ?){4}")
_PROSE_PERCENT = 40
_HARDLY = 8
"""A sentence whose chance is less than this part of the best one's does not answer. Of 155 right drafts of SQuAD five
have less, of ten beside the point all (ADR 0097)."""
WITNESSED_MILLI = 700
"""The part of the chance that the default needs which is enough for another model's draft. Of 226 right drafts of SQuAD
four fall between it and 500, of 229 that quote what only seems to answer twelve (ADR 0101)."""

CLOSEST_MILLI = 100
"""The least chance of a sentence that is shown as what comes closest, where nothing answers. Of 433 questions whose
answer was withheld it was shown for 274 and was the answer for 156 (ADR 0115)."""
_CLEARLY = 3
"""How many times the chance of the best sentence by words another must have to come before it (ADR 0098)."""

Place = tuple[int, int]
"""A sentence by the number of its source and where it starts there."""


def prospects(
    question: str,
    intent: Intent,
    sources: Sequence[PromptSource],
    parameters: Parameters,
    by_words: Sequence[Candidate] = (),
    *,
    gated: bool = False,
    version: int = VERSION,
) -> list[Candidate]:
    """The sentences that a reader is shown: those that answer by their words alone, then those with most of the
    question's words, down to none; no row or cell is among them, and of the others no heading, line of contents or
    running head. `gated`: for who weighs nothing, only those with a word of the question, the kind of thing that it
    wants, and a reason where it asks for one."""
    later = version > RELEASED
    lined = later and not gated
    reads = [ReadSource.of(source, lined=lined, carried=later) for source in sources if source.statement is None]
    asked = ReadQuestion.of(question, intent, reads, version=version)
    found = [each for read in reads for each in _of_source(read, asked, parameters, gated=gated)]
    found.sort(key=lambda c: (-c.score, c.index, c.start))
    chosen = {(each.index, each.start): each for each in by_words if not each.row}
    around = {
        (read.source.index, each.start): read.title | each.carried.tokens for read in reads for each in read.sentences
    }
    for each in found:
        if len(chosen) >= MOST_PROSPECTS:
            break
        if (each.index, each.start) not in chosen:
            beside = version > RELEASED and _is_beside(each, asked, around[each.index, each.start])
            chosen[each.index, each.start] = replace(each, beside=beside)
    return list(chosen.values())[:MOST_PROSPECTS]


def _is_beside(candidate: Candidate, asked: ReadQuestion, title: frozenset[str]) -> bool:
    """True for a question, and for what the rules of meaning refuse."""
    around = title | tokens_in(candidate.lead.casefold())
    return candidate.text.endswith("?") or not asked.may_mean(candidate.text, around)


def _of_source(read: ReadSource, asked: ReadQuestion, parameters: Parameters, *, gated: bool) -> list[Candidate]:
    """Each whole sentence of prose that concerns what the question names, at the time that it names."""
    found = []
    for place, each in enumerate(read.sentences):
        covered, words = asked.coverage(each.tokens), each.text.count(" ") + 1
        said = each.whole if each.stem else asked.under_head(each.text, read.source)
        hangs = first_word(each.text) in HANGING and not each.carried.opening
        code = not (asked.lenient or gated) and is_code(each.text)
        timed = not asked.lenient and is_timed(each.text)
        apart = code or timed or bool(each.stem)
        if (
            (apart or parameters.min_words <= words)
            and (not timed or covered >= parameters.well_covered)
            and words <= parameters.max_words
            and (is_whole(each.text, read.source, coded=not asked.lenient) or each.stem)
            and (apart or is_prose(each.text, named=not asked.lenient))
            and asked.is_timely(each, read.source)
            and (
                is_about(each, read, asked, parameters, hangs=hangs, covered=covered)
                or (not asked.lenient and _names_nothing_else(each, read, asked))
            )
            and (_passes(said, each, asked) if gated else not asked.forbids(each.text))
        ):
            near = (covered + asked.coverage(each.around)) // 2
            lead = None
            coded = not asked.lenient
            if code:
                lead = read.sentences[place - 1] if place else None
            elif hangs:
                lead = lead_of(read, place, parameters, coded=coded) if gated else _before(read, place, coded=coded)
            if gated and not (asked.lenient or lead or each.carried.opening) and means_another(each.text):
                continue
            score = near - parameters.rank_slope * (read.source.index - 1)
            found.append(Candidate(score, read.source.index, each.start, said, lead.text if lead else ""))
    return found


def _passes(said: str, read: ReadSentence, asked: ReadQuestion) -> bool:
    """True if the sentence, where no place is named, says one of the question's words or follows one that does, and
    offers the kind of thing that is wanted, as it is `said`."""
    return (
        asked.agrees(read.text)
        and offers(said, asked.wanted, asked.question, loosely=True)
        and bool(asked.intent.mentions or not asked.weights or asked.coverage(read.around))
    )


def _before(within: ReadSource, place: int, *, coded: bool) -> ReadSentence | None:
    """The sentence before, in the same paragraph; what that leans on comes with it at the answer point."""
    before = within.sentences[place - 1] if within.sentences[place].follows else None
    return before if before is not None and is_whole(before.text, within.source, coded=coded) else None


def _names_nothing_else(read: ReadSentence, within: ReadSource, asked: ReadQuestion) -> bool:
    """True if the passage names what the question names, and the sentence nothing else: `The fort was destroyed`."""
    if first_word(read.text) not in UNWEIGHED_WORDS or not asked.concerns(within.tokens):
        return False
    return words_of(read.text).names <= words_of(asked.question).content


def is_prose(text: str, *, named: bool = True) -> bool:
    """True for a sentence; false for a heading, a line of contents or a running head that ends with a stop. Where most
    long words are names and it may be `named`, the short ones tell, but for a heading of names and short words
    alone."""
    words = _WORD.findall(text)
    small = [word for word in words if word[0].islower()]
    if not words or _LEADERS.search(text):
        return False
    if 100 * len(small) >= _PROSE_PERCENT * len(words):
        return True
    every = [word for word in WORD.findall(text) if word[0].isalpha()]
    says = named and any(word not in UNWEIGHED_WORDS for word in small)
    return says and 100 * sum(word[0].islower() for word in every) >= _PROSE_PERCENT * len(every)


async def read_prospects(
    question: str,
    found: Sequence[Candidate],
    sources: Sequence[PromptSource],
    reader: SentenceReader,
    *,
    by_words: list[Candidate],
    version: int = VERSION,
) -> tuple[list[Candidate], SourceReading]:
    """The candidates that answer by their words, where the reader leaves them and gives none of the others a clearly
    better chance than the first of them; else, and without such candidates, the prospects with their chances for
    scores, best first, none where it is not likely enough that any answers. And the reading, for the record. A block of
    code needs no more than what words confirm: few words say what it is for. By the rules of release 0.1.0 the
    prospects always compete. Raises `ReaderUnavailable`."""
    by_start = {(each.index, each.start): each for each in found}
    told, places = _told(question, found, sources, version)
    reading = await reader.read(question, told)
    chances = tuple(SentenceChance(*places[each.passage, each.place], each.milli) for each in reading.sentences)
    confirms = bool(by_words) and version > RELEASED
    first = by_start[chances[0].index, chances[0].start] if chances and version > RELEASED else None
    coded = first is not None and shows_code(first, question, sources)
    least = await reader.least_milli(by_words=confirms or coded)
    record = SourceReading(reader.digest, reading.answered_milli, least, chances)
    if record.answered_milli < record.least_milli:
        return [], record
    said = [(each, by_start[each.index, each.start]) for each in chances]
    best = max((each.milli for each, read in said if not read.text.endswith("?")), default=0)
    chances = tuple(each for each, read in said if not read.beside)
    if not confirms and (not chances or _CLEARLY * chances[0].milli < best):
        return [], record
    if confirms and not _is_led(question, by_words[0], chances, by_start):
        return by_words, record
    kept = [by_start[each.index, each.start] for each in chances]
    return [
        Candidate(chance.milli, each.index, each.start, each.text, each.lead)
        for each, chance in zip(kept, chances, strict=True)
    ], record


def closest(found: Sequence[Candidate], reading: SourceReading) -> Candidate | None:
    """The prospect with the best chance that is about what was asked, if that chance is worth showing."""
    by_start = {(each.index, each.start): each for each in found}
    said = ((each, by_start[each.index, each.start]) for each in reading.sentences)
    best = next(((chance, read) for chance, read in said if not read.beside), None)
    return None if best is None or best[0].milli < CLOSEST_MILLI else best[1]


def _is_led(
    question: str, first: Candidate, chances: Sequence[SentenceChance], by_start: Mapping[Place, Candidate]
) -> bool:
    """True if the best chance is clearly better than that of the first candidate by words; a time or a number must be
    in its sentence too, in figures where the candidate has it so. Not where that candidate comes with the sentence that
    makes it an answer, which the reader does not see as one."""
    if not chances:
        return False
    own = next((each.milli for each in chances if (each.index, each.start) == (first.index, first.start)), None)
    best = chances[0]
    if own is None or first.lead or best.milli <= own or best.milli < _CLEARLY * own:
        return False
    text, wanted = by_start[best.index, best.start].text, wanted_of(question)
    if wanted not in (WantedKind.TIME, WantedKind.NUMBER):
        return True
    return offers(text, wanted, question, loosely=True) and (
        _DIGIT.search(text) is not None or _DIGIT.search(first.text) is None
    )


@dataclass(frozen=True, slots=True)
class ReadSentences:
    """The sentences of each source as a reader read them: those that answer, and those that are beside the point.
    `nothing`: it finds an answer too unlikely for any sentence of prose to be one."""

    answers: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    beside: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    nothing: bool = False


def sentences_read(reading: SourceReading | None, sources: Sequence[PromptSource]) -> ReadSentences:
    """By the reading of the model that drafts: all that it read answers, where an answer was likely enough."""
    if reading is None or reading.answered_milli < reading.least_milli:
        return ReadSentences()
    chances = _chances(reading, sources)
    return ReadSentences(
        {index: tuple(text for text, chance in said if chance >= 0) for index, said in chances.items()}
    )


def sentences_read_beside(
    reading: SourceReading | None,
    sources: Sequence[PromptSource],
    parameters: Parameters = PARAMETERS,
) -> ReadSentences:
    """For the draft of another model, which is a second witness, so that a part of the chance is enough. What comes as
    near the best sentence as the default model would say beside it answers; what has hardly a chance next to it, or was
    not worth reading, is beside the point."""
    if reading is None:
        return ReadSentences()
    if 1_000 * reading.answered_milli < WITNESSED_MILLI * reading.least_milli:
        return ReadSentences(nothing=True)
    best = max((each.milli for each in reading.sentences), default=0)
    least, chances = best * parameters.near_best // 1_000, _chances(reading, sources)
    prose = {source.index for source in sources if source.statement is None}
    return ReadSentences(
        {index: tuple(text for text, chance in said if chance >= least) for index, said in chances.items()},
        {index: tuple(text for text, chance in chances[index] if _HARDLY * chance < best) for index in prose},
    )


def _chances(reading: SourceReading, sources: Sequence[PromptSource]) -> dict[int, list[tuple[str, int]]]:
    """By source its sentences, each with its chance; -1 for one that was not read."""
    chances = {(each.index, each.start): each.milli for each in reading.sentences}
    return {
        source.index: [
            (each.text, chances.get((source.index, each.start), -1))
            for each in ReadSource.of(source, lined=True).sentences
        ]
        for source in sources
    }


def _told(
    question: str, found: Sequence[Candidate], sources: Sequence[PromptSource], version: int
) -> tuple[list[Told], dict[Place, Place]]:
    """The passages of the prospects, and where in the sources each of their sentences is."""
    told: list[Told] = []
    where: dict[Place, Place] = {}
    for source in sources:
        starts = {each.start for each in found if each.index == source.index}
        if starts:
            later = version > RELEASED
            read = ReadSource.of(source, lined=later, carried=later)
            places = tuple(place for place, each in enumerate(read.sentences) if each.start in starts)
            title = _title(source) if later else source.title
            where |= {(len(told), place): (source.index, read.sentences[place].start) for place in places}
            texts = tuple(f"{each.stem} {each.carried.meaning.spelt or each.text}".strip() for each in read.sentences)
            texts = tuple(under_head(question, source.title, each) for each in texts) if later else texts
            told.append(Told(title, texts, places))
    return told, where


def _title(source: PromptSource) -> str:
    """The title of a source, first its narrator or whom it means, where it names one: the reader is shown the
    beginning."""
    titled, known = parted(source.title)
    if known is not None:
        return f"{known.said}, {titled}"
    before, told_by, narrator = source.title.rpartition(TOLD_BY)
    if not before.endswith((" > ", " — ")):
        return source.title
    return f"{told_by}{narrator}, {before[:-3]}"
