"""A question as items: names, times, numbers and the phrases of the lexicon, each with the characters that say it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import TypeVar

from ai.intent.lexicon import Lexicon, Role, Roles
from ai.intent.times import TimeSpan, read_times
from ai.text.tables.conversion import is_currency, is_unit
from retrieval.algebra.wording import OF
from retrieval.english.lists import word_list
from retrieval.model import Mention

_WORD = re.compile(
    r"(?P<minus>(?<![\w.,)\u2013\u2014-])[-\u2212](?=\d))?(?P<number>(?<!\d)(?:\d{1,3}(?:,\d{3}){1,12}(?:\.\d+)?(?![\w,])|\d+(?:\.\d+)?(?=(?:st|nd|rd|th|k)?(?!\w))))(?P<tail>st|nd|rd|th)?"
    r"|(?P<genitive>['\u2019]s?(?!\w))|(?P<word>[^\W\d_]+(?:['\u2019](?!s\b)[^\W\d_]+)*[\u00b2\d]*)|(?P<sign>[,%])"
    r"|(?P<other>[^\s.?!:;()\"'\u2018\u2019\u201c\u201d\u2026\u2013\u2014-])"
)
_BEFORE_AMOUNT = re.compile(
    r"(?:[$€£¥₹]|(?<!\w)(?:"
    r"(?:more|less|fewer|greater|larger|bigger|higher|lower|smaller|longer|shorter|taller|deeper) than"
    r"|over|above|below|under|exceeding|exceeded|exceeds|at least|at most))\s{0,3}$",
    re.IGNORECASE,
)
_UNIT_BEHIND = re.compile(r"\s{0,3}(?:[°%€$£]|[^\W\d_]{1,12}[²³23]?(?!\w))")
_EVERYDAY = word_list(
    "second seconds stone stones day days daily night nights nightly week weeks weekly month months monthly annual "
    "yearly hour hours hourly minute minutes yard yards pound pounds sterling try k c f h s g t l"
)
"""Units that are other words behind a year: `the 1901 stone bridge`, `the 1867 second treaty`."""
_MEASURED = re.compile(r"(?<!\w)[^\W\d_]+(?= (?:of|in|at|for) )")
_NUMBER_BEFORE = re.compile(r"(?:\d\s?(?:thousand|million)?|°|degrees?)\s?$", re.IGNORECASE)
_NUMBER_BEHIND = re.compile(r"\s?\d")
_NO_ROLES: Roles = {}
T = TypeVar("T", TimeSpan, Mention)


@dataclass(frozen=True, slots=True)
class Item:
    """A name, a time, a number or a phrase. `value` is its mention, time or number; `text` is folded, `surface` as
    written."""

    start_char: int
    end_char: int
    text: str
    roles: Roles = field(default_factory=lambda: _NO_ROLES)
    value: object = None
    surface: str = ""

    def has(self, role: Role) -> bool:
        """True if it can do this."""
        return role in self.roles


def read_items(text: str, lexicon: Lexicon) -> tuple[Item, ...]:
    """The items of a text, in order, without overlap: every word, number and sign is in one of them."""
    times: Sequence[TimeSpan] = [time for time in read_times(text) if not _is_amount(text, time)]
    mentions: Sequence[Mention] = [
        replace(mention, surface=text[mention.start_char : mention.end_char])
        for mention in lexicon.gazetteer.find(_MEASURED.sub(partial(_small, lexicon=lexicon), text))
    ]
    mentions = [mention for mention in mentions if not _is_kind(mention, lexicon)]
    spoken = [m for m in mentions if m.candidates or not (_lexical(m, lexicon) or _is_unit_of_number(text, m))]
    times = _apart(times, [m for m in spoken if m.candidates])
    spoken = [m for m in spoken if m.candidates] + _apart([m for m in spoken if not m.candidates], times)
    marks: list[TimeSpan | Mention] = [*times, *spoken]
    return tuple(_items(text, sorted(marks, key=lambda mark: mark.start_char), lexicon))


def _small(found: re.Match[str], lexicon: Lexicon) -> str:
    """A measure in small letters, so that it is no part of the name behind it: `Tmin of Peel Weir`."""
    small = found[0].lower()
    measured = Role.MEASURE in lexicon.entries.get((small,), {})
    return small if measured and len(small) == len(found[0]) else found[0]


def _is_amount(text: str, time: TimeSpan) -> bool:
    """True for a number that only looks like a year: `over 1900`, `€1800`, `between 1500 and 1800 mm`."""
    if not (text[time.start_char : time.end_char][:4].isdigit() and text[time.end_char - 4 : time.end_char].isdigit()):
        return False
    behind = _UNIT_BEHIND.match(text, time.end_char)
    unit = behind[0].strip().casefold() if behind else ""
    if unit == "°" or (is_unit(unit) and unit not in _EVERYDAY):
        return True
    return _BEFORE_AMOUNT.search(text[max(0, time.start_char - 24) : time.start_char]) is not None


def _is_kind(mention: Mention, lexicon: Lexicon) -> bool:
    """True for a word in a column that is a kind of things too: `dogs`, where another table is of dogs."""
    named = bool(mention.candidates) and all(each.entity_id.startswith(OF) for each in mention.candidates)
    return named and mention.surface.casefold() in lexicon.kinds


def _lexical(mention: Mention, lexicon: Lexicon) -> bool:
    """True if a capitalised word that names nothing is a word of the lexicon (`Population of ...`)."""
    said = [word.casefold() for word in mention.surface.split()]
    return all(lexicon.at(said, i).roles for i in range(len(said)))


def _is_unit_of_number(text: str, mention: Mention) -> bool:
    """True for a capitalised unit beside its number: `30 degrees Celsius`, `USD 640`."""
    beside = _NUMBER_BEFORE.search(text[max(0, mention.start_char - 24) : mention.start_char]) is not None
    ahead = _NUMBER_BEHIND.match(text, mention.end_char) is not None and is_currency(mention.surface)
    return ahead or (beside and is_unit(mention.surface))


def _apart(found: Sequence[T], others: Sequence[TimeSpan | Mention]) -> list[T]:
    """Those that overlap none of the others; both in order of place."""
    kept: list[T] = []
    at = 0
    for one in found:
        while at < len(others) and others[at].end_char <= one.start_char:
            at += 1
        if at == len(others) or others[at].start_char >= one.end_char:
            kept.append(one)
    return kept


def _items(text: str, marks: Sequence[TimeSpan | Mention], lexicon: Lexicon) -> Iterator[Item]:
    end = 0
    for mark in marks:
        yield from _plain(text, end, mark.start_char, lexicon)
        role = Role.TIME if isinstance(mark, TimeSpan) else Role.PLACE if mark.candidates else Role.UNKNOWN_NAME
        said = text[mark.start_char : mark.end_char]
        yield Item(mark.start_char, mark.end_char, said, {role: True}, mark)
        end = mark.end_char
    yield from _plain(text, end, len(text), lexicon)


def _plain(text: str, first: int, last: int, lexicon: Lexicon) -> Iterator[Item]:
    found = list(_WORD.finditer(text, first, last))
    said = [match[0].casefold().replace("\u2019", "'") for match in found]
    i = 0
    while i < len(found):
        match = found[i]
        if match["number"]:
            yield _number(match, said[i])
            i += 1
            continue
        entry = lexicon.at(said, i)
        whole = " ".join(said[i : i + entry.size])
        end = found[i + entry.size - 1].end()
        yield Item(match.start(), end, whole, entry.roles, _spelled(entry.roles), text[match.start() : end])
        i += entry.size


def _number(match: re.Match[str], said: str) -> Item:
    value = Decimal(match["number"].replace(",", "")) * (-1 if match["minus"] else 1)
    role = Role.ORDINAL if match["tail"] else Role.NUMBER
    whole = int(value) if role is Role.ORDINAL and value == value.to_integral_value() else value
    return Item(match.start(), match.end(), said, {role: whole}, whole)


def _spelled(roles: Mapping[Role, object]) -> object:
    number = roles.get(Role.NUMBER, roles.get(Role.ORDINAL))
    return Decimal(number) if isinstance(number, int) and Role.NUMBER in roles else number
