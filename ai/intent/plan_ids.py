"""The entities that a plan names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass

from retrieval.algebra.operations import Operation

_IDS = frozenset({"place_id", "place_ids", "place", "within", "from_id", "to_id", "entities"})


def ids_of(plan: Sequence[Operation]) -> tuple[str, ...]:
    """The ids of every entity that a plan names, once."""
    return tuple(dict.fromkeys(_ids("", tuple(plan))))


def _ids(name: str, value: object) -> Iterator[str]:
    if is_dataclass(value):
        for f in fields(value):
            yield from _ids(f.name, getattr(value, f.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from _ids(name, item)
    elif isinstance(value, str) and name in _IDS:
        yield value
