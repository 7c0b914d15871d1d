"""From phrases to what rows state of things: treaties, nations, events, or whatever the corpus relates."""

from __future__ import annotations

from datetime import date
from typing import Literal

from ai.intent.lexicon import Role
from ai.intent.planning.sets import Asked
from retrieval.algebra import Stated
from retrieval.domain import CONTAINMENT
from retrieval.model import EntityRef

Way = Literal["list", "count", "any", "earliest", "latest", "most", "fewest"]
_ALLOWED = ("asked", "types", "kinds", "relations", "things", "named", "inside", "tops", "counts", "bounds",
            "excepted", "things_excepted", "things_denied", "aggregates")  # fmt: skip


def read_stated(asked: Asked) -> tuple[Stated, ...]:
    """`How many treaties did the Kansa sign?`, `Which nation signed the most treaties?`: a list, a count, the first
    or last, or a rank of things that rows state."""
    p = asked.phrases
    refs = _refs(asked)
    if not asked.only(*_ALLOWED) or refs is None or len(p.tops) > 1 or len(set(p.asked)) > 1:
        return ()
    types = _types(asked, refs)
    if types is None or not _times_read(asked) or (asked.phrases.aggregates and not _in_all(asked)):
        return ()
    reached = _reached(asked, types)
    refs = tuple(asked.of_type(ref, reached) for ref in refs)
    without = tuple(asked.of_type(ref, reached) for ref in _left_out(asked))
    if not _related(asked, types, (*refs, *without)) or set(refs) & set(without):
        return ()
    wanted, via = types
    bounds = _bounds(asked, via)
    if bounds is None:
        return ()
    way = _way(asked, via)
    if way is None or (way in ("most", "fewest") and via is None):
        return ()
    days = _days(asked)
    limit = next((n for n in (*(top.limit for top in p.tops), *p.counts) if n is not None), 1)
    ids = tuple(r.entity_id for r in refs)
    return (Stated(wanted, via, ids, *days, way, limit, tuple(r.entity_id for r in without), *bounds),)


def _in_all(asked: Asked) -> bool:
    """`How many treaties are listed in all?`"""
    return asked.phrases.asked == ["many"] and asked.phrases.aggregates == ["sum"]


def _left_out(asked: Asked) -> tuple[EntityRef, ...]:
    """The names that are denied or excepted."""
    p = asked.phrases
    denied = [ref for related in p.inside if not related.holds for ref in related.listed.refs]
    return tuple(dict.fromkeys((*p.things_excepted, *p.things_denied, *p.excepted, *denied)))


def _bounds(asked: Asked, via: str | None) -> tuple[int | None, int | None] | None:
    """`more than 40 treaties`: how many of the type there must be; None where a bound is of something else."""
    if not asked.phrases.bounds:
        return None, None
    bound = asked.phrases.bounds[0]
    whole = all(n is None or n == n.to_integral_value() for n in (bound.low, bound.high))
    if len(asked.phrases.bounds) > 1 or bound.unit != (Role.TYPE, via) or not whole or not bound.holds:
        return None
    low = None if bound.low is None else int(bound.low) + bound.low_open
    return low, None if bound.high is None else int(bound.high) - bound.high_open


def _refs(asked: Asked) -> tuple[EntityRef, ...] | None:
    """The things that the rows must be about; None where that is denied, offered as a choice, or two of one type, whose
    rows are not the same."""
    p = asked.phrases
    if any(related.said == "outside" for related in p.inside):
        return None
    listed = [*p.things, *p.named, *(related.listed for related in p.inside if related.holds)]
    refs = tuple(dict.fromkeys(ref for one in listed for ref in one.refs))
    types = [ref.type for ref in refs]
    return refs if len(types) == len(set(types)) else None


def _types(asked: Asked, refs: tuple[EntityRef, ...]) -> tuple[str, str | None] | None:
    """The type that is asked for, and the type through which: `nations that signed treaties`, `who signed it`."""
    p = asked.phrases
    bound = [str(b.unit[1]) for b in p.bounds if b.unit is not None and b.unit[0] is Role.TYPE]
    said = tuple(dict.fromkeys((*p.order, *bound)))
    if len(said) > 2 or len(said) < len(p.types) + len(p.kinds):
        return None
    if "who" in p.asked or "where" in p.asked:
        things = [*said, *(ref.type for ref in refs)]
        found = _at_other_end(asked, things, subject="who" in p.asked)
        return None if found is None else (found, next((s for s in said if s != found), None))
    if not said:
        events = [ref.type for ref in refs if ref.type in asked.lexicon.domain.things]
        return (events[0], None) if "when" in p.asked and events else None
    if said[0] not in asked.lexicon.domain.things and len(said) < 2:
        return None
    return (said[0], said[1] if len(said) == 2 else None)


def _at_other_end(asked: Asked, types: list[str], *, subject: bool) -> str | None:
    """The types that the verb relates: its subject for `who`, its place for `where`."""
    found = set()
    if not subject:
        return _place_of(asked, types)
    for relation in asked.lexicon.domain.relations:
        verb = relation.predicate.split("_")[0]
        if relation.predicate == CONTAINMENT or (asked.phrases.relations and verb not in asked.phrases.relations):
            continue
        if relation.object in types and relation.subject not in types:
            found.add(relation.subject)
    return found.pop() if len(found) == 1 else None


def _place_of(asked: Asked, types: list[str]) -> str | None:
    """The kind of place that rows about one of the types are related to."""
    domain = asked.lexicon.domain
    near = {r.object for r in domain.relations if r.subject in types and r.object in domain.things} | set(types)
    found = {
        r.object
        for r in domain.relations
        if r.subject in near and r.predicate != CONTAINMENT and r.object not in domain.things and r.object != "date"
    }
    return found.pop() if len(found) == 1 else None


def _reached(asked: Asked, types: tuple[str, str | None]) -> set[str]:
    """The types of what rows about these types may name."""
    said = {t for t in types if t is not None}
    pairs = [{r.subject, r.object} for r in asked.lexicon.domain.relations if r.predicate != CONTAINMENT]
    near = said | {t for pair in pairs if pair & said for t in pair}
    return near | {t for pair in pairs if pair & near for t in pair}


def _related(asked: Asked, types: tuple[str, str | None], refs: tuple[EntityRef, ...]) -> bool:
    """True if the corpus relates the types to each other, by the verb that is said, and to every entity."""
    pairs = {
        frozenset((r.subject, r.object)): r.predicate.split("_")[0]
        for r in asked.lexicon.domain.relations
        if r.predicate != CONTAINMENT
    }
    wanted, via = types
    if via is not None and frozenset((wanted, via)) not in pairs:
        return False
    said = [t for t in types if t is not None]
    reached = set(said)
    reached |= {t for pair in pairs if pair & set(said) for t in pair}
    for ref in refs:
        if ref.type not in reached and not any(frozenset((ref.type, t)) in pairs for t in reached):
            return False
    verbs = {verb for pair, verb in pairs.items() if pair & {*said, *(ref.type for ref in refs)}}
    return set(asked.phrases.relations) <= verbs and (bool(pairs) or not refs)


def _way(asked: Asked, via: str | None) -> Way | None:  # noqa: PLR0911 - one refusal for each reason
    p = asked.phrases
    if p.tops:
        top = p.tops[0]
        if top.first != 1 or set(p.asked) - {"which", "when", "who"}:
            return None
        if top.scale == "time":
            return "earliest" if top.order == "smallest" else "latest"
        if top.scale == "amount" and via is not None:
            return "most" if top.order == "largest" else "fewest"
        return None
    if p.counts or set(p.asked) - {"which", "many", "who", "where", "when"}:
        return None
    if asked.opening in ("did", "do", "does", "is", "are", "was", "were", "has", "have"):
        return None if p.asked else "any"
    return "count" if "many" in p.asked else "list"


def _times_read(asked: Asked) -> bool:
    return len(asked.phrases.times) <= 1


def _days(asked: Asked) -> tuple[str | None, str | None]:
    """The first and last day, None where the time is open."""
    if not asked.phrases.times:
        return None, None
    time = asked.phrases.times[0].time
    first = None if time.start == date.min else time.start.isoformat()
    return first, None if time.end == date.max else time.end.isoformat()
