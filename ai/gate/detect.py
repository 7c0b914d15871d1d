"""The detector that questions, map strings and passages share: which rules see something, and where.

A clean text costs one split into words and a few set operations: a rule is only tried when one of its words occurs
(plain, under ROT13, backwards, with digits for letters, spaced out, run together, or in a decoded base64 or
hexadecimal run).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ai.gate.errors import WorkLimitExceeded
from ai.gate.linear import Work, as_given
from ai.gate.model import CLEAN_SCAN, UNREAD_SCAN, ClassScore, InjectionScan
from ai.gate.normalise import View, fold, hidden_text, joined, latin, reversed_view, rot13, unleet, unleet_word
from ai.gate.reading import Subject
from ai.gate.rules import Place, Reading, Rule, Ruleset, Source, Unless, places_of
from ai.text.markdown import without_languages

_SIGNS = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalnum() and chr(code) not in "@$"})
_LONG_WORD_CHARS = 18  # no English word; words run together, or an encoding
_CODE_WORD_CHARS = 8  # letters and digits mixed, between the slashes and plus signs of an encoding
_LONG_WORD = re.compile(rf"[^\W_]{{{_LONG_WORD_CHARS},400}}")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0134579@$")
_SPACED_LETTERS = 4  # so many different ones alone
_BEFORE = frozenset(".!?:;,\"')] \t\r\n")  # ends of the sentence before, which a pattern may have needed to see
_WORDS_SOUGHT = 4  # finding every word of every rule in a text costs about as much as so many patterns
_HITS_PER_RULE = 4  # more of the same says nothing new
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,4000}={0,2}")
_HEX = re.compile(r"(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}){12,2000}")


@dataclass(frozen=True, slots=True)
class Hit:
    """One match of one rule, as a half-open span of the text as given."""

    rule: Rule
    start: int
    end: int


def find_hits(text: str, *, rules: Ruleset, place: Place, work: Work) -> tuple[Hit, ...]:
    """Every match of every rule that is meant for `place`, by position, then by rule. Raises WorkLimitExceeded."""
    return tuple(sorted(set(_all_hits(text, rules, place, work)), key=lambda hit: (hit.start, hit.end, hit.rule.id)))


def scan_text(text: str, *, rules: Ruleset) -> InjectionScan:
    """How much a passage reads like instructions to a model; a passage that takes too much work reads wholly like them.
    `bash` behind a fence is no order to run one. Deterministic; never raises on any `str`."""
    try:
        hits = find_hits(
            without_languages(text), rules=rules, place=Place.PASSAGE, work=Work(rules.thresholds.max_work)
        )
    except WorkLimitExceeded:
        return UNREAD_SCAN
    if not hits:
        return CLEAN_SCAN
    classes = [score for score in class_scores(hits) if is_attack(score.name)]
    return InjectionScan(
        combine(score.score_milli for score in classes), tuple(sorted({r for c in classes for r in c.rules}))
    )


def class_scores(hits: Sequence[Hit]) -> tuple[ClassScore, ...]:
    """The hits by class, by name; a rule counts at most four times."""
    by_class: dict[str, dict[Rule, int]] = {}
    for hit in hits:
        counts = by_class.setdefault(hit.rule.name, {})
        counts[hit.rule] = min(counts.get(hit.rule, 0) + 1, _HITS_PER_RULE)
    return tuple(
        ClassScore(
            name=name,
            score_milli=combine(rule.score_milli for rule, count in counts.items() for _ in range(count)),
            rules=tuple(sorted(rule.id for rule in counts)),
        )
        for name, counts in sorted(by_class.items())
    )


def combine(scores_milli: Iterable[int]) -> int:
    """Independent signals in thousandths as one: 1 - product(1 - score), in integers."""
    clean = 1_000_000
    for score in scores_milli:
        clean = clean * (1000 - score) // 1000
    return 1000 - -(-clean // 1000)


def is_attack(name: str) -> bool:
    """True if a class is an attack (injection, unsafe) and not a matter of tone."""
    return name.startswith(("injection.", "unsafe."))


def _all_hits(text: str, rules: Ruleset, place: Place, work: Work) -> Iterator[Hit]:
    """Hits in what a reader sees: lookalikes, digits for letters, ROT13, backwards, spaced letters undone."""
    work.spend(len(text))
    folded = fold(text)
    words = _words(folded)
    yield from _woken_hits(folded, words, rules, place, work)
    if not folded.text.isascii():
        yield from _substring_hits(folded, rules, place, work)
        plain = latin(folded)
        if plain.text != folded.text:
            folded = plain
            words = _words(folded)
            yield from _woken_hits(folded, words, rules, place, work)
    if folded.origin is not None:
        yield from _hidden_hits(text, rules, place, work)
    longest = len(max(words, key=len, default=""))
    if longest >= _LONG_WORD_CHARS:
        yield from _loose_hits(_long_words(folded), rules, place, work)
        yield from _encoded_hits(text, rules, place, work)
    if not "".join(words).isalpha():
        mixed = [word for word in words if not word.isalpha() and not word.isdigit()]
        yield from _leet_hits(folded, mixed, rules, place, work)
        if longest < _LONG_WORD_CHARS and any(len(word) >= _CODE_WORD_CHARS for word in mixed):
            yield from _encoded_hits(text, rules, place, work)
    if len(words & _LETTERS) >= _SPACED_LETTERS:
        yield from _loose_hits(joined(folded), rules, place, work)


def _words(view: View) -> set[str]:
    return set(view.text.translate(_SIGNS).split())


def _woken_hits(view: View, words: set[str], rules: Ruleset, place: Place, work: Work) -> Iterator[Hit]:
    if rules.wake_words.isdisjoint(words):
        return
    woken: dict[tuple[Reading, str], tuple[Rule, list[str]]] = {}
    for word in words & rules.wake_words:
        for wake in rules.wakes[word]:
            rule = wake.rule
            if place in rule.places and (
                not rule.company or wake.reading is not Reading.PLAIN or not rule.company.isdisjoint(words)
            ):
                woken.setdefault((wake.reading, rule.id), (rule, []))[1].append(wake.word)
    subjects: dict[Reading, Subject | None] = {}
    for (reading, _), (rule, wake_words) in woken.items():
        if reading not in subjects:
            read = _as_read(view, reading)
            subjects[reading] = None if read is None else Subject(read)
        subject = subjects[reading]
        if subject is not None:
            places = {at for word in wake_words for at in places_of(subject.view.text, word)}
            yield from _hits(subject, rule, rule.spans_near(places, subject.spelled, work=work))


def _as_read(view: View, reading: Reading) -> View | None:
    match reading:
        case Reading.PLAIN:
            return view
        case Reading.ROT13:
            return rot13(view)
        case Reading.BACKWARDS:
            return reversed_view(view)


def _hits(subject: Subject, rule: Rule, spans: Iterable[tuple[int, int]]) -> Iterator[Hit]:
    text = subject.view.text
    for begin, last in spans:
        first = next((at for at in range(begin, last) if text[at] not in _BEFORE), last)
        start, end = subject.view.span(first, last)
        if end > start and not _is_excused(rule, subject, first, last):
            yield Hit(rule, start, end)


def _is_excused(rule: Rule, subject: Subject, start: int, end: int) -> bool:
    """True if the words are only quoted or spoken of (curly quotation marks are folded to straight ones)."""
    if rule.unless is Unless.NEVER or not subject.is_quoted(start, end):
        return False
    return rule.unless is Unless.QUOTED or subject.speaks_of_words_before(start)


def _leet_hits(folded: View, mixed: Iterable[str], rules: Ruleset, place: Place, work: Work) -> Iterator[Hit]:
    read = {reading for word in mixed for reading in unleet_word(word)}
    if not rules.wake_words.isdisjoint(read):
        for view in unleet(folded):
            yield from _woken_hits(view, _words(view), rules, place, work)


def _substring_hits(folded: View, rules: Ruleset, place: Place, work: Work) -> Iterator[Hit]:
    subject = Subject(folded)
    for rule in rules.rules:
        if rule.substrings and place in rule.places and any(part in folded.text for part in rule.substrings):
            yield from _hits(subject, rule, rule.spans(subject.spelled, work=work))


def _long_words(folded: View) -> View:
    """Only the words that are too long to be words, one per line."""
    chars: list[str] = []
    origin: list[int] = []
    for match in _LONG_WORD.finditer(folded.text):
        chars.extend((*match.group(), "\n"))
        origin.extend((*range(match.start(), match.end()), match.end() - 1))
    if folded.origin is not None:
        origin = [folded.origin[at] for at in origin]
    return View("".join(chars), tuple(origin))


def _loose_hits(view: View, rules: Ruleset, place: Place, work: Work) -> Iterator[Hit]:
    """Hits in text that has lost its word ends; not of masks, whose words would be found inside others."""
    if not view.text:
        return
    work.spend(_WORDS_SOUGHT * len(view.text))
    subject = Subject(view)
    for rule in rules.of_source(Source.TEXT):
        if place in rule.places and not rule.mask and any(word in view.text for word in rule.words):
            yield from _hits(subject, rule, rule.spans(subject.spelled, work=work, loose=True))


def _hidden_hits(text: str, rules: Ruleset, place: Place, work: Work) -> Iterator[Hit]:
    given = as_given(text)
    for rule in (rule for rule in rules.of_source(Source.RAW) if place in rule.places):
        for span in rule.spans(given, work=work):
            yield Hit(rule, *span)
    hidden = hidden_text(text)
    if hidden.text:
        yield from _woken_hits(hidden, _words(hidden), rules, place, work)


def _encoded_hits(text: str, rules: Ruleset, place: Place, work: Work) -> Iterator[Hit]:
    """Hits of the rules for encodings: a base64 or hexadecimal run whose content is itself an attack."""
    decoders = rules.of_source(Source.DECODED)
    for start, end, hidden in _decoded_runs(text):
        if any(is_attack(hit.rule.name) for hit in _all_hits(hidden, rules, place, work)):
            yield from (Hit(rule, start, end) for rule in decoders if place in rule.places)


def _decoded_runs(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _BASE64.finditer(text):
        run = match.group().rstrip("=").replace("-", "+").replace("_", "/")
        run = run[: len(run) - (len(run) % 4 == 1)]
        yield from _readable(match, base64.b64decode(run + "=" * (-len(run) % 4)))
    for match in _HEX.finditer(text):
        try:
            yield from _readable(match, bytes.fromhex(match.group()))
        except (ValueError, binascii.Error):
            continue


def _readable(match: re.Match[str], content: bytes) -> Iterator[tuple[int, int, str]]:
    hidden = content.decode("utf-8", "replace")
    if sum(char.isprintable() and char != "�" for char in hidden) >= 0.9 * len(hidden):
        yield match.start(), match.end(), hidden
