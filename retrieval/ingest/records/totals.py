"""Rows of a table that sum up others, by their labels (`Total`, `All districts`, `Whole county`, `East average`) or by
their figures. They state something, but of no place of their own."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from functools import lru_cache

from retrieval.algebra.wording import plural
from retrieval.ingest.records.kinds import KNOWN

_LONGEST = 80
_SIGNAL = re.compile(r"total|sum|all|average|avg|mean|median|whole|entire|combined|together")
_REFERENCE = re.compile(r"[(\[]\s*(?:\d{1,2}|[a-z])\s*[)\]]|[\u00b9\u00b2\u00b3\u2070-\u2079]")
_WORDS = re.compile(r"[^\W_]+")
_PLACES = ("area", "entity", "location", "place", "site")
"""Words for places of any kind."""
_TOTAL = r"(?:(?:sub ?|grand |overall |combined |sum )?totals?)"
_AVERAGE = r"(?:(?:overall |combined |grand |weighted |national )?averages?)"
_HEAD = rf"(?:{_TOTAL}|{_AVERAGE}|national totals?|sums?|avg|(?:overall |weighted |grand )?(?:mean|median))"
_NUMBER = r"(?:(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) )?"
_ALL = rf"(?:all )?(?:of )?(?:the )?{_NUMBER}"


def is_total(label: str, kinds: Sequence[str]) -> bool:
    """True for a label that says by itself that its row sums up others; `kinds` are the words for one of those."""
    words = _plain(label)
    return bool(words) and _pattern(tuple(kinds)).fullmatch(words) is not None


def totals_among(names: Iterable[str], kinds: Sequence[str]) -> frozenset[str]:
    """The names of a column that sum up others of it: those that say so, and `East total` beside `East`. None where
    nothing else is named."""
    labels = {name for name in names if name.strip()}
    telling = {label for label in labels if _SIGNAL.search(label.casefold())}
    if not telling:
        return frozenset()
    found = {label for label in telling if is_total(label, kinds)}
    others = {" ".join(_WORDS.findall(label.casefold())) for label in labels - found} - {""}
    if not others:
        return frozenset()
    return frozenset(found | {label for label in telling - found if _part(_plain(label)) in others})


_LEAST_OTHERS = 4
_LEAST_SUMS = 2


def sums_among(figures: Iterable[tuple[str, Hashable, Decimal]]) -> frozenset[str]:
    """The name whose figures are those of all the others together, each time and in each column: `World`. `figures`
    are names with the column and the time of a figure, and the figure. One sum may be chance, and so may a sum of few;
    a name that has no figure where others have one is told by those that it has."""
    cells = defaultdict[Hashable, list[tuple[str, Decimal]]](list)
    for name, cell, value in figures:
        cells[cell].append((name, value))
    found: Counter[str] = Counter()
    fallen: set[str] = set()
    for held in cells.values():
        whole, rows = sum(value for _, value in held), Counter(name for name, _ in held)
        added = sum(bool(value) for _, value in held) - 1
        for name, value in held:
            if value != whole - value or rows[name] > 1:
                fallen.add(name)
            elif len(held) > _LEAST_OTHERS and added > 1:
                found[name] += 1
    return frozenset(name for name, sums in found.items() if sums >= _LEAST_SUMS and name not in fallen)


def kinds_named(*said: str | None) -> tuple[str, ...]:
    """The words for one place of a table, from the header of its names and the kind that its file tells."""
    found: dict[str, None] = {}
    for each in said:
        words = [word for word in _WORDS.findall((each or "").casefold()) if word not in ("name", "title", "of", "the")]
        if words:
            found |= dict.fromkeys((" ".join(words), words[-1]))
    return tuple(found)


def _plain(label: str) -> str:
    """The label's words without references to footnotes; empty where no word of it speaks of a total."""
    folded = label.strip().casefold()
    if not 0 < len(folded) <= _LONGEST:
        return ""
    words = " ".join(_WORDS.findall(_REFERENCE.sub(" ", folded)))
    return words if _SIGNAL.search(words) else ""


_OF_PART = re.compile(r"(?:(?:sub ?)?totals?|averages?) (?:(?:of|for|in) )?(.+)|(.+) (?:(?:sub ?)?totals?|averages?)")


def _part(words: str) -> str:
    """The name of which the label is the total, empty where it is none."""
    found = _OF_PART.fullmatch(words)
    return (found[1] or found[2]) if found else ""


@lru_cache(maxsize=256)
def _pattern(own: tuple[str, ...]) -> re.Pattern[str]:
    """The labels of totals in a table whose places are called by the words `own`."""
    ours = _any(own) if own else r"(?!)"
    one = _any((*own, *_PLACES, *KNOWN))
    many = _any(plural(each) for each in (*own, *_PLACES, *KNOWN))
    forms = (
        rf"{_HEAD}|all|overall|combined|all combined|all together|all totals?|{_HEAD} (?:of |for )?all",
        rf"all (?:of )?(?:the )?{_NUMBER}{many}(?: combined| together| {_TOTAL})?",
        rf"{many} (?:{_HEAD}|combined|together)",
        rf"{one} (?:{_TOTAL}|{_AVERAGE})",
        rf"{_HEAD} (?:(?:of|for|over|across|in) )?{_ALL}{many}",
        rf"(?:{_TOTAL}|{_AVERAGE}) (?:(?:per|of|for|in) )?(?:the )?(?:whole |entire )?{ours}",
        rf"(?:{_TOTAL}|{_AVERAGE}) (?:per|of|for|in) (?:the )?{one}",
        rf"(?:{_HEAD} (?:(?:of|for|in) )?)?(?:the )?(?:whole(?: of)?|entire) (?:the )?{one}",
        rf"all of (?:the )?{one}",
        r"total (?:count|households|inhabitants|number|people|persons|population|residents)",
        rf"{one} as a whole",
    )
    return re.compile("|".join(f"(?:{form})" for form in forms))


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(re.escape(word) for word in dict.fromkeys(words))})"
