"""Words that hang on one that is left out: the deed that somebody only agreed to, the mayor of `the mayor's wife`."""

from __future__ import annotations

import re

from ai.answer.claims.lexicon import BRINGING_ABOUT, CONTAINERS, ORDINALS, PARTS
from ai.answer.claims.matched import Found, Matched, lost
from ai.answer.claims.roles import GOVERNING, subjects_behind
from ai.answer.claims.tokens import Token
from retrieval.english.stems import stem

_AHEAD = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|going|ought|about|yet)\s+to(?:\s+(?:be|been|have))*\s*$", re.IGNORECASE
)
"""A deed that is still to be done: `was to open`, not `had to`."""
_INFINITIVE = re.compile(r"\bto\s+(?:be\s+|have\s+|been\s+)*(?:\w+ly\s+)?$", re.IGNORECASE)
_BEING = re.compile(r"(?<!,) being\s+(?:\w+ly\s+)?$")
_COMPARED = re.compile(
    r"\b(?:as (?:many|much|few|little|high|low|long|late|early) as"
    r"|(?:more|less|fewer|other|rather|older|newer|later) than"
    r"|than(?: in| on| at| for| by| to| from| with)?(?: the| a| an| their| its| his| her)?)\s+$",
    re.IGNORECASE,
)
_COMPARING = re.compile(r"\b(?:than|as \w+ as)\b", re.IGNORECASE)
_IS = re.compile(r"\b(?:is|are|was|were|be|been|am)\b", re.IGNORECASE)
_ABOUT = frozenset({"concerning", "regarding", "like", "unlike", "versus"})
"""Prepositions that are words of their own here."""
_ABOUT_WORD = re.compile(r"\babout\b", re.IGNORECASE)
_AMONG = frozenset({"among", "amongst"})
_FEWER = frozenset({"fewer", "less", "least", "fewest"})


def hanging(both: Matched) -> Found:
    """A word that is mine without a preposition hangs on none in the source, or on a word that is mine too: what
    somebody planned to do, or was accused of, is not done, and the wife of the mayor is not the mayor."""
    behind = subjects_behind(both)
    for i, j in both.placed.items():
        a, b = both.mine[i], both.theirs[j]
        if _COMPARED.search(both.before(j)) and not _COMPARING.search(both.before_mine(i)):
            return lost(b, "is compared with")
        if j and not both.has(j - 1) and both.theirs[j - 1].key in _FEWER and both.adjoin(j):
            return lost(b, f"are “{both.theirs[j - 1].text}”")
        if a.opener == "by" and not b.opener and j and not re.search(r"\b(?:and|or)\b|,", both.between(j - 1, j)):
            return lost(b, "is not by whom it is done")
        if a.opener or b.after_comma or i in behind:
            continue
        if b.opener in _AMONG or (b.opener == "of" and not j and both.source.startswith("Of ")):
            return lost(b, "are those of which some are meant")
        head = _still_to_come(j, both) or _hangs_on(i, j, both)
        if head is not None:
            return lost(b, f"hangs on “{head.text}”")
    return None


def _still_to_come(j: int, both: Matched) -> Token | None:
    """The word before a deed that is still to be done, or that somebody else is told to do."""
    before = both.before(j)
    if not j or both.theirs[j].opener != "to":
        return None
    if _AHEAD.search(before):
        return both.theirs[j - 1]
    return _ordering(j, both) if both.has(j - 1) and _INFINITIVE.search(before) else None


def _ordering(j: int, both: Matched) -> Token | None:
    """The verb that is left out by which somebody is told, asked or allowed to do what stands at `j`: `ordered` of
    `ordered the soldiers to burn`."""
    theirs, n = both.theirs, j - 1
    while n and not theirs[n].after_comma and both.has(n - 1) and not theirs[n].opener:
        n -= 1
    if not n or theirs[n].after_comma or theirs[n].opener or theirs[n - 1].name or _comes_about(n - 1, both):
        return None
    return theirs[n - 1]


def _hangs_on(i: int, j: int, both: Matched) -> Token | None:
    """The word that is left out on which the word at `j` hangs."""
    a, b, theirs = both.mine[i], both.theirs[j], both.theirs
    gerund = b.text.endswith("ing") and not a.text.endswith("ing")
    predicate = i > 0 and not b.mark and not both.text[both.mine[i - 1].end : a.start].strip()
    first = j if gerund or predicate or b.mark or b.key in GOVERNING else _phrase_begins(j, both)
    if not first or both.has(first - 1) or theirs[first].after_comma:
        return None
    head, between = theirs[first - 1], both.between(first - 1, first)
    if gerund or _BEING.search(between) or (theirs[first].opener == "to" and _INFINITIVE.search(between)):
        stated = gerund and (theirs[first].opener == "by" or (not theirs[first].opener and bool(_IS.search(between))))
        return None if stated or _comes_about(first - 1, both) else head
    if predicate and _is_bare(a, b) and both.adjoin(j):
        return head
    return head if _is_part(first, j, both, between) else None


def _is_part(first: int, j: int, both: Matched, between: str) -> bool:
    """True if the thing is only what the word before its phrase belongs to, is about, or is for."""
    theirs, b = both.theirs, both.theirs[j]
    opener, head = theirs[first].opener, theirs[first - 1]
    if first > 1 and head.opener == "to" and not head.after_comma:
        for_it = both.between(first - 2, first - 1)
        if _INFINITIVE.search(for_it):  # `build` of `the plan to build a bridge`
            return not _comes_about(first - 2, both)
    if b.number:
        return opener == "of" and bool(head.number or head.mark or head.key in PARTS)
    if head.key in _ABOUT or _ABOUT_WORD.search(between):
        return True
    return opener not in ("", "by") and head.key not in CONTAINERS and not head.number


def _is_bare(a: Token, b: Token) -> bool:
    """True if mine is an inflected form of a verb that is bare in the source: `watched him grease` is no `greased`."""
    mine, theirs = a.text.casefold(), b.text.casefold()
    return mine != theirs and mine.endswith(("ed", "s")) and not theirs.endswith(("ed", "s", "ing")) and not a.name


def _phrase_begins(j: int, both: Matched) -> int:
    """The first word of the phrase that ends with the one at `j`: what is left out right before it goes with it."""
    theirs = both.theirs
    while j and not theirs[j].opener and not both.has(j - 1) and both.adjoin(j):
        if theirs[j - 1].after_comma or theirs[j - 1].mark or (theirs[j].name and not theirs[j - 1].name):
            break
        j -= 1
    return j


def _comes_about(at: int, both: Matched) -> bool:
    """True if what hangs on the word is done: `managed to`, `the first woman to`."""
    near = both.theirs[max(0, at - 2) : at + 1]
    return stem(both.theirs[at].key) in BRINGING_ABOUT or any(token.key in ORDINALS for token in near)
