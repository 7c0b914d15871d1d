"""Chunk: prose to sentence-aligned passages with exact offsets, never across a heading, a page or something left
out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from retrieval.ingest.parsing.narrators import narrators
from retrieval.ingest.parsing.structure import blocks_of
from retrieval.ingest.parsing.subjects import paragraphs, subjects
from retrieval.ingest.records.link import times_in
from retrieval.ingest.records.searchable import Suspicion, as_scanned, nothing_suspect
from retrieval.ingest.values import Block, LoadedFile, Owner
from retrieval.model import TOLD_BY, Locator, Record, RecordKind, TimeRange

_END = re.compile(
    r"[.!?][\"'”’)\]]*(?:\[\^[^\]]+\])*\s+(?=[\"'“‘(\[*_]*[A-Z0-9])"
    r"|(?<=\n)[ \t>]*+(?:`{3,}+|~{3,}+)[ \t]*+\n[ \t]*+\n\s*+"
)
"""The end of a sentence, or of a block of code, with the space behind it."""
_ABBREVIATED = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Hon|Gen|Col|Capt|Lieut|Lt|Maj|Sergt|Sgt|Gov|Sen|Rep|Rev|St|Ft|Mt|No|Nos|Vol|vol|pp|p|ch|art"
    r"|Stat|Co|Jr|Sr|v|vs|etc|viz|i\.e|e\.g|Messrs|Prof|Pres|Jan|Feb|Mar|Apr|Aug|Sept|Oct|Nov|Dec)|\b[A-Z])\.$"
)


@dataclass(frozen=True, slots=True)
class ChunkSize:
    """Words of a passage: it is closed at `target_words`, no sentence is left longer than `longest_words`."""

    target_words: int = 120
    longest_words: int = 240


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of the text and the headings above it, the last of which says who tells it, or whom it means by `he` or
    `she`, where another part of the document does; a row of a table says its statement."""

    start_char: int
    end_char: int
    headings: tuple[str, ...]
    page: int | None
    statement: str | None = None


def chunk(
    loaded: LoadedFile, owner: Owner, size: ChunkSize, skip: Sequence[str] = (), suspect: Suspicion = nothing_suspect
) -> list[Record]:
    """The passages of a document as records, ordinals from 0. A sentence that is `suspect` is a passage of its own, so
    that nothing else of the text is withheld with it."""
    records: list[Record] = []
    at_char = at_byte = 0
    for ordinal, passage in enumerate(_set_apart(loaded.text, passages(loaded, size, skip), size, suspect)):
        text = loaded.text[passage.start_char : passage.end_char]
        at_byte += len(loaded.text[at_char : passage.start_char].encode())
        end_byte = at_byte + len(text.encode())
        locator = Locator(passage.start_char, passage.end_char, at_byte, end_byte, page=passage.page)
        at_char, at_byte = passage.end_char, end_byte
        records.append(
            Record(
                record_id=f"{owner.document_id}#c{ordinal}",
                kind=RecordKind.PASSAGE,
                document_id=owner.document_id,
                source_id=owner.source_id,
                class_id=owner.class_id,
                ordinal=ordinal,
                text=text,
                locator=locator,
                heading=" > ".join(passage.headings) or None,
                statement=passage.statement,
                time=_spanned(text),
            )
        )
    return records


def _spanned(text: str) -> TimeRange | None:
    times = [time for _, time in times_in(text)]
    return TimeRange(min(t.start for t in times), max(t.end for t in times)) if times else None


def passages(loaded: LoadedFile, size: ChunkSize, skip: Sequence[str] = ()) -> Iterator[Passage]:
    """Spans in order, without overlap; joined they hold every word of every prose block once."""
    for (_, prose), group in groupby(_cut(loaded, size, skip), lambda each: (each.headings, each.statement is None)):
        section = list(group)
        yield from _with_subjects(loaded.text, section, size) if prose else section


def _with_subjects(text: str, section: Sequence[Passage], size: ChunkSize) -> Iterator[Passage]:
    """The passages of a section, each with whom it means by its pronouns where another part says who that is."""
    spans = (
        [
            span
            for start, end in paragraphs(text, each.start_char, each.end_char)
            for span in sentences(text, start, end, size.longest_words)
        ]
        for each in section
    )
    for passage, person in zip(section, subjects(text, spans), strict=True):
        last = passage.headings[-1] if passage.headings else ""
        known = person is not None and not last.startswith(TOLD_BY)
        yield replace(passage, headings=(*passage.headings, person.said)) if known and person else passage


def _cut(loaded: LoadedFile, size: ChunkSize, skip: Sequence[str]) -> Iterator[Passage]:
    for page, blocks in _pages(loaded, skip):
        path: list[Block] = []
        run: list[tuple[int, int]] = []
        words, teller = 0, None
        for block, told_by in zip(blocks, narrators(loaded.text, blocks), strict=True):
            apart = block.kind == "heading" or block.statement is not None or told_by != teller
            if run and (apart or _left_out(loaded.text, run[-1][1], block.start_char)):
                yield _closed(run, path, teller, page)
                run, words = [], 0
            teller = told_by
            if block.kind == "heading":
                path = [*(above for above in path if above.level < block.level), block]
                continue
            if block.statement is not None:
                row = _closed([(block.start_char, block.end_char)], path, teller, page)
                yield replace(row, statement=block.statement)
                continue
            if block.kind == "code" and run:  # it stays with the sentence that says what it is for
                run[-1] = (run[-1][0], block.end_char)
                words += _weight(loaded.text, block.start_char, block.end_char)
                continue
            for start, end in _spans_of(loaded.text, block, size):
                if words >= size.target_words:
                    yield _closed(run, path, teller, page)
                    run, words = [], 0
                run.append((start, end))
                words += _weight(loaded.text, start, end)
        if run:
            yield _closed(run, path, teller, page)


def _spans_of(text: str, block: Block, size: ChunkSize) -> Iterable[tuple[int, int]]:
    """The sentences of a block; code is one."""
    if block.kind == "code":
        return ((block.start_char, block.end_char),)
    return sentences(text, block.start_char, block.end_char, size.longest_words)


def _set_apart(text: str, found: Iterable[Passage], size: ChunkSize, suspect: Suspicion) -> Iterator[Passage]:
    """The passages, one that is suspect cut into its suspect sentences and what stands between them. One that is
    suspect as a whole only, or for its heading, stays whole."""
    for passage in found:
        heading = " > ".join(passage.headings)
        start, end = passage.start_char, passage.end_char
        row = passage.statement is not None
        if row or not suspect(as_scanned(text[start:end], None, heading)) or (heading and suspect(heading)):
            yield passage
            continue
        told = groupby(sentences(text, start, end, size.longest_words), lambda each: suspect(text[each[0] : each[1]]))
        for _, group in told:
            run = list(group)
            yield replace(passage, start_char=run[0][0], end_char=run[-1][1])


def _weight(text: str, start: int, end: int) -> int:
    """Words of a span; what has few spaces (a long number, a script without them) counts by its length."""
    return max(text.count(" ", start, end) + text.count("\n", start, end) + 1, (end - start) // 12)


def _closed(run: list[tuple[int, int]], path: list[Block], teller: str | None, page: int | None) -> Passage:
    headings = tuple(block.title for block in path if block.title)
    if teller and teller.casefold() not in " ".join(headings).casefold():
        headings = (*headings, f"{TOLD_BY}{teller}")
    return Passage(run[0][0], run[-1][1], headings, page)


def _left_out(text: str, start: int, end: int) -> bool:
    """True if something that is no block stands between two blocks."""
    return any(c.isalnum() for c in text[start:end])


def _pages(loaded: LoadedFile, skip: Sequence[str]) -> Iterator[tuple[int | None, tuple[Block, ...]]]:
    if not loaded.pages:
        blocks = loaded.blocks
        yield None, blocks_of(loaded.text, loaded.media_type, skip) if blocks is None else blocks
        return
    for number, (start, end) in enumerate(loaded.pages, 1):
        if loaded.blocks is not None:
            yield number, tuple(block for block in loaded.blocks if start <= block.start_char < end)
            continue
        found = blocks_of(loaded.text[start:end], loaded.media_type, skip)
        yield number, tuple(replace(b, start_char=b.start_char + start, end_char=b.end_char + start) for b in found)


def sentences(text: str, start: int, end: int, longest_words: int) -> Iterator[tuple[int, int]]:
    """Sentence spans of a block, without the space between them; a sentence that is too long is cut between words."""
    begin = start
    for match in _END.finditer(text, start, end):
        if _ABBREVIATED.search(text, max(begin, match.start() - 8), match.start() + 1):
            continue
        yield from _bounded(text, begin, _trim(text, begin, match.end()), longest_words)
        begin = match.end()
    if begin < end:
        yield from _bounded(text, begin, _trim(text, begin, end), longest_words)


def _trim(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


_WORD = re.compile(r"\S{1,40}")


def _bounded(text: str, start: int, end: int, longest_words: int) -> Iterator[tuple[int, int]]:
    if end - start <= longest_words * 3:
        if end > start:
            yield start, end
        return
    first, last, count = start, start, 0
    for match in _WORD.finditer(text, start, end):
        if count == longest_words:
            yield first, last
            first, count = match.start(), 0
        last, count = match.end(), count + 1
    if count:
        yield first, last
