"""Names of the admitted corpus, found in a question. A pure value: built once for a scope and a corpus version, then
only read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

from retrieval.algebra.wording import IS, OF
from retrieval.english.lists import EVERYDAY_NAMES, NEUTRAL_SUFFIXES, NOT_NAMES
from retrieval.index import GazetteerEntry, surface_key
from retrieval.model import EntityRef, Mention
from retrieval.withheld import personal_data

_TOKEN = re.compile(r"[^\W_]+(?:[-.'\u2019][^\W_]+)*['\u2019]?")
_ABBREVIATED = frozenset({"ft", "co", "mt", "st"})
_DOTTED = re.compile(r"(?<![^\W\d_])([^\W\d_]+)\.(?=\s)")
"""A word that a name abbreviates: `Stat.` of `7 Stat. 244`. It is looked for where a word begins, else a long word is
read again from each of its letters."""
_JOINERS = frozenset({"of", "de", "la", "du", "des"})


@dataclass(frozen=True, slots=True)
class _Token:
    start: int
    end: int
    words: tuple[str, ...]
    capital: bool
    possessive: bool
    joined: bool
    """True if only blanks (or the dot of an abbreviation) stand between the token before and this one."""
    initial: bool
    """True if a sentence may begin here, so that the capital says nothing."""


class _Node:
    __slots__ = ("children", "entities")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.entities: tuple[EntityRef, ...] = ()


class Gazetteer:
    """The names that answer to entities; what has personal data in its name is found by none. Immutable once built;
    equal entries in any order give equal answers.

    An entity that several documents state has one `EntityRef`, that of the first document in order of id. Candidates
    of a name are in order of entity id.
    """

    def __init__(self, entries: Sequence[GazetteerEntry] = ()) -> None:
        named = [entry for entry in entries if not any(map(personal_data, (entry.entity.name, *entry.names)))]
        ordered = sorted(named, key=lambda e: (e.entity.entity_id, e.document_id, e.entity.name, e.entity.type))
        self._names: dict[str, tuple[str, ...]] = {}
        self._entities: dict[str, EntityRef] = {}
        self._documents: dict[str, int] = {}
        self._root = _Node()
        self._dotted = _ABBREVIATED
        for entity_id, group in groupby(ordered, key=lambda e: e.entity.entity_id):
            stated = list(group)
            entity = stated[0].entity
            names = dict.fromkeys(n for e in stated for n in (e.entity.name, *e.names))
            self._entities[entity_id] = entity
            self._names[entity_id] = tuple(names)
            self._documents[entity_id] = len({e.document_id for e in stated})
            for words in dict.fromkeys(_words(name) for name in names):
                self._plant(words, entity)
            self._dotted |= {word.casefold() for name in names if "." in name for word in _DOTTED.findall(name)}

        types: dict[str, list[EntityRef]] = {}
        for entity in self._entities.values():
            types.setdefault(entity.type, []).append(entity)
        self._types = {kind: tuple(found) for kind, found in types.items()}
        self._homes: dict[str, EntityRef | None] = {}

    def _plant(self, words: tuple[str, ...], entity: EntityRef) -> None:
        if not words:
            return
        node = self._root
        for word in words:
            found = node.children.get(word)
            if found is None:
                found = node.children[word] = _Node()
            node = found
        node.entities = (*node.entities, entity)

    def __len__(self) -> int:
        return len(self._entities)

    def entity(self, entity_id: str) -> EntityRef | None:
        """The entity of that id, or None when nothing admitted states it."""
        return self._entities.get(entity_id)

    def names(self, entity_id: str) -> tuple[str, ...]:
        """Every name that answers to the entity; empty when it is unknown."""
        return self._names.get(entity_id, ())

    def named(self, name: str) -> tuple[EntityRef, ...]:
        """The entities that answer to exactly this name."""
        node: _Node | None = self._root
        for word in _words(name):
            node = node.children.get(word) if node else None
        return _bearers(node.entities) if node else ()

    def of_type(self, entity_type: str) -> tuple[EntityRef, ...]:
        """Every entity of a type, by id."""
        return self._types.get(entity_type, ())

    @property
    def types(self) -> frozenset[str]:
        """The types of the entities."""
        return frozenset(self._types)

    def home(self, entity_type: str) -> EntityRef | None:
        """The entity of a type that the most documents state: where an unqualified question is at home. None without
        one or on a tie."""
        if entity_type not in self._homes:
            self._homes[entity_type] = self._home(entity_type)
        return self._homes[entity_type]

    def _home(self, entity_type: str) -> EntityRef | None:
        best = sorted(self.of_type(entity_type), key=lambda e: -self._documents[e.entity_id])
        tied = len(best) > 1 and self._documents[best[0].entity_id] == self._documents[best[1].entity_id]
        return best[0] if best and not tied else None

    def find(self, text: str) -> tuple[Mention, ...]:
        """The names in a text, from left to right and without overlap, each as long as it can be.

        Case, possessives, punctuation and common short forms (`Co.`, `St.`, `Ft.`) do not matter. Capitalised words
        that read like a name and match nothing are mentions without candidates; so is a known name that is only a
        part of a longer one ("Fort Scott Heights"), because the longer one is somewhere else.
        """
        tokens = _tokens(text, self._dotted)
        spans = list(self._known(tokens))
        taken = {i for first, last, _ in spans for i in range(first, last)}
        shouted = not any(c.islower() for c in text)
        unknown = [] if shouted else list(_unknown(tokens, taken))
        swallowed = {i for first, last in unknown for i in range(first, last)}
        found = [(first, last, entities) for first, last, entities in spans if swallowed.isdisjoint(range(first, last))]
        found += [(first, last, ()) for first, last in unknown]
        found.sort(key=lambda span: span[0])
        return tuple(_mention(text, tokens, *span) for span in found)

    def _known(self, tokens: Sequence[_Token]) -> Iterator[tuple[int, int, tuple[EntityRef, ...]]]:
        i = 0
        while i < len(tokens):
            last, entities = self._longest(tokens, i)
            if entities and (not _everyday(tokens[i:last]) or any(map(_says_how, entities))):
                yield i, last, entities
                i = last
            else:
                i += 1

    def _longest(self, tokens: Sequence[_Token], first: int) -> tuple[int, tuple[EntityRef, ...]]:
        node: _Node | None = self._root
        best: tuple[int, tuple[EntityRef, ...]] = (first, ())
        for i in range(first, len(tokens)):
            if i > first and not tokens[i].joined:
                break
            for word in tokens[i].words:
                node = node.children.get(word) if node else None
            if node is None:
                break
            if node.entities:
                best = (i + 1, _bearers(node.entities))
        return best


def _bearers(entities: tuple[EntityRef, ...]) -> tuple[EntityRef, ...]:
    """Those that have a name of their own; where none has, the groups of things that only say it in a column."""
    return tuple(entity for entity in entities if not entity.entity_id.startswith(OF)) or entities


def _words(name: str) -> tuple[str, ...]:
    key = surface_key(name)
    return tuple(key.replace("-", " ").replace(".", " ").split() if "-" in key or "." in key else key.split())


def _tokens(text: str, dotted: Set[str]) -> list[_Token]:
    tokens: list[_Token] = []
    end, before = 0, ""
    for match in _TOKEN.finditer(text):
        surface = match.group()
        gap = text[end : match.start()]
        abbreviated = before in dotted and gap.strip() == "."
        initial = not tokens or (any(c in '.?!:;\n"\u201c(' for c in gap) and not abbreviated)
        joined = bool(tokens) and (not gap.strip(" \t,-") or abbreviated)
        bare = surface.rstrip("'\u2019")
        possessive = len(bare) < len(surface) or bare.casefold().endswith(("'s", "\u2019s"))
        words = _words(surface)
        capital = surface[0].isupper() or surface[0].istitle()
        tokens.append(_Token(match.start(), match.end(), words, capital, possessive, joined, initial))
        end, before = match.end(), bare.casefold()
    return tokens


def _says_how(entity: EntityRef) -> bool:
    """True for a group whose name is the everyday word: `green`, or `rose` of plants."""
    return entity.entity_id.startswith(IS) or (entity.entity_id.startswith(OF) and entity.name.islower())


def _everyday(tokens: Sequence[_Token]) -> bool:
    """True if a lone word in lower case is rather the everyday word than the name."""
    return len(tokens) == 1 and not tokens[0].capital and all(w in EVERYDAY_NAMES for w in tokens[0].words)


def _unknown(tokens: Sequence[_Token], taken: set[int]) -> Iterator[tuple[int, int]]:
    """Runs of capitalised words that hold at least one name-like word which no known name covers."""
    i = 0
    while i < len(tokens):
        last = _run_end(tokens, taken, i)
        if last > i:
            yield from _trimmed(tokens, taken, i, last)
            i = last
        else:
            i += 1


def _run_end(tokens: Sequence[_Token], taken: set[int], first: int) -> int:
    """End of the run of capitalised words that begins here; `of` and its like may stand between two of them."""
    if not (tokens[first].capital or first in taken):
        return first
    i = first + 1
    while i < len(tokens):
        broken = not tokens[i].joined or tokens[i].initial or tokens[i - 1].possessive or _comma(tokens, i)
        if broken:
            break
        if tokens[i].capital or i in taken:
            i += 1
        elif _joiner(tokens, i) and i - 1 not in taken and not _common(tokens[i - 1]):
            i += 2
        else:
            break
    return i


def _comma(tokens: Sequence[_Token], i: int) -> bool:
    return tokens[i].start - tokens[i - 1].end > 1 and tokens[i - 1].words[-1:] not in (
        ("saint",),
        ("fort",),
        ("county",),
        ("mount",),
    )


def _joiner(tokens: Sequence[_Token], i: int) -> bool:
    follows = i + 1 < len(tokens) and tokens[i + 1].capital and tokens[i + 1].joined and not _comma(tokens, i + 1)
    return follows and tokens[i].words[:1] != () and tokens[i].words[0] in _JOINERS


def _common(token: _Token) -> bool:
    return all(w in NOT_NAMES for w in token.words)


def _trimmed(tokens: Sequence[_Token], taken: set[int], first: int, last: int) -> Iterator[tuple[int, int]]:
    """The name in a run, without the common words around it; nothing when a known name and neutral words are all
    there is."""
    while first < last and first not in taken and (_common(tokens[first]) or _lone_initial(tokens, first, last)):
        first += 1
    while (
        last > first and last - 1 not in taken and _common(tokens[last - 1]) and not _suffix(tokens, taken, first, last)
    ):
        last -= 1
    strange = [i for i in range(first, last) if i not in taken and _strange(tokens[i])]
    if strange:
        yield first, last


def _suffix(tokens: Sequence[_Token], taken: set[int], first: int, last: int) -> bool:
    """True if the last word says what the unknown name before it is (`Atlantis County`)."""
    kind = all(w in NEUTRAL_SUFFIXES for w in tokens[last - 1].words)
    return kind and last - 2 >= first and last - 2 not in taken and _strange(tokens[last - 2])


def _lone_initial(tokens: Sequence[_Token], i: int, last: int) -> bool:
    """A capital at the start of a sentence says nothing, unless another capital or a possessive follows."""
    return tokens[i].initial and i + 1 == last and not tokens[i].possessive


def _strange(token: _Token) -> bool:
    """Name-like: not a common word, not a kind, more than two letters, not a number."""
    name_like = token.capital and any(len(w) > 2 for w in token.words)
    return name_like and not _common(token) and not all(w in NEUTRAL_SUFFIXES for w in token.words)


def _mention(text: str, tokens: Sequence[_Token], first: int, last: int, entities: tuple[EntityRef, ...]) -> Mention:
    start, end = tokens[first].start, tokens[last - 1].end
    surface = text[start:end]
    for suffix in ("'s", "\u2019s", "'", "\u2019"):
        surface = surface.removesuffix(suffix)
    return Mention(surface, start, start + len(surface), entities)
