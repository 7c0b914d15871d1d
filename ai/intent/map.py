"""The map's part of a question: the place that it names, or the name of one that is not known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ai.intent.lexicon import Lexicon, Role
from ai.intent.names import merged, settle
from ai.intent.tokens import Item, read_items
from ai.model import MapContext
from retrieval.model import EntityRef, Limitation, Mention

UNKNOWN_PLACE = "UNKNOWN_PLACE"
_PLACE_CHARS = 200


@dataclass(frozen=True, slots=True)
class Shown:
    """The place of the map; `unknown` is what it was called where nothing admitted answers to that."""

    place: EntityRef | None = None
    unknown: str = ""

    def mentions(self, at: int) -> tuple[Mention, ...]:
        """The place as a mention of no characters at the end of the question."""
        if self.place is not None:
            return (Mention(self.place.name, at, at, (self.place,)),)
        return (Mention(self.unknown, at, at, ()),) if self.unknown else ()

    @property
    def notes(self) -> tuple[Limitation, ...]:
        """That the place is not known."""
        told = f"The place that the map names, {self.unknown}, is not known, and no other was asked in its stead."
        return (Limitation(UNKNOWN_PLACE, told),) if self.unknown else ()


def pointed(items: Sequence[Item], shown: Shown) -> tuple[Item, ...]:
    """The items with `here` and `this county` as the place that the map shows. A kind that the place is not of is not
    understood."""
    found: list[Item] = []
    for item in items:
        said = item.roles.get(Role.HERE)
        if said is None or item.text in ("it", "its"):
            found.append(item)
        elif shown.place is not None and said in (True, shown.place.type):
            found.append(replace(item, roles={Role.PLACE: shown.place}))
        else:
            found.append(item if said is True else replace(item, roles={}))
    return tuple(found)


def read_map(context: MapContext, lexicon: Lexicon) -> Shown:
    """The place that the map names: by id, else by name. A name is known only if all of it is: `Johnson County,
    Missouri` is not the county of that name in another state."""
    if context.place_id is not None:
        place = lexicon.gazetteer.entity(context.place_id)
        return Shown(place) if place is not None else Shown(unknown=context.place or context.place_id)
    if not context.place:
        return Shown()
    items = merged(settle(read_items(context.place[:_PLACE_CHARS], lexicon), lexicon), lexicon)
    said = [item for item in items if not item.has(Role.NOTHING) and item.text != ","]
    ref = said[0].roles.get(Role.PLACE, said[0].roles.get(Role.THING)) if len(said) == 1 else None
    return Shown(ref) if isinstance(ref, EntityRef) else Shown(unknown=context.place)
