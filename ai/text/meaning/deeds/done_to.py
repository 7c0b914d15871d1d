"""The deed that was done to somebody who is named: `Who succeeded Ida Holm?` is not told by whom Ida Holm succeeded."""

from __future__ import annotations

import re

from ai.text.support import WORD, fold
from retrieval.english.lists import word_list
from retrieval.english.stems import root_of

_WHO_DID = re.compile(
    r"\W*who\s(?!(?:is|was|are|were|has|had|have|does|did|will|would|can|may|must)\b)(?P<deed>[a-z]{3,})\s(?:the\s)?(?P<name>[A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*)*)\W*\Z",
    re.IGNORECASE,
)
_FOLLOWERS = {
    root_of("succeeded"): word_list("successor heir"),
    root_of("replaced"): word_list("successor replacement"),
    root_of("followed"): word_list("successor"),
    root_of("preceded"): word_list("predecessor"),
    root_of("married"): word_list("husband wife spouse"),
}
_BE = word_list("is was be become became")


def done_to(question: str) -> tuple[str, ...]:
    """The root of the deed, and the words of the name that it was done to."""
    found = _WHO_DID.match(question)
    return (root_of(fold(found["deed"])), *map(fold, WORD.findall(found["name"]))) if found else ()


def has_done(text: str, done: tuple[str, ...]) -> bool:
    """True if the sentence says that the name did it, or is the one who did: `Ida Holm succeeded`, `her successor is
    Ida Holm`; not of a group that is `led by` somebody."""
    deed, *name = done
    words = [fold(word) for word in WORD.findall(text)]
    for at in range(len(words) - len(name) + 1):
        if words[at : at + len(name)] != name:
            continue
        after, before = words[at + len(name) : at + len(name) + 2], words[max(0, at - 3) : at]
        if [root_of(word) for word in after[:1]] == [deed] and after[1:] != ["by"]:
            return True
        if before and before[-1] in _BE and not _FOLLOWERS.get(deed, frozenset()).isdisjoint(before):
            return True
    return False
