"""Words that not everyone may read, found by their form: personal data, and coordinates.

Kept in one place, because what is withheld from a reader must not be found by a search either: the indexes hold texts
with these words blanked, and no slice of a document is cut inside them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])")
_DIGITS = re.compile(r"[0-9](?:[^0-9]{0,6}[0-9]){6}")
_SSN = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\d-])")
_PHONE = re.compile(
    r"(?<![\d.$€£-])(?:\+\d{1,3}[\s.-]?(?:\(\d{1,4}\)[\s.-]?)?\d{2,4}(?:[\s.-]?\d{2,4}){1,3}"
    r"|\(\d{3}\)\s?[2-9]\d{2}[\s.-]\d{4}|[2-9]\d{2}([.-])[2-9]\d{2}\1\d{4})(?![\d-]|\.\d)"
)
_CARD = re.compile(
    r"(?<![\d.-])(?:[3-6]\d|2[2-7])\d\d(?:[ -]?\d{4}[ -]?\d{4}[ -]?\d{1,7}|[ -]\d{6}[ -]\d{5})(?![\d-]|\.\d)"
)
_GROUP = re.compile(r"\d+")
_GAP = re.compile(r"[ \r\n]{1,4}|[.,'/_|]|[ \r\n]{0,4}[-*|] ?")
_ISSUED = re.compile(
    r"4(?:\d{15}|\d{18})|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"
    r"|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11,16}|(?:352[89]|35[3-8]\d|6\d{3})\d{12,15}"
)
"""The numbers that cards have, by how they begin: ISO/IEC 7812-1."""
_MOST_GROUPS = 21
_MONEY = re.compile(r"\$ ?\d{1,3}(?:[.,' ]\d{3}){1,4}(?!\d)|\d{1,3}(?:[.,' ]\d{3}){1,4}(?:[.,]\d\d)? ?\$")
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


class _Plain(dict[int, str]):
    """Characters as ASCII writes them, one for one, so that offsets hold: digits of any script, full-width forms,
    blanks and what is not shown, dashes, apostrophes and the signs of currencies (as dollars)."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plain = unicodedata.normalize("NFKC", char) if unicodedata.east_asian_width(char) == "F" else char
        match unicodedata.category(plain[0]):
            case "Nd":
                plain = str(unicodedata.decimal(plain))
            case "Zl" | "Zp":
                plain = "\n"
            case "Zs" | "Cf":
                plain = " "
            case "Pd":
                plain = "-"
            case "Sc":
                plain = "$"
        self[code] = plain if len(plain) == 1 else char
        return self[code]


_PLAIN = _Plain({ord(char): "-" for char in "\u2212\u2043"} | {ord(char): "'" for char in "\u2018\u2019\u02bc\u2032"})
_PLAIN |= {ord(char): "." for char in "\u00b7\u2022\u2219\u30fb"}


@lru_cache(maxsize=16_384)  # the same passages are found again and again
def personal_data(text: str) -> tuple[Span, ...]:
    """Personal data in `text` by position: `pii.email, pii.phone, pii.ssn, pii.card` (Luhn), `pii.iban` (mod 97).

    Patterns, no guesses: names and addresses are the business of labels and handling tags. Never raises on any `str`.
    """
    found: list[Span] = []
    text = text if text.isascii() else text.translate(_PLAIN)
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
    for start, end in _grouped_cards(text):
        yield Span("pii.card", start, end)
    for match in _PHONE.finditer(text):
        if 7 <= sum(char.isdigit() for char in match.group()) <= 15:
            yield Span("pii.phone", *match.span())


def _grouped_cards(text: str) -> Iterator[tuple[int, int]]:
    """Cards whose digits stand in groups of any size, the same characters between all of them."""
    groups = [match.span() for match in _GROUP.finditer(text)]
    at = 0
    for gap, same in groupby(text[end:start] for (_, end), (start, _) in pairwise(groups)):
        first, at = at, at + sum(1 for _ in same)
        run = groups[first : at + 1]
        if len(run) > _MOST_GROUPS or not _GAP.fullmatch(gap):
            continue
        for part in (run, *(each for each in (run[1:], run[:-1]) if _is_even(each))):
            number = "".join(text[start:end] for start, end in part)
            if _ISSUED.fullmatch(number) and _passes_luhn(number) and not _is_money(text, part[0][0], part[-1][1]):
                yield part[0][0], part[-1][1]
                break


def _is_even(groups: Sequence[tuple[int, int]]) -> bool:
    """True if groups are as long as each other, and one at an end no longer."""
    sizes = [end - start for start, end in groups]
    return any(len(set(rest)) == 1 and end <= rest[0] for rest, end in ((sizes[1:], sizes[0]), (sizes[:-1], sizes[-1])))


def _is_money(text: str, start: int, end: int) -> bool:
    """True of an amount in thousands with the sign of a currency; none is as long as most cards."""
    return any(_MONEY.match(text, at) for at in range(max(0, start - 2), start + 1))


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
