"""Numbers as they are written: value, precision, bound, and whether they say a year."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from ai.answer.claims.lexicon import APPROXIMATELY, MULTIPLES, NUMBERS, SCALES, bound_of

Bound = Literal["exact", "about", "over", "under", "just over", "just under", "least", "most"]

_NUMBER = re.compile(
    r"(?P<sign>(?<!\w)[+\-−–])?(?<![\w.,])(?P<digits>\d{1,3}(?:[,\u00a0\u202f ]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<ordinal>st|nd|rd|th)?(?P<decade>s\b)?(?P<percent>\s*(?:%|per ?cent\b))?(?![\w]|[.,]\d)"
    r"(?:[\s-]+(?P<scale>hundred|thousand|million|billion)s?\b)?"
    r"|(?<![\w.,])(?P<short>\d+(?:\.\d+)?)(?P<suffix>k|m|bn)\b"
    r"|\b(?P<words>(?:" + "|".join((*NUMBERS, *(s for s in SCALES if len(s) > 2))) + r")"
    r"(?:(?:[\s-]+and)?[\s-]+(?:" + "|".join((*NUMBERS, *(s for s in SCALES if len(s) > 2))) + r"))*)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_FIRST_YEAR, _AFTER_YEARS = 1000, 2200
_MOST_WRITTEN_STEP = Decimal("0.5")
_NEAR = Decimal("0.3")
_CLOSE = Decimal("0.025")
_FAIRLY = Decimal("0.1")


@dataclass(frozen=True, slots=True)
class Number:
    """A written number. `step` is half of the last written place where it is rounded, else 0; `share` marks per cent.
    `plain` has neither separator, sign nor scale, so that it may be a year."""

    start: int
    end: int
    text: str
    value: Decimal
    step: Decimal
    bound: Bound
    share: bool = False
    signed: bool = False
    plain: bool = False
    ordinal: bool = False
    spelt: bool = False

    @property
    def may_be_year(self) -> bool:
        """True if it reads like a year of our time."""
        return self.plain and _FIRST_YEAR <= self.value < _AFTER_YEARS and self.value == int(self.value)

    def agrees(self, fact: Decimal) -> bool:
        """True if the fact lies within what is written."""
        gap = self.value - fact
        coarsest = _first_place(fact) / 2
        step = min(self.step, coarsest)
        if self.bound == "exact":
            if not gap or abs(gap) > max(step, _MOST_WRITTEN_STEP):
                return not gap
            return abs(gap) <= max(step, _written_step(self.value, fact))
        last = self._last_place()
        if self.bound == "about":
            return abs(gap) <= max(step, min(last / 2, abs(fact) * _FAIRLY, coarsest))
        above = self.bound in ("over", "just over", "least")
        short = -gap if above else gap
        if self.bound in ("least", "most"):
            return 0 <= short <= abs(fact) * _NEAR
        fairly = abs(fact) * _FAIRLY
        if self.bound in ("just over", "just under"):
            return 0 < short <= min(max(last / 2, abs(fact) * _CLOSE), fairly, coarsest)
        return 0 < short <= max(last, fairly)

    def _last_place(self) -> Decimal:
        """The worth of the last digit that is not a zero."""
        if not self.value:
            return Decimal(0)
        exponent = self.value.normalize().as_tuple().exponent
        return Decimal(1).scaleb(int(exponent)) if isinstance(exponent, int) else Decimal(0)


def _first_place(value: Decimal) -> Decimal:
    """The worth of the first digit: `1 thousand` is 950 rounded, not 900."""
    return Decimal(1).scaleb(value.adjusted()) if value else Decimal(0)


def _written_step(value: Decimal, fact: Decimal) -> Decimal:
    """Half of the last written place where the fact has more decimals than are written, else 0."""
    decimals, written = (-e if isinstance(e := d.as_tuple().exponent, int) else 0 for d in (fact, value))
    return Decimal(5).scaleb(-written - 1) if 0 <= written < decimals else Decimal(0)


@lru_cache(maxsize=4096)
def read_numbers(text: str) -> tuple[Number, ...]:
    """The numbers of a text in order. `one` alone is a pronoun more often than a number and is left out."""
    found = [_number(text, match) for match in _NUMBER.finditer(text)]
    return tuple(each for each in found if each is not None)


def multiples(text: str) -> tuple[str, ...]:
    """Words that multiply: `twice`, `half`, `tenfold`."""
    return tuple(word for word in _WORD.findall(text.casefold()) if word in MULTIPLES or word.endswith("fold"))


def _number(text: str, match: re.Match[str]) -> Number | None:
    bound = _bound_before(text, match.start())
    if match["words"]:
        words = [w for w in re.split(r"[\s-]+", match["words"].casefold()) if w != "and"]
        if words == ["one"] or words[0] in SCALES:
            return None
        spelt = Decimal(_spelt(words))
        return Number(match.start(), match.end(), match[0], spelt, Decimal(0), bound, spelt=True)
    digits = match["digits"] or match["short"]
    written = Decimal(re.sub(r"[^\d.]", "", digits))
    scale = (match["scale"] or match["suffix"] or "").casefold()
    factor = Decimal(SCALES.get(scale, 1))
    exponent = written.as_tuple().exponent
    step = factor * Decimal(5).scaleb((exponent if isinstance(exponent, int) else 0) - 1) if factor > 1 else Decimal(0)
    if match["decade"]:
        step = Decimal(0)
    plain = digits.isdigit() and not (match["sign"] or scale or match["percent"] or match["ordinal"])
    sign = match["sign"] or ""
    value = written * factor * (-1 if sign and sign != "+" else 1)
    return Number(
        match.start(), match.end(), match[0], value, step, bound,
        share=bool(match["percent"]), signed=bool(sign), plain=plain, ordinal=bool(match["ordinal"]),
    )  # fmt: skip


def _spelt(words: list[str]) -> int:
    total = part = 0
    for word in words:
        if word in NUMBERS:
            part += NUMBERS[word]
        elif word == "hundred":
            part = (part or 1) * 100
        else:
            total, part = total + (part or 1) * SCALES[word], 0
    return total + part


def _bound_before(text: str, at: int) -> Bound:
    before = tuple(_WORD.findall(text[max(0, at - 40) : at].casefold()))
    found = bound_of(before)
    if found is not None:
        return found[1]  # type: ignore[return-value]
    return "about" if before and before[-1] in APPROXIMATELY else "exact"
