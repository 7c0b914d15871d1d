"""Readers of ranks, totals and peaks."""

from __future__ import annotations

from dataclasses import replace

from ai.intent.phrases import Top
from ai.intent.planning.common import (
    Read,
    here,
    limit_of,
    named_used,
    of_measure,
    offered,
    order_of,
    set_kind,
    subjects,
)
from ai.intent.planning.figures import of_named
from ai.intent.planning.sets import CONDITIONS, Asked, places_of
from ai.intent.words import SYNONYMS
from retrieval.algebra.aggregates import AGGREGATES, AggregateName
from retrieval.algebra.plan import Density, Figure, Foremost, Gap, Growth, OneOf, Places, Rank, Total, Value, Where


def nearest(asked: Asked) -> Read:
    """`What is the nearest city to Topeka?`: places by distance."""
    p = asked.phrases
    tops = [top for top in p.tops if top.scale == "gap"]
    if len(tops) != 1 or len(p.tops) != 1 or len(p.kinds) != 1 or set(p.asked) - {"which"}:
        return ()
    if not asked.only("asked", "kinds", "tops", "towards", "counts", *CONDITIONS, "here"):
        return ()
    centre = p.towards[0] if len(p.towards) == 1 else asked.shown if not p.towards else None
    if centre is None or p.bounds or (p.neighbours and not p.borders):
        return ()
    top = tops[0]
    places = places_of(asked, p.kinds[0], bounded=top.order == "largest")
    if places is None:
        return ()
    return (Rank(places, Gap(centre.entity_id), order_of(top.order), top.first, limit_of(asked, top)),)


def _scaled(asked: Asked, top: Top, kind: str) -> Figure | None:
    """The key that a superlative orders by."""
    p = asked.phrases
    if top.scale in ("gap", "time"):
        return None
    if top.scale == "rate":
        p = asked.phrases
        span = asked.span
        measure = asked.measure(kind) if p.measures else asked.lexicon.size_of(kind)
        return None if span is None or measure is None or not p.changes else Growth(measure, *span, relative=True)
    if top.scale in ("length", "elevation", "depth", "width") and not p.measures:
        group = next(group for group in SYNONYMS if top.scale in group)
        named = [m for m in asked.lexicon.domain.measures if m.replace("_", " ") in group]
        years = asked.years
        if len(named) != 1 or years is None or len(years) > 1 or p.areas or p.densities or p.changes:
            return None
        return Value(named[0], years[0] if years else None)
    return asked.figure(kind, sized=top.scale == "size" or bool(p.changes))


def rank(asked: Asked) -> Read:
    """`What was the second largest county in 1930?`, `How many people lived in the second largest county in 1930?`,
    `Which county lost the most people in the 1930s?`: places by a
    figure."""
    p = asked.phrases
    refs = [ref for listed in p.named for ref in listed.refs]
    choice = len({ref.type for ref in refs}) == 1 and len(refs) > 1
    kind = set_kind(asked) or (refs[0].type if choice and not p.kinds else None)
    if (
        len(p.tops) != 1
        or kind is None
        or set(p.asked) - {"which", "many"}
        or (refs and not (choice and refs[0].type == kind))
    ):
        return ()
    allowed = (
        "asked",
        "kinds",
        "named",
        "tops",
        "counts",
        "measures",
        "areas",
        "densities",
        "per",
        "changes",
        "relative",
    )
    if not asked.only(*allowed, "dwelling", *here(asked), *CONDITIONS):
        return ()
    figure = _scaled(asked, p.tops[0], kind)
    places = places_of(asked, kind, bounded=not choice)
    if figure is None or places is None or (p.bounds and p.changes):
        return ()
    if "many" in p.asked and not (of_measure(asked) and isinstance(figure, Value) and _singular(asked)):
        return ()
    conditions = places.conditions
    if choice:
        conditions = (*conditions, OneOf(tuple(ref.entity_id for ref in refs)))
    order = order_of(p.tops[0].order)
    if isinstance(figure, Growth):
        if len(asked.signs) > 1 or asked.signs == {0} or any(not moved.holds for moved in p.changes):
            return ()
        down = asked.signs == {-1}
        conditions = (
            *conditions,
            Where(figure, high="0", high_open=True) if down else Where(figure, "0", low_open=True),
        )
        order = order_of("smallest" if down == (order == "largest") else "largest")
    places = Places(kind, conditions)
    return (Rank(places, figure, order, p.tops[0].first, limit_of(asked, p.tops[0])),)


_HERE = ("here",)


def _singular(asked: Asked) -> bool:
    """True if one place has the rank."""
    return limit_of(asked, asked.phrases.tops[0]) == 1


def total(asked: Asked) -> Read:
    """`How many people lived within 50 km of Topeka in 1930?`, `average population of Kansas counties in 1930`,
    `What was the combined population of the five largest counties in 1930?`: a figure over places."""
    p = asked.phrases
    allowed = (
        "asked",
        "aggregates",
        "kinds",
        "named",
        "measures",
        "areas",
        "densities",
        "per",
        "dwelling",
        "tops",
        "counts",
        *here(asked),
        *CONDITIONS,
    )
    if len(p.tops) > 1 or (p.counts and not p.tops) or (p.here and not p.kinds):
        return ()
    if not asked.only(*allowed) or len(set(p.aggregates)) > 1 or set(p.asked) - {"which", "many"}:
        return ()
    if any(bound.unit is None for bound in p.bounds):
        return ()
    if not (p.measures or p.areas or p.densities):
        return ()
    counting = "many" in p.asked and bool(p.measures)
    function = p.aggregates[0] if p.aggregates else None
    adds = function is None or AGGREGATES[function].adds
    one = bool(p.singular) and adds  # `the county that borders it`: there may be several
    if one or (function is None and (not counting or p.tops or not of_measure(asked))):
        return ()
    return _total_of_set(asked, function or "sum") or _total_of_named(asked, function)


def _total_of_set(asked: Asked, function: AggregateName) -> Read:
    p = asked.phrases
    kind = set_kind(asked)
    measure = asked.measure()
    centred = kind is None and bool(p.gaps) and not p.kinds and measure is not None
    of_all = bool(p.aggregates) and measure is not None and asked.only("asked", "aggregates", "measures", "dwelling")
    if centred and measure is not None:
        kind = asked.lexicon.domain.finest(measure)
    elif of_all and measure is not None and not asked.region and asked.shown is None:
        kinds = asked.lexicon.domain.kinds_with(
            measure
        )  # `What was the total population?`, of the one kind that has it
        kind = kinds[0] if len(kinds) == 1 else None
    if kind is None or not named_used(asked) or not (p.kinds or p.neighbours or p.gaps or of_all):
        return ()
    figure, places = asked.figure(kind), places_of(asked, kind)
    if figure is None or places is None or (AGGREGATES[function].adds and isinstance(figure, Density)):
        return ()
    if p.tops:
        rank = _scaled(asked, p.tops[0], kind)
        if rank is None or limit_of(asked, p.tops[0]) < 2 or p.gaps or p.bounds or p.moved:
            return ()
        foremost = Foremost(rank, order_of(p.tops[0].order), p.tops[0].first, limit_of(asked, p.tops[0]))
        places = replace(places, conditions=(*places.conditions, foremost))
    return (Total(function, replace(places, centred=centred), figure),)


def _total_of_named(asked: Asked, function: AggregateName | None) -> Read:
    p, refs = asked.phrases, subjects(asked)
    kinds = {ref.type for ref in refs}
    if function is None or len(kinds) != 1 or p.kinds or p.tops or p.borders or p.gaps or p.excepted or offered(asked):
        return ()
    kind = kinds.pop()
    figure = asked.figure(kind)
    if figure is None or isinstance(figure, Density):
        return ()
    if len(refs) == 1:
        return of_named(refs, figure) if function == "sum" else ()
    return (Total(function, Places(kind, (OneOf(tuple(r.entity_id for r in refs)),)), figure),)
