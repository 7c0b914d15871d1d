"""The narrator of what is told in the first person: `My name is ...`, `Told by ...`, `I, ..., of ...`, a name under a
letter.

A passage cut out of a memoir, a testimony or a letter says `I`; its narrator is named elsewhere, once. Questions call
them by name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from retrieval.english.lists import FUNCTION_WORDS
from retrieval.ingest.values import Block

_CAPITAL = "[" + "".join(char for char in map(chr, range(0x41, 0x250)) if char.isupper()) + "]"
_WORD = (
    rf"(?:{_CAPITAL}\.|(?:Thos|Wm|Chas|Geo|Jno|Jas|Jos|Robt|Saml|Danl|Benj|Edw|Alex|St)\."
    rf"|{_CAPITAL}[^\W\d_]*+(?:[-'’][^\W\d_]++)*+)"
)
_BETWEEN = r"(?:(?:de|da|del|della|du|la|le|van|von|der|den|bin|al|ap|y)[ \t]+){0,2}"
_NAME = rf"(?P<name>{_WORD}(?:\s{_BETWEEN}{_WORD}){{0,4}})"
_TITLED = (
    r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Rev|Capt|Captain|Col|Colonel|Gen|General|Lieut|Lieutenant|Lt|Maj|Major|Sergt|Sgt|Sergeant"
    r"|Corporal|Private|Pvt|Hon|Judge)\.?\s){0,2}"
)
_CALLED = re.compile(
    rf"(?:^|(?<=[.!?:;\"“,] )|(?<=[\"“]))(?:[Mm]y (?:full |whole |own )?name(?: is|['’]s| was))\s{_TITLED}{_NAME}"
)
_SWORN = re.compile(rf"[\"“]?I, {_TITLED}{_NAME}(?:,| \()")
_TOLD = re.compile(
    r"[\"“(\[]?(?:As )?(?:(?:told|narrated|related|dictated|remembered|recalled)(?: to [^\n]{1,60}?)? by"
    r"|(?P<whose>statement|testimony|deposition|affidavit|evidence|diary|narrative|interview) (?:of|by|with)"
    rf"|(?:narrator|informant|interviewee|witness|deponent):)\s(?-i:{_TITLED}{_NAME})",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?:[^\n]{0,60}\b)?(?:yours?\b[^\n]{0,40}|sincerely|faithfully|truly|affectionately|respectfully|love|regards"
    r"|wishes)(?: \w+){0,3},?",
    re.IGNORECASE,
)
_SIGNED = re.compile(rf"{_TITLED}{_NAME}(?:[.,][^\n]{{0,60}})?")
_SAID = re.compile(r"[,.]?[\"”]\s*\w")
"""Behind a quotation: `," said the man`."""
_FIRST_PERSON = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]yself|[Ww]e|us|[Oo]ur|ours)\b")
_OPENING = 4
"""Paragraphs under a heading in which a narrator whose words are quoted says who that is."""
_LONGEST_END = 120
"""Characters of a line under a letter."""
_LONGEST_LEAD = 240
"""Characters of a paragraph that says only who tells: `Told by Bill Simms, former slave, aged 97, Ottawa.`"""


def narrators(text: str, blocks: Sequence[Block]) -> list[str | None]:
    """Of each block who tells it; None where that is not said, or where it is not told in the first person. A narrator
    is named before or in what is told, up to the next heading or narrator; or at the end, as under a letter."""
    found: list[str | None] = [None] * len(blocks)
    began, since, name, before = 0, 0, None, ""
    for at, block in enumerate(blocks):
        words = text[block.start_char : block.end_char]
        if block.kind == "heading":
            began, since, name, before = at + 1, at + 1, None, ""
            continue
        signed = None if name else _signed(before, words)
        if signed:
            found[since:at] = [signed] * (at - since)
            since = at + 1
        name, before = _named_in(words, opens=at - began < _OPENING) or name, words
        found[at] = signed or name
    spoken = [_FIRST_PERSON.search(text, block.start_char, block.end_char) for block in blocks]
    return [each if first else None for each, first in zip(found, spoken, strict=True)]


def _named_in(words: str, *, opens: bool) -> str | None:
    """The narrator that a paragraph names: by saying so, or as a line above what is told. In quotation marks only what
    `opens` a section and a paragraph: others are persons who talk in it."""
    told = _TOLD.match(words) if len(words) <= _LONGEST_LEAD else None
    if told is not None and told["whose"] and " " not in told["name"]:
        return None  # `Diary of March` has no person
    quoted = any(mark in words for mark in '"“')
    called = _CALLED.search(words) if opens or not quoted else None
    if called and quoted and (called.start() > 1 or _SAID.match(words, called.end())):
        called = None
    return _name(told or _SWORN.match(words) or called)


def _signed(before: str, words: str) -> str | None:
    """The name under a closing line (`Your affectionate son,`), where a paragraph ends with it or is it."""
    said = [line.strip() for line in (*before.splitlines()[-1:], *words.splitlines()[-4:]) if line.strip()]
    lines = [line if len(line) <= _LONGEST_END else "" for line in said]
    pairs = pairwise(lines)
    return next((_name(_SIGNED.fullmatch(line)) for closing, line in pairs if _CLOSING.fullmatch(closing)), None)


def _name(match: re.Match[str] | None) -> str | None:
    """A name in one spacing, None for words of every day."""
    words = match["name"].split() if match else []
    return None if all(word.casefold() in FUNCTION_WORDS for word in words) else " ".join(words)
