"""The verdict on a belief: the sentence itself goes on against it, or the next one denies it."""

from __future__ import annotations

import re

from ai.text.support import weighed_roots
from retrieval.english.alike import and_alike

_TURNS = re.compile(
    r"[;:]\s|,?\s(?:but|although|though|yet|however|whereas)\s"
    r"|,\s(?:and|which|as|because)\s(?:[\w'’-]{1,40}\s){0,3}(?:right|wrong|true|false)\b",
    re.IGNORECASE,
)
_DENY = r"(?:den(?:y|ies|ied)|reject(?:s|ed)?|dismiss(?:es|ed)?|doubt(?:s|ed)?|contradict(?:s|ed)?|disprov(?:e|es|ed))"
_NO = r"no\s(?:[a-z]{1,40}\s)?(?:evidence|proof|truth|sign|trace|basis|grounds?|support|record|link|connection)"
_REFUTES = re.compile(
    rf"\A\W*+(?:in\s(?:fact|reality|truth)|actually|however|but|nothing|none|nobody|neither|no)\b|\b{_DENY}\b|\b{_NO}\b"
    r"|\b(?:refut|debunk|disagree)[a-z]*\b|\bno\s(?:[a-z]{1,40}\s)?(?:difference|increase|decrease|change|effect|such)\b"
    r"|\bnothing\s(?:came|has\scome|of\sthe)\b|\b(?:false|untrue|unfounded|groundless|mistaken|a\smyth|wrong|exaggerated)\b"
    r"|\b(?:this|that|it|they|these|fears?|hopes?|rumou?rs?)\s(?:is|was|were|are|has|have|had|did|does|do|will|would|could"
    r"|proved|turned\sout)(?:n['’]t|\s(?:[a-z]{1,40}\s){0,2}(?:not|never)\b)",
    re.IGNORECASE,
)
_OF_IT = re.compile(
    rf"\b(?:this|it|they|them|these|such|so|either|{_NO}|no\s(?:difference|increase|decrease|change|effect)|that\W*\Z"
    r"|nothing\sof|the\s(?:rumou?r|fear|belief|claim|story|hope|idea|legend|theory|allegation|suspicion|report)s?)\b",
    re.IGNORECASE,
)
_DENIES_IT = re.compile(
    rf"\A\W*+(?:[\w'’.-]{{1,40}}\s){{1,6}}?(?:{_DENY}|disput(?:e|es|ed)|confirm(?:s|ed)?|{_NO}\s(?:for|of|in|to))"
    r"\s(?:this|that|it|them)\W*\Z",
    re.IGNORECASE,
)


def turns(text: str) -> bool:
    """True if a sentence goes on against what it tells, and so says itself what came of it."""
    return _TURNS.search(text) is not None


def refutes(text: str, said: str) -> bool:
    """True if a sentence denies what is said before it: it means that, or names something of it."""
    if _REFUTES.search(text) is None:
        return False
    return _OF_IT.search(text) is not None or not and_alike(weighed_roots(said)).isdisjoint(weighed_roots(text))


def denies_it(text: str) -> bool:
    """True if a sentence denies or confirms what only the one before it tells: `The county has denied this.`"""
    return _DENIES_IT.match(text) is not None
