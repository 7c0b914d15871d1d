"""The words of a structured question that nothing understood, and which of them a suggestion may leave out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

from ai.intent.lexicon import Role
from ai.intent.phrases import Phrases
from ai.intent.times import TimeSpan
from ai.intent.tokens import Item
from ai.text.question_type import denies
from retrieval.english.stems import is_past
from retrieval.model import EntityRef, Mention

_STRUCTURED = frozenset(
    {"kinds", "types", "areas", "densities", "bounds", "gaps", "borders", "neighbours", "within", "ratios"}
)
_RECKONED = frozenset(
    {"tops", "aggregates", "compared", "changes", "moved", "shares", "series", "differences", "per", "things"}
)
_HELD = frozenset({Role.MEASURE, Role.KIND, Role.TYPE, Role.AREA, Role.DENSITY, Role.NEGATION, Role.EXCEPTION})
"""The roles of words that make a question one of figures, kinds of places or things that the corpus holds, or of their
complement."""
_OF_THE_CORPUS = frozenset({Role.PLACE, Role.THING, Role.KIND, Role.TYPE, Role.MEASURE, Role.RELATION})
"""The roles of words that come from what the corpus holds."""
_SOMEWHERE = frozenset({"named", "towards", "inside", "here"})
_EXCEPTED = frozenset({"excepted", "things_excepted", "things_denied", "times_denied"})
_STATED = frozenset({"things", "relations", "measures"})
ALL = "the question as a whole"


def unread_words(phrases: Phrases, items: Sequence[Item]) -> tuple[str, ...]:
    """Words left over of a question that speaks of figures, kinds of places or things; `ALL` where each word is
    known and no operation takes them together, and of a count, a rank or a figure, which no text is to answer; none for
    a question of texts."""
    if _holder(phrases, items) or _beside_an_event(items) or _denies_what_is_held(phrases):
        return (ALL,)
    compound = _compound(phrases, items)
    structured = phrases.filled & (_STRUCTURED - {"kinds", "types"} if compound else _STRUCTURED)
    asked = {"many", "distance"} & set(phrases.asked)
    if not any(item.roles.keys() & _OF_THE_CORPUS for item in items):
        structured, asked = structured & {"bounds"}, asked - {"distance"}  # areas and neighbours that only texts have
    if not (structured or asked or _measured(items)):
        return ()
    if _counts_what_only_texts_hold(phrases, items):
        return ()
    words = [item.value.surface if isinstance(item.value, Mention) else item.text for item in phrases.left]
    ranked = [top for top in phrases.tops if not (compound and top.scale == "time")]
    counting = bool({"many", "distance"} & set(phrases.asked) or ranked or phrases.bounds or phrases.gaps)
    return (*dict.fromkeys(words), *((ALL,) if counting or _measured(items) or not words else ()))


_SAYS_NOTHING = frozenset({Role.NOTHING, Role.WHICH, Role.AND, Role.DWELLING, Role.OCCURRING})
_COMPARES = re.compile(r"(?:er|est)$|^(?:half|halves|quarters?|double|triple|twice|thrice)$")
"""Comparatives by their endings, and multiples; what only looks like one is not left out either."""
_FIXED = (Role.PLACE, Role.THING, Role.UNKNOWN_NAME, Role.TIME, Role.NUMBER, Role.ORDINAL, Role.SCALE)


def may_leave(items: Sequence[Item], left: Sequence[Item]) -> bool:
    """True if what is asked stays what it is without these words: none is a name, a number, a deed or a comparison,
    denies anything, or stands beside a name, a number or a time, which it may turn into another (`west Kansas`, `around
    1930`, `5 m`)."""
    starts = {item.start_char for item in left}
    if any(item.roles.keys() - _SAYS_NOTHING or is_past(item.text) or _COMPARES.search(item.text) for item in left):
        return False
    if denies(" ".join(item.text for item in left)):
        return False
    beside = [*pairwise(items), *((after, one) for one, after in pairwise(items))]
    return not any(one.start_char in starts and any(other.has(role) for role in _FIXED) for one, other in beside)


def keeps(items: Sequence[Item], said: str, ids: Collection[str]) -> bool:
    """True if a reading says every name and number of the items, and no other number."""
    refs = [
        ref for item in items for role in (Role.PLACE, Role.THING) if isinstance(ref := item.roles.get(role), EntityRef)
    ]
    if not {ref.entity_id for ref in refs} <= set(ids):
        return False
    asked = {number for item in items for number in _numbers(item)}
    told = {Decimal(each.replace(",", "")) for each in _DIGITS.findall(_without(said, [ref.name for ref in refs]))}
    return told == asked


def _numbers(item: Item) -> Iterator[Decimal]:
    if isinstance(item.value, TimeSpan):
        yield from (Decimal(each) for each in _DIGITS.findall(item.text))
    elif item.has(Role.NUMBER) or item.has(Role.ORDINAL):
        yield Decimal(str(item.roles.get(Role.NUMBER, item.roles.get(Role.ORDINAL))))


def _without(said: str, names: Sequence[str]) -> str:
    for name in names:
        said = said.replace(name, " ")
    return said


_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")


def _compound(phrases: Phrases, items: Sequence[Item]) -> bool:
    """True if every word for a kind only tells what an unknown noun is of: `the harbour board`, `the county seat`."""
    left = {item.start_char for item in phrases.left if item.value is None}
    nouns = [i for i, item in enumerate(items) if item.has(Role.KIND) or item.has(Role.TYPE)]
    return bool(nouns) and all(i + 1 < len(items) and items[i + 1].start_char in left for i in nouns)


def _holder(phrases: Phrases, items: Sequence[Item]) -> bool:
    """True for `Who is the governor of Kansas?`: who holds an office now is in no text of the past."""
    said = [item.text for item in items[:3]]
    named = bool(phrases.inside or phrases.named) and bool(phrases.left)
    return named and said[:2] in (["who", "is"], ["who", "are"]) and said[2:] == ["the"] and not phrases.times


def _beside_an_event(items: Sequence[Item]) -> bool:
    """True for `the storm before Black Sunday`: before or after what a name says is another time than its own."""
    named = (Role.PLACE, Role.THING, Role.UNKNOWN_NAME)
    pairs = pairwise(item for item in items if item.text != "the")
    return any(one.text in ("before", "after", "since") and any(other.has(r) for r in named) for one, other in pairs)


def _denies_what_is_held(phrases: Phrases) -> bool:
    """True if a denial is left over of a question about places or things of the corpus, or was read as one of a name or
    time (`When was not the Night Line opened?`) in a question that no operation takes. `Why are certificates not sent
    to the manager?` is about none, and a text that denies it too may say why."""
    denied = any(item.has(Role.NEGATION) for item in phrases.left)
    held = phrases.filled & (_STRUCTURED | _SOMEWHERE | _STATED)
    return bool(phrases.filled & _EXCEPTED) or (denied and bool(held))


def _counts_what_only_texts_hold(phrases: Phrases, items: Sequence[Item]) -> bool:
    """True for `How many sailors did she save?` and `What is the mite count?`, where the corpus has no figure, kind or
    thing of that name; for `How many were injured?` and `How do I count swifts?`, where it has none of that deed and
    the question names nothing that it has; and for `How far in advance?`, which is between no places. A sentence may
    say it, with the number beside the word."""
    if phrases.filled & (_STRUCTURED | _RECKONED) or any(item.roles.keys() & _HELD for item in items):
        return False
    if "distance" in phrases.asked:
        return not phrases.filled & _SOMEWHERE
    counted = [one if item.text == "count" else after for one, item, after in _triples(items) if item.has(Role.MANY)]
    if counted and all(item is not None and item in phrases.left for item in counted):
        return True
    behind = [_behind(items, at) for at, item in enumerate(items) if item.has(Role.MANY)]
    named = phrases.filled & (_SOMEWHERE | _STATED)
    return bool(behind) and not named and all(item is not None and item in phrases.left for item in behind)


def _behind(items: Sequence[Item], at: int) -> Item | None:
    """The next item that says something: `of the swifts`, `were injured`."""
    left = (item for item in items[at + 1 :] if item.text != "of")
    return next((item for item in left if not item.roles or item.roles.keys() - _SAYS_NOTHING), None)


def _triples(items: Sequence[Item]) -> zip[tuple[Item | None, Item, Item | None]]:
    return zip((None, *items[:-1]), items, (*items[1:], None), strict=True)


def _measured(items: Sequence[Item]) -> bool:
    """True if a measure is named by its own name; `people` alone may be anybody."""
    for item in items:
        measures = item.roles.get(Role.MEASURE, ())
        names = {m.replace("_", " ").casefold() for m in measures} if isinstance(measures, tuple) else set[str]()
        if item.text in names or item.text.removesuffix("s") in names:
            return True
    return False
