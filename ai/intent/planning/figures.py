"""Readers of figures of named places: values, changes, comparisons, distances, shares, and what lies where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ai.intent.lexicon import Role
from ai.intent.planning.common import TESTING, Read, offered, open_times, subjects
from ai.intent.planning.sets import CONDITIONS, Asked, places_of
from ai.intent.words import COMPARATIVES, SQUARE_KILOMETRE, SQUARE_MILE
from retrieval.algebra.operations import Change, Compare, ContainerOf, Distance, Lookup
from retrieval.algebra.plan import Area, Density, Figure, Figures, Gap, OneOf, Places, Rank, Test, Value, Weigh
from retrieval.algebra.units import METRES
from retrieval.model import EntityRef

_SQUARES = (SQUARE_KILOMETRE, SQUARE_MILE)
_TOLD = ((Role.LENGTH, METRES["km"]), (Role.LENGTH, METRES["mi"]))
"""A distance is told in kilometres and in miles."""


def distance(asked: Asked) -> Read:
    """`How far is it from Topeka to Wichita?`, `How many miles is it from Topeka to Wichita?`: how far two places lie
    apart."""
    p = asked.phrases
    if not asked.only("asked", "named", "inside", "towards", "here", "units"):
        return ()
    if set(p.asked) - {"which", "distance"} and not (p.asked == ["many"] and len(p.units) == 1 and not p.counted):
        return ()
    if any(unit not in _TOLD for unit in p.units):
        return ()
    refs = (*subjects(asked), *p.towards)
    if not {"distance", "many"} & set(p.asked) or len(refs) != 2 or offered(asked) or p.times:
        return ()
    return (Distance(refs[0].entity_id, refs[1].entity_id),)


def container(asked: Asked) -> Read:
    """`In which county is Topeka?`: the place of a kind that holds another."""
    p = asked.phrases
    kinds = (*p.within, *p.kinds)
    refs = subjects(asked)
    if not asked.only("asked", "within", "kinds", "named", "inside", "holds", "here") or len(kinds) != 1:
        return ()
    if len(refs) != 1 or set(p.asked) - {"which"} or False in p.holds or (p.inside and p.inside[0].said != "of"):
        return ()
    if kinds[0] == refs[0].type or refs[0].type in asked.lexicon.domain.around(kinds[0]):
        return ()
    return (ContainerOf(refs[0].entity_id, kinds[0]),)


def compare(asked: Asked) -> Read:  # noqa: PLR0911 - one refusal for each reason
    """`Which of Topeka and Wichita was larger in 1930?`, `Which is closer to Topeka, Wichita or Springfield?`, `How
    many times as many people as Topeka did Wichita have in 1930?`: places against each other."""
    p = asked.phrases
    refs = tuple(dict.fromkeys((*subjects(asked), *p.towards, *p.bases)))
    if not (p.compared or p.differences or p.ratios) or len(refs) < 2 or len({r.type for r in refs}) > 1:
        return ()
    allowed = ("asked", "compared", "than", "named", "inside", "towards", "measures", "kinds", "dwelling")
    if not asked.only(*allowed, "differences", "ratios", "areas", "densities", "bases"):
        return ()
    if p.bases and (
        len(p.bases) > 1 or p.than or p.towards or p.differences or p.compared or p.counted not in ([], ["measure"])
    ):
        return ()
    orders = {COMPARATIVES.get(w, "any") for w in p.compared}
    if any(kind != refs[0].type for kind in p.kinds) or len(orders) > 1:
        return ()
    if orders & {"nearest", "farthest"}:
        return _nearer(asked, orders.pop())
    figure = asked.figure(refs[0].type, sized=True)
    ids = tuple(r.entity_id for r in refs)
    if figure is None:
        return ()
    if p.than == [False] and len(ids) == 2:  # `How many times larger than Pratt was Reno?`
        ids = ids[::-1]
    if p.ratios:
        return (Weigh(figure, (ids[0], ids[1]), "ratio"),) if len(ids) == 2 else ()
    if isinstance(figure, Value):
        return (Compare(figure.measure, ids, figure.year),)
    if p.differences:
        return (Weigh(figure, (ids[0], ids[1]), "difference"),) if len(ids) == 2 else ()
    return (Rank(Places(refs[0].type, (OneOf(ids),)), figure, "largest", 1, len(ids)),)


def _nearer(asked: Asked, order: str) -> Read:
    """`Which is closer to Topeka, Emporia or Manhattan?`"""
    p = asked.phrases
    refs = tuple(dict.fromkeys(ref for listed in p.named for ref in listed.refs))
    if len(p.towards) != 1 or len(refs) < 2 or p.measures or p.inside or p.areas or p.densities or p.times or p.than:
        return ()
    places = Places(refs[0].type, (OneOf(tuple(r.entity_id for r in refs)),))
    largest = order == "farthest"
    return (Rank(places, Gap(p.towards[0].entity_id), "largest" if largest else "smallest"),)


def change(asked: Asked) -> Read:
    """`How did the population of Shawnee County change between 1900 and 1930?`, `How many more people did Topeka have
    in 1930 than in 1900?`: a figure of a place in two years."""
    p, refs, span = asked.phrases, subjects(asked), asked.span
    allowed = ("asked", "changes", "relative", "differences", "measures", "named", "inside", "dwelling", "here")
    if not asked.only(*allowed, "compared", "than") or any(not moved.holds for moved in p.changes):
        return ()
    than = len(refs) == 1 and bool(p.than) and bool(p.compared)
    if (
        not (p.changes or p.differences or than)
        or bool(p.compared) is not than
        or not refs
        or span is None
        or offered(asked)
        or set(p.asked) - {"which", "much", "many"}
    ):
        return ()
    measures = {asked.measure(r.type) if p.measures else asked.lexicon.size_of(r.type) for r in refs}
    measure = measures.pop()
    if measures or measure is None:
        return ()
    return (Change(measure, tuple(r.entity_id for r in refs), *span),)


def of_named(refs: Sequence[EntityRef], figure: Figure) -> Read:
    ids = tuple(r.entity_id for r in refs)
    if isinstance(figure, Value):
        return (Lookup(figure.measure, ids, figure.year),)
    return (Figures(figure, ids),) if isinstance(figure, Area | Density) else ()


def figures(asked: Asked) -> Read:  # noqa: PLR0911 - one refusal for each reason
    """`What was the population of Shawnee County in 1930?`, `How many people per square mile lived in Shawnee County
    in 1930?`: a figure of named places, in each year that is named; of the region that the map shows, where none
    is."""
    p = asked.phrases
    allowed = ("asked", "measures", "areas", "densities", "per", "units", "named", "inside", "dwelling", "here")
    if not asked.only(*allowed) or any(role is not Role.SQUARE for role, _ in p.units):
        return ()
    spread = bool(p.areas or p.densities or (p.units and not p.measures))
    if not (p.measures or spread) or set(p.asked) - {"which", "many", "much"} or offered(asked):
        return ()
    if p.units and (not spread or any(scale not in _SQUARES for _, scale in p.units)):
        return ()
    refs = subjects(asked)
    if not refs:
        return _in_region(asked)
    if spread:
        figures = {asked.figure(ref.type) for ref in refs}
        only = figures.pop()
        return () if figures or only is None else of_named(refs, only)
    measures = {asked.measure(ref.type) for ref in refs}
    measure = measures.pop()
    if measures or measure is None:
        return ()
    ids = tuple(
        dict.fromkeys(one.entity_id for ref in refs for one in (ref, *asked.namesakes(ref), *_as_well(asked, ref)))
    )
    if asked.years is None:
        return (Lookup(measure, ids, None),) if open_times(asked) else ()
    return tuple(Lookup(measure, ids, year) for year in asked.years or (None,))


def _as_well(asked: Asked, ref: EntityRef) -> tuple[EntityRef, ...]:
    """The places of other kinds that have the name and the figure."""
    return tuple(one for one in asked.other_kinds(ref) if asked.measure(one.type) == asked.measure(ref.type))


def _in_region(asked: Asked) -> Read:
    p = asked.phrases
    measure = asked.measure()
    if not asked.region or measure is None or p.inside or p.named or asked.years is None:
        return ()
    return tuple(Lookup(measure, (), year) for year in asked.years or (None,))


def test(asked: Asked) -> Read:
    """`Does Shawnee County border Douglas County?`, `Was the population of Shawnee County in 1930 above 10,000?`: a
    condition of one place."""
    p = asked.phrases
    if asked.opening not in TESTING or p.asked or p.kinds or p.tops or p.compared:
        return ()
    if not asked.only("named", "measures", "dwelling", *CONDITIONS) or p.excepted or p.neighbours or p.moved:
        return ()
    listed = [*p.named, *(r.listed for r in p.inside if r.said == "of" and r.holds and p.bounds and not p.named)]
    if len(listed) != 1 or len(listed[0].refs) != 1 or any(not related.listed.refs for related in p.borders):
        return ()
    place = listed[0].refs[0]
    conditions = replace(p, named=[], inside=[r for r in p.inside if r.listed is not listed[0]])
    places = places_of(replace(asked, phrases=conditions), place.type, bounded=False)
    denied = any(not getattr(c, "holds", True) for c in (*p.inside, *p.borders, *p.bounds, *(b for b, _ in p.gaps)))
    if places is None or not places.conditions or denied or (p.measures and not p.bounds):
        return ()
    return (Test(place.entity_id, place.type, places.conditions),)
