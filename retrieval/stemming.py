"""English stems (Snowball), in pure Python."""

from __future__ import annotations

import sys
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Protocol


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The English Snowball stem of a folded word."""
    return _stemmer().stemWord(word)


@cache
def _stemmer() -> _Stemmer:
    """The package imports thirty languages, a fifth of a second. Its English module alone is loaded here, as part of
    a package of another name over the same files."""
    name = "_snowball_english"
    found = find_spec("snowballstemmer")
    if found is None or found.submodule_search_locations is None:
        raise ModuleNotFoundError("snowballstemmer is not installed", name="snowballstemmer")
    package = ModuleType(name)
    package.__path__ = list(found.submodule_search_locations)
    sys.modules[name] = package
    stemmer: _Stemmer = import_module(f"{name}.english_stemmer").EnglishStemmer()
    return stemmer
