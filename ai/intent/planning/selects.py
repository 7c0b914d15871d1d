"""Readers of sets: which places, how many, and the figure of each."""

from __future__ import annotations

from ai.intent.lexicon import Role
from ai.intent.planning.common import Read, here, named_used, set_kind
from ai.intent.planning.sets import CONDITIONS, Asked, places_of
from retrieval.algebra.operations import Count
from retrieval.algebra.plan import Inside, Places, Select, Tally, Where

_ALLOWED = ("asked", "kinds", "named", "measures", "areas", "changes", "relative", "dwelling", "densities", "per",
            "compared", "than", *CONDITIONS)  # fmt: skip


def _areas_bound(asked: Asked) -> bool:
    """True if an area is only what a bound or a comparison is of."""
    p = asked.phrases
    bound = bool(p.bounds) and all(b.unit is not None and b.unit[0] is Role.SQUARE for b in p.bounds)
    return (not p.areas or bound or bool(p.than)) and bool(p.than) is bool(p.compared)


def contents(asked: Asked) -> Read:
    """`Which cities does Douglas County contain?`, `How many cities does Douglas County have?`: what lies in a
    place."""
    p = asked.phrases
    if not asked.only("asked", "kinds", "named", "holds") or len(p.kinds) != 1 or set(p.asked) - {"which", "many"}:
        return ()
    refs = [ref for listed in p.named for ref in listed.refs]
    if len(refs) != 1 or False in p.holds or refs[0].type not in asked.lexicon.domain.around(p.kinds[0]):
        return ()
    places = Places(p.kinds[0], (Inside(refs[0].entity_id),))
    if "many" not in p.asked:
        return (Select(places),)
    return _counted_in(asked, places) if asked.of_the_map(places) else (Tally(places),)


def tally(asked: Asked) -> Read:
    """`How many counties had more than 20,000 people in 1930?`: how many places there are."""
    p = asked.phrases
    kind = set_kind(asked)
    if (
        sorted(set(p.asked)) not in (["many"], ["many", "which"])
        or kind is None
        or p.counted == ["measure"]  # `how many people lived in counties with fewer than 3,000 people`
        or not named_used(asked)
        or not _figure_in_bounds(asked)
    ):
        return ()
    if not asked.only(*_ALLOWED, *here(asked)) or not _areas_bound(asked):
        return ()
    places = places_of(asked, kind)
    if places is None:
        return ()
    return _counted_in(asked, places) if asked.of_the_map(places) else (Tally(places),)


def _counted_in(asked: Asked, places: Places) -> Read:
    """The places of a time: by figure or outline of the one year where nothing but where they lie is asked for."""
    match places.conditions, asked.years:
        case ((), (year,)):
            return (Count(places.kind, None, year),)
        case ((Inside(place_id, True),), (year,)):
            return (Count(places.kind, place_id, year),)
        case ((), _) | ((Inside(_, True),), _):
            return ()
        case _:
            return (Tally(places),)


def _figure_in_bounds(asked: Asked) -> bool:
    """True if a measure is only what a bound or a change is of."""
    p = asked.phrases
    return bool(p.bounds or p.changes or p.moved or p.than) or not (
        p.measures or p.densities or p.dwelling or p.relative
    )


def select(asked: Asked) -> Read:
    """`Which counties border neither Shawnee County nor Douglas County?`, `Which counties had more people than
    Shawnee County in 1930?`: places under conditions."""
    p = asked.phrases
    kind = set_kind(asked)
    if kind is None or set(p.asked) - {"which"} or not named_used(asked) or not _figure_in_bounds(asked):
        return ()
    allowed = _ALLOWED
    if asked.shown is not None and not p.named and any(not related.listed.refs for related in p.borders):
        allowed = (*allowed, "here")
    if here(asked):
        allowed = (*allowed, "here")
    if (
        not asked.only(*allowed)
        or not (asked.filled & {*CONDITIONS, "changes", "than", *here(asked)} or _only_listed(asked, kind))
        or not _areas_bound(asked)
    ):
        return ()
    places = places_of(asked, kind)
    if places is None or (asked.of_the_map(places) and not places.conditions):
        return ()
    held = [c.figure for c in places.conditions if isinstance(c, Where)]
    return (Select(places, held[0] if len(held) == 1 else None),)


def _only_listed(asked: Asked, kind: str) -> bool:
    """True for a kind that a table without times lists, of which all are meant."""
    things = asked.lexicon.gazetteer.of_type(kind)
    return asked.opening in ("list", "name", "show", "who") and bool(things) and all(thing.listed for thing in things)


def listed_figures(asked: Asked) -> Read:
    """`Population of the counties of Kansas in 1930`: the figure of each."""
    p = asked.phrases
    kind = set_kind(asked)
    if kind is None or set(p.asked) - {"which"} or not named_used(asked) or p.bounds:
        return ()
    if not asked.only("asked", "kinds", "named", "measures", "areas", "densities", "per", *CONDITIONS):
        return ()
    figure, places = asked.figure(kind), places_of(asked, kind)
    return () if figure is None or places is None else (Select(places, figure),)
