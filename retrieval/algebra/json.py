"""The algebra as JSON values and back: every alternative carries its name as `_type`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import cattrs
from cattrs.strategies import configure_tagged_union

from retrieval.algebra.plan import Condition, Figure, Plan, Simple


def register(converter: cattrs.Converter) -> None:
    """Teaches a converter the alternatives of the algebra."""
    configure_tagged_union(Figure, converter)
    configure_tagged_union(Simple, converter)
    configure_tagged_union(Condition, converter)
    alone: Any = Figure
    perhaps: Any = Figure | None
    converter.register_unstructure_hook(
        perhaps, lambda value: None if value is None else converter.unstructure(value, unstructure_as=alone)
    )
    converter.register_structure_hook(
        perhaps, lambda value, _: None if value is None else converter.structure(value, alone)
    )


def plan_json(plan: Plan) -> dict[str, Any]:
    """A plan as JSON values."""
    made: dict[str, Any] = _converter().unstructure(plan, unstructure_as=Plan)
    return made


def plan_of(value: object) -> Plan:
    """The inverse of `plan_json`. Raises `ValueError` for anything else."""
    if not isinstance(value, Mapping):
        raise ValueError("not a plan")
    try:
        plan: Plan = _converter().structure(value, Plan)  # type: ignore[arg-type]
    except (cattrs.BaseValidationError, cattrs.ForbiddenExtraKeysError, KeyError, TypeError) as exc:
        raise ValueError("not a plan") from exc
    return plan


@cache
def _converter() -> cattrs.Converter:
    made = cattrs.Converter(forbid_extra_keys=True)
    register(made)
    configure_tagged_union(Plan, made)
    made.register_unstructure_hook_func(lambda kind: kind == tuple[str, ...], list)
    made.register_unstructure_hook_func(lambda kind: kind == tuple[str, str], list)
    return made


def resolves(asked: object, done: object) -> bool:
    """True if `done` is what was asked, with the years filled in that the question left open."""
    if type(asked) is not type(done):
        return asked is None and isinstance(done, int)
    if is_dataclass(asked):
        return all(resolves(getattr(asked, f.name), getattr(done, f.name)) for f in fields(asked))
    if isinstance(asked, tuple) and isinstance(done, tuple):
        return len(asked) == len(done) and all(resolves(a, d) for a, d in zip(asked, done, strict=True))
    return asked == done
