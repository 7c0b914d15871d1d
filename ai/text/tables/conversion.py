"""Units of numbers in a question, held against those in which a figure is recorded. The same unit compares, another one
of the same kind is converted where nobody disagrees on what it is, and nothing else compares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from ai.text.tables.units import units_called
from retrieval.algebra.units import METRES, SQUARE_KILOMETRES

_Name = tuple[str, str]
"""A kind of unit, and the unit."""
_SIZES: Mapping[_Name, Decimal] = {
    (kind, name): Decimal(size)
    for kind, sizes in {
        "length": METRES,
        "mass": {"mg": "0.000001", "g": "0.001", "kg": "1", "t": "1000"},
        "volume": {"ml": "0.001", "cl": "0.01", "l": "1", "m³": "1000"},
        "time": {"s": "1", "min": "60", "h": "3600"},
        "area": SQUARE_KILOMETRES,
    }.items()
    for name, size in sizes.items()
}
"""How large a unit is beside the others of its kind. Gallons and pints are of two lands, pounds and ounces of several
crafts: of these only the same compares."""
_UNSURE = frozenset(("ton", "tons"))
"""Names under which there are several units."""
_OTHERS: Mapping[str, _Name] = {
    word: (kind, name)
    for kind, name, said in (
        ("ratio", "%", "%|percent|per cent|pct"),
        ("volume", "m³", "m³|cubic m"),
        ("speed", "km/h", "km/h|kmh|kph"),
        ("speed", "mph", "mph"),
    )
    for word in said.split("|")
}
_SQUARE = re.compile(r"(?:square|sq\.?) (.+)|(.+?)[²2]")
_CUBIC = re.compile(r"cubic (.+)|(.+?)[³3]")
_DEGREES = re.compile(r"(?:degrees?|deg|°) ?(.*)")
_SCALES: Mapping[str, int] = {
    word: scale
    for scale, said in ((1_000, "thousand thousands 000 000s 1000"), (1_000_000, "million millions"))
    for word in said.split()
}
_TOKEN = re.compile(r"[^\W_]+|[^\w\s'’.,()]")


@dataclass(frozen=True, slots=True)
class _Unit:
    """A unit by its words, with all that it may be and how many of them one figure counts."""

    words: str
    names: frozenset[_Name]
    count: Decimal
    sure: bool = True


def is_unit(said: str) -> bool:
    """True for words that are a unit by themselves, in whatever spelling."""
    unit = _unit(said)
    return bool(unit.names) and unit.count == 1


def is_currency(said: str) -> bool:
    """True for the sign or the code of a currency, which may stand before a number."""
    return len(said) in (1, 3) and any(kind == "money" for kind, _ in units_called(said.casefold()))


def factor(said: str, recorded: str) -> Decimal | None:
    """By which a number in the unit `said` becomes one in the unit of a figure; None where that is not certain, and
    where no unit is said and figures are of thousands. Words that are no unit are what is counted."""
    one, other = _unit(said), _unit(recorded)
    if not one.words:
        return Decimal(1) if other.count == 1 else None
    if one.words == other.words:
        return one.count / other.count
    if one.names & other.names or not one.names:
        return one.count / other.count
    sizes = {_SIZES[a] / _SIZES[b] for a in one.names for b in other.names if a[0] == b[0] and {a, b} <= _SIZES.keys()}
    return sizes.pop() * one.count / other.count if len(sizes) == 1 and one.sure and other.sure else None


@lru_cache(maxsize=2048)
def _unit(text: str) -> _Unit:
    count, kept = 1, list[str]()
    for token in _TOKEN.findall(text.casefold().replace("_", " ")):
        if token in _SCALES and not {"per", "/"} & set(kept):
            count *= _SCALES[token]
        else:
            kept.append(token)
    words = " ".join(kept).replace(" / ", "/").replace("° ", "°")
    return _Unit(words, _called(words), Decimal(count), words not in _UNSURE)


def _called(words: str) -> frozenset[_Name]:
    """All that the words may be as a unit."""
    if words in _OTHERS:
        return frozenset({_OTHERS[words]})
    if square := _SQUARE.fullmatch(words):
        one = square[1] or square[2]
        return frozenset(("area", f"{name}²") for kind, name in units_called(one) if kind == "length")
    if cubic := _CUBIC.fullmatch(words):
        one = cubic[1] or cubic[2]
        return frozenset(("volume", f"{name}³") for kind, name in units_called(one) if kind == "length")
    if degrees := _DEGREES.fullmatch(words):
        scales = [degrees[1]] if degrees[1] else ["c", "f"]
        return frozenset(name for scale in scales for name in units_called(scale) if name[0] == "heat")
    return units_called(words)
