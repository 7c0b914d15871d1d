"""Plans over figures that have no time: what makes a plan one of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass

from ai.intent.lexicon import Lexicon
from ai.intent.plan_ids import ids_of
from retrieval.algebra.operations import Aggregate, Compare, Count, Lookup, Operation, Superlative
from retrieval.algebra.plan import (
    AnyOf,
    Area,
    Density,
    Figures,
    Gap,
    Growth,
    Inside,
    Places,
    Rank,
    Select,
    Tally,
    Test,
    Total,
    Value,
    Weigh,
)
from retrieval.algebra.wording import CALENDAR_YEAR
from retrieval.model import LISTED


def rests_on_untimed(plan: Sequence[Operation], lexicon: Lexicon) -> bool:
    """True if all figures of all operations have no time, each of a kind that has such ones, and none is computed of
    years that means nothing of them."""
    return bool(plan) and all(_of_untimed(operation, lexicon) for operation in plan)


def _of_untimed(operation: Operation, lexicon: Lexicon) -> bool:
    figures = list(_figures(operation))
    kinds = _kinds_of(operation, lexicon)
    if isinstance(operation, Count) and operation.measure is None:
        measured = {figure.kind for figure in lexicon.domain.figures}
        alone = kinds <= measured and all(_only_listed(kind, lexicon) for kind in kinds)
        return alone and operation.year is None and all(map(_is_listed, ids_of((operation,))))
    untimed = {(f.measure, f.kind): f.unit for f in lexicon.domain.figures if f.undated}
    if isinstance(operation, Select | Tally) and not figures:  # things of certain groups
        groups = operation.places.conditions
        alone = bool(kinds) and all(isinstance(each, Inside | AnyOf) for each in groups)
        return (
            alone and all(_only_listed(kind, lexicon) for kind in kinds) and all(map(_is_listed, ids_of((operation,))))
        )
    if not figures or not kinds or not all(isinstance(each, Value) and each.year is None for each in figures):
        return False
    if any(_only_listed(kind, lexicon) for kind in kinds) and not all(map(_is_listed, ids_of((operation,)))):
        return False  # what a table lists lies in no place of a map
    units = [untimed.get((each.measure, kind)) for each in figures if isinstance(each, Value) for kind in kinds]
    return None not in units and not any(untimed.get((_reckoned(operation), kind)) == CALENDAR_YEAR for kind in kinds)


def _only_listed(kind: str, lexicon: Lexicon) -> bool:
    return all(entity.listed for entity in lexicon.gazetteer.of_type(kind))


def _is_listed(entity_id: str) -> bool:
    return entity_id.startswith(LISTED)


def _figures(value: object) -> Iterator[object]:
    """Every figure of an operation or plan."""
    match value:
        case Lookup(measure, _, year) | Compare(measure, _, year) | Superlative(measure, _, year):
            yield Value(measure, year)
        case Aggregate(_, measure, _, year) | Count(_, _, year, str(measure)):
            yield Value(measure, year)
        case Value() | Growth() | Density() | Area() | Gap():
            yield value
        case tuple():
            for each in value:
                yield from _figures(each)
        case _ if is_dataclass(value):
            for f in fields(value):
                yield from _figures(getattr(value, f.name))


def _kinds_of(operation: Operation, lexicon: Lexicon) -> set[str]:
    """The kinds of what an operation takes figures of; none for one that takes none."""
    match operation:
        case Superlative() | Aggregate() | Count():
            return {operation.place_type}
        case Select(Places(kind)) | Tally(Places(kind)) | Rank(Places(kind)) | Total(_, Places(kind)) | Test(_, kind):
            return {kind}
        case Lookup() | Compare() | Figures() | Weigh():
            refs = [lexicon.gazetteer.entity(entity) for entity in ids_of((operation,))]
            return {"" if ref is None else ref.type for ref in refs}
        case _:
            return set()


def _reckoned(operation: Operation) -> str:
    """The measure that is added up or divided, which years are not; empty where none is."""
    match operation:
        case Aggregate(function, measure) | Total(function, _, Value(measure)):
            return measure if function not in ("minimum", "maximum") else ""
        case Weigh(Value(measure), _, "ratio"):
            return measure
        case _:
            return ""
