"""Units and currencies that a question names and a row states otherwise: 90 inches are not 90 cm."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ai.text.tables.words import Cells, said_by, words_of
from retrieval.english.lists import word_list

_SPELT: Mapping[str, str] = {
    "money": "usd $ dollar dollars | cad $ dollar dollars | aud $ dollar dollars | nzd $ dollar dollars | sgd $ dollar "
    "dollars | hkd $ dollar dollars | eur € euro euros | gbp £ pound pounds sterling quid pence penny | jpy ¥ yen "
    "| cny ¥ yuan renminbi rmb | chf franc francs | inr ₹ rupee rupees | sek krona kronor | nok krone kroner "
    "| dkk krone kroner | pln zloty zlotys | rub rouble roubles ruble rubles | ils shekel shekels | mxn peso pesos "
    "| brl reais | try lira liras | crown crowns | florin florins | guilder guilders",
    "length": "mm millimetre millimetres millimeter millimeters | cm centimetre centimetres centimeter centimeters "
    "| m metre metres meter meters | km kilometre kilometres kilometer kilometers | inch inches | ft foot feet "
    "| yd yard yards | mi mile miles",
    "mass": "mg milligram milligrams | g gram grams gramme grammes | kg kilogram kilograms kilo kilos | t tonne tonnes "
    "ton tons | lb lbs pound pounds | oz ounce ounces | st stone stones",
    "volume": "ml millilitre millilitres milliliter milliliters | cl centilitre centilitres | l litre litres liter "
    "liters | gal gallon gallons | pt pint pints",
    "time": "s sec secs second seconds | min mins minute minutes | h hr hrs hour hours hourly | day days daily "
    "| night nights nightly | week weeks weekly | mo month months monthly | yr yrs year years yearly annual",
    "heat": "c °c celsius centigrade | f °f fahrenheit | k kelvin",
    "area": "ha hectare hectares | ac acre acres",
}
"""Each unit with its other names, the first of which is what it is known by here."""
_Unit = tuple[str, str]
_UNITS: dict[str, frozenset[_Unit]] = {}
for _kind, _families in _SPELT.items():
    for _family in _families.split("|"):
        for _word in _family.split():
            _UNITS[_word] = _UNITS.get(_word, frozenset()) | {(_kind, _family.split()[0])}
_MEANS_ELSE = word_list("try stone second night day daily")
_IN_QUESTIONS = frozenset(word for word in _UNITS if len(word) > 3) | word_list(
    "mm cm km kg mg ml lb oz ft yd mph min mins sec hrs lbs usd eur gbp chf yen"
)
"""Words that are units in a question and a header without a number before them."""
_CODES = frozenset(word for word in _UNITS if word.isalpha() and any(kind == "money" for kind, _ in _UNITS[word]))
_SIGN = r"[$€£¥₹]"
_AMOUNT = re.compile(
    rf"(?P<sign>{_SIGN})?\s?(?P<number>\d[\d,.]*\d|\d)\s?-?\s?(?P<unit>{_SIGN}|°[cf]\b|in(?=\W*$)|[^\W\d_]+|\")?",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"\b(?:in|per|how\s(?:many|much))\s(?:the\s|us\s|british\s|swiss\s)?(?P<unit>{_SIGN}|°[cf]\b|[^\W\d_]+)",
    re.IGNORECASE,
)
_IN_HEADER = re.compile(r"[^\W\d_]+|[$€£¥₹]|°[cf]", re.IGNORECASE)


def other_unit(question: str, row: Cells) -> bool:
    """True if the question names a unit of a number or of its answer, and the row states another of the same kind
    there."""
    return _counts_otherwise(question, row) or any(_states_other(units, question, row) for units in _named(question))


def is_unit(word: str) -> bool:
    """True for a word that is a unit or a currency."""
    return word in _UNITS


def units_called(word: str) -> frozenset[tuple[str, str]]:
    """The units and currencies that a word in lower case may be, each with its kind; none for any other word."""
    return _UNITS.get(word, frozenset())


def _named(question: str) -> Iterator[frozenset[_Unit]]:
    """The units in which an answer is wanted: `in euros`, `how many minutes`, `per hour`."""
    for found in _NAMED.finditer(question):
        word, within = found["unit"].casefold(), found[0].casefold().startswith("in")
        units = _UNITS.get(word, frozenset())
        if within and word in _MEANS_ELSE:
            continue
        if units and (word in _IN_QUESTIONS or not word.isalpha() or not within):
            yield units


def _states_other(units: frozenset[_Unit], question: str, row: Cells) -> bool:
    asked = frozenset(word.root for word in words_of(question) if not is_unit(word.text))
    told = {header: len(asked & said_by(header)) for header in row}
    most = max(told.values(), default=0)
    kinds = {kind for kind, _ in units}
    columns = [header for header in row if told[header] == most]
    for headers in (columns, row if "money" in kinds else ()):
        stated = frozenset(unit for header in headers for unit in _stated(header, row[header]) if unit[0] in kinds)
        if stated:
            return stated.isdisjoint(units)
    return False


def _stated(header: str, value: str) -> frozenset[_Unit]:
    """The units of a cell and of its header."""
    words = [match[0].casefold() for match in _IN_HEADER.finditer(header.replace("_", " "))]
    found = [_UNITS.get(word, frozenset()) for word in words if word in _IN_QUESTIONS or not word.isalpha()]
    if len(words) > 1:
        found.append(_UNITS.get(words[-1], frozenset()))
    found += [_UNITS[word.text] for word in words_of(value) if word.text in _CODES]
    found += [units for _, units in _amounts(value)]
    return frozenset[_Unit]().union(*found)


def _amounts(text: str) -> Iterator[tuple[str, frozenset[_Unit]]]:
    for found in _AMOUNT.finditer(text):
        word = found["sign"] or {'"': "inch", "in": "inch"}.get(found["unit"] or "", (found["unit"] or "").casefold())
        yield found["number"].replace(",", "").removesuffix(".00"), _UNITS.get(word, frozenset())


def _counts_otherwise(question: str, row: Cells) -> bool:
    """True if a number of the question is in the row, in another unit each time: `90 inch`."""
    for number, units in _amounts(question):
        kinds = {kind for kind, _ in units}
        held = [
            stated
            for header, value in row.items()
            for other, own in _amounts(value)
            if other == number and (stated := frozenset(u for u in own or _stated(header, "") if u[0] in kinds))
        ]
        if held and all(stated.isdisjoint(units) for stated in held):
            return True
    return False
