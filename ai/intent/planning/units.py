"""The unit that a question names (`bushels of wheat`), where a measure is recorded in several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ai.intent.lexicon import Lexicon, Role, unit_names
from ai.intent.phrases import Phrases
from ai.intent.tokens import Item
from retrieval.algebra.operations import Change, Lookup, Operation


def in_named_units(
    plan: Sequence[Operation], items: Sequence[Item], phrases: Phrases, lexicon: Lexicon
) -> tuple[tuple[Operation, ...], tuple[Item, ...]]:
    """The plan, with what it looks up narrowed to the unit that is named; or none, and the item that names it, where
    what it computes would take figures in another."""
    kinds = {*phrases.kinds, *(ref.type for listed in phrases.named for ref in listed.refs)}
    meant = frozenset.intersection(*map(frozenset, phrases.measures)) if phrases.measures else frozenset[str]()
    for item in items:  # `tonnes` are of wheat and of oats; `tonnes of oats` of oats alone
        for measure in meant.intersection(_measures(item)) or _measures(item):
            figures = [f for f in lexicon.domain.figures if f.measure == measure and (not kinds or f.kind in kinds)]
            said = {f.unit for f in figures if item.text in unit_names(f)}
            elsewhere = {f.unit for f in lexicon.domain.figures if f.measure == measure and item.text in unit_names(f)}
            if not elsewhere or said == {f.unit for f in figures}:
                continue
            if len(elsewhere) > 1 or not all(
                isinstance(each, Lookup | Change) and each.measure == measure for each in plan
            ):
                return (), (item,)
            unit = elsewhere.pop()
            plan = [replace(each, unit=unit) for each in plan if isinstance(each, Lookup | Change)]
    return tuple(plan), ()


def _measures(item: Item) -> tuple[str, ...]:
    """The measures that it may name; none for a word that is another one too: `in` is seldom inches."""
    measures = item.roles.get(Role.MEASURE, ()) if len(item.roles) == 1 else ()
    return measures if isinstance(measures, tuple) else ()
