"""A model's output to sentences with citations, quotes and support.

A model writes `[n]`; everything else here is the system's: which numbers exist, which words of the stored document
stand behind a sentence, and how well. A model cannot write a quote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ai.answer.claims.answering import abstains
from ai.answer.claims.check import Sources, answers_behind, check_sentence
from ai.answer.claims.leaning import bound, fallen, leans
from ai.answer.draft.staying import is_sound
from ai.gate import asked_of, find_appeals
from ai.model import DEFAULT_MODEL, AdmittedItem, Appeals, Completion, Draft, Quote, Sentence, TextSpan
from ai.text.catalogue import ABSTAIN, PHRASES, phrase_id
from ai.text.sentences import MARKER, MARKER_PATTERN, Span, split_sentences, trimmed
from ai.text.support import WordSets, held_of, support_milli, words_of
from retrieval.model import Locator, RecordKind

Find = Callable[[str], Sequence[TextSpan]]

_MARKS = re.compile(rf"(?:(?<!\s)\s++)?{MARKER_PATTERN}", re.IGNORECASE)
_OPENS_LINE = re.compile(rf"\s*+((?:{MARKER_PATTERN}[ \t]*)+)", re.IGNORECASE)
_UNCLOSED = re.compile(r"[\[【［]\s*+\^?(?:sources?)?[\d,;\s–—-]*+(?:†[^\]】]*+)?$", re.IGNORECASE)
_EMPTY_BRACKETS = re.compile(r"\[\s*\]|【\s*】|［\s*］|\(\s*\)")
_NUMBERS = re.compile(r"(\d{1,9})(?:\s*(?:[-–—]|to)\s*(?:sources?\s*)?(\d{1,9}))?", re.IGNORECASE)
_MAX_RANGE = 50
_DEEPEST = 8  # markers inside markers; what nests deeper loses its brackets, and its numbers are nobody's
_NO_BRACKETS = str.maketrans("", "", "[]【】［］")
_MAX_QUOTE_CHARS = 700
_QUOTE_SENTENCES = 3
BORNE_OUT_MILLI = 900


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """A sentence as written: its text without markers, and the numbers they name, in order of first use."""

    text: str
    numbers: tuple[int, ...]


def parse_marked(text: str) -> tuple[MarkedSentence, ...]:
    """The sentences of a model's output with their markers taken out.

    `[1]`, `[1, 2]`, `[1-3]`, `[Source 1]`, `【1†...】` are markers, `(1)` is not. Markers after a full stop belong to
    the sentence before; markers that open a line belong to every sentence of the line that has none of its own;
    markers alone belong to the sentence before. No text of the result contains a marker. Never raises.
    """
    clean = _without_unclosed(text.replace("\ue000", " ").encode("utf-8", "replace").decode("utf-8").rstrip())
    found: list[MarkedSentence] = []
    line_numbers: tuple[int, ...] = ()
    for piece in _pieces(clean):
        if piece.opens_line:
            line_numbers = piece.line_numbers
        marked = _without_markers(piece.text)
        if not any(c.isalnum() for c in marked.text):
            if found and marked.numbers:
                found[-1] = MarkedSentence(found[-1].text, tuple(dict.fromkeys((*found[-1].numbers, *marked.numbers))))
            continue
        found.append(marked if marked.numbers else MarkedSentence(marked.text, line_numbers))
    return tuple(found)


def _without_unclosed(text: str) -> str:
    """The text without a marker at its end that was begun and not closed: it begins behind the last closing bracket."""
    closed = max(text.rfind("]"), text.rfind("】")) + 1
    return text[:closed] + _UNCLOSED.sub("", text[closed:])


def draft_sentences(
    completion: Completion,
    items: Sequence[AdmittedItem],
    *,
    find: Find,
    sources: Sources | None = None,
    asked: str | None = None,
    parsed: Sequence[MarkedSentence] | None = None,
) -> Draft:
    """The draft of a completion over the items that its prompt held. `find` reports what the detectors see in a
    sentence (personal data, canary, system prompt). Numbers that name no item are `unknown_markers`. With `sources`,
    the sentences are checked claim by claim, and the system puts their markers right. `asked` is the question, which
    may ask for an appeal; None: appeals are not looked for. `parsed` are the sentences where the output is not
    text with markers."""
    by_index = {item.index: item for item in items}
    parsed = parse_marked(completion.text) if parsed is None else parsed
    silent = sources is not None and parsed and (phrase_id(parsed[0].text) == ABSTAIN or abstains(parsed[0].text))
    if silent:  # whatever follows: there is no answer, though the default model says what comes closest
        closest = parsed[1:] if completion.model.name == DEFAULT_MODEL else ()
        parsed = (MarkedSentence(PHRASES[ABSTAIN], ()), *closest)
    checks = _Checks(by_index, find, sources, asked)
    sentences = _bound(tuple(_sentence(i, marked, checks) for i, marked in enumerate(parsed)), checks)
    return Draft(tuple(replace(each, answers=False) for each in sentences) if silent else sentences, completion)


def _bound(sentences: Sequence[Sentence], checks: _Checks) -> tuple[Sentence, ...]:
    """The sentences, each that leans on others behind those; the system sets them there where the draft does not."""
    if checks.sources is None or not any(map(leans, sentences)):
        return tuple(sentences)
    found: list[Sentence] = []
    for sentence in sentences:
        before = next((each.text for each in reversed(found) if is_sound(each)), None)
        found += _led(sentence, before, checks, checks.sources) if leans(sentence) else [sentence]
    return tuple(replace(each, i=i) for i, each in enumerate(found))


def _led(sentence: Sentence, before: str | None, checks: _Checks, sources: Sources) -> list[Sentence]:
    """A sentence that leans on others, with those of them that the draft does not have right before it."""
    kept = bound(sentence, before, sources)
    if isinstance(kept, Sentence):
        return [answers_behind(kept, before or "", sources)]
    marked = (MarkedSentence(text, (kept.index,)) for text in kept.texts)
    leads = [replace(_sentence(0, each, checks), attribution="system") for each in marked]
    if not all(map(is_sound, leads)):
        return [fallen(sentence)]
    return [*leads, answers_behind(sentence, " ".join(kept.texts), sources)]


@dataclass(frozen=True, slots=True)
class _Checks:
    """Everything that a sentence is checked with: the items by number, the detectors, the claims' sources, the appeals
    asked for."""

    by_index: dict[int, AdmittedItem]
    find: Find
    sources: Sources | None
    asked: str | None

    def said(self, sentence: Sentence, n: int) -> str:
        """The words to look for in the item: the sentence, or those that a reader found there to bear it out."""
        return sentence.text if self.sources is None else self.sources.paraphrase_of(sentence).get(n, sentence.text)

    def appeals(self, text: str, markers: Sequence[int]) -> Appeals | None:
        """Those of a sentence that cites these items; None where they are not looked for."""
        if self.asked is None:
            return None
        cited = {s.source.visibility.collection for n in markers for s in self.by_index[n].evidence.records}
        return Appeals(find_appeals(text), asked_of(self.asked, text), tuple(sorted(cited)))


def best_quote(sentence: str, item: AdmittedItem, asked: str | None = None, *, lined: bool = False) -> Quote:
    """The words of the stored record that best carry `sentence`: an exact slice of it, of one to three adjoining
    sentences, whole rows and cells for observations, the statement for a computed item. With the kinds of appeal that
    were `asked` for, no sentence adjoins that makes another. `lined`: each line that stands alone is a sentence."""
    if item.evidence.computed is not None:
        return Quote(item.index, item.statement or "", None)
    record = item.evidence.first.record
    if record.kind is not RecordKind.PASSAGE or record.statement is not None:
        span = Span(0, min(len(item.text), _MAX_QUOTE_CHARS))
    else:
        span = _best_span(sentence, item.text, asked, lined)
    redacted = tuple(
        replace(r, start=max(r.start, span.start) - span.start, end=min(r.end, span.end) - span.start)
        for r in item.redacted
        if r.start < span.end and r.end > span.start
    )
    return Quote(item.index, item.text[span.start : span.end], _moved(item, span), redacted)


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    opens_line: bool
    line_numbers: tuple[int, ...]


def _pieces(text: str) -> Iterator[_Piece]:
    written = 0
    for span in split_sentences(text):
        body = text[span.start : span.end]
        opens = span.start == 0 or "\n" in text[written : span.start]
        lead = _OPENS_LINE.match(body) if opens else None
        yield _Piece(body, opens, _numbers_in(lead[1]) if lead else ())
        written = trimmed(text, span).end


def _without_markers(text: str) -> MarkedSentence:
    numbers: list[int] = []
    for _ in range(_DEEPEST):
        if not MARKER.search(text):
            break
        numbers += _numbers_in(text)
        text = _EMPTY_BRACKETS.sub("", _MARKS.sub("", text))
    else:
        text = text.translate(_NO_BRACKETS)
    return MarkedSentence(" ".join(text.split()), tuple(dict.fromkeys(numbers)))


def _numbers_in(text: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for marker in MARKER.finditer(text):
        for first, last in _NUMBERS.findall(marker[0].split("†")[0]):
            low, high = int(first), int(last or first)
            numbers += range(low, high + 1) if 0 <= high - low <= _MAX_RANGE else (low, high)
    return tuple(dict.fromkeys(numbers))


def _sentence(i: int, marked: MarkedSentence, checks: _Checks) -> Sentence:
    by_index = checks.by_index
    sentence = Sentence(
        i=i,
        text=marked.text,
        markers=tuple(n for n in marked.numbers if n in by_index),
        unknown_markers=tuple(n for n in marked.numbers if n not in by_index),
        catalogue=None if marked.numbers else phrase_id(marked.text),
        findings=tuple(checks.find(marked.text)),
    )
    if checks.sources is not None:
        sentence = check_sentence(sentence, checks.sources)
    lined = checks.sources is not None
    quotes = tuple(
        best_quote(checks.said(sentence, n), by_index[n], checks.asked, lined=lined) for n in sentence.markers
    )
    if sentence.claims and not sentence.holds:
        support = 0  # whatever words it shares
    else:
        least = BORNE_OUT_MILLI if sentence.claims else 0
        support = max(least, _support(marked.text, [by_index[n] for n in sentence.markers], quotes))
    appeals = checks.appeals(sentence.text, sentence.markers)
    return replace(sentence, appeals=appeals, quotes=quotes, support_milli=support)


def _support(sentence: str, items: Sequence[AdmittedItem], quotes: Sequence[Quote]) -> int:
    stated = [f"{quote.text}\n{item.statement or ''}" for item, quote in zip(items, quotes, strict=True)]
    whole = [_whole(item) for item in items]
    return support_milli(sentence, stated, whole)


def _whole(item: AdmittedItem) -> str:
    first = item.evidence.first
    text = "" if item.evidence.computed is not None else item.text
    return "\n".join((first.source.title, first.record.heading or "", item.statement or "", text))


def _best_span(sentence: str, text: str, asked: str | None, lined: bool) -> Span:
    spans = _spans_of(text, lined)
    if not spans:
        return Span(0, len(text))
    wanted = words_of(sentence)
    hits = [_hits(wanted, words_of(said)) for _, said in spans]
    best = max(range(len(spans)), key=lambda i: (len(hits[i]), -i))
    first = last = best
    held = hits[best]
    for _ in range(_QUOTE_SENTENCES - 1):
        gains = [(len(hits[i] - held), -i) for i in (first - 1, last + 1) if 0 <= i < len(spans)]
        gain, where = max(gains, default=(0, 0))
        if gain < 2 or (asked is not None and not _adjoins(spans[-where][1], asked)):
            break
        first, last, held = min(first, -where), max(last, -where), held | hits[-where]
    return Span(spans[first][0].start, spans[last][0].end)


@lru_cache(maxsize=512)
def _spans_of(text: str, lined: bool) -> tuple[tuple[Span, str], ...]:
    """The sentences of a passage, each with its words as they stand."""
    spans = (trimmed(text, span) for span in split_sentences(text, lined=lined))
    return tuple((span, text[span.start : span.end]) for span in spans)


def _adjoins(said: str, asked: str) -> bool:
    return set(find_appeals(said)) <= set(asked_of(asked, said))


def _hits(wanted: WordSets, said: WordSets) -> frozenset[str]:
    return held_of(said.content, wanted.content) | (wanted.numbers & said.numbers)


def _moved(item: AdmittedItem, span: Span) -> Locator:
    """The record's locator narrowed to a span of its text. Bytes are counted in the stored text, which redaction
    blocks do not share."""
    record = item.evidence.first.record
    start_byte = record.locator.start_byte + len(record.text[: span.start].encode("utf-8"))
    return replace(
        record.locator,
        start_char=record.locator.start_char + span.start,
        end_char=record.locator.start_char + span.end,
        start_byte=start_byte,
        end_byte=start_byte + len(record.text[span.start : span.end].encode("utf-8")),
    )
