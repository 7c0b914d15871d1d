"""The group that a question is limited to: `among beekeepers` is not answered by sources that speak of none."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ai.text.support import WORD, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of

_AMONG = re.compile(
    r"\b(?:among|amongst|except(?:\sfor)?|excluding|apart\sfrom)\s(?P<group>[^?,;.]{1,80})", re.IGNORECASE
)
_ENDS = word_list("of in on at by for from to with who whom which that when where during after before and or")


@dataclass(frozen=True, slots=True)
class Group:
    """A limit to a group. `unheld`: no source has a word for that."""

    unheld: bool

    @classmethod
    def of(cls, question: str, vocabulary: frozenset[str]) -> Group:
        """Reads the question, given the words of the sources."""
        heads = [head for found in _AMONG.finditer(question) if (head := _head(found["group"]))]
        if not heads:
            return cls(unheld=False)
        held = frozenset(map(root_of, vocabulary))
        return cls(unheld=any(held.isdisjoint(and_alike({root_of(head)})) for head in heads))


def _head(group: str) -> str:
    """The last word before what goes on from it: `the older beekeepers of the valley`."""
    head = ""
    for match in WORD.finditer(group):
        word = fold(match[0])
        if head and word in _ENDS:
            break
        head = word if word not in UNWEIGHED_WORDS and word not in _ENDS else head
    return head
