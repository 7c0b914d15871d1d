"""Plans, offers and requests: nothing has happened by them. `The guild planned to sell the mill`."""

from __future__ import annotations

import re

from ai.text.meaning.otherwise.asked import Asked
from ai.text.meaning.otherwise.verdicts import turns
from ai.text.support import WORD, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import word_list
from retrieval.english.stems import root_of

_PLANS = re.compile(
    r"\A\W*+(?P<holder>(?:[\w'’.-]{1,40},?\s){1,9}?)(?:(?:had|has|have|now|also|once|then|even)\s){0,3}"
    r"(?:intend(?:s|ed)?|plan(?:s|ned)?|propos(?:es|ed)|hop(?:es|ed)|want(?:s|ed)?|wish(?:es|ed)?|aim(?:s|ed)?"
    r"|offer(?:s|ed)?|threaten(?:s|ed)?|promis(?:es|ed)|consider(?:s|ed)?|appl(?:ies|ied)"
    r"|(?:ask|urg)(?:s|es|ed)(?:\s[\w'’-]{1,40}){0,4}?)\s(?:to\s(?P<deed>[a-z]{3,40})|(?P<doing>[a-z]{2,40}ing))\b",
    re.IGNORECASE,
)
_JOINS = word_list("who which whom whose when where because since as if although though while despite that")


def is_planned(text: str, asked: Asked) -> bool:
    """True if the question asks for what has happened, and the sentence tells that it was meant to, and no more."""
    if not asked.is_past or not asked.deed or turns(text):
        return False
    found = _PLANS.match(text)
    if found is None or not _JOINS.isdisjoint(fold(word) for word in WORD.findall(found["holder"])):
        return False
    return asked.deed in and_alike({root_of(fold(found["deed"] or found["doing"]))})
