"""Readers of parts of a place, of its years, and of its series."""

from __future__ import annotations

from ai.intent.planning.common import Read, named, offered, open_times, order_of, subjects
from ai.intent.planning.sets import Asked
from retrieval.algebra.describe import Names
from retrieval.algebra.operations import Lookup
from retrieval.algebra.plan import Part, Peak
from retrieval.model import EntityRef


def part(asked: Asked) -> Read:
    """`What share of the population of Kansas lived in Topeka in 1930?`, `How many people in Kansas lived outside
    Topeka in 1930?`: a part of a place, or what is left without it."""
    p = asked.phrases
    allowed = ("asked", "measures", "dwelling", "named", "inside", "shares", "excepted", "areas")
    if not asked.only(*allowed) or offered(asked) or set(p.asked) - {"which", "many"}:
        return ()
    outside = [ref for r in p.inside if r.said == "outside" and r.holds for ref in r.listed.refs] + p.excepted
    within = [ref for r in p.inside if r.said != "outside" for ref in r.listed.refs]
    if any(not r.holds for r in p.inside) or bool(outside) == bool(p.shares) or not (p.measures or p.areas):
        return ()
    refs = [*(ref for listed in p.named for ref in listed.refs), *within]
    if p.shares:
        whole, parts = _by_width(asked, refs)
    else:
        whole, parts = (refs[0] if len(refs) == 1 else None), outside
    if whole is None or not parts or any(whole.type not in asked.lexicon.domain.around(one.type) for one in parts):
        return ()
    kinds = {whole.type, *(one.type for one in parts)}
    found = {asked.figure(kind) for kind in kinds}
    figure = found.pop()
    if found or figure is None:
        return ()
    return (Part(figure, whole.entity_id, tuple(one.entity_id for one in parts), "share" if p.shares else "rest"),)


def _by_width(asked: Asked, refs: list[EntityRef]) -> tuple[EntityRef | None, list[EntityRef]]:
    """The place that is of a kind that the others lie in, and these."""
    wide = [one for one in refs if all(o is one or one.type in asked.lexicon.domain.around(o.type) for o in refs)]
    return (wide[0], [o for o in refs if o is not wide[0]]) if len(wide) == 1 else (None, [])


def peak(asked: Asked) -> Read:
    """`In which year did Shawnee County have the most people?`: the year of the highest or lowest figure."""
    p, refs = asked.phrases, subjects(asked)
    if not asked.only("asked", "measures", "tops", "named", "inside", "dwelling") or set(p.asked) - {"which", "when"}:
        return ()
    if "when" not in p.asked or len(refs) != 1 or len(p.tops) != 1 or p.times:
        return ()
    top, measure = p.tops[0], asked.measure(refs[0].type) if p.measures else asked.lexicon.size_of(refs[0].type)
    if measure is None or top.scale not in ("size", "amount") or top.first != 1 or top.limit is not None:
        return ()
    return (Peak(measure, refs[0].entity_id, order_of(top.order)),)


def peak_said(plan: Peak, names: Names) -> str:
    """`The year of the highest population of Topeka`."""
    most = "highest" if plan.order == "largest" else "lowest"
    return f"The year of the {most} {plan.measure.replace('_', ' ')} of {named((plan.place_id,), names)}"


def series(asked: Asked) -> Read:
    """`Population of Topeka by decade`, `List every census figure for Topeka`:
    every figure on record, in the years that are named."""
    p, refs = asked.phrases, subjects(asked)
    if not p.series or not refs or set(p.asked) - {"which", "many"} or offered(asked):
        return ()
    if not asked.only("asked", "measures", "named", "inside", "dwelling", "series", "changes"):
        return ()
    if asked.signs - {0} or not open_times(asked):
        return ()
    measures = {asked.measure(ref.type) if p.measures else asked.lexicon.only_measure(ref.type) for ref in refs}
    measure = measures.pop()
    if measures or measure is None:
        return ()
    return (Lookup(measure, tuple(ref.entity_id for ref in refs), None),)
