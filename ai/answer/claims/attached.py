"""Words of the source that go with the one beside them: the unit of a number, the name before a bracket, the part that
a number counts, and whether `and` or `or` joins it to the next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ai.answer.claims.lexicon import ORDINALS, SUPERLATIVES
from ai.answer.claims.matched import Found, Matched
from ai.answer.claims.tokens import Token
from ai.text.tables.units import units_called

_SIGN_BEFORE = re.compile(r"[$€£¥₹]\s?\Z")
_UNIT_BEHIND = re.compile(r"[\s-]{0,2}(?P<unit>[$€£¥₹]|°[cf]\b|[^\W\d_]+)", re.IGNORECASE)
_AND, _OR = re.compile(r"\band\b", re.IGNORECASE), re.compile(r"\bor\b", re.IGNORECASE)
_BRACKET = re.compile(
    r"\([^()]{2,80}\)|,\s(?:the|an?|its|our|his|her|their)\s[a-z][^,;.:()]{1,40}(?=[,;.:])"
    r"|,\s[a-z][\w-]{2,20}(?:\s[a-z][\w-]{2,20})?(?=;|\.|,\s[A-Z])"
)
_WHO_IS = re.compile(r"\b(?:is|was|are|were)\b", re.IGNORECASE)
_PART = re.compile(r"\bof (?:which|whom|these|those|them)\b|\b(?:among|including)\b", re.IGNORECASE)
_OWNED = re.compile(r"\b(?:the|an?|its|their|his|her|our|my|your|whose)\s+\Z", re.IGNORECASE)
_MOST_CALLED = 6
"""Words of a sentence that says who somebody is."""
_RANKS = SUPERLATIVES | ORDINALS


def attached(both: Matched) -> Found:
    """The verdict for a word of mine that the source sets beside another; None where it goes with the same."""
    for check in (_units, _joined, _bracketed, _called, _part, _ranked):
        found = check(both)
        if found is not None:
            return found
    return None


def _units(both: Matched) -> Found:
    """`£3,250` is no `$3,250`, and 1.8 km are no 1.8 m."""
    for i, j in both.placed.items():
        if not (both.mine[i].number and both.theirs[j].number):
            continue
        said, told = _units_of(both.text, both.mine[i]), _units_of(both.source, both.theirs[j])
        if said and told and said.isdisjoint(told):
            return "contradicted", f"“{both.mine[i].text}” is of another unit in the source"
        if (sign := _sign_before(both.text, both.mine[i])) and not told:
            return "not_in_source", f"the source does not say “{sign}”"
    return None


def _units_of(text: str, number: Token) -> frozenset[tuple[str, str]]:
    if sign := _sign_before(text, number):
        return units_called(sign)
    behind = _UNIT_BEHIND.match(text, number.end)
    return units_called(behind["unit"].casefold()) if behind else frozenset()


def _sign_before(text: str, number: Token) -> str:
    found = _SIGN_BEFORE.search(text, max(0, number.start - 2), number.start)
    return found[0].strip() if found else ""


def _joined(both: Matched) -> Found:
    """Of two that the source joins by `or` not both are so."""
    some = _OR.search(both.source) or _OR.search(both.text)
    for (i, j), (i2, j2) in _neighbours(both) if some else ():
        said, told = both.text[both.mine[i].end : both.mine[i2].start], both.between(j, j2)
        if _AND.search(said) and _OR.search(told) and not (_OR.search(said) or _AND.search(told)):
            return "contradicted", f"the source says “or” before “{both.theirs[j2].text}”"
        if _OR.search(said) and _AND.search(told) and not (_AND.search(said) or _OR.search(told)):
            return "not_in_source", f"the source says “and” before “{both.theirs[j2].text}”"
    return None


def _neighbours(both: Matched) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Words that stand next to each other in both."""
    for (i, j), (i2, j2) in pairwise(sorted(both.placed.items())):
        if i2 == i + 1 and j2 == j + 1:
            yield (i, j), (i2, j2)


def _bracketed(both: Matched) -> Found:
    """A bracket, or words between commas, are about the name before them: of `Lise Amont (leader), Joel Brask` not that
    Brask led."""
    for bracket in _BRACKET.finditer(both.source):
        inside = [j for j in both.kept if bracket.start() < both.theirs[j].start < bracket.end()]
        owner = _name_before(both, bracket.start())
        names = [j for j in both.kept if both.theirs[j].name and j not in inside]
        if inside and owner and names and both.taken.isdisjoint(owner):
            told = " ".join(both.theirs[j].text for j in owner)
            return "contradicted", f"in the source “{both.theirs[inside[0]].text}” is said of “{told}”"
    return None


def _called(both: Matched) -> Found:
    """Of `the apothecary Anton Voss and the pianist Clara Lind` who is told to be the pianist is Clara Lind."""
    if len(both.mine) > _MOST_CALLED or not _WHO_IS.search(both.text):
        return None
    names = [j for j in both.kept if both.theirs[j].name]
    for j in both.kept:
        if both.theirs[j].name or j + 1 >= len(both.theirs) or not both.theirs[j + 1].name or not both.adjoin(j + 1):
            continue
        if names and not both.has(j + 1):
            return "contradicted", f"in the source “{both.theirs[j].text}” is “{both.theirs[j + 1].text}”"
    return None


def _name_before(both: Matched, end: int) -> tuple[int, ...]:
    """The words of the name that ends where a bracket begins."""
    found: list[int] = []
    end_of_name = end
    for j in range(len(both.theirs) - 1, -1, -1):
        token = both.theirs[j]
        if token.end > end:
            continue
        placed = token.role == "at" and both.source[end_of_name] == ","  # `in London, the architect`
        if not token.name or placed or both.source[token.end : end].strip():
            break
        found.insert(0, j)
        end = token.start
    return tuple(found)


def _part(both: Matched) -> Found:
    """The whole is not its part: of `480 samples, of which 130 were of lichen` not 480 were."""
    for before, after in pairwise(both.kept) if _PART.search(both.source) else ():
        left = [both.theirs[k] for k in range(before + 1, after)]
        number = next((each for each in left if each.number), None)
        whole = next((both.theirs[k] for k in reversed(both.kept) if k <= before and both.theirs[k].number), None)
        if number is not None and whole is not None and _PART.search(both.between(before, after)):
            return "contradicted", f"in the source “{both.theirs[after].text}” is said of “{number.text}”"
    return None


def _ranked(both: Matched) -> Found:
    """The oldest is not any."""
    for j in both.kept:
        before = both.theirs[j - 1] if j else None
        if before is None or j - 1 in both.taken or both.theirs[j].name or both.theirs[j].number:
            continue
        if before.key in _RANKS and not both.between(j - 1, j).strip() and _OWNED.search(both.before(j - 1)):
            return "not_in_source", f"the source says “{before.text} {both.theirs[j].text}”"
    return None
