"""Misspelt names and words: where only one name or word is one slip away, that is meant. Each correction is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ai.intent.lexicon import Lexicon, Role
from ai.intent.tokens import Item
from retrieval.index import surface_key
from retrieval.model import EntityRef, Limitation, Mention

SPELLING = "SPELLING"
_NAME, _ALONE, _WORD = 4, 6, 7
"""The least letters of a name before its kind, of a name alone, and of a word."""
_OTHER_WORDS = frozenset({"countries", "treatises", "notions", "perishes", "inlands", "stations", "rations", "aeras"})
"""Words one letter from a word of questions, with a meaning of their own."""


def respelt(items: Sequence[Item], lexicon: Lexicon) -> tuple[tuple[Item, ...], tuple[Limitation, ...]]:
    """The items with what is misspelt as what is meant, and a note for each."""
    found, notes = list[Item](), list[Limitation]()
    for i, item in enumerate(items):
        after = items[i + 1] if i + 1 < len(items) else None
        corrected, meant = _name(item, after, lexicon) or _word(item, lexicon) or (item, "")
        found.append(corrected)
        if meant:
            said = item.value.surface if isinstance(item.value, Mention) else item.surface
            notes.append(Limitation(SPELLING, f"“{said}” was read as “{meant}”."))
    return tuple(found), tuple(dict.fromkeys(notes))


def _name(item: Item, after: Item | None, lexicon: Lexicon) -> tuple[Item, str] | None:
    """A name that nobody knows, or a word before a kind of place, as the one name that it may be."""
    mention = item.value if isinstance(item.value, Mention) and not item.value.candidates else None
    kind = after if after is not None and after.has(Role.KIND) else None
    plain = item.value is None and not item.roles and item.text.isalpha() and kind is not None
    if (mention is None and not plain) or (item.has(Role.TIME) or item.has(Role.NUMBER)):
        return None
    surface = mention.surface if mention is not None else item.surface
    said = surface_key(surface)
    bare, _, last = said.rpartition(" ")
    kinded = last in lexicon.kinds and bool(bare)
    letters = len((bare if kinded else said).replace(" ", ""))
    if letters < (_NAME if kinded or kind is not None else _ALONE):
        return None
    names = _names_meant(said, lexicon)
    if kind is not None and not kinded:
        of_kind = kind.roles[Role.KIND]
        of_its = {n: e for n, e in names.items() if any(c.type == of_kind for c in e)}
        names = of_its or _names_meant(f"{said} {kind.text}", lexicon)
    if not names or len({frozenset(c.entity_id for c in e) for e in names.values()}) > 1:
        return None
    name, candidates = next(iter(names.items()))
    told = candidates[0].name if len({c.name for c in candidates}) == 1 else name.title()
    held = Mention(surface, item.start_char, item.end_char, candidates)
    if mention is not None:
        held = replace(mention, candidates=candidates)
    return Item(item.start_char, item.end_char, surface, {Role.PLACE: True}, held, surface), told


def _names_meant(said: str, lexicon: Lexicon) -> dict[str, tuple[EntityRef, ...]]:
    return {name: lexicon.gazetteer.named(name) for name in sorted(lexicon.names_near(said))}


def _word(item: Item, lexicon: Lexicon) -> tuple[Item, str] | None:
    """A word that nobody knows as the one word for a measure, a kind or a type that it may be."""
    if item.roles or item.value is not None or len(item.text) < _WORD or item.text in _OTHER_WORDS:
        return None
    meant = lexicon.words_near(item.text) if item.text.isalpha() else frozenset()
    roles = [lexicon.entries[(word,)] for word in sorted(meant)]
    if not roles or any(other != roles[0] for other in roles):
        return None
    return replace(item, roles=roles[0]), min(meant)
