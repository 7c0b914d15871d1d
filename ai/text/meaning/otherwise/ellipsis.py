"""Sentences without a predicate of their own: `The vacuum jug is not; wash it by hand`, `So did the school`, `Not yet`.

They say something only behind the sentence that they complete, and only of what that one says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ai.text.meaning.deeds.clause import HELPER
from ai.text.meaning.otherwise.asked import Asked
from ai.text.support import WORD, fold, weighed_roots
from retrieval.english.alike import and_alike
from retrieval.english.lists import word_list

_CUT_SHORT = re.compile(
    rf"\A\W*+(?P<who>[\w'’-]{{1,40}}(?:\s[\w'’-]{{1,40}}){{0,5}})\s(?:{HELPER}|cannot)(?:n['’]t)?"
    r"(?:\s(?:not|never|always|only|both|all|so|too|either|yet|now|still|also|indeed)){0,2}"
    r"(?:\sas\swell|\sany\s(?:more|longer))?(?=\s?(?:[.;:!]|,\s(?:but|and|because|since|as|so|though|although|which)\b)"
    r"|\s(?:but|because|though|although)\b|\W*\Z)",
    re.IGNORECASE,
)
_CONT = re.compile(r"\A\W*+[\w'’-]{1,40}(?:\s[\w'’-]{1,40}){1,5}n['’]t\s?(?:[.;:!]|\Z)", re.IGNORECASE)
_TURNED = re.compile(
    rf"\A\W*+(?:so|neither|nor)\s(?:{HELPER})\s[\w'’-]{{1,40}}(?:\s[\w'’-]{{1,40}}){{0,4}}\s?(?=[.;:!,]|\Z)",
    re.IGNORECASE,
)
_REPLY = re.compile(
    r"\A\W*+(?:yes|no|not|never|hardly|rarely|seldom|sometimes|always|usually|perhaps|maybe)\b"
    r"(?:,?\s(?:yet|ever|always|now|quite|really|often|any\smore|at\sall|in\s[a-z]+|this\s[a-z]+|so)){0,2}\W*\Z",
    re.IGNORECASE,
)
_WHOLE = word_list("as than that what which who whom whose how if when where while why whatever all because and so it")
"""Words that open a clause of their own: `He ran as fast as he could`, `That is all there is`."""
_DOES = re.compile(rf"\b(?:{HELPER})\b", re.IGNORECASE)


def is_elliptical(text: str) -> bool:
    """True if a sentence, or what it begins with, ends before it says what is so."""
    if _TURNED.match(text):
        return True
    found = _CUT_SHORT.match(text)
    if found is None:
        return _CONT.match(text) is not None
    words = [fold(word) for word in WORD.findall(found["who"])]
    return _WHOLE.isdisjoint(words) and _DOES.search(found["who"]) is None


def completes(text: str, before: Sequence[str], asked: Asked) -> bool:
    """True unless a sentence has no predicate of its own, and neither it nor what it completes says anything that the
    question asks of its subject. What the first of a passage completes may be its heading, which is no sentence."""
    behind = list(before[-1:])
    if not (behind and asked.rest) or not (is_elliptical(text) or _REPLY.match(text)):
        return True
    if is_elliptical(behind[0]):
        behind += before[-2:-1]
    said = and_alike(weighed_roots(" ".join((*behind, text))))
    return not said.isdisjoint(asked.rest)
