"""The clause of a question: its helping verb, the words behind it, and where its verb is."""

from __future__ import annotations

import re

from ai.text.support import fold
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of

HELPER = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)"
_DOES_OR_IS = re.compile(
    rf"\b(?P<helper>{HELPER})\s(?:the\s|an?\s|his\s|her\s|its\s|their\s|our\s)?(?P<rest>[\w'’-]+(?:\s[\w'’-]+){{1,12}})",
    re.IGNORECASE,
)
BE = word_list("is are was were be been being")
_WHO = re.compile(rf"\A\W*(?:who|what)\s(?!{HELPER}\b)(?P<deed>[a-z]{{3,}})\b", re.IGNORECASE)
_PLACED = word_list("in at on near from behind above below beside")
ENDS_VERB = word_list(
    "the a an his her its their our in on at to for from by with about against after before during into onto "
    "off out up down over under through until since away back when while if as than that which who and or but "
    "so all every each"
)
ARTICLES = word_list(
    "the a an his her its their our two three four five six seven eight nine ten many several some all"
)


def clause_of(question: str) -> tuple[str, list[str], int]:
    """The helping verb of a question, the words behind it and an article, and where among them its verb is."""
    found = _DOES_OR_IS.search(question)
    words = found["rest"].split() if found is not None else []
    return found["helper"] if found is not None else "", words, _verb(words)


def _verb(words: list[str]) -> int:
    """Where the verb is in what follows a helping verb and an article: before what ends it, else the last word; 0 where
    that is not known."""
    for at in range(behind_place(words) + 1, len(words)):
        ends = words[at].casefold() in ENDS_VERB or (at > 1 and words[at][0].isupper())
        if ends and words[at - 1].casefold() != "of" and words[at - 1][0].islower():
            return at - 1
    return len(words) - 1 if words and words[-1][0].islower() else 0


def behind_place(words: list[str]) -> int:
    """How many words are a noun and where it is: `archive in Lisbon` of `archive in Lisbon send to the observatory`."""
    if len(words) < 4 or words[1] not in _PLACED or not words[0][0].islower():
        return 0
    at = 3 if words[2] in ARTICLES else 2
    while at < len(words) - 1 and words[at][0].isupper() and words[at + 1][0].isupper():
        at += 1
    return at + 1 if at + 1 < len(words) else 0


def deed_of(question: str) -> str:
    """The root of the verb that is asked about, where it is known: of `Who taught Ben Holt?`, `When did it sink?`."""
    _, words, verb = clause_of(question)
    if verb:
        return root_of(fold(words[verb]))
    found = _WHO.match(question)
    return root_of(fold(found["deed"])) if found is not None else ""


def phrase_of(words: list[str]) -> list[str]:
    """The words of a phrase that begins with an article, without that."""
    said = words[1:5]
    end = next((n for n, word in enumerate(said) if word in ENDS_VERB or word in UNWEIGHED_WORDS), len(said))
    return said[:end]
