"""The amounts that a text states, and the amount that a question asks for: how many of what, how long, how often.

A number answers `how long` only with a unit of time or length, and `how many sailors` only beside the word for what is
counted. So "in 30 days" is no answer to "How much water?", though it holds a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from ai.text.support import fold
from retrieval.english.lists import MONTH_NUMBERS, word_list
from retrieval.english.stems import may_be_many, root_of

TIME, LENGTH, AREA, MASS, VOLUME, HEAT, MONEY, SHARE, LABEL = (
    "time",
    "length",
    "area",
    "mass",
    "volume",
    "heat",
    "money",
    "share",
    "label",
)
_UNITS: Mapping[str, str] = {
    word: dimension
    for dimension, words in {
        TIME: "second seconds minute minutes min mins hour hours h hr hrs day days night nights week weeks fortnight "
        "month months year years decade decades century centuries generation generations",
        LENGTH: "mm cm m km millimetre millimetres centimetre centimetres metre metres meter meters kilometre "
        "kilometres kilometer kilometers mile miles foot feet ft inch inches yard yards",
        AREA: "acre acres hectare hectares ha square",
        MASS: "mg g kg gram grams kilogram kilograms tonne tonnes ton tons lb lbs ounce ounces oz",
        VOLUME: "ml cl l litre litres liter liters gallon gallons pint pints cup cups barrel barrels bushel bushels",
        HEAT: "° °c °f degree degrees kelvin",
        MONEY: "$ £ € dollar dollars cent cents euro euros pound pounds shilling shillings franc francs penny pence "
        "crown crowns krone kroner krona kronor guilder guilders florin florins rupee rupees rouble roubles "
        "ruble rubles yen yuan peso pesos lira liras zloty forint shekel shekels usd eur gbp chf",
        SHARE: "% percent per",
    }.items()
    for word in words.split()
}
_SYMBOLS = frozenset("$£€")
_SPELT = word_list(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand thousands "
    "million millions billion dozen dozens half both no none"
)
_VAGUE = word_list("a an several few many each every per")
"""Before a unit they are a number: `a century`, `several weeks`."""
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|°[cf]?\b|°|[$£€%]|[^\W\d_]+(?:['’][^\W\d_]+)?", re.IGNORECASE)
_BREAK = re.compile(r"[,;:.!?()\[\]\n]")
_JOINED = ("", "-")
"""The separators between the number and the word of `3rd` and of `three-storey`."""
_YEAR = re.compile(r"1[0-9]\d\d|20\d\d")
_SPAN = re.compile(r"\b(?:from|since|until|till|between|before|by)\b[^.;]{0,40}?\b(?:1\d|20)\d\d\b", re.IGNORECASE)
_OFTEN = re.compile(
    r"\b(?:every|each|once|twice|thrice|times|daily|weekly|fortnightly|monthly|quarterly|yearly|annual(?:ly)?|hourly|nightly"
    r"|always|never|seldom|rarely|usually|sometimes|regularly|frequently|(?:a|per) (?:day|week|month|year|decade))\b",
    re.IGNORECASE,
)
_AGED = re.compile(r"\b(?:aged?|old|born)\b", re.IGNORECASE)
_OF_AGE = re.compile(
    r"\b(?:am|is|was|are|were|be|been|at|over|under|least|than|turn(?:s|ed)?|reach(?:es|ed)?)\s(?:(?:about|only|nearly|already)\s)?"
    r"(?:\d+|[a-z]+)\s(?:days|weeks|months|years?|decades|century|centuries)\b",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(r"\bhow (?P<word>many|much)\b(?P<rest>[^?.!,;]{0,80})", re.IGNORECASE)
_HOW = re.compile(
    r"\bhow (?P<word>long|far|tall|high|deep|wide|thick|old|heavy|hot|cold|warm|often|frequently|soon)\b", re.IGNORECASE
)
WHAT_HEAT = re.compile(r"\b(?:what|which) temperature\b", re.IGNORECASE)
WHAT_PRICE = re.compile(
    r"\bwhat (?:is|was|are|were) (?:the|its|their) (?:[a-z-]+ ){0,2}?(?:price|cost|fee|fare|charge|deposit|rent)s?"
    r" (?:of|for)\b|^\W*what (?:do|does|did|will|would|should) .{1,80}\bcost\b",
    re.IGNORECASE,
)
_BY_WORD: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("long", "far"), frozenset({TIME, LENGTH})),
    **dict.fromkeys(("tall", "high", "deep", "wide", "thick"), frozenset({LENGTH})),
    "heavy": frozenset({MASS}),
    "soon": frozenset({TIME}),
    **dict.fromkeys(("hot", "cold", "warm"), frozenset({HEAT})),
}
_ENDS = word_list(
    "is are was were be been do does did can could will would should shall must may might has have had there of in on "
    "at to for from by per than with that which who and or"
)
_MANY = frozenset({None, SHARE})
_MUCH = _MANY | {AREA, MASS, VOLUME, MONEY, HEAT}
"""The dimensions that a number may have which says how many, or how much."""
_COUNTED, _AFTER = 3, 4
_HALF = frozenset({"half"})
_OF_WHAT = word_list("of the a an its their his her our all")
_ORDINAL = word_list("st nd rd th")
_BEGINS_ANOTHER = word_list(
    "the a an his her its their our this that these those each every in on at by for from with is are was were "
    "be has had will can may must but when while which who where than"
)
_BY_ADJECTIVE: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(
        ("tall", "high"), re.compile(r"\b(?:tall|high|height|altitude|elevation|above\s(?:the\s)?sea)\b", re.IGNORECASE)
    ),
    "deep": re.compile(r"\b(?:deep|depth)\b", re.IGNORECASE),
    "wide": re.compile(r"\b(?:wide|width|broad|breadth|across)\b", re.IGNORECASE),
    "thick": re.compile(r"\b(?:thick|thickness)\b", re.IGNORECASE),
    "heavy": re.compile(r"\b(?:heavy|weigh(?:s|ed|ing|t)?)\b", re.IGNORECASE),
}
"""A length alone is not a height: `four kilometres west of the village`."""
_DIRECTIONS: Mapping[str, str] = {
    word: direction
    for direction, words in {
        "long": "long length",
        "high": "high tall height altitude elevation",
        "wide": "wide width broad breadth across",
        "deep": "deep depth",
        "thick": "thick thickness",
        "way": "walk drive ride flight climb hike journey trip away foot car bus train tram bicycle taxi boat ferry",
    }.items()
    for word in words.split()
}
"""Words beside a measure that say which one it is; a walk of ten minutes is not how long a beach is."""
_BINDS = word_list("in of on by")
_BEFORE_MEASURE = word_list(
    "of is was are were about around nearly over under some up to at only limit maximum minimum"
)
_NOUNS = word_list("length height altitude elevation width breadth depth thickness")
_NOT_FAR = frozenset({"high", "deep", "thick"})
_OF_A_WAY = re.compile(
    r"\b(?:walk|driv|rid|cycl|climb|hik|fl[iy]|sail|cross|commut|transfer|voyage|journey|trip|tour|visit|trail|stage|travel|way"
    r"|reach|tak(?:e|ing)|time|last|go|it\sto\b)",
    re.IGNORECASE,
)
_LABELS = word_list(
    "port room page version release chapter section paragraph article figure table step line stop floor platform gate "
    "track route bus tram junction stage unit"
)
"""Nouns of which a number right behind them names one."""
_NAMED_BEFORE = re.compile(
    r"\b(?P<what>[a-z]{2,})(?:,?\sof\s(?:which|whom)\s(?:there\s(?:are|were)|(?:we|they)\s(?:have|had))\s(?P<number>\d[\d.,]*|[a-z]+)\b"
    r"|\snumber(?:ed|ing)?\s(?:about\s|some\s)?(?P<total>\d[\d.,]*|[a-z]+)\b"
    r"|\s(?:are|were)\s(?P<sum>\d[\d.,]*|[a-z]+)\sin\snumber\b)",
    re.IGNORECASE,
)
"""A number that follows what it counts: `the keys, of which there are four`."""
_WERE = re.compile(
    r"(?<![\w.,])(?P<number>\d[\d.,]{0,11}|[a-z]+)\s(?:were|are|was|is)\s(?:the\s)?(?P<what>[a-z]{3,})\b",
    re.IGNORECASE,
)
"""The number stands before its noun and a verb: `642 were cats`."""
_PART_OF = re.compile(
    r"\b(?:an?|one|two|three|over|under|about|than|nearly|almost)\s(?:half|third|quarter|fifth|sixth|eighth|tenth)s?\sof\b"
    r"|\bhalf\s(?:of\s)?(?:the|our|its|their|his|her|all)\b",
    re.IGNORECASE,
)
"""A part is how much: `a third of our electricity`."""
_PEOPLE = frozenset(
    map(root_of, ("people", "person", "persons", "guests", "visitors", "passengers", "spectators", "listeners"))
)
_SEATS = re.compile(
    r"\b(?:seat|sleep|accommodate|hold|carr(?:y|ie)|employ|fit|take|admit)(?:s|ed)?\s(?:(?:about|around|nearly|over|up\sto)\s)?"
    r"(?:\d[\d,.]*\d|\d|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a\shundred)(?=[.;]|,\s|\s(?:and|but|in|at)\b|\Z)",
    re.IGNORECASE,
)
_HAD = re.compile(
    r"(?<![\w.,])(?P<number>\d[\d.,]{0,11}|[a-z]+)[\s-](?P<unit>[a-z]+)(?:s['’]|['’]s)\s(?:[a-z]+\s)??(?P<what>[a-z]{2,})\b",
    re.IGNORECASE,
)
"""`three months' notice`: so much of it."""
_PRICED = re.compile(
    r"\b(?:costs?|prices?|pay|paid|fees?|charged?|worth|earn(?:s|ed)?|salary|salaries|claim(?:s|ed)?|spen[dt]|reimbursed?|refund(?:ed)?)\b",
    re.IGNORECASE,
)
_COSTS = re.compile(r"\bcosts?\s(?:about\s|only\s|just\s)?\d", re.IGNORECASE)
_FREE = re.compile(r"\bfree\b|\bno charge\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WantedAmount:
    """The amount that is asked for: the roots of the words for what is counted, the dimensions of its unit (none: any),
    and the question word. `way`: it is a walk, a journey or a time, of which any of them tells how long it is."""

    word: str
    counted: frozenset[str] = frozenset()
    dimensions: frozenset[str] = frozenset()
    way: bool = False

    def is_told(self, amount: Amount) -> bool:
        """True for an amount in such a unit, unless it is the measure of another direction."""
        if amount.dimension not in self.dimensions:
            return False
        if self.word == "far":
            return amount.direction not in _NOT_FAR
        told = amount.direction in ("", _DIRECTIONS.get(self.word, amount.direction))
        return told or (self.way and amount.direction == "way")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in a text: the dimension of its unit if it has one, whether it may be a year or a day of a month, the
    roots of the words after it, and the direction that is measured (`high` of `3 m in height`), if it is said."""

    dimension: str | None
    dated: bool
    beside: frozenset[str]
    direction: str = ""


@lru_cache(maxsize=256)
def wanted_amount(question: str) -> WantedAmount | None:
    """The amount that a question asks for; None where it asks for none, or says too little of it."""
    if found := _HOW_MANY.search(question):
        return _counted(found["word"].casefold(), found["rest"], priced=_PRICED.search(question) is not None)
    if found := _HOW.search(question):
        word = found["word"].casefold()
        way = _OF_A_WAY.search(question) is not None
        return WantedAmount(
            "often" if word == "frequently" else word, frozenset(), _BY_WORD.get(word, frozenset()), way
        )
    if WHAT_PRICE.search(question):
        return WantedAmount("much", frozenset(), frozenset({MONEY}))
    if WHAT_HEAT.search(question):
        return WantedAmount("hot", frozenset(), _BY_WORD["hot"])
    return None


def states_amount(sentence: str, wanted: WantedAmount, *, loosely: bool) -> bool:
    """True if the sentence states such an amount. `loosely`: what is counted need not be named beside the number."""
    if wanted.word == "often":
        return _OFTEN.search(sentence) is not None
    found = amounts_of(sentence)
    if wanted.word == "old":
        bare = any(each.dimension is None and not each.dated for each in found)
        return bare or _AGED.search(sentence) is not None or _OF_AGE.search(sentence) is not None
    if any(not wanted.counted.isdisjoint(each.beside) for each in found) or _says_so(sentence, wanted):
        return True
    if wanted.dimensions:
        adjective = _BY_ADJECTIVE.get(wanted.word)
        if not loosely and adjective is not None and not adjective.search(sentence):
            return False
        spans = TIME in wanted.dimensions and wanted.word == "long" and _SPAN.search(sentence) is not None
        free = MONEY in wanted.dimensions and (_FREE.search(sentence) or _COSTS.search(sentence)) is not None
        return spans or free or any(map(wanted.is_told, found))
    measured = _MUCH if wanted.word == "much" else _MANY
    said = (loosely or not wanted.counted) and any(not each.dated and each.dimension in measured for each in found)
    return said or (wanted.word == "much" and _PART_OF.search(sentence) is not None)


def measures_another(sentence: str, wanted: WantedAmount) -> bool:
    """True if the sentence states such amounts, and all are those of another direction, or numbers that name one."""
    found = amounts_of(sentence)
    if wanted.dimensions:
        found = tuple(each for each in found if each.dimension in wanted.dimensions)
        return bool(found) and not any(map(wanted.is_told, found))
    return wanted.word in ("many", "much") and bool(found) and all(each.dimension == LABEL for each in found)


def _says_so(sentence: str, wanted: WantedAmount) -> bool:
    """True if the number stands behind what is counted, before its genitive or before the adjective that is asked with:
    `the keys, of which there are four`, `three months' notice`, `32 bytes long`."""
    if wanted.counted:
        return _seats(sentence, wanted.counted) or any(
            wanted.counted & {root_of(fold(what))} for what in (*_counted_before(sentence), *_had(sentence))
        )
    said = [fold(match[0]) for match in _TOKEN.finditer(sentence)] if wanted.word in _BY_WORD else []
    threes = zip(said, said[1:], said[2:], strict=False)
    return any(last == wanted.word and _is_number(first) and unit.isalpha() for first, unit, last in threes)


def _seats(sentence: str, counted: frozenset[str]) -> bool:
    """True for `The hall seats 640.` if people are counted."""
    return not counted.isdisjoint(_PEOPLE) and _SEATS.search(sentence) is not None


def _counted_before(sentence: str) -> Iterator[str]:
    for found in _NAMED_BEFORE.finditer(sentence):
        if _is_number(fold(found["number"] or found["total"] or found["sum"])):
            yield found["what"]
    for found in _WERE.finditer(sentence):
        if _is_number(fold(found["number"])):
            yield found["what"]


def _had(sentence: str) -> Iterator[str]:
    for found in _HAD.finditer(sentence):
        number, unit = fold(found["number"]), fold(found["unit"])
        if TIME in (_UNITS.get(unit), _UNITS.get(f"{unit}s")) and (_is_number(number) or number in _VAGUE):
            yield found["what"]


def _is_number(token: str) -> bool:
    return token[0].isdigit() or token in _SPELT


def unit_of(word: str) -> str | None:
    """The dimension of a unit, None for another word."""
    return _UNITS.get(word)


@lru_cache(maxsize=4096)
def amounts_of(text: str) -> tuple[Amount, ...]:
    """The numbers of a text, in order."""
    found = list(_TOKEN.finditer(text))
    breaks = [_BREAK.search(text, here.end(), there.start()) is not None for here, there in pairwise(found)]
    joined = [text[here.end() : there.start()] in _JOINED and there[0][0].isalpha() for here, there in pairwise(found)]
    return tuple(_amounts([fold(match[0]) for match in found], [*breaks, True], [*joined, False]))


def _amounts(tokens: list[str], breaks: list[bool], joined: list[bool]) -> Iterator[Amount]:
    for at, token in enumerate(tokens):
        after = tokens[at + 1] if at + 1 < len(tokens) else ""
        unit = _UNITS.get(after) or (
            _UNITS.get(tokens[at + 2]) if after.endswith("ing") and at + 2 < len(tokens) else None
        )
        if tokens[at + 1 : at + 4] == ["and", "a", "half"]:
            unit = _UNITS.get(tokens[at + 4]) if at + 4 < len(tokens) else None
        if token in _HALF and after in ("a", "an") and at + 2 < len(tokens):
            unit = _UNITS.get(tokens[at + 2])
        before = tokens[at - 2 : at] if at > 1 and tokens[at - 1][0].isdigit() else tokens[at - 1 : at]
        if unit is None and before and before[0] in _SYMBOLS:  # `£6`, `$2.2 billion`
            unit = MONEY
        number = token[0].isdigit() or (token in _SPELT and (token, after) != ("one", "of"))
        if not number and not (token in _VAGUE and unit not in (None, SHARE)):
            continue
        if unit is None and token[0].isdigit() and at and not breaks[at - 1] and tokens[at - 1] in _LABELS:
            yield Amount(LABEL, dated=False, beside=frozenset())
            continue
        if after in _SPELT:  # of `two hundred days` the last word stands before the unit
            continue
        if (token, after) == ("per", "cent"):
            continue
        halved = token in _HALF and unit is None and after not in _OF_WHAT  # a `half plot` is one
        if halved or (joined[at] and after in _ORDINAL):
            continue
        month = after in MONTH_NUMBERS or (at > 0 and tokens[at - 1] in MONTH_NUMBERS)
        dated = unit is None and (month or ":" in token or _YEAR.fullmatch(token) is not None)
        beside = [] if month else _beside(tokens, breaks, at, measured=unit is not None)
        if joined[at] or (
            dated and beside and beside[0] != "of" and not may_be_many(beside[0])
        ):  # `three-storey houses`, `the 1911 edition`
            beside = beside[:1] if joined[at] else []
        counted = frozenset(root_of(word) for word in beside if word[0].isalpha())
        yield Amount(unit, dated, counted, _direction(tokens, breaks, at) if unit in (TIME, LENGTH) else "")


def _direction(tokens: list[str], breaks: list[bool], at: int) -> str:
    """The direction that is said behind the unit, else before the number: `a width of 3 m`."""
    for n in range(at + 2, min(at + 4, len(tokens))):
        if breaks[n - 1]:
            break
        if tokens[n] not in _BINDS:
            if (found := _DIRECTIONS.get(tokens[n])) is not None:
                return found
            break
    for n in range(at - 1, max(at - 5, -1), -1):
        if breaks[n] or tokens[n] not in _BEFORE_MEASURE | _NOUNS:
            break
        if tokens[n] in _NOUNS:
            return _DIRECTIONS[tokens[n]]
    return ""


def _beside(tokens: list[str], breaks: list[bool], at: int, *, measured: bool) -> list[str]:
    """The words that a number can count: those after it in its own phrase, and after a unit only what it is `of`. In
    "14 m/s, the boat" no boat is counted."""
    end = at
    while end < at + _AFTER and not breaks[end]:
        end += 1
    said = tokens[at + 1 : end + 1]
    if not measured or "of" in said[1:3]:
        return said[: next((n for n, word in enumerate(said) if _ends_phrase(said, n, word)), len(said))]
    return [word for word in said[:2] if word in _UNITS or word.endswith("ing")]


def _ends_phrase(said: list[str], n: int, word: str) -> bool:
    """True for a word that begins another phrase: `At 9 the boats leave`, `three in a boat`, `two men and a boat`."""
    before = said[n - 1] if n else ""
    return (word in _BEGINS_ANOTHER and before != "of") or (word in {"and", "or"} and may_be_many(before))


def _counted(word: str, rest: str, *, priced: bool) -> WantedAmount:
    said: list[str] = []
    for match in _TOKEN.finditer(rest):
        token = fold(match[0])
        if token in _ENDS or len(said) == _COUNTED:
            break
        said.append(token)
        if may_be_many(token):
            said = [token]  # the noun; what stands before it says which
            break
    dimensions = frozenset(_UNITS[token] for token in said[:2] if token in _UNITS)
    if word == "much" and (priced or "money" in said):
        dimensions = frozenset({MONEY})
    return WantedAmount(word, frozenset(map(root_of, said)), dimensions)
