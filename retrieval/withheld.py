"""Words that not everyone may read, found by their form: personal data, and coordinates.

Kept in one place, because what is withheld from a reader must not be found by a search either: the indexes hold texts
with these words blanked, and no slice of a document is cut inside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])")
_DIGITS = re.compile(r"[0-9][0-9().\-\s]{6,}[0-9]")
_SSN = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\d-])")
_PHONE = re.compile(
    r"(?<![\d.$€£-])(?:\+\d{1,3}[\s.-]?(?:\(\d{1,4}\)[\s.-]?)?\d{2,4}(?:[\s.-]?\d{2,4}){1,3}"
    r"|\(\d{3}\)\s?[2-9]\d{2}[\s.-]\d{4}|[2-9]\d{2}([.-])[2-9]\d{2}\1\d{4})(?![\d-]|\.\d)"
)
_CARD = re.compile(r"(?<![\d.-])[3-6]\d{3}(?:([ -]?)\d{4}\1\d{4}\1\d{1,7}|[ -]\d{6}[ -]\d{5})(?![\d-]|\.\d)")
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")
_IBAN_START = re.compile(r"[0-9]{2} ?[A-Z0-9]{4}")
BLOCK = "█"
"""Stands for one withheld character, so that offsets hold."""
_MOST_DEGREES = 180
COORDINATE = re.compile(r"[-+]?\d{1,3}\.\d+")
_REACH = 1_000
"""Characters on either side of a slice in which a word may begin or end that it cuts."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of a text, end exclusive, and what they are."""

    kind: str
    start: int
    end: int


@lru_cache(maxsize=16_384)  # the same passages are found again and again
def personal_data(text: str) -> tuple[Span, ...]:
    """Personal data in `text` by position: `pii.email, pii.phone, pii.ssn, pii.card` (Luhn), `pii.iban` (mod 97).

    Patterns, no guesses: names and addresses are the business of labels and handling tags. Never raises on any `str`.
    """
    found: list[Span] = []
    if "@" in text:
        found.extend(Span("pii.email", *match.span()) for match in _EMAIL.finditer(text))
    if _DIGITS.search(text):
        found.extend(_numbers(text))
    if _IBAN_START.search(text):
        found.extend(Span("pii.iban", *match.span()) for match in _IBAN.finditer(text) if _is_iban(match.group()))
    return _without_overlap(found)


def coordinates(text: str, *, decimals: int = 0) -> tuple[Span, ...]:
    """Numbers that may be degrees, with more places than `decimals`."""
    return tuple(
        Span("precise_location", *match.span())
        for match in COORDINATE.finditer(text)
        if len(match[0].partition(".")[2]) > decimals and abs(float(match[0])) <= _MOST_DEGREES
    )


def searchable(text: str, *, places: bool) -> str:
    """The text with blanks for what a search must not find, of the same length; `places`: coordinates too."""
    return _marked(text, (*personal_data(text), *(coordinates(text) if places else ())), " ")


def blocked(text: str) -> str:
    """The text with a block for each character of personal data."""
    return _marked(text, personal_data(text), BLOCK)


def _marked(text: str, spans: Sequence[Span], mark: str) -> str:
    if not spans:
        return text
    chars = list(text)
    for span in spans:
        chars[span.start : span.end] = mark * (span.end - span.start)
    return "".join(chars)


def whole_words(text: str, start: int, end: int, *, places: bool) -> tuple[int, int]:
    """The slice widened to the ends of what it would cut: a part of a number is not known for one."""
    base = max(0, start - _REACH)
    near = text[base : end + _REACH]
    low, high = start, end
    for span in (*personal_data(near), *(coordinates(near) if places else ())):
        first, last = base + span.start, base + span.end
        if first < start < last:
            low = min(low, first)
        if first < end < last:
            high = max(high, last)
    return low, high


def _numbers(text: str) -> Iterator[Span]:
    for match in _SSN.finditer(text):
        yield Span("pii.ssn", *match.span())
    for match in _CARD.finditer(text):
        if _passes_luhn(match.group()):
            yield Span("pii.card", *match.span())
    for match in _PHONE.finditer(text):
        if 7 <= sum(char.isdigit() for char in match.group()) <= 15:
            yield Span("pii.phone", *match.span())


def _passes_luhn(number: str) -> bool:
    """ISO/IEC 7812-1 annex B over the digits; 13 to 19 of them."""
    digits = [int(char) for char in number if char.isdigit()]
    if not 13 <= len(digits) <= 19:
        return False
    doubled = [digit if at % 2 == 0 else digit * 2 - 9 * (digit > 4) for at, digit in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def _is_iban(text: str) -> bool:
    """ISO 13616 / ISO 7064 MOD 97-10."""
    compact = text.replace(" ", "")
    return 15 <= len(compact) <= 34 and int("".join(str(int(char, 36)) for char in compact[4:] + compact[:4])) % 97 == 1


def _without_overlap(found: list[Span]) -> tuple[Span, ...]:
    """By position; of two that overlap the one that starts first, then the longer one."""
    kept: list[Span] = []
    for finding in sorted(found, key=lambda span: (span.start, -span.end, span.kind)):
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
    return tuple(kept)
