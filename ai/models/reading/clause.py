"""The clause of a question that is asked about, and whether it asks who did it."""

from __future__ import annotations

import re

from ai.text.support import WORD, fold
from retrieval.english.lists import SUBJECT_PRONOUNS, UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_past

_HELPED = re.compile(
    r"\b(?:do|does|did|can|could|should|must|may|might|will|would|shall)\s+(?P<rest>[^?;:,()]+)", re.IGNORECASE
)
_BEEN = re.compile(r"\b(?:is|are|was|were|be|been|being|has|have|had)\s+(?P<rest>[^?;:,()]+)", re.IGNORECASE)
_DOER = re.compile(r"^\W*(?:who|what)\s+(?P<deed>[a-z][\w'’-]+)\b", re.IGNORECASE)
_DOING = re.compile(r"^\W*who\s+(?:is|was|are|were)\s+(?P<deed>[a-z]{2,}ing)\s", re.IGNORECASE)
_WHICH_DOES = re.compile(
    r"^\W*(?:which|what)\s+(?:[a-z-]+\s+){1,2}?(?P<deed>[a-z]{3,})\s+(?:(?:the|an?|his|her|its|their|our)\s|[A-Z])",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"^\W*how\s+(?:many|much)\s+(?P<rest>[^?;:,()]+)", re.IGNORECASE)
TURN = re.compile(
    r"\b(?:in|at|on|for|to|from|by|with|after|before|during|into|onto|upon|about|between|among|against|under|over|"
    r"through|until|since|because|when|while|if|as|per|than|that|which|who|and|or|but|so)\b",
    re.IGNORECASE,
)
"""Words at which another phrase begins."""
_WHO_MAY = re.compile(
    r"^\W*who\s+(?:(?:has|have|had|needs?|is\s+(?:allowed|permitted|supposed))\s+to|can(?:not|['’]t)?|could(?:n['’]t)?|may|might|must(?:n['’]t)?|should(?:n['’]t)?|shall|will|would)"
    r"(?:\s+(?:not|also|only|never))?\s+(?!be\b)(?P<rest>[^?;:,()]+)",
    re.IGNORECASE,
)
_EMPTY_VERBS = word_list("have has had do be")


def clause_of(question: str) -> tuple[str, ...]:
    """The words of the clause that is asked about, its verb last: `wheat`, `loaves` and `cool` in `How long do wheat
    loaves cool?`; empty where none is found. In `Who may open the door?` the verb comes first, and `have` is a verb
    that says nothing, written as an empty word."""
    asked = _WHO_MAY.match(question)
    if asked is not None:
        words = [match[0] for match in WORD.finditer(TURN.split(asked["rest"], maxsplit=1)[0])]
        words = [fold(word) for word in reversed(words) if word[0].islower()]
        return tuple(word for word in words if word not in UNWEIGHED_WORDS)
    doing = _DOING.match(question)
    if doing is not None:
        return (fold(doing["deed"]),)
    for pattern, any_form in ((_HELPED, True), (_BEEN, False)):
        found = pattern.search(question)
        if found is None:
            continue
        clause = TURN.split(found["rest"], maxsplit=1)[0]
        words = [match[0] for match in WORD.finditer(clause)]
        if any_form and words and words[0].casefold() in SUBJECT_PRONOUNS:
            words = [*reversed(words)]  # `Can I freeze fish`: the deed comes first
        empty = bool(words) and fold(words[-1]) in _EMPTY_VERBS
        words = [fold(word) for word in words if word[0].islower() and fold(word) not in UNWEIGHED_WORDS]
        if empty:
            return (*words, "")
        return tuple(words) if words and (any_form or is_past(words[-1])) else ()
    counted = _COUNTED.match(question)
    if counted is not None:
        words = [match[0] for match in WORD.finditer(TURN.split(counted["rest"], maxsplit=1)[0])]
        return tuple(fold(word) for word in words if word[0].islower() and fold(word) not in UNWEIGHED_WORDS)
    found = _DOER.match(question) or _which_does(question)
    return (fold(found["deed"]),) if found is not None and fold(found["deed"]) not in UNWEIGHED_WORDS else ()


def asks_doer(question: str) -> bool:
    """True if it asks who or what did it, does it or may do it."""
    doer = _DOER.match(question) or _which_does(question) or _DOING.match(question)
    named = doer is not None and fold(doer["deed"]) not in UNWEIGHED_WORDS
    return named or _WHO_MAY.match(question) is not None


def _which_does(question: str) -> re.Match[str] | None:
    """The verb of `Which bank issues the cards?`; None where another verb may be meant."""
    found = _WHICH_DOES.match(question)
    if found is None:
        return None
    deed = fold(found["deed"])
    verb = is_past(deed) or (deed.endswith("s") and not deed.endswith("ss"))
    return found if verb and deed not in UNWEIGHED_WORDS else None
