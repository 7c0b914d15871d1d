"""Whom a passage means by `he` or `she`, where another part of its document names that person.

A biography names its person once and then says `she`; questions call that person by name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from retrieval.english.pronouns import Meaning, Person, Told, has_pronoun, meanings

Span = tuple[int, int]
_BLANK = re.compile(r"\n[^\S\n]*\n")
_GAP = 20
"""Characters before a sentence in which a paragraph ends."""
_NARRATED = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Ww]e|[Oo]ur)\b")


def subjects(text: str, passages: Iterable[Sequence[Span]]) -> list[Person | None]:
    """Of each passage of a section, by the spans of its sentences, the first person whom it means by what stands before
    it; None where there is none, or where it says itself who that is."""
    told = [[_told(text, *span) for span in spans] for spans in passages]
    if not any(has_pronoun(each.text) for passage in told for each in passage):
        return [None] * len(told)
    meant = iter(meanings([each for passage in told for each in passage], whole=True))
    return [_before(passage, [next(meant) for _ in passage]) for passage in told]


def _before(passage: Sequence[Told], meant: Sequence[Meaning]) -> Person | None:
    """The person without whom the passage does not say whom a pronoun means, if with that person it says nothing else
    than the section does."""
    if not any(each.pronouns for each in meant) or any(_NARRATED.search(each.text) for each in passage):
        return None
    alone = meanings(passage)
    missing = [
        each for one, other in zip(meant, alone, strict=True) for each in one.pronouns if each not in other.pronouns
    ]
    often = (person for person, _ in Counter(missing).most_common())
    return next((each for each in often if _says_no_more(passage, each, meant)), None)


def _says_no_more(passage: Sequence[Told], person: Person, meant: Sequence[Meaning]) -> bool:
    known = meanings(passage, person)
    agrees = all(set(one.pronouns) <= set(other.pronouns) for one, other in zip(known, meant, strict=True))
    return agrees and any(person in each.pronouns for each in known)


def paragraphs(text: str, start: int, end: int) -> Iterator[Span]:
    """The spans between blank lines."""
    for found in _BLANK.finditer(text, start, end):
        yield start, found.start()
        start = found.end()
    yield start, end


def _told(text: str, start: int, end: int) -> Told:
    before = text[max(0, start - _GAP) : start]
    return Told(" ".join(text[start:end].split()), not before.strip() or _BLANK.search(before) is not None)
