"""Groups of things in a question of figures without a time: `that are diesel`, `not in Arden`, `red lighthouses`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ai.intent.lexicon import Lexicon, Role
from ai.intent.tokens import Item
from ai.intent.words import QUALITIES
from retrieval.algebra.wording import HAS, IS, OF, column_of, kind_of, plural
from retrieval.english.collectives import CLASSES
from retrieval.english.stems import is_many
from retrieval.model import EntityRef, Mention

_COPULAS = frozenset({"is", "are", "was", "were", "be", "being", "been"})
_FILLERS = frozenset({"the", "a", "an", "all", "any"})


def is_group(item: Item, lexicon: Lexicon) -> bool:
    """True for the name of a group that a table without times puts things into."""
    ref = item.roles.get(Role.PLACE)
    return isinstance(ref, EntityRef) and lexicon.is_group(ref)


def in_groups(items: Sequence[Item], lexicon: Lexicon) -> Sequence[Item]:
    """The items with `in` before each group that a thing is said to be of: `lighthouses that are not red`."""
    items = _of_kind(items)
    if not any(item.has(Role.KIND) for item in items):
        return () if any(map(_column, items)) else items  # the age of Ida Moss is not that of her dogs
    found: list[Item] = []
    for at, item in enumerate(items):
        beside = is_group(item, lexicon) and at + 1 < len(items) and is_group(items[at + 1], lexicon)
        before_kind = at + 1 < len(items) and items[at + 1].has(Role.KIND)
        denied = (last := _last(found)) is not None and last.has(Role.NEGATION)
        if is_group(item, lexicon) and (denied or not before_kind) and _is_said(item, found, beside=beside):
            found.append(Item(item.start_char, item.end_char, "in", {Role.INSIDE: True}, None, "in"))
        elif _is_in_a_name(item, found):
            return ()
        found.append(item)
        if beside:  # `vaccinated dogs`: two conditions, and no list of groups
            found.append(Item(item.end_char, item.end_char, "that", {Role.NOTHING: True}, None, "that"))
    return found


def _of_kind(items: Sequence[Item]) -> Sequence[Item]:
    """The items with each name in a column as that of the kind that is asked for; where none is said, with the kind
    that is meant: `the Beagles`, `which Beagle`."""
    kinds = {str(item.roles[Role.KIND]) for item in items if item.has(Role.KIND)}
    found: list[Item] = []
    for at, item in enumerate(items):
        mention = item.value
        if not _column(item) or not isinstance(mention, Mention):
            found.append(item)
            continue
        fitting = [each for each in mention.candidates if not kinds or kind_of(each.entity_id) in kinds]
        found.append(replace(item, roles={Role.PLACE: fitting[0]}) if len(fitting) == 1 else item)
        last = at + 1 == len(items) or not _column(items[at + 1])
        if not kinds and last and len(fitting) == 1 and _stands_for_things(item, fitting[0], found[:-1]):
            kinds = {kind_of(fitting[0].entity_id)}
            (kind,) = kinds
            found.append(Item(item.end_char, item.end_char, plural(kind), {Role.KIND: kind}, None, plural(kind)))
    return found


def _stands_for_things(item: Item, group: EntityRef, before: Sequence[Item]) -> bool:
    """True for a name in a column that a question says of things: `the baristas`, `which barista`, `who is the
    barista`."""
    said = [each.text for each in before if not (_column(each) or _says_how(each))]  # `which Persian cat`
    small = group.name.islower() and is_many(item.text.rpartition(" ")[2].casefold())
    many = small or item.text.casefold() != group.name.casefold()
    asked = said[:1] == ["who"] and set(said[1:]) <= {"is", "are", "not", "isn't", "aren't", *_FILLERS}
    named = asked and bool(CLASSES & set(column_of(group.entity_id).split()))
    return many or named or (bool(said) and (said[-1] in QUALITIES or said[-1] in ("which", "what")))


def _is_in_a_name(item: Item, before: Sequence[Item]) -> bool:
    """True for `rivers in the North Sea`, of which a column says only that it is their mouth; dogs are `in Beagle`."""
    column, last = _column(item), _last(before)
    return bool(column) and not set(column.split()) & CLASSES and last is not None and last.has(Role.INSIDE)


def _last(items: Sequence[Item]) -> Item | None:
    """The last item that is no article."""
    return next((each for each in reversed(items) if each.text not in _FILLERS), None)


def _column(item: Item) -> str:
    """The column of a group that is told by its name; empty for any other."""
    ref = item.roles.get(Role.PLACE)
    return column_of(ref.entity_id) if isinstance(ref, EntityRef) and ref.entity_id.startswith(OF) else ""


def _says_how(item: Item) -> bool:
    """True for a group whose name says how things are or what they have: `vaccinated`."""
    ref = item.roles.get(Role.PLACE)
    return isinstance(ref, EntityRef) and ref.entity_id.startswith((IS, HAS))


def _is_said(item: Item, before: Sequence[Item], *, beside: bool) -> bool:
    """True if a group is what something is, by the word before it, by its own, or by the group behind it: not `in
    Arden`, nor `or hybrid`."""
    last = _last(before)
    if last is None or last.has(Role.INSIDE) or last.has(Role.AND) or last.has(Role.PLACE):
        return False
    return _says_how(item) or beside or last.text in _COPULAS or last.has(Role.NEGATION)
