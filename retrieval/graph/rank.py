"""Which records answer a question by what they relate. Pure over `GraphRows`; ranks by the question alone, never by
degree."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import snowballstemmer

from retrieval.graph.rows import Edge, EdgeKind, GraphRows, time_keys
from retrieval.index import surface_key
from retrieval.model import Mention, Query, TimeRange

MAX_EDGES = 1_000
MAX_NODES = 64
_PATH_EDGES = 4
_HAPPENING = frozenset({"happen", "event", "occur", "chronolog", "timelin"})
_COMMON = frozenset(
    {"are", "for", "has", "had", "the", "was", "were", "what", "when", "which", "who", "with", "did", "does"}
)


@dataclass(slots=True)
class Found:
    """A record and why it was found."""

    record_id: str
    relation: int = 0
    seeds: set[str] = field(default_factory=set)
    in_time: bool = False
    hops: int = 1
    edges: dict[str, None] = field(default_factory=dict)

    @property
    def order(self) -> tuple[int, int, int, int, str]:
        """Best first: relation, number of seeds, time, fewer hops, record id."""
        return (-self.relation, -len(self.seeds), -self.in_time, self.hops, self.record_id)

    @property
    def score(self) -> float:
        """The order as a number, for readers of a run."""
        return self.relation * 100.0 + len(self.seeds) * 10.0 + self.in_time * 5.0 - self.hops

    @property
    def path(self) -> tuple[str, ...]:
        """The relations that were followed."""
        return tuple(self.edges)[:_PATH_EDGES]


def rank(rows: GraphRows, query: Query) -> list[Found]:
    """Records that state a relation of the question, then passages that name two or more of its names and times,
    best first."""
    stated = sorted(_stated(rows, query), key=lambda f: f.order)
    seen = {f.record_id for f in stated}
    together = [f for f in _named_together(rows, query, query.top_k + len(seen)) if f.record_id not in seen]
    return [*stated, *together]


def _stated(rows: GraphRows, query: Query) -> list[Found]:
    """Records whose edges touch a seed or, with none, are of the relation and the time that the question names."""
    words = _words(query)
    cues = {kind: match for kind in rows.kinds() if (match := _match(kind, words)) > 0}
    predicates = {kind.predicate for kind, match in cues.items() if match > 1} or {k.predicate for k in cues}
    seeds = {e.entity_id for e in query.intent.entities}
    times = query.intent.times
    if seeds:
        return _touching(rows, seeds, cues, predicates, query)
    if query.intent.unknown_names or not times:
        return []
    happening = not words.isdisjoint(_HAPPENING)
    wanted = {k.predicate for k in rows.kinds()} if happening else predicates
    edges = rows.edges_of(wanted, times=times, limit=MAX_EDGES) if wanted else []
    return list(_grouped(edges, seeds, cues, times, hops=1).values())


def _touching(
    rows: GraphRows, seeds: set[str], cues: dict[EdgeKind, int], predicates: Collection[str], query: Query
) -> list[Found]:
    """Edges at the seeds, and one hop further. Without a relation in the question, only what its time or a second
    seed supports."""
    times = query.intent.times
    if query.intent.operations and not predicates:
        return []  # a question of figures and places: the spatial channel's
    near = rows.edges_at(seeds, predicates=predicates or None, times=times, limit=MAX_EDGES)
    nodes = {n for e in near for n in (e.subject, e.object)} - seeds
    nodes = {n for n in nodes if not n.startswith("date:")}
    found = _grouped(near, seeds, cues, times, hops=1)
    if 0 < len(nodes) <= MAX_NODES and predicates:
        further = rows.edges_at(nodes, predicates=predicates, times=times, limit=MAX_EDGES)
        for record_id, item in _grouped(further, seeds, cues, times, hops=2).items():
            if record_id not in found:
                first = next(e for e in near if any(n in path for path in item.edges for n in (e.subject, e.object)))
                item.edges = {first.path: None, **item.edges}
                item.seeds |= {first.subject, first.object} & seeds
                found[record_id] = item
    supported = [f for f in found.values() if f.relation or f.in_time or len(f.seeds) > 1]
    return supported if times or predicates else list(found.values())


def _grouped(
    edges: Sequence[Edge], seeds: set[str], cues: dict[EdgeKind, int], times: Sequence[TimeRange], *, hops: int
) -> dict[str, Found]:
    found: dict[str, Found] = {}
    ordered = sorted(edges, key=lambda e: (-_cue(e, cues), e.path))
    for edge in ordered:
        item = found.setdefault(edge.record_id, Found(edge.record_id, hops=hops))
        item.relation = max(item.relation, _cue(edge, cues))
        item.seeds |= {edge.subject, edge.object} & seeds
        item.in_time = item.in_time or edge.overlaps(times)
        item.edges[edge.path] = None
    return found


def _cue(edge: Edge, cues: dict[EdgeKind, int]) -> int:
    return cues.get(EdgeKind(edge.subject_type, edge.predicate, edge.object_type), 0)


def _named_together(rows: GraphRows, query: Query, limit: int) -> list[Found]:
    """Passages that carry two or more of the question's names and times, at most `limit`, best first."""
    signals = [(f"name {i}", rows.postings(_mention_keys(m))) for i, m in enumerate(query.intent.mentions)]
    dated = [rows.postings(keys) for time in query.intent.times if (keys := time_keys(time))]
    signals += [(f"time {i}", rids) for i, rids in enumerate(dated)]
    signals = sorted((s for s in signals if s[1]), key=lambda s: len(s[1]))
    counts: defaultdict[int, int] = defaultdict(int)
    for i, (_, rids) in enumerate(signals):
        rest = signals[i + 1 :]
        for rid in rids if rest else ():
            if rid not in counts and any(rid in other for _, other in rest):
                counts[rid] = sum(rid in every for _, every in signals)
    in_time = frozenset[int]().union(*dated) if dated else frozenset[int]()
    return _best(rows, counts, in_time, limit)


def _best(rows: GraphRows, counts: dict[int, int], in_time: frozenset[int], limit: int) -> list[Found]:
    """The best `limit`; record ids are looked up only for groups of equals that reach into it."""
    groups: defaultdict[tuple[int, bool], list[int]] = defaultdict(list)
    for rid, count in counts.items():
        groups[count, rid in in_time].append(rid)
    best: list[Found] = []
    for (count, dated), rids in sorted(groups.items(), reverse=True):
        for record_id in sorted(rows.record_ids(rids).values())[: limit - len(best)]:
            names = {str(n) for n in range(count)}
            best.append(Found(record_id, seeds=names, in_time=dated))
        if len(best) >= limit:
            break
    return best


def _mention_keys(mention: Mention) -> list[str]:
    names = {surface_key(mention.surface), *(surface_key(c.name) for c in mention.candidates)}
    return sorted((names - {""}) | {f"={c.entity_id}" for c in mention.candidates})


def _words(query: Query) -> frozenset[str]:
    """Stems of the question's words outside its names."""
    text = list(query.text)
    for mention in query.intent.mentions:
        text[mention.start_char : mention.end_char] = " " * (mention.end_char - mention.start_char)
    found = re.findall(r"[^\W\d_]{3,}", "".join(text).casefold()[:4_000])
    return frozenset(_stem(w) for w in found if w not in _COMMON)


def _match(kind: EdgeKind, words: frozenset[str]) -> int:
    """Two for the predicate, one for each type that the question names."""
    predicate = any(_stem(w) in words for w in kind.predicate.split("_") if len(w) > 2)
    types = {kind.subject_type, kind.object_type}
    return 2 * predicate + sum(_stem(t) in words for t in types)


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    stem: str = snowballstemmer.stemmer("english").stemWord(word)
    return stem
