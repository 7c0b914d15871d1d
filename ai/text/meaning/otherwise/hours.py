"""Opening is not told by closing: `When does the counter open?` is not answered by `It is closed on Wednesdays`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ai.text.meaning.otherwise.asked import Asked
from ai.text.question_type import WantedKind, denies, first_word
from ai.text.support import all_roots
from retrieval.english.alike import and_alike
from retrieval.english.lists import word_list
from retrieval.english.stems import root_of

_OPENS = frozenset(map(root_of, word_list("open reopen opening")))
_CLOSES = frozenset(map(root_of, word_list("close closed shut closure reclose")))
_SPAN = re.compile(
    r"\b(?:until|till|to|through|from|between|except|only|before|after|when|unless|but|not|never|no|once|always"
    r"|all|every|stays?|remains?)\b|\d\s?[–—-]\s?\d",
    re.IGNORECASE,
)
"""A span has two ends and an exception its rule: `closed until May` tells when it opens."""
_ARTICLES = word_list("the our its their his her")
_LASTS = re.compile(r"\b(?:until|till|how\s(?:long|late))\b", re.IGNORECASE)
_WHICH_DAYS = re.compile(r"\b(?:what|which)\s(?:days?|hours?|months?|weekdays?)\b", re.IGNORECASE)
_IS_CLOSED = re.compile(r"\b(?:is|are)\b.{1,80}\b(?:closed|shut)\b", re.IGNORECASE)


def tells_hours(text: str, around: Sequence[str], asked: Asked) -> bool:
    """True unless the question asks at what time something opens, or closes, and the sentence tells the other alone; or
    where it asks when something is closed, nothing of that, or that of something else, which those `around` it name
    apart."""
    if asked.wanted is not WantedKind.TIME and not _WHICH_DAYS.search(asked.question):
        return True
    every, said = all_roots(asked.question), all_roots(text)
    opens, closes = not _OPENS.isdisjoint(every), not _CLOSES.isdisjoint(every)
    if opens == closes or _LASTS.search(asked.question) or denies(asked.question):
        return True
    own, other = (_OPENS, _CLOSES) if opens else (_CLOSES, _OPENS)
    if not own.isdisjoint(said):
        return asked.is_past or not _is_of_another(text, around, asked)
    if _SPAN.search(text):
        return True
    return other.isdisjoint(said) and not (closes and _IS_CLOSED.search(asked.question))


def _is_of_another(text: str, around: Sequence[str], asked: Asked) -> bool:
    """True if the sentence begins with a thing, and another names the one asked about: where the question asks for its
    hours of opening, with those of closing."""
    heads = and_alike({asked.head})
    if not asked.head or not (heads | {"we"}).isdisjoint(all_roots(text)) or first_word(text) not in _ARTICLES:
        return False
    told = [all_roots(each) for each in around if not heads.isdisjoint(all_roots(each))]
    closed = _IS_CLOSED.search(asked.question) is not None
    return any(closed or not (_OPENS | _CLOSES).isdisjoint(roots) for roots in told)
