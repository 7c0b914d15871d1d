"""A question of things that a table lists, put more plainly: `work in Sales` as `in Sales`, `each of the altos` as `the
altos`, `people in the choir` as `people`, `when did ... join` as the year in which it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ai.intent.lexicon import Lexicon, Role
from ai.intent.scanning.groups import is_group
from ai.intent.tokens import Item
from retrieval.algebra.wording import CALENDAR_YEAR, OF
from retrieval.english.collectives import is_collective
from retrieval.english.lists import word_list
from retrieval.model import EntityRef

_WORKING = word_list("employed work working works")
_HERE = word_list("here there")
_WORKPLACES = word_list("branch department division office section shed shop team warehouse")
_ARTICLES = word_list("a an our the")
_RECKONING = (Role.AGGREGATE, Role.SUPERLATIVE, Role.COMPARATIVE, Role.SHARE)


def plainer(items: Sequence[Item], lexicon: Lexicon) -> Sequence[Item]:
    """The items without what only says again whose members or where at work they are; a year for `when` it was."""
    reckoned = any(item.has(role) for item in items for role in _RECKONING)
    found: list[Item] = []
    for at, item in enumerate(items):
        following = [each for each in items[at + 1 :] if each.text not in _ARTICLES]
        if item.text in _WORKING and (
            _is_workplace(following[:2], lexicon) or _is_here(following, items[:at], lexicon)
        ):
            continue
        if item.text in _HERE and at and items[at - 1].text in _WORKING and _is_here([item], items[: at - 1], lexicon):
            continue
        if item.text in _WORKING and _is_trade(following[:2]):
            found.append(replace(item, text="are", roles={Role.NOTHING: True}))
        elif (
            item.text == "as" and found and found[-1].text == "are" and found[-1].end_char == items[at - 1].end_char
        ) or (item.text == "each" and not reckoned and any(_is_thing(each, lexicon) for each in following[:2])):
            continue
        elif item.has(Role.WHEN) and not reckoned and _year_of_one(items, lexicon):
            found.append(replace(item, roles={Role.WHICH: True}))
        elif not (is_collective(item.text) and _is_said_again(item, items)):
            found.append(item)
    return found


def _is_workplace(following: Sequence[Item], lexicon: Lexicon) -> bool:
    """True for `in Sales`."""
    ref = following[-1].roles.get(Role.PLACE) if len(following) > 1 and following[0].has(Role.INSIDE) else None
    return isinstance(ref, EntityRef) and ref.type in _WORKPLACES and is_group(following[-1], lexicon)


def _is_here(following: Sequence[Item], before: Sequence[Item], lexicon: Lexicon) -> bool:
    """True for `work here` and `are employed` at the end of a question of people that are listed."""
    ends = not following or (len(following) == 1 and following[0].text in _HERE)
    return ends and any(_is_thing(each, lexicon) for each in before)


def _is_trade(following: Sequence[Item]) -> bool:
    """True for `as a barista`."""
    ref = following[-1].roles.get(Role.PLACE) if len(following) > 1 and following[0].text == "as" else None
    return isinstance(ref, EntityRef) and ref.entity_id.startswith(OF)


def _is_thing(item: Item, lexicon: Lexicon) -> bool:
    return item.has(Role.KIND) or is_group(item, lexicon)


def _is_said_again(item: Item, items: Sequence[Item]) -> bool:
    """True for `the choir` beside `people`, where these are its members."""
    kind = item.roles.get(Role.KIND)
    return kind is not None and any(
        other is not item and other.roles.get(Role.KIND) == kind and not is_collective(other.text) for other in items
    )


def _year_of_one(items: Sequence[Item], lexicon: Lexicon) -> bool:
    """True where a thing of its own is named and the one measure is a year."""
    measures = [said for item in items if isinstance(said := item.roles.get(Role.MEASURE), tuple)]
    units = {f.unit for f in lexicon.domain.figures for said in measures if f.measure in said}
    return units == {CALENDAR_YEAR} and any(item.has(Role.PLACE) and not is_group(item, lexicon) for item in items)
