"""Answers that a text gives by how it is set: an entry under the label that is asked for, the sentences of a section
that is asked for by its number or name, and those under a heading that asks the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ai.models.reading.headed import Head
from ai.models.reading.source import ReadSentence, ReadSource
from ai.text.denials import YesNo, yes_no_of
from ai.text.entries import EntryQuestion, abbreviation_of, gives_words_of, roles_in
from ai.text.headings import asks_the_same
from ai.text.leaning import HANGING, leans_back
from ai.text.lines import Entry, Heading, Timed, clock_of, lines_of
from ai.text.question_type import WantedKind, denies, first_word, offers, wanted_of
from ai.text.sections import SectionQuestion
from ai.text.sentences import MARKER, Span
from ai.text.support import WORD, all_roots, fold, weighed_roots
from retrieval.english.lists import WEEKDAYS, word_list
from retrieval.english.stems import root_of

_MOST_TOLD, _FEWEST_WORDS = 3, 3
Lines = tuple[Entry | Heading | Timed, ...]
_WHEN_ASKED = frozenset(
    map(
        root_of,
        word_list("time start begin take place held hold scheduled planned on lead leads give gives meet meets"),
    )
)
"""Words that ask of a line of a timetable nothing that it would have to say."""
_ELLIPTICAL = 4
"""Words: a reply of fewer (`Not yet.`) comes with the sentence behind it."""
_MOST_BEFORE = 200
"""Characters before the first entry of a text that may name it."""


def told_by_lines(question: str, read: ReadSource) -> tuple[ReadSentence, ...]:
    """The sentences of a source that answer by how they are set, in order; of a row, what it states of the term that is
    asked for; of a text, also those that have the words of an abbreviation, or a role in brackets. None where the
    question denies something."""
    if denies(question):
        return ()
    if read.source.statement is not None:
        defines = read.row is not None and EntryQuestion.of(question).defined_by(read.row.cells)
        return read.sentences if defines else ()
    lines = lines_of(read.source.text)
    found = [*_entries(question, read, lines), *_timed(question, read, lines)]
    short = abbreviation_of(question)
    if short and not found:
        found = [each for each in read.sentences if _is_sentence(each.text) and gives_words_of(each.text, short)]
    return tuple(each for each in found if MARKER.search(each.text) is None)


def section_told(question: str, read: ReadSource) -> tuple[ReadSentence, ...]:
    """The first sentences of a section that is asked for as a whole: whole ones, each of which stands on its own or
    behind the one before it. None of a row."""
    if read.source.statement is not None:
        return ()
    asked, head = SectionQuestion.of(question), Head.of(read.source.title)
    part = None if asked is None else asked.part_of(read.source.text, read.source.title)
    if head is not None and head.is_asked(question):
        part = Span(0, len(read.source.text))
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


def replied(question: str, reads: Sequence[ReadSource]) -> Mapping[int, tuple[ReadSentence, ...]]:
    """By source, the sentences that reply to a heading or a line which asks the same as the question; that line too,
    where the first of them begins with a word for something that it names. The passages of a section bear one heading,
    and nothing says which is its first: where there are several, none replies."""
    titles = Counter(read.source.title for read in reads if read.source.statement is None)
    found: dict[int, tuple[ReadSentence, ...]] = {}
    for read in reads:
        if read.source.statement is not None or not read.sentences:
            continue
        heading = read.source.title.rpartition(" — ")[2].rpartition(" > ")[2]
        headed = titles[read.source.title] == 1 and asks_the_same(question, heading)
        starts = [0] if headed else []
        starts += [at for at, each in enumerate(read.sentences) if at and asks_the_same(question, _line_of(read, at))]
        for start in starts[:1]:
            told = tuple(_reply(read.sentences[start:], whole=not (start or heading.endswith("?"))))
            led = bool(told) and start > 0 and leans_back(told[0].text)
            if told:
                found[read.source.index] = (read.sentences[start - 1], *told) if led else told
    return found


def denied(question: str, reads: Sequence[ReadSource]) -> Mapping[int, tuple[ReadSentence, ...]]:
    """By source, the first sentence that denies outright what a question for yes or no asks, behind the one that says
    of what. None where a sentence says the same and denies nothing."""
    found: dict[int, tuple[ReadSentence, ...]] = {}
    asked = yes_no_of(question)
    if not asked:
        return found
    for read in (each for each in reads if each.source.statement is None):
        for place, each in enumerate(read.sentences):
            if _affirms(question, each):
                return {}
            told = next(filter(None, (_denial(one, read, place) for one in asked)), ())
            if told and read.source.index not in found:
                found[read.source.index] = told
    return found


def _denial(asked: YesNo, read: ReadSource, place: int) -> tuple[ReadSentence, ...]:
    """The sentence, where it denies what is asked; behind the one in its paragraph that says all else of the question,
    from which nothing leads elsewhere."""
    each = read.sentences[place]
    if not _is_stated(each.text) or not asked.is_denied_by(each.text):
        return ()
    title = all_roots(read.source.title)
    if asked.rest <= all_roots(each.text) | title:
        return (each,)
    for before in reversed(read.sentences[max(0, place - _MOST_TOLD) : place]):
        if not each.follows:
            return ()
        if asked.rest <= all_roots(before.text) | title and not leans_back(before.text):
            return (before, read.sentences[place])
        if before.years or first_word(before.text) not in HANGING - {"then"}:
            return ()
        each = before
    return ()


def _affirms(question: str, each: ReadSentence) -> bool:
    said = weighed_roots(question) - {root_of(word) for word in ("anyone", "anybody", "anything", "any")}
    return said <= all_roots(each.text) and not denies(each.text) and not each.text.endswith("?")


def _line_of(read: ReadSource, at: int) -> str:
    """The line of the question that stands right before a sentence, without `Q:`; empty where none does."""
    if not read.sentences[at].answers:
        return ""
    before = read.source.text[: read.sentences[at].start].rstrip()
    return before[before.rfind("\n") + 1 :].strip(" *_#").removeprefix("Q:").strip()


def _reply(sentences: Sequence[ReadSentence], *, whole: bool) -> Iterator[ReadSentence]:
    """The first sentence; the next ones too where it is elliptical or one of several items, and, of a `whole` section,
    where the heading only states something."""
    told = 0
    for each in sentences[:_MOST_TOLD]:
        if each.text.endswith("?") or not _is_stated(each.text) or (told and sentences[0].item != each.item):
            return
        yield each
        told += each.text.count(" ") + 1
        if told >= _ELLIPTICAL and not (whole or each.item):
            return


def _is_stated(text: str) -> bool:
    return (text[:1].isupper() or text[:1].isdigit()) and text.endswith((".", "!")) and MARKER.search(text) is None


def _is_sentence(text: str) -> bool:
    """True for a whole sentence that states something."""
    words = text.count(" ") + 1
    stated = text[:1].isupper() and text.rstrip("\"'”’)")[-1:] in {".", "!"}
    return stated and words >= _FEWEST_WORDS and MARKER.search(text) is None


def _timed(question: str, read: ReadSource, lines: Lines) -> Iterator[ReadSentence]:
    """The lines of a timetable that have all words of the question, where it asks for what they tell; that of the time
    of day which it names, where the text has one such line. Who names a day is told a line below that day."""
    clock, kind = clock_of(question), wanted_of(question)
    days = frozenset(map(fold, WORD.findall(question))).intersection(WEEKDAYS)
    asked = weighed_roots(question) - _WHEN_ASKED - frozenset(map(root_of, days))
    told = [each for each in lines if isinstance(each, Timed) and (not days or _day_of(each, read) in days)]
    title = all_roots(read.source.title)
    if clock:
        named = asked - title - all_roots(" ".join(map(str, clock)))
        told = [each for each in told if clock_of(each.time) == clock and kind is not WantedKind.TIME]
        told = told if len(told) == 1 and not any(root[0].isalpha() for root in named) else []
    else:
        told = [each for each in told if (roots := all_roots(each.what)) & asked and asked <= roots | title]
        told = [each for each in told if kind is WantedKind.TIME or _tells(each.what, kind, question)]
    for line in told if len(told) <= _MOST_TOLD else ():
        yield from (each for each in read.sentences if line.start <= each.start < line.end)


def _tells(what: str, kind: WantedKind, question: str) -> bool:
    return kind in (WantedKind.PERSON, WantedKind.PLACE) and offers(what, kind, question, loosely=True)


def _day_of(line: Timed, read: ReadSource) -> str:
    """The last day that is named before a line, or in its title; empty where none is."""
    words = WORD.findall(f"{read.source.title} {read.source.text[: line.start]}")
    return next((day for word in reversed(words) if (day := fold(word)) in WEEKDAYS), "")


def _entries(question: str, read: ReadSource, lines: Lines) -> Iterator[ReadSentence]:
    entries = [each for each in lines if isinstance(each, Entry)]
    entries += roles_in(entries)
    if not entries:
        return
    named = f"{read.source.title} {read.source.text[: min(entries[0].start, _MOST_BEFORE)]}"
    for entry in EntryQuestion.of(question).answered_by(entries, named):
        said = next((each for each in read.sentences if entry.start <= each.start < entry.end), None)
        if said is not None:
            yield said
