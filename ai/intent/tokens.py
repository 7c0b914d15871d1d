"""A question as items: names, times, numbers and the phrases of the lexicon, each with the characters that say it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeVar

from ai.intent.lexicon import Lexicon, Role, Roles
from ai.intent.times import TimeSpan, read_times
from retrieval.model import Mention

_WORD = re.compile(
    r"(?P<minus>(?<![\w.,)\u2013\u2014-])[-\u2212](?=\d))?(?P<number>(?<!\d)(?:\d{1,3}(?:,\d{3}){1,12}(?:\.\d+)?(?![\w,])|\d+(?:\.\d+)?(?=(?:st|nd|rd|th|k)?(?!\w))))(?P<tail>st|nd|rd|th)?"
    r"|(?P<genitive>['\u2019]s?(?!\w))|(?P<word>[^\W\d_]+(?:['\u2019](?!s\b)[^\W\d_]+)*[\u00b2\d]*)|(?P<sign>[,%])"
    r"|(?P<other>[^\s.?!:;()\"'\u2018\u2019\u201c\u201d\u2026\u2013\u2014-])"
)
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
    times: Sequence[TimeSpan] = read_times(text)
    mentions: Sequence[Mention] = lexicon.gazetteer.find(text)
    spoken = [m for m in mentions if m.candidates or not _lexical(m, lexicon)]
    times = _apart(times, [m for m in spoken if m.candidates])
    spoken = [m for m in spoken if m.candidates] + _apart([m for m in spoken if not m.candidates], times)
    marks: list[TimeSpan | Mention] = [*times, *spoken]
    return tuple(_items(text, sorted(marks, key=lambda mark: mark.start_char), lexicon))


def _lexical(mention: Mention, lexicon: Lexicon) -> bool:
    """True if a capitalised word that names nothing is a word of the lexicon (`Population of ...`)."""
    said = [word.casefold() for word in mention.surface.split()]
    return all(lexicon.at(said, i).roles for i in range(len(said)))


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
