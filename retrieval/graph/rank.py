"""Which records answer a question by what they relate. Pure over `GraphReads`; ranks by the question alone, never by
degree."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from retrieval.algebra.domain import CONTAINMENT
from retrieval.algebra.plan import Stated
from retrieval.english.stems import stem
from retrieval.graph.edges import Edge, EdgeKind, GraphReads, Postings, time_keys
from retrieval.graph.stated import TOO_MANY, stated_rows
from retrieval.index import surface_key
from retrieval.model import Limitation, Mention, Query, TimeRange

MAX_EDGES = 1_000
MAX_NODES = 64
MAX_FAN = 20
_PATH_EDGES = 4
_HAPPENING = frozenset({"happen", "event", "occur", "chronolog", "timelin"})
_COMMON = frozenset(
    {"are", "for", "has", "had", "the", "was", "were", "what", "when", "which", "who", "with", "did", "does"}
)


@dataclass(slots=True)
class GraphMatch:
    """A record and why it was found. `in_time` is 2 when it is dated inside a time of the question, 1 when it only
    overlaps."""

    record_id: str
    stated: bool = True
    relation: int = 0
    seeds: set[str] = field(default_factory=set)
    in_time: int = 0
    hops: int = 1
    edges: dict[str, None] = field(default_factory=dict)

    @property
    def score(self) -> int:
        """Higher is better: stated relations, then how well the relation matches, the number of seeds, time, fewer
        hops."""
        parts = (self.stated, min(self.relation, 9), min(len(self.seeds), 99), self.in_time, 9 - self.hops)
        return sum(part * weight for part, weight in zip(parts, (1_000_000, 100_000, 1_000, 100, 10), strict=True))

    @property
    def path(self) -> tuple[str, ...]:
        """The relations that were followed."""
        return tuple(self.edges)[:_PATH_EDGES]


def needs_graph(query: Query) -> bool:
    """True if the graph can find anything: a name, a time or an operation over what rows state."""
    stated = any(isinstance(operation, Stated) for operation in query.intent.operations)
    return bool(query.scope.class_ids) and bool(query.intent.mentions or query.intent.times or stated)


def most_hits(query: Query) -> int | None:
    """How many records a run holds: all, where an operation needs every row."""
    stated = any(isinstance(operation, Stated) for operation in query.intent.operations)
    return None if stated and query.top_k > 0 else max(0, query.top_k)


async def rank(rows: GraphReads, query: Query) -> tuple[list[GraphMatch], tuple[Limitation, ...]]:
    """Records that state a relation of the question, then passages that name two or more of its names and times,
    best first, ties by record id."""
    asked = [operation for operation in query.intent.operations if isinstance(operation, Stated)]
    if asked:
        return await _rows_asked_for(rows, asked)
    stated = sorted(await _stated(rows, query), key=lambda f: (-f.score, f.record_id))
    seen = {f.record_id for f in stated}
    together = [f for f in await _named_together(rows, query, query.top_k + len(seen)) if f.record_id not in seen]
    if stated or together or not _asks_what_happened(query, _widest(await rows.kinds())):
        return [*stated, *together], ()
    dated = await _dated(rows, query)
    return dated, _not_placed(query) if dated else ()


async def _rows_asked_for(rows: GraphReads, asked: Sequence[Stated]) -> tuple[list[GraphMatch], tuple[Limitation, ...]]:
    """Every row that an operation over stated things needs, in order of record id."""
    found: dict[str, GraphMatch] = {}
    limitations: tuple[Limitation, ...] = ()
    for plan in asked:
        ids = await stated_rows(rows, plan)
        limitations = (*limitations, TOO_MANY) if ids is None else limitations
        found |= {record_id: GraphMatch(record_id) for record_id in ids or ()}
    return [found[record_id] for record_id in sorted(found)], limitations


async def _stated(rows: GraphReads, query: Query) -> list[GraphMatch]:
    """Records whose edges touch a seed or, with none, are of the relation and the time that the question names."""
    seeds = {e.entity_id for e in query.intent.entities}
    cues = _cues(await rows.kinds(), _words(query), {e.type for e in query.intent.entities})
    predicates = {kind.predicate for kind in cues}
    if seeds:
        return await _touching(rows, seeds, cues, query)
    if query.intent.unknown_names or not query.intent.times or not predicates:
        return []
    edges = await rows.edges_of(predicates, times=query.intent.times, limit=MAX_EDGES)
    edges = [e for e in edges if _cue(e, cues)]
    return list(_grouped(edges, seeds, cues, query.intent.times, hops=1).values())


async def _touching(rows: GraphReads, seeds: set[str], cues: dict[EdgeKind, int], query: Query) -> list[GraphMatch]:
    """Edges at the seeds, and one hop further along the question's relation. Without a relation in the question only
    what its time or a second seed supports, and nothing for a question of figures and places, which is the spatial
    channel's."""
    times = query.intent.times
    named = {kind: match for kind, match in cues.items() if match > 1}
    if query.intent.operations and not named:
        return []
    predicates = {kind.predicate for kind in cues} or None
    near = await rows.edges_at(seeds, predicates=predicates, times=times, limit=MAX_EDGES)
    near = [e for e in near if predicates is None or _cue(e, cues)]
    found = _grouped(near, seeds, cues, times, hops=1)
    for record_id, item in (await _further(rows, near, seeds, named, times) if named else {}).items():
        found.setdefault(record_id, item)
    supported = [f for f in found.values() if f.relation or f.in_time or len(f.seeds) > 1]
    return supported if times or predicates else list(found.values())


async def _further(
    rows: GraphReads, near: Sequence[Edge], seeds: set[str], cues: dict[EdgeKind, int], times: Sequence[TimeRange]
) -> dict[str, GraphMatch]:
    """Records one hop beyond: of the nodes that the first edges lead to, those that are no hubs."""
    through = {
        n: e for e in reversed(near) for n in (e.subject, e.object) if n not in seeds and not n.startswith("date:")
    }
    if not 0 < len(through) <= MAX_NODES:
        return {}
    edges = await rows.edges_at(through, predicates={k.predicate for k in cues}, times=times, limit=MAX_EDGES)
    at: defaultdict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        for node in (edge.subject, edge.object):
            if node in through:
                at[node].append(edge)
    found: dict[str, GraphMatch] = {}
    for node, reached in sorted((n, es) for n, es in at.items() if len(es) <= MAX_FAN):
        first = through[node]
        cued = [e for e in reached if _cue(e, cues)]
        for record_id, item in _grouped(cued, seeds, cues, times, hops=2).items():
            item.edges = {first.path: None, **item.edges}
            item.seeds |= {first.subject, first.object} & seeds
            found.setdefault(record_id, item)
    return found


def _grouped(
    edges: Sequence[Edge], seeds: set[str], cues: dict[EdgeKind, int], times: Sequence[TimeRange], *, hops: int
) -> dict[str, GraphMatch]:
    found: dict[str, GraphMatch] = {}
    matched = sorted(((_cue(e, cues), e) for e in edges), key=lambda one: (-one[0], one[1].path))
    for match, edge in matched:
        item = found.setdefault(edge.record_id, GraphMatch(edge.record_id, hops=hops))
        item.relation = max(item.relation, match)
        item.seeds |= {edge.subject, edge.object} & seeds
        item.in_time = max(item.in_time, edge.time_match(times))
        item.edges[edge.path] = None
    return found


def _cues(kinds: Sequence[EdgeKind], words: frozenset[str], seed_types: Collection[str]) -> dict[EdgeKind, int]:
    """How well the question's words name each kind of edge: two for the predicate, one for each type. A type alone
    names a kind only when the other end is of a seed's type, or both are named (`treaties of the Kansa`)."""
    found: dict[EdgeKind, int] = {}
    for kind in kinds:
        predicate = any(stem(w) in words for w in kind.predicate.split("_") if len(w) > 2)
        subject, other = stem(kind.subject_type) in words, stem(kind.object_type) in words
        joined = (subject and kind.object_type in seed_types) or (other and kind.subject_type in seed_types)
        if predicate or joined or (subject and other):
            found[kind] = 2 * predicate + subject + other
    return found


def _cue(edge: Edge, cues: dict[EdgeKind, int]) -> int:
    return cues.get(EdgeKind(edge.subject_type, edge.predicate, edge.object_type), 0)


def _widest(kinds: Sequence[EdgeKind]) -> frozenset[str]:
    """The types that others lie in and that lie in nothing themselves."""
    lying = [kind for kind in kinds if kind.predicate == CONTAINMENT]
    return frozenset({kind.object_type for kind in lying} - {kind.subject_type for kind in lying})


def _asks_what_happened(query: Query, widest: Collection[str]) -> bool:
    """`What happened in Kansas in 1850?`: a time, no name that is unknown, and no place but one in which the others
    lie."""
    broad = all(e.type in widest for e in query.intent.entities)
    happening = not _words(query).isdisjoint(_HAPPENING)
    return happening and broad and bool(query.intent.times) and not query.intent.unknown_names


async def _dated(rows: GraphReads, query: Query) -> list[GraphMatch]:
    """Records dated to the time that was asked for."""
    predicates = {kind.predicate for kind in await rows.kinds()}
    edges = await rows.edges_of(predicates, times=query.intent.times, limit=MAX_EDGES)
    found = _grouped(edges, set(), {}, query.intent.times, hops=1)
    return sorted(found.values(), key=lambda f: (-f.score, f.record_id))


def _not_placed(query: Query) -> tuple[Limitation, ...]:
    if not query.intent.entities:
        return ()
    name = query.intent.entities[0].name
    message = f"Records of the time that was asked for are given; that they concern {name} they do not say."
    return (Limitation("PLACE_NOT_NAMED", message, "neo4j"),)


async def _named_together(rows: GraphReads, query: Query, limit: int) -> list[GraphMatch]:
    """Passages that carry two or more of the question's names and times, at most `limit`, best first."""
    mentioned, times = [_mention_keys(m) for m in query.intent.mentions], [time_keys(t) for t in query.intent.times]
    if len(mentioned) + len(times) < 2:
        return []
    found = await rows.postings([*mentioned, *times])
    names = [carried for carried in found[: len(mentioned)] if carried.size]
    dates = [carried for carried in found[len(mentioned) :] if carried.size]
    if len(names) + len(dates) < 2:
        return []
    size = 1 + max(int(carried.max()) for carried in (*names, *dates))
    counts = np.zeros(size, dtype=np.uint16)
    dated = np.zeros(size, dtype=np.uint16)
    for carried in (*names, *dates):
        once = np.zeros(size, dtype=np.uint16)
        once[carried] = 1
        counts += once
    for carried in dates:
        dated[carried] = 1
    together = np.flatnonzero(counts >= 2)
    grades = counts[together] * 2 + dated[together]
    best: list[GraphMatch] = []
    for grade in np.flatnonzero(np.bincount(grades))[::-1].tolist():
        best += await _graded(rows, together[grades == grade], grade, limit - len(best))
        if len(best) >= limit:
            break
    return best


async def _graded(rows: GraphReads, rids: Postings, grade: int, limit: int) -> list[GraphMatch]:
    """Equals, in order of record id."""
    seeds = {str(n) for n in range(grade // 2)}
    first = await rows.first_record_ids(rids, limit)
    return [GraphMatch(i, stated=False, seeds=set(seeds), in_time=grade % 2) for i in first]


def _mention_keys(mention: Mention) -> list[str]:
    names = {surface_key(mention.surface), *(surface_key(c.name) for c in mention.candidates)}
    return sorted((names - {""}) | {f"={c.entity_id}" for c in mention.candidates})


def _words(query: Query) -> frozenset[str]:
    """Stems of the question's words outside its names."""
    text = list(query.text)
    for mention in query.intent.mentions:
        text[mention.start_char : mention.end_char] = " " * (mention.end_char - mention.start_char)
    found = re.findall(r"[^\W\d_]{3,}", "".join(text).casefold()[:4_000])
    return frozenset(stem(w) for w in found if w not in _COMMON)
