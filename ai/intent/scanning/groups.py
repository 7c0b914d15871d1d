"""Groups of things in a question of figures without a time: `that are diesel`, `not in Arden`, `red lighthouses`."""

from __future__ import annotations

from collections.abc import Sequence

from ai.intent.lexicon import Lexicon, Role
from ai.intent.tokens import Item
from retrieval.algebra.wording import HAS, IS
from retrieval.model import EntityRef

_COPULAS = frozenset({"is", "are", "was", "were", "be", "being", "been"})
_FILLERS = frozenset({"the", "a", "an", "all", "any"})


def is_group(item: Item, lexicon: Lexicon) -> bool:
    """True for the name of a group that a table without times puts things into."""
    ref = item.roles.get(Role.PLACE)
    return isinstance(ref, EntityRef) and lexicon.is_group(ref)


def in_groups(items: Sequence[Item], lexicon: Lexicon) -> Sequence[Item]:
    """The items with `in` before each group that a thing is said to be of: `lighthouses that are not red`."""
    if not any(item.has(Role.KIND) for item in items):
        return items
    found: list[Item] = []
    for at, item in enumerate(items):
        before_kind = at + 1 < len(items) and items[at + 1].has(Role.KIND)
        denied = bool(found) and found[-1].has(Role.NEGATION)
        if is_group(item, lexicon) and (denied or not before_kind) and _is_said(item, found):
            found.append(Item(item.start_char, item.end_char, "in", {Role.INSIDE: True}, None, "in"))
        found.append(item)
    return found


def _is_said(item: Item, before: Sequence[Item]) -> bool:
    """True if a group is what something is, by the word before it or by its own: not `in Arden`, nor `or hybrid`."""
    last = next((each for each in reversed(before) if each.text not in _FILLERS), None)
    if last is None or last.has(Role.INSIDE) or last.has(Role.AND) or last.has(Role.PLACE):
        return False
    ref = item.roles[Role.PLACE]
    says_how = isinstance(ref, EntityRef) and ref.entity_id.startswith((IS, HAS))
    return says_how or last.text in _COPULAS or last.has(Role.NEGATION)
