"""A question taken apart without a model: clauses, conjunctions, comparisons. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

import re2

from retrieval.english.lists import STOP_WORDS
from retrieval.english.words import words

MOST_PARTS = 4
_FEWEST_WORDS = 2
# Questions are read with single spaces between their words. What can be read in several ways is matched by RE2, which
# does not try them one after another.
_QUESTIONS = re.compile(r"\?\s+|;\s+")
_CLAUSES = re.compile(
    r",? and (?=(?:who|what|when|where|which|why|how|did|does|do|is|are|was|were)\b)"
    r"|, (?=(?:who|what|when|where|how)\b)",
    re.IGNORECASE,
)
_COMPARED = re2.compile(
    r"(?i)(?P<frame>.*?)\b(?:between|compare[ds]?|both) (?P<a>.+?) (?:and|with|to) (?P<b>[^,?]+?)"
    r"(?P<rest>(?: (?:in|during|of|from|since|by) .+)?)[?.]?$"
)
_EITHER = re2.compile(r"(?i)^(?P<frame>.+?)[,:] ?(?P<a>[^,]+?),? or (?P<b>[^,?]+)\?*$")
_NESTED = re.compile(
    r"\bthe (?P<head>[\w' -]{2,60}?) (?P<pronoun>that|who|which|where|whose|when) (?P<clause>[^,?]{6,200})",
    re.IGNORECASE,
)


def parts_of(question: str) -> tuple[str, ...]:
    """Two to four focused parts, or the one clause that must be answered first; the question alone where it has no
    seam. Each part says enough to be searched for on its own."""
    whole = " ".join(question.split()).strip()
    for split in (_questions, _compared, _either, _clauses, _nested):
        found = [part.strip(" ,?.") for part in split(whole)]
        kept = tuple(dict.fromkeys(part for part in found if _says_something(part)))[:MOST_PARTS]
        if len(kept) > 1 or (kept and split is _nested):
            return kept
    return (whole,)


def _says_something(part: str) -> bool:
    return len([word for word in words(part) if word not in STOP_WORDS]) >= _FEWEST_WORDS


def _questions(question: str) -> list[str]:
    return _QUESTIONS.split(question)


def _clauses(question: str) -> list[str]:
    """Later clauses lean on the first one's subject: names that only it has go with them."""
    clauses = _CLAUSES.split(question)
    first = clauses[0]
    names = " ".join(re.findall(r"(?<!^)\b[A-Z][\w'-]+(?:\s+[A-Z][\w'-]+)*", first))
    later = (clause if re.search(r"(?<!^)\b[A-Z]", clause) else f"{clause} {names}" for clause in clauses[1:])
    return [first, *later]


def _compared(question: str) -> Iterator[str]:
    match = _COMPARED.match(question)
    if match:
        frame, rest = match["frame"].strip(), match["rest"].strip()
        yield from (f"{frame} {one} {rest}" for one in (match["a"], match["b"]))


def _either(question: str) -> Iterator[str]:
    match = _EITHER.match(question)
    if match:
        yield from (f"{match['frame']} {one}" for one in (match["a"], match["b"]))


def _nested(question: str) -> Iterator[str]:
    """The inner clause with its head first: it must be answered before the outer one can be."""
    match = _NESTED.search(question)
    if match:
        yield f"{match['head']} {match['clause']}"
