"""RFC 8785 bytes of the values that the pipeline records, and the codec between those values and JSON."""

from __future__ import annotations

import hashlib
import math
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from datetime import date
from enum import Enum
from functools import cache
from typing import Any, TypeVar, get_origin

import cattrs
import orjson
from cattrs.gen import make_dict_unstructure_fn, override
from cattrs.strategies import configure_tagged_union

from ai.model import Completion
from retrieval.algebra.json import register
from retrieval.algebra.operations import Change, Lookup, Operation
from retrieval.algebra.soundness import check_operation
from retrieval.model import Hit, Locator, Record
from retrieval.ranking.rerank import RerankWeights
from retrieval.scope import Scope

T = TypeVar("T")
_SMALLEST = 1e-4
_OPTIONS = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_NON_STR_KEYS  # the names of channels are an enumeration
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)


def canonical(value: object) -> bytes:
    """RFC 8785 bytes of a JSON value whose keys are ASCII and whose numbers are integers below 2**53 or coordinates.

    For such values sorting keys by code point and orjson's string escapes are exactly RFC 8785 (property-tested against
    `rfc8785`), at a hundredth of the general encoder's cost, which matters because every question records some 110 KB.
    The codec below writes floats as text, and coordinates come from `coordinate`, which refuses what is not finite
    (orjson would write it as null). Raises ValueError for a lone surrogate or a value that JSON does not have.
    """
    try:
        return orjson.dumps(value, option=_OPTIONS)
    except orjson.JSONEncodeError as exc:
        raise ValueError(str(exc)) from exc


def coordinate(text: str) -> int | float:
    """A number of GeoJSON text such that Python writes it as RFC 8785 does: whole numbers without a fraction, others
    without an exponent. A coordinate closer to zero than 1e-4 degrees (11 m) would need one and becomes zero. Raises
    ValueError for what is no finite number."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a coordinate is not finite")
    if value.is_integer() or abs(value) < _SMALLEST:
        return round(value)
    return value


def digest(value: object) -> str:
    """`sha256:<hex>` over `canonical(value)`."""
    return digest_of(canonical(value))


def digest_of(data: bytes) -> str:
    """`sha256:<hex>` over bytes that are canonical already."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def to_json(value: object) -> Any:
    """A frozen dataclass as JSON values without floats: numbers with a fraction become their shortest text, so that
    they come back exactly."""
    return codec().unstructure(value)


def from_json(value: object, kind: type[T]) -> T:
    """The inverse of `to_json`. Raises `cattrs.BaseValidationError` or `ValueError` for anything that is not a
    `kind`."""
    if not isinstance(value, Mapping):
        raise ValueError(f"not a recorded {kind.__name__}")
    return codec().structure(value, kind)


def plan_json(operations: Sequence[Operation]) -> list[Any]:
    """Operations as JSON values, each with its name as `_type`."""
    union: Any = Operation
    return [codec().unstructure(operation, unstructure_as=union) for operation in operations]


def plan_of(values: Sequence[object]) -> tuple[Operation, ...]:
    """The inverse of `plan_json`. Raises `ValueError` for anything else."""
    union: Any = Operation
    try:
        operations: tuple[Operation, ...] = tuple(codec().structure(value, union) for value in values)
        for operation in operations:
            check_operation(operation)
    except (ValueError, cattrs.BaseValidationError, KeyError, TypeError, AttributeError, ArithmeticError) as exc:
        raise ValueError("not a plan") from exc
    return operations


@cache
def codec() -> cattrs.Converter:
    """The converter: unions of operations carry their type's name, bytes are base64, dates ISO, floats text."""
    made = cattrs.Converter(forbid_extra_keys=True)
    made.register_unstructure_hook(float, repr)
    made.register_structure_hook(float, lambda value, _: float(value))
    made.register_unstructure_hook(date, lambda value: value.isoformat())
    made.register_structure_hook(date, lambda value, _: date.fromisoformat(value))
    made.register_unstructure_hook(bytes, lambda value: b64encode(value).decode())
    made.register_structure_hook(bytes, lambda value, _: b64decode(value, validate=True))
    made.register_unstructure_hook(Enum, lambda value: value.value)
    made.register_unstructure_hook_func(_is_frozenset, sorted)
    for kind in _SPARSE:
        made.register_unstructure_hook(kind, make_dict_unstructure_fn(kind, made, _cattrs_omit_if_default=True))
    unread = override(omit_if_default=True)  # as it was written before there was a reader
    completion = make_dict_unstructure_fn(Completion, made, reading=unread, judged=unread)
    made.register_unstructure_hook(Completion, completion)
    unshared = override(omit_if_default=True)  # as it was written before names were shared
    made.register_unstructure_hook(RerankWeights, make_dict_unstructure_fn(RerankWeights, made, shared=unshared))
    unnamed = override(omit_if_default=True)  # as it was written before a lookup had a unit
    for looked_up in (Lookup, Change):
        made.register_unstructure_hook(looked_up, make_dict_unstructure_fn(looked_up, made, unit=unnamed))
    made.register_unstructure_hook_func(lambda kind: kind is object, _plain)
    made.register_structure_hook_func(lambda kind: kind is object, lambda value, _: value)
    register(made)
    configure_tagged_union(Operation, made)
    return made


_SPARSE = (Locator, Record, Hit, Scope)
"""Written without the fields that have their default: there are dozens of them in every entry, and mostly empty. No
settings are among them, because a digest of settings must name every value."""


def _is_frozenset(kind: Any) -> bool:
    origin: Any = get_origin(kind)
    return origin is frozenset


def _plain(value: object) -> object:
    if isinstance(value, float):
        raise ValueError("a fraction inside a recorded mapping must be decimal text")
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(item) for item in value]
    return value
