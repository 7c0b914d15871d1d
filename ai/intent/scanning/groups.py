"""Groups of things in a question of figures without a time: `that are diesel`, `not in Arden`, `red lighthouses`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ai.intent.lexicon import Lexicon, Role
from ai.intent.tokens import Item
from ai.intent.words import QUALITIES
from retrieval.algebra.wording import HAS, IS, OF, column_of, kind_of, plural
from retrieval.english.lists import word_list
from retrieval.model import EntityRef, Mention

_COPULAS = frozenset({"is", "are", "was", "were", "be", "being", "been"})
_CLASSES = word_list("brand breed family kind make species style type variety")
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
        before_kind = at + 1 < len(items) and items[at + 1].has(Role.KIND)
        denied = bool(found) and found[-1].has(Role.NEGATION)
        if is_group(item, lexicon) and (denied or not before_kind) and _is_said(item, found):
            found.append(Item(item.start_char, item.end_char, "in", {Role.INSIDE: True}, None, "in"))
        elif _is_in_a_name(item, found):
            return ()
        found.append(item)
    return found


def _of_kind(items: Sequence[Item]) -> Sequence[Item]:
    """The items with each name in a column as that of the kind that is asked for; where none is said, with the kind
    that is meant: `the Beagles`, `which Beagle`."""
    kinds = {str(item.roles[Role.KIND]) for item in items if item.has(Role.KIND)}
    found: list[Item] = []
    for item in items:
        mention = item.value
        if not _column(item) or not isinstance(mention, Mention):
            found.append(item)
            continue
        fitting = [each for each in mention.candidates if not kinds or kind_of(each.entity_id) in kinds]
        found.append(replace(item, roles={Role.PLACE: fitting[0]}) if len(fitting) == 1 else item)
        leads = found[-2].text if len(found) > 1 else ""
        many = item.text.casefold() != fitting[0].name.casefold() if fitting else False
        if not kinds and len(fitting) == 1 and (many or leads in QUALITIES or leads in ("which", "what")):
            kinds = {kind_of(fitting[0].entity_id)}
            (kind,) = kinds
            found.append(Item(item.end_char, item.end_char, plural(kind), {Role.KIND: kind}, None, plural(kind)))
    return found


def _is_in_a_name(item: Item, before: Sequence[Item]) -> bool:
    """True for `rivers in the North Sea`, of which a column says only that it is their mouth; dogs are `in Beagle`."""
    last = next((each for each in reversed(before) if each.text not in _FILLERS), None)
    column = _column(item)
    return bool(column) and column not in _CLASSES and last is not None and last.has(Role.INSIDE)


def _column(item: Item) -> str:
    """The column of a group that is told by its name; empty for any other."""
    ref = item.roles.get(Role.PLACE)
    return column_of(ref.entity_id) if isinstance(ref, EntityRef) and ref.entity_id.startswith(OF) else ""


def _is_said(item: Item, before: Sequence[Item]) -> bool:
    """True if a group is what something is, by the word before it or by its own: not `in Arden`, nor `or hybrid`."""
    last = next((each for each in reversed(before) if each.text not in _FILLERS), None)
    if last is None or last.has(Role.INSIDE) or last.has(Role.AND) or last.has(Role.PLACE):
        return False
    ref = item.roles[Role.PLACE]
    says_how = isinstance(ref, EntityRef) and ref.entity_id.startswith((IS, HAS))
    return says_how or last.text in _COPULAS or last.has(Role.NEGATION)
