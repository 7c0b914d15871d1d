"""Names and years as a text writes them out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.english.lists import ABBREVIATED, STOP_WORDS
from retrieval.english.words import words

_NAME = re.compile(r"(?:[A-Z][\w'’.&-]*|\d{4})(?:\s+(?:(?:of|the|de|and|du|van|von|la|le|&)\s+)*[A-Z][\w'’.&-]*)*")
_PERIOD = re.compile(r"(?<![\w.])(?P<word>\w{2,})\.\s+")
_SHORTEST_NAME = 3


def written_names(text: str) -> Iterator[tuple[str, int]]:
    """Names and years that a text writes out, with the character at which each stands. The end of a sentence ends a
    name; the period of an initial or a title does not (`J. R. Mead`, `Fort St. Mary`)."""
    for match in _NAME.finditer(text):
        start = match.start()
        for period in _PERIOD.finditer(match[0]):
            if period["word"].casefold() not in ABBREVIATED:
                end = match.start() + period.end()
                yield from _name_of(text[start:end], start)
                start = end
        yield from _name_of(text[start : match.end()], start)


def _name_of(written: str, start: int) -> Iterator[tuple[str, int]]:
    """The name without what a sentence opens with; nothing where too little is left."""
    surface = " ".join(written.split()).strip(" .,'’")
    parts = words(surface)
    while parts and parts[0] in STOP_WORDS:
        parts = parts[1:]
        surface = surface.partition(" ")[2]
    if surface and parts and (len(parts) > 1 or len(parts[0]) >= _SHORTEST_NAME):
        yield surface, start
