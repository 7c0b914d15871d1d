"""Things that are had and amounts that are named, in a question of figures without a time: `have dams`, `20 m high`.

A figure of nought is on record and says that there is none. So a count is more than it, and what is no count, which may
be below it, is another figure.
"""

from __future__ import annotations

from collections.abc import Sequence

from ai.intent.lexicon import Lexicon, Role
from ai.intent.scanning.groups import is_group
from ai.intent.tokens import Item
from retrieval.english.stems import is_many

_HAVING = frozenset({"have", "has", "had", "having", "with"})
_SOME = frozenset({"a", "an", "any", "some"})
_NONE = frozenset({"no", "without", "zero"})
_OTHERWISE = (Role.COMPARATOR, Role.SUPERLATIVE, Role.COMPARATIVE, Role.AGGREGATE, Role.NUMBER, Role.MUCH, Role.THAN)
_YEARS = frozenset({"year", "years", "yr", "yrs"})
_OTHER_NUMBERS = (Role.OR_MORE, Role.BETWEEN, Role.NEGATION, Role.DIFFERENCE, Role.RATIO, Role.SHARE, Role.ORDINAL)


def with_noughts(items: Sequence[Item], lexicon: Lexicon) -> Sequence[Item]:
    """The items with the nought that what is had is held against."""
    if any(item.has(role) for item in items for role in _OTHERWISE):
        return items
    if not any(item.has(Role.WHICH) or item.has(Role.MANY) or item.has(Role.WHO) for item in items):
        return items
    for at, item in enumerate(items):
        lead = _lead(items, at) if item.has(Role.MEASURE) else None
        if lead is None:
            continue
        none = any(word.text in _NONE for word in items[lead:at])
        more = _counts(item, lexicon) and not none
        word, sign = ("more than", ">") if more else ("exactly", "=")
        denial = () if more or none else (_said(item, "not", Role.NEGATION, True),)
        bound = (*denial, _said(item, word, Role.COMPARATOR, sign), _said(item, "0", Role.NUMBER, 0))
        return (*items[:lead], *bound, *items[at:])
    return items


def with_equals(items: Sequence[Item], lexicon: Lexicon) -> Sequence[Item]:
    """The items with the one number as what the one figure is: `which lighthouse is 20 m high`, `rooms with 3 beds`."""
    asked = any(item.has(role) for item in items for role in (Role.WHICH, Role.MANY, Role.WHO))
    numbers = [at for at, item in enumerate(items) if item.has(Role.NUMBER)]
    otherwise = any(item.has(role) for item in items for role in _OTHERWISE + _OTHER_NUMBERS if role is not Role.NUMBER)
    before = items[: min(numbers, default=0)]
    named = any(item.has(Role.PLACE) and not is_group(item, lexicon) for item in before)
    measures = [set(said) for item in items if isinstance(said := item.roles.get(Role.MEASURE), tuple)]
    meant = set.intersection(*measures) if measures else set[str]()
    if not asked or otherwise or named or len(numbers) != 1 or len(meant) != 1:
        return items
    (at,) = numbers
    behind = list(items[at + 1 :])
    if behind and behind[0].has(Role.KIND):
        return items
    units = {f.unit.casefold() for f in lexicon.domain.figures if f.measure in meant}
    if behind and behind[0].text in _YEARS and units <= {"", *_YEARS}:
        behind = behind[1:]  # `34 years old`, of an age that says no unit
    return (*items[:at], _said(items[at], "exactly", Role.COMPARATOR, "="), items[at], *behind)


def _lead(items: Sequence[Item], at: int) -> int | None:
    """Where `have`, `have any` or `without` begins before what is had, behind a kind of thing; None where it does
    not."""
    first = at
    while first and items[first - 1].text in (_SOME | _NONE):
        first -= 1
    had = first > 0 and items[first - 1].text in _HAVING
    if not had and "without" not in {word.text for word in items[first:at]}:
        return None
    first -= had
    return first if any(item.has(Role.KIND) for item in items[:first]) else None


def _counts(item: Item, lexicon: Lexicon) -> bool:
    """True for a measure that counts things: `dams`, `children`, without a unit."""
    measures = item.roles[Role.MEASURE]
    held = [f for f in lexicon.domain.figures if isinstance(measures, tuple) and f.measure in measures]
    return bool(held) and all(not f.unit and is_many(f.measure.rpartition(" ")[2]) for f in held)


def _said(at: Item, text: str, role: Role, value: object) -> Item:
    return Item(at.start_char, at.end_char, text, {role: value}, value if role is Role.NUMBER else None, text)
