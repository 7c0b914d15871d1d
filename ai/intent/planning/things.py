"""From phrases to what rows state of things: treaties, nations, events, or whatever the corpus relates."""

from __future__ import annotations

from datetime import date
from typing import Literal

from ai.intent.lexicon import Role
from ai.intent.planning.sets import Asked
from retrieval.algebra.domain import CONTAINMENT
from retrieval.algebra.plan import Had, Stated
from retrieval.model import EntityRef, TimeRange

Way = Literal["list", "count", "any", "earliest", "latest", "most", "fewest", "busiest"]
_ALLOWED = ("asked", "types", "kinds", "relations", "things", "named", "inside", "tops", "counts", "bounds",
            "excepted", "things_excepted", "things_denied", "aggregates", "within", "occurring", "joint",
            "times_denied", "both_times")  # fmt: skip


def read_stated(asked: Asked) -> tuple[Stated, ...]:  # noqa: PLR0911 - one refusal for each reason
    """`How many treaties did the Kansa sign?`, `Which nation signed the most treaties?`, `Which nations signed treaties
    in both 1825 and 1846?`, `In which year were the most treaties signed?`: a list, a count, the first
    or last, or a rank of things that rows state."""
    p = asked.phrases
    joint = _joint(asked)
    refs = () if joint else _refs(asked)
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
    having = _having(asked, joint, wanted)
    if having is None or (p.occurring and _acting(asked, wanted)):
        return ()
    bounds = _bounds(asked, via)
    if bounds is None:
        return ()
    way = _way(asked, via)
    if way is None or (way in ("most", "fewest") and via is None):
        return ()
    days = (None, None) if p.both_times or p.times_denied else _days(asked)
    if having and way not in ("list", "count"):
        return ()
    limit = next((n for n in (*(top.limit for top in p.tops), *p.counts) if n is not None), 1)
    ids = tuple(r.entity_id for r in refs)
    return (Stated(wanted, via, ids, *days, way, limit, tuple(r.entity_id for r in without), *bounds, having),)


def _joint(asked: Asked) -> tuple[EntityRef, ...]:
    """Two or more of one type that each must have a row: `jointly with the Cheyenne`, `both Norrick and Sundrey`."""
    p = asked.phrases
    if p.joint:
        listed = [*p.things, *p.joint]
        alone = not (p.named or p.inside) and all(one.joined in ("", "and", "both") for one in listed)
        refs = tuple(dict.fromkeys(ref for one in listed for ref in one.refs)) if alone and p.things else ()
    else:
        both = [one for one in (*p.things, *p.named) if one.joined == "both"]
        refs = both[0].refs if len(both) == 1 and len(p.things) + len(p.named) == 1 and not p.inside else ()
    return refs if len(refs) > 1 and len({ref.type for ref in refs}) == 1 else ()


def _having(asked: Asked, joint: tuple[EntityRef, ...], wanted: str) -> tuple[Had, ...] | None:
    """The rows that each must or must not have beside; None where that is not read."""
    p = asked.phrases
    if joint:
        plain = not (p.both_times or p.times_denied) and all(ref.type != wanted for ref in joint)
        return tuple(Had((ref.entity_id,)) for ref in joint) if plain else None
    if p.joint:
        return None
    if p.both_times:
        each = [_days_of(span.time) for span in p.times]
        return tuple(Had((), *days) for days in each) if len(each) == 2 and not p.times_denied else None
    if p.times_denied:
        held, denied = ([_days_of(span.time) for span in spans] for spans in (p.times, p.times_denied))
        if len(held) != 1 or len(denied) != 1:
            return None
        return Had((), *held[0]), Had((), *denied[0], holds=False)
    return ()


def _acting(asked: Asked, wanted: str) -> bool:
    """True for what takes part in something dated, and is not dated itself: a nation signs a treaty."""
    domain = asked.lexicon.domain
    return any(r.subject == wanted and r.object in domain.things - {"date"} for r in domain.relations)


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
    said = tuple(dict.fromkeys((*p.order, *bound, *p.within)))
    if len(said) > 2 or len(said) < len(p.types) + len(p.kinds) + len(p.within):
        return None
    if "who" in p.asked or "where" in p.asked:
        things = [*said, *(ref.type for ref in refs)]
        found = _at_other_end(asked, things, subject="who" in p.asked)
        return None if found is None else (found, next((s for s in said if s != found), None))
    if not said:
        events = [ref.type for ref in refs if ref.type in asked.lexicon.domain.things]
        return (events[0], None) if "when" in p.asked and events else None
    if said[0] not in asked.lexicon.domain.things and len(said) < 2:
        return _acted_on(asked, said[0], refs)
    return (said[0], said[1] if len(said) == 2 else None)


def _acted_on(asked: Asked, kind: str, refs: tuple[EntityRef, ...]) -> tuple[str, str | None] | None:
    """`which islands did Storm Jonas strike`: the kind of place that a verb of the corpus is about."""
    verbs = set(asked.phrases.relations)
    doing = {
        r.subject
        for r in asked.lexicon.domain.relations
        if r.object == kind and r.predicate != CONTAINMENT and r.predicate.split("_")[0] in verbs
    }
    if len(doing) != 1:
        return None
    (subject,) = doing
    return kind, None if any(asked.of_type(ref, doing).type == subject for ref in refs) else subject


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
        if top.scale == "amount" and via is None and p.asked == ["when"]:
            most = top.order == "largest" and top.limit is None and not _acting(asked, p.order[0] if p.order else "")
            return "busiest" if most else None
        if top.scale == "time":
            return "earliest" if top.order == "smallest" else "latest"
        if top.scale == "amount" and via is not None and "when" not in p.asked:
            return "most" if top.order == "largest" else "fewest"
        return None
    if p.counts or set(p.asked) - {"which", "many", "who", "where", "when"}:
        return None
    if asked.opening in ("did", "do", "does", "is", "are", "was", "were", "has", "have"):
        return None if p.asked else "any"
    return "count" if "many" in p.asked else "list"


def _times_read(asked: Asked) -> bool:
    return len(asked.phrases.times) <= (2 if asked.phrases.both_times else 1)


def _days(asked: Asked) -> tuple[str | None, str | None]:
    """The first and last day, None where the time is open."""
    if not asked.phrases.times:
        return None, None
    return _days_of(asked.phrases.times[0].time)


def _days_of(time: TimeRange) -> tuple[str | None, str | None]:
    first = None if time.start == date.min else time.start.isoformat()
    return first, None if time.end == date.max else time.end.isoformat()
