"""Words that hang on one that a sentence leaves out: the deed that somebody only agreed to, the mayor of `the wife of
the mayor`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ai.answer.claims.lexicon import BRINGING_ABOUT, CONTAINERS, ORDINALS, PARTS
from ai.answer.claims.roles import Found, Placed, subjects_behind
from ai.answer.claims.tokens import Token
from retrieval.english.stems import stem

_AHEAD = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|going|ought|about|yet)\s+to(?:\s+(?:be|been|have))*\s*$", re.IGNORECASE
)
"""A deed that is still to be done: `was to open`, not `had to`."""
_INFINITIVE = re.compile(r"\bto\s+(?:be\s+|have\s+|been\s+)*(?:\w+ly\s+)?$", re.IGNORECASE)
_BEING = re.compile(r"(?<!,) being\s+(?:\w+ly\s+)?$")
_AS_MANY = re.compile(r"\bas (?:many|much|few|little|high|low|long|late|early) as\s+$", re.IGNORECASE)
_IS = re.compile(r"\b(?:is|are|was|were|be|been|am)\b", re.IGNORECASE)
_ABOUT = frozenset({"concerning", "regarding", "like", "unlike", "versus"})
"""Prepositions that are words of their own here."""
_ABOUT_WORD = re.compile(r"\babout\b", re.IGNORECASE)
_WORDS_BEFORE = 60
"""Characters before a word that are looked at."""


def governed(mine: Sequence[Token], theirs: Sequence[Token], placed: Placed, text: str, source: str) -> Found:
    """A word that is mine without a preposition hangs on none in the source, or on a word that is mine too: what
    somebody planned to do, or was accused of, is not done, and the wife of the mayor is not the mayor."""
    kept, subjects = set(placed.values()), subjects_behind(mine, theirs, placed, source)
    for i, j in placed.items():
        a, b = mine[i], theirs[j]
        before = source[max(0, b.start - _WORDS_BEFORE) : b.start]
        if b.number and _AS_MANY.search(before) and not _AS_MANY.search(text[: a.start]):
            return "not_in_source", f"the source says “{before.split()[-2]} as {b.text}”"
        if a.opener or b.after_comma or i in subjects:
            continue
        if _AHEAD.search(before) and b.opener == "to":
            return "not_in_source", f"in the source “{b.text}” is still to come"
        gerund = b.text.endswith("ing") and not a.text.endswith("ing")
        first = j if gerund else _phrase_begins(j, theirs, kept, source)
        if not first or first - 1 in kept or theirs[first].after_comma:
            continue
        between = source[theirs[first - 1].end : theirs[first].start]
        if _is_deed(theirs[first], between, gerund=gerund):
            hangs = not _comes_about(first - 1, theirs) and not (gerund and _is_stated(theirs[first], between))
        else:
            hangs = _is_part(b, first, theirs, source, between)
        if hangs:
            return "contradicted", f"in the source “{b.text}” hangs on “{theirs[first - 1].text}”"
    return None


def _is_deed(first: Token, between: str, *, gerund: bool) -> bool:
    """True if a deed is named by its infinitive, a gerund or `being done`."""
    return gerund or (first.opener == "to" and bool(_INFINITIVE.search(between))) or bool(_BEING.search(between))


def _is_stated(first: Token, between: str) -> bool:
    """True if a gerund tells what is done: `was opening`, `by opening`."""
    return first.opener == "by" or (not first.opener and _IS.search(between) is not None)


def _is_part(b: Token, first: int, theirs: Sequence[Token], source: str, between: str) -> bool:
    """True if the thing is only what the word before its phrase belongs to, is about, or is for."""
    opener, head = theirs[first].opener, theirs[first - 1]
    if _is_infinitive(first - 1, theirs, source):
        return not _comes_about(first - 2, theirs)
    if b.number:
        return opener == "of" and bool(head.number or head.mark or head.key in PARTS)
    if head.key in _ABOUT or _ABOUT_WORD.search(between):
        return True
    return opener not in ("", "by") and not b.name and head.key not in CONTAINERS


def _is_infinitive(at: int, theirs: Sequence[Token], source: str) -> bool:
    """True if the word is what something that is left out is for: `build` of `the plan to build a bridge`."""
    if at < 1 or theirs[at].opener != "to" or theirs[at].after_comma:
        return False
    return _INFINITIVE.search(source, theirs[at - 1].end, theirs[at].start) is not None


def _phrase_begins(j: int, theirs: Sequence[Token], kept: set[int], source: str) -> int:
    """The first word of the phrase that ends with the one at `j`: what is left out right before it goes with it."""
    while (
        j and not theirs[j].opener and j - 1 not in kept and not source[theirs[j - 1].end : theirs[j].start].strip(" -")
    ):
        if theirs[j - 1].after_comma or theirs[j - 1].mark:
            break
        j -= 1
    return j


def _comes_about(at: int, theirs: Sequence[Token]) -> bool:
    """True if what hangs on the word is done: `managed to`, `the first woman to`."""
    near = theirs[max(0, at - 2) : at + 1]
    return stem(theirs[at].key) in BRINGING_ABOUT or any(token.key in ORDINALS for token in near)
