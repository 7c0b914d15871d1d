"""The candidates of the names in a question that the words around them leave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from ai.intent.lexicon import Lexicon, Role
from ai.intent.tokens import Item
from retrieval.model import EntityRef, Mention

_IN = frozenset({",", "in", "the", "of", "state"})


def settle(items: Sequence[Item], lexicon: Lexicon) -> tuple[Item, ...]:
    """The items with each name as a place, a thing or an unknown name."""
    kinds = _kinds_said(items, lexicon)
    cued = any(item.text in lexicon.cues for item in items if not isinstance(item.value, Mention))
    settled: list[Item] = []
    for i, item in enumerate(items):
        if (apart := _attributive(items, i, lexicon)) is not None:
            settled += apart
        elif isinstance(item.value, Mention) and item.value.candidates:
            settled.append(_settled(items, i, kinds.get(i), lexicon, cued=cued))
        else:
            settled.append(item)
    return tuple(settled)


def _attributive(items: Sequence[Item], i: int, lexicon: Lexicon) -> tuple[Item, Item] | None:
    """`which Kansas city`: a place and a kind, though a city is called so. With a capital it is the name."""
    mention, before = items[i].value, items[i - 1] if i else None
    asking = before is not None and (before.text == "which" or before.has(Role.SUPERLATIVE))
    if not asking or not isinstance(mention, Mention) or not mention.candidates:
        return None
    name, _, last = mention.surface.rpartition(" ")
    kind = lexicon.kinds.get(last)
    places = tuple(c for c in lexicon.gazetteer.named(name) if kind and c.type in lexicon.domain.around(kind))
    if not name or len(places) != 1:
        return None
    end = mention.start_char + len(name)
    place = Mention(name, mention.start_char, end, places)
    roles: dict[Role, object] = {Role.KIND: kind}
    return (
        Item(mention.start_char, end, name, {Role.PLACE: places[0]}, place, name),
        Item(end + 1, mention.end_char, last, roles, None, last),
    )


def _kinds_said(items: Sequence[Item], lexicon: Lexicon) -> dict[int, str]:
    """The kind that the words beside a name, or beside a list of names, give it."""
    found: dict[int, str] = {}
    compared = any(item.has(Role.COMPARATIVE) or item.has(Role.COMPARATOR) for item in items)
    asked = next(
        (b.roles[Role.KIND] for a, b in pairwise(items) if a.has(Role.WHICH) and b.has(Role.KIND)),
        None,
    )
    for first, last in _lists(items):
        names = [i for i in range(first, last) if isinstance(items[i].value, Mention)]
        after = items[last].roles.get(Role.KIND) if last < len(items) else None
        before = _kind_before(items, first)
        choice = compared and any(items[i].text == "or" for i in range(first, last))
        kind = after if len(names) > 1 and after else before or (asked if choice else None)
        found |= {i: str(kind) for i in names} if kind else {}
        if after and last - 1 not in found:
            found[last - 1] = str(after)
    return found


def _lists(items: Sequence[Item]) -> list[tuple[int, int]]:
    """Runs of names with conjunctions, commas or nothing between them: first and end."""
    runs, i = list[tuple[int, int]](), 0
    while i < len(items):
        if not isinstance(items[i].value, Mention):
            i += 1
            continue
        first = i
        end = i + 1
        while end < len(items):
            gap = end
            while gap < len(items) and (items[gap].has(Role.AND) or items[gap].text in ("the", "versus", "vs")):
                gap += 1
            if gap < len(items) and isinstance(items[gap].value, Mention):
                end = gap + 1
            else:
                break
        runs.append((first, end))
        i = end
    return runs


def _kind_before(items: Sequence[Item], first: int) -> str | None:
    """`county of Shawnee`; `largest city of Kansas` asks for a city."""
    at = first - 1
    if at >= 0 and items[at].text == "the":
        at -= 1
    if at < 1 or items[at].text != "of" or not items[at - 1].has(Role.KIND):
        return None
    lead = items[at - 2] if at >= 2 else None
    asking = lead is not None and (
        lead.has(Role.SUPERLATIVE) or lead.has(Role.WHICH) or lead.has(Role.MANY) or lead.has(Role.NUMBER)
    )
    return None if asking else str(items[at - 1].roles[Role.KIND])


def _definite(items: Sequence[Item], i: int, kind: str) -> bool:
    """True after `the town of`: one place that is called so, not those of that kind inside another."""
    said = [item.text for item in items[max(i - 3, 0) : i]]
    return said == ["the", kind.replace("_", " "), "of"]


def _settled(items: Sequence[Item], i: int, kind: str | None, lexicon: Lexicon, *, cued: bool) -> Item:
    item, mention = items[i], items[i].value
    assert isinstance(mention, Mention)  # noqa: S101 - the caller looked
    own = lexicon.kinds.get(mention.surface.split()[-1].casefold())
    bearing = tuple(c for c in mention.candidates if c.type == own)  # `Greeley, CO` and `Greeley Co.` are one key
    candidates = _lying(bearing or mention.candidates, items, i, lexicon)
    after = items[i + 1] if i + 1 < len(items) else None
    beside = after is not None and after.has(Role.KIND) and kind == after.roles[Role.KIND]
    if candidates and kind is not None:
        kept = tuple(c for c in candidates if c.type == kind)
        around = lexicon.domain.around(kind)
        attributive = any(c.type in around or lexicon.is_group(c) for c in candidates)  # `Kansas towns`
        fuller = () if attributive else lexicon.gazetteer.named(f"{mention.surface} {kind}")
        kept = kept or tuple(c for c in _lying(fuller, items, i, lexicon) if c.type == kind)
        if kept:
            return _as_place(item, mention, _at_home(kept, lexicon))
        if not attributive and _definite(items, i, kind):
            return replace(item, roles={Role.UNKNOWN_NAME: True}, value=replace(mention, candidates=()))
        if beside and after is not None and not attributive and after.text == kind.replace("_", " "):
            longer = replace(
                mention, surface=f"{mention.surface} {after.surface}", end_char=after.end_char, candidates=()
            )
            return Item(item.start_char, item.end_char, longer.surface, {Role.UNKNOWN_NAME: True}, longer)
    things = tuple(c for c in candidates if c.type in lexicon.domain.things)
    places = tuple(c for c in candidates if c.type not in lexicon.domain.things)
    if not candidates:
        return replace(item, roles={Role.UNKNOWN_NAME: True}, value=replace(mention, candidates=()))
    if things and (cued or not places):
        return replace(item, roles={Role.THING: things[0]}, value=replace(mention, candidates=things))
    return _as_place(item, mention, (*_at_home(_finest_first(places, lexicon), lexicon), *things))


def _as_place(item: Item, mention: Mention, candidates: tuple[EntityRef, ...]) -> Item:
    return replace(item, roles={Role.PLACE: candidates[0]}, value=replace(mention, candidates=candidates))


def _lying(candidates: tuple[EntityRef, ...], items: Sequence[Item], i: int, lexicon: Lexicon) -> tuple[EntityRef, ...]:
    """The candidates without those that lie elsewhere than the wider place that follows the name: `Topeka, Missouri`
    is not the Topeka whose names say Kansas. A wider place that nobody knows follows a comma (`Topeka, Oregon`)."""
    said = _following(items, i)
    if said is None:
        return candidates
    if not said.candidates:
        return tuple(c for c in candidates if not _told(c, lexicon))
    kept = []
    for one in candidates:
        tops = [c for c in said.candidates if c.type == lexicon.domain.widest(one.type)]
        told = _told(one, lexicon)
        if not tops or not told or told & _names_of(tops, lexicon):
            kept.append(one)
    return tuple(kept)


def _following(items: Sequence[Item], i: int) -> Mention | None:
    """The name that says where the name before it lies: after a comma, `in`, or nothing, the kind aside. A name that
    nobody knows says so after a comma only."""
    at, said = i + 1, list[str]()
    if at < len(items) and items[at].has(Role.KIND):
        at += 1
    while at < len(items) and items[at].text in _IN:
        said.append(items[at].text)
        at += 1
    follows = items[at].value if at < len(items) else None
    if not isinstance(follows, Mention) or (not follows.candidates and said != [","]):
        return None
    return follows


def _told(place: EntityRef, lexicon: Lexicon) -> set[str]:
    """Names of wider places that stand after the comma of its own: `kansas` for Topeka."""
    top = lexicon.domain.widest(place.type)
    if top is None:
        return set()
    tails = {n.rpartition(",")[2].strip().casefold() for n in lexicon.gazetteer.names(place.entity_id) if "," in n}
    return tails & _names_of(lexicon.gazetteer.of_type(top), lexicon)


def _names_of(entities: Iterable[EntityRef], lexicon: Lexicon) -> set[str]:
    return {name.casefold() for entity in entities for name in lexicon.gazetteer.names(entity.entity_id)}


def _finest_first(places: tuple[EntityRef, ...], lexicon: Lexicon) -> tuple[EntityRef, ...]:
    """A bare name is rather that of the smaller kind, a city's; who means the county says so."""
    return tuple(sorted(places, key=lambda p: -len(lexicon.domain.around(p.type))))


def _at_home(places: tuple[EntityRef, ...], lexicon: Lexicon) -> tuple[EntityRef, ...]:
    """Of several places of one kind those whose names say that they lie at home, when there are any."""
    if len(places) < 2:
        return places
    near: set[EntityRef] = set()
    for place in places:
        top = lexicon.domain.widest(place.type)
        home = lexicon.gazetteer.home(top) if top else None
        if home is not None and _told(place, lexicon) & _names_of([home], lexicon):
            near.add(place)
    kinds = {p.type for p in near}
    return tuple(p for p in places if p in near or p.type not in kinds)


def readings(items: Sequence[Item], lexicon: Lexicon) -> dict[EntityRef, tuple[EntityRef, ...]]:
    """Everything that the name of each place may be: where nothing says where it lies, also what lies elsewhere; where
    its kind is said (`the town of Tamber`), nothing of another."""
    found: dict[EntityRef, tuple[EntityRef, ...]] = {}
    kinds = _kinds_said(items, lexicon)
    for i, item in enumerate(items):
        ref = item.roles.get(Role.PLACE)
        if isinstance(item.value, Mention) and isinstance(ref, EntityRef):
            elsewhere = lexicon.gazetteer.named(item.value.surface) if _following(items, i) is None else ()
            told = kinds.get(i) if kinds.get(i) == ref.type else None
            fitting = (one for one in (*item.value.candidates, *elsewhere) if told in (None, one.type))
            found[ref] = tuple(dict.fromkeys(fitting))
    return found


def merged(items: Sequence[Item], lexicon: Lexicon) -> list[Item]:
    """The items for the grammar: what says only which kind a name is of, or where it lies, is part of the name."""
    gone: set[int] = set()
    for first, last in _lists(items):
        places = [items[i].roles.get(Role.PLACE) for i in range(first, last) if isinstance(items[i].value, Mention)]
        kinds = {p.type for p in places if isinstance(p, EntityRef)}
        unknown = items[last - 1].has(Role.UNKNOWN_NAME)
        if last < len(items) and items[last].has(Role.KIND):
            kind = str(items[last].roles[Role.KIND])
            if kinds == {kind} or (unknown and items[last].end_char == _end(items[last - 1])):
                gone.add(last)
        before = first - 1 - (first >= 1 and items[first - 1].text == "the")
        if before >= 1 and items[before].text == "of" and items[before - 1].has(Role.KIND):
            kind = str(items[before - 1].roles[Role.KIND])
            if kinds == {kind} and items[before - 1].text == kind.replace("_", " "):
                gone |= set(range(before - 1, first))
    for i, item in enumerate(items):
        if i not in gone and isinstance(item.roles.get(Role.PLACE), EntityRef):
            gone |= _qualifier(items, i, lexicon)
    return [item for i, item in enumerate(items) if i not in gone]


def _end(item: Item) -> int:
    return item.value.end_char if isinstance(item.value, Mention) else item.end_char


def _qualifier(items: Sequence[Item], i: int, lexicon: Lexicon) -> set[int]:
    """The items after a place that only say again where it lies."""
    place = items[i].roles[Role.PLACE]
    assert isinstance(place, EntityRef)  # noqa: S101 - the caller looked
    said = _following(items, i)
    if said is None or not said.candidates:
        return set()
    at = next(j for j in range(i + 1, len(items)) if items[j].value is said or _same(items[j].value, said))
    if any(items[j].has(Role.KIND) and items[j].text != place.type.replace("_", " ") for j in range(i + 1, at)):
        return set()
    inside = {c.name.casefold() for c in said.candidates} | _names_of(said.candidates, lexicon)
    return set(range(i + 1, at + 1)) if _told(place, lexicon) & inside else set()


def _same(one: object, other: Mention) -> bool:
    return isinstance(one, Mention) and one.start_char == other.start_char
