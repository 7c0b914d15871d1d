"""Names that end alike: what is said of the Warsaw Museum is no answer about the Katyn Museum."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ai.text.spelling import unaccented
from ai.text.support import WORD, fold
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of

_NAME = re.compile(r"(?<![\w'’-])[A-Z][\w'’-]*+(?:\s++(?:(?:of|the)\s++){0,2}[A-Z][\w'’-]*+)+")
_OPENS = word_list("did do does is are was were has have had can could will would name give list tell")
TITLES = word_list(
    "mr mrs ms miss dr sir dame lord lady prof professor president minister prime king queen prince princess emperor "
    "empress duke duchess count countess general colonel major captain lieutenant sergeant admiral governor senator "
    "judge justice bishop archbishop pope saint st father mother brother sister uncle aunt chief mayor"
)
"""Words before a name that are no part of it."""
_TITLES = frozenset(map(root_of, TITLES))
_LIKE = 3
"""Letters that what is misspelt shares with what is meant."""

Name = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Namesakes:
    """The names of several words in a question, as roots."""

    names: tuple[Name, ...] = ()

    @classmethod
    def of(cls, question: str) -> Namesakes:
        """Reads the question."""
        return cls(tuple(_names(question)))

    def agrees(self, text: str, own: frozenset[str]) -> bool:
        """True unless the sentence, of the roots `own` with those of its title, says of a name only the last word, and
        that in another name that the question lacks."""
        bare = frozenset(map(unaccented, own)) if self.names else own
        missing = [name for name in self.names if bare.isdisjoint(name[:-1]) and self._is_only(name)]
        told = [name for name in _names(text) if name not in self.names] if missing else []
        return not any(_is_another(name, other) for name in missing for other in told)

    def _is_only(self, name: Name) -> bool:
        """True unless the question itself has two that end alike, or it is numbered (`World War II`)."""
        return len(name[-1]) >= _LIKE and [other[-1] for other in self.names].count(name[-1]) == 1


def _is_another(name: Name, other: Name) -> bool:
    if name[-1] != other[-1] or not set(name[:-1]).isdisjoint(other):
        return False
    titled = not _TITLES.isdisjoint((*name[:-1], *other[:-1]))
    return not titled and not any(one[:_LIKE] == two[:_LIKE] for one in name[:-1] for two in other[:-1])


def _names(text: str) -> Iterator[Name]:
    for found in _NAME.finditer(unaccented(text)):
        words = [fold(word) for word in WORD.findall(found[0])]
        said = _bare(words[1:] if words[0] in _OPENS else words)
        if len(said) > 1:
            yield tuple(map(root_of, said))


def _bare(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in UNWEIGHED_WORDS]
