"""A source as read once: its sentences with their words and years."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ai.model import PromptSource
from ai.models.reading.rows import Row
from ai.models.reading.times import years_in
from ai.models.reading.tokens import numbers_in, tokens_in
from ai.text.markdown import plain, slice_of
from ai.text.meaning.carried import UNSAID, Carried, carried_in
from ai.text.sentences import Span, bare_sentences, is_item, stems
from retrieval.english.pronouns import parted

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_HEADING = re.compile(r"[^\W\d_][^\n.!?:;]{2,79}")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_MEANT = 2
_LEANT_ON = 6


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence as read once: its words, its years. `around` are its words, those of the two sentences before it,
    which its pronouns may mean, and the title's. `follows`: it continues the paragraph of the sentence before.
    `answers`: the question that stands right before it, as in a list of questions and answers. `item`: it is one of a
    list; `stem`: the words that it goes on with, before the list. `before`: the sentences before it, nearest last.
    `carried`: whom it means."""

    start: int
    text: str
    tokens: frozenset[str]
    around: frozenset[str]
    years: frozenset[int]
    follows: bool
    answers: str = ""
    item: bool = False
    before: tuple[str, ...] = ()
    carried: Carried = UNSAID
    stem: str = ""

    @property
    def whole(self) -> str:
        """The sentence with its stem."""
        return f"{self.stem} {self.text}" if self.stem else self.text


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A source as read once. A row, cell or feature is its statement, and is of the types of what it is about."""

    source: PromptSource
    tokens: frozenset[str]
    title: frozenset[str]
    sentences: tuple[ReadSentence, ...]
    row: Row | None = None

    @classmethod
    def of(cls, source: PromptSource, *, lined: bool = False, carried: bool = False) -> ReadSource:
        """The source, read. `lined`: each line that stands alone is a sentence; `carried`: its pronouns say whom they
        mean, and its title does not."""
        return _read_source(source, lined, carried)


@lru_cache(maxsize=128)  # the model, its reader and the checks of its draft read the same sources
def _read_source(source: PromptSource, lined: bool, carried: bool) -> ReadSource:
    titled, known = parted(source.title) if carried else (source.title, None)
    text = source.statement or source.text
    about = _about(source)
    pieces = _pieces(text, whole=source.statement is not None, lined=lined)
    heading = heading_of(text, pieces[0].span) if source.statement is None and pieces else ""
    title = tokens_in(f"{titled} {heading}".casefold()) | numbers_in(f"{titled} {heading}")
    sentences: list[ReadSentence] = []
    prose = carried and source.statement is None
    meant = carried_in([(each.text, each.opens) for each in pieces], known) if prose else [UNSAID] * len(pieces)
    for piece, persons in zip(pieces, meant, strict=True):
        tokens = piece.tokens | about | persons.tokens
        around = title.union(tokens, *(each.tokens for each in sentences[-_MEANT:]))
        before = sentences[-1].text if sentences else titled.rpartition(" > ")[2].rpartition(" — ")[2]
        answers = before if before.endswith("?") and not piece.text.endswith("?") else ""
        sentences.append(
            ReadSentence(
                piece.span.start,
                piece.text,
                tokens,
                around,
                piece.years,
                bool(sentences) and not piece.opens,
                answers,
                piece.item,
                tuple(each.text for each in sentences[-_LEANT_ON:]),
                persons,
                piece.stem,
            )
        )
    words = title.union(*(each.tokens for each in sentences))
    return ReadSource(source, words, title, tuple(sentences), Row.of_source(source))


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence by itself. `opens`: it opens a paragraph; `item`: it is one of a list."""

    span: Span
    text: str
    opens: bool
    tokens: frozenset[str]
    years: frozenset[int]
    item: bool
    stem: str = ""


@lru_cache(maxsize=128)  # the same for every reading of a source, whoever its pronouns mean
def _pieces(text: str, *, whole: bool, lined: bool) -> tuple[_Piece, ...]:
    spans = (Span(0, len(text)),) if whole else bare_sentences(text, lined=lined)
    found: list[_Piece] = []
    led = stems(text, spans) if lined and not whole else [""] * len(spans)
    for span, before in zip(spans, led, strict=True):
        said = slice_of(text, span.start, span.end) if lined and not whole else text[span.start : span.end]
        shown = " ".join((said if whole and lined else plain(said, coded=lined)).split())
        opens = _PARAGRAPH.search(text, max(0, span.start - 4), span.start) is not None
        tokens = tokens_in(shown.casefold()) | numbers_in(shown)
        stem = " ".join(plain(before).split())
        if stem:
            tokens |= tokens_in(stem.casefold()) | numbers_in(stem)
        found.append(_Piece(span, shown, opens, tokens, years_in(shown), is_item(text, span.start), stem))
    return tuple(found)


def heading_of(text: str, first: Span) -> str:
    """The line that a plain text opens with, where it has no stop: its title, whatever its file is called."""
    line = text[first.start : first.end]
    return line if _HEADING.fullmatch(line) and text[first.end : first.end + 1] == "\n" else ""


def document_of(read: ReadSource) -> str:
    """The title of the document that a source is a passage of."""
    return read.source.title.partition(" — ")[0]


def words_by_document(reads: Sequence[ReadSource]) -> dict[str, frozenset[str]]:
    """The words of all sources of one document."""
    found: dict[str, frozenset[str]] = {}
    for read in reads:
        found[document_of(read)] = found.get(document_of(read), frozenset()) | read.tokens
    return found


def tokens_of(source: PromptSource) -> frozenset[str]:
    """The folded words of title, statement and text, and what it is about."""
    text = " ".join((source.title, source.statement or "", source.text)).casefold()
    return tokens_in(text).union(_DIGITS.findall(text), _about(source))


def _about(source: PromptSource) -> frozenset[str]:
    if source.statement is None:
        return frozenset()
    return tokens_in(" ".join(f"{entity.type} {entity.name}" for entity in source.entities).casefold())
