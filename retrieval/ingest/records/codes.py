"""Columns of numbers that name something and measure nothing: accounts, cards, telephones, barcodes.

Nothing is computed of them, and their cells stay text, which is where personal data is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrieval.english.lists import word_list

_CODES = frozenset(
    (
        *("id", "code", "fips", "geoid", "zip", "postcode", "rank", "no", "nr", "number", "index", "iso", "phone"),
        *("year", "column", "unnamed", "lat", "latitude", "lon", "lng", "long", "longitude", "x", "y", "z"),
    )
)
"""Words of headers whose numbers measure nothing, wherever they stand."""
_IDENTIFIERS = word_list("""
    account acct barcode bic card cvc cvv driver ean fax gtin iban imei imsi isbn issn license licence mac mobile
    passport phone pin plate postal reference sku serial ssn swift tel telephone tin upc uuid vin
    """)
"""Words that name something where they are the head of a header, as in `Bank card`; in `Card payments` they are not."""
_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]")
_LAST_PART = re.compile(r"(?:[(\[]|, ).{0,80}$")
"""The end of a header beside its words: a unit, or which one is meant."""
_LONG, _LEAST_DIGITS = 9, 4
_MOSTLY = 0.75


def is_named_as_code(column: str) -> bool:
    """True for the header of numbers that measure nothing: `ID`, `Postcode`, `Bank card`; not of `Number of rooms`."""
    words = _words(column)
    counts = words[1:2] == ["of"] and words[0] in ("number", "no", "nr")
    return not _CODES.isdisjoint(words[2:] if counts else words) or names_something(column)


def names_something(column: str) -> bool:
    """True for a header of which the head is an identifier: `Bank card`, `Account (main)`, `Passport of holder`."""
    words = _words(column)
    heads = {*words[-1:], *_words(_LAST_PART.sub("", column))[-1:]}
    return not _IDENTIFIERS.isdisjoint(heads | (set(words[:1]) if words[1:2] == ["of"] else set()))


def is_code(cell: str) -> bool:
    """True for digits that begin with a nought, which no figure does."""
    return len(cell) > 1 and cell.isdigit() and cell.startswith("0")


def are_codes(column: str, cells: Sequence[str], *, free: bool = True) -> bool:
    """True for a column of numbers that name something, by its header and its cells. `free` is false where a unit, or
    several figures of one thing at several times, say that long numbers of one length measure something."""
    if names_something(column) or any(map(is_code, cells)):
        return True
    if not cells or not all(cell.isascii() and cell.isdigit() for cell in cells):
        return False
    lengths = {len(cell) for cell in cells}
    if min(lengths) >= _LONG and (_mostly_checked(cells) or (free and len(lengths) == 1)):
        return True
    named = not _IDENTIFIERS.isdisjoint(word.removesuffix("s") for word in _words(column))
    return named and len(lengths) == 1 and min(lengths) >= _LEAST_DIGITS


def _words(column: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(column)]


def _mostly_checked(cells: Sequence[str]) -> bool:
    return sum(map(_is_checked, cells)) >= _MOSTLY * len(cells)


def _is_checked(cell: str) -> bool:
    """True for a number whose last digit is that of a card (ISO/IEC 7812), an article (GTIN) or a book (ISBN)."""
    digits = [int(char) for char in reversed(cell)]
    card = sum(d if at % 2 == 0 else d * 2 - 9 * (d > 4) for at, d in enumerate(digits))
    article = sum(d * (3 if at % 2 else 1) for at, d in enumerate(digits))
    book = sum(at * d for at, d in enumerate(digits, start=1))
    return (
        (len(cell) > 12 and card % 10 == 0)
        or (len(cell) in (12, 13, 14) and article % 10 == 0)
        or (len(cell) == 10 and book % 11 == 0)
    )
