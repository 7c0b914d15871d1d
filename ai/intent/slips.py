"""Words one slip of spelling away: one letter too many, too few or another, or two neighbours that changed places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

_MOST = 40


@dataclass(frozen=True)
class Spelling:
    """Keys of one deletion, with what they may be; the first letter is never wrong."""

    near: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, known: Iterable[str]) -> Spelling:
        """An index of these, in lower case."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for word in known:
            for key in _keys(word):
                found[key].add(word)
        return cls({key: frozenset(words) for key, words in found.items()})

    def meant(self, said: str) -> frozenset[str]:
        """The known words that are one slip away from what was said."""
        if len(said) > _MOST:
            return frozenset()
        found = {word for key in _keys(said) for word in self.near.get(key, ())}
        return frozenset(word for word in found if _one_slip(said, word))


def _keys(word: str) -> Iterator[str]:
    yield word
    for i in range(1, len(word)):
        yield word[:i] + word[i + 1 :]


def _one_slip(one: str, other: str) -> bool:
    """True if one letter is added, left out or replaced, or two neighbours changed places."""
    if one == other or one[:1] != other[:1] or abs(len(one) - len(other)) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if len(one) != len(other):
        longer, shorter = (one, other) if len(one) > len(other) else (other, one)
        return longer[at + 1 :] == shorter[at:]
    swapped = one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :]
    return one[at + 1 :] == other[at + 1 :] or swapped
