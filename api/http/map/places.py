"""Places by name, as a person types: the names of the scope, and what the layers show of each."""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from api.http.map.features import meets
from api.http.map.layers import MapView, box_of
from retrieval.gazetteer import Gazetteer
from retrieval.index import GazetteerEntry, surface_key
from retrieval.model import EntityRef
from retrieval.spatial.facts import Box

_SCANNED = 2_000
"""Names that begin as was typed and are ranked; more share one or two letters, which rank alike."""


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """A place that answers to what was typed. `matched` is the name that does; `features` are those that draw it, as
    (layer, feature id)."""

    place: EntityRef
    matched: str
    bounds: Box | None
    features: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Name:
    """A name from one of its words on: `rank` 0 at its first word, 1 at a later one."""

    key: str
    rank: int
    name: str
    place: EntityRef
    documents: frozenset[str]


class PlaceNames:
    """The names of each scope in order, kept for the last few states of the corpus. One event loop."""

    def __init__(self, capacity: int = 16) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[tuple[str, int], tuple[tuple[str, ...], tuple[_Name, ...]]] = OrderedDict()

    async def starting(self, typed: str, view: MapView) -> list[_Name]:
        """Names that begin with what was typed, or have a word that does. Raises `StoreUnavailable`."""
        scope = view.reading.scope
        key = (scope.digest, view.corpus_version)
        if key not in self._kept:
            store = view.reading.services.store
            entries = await store.gazetteer_entries(scope=scope)
            things = (await store.domain(scope=scope)).things
            names = sorted(_names(entries, things), key=lambda n: (n.key, n.rank, n.name, n.place.entity_id))
            self._kept[key] = tuple(n.key for n in names), tuple(names)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        keys, known = self._kept[key]
        wanted = surface_key(typed)
        found = islice(known, bisect_left(keys, wanted), None)
        return list(_while_prefix(found, wanted)) if wanted else []


def _while_prefix(names: Iterator[_Name], wanted: str) -> Iterator[_Name]:
    for name in islice(names, _SCANNED):
        if not name.key.startswith(wanted):
            return
        yield name


def _names(entries: Sequence[GazetteerEntry], things: Collection[str]) -> Iterator[_Name]:
    """The names of what lies somewhere, each from every one of its words on."""
    entries = [entry for entry in entries if not entry.entity.listed]
    gazetteer = Gazetteer(entries)
    stated: dict[tuple[str, str], set[str]] = {}
    for entry in entries:
        for name in (entry.entity.name, *entry.names):
            stated.setdefault((entry.entity.entity_id, name), set()).add(entry.document_id)
    for (entity_id, name), documents in stated.items():
        place = gazetteer.entity(entity_id)
        if place is None or place.type in things:
            continue
        words = surface_key(name).split(" ")
        for at in range(len(words)):
            yield _Name(" ".join(words[at:]), min(at, 1), name, place, frozenset(documents))


async def find_places(typed: str, *, view: MapView, names: PlaceNames, box: Box | None, limit: int) -> list[FoundPlace]:
    """Places by how well they answer to `typed`: the whole name, its beginning, the beginning of a later word; among
    equals those that are drawn, then shorter names, then in order of name and id. `box` keeps those that are drawn
    inside it."""
    if not view.reading.classes:
        return []
    found = await names.starting(typed, view)
    drawn = _drawn(view)
    wanted = surface_key(typed)

    def order(name: _Name) -> tuple[bool, int, bool, int, str, str]:
        whole = name.rank == 0 and name.key == wanted
        return (
            not whole, name.rank, name.place.entity_id not in drawn, len(name.name), name.name, name.place.entity_id
        )  # fmt: skip

    best: dict[str, FoundPlace] = {}
    for name in sorted(found, key=order):
        if all((document, name.place.entity_id) in view.refused for document in name.documents):
            continue
        shown = drawn.get(name.place.entity_id)
        inside = box is None or (shown is not None and meets(shown[0], box))
        if inside and name.place.entity_id not in best:
            bounds, features = shown or (None, ())
            best[name.place.entity_id] = FoundPlace(name.place, name.name, bounds, features)
    return list(best.values())[:limit]


def _drawn(view: MapView) -> dict[str, tuple[Box, tuple[tuple[str, str], ...]]]:
    """By place, the box around its features in all layers, and those features."""
    shapes: dict[str, list[tuple[str, str, Box]]] = {}
    for layer in view.layers:
        for shape in layer.shapes:
            if shape.place is not None:
                shapes.setdefault(shape.place.entity_id, []).append((layer.id, shape.record_id, shape.bounds))
    return {
        place_id: (box_of(box for _, _, box in found), tuple((layer, feature) for layer, feature, _ in found))
        for place_id, found in shapes.items()
    }
