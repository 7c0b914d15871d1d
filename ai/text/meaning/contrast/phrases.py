"""Phrases that say of what, by what or for what something is: `the journey by ship` is not the one by railway."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ai.text.meaning.contrast.names import names_in
from ai.text.meaning.contrast.opposites import AT_LEAST
from ai.text.support import WORD, all_roots, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import DATES, UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of

_OF = re.compile(
    r"\b(?P<head>[a-z]{3,})\s(?P<by>of|by|for|with|about|against|through|between|towards?|at|in|on|near|outside|inside|behind"
    r"|beside|opposite|under|from|to|into)\s"
    r"(?P<what>(?:[A-Za-z][\w'’-]*\s?){1,4})",
    re.IGNORECASE,
)
_WHERE = dict.fromkeys(word_list("at in on near outside inside behind beside opposite under"), "where")
_NO_WHAT = word_list("by in at on with from")
_ASKED_WHAT = word_list("what which whom whose who when if because while that how where why")
_ITSELF = word_list("it them him us me you itself themselves")
_TIMES = frozenset(
    map(
        root_of,
        word_list(
            "war peace day night morning afternoon evening week weekend month year season spring summer autumn winter "
            "past future century decade meantime beginning end"
        ),
    )
)
_HELPS = re.compile(r"\b(?:do|does|did|can|could|will|would|shall|should|may|might|must)\b", re.IGNORECASE)
Phrase = tuple[str, str, frozenset[str], bool]
"""A head, how it is bound, the roots of what to, and whether that is a name."""


def phrases_in(text: str, *, asks: bool = False) -> Iterator[Phrase]:
    """`journey by ship`, `keeper of the old mill`. `asks`: what ends a question with a helping verb is its own verb.
    A question word, a conjunction and a pronoun are nothing that something is of."""
    for found in _OF.finditer(AT_LEAST.sub(" ", text)):
        head, what = fold(found["head"]), [fold(word) for word in WORD.findall(found["what"])]
        if head in UNWEIGHED_WORDS or (what and what[0] in _NO_WHAT):  # `It was paid for by the guild`
            continue
        first = next((n for n, word in enumerate(what) if word not in UNWEIGHED_WORDS), len(what))
        if what and (what[0] in _ITSELF or not _ASKED_WHAT.isdisjoint(what[: first + 1])):
            continue
        after = (n for n, word in enumerate(what) if n > first and word in UNWEIGHED_WORDS)
        said = what[first : next(after, len(what))]
        if asks and len(said) > 1 and not text[found.end() :].strip(" ?.!") and _HELPS.search(text, 0, found.start()):
            said = said[:-1]
        roots = frozenset(root_of(word) for word in said)
        if not roots:
            continue
        by = fold(found["by"])
        if roots <= DATES:
            continue
        yield (
            root_of(head),
            _WHERE.get(by, by),
            and_alike(roots) if asks else roots,
            any(word[0].isupper() for word in found["what"].split()),
        )


def is_of_another(phrases: tuple[Phrase, ...], text: str, own: frozenset[str]) -> bool:
    """True if the text says nothing of what something is of in a question's phrases, and that it is of something else.
    What the title (`own`, as roots) names is no other for being called `the city` here, nor is what it is called by its
    initials, nor a place for a time."""
    said = all_roots(text) | {"".join(word[0] for word in name) for name in names_in(text)}
    missing = [each for each in phrases if said.isdisjoint(each[2])]
    told = list(phrases_in(text)) if missing else []
    return any(
        (head, by) == (one, beside)
        and not (named and not other and not own.isdisjoint(what))
        and not (not what.isdisjoint(_TIMES) and other_what.isdisjoint(_TIMES))
        for head, by, what, named in missing
        for one, beside, other_what, other in told
    )
